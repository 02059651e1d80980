/*
 * decode_token.c: tokens with their timers, what they listen for, and the answer that they act on.
 */
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
    X(SHOWN, "shown")                                                                              \
    X(ARMED, "armed") X(GUARD, "guard") X(OWN, "own") X(LOCAL, "local") X(OUTPUT, "output")        \
        X(CALLBACK, "callback") X(GAVE_OUTPUT, "gaveOutput") X(TIMERS, "timers")                   \
            X(SUBSCRIPTIONS, "subscriptions") X(ANSWER, "answer") X(CALLED, "calledAt")            \
                X(ANSWERED, "answeredAt")

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
#define TOKEN_SYMBOL(symbol, name)        TOKEN_##symbol,
#define TIMER_SYMBOL(symbol, name)        TIMER_##symbol,
#define ANSWER_SYMBOL(symbol, name)       ANSWER_##symbol,
#define SUBSCRIPTION_SYMBOL(symbol, name) SUBSCRIPTION_##symbol,
enum { TOKEN_FIELDS(TOKEN_SYMBOL) TOKEN_FIELD_COUNT };
enum { TIMER_FIELDS(TIMER_SYMBOL) TIMER_FIELD_COUNT };
enum { ANSWER_FIELDS(ANSWER_SYMBOL) ANSWER_FIELD_COUNT };
enum { SUBSCRIPTION_FIELDS(SUBSCRIPTION_SYMBOL) SUBSCRIPTION_FIELD_COUNT };
static const struct span token_names[] = {TOKEN_FIELDS(FIELD_NAME)};
static const struct span timer_names[] = {TIMER_FIELDS(FIELD_NAME)};
static const struct span answer_names[] = {ANSWER_FIELDS(FIELD_NAME)};
static const struct span subscription_names[] = {SUBSCRIPTION_FIELDS(FIELD_NAME)};

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
        timer->cycle = engine_decode_text(execution, fields[TIMER_CYCLE]);
        REQUIRE(engine_decode_node(process, fields[TIMER_TASK], &timer->node));
        REQUIRE(engine_decode_u32(fields[TIMER_DEFINITION], 0, &timer->definition));
        REQUIRE(engine_listen_may(process, token->node, timer->node) &&
                engine_listen_has(process, timer->node, timer->definition, ENGINE_ON_TIMER));
        REQUIRE(fields[TIMER_DUE_AT].count > 0 &&
                engine_fields_time(fields[TIMER_DUE_AT], 0, &timer->due_ms));
        REQUIRE(engine_fields_time(fields[TIMER_ARMED_AT], 0, &timer->armed_ms));
        REQUIRE(engine_decode_u32(fields[TIMER_FIRED], 0, &timer->fired));
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
        REQUIRE(kind != ENGINE_ON_NONE &&
                engine_decode_node(process, fields[SUBSCRIPTION_TASK], &node));
        REQUIRE(engine_decode_u32(fields[SUBSCRIPTION_DEFINITION], 0, &definition));
        REQUIRE(engine_decode_u8(fields[SUBSCRIPTION_HELD], 1, &held));
        REQUIRE(engine_decode_u8(fields[SUBSCRIPTION_TOLD], kind == ENGINE_ON_SIGNAL, &told));
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
        subscription->name = engine_decode_text(execution, fields[SUBSCRIPTION_NAME]);
        subscription->key = engine_decode_text(execution, fields[SUBSCRIPTION_KEY]);
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
    REQUIRE(engine_decode_u8(fields[ANSWER_KIND], ENGINE_ANSWER_EVENT, &answer->kind));
    REQUIRE(engine_decode_u8(fields[ANSWER_OUTCOME], PROTO_CALL_REFUSED, &answer->outcome));
    REQUIRE(engine_decode_u8(fields[ANSWER_PHASE], ENGINE_PHASE_CANCEL, &answer->phase));
    REQUIRE(engine_decode_u32(fields[ANSWER_STATUS], 0, &answer->status));
    answer->retry_after_ms = wire_int_or(fields[ANSWER_RETRY_AFTER], -1);
    answer->body = engine_part_keep(execution, fields[ANSWER_BODY]);
    answer->output = engine_part_keep(execution, fields[ANSWER_OUTPUT]);
    answer->reason = answer->kind == ENGINE_ANSWER_CALLBACK
                         ? engine_part_keep(execution, fields[ANSWER_ERROR])
                         : engine_decode_text(execution, fields[ANSWER_REASON]);
    return RESULT_OK;
}

static enum result read_work(struct engine_execution *execution, struct engine_token *token,
                             const struct span *fields)
{
    uint8_t flag;
    REQUIRE(engine_decode_u32(fields[TOKEN_SEQUENCE], 0, &token->sequence) &&
            token->sequence <= execution->sequence);
    REQUIRE(engine_decode_u32(fields[TOKEN_PATH], 0, &token->path));
    token->segment = token->path > 0 ? execution->segment : 0;
    REQUIRE(engine_decode_u32(fields[TOKEN_ATTEMPTS], 0, &token->attempts));
    REQUIRE(engine_decode_u32(fields[TOKEN_ATTEMPTS_BEFORE], 0, &token->attempts_before));
    REQUIRE(token->attempts_before <= token->attempts);
    REQUIRE(engine_decode_u32(fields[TOKEN_RETRIES], 0, &token->retries));
    REQUIRE(engine_decode_u32(fields[TOKEN_CALLBACKS], 0, &token->callbacks));
    REQUIRE(engine_decode_u32(fields[TOKEN_CALL], 0, &token->call) &&
            token->call <= execution->call_last);
    REQUIRE(engine_decode_u8(fields[TOKEN_PHASE], ENGINE_PHASE_CANCEL, &token->phase));
    REQUIRE(engine_decode_u32(fields[TOKEN_CHILD], 0, &token->child));
    REQUIRE(engine_decode_u32(fields[TOKEN_INSTANCE], 0, &token->instance));
    REQUIRE(engine_fields_is(fields[TOKEN_OWN], WIRE_MAP));
    REQUIRE(engine_decode_u8(fields[TOKEN_SHOWN], 1, &flag));
    token->shown = flag != 0;
    REQUIRE(engine_decode_u8(fields[TOKEN_ARMED], 1, &flag));
    token->armed = flag != 0;
    REQUIRE(engine_decode_u8(fields[TOKEN_GUARD], 1, &flag));
    token->guard = flag != 0;
    REQUIRE(engine_fields_time(fields[TOKEN_CALLED], 0, &token->called_ms));
    REQUIRE(engine_fields_time(fields[TOKEN_ANSWERED], 0, &token->answered_ms));
    REQUIRE(engine_decode_u8(fields[TOKEN_GAVE_OUTPUT], 1, &flag));
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
    REQUIRE(fields[TOKEN_FLOW].count == 0 ||
            engine_decode_flow(process, fields[TOKEN_FLOW], &token->flow));
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
    REQUIRE(state != ENGINE_TOKEN_GONE && engine_decode_u32(fields[TOKEN_ID], 0, &id));
    REQUIRE(id > 0 && id < execution->token_next && engine_token_find(execution, id) == NULL);
    REQUIRE(engine_decode_u32(fields[TOKEN_SCOPE], ENGINE_SCOPE_ROOT, &scope_id));
    const struct engine_scope *scope = engine_scope_find(execution, scope_id);
    REQUIRE(scope != NULL && engine_decode_node(scope->process, fields[TOKEN_TASK], &node));
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

enum result engine_decode_tokens(struct engine_execution *execution, struct span tokens)
{
    struct wire_map_walk walk = wire_array_begin(tokens);
    struct span map;
    REQUIRE(engine_fields_is(tokens, WIRE_ARRAY));
    REQUIRE(execution->run > 0 || tokens.count == 0);
    while (wire_array_next(&walk, &map)) {
        enum result result = read_token(execution, map);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return link_tokens(execution);
}
