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
#define HANG_UPS_MIN     3

static int set_options(nng_socket socket);
static int dial(struct client_link *link, const char *url, const struct transport_tls *tls);
static int set_tls(nng_dialer dialer, const struct transport_tls *tls);
static uint64_t count_of(nng_stat *dialer, const char *name);
static bool is_dialing_websocket(const struct client_link *link);
static void stop_dialing(const struct client_link *link);

enum result client_link_open(const char *url, const struct transport_tls *tls,
                             struct client_link **out, char error[256])
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
        code = dial(link, url, tls);
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
static int dial(struct client_link *link, const char *url, const struct transport_tls *tls)
{
    int code = nng_dialer_create(&link->dialer, link->socket, url);
    link->is_tls = transport_url_is_tls(url);
    link->is_websocket = strncmp(url, "ws", 2) == 0;
    if (code == 0 && link->is_tls) {
        code = set_tls(link->dialer, tls);
    } else if (code == 0 && strncmp(url, "tcp", 3) == 0) {
        code = nng_dialer_set_bool(link->dialer, NNG_OPT_TCP_KEEPALIVE, true);
    }
    return code != 0 ? code : nng_dialer_start(link->dialer, NNG_FLAG_NONBLOCK);
}

/* Whom the URL names NNG checks by itself. */
static int set_tls(nng_dialer dialer, const struct transport_tls *tls)
{
    int code = nng_dialer_set_string(dialer, NNG_OPT_TLS_CA_FILE, tls->authorities_file);
    if (code == 0 && tls->certificate_file != NULL) {
        code = nng_dialer_set_string(dialer, NNG_OPT_TLS_CERT_KEY_FILE, tls->certificate_file);
    }
    return code;
}

bool client_link_is_denied(const struct client_link *link)
{
    nng_stat *all = NULL;
    if (!link->is_tls || nng_stats_get(&all) != 0) {
        return false;
    }
    nng_stat *own = nng_stat_find_dialer(all, link->dialer);
    /* `auth`: we do not take the peer's certificate. `other`: the peer hangs up on ours, or on our
     * having none; but so does one that is about to end, once. */
    bool denied = count_of(own, "connect") == 0 &&
                  (count_of(own, "auth") > 0 || count_of(own, "other") >= HANG_UPS_MIN);
    nng_stats_free(all);
    return denied;
}

static uint64_t count_of(nng_stat *dialer, const char *name)
{
    nng_stat *found = dialer == NULL ? NULL : nng_stat_find(dialer, name);
    return found == NULL ? 0 : nng_stat_value(found);
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
        if (is_dialing_websocket(link)) {
            stop_dialing(link);
        } else {
            (void)transport_socket_close(link->socket, CLOSE_WAIT_MS);
        }
        free(link);
    }
}

/* NNG 1.5.2 ends the process ("appending node already on a list") when it closes a dialer of
 * websockets while a try to connect fails. */
static bool is_dialing_websocket(const struct client_link *link)
{
    nng_stat *all = NULL;
    if (!link->is_websocket || nng_stats_get(&all) != 0) {
        return false;
    }
    bool dialing = count_of(nng_stat_find_dialer(all, link->dialer), "pipes") == 0;
    nng_stats_free(all);
    return dialing;
}

/* The try under way ends, no other follows; the socket stays until the process ends. */
static void stop_dialing(const struct client_link *link)
{
    (void)nng_dialer_set_ms(link->dialer, NNG_OPT_RECONNMINT, INT32_MAX);
    (void)nng_dialer_set_ms(link->dialer, NNG_OPT_RECONNMAXT, INT32_MAX);
}

uint64_t client_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}
