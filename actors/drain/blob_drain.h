/*
 * blob_drain.h: the journal's reader that stores step blobs and execution.msgpack (design 7):
 * batches of at most 200, the newest bytes of a name within a batch win, names in order over
 * batches, nothing past a write that was not acknowledged. Lives on the storage thread; the blob
 * port may be slow: at most one of its batches is under way.
 */
#ifndef ACTORS_DRAIN_BLOB_DRAIN_H
#define ACTORS_DRAIN_BLOB_DRAIN_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "proto/message.h"
#include "storage/blob.h"
#include "storage/journal.h"

#define ACTOR_BLOB_BATCH 200u

struct actor_blob_drain;
struct actor_saves;

struct actor_blob_drain_options {
    struct storage_blob *blob;
    struct storage_journal *log;
    uint64_t position;               /* where to begin */
    const struct actor_saves *saves; /* what is stored ahead of the drain; NULL: nothing ever */
    struct proto_address
        reply_to; /* where the port answers: hand those answers to actor_blob_drain_done */
};

struct actor_blob_drain_counters {
    actor_counter queued, deduplicated, uploaded, retried, removed;
    actor_counter oldest_since_ms; /* gauge: monotonic ms when the batch under way was begun; 0:
                                      there is none */
};

MUST_USE enum result actor_blob_drain_new(const struct actor_blob_drain_options *options,
                                          struct actor_blob_drain **out);
/* Nothing may be under way. */
void actor_blob_drain_free(struct actor_blob_drain *drain);
/* Goes on when nothing is under way. Returns the monotonic ms at which it wants to be called again
 * (ACTOR_NEVER: when told). */
uint64_t actor_blob_drain_pump(struct actor_blob_drain *drain, struct actor_time now);
/* The port's answer to what is under way. */
void actor_blob_drain_done(struct actor_blob_drain *drain, const struct proto_port_done *done,
                           struct actor_time now);
/* All records before it are stored, though maybe not flushed. */
uint64_t actor_blob_drain_stored(const struct actor_blob_drain *drain);
/* All records before it survive a power cut. */
uint64_t actor_blob_drain_durable(const struct actor_blob_drain *drain);
/* Asks for a flush of what is stored, as soon as nothing is under way. */
void actor_blob_drain_want_flush(struct actor_blob_drain *drain);
/* Why the newest try failed, until one succeeds; RESULT_OK: none has. */
enum result actor_blob_drain_trouble(const struct actor_blob_drain *drain);
bool actor_blob_drain_busy(const struct actor_blob_drain *drain);
const struct actor_blob_drain_counters *
actor_blob_drain_counters(const struct actor_blob_drain *drain);

/* "{workspaceId}/{executionId}/{name}.msgpack" into the arena. */
struct arena;
struct span actor_blob_name(struct arena *arena, struct span workspace, struct span execution_id,
                            struct span name);

#endif
