/*
 * condition.c: whether a node holds. Nearly all conditions of processes compare a variable, or what
 * a path over it leads to, with a constant; those are decided on the bytes of the payload, with
 * nothing but registers between them and the answer. Whatever is out of the ordinary (an unknown
 * name, dates, texts that are ordered) is left to the operators in general, which see the operands
 * anew and warn.
 */
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "proto/base/assert.h"

/* What an operand is at a glance. */
struct glance {
    enum { GLANCE_OTHER, GLANCE_INTEGER, GLANCE_DECIMAL, GLANCE_TEXT } at;
    int64_t integer;
    struct span text;
    struct expression_value decimal;
};

/* The bytes of a name, or of a path over names; empty where they are not to be had so easily. */
static struct span bytes_of(struct expression_evaluation *evaluation,
                            const struct expression_node *node)
{
    struct expression_value value;
    if (node->kind == NODE_FEEL_PATH) {
        struct span base = bytes_of(evaluation, node->children[0]);
        return expression_pay(evaluation, 1 + base.count / EXPRESSION_BYTES_PER_STEP)
                   ? wire_find(base, node->as.name.text)
                   : SPAN_EMPTY;
    }
    if (node->kind != NODE_FEEL_NAME || !expression_pay(evaluation, 1)) {
        return SPAN_EMPTY;
    }
    if (evaluation->frame == NULL && node->as.name.slot != EXPRESSION_NO_SLOT &&
        (evaluation->slots->asked >> node->as.name.slot & 1) != 0) {
        return evaluation->slots->values[node->as.name.slot];
    }
    return expression_lookup(evaluation, node, &value) && value.type == VALUE_UNREAD ? value.as.wire
                                                                                     : SPAN_EMPTY;
}

static inline void glance_at_constant(const struct expression_value *constant,
                                      struct glance *glance)
{
    if (constant->type == VALUE_STRING) {
        glance->at = GLANCE_TEXT;
        glance->text = constant->as.text;
    } else if (constant->type != VALUE_NUMBER) {
        glance->at = GLANCE_OTHER;
    } else if (constant->is_decimal) {
        glance->at = GLANCE_DECIMAL;
        glance->decimal = *constant;
    } else {
        glance->at = GLANCE_INTEGER;
        glance->integer = constant->as.integer;
    }
}

static inline void glance_at(struct expression_evaluation *evaluation,
                             const struct expression_node *node, struct glance *glance)
{
    if (node->kind == NODE_CONSTANT) {
        glance_at_constant(&node->as.constant, glance);
        return;
    }
    struct span bytes = bytes_of(evaluation, node);
    if (wire_is_integer(bytes, &glance->integer)) {
        glance->at = GLANCE_INTEGER;
    } else if (wire_is_text(bytes, &glance->text)) {
        glance->at = GLANCE_TEXT;
    } else if (wire_is(bytes, WIRE_DECIMAL)) {
        glance->decimal = expression_value_of_wire(bytes);
        glance->at = glance->decimal.type == VALUE_NUMBER ? GLANCE_DECIMAL : GLANCE_OTHER;
    } else {
        glance->at = GLANCE_OTHER;
    }
}

static struct expression_value number_of(const struct glance *glance)
{
    return glance->at == GLANCE_INTEGER ? expression_integer(glance->integer) : glance->decimal;
}

static inline bool order_holds(enum expression_operator operator, int64_t left, int64_t right)
{
    switch ((unsigned)operator) {
    case OPERATOR_FEEL_EQUAL:
        return left == right;
    case OPERATOR_FEEL_UNEQUAL:
        return left != right;
    case OPERATOR_FEEL_LESS:
        return left < right;
    case OPERATOR_FEEL_LESS_EQUAL:
        return left <= right;
    case OPERATOR_FEEL_GREATER:
        return left > right;
    case OPERATOR_FEEL_GREATER_EQUAL:
        return left >= right;
    }
    ASSERT_UNREACHABLE();
    return false;
}

_Static_assert(OPERATOR_FEEL_GREATER_EQUAL - OPERATOR_FEEL_EQUAL == 5 &&
                   OPERATOR_FEEL_UNEQUAL - OPERATOR_FEEL_EQUAL == 1,
               "the comparisons stand together, the equalities first");

static bool compare(struct expression_evaluation *evaluation, const struct expression_node *node,
                    bool *holds)
{
    enum expression_operator operator= node->as.operators[1].operator;
    if (node->count != 2 || operator<OPERATOR_FEEL_EQUAL || operator> OPERATOR_FEEL_GREATER_EQUAL) {
        return false;
    }
    struct glance left, right;
    glance_at(evaluation, node->children[0], &left);
    if (left.at == GLANCE_OTHER) {
        return false;
    }
    glance_at(evaluation, node->children[1], &right);
    if (left.at == GLANCE_INTEGER && right.at == GLANCE_INTEGER) {
        *holds = order_holds(operator, left.integer, right.integer);
        return true;
    }
    if (left.at == GLANCE_TEXT &&
        right.at == GLANCE_TEXT &&
        operator<= OPERATOR_FEEL_UNEQUAL && left.text.count<EXPRESSION_BYTES_PER_STEP) {
        *holds = span_equal(left.text, right.text) == (operator== OPERATOR_FEEL_EQUAL);
        return true;
    }
    if (left.at == GLANCE_TEXT || right.at == GLANCE_TEXT || right.at == GLANCE_OTHER) {
        return false;
    }
    *holds =
        order_holds(operator, expression_number_compare(number_of(&left), number_of(&right)), 0);
    return true;
}

/* What could not be told at a glance is paid for by whoever looks closer. */
static bool compare_at_a_glance(struct expression_evaluation *evaluation,
                                const struct expression_node *node, bool *holds)
{
    uint32_t steps_left = evaluation->steps_left;
    ASSERT(node->kind == NODE_FOLD);
    if (compare(evaluation, node, holds)) {
        return true;
    }
    if (evaluation->result == RESULT_OK) {
        evaluation->steps_left = steps_left;
    }
    return false;
}

/* DMN 1.5 table 50: what is no boolean counts as null; the first decisive operand ends it. */
static enum expression_truth decide(struct expression_evaluation *evaluation,
                                    const struct expression_node *node, bool decisive)
{
    enum expression_truth truth = decisive ? TRUTH_FALSE : TRUTH_TRUE;
    enum expression_truth end = decisive ? TRUTH_TRUE : TRUTH_FALSE;
    for (uint32_t i = 0; i < node->count && evaluation->result == RESULT_OK; i++) {
        enum expression_truth operand = expression_holds(evaluation, node->children[i]);
        if (operand == end) {
            return end;
        }
        truth = operand == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : truth;
    }
    return truth;
}

struct expression_value expression_fold(struct expression_evaluation *evaluation,
                                        const struct expression_node *node)
{
    bool holds;
    return compare_at_a_glance(evaluation, node, &holds) ? expression_boolean(holds)
                                                         : expression_fold_values(evaluation, node);
}

enum expression_truth expression_holds(struct expression_evaluation *evaluation,
                                       const struct expression_node *node)
{
    struct expression_value value;
    bool holds;
    if (node->kind != NODE_FOLD) {
        value = expression_operand(evaluation, node);
    } else if (!expression_pay(evaluation, 1)) {
        return TRUTH_UNKNOWN;
    } else if (compare_at_a_glance(evaluation, node, &holds)) {
        return holds ? TRUTH_TRUE : TRUTH_FALSE;
    } else {
        value = expression_value_read(expression_fold_values(evaluation, node));
    }
    if (value.type != VALUE_BOOLEAN) {
        return TRUTH_UNKNOWN;
    }
    return value.as.boolean ? TRUTH_TRUE : TRUTH_FALSE;
}

struct expression_value expression_feel_and(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    return expression_truth(decide(evaluation, node, false));
}

struct expression_value expression_feel_or(struct expression_evaluation *evaluation,
                                           const struct expression_node *node)
{
    return expression_truth(decide(evaluation, node, true));
}

struct expression_value expression_feel_if(struct expression_evaluation *evaluation,
                                           const struct expression_node *node)
{
    bool chosen = expression_holds(evaluation, node->children[0]) == TRUTH_TRUE;
    return expression_evaluate(evaluation, node->children[chosen ? 1 : 2]);
}
