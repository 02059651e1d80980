/*
 * sub_process.c: an embedded sub-process: a scope with its own local variables, which its inputs
 * make. An event sub-process is one too, once its event has happened.
 */
#include "engine/activity.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/handler.h"
#include "engine/join.h"
#include "engine/scope.h"

static void arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->token->guard) {
        engine_handler_listen(decision, visit);
    } else {
        engine_join_arrive_activity(decision, visit);
    }
}

void engine_work_sub_process(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    if (visit->node->children.count == 0) {
        engine_work_pass(decision, visit); /* drawn but empty */
        return;
    }
    if (engine_activity_begin(decision, visit, &local)) {
        engine_scope_open(decision, visit, NULL, local);
    }
}

void engine_back_sub_process(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_scene scene;
    const struct engine_scope *inner = engine_scope_find(decision->execution, visit->token->child);
    engine_scene_init(&scene, decision, inner, NULL);
    scene.output = visit->token->output;
    if (engine_activity_outputs(decision, visit, &scene, ENGINE_TOKEN_RETURNING)) {
        if (visit->token->instance > 0) { /* what it adds to the output collection may be there */
            engine_emit_token(decision, ENGINE_EVENT_LOCALS_SET, visit->token)->value =
                arena_copy(decision->arena, inner->variables);
        }
        engine_compensation_close(decision, visit);
        engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
    }
}

const struct engine_element_ops engine_element_sub_process = {
    .name = "subProcess",
    .arrive = arrive,
    .work = engine_work_sub_process,
    .answer = engine_never,
    .back = engine_back_sub_process,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
