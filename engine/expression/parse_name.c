/* parse_name.c: names of several words, with keywords or signs in them. */
#include "engine/expression/parse_feel.h"
#include "engine/expression/text.h"
#include "proto/base/limits.h"

#define NAME_BYTES_MAX 512u

/* Names of the standard that have a keyword inside: taken whole where they stand whole. */
static bool take_phrase(struct expression_parser *parser, struct span *name)
{
    static const char *const phrases[][5] = {
        {"date", "and", "time"},
        {"days", "and", "time", "duration"},
        {"years", "and", "months", "duration"},
        {"get", "or", "else"},
    };
    static const char *const names[] = {"date and time", "days and time duration",
                                        "years and months duration", "get or else"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct expression_lexer ahead = parser->lexer;
        struct expression_token token = parser->token;
        size_t word = 0;
        while (phrases[i][word] != NULL && span_is(token.text, phrases[i][word])) {
            token = expression_lexer_next(&ahead);
            word++;
        }
        if (phrases[i][word] == NULL && token.kind != TOKEN_ERROR) {
            parser->lexer = ahead;
            parser->token = token;
            *name = span_text(names[i]);
            return true;
        }
    }
    return false;
}

/* Does the name stand at this place, and end there? */
static bool stands_at(struct span source, size_t offset, struct span name)
{
    size_t end = offset + name.count;
    if (end > source.count || !span_equal(span_of(source.bytes + offset, name.count), name)) {
        return false;
    }
    return end == source.count ||
           !expression_text_is_name_part(expression_text_decode(source, &end));
}

static void prefer(struct expression_parser *parser, struct span name, struct span *longest)
{
    if (name.count > longest->count &&
        stands_at(parser->lexer.source, parser->token.offset, name)) {
        *longest = name;
    }
}

/* The longest bound or declared name that stands here and is more than one word. */
static bool take_known(struct expression_parser *parser, struct span *name)
{
    const struct engine_declarations *declarations = parser->declarations;
    *name = span_of(parser->token.text.bytes, parser->token.end - parser->token.offset);
    size_t word_bytes = name->count;
    for (const struct expression_local *local = parser->locals; local != NULL;
         local = local->outer) {
        prefer(parser, local->name, name);
    }
    for (size_t i = 0; declarations != NULL && i < declarations->count; i++) {
        prefer(parser, declarations->names[i], name);
    }
    if (name->count == word_bytes) {
        return false;
    }
    expression_parser_seek(parser, parser->token.offset + name->count, SYNTAX_FEEL);
    return true;
}

struct span expression_feel_take_name(struct expression_parser *parser)
{
    struct span name;
    if (take_known(parser, &name) || take_phrase(parser, &name)) {
        return name;
    }
    name = expression_parser_take(parser).text;
    while (parser->token.kind == TOKEN_NAME) {
        struct span word = expression_parser_take(parser).text;
        if (name.count + 1 + word.count > NAME_BYTES_MAX) {
            expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "name too long");
            break;
        }
        if (name.bytes + name.count + 1 == word.bytes && name.bytes[name.count] == ' ') {
            name.count += 1 + word.count; /* as it stands in the source */
        } else {
            name = expression_text_concatenate(parser->arena, name, span_text(" "));
            name = expression_text_concatenate(parser->arena, name, word);
        }
    }
    return name;
}

struct span expression_feel_take_new_name(struct expression_parser *parser,
                                          enum expression_token_kind end)
{
    uint32_t start = parser->token.offset;
    struct span name = expression_feel_take_name(parser);
    while (parser->token.kind != end &&
           (parser->token.kind == TOKEN_MINUS || parser->token.kind == TOKEN_PLUS ||
            parser->token.kind == TOKEN_TIMES || parser->token.kind == TOKEN_DIVIDE ||
            parser->token.kind == TOKEN_DOT || parser->token.kind == TOKEN_NUMBER ||
            parser->token.is_word)) {
        uint32_t behind = expression_parser_take(parser).end;
        name = span_of(parser->lexer.source.bytes + start, behind - start); /* as it stands there */
    }
    return name;
}
