/*
 * hot.h: the port of the hot tier: sessions of waiting executions with a sliding time to live.
 *
 * Requests complete as PROTO_PORT_DONE messages to `reply_to`. A call returns RESULT_OK when
 * an answer comes (or came), anything else when none will; asked by nobody (no sink), an embedded
 * adapter returns the outcome itself. That one (one per shard, in its memory)
 * answers before the call returns, and offers storage_memory_hot_peek for its owner's fast path.
 * Unknown bytes are a miss. Times are the caller's (monotonic ms).
 */
#ifndef STORAGE_HOT_H
#define STORAGE_HOT_H

#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/sink.h"

struct storage_hot;

struct storage_hot_ops {
    /* session:{executionId} = bytes, ttl renewed. RESULT_FULL when the tier is bounded and
     * everything in it is pinned. */
    enum result (*put)(struct storage_hot *self, struct span execution_id, struct span bytes,
                       uint64_t now_ms, struct proto_address reply_to);
    /* Bytes, ttl renewed; RESULT_NOT_FOUND. */
    enum result (*get)(struct storage_hot *self, struct span execution_id, uint64_t now_ms,
                       struct proto_address reply_to);
    enum result (*remove)(struct storage_hot *self, struct span execution_id,
                          struct proto_address reply_to);
    /* channel_session:{channelSessionId} = executionId, same ttl. */
    enum result (*bind)(struct storage_hot *self, struct span channel_session_id,
                        struct span execution_id, uint64_t now_ms, struct proto_address reply_to);
    /* bytes = executionId; RESULT_NOT_FOUND. */
    enum result (*resolve)(struct storage_hot *self, struct span channel_session_id,
                           uint64_t now_ms, struct proto_address reply_to);
    /* Removes the binding if it still points at this execution. */
    enum result (*unbind)(struct storage_hot *self, struct span channel_session_id,
                          struct span execution_id, struct proto_address reply_to);
    void (*close)(struct storage_hot *self);
};

struct storage_hot {
    const struct storage_hot_ops *ops;
};

#endif
