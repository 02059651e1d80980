/* function_order.c: FEEL's functions that take a function: sort and list replace (DMN 1.5
 * §10.3.4.10, table 75). */
#include "engine/expression/closure.h"
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "proto/base/assert.h"

struct sorting {
    struct expression_evaluation *evaluation;
    struct expression_value precedes; /* a function, or ABSENT: ascending */
    uint32_t offset;
    bool failed; /* two items had no order */
};

/* Must the second stand before the first? Only then do they change places: equal ones keep theirs.
 */
static bool is_behind(struct sorting *sorting, struct expression_value first,
                      struct expression_value second)
{
    int order = 0;
    if (sorting->precedes.type == VALUE_FUNCTION) {
        struct expression_value arguments[] = {second, first};
        struct expression_value verdict = expression_invoke(sorting->evaluation, sorting->precedes,
                                                            arguments, 2, sorting->offset);
        sorting->failed = sorting->failed || verdict.type != VALUE_BOOLEAN;
        return expression_is_true(verdict);
    }
    bool ordered = expression_pay(sorting->evaluation, 1) &&
                   expression_order(sorting->evaluation, first, second, &order);
    sorting->failed = sorting->failed || !ordered;
    return order > 0;
}

/* Two sorted runs side by side, from `from` into the same places of `to`. */
static void merge(struct sorting *sorting, const struct expression_value *from,
                  struct expression_value *to, uint32_t begin, uint32_t middle, uint32_t end)
{
    uint32_t left = begin;
    uint32_t right = middle;
    for (uint32_t at = begin; at < end; at++) {
        bool take_right =
            left == middle || (right < end && is_behind(sorting, from[left], from[right]));
        to[at] = take_right ? from[right++] : from[left++];
    }
}

/* Merge sort from the bottom up: stable, and no worse on hostile lists or functions. */
static struct expression_value sort(struct expression_evaluation *evaluation,
                                    const struct expression_value *arguments, uint32_t offset)
{
    uint32_t count = arguments[0].count;
    struct sorting sorting = {.evaluation = evaluation, .precedes = arguments[1], .offset = offset};
    struct expression_value *items = arena_alloc(evaluation->arena, count * sizeof *items);
    struct expression_value *other = arena_alloc(evaluation->arena, count * sizeof *other);
    struct expression_walk walk = expression_walk(arguments[0]);
    if (items == NULL || other == NULL || !expression_pay(evaluation, count)) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "list too long");
    }
    for (uint32_t i = 0; i < count; i++) {
        bool more = expression_walk_item(&walk, &items[i]);
        ASSERT(more);
    }
    for (uint32_t run = 1; run < count && !sorting.failed; run *= 2) {
        for (uint32_t begin = 0; begin < count && !sorting.failed; begin += 2 * run) {
            uint32_t middle = count - begin < run ? count : begin + run;
            uint32_t end = count - middle < run ? count : middle + run;
            merge(&sorting, items, other, begin, middle, end);
        }
        struct expression_value *swapped = items;
        items = other;
        other = swapped;
    }
    return sorting.failed
               ? expression_warn(evaluation, offset, "cannot order all items of the list")
               : expression_list(items, count);
}

/* The items, each replaced for which `match(item, newItem)` is true. */
static struct expression_value replace_matches(struct expression_evaluation *evaluation,
                                               const struct expression_value *arguments,
                                               uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    while (expression_walk_next(&walk, &item) && evaluation->result == RESULT_OK) {
        struct expression_value pair[] = {expression_value_read(item), arguments[2]};
        struct expression_value verdict =
            expression_invoke(evaluation, arguments[1], pair, 2, offset);
        if (verdict.type != VALUE_BOOLEAN) {
            return expression_warn(evaluation, offset, "the function gives no boolean");
        }
        expression_builder_add(&builder, verdict.as.boolean ? arguments[2] : item);
    }
    return expression_builder_list(&builder);
}

static struct expression_value list_replace(struct expression_evaluation *evaluation,
                                            const struct expression_value *arguments,
                                            uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    uint32_t index;
    if (arguments[1].type == VALUE_FUNCTION) {
        return replace_matches(evaluation, arguments, offset);
    }
    if (arguments[1].type != VALUE_NUMBER ||
        !expression_list_index(arguments[1], arguments[0].count, &index)) {
        return expression_warn(evaluation, offset, "position out of range");
    }
    for (uint32_t i = 0; expression_walk_next(&walk, &item) && expression_pay(evaluation, 1); i++) {
        expression_builder_add(&builder, i == index ? arguments[2] : item);
    }
    return expression_builder_list(&builder);
}

const struct expression_function expression_order_functions[] = {
    {"sort", "lf", 1, "list,precedes", sort},
    {"list replace", "laa", 3, "list,position,newItem", list_replace},
    {"list replace", "laa", 3, "list,match,newItem", list_replace},
    {0},
};
