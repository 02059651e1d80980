/*
 * token.c: the token's state machine, [state][event]. A cell left out must not happen.
 */
#include "engine/token.h"

#include "proto/base/assert.h"

enum token_place { PLACE_ILLEGAL, PLACE_FRONT, PLACE_BACK, PLACE_PARKED, PLACE_GONE };

/* A cell is a place and the state there; ILLEGAL is the zero value. */
#define CELL(place, state) (place << 4 | state)
#define CELL_PLACE(cell)   (cell >> 4)
#define CELL_STATE(cell)   (cell & 15)
#define TO_FRONT(next)     CELL(PLACE_FRONT, ENGINE_TOKEN_##next)
#define TO_BACK(next)      CELL(PLACE_BACK, ENGINE_TOKEN_##next)
#define TO_PARKED(next)    CELL(PLACE_PARKED, ENGINE_TOKEN_##next)
#define TO_GONE            CELL(PLACE_GONE, ENGINE_TOKEN_GONE)
#define ON(event)          [ENGINE_EVENT_##event]

/* What the node's work can lead to, first time, after an answer, or after a child scope. */
#define WORK_RESULTS                                                                               \
    ON(COMPLETED) = TO_FRONT(LEAVING), ON(CALLED) = TO_PARKED(CALLING),                            \
    ON(WAITED) = TO_PARKED(WAITING), ON(SCOPE_OPENED) = TO_PARKED(INSIDE), ON(CONSUMED) = TO_GONE, \
    ON(FAILED) = TO_PARKED(FAILED), ON(CANCELLED) = TO_GONE

_Static_assert(ENGINE_TOKEN_STATE_COUNT <= 16, "a cell has four bits for the state");

static const uint8_t token_table[ENGINE_TOKEN_STATE_COUNT][ENGINE_EVENT_TYPE_COUNT] = {
    [ENGINE_TOKEN_ARRIVED] = {ON(ENTERED) = TO_FRONT(ENTERED), ON(JOINED) = TO_GONE,
                              ON(LISTENED) = TO_PARKED(LISTENING), ON(FAILED) = TO_PARKED(FAILED),
                              ON(CANCELLED) = TO_GONE, ON(CAUGHT) = TO_BACK(ARRIVED),
                              ON(CONSUMED) = TO_GONE},
    [ENGINE_TOKEN_ENTERED] = {WORK_RESULTS},
    [ENGINE_TOKEN_ANSWERED] = {WORK_RESULTS},
    [ENGINE_TOKEN_RETURNING] = {ON(COMPLETED) = TO_FRONT(LEAVING), ON(FAILED) = TO_PARKED(FAILED),
                                ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_LEAVING] = {ON(LEFT) = TO_BACK(ARRIVED), ON(LINKED) = TO_BACK(ARRIVED),
                              ON(CONSUMED) = TO_GONE, ON(FAILED) = TO_PARKED(FAILED),
                              ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_CALLING] = {ON(ANSWERED) = TO_BACK(ANSWERED), ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_WAITING] = {ON(CALLBACK) = TO_BACK(ANSWERED), ON(TIMED_OUT) = TO_BACK(ANSWERED),
                              ON(WOKEN) = TO_BACK(ENTERED), ON(CAUGHT) = TO_BACK(ENTERED),
                              ON(COMPLETED) = TO_BACK(LEAVING), ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_INSIDE] = {ON(SCOPE_SPENT) = TO_FRONT(RETURNING), ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_FAILED] = {ON(RETRIED) = TO_BACK(ENTERED), ON(CANCELLED) = TO_GONE},
    [ENGINE_TOKEN_LISTENING] = {ON(CANCELLED) = TO_GONE},
};

static const char *const state_names[ENGINE_TOKEN_STATE_COUNT] = {
    [ENGINE_TOKEN_GONE] = "gone",           [ENGINE_TOKEN_ARRIVED] = "arrived",
    [ENGINE_TOKEN_ENTERED] = "entered",     [ENGINE_TOKEN_ANSWERED] = "answered",
    [ENGINE_TOKEN_RETURNING] = "returning", [ENGINE_TOKEN_LEAVING] = "leaving",
    [ENGINE_TOKEN_CALLING] = "calling",     [ENGINE_TOKEN_WAITING] = "waiting",
    [ENGINE_TOKEN_INSIDE] = "inside",       [ENGINE_TOKEN_FAILED] = "failed",
    [ENGINE_TOKEN_LISTENING] = "listening",
};

const char *engine_token_state_name(uint8_t state)
{
    ASSERT(state < ENGINE_TOKEN_STATE_COUNT);
    return state_names[state];
}

uint8_t engine_token_state_parse(struct span name)
{
    for (uint8_t state = ENGINE_TOKEN_ARRIVED; state < ENGINE_TOKEN_STATE_COUNT; state++) {
        if (span_is(name, state_names[state])) {
            return state;
        }
    }
    return ENGINE_TOKEN_GONE;
}

/* ---- counts by state: what the execution's flags derive from ---- */

static void count_state(struct engine_execution *execution, const struct engine_token *token,
                        uint32_t change)
{
    if (token->state == ENGINE_TOKEN_CALLING) {
        execution->call_count += change;
    } else if (token->state == ENGINE_TOKEN_WAITING) {
        execution->wait_counts[token->wait] += change;
    }
}

static struct engine_chain *queue_of(struct engine_execution *execution, uint8_t state)
{
    return engine_token_is_ready(state) ? &execution->ready : &execution->parked;
}

static void enqueue(struct engine_execution *execution, uint32_t slot, uint8_t state, bool front)
{
    struct engine_token *token = engine_token_at(execution, slot);
    token->state = state;
    if (front) {
        engine_chain_prepend(&execution->tokens, queue_of(execution, state), ENGINE_LINK_QUEUE,
                             slot);
    } else {
        engine_chain_append(&execution->tokens, queue_of(execution, state), ENGINE_LINK_QUEUE,
                            slot);
    }
    count_state(execution, token, 1);
}

static void remove_token(struct engine_execution *execution, struct engine_token *token,
                         uint32_t slot)
{
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    ASSERT(scope != NULL && token->timers.count == 0 && token->subscriptions.count == 0);
    engine_chain_remove(&execution->tokens, &scope->tokens, ENGINE_LINK_IN_SCOPE, slot);
    engine_pool_give(&execution->tokens, slot);
    execution->token_count--;
}

/* The state to go on from after a retry is the one exception to the table: the token itself
 * remembers it. */
static uint8_t state_after(const struct engine_token *token, enum engine_event_type event,
                           uint8_t cell)
{
    return event == ENGINE_EVENT_RETRIED ? token->resume : CELL_STATE(cell);
}

bool engine_token_may(const struct engine_token *token, enum engine_event_type event)
{
    return CELL_PLACE(token_table[token->state][event]) != PLACE_ILLEGAL;
}

bool engine_token_transition(struct engine_execution *execution, struct engine_token *token,
                             enum engine_event_type event, uint8_t wait)
{
    ASSERT(token->state < ENGINE_TOKEN_STATE_COUNT && event < ENGINE_EVENT_TYPE_COUNT);
    uint8_t cell = token_table[token->state][event];
    if (CELL_PLACE(cell) == PLACE_ILLEGAL) {
        return false;
    }
    uint32_t slot = engine_token_slot(execution, token);
    uint8_t state = state_after(token, event, cell);
    ASSERT(CELL_PLACE(cell) == PLACE_GONE || state != ENGINE_TOKEN_GONE);
    count_state(execution, token, UINT32_MAX); /* -1 */
    engine_chain_remove(&execution->tokens, queue_of(execution, token->state), ENGINE_LINK_QUEUE,
                        slot);
    if (CELL_PLACE(cell) == PLACE_GONE) {
        remove_token(execution, token, slot);
        return true;
    }
    token->wait = wait;
    enqueue(execution, slot, state, CELL_PLACE(cell) == PLACE_FRONT);
    return true;
}

struct engine_token *engine_token_make(struct engine_execution *execution, uint32_t id,
                                       struct engine_scope *scope, bool front)
{
    uint32_t slot = engine_pool_take(&execution->tokens, &execution->memory, id);
    struct engine_token *token = engine_token_at(execution, slot);
    if (token == NULL) {
        return NULL;
    }
    token->scope = scope->slot.id;
    token->flow = ENGINE_NONE;
    token->due_ms = ENGINE_NO_DUE;
    token->timers = ENGINE_CHAIN_EMPTY;
    token->subscriptions = ENGINE_CHAIN_EMPTY;
    engine_chain_append(&execution->tokens, &scope->tokens, ENGINE_LINK_IN_SCOPE, slot);
    enqueue(execution, slot, ENGINE_TOKEN_ARRIVED, front);
    execution->token_count++;
    scope->live++;
    return token;
}

void engine_token_restore(struct engine_execution *execution, struct engine_token *token,
                          uint8_t state)
{
    ASSERT(token->state == ENGINE_TOKEN_GONE);
    enqueue(execution, engine_token_slot(execution, token), state, false);
    execution->token_count++;
}
