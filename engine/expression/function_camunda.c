/*
 * function_camunda.c: functions that Camunda 8 has beside those of DMN, for files made there. Not
 * among them: `uuid` and `random number`, since an evaluation gives the same each time.
 */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"

static bool pay_for_bytes(struct expression_evaluation *evaluation, size_t bytes)
{
    return expression_pay(evaluation, bytes / EXPRESSION_BYTES_PER_STEP);
}

static struct expression_value is_blank(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return expression_boolean(pay_for_bytes(evaluation, arguments[0].as.text.count) &&
                              span_trim(arguments[0].as.text).count == 0);
}

static bool holds(struct expression_evaluation *evaluation, const struct expression_builder *items,
                  struct expression_value item)
{
    for (uint32_t i = 0; i < items->count && expression_pay(evaluation, 1); i++) {
        if (expression_same(evaluation, items->items[i], item)) {
            return true;
        }
    }
    return false;
}

/* What stands in the list more than once, once. */
static struct expression_value duplicate_values(struct expression_evaluation *evaluation,
                                                const struct expression_value *arguments,
                                                uint32_t offset)
{
    struct expression_builder seen = {.arena = evaluation->arena};
    struct expression_builder doubles = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    (void)offset;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (!holds(evaluation, &seen, item)) {
            expression_builder_add(&seen, item);
        } else if (!holds(evaluation, &doubles, item)) {
            expression_builder_add(&doubles, item);
        }
    }
    return expression_builder_list(&doubles);
}

/* Lists of `size` items, the last of what is left. */
static struct expression_value partition(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder parts = {.arena = evaluation->arena};
    struct expression_builder part = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    int64_t size;
    if (!expression_number_truncate(arguments[1], &size) || size < 1) {
        return expression_warn(evaluation, offset, "the size of a part is at least 1");
    }
    while (expression_walk_next(&walk, &item) && expression_pay(evaluation, 1)) {
        expression_builder_add(&part, item);
        if (part.count == size) {
            expression_builder_add(&parts, expression_builder_list(&part));
            part = (struct expression_builder){.arena = evaluation->arena};
        }
    }
    if (part.count > 0) {
        expression_builder_add(&parts, expression_builder_list(&part));
    }
    return expression_builder_list(&parts);
}

static struct expression_value json_text(struct expression_evaluation *evaluation, struct span wire,
                                         uint32_t offset)
{
    struct span json;
    if (!pay_for_bytes(evaluation, wire.count)) {
        return expression_null();
    }
    if (json_from_wire(wire, JSON_COMPACT, evaluation->arena, &json) != RESULT_OK) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "too large or too deep for JSON");
    }
    return expression_string(json);
}

static struct expression_value to_json(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct span wire;
    if (expression_value_encode(arguments[0], evaluation->arena, &wire) != RESULT_OK) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "too large or too deep for JSON");
    }
    return json_text(evaluation, wire, offset);
}

static struct expression_value from_json(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct span text = arguments[0].as.text;
    struct span wire;
    struct json_error error;
    if (!pay_for_bytes(evaluation, text.count)) {
        return expression_null();
    }
    if (json_to_wire(text, LIMIT_DEPTH, evaluation->arena, &wire, &error) != RESULT_OK) {
        return expression_warn(evaluation, offset, "this string is no JSON");
    }
    return expression_value_of_wire(wire);
}

/* As JSON has bytes: base64 between quotes. */
static struct expression_value to_base64(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct wire_writer writer;
    struct span text = arguments[0].as.text;
    wire_writer_init(&writer, evaluation->arena, text.count + 8);
    wire_write_binary(&writer, text);
    struct expression_value json = json_text(evaluation, wire_writer_span(&writer), offset);
    if (json.type == VALUE_STRING && json.as.text.count >= 2) {
        json.as.text = span_of(json.as.text.bytes + 1, json.as.text.count - 2);
    }
    return json;
}

static struct expression_value assert_that(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    if (expression_is_true(arguments[1])) {
        return arguments[0];
    }
    struct span cause = arguments[2].type == VALUE_STRING
                            ? arguments[2].as.text
                            : span_text("what is asserted is not true");
    return expression_fail(evaluation, RESULT_INVALID, offset, "%.*s", SPAN_ARG(cause));
}

/* Its other parameters tell a language model what to give; here somebody has given it. */
static struct expression_value from_ai(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return arguments[0];
}

const struct expression_function expression_camunda_functions[] = {
    {"is blank", "s", 1, "string", is_blank},
    {"duplicate values", "l", 1, "list", duplicate_values},
    {"partition", "ln", 2, "list,size", partition},
    {"to base64", "s", 1, "value", to_base64},
    {"to json", "a", 1, "value", to_json},
    {"from json", "s", 1, "value", from_json},
    {"assert", "aaa", 2, "value,condition,cause", assert_that},
    {"fromAi", "aaaaa", 1, "value,description,type,schema,options", from_ai},
    {0},
};
