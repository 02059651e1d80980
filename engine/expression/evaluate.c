/* evaluate.c: walking the tree: dispatch, budget, names, folds, calls and texts. Depth is that of
 * the tree, which is bounded. */
#include "engine/expression/evaluate.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/expression/function.h"
#include "proto/base/assert.h"

#define MESSAGE_BYTES       256u
#define UNKEPT_LOOKUP_STEPS 64u /* a search of all payloads, each time */

typedef struct expression_value (*evaluate_fn)(struct expression_evaluation *evaluation,
                                               const struct expression_node *node);
typedef struct expression_value (*operator_fn)(struct expression_evaluation *evaluation,
                                               struct expression_value a, struct expression_value b,
                                               uint32_t offset);

static const evaluate_fn kinds[NODE_KIND_COUNT] = {
#define KIND_ROW(name, function) [NODE_##name] = function,
    EXPRESSION_KINDS(KIND_ROW)
#undef KIND_ROW
};

static const operator_fn operators[] = {
#define OPERATOR_ROW(name, function) [OPERATOR_##name] = function,
    EXPRESSION_OPERATORS(OPERATOR_ROW)
#undef OPERATOR_ROW
};

bool expression_cannot_pay(struct expression_evaluation *evaluation)
{
    if (evaluation->result == RESULT_OK) {
        expression_fail(evaluation, RESULT_LIMIT, 0,
                        evaluation->arena->overflowed ? "out of memory" : "too many steps");
    }
    return false;
}

static void keep_message(struct expression_evaluation *evaluation, uint32_t offset,
                         const char *format, va_list arguments)
{
    char message[MESSAGE_BYTES];
    int count = vsnprintf(message, sizeof message, format, arguments);
    ASSERT(count >= 0);
    struct span copy = arena_copy(evaluation->arena, span_text(message));
    evaluation->error.offset = offset;
    evaluation->error.message = copy.bytes == NULL ? "out of memory" : (const char *)copy.bytes;
}

struct expression_value expression_warn(struct expression_evaluation *evaluation, uint32_t offset,
                                        const char *format, ...)
{
    if (evaluation->error.message == NULL) {
        va_list arguments;
        va_start(arguments, format);
        keep_message(evaluation, offset, format, arguments);
        va_end(arguments);
    }
    return expression_null();
}

struct expression_value expression_fail(struct expression_evaluation *evaluation,
                                        enum result result, uint32_t offset, const char *format,
                                        ...)
{
    ASSERT(result != RESULT_OK);
    if (evaluation->result == RESULT_OK) {
        va_list arguments;
        va_start(arguments, format);
        keep_message(evaluation, offset, format, arguments);
        va_end(arguments);
        evaluation->result = result;
        evaluation->steps_left = 0;
    }
    return expression_null();
}

void expression_blame(struct expression_evaluation *evaluation, const char *format, ...)
{
    char place[MESSAGE_BYTES];
    va_list arguments;
    ASSERT(evaluation->result != RESULT_OK);
    va_start(arguments, format);
    int count = vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    ASSERT(count >= 0);
    struct span text = arena_format(evaluation->arena, "%s: %s", place, evaluation->error.message);
    if (text.count > 0) { /* else the reason alone: memory is what is missing */
        evaluation->error.message = (const char *)text.bytes;
    }
}

struct expression_value expression_evaluate(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    if (!expression_pay(evaluation, 1)) {
        return expression_null();
    }
    /* A top-level name that was found before: nearly all names but the first. */
    if (node->kind == NODE_FEEL_NAME && evaluation->frame == NULL &&
        node->as.name.slot != EXPRESSION_NO_SLOT &&
        (evaluation->slots->asked >> node->as.name.slot & 1) != 0 &&
        evaluation->slots->values[node->as.name.slot].count > 0) {
        return expression_unread(evaluation->slots->values[node->as.name.slot]);
    }
    return kinds[node->kind](evaluation, node);
}

struct expression_value expression_constant(struct expression_evaluation *evaluation,
                                            const struct expression_node *node)
{
    (void)evaluation;
    return node->as.constant;
}

struct expression_value expression_custom(struct expression_evaluation *evaluation,
                                          const struct expression_node *node)
{
    return node->as.custom.evaluate(evaluation, node->as.custom.about);
}

static bool find_in_frames(const struct expression_evaluation *evaluation, struct span name,
                           struct expression_value *out)
{
    for (const struct expression_frame *frame = evaluation->frame; frame != NULL;
         frame = frame->parent) {
        /* An entry called "item" hides the item itself (DMN 1.5 table 55, filter). */
        if (frame->is_open && frame->value.type == VALUE_CONTEXT &&
            expression_value_find(frame->value, name, out)) {
            return true;
        }
        if (frame->name.count > 0 && span_equal(frame->name, name)) {
            *out = frame->value;
            return true;
        }
    }
    return false;
}

/* All names of the expression at once, if whoever knows them can do that. */
static void ask(struct expression_evaluation *evaluation, uint16_t slot)
{
    const struct engine_expression *expression = evaluation->expression;
    const struct engine_names *names = evaluation->names;
    struct expression_slots *slots = evaluation->slots;
    if (names->find_all != NULL) {
        names->find_all(names, expression->slot_names, slots->values, expression->slot_count);
        slots->asked = UINT64_MAX;
    } else {
        slots->values[slot] = names->find(names, expression->slot_names[slot]);
        slots->asked |= UINT64_C(1) << slot;
    }
}

bool expression_lookup(struct expression_evaluation *evaluation, const struct expression_node *name,
                       struct expression_value *out)
{
    if (evaluation->frame != NULL && find_in_frames(evaluation, name->as.name.text, out)) {
        return true;
    }
    uint16_t slot = name->as.name.slot;
    struct span found;
    if (slot == EXPRESSION_NO_SLOT) {
        found = expression_pay(evaluation, UNKEPT_LOOKUP_STEPS)
                    ? evaluation->names->find(evaluation->names, name->as.name.text)
                    : SPAN_EMPTY;
    } else {
        if ((evaluation->slots->asked >> slot & 1) == 0) {
            ask(evaluation, slot);
        }
        found = evaluation->slots->values[slot];
    }
    *out = expression_unread(found);
    return found.count > 0;
}

bool expression_lookup_text(struct expression_evaluation *evaluation, struct span name,
                            struct expression_value *out)
{
    if (evaluation->frame != NULL && find_in_frames(evaluation, name, out)) {
        return true;
    }
    struct span found = evaluation->names->find(evaluation->names, name);
    *out = expression_unread(found);
    return found.count > 0;
}

/* Constants cost nothing. */
static struct expression_value operand(struct expression_evaluation *evaluation,
                                       const struct expression_node *node)
{
    return node->kind == NODE_CONSTANT ? node->as.constant : expression_operand(evaluation, node);
}

struct expression_value expression_fold_values(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    ASSERT(node->kind == NODE_FOLD && node->count >= 2);
    struct expression_value value = operand(evaluation, node->children[0]);
    for (uint32_t i = 1; i < node->count; i++) {
        const struct expression_applied *applied = &node->as.operators[i];
        struct expression_value right = operand(evaluation, node->children[i]);
        if (evaluation->result != RESULT_OK) {
            return expression_null();
        }
        value = operators[applied->operator](evaluation, value, right, applied->offset);
    }
    return value;
}

/* Values as one list; for '*' a single list is that list. */
static struct expression_value rest_of_arguments(struct expression_evaluation *evaluation,
                                                 const struct expression_value *values,
                                                 uint32_t count, bool one_is_list)
{
    if (one_is_list && count == 1 &&
        (values[0].type == VALUE_LIST || values[0].type == VALUE_NULL)) {
        return values[0];
    }
    struct expression_builder rest = {.arena = evaluation->arena};
    for (uint32_t i = 0; i < count; i++) {
        expression_builder_add(&rest, values[i]);
    }
    return expression_builder_list(&rest);
}

static bool fits(char type, enum expression_type wanted, struct expression_value value)
{
    return value.type == wanted || (type == 'd' && value.type == VALUE_DATE_TIME);
}

/* DMN 1.5 §10.3.2.9.4: a singleton list stands for its item and an item for the list of it. */
static bool fit_argument(struct expression_evaluation *evaluation, char type,
                         struct expression_value *value)
{
    static const enum expression_type wanted[128] = {
        ['s'] = VALUE_STRING,  ['n'] = VALUE_NUMBER,   ['b'] = VALUE_BOOLEAN, ['l'] = VALUE_LIST,
        ['c'] = VALUE_CONTEXT, ['f'] = VALUE_FUNCTION, ['d'] = VALUE_DATE};
    enum expression_type type_wanted = wanted[(unsigned char)type & 127];
    if (type == 'a' || fits(type, type_wanted, *value)) {
        return true;
    }
    if (value->type == VALUE_LIST && value->count == 1) {
        struct expression_value item;
        bool found = expression_value_at(*value, 0, &item);
        ASSERT(found);
        item = expression_value_read(item);
        if (type == 'v' || fits(type, type_wanted, item)) {
            *value = item;
            return true;
        }
    }
    if (type == 'v') {
        return true;
    }
    if (type_wanted == VALUE_LIST && value->type != VALUE_NULL) {
        struct expression_builder single = {.arena = evaluation->arena};
        expression_builder_add(&single, *value);
        *value = expression_builder_list(&single);
        return true;
    }
    return false;
}

struct expression_value expression_call_function(struct expression_evaluation *evaluation,
                                                 const struct expression_function *function,
                                                 const struct expression_value *values,
                                                 uint32_t count, uint32_t offset)
{
    struct expression_value arguments[EXPRESSION_PARAMETERS_MAX];
    uint32_t parameters = (uint32_t)strlen(function->types);
    ASSERT(parameters <= EXPRESSION_PARAMETERS_MAX);
    for (uint32_t i = 0; i < parameters; i++) {
        char type = function->types[i];
        if (type == '*' || type == '+') {
            uint32_t given = count > i ? count - i : 0;
            arguments[i] = rest_of_arguments(evaluation, values + i, given, type == '*');
            type = 'l';
        } else if (i >= count || values[i].type == VALUE_ABSENT) {
            arguments[i] = expression_absent();
            continue;
        } else {
            arguments[i] = values[i];
        }
        if (!fit_argument(evaluation, type, &arguments[i])) {
            return expression_warn(evaluation, offset, "argument %u of %s is %s", i + 1,
                                   function->name, expression_type_name(arguments[i].type));
        }
    }
    return function->call(evaluation, arguments, offset);
}

struct expression_value expression_call(struct expression_evaluation *evaluation,
                                        const struct expression_node *node)
{
    struct expression_value few[EXPRESSION_PARAMETERS_MAX];
    struct expression_value *values = few;
    if (node->count > EXPRESSION_PARAMETERS_MAX) {
        values = arena_alloc(evaluation->arena, node->count * sizeof *values);
        if (values == NULL) {
            return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
        }
    }
    for (uint32_t i = 0; i < node->count; i++) {
        values[i] = node->children[i] == NULL ? expression_absent()
                                              : expression_operand(evaluation, node->children[i]);
    }
    if (evaluation->result != RESULT_OK) {
        return expression_null();
    }
    return expression_call_function(evaluation, node->as.function, values, node->count,
                                    node->offset);
}

struct expression_value expression_text(struct expression_evaluation *evaluation,
                                        const struct expression_node *node)
{
    size_t bytes = 0;
    struct span *parts = arena_alloc(evaluation->arena, node->count * sizeof *parts);
    for (uint32_t i = 0; parts != NULL && i < node->count; i++) {
        parts[i] =
            expression_text_of(evaluation, expression_evaluate(evaluation, node->children[i]));
        bytes += parts[i].count;
    }
    uint8_t *text = arena_alloc(evaluation->arena, bytes);
    if (parts == NULL || text == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    size_t at = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        if (parts[i].count > 0) {
            memcpy(text + at, parts[i].bytes, parts[i].count);
            at += parts[i].count;
        }
    }
    return expression_string(span_of(text, bytes));
}
