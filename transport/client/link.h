/*
 * link.h: one REQ socket that dials the engine, shared by the calls on it.
 *
 * A socket of NNG 1.5.2 whose peer was killed may stop dialing for good: nothing takes a request
 * any more, and no error says so. So the client gives up a link that has been useless for a while
 * and opens another; this one is closed when its last call has left it.
 */
#ifndef TRANSPORT_CLIENT_LINK_H
#define TRANSPORT_CLIENT_LINK_H

#include <nng/nng.h>
#include <stdatomic.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "transport/tls.h"

struct client_link {
    nng_socket socket;
    nng_dialer dialer;
    bool is_tls;
    bool is_websocket;
    _Atomic uint32_t holders;       /* the last to leave closes it */
    _Atomic uint64_t progressed_ms; /* when it was opened, or has taken a request last */
};

/* Held once, by the caller. RESULT_LIMIT no memory, RESULT_INVALID the URL, and what NNG says of a
 * file; `error` says it. */
MUST_USE enum result client_link_open(const char *url, const struct transport_tls *tls,
                                      struct client_link **out, char error[256]);
/* Has it met a peer, but never one that it shook hands with? Over TLS only: without it a peer that
 * is none of ours says nothing. */
bool client_link_is_denied(const struct client_link *link);
/* For somebody else too: by a holder, or under the lock that a holder's pointer is read under. */
void client_link_hold(struct client_link *link);
/* The last one out closes the socket, which ends what is under way on it, and waits for that, but
 * not for long. (A websocket that has no connection is only kept from dialing on.) */
void client_link_leave(struct client_link *link);

/* The monotonic clock of this folder. */
uint64_t client_now_ms(void);

#endif
