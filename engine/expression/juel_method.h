/* juel_method.h: what the tables of methods share. Private to juel_*.c. */
#ifndef ENGINE_EXPRESSION_JUEL_METHOD_H
#define ENGINE_EXPRESSION_JUEL_METHOD_H

#include "engine/expression/evaluate.h"

#define JUEL_ARGUMENTS_MAX 2u

struct juel_invocation {
    struct expression_evaluation *evaluation;
    struct expression_value receiver; /* of the row's type */
    struct expression_value arguments[JUEL_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t offset;
    struct span name; /* of the method */
};

typedef struct expression_value (*juel_method_fn)(const struct juel_invocation *call);

struct juel_method {
    const char *name;
    enum expression_type receiver; /* ABSENT: any but null */
    uint8_t minimum;
    uint8_t maximum;
    juel_method_fn call;
};

/* An argument as text. */
struct span expression_juel_text(const struct juel_invocation *call, uint32_t argument);
/* An argument as an index into `count` places, `count` itself included; false after a failure. */
bool expression_juel_index(const struct juel_invocation *call, uint32_t argument, size_t count,
                           size_t *out);

/* What `execution` or `task` knows of itself, where the receiver is that; false when it is not, or
 * knows no such thing. */
bool expression_juel_attribute(struct expression_evaluation *evaluation,
                               const struct expression_node *receiver, struct span name,
                               struct expression_value *out);
/* Methods of strings that take patterns, ended likewise. */
extern const struct juel_method expression_pattern_methods[];
/* Methods of moments, ended likewise. */
extern const struct juel_method expression_moment_methods[];
/* Methods of decision results, ended likewise. */
extern const struct juel_method expression_result_methods[];
/* Methods of strings, ended by a row without a name. */
extern const struct juel_method expression_string_methods[];

#endif
