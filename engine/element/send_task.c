/*
 * send_task.c: sends by a module; without one, and without a task type of its own, its message is
 * published.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/publish.h"
#include "engine/task.h"

static void publish(struct engine_decision *decision, const struct engine_visit *visit,
                    struct span local)
{
    if (visit->node->message_name.count == 0 || visit->node->task_type_explicit) {
        engine_unserved_miss(decision, visit, local);
    } else if (engine_publish(decision, visit, local)) {
        engine_unserved_pass(decision, visit, local);
    }
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, publish, NULL);
}

const struct engine_element_ops engine_element_send_task = {
    .name = "sendTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
