/*
 * inclusive_gateway.c: out by every true flow; in by BPMN's rule for joins (traps.md 1).
 */
#include "engine/element/element.h"
#include "engine/flow.h"
#include "engine/join.h"

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_inclusive(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

const struct engine_element_ops engine_element_inclusive_gateway = {
    .name = "inclusiveGateway",
    .arrive = engine_join_arrive_inclusive,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
