/*
 * node.h: the syntax tree that all three dialects compile to. Lives in the definition's arena,
 * immutable once built.
 *
 * A kind is one way to evaluate (evaluate.c has the table). Where FEEL and JUEL mean different
 * things by the same sign, they have different kinds or operators, so evaluation never asks which
 * dialect it is in.
 */
#ifndef ENGINE_EXPRESSION_NODE_H
#define ENGINE_EXPRESSION_NODE_H

#include "engine/expression/expression.h"
#include "engine/expression/value.h"

/* name, evaluating function */
#define EXPRESSION_KINDS(X)                                                                        \
    X(CONSTANT, expression_constant)         /* as.constant */                                     \
    X(TEXT, expression_text)                 /* children, joined as text */                        \
    X(FOLD, expression_fold)                 /* children, from the left, by as.operators */        \
    X(CALL, expression_call)                 /* as.function; child NULL: argument not given */     \
    X(FEEL_NAME, expression_feel_name)       /* as.name */                                         \
    X(FEEL_PATH, expression_feel_path)       /* child . as.name */                                 \
    X(FEEL_FILTER, expression_feel_filter)   /* child [ child ] */                                 \
    X(FEEL_LIST, expression_feel_list)       /* children */                                        \
    X(FEEL_CONTEXT, expression_feel_context) /* children, as.keys */                               \
    X(FEEL_RANGE, expression_feel_range)     /* low, high (NULL: open), flags */                   \
    X(FEEL_AND, expression_feel_and)         /* children */                                        \
    X(FEEL_OR, expression_feel_or)           /* children */                                        \
    X(FEEL_NEGATE, expression_feel_negate)   /* child */                                           \
    X(FEEL_BETWEEN, expression_feel_between) /* child between child and child */                   \
    X(FEEL_IN, expression_feel_in)           /* child in children */                               \
    X(FEEL_TEST, expression_feel_test)       /* "= child" or "!= child" after `in` */              \
    X(FEEL_ASK, expression_feel_ask)         /* a unary test with "?" in it: passed when true */   \
    X(FEEL_UNARY, expression_feel_unary)     /* "?" passes one of children; NODE_NEGATED: none */  \
    X(FEEL_IF, expression_feel_if)           /* condition, then, else */                           \
    X(FEEL_FOR, expression_feel_for)         /* (low, high or NULL) per as.keys, then the body */  \
    X(FEEL_SOME, expression_feel_some)       /* the same */                                        \
    X(FEEL_EVERY, expression_feel_every)     /* the same */                                        \
    X(FEEL_INSTANCE, expression_feel_instance) /* child instance of as.type */                     \
    X(FEEL_FUNCTION, expression_feel_function) /* body, as.keys: the parameters */                 \
    X(FEEL_INVOKE, expression_feel_invoke)   /* callee, arguments; as.keys: their names, if any */ \
    X(FEEL_ZONED, expression_feel_zoned)     /* as.zoned: @"…" with a named zone */              \
    X(FEEL_DEFINED, expression_feel_defined) /* is defined(child) */                               \
    X(CUSTOM, expression_custom)             /* as.custom: made by another folder */               \
    X(JUEL_NAME, expression_juel_name)       /* as.name */                                         \
    X(JUEL_PROPERTY, expression_juel_property) /* child [ child ], child.name with a constant */   \
    X(JUEL_METHOD, expression_juel_method)     /* child . as.name (children) */                    \
    X(JUEL_AND, expression_juel_and)           /* children */                                      \
    X(JUEL_OR, expression_juel_or)             /* children */                                      \
    X(JUEL_NOT, expression_juel_not)           /* child */                                         \
    X(JUEL_NEGATE, expression_juel_negate)     /* child */                                         \
    X(JUEL_EMPTY, expression_juel_empty)       /* child */                                         \
    X(JUEL_CHOICE, expression_juel_choice)     /* condition ? child : child */

enum expression_kind {
#define EXPRESSION_KIND_NAME(name, function) NODE_##name,
    EXPRESSION_KINDS(EXPRESSION_KIND_NAME)
#undef EXPRESSION_KIND_NAME
        NODE_KIND_COUNT
};

/* name, function (struct expression_evaluation *, left, right, offset) */
#define EXPRESSION_OPERATORS(X)                                                                    \
    X(FEEL_ADD, expression_feel_add)                                                               \
    X(FEEL_SUBTRACT, expression_feel_subtract)                                                     \
    X(FEEL_MULTIPLY, expression_feel_multiply)                                                     \
    X(FEEL_DIVIDE, expression_feel_divide)                                                         \
    X(FEEL_POWER, expression_feel_power)                                                           \
    X(FEEL_EQUAL, expression_feel_equal)                                                           \
    X(FEEL_UNEQUAL, expression_feel_unequal)                                                       \
    X(FEEL_LESS, expression_feel_less)                                                             \
    X(FEEL_LESS_EQUAL, expression_feel_less_equal)                                                 \
    X(FEEL_GREATER, expression_feel_greater)                                                       \
    X(FEEL_GREATER_EQUAL, expression_feel_greater_equal)                                           \
    X(JUEL_JOIN, expression_juel_join)                                                             \
    X(JUEL_ADD, expression_juel_add)                                                               \
    X(JUEL_SUBTRACT, expression_juel_subtract)                                                     \
    X(JUEL_MULTIPLY, expression_juel_multiply)                                                     \
    X(JUEL_DIVIDE, expression_juel_divide)                                                         \
    X(JUEL_REMAINDER, expression_juel_remainder)                                                   \
    X(JUEL_EQUAL, expression_juel_equal)                                                           \
    X(JUEL_UNEQUAL, expression_juel_unequal)                                                       \
    X(JUEL_LESS, expression_juel_less)                                                             \
    X(JUEL_LESS_EQUAL, expression_juel_less_equal)                                                 \
    X(JUEL_GREATER, expression_juel_greater)                                                       \
    X(JUEL_GREATER_EQUAL, expression_juel_greater_equal)

enum expression_operator {
    OPERATOR_NONE, /* the first operand of a fold */
#define EXPRESSION_OPERATOR_NAME(name, function) OPERATOR_##name,
    EXPRESSION_OPERATORS(EXPRESSION_OPERATOR_NAME)
#undef EXPRESSION_OPERATOR_NAME
};

#define NODE_LOW_INCLUDED  1u
#define NODE_HIGH_INCLUDED 2u
#define NODE_UNEQUAL       4u
#define NODE_NEGATED       16u
#define NODE_MAY_BE_BUILT_IN                                                                       \
    8u /* a name where functions are handed on: unbound, it may be built in */

#define EXPRESSION_NO_SLOT UINT16_MAX

struct expression_type_tree;
struct expression_evaluation;

typedef struct expression_value (*expression_custom_fn)(struct expression_evaluation *evaluation,
                                                        const void *about);

struct expression_applied {
    enum expression_operator operator;
    uint32_t offset; /* of its sign in the source */
};

struct expression_node {
    enum expression_kind kind : 8;
    uint8_t flags;  /* NODE_… */
    uint16_t depth; /* 1 for a leaf */
    uint32_t offset;
    uint32_t count; /* children */
    const struct expression_node *const *children;
    union {
        struct expression_value constant;
        struct {
            struct span text;
            uint16_t slot; /* in the evaluation's cache of top-level names, or EXPRESSION_NO_SLOT */
        } name;
        const struct expression_applied *operators;
        struct {
            const struct span *texts;
            const struct expression_type_tree *const *types; /* of parameters; each may be NULL */
            uint32_t count;
        } keys;
        struct {
            const struct expression_value *moment; /* without its zone */
            struct span zone;
        } zoned;
        struct {
            expression_custom_fn evaluate;
            const void *about; /* what `evaluate` works on */
        } custom;
        const struct expression_function *function;
        const struct expression_type_tree *type;
    } as;
};

/* Top-level names whose first reading an evaluation keeps; names beyond are looked up each time. */
#define EXPRESSION_SLOTS_MAX 64u

struct engine_expression {
    struct span source;
    const struct expression_node *root;
    const struct span *slot_names;
    uint32_t slot_count;
    bool literal;
    enum engine_dialect
        dialect; /* FEEL or JUEL without a marker of its own; AUTO: the text tells */
};

#endif
