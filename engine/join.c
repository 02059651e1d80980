/*
 * join.c: see join.h.
 */
#include "engine/join.h"

#include "engine/element/element.h"
#include "proto/wire/writer.h"

static bool holds(const struct engine_decision *decision, const struct engine_visit *visit,
                  uint32_t flow)
{
    return flow == visit->token->flow ||
           engine_join_find(decision->execution, visit->scope, flow) != NULL;
}

void engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_indexes incoming = visit->node->incoming;
    /* Without a flow it is the token that a fired join made, or one that starts here. */
    if (incoming.count < 2 || visit->token->flow == ENGINE_NONE) {
        engine_arrive_enter(decision, visit);
        return;
    }
    engine_emit_token(decision, ENGINE_EVENT_JOINED, visit->token);
    for (uint32_t i = 0; i < incoming.count; i++) {
        if (!holds(decision, visit, incoming.at[i])) {
            return;
        }
    }
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_JOIN_FIRED);
    event->token = engine_decision_token_id(decision);
    event->scope = visit->scope->slot.id;
    event->node = visit->node->index;
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
            if (!named_before(execution, scope, join, node)) {
                wire_write_raw(&writer, span_text(writer.count == 0 ? "\"" : ", \""));
                wire_write_raw(&writer, scope->process->nodes[node].id);
                wire_write_raw(&writer, span_text("\""));
            }
        }
    }
    return wire_writer_span(&writer);
}
