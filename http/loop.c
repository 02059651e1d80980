/*
 * loop.c: see loop.h.
 *
 * Watchers live in a table by descriptor and stay when curl lets go of a socket, because a
 * kept-alive connection takes its descriptor up again with the next request: when both fall into
 * one turn of the loop, the kernel is not asked at all. A descriptor that was closed meanwhile must
 * be told to the kernel anew, and libev cannot know. So a watcher is `fresh` (set from scratch at
 * its next start) unless its socket is one of ours (curl's open and close callbacks) and still
 * open; the resolver's socket pairs, which curl opens and closes by itself, are fresh every time.
 */
#include "http/loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/assert.h"

#define LOOP_MAGIC  0x4355524cu
#define SOCKETS_MAX (1u << 20)

struct http_loop_socket {
    struct http_loop *curl;
    ev_io io;
    bool fresh; /* the descriptor is new to the loop */
    bool ours;  /* opened by on_curl_open and not closed yet */
};

static void global_init(void);
static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *unused);
static void set_kick(struct http_loop *curl, bool kick);
static int on_curl_timer(CURLM *multi, long timeout_ms, void *owner);
static curl_socket_t on_curl_open(void *owner, curlsocktype purpose, struct curl_sockaddr *address);
static int on_curl_close(void *owner, curl_socket_t fd);
static void on_ready(struct ev_loop *loop, ev_io *io, int events);
static void on_timer(struct ev_loop *loop, ev_timer *timer, int events);
static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events);
static struct http_loop_socket *socket_of(struct http_loop *curl, curl_socket_t fd);
static void act(struct http_loop *curl, curl_socket_t fd, int events);
static void collect(struct http_loop *curl);

enum result http_loop_init(struct http_loop *curl, struct ev_loop *loop, uint32_t connections_max,
                           http_loop_done_fn done, void *owner)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, global_init);
    ASSERT(loop != NULL && done != NULL);

    *curl = (struct http_loop){.magic = LOOP_MAGIC, .loop = loop, .done = done, .owner = owner};
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
    ev_prepare_init(&curl->prepare, on_prepare);
    curl->prepare.data = curl;
    ev_prepare_start(loop, &curl->prepare);
    ev_unref(loop); /* waiting for work does not keep the loop alive */
    return RESULT_OK;
}

static void global_init(void)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    ASSERT(code == CURLE_OK);
}

void http_loop_release(struct http_loop *curl)
{
    ASSERT(curl->magic == LOOP_MAGIC);
    curl_multi_cleanup(curl->multi);
    set_kick(curl, false);
    ev_timer_stop(curl->loop, &curl->timer);
    ev_ref(curl->loop);
    ev_prepare_stop(curl->loop, &curl->prepare);
    for (size_t fd = 0; fd < curl->socket_capacity; fd++) {
        if (curl->sockets[fd] != NULL) {
            ev_io_stop(curl->loop, &curl->sockets[fd]->io);
            free(curl->sockets[fd]);
        }
    }
    free(curl->sockets);
    curl->magic = 0;
}

void http_loop_prepare(struct http_loop *curl, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* never join a resolver thread on this loop */
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* not from the environment */
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_curl_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, curl);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_curl_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, curl);
}

enum result http_loop_add(struct http_loop *curl, CURL *easy)
{
    ASSERT(curl->magic == LOOP_MAGIC);
    return curl_multi_add_handle(curl->multi, easy) == CURLM_OK ? RESULT_OK : RESULT_LIMIT;
}

void http_loop_remove(struct http_loop *curl, CURL *easy)
{
    ASSERT(curl->magic == LOOP_MAGIC);
    curl_multi_remove_handle(curl->multi, easy);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *unused)
{
    (void)easy;
    (void)unused;
    struct http_loop *curl = BASE_CAST(http_loop, owner, LOOP_MAGIC);
    struct http_loop_socket *sock = socket_of(curl, fd);
    if (sock == NULL) {
        return -1; /* no memory: curl fails the transfer */
    }
    int events = (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0);
    if (what == CURL_POLL_REMOVE) {
        events = 0;
        sock->fresh |= !sock->ours;
    }
    if (ev_is_active(&sock->io) &&
        (events & (EV_READ | EV_WRITE)) == (sock->io.events & (EV_READ | EV_WRITE))) {
        return 0;
    }
    ev_io_stop(curl->loop, &sock->io);
    if (events != 0) {
        if (sock->fresh) {
            ev_io_set(&sock->io, fd, events);
            sock->fresh = false;
        } else {
            ev_io_modify(&sock->io, events);
        }
        ev_io_start(curl->loop, &sock->io);
    }
    return 0;
}

static struct http_loop_socket *socket_of(struct http_loop *curl, curl_socket_t fd)
{
    ASSERT(fd >= 0);
    if ((size_t)fd >= SOCKETS_MAX) {
        return NULL;
    }
    size_t index = (size_t)fd;
    if (index >= curl->socket_capacity) {
        size_t capacity = curl->socket_capacity == 0 ? 64 : curl->socket_capacity;
        while (capacity <= index) {
            capacity *= 2;
        }
        struct http_loop_socket **sockets =
            realloc(curl->sockets, capacity * sizeof(struct http_loop_socket *));
        if (sockets == NULL) {
            return NULL;
        }
        memset(sockets + curl->socket_capacity, 0,
               (capacity - curl->socket_capacity) * sizeof(struct http_loop_socket *));
        curl->sockets = sockets;
        curl->socket_capacity = capacity;
    }
    if (curl->sockets[index] == NULL) {
        struct http_loop_socket *sock = calloc(1, sizeof *sock);
        if (sock == NULL) {
            return NULL;
        }
        sock->curl = curl;
        sock->fresh = true;
        ev_init(&sock->io, on_ready);
        curl->sockets[index] = sock;
    }
    return curl->sockets[index];
}

static curl_socket_t on_curl_open(void *owner, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    struct http_loop *curl = BASE_CAST(http_loop, owner, LOOP_MAGIC);
    curl_socket_t fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        return CURL_SOCKET_BAD;
    }
    struct http_loop_socket *sock = socket_of(curl, fd);
    if (sock == NULL) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    sock->fresh = true;
    sock->ours = true;
    return fd;
}

static int on_curl_close(void *owner, curl_socket_t fd)
{
    struct http_loop *curl = BASE_CAST(http_loop, owner, LOOP_MAGIC);
    if (fd >= 0 && (size_t)fd < curl->socket_capacity && curl->sockets[fd] != NULL) {
        ev_io_stop(curl->loop, &curl->sockets[fd]->io);
        curl->sockets[fd]->fresh = true;
        curl->sockets[fd]->ours = false;
    }
    return close(fd);
}

/* Work that is to be done at once keeps the loop alive, in whatever turn it came up. */
static void set_kick(struct http_loop *curl, bool kick)
{
    if (kick && !curl->kick) {
        ev_ref(curl->loop);
    } else if (!kick && curl->kick) {
        ev_unref(curl->loop);
    }
    curl->kick = kick;
}

/* curl asks for "at once" whenever a transfer is added: that needs no timer, only a turn before the
 * loop sleeps. */
static int on_curl_timer(CURLM *multi, long timeout_ms, void *owner)
{
    (void)multi;
    struct http_loop *curl = BASE_CAST(http_loop, owner, LOOP_MAGIC);
    set_kick(curl, timeout_ms == 0);
    ev_timer_stop(curl->loop, &curl->timer);
    if (timeout_ms > 0) {
        ev_timer_set(&curl->timer, (double)timeout_ms * 1e-3, 0.);
        ev_timer_start(curl->loop, &curl->timer);
    }
    return 0;
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    struct http_loop_socket *sock =
        (struct http_loop_socket *)(void *)((char *)io - offsetof(struct http_loop_socket, io));
    act(sock->curl, io->fd,
        (events & EV_READ ? CURL_CSELECT_IN : 0) | (events & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    act(BASE_CAST(http_loop, timer->data, LOOP_MAGIC), CURL_SOCKET_TIMEOUT, 0);
}

/* What `done` starts anew is started in the same turn, within a bound: the sockets must get theirs
 * too. */
static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)events;
    struct http_loop *curl = BASE_CAST(http_loop, prepare->data, LOOP_MAGIC);
    for (int round = 0; curl->kick && round < 8; round++) {
        set_kick(curl, false);
        act(curl, CURL_SOCKET_TIMEOUT, 0);
    }
    if (curl->kick) {
        ev_timer_stop(loop, &curl->timer);
        ev_timer_set(&curl->timer, 0., 0.);
        ev_timer_start(loop, &curl->timer);
    }
}

static void act(struct http_loop *curl, curl_socket_t fd, int events)
{
    int running = 0;
    curl_multi_socket_action(curl->multi, fd, events, &running);
    collect(curl);
}

static void collect(struct http_loop *curl)
{
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(curl->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            CURL *easy = message->easy_handle;
            CURLcode code = message->data.result;
            curl_multi_remove_handle(curl->multi, easy);
            curl->done(curl->owner, easy, code);
        }
    }
}
