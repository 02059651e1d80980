/*
 * throw_event.c: intermediate throw events. A none event marks a place on the way.
 */
#include "engine/element/element.h"
#include "engine/failure.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->node->event_count > 0 && visit->node->events[0].kind != ENGINE_ON_NONE) {
        engine_fail_unsupported(decision, visit);
    } else {
        engine_work_pass(decision, visit);
    }
}

const struct engine_element_ops engine_element_throw_event = {
    .name = "intermediateThrowEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
