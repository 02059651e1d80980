/*
 * migration.c: see migration.h.
 */
#include "engine/migration.h"

#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/listen.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* What is found wanting, while it is looked for. */
struct inquiry {
    const struct engine_execution *execution;
    const struct engine_migration *migration;
    struct arena *arena;
    struct span *why;
    /* By new flow: the scope in which tokens wait on it, and on which old flow they do. */
    struct claim {
        uint32_t scope;
        uint32_t flow;
    } * claims;
};

#define REFUSE(inquiry, ...)                                                                       \
    ((void)(*(inquiry)->why = arena_format((inquiry)->arena, __VA_ARGS__)), false)

/* ---- counterparts ---- */

/* The id that the mapping has for this one, or the id itself. */
static struct span mapped(const struct engine_migration *migration, struct span id)
{
    struct span value = migration->mapping.count == 0 || id.count == 0
                            ? SPAN_EMPTY
                            : wire_find(migration->mapping, id);
    return wire_is(value, WIRE_STRING) ? wire_head(value).as.text : id;
}

uint32_t engine_migration_node(const struct engine_migration *migration, uint32_t node)
{
    if (node == ENGINE_NONE) {
        return ENGINE_NONE;
    }
    struct span id = mapped(migration, migration->from->nodes[node].id);
    const struct engine_node *found = engine_process_node(migration->to, id);
    return found == NULL ? ENGINE_NONE : found->index;
}

static const struct engine_flow *flow_named(const struct engine_process *process, struct span id)
{
    for (uint32_t i = 0; i < process->flow_count && id.count > 0; i++) {
        if (span_equal(process->flows[i].id, id)) {
            return &process->flows[i];
        }
    }
    return NULL;
}

static uint32_t only_flow_between(const struct engine_process *process, uint32_t source,
                                  uint32_t target)
{
    uint32_t found = ENGINE_NONE;
    struct engine_indexes outgoing = process->nodes[source].outgoing;
    for (uint32_t i = 0; i < outgoing.count; i++) {
        if (process->flows[outgoing.at[i]].target == target) {
            if (found != ENGINE_NONE) {
                return ENGINE_NONE;
            }
            found = outgoing.at[i];
        }
    }
    return found;
}

uint32_t engine_migration_flow(const struct engine_migration *migration, uint32_t flow)
{
    const struct engine_flow *old = &migration->from->flows[flow];
    uint32_t source = engine_migration_node(migration, old->source);
    uint32_t target = engine_migration_node(migration, old->target);
    const struct engine_flow *named = flow_named(migration->to, mapped(migration, old->id));
    if (named != NULL && named->target == target) {
        return named->index;
    }
    return source == ENGINE_NONE || target == ENGINE_NONE
               ? ENGINE_NONE
               : only_flow_between(migration->to, source, target);
}

bool engine_migration_moves(const struct engine_execution *execution,
                            const struct engine_scope *scope)
{
    return engine_scope_of_process(execution, scope)->slot.id == ENGINE_SCOPE_ROOT;
}

/* ---- nodes ---- */

static bool same_triggers(const struct engine_node *old, const struct engine_node *new)
{
    if (old->event_count != new->event_count || old->parallel_multiple != new->parallel_multiple) {
        return false;
    }
    for (uint32_t i = 0; i < old->event_count; i++) {
        if (old->events[i].kind != new->events[i].kind) {
            return false;
        }
    }
    return true;
}

/* Nodes that stand for each other do the same kind of work; `what` says why it matters. */
static bool check_node(struct inquiry *inquiry, uint32_t node, const char *what)
{
    const struct engine_process *to = inquiry->migration->to;
    const struct engine_node *old = &inquiry->migration->from->nodes[node];
    uint32_t index = engine_migration_node(inquiry->migration, node);
    if (index == ENGINE_NONE) {
        return REFUSE(inquiry,
                      "%s \"%.*s\", which version %u has not: name its target in the "
                      "mapping",
                      what, SPAN_ARG(old->id), to->version);
    }
    const struct engine_node *new = &to->nodes[index];
    if (old->kind != new->kind ||
        (old->join == ENGINE_JOIN_NONE) != (new->join == ENGINE_JOIN_NONE)) {
        return REFUSE(inquiry, "%s \"%.*s\", a %s, whose target \"%.*s\" in version %u is a %s",
                      what, SPAN_ARG(old->id), engine_kind_trace_name(old->kind), SPAN_ARG(new->id),
                      to->version, engine_kind_trace_name(new->kind));
    }
    if (!same_triggers(old, new) || old->loop.kind != new->loop.kind ||
        old->triggered_by_event != new->triggered_by_event ||
        old->for_compensation != new->for_compensation || old->ordered != new->ordered) {
        return REFUSE(inquiry,
                      "%s \"%.*s\", whose target \"%.*s\" in version %u has other triggers or "
                      "markers",
                      what, SPAN_ARG(old->id), SPAN_ARG(new->id), to->version);
    }
    uint32_t around = engine_migration_node(inquiry->migration, old->scope);
    if (around != new->scope) {
        return REFUSE(inquiry,
                      "%s \"%.*s\", whose target \"%.*s\" in version %u is in another sub-process",
                      what, SPAN_ARG(old->id), SPAN_ARG(new->id), to->version);
    }
    return true;
}

/* ---- tokens and what hangs on them ---- */

/* It listens at an event of its node, on its node's boundary, or behind its gateway. */
static bool check_listening(struct inquiry *inquiry, const struct engine_token *token,
                            uint32_t event, uint32_t definition, uint8_t kind)
{
    const struct engine_migration *migration = inquiry->migration;
    if (!check_node(inquiry, event, "it waits for the event")) {
        return false;
    }
    uint32_t host = engine_migration_node(migration, token->node);
    uint32_t new = engine_migration_node(migration, event);
    if (!engine_listen_may(migration->to, host, new) ||
        !engine_listen_has(migration->to, new, definition, kind)) {
        return REFUSE(inquiry,
                      "\"%.*s\" waits for the event \"%.*s\", whose target \"%.*s\" in "
                      "version %u does not belong to it",
                      SPAN_ARG(migration->from->nodes[token->node].id),
                      SPAN_ARG(migration->from->nodes[event].id),
                      SPAN_ARG(migration->to->nodes[new].id), migration->to->version);
    }
    return true;
}

static bool check_events(struct inquiry *inquiry, const struct engine_token *token)
{
    const struct engine_execution *execution = inquiry->execution;
    for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                     ENGINE_LINK_FIRST)) {
        if (!check_listening(inquiry, token, timer->node, timer->definition, ENGINE_ON_TIMER)) {
            return false;
        }
    }
    for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (!check_listening(inquiry, token, subscription->node, subscription->definition,
                             subscription->kind)) {
            return false;
        }
    }
    return true;
}

/* Before a join it must be known on which flow it stands; elsewhere that means nothing. */
static bool check_arrival(struct inquiry *inquiry, const struct engine_token *token)
{
    const struct engine_migration *migration = inquiry->migration;
    bool stands = token->flow != ENGINE_NONE &&
                  (token->state == ENGINE_TOKEN_ARRIVED ||
                   (token->state == ENGINE_TOKEN_FAILED && token->resume == ENGINE_TOKEN_ARRIVED));
    uint32_t node = engine_migration_node(migration, token->node);
    if (!stands || !engine_join_is(migration->to, &migration->to->nodes[node]) ||
        engine_migration_flow(migration, token->flow) != ENGINE_NONE) {
        return true;
    }
    return REFUSE(inquiry, "a token is on the flow \"%.*s\", which version %u has not",
                  SPAN_ARG(migration->from->flows[token->flow].id), migration->to->version);
}

static bool check_token(struct inquiry *inquiry, const struct engine_token *token)
{
    const char *what = token->guard ? "the event sub-process" : "a token is in";
    return check_node(inquiry, token->node, what) && check_events(inquiry, token) &&
           check_arrival(inquiry, token);
}

/* ---- scopes ---- */

static bool check_join(struct inquiry *inquiry, const struct engine_scope *scope,
                       const struct engine_join_tokens *join)
{
    const struct engine_migration *migration = inquiry->migration;
    const struct engine_flow *old = &migration->from->flows[join->flow];
    uint32_t flow = engine_migration_flow(migration, join->flow);
    if (!check_node(inquiry, old->target, "tokens wait in the join")) {
        return false;
    }
    if (flow == ENGINE_NONE) {
        return REFUSE(inquiry,
                      "a token waits on the flow \"%.*s\" of the join \"%.*s\"; version %u has no "
                      "such flow",
                      SPAN_ARG(old->id), SPAN_ARG(migration->from->nodes[old->target].id),
                      migration->to->version);
    }
    if (!engine_join_holds(migration->to, flow)) {
        return REFUSE(inquiry,
                      "a token waits on the flow \"%.*s\" of the join \"%.*s\", which does not "
                      "join in version %u",
                      SPAN_ARG(old->id), SPAN_ARG(migration->from->nodes[old->target].id),
                      migration->to->version);
    }
    struct claim *claim = &inquiry->claims[flow];
    if (claim->scope == scope->slot.id) {
        return REFUSE(inquiry, "tokens wait on \"%.*s\" and \"%.*s\", which would be one flow",
                      SPAN_ARG(migration->from->flows[claim->flow].id), SPAN_ARG(old->id));
    }
    *claim = (struct claim){scope->slot.id, join->flow};
    return true;
}

static bool check_scope(struct inquiry *inquiry, const struct engine_scope *scope)
{
    const struct engine_execution *execution = inquiry->execution;
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                     ENGINE_LINK_IN_SCOPE)) {
        if (!check_token(inquiry, token)) {
            return false;
        }
    }
    for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        if (!check_join(inquiry, scope, join)) {
            return false;
        }
    }
    for (ENGINE_EACH(const struct engine_record, record, &execution->records, &scope->records,
                     ENGINE_LINK_FIRST)) {
        if (!check_node(inquiry, record->node, "compensation may undo") ||
            !check_node(inquiry, record->handler, "compensation may run")) {
            return false;
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool check_mapping(struct inquiry *inquiry)
{
    const struct engine_migration *migration = inquiry->migration;
    struct wire_map_walk walk = wire_map_begin(migration->mapping);
    struct span key, value;
    while (wire_map_next(&walk, &key, &value)) {
        struct span target = wire_string_or(value, "");
        if (!wire_is(value, WIRE_STRING)) {
            return REFUSE(inquiry, "the mapping of \"%.*s\" is no id", SPAN_ARG(key));
        }
        bool is_node = engine_process_node(migration->from, key) != NULL;
        if (!is_node && flow_named(migration->from, key) == NULL) {
            return REFUSE(inquiry, "the mapping names \"%.*s\", which version %u has not",
                          SPAN_ARG(key), migration->from->version);
        }
        if (is_node ? engine_process_node(migration->to, target) == NULL
                    : flow_named(migration->to, target) == NULL) {
            return REFUSE(inquiry,
                          "the mapping of \"%.*s\" names \"%.*s\", which version %u has not",
                          SPAN_ARG(key), SPAN_ARG(target), migration->to->version);
        }
    }
    return true;
}

static bool check_start(struct inquiry *inquiry)
{
    const struct engine_execution *execution = inquiry->execution;
    const struct engine_node *start =
        execution->start_node.count == 0
            ? NULL
            : engine_process_node(inquiry->migration->from, execution->start_node);
    return start == NULL || check_node(inquiry, start->index, "a restart begins at");
}

bool engine_migration_check(const struct engine_execution *execution,
                            const struct engine_migration *migration, struct arena *arena,
                            struct span *why)
{
    struct inquiry inquiry = {execution, migration, arena, why, NULL};
    ASSERT(migration->from == execution->process);
    inquiry.claims = arena_zero(arena, migration->to->flow_count * sizeof inquiry.claims[0]);
    if (inquiry.claims == NULL) {
        return false; /* the arena is full: it is latched there */
    }
    if (!check_mapping(&inquiry) || !check_start(&inquiry)) {
        return false;
    }
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (engine_migration_moves(execution, scope) && !check_scope(&inquiry, scope)) {
            return false;
        }
    }
    return true;
}
