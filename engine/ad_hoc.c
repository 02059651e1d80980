/*
 * ad_hoc.c: see ad_hoc.h.
 */
#include "engine/ad_hoc.h"

#include "engine/failure.h"
#include "engine/fields.h"
#include "engine/names.h"
#include "engine/scope.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

/* NULL: the scope is none of an ad-hoc sub-process. */
static const struct engine_node *ad_hoc_of(const struct engine_scope *scope)
{
    const struct engine_node *node =
        scope->kind == ENGINE_SCOPE_SUB_PROCESS ? &scope->process->nodes[scope->node] : NULL;
    return node != NULL && node->kind == ENGINE_AD_HOC_SUB_PROCESS ? node : NULL;
}

static bool is_activity(enum engine_kind kind)
{
    return kind >= ENGINE_TASK &&
           !(kind >= ENGINE_EXCLUSIVE_GATEWAY && kind <= ENGINE_EVENT_GATEWAY);
}

/* ---- the list of what the activities come to (Camunda 8's outputCollection) ---- */

struct span engine_ad_hoc_variables(struct engine_decision *decision,
                                    const struct engine_visit *visit, struct span local)
{
    struct wire_writer writer;
    if (visit->node->gathered.count == 0) {
        return local;
    }
    wire_writer_init(&writer, decision->arena, 8);
    wire_write_array(&writer, 0);
    struct span list =
        engine_fields_single(decision->arena, visit->node->gathered, wire_writer_span(&writer));
    return local.count == 0 ? list : wire_merge(decision->arena, local, list);
}

void engine_ad_hoc_hand_over(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->node->gathered.count == 0) {
        return;
    }
    const struct engine_scope *inner = engine_scope_find(decision->execution, visit->token->child);
    struct span variables =
        inner != NULL ? inner->variables : engine_ad_hoc_variables(decision, visit, SPAN_EMPTY);
    struct span list = arena_copy(decision->arena, wire_find(variables, visit->node->gathered));
    engine_emit_variables(decision, visit->token,
                          engine_fields_single(decision->arena, visit->node->gathered, list));
}

/* The list with one value more. */
static struct span longer(struct engine_decision *decision, struct span list, struct span value)
{
    struct wire_writer writer;
    struct wire_map_walk walk = wire_array_begin(list);
    struct span item;
    wire_writer_init(&writer, decision->arena, list.count + value.count + 8);
    wire_write_array(&writer, wire_count(list) + 1);
    while (wire_array_next(&walk, &item)) {
        wire_write_value(&writer, item);
    }
    wire_write_value(&writer, value);
    return wire_writer_span(&writer);
}

/* *map: the list as it is now, for who looks before the events are applied. False: the expression
 * failed, which was decided on. */
static bool gather(struct engine_decision *decision, const struct engine_visit *visit,
                   const struct engine_node *node, struct span *map)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation = {.value = visit->token->output};
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (node->gathered_value != NULL &&
        engine_expression_evaluate(node->gathered_value, &scene.names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        engine_decision_rewind(decision);
        engine_fail_expression(decision, visit, ENGINE_TOKEN_LEAVING, span_text("output element"),
                               evaluation.error.message);
        return false;
    }
    struct span list = wire_find(visit->scope->variables, node->gathered);
    *map = engine_fields_single(decision->arena, node->gathered,
                                longer(decision, list, evaluation.value));
    engine_emit_variables(decision, visit->token, *map);
    return true;
}

/* ---- its end ---- */

/* BPMN 2.0.2 §13.3.5: asked whenever an inner activity completes; true cancels the others, unless
 * it says otherwise: then the others finish, and nothing else begins. */
bool engine_ad_hoc_ends(struct engine_decision *decision, const struct engine_visit *visit,
                        bool is_last)
{
    const struct engine_node *node = ad_hoc_of(visit->scope);
    struct engine_scene scene;
    struct engine_evaluation evaluation;
    struct span gathered = SPAN_EMPTY;
    if (node == NULL || !is_activity(visit->node->kind)) {
        return false;
    }
    if (is_last && node->gathered.count > 0 && !gather(decision, visit, node, &gathered)) {
        return true;
    }
    if (node->condition == NULL) {
        return false;
    }
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.overlays[0] = gathered;
    if (engine_expression_evaluate(node->condition, &scene.names, decision->arena, &evaluation) !=
        RESULT_OK) {
        engine_decision_rewind(decision);
        engine_fail_expression(decision, visit, ENGINE_TOKEN_LEAVING,
                               span_text("completionCondition"), evaluation.error.message);
        return true;
    }
    if (!wire_bool_or(evaluation.value, false)) {
        return false;
    }
    if (node->lets_finish && visit->scope->live > 1) {
        engine_decision_step(decision, visit->token, false);
        engine_emit_token(decision, ENGINE_EVENT_CONSUMED, visit->token);
    } else {
        engine_scope_terminate(decision, visit);
    }
    return true;
}

/* Its place among the node's children; ENGINE_NONE: it is none. */
static uint32_t child_named(const struct engine_process *process, const struct engine_node *node,
                            struct span id)
{
    const struct engine_node *child = engine_process_node(process, id);
    return child != NULL && child->scope == node->index && is_activity(child->kind) &&
                   !child->triggered_by_event && !child->for_compensation
               ? child->index
               : ENGINE_NONE;
}

bool engine_ad_hoc_active(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local, struct engine_indexes *out)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation = {0};
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    const char *reason = "it is no list";
    bool failed = engine_expression_evaluate(visit->node->active, &scene.names, decision->arena,
                                             &evaluation) != RESULT_OK;
    uint32_t count = failed ? 0 : wire_count(evaluation.value);
    uint32_t *nodes = arena_alloc(decision->arena, (count + 1) * sizeof *nodes);
    failed |= !wire_is(evaluation.value, WIRE_ARRAY);
    reason = evaluation.error.message != NULL ? evaluation.error.message : reason;
    for (uint32_t i = 0; !failed && nodes != NULL && i < count; i++) {
        struct span id = wire_string_or(wire_at(evaluation.value, i), "");
        nodes[i] = child_named(visit->scope->process, visit->node, id);
        if (nodes[i] == ENGINE_NONE) {
            failed = true;
            reason = (const char *)ENGINE_TEXT(decision, "\"%.*s\" is none of its activities",
                                               SPAN_ARG(id))
                         .bytes;
        }
    }
    *out = (struct engine_indexes){nodes, count};
    if (failed) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED,
                               span_text("activeElementsCollection"), reason);
    }
    return !failed && nodes != NULL;
}

bool engine_ad_hoc_next(struct engine_decision *decision, const struct engine_scope *scope,
                        const struct engine_token *from)
{
    const struct engine_node *node = ad_hoc_of(scope);
    if (node == NULL || !engine_ad_hoc_is_sequence(node) || scope->begun >= node->starts.count) {
        return false;
    }
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_TOKEN_CREATED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope->slot.id;
    event->node = node->starts.at[scope->begun];
    event->flow = ENGINE_NONE;
    event->other = from->slot.id;
    event->count = scope->begun + 1;
    return true;
}
