/* function_number.c: FEEL's functions of numbers and booleans (DMN 1.5 §10.3.4.2, §10.3.4.5). */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"

static struct expression_value undefined(struct expression_evaluation *evaluation, uint32_t offset)
{
    return expression_warn(evaluation, offset, "the result of this function is undefined");
}

static struct expression_value rounded(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset,
                                       enum expression_rounding rounding)
{
    int64_t scale = 0;
    struct expression_value value = expression_integer(0);
    if (arguments[1].type == VALUE_NUMBER &&
        (!expression_number_round(arguments[1], 0, ROUND_DOWN, &value) ||
         !expression_number_to_integer(value, &scale))) {
        return undefined(evaluation, offset);
    }
    return expression_number_round(arguments[0], scale, rounding, &value)
               ? value
               : undefined(evaluation, offset);
}

#define ROUNDING_FUNCTION(name, rounding)                                                          \
    static struct expression_value name(struct expression_evaluation *evaluation,                  \
                                        const struct expression_value *arguments, uint32_t offset) \
    {                                                                                              \
        return rounded(evaluation, arguments, offset, rounding);                                   \
    }
ROUNDING_FUNCTION(decimal, ROUND_HALF_EVEN)
ROUNDING_FUNCTION(floor_of, ROUND_FLOOR)
ROUNDING_FUNCTION(ceiling_of, ROUND_CEILING)
ROUNDING_FUNCTION(round_up, ROUND_UP)
ROUNDING_FUNCTION(round_down, ROUND_DOWN)
ROUNDING_FUNCTION(round_half_up, ROUND_HALF_UP)
ROUNDING_FUNCTION(round_half_down, ROUND_HALF_DOWN)
#undef ROUNDING_FUNCTION

/* Of a number or a duration. */
static struct expression_value absolute(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value value = arguments[0];
    if (value.type == VALUE_NUMBER) {
        return expression_number_sign(value) < 0 ? expression_number_negate(value) : value;
    }
    if (value.type == VALUE_MONTHS || value.type == VALUE_DURATION) {
        return expression_temporal_is_negative(value) ? expression_temporal_negate(value) : value;
    }
    return expression_warn(evaluation, offset, "argument 1 of abs is %s",
                           expression_type_name(value.type));
}

static struct expression_value modulo(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value value;
    return expression_number_modulo(arguments[0], arguments[1], &value)
               ? value
               : undefined(evaluation, offset);
}

static struct expression_value square_root(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_value value;
    return expression_number_sqrt(arguments[0], &value) ? value : undefined(evaluation, offset);
}

static struct expression_value exponential(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_value value;
    return expression_number_exp(arguments[0], &value) ? value : undefined(evaluation, offset);
}

static struct expression_value logarithm(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value value;
    return expression_number_log(arguments[0], &value) ? value : undefined(evaluation, offset);
}

static struct expression_value parity(struct expression_evaluation *evaluation,
                                      struct expression_value number, uint32_t offset, int64_t rest)
{
    struct expression_value value;
    if (!expression_number_modulo(number, expression_integer(2), &value)) {
        return undefined(evaluation, offset);
    }
    return expression_boolean(expression_number_compare(value, expression_integer(rest)) == 0);
}

static struct expression_value is_even(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    return parity(evaluation, arguments[0], offset, 0);
}

static struct expression_value is_odd(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    return parity(evaluation, arguments[0], offset, 1);
}

/* A separator argument: absent and null are none; false when it is none of `allowed`. */
static bool separator(struct expression_value argument, const char *allowed, uint8_t *out)
{
    *out = 0;
    if (argument.type == VALUE_ABSENT || argument.type == VALUE_NULL) {
        return true;
    }
    if (argument.type != VALUE_STRING || argument.as.text.count != 1) {
        return false;
    }
    *out = argument.as.text.bytes[0];
    return strchr(allowed, *out) != NULL;
}

/* number(from, grouping separator, decimal separator): the text as a literal, once the separators
 * are gone. */
static struct expression_value to_number(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct span text = arguments[0].as.text;
    uint8_t grouping;
    uint8_t point;
    if (!separator(arguments[1], " .,", &grouping) || !separator(arguments[2], ".,", &point) ||
        (grouping != 0 && grouping == point)) {
        return expression_warn(evaluation, offset, "these separators cannot be");
    }
    uint8_t *plain = arena_alloc(evaluation->arena, text.count);
    size_t count = 0;
    for (size_t i = 0; plain != NULL && i < text.count; i++) {
        uint8_t byte = text.bytes[i];
        if (grouping != 0 && byte == grouping) {
            continue;
        }
        if (point == ',' && byte == '.') {
            return expression_warn(evaluation, offset, "this string is no number");
        }
        plain[count++] = point != 0 && byte == point ? '.' : byte;
    }
    struct expression_value number;
    if (plain == NULL || !expression_number_parse(span_of(plain, count), &number)) {
        return expression_warn(evaluation, offset, "this string is no number");
    }
    return number;
}

static struct expression_value negation(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_boolean(!arguments[0].as.boolean);
}

/* is(a, b): the same value of the same kind, dates and times in all their parts. An argument that
 * is not given is null. */
static struct expression_value is_same(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value a =
        arguments[0].type == VALUE_ABSENT ? expression_null() : arguments[0];
    struct expression_value b =
        arguments[1].type == VALUE_ABSENT ? expression_null() : arguments[1];
    if (arguments[0].type == VALUE_ABSENT && arguments[1].type == VALUE_ABSENT) {
        return expression_warn(evaluation, offset, "is() lacks its arguments");
    }
    if (a.type == b.type && expression_is_temporal(a)) {
        return expression_boolean(expression_temporal_is(a, b));
    }
    return expression_boolean(expression_same(evaluation, a, b));
}

const struct expression_function expression_number_functions[] = {
    {"decimal", "nn", 2, "n,scale", decimal},
    {"floor", "nn", 1, "n,scale", floor_of},
    {"ceiling", "nn", 1, "n,scale", ceiling_of},
    {"round up", "nn", 2, "n,scale", round_up},
    {"round down", "nn", 2, "n,scale", round_down},
    {"round half up", "nn", 2, "n,scale", round_half_up},
    {"round half down", "nn", 2, "n,scale", round_half_down},
    {"abs", "v", 1, "number", absolute},
    {"abs", "v", 1, "n", absolute},
    {"modulo", "nn", 2, "dividend,divisor", modulo},
    {"sqrt", "n", 1, "number", square_root},
    {"exp", "n", 1, "number", exponential},
    {"log", "n", 1, "number", logarithm},
    {"even", "n", 1, "number", is_even},
    {"odd", "n", 1, "number", is_odd},
    {"number", "svv", 1, "from,grouping separator,decimal separator", to_number},
    {"not", "b", 1, "negand", negation},
    {"is", "aa", 0, "value1,value2", is_same},
    {0},
};
