/*
 * bench.c: see bench.h. Each measurement is a pair, ceiling and engine, in alternating rounds; the
 * figures are sums over the rounds, so both sides saw the same machine.
 */
#include "perf/bench.h"

#include <fcntl.h>
#include <nng/nng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/child.h"
#include "perf/core.h"
#include "perf/load.h"
#include "perf/many.h"
#include "perf/scratch.h"
#include "perf/server.h"
#include "perf/settings.h"
#include "perf/waiting.h"
#include "perf/workload.h"
#include "proto/wire/json.h"
#include "transport/guard/closing.h"

#define READY_TIMEOUT_MS 30000
#define STOP_TIMEOUT_MS  60000
#define WARM_UP_SECONDS  0.5

struct bench {
    struct settings settings;
    struct scratch scratch;
    struct arena arena;
    struct workload_script owner;
    struct load_script script;
    struct load_script echo_script;
    struct load_result engine; /* sums over rounds */
    struct load_result ceiling;
    uint64_t peak_rss;
    uint64_t idle_rss;
    double engine_cpu_seconds;
    double drain_seconds;
};

static void add_result(struct load_result *sum, const struct load_result *round)
{
    sum->units += round->units;
    sum->errors += round->errors;
    sum->seconds += round->seconds;
    sum->throughput = sum->seconds > 0 ? (double)sum->units / sum->seconds : 0;
    histogram_merge(&sum->latency, &round->latency);
    if (sum->first_error[0] == '\0') {
        memcpy(sum->first_error, round->first_error, sizeof sum->first_error);
    }
}

static int complain(const char *what, const char *detail)
{
    fprintf(stderr, "strider bench: %s%s%s\n", what, detail[0] != '\0' ? ": " : "", detail);
    return 1;
}

static void print_line(const struct bench *bench, struct span line)
{
    struct arena arena;
    struct span text;
    arena_init(&arena, 4096, 1u << 20);
    if (json_from_wire(line, bench->settings.json ? JSON_COMPACT : JSON_PRETTY, &arena, &text) ==
        RESULT_OK) {
        printf("%.*s\n", SPAN_ARG(text));
    }
    arena_release(&arena);
}

static struct span ratio_text(struct arena *arena, double ratio)
{
    return arena_format(arena, "%.3f", ratio);
}

/* ---- core ---- */

static int run_core(struct bench *bench)
{
    static struct core_result engine, floor, round;
    const struct workload *workload = workload_find("tasks10");
    for (uint32_t i = 0; i < bench->settings.rounds; i++) {
        if (core_serialise(workload, bench->settings.seconds, &round) != RESULT_OK) {
            return complain("the process did not complete", "");
        }
        floor.executions += round.executions;
        floor.seconds += round.seconds;
        if (core_run(workload, bench->settings.seconds, &round) != RESULT_OK) {
            return complain("the process did not complete", "");
        }
        engine.executions += round.executions;
        engine.steps += round.steps;
        engine.blob_bytes += round.blob_bytes;
        engine.seconds += round.seconds;
        histogram_merge(&engine.latency, &round.latency);
    }
    double executions = (double)engine.executions / engine.seconds;
    double ceiling = (double)floor.executions / floor.seconds;
    struct wire_writer writer;
    wire_writer_init(&writer, &bench->arena, 1024);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = settings_latency_pairs(executions, &engine.latency, &writer);
    wire_pair_text(&writer, "workload", "core");
    wire_pair_text(
        &writer, "process",
        "tasks10, one thread, step blobs encoded, audit messages made, no front, no journal");
    wire_pair_int(&writer, "stepsPerSecond", (int64_t)((double)engine.steps / engine.seconds));
    wire_pair_int(&writer, "peakRssBytes", (int64_t)child_peak_rss(getpid()));
    wire_pair_int(&writer, "blobBytesPerExecution",
                  (int64_t)(engine.blob_bytes / (engine.executions ? engine.executions : 1)));
    wire_write_text(&writer, "ceiling");
    wire_write_map(&writer, 2);
    wire_pair_text(&writer, "what", "serialising the same blobs only");
    wire_pair_int(&writer, "throughput", (int64_t)ceiling);
    wire_write_text(&writer, "ratio");
    wire_write_decimal(&writer, ratio_text(&bench->arena, executions / ceiling));
    wire_close_map(&writer, mark, pairs + 7);
    print_line(bench, wire_writer_span(&writer));
    return 0;
}

/* ---- over NNG ---- */

static enum result warm_and_run(const char *url, const struct settings *settings,
                                const struct load_script *script, bool warm,
                                struct load_result *out)
{
    if (warm) {
        enum result result = load_run(url, settings->in_flight, WARM_UP_SECONDS, 0, script, out);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return load_run(url, settings->in_flight, settings->seconds, 0, script, out);
}

static int run_rounds(struct bench *bench, const char *engine_url, const char *echo_url)
{
    static struct load_result round;
    for (uint32_t i = 0; i < bench->settings.rounds; i++) {
        enum result result = RESULT_OK;
        if (echo_url != NULL) {
            result = warm_and_run(echo_url, &bench->settings, &bench->echo_script, i == 0, &round);
            add_result(&bench->ceiling, &round);
        } else {
            result = server_client_run(&bench->scratch, bench->settings.in_flight,
                                       bench->settings.seconds, &round);
            add_result(&bench->ceiling, &round);
        }
        if (result == RESULT_OK) {
            result = warm_and_run(engine_url, &bench->settings, &bench->script, i == 0, &round);
            add_result(&bench->engine, &round);
        }
        if (result != RESULT_OK) {
            return complain("the load could not be run", result_text(result));
        }
    }
    return 0;
}

static void print_nng(struct bench *bench, double sync_us)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &bench->arena, 2048);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = settings_pairs(&bench->settings, &writer);
    pairs += settings_latency_pairs(bench->engine.throughput, &bench->engine.latency, &writer);
    bool http = strcmp(bench->settings.workload, "modules") == 0;
    wire_pair_int(&writer, "inFlight", bench->settings.in_flight);
    wire_pair_int(&writer, "units", (int64_t)bench->engine.units);
    wire_pair_int(&writer, "errors", (int64_t)bench->engine.errors);
    wire_pair_int(&writer, "peakRssBytes", (int64_t)bench->peak_rss);
    wire_pair_int(&writer, "idleRssBytes", (int64_t)bench->idle_rss);
    wire_write_text(&writer, "engineCpuUsPerUnit");
    wire_write_decimal(&writer, arena_format(&bench->arena, "%.1f",
                                             bench->engine.units ? bench->engine_cpu_seconds * 1e6 /
                                                                       (double)bench->engine.units
                                                                 : 0));
    wire_write_text(&writer, "drainSeconds");
    wire_write_decimal(&writer, arena_format(&bench->arena, "%.2f", bench->drain_seconds));
    wire_write_text(&writer, "ceiling");
    wire_write_map(&writer, 6);
    wire_pair_text(&writer, "what",
                   http ? "bare HTTP client loop on the same module server"
                        : "bare NNG echo of the same request");
    wire_pair_int(&writer, "fdatasyncP50Us", (int64_t)sync_us);
    settings_latency_pairs(bench->ceiling.throughput, &bench->ceiling.latency, &writer);
    wire_write_text(&writer, "ratio");
    wire_write_decimal(
        &writer, ratio_text(&bench->arena, bench->engine.throughput / bench->ceiling.throughput));
    double floor_us = (double)histogram_at(&bench->ceiling.latency, 0.5) +
                      (bench->settings.durable ? sync_us : 0);
    wire_write_text(&writer, "p50Ratio");
    wire_write_decimal(
        &writer,
        ratio_text(&bench->arena, (double)histogram_at(&bench->engine.latency, 0.5) / floor_us));
    wire_close_map(&writer, mark, pairs + 10);
    print_line(bench, wire_writer_span(&writer));
}

static int measure(struct bench *bench, struct child *engine, const char *engine_url,
                   const char *echo_url)
{
    bench->idle_rss = child_rss(engine->pid);
    double cpu_before = child_cpu_seconds(engine->pid);
    double sync_us = scratch_sync_us(&bench->scratch);
    int status = run_rounds(bench, engine_url, echo_url);
    bench->peak_rss = child_peak_rss(engine->pid);
    bench->engine_cpu_seconds = child_cpu_seconds(engine->pid) - cpu_before;
    uint64_t stopping = load_now_us();
    if (child_stop(engine, STOP_TIMEOUT_MS) != 0) {
        return complain("the engine did not stop in order", "");
    }
    bench->drain_seconds =
        (double)(load_now_us() - stopping) / 1e6; /* SIGTERM flushes the drains */
    if (status == 0) {
        print_nng(bench, sync_us);
    }
    if (status == 0 && bench->engine.errors > 0) {
        return complain("requests failed, the first one with", bench->engine.first_error);
    }
    return status;
}

static int run_nng(struct bench *bench)
{
    const struct workload *workload = workload_find(bench->settings.workload);
    char engine_url[128];
    char echo_url[128];
    struct child engine;
    struct child other;
    scratch_url(&bench->scratch, bench->settings.transport, "engine", engine_url);
    scratch_url(&bench->scratch, bench->settings.transport, "echo", echo_url);
    settings_export(&bench->settings, engine_url);
    workload_script(workload, &bench->arena, &bench->owner, &bench->script);
    workload_echo_script(&bench->owner, &bench->echo_script);
    char module_server[] = "module-server";
    char echo_server[] = "echo-server";
    char *const other_arguments[] = {
        "strider", "bench", workload->module ? module_server : echo_server, echo_url, NULL};
    if (child_start(other_arguments, &other) != RESULT_OK) {
        return complain("cannot start the server that is the ceiling", "");
    }
    int status = 1;
    char ready[4096];
    enum result result = workload->module ? server_await(&other, &bench->scratch) : RESULT_OK;
    if (result == RESULT_OK) {
        result = scratch_project(&bench->scratch, workload, &bench->arena);
    }
    char *const arguments[] = {
        "strider", "serve", "--data", bench->scratch.data, "--project", bench->scratch.project,
        NULL};
    if (result == RESULT_OK) {
        result = child_start(arguments, &engine);
    }
    if (result == RESULT_OK) {
        result = child_await(&engine, "ready", READY_TIMEOUT_MS, ready, sizeof ready);
        if (result != RESULT_OK) {
            complain("the engine did not get ready", ready);
            child_kill(&engine);
        } else {
            status = measure(bench, &engine, engine_url, workload->module ? NULL : echo_url);
        }
    } else {
        complain("cannot prepare the run", result_text(result));
    }
    child_kill(&other);
    return status;
}

/* ---- roles that a child of this program takes ---- */

static bool role(int argc, char **argv, int *status)
{
    if (argc == 3 && strcmp(argv[1], "echo-server") == 0) {
        *status = load_echo_serve(argv[2], 64);
        return true;
    }
    if (argc == 3 && strcmp(argv[1], "module-server") == 0) {
        *status = server_serve();
        return true;
    }
    return false;
}

int bench_main(int argc, char **argv)
{
    static struct bench bench;
    int status = 0;
    if (role(argc, argv, &status)) {
        return status;
    }
    status = settings_parse(argc, argv, &bench.settings);
    if (status != 0) {
        return status == 3 ? 0 : status;
    }
    arena_init(&bench.arena, 65536, 64u << 20);
    if (scratch_open(bench.settings.directory, &bench.scratch) != RESULT_OK) {
        arena_release(&bench.arena);
        return complain("cannot make a folder below", bench.settings.directory);
    }
    if (strcmp(bench.settings.workload, "core") == 0) {
        status = run_core(&bench);
    } else if (strcmp(bench.settings.workload, "startup") == 0 ||
               strcmp(bench.settings.workload, "memory") == 0) {
        status = waiting_run(&bench.settings, &bench.scratch);
    } else if (strcmp(bench.settings.workload, "many") == 0) {
        status = many_run(&bench.settings, &bench.scratch);
    } else {
        status = run_nng(&bench);
    }
    scratch_close(&bench.scratch);
    arena_release(&bench.arena);
    transport_sockets_end();
    return status;
}
