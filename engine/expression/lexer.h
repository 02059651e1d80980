/*
 * lexer.h: source text to tokens, on demand. A lexer is a plain value: copy it to look ahead.
 */
#ifndef ENGINE_EXPRESSION_LEXER_H
#define ENGINE_EXPRESSION_LEXER_H

#include "proto/base/span.h"

enum expression_syntax {
    SYNTAX_FEEL = 1,
    SYNTAX_JUEL = 2,
};

/* Signs have one kind in all dialects: "=" of FEEL and "==" of JUEL are TOKEN_EQUAL, "and" and "&&"
 * TOKEN_AND. */
enum expression_token_kind {
    TOKEN_END,
    TOKEN_ERROR, /* lexer.error says what */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING, /* text without its quotes, escapes as written */
    TOKEN_OPEN,   /* ( [ { */
    TOKEN_CLOSE,
    TOKEN_OPEN_LIST,
    TOKEN_CLOSE_LIST,
    TOKEN_OPEN_CONTEXT,
    TOKEN_CLOSE_CONTEXT,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_DOT,
    TOKEN_DOTS,
    TOKEN_AT,
    TOKEN_QUESTION,
    TOKEN_PLUS,
    TOKEN_JOIN,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DIVIDE,
    TOKEN_REMAINDER,
    TOKEN_POWER,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_EMPTY,
    TOKEN_BETWEEN,
    TOKEN_IN,
    TOKEN_INSTANCE,
    TOKEN_IF,
    TOKEN_THEN,
    TOKEN_ELSE,
    TOKEN_FOR,
    TOKEN_RETURN,
    TOKEN_SOME,
    TOKEN_EVERY,
    TOKEN_SATISFIES,
    TOKEN_FUNCTION,
};

struct expression_token {
    enum expression_token_kind kind;
    bool is_word;     /* letters: a name or a keyword */
    struct span text; /* borrowed from the source */
    uint32_t offset;
    uint32_t end; /* of the token in the source, quotes included */
};

struct expression_lexer {
    struct span source; /* valid UTF-8 */
    size_t offset;
    enum expression_syntax syntax;
    const char *error; /* after TOKEN_ERROR: static text */
};

/* The next token; TOKEN_END at the end, again and again. */
struct expression_token expression_lexer_next(struct expression_lexer *lexer);
bool expression_is_keyword(struct span word, enum expression_syntax syntax);

#endif
