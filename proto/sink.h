/*
 * sink.h: where a message can be sent. Actors, adapters and tests all look like this to each other;
 * main wires them.
 */
#ifndef PROTO_SINK_H
#define PROTO_SINK_H

#include <stdint.h>

#include "proto/base/result.h"

struct proto_message;

struct proto_sink {
    /*
     * Any thread; never blocks. On RESULT_OK *message is taken and set NULL; on RESULT_AGAIN
     * (bounded queue full) or RESULT_CLOSED it is still the caller's. Answers (messages sent to a
     * reply_to) are never refused with AGAIN: the room for them was reserved by the request's own
     * admission.
     */
    enum result (*send)(struct proto_sink *self, struct proto_message **message);
};

/* Whom to answer; `ticket` comes back unchanged and means something to the asker only. */
struct proto_address {
    struct proto_sink *sink; /* NULL: nobody waits */
    uint64_t ticket;
};

#endif
