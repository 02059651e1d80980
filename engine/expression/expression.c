/* expression.c: the two entries: compile a text in its dialect, evaluate what was compiled. */
#include "engine/expression/expression.h"

#include "engine/expression/evaluate.h"
#include "engine/expression/node.h"
#include "engine/expression/parser.h"
#include "engine/expression/text.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"

/* How a text is to be read, and where its expression begins. */
struct reading {
    enum { READ_LITERAL, READ_FEEL, READ_JUEL, READ_JUEL_TEXT, READ_TEMPLATE, READ_TESTS } as;
    size_t offset;
};

static const struct expression_node *parse(struct expression_parser *parser,
                                           struct reading reading);

static bool has_juel(struct span text)
{
    return expression_text_find(text, span_text("${")) != EXPRESSION_NOT_FOUND ||
           expression_text_find(text, span_text("#{")) != EXPRESSION_NOT_FOUND;
}

/* By the marker that comes first; without any, by what the place makes of bare text. */
static struct reading detect(struct span text, bool bare_is_feel)
{
    size_t dollar = expression_text_find(text, span_text("${"));
    size_t hash = expression_text_find(text, span_text("#{"));
    size_t juel = dollar < hash ? dollar : hash;
    size_t template = expression_text_find(text, span_text("{{"));
    if (juel < template) {
        return (struct reading){READ_JUEL_TEXT, 0};
    }
    if (template != EXPRESSION_NOT_FOUND) {
        return (struct reading){READ_TEMPLATE, 0};
    }
    return (struct reading){bare_is_feel ? READ_FEEL : READ_LITERAL, 0};
}

static struct reading choose(struct span text, enum engine_dialect dialect)
{
    struct span trimmed = span_trim(text);
    bool marked = trimmed.count > 0 && trimmed.bytes[0] == '=';
    size_t behind_mark = marked ? (size_t)(trimmed.bytes + 1 - text.bytes) : 0;
    switch (dialect) {
    case ENGINE_DIALECT_AUTO:
    case ENGINE_DIALECT_CONDITION:
        return marked ? (struct reading){READ_FEEL, behind_mark}
                      : detect(text, dialect == ENGINE_DIALECT_CONDITION);
    case ENGINE_DIALECT_FEEL:
        return (struct reading){READ_FEEL, behind_mark};
    case ENGINE_DIALECT_JUEL:
        return (struct reading){has_juel(text) ? READ_JUEL_TEXT : READ_JUEL, 0};
    case ENGINE_DIALECT_TEMPLATE:
        return (struct reading){READ_TEMPLATE, 0};
    case ENGINE_DIALECT_UNARY_TESTS:
        return (struct reading){READ_TESTS, 0};
    }
    ASSERT_UNREACHABLE();
    return (struct reading){READ_LITERAL, 0};
}

static const struct expression_node *parse_whole(struct expression_parser *parser, size_t offset,
                                                 enum expression_syntax syntax)
{
    expression_parser_seek(parser, offset, syntax);
    const struct expression_node *node =
        syntax == SYNTAX_FEEL ? expression_parse_feel(parser) : expression_parse_juel(parser);
    if (parser->result == RESULT_OK && parser->token.kind != TOKEN_END) {
        return expression_parser_unexpected(parser, "an operator or the end");
    }
    return node;
}

static const struct expression_node *parse(struct expression_parser *parser, struct reading reading)
{
    switch (reading.as) {
    case READ_LITERAL:
        return expression_parser_constant(parser, 0, expression_string(parser->lexer.source));
    case READ_FEEL:
        return parse_whole(parser, reading.offset, SYNTAX_FEEL);
    case READ_JUEL:
        return parse_whole(parser, reading.offset, SYNTAX_JUEL);
    case READ_JUEL_TEXT:
        return expression_parse_text(parser, SYNTAX_JUEL);
    case READ_TEMPLATE:
        return expression_parse_text(parser, SYNTAX_FEEL);
    case READ_TESTS:
        expression_parser_seek(parser, 0, SYNTAX_FEEL);
        return expression_parse_unary_tests(parser);
    }
    ASSERT_UNREACHABLE();
    return NULL;
}

static enum result refuse(struct engine_expression_error *error, enum result result, size_t offset,
                          const char *message)
{
    *error = (struct engine_expression_error){(uint32_t)offset, message};
    return result;
}

enum result engine_expression_compile(struct span text, enum engine_dialect dialect,
                                      struct arena *arena, const struct engine_expression **out,
                                      struct engine_expression_error *error)
{
    return engine_expression_compile_declared(text, dialect, NULL, arena, out, error);
}

enum result engine_expression_compile_declared(struct span text, enum engine_dialect dialect,
                                               const struct engine_declarations *declarations,
                                               struct arena *arena,
                                               const struct engine_expression **out,
                                               struct engine_expression_error *error)
{
    *out = NULL;
    *error = (struct engine_expression_error){0};
    if (text.count > LIMIT_EXPRESSION_BYTES) {
        return refuse(error, RESULT_LIMIT, LIMIT_EXPRESSION_BYTES, "expression too long");
    }
    size_t valid = text_utf8_valid_count(text);
    if (valid < text.count) {
        return refuse(error, RESULT_INVALID, valid, "invalid UTF-8");
    }
    struct engine_expression *expression = arena_zero(arena, sizeof *expression);
    struct span source = arena_copy(arena, text);
    if (expression == NULL || source.bytes == NULL) {
        return refuse(error, RESULT_LIMIT, 0, "out of memory");
    }
    struct expression_parser parser = {.arena = arena,
                                       .lexer = {.source = source},
                                       .declarations = declarations,
                                       .slotless = declarations != NULL && declarations->shared};
    struct reading reading = choose(source, dialect);
    const struct expression_node *root = parse(&parser, reading);
    struct span *slot_names = arena_alloc(arena, parser.slot_count * sizeof *slot_names);
    if (slot_names != NULL) {
        memcpy(slot_names, parser.slot_names, parser.slot_count * sizeof *slot_names);
    }
    if (parser.result == RESULT_OK && arena->overflowed) {
        expression_parser_fail(&parser, RESULT_LIMIT, 0, "out of memory");
    }
    if (parser.result != RESULT_OK) {
        *error = parser.error;
        return parser.result;
    }
    ASSERT(root != NULL);
    expression->source = source;
    expression->root = root;
    expression->slot_names = slot_names;
    expression->slot_count = parser.slot_count;
    expression->literal = root->kind == NODE_CONSTANT;
    expression->dialect = reading.as == READ_FEEL   ? ENGINE_DIALECT_FEEL
                          : reading.as == READ_JUEL ? ENGINE_DIALECT_JUEL
                                                    : ENGINE_DIALECT_AUTO;
    *out = expression;
    return RESULT_OK;
}

enum result expression_evaluate_in(const struct engine_expression *expression,
                                   const struct engine_names *names,
                                   const struct expression_frame *frame, struct arena *arena,
                                   struct expression_value *out,
                                   struct engine_expression_error *error)
{
    struct expression_slots slots;
    ASSERT(expression->slot_count <= EXPRESSION_SLOTS_MAX);
    slots.asked = 0;
    struct expression_evaluation evaluation = {
        .expression = expression,
        .names = names,
        .arena = arena,
        .frame = frame,
        .slots = &slots,
        .steps_left = LIMIT_EXPRESSION_STEPS,
    };
    *out = expression_evaluate(&evaluation, expression->root);
    *error = evaluation.error;
    return evaluation.result;
}

enum result engine_expression_evaluate(const struct engine_expression *expression,
                                       const struct engine_names *names, struct arena *arena,
                                       struct engine_evaluation *out)
{
    struct expression_value value;
    *out = (struct engine_evaluation){0};
    enum result result =
        expression_evaluate_in(expression, names, NULL, arena, &value, &out->error);
    if (result == RESULT_OK) {
        result = expression_value_encode(value, arena, &out->value);
        if (result != RESULT_OK || arena->overflowed) {
            result = RESULT_LIMIT;
            out->error = (struct engine_expression_error){0, "result too large or too deep"};
        }
    }
    if (result != RESULT_OK) {
        out->value = SPAN_EMPTY;
    } else if (expression_value_read(value).type != VALUE_NULL) {
        out->error = (struct engine_expression_error){0}; /* it only tells why a value is null */
    }
    return result;
}

bool engine_expression_is_literal(const struct engine_expression *expression)
{
    return expression->literal;
}

struct span engine_expression_literal(const struct engine_expression *expression)
{
    ASSERT(expression->literal);
    const struct expression_value *constant = &expression->root->as.constant;
    if (constant->type >= VALUE_DATE && constant->type <= VALUE_DURATION) {
        return SPAN_EMPTY;
    }
    return constant->type == VALUE_STRING ? constant->as.text : expression->source;
}

struct span engine_expression_source(const struct engine_expression *expression)
{
    return expression->source;
}
