/*
 * notation.c: see notation.h.
 */
#include "engine/read/notation.h"

#include "engine/read/graph.h"
#include "engine/read/scheme.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum { VALUE_BLOCK_BYTES = 64 << 10, VALUE_BYTES_MAX = 128 << 20 };

static enum result refuse(struct engine_report *report, const struct json_error *error,
                          enum result result)
{
    engine_report_add(report, ENGINE_ERROR, "malformed", SPAN_EMPTY, error->line, error->column,
                      "this is no JSON: %s", error->reason);
    return result;
}

static enum result read_value(struct span text, struct span value, bool lenient,
                              struct engine_report *report, struct engine_definition *definition)
{
    bool is_graph = wire_find_text(value, "nodes").count > 0;
    bool is_scheme = wire_find_text(value, "blocks").count > 0;
    if (is_graph != is_scheme) {
        return is_graph ? engine_graph_read(text, value, lenient, report, definition)
                        : engine_scheme_read(text, value, lenient, report, definition);
    }
    engine_report_add(report, ENGINE_ERROR, "notation", SPAN_EMPTY, 1, 1, "%s",
                      is_graph ? "the file has nodes, as a JSON graph, and blocks, as a block "
                                 "scheme: it can be only one of them"
                               : "the file has neither nodes, as a JSON graph, nor blocks, as a "
                                 "block scheme");
    return RESULT_INVALID;
}

enum result engine_notation_read_json(struct span content, bool lenient,
                                      struct engine_report *report,
                                      struct engine_definition *definition)
{
    struct arena arena;
    struct span value;
    struct json_error error = {0};
    arena_init(&arena, VALUE_BLOCK_BYTES, VALUE_BYTES_MAX);
    enum result result = json_to_wire(content, LIMIT_DEPTH, &arena, &value, &error);
    result = result == RESULT_OK ? read_value(content, value, lenient, report, definition)
                                 : refuse(report, &error, result);
    arena_release(&arena);
    return result;
}
