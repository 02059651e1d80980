/*
 * behaviour.c: the behaviours that most elements share.
 */
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/flow.h"
#include "proto/base/limits.h"

/* engine.md 3: a step is one entry of a token into a node; its path's length is bounded, so a loop
 * without a wait ends. */
void engine_arrive_enter(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_execution *execution = decision->execution;
    uint32_t path = visit->token->segment == execution->segment ? visit->token->path : 0;
    uint32_t most = execution->catalog->max_steps;
    most = most == 0 ? LIMIT_STEPS : most;
    if (path >= most) {
        engine_fail(decision, visit, ENGINE_TOKEN_ARRIVED, span_text("StepLimitExceeded"),
                    ENGINE_TEXT(decision,
                                "more than %u steps on one path before \"%.*s\": does the model "
                                "loop without a wait?",
                                most, SPAN_ARG(visit->node->id)));
        return;
    }
    engine_emit_token(decision, ENGINE_EVENT_ENTERED, visit->token)->count =
        execution->sequence + 1;
}

void engine_work_pass(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
}

void engine_leave_activity(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_activity(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

void engine_cancel_nothing(struct engine_decision *decision, const struct engine_visit *visit)
{
    (void)decision;
    (void)visit;
}
