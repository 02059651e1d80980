/* regex_parse.c: the grammar of patterns: XML Schema Part 2 appendix F, and XPath and XQuery
 * Functions 3.1 §5.6.1. */
#include "engine/expression/regex_syntax.h"
#include "engine/expression/text.h"

#define REPEAT_MAX        REGEX_PROGRAM_MAX
#define REGEX_END_OF_TEXT UINT32_MAX
#define POINT_MAX         0x10ffffu

static struct regex_node *parse_choice(struct regex_parser *parser);

void *expression_regex_fail(struct regex_parser *parser, const char *reason)
{
    parser->reason = parser->reason == NULL ? reason : parser->reason;
    parser->at = parser->pattern.count;
    return NULL;
}

bool expression_regex_is_space(uint32_t point)
{
    return point == ' ' || point == '\t' || point == '\n' || point == '\r';
}

uint32_t expression_regex_peek(const struct regex_parser *parser)
{
    size_t at = parser->at;
    return at < parser->pattern.count ? expression_text_decode(parser->pattern, &at)
                                      : REGEX_END_OF_TEXT;
}

uint32_t expression_regex_take(struct regex_parser *parser)
{
    return parser->at < parser->pattern.count ? expression_text_decode(parser->pattern, &parser->at)
                                              : REGEX_END_OF_TEXT;
}

/* The same outside of classes, where white space may mean nothing. */
static uint32_t peek(struct regex_parser *parser)
{
    while (parser->flags.spaced && expression_regex_is_space(expression_regex_peek(parser))) {
        expression_regex_take(parser);
    }
    return expression_regex_peek(parser);
}

static bool accept(struct regex_parser *parser, uint32_t point)
{
    bool accepted = peek(parser) == point;
    if (accepted) {
        expression_regex_take(parser);
    }
    return accepted;
}

static struct regex_node *new_node(struct regex_parser *parser, enum regex_kind kind)
{
    struct regex_node *node = arena_zero(parser->arena, sizeof *node);
    if (node == NULL) {
        return expression_regex_fail(parser, "out of memory");
    }
    node->kind = kind;
    return node;
}

static struct regex_node *step(struct regex_parser *parser, enum regex_operation operation)
{
    struct regex_node *node = new_node(parser, REGEX_NODE_STEP);
    if (node != NULL) {
        node->operation = operation;
    }
    return node;
}

static struct regex_node *point_step(struct regex_parser *parser, uint32_t point)
{
    struct regex_node *node = step(parser, REGEX_POINT);
    if (node != NULL) {
        node->point = parser->flags.ignores_case ? expression_regex_fold(point) : point;
    }
    return node;
}

static struct regex_node *set_step(struct regex_parser *parser, const struct regex_set *set)
{
    struct regex_node *node = step(parser, REGEX_SET);
    if (node != NULL) {
        node->set = set;
    }
    return node;
}

/* "\12" is group 12 if there is one that far, else group 1 and a "2". */
static struct regex_node *back_reference(struct regex_parser *parser, uint32_t digit)
{
    uint32_t number = digit - '0';
    for (uint32_t next = expression_regex_peek(parser); next >= '0' && next <= '9';
         next = expression_regex_peek(parser)) {
        uint32_t longer = number * 10 + (next - '0');
        if (longer >= parser->group_count) {
            break;
        }
        number = longer;
        expression_regex_take(parser);
    }
    if (number >= parser->group_count || !parser->closed[number]) {
        return expression_regex_fail(parser, "there is no such group yet");
    }
    struct regex_node *node = step(parser, REGEX_BACK);
    if (node != NULL) {
        node->number = number;
    }
    parser->has_back_references = true;
    return node;
}

static struct regex_node *parse_escape(struct regex_parser *parser)
{
    uint32_t point;
    uint32_t letter = peek(parser); /* behind white space, where that means nothing */
    expression_regex_take(parser);
    if (letter >= '1' && letter <= '9') {
        return back_reference(parser, letter);
    }
    if (expression_regex_single_escape(letter, &point)) {
        return point_step(parser, point);
    }
    struct regex_set *set = expression_regex_set_new(parser->arena);
    if (set == NULL || !expression_regex_class_escape(parser, letter, set)) {
        return expression_regex_fail(parser, "unknown escape");
    }
    return set_step(parser, set);
}

/* Behind "(". */
static struct regex_node *parse_group(struct regex_parser *parser)
{
    struct regex_node *group = new_node(parser, REGEX_NODE_GROUP);
    bool captured = !accept(parser, '?');
    if (!captured && !accept(parser, ':')) {
        return expression_regex_fail(parser, "malformed group");
    }
    if (captured && parser->group_count == REGEX_GROUPS_MAX) {
        return expression_regex_fail(parser, "too many groups");
    }
    uint32_t number = captured ? parser->group_count++ : 0;
    struct regex_node *child = parse_choice(parser);
    if (!accept(parser, ')') || group == NULL) {
        return expression_regex_fail(parser, "a group without an end");
    }
    parser->closed[number] = true;
    group->number = number;
    group->child = child;
    return group;
}

static struct regex_node *parse_atom(struct regex_parser *parser)
{
    uint32_t point = expression_regex_take(parser);
    switch (point) {
    case '(':
        return parse_group(parser);
    case '[':
        return set_step(parser, expression_regex_parse_class(parser));
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
        return expression_regex_fail(parser, "a sign that must be escaped here");
    default:
        return point_step(parser, point);
    }
}

static bool take_count(struct regex_parser *parser, uint32_t *count)
{
    uint32_t digits = 0;
    for (*count = 0; peek(parser) >= '0' && peek(parser) <= '9'; digits++) {
        *count = *count > REPEAT_MAX ? *count : *count * 10 + (expression_regex_take(parser) - '0');
        if (*count > REPEAT_MAX) {
            expression_regex_fail(parser, "too large a count");
        }
    }
    return digits > 0;
}

/* "{2}", "{2,}", "{2,5}", behind the brace. */
static void parse_counts(struct regex_parser *parser, struct regex_node *repeat)
{
    bool counted = take_count(parser, &repeat->min);
    repeat->max = repeat->min;
    if (counted && accept(parser, ',') && !take_count(parser, &repeat->max)) {
        repeat->max = REGEX_FOREVER;
    }
    if (!counted || !accept(parser, '}') || repeat->max < repeat->min) {
        expression_regex_fail(parser, "malformed count");
    }
}

static struct regex_node *parse_piece(struct regex_parser *parser)
{
    struct regex_node *atom = parse_atom(parser);
    uint32_t sign = peek(parser);
    if (sign != '?' && sign != '*' && sign != '+' && sign != '{') {
        return atom;
    }
    expression_regex_take(parser);
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

static struct regex_node *parse_sequence(struct regex_parser *parser)
{
    struct regex_node *sequence = new_node(parser, REGEX_NODE_SEQUENCE);
    struct regex_node **link = sequence == NULL ? NULL : &sequence->child;
    for (uint32_t next = peek(parser);
         parser->reason == NULL && next != REGEX_END_OF_TEXT && next != '|' && next != ')';
         next = peek(parser)) {
        struct regex_node *piece = parse_piece(parser);
        if (piece != NULL) {
            *link = piece;
            link = &piece->next;
        }
    }
    return sequence;
}

static struct regex_node *parse_choice(struct regex_parser *parser)
{
    struct regex_node *choice = new_node(parser, REGEX_NODE_CHOICE);
    if (choice == NULL || ++parser->nesting > REGEX_NESTING_MAX) {
        return expression_regex_fail(parser, "nested too deep");
    }
    struct regex_node **link = &choice->child;
    do {
        *link = parse_sequence(parser);
        link = *link == NULL ? link : &(*link)->next;
    } while (accept(parser, '|'));
    parser->nesting--;
    return choice;
}

static struct regex_node *parse_literal(struct regex_parser *parser)
{
    struct regex_node *sequence = new_node(parser, REGEX_NODE_SEQUENCE);
    struct regex_node **link = sequence == NULL ? NULL : &sequence->child;
    while (parser->reason == NULL && parser->at < parser->pattern.count) {
        *link = point_step(parser, expression_regex_take(parser));
        link = *link == NULL ? link : &(*link)->next;
    }
    return sequence;
}

struct regex_node *expression_regex_parse(struct arena *arena, struct span pattern,
                                          struct regex_flags flags, uint32_t *group_count,
                                          bool *has_back_references, const char **reason)
{
    struct regex_parser parser = {
        .arena = arena, .pattern = pattern, .flags = flags, .group_count = 1};
    struct regex_node *root = flags.literal ? parse_literal(&parser) : parse_choice(&parser);
    if (parser.reason == NULL && peek(&parser) != REGEX_END_OF_TEXT) {
        expression_regex_fail(&parser, "\")\" without \"(\"");
    }
    *group_count = parser.group_count;
    *has_back_references = parser.has_back_references;
    *reason = parser.reason;
    return parser.reason == NULL ? root : NULL;
}
