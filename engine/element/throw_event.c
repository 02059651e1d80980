/*
 * throw_event.c: intermediate throw events. A none event marks a place on the way; a link leads to
 * its catch event; messages and signals are published, or a message is sent by the module of its
 * task type.
 */
#include "engine/activity.h"
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/flow.h"
#include "engine/listen.h"
#include "engine/publish.h"
#include "engine/task.h"

static enum engine_event_kind event_of(const struct engine_node *node)
{
    return node->event_count == 0 ? ENGINE_ON_NONE : node->events[0].kind;
}

static void publish(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    if (engine_activity_begin(decision, visit, &local) && engine_publish(decision, visit, local)) {
        engine_listen_finish(decision, visit);
    }
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    enum engine_event_kind event = event_of(visit->node);
    bool leads_on = event == ENGINE_ON_LINK && visit->node->link_target != ENGINE_NONE;
    if (event == ENGINE_ON_NONE || leads_on) {
        engine_listen_finish(decision, visit);
    } else if (event == ENGINE_ON_ESCALATION) {
        engine_escalate(decision, visit);
    } else if (event == ENGINE_ON_COMPENSATION) {
        engine_compensation_begin(decision, visit);
    } else if (event == ENGINE_ON_MESSAGE && visit->node->task_type_explicit) {
        engine_task_work(decision, visit, engine_unserved_miss, NULL);
    } else if (event == ENGINE_ON_MESSAGE || event == ENGINE_ON_SIGNAL) {
        publish(decision, visit);
    } else {
        engine_fail_unsupported(decision, visit);
    }
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
    .back = engine_compensation_back,
    .leave = leave,
    .cancel = engine_call_cancel,
};
