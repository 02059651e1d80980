/* function.c: finding built-in functions and their parameters by name. */
#include "engine/expression/function.h"

#include "proto/base/text.h"

#define SIMILAR_DISTANCE_MAX 2u

static const struct expression_function *const tables[] = {
    expression_number_functions,    expression_string_functions,  expression_list_functions,
    expression_aggregate_functions, expression_context_functions, expression_temporal_functions,
    expression_range_functions,     expression_regex_functions,   expression_order_functions,
    expression_camunda_functions,
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const struct expression_function *expression_function_find(struct span name)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        for (const struct expression_function *row = tables[i]; row->name != NULL; row++) {
            if (span_is(name, row->name)) {
                return row;
            }
        }
    }
    return NULL;
}

const struct expression_function *
expression_function_next(const struct expression_function *function)
{
    const struct expression_function *next = function + 1;
    return next->name != NULL && strcmp(next->name, function->name) == 0 ? next : NULL;
}

bool expression_function_takes(const struct expression_function *function, uint32_t count)
{
    size_t parameters = strlen(function->types);
    char last = parameters == 0 ? '\0' : function->types[parameters - 1];
    return count >= function->required && (last == '*' || last == '+' || count <= parameters);
}

int expression_function_parameter(const struct expression_function *function, struct span name)
{
    const char *next = function->parameters;
    for (int index = 0; *next != '\0'; index++) {
        size_t count = strcspn(next, ",");
        if (span_equal(span_of(next, count), name)) {
            return index;
        }
        next += count + (next[count] == ',');
    }
    return -1;
}

const char *expression_function_similar(struct span name)
{
    const char *similar = NULL;
    size_t least = SIMILAR_DISTANCE_MAX + 1;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        for (const struct expression_function *row = tables[i]; row->name != NULL; row++) {
            size_t distance = text_distance(name, span_text(row->name));
            if (distance < least && distance * 2 < name.count) {
                least = distance;
                similar = row->name;
            }
        }
    }
    return similar;
}
