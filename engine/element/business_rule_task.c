/*
 * business_rule_task.c: a decision: of a deployed decision model (engine/rule.c), else of a module.
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

const struct engine_element_ops engine_element_business_rule_task = {
    .name = "businessRuleTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
