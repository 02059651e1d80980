/*
 * manual_task.c: work outside of any system: it passes silently unless a module wants to know
 * (engine.md 3).
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/task.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_unserved_pass, NULL);
}

const struct engine_element_ops engine_element_manual_task = {
    .name = "manualTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
