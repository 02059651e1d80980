/* read.c: decision models from XML: decisions, knowledge models and their logic. */
#include <stdarg.h>
#include <stdio.h>

#include "engine/dmn/reading.h"
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

void engine_dmn_add_name(struct dmn_reading *reading, struct span name)
{
    if (name.count == 0) {
        return;
    }
    if (reading->name_count == DMN_NAMES_MAX) {
        if (!reading->has_too_many_names) {
            engine_dmn_complain(reading, reading->root, SPAN_EMPTY, "too-many",
                                "more than %u names of decisions, data and entries in one place",
                                DMN_NAMES_MAX);
        }
        reading->has_too_many_names = true;
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

/* "juel" in any case and form ("http://www.jcp.org/en/jsr/detail?id=245"). */
static bool is_juel(struct span language)
{
    return (language.count == 4 && strncasecmp((const char *)language.bytes, "juel", 4) == 0) ||
           span_is(language, "http://www.jcp.org/en/jsr/detail?id=245");
}

/* "feel", or an address that says so; FEEL is meant where nothing is said. */
static bool is_feel(struct span language)
{
    for (size_t at = 0; at + 4 <= language.count; at++) {
        if (strncasecmp((const char *)language.bytes + at, "feel", 4) == 0) {
            return true;
        }
    }
    return language.count == 0;
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
    struct span language = engine_xml_attribute(element, XML_NONE, "expressionLanguage");
    if (is_juel(language)) {
        dialect = ENGINE_DIALECT_JUEL;
    } else if (!is_feel(language)) {
        engine_dmn_complain(reading, element, decision, "unsupported-element",
                            "expressions in \"%.*s\" are not evaluated, only FEEL and JUEL",
                            SPAN_ARG(language));
        return NULL;
    }
    const struct engine_declarations declarations = {.names = reading->names,
                                                     .count = reading->name_count,
                                                     .types = &reading->types_declared,
                                                     .shared = true};
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
        engine_dmn_add_name(reading, decision->variable);
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
        engine_dmn_add_name(reading, engine_dmn_variable_name(input));
    }
}

enum kind { DECISION, KNOWLEDGE_MODEL, SERVICE, KINDS };

/* Decisions, then what they call; false after a complaint. */
static bool gather(struct dmn_reading *reading, struct xml_element ***out)
{
    static const char *const kinds[KINDS] = {"decision", "businessKnowledgeModel",
                                             "decisionService"};
    struct xml_element **elements = engine_dmn_room(reading, DMN_DECISIONS_MAX, sizeof(*elements));
    struct engine_dmn *dmn = reading->dmn;
    dmn->decisions = engine_dmn_room(reading, DMN_DECISIONS_MAX, sizeof *dmn->decisions);
    for (unsigned kind = 0; elements != NULL && dmn->decisions != NULL && kind < KINDS; kind++) {
        for (struct xml_element *element = engine_dmn_child(reading->root, NULL, kinds[kind]);
             element != NULL; element = engine_dmn_child(reading->root, element, kinds[kind])) {
            if (dmn->count == DMN_DECISIONS_MAX) {
                engine_dmn_complain(reading, element, SPAN_EMPTY, "too-many",
                                    "more than %u decisions", DMN_DECISIONS_MAX);
                return false;
            }
            struct dmn_decision *decision = &dmn->decisions[dmn->count];
            decision->is_knowledge = kind != DECISION;
            decision->service =
                kind == SERVICE ? engine_dmn_room(reading, 1, sizeof *decision->service) : NULL;
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

/* What a model takes from another file is not here: a name of it must not be taken for one of ours.
 */
static bool refuse_imports(struct dmn_reading *reading)
{
    uint32_t errors = reading->report->errors;
    struct xml_element *import = NULL;
    while ((import = engine_dmn_child(reading->root, import, "import")) != NULL) {
        struct span name = engine_xml_attribute(import, XML_NONE, "name");
        struct span space = engine_xml_attribute(import, XML_NONE, "namespace");
        if (engine_dmn_is_namespace(engine_xml_attribute(import, XML_NONE, "importType"))) {
            engine_dmn_complain(reading, import, name, "unsupported-element",
                                "the model imports \"%.*s\" of \"%.*s\": put what it needs of that "
                                "into this file",
                                SPAN_ARG(name), SPAN_ARG(space));
        } else {
            engine_report_add(reading->report, ENGINE_WARNING, "import", name, import->line,
                              import->column, "\"%.*s\" is no decision model: it is not read",
                              SPAN_ARG(space));
        }
    }
    return reading->report->errors == errors;
}

static const struct expression_node *read_knowledge(struct dmn_reading *reading,
                                                    struct xml_element *model, struct span id)
{
    struct xml_element *logic = engine_dmn_child(model, NULL, "encapsulatedLogic");
    if (logic == NULL) {
        engine_dmn_complain(reading, model, id, "no-logic", "\"%.*s\" has no logic", SPAN_ARG(id));
        return NULL;
    }
    return engine_dmn_read_function(reading, logic, engine_dmn_child(model, NULL, "variable"), id);
}

static void read_decision(struct dmn_reading *reading, struct xml_element *element,
                          struct dmn_decision *decision)
{
    decision->logic = decision->is_knowledge
                          ? read_knowledge(reading, element, decision->id)
                          : engine_dmn_read_logic(reading, element, decision->id);
    bool is_table = decision->logic != NULL && decision->logic->kind == NODE_CUSTOM &&
                    decision->logic->as.custom.evaluate == engine_dmn_table;
    decision->table = is_table ? decision->logic->as.custom.about : NULL;
}

static void read_model(struct dmn_reading *reading)
{
    struct xml_element **elements;
    struct engine_dmn *dmn = reading->dmn;
    dmn->id = engine_xml_id(reading->root);
    dmn->name = engine_xml_attribute(reading->root, XML_NONE, "name");
    if (!refuse_imports(reading) || !gather(reading, &elements)) {
        return;
    }
    engine_dmn_read_member_names(reading, reading->root);
    if (!engine_dmn_read_types(reading)) {
        return;
    }
    read_names(reading, elements);
    if (!engine_dmn_read_requirements(reading, elements)) {
        return;
    }
    for (uint32_t i = 0; i < dmn->count; i++) {
        if (dmn->decisions[i].service == NULL) {
            read_decision(reading, elements[i], &dmn->decisions[i]);
        }
    }
    for (uint32_t i = 0; i < dmn->count; i++) { /* they are as deep as what they evaluate */
        if (dmn->decisions[i].service != NULL) {
            dmn->decisions[i].logic = engine_dmn_service_function(reading, &dmn->decisions[i]);
        }
    }
}

enum result engine_dmn_read(struct span content, struct arena *arena, struct engine_report *report,
                            const struct engine_dmn **out)
{
    struct dmn_reading reading = {
        .types_declared = {.find = engine_dmn_find_type, .conforms = engine_dmn_conforms},
        .arena = arena,
        .report = report};
    uint32_t errors = report->errors;
    *out = NULL;
    enum result result = engine_xml_parse(content, arena, report, &reading.root);
    if (result != RESULT_OK) {
        return result;
    }
    if (!span_is(reading.root->name, "definitions") ||
        !engine_dmn_is_namespace(reading.root->uri)) {
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
