/*
 * write.c: which writer, for which processes; and what all of them use.
 */
#include "engine/write/write.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/expression/spelling.h"
#include "engine/read/draft.h"
#include "engine/write/writing.h"
#include "proto/wire/json.h"

enum { MESSAGE_BYTES_MAX = 512 };

/* ---- refusing ---- */

void engine_write_refuse(struct writing *writing, const struct engine_node *node,
                         const char *format, ...)
{
    char message[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (node == NULL) {
        engine_report_add(writing->report, ENGINE_ERROR, "cannot-say", writing->process->id,
                          writing->process->line, 0, "process \"%.*s\": %s",
                          SPAN_ARG(writing->process->id), message);
    } else {
        engine_report_add(writing->report, ENGINE_ERROR, "cannot-say", node->id, node->line, 0,
                          "%s \"%.*s\": %s", engine_kind_xml_name(node->kind), SPAN_ARG(node->id),
                          message);
    }
}

void engine_write_refuse_flow(struct writing *writing, const struct engine_flow *flow,
                              const char *format, ...)
{
    char message[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    engine_report_add(writing->report, ENGINE_ERROR, "cannot-say", flow->id, flow->line, 0,
                      "flow \"%.*s\": %s", SPAN_ARG(flow->id), message);
}

/* ---- expressions ---- */

struct span engine_write_spell(struct writing *writing, const struct engine_expression *expression)
{
    return expression == NULL ? SPAN_EMPTY : engine_expression_spell(expression, writing->arena);
}

struct span engine_write_spell_condition(struct writing *writing,
                                         const struct engine_expression *expression)
{
    struct span text = engine_write_spell(writing, expression);
    struct span bare = text.count > 0 && text.bytes[0] == '='
                           ? span_trim(span_of(text.bytes + 1, text.count - 1))
                           : SPAN_EMPTY;
    return bare.count == 0 || engine_draft_is_marked(bare) ? text : bare;
}

/* ---- JSON ---- */

enum result engine_write_json(struct writing *writing, struct span value, struct span *out)
{
    struct span text;
    if (value.count == 0) {
        return RESULT_LIMIT;
    }
    enum result result = json_from_wire(value, JSON_PRETTY, writing->arena, &text);
    if (result == RESULT_OK) {
        *out = arena_format(writing->arena, "%.*s\n", SPAN_ARG(text));
        result = out->count == 0 ? RESULT_LIMIT : RESULT_OK;
    }
    return result;
}

void engine_write_digits(double number, char digits[32])
{
    (void)snprintf(digits, 32, "%.15g", number);
    if (strtod(digits, NULL) != number) {
        (void)snprintf(digits, 32, "%.17g", number);
    }
}

void engine_write_number(struct wire_writer *out, double number)
{
    char digits[32];
    if (number == floor(number) && fabs(number) < 1e15) {
        wire_write_int(out, (int64_t)number);
        return;
    }
    engine_write_digits(number, digits);
    wire_write_decimal(out, span_text(digits));
}

static void write_point(struct wire_writer *out, double x, double y)
{
    wire_write_map(out, 2);
    wire_write_text(out, "x");
    engine_write_number(out, x);
    wire_write_text(out, "y");
    engine_write_number(out, y);
}

static void write_label(struct wire_writer *out, double x, double y, double width, double height)
{
    wire_write_text(out, "label_bounds");
    wire_write_map(out, 4);
    wire_write_text(out, "x");
    engine_write_number(out, x);
    wire_write_text(out, "y");
    engine_write_number(out, y);
    wire_write_text(out, "width");
    engine_write_number(out, width);
    wire_write_text(out, "height");
    engine_write_number(out, height);
}

uint32_t engine_write_shape(struct wire_writer *out, const struct engine_node *node)
{
    const struct engine_shape *shape = node->shape;
    uint32_t pairs = 0;
    if (shape == NULL) {
        return 0;
    }
    wire_write_text(out, "position");
    write_point(out, shape->x, shape->y);
    pairs++;
    if (shape->width > 0) {
        wire_write_text(out, "size");
        wire_write_map(out, 2);
        wire_write_text(out, "width");
        engine_write_number(out, shape->width);
        wire_write_text(out, "height");
        engine_write_number(out, shape->height);
        pairs++;
    }
    if (shape->has_label) {
        write_label(out, shape->label_x, shape->label_y, shape->label_width, shape->label_height);
        pairs++;
    }
    return pairs;
}

uint32_t engine_write_edge(struct wire_writer *out, const struct engine_flow *flow)
{
    const struct engine_edge *edge = flow->edge;
    uint32_t pairs = 0;
    if (edge == NULL) {
        return 0;
    }
    if (edge->point_count > 0) {
        wire_write_text(out, "waypoints");
        wire_write_array(out, edge->point_count);
        for (uint32_t i = 0; i < edge->point_count; i++) {
            write_point(out, edge->points[i].x, edge->points[i].y);
        }
        pairs++;
    }
    if (edge->has_label) {
        write_label(out, edge->label_x, edge->label_y, edge->label_width, edge->label_height);
        pairs++;
    }
    return pairs;
}

/* An integer as JSON writes it, small enough for every reader of JSON. */
static bool is_integer(struct span text)
{
    size_t sign = text.count > 0 && text.bytes[0] == '-';
    if (text.count == sign || text.count > sign + 15) {
        return false;
    }
    for (size_t i = sign; i < text.count; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            return false;
        }
    }
    return text.count == sign + 1 ? sign == 0 || text.bytes[1] != '0' : text.bytes[sign] != '0';
}

static int64_t integer_of(struct span text)
{
    bool is_negative = text.bytes[0] == '-';
    int64_t number = 0;
    for (size_t i = is_negative; i < text.count; i++) {
        number = number * 10 + (text.bytes[i] - '0');
    }
    return is_negative ? -number : number;
}

void engine_write_config_value(struct wire_writer *out, struct span spelled)
{
    struct span bare = spelled.count > 0 && spelled.bytes[0] == '='
                           ? span_of(spelled.bytes + 1, spelled.count - 1)
                           : SPAN_EMPTY;
    if (is_integer(bare)) {
        wire_write_int(out, integer_of(bare));
    } else if (span_is(bare, "true") || span_is(bare, "false")) {
        wire_write_bool(out, span_is(bare, "true"));
    } else if (span_is(bare, "null")) {
        wire_write_nil(out);
    } else {
        wire_write_string(out, span_is(bare, "\"\"") ? SPAN_EMPTY : spelled);
    }
}

void engine_write_version(struct wire_writer *out, const struct engine_process *process)
{
    wire_write_text(out, "version");
    if (is_integer(process->version_tag)) {
        wire_write_int(out, integer_of(process->version_tag));
    } else {
        wire_write_string(out, process->version_tag);
    }
}

/* ---- the whole ---- */

void engine_write_meet(struct writing *writing, const struct engine_process *process)
{
    engine_numbering_meet(&writing->numbering, process->id);
    for (uint32_t i = 0; i < process->node_count; i++) {
        engine_numbering_meet(&writing->numbering, process->nodes[i].id);
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        engine_numbering_meet(&writing->numbering, process->flows[i].id);
    }
}

static bool choose(struct writing *writing, const struct engine_definition *definition,
                   struct span process_id, enum engine_notation notation)
{
    writing->process = engine_definition_find(definition, process_id);
    if (writing->process == NULL) {
        engine_report_add(writing->report, ENGINE_ERROR, "no-process", process_id, 0, 0,
                          "there is no process \"%.*s\" in this file", SPAN_ARG(process_id));
        return false;
    }
    if (writing->process->is_global_task && notation != ENGINE_NOTATION_BPMN) {
        engine_write_refuse(writing, NULL, "is a global task, which only BPMN has");
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < definition->process_count; i++) {
        count += !definition->processes[i].is_global_task;
    }
    bool is_one = process_id.count > 0 || count <= 1;
    if (!is_one && notation != ENGINE_NOTATION_BPMN) {
        engine_report_add(writing->report, ENGINE_ERROR, "cannot-say", SPAN_EMPTY, 0, 0,
                          "the file has %u processes, and that notation holds one: choose", count);
        return false;
    }
    return true;
}

enum result engine_write(const struct engine_definition *definition, struct span process_id,
                         enum engine_notation notation, struct engine_report *report,
                         struct arena *arena, struct span *out)
{
    struct writing writing = {.arena = arena, .report = report, .numbering = {.next = 1}};
    uint32_t errors = report->errors;
    *out = SPAN_EMPTY;
    if (!choose(&writing, definition, process_id, notation)) {
        return RESULT_INVALID;
    }
    struct engine_definition one = {.name = definition->name,
                                    .processes = (void *)(uintptr_t)writing.process,
                                    .process_count = 1};
    const struct engine_definition *chosen = process_id.count > 0 ? &one : definition;
    for (uint32_t i = 0; i < chosen->process_count; i++) {
        engine_write_meet(&writing, &chosen->processes[i]);
    }
    enum result result = RESULT_OK;
    switch (notation) {
    case ENGINE_NOTATION_BPMN:
        result = engine_write_bpmn(&writing, chosen, out);
        break;
    case ENGINE_NOTATION_GRAPH:
        result = engine_write_graph(&writing, out);
        break;
    case ENGINE_NOTATION_SCHEME:
        result = engine_write_scheme(&writing, out);
        break;
    }
    if (result == RESULT_OK && report->errors > errors) {
        *out = SPAN_EMPTY;
        result = RESULT_INVALID;
    }
    return result;
}
