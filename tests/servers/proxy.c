/*
 * proxy.c: see proxy.h. One poll loop; what it is told stands in atomics that it reads each time
 * round (each says something on its own, so relaxed order is enough), and a byte in a pipe wakes
 * it.
 */
#include "tests/servers/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PAIRS_MAX = 128,
    PIPE_BYTES = 64 << 10, /* read ahead, a direction */
    CHUNKS_MAX = 64,
    TICK_MS = 10, /* between two looks at the clock while bytes wait for their time */
};

/* Bytes on their way in one direction. Those of a chunk may leave from its time on. */
struct lane {
    int from, to;
    uint8_t bytes[PIPE_BYTES];
    size_t count;
    struct {
        uint64_t due_ms;
        size_t count;
    } chunks[CHUNKS_MAX];
    unsigned chunk_count;
    bool closed; /* `from` has ended */
};

struct pair {
    bool used;
    struct lane out, back; /* towards the server, and from it */
};

struct proxy {
    int listener;
    int wake[2];
    uint16_t port, target_port;
    pthread_t thread;
    _Atomic uint32_t delay_ms, bytes_per_second, connections;
    _Atomic bool cut, cut_once, swallow, stopping;
    uint64_t budget_at_ms;
    double budget; /* bytes that may leave now, while throttled */
    struct pair pairs[PAIRS_MAX];
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void drop(struct pair *pair)
{
    close(pair->out.from);
    close(pair->out.to);
    pair->used = false;
}

static void drop_all(struct proxy *proxy)
{
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (proxy->pairs[i].used) {
            drop(&proxy->pairs[i]);
        }
    }
}

static void take_connection(struct proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct sockaddr_in target = loopback(proxy->target_port);
    struct pair *pair = NULL;
    for (size_t i = 0; i < PAIRS_MAX && pair == NULL; i++) {
        pair = proxy->pairs[i].used ? NULL : &proxy->pairs[i];
    }
    if (client < 0) {
        return;
    }
    atomic_fetch_add(&proxy->connections, 1);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    if (pair == NULL || atomic_load(&proxy->cut) || server < 0 ||
        connect(server, (struct sockaddr *)&target, sizeof target) != 0) {
        close(client);
        close(server);
        return;
    }
    fcntl(server, F_SETFL, O_NONBLOCK);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pair->used = true;
    pair->out.from = pair->back.to = client;
    pair->out.to = pair->back.from = server;
    pair->out.count = pair->back.count = 0;
    pair->out.chunk_count = pair->back.chunk_count = 0;
    pair->out.closed = pair->back.closed = false;
}

/* false: the connection broke. */
static bool fill(struct lane *lane, uint64_t due_ms)
{
    if (lane->closed || lane->count == PIPE_BYTES || lane->chunk_count == CHUNKS_MAX) {
        return true;
    }
    ssize_t got = recv(lane->from, lane->bytes + lane->count, PIPE_BYTES - lane->count, 0);
    if (got > 0) {
        lane->count += (size_t)got;
        lane->chunks[lane->chunk_count].due_ms = due_ms;
        lane->chunks[lane->chunk_count++].count = (size_t)got;
    }
    lane->closed = got == 0;
    return got >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Lets at most *budget bytes out. false: the connection broke, or has come to its end. */
static bool empty(struct lane *lane, uint64_t at_ms, double *budget)
{
    while (lane->chunk_count > 0 && lane->chunks[0].due_ms <= at_ms && *budget >= 1.) {
        size_t count = lane->chunks[0].count;
        count = (double)count > *budget ? (size_t)*budget : count;
        ssize_t sent = send(lane->to, lane->bytes, count, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        *budget -= (double)sent;
        lane->count -= (size_t)sent;
        memmove(lane->bytes, lane->bytes + sent, lane->count);
        lane->chunks[0].count -= (size_t)sent;
        if (lane->chunks[0].count == 0) {
            lane->chunk_count--;
            memmove(lane->chunks, lane->chunks + 1, lane->chunk_count * sizeof lane->chunks[0]);
        }
    }
    return !lane->closed || lane->count > 0;
}

static void carry(struct proxy *proxy, struct pair *pair, uint64_t at_ms)
{
    double unbounded = 1e18;
    double *budget = atomic_load(&proxy->bytes_per_second) > 0 ? &proxy->budget : &unbounded;
    bool alive =
        fill(&pair->out, at_ms + atomic_load(&proxy->delay_ms)) && fill(&pair->back, at_ms);
    if (atomic_load(&proxy->swallow)) {
        pair->out.count = pair->back.count = 0;
        pair->out.chunk_count = pair->back.chunk_count = 0;
    }
    alive = alive && empty(&pair->out, at_ms, budget) && empty(&pair->back, at_ms, &unbounded);
    if (!alive) {
        drop(pair);
    }
}

static void earn_budget(struct proxy *proxy, uint64_t at_ms)
{
    double rate = atomic_load(&proxy->bytes_per_second);
    proxy->budget += rate * (double)(at_ms - proxy->budget_at_ms) / 1000.;
    proxy->budget = proxy->budget > rate ? rate : proxy->budget; /* a second's worth at most */
    proxy->budget_at_ms = at_ms;
}

/* Sleeps until something moves; true while it is to go on. */
static bool wait_for_work(struct proxy *proxy)
{
    struct pollfd polled[2 + 2 * PAIRS_MAX] = {{.fd = proxy->wake[0], .events = POLLIN},
                                               {.fd = proxy->listener, .events = POLLIN}};
    nfds_t count = 2;
    bool waits = false;
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        const struct pair *pair = &proxy->pairs[i];
        if (!pair->used) {
            continue;
        }
        bool room = pair->out.count < PIPE_BYTES && pair->out.chunk_count < CHUNKS_MAX;
        bool back = pair->back.count < PIPE_BYTES && pair->back.chunk_count < CHUNKS_MAX;
        waits = waits || pair->out.count > 0 || pair->back.count > 0;
        polled[count++] = (struct pollfd){.fd = pair->out.from, .events = room ? POLLIN : 0};
        polled[count++] = (struct pollfd){.fd = pair->out.to, .events = back ? POLLIN : 0};
    }
    (void)poll(polled, count, waits ? TICK_MS : -1);
    char woken[64];
    if ((polled[0].revents & POLLIN) != 0) {
        (void)!read(proxy->wake[0], woken, sizeof woken);
    }
    if ((polled[1].revents & POLLIN) != 0) {
        take_connection(proxy);
    }
    return !atomic_load(&proxy->stopping);
}

static void *run(void *argument)
{
    struct proxy *proxy = argument;
    while (wait_for_work(proxy)) {
        uint64_t at_ms = now_ms();
        earn_budget(proxy, at_ms);
        if (atomic_exchange(&proxy->cut_once, false) || atomic_load(&proxy->cut)) {
            drop_all(proxy);
        }
        for (size_t i = 0; i < PAIRS_MAX; i++) {
            if (proxy->pairs[i].used) {
                carry(proxy, &proxy->pairs[i], at_ms);
            }
        }
    }
    drop_all(proxy);
    return NULL;
}

struct proxy *proxy_start(uint16_t target_port)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    struct sockaddr_in address = loopback(0);
    socklen_t count = sizeof address;
    if (proxy == NULL) {
        return NULL;
    }
    proxy->target_port = target_port;
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (proxy->listener < 0 ||
        bind(proxy->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(proxy->listener, 64) != 0 ||
        getsockname(proxy->listener, (struct sockaddr *)&address, &count) != 0 ||
        pipe2(proxy->wake, O_CLOEXEC) != 0) {
        close(proxy->listener);
        free(proxy);
        return NULL;
    }
    proxy->port = ntohs(address.sin_port);
    if (pthread_create(&proxy->thread, NULL, run, proxy) != 0) {
        close(proxy->listener);
        free(proxy);
        return NULL;
    }
    return proxy;
}

static void tell(struct proxy *proxy)
{
    (void)!write(proxy->wake[1], "!", 1);
}

void proxy_stop(struct proxy *proxy)
{
    if (proxy == NULL) {
        return;
    }
    atomic_store(&proxy->stopping, true);
    tell(proxy);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    free(proxy);
}

uint16_t proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

void proxy_delay(struct proxy *proxy, uint32_t delay_ms)
{
    atomic_store(&proxy->delay_ms, delay_ms);
    tell(proxy);
}

void proxy_throttle(struct proxy *proxy, uint32_t bytes_per_second)
{
    atomic_store(&proxy->bytes_per_second, bytes_per_second);
    tell(proxy);
}

void proxy_cut(struct proxy *proxy, bool cut)
{
    atomic_store(&proxy->cut, cut);
    tell(proxy);
}

void proxy_cut_once(struct proxy *proxy)
{
    atomic_store(&proxy->cut_once, true);
    tell(proxy);
}

void proxy_swallow(struct proxy *proxy, bool swallow)
{
    atomic_store(&proxy->swallow, swallow);
    tell(proxy);
}

uint32_t proxy_connections(const struct proxy *proxy)
{
    return atomic_load(&proxy->connections);
}
