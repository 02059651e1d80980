/* function_aggregate.c: FEEL's functions that make one value of a list (DMN 1.5 §10.3.4.4). */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"

typedef bool (*number_fn)(struct expression_value a, struct expression_value b,
                          struct expression_value *out);

/* The numbers of a list as an array in the arena; NULL after a warning: empty, or an item that is
 * no number. */
static struct expression_value *numbers_of(struct expression_evaluation *evaluation,
                                           struct expression_value list, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (item.type != VALUE_NUMBER) {
            expression_warn(evaluation, offset, "the list holds %s among numbers",
                            expression_type_name(item.type));
            return NULL;
        }
        expression_builder_add(&builder, item);
    }
    if (builder.count != list.count) {
        return NULL; /* out of steps or memory: latched there */
    }
    if (builder.count == 0) {
        expression_warn(evaluation, offset, "the list is empty");
    }
    return builder.items;
}

static bool fold(const struct expression_value *numbers, uint32_t count, number_fn operation,
                 struct expression_value *out)
{
    *out = numbers[0];
    for (uint32_t i = 1; i < count; i++) {
        if (!operation(*out, numbers[i], out)) {
            return false;
        }
    }
    return true;
}

static struct expression_value fold_list(struct expression_evaluation *evaluation,
                                         struct expression_value list, uint32_t offset,
                                         number_fn operation)
{
    struct expression_value value;
    struct expression_value *numbers = numbers_of(evaluation, list, offset);
    if (numbers == NULL || !fold(numbers, list.count, operation, &value)) {
        return expression_warn(evaluation, offset, "number out of range");
    }
    return value;
}

static struct expression_value sum(struct expression_evaluation *evaluation,
                                   const struct expression_value *arguments, uint32_t offset)
{
    return fold_list(evaluation, arguments[0], offset, expression_number_add);
}

static struct expression_value product(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    return fold_list(evaluation, arguments[0], offset, expression_number_multiply);
}

static struct expression_value mean(struct expression_evaluation *evaluation,
                                    const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value value = sum(evaluation, arguments, offset);
    struct expression_value count = expression_integer(arguments[0].count);
    if (value.type != VALUE_NUMBER || !expression_number_divide(value, count, &value)) {
        return expression_null();
    }
    return value;
}

/* The sample's standard deviation: null for fewer than two numbers. */
static struct expression_value stddev(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value list = arguments[0];
    struct expression_value *numbers = numbers_of(evaluation, list, offset);
    struct expression_value average = mean(evaluation, arguments, offset);
    if (numbers == NULL || list.count < 2 || average.type != VALUE_NUMBER) {
        return expression_warn(evaluation, offset, "too few numbers");
    }
    struct expression_value value;
    bool defined = true;
    for (uint32_t i = 0; i < list.count; i++) {
        defined = defined && expression_number_subtract(numbers[i], average, &numbers[i]) &&
                  expression_number_multiply(numbers[i], numbers[i], &numbers[i]);
    }
    defined = defined && fold(numbers, list.count, expression_number_add, &value) &&
              expression_number_divide(value, expression_integer(list.count - 1), &value) &&
              expression_number_sqrt(value, &value);
    return defined ? value : expression_warn(evaluation, offset, "number out of range");
}

/* Heap sort: no worse on hostile lists, no memory. */
static void sift(struct expression_value *numbers, uint32_t root, uint32_t count)
{
    for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count &&
            expression_number_compare(numbers[child], numbers[child + 1]) < 0) {
            child++;
        }
        if (expression_number_compare(numbers[root], numbers[child]) >= 0) {
            return;
        }
        struct expression_value swapped = numbers[root];
        numbers[root] = numbers[child];
        numbers[child] = swapped;
        root = child;
    }
}

static void sort(struct expression_value *numbers, uint32_t count)
{
    for (uint32_t root = count / 2; root > 0; root--) {
        sift(numbers, root - 1, count);
    }
    for (uint32_t end = count; end > 1; end--) {
        struct expression_value largest = numbers[0];
        numbers[0] = numbers[end - 1];
        numbers[end - 1] = largest;
        sift(numbers, 0, end - 1);
    }
}

static struct expression_value median(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    uint32_t count = arguments[0].count;
    struct expression_value *numbers = numbers_of(evaluation, arguments[0], offset);
    if (numbers == NULL) {
        return expression_null();
    }
    sort(numbers, count);
    struct expression_value value = numbers[count / 2];
    if (count % 2 == 0 && (!expression_number_add(value, numbers[count / 2 - 1], &value) ||
                           !expression_number_divide(value, expression_integer(2), &value))) {
        return expression_warn(evaluation, offset, "number out of range");
    }
    return value;
}

/* The numbers that occur most often, in ascending order; none of none. */
static struct expression_value mode(struct expression_evaluation *evaluation,
                                    const struct expression_value *arguments, uint32_t offset)
{
    uint32_t count = arguments[0].count;
    struct expression_builder builder = {.arena = evaluation->arena};
    if (count == 0) {
        return arguments[0];
    }
    struct expression_value *numbers = numbers_of(evaluation, arguments[0], offset);
    if (numbers == NULL) {
        return expression_null();
    }
    sort(numbers, count);
    uint32_t most = 0;
    for (uint32_t i = 0, run = 0; i < count; i += run) {
        run = 1;
        while (i + run < count && expression_number_compare(numbers[i], numbers[i + run]) == 0) {
            run++;
        }
        if (run > most) {
            most = run;
            builder.count = 0;
        }
        if (run == most) {
            expression_builder_add(&builder, numbers[i]);
        }
    }
    return expression_builder_list(&builder);
}

/* The largest (sign 1) or smallest (-1) of numbers or of strings. */
static struct expression_value extreme(struct expression_evaluation *evaluation,
                                       struct expression_value list, uint32_t offset, int sign)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value best = expression_null();
    struct expression_value item;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        int order = 0;
        if (!expression_order(evaluation, item, best.type == VALUE_NULL ? item : best, &order)) {
            return expression_warn(evaluation, offset, "cannot compare all items of the list");
        }
        if (best.type == VALUE_NULL || order * sign > 0) {
            best = item;
        }
    }
    return best;
}

static struct expression_value minimum(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    return extreme(evaluation, arguments[0], offset, -1);
}

static struct expression_value maximum(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    return extreme(evaluation, arguments[0], offset, 1);
}

/* As `and` and `or` over the items: one that is no boolean leaves it open unless another decides.
 */
static struct expression_value decide(struct expression_evaluation *evaluation,
                                      struct expression_value list, uint32_t offset, bool decisive)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    bool unknown = false;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (item.type != VALUE_BOOLEAN) {
            unknown = true;
        } else if (item.as.boolean == decisive) {
            return item;
        }
    }
    return unknown ? expression_warn(evaluation, offset, "the list does not hold booleans only")
                   : expression_boolean(!decisive);
}

static struct expression_value all(struct expression_evaluation *evaluation,
                                   const struct expression_value *arguments, uint32_t offset)
{
    return decide(evaluation, arguments[0], offset, false);
}

static struct expression_value any(struct expression_evaluation *evaluation,
                                   const struct expression_value *arguments, uint32_t offset)
{
    return decide(evaluation, arguments[0], offset, true);
}

const struct expression_function expression_aggregate_functions[] = {
    {"sum", "*", 1, "list", sum},
    {"product", "*", 1, "list", product},
    {"mean", "*", 1, "list", mean},
    {"stddev", "*", 1, "list", stddev},
    {"median", "*", 1, "list", median},
    {"mode", "*", 1, "list", mode},
    {"min", "*", 1, "list", minimum},
    {"max", "*", 1, "list", maximum},
    {"all", "*", 1, "list", all},
    {"any", "*", 1, "list", any},
    {0},
};
