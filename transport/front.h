/*
 * front.h: the port of the request side: whoever speaks to gateways turns frames into PROTO_REQUEST
 * messages for `router` and PROTO_REPLY answers back into frames.
 *
 * A request keeps one slot (an NNG context) from its arrival until its reply is on its way, so
 * `pending_max` bounds what is in flight; what comes on top of that is answered Overloaded at once.
 * The reply may be sent from any thread. Frames: JSON when the first byte after ASCII space is '{',
 * else MessagePack.
 */
#ifndef TRANSPORT_FRONT_H
#define TRANSPORT_FRONT_H

#include "proto/base/result.h"
#include "proto/message.h"
#include "proto/sink.h"
#include "transport/tls.h"

struct transport_front;

struct transport_front_options {
    const char *const *urls; /* tcp:// ipc:// ws:// tls+tcp:// wss:// */
    size_t url_count;
    struct proto_sink *router; /* gets PROTO_REQUEST; its AGAIN is answered with Overloaded here */
    const char *const *tokens; /* accepted values of `token`; none: no check. Outlive the front */
    size_t token_count;
    /* Larger: answered PayloadTooLarge; over twice that NNG closes the peer's pipe. */
    size_t request_bytes_max;
    uint32_t pending_max; /* requests in flight; contexts for them are made as load asks for them */
    uint32_t connections_max; /* more are closed as they come, ungreeted; 0: no bound */
    struct transport_tls tls; /* for tls+tcp:// and wss:// */
};

/* Counters, monotonic but for the last three, readable from any thread. */
struct transport_front_stats {
    uint64_t requests;
    uint64_t replies; /* taken by the peer's connection */
    uint64_t unsent;  /* replies whose peer had gone */
    uint64_t invalid; /* answered InvalidRequest here */
    uint64_t unauthorized;
    uint64_t overloaded;
    uint64_t oversized;
    uint64_t unread;  /* peers cut off because they did not read for 30 s */
    uint64_t late;    /* answers to a request that had one already, or to none */
    uint64_t crowded; /* connections beyond connections_max */
    uint32_t connections;
    uint32_t pending;
    uint32_t contexts;
};

/*
 * Listens on all urls. On failure `error` holds a text for a person (which url, why).
 * Errors: RESULT_INVALID bad url, RESULT_EXISTS address in use, RESULT_DENIED beyond loopback
 * without a token (or no right to that address), RESULT_LIMIT no memory.
 */
MUST_USE enum result transport_front_open(const struct transport_front_options *options,
                                          struct transport_front **out, char error[256]);
/* The TCP port that url number `url_index` got (for ":0"); 0 when it has none. */
uint16_t transport_front_port(const struct transport_front *front, size_t url_index);
void transport_front_stats(struct transport_front *front, struct transport_front_stats *out);
/* From here on new requests are answered ShuttingDown; those in flight may still be answered until
 * close. */
void transport_front_quiesce(struct transport_front *front);
/*
 * Requests still unanswered are dropped. Bounded: after 5 s a connection that NNG does not let go
 * of is left behind, with the front's memory, and logged. The router must live until this returns,
 * and nobody may answer any more once it has been called (close it after the actors have stopped).
 * NULL is fine.
 */
void transport_front_close(struct transport_front *front);

#endif
