/* regex_parse.c: the grammar of patterns: XML Schema Part 2 appendix F, and XPath and XQuery
 * Functions 3.1 §5.6.1. */
#include "engine/expression/regex_syntax.h"
#include "engine/expression/text.h"

#define REPEAT_MAX  REGEX_PROGRAM_MAX
#define END_OF_TEXT UINT32_MAX
#define POINT_MAX   0x10ffffu

struct parser {
    struct arena *arena;
    struct span pattern;
    size_t at;
    struct regex_flags flags;
    unsigned nesting;
    uint32_t group_count; /* that have begun */
    bool closed[REGEX_GROUPS_MAX];
    bool has_back_references;
    const char *reason; /* the first fault */
};

static struct regex_node *parse_choice(struct parser *parser);
static struct regex_set *parse_class(struct parser *parser);

static void *fail(struct parser *parser, const char *reason)
{
    parser->reason = parser->reason == NULL ? reason : parser->reason;
    parser->at = parser->pattern.count;
    return NULL;
}

static bool is_space(uint32_t point)
{
    return point == ' ' || point == '\t' || point == '\n' || point == '\r';
}

static uint32_t peek_raw(const struct parser *parser)
{
    size_t at = parser->at;
    return at < parser->pattern.count ? expression_text_decode(parser->pattern, &at) : END_OF_TEXT;
}

static uint32_t take_raw(struct parser *parser)
{
    return parser->at < parser->pattern.count ? expression_text_decode(parser->pattern, &parser->at)
                                              : END_OF_TEXT;
}

/* The same outside of classes, where white space may mean nothing. */
static uint32_t peek(struct parser *parser)
{
    while (parser->flags.spaced && is_space(peek_raw(parser))) {
        take_raw(parser);
    }
    return peek_raw(parser);
}

static bool accept(struct parser *parser, uint32_t point)
{
    bool accepted = peek(parser) == point;
    if (accepted) {
        take_raw(parser);
    }
    return accepted;
}

static struct regex_node *new_node(struct parser *parser, enum regex_kind kind)
{
    struct regex_node *node = arena_zero(parser->arena, sizeof *node);
    if (node == NULL) {
        return fail(parser, "out of memory");
    }
    node->kind = kind;
    return node;
}

static struct regex_node *step(struct parser *parser, enum regex_operation operation)
{
    struct regex_node *node = new_node(parser, REGEX_NODE_STEP);
    if (node != NULL) {
        node->operation = operation;
    }
    return node;
}

static struct regex_node *point_step(struct parser *parser, uint32_t point)
{
    struct regex_node *node = step(parser, REGEX_POINT);
    if (node != NULL) {
        node->point = parser->flags.ignores_case ? regex_fold(point) : point;
    }
    return node;
}

static struct regex_node *set_step(struct parser *parser, const struct regex_set *set)
{
    struct regex_node *node = step(parser, REGEX_SET);
    if (node != NULL) {
        node->set = set;
    }
    return node;
}

/* What "\n" and the like stand for; false when the letter makes no such escape. */
static bool single_escape(uint32_t letter, uint32_t *point)
{
    static const char themselves[] = "\\|.-^?*+{}()[]$";
    *point = letter;
    if (letter == 'n' || letter == 'r' || letter == 't') {
        *point = letter == 'n' ? '\n' : letter == 'r' ? '\r' : '\t';
        return true;
    }
    return letter < 0x80 && letter != 0 && strchr(themselves, (int)letter) != NULL;
}

/* Behind "\p" or "\P": "{Name}". */
static void parse_property(struct parser *parser, struct regex_set *set, bool negated)
{
    enum { NAME_BYTES = 64 };
    uint8_t name[NAME_BYTES];
    size_t count = 0;
    if (!accept(parser, '{')) {
        fail(parser, "a property stands in braces");
        return;
    }
    for (uint32_t point = take_raw(parser); point != '}'; point = take_raw(parser)) {
        if (parser->flags.spaced && is_space(point)) {
            continue;
        }
        if (point >= 0x80 || count == NAME_BYTES) {
            fail(parser, "unknown property");
            return;
        }
        name[count++] = (uint8_t)point;
    }
    if (!regex_set_add_property(parser->arena, set, span_of(name, count), negated)) {
        fail(parser, "unknown property");
    }
}

/* An escape that means many code points, into a set; false when the letter makes none. */
static bool class_escape(struct parser *parser, uint32_t letter, struct regex_set *set)
{
    if (letter == 'p' || letter == 'P') {
        parse_property(parser, set, letter == 'P');
        return true;
    }
    if (letter >= 0x80 || letter == 0 || strchr("sSiIcCdDwW", (int)letter) == NULL) {
        return false;
    }
    regex_set_add_class(parser->arena, set, (uint8_t)letter);
    return true;
}

/* One code point of a class, or a class escape: then *is_class. */
static uint32_t class_point(struct parser *parser, struct regex_set *set, bool *is_class)
{
    uint32_t point = take_raw(parser);
    *is_class = false;
    if (point == '\\') {
        uint32_t letter = take_raw(parser);
        if (single_escape(letter, &point)) {
            return point;
        }
        *is_class = class_escape(parser, letter, set);
        if (!*is_class) {
            fail(parser, "unknown escape");
        }
        return 0;
    }
    if (point == '[' || point == END_OF_TEXT) {
        fail(parser, "malformed class");
    }
    return point;
}

/* "-" begins a subtraction before "[", is itself at both ends, else makes a range. */
static void parse_class_item(struct parser *parser, struct regex_set *set, bool first)
{
    bool is_class;
    uint32_t low = class_point(parser, set, &is_class);
    if (low == '-' && !first && peek_raw(parser) != ']' &&
        parser->pattern.bytes[parser->at - 1] == '-' && peek_raw(parser) != '-') {
        fail(parser, "malformed class");
        return;
    }
    if (is_class || parser->reason != NULL) {
        return;
    }
    size_t before = parser->at;
    if (peek_raw(parser) != '-') {
        regex_set_add_range(parser->arena, set, low, low);
        return;
    }
    take_raw(parser);
    uint32_t next = peek_raw(parser);
    if (next == ']' || next == '[') { /* the "-" is itself, or subtracts */
        parser->at = before;
        regex_set_add_range(parser->arena, set, low, low);
        return;
    }
    uint32_t high = class_point(parser, set, &is_class);
    if (is_class || high < low) {
        fail(parser, "malformed range");
        return;
    }
    regex_set_add_range(parser->arena, set, low, high);
}

/* "-[" next: a subtraction. */
static bool subtraction_follows(const struct parser *parser)
{
    size_t at = parser->at;
    return at + 1 < parser->pattern.count && parser->pattern.bytes[at] == '-' &&
           parser->pattern.bytes[at + 1] == '[';
}

/* Behind "[". */
static struct regex_set *parse_class(struct parser *parser)
{
    struct regex_set *set = regex_set_new(parser->arena);
    if (set == NULL || ++parser->nesting > REGEX_NESTING_MAX) {
        return fail(parser, "nested too deep");
    }
    if (peek_raw(parser) == '^') {
        take_raw(parser);
        regex_set_negate(set);
    }
    bool first = true;
    for (; parser->reason == NULL; first = false) {
        if (!first && subtraction_follows(parser)) {
            parser->at += 2;
            regex_set_subtract(set, parse_class(parser));
            if (take_raw(parser) != ']') {
                fail(parser, "malformed class");
            }
            break;
        }
        if (!first && peek_raw(parser) == ']') {
            take_raw(parser);
            break;
        }
        if (first && peek_raw(parser) == ']') {
            fail(parser, "empty class");
        }
        parse_class_item(parser, set, first);
    }
    parser->nesting--;
    return parser->reason == NULL ? set : NULL;
}

/* "\12" is group 12 if there is one that far, else group 1 and a "2". */
static struct regex_node *back_reference(struct parser *parser, uint32_t digit)
{
    uint32_t number = digit - '0';
    for (uint32_t next = peek_raw(parser); next >= '0' && next <= '9'; next = peek_raw(parser)) {
        uint32_t longer = number * 10 + (next - '0');
        if (longer >= parser->group_count) {
            break;
        }
        number = longer;
        take_raw(parser);
    }
    if (number >= parser->group_count || !parser->closed[number]) {
        return fail(parser, "there is no such group yet");
    }
    struct regex_node *node = step(parser, REGEX_BACK);
    if (node != NULL) {
        node->number = number;
    }
    parser->has_back_references = true;
    return node;
}

static struct regex_node *parse_escape(struct parser *parser)
{
    uint32_t point;
    uint32_t letter = take_raw(parser);
    if (letter >= '1' && letter <= '9') {
        return back_reference(parser, letter);
    }
    if (single_escape(letter, &point)) {
        return point_step(parser, point);
    }
    struct regex_set *set = regex_set_new(parser->arena);
    if (set == NULL || !class_escape(parser, letter, set)) {
        return fail(parser, "unknown escape");
    }
    return set_step(parser, set);
}

/* Behind "(". */
static struct regex_node *parse_group(struct parser *parser)
{
    struct regex_node *group = new_node(parser, REGEX_NODE_GROUP);
    bool captured = !accept(parser, '?');
    if (!captured && !accept(parser, ':')) {
        return fail(parser, "malformed group");
    }
    if (captured && parser->group_count == REGEX_GROUPS_MAX) {
        return fail(parser, "too many groups");
    }
    uint32_t number = captured ? parser->group_count++ : 0;
    struct regex_node *child = parse_choice(parser);
    if (!accept(parser, ')') || group == NULL) {
        return fail(parser, "a group without an end");
    }
    parser->closed[number] = true;
    group->number = number;
    group->child = child;
    return group;
}

static struct regex_node *parse_atom(struct parser *parser)
{
    uint32_t point = take_raw(parser);
    switch (point) {
    case '(':
        return parse_group(parser);
    case '[':
        return set_step(parser, parse_class(parser));
    case '\\':
        return parse_escape(parser);
    case '.':
        return step(parser, parser->flags.dot_all ? REGEX_ANY : REGEX_ANY_INLINE);
    case '^':
        return step(parser, parser->flags.multiline ? REGEX_LINE_BEGIN : REGEX_BEGIN);
    case '$':
        return step(parser, parser->flags.multiline ? REGEX_LINE_END : REGEX_END);
    case '?':
    case '*':
    case '+':
    case '{':
    case '}':
    case ']':
        return fail(parser, "a sign that must be escaped here");
    default:
        return point_step(parser, point);
    }
}

static bool take_count(struct parser *parser, uint32_t *count)
{
    uint32_t digits = 0;
    for (*count = 0; peek(parser) >= '0' && peek(parser) <= '9'; digits++) {
        *count = *count > REPEAT_MAX ? *count : *count * 10 + (take_raw(parser) - '0');
        if (*count > REPEAT_MAX) {
            fail(parser, "too large a count");
        }
    }
    return digits > 0;
}

/* "{2}", "{2,}", "{2,5}", behind the brace. */
static void parse_counts(struct parser *parser, struct regex_node *repeat)
{
    bool counted = take_count(parser, &repeat->min);
    repeat->max = repeat->min;
    if (counted && accept(parser, ',') && !take_count(parser, &repeat->max)) {
        repeat->max = REGEX_FOREVER;
    }
    if (!counted || !accept(parser, '}') || repeat->max < repeat->min) {
        fail(parser, "malformed count");
    }
}

static struct regex_node *parse_piece(struct parser *parser)
{
    struct regex_node *atom = parse_atom(parser);
    uint32_t sign = peek(parser);
    if (sign != '?' && sign != '*' && sign != '+' && sign != '{') {
        return atom;
    }
    take_raw(parser);
    struct regex_node *repeat = new_node(parser, REGEX_NODE_REPEAT);
    if (repeat == NULL) {
        return NULL;
    }
    repeat->child = atom;
    repeat->min = sign == '+';
    repeat->max = sign == '?' ? 1 : REGEX_FOREVER;
    if (sign == '{') {
        parse_counts(parser, repeat);
    }
    repeat->reluctant = accept(parser, '?');
    return repeat;
}

static struct regex_node *parse_sequence(struct parser *parser)
{
    struct regex_node *sequence = new_node(parser, REGEX_NODE_SEQUENCE);
    struct regex_node **link = sequence == NULL ? NULL : &sequence->child;
    for (uint32_t next = peek(parser);
         parser->reason == NULL && next != END_OF_TEXT && next != '|' && next != ')';
         next = peek(parser)) {
        struct regex_node *piece = parse_piece(parser);
        if (piece != NULL) {
            *link = piece;
            link = &piece->next;
        }
    }
    return sequence;
}

static struct regex_node *parse_choice(struct parser *parser)
{
    struct regex_node *choice = new_node(parser, REGEX_NODE_CHOICE);
    if (choice == NULL || ++parser->nesting > REGEX_NESTING_MAX) {
        return fail(parser, "nested too deep");
    }
    struct regex_node **link = &choice->child;
    do {
        *link = parse_sequence(parser);
        link = *link == NULL ? link : &(*link)->next;
    } while (accept(parser, '|'));
    parser->nesting--;
    return choice;
}

static struct regex_node *parse_literal(struct parser *parser)
{
    struct regex_node *sequence = new_node(parser, REGEX_NODE_SEQUENCE);
    struct regex_node **link = sequence == NULL ? NULL : &sequence->child;
    while (parser->reason == NULL && parser->at < parser->pattern.count) {
        *link = point_step(parser, take_raw(parser));
        link = *link == NULL ? link : &(*link)->next;
    }
    return sequence;
}

struct regex_node *regex_parse(struct arena *arena, struct span pattern, struct regex_flags flags,
                               uint32_t *group_count, bool *has_back_references,
                               const char **reason)
{
    struct parser parser = {.arena = arena, .pattern = pattern, .flags = flags, .group_count = 1};
    struct regex_node *root = flags.literal ? parse_literal(&parser) : parse_choice(&parser);
    if (parser.reason == NULL && peek(&parser) != END_OF_TEXT) {
        fail(&parser, "\")\" without \"(\"");
    }
    *group_count = parser.group_count;
    *has_back_references = parser.has_back_references;
    *reason = parser.reason;
    return parser.reason == NULL ? root : NULL;
}
