/*
 * juel_method.c: the methods that files call on strings, lists, maps, numbers and the execution.
 *
 * DEVIATION(java String): indexes and lengths count code points, not UTF-16 units; they differ beyond the basic plane only.
 */
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "engine/expression/text.h"

#define ARGUMENTS_MAX 2u

struct invocation {
    struct expression_evaluation *evaluation;
    struct expression_value receiver; /* of the row's type */
    struct expression_value arguments[ARGUMENTS_MAX];
    uint32_t count;
    uint32_t offset;
};

typedef struct expression_value (*method_fn)(const struct invocation *call);

struct method {
    const char *name;
    enum expression_type receiver; /* ABSENT: any but null */
    uint8_t minimum;
    uint8_t maximum;
    method_fn call;
};

static struct span text_at(const struct invocation *call, uint32_t index)
{
    return expression_text_of(call->evaluation, call->arguments[index]);
}

/* An index into `count` places; false after a failure. */
static bool index_at(const struct invocation *call, uint32_t argument, size_t count, size_t *out)
{
    int64_t index;
    struct expression_value value = call->arguments[argument];
    if (value.type != VALUE_NUMBER || !expression_number_to_integer(value, &index) || index < 0 ||
        (uint64_t)index > count) {
        expression_fail(call->evaluation, RESULT_INVALID, call->offset, "index out of range");
        return false;
    }
    *out = (size_t)index;
    return true;
}

static struct expression_value position(struct span text, size_t byte)
{
    return expression_integer(byte == EXPRESSION_NOT_FOUND
                                  ? -1
                                  : (int64_t)expression_text_count(span_of(text.bytes, byte)));
}

static struct expression_value string_contains(const struct invocation *call)
{
    return expression_boolean(expression_text_find(call->receiver.as.text, text_at(call, 0)) !=
                              EXPRESSION_NOT_FOUND);
}

static struct expression_value string_starts_with(const struct invocation *call)
{
    struct span text = call->receiver.as.text;
    struct span start = text_at(call, 0);
    return expression_boolean(text.count >= start.count &&
                              span_equal(span_of(text.bytes, start.count), start));
}

static struct expression_value string_ends_with(const struct invocation *call)
{
    return expression_boolean(expression_text_ends_with(call->receiver.as.text, text_at(call, 0)));
}

static struct expression_value string_length(const struct invocation *call)
{
    return expression_integer((int64_t)expression_text_count(call->receiver.as.text));
}

static struct expression_value string_is_empty(const struct invocation *call)
{
    return expression_boolean(call->receiver.as.text.count == 0);
}

static struct expression_value string_is_blank(const struct invocation *call)
{
    return expression_boolean(span_trim(call->receiver.as.text).count == 0);
}

static struct expression_value string_lower(const struct invocation *call)
{
    return expression_string(
        expression_text_lower(call->evaluation->arena, call->receiver.as.text));
}

static struct expression_value string_upper(const struct invocation *call)
{
    return expression_string(
        expression_text_upper(call->evaluation->arena, call->receiver.as.text));
}

static struct expression_value string_equals_ignoring_case(const struct invocation *call)
{
    struct arena *arena = call->evaluation->arena;
    return expression_boolean(span_equal(expression_text_lower(arena, call->receiver.as.text),
                                         expression_text_lower(arena, text_at(call, 0))));
}

static struct expression_value string_trim(const struct invocation *call)
{
    return expression_string(span_trim(call->receiver.as.text));
}

static struct expression_value string_substring(const struct invocation *call)
{
    struct span text = call->receiver.as.text;
    size_t count = expression_text_count(text);
    size_t from;
    size_t to = count;
    if (!index_at(call, 0, count, &from) || (call->count == 2 && !index_at(call, 1, count, &to))) {
        return expression_null();
    }
    if (from > to) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    size_t start = expression_text_offset(text, from);
    return expression_string(
        span_of(text.bytes + start, expression_text_offset(text, to) - start));
}

static struct expression_value string_char_at(const struct invocation *call)
{
    struct span text = call->receiver.as.text;
    size_t index;
    size_t count = expression_text_count(text);
    if (!index_at(call, 0, count, &index)) {
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

static struct expression_value string_index_of(const struct invocation *call)
{
    struct span text = call->receiver.as.text;
    return position(text, expression_text_find(text, text_at(call, 0)));
}

static struct expression_value string_last_index_of(const struct invocation *call)
{
    struct span text = call->receiver.as.text;
    struct span part = text_at(call, 0);
    /* Looking from the end compares at each place: priced as that. */
    size_t steps = text.count * part.count / (16 * EXPRESSION_BYTES_PER_STEP);
    if (!expression_pay(call->evaluation, steps)) {
        return expression_null();
    }
    return position(text, expression_text_find_last(text, part));
}

static struct expression_value string_concat(const struct invocation *call)
{
    return expression_string(expression_text_concatenate(
        call->evaluation->arena, call->receiver.as.text, text_at(call, 0)));
}

static struct expression_value string_replace(const struct invocation *call)
{
    struct expression_buffer out = {.arena = call->evaluation->arena};
    struct span old = text_at(call, 0);
    struct span new = text_at(call, 1);
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

static struct expression_value container_size(const struct invocation *call)
{
    return expression_integer(call->receiver.count);
}

static struct expression_value container_is_empty(const struct invocation *call)
{
    return expression_boolean(call->receiver.count == 0);
}

static int64_t find_item(const struct invocation *call)
{
    struct expression_walk walk = expression_walk(call->receiver);
    struct expression_value item;
    for (int64_t index = 0; expression_walk_item(&walk, &item); index++) {
        if (expression_same(call->evaluation, item, call->arguments[0])) {
            return index;
        }
    }
    return -1;
}

static struct expression_value list_contains(const struct invocation *call)
{
    return expression_boolean(find_item(call) >= 0);
}

static struct expression_value list_index_of(const struct invocation *call)
{
    return expression_integer(find_item(call));
}

static struct expression_value list_get(const struct invocation *call)
{
    struct expression_value item = expression_null();
    size_t index;
    if (index_at(call, 0, call->receiver.count, &index) &&
        !expression_value_at(call->receiver, (uint32_t)index, &item)) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    return item;
}

static struct expression_value map_contains_key(const struct invocation *call)
{
    struct expression_value value;
    return expression_boolean(expression_value_find(call->receiver, text_at(call, 0), &value));
}

static struct expression_value map_get(const struct invocation *call)
{
    struct expression_value value;
    if (expression_value_find(call->receiver, text_at(call, 0), &value)) {
        return value;
    }
    return call->count == 2 ? call->arguments[1] : expression_null();
}

static struct expression_value map_members(const struct invocation *call, bool keys)
{
    struct expression_builder members = {.arena = call->evaluation->arena};
    struct expression_walk walk = expression_walk(call->receiver);
    struct expression_entry entry;
    while (expression_walk_entry(&walk, &entry) && expression_pay(call->evaluation, 1)) {
        expression_builder_add(&members, keys ? expression_string(entry.key) : entry.value);
    }
    return expression_builder_list(&members);
}

static struct expression_value map_keys(const struct invocation *call)
{
    return map_members(call, true);
}

static struct expression_value map_values(const struct invocation *call)
{
    return map_members(call, false);
}

static struct expression_value number_truncate(const struct invocation *call)
{
    struct expression_value whole = call->receiver;
    bool rounded = expression_number_round(call->receiver, 0, ROUND_DOWN, &whole);
    return rounded ? whole : call->receiver;
}

static struct expression_value itself(const struct invocation *call) { return call->receiver; }

static struct expression_value compare_to(const struct invocation *call)
{
    int order;
    if (!expression_order(call->receiver, call->arguments[0], &order)) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "cannot compare %s with %s",
                               expression_type_name(call->receiver.type),
                               expression_type_name(call->arguments[0].type));
    }
    return expression_integer((order > 0) - (order < 0));
}

static struct expression_value equals(const struct invocation *call)
{
    return expression_boolean(
        expression_same(call->evaluation, call->receiver, call->arguments[0]));
}

static struct expression_value to_string(const struct invocation *call)
{
    return expression_string(expression_text_of(call->evaluation, call->receiver));
}

static const struct method methods[] = {
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
    {"size", VALUE_LIST, 0, 0, container_size},
    {"isEmpty", VALUE_LIST, 0, 0, container_is_empty},
    {"contains", VALUE_LIST, 1, 1, list_contains},
    {"indexOf", VALUE_LIST, 1, 1, list_index_of},
    {"get", VALUE_LIST, 1, 1, list_get},
    {"size", VALUE_CONTEXT, 0, 0, container_size},
    {"isEmpty", VALUE_CONTEXT, 0, 0, container_is_empty},
    {"containsKey", VALUE_CONTEXT, 1, 1, map_contains_key},
    {"get", VALUE_CONTEXT, 1, 1, map_get},
    {"getOrDefault", VALUE_CONTEXT, 2, 2, map_get},
    {"keySet", VALUE_CONTEXT, 0, 0, map_keys},
    {"values", VALUE_CONTEXT, 0, 0, map_values},
    {"intValue", VALUE_NUMBER, 0, 0, number_truncate},
    {"longValue", VALUE_NUMBER, 0, 0, number_truncate},
    {"doubleValue", VALUE_NUMBER, 0, 0, itself},
    {"booleanValue", VALUE_BOOLEAN, 0, 0, itself},
    {"compareTo", VALUE_ABSENT, 1, 1, compare_to},
    {"equals", VALUE_ABSENT, 1, 1, equals},
    {"toString", VALUE_ABSENT, 0, 0, to_string},
};

/* `execution.getVariable('x')` and its kin: names, whatever the payload called "execution" holds. */
static bool call_execution(struct expression_evaluation *evaluation,
                           const struct expression_node *node, struct expression_value *out)
{
    const struct expression_node *receiver = node->children[0];
    struct span method = node->as.name.text;
    bool get = span_is(method, "getVariable") || span_is(method, "getVariableLocal");
    bool has = span_is(method, "hasVariable") || span_is(method, "hasVariableLocal");
    if (receiver->kind != NODE_JUEL_NAME || (!get && !has) || node->count != 2 ||
        (!span_is(receiver->as.name.text, "execution") && !span_is(receiver->as.name.text, "task"))) {
        return false;
    }
    struct expression_value name = expression_evaluate(evaluation, node->children[1]);
    bool known = expression_lookup_text(evaluation, expression_text_of(evaluation, name), out);
    if (has) {
        *out = expression_boolean(known);
    } else if (!known) {
        *out = expression_null();
    }
    return true;
}

struct expression_value expression_juel_method(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    struct expression_value value;
    struct span name = node->as.name.text;
    if (call_execution(evaluation, node, &value)) {
        return value;
    }
    struct invocation call = {
        .evaluation = evaluation,
        .receiver = expression_operand(evaluation, node->children[0]),
        .count = node->count - 1,
        .offset = node->offset,
    };
    for (uint32_t i = 0; i < call.count && i < ARGUMENTS_MAX; i++) {
        call.arguments[i] = expression_operand(evaluation, node->children[i + 1]);
    }
    size_t bytes = call.receiver.type == VALUE_STRING ? call.receiver.as.text.count
                   : call.receiver.is_wire            ? call.receiver.as.wire.count
                                                      : 0;
    if (!expression_pay(evaluation, bytes / EXPRESSION_BYTES_PER_STEP)) {
        return expression_null();
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        bool fits = method->receiver == call.receiver.type ||
                    (method->receiver == VALUE_ABSENT && call.receiver.type != VALUE_NULL);
        if (fits && call.count >= method->minimum && call.count <= method->maximum &&
            span_is(name, method->name)) {
            return method->call(&call);
        }
    }
    return expression_fail(evaluation, RESULT_INVALID, node->offset,
                           "%s has no method \"%.*s\" with %u argument%s",
                           expression_type_name(call.receiver.type), SPAN_ARG(name), call.count,
                           call.count == 1 ? "" : "s");
}
