/* outbox.c: see outbox.h. Whoever pushes onto an empty outbox starts the sender. */
#include "transport/front/outbox.h"

#include "proto/base/assert.h"

static void send_all(void *arg);
static struct proto_message *take_oldest_first(struct front_outbox *outbox);

enum result front_outbox_init(struct front_outbox *outbox, front_deliver_fn deliver, void *owner)
{
    *outbox = (struct front_outbox){.deliver = deliver, .owner = owner};
    return nng_aio_alloc(&outbox->sender, send_all, outbox) == 0 ? RESULT_OK : RESULT_LIMIT;
}

void front_outbox_push(struct front_outbox *outbox, struct proto_message *answer)
{
    ASSERT(answer->magic == PROTO_MESSAGE_MAGIC);
    struct proto_message *newest = atomic_load_explicit(&outbox->newest, memory_order_relaxed);
    do {
        answer->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&outbox->newest, &newest, answer,
                                                    memory_order_release, memory_order_relaxed));
    if (newest == NULL && nng_aio_begin(outbox->sender)) {
        nng_aio_finish(outbox->sender, 0);
    }
}

static void send_all(void *arg)
{
    struct front_outbox *outbox = arg;
    struct proto_message *oldest = take_oldest_first(outbox);
    while (oldest != NULL) {
        struct proto_message *answer = oldest;
        oldest = answer->next;
        answer->next = NULL;
        outbox->deliver(outbox->owner, answer);
    }
}

static struct proto_message *take_oldest_first(struct front_outbox *outbox)
{
    struct proto_message *newest =
        atomic_exchange_explicit(&outbox->newest, NULL, memory_order_acquire);
    struct proto_message *oldest = NULL;
    while (newest != NULL) {
        struct proto_message *older = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = older;
    }
    return oldest;
}

void front_outbox_stop(struct front_outbox *outbox)
{
    if (outbox->sender != NULL) {
        nng_aio_stop(outbox->sender);
    }
}

void front_outbox_release(struct front_outbox *outbox)
{
    front_outbox_stop(outbox);
    struct proto_message *oldest = take_oldest_first(outbox);
    while (oldest != NULL) {
        struct proto_message *answer = oldest;
        oldest = answer->next;
        answer->next = NULL;
        message_free(answer);
    }
    if (outbox->sender != NULL) {
        nng_aio_free(outbox->sender);
        outbox->sender = NULL;
    }
}
