/*
 * call_activity.c: the called process is a scope of the same execution, with variables of its own.
 */
#include "engine/activity.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/join.h"
#include "engine/scope.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static const struct engine_process *find_called(struct engine_decision *decision,
                                                const struct engine_visit *visit, struct span local)
{
    const struct engine_execution *execution = decision->execution;
    struct engine_scene scene;
    struct engine_evaluation evaluation = {0};
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (visit->node->called != NULL &&
        engine_expression_evaluate(visit->node->called, &scene.names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text("called process"),
                               evaluation.error.message);
        return NULL;
    }
    struct span id = wire_string_or(evaluation.value, "");
    const struct engine_process *process =
        id.count == 0 ? NULL
                      : execution->library->process(execution->library, execution->project, id,
                                                    visit->node->called_version);
    if (process == NULL) {
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("DefinitionNotFound"),
                    ENGINE_TEXT(decision, "\"%.*s\" calls process \"%.*s\"%s, which does not exist",
                                SPAN_ARG(visit->node->id), SPAN_ARG(id),
                                visit->node->called_version > 0 ? " in a certain version" : ""));
    }
    return process;
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    if (!engine_activity_begin(decision, visit, &local)) {
        return;
    }
    const struct engine_process *process = find_called(decision, visit, local);
    if (process != NULL) {
        struct span variables = local;
        if (visit->node->propagate_in) {
            variables = wire_merge(
                decision->arena, engine_names_visible(decision, visit->scope, visit->token), local);
        }
        engine_scope_open(decision, visit, process, variables);
    }
}

static void back(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_scene scene;
    const struct engine_scope *called = engine_scope_find(decision->execution, visit->token->child);
    if (visit->node->propagate_out && called->variables.count > 0) {
        engine_emit_variables(decision, visit->token,
                              arena_copy(decision->arena, called->variables));
    }
    engine_scene_init(&scene, decision, called, NULL);
    scene.output = visit->token->output;
    if (engine_activity_outputs(decision, visit, &scene, ENGINE_TOKEN_RETURNING)) {
        engine_emit(decision, ENGINE_EVENT_SCOPE_CLOSED)->scope = visit->token->child;
        engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
    }
}

const struct engine_element_ops engine_element_call_activity = {
    .name = "callActivity",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_never,
    .back = back,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
