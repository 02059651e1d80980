/* parse_form.c: the longer forms of FEEL: if, for, some, every, instance of, contexts and function
 * literals. */
#include "engine/expression/closure.h"
#include "engine/expression/parse_feel.h"
#include "engine/expression/text.h"
#include "engine/expression/type.h"
#include "proto/base/hash.h"

#define KEYS_CAPACITY_FIRST 4u
#define ITERATORS_MAX       32u /* each nests the evaluation one deeper */
#define PARAMETERS_MAX      EXPRESSION_LITERAL_PARAMETERS_MAX

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
    if (!span_is(parser->token.text, "of")) {
        return expression_parser_unexpected(parser, "\"of\"");
    }
    expression_parser_take(parser);
    const struct expression_type_tree *type = expression_parse_type(parser);
    left = expression_feel_function_name(parser, left);
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_INSTANCE, offset, &left, 1);
    if (node != NULL) {
        node->as.type = type;
    }
    return node;
}

/* "name in list" or "name in low..high". */
static void parse_iterator(struct expression_parser *parser, struct expression_nodes *nodes,
                           struct keys *keys)
{
    if (!parser->token.is_word) {
        expression_parser_unexpected(parser, "a name");
        return;
    }
    struct span name = expression_feel_take_new_name(parser, TOKEN_IN);
    add_key(parser, keys, name);
    expression_parser_expect(parser, TOKEN_IN, "\"in\"");
    expression_parser_add(parser, nodes, expression_parse_feel(parser));
    bool is_range = expression_parser_accept(parser, TOKEN_DOTS);
    expression_parser_add(parser, nodes, is_range ? expression_parse_feel(parser) : NULL);
    expression_parser_bind(parser, name); /* for the iterators behind it, and the body */
}

const struct expression_node *expression_feel_parse_for(struct expression_parser *parser)
{
    struct expression_nodes nodes = {0};
    struct keys keys = {0};
    const struct expression_local *outer = parser->locals;
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
    parser->locals = outer;
    enum expression_kind kind = is_for                     ? NODE_FEEL_FOR
                                : first.kind == TOKEN_SOME ? NODE_FEEL_SOME
                                                           : NODE_FEEL_EVERY;
    return with_keys(expression_parser_node(parser, kind, first.offset, nodes.items, nodes.count),
                     &keys);
}

/* A key: a string, or a name. */
static struct span parse_key(struct expression_parser *parser)
{
    if (parser->token.kind == TOKEN_STRING) {
        const struct expression_node *literal = expression_parser_literal(parser);
        return literal == NULL ? SPAN_EMPTY : literal->as.constant.as.text;
    }
    if (!parser->token.is_word) {
        expression_parser_unexpected(parser, "a key");
        return SPAN_EMPTY;
    }
    return expression_feel_take_new_name(parser, TOKEN_COLON);
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

/* The value of an entry. A function literal may call itself by its key, unless that is the name of
 * something around the context, or of a built-in function. */
static const struct expression_node *parse_entry(struct expression_parser *parser, struct span key)
{
    const struct expression_local *outer = parser->locals;
    bool calls_itself = parser->token.kind == TOKEN_FUNCTION &&
                        !expression_feel_is_declared(parser, key) &&
                        expression_function_find(key) == NULL;
    if (!calls_itself) {
        return expression_feel_function_name(parser, expression_parse_feel(parser));
    }
    expression_parser_bind(parser, key);
    const struct expression_node *value = expression_parse_feel(parser);
    parser->locals = outer;
    return value;
}

const struct expression_node *expression_feel_parse_context(struct expression_parser *parser)
{
    struct expression_nodes values = {0};
    struct keys keys = {0};
    const struct expression_local *outer = parser->locals;
    uint32_t offset = expression_parser_take(parser).offset;
    if (!expression_parser_accept(parser, TOKEN_CLOSE_CONTEXT)) {
        do {
            struct span key = parse_key(parser);
            add_key(parser, &keys, key);
            expression_parser_expect(parser, TOKEN_COLON, "\":\"");
            expression_parser_add(parser, &values, parse_entry(parser, key));
            expression_parser_bind(parser, key); /* for the entries behind it */
        } while (expression_parser_accept(parser, TOKEN_COMMA));
        expression_parser_expect(parser, TOKEN_CLOSE_CONTEXT, "\"}\"");
    }
    parser->locals = outer;
    if (parser->result == RESULT_OK && has_doubles(parser, &keys)) {
        return expression_parser_fail(parser, RESULT_INVALID, offset, "a key stands here twice");
    }
    return with_keys(
        expression_parser_node(parser, NODE_FEEL_CONTEXT, offset, values.items, values.count),
        &keys);
}

/* The types of parameters, beside their names. */
struct types {
    const struct expression_type_tree *items[PARAMETERS_MAX];
};

/* "(name, name: type)": each name is bound for the body. */
static void parse_parameters(struct expression_parser *parser, struct keys *keys,
                             struct types *types)
{
    expression_parser_expect(parser, TOKEN_OPEN, "\"(\"");
    if (expression_parser_accept(parser, TOKEN_CLOSE)) {
        return;
    }
    do {
        if (keys->count == PARAMETERS_MAX) {
            expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset,
                                   "more than %u parameters", PARAMETERS_MAX);
            return;
        }
        if (!parser->token.is_word) {
            expression_parser_unexpected(parser, "the name of a parameter");
            return;
        }
        struct span name = expression_feel_take_new_name(parser, TOKEN_COLON);
        bool typed = expression_parser_accept(parser, TOKEN_COLON);
        types->items[keys->count] = typed ? expression_parse_type(parser) : NULL;
        add_key(parser, keys, name);
        expression_parser_bind(parser, name);
    } while (expression_parser_accept(parser, TOKEN_COMMA));
    expression_parser_expect(parser, TOKEN_CLOSE, "\",\" or \")\"");
}

const struct expression_node *expression_feel_parse_function(struct expression_parser *parser)
{
    struct keys keys = {0};
    struct types types;
    const struct expression_local *outer = parser->locals;
    uint32_t offset = expression_parser_take(parser).offset;
    parse_parameters(parser, &keys, &types);
    if (span_is(parser->token.text, "external") && parser->token.kind == TOKEN_NAME) {
        return expression_parser_fail(parser, RESULT_UNSUPPORTED, parser->token.offset,
                                      "external functions are not called from here");
    }
    const struct expression_node *body = expression_parse_feel(parser);
    parser->locals = outer;
    struct expression_node *node =
        expression_parser_node(parser, NODE_FEEL_FUNCTION, offset, &body, 1);
    const struct expression_type_tree **kept =
        arena_alloc(parser->arena, keys.count * sizeof(*kept));
    if (node == NULL || kept == NULL) {
        return NULL; /* latched in the arena */
    }
    memcpy(kept, types.items, keys.count * sizeof(*kept));
    node->as.keys.types = kept;
    return with_keys(node, &keys);
}
