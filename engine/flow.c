/*
 * flow.c: see flow.h.
 */
#include "engine/flow.h"

#include "engine/ad_hoc.h"
#include "engine/compensation.h"
#include "engine/failure.h"
#include "engine/names.h"
#include "engine/scope.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

static bool choice_init(struct engine_decision *decision, const struct engine_visit *visit,
                        struct engine_choice *choice)
{
    choice->count = 0;
    choice->flows =
        arena_alloc(decision->arena, visit->node->outgoing.count * sizeof choice->flows[0]);
    return choice->flows != NULL; /* the overflow is latched: the step is thrown away */
}

static void choose(struct engine_choice *choice, uint32_t flow)
{
    choice->flows[choice->count++] = flow;
}

enum condition { CONDITION_FALSE, CONDITION_TRUE, CONDITION_FAILED };

/* engine.md 7: a condition fires only on true; null and any other value do not. */
static enum condition evaluate(struct engine_decision *decision, const struct engine_visit *visit,
                               const struct engine_flow *flow)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    enum result result =
        engine_expression_evaluate(flow->condition, &scene.names, decision->arena, &evaluation);
    if (result != RESULT_OK) {
        engine_fail_expression(
            decision, visit, ENGINE_TOKEN_LEAVING,
            ENGINE_TEXT(decision, "condition of flow \"%.*s\"", SPAN_ARG(flow->id)),
            evaluation.error.message);
        return CONDITION_FAILED;
    }
    return wire_bool_or(evaluation.value, false) ? CONDITION_TRUE : CONDITION_FALSE;
}

static void throw_no_path(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_throw(decision, visit, ENGINE_TOKEN_LEAVING, span_text("NoPathTaken"),
                 ENGINE_TEXT(decision,
                             "no condition of \"%.*s\" is true and it has no default flow",
                             SPAN_ARG(visit->node->id)));
}

bool engine_flow_choose_all(struct engine_decision *decision, const struct engine_visit *visit,
                            struct engine_choice *choice)
{
    if (!choice_init(decision, visit, choice)) {
        return false;
    }
    for (uint32_t i = 0; i < visit->node->outgoing.count; i++) {
        choose(choice, visit->node->outgoing.at[i]);
    }
    return true;
}

/* traps.md 5: document order, the first true one wins, the rest is not evaluated; the default's own
 * condition is ignored. */
bool engine_flow_choose_first(struct engine_decision *decision, const struct engine_visit *visit,
                              struct engine_choice *choice)
{
    const struct engine_node *node = visit->node;
    if (!choice_init(decision, visit, choice)) {
        return false;
    }
    for (uint32_t i = 0; i < node->outgoing.count && choice->count == 0; i++) {
        const struct engine_flow *flow = &visit->scope->process->flows[node->outgoing.at[i]];
        if (flow->index == node->default_flow) {
            continue;
        }
        enum condition condition =
            flow->condition == NULL ? CONDITION_TRUE : evaluate(decision, visit, flow);
        if (condition == CONDITION_FAILED) {
            return false;
        }
        if (condition == CONDITION_TRUE) {
            choose(choice, flow->index);
        }
    }
    if (choice->count == 0 && node->default_flow != ENGINE_NONE) {
        choose(choice, node->default_flow);
    }
    if (choice->count == 0 && node->outgoing.count > 0) {
        throw_no_path(decision, visit);
        return false;
    }
    return true;
}

/* `unconditional`: does a flow without a condition keep the default from being taken, too? */
static bool choose_true(struct engine_decision *decision, const struct engine_visit *visit,
                        struct engine_choice *choice, bool unconditional)
{
    const struct engine_node *node = visit->node;
    if (!choice_init(decision, visit, choice)) {
        return false;
    }
    uint32_t default_place = ENGINE_NONE;
    bool any_true = false;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_flow *flow = &visit->scope->process->flows[node->outgoing.at[i]];
        if (flow->index == node->default_flow) {
            default_place = choice->count;
            choose(choice, flow->index);
            continue;
        }
        enum condition condition =
            flow->condition == NULL ? CONDITION_TRUE : evaluate(decision, visit, flow);
        if (condition == CONDITION_FAILED) {
            return false;
        }
        if (condition == CONDITION_TRUE) {
            any_true = any_true || unconditional || flow->condition != NULL;
            choose(choice, flow->index);
        }
    }
    if (any_true && default_place != ENGINE_NONE) {
        choice->count--;
        memmove(choice->flows + default_place, choice->flows + default_place + 1,
                (choice->count - default_place) * sizeof choice->flows[0]);
    }
    if (choice->count == 0 && node->outgoing.count > 0) {
        throw_no_path(decision, visit);
        return false;
    }
    return true;
}

/*
 * traps.md 4: every conditional flow that is true, and every unconditional one; the default when no
 * conditional one is true, even if an unconditional one exists.
 */
bool engine_flow_choose_activity(struct engine_decision *decision, const struct engine_visit *visit,
                                 struct engine_choice *choice)
{
    return choose_true(decision, visit, choice, false);
}

bool engine_flow_choose_inclusive(struct engine_decision *decision,
                                  const struct engine_visit *visit, struct engine_choice *choice)
{
    return choose_true(decision, visit, choice, true);
}

/* The text that faces compare with: a result that is no text stands for its JSON (model.h). */
static struct span text_of_result(struct engine_decision *decision,
                                  const struct engine_token *token)
{
    struct span text = SPAN_EMPTY;
    if (!token->gave_output || wire_is(token->output, WIRE_NIL)) {
        return SPAN_EMPTY;
    }
    if (wire_is(token->output, WIRE_STRING)) {
        return wire_head(token->output).as.text;
    }
    enum result written = json_from_wire(token->output, JSON_COMPACT, decision->arena, &text);
    return written == RESULT_OK ? text : SPAN_EMPTY;
}

/* engine.md 5: the faces with the block's result, and those without one. */
bool engine_flow_choose_result(struct engine_decision *decision, const struct engine_visit *visit,
                               struct engine_choice *choice)
{
    if (!choice_init(decision, visit, choice)) {
        return false;
    }
    struct span result = text_of_result(decision, visit->token);
    for (uint32_t i = 0; i < visit->node->outgoing.count; i++) {
        const struct engine_flow *flow = &visit->scope->process->flows[visit->node->outgoing.at[i]];
        if (flow->result.count == 0 || span_equal(flow->result, result)) {
            choose(choice, flow->index);
        }
    }
    return true;
}

bool engine_flow_choose_again(struct engine_decision *decision, const struct engine_visit *visit,
                              struct engine_choice *choice)
{
    const struct engine_node *node = visit->node;
    if (!choice_init(decision, visit, choice)) {
        return false;
    }
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_flow *flow = &visit->scope->process->flows[node->outgoing.at[i]];
        if (flow->index == node->default_flow || flow->condition == NULL) {
            continue;
        }
        enum condition condition = evaluate(decision, visit, flow);
        if (condition == CONDITION_FAILED) {
            return false;
        }
        if (condition == CONDITION_TRUE) {
            choose(choice, flow->index);
        }
    }
    if (choice->count == 0 && node->default_flow != ENGINE_NONE) {
        choose(choice, node->default_flow);
    }
    return true;
}

/* BPMN 2.0.2 table 10.3, completionQuantity. */
static uint32_t tokens_a_flow(const struct engine_node *node)
{
    return node->completion_quantity > 1 ? node->completion_quantity : 1;
}

void engine_flow_take(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_choice *choice)
{
    engine_compensation_record(decision, visit);
    if (engine_ad_hoc_ends(decision, visit, choice->count == 0)) {
        return;
    }
    if (choice->count == 0) {
        engine_scope_consume(decision, visit); /* a dead end: legal (engine.md 4) */
        return;
    }
    uint64_t made = (uint64_t)choice->count * tokens_a_flow(visit->node) - 1;
    if (made > LIMIT_TOKENS - decision->execution->token_count) {
        engine_decision_rewind(decision);
        engine_fail(decision, visit, ENGINE_TOKEN_LEAVING, span_text("StepLimitExceeded"),
                    ENGINE_TEXT(decision, "more than %u tokens", LIMIT_TOKENS));
        return;
    }
    engine_decision_step(decision, visit->token, false);
    const struct engine_flow *flows = visit->scope->process->flows;
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_LEFT, visit->token);
    event->flow = choice->flows[0];
    event->node = flows[choice->flows[0]].target;
    for (uint64_t i = 1; i <= made; i++) {
        uint32_t flow = choice->flows[i / tokens_a_flow(visit->node)];
        engine_scope_add_token(decision, visit->scope, flows[flow].target, flow, visit->token,
                               SPAN_EMPTY);
    }
}

void engine_flow_link(struct engine_decision *decision, const struct engine_visit *visit)
{
    ASSERT(visit->node->link_target != ENGINE_NONE);
    engine_decision_step(decision, visit->token, false);
    engine_emit_token(decision, ENGINE_EVENT_LINKED, visit->token)->node = visit->node->link_target;
}
