/*
 * read.c: which notation a file is in, and the order of the steps: read, lint, refuse.
 */
#include "engine/read/read.h"

#include <stdlib.h>

#include "engine/dmn/dmn.h"
#include "engine/lint/lint.h"
#include "engine/read/bpmn.h"
#include "engine/read/notation.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

enum { BLOCK_BYTES = 16 << 10, MEMORY_BYTES_MAX = 256 << 20 };

enum notation { NOTATION_XML, NOTATION_JSON, NOTATION_UNKNOWN };

static bool has_utf16_mark(struct span content)
{
    return content.count >= 2 && ((content.bytes[0] == 0xff && content.bytes[1] == 0xfe) ||
                                  (content.bytes[0] == 0xfe && content.bytes[1] == 0xff));
}

/* UTF-16 of either order without a mark: XML says that "<" tells it (XML 1.0 appendix F). */
static bool looks_like_utf16(struct span content)
{
    return content.count >= 2 && ((content.bytes[0] == 0 && content.bytes[1] == '<') ||
                                  (content.bytes[0] == '<' && content.bytes[1] == 0));
}

static enum notation notation_of(struct span content)
{
    if (has_utf16_mark(content) || looks_like_utf16(content)) {
        return NOTATION_XML;
    }
    if (span_starts_with(content, "\xef\xbb\xbf")) {
        content = span_of(content.bytes + 3, content.count - 3);
    }
    content = span_trim(content);
    if (content.count == 0) {
        return NOTATION_UNKNOWN;
    }
    return content.bytes[0] == '<'   ? NOTATION_XML
           : content.bytes[0] == '{' ? NOTATION_JSON
                                     : NOTATION_UNKNOWN;
}

static enum result refuse(struct engine_report *report, const char *why)
{
    engine_report_add(report, ENGINE_ERROR, "notation", SPAN_EMPTY, 1, 1, "%s", why);
    return RESULT_INVALID;
}

/* The document stays in the definition's arena: the model's names point into it. */
static enum result read_decisions(struct span content, struct engine_report *report,
                                  struct engine_definition *definition)
{
    enum result result =
        engine_dmn_read(content, &definition->arena, report, &definition->decisions);
    if (result == RESULT_LIMIT && report->errors == 0) {
        engine_report_add(report, ENGINE_ERROR, "too-large", SPAN_EMPTY, 0, 0,
                          "the decision model takes too much memory");
    }
    return result;
}

static enum result read_notation(struct span content, bool lenient, struct engine_report *report,
                                 struct engine_definition *definition)
{
    switch (notation_of(content)) {
    case NOTATION_XML:
        if (engine_dmn_is_model(content)) {
            return read_decisions(content, report, definition);
        }
        return engine_bpmn_read(content, lenient, report, definition);
    case NOTATION_JSON:
        return engine_notation_read_json(content, lenient, report, definition);
    case NOTATION_UNKNOWN:
        break;
    }
    return refuse(report, span_trim(content).count == 0 ? "the file is empty"
                                                        : "the file is neither XML nor JSON");
}

static enum result read_file(struct span file, struct span content, bool lenient,
                             struct engine_report *report, struct engine_definition **out)
{
    *out = NULL;
    struct engine_definition *definition = calloc(1, sizeof *definition);
    if (definition == NULL) {
        return RESULT_LIMIT;
    }
    arena_init(&definition->arena, BLOCK_BYTES, MEMORY_BYTES_MAX);
    definition->name = arena_copy(&definition->arena, file);
    enum result result = read_notation(content, lenient, report, definition);
    /* A lenient reader drops conditions that it cannot compile. */
    const struct lint_options options = {.lenient = lenient,
                                         .is_sound = report->errors == 0 && !lenient};
    for (uint32_t i = 0; result == RESULT_OK && i < definition->process_count; i++) {
        result = engine_lint(&definition->processes[i], options, report);
    }
    if (result == RESULT_OK && report->errors > 0) {
        result = RESULT_INVALID;
    }
    if (result != RESULT_OK) {
        ASSERT(result == RESULT_LIMIT || report->errors > 0);
        engine_definition_free(definition);
        return result;
    }
    *out = definition;
    return RESULT_OK;
}

enum result engine_read(struct span file, struct span content, struct engine_report *report,
                        struct engine_definition **out)
{
    return read_file(file, content, false, report, out);
}

enum result engine_read_lenient(struct span file, struct span content, struct engine_report *report,
                                struct engine_definition **out)
{
    return read_file(file, content, true, report, out);
}
