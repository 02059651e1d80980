/*
 * redis_spike.c: the Redis adapter by itself beside redis-benchmark, in alternating rounds on one
 * redis-server of its own: bytes that are ready, one SET each, on one connection, so many sent
 * before their answers are awaited. docs/performance.md.
 *
 *   redis_spike [COMMANDS [ROUNDS]]      (60000, 3)
 */
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/load.h"
#include "perf/spike.h"
#include "proto/base/span.h"
#include "proto/message.h"
#include "storage/redis/redis.h"
#include "tests/servers/redis.h"

#define TTL_MS    600000 /* as shipped: hot.ttl */
#define BYTES_MAX 4096u

/* SET key value, and as the engine sends it: with PX and a time to live. */
static const struct round {
    uint32_t bytes, depth, ttl_ms;
} table[] = {
    {512, 16, 0},      {512, 128, 0},      {BYTES_MAX, 16, 0},      {BYTES_MAX, 128, 0},
    {512, 16, TTL_MS}, {512, 128, TTL_MS}, {BYTES_MAX, 16, TTL_MS}, {BYTES_MAX, 128, TTL_MS},
};

static struct server server;
static char value[BYTES_MAX + 1];

static void must(bool holds, const char *what)
{
    spike_must("redis_spike", &server, holds, what);
}

/* ---- ours ---- */

/* Who asks: sends `depth` commands, awaits all of them, and again, as redis-benchmark does. */
struct asker {
    struct proto_sink sink; /* first */
    struct ev_loop *loop;
    struct storage_hot *hot;
    ev_prepare before_poll; /* sends the next ones when the loop has done its work */
    struct span bytes;
    uint32_t depth;
    uint32_t under_way;
    uint32_t left; /* to be sent */
};

static enum result on_answer(struct proto_sink *sink, struct proto_message **message)
{
    struct asker *asker = (struct asker *)sink;
    must((*message)->as.port_done.result == RESULT_OK, "a command failed");
    message_free(*message);
    *message = NULL;
    asker->under_way--;
    if (asker->under_way == 0 && asker->left == 0) {
        ev_break(asker->loop, EVBREAK_ALL);
    }
    return RESULT_OK;
}

static void send_more(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct asker *asker = watcher->data;
    (void)loop;
    (void)events;
    if (asker->under_way > 0) {
        return;
    }
    for (; asker->under_way < asker->depth && asker->left > 0; asker->left--) {
        asker->under_way++;
        must(asker->hot->ops->put(asker->hot, span_text("0123456789abcdef"), asker->bytes, 0,
                                  (struct proto_address){.sink = &asker->sink}) == RESULT_OK,
             "a command was not taken");
    }
}

static void open_ours(struct asker *asker, const char *url, uint32_t ttl_ms)
{
    char reason[STORAGE_REDIS_REASON_BYTES];
    struct storage_redis_options options = {STORAGE_REDIS_OPTIONS_DEFAULT};
    options.url = url;
    options.ttl_ms = ttl_ms;
    *asker = (struct asker){.sink.send = on_answer, .loop = ev_loop_new(EVFLAG_AUTO)};
    must(storage_redis_hot_open(asker->loop, &options, &asker->hot, reason) == RESULT_OK, reason);
    ev_prepare_init(&asker->before_poll, send_more);
    asker->before_poll.data = asker;
    ev_prepare_start(asker->loop, &asker->before_poll);
}

static void close_ours(struct asker *asker)
{
    asker->hot->ops->close(asker->hot);
    ev_loop_destroy(asker->loop);
}

/* Seconds. */
static double run_ours(struct asker *asker, const struct round *round, uint32_t count)
{
    asker->bytes = span_of(value, round->bytes);
    asker->depth = round->depth;
    asker->left = count;
    double begin_us = (double)load_now_us();
    ev_run(asker->loop, 0);
    return ((double)load_now_us() - begin_us) / 1e6;
}

/* ---- redis-benchmark ---- */

/* The same command, on one connection. Seconds. */
static double run_benchmark(const char *program, const struct round *round, uint32_t count)
{
    static char command[BYTES_MAX + 512];
    char line[512];
    double rate = 0;
    int used = snprintf(command, sizeof command, "%s -h 127.0.0.1 -p %u -c 1 -P %u -n %u --csv ",
                        program, (unsigned)server.port, round->depth, count);
    if (round->ttl_ms == 0) {
        snprintf(command + used, sizeof command - (size_t)used, "-t set -d %u", round->bytes);
    } else {
        snprintf(command + used, sizeof command - (size_t)used,
                 "SET session:0123456789abcdef %.*s PX %u", (int)round->bytes, value,
                 round->ttl_ms);
    }
    FILE *pipe = popen(command, "re");
    must(pipe != NULL, "redis-benchmark does not start");
    /* "the command","118764.84",… (the command is long) */
    for (int byte = 0, quotes = 0; byte != EOF && rate == 0;) {
        byte = fgetc(pipe);
        quotes = byte == '\n' ? 0 : quotes + (byte == '"');
        if (quotes == 3 && byte == '"' && fgets(line, sizeof line, pipe) != NULL) {
            rate = strtod(line, NULL);
            quotes = 0;
        }
    }
    while (fgets(line, sizeof line, pipe) != NULL) {
    }
    must(pclose(pipe) == 0 && rate > 0, "redis-benchmark says nothing");
    return count / rate;
}

/* ---- all of it ---- */

static void measure(const char *program, const char *url, const struct round *round, uint32_t count,
                    uint32_t rounds)
{
    struct asker asker;
    double ours_s = 0;
    double bare_s = 0;
    open_ours(&asker, url, round->ttl_ms);
    (void)run_ours(&asker, round, 1); /* the connection is up */
    double used_s = spike_cpu_s();
    for (uint32_t i = 0; i < rounds; i++) {
        bare_s += run_benchmark(program, round, count);
        ours_s += run_ours(&asker, round, count);
    }
    used_s = spike_cpu_s() - used_s;
    close_ours(&asker);
    double all = (double)count * rounds;
    printf("{\"what\":\"redis adapter beside redis-benchmark\",\"bytes\":%u,\"depth\":%u,"
           "\"ttlMs\":%u,\"throughput\":%.0f,\"ceiling\":%.0f,\"ratio\":%.2f,"
           "\"cpuUsEach\":%.2f}\n",
           round->bytes, round->depth, round->ttl_ms, all / ours_s, all / bare_s, bare_s / ours_s,
           used_s * 1e6 / all);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char program[256];
    char url[64];
    uint32_t commands = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60000;
    uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
    must(server_redis_installed() && server_find("redis-benchmark", NULL, program),
         "redis-server and redis-benchmark are needed (tools/install-dependencies --servers)");
    must(commands > 0 && rounds > 0, "COMMANDS and ROUNDS are numbers");
    must(server_redis_start(&server, NULL), "the server did not start");
    signal(SIGPIPE, SIG_IGN);
    memset(value, 'x', BYTES_MAX);
    snprintf(url, sizeof url, "redis://127.0.0.1:%u/0", (unsigned)server.port);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        measure(program, url, &table[i], commands, rounds);
    }
    server_remove(&server);
    return 0;
}
