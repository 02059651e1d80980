/*
 * reply.c: what callers are told of an execution: reply fields, human tasks.
 */
#include "engine/reply.h"

#include <stdlib.h>

#include "engine/encode.h"
#include "engine/state.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

static void write_step_id(const struct engine_execution *execution, uint32_t sequence,
                          struct wire_writer *writer)
{
    char step_id[UUID_TEXT_BYTES + 1];
    uuid_format(engine_step_id(execution, sequence), step_id);
    ENGINE_PACK_STRING(writer, "stepId", span_of(step_id, UUID_TEXT_BYTES));
}

static void write_waiting_one(const struct engine_execution *execution,
                              const struct engine_token *token, struct wire_writer *writer)
{
    bool due = token->due_ms != ENGINE_NO_DUE;
    wire_write_map(writer, 4u + due);
    ENGINE_PACK_STRING(writer, "taskId", engine_token_node(execution, token)->id);
    ENGINE_PACK_STRING(writer, "kind", span_text(engine_wait_name(token->wait)));
    ENGINE_PACK_TIME(execution, writer, "since", token->since_ms);
    if (due) {
        ENGINE_PACK_TIME(execution, writer, "dueAt", token->due_ms);
    }
    write_step_id(execution, token->sequence, writer);
}

void engine_reply_waiting(const struct engine_execution *execution, struct wire_writer *writer)
{
    size_t mark = wire_open_array(writer);
    uint32_t count = 0;
    if (execution->end == ENGINE_END_NONE) {
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                         ENGINE_LINK_QUEUE)) {
            if (token->state == ENGINE_TOKEN_WAITING) {
                write_waiting_one(execution, token, writer);
                count++;
            }
        }
    }
    wire_close_array(writer, mark, count);
}

static void write_error(const struct engine_execution *execution, struct span code,
                        struct wire_writer *writer)
{
    bool task = execution->error_task.count > 0;
    wire_write_map(writer, 2u + task);
    ENGINE_PACK_STRING(writer, "code", code);
    ENGINE_PACK_STRING(writer, "message", execution->error_message);
    if (task) {
        ENGINE_PACK_STRING(writer, "taskId", execution->error_task);
    }
}

uint32_t engine_reply_pairs(const struct engine_execution *execution, struct wire_writer *writer)
{
    uint8_t state = engine_state_of(execution);
    struct span error = engine_state_error(execution);
    uint32_t count = 10;
    ENGINE_PACK_STRING(writer, "executionId", execution_id_span(&execution->id));
    ENGINE_PACK_STRING(writer, "process", execution->process->id);
    ENGINE_PACK_UINT(writer, "version", execution->process->version);
    ENGINE_PACK_UINT(writer, "state", state);
    ENGINE_PACK_STRING(writer, "status", span_text(engine_status_name(state)));
    ENGINE_PACK_STRING(writer, "lifecycle",
                       span_text(engine_lifecycle_name(engine_lifecycle_of(execution))));
    ENGINE_PACK_UINT(writer, "run", execution->run);
    ENGINE_PACK_UINT(writer, "sequence", execution->sequence);
    ENGINE_PACK(writer, "waiting");
    engine_reply_waiting(execution, writer);
    ENGINE_PACK(writer, "response");
    wire_write_value(writer, execution->response);
    if (execution->output.count > 0) {
        ENGINE_PACK_VALUE(writer, "output", execution->output);
        count++;
    }
    /* The lifecycle of a wait is Suspended, too: this is the operator's. */
    if (execution->suspended) {
        ENGINE_PACK(writer, "suspended");
        wire_write_bool(writer, true);
        count++;
    }
    if (error.count > 0) {
        ENGINE_PACK(writer, "error");
        write_error(execution, error, writer);
        count++;
    }
    return count;
}

/* ---- executionMap ---- */

/* One entry; what history has let go of has its id alone. */
static void write_step(const struct engine_execution *execution, uint32_t sequence,
                       struct span entry, bool under_way, struct wire_writer *writer)
{
    struct wire_map_walk walk = wire_map_begin(entry);
    struct span key, value;
    bool known = entry.count > 0;
    wire_write_map(writer, 1 + under_way + (known ? wire_count(entry) : 1));
    write_step_id(execution, sequence, writer);
    while (wire_map_next(&walk, &key, &value)) {
        wire_write_string(writer, key);
        wire_write_raw(writer, value);
    }
    if (!known) {
        ENGINE_PACK_UINT(writer, "sequence", sequence);
    }
    if (under_way) {
        wire_pair_bool(writer, "underWay", true);
    }
}

void engine_steps(const struct engine_execution *execution, struct wire_writer *writer)
{
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    struct span entry;
    wire_write_array(writer, execution->steps.count);
    for (uint32_t i = 0; i < execution->steps.count && wire_take(&cursor, &entry) == RESULT_OK;
         i++) {
        uint32_t sequence = execution->sequence - execution->steps.count + 1 + i;
        write_step(execution, sequence, entry, false, writer);
    }
}

/* Is a token at work in it whose blob is still to come? */
static bool is_under_way(const struct engine_execution *execution, uint32_t sequence)
{
    const struct engine_token *token = NULL;
    if (execution->end != ENGINE_END_NONE) {
        return false;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (token->sequence == sequence && !token->shown && token->state != ENGINE_TOKEN_ARRIVED) {
            return true;
        }
    }
    return false;
}

void engine_steps_from(const struct engine_execution *execution, uint32_t from, uint32_t count,
                       struct wire_writer *writer)
{
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    uint32_t oldest = execution->sequence - execution->steps.count + 1;
    ASSERT(from > 0 && from + count <= execution->sequence + 1);
    wire_write_array(writer, count);
    for (uint32_t i = oldest; i < from; i++) {
        enum result skipped = wire_skip(&cursor);
        ASSERT(skipped == RESULT_OK);
    }
    for (uint32_t sequence = from; sequence < from + count; sequence++) {
        struct span entry = SPAN_EMPTY;
        if (sequence >= oldest) {
            enum result taken = wire_take(&cursor, &entry);
            ASSERT(taken == RESULT_OK);
        }
        write_step(execution, sequence, entry, is_under_way(execution, sequence), writer);
    }
}

/* ---- human tasks ---- */

static const char *const detail_keys[] = {"assignee", "candidateGroups", "candidateUsers",
                                          "formKey", "dueAt"};

static void write_task(const struct engine_execution *execution, const struct engine_token *token,
                       struct wire_writer *writer)
{
    const struct engine_scope *scope =
        engine_scope_of_process(execution, engine_scope_find(execution, token->scope));
    const struct engine_node *node = engine_token_node(execution, token);
    uint32_t count = 8;
    size_t mark = wire_open_map(writer);
    ENGINE_PACK_STRING(writer, "executionId", execution_id_span(&execution->id));
    ENGINE_PACK_STRING(writer, "process", execution->process->id);
    ENGINE_PACK_STRING(writer, "taskId", node->id);
    write_step_id(execution, token->sequence, writer);
    ENGINE_PACK_UINT(writer, "sequence", token->sequence);
    ENGINE_PACK_STRING(writer, "taskName", node->name);
    ENGINE_PACK_TIME(execution, writer, "since", token->since_ms);
    for (size_t i = 0; i < sizeof detail_keys / sizeof detail_keys[0]; i++) {
        struct span value = wire_find_text(token->detail, detail_keys[i]);
        if (value.count > 0) {
            wire_pair_value(writer, detail_keys[i], value);
            count++;
        }
    }
    /* What the person needs to see: the task's own inputs, else all variables. */
    struct span data = token->local.count > 0 ? token->local : scope->variables;
    if (token->own.count > 0) {
        data = wire_merge(writer->arena, data, token->own);
    }
    ENGINE_PACK(writer, "data");
    if (data.count > 0) {
        engine_pack_raw(writer, data);
    } else {
        wire_write_map(writer, 0);
    }
    wire_close_map(writer, mark, count);
}

static int by_sequence(const void *left, const void *right)
{
    const struct engine_token *a = *(const struct engine_token *const *)left;
    const struct engine_token *b = *(const struct engine_token *const *)right;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

uint32_t engine_tasks(const struct engine_execution *execution, struct wire_writer *writer)
{
    uint32_t count = 0, waits = execution->wait_counts[ENGINE_WAIT_HUMAN];
    if (execution->end != ENGINE_END_NONE || waits == 0) {
        return 0;
    }
    const struct engine_token **tokens = arena_alloc(writer->arena, waits * sizeof(void *));
    if (tokens == NULL) {
        return 0;
    }
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                     ENGINE_LINK_QUEUE)) {
        if (token->state == ENGINE_TOKEN_WAITING && token->wait == ENGINE_WAIT_HUMAN) {
            ASSERT(count < waits);
            tokens[count++] = token;
        }
    }
    qsort(tokens, count, sizeof(void *), by_sequence);
    for (uint32_t i = 0; i < count; i++) {
        write_task(execution, tokens[i], writer);
    }
    return count;
}
