/*
 * juel.c: names, properties, logic and operators of EL, with its coercions (JSR 245 §1.8, §1.18),
 * as JUEL does them.
 *
 * DEVIATION(el §1.7): all arithmetic is decimal, where EL has doubles: 0.1 + 0.2 is 0.3 and 1 / 0
 * fails.
 */
#include "engine/expression/evaluate.h"
#include "engine/expression/juel_method.h"
#include "engine/expression/number.h"
#include "engine/expression/text.h"

typedef bool (*number_fn)(struct expression_value a, struct expression_value b,
                          struct expression_value *out);

static bool is_empty_string(struct expression_value value)
{
    return value.type == VALUE_STRING && value.as.text.count == 0;
}

/* EL §1.18.3: null and "" are 0, text is read, booleans are no numbers. */
static bool to_number(struct expression_evaluation *evaluation, uint32_t offset,
                      struct expression_value value, struct expression_value *out)
{
    *out = expression_integer(0);
    if (value.type == VALUE_NUMBER) {
        *out = value;
        return true;
    }
    if (value.type == VALUE_NULL || is_empty_string(value)) {
        return true;
    }
    if (value.type == VALUE_STRING && expression_number_parse(span_trim(value.as.text), out)) {
        return true;
    }
    expression_fail(evaluation, RESULT_INVALID, offset, "%s is no number",
                    value.type == VALUE_STRING ? "this string" : expression_type_name(value.type));
    return false;
}

static bool is_true_text(struct span text)
{
    return text.count == 4 && strncasecmp((const char *)text.bytes, "true", 4) == 0;
}

/* EL §1.18.5: null and "" are false, text is true when it is "true" in any case. */
static bool to_boolean(struct expression_evaluation *evaluation, uint32_t offset,
                       struct expression_value value)
{
    if (value.type == VALUE_BOOLEAN) {
        return value.as.boolean;
    }
    if (value.type == VALUE_STRING) {
        return is_true_text(value.as.text);
    }
    if (value.type != VALUE_NULL) {
        expression_fail(evaluation, RESULT_INVALID, offset, "%s is no boolean",
                        expression_type_name(value.type));
    }
    return false;
}

struct expression_value expression_juel_name(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    struct expression_value value;
    if (expression_lookup(evaluation, node, &value)) {
        return value;
    }
    if (evaluation->lenient > 0) {
        return expression_null();
    }
    return expression_fail(evaluation, RESULT_INVALID, node->offset, "unknown name \"%.*s\"",
                           SPAN_ARG(node->as.name.text));
}

static struct expression_value element(struct expression_evaluation *evaluation,
                                       const struct expression_node *node,
                                       struct expression_value list, struct expression_value key)
{
    struct expression_value number;
    struct expression_value item;
    int64_t index;
    if (!to_number(evaluation, node->offset, key, &number) ||
        !expression_number_round(number, 0, ROUND_DOWN, &number) ||
        !expression_number_to_integer(number, &index) || index < 0 || index > UINT32_MAX ||
        !expression_value_at(list, (uint32_t)index, &item)) {
        return expression_null();
    }
    return item;
}

static bool is_unbound(struct expression_evaluation *evaluation, const struct expression_node *node)
{
    struct expression_value value;
    return node->kind == NODE_JUEL_NAME && !expression_lookup(evaluation, node, &value);
}

/* EL §1.6: of null it is null; a map without the key and a list without the index give null too. */
struct expression_value expression_juel_property(struct expression_evaluation *evaluation,
                                                 const struct expression_node *node)
{
    struct expression_value value;
    if (is_unbound(evaluation, node->children[0]) &&
        expression_juel_attribute(
            evaluation, node->children[0],
            expression_text_of(evaluation, expression_operand(evaluation, node->children[1])),
            &value)) {
        return value; /* `task` is no variable, but it knows this of itself */
    }
    struct expression_value base = expression_operand(evaluation, node->children[0]);
    struct expression_value key = expression_operand(evaluation, node->children[1]);
    if (base.type == VALUE_NULL || key.type == VALUE_NULL) {
        return expression_null();
    }
    if (base.is_wire &&
        !expression_pay(evaluation, base.as.wire.count / EXPRESSION_BYTES_PER_STEP)) {
        return expression_null();
    }
    if (base.type == VALUE_CONTEXT) {
        struct span text = expression_text_of(evaluation, key);
        bool found = expression_value_find(base, text, &value) ||
                     expression_juel_attribute(evaluation, node->children[0], text, &value);
        return found ? value : expression_null();
    }
    if (base.type == VALUE_LIST) {
        return element(evaluation, node, base, key);
    }
    struct span text = expression_text_of(evaluation, key);
    return expression_fail(evaluation, RESULT_INVALID, node->offset, "%s has no property \"%.*s\"",
                           expression_type_name(base.type), SPAN_ARG(text));
}

static struct expression_value decide(struct expression_evaluation *evaluation,
                                      const struct expression_node *node, bool decisive)
{
    for (uint32_t i = 0; i < node->count && evaluation->result == RESULT_OK; i++) {
        struct expression_value value = expression_operand(evaluation, node->children[i]);
        if (to_boolean(evaluation, node->children[i]->offset, value) == decisive) {
            return expression_boolean(decisive);
        }
    }
    return expression_boolean(!decisive);
}

struct expression_value expression_juel_and(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    return decide(evaluation, node, false);
}

struct expression_value expression_juel_or(struct expression_evaluation *evaluation,
                                           const struct expression_node *node)
{
    return decide(evaluation, node, true);
}

struct expression_value expression_juel_not(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    return expression_boolean(!to_boolean(evaluation, node->offset, value));
}

struct expression_value expression_juel_negate(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    struct expression_value number;
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    return to_number(evaluation, node->offset, value, &number) ? expression_number_negate(number)
                                                               : expression_null();
}

/* An unknown name is empty: this is how files ask whether there is such a variable. */
struct expression_value expression_juel_empty(struct expression_evaluation *evaluation,
                                              const struct expression_node *node)
{
    evaluation->lenient++;
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    evaluation->lenient--;
    bool container = value.type == VALUE_LIST || value.type == VALUE_CONTEXT;
    return expression_boolean(value.type == VALUE_NULL || is_empty_string(value) ||
                              (container && value.count == 0));
}

struct expression_value expression_juel_choice(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    struct expression_value condition = expression_operand(evaluation, node->children[0]);
    bool chosen = to_boolean(evaluation, node->offset, condition);
    return expression_evaluate(evaluation, node->children[chosen ? 1 : 2]);
}

static struct expression_value calculate(struct expression_evaluation *evaluation,
                                         struct expression_value a, struct expression_value b,
                                         uint32_t offset, number_fn operation)
{
    struct expression_value value;
    if (!to_number(evaluation, offset, a, &a) || !to_number(evaluation, offset, b, &b)) {
        return expression_null();
    }
    if (!operation(a, b, &value)) {
        return expression_fail(evaluation, RESULT_INVALID, offset,
                               expression_number_sign(b) == 0 ? "division by zero"
                                                              : "number out of range");
    }
    return value;
}

/* EL 3.0 §1.7: both as texts, null as none. */
struct expression_value expression_juel_join(struct expression_evaluation *evaluation,
                                             struct expression_value a, struct expression_value b,
                                             uint32_t offset)
{
    struct span left = expression_text_of(evaluation, a);
    struct span right = expression_text_of(evaluation, b);
    (void)offset;
    return expression_string(expression_text_concatenate(evaluation->arena, left, right));
}

struct expression_value expression_juel_add(struct expression_evaluation *evaluation,
                                            struct expression_value a, struct expression_value b,
                                            uint32_t offset)
{
    return calculate(evaluation, a, b, offset, expression_number_add);
}

struct expression_value expression_juel_subtract(struct expression_evaluation *evaluation,
                                                 struct expression_value a,
                                                 struct expression_value b, uint32_t offset)
{
    return calculate(evaluation, a, b, offset, expression_number_subtract);
}

struct expression_value expression_juel_multiply(struct expression_evaluation *evaluation,
                                                 struct expression_value a,
                                                 struct expression_value b, uint32_t offset)
{
    return calculate(evaluation, a, b, offset, expression_number_multiply);
}

struct expression_value expression_juel_divide(struct expression_evaluation *evaluation,
                                               struct expression_value a, struct expression_value b,
                                               uint32_t offset)
{
    return calculate(evaluation, a, b, offset, expression_number_divide);
}

struct expression_value expression_juel_remainder(struct expression_evaluation *evaluation,
                                                  struct expression_value a,
                                                  struct expression_value b, uint32_t offset)
{
    return calculate(evaluation, a, b, offset, expression_number_remainder);
}

/* EL §1.8.2: null equals only null; then the first of number, boolean, string that one side is. */
static bool equal(struct expression_evaluation *evaluation, struct expression_value a,
                  struct expression_value b, uint32_t offset)
{
    if (a.type == VALUE_NULL || b.type == VALUE_NULL) {
        return a.type == b.type;
    }
    if (a.type == VALUE_NUMBER || b.type == VALUE_NUMBER) {
        return to_number(evaluation, offset, a, &a) && to_number(evaluation, offset, b, &b) &&
               expression_number_compare(a, b) == 0;
    }
    if (a.type == VALUE_BOOLEAN || b.type == VALUE_BOOLEAN) {
        return to_boolean(evaluation, offset, a) == to_boolean(evaluation, offset, b);
    }
    if (a.type == VALUE_STRING || b.type == VALUE_STRING) {
        return span_equal(expression_text_of(evaluation, a), expression_text_of(evaluation, b));
    }
    return expression_same(evaluation, a, b);
}

struct expression_value expression_juel_equal(struct expression_evaluation *evaluation,
                                              struct expression_value a, struct expression_value b,
                                              uint32_t offset)
{
    return expression_boolean(equal(evaluation, a, b, offset));
}

struct expression_value expression_juel_unequal(struct expression_evaluation *evaluation,
                                                struct expression_value a,
                                                struct expression_value b, uint32_t offset)
{
    return expression_boolean(!equal(evaluation, a, b, offset));
}

/* EL §1.8.1: numbers if one side is one, else text, else booleans. False after a failure. */
static bool ordered(struct expression_evaluation *evaluation, struct expression_value a,
                    struct expression_value b, uint32_t offset, int *order)
{
    if (a.type == VALUE_NUMBER || b.type == VALUE_NUMBER) {
        if (!to_number(evaluation, offset, a, &a) || !to_number(evaluation, offset, b, &b)) {
            return false;
        }
        *order = expression_number_compare(a, b);
        return true;
    }
    if (a.type == VALUE_STRING || b.type == VALUE_STRING) {
        *order = span_compare(expression_text_of(evaluation, a), expression_text_of(evaluation, b));
        return true;
    }
    if (a.type == VALUE_BOOLEAN && b.type == VALUE_BOOLEAN) {
        *order = a.as.boolean - b.as.boolean;
        return true;
    }
    expression_fail(evaluation, RESULT_INVALID, offset, "cannot compare %s with %s",
                    expression_type_name(a.type), expression_type_name(b.type));
    return false;
}

static bool less(struct expression_evaluation *evaluation, struct expression_value a,
                 struct expression_value b, uint32_t offset)
{
    int order;
    return a.type != VALUE_NULL && b.type != VALUE_NULL &&
           ordered(evaluation, a, b, offset, &order) && order < 0;
}

/* null <= null is true, though null < null is not and null == null is all there is to it. */
static bool less_equal(struct expression_evaluation *evaluation, struct expression_value a,
                       struct expression_value b, uint32_t offset)
{
    int order;
    if (a.type == VALUE_NULL || b.type == VALUE_NULL) {
        return a.type == b.type;
    }
    return ordered(evaluation, a, b, offset, &order) && order <= 0;
}

struct expression_value expression_juel_less(struct expression_evaluation *evaluation,
                                             struct expression_value a, struct expression_value b,
                                             uint32_t offset)
{
    return expression_boolean(less(evaluation, a, b, offset));
}

struct expression_value expression_juel_less_equal(struct expression_evaluation *evaluation,
                                                   struct expression_value a,
                                                   struct expression_value b, uint32_t offset)
{
    return expression_boolean(less_equal(evaluation, a, b, offset));
}

struct expression_value expression_juel_greater(struct expression_evaluation *evaluation,
                                                struct expression_value a,
                                                struct expression_value b, uint32_t offset)
{
    return expression_boolean(less(evaluation, b, a, offset));
}

struct expression_value expression_juel_greater_equal(struct expression_evaluation *evaluation,
                                                      struct expression_value a,
                                                      struct expression_value b, uint32_t offset)
{
    return expression_boolean(less_equal(evaluation, b, a, offset));
}
