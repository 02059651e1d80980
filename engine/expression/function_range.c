/* function_range.c: FEEL's functions that compare points and ranges (DMN 1.5 table 78), and
 * range(). */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/parse_feel.h"
#include "engine/expression/parser.h"

/* Two points or ranges under comparison. */
struct comparison {
    struct expression_evaluation *evaluation;
    struct expression_range a;
    struct expression_range b;
    bool a_is_range;
    bool b_is_range;
    bool unknown; /* two ends had no order */
};

/* Ends of ranges as bounds: an end that was left open lies beyond all others. */
enum side { SIDE_LOW, SIDE_HIGH };

struct bound {
    struct expression_value at;
    bool included;
    enum side side;
};

typedef bool (*relation_fn)(struct comparison *comparison);

static struct bound low(const struct expression_range *range)
{
    return (struct bound){range->low, range->low_included, SIDE_LOW};
}

static struct bound high(const struct expression_range *range)
{
    return (struct bound){range->high, range->high_included, SIDE_HIGH};
}

static bool is_open(struct bound bound)
{
    return bound.at.type == VALUE_ABSENT || bound.at.type == VALUE_NULL;
}

/* Order of where two ends stand, whether or not they are included. */
static int order(struct comparison *comparison, struct bound left, struct bound right)
{
    int result = 0;
    if (is_open(left) || is_open(right)) {
        int left_rank = !is_open(left) ? 0 : left.side == SIDE_LOW ? -1 : 1;
        int right_rank = !is_open(right) ? 0 : right.side == SIDE_LOW ? -1 : 1;
        return left_rank - right_rank;
    }
    if (!expression_order(comparison->evaluation, left.at, right.at, &result)) {
        comparison->unknown = true;
    }
    return result;
}

/* Does the first lie wholly before the second begins? */
static bool is_before(struct comparison *comparison)
{
    struct bound end = high(&comparison->a);
    struct bound begin = low(&comparison->b);
    int ordered = order(comparison, end, begin);
    return ordered < 0 || (ordered == 0 && !(end.included && begin.included));
}

static bool meets(struct comparison *comparison)
{
    struct bound end = high(&comparison->a);
    struct bound begin = low(&comparison->b);
    return end.included && begin.included && order(comparison, end, begin) == 0;
}

static bool reaches(struct comparison *comparison, struct bound end, struct bound begin)
{
    int ordered = order(comparison, end, begin);
    return ordered > 0 || (ordered == 0 && end.included && begin.included);
}

static bool overlaps(struct comparison *comparison)
{
    return reaches(comparison, high(&comparison->a), low(&comparison->b)) &&
           reaches(comparison, high(&comparison->b), low(&comparison->a));
}

/* Does a begin before b, or with it? Strictly: where only a has the first point. */
static bool begins_no_later(struct comparison *comparison, bool strictly)
{
    struct bound first = low(&comparison->a);
    struct bound second = low(&comparison->b);
    int ordered = order(comparison, first, second);
    bool at_same =
        strictly ? first.included && !second.included : first.included || !second.included;
    return ordered < 0 || (ordered == 0 && at_same);
}

static bool ends_no_later(struct comparison *comparison)
{
    struct bound first = high(&comparison->a);
    struct bound second = high(&comparison->b);
    int ordered = order(comparison, first, second);
    return ordered < 0 || (ordered == 0 && (!first.included || second.included));
}

static bool overlaps_before(struct comparison *comparison)
{
    return begins_no_later(comparison, true) &&
           reaches(comparison, high(&comparison->a), low(&comparison->b)) &&
           ends_no_later(comparison);
}

static bool same_bound(struct comparison *comparison, struct bound left, struct bound right)
{
    return left.included == right.included && order(comparison, left, right) == 0;
}

static struct comparison swapped(const struct comparison *comparison)
{
    return (struct comparison){
        .evaluation = comparison->evaluation,
        .a = comparison->b,
        .b = comparison->a,
        .a_is_range = comparison->b_is_range,
        .b_is_range = comparison->a_is_range,
    };
}

/* Asks the other way round. */
static bool swap(struct comparison *comparison, relation_fn relation)
{
    struct comparison other = swapped(comparison);
    bool holds = relation(&other);
    comparison->unknown = comparison->unknown || other.unknown;
    return holds;
}

static bool begins_no_earlier(struct comparison *comparison)
{
    struct comparison other = swapped(comparison);
    bool holds = begins_no_later(&other, false);
    comparison->unknown = comparison->unknown || other.unknown;
    return holds;
}

static bool finishes(struct comparison *comparison)
{
    return same_bound(comparison, high(&comparison->a), high(&comparison->b)) &&
           (!comparison->a_is_range || begins_no_earlier(comparison));
}

static bool includes(struct comparison *comparison)
{
    return begins_no_later(comparison, false) && swap(comparison, ends_no_later);
}

static bool starts(struct comparison *comparison)
{
    return same_bound(comparison, low(&comparison->a), low(&comparison->b)) &&
           (!comparison->a_is_range || ends_no_later(comparison));
}

static bool coincides(struct comparison *comparison)
{
    return same_bound(comparison, low(&comparison->a), low(&comparison->b)) &&
           same_bound(comparison, high(&comparison->a), high(&comparison->b));
}

static bool is_after(struct comparison *comparison)
{
    return swap(comparison, is_before);
}

static bool met_by(struct comparison *comparison)
{
    return swap(comparison, meets);
}

static bool overlaps_after(struct comparison *comparison)
{
    return swap(comparison, overlaps_before);
}

static bool finished_by(struct comparison *comparison)
{
    return swap(comparison, finishes);
}

static bool during(struct comparison *comparison)
{
    return swap(comparison, includes);
}

static bool started_by(struct comparison *comparison)
{
    return swap(comparison, starts);
}

/* A point is the range of itself. */
static bool take_range(struct expression_value value, struct expression_range *out)
{
    if (value.type == VALUE_RANGE) {
        *out = *value.as.range;
        return true;
    }
    *out = (struct expression_range){value, value, true, true};
    return false;
}

/* Which of the two must be ranges. */
enum needs { NEEDS_NONE, NEEDS_FIRST, NEEDS_SECOND, NEEDS_BOTH, NEEDS_ALIKE };

static bool is_allowed(const struct comparison *comparison, enum needs needs)
{
    switch (needs) {
    case NEEDS_NONE:
        return true;
    case NEEDS_FIRST:
        return comparison->a_is_range;
    case NEEDS_SECOND:
        return comparison->b_is_range;
    case NEEDS_BOTH:
        return comparison->a_is_range && comparison->b_is_range;
    case NEEDS_ALIKE:
        return comparison->a_is_range == comparison->b_is_range;
    }
    return false;
}

static struct expression_value compare(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset,
                                       relation_fn relation, enum needs needs)
{
    struct comparison comparison = {.evaluation = evaluation};
    comparison.a_is_range = take_range(arguments[0], &comparison.a);
    comparison.b_is_range = take_range(arguments[1], &comparison.b);
    bool has_null = arguments[0].type == VALUE_NULL || arguments[1].type == VALUE_NULL;
    if (!has_null && is_allowed(&comparison, needs)) {
        bool holds = relation(&comparison);
        if (!comparison.unknown) {
            return expression_boolean(holds);
        }
    }
    return expression_warn(evaluation, offset, "cannot relate %s to %s",
                           expression_type_name(arguments[0].type),
                           expression_type_name(arguments[1].type));
}

#define RELATION(relation, needs)                                                                  \
    static struct expression_value call_##relation(struct expression_evaluation *evaluation,       \
                                                   const struct expression_value *arguments,       \
                                                   uint32_t offset)                                \
    {                                                                                              \
        return compare(evaluation, arguments, offset, relation, needs);                            \
    }
RELATION(is_before, NEEDS_NONE)
RELATION(is_after, NEEDS_NONE)
RELATION(meets, NEEDS_BOTH)
RELATION(met_by, NEEDS_BOTH)
RELATION(overlaps, NEEDS_BOTH)
RELATION(overlaps_before, NEEDS_BOTH)
RELATION(overlaps_after, NEEDS_BOTH)
RELATION(finishes, NEEDS_SECOND)
RELATION(finished_by, NEEDS_FIRST)
RELATION(includes, NEEDS_FIRST)
RELATION(during, NEEDS_SECOND)
RELATION(starts, NEEDS_SECOND)
RELATION(started_by, NEEDS_FIRST)
RELATION(coincides, NEEDS_ALIKE)
#undef RELATION

/* An end of a range in a text: a literal, or a call with literals for its arguments. */
static bool is_literal_end(const struct expression_node *node)
{
    bool literal = node->kind == NODE_CONSTANT || node->kind == NODE_FEEL_ZONED;
    bool call = node->kind == NODE_CALL;
    for (uint32_t i = 0; call && i < node->count; i++) {
        call = node->children[i] != NULL && node->children[i]->kind == NODE_CONSTANT;
    }
    return literal || call;
}

/* An end, or NULL where the sign beside it says that there is none. */
static const struct expression_node *parse_end(struct expression_parser *parser, bool none)
{
    const struct expression_node *end = none ? NULL : expression_feel_parse_sum(parser);
    if (end != NULL && !is_literal_end(end)) {
        return expression_parser_unexpected(parser, "a literal");
    }
    return end;
}

/* DMN 1.5 grammar rule 66, to the end of the text: one of the two ends may be missing, beside an
 * open bracket. NULL when the text spells something else. */
static const struct expression_node *parse_range(struct expression_parser *parser)
{
    const struct expression_node *ends[2] = {NULL, NULL};
    unsigned flags = 0;
    enum expression_token_kind first = expression_parser_take(parser).kind;
    if (first != TOKEN_OPEN && first != TOKEN_CLOSE_LIST && first != TOKEN_OPEN_LIST) {
        return NULL;
    }
    flags |= first == TOKEN_OPEN_LIST ? NODE_LOW_INCLUDED : 0;
    ends[0] = parse_end(parser, flags == 0 && parser->token.kind == TOKEN_DOTS);
    expression_parser_expect(parser, TOKEN_DOTS, "\"..\"");
    bool no_high = parser->token.kind == TOKEN_CLOSE || parser->token.kind == TOKEN_OPEN_LIST;
    ends[1] = parse_end(parser, ends[0] != NULL && no_high);
    enum expression_token_kind last = expression_parser_take(parser).kind;
    if (last != TOKEN_CLOSE && last != TOKEN_OPEN_LIST && last != TOKEN_CLOSE_LIST) {
        return NULL;
    }
    flags |= last == TOKEN_CLOSE_LIST ? NODE_HIGH_INCLUDED : 0;
    struct expression_node *node = expression_parser_node(parser, NODE_FEEL_RANGE, 0, ends, 2);
    if (node != NULL) {
        node->flags = (uint8_t)flags;
    }
    return parser->result == RESULT_OK && parser->token.kind == TOKEN_END ? node : NULL;
}

/* Are its ends, if it has two, of one kind and in their order? */
static bool is_ordered(struct expression_evaluation *evaluation,
                       const struct expression_range *range)
{
    int order = 0;
    if (range->low.type == VALUE_ABSENT || range->high.type == VALUE_ABSENT) {
        struct expression_value end = range->low.type == VALUE_ABSENT ? range->high : range->low;
        return expression_order(evaluation, end, end, &order);
    }
    return expression_order(evaluation, range->low, range->high, &order) && order <= 0;
}

static struct expression_value range_of(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    struct span text = arguments[0].as.text;
    if (!expression_pay(evaluation, 1 + text.count)) {
        return expression_null();
    }
    struct expression_parser parser = {
        .arena = evaluation->arena, .lexer = {.source = text}, .slotless = true};
    expression_parser_seek(&parser, 0, SYNTAX_FEEL);
    const struct expression_node *node = parse_range(&parser);
    struct expression_value range =
        node == NULL ? expression_null() : expression_evaluate(evaluation, node);
    return range.type == VALUE_RANGE && is_ordered(evaluation, range.as.range)
               ? range
               : expression_warn(evaluation, offset, "this string is no range");
}

const struct expression_function expression_range_functions[] = {
    {"before", "vv", 2, "point1,point2", call_is_before},
    {"before", "vv", 2, "range1,range2", call_is_before},
    {"before", "vv", 2, "point,range", call_is_before},
    {"before", "vv", 2, "range,point", call_is_before},
    {"after", "vv", 2, "point1,point2", call_is_after},
    {"after", "vv", 2, "range1,range2", call_is_after},
    {"after", "vv", 2, "point,range", call_is_after},
    {"after", "vv", 2, "range,point", call_is_after},
    {"meets", "vv", 2, "range1,range2", call_meets},
    {"met by", "vv", 2, "range1,range2", call_met_by},
    {"overlaps", "vv", 2, "range1,range2", call_overlaps},
    {"overlaps before", "vv", 2, "range1,range2", call_overlaps_before},
    {"overlaps after", "vv", 2, "range1,range2", call_overlaps_after},
    {"finishes", "vv", 2, "range1,range2", call_finishes},
    {"finishes", "vv", 2, "point,range", call_finishes},
    {"finished by", "vv", 2, "range1,range2", call_finished_by},
    {"finished by", "vv", 2, "range,point", call_finished_by},
    {"includes", "vv", 2, "range1,range2", call_includes},
    {"includes", "vv", 2, "range,point", call_includes},
    {"during", "vv", 2, "range1,range2", call_during},
    {"during", "vv", 2, "point,range", call_during},
    {"starts", "vv", 2, "range1,range2", call_starts},
    {"starts", "vv", 2, "point,range", call_starts},
    {"started by", "vv", 2, "range1,range2", call_started_by},
    {"started by", "vv", 2, "range,point", call_started_by},
    {"coincides", "vv", 2, "point1,point2", call_coincides},
    {"coincides", "vv", 2, "range1,range2", call_coincides},
    {"range", "s", 1, "from", range_of},
    {0},
};
