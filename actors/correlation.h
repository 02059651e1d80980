/*
 * correlation.h: who listens for which message or signal, and the messages that nobody has taken
 * yet. One shard keeps the names whose hash picks it (a subscription without a correlation key
 * takes any message of its name, so the key cannot pick the shard). A derived thing: recovery
 * builds it anew from the waiting executions and the journal's messages.
 *
 * Messages of a name and key are taken in the order they came, by subscriptions in the order these
 * were made; an execution is given one message at a time.
 */
#ifndef ACTORS_CORRELATION_H
#define ACTORS_CORRELATION_H

#include <stdbool.h>

#include "actors/clock.h"
#include "actors/table.h"
#include "proto/base/id.h"
#include "proto/base/result.h"
#include "proto/message.h"

/* An execution that listens. */
struct actor_listener {
    struct actor_link link; /* by execution id */
    struct actor_subscription *subscriptions;
    struct execution_id id;
    bool busy; /* a message is on its way to it */
};

struct actor_subscription {
    struct actor_link link;          /* by name and key; signals by name */
    struct actor_subscription *next; /* of the same execution */
    struct actor_listener *listener;
    uint64_t order;
    bool is_signal;
    struct span workspace, name, key; /* own memory, behind the struct */
};

/* A message that waits to be taken. */
struct actor_letter {
    struct actor_link by_id, by_key, by_name;
    struct actor_alarm alarm; /* Unix ms: when it expires, or is to be tried again */
    uint64_t order;
    bool handed;                    /* it is on its way to a listener, or to a start */
    bool awaited;                   /* without any time to live: who wanted it had no time */
    struct proto_publish published; /* spans in own memory, behind the struct */
};

struct actor_correlation {
    /* private to correlation.c */
    struct actor_table listeners;
    struct actor_table subscriptions;
    struct actor_table signals;
    struct actor_table by_id, by_key, by_name;
    struct actor_alarms alarms;
    uint64_t order;
};

void actor_correlation_init(struct actor_correlation *correlation);
void actor_correlation_release(struct actor_correlation *correlation);

/* ---- who listens ---- */

/* One of what an execution listens for; borrowed. */
struct actor_wanted {
    bool is_signal;
    struct span name;
    struct span key;
};
/*
 * In place of all that the execution has listened for before; what it goes on listening for keeps
 * its place in the order. RESULT_LIMIT: no memory, and some are missing.
 */
MUST_USE enum result actor_correlation_listen(struct actor_correlation *correlation,
                                              const struct execution_id *id, struct span workspace,
                                              const struct actor_wanted *wanted, size_t count);
/* NULL: it listens for nothing here. */
struct actor_listener *actor_correlation_listener(const struct actor_correlation *correlation,
                                                  struct span execution_id);
/* It has refused that message: what it was given for is void until it says again what it wants. */
void actor_correlation_refused(struct actor_correlation *correlation, struct span execution_id,
                               const struct actor_letter *letter);
/* No message is on its way to it any more. */
void actor_correlation_rests(struct actor_correlation *correlation, struct span execution_id);
/* Each that hears a signal, once. */
void actor_correlation_hear(const struct actor_correlation *correlation, struct span workspace,
                            struct span name,
                            void (*each)(void *owner, const struct execution_id *id), void *owner);

/* ---- messages ---- */

/* A copy; *letter NULL and RESULT_EXISTS: one of this id is here. RESULT_LIMIT. */
MUST_USE enum result actor_correlation_add(struct actor_correlation *correlation,
                                           const struct proto_publish *published,
                                           struct actor_letter **letter);
struct actor_letter *actor_correlation_find(const struct actor_correlation *correlation,
                                            struct span id);
/* May it still be taken by who comes now? One without any time to live is for who is there when it
 * comes, whatever the clock of another shard says. */
static inline bool actor_correlation_lives(const struct actor_letter *letter, int64_t unix_ms)
{
    return letter->awaited || (letter->published.expires_ms > unix_ms &&
                               letter->published.expires_ms > letter->published.at_ms);
}
/* Frees it. */
void actor_correlation_take(struct actor_correlation *correlation, struct actor_letter *letter);
/* Who is to take it: by key first, then any of its name that has none; NULL: nobody who has time.
 */
struct actor_listener *actor_correlation_taker(const struct actor_correlation *correlation,
                                               const struct actor_letter *letter);
/* Is anybody for whom it is, busy or not? */
bool actor_correlation_is_wanted(const struct actor_correlation *correlation,
                                 const struct actor_letter *letter);
/* The oldest that the listener may be given at that time; NULL: none, or it is busy. */
struct actor_letter *actor_correlation_next(const struct actor_correlation *correlation,
                                            const struct actor_listener *listener, int64_t unix_ms);
/* The alarm of a letter. */
void actor_correlation_remind(struct actor_correlation *correlation, struct actor_letter *letter,
                              int64_t due_ms);
/* The next whose alarm has rung; NULL. */
struct actor_letter *actor_correlation_due(struct actor_correlation *correlation, int64_t unix_ms);
/* INT64_MAX: never. */
int64_t actor_correlation_due_ms(const struct actor_correlation *correlation);
uint32_t actor_correlation_count(const struct actor_correlation *correlation);

#endif
