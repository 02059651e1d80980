/*
 * decode.c: an execution back from execution.msgpack, and from the creating event. Bytes come from
 * a store: each is checked, and what contradicts itself is RESULT_CORRUPT, never a crash.
 */
#include "engine/decode.h"

#include <stdlib.h>

#include "engine/apply_part.h"
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
    X(WAITING_SINCE, "waitingSince") X(END, "end") X(FLAGS, "flags") X(SEGMENT, "segment")         \
        X(CALLBACK_SEGMENT, "callbackSegment") X(TOKEN_NEXT, "tokenNext")                          \
            X(SCOPE_NEXT, "scopeNext") X(CALL_LAST, "callLast") X(TRACEPARENT, "traceparent")      \
                X(START_NODE, "startNode") X(REQUEST, "request") X(RESPONSE, "response")           \
                    X(CONTEXT, "context") X(MODULE, "module") X(OUTPUT, "output")                  \
                        X(RESUME, "__resume") X(CONVERSATIONS, "conversationHistories")            \
                            X(EXECUTION, "execution") X(NODES, "nodes")                            \
                                X(FIRST_REQUEST, "firstRequest") X(FIRST_CONTEXT, "firstContext")  \
                                    X(FIRST_EXECUTION, "firstExecution") X(TOKENS, "tokens")       \
                                        X(SCOPES, "scopes") X(JOINS, "joins")                      \
                                            X(RECORDS, "records") X(INBOX, "inbox")                \
                                                X(BLOCKS, "blocks") X(STEPS, "executionMap")       \
                                                    X(LOGS, "logs") X(LOG_INDEX, "logIndex")       \
                                                        X(LOG_SHIPPED, "lastPersistedLogIndex")

#define TOKEN_FIELDS(X)                                                                            \
    X(ID, "id")                                                                                    \
    X(TASK, "taskId")                                                                              \
    X(STATE, "state")                                                                              \
    X(SEQUENCE, "sequence")                                                                        \
    X(SCOPE, "scope")                                                                              \
    X(FLOW, "flow")                                                                                \
    X(WAIT, "wait")                                                                                \
    X(SINCE, "since")                                                                              \
    X(DUE, "dueAt")                                                                                \
    X(DETAIL, "detail")                                                                            \
    X(RESUME, "resume")                                                                            \
    X(PATH, "path")                                                                                \
    X(ATTEMPTS, "attempts")                                                                        \
    X(ATTEMPTS_BEFORE, "attemptsBefore")                                                           \
    X(RETRIES, "retries")                                                                          \
    X(CALLBACKS, "callbacks")                                                                      \
    X(CALL, "call")                                                                                \
    X(PHASE, "phase")                                                                              \
    X(CHILD, "child")                                                                              \
    X(INSTANCE, "instance")                                                                        \
    X(SHOWN, "shown") X(ARMED, "armed") X(GUARD, "guard") X(OWN, "own") X(LOCAL, "local")          \
        X(OUTPUT, "output") X(CALLBACK, "callback") X(GAVE_OUTPUT, "gaveOutput")                   \
            X(TIMERS, "timers") X(SUBSCRIPTIONS, "subscriptions") X(ANSWER, "answer")              \
                X(CALLED, "calledAt") X(ANSWERED, "answeredAt")

#define SCOPE_FIELDS(X)                                                                            \
    X(ID, "id")                                                                                    \
    X(PARENT, "parent")                                                                            \
    X(HOST, "host")                                                                                \
    X(PROCESS, "process")                                                                          \
    X(VERSION, "version")                                                                          \
    X(KIND, "kind")                                                                                \
    X(TOTAL, "total")                                                                              \
    X(BEGUN, "begun")                                                                              \
    X(DONE, "done")                                                                                \
    X(ITEMS, "items")                                                                              \
    X(INNER, "inner")                                                                              \
    X(RESULTS, "results")                                                                          \
    X(VARIABLES, "variables")                                                                      \
    X(NODES, "nodes") X(JOINS, "joins") X(RECORDS, "records") X(BLOCKS, "blocks")

#define TIMER_FIELDS(X)                                                                            \
    X(TASK, "taskId")                                                                              \
    X(ARMED_AT, "armedAt")                                                                         \
    X(DUE_AT, "dueAt")                                                                             \
    X(DEFINITION, "definition")                                                                    \
    X(FIRED, "fired")                                                                              \
    X(CYCLE, "cycl"                                                                                \
             "e")

#define SUBSCRIPTION_FIELDS(X)                                                                     \
    X(TASK, "taskId")                                                                              \
    X(KIND, "kind")                                                                                \
    X(DEFINITION, "definition")                                                                    \
    X(HELD, "held")                                                                                \
    X(NAME, "name")                                                                                \
    X(KEY, "key") X(TOLD, "told") X(PAYLOAD, "payload")

#define ANSWER_FIELDS(X)                                                                           \
    X(KIND, "kind")                                                                                \
    X(OUTCOME, "outcome")                                                                          \
    X(PHASE, "phase")                                                                              \
    X(STATUS, "status")                                                                            \
    X(RETRY_AFTER, "retryAfterMs")                                                                 \
    X(BODY, "body") X(OUTPUT, "output") X(ERROR, "error") X(REASON, "reason")

#define FIELD_NAME(symbol, name)          ENGINE_NAME(name),
#define SNAPSHOT_SYMBOL(symbol, name)     SNAPSHOT_##symbol,
#define TOKEN_SYMBOL(symbol, name)        TOKEN_##symbol,
#define SCOPE_SYMBOL(symbol, name)        SCOPE_##symbol,
#define TIMER_SYMBOL(symbol, name)        TIMER_##symbol,
#define ANSWER_SYMBOL(symbol, name)       ANSWER_##symbol,
#define SUBSCRIPTION_SYMBOL(symbol, name) SUBSCRIPTION_##symbol,
enum { SNAPSHOT_FIELDS(SNAPSHOT_SYMBOL) SNAPSHOT_FIELD_COUNT };
enum { TOKEN_FIELDS(TOKEN_SYMBOL) TOKEN_FIELD_COUNT };
enum { SCOPE_FIELDS(SCOPE_SYMBOL) SCOPE_FIELD_COUNT };
enum { TIMER_FIELDS(TIMER_SYMBOL) TIMER_FIELD_COUNT };
enum { ANSWER_FIELDS(ANSWER_SYMBOL) ANSWER_FIELD_COUNT };
enum { SUBSCRIPTION_FIELDS(SUBSCRIPTION_SYMBOL) SUBSCRIPTION_FIELD_COUNT };
static const struct span snapshot_names[] = {SNAPSHOT_FIELDS(FIELD_NAME)};
static const struct span token_names[] = {TOKEN_FIELDS(FIELD_NAME)};
static const struct span scope_names[] = {SCOPE_FIELDS(FIELD_NAME)};
static const struct span timer_names[] = {TIMER_FIELDS(FIELD_NAME)};
static const struct span answer_names[] = {ANSWER_FIELDS(FIELD_NAME)};
static const struct span subscription_names[] = {SUBSCRIPTION_FIELDS(FIELD_NAME)};

/* Depth of our own maps around a payload. */
enum { DECODE_DEPTH_OWN = 12 };

static struct span keep_text(struct engine_execution *execution, struct span value)
{
    return engine_part_keep(execution, wire_string_or(value, ""));
}

/* Nil stands for an empty payload where a key says that it is empty. */
static struct span without_nil(struct span value)
{
    return wire_head(value).type == WIRE_NIL ? SPAN_EMPTY : value;
}

static bool take_u32(struct span value, uint32_t fallback, uint32_t *out)
{
    uint64_t number;
    bool taken = engine_fields_uint(value, fallback, UINT32_MAX, &number);
    *out = (uint32_t)number;
    return taken;
}

static bool take_u8(struct span value, uint8_t most, uint8_t *out)
{
    uint64_t number;
    bool taken = engine_fields_uint(value, 0, most, &number);
    *out = (uint8_t)number;
    return taken;
}

static bool find_node(const struct engine_process *process, struct span value, uint32_t *node)
{
    if (wire_is(value, WIRE_STRING)) {
        const struct engine_node *found = engine_process_node(process, wire_string_or(value, ""));
        *node = found == NULL ? ENGINE_NONE : found->index;
        return found != NULL;
    }
    return value.count > 0 && take_u32(value, ENGINE_NONE, node) && *node < process->node_count;
}

static bool find_flow(const struct engine_process *process, struct span value, uint32_t *flow)
{
    if (!wire_is(value, WIRE_STRING)) {
        return value.count > 0 && take_u32(value, ENGINE_NONE, flow) && *flow < process->flow_count;
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

/* ---- scopes and joins ---- */

static enum result read_joins(struct engine_execution *execution, struct engine_scope *scope,
                              struct span joins)
{
    struct wire_map_walk walk = wire_array_begin(joins);
    struct span row;
    REQUIRE(engine_fields_is(joins, WIRE_ARRAY));
    while (wire_array_next(&walk, &row)) {
        uint32_t flow, count, path;
        REQUIRE(wire_is(row, WIRE_ARRAY) && find_flow(scope->process, wire_at(row, 0), &flow));
        REQUIRE(take_u32(wire_at(row, 1), 0, &count) && take_u32(wire_at(row, 2), 0, &path));
        bool taken = wire_bool_or(wire_at(row, 4), false);
        REQUIRE((count > 0 || taken) && count <= LIMIT_TOKENS &&
                engine_join_find(execution, scope, flow) == NULL);
        REQUIRE(!taken || scope->process->nodes[scope->process->flows[flow].target].kind ==
                              ENGINE_COMPLEX_GATEWAY);
        struct engine_join_tokens *join = engine_part_add_join(execution, scope, flow);
        if (join == NULL) {
            return RESULT_LIMIT;
        }
        join->count = count;
        join->taken = taken;
        join->path = path;
        join->output = engine_part_keep(execution, without_nil(wire_at(row, 3)));
        scope->live += count;
    }
    return RESULT_OK;
}

static enum result read_records(struct engine_execution *execution, struct engine_scope *scope,
                                struct span records)
{
    struct wire_map_walk walk = wire_array_begin(records);
    struct span row;
    REQUIRE(engine_fields_is(records, WIRE_ARRAY));
    while (wire_array_next(&walk, &row)) {
        uint32_t node, handler;
        REQUIRE(wire_is(row, WIRE_ARRAY) && find_node(scope->process, wire_at(row, 0), &node) &&
                find_node(scope->process, wire_at(row, 1), &handler));
        struct span locals = without_nil(wire_at(row, 3));
        uint32_t inner;
        REQUIRE(take_u32(wire_at(row, 2), 0, &inner) && inner <= scope->records.count);
        REQUIRE(engine_fields_is(locals, WIRE_MAP));
        struct engine_record *record = engine_part_add_record(execution, scope, node, handler);
        if (record == NULL) {
            return RESULT_LIMIT;
        }
        record->inner = inner;
        record->locals = engine_part_keep(execution, locals);
    }
    REQUIRE(scope->inner <= scope->records.count);
    return RESULT_OK;
}

static enum result read_blocks(struct engine_execution *execution, struct engine_scope *scope,
                               struct span blocks)
{
    struct wire_map_walk walk = wire_map_begin(blocks);
    struct span key, value;
    REQUIRE(engine_fields_is(blocks, WIRE_MAP));
    if (scope->blocks == NULL) { /* no scheme, or no memory for it */
        REQUIRE(blocks.count == 0 || execution->memory.overflowed);
        return RESULT_OK;
    }
    while (wire_map_next(&walk, &key, &value)) {
        const struct engine_node *node = engine_process_node(scope->process, key);
        enum engine_block_state state = engine_block_state_parse(wire_string_or(value, ""));
        REQUIRE(node != NULL && state != ENGINE_BLOCK_IDLE);
        scope->blocks[node->index] = (uint8_t)state;
    }
    return RESULT_OK;
}

static enum result read_body(struct engine_execution *execution, struct engine_scope *body,
                             const struct span *fields)
{
    struct wire_map_walk walk = wire_array_begin(fields[SCOPE_RESULTS]);
    struct span row;
    uint32_t instance;
    REQUIRE(take_u32(fields[SCOPE_TOTAL], 0, &body->total));
    REQUIRE(body->begun <= body->total);
    REQUIRE(take_u32(fields[SCOPE_DONE], 0, &body->done) && body->done <= body->begun);
    REQUIRE(engine_fields_is(fields[SCOPE_ITEMS], WIRE_ARRAY) &&
            engine_fields_is(fields[SCOPE_RESULTS], WIRE_ARRAY));
    body->items = engine_part_keep(execution, fields[SCOPE_ITEMS]);
    REQUIRE(body->items.count == 0 || wire_count(body->items) == body->total);
    REQUIRE(engine_part_skip_items(body, body->begun));
    while (wire_array_next(&walk, &row)) {
        REQUIRE(wire_is(row, WIRE_ARRAY) && take_u32(wire_at(row, 0), 0, &instance));
        REQUIRE(instance > 0 && instance <= body->begun);
        if (!engine_part_add_result(execution, body, instance, wire_at(row, 1))) {
            return RESULT_LIMIT;
        }
    }
    return RESULT_OK;
}

/* The first kinds tell themselves: a called process is named. */
static bool read_kind(const struct span *fields, uint8_t *kind)
{
    bool called = fields[SCOPE_PROCESS].count > 0;
    if (fields[SCOPE_KIND].count == 0) {
        *kind = called ? ENGINE_SCOPE_CALLED : ENGINE_SCOPE_SUB_PROCESS;
        return true;
    }
    return !called && take_u8(fields[SCOPE_KIND], ENGINE_SCOPE_KIND_COUNT - 1, kind) &&
           *kind > ENGINE_SCOPE_CALLED;
}

static enum result read_scope(struct engine_execution *execution, struct span map)
{
    struct span fields[SCOPE_FIELD_COUNT];
    uint32_t id, parent_id, host, version;
    REQUIRE(wire_is(map, WIRE_MAP));
    engine_fields_read(map, scope_names, SCOPE_FIELD_COUNT, fields);
    REQUIRE(take_u32(fields[SCOPE_ID], 0, &id) && take_u32(fields[SCOPE_PARENT], 0, &parent_id));
    REQUIRE(take_u32(fields[SCOPE_HOST], 0, &host) && take_u32(fields[SCOPE_VERSION], 0, &version));
    REQUIRE(engine_fields_is(fields[SCOPE_VARIABLES], WIRE_MAP) &&
            engine_fields_is(fields[SCOPE_NODES], WIRE_MAP));
    REQUIRE(host > 0 && id > ENGINE_SCOPE_ROOT && id < execution->scope_next &&
            engine_scope_find(execution, id) == NULL);
    const struct engine_scope *parent = engine_scope_find(execution, parent_id);
    REQUIRE(parent != NULL); /* parents come first */
    const struct engine_process *process = parent->process;
    uint8_t kind;
    REQUIRE(read_kind(fields, &kind));
    if (kind == ENGINE_SCOPE_CALLED) {
        process = execution->library->process(execution->library, execution->project,
                                              wire_string_or(fields[SCOPE_PROCESS], ""), version);
        if (process == NULL) {
            return RESULT_NOT_FOUND;
        }
    }
    struct engine_scope *scope =
        engine_part_open_scope(execution, id, (enum engine_scope_kind)kind, process);
    if (scope == NULL) {
        return RESULT_LIMIT;
    }
    scope->parent = parent_id;
    scope->host = host;
    scope->variables = engine_part_keep(execution, fields[SCOPE_VARIABLES]);
    scope->nodes = engine_part_keep(execution, fields[SCOPE_NODES]);
    engine_chain_append(&execution->scopes, &engine_scope_find(execution, parent_id)->children,
                        ENGINE_LINK_SIBLINGS, engine_pool_find(&execution->scopes, id));
    REQUIRE(take_u32(fields[SCOPE_BEGUN], 0, &scope->begun));
    REQUIRE(take_u32(fields[SCOPE_INNER], 0, &scope->inner));
    enum result result =
        kind == ENGINE_SCOPE_BODY ? read_body(execution, scope, fields) : RESULT_OK;
    result = result != RESULT_OK ? result : read_records(execution, scope, fields[SCOPE_RECORDS]);
    result = result != RESULT_OK ? result : read_blocks(execution, scope, fields[SCOPE_BLOCKS]);
    return result != RESULT_OK ? result : read_joins(execution, scope, fields[SCOPE_JOINS]);
}

static enum result read_scopes(struct engine_execution *execution, const struct span *fields)
{
    if (execution->run == 0) {
        return RESULT_OK;
    }
    struct engine_scope *root = engine_part_open_scope(execution, ENGINE_SCOPE_ROOT,
                                                       ENGINE_SCOPE_PROCESS, execution->process);
    if (root == NULL) {
        return RESULT_LIMIT;
    }
    root->variables = engine_part_keep(execution, fields[SNAPSHOT_EXECUTION]);
    root->nodes = engine_part_keep(execution, fields[SNAPSHOT_NODES]);
    enum result result = read_joins(execution, root, fields[SNAPSHOT_JOINS]);
    result = result != RESULT_OK ? result : read_records(execution, root, fields[SNAPSHOT_RECORDS]);
    result = result != RESULT_OK ? result : read_blocks(execution, root, fields[SNAPSHOT_BLOCKS]);
    struct wire_map_walk walk = wire_array_begin(fields[SNAPSHOT_SCOPES]);
    struct span map;
    while (result == RESULT_OK && wire_array_next(&walk, &map)) {
        result = read_scope(execution, map);
    }
    return result;
}

/* ---- tokens ---- */

static enum result read_timers(struct engine_execution *execution, struct engine_token *token,
                               const struct engine_process *process, struct span timers)
{
    struct wire_map_walk walk = wire_array_begin(timers);
    struct span map;
    REQUIRE(engine_fields_is(timers, WIRE_ARRAY));
    while (wire_array_next(&walk, &map)) {
        struct span fields[TIMER_FIELD_COUNT];
        REQUIRE(wire_is(map, WIRE_MAP));
        engine_fields_read(map, timer_names, TIMER_FIELD_COUNT, fields);
        uint32_t slot = engine_pool_take(&execution->timers, &execution->memory, 0);
        struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
        if (timer == NULL) {
            return RESULT_LIMIT;
        }
        engine_chain_append(&execution->timers, &token->timers, ENGINE_LINK_FIRST, slot);
        timer->token = token->slot.id;
        timer->cycle = keep_text(execution, fields[TIMER_CYCLE]);
        REQUIRE(find_node(process, fields[TIMER_TASK], &timer->node));
        REQUIRE(take_u32(fields[TIMER_DEFINITION], 0, &timer->definition));
        REQUIRE(engine_listen_may(process, token->node, timer->node) &&
                engine_listen_has(process, timer->node, timer->definition, ENGINE_ON_TIMER));
        REQUIRE(fields[TIMER_DUE_AT].count > 0 &&
                engine_fields_time(fields[TIMER_DUE_AT], 0, &timer->due_ms));
        REQUIRE(engine_fields_time(fields[TIMER_ARMED_AT], 0, &timer->armed_ms));
        REQUIRE(take_u32(fields[TIMER_FIRED], 0, &timer->fired));
    }
    return RESULT_OK;
}

static uint8_t subscription_kind(struct span name)
{
    static const enum engine_event_kind kinds[] = {ENGINE_ON_MESSAGE, ENGINE_ON_SIGNAL,
                                                   ENGINE_ON_CONDITION};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (span_is(name, engine_event_kind_name(kinds[i]))) {
            return (uint8_t)kinds[i];
        }
    }
    return ENGINE_ON_NONE;
}

static enum result read_subscriptions(struct engine_execution *execution,
                                      struct engine_token *token,
                                      const struct engine_process *process, struct span array)
{
    struct wire_map_walk walk = wire_array_begin(array);
    struct span map;
    REQUIRE(engine_fields_is(array, WIRE_ARRAY));
    while (wire_array_next(&walk, &map)) {
        struct span fields[SUBSCRIPTION_FIELD_COUNT];
        uint32_t node, definition;
        uint8_t held, told;
        REQUIRE(wire_is(map, WIRE_MAP));
        engine_fields_read(map, subscription_names, SUBSCRIPTION_FIELD_COUNT, fields);
        uint8_t kind = subscription_kind(wire_string_or(fields[SUBSCRIPTION_KIND], ""));
        REQUIRE(kind != ENGINE_ON_NONE && find_node(process, fields[SUBSCRIPTION_TASK], &node));
        REQUIRE(take_u32(fields[SUBSCRIPTION_DEFINITION], 0, &definition));
        REQUIRE(take_u8(fields[SUBSCRIPTION_HELD], 1, &held));
        REQUIRE(take_u8(fields[SUBSCRIPTION_TOLD], kind == ENGINE_ON_SIGNAL, &told));
        REQUIRE(engine_listen_may(process, token->node, node) &&
                engine_listen_has(process, node, definition, kind));
        struct engine_subscription *subscription =
            engine_part_add_subscription(execution, token, kind);
        if (subscription == NULL) {
            return RESULT_LIMIT;
        }
        subscription->node = node;
        subscription->definition = definition;
        subscription->held = held != 0;
        subscription->told = told != 0;
        subscription->payload = engine_part_keep(execution, fields[SUBSCRIPTION_PAYLOAD]);
        execution->told_count += told;
        subscription->name = keep_text(execution, fields[SUBSCRIPTION_NAME]);
        subscription->key = keep_text(execution, fields[SUBSCRIPTION_KEY]);
    }
    return RESULT_OK;
}

static enum result read_answer(struct engine_execution *execution, struct engine_answer *answer,
                               struct span map)
{
    struct span fields[ANSWER_FIELD_COUNT];
    if (map.count == 0) {
        return RESULT_OK;
    }
    REQUIRE(wire_is(map, WIRE_MAP));
    engine_fields_read(map, answer_names, ANSWER_FIELD_COUNT, fields);
    REQUIRE(take_u8(fields[ANSWER_KIND], ENGINE_ANSWER_EVENT, &answer->kind));
    REQUIRE(take_u8(fields[ANSWER_OUTCOME], PROTO_CALL_REFUSED, &answer->outcome));
    REQUIRE(take_u8(fields[ANSWER_PHASE], ENGINE_PHASE_CANCEL, &answer->phase));
    REQUIRE(take_u32(fields[ANSWER_STATUS], 0, &answer->status));
    answer->retry_after_ms = wire_int_or(fields[ANSWER_RETRY_AFTER], -1);
    answer->body = engine_part_keep(execution, fields[ANSWER_BODY]);
    answer->output = engine_part_keep(execution, fields[ANSWER_OUTPUT]);
    answer->reason = answer->kind == ENGINE_ANSWER_CALLBACK
                         ? engine_part_keep(execution, fields[ANSWER_ERROR])
                         : keep_text(execution, fields[ANSWER_REASON]);
    return RESULT_OK;
}

static enum result read_work(struct engine_execution *execution, struct engine_token *token,
                             const struct span *fields)
{
    uint8_t flag;
    REQUIRE(take_u32(fields[TOKEN_SEQUENCE], 0, &token->sequence) &&
            token->sequence <= execution->sequence);
    REQUIRE(take_u32(fields[TOKEN_PATH], 0, &token->path));
    token->segment = token->path > 0 ? execution->segment : 0;
    REQUIRE(take_u32(fields[TOKEN_ATTEMPTS], 0, &token->attempts));
    REQUIRE(take_u32(fields[TOKEN_ATTEMPTS_BEFORE], 0, &token->attempts_before));
    REQUIRE(token->attempts_before <= token->attempts);
    REQUIRE(take_u32(fields[TOKEN_RETRIES], 0, &token->retries));
    REQUIRE(take_u32(fields[TOKEN_CALLBACKS], 0, &token->callbacks));
    REQUIRE(take_u32(fields[TOKEN_CALL], 0, &token->call) && token->call <= execution->call_last);
    REQUIRE(take_u8(fields[TOKEN_PHASE], ENGINE_PHASE_CANCEL, &token->phase));
    REQUIRE(take_u32(fields[TOKEN_CHILD], 0, &token->child));
    REQUIRE(take_u32(fields[TOKEN_INSTANCE], 0, &token->instance));
    REQUIRE(engine_fields_is(fields[TOKEN_OWN], WIRE_MAP));
    REQUIRE(take_u8(fields[TOKEN_SHOWN], 1, &flag));
    token->shown = flag != 0;
    REQUIRE(take_u8(fields[TOKEN_ARMED], 1, &flag));
    token->armed = flag != 0;
    REQUIRE(take_u8(fields[TOKEN_GUARD], 1, &flag));
    token->guard = flag != 0;
    REQUIRE(engine_fields_time(fields[TOKEN_CALLED], 0, &token->called_ms));
    REQUIRE(engine_fields_time(fields[TOKEN_ANSWERED], 0, &token->answered_ms));
    REQUIRE(take_u8(fields[TOKEN_GAVE_OUTPUT], 1, &flag));
    token->gave_output = flag != 0;
    token->own = engine_part_keep(execution, fields[TOKEN_OWN]);
    token->local = engine_part_keep(execution, fields[TOKEN_LOCAL]);
    token->output = engine_part_keep(execution, fields[TOKEN_OUTPUT]);
    token->callback = engine_part_keep(execution, fields[TOKEN_CALLBACK]);
    return RESULT_OK;
}

static bool is_for_task(const struct engine_answer *answer)
{
    return answer->kind != ENGINE_ANSWER_NONE && answer->kind != ENGINE_ANSWER_EVENT;
}

/* Parts that go with a state, and must be there with it. */
static enum result read_state(struct engine_execution *execution, struct engine_token *token,
                              uint8_t state, const struct span *fields,
                              const struct engine_scope *scope)
{
    const struct engine_process *process = scope->process;
    const struct engine_element_ops *kind = engine_element_in(scope, &process->nodes[token->node]);
    bool inside = state == ENGINE_TOKEN_INSIDE || state == ENGINE_TOKEN_RETURNING;
    REQUIRE(engine_element_reaches(kind, state));
    REQUIRE((token->instance > 0) == (scope->kind == ENGINE_SCOPE_BODY) &&
            token->instance <= scope->begun);
    token->due_ms = ENGINE_NO_DUE;
    token->flow = ENGINE_NONE;
    REQUIRE(fields[TOKEN_FLOW].count == 0 || find_flow(process, fields[TOKEN_FLOW], &token->flow));
    bool outside = state == ENGINE_TOKEN_ARRIVED || state == ENGINE_TOKEN_FAILED;
    REQUIRE(outside || state == ENGINE_TOKEN_LISTENING || token->sequence > 0);
    REQUIRE(state != ENGINE_TOKEN_LISTENING || token->guard);
    REQUIRE(!token->guard || ((outside || state == ENGINE_TOKEN_LISTENING) &&
                              process->nodes[token->node].triggered_by_event));
    REQUIRE(!inside || token->child != 0);
    REQUIRE(state != ENGINE_TOKEN_ANSWERED || is_for_task(&token->answer));
    if (state == ENGINE_TOKEN_WAITING) {
        token->wait = engine_wait_parse(wire_string_or(fields[TOKEN_WAIT], ""));
        token->detail = engine_part_keep(execution, fields[TOKEN_DETAIL]);
        REQUIRE(token->wait != ENGINE_WAIT_NONE);
        REQUIRE((token->wait != ENGINE_WAIT_CALLBACK && token->wait != ENGINE_WAIT_HUMAN) ||
                engine_element_reaches(kind, ENGINE_TOKEN_ANSWERED));
        REQUIRE(engine_fields_time(fields[TOKEN_SINCE], 0, &token->since_ms));
        REQUIRE(engine_fields_time(fields[TOKEN_DUE], ENGINE_NO_DUE, &token->due_ms));
        bool is_newest =
            token->wait == ENGINE_WAIT_HUMAN && token->since_ms > execution->human_since_ms;
        execution->human_since_ms = is_newest ? token->since_ms : execution->human_since_ms;
    }
    if (state == ENGINE_TOKEN_FAILED) {
        token->resume = engine_token_state_parse(wire_string_or(fields[TOKEN_RESUME], ""));
        REQUIRE(engine_token_is_ready(token->resume) &&
                engine_element_reaches(kind, token->resume));
        REQUIRE(token->resume != ENGINE_TOKEN_RETURNING || token->child != 0);
        REQUIRE(token->resume != ENGINE_TOKEN_ANSWERED || is_for_task(&token->answer));
    }
    return RESULT_OK;
}

static enum result read_token(struct engine_execution *execution, struct span map)
{
    struct span fields[TOKEN_FIELD_COUNT];
    uint32_t id, scope_id, node;
    REQUIRE(wire_is(map, WIRE_MAP));
    engine_fields_read(map, token_names, TOKEN_FIELD_COUNT, fields);
    uint8_t state = engine_token_state_parse(wire_string_or(fields[TOKEN_STATE], ""));
    REQUIRE(state != ENGINE_TOKEN_GONE && take_u32(fields[TOKEN_ID], 0, &id));
    REQUIRE(id > 0 && id < execution->token_next && engine_token_find(execution, id) == NULL);
    REQUIRE(take_u32(fields[TOKEN_SCOPE], ENGINE_SCOPE_ROOT, &scope_id));
    const struct engine_scope *scope = engine_scope_find(execution, scope_id);
    REQUIRE(scope != NULL && find_node(scope->process, fields[TOKEN_TASK], &node));
    uint32_t slot = engine_pool_take(&execution->tokens, &execution->memory, id);
    struct engine_token *token = engine_token_at(execution, slot);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    token->scope = scope_id;
    token->node = node;
    token->timers = ENGINE_CHAIN_EMPTY;
    token->subscriptions = ENGINE_CHAIN_EMPTY;
    enum result result = read_work(execution, token, fields);
    result =
        result != RESULT_OK ? result : read_answer(execution, &token->answer, fields[TOKEN_ANSWER]);
    result = result != RESULT_OK ? result : read_state(execution, token, state, fields, scope);
    result = result != RESULT_OK
                 ? result
                 : read_timers(execution, token, scope->process, fields[TOKEN_TIMERS]);
    result = result != RESULT_OK ? result
                                 : read_subscriptions(execution, token, scope->process,
                                                      fields[TOKEN_SUBSCRIPTIONS]);
    if (result == RESULT_OK) {
        engine_token_restore(execution, token, state);
    }
    return result;
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* A scope's tokens stand in order of creation, which the queues do not keep. */
static enum result link_tokens(struct engine_execution *execution)
{
    uint32_t *ids = arena_alloc(&execution->memory, execution->token_count * sizeof *ids);
    const struct engine_token *next = NULL;
    uint32_t count = 0;
    if (ids == NULL) {
        return RESULT_LIMIT;
    }
    while ((next = engine_token_next(execution, next)) != NULL) {
        ids[count++] = next->slot.id;
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct engine_token *token = engine_token_find(execution, ids[i]);
        struct engine_scope *scope = engine_scope_find(execution, token->scope);
        engine_chain_append(&execution->tokens, &scope->tokens, ENGINE_LINK_IN_SCOPE,
                            engine_token_slot(execution, token));
        scope->live += !token->guard;
        if (token->child != 0) {
            struct engine_scope *child = engine_scope_find(execution, token->child);
            REQUIRE(child != NULL && child->host == token->slot.id &&
                    child->parent == token->scope);
            child->node = token->node;
        }
    }
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        REQUIRE(scope->slot.id == ENGINE_SCOPE_ROOT || scope->node != ENGINE_NONE);
    }
    return RESULT_OK;
}

static enum result read_tokens(struct engine_execution *execution, const struct span *fields)
{
    struct wire_map_walk walk = wire_array_begin(fields[SNAPSHOT_TOKENS]);
    struct span map;
    REQUIRE(engine_fields_is(fields[SNAPSHOT_TOKENS], WIRE_ARRAY));
    REQUIRE(execution->run > 0 || fields[SNAPSHOT_TOKENS].count == 0);
    while (wire_array_next(&walk, &map)) {
        enum result result = read_token(execution, map);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return link_tokens(execution);
}

/* ---- the rest ---- */

static enum result read_counters(struct engine_execution *execution, const struct span *fields)
{
    uint64_t number;
    int64_t time_ms;
    uint32_t flags;
    REQUIRE(take_u32(fields[SNAPSHOT_RUN], 0, &execution->run));
    REQUIRE(take_u32(fields[SNAPSHOT_SEQUENCE], 0, &execution->sequence));
    REQUIRE(take_u32(fields[SNAPSHOT_REVISION], 0, &execution->revision));
    REQUIRE(engine_fields_uint(fields[SNAPSHOT_EVENT_SEQUENCE], 0, UINT64_MAX,
                               &execution->event_sequence));
    REQUIRE((execution->run > 0) == (execution->event_sequence > 0));
    REQUIRE(take_u32(fields[SNAPSHOT_SEGMENT], execution->run > 0, &execution->segment));
    REQUIRE(take_u32(fields[SNAPSHOT_CALLBACK_SEGMENT], 0, &execution->callback_segment));
    REQUIRE(take_u32(fields[SNAPSHOT_TOKEN_NEXT], 2, &execution->token_next));
    REQUIRE(take_u32(fields[SNAPSHOT_SCOPE_NEXT], 2, &execution->scope_next));
    REQUIRE(take_u32(fields[SNAPSHOT_CALL_LAST], 0, &execution->call_last));
    REQUIRE(take_u8(fields[SNAPSHOT_END], ENGINE_END_ABORTED, &execution->end));
    REQUIRE(take_u32(fields[SNAPSHOT_FLAGS], 0, &flags));
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
    execution->error_code = keep_text(execution, fields[SNAPSHOT_ERROR_CODE]);
    execution->error_message = keep_text(execution, fields[SNAPSHOT_ERROR_MESSAGE]);
    execution->error_task = keep_text(execution, fields[SNAPSHOT_ERROR_TASK]);
    return RESULT_OK;
}

/* What a restart starts with: said only where it is not what is there. */
static void read_first(struct engine_execution *execution, const struct span *fields)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct span first = fields[SNAPSHOT_FIRST_REQUEST];
    execution->first_request =
        first.count == 0 ? execution->request : engine_part_keep(execution, without_nil(first));
    first = fields[SNAPSHOT_FIRST_CONTEXT];
    execution->first_context =
        first.count == 0 ? execution->context : engine_part_keep(execution, without_nil(first));
    first = fields[SNAPSHOT_FIRST_EXECUTION];
    execution->first_execution = first.count == 0 && root != NULL
                                     ? root->variables
                                     : engine_part_keep(execution, without_nil(first));
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
        execution->inbox[execution->inbox_count++] = (struct engine_kept_callback){
            keep_text(execution, wire_at(row, 0)), engine_part_keep(execution, wire_at(row, 1))};
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

static enum result read_all(struct engine_execution *execution, const struct span *fields)
{
    enum result result = read_counters(execution, fields);
    result = result != RESULT_OK ? result : read_payloads(execution, fields);
    result = result != RESULT_OK ? result : read_scopes(execution, fields);
    result = result != RESULT_OK ? result : read_tokens(execution, fields);
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

/* Identity and start payloads; RESULT_NOT_FOUND when the library lacks the process version. */
static enum result read_start(const struct engine_library *library, const struct span *fields,
                              struct engine_start *start)
{
    uint32_t version;
    memset(start, 0, sizeof *start);
    REQUIRE(execution_id_parse(wire_string_or(fields[SNAPSHOT_EXECUTION_ID], ""), &start->id) ==
            RESULT_OK);
    REQUIRE(take_u32(fields[SNAPSHOT_VERSION], 0, &version));
    start->workspace = wire_string_or(fields[SNAPSHOT_WORKSPACE_ID], "");
    start->project = wire_string_or(fields[SNAPSHOT_PROJECT_ID], "");
    start->channel = wire_string_or(fields[SNAPSHOT_CHANNEL], "");
    start->channel_session_id = wire_string_or(fields[SNAPSHOT_CHANNEL_SESSION_ID], "");
    start->traceparent = wire_string_or(fields[SNAPSHOT_TRACEPARENT], "");
    start->start_node = wire_string_or(fields[SNAPSHOT_START_NODE], "");
    start->is_test = wire_bool_or(fields[SNAPSHOT_IS_TEST], false);
    start->process = library->process(library, start->project,
                                      wire_string_or(fields[SNAPSHOT_PROCESS], ""), version);
    return start->process == NULL ? RESULT_NOT_FOUND : RESULT_OK;
}

enum result engine_decode(const struct engine_library *library, struct span bytes,
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
    enum result result = read_start(library, fields, &start);
    if (result != RESULT_OK) {
        return result;
    }
    struct engine_execution *execution = engine_execution_make(library, &start, 0);
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

enum result engine_decode_start(const struct engine_library *library, struct span value,
                                int64_t created_ms, struct engine_execution **out)
{
    struct span fields[SNAPSHOT_FIELD_COUNT];
    struct engine_start start;
    *out = NULL;
    REQUIRE(wire_is(value, WIRE_MAP));
    engine_fields_read(value, snapshot_names, SNAPSHOT_FIELD_COUNT, fields);
    enum result result = read_start(library, fields, &start);
    if (result != RESULT_OK) {
        return result;
    }
    start.request = fields[SNAPSHOT_REQUEST];
    start.context = fields[SNAPSHOT_CONTEXT];
    start.execution = fields[SNAPSHOT_EXECUTION];
    REQUIRE(engine_fields_is(start.request, WIRE_MAP) &&
            engine_fields_is(start.context, WIRE_MAP) &&
            engine_fields_is(start.execution, WIRE_MAP));
    *out = engine_execution_make(library, &start, created_ms);
    return *out == NULL ? RESULT_LIMIT : RESULT_OK;
}
