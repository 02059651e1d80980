/*
 * closure.h: functions as values: literals with the names that they see, and built-in functions.
 * Lives in the evaluation's arena.
 */
#ifndef ENGINE_EXPRESSION_CLOSURE_H
#define ENGINE_EXPRESSION_CLOSURE_H

#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"

#define EXPRESSION_LITERAL_PARAMETERS_MAX 32u

struct expression_closure {
    const struct expression_node *literal;      /* FEEL_FUNCTION, or NULL */
    const struct expression_frame *frame;       /* what stood around the literal, copied */
    const struct expression_function *function; /* where it is built in */
};

/* A name that means a built-in function where nothing else bears it; false when it means none. */
bool expression_closure_of_name(struct expression_evaluation *evaluation, struct span name,
                                struct expression_value *out);
/* Calls a function value; null with a warning when it does not take that many arguments. */
struct expression_value expression_invoke(struct expression_evaluation *evaluation,
                                          struct expression_value function,
                                          const struct expression_value *arguments, uint32_t count,
                                          uint32_t offset);

#endif
