/*
 * outbox.h: answers on their way to a thread of NNG's, which sends them.
 *
 * A shard answers a whole batch at once. Sent from its own thread, each answer would wait for the
 * REP socket's lock and for NNG's threads, which the last answer has just woken; so the shard only
 * leaves them here, and one of those threads sends them all.
 */
#ifndef TRANSPORT_FRONT_OUTBOX_H
#define TRANSPORT_FRONT_OUTBOX_H

#include <nng/nng.h>
#include <stdatomic.h>

#include "proto/message.h"

/* Takes the answer. On a thread of NNG's; two calls may be under way at once. */
typedef void (*front_deliver_fn)(void *owner, struct proto_message *answer);

struct front_outbox {
    /* private to outbox.c */
    front_deliver_fn deliver;
    void *owner;
    nng_aio *sender;
    /*
     * Newest first. A push is a release, taking all is an acquire: what the answer holds is seen.
     * Not a mailbox of an actor's, because NNG's threads have no loop to wake.
     */
    struct proto_message *_Atomic newest;
};

/* RESULT_LIMIT: no memory; what is zeroed may be released. */
MUST_USE enum result front_outbox_init(struct front_outbox *outbox, front_deliver_fn deliver,
                                       void *owner);
/* Any thread. Takes the answer. */
void front_outbox_push(struct front_outbox *outbox, struct proto_message *answer);
/* Waits for a delivery under way; what is pushed from now on stays. */
void front_outbox_stop(struct front_outbox *outbox);
/* Stops, and frees what was not delivered. */
void front_outbox_release(struct front_outbox *outbox);

#endif
