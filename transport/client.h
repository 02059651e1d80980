/*
 * client.h: the gateway's side of the NNG front: used by the command line verbs, the load harness
 * and the tests.
 */
#ifndef TRANSPORT_CLIENT_H
#define TRANSPORT_CLIENT_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"
#include "transport/tls.h"

struct transport_client;

/*
 * Dials in the background; the first call waits for the connection within its own timeout. A
 * connection that takes nothing for 2 s (then 4, 8, 16, 32), or has let three replies in a row be
 * late, is given up for a new one: sockets of NNG 1.5.2 may never come back by themselves.
 */
MUST_USE enum result transport_client_open(const char *url, struct transport_client **out,
                                           char error[256]);
/* The same for tls+tcp:// and wss://: whom to trust, and what to show of ourselves. `tls` may be
 * NULL; its files are checked here, and must outlive the client. */
MUST_USE enum result transport_client_open_tls(const char *url, const struct transport_tls *tls,
                                               struct transport_client **out, char error[256]);
/*
 * Sends one request (a MAP value, sent as MessagePack) and waits for its reply (a MAP value in the
 * arena). What a connection has taken is sent once: NNG's resend is switched off. Returns within
 * `timeout_ms` and a second. Any thread. RESULT_TIMEOUT, RESULT_CLOSED (the connection ended before
 * the reply), RESULT_INVALID (the reply is no MAP value), RESULT_DENIED (each TLS handshake failed:
 * the engine's certificate is not signed by whom we trust or not for that name, or ours is not
 * taken).
 */
MUST_USE enum result transport_client_call(struct transport_client *client, struct span request,
                                           uint32_t timeout_ms, struct arena *arena,
                                           struct span *reply);
/* How often a connection was given up. Any thread. */
uint32_t transport_client_reopened(struct transport_client *client);
/* With no call under way. Waits half a second at most. NULL is fine. */
void transport_client_close(struct transport_client *client);

#endif
