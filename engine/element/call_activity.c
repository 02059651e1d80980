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

/* A text by expression; empty after a failure, which was decided on. */
static struct span evaluate(struct engine_decision *decision, const struct engine_visit *visit,
                            const struct engine_expression *expression, struct span local,
                            const char *what)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation = {0};
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (engine_expression_evaluate(expression, &scene.names, decision->arena, &evaluation) !=
        RESULT_OK) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text(what),
                               evaluation.error.message);
        return SPAN_EMPTY;
    }
    struct span text = wire_string_or(evaluation.value, "");
    if (text.count == 0) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text(what),
                               "it is no text");
    }
    return text;
}

/* What is called, in the version that the call is bound to. */
static const struct engine_process *look_up(const struct engine_decision *decision,
                                            const struct engine_visit *visit, struct span id,
                                            struct span tag)
{
    const struct engine_catalog *catalog = decision->execution->catalog;
    struct span project = decision->execution->project;
    if (tag.count > 0) {
        return catalog->tagged == NULL ? NULL : catalog->tagged(catalog, project, id, tag);
    }
    /* The processes of a file are deployed together, so they have the same version. */
    uint32_t version =
        visit->node->called_here ? visit->scope->process->version : visit->node->called_version;
    return catalog->process(catalog, project, id, version);
}

static const struct engine_process *find_called(struct engine_decision *decision,
                                                const struct engine_visit *visit, struct span local)
{
    struct span tag = SPAN_EMPTY;
    if (visit->node->called == NULL) { /* read leniently */
        engine_fail_unsupported(decision, visit);
        return NULL;
    }
    struct span id = evaluate(decision, visit, visit->node->called, local, "called process");
    if (id.count > 0 && visit->node->called_tag != NULL) {
        tag = evaluate(decision, visit, visit->node->called_tag, local, "version tag");
    }
    if (id.count == 0 || (tag.count == 0 && visit->node->called_tag != NULL)) {
        return NULL;
    }
    const struct engine_process *process = look_up(decision, visit, id, tag);
    if (process == NULL) {
        struct span version =
            tag.count > 0 ? ENGINE_TEXT(decision, " in a version tagged \"%.*s\"", SPAN_ARG(tag))
            : visit->node->called_version > 0
                ? ENGINE_TEXT(decision, " in version %u", visit->node->called_version)
                : SPAN_EMPTY;
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("DefinitionNotFound"),
                    ENGINE_TEXT(decision,
                                "\"%.*s\" calls process \"%.*s\"%.*s, which does not exist",
                                SPAN_ARG(visit->node->id), SPAN_ARG(id), SPAN_ARG(version)));
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
