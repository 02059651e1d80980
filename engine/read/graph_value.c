/*
 * graph_value.c: JSON values as expressions. Recursion is bounded: a parsed JSON text is at most
 * LIMIT_DEPTH deep.
 */
#include <stdio.h>

#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

/* ---- texts with expressions in them ---- */

static bool is_marked(struct span value)
{
    return wire_is(value, WIRE_STRING) && engine_draft_is_marked(wire_head(value).as.text);
}

static bool holds_marks(struct span value)
{
    struct wire_cursor cursor = wire_cursor(value);
    struct wire_value head;
    while (cursor.next < cursor.end && wire_read(&cursor, &head) == RESULT_OK) {
        if (head.type == WIRE_STRING && engine_draft_is_marked(head.as.text)) {
            return true;
        }
    }
    return false;
}

/* The FEEL in a text that is nothing but one expression: "=a", "{{ a }}". */
static bool bare_feel(struct span text, struct span *out)
{
    text = span_trim(text);
    if (text.count > 0 && text.bytes[0] == '=') {
        *out = span_trim(span_of(text.bytes + 1, text.count - 1));
        return true;
    }
    bool is_braced = text.count >= 4 && memcmp(text.bytes, "{{", 2) == 0 &&
                     memcmp(text.bytes + text.count - 2, "}}", 2) == 0;
    struct span inner = is_braced ? span_of(text.bytes + 2, text.count - 4) : SPAN_EMPTY;
    bool is_one = is_braced && memmem(inner.bytes, inner.count, "{{", 2) == NULL &&
                  memmem(inner.bytes, inner.count, "}}", 2) == NULL;
    *out = span_trim(inner);
    return is_one;
}

/* ---- FEEL literals, appended to a buffer ---- */

static void put(struct wire_writer *out, const char *text)
{
    wire_write_raw(out, span_text(text));
}

/* DMN 1.4 grammar rule 35. */
static void put_quoted(struct wire_writer *out, struct span text)
{
    put(out, "\"");
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] == '"' || text.bytes[i] == '\\') {
            put(out, "\\");
        }
        wire_write_raw(out, span_of(text.bytes + i, 1));
    }
    put(out, "\"");
}

static void put_number(struct wire_writer *out, const struct wire_value *head)
{
    char text[32];
    if (head->type == WIRE_DECIMAL) {
        bool has_exponent = memchr(head->as.text.bytes, 'e', head->as.text.count) != NULL ||
                            memchr(head->as.text.bytes, 'E', head->as.text.count) != NULL;
        /* FEEL numbers have no exponent (DMN 1.4 grammar rule 37). */
        put(out, has_exponent ? "number(\"" : "");
        wire_write_raw(out, head->as.text);
        put(out, has_exponent ? "\")" : "");
        return;
    }
    if (head->type == WIRE_INT) {
        (void)snprintf(text, sizeof text, "%lld", (long long)head->as.integer);
    } else {
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)head->as.unsigned_integer);
    }
    put(out, text);
}

static bool put_value(struct wire_writer *out, struct span value);

static bool put_list(struct wire_writer *out, struct span value)
{
    struct wire_map_walk walk = wire_array_begin(value);
    struct span item;
    bool is_whole = true;
    put(out, "[");
    for (bool is_first = true; is_whole && wire_array_next(&walk, &item); is_first = false) {
        put(out, is_first ? "" : ", ");
        is_whole = put_value(out, item);
    }
    put(out, "]");
    return is_whole;
}

static bool put_context(struct wire_writer *out, struct span value)
{
    struct wire_map_walk walk = wire_map_begin(value);
    struct span key;
    struct span member;
    bool is_whole = true;
    put(out, "{");
    for (bool is_first = true; is_whole && wire_map_next(&walk, &key, &member); is_first = false) {
        put(out, is_first ? "" : ", ");
        put_quoted(out, key);
        put(out, ": ");
        is_whole = put_value(out, member);
    }
    put(out, "}");
    return is_whole;
}

static bool put_text(struct wire_writer *out, struct span text)
{
    struct span feel;
    if (!engine_draft_is_marked(text)) {
        put_quoted(out, text);
        return true;
    }
    if (!bare_feel(text, &feel)) {
        return false;
    }
    put(out, "(");
    wire_write_raw(out, feel);
    put(out, ")");
    return true;
}

static bool put_value(struct wire_writer *out, struct span value)
{
    struct wire_value head = wire_head(value);
    switch (head.type) {
    case WIRE_STRING:
        return put_text(out, head.as.text);
    case WIRE_ARRAY:
        return put_list(out, value);
    case WIRE_MAP:
        return put_context(out, value);
    case WIRE_BOOL:
        put(out, head.as.boolean ? "true" : "false");
        return true;
    case WIRE_INT:
    case WIRE_UINT:
    case WIRE_DECIMAL:
        put_number(out, &head);
        return true;
    case WIRE_NIL:
    case WIRE_FLOAT: /* these do not come from JSON */
    case WIRE_BINARY:
    case WIRE_EXT:
        put(out, "null");
        return true;
    }
    return false;
}

/* ---- the whole ---- */

bool engine_graph_spell(struct graph_node *node, struct span value, struct span *out)
{
    struct span text = wire_is(value, WIRE_STRING) ? wire_head(value).as.text : SPAN_EMPTY;
    if (is_marked(value) || (text.count > 0 && span_trim(text).count == text.count)) {
        *out = text; /* an attribute's value is trimmed: outer spaces need quotes */
        return true;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, node->graph->arena, value.count * 2 + 16);
    put(&writer, "=");
    bool is_whole = put_value(&writer, value);
    if (!is_whole) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "unsupported-expression", node->map,
                             node->id,
                             "within a list a text is either plain or one expression, {{ … }}");
    }
    *out = wire_writer_span(&writer);
    return is_whole;
}

static void spell_leaves(struct graph_node *node, struct span name, struct span map,
                         graph_pair_fn add)
{
    struct wire_map_walk walk = wire_map_begin(map);
    struct span key;
    struct span member;
    while (wire_map_next(&walk, &key, &member)) {
        struct span path =
            arena_format(node->graph->arena, "%.*s.%.*s", SPAN_ARG(name), SPAN_ARG(key));
        if (key.count == 0 || memchr(key.bytes, '.', key.count) != NULL) {
            engine_graph_problem(
                node->graph, ENGINE_ERROR, "unsupported-expression", node->map, node->id,
                "an object with expressions in it cannot have a member \"%.*s\"", SPAN_ARG(key));
            return;
        }
        engine_graph_spell_pair(node, path, member, add);
    }
}

void engine_graph_spell_pair(struct graph_node *node, struct span name, struct span value,
                             graph_pair_fn add)
{
    struct span text;
    if (wire_is(value, WIRE_MAP) && holds_marks(value)) {
        spell_leaves(node, name, value, add);
    } else if (engine_graph_spell(node, value, &text)) {
        add(node, name, text);
    }
}
