/* feel_range.c: ranges, between, and the tests behind `in` (DMN 1.5 §10.3.2.7, table 55). */
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"

/* An end that is null, or of another kind than the value, leaves it open whether the value is
 * inside. */
static enum expression_truth above(struct expression_evaluation *evaluation,
                                   struct expression_value value, struct expression_value end,
                                   bool included)
{
    int order;
    if (end.type == VALUE_ABSENT) {
        return TRUTH_TRUE;
    }
    if (!expression_order(evaluation, value, end, &order)) {
        return TRUTH_UNKNOWN;
    }
    return order > 0 || (order == 0 && included) ? TRUTH_TRUE : TRUTH_FALSE;
}

static enum expression_truth below(struct expression_evaluation *evaluation,
                                   struct expression_value value, struct expression_value end,
                                   bool included)
{
    return end.type == VALUE_ABSENT ? TRUTH_TRUE : above(evaluation, end, value, included);
}

enum expression_truth expression_in_range(struct expression_evaluation *evaluation,
                                          struct expression_value value,
                                          const struct expression_range *range)
{
    enum expression_truth low = above(evaluation, value, range->low, range->low_included);
    enum expression_truth high = below(evaluation, value, range->high, range->high_included);
    if (low == TRUTH_UNKNOWN || high == TRUTH_UNKNOWN) {
        return TRUTH_UNKNOWN;
    }
    return low == TRUTH_TRUE && high == TRUTH_TRUE ? TRUTH_TRUE : TRUTH_FALSE;
}

struct expression_value expression_feel_range(struct expression_evaluation *evaluation,
                                              const struct expression_node *node)
{
    struct expression_range *range = arena_alloc(evaluation->arena, sizeof *range);
    struct expression_value ends[2];
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = node->children[i] == NULL ? expression_absent()
                                            : expression_operand(evaluation, node->children[i]);
    }
    if (range == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    *range = (struct expression_range){
        .low = ends[0],
        .high = ends[1],
        .low_included = (node->flags & NODE_LOW_INCLUDED) != 0,
        .high_included = (node->flags & NODE_HIGH_INCLUDED) != 0,
    };
    return (struct expression_value){.type = VALUE_RANGE, .as.range = range};
}

struct expression_value expression_feel_between(struct expression_evaluation *evaluation,
                                                const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    struct expression_range range = {
        .low = expression_operand(evaluation, node->children[1]),
        .high = expression_operand(evaluation, node->children[2]),
        .low_included = true,
        .high_included = true,
    };
    enum expression_truth truth = expression_in_range(evaluation, value, &range);
    if (truth == TRUTH_UNKNOWN) {
        return expression_warn(evaluation, node->offset, "cannot compare %s with %s and %s",
                               expression_type_name(value.type),
                               expression_type_name(range.low.type),
                               expression_type_name(range.high.type));
    }
    return expression_truth(truth);
}

/* "(= x)" by itself is the range that holds nothing else; what "(!= x)" holds is none. `in` looks
 * at the operands. */
struct expression_value expression_feel_test(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    struct expression_range *range = arena_alloc(evaluation->arena, sizeof *range);
    struct expression_value end = expression_operand(evaluation, node->children[0]);
    if ((node->flags & NODE_UNEQUAL) != 0) {
        return expression_warn(evaluation, node->offset, "\"!=\" by itself is no range");
    }
    if (range == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    *range = (struct expression_range){end, end, true, true};
    return (struct expression_value){.type = VALUE_RANGE, .as.range = range};
}

struct expression_value expression_feel_ask(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    return expression_evaluate(evaluation, node->children[0]);
}
