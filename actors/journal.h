/*
 * journal.h: the actor that writes the log. Everything that arrives while it syncs goes into the
 * next sync: one sync for all shards and all their turns. It alone trims the log, behind the
 * slowest drain.
 *
 * When the log takes nothing (no space), commits stay here in order and are tried again; whoever
 * waits for one is told once with the reason and a second time when it is durable after all. After
 * an I/O error of a sync nobody knows what is on the disk: nothing is tried again, the engine must
 * be restarted.
 */
#ifndef ACTORS_JOURNAL_H
#define ACTORS_JOURNAL_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "actors/runtime.h"
#include "storage/journal.h"

struct actor_journal;

struct actor_journal_options {
    struct storage_journal *log;
    enum actor_durability durability;
    uint64_t bytes_max;                           /* beyond it `full` is set */
    struct proto_sink *drains[PROTO_DRAIN_COUNT]; /* told of what is readable */
    uint64_t drained[PROTO_DRAIN_COUNT];          /* their durable positions at the start */
};

struct actor_journal_counters {
    actor_counter commits, syncs, bytes;
    actor_counter end, begin;                 /* gauges: positions */
    actor_counter drained[PROTO_DRAIN_COUNT]; /* gauges: durable positions */
    actor_counter full;                       /* gauge: 1 while starts must be refused */
    actor_counter failed;                     /* gauge: 1 after an I/O error, for good */
    actor_counter sync_us;                    /* time spent in syncs */
};

MUST_USE enum result actor_journal_new(const struct actor_journal_options *options,
                                       struct actor_journal **out);
void actor_journal_free(struct actor_journal *journal);
/* An actor_turn_fn. Takes PROTO_COMMIT (answered by PROTO_COMMITTED), PROTO_DRAINED, PROTO_HOLD,
 * and PROTO_DRAIN (answered when what came before it is appended and synced, if the disk takes it).
 */
uint64_t actor_journal_turn(void *journal, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_journal_counters *actor_journal_counters(const struct actor_journal *journal);

#endif
