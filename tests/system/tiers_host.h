/*
 * tiers_host.h: the engine with its stores on other servers, wired as `serve` wires it. What
 * engine_host.h offers works on `host.engine`; what the engine logged can be asked.
 */
#ifndef TESTS_SYSTEM_TIERS_HOST_H
#define TESTS_SYSTEM_TIERS_HOST_H

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "tests/servers/azurite.h"
#include "tests/servers/databases.h"
#include "tests/servers/proxy.h"
#include "tests/servers/redis.h"
#include "tests/system/engine_host.h"
#include "tools/strider/host.h"

struct tiers_host {
    struct engine_host engine;
    struct cli_host cli;
};

/* ---- what was logged ---- */

enum { TIERS_LINES_MAX = 4096, TIERS_LINE_BYTES = 300 };

static pthread_mutex_t tiers_log_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* lines come from all threads */
static char tiers_lines[TIERS_LINES_MAX][TIERS_LINE_BYTES];
static size_t tiers_line_count;

static inline void tiers_log(enum log_level level, const char *id, struct span fields)
{
    static const char *const levels[] = {"DEBUG", "INFO", "WARN", "ERROR", "CRITICAL"};
    pthread_mutex_lock(&tiers_log_mutex);
    if (tiers_line_count < TIERS_LINES_MAX) {
        snprintf(tiers_lines[tiers_line_count++], TIERS_LINE_BYTES, "%s %s %.*s", levels[level], id,
                 SPAN_ARG(fields));
    }
    pthread_mutex_unlock(&tiers_log_mutex);
    if (getenv("TIERS_LOG") != NULL) {
        fprintf(stderr, "  %s %s %.*s\n", levels[level], id, SPAN_ARG(fields));
    }
}

/* Lines that have `text` in them. */
static inline size_t tiers_logged(const char *text)
{
    size_t count = 0;
    pthread_mutex_lock(&tiers_log_mutex);
    for (size_t i = 0; i < tiers_line_count; i++) {
        count += strstr(tiers_lines[i], text) != NULL ? 1 : 0;
    }
    pthread_mutex_unlock(&tiers_log_mutex);
    return count;
}

static inline void tiers_log_clear(void)
{
    pthread_mutex_lock(&tiers_log_mutex);
    tiers_line_count = 0;
    pthread_mutex_unlock(&tiers_log_mutex);
}

/* ---- the engine ---- */

static inline void tiers_open(struct tiers_host *host, const char *directory,
                              struct actor_runtime_options engine, struct cli_tiers_options tiers)
{
    char error[512] = "";
    *host = (struct tiers_host){0};
    snprintf(host->engine.directory, sizeof host->engine.directory, "%s", directory);
    log_set_writer(tiers_log, LOG_INFO);
    const struct cli_host_options options = {
        .directory = directory, .engine = engine, .tiers = tiers, .modules = {.queue_max = 1024}};
    if (cli_host_open(&options, &host->cli, error) != RESULT_OK ||
        cli_host_start(&host->cli, &host->engine.recovery, error) != RESULT_OK) {
        fprintf(stderr, "%s\n", error);
        REQUIRE(false);
    }
    host->engine.runtime = host->cli.runtime;
    actor_waiter_init(&host->engine.replies);
    arena_init(&host->engine.arena, 64 << 10, 256 << 20);
}

static inline void tiers_close(struct tiers_host *host)
{
    cli_host_close(&host->cli);
    actor_waiter_release(&host->engine.replies);
    arena_release(&host->engine.arena);
}

/* As after kill -9: nothing is flushed. (The kernel still has what was written.) */
#define tiers_crash tiers_close

static inline uint64_t tiers_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* What /readyz says: empty when all is well. */
static inline struct span tiers_ready(struct tiers_host *host)
{
    struct span why = SPAN_EMPTY;
    (void)actor_runtime_ready(host->cli.runtime, &host->engine.arena, &why);
    return why;
}

/* Until a condition holds, looked at every 20 ms; false after HOST_TIMEOUT_MS: something is wrong.
 */
#define TIERS_UNTIL(condition)                                                                     \
    do {                                                                                           \
        uint64_t tiers_until_ms = tiers_now_ms() + HOST_TIMEOUT_MS;                                \
        bool tiers_met = false;                                                                    \
        while (!(tiers_met = (condition)) && tiers_now_ms() < tiers_until_ms) {                    \
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);                              \
        }                                                                                          \
        (void)check_one(tiers_met, #condition, __FILE__, __LINE__);                                \
    } while (0)

/* The value of a series, named with its labels; -1: there is none. */
static inline long long tiers_metric(struct tiers_host *host, const char *name)
{
    struct span text;
    char line[128];
    actor_runtime_metrics(host->cli.runtime, &host->engine.arena, &text);
    int bytes = snprintf(line, sizeof line, "\n%s ", name);
    const char *at = memmem(text.bytes, text.count, line, (size_t)bytes);
    return at == NULL ? -1 : strtoll(at + bytes, NULL, 10);
}

/* The same over all shards. */
static inline long long tiers_shard_metric(struct tiers_host *host, const char *name)
{
    struct span text;
    char line[128];
    long long sum = 0;
    actor_runtime_metrics(host->cli.runtime, &host->engine.arena, &text);
    int bytes = snprintf(line, sizeof line, "\n%s{shard=", name);
    const char *end = (const char *)text.bytes + text.count;
    for (const char *at = (const char *)text.bytes;
         (at = memmem(at, (size_t)(end - at), line, (size_t)bytes)) != NULL; at += bytes) {
        const char *value = strchr(at + bytes, ' ');
        sum += strtoll(value + 1, NULL, 10);
    }
    return sum;
}

/* ---- Redis from outside ---- */

struct tiers_redis {
    redisContext *context;
    redisReply *reply; /* of the newest command */
};

static inline void tiers_redis_open(struct tiers_redis *redis, uint16_t port)
{
    *redis = (struct tiers_redis){.context = redisConnect("127.0.0.1", port)};
    REQUIRE(redis->context != NULL && redis->context->err == 0);
}

static inline void tiers_redis_close(struct tiers_redis *redis)
{
    if (redis->reply != NULL) {
        freeReplyObject(redis->reply);
    }
    redisFree(redis->context);
    *redis = (struct tiers_redis){0};
}

#define TIERS_REDIS(redis, ...)                                                                    \
    do {                                                                                           \
        if ((redis)->reply != NULL) {                                                              \
            freeReplyObject((redis)->reply);                                                       \
        }                                                                                          \
        (redis)->reply = redisCommand((redis)->context, __VA_ARGS__);                              \
        REQUIRE((redis)->reply != NULL);                                                           \
    } while (0)

static inline struct span tiers_redis_get(struct tiers_redis *redis, const char *key)
{
    TIERS_REDIS(redis, "GET %s", key);
    return redis->reply->type == REDIS_REPLY_STRING ? span_of(redis->reply->str, redis->reply->len)
                                                    : SPAN_EMPTY;
}

static inline long long tiers_redis_ttl_ms(struct tiers_redis *redis, const char *key)
{
    TIERS_REDIS(redis, "PTTL %s", key);
    return redis->reply->integer;
}

#endif
