/*
 * waiter.h: for a plain thread (main, a test) that must wait for one answer of an actor.
 */
#ifndef ACTORS_WAITER_H
#define ACTORS_WAITER_H

#include <pthread.h>

#include "proto/message.h"

/* A mutex and a condition, because the one who waits is no actor: it has no mailbox to get the
 * answer in. */
struct actor_waiter {
    struct proto_sink sink; /* reply_to of what you send; takes any number of answers */
    /* private to waiter.c */
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct proto_message *oldest;
    struct proto_message **newest;
};

void actor_waiter_init(struct actor_waiter *waiter);
/* The next answer, yours to free; NULL when none came in time. */
struct proto_message *actor_waiter_next(struct actor_waiter *waiter, uint32_t timeout_ms);
/* Frees answers nobody asked for. No answer may be outstanding. */
void actor_waiter_release(struct actor_waiter *waiter);

#endif
