/*
 * parser.h: what the three parsers share: tokens, errors, nodes, and operators by levels of
 * precedence.
 *
 * The first error wins and ends the input: every later token is TOKEN_END and every later node
 * NULL, so only whoever loops over something else than tokens needs to look at `result`.
 */
#ifndef ENGINE_EXPRESSION_PARSER_H
#define ENGINE_EXPRESSION_PARSER_H

#include "engine/expression/lexer.h"
#include "engine/expression/node.h"
#include "proto/base/arena.h"

/* A name that is bound around the place being parsed: a loop variable, parameter, key or declared
 * name. */
struct expression_local {
    const struct expression_local *outer;
    struct span name;
};

struct expression_parser {
    struct arena *arena;
    struct expression_lexer lexer;
    struct expression_token token; /* the next one, not taken yet */
    unsigned depth;                /* of nested expressions being parsed */
    enum result result;
    struct engine_expression_error error;
    struct span slot_names[EXPRESSION_SLOTS_MAX];
    uint16_t slot_count;
    bool asks;     /* the name "?" was read */
    bool slotless; /* top-level names are looked up each time, by their text */
    const struct expression_local *locals; /* innermost first */
    const struct engine_declarations *declarations;
};

struct expression_nodes {
    const struct expression_node **items;
    uint32_t count;
    uint32_t capacity;
};

typedef const struct expression_node *(*expression_parse_fn)(struct expression_parser *parser);
/* An operator with a syntax of its own, its sign already taken; `left` is what stands before it. */
typedef const struct expression_node *(*expression_parse_rest_fn)(
    struct expression_parser *parser, const struct expression_node *left, uint32_t offset);

struct expression_binary {
    enum expression_token_kind sign;
    uint8_t level;                     /* 0 binds loosest */
    enum expression_kind kind;         /* FOLD, or a kind that takes all operands of its level */
    enum expression_operator operator; /* for FOLD */
    expression_parse_rest_fn rest;     /* or NULL */
};

struct expression_grammar {
    const struct expression_binary *binaries;
    size_t binary_count;
    unsigned level_count;
    expression_parse_fn operand; /* what the tightest operator stands between */
};

/* One expression at the parser's place; the token after it is left. NULL after an error. */
const struct expression_node *expression_parse_feel(struct expression_parser *parser);
/* A list of tests, to the end of the source. */
const struct expression_node *expression_parse_unary_tests(struct expression_parser *parser);
const struct expression_node *expression_parse_juel(struct expression_parser *parser);
/*
 * A text with expressions in it: JUEL in "${…}" and "#{…}", FEEL in "{{…}}". A single expression
 * with nothing but white space around it is that expression, else the parts make a string.
 */
const struct expression_node *expression_parse_text(struct expression_parser *parser,
                                                    enum expression_syntax syntax);

/* Goes on from a byte of the source in the given syntax. */
void expression_parser_seek(struct expression_parser *parser, size_t offset,
                            enum expression_syntax syntax);
/* Takes the token that is next and returns it. */
struct expression_token expression_parser_take(struct expression_parser *parser);
bool expression_parser_accept(struct expression_parser *parser, enum expression_token_kind kind);
/* The same, or the error `expected WHAT but found …`. */
bool expression_parser_expect(struct expression_parser *parser, enum expression_token_kind kind,
                              const char *what);
/* `expected WHAT but found …` at the next token. Returns NULL, as the next one does. */
const struct expression_node *expression_parser_unexpected(struct expression_parser *parser,
                                                           const char *what);
const struct expression_node *expression_parser_fail(struct expression_parser *parser,
                                                     enum result result, uint32_t offset,
                                                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Binds a name; whoever opens a scope sets `locals` back behind it. */
void expression_parser_bind(struct expression_parser *parser, struct span name);
bool expression_parser_is_bound(const struct expression_parser *parser, struct span name);
/* Counts nesting; false when LIMIT_EXPRESSION_DEPTH is met. Pair: leave. */
bool expression_parser_enter(struct expression_parser *parser);
void expression_parser_leave(struct expression_parser *parser);

/* A node with room for `as`; NULL after an error or in a full arena. Children are copied. */
struct expression_node *expression_parser_node(struct expression_parser *parser,
                                               enum expression_kind kind, uint32_t offset,
                                               const struct expression_node *const *children,
                                               uint32_t count);
const struct expression_node *expression_parser_constant(struct expression_parser *parser,
                                                         uint32_t offset,
                                                         struct expression_value constant);
/* A name node of the given kind, with its slot. */
const struct expression_node *expression_parser_name(struct expression_parser *parser,
                                                     enum expression_kind kind, uint32_t offset,
                                                     struct span text);
/* The literal at the next token (a number, string, true, false, null), or NULL when there is none.
 */
const struct expression_node *expression_parser_literal(struct expression_parser *parser);
void expression_parser_add(struct expression_parser *parser, struct expression_nodes *nodes,
                           const struct expression_node *node);
/* Operators from `level` on. */
const struct expression_node *expression_parser_level(struct expression_parser *parser,
                                                      const struct expression_grammar *grammar,
                                                      unsigned level);

#endif
