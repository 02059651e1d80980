/* function_list.c: FEEL's functions that build, search and cut lists (DMN 1.5 §10.3.4.4); positions
 * count from 1. */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "proto/base/limits.h"

bool expression_list_index(struct expression_value position, uint32_t count, uint32_t *index)
{
    int64_t at;
    if (!expression_number_truncate(position, &at) || at == 0 || at > count ||
        at < -(int64_t)count) {
        return false;
    }
    *index = (uint32_t)(at > 0 ? at - 1 : count + at);
    return true;
}

static void add_all(struct expression_evaluation *evaluation, struct expression_builder *builder,
                    struct expression_value list)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_next(&walk, &item) && expression_pay(evaluation, 1)) {
        expression_builder_add(builder, item);
    }
}

static bool holds(struct expression_evaluation *evaluation, struct expression_value list,
                  struct expression_value wanted)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item)) {
        if (expression_same(evaluation, item, wanted)) {
            return true;
        }
    }
    return false;
}

static struct expression_value list_contains(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    (void)offset;
    return expression_boolean(holds(evaluation, arguments[0], arguments[1]));
}

static struct expression_value append(struct expression_evaluation *evaluation,
                                      const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    (void)offset;
    add_all(evaluation, &builder, arguments[0]);
    add_all(evaluation, &builder, arguments[1]);
    return expression_builder_list(&builder);
}

/* The items of all lists; false after a warning about one that is none. */
static bool gather(struct expression_evaluation *evaluation, struct expression_value lists,
                   uint32_t offset, struct expression_builder *builder)
{
    struct expression_walk walk = expression_walk(lists);
    struct expression_value list;
    while (expression_walk_item(&walk, &list)) {
        if (list.type == VALUE_NULL) {
            expression_warn(evaluation, offset, "cannot join null to a list");
            return false;
        }
        if (list.type == VALUE_LIST) {
            add_all(evaluation, builder, list);
        } else {
            expression_builder_add(builder, list);
        }
    }
    return true;
}

static struct expression_value concatenate(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    return gather(evaluation, arguments[0], offset, &builder) ? expression_builder_list(&builder)
                                                              : expression_null();
}

static struct expression_value without_doubles(struct expression_evaluation *evaluation,
                                               struct expression_value list)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (!holds(evaluation, expression_builder_list(&builder), item)) {
            expression_builder_add(&builder, item);
        }
    }
    return expression_builder_list(&builder);
}

static struct expression_value distinct_values(struct expression_evaluation *evaluation,
                                               const struct expression_value *arguments,
                                               uint32_t offset)
{
    (void)offset;
    return without_doubles(evaluation, arguments[0]);
}

static struct expression_value union_of(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    return gather(evaluation, arguments[0], offset, &builder)
               ? without_doubles(evaluation, expression_builder_list(&builder))
               : expression_null();
}

/* Items before the index, then, if given, one more, then those from `rest` on. */
static struct expression_value splice(struct expression_evaluation *evaluation,
                                      struct expression_value list, uint32_t index,
                                      const struct expression_value *inserted, uint32_t rest)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    for (uint32_t i = 0; expression_walk_next(&walk, &item) && expression_pay(evaluation, 1); i++) {
        if (i == index && inserted != NULL) {
            expression_builder_add(&builder, *inserted);
        }
        if (i < index || i >= rest) {
            expression_builder_add(&builder, item);
        }
    }
    return expression_builder_list(&builder);
}

static struct expression_value insert_before(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    uint32_t index;
    if (!expression_list_index(arguments[1], arguments[0].count, &index)) {
        return expression_warn(evaluation, offset, "position out of range");
    }
    return splice(evaluation, arguments[0], index, &arguments[2], index);
}

static struct expression_value remove_item(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    uint32_t index;
    if (!expression_list_index(arguments[1], arguments[0].count, &index)) {
        return expression_warn(evaluation, offset, "position out of range");
    }
    return splice(evaluation, arguments[0], index, NULL, index + 1);
}

static struct expression_value sublist(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    uint32_t first;
    int64_t wanted = arguments[0].count;
    bool fits = expression_list_index(arguments[1], arguments[0].count, &first);
    if (fits && arguments[2].type == VALUE_NUMBER) {
        fits = expression_number_truncate(arguments[2], &wanted) && wanted >= 1 &&
               wanted <= arguments[0].count - first;
    }
    if (!fits) {
        return expression_warn(evaluation, offset, "position or length out of range");
    }
    for (uint32_t i = 0; expression_walk_next(&walk, &item) && expression_pay(evaluation, 1); i++) {
        if (i >= first && i - first < wanted) {
            expression_builder_add(&builder, item);
        }
    }
    return expression_builder_list(&builder);
}

static struct expression_value reverse(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct expression_walk walk = expression_walk(arguments[0]);
    uint32_t count = arguments[0].count;
    struct expression_value *items = arena_alloc(evaluation->arena, count * sizeof *items);
    if (items == NULL || !expression_pay(evaluation, count)) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "list too long");
    }
    for (uint32_t i = count; i > 0 && expression_walk_next(&walk, &items[i - 1]); i--) {
    }
    return expression_list(items, count);
}

static struct expression_value index_of(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    (void)offset;
    for (int64_t position = 1; expression_walk_item(&walk, &item); position++) {
        if (expression_same(evaluation, item, arguments[1])) {
            expression_builder_add(&builder, expression_integer(position));
        }
    }
    return expression_builder_list(&builder);
}

static void flatten_into(struct expression_evaluation *evaluation,
                         struct expression_builder *builder, struct expression_value list,
                         unsigned depth)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    if (depth > LIMIT_EXPRESSION_DEPTH) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "list nested too deep");
    }
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        if (item.type == VALUE_LIST) {
            flatten_into(evaluation, builder, item, depth + 1);
        } else {
            expression_builder_add(builder, item);
        }
    }
}

static struct expression_value flatten(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct expression_builder builder = {.arena = evaluation->arena};
    (void)offset;
    flatten_into(evaluation, &builder, arguments[0], 1);
    return expression_builder_list(&builder);
}

static struct expression_value count_of(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_integer(arguments[0].count);
}

static struct expression_value is_empty(struct expression_evaluation *evaluation,
                                        const struct expression_value *arguments, uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_boolean(arguments[0].count == 0);
}

const struct expression_function expression_list_functions[] = {
    {"count", "l", 1, "list", count_of},
    {"is empty", "l", 1, "list", is_empty},
    {"list contains", "la", 2, "list,element", list_contains},
    {"append", "l+", 1, "list,item", append},
    {"concatenate", "+", 1, "list", concatenate},
    {"union", "+", 1, "list", union_of},
    {"distinct values", "l", 1, "list", distinct_values},
    {"insert before", "lna", 3, "list,position,newItem", insert_before},
    {"remove", "ln", 2, "list,position", remove_item},
    {"sublist", "lnn", 2, "list,start position,length", sublist},
    {"reverse", "l", 1, "list", reverse},
    {"index of", "la", 2, "list,match", index_of},
    {"flatten", "l", 1, "list", flatten},
    {0},
};
