/*
 * end_event.c: none, error and terminate end events. A none end eats one token; the scope ends with
 * its last one (traps.md 10).
 */
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/scope.h"

static void throw_error(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span code = visit->node->events[0].code;
    engine_throw(decision, visit, ENGINE_TOKEN_ENTERED, code,
                 ENGINE_TEXT(decision, "error end event \"%.*s\"", SPAN_ARG(visit->node->id)));
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    enum engine_event_kind kind =
        visit->node->event_count == 0 ? ENGINE_ON_NONE : visit->node->events[0].kind;
    if (kind == ENGINE_ON_NONE) {
        engine_scope_consume(decision, visit);
    } else if (kind == ENGINE_ON_TERMINATE) {
        engine_scope_terminate(decision, visit);
    } else if (kind == ENGINE_ON_ERROR) {
        throw_error(decision, visit);
    } else if (kind == ENGINE_ON_ESCALATION) {
        engine_escalate(decision, visit);
    } else if (kind == ENGINE_ON_COMPENSATION) {
        engine_compensation_begin(decision, visit);
    } else if (kind == ENGINE_ON_CANCEL) {
        engine_cancel_begin(decision, visit);
    } else {
        engine_fail_unsupported(decision, visit);
    }
}

const struct engine_element_ops engine_element_end_event = {
    .name = "endEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_never,
    .back = engine_compensation_back,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
