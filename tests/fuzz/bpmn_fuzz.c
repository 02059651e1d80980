/*
 * bpmn_fuzz.c: any bytes as a definition file. Whatever is refused has an error in the report, in
 * valid UTF-8; whatever is accepted is a graph whose every index is in range and whose lists agree
 * with its flows; a lenient reader takes at least what a strict one does; and the same bytes give
 * the same report.
 */
#include "proto/base/text.h"
#include "tests/fuzz/reading.h"

enum { ARENA_BYTES_MAX = 64 << 20 };

static void check_list(struct engine_indexes list, uint32_t below)
{
    for (uint32_t i = 0; i < list.count; i++) {
        MUST(list.at[i] < below);
        MUST(i == 0 || list.at[i - 1] < list.at[i]);
    }
}

static void check_node(const struct engine_process *process, uint32_t index)
{
    const struct engine_node *node = &process->nodes[index];
    MUST(node->index == index && node->kind < ENGINE_KIND_COUNT && node->id.count > 0);
    MUST(node->scope == ENGINE_NONE || node->scope < index);
    MUST(node->attached_to == ENGINE_NONE || node->attached_to < process->node_count);
    MUST(node->default_flow == ENGINE_NONE || process->flows[node->default_flow].source == index);
    check_list(node->incoming, process->flow_count);
    check_list(node->outgoing, process->flow_count);
    check_list(node->boundaries, process->node_count);
    check_list(node->children, process->node_count);
    check_list(node->starts, process->node_count);
    MUST(engine_process_node(process, node->id) == node);
}

static void check_process(const struct engine_process *process)
{
    uint32_t ends = 0;
    for (uint32_t i = 0; i < process->node_count; i++) {
        check_node(process, i);
        ends += process->nodes[i].incoming.count + process->nodes[i].outgoing.count;
    }
    MUST(ends == process->flow_count * 2);
    for (uint32_t i = 0; i < process->flow_count; i++) {
        const struct engine_flow *flow = &process->flows[i];
        MUST(flow->index == i);
        MUST(flow->source < process->node_count && flow->target < process->node_count);
    }
    check_list(process->children, process->node_count);
    check_list(process->starts, process->node_count);
}

static void check_report(const struct engine_report *a, const struct engine_report *b)
{
    struct arena arena;
    arena_init(&arena, 4096, ARENA_BYTES_MAX);
    struct span text = engine_report_text(a, ENGINE_INFO, &arena);
    struct span again = engine_report_text(b, ENGINE_INFO, &arena);
    MUST(text_utf8_valid_count(text) == text.count);
    MUST(span_equal(text, again));
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct span content = span_of(bytes, count);
    struct reading strict = reading_of("fuzz.bpmn", content, false);
    struct reading again = reading_of("fuzz.bpmn", content, false);
    struct reading lenient = reading_of("fuzz.bpmn", content, true);
    check_report(&strict.report, &again.report);
    MUST(strict.result == again.result);
    MUST(strict.result != RESULT_OK || lenient.result == RESULT_OK);
    for (uint32_t i = 0; lenient.result == RESULT_OK && i < lenient.definition->process_count;
         i++) {
        check_process(&lenient.definition->processes[i]);
    }
    reading_release(&strict);
    reading_release(&again);
    reading_release(&lenient);
    return 0;
}
