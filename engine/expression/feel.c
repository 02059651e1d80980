/* feel.c: names, paths, filters, lists, contexts and logic of FEEL (DMN 1.5 §10.3.2). */
#include "engine/expression/closure.h"
#include "engine/expression/evaluate.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

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

static bool range_property(const struct expression_range *range, struct span key,
                           struct expression_value *out)
{
    if (span_is(key, "start included") || span_is(key, "end included")) {
        *out = expression_boolean(key.bytes[0] == 's' ? range->low_included : range->high_included);
        return true;
    }
    if (span_is(key, "start") || span_is(key, "end")) {
        *out = key.bytes[0] == 's' ? range->low : range->high;
        *out = out->type == VALUE_ABSENT ? expression_null() : *out;
        return true;
    }
    return false;
}

/* What a value that was read has under that name; false when it has nothing. */
static bool follow(struct expression_evaluation *evaluation, struct expression_value base,
                   struct span key, unsigned depth, struct expression_value *out);

/* A path over a list is the list of the paths of its items, lists among them too (DMN 1.5
 * §10.3.2.5). */
static struct expression_value project(struct expression_evaluation *evaluation,
                                       struct expression_value list, struct span key,
                                       unsigned depth)
{
    struct expression_builder projected = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_item(&walk, &item) && expression_pay(evaluation, 1)) {
        struct expression_value value;
        bool found = item.type == VALUE_CONTEXT ? find_entry(evaluation, item, key, &value)
                                                : follow(evaluation, item, key, depth + 1, &value);
        expression_builder_add(&projected, found ? value : expression_null());
    }
    return expression_builder_list(&projected);
}

static bool follow(struct expression_evaluation *evaluation, struct expression_value base,
                   struct span key, unsigned depth, struct expression_value *out)
{
    if (base.type == VALUE_CONTEXT) {
        return find_entry(evaluation, base, key, out);
    }
    if (base.type == VALUE_LIST && depth <= LIMIT_EXPRESSION_DEPTH) {
        *out = project(evaluation, base, key, depth);
        return true;
    }
    if (base.type == VALUE_LIST) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "list nested too deep");
        return false;
    }
    if (base.type == VALUE_RANGE) {
        return range_property(base.as.range, key, out);
    }
    return expression_is_temporal(base) && expression_temporal_property(base, key, out);
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
    if (follow(evaluation, base, key, 0, &value)) {
        return value;
    }
    const char *article = base.type == VALUE_CONTEXT ? "the "
                          : base.type == VALUE_RANGE ? "a "
                                                     : "";
    return expression_warn(evaluation, node->offset, "%s%s has no \"%.*s\"", article,
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

/* May the function literal that the entry is call itself by the entry's key? Not where the key is
 * the name of something else. */
static bool sees_itself(struct expression_evaluation *evaluation,
                        const struct expression_node *context, uint32_t entry)
{
    struct expression_value other;
    struct span key = context->as.keys.texts[entry];
    return context->children[entry]->kind == NODE_FEEL_FUNCTION &&
           expression_function_find(key) == NULL &&
           !expression_lookup_text(evaluation, key, &other);
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
        entries[i] = (struct expression_entry){node->as.keys.texts[i], expression_null()};
        uint32_t seen = sees_itself(evaluation, node, i) ? i + 1 : i;
        frame.value = expression_context(entries, seen);
        evaluation->frame = &frame;
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
