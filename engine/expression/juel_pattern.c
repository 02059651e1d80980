/*
 * juel_pattern.c: the methods of strings that take regular expressions. Patterns are those of
 * XPath, which FEEL has; what files write in Java's means the same there.
 *
 * DEVIATION(java String): a pattern that matches nothing at all splits and replaces nowhere: it
 * fails.
 */
#include "engine/expression/function.h"
#include "engine/expression/juel_method.h"

/* What is null in FEEL, and why, is a failure here. */
static struct expression_value apply(const struct juel_invocation *call, const char *name,
                                     const struct expression_value *values, uint32_t count)
{
    const struct expression_function *function = expression_function_find(span_text(name));
    struct expression_value result =
        expression_call_function(call->evaluation, function, values, count, call->offset);
    if (result.type == VALUE_NULL && call->evaluation->result == RESULT_OK) {
        const char *why = call->evaluation->error.message;
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset, "%s",
                               why == NULL ? "this is no pattern" : why);
    }
    return result;
}

/* The whole text must match. */
static struct expression_value string_matches(const struct juel_invocation *call)
{
    struct span pattern = arena_format(call->evaluation->arena, "^(?:%.*s)$",
                                       SPAN_ARG(expression_juel_text(call, 0)));
    const struct expression_value values[] = {call->receiver, expression_string(pattern)};
    return apply(call, "matches", values, 2);
}

static struct expression_value string_replace_all(const struct juel_invocation *call)
{
    const struct expression_value values[] = {call->receiver,
                                              expression_string(expression_juel_text(call, 0)),
                                              expression_string(expression_juel_text(call, 1))};
    return apply(call, "replace", values, 3);
}

/* As in Java, what is empty at the end is left out. */
static struct expression_value string_split(const struct juel_invocation *call)
{
    const struct expression_value values[] = {call->receiver,
                                              expression_string(expression_juel_text(call, 0))};
    struct expression_value parts = apply(call, "split", values, 2);
    struct expression_value last;
    while (parts.type == VALUE_LIST && parts.count > 1 &&
           expression_value_at(parts, parts.count - 1, &last) && last.type == VALUE_STRING &&
           last.as.text.count == 0) {
        parts.count--;
    }
    return parts;
}

const struct juel_method expression_pattern_methods[] = {
    {"matches", VALUE_STRING, 1, 1, string_matches},
    {"replaceAll", VALUE_STRING, 2, 2, string_replace_all},
    {"split", VALUE_STRING, 1, 1, string_split},
    {0},
};
