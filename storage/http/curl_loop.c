/* curl_loop.c: see curl_loop.h. */
#include "storage/http/curl_loop.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "proto/base/assert.h"

#define CURL_LOOP_MAGIC 0x4c525543u

/* One socket of libcurl's; freed when libcurl is done with it. */
struct curl_socket {
    ev_io io; /* first: its watcher points here */
    struct storage_curl_loop *curl;
};

static void global_init(void);
static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *socket);
static int on_curl_timer(CURLM *multi, long timeout_ms, void *owner);
static void on_ready(struct ev_loop *loop, ev_io *io, int events);
static void on_timer(struct ev_loop *loop, ev_timer *timer, int events);
static void act(struct storage_curl_loop *curl, curl_socket_t fd, int events);

enum result storage_curl_loop_init(struct storage_curl_loop *curl, struct ev_loop *loop,
                                   uint32_t connections_max, storage_curl_done_fn done, void *owner)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, global_init);
    ASSERT(loop != NULL && done != NULL);
    *curl = (struct storage_curl_loop){
        .magic = CURL_LOOP_MAGIC, .loop = loop, .done = done, .owner = owner};
    curl->multi = curl_multi_init();
    if (curl->multi == NULL) {
        return RESULT_LIMIT;
    }
    curl_multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    curl_multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
    curl_multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
    curl_multi_setopt(curl->multi, CURLMOPT_MAXCONNECTS, (long)connections_max);
    ev_timer_init(&curl->timer, on_timer, 0., 0.);
    curl->timer.data = curl;
    return RESULT_OK;
}

static void global_init(void)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    ASSERT(code == CURLE_OK);
}

void storage_curl_loop_release(struct storage_curl_loop *curl)
{
    ASSERT(curl->magic == CURL_LOOP_MAGIC);
    curl_multi_cleanup(curl->multi);
    ev_timer_stop(curl->loop, &curl->timer);
    curl->magic = 0;
}

enum result storage_curl_loop_add(struct storage_curl_loop *curl, CURL *easy)
{
    ASSERT(curl->magic == CURL_LOOP_MAGIC);
    return curl_multi_add_handle(curl->multi, easy) == CURLM_OK ? RESULT_OK : RESULT_LIMIT;
}

void storage_curl_loop_remove(struct storage_curl_loop *curl, CURL *easy)
{
    ASSERT(curl->magic == CURL_LOOP_MAGIC);
    curl_multi_remove_handle(curl->multi, easy);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *known)
{
    (void)easy;
    struct storage_curl_loop *curl = BASE_CAST(storage_curl_loop, owner, CURL_LOOP_MAGIC);
    struct curl_socket *sock = known;
    if (what == CURL_POLL_REMOVE) {
        if (sock != NULL) {
            ev_io_stop(curl->loop, &sock->io);
            free(sock);
        }
        curl_multi_assign(curl->multi, fd, NULL);
        return 0;
    }
    if (sock == NULL) {
        sock = calloc(1, sizeof *sock);
        if (sock == NULL) {
            return -1; /* libcurl fails the transfer */
        }
        sock->curl = curl;
        ev_init(&sock->io, on_ready);
        curl_multi_assign(curl->multi, fd, sock);
    }
    ev_io_stop(curl->loop, &sock->io);
    ev_io_set(&sock->io, fd,
              (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
    ev_io_start(curl->loop, &sock->io);
    return 0;
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *owner)
{
    (void)multi;
    struct storage_curl_loop *curl = BASE_CAST(storage_curl_loop, owner, CURL_LOOP_MAGIC);
    ev_timer_stop(curl->loop, &curl->timer);
    if (timeout_ms >= 0) {
        ev_timer_set(&curl->timer, (double)timeout_ms * 1e-3, 0.);
        ev_timer_start(curl->loop, &curl->timer);
    }
    return 0;
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    act(((struct curl_socket *)io)->curl, io->fd,
        (events & EV_READ ? CURL_CSELECT_IN : 0) | (events & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    act(BASE_CAST(storage_curl_loop, timer->data, CURL_LOOP_MAGIC), CURL_SOCKET_TIMEOUT, 0);
}

static void act(struct storage_curl_loop *curl, curl_socket_t fd, int events)
{
    int running = 0;
    int left = 0;
    curl_multi_socket_action(curl->multi, fd, events, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(curl->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            CURL *easy = message->easy_handle;
            CURLcode code = message->data.result;
            curl_multi_remove_handle(curl->multi, easy);
            curl->done(curl->owner, easy, code);
        }
    }
}
