/*
 * catch_event.c: intermediate catch events. A timer waits until it is due; at a link only its throw
 * event's token arrives.
 */
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/timer.h"
#include "engine/wait.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    int64_t due_ms;
    if (visit->node->event_count == 1 && visit->node->events[0].kind == ENGINE_ON_LINK) {
        engine_work_pass(decision, visit);
    } else if (visit->node->event_count != 1 || visit->node->events[0].kind != ENGINE_ON_TIMER) {
        engine_fail_unsupported(decision, visit);
    } else if (engine_timer_due(decision, visit, &due_ms)) {
        engine_wait_open(decision, visit, ENGINE_WAIT_TIMER, SPAN_EMPTY, due_ms);
    }
}

const struct engine_element_ops engine_element_catch_event = {
    .name = "intermediateCatchEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
