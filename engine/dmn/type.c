/*
 * type.c: a value made one of its declared type: DMN 1.5 §10.3.2.9.4. A list of one stands for its
 * item, an item for the list of it, a date for its midnight; what does not conform is null.
 *
 * Beyond the standard a text is read as the date, time or duration that is declared, since payloads
 * have no other way to say one.
 */
#include "engine/dmn/model.h"
#include "engine/expression/function.h"
#include "engine/expression/temporal.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

/* One value on its way into a type. */
struct fitting {
    struct expression_evaluation *evaluation;
    unsigned depth;     /* of lists and contexts */
    bool strict;        /* as it is, or not at all */
    struct span member; /* the first, innermost one that did not fit */
    bool is_missing;    /* or is not there */
};

static bool fit(struct fitting *fitting, const struct dmn_type *type,
                struct expression_value *value);

/* A text, or a date, into the declared kind of date, time or duration. */
static bool fit_temporal(struct fitting *fitting, const struct dmn_type *type,
                         struct expression_value *value)
{
    if (value->type == VALUE_DATE && type->plain == VALUE_DATE_TIME) {
        *value = expression_date_time_make(expression_days_of(*value), expression_time_of(*value));
        return expression_set_offset(value, 0); /* midnight in UTC */
    }
    if (type->maker == NULL || value->type != VALUE_STRING) {
        return false;
    }
    const struct expression_function *maker = expression_function_find(span_text(type->maker));
    ASSERT(maker != NULL);
    *value = expression_call_function(fitting->evaluation, maker, value, 1, 0);
    return value->type == type->plain;
}

static bool fit_plain(struct fitting *fitting, const struct dmn_type *type,
                      struct expression_value *value)
{
    if (value->type == type->plain) {
        return true;
    }
    if (type->form == DMN_TYPE_DURATION) {
        struct dmn_type one = *type;
        one.form = DMN_TYPE_PLAIN;
        one.plain = VALUE_MONTHS;
        struct expression_value tried = *value;
        if (fit_plain(fitting, &one, &tried)) {
            *value = tried;
            return true;
        }
    }
    return !fitting->strict && fit_temporal(fitting, type, value);
}

static bool fit_items(struct fitting *fitting, const struct dmn_type *type,
                      struct expression_value *value)
{
    struct expression_builder list = {.arena = fitting->evaluation->arena};
    struct expression_value item;
    if (value->type != VALUE_LIST) {
        return false;
    }
    struct expression_walk walk = expression_walk(*value);
    while (expression_walk_item(&walk, &item)) {
        if (!fit(fitting, type->element, &item)) {
            return false;
        }
        expression_builder_add(&list, item);
    }
    *value = expression_builder_list(&list);
    return true;
}

static bool fit_member(struct fitting *fitting, const struct dmn_type *type,
                       struct expression_entry *entry, uint32_t *found)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        if (span_equal(type->names[i], entry->key)) {
            ++*found;
            entry->value = expression_value_read(entry->value);
            bool fits = fit(fitting, type->members[i], &entry->value);
            if (!fits && fitting->member.count == 0) {
                fitting->member = entry->key;
            }
            return fits;
        }
    }
    return true; /* more than the type names is no harm */
}

static void note_missing(struct fitting *fitting, const struct dmn_type *type,
                         struct expression_value value)
{
    struct expression_value found;
    for (uint32_t i = 0; fitting->member.count == 0 && i < type->member_count &&
                         expression_pay(fitting->evaluation, 1 + value.count / 8);
         i++) {
        if (!expression_value_find(value, type->names[i], &found)) {
            fitting->member = type->names[i];
            fitting->is_missing = true;
        }
    }
}

static bool fit_members(struct fitting *fitting, const struct dmn_type *type,
                        struct expression_value *value)
{
    uint32_t found = 0;
    uint32_t count = 0;
    if (value->type != VALUE_CONTEXT || !expression_pay(fitting->evaluation, value->count)) {
        return false;
    }
    struct expression_entry *entries =
        arena_alloc(fitting->evaluation->arena, value->count * sizeof *entries);
    struct expression_walk walk = expression_walk(*value);
    while (entries != NULL && count < value->count &&
           expression_walk_entry(&walk, &entries[count])) {
        if (!fit_member(fitting, type, &entries[count++], &found)) {
            return false;
        }
    }
    if (entries != NULL) {
        *value = expression_context(entries, count);
    }
    bool complete = entries != NULL && found >= type->member_count;
    if (entries != NULL && !complete) {
        note_missing(fitting, type, *value);
    }
    return complete;
}

static bool is_allowed(struct fitting *fitting, const struct dmn_type *type,
                       struct expression_value value)
{
    struct expression_evaluation *evaluation = fitting->evaluation;
    if (type->allowed == NULL) {
        return true;
    }
    struct expression_frame frame = {
        .parent = evaluation->frame, .name = span_text("?"), .value = value};
    evaluation->frame = &frame;
    bool allowed = expression_is_true(expression_operand(evaluation, type->allowed));
    evaluation->frame = frame.parent;
    return allowed;
}

/* Without changing from an item to a list, or back. */
static bool fit_as_it_is(struct fitting *fitting, const struct dmn_type *type,
                         struct expression_value *value)
{
    bool fits = false;
    if (fitting->depth == LIMIT_DEPTH || !expression_pay(fitting->evaluation, 1)) {
        return false;
    }
    fitting->depth++;
    switch (type->form) {
    case DMN_TYPE_ANY:
        fits = true;
        break;
    case DMN_TYPE_PLAIN:
    case DMN_TYPE_DURATION:
        fits = fit_plain(fitting, type, value);
        break;
    case DMN_TYPE_LIST:
        fits = fit_items(fitting, type, value);
        break;
    case DMN_TYPE_CONTEXT:
        fits = fit_members(fitting, type, value);
        break;
    case DMN_TYPE_NAMED:
        fits = fit_as_it_is(fitting, type->element, value);
        break;
    }
    fitting->depth--;
    return fits && is_allowed(fitting, type, *value);
}

/* `value` is what it became, or of no use when that is false. Null is of any type. */
static bool fit(struct fitting *fitting, const struct dmn_type *type,
                struct expression_value *value)
{
    struct expression_value given = *value;
    struct expression_value item;
    if (given.type == VALUE_NULL || fit_as_it_is(fitting, type, value)) {
        return true;
    }
    if (fitting->strict) {
        return false;
    }
    if (given.type == VALUE_LIST) {
        bool single = given.count == 1 && expression_value_at(given, 0, &item);
        *value = single ? expression_value_read(item) : expression_null();
        return single && fit_as_it_is(fitting, type, value);
    }
    struct expression_builder list = {.arena = fitting->evaluation->arena};
    expression_builder_add(&list, given);
    *value = expression_builder_list(&list);
    return !fitting->evaluation->arena->overflowed && fit_as_it_is(fitting, type, value);
}

struct expression_value engine_dmn_coerce(struct expression_evaluation *evaluation,
                                          const struct dmn_type *type,
                                          struct expression_value value)
{
    struct fitting fitting = {.evaluation = evaluation};
    struct expression_value made = value;
    if (type == NULL || evaluation->result != RESULT_OK || fit(&fitting, type, &made)) {
        return made;
    }
    if (fitting.member.count > 0) {
        return expression_warn(evaluation, 0, "%s is not of the declared type: \"%.*s\" %s",
                               expression_type_name(value.type), SPAN_ARG(fitting.member),
                               fitting.is_missing ? "is missing" : "is of another type");
    }
    return expression_warn(evaluation, 0, "%s is not of the declared type",
                           expression_type_name(value.type));
}

bool engine_dmn_conforms(struct expression_evaluation *evaluation, struct expression_value value,
                         const void *type)
{
    struct fitting fitting = {.evaluation = evaluation, .strict = true};
    return fit(&fitting, type, &value);
}
