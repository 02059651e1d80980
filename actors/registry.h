/*
 * registry.h: the actor that knows which definitions are deployed. It compiles a file before
 * anybody uses it, gives it its version, makes it durable, and then has every shard compile its own
 * copy; only when all have, the deploy is answered.
 *
 * A version belongs to all processes of its file: one more than the newest of any of them. A file
 * whose bytes are those of the newest version of its name makes no new one, and its timers go on as
 * they were.
 */
#ifndef ACTORS_REGISTRY_H
#define ACTORS_REGISTRY_H

#include "actors/catalog.h"
#include "actors/clock.h"
#include "actors/counters.h"
#include "actors/schedule.h"
#include "proto/message.h"

struct actor_registry;

struct actor_registry_options {
    struct proto_sink *self;
    struct proto_sink *journal;
    struct proto_sink *const *shards;
    uint32_t shard_count;
    const struct actor_router *router; /* timers fire only while it takes starts; NULL: always */
    actor_zone_fn read_zone;           /* NULL: no named time zones */
};

struct actor_registry_counters {
    actor_counter definitions; /* gauge: versions known */
    actor_counter deploys, refused;
};

MUST_USE enum result actor_registry_new(const struct actor_registry_options *options,
                                        struct actor_registry **out);
void actor_registry_free(struct actor_registry *registry);
/*
 * An actor_turn_fn. One job at a time, in order: PROTO_REQUEST (deploy, definitions);
 * PROTO_DEFINITION without a version (a project's file: like a deploy, answered by PROTO_DONE whose
 * value is the version); PROTO_PROJECT (made durable and given to the shards unless it is what they
 * have; answered by PROTO_DONE). Timers of what is deployed fire here (schedule.h); the first turn
 * comes when recovery is over.
 */
uint64_t actor_registry_turn(void *registry, struct proto_message *batch, struct actor_time now);
/* Recovery, before the first turn: where known versions are compiled into. */
struct actor_catalog *actor_registry_catalog(struct actor_registry *registry);
/* Recovery, before the first turn: a TRIGGER record of the table or the journal. */
MUST_USE enum result actor_registry_recover_firing(struct actor_registry *registry,
                                                   const struct proto_record *record);
/* Any thread. */
const struct actor_schedule_counters *
actor_registry_schedule_counters(const struct actor_registry *registry);
/* Any thread. */
const struct actor_registry_counters *
actor_registry_counters(const struct actor_registry *registry);

/* What is wrong in a file as {"problems":[{severity,rule,element,line,column,message}…]} in the
 * arena. */
struct span actor_problems(const struct engine_report *report, struct arena *arena);

#endif
