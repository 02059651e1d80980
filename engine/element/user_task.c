/*
 * user_task.c: a person decides: without a module of its own it waits for one (engine.md 3),
 * and in test mode too (engine.md 8).
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/task.h"
#include "engine/wait.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_wait_human, engine_wait_human);
}

const struct engine_element_ops engine_element_user_task = {
    .name = "userTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
