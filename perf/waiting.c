/*
 * waiting.c: see waiting.h. Starts --waiting executions that stop at a user task, kills the engine
 * with SIGKILL, starts it again on the same data, and has every one of them called back.
 */
#include "perf/waiting.h"

#include <stdio.h>
#include <stdlib.h>

#include "perf/child.h"
#include "perf/load.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define LANES            64u
#define READY_TIMEOUT_MS 60000u
#define RUN_SECONDS_MAX  600.0
#define STOP_TIMEOUT_MS  60000u

struct ids {
    char (*text)[40];
    uint32_t count;
    uint32_t kept; /* atomic: lanes of several threads append */
    uint32_t taken;
    struct workload_script owner;
};

static struct span start_next(void *owner, struct load_lane *lane)
{
    (void)lane;
    return ((struct ids *)owner)->owner.start;
}

static enum load_verdict start_judge(void *owner, struct load_lane *lane, struct span reply)
{
    struct ids *ids = owner;
    struct span id = wire_string_or(wire_find_text(reply, "executionId"), "");
    (void)lane;
    if (!span_is(wire_string_or(wire_find_text(reply, "status"), ""), "Waiting") ||
        id.count >= sizeof ids->text[0]) {
        return LOAD_FAIL;
    }
    uint32_t place = __atomic_fetch_add(&ids->kept, 1, __ATOMIC_RELAXED);
    if (place < ids->count) {
        memcpy(ids->text[place], id.bytes, id.count);
    }
    return LOAD_DONE;
}

static struct span callback_next(void *owner, struct load_lane *lane)
{
    struct ids *ids = owner;
    uint32_t place = __atomic_fetch_add(&ids->taken, 1, __ATOMIC_RELAXED) % ids->count;
    return arena_format(&lane->arena,
                        "{\"v\":1,\"op\":\"callback\",\"executionId\":\"%s\",\"payload\":{"
                        "\"decision\":\"approve\"}}",
                        ids->text[place]);
}

static enum load_verdict callback_judge(void *owner, struct load_lane *lane, struct span reply)
{
    (void)owner;
    (void)lane;
    return memmem(reply.bytes, reply.count, "\"Completed\"", 11) != NULL ? LOAD_DONE : LOAD_FAIL;
}

static enum result start_engine(const struct scratch *scratch, struct child *engine,
                                double *ready_ms)
{
    char seen[4096];
    char *const arguments[] = {
        "strider", "serve", "--data", (char *)scratch->data, "--project", (char *)scratch->project,
        NULL};
    uint64_t begin = load_now_us();
    enum result result = child_start(arguments, engine);
    if (result != RESULT_OK) {
        return result;
    }
    result = child_await(engine, "ready", READY_TIMEOUT_MS, seen, sizeof seen);
    *ready_ms = (double)(load_now_us() - begin) / 1e3;
    if (result != RESULT_OK) {
        fprintf(stderr, "strider bench: the engine did not get ready: %s\n", seen);
        child_kill(engine);
    }
    return result;
}

struct figures {
    double first_ready_ms;
    double again_ready_ms;
    uint64_t idle_rss;
    uint64_t waiting_rss;
    uint64_t again_rss;
    uint64_t completed;
    uint64_t lost;
};

static void print_figures(const struct settings *settings, const struct figures *figures)
{
    struct arena arena;
    struct wire_writer writer;
    struct span text;
    arena_init(&arena, 4096, 1u << 20);
    wire_writer_init(&writer, &arena, 1024);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = settings_pairs(settings, &writer);
    uint64_t grown =
        figures->waiting_rss > figures->idle_rss ? figures->waiting_rss - figures->idle_rss : 0;
    uint64_t again =
        figures->again_rss > figures->idle_rss ? figures->again_rss - figures->idle_rss : 0;
    wire_pair_int(&writer, "waiting", settings->waiting);
    wire_write_text(&writer, "readyEmptyMs");
    wire_write_decimal(&writer, arena_format(&arena, "%.1f", figures->first_ready_ms));
    wire_write_text(&writer, "readyAfterKillMs");
    wire_write_decimal(&writer, arena_format(&arena, "%.1f", figures->again_ready_ms));
    wire_pair_int(&writer, "idleRssBytes", (int64_t)figures->idle_rss);
    wire_pair_int(&writer, "bytesPerWaitingExecution", (int64_t)(grown / settings->waiting));
    wire_pair_int(&writer, "bytesPerWaitingExecutionAfterRestart",
                  (int64_t)(again / settings->waiting));
    wire_pair_int(&writer, "completed", (int64_t)figures->completed);
    wire_pair_int(&writer, "lost", (int64_t)figures->lost);
    wire_close_map(&writer, mark, pairs + 8);
    if (json_from_wire(wire_writer_span(&writer), settings->json ? JSON_COMPACT : JSON_PRETTY,
                       &arena, &text) == RESULT_OK) {
        printf("%.*s\n", SPAN_ARG(text));
    }
    arena_release(&arena);
}

static int fail(const char *what, const char *detail)
{
    fprintf(stderr, "strider bench: %s: %s\n", what, detail);
    return 1;
}

int waiting_run(const struct settings *settings, struct scratch *scratch)
{
    static struct load_result load;
    char url[128];
    struct child engine;
    struct arena arena;
    struct figures figures = {0};
    struct ids ids = {.count = settings->waiting,
                      .text = calloc(settings->waiting, sizeof *ids.text)};
    const struct workload *workload = workload_find("waitresume");
    struct load_script script;
    int status = 1;
    if (ids.text == NULL) {
        return fail("out of memory", "fewer --waiting");
    }
    arena_init(&arena, 4096, 1u << 20);
    scratch_url(scratch, settings->transport, "engine", url);
    settings_export(settings, url);
    workload_script(workload, &arena, &ids.owner, &script);
    if (scratch_project(scratch, workload, &arena) != RESULT_OK ||
        start_engine(scratch, &engine, &figures.first_ready_ms) != RESULT_OK) {
        goto release;
    }
    figures.idle_rss = child_rss(engine.pid);
    script = (struct load_script){.owner = &ids, .next = start_next, .judge = start_judge};
    if (load_run(url, LANES, RUN_SECONDS_MAX, settings->waiting, &script, &load) != RESULT_OK ||
        load.units != settings->waiting) {
        child_kill(&engine);
        fail("the executions could not all be started", load.first_error);
        goto release;
    }
    figures.waiting_rss = child_rss(engine.pid);
    child_kill(&engine);
    if (start_engine(scratch, &engine, &figures.again_ready_ms) != RESULT_OK) {
        goto release;
    }
    figures.again_rss = child_rss(engine.pid);
    script = (struct load_script){.owner = &ids, .next = callback_next, .judge = callback_judge};
    enum result result = load_run(url, LANES, RUN_SECONDS_MAX, settings->waiting, &script, &load);
    figures.completed = load.units;
    figures.lost = settings->waiting - load.units;
    status = result == RESULT_OK && figures.lost == 0
                 ? 0
                 : fail("some did not complete", load.first_error);
    child_stop(&engine, STOP_TIMEOUT_MS);
    print_figures(settings, &figures);
release:
    arena_release(&arena);
    free(ids.text);
    return status;
}
