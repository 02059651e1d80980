/*
 * exchange.h: one request and its reply on a link, waited for with a clock of our own.
 *
 * NNG has time-outs, and nng_aio_wait relies on them; but an operation of version 1.5.2 was seen to
 * stay under way beyond its time while its peer was being killed. Here the caller waits on a
 * condition: what NNG has not ended a little after its time is cancelled, and what is not ended
 * then is left to itself: its end, which comes with the close of its link at the latest, frees it.
 */
#ifndef TRANSPORT_CLIENT_EXCHANGE_H
#define TRANSPORT_CLIENT_EXCHANGE_H

#include "proto/base/span.h"
#include "transport/client/link.h"

struct client_exchange;

/* A context of its own on the link, which it holds until closed. RESULT_LIMIT, RESULT_CLOSED. */
MUST_USE enum result client_exchange_open(struct client_link *link, struct client_exchange **out);
/* RESULT_OK: a connection has taken the request. RESULT_TIMEOUT: none did. */
MUST_USE enum result client_exchange_send(struct client_exchange *exchange, struct span request,
                                          uint64_t timeout_ms);
/* After a send that was taken. RESULT_OK: the reply is the caller's. RESULT_TIMEOUT, RESULT_CLOSED
 * the connection ended. */
MUST_USE enum result client_exchange_receive(struct client_exchange *exchange, uint64_t timeout_ms,
                                             nng_msg **reply);
/* Never blocks for long, whatever NNG does. False: something is still under way, so that the link
 * had better be given up. */
bool client_exchange_close(struct client_exchange *exchange);

#endif
