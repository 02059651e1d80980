/* feel_operator.c: arithmetic and comparison of FEEL (DMN 1.5 tables 42 to 53). */
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "engine/expression/text.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

#define EQUAL_DEPTH_MAX (2 * LIMIT_EXPRESSION_DEPTH)

typedef bool (*binary_fn)(struct expression_value a, struct expression_value b,
                          struct expression_value *out);

struct operation {
    const char *sign;
    binary_fn of_numbers;
    binary_fn of_times; /* at least one of the two is a date, time or duration; or NULL */
};

static enum expression_truth equal_at(struct expression_evaluation *evaluation,
                                      struct expression_value a, struct expression_value b,
                                      unsigned depth);

static struct expression_value calculate(struct expression_evaluation *evaluation,
                                         struct expression_value a, struct expression_value b,
                                         uint32_t offset, const struct operation *operation)
{
    struct expression_value value;
    if (a.type == VALUE_NUMBER && b.type == VALUE_NUMBER) {
        if (operation->of_numbers(a, b, &value)) {
            return value;
        }
        return expression_warn(evaluation, offset, "the result of \"%s\" is undefined",
                               operation->sign);
    }
    bool with_time = expression_is_temporal(a) || expression_is_temporal(b);
    if (with_time && operation->of_times != NULL && operation->of_times(a, b, &value)) {
        return value;
    }
    return expression_warn(evaluation, offset, "cannot compute %s %s %s",
                           expression_type_name(a.type), operation->sign,
                           expression_type_name(b.type));
}

struct expression_value expression_feel_add(struct expression_evaluation *evaluation,
                                            struct expression_value a, struct expression_value b,
                                            uint32_t offset)
{
    static const struct operation addition = {"+", expression_number_add, expression_temporal_add};
    if (a.type == VALUE_STRING && b.type == VALUE_STRING) {
        if (!expression_pay(evaluation,
                            (a.as.text.count + b.as.text.count) / EXPRESSION_BYTES_PER_STEP)) {
            return expression_null();
        }
        return expression_string(
            expression_text_concatenate(evaluation->arena, a.as.text, b.as.text));
    }
    return calculate(evaluation, a, b, offset, &addition);
}

struct expression_value expression_feel_subtract(struct expression_evaluation *evaluation,
                                                 struct expression_value a,
                                                 struct expression_value b, uint32_t offset)
{
    static const struct operation subtraction = {"-", expression_number_subtract,
                                                 expression_temporal_subtract};
    return calculate(evaluation, a, b, offset, &subtraction);
}

struct expression_value expression_feel_multiply(struct expression_evaluation *evaluation,
                                                 struct expression_value a,
                                                 struct expression_value b, uint32_t offset)
{
    static const struct operation multiplication = {"*", expression_number_multiply,
                                                    expression_temporal_multiply};
    return calculate(evaluation, a, b, offset, &multiplication);
}

struct expression_value expression_feel_divide(struct expression_evaluation *evaluation,
                                               struct expression_value a, struct expression_value b,
                                               uint32_t offset)
{
    static const struct operation division = {"/", expression_number_divide,
                                              expression_temporal_divide};
    return calculate(evaluation, a, b, offset, &division);
}

struct expression_value expression_feel_power(struct expression_evaluation *evaluation,
                                              struct expression_value a, struct expression_value b,
                                              uint32_t offset)
{
    static const struct operation power = {"**", expression_number_power, NULL};
    return calculate(evaluation, a, b, offset, &power);
}

struct expression_value expression_feel_negate(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    if (value.type == VALUE_NUMBER) {
        return expression_number_negate(value);
    }
    if (value.type == VALUE_MONTHS || value.type == VALUE_DURATION) {
        return expression_temporal_negate(value);
    }
    return expression_warn(evaluation, node->offset, "cannot negate %s",
                           expression_type_name(value.type));
}

/* Comparing looks through the shorter of two texts. */
static bool pay_for_texts(struct expression_evaluation *evaluation, struct expression_value a,
                          struct expression_value b)
{
    size_t bytes = a.as.text.count < b.as.text.count ? a.as.text.count : b.as.text.count;
    return expression_pay(evaluation, bytes / EXPRESSION_BYTES_PER_STEP);
}

static enum expression_truth equal_lists(struct expression_evaluation *evaluation,
                                         struct expression_value a, struct expression_value b,
                                         unsigned depth)
{
    struct expression_walk left = expression_walk(a);
    struct expression_walk right = expression_walk(b);
    struct expression_value item;
    struct expression_value other;
    if (a.count != b.count) {
        return TRUTH_FALSE;
    }
    while (expression_walk_item(&left, &item) && expression_walk_item(&right, &other)) {
        if (equal_at(evaluation, item, other, depth + 1) != TRUTH_TRUE) {
            return TRUTH_FALSE;
        }
    }
    return TRUTH_TRUE;
}

static enum expression_truth equal_contexts(struct expression_evaluation *evaluation,
                                            struct expression_value a, struct expression_value b,
                                            unsigned depth)
{
    struct expression_walk walk = expression_walk(a);
    struct expression_entry entry;
    struct expression_value other;
    if (a.count != b.count) {
        return TRUTH_FALSE;
    }
    while (expression_walk_entry(&walk, &entry)) {
        if (!expression_pay(evaluation, b.count / 8) ||
            !expression_value_find(b, entry.key, &other) ||
            equal_at(evaluation, expression_value_read(entry.value), expression_value_read(other),
                     depth + 1) != TRUTH_TRUE) {
            return TRUTH_FALSE;
        }
    }
    return TRUTH_TRUE;
}

static bool equal_ends(struct expression_evaluation *evaluation, struct expression_value a,
                       struct expression_value b, unsigned depth)
{
    return a.type == b.type &&
           (a.type == VALUE_ABSENT || equal_at(evaluation, a, b, depth + 1) == TRUTH_TRUE);
}

static enum expression_truth equal_ranges(struct expression_evaluation *evaluation,
                                          const struct expression_range *a,
                                          const struct expression_range *b, unsigned depth)
{
    bool equal = a->low_included == b->low_included && a->high_included == b->high_included &&
                 equal_ends(evaluation, a->low, b->low, depth) &&
                 equal_ends(evaluation, a->high, b->high, depth);
    return equal ? TRUTH_TRUE : TRUTH_FALSE;
}

static enum expression_truth equal_at(struct expression_evaluation *evaluation,
                                      struct expression_value a, struct expression_value b,
                                      unsigned depth)
{
    if (depth > EQUAL_DEPTH_MAX) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "values nested too deep to compare");
    }
    if (!expression_pay(evaluation, 1)) {
        return TRUTH_UNKNOWN;
    }
    if (a.type == VALUE_NULL || b.type == VALUE_NULL) {
        return a.type == b.type ? TRUTH_TRUE : TRUTH_FALSE;
    }
    if (a.type != b.type) {
        return TRUTH_UNKNOWN;
    }
    switch (a.type) {
    case VALUE_BOOLEAN:
        return a.as.boolean == b.as.boolean ? TRUTH_TRUE : TRUTH_FALSE;
    case VALUE_NUMBER:
        return expression_number_compare(a, b) == 0 ? TRUTH_TRUE : TRUTH_FALSE;
    case VALUE_STRING:
        pay_for_texts(evaluation, a, b);
        return span_equal(a.as.text, b.as.text) ? TRUTH_TRUE : TRUTH_FALSE;
    case VALUE_LIST:
        return equal_lists(evaluation, a, b, depth);
    case VALUE_CONTEXT:
        return equal_contexts(evaluation, a, b, depth);
    case VALUE_RANGE:
        return equal_ranges(evaluation, a.as.range, b.as.range, depth);
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_DATE_TIME:
    case VALUE_MONTHS:
    case VALUE_DURATION:
        return expression_temporal_equal(a, b) ? TRUTH_TRUE : TRUTH_FALSE;
    case VALUE_FUNCTION:
        return a.as.closure == b.as.closure ? TRUTH_TRUE : TRUTH_FALSE;
    case VALUE_NULL:
    case VALUE_ABSENT:
    case VALUE_UNREAD:
        break;
    }
    ASSERT_UNREACHABLE();
    return TRUTH_UNKNOWN;
}

enum expression_truth expression_equal(struct expression_evaluation *evaluation,
                                       struct expression_value a, struct expression_value b)
{
    return equal_at(evaluation, a, b, 0);
}

bool expression_same(struct expression_evaluation *evaluation, struct expression_value a,
                     struct expression_value b)
{
    return equal_at(evaluation, a, b, 0) == TRUTH_TRUE;
}

struct expression_value expression_feel_equal(struct expression_evaluation *evaluation,
                                              struct expression_value a, struct expression_value b,
                                              uint32_t offset)
{
    enum expression_truth truth = expression_equal(evaluation, a, b);
    if (truth == TRUTH_UNKNOWN) {
        return expression_warn(evaluation, offset, "cannot compare %s with %s",
                               expression_type_name(a.type), expression_type_name(b.type));
    }
    return expression_truth(truth);
}

struct expression_value expression_feel_unequal(struct expression_evaluation *evaluation,
                                                struct expression_value a,
                                                struct expression_value b, uint32_t offset)
{
    struct expression_value equal = expression_feel_equal(evaluation, a, b, offset);
    return equal.type == VALUE_BOOLEAN ? expression_boolean(!equal.as.boolean) : equal;
}

bool expression_order(struct expression_evaluation *evaluation, struct expression_value a,
                      struct expression_value b, int *order)
{
    if (a.type == VALUE_NUMBER && b.type == VALUE_NUMBER) {
        *order = expression_number_compare(a, b);
        return true;
    }
    if (a.type == VALUE_STRING && b.type == VALUE_STRING) {
        *order = span_compare(a.as.text, b.as.text); /* bytes of UTF-8 order as code points do */
        return pay_for_texts(evaluation, a, b);
    }
    return a.type == b.type && expression_is_temporal(a) && expression_temporal_order(a, b, order);
}

static bool ordered(struct expression_evaluation *evaluation, struct expression_value a,
                    struct expression_value b, uint32_t offset, int *order)
{
    if (expression_order(evaluation, a, b, order)) {
        return true;
    }
    expression_warn(evaluation, offset, "cannot compare %s with %s", expression_type_name(a.type),
                    expression_type_name(b.type));
    return false;
}

struct expression_value expression_feel_less(struct expression_evaluation *evaluation,
                                             struct expression_value a, struct expression_value b,
                                             uint32_t offset)
{
    int order;
    return ordered(evaluation, a, b, offset, &order) ? expression_boolean(order < 0)
                                                     : expression_null();
}

struct expression_value expression_feel_less_equal(struct expression_evaluation *evaluation,
                                                   struct expression_value a,
                                                   struct expression_value b, uint32_t offset)
{
    int order;
    return ordered(evaluation, a, b, offset, &order) ? expression_boolean(order <= 0)
                                                     : expression_null();
}

struct expression_value expression_feel_greater(struct expression_evaluation *evaluation,
                                                struct expression_value a,
                                                struct expression_value b, uint32_t offset)
{
    return expression_feel_less(evaluation, b, a, offset);
}

struct expression_value expression_feel_greater_equal(struct expression_evaluation *evaluation,
                                                      struct expression_value a,
                                                      struct expression_value b, uint32_t offset)
{
    return expression_feel_less_equal(evaluation, b, a, offset);
}
