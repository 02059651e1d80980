/*
 * apply.c: one function for each event; see event.def for the fields and apply.h for the rules.
 */
#include "engine/apply.h"

#include "engine/encode.h"
#include "engine/pack.h"
#include "engine/payload.h"
#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

typedef enum result (*apply_fn)(struct engine_execution *execution,
                                const struct engine_event *event);

/* Events from a journal may contradict the state they are applied to. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return RESULT_CORRUPT;                                                                 \
        }                                                                                          \
    } while (0)

static struct span keep(struct engine_execution *execution, struct span span)
{
    return span.count == 0 ? SPAN_EMPTY : arena_copy(&execution->memory, span);
}

static void note_due(struct engine_execution *execution, int64_t due_ms)
{
    if (execution->due_known && due_ms < execution->due_ms) {
        execution->due_ms = due_ms;
    }
}

static void forget_due(struct engine_execution *execution, int64_t due_ms)
{
    if (due_ms <= execution->due_ms && due_ms != ENGINE_NO_DUE) {
        execution->due_known = false;
    }
}

static void open_segment(struct engine_execution *execution)
{
    if (!execution->segment_open) {
        execution->segment_open = true;
        execution->segment++;
        execution->waiting_since_ms = 0;
    }
}

/* Waiting input woke the run: the audit hears of it unless the segment ends at once. */
static void resume_segment(struct engine_execution *execution)
{
    execution->resumed_untold = execution->resumed_untold || !execution->segment_open;
    open_segment(execution);
}

static void clear_error(struct engine_execution *execution)
{
    execution->error_code = SPAN_EMPTY;
    execution->error_message = SPAN_EMPTY;
    execution->error_task = SPAN_EMPTY;
}

/* A retry that succeeded leaves no trace (engine.md 3), unless another one is still under way. */
static void settle_error(struct engine_execution *execution)
{
    if (execution->wait_counts[ENGINE_WAIT_RETRY] == 0 &&
        span_is(execution->error_code, ENGINE_TRANSIENT_CODE)) {
        clear_error(execution);
    }
}

static bool node_is_in(const struct engine_scope *scope, uint32_t node)
{
    return scope != NULL && node < scope->process->node_count;
}

/* ---- tokens ---- */

static void drop_timer(struct engine_execution *execution, struct engine_token *token,
                       uint32_t slot)
{
    struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
    forget_due(execution, timer->due_ms);
    engine_chain_remove(&execution->timers, &token->timers, ENGINE_LINK_FIRST, slot);
    engine_pool_give(&execution->timers, slot);
}

static void drop_timers(struct engine_execution *execution, struct engine_token *token)
{
    while (token->timers.count > 0) {
        drop_timer(execution, token, token->timers.first);
    }
}

static void drop_joins(struct engine_execution *execution, struct engine_scope *scope)
{
    while (scope->joins.count > 0) {
        uint32_t slot = scope->joins.first;
        scope->live -=
            ((struct engine_join_tokens *)engine_pool_at(&execution->joins, slot))->count;
        engine_chain_remove(&execution->joins, &scope->joins, ENGINE_LINK_FIRST, slot);
        engine_pool_give(&execution->joins, slot);
    }
}

static void drop_scope(struct engine_execution *execution, struct engine_scope *scope)
{
    uint32_t slot = engine_pool_find(&execution->scopes, scope->slot.id);
    struct engine_scope *parent = engine_scope_find(execution, scope->parent);
    ASSERT(scope->tokens.count == 0 && scope->joins.count == 0 && scope->children.count == 0);
    if (parent != NULL) {
        engine_chain_remove(&execution->scopes, &parent->children, ENGINE_LINK_SIBLINGS, slot);
    }
    engine_chain_remove(&execution->scopes, &execution->scope_order, ENGINE_LINK_ALL, slot);
    engine_pool_give(&execution->scopes, slot);
}

/* Takes the token away; it must have no child scope any more. */
static void drop_token(struct engine_execution *execution, struct engine_token *token)
{
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    forget_due(execution, token->due_ms);
    drop_timers(execution, token);
    scope->live--;
    bool dropped =
        engine_token_transition(execution, token, ENGINE_EVENT_CANCELLED, ENGINE_WAIT_NONE);
    ASSERT(dropped);
}

/* Everything inside goes, innermost scopes first; no recursion, since a user decides the depth. The
 * scope itself stays. */
static void clear_scope(struct engine_execution *execution, struct engine_scope *top)
{
    struct engine_scope *scope = top;
    for (;;) {
        if (scope->children.count > 0) {
            scope = engine_pool_at(&execution->scopes, scope->children.first);
            continue;
        }
        while (scope->tokens.count > 0) {
            drop_token(execution, engine_token_at(execution, scope->tokens.first));
        }
        drop_joins(execution, scope);
        ASSERT(scope->live == 0);
        if (scope == top) {
            return;
        }
        struct engine_scope *parent = engine_scope_find(execution, scope->parent);
        drop_scope(execution, scope);
        scope = parent;
    }
}

static void close_child(struct engine_execution *execution, struct engine_token *host)
{
    struct engine_scope *child = engine_scope_find(execution, host->child);
    if (child != NULL) {
        clear_scope(execution, child);
        drop_scope(execution, child);
    }
    host->child = 0;
}

/* ---- life ---- */

static enum result apply_created(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    (void)event; /* engine_new, or engine_replay from this event's value, did it */
    REQUIRE(execution->run == 0 && execution->event_sequence == 0);
    return RESULT_OK;
}

static enum result apply_clock(struct engine_execution *execution, const struct engine_event *event)
{
    REQUIRE(event->at_ms >= execution->now_ms);
    engine_execution_set_now(execution, event->at_ms);
    return RESULT_OK;
}

static struct engine_scope *open_scope(struct engine_execution *execution, uint32_t id,
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
    engine_chain_append(&execution->scopes, &execution->scope_order, ENGINE_LINK_ALL, slot);
    execution->scope_next = id >= execution->scope_next ? id + 1 : execution->scope_next;
    return scope;
}

/* Every run begins from nothing but what the caller gave; revisions, logs, token and call numbers
 * go on. */
static enum result apply_started(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(event->count == execution->run + 1);
    struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    if (root != NULL) {
        clear_scope(execution, root);
        drop_scope(execution, root);
    }
    ASSERT(execution->token_count == 0 && execution->call_count == 0);
    execution->run = event->count;
    execution->end = ENGINE_END_NONE;
    execution->suspended = false;
    execution->module_missing = false;
    execution->task_completed = false;
    engine_execution_set_started(execution, execution->now_ms);
    execution->ended_ms = 0;
    execution->sequence = 0;
    execution->scope_next = ENGINE_SCOPE_ROOT;
    execution->request = execution->first_request;
    execution->context = execution->first_context;
    execution->response = SPAN_EMPTY;
    execution->module = SPAN_EMPTY;
    execution->resume = SPAN_EMPTY;
    execution->output = SPAN_EMPTY;
    execution->conversations = SPAN_EMPTY;
    execution->inbox_count = 0;
    engine_history_clear(&execution->steps);
    execution->step_last_bytes = 0;
    execution->step_id_sequence = 0;
    clear_error(execution);
    root = open_scope(execution, ENGINE_SCOPE_ROOT, ENGINE_SCOPE_PROCESS, execution->process);
    if (root == NULL) {
        return RESULT_LIMIT;
    }
    root->variables = execution->first_execution;
    open_segment(execution);
    return RESULT_OK;
}

static enum result apply_ended(struct engine_execution *execution, const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_NONE);
    REQUIRE(event->flags > ENGINE_END_NONE && event->flags <= ENGINE_END_ABORTED);
    execution->end = (uint8_t)event->flags;
    execution->ended_ms = execution->now_ms;
    execution->suspended = false;
    execution->inbox_count = 0;
    if (event->flags == ENGINE_END_ABORTED) {
        execution->error_code = keep(execution, event->text);
        execution->error_message = keep(execution, wire_string_or(event->value, ""));
        execution->error_task = SPAN_EMPTY;
        open_segment(execution);
    }
    return RESULT_OK;
}

static enum result apply_segment_ended(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    (void)event;
    REQUIRE(execution->segment_open);
    execution->segment_open = false;
    execution->resumed_untold = false;
    execution->waiting_since_ms = execution->end == ENGINE_END_NONE ? execution->now_ms : 0;
    return RESULT_OK;
}

static enum result apply_audited(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(event->count == execution->revision + 1);
    execution->revision = event->count;
    execution->log_shipped = execution->log_last;
    execution->log_unshipped_bytes = 0;
    execution->resumed_untold = false;
    engine_payload_trim_logs(execution);
    return RESULT_OK;
}

/* ---- moving ---- */

static enum result apply_token_created(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(node_is_in(scope, event->node) && event->token >= execution->token_next);
    struct engine_token *token = engine_token_make(execution, event->token, scope, false);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    token->node = event->node;
    token->flow = event->flow;
    const struct engine_token *parent = engine_token_find(execution, event->other);
    if (parent != NULL) {
        token->path = parent->path;
        token->segment = parent->segment;
        token->output = parent->output;
    }
    if (event->value.count > 0) {
        token->output = keep(execution, event->value);
    }
    return RESULT_OK;
}

static void add_step(struct engine_execution *execution, const struct engine_token *token,
                     const struct engine_scope *scope)
{
    const struct engine_node *node = &scope->process->nodes[token->node];
    size_t bytes = 96 + node->id.count + scope->process->id.count;
    uint8_t *room = engine_history_room(&execution->steps, &execution->memory, bytes);
    if (room == NULL) {
        return;
    }
    struct wire_writer writer = {.arena = &execution->memory, .bytes = room, .capacity = bytes};
    bool called = engine_scope_of_process(execution, scope)->slot.id != ENGINE_SCOPE_ROOT;
    wire_write_map(&writer, 4u + called);
    ENGINE_PACK_UINT(&writer, "sequence", token->sequence);
    ENGINE_PACK_STRING(&writer, "taskId", node->id);
    ENGINE_PACK_STRING(&writer, "at", span_of(execution->now_text.text, TEXT_TIME_BYTES));
    ENGINE_PACK_UINT(&writer, "token", token->slot.id);
    if (called) {
        ENGINE_PACK_STRING(&writer, "process", scope->process->id);
    }
    ASSERT(writer.bytes == room);
    engine_history_add(&execution->steps, writer.count);
    execution->step_last_bytes = writer.count;
    while (execution->steps.count > LIMIT_HISTORY) {
        (void)engine_history_drop(&execution->steps);
    }
}

/* What one step went through means nothing to the next. */
static void reset_work(struct engine_token *token)
{
    token->attempts = 0;
    token->attempts_before = 0;
    token->retries = 0;
    token->callbacks = 0;
    token->call = 0;
    token->phase = ENGINE_PHASE_EXECUTE;
    token->shown = false;
    token->armed = false;
}

static enum result apply_entered(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->count == execution->sequence + 1);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_ENTERED, ENGINE_WAIT_NONE));
    execution->sequence = event->count;
    execution->task_completed = false;
    token->sequence = event->count;
    token->path = token->segment == execution->segment ? token->path + 1 : 1;
    token->segment = execution->segment;
    reset_work(token);
    add_step(execution, token, engine_scope_find(execution, token->scope));
    return execution->memory.overflowed ? RESULT_LIMIT : RESULT_OK;
}

static enum result apply_locals_set(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    token->local = keep(execution, event->value);
    return RESULT_OK;
}

static enum result apply_completed(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_COMPLETED));
    bool waited = token->state == ENGINE_TOKEN_WAITING;
    forget_due(execution, token->due_ms);
    drop_timers(execution, token);
    bool moved =
        engine_token_transition(execution, token, ENGINE_EVENT_COMPLETED, ENGINE_WAIT_NONE);
    ASSERT(moved);
    token->due_ms = ENGINE_NO_DUE;
    token->local = SPAN_EMPTY;
    token->detail = SPAN_EMPTY;
    token->answer = (struct engine_answer){0};
    token->child = 0;
    execution->task_completed = execution->task_completed || event->flags != 0;
    token->callback = SPAN_EMPTY;
    settle_error(execution);
    if (waited) {
        resume_segment(execution);
    }
    return RESULT_OK;
}

static enum result apply_left(struct engine_execution *execution, const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && node_is_in(engine_scope_find(execution, token->scope), event->node));
    REQUIRE(event->flow < engine_scope_find(execution, token->scope)->process->flow_count);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_LEFT, ENGINE_WAIT_NONE));
    token->flow = event->flow;
    token->node = event->node;
    reset_work(token);
    return RESULT_OK;
}

static enum result apply_consumed(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_CONSUMED));
    drop_timers(execution, token);
    engine_scope_find(execution, token->scope)->live--;
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CONSUMED, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

static enum result apply_cancelled(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    close_child(execution, token);
    drop_token(execution, token);
    return RESULT_OK;
}

/* ---- joins ---- */

static struct engine_join_tokens *join_on(struct engine_execution *execution,
                                          struct engine_scope *scope, uint32_t flow)
{
    struct engine_join_tokens *join = engine_join_find(execution, scope, flow);
    if (join != NULL) {
        return join;
    }
    uint32_t slot = engine_pool_take(&execution->joins, &execution->memory, 0);
    join = engine_pool_at(&execution->joins, slot);
    if (join != NULL) {
        join->flow = flow;
        join->segment = execution->segment;
        engine_chain_append(&execution->joins, &scope->joins, ENGINE_LINK_FIRST, slot);
    }
    return join;
}

/* engine.md 3: a join's path length is the largest of the merged tokens'. */
static void lengthen(struct engine_execution *execution, uint32_t *path, uint32_t *segment,
                     uint32_t by_path, uint32_t by_segment)
{
    uint32_t mine = *segment == execution->segment ? *path : 0;
    uint32_t theirs = by_segment == execution->segment ? by_path : 0;
    *path = mine > theirs ? mine : theirs;
    *segment = execution->segment;
}

static enum result apply_joined(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_JOINED) &&
            token->flow != ENGINE_NONE);
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    struct engine_join_tokens *join = join_on(execution, scope, token->flow);
    if (join == NULL) {
        return RESULT_LIMIT;
    }
    join->count++; /* scope->live stays: the token still lives there */
    join->output = token->output;
    lengthen(execution, &join->path, &join->segment, token->path, token->segment);
    bool moved = engine_token_transition(execution, token, ENGINE_EVENT_JOINED, ENGINE_WAIT_NONE);
    ASSERT(moved);
    return RESULT_OK;
}

static uint32_t join_slot(const struct engine_execution *execution,
                          const struct engine_join_tokens *join)
{
    return (uint32_t)(((const uint8_t *)join - execution->joins.slots) /
                      execution->joins.slot_bytes);
}

/* BPMN 2.0.2 §13.4.1: exactly one token per incoming flow is consumed; surplus tokens stay on
 * theirs. */
static enum result apply_join_fired(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(node_is_in(scope, event->node) && event->token >= execution->token_next);
    struct engine_indexes incoming = scope->process->nodes[event->node].incoming;
    struct engine_token *token = engine_token_make(execution, event->token, scope, true);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    token->node = event->node;
    token->segment = execution->segment;
    for (uint32_t i = 0; i < incoming.count; i++) {
        struct engine_join_tokens *join = engine_join_find(execution, scope, incoming.at[i]);
        if (join == NULL) {
            continue; /* an inclusive join fires without all of them */
        }
        lengthen(execution, &token->path, &token->segment, join->path, join->segment);
        token->output = join->output;
        scope->live--;
        if (--join->count == 0) {
            uint32_t slot = join_slot(execution, join);
            engine_chain_remove(&execution->joins, &scope->joins, ENGINE_LINK_FIRST, slot);
            engine_pool_give(&execution->joins, slot);
        }
    }
    return RESULT_OK;
}

/* ---- module calls ---- */

static enum result apply_called(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->count == execution->call_last + 1 &&
            event->flags <= ENGINE_PHASE_CANCEL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CALLED, ENGINE_WAIT_NONE));
    execution->call_last = event->count;
    token->call = event->count;
    token->phase = (uint8_t)event->flags;
    token->attempts++;
    token->callbacks += event->flags == ENGINE_PHASE_CALLBACK && token->attempts == 1;
    return RESULT_OK;
}

static enum result apply_answered(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_ANSWERED, ENGINE_WAIT_NONE));
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_REPLY,
                                           .outcome = (uint8_t)event->flags,
                                           .phase = token->phase,
                                           .status = event->count,
                                           .retry_after_ms = event->at_ms,
                                           .body = keep(execution, event->value),
                                           .reason = keep(execution, event->text)};
    return RESULT_OK;
}

static enum result apply_reply_merged(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    const struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    struct span body = event->value.count > 0 ? event->value : token->answer.body;
    engine_payload_merge_reply(execution, token, body, event->flags);
    return RESULT_OK;
}

static enum result apply_merged(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL && event->flags < ENGINE_PAYLOAD_COUNT);
    engine_payload_merge(execution, scope, (enum engine_payload)event->flags, event->value);
    return RESULT_OK;
}

static enum result apply_output_set(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    token->output = keep(execution, event->value);
    execution->output = token->output;
    return RESULT_OK;
}

static enum result apply_attempt_failed(struct engine_execution *execution,
                                        const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    const struct engine_node *node = engine_token_node(execution, token);
    execution->error_code = span_text(ENGINE_TRANSIENT_CODE);
    execution->error_message = keep(execution, event->text);
    execution->error_task = keep(execution, node->id);
    engine_payload_log(execution, span_text("WARN"), event->text, SPAN_EMPTY, node);
    return RESULT_OK;
}

/* ---- waiting ---- */

static enum result apply_waited(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->flags > ENGINE_WAIT_NONE && event->flags < ENGINE_WAIT_COUNT);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_WAITED, (uint8_t)event->flags));
    token->since_ms = execution->now_ms;
    token->due_ms = event->at_ms;
    token->detail = keep(execution, event->value);
    token->answer = (struct engine_answer){0};
    token->shown = token->shown || event->flags != ENGINE_WAIT_RETRY;
    if (event->flags != ENGINE_WAIT_RETRY) {
        token->callback = SPAN_EMPTY;
        settle_error(execution);
    }
    note_due(execution, event->at_ms);
    return RESULT_OK;
}

static void stop_waiting(struct engine_execution *execution, struct engine_token *token)
{
    forget_due(execution, token->due_ms);
    token->due_ms = ENGINE_NO_DUE;
    token->detail = SPAN_EMPTY;
    resume_segment(execution);
}

static enum result apply_woken(struct engine_execution *execution, const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_WOKEN, ENGINE_WAIT_NONE));
    stop_waiting(execution, token);
    return RESULT_OK;
}

static enum result apply_timed_out(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_TIMED_OUT, ENGINE_WAIT_NONE));
    stop_waiting(execution, token);
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_TIMEOUT,
                                           .retry_after_ms = -1,
                                           .reason = keep(execution, event->text)};
    return RESULT_OK;
}

static void drop_kept(struct engine_execution *execution, uint32_t place)
{
    execution->inbox_count--;
    memmove(execution->inbox + place, execution->inbox + place + 1,
            (execution->inbox_count - place) * sizeof execution->inbox[0]);
}

static enum result apply_callback(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->other <= execution->inbox_count &&
            wire_count(event->value) == 3);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CALLBACK, ENGINE_WAIT_NONE));
    stop_waiting(execution, token);
    struct span content = keep(execution, event->value);
    token->attempts = 0; /* telling its module of the callback has attempts of its own */
    token->attempts_before = 0;
    token->callback = wire_at(content, 0);
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_CALLBACK,
                                           .retry_after_ms = -1,
                                           .body = token->callback,
                                           .output = wire_at(content, 1),
                                           .reason = wire_at(content, 2)};
    execution->callback_segment = execution->segment;
    execution->resume = token->callback; /* __resume: never merged into anything else */
    if (event->other > 0) {
        drop_kept(execution, event->other - 1);
    }
    return RESULT_OK;
}

static enum result apply_callback_kept(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    REQUIRE(execution->inbox_count < ENGINE_INBOX_MAX);
    if (execution->inbox_count == execution->inbox_capacity) {
        uint32_t capacity = execution->inbox_capacity == 0 ? 4 : 2 * execution->inbox_capacity;
        struct engine_kept_callback *inbox =
            arena_alloc(&execution->memory, capacity * sizeof *inbox);
        if (inbox == NULL) {
            return RESULT_LIMIT;
        }
        if (execution->inbox_count > 0) {
            memcpy(inbox, execution->inbox, execution->inbox_count * sizeof *inbox);
        }
        execution->inbox = inbox;
        execution->inbox_capacity = capacity;
    }
    execution->inbox[execution->inbox_count++] =
        (struct engine_kept_callback){keep(execution, event->text), keep(execution, event->value)};
    return RESULT_OK;
}

/* ---- boundary timers ---- */

static enum result apply_timer_armed(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && node_is_in(engine_scope_find(execution, token->scope), event->node));
    uint32_t slot = engine_pool_take(&execution->timers, &execution->memory, 0);
    struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
    if (timer == NULL) {
        return RESULT_LIMIT;
    }
    timer->token = event->token;
    timer->node = event->node;
    timer->armed_ms = execution->now_ms;
    timer->due_ms = event->at_ms;
    timer->cycle = keep(execution, event->text);
    engine_chain_append(&execution->timers, &token->timers, ENGINE_LINK_FIRST, slot);
    token->armed = true;
    note_due(execution, event->at_ms);
    return RESULT_OK;
}

static enum result apply_timer_fired(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    for (uint32_t slot = token->timers.first; slot != ENGINE_SLOT_NONE;
         slot = engine_chain_next(&execution->timers, ENGINE_LINK_FIRST, slot)) {
        struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
        if (timer->node != event->node) {
            continue;
        }
        if (event->at_ms == ENGINE_NO_DUE) {
            drop_timer(execution, token, slot);
        } else {
            forget_due(execution, timer->due_ms);
            timer->due_ms = event->at_ms;
            timer->fired++;
            note_due(execution, event->at_ms);
        }
        resume_segment(execution);
        return RESULT_OK;
    }
    return RESULT_CORRUPT;
}

/* ---- scopes ---- */

static enum result apply_scope_opened(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    struct engine_token *host = engine_token_find(execution, event->token);
    REQUIRE(host != NULL && host->child == 0 && event->scope >= execution->scope_next);
    REQUIRE(event->flags == ENGINE_SCOPE_SUB_PROCESS || event->flags == ENGINE_SCOPE_CALLED);
    struct engine_scope *parent = engine_scope_find(execution, host->scope);
    const struct engine_process *process = parent->process;
    if (event->flags == ENGINE_SCOPE_CALLED) {
        process = execution->library->process(execution->library, execution->project, event->text,
                                              event->count);
        if (process == NULL) {
            return RESULT_NOT_FOUND;
        }
    }
    REQUIRE(engine_token_transition(execution, host, ENGINE_EVENT_SCOPE_OPENED, ENGINE_WAIT_NONE));
    struct engine_scope *scope =
        open_scope(execution, event->scope, (enum engine_scope_kind)event->flags, process);
    if (scope == NULL) {
        return RESULT_LIMIT;
    }
    parent = engine_scope_find(execution, host->scope); /* the pool may have moved */
    scope->parent = host->scope;
    scope->host = event->token;
    scope->node = host->node;
    scope->variables = keep(execution, event->value);
    host->child = event->scope;
    host->shown = true;
    engine_chain_append(&execution->scopes, &parent->children, ENGINE_LINK_SIBLINGS,
                        engine_pool_find(&execution->scopes, event->scope));
    return RESULT_OK;
}

static enum result apply_scope_spent(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *host = engine_token_find(execution, event->token);
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(host != NULL && scope != NULL && host->child == event->scope && scope->live == 0);
    REQUIRE(engine_token_transition(execution, host, ENGINE_EVENT_SCOPE_SPENT, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

static enum result apply_scope_closed(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL && scope->live == 0 && scope->children.count == 0);
    struct engine_token *host = engine_token_find(execution, scope->host);
    REQUIRE(host != NULL);
    host->child = 0;
    drop_scope(execution, scope);
    return RESULT_OK;
}

static enum result apply_scope_cleared(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL);
    clear_scope(execution, scope);
    return RESULT_OK;
}

/* ---- what goes wrong, and what is said ---- */

static const char *const level_names[ENGINE_LEVEL_COUNT] = {
    [ENGINE_LEVEL_INFO] = "INFO", [ENGINE_LEVEL_WARN] = "WARN", [ENGINE_LEVEL_ERROR] = "ERROR"};

static enum result apply_logged(struct engine_execution *execution,
                                const struct engine_event *event)
{
    REQUIRE(event->flags < ENGINE_LEVEL_COUNT);
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    const struct engine_node *node =
        node_is_in(scope, event->node) ? &scope->process->nodes[event->node] : NULL;
    engine_payload_log(execution, span_text(level_names[event->flags]), event->text, event->value,
                       node);
    return RESULT_OK;
}

static enum result apply_module_missed(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(node_is_in(scope, event->node));
    execution->module_missing = true;
    execution->error_code = keep(execution, span_text("ModuleNotFound"));
    execution->error_message = keep(execution, event->text);
    execution->error_task = keep(execution, scope->process->nodes[event->node].id);
    return RESULT_OK;
}

static enum result apply_failed(struct engine_execution *execution,
                                const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_NONE);
    struct engine_token *token = engine_token_find(execution, event->token);
    const struct engine_node *node = NULL;
    struct span message = wire_string_or(event->value, "");
    if (event->token != 0) {
        REQUIRE(token != NULL && event->count > ENGINE_TOKEN_GONE &&
                event->count <= ENGINE_TOKEN_LEAVING);
        node = engine_token_node(execution, token);
        REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_FAILED, ENGINE_WAIT_NONE));
        token->resume = (uint8_t)event->count;
    }
    execution->end = ENGINE_END_FAILED;
    execution->ended_ms = execution->now_ms;
    execution->error_code = keep(execution, event->text);
    execution->error_message = keep(execution, message);
    execution->error_task = node == NULL ? SPAN_EMPTY : keep(execution, node->id);
    engine_payload_log(execution, span_text("ERROR"), message, SPAN_EMPTY, node);
    return RESULT_OK;
}

static enum result apply_suspended(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    (void)event;
    REQUIRE(!engine_execution_frozen(execution));
    execution->suspended = true;
    open_segment(execution);
    return RESULT_OK;
}

static enum result apply_resumed(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    (void)event;
    REQUIRE(execution->suspended);
    execution->suspended = false;
    open_segment(execution);
    return RESULT_OK;
}

static enum result apply_retried(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_FAILED);
    struct engine_token *token = engine_token_find(execution, event->token);
    if (event->token != 0) {
        REQUIRE(token != NULL);
        REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_RETRIED, ENGINE_WAIT_NONE));
        token->retries++;
        token->attempts_before = token->attempts;
    }
    execution->end = ENGINE_END_NONE;
    execution->ended_ms = 0;
    clear_error(execution);
    open_segment(execution);
    return RESULT_OK;
}

static const apply_fn apply_table[ENGINE_EVENT_TYPE_COUNT] = {
    [ENGINE_EVENT_CREATED] = apply_created,
    [ENGINE_EVENT_CLOCK] = apply_clock,
    [ENGINE_EVENT_STARTED] = apply_started,
    [ENGINE_EVENT_TOKEN_CREATED] = apply_token_created,
    [ENGINE_EVENT_ENTERED] = apply_entered,
    [ENGINE_EVENT_LOCALS_SET] = apply_locals_set,
    [ENGINE_EVENT_COMPLETED] = apply_completed,
    [ENGINE_EVENT_LEFT] = apply_left,
    [ENGINE_EVENT_CONSUMED] = apply_consumed,
    [ENGINE_EVENT_CANCELLED] = apply_cancelled,
    [ENGINE_EVENT_JOINED] = apply_joined,
    [ENGINE_EVENT_JOIN_FIRED] = apply_join_fired,
    [ENGINE_EVENT_CALLED] = apply_called,
    [ENGINE_EVENT_ANSWERED] = apply_answered,
    [ENGINE_EVENT_REPLY_MERGED] = apply_reply_merged,
    [ENGINE_EVENT_MERGED] = apply_merged,
    [ENGINE_EVENT_OUTPUT_SET] = apply_output_set,
    [ENGINE_EVENT_WAITED] = apply_waited,
    [ENGINE_EVENT_WOKEN] = apply_woken,
    [ENGINE_EVENT_TIMED_OUT] = apply_timed_out,
    [ENGINE_EVENT_CALLBACK] = apply_callback,
    [ENGINE_EVENT_CALLBACK_KEPT] = apply_callback_kept,
    [ENGINE_EVENT_TIMER_ARMED] = apply_timer_armed,
    [ENGINE_EVENT_TIMER_FIRED] = apply_timer_fired,
    [ENGINE_EVENT_SCOPE_OPENED] = apply_scope_opened,
    [ENGINE_EVENT_SCOPE_SPENT] = apply_scope_spent,
    [ENGINE_EVENT_SCOPE_CLOSED] = apply_scope_closed,
    [ENGINE_EVENT_SCOPE_CLEARED] = apply_scope_cleared,
    [ENGINE_EVENT_MODULE_MISSED] = apply_module_missed,
    [ENGINE_EVENT_FAILED] = apply_failed,
    [ENGINE_EVENT_ENDED] = apply_ended,
    [ENGINE_EVENT_LOGGED] = apply_logged,
    [ENGINE_EVENT_AUDITED] = apply_audited,
    [ENGINE_EVENT_SEGMENT_ENDED] = apply_segment_ended,
    [ENGINE_EVENT_SUSPENDED] = apply_suspended,
    [ENGINE_EVENT_RESUMED] = apply_resumed,
    [ENGINE_EVENT_RETRIED] = apply_retried,
    [ENGINE_EVENT_ATTEMPT_FAILED] = apply_attempt_failed,
};

enum result engine_apply(struct engine_execution *execution, const struct engine_event *event)
{
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    REQUIRE(event->type > ENGINE_EVENT_NONE && event->type < ENGINE_EVENT_TYPE_COUNT);
    ASSERT(apply_table[event->type] != NULL);
    enum result result = apply_table[event->type](execution, event);
    if (result != RESULT_OK) {
        return result;
    }
    execution->event_sequence++;
    return execution->memory.overflowed ? RESULT_LIMIT : RESULT_OK;
}
