/*
 * apply_scope.c: events of scopes: opened, spent, closed, cleared; and of the instances in a body.
 */
#include "engine/apply_part.h"

#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

enum result engine_apply_scope_opened(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    struct engine_token *host = engine_token_find(execution, event->token);
    REQUIRE(host != NULL && host->child == 0 && event->scope >= execution->scope_next);
    REQUIRE(event->flags > ENGINE_SCOPE_PROCESS && event->flags < ENGINE_SCOPE_KIND_COUNT);
    bool is_body = event->flags == ENGINE_SCOPE_BODY;
    struct engine_scope *compensated = engine_scope_find(execution, event->other);
    REQUIRE(event->flags != ENGINE_SCOPE_COMPENSATION || compensated != NULL);
    REQUIRE(!is_body || event->value.count == 0 || wire_count(event->value) == event->count);
    struct engine_scope *parent = engine_scope_find(execution, host->scope);
    const struct engine_process *process = parent->process;
    if (event->flags == ENGINE_SCOPE_CALLED) {
        process = execution->catalog->process(execution->catalog, execution->project, event->text,
                                              event->count);
        if (process == NULL) {
            return RESULT_NOT_FOUND;
        }
    }
    REQUIRE(engine_token_transition(execution, host, ENGINE_EVENT_SCOPE_OPENED, ENGINE_WAIT_NONE));
    struct engine_scope *scope = engine_part_open_scope(
        execution, event->scope, (enum engine_scope_kind)event->flags, process);
    if (scope == NULL) {
        return RESULT_LIMIT;
    }
    parent = engine_scope_find(execution, host->scope); /* the pool may have moved */
    scope->parent = host->scope;
    scope->host = event->token;
    scope->node = host->node;
    scope->total = is_body ? event->count : 0;
    scope->begun = event->flags == ENGINE_SCOPE_SUB_PROCESS ? event->count : 0;
    if (event->flags == ENGINE_SCOPE_COMPENSATION) { /* the pool may have moved */
        compensated = engine_scope_find(execution, event->other);
        engine_part_move_records(execution, compensated, scope, event->node);
    }
    scope->items = is_body ? engine_part_keep(execution, event->value) : SPAN_EMPTY;
    scope->variables = is_body ? SPAN_EMPTY : engine_part_keep(execution, event->value);
    if (parent->inner > 0 && process->nodes[host->node].triggered_by_event) {
        engine_part_move_inner(execution, parent, scope);
    }
    host->child = event->scope;
    host->shown = true;
    engine_chain_append(&execution->scopes, &parent->children, ENGINE_LINK_SIBLINGS,
                        engine_pool_find(&execution->scopes, event->scope));
    return RESULT_OK;
}

enum result engine_apply_scope_spent(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *host = engine_token_find(execution, event->token);
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(host != NULL && scope != NULL && host->child == event->scope && scope->live == 0);
    REQUIRE(engine_token_transition(execution, host, ENGINE_EVENT_SCOPE_SPENT, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

enum result engine_apply_scope_closed(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL && scope->live == 0 && scope->children.count == 0);
    struct engine_token *host = engine_token_find(execution, scope->host);
    REQUIRE(host != NULL);
    if (event->flags != 0) {
        engine_part_keep_records(execution, scope, engine_scope_find(execution, scope->parent));
    }
    host->child = 0;
    engine_part_drop_scope(execution, scope);
    return RESULT_OK;
}

enum result engine_apply_scope_cleared(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL);
    engine_part_clear_scope(execution, scope);
    return RESULT_OK;
}

enum result engine_apply_scope_interrupted(struct engine_execution *execution,
                                           const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    const struct engine_token *kept = engine_token_find(execution, event->token);
    REQUIRE(scope != NULL && kept != NULL && kept->scope == event->scope && !kept->guard);
    if (event->flags != 0) {
        engine_part_gather_records(execution, scope);
    }
    uint32_t slot = scope->tokens.first;
    while (slot != ENGINE_SLOT_NONE) {
        struct engine_token *token = engine_token_at(execution, slot);
        slot = engine_chain_next(&execution->tokens, ENGINE_LINK_IN_SCOPE, slot);
        if (token != kept) {
            engine_part_close_child(execution, token);
            engine_part_drop_token(execution, token);
        }
    }
    engine_part_drop_joins(execution, scope);
    ASSERT(scope->live == 1);
    return RESULT_OK;
}

/* ---- bodies: the instances of an activity with a loop marker ---- */

/* The host's step is its own: it is in the node at once. */
static bool take_step(struct engine_execution *execution, struct engine_token *token,
                      const struct engine_token *host)
{
    if (host == NULL ||
        !engine_token_transition(execution, token, ENGINE_EVENT_ENTERED, ENGINE_WAIT_NONE)) {
        return false;
    }
    token->sequence = host->sequence;
    token->path = host->path;
    token->segment = host->segment;
    return true;
}

enum result engine_apply_instance_created(struct engine_execution *execution,
                                          const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(engine_part_node_is_in(scope, event->node) && scope->kind == ENGINE_SCOPE_BODY);
    REQUIRE(event->token >= execution->token_next && event->count == scope->begun + 1 &&
            event->count <= scope->total);
    REQUIRE(engine_part_skip_items(scope, 1));
    struct engine_token *token = engine_token_make(execution, event->token, scope, false);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    scope->begun = event->count;
    token->node = event->node;
    token->instance = event->count;
    token->own = engine_part_keep(execution, event->value);
    const struct engine_token *from = engine_token_find(execution, event->other);
    if (from != NULL) { /* but its output: 50,000 of them may be too much, and the host has it */
        token->path = from->path;
        token->segment = from->segment;
    }
    REQUIRE(event->flags == 0 ||
            take_step(execution, token, engine_token_find(execution, scope->host)));
    return RESULT_OK;
}

enum result engine_apply_instance_done(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && token->instance > 0 && engine_token_may(token, ENGINE_EVENT_CONSUMED));
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    if (event->value.count > 0 &&
        !engine_part_add_result(execution, scope, token->instance, event->value)) {
        return RESULT_LIMIT;
    }
    scope->done++;
    scope->live--;
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CONSUMED, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

/* ---- compensation ---- */

enum result engine_apply_recorded(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(engine_part_node_is_in(scope, event->node) &&
            engine_part_node_is_in(scope, event->other) && event->count <= scope->records.count);
    struct engine_record *record =
        engine_part_add_record(execution, scope, event->node, event->other);
    if (record == NULL) {
        return RESULT_LIMIT;
    }
    record->locals = engine_part_keep(execution, event->value);
    record->inner = event->count;
    return RESULT_OK;
}

enum result engine_apply_compensated(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL && scope->kind == ENGINE_SCOPE_COMPENSATION && scope->records.count > 0 &&
            event->token >= execution->token_next);
    uint32_t slot = scope->records.last;
    const struct engine_record *record = engine_pool_at(&execution->records, slot);
    REQUIRE(record->handler == event->node);
    struct engine_token *token = engine_token_make(execution, event->token, scope, false);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    token->node = event->node;
    token->own = record->locals;
    scope->inner = record->inner;
    const struct engine_token *from = engine_token_find(execution, event->other);
    if (from != NULL) {
        token->path = from->path;
        token->segment = from->segment;
        token->output = from->output;
    }
    engine_chain_remove(&execution->records, &scope->records, ENGINE_LINK_FIRST, slot);
    engine_pool_give(&execution->records, slot);
    return RESULT_OK;
}
