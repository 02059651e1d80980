/* feel_loop.c: for, some, every, and `in`, which loops over its tests. Nesting of iterators is
 * bounded by the parser. */
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "proto/base/assert.h"

/* One run of a for, some or every. */
struct loop {
    struct expression_evaluation *evaluation;
    const struct expression_node *node;
    struct expression_frame partial;   /* `for`: the results so far */
    struct expression_builder results; /* `for` */
    bool decisive;                     /* some: true ends it; every: false */
    bool decided;
    bool unknown; /* a verdict that was no boolean, or a domain that was no list */
};

static void iterate(struct loop *loop, uint32_t iterator);

static void run_body(struct loop *loop)
{
    struct expression_evaluation *evaluation = loop->evaluation;
    const struct expression_node *body = loop->node->children[loop->node->count - 1];
    if (loop->node->kind == NODE_FEEL_FOR) {
        loop->partial.value = expression_builder_list(&loop->results);
        expression_builder_add(&loop->results, expression_evaluate(evaluation, body));
        return;
    }
    enum expression_truth verdict = expression_holds(evaluation, body);
    if (verdict == TRUTH_UNKNOWN) {
        loop->unknown = true;
    } else if ((verdict == TRUTH_TRUE) == loop->decisive) {
        loop->decided = true;
    }
}

/* One round; false when the loop is over. */
static bool step(struct loop *loop, uint32_t iterator, struct expression_frame *frame)
{
    struct expression_evaluation *evaluation = loop->evaluation;
    evaluation->frame = frame;
    if (iterator + 1 == loop->node->as.keys.count) {
        run_body(loop);
    } else {
        iterate(loop, iterator + 1);
    }
    evaluation->frame = frame->parent;
    return evaluation->result == RESULT_OK && !loop->decided;
}

/* Integers, or the days of dates. */
struct stretch {
    int64_t first;
    int64_t last;
    bool are_dates;
};

static void iterate_stretch(struct loop *loop, uint32_t iterator, struct expression_frame *frame,
                            struct stretch stretch)
{
    int64_t stride = stretch.first <= stretch.last ? 1 : -1;
    for (int64_t i = stretch.first;; i += stride) {
        frame->value = stretch.are_dates
                           ? (struct expression_value){.type = VALUE_DATE, .as.days = i}
                           : expression_integer(i);
        if (!step(loop, iterator, frame) || i == stretch.last) {
            return;
        }
    }
}

static void not_iterable(struct loop *loop, const struct expression_node *domain, const char *what)
{
    loop->unknown = true;
    expression_warn(loop->evaluation, domain->offset, "cannot iterate over %s", what);
}

/* False when the ends are neither integers nor dates. */
static bool stretch_between(struct expression_value from, struct expression_value to,
                            struct stretch *out)
{
    if (from.type == VALUE_DATE && to.type == VALUE_DATE) {
        *out = (struct stretch){from.as.days, to.as.days, true};
        return true;
    }
    out->are_dates = false;
    return from.type == VALUE_NUMBER && to.type == VALUE_NUMBER &&
           expression_number_to_integer(from, &out->first) &&
           expression_number_to_integer(to, &out->last);
}

/* "low..high" runs down where low is above high. */
static void iterate_ends(struct loop *loop, uint32_t iterator, struct expression_frame *frame,
                         const struct expression_node *low, const struct expression_node *high)
{
    struct stretch stretch;
    struct expression_value from = expression_operand(loop->evaluation, low);
    struct expression_value to = expression_operand(loop->evaluation, high);
    if (stretch_between(from, to, &stretch)) {
        iterate_stretch(loop, iterator, frame, stretch);
    } else {
        not_iterable(loop, low, "a range whose ends are neither integers nor dates");
    }
}

/* "[low..high]" is a range: empty, and so refused, where low is above high. */
static void iterate_range(struct loop *loop, uint32_t iterator, struct expression_frame *frame,
                          const struct expression_node *domain,
                          const struct expression_range *range)
{
    struct stretch stretch;
    if (!stretch_between(range->low, range->high, &stretch) || stretch.first > stretch.last) {
        not_iterable(loop, domain, "this range");
        return;
    }
    /* No overflow: an excluded end has the other end, or the loop's end, on its far side. */
    if (!range->low_included && stretch.first < stretch.last) {
        stretch.first++;
    } else if (!range->low_included) {
        return;
    }
    if (!range->high_included && stretch.first == stretch.last) {
        return;
    }
    stretch.last -= !range->high_included;
    iterate_stretch(loop, iterator, frame, stretch);
}

static void iterate(struct loop *loop, uint32_t iterator)
{
    struct expression_evaluation *evaluation = loop->evaluation;
    const struct expression_node *low = loop->node->children[2 * iterator];
    const struct expression_node *high = loop->node->children[2 * iterator + 1];
    struct expression_frame frame = {.parent = evaluation->frame,
                                     .name = loop->node->as.keys.texts[iterator]};
    if (high != NULL) {
        iterate_ends(loop, iterator, &frame, low, high);
        return;
    }
    struct expression_value domain = expression_operand(evaluation, low);
    if (domain.type == VALUE_RANGE) {
        iterate_range(loop, iterator, &frame, low, domain.as.range);
    } else if (domain.type == VALUE_LIST) {
        struct expression_walk walk = expression_walk(domain);
        while (expression_walk_next(&walk, &frame.value) && step(loop, iterator, &frame)) {
        }
    } else if (domain.type == VALUE_NULL) {
        not_iterable(loop, low, "null");
    } else {
        frame.value = domain; /* a single value is the list of it */
        step(loop, iterator, &frame);
    }
}

struct expression_value expression_feel_for(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    struct loop loop = {
        .evaluation = evaluation,
        .node = node,
        .results = {.arena = evaluation->arena},
        .partial = {.parent = evaluation->frame, .name = span_text("partial")},
    };
    loop.partial.value = expression_builder_list(&loop.results);
    evaluation->frame = &loop.partial;
    iterate(&loop, 0);
    evaluation->frame = loop.partial.parent;
    return loop.unknown ? expression_null() : expression_builder_list(&loop.results);
}

static struct expression_value quantify(struct expression_evaluation *evaluation,
                                        const struct expression_node *node, bool decisive)
{
    struct loop loop = {.evaluation = evaluation, .node = node, .decisive = decisive};
    iterate(&loop, 0);
    if (loop.decided) {
        return expression_boolean(decisive);
    }
    return loop.unknown ? expression_null() : expression_boolean(!decisive);
}

struct expression_value expression_feel_some(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    return quantify(evaluation, node, true);
}

struct expression_value expression_feel_every(struct expression_evaluation *evaluation,
                                              const struct expression_node *node)
{
    return quantify(evaluation, node, false);
}

/* Is the value an item of the list, or in a range that is an item of it? */
static enum expression_truth in_list(struct expression_evaluation *evaluation,
                                     struct expression_value value, struct expression_value list)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item)) {
        bool inside = item.type == VALUE_RANGE && value.type != VALUE_RANGE
                          ? expression_in_range(evaluation, value, item.as.range) == TRUTH_TRUE
                          : expression_same(evaluation, value, item);
        if (inside) {
            return TRUTH_TRUE;
        }
    }
    return value.type == VALUE_LIST && expression_same(evaluation, value, list) ? TRUTH_TRUE
                                                                                : TRUTH_FALSE;
}

static enum expression_truth passes(struct expression_evaluation *evaluation,
                                    struct expression_value value,
                                    const struct expression_node *node)
{
    bool compares = node->kind == NODE_FEEL_TEST;
    struct expression_value test =
        expression_operand(evaluation, compares ? node->children[0] : node);
    if (node->kind == NODE_FEEL_ASK) {
        return expression_is_true(test) ? TRUTH_TRUE : TRUTH_FALSE;
    }
    if (compares) {
        enum expression_truth equal = expression_equal(evaluation, value, test);
        if (equal == TRUTH_UNKNOWN || (node->flags & NODE_UNEQUAL) == 0) {
            return equal;
        }
        return equal == TRUTH_TRUE ? TRUTH_FALSE : TRUTH_TRUE;
    }
    if (test.type == VALUE_RANGE && value.type != VALUE_RANGE) {
        return expression_in_range(evaluation, value, test.as.range);
    }
    if (test.type == VALUE_LIST) {
        return in_list(evaluation, value, test);
    }
    return expression_same(evaluation, value, test) ? TRUTH_TRUE : TRUTH_FALSE;
}

struct expression_value expression_feel_in(struct expression_evaluation *evaluation,
                                           const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    enum expression_truth truth = TRUTH_FALSE;
    for (uint32_t i = 1; i < node->count && evaluation->result == RESULT_OK; i++) {
        enum expression_truth passed = passes(evaluation, value, node->children[i]);
        if (passed == TRUTH_TRUE) {
            return expression_boolean(true);
        }
        truth = passed == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : truth;
    }
    if (truth == TRUTH_UNKNOWN) {
        return expression_warn(evaluation, node->offset, "cannot tell whether this %s is in it",
                               expression_type_name(value.type));
    }
    return expression_truth(truth);
}

/* What is no boolean is not compared with a boolean: the test itself says yes or no. */
static bool passes_unary(struct expression_evaluation *evaluation, struct expression_value value,
                         const struct expression_node *node)
{
    if (value.type != VALUE_BOOLEAN && node->kind != NODE_FEEL_TEST) {
        struct expression_value test = expression_operand(evaluation, node);
        if (test.type == VALUE_BOOLEAN) {
            return test.as.boolean;
        }
    }
    return passes(evaluation, value, node) == TRUTH_TRUE;
}

/* DMN 1.5 grammar rules 7 to 17 and table 55. */
struct expression_value expression_feel_unary(struct expression_evaluation *evaluation,
                                              const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    bool negated = (node->flags & NODE_NEGATED) != 0;
    for (uint32_t i = 1; i < node->count && evaluation->result == RESULT_OK; i++) {
        if (passes_unary(evaluation, value, node->children[i])) {
            return expression_boolean(!negated);
        }
    }
    return expression_boolean(negated);
}
