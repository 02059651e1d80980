/*
 * answer.h: how an adapter that knows the outcome at once answers a request of a port
 * whose requests complete as PROTO_PORT_DONE.
 */
#ifndef STORAGE_ANSWER_H
#define STORAGE_ANSWER_H

#include "proto/base/span.h"
#include "proto/sink.h"

struct storage_answer {
    enum result result;
    struct span results; /* copied */
    struct span bytes;   /* copied */
};

/*
 * With someone waiting: sends the outcome and returns RESULT_OK (RESULT_LIMIT, and no answer, when
 * there is no memory for it). With nobody waiting: returns the outcome.
 */
enum result storage_answer(struct proto_address reply_to, struct storage_answer answer);

#endif
