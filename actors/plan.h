/*
 * plan.h: when a timer trigger fires, read from its definition once the version is in force: the
 * text (an expression is evaluated then, by `env` and the deploy's time alone), what it says, and
 * its zone. Belongs to one actor.
 */
#ifndef ACTORS_PLAN_H
#define ACTORS_PLAN_H

#include "engine/schedule.h"
#include "proto/base/arena.h"

#define ACTOR_PLAN_WHY_BYTES 256u

struct actor_plan {
    struct engine_schedule schedule;
    const struct engine_zone *zone; /* the catalog's */
    struct span text;               /* "0 9 * * *", "R/PT10M", "2030-01-01": own memory */
};

/* RESULT_INVALID: `why` says why it never fires. RESULT_LIMIT. Pair: actor_plan_release. */
MUST_USE enum result actor_plan_read(const struct engine_catalog *catalog, struct span project,
                                     const struct engine_start_trigger *trigger,
                                     int64_t deployed_ms, struct actor_plan *out,
                                     char why[ACTOR_PLAN_WHY_BYTES]);
/* Of a zeroed one, too. */
void actor_plan_release(struct actor_plan *plan);

#endif
