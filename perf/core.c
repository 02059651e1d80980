/*
 * core.c: see core.h.
 */
#include "perf/core.h"

#include <stdio.h>

#include "engine/engine.h"
#include "engine/read/read.h"
#include "perf/load.h"
#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"

#define ARENA_BLOCK_BYTES (256u << 10)
#define ARENA_LIMIT_BYTES (64u << 20)
#define CLOCK_EVERY       256u /* executions between two looks at the clock */

struct core {
    struct engine_catalog catalog; /* first: the engine hands it back */
    struct engine_definition *definition;
    struct engine_modules *modules;
    struct span request;
    struct arena arena; /* one execution's outputs and blobs */
    struct arena lasting;
    struct wire_writer blob;
    uint64_t steps;
    uint64_t blob_bytes;
};

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span id,
                                                 uint32_t version)
{
    (void)project;
    (void)version;
    return engine_definition_find(((const struct core *)self)->definition, id);
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    (void)project;
    return ((const struct core *)self)->modules;
}

static enum result core_open(const struct workload *workload, struct core *core)
{
    struct engine_report report;
    struct span none = span_text("{\"modules\":[]}");
    struct span modules;
    struct json_error error;
    memset(core, 0, sizeof *core);
    core->catalog = (struct engine_catalog){.process = find_process, .modules = find_modules};
    arena_init(&core->arena, ARENA_BLOCK_BYTES, ARENA_LIMIT_BYTES);
    arena_init(&core->lasting, 4096, ARENA_LIMIT_BYTES);
    engine_report_init(&report, span_text(workload->process));
    enum result result =
        engine_read(span_text(workload->process), workload->definition(&core->lasting), &report,
                    &core->definition);
    if (result == RESULT_OK) {
        result = json_to_wire(none, LIMIT_DEPTH, &core->lasting, &modules, &error);
    }
    if (result == RESULT_OK) {
        result = engine_read_modules(span_text("modules.json"), modules, span_text("default"),
                                     SPAN_EMPTY, &report, &core->modules);
    }
    if (report.errors > 0) {
        struct span text = engine_report_text(&report, ENGINE_ERROR, &core->lasting);
        fprintf(stderr, "%.*s", SPAN_ARG(text));
    }
    engine_report_release(&report);
    struct wire_writer writer;
    wire_writer_init(&writer, &core->lasting, 256);
    wire_write_map(&writer, 3);
    wire_pair_text(&writer, "orderId", "A-2041-77");
    wire_pair_int(&writer, "amount", 129);
    wire_pair_bool(&writer, "express", false);
    core->request = wire_writer_span(&writer);
    return result;
}

static void core_close(struct core *core)
{
    if (core->definition != NULL) {
        engine_definition_free(core->definition);
    }
    if (core->modules != NULL) {
        engine_modules_free(core->modules);
    }
    arena_release(&core->arena);
    arena_release(&core->lasting);
}

static void encode_step(void *owner, struct engine_execution *execution,
                        const struct engine_effect *step)
{
    struct core *core = owner;
    struct wire_writer writer;
    wire_writer_init(&writer, &core->arena, 512);
    engine_step_encode(execution, &step->as.step, &writer);
    core->blob_bytes += writer.count;
    core->steps++;
}

static void encode_whole(struct core *core, struct engine_execution *execution)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &core->arena, 1024);
    engine_encode(execution, &writer);
    core->blob_bytes += writer.count;
}

/* One execution, from nothing to its end; the caller frees it. */
static struct engine_execution *run_one(struct core *core, uint64_t number, bool *completed)
{
    struct engine_start start = {.workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .request = core->request,
                                 .process = core->definition->processes};
    int count = snprintf(start.id.text, sizeof start.id.text, "01930000-0000-7000-8000-%012llx",
                         (unsigned long long)number);
    start.id.count = (uint8_t)count;
    int64_t now_ms = 1764498000000 + (int64_t)number;
    struct engine_execution *execution = engine_new(&core->catalog, &start, now_ms);
    ASSERT(execution != NULL);

    struct engine_output output;
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = now_ms};
    engine_output_init(&output, &core->arena);
    bool more = engine_accept(execution, &input, &output) == RESULT_OK;
    while (more && engine_advance(execution, now_ms, LIMIT_TOKEN_MOVES, encode_step, core, &output,
                                  &more) == RESULT_OK) {
    }
    encode_whole(core, execution);
    struct engine_view view;
    engine_look(execution, &view);
    *completed = (view.state & ENGINE_STATE_COMPLETED) != 0 && !core->arena.overflowed;
    return execution;
}

static void finish(struct core_result *out, const struct core *core, uint64_t begin_us)
{
    out->seconds = (double)(load_now_us() - begin_us) / 1e6;
    out->executions_per_second = (double)out->executions / out->seconds;
    out->steps = core->steps;
    out->blob_bytes = core->blob_bytes;
}

enum result core_run(const struct workload *workload, double seconds, struct core_result *out)
{
    struct core core;
    memset(out, 0, sizeof *out);
    enum result result = core_open(workload, &core);
    uint64_t begin = load_now_us();
    uint64_t limit = begin + (uint64_t)(seconds * 1e6);
    uint64_t batch_begin = begin;
    while (result == RESULT_OK && batch_begin < limit) {
        for (uint32_t i = 0; i < CLOCK_EVERY && result == RESULT_OK; i++) {
            bool completed;
            engine_free(run_one(&core, out->executions++, &completed));
            arena_clear(&core.arena);
            result = completed ? RESULT_OK : RESULT_UNSUPPORTED;
        }
        uint64_t now = load_now_us();
        histogram_add(&out->latency, (now - batch_begin) / CLOCK_EVERY);
        batch_begin = now;
    }
    finish(out, &core, begin);
    core_close(&core);
    return result;
}

enum result core_serialise(const struct workload *workload, double seconds, struct core_result *out)
{
    struct core core;
    memset(out, 0, sizeof *out);
    enum result result = core_open(workload, &core);
    if (result != RESULT_OK) {
        core_close(&core);
        return result;
    }
    bool completed;
    struct engine_execution *execution = run_one(&core, 0, &completed);
    struct engine_view view;
    engine_look(execution, &view);
    core.steps = core.blob_bytes = 0;
    uint64_t begin = load_now_us();
    uint64_t limit = begin + (uint64_t)(seconds * 1e6);
    while (load_now_us() < limit) {
        for (uint32_t i = 0; i < CLOCK_EVERY; i++) {
            for (uint32_t sequence = 1; sequence <= view.sequence; sequence++) {
                struct engine_effect step = {.kind = ENGINE_EFFECT_STEP_DONE,
                                             .as.step.sequence = sequence};
                encode_step(&core, execution, &step);
            }
            encode_whole(&core, execution);
            arena_clear(&core.arena);
            out->executions++;
        }
    }
    finish(out, &core, begin);
    engine_free(execution);
    core_close(&core);
    return completed ? RESULT_OK : RESULT_UNSUPPORTED;
}
