/* read.c: decision models from XML: decisions, knowledge models and their logic. */
#include <stdarg.h>
#include <stdio.h>

#include "engine/dmn/reading.h"
#include "engine/expression/closure.h"
#include "engine/expression/node.h"
#include "proto/base/limits.h"

#define MESSAGE_BYTES 512u
#define NAMES_FIRST   32u

void engine_dmn_complain(struct dmn_reading *reading, const struct xml_element *element,
                         struct span decision, const char *rule, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    engine_report_add(reading->report, ENGINE_ERROR, rule, decision, element->line, element->column,
                      "%s", message);
}

struct xml_element *engine_dmn_child(const struct xml_element *element,
                                     const struct xml_element *after, const char *name)
{
    return engine_xml_child(element, after, XML_UNKNOWN, name);
}

uint32_t engine_dmn_count(const struct xml_element *element, const char *name)
{
    uint32_t count = 0;
    for (struct xml_element *child = engine_dmn_child(element, NULL, name); child != NULL;
         child = engine_dmn_child(element, child, name)) {
        count++;
    }
    return count;
}

void *engine_dmn_room(struct dmn_reading *reading, size_t count, size_t bytes)
{
    return arena_zero(reading->arena, count * bytes);
}

static void add_name(struct dmn_reading *reading, struct span name)
{
    if (name.count == 0) {
        return;
    }
    if (reading->name_count == reading->name_capacity) {
        uint32_t capacity = reading->name_capacity == 0 ? NAMES_FIRST : reading->name_capacity * 2;
        struct span *names =
            arena_grow(reading->arena, reading->names, reading->name_capacity * sizeof *names,
                       capacity * sizeof *names);
        if (names == NULL) {
            return; /* latched in the arena */
        }
        reading->names = names;
        reading->name_capacity = capacity;
    }
    reading->names[reading->name_count++] = name;
}

/* "juel" in any case and form ("http://www.jcp.org/en/jsr/detail?id=245"); all else is FEEL. */
static bool is_juel(struct span language)
{
    return (language.count == 4 && strncasecmp((const char *)language.bytes, "juel", 4) == 0) ||
           span_is(language, "http://www.jcp.org/en/jsr/detail?id=245");
}

const struct expression_node *engine_dmn_compile(struct dmn_reading *reading,
                                                 struct xml_element *element, struct span decision,
                                                 enum engine_dialect dialect)
{
    const struct engine_expression *expression;
    struct engine_expression_error error;
    struct span text = engine_xml_child_text(element, XML_UNKNOWN, "text");
    if (text.count == 0) {
        return NULL;
    }
    if (is_juel(engine_xml_attribute(element, XML_NONE, "expressionLanguage"))) {
        dialect = ENGINE_DIALECT_JUEL;
    }
    const struct engine_declarations declarations = {reading->names, reading->name_count, true};
    enum result result = engine_expression_compile_declared(text, dialect, &declarations,
                                                            reading->arena, &expression, &error);
    if (result != RESULT_OK) {
        struct span shown = engine_report_excerpt(text, 80);
        engine_dmn_complain(reading, element, decision, "malformed-expression",
                            "in \"%.*s\", at character %u: %s", SPAN_ARG(shown), error.offset + 1,
                            error.message);
        return NULL;
    }
    return expression->root;
}

/* The one child that says how the value comes about; NULL after a complaint. */
static const struct expression_node *read_logic(struct dmn_reading *reading,
                                                struct xml_element *element, struct span decision)
{
    static const char *const others[] = {
        "context", "invocation", "relation", "list",  "conditional",
        "filter",  "for",        "some",     "every", "functionDefinition"};
    struct xml_element *table = engine_dmn_child(element, NULL, "decisionTable");
    if (table != NULL) {
        return engine_dmn_read_table(reading, table, decision);
    }
    struct xml_element *literal = engine_dmn_child(element, NULL, "literalExpression");
    for (size_t i = 0; literal == NULL && i < sizeof others / sizeof *others; i++) {
        struct xml_element *other = engine_dmn_child(element, NULL, others[i]);
        if (other != NULL) {
            engine_dmn_complain(reading, other, decision, "unsupported-element",
                                "a boxed \"%s\" is not evaluated: write it as a literal expression",
                                others[i]);
            return NULL;
        }
    }
    uint32_t errors = reading->report->errors;
    const struct expression_node *node =
        literal == NULL ? NULL
                        : engine_dmn_compile(reading, literal, decision, ENGINE_DIALECT_FEEL);
    if (node == NULL && reading->report->errors == errors) {
        engine_dmn_complain(reading, element, decision, "no-logic",
                            "\"%.*s\" has neither a table nor an expression", SPAN_ARG(decision));
    }
    return node;
}

/* The logic of a knowledge model, between parameters and a result of declared types; itself where
 * none is declared. */
static const struct expression_node *typed_body(struct dmn_reading *reading,
                                                struct xml_element *model,
                                                const struct expression_node *logic,
                                                const struct dmn_data *parameters, uint32_t count)
{
    struct xml_element *variable = engine_dmn_child(model, NULL, "variable");
    struct xml_element *encapsulated = engine_dmn_child(model, NULL, "encapsulatedLogic");
    const struct dmn_type *type = engine_dmn_type_of(reading, encapsulated);
    if (type == NULL) { /* of the result; some name the type of the function by its result's */
        type = engine_dmn_type_of(reading, variable);
        type = type != NULL && engine_dmn_type_is_function(type) ? NULL : type;
    }
    bool any = type != NULL;
    for (uint32_t i = 0; i < count; i++) {
        any = any || parameters[i].type != NULL;
    }
    struct dmn_body *body = engine_dmn_room(reading, 1, sizeof *body);
    struct dmn_data *kept = engine_dmn_room(reading, count, sizeof *kept);
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    if (!any || logic == NULL || body == NULL || kept == NULL || node == NULL) {
        return logic;
    }
    memcpy(kept, parameters, count * sizeof *kept);
    *body = (struct dmn_body){logic, kept, count, type};
    node->kind = NODE_CUSTOM;
    node->depth = (uint16_t)(logic->depth + 1);
    node->as.custom.evaluate = engine_dmn_body;
    node->as.custom.about = body;
    return node;
}

/* The literal of a function whose body is the logic of a knowledge model. */
static const struct expression_node *read_function(struct dmn_reading *reading,
                                                   struct xml_element *model, struct span id)
{
    struct span names[EXPRESSION_LITERAL_PARAMETERS_MAX];
    uint32_t count = 0;
    uint32_t outer_names = reading->name_count;
    struct dmn_data parameters[EXPRESSION_LITERAL_PARAMETERS_MAX];
    struct xml_element *logic = engine_dmn_child(model, NULL, "encapsulatedLogic");
    if (logic == NULL) {
        engine_dmn_complain(reading, model, id, "no-logic", "\"%.*s\" has no logic", SPAN_ARG(id));
        return NULL;
    }
    struct span kind = engine_xml_attribute(logic, XML_NONE, "kind");
    if (kind.count > 0 && !span_is(kind, "FEEL")) {
        engine_dmn_complain(reading, logic, id, "unsupported-element",
                            "functions of kind \"%.*s\" are not called from here", SPAN_ARG(kind));
        return NULL;
    }
    for (struct xml_element *parameter = engine_dmn_child(logic, NULL, "formalParameter");
         parameter != NULL; parameter = engine_dmn_child(logic, parameter, "formalParameter")) {
        if (count == EXPRESSION_LITERAL_PARAMETERS_MAX) {
            engine_dmn_complain(reading, parameter, id, "too-many", "more than %u parameters",
                                EXPRESSION_LITERAL_PARAMETERS_MAX);
            return NULL;
        }
        names[count] = engine_xml_attribute(parameter, XML_NONE, "name");
        parameters[count] = (struct dmn_data){names[count], engine_dmn_type_of(reading, parameter)};
        add_name(reading, names[count++]);
    }
    const struct expression_node *body =
        typed_body(reading, model, read_logic(reading, logic, id), parameters, count);
    reading->name_count = outer_names;
    struct expression_node *literal = engine_dmn_room(reading, 1, sizeof *literal);
    const struct expression_node **children = engine_dmn_room(reading, 1, sizeof(*children));
    struct span *kept = engine_dmn_room(reading, count, sizeof *kept);
    const struct expression_type_tree **types = engine_dmn_room(reading, count, sizeof(*types));
    if (body == NULL || literal == NULL || children == NULL || kept == NULL || types == NULL) {
        return NULL;
    }
    memcpy(kept, names, count * sizeof *names);
    children[0] = body;
    literal->kind = NODE_FEEL_FUNCTION;
    literal->depth = (uint16_t)(body->depth + 1);
    literal->count = 1;
    literal->children = children;
    literal->as.keys.texts = kept;
    literal->as.keys.types = types;
    literal->as.keys.count = count;
    return literal;
}

struct span engine_dmn_variable_name(struct xml_element *element)
{
    struct xml_element *variable = engine_dmn_child(element, NULL, "variable");
    struct span name =
        variable == NULL ? SPAN_EMPTY : engine_xml_attribute(variable, XML_NONE, "name");
    return name.count > 0 ? name : engine_xml_attribute(element, XML_NONE, "name");
}

static void read_names(struct dmn_reading *reading, struct xml_element *const *elements)
{
    for (uint32_t i = 0; i < reading->dmn->count; i++) {
        struct dmn_decision *decision = &reading->dmn->decisions[i];
        struct xml_element *variable = engine_dmn_child(elements[i], NULL, "variable");
        decision->id = engine_xml_id(elements[i]);
        decision->name = engine_xml_attribute(elements[i], XML_NONE, "name");
        decision->variable = engine_dmn_variable_name(elements[i]);
        decision->is_declared = variable != NULL || decision->is_knowledge;
        decision->type = decision->is_knowledge ? NULL : engine_dmn_type_of(reading, variable);
        add_name(reading, decision->variable);
        if (decision->id.count == 0) {
            engine_dmn_complain(reading, elements[i], decision->name, "no-id", "\"%.*s\" has no id",
                                SPAN_ARG(decision->name));
        }
        for (uint32_t j = 0; j < i; j++) {
            if (span_equal(reading->dmn->decisions[j].id, decision->id)) {
                engine_dmn_complain(reading, elements[i], decision->id, "duplicate-id",
                                    "the id \"%.*s\" is given twice", SPAN_ARG(decision->id));
                break;
            }
        }
    }
    for (struct xml_element *input = engine_dmn_child(reading->root, NULL, "inputData");
         input != NULL; input = engine_dmn_child(reading->root, input, "inputData")) {
        add_name(reading, engine_dmn_variable_name(input));
    }
}

/* Decisions, then knowledge models; false after a complaint. */
static bool gather(struct dmn_reading *reading, struct xml_element ***out)
{
    static const char *const kinds[] = {"decision", "businessKnowledgeModel"};
    struct xml_element **elements = engine_dmn_room(reading, DMN_DECISIONS_MAX, sizeof(*elements));
    struct engine_dmn *dmn = reading->dmn;
    dmn->decisions = engine_dmn_room(reading, DMN_DECISIONS_MAX, sizeof *dmn->decisions);
    for (unsigned kind = 0; elements != NULL && dmn->decisions != NULL && kind < 2; kind++) {
        for (struct xml_element *element = engine_dmn_child(reading->root, NULL, kinds[kind]);
             element != NULL; element = engine_dmn_child(reading->root, element, kinds[kind])) {
            if (dmn->count == DMN_DECISIONS_MAX) {
                engine_dmn_complain(reading, element, SPAN_EMPTY, "too-many",
                                    "more than %u decisions", DMN_DECISIONS_MAX);
                return false;
            }
            dmn->decisions[dmn->count].is_knowledge = kind == 1;
            elements[dmn->count++] = element;
        }
    }
    *out = elements;
    if (engine_dmn_child(reading->root, NULL, "decision") == NULL) {
        engine_dmn_complain(reading, reading->root, SPAN_EMPTY, "no-decision",
                            "the model holds no decision");
        return false;
    }
    return elements != NULL && dmn->decisions != NULL;
}

static void read_model(struct dmn_reading *reading)
{
    struct xml_element **elements;
    reading->dmn->id = engine_xml_id(reading->root);
    reading->dmn->name = engine_xml_attribute(reading->root, XML_NONE, "name");
    if (!gather(reading, &elements)) {
        return;
    }
    if (!engine_dmn_read_types(reading)) {
        return;
    }
    read_names(reading, elements);
    if (!engine_dmn_read_requirements(reading, elements)) {
        return;
    }
    for (uint32_t i = 0; i < reading->dmn->count; i++) {
        struct dmn_decision *decision = &reading->dmn->decisions[i];
        decision->logic = decision->is_knowledge ? read_function(reading, elements[i], decision->id)
                                                 : read_logic(reading, elements[i], decision->id);
        bool is_table = decision->logic != NULL && decision->logic->kind == NODE_CUSTOM &&
                        decision->logic->as.custom.evaluate == engine_dmn_table;
        decision->table = is_table ? decision->logic->as.custom.about : NULL;
    }
}

static bool is_dmn(struct span uri)
{
    return span_starts_with(uri, "https://www.omg.org/spec/DMN/") ||
           span_starts_with(uri, "http://www.omg.org/spec/DMN/");
}

/* Behind the next `mark`; empty when there is none. */
static struct span behind(struct span text, const char *mark)
{
    size_t count = strlen(mark);
    const uint8_t *found = text.count == 0 ? NULL : memmem(text.bytes, text.count, mark, count);
    if (found == NULL) {
        return SPAN_EMPTY;
    }
    size_t skipped = (size_t)(found - text.bytes) + count;
    return span_of(text.bytes + skipped, text.count - skipped);
}

/* What follows the "<" of the root element: behind declaration, comments and a document type. */
static struct span root_of(struct span text)
{
    for (text = behind(text, "<"); text.count > 0; text = behind(text, "<")) {
        if (text.bytes[0] != '?' && text.bytes[0] != '!') {
            return text;
        }
        bool is_comment = span_starts_with(text, "!--");
        text = behind(text, is_comment ? "-->" : ">");
    }
    return SPAN_EMPTY;
}

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Walks over one attribute of a tag: name = "value". */
static bool next_attribute(struct span *tag, struct span *name, struct span *value)
{
    size_t at = 0;
    while (at < tag->count && is_space(tag->bytes[at])) {
        at++;
    }
    size_t begin = at;
    while (at < tag->count && !is_space(tag->bytes[at]) && tag->bytes[at] != '=' &&
           tag->bytes[at] != '>') {
        at++;
    }
    *name = span_of(tag->bytes + begin, at - begin);
    while (at < tag->count && (is_space(tag->bytes[at]) || tag->bytes[at] == '=')) {
        at++;
    }
    if (name->count == 0 || at >= tag->count || (tag->bytes[at] != '"' && tag->bytes[at] != '\'')) {
        return false;
    }
    uint8_t quote = tag->bytes[at++];
    const uint8_t *end = memchr(tag->bytes + at, quote, tag->count - at);
    if (end == NULL) {
        return false;
    }
    *value = span_of(tag->bytes + at, (size_t)(end - tag->bytes) - at);
    size_t used = at + value->count + 1;
    *tag = span_of(tag->bytes + used, tag->count - used);
    return true;
}

bool engine_dmn_is_model(struct span content)
{
    struct span tag = root_of(content);
    size_t count = 0;
    if (tag.count == 0) {
        return false;
    }
    while (count < tag.count && !is_space(tag.bytes[count]) && tag.bytes[count] != '>') {
        count++;
    }
    struct span root = span_of(tag.bytes, count);
    const uint8_t *colon = count == 0 ? NULL : memchr(root.bytes, ':', count);
    struct span prefix = span_of(root.bytes, colon == NULL ? 0 : (size_t)(colon - root.bytes));
    struct span name;
    struct span value;
    tag = span_of(tag.bytes + count, tag.count - count);
    while (next_attribute(&tag, &name, &value)) {
        bool declares = colon == NULL
                            ? span_is(name, "xmlns")
                            : span_starts_with(name, "xmlns:") &&
                                  span_equal(span_of(name.bytes + 6, name.count - 6), prefix);
        if (declares) {
            return is_dmn(value);
        }
    }
    return false;
}

enum result engine_dmn_read(struct span content, struct arena *arena, struct engine_report *report,
                            const struct engine_dmn **out)
{
    struct dmn_reading reading = {.arena = arena, .report = report};
    uint32_t errors = report->errors;
    *out = NULL;
    enum result result = engine_xml_parse(content, arena, report, &reading.root);
    if (result != RESULT_OK) {
        return result;
    }
    if (!span_is(reading.root->name, "definitions") || !is_dmn(reading.root->uri)) {
        engine_dmn_complain(&reading, reading.root, SPAN_EMPTY, "not-dmn",
                            "this is no decision model: its root is \"%.*s\"",
                            SPAN_ARG(reading.root->name));
        return RESULT_INVALID;
    }
    reading.dmn = engine_dmn_room(&reading, 1, sizeof *reading.dmn);
    if (reading.dmn != NULL) {
        read_model(&reading);
    }
    if (arena->overflowed) {
        return RESULT_LIMIT;
    }
    *out = report->errors == errors ? reading.dmn : NULL;
    return *out == NULL ? RESULT_INVALID : RESULT_OK;
}
