/*
 * server.c: see server.h. The server does as little as HTTP allows, so that it is not what is
 * measured.
 */
#include "perf/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_BYTES      (64u << 10)
#define EVENTS_MAX      256
#define PORT_TIMEOUT_MS 5000

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 42\r\n\r\n"
    "{\"outputs\":{\"approved\":true,\"score\":7.25}}";

struct peer {
    int socket;
    size_t used;
    char bytes[PEER_BYTES];
};

static void drop(struct peer *peer)
{
    close(peer->socket);
    free(peer);
}

/* Length of the first whole request in the buffer, 0 when there is none yet. */
static size_t request_bytes(const struct peer *peer)
{
    const char *end = memmem(peer->bytes, peer->used, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    size_t head = (size_t)(end - peer->bytes) + 4;
    size_t body = 0;
    for (const char *line = peer->bytes; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line) + 2) + 1) {
        if (strncasecmp(line, "content-length:", 15) == 0) {
            body = strtoul(line + 15, NULL, 10);
        }
    }
    return peer->used >= head + body ? head + body : 0;
}

static bool answer_all(struct peer *peer)
{
    for (;;) {
        size_t bytes = request_bytes(peer);
        if (bytes == 0) {
            return peer->used < sizeof peer->bytes;
        }
        if (send(peer->socket, answer, sizeof answer - 1, MSG_NOSIGNAL) !=
            (ssize_t)(sizeof answer - 1)) {
            return false;
        }
        memmove(peer->bytes, peer->bytes + bytes, peer->used - bytes);
        peer->used -= bytes;
    }
}

static void serve_peer(struct peer *peer)
{
    ssize_t got = recv(peer->socket, peer->bytes + peer->used, sizeof peer->bytes - peer->used, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        drop(peer);
        return;
    }
    peer->used += (size_t)got;
    if (!answer_all(peer)) {
        drop(peer);
    }
}

static void take_peer(int listener, int poll_fd)
{
    int one = 1;
    int socket_fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct peer *peer = socket_fd >= 0 ? malloc(sizeof *peer) : NULL;
    if (peer == NULL) {
        if (socket_fd >= 0) {
            close(socket_fd);
        }
        return;
    }
    peer->socket = socket_fd;
    peer->used = 0;
    setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, socket_fd, &event) != 0) {
        drop(peer);
    }
}

static int listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) != 0 ||
        listen(listener, 1024) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) != 0) {
        return -1;
    }
    fprintf(stderr, "port %u\n", ntohs(address.sin_port));
    return listener;
}

int server_serve(void)
{
    static struct peer stdin_mark;
    static struct peer listen_mark;
    int listener = listen_somewhere();
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event on_stdin = {.events = EPOLLIN, .data.ptr = &stdin_mark};
    struct epoll_event on_listen = {.events = EPOLLIN, .data.ptr = &listen_mark};
    if (listener < 0 || poll_fd < 0 ||
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &on_stdin) != 0 ||
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &on_listen) != 0) {
        return 1;
    }
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(poll_fd, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &stdin_mark) {
                return 0;
            }
            if (events[i].data.ptr == &listen_mark) {
                take_peer(listener, poll_fd);
            } else {
                serve_peer(events[i].data.ptr);
            }
        }
    }
}

enum result server_await(struct child *child, struct scratch *scratch)
{
    char seen[256];
    enum result result = child_await(child, "\n", PORT_TIMEOUT_MS, seen, sizeof seen);
    const char *port = strstr(seen, "port ");
    if (result != RESULT_OK || port == NULL) {
        return result == RESULT_OK ? RESULT_IO : result;
    }
    scratch->module_port = (uint32_t)strtoul(port + 5, NULL, 10);
    return RESULT_OK;
}
