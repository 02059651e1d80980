/* parse_feel.h: what the two halves of the FEEL parser share. Private to them. */
#ifndef ENGINE_EXPRESSION_PARSE_FEEL_H
#define ENGINE_EXPRESSION_PARSE_FEEL_H

#include "engine/expression/parser.h"

/*
 * A name at the next token, which must be a word: words that follow belong to it ("string length",
 * "Full Name"), joined by one space. Two names can never stand side by side otherwise, so this
 * needs no list of declared names.
 */
struct span expression_feel_take_name(struct expression_parser *parser);
/* A name where it is introduced: with all signs that names may hold (grammar rule 30), up to what
 * `end` is. */
struct span expression_feel_take_new_name(struct expression_parser *parser,
                                          enum expression_token_kind end);
/* What stands between the loosest and the tightest operator: the operands of arithmetic and
 * comparison. */
const struct expression_node *expression_feel_parse_sum(struct expression_parser *parser);
/* Behind NAME "(": arguments to the closing parenthesis; those of a built-in function are checked
 * against its parameters. */
const struct expression_node *expression_feel_parse_call(struct expression_parser *parser,
                                                         struct span name, uint32_t offset);
/* The same behind any other expression that gives a function. */
const struct expression_node *expression_feel_parse_invocation(struct expression_parser *parser,
                                                               const struct expression_node *callee,
                                                               uint32_t offset);
/* Is the name bound around this place, or declared to the compiler? */
bool expression_feel_is_declared(const struct expression_parser *parser, struct span name);
/* The same node, or, for a name, one that may also be a built-in function. */
const struct expression_node *expression_feel_function_name(struct expression_parser *parser,
                                                            const struct expression_node *node);
/* Behind "left instance": "of" and a type. */
const struct expression_node *expression_feel_parse_instance(struct expression_parser *parser,
                                                             const struct expression_node *left,
                                                             uint32_t offset);
/* `for`, `some`, `every`, `if`, contexts and `function`; their first token is next. */
const struct expression_node *expression_feel_parse_for(struct expression_parser *parser);
const struct expression_node *expression_feel_parse_if(struct expression_parser *parser);
const struct expression_node *expression_feel_parse_context(struct expression_parser *parser);
const struct expression_node *expression_feel_parse_function(struct expression_parser *parser);

#endif
