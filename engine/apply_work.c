/*
 * apply_work.c: events of a step's work: calls, answers, waits, callbacks, boundary timers.
 */
#include "engine/apply_part.h"

#include "engine/listen.h"
#include "engine/payload.h"
#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* ---- module calls ---- */

enum result engine_apply_called(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->count == execution->call_last + 1 &&
            event->flags <= ENGINE_PHASE_CANCEL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CALLED, ENGINE_WAIT_NONE));
    execution->call_last = event->count;
    token->call = event->count;
    token->phase = (uint8_t)event->flags;
    token->called_ms = execution->now_ms;
    token->answered_ms = 0;
    token->attempts++;
    token->gave_output = token->gave_output && event->flags != ENGINE_PHASE_EXECUTE;
    token->callbacks += event->flags == ENGINE_PHASE_CALLBACK && token->attempts == 1;
    return RESULT_OK;
}

enum result engine_apply_answered(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_ANSWERED, ENGINE_WAIT_NONE));
    token->answered_ms = execution->now_ms;
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_REPLY,
                                           .outcome = (uint8_t)event->flags,
                                           .phase = token->phase,
                                           .status = event->count,
                                           .retry_after_ms = event->at_ms,
                                           .body = engine_part_keep(execution, event->value),
                                           .reason = engine_part_keep(execution, event->text)};
    return RESULT_OK;
}

enum result engine_apply_reply_merged(struct engine_execution *execution,
                                      const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    struct span body = event->value.count > 0 ? event->value : token->answer.body;
    engine_payload_merge_reply(execution, token, body, event->flags);
    return RESULT_OK;
}

enum result engine_apply_merged(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(scope != NULL && event->flags < ENGINE_PAYLOAD_COUNT);
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token == NULL || token->scope == event->scope);
    engine_payload_merge(execution, scope, token, (enum engine_payload)event->flags, event->value);
    return RESULT_OK;
}

enum result engine_apply_output_set(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    token->output = engine_part_keep(execution, event->value);
    execution->output = token->output;
    token->gave_output = engine_token_node(execution, token)->join != ENGINE_JOIN_NONE;
    return RESULT_OK;
}

enum result engine_apply_attempt_failed(struct engine_execution *execution,
                                        const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    const struct engine_node *node = engine_token_node(execution, token);
    execution->error_code = span_text(ENGINE_TRANSIENT_CODE);
    execution->error_message = engine_part_keep(execution, event->text);
    execution->error_task = engine_part_keep(execution, node->id);
    engine_payload_log(execution, span_text("WARN"), event->text, SPAN_EMPTY, node);
    return RESULT_OK;
}

/* ---- waiting ---- */

enum result engine_apply_waited(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->flags > ENGINE_WAIT_NONE && event->flags < ENGINE_WAIT_COUNT);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_WAITED, (uint8_t)event->flags));
    token->since_ms = execution->now_ms;
    token->due_ms = event->at_ms;
    if (event->flags == ENGINE_WAIT_HUMAN) {
        execution->human_since_ms = token->since_ms;
    }
    token->detail = engine_part_keep(execution, event->value);
    token->answer = (struct engine_answer){0};
    token->shown = token->shown || event->flags != ENGINE_WAIT_RETRY;
    if (event->flags != ENGINE_WAIT_RETRY) {
        token->callback = SPAN_EMPTY;
        engine_part_settle_error(execution);
    }
    engine_part_note_due(execution, event->at_ms);
    return RESULT_OK;
}

static void stop_waiting(struct engine_execution *execution, struct engine_token *token)
{
    engine_part_forget_due(execution, token->due_ms);
    token->due_ms = ENGINE_NO_DUE;
    engine_part_resume_segment(execution);
}

enum result engine_apply_woken(struct engine_execution *execution, const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_WOKEN, ENGINE_WAIT_NONE));
    stop_waiting(execution, token);
    token->detail = SPAN_EMPTY;
    return RESULT_OK;
}

enum result engine_apply_timed_out(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_TIMED_OUT, ENGINE_WAIT_NONE));
    stop_waiting(execution, token);
    token->detail = SPAN_EMPTY;
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_TIMEOUT,
                                           .retry_after_ms = -1,
                                           .reason = engine_part_keep(execution, event->text)};
    return RESULT_OK;
}

static void drop_kept(struct engine_execution *execution, uint32_t place)
{
    execution->inbox_count--;
    memmove(execution->inbox + place, execution->inbox + place + 1,
            (execution->inbox_count - place) * sizeof execution->inbox[0]);
}

enum result engine_apply_callback(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->other <= execution->inbox_count &&
            wire_count(event->value) == 3);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CALLBACK, ENGINE_WAIT_NONE));
    stop_waiting(execution, token); /* its detail stays: outputs may name the task's person */
    struct span content = engine_part_keep(execution, event->value);
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

enum result engine_apply_callback_kept(struct engine_execution *execution,
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
    execution->inbox[execution->inbox_count++] = (struct engine_kept_callback){
        engine_part_keep(execution, event->text), engine_part_keep(execution, event->value)};
    return RESULT_OK;
}

/* ---- boundary timers ---- */

enum result engine_apply_timer_armed(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    REQUIRE(engine_listen_may(engine_scope_find(execution, token->scope)->process, token->node,
                              event->node));
    uint32_t slot = engine_pool_take(&execution->timers, &execution->memory, 0);
    struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
    if (timer == NULL) {
        return RESULT_LIMIT;
    }
    timer->token = event->token;
    timer->node = event->node;
    timer->definition = event->other;
    timer->armed_ms = execution->now_ms;
    timer->due_ms = event->at_ms;
    timer->cycle = engine_part_keep(execution, event->text);
    engine_chain_append(&execution->timers, &token->timers, ENGINE_LINK_FIRST, slot);
    token->armed = true;
    engine_part_note_due(execution, event->at_ms);
    return RESULT_OK;
}

enum result engine_apply_timer_fired(struct engine_execution *execution,
                                     const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    for (uint32_t slot = token->timers.first; slot != ENGINE_SLOT_NONE;
         slot = engine_chain_next(&execution->timers, ENGINE_LINK_FIRST, slot)) {
        struct engine_timer *timer = engine_pool_at(&execution->timers, slot);
        if (timer->node != event->node || timer->definition != event->other) {
            continue;
        }
        if (event->at_ms == ENGINE_NO_DUE) {
            engine_part_drop_timer(execution, token, slot);
        } else {
            engine_part_forget_due(execution, timer->due_ms);
            timer->due_ms = event->at_ms;
            timer->fired++;
            engine_part_note_due(execution, event->at_ms);
        }
        engine_part_resume_segment(execution);
        return RESULT_OK;
    }
    return RESULT_CORRUPT;
}
