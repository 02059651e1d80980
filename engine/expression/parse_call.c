/* parse_call.c: calls: arguments by place or by name, bound to the parameters of a built-in
 * function where it is one. */
#include "engine/expression/function.h"
#include "engine/expression/parse_feel.h"

#define CAPACITY_FIRST 4u

struct argument {
    struct span name; /* empty: by its place */
    uint32_t offset;
    const struct expression_node *value;
};

struct arguments {
    struct argument *items;
    uint32_t count;
    uint32_t capacity;
    bool by_name;
};

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
    *name = expression_feel_take_new_name(parser, TOKEN_COLON);
    if (expression_parser_accept(parser, TOKEN_COLON)) {
        return true;
    }
    if (parser->result == RESULT_OK) {
        parser->lexer = lexer;
        parser->token = token;
    }
    return false;
}

const struct expression_node *expression_feel_function_name(struct expression_parser *parser,
                                                            const struct expression_node *node)
{
    if (node == NULL || node->kind != NODE_FEEL_NAME ||
        expression_function_find(node->as.name.text) == NULL) {
        return node;
    }
    struct expression_node *copy =
        expression_parser_node(parser, NODE_FEEL_NAME, node->offset, NULL, 0);
    if (copy != NULL) {
        copy->as.name = node->as.name;
        copy->flags = NODE_MAY_BE_BUILT_IN;
    }
    return copy;
}

static bool has_room(struct expression_parser *parser, struct arguments *arguments)
{
    if (arguments->count < arguments->capacity) {
        return true;
    }
    uint32_t capacity = arguments->capacity == 0 ? CAPACITY_FIRST : arguments->capacity * 2;
    struct argument *items =
        arena_grow(parser->arena, arguments->items, arguments->capacity * sizeof *items,
                   capacity * sizeof *items);
    if (items == NULL) {
        expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "out of memory");
        return false;
    }
    arguments->items = items;
    arguments->capacity = capacity;
    return true;
}

static void add_argument(struct expression_parser *parser, struct arguments *arguments)
{
    struct argument argument = {.name = SPAN_EMPTY};
    bool named = take_argument_name(parser, &argument.name, &argument.offset);
    if (arguments->count == 0) {
        arguments->by_name = named;
    }
    if (named != arguments->by_name) {
        expression_parser_unexpected(parser, "a named argument");
        return;
    }
    for (uint32_t i = 0; named && i < arguments->count; i++) {
        if (span_equal(arguments->items[i].name, argument.name)) {
            expression_parser_fail(parser, RESULT_INVALID, argument.offset,
                                   "\"%.*s\" is given twice", SPAN_ARG(argument.name));
            return;
        }
    }
    argument.name = named ? argument.name : SPAN_EMPTY;
    argument.value = expression_feel_function_name(parser, expression_parse_feel(parser));
    if (has_room(parser, arguments)) {
        arguments->items[arguments->count++] = argument;
    }
}

/* To the closing parenthesis. */
static void parse_arguments(struct expression_parser *parser, struct arguments *arguments)
{
    *arguments = (struct arguments){0};
    if (expression_parser_accept(parser, TOKEN_CLOSE)) {
        return;
    }
    do {
        add_argument(parser, arguments);
    } while (parser->result == RESULT_OK && expression_parser_accept(parser, TOKEN_COMMA));
    expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
}

/* The first argument that is named as no parameter is; its count when all are. */
static uint32_t first_stranger(const struct expression_function *function,
                               const struct arguments *arguments)
{
    uint32_t i = 0;
    while (i < arguments->count &&
           expression_function_parameter(function, arguments->items[i].name) >= 0) {
        i++;
    }
    return i;
}

static bool all_required(const struct expression_function *function,
                         const struct arguments *arguments)
{
    bool given[EXPRESSION_PARAMETERS_MAX] = {0};
    for (uint32_t i = 0; i < arguments->count; i++) {
        given[expression_function_parameter(function, arguments->items[i].name)] = true;
    }
    for (uint32_t i = 0; i < function->required; i++) {
        if (!given[i]) {
            return false;
        }
    }
    return true;
}

static bool fits(const struct expression_function *function, const struct arguments *arguments)
{
    return arguments->by_name ? first_stranger(function, arguments) == arguments->count &&
                                    all_required(function, arguments)
                              : expression_function_takes(function, arguments->count);
}

static bool in_order(const struct expression_function *function, const struct arguments *arguments)
{
    for (uint32_t i = 1; i < arguments->count; i++) {
        if (expression_function_parameter(function, arguments->items[i - 1].name) >
            expression_function_parameter(function, arguments->items[i].name)) {
            return false;
        }
    }
    return true;
}

/* The way to call it that the arguments fit; NULL: none. Of two that differ in the order of the
 * same names, as before(point, range) and before(range, point), the one that is written. */
static const struct expression_function *find_way(const struct expression_function *function,
                                                  const struct arguments *arguments)
{
    const struct expression_function *found = NULL;
    for (const struct expression_function *way = function; way != NULL;
         way = expression_function_next(way)) {
        if (fits(way, arguments)) {
            found = found == NULL ? way : found;
            if (!arguments->by_name || in_order(way, arguments)) {
                return way;
            }
        }
    }
    return found;
}

/* Why the arguments fit no way to call the function. */
static const struct expression_node *refuse(struct expression_parser *parser,
                                            const struct expression_function *function,
                                            const struct arguments *arguments, uint32_t offset)
{
    if (!arguments->by_name) {
        return expression_parser_fail(parser, RESULT_INVALID, offset,
                                      "%s has %u arguments: it takes (%s)", function->name,
                                      arguments->count, function->parameters);
    }
    uint32_t stranger = first_stranger(function, arguments);
    if (stranger < arguments->count) {
        const struct argument *argument = &arguments->items[stranger];
        return expression_parser_fail(parser, RESULT_INVALID, argument->offset,
                                      "%s has no parameter \"%.*s\"", function->name,
                                      SPAN_ARG(argument->name));
    }
    return expression_parser_fail(parser, RESULT_INVALID, offset,
                                  "%s lacks an argument: it takes (%s)", function->name,
                                  function->parameters);
}

static const struct expression_node *call_built_in(struct expression_parser *parser,
                                                   const struct expression_function *function,
                                                   const struct arguments *arguments,
                                                   uint32_t offset)
{
    const struct expression_function *way = find_way(function, arguments);
    if (parser->result != RESULT_OK) {
        return NULL;
    }
    if (way == NULL) {
        return refuse(parser, function, arguments, offset);
    }
    uint32_t room = arguments->count + EXPRESSION_PARAMETERS_MAX;
    const struct expression_node **values = arena_zero(parser->arena, room * sizeof(*values));
    uint32_t count = 0;
    for (uint32_t i = 0; values != NULL && i < arguments->count; i++) {
        const struct argument *argument = &arguments->items[i];
        uint32_t place =
            arguments->by_name ? (uint32_t)expression_function_parameter(way, argument->name) : i;
        values[place] = argument->value;
        count = place + 1 > count ? place + 1 : count;
    }
    struct expression_node *node =
        values == NULL ? NULL : expression_parser_node(parser, NODE_CALL, offset, values, count);
    if (node != NULL) {
        node->as.function = way;
    }
    return node;
}

static const struct expression_node *invocation(struct expression_parser *parser,
                                                const struct expression_node *callee,
                                                const struct arguments *arguments, uint32_t offset)
{
    uint32_t count = arguments->count;
    struct span *names = arena_alloc(parser->arena, count * sizeof *names);
    const struct expression_node **children =
        arena_alloc(parser->arena, (1 + count) * sizeof(*children));
    if (names == NULL || children == NULL) {
        return NULL; /* latched in the arena */
    }
    children[0] = callee;
    for (uint32_t i = 0; i < count; i++) {
        children[1 + i] = arguments->items[i].value;
        names[i] = arguments->items[i].name;
    }
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_INVOKE, offset, children, 1 + count);
    if (node != NULL && arguments->by_name) {
        node->as.keys.texts = names;
        node->as.keys.count = count;
    }
    return node;
}

const struct expression_node *expression_feel_parse_invocation(struct expression_parser *parser,
                                                               const struct expression_node *callee,
                                                               uint32_t offset)
{
    struct arguments arguments;
    parse_arguments(parser, &arguments);
    return parser->result == RESULT_OK ? invocation(parser, callee, &arguments, offset) : NULL;
}

static const struct expression_node *unknown_function(struct expression_parser *parser,
                                                      struct span name, uint32_t offset)
{
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

bool expression_feel_is_declared(const struct expression_parser *parser, struct span name)
{
    const struct engine_declarations *declarations = parser->declarations;
    for (size_t i = 0; declarations != NULL && i < declarations->count; i++) {
        if (span_equal(declarations->names[i], name)) {
            return true;
        }
    }
    return expression_parser_is_bound(parser, name);
}

/* A bound or declared name hides a built-in function of that name. */
const struct expression_node *expression_feel_parse_call(struct expression_parser *parser,
                                                         struct span name, uint32_t offset)
{
    if (expression_feel_is_declared(parser, name)) {
        const struct expression_node *callee =
            expression_parser_name(parser, NODE_FEEL_NAME, offset, name);
        return expression_feel_parse_invocation(parser, callee, offset);
    }
    if (span_is(name, "is defined")) {
        return is_defined(parser, offset);
    }
    const struct expression_function *function = expression_function_find(name);
    if (function == NULL) {
        return unknown_function(parser, name, offset);
    }
    struct arguments arguments;
    parse_arguments(parser, &arguments);
    return call_built_in(parser, function, &arguments, offset);
}
