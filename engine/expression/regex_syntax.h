/* regex_syntax.h: a pattern as a tree, between regex_parse.c and regex_compile.c. Private to them.
 */
#ifndef ENGINE_EXPRESSION_REGEX_SYNTAX_H
#define ENGINE_EXPRESSION_REGEX_SYNTAX_H

#include "engine/expression/regex.h"

#define REGEX_NESTING_MAX 64u
#define REGEX_FOREVER     UINT32_MAX

enum regex_kind {
    REGEX_NODE_STEP,     /* one instruction: operation, point or set, number (REGEX_BACK) */
    REGEX_NODE_GROUP,    /* child, captured as `number`; 0: not captured */
    REGEX_NODE_REPEAT,   /* child, min to max times */
    REGEX_NODE_SEQUENCE, /* children */
    REGEX_NODE_CHOICE,   /* children */
};

struct regex_node {
    enum regex_kind kind;
    enum regex_operation operation;
    uint32_t point;
    uint32_t number;
    uint32_t min;
    uint32_t max;
    bool reluctant;
    const struct regex_set *set;
    struct regex_node *child; /* the first one */
    struct regex_node *next;  /* the next sibling */
};

struct regex_flags {
    bool dot_all;      /* s */
    bool multiline;    /* m */
    bool ignores_case; /* i */
    bool spaced;       /* x: white space outside of classes is not there */
    bool literal;      /* q: the pattern means itself */
};

/* The tree; NULL with *reason. */
struct regex_node *regex_parse(struct arena *arena, struct span pattern, struct regex_flags flags,
                               uint32_t *group_count, bool *has_back_references,
                               const char **reason);

#endif
