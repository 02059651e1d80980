/*
 * admin.h: the port of the HTTP side: /healthz /readyz /metrics, /v1/… (the operations as REST),
 * /v1/events (server-sent). NNG's HTTP server; handlers run on NNG's threads and send the same
 * PROTO_REQUEST messages as the front.
 */
#ifndef TRANSPORT_ADMIN_H
#define TRANSPORT_ADMIN_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/sink.h"

struct transport_admin;

/* What main knows and the listener shows. All functions: any thread, quick, no blocking. */
struct transport_admin_view {
    void *owner;
    bool (*ready)(void *owner, struct arena *arena, struct span *why_not);
    /* Prometheus text format, every series present from the start. */
    void (*metrics)(void *owner, struct arena *arena, struct span *text);
};

struct transport_admin_options {
    const char *url; /* "http://127.0.0.1:7780" */
    struct proto_sink *router;
    struct transport_admin_view view;
    const char *const *tokens; /* "Authorization: Bearer …"; healthz and readyz are open */
    size_t token_count;
    size_t request_bytes_max;
    uint32_t timeout_ms; /* a REST request without an answer by then gets 504 and code Timeout */
};

MUST_USE enum result transport_admin_open(const struct transport_admin_options *options,
                                          struct transport_admin **out, char error[256]);
/* Takes PROTO_EVENT messages (any thread) and sends them to every /v1/events listener; slow
 * listeners lose events, counted. */
struct proto_sink *transport_admin_events(struct transport_admin *admin);
void transport_admin_close(struct transport_admin *admin);

#endif
