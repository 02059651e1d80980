/*
 * end_event.c: an end eats one token; the scope ends with its last one (traps.md 10).
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/scope.h"
#include "engine/task.h"
#include "engine/throwing.h"
#include "proto/base/assert.h"

static void throw_error(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_event_definition *error = NULL;
    struct span code;
    for (uint32_t i = 0; i < visit->node->event_count; i++) {
        error = visit->node->events[i].kind == ENGINE_ON_ERROR ? &visit->node->events[i] : error;
    }
    ASSERT(error != NULL);
    if (!engine_throwing_code(decision, visit, error, &code)) {
        return;
    }
    engine_throw(decision, visit, (enum engine_token_state)visit->token->state, code,
                 ENGINE_TEXT(decision, "error end event \"%.*s\"", SPAN_ARG(visit->node->id)));
}

/* What it does last. */
static void finish(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (engine_node_bears(visit->node, ENGINE_ON_ERROR)) {
        throw_error(decision, visit);
    } else if (engine_node_bears(visit->node, ENGINE_ON_CANCEL)) {
        engine_cancel_begin(decision, visit);
    } else if (engine_node_bears(visit->node, ENGINE_ON_TERMINATE)) {
        engine_scope_terminate(decision, visit);
    } else if (visit->token->state == ENGINE_TOKEN_RETURNING ||
               engine_node_bears(visit->node, ENGINE_ON_SIGNAL)) {
        /* Who hears its signal acts before the token goes, and with it perhaps the scope. */
        engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
    } else {
        engine_scope_consume(decision, visit);
    }
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    if (node->event_count == 1 && node->events[0].kind == ENGINE_ON_MESSAGE &&
        node->task_type_explicit) {
        engine_task_work(decision, visit, engine_unserved_miss, NULL);
    } else if (engine_throwing_begin(decision, visit)) {
        finish(decision, visit);
    }
}

static void back(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (engine_node_bears(visit->node, ENGINE_ON_CANCEL)) {
        engine_cancel_back(decision, visit);
    } else {
        engine_compensation_back(decision, visit);
        finish(decision, visit);
    }
}

const struct engine_element_ops engine_element_end_event = {
    .name = "endEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_answer_task,
    .back = back,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
