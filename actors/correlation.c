/*
 * correlation.c: see correlation.h. Two things meet under a hash of name and key; what takes any
 * key is found by the name alone.
 */
#include "actors/correlation.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"

static uint64_t key_hash(struct span name, struct span key)
{
    return base_hash(key, base_hash(name, 1));
}

static struct span put(uint8_t **room, struct span span)
{
    uint8_t *copy = *room;
    if (span.count > 0) {
        memcpy(copy, span.bytes, span.count);
    }
    *room += span.count;
    return span_of(copy, span.count);
}

void actor_correlation_init(struct actor_correlation *correlation)
{
    *correlation = (struct actor_correlation){0};
    actor_table_init(&correlation->listeners);
    actor_table_init(&correlation->subscriptions);
    actor_table_init(&correlation->signals);
    actor_table_init(&correlation->by_id);
    actor_table_init(&correlation->by_key);
    actor_table_init(&correlation->by_name);
}

void actor_correlation_release(struct actor_correlation *correlation)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&correlation->listeners); link != NULL;
         link = next) {
        next = link->next;
        struct actor_listener *listener = ACTOR_OWNER(actor_listener, link, link);
        while (listener->subscriptions != NULL) {
            struct actor_subscription *subscription = listener->subscriptions;
            listener->subscriptions = subscription->next;
            free(subscription);
        }
        free(listener);
    }
    for (struct actor_link *link = actor_table_take_all(&correlation->by_id); link != NULL;
         link = next) {
        next = link->next;
        free(ACTOR_OWNER(actor_letter, by_id, link));
    }
    actor_table_release(&correlation->listeners);
    actor_table_release(&correlation->subscriptions);
    actor_table_release(&correlation->signals);
    actor_table_release(&correlation->by_id);
    actor_table_release(&correlation->by_key);
    actor_table_release(&correlation->by_name);
    actor_alarms_release(&correlation->alarms);
}

/* ---- who listens ---- */

struct actor_listener *actor_correlation_listener(const struct actor_correlation *correlation,
                                                  struct span execution_id)
{
    for (struct actor_link *link =
             actor_table_find(&correlation->listeners, base_hash(execution_id, 0));
         link != NULL; link = actor_table_again(link)) {
        struct actor_listener *listener = ACTOR_OWNER(actor_listener, link, link);
        if (span_equal(execution_id_span(&listener->id), execution_id)) {
            return listener;
        }
    }
    return NULL;
}

static struct actor_table *table_of(struct actor_correlation *correlation, bool is_signal)
{
    return is_signal ? &correlation->signals : &correlation->subscriptions;
}

static void unlist(struct actor_correlation *correlation, struct actor_subscription *subscription)
{
    actor_table_remove(table_of(correlation, subscription->is_signal), &subscription->link);
    free(subscription);
}

/* One that is neither busy nor listens is nobody. */
static void drop_idle(struct actor_correlation *correlation, struct actor_listener *listener)
{
    if (listener->subscriptions == NULL && !listener->busy) {
        actor_table_remove(&correlation->listeners, &listener->link);
        free(listener);
    }
}

static bool is_wanted(const struct actor_subscription *subscription,
                      const struct actor_wanted *wanted)
{
    return subscription->is_signal == wanted->is_signal &&
           span_equal(subscription->name, wanted->name) &&
           span_equal(subscription->key, wanted->key);
}

static struct actor_subscription *subscription_new(struct actor_correlation *correlation,
                                                   struct actor_listener *listener,
                                                   struct span workspace,
                                                   const struct actor_wanted *wanted)
{
    struct actor_subscription *subscription =
        malloc(sizeof *subscription + workspace.count + wanted->name.count + wanted->key.count);
    if (subscription == NULL) {
        return NULL;
    }
    uint8_t *room = (uint8_t *)(subscription + 1);
    *subscription = (struct actor_subscription){.listener = listener,
                                                .order = ++correlation->order,
                                                .is_signal = wanted->is_signal,
                                                .workspace = put(&room, workspace),
                                                .name = put(&room, wanted->name),
                                                .key = put(&room, wanted->key)};
    uint64_t hash =
        wanted->is_signal ? base_hash(wanted->name, 1) : key_hash(wanted->name, wanted->key);
    actor_table_add(table_of(correlation, wanted->is_signal), &subscription->link, hash);
    return subscription;
}

/* Out of the list of old ones; NULL: it is a new wish. */
static struct actor_subscription *keep(struct actor_subscription **old,
                                       const struct actor_wanted *wanted)
{
    for (struct actor_subscription **place = old; *place != NULL; place = &(*place)->next) {
        struct actor_subscription *found = *place;
        if (is_wanted(found, wanted)) {
            *place = found->next;
            return found;
        }
    }
    return NULL;
}

static struct actor_listener *listener_new(struct actor_correlation *correlation,
                                           const struct execution_id *id)
{
    struct actor_listener *listener = calloc(1, sizeof *listener);
    if (listener != NULL) {
        listener->id = *id;
        actor_table_add(&correlation->listeners, &listener->link,
                        base_hash(execution_id_span(id), 0));
    }
    return listener;
}

enum result actor_correlation_listen(struct actor_correlation *correlation,
                                     const struct execution_id *id, struct span workspace,
                                     const struct actor_wanted *wanted, size_t count)
{
    enum result result = RESULT_OK;
    struct actor_listener *listener =
        actor_correlation_listener(correlation, execution_id_span(id));
    if (listener == NULL) {
        listener = count == 0 ? NULL : listener_new(correlation, id);
        if (listener == NULL) {
            return count == 0 ? RESULT_OK : RESULT_LIMIT;
        }
    }
    struct actor_subscription *old = listener->subscriptions;
    listener->subscriptions = NULL;
    for (size_t i = 0; i < count; i++) {
        struct actor_subscription *subscription = keep(&old, &wanted[i]);
        if (subscription == NULL) {
            subscription = subscription_new(correlation, listener, workspace, &wanted[i]);
        }
        if (subscription == NULL) {
            result = RESULT_LIMIT;
            continue;
        }
        subscription->next = listener->subscriptions;
        listener->subscriptions = subscription;
    }
    while (old != NULL) {
        struct actor_subscription *gone = old;
        old = gone->next;
        unlist(correlation, gone);
    }
    drop_idle(correlation, listener);
    return result;
}

/* Would this subscription take it? */
static bool fits(const struct actor_subscription *subscription, const struct actor_letter *letter)
{
    const struct proto_publish *published = &letter->published;
    return !subscription->is_signal && span_equal(subscription->name, published->name) &&
           span_equal(subscription->workspace, published->workspace) &&
           (subscription->key.count == 0 || span_equal(subscription->key, published->key));
}

void actor_correlation_refused(struct actor_correlation *correlation, struct span execution_id,
                               const struct actor_letter *letter)
{
    struct actor_listener *listener = actor_correlation_listener(correlation, execution_id);
    if (listener == NULL) {
        return;
    }
    for (struct actor_subscription **place = &listener->subscriptions; *place != NULL;) {
        struct actor_subscription *subscription = *place;
        if (fits(subscription, letter)) {
            *place = subscription->next;
            unlist(correlation, subscription);
        } else {
            place = &subscription->next;
        }
    }
    drop_idle(correlation, listener);
}

void actor_correlation_rests(struct actor_correlation *correlation, struct span execution_id)
{
    struct actor_listener *listener = actor_correlation_listener(correlation, execution_id);
    if (listener != NULL) {
        listener->busy = false;
        drop_idle(correlation, listener);
    }
}

/* Is it the first of its listener that hears the signal? */
static bool hears_first(const struct actor_subscription *subscription)
{
    const struct actor_subscription *other = subscription->listener->subscriptions;
    while (!other->is_signal || !span_equal(other->name, subscription->name)) {
        other = other->next;
    }
    return other == subscription;
}

void actor_correlation_hear(const struct actor_correlation *correlation, struct span workspace,
                            struct span name,
                            void (*each)(void *owner, const struct execution_id *id), void *owner)
{
    for (struct actor_link *link = actor_table_find(&correlation->signals, base_hash(name, 1));
         link != NULL; link = actor_table_again(link)) {
        const struct actor_subscription *subscription = ACTOR_OWNER(actor_subscription, link, link);
        if (span_equal(subscription->name, name) &&
            span_equal(subscription->workspace, workspace) && hears_first(subscription)) {
            each(owner, &subscription->listener->id);
        }
    }
}

/* ---- messages ---- */

struct actor_letter *actor_correlation_find(const struct actor_correlation *correlation,
                                            struct span id)
{
    for (struct actor_link *link = actor_table_find(&correlation->by_id, base_hash(id, 0));
         link != NULL; link = actor_table_again(link)) {
        struct actor_letter *letter = ACTOR_OWNER(actor_letter, by_id, link);
        if (span_equal(letter->published.id, id)) {
            return letter;
        }
    }
    return NULL;
}

enum result actor_correlation_add(struct actor_correlation *correlation,
                                  const struct proto_publish *published,
                                  struct actor_letter **letter)
{
    *letter = NULL;
    if (actor_correlation_find(correlation, published->id) != NULL) {
        return RESULT_EXISTS;
    }
    struct actor_letter *made = malloc(
        sizeof *made + published->id.count + published->workspace.count + published->project.count +
        published->name.count + published->key.count + published->payload.count);
    if (made == NULL) {
        return RESULT_LIMIT;
    }
    uint8_t *room = (uint8_t *)(made + 1);
    *made = (struct actor_letter){.order = ++correlation->order, .published = *published};
    made->published.id = put(&room, published->id);
    made->published.workspace = put(&room, published->workspace);
    made->published.project = put(&room, published->project);
    made->published.name = put(&room, published->name);
    made->published.key = put(&room, published->key);
    made->published.payload = put(&room, published->payload);
    actor_table_add(&correlation->by_id, &made->by_id, base_hash(published->id, 0));
    actor_table_add(&correlation->by_key, &made->by_key, key_hash(published->name, published->key));
    actor_table_add(&correlation->by_name, &made->by_name, base_hash(published->name, 1));
    *letter = made;
    return RESULT_OK;
}

void actor_correlation_take(struct actor_correlation *correlation, struct actor_letter *letter)
{
    actor_alarms_clear(&correlation->alarms, &letter->alarm);
    actor_table_remove(&correlation->by_id, &letter->by_id);
    actor_table_remove(&correlation->by_key, &letter->by_key);
    actor_table_remove(&correlation->by_name, &letter->by_name);
    free(letter);
}

/* Among those with that key; `busy`: also of listeners that have no time. */
static struct actor_subscription *oldest_of(const struct actor_correlation *correlation,
                                            const struct actor_letter *letter, struct span key,
                                            bool busy)
{
    struct actor_subscription *oldest = NULL;
    for (struct actor_link *link =
             actor_table_find(&correlation->subscriptions, key_hash(letter->published.name, key));
         link != NULL; link = actor_table_again(link)) {
        struct actor_subscription *subscription = ACTOR_OWNER(actor_subscription, link, link);
        if (fits(subscription, letter) && span_equal(subscription->key, key) &&
            (busy || !subscription->listener->busy) &&
            (oldest == NULL || subscription->order < oldest->order)) {
            oldest = subscription;
        }
    }
    return oldest;
}

struct actor_listener *actor_correlation_taker(const struct actor_correlation *correlation,
                                               const struct actor_letter *letter)
{
    const struct actor_subscription *taker =
        oldest_of(correlation, letter, letter->published.key, false);
    if (taker == NULL && letter->published.key.count > 0) {
        taker = oldest_of(correlation, letter, SPAN_EMPTY, false);
    }
    return taker == NULL ? NULL : taker->listener;
}

bool actor_correlation_is_wanted(const struct actor_correlation *correlation,
                                 const struct actor_letter *letter)
{
    return oldest_of(correlation, letter, letter->published.key, true) != NULL ||
           oldest_of(correlation, letter, SPAN_EMPTY, true) != NULL;
}

static struct actor_letter *older(struct actor_letter *a, struct actor_letter *b)
{
    return a == NULL || b->order < a->order ? b : a;
}

static bool may_take(const struct actor_subscription *subscription,
                     const struct actor_letter *letter, int64_t unix_ms)
{
    return !letter->handed && actor_correlation_lives(letter, unix_ms) &&
           fits(subscription, letter);
}

static struct actor_letter *oldest_for(const struct actor_correlation *correlation,
                                       const struct actor_subscription *subscription,
                                       int64_t unix_ms)
{
    struct actor_letter *oldest = NULL;
    bool any_key = subscription->key.count == 0;
    struct actor_link *link =
        any_key ? actor_table_find(&correlation->by_name, base_hash(subscription->name, 1))
                : actor_table_find(&correlation->by_key,
                                   key_hash(subscription->name, subscription->key));
    for (; link != NULL; link = actor_table_again(link)) {
        struct actor_letter *letter = any_key ? ACTOR_OWNER(actor_letter, by_name, link)
                                              : ACTOR_OWNER(actor_letter, by_key, link);
        if (may_take(subscription, letter, unix_ms)) {
            oldest = older(oldest, letter);
        }
    }
    return oldest;
}

struct actor_letter *actor_correlation_next(const struct actor_correlation *correlation,
                                            const struct actor_listener *listener, int64_t unix_ms)
{
    struct actor_letter *oldest = NULL;
    for (const struct actor_subscription *subscription = listener->subscriptions;
         subscription != NULL && !listener->busy; subscription = subscription->next) {
        struct actor_letter *letter =
            subscription->is_signal ? NULL : oldest_for(correlation, subscription, unix_ms);
        oldest = letter == NULL ? oldest : older(oldest, letter);
    }
    return oldest;
}

/* ---- time ---- */

void actor_correlation_remind(struct actor_correlation *correlation, struct actor_letter *letter,
                              int64_t due_ms)
{
    if (actor_alarms_set(&correlation->alarms, &letter->alarm, due_ms) != RESULT_OK) {
        /* It stays until the next start; nobody takes it once it has expired. */
        log_line(LOG_ERROR, "MESSAGE-ALARM-LOST", "reason=\"no memory\"");
    }
}

struct actor_letter *actor_correlation_due(struct actor_correlation *correlation, int64_t unix_ms)
{
    struct actor_alarm *alarm = actor_alarms_take(&correlation->alarms, unix_ms);
    return alarm == NULL ? NULL : ACTOR_OWNER(actor_letter, alarm, alarm);
}

int64_t actor_correlation_due_ms(const struct actor_correlation *correlation)
{
    return actor_alarms_next_ms(&correlation->alarms);
}

uint32_t actor_correlation_count(const struct actor_correlation *correlation)
{
    return actor_table_count(&correlation->by_id);
}
