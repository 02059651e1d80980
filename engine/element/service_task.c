/*
 * service_task.c: work for a module; an expression on it (Camunda) is evaluated here.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/task.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_unserved_miss, NULL);
}

const struct engine_element_ops engine_element_service_task = {
    .name = "serviceTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
