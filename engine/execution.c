/*
 * execution.c: the life of an execution's memory: made, tidied, freed. What happens in it is
 * decided and applied elsewhere.
 */
#include "engine/execution.h"

#include <stdlib.h>

#include "engine/encode.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/writer.h"

enum { EXECUTION_BLOCK_BYTES = 3968, EXECUTION_TIDY_LEAST_BYTES = 64 << 10 };

static void arena_prepare(struct arena *arena)
{
    arena_init(arena, EXECUTION_BLOCK_BYTES, LIMIT_EXECUTION_BYTES);
}

/* The identity pairs are written once: they stand at the head of every snapshot, step blob and
 * audit message. */
static void write_identity(struct engine_execution *execution)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &execution->memory, 256);
    execution->identity_pairs = engine_encode_identity(execution, &writer);
    execution->identity = wire_writer_span(&writer);
}

void engine_execution_set_process(struct engine_execution *execution,
                                  const struct engine_process *process)
{
    execution->process = process;
    write_identity(execution);
}

struct engine_execution *engine_execution_make(const struct engine_catalog *catalog,
                                               const struct engine_start *start, int64_t created_ms)
{
    ASSERT(catalog != NULL && start->process != NULL);
    ASSERT(start->id.count > 0);
    struct engine_execution *execution = calloc(1, sizeof *execution);
    if (execution == NULL) {
        return NULL;
    }
    execution->magic = ENGINE_EXECUTION_MAGIC;
    execution->catalog = catalog;
    execution->process = start->process;
    execution->tidy_at_bytes = EXECUTION_TIDY_LEAST_BYTES;
    arena_prepare(&execution->memory);
    struct arena *memory = &execution->memory;
    execution->id = start->id;
    execution->workspace = arena_copy(memory, start->workspace);
    execution->project = arena_copy(memory, start->project);
    execution->channel = arena_copy(memory, start->channel);
    execution->channel_session_id = arena_copy(memory, start->channel_session_id);
    execution->traceparent = arena_copy(memory, start->traceparent);
    execution->start_node = arena_copy(memory, start->start_node);
    execution->first_request = arena_copy(memory, start->request);
    execution->first_context = arena_copy(memory, start->context);
    execution->first_execution = arena_copy(memory, start->execution);
    execution->is_test = start->is_test;
    execution->created_ms = created_ms;
    engine_execution_set_now(execution, created_ms);
    execution->token_next = 1;
    execution->scope_next = ENGINE_SCOPE_ROOT;
    execution->due_ms = ENGINE_NO_DUE;
    execution->due_known = true;
    engine_pool_init(&execution->tokens, sizeof(struct engine_token));
    engine_pool_init(&execution->scopes, sizeof(struct engine_scope));
    engine_pool_init(&execution->timers, sizeof(struct engine_timer));
    engine_pool_init(&execution->subscriptions, sizeof(struct engine_subscription));
    engine_pool_init(&execution->joins, sizeof(struct engine_join_tokens));
    engine_pool_init(&execution->results, sizeof(struct engine_instance_result));
    engine_pool_init(&execution->records, sizeof(struct engine_record));
    execution->ready = ENGINE_CHAIN_EMPTY;
    execution->parked = ENGINE_CHAIN_EMPTY;
    execution->scope_order = ENGINE_CHAIN_EMPTY;
    write_identity(execution);
    if (memory->overflowed) {
        engine_free(execution);
        return NULL;
    }
    return execution;
}

struct engine_execution *engine_new(const struct engine_catalog *catalog,
                                    const struct engine_start *start, int64_t now_ms)
{
    return engine_execution_make(catalog, start, now_ms);
}

void engine_free(struct engine_execution *execution)
{
    if (execution == NULL) {
        return;
    }
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    execution->magic = 0;
    arena_release(&execution->memory);
    free(execution);
}

static void set_text(struct engine_time_text *text, int64_t ms)
{
    text->ms = ms;
    text_format_time(ms, text->text);
}

void engine_execution_set_now(struct engine_execution *execution, int64_t now_ms)
{
    execution->now_ms = now_ms;
    set_text(&execution->now_text, now_ms);
}

void engine_execution_set_started(struct engine_execution *execution, int64_t started_ms)
{
    execution->started_ms = started_ms;
    set_text(&execution->started_text, started_ms);
}

/* ---- looking ---- */

struct engine_scope *engine_scope_of_process(const struct engine_execution *execution,
                                             const struct engine_scope *scope)
{
    while (engine_scope_is_inner(scope)) {
        scope = engine_scope_find(execution, scope->parent);
        ASSERT(scope != NULL);
    }
    return (struct engine_scope *)(uintptr_t)scope;
}

struct engine_scope *engine_scope_of_nodes(const struct engine_execution *execution,
                                           const struct engine_scope *scope)
{
    while (engine_scope_is_inner(scope)) {
        const struct engine_scope *parent = engine_scope_find(execution, scope->parent);
        ASSERT(parent != NULL);
        if (scope->kind == ENGINE_SCOPE_SUB_PROCESS && parent->kind == ENGINE_SCOPE_BODY &&
            scope->process->nodes[scope->node].loop.kind == ENGINE_LOOP_PARALLEL) {
            break;
        }
        scope = parent;
    }
    return (struct engine_scope *)(uintptr_t)scope;
}

const struct engine_node *engine_token_node(const struct engine_execution *execution,
                                            const struct engine_token *token)
{
    const struct engine_scope *scope = engine_scope_find(execution, token->scope);
    ASSERT(scope != NULL && token->node < scope->process->node_count);
    return &scope->process->nodes[token->node];
}

bool engine_scope_lends(const struct engine_execution *execution, const struct engine_scope *scope,
                        const struct engine_scope *top)
{
    /* Handlers that a compensation event has not come to yet are to be run, too. */
    bool through = scope->kind == ENGINE_SCOPE_COMPENSATION;
    const struct engine_scope *at = scope;
    while (at != top &&
           (through || at->kind == ENGINE_SCOPE_SUB_PROCESS || at->kind == ENGINE_SCOPE_BODY)) {
        at = engine_scope_find(execution, at->parent);
        through = false;
    }
    return at == top && scope != top;
}

bool engine_record_is_about(const struct engine_scope *scope, const struct engine_record *record,
                            uint32_t node)
{
    uint32_t at = record->node;
    while (at != node && at != ENGINE_NONE) {
        at = scope->process->nodes[at].scope;
    }
    return at == node;
}

struct engine_join_tokens *engine_join_find(const struct engine_execution *execution,
                                            const struct engine_scope *scope, uint32_t flow)
{
    for (ENGINE_EACH(struct engine_join_tokens, join, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        if (join->flow == flow) {
            return join;
        }
    }
    return NULL;
}

const struct engine_token *engine_token_next(const struct engine_execution *execution,
                                             const struct engine_token *token)
{
    uint32_t next =
        token == NULL ? execution->ready.first : token->slot.links[ENGINE_LINK_QUEUE].next;
    bool runnable = token == NULL || engine_token_is_ready(token->state);
    if (next == ENGINE_SLOT_NONE && runnable) {
        next = execution->parked.first;
    }
    return engine_token_at(execution, next);
}

struct uuid engine_step_id(const struct engine_execution *execution, uint32_t sequence)
{
    if (sequence == execution->step_id_sequence) {
        return execution->step_id;
    }
    return uuid_of_step(execution_id_span(&execution->id), execution->run, sequence);
}

/* ---- due times ---- */

void engine_execution_refresh_due(struct engine_execution *execution)
{
    if (execution->due_known) {
        return;
    }
    int64_t due_ms = ENGINE_NO_DUE;
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (token->state == ENGINE_TOKEN_WAITING && token->due_ms < due_ms) {
            due_ms = token->due_ms;
        }
        for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            due_ms = timer->due_ms < due_ms ? timer->due_ms : due_ms;
        }
    }
    execution->due_ms = due_ms;
    execution->due_known = true;
}

/* ---- tidying: everything that lives, copied into a new arena ---- */

static void keep(struct arena *arena, struct span *span)
{
    if (span->count > 0) {
        *span = arena_copy(arena, *span);
    }
}

static void keep_history(struct arena *arena, struct engine_history *history)
{
    struct engine_history moved = {0};
    if (engine_history_load(&moved, arena, engine_history_run(history), history->count)) {
        *history = moved;
    }
}

static void keep_tokens(struct engine_execution *execution, struct arena *arena)
{
    for (uint32_t slot = 0; slot < execution->tokens.used; slot++) {
        struct engine_token *token = engine_token_at(execution, slot);
        if (token->slot.id != 0) {
            struct span *spans[] = {&token->own,           &token->local,
                                    &token->output,        &token->detail,
                                    &token->callback,      &token->answer.body,
                                    &token->answer.output, &token->answer.reason};
            for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
                keep(arena, spans[i]);
            }
            for (ENGINE_EACH(struct engine_timer, timer, &execution->timers, &token->timers,
                             ENGINE_LINK_FIRST)) {
                keep(arena, &timer->cycle);
            }
            for (ENGINE_EACH(struct engine_subscription, subscription, &execution->subscriptions,
                             &token->subscriptions, ENGINE_LINK_FIRST)) {
                keep(arena, &subscription->name);
                keep(arena, &subscription->key);
                keep(arena, &subscription->payload);
            }
        }
    }
}

/* What a restart starts with is mostly what is still there: then it stays one copy. */
static void keep_first(struct arena *arena, struct span *first, struct span *now)
{
    bool same = first->bytes == now->bytes && first->count == now->count;
    keep(arena, now);
    if (same) {
        *first = *now;
    } else {
        keep(arena, first);
    }
}

static void keep_blocks(struct arena *arena, struct engine_scope *scope)
{
    if (scope->blocks != NULL) {
        uint8_t *blocks = arena_alloc(arena, scope->process->node_count);
        if (blocks != NULL) { /* else it is latched */
            memcpy(blocks, scope->blocks, scope->process->node_count);
        }
        scope->blocks = blocks;
    }
}

static void keep_scopes(struct engine_execution *execution, struct arena *arena)
{
    if (execution->scope_order.count == 0) { /* before the first run */
        keep(arena, &execution->first_execution);
    }
    for (ENGINE_EACH(struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (scope->slot.id == ENGINE_SCOPE_ROOT) {
            keep_first(arena, &execution->first_execution, &scope->variables);
        } else {
            keep(arena, &scope->variables);
        }
        keep(arena, &scope->nodes);
        keep(arena, &scope->items);
        keep_blocks(arena, scope);
        for (ENGINE_EACH(struct engine_instance_result, result, &execution->results,
                         &scope->results, ENGINE_LINK_FIRST)) {
            keep(arena, &result->value);
        }
        for (ENGINE_EACH(struct engine_record, record, &execution->records, &scope->records,
                         ENGINE_LINK_FIRST)) {
            keep(arena, &record->locals);
        }
        for (ENGINE_EACH(struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            keep(arena, &join->output);
        }
    }
}

static void keep_payloads(struct engine_execution *execution, struct arena *arena)
{
    keep_first(arena, &execution->first_request, &execution->request);
    keep_first(arena, &execution->first_context, &execution->context);
    struct span *spans[] = {&execution->workspace,     &execution->project,
                            &execution->channel,       &execution->channel_session_id,
                            &execution->traceparent,   &execution->identity,
                            &execution->response,      &execution->module,
                            &execution->resume,        &execution->output,
                            &execution->conversations, &execution->error_code,
                            &execution->error_message, &execution->error_task,
                            &execution->start_node};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        keep(arena, spans[i]);
    }
}

static void keep_inbox(struct engine_execution *execution, struct arena *arena)
{
    struct engine_kept_callback *inbox =
        arena_alloc(arena, (execution->inbox_count + 1u) * sizeof(struct engine_kept_callback));
    if (inbox == NULL) {
        return;
    }
    for (uint32_t i = 0; i < execution->inbox_count; i++) {
        inbox[i] = execution->inbox[i];
        keep(arena, &inbox[i].task_id);
        keep(arena, &inbox[i].content);
    }
    execution->inbox = inbox;
    execution->inbox_capacity = execution->inbox_count + 1;
}

void engine_execution_tidy(struct engine_execution *execution)
{
    if (execution->memory.taken_bytes <= execution->tidy_at_bytes || execution->memory.overflowed) {
        return;
    }
    struct arena fresh;
    arena_prepare(&fresh);
    bool moved = engine_pool_move(&execution->tokens, &fresh) &&
                 engine_pool_move(&execution->scopes, &fresh) &&
                 engine_pool_move(&execution->timers, &fresh) &&
                 engine_pool_move(&execution->subscriptions, &fresh) &&
                 engine_pool_move(&execution->joins, &fresh) &&
                 engine_pool_move(&execution->results, &fresh) &&
                 engine_pool_move(&execution->records, &fresh);
    if (moved) {
        keep_payloads(execution, &fresh);
        keep_tokens(execution, &fresh);
        keep_scopes(execution, &fresh);
        keep_inbox(execution, &fresh);
        keep_history(&fresh, &execution->steps);
        keep_history(&fresh, &execution->logs);
    }
    /* What could not be copied latches here, and the next call answers RESULT_LIMIT. */
    fresh.overflowed = fresh.overflowed || !moved;
    arena_release(&execution->memory);
    execution->memory = fresh;
    execution->tidy_at_bytes = 2 * fresh.taken_bytes + EXECUTION_TIDY_LEAST_BYTES;
}
