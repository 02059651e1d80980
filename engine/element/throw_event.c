/*
 * throw_event.c: intermediate throw events. A none event marks a place on the way; a link leads to
 * its catch event; a message is sent by the module of its task type, where it has one.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/flow.h"
#include "engine/listen.h"
#include "engine/task.h"
#include "engine/throwing.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    if (node->event_count == 1 && node->events[0].kind == ENGINE_ON_MESSAGE &&
        node->task_type_explicit) {
        engine_task_work(decision, visit, engine_unserved_miss, NULL);
    } else if (engine_node_bears(node, ENGINE_ON_LINK) && node->link_target == ENGINE_NONE) {
        engine_fail_unsupported(decision, visit);
    } else if (engine_throwing_begin(decision, visit)) {
        engine_listen_finish(decision, visit);
    }
}

static void back(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_compensation_back(decision, visit);
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
}

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->node->link_target != ENGINE_NONE) {
        engine_flow_link(decision, visit);
    } else {
        engine_leave_activity(decision, visit);
    }
}

const struct engine_element_ops engine_element_throw_event = {
    .name = "intermediateThrowEvent",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_answer_task,
    .back = back,
    .leave = leave,
    .cancel = engine_call_cancel,
};
