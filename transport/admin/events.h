/*
 * events.h: the listeners of /v1/events: server-sent events (WHATWG HTML §9.2) on connections taken
 * over from NNG's HTTP server. Every function: any thread.
 */
#ifndef TRANSPORT_ADMIN_EVENTS_H
#define TRANSPORT_ADMIN_EVENTS_H

#include <nng/nng.h>
#include <nng/supplemental/http/http.h>

#include "proto/base/result.h"
#include "proto/sink.h"

struct admin_events;

/* NULL without memory. */
struct admin_events *admin_events_new(void);
/* Ends every listener, waits until NNG has let go of them, frees. */
void admin_events_free(struct admin_events *events);
/* Takes PROTO_EVENT. */
struct proto_sink *admin_events_sink(struct admin_events *events);
/* Takes a hijacked connection over; on RESULT_AGAIN (as many listeners as there may be, or no
 * memory) it is still yours. */
MUST_USE enum result admin_events_add(struct admin_events *events, nng_http_conn *connection);
uint32_t admin_events_listeners(struct admin_events *events);
uint64_t admin_events_lost(struct admin_events *events);

#endif
