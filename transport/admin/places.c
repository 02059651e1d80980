/*
 * places.c: a table under one mutex: requests come on NNG's threads, answers on whatever thread
 * sends PROTO_REPLY, time-outs on NNG's again; NNG gives no loop to send a message to, and this
 * side is not hot. Never held while calling a sink or answering. Lock order: NNG's server lock
 * before ours (it cancels our requests with it held).
 *
 * A request holds a place until its `io` (reading the body, then waiting for the answer) has ended;
 * `http` is NNG's handle to it, taken (set NULL) by the first of: answer, time-out, cancellation by
 * the server.
 */
#include "transport/admin/places.h"

#include <nng/supplemental/http/http.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/message.h"
#include "transport/admin/answer.h"
#include "transport/admin/hook.h"
#include "transport/admin/hook_secret.h"
#include "transport/admin/route.h"
#include "transport/guard/refusal.h"

#define PLACES_MAGIC 0x504c4344u
#define PLACE_MAGIC  0x504c4143u

#define PLACES_MAX           1024u /* requests under way */
#define BODY_READ_TIMEOUT_MS 30000
#define METHOD_BYTES         16u
#define ARENA_BLOCK_BYTES    4096u
#define ARENA_EXTRA_BYTES    (4u << 20)

static const char stopping[] = "the engine is shutting down";

enum place_stage { PLACE_FREE = 0, PLACE_READING, PLACE_WAITING };

struct place {
    uint32_t magic;
    uint32_t index;
    uint32_t generation; /* from 1 */
    enum place_stage stage;
    struct admin_places *table;
    nng_aio *http;             /* the server's; NULL once answered */
    nng_aio *io;               /* ours: the body read or the time-out */
    nng_http_conn *connection; /* the server's; alive while `http` is set */
    char method[METHOD_BYTES];
    char *uri;
    enum proto_spelling spelling;
    uint8_t *body;
    size_t body_bytes;
    const char *secret;               /* of a webhook, that its sender must know; or NULL */
    char *headers[HOOK_HEADER_COUNT]; /* that it has; of a webhook's request */
    struct place *next_free;
};

struct admin_places {
    uint32_t magic;
    struct proto_sink answers; /* PROTO_REPLY comes here */
    struct proto_sink *router;
    uint32_t timeout_ms;

    pthread_mutex_t mutex; /* guards what follows, and each place */
    bool quiescing;
    bool closing;
    struct place *places[PLACES_MAX]; /* made as they are needed */
    uint32_t place_count;
    struct place *first_free;
    struct admin_places_stats stats;
};

static void free_headers(char *headers[HOOK_HEADER_COUNT]);
static bool copy_headers(nng_http_req *request, char *headers[HOOK_HEADER_COUNT]);
static struct place *place_take(struct admin_places *table, nng_aio *http);
static struct place *place_new(struct admin_places *table);
static void place_give_back(struct place *place);
static nng_aio *place_take_http(struct place *place);
static void on_cancel(nng_aio *http, void *arg, int code);
static void on_io(void *arg);
static void read_body(struct place *place);
static void on_body(struct place *place, int code);
static void dispatch(struct place *place);
static bool begin_wait(struct place *place);
static void send_request(struct place *place, const struct route *route);
static void on_time_out(struct place *place);
static void refuse_place(struct place *place, enum proto_error error, const char *why, bool close);
static nng_aio *end_wait(struct place *place);
static enum result on_answer(struct proto_sink *self, struct proto_message **message);
static uint64_t monotonic_ms(void);

struct admin_places *admin_places_new(struct proto_sink *router, uint32_t timeout_ms)
{
    struct admin_places *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->magic = PLACES_MAGIC;
        table->answers.send = on_answer;
        table->router = router;
        table->timeout_ms = timeout_ms;
        pthread_mutex_init(&table->mutex, NULL);
    }
    return table;
}

void admin_places_shut(struct admin_places *table)
{
    ASSERT(table->magic == PLACES_MAGIC);
    pthread_mutex_lock(&table->mutex);
    table->closing = true;
    pthread_mutex_unlock(&table->mutex);
}

void admin_places_free(struct admin_places *table)
{
    ASSERT(table->magic == PLACES_MAGIC);
    for (uint32_t index = 0; index < table->place_count; index++) {
        nng_aio_stop(table->places[index]->io);
    }
    for (uint32_t index = 0; index < table->place_count; index++) {
        nng_aio_free(table->places[index]->io);
        free_headers(table->places[index]->headers);
        free(table->places[index]->body);
        free(table->places[index]->uri);
        free(table->places[index]);
    }
    pthread_mutex_destroy(&table->mutex);
    table->magic = 0;
    free(table);
}

void admin_places_stats(struct admin_places *table, struct admin_places_stats *out)
{
    pthread_mutex_lock(&table->mutex);
    *out = table->stats;
    pthread_mutex_unlock(&table->mutex);
}

/* What is needed of the request is copied first: once the server may cancel, it may free. */
void admin_places_begin(struct admin_places *table, nng_aio *http, size_t body_bytes,
                        const char *secret)
{
    nng_http_req *request = nng_aio_get_input(http, 0);
    char method[METHOD_BYTES];
    snprintf(method, sizeof method, "%s", nng_http_req_get_method(request));
    char *uri = strdup(nng_http_req_get_uri(request));
    uint8_t *body = malloc(body_bytes + 1);
    char *headers[HOOK_HEADER_COUNT] = {NULL};
    bool is_whole =
        uri != NULL && body != NULL && (!hook_is_at(uri) || copy_headers(request, headers));
    struct place *place = is_whole ? place_take(table, http) : NULL;
    if (place == NULL) {
        free_headers(headers);
        free(body);
        free(uri);
        admin_answer_refusal(http, PROTO_ERROR_Overloaded, "too many requests in flight", true);
        return;
    }
    memcpy(place->method, method, sizeof method);
    place->uri = uri;
    place->body = body;
    place->body_bytes = body_bytes;
    place->secret = secret;
    memcpy(place->headers, headers, sizeof headers);
    if (body_bytes == 0) {
        dispatch(place);
    } else {
        read_body(place);
    }
}

void admin_places_quiesce(struct admin_places *table)
{
    ASSERT(table->magic == PLACES_MAGIC);
    pthread_mutex_lock(&table->mutex);
    table->quiescing = true;
    uint32_t count = table->place_count; /* places that are made later find it quiescing */
    pthread_mutex_unlock(&table->mutex);
    for (uint32_t index = 0; index < count; index++) {
        pthread_mutex_lock(&table->mutex);
        nng_aio *http = end_wait(table->places[index]);
        pthread_mutex_unlock(&table->mutex);
        if (http != NULL) {
            admin_answer_refusal(http, PROTO_ERROR_ShuttingDown, stopping, true);
        }
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

/* A place for a request whose `http` is deferred from here on; NULL when there is none (and http
 * still is the caller's). */
static struct place *place_take(struct admin_places *table, nng_aio *http)
{
    pthread_mutex_lock(&table->mutex);
    struct place *place = NULL;
    if (!table->closing) {
        place = table->first_free;
        if (place != NULL) {
            table->first_free = place->next_free;
        } else {
            place = place_new(table);
        }
    }
    if (place != NULL) {
        place->generation = place->generation == UINT32_MAX ? 1 : place->generation + 1;
        place->stage = PLACE_READING;
        place->http = http;
        place->connection = nng_aio_get_input(http, 2);
        place->spelling = PROTO_JSON;
        table->stats.pending++;
        /* Under the mutex: once `closing` is set the server may cancel `http`, and must then find
         * on_cancel there. */
        nng_aio_defer(http, on_cancel, place);
    }
    pthread_mutex_unlock(&table->mutex);
    return place;
}

static struct place *place_new(struct admin_places *table)
{
    if (table->place_count == PLACES_MAX) {
        return NULL;
    }
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || nng_aio_alloc(&place->io, on_io, place) != 0) {
        free(place);
        return NULL;
    }
    place->magic = PLACE_MAGIC;
    place->table = table;
    place->index = table->place_count;
    table->places[table->place_count++] = place;
    return place;
}

static void place_give_back(struct place *place)
{
    struct admin_places *table = place->table;
    free_headers(place->headers);
    free(place->body);
    free(place->uri);
    place->body = NULL;
    place->uri = NULL;
    pthread_mutex_lock(&table->mutex);
    ASSERT(place->stage != PLACE_FREE && place->http == NULL);
    place->stage = PLACE_FREE;
    place->next_free = table->first_free;
    table->first_free = place;
    table->stats.pending--;
    pthread_mutex_unlock(&table->mutex);
}

/* NNG's handle, for whoever asks first; NULL for the others. */
static nng_aio *place_take_http(struct place *place)
{
    pthread_mutex_lock(&place->table->mutex);
    nng_aio *http = place->http;
    place->http = NULL;
    pthread_mutex_unlock(&place->table->mutex);
    return http;
}

/* The server stops (its lock is held here): end ours, which gives the place back. */
static void on_cancel(nng_aio *http, void *arg, int code)
{
    struct place *place = BASE_CAST(place, arg, PLACE_MAGIC);
    pthread_mutex_lock(&place->table->mutex);
    bool ours = place->http == http;
    if (ours) {
        place->http = NULL;
        nng_aio_abort(place->io, code);
    }
    pthread_mutex_unlock(&place->table->mutex);
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
    pthread_mutex_lock(&place->table->mutex);
    bool live = place->http != NULL;
    if (live) {
        nng_http_conn_read_all(place->connection, place->io);
    }
    pthread_mutex_unlock(&place->table->mutex);
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

static bool is_trusted(const struct place *place)
{
    const char *token = place->headers[HOOK_HEADER_HOOK_TOKEN];
    return place->secret == NULL ||
           hook_secret_is_known(place->secret, span_of(place->body, place->body_bytes),
                                place->headers[HOOK_HEADER_SIGNATURE],
                                token != NULL ? token : place->headers[HOOK_HEADER_GITLAB_TOKEN]);
}

static void dispatch(struct place *place)
{
    if (!is_trusted(place)) {
        refuse_place(place, PROTO_ERROR_Unauthorized,
                     "the webhook's signature or token is missing or wrong", false);
        return;
    }
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

/* False: nothing is waited for any more. */
static bool begin_wait(struct place *place)
{
    struct admin_places *table = place->table;
    pthread_mutex_lock(&table->mutex);
    bool waits = !table->quiescing;
    if (waits) {
        place->stage = PLACE_WAITING;
        nng_aio_set_timeout(place->io, NNG_DURATION_INFINITE);
        nng_sleep_aio((nng_duration)table->timeout_ms, place->io);
        if (place->http == NULL) {
            nng_aio_abort(place->io, NNG_ECLOSED); /* cancelled between the body and here */
        }
    }
    pthread_mutex_unlock(&table->mutex);
    return waits;
}

/* The time-out is running before the router sees the request, so an answer always finds something
 * to end. */
static void send_request(struct place *place, const struct route *route)
{
    struct admin_places *table = place->table;
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
    message->reply_to = (struct proto_address){&table->answers, ticket};

    if (!begin_wait(place)) {
        message_free(message);
        refuse_place(place, PROTO_ERROR_ShuttingDown, stopping, true);
        return;
    }

    enum result result = table->router->send(table->router, &message);
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
    message_answer((struct proto_address){&table->answers, ticket}, refusal);
}

/* The wait is over: the time has passed, or an answer or the server has taken `http` and ended the
 * wait. */
static void on_time_out(struct place *place)
{
    struct admin_places *table = place->table;
    nng_aio *http = place_take_http(place);
    if (http != NULL) {
        pthread_mutex_lock(&table->mutex);
        table->stats.timeouts++;
        pthread_mutex_unlock(&table->mutex);
        admin_answer_refusal(http, PROTO_ERROR_Timeout,
                             "no answer in time; what was asked for may still happen", false);
    }
    place_give_back(place);
}

static void refuse_place(struct place *place, enum proto_error error, const char *why, bool close)
{
    nng_aio *http = place_take_http(place);
    if (http != NULL) {
        admin_answer_refusal(http, error, why, close);
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

/* Any thread. */
static enum result on_answer(struct proto_sink *self, struct proto_message **message)
{
    struct admin_places *table =
        (struct admin_places *)(void *)((char *)self - offsetof(struct admin_places, answers));
    ASSERT(table->magic == PLACES_MAGIC);
    struct proto_message *answer = *message;
    ASSERT(answer->magic == PROTO_MESSAGE_MAGIC && answer->type == PROTO_REPLY);
    *message = NULL;

    uint32_t index = (uint32_t)answer->reply_to.ticket;
    uint32_t generation = (uint32_t)(answer->reply_to.ticket >> 32);
    nng_aio *http = NULL;
    enum proto_spelling spelling = PROTO_JSON;
    pthread_mutex_lock(&table->mutex);
    ASSERT(index < table->place_count);
    struct place *place = table->places[index];
    if (place->generation == generation) {
        spelling = place->spelling;
        http = end_wait(place);
    }
    pthread_mutex_unlock(&table->mutex);
    if (http != NULL) {
        admin_answer_value(http, answer->as.reply.body, spelling, false);
    }
    message_free(answer);
    return RESULT_OK;
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}
