/*
 * catch_event.c: intermediate catch events wait for what they name; at a link only its throw
 * event's token arrives.
 */
#include "engine/element/element.h"
#include "engine/listen.h"
#include "engine/timer.h"
#include "engine/wait.h"

static void wait_for_time(struct engine_decision *decision, const struct engine_visit *visit)
{
    int64_t due_ms;
    if (!engine_timer_due(decision, visit, &due_ms)) {
        return;
    }
    /* No wait, no new segment: so the step limit ends a loop of them (field report F59). */
    if (due_ms <= decision->execution->now_ms) {
        engine_listen_finish(decision, visit);
    } else {
        engine_wait_open(decision, visit, ENGINE_WAIT_TIMER, SPAN_EMPTY, due_ms);
    }
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    enum engine_event_kind only = node->event_count == 1 ? node->events[0].kind : ENGINE_ON_NONE;
    if (engine_listen_came(visit) || only == ENGINE_ON_LINK) {
        engine_listen_finish(decision, visit);
    } else if (only == ENGINE_ON_TIMER) {
        wait_for_time(decision, visit);
    } else {
        engine_listen_wait(decision, visit, SPAN_EMPTY);
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
