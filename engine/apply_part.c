/*
 * apply_part.c: see apply_part.h.
 */
#include "engine/apply_part.h"

#include "engine/payload.h"
#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

struct span engine_part_keep(struct engine_execution *execution, struct span span)
{
    return span.count == 0 ? SPAN_EMPTY : arena_copy(&execution->memory, span);
}

void engine_part_note_due(struct engine_execution *execution, int64_t due_ms)
{
    if (execution->due_known && due_ms < execution->due_ms) {
        execution->due_ms = due_ms;
    }
}

void engine_part_forget_due(struct engine_execution *execution, int64_t due_ms)
{
    if (due_ms <= execution->due_ms && due_ms != ENGINE_NO_DUE) {
        execution->due_known = false;
    }
}

void engine_part_open_segment(struct engine_execution *execution)
{
    if (!execution->segment_open) {
        execution->segment_open = true;
        execution->segment++;
        execution->waiting_since_ms = 0;
    }
}

/* Waiting input woke the run: the audit hears of it unless the segment ends at once. */
void engine_part_resume_segment(struct engine_execution *execution)
{
    execution->resumed_untold = execution->resumed_untold || !execution->segment_open;
    engine_part_open_segment(execution);
}

void engine_part_clear_error(struct engine_execution *execution)
{
    execution->error_code = SPAN_EMPTY;
    execution->error_message = SPAN_EMPTY;
    execution->error_task = SPAN_EMPTY;
}

/* A retry that succeeded leaves no trace (engine.md 3), unless another one is still under way. */
void engine_part_settle_error(struct engine_execution *execution)
{
    if (execution->wait_counts[ENGINE_WAIT_RETRY] == 0 &&
        span_is(execution->error_code, ENGINE_TRANSIENT_CODE)) {
        engine_part_clear_error(execution);
    }
}

bool engine_part_node_is_in(const struct engine_scope *scope, uint32_t node)
{
    return scope != NULL && node < scope->process->node_count;
}

void engine_part_note_block(struct engine_execution *execution, const struct engine_token *token,
                            enum engine_block_state state)
{
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    if (scope->blocks != NULL) {
        scope->blocks[token->node] = (uint8_t)state;
    }
}

/* ---- tokens ---- */

void engine_part_drop_timer(struct engine_execution *execution, struct engine_token *token,
                            uint32_t slot)
{
    struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
    engine_part_forget_due(execution, timer->due_ms);
    engine_chain_remove(&execution->timers, &token->timers, ENGINE_LINK_FIRST, slot);
    engine_pool_give(&execution->timers, slot);
}

static uint32_t *count_of(struct engine_execution *execution, uint8_t kind)
{
    return kind == ENGINE_ON_CONDITION ? &execution->condition_count
                                       : &execution->subscription_count;
}

struct engine_subscription *engine_part_add_subscription(struct engine_execution *execution,
                                                         struct engine_token *token, uint8_t kind)
{
    uint32_t slot = engine_pool_take(&execution->subscriptions, &execution->memory, 0);
    struct engine_subscription *subscription = engine_pool_at(&execution->subscriptions, slot);
    if (subscription != NULL) {
        subscription->token = token->slot.id;
        subscription->kind = kind;
        engine_chain_append(&execution->subscriptions, &token->subscriptions, ENGINE_LINK_FIRST,
                            slot);
        (*count_of(execution, kind))++;
    }
    return subscription;
}

static void drop_subscription(struct engine_execution *execution, struct engine_token *token,
                              uint32_t slot)
{
    const struct engine_subscription *subscription =
        engine_pool_at(&execution->subscriptions, slot);
    (*count_of(execution, subscription->kind))--;
    execution->told_count -= subscription->told;
    engine_chain_remove(&execution->subscriptions, &token->subscriptions, ENGINE_LINK_FIRST, slot);
    engine_pool_give(&execution->subscriptions, slot);
}

void engine_part_stop_listening(struct engine_execution *execution, struct engine_token *token,
                                bool boundary_stays)
{
    const struct engine_node *nodes = engine_scope_find(execution, token->scope)->process->nodes;
    uint32_t next;
    for (uint32_t slot = token->timers.first; slot != ENGINE_SLOT_NONE; slot = next) {
        const struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
        next = engine_chain_next(&execution->timers, ENGINE_LINK_FIRST, slot);
        if (!boundary_stays || nodes[timer->node].attached_to != token->node) {
            engine_part_drop_timer(execution, token, slot);
        }
    }
    for (uint32_t slot = token->subscriptions.first; slot != ENGINE_SLOT_NONE; slot = next) {
        const struct engine_subscription *subscription =
            engine_pool_at(&execution->subscriptions, slot);
        next = engine_chain_next(&execution->subscriptions, ENGINE_LINK_FIRST, slot);
        if (!boundary_stays || nodes[subscription->node].attached_to != token->node) {
            drop_subscription(execution, token, slot);
        }
    }
}

/* Is it one that looks around before it fires? */
static bool leads_to_inclusive(const struct engine_process *process, uint32_t flow)
{
    return process->nodes[process->flows[flow].target].reach != NULL;
}

struct engine_join_tokens *engine_part_add_join(struct engine_execution *execution,
                                                struct engine_scope *scope, uint32_t flow)
{
    uint32_t slot = engine_pool_take(&execution->joins, &execution->memory, 0);
    struct engine_join_tokens *join = engine_pool_at(&execution->joins, slot);
    if (join != NULL) {
        join->flow = flow;
        join->segment = execution->segment;
        engine_chain_append(&execution->joins, &scope->joins, ENGINE_LINK_FIRST, slot);
        execution->inclusive_count += leads_to_inclusive(scope->process, flow);
    }
    return join;
}

void engine_part_drop_join(struct engine_execution *execution, struct engine_scope *scope,
                           struct engine_join_tokens *join)
{
    uint32_t slot =
        (uint32_t)(((const uint8_t *)join - execution->joins.slots) / execution->joins.slot_bytes);
    execution->inclusive_count -= leads_to_inclusive(scope->process, join->flow);
    engine_chain_remove(&execution->joins, &scope->joins, ENGINE_LINK_FIRST, slot);
    engine_pool_give(&execution->joins, slot);
}

void engine_part_move_join(struct engine_execution *execution, const struct engine_scope *scope,
                           struct engine_join_tokens *join, const struct engine_process *to,
                           uint32_t flow)
{
    execution->inclusive_count -= leads_to_inclusive(scope->process, join->flow);
    join->flow = flow;
    execution->inclusive_count += leads_to_inclusive(to, flow);
}

void engine_part_drop_joins(struct engine_execution *execution, struct engine_scope *scope)
{
    while (scope->joins.count > 0) {
        struct engine_join_tokens *join = engine_pool_at(&execution->joins, scope->joins.first);
        scope->live -= join->count;
        engine_part_drop_join(execution, scope, join);
    }
}

bool engine_part_skip_items(struct engine_scope *scope, uint32_t count)
{
    if (scope->items.count == 0) {
        return true;
    }
    struct wire_map_walk walk = wire_array_begin(scope->items);
    struct wire_cursor cursor = walk.cursor;
    struct span item;
    if (scope->item_offset > 0) {
        cursor.next = scope->items.bytes + scope->item_offset;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (wire_take(&cursor, &item) != RESULT_OK) {
            return false;
        }
    }
    scope->item_offset = (size_t)(cursor.next - scope->items.bytes);
    return true;
}

bool engine_part_add_result(struct engine_execution *execution, struct engine_scope *scope,
                            uint32_t instance, struct span value)
{
    uint32_t slot = engine_pool_take(&execution->results, &execution->memory, 0);
    struct engine_instance_result *result = engine_pool_at(&execution->results, slot);
    if (result == NULL) {
        return false;
    }
    result->instance = instance;
    result->value = engine_part_keep(execution, value);
    engine_chain_append(&execution->results, &scope->results, ENGINE_LINK_FIRST, slot);
    return true;
}

static void drop_results(struct engine_execution *execution, struct engine_scope *scope)
{
    while (scope->results.count > 0) {
        uint32_t slot = scope->results.first;
        engine_chain_remove(&execution->results, &scope->results, ENGINE_LINK_FIRST, slot);
        engine_pool_give(&execution->results, slot);
    }
}

/* ---- records of what can be compensated ---- */

struct engine_record *engine_part_add_record(struct engine_execution *execution,
                                             struct engine_scope *scope, uint32_t node,
                                             uint32_t handler)
{
    uint32_t slot = engine_pool_take(&execution->records, &execution->memory, 0);
    struct engine_record *record = engine_pool_at(&execution->records, slot);
    if (record != NULL) {
        record->node = node;
        record->handler = handler;
        engine_chain_append(&execution->records, &scope->records, ENGINE_LINK_FIRST, slot);
    }
    return record;
}

static void move_record(struct engine_execution *execution, struct engine_scope *from,
                        struct engine_scope *to, uint32_t slot)
{
    engine_chain_remove(&execution->records, &from->records, ENGINE_LINK_FIRST, slot);
    engine_chain_append(&execution->records, &to->records, ENGINE_LINK_FIRST, slot);
}

/* The variables of the scope, which will be gone, behind those that the record has. */
static void keep_variables(struct engine_execution *execution, struct engine_record *record,
                           const struct engine_scope *scope)
{
    const struct engine_token *host = engine_token_find(execution, scope->host);
    struct arena *memory = &execution->memory;
    if (scope->variables.count > 0) {
        record->locals = wire_merge(memory, scope->variables, record->locals);
    }
    if (host->own.count > 0) {
        record->locals = wire_merge(memory, host->own, record->locals);
    }
}

void engine_part_keep_records(struct engine_execution *execution, struct engine_scope *from,
                              struct engine_scope *to)
{
    while (from->records.count > 0) {
        uint32_t slot = from->records.first;
        struct engine_record *record = engine_pool_at(&execution->records, slot);
        for (const struct engine_scope *scope = from; scope != to;
             scope = engine_scope_find(execution, scope->parent)) {
            keep_variables(execution, record, scope);
        }
        move_record(execution, from, to, slot);
    }
}

void engine_part_gather_records(struct engine_execution *execution, struct engine_scope *top)
{
    for (ENGINE_EACH(struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (scope->records.count > 0 && engine_scope_lends(execution, scope, top)) {
            engine_part_keep_records(execution, scope, top);
        }
    }
}

/* The record and those of its inside, from the newest to the oldest; the slot before them is
 * returned. */
static uint32_t move_unit(struct engine_execution *execution, struct engine_scope *from,
                          struct engine_scope *to, uint32_t slot, uint32_t count)
{
    for (uint32_t i = 0; i < count && slot != ENGINE_SLOT_NONE; i++) {
        const struct engine_record *record = engine_pool_at(&execution->records, slot);
        uint32_t previous = record->slot.links[ENGINE_LINK_FIRST].previous;
        if (to != NULL) {
            engine_chain_remove(&execution->records, &from->records, ENGINE_LINK_FIRST, slot);
            engine_chain_prepend(&execution->records, &to->records, ENGINE_LINK_FIRST, slot);
        }
        slot = previous;
    }
    return slot;
}

void engine_part_move_records(struct engine_execution *execution, struct engine_scope *from,
                              struct engine_scope *to, uint32_t node)
{
    uint32_t slot = from->records.last;
    while (slot != ENGINE_SLOT_NONE) {
        const struct engine_record *record = engine_pool_at(&execution->records, slot);
        bool is_meant = engine_record_is_about(from, record, node);
        slot = move_unit(execution, from, is_meant ? to : NULL, slot, record->inner + 1);
    }
}

void engine_part_move_inner(struct engine_execution *execution, struct engine_scope *from,
                            struct engine_scope *to)
{
    (void)move_unit(execution, from, to, from->records.last, from->inner);
    from->inner = 0;
}

static void drop_records(struct engine_execution *execution, struct engine_scope *scope)
{
    while (scope->records.count > 0) {
        uint32_t slot = scope->records.first;
        engine_chain_remove(&execution->records, &scope->records, ENGINE_LINK_FIRST, slot);
        engine_pool_give(&execution->records, slot);
    }
}

void engine_part_drop_scope(struct engine_execution *execution, struct engine_scope *scope)
{
    uint32_t slot = engine_pool_find(&execution->scopes, scope->slot.id);
    struct engine_scope *parent = engine_scope_find(execution, scope->parent);
    ASSERT(scope->tokens.count == 0 && scope->joins.count == 0 && scope->children.count == 0);
    if (parent != NULL && scope->kind == ENGINE_SCOPE_SUB_PROCESS && scope->nodes.count > 0) {
        engine_payload_merge(execution, parent, NULL, ENGINE_PAYLOAD_NODES, scope->nodes);
    }
    drop_results(execution, scope);
    drop_records(execution, scope);
    if (parent != NULL) {
        engine_chain_remove(&execution->scopes, &parent->children, ENGINE_LINK_SIBLINGS, slot);
    }
    engine_chain_remove(&execution->scopes, &execution->scope_order, ENGINE_LINK_ALL, slot);
    engine_pool_give(&execution->scopes, slot);
}

/* Takes the token away; it must have no child scope any more. */
void engine_part_drop_token(struct engine_execution *execution, struct engine_token *token)
{
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    if (engine_block_is_active(token)) {
        engine_part_note_block(execution, token, ENGINE_BLOCK_ABORTED);
    }
    engine_part_forget_due(execution, token->due_ms);
    engine_part_stop_listening(execution, token, false);
    scope->live -= !token->guard;
    bool dropped =
        engine_token_transition(execution, token, ENGINE_EVENT_CANCELLED, ENGINE_WAIT_NONE);
    ASSERT(dropped);
}

/* Everything inside goes, innermost scopes first; no recursion, since a user decides the depth. The
 * scope itself stays. */
void engine_part_clear_scope(struct engine_execution *execution, struct engine_scope *top)
{
    struct engine_scope *scope = top;
    for (;;) {
        if (scope->children.count > 0) {
            scope = engine_pool_at(&execution->scopes, scope->children.first);
            continue;
        }
        while (scope->tokens.count > 0) {
            engine_part_drop_token(execution, engine_token_at(execution, scope->tokens.first));
        }
        engine_part_drop_joins(execution, scope);
        ASSERT(scope->live == 0);
        if (scope == top) {
            return;
        }
        struct engine_scope *parent = engine_scope_find(execution, scope->parent);
        engine_part_drop_scope(execution, scope);
        scope = parent;
    }
}

void engine_part_close_child(struct engine_execution *execution, struct engine_token *host)
{
    struct engine_scope *child = engine_scope_find(execution, host->child);
    if (child != NULL) {
        engine_part_clear_scope(execution, child);
        engine_part_drop_scope(execution, child);
    }
    host->child = 0;
}

/* ---- scopes ---- */

struct engine_scope *engine_part_open_scope(struct engine_execution *execution, uint32_t id,
                                            enum engine_scope_kind kind,
                                            const struct engine_process *process)
{
    uint32_t slot = engine_pool_take(&execution->scopes, &execution->memory, id);
    struct engine_scope *scope = engine_pool_at(&execution->scopes, slot);
    if (scope == NULL) {
        return NULL;
    }
    scope->kind = (uint8_t)kind;
    scope->process = process;
    scope->node = ENGINE_NONE;
    scope->tokens = ENGINE_CHAIN_EMPTY;
    scope->joins = ENGINE_CHAIN_EMPTY;
    scope->children = ENGINE_CHAIN_EMPTY;
    scope->results = ENGINE_CHAIN_EMPTY;
    scope->records = ENGINE_CHAIN_EMPTY;
    if (!engine_scope_is_inner(scope) && process->notation == ENGINE_NOTATION_SCHEME) {
        scope->blocks = arena_zero(&execution->memory, process->node_count);
    }
    engine_chain_append(&execution->scopes, &execution->scope_order, ENGINE_LINK_ALL, slot);
    execution->scope_next = id >= execution->scope_next ? id + 1 : execution->scope_next;
    return scope;
}
