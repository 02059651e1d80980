/* type.c: reading types, and asking whether a value is of one. */
#include "engine/expression/type.h"

#include "engine/expression/closure.h"
#include "engine/expression/parse_feel.h"
#include "proto/base/text.h"

#define MEMBERS_MAX          64u
#define SIMILAR_DISTANCE_MAX 2u

static const struct {
    const char *name;
    enum expression_type_form form;
    enum expression_type plain;
} plain_types[] = {
    {"Any", TYPE_ANY, VALUE_ABSENT},
    {"Null", TYPE_PLAIN, VALUE_NULL},
    {"boolean", TYPE_PLAIN, VALUE_BOOLEAN},
    {"number", TYPE_PLAIN, VALUE_NUMBER},
    {"string", TYPE_PLAIN, VALUE_STRING},
    {"date", TYPE_PLAIN, VALUE_DATE},
    {"time", TYPE_PLAIN, VALUE_TIME},
    {"date and time", TYPE_PLAIN, VALUE_DATE_TIME},
    {"dateTime", TYPE_PLAIN, VALUE_DATE_TIME},
    {"years and months duration", TYPE_PLAIN, VALUE_MONTHS},
    {"yearMonthDuration", TYPE_PLAIN, VALUE_MONTHS},
    {"days and time duration", TYPE_PLAIN, VALUE_DURATION},
    {"dayTimeDuration", TYPE_PLAIN, VALUE_DURATION},
    {"list", TYPE_PLAIN, VALUE_LIST},
    {"context", TYPE_PLAIN, VALUE_CONTEXT},
    {"range", TYPE_PLAIN, VALUE_RANGE},
    {"function", TYPE_PLAIN, VALUE_FUNCTION},
};

static struct expression_type_tree *new_type(struct expression_parser *parser,
                                             enum expression_type_form form)
{
    struct expression_type_tree *type = arena_zero(parser->arena, sizeof *type);
    if (type == NULL) {
        expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset, "out of memory");
    } else {
        type->form = form;
    }
    return type;
}

/* "<element>" of a list or range. */
static const struct expression_type_tree *parse_element(struct expression_parser *parser,
                                                        enum expression_type_form form)
{
    struct expression_type_tree *type = new_type(parser, form);
    const struct expression_type_tree *element = expression_parse_type(parser);
    expression_parser_expect(parser, TOKEN_GREATER, "\">\"");
    if (type != NULL) {
        type->element = element;
    }
    return type;
}

/* "<name: type, …>" of a context, "<type, …>" of a function. */
static struct expression_type_tree *parse_members(struct expression_parser *parser,
                                                  enum expression_type_form form)
{
    struct span names[MEMBERS_MAX];
    const struct expression_type_tree *members[MEMBERS_MAX];
    struct expression_type_tree *type = new_type(parser, form);
    uint32_t count = 0;
    while (!expression_parser_accept(parser, TOKEN_GREATER) && parser->result == RESULT_OK) {
        if (count == MEMBERS_MAX) {
            expression_parser_fail(parser, RESULT_LIMIT, parser->token.offset,
                                   "more than %u members of a type", MEMBERS_MAX);
            return NULL;
        }
        if (count > 0) {
            expression_parser_expect(parser, TOKEN_COMMA, "\",\" or \">\"");
        }
        names[count] = SPAN_EMPTY;
        if (form == TYPE_CONTEXT) {
            names[count] = expression_feel_take_name(parser);
            expression_parser_expect(parser, TOKEN_COLON, "\":\"");
        }
        members[count++] = expression_parse_type(parser);
    }
    struct span *kept_names = arena_alloc(parser->arena, count * sizeof *kept_names);
    const struct expression_type_tree **kept = arena_alloc(parser->arena, count * sizeof(*kept));
    if (type == NULL || kept_names == NULL || kept == NULL) {
        return NULL; /* latched in the arena */
    }
    if (count > 0) {
        memcpy(kept_names, names, count * sizeof *names);
        memcpy(kept, members, count * sizeof(*members));
    }
    type->names = kept_names;
    type->members = kept;
    type->member_count = count;
    return type;
}

static const struct expression_type_tree *parse_function_type(struct expression_parser *parser)
{
    struct expression_type_tree *type = parse_members(parser, TYPE_FUNCTION);
    expression_parser_expect(parser, TOKEN_MINUS, "\"->\"");
    expression_parser_expect(parser, TOKEN_GREATER, "\"->\"");
    const struct expression_type_tree *result = expression_parse_type(parser);
    if (type != NULL) {
        type->element = result;
    }
    return type;
}

/* A type of the decision model around the expression; NULL: it has none of that name. */
static const struct expression_type_tree *declared_type(struct expression_parser *parser,
                                                        struct span name)
{
    const struct expression_declared_types *declared =
        parser->declarations == NULL ? NULL : parser->declarations->types;
    const void *about = declared == NULL ? NULL : declared->find(declared, name);
    struct expression_type_tree *type = about == NULL ? NULL : new_type(parser, TYPE_DECLARED);
    if (type != NULL) {
        type->conforms = declared->conforms;
        type->about = about;
    }
    return type;
}

/*
 * A type that nobody here defines: any value but null may be of it. What looks like a mistyped name
 * of the standard is refused.
 */
static const struct expression_type_tree *foreign_type(struct expression_parser *parser,
                                                       struct span name, uint32_t offset)
{
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++) {
        size_t distance = text_distance(name, span_text(plain_types[i].name));
        if (distance <= SIMILAR_DISTANCE_MAX && distance * 2 < name.count) {
            expression_parser_fail(parser, RESULT_INVALID, offset,
                                   "unknown type \"%.*s\": did you mean \"%s\"?", SPAN_ARG(name),
                                   plain_types[i].name);
            return NULL;
        }
    }
    return new_type(parser, TYPE_ANY);
}

static const struct expression_type_tree *named_type(struct expression_parser *parser)
{
    uint32_t offset = parser->token.offset;
    struct span name = parser->token.kind == TOKEN_FUNCTION ? expression_parser_take(parser).text
                                                            : expression_feel_take_name(parser);
    bool generic = parser->token.kind == TOKEN_LESS;
    if (generic && (span_is(name, "list") || span_is(name, "range"))) {
        expression_parser_take(parser);
        return parse_element(parser, span_is(name, "list") ? TYPE_LIST : TYPE_RANGE);
    }
    if (generic && span_is(name, "context")) {
        expression_parser_take(parser);
        return parse_members(parser, TYPE_CONTEXT);
    }
    if (generic && span_is(name, "function")) {
        expression_parser_take(parser);
        return parse_function_type(parser);
    }
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++) {
        if (span_is(name, plain_types[i].name)) {
            struct expression_type_tree *type = new_type(parser, plain_types[i].form);
            if (type != NULL) {
                type->plain = plain_types[i].plain;
            }
            return type;
        }
    }
    const struct expression_type_tree *declared = declared_type(parser, name);
    return declared == NULL ? foreign_type(parser, name, offset) : declared;
}

const struct expression_type_tree *expression_parse_type(struct expression_parser *parser)
{
    const struct expression_type_tree *type = NULL;
    if (!parser->token.is_word) {
        expression_parser_unexpected(parser, "the name of a type");
        return NULL;
    }
    if (expression_parser_enter(parser)) {
        type = named_type(parser);
    }
    expression_parser_leave(parser);
    return parser->result == RESULT_OK ? type : NULL;
}

static bool inner_conforms(struct expression_evaluation *evaluation, struct expression_value value,
                           const struct expression_type_tree *type)
{
    value = expression_value_read(value);
    return value.type == VALUE_NULL || expression_conforms(evaluation, value, type);
}

static bool items_conform(struct expression_evaluation *evaluation, struct expression_value list,
                          const struct expression_type_tree *element)
{
    struct expression_walk walk = expression_walk(list);
    struct expression_value item;
    while (expression_walk_next(&walk, &item)) {
        if (!expression_pay(evaluation, 1) || !inner_conforms(evaluation, item, element)) {
            return false;
        }
    }
    return true;
}

static bool members_conform(struct expression_evaluation *evaluation,
                            struct expression_value context,
                            const struct expression_type_tree *type)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        struct expression_value member;
        size_t steps = 1 + (context.is_wire ? context.as.wire.count / EXPRESSION_BYTES_PER_STEP
                                            : context.count / 8);
        if (!expression_pay(evaluation, steps) ||
            !expression_value_find(context, type->names[i], &member) ||
            !inner_conforms(evaluation, member, type->members[i])) {
            return false;
        }
    }
    return true;
}

static bool ends_conform(struct expression_evaluation *evaluation,
                         const struct expression_range *range,
                         const struct expression_type_tree *element)
{
    bool low = range->low.type == VALUE_ABSENT || inner_conforms(evaluation, range->low, element);
    return low &&
           (range->high.type == VALUE_ABSENT || inner_conforms(evaluation, range->high, element));
}

/* Does whatever is of the one type fit where the other is wanted? */
static bool type_fits(const struct expression_type_tree *given,
                      const struct expression_type_tree *wanted)
{
    return wanted == NULL || wanted->form == TYPE_ANY ||
           (given->form == wanted->form && given->plain == wanted->plain &&
            given->about == wanted->about);
}

/* What a literal gives, as far as its body says so by itself: a constant, or a parameter. */
static bool result_conforms(const struct expression_node *literal,
                            const struct expression_type_tree *type)
{
    const struct expression_node *body = literal->children[0];
    if (type->form == TYPE_ANY) {
        return true;
    }
    if (body->kind == NODE_CONSTANT) {
        return type->form == TYPE_PLAIN && type->plain == body->as.constant.type;
    }
    for (uint32_t i = 0; body->kind == NODE_FEEL_NAME && i < literal->as.keys.count; i++) {
        if (span_equal(body->as.name.text, literal->as.keys.texts[i])) {
            const struct expression_type_tree *given = literal->as.keys.types[i];
            return given != NULL && type_fits(given, type);
        }
    }
    return false;
}

/* As many parameters, each taking what the type hands in. What a function gives is seldom
 * known before it is called. */
static bool function_conforms(const struct expression_closure *closure,
                              const struct expression_type_tree *type)
{
    if (closure->literal == NULL) {
        const struct expression_function *way = closure->function;
        while (way != NULL && !expression_function_takes(way, type->member_count)) {
            way = expression_function_next(way);
        }
        return way != NULL;
    }
    const struct expression_node *literal = closure->literal;
    bool conforms =
        literal->as.keys.count == type->member_count && result_conforms(literal, type->element);
    for (uint32_t i = 0; conforms && i < type->member_count; i++) {
        conforms = type_fits(type->members[i], literal->as.keys.types[i]);
    }
    return conforms;
}

bool expression_conforms(struct expression_evaluation *evaluation, struct expression_value value,
                         const struct expression_type_tree *type)
{
    switch (type->form) {
    case TYPE_ANY:
        return value.type != VALUE_NULL;
    case TYPE_PLAIN:
        return value.type == type->plain;
    case TYPE_LIST:
        return value.type == VALUE_LIST && items_conform(evaluation, value, type->element);
    case TYPE_RANGE:
        return value.type == VALUE_RANGE && ends_conform(evaluation, value.as.range, type->element);
    case TYPE_CONTEXT:
        return value.type == VALUE_CONTEXT && members_conform(evaluation, value, type);
    case TYPE_FUNCTION:
        return value.type == VALUE_FUNCTION && function_conforms(value.as.closure, type);
    case TYPE_DECLARED:
        return value.type != VALUE_NULL && type->conforms(evaluation, value, type->about);
    }
    return false;
}

struct expression_value expression_feel_instance(struct expression_evaluation *evaluation,
                                                 const struct expression_node *node)
{
    struct expression_value value = expression_operand(evaluation, node->children[0]);
    return expression_boolean(expression_conforms(evaluation, value, node->as.type));
}
