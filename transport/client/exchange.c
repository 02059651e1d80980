/*
 * exchange.c: see exchange.h. The mutex orders what NNG's callback and the caller share; after
 * `left` the exchange is the callback's alone.
 */
#include "transport/client/exchange.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "proto/base/assert.h"
#include "transport/guard/listen.h"

#define EXCHANGE_MAGIC 0x45584348u
#define GRACE_MS       1000 /* beyond NNG's own time-out, and again after a cancel */

struct client_exchange {
    uint32_t magic;
    struct client_link *link;
    nng_ctx ctx;
    nng_aio *aio;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool under_way;
    bool left; /* nobody waits for what is under way */
};

static void on_aio(void *arg);
static void begin(struct client_exchange *exchange, uint64_t timeout_ms);
static enum result wait_ended(struct client_exchange *exchange, uint64_t timeout_ms);
static bool wait_for(struct client_exchange *exchange, uint64_t wait_ms);
static void release(struct client_exchange *exchange, void (*free_aio)(nng_aio *aio));

enum result client_exchange_open(struct client_link *link, struct client_exchange **out)
{
    *out = NULL;
    struct client_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return RESULT_LIMIT;
    }
    int code = nng_ctx_open(&exchange->ctx, link->socket);
    if (code != 0) {
        free(exchange);
        return transport_result_of_nng(code);
    }
    if (nng_aio_alloc(&exchange->aio, on_aio, exchange) != 0) {
        nng_ctx_close(exchange->ctx);
        free(exchange);
        return RESULT_LIMIT;
    }
    exchange->magic = EXCHANGE_MAGIC;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&exchange->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&exchange->mutex, NULL);
    exchange->link = link;
    client_link_hold(link);
    *out = exchange;
    return RESULT_OK;
}

enum result client_exchange_send(struct client_exchange *exchange, struct span request,
                                 uint64_t timeout_ms)
{
    nng_msg *message = NULL;
    if (nng_msg_alloc(&message, 0) != 0) {
        return RESULT_LIMIT;
    }
    if (nng_msg_append(message, request.bytes, request.count) != 0) {
        nng_msg_free(message);
        return RESULT_LIMIT;
    }
    begin(exchange, timeout_ms);
    nng_aio_set_msg(exchange->aio, message);
    nng_ctx_send(exchange->ctx, exchange->aio);
    enum result result = wait_ended(exchange, timeout_ms);
    if (result == RESULT_OK) {
        nng_aio_set_msg(exchange->aio, NULL); /* NNG's since then */
    }
    return result;
}

enum result client_exchange_receive(struct client_exchange *exchange, uint64_t timeout_ms,
                                    nng_msg **reply)
{
    *reply = NULL;
    begin(exchange, timeout_ms);
    nng_aio_set_msg(exchange->aio, NULL);
    nng_ctx_recv(exchange->ctx, exchange->aio);
    enum result result = wait_ended(exchange, timeout_ms);
    if (result == RESULT_OK) {
        *reply = nng_aio_get_msg(exchange->aio);
        nng_aio_set_msg(exchange->aio, NULL);
    }
    return result;
}

static void begin(struct client_exchange *exchange, uint64_t timeout_ms)
{
    ASSERT(exchange->magic == EXCHANGE_MAGIC && !exchange->under_way);
    exchange->under_way = true;
    nng_aio_set_timeout(exchange->aio,
                        timeout_ms > INT32_MAX ? INT32_MAX : (nng_duration)timeout_ms);
}

static enum result wait_ended(struct client_exchange *exchange, uint64_t timeout_ms)
{
    if (!wait_for(exchange, timeout_ms + GRACE_MS)) {
        nng_aio_cancel(exchange->aio);
        if (!wait_for(exchange, GRACE_MS)) {
            return RESULT_TIMEOUT;
        }
    }
    int code = nng_aio_result(exchange->aio);
    /* Cancelled by us alone: it was late. */
    return code == NNG_ECANCELED ? RESULT_TIMEOUT : transport_result_of_nng(code);
}

static bool wait_for(struct client_exchange *exchange, uint64_t wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(wait_ms / 1000);
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    pthread_mutex_lock(&exchange->mutex);
    int code = 0;
    while (exchange->under_way && code == 0) {
        code = pthread_cond_timedwait(&exchange->ended, &exchange->mutex, &until);
    }
    bool ended = !exchange->under_way;
    pthread_mutex_unlock(&exchange->mutex);
    return ended;
}

/* On a thread of NNG's. */
static void on_aio(void *arg)
{
    struct client_exchange *exchange = BASE_CAST(client_exchange, arg, EXCHANGE_MAGIC);
    pthread_mutex_lock(&exchange->mutex);
    exchange->under_way = false;
    bool left = exchange->left;
    pthread_cond_signal(&exchange->ended);
    pthread_mutex_unlock(&exchange->mutex);
    if (left) {
        release(exchange, nng_aio_reap); /* its own callback may not wait for it */
    }
}

bool client_exchange_close(struct client_exchange *exchange)
{
    ASSERT(exchange->magic == EXCHANGE_MAGIC);
    struct client_link *link = exchange->link;
    pthread_mutex_lock(&exchange->mutex);
    bool left = exchange->under_way;
    exchange->left = left;
    pthread_mutex_unlock(&exchange->mutex);
    if (!left) {
        release(exchange, nng_aio_free);
    }
    client_link_leave(link);
    return !left;
}

static void release(struct client_exchange *exchange, void (*free_aio)(nng_aio *aio))
{
    nng_msg *message = nng_aio_get_msg(exchange->aio);
    if (message != NULL) {
        nng_msg_free(message);
    }
    free_aio(exchange->aio);
    nng_ctx_close(exchange->ctx);
    pthread_cond_destroy(&exchange->ended);
    pthread_mutex_destroy(&exchange->mutex);
    exchange->magic = 0;
    free(exchange);
}
