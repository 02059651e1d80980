/*
 * http_spike.c: how fast can modules be called on this machine? Our bare loop (libcurl multi on
 * libev) beside libcurl's own poll loop and a raw epoll client, all against the harness's
 * keep-alive server in a process of its own, in turns, so that noise hurts all alike. Built by
 * name, not by default: ninja http_spike && perf/http_spike [in flight] [seconds] [rounds].
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/http_client.h"
#include "perf/server.h"

struct setting {
    unsigned port;
    unsigned in_flight;
    double seconds;
    char url[64];
};

struct outcome {
    uint64_t units;
    double seconds;
    double cpu_us; /* of this process, a unit */
};

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void ours(const struct setting *setting, struct outcome *out)
{
    static struct load_result result;
    struct http_client_options options = {.url = setting->url,
                                          .in_flight = setting->in_flight,
                                          .seconds = setting->seconds,
                                          .body = http_client_body()};
    if (http_client_run(&options, &result) == RESULT_OK && result.errors == 0) {
        out->units = result.units;
        out->seconds = result.seconds;
    }
}

static size_t drop_bytes(char *bytes, size_t one, size_t count, void *owner)
{
    (void)bytes;
    (void)owner;
    return one * count;
}

/* libcurl as its examples use it: curl_multi_perform and curl_multi_poll, handles re-used. */
static void curl_poll(const struct setting *setting, struct outcome *out)
{
    CURLM *multi = curl_multi_init();
    CURL **easy = calloc(setting->in_flight, sizeof(CURL *));
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_slist_append(headers, "Expect:");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)setting->in_flight);
    struct span body = http_client_body();
    for (unsigned index = 0; index < setting->in_flight; index++) {
        easy[index] = curl_easy_init();
        curl_easy_setopt(easy[index], CURLOPT_URL, setting->url);
        curl_easy_setopt(easy[index], CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy[index], CURLOPT_PROXY, "");
        curl_easy_setopt(easy[index], CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy[index], CURLOPT_WRITEFUNCTION, drop_bytes);
        curl_easy_setopt(easy[index], CURLOPT_POSTFIELDSIZE, (long)body.count);
        curl_easy_setopt(easy[index], CURLOPT_POSTFIELDS, body.bytes);
        curl_multi_add_handle(multi, easy[index]);
    }
    uint64_t began_us = load_now_us();
    uint64_t end_us = began_us + (uint64_t)(setting->seconds * 1e6);
    while (load_now_us() < end_us) {
        int running = 0;
        curl_multi_perform(multi, &running);
        int left = 0;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
            CURL *done = message->easy_handle;
            out->units += message->data.result == CURLE_OK;
            curl_multi_remove_handle(multi, done);
            curl_multi_add_handle(multi, done);
        }
        curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
    out->seconds = (double)(load_now_us() - began_us) * 1e-6;
    for (unsigned index = 0; index < setting->in_flight; index++) {
        curl_multi_remove_handle(multi, easy[index]);
        curl_easy_cleanup(easy[index]);
    }
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    free(easy);
}

/* No library at all: what sockets allow. It knows the answer's length from its first one. */
struct raw_peer {
    int fd;
    size_t got;
    size_t expected;
};

static bool raw_send(const struct raw_peer *peer, const char *request, size_t count)
{
    return send(peer->fd, request, count, MSG_NOSIGNAL) == (ssize_t)count;
}

static void raw_epoll(const struct setting *setting, struct outcome *out)
{
    struct span body = http_client_body();
    static char request[4096];
    size_t request_bytes =
        (size_t)snprintf(request, sizeof request,
                         "POST / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAccept: */*\r\n"
                         "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
                         setting->port, body.count, SPAN_ARG(body));
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)setting->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct raw_peer *peers = calloc(setting->in_flight, sizeof *peers);
    for (unsigned index = 0; index < setting->in_flight; index++) {
        int one = 1;
        peers[index].fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(peers[index].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(peers[index].fd, (struct sockaddr *)&address, sizeof address) != 0) {
            perror("connect");
            abort();
        }
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &peers[index]};
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, peers[index].fd, &event);
        raw_send(&peers[index], request, request_bytes);
    }
    uint64_t began_us = load_now_us();
    uint64_t end_us = began_us + (uint64_t)(setting->seconds * 1e6);
    while (load_now_us() < end_us) {
        struct epoll_event events[256];
        int count = epoll_wait(poll_fd, events, 256, 100);
        for (int index = 0; index < count; index++) {
            struct raw_peer *peer = events[index].data.ptr;
            char bytes[4096];
            ssize_t got = recv(peer->fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
            if (got <= 0) {
                continue;
            }
            if (peer->got == 0 && peer->expected == 0) {
                bytes[got] = '\0';
                const char *length = strstr(bytes, "Content-Length: ");
                const char *end = strstr(bytes, "\r\n\r\n");
                peer->expected = (size_t)(end - bytes) + 4 + strtoul(length + 16, NULL, 10);
            }
            peer->got += (size_t)got;
            if (peer->got == peer->expected) {
                peer->got = 0;
                out->units++;
                raw_send(peer, request, request_bytes);
            }
        }
    }
    out->seconds = (double)(load_now_us() - began_us) * 1e-6;
    for (unsigned index = 0; index < setting->in_flight; index++) {
        close(peers[index].fd);
    }
    close(poll_fd);
    free(peers);
}

static pid_t start_server(unsigned *port, int *keep_alive)
{
    int to_child[2];
    int from_child[2];
    if (pipe(to_child) != 0 || pipe(from_child) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(to_child[0], STDIN_FILENO);
        dup2(from_child[1], STDERR_FILENO);
        close(to_child[1]);
        _exit(server_serve());
    }
    char line[64] = "";
    size_t count = 0;
    while (count + 1 < sizeof line && read(from_child[0], line + count, 1) == 1 &&
           line[count] != '\n') {
        count++;
    }
    *keep_alive = to_child[1];
    return sscanf(line, "port %u", port) == 1 ? child : -1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const struct setting *, struct outcome *);
    } rivals[] = {{"ours: curl multi on libev", ours},
                  {"curl_multi_poll", curl_poll},
                  {"raw epoll", raw_epoll}};
    enum { RIVALS = sizeof rivals / sizeof rivals[0] };
    struct setting setting = {.in_flight = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 64,
                              .seconds = argc > 2 ? strtod(argv[2], NULL) : 2.};
    unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 3;
    int keep_alive = -1;
    pid_t child = start_server(&setting.port, &keep_alive);
    if (child < 0) {
        fprintf(stderr, "the server did not start\n");
        return 1;
    }
    snprintf(setting.url, sizeof setting.url, "http://127.0.0.1:%u/", setting.port);
    struct outcome total[RIVALS] = {0};
    double cpu[RIVALS] = {0};
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned index = 0; index < RIVALS; index++) {
            struct outcome one = {0};
            double before = cpu_seconds();
            rivals[index].run(&setting, &one);
            cpu[index] += cpu_seconds() - before;
            total[index].units += one.units;
            total[index].seconds += one.seconds;
        }
    }
    for (unsigned index = 0; index < RIVALS; index++) {
        double rate =
            total[index].seconds > 0 ? (double)total[index].units / total[index].seconds : 0;
        printf("%-28s %8.0f requests/s  %6.1f us CPU each\n", rivals[index].name, rate,
               total[index].units > 0 ? cpu[index] * 1e6 / (double)total[index].units : 0);
    }
    close(keep_alive);
    waitpid(child, NULL, 0);
    return 0;
}
