/*
 * apply_listen.c: events of listening: begun, turned, ended by what came; and what is published.
 */
#include "engine/apply_part.h"
#include "engine/listen.h"
#include "engine/token.h"
#include "proto/wire/reader.h"

enum result engine_apply_subscribed(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->flags < ENGINE_EVENT_KIND_COUNT);
    const struct engine_process *process = engine_scope_find(execution, token->scope)->process;
    REQUIRE(event->flags == ENGINE_ON_MESSAGE || event->flags == ENGINE_ON_SIGNAL ||
            event->flags == ENGINE_ON_CONDITION);
    REQUIRE(engine_listen_may(process, token->node, event->node) &&
            engine_listen_has(process, event->node, event->other, (uint8_t)event->flags));
    struct engine_subscription *subscription =
        engine_part_add_subscription(execution, token, (uint8_t)event->flags);
    if (subscription == NULL) {
        return RESULT_LIMIT;
    }
    subscription->node = event->node;
    subscription->definition = event->other;
    subscription->held = event->count != 0;
    subscription->name = engine_part_keep(execution, event->text);
    subscription->key = engine_part_keep(execution, wire_string_or(event->value, ""));
    token->armed = true;
    return RESULT_OK;
}

enum result engine_apply_turned(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    for (ENGINE_EACH(struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (subscription->node == event->node && subscription->definition == event->other) {
            subscription->held = event->flags != 0;
            return RESULT_OK;
        }
    }
    return RESULT_CORRUPT;
}

enum result engine_apply_caught(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_CAUGHT));
    engine_part_forget_due(execution, token->due_ms);
    engine_part_stop_listening(execution, token, true);
    bool moved = engine_token_transition(execution, token, ENGINE_EVENT_CAUGHT, ENGINE_WAIT_NONE);
    REQUIRE(moved);
    token->due_ms = ENGINE_NO_DUE;
    token->detail = SPAN_EMPTY;
    token->answer = (struct engine_answer){.kind = ENGINE_ANSWER_EVENT,
                                           .retry_after_ms = -1,
                                           .body = engine_part_keep(execution, event->value)};
    if (event->value.count > 0) {
        execution->resume = token->answer.body;
    }
    engine_part_resume_segment(execution);
    return RESULT_OK;
}

enum result engine_apply_heard(struct engine_execution *execution, const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    for (ENGINE_EACH(struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (subscription->node == event->node && subscription->definition == event->other &&
            subscription->told) {
            subscription->told = false;
            subscription->payload = SPAN_EMPTY;
            execution->told_count--;
            return RESULT_OK;
        }
    }
    return RESULT_CORRUPT;
}

static void tell(struct engine_execution *execution, const struct engine_token *token,
                 const struct engine_event *event)
{
    for (ENGINE_EACH(struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (subscription->kind == ENGINE_ON_SIGNAL && !subscription->told &&
            span_equal(subscription->name, event->text) &&
            engine_listen_is_open(execution, token, subscription)) {
            subscription->told = true;
            subscription->payload = engine_part_keep(execution, event->value);
            execution->told_count++;
        }
    }
}

/* It is the world's; but a signal is for those of its own execution that listen now, not for those
 * that begin to later (traps.md 9). */
enum result engine_apply_published(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    const struct engine_token *token = NULL;
    REQUIRE(engine_token_find(execution, event->token) != NULL);
    if (event->count == 0 || execution->subscription_count == 0) {
        return RESULT_OK;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        tell(execution, token, event);
    }
    return RESULT_OK;
}
