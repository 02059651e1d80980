/*
 * decode.c: an execution back from execution.msgpack, and from the creating event. Bytes come from
 * a store: each is checked, and what contradicts itself is RESULT_CORRUPT, never a crash.
 */
#include "engine/decode.h"

#include <stdlib.h>

#include "engine/decode_part.h"
#include "engine/element/element.h"
#include "engine/fields.h"
#include "engine/listen.h"
#include "engine/token.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

/* X(symbol, "key") */
#define SNAPSHOT_FIELDS(X)                                                                         \
    X(FORMAT_VERSION, "formatVersion")                                                             \
    X(EXECUTION_ID, "executionId")                                                                 \
    X(WORKSPACE_ID, "workspaceId")                                                                 \
    X(PROJECT_ID, "projectId")                                                                     \
    X(PROCESS, "process")                                                                          \
    X(VERSION, "version")                                                                          \
    X(CHANNEL, "channel")                                                                          \
    X(CHANNEL_SESSION_ID, "channelSessionId")                                                      \
    X(IS_TEST, "isTest")                                                                           \
    X(RUN, "run")                                                                                  \
    X(SEQUENCE, "sequence")                                                                        \
    X(STARTED_AT, "startedAt")                                                                     \
    X(UPDATED_AT, "updatedAt")                                                                     \
    X(ENDED_AT, "endedAt")                                                                         \
    X(ERROR_CODE, "errorCode")                                                                     \
    X(ERROR_MESSAGE, "errorMessage")                                                               \
    X(ERROR_TASK, "errorTaskId")                                                                   \
    X(REVISION, "revision")                                                                        \
    X(EVENT_SEQUENCE, "eventSequence")                                                             \
    X(CREATED_AT, "createdAt")                                                                     \
    X(WAITING_SINCE, "waitingSince")                                                               \
    X(END, "end")                                                                                  \
    X(FLAGS, "flags") X(SEGMENT, "segment") X(CALLBACK_SEGMENT, "callbackSegment")                 \
        X(TOKEN_NEXT, "tokenNext") X(SCOPE_NEXT, "scopeNext") X(CALL_LAST, "callLast")             \
            X(TRACEPARENT, "traceparent") X(START_NODE, "startNode") X(REQUEST, "request")         \
                X(RESPONSE, "response") X(CONTEXT, "context") X(MODULE, "module")                  \
                    X(OUTPUT, "output") X(RESUME, "__resume")                                      \
                        X(CONVERSATIONS, "conversationHistories") X(EXECUTION, "execution")        \
                            X(NODES, "nodes") X(FIRST_REQUEST, "firstRequest")                     \
                                X(FIRST_CONTEXT, "firstContext")                                   \
                                    X(FIRST_EXECUTION, "firstExecution") X(TOKENS, "tokens")       \
                                        X(SCOPES, "scopes") X(JOINS, "joins")                      \
                                            X(RECORDS, "records") X(INBOX, "inbox")                \
                                                X(BLOCKS, "blocks") X(STEPS, "executionMap")       \
                                                    X(LOGS, "logs") X(LOG_INDEX, "logIndex")       \
                                                        X(LOG_SHIPPED, "lastPersistedLogIndex")

#define FIELD_NAME(symbol, name)      ENGINE_NAME(name),
#define SNAPSHOT_SYMBOL(symbol, name) SNAPSHOT_##symbol,
enum { SNAPSHOT_FIELDS(SNAPSHOT_SYMBOL) SNAPSHOT_FIELD_COUNT };
static const struct span snapshot_names[] = {SNAPSHOT_FIELDS(FIELD_NAME)};

/* Depth of our own maps around a payload. */
enum { DECODE_DEPTH_OWN = 12 };

/* ---- values ---- */

struct span engine_decode_text(struct engine_execution *execution, struct span value)
{
    return engine_part_keep(execution, wire_string_or(value, ""));
}

/* Nil stands for an empty payload where a key says that it is empty. */
struct span engine_decode_no_nil(struct span value)
{
    return wire_head(value).type == WIRE_NIL ? SPAN_EMPTY : value;
}

bool engine_decode_u32(struct span value, uint32_t fallback, uint32_t *out)
{
    uint64_t number;
    bool taken = engine_fields_uint(value, fallback, UINT32_MAX, &number);
    *out = (uint32_t)number;
    return taken;
}

bool engine_decode_u8(struct span value, uint8_t most, uint8_t *out)
{
    uint64_t number;
    bool taken = engine_fields_uint(value, 0, most, &number);
    *out = (uint8_t)number;
    return taken;
}

bool engine_decode_node(const struct engine_process *process, struct span value, uint32_t *node)
{
    if (wire_is(value, WIRE_STRING)) {
        const struct engine_node *found = engine_process_node(process, wire_string_or(value, ""));
        *node = found == NULL ? ENGINE_NONE : found->index;
        return found != NULL;
    }
    return value.count > 0 && engine_decode_u32(value, ENGINE_NONE, node) &&
           *node < process->node_count;
}

bool engine_decode_flow(const struct engine_process *process, struct span value, uint32_t *flow)
{
    if (!wire_is(value, WIRE_STRING)) {
        return value.count > 0 && engine_decode_u32(value, ENGINE_NONE, flow) &&
               *flow < process->flow_count;
    }
    struct span id = wire_string_or(value, "");
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (span_equal(process->flows[i].id, id)) {
            *flow = i;
            return true;
        }
    }
    return false;
}

/* ---- the rest ---- */

static enum result read_counters(struct engine_execution *execution, const struct span *fields)
{
    uint64_t number;
    int64_t time_ms;
    uint32_t flags;
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_RUN], 0, &execution->run));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_SEQUENCE], 0, &execution->sequence));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_REVISION], 0, &execution->revision));
    REQUIRE(engine_fields_uint(fields[SNAPSHOT_EVENT_SEQUENCE], 0, UINT64_MAX,
                               &execution->event_sequence));
    REQUIRE((execution->run > 0) == (execution->event_sequence > 0));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_SEGMENT], execution->run > 0, &execution->segment));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_CALLBACK_SEGMENT], 0, &execution->callback_segment));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_TOKEN_NEXT], 2, &execution->token_next));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_SCOPE_NEXT], 2, &execution->scope_next));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_CALL_LAST], 0, &execution->call_last));
    REQUIRE(engine_decode_u8(fields[SNAPSHOT_END], ENGINE_END_ABORTED, &execution->end));
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_FLAGS], 0, &flags));
    execution->suspended = (flags & ENGINE_FLAG_SUSPENDED) != 0;
    execution->module_missing = (flags & ENGINE_FLAG_MODULE_MISSING) != 0;
    execution->task_completed = (flags & ENGINE_FLAG_TASK_COMPLETED) != 0;
    execution->segment_open = (flags & ENGINE_FLAG_SEGMENT_OPEN) != 0;
    execution->resumed_untold = (flags & ENGINE_FLAG_RESUMED_UNTOLD) != 0;
    REQUIRE(fields[SNAPSHOT_STARTED_AT].count > 0 &&
            engine_fields_time(fields[SNAPSHOT_STARTED_AT], 0, &time_ms));
    engine_execution_set_started(execution, time_ms);
    REQUIRE(fields[SNAPSHOT_UPDATED_AT].count > 0 &&
            engine_fields_time(fields[SNAPSHOT_UPDATED_AT], 0, &time_ms));
    engine_execution_set_now(execution, time_ms);
    REQUIRE(engine_fields_time(fields[SNAPSHOT_CREATED_AT], execution->started_ms,
                               &execution->created_ms));
    REQUIRE(engine_fields_time(fields[SNAPSHOT_ENDED_AT], 0, &execution->ended_ms));
    bool waits =
        execution->run > 0 && !execution->segment_open && execution->end == ENGINE_END_NONE;
    REQUIRE(engine_fields_time(fields[SNAPSHOT_WAITING_SINCE], waits ? execution->now_ms : 0,
                               &execution->waiting_since_ms));
    REQUIRE(engine_fields_uint(fields[SNAPSHOT_LOG_INDEX], 0, UINT64_MAX, &execution->log_last));
    REQUIRE(engine_fields_uint(fields[SNAPSHOT_LOG_SHIPPED], 0, execution->log_last, &number));
    execution->log_shipped = number;
    return RESULT_OK;
}

static enum result read_payloads(struct engine_execution *execution, const struct span *fields)
{
    static const uint8_t maps[] = {SNAPSHOT_REQUEST,  SNAPSHOT_RESPONSE, SNAPSHOT_CONTEXT,
                                   SNAPSHOT_MODULE,   SNAPSHOT_NODES,    SNAPSHOT_CONVERSATIONS,
                                   SNAPSHOT_EXECUTION};
    for (size_t i = 0; i < sizeof maps; i++) {
        REQUIRE(engine_fields_is(fields[maps[i]], WIRE_MAP));
    }
    execution->request = engine_part_keep(execution, fields[SNAPSHOT_REQUEST]);
    execution->response = engine_part_keep(execution, fields[SNAPSHOT_RESPONSE]);
    execution->context = engine_part_keep(execution, fields[SNAPSHOT_CONTEXT]);
    execution->module = engine_part_keep(execution, fields[SNAPSHOT_MODULE]);
    execution->output = engine_part_keep(execution, fields[SNAPSHOT_OUTPUT]);
    execution->resume = engine_part_keep(execution, fields[SNAPSHOT_RESUME]);
    execution->conversations = engine_part_keep(execution, fields[SNAPSHOT_CONVERSATIONS]);
    execution->error_code = engine_decode_text(execution, fields[SNAPSHOT_ERROR_CODE]);
    execution->error_message = engine_decode_text(execution, fields[SNAPSHOT_ERROR_MESSAGE]);
    execution->error_task = engine_decode_text(execution, fields[SNAPSHOT_ERROR_TASK]);
    return RESULT_OK;
}

/* What a restart starts with: said only where it is not what is there. */
static void read_first(struct engine_execution *execution, const struct span *fields)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct span first = fields[SNAPSHOT_FIRST_REQUEST];
    execution->first_request = first.count == 0
                                   ? execution->request
                                   : engine_part_keep(execution, engine_decode_no_nil(first));
    first = fields[SNAPSHOT_FIRST_CONTEXT];
    execution->first_context = first.count == 0
                                   ? execution->context
                                   : engine_part_keep(execution, engine_decode_no_nil(first));
    first = fields[SNAPSHOT_FIRST_EXECUTION];
    execution->first_execution = first.count == 0 && root != NULL
                                     ? root->variables
                                     : engine_part_keep(execution, engine_decode_no_nil(first));
}

static enum result read_inbox(struct engine_execution *execution, struct span inbox)
{
    struct wire_map_walk walk = wire_array_begin(inbox);
    struct span row;
    uint32_t count = wire_count(inbox);
    REQUIRE(engine_fields_is(inbox, WIRE_ARRAY) && count <= ENGINE_INBOX_MAX);
    if (count == 0) {
        return RESULT_OK;
    }
    execution->inbox = arena_alloc(&execution->memory, count * sizeof execution->inbox[0]);
    if (execution->inbox == NULL) {
        return RESULT_LIMIT;
    }
    execution->inbox_capacity = count;
    while (wire_array_next(&walk, &row)) {
        REQUIRE(wire_is(row, WIRE_ARRAY) && wire_count(wire_at(row, 1)) == 3);
        execution->inbox[execution->inbox_count++] =
            (struct engine_kept_callback){engine_decode_text(execution, wire_at(row, 0)),
                                          engine_part_keep(execution, wire_at(row, 1))};
    }
    return RESULT_OK;
}

/* The objects of an ARRAY value, without its head. *newest_bytes: those of the last `newest` ones.
 */
static enum result read_history(struct engine_execution *execution, struct engine_history *history,
                                struct span array, uint64_t newest, size_t *newest_bytes)
{
    struct wire_map_walk walk = wire_array_begin(array);
    uint32_t count = wire_count(array);
    struct span entry;
    *newest_bytes = 0;
    REQUIRE(engine_fields_is(array, WIRE_ARRAY));
    struct span run = span_of(walk.cursor.next, (size_t)(walk.cursor.end - walk.cursor.next));
    for (uint32_t i = 0; wire_array_next(&walk, &entry); i++) {
        REQUIRE(wire_is(entry, WIRE_MAP));
        if (count - i <= newest) {
            *newest_bytes += entry.count;
        }
    }
    if (count > 0 && !engine_history_load(history, &execution->memory, run, count)) {
        return RESULT_LIMIT;
    }
    return RESULT_OK;
}

static enum result read_histories(struct engine_execution *execution, const struct span *fields)
{
    REQUIRE(wire_count(fields[SNAPSHOT_STEPS]) <= execution->sequence);
    enum result result = read_history(execution, &execution->steps, fields[SNAPSHOT_STEPS], 1,
                                      &execution->step_last_bytes);
    return result != RESULT_OK ? result
                               : read_history(execution, &execution->logs, fields[SNAPSHOT_LOGS],
                                              execution->log_last - execution->log_shipped,
                                              &execution->log_unshipped_bytes);
}

static enum result read_scopes(struct engine_execution *execution, const struct span *fields)
{
    const struct engine_decode_scopes from = {.variables = fields[SNAPSHOT_EXECUTION],
                                              .nodes = fields[SNAPSHOT_NODES],
                                              .joins = fields[SNAPSHOT_JOINS],
                                              .records = fields[SNAPSHOT_RECORDS],
                                              .blocks = fields[SNAPSHOT_BLOCKS],
                                              .inner = fields[SNAPSHOT_SCOPES]};
    return engine_decode_scopes(execution, &from);
}

static enum result read_all(struct engine_execution *execution, const struct span *fields)
{
    enum result result = read_counters(execution, fields);
    result = result != RESULT_OK ? result : read_payloads(execution, fields);
    result = result != RESULT_OK ? result : read_scopes(execution, fields);
    result =
        result != RESULT_OK ? result : engine_decode_tokens(execution, fields[SNAPSHOT_TOKENS]);
    result = result != RESULT_OK ? result : read_inbox(execution, fields[SNAPSHOT_INBOX]);
    result = result != RESULT_OK ? result : read_histories(execution, fields);
    if (result != RESULT_OK) {
        return result;
    }
    read_first(execution, fields);
    execution->due_known = false;
    engine_execution_refresh_due(execution);
    return execution->memory.overflowed ? RESULT_LIMIT : RESULT_OK;
}

/* ---- making it ---- */

/* Identity and start payloads; RESULT_NOT_FOUND when the catalog lacks the process version. */
static enum result read_start(const struct engine_catalog *catalog, const struct span *fields,
                              struct engine_start *start)
{
    uint32_t version;
    memset(start, 0, sizeof *start);
    REQUIRE(execution_id_parse(wire_string_or(fields[SNAPSHOT_EXECUTION_ID], ""), &start->id) ==
            RESULT_OK);
    REQUIRE(engine_decode_u32(fields[SNAPSHOT_VERSION], 0, &version));
    start->workspace = wire_string_or(fields[SNAPSHOT_WORKSPACE_ID], "");
    start->project = wire_string_or(fields[SNAPSHOT_PROJECT_ID], "");
    start->channel = wire_string_or(fields[SNAPSHOT_CHANNEL], "");
    start->channel_session_id = wire_string_or(fields[SNAPSHOT_CHANNEL_SESSION_ID], "");
    start->traceparent = wire_string_or(fields[SNAPSHOT_TRACEPARENT], "");
    start->start_node = wire_string_or(fields[SNAPSHOT_START_NODE], "");
    start->is_test = wire_bool_or(fields[SNAPSHOT_IS_TEST], false);
    start->process = catalog->process(catalog, start->project,
                                      wire_string_or(fields[SNAPSHOT_PROCESS], ""), version);
    return start->process == NULL ? RESULT_NOT_FOUND : RESULT_OK;
}

enum result engine_decode(const struct engine_catalog *catalog, struct span bytes,
                          struct engine_execution **out)
{
    struct span fields[SNAPSHOT_FIELD_COUNT];
    struct engine_start start;
    size_t offset;
    const char *reason;
    *out = NULL;
    if (wire_validate(bytes, LIMIT_DEPTH + DECODE_DEPTH_OWN, &offset, &reason) != RESULT_OK ||
        !wire_is(bytes, WIRE_MAP)) {
        return RESULT_INVALID;
    }
    engine_fields_read(bytes, snapshot_names, SNAPSHOT_FIELD_COUNT, fields);
    if (wire_int_or(fields[SNAPSHOT_FORMAT_VERSION], 0) != ENGINE_FORMAT_VERSION) {
        return RESULT_INVALID;
    }
    enum result result = read_start(catalog, fields, &start);
    if (result != RESULT_OK) {
        return result;
    }
    struct engine_execution *execution = engine_execution_make(catalog, &start, 0);
    if (execution == NULL) {
        return RESULT_LIMIT;
    }
    result = read_all(execution, fields);
    if (result != RESULT_OK) {
        engine_free(execution);
        return result;
    }
    *out = execution;
    return RESULT_OK;
}

enum result engine_decode_start(const struct engine_catalog *catalog, struct span value,
                                int64_t created_ms, struct engine_execution **out)
{
    struct span fields[SNAPSHOT_FIELD_COUNT];
    struct engine_start start;
    *out = NULL;
    REQUIRE(wire_is(value, WIRE_MAP));
    engine_fields_read(value, snapshot_names, SNAPSHOT_FIELD_COUNT, fields);
    enum result result = read_start(catalog, fields, &start);
    if (result != RESULT_OK) {
        return result;
    }
    start.request = fields[SNAPSHOT_REQUEST];
    start.context = fields[SNAPSHOT_CONTEXT];
    start.execution = fields[SNAPSHOT_EXECUTION];
    REQUIRE(engine_fields_is(start.request, WIRE_MAP) &&
            engine_fields_is(start.context, WIRE_MAP) &&
            engine_fields_is(start.execution, WIRE_MAP));
    *out = engine_execution_make(catalog, &start, created_ms);
    return *out == NULL ? RESULT_LIMIT : RESULT_OK;
}
