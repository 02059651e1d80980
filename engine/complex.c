/*
 * complex.c: see complex.h.
 *
 * Which flows it has taken a token from is kept with the tokens that wait (struct
 * engine_join_tokens, `taken`): as long as one is marked, the gateway waits for its reset. What its
 * expressions see of it, the token that it makes takes along as its own variables.
 */
#include "engine/complex.h"

#include "engine/failure.h"
#include "engine/join.h"
#include "engine/names.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static bool waits_for_reset(const struct engine_execution *execution,
                            const struct engine_scope *scope, const struct engine_node *join)
{
    for (uint32_t i = 0; i < join->incoming.count; i++) {
        const struct engine_join_tokens *held =
            engine_join_find(execution, scope, join->incoming.at[i]);
        if (held != NULL && held->taken) {
            return true;
        }
    }
    return false;
}

static uint32_t waiting_on(const struct engine_execution *execution,
                           const struct engine_scope *scope, uint32_t flow)
{
    const struct engine_join_tokens *held = engine_join_find(execution, scope, flow);
    return held == NULL ? 0 : held->count;
}

/*
 * BPMN 2.0.2 §10.6.5: the number of tokens on each incoming flow, by the flow's id, that of all of
 * them, and which of its two states the gateway is in.
 */
static struct span attributes_of(struct engine_decision *decision, const struct engine_scope *scope,
                                 const struct engine_node *join, bool starts)
{
    const struct engine_execution *execution = decision->execution;
    struct wire_writer writer;
    int64_t total = 0;
    wire_writer_init(&writer, decision->arena, 64);
    wire_write_map(&writer, join->incoming.count + 2);
    for (uint32_t i = 0; i < join->incoming.count; i++) {
        uint32_t flow = join->incoming.at[i];
        uint32_t count = waiting_on(execution, scope, flow);
        wire_write_string(&writer, scope->process->flows[flow].id);
        wire_write_uint(&writer, count);
        total += count;
    }
    wire_pair_int(&writer, "activationCount", total);
    wire_pair_bool(&writer, "waitingForStart", starts);
    return wire_writer_span(&writer);
}

static void fire(struct engine_decision *decision, const struct engine_scope *scope,
                 const struct engine_node *join, enum engine_join_phase phase, struct span seen)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_JOIN_FIRED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope->slot.id;
    event->node = join->index;
    event->flags = phase;
    event->value = seen;
}

/* True: it decided, to fire or to fail. */
static bool start(struct engine_decision *decision, const struct engine_scope *scope,
                  const struct engine_node *join)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation;
    struct span seen = attributes_of(decision, scope, join, true);
    engine_scene_init(&scene, decision, scope, NULL);
    scene.overlays[0] = seen;
    if (engine_expression_evaluate(join->condition, &scene.names, decision->arena, &evaluation) !=
        RESULT_OK) {
        engine_fail_execution(decision, span_text("ExpressionFailed"),
                              ENGINE_TEXT(decision, "\"%.*s\": activationCondition: %s",
                                          SPAN_ARG(join->id), evaluation.error.message));
        return true;
    }
    bool is_true = wire_bool_or(evaluation.value, false);
    if (is_true) {
        fire(decision, scope, join, ENGINE_JOIN_START, seen);
    }
    return is_true;
}

bool engine_complex_fire(struct engine_decision *decision, const struct engine_scope *scope,
                         const struct engine_node *join)
{
    const struct engine_execution *execution = decision->execution;
    if (join->condition != NULL && !waits_for_reset(execution, scope, join)) {
        return start(decision, scope, join);
    }
    if (engine_join_expects(execution, scope, join)) {
        return false;
    }
    bool resets = join->condition != NULL;
    fire(decision, scope, join, resets ? ENGINE_JOIN_RESET : ENGINE_JOIN_WHOLE,
         attributes_of(decision, scope, join, !resets));
    return true;
}

bool engine_complex_reset_last(struct engine_decision *decision, const struct engine_scope *scope)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_join_tokens, held, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        if (held->taken) {
            const struct engine_node *join =
                &scope->process->nodes[scope->process->flows[held->flow].target];
            fire(decision, scope, join, ENGINE_JOIN_RESET,
                 attributes_of(decision, scope, join, false));
            return true;
        }
    }
    return false;
}

bool engine_complex_resets(const struct engine_token *token)
{
    return token->flow == ENGINE_NONE && token->own.count > 0 &&
           !wire_bool_or(wire_find(token->own, span_text("waitingForStart")), true);
}
