/*
 * exclusive_gateway.c: one way out; every token passes, without joining (traps.md 3, 5).
 */
#include "engine/element/element.h"
#include "engine/flow.h"

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_first(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

const struct engine_element_ops engine_element_exclusive_gateway = {
    .name = "exclusiveGateway",
    .arrive = engine_arrive_enter,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
