/*
 * task.c: the task of no kind: a module if one serves it, else it passes silently (engine.md 3).
 */
#include "engine/task.h"
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_unserved_pass, NULL);
}

const struct engine_element_ops engine_element_task = {
    .name = "task",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
