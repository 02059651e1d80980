/* juel_method.c: the methods that files call on lists, maps, numbers and the execution, and calling
 * them. */
#include "engine/expression/juel_method.h"

#include "engine/expression/number.h"

enum { GETTER_BYTES_MAX = 64 };

struct span expression_juel_text(const struct juel_invocation *call, uint32_t argument)
{
    return expression_text_of(call->evaluation, call->arguments[argument]);
}

bool expression_juel_index(const struct juel_invocation *call, uint32_t argument, size_t count,
                           size_t *out)
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

static struct expression_value container_size(const struct juel_invocation *call)
{
    return expression_integer(call->receiver.count);
}

static struct expression_value container_is_empty(const struct juel_invocation *call)
{
    return expression_boolean(call->receiver.count == 0);
}

static int64_t find_item(const struct juel_invocation *call)
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

static struct expression_value list_contains(const struct juel_invocation *call)
{
    return expression_boolean(find_item(call) >= 0);
}

static struct expression_value list_index_of(const struct juel_invocation *call)
{
    return expression_integer(find_item(call));
}

static struct expression_value list_contains_all(const struct juel_invocation *call)
{
    struct juel_invocation one = *call;
    struct expression_walk walk;
    if (call->arguments[0].type != VALUE_LIST) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "containsAll takes a list");
    }
    walk = expression_walk(call->arguments[0]);
    while (expression_walk_item(&walk, &one.arguments[0]) &&
           expression_pay(call->evaluation, 1 + call->receiver.count)) {
        if (find_item(&one) < 0) {
            return expression_boolean(false);
        }
    }
    return expression_boolean(true);
}

/* From the first index to before the second. */
static struct expression_value list_part(const struct juel_invocation *call)
{
    struct expression_builder part = {.arena = call->evaluation->arena};
    struct expression_walk walk = expression_walk(call->receiver);
    struct expression_value item;
    size_t from, to;
    if (!expression_juel_index(call, 0, call->receiver.count, &from) ||
        !expression_juel_index(call, 1, call->receiver.count, &to)) {
        return expression_null();
    }
    if (from > to) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    for (size_t i = 0; i < to && expression_walk_next(&walk, &item); i++) {
        if (i >= from && expression_pay(call->evaluation, 1)) {
            expression_builder_add(&part, item);
        }
    }
    return expression_builder_list(&part);
}

static struct expression_value list_get(const struct juel_invocation *call)
{
    struct expression_value item = expression_null();
    size_t index;
    if (expression_juel_index(call, 0, call->receiver.count, &index) &&
        !expression_value_at(call->receiver, (uint32_t)index, &item)) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "index out of range");
    }
    return item;
}

static struct expression_value map_contains_key(const struct juel_invocation *call)
{
    struct expression_value value;
    return expression_boolean(
        expression_value_find(call->receiver, expression_juel_text(call, 0), &value));
}

static struct expression_value map_get(const struct juel_invocation *call)
{
    struct expression_value value;
    if (expression_value_find(call->receiver, expression_juel_text(call, 0), &value)) {
        return value;
    }
    return call->count == 2 ? call->arguments[1] : expression_null();
}

static struct expression_value map_members(const struct juel_invocation *call, bool keys)
{
    struct expression_builder members = {.arena = call->evaluation->arena};
    struct expression_walk walk = expression_walk(call->receiver);
    struct expression_entry entry;
    while (expression_walk_entry(&walk, &entry) && expression_pay(call->evaluation, 1)) {
        expression_builder_add(&members, keys ? expression_string(entry.key) : entry.value);
    }
    return expression_builder_list(&members);
}

static struct expression_value map_keys(const struct juel_invocation *call)
{
    return map_members(call, true);
}

static struct expression_value map_values(const struct juel_invocation *call)
{
    return map_members(call, false);
}

static struct expression_value map_contains_value(const struct juel_invocation *call)
{
    struct juel_invocation members = *call;
    members.receiver = map_members(call, false);
    return list_contains(&members);
}

static struct expression_value number_truncate(const struct juel_invocation *call)
{
    struct expression_value whole = call->receiver;
    bool rounded = expression_number_round(call->receiver, 0, ROUND_DOWN, &whole);
    return rounded ? whole : call->receiver;
}

static struct expression_value itself(const struct juel_invocation *call)
{
    return call->receiver;
}

static struct expression_value compare_to(const struct juel_invocation *call)
{
    int order;
    if (!expression_order(call->evaluation, call->receiver, call->arguments[0], &order)) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "cannot compare %s with %s",
                               expression_type_name(call->receiver.type),
                               expression_type_name(call->arguments[0].type));
    }
    return expression_integer((order > 0) - (order < 0));
}

static struct expression_value equals(const struct juel_invocation *call)
{
    return expression_boolean(
        expression_same(call->evaluation, call->receiver, call->arguments[0]));
}

static struct expression_value to_string(const struct juel_invocation *call)
{
    return expression_string(expression_text_of(call->evaluation, call->receiver));
}

static const struct juel_method methods[] = {
    {"size", VALUE_LIST, 0, 0, container_size},
    {"isEmpty", VALUE_LIST, 0, 0, container_is_empty},
    {"contains", VALUE_LIST, 1, 1, list_contains},
    {"indexOf", VALUE_LIST, 1, 1, list_index_of},
    {"containsAll", VALUE_LIST, 1, 1, list_contains_all},
    {"subList", VALUE_LIST, 2, 2, list_part},
    {"get", VALUE_LIST, 1, 1, list_get},
    {"size", VALUE_CONTEXT, 0, 0, container_size},
    {"isEmpty", VALUE_CONTEXT, 0, 0, container_is_empty},
    {"containsValue", VALUE_CONTEXT, 1, 1, map_contains_value},
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
    {0},
};

static const struct juel_method *find_method(const struct juel_method *row,
                                             const struct juel_invocation *call, struct span name)
{
    for (; row->name != NULL; row++) {
        bool fits = row->receiver == call->receiver.type ||
                    (row->receiver == VALUE_ABSENT && call->receiver.type != VALUE_NULL);
        if (fits && call->count >= row->minimum && call->count <= row->maximum &&
            span_is(name, row->name)) {
            return row;
        }
    }
    return NULL;
}

static bool knows_itself(const struct expression_node *receiver)
{
    return receiver->kind == NODE_JUEL_NAME && (span_is(receiver->as.name.text, "execution") ||
                                                span_is(receiver->as.name.text, "task"));
}

bool expression_juel_attribute(struct expression_evaluation *evaluation,
                               const struct expression_node *receiver, struct span name,
                               struct expression_value *out)
{
    const struct engine_names *names = evaluation->names;
    if (!knows_itself(receiver) || names->attribute == NULL) {
        return false;
    }
    struct span found = names->attribute(names, receiver->as.name.text, name, evaluation->arena);
    *out = expression_unread(found);
    return found.count > 0;
}

/* `execution.getProcessInstanceId()`: a property by its getter. */
static bool call_getter(struct expression_evaluation *evaluation,
                        const struct expression_node *node, struct expression_value *out)
{
    struct span method = node->as.name.text;
    char name[GETTER_BYTES_MAX];
    if (node->count != 1 || method.count < 4 || method.count - 3 > sizeof name ||
        !span_starts_with(method, "get")) {
        return false;
    }
    size_t count = method.count - 3;
    memcpy(name, method.bytes + 3, count);
    name[0] = (char)(name[0] | 0x20); /* lower case */
    return expression_juel_attribute(evaluation, node->children[0],
                                     span_of((const uint8_t *)name, count), out);
}

/* `execution.getVariable('x')` and its kin: names, whatever the payload called "execution" holds.
 */
static bool call_execution(struct expression_evaluation *evaluation,
                           const struct expression_node *node, struct expression_value *out)
{
    const struct expression_node *receiver = node->children[0];
    struct span method = node->as.name.text;
    bool get = span_is(method, "getVariable") || span_is(method, "getVariableLocal");
    bool has = span_is(method, "hasVariable") || span_is(method, "hasVariableLocal");
    if ((!get && !has) || node->count != 2 || !knows_itself(receiver)) {
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
    if (call_execution(evaluation, node, &value) || call_getter(evaluation, node, &value)) {
        return value;
    }
    struct juel_invocation call = {
        .evaluation = evaluation,
        .receiver = expression_operand(evaluation, node->children[0]),
        .count = node->count - 1,
        .offset = node->offset,
        .name = name,
    };
    for (uint32_t i = 0; i < call.count && i < JUEL_ARGUMENTS_MAX; i++) {
        call.arguments[i] = expression_operand(evaluation, node->children[i + 1]);
    }
    size_t bytes = call.receiver.type == VALUE_STRING ? call.receiver.as.text.count
                   : call.receiver.is_wire            ? call.receiver.as.wire.count
                                                      : 0;
    if (!expression_pay(evaluation, bytes / EXPRESSION_BYTES_PER_STEP)) {
        return expression_null();
    }
    const struct juel_method *method = find_method(expression_string_methods, &call, name);
    method = method == NULL ? find_method(expression_pattern_methods, &call, name) : method;
    method = method == NULL ? find_method(expression_moment_methods, &call, name) : method;
    method = method == NULL ? find_method(methods, &call, name) : method;
    method = method == NULL ? find_method(expression_result_methods, &call, name) : method;
    if (method != NULL) {
        return method->call(&call);
    }
    return expression_fail(evaluation, RESULT_INVALID, node->offset,
                           "%s has no method \"%.*s\" with %u argument%s",
                           expression_type_name(call.receiver.type), SPAN_ARG(name), call.count,
                           call.count == 1 ? "" : "s");
}
