/*
 * encode.c: execution.msgpack (interfaces.md 4). Only what differs from its default
 * is written, so a small waiting execution takes some hundred bytes. Nodes and flows are written by
 * id: another build may number them otherwise.
 */
#include "engine/encode.h"

#include "engine/block.h"
#include "engine/state.h"
#include "engine/token.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* ---- shared pieces ---- */

uint32_t engine_encode_identity(const struct engine_execution *execution,
                                struct wire_writer *writer)
{
    uint32_t count = 6;
    ENGINE_PACK_STRING(writer, "executionId", execution_id_span(&execution->id));
    ENGINE_PACK_STRING(writer, "workspaceId", execution->workspace);
    ENGINE_PACK_STRING(writer, "projectId", execution->project);
    ENGINE_PACK_STRING(writer, "process", execution->process->id);
    ENGINE_PACK_UINT(writer, "version", execution->process->version);
    if (execution->channel.count > 0) {
        ENGINE_PACK_STRING(writer, "channel", execution->channel);
        count++;
    }
    if (execution->channel_session_id.count > 0) {
        ENGINE_PACK_STRING(writer, "channelSessionId", execution->channel_session_id);
        count++;
    }
    ENGINE_PACK(writer, "isTest");
    wire_write_bool(writer, execution->is_test);
    return count;
}

void engine_encode_time(const struct engine_execution *execution, struct wire_writer *writer,
                        int64_t ms)
{
    char text[TEXT_TIME_BYTES + 1];
    const char *from = text;
    if (ms == execution->now_text.ms) {
        from = execution->now_text.text;
    } else if (ms == execution->started_text.ms) {
        from = execution->started_text.text;
    } else {
        text_format_time(ms, text);
    }
    engine_pack_string(writer, span_of(from, TEXT_TIME_BYTES));
}

struct span engine_encode_last_step(const struct engine_execution *execution)
{
    struct span run = engine_history_run(&execution->steps);
    size_t bytes = execution->step_last_bytes;
    ASSERT(bytes <= run.count);
    return bytes == 0 ? SPAN_EMPTY : span_of(run.bytes + run.count - bytes, bytes);
}

static void write_node(struct wire_writer *writer, const struct engine_process *process,
                       uint32_t node)
{
    if (process->nodes[node].id.count > 0) {
        engine_pack_string(writer, process->nodes[node].id);
    } else {
        engine_pack_uint(writer, node);
    }
}

static void write_flow(struct wire_writer *writer, const struct engine_process *process,
                       uint32_t flow)
{
    if (process->flows[flow].id.count > 0) {
        engine_pack_string(writer, process->flows[flow].id);
    } else {
        engine_pack_uint(writer, flow);
    }
}

/* ---- tokens ---- */

static uint32_t write_answer_pairs(const struct engine_answer *answer, struct wire_writer *writer)
{
    uint32_t count = 1;
    ENGINE_PACK_UINT(writer, "kind", answer->kind);
    ENGINE_OPTIONAL_UINT("outcome", answer->outcome);
    ENGINE_OPTIONAL_UINT("phase", answer->phase);
    ENGINE_OPTIONAL_UINT("status", answer->status);
    ENGINE_PACK(writer, "retryAfterMs");
    wire_write_int(writer, answer->retry_after_ms);
    count++;
    ENGINE_OPTIONAL_VALUE("body", answer->body);
    ENGINE_OPTIONAL_VALUE("output", answer->output);
    if (answer->kind == ENGINE_ANSWER_CALLBACK) {
        ENGINE_OPTIONAL_VALUE("error", answer->reason);
    } else {
        ENGINE_OPTIONAL_STRING("reason", answer->reason);
    }
    return count;
}

static void write_answer(const struct engine_answer *answer, struct wire_writer *writer)
{
    size_t mark = wire_open_map(writer);
    wire_close_map(writer, mark, write_answer_pairs(answer, writer));
}

static void write_timers(const struct engine_execution *execution, const struct engine_token *token,
                         const struct engine_process *process, struct wire_writer *writer)
{
    wire_write_array(writer, token->timers.count);
    for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                     ENGINE_LINK_FIRST)) {
        uint32_t count = 3;
        size_t mark = wire_open_map(writer);
        ENGINE_PACK(writer, "taskId");
        write_node(writer, process, timer->node);
        ENGINE_PACK_TIME(execution, writer, "armedAt", timer->armed_ms);
        ENGINE_PACK_TIME(execution, writer, "dueAt", timer->due_ms);
        ENGINE_OPTIONAL_UINT("definition", timer->definition);
        ENGINE_OPTIONAL_UINT("fired", timer->fired);
        ENGINE_OPTIONAL_STRING("cycle", timer->cycle);
        wire_close_map(writer, mark, count);
    }
}

static void write_subscriptions(const struct engine_execution *execution,
                                const struct engine_token *token,
                                const struct engine_process *process, struct wire_writer *writer)
{
    wire_write_array(writer, token->subscriptions.count);
    for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        uint32_t count = 2;
        size_t mark = wire_open_map(writer);
        ENGINE_PACK(writer, "taskId");
        write_node(writer, process, subscription->node);
        ENGINE_PACK_STRING(writer, "kind", span_text(engine_event_kind_name(subscription->kind)));
        ENGINE_OPTIONAL_UINT("definition", subscription->definition);
        ENGINE_OPTIONAL_UINT("held", (uint32_t)subscription->held);
        ENGINE_OPTIONAL_STRING("name", subscription->name);
        ENGINE_OPTIONAL_STRING("key", subscription->key);
        ENGINE_OPTIONAL_UINT("told", (uint32_t)subscription->told);
        ENGINE_OPTIONAL_VALUE("payload", subscription->payload);
        wire_close_map(writer, mark, count);
    }
}

/* What a step of the token has been through; mostly nothing. */
static uint32_t write_work_pairs(const struct engine_execution *execution,
                                 const struct engine_token *token, struct wire_writer *writer)
{
    uint32_t count = 0;
    ENGINE_OPTIONAL_UINT(
        "path", token->segment == execution->segment && execution->segment_open ? token->path : 0);
    ENGINE_OPTIONAL_UINT("attempts", token->attempts);
    ENGINE_OPTIONAL_UINT("attemptsBefore", token->attempts_before);
    ENGINE_OPTIONAL_UINT("retries", token->retries);
    ENGINE_OPTIONAL_UINT("callbacks", token->callbacks);
    ENGINE_OPTIONAL_UINT("call", token->call);
    ENGINE_OPTIONAL_UINT("phase", token->phase);
    ENGINE_OPTIONAL_UINT("child", token->child);
    ENGINE_OPTIONAL_UINT("instance", token->instance);
    ENGINE_OPTIONAL_UINT("shown", (uint32_t)token->shown);
    ENGINE_OPTIONAL_UINT("armed", (uint32_t)token->armed);
    ENGINE_OPTIONAL_UINT("guard", (uint32_t)token->guard);
    ENGINE_OPTIONAL_UINT("gaveOutput", (uint32_t)token->gave_output);
    ENGINE_OPTIONAL_TIME("calledAt", token->called_ms, token->called_ms != 0);
    ENGINE_OPTIONAL_TIME("answeredAt", token->answered_ms, token->answered_ms != 0);
    ENGINE_OPTIONAL_VALUE("own", token->own);
    ENGINE_OPTIONAL_VALUE("local", token->local);
    ENGINE_OPTIONAL_VALUE("output", token->output);
    ENGINE_OPTIONAL_VALUE("callback", token->callback);
    return count;
}

static uint32_t write_wait_pairs(const struct engine_execution *execution,
                                 const struct engine_token *token, struct wire_writer *writer)
{
    uint32_t count = 2;
    ENGINE_PACK_STRING(writer, "wait", span_text(engine_wait_name(token->wait)));
    ENGINE_PACK_TIME(execution, writer, "since", token->since_ms);
    ENGINE_OPTIONAL_TIME("dueAt", token->due_ms, token->due_ms != ENGINE_NO_DUE);
    ENGINE_OPTIONAL_VALUE("detail", token->detail);
    return count;
}

void engine_encode_token(const struct engine_execution *execution, const struct engine_token *token,
                         struct wire_writer *writer)
{
    const struct engine_process *process = engine_scope_find(execution, token->scope)->process;
    uint32_t count = 3;
    size_t mark = wire_open_map(writer);
    ENGINE_PACK_UINT(writer, "id", token->slot.id);
    ENGINE_PACK(writer, "taskId");
    write_node(writer, process, token->node);
    ENGINE_PACK_STRING(writer, "state", span_text(engine_token_state_name(token->state)));
    ENGINE_OPTIONAL_UINT("sequence", token->sequence);
    ENGINE_OPTIONAL_UINT("scope", token->scope == ENGINE_SCOPE_ROOT ? 0 : token->scope);
    /* How it came matters only as long as it has not entered. */
    bool outside = token->state == ENGINE_TOKEN_ARRIVED ||
                   (token->state == ENGINE_TOKEN_FAILED && token->resume == ENGINE_TOKEN_ARRIVED);
    if (token->flow != ENGINE_NONE && outside) {
        ENGINE_PACK(writer, "flow");
        write_flow(writer, process, token->flow);
        count++;
    }
    if (token->state == ENGINE_TOKEN_WAITING) {
        count += write_wait_pairs(execution, token, writer);
    }
    if (token->state == ENGINE_TOKEN_FAILED) {
        ENGINE_PACK_STRING(writer, "resume", span_text(engine_token_state_name(token->resume)));
        count++;
    }
    count += write_work_pairs(execution, token, writer);
    if (token->timers.count > 0) {
        ENGINE_PACK(writer, "timers");
        write_timers(execution, token, process, writer);
        count++;
    }
    if (token->subscriptions.count > 0) {
        ENGINE_PACK(writer, "subscriptions");
        write_subscriptions(execution, token, process, writer);
        count++;
    }
    if (token->answer.kind != ENGINE_ANSWER_NONE) {
        ENGINE_PACK(writer, "answer");
        write_answer(&token->answer, writer);
        count++;
    }
    wire_close_map(writer, mark, count);
}

static void write_tokens(const struct engine_execution *execution, struct wire_writer *writer)
{
    const struct engine_token *token = NULL;
    wire_write_array(writer, execution->token_count);
    while ((token = engine_token_next(execution, token)) != NULL) {
        engine_encode_token(execution, token, writer);
    }
}

/* ---- scopes ---- */

void engine_encode_joins(const struct engine_execution *execution, const struct engine_scope *scope,
                         struct wire_writer *writer)
{
    wire_write_array(writer, scope->joins.count);
    for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        bool current = join->segment == execution->segment && execution->segment_open;
        wire_write_array(writer, 4u + join->taken);
        write_flow(writer, scope->process, join->flow);
        engine_pack_uint(writer, join->count);
        engine_pack_uint(writer, current ? join->path : 0);
        wire_write_value(writer, join->output);
        if (join->taken) {
            wire_write_bool(writer, true);
        }
    }
}

static void write_results(const struct engine_execution *execution, const struct engine_scope *body,
                          struct wire_writer *writer)
{
    wire_write_array(writer, body->results.count);
    for (ENGINE_EACH(const struct engine_instance_result, result, &execution->results,
                     &body->results, ENGINE_LINK_FIRST)) {
        wire_write_array(writer, 2);
        engine_pack_uint(writer, result->instance);
        wire_write_value(writer, result->value);
    }
}

static void write_records(const struct engine_execution *execution,
                          const struct engine_scope *scope, struct wire_writer *writer)
{
    wire_write_array(writer, scope->records.count);
    for (ENGINE_EACH(const struct engine_record, record, &execution->records, &scope->records,
                     ENGINE_LINK_FIRST)) {
        wire_write_array(writer, 4);
        write_node(writer, scope->process, record->node);
        write_node(writer, scope->process, record->handler);
        engine_pack_uint(writer, record->inner);
        wire_write_value(writer, record->locals);
    }
}

/* What the blocks of a scheme came to; those that were never activated are left out. */
static uint32_t write_blocks(const struct engine_scope *scope, struct wire_writer *writer)
{
    const struct engine_process *process = scope->process;
    if (scope->blocks == NULL) {
        return 0;
    }
    uint32_t count = 0;
    ENGINE_PACK(writer, "blocks");
    size_t mark = wire_open_map(writer);
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (scope->blocks[i] != ENGINE_BLOCK_IDLE) {
            engine_pack_string(writer, process->nodes[i].id);
            wire_write_text(writer, engine_block_state_name(scope->blocks[i]));
            count++;
        }
    }
    wire_close_map(writer, mark, count);
    return 1;
}

static uint32_t write_body_pairs(const struct engine_execution *execution,
                                 const struct engine_scope *body, struct wire_writer *writer,
                                 bool whole)
{
    uint32_t count = 1;
    ENGINE_PACK_UINT(writer, "total", body->total);
    ENGINE_OPTIONAL_UINT("done", body->done);
    if (!whole) {
        return count;
    }
    ENGINE_OPTIONAL_VALUE("items", body->items);
    if (body->results.count > 0) {
        ENGINE_PACK(writer, "results");
        write_results(execution, body, writer);
        count++;
    }
    return count;
}

void engine_encode_scope(const struct engine_execution *execution, const struct engine_scope *scope,
                         bool whole, struct wire_writer *writer)
{
    uint32_t count = 3;
    size_t mark = wire_open_map(writer);
    ENGINE_PACK_UINT(writer, "id", scope->slot.id);
    ENGINE_PACK_UINT(writer, "parent", scope->parent);
    ENGINE_PACK_UINT(writer, "host", scope->host);
    if (scope->kind == ENGINE_SCOPE_CALLED) {
        ENGINE_PACK_STRING(writer, "process", scope->process->id);
        ENGINE_PACK_UINT(writer, "version", scope->process->version);
        count += 2;
    }
    if (scope->kind > ENGINE_SCOPE_CALLED) { /* the first kinds tell themselves */
        ENGINE_PACK_UINT(writer, "kind", scope->kind);
        count++;
    }
    count +=
        scope->kind == ENGINE_SCOPE_BODY ? write_body_pairs(execution, scope, writer, whole) : 0;
    ENGINE_OPTIONAL_UINT("begun", scope->begun);
    ENGINE_OPTIONAL_UINT("inner", scope->inner);
    ENGINE_OPTIONAL_VALUE("variables", scope->variables);
    ENGINE_OPTIONAL_VALUE("nodes", scope->nodes);
    count += whole ? write_blocks(scope, writer) : 0;
    if (whole && scope->records.count > 0) {
        ENGINE_PACK(writer, "records");
        write_records(execution, scope, writer);
        count++;
    }
    if (scope->joins.count > 0) {
        ENGINE_PACK(writer, "joins");
        engine_encode_joins(execution, scope, writer);
        count++;
    }
    wire_close_map(writer, mark, count);
}

/* All but the root, whose fields stand in the execution itself. */
static void write_scopes(const struct engine_execution *execution, struct wire_writer *writer)
{
    wire_write_array(writer, execution->scope_order.count - 1);
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (scope->slot.id != ENGINE_SCOPE_ROOT) {
            engine_encode_scope(execution, scope, true, writer);
        }
    }
}

/* ---- the whole ---- */

/* Identity, state, error: the head of both kinds of blob. */
uint32_t engine_encode_head(const struct engine_execution *execution, struct wire_writer *writer)
{
    uint32_t count = 7 + execution->identity_pairs;
    ENGINE_PACK_UINT(writer, "formatVersion", ENGINE_FORMAT_VERSION);
    engine_pack_raw(writer, execution->identity);
    ENGINE_PACK_UINT(writer, "run", execution->run);
    ENGINE_PACK_UINT(writer, "state", engine_state_of(execution));
    ENGINE_PACK_STRING(writer, "lifecycle",
                       span_text(engine_lifecycle_name(engine_lifecycle_of(execution))));
    ENGINE_PACK_UINT(writer, "sequence", execution->sequence);
    ENGINE_PACK_TIME(execution, writer, "startedAt", execution->started_ms);
    ENGINE_PACK_TIME(execution, writer, "updatedAt", execution->now_ms);
    ENGINE_OPTIONAL_TIME("endedAt", execution->ended_ms, execution->end != ENGINE_END_NONE);
    ENGINE_OPTIONAL_STRING("errorCode", execution->error_code);
    ENGINE_OPTIONAL_STRING("errorMessage", execution->error_message);
    ENGINE_OPTIONAL_STRING("errorTaskId", execution->error_task);
    return count;
}

uint32_t engine_encode_payloads(const struct engine_execution *execution,
                                struct wire_writer *writer)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    uint32_t count = 0;
    ENGINE_OPTIONAL_VALUE("request", execution->request);
    ENGINE_OPTIONAL_VALUE("response", execution->response);
    ENGINE_OPTIONAL_VALUE("context", execution->context);
    ENGINE_OPTIONAL_VALUE("module", execution->module);
    ENGINE_OPTIONAL_VALUE("output", execution->output);
    ENGINE_OPTIONAL_VALUE("__resume", execution->resume);
    ENGINE_OPTIONAL_VALUE("conversationHistories", execution->conversations);
    if (root != NULL) {
        ENGINE_OPTIONAL_VALUE("execution", root->variables);
        ENGINE_OPTIONAL_VALUE("nodes", root->nodes);
    }
    return count;
}

static uint32_t write_places(const struct engine_execution *execution, struct wire_writer *writer)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    uint32_t count = 0;
    if (execution->token_count > 0) {
        ENGINE_PACK(writer, "tokens");
        write_tokens(execution, writer);
        count++;
    }
    if (execution->scope_order.count > 1) {
        ENGINE_PACK(writer, "scopes");
        write_scopes(execution, writer);
        count++;
    }
    if (root != NULL && root->joins.count > 0) {
        ENGINE_PACK(writer, "joins");
        engine_encode_joins(execution, root, writer);
        count++;
    }
    if (root != NULL && root->records.count > 0) {
        ENGINE_PACK(writer, "records");
        write_records(execution, root, writer);
        count++;
    }
    return root == NULL ? count : count + write_blocks(root, writer);
}

static uint32_t flags_of(const struct engine_execution *execution)
{
    return (execution->suspended ? ENGINE_FLAG_SUSPENDED : 0u) |
           (execution->module_missing ? ENGINE_FLAG_MODULE_MISSING : 0u) |
           (execution->task_completed ? ENGINE_FLAG_TASK_COMPLETED : 0u) |
           (execution->segment_open ? ENGINE_FLAG_SEGMENT_OPEN : 0u) |
           (execution->resumed_untold ? ENGINE_FLAG_RESUMED_UNTOLD : 0u);
}

static uint32_t write_counters(const struct engine_execution *execution, struct wire_writer *writer)
{
    uint32_t count = 2;
    ENGINE_PACK_UINT(writer, "revision", execution->revision);
    ENGINE_PACK_UINT(writer, "eventSequence", execution->event_sequence);
    ENGINE_OPTIONAL_TIME("createdAt", execution->created_ms,
                         execution->created_ms != execution->started_ms);
    ENGINE_OPTIONAL_TIME("waitingSince", execution->waiting_since_ms,
                         execution->waiting_since_ms != 0 &&
                             execution->waiting_since_ms != execution->now_ms);
    ENGINE_OPTIONAL_UINT("end", execution->end);
    ENGINE_OPTIONAL_UINT("flags", flags_of(execution));
    ENGINE_OPTIONAL_UINT("segment", execution->segment == 1 ? 0 : execution->segment);
    ENGINE_OPTIONAL_UINT("callbackSegment", execution->callback_segment);
    ENGINE_OPTIONAL_UINT("tokenNext", execution->token_next == 2 ? 0 : execution->token_next);
    ENGINE_OPTIONAL_UINT("scopeNext", execution->scope_next == 2 ? 0 : execution->scope_next);
    ENGINE_OPTIONAL_UINT("callLast", execution->call_last);
    ENGINE_OPTIONAL_STRING("traceparent", execution->traceparent);
    ENGINE_OPTIONAL_STRING("startNode", execution->start_node);
    return count;
}

/* What a restart starts with, where that is no longer what is there; nil: nothing was given. */
static uint32_t write_first(const struct engine_execution *execution, struct wire_writer *writer)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    uint32_t count = 0;
    if (!span_equal(execution->first_request, execution->request)) {
        ENGINE_PACK(writer, "firstRequest");
        wire_write_value(writer, execution->first_request);
        count++;
    }
    if (!span_equal(execution->first_context, execution->context)) {
        ENGINE_PACK(writer, "firstContext");
        wire_write_value(writer, execution->first_context);
        count++;
    }
    if (root == NULL || !span_equal(execution->first_execution, root->variables)) {
        ENGINE_PACK(writer, "firstExecution");
        wire_write_value(writer, execution->first_execution);
        count++;
    }
    return count;
}

static uint32_t write_inbox(const struct engine_execution *execution, struct wire_writer *writer)
{
    if (execution->inbox_count == 0) {
        return 0;
    }
    ENGINE_PACK(writer, "inbox");
    wire_write_array(writer, execution->inbox_count);
    for (uint32_t i = 0; i < execution->inbox_count; i++) {
        wire_write_array(writer, 2);
        engine_pack_string(writer, execution->inbox[i].task_id);
        wire_write_value(writer, execution->inbox[i].content);
    }
    return 1;
}

static void write_history(const struct engine_history *history, struct wire_writer *writer)
{
    wire_write_array(writer, history->count);
    engine_pack_raw(writer, engine_history_run(history));
}

static uint32_t write_histories(const struct engine_execution *execution,
                                struct wire_writer *writer)
{
    uint32_t count = 0;
    if (execution->steps.count > 0) {
        ENGINE_PACK(writer, "executionMap");
        write_history(&execution->steps, writer);
        count++;
    }
    if (execution->logs.count > 0) {
        ENGINE_PACK(writer, "logs");
        write_history(&execution->logs, writer);
        count++;
    }
    ENGINE_OPTIONAL_UINT("logIndex", execution->log_last);
    ENGINE_OPTIONAL_UINT("lastPersistedLogIndex", execution->log_shipped);
    return count;
}

void engine_encode(const struct engine_execution *execution, struct wire_writer *writer)
{
    size_t mark = engine_pack_map_open(writer);
    uint32_t count = engine_encode_head(execution, writer);
    count += write_counters(execution, writer);
    count += engine_encode_payloads(execution, writer);
    count += write_first(execution, writer);
    count += write_places(execution, writer);
    count += write_inbox(execution, writer);
    count += write_histories(execution, writer);
    engine_pack_map_close(writer, mark, count);
}

/* ---- the creating event ---- */

struct span engine_encode_start(const struct engine_execution *execution, struct arena *arena)
{
    struct wire_writer out;
    struct wire_writer *writer = &out;
    wire_writer_init(writer, arena,
                     256 + execution->first_request.count + execution->first_context.count +
                         execution->first_execution.count);
    size_t mark = engine_pack_map_open(writer);
    uint32_t count = execution->identity_pairs;
    engine_pack_raw(writer, execution->identity);
    ENGINE_OPTIONAL_VALUE("request", execution->first_request);
    ENGINE_OPTIONAL_VALUE("context", execution->first_context);
    ENGINE_OPTIONAL_VALUE("execution", execution->first_execution);
    ENGINE_OPTIONAL_STRING("traceparent", execution->traceparent);
    ENGINE_OPTIONAL_STRING("startNode", execution->start_node);
    engine_pack_map_close(writer, mark, count);
    return wire_writer_span(writer);
}
