/*
 * juel_string.c: the methods that files call on strings.
 *
 * DEVIATION(java String): indexes and lengths count code points, not UTF-16 units; they differ
 * beyond the basic plane only.
 */
#include "engine/expression/juel_method.h"
#include "engine/expression/text.h"

static struct expression_value position(struct span text, size_t byte)
{
    return expression_integer(byte == EXPRESSION_NOT_FOUND
                                  ? -1
                                  : (int64_t)expression_text_count(span_of(text.bytes, byte)));
}

static struct expression_value string_contains(const struct juel_invocation *call)
{
    return expression_boolean(
        expression_text_find(call->receiver.as.text, expression_juel_text(call, 0)) !=
        EXPRESSION_NOT_FOUND);
}

static struct expression_value string_starts_with(const struct juel_invocation *call)
{
    struct span text = call->receiver.as.text;
    struct span start = expression_juel_text(call, 0);
    return expression_boolean(text.count >= start.count &&
                              span_equal(span_of(text.bytes, start.count), start));
}

static struct expression_value string_ends_with(const struct juel_invocation *call)
{
    return expression_boolean(
        expression_text_ends_with(call->receiver.as.text, expression_juel_text(call, 0)));
}

static struct expression_value string_length(const struct juel_invocation *call)
{
    return expression_integer((int64_t)expression_text_count(call->receiver.as.text));
}

static struct expression_value string_is_empty(const struct juel_invocation *call)
{
    return expression_boolean(call->receiver.as.text.count == 0);
}

static struct expression_value string_is_blank(const struct juel_invocation *call)
{
    return expression_boolean(span_trim(call->receiver.as.text).count == 0);
}

static struct expression_value string_lower(const struct juel_invocation *call)
{
    return expression_string(
        expression_text_lower(call->evaluation->arena, call->receiver.as.text));
}

static struct expression_value string_upper(const struct juel_invocation *call)
{
    return expression_string(
        expression_text_upper(call->evaluation->arena, call->receiver.as.text));
}

static struct expression_value string_equals_ignoring_case(const struct juel_invocation *call)
{
    struct arena *arena = call->evaluation->arena;
    return expression_boolean(
        span_equal(expression_text_lower(arena, call->receiver.as.text),
                   expression_text_lower(arena, expression_juel_text(call, 0))));
}

static struct expression_value string_trim(const struct juel_invocation *call)
{
    return expression_string(span_trim(call->receiver.as.text));
}

static struct expression_value string_substring(const struct juel_invocation *call)
{
    struct span text = call->receiver.as.text;
    size_t count = expression_text_count(text);
    size_t from;
    size_t to = count;
    if (!expression_juel_index(call, 0, count, &from) ||
        (call->count == 2 && !expression_juel_index(call, 1, count, &to))) {
        return expression_null();
    }
    if (from > to) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    size_t start = expression_text_offset(text, from);
    return expression_string(span_of(text.bytes + start, expression_text_offset(text, to) - start));
}

static struct expression_value string_char_at(const struct juel_invocation *call)
{
    struct span text = call->receiver.as.text;
    size_t index;
    size_t count = expression_text_count(text);
    if (!expression_juel_index(call, 0, count, &index)) {
        return expression_null();
    }
    if (index == count) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    size_t start = expression_text_offset(text, index);
    size_t end = start;
    expression_text_decode(text, &end);
    return expression_string(span_of(text.bytes + start, end - start));
}

static struct expression_value string_index_of(const struct juel_invocation *call)
{
    struct span text = call->receiver.as.text;
    return position(text, expression_text_find(text, expression_juel_text(call, 0)));
}

static struct expression_value string_last_index_of(const struct juel_invocation *call)
{
    struct span text = call->receiver.as.text;
    struct span part = expression_juel_text(call, 0);
    /* Looking from the end compares at each place: priced as that. */
    size_t steps = text.count * part.count / (16 * EXPRESSION_BYTES_PER_STEP);
    if (!expression_pay(call->evaluation, steps)) {
        return expression_null();
    }
    return position(text, expression_text_find_last(text, part));
}

static struct expression_value string_concat(const struct juel_invocation *call)
{
    return expression_string(expression_text_concatenate(
        call->evaluation->arena, call->receiver.as.text, expression_juel_text(call, 0)));
}

static struct expression_value string_replace(const struct juel_invocation *call)
{
    struct expression_buffer out = {.arena = call->evaluation->arena};
    struct span old = expression_juel_text(call, 0);
    struct span new = expression_juel_text(call, 1);
    struct span rest = call->receiver.as.text;
    size_t at;
    if (old.count == 0) {
        return call->receiver;
    }
    while ((at = expression_text_find(rest, old)) != EXPRESSION_NOT_FOUND &&
           expression_pay(call->evaluation, 1)) {
        expression_buffer_add(&out, span_of(rest.bytes, at));
        expression_buffer_add(&out, new);
        rest = span_of(rest.bytes + at + old.count, rest.count - at - old.count);
    }
    expression_buffer_add(&out, rest);
    return expression_string(expression_buffer_span(&out));
}

const struct juel_method expression_string_methods[] = {
    {"contains", VALUE_STRING, 1, 1, string_contains},
    {"startsWith", VALUE_STRING, 1, 1, string_starts_with},
    {"endsWith", VALUE_STRING, 1, 1, string_ends_with},
    {"length", VALUE_STRING, 0, 0, string_length},
    {"size", VALUE_STRING, 0, 0, string_length},
    {"isEmpty", VALUE_STRING, 0, 0, string_is_empty},
    {"isBlank", VALUE_STRING, 0, 0, string_is_blank},
    {"toLowerCase", VALUE_STRING, 0, 0, string_lower},
    {"toUpperCase", VALUE_STRING, 0, 0, string_upper},
    {"equalsIgnoreCase", VALUE_STRING, 1, 1, string_equals_ignoring_case},
    {"trim", VALUE_STRING, 0, 0, string_trim},
    {"substring", VALUE_STRING, 1, 2, string_substring},
    {"charAt", VALUE_STRING, 1, 1, string_char_at},
    {"indexOf", VALUE_STRING, 1, 1, string_index_of},
    {"lastIndexOf", VALUE_STRING, 1, 1, string_last_index_of},
    {"concat", VALUE_STRING, 1, 1, string_concat},
    {"replace", VALUE_STRING, 2, 2, string_replace},
    {0},
};
