/*
 * client.h: the gateway's side of the NNG front: used by the command line verbs, the load harness
 * and the tests.
 */
#ifndef TRANSPORT_CLIENT_H
#define TRANSPORT_CLIENT_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct transport_client;

/* Dials in the background; the first call waits for the connection within its own timeout. */
MUST_USE enum result transport_client_open(const char *url, struct transport_client **out,
                                           char error[256]);
/*
 * Sends one request (a MAP value, sent as MessagePack) and waits for its reply (a MAP value in the
 * arena). NNG's resend is switched off. RESULT_TIMEOUT, RESULT_CLOSED, RESULT_INVALID (the reply is
 * no MAP value).
 */
MUST_USE enum result transport_client_call(struct transport_client *client, struct span request,
                                           uint32_t timeout_ms, struct arena *arena,
                                           struct span *reply);
void transport_client_close(struct transport_client *client);

#endif
