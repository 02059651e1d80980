/* closing.c: see closing.h. */
#include "transport/guard/closing.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/*
 * A close under way, shared by the closing thread and the one that waits for it. `holders` says who
 * frees it: each leaves with an atomic decrement, the last one frees; the semaphore orders
 * everything else.
 */
struct closing {
    nng_socket socket;
    sem_t closed;
    _Atomic int holders;
};

static _Atomic int under_way; /* closes that have not come back */

static void *run_close(void *arg);
static bool wait_closed(struct closing *closing, uint32_t wait_ms);
static void closing_leave(struct closing *closing);

bool transport_socket_close(nng_socket socket, uint32_t wait_ms)
{
    struct closing *closing = calloc(1, sizeof *closing);
    pthread_t thread;
    if (closing == NULL || sem_init(&closing->closed, 0, 0) != 0) {
        free(closing);
        nng_close(socket);
        return true;
    }
    closing->socket = socket;
    atomic_init(&closing->holders, 2);
    atomic_fetch_add(&under_way, 1);
    if (pthread_create(&thread, NULL, run_close, closing) != 0) {
        sem_destroy(&closing->closed);
        free(closing);
        nng_close(socket);
        atomic_fetch_sub(&under_way, 1);
        return true;
    }
    bool closed = wait_closed(closing, wait_ms);
    if (closed) {
        pthread_join(thread, NULL); /* NNG may be ended after this, and its thread must be done */
    } else {
        pthread_detach(thread);
    }
    closing_leave(closing);
    return closed;
}

void transport_sockets_end(void)
{
    if (atomic_load(&under_way) == 0) {
        nng_fini();
    }
}

static void *run_close(void *arg)
{
    struct closing *closing = arg;
    nng_close(closing->socket);
    atomic_fetch_sub(&under_way, 1);
    sem_post(&closing->closed);
    closing_leave(closing);
    return NULL;
}

static bool wait_closed(struct closing *closing, uint32_t wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    int code = 0;
    while ((code = sem_clockwait(&closing->closed, CLOCK_MONOTONIC, &until)) != 0 &&
           errno == EINTR) {
    }
    return code == 0;
}

/* The last of the two frees it. */
static void closing_leave(struct closing *closing)
{
    if (atomic_fetch_sub(&closing->holders, 1) == 1) {
        sem_destroy(&closing->closed);
        free(closing);
    }
}
