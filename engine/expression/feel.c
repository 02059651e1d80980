/* feel.c: names, paths, filters, lists, contexts and logic of FEEL (DMN 1.5 §10.3.2). */
#include "engine/expression/closure.h"
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "proto/base/assert.h"

struct expression_value expression_feel_name(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    struct expression_value value;
    if (expression_lookup(evaluation, node, &value) ||
        ((node->flags & NODE_MAY_BE_BUILT_IN) != 0 &&
         expression_closure_of_name(evaluation, node->as.name.text, &value))) {
        return value;
    }
    return expression_warn(evaluation, node->offset, "unknown name \"%.*s\"",
                           SPAN_ARG(node->as.name.text));
}

/* Entry of a context, with its price: bytes of the payload that are looked through. */
static bool find_entry(struct expression_evaluation *evaluation, struct expression_value context,
                       struct span key, struct expression_value *out)
{
    size_t steps =
        context.is_wire ? context.as.wire.count / EXPRESSION_BYTES_PER_STEP : context.count / 8;
    return expression_pay(evaluation, steps) && expression_value_find(context, key, out);
}

/* A path over a list is the list of the paths of its items (DMN 1.5 §10.3.2.5). */
static struct expression_value project(struct expression_evaluation *evaluation,
                                       struct expression_value list, struct span key)
{
    struct expression_builder projected = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        struct expression_value value;
        bool found =
            item.type == VALUE_CONTEXT
                ? find_entry(evaluation, item, key, &value)
                : expression_is_temporal(item) && expression_temporal_property(item, key, &value);
        expression_builder_add(&projected, found ? value : expression_null());
    }
    return expression_builder_list(&projected);
}

static struct expression_value range_property(struct expression_evaluation *evaluation,
                                              const struct expression_node *node,
                                              const struct expression_range *range)
{
    struct span key = node->as.name.text;
    if (span_is(key, "start included") || span_is(key, "end included")) {
        return expression_boolean(key.bytes[0] == 's' ? range->low_included : range->high_included);
    }
    if (span_is(key, "start") || span_is(key, "end")) {
        struct expression_value end = key.bytes[0] == 's' ? range->low : range->high;
        return end.type == VALUE_ABSENT ? expression_null() : end;
    }
    return expression_warn(evaluation, node->offset, "a range has no \"%.*s\"", SPAN_ARG(key));
}

struct expression_value expression_feel_path(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    struct span key = node->as.name.text;
    struct expression_value base = expression_evaluate(evaluation, node->children[0]);
    struct expression_value value;
    if (base.type == VALUE_UNREAD) { /* most are maps of a payload that have the key */
        struct span found =
            expression_pay(evaluation, base.as.wire.count / EXPRESSION_BYTES_PER_STEP)
                ? wire_find(base.as.wire, key)
                : SPAN_EMPTY;
        if (found.count > 0) {
            return expression_unread(found);
        }
        base = expression_value_of_wire(base.as.wire);
    }
    if (base.type == VALUE_CONTEXT) {
        if (find_entry(evaluation, base, key, &value)) {
            return value;
        }
        return expression_warn(evaluation, node->offset, "the context has no \"%.*s\"",
                               SPAN_ARG(key));
    }
    if (base.type == VALUE_LIST) {
        return project(evaluation, base, key);
    }
    if (base.type == VALUE_RANGE) {
        return range_property(evaluation, node, base.as.range);
    }
    if (expression_is_temporal(base) && expression_temporal_property(base, key, &value)) {
        return value;
    }
    return expression_warn(evaluation, node->offset, "%s has no \"%.*s\"",
                           expression_type_name(base.type), SPAN_ARG(key));
}

/* 1 is the first item, -1 the last; anything else is null. A single value is the list of it. */
static struct expression_value item_at(struct expression_evaluation *evaluation,
                                       const struct expression_node *node,
                                       struct expression_value base, struct expression_value number)
{
    int64_t index;
    uint32_t count = base.type == VALUE_LIST ? base.count : 1;
    if (!expression_number_to_integer(number, &index) || index == 0 || index > count ||
        index < -(int64_t)count) {
        return expression_warn(evaluation, node->offset, "index out of range of %u item%s", count,
                               count == 1 ? "" : "s");
    }
    if (base.type != VALUE_LIST) {
        return base;
    }
    struct expression_value item = expression_null();
    size_t steps = base.is_wire ? base.as.wire.count / EXPRESSION_BYTES_PER_STEP : 0;
    if (expression_pay(evaluation, steps)) {
        bool found =
            expression_value_at(base, (uint32_t)(index > 0 ? index - 1 : count + index), &item);
        ASSERT(found);
    }
    return item;
}

/* Keeps items as they were read from: bytes of a payload stay what they are. */
static struct expression_value filter_items(struct expression_evaluation *evaluation,
                                            const struct expression_node *node,
                                            struct expression_value base)
{
    struct expression_builder kept = {.arena = evaluation->arena};
    struct expression_frame frame = {
        .parent = evaluation->frame, .name = span_text("item"), .is_open = true};
    struct expression_walk walk =
        expression_walk(base.type == VALUE_LIST ? base : expression_list(&base, 1));
    struct expression_value item;
    for (bool first = true; expression_walk_next(&walk, &item); first = false) {
        frame.value = expression_value_read(item);
        evaluation->frame = &frame;
        struct expression_value verdict = expression_operand(evaluation, node->children[1]);
        evaluation->frame = frame.parent;
        if (evaluation->result != RESULT_OK) {
            return expression_null();
        }
        if (first && verdict.type == VALUE_NUMBER) {
            return item_at(evaluation, node, base, verdict);
        }
        if (expression_is_true(verdict)) {
            expression_builder_add(&kept, item);
        }
    }
    return expression_builder_list(&kept);
}

struct expression_value expression_feel_filter(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    struct expression_value base = expression_operand(evaluation, node->children[0]);
    const struct expression_node *filter = node->children[1];
    if (base.type == VALUE_NULL) {
        return expression_warn(evaluation, node->offset, "null has no items");
    }
    if (filter->kind == NODE_CONSTANT && filter->as.constant.type == VALUE_NUMBER) {
        return item_at(evaluation, node, base, filter->as.constant);
    }
    if (base.type == VALUE_LIST && base.count == 0) {
        struct expression_value verdict = expression_operand(evaluation, filter);
        return verdict.type == VALUE_NUMBER ? item_at(evaluation, node, base, verdict) : base;
    }
    return filter_items(evaluation, node, base);
}

struct expression_value expression_feel_list(struct expression_evaluation *evaluation,
                                             const struct expression_node *node)
{
    struct expression_value *items = arena_alloc(evaluation->arena, node->count * sizeof *items);
    if (items == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    for (uint32_t i = 0; i < node->count; i++) {
        items[i] = expression_evaluate(evaluation, node->children[i]);
    }
    return expression_list(items, node->count);
}

/* Entries see those that stand before them (DMN 1.5 §10.3.2.6). */
struct expression_value expression_feel_context(struct expression_evaluation *evaluation,
                                                const struct expression_node *node)
{
    struct expression_entry *entries =
        arena_alloc(evaluation->arena, node->count * sizeof *entries);
    if (entries == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    struct expression_frame frame = {.parent = evaluation->frame, .is_open = true};
    for (uint32_t i = 0; i < node->count; i++) {
        frame.value = expression_context(entries, i);
        evaluation->frame = &frame;
        entries[i].key = node->as.keys.texts[i];
        entries[i].value = expression_evaluate(evaluation, node->children[i]);
        evaluation->frame = frame.parent;
    }
    return expression_context(entries, node->count);
}

/* Can the name or path be followed to something, be it null? */
static bool is_reachable(struct expression_evaluation *evaluation,
                         const struct expression_node *node, struct expression_value *out)
{
    struct expression_value base;
    if (node->kind == NODE_FEEL_NAME) {
        return expression_lookup(evaluation, node, out);
    }
    if (node->kind != NODE_FEEL_PATH) {
        *out = expression_evaluate(evaluation, node);
        return true;
    }
    if (!is_reachable(evaluation, node->children[0], &base)) {
        return false;
    }
    base = expression_value_read(base);
    if (base.type != VALUE_CONTEXT) {
        *out = expression_feel_path(evaluation, node);
        return base.type == VALUE_LIST || base.type == VALUE_RANGE;
    }
    return find_entry(evaluation, base, node->as.name.text, out);
}

struct expression_value expression_feel_defined(struct expression_evaluation *evaluation,
                                                const struct expression_node *node)
{
    struct engine_expression_error before = evaluation->error;
    struct expression_value value;
    bool reachable = is_reachable(evaluation, node->children[0], &value);
    if (evaluation->result == RESULT_OK) {
        evaluation->error = before;
    }
    return expression_boolean(reachable);
}
