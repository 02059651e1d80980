/*
 * parse_variable.c: Flowable's functions of variables, `variables:equals(status, 'open')` (`vars`
 * and `var` are the same). The first argument is the name of a variable, with or without quotes;
 * one that is not there counts as null. Each becomes what JUEL has for it.
 */
#include "engine/expression/parse_variable.h"

#include "engine/expression/function.h"

enum { ARGUMENTS_MAX = 16 };

enum form {
    FORM_GET,
    FORM_DEFAULT,
    FORM_EXISTS,
    FORM_EMPTY,
    FORM_NOT_EMPTY,
    FORM_COMPARE,
    FORM_CONTAINS,
    FORM_CONTAINS_ANY,
    FORM_BASE64,
};

struct variable_function {
    const char *name;
    enum form form;
    enum expression_operator operator; /* of COMPARE */
    uint8_t minimum;                   /* arguments behind the variable */
    uint8_t maximum;
};

static const struct variable_function functions[] = {
    {"get", FORM_GET, OPERATOR_NONE, 0, 0},
    {"getOrDefault", FORM_DEFAULT, OPERATOR_NONE, 1, 1},
    {"exists", FORM_EXISTS, OPERATOR_NONE, 0, 0},
    {"exist", FORM_EXISTS, OPERATOR_NONE, 0, 0},
    {"isEmpty", FORM_EMPTY, OPERATOR_NONE, 0, 0},
    {"empty", FORM_EMPTY, OPERATOR_NONE, 0, 0},
    {"isNotEmpty", FORM_NOT_EMPTY, OPERATOR_NONE, 0, 0},
    {"notEmpty", FORM_NOT_EMPTY, OPERATOR_NONE, 0, 0},
    {"equals", FORM_COMPARE, OPERATOR_JUEL_EQUAL, 1, 1},
    {"eq", FORM_COMPARE, OPERATOR_JUEL_EQUAL, 1, 1},
    {"notEquals", FORM_COMPARE, OPERATOR_JUEL_UNEQUAL, 1, 1},
    {"ne", FORM_COMPARE, OPERATOR_JUEL_UNEQUAL, 1, 1},
    {"lowerThan", FORM_COMPARE, OPERATOR_JUEL_LESS, 1, 1},
    {"lessThan", FORM_COMPARE, OPERATOR_JUEL_LESS, 1, 1},
    {"lt", FORM_COMPARE, OPERATOR_JUEL_LESS, 1, 1},
    {"lowerThanOrEquals", FORM_COMPARE, OPERATOR_JUEL_LESS_EQUAL, 1, 1},
    {"lessThanOrEquals", FORM_COMPARE, OPERATOR_JUEL_LESS_EQUAL, 1, 1},
    {"lte", FORM_COMPARE, OPERATOR_JUEL_LESS_EQUAL, 1, 1},
    {"greaterThan", FORM_COMPARE, OPERATOR_JUEL_GREATER, 1, 1},
    {"gt", FORM_COMPARE, OPERATOR_JUEL_GREATER, 1, 1},
    {"greaterThanOrEquals", FORM_COMPARE, OPERATOR_JUEL_GREATER_EQUAL, 1, 1},
    {"gte", FORM_COMPARE, OPERATOR_JUEL_GREATER_EQUAL, 1, 1},
    {"contains", FORM_CONTAINS, OPERATOR_NONE, 1, ARGUMENTS_MAX},
    {"containsAny", FORM_CONTAINS_ANY, OPERATOR_NONE, 1, ARGUMENTS_MAX},
    {"base64", FORM_BASE64, OPERATOR_NONE, 0, 0},
};

static const struct variable_function *find_function(struct span name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (span_is(name, functions[i].name)) {
            return &functions[i];
        }
    }
    return NULL;
}

bool expression_juel_is_variable_function(const struct expression_parser *parser,
                                          struct span prefix)
{
    if (parser->token.kind != TOKEN_COLON ||
        (!span_is(prefix, "variables") && !span_is(prefix, "vars") && !span_is(prefix, "var"))) {
        return false;
    }
    struct expression_lexer ahead = parser->lexer;
    struct expression_token name = expression_lexer_next(&ahead);
    return name.is_word && find_function(name.text) != NULL &&
           expression_lexer_next(&ahead).kind == TOKEN_OPEN;
}

/* `execution.getVariable('name')` */
static const struct expression_node *variable(struct expression_parser *parser)
{
    struct expression_token token = parser->token;
    const struct expression_node *name;
    if (token.kind == TOKEN_STRING) {
        name = expression_parser_literal(parser);
    } else if (token.is_word) {
        expression_parser_take(parser);
        name = expression_parser_constant(parser, token.offset, expression_string(token.text));
    } else {
        return expression_parser_unexpected(parser, "the name of a variable");
    }
    const struct expression_node *children[] = {
        expression_parser_name(parser, NODE_JUEL_NAME, token.offset, span_text("execution")), name};
    struct expression_node *node =
        expression_parser_node(parser, NODE_JUEL_METHOD, token.offset, children, 2);
    if (node != NULL) {
        node->as.name.text = span_text("getVariable");
    }
    return node;
}

static const struct expression_node *compare(struct expression_parser *parser,
                                             enum expression_operator operator, uint32_t offset,
                                             const struct expression_node *left,
                                             const struct expression_node *right)
{
    const struct expression_node *children[] = {left, right};
    struct expression_applied *applied = arena_alloc(parser->arena, 2 * sizeof *applied);
    struct expression_node *node = expression_parser_node(parser, NODE_FOLD, offset, children, 2);
    if (node == NULL || applied == NULL) {
        return NULL; /* latched in the arena */
    }
    applied[0] = (struct expression_applied){OPERATOR_NONE, offset};
    applied[1] = (struct expression_applied){operator, offset };
    node->as.operators = applied;
    return node;
}

static const struct expression_node *call(struct expression_parser *parser, const char *function,
                                          uint32_t offset,
                                          const struct expression_node *const *children,
                                          uint32_t count)
{
    struct expression_node *node =
        expression_parser_node(parser, NODE_CALL, offset, children, count);
    if (node != NULL) {
        node->as.function = expression_function_find(span_text(function));
    }
    return node;
}

/* variable == null ? false : variable.contains(a) and variable.contains(b) … */
static const struct expression_node *contains(struct expression_parser *parser,
                                              enum expression_kind kind, uint32_t offset,
                                              const struct expression_node *of,
                                              const struct expression_nodes *values)
{
    struct expression_nodes found = {0};
    for (uint32_t i = 0; i < values->count; i++) {
        const struct expression_node *children[] = {of, values->items[i]};
        struct expression_node *node =
            expression_parser_node(parser, NODE_JUEL_METHOD, offset, children, 2);
        if (node != NULL) {
            node->as.name.text = span_text("contains");
        }
        expression_parser_add(parser, &found, node);
    }
    const struct expression_node *children[] = {
        compare(parser, OPERATOR_JUEL_EQUAL, offset, of,
                expression_parser_constant(parser, offset, expression_null())),
        expression_parser_constant(parser, offset, expression_boolean(false)),
        found.count == 1 ? found.items[0]
                         : expression_parser_node(parser, kind, offset, found.items, found.count),
    };
    return expression_parser_node(parser, NODE_JUEL_CHOICE, offset, children, 3);
}

static const struct expression_node *build(struct expression_parser *parser,
                                           const struct variable_function *function,
                                           uint32_t offset, const struct expression_node *of,
                                           const struct expression_nodes *values)
{
    const struct expression_node *children[] = {of, values->count > 0 ? values->items[0] : NULL};
    const struct expression_node *empty;
    switch (function->form) {
    case FORM_GET:
        return of;
    case FORM_DEFAULT:
        return call(parser, "get or else", offset, children, 2);
    case FORM_EXISTS:
        return compare(parser, OPERATOR_JUEL_UNEQUAL, offset, of,
                       expression_parser_constant(parser, offset, expression_null()));
    case FORM_EMPTY:
        return expression_parser_node(parser, NODE_JUEL_EMPTY, offset, &of, 1);
    case FORM_NOT_EMPTY:
        empty = expression_parser_node(parser, NODE_JUEL_EMPTY, offset, &of, 1);
        return expression_parser_node(parser, NODE_JUEL_NOT, offset, &empty, 1);
    case FORM_COMPARE:
        return compare(parser, function->operator, offset, of, values->items[0]);
    case FORM_CONTAINS:
        return contains(parser, NODE_JUEL_AND, offset, of, values);
    case FORM_CONTAINS_ANY:
        return contains(parser, NODE_JUEL_OR, offset, of, values);
    case FORM_BASE64:
        return call(parser, "to base64", offset, children, 1);
    }
    return NULL;
}

const struct expression_node *
expression_juel_parse_variable_function(struct expression_parser *parser, uint32_t offset)
{
    struct expression_nodes values = {0};
    expression_parser_take(parser); /* the colon */
    struct expression_token name = expression_parser_take(parser);
    const struct variable_function *function = find_function(name.text);
    expression_parser_expect(parser, TOKEN_OPEN, "\"(\"");
    const struct expression_node *of = variable(parser);
    while (expression_parser_accept(parser, TOKEN_COMMA) && values.count <= ARGUMENTS_MAX) {
        expression_parser_add(parser, &values, expression_parse_juel(parser));
    }
    expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
    if (parser->result != RESULT_OK) {
        return NULL;
    }
    if (values.count < function->minimum || values.count > function->maximum) {
        return expression_parser_fail(parser, RESULT_INVALID, name.offset,
                                      "%s takes a variable and %s%u argument%s", function->name,
                                      function->maximum > function->minimum ? "at least " : "",
                                      function->minimum, function->minimum == 1 ? "" : "s");
    }
    return build(parser, function, offset, of, &values);
}
