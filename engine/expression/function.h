/*
 * function.h: the built-in functions of FEEL, as rows of a table: name, parameters, what they do.
 */
#ifndef ENGINE_EXPRESSION_FUNCTION_H
#define ENGINE_EXPRESSION_FUNCTION_H

#include "engine/expression/value.h"

struct expression_evaluation;

#define EXPRESSION_PARAMETERS_MAX 5u

/* `arguments` has one value per parameter, read and of its type, ABSENT where an optional one was
 * not given. */
typedef struct expression_value (*expression_function_fn)(struct expression_evaluation *evaluation,
                                                          const struct expression_value *arguments,
                                                          uint32_t offset);

struct expression_function {
    const char *name;
    /*
     * One letter a parameter: s string, n number, b boolean, l list, c context, f function, d date
     * or date and time (null for any of
     * these makes the result null; a list of one item stands for its item, any value for the list
     * of it), v any value, null included, a list of one standing for its item, a anything. The last
     * may be '*': one list, or any number of values that make one; '+': any number of values.
     */
    const char *types;
    uint8_t required;       /* parameters that must be given */
    const char *parameters; /* their names, separated by commas */
    expression_function_fn call;
};

/* NULL when there is no such function. A function that can be called in several ways has a row for
 * each, side by side. */
const struct expression_function *expression_function_find(struct span name);
/* The next way to call it, or NULL. */
const struct expression_function *
expression_function_next(const struct expression_function *function);
/* Can it be called with that many arguments? */
bool expression_function_takes(const struct expression_function *function, uint32_t count);
/* Index of the parameter with that name, or -1. */
int expression_function_parameter(const struct expression_function *function, struct span name);
/* The name nearest to a mistyped one, or NULL. */
const char *expression_function_similar(struct span name);

/* A position from 1, or from the end when negative, without its fraction, to an index from 0; false
 * when there is no such item. */
bool expression_list_index(struct expression_value position, uint32_t count, uint32_t *index);

/* The tables, each ended by a row without a name. */
extern const struct expression_function expression_camunda_functions[];
extern const struct expression_function expression_number_functions[];
extern const struct expression_function expression_string_functions[];
extern const struct expression_function expression_list_functions[];
extern const struct expression_function expression_aggregate_functions[];
extern const struct expression_function expression_context_functions[];
extern const struct expression_function expression_temporal_functions[];
extern const struct expression_function expression_range_functions[];
extern const struct expression_function expression_regex_functions[];
extern const struct expression_function expression_order_functions[];

#endif
