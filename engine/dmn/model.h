/* model.h: a decision model as it is evaluated. Private to engine/dmn. */
#ifndef ENGINE_DMN_MODEL_H
#define ENGINE_DMN_MODEL_H

#include "engine/dmn/dmn.h"
#include "engine/expression/evaluate.h"

#define DMN_DECISIONS_MAX 1000u /* decisions and knowledge models of one file */
#define DMN_NAMES_MAX     4096u /* around one expression: each of its words is held against all */
#define DMN_CLAUSES_MAX   256u  /* inputs, or outputs, of one table */
#define DMN_RULES_MAX     50000u

enum dmn_hit_policy {
    DMN_UNIQUE,
    DMN_FIRST,
    DMN_PRIORITY,
    DMN_ANY,
    DMN_COLLECT,
    DMN_RULE_ORDER,
    DMN_OUTPUT_ORDER,
};

enum dmn_type_form {
    DMN_TYPE_ANY,
    DMN_TYPE_PLAIN,    /* of `plain` */
    DMN_TYPE_DURATION, /* of either kind */
    DMN_TYPE_LIST,     /* of `element` */
    DMN_TYPE_CONTEXT,  /* of the members, at least */
    DMN_TYPE_NAMED,    /* as `element` */
};

/* A declared type. Item definitions may be made of themselves, but not be themselves. */
struct dmn_type {
    enum dmn_type_form form;
    enum expression_type plain;
    const char *maker;              /* function of FEEL that makes it of a text; or NULL */
    const struct dmn_type *element; /* of a function: what it gives; NULL: anything */
    const struct span *names;       /* of members */
    const struct dmn_type *const *members;
    uint32_t member_count;
    const struct expression_node *allowed; /* unary tests; NULL: all values */
};

struct dmn_input {
    const struct expression_node *expression;
    const struct dmn_type *type; /* NULL: any, as everywhere */
};

struct dmn_output {
    struct span name; /* may be empty where there is one output only */
    const struct dmn_type *type;
    const struct expression_node *fallback; /* default output, or NULL */
    const struct expression_node
        *order; /* the list of its values, first the most wanted; or NULL */
};

struct dmn_rule {
    struct span id;                         /* or empty */
    const struct expression_node **tests;   /* by input; NULL: any value */
    const struct expression_node **outputs; /* by output; NULL: null */
};

struct dmn_table {
    struct span id; /* of its decision, for messages */
    enum dmn_hit_policy policy;
    const char *aggregation; /* function of FEEL: "sum", "min", "max", "count"; or NULL */
    struct dmn_input *inputs;
    struct dmn_output *outputs;
    struct dmn_rule *rules;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t rule_count;
};

/* Input data of a declared type. */
struct dmn_data {
    struct span name;
    const struct dmn_type *type;
};

/*
 * A decision service: a function of its input data and input decisions (DMN 1.4 §10.4), which
 * evaluates its output decisions and what these require short of the inputs.
 */
struct dmn_service {
    const struct engine_dmn *dmn;
    const uint32_t *outputs; /* places */
    uint32_t output_count;
    const uint32_t *inputs; /* places of input decisions: they are given, not evaluated */
    uint32_t input_count;
    const struct span *parameters; /* names of input data, then of input decisions */
    uint32_t parameter_count;
    const struct dmn_type *type; /* of its value */
    const bool *given;           /* by place: is it an input decision? */
    const bool *needed; /* by place: does an output rest on it? Those that are given among them */
};

/* A decision, a business knowledge model or a decision service. */
struct dmn_decision {
    struct span id;
    struct span name;
    struct span variable; /* under which others see its value */
    bool is_declared;     /* by a variable of its own; else its id and its outputs are names too */
    const struct dmn_type *type;
    bool is_knowledge;                   /* a function: `logic` is its literal */
    struct dmn_service *service;         /* a decision service, which is_knowledge too; or NULL */
    const struct expression_node *logic; /* NULL: not read yet */
    const struct dmn_table *table;       /* where `logic` is one; else NULL */
    const uint32_t *required;            /* places of what it requires, decisions and knowledge */
    uint32_t required_count;
    const struct dmn_data *data; /* that it requires, as far as a type is declared */
    uint32_t data_count;
};

struct engine_dmn {
    struct span id;
    struct span name;
    struct dmn_decision *decisions; /* in the file's order */
    uint32_t count;
    const uint32_t *order; /* places, each behind all that it requires */
};

/* One evaluation of a model; expression_evaluation.owner of all that is evaluated in it. */
struct dmn_run {
    const struct engine_dmn *dmn;
    uint32_t wanted;
    const bool *needed; /* by place */
    struct expression_value *values;
    struct engine_dmn_outcome *outcome;
};

/* The body of a knowledge model whose parameters or result are of declared types. */
struct dmn_body {
    const struct expression_node *logic;
    const struct dmn_data *parameters;
    uint32_t parameter_count;
    const struct dmn_type *type;
};

/* Marks what the needed ones require, and so on; `given` (or NULL) require nothing. */
void engine_dmn_mark_needed(const struct engine_dmn *dmn, const bool *given, bool *needed);
/* A custom node's function: parameters and result as they are declared. */
struct expression_value engine_dmn_body(struct expression_evaluation *evaluation, const void *body);
/* The value of a decision service whose parameters' frames stand around it: likewise. */
struct expression_value engine_dmn_serve(struct expression_evaluation *evaluation,
                                         const void *service);
/* The value of a table where its frames stand around it: a custom node's function. */
struct expression_value engine_dmn_table(struct expression_evaluation *evaluation,
                                         const void *table);
/* Is the value, read, of the type as it is, with nothing made of it? */
bool engine_dmn_conforms(struct expression_evaluation *evaluation, struct expression_value value,
                         const void *type);
/* The value as the declared type has it; null when it cannot be. */
struct expression_value engine_dmn_coerce(struct expression_evaluation *evaluation,
                                          const struct dmn_type *type,
                                          struct expression_value value);

#endif
