/*
 * task.c: see task.h.
 */
#include "engine/task.h"

#include "engine/activity.h"
#include "engine/answer.h"
#include "engine/apply.h"
#include "engine/builtin.h"
#include "engine/call.h"
#include "engine/failure.h"
#include "engine/rule.h"
#include "proto/wire/writer.h"

/* ---- scripts that the engine evaluates itself ---- */

/* The result goes to the result variable, and is the step's output. */
static struct span script_body(struct engine_decision *decision, const struct engine_visit *visit,
                               struct span result)
{
    struct wire_writer writer;
    bool named = visit->node->result_variable.count > 0;
    wire_writer_init(&writer, decision->arena, 2 * result.count + 64);
    wire_write_map(&writer, 1u + named);
    wire_pair_value(&writer, "output", result);
    if (named) {
        wire_write_text(&writer, "execution");
        wire_write_map(&writer, 1);
        wire_write_string(&writer, visit->node->result_variable);
        wire_write_value(&writer, result);
    }
    return wire_writer_span(&writer);
}

static void run_script(struct engine_decision *decision, const struct engine_visit *visit,
                       struct span local)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (engine_expression_evaluate(visit->node->script, &scene.names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text("script"),
                               evaluation.error.message);
        return;
    }
    engine_answer_made(decision, visit, NULL, script_body(decision, visit, evaluation.value),
                       local);
}

/* ---- test mode ---- */

/* engine.md 8: what has side effects is not called in test mode; its step takes its testOutputs. */
static struct span test_body(struct engine_decision *decision, const struct engine_module *module)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, module->test_outputs.count + 64);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "outputs");
    if (module->test_outputs.count > 0) {
        wire_write_value(&writer, module->test_outputs);
    } else {
        wire_write_map(&writer, 1);
        wire_pair_text(&writer, "result", "[TEST] Simulated output");
    }
    return wire_writer_span(&writer);
}

/* ---- modules ---- */

static void run_module(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_module *module, struct span local)
{
    struct span config;
    if (!engine_call_config(decision, visit, local, &config)) {
        return;
    }
    if (decision->execution->is_test && module->side_effects) {
        engine_answer_made(decision, visit, module, test_body(decision, module), local);
    } else if (engine_builtin_is_internal(module->builtin)) {
        engine_answer_made(decision, visit, module,
                           engine_builtin_run(decision, module->builtin, config), local);
    } else if (engine_call_url(module, config).count == 0) {
        engine_fail(
            decision, visit, ENGINE_TOKEN_ENTERED, span_text("ModuleFailed"),
            ENGINE_TEXT(decision, "\"%.*s\" has no url to call", SPAN_ARG(visit->node->id)));
    } else {
        engine_call_out(decision, visit, module, ENGINE_PHASE_EXECUTE, config);
    }
}

void engine_unserved_miss(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local)
{
    struct span type;
    const char *reason;
    (void)local;
    (void)engine_call_type(decision, visit, &type, &reason); /* it could be told a moment ago */
    struct span text =
        ENGINE_TEXT(decision, "no module for task type \"%.*s\"%s", SPAN_ARG(type),
                    visit->node->rule.decision == NULL ? "" : ", and its decision is not deployed");
    engine_emit_token(decision, ENGINE_EVENT_MODULE_MISSED, visit->token)->text = text;
    engine_emit_log(decision, ENGINE_LEVEL_WARN, visit, text);
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
}

void engine_unserved_pass(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local)
{
    engine_answer_made(decision, visit, NULL, SPAN_EMPTY, local);
}

/* False: it has none, or its expression makes none; that was decided on. */
static bool has_type(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span type;
    const char *reason;
    if (visit->node->task_type.count == 0) {
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("TasksHasNoType"),
                    ENGINE_TEXT(decision, "\"%.*s\" has no task type", SPAN_ARG(visit->node->id)));
        return false;
    }
    if (!engine_call_type(decision, visit, &type, &reason)) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text("task type"),
                               reason);
        return false;
    }
    return true;
}

void engine_task_work(struct engine_decision *decision, const struct engine_visit *visit,
                      engine_unserved_fn unserved, engine_unserved_fn in_test)
{
    const struct engine_node *node = visit->node;
    struct span local;
    if (!has_type(decision, visit)) {
        return;
    }
    const struct engine_module *module = engine_call_module(decision, visit);
    if (visit->token->callback.count > 0 &&
        module != NULL) { /* its module failed to take the callback: again */
        struct span config;
        if (engine_call_config(decision, visit, visit->token->local, &config)) {
            engine_call_out(decision, visit, module, ENGINE_PHASE_CALLBACK, config);
        }
        return;
    }
    if (!engine_activity_begin(decision, visit, &local)) {
        return;
    }
    bool native = !(node->task_type_explicit && module != NULL);
    if (node->script != NULL && native) {
        run_script(decision, visit, local);
    } else if (node->rule.decision != NULL && native && engine_rule_work(decision, visit, local)) {
        return;
    } else if (module != NULL && in_test != NULL && decision->execution->is_test &&
               module->side_effects) {
        in_test(decision, visit, local);
    } else if (module != NULL) {
        run_module(decision, visit, module, local);
    } else {
        unserved(decision, visit, local);
    }
}
