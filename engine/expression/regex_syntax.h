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

#define REGEX_END_OF_TEXT UINT32_MAX

/* A pattern being read; after a fault it is at its end. */
struct regex_parser {
    struct arena *arena;
    struct span pattern;
    size_t at;
    struct regex_flags flags;
    unsigned nesting;
    uint32_t group_count; /* that have begun */
    bool closed[REGEX_GROUPS_MAX];
    bool has_back_references;
    const char *reason; /* the first fault */
};

/* Keeps the first fault. NULL. */
void *expression_regex_fail(struct regex_parser *parser, const char *reason);
bool expression_regex_is_space(uint32_t point);
/* The code point that is next, or REGEX_END_OF_TEXT. */
uint32_t expression_regex_peek(const struct regex_parser *parser);
uint32_t expression_regex_take(struct regex_parser *parser);
/* What "\\n" and the like stand for; false when the letter makes no such escape. */
bool expression_regex_single_escape(uint32_t letter, uint32_t *point);
/* An escape that means many code points, into a set; false when the letter makes none. */
bool expression_regex_class_escape(struct regex_parser *parser, uint32_t letter,
                                   struct regex_set *set);
/* Behind "["; NULL after a fault. */
struct regex_set *expression_regex_parse_class(struct regex_parser *parser);

/* The tree; NULL with *reason. */
struct regex_node *expression_regex_parse(struct arena *arena, struct span pattern,
                                          struct regex_flags flags, uint32_t *group_count,
                                          bool *has_back_references, const char **reason);

#endif
