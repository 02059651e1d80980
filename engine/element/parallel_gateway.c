/*
 * parallel_gateway.c: joins one token from every incoming flow, then forks to every outgoing one,
 * conditions or not.
 */
#include "engine/element/element.h"
#include "engine/flow.h"
#include "engine/join.h"

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_all(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

const struct engine_element_ops engine_element_parallel_gateway = {
    .name = "parallelGateway",
    .arrive = engine_join_arrive,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
