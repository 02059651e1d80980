/* closure.c: function literals, and calling function values. Recursion is bounded by the depth of
 * the bodies that are being evaluated. */
#include "engine/expression/closure.h"

#include "engine/expression/temporal.h"
#include "engine/expression/type.h"
#include "proto/base/assert.h"

#define CALL_DEPTH_MAX 1000u /* of all bodies together, each as deep as its tree */

/* The frames around a literal live on the evaluator's stack: what outlives them is a copy. */
static const struct expression_frame *keep_frames(struct expression_evaluation *evaluation)
{
    const struct expression_frame *first = NULL;
    const struct expression_frame **link = &first;
    for (const struct expression_frame *frame = evaluation->frame; frame != NULL;
         frame = frame->parent) {
        struct expression_frame *copy = arena_alloc(evaluation->arena, sizeof *copy);
        if (copy == NULL || !expression_pay(evaluation, 1)) {
            break;
        }
        *copy = *frame;
        copy->parent = NULL;
        *link = copy;
        link = &copy->parent;
    }
    return first;
}

static struct expression_value closure_value(struct expression_evaluation *evaluation,
                                             struct expression_closure closure)
{
    struct expression_closure *kept = arena_alloc(evaluation->arena, sizeof *kept);
    if (kept == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    *kept = closure;
    return (struct expression_value){.type = VALUE_FUNCTION, .as.closure = kept};
}

struct expression_value expression_feel_function(struct expression_evaluation *evaluation,
                                                 const struct expression_node *node)
{
    struct expression_closure closure = {.literal = node, .frame = keep_frames(evaluation)};
    return closure_value(evaluation, closure);
}

bool expression_closure_of_name(struct expression_evaluation *evaluation, struct span name,
                                struct expression_value *out)
{
    const struct expression_function *function = expression_function_find(name);
    if (function != NULL) {
        *out = closure_value(evaluation, (struct expression_closure){.function = function});
    }
    return function != NULL;
}

/* An argument of the parameter's type, a list of one for its item; null stays null. */
static bool fit_parameter(struct expression_evaluation *evaluation,
                          const struct expression_type_tree *type, struct expression_value *value)
{
    struct expression_value item;
    if (type == NULL || value->type == VALUE_NULL ||
        expression_conforms(evaluation, *value, type)) {
        return true;
    }
    if (value->type == VALUE_LIST) {
        if (value->count != 1 || !expression_value_at(*value, 0, &item)) {
            return false;
        }
        *value = expression_value_read(item);
        return expression_conforms(evaluation, *value, type);
    }
    if (type->form == TYPE_PLAIN && type->plain == VALUE_DATE_TIME && value->type == VALUE_DATE) {
        *value = expression_date_time_make(expression_days_of(*value), expression_time_of(*value));
        return expression_set_offset(value, 0);
    }
    struct expression_builder list = {.arena = evaluation->arena};
    expression_builder_add(&list, *value);
    *value = expression_builder_list(&list);
    return expression_conforms(evaluation, *value, type);
}

static struct expression_value call_literal(struct expression_evaluation *evaluation,
                                            const struct expression_closure *closure,
                                            const struct expression_value *arguments,
                                            uint32_t count, uint32_t offset)
{
    struct expression_frame frames[EXPRESSION_LITERAL_PARAMETERS_MAX];
    const struct expression_node *literal = closure->literal;
    const struct expression_node *body = literal->children[0];
    const struct expression_frame *outer = evaluation->frame;
    const struct expression_frame *around = closure->frame;
    ASSERT(count == literal->as.keys.count && count <= EXPRESSION_LITERAL_PARAMETERS_MAX);
    if (evaluation->call_depth + body->depth > CALL_DEPTH_MAX) {
        return expression_fail(evaluation, RESULT_LIMIT, offset, "calls nested too deep");
    }
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = (struct expression_frame){
            .parent = around, .name = literal->as.keys.texts[i], .value = arguments[i]};
        if (!fit_parameter(evaluation, literal->as.keys.types[i], &frames[i].value)) {
            return expression_warn(evaluation, offset, "\"%.*s\" cannot be %s",
                                   SPAN_ARG(frames[i].name),
                                   expression_type_name(arguments[i].type));
        }
        around = &frames[i];
    }
    evaluation->call_depth += body->depth;
    evaluation->frame = around;
    struct expression_value value = expression_operand(evaluation, body);
    evaluation->frame = outer;
    evaluation->call_depth -= body->depth;
    return value;
}

static struct expression_value call_built_in(struct expression_evaluation *evaluation,
                                             const struct expression_function *function,
                                             const struct expression_value *arguments,
                                             uint32_t count, uint32_t offset)
{
    for (const struct expression_function *way = function; way != NULL;
         way = expression_function_next(way)) {
        if (expression_function_takes(way, count)) {
            return expression_call_function(evaluation, way, arguments, count, offset);
        }
    }
    return expression_warn(evaluation, offset, "%s does not take %u arguments", function->name,
                           count);
}

struct expression_value expression_invoke(struct expression_evaluation *evaluation,
                                          struct expression_value function,
                                          const struct expression_value *arguments, uint32_t count,
                                          uint32_t offset)
{
    if (!expression_pay(evaluation, 1 + count)) {
        return expression_null();
    }
    if (function.type != VALUE_FUNCTION) {
        return expression_warn(evaluation, offset, "%s is no function",
                               expression_type_name(function.type));
    }
    const struct expression_closure *closure = function.as.closure;
    if (closure->literal == NULL) {
        return call_built_in(evaluation, closure->function, arguments, count, offset);
    }
    if (closure->literal->as.keys.count != count) {
        return expression_warn(evaluation, offset, "%u arguments for a function of %u", count,
                               closure->literal->as.keys.count);
    }
    return call_literal(evaluation, closure, arguments, count, offset);
}

/* Named arguments in the order of the parameters; false when one is no parameter, or is missing. */
static bool place_arguments(const struct expression_closure *closure,
                            const struct expression_node *node,
                            const struct expression_value *given, struct expression_value *placed)
{
    const struct expression_node *literal = closure->literal;
    for (uint32_t i = 0; i < literal->as.keys.count; i++) {
        uint32_t at = 0;
        while (at < node->as.keys.count &&
               !span_equal(node->as.keys.texts[at], literal->as.keys.texts[i])) {
            at++;
        }
        if (at == node->as.keys.count) {
            return false;
        }
        placed[i] = given[at];
    }
    return true;
}

/* The same for one way to call a built-in function; what is not given is ABSENT. */
static bool place_built_in(const struct expression_function *way,
                           const struct expression_node *node, const struct expression_value *given,
                           struct expression_value placed[EXPRESSION_PARAMETERS_MAX],
                           uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < EXPRESSION_PARAMETERS_MAX; i++) {
        placed[i] = expression_absent();
    }
    for (uint32_t at = 0; at < node->as.keys.count; at++) {
        int place = expression_function_parameter(way, node->as.keys.texts[at]);
        if (place < 0) {
            return false;
        }
        placed[place] = given[at];
        *count = (uint32_t)place + 1 > *count ? (uint32_t)place + 1 : *count;
    }
    for (uint32_t i = 0; i < way->required; i++) {
        if (placed[i].type == VALUE_ABSENT) {
            return false;
        }
    }
    return true;
}

static struct expression_value invoke_by_name(struct expression_evaluation *evaluation,
                                              const struct expression_node *node,
                                              struct expression_value callee,
                                              const struct expression_value *arguments)
{
    struct expression_value placed[EXPRESSION_LITERAL_PARAMETERS_MAX];
    uint32_t count = node->as.keys.count;
    const struct expression_closure *closure =
        callee.type == VALUE_FUNCTION ? callee.as.closure : NULL;
    if (closure != NULL && closure->literal != NULL && closure->literal->as.keys.count == count &&
        place_arguments(closure, node, arguments, placed)) {
        return expression_invoke(evaluation, callee, placed, count, node->offset);
    }
    for (const struct expression_function *way = closure == NULL ? NULL : closure->function;
         way != NULL; way = expression_function_next(way)) {
        if (place_built_in(way, node, arguments, placed, &count)) {
            return expression_call_function(evaluation, way, placed, count, node->offset);
        }
    }
    return expression_warn(evaluation, node->offset, "the function has other parameters");
}

struct expression_value expression_feel_invoke(struct expression_evaluation *evaluation,
                                               const struct expression_node *node)
{
    uint32_t count = node->count - 1;
    struct expression_value callee = expression_operand(evaluation, node->children[0]);
    struct expression_value *arguments = arena_alloc(evaluation->arena, count * sizeof *arguments);
    if (arguments == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, node->offset, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = expression_operand(evaluation, node->children[1 + i]);
    }
    /* A name that is bound to something else leaves a built-in function of that name callable. */
    if (callee.type != VALUE_FUNCTION && node->children[0]->kind == NODE_FEEL_NAME) {
        expression_closure_of_name(evaluation, node->children[0]->as.name.text, &callee);
    }
    return node->as.keys.count > 0
               ? invoke_by_name(evaluation, node, callee, arguments)
               : expression_invoke(evaluation, callee, arguments, count, node->offset);
}
