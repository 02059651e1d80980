/* regex_class.c: classes of patterns: "[a-z-[aeiou]]", "\\d", "\\p{L}" (XML Schema Part 2, appendix
 * F). */
#include "engine/expression/regex_syntax.h"

/* What "\n" and the like stand for; false when the letter makes no such escape. */
bool expression_regex_single_escape(uint32_t letter, uint32_t *point)
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
static void parse_property(struct regex_parser *parser, struct regex_set *set, bool negated)
{
    enum { NAME_BYTES = 64 };
    uint8_t name[NAME_BYTES];
    size_t count = 0;
    if (expression_regex_take(parser) != '{') {
        expression_regex_fail(parser, "a property stands in braces");
        return;
    }
    for (uint32_t point = expression_regex_take(parser); point != '}';
         point = expression_regex_take(parser)) {
        if (parser->flags.spaced && expression_regex_is_space(point)) {
            continue;
        }
        if (point >= 0x80 || count == NAME_BYTES) {
            expression_regex_fail(parser, "unknown property");
            return;
        }
        name[count++] = (uint8_t)point;
    }
    if (!expression_regex_set_add_property(parser->arena, set, span_of(name, count), negated)) {
        expression_regex_fail(parser, "unknown property");
    }
}

/* An escape that means many code points, into a set; false when the letter makes none. */
bool expression_regex_class_escape(struct regex_parser *parser, uint32_t letter,
                                   struct regex_set *set)
{
    if (letter == 'p' || letter == 'P') {
        parse_property(parser, set, letter == 'P');
        return true;
    }
    if (letter >= 0x80 || letter == 0 || strchr("sSiIcCdDwW", (int)letter) == NULL) {
        return false;
    }
    expression_regex_set_add_class(parser->arena, set, (uint8_t)letter);
    return true;
}

/* A member of a class: one code point, or, as `is_class`, all that an escape means. */
struct member {
    uint32_t point;
    bool is_class;
    bool escaped;
};

static struct member take_member(struct regex_parser *parser, struct regex_set *set)
{
    struct member member = {.point = expression_regex_take(parser)};
    if (member.point == '[' || member.point == REGEX_END_OF_TEXT) {
        expression_regex_fail(parser, "malformed class");
    }
    if (member.point == '\\') {
        uint32_t letter = expression_regex_take(parser);
        member.escaped = expression_regex_single_escape(letter, &member.point);
        member.is_class = !member.escaped && expression_regex_class_escape(parser, letter, set);
        if (!member.escaped && !member.is_class) {
            expression_regex_fail(parser, "unknown escape");
        }
    }
    return member;
}

/* A code point or a range. "-" is itself at both ends of the class, and begins a subtraction before
 * "[". */
static void parse_class_item(struct regex_parser *parser, struct regex_set *set, bool first)
{
    struct member low = take_member(parser, set);
    uint32_t next = expression_regex_peek(parser);
    if (low.point == '-' && !low.escaped && !low.is_class && !first && next != ']') {
        expression_regex_fail(parser, "malformed class");
    }
    if (low.is_class || parser->reason != NULL) {
        return;
    }
    size_t before = parser->at;
    if (next == '-') {
        expression_regex_take(parser);
        next = expression_regex_peek(parser);
    } else {
        next = ']'; /* no range */
    }
    if (next == ']' || next == '[') {
        parser->at = before;
        expression_regex_set_add_range(parser->arena, set, low.point, low.point);
        return;
    }
    struct member high = take_member(parser, set);
    if (high.is_class || high.point < low.point) {
        expression_regex_fail(parser, "malformed range");
        return;
    }
    expression_regex_set_add_range(parser->arena, set, low.point, high.point);
}

/* "-[" next: a subtraction. */
static bool subtraction_follows(const struct regex_parser *parser)
{
    size_t at = parser->at;
    return at + 1 < parser->pattern.count && parser->pattern.bytes[at] == '-' &&
           parser->pattern.bytes[at + 1] == '[';
}

/* Behind "[". */
struct regex_set *expression_regex_parse_class(struct regex_parser *parser)
{
    struct regex_set *set = expression_regex_set_new(parser->arena);
    if (set == NULL || ++parser->nesting > REGEX_NESTING_MAX) {
        return expression_regex_fail(parser, "nested too deep");
    }
    if (expression_regex_peek(parser) == '^') {
        expression_regex_take(parser);
        expression_regex_set_negate(set);
    }
    bool first = true;
    for (; parser->reason == NULL; first = false) {
        if (!first && subtraction_follows(parser)) {
            parser->at += 2;
            expression_regex_set_subtract(set, expression_regex_parse_class(parser));
            if (expression_regex_take(parser) != ']') {
                expression_regex_fail(parser, "malformed class");
            }
            break;
        }
        if (!first && expression_regex_peek(parser) == ']') {
            expression_regex_take(parser);
            break;
        }
        if (first && expression_regex_peek(parser) == ']') {
            expression_regex_fail(parser, "empty class");
        }
        parse_class_item(parser, set, first);
    }
    parser->nesting--;
    return parser->reason == NULL ? set : NULL;
}
