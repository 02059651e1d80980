/*
 * config_text.c: a scanner of five kinds of token, and the three rules above it: file, section,
 * list.
 */
#include "tools/strider/config_text.h"

#include "proto/base/text.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,  /* a bare or quoted text */
    TOKEN_MARK,  /* one of { } [ ] = : , ; */
    TOKEN_ERROR, /* scanner->problem says why */
};

struct token {
    enum token_kind kind;
    char mark;
    bool quoted;
    const char *text; /* WORD: in the arena */
    unsigned line;
};

struct scanner {
    const uint8_t *next;
    const uint8_t *end;
    unsigned line;
    struct arena *arena;
    const char *problem;
    struct token token; /* the one looked at */
};

static struct token fail(struct scanner *scanner, const char *problem)
{
    scanner->problem = problem;
    return (struct token){.kind = TOKEN_ERROR, .line = scanner->line};
}

static bool scanner_sees(const struct scanner *scanner, const char *text)
{
    return span_starts_with(span_of(scanner->next, (size_t)(scanner->end - scanner->next)), text);
}

/* Over white space and comments; false: a comment that never ends. */
static bool skip_space(struct scanner *scanner)
{
    while (scanner->next < scanner->end) {
        uint8_t byte = *scanner->next;
        if (byte == '#' || scanner_sees(scanner, "//")) {
            while (scanner->next < scanner->end && *scanner->next != '\n') {
                scanner->next++;
            }
        } else if (scanner_sees(scanner, "/*")) {
            scanner->next += 2;
            while (!scanner_sees(scanner, "*/")) {
                if (scanner->next >= scanner->end) {
                    return false;
                }
                scanner->line += *scanner->next++ == '\n';
            }
            scanner->next += 2;
        } else if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') {
            scanner->line += byte == '\n';
            scanner->next++;
        } else {
            break;
        }
    }
    return true;
}

/* JSON's escapes but \u, which no key of ours has a use for. */
static char unescape(uint8_t byte)
{
    switch (byte) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '"':
    case '\\':
    case '/':
        return (char)byte;
    default:
        return '\0';
    }
}

static struct token scan_quoted(struct scanner *scanner)
{
    unsigned line = scanner->line;
    const uint8_t *close = scanner->next + 1;
    while (close < scanner->end && *close != '"' && *close != '\n') {
        close += *close == '\\' ? 2 : 1;
    }
    if (close >= scanner->end || *close != '"') {
        return fail(scanner, "a \" has no partner on its line");
    }
    char *text = arena_alloc(scanner->arena, (size_t)(close - scanner->next));
    if (text == NULL) {
        return fail(scanner, "too large");
    }
    size_t count = 0;
    for (const uint8_t *next = scanner->next + 1; next < close; next++) {
        char byte = (char)*next;
        if (byte == '\\') {
            byte = unescape(*++next);
        }
        if (byte == '\0') {
            return fail(scanner, "unknown escape in a text (\\\" \\\\ \\/ \\n \\t \\r are known)");
        }
        text[count++] = byte;
    }
    text[count] = '\0';
    scanner->next = close + 1;
    return (struct token){.kind = TOKEN_WORD, .quoted = true, .text = text, .line = line};
}

/* A ':' belongs to the word unless white space or a mark follows: "listen: tcp://host:1" and "key:
 * value" read as meant. */
static bool ends_word(const struct scanner *scanner, const uint8_t *at)
{
    if (at >= scanner->end || *at <= ' ') {
        return true;
    }
    if (*at == ':') {
        return at + 1 >= scanner->end || at[1] <= ' ' || memchr("\"[{", at[1], 3) != NULL;
    }
    return memchr("{}[]=,;\"", *at, 8) != NULL;
}

static struct token scan_bare(struct scanner *scanner)
{
    const uint8_t *end = scanner->next;
    while (!ends_word(scanner, end)) {
        end++;
    }
    struct span word =
        arena_copy(scanner->arena, span_of(scanner->next, (size_t)(end - scanner->next)));
    if (word.count == 0) {
        return fail(scanner, "too large");
    }
    scanner->next = end;
    return (struct token){
        .kind = TOKEN_WORD, .text = (const char *)word.bytes, .line = scanner->line};
}

static void advance(struct scanner *scanner)
{
    if (!skip_space(scanner)) {
        scanner->token = fail(scanner, "a comment has no end");
    } else if (scanner->next >= scanner->end) {
        scanner->token = (struct token){.kind = TOKEN_END, .line = scanner->line};
    } else if (*scanner->next == '"') {
        scanner->token = scan_quoted(scanner);
    } else if (*scanner->next == ':' || ends_word(scanner, scanner->next)) {
        scanner->token = (struct token){
            .kind = TOKEN_MARK, .mark = (char)*scanner->next++, .line = scanner->line};
    } else {
        scanner->token = scan_bare(scanner);
    }
}

static bool at_mark(const struct scanner *scanner, char mark)
{
    return scanner->token.kind == TOKEN_MARK && scanner->token.mark == mark;
}

static enum result refuse(struct scanner *scanner, const char *problem)
{
    if (scanner->problem == NULL) {
        scanner->problem = problem;
    }
    return RESULT_INVALID;
}

static enum result read_list(struct scanner *scanner, struct config_entry *entry)
{
    const char **values = arena_alloc(scanner->arena, CONFIG_LIST_MAX * sizeof(*values));
    if (values == NULL) {
        return RESULT_LIMIT;
    }
    for (advance(scanner); !at_mark(scanner, ']'); advance(scanner)) {
        if (scanner->token.kind != TOKEN_WORD) {
            return refuse(scanner, "a list holds texts or numbers, and ends with ]");
        }
        if (entry->value_count == CONFIG_LIST_MAX) {
            return refuse(scanner, "a list of more than 256 items");
        }
        values[entry->value_count++] = scanner->token.text;
        advance(scanner);
        if (at_mark(scanner, ']')) {
            break;
        }
        if (!at_mark(scanner, ',')) {
            return refuse(scanner, "expected , or ] in a list");
        }
    }
    entry->values = values;
    entry->list = true;
    return RESULT_OK;
}

static enum result read_value(struct scanner *scanner, struct config_entry *entry)
{
    if (at_mark(scanner, '[')) {
        return read_list(scanner, entry);
    }
    if (scanner->token.kind != TOKEN_WORD) {
        return refuse(scanner, "expected a value");
    }
    const char **value = arena_alloc(scanner->arena, sizeof(*value));
    if (value == NULL) {
        return RESULT_LIMIT;
    }
    *value = scanner->token.text;
    entry->values = value;
    entry->value_count = 1;
    return RESULT_OK;
}

static enum result read_pairs(struct scanner *scanner, const char *section,
                              struct config_text *out);

/* After a key: a section's pairs in braces, or a value. */
static enum result read_entry(struct scanner *scanner, const char *section, struct config_text *out)
{
    struct token key = scanner->token;
    advance(scanner);
    bool separated = at_mark(scanner, '=') || at_mark(scanner, ':');
    if (separated) {
        advance(scanner);
    }
    if (at_mark(scanner, '{')) {
        if (section[0] != '\0') {
            return refuse(scanner, "sections hold no sections");
        }
        advance(scanner);
        enum result result = read_pairs(scanner, key.text, out);
        if (result == RESULT_OK && !at_mark(scanner, '}')) {
            return refuse(scanner, "a section has no closing }");
        }
        return result;
    }
    if (!separated && (scanner->token.kind != TOKEN_WORD || scanner->token.line != key.line)) {
        return refuse(scanner, "expected = after a key");
    }
    if (out->count == CONFIG_ENTRIES_MAX) {
        return refuse(scanner, "more than 256 keys");
    }
    struct config_entry *entry = &out->entries[out->count++];
    *entry = (struct config_entry){.section = section, .key = key.text, .line = key.line};
    return read_value(scanner, entry);
}

/* Pairs up to the end or a '}'. Each ends at a comma, a semicolon or where the next key begins. */
static enum result read_pairs(struct scanner *scanner, const char *section, struct config_text *out)
{
    while (scanner->token.kind != TOKEN_END && !at_mark(scanner, '}')) {
        if (scanner->token.kind != TOKEN_WORD) {
            return refuse(scanner, "expected a key");
        }
        enum result result = read_entry(scanner, section, out);
        if (result != RESULT_OK) {
            return result;
        }
        struct token last = scanner->token;
        advance(scanner);
        if (at_mark(scanner, ',') || at_mark(scanner, ';')) {
            advance(scanner);
        } else if (last.kind == TOKEN_WORD && scanner->token.kind == TOKEN_WORD &&
                   scanner->token.line == last.line) {
            return refuse(scanner, "a value with white space needs \"…\" around it");
        }
    }
    return RESULT_OK;
}

static enum result read_file(struct scanner *scanner, struct config_text *out)
{
    advance(scanner);
    bool braced = at_mark(scanner, '{');
    if (braced) {
        advance(scanner);
    }
    enum result result = read_pairs(scanner, "", out);
    if (result != RESULT_OK) {
        return result;
    }
    if (braced != at_mark(scanner, '}')) {
        return refuse(scanner, braced ? "the opening { has no partner" : "a } without its {");
    }
    if (braced) {
        advance(scanner);
    }
    return scanner->token.kind == TOKEN_END ? RESULT_OK : refuse(scanner, "text after the last }");
}

enum result config_text_read(struct span text, struct arena *arena, struct config_text *out,
                             unsigned *line, const char **problem)
{
    struct scanner scanner = {
        .next = text.bytes, .end = text.bytes + text.count, .line = 1, .arena = arena};
    *out = (struct config_text){
        .entries = arena_alloc(arena, CONFIG_ENTRIES_MAX * sizeof(struct config_entry))};
    size_t valid = text_utf8_valid_count(text);
    enum result result = RESULT_LIMIT;
    if (valid < text.count) {
        for (size_t i = 0; i < valid; i++) {
            scanner.line += text.bytes[i] == '\n';
        }
        scanner.token.line = scanner.line;
        result = refuse(&scanner, "not UTF-8");
    } else if (text.count > 0 && memchr(text.bytes, '\0', text.count) != NULL) {
        result = refuse(&scanner, "a NUL byte");
    } else if (out->entries != NULL) {
        result = read_file(&scanner, out);
    }
    *line = scanner.token.line;
    *problem = scanner.problem != NULL ? scanner.problem : "out of memory";
    return result;
}
