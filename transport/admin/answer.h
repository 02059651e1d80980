/*
 * answer.h: responses on their way to HTTP. Each function ends `http`, NNG's handle of a request,
 * which is the server's again then. Any thread; not with a lock held.
 */
#ifndef TRANSPORT_ADMIN_ANSWER_H
#define TRANSPORT_ADMIN_ANSWER_H

#include <nng/nng.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/span.h"
#include "proto/message.h"

struct admin_answer {
    uint16_t status;
    const char *content_type;
    struct span body;
    const char *policy; /* Content-Security-Policy; NULL: nothing may be done with it */
    bool close;         /* the connection cannot go on: its body was not read */
    bool wait_a_bit;    /* Retry-After */
};

/* The one way in which a response leaves; the body is copied. */
void admin_answer(nng_aio *http, struct admin_answer answer);
/* An error reply with the status that goes with its code, or with another one. */
void admin_answer_refusal(nng_aio *http, enum proto_error error, const char *why, bool close);
void admin_answer_status(nng_aio *http, uint16_t status, enum proto_error error, const char *why,
                         bool close);
/* A reply as the engine gave it. */
void admin_answer_value(nng_aio *http, struct span value, enum proto_spelling spelling, bool close);

#endif
