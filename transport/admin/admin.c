/*
 * admin.c: the HTTP listener: NNG's server and one handler for every path. What comes in is looked
 * at by the gate; pages are answered here, operations take a place (places.c), listeners of events
 * take their connection along (events.c).
 */
#include "transport/admin.h"

#include <nng/nng.h>
#include <nng/supplemental/http/http.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/log.h"
#include "transport/admin/answer.h"
#include "transport/admin/events.h"
#include "transport/admin/gate.h"
#include "transport/admin/hook_secret.h"
#include "transport/admin/places.h"
#include "transport/admin/route.h"
#include "transport/guard/frame.h"
#include "transport/guard/listen.h"
#include "transport/guard/refusal.h"
#include "transport/guard/tls.h"

#define ADMIN_MAGIC       0x41444d49u
#define ARENA_BLOCK_BYTES 4096u
#define ARENA_EXTRA_BYTES (4u << 20)

struct transport_admin {
    uint32_t magic;
    struct transport_admin_view view;
    struct transport_admin_page page;
    struct admin_gate gate;
    const char *const *hook_secrets; /* "PATH=SECRET" */
    size_t hook_secret_count;
    nng_http_server *server;
    struct admin_places *places;
    struct admin_events *events;
    uint16_t port;
    _Atomic uint64_t requests; /* a counter: relaxed */
};

static enum result start_server(struct transport_admin *admin,
                                const struct transport_admin_options *options, char error[256]);
static int add_handler(struct transport_admin *admin);
static void on_request(nng_aio *http);
static void answer_page(struct transport_admin *admin, nng_aio *http, enum route_target target);
static void answer_inspector(const struct transport_admin *admin, nng_aio *http);
static void listen_to_events(struct transport_admin *admin, nng_aio *http);

enum result transport_admin_open(const struct transport_admin_options *options,
                                 struct transport_admin **out, char error[256])
{
    ASSERT(options->router != NULL && options->view.ready != NULL && options->view.metrics != NULL);
    ASSERT(options->request_bytes_max > 0 && options->timeout_ms > 0);
    ASSERT(options->page.html.count == 0 || options->page.policy != NULL);
    *out = NULL;
    if (strstr(options->url, "://") == NULL) {
        snprintf(error, 256, "\"%s\" is no address: it must be http://HOST:PORT", options->url);
        return RESULT_INVALID;
    }
    if (options->token_count == 0 && !transport_url_is_local(options->url)) {
        snprintf(error, 256,
                 "%s reaches beyond this machine: set auth.tokens, or listen on 127.0.0.1",
                 options->url);
        return RESULT_DENIED;
    }
    if (transport_url_is_tls(options->url) && options->tls.certificate_file == NULL) {
        snprintf(error, 256, "%s needs a certificate: set admin.tlsCertificate", options->url);
        return RESULT_INVALID;
    }
    struct transport_admin *admin = calloc(1, sizeof *admin);
    if (admin == NULL) {
        snprintf(error, 256, "no memory for the HTTP listener");
        return RESULT_LIMIT;
    }
    admin->magic = ADMIN_MAGIC;
    admin->view = options->view;
    admin->page = options->page;
    admin->gate =
        (struct admin_gate){options->tokens, options->token_count, options->request_bytes_max};
    admin->hook_secrets = options->hook_secrets;
    admin->hook_secret_count = options->hook_secret_count;
    admin->places = admin_places_new(options->router, options->timeout_ms);
    admin->events = admin_events_new();
    enum result result = RESULT_LIMIT;
    if (admin->places == NULL || admin->events == NULL) {
        snprintf(error, 256, "no memory for the HTTP listener");
    } else {
        result = start_server(admin, options, error);
    }
    if (result != RESULT_OK) {
        transport_admin_close(admin);
        return result;
    }
    log_line(LOG_INFO, "ADMIN-LISTEN", "url=%s port=%u", options->url, admin->port);
    error[0] = '\0';
    *out = admin;
    return RESULT_OK;
}

static enum result start_server(struct transport_admin *admin,
                                const struct transport_admin_options *options, char error[256])
{
    nng_tls_config *tls = NULL;
    if (transport_url_is_tls(options->url)) {
        enum result result = transport_tls_listen(&options->tls, &tls, error);
        if (result != RESULT_OK) {
            return result;
        }
    }
    nng_url *parsed = NULL;
    int code = nng_url_parse(&parsed, options->url);
    if (code == 0 && (code = nng_http_server_hold(&admin->server, parsed)) != 0) {
        admin->server = NULL;
    }
    nng_url_free(parsed);
    if (code == 0 && tls != NULL) {
        code = nng_http_server_set_tls(admin->server, tls);
    }
    if (tls != NULL) {
        nng_tls_config_free(tls); /* the server holds it itself */
    }
    if (code == 0 && (code = add_handler(admin)) == 0) {
        code = nng_http_server_start(admin->server);
    }
    nng_sockaddr address;
    if (code == 0 && (code = nng_http_server_get_addr(admin->server, &address)) == 0) {
        uint16_t port =
            address.s_family == NNG_AF_INET6 ? address.s_in6.sa_port : address.s_in.sa_port;
        admin->port = (uint16_t)(port << 8 | port >> 8); /* network order */
    }
    if (code != 0) {
        snprintf(error, 256, "cannot listen on %s: %s", options->url, nng_strerror(code));
    }
    return transport_result_of_nng(code);
}

/* The body is read by us, after the path and the token have been looked at, so that refusals carry
 * the right status. */
static int add_handler(struct transport_admin *admin)
{
    nng_http_handler *handler = NULL;
    int code = nng_http_handler_alloc(&handler, "/", on_request);
    if (code != 0) {
        return code;
    }
    if ((code = nng_http_handler_set_method(handler, NULL)) != 0 ||
        (code = nng_http_handler_set_tree(handler)) != 0 ||
        (code = nng_http_handler_collect_body(handler, false, 0)) != 0 ||
        (code = nng_http_handler_set_data(handler, admin, NULL)) != 0 ||
        (code = nng_http_server_add_handler(admin->server, handler)) != 0) {
        nng_http_handler_free(handler);
    }
    return code; /* 0: it is the server's now */
}

uint16_t transport_admin_port(const struct transport_admin *admin)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    return admin->port;
}

void transport_admin_stats(struct transport_admin *admin, struct transport_admin_stats *out)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    struct admin_places_stats places;
    admin_places_stats(admin->places, &places);
    *out = (struct transport_admin_stats){
        .requests = atomic_load_explicit(&admin->requests, memory_order_relaxed),
        .timeouts = places.timeouts,
        .pending = places.pending,
        .listeners = admin_events_listeners(admin->events),
        .events_lost = admin_events_lost(admin->events),
    };
}

bool transport_admin_is_watched(struct transport_admin *admin)
{
    return admin_events_listeners(admin->events) > 0;
}

struct proto_sink *transport_admin_events(struct transport_admin *admin)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    return admin_events_sink(admin->events);
}

void transport_admin_quiesce(struct transport_admin *admin)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    admin_places_quiesce(admin->places);
}

void transport_admin_close(struct transport_admin *admin)
{
    if (admin == NULL) {
        return;
    }
    ASSERT(admin->magic == ADMIN_MAGIC);
    if (admin->server != NULL) {
        admin_places_shut(admin->places);
        /* Cancels every request, waits for their connections to go. */
        nng_http_server_stop(admin->server);
        nng_http_server_release(admin->server);
    }
    if (admin->places != NULL) {
        admin_places_free(admin->places);
    }
    if (admin->events != NULL) {
        admin_events_free(admin->events);
    }
    admin->magic = 0;
    free(admin);
}

/* Whoever watches over the process needs no token, and a browser has none before it has the page
 * that asks for it. */
static bool is_open(enum route_target target)
{
    return target == ROUTE_HEALTH || target == ROUTE_READY || target == ROUTE_INSPECTOR;
}

/* NNG calls this for every request, when its head has been read. */
static void on_request(nng_aio *http)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    struct transport_admin *admin = BASE_CAST(
        transport_admin, nng_http_handler_get_data(nng_aio_get_input(http, 1)), ADMIN_MAGIC);

    enum route_target target =
        route_find(nng_http_req_get_method(request), nng_http_req_get_uri(request));
    atomic_fetch_add_explicit(&admin->requests, 1, memory_order_relaxed);
    char why[ROUTE_WHY_BYTES];
    size_t body_bytes = 0;
    const char *secret = hook_secret_of(admin->hook_secrets, admin->hook_secret_count,
                                        nng_http_req_get_uri(request));
    enum proto_error error = admin_gate_check(&admin->gate, request,
                                              secret != NULL || is_open(target), &body_bytes, why);
    if (error == PROTO_ERROR_NONE && secret != NULL && body_bytes > HOOK_SIGNED_BYTES_MAX) {
        error = PROTO_ERROR_PayloadTooLarge;
        snprintf(why, sizeof why, "a webhook with a secret takes at most %u bytes",
                 HOOK_SIGNED_BYTES_MAX);
    }
    if (error != PROTO_ERROR_NONE) {
        admin_answer_refusal(http, error, why, true);
    } else if (target == ROUTE_UNKNOWN_PATH ||
               (target == ROUTE_INSPECTOR && admin->page.html.count == 0)) {
        admin_answer_status(http, 404, PROTO_ERROR_InvalidRequest, "no such path", body_bytes > 0);
    } else if (target == ROUTE_UNKNOWN_METHOD) {
        admin_answer_status(http, 405, PROTO_ERROR_InvalidRequest, "this path has no such method",
                            body_bytes > 0);
    } else if (target == ROUTE_EVENTS) {
        listen_to_events(admin, http);
    } else if (target == ROUTE_INSPECTOR) {
        answer_inspector(admin, http);
    } else if (target != ROUTE_OPERATION) {
        answer_page(admin, http, target);
    } else {
        admin_places_begin(admin->places, http, body_bytes, secret);
    }
}

static void answer_page(struct transport_admin *admin, nng_aio *http, enum route_target target)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    struct admin_answer answer = {.status = 200, .content_type = "application/json"};
    struct span text = SPAN_EMPTY;
    if (target == ROUTE_METRICS) {
        admin->view.metrics(admin->view.owner, &arena, &text);
        answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
        answer.body = text;
    } else if (target == ROUTE_HEALTH || admin->view.ready(admin->view.owner, &arena, &text)) {
        answer.body =
            target == ROUTE_HEALTH ? span_text("{\"ok\":true}\n") : span_text("{\"ready\":true}\n");
    } else {
        answer.status = 503;
        answer.wait_a_bit = true;
        const char *why_not =
            text.count == 0 ? "not ready" : (const char *)arena_copy(&arena, text).bytes;
        struct span why = transport_refusal(&arena, PROTO_ERROR_ShuttingDown,
                                            why_not == NULL ? "not ready" : why_not);
        answer.body = transport_value_spell(why, PROTO_JSON, &arena);
    }
    admin_answer(http, answer);
    arena_release(&arena);
}

static void answer_inspector(const struct transport_admin *admin, nng_aio *http)
{
    admin_answer(http, (struct admin_answer){
                           .status = 200,
                           .content_type = "text/html; charset=utf-8",
                           .body = admin->page.html,
                           .policy = admin->page.policy,
                       });
}

/* From the hijack on the connection and the request are ours, and the server forgets them. */
static void listen_to_events(struct transport_admin *admin, nng_aio *http)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    nng_http_conn *connection = nng_aio_get_input(http, 2);
    if (nng_http_hijack(connection) != 0) {
        admin_answer_refusal(http, PROTO_ERROR_Internal, "the connection cannot be taken over",
                             true);
        return;
    }
    nng_http_req_free(request);
    if (admin_events_add(admin->events, connection) != RESULT_OK) {
        log_line(LOG_WARN, "ADMIN-EVENTS-FULL", "listeners=%u",
                 admin_events_listeners(admin->events));
        nng_http_conn_close(connection);
    }
    nng_aio_set_output(http, 0, NULL);
    nng_aio_finish(http, 0);
}
