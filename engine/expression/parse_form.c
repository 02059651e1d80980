/* parse_form.c: the longer forms of FEEL: if, for, some, every, instance of, contexts and calls. */
#include "engine/expression/function.h"
#include "engine/expression/parse_feel.h"
#include "engine/expression/text.h"
#include "proto/base/hash.h"

#define KEYS_CAPACITY_FIRST 4u
#define ITERATORS_MAX       32u /* each nests the evaluation one deeper */

struct keys {
    struct span *items;
    uint32_t count;
    uint32_t capacity;
};

static void add_key(struct expression_parser *parser, struct keys *keys, struct span key)
{
    if (keys->count == keys->capacity) {
        uint32_t capacity = keys->capacity == 0 ? KEYS_CAPACITY_FIRST : keys->capacity * 2;
        struct span *items = arena_grow(parser->arena, keys->items, keys->capacity * sizeof *items,
                                        capacity * sizeof *items);
        if (items == NULL) {
            expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "out of memory");
            return;
        }
        keys->items = items;
        keys->capacity = capacity;
    }
    keys->items[keys->count++] = key;
}

static const struct expression_node *with_keys(struct expression_node *node,
                                               const struct keys *keys)
{
    if (node != NULL) {
        node->as.keys.texts = keys->items;
        node->as.keys.count = keys->count;
    }
    return node;
}

const struct expression_node *expression_feel_parse_if(struct expression_parser *parser)
{
    const struct expression_node *children[3];
    uint32_t offset = expression_parser_take(parser).offset;
    children[0] = expression_parse_feel(parser);
    expression_parser_expect(parser, TOKEN_THEN, "\"then\"");
    children[1] = expression_parse_feel(parser);
    expression_parser_expect(parser, TOKEN_ELSE, "\"else\"");
    children[2] = expression_parse_feel(parser);
    return expression_parser_node(parser, NODE_FEEL_IF, offset, children, 3);
}

const struct expression_node *expression_feel_parse_instance(struct expression_parser *parser,
                                                             const struct expression_node *left,
                                                             uint32_t offset)
{
    static const struct {
        const char *name;
        enum expression_type type; /* ABSENT: any but null */
    } types[] = {
        {"Any", VALUE_ABSENT},      {"Null", VALUE_NULL},     {"boolean", VALUE_BOOLEAN},
        {"number", VALUE_NUMBER},   {"string", VALUE_STRING}, {"list", VALUE_LIST},
        {"context", VALUE_CONTEXT}, {"range", VALUE_RANGE},
    };
    if (!span_is(parser->token.text, "of")) {
        return expression_parser_unexpected(parser, "\"of\"");
    }
    expression_parser_take(parser);
    uint32_t at = parser->token.offset;
    if (!parser->token.is_word) {
        return expression_parser_unexpected(parser, "the name of a type");
    }
    struct span name = expression_feel_take_name(parser);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (span_is(name, types[i].name) && parser->token.kind != TOKEN_LESS) {
            struct expression_node *node =
                expression_parser_node(parser, NODE_FEEL_INSTANCE, offset, &left, 1);
            if (node != NULL) {
                node->as.instance = types[i].type;
            }
            return node;
        }
    }
    return expression_parser_fail(parser, RESULT_UNSUPPORTED, at,
                                  "the type \"%.*s\" is not supported yet", SPAN_ARG(name));
}

/* "name in list" or "name in low..high". */
static void parse_iterator(struct expression_parser *parser, struct expression_nodes *nodes,
                           struct keys *keys)
{
    if (!parser->token.is_word) {
        expression_parser_unexpected(parser, "a name");
        return;
    }
    add_key(parser, keys, expression_feel_take_name(parser));
    expression_parser_expect(parser, TOKEN_IN, "\"in\"");
    expression_parser_add(parser, nodes, expression_parse_feel(parser));
    bool is_range = expression_parser_accept(parser, TOKEN_DOTS);
    expression_parser_add(parser, nodes, is_range ? expression_parse_feel(parser) : NULL);
}

const struct expression_node *expression_feel_parse_for(struct expression_parser *parser)
{
    struct expression_nodes nodes = {0};
    struct keys keys = {0};
    struct expression_token first = expression_parser_take(parser);
    bool is_for = first.kind == TOKEN_FOR;
    do {
        if (keys.count == ITERATORS_MAX) {
            return expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset,
                                          "more than %u iterators", ITERATORS_MAX);
        }
        parse_iterator(parser, &nodes, &keys);
    } while (expression_parser_accept(parser, TOKEN_COMMA));
    if (is_for) {
        expression_parser_expect(parser, TOKEN_RETURN, "\"return\"");
    } else {
        expression_parser_expect(parser, TOKEN_SATISFIES, "\"satisfies\"");
    }
    expression_parser_add(parser, &nodes, expression_parse_feel(parser));
    enum expression_kind kind = is_for                     ? NODE_FEEL_FOR
                                : first.kind == TOKEN_SOME ? NODE_FEEL_SOME
                                                           : NODE_FEEL_EVERY;
    return with_keys(expression_parser_node(parser, kind, first.offset, nodes.items, nodes.count),
                     &keys);
}

/* A key: a string, or a name with the further signs that names may hold (grammar rule 30) up to the
 * colon. */
static struct span parse_key(struct expression_parser *parser)
{
    struct span key = SPAN_EMPTY;
    if (parser->token.kind == TOKEN_STRING) {
        const struct expression_node *literal = expression_parser_literal(parser);
        return literal == NULL ? key : literal->as.constant.as.text;
    }
    if (!parser->token.is_word) {
        expression_parser_unexpected(parser, "a key");
        return key;
    }
    uint32_t start = parser->token.offset;
    key = expression_feel_take_name(parser);
    uint32_t first = parser->token.offset;
    while (parser->token.kind == TOKEN_MINUS || parser->token.kind == TOKEN_PLUS ||
           parser->token.kind == TOKEN_TIMES || parser->token.kind == TOKEN_DIVIDE ||
           parser->token.kind == TOKEN_DOT || parser->token.kind == TOKEN_NUMBER ||
           (parser->token.is_word && parser->token.offset > first)) {
        uint32_t end = expression_parser_take(parser).end;
        key = span_of(parser->lexer.source.bytes + start, end - start); /* as it stands there */
    }
    return key;
}

/* Two equal keys? By hash, so that a hostile context costs no more than its length. */
static bool has_doubles(struct expression_parser *parser, const struct keys *keys)
{
    uint32_t capacity = 4;
    while (capacity < keys->count * 2) {
        capacity *= 2;
    }
    const struct span **table = arena_zero(parser->arena, capacity * sizeof(*table));
    for (uint32_t i = 0; table != NULL && i < keys->count; i++) {
        uint32_t at = (uint32_t)base_hash(keys->items[i], 0) & (capacity - 1);
        for (; table[at] != NULL; at = (at + 1) & (capacity - 1)) {
            if (span_equal(*table[at], keys->items[i])) {
                return true;
            }
        }
        table[at] = &keys->items[i];
    }
    return false;
}

const struct expression_node *expression_feel_parse_context(struct expression_parser *parser)
{
    struct expression_nodes values = {0};
    struct keys keys = {0};
    uint32_t offset = expression_parser_take(parser).offset;
    if (!expression_parser_accept(parser, TOKEN_CLOSE_CONTEXT)) {
        do {
            add_key(parser, &keys, parse_key(parser));
            expression_parser_expect(parser, TOKEN_COLON, "\":\"");
            expression_parser_add(parser, &values, expression_parse_feel(parser));
        } while (expression_parser_accept(parser, TOKEN_COMMA));
        expression_parser_expect(parser, TOKEN_CLOSE_CONTEXT, "\"}\"");
    }
    if (parser->result == RESULT_OK && has_doubles(parser, &keys)) {
        return expression_parser_fail(parser, RESULT_INVALID, offset, "a key stands here twice");
    }
    return with_keys(
        expression_parser_node(parser, NODE_FEEL_CONTEXT, offset, values.items, values.count),
        &keys);
}

/* How many arguments a function takes, against how many it got. */
static bool count_fits(const struct expression_function *function, uint32_t count)
{
    size_t parameters = strlen(function->types);
    char last = parameters == 0 ? '\0' : function->types[parameters - 1];
    return count >= function->required && (last == '*' || last == '+' || count <= parameters);
}

static const struct expression_node *
call_node(struct expression_parser *parser, const struct expression_function *function,
          uint32_t offset, const struct expression_node *const *arguments, uint32_t count)
{
    struct expression_node *node =
        expression_parser_node(parser, NODE_CALL, offset, arguments, count);
    if (node != NULL) {
        node->as.function = function;
    }
    return node;
}

/* Is `name :` next? Then it is taken, and *offset is where it stood. */
static bool take_argument_name(struct expression_parser *parser, struct span *name,
                               uint32_t *offset)
{
    *offset = parser->token.offset;
    if (!parser->token.is_word) {
        return false;
    }
    struct expression_lexer lexer = parser->lexer;
    struct expression_token token = parser->token;
    *name = expression_feel_take_name(parser);
    if (expression_parser_accept(parser, TOKEN_COLON)) {
        return true;
    }
    if (parser->result == RESULT_OK) {
        parser->lexer = lexer;
        parser->token = token;
    }
    return false;
}

static void add_named_argument(struct expression_parser *parser,
                               const struct expression_function *function, struct span name,
                               uint32_t offset, const struct expression_node **arguments)
{
    int index = expression_function_parameter(function, name);
    if (index < 0) {
        expression_parser_fail(parser, RESULT_INVALID, offset, "%s has no parameter \"%.*s\"",
                               function->name, SPAN_ARG(name));
        return;
    }
    if (arguments[index] != NULL) {
        expression_parser_fail(parser, RESULT_INVALID, offset, "\"%.*s\" is given twice",
                               SPAN_ARG(name));
        return;
    }
    arguments[index] = expression_parse_feel(parser);
}

/* The first name, which stood at `at`, is taken already: "name: value, name: value)". */
static const struct expression_node *named_call(struct expression_parser *parser,
                                                const struct expression_function *function,
                                                struct span name, uint32_t at, uint32_t offset)
{
    const struct expression_node *arguments[EXPRESSION_PARAMETERS_MAX] = {0};
    add_named_argument(parser, function, name, at, arguments);
    while (expression_parser_accept(parser, TOKEN_COMMA)) {
        if (!take_argument_name(parser, &name, &at)) {
            return expression_parser_unexpected(parser, "a named argument");
        }
        add_named_argument(parser, function, name, at, arguments);
    }
    expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
    uint32_t count = 0;
    for (uint32_t i = 0; i < EXPRESSION_PARAMETERS_MAX; i++) {
        if (i < function->required && arguments[i] == NULL) {
            return expression_parser_fail(parser, RESULT_INVALID, offset,
                                          "%s lacks an argument: it takes (%s)", function->name,
                                          function->parameters);
        }
        count = arguments[i] != NULL ? i + 1 : count;
    }
    return call_node(parser, function, offset, arguments, count);
}

static const struct expression_node *positional_call(struct expression_parser *parser,
                                                     const struct expression_function *function,
                                                     uint32_t offset)
{
    struct expression_nodes arguments = {0};
    if (!expression_parser_accept(parser, TOKEN_CLOSE)) {
        do {
            expression_parser_add(parser, &arguments, expression_parse_feel(parser));
        } while (expression_parser_accept(parser, TOKEN_COMMA));
        expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
    }
    if (!count_fits(function, arguments.count)) {
        return expression_parser_fail(parser, RESULT_INVALID, offset,
                                      "%s has %u arguments: it takes (%s)", function->name,
                                      arguments.count, function->parameters);
    }
    return call_node(parser, function, offset, arguments.items, arguments.count);
}

static const struct expression_node *unknown_function(struct expression_parser *parser,
                                                      struct span name, uint32_t offset)
{
    if (expression_function_is_planned(name)) {
        return expression_parser_fail(parser, RESULT_UNSUPPORTED, offset,
                                      "the function \"%.*s\" is not supported yet", SPAN_ARG(name));
    }
    const char *similar = expression_function_similar(name);
    return expression_parser_fail(parser, RESULT_INVALID, offset,
                                  similar == NULL
                                      ? "unknown function \"%.*s\"%s"
                                      : "unknown function \"%.*s\": did you mean \"%s\"?",
                                  SPAN_ARG(name), similar == NULL ? "" : similar);
}

/* "is defined" looks at how its argument is reached, not at what it is: no function of values
 * could. */
static const struct expression_node *is_defined(struct expression_parser *parser, uint32_t offset)
{
    const struct expression_node *child = expression_parse_feel(parser);
    expression_parser_expect(parser, TOKEN_CLOSE, "\")\"");
    return expression_parser_node(parser, NODE_FEEL_DEFINED, offset, &child, 1);
}

const struct expression_node *expression_feel_parse_call(struct expression_parser *parser,
                                                         struct span name, uint32_t offset)
{
    if (span_is(name, "is defined")) {
        return is_defined(parser, offset);
    }
    const struct expression_function *function = expression_function_find(name);
    if (function == NULL) {
        return unknown_function(parser, name, offset);
    }
    struct span argument;
    uint32_t at;
    return take_argument_name(parser, &argument, &at)
               ? named_call(parser, function, argument, at, offset)
               : positional_call(parser, function, offset);
}
