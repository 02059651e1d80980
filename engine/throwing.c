/*
 * throwing.c: see throwing.h.
 */
#include "engine/throwing.h"

#include "engine/activity.h"
#include "engine/compensation.h"
#include "engine/failure.h"
#include "engine/names.h"
#include "engine/publish.h"
#include "proto/wire/reader.h"

static bool send(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    bool sends = engine_node_bears(visit->node, ENGINE_ON_MESSAGE) ||
                 engine_node_bears(visit->node, ENGINE_ON_SIGNAL);
    return !sends || (engine_activity_begin(decision, visit, &local) &&
                      engine_publish(decision, visit, local));
}

static bool escalate(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    for (uint32_t i = 0; i < node->event_count; i++) {
        struct span code;
        if (node->events[i].kind == ENGINE_ON_ESCALATION &&
            !(engine_throwing_code(decision, visit, &node->events[i], &code) &&
              engine_escalate(decision, visit, code))) {
            return false;
        }
    }
    return true;
}

static bool compensate(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (node->events[i].kind == ENGINE_ON_COMPENSATION) { /* support.c: one of them at most */
            return !engine_compensation_begin(decision, visit, node->events[i].activity);
        }
    }
    return true;
}

bool engine_throwing_code(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct engine_event_definition *definition, struct span *code)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation = {0};
    *code = definition->code;
    if (definition->code_value == NULL) {
        return true;
    }
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    enum result result = engine_expression_evaluate(definition->code_value, &scene.names,
                                                    decision->arena, &evaluation);
    *code = arena_copy(decision->arena, wire_string_or(evaluation.value, ""));
    if (result != RESULT_OK || code->count == 0) {
        engine_fail_expression(decision, visit, (enum engine_token_state)visit->token->state,
                               span_text("code"),
                               result != RESULT_OK ? evaluation.error.message : "it is no text");
        return false;
    }
    return true;
}

bool engine_throwing_begin(struct engine_decision *decision, const struct engine_visit *visit)
{
    return send(decision, visit) && escalate(decision, visit) && compensate(decision, visit);
}
