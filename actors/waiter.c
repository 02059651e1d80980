/*
 * waiter.c: happens-before is the mutex: taken by the sender to queue the answer, by the waiter to
 * take it.
 */
#include "actors/waiter.h"

#include <time.h>

#include "proto/base/assert.h"

static enum result take(struct proto_sink *self, struct proto_message **message)
{
    struct actor_waiter *waiter =
        (struct actor_waiter *)((char *)self - offsetof(struct actor_waiter, sink));
    pthread_mutex_lock(&waiter->mutex);
    (*message)->next = NULL;
    *waiter->newest = *message;
    waiter->newest = &(*message)->next;
    *message = NULL;
    pthread_cond_signal(&waiter->arrived);
    pthread_mutex_unlock(&waiter->mutex);
    return RESULT_OK;
}

void actor_waiter_init(struct actor_waiter *waiter)
{
    *waiter = (struct actor_waiter){.sink.send = take};
    waiter->newest = &waiter->oldest;
    pthread_mutex_init(&waiter->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&waiter->arrived, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

struct proto_message *actor_waiter_next(struct actor_waiter *waiter, uint32_t timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&waiter->mutex);
    while (waiter->oldest == NULL) {
        if (pthread_cond_timedwait(&waiter->arrived, &waiter->mutex, &until) != 0) {
            break;
        }
    }
    struct proto_message *message = waiter->oldest;
    if (message != NULL) {
        waiter->oldest = message->next;
        if (waiter->oldest == NULL) {
            waiter->newest = &waiter->oldest;
        }
    }
    pthread_mutex_unlock(&waiter->mutex);
    return message;
}

void actor_waiter_release(struct actor_waiter *waiter)
{
    while (waiter->oldest != NULL) {
        struct proto_message *message = waiter->oldest;
        waiter->oldest = message->next;
        message_free(message);
    }
    pthread_cond_destroy(&waiter->arrived);
    pthread_mutex_destroy(&waiter->mutex);
}
