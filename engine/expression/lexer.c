/* lexer.c: the tables of signs and keywords, and the scanners of names, numbers, strings and
 * comments. */
#include "engine/expression/lexer.h"

#include "engine/expression/text.h"

#define BOTH (SYNTAX_FEEL | SYNTAX_JUEL)

struct sign {
    const char *text;
    enum expression_token_kind kind;
    unsigned syntaxes;
    const char *error; /* for TOKEN_ERROR: what the writer may have meant */
};

/* Longer signs before their prefixes. */
static const struct sign signs[] = {
    {"**", TOKEN_POWER, SYNTAX_FEEL, NULL},
    {"..", TOKEN_DOTS, SYNTAX_FEEL, NULL},
    {"!=", TOKEN_UNEQUAL, BOTH, NULL},
    {"<=", TOKEN_LESS_EQUAL, BOTH, NULL},
    {">=", TOKEN_GREATER_EQUAL, BOTH, NULL},
    {"==", TOKEN_EQUAL, SYNTAX_JUEL, NULL},
    {"&&", TOKEN_AND, SYNTAX_JUEL, NULL},
    {"||", TOKEN_OR, SYNTAX_JUEL, NULL},
    {"==", TOKEN_ERROR, SYNTAX_FEEL, "FEEL compares with \"=\", not \"==\""},
    {"&&", TOKEN_ERROR, SYNTAX_FEEL, "FEEL has \"and\", not \"&&\""},
    {"||", TOKEN_ERROR, SYNTAX_FEEL, "FEEL has \"or\", not \"||\""},
    {"!", TOKEN_ERROR, SYNTAX_FEEL, "FEEL has \"not(…)\", not \"!\""},
    {"'", TOKEN_ERROR, SYNTAX_FEEL, "FEEL strings stand in double quotes"},
    {"(", TOKEN_OPEN, BOTH, NULL},
    {")", TOKEN_CLOSE, BOTH, NULL},
    {"[", TOKEN_OPEN_LIST, BOTH, NULL},
    {"]", TOKEN_CLOSE_LIST, BOTH, NULL},
    {"{", TOKEN_OPEN_CONTEXT, BOTH, NULL},
    {"}", TOKEN_CLOSE_CONTEXT, BOTH, NULL},
    {",", TOKEN_COMMA, BOTH, NULL},
    {":", TOKEN_COLON, BOTH, NULL},
    {".", TOKEN_DOT, BOTH, NULL},
    {"@", TOKEN_AT, SYNTAX_FEEL, NULL},
    {"?", TOKEN_QUESTION, SYNTAX_JUEL, NULL},
    {"+=", TOKEN_JOIN, SYNTAX_JUEL, NULL},
    {"+", TOKEN_PLUS, BOTH, NULL},
    {"-", TOKEN_MINUS, BOTH, NULL},
    {"*", TOKEN_TIMES, BOTH, NULL},
    {"/", TOKEN_DIVIDE, BOTH, NULL},
    {"%", TOKEN_REMAINDER, SYNTAX_JUEL, NULL},
    {"=", TOKEN_EQUAL, SYNTAX_FEEL, NULL},
    {"=", TOKEN_ERROR, SYNTAX_JUEL, "compare with \"==\" here, not \"=\""},
    {"<", TOKEN_LESS, BOTH, NULL},
    {">", TOKEN_GREATER, BOTH, NULL},
    {"!", TOKEN_NOT, SYNTAX_JUEL, NULL},
};

static const struct sign keywords[] = {
    {"and", TOKEN_AND, BOTH, NULL},
    {"or", TOKEN_OR, BOTH, NULL},
    {"true", TOKEN_TRUE, BOTH, NULL},
    {"false", TOKEN_FALSE, BOTH, NULL},
    {"null", TOKEN_NULL, BOTH, NULL},
    {"between", TOKEN_BETWEEN, SYNTAX_FEEL, NULL},
    {"in", TOKEN_IN, SYNTAX_FEEL, NULL},
    {"instance", TOKEN_INSTANCE, SYNTAX_FEEL, NULL},
    {"if", TOKEN_IF, SYNTAX_FEEL, NULL},
    {"then", TOKEN_THEN, SYNTAX_FEEL, NULL},
    {"else", TOKEN_ELSE, SYNTAX_FEEL, NULL},
    {"for", TOKEN_FOR, SYNTAX_FEEL, NULL},
    {"return", TOKEN_RETURN, SYNTAX_FEEL, NULL},
    {"some", TOKEN_SOME, SYNTAX_FEEL, NULL},
    {"every", TOKEN_EVERY, SYNTAX_FEEL, NULL},
    {"satisfies", TOKEN_SATISFIES, SYNTAX_FEEL, NULL},
    {"function", TOKEN_FUNCTION, SYNTAX_FEEL, NULL},
    {"not", TOKEN_NOT, SYNTAX_JUEL, NULL},
    {"empty", TOKEN_EMPTY, SYNTAX_JUEL, NULL},
    {"eq", TOKEN_EQUAL, SYNTAX_JUEL, NULL},
    {"ne", TOKEN_UNEQUAL, SYNTAX_JUEL, NULL},
    {"lt", TOKEN_LESS, SYNTAX_JUEL, NULL},
    {"le", TOKEN_LESS_EQUAL, SYNTAX_JUEL, NULL},
    {"gt", TOKEN_GREATER, SYNTAX_JUEL, NULL},
    {"ge", TOKEN_GREATER_EQUAL, SYNTAX_JUEL, NULL},
    {"div", TOKEN_DIVIDE, SYNTAX_JUEL, NULL},
    {"mod", TOKEN_REMAINDER, SYNTAX_JUEL, NULL},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct sign *find_keyword(struct span word, enum expression_syntax syntax)
{
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if ((keywords[i].syntaxes & syntax) != 0 && span_is(word, keywords[i].text)) {
            return &keywords[i];
        }
    }
    return NULL;
}

bool expression_is_keyword(struct span word, enum expression_syntax syntax)
{
    return find_keyword(word, syntax) != NULL;
}

static uint8_t byte_at(const struct expression_lexer *lexer, size_t offset)
{
    return offset < lexer->source.count ? lexer->source.bytes[offset] : 0;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool starts_with(const struct expression_lexer *lexer, const char *text)
{
    return byte_at(lexer, lexer->offset) == (uint8_t)text[0] &&
           (text[1] == '\0' || byte_at(lexer, lexer->offset + 1) == (uint8_t)text[1]);
}

/* Steps over one comment; NULL, or why it is none. FEEL: "//" to the end of the line, and C's. */
static const char *skip_comment(struct expression_lexer *lexer)
{
    if (byte_at(lexer, lexer->offset + 1) == '/') {
        while (lexer->offset < lexer->source.count && byte_at(lexer, lexer->offset) != '\n') {
            lexer->offset++;
        }
        return NULL;
    }
    struct span rest =
        span_of(lexer->source.bytes + lexer->offset + 2, lexer->source.count - lexer->offset - 2);
    size_t end = expression_text_find(rest, span_text("*/"));
    if (end == EXPRESSION_NOT_FOUND) {
        return "comment without an end";
    }
    lexer->offset += 2 + end + 2;
    return NULL;
}

static const char *skip_space(struct expression_lexer *lexer)
{
    while (lexer->offset < lexer->source.count) {
        size_t behind = lexer->offset;
        if (expression_text_is_space(expression_text_decode(lexer->source, &behind))) {
            lexer->offset = behind;
        } else if (lexer->syntax == SYNTAX_FEEL &&
                   (starts_with(lexer, "//") || starts_with(lexer, "/*"))) {
            const char *error = skip_comment(lexer);
            if (error != NULL) {
                return error;
            }
        } else {
            break;
        }
    }
    return NULL;
}

/* DMN 1.5 grammar rule 37: digits ["." digits] | "." digits, then an exponent. */
static void scan_number(struct expression_lexer *lexer, struct expression_token *token)
{
    size_t at = lexer->offset;
    while (is_digit(byte_at(lexer, at))) {
        at++;
    }
    /* "1..5" is a range; EL also knows "1." */
    if (byte_at(lexer, at) == '.' && (is_digit(byte_at(lexer, at + 1)) ||
                                      (lexer->syntax == SYNTAX_JUEL && at > lexer->offset))) {
        at++;
        while (is_digit(byte_at(lexer, at))) {
            at++;
        }
    }
    if ((byte_at(lexer, at) | 0x20) == 'e') {
        uint8_t sign = byte_at(lexer, at + 1);
        size_t digits = at + (sign == '+' || sign == '-' ? 2 : 1);
        if (is_digit(byte_at(lexer, digits))) {
            at = digits;
            while (is_digit(byte_at(lexer, at))) {
                at++;
            }
        }
    }
    token->kind = TOKEN_NUMBER;
    lexer->offset = at;
}

static void scan_string(struct expression_lexer *lexer, struct expression_token *token)
{
    uint8_t quote = byte_at(lexer, lexer->offset);
    size_t at = lexer->offset + 1;
    while (at < lexer->source.count && byte_at(lexer, at) != quote) {
        at += byte_at(lexer, at) == '\\' ? 2 : 1;
    }
    if (at >= lexer->source.count) {
        lexer->error = "string without an end";
        token->kind = TOKEN_ERROR;
        return;
    }
    token->kind = TOKEN_STRING;
    token->text = span_of(lexer->source.bytes + lexer->offset + 1, at - lexer->offset - 1);
    lexer->offset = at + 1;
}

static bool is_name_character(const struct expression_lexer *lexer, uint32_t point, bool start)
{
    if (lexer->syntax == SYNTAX_JUEL && (point == '$' || point == '?')) {
        return point == '$';
    }
    if (lexer->syntax == SYNTAX_FEEL && point == '\'' && !start) {
        return true; /* grammar rule 30; a string would stand behind a sign or a space */
    }
    return start ? expression_text_is_name_start(point) : expression_text_is_name_part(point);
}

/* Moves over a name at the lexer's place; false when there is none. */
static bool scan_name(struct expression_lexer *lexer, struct expression_token *token)
{
    size_t start = lexer->offset;
    for (size_t behind = start; behind < lexer->source.count; lexer->offset = behind) {
        uint32_t point = expression_text_decode(lexer->source, &behind);
        if (!is_name_character(lexer, point, lexer->offset == start) ||
            expression_text_is_space(point)) {
            break;
        }
    }
    if (lexer->offset == start) {
        return false;
    }
    struct span text = span_of(lexer->source.bytes + start, lexer->offset - start);
    const struct sign *keyword = find_keyword(text, lexer->syntax);
    token->kind = keyword == NULL ? TOKEN_NAME : keyword->kind;
    token->is_word = true;
    return true;
}

static void scan_sign(struct expression_lexer *lexer, struct expression_token *token)
{
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if ((signs[i].syntaxes & lexer->syntax) != 0 && starts_with(lexer, signs[i].text)) {
            token->kind = signs[i].kind;
            lexer->error = signs[i].error;
            lexer->offset += strlen(signs[i].text);
            return;
        }
    }
    token->kind = TOKEN_ERROR;
    lexer->error = "unexpected character";
}

struct expression_token expression_lexer_next(struct expression_lexer *lexer)
{
    struct expression_token token = {.kind = TOKEN_END};
    const char *error = skip_space(lexer);
    size_t start = lexer->offset;
    uint8_t first = byte_at(lexer, start);
    if (error != NULL) {
        lexer->error = error;
        token.kind = TOKEN_ERROR;
    } else if (start < lexer->source.count) {
        bool quoted = first == '"' || (first == '\'' && lexer->syntax == SYNTAX_JUEL);
        if (is_digit(first) || (first == '.' && is_digit(byte_at(lexer, start + 1)))) {
            scan_number(lexer, &token);
        } else if (quoted) {
            scan_string(lexer, &token);
        } else if (!scan_name(lexer, &token)) {
            scan_sign(lexer, &token);
        }
    }
    token.offset = (uint32_t)start;
    token.end = (uint32_t)lexer->offset;
    if (token.kind != TOKEN_STRING) {
        token.text = span_of(lexer->source.bytes + start, lexer->offset - start);
    }
    return token;
}
