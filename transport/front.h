/*
 * front.h: the port of the request side: whoever speaks to gateways turns frames into PROTO_REQUEST messages for `router`
 * and PROTO_REPLY answers back into frames.
 *
 * A request keeps one slot (an NNG context) from its arrival to its reply, so `pending_max` bounds what is in flight; the
 * reply may be sent from any thread. Frames: JSON when the first byte after ASCII space is '{', else MessagePack.
 */
#ifndef TRANSPORT_FRONT_H
#define TRANSPORT_FRONT_H

#include "proto/base/result.h"
#include "proto/message.h"
#include "proto/sink.h"

struct transport_front;

struct transport_front_options {
    const char *const *urls; /* tcp:// ipc:// ws:// tls+tcp:// */
    size_t url_count;
    struct proto_sink *router;      /* gets PROTO_REQUEST; RESULT_AGAIN is answered with Overloaded here */
    const char *const *tokens;      /* accepted values of `token`; none: no check */
    size_t token_count;
    size_t request_bytes_max;       /* larger frames: the peer's pipe is closed by NNG, counted and logged */
    uint32_t pending_max;           /* contexts at most; they are made as load asks for them */
    const char *tls_cert_key_file;  /* PEM, for tls+tcp; NULL else */
};

/* Counters, monotonic, readable from any thread. */
struct transport_front_stats {
    uint64_t requests;
    uint64_t invalid; /* answered InvalidRequest here */
    uint64_t unauthorized;
    uint64_t overloaded;
    uint64_t oversized;
    uint32_t pending;
    uint32_t contexts;
};

/*
 * Listens on all urls. On failure *error is a static or owned text for a person (which url, why), freed with the front or
 * never. Errors: RESULT_INVALID bad url, RESULT_EXISTS address in use, RESULT_DENIED beyond loopback without a token.
 */
MUST_USE enum result transport_front_open(const struct transport_front_options *options, struct transport_front **out,
                                          char error[256]);
void transport_front_stats(struct transport_front *front, struct transport_front_stats *out);
/* Stops taking requests; those in flight may still be answered until close. */
void transport_front_quiesce(struct transport_front *front);
/* Requests still unanswered are dropped. Bounded: stops all aio first, frees last. */
void transport_front_close(struct transport_front *front);

#endif
