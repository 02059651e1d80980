/* parse_variable.h: Flowable's functions of variables in JUEL: `variables:get(name)` and its kin.
 */
#ifndef ENGINE_EXPRESSION_PARSE_VARIABLE_H
#define ENGINE_EXPRESSION_PARSE_VARIABLE_H

#include "engine/expression/parser.h"

/* Behind the name `prefix`: does a function of variables stand here? */
bool expression_juel_is_variable_function(const struct expression_parser *parser,
                                          struct span prefix);
/* At the colon of one. */
const struct expression_node *
expression_juel_parse_variable_function(struct expression_parser *parser, uint32_t offset);

#endif
