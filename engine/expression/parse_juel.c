/*
 * parse_juel.c: the grammar of the Unified Expression Language as JUEL reads it (JSR 245, EL 2.1
 * §1.17), which is what Camunda 7 and Flowable files are written in; method calls included, of
 * function namespaces Flowable's of variables.
 */
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "engine/expression/parse_variable.h"
#include "engine/expression/parser.h"

static const struct expression_node *unary(struct expression_parser *parser);

static const struct expression_binary binaries[] = {
    {TOKEN_OR, 0, NODE_JUEL_OR, OPERATOR_NONE, NULL},
    {TOKEN_AND, 1, NODE_JUEL_AND, OPERATOR_NONE, NULL},
    {TOKEN_EQUAL, 2, NODE_FOLD, OPERATOR_JUEL_EQUAL, NULL},
    {TOKEN_UNEQUAL, 2, NODE_FOLD, OPERATOR_JUEL_UNEQUAL, NULL},
    {TOKEN_LESS, 3, NODE_FOLD, OPERATOR_JUEL_LESS, NULL},
    {TOKEN_LESS_EQUAL, 3, NODE_FOLD, OPERATOR_JUEL_LESS_EQUAL, NULL},
    {TOKEN_GREATER, 3, NODE_FOLD, OPERATOR_JUEL_GREATER, NULL},
    {TOKEN_GREATER_EQUAL, 3, NODE_FOLD, OPERATOR_JUEL_GREATER_EQUAL, NULL},
    {TOKEN_JOIN, 4, NODE_FOLD, OPERATOR_JUEL_JOIN, NULL}, /* EL 3.0 §1.7 */
    {TOKEN_PLUS, 5, NODE_FOLD, OPERATOR_JUEL_ADD, NULL},
    {TOKEN_MINUS, 5, NODE_FOLD, OPERATOR_JUEL_SUBTRACT, NULL},
    {TOKEN_TIMES, 6, NODE_FOLD, OPERATOR_JUEL_MULTIPLY, NULL},
    {TOKEN_DIVIDE, 6, NODE_FOLD, OPERATOR_JUEL_DIVIDE, NULL},
    {TOKEN_REMAINDER, 6, NODE_FOLD, OPERATOR_JUEL_REMAINDER, NULL},
};

static const struct expression_grammar grammar = {
    .binaries = binaries,
    .binary_count = sizeof binaries / sizeof *binaries,
    .level_count = 7,
    .operand = unary,
};

/* condition ? a : b binds loosest and to the right. */
static const struct expression_node *choice(struct expression_parser *parser)
{
    const struct expression_node *children[3];
    children[0] = expression_parser_level(parser, &grammar, 0);
    uint32_t offset = parser->token.offset;
    if (!expression_parser_accept(parser, TOKEN_QUESTION)) {
        return children[0];
    }
    children[1] = expression_parse_juel(parser);
    expression_parser_expect(parser, TOKEN_COLON, "\":\"");
    children[2] = expression_parse_juel(parser);
    return expression_parser_node(parser, NODE_JUEL_CHOICE, offset, children, 3);
}

const struct expression_node *expression_parse_juel(struct expression_parser *parser)
{
    const struct expression_node *node = NULL;
    if (expression_parser_enter(parser)) {
        node = choice(parser);
    }
    expression_parser_leave(parser);
    return node;
}

/* now() and dateTime() of Camunda 7: the moment that FEEL's now() gives. */
static const struct expression_node *moment(struct expression_parser *parser, uint32_t offset)
{
    expression_parser_expect(parser, TOKEN_OPEN, "\"(\"");
    expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
    struct expression_node *node = expression_parser_node(parser, NODE_CALL, offset, NULL, 0);
    if (node != NULL) {
        node->as.function = expression_function_find(span_text("now"));
    }
    return node;
}

static const struct expression_node *name(struct expression_parser *parser)
{
    struct expression_token token = expression_parser_take(parser);
    if (expression_juel_is_variable_function(parser, token.text)) {
        return expression_juel_parse_variable_function(parser, token.offset);
    }
    if (parser->token.kind != TOKEN_OPEN) {
        return expression_parser_name(parser, NODE_JUEL_NAME, token.offset, token.text);
    }
    if (span_is(token.text, "now") || span_is(token.text, "dateTime")) {
        return moment(parser, token.offset);
    }
    static const char *const known[] = {"currentUser", "currentUserGroups", "S", "JSON", "XML"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (span_is(token.text, known[i])) {
            return expression_parser_fail(parser, RESULT_UNSUPPORTED, token.offset,
                                          "the function \"%s\" is not supported yet", known[i]);
        }
    }
    return expression_parser_fail(parser, RESULT_INVALID, token.offset, "unknown function \"%.*s\"",
                                  SPAN_ARG(token.text));
}

static const struct expression_node *primary(struct expression_parser *parser)
{
    const struct expression_node *node = expression_parser_literal(parser);
    if (node != NULL || parser->result != RESULT_OK) {
        return node;
    }
    if (parser->token.kind == TOKEN_NAME) {
        return name(parser);
    }
    if (expression_parser_accept(parser, TOKEN_OPEN)) {
        node = expression_parse_juel(parser);
        expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
        return node;
    }
    return expression_parser_unexpected(parser, "an expression");
}

/* Writing variables is a decision of the engine, not of an expression. */
static bool is_write(const struct expression_node *receiver, struct span method)
{
    static const char *const writes[] = {"setVariable", "setVariableLocal", "setVariables",
                                         "removeVariable", "removeVariables"};
    if (receiver == NULL || receiver->kind != NODE_JUEL_NAME) {
        return false;
    }
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        if (span_is(method, writes[i])) {
            return true;
        }
    }
    return false;
}

/* Behind "receiver.method(": the arguments. */
static const struct expression_node *method(struct expression_parser *parser,
                                            const struct expression_node *receiver,
                                            struct expression_token token)
{
    struct expression_nodes children = {0};
    if (is_write(receiver, token.text)) {
        return expression_parser_fail(parser, RESULT_UNSUPPORTED, token.offset,
                                      "%.*s in an expression is not supported yet",
                                      SPAN_ARG(token.text));
    }
    expression_parser_add(parser, &children, receiver);
    if (!expression_parser_accept(parser, TOKEN_CLOSE)) {
        do {
            expression_parser_add(parser, &children, expression_parse_juel(parser));
        } while (expression_parser_accept(parser, TOKEN_COMMA));
        expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
    }
    struct expression_node *node = expression_parser_node(parser, NODE_JUEL_METHOD, token.offset,
                                                          children.items, children.count);
    if (node != NULL) {
        node->as.name.text = token.text;
    }
    return node;
}

static const struct expression_node *member(struct expression_parser *parser,
                                            const struct expression_node *base, uint32_t offset)
{
    if (!parser->token.is_word) {
        return expression_parser_unexpected(parser, "a name after \".\"");
    }
    struct expression_token token = expression_parser_take(parser);
    if (expression_parser_accept(parser, TOKEN_OPEN)) {
        return method(parser, base, token);
    }
    const struct expression_node *children[] = {
        base, expression_parser_constant(parser, token.offset, expression_string(token.text))};
    return expression_parser_node(parser, NODE_JUEL_PROPERTY, offset, children, 2);
}

static const struct expression_node *postfix(struct expression_parser *parser)
{
    const struct expression_node *node = primary(parser);
    while (parser->result == RESULT_OK) {
        uint32_t offset = parser->token.offset;
        if (expression_parser_accept(parser, TOKEN_DOT)) {
            node = member(parser, node, offset);
        } else if (expression_parser_accept(parser, TOKEN_OPEN_LIST)) {
            const struct expression_node *children[] = {node, expression_parse_juel(parser)};
            expression_parser_expect(parser, TOKEN_CLOSE_LIST, "\"]\"");
            node = expression_parser_node(parser, NODE_JUEL_PROPERTY, offset, children, 2);
        } else {
            break;
        }
    }
    return node;
}

static const struct expression_node *negate(struct expression_parser *parser, uint32_t offset,
                                            const struct expression_node *child)
{
    if (child != NULL && child->kind == NODE_CONSTANT && child->as.constant.type == VALUE_NUMBER) {
        return expression_parser_constant(parser, offset,
                                          expression_number_negate(child->as.constant));
    }
    return expression_parser_node(parser, NODE_JUEL_NEGATE, offset, &child, 1);
}

static const struct expression_node *signed_operand(struct expression_parser *parser)
{
    struct expression_token sign = parser->token;
    if (sign.kind != TOKEN_MINUS && sign.kind != TOKEN_NOT && sign.kind != TOKEN_EMPTY) {
        return postfix(parser);
    }
    expression_parser_take(parser);
    const struct expression_node *child = unary(parser);
    if (sign.kind == TOKEN_MINUS) {
        return negate(parser, sign.offset, child);
    }
    enum expression_kind kind = sign.kind == TOKEN_NOT ? NODE_JUEL_NOT : NODE_JUEL_EMPTY;
    return expression_parser_node(parser, kind, sign.offset, &child, 1);
}

static const struct expression_node *unary(struct expression_parser *parser)
{
    const struct expression_node *node = NULL;
    if (expression_parser_enter(parser)) {
        node = signed_operand(parser);
    }
    expression_parser_leave(parser);
    return node;
}
