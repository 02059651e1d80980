/*
 * evaluate.h: one evaluation, and the functions that give each kind of node and each operator its
 * meaning.
 *
 * Failure: expression_fail latches a result and stops the step counter, so every later step returns
 * null at once and the stack unwinds by itself; loops look at `result`. FEEL does not fail, it
 * warns: null, and the first warning is kept.
 */
#ifndef ENGINE_EXPRESSION_EVALUATE_H
#define ENGINE_EXPRESSION_EVALUATE_H

#include "engine/expression/expression.h"
#include "engine/expression/node.h"
#include "engine/expression/value.h"

struct expression_function;

/* Names that an expression itself introduces, innermost first; frames live on the evaluator's
 * stack. */
struct expression_frame {
    const struct expression_frame *parent;
    struct span
        name; /* of a loop variable, "item" in a filter, or empty: only the entries of `value` */
    bool is_open; /* the entries of `value`, where it is a context, are names too */
    struct expression_value value; /* read, if open */
};

/* The top-level names of an expression, each asked for once at most. */
struct expression_slots {
    struct span values[EXPRESSION_SLOTS_MAX]; /* empty: unknown */
    uint64_t asked;                           /* a bit for each */
};

_Static_assert(EXPRESSION_SLOTS_MAX <= 64, "a bit for each slot");

struct expression_evaluation {
    const struct engine_expression *expression;
    const struct engine_names *names;
    struct arena *arena;
    const struct expression_frame *frame;
    struct expression_slots *slots;
    uint32_t steps_left;
    unsigned call_depth; /* of the bodies of function literals that are being evaluated, in all */
    unsigned lenient;    /* inside JUEL's `empty`: unknown names are null */
    void *owner;         /* of custom nodes: what they share all through the evaluation */
    enum result result;
    struct engine_expression_error error; /* first failure, or first warning */
};

#define EXPRESSION_BYTES_PER_STEP 256u /* bytes looked through count as one step */

/* Private to the next: latches why. False. */
bool expression_cannot_pay(struct expression_evaluation *evaluation);
/* Takes steps from the budget; false (and RESULT_LIMIT) when it is used up, false after any
 * failure. */
static inline bool expression_pay(struct expression_evaluation *evaluation, size_t steps)
{
    if (__builtin_expect(steps < evaluation->steps_left && !evaluation->arena->overflowed, 1)) {
        evaluation->steps_left -= (uint32_t)steps;
        return true;
    }
    return expression_cannot_pay(evaluation);
}
/* Null, and a warning where there was none before. */
struct expression_value expression_warn(struct expression_evaluation *evaluation, uint32_t offset,
                                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Null, and the end of this evaluation. */
struct expression_value expression_fail(struct expression_evaluation *evaluation,
                                        enum result result, uint32_t offset, const char *format,
                                        ...) __attribute__((format(printf, 4, 5)));

/* Behind a failure: says where it was, before the reason ("rule 3: …"). */
void expression_blame(struct expression_evaluation *evaluation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A node's value, perhaps unread; read. */
struct expression_value expression_evaluate(struct expression_evaluation *evaluation,
                                            const struct expression_node *node);
static inline struct expression_value expression_operand(struct expression_evaluation *evaluation,
                                                         const struct expression_node *node)
{
    return expression_value_read(expression_evaluate(evaluation, node));
}
/* Value of a name in frames, then at the top level; false when unknown. */
bool expression_lookup(struct expression_evaluation *evaluation, const struct expression_node *name,
                       struct expression_value *out);
/* The same for a name that is only known now. */
bool expression_lookup_text(struct expression_evaluation *evaluation, struct span name,
                            struct expression_value *out);

enum expression_truth { TRUTH_FALSE, TRUTH_TRUE, TRUTH_UNKNOWN };

static inline struct expression_value expression_truth(enum expression_truth truth)
{
    return truth == TRUTH_UNKNOWN ? expression_null() : expression_boolean(truth == TRUTH_TRUE);
}

/* Whether a node holds: UNKNOWN when its value is no boolean. */
enum expression_truth expression_holds(struct expression_evaluation *evaluation,
                                       const struct expression_node *node);
/* A FOLD, operand by operand. */
struct expression_value expression_fold_values(struct expression_evaluation *evaluation,
                                               const struct expression_node *node);

/* FEEL equality (DMN 1.5 table 42): values of two kinds are neither equal nor unequal. */
enum expression_truth expression_equal(struct expression_evaluation *evaluation,
                                       struct expression_value a, struct expression_value b);
/* Equal, and nothing else: what list functions ask. */
bool expression_same(struct expression_evaluation *evaluation, struct expression_value a,
                     struct expression_value b);
/* Order of two numbers, strings, or dates, times or durations of one kind; false when they have
 * none. */
bool expression_order(struct expression_evaluation *evaluation, struct expression_value a,
                      struct expression_value b, int *order);
/* Is the value in the range? */
enum expression_truth expression_in_range(struct expression_evaluation *evaluation,
                                          struct expression_value value,
                                          const struct expression_range *range);

/* Text of a value inside other text: null is "", a list or context is JSON. */
struct span expression_text_of(struct expression_evaluation *evaluation,
                               struct expression_value value);
/* Text by FEEL's string(): [1, "a"], {key: null}. */
struct span expression_feel_text_of(struct expression_evaluation *evaluation,
                                    struct expression_value value);
struct span expression_number_text(struct expression_evaluation *evaluation,
                                   struct expression_value number);

/* A built-in function with values, read; one that is not given is ABSENT. */
struct expression_value expression_call_function(struct expression_evaluation *evaluation,
                                                 const struct expression_function *function,
                                                 const struct expression_value *values,
                                                 uint32_t count, uint32_t offset);
/* The zone of that name; NULL with a warning when nobody knows it. */
const struct expression_zone *expression_find_zone(struct expression_evaluation *evaluation,
                                                   struct span name, uint32_t offset);
/* Evaluates in names that stand around the expression; the value may live in the arena or in what
 * `frame` refers to. */
MUST_USE enum result expression_evaluate_in(const struct engine_expression *expression,
                                            const struct engine_names *names,
                                            const struct expression_frame *frame,
                                            struct arena *arena, struct expression_value *out,
                                            struct engine_expression_error *error);

#define EXPRESSION_DECLARE_KIND(name, function)                                                    \
    struct expression_value function(struct expression_evaluation *evaluation,                     \
                                     const struct expression_node *node);
EXPRESSION_KINDS(EXPRESSION_DECLARE_KIND)
#undef EXPRESSION_DECLARE_KIND

#define EXPRESSION_DECLARE_OPERATOR(name, function)                                                \
    struct expression_value function(struct expression_evaluation *evaluation,                     \
                                     struct expression_value a, struct expression_value b,         \
                                     uint32_t offset);
EXPRESSION_OPERATORS(EXPRESSION_DECLARE_OPERATOR)
#undef EXPRESSION_DECLARE_OPERATOR

#endif
