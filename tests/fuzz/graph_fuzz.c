/*
 * graph_fuzz.c: any bytes as a JSON definition, graph or block scheme. Whatever is refused has an
 * error in the report; whatever is read is written in every notation that can say it, and comes
 * back as the same definition.
 */
#include "engine/write/same.h"
#include "engine/write/write.h"
#include "proto/base/text.h"
#include "tests/fuzz/reading.h"

enum { ARENA_BYTES_MAX = 256 << 20 };

static void check_report(const struct engine_report *report)
{
    struct arena arena;
    arena_init(&arena, 4096, ARENA_BYTES_MAX);
    struct span text = engine_report_text(report, ENGINE_INFO, &arena);
    MUST(text_utf8_valid_count(text) == text.count);
    arena_release(&arena);
}

static void release(struct reading *reading)
{
    check_report(&reading->report);
    reading_release(reading);
}

static void check_process(const struct engine_process *process)
{
    uint32_t ends = 0;
    for (uint32_t i = 0; i < process->node_count; i++) {
        const struct engine_node *node = &process->nodes[i];
        MUST(node->index == i && node->id.count > 0);
        MUST(engine_process_node(process, node->id) == node);
        ends += node->incoming.count + node->outgoing.count;
    }
    MUST(ends == process->flow_count * 2);
    for (uint32_t i = 0; i < process->flow_count; i++) {
        const struct engine_flow *flow = &process->flows[i];
        MUST(flow->source < process->node_count && flow->target < process->node_count);
        MUST(!flow->is_back || process->notation == ENGINE_NOTATION_SCHEME);
    }
}

/* A scheme's joins and results become other nodes; a size or an id that was left open is filled
 * in. */
static bool says_it_all(const struct engine_process *process, enum engine_notation notation)
{
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (process->flows[i].id.count == 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < process->node_count && notation == ENGINE_NOTATION_BPMN; i++) {
        const struct engine_shape *shape = process->nodes[i].shape;
        if (shape != NULL && shape->width == 0) {
            return false;
        }
    }
    bool is_scheme = process->notation == ENGINE_NOTATION_SCHEME;
    return process->notation == notation || (!is_scheme && notation == ENGINE_NOTATION_GRAPH);
}

/* An expression that did not compile was left out, with a warning: what is written lacks it too. */
static bool is_whole(const struct engine_report *report)
{
    for (uint32_t i = 0; i < report->count; i++) {
        if (strstr(report->problems[i].rule, "-expression") != NULL) {
            return false;
        }
    }
    return !report->cut;
}

static void check_writing(const struct reading *reading, enum engine_notation notation)
{
    struct arena arena;
    struct engine_report report;
    struct span text;
    arena_init(&arena, 4096, ARENA_BYTES_MAX);
    engine_report_init(&report, span_text("out"));
    enum result result =
        engine_write(reading->definition, SPAN_EMPTY, notation, &report, &arena, &text);
    MUST(result == RESULT_OK || result == RESULT_INVALID || result == RESULT_LIMIT);
    MUST(result != RESULT_INVALID || report.errors > 0);
    if (result == RESULT_OK) {
        MUST(text_utf8_valid_count(text) == text.count);
        struct reading again = reading_of("fuzz.json", text, true);
        const struct engine_process *process = &reading->definition->processes[0];
        MUST(again.result == RESULT_OK);
        if (says_it_all(process, notation) && is_whole(&reading->report)) {
            struct same same;
            const char *difference = same_process(&same, process, &again.definition->processes[0]);
            MUST(difference[0] == '\0');
        }
        release(&again);
    }
    check_report(&report);
    engine_report_release(&report);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct span content = span_of(bytes, count);
    struct reading strict = reading_of("fuzz.json", content, false);
    struct reading lenient = reading_of("fuzz.json", content, true);
    MUST(strict.result != RESULT_OK || lenient.result == RESULT_OK);
    if (lenient.result == RESULT_OK && lenient.definition->process_count > 0) {
        check_process(&lenient.definition->processes[0]);
        check_writing(&lenient, ENGINE_NOTATION_BPMN);
        check_writing(&lenient, ENGINE_NOTATION_GRAPH);
        check_writing(&lenient, ENGINE_NOTATION_SCHEME);
    }
    release(&strict);
    release(&lenient);
    return 0;
}
