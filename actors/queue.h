/*
 * queue.h: messages in order, linked through themselves. Belongs to one actor.
 */
#ifndef ACTORS_QUEUE_H
#define ACTORS_QUEUE_H

#include "proto/message.h"

/* Zeroed: empty. */
struct actor_queue {
    struct proto_message *oldest;
    struct proto_message *newest;
};

static inline void actor_queue_push(struct actor_queue *queue, struct proto_message *message)
{
    message->next = NULL;
    if (queue->oldest == NULL) {
        queue->oldest = message;
    } else {
        queue->newest->next = message;
    }
    queue->newest = message;
}

static inline struct proto_message *actor_queue_pop(struct actor_queue *queue)
{
    struct proto_message *message = queue->oldest;
    if (message != NULL) {
        queue->oldest = message->next;
        message->next = NULL;
    }
    return message;
}

/* Moves all of `from` behind what is in `queue`. */
static inline void actor_queue_append(struct actor_queue *queue, struct actor_queue *from)
{
    if (from->oldest == NULL) {
        return;
    }
    if (queue->oldest == NULL) {
        queue->oldest = from->oldest;
    } else {
        queue->newest->next = from->oldest;
    }
    queue->newest = from->newest;
    from->oldest = NULL;
}

static inline void actor_queue_clear(struct actor_queue *queue)
{
    struct proto_message *message;
    while ((message = actor_queue_pop(queue)) != NULL) {
        message_free(message);
    }
}

#endif
