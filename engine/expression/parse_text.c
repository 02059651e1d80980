/* parse_text.c: text with expressions in it. The expression's own parser finds where it ends, so
 * "}" in a string is no end. */
#include "engine/expression/parser.h"
#include "engine/expression/text.h"

struct text_parts {
    struct expression_nodes nodes;
    const struct expression_node *only; /* the expression, while there is one */
    uint32_t expressions;
    bool has_text; /* other than white space */
};

static bool is_marker(struct span source, size_t offset, enum expression_syntax syntax)
{
    if (offset + 1 >= source.count || source.bytes[offset + 1] != '{') {
        return false;
    }
    uint8_t first = source.bytes[offset];
    return syntax == SYNTAX_JUEL ? first == '$' || first == '#' : first == '{';
}

/* Backslashes right before `offset`, from `start` on. */
static size_t count_backslashes(struct span source, size_t start, size_t offset)
{
    size_t count = 0;
    while (offset > start && source.bytes[offset - 1] == '\\') {
        offset--;
        count++;
    }
    return count;
}

/* JUEL's "\${" is the text "${": the backslash goes, what it escapes stays. */
static bool is_escaped(struct span source, size_t start, size_t offset,
                       enum expression_syntax syntax)
{
    return syntax == SYNTAX_JUEL && count_backslashes(source, start, offset) > 0;
}

static void add_text(struct expression_parser *parser, struct text_parts *parts, size_t start,
                     size_t end)
{
    if (end <= start) {
        return;
    }
    struct span text = span_of(parser->lexer.source.bytes + start, end - start);
    parts->has_text |= span_trim(text).count > 0;
    expression_parser_add(
        parser, &parts->nodes,
        expression_parser_constant(parser, (uint32_t)start, expression_string(text)));
}

/* The text up to the next expression or the end; returns where that is. */
static size_t take_text(struct expression_parser *parser, struct text_parts *parts, size_t start,
                        enum expression_syntax syntax)
{
    struct span source = parser->lexer.source;
    size_t offset = start;
    for (; offset < source.count; offset++) {
        if (!is_marker(source, offset, syntax)) {
            continue;
        }
        if (!is_escaped(source, start, offset, syntax)) {
            break;
        }
        add_text(parser, parts, start, offset - 1);
        start = offset;
        offset++; /* behind the "${" that is text */
    }
    add_text(parser, parts, start, offset < source.count ? offset : source.count);
    return offset;
}

/* The expression between the markers; returns the byte behind it. */
static size_t take_expression(struct expression_parser *parser, struct text_parts *parts,
                              size_t offset, enum expression_syntax syntax)
{
    expression_parser_seek(parser, offset + 2, syntax);
    const struct expression_node *node =
        syntax == SYNTAX_JUEL ? expression_parse_juel(parser) : expression_parse_feel(parser);
    struct expression_token close = parser->token;
    struct span source = parser->lexer.source;
    size_t end = close.end;
    if (syntax == SYNTAX_FEEL) {
        bool twice = end < source.count && source.bytes[end] == '}';
        if (close.kind != TOKEN_CLOSE_CONTEXT || !twice) {
            expression_parser_unexpected(parser, "\"}}\"");
        }
        end++;
    } else if (close.kind != TOKEN_CLOSE_CONTEXT) {
        expression_parser_unexpected(parser, "\"}\"");
    }
    expression_parser_add(parser, &parts->nodes, node);
    parts->only = node;
    parts->expressions++;
    return end;
}

const struct expression_node *expression_parse_text(struct expression_parser *parser,
                                                    enum expression_syntax syntax)
{
    struct text_parts parts = {0};
    size_t offset = 0;
    do {
        offset = take_text(parser, &parts, offset, syntax);
        if (offset < parser->lexer.source.count) {
            offset = take_expression(parser, &parts, offset, syntax);
        }
    } while (offset < parser->lexer.source.count && parser->result == RESULT_OK);
    if (parts.expressions == 1 && !parts.has_text) {
        return parts.only;
    }
    if (parts.expressions == 0 && parts.nodes.count <= 1) {
        return parts.nodes.count == 1
                   ? parts.nodes.items[0]
                   : expression_parser_constant(parser, 0, expression_string(SPAN_EMPTY));
    }
    return expression_parser_node(parser, NODE_TEXT, 0, parts.nodes.items, parts.nodes.count);
}
