/*
 * schedule.h: the timers that start processes (engine.md 10). For every process's newest version it
 * knows each timer trigger's next due instant; when that has come it asks the owner of the new
 * execution to begin it.
 *
 * Exactly once: the execution's id is a UUIDv5 of process, version, trigger and due instant, and
 * its owner writes the firing into the journal in the commit that holds the execution. So a firing
 * is on disk with what it began, or neither is, and the next due instant follows from what is on
 * disk alone. One firing of a trigger at a time is under way.
 *
 * Belongs to the registry and lives on its thread.
 */
#ifndef ACTORS_SCHEDULE_H
#define ACTORS_SCHEDULE_H

#include "actors/catalog.h"
#include "actors/clock.h"
#include "actors/counters.h"
#include "actors/plan.h"
#include "proto/message.h"
#include "proto/record.h"

struct actor_schedule;
struct actor_router;
struct wire_writer;

struct actor_schedule_options {
    struct proto_sink *self; /* whose turn hands FIRED back */
    struct proto_sink *const *shards;
    uint32_t shard_count;
    const struct actor_catalog *catalog;
    const struct actor_router *router; /* nothing fires while it takes no starts; NULL: always */
};

struct actor_schedule_counters {
    actor_counter triggers;  /* gauge: timers that will fire */
    actor_counter firings;   /* executions begun */
    actor_counter late;      /* ... more than 5 s behind their due instant */
    actor_counter caught_up; /* ... that stand for several instants */
};

MUST_USE enum result actor_schedule_new(const struct actor_schedule_options *options,
                                        struct actor_schedule **out);
void actor_schedule_free(struct actor_schedule *schedule);

/* Recovery, in any order before the first turn: a firing that the journal or the table knows.
 * RESULT_LIMIT. */
MUST_USE enum result actor_schedule_recover(struct actor_schedule *schedule,
                                            const struct proto_record *record);
/*
 * What keeps a file's timers from ever firing, as errors in the report: a zone that this system
 * does not know, an expression without a time.
 */
void actor_schedule_check(const struct actor_catalog *catalog, struct span project,
                          const struct engine_definition *definition, int64_t now_ms,
                          struct engine_report *report);
/* The timers of its processes, as far as it is their newest version, in place of those of the older
 * one. */
void actor_schedule_put(struct actor_schedule *schedule, const struct actor_source *source);
/* PROTO_FIRED: how it went. */
void actor_schedule_fired(struct actor_schedule *schedule, const struct proto_fire *fired,
                          struct actor_time now);
/* Fires what is due. The monotonic ms of the next turn wanted: at most 5 s ahead, or ACTOR_NEVER.
 */
uint64_t actor_schedule_turn(struct actor_schedule *schedule, struct actor_time now);
/* The triggers of a process in force as an ARRAY of maps (docs/protocol.md, definitions). */
void actor_schedule_write(const struct actor_schedule *schedule,
                          const struct engine_process *process, struct wire_writer *writer);
/* Any thread. */
const struct actor_schedule_counters *
actor_schedule_counters(const struct actor_schedule *schedule);

#endif
