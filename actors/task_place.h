/*
 * task_place.h: a place in the list of human tasks: executions by when they last began to wait for
 * a person, the newest first (order.h), in each its tasks in the order that they came. A task goes
 * by its step's number, so it keeps its place when one before it is done.
 */
#ifndef ACTORS_TASK_PLACE_H
#define ACTORS_TASK_PLACE_H

#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/wire/writer.h"

struct actor_task_place {
    int64_t at_ms;
    struct span id;    /* executionId, borrowed */
    uint32_t position; /* in the execution: the step's sequence; 0: before all its tasks */
};

bool actor_task_place_is_before(const struct actor_task_place *left,
                                const struct actor_task_place *right);
/* "1767225600000.0.order-7": what callers get as `cursor`, in the arena. */
struct span actor_task_place_text(const struct actor_task_place *place, struct arena *arena);
/* RESULT_INVALID: the text is no such place. The id is borrowed from it. */
MUST_USE enum result actor_task_place_parse(struct span text, struct actor_task_place *out);

#endif
