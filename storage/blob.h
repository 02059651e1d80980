/*
 * blob.h: the port of the blob tier: names to bytes. Requests complete as PROTO_PORT_DONE messages
 * to `reply_to` (with its ticket); an embedded adapter sends the answer before the call returns,
 * and belongs to one thread. A call returns RESULT_OK when an answer comes (or came), anything else
 * when none will; asked by nobody (no sink), an embedded adapter returns the outcome itself. Names
 * are made of checked ids and are never paths from outside.
 */
#ifndef STORAGE_BLOB_H
#define STORAGE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/sink.h"

struct storage_blob_item {
    struct span name; /* "{workspaceId}/{executionId}/{stepId}.msgpack": at most 480 bytes */
    struct span bytes;
    bool awaited;   /* a reply waits for it: it goes before those of which that is not said */
    bool rewritten; /* its name is written again: no older write may land on a newer one */
};

struct storage_blob;

struct storage_blob_ops {
    /*
     * Stores a batch (at most 200, each name at most once). Borrows the items until it answers:
     * as.port_done.results holds one enum result byte an item, as.port_done.result RESULT_OK when
     * all are stored durably enough to survive `flush`.
     */
    enum result (*put)(struct storage_blob *self, const struct storage_blob_item *items,
                       size_t count, struct proto_address reply_to);
    /* as.port_done.bytes = the blob; RESULT_NOT_FOUND. */
    enum result (*get)(struct storage_blob *self, struct span name, struct proto_address reply_to);
    /* Names that begin with the prefix, in order, at most `limit`: as.port_done.bytes = ARRAY value
     * of strings. */
    enum result (*list)(struct storage_blob *self, struct span prefix, uint32_t limit,
                        struct proto_address reply_to);
    /* Deletes all whose name begins with the prefix (which ends in '/'). */
    enum result (*remove)(struct storage_blob *self, struct span prefix,
                          struct proto_address reply_to);
    /* Makes all answered puts durable; the drain moves its position only after this. */
    enum result (*flush)(struct storage_blob *self, struct proto_address reply_to);
    void (*close)(struct storage_blob *self);
};

struct storage_blob {
    const struct storage_blob_ops *ops;
};

#endif
