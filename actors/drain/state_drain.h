/*
 * state_drain.h: the journal's reader that keeps the state table: newest snapshot of each live
 * execution, remembered requests, definitions, messages, last firings of triggers. Lives on the
 * storage thread.
 *
 * Its durable position is where recovery begins to read. An execution with events that no snapshot
 * has superseded holds it back; when that lasts, its shard is asked for a snapshot in mid-segment.
 */
#ifndef ACTORS_DRAIN_STATE_DRAIN_H
#define ACTORS_DRAIN_STATE_DRAIN_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "actors/drain/fold.h"
#include "proto/message.h"
#include "proto/record.h"
#include "storage/journal.h"

struct actor_state_drain;

struct actor_state_drain_options {
    struct storage_state *state;
    struct storage_journal *log;
    struct proto_sink *const *shards;
    uint32_t shard_count;
    uint64_t position;     /* where to begin */
    uint32_t requests_max; /* remembered requests kept in the table */
};

struct actor_state_drain_counters {
    actor_counter records, flushes, failures, interims_asked;
    actor_counter corrupt; /* batches that failed their check */
};

MUST_USE enum result actor_state_drain_new(const struct actor_state_drain_options *options,
                                           struct actor_state_drain **out);
void actor_state_drain_free(struct actor_state_drain *drain);
/*
 * Folds what is readable: all of it, or (a slice) about a megabyte: RESULT_AGAIN, there may be
 * more. RESULT_IO, RESULT_FULL: the table or the log failed; try again later.
 */
MUST_USE enum result actor_state_drain_pump(struct actor_state_drain *drain, struct actor_time now,
                                            bool slice);
/* Position up to which records are folded. */
uint64_t actor_state_drain_read(const struct actor_state_drain *drain);
/* Is there something to flush? */
bool actor_state_drain_dirty(const struct actor_state_drain *drain);
/* Large enough that it should be flushed before its time. */
bool actor_state_drain_heavy(const struct actor_state_drain *drain);
/* Applies the fold with the positions of both drains that live here, durably. *position: where
 * recovery would begin now. */
MUST_USE enum result actor_state_drain_flush(struct actor_state_drain *drain,
                                             uint64_t blob_position, struct actor_time now,
                                             uint64_t *position);
/* The bus drain's position goes with the next flush. */
MUST_USE enum result actor_state_drain_keep_bus(struct actor_state_drain *drain,
                                                uint64_t position);
/* Newest snapshot of a live execution as of what was pumped. RESULT_NOT_FOUND. */
MUST_USE enum result actor_state_drain_get(struct actor_state_drain *drain,
                                           struct span execution_id, struct arena *arena,
                                           struct span *out);
const struct actor_state_drain_counters *
actor_state_drain_counters(const struct actor_state_drain *drain);

/* ---- rows, shared with recovery ---- */

#define ACTOR_POSITION_STATE "state"
#define ACTOR_POSITION_BLOB  "blob"
#define ACTOR_POSITION_BUS   "bus"

/* RESULT_OK with 0 when there is none yet. */
MUST_USE enum result actor_position_read(struct storage_state *state, const char *drain,
                                         uint64_t *position);
/* A REQUESTS row as the record it came from; spans in the arena or borrowed. */
MUST_USE enum result actor_request_row_read(struct span key, struct span value, struct arena *arena,
                                            struct proto_record *out);
/* A MESSAGES row as the record it came from; spans borrowed. */
MUST_USE enum result actor_message_row_read(struct span key, struct span value,
                                            struct proto_record *out);
/* A TRIGGERS row as the record it came from; spans borrowed. */
MUST_USE enum result actor_trigger_row_read(struct span key, struct span value,
                                            struct proto_record *out);
/* A DEFINITIONS row as a definition; spans borrowed. */
MUST_USE enum result actor_definition_row_read(struct span key, struct span value,
                                               struct proto_definition *out, int64_t *at_ms);

#endif
