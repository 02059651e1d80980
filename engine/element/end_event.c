/*
 * end_event.c: none, error, terminate, message and signal end events. An end eats one token; the
 * scope ends with its last one (traps.md 10).
 */
#include "engine/activity.h"
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/publish.h"
#include "engine/scope.h"
#include "engine/task.h"

static void throw_error(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span code = SPAN_EMPTY;
    for (uint32_t i = 0; i < visit->node->event_count; i++) {
        code = visit->node->events[i].kind == ENGINE_ON_ERROR ? visit->node->events[i].code : code;
    }
    engine_throw(decision, visit, ENGINE_TOKEN_ENTERED, code,
                 ENGINE_TEXT(decision, "error end event \"%.*s\"", SPAN_ARG(visit->node->id)));
}

static bool bears(const struct engine_node *node, enum engine_event_kind kind)
{
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (node->events[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* Of several results, messages and signals leave before the end takes its course. */
static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    bool sends = bears(node, ENGINE_ON_MESSAGE) || bears(node, ENGINE_ON_SIGNAL);
    struct span local;
    if (node->event_count == 1 && bears(node, ENGINE_ON_MESSAGE) && node->task_type_explicit) {
        engine_task_work(decision, visit, engine_unserved_miss, NULL);
        return;
    }
    if (sends && !(engine_activity_begin(decision, visit, &local) &&
                   engine_publish(decision, visit, local))) {
        return;
    }
    if (bears(node, ENGINE_ON_ERROR)) {
        throw_error(decision, visit);
    } else if (bears(node, ENGINE_ON_TERMINATE)) {
        engine_scope_terminate(decision, visit);
    } else if (bears(node, ENGINE_ON_ESCALATION)) {
        engine_escalate(decision, visit);
    } else if (bears(node, ENGINE_ON_COMPENSATION)) {
        engine_compensation_begin(decision, visit);
    } else if (bears(node, ENGINE_ON_CANCEL)) {
        engine_cancel_begin(decision, visit);
    } else if (node->event_count == 0 || sends) {
        engine_scope_consume(decision, visit);
    } else {
        engine_fail_unsupported(decision, visit);
    }
}

const struct engine_element_ops engine_element_end_event = {
    .name = "endEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_compensation_back,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
