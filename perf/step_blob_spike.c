/*
 * step_blob_spike: what step blobs cost: bytes and microseconds a step, for a fork of more and more
 * instances that all wait, without and with a collection (docs/tuning.md). The bytes are the same
 * on every machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/read/read.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"

#define ARENA_LIMIT_BYTES ((size_t)1 << 30)

static const char by_number[] =
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'>"
    "<process id='p' isExecutable='true'><startEvent id='s'/><userTask id='m'>"
    "<multiInstanceLoopCharacteristics><loopCardinality>=count(list)</loopCardinality>"
    "</multiInstanceLoopCharacteristics></userTask>"
    "<sequenceFlow id='f' sourceRef='s' targetRef='m'/></process></definitions>";

struct spike {
    struct engine_catalog catalog; /* first: the engine hands it back */
    struct engine_definition *definition;
    struct engine_modules *modules;
    struct arena lasting;
    struct arena scratch;
    bool encode; /* as `all` does, or not at all, as `off` */
    uint64_t steps, bytes, largest;
};

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span id,
                                                 uint32_t version)
{
    (void)project;
    (void)version;
    return engine_definition_find(((const struct spike *)self)->definition, id);
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    (void)project;
    return ((const struct spike *)self)->modules;
}

static void spike_open(struct spike *spike)
{
    struct engine_report report;
    struct span modules;
    struct json_error error;
    *spike = (struct spike){.catalog = {.process = find_process, .modules = find_modules}};
    arena_init(&spike->lasting, 65536, ARENA_LIMIT_BYTES);
    arena_init(&spike->scratch, 65536, ARENA_LIMIT_BYTES);
    engine_report_init(&report, span_text("spike"));
    enum result result =
        engine_read(span_text("spike"), span_text(by_number), &report, &spike->definition);
    ASSERT(result == RESULT_OK);
    result =
        json_to_wire(span_text("{\"modules\":[]}"), LIMIT_DEPTH, &spike->lasting, &modules, &error);
    ASSERT(result == RESULT_OK);
    result = engine_read_modules(span_text("spike"), modules, span_text("default"), SPAN_EMPTY,
                                 &report, &spike->modules);
    ASSERT(result == RESULT_OK);
    engine_report_release(&report);
}

static void spike_close(struct spike *spike)
{
    engine_definition_free(spike->definition);
    engine_modules_free(spike->modules);
    arena_release(&spike->lasting);
    arena_release(&spike->scratch);
}

static void after_step(void *owner, struct engine_execution *execution,
                       const struct engine_effect *step)
{
    struct spike *spike = owner;
    spike->steps++;
    if (!spike->encode) {
        return;
    }
    struct wire_writer writer;
    arena_clear(&spike->scratch);
    wire_writer_init(&writer, &spike->scratch, 1024);
    engine_step_encode(execution, &step->as.step, &writer);
    spike->bytes += writer.count;
    spike->largest = writer.count > spike->largest ? writer.count : spike->largest;
}

static struct span variables_of(struct spike *spike, uint32_t instances)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &spike->lasting, 64 + instances);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "list");
    wire_write_array(&writer, instances);
    for (uint32_t i = 0; i < instances; i++) {
        wire_write_int(&writer, 7);
    }
    return wire_writer_span(&writer);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds that one execution takes to its wait. */
static double run(struct spike *spike, uint32_t instances)
{
    struct engine_start start = {.id = {.count = 1, .text = "x"},
                                 .workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .execution = variables_of(spike, instances),
                                 .process = spike->definition->processes};
    int64_t now_ms = 1764498000000;
    struct engine_execution *execution = engine_new(&spike->catalog, &start, now_ms);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = now_ms};
    struct engine_output output;
    struct arena arena;
    bool more;
    arena_init(&arena, 1u << 20, ARENA_LIMIT_BYTES);
    engine_output_init(&output, &arena);
    spike->steps = spike->bytes = spike->largest = 0;
    double begin = seconds_now();
    enum result result = engine_accept(execution, &input, &output);
    ASSERT(result == RESULT_OK);
    result = engine_advance(execution, now_ms, UINT32_MAX, after_step, spike, &output, &more);
    ASSERT(result == RESULT_OK);
    double taken = seconds_now() - begin;
    engine_free(execution);
    arena_release(&arena);
    return taken;
}

int main(void)
{
    static const uint32_t sizes[] = {100, 1000, 5000, 20000, 50000};
    struct spike spike;
    spike_open(&spike);
    printf("%10s %8s %12s %12s %14s %12s %12s\n", "instances", "steps", "all MB", "bytes/step",
           "largest bytes", "all us/step", "off us/step");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        spike.encode = false;
        double off = run(&spike, sizes[i]);
        spike.encode = true;
        double all = run(&spike, sizes[i]);
        double steps = (double)spike.steps;
        printf("%10u %8.0f %12.1f %12.0f %14llu %12.1f %12.1f\n", sizes[i], steps,
               (double)spike.bytes / 1e6, (double)spike.bytes / steps,
               (unsigned long long)spike.largest, all * 1e6 / steps, off * 1e6 / steps);
    }
    spike_close(&spike);
    return 0;
}
