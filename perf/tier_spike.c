/*
 * tier_spike.c: how long a resume and a heavy save take with the tiers on real servers (Redis,
 * Azurite, PostgreSQL, all its own, on the loopback), one request at a time, through the real
 * binary. Each beside the sum of what it cannot do without, measured in the same run: a ping of the
 * same engine, and the same bytes asked of the same servers with no engine. docs/performance.md.
 *
 *   tier_spike STRIDER [EXECUTIONS [MODULES]]    (300; node_modules that hold azurite)
 */
#include <ev.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/load.h"
#include "perf/scratch.h"
#include "proto/message.h"
#include "storage/azure/azure.h"
#include "storage/odbc/odbc.h"
#include "tests/servers/azurite.h"
#include "tests/servers/databases.h"
#include "tests/servers/redis.h"

enum {
    HEAVY_BYTES = 1200 << 10, /* over engine.heavySessionThresholdBytes */
    HEAVY_PART = 5,           /* one of so many executions */
    QUEUED_TIMES = 10,        /* so many executions leave their blobs before a save behind them */
    ONE_LANE = 1,
    PATIENCE_S = 60,
    STOP_S = 40,
};

static struct server redis, azurite, database, engine;
static struct scratch scratch;
static char *binary;
static char blob_connection[400];
static char index_connection[256];
static char *heavy_text;

static void clean_up(void)
{
    server_remove(&engine);
    server_remove(&redis);
    server_remove(&azurite);
    server_remove(&database);
    scratch_close(&scratch);
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "tier_spike: %s\n", what);
        clean_up();
        _exit(1);
    }
}

/* ---- the engine ---- */

static void start_engine(const char *data)
{
    char text[512];
    must(engine.directory[0] != '\0' || server_prepare(&engine, NULL), "no directory");
    snprintf(text, sizeof text, "tcp://127.0.0.1:%u", (unsigned)engine.port);
    setenv("STRIDER_FRONT_LISTEN", text, 1);
    setenv("STRIDER_ADMIN_LISTEN", "off", 1);
    setenv("STRIDER_HOT_KIND", "redis", 1);
    snprintf(text, sizeof text, "redis://127.0.0.1:%u/0", (unsigned)redis.port);
    setenv("STRIDER_HOT_URL", text, 1);
    setenv("STRIDER_BLOB_KIND", "azure", 1);
    setenv("STRIDER_BLOB_CONNECTION", blob_connection, 1);
    setenv("STRIDER_INDEX_KIND", "odbc", 1);
    setenv("STRIDER_INDEX_CONNECTION", index_connection, 1);
    snprintf(text, sizeof text, "%s/%s", engine.directory, data);
    const char *const arguments[] = {binary,      "serve",         "--data", text,
                                     "--project", scratch.project, NULL};
    must(server_start(&engine, arguments), "the engine did not start");
}

/* It ends when its drains have finished. */
static void stop_engine(void)
{
    int status = 0;
    kill(engine.pid, SIGTERM);
    for (int i = 0; i < STOP_S * 100 && waitpid(engine.pid, &status, WNOHANG) == 0; i++) {
        struct timespec moment = {.tv_nsec = 10000000};
        nanosleep(&moment, NULL);
    }
    bool ended = kill(engine.pid, 0) != 0;
    engine.pid = ended ? 0 : engine.pid;
    must(ended && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the engine did not end well");
}

/* ---- requests, one at a time ---- */

struct script {
    const char *format;   /* of a request, with the execution's number; NULL: a heavy start */
    const char *expected; /* in the reply */
    uint32_t next;
};

static struct span next_request(void *owner, struct load_lane *lane)
{
    struct script *script = owner;
    if (script->format == NULL) {
        return span_text(heavy_text);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return arena_format(&lane->arena, script->format, script->next++);
#pragma GCC diagnostic pop
}

/* (Who asks in JSON is answered in JSON.) */
static enum load_verdict judge(void *owner, struct load_lane *lane, struct span reply)
{
    const char *expected = ((struct script *)owner)->expected;
    (void)lane;
    return memmem(reply.bytes, reply.count, expected, strlen(expected)) != NULL ? LOAD_DONE
                                                                                : LOAD_FAIL;
}

/* Latencies of `count` requests from number `first` on. */
static void ask(const struct script *what, uint32_t first, uint32_t count,
                struct histogram *latency)
{
    static struct load_result result;
    char url[64];
    struct script script = *what;
    script.next = first;
    const struct load_script load = {.owner = &script, .next = next_request, .judge = judge};
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", (unsigned)engine.port);
    must(load_run(url, ONE_LANE, PATIENCE_S, count, &load, &result) == RESULT_OK,
         "the engine cannot be asked");
    must(result.units == count && result.errors == 0,
         result.first_error[0] != '\0' ? result.first_error : "it takes longer than a minute");
    *latency = result.latency;
}

/* ---- the servers with no engine ---- */

/* SET and GET of bytes as large as a session; the smallest that an asker can do. */
static void ask_redis(uint32_t count, struct histogram *latency)
{
    static const char bytes[504] = "a session";
    redisContext *context = redisConnect("127.0.0.1", redis.port);
    must(context != NULL && context->err == 0, "no connection to Redis");
    freeReplyObject(redisCommand(context, "SET bare %b", bytes, sizeof bytes));
    histogram_clear(latency);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin_us = load_now_us();
        redisReply *reply = redisCommand(context, "GETEX bare PX 600000");
        must(reply != NULL && reply->type == REDIS_REPLY_STRING, "Redis does not answer");
        freeReplyObject(reply);
        histogram_add(latency, load_now_us() - begin_us);
    }
    freeReplyObject(redisCommand(context, "FLUSHALL"));
    redisFree(context);
}

static void empty_redis(void)
{
    redisContext *context = redisConnect("127.0.0.1", redis.port);
    must(context != NULL && context->err == 0, "no connection to Redis");
    freeReplyObject(redisCommand(context, "FLUSHALL"));
    redisFree(context);
}

static void ask_index(uint32_t count, struct histogram *latency)
{
    char reason[STORAGE_ODBC_REASON_BYTES];
    struct storage_index *index = NULL;
    const struct storage_odbc_options options = {.connection = index_connection, .timeout_s = 10};
    struct arena arena;
    must(storage_odbc_index_open(&options, &index, reason) == RESULT_OK, reason);
    arena_init(&arena, 65536, 1u << 20);
    histogram_clear(latency);
    for (uint32_t i = 0; i < count; i++) {
        char id[32];
        struct span row;
        snprintf(id, sizeof id, "tier-%u", i);
        arena_clear(&arena);
        uint64_t begin_us = load_now_us();
        must(index->ops->row(index, span_text(id), &arena, &row) == RESULT_OK, "no row");
        histogram_add(latency, load_now_us() - begin_us);
    }
    arena_release(&arena);
    index->ops->close(index);
}

struct waiting {
    struct proto_sink sink; /* first */
    struct ev_loop *loop;
};

static enum result on_blob(struct proto_sink *sink, struct proto_message **message)
{
    must((*message)->as.port_done.result == RESULT_OK, "the blob server fails");
    message_free(*message);
    *message = NULL;
    ev_break(((struct waiting *)sink)->loop, EVBREAK_ALL);
    return RESULT_OK;
}

/* GET of the executions' own blobs, or PUT of `bytes`. */
static void ask_blobs(struct span bytes, uint32_t count, struct histogram *latency)
{
    char reason[STORAGE_AZURE_REASON_BYTES];
    struct storage_blob *blob = NULL;
    struct waiting waiting = {.sink.send = on_blob, .loop = ev_loop_new(EVFLAG_AUTO)};
    const struct proto_address reply_to = {.sink = &waiting.sink};
    const struct storage_azure_options options = {.connection = blob_connection,
                                                  .container = "executions",
                                                  .http = {STORAGE_HTTP_OPTIONS_DEFAULT}};
    must(storage_azure_blob_open(waiting.loop, &options, &blob, reason) == RESULT_OK, reason);
    histogram_clear(latency);
    for (uint32_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof name, "default/%s-%u/execution.msgpack",
                 bytes.count > 0 ? "bare" : "tier", i);
        const struct storage_blob_item item = {.name = span_text(name), .bytes = bytes};
        uint64_t begin_us = load_now_us();
        must((bytes.count > 0 ? blob->ops->put(blob, &item, 1, reply_to)
                              : blob->ops->get(blob, item.name, reply_to)) == RESULT_OK,
             "the blob adapter takes nothing");
        ev_run(waiting.loop, 0);
        histogram_add(latency, load_now_us() - begin_us);
    }
    blob->ops->close(blob);
    ev_loop_destroy(waiting.loop);
}

/* ---- all of it ---- */

static double ms(const struct histogram *histogram, double share)
{
    return (double)histogram_at(histogram, share) / 1e3;
}

static void print(const char *what, const struct histogram *ours, double floor_ms)
{
    printf("%-42s %9.2f %9.2f %11.2f %7.2f\n", what, ms(ours, .5), ms(ours, .99), floor_ms,
           ms(ours, .5) / floor_ms);
}

static void print_json(const char *what, const struct histogram *ours, double floor_ms, bool last)
{
    printf("\"%s\":{\"p50Ms\":%.2f,\"p99Ms\":%.2f,\"floorP50Ms\":%.2f,\"p50Ratio\":%.2f}%s", what,
           ms(ours, .5), ms(ours, .99), floor_ms, ms(ours, .5) / floor_ms, last ? "}\n" : ",");
}

static void start_servers(const char *modules)
{
    if (modules != NULL) {
        setenv("STRIDER_NODE_MODULES", modules, 1);
    }
    must(server_redis_installed() && server_postgresql_installed(),
         "Redis and PostgreSQL are needed (tools/install-dependencies --servers)");
    must(server_azurite_installed(), "azurite is needed (npm install azurite; see the usage)");
    must(server_redis_start(&redis, NULL) && server_azurite_start(&azurite) &&
             server_postgresql_start(&database),
         "the servers did not start");
    server_azurite_connection(azurite.port, blob_connection);
    snprintf(index_connection, sizeof index_connection,
             "Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=%u;Database=postgres;UID=strider;"
             "PWD=secret",
             (unsigned)database.port);
}

static void write_heavy(void)
{
    static const char head[] = "{\"v\":1,\"op\":\"start\",\"process\":\"waitresume\",\"request\":{"
                               "\"text\":\"";
    heavy_text = malloc(HEAVY_BYTES + sizeof head + 8);
    must(heavy_text != NULL, "no memory");
    memcpy(heavy_text, head, sizeof head - 1);
    memset(heavy_text + sizeof head - 1, 'x', HEAVY_BYTES);
    snprintf(heavy_text + sizeof head - 1 + HEAVY_BYTES, 8, "\"}}");
}

int main(int argc, char **argv)
{
    static const struct script ping = {.format = "{\"v\":1,\"op\":\"ping\",\"n\":%u}",
                                       .expected = "\"ok\":true"};
    static const struct script start = {
        .format =
            "{\"v\":1,\"op\":\"start\",\"process\":\"waitresume\",\"executionId\":\"tier-%u\","
            "\"request\":{\"orderId\":\"A-2041-77\",\"amount\":129}}",
        .expected = "\"Waiting\""};
    static const struct script call_back = {
        .format = "{\"v\":1,\"op\":\"callback\",\"executionId\":\"tier-%u\",\"payload\":{"
                  "\"decision\":\"approve\"}}",
        .expected = "\"Completed\""};
    static const struct script heavy = {.expected = "\"Waiting\""};
    static const struct script get = {.format =
                                          "{\"v\":1,\"op\":\"get\",\"executionId\":\"tier-%u\"}",
                                      .expected = "\"Completed\""};
    static struct histogram of_ping, of_start, of_redis, of_row, of_get, of_put;
    static struct histogram hot, local, cold, saved, behind, read;
    if (argc < 2) {
        fprintf(stderr, "usage: tier_spike STRIDER [EXECUTIONS [MODULES]]\n");
        return 2;
    }
    binary = realpath(argv[1], NULL); /* (the server's own directory is another) */
    must(binary != NULL, "there is no such binary");
    uint32_t count = (argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300) / 3;
    struct arena arena;
    arena_init(&arena, 65536, 1u << 20);
    signal(SIGPIPE, SIG_IGN);
    must(count > 0, "EXECUTIONS is a number of 3 or more");
    must(scratch_open("/tmp", &scratch) == RESULT_OK &&
             scratch_project(&scratch, workload_find("waitresume"), &arena) == RESULT_OK,
         "no directory");
    start_servers(argc > 3 ? argv[3] : NULL);
    write_heavy();
    ask_redis(count, &of_redis);
    start_engine("one");
    ask(&start, 0, count * 3, &of_start);
    ask(&ping, 0, count, &of_ping);
    double bare_ms = ms(&of_ping, .5) + scratch_sync_us(&scratch) / 1e3;
    ask(&call_back, 0, count, &hot);
    empty_redis();
    ask(&call_back, count, count, &local);
    ask(&heavy, 0, count / HEAVY_PART + 1, &saved);
    ask(&start, count * 3, count * QUEUED_TIMES, &of_start);
    ask(&heavy, 0, count / HEAVY_PART + 1, &behind);
    ask(&get, 0, count, &read);
    stop_engine();
    ask_index(count, &of_row);
    ask_blobs(SPAN_EMPTY, count, &of_get);
    ask_blobs(span_of(heavy_text, HEAVY_BYTES), count / HEAVY_PART + 1, &of_put);
    /* Another data directory knows none of them: the rest is taken over through index and blob. */
    empty_redis();
    start_engine("two");
    ask(&call_back, count * 2, count, &cold);
    stop_engine();
    double hot_ms = bare_ms + ms(&of_redis, .5);
    double cold_ms = bare_ms + ms(&of_row, .5) + ms(&of_get, .5);
    double save_ms = bare_ms + ms(&of_put, .5);
    printf("%-42s %9s %9s %11s %7s\n", "one request at a time", "p50 ms", "p99 ms", "floor ms",
           "ratio");
    print("hot resume (Redis)", &hot, hot_ms);
    print("resume, Redis emptied (own state table)", &local, bare_ms);
    print("cold resume (another directory: index+blob)", &cold, cold_ms);
    print("heavy save (1.2 MiB to Azurite)", &saved, save_ms);
    print("heavy save, thousands of uploads queued", &behind, save_ms);
    print("get of what ended, uploads queued", &read, bare_ms);
    printf("{\"what\":\"tiers\",\"executions\":%u,\"pingP50Ms\":%.2f,\"redisP50Ms\":%.2f,"
           "\"rowP50Ms\":%.2f,\"blobGetP50Ms\":%.2f,\"blobPutP50Ms\":%.2f,",
           count * 3, ms(&of_ping, .5), ms(&of_redis, .5), ms(&of_row, .5), ms(&of_get, .5),
           ms(&of_put, .5));
    print_json("hotResume", &hot, hot_ms, false);
    print_json("stateResume", &local, bare_ms, false);
    print_json("coldResume", &cold, cold_ms, false);
    print_json("heavySave", &saved, save_ms, false);
    print_json("heavySaveBehindUploads", &behind, save_ms, false);
    print_json("getBehindUploads", &read, bare_ms, true);
    free(heavy_text);
    free(binary);
    arena_release(&arena);
    clean_up();
    return 0;
}
