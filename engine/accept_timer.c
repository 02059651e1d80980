/*
 * accept_timer.c: time has passed: waits that are over, boundary timers that fire.
 */
#include "engine/accept.h"

#include <stdlib.h>

#include "engine/timer.h"
#include "proto/base/assert.h"

/* One thing that is due: a wait of a token, or a boundary timer on it. */
struct due {
    int64_t at_ms;
    uint32_t token;
    uint32_t boundary; /* node, or ENGINE_NONE: the token's own wait */
};

struct due_list {
    struct due *rows;
    uint32_t count;
    uint32_t capacity;
};

static void note(struct due_list *list, int64_t now_ms, struct due due)
{
    if (due.at_ms <= now_ms && list->count < list->capacity) {
        list->rows[list->count++] = due;
    }
}

static int compare_due(const void *left, const void *right)
{
    const struct due *a = left;
    const struct due *b = right;
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms ? -1 : 1;
    }
    if (a->token != b->token) {
        return a->token < b->token ? -1 : 1;
    }
    return (a->boundary > b->boundary) - (a->boundary < b->boundary);
}

static bool find_due(const struct engine_execution *execution, struct arena *arena,
                     struct due_list *list)
{
    const struct engine_token *token = NULL;
    list->count = 0;
    list->capacity = execution->token_count + execution->timers.used;
    list->rows = arena_alloc(arena, list->capacity * sizeof list->rows[0]);
    if (list->rows == NULL) {
        return false;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (token->state == ENGINE_TOKEN_WAITING) {
            note(list, execution->now_ms, (struct due){token->due_ms, token->slot.id, ENGINE_NONE});
        }
        for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            note(list, execution->now_ms, (struct due){timer->due_ms, token->slot.id, timer->node});
        }
    }
    qsort(list->rows, list->count, sizeof list->rows[0], compare_due);
    return true;
}

static void decide_wait_over(struct engine_decision *decision, const struct engine_token *token)
{
    switch ((enum engine_wait)token->wait) {
    case ENGINE_WAIT_TIMER:
        engine_emit_token(decision, ENGINE_EVENT_CAUGHT, token);
        break;
    case ENGINE_WAIT_RETRY:
        engine_emit_token(decision, ENGINE_EVENT_WOKEN, token);
        break;
    case ENGINE_WAIT_NONE:
    case ENGINE_WAIT_CALLBACK:
    case ENGINE_WAIT_HUMAN:
    case ENGINE_WAIT_MESSAGE:
    case ENGINE_WAIT_SIGNAL:
    case ENGINE_WAIT_EVENT:
    case ENGINE_WAIT_COUNT:
        engine_emit_token(decision, ENGINE_EVENT_TIMED_OUT, token)->text =
            span_text("no callback came within callbackTimeoutMs");
        break;
    }
}

/* What came before it in the list may have taken it away. */
static void decide_due(struct engine_decision *decision, const struct due *due)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_token *token = engine_token_find(execution, due->token);
    if (token == NULL) {
        return;
    }
    if (due->boundary == ENGINE_NONE) {
        if (token->state == ENGINE_TOKEN_WAITING && token->due_ms == due->at_ms) {
            decide_wait_over(decision, token);
        }
        return;
    }
    for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                     ENGINE_LINK_FIRST)) {
        if (timer->node == due->boundary && timer->due_ms == due->at_ms) {
            engine_timer_fire(decision, token, timer);
            return;
        }
    }
}

/* In order of due time, then token. What fires is gone or due later than now, so one pass is all.
 */
enum result engine_accept_timer(struct engine_accept *accept)
{
    struct engine_execution *execution = accept->execution;
    struct due_list list;
    engine_execution_refresh_due(execution);
    if (engine_execution_frozen(execution) || execution->due_ms > execution->now_ms) {
        return RESULT_OK;
    }
    if (!find_due(execution, accept->output->arena, &list)) {
        return RESULT_LIMIT;
    }
    ASSERT(list.count > 0);
    for (uint32_t i = 0; i < list.count; i++) {
        struct engine_decision decision;
        engine_decision_begin(&decision, execution, accept->output);
        decide_due(&decision, &list.rows[i]);
        enum result result = engine_commit(execution, &decision);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return RESULT_OK;
}
