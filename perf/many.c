/*
 * many.c: see many.h. The small executions run alone first, which is the ceiling, then beside the
 * wide one until it has completed. One thread: between two slices of the load it is asked how far
 * the wide one is, so its time is known to a slice.
 */
#include "perf/many.h"

#include <stdio.h>
#include <string.h>

#include "perf/child.h"
#include "perf/load.h"
#include "perf/workload.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define READY_TIMEOUT_MS 60000u
#define STOP_TIMEOUT_MS  120000u
#define SLICE_SECONDS    0.25
#define WIDE_SECONDS_MAX 600.0

struct many {
    const struct settings *settings;
    char url[128];
    struct workload_script owner;
    struct load_script neighbours;
    char status[32]; /* of the wide execution, as last heard */
    struct load_result alone;
    struct load_result beside;
    double wide_seconds;
    uint64_t peak_rss;
};

/* ---- the wide execution ---- */

static struct span start_wide(void *owner, struct load_lane *lane)
{
    const struct many *many = owner;
    return arena_format(&lane->arena,
                        "{\"v\":1,\"op\":\"start\",\"process\":\"wide\",\"executionId\":\"wide\","
                        "\"wait\":\"accepted\",\"request\":{\"count\":%u}}",
                        many->settings->waiting);
}

static struct span get_wide(void *owner, struct load_lane *lane)
{
    (void)owner;
    (void)lane;
    return span_text("{\"v\":1,\"op\":\"get\",\"executionId\":\"wide\"}");
}

static enum load_verdict note_status(void *owner, struct load_lane *lane, struct span reply)
{
    struct many *many = owner;
    struct json_error error;
    struct span value;
    if (json_to_wire(reply, LIMIT_DEPTH, &lane->arena, &value, &error) != RESULT_OK ||
        !wire_bool_or(wire_find_text(value, "ok"), false)) {
        return LOAD_FAIL;
    }
    struct span status = wire_string_or(wire_find_text(value, "status"), "");
    snprintf(many->status, sizeof many->status, "%.*s", SPAN_ARG(status));
    return LOAD_DONE;
}

static bool ask(struct many *many, struct span (*next)(void *owner, struct load_lane *lane))
{
    static struct load_result answer;
    const struct load_script script = {.owner = many, .next = next, .judge = note_status};
    return load_run(many->url, 1, WIDE_SECONDS_MAX, 1, &script, &answer) == RESULT_OK &&
           answer.units == 1;
}

/* ---- the run ---- */

static bool run_slice(struct many *many, double seconds, struct load_result *sum)
{
    static struct load_result slice;
    if (load_run(many->url, many->settings->in_flight, seconds, 0, &many->neighbours, &slice) !=
            RESULT_OK ||
        slice.errors > 0) {
        fprintf(stderr, "strider bench: a small execution failed: %s\n", slice.first_error);
        return false;
    }
    sum->units += slice.units;
    sum->seconds += slice.seconds;
    histogram_merge(&sum->latency, &slice.latency);
    return true;
}

static bool measure(struct many *many)
{
    bool well = run_slice(many, SLICE_SECONDS, &many->beside); /* warms up */
    many->beside = (struct load_result){0};
    well = well && run_slice(many, many->settings->seconds, &many->alone);
    uint64_t begin_us = load_now_us();
    well = well && ask(many, start_wide);
    while (well && strcmp(many->status, "Completed") != 0) {
        well = run_slice(many, SLICE_SECONDS, &many->beside) && ask(many, get_wide);
        many->wide_seconds = (double)(load_now_us() - begin_us) / 1e6;
        if (strcmp(many->status, "Error") == 0 || many->wide_seconds > WIDE_SECONDS_MAX) {
            fprintf(stderr, "strider bench: the wide execution is %s after %.0f s\n", many->status,
                    many->wide_seconds);
            well = false;
        }
    }
    return well;
}

static void write_side(struct wire_writer *writer, const char *name, const char *what,
                       const struct load_result *side)
{
    wire_write_text(writer, name);
    wire_write_map(writer, 5);
    wire_pair_text(writer, "what", what);
    settings_latency_pairs((double)side->units / side->seconds, &side->latency, writer);
}

static void print_figures(const struct many *many)
{
    struct arena arena;
    struct wire_writer writer;
    struct span text;
    arena_init(&arena, 4096, 1u << 20);
    wire_writer_init(&writer, &arena, 1024);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = settings_pairs(many->settings, &writer);
    wire_pair_int(&writer, "inFlight", many->settings->in_flight);
    wire_pair_int(&writer, "instances", many->settings->waiting);
    wire_pair_int(&writer, "instancesPerSecond",
                  (int64_t)(many->settings->waiting / many->wide_seconds));
    wire_write_text(&writer, "wideSeconds");
    wire_write_decimal(&writer, arena_format(&arena, "%.2f", many->wide_seconds));
    wire_pair_int(&writer, "peakRssBytes", (int64_t)many->peak_rss);
    write_side(&writer, "neighbours", "startend while the wide execution runs", &many->beside);
    write_side(&writer, "ceiling", "startend alone", &many->alone);
    wire_write_text(&writer, "ratio");
    wire_write_decimal(&writer,
                       arena_format(&arena, "%.3f",
                                    (double)many->beside.units / many->beside.seconds /
                                        ((double)many->alone.units / many->alone.seconds)));
    wire_close_map(&writer, mark, pairs + 8);
    if (json_from_wire(wire_writer_span(&writer), many->settings->json ? JSON_COMPACT : JSON_PRETTY,
                       &arena, &text) == RESULT_OK) {
        printf("%.*s\n", SPAN_ARG(text));
    }
    arena_release(&arena);
}

int many_run(const struct settings *settings, struct scratch *scratch)
{
    static struct many many;
    const struct workload *workload = workload_find("many");
    struct child engine;
    struct arena arena;
    char seen[4096];
    char *const arguments[] = {"strider",   "serve",          "--data", scratch->data,
                               "--project", scratch->project, NULL};
    many = (struct many){.settings = settings};
    arena_init(&arena, 16384, 1u << 20);
    scratch_url(scratch, settings->transport, "engine", many.url);
    settings_export(settings, many.url);
    workload_script(workload, &arena, &many.owner, &many.neighbours);
    int status = 1;
    if (scratch_project(scratch, workload, &arena) != RESULT_OK ||
        child_start(arguments, &engine) != RESULT_OK) {
        fprintf(stderr, "strider bench: cannot prepare the run\n");
        goto release;
    }
    if (child_await(&engine, "ready", READY_TIMEOUT_MS, seen, sizeof seen) != RESULT_OK) {
        fprintf(stderr, "strider bench: the engine did not get ready: %s\n", seen);
        child_kill(&engine);
        goto release;
    }
    bool well = measure(&many);
    many.peak_rss = child_peak_rss(engine.pid);
    well = child_stop(&engine, STOP_TIMEOUT_MS) == 0 && well;
    if (well) {
        print_figures(&many);
        status = 0;
    }
release:
    arena_release(&arena);
    return status;
}
