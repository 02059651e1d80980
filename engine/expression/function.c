/* function.c: finding built-in functions and their parameters by name. */
#include "engine/expression/function.h"

#include "proto/base/text.h"

#define SIMILAR_DISTANCE_MAX 2u

static const struct expression_function *const tables[] = {
    expression_number_functions,    expression_string_functions,  expression_list_functions,
    expression_aggregate_functions, expression_context_functions,
};

/* Of DMN 1.5 §10.3.4, not evaluated yet. */
static const char *const planned[] = {
    "date",
    "time",
    "date and time",
    "duration",
    "years and months duration",
    "now",
    "today",
    "day of year",
    "day of week",
    "month of year",
    "week of year",
    "before",
    "after",
    "meets",
    "met by",
    "overlaps",
    "overlaps before",
    "overlaps after",
    "finishes",
    "finished by",
    "includes",
    "during",
    "starts",
    "started by",
    "coincides",
    "matches",
    "replace",
    "split",
    "sort",
    "list replace",
    "range",
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

bool expression_function_is_planned(struct span name)
{
    for (size_t i = 0; i < COUNT_OF(planned); i++) {
        if (span_is(name, planned[i])) {
            return true;
        }
    }
    return false;
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
