/* parser.c: the machinery under the three parsers. Recursion is bounded by LIMIT_EXPRESSION_DEPTH.
 */
#include "engine/expression/parser.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/expression/number.h"
#include "engine/expression/text.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

#define NODES_CAPACITY_FIRST 4u
#define SHOWN_BYTES          32u  /* of a token in a message */
#define MESSAGE_BYTES        256u /* of one message, formatted */

void expression_parser_seek(struct expression_parser *parser, size_t offset,
                            enum expression_syntax syntax)
{
    parser->lexer.offset = offset;
    parser->lexer.syntax = syntax;
    expression_parser_take(parser);
}

struct expression_token expression_parser_take(struct expression_parser *parser)
{
    struct expression_token taken = parser->token;
    if (parser->result == RESULT_OK) {
        parser->token = expression_lexer_next(&parser->lexer);
    }
    if (parser->token.kind == TOKEN_ERROR) {
        expression_parser_fail(parser, RESULT_INVALID, parser->token.offset, "%s",
                               parser->lexer.error);
    }
    return taken;
}

bool expression_parser_accept(struct expression_parser *parser, enum expression_token_kind kind)
{
    ASSERT(kind != TOKEN_END);
    if (parser->token.kind != kind) {
        return false;
    }
    expression_parser_take(parser);
    return true;
}

bool expression_parser_expect(struct expression_parser *parser, enum expression_token_kind kind,
                              const char *what)
{
    if (!expression_parser_accept(parser, kind)) {
        expression_parser_unexpected(parser, what);
        return false;
    }
    return true;
}

const struct expression_node *expression_parser_unexpected(struct expression_parser *parser,
                                                           const char *what)
{
    uint32_t offset = parser->token.offset;
    struct span found = span_of(parser->lexer.source.bytes + offset, parser->token.end - offset);
    if (parser->token.kind == TOKEN_END) {
        return expression_parser_fail(parser, RESULT_INVALID, offset,
                                      "expected %s but found the end", what);
    }
    bool cut = found.count > SHOWN_BYTES;
    if (cut) {
        found.count = SHOWN_BYTES;
        while (found.count > 0 && (found.bytes[found.count] & 0xc0) == 0x80) {
            found.count--;
        }
    }
    return expression_parser_fail(parser, RESULT_INVALID, offset,
                                  "expected %s but found \"%.*s%s\"", what, SPAN_ARG(found),
                                  cut ? "…" : "");
}

const struct expression_node *expression_parser_fail(struct expression_parser *parser,
                                                     enum result result, uint32_t offset,
                                                     const char *format, ...)
{
    ASSERT(result != RESULT_OK);
    if (parser->result != RESULT_OK) {
        return NULL;
    }
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ASSERT(count >= 0);
    struct span copy = arena_copy(parser->arena, span_text(message));
    parser->result = result;
    parser->error.offset = offset;
    parser->error.message = copy.bytes == NULL ? "out of memory" : (const char *)copy.bytes;
    parser->token = (struct expression_token){.kind = TOKEN_END, .offset = offset, .end = offset};
    return NULL;
}

void expression_parser_bind(struct expression_parser *parser, struct span name)
{
    struct expression_local *local = arena_alloc(parser->arena, sizeof *local);
    if (local == NULL) {
        expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "out of memory");
        return;
    }
    *local = (struct expression_local){.outer = parser->locals, .name = name};
    parser->locals = local;
}

bool expression_parser_is_bound(const struct expression_parser *parser, struct span name)
{
    for (const struct expression_local *local = parser->locals; local != NULL;
         local = local->outer) {
        if (span_equal(local->name, name)) {
            return true;
        }
    }
    return false;
}

bool expression_parser_enter(struct expression_parser *parser)
{
    if (++parser->depth > LIMIT_EXPRESSION_DEPTH) {
        expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "nested deeper than %u",
                               LIMIT_EXPRESSION_DEPTH);
        return false;
    }
    return true;
}

void expression_parser_leave(struct expression_parser *parser)
{
    ASSERT(parser->depth > 0);
    parser->depth--;
}

struct expression_node *expression_parser_node(struct expression_parser *parser,
                                               enum expression_kind kind, uint32_t offset,
                                               const struct expression_node *const *children,
                                               uint32_t count)
{
    if (parser->result != RESULT_OK) {
        return NULL;
    }
    unsigned depth = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (children[i] != NULL && children[i]->depth >= depth) {
            depth = children[i]->depth + 1u;
        }
    }
    if (depth > LIMIT_EXPRESSION_DEPTH) {
        expression_parser_fail(parser, RESULT_LIMIT, offset, "nested deeper than %u",
                               LIMIT_EXPRESSION_DEPTH);
        return NULL;
    }
    struct expression_node *node = arena_zero(parser->arena, sizeof *node);
    const struct expression_node **copy = arena_alloc(parser->arena, count * sizeof(*copy));
    if (node == NULL || copy == NULL) {
        expression_parser_fail(parser, RESULT_LIMIT, offset, "out of memory");
        return NULL;
    }
    if (count > 0) {
        memcpy(copy, children, count * sizeof(*copy));
    }
    node->kind = kind;
    node->offset = offset;
    node->depth = (uint16_t)depth;
    node->children = copy;
    node->count = count;
    return node;
}

const struct expression_node *expression_parser_constant(struct expression_parser *parser,
                                                         uint32_t offset,
                                                         struct expression_value constant)
{
    struct expression_node *node = expression_parser_node(parser, NODE_CONSTANT, offset, NULL, 0);
    if (node != NULL) {
        node->as.constant = constant;
    }
    return node;
}

static uint16_t slot_of(struct expression_parser *parser, struct span text)
{
    for (uint16_t i = 0; i < parser->slot_count; i++) {
        if (span_equal(parser->slot_names[i], text)) {
            return i;
        }
    }
    if (parser->slot_count == EXPRESSION_SLOTS_MAX || parser->slotless) {
        return EXPRESSION_NO_SLOT;
    }
    parser->slot_names[parser->slot_count] = text;
    return parser->slot_count++;
}

const struct expression_node *expression_parser_name(struct expression_parser *parser,
                                                     enum expression_kind kind, uint32_t offset,
                                                     struct span text)
{
    struct expression_node *node = expression_parser_node(parser, kind, offset, NULL, 0);
    parser->asks = parser->asks || span_is(text, "?");
    if (node != NULL) {
        node->as.name.text = text;
        node->as.name.slot = slot_of(parser, text);
    }
    return node;
}

static const struct expression_node *number_literal(struct expression_parser *parser)
{
    struct expression_value number;
    struct expression_token token = parser->token;
    if (!expression_number_parse(token.text, &number)) {
        return expression_parser_fail(parser, RESULT_INVALID, token.offset, "number out of range");
    }
    expression_parser_take(parser);
    return expression_parser_constant(parser, token.offset, number);
}

static const struct expression_node *string_literal(struct expression_parser *parser)
{
    struct span text;
    size_t offset;
    struct expression_token token = parser->token;
    bool feel = parser->lexer.syntax == SYNTAX_FEEL;
    const char *why = expression_text_unescape(parser->arena, token.text,
                                               feel ? ESCAPES_FEEL : ESCAPES_JUEL, &text, &offset);
    if (why != NULL) {
        return expression_parser_fail(parser, RESULT_INVALID, token.offset + 1 + (uint32_t)offset,
                                      "%s", why);
    }
    expression_parser_take(parser);
    return expression_parser_constant(parser, token.offset, expression_string(text));
}

const struct expression_node *expression_parser_literal(struct expression_parser *parser)
{
    enum expression_token_kind kind = parser->token.kind;
    if (kind == TOKEN_NUMBER) {
        return number_literal(parser);
    }
    if (kind == TOKEN_STRING) {
        return string_literal(parser);
    }
    if (kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_NULL) {
        struct expression_value value =
            kind == TOKEN_NULL ? expression_null() : expression_boolean(kind == TOKEN_TRUE);
        uint32_t offset = expression_parser_take(parser).offset;
        return expression_parser_constant(parser, offset, value);
    }
    return NULL;
}

void expression_parser_add(struct expression_parser *parser, struct expression_nodes *nodes,
                           const struct expression_node *node)
{
    if (nodes->count == nodes->capacity) {
        uint32_t capacity = nodes->capacity == 0 ? NODES_CAPACITY_FIRST : nodes->capacity * 2;
        const struct expression_node **items =
            arena_grow(parser->arena, nodes->items, nodes->capacity * sizeof(*items),
                       capacity * sizeof(*items));
        if (items == NULL) {
            expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "out of memory");
            return;
        }
        nodes->items = items;
        nodes->capacity = capacity;
    }
    nodes->items[nodes->count++] = node;
}

static const struct expression_binary *find_binary(const struct expression_grammar *grammar,
                                                   enum expression_token_kind sign, unsigned level)
{
    for (size_t i = 0; i < grammar->binary_count; i++) {
        if (grammar->binaries[i].sign == sign && grammar->binaries[i].level == level) {
            return &grammar->binaries[i];
        }
    }
    return NULL;
}

/* The operators of a fold, one for each operand. */
struct applied_list {
    struct expression_applied *items;
    uint32_t count;
    uint32_t capacity;
};

static void add_applied(struct expression_parser *parser, struct applied_list *list,
                        struct expression_applied applied)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? NODES_CAPACITY_FIRST : list->capacity * 2;
        struct expression_applied *items = arena_grow(
            parser->arena, list->items, list->capacity * sizeof *items, capacity * sizeof *items);
        if (items == NULL) {
            expression_parser_fail(parser, RESULT_LIMIT, applied.offset, "out of memory");
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = applied;
}

/* first sign second sign third …: one node, so that a long sum is not a deep tree. */
static const struct expression_node *chain(struct expression_parser *parser,
                                           const struct expression_grammar *grammar, unsigned level,
                                           const struct expression_node *first,
                                           const struct expression_binary *binary)
{
    struct expression_nodes operands = {0};
    struct applied_list applied = {0};
    enum expression_kind kind = binary->kind;
    expression_parser_add(parser, &operands, first);
    add_applied(parser, &applied, (struct expression_applied){OPERATOR_NONE, 0});
    while (binary != NULL && binary->rest == NULL && parser->result == RESULT_OK) {
        ASSERT(binary->kind == kind);
        uint32_t offset = expression_parser_take(parser).offset;
        add_applied(parser, &applied, (struct expression_applied){binary->operator, offset});
        expression_parser_add(parser, &operands,
                              expression_parser_level(parser, grammar, level + 1));
        binary = find_binary(grammar, parser->token.kind, level);
    }
    if (parser->result != RESULT_OK) {
        return NULL;
    }
    struct expression_node *node =
        expression_parser_node(parser, kind, first->offset, operands.items, operands.count);
    if (node != NULL && kind == NODE_FOLD) {
        node->as.operators = applied.items;
    }
    return node;
}

const struct expression_node *expression_parser_level(struct expression_parser *parser,
                                                      const struct expression_grammar *grammar,
                                                      unsigned level)
{
    if (level == grammar->level_count) {
        return grammar->operand(parser);
    }
    const struct expression_node *node = expression_parser_level(parser, grammar, level + 1);
    for (;;) {
        const struct expression_binary *binary = find_binary(grammar, parser->token.kind, level);
        if (binary == NULL || parser->result != RESULT_OK) {
            return node;
        }
        if (binary->rest != NULL) {
            uint32_t offset = expression_parser_take(parser).offset;
            node = binary->rest(parser, node, offset);
        } else {
            node = chain(parser, grammar, level, node, binary);
        }
    }
}
