/* function_context.c: FEEL's functions of contexts (DMN 1.5 §10.3.4.8), and Camunda's `get or
 * else`. */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "proto/base/limits.h"

/* A context under construction: a later entry of the same key replaces the value. */
struct context_builder {
    struct expression_evaluation *evaluation;
    struct expression_entry *entries;
    uint32_t count;
    uint32_t capacity;
};

static void put(struct context_builder *builder, struct span key, struct expression_value value)
{
    for (uint32_t i = 0; i < builder->count; i++) {
        if (span_equal(builder->entries[i].key, key)) {
            builder->entries[i].value = value;
            return;
        }
    }
    if (builder->count == builder->capacity) {
        uint32_t capacity = builder->capacity == 0 ? 8 : builder->capacity * 2;
        struct expression_entry *entries =
            arena_grow(builder->evaluation->arena, builder->entries,
                       builder->capacity * sizeof *entries, capacity * sizeof *entries);
        if (entries == NULL) {
            return;
        }
        builder->entries = entries;
        builder->capacity = capacity;
    }
    builder->entries[builder->count++] = (struct expression_entry){key, value};
}

/* Each entry is compared with those before it: priced as that. */
static bool put_all(struct context_builder *builder, struct expression_value context)
{
    struct expression_walk walk = expression_walk(context);
    struct expression_entry entry;
    while (expression_walk_entry(&walk, &entry)) {
        if (!expression_pay(builder->evaluation, 1 + builder->count / 8)) {
            return false;
        }
        put(builder, entry.key, entry.value);
    }
    return true;
}

static struct expression_value built(const struct context_builder *builder)
{
    return expression_context(builder->entries, builder->count);
}

static struct expression_value get_value(struct expression_evaluation *evaluation,
                                         const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value value = arguments[0];
    struct expression_value path = arguments[1];
    if (path.type == VALUE_STRING) {
        path = expression_list(&arguments[1], 1);
    }
    if (path.type != VALUE_LIST || path.count == 0) {
        return expression_warn(evaluation, offset, "the key is neither a string nor a list");
    }
    struct expression_walk walk = expression_walk(path);
    struct expression_value key;
    while (expression_walk_item(&walk, &key)) {
        size_t steps = value.is_wire ? value.as.wire.count / EXPRESSION_BYTES_PER_STEP : 0;
        if (!expression_pay(evaluation, 1 + steps) || key.type != VALUE_STRING ||
            value.type != VALUE_CONTEXT || !expression_value_find(value, key.as.text, &value)) {
            return expression_warn(evaluation, offset, "there is no such entry");
        }
        value = expression_value_read(value);
    }
    return value;
}

static struct expression_value get_entries(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_builder list = {.arena = evaluation->arena};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_entry entry;
    while (expression_walk_entry(&walk, &entry) && expression_pay(evaluation, 1)) {
        struct expression_entry *pair = arena_alloc(evaluation->arena, 2 * sizeof *pair);
        if (pair == NULL) {
            return expression_fail(evaluation, RESULT_LIMIT, offset, "out of memory");
        }
        pair[0] = (struct expression_entry){span_text("key"), expression_string(entry.key)};
        pair[1] = (struct expression_entry){span_text("value"), entry.value};
        expression_builder_add(&list, expression_context(pair, 2));
    }
    return expression_builder_list(&list);
}

/* context(entries): of contexts with "key" and "value"; a key that comes twice makes it null. */
static struct expression_value to_context(struct expression_evaluation *evaluation,
                                          const struct expression_value *arguments, uint32_t offset)
{
    struct context_builder builder = {.evaluation = evaluation};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    while (expression_walk_item(&walk, &item) &&
           expression_pay(evaluation, 1 + builder.count / 8)) {
        struct expression_value key;
        struct expression_value value;
        if (item.type != VALUE_CONTEXT || !expression_value_find(item, span_text("key"), &key) ||
            !expression_value_find(item, span_text("value"), &value)) {
            return expression_warn(evaluation, offset, "an entry needs a key and a value");
        }
        key = expression_value_read(key);
        uint32_t before = builder.count;
        if (key.type == VALUE_STRING) {
            put(&builder, key.as.text, value);
        }
        if (builder.count == before) {
            return expression_warn(evaluation, offset, "a key is no string, or comes twice");
        }
    }
    return built(&builder);
}

/* The context with the value at the path keys[at..]; NULL type and a warning where the path leads
 * nowhere. */
static struct expression_value put_at(struct expression_evaluation *evaluation,
                                      struct expression_value context, struct expression_value keys,
                                      uint32_t at, struct expression_value value, uint32_t offset)
{
    struct context_builder builder = {.evaluation = evaluation};
    struct expression_value key;
    struct expression_value inner;
    if (at >= LIMIT_DEPTH) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "path too deep");
    }
    if (context.type != VALUE_CONTEXT || !expression_value_at(keys, at, &key)) {
        return expression_warn(evaluation, offset, "the path leads to no context");
    }
    key = expression_value_read(key);
    if (key.type != VALUE_STRING) {
        return expression_warn(evaluation, offset, "a key is no string");
    }
    if (!put_all(&builder, context)) {
        return expression_null();
    }
    if (at + 1 < keys.count) {
        if (!expression_value_find(context, key.as.text, &inner)) {
            return expression_warn(evaluation, offset, "the path leads to no context");
        }
        value = put_at(evaluation, expression_value_read(inner), keys, at + 1, value, offset);
        if (value.type == VALUE_NULL) {
            return value;
        }
    }
    put(&builder, key.as.text, value);
    return built(&builder);
}

static struct expression_value context_put(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_value keys = arguments[1];
    if (keys.type == VALUE_STRING) {
        keys = expression_list(&arguments[1], 1);
    }
    if (keys.type != VALUE_LIST) {
        return expression_warn(evaluation, offset, "the key is neither a string nor a list");
    }
    return put_at(evaluation, arguments[0], keys, 0, arguments[2], offset);
}

static struct expression_value context_merge(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    struct context_builder builder = {.evaluation = evaluation};
    struct expression_walk walk = expression_walk(arguments[0]);
    struct expression_value item;
    while (expression_walk_item(&walk, &item)) {
        if (item.type != VALUE_CONTEXT) {
            return expression_warn(evaluation, offset, "cannot merge %s",
                                   expression_type_name(item.type));
        }
        if (!put_all(&builder, item)) {
            return expression_null();
        }
    }
    return built(&builder);
}

static struct expression_value get_or_else(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return arguments[0].type == VALUE_NULL ? arguments[1] : arguments[0];
}

const struct expression_function expression_context_functions[] = {
    {"get value", "ca", 2, "m,key", get_value},
    {"get entries", "c", 1, "m", get_entries},
    {"context", "l", 1, "entries", to_context},
    {"context put", "caa", 3, "context,keys,value", context_put},
    {"context put", "csa", 3, "context,key,value", context_put},
    {"context merge", "l", 1, "contexts", context_merge},
    {"get or else", "aa", 2, "value,default", get_or_else},
    {0},
};
