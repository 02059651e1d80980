/*
 * accept_message.c: a message to the one subscription that it correlates to, a signal to all of its
 * name.
 */
#include "engine/accept.h"
#include "engine/advance.h"
#include "engine/listen.h"
#include "proto/base/assert.h"

static const struct engine_subscription *find_in(const struct engine_execution *execution,
                                                 const struct engine_token *token, uint8_t kind,
                                                 struct span name, struct span key)
{
    for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (subscription->kind == kind && span_equal(subscription->name, name) &&
            span_equal(subscription->key, key) &&
            engine_listen_is_open(execution, token, subscription)) {
            return subscription;
        }
    }
    return NULL;
}

/* Of the oldest token. */
static const struct engine_subscription *find(const struct engine_execution *execution,
                                              struct span name, struct span key)
{
    const struct engine_subscription *oldest = NULL;
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        const struct engine_subscription *found =
            find_in(execution, token, ENGINE_ON_MESSAGE, name, key);
        if (found != NULL && (oldest == NULL || found->token < oldest->token)) {
            oldest = found;
        }
    }
    return oldest;
}

static const struct engine_subscription *find_wanted(const struct engine_accept *accept)
{
    struct span name = accept->input->name;
    struct span key = accept->input->correlation_key;
    const struct engine_subscription *found = find(accept->execution, name, key);
    return found == NULL && key.count > 0 ? find(accept->execution, name, SPAN_EMPTY) : found;
}

static enum result refuse_unheard(struct engine_accept *accept, const char *kind)
{
    if (accept->execution->end != ENGINE_END_NONE) {
        return engine_accept_refuse(accept, PROTO_ERROR_AlreadyFinished,
                                    span_text("the execution has ended"));
    }
    (void)engine_accept_refuse(accept, PROTO_ERROR_NotWaiting,
                               ENGINE_SAY(accept, "nothing waits for the %s \"%.*s\"", kind,
                                          SPAN_ARG(accept->input->name)));
    return RESULT_NOT_FOUND;
}

enum result engine_accept_check_message(struct engine_accept *accept)
{
    bool ended = accept->execution->end != ENGINE_END_NONE;
    return !ended && find_wanted(accept) != NULL ? RESULT_OK : refuse_unheard(accept, "message");
}

static struct engine_news news_of(const struct engine_accept *accept,
                                  const struct engine_decision *decision,
                                  const struct engine_subscription *subscription)
{
    return (struct engine_news){
        .node = subscription->node,
        .definition = subscription->definition,
        .payload = arena_copy(decision->arena, accept->input->payload),
        .id = arena_copy(decision->arena, accept->input->message_id),
    };
}

enum result engine_accept_message(struct engine_accept *accept)
{
    struct engine_decision decision;
    const struct engine_subscription *wanted = find_wanted(accept);
    ASSERT(wanted != NULL);
    engine_decision_begin(&decision, accept->execution, accept->output);
    const struct engine_news news = news_of(accept, &decision, wanted);
    engine_listen_fire(&decision, engine_token_find(accept->execution, wanted->token), &news);
    return engine_commit(accept->execution, &decision);
}

/* ---- signals ---- */

/* One that hears the signal, as it was when the signal came. */
struct hearer {
    uint32_t token;
    uint32_t node;
    uint32_t definition;
};

struct hearers {
    struct hearer *rows;
    uint32_t count;
};

/* `rows` NULL: only counts. */
static void list_hearers(const struct engine_execution *execution, struct span name,
                         struct hearers *hearers)
{
    const struct engine_token *token = NULL;
    hearers->count = 0;
    while ((token = engine_token_next(execution, token)) != NULL) {
        for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (subscription->kind != ENGINE_ON_SIGNAL || !span_equal(subscription->name, name) ||
                !engine_listen_is_open(execution, token, subscription)) {
                continue;
            }
            if (hearers->rows != NULL) {
                hearers->rows[hearers->count] =
                    (struct hearer){token->slot.id, subscription->node, subscription->definition};
            }
            hearers->count++;
        }
    }
}

/* publish.c: the execution's own signals bear its id. Those that they are for have heard them when
 * they were thrown. */
static bool is_own(const struct engine_accept *accept)
{
    struct span own = execution_id_span(&accept->execution->id);
    struct span id = accept->input->message_id;
    return id.count > own.count && id.bytes[own.count] == '/' &&
           memcmp(id.bytes, own.bytes, own.count) == 0;
}

enum result engine_accept_check_signal(struct engine_accept *accept)
{
    struct hearers hearers = {0};
    if (is_own(accept)) {
        return refuse_unheard(accept, "signal");
    }
    list_hearers(accept->execution, accept->input->name, &hearers);
    bool ended = accept->execution->end != ENGINE_END_NONE;
    return !ended && hearers.count > 0 ? RESULT_OK : refuse_unheard(accept, "signal");
}

/* What heard it before may have taken this one away. */
static const struct engine_subscription *still_hears(const struct engine_execution *execution,
                                                     const struct engine_token *token,
                                                     const struct hearer *hearer)
{
    if (token == NULL) {
        return NULL;
    }
    for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        if (subscription->kind == ENGINE_ON_SIGNAL && subscription->node == hearer->node &&
            subscription->definition == hearer->definition &&
            engine_listen_is_open(execution, token, subscription)) {
            return subscription;
        }
    }
    return NULL;
}

enum result engine_accept_signal(struct engine_accept *accept)
{
    struct engine_execution *execution = accept->execution;
    struct hearers hearers = {0};
    list_hearers(execution, accept->input->name, &hearers);
    hearers.rows = arena_alloc(accept->output->arena, hearers.count * sizeof hearers.rows[0]);
    if (hearers.rows == NULL) {
        return RESULT_LIMIT;
    }
    list_hearers(execution, accept->input->name, &hearers);
    for (uint32_t i = 0; i < hearers.count; i++) {
        struct engine_decision decision;
        const struct engine_token *token = engine_token_find(execution, hearers.rows[i].token);
        const struct engine_subscription *subscription =
            still_hears(execution, token, &hearers.rows[i]);
        if (subscription == NULL) {
            continue;
        }
        engine_decision_begin(&decision, execution, accept->output);
        const struct engine_news news = news_of(accept, &decision, subscription);
        engine_listen_fire(&decision, token, &news);
        enum result result = engine_commit(execution, &decision);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return RESULT_OK;
}
