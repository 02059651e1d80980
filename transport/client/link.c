/* link.c: see link.h. */
#include "transport/client/link.h"

#include <nng/protocol/reqrep0/req.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/assert.h"
#include "transport/guard/closing.h"
#include "transport/guard/listen.h"

#define REPLY_BYTES_MAX                                                                            \
    (256u << 20) /* lists and payloads of one execution; the engine's own bound is lower */
#define RECONNECT_MS     20
#define RECONNECT_MS_MAX 500
#define CLOSE_WAIT_MS    500

static int set_options(nng_socket socket);
static int dial(nng_socket socket, const char *url);

enum result client_link_open(const char *url, struct client_link **out, char error[256])
{
    *out = NULL;
    struct client_link *link = calloc(1, sizeof *link);
    if (link == NULL || nng_req0_open(&link->socket) != 0) {
        snprintf(error, 256, "no memory for the client");
        free(link);
        return RESULT_LIMIT;
    }
    atomic_init(&link->holders, 1);
    atomic_init(&link->progressed_ms, client_now_ms());
    int code = set_options(link->socket);
    if (code == 0) {
        code = dial(link->socket, url);
    }
    if (code != 0) {
        snprintf(error, 256, "cannot connect to %s: %s", url, nng_strerror(code));
        nng_close(link->socket); /* it never had a connection */
        free(link);
        return transport_result_of_nng(code);
    }
    error[0] = '\0';
    *out = link;
    return RESULT_OK;
}

static int set_options(nng_socket socket)
{
    /* A repeat is the caller's to decide: NNG would do it by itself. */
    int code = nng_socket_set_ms(socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    if (code == 0) {
        code = nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, REPLY_BYTES_MAX);
    }
    if (code == 0) {
        code = nng_socket_set_ms(socket, NNG_OPT_RECONNMINT, RECONNECT_MS);
    }
    if (code == 0) {
        code = nng_socket_set_ms(socket, NNG_OPT_RECONNMAXT, RECONNECT_MS_MAX);
    }
    return code;
}

/* In the background. Over TCP the kernel asks whether a silent peer is still there. */
static int dial(nng_socket socket, const char *url)
{
    nng_dialer dialer;
    int code = nng_dialer_create(&dialer, socket, url);
    if (code == 0 && strncmp(url, "tcp", 3) == 0) {
        code = nng_dialer_set_bool(dialer, NNG_OPT_TCP_KEEPALIVE, true);
    }
    return code != 0 ? code : nng_dialer_start(dialer, NNG_FLAG_NONBLOCK);
}

void client_link_hold(struct client_link *link)
{
    uint32_t before = atomic_fetch_add(&link->holders, 1);
    ASSERT(before > 0);
}

void client_link_leave(struct client_link *link)
{
    uint32_t before = atomic_fetch_sub(&link->holders, 1);
    ASSERT(before > 0);
    if (before == 1) {
        (void)transport_socket_close(link->socket, CLOSE_WAIT_MS);
        free(link);
    }
}

uint64_t client_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}
