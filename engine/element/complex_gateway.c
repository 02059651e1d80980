/*
 * complex_gateway.c: out like an inclusive gateway; in when its activation condition says so, and
 * then, without that condition, once more for what comes late (complex.c).
 */
#include "engine/complex.h"
#include "engine/element/element.h"
#include "engine/flow.h"
#include "engine/join.h"
#include "engine/scope.h"

/* A reset that makes no token is no step. */
static void arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (!engine_complex_resets(visit->token)) {
        engine_join_arrive_inclusive(decision, visit);
    } else if (engine_flow_choose_again(decision, visit, &choice)) {
        if (choice.count == 0) {
            engine_scope_consume(decision, visit);
        } else {
            engine_arrive_enter(decision, visit);
        }
    }
}

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_complex_resets(visit->token)
            ? engine_flow_choose_again(decision, visit, &choice)
            : engine_flow_choose_inclusive(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

const struct engine_element_ops engine_element_complex_gateway = {
    .name = "complexGateway",
    .arrive = arrive,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
