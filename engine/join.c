/*
 * join.c: see join.h.
 */
#include "engine/join.h"

#include "engine/complex.h"
#include "engine/element/element.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

/* Does the flow count for the join? Of a block's only those that lead forward (engine.md 5). */
static bool counts(const struct engine_process *process, const struct engine_node *node,
                   uint32_t flow)
{
    return process->flows[flow].target == node->index &&
           !(node->join != ENGINE_JOIN_NONE && process->flows[flow].is_back);
}

static uint32_t wanted_flows(const struct engine_process *process, const struct engine_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        count += counts(process, node, node->incoming.at[i]);
    }
    return count;
}

/* Of the join's incoming flows, how many hold a token; `besides` is not looked at. One pass: a fork
 * of thousands comes here as often as it has branches. */
static uint32_t held_flows(const struct engine_execution *execution,
                           const struct engine_scope *scope, const struct engine_node *node,
                           uint32_t besides)
{
    uint32_t count = 0;
    for (ENGINE_EACH(const struct engine_join_tokens, held, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        count += held->flow != besides && counts(scope->process, node, held->flow);
    }
    return count;
}

bool engine_join_gathers(const struct engine_node *node)
{
    return node->start_quantity > 1;
}

/* The tokens that wait on all flows of the join. */
static uint64_t held_tokens(const struct engine_execution *execution,
                            const struct engine_scope *scope, const struct engine_node *node)
{
    uint64_t sum = 0;
    for (ENGINE_EACH(const struct engine_join_tokens, held, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        sum += scope->process->flows[held->flow].target == node->index ? held->count : 0;
    }
    return sum;
}

static void fire(struct engine_decision *decision, const struct engine_scope *scope,
                 const struct engine_node *node)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_JOIN_FIRED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope->slot.id;
    event->node = node->index;
    event->flags = engine_join_gathers(node) ? ENGINE_JOIN_GATHERED : ENGINE_JOIN_WHOLE;
}

static void join(struct engine_decision *decision, const struct engine_visit *visit,
                 uint32_t wanted)
{
    engine_emit_token(decision, ENGINE_EVENT_JOINED, visit->token);
    uint32_t held =
        1 + held_flows(decision->execution, visit->scope, visit->node, visit->token->flow);
    ASSERT(held <= wanted);
    if (held == wanted) {
        fire(decision, visit->scope, visit->node);
    }
}

void engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    /* Without a flow it is the token that a fired join made, or one that starts here. */
    if (visit->node->incoming.count < 2 || visit->token->flow == ENGINE_NONE) {
        engine_arrive_enter(decision, visit);
        return;
    }
    join(decision, visit, visit->node->incoming.count);
}

void engine_join_arrive_block(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_process *process = visit->scope->process;
    uint32_t flow = visit->token->flow;
    if (flow == ENGINE_NONE || process->flows[flow].is_back ||
        !engine_node_joins(process, visit->node)) {
        engine_arrive_enter(decision, visit);
        return;
    }
    join(decision, visit, wanted_flows(process, visit->node));
}

/* What comes on no flow begins the activity alone: a start, an instance, what has been gathered. */
void engine_join_arrive_activity(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (!engine_join_gathers(visit->node) || visit->token->flow == ENGINE_NONE) {
        engine_arrive_enter(decision, visit);
        return;
    }
    engine_emit_token(decision, ENGINE_EVENT_JOINED, visit->token);
    if (held_tokens(decision->execution, visit->scope, visit->node) + 1 >=
        visit->node->start_quantity) {
        fire(decision, visit->scope, visit->node);
    }
}

bool engine_join_is(const struct engine_process *process, const struct engine_node *node)
{
    return node->join != ENGINE_JOIN_NONE
               ? engine_node_joins(process, node)
               : node->reach != NULL || engine_join_gathers(node) ||
                     (node->kind == ENGINE_PARALLEL_GATEWAY && node->incoming.count > 1);
}

bool engine_join_holds(const struct engine_process *process, uint32_t flow)
{
    const struct engine_node *node = &process->nodes[process->flows[flow].target];
    return engine_join_is(process, node) && counts(process, node, flow);
}

static bool is_complete(const struct engine_execution *execution, const struct engine_scope *scope,
                        const struct engine_node *node)
{
    if (engine_join_gathers(node)) {
        return held_tokens(execution, scope, node) >= node->start_quantity;
    }
    return node->reach == NULL &&
           held_flows(execution, scope, node, ENGINE_NONE) == wanted_flows(scope->process, node);
}

bool engine_join_fire_complete(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        for (ENGINE_EACH(const struct engine_join_tokens, held, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            const struct engine_node *node =
                &scope->process->nodes[scope->process->flows[held->flow].target];
            if (is_complete(execution, scope, node)) {
                fire(decision, scope, node);
                return true;
            }
        }
    }
    return false;
}

/* ---- inclusive joins ---- */

void engine_join_arrive_inclusive(struct engine_decision *decision,
                                  const struct engine_visit *visit)
{
    if (visit->node->reach == NULL || visit->token->flow == ENGINE_NONE) {
        engine_arrive_enter(decision, visit);
        return;
    }
    engine_emit_token(decision, ENGINE_EVENT_JOINED, visit->token);
}

/*
 * traps.md 1, from the resolution of OMG issue BPMN2-289: a token elsewhere keeps the join waiting
 * if it can reach an empty incoming flow, but not if it can also reach one that holds a token.
 */
static bool keeps_waiting(const struct engine_execution *execution,
                          const struct engine_scope *scope, const struct engine_node *join,
                          uint32_t node)
{
    bool reaches_empty = false;
    for (uint32_t i = 0; i < join->incoming.count; i++) {
        if (!engine_node_leads_to(scope->process, join, i, node)) {
            continue;
        }
        if (engine_join_find(execution, scope, join->incoming.at[i]) != NULL) {
            return false;
        }
        reaches_empty = true;
    }
    return reaches_empty;
}

static bool token_keeps_waiting(const struct engine_execution *execution,
                                const struct engine_scope *scope, const struct engine_node *join,
                                const struct engine_token *token)
{
    if (token->node == join->index && token->state == ENGINE_TOKEN_ARRIVED &&
        token->flow != ENGINE_NONE) { /* it stands on an incoming flow */
        return engine_join_find(execution, scope, token->flow) == NULL;
    }
    return keeps_waiting(execution, scope, join, token->node);
}

bool engine_join_expects(const struct engine_execution *execution, const struct engine_scope *scope,
                         const struct engine_node *join)
{
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                     ENGINE_LINK_IN_SCOPE)) {
        if (token_keeps_waiting(execution, scope, join, token)) {
            return true;
        }
    }
    for (ENGINE_EACH(const struct engine_join_tokens, other, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        uint32_t node = scope->process->flows[other->flow].target;
        if (other->count > 0 && node != join->index &&
            keeps_waiting(execution, scope, join, node)) {
            return true;
        }
    }
    return false;
}

static bool fire_if_due(struct engine_decision *decision, const struct engine_scope *scope,
                        const struct engine_node *join)
{
    if (join->kind == ENGINE_COMPLEX_GATEWAY) {
        return engine_complex_fire(decision, scope, join);
    }
    if (engine_join_expects(decision->execution, scope, join)) {
        return false;
    }
    fire(decision, scope, join);
    return true;
}

/* Has an earlier join record of the scope named this node already? */
static bool named_before(const struct engine_execution *execution, const struct engine_scope *scope,
                         const struct engine_join_tokens *until, uint32_t node)
{
    for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        if (join == until) {
            return false;
        }
        if (scope->process->flows[join->flow].target == node) {
            return true;
        }
    }
    return false;
}

bool engine_join_look(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    if (execution->inclusive_count == 0) {
        return false;
    }
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        for (ENGINE_EACH(const struct engine_join_tokens, held, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            const struct engine_node *join =
                &scope->process->nodes[scope->process->flows[held->flow].target];
            if (join->reach != NULL && !named_before(execution, scope, held, join->index) &&
                fire_if_due(decision, scope, join)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- naming ---- */

struct span engine_join_names(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, 64);
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            uint32_t node = scope->process->flows[join->flow].target;
            if (join->count > 0 && !named_before(execution, scope, join, node)) {
                wire_write_raw(&writer, span_text(writer.count == 0 ? "\"" : ", \""));
                wire_write_raw(&writer, scope->process->nodes[node].id);
                wire_write_raw(&writer, span_text("\""));
            }
        }
    }
    return wire_writer_span(&writer);
}
