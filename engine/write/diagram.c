/*
 * diagram.c: any definition as a BPMN file with a drawing.
 */
#include "engine/write/writing.h"
#include "proto/base/text.h"

static uint32_t drawn_nodes(const struct engine_process *process)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->node_count; i++) {
        count += process->nodes[i].shape != NULL;
    }
    return count;
}

/* A BPMN file may leave out what stands in a collapsed sub-process; other notations draw it all. */
static bool is_drawn(const struct engine_process *process)
{
    uint32_t count = drawn_nodes(process);
    return process->notation == ENGINE_NOTATION_BPMN ? count > 0
                                                     : count == process->node_count && count > 0;
}

/* Text that a viewer reads as it is. */
static bool is_text_of_bpmn(const struct engine_process *process, struct span content)
{
    return process->notation == ENGINE_NOTATION_BPMN &&
           text_utf8_valid_count(content) == content.count;
}

enum result engine_write_diagram(const struct engine_definition *definition, struct span process_id,
                                 struct span content, struct arena *arena, struct span *out)
{
    struct engine_report report;
    struct writing writing = {.arena = arena, .report = &report, .numbering = {.next = 1}};
    *out = SPAN_EMPTY;
    writing.process = engine_definition_find(definition, process_id);
    if (writing.process == NULL) {
        return RESULT_NOT_FOUND;
    }
    bool drawn = is_drawn(writing.process);
    if (drawn && is_text_of_bpmn(writing.process, content)) {
        *out = content;
        return RESULT_OK;
    }
    engine_report_init(&report, definition->name); /* for what BPMN cannot say: nobody reads it */
    writing.process = engine_write_plain(&writing);
    if (writing.process != NULL && !drawn) {
        writing.process = engine_write_layout(writing.process, arena);
    }
    enum result result = RESULT_LIMIT;
    if (writing.process != NULL) {
        struct engine_definition one = {.name = definition->name,
                                        .processes = (void *)(uintptr_t)writing.process,
                                        .process_count = 1};
        engine_write_meet(&writing, writing.process);
        result = engine_write_bpmn(&writing, &one, out);
    }
    engine_report_release(&report);
    return result;
}
