/* parse_feel.c: names, operators and operands of FEEL (DMN 1.5 §10.3.1.2). Its longer forms are in
 * parse_form.c. */
#include "engine/expression/parse_feel.h"

#include "engine/expression/number.h"
#include "engine/expression/temporal.h"

#define LEVEL_SUM 3u

static const struct expression_node *operand(struct expression_parser *parser);
static const struct expression_node *between(struct expression_parser *parser,
                                             const struct expression_node *left, uint32_t offset);
static const struct expression_node *in(struct expression_parser *parser,
                                        const struct expression_node *left, uint32_t offset);

static const struct expression_binary binaries[] = {
    {TOKEN_OR, 0, NODE_FEEL_OR, OPERATOR_NONE, NULL},
    {TOKEN_AND, 1, NODE_FEEL_AND, OPERATOR_NONE, NULL},
    {TOKEN_EQUAL, 2, NODE_FOLD, OPERATOR_FEEL_EQUAL, NULL},
    {TOKEN_UNEQUAL, 2, NODE_FOLD, OPERATOR_FEEL_UNEQUAL, NULL},
    {TOKEN_LESS, 2, NODE_FOLD, OPERATOR_FEEL_LESS, NULL},
    {TOKEN_LESS_EQUAL, 2, NODE_FOLD, OPERATOR_FEEL_LESS_EQUAL, NULL},
    {TOKEN_GREATER, 2, NODE_FOLD, OPERATOR_FEEL_GREATER, NULL},
    {TOKEN_GREATER_EQUAL, 2, NODE_FOLD, OPERATOR_FEEL_GREATER_EQUAL, NULL},
    {TOKEN_BETWEEN, 2, NODE_FEEL_BETWEEN, OPERATOR_NONE, between},
    {TOKEN_IN, 2, NODE_FEEL_IN, OPERATOR_NONE, in},
    {TOKEN_INSTANCE, 2, NODE_FEEL_INSTANCE, OPERATOR_NONE, expression_feel_parse_instance},
    {TOKEN_PLUS, LEVEL_SUM, NODE_FOLD, OPERATOR_FEEL_ADD, NULL},
    {TOKEN_MINUS, LEVEL_SUM, NODE_FOLD, OPERATOR_FEEL_SUBTRACT, NULL},
    {TOKEN_TIMES, 4, NODE_FOLD, OPERATOR_FEEL_MULTIPLY, NULL},
    {TOKEN_DIVIDE, 4, NODE_FOLD, OPERATOR_FEEL_DIVIDE, NULL},
    {TOKEN_POWER, 5, NODE_FOLD, OPERATOR_FEEL_POWER, NULL},
};

static const struct expression_grammar grammar = {
    .binaries = binaries,
    .binary_count = sizeof binaries / sizeof *binaries,
    .level_count = 6,
    .operand = operand,
};

const struct expression_node *expression_parse_feel(struct expression_parser *parser)
{
    const struct expression_node *node = NULL;
    if (expression_parser_enter(parser)) {
        node = expression_parser_level(parser, &grammar, 0);
    }
    expression_parser_leave(parser);
    return node;
}

const struct expression_node *expression_feel_parse_sum(struct expression_parser *parser)
{
    return expression_parser_level(parser, &grammar, LEVEL_SUM);
}

static const struct expression_node *between(struct expression_parser *parser,
                                             const struct expression_node *left, uint32_t offset)
{
    const struct expression_node *low = expression_feel_parse_sum(parser);
    expression_parser_expect(parser, TOKEN_AND, "\"and\"");
    const struct expression_node *high = expression_feel_parse_sum(parser);
    const struct expression_node *children[] = {left, low, high};
    return expression_parser_node(parser, NODE_FEEL_BETWEEN, offset, children, 3);
}

static const struct expression_node *range(struct expression_parser *parser, uint32_t offset,
                                           const struct expression_node *low,
                                           const struct expression_node *high, unsigned flags)
{
    const struct expression_node *children[] = {low, high};
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_RANGE, offset, children, 2);
    if (node != NULL) {
        node->flags = (uint8_t)flags;
    }
    return node;
}

/* Behind "low ..": the high end and its bracket. */
static const struct expression_node *rest_of_range(struct expression_parser *parser,
                                                   uint32_t offset,
                                                   const struct expression_node *low,
                                                   unsigned flags)
{
    const struct expression_node *high = expression_feel_parse_sum(parser);
    if (parser->token.kind == TOKEN_CLOSE_LIST) {
        flags |= NODE_HIGH_INCLUDED;
    } else if (parser->token.kind != TOKEN_CLOSE && parser->token.kind != TOKEN_OPEN_LIST) {
        return expression_parser_unexpected(parser, "\")\" or \"]\" at the end of the range");
    }
    expression_parser_take(parser);
    return range(parser, offset, low, high, flags);
}

/* "< 10", ">= x", "= x", "!= x", if one is next: a range with an open end, or a test. */
static const struct expression_node *unary_test(struct expression_parser *parser)
{
    struct expression_token sign = parser->token;
    bool equal = sign.kind == TOKEN_EQUAL || sign.kind == TOKEN_UNEQUAL;
    bool below = sign.kind == TOKEN_LESS || sign.kind == TOKEN_LESS_EQUAL;
    bool above = sign.kind == TOKEN_GREATER || sign.kind == TOKEN_GREATER_EQUAL;
    if (!equal && !below && !above) {
        return NULL;
    }
    expression_parser_take(parser);
    const struct expression_node *end = expression_feel_parse_sum(parser);
    if (below) {
        return range(parser, sign.offset, NULL, end,
                     sign.kind == TOKEN_LESS_EQUAL ? NODE_HIGH_INCLUDED : 0);
    }
    if (above) {
        return range(parser, sign.offset, end, NULL,
                     sign.kind == TOKEN_GREATER_EQUAL ? NODE_LOW_INCLUDED : 0);
    }
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_TEST, sign.offset, &end, 1);
    if (node != NULL && sign.kind == TOKEN_UNEQUAL) {
        node->flags = NODE_UNEQUAL;
    }
    return node;
}

/* Behind "in": one test, or several in parentheses ("(2..4]" begins with one too, and is a range).
 */
static const struct expression_node *in(struct expression_parser *parser,
                                        const struct expression_node *left, uint32_t offset)
{
    struct expression_nodes nodes = {0};
    struct expression_token first = parser->token;
    expression_parser_add(parser, &nodes, left);
    const struct expression_node *test = unary_test(parser);
    if (test == NULL && !expression_parser_accept(parser, TOKEN_OPEN)) {
        test = expression_feel_parse_sum(parser);
    }
    if (test != NULL || parser->result != RESULT_OK) {
        expression_parser_add(parser, &nodes, test);
        return expression_parser_node(parser, NODE_FEEL_IN, offset, nodes.items, nodes.count);
    }
    do {
        test = unary_test(parser);
        test = test == NULL ? expression_parse_feel(parser) : test;
        if (nodes.count == 1 && expression_parser_accept(parser, TOKEN_DOTS)) {
            test = rest_of_range(parser, first.offset, test, 0);
            expression_parser_add(parser, &nodes, test);
            return expression_parser_node(parser, NODE_FEEL_IN, offset, nodes.items, nodes.count);
        }
        expression_parser_add(parser, &nodes, test);
    } while (expression_parser_accept(parser, TOKEN_COMMA));
    expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
    return expression_parser_node(parser, NODE_FEEL_IN, offset, nodes.items, nodes.count);
}

/* One test of a cell: a sign and an operand, or an expression, perhaps with "?" in it. */
static const struct expression_node *cell_test(struct expression_parser *parser)
{
    parser->asks = false;
    const struct expression_node *test = unary_test(parser);
    if (test != NULL || parser->result != RESULT_OK) {
        return test;
    }
    test = expression_parse_feel(parser);
    return parser->asks && test != NULL
               ? expression_parser_node(parser, NODE_FEEL_ASK, test->offset, &test, 1)
               : test;
}

/* Is this "not(…)" to the very end? */
static bool accept_not(struct expression_parser *parser)
{
    struct expression_lexer ahead = parser->lexer;
    if (parser->token.kind != TOKEN_NAME || !span_is(parser->token.text, "not") ||
        expression_lexer_next(&ahead).kind != TOKEN_OPEN) {
        return false;
    }
    expression_parser_take(parser);
    expression_parser_take(parser);
    return true;
}

const struct expression_node *expression_parse_unary_tests(struct expression_parser *parser)
{
    struct expression_nodes nodes = {0};
    struct expression_lexer ahead = parser->lexer;
    bool dash =
        parser->token.kind == TOKEN_MINUS && expression_lexer_next(&ahead).kind == TOKEN_END;
    if (dash || (parser->token.kind == TOKEN_END && parser->result == RESULT_OK)) {
        return expression_parser_constant(parser, 0, expression_boolean(true));
    }
    uint32_t offset = parser->token.offset;
    bool negated = accept_not(parser);
    expression_parser_add(parser, &nodes,
                          expression_parser_name(parser, NODE_FEEL_NAME, offset, span_text("?")));
    do {
        expression_parser_add(parser, &nodes, cell_test(parser));
    } while (expression_parser_accept(parser, TOKEN_COMMA));
    if (negated) {
        expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
    }
    if (parser->token.kind != TOKEN_END) {
        return expression_parser_unexpected(parser, "\",\" or the end");
    }
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_UNARY, offset, nodes.items, nodes.count);
    if (node != NULL && negated) {
        node->flags = NODE_NEGATED;
    }
    return node;
}

static const struct expression_node *parenthesised(struct expression_parser *parser)
{
    uint32_t offset = expression_parser_take(parser).offset;
    const struct expression_node *node = unary_test(parser);
    if (node == NULL) {
        node = expression_parse_feel(parser);
        if (expression_parser_accept(parser, TOKEN_DOTS)) {
            return rest_of_range(parser, offset, node, 0);
        }
    }
    expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
    return node;
}

static const struct expression_node *list_or_range(struct expression_parser *parser)
{
    struct expression_nodes items = {0};
    uint32_t offset = expression_parser_take(parser).offset;
    if (!expression_parser_accept(parser, TOKEN_CLOSE_LIST)) {
        do {
            const struct expression_node *item = expression_parse_feel(parser);
            if (items.count == 0 && expression_parser_accept(parser, TOKEN_DOTS)) {
                return rest_of_range(parser, offset, item, NODE_LOW_INCLUDED);
            }
            expression_parser_add(parser, &items, item);
        } while (expression_parser_accept(parser, TOKEN_COMMA));
        expression_parser_expect(parser, TOKEN_CLOSE_LIST, "\"]\"");
    }
    return expression_parser_node(parser, NODE_FEEL_LIST, offset, items.items, items.count);
}

/* "]1..5]": an open low end. */
static const struct expression_node *open_range(struct expression_parser *parser)
{
    uint32_t offset = expression_parser_take(parser).offset;
    const struct expression_node *low = expression_feel_parse_sum(parser);
    expression_parser_expect(parser, TOKEN_DOTS, "\"..\"");
    return rest_of_range(parser, offset, low, 0);
}

static const struct expression_node *name_or_call(struct expression_parser *parser)
{
    uint32_t offset = parser->token.offset;
    struct span name = expression_feel_take_name(parser);
    if (expression_parser_accept(parser, TOKEN_OPEN)) {
        return expression_feel_parse_call(parser, name, offset);
    }
    return expression_parser_name(parser, NODE_FEEL_NAME, offset, name);
}

/* @"2024-02-29", @"P1D": a constant, unless its zone must be looked up by its name. */
static const struct expression_node *at_literal(struct expression_parser *parser)
{
    struct span zone;
    struct expression_value value;
    uint32_t offset = expression_parser_take(parser).offset;
    if (parser->token.kind != TOKEN_STRING) {
        return expression_parser_unexpected(parser, "a string after \"@\"");
    }
    const struct expression_node *text = expression_parser_literal(parser);
    if (text == NULL || !expression_temporal_parse(text->as.constant.as.text, &value, &zone)) {
        return expression_parser_fail(parser, RESULT_INVALID, offset,
                                      "this is no date, time or duration");
    }
    if (zone.count == 0) {
        return expression_parser_constant(parser, offset, value);
    }
    struct expression_node *node = expression_parser_node(parser, NODE_FEEL_ZONED, offset, NULL, 0);
    struct expression_value *moment = arena_alloc(parser->arena, sizeof *moment);
    if (node != NULL && moment != NULL) {
        *moment = value;
        node->as.zoned.moment = moment;
        node->as.zoned.zone = zone;
    }
    return node;
}

static const struct expression_node *primary(struct expression_parser *parser)
{
    static const struct {
        enum expression_token_kind first;
        expression_parse_fn parse;
    } forms[] = {
        {TOKEN_NAME, name_or_call},
        {TOKEN_OPEN, parenthesised},
        {TOKEN_OPEN_LIST, list_or_range},
        {TOKEN_CLOSE_LIST, open_range},
        {TOKEN_OPEN_CONTEXT, expression_feel_parse_context},
        {TOKEN_IF, expression_feel_parse_if},
        {TOKEN_FOR, expression_feel_parse_for},
        {TOKEN_SOME, expression_feel_parse_for},
        {TOKEN_EVERY, expression_feel_parse_for},
        {TOKEN_AT, at_literal},
        {TOKEN_FUNCTION, expression_feel_parse_function},
    };
    const struct expression_node *literal = expression_parser_literal(parser);
    if (literal != NULL || parser->result != RESULT_OK) {
        return literal;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].first == parser->token.kind) {
            return forms[i].parse(parser);
        }
    }
    return expression_parser_unexpected(parser, "an expression");
}

/* "[" behind an operand: a filter, unless nothing follows that could be one, as in "[1..10[". */
static bool filter_follows(const struct expression_parser *parser)
{
    static const enum expression_token_kind beginnings[] = {
        TOKEN_NAME, TOKEN_NUMBER,    TOKEN_STRING,       TOKEN_TRUE,     TOKEN_FALSE, TOKEN_NULL,
        TOKEN_OPEN, TOKEN_OPEN_LIST, TOKEN_OPEN_CONTEXT, TOKEN_MINUS,    TOKEN_IF,    TOKEN_FOR,
        TOKEN_SOME, TOKEN_EVERY,     TOKEN_AT,           TOKEN_FUNCTION, TOKEN_ERROR,
    };
    if (parser->token.kind != TOKEN_OPEN_LIST) {
        return false;
    }
    struct expression_lexer ahead = parser->lexer;
    enum expression_token_kind next = expression_lexer_next(&ahead).kind;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (beginnings[i] == next) {
            return true;
        }
    }
    return false;
}

/* May what was read so far give a function? */
static bool is_callable(const struct expression_node *node)
{
    return node->kind != NODE_CONSTANT && node->kind != NODE_FEEL_LIST &&
           node->kind != NODE_FEEL_RANGE && node->kind != NODE_FEEL_CONTEXT;
}

static const struct expression_node *postfix(struct expression_parser *parser)
{
    const struct expression_node *node = primary(parser);
    while (parser->result == RESULT_OK) {
        uint32_t offset = parser->token.offset;
        if (expression_parser_accept(parser, TOKEN_DOT)) {
            if (!parser->token.is_word) {
                return expression_parser_unexpected(parser, "a name after \".\"");
            }
            struct span name = expression_feel_take_name(parser);
            struct expression_node *path =
                expression_parser_node(parser, NODE_FEEL_PATH, offset, &node, 1);
            if (path != NULL) {
                path->as.name.text = name;
            }
            node = path;
        } else if (is_callable(node) && expression_parser_accept(parser, TOKEN_OPEN)) {
            node = expression_feel_parse_invocation(parser, node, offset);
        } else if (filter_follows(parser)) {
            expression_parser_take(parser);
            const struct expression_node *children[] = {node, expression_parse_feel(parser)};
            expression_parser_expect(parser, TOKEN_CLOSE_LIST, "\"]\"");
            node = expression_parser_node(parser, NODE_FEEL_FILTER, offset, children, 2);
        } else {
            break;
        }
    }
    return node;
}

static const struct expression_node *negation(struct expression_parser *parser)
{
    uint32_t offset = expression_parser_take(parser).offset;
    const struct expression_node *child = operand(parser);
    if (child != NULL && child->kind == NODE_CONSTANT && child->as.constant.type == VALUE_NUMBER) {
        return expression_parser_constant(parser, offset,
                                          expression_number_negate(child->as.constant));
    }
    return expression_parser_node(parser, NODE_FEEL_NEGATE, offset, &child, 1);
}

/* "-" binds tighter than "**": -3 ** 2 is 9. */
static const struct expression_node *operand(struct expression_parser *parser)
{
    const struct expression_node *node = NULL;
    if (expression_parser_enter(parser)) {
        node = parser->token.kind == TOKEN_MINUS ? negation(parser) : postfix(parser);
    }
    expression_parser_leave(parser);
    return node;
}
