/* listening.c: see listening.h. */
#include "transport/front/listening.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/log.h"
#include "transport/guard/listen.h"
#include "transport/guard/tls.h"

static bool is_ipc(const char *url);
static enum result listen_on_all(struct front_listening *listening,
                                 const struct transport_front_options *options, nng_tls_config *tls,
                                 char error[256]);
static int listen_on(struct front_listening *listening, const char *url, nng_tls_config *tls);
static int start_listener(nng_listener *out, nng_socket socket, const char *url,
                          nng_tls_config *tls);
static bool any_is_tls(const struct transport_front_options *options);
static void look_after_listeners(void *owner);
static void on_connection(nng_pipe pipe, nng_pipe_ev event, void *arg);
static void on_connection_gone(nng_pipe pipe, nng_pipe_ev event, void *arg);
static void say_crowded(struct front_listening *listening);
static bool is_of_browser(nng_pipe pipe);

enum result front_listening_check(const struct transport_front_options *options, char error[256])
{
    for (size_t index = 0; index < options->url_count; index++) {
        const char *url = options->urls[index];
        if (strstr(url, "://") == NULL) {
            snprintf(error, 256, "\"%s\" is no address: it must be ipc:///PATH or tcp://HOST:PORT",
                     url);
            return RESULT_INVALID;
        }
        if (options->token_count == 0 && !transport_url_is_local(url)) {
            snprintf(
                error, 256,
                "%s reaches beyond this machine: set auth.tokens, or listen on 127.0.0.1 or ipc://",
                url);
            return RESULT_DENIED;
        }
        if (transport_url_is_tls(url) && options->tls.certificate_file == NULL) {
            snprintf(error, 256, "%s needs a certificate: set front.tlsCertificate", url);
            return RESULT_INVALID;
        }
    }
    return RESULT_OK;
}

enum result front_listening_start(struct front_listening *listening, nng_socket socket,
                                  struct front_intake *intake,
                                  const struct transport_front_options *options, char error[256])
{
    listening->socket = socket;
    listening->intake = intake;
    listening->listeners = calloc(options->url_count, sizeof *listening->listeners);
    listening->ipc_urls = calloc(options->url_count, sizeof *listening->ipc_urls);
    listening->watches = calloc(options->url_count, sizeof *listening->watches);
    if (listening->listeners == NULL || listening->ipc_urls == NULL || listening->watches == NULL) {
        snprintf(error, 256, "no memory for the front");
        return RESULT_LIMIT;
    }
    listening->connections_max = options->connections_max;
    listening->takes_browsers = options->token_count > 0;
    int code = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_PRE, on_connection, listening);
    if (code == 0) {
        code = nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, on_connection_gone, listening);
    }
    if (code != 0) {
        snprintf(error, 256, "%s", nng_strerror(code));
        return transport_result_of_nng(code);
    }
    nng_tls_config *tls = NULL;
    enum result result = RESULT_OK;
    if (any_is_tls(options)) {
        result = transport_tls_listen(&options->tls, &tls, error);
    }
    if (result == RESULT_OK) {
        result = listen_on_all(listening, options, tls, error);
    }
    if (tls != NULL) {
        nng_tls_config_free(tls); /* the listeners hold it themselves */
    }
    return result;
}

static bool any_is_tls(const struct transport_front_options *options)
{
    for (size_t index = 0; index < options->url_count; index++) {
        if (transport_url_is_tls(options->urls[index])) {
            return true;
        }
    }
    return false;
}

static enum result listen_on_all(struct front_listening *listening,
                                 const struct transport_front_options *options, nng_tls_config *tls,
                                 char error[256])
{
    bool ipc = false;
    for (size_t index = 0; index < options->url_count; index++) {
        int code = listen_on(listening, options->urls[index], tls);
        if (code != 0) {
            snprintf(error, 256, "cannot listen on %s: %s", options->urls[index],
                     nng_strerror(code));
            return transport_result_of_nng(code);
        }
        ipc = ipc || listening->ipc_urls[index] != NULL;
        log_line(LOG_INFO, "FRONT-LISTEN", "url=%s", options->urls[index]);
    }
    if (ipc &&
        front_warden_start(&listening->warden, look_after_listeners, listening) != RESULT_OK) {
        snprintf(error, 256, "no thread to look after ipc://");
        return RESULT_LIMIT;
    }
    return RESULT_OK;
}

static bool is_ipc(const char *url)
{
    return strncmp(url, "ipc:", 4) == 0 || strncmp(url, "unix:", 5) == 0;
}

/* On the warden's thread. Its connections end with a listener; gateways dial again. */
static void look_after_listeners(void *owner)
{
    struct front_listening *listening = owner;
    for (size_t index = 0; index < listening->count; index++) {
        const char *url = listening->ipc_urls[index];
        if (url == NULL ||
            !front_listener_is_deaf(listening->listeners[index], url, &listening->watches[index])) {
            continue;
        }
        nng_listener_close(listening->listeners[index]);
        int code = start_listener(&listening->listeners[index], listening->socket, url, NULL);
        log_line(code == 0 ? LOG_WARN : LOG_CRITICAL, "FRONT-LISTEN-ANEW", "url=%s error=\"%s\"",
                 url, code == 0 ? "" : nng_strerror(code));
    }
}

static int listen_on(struct front_listening *listening, const char *url, nng_tls_config *tls)
{
    size_t index = listening->count;
    if (is_ipc(url) && (listening->ipc_urls[index] = strdup(url)) == NULL) {
        return NNG_ENOMEM;
    }
    int code = start_listener(&listening->listeners[index], listening->socket, url, tls);
    if (code != 0) {
        free(listening->ipc_urls[index]);
        listening->ipc_urls[index] = NULL;
        return code;
    }
    listening->count++;
    return 0;
}

static int start_listener(nng_listener *out, nng_socket socket, const char *url,
                          nng_tls_config *tls)
{
    nng_listener listener;
    int code = nng_listener_create(&listener, socket, url);
    if (code != 0) {
        return code;
    }
    if (is_ipc(url)) {
        code = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, 0600);
    } else if (transport_url_is_tls(url)) {
        code = nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, tls);
    } else if (strncmp(url, "tcp", 3) == 0) {
        code = nng_listener_set_bool(listener, NNG_OPT_TCP_KEEPALIVE, true);
    }
    if (code == 0) {
        code = nng_listener_start(listener, 0);
    }
    if (code != 0) {
        nng_listener_close(listener);
        return code;
    }
    *out = listener;
    return 0;
}

/* On NNG's thread, for each connection before it is used. */
static void on_connection(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
    (void)event;
    struct front_listening *listening = arg;
    struct front_intake *intake = listening->intake;
    uint32_t before = atomic_fetch_add_explicit(&intake->connections, 1, memory_order_relaxed);
    if (listening->connections_max > 0 && before >= listening->connections_max) {
        say_crowded(listening);
        nng_pipe_close(pipe);
    } else if (!listening->takes_browsers && is_of_browser(pipe)) {
        atomic_fetch_add_explicit(&intake->unauthorized, 1, memory_order_relaxed);
        nng_pipe_close(pipe);
    }
}

/* Also of those that were closed at once. */
static void on_connection_gone(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
    (void)pipe;
    (void)event;
    struct front_listening *listening = arg;
    atomic_fetch_sub_explicit(&listening->intake->connections, 1, memory_order_relaxed);
}

/* Gateways dial again and again: one line for each doubling. */
static void say_crowded(struct front_listening *listening)
{
    uint64_t count =
        1 + atomic_fetch_add_explicit(&listening->intake->crowded, 1, memory_order_relaxed);
    if ((count & (count - 1)) == 0) {
        log_line(LOG_WARN, "FRONT-CROWDED", "connections_max=%" PRIu32 " refused=%" PRIu64,
                 listening->connections_max, count);
    }
}

/*
 * A page that somebody's browser shows can open websockets to this machine, and the browser tells
 * its Origin. A gateway has none.
 */
static bool is_of_browser(nng_pipe pipe)
{
    char *origin = NULL;
    if (nng_pipe_get_string(pipe, NNG_OPT_WS_REQUEST_HEADER "Origin", &origin) != 0) {
        return false;
    }
    nng_strfree(origin);
    return true;
}

uint16_t front_listening_port(const struct front_listening *listening, size_t url_index)
{
    int port = 0;
    if (url_index >= listening->count ||
        nng_listener_get_int(listening->listeners[url_index], NNG_OPT_TCP_BOUND_PORT, &port) != 0) {
        return 0;
    }
    return (uint16_t)port;
}

void front_listening_stop(struct front_listening *listening)
{
    front_warden_stop(&listening->warden);
    for (size_t index = 0; index < listening->count; index++) {
        front_listener_forget(&listening->watches[index]);
    }
}

void front_listening_release(struct front_listening *listening)
{
    for (size_t index = 0; listening->ipc_urls != NULL && index < listening->count; index++) {
        free(listening->ipc_urls[index]);
    }
    free(listening->ipc_urls);
    free(listening->watches);
    free(listening->listeners);
}
