/*
 * admin.c: the HTTP listener: NNG's server, one handler for every path, a table of requests under
 * way.
 *
 * One mutex guards the table: requests come on NNG's threads, answers on whatever thread sends
 * PROTO_REPLY, time-outs on NNG's again; NNG gives no loop to send a message to, and this side is
 * not hot. Never held while calling a sink, the view or nng_http_hijack. Lock order: NNG's server
 * lock before ours (it cancels our requests with it held).
 *
 * A request holds a place until its `io` (reading the body, then waiting for the answer) has ended;
 * `http` is NNG's handle to it, taken (set NULL) by the first of: answer, time-out, cancellation by
 * the server.
 */
#include "transport/admin.h"

#include <nng/nng.h>
#include <nng/supplemental/http/http.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/message.h"
#include "transport/admin/events.h"
#include "transport/admin/hook.h"
#include "transport/admin/route.h"
#include "transport/admin/status.h"
#include "transport/guard/frame.h"
#include "transport/guard/listen.h"
#include "transport/guard/refusal.h"
#include "transport/guard/token.h"

#define ADMIN_MAGIC 0x41444d49u
#define PLACE_MAGIC 0x504c4143u

#define PLACES_MAX           1024u /* requests under way */
#define BODY_READ_TIMEOUT_MS 30000
#define METHOD_BYTES         16u
#define ARENA_BLOCK_BYTES    4096u
#define ARENA_EXTRA_BYTES    (4u << 20)

enum place_stage { PLACE_FREE = 0, PLACE_READING, PLACE_WAITING };

struct place {
    uint32_t magic;
    uint32_t index;
    uint32_t generation; /* from 1 */
    enum place_stage stage;
    struct transport_admin *admin;
    nng_aio *http;             /* the server's; NULL once answered */
    nng_aio *io;               /* ours: the body read or the time-out */
    nng_http_conn *connection; /* the server's; alive while `http` is set */
    char method[METHOD_BYTES];
    char *uri;
    enum proto_spelling spelling;
    uint8_t *body;
    size_t body_bytes;
    char *headers[HOOK_HEADER_COUNT]; /* that it has; of a webhook's request */
    struct place *next_free;
};

struct transport_admin {
    uint32_t magic;
    struct proto_sink answers;
    struct proto_sink *router;
    struct transport_admin_view view;
    struct transport_admin_page page;
    const char *const *tokens;
    size_t token_count;
    size_t request_bytes_max;
    uint32_t timeout_ms;
    nng_http_server *server;
    struct admin_events *events;
    uint16_t port;

    pthread_mutex_t mutex; /* guards what follows, and each place */
    bool quiescing;
    bool closing;
    struct place *places[PLACES_MAX]; /* made as they are needed */
    uint32_t place_count;
    struct place *first_free;
    struct transport_admin_stats stats;
};

/* An answer on its way to HTTP. */
struct answer {
    uint16_t status;
    const char *content_type;
    struct span body;
    const char *policy; /* Content-Security-Policy; NULL: nothing may be done with it */
    bool close;         /* the connection cannot go on: its body was not read */
    bool wait_a_bit;    /* Retry-After */
};

static enum result start_server(struct transport_admin *admin, const char *url, char error[256]);
static void on_request(nng_aio *http);
static void start_operation(struct transport_admin *admin, nng_aio *http, size_t body_bytes);
static void free_headers(char *headers[HOOK_HEADER_COUNT]);
static bool copy_headers(nng_http_req *request, char *headers[HOOK_HEADER_COUNT]);
static enum proto_error check_request(struct transport_admin *admin, nng_http_req *request,
                                      enum route_target target, size_t *body_bytes,
                                      char why[ROUTE_WHY_BYTES]);
static enum proto_error check_origin(const struct transport_admin *admin, nng_http_req *request,
                                     char why[ROUTE_WHY_BYTES]);
static enum proto_error check_token(const struct transport_admin *admin, nng_http_req *request,
                                    char why[ROUTE_WHY_BYTES]);
static enum proto_error check_length(const struct transport_admin *admin, nng_http_req *request,
                                     size_t *body_bytes, char why[ROUTE_WHY_BYTES]);
static void answer_page(struct transport_admin *admin, nng_aio *http, enum route_target target);
static void answer_inspector(const struct transport_admin *admin, nng_aio *http);
static void answer_refusal(nng_aio *http, enum proto_error error, const char *why, bool close);
static void answer_status(nng_aio *http, uint16_t status, enum proto_error error, const char *why,
                          bool close);
static void listen_to_events(struct transport_admin *admin, nng_aio *http);

static struct place *place_take(struct transport_admin *admin, nng_aio *http);
static struct place *place_new(struct transport_admin *admin);
static void place_give_back(struct place *place);
static nng_aio *place_take_http(struct place *place);
static void on_cancel(nng_aio *http, void *arg, int code);
static void on_io(void *arg);
static void read_body(struct place *place);
static void on_body(struct place *place, int code);
static void dispatch(struct place *place);
static void send_request(struct place *place, const struct route *route);
static void on_time_out(struct place *place);
static void refuse_place(struct place *place, enum proto_error error, const char *why, bool close);
static enum result on_answer(struct proto_sink *self, struct proto_message **message);
static void answer_value(nng_aio *http, struct span value, enum proto_spelling spelling,
                         bool close);
static void finish(nng_aio *http, struct answer answer);
static uint64_t monotonic_ms(void);

enum result transport_admin_open(const struct transport_admin_options *options,
                                 struct transport_admin **out, char error[256])
{
    ASSERT(options->router != NULL && options->view.ready != NULL && options->view.metrics != NULL);
    ASSERT(options->request_bytes_max > 0 && options->timeout_ms > 0);
    ASSERT(options->page.html.count == 0 || options->page.policy != NULL);
    *out = NULL;
    if (options->token_count == 0 && !transport_url_is_local(options->url)) {
        snprintf(error, 256,
                 "%s reaches beyond this machine: set auth.tokens, or listen on 127.0.0.1",
                 options->url);
        return RESULT_DENIED;
    }
    struct transport_admin *admin = calloc(1, sizeof *admin);
    struct admin_events *events = admin_events_new();
    if (admin == NULL || events == NULL) {
        snprintf(error, 256, "no memory for the HTTP listener");
        goto free_admin;
    }
    admin->magic = ADMIN_MAGIC;
    admin->answers.send = on_answer;
    admin->router = options->router;
    admin->view = options->view;
    admin->page = options->page;
    admin->tokens = options->tokens;
    admin->token_count = options->token_count;
    admin->request_bytes_max = options->request_bytes_max;
    admin->timeout_ms = options->timeout_ms;
    admin->events = events;
    pthread_mutex_init(&admin->mutex, NULL);
    enum result result = start_server(admin, options->url, error);
    if (result != RESULT_OK) {
        transport_admin_close(admin);
        return result;
    }
    log_line(LOG_INFO, "ADMIN-LISTEN", "url=%s port=%u", options->url, admin->port);
    error[0] = '\0';
    *out = admin;
    return RESULT_OK;

free_admin:
    if (events != NULL) {
        admin_events_free(events);
    }
    free(admin);
    return RESULT_LIMIT;
}

static enum result start_server(struct transport_admin *admin, const char *url, char error[256])
{
    nng_url *parsed = NULL;
    nng_http_handler *handler = NULL;
    int code = nng_url_parse(&parsed, url);
    if (code == 0 && (code = nng_http_server_hold(&admin->server, parsed)) != 0) {
        admin->server = NULL;
    }
    nng_url_free(parsed);
    /* The body is read by us, after the path and the token have been looked at, so that refusals
     * carry the right status. */
    if (code == 0 && (code = nng_http_handler_alloc(&handler, "/", on_request)) == 0 &&
        (code = nng_http_handler_set_method(handler, NULL)) == 0 &&
        (code = nng_http_handler_set_tree(handler)) == 0 &&
        (code = nng_http_handler_collect_body(handler, false, 0)) == 0 &&
        (code = nng_http_handler_set_data(handler, admin, NULL)) == 0 &&
        (code = nng_http_server_add_handler(admin->server, handler)) == 0) {
        handler = NULL; /* the server's now */
        code = nng_http_server_start(admin->server);
    }
    if (handler != NULL) {
        nng_http_handler_free(handler);
    }
    nng_sockaddr address;
    if (code == 0 && (code = nng_http_server_get_addr(admin->server, &address)) == 0) {
        uint16_t port =
            address.s_family == NNG_AF_INET6 ? address.s_in6.sa_port : address.s_in.sa_port;
        admin->port = (uint16_t)(port << 8 | port >> 8); /* network order */
    }
    if (code != 0) {
        snprintf(error, 256, "cannot listen on %s: %s", url, nng_strerror(code));
    }
    return transport_result_of_nng(code);
}

uint16_t transport_admin_port(const struct transport_admin *admin)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    return admin->port;
}

void transport_admin_stats(struct transport_admin *admin, struct transport_admin_stats *out)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    pthread_mutex_lock(&admin->mutex);
    *out = admin->stats;
    pthread_mutex_unlock(&admin->mutex);
    out->listeners = admin_events_listeners(admin->events);
    out->events_lost = admin_events_lost(admin->events);
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

void transport_admin_close(struct transport_admin *admin)
{
    if (admin == NULL) {
        return;
    }
    ASSERT(admin->magic == ADMIN_MAGIC);
    pthread_mutex_lock(&admin->mutex);
    admin->closing = true;
    pthread_mutex_unlock(&admin->mutex);
    if (admin->server != NULL) {
        nng_http_server_stop(
            admin->server); /* cancels every request, waits for their connections to go */
        nng_http_server_release(admin->server);
    }
    for (uint32_t index = 0; index < admin->place_count; index++) {
        nng_aio_stop(admin->places[index]->io);
    }
    for (uint32_t index = 0; index < admin->place_count; index++) {
        nng_aio_free(admin->places[index]->io);
        free_headers(admin->places[index]->headers);
        free(admin->places[index]->body);
        free(admin->places[index]->uri);
        free(admin->places[index]);
    }
    admin_events_free(admin->events);
    pthread_mutex_destroy(&admin->mutex);
    admin->magic = 0;
    free(admin);
}

/* NNG calls this for every request, when its head has been read. */
static void on_request(nng_aio *http)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    struct transport_admin *admin = BASE_CAST(
        transport_admin, nng_http_handler_get_data(nng_aio_get_input(http, 1)), ADMIN_MAGIC);

    enum route_target target =
        route_find(nng_http_req_get_method(request), nng_http_req_get_uri(request));
    char why[ROUTE_WHY_BYTES];
    size_t body_bytes = 0;
    enum proto_error error = check_request(admin, request, target, &body_bytes, why);
    if (error != PROTO_ERROR_NONE) {
        answer_refusal(http, error, why, true);
    } else if (target == ROUTE_UNKNOWN_PATH ||
               (target == ROUTE_INSPECTOR && admin->page.html.count == 0)) {
        answer_status(http, 404, PROTO_ERROR_InvalidRequest, "no such path", body_bytes > 0);
    } else if (target == ROUTE_UNKNOWN_METHOD) {
        answer_status(http, 405, PROTO_ERROR_InvalidRequest, "this path has no such method",
                      body_bytes > 0);
    } else if (target == ROUTE_EVENTS) {
        listen_to_events(admin, http);
    } else if (target == ROUTE_INSPECTOR) {
        answer_inspector(admin, http);
    } else if (target != ROUTE_OPERATION) {
        answer_page(admin, http, target);
    } else {
        start_operation(admin, http, body_bytes);
    }
}

static void free_headers(char *headers[HOOK_HEADER_COUNT])
{
    for (unsigned i = 0; i < HOOK_HEADER_COUNT; i++) {
        free(headers[i]);
        headers[i] = NULL;
    }
}

/* Copies those that a webhook reads; false: no memory. */
static bool copy_headers(nng_http_req *request, char *headers[HOOK_HEADER_COUNT])
{
    bool is_whole = true;
    for (unsigned i = 0; i < HOOK_HEADER_COUNT; i++) {
        const char *value = nng_http_req_get_header(request, hook_header_names[i]);
        headers[i] = value == NULL ? NULL : strdup(value);
        is_whole = is_whole && (value == NULL || headers[i] != NULL);
    }
    return is_whole;
}

/* What is needed of the request is copied first: once the server may cancel, it may free. */
static void start_operation(struct transport_admin *admin, nng_aio *http, size_t body_bytes)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    char method[METHOD_BYTES];
    snprintf(method, sizeof method, "%s", nng_http_req_get_method(request));
    char *uri = strdup(nng_http_req_get_uri(request));
    uint8_t *body = malloc(body_bytes + 1);
    char *headers[HOOK_HEADER_COUNT] = {NULL};
    bool is_whole =
        uri != NULL && body != NULL && (!hook_is_at(uri) || copy_headers(request, headers));
    struct place *place = is_whole ? place_take(admin, http) : NULL;
    if (place == NULL) {
        free_headers(headers);
        free(body);
        free(uri);
        answer_refusal(http, PROTO_ERROR_Overloaded, "too many requests in flight", true);
        return;
    }
    memcpy(place->method, method, sizeof method);
    place->uri = uri;
    place->body = body;
    place->body_bytes = body_bytes;
    memcpy(place->headers, headers, sizeof headers);
    if (body_bytes == 0) {
        dispatch(place);
    } else {
        read_body(place);
    }
}

/* Whoever watches over the process needs no token, and a browser has none before it has the page
 * that asks for it. */
static bool is_open(enum route_target target)
{
    return target == ROUTE_HEALTH || target == ROUTE_READY || target == ROUTE_INSPECTOR;
}

static enum proto_error check_request(struct transport_admin *admin, nng_http_req *request,
                                      enum route_target target, size_t *body_bytes,
                                      char why[ROUTE_WHY_BYTES])
{
    pthread_mutex_lock(&admin->mutex);
    admin->stats.requests++;
    pthread_mutex_unlock(&admin->mutex);
    enum proto_error error = check_length(admin, request, body_bytes, why);
    if (error == PROTO_ERROR_NONE) {
        error = check_origin(admin, request, why);
    }
    if (error == PROTO_ERROR_NONE && !is_open(target)) {
        error = check_token(admin, request, why);
    }
    return error;
}

static enum proto_error check_length(const struct transport_admin *admin, nng_http_req *request,
                                     size_t *body_bytes, char why[ROUTE_WHY_BYTES])
{
    *body_bytes = 0;
    if (nng_http_req_get_header(request, "Transfer-Encoding") != NULL) {
        snprintf(why, ROUTE_WHY_BYTES, "a body needs Content-Length here; chunks are not read");
        return PROTO_ERROR_InvalidRequest;
    }
    const char *length = nng_http_req_get_header(request, "Content-Length");
    if (length == NULL) {
        return PROTO_ERROR_NONE;
    }
    char *end = NULL;
    unsigned long long count = strtoull(length, &end, 10);
    if (length[0] < '0' || length[0] > '9' || *end != '\0') {
        snprintf(why, ROUTE_WHY_BYTES, "Content-Length is not a number");
        return PROTO_ERROR_InvalidRequest;
    }
    if (count > admin->request_bytes_max) {
        snprintf(why, ROUTE_WHY_BYTES, "request larger than %zu bytes", admin->request_bytes_max);
        return PROTO_ERROR_PayloadTooLarge;
    }
    *body_bytes = (size_t)count;
    return PROTO_ERROR_NONE;
}

/*
 * A web page that the operator happens to visit must not reach the engine: browsers name the page's
 * origin, and a name that was rebound to 127.0.0.1 shows in Host.
 */
static enum proto_error check_origin(const struct transport_admin *admin, nng_http_req *request,
                                     char why[ROUTE_WHY_BYTES])
{
    const char *host = nng_http_req_get_header(request, "Host");
    const char *origin = nng_http_req_get_header(request, "Origin");
    if (admin->token_count == 0 && host != NULL && !transport_host_is_local(span_text(host))) {
        snprintf(why, ROUTE_WHY_BYTES,
                 "Host is not this machine: set auth.tokens to be reached by other names");
        return PROTO_ERROR_Unauthorized;
    }
    if (origin != NULL) {
        const char *rest = strstr(origin, "://");
        if (rest == NULL || host == NULL || strcasecmp(rest + 3, host) != 0) {
            snprintf(why, ROUTE_WHY_BYTES, "requests from pages of another origin are refused");
            return PROTO_ERROR_Unauthorized;
        }
    }
    return PROTO_ERROR_NONE;
}

static enum proto_error check_token(const struct transport_admin *admin, nng_http_req *request,
                                    char why[ROUTE_WHY_BYTES])
{
    const char *header = nng_http_req_get_header(request, "Authorization");
    struct span token = SPAN_EMPTY;
    if (header != NULL && strncasecmp(header, "Bearer ", 7) == 0) {
        token = span_trim(span_text(header + 7));
    }
    if (transport_token_accepted(admin->tokens, admin->token_count, token)) {
        return PROTO_ERROR_NONE;
    }
    snprintf(why, ROUTE_WHY_BYTES, "%s",
             token.count == 0 ? "Authorization: Bearer … is needed" : "unknown token");
    return PROTO_ERROR_Unauthorized;
}

static void answer_page(struct transport_admin *admin, nng_aio *http, enum route_target target)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    struct answer answer = {.status = 200, .content_type = "application/json"};
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
    finish(http, answer);
    arena_release(&arena);
}

static void answer_inspector(const struct transport_admin *admin, nng_aio *http)
{
    finish(http, (struct answer){
                     .status = 200,
                     .content_type = "text/html; charset=utf-8",
                     .body = admin->page.html,
                     .policy = admin->page.policy,
                 });
}

static void answer_refusal(nng_aio *http, enum proto_error error, const char *why, bool close)
{
    answer_status(http, admin_status_of(error), error, why, close);
}

static void answer_status(nng_aio *http, uint16_t status, enum proto_error error, const char *why,
                          bool close)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    finish(http, (struct answer){
                     .status = status,
                     .content_type = "application/json",
                     .body = transport_value_spell(transport_refusal(&arena, error, why),
                                                   PROTO_JSON, &arena),
                     .close = close,
                     .wait_a_bit = status == 503,
                 });
    arena_release(&arena);
}

/* From the hijack on the connection and the request are ours, and the server forgets them. */
static void listen_to_events(struct transport_admin *admin, nng_aio *http)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    nng_http_conn *connection = nng_aio_get_input(http, 2);
    if (nng_http_hijack(connection) != 0) {
        answer_refusal(http, PROTO_ERROR_Internal, "the connection cannot be taken over", true);
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

/* A place for a request whose `http` is deferred from here on; NULL when there is none (and http
 * still is the caller's). */
static struct place *place_take(struct transport_admin *admin, nng_aio *http)
{
    pthread_mutex_lock(&admin->mutex);
    struct place *place = NULL;
    if (!admin->closing) {
        place = admin->first_free;
        if (place != NULL) {
            admin->first_free = place->next_free;
        } else {
            place = place_new(admin);
        }
    }
    if (place != NULL) {
        place->generation = place->generation == UINT32_MAX ? 1 : place->generation + 1;
        place->stage = PLACE_READING;
        place->http = http;
        place->connection = nng_aio_get_input(http, 2);
        place->spelling = PROTO_JSON;
        admin->stats.pending++;
        /* Under the mutex: once `closing` is set the server may cancel `http`, and must then find
         * on_cancel there. */
        nng_aio_defer(http, on_cancel, place);
    }
    pthread_mutex_unlock(&admin->mutex);
    return place;
}

static struct place *place_new(struct transport_admin *admin)
{
    if (admin->place_count == PLACES_MAX) {
        return NULL;
    }
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || nng_aio_alloc(&place->io, on_io, place) != 0) {
        free(place);
        return NULL;
    }
    place->magic = PLACE_MAGIC;
    place->admin = admin;
    place->index = admin->place_count;
    admin->places[admin->place_count++] = place;
    return place;
}

static void place_give_back(struct place *place)
{
    struct transport_admin *admin = place->admin;
    free_headers(place->headers);
    free(place->body);
    free(place->uri);
    place->body = NULL;
    place->uri = NULL;
    pthread_mutex_lock(&admin->mutex);
    ASSERT(place->stage != PLACE_FREE && place->http == NULL);
    place->stage = PLACE_FREE;
    place->next_free = admin->first_free;
    admin->first_free = place;
    admin->stats.pending--;
    pthread_mutex_unlock(&admin->mutex);
}

/* NNG's handle, for whoever asks first; NULL for the others. */
static nng_aio *place_take_http(struct place *place)
{
    pthread_mutex_lock(&place->admin->mutex);
    nng_aio *http = place->http;
    place->http = NULL;
    pthread_mutex_unlock(&place->admin->mutex);
    return http;
}

/* The server stops (its lock is held here): end ours, which gives the place back. */
static void on_cancel(nng_aio *http, void *arg, int code)
{
    struct place *place = BASE_CAST(place, arg, PLACE_MAGIC);
    pthread_mutex_lock(&place->admin->mutex);
    bool ours = place->http == http;
    if (ours) {
        place->http = NULL;
        nng_aio_abort(place->io, code);
    }
    pthread_mutex_unlock(&place->admin->mutex);
    if (ours) {
        nng_aio_finish(http, code);
    }
}

static void on_io(void *arg)
{
    struct place *place = BASE_CAST(place, arg, PLACE_MAGIC);
    if (place->stage == PLACE_READING) {
        on_body(place, nng_aio_result(place->io));
    } else {
        on_time_out(place);
    }
}

/* Under the mutex, so that the server cannot let go of the connection between the look and the
 * read. */
static void read_body(struct place *place)
{
    nng_iov iov = {place->body, place->body_bytes};
    nng_aio_set_iov(place->io, 1, &iov);
    nng_aio_set_timeout(place->io, BODY_READ_TIMEOUT_MS);
    pthread_mutex_lock(&place->admin->mutex);
    bool live = place->http != NULL;
    if (live) {
        nng_http_conn_read_all(place->connection, place->io);
    }
    pthread_mutex_unlock(&place->admin->mutex);
    if (!live) {
        place_give_back(place);
    }
}

static void on_body(struct place *place, int code)
{
    if (code == 0) {
        dispatch(place);
    } else {
        refuse_place(place, PROTO_ERROR_InvalidRequest,
                     "the body did not come as long as Content-Length says", true);
    }
}

static void dispatch(struct place *place)
{
    struct arena arena;
    struct route route;
    arena_init(&arena, ARENA_BLOCK_BYTES, 16 * place->body_bytes + ARENA_EXTRA_BYTES);
    struct route_request request = {place->method, place->uri,
                                    span_of(place->body, place->body_bytes),
                                    (const char *const *)place->headers};
    route_resolve(&request, &arena, &route);
    place->spelling = route.spelling;
    if (route.target == ROUTE_OPERATION) {
        send_request(place, &route);
    } else {
        refuse_place(place, route.error, route.why, false);
    }
    arena_release(&arena);
}

static const char stopping[] = "the engine is shutting down";

/* False: nothing is waited for any more. */
static bool begin_wait(struct place *place)
{
    struct transport_admin *admin = place->admin;
    pthread_mutex_lock(&admin->mutex);
    bool waits = !admin->quiescing;
    if (waits) {
        place->stage = PLACE_WAITING;
        nng_aio_set_timeout(place->io, NNG_DURATION_INFINITE);
        nng_sleep_aio((nng_duration)admin->timeout_ms, place->io);
        if (place->http == NULL) {
            nng_aio_abort(place->io, NNG_ECLOSED); /* cancelled between the body and here */
        }
    }
    pthread_mutex_unlock(&admin->mutex);
    return waits;
}

/* The time-out is running before the router sees the request, so an answer always finds something
 * to end. */
static void send_request(struct place *place, const struct route *route)
{
    struct transport_admin *admin = place->admin;
    struct proto_message *message = message_new(PROTO_REQUEST, route->body.count);
    if (message == NULL) {
        refuse_place(place, PROTO_ERROR_Overloaded, "no memory for the request", false);
        return;
    }
    message->as.request.operation = route->operation;
    message->as.request.spelling = route->spelling;
    message->as.request.body = message_keep(message, route->body);
    message->as.request.received_ms = monotonic_ms();
    uint64_t ticket = (uint64_t)place->generation << 32 | place->index;
    message->reply_to = (struct proto_address){&admin->answers, ticket};

    if (!begin_wait(place)) {
        message_free(message);
        refuse_place(place, PROTO_ERROR_ShuttingDown, stopping, true);
        return;
    }

    enum result result = admin->router->send(admin->router, &message);
    if (result == RESULT_OK) {
        return;
    }
    message_free(message);
    struct proto_message *refusal = message_new(PROTO_REPLY, 256);
    ASSERT(refusal != NULL);
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    struct span value =
        result == RESULT_CLOSED
            ? transport_refusal(&arena, PROTO_ERROR_ShuttingDown, stopping)
            : transport_refusal(&arena, PROTO_ERROR_Overloaded, "too many requests in flight");
    refusal->as.reply.body = message_keep(refusal, value);
    arena_release(&arena);
    message_answer((struct proto_address){&admin->answers, ticket}, refusal);
}

/* The wait is over: the time has passed, or an answer or the server has taken `http` and ended the
 * wait. */
static void on_time_out(struct place *place)
{
    struct transport_admin *admin = place->admin;
    nng_aio *http = place_take_http(place);
    if (http != NULL) {
        pthread_mutex_lock(&admin->mutex);
        admin->stats.timeouts++;
        pthread_mutex_unlock(&admin->mutex);
        answer_refusal(http, PROTO_ERROR_Timeout,
                       "no answer in time; what was asked for may still happen", false);
    }
    place_give_back(place);
}

static void refuse_place(struct place *place, enum proto_error error, const char *why, bool close)
{
    nng_aio *http = place_take_http(place);
    if (http != NULL) {
        answer_refusal(http, error, why, close);
    }
    place_give_back(place);
}

/* Under the mutex. NNG's handle of what waits for an answer, or NULL; its wait is ended, which
 * gives the place back. */
static nng_aio *end_wait(struct place *place)
{
    nng_aio *http = place->stage == PLACE_WAITING ? place->http : NULL;
    if (http != NULL) {
        place->http = NULL;
        nng_aio_abort(place->io, NNG_ECANCELED);
    }
    return http;
}

void transport_admin_quiesce(struct transport_admin *admin)
{
    ASSERT(admin->magic == ADMIN_MAGIC);
    pthread_mutex_lock(&admin->mutex);
    admin->quiescing = true;
    uint32_t count = admin->place_count; /* places that are made later find it quiescing */
    pthread_mutex_unlock(&admin->mutex);
    for (uint32_t index = 0; index < count; index++) {
        pthread_mutex_lock(&admin->mutex);
        nng_aio *http = end_wait(admin->places[index]);
        pthread_mutex_unlock(&admin->mutex);
        if (http != NULL) {
            answer_refusal(http, PROTO_ERROR_ShuttingDown, stopping, true);
        }
    }
}

/* Any thread. */
static enum result on_answer(struct proto_sink *self, struct proto_message **message)
{
    struct transport_admin *admin =
        (struct transport_admin *)(void *)((char *)self -
                                           offsetof(struct transport_admin, answers));
    ASSERT(admin->magic == ADMIN_MAGIC);
    struct proto_message *answer = *message;
    ASSERT(answer->magic == PROTO_MESSAGE_MAGIC && answer->type == PROTO_REPLY);
    *message = NULL;

    uint32_t index = (uint32_t)answer->reply_to.ticket;
    uint32_t generation = (uint32_t)(answer->reply_to.ticket >> 32);
    nng_aio *http = NULL;
    enum proto_spelling spelling = PROTO_JSON;
    pthread_mutex_lock(&admin->mutex);
    ASSERT(index < admin->place_count);
    struct place *place = admin->places[index];
    if (place->generation == generation) {
        spelling = place->spelling;
        http = end_wait(place);
    }
    pthread_mutex_unlock(&admin->mutex);
    if (http != NULL) {
        answer_value(http, answer->as.reply.body, spelling, false);
    }
    message_free(answer);
    return RESULT_OK;
}

static void answer_value(nng_aio *http, struct span value, enum proto_spelling spelling, bool close)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, 16 * value.count + ARENA_EXTRA_BYTES);
    enum proto_error error = transport_error_of_reply(value);
    struct span body = transport_value_spell(value, spelling, &arena);
    if (body.count == 0) {
        answer_refusal(http, PROTO_ERROR_Internal, "no memory to spell the reply", close);
    } else {
        uint16_t status = admin_status_of(error);
        finish(http, (struct answer){
                         .status = status,
                         .content_type =
                             spelling == PROTO_JSON ? "application/json" : "application/msgpack",
                         .body = body,
                         .close = close,
                         .wait_a_bit = status == 503,
                     });
    }
    arena_release(&arena);
}

/* The one way in which a response leaves; the body is copied. */
static void finish(nng_aio *http, struct answer answer)
{
    const struct {
        const char *name;
        const char *value;
    } always[] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy",
         answer.policy != NULL ? answer.policy : "default-src 'none'; frame-ancestors 'none'"},
    };
    nng_http_res *response = NULL;
    int code = nng_http_res_alloc(&response);
    if (code == 0) {
        code = nng_http_res_set_status(response, answer.status);
    }
    for (size_t index = 0; code == 0 && index < sizeof always / sizeof always[0]; index++) {
        code = nng_http_res_set_header(response, always[index].name, always[index].value);
    }
    if (code == 0) {
        code = nng_http_res_set_header(response, "Content-Type", answer.content_type);
    }
    if (code == 0 && answer.close) {
        code = nng_http_res_set_header(response, "Connection", "close");
    }
    if (code == 0 && answer.wait_a_bit) {
        code = nng_http_res_set_header(response, "Retry-After", "1");
    }
    if (code == 0 && answer.status == 401) {
        code = nng_http_res_set_header(response, "WWW-Authenticate", "Bearer");
    }
    if (code == 0) {
        code = nng_http_res_copy_data(response, answer.body.bytes, answer.body.count);
    }
    if (code != 0) {
        nng_http_res_free(response);
        nng_aio_finish(http, code); /* the server closes the connection */
        return;
    }
    nng_aio_set_output(http, 0, response);
    nng_aio_finish(http, 0);
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}
