/* function_string.c: FEEL's functions of strings (DMN 1.5 §10.3.4.3); positions count code points
 * from 1. */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "engine/expression/text.h"

/* Long texts cost more; false ends the evaluation. */
static bool pay_for(struct expression_evaluation *evaluation, struct expression_value text)
{
    return expression_pay(evaluation, text.as.text.count / EXPRESSION_BYTES_PER_STEP);
}

static struct expression_value to_string(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return arguments[0].type == VALUE_NULL
               ? expression_null()
               : expression_string(expression_feel_text_of(evaluation, arguments[0]));
}

static struct expression_value length(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return pay_for(evaluation, arguments[0])
               ? expression_integer((int64_t)expression_text_count(arguments[0].as.text))
               : expression_null();
}

static struct expression_value upper_case(struct expression_evaluation *evaluation,
                                          const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return pay_for(evaluation, arguments[0])
               ? expression_string(expression_text_upper(evaluation->arena, arguments[0].as.text))
               : expression_null();
}

static struct expression_value lower_case(struct expression_evaluation *evaluation,
                                          const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return pay_for(evaluation, arguments[0])
               ? expression_string(expression_text_lower(evaluation->arena, arguments[0].as.text))
               : expression_null();
}

static struct expression_value trim(struct expression_evaluation *evaluation,
                                    const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_string(span_trim(arguments[0].as.text));
}

static struct expression_value substring(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    int64_t start;
    int64_t wanted = INT64_MAX;
    struct span text = arguments[0].as.text;
    if (!pay_for(evaluation, arguments[0])) {
        return expression_null();
    }
    int64_t count = (int64_t)expression_text_count(text);
    bool has_length = arguments[2].type == VALUE_NUMBER;
    if (!expression_number_truncate(arguments[1], &start) || start == 0 || start < -count ||
        (has_length && (!expression_number_truncate(arguments[2], &wanted) || wanted < 1))) {
        return expression_warn(evaluation, offset, "position or length out of range");
    }
    int64_t from = start > 0 ? start - 1 : count + start;
    if (from > count) {
        return expression_string(SPAN_EMPTY);
    }
    int64_t taken = wanted < count - from ? wanted : count - from;
    size_t begin = expression_text_offset(text, (size_t)from);
    struct span rest = span_of(text.bytes + begin, text.count - begin);
    return expression_string(span_of(rest.bytes, expression_text_offset(rest, (size_t)taken)));
}

static struct expression_value substring_before(struct expression_evaluation *evaluation,
                                                const struct expression_value *arguments,
                                                uint32_t offset)
{
    struct span text = arguments[0].as.text;
    (void)offset;
    if (!pay_for(evaluation, arguments[0])) {
        return expression_null();
    }
    size_t at = expression_text_find(text, arguments[1].as.text);
    return expression_string(at == EXPRESSION_NOT_FOUND ? SPAN_EMPTY : span_of(text.bytes, at));
}

static struct expression_value substring_after(struct expression_evaluation *evaluation,
                                               const struct expression_value *arguments,
                                               uint32_t offset)
{
    struct span text = arguments[0].as.text;
    (void)offset;
    if (!pay_for(evaluation, arguments[0])) {
        return expression_null();
    }
    size_t at = expression_text_find(text, arguments[1].as.text);
    if (at == EXPRESSION_NOT_FOUND) {
        return expression_string(SPAN_EMPTY);
    }
    at += arguments[1].as.text.count;
    return expression_string(span_of(text.bytes + at, text.count - at));
}

static struct expression_value contains(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    (void)offset;
    return expression_boolean(pay_for(evaluation, arguments[0]) &&
                              expression_text_find(arguments[0].as.text, arguments[1].as.text) !=
                                  EXPRESSION_NOT_FOUND);
}

static struct expression_value starts_with(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct span text = arguments[0].as.text;
    struct span start = arguments[1].as.text;
    (void)evaluation;
    (void)offset;
    return expression_boolean(text.count >= start.count &&
                              span_equal(span_of(text.bytes, start.count), start));
}

static struct expression_value ends_with(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_boolean(
        expression_text_ends_with(arguments[0].as.text, arguments[1].as.text));
}

/* Null items and a null delimiter count as nothing; an item that is no string makes the result
 * null. */
static struct expression_value join(struct expression_evaluation *evaluation,
                                    const struct expression_value *arguments, uint32_t offset)
{
    struct expression_buffer joined = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    bool delimited = arguments[1].type == VALUE_STRING;
    if (!delimited && arguments[1].type != VALUE_ABSENT && arguments[1].type != VALUE_NULL) {
        return expression_warn(evaluation, offset, "the delimiter is no string");
    }
    bool first = true;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (item.type == VALUE_NULL) {
            continue;
        }
        if (item.type != VALUE_STRING) {
            return expression_warn(evaluation, offset, "cannot join %s",
                                   expression_type_name(item.type));
        }
        if (!first && delimited) {
            expression_buffer_add(&joined, arguments[1].as.text);
        }
        expression_buffer_add(&joined, item.as.text);
        first = false;
    }
    return expression_string(expression_buffer_span(&joined));
}

/* As Camunda has it: between a prefix and a suffix. */
static struct expression_value join_between(struct expression_evaluation *evaluation,
                                            const struct expression_value *arguments,
                                            uint32_t offset)
{
    struct expression_value joined = join(evaluation, arguments, offset);
    if (joined.type != VALUE_STRING) {
        return joined;
    }
    struct expression_buffer whole = {.arena = evaluation->arena};
    expression_buffer_add(&whole, arguments[2].as.text);
    expression_buffer_add(&whole, joined.as.text);
    expression_buffer_add(&whole, arguments[3].as.text);
    return expression_string(expression_buffer_span(&whole));
}

const struct expression_function expression_string_functions[] = {
    {"string", "a", 1, "from", to_string},
    {"string length", "s", 1, "string", length},
    {"upper case", "s", 1, "string", upper_case},
    {"lower case", "s", 1, "string", lower_case},
    {"trim", "s", 1, "string", trim},
    {"substring", "snn", 2, "string,start position,length", substring},
    {"substring before", "ss", 2, "string,match", substring_before},
    {"substring after", "ss", 2, "string,match", substring_after},
    {"contains", "ss", 2, "string,match", contains},
    {"starts with", "ss", 2, "string,match", starts_with},
    {"ends with", "ss", 2, "string,match", ends_with},
    {"string join", "lv", 1, "list,delimiter", join},
    {"string join", "lass", 4, "list,delimiter,prefix,suffix", join_between},
    {0},
};
