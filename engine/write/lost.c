/*
 * lost.c: what of a BPMN file no definition holds.
 */
#include "engine/read/draft.h"
#include "engine/write/write.h"

enum { SCRATCH_BLOCK_BYTES = 64 << 10, SCRATCH_BYTES_MAX = 256 << 20 };

static const struct {
    const char *name;
    const char *what;
} lost[] = {
    {"lane", "lanes"},
    {"participant", "pools"},
    {"messageFlow", "message flows"},
    {"textAnnotation", "text annotations"},
    {"group", "groups"},
    {"association", "associations (but those of compensation handlers)"},
    {"dataObject", "data objects"},
    {"dataObjectReference", "references to data objects"},
    {"dataStoreReference", "references to data stores"},
    {"dataInputAssociation", "data inputs"},
    {"dataOutputAssociation", "data outputs"},
    {"documentation", "documentations"},
};
enum { LOST_COUNT = sizeof lost / sizeof lost[0] };

enum result engine_write_list_lost(struct span content, struct engine_report *report)
{
    struct arena arena;
    struct xml_element *root = NULL;
    uint32_t counts[LOST_COUNT] = {0};
    arena_init(&arena, SCRATCH_BLOCK_BYTES, SCRATCH_BYTES_MAX);
    enum result result = engine_xml_parse(content, &arena, report, &root);
    for (const struct xml_element *element = result == RESULT_OK ? root : NULL; element != NULL;
         element = engine_xml_walk(root, element)) {
        for (size_t i = 0; i < LOST_COUNT; i++) {
            counts[i] += engine_xml_is(element, XML_BPMN, lost[i].name);
        }
    }
    for (size_t i = 0; i < LOST_COUNT; i++) {
        if (counts[i] > 0) {
            engine_report_add(report, ENGINE_WARNING, "not-kept", SPAN_EMPTY, 0, 0,
                              "%s (%u in the file) are not kept", lost[i].what, counts[i]);
        }
    }
    arena_release(&arena);
    return result;
}
