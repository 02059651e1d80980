/* model.h: a decision model as it is evaluated. Private to engine/dmn. */
#ifndef ENGINE_DMN_MODEL_H
#define ENGINE_DMN_MODEL_H

#include "engine/dmn/dmn.h"
#include "engine/expression/evaluate.h"

#define DMN_DECISIONS_MAX 1000u /* decisions and knowledge models of one file */
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

/* What a value is made of where it is not of the declared type yet. */
enum dmn_type {
    DMN_TYPE_ANY,
    DMN_TYPE_SCALAR, /* a list of one is its item */
    DMN_TYPE_DATE,   /* of a text, as for the next three */
    DMN_TYPE_TIME,
    DMN_TYPE_DATE_TIME,
    DMN_TYPE_DURATION,
};

struct dmn_input {
    const struct expression_node *expression;
    enum dmn_type type;
};

struct dmn_output {
    struct span name; /* may be empty where there is one output only */
    enum dmn_type type;
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

/* A decision or a business knowledge model. */
struct dmn_decision {
    struct span id;
    struct span name;
    struct span variable; /* under which others see its value */
    bool is_declared;     /* by a variable of its own; else its id and its outputs are names too */
    enum dmn_type type;
    bool is_knowledge;                   /* a function: `logic` is its literal */
    const struct expression_node *logic; /* NULL: not read yet */
    const struct dmn_table *table;       /* where `logic` is one; else NULL */
    const uint32_t *required;            /* places of what it requires, decisions and knowledge */
    uint32_t required_count;
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
    bool *needed;
    struct expression_value *values;
    struct engine_dmn_outcome *outcome;
};

/* The value of a table where its frames stand around it: a custom node's function. */
struct expression_value engine_dmn_table(struct expression_evaluation *evaluation,
                                         const void *table);
/* The value as the declared type has it; null when it cannot be. */
struct expression_value engine_dmn_coerce(struct expression_evaluation *evaluation,
                                          enum dmn_type type, struct expression_value value);

#endif
