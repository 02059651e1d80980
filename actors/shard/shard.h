/*
 * shard.h: the owner of a part of all executions (actors/README.md). Nobody else touches them.
 *
 * A turn takes what arrived, lets the engine act, writes the records of all that changed into one
 * commit, and holds what would leave (replies, calls, bindings) until that commit is durable. It
 * does no I/O and blocks on nobody.
 */
#ifndef ACTORS_SHARD_SHARD_H
#define ACTORS_SHARD_SHARD_H

#include "actors/catalog.h"
#include "actors/clock.h"
#include "actors/counters.h"
#include "actors/runtime.h"
#include "proto/record.h"

struct actor_shard;

struct actor_shard_options {
    uint32_t index;
    uint32_t shard_count;
    enum actor_durability durability;
    enum actor_step_blobs step_blobs;
    bool audit;
    uint32_t max_steps; /* 0: LIMIT_STEPS */
    size_t heavy_session_bytes;
    size_t hot_bytes_max; /* of this shard */
    uint64_t hot_ttl_ms;
    uint32_t requests_pending_max;
    size_t reply_bytes_max;
    struct proto_sink *const
        *shards; /* all of them, self included: replies come to shards[index] */
    struct proto_sink *journal;
    struct proto_sink *io;
    struct proto_sink *storage;
    struct proto_sink *hot; /* a hot tier elsewhere (actors/hot.h); NULL: it is in this shard */
    struct proto_sink *audit_sink;
    struct proto_sink *observer;                    /* NULL: none */
    bool (*observing)(struct proto_sink *observer); /* NULL: always */
    actor_zone_fn read_zone;                        /* NULL: no named time zones */
};

struct actor_shard_counters {
    actor_counter requests;
    actor_counter started, completed, failed, aborted;
    actor_counter live;    /* gauge: segments under way */
    actor_counter waiting; /* gauge: parked */
    actor_counter letters; /* gauge: messages kept that nobody has taken */
    actor_counter pending; /* gauge: requests unanswered */
    actor_counter steps, calls, commits, record_bytes;
    actor_counter hot_hits, hot_misses, hot_strange, hot_bytes;
    actor_counter unsaved; /* heavy sessions whose blob was not stored when their reply left */
    actor_counter timeouts, overloaded, refused, repeated;
    actor_counter damaged; /* executions set aside */
    actor_counter stalled; /* gauge: 1 while the journal takes nothing */
};

MUST_USE enum result actor_shard_new(const struct actor_shard_options *options,
                                     struct actor_shard **out);
void actor_shard_free(struct actor_shard *shard);
/* An actor_turn_fn: the shard's thread. */
uint64_t actor_shard_turn(void *shard, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_shard_counters *actor_shard_counters(const struct actor_shard *shard);

/* ---- recovery: before the first turn, on the thread that starts the program ---- */

/* Where recovery compiles definitions and modules into. */
struct actor_catalog *actor_shard_catalog(struct actor_shard *shard);

/* One live execution: its newest snapshot (empty: none yet) and the runs of events after it, in
 * order. */
struct actor_recovered {
    struct span execution_id;
    struct span snapshot;
    const struct actor_recovered_events {
        uint64_t first;
        struct span run;
    } * events;
    size_t events_count;
};
/* Counts into *recovery; what is damaged is set aside, logged, and never executed. RESULT_LIMIT: no
 * memory. */
MUST_USE enum result actor_shard_recover(struct actor_shard *shard,
                                         const struct actor_recovered *recovered,
                                         struct actor_time now, struct actor_recovery *recovery);
/* After the executions: those that wait on channel sessions, or listen for messages, are entered
 * with the shards that keep them. */
void actor_shard_recover_sessions(struct actor_shard *shard, struct actor_shard *const *shards);
/* It ended lately: no start of that id until the audit drain has it. */
MUST_USE enum result actor_shard_recover_ended(struct actor_shard *shard, struct span execution_id,
                                               uint64_t position);
/* After the executions: a remembered request, each once (its newest record). Every shard is given
 * every one. */
MUST_USE enum result actor_shard_recover_request(struct actor_shard *shard,
                                                 const struct proto_record *record,
                                                 struct actor_time now);

/* After the sessions, in the order they were published: a message that nobody took. Every shard is
 * given every one. */
MUST_USE enum result actor_shard_recover_message(struct actor_shard *shard,
                                                 const struct proto_record *record);

/* The body of a REQUEST record: [executionId, reply or nil]. */
struct actor_remembered_body {
    struct span execution_id;
    struct span reply; /* empty: in flight */
};
MUST_USE enum result actor_remembered_body_read(struct span body,
                                                struct actor_remembered_body *out);

/* Which shard owns an execution or a channel session. */
uint32_t actor_shard_of(struct span key, uint32_t shard_count);

#endif
