/*
 * admin.h: the port of the HTTP side: / (a page), /healthz /readyz /metrics, /v1/… (the operations
 * as REST), /v1/events (server-sent). NNG's HTTP server; handlers run on NNG's threads and send the
 * same PROTO_REQUEST messages as the front.
 *
 * Routes (docs/interfaces): POST|GET /v1/executions · GET|DELETE /v1/executions/{id} ·
 * POST /v1/executions/{id}/callback|suspend|resume|abort|restart|retry|migrate,
 * /v1/executions/import · GET /v1/tasks · GET|POST /v1/definitions · POST /v1/messages, /v1/signals
 * · GET /v1/stats, /v1/ping · POST /v1/ops (any request as the NNG front takes it) · POST
 * /api/workflows/{id}/resume (the body is the callback's payload; ?taskId=) · POST /hooks/{path} (a
 * webhook) · GET /v1/events. Bodies are JSON or MessagePack and are answered alike. Errors have the
 * front's shape and an HTTP status to match.
 */
#ifndef TRANSPORT_ADMIN_H
#define TRANSPORT_ADMIN_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/sink.h"
#include "transport/tls.h"

struct transport_admin;

/* What main knows and the listener shows. All functions: any thread, quick, no blocking. */
struct transport_admin_view {
    void *owner;
    bool (*ready)(void *owner, struct arena *arena, struct span *why_not);
    /* Prometheus text format, every series present from the start. */
    void (*metrics)(void *owner, struct arena *arena, struct span *text);
};

/* The page at "/": what it is, only main knows. Both must outlive the listener. */
struct transport_admin_page {
    struct span html;   /* empty: there is none, and "/" is 404 */
    const char *policy; /* its Content-Security-Policy */
};

struct transport_admin_options {
    const char *url;          /* "http://127.0.0.1:7780", https://; port 0: any */
    struct transport_tls tls; /* for https:// */
    struct proto_sink *router;
    struct transport_admin_view view;
    struct transport_admin_page page;
    const char *const *tokens; /* "Authorization: Bearer …"; healthz, readyz and the page, which
                                  holds no data, are open. Must outlive the listener */
    size_t token_count;
    /* "PATH=SECRET", PATH as below /hooks/ or "*" for all others: such a webhook's sender shows
     * that it knows the secret, by a signature or a header, in place of a token. Must outlive the
     * listener. */
    const char *const *hook_secrets;
    size_t hook_secret_count;
    size_t request_bytes_max;
    uint32_t timeout_ms; /* a REST request without an answer by then gets 504 and code Timeout */
};

/* Counters, readable from any thread. */
struct transport_admin_stats {
    uint64_t requests;
    uint64_t timeouts;
    uint64_t events_lost; /* to listeners that read too slowly */
    uint32_t pending;
    uint32_t listeners;
};

/*
 * Without tokens only local addresses are served, and only to a local Host header (a web page
 * elsewhere must not reach the engine through a browser's DNS); a request with a foreign Origin is
 * refused in any case. Errors as transport_front_open.
 */
MUST_USE enum result transport_admin_open(const struct transport_admin_options *options,
                                          struct transport_admin **out, char error[256]);
/* Is this "PATH=SECRET", neither of them empty? */
bool transport_hook_secret_is_sound(const char *entry);
uint16_t transport_admin_port(const struct transport_admin *admin);
void transport_admin_stats(struct transport_admin *admin, struct transport_admin_stats *out);
/* Takes PROTO_EVENT messages (any thread) and sends them to every /v1/events listener; slow
 * listeners lose events, counted. */
struct proto_sink *transport_admin_events(struct transport_admin *admin);
/* Does anybody listen to events just now? Any thread, cheap: ask before making one. */
bool transport_admin_is_watched(struct transport_admin *admin);
/* What waits for an answer gets ShuttingDown, and so does what comes from here on. Answers that
 * come later find nobody. */
void transport_admin_quiesce(struct transport_admin *admin);
/* Drops what is unanswered. As for the front: nobody may answer or send events any more. NULL is
 * fine. */
void transport_admin_close(struct transport_admin *admin);

#endif
