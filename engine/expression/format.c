/* format.c: values as text: inside other text, and by FEEL's string(). */
#include <stdio.h>

#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "engine/expression/text.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"

static void write_feel(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                       struct expression_value value, unsigned depth);

struct span expression_number_text(struct expression_evaluation *evaluation,
                                   struct expression_value number)
{
    char text[EXPRESSION_NUMBER_TEXT_BYTES];
    size_t count = expression_number_format(number, text);
    return arena_copy(evaluation->arena, span_of(text, count));
}

static struct span json_of(struct expression_evaluation *evaluation, struct expression_value value)
{
    struct span wire;
    struct span json;
    if (expression_value_encode(value, evaluation->arena, &wire) != RESULT_OK ||
        json_from_wire(wire, JSON_COMPACT, evaluation->arena, &json) != RESULT_OK) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "value too large or too deep for a text");
        return SPAN_EMPTY;
    }
    expression_pay(evaluation, json.count / EXPRESSION_BYTES_PER_STEP);
    return json;
}

static struct span temporal_text(struct expression_evaluation *evaluation,
                                 struct expression_value value)
{
    char text[EXPRESSION_TEMPORAL_TEXT_BYTES];
    size_t count = expression_temporal_format(value, text);
    return arena_copy(evaluation->arena, span_of(text, count));
}

struct span expression_text_of(struct expression_evaluation *evaluation,
                               struct expression_value value)
{
    if (value.type == VALUE_UNREAD && wire_is(value.as.wire, WIRE_DECIMAL)) {
        return wire_head(value.as.wire).as.text; /* as it was written */
    }
    value = expression_value_read(value);
    switch (value.type) {
    case VALUE_BOOLEAN:
        return span_text(value.as.boolean ? "true" : "false");
    case VALUE_NUMBER:
        return expression_number_text(evaluation, value);
    case VALUE_STRING:
        return value.as.text;
    case VALUE_LIST:
    case VALUE_CONTEXT:
    case VALUE_RANGE:
        return json_of(evaluation, value);
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_DATE_TIME:
    case VALUE_MONTHS:
    case VALUE_DURATION:
        return temporal_text(evaluation, value);
    case VALUE_FUNCTION:
    case VALUE_NULL:
    case VALUE_ABSENT:
    case VALUE_UNREAD:
        break;
    }
    return SPAN_EMPTY;
}

static void add(struct expression_buffer *buffer, const char *text)
{
    expression_buffer_add(buffer, span_text(text));
}

static void write_quoted(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                         struct span text)
{
    static const struct {
        char byte;
        const char *escape;
    } escapes[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}};
    size_t from = 0;
    if (!expression_pay(evaluation, text.count / EXPRESSION_BYTES_PER_STEP)) {
        return;
    }
    add(buffer, "\"");
    for (size_t i = 0; i < text.count; i++) {
        for (size_t e = 0; e < sizeof escapes / sizeof *escapes; e++) {
            if (text.bytes[i] == (uint8_t)escapes[e].byte) {
                expression_buffer_add(buffer, span_of(text.bytes + from, i - from));
                add(buffer, escapes[e].escape);
                from = i + 1;
            }
        }
    }
    expression_buffer_add(buffer, span_of(text.bytes + from, text.count - from));
    add(buffer, "\"");
}

/* A key without quotes where it is a name. */
static void write_key(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                      struct span key)
{
    bool is_name = key.count > 0;
    for (size_t offset = 0; is_name && offset < key.count;) {
        bool first = offset == 0;
        uint32_t point = expression_text_decode(key, &offset);
        is_name = first ? expression_text_is_name_start(point)
                        : expression_text_is_name_part(point) || point == ' ';
    }
    if (is_name) {
        expression_buffer_add(buffer, key);
    } else {
        write_quoted(evaluation, buffer, key);
    }
}

static void write_list(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                       struct expression_value list, unsigned depth)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    add(buffer, "[");
    for (const char *comma = ""; expression_walk_item(&walk, &item); comma = ", ") {
        add(buffer, comma);
        write_feel(evaluation, buffer, item, depth + 1);
    }
    add(buffer, "]");
}

static void write_context(struct expression_evaluation *evaluation,
                          struct expression_buffer *buffer, struct expression_value context,
                          unsigned depth)
{
    struct expression_walk walk = expression_walk(context);
    struct expression_entry entry;
    add(buffer, "{");
    for (const char *comma = ""; expression_walk_entry(&walk, &entry); comma = ", ") {
        add(buffer, comma);
        write_key(evaluation, buffer, entry.key);
        add(buffer, ": ");
        write_feel(evaluation, buffer, expression_value_read(entry.value), depth + 1);
    }
    add(buffer, "}");
}

static void write_range(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                        const struct expression_range *range, unsigned depth)
{
    add(buffer, range->low_included ? "[" : "(");
    write_feel(evaluation, buffer, range->low, depth + 1);
    add(buffer, "..");
    write_feel(evaluation, buffer, range->high, depth + 1);
    add(buffer, range->high_included ? "]" : ")");
}

static void write_feel(struct expression_evaluation *evaluation, struct expression_buffer *buffer,
                       struct expression_value value, unsigned depth)
{
    if (depth > LIMIT_EXPRESSION_DEPTH) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "value too deep for a text");
    }
    if (!expression_pay(evaluation, 1)) {
        return;
    }
    switch (value.type) {
    case VALUE_NULL:
        add(buffer, "null");
        break;
    case VALUE_STRING:
        write_quoted(evaluation, buffer, value.as.text);
        break;
    case VALUE_LIST:
        write_list(evaluation, buffer, value, depth);
        break;
    case VALUE_CONTEXT:
        write_context(evaluation, buffer, value, depth);
        break;
    case VALUE_RANGE:
        write_range(evaluation, buffer, value.as.range, depth);
        break;
    case VALUE_FUNCTION:
        add(buffer, "function");
        break;
    case VALUE_BOOLEAN:
    case VALUE_NUMBER:
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_DATE_TIME:
    case VALUE_MONTHS:
    case VALUE_DURATION:
        expression_buffer_add(buffer, expression_text_of(evaluation, value));
        break;
    case VALUE_ABSENT:
    case VALUE_UNREAD:
        break;
    }
}

struct span expression_feel_text_of(struct expression_evaluation *evaluation,
                                    struct expression_value value)
{
    struct expression_buffer buffer = {.arena = evaluation->arena};
    value = expression_value_read(value);
    if (value.type == VALUE_STRING) {
        return value.as.text;
    }
    write_feel(evaluation, &buffer, value, 0);
    return expression_buffer_span(&buffer);
}
