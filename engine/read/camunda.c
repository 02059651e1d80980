/*
 * camunda.c: the extensions of Camunda 7, and of Activiti and Flowable, which share them.
 *
 * Java classes and delegates cannot run here: such a task goes to the module of its BPMN element
 * name, and the class stands in the module's config, so that a module can tell them apart.
 */
#include <stddef.h>
#include <stdio.h>

#include "engine/read/activity.h"
#include "engine/read/extension.h"
#include "engine/time/iso8601.h"
#include "proto/base/assert.h"

static const struct extension_attribute texts[] = {
    {"resultVariable", EXTENSION_TEXT, offsetof(struct engine_node, result_variable)},
    {"resultVariableName", EXTENSION_TEXT, offsetof(struct engine_node, result_variable)},
    {"formKey", EXTENSION_TEXT, offsetof(struct engine_node, assignment.form_key)},
    {"formRef", EXTENSION_TEXT, offsetof(struct engine_node, assignment.form_key)},
};

/* Passed to the module as they stand. */
static const char *const config_attributes[] = {"class", "delegateExpression", "decisionRef",
                                                "resource", "mapDecisionResult"};

/* Every step of ours is durable before its work begins, which is all that these ask for. */
static const char *const fulfilled_attributes[] = {"async", "asyncBefore", "asyncAfter",
                                                   "exclusive"};

static bool is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' || byte >= 0x80;
}

static size_t skip_name(struct span text, size_t at)
{
    while (at < text.count && is_name_byte(text.bytes[at])) {
        at++;
    }
    return at;
}

static size_t skip_quoted(struct span text, size_t at)
{
    uint8_t quote = text.bytes[at++];
    while (at < text.count && text.bytes[at] != quote) {
        at += text.bytes[at] == '\\' ? 2u : 1u;
    }
    return at + 1;
}

/*
 * Does this JUEL text call a method of something other than `execution`? That is a Java bean, which
 * only an engine with Java has.
 */
static bool calls_bean(struct span text)
{
    for (size_t at = 0; at < text.count;) {
        if (text.bytes[at] == '\'' || text.bytes[at] == '"') {
            at = skip_quoted(text, at);
            continue;
        }
        size_t end = skip_name(text, at);
        if (end == at || text.bytes[at] == '$') {
            at++;
            continue;
        }
        struct span root = span_of(text.bytes + at, end - at);
        bool has_path = false;
        while (end + 1 < text.count && text.bytes[end] == '.' &&
               is_name_byte(text.bytes[end + 1])) {
            end = skip_name(text, end + 1);
            has_path = true;
        }
        if (has_path && end < text.count && text.bytes[end] == '(' && !span_is(root, "execution")) {
            return true;
        }
        at = end;
    }
    return false;
}

static void read_type(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct span type = engine_xml_attribute(element, XML_CAMUNDA, "type");
    struct span topic = engine_xml_attribute(element, XML_CAMUNDA, "topic");
    bool is_external = span_is(type, "external") || span_is(type, "external-worker");
    if (is_external && topic.count == 0) {
        engine_draft_problem(draft, ENGINE_WARNING, "no-topic", element,
                             "an external task without a topic: its type is \"%.*s\"",
                             SPAN_ARG(node->task_type));
        return;
    }
    engine_extension_type(draft, node, element, XML_CAMUNDA, topic.count > 0 ? "topic" : "type");
}

/*
 * ${execution.setVariable('name', value)} and nothing else: the value, and `name` as the result
 * variable. Deeper inside an expression it is refused, since an expression changes nothing.
 */
static bool read_set_variable(struct draft *draft, struct engine_node *node,
                              struct xml_element *element, struct span text)
{
    static const char call[] = "execution.setVariable(";
    text = span_trim(text);
    bool is_marked = span_starts_with(text, "${") || span_starts_with(text, "#{");
    if (!is_marked || text.bytes[text.count - 1] != '}') {
        return false;
    }
    text = span_trim(span_of(text.bytes + 2, text.count - 3));
    if (!span_starts_with(text, call) || text.bytes[text.count - 1] != ')') {
        return false;
    }
    size_t skipped = sizeof call - 1;
    text = span_trim(span_of(text.bytes + skipped, text.count - skipped - 1));
    if (text.count == 0 || (text.bytes[0] != '\'' && text.bytes[0] != '"')) {
        return false; /* a name by expression */
    }
    size_t end = skip_quoted(text, 0);
    if (end >= text.count) {
        return false;
    }
    struct span name = span_of(text.bytes + 1, end - 2);
    struct span rest = span_trim(span_of(text.bytes + end, text.count - end));
    if (name.count == 0 || rest.count == 0 || rest.bytes[0] != ',') {
        return false;
    }
    struct span value =
        arena_format(draft->scratch, "${%.*s}", (int)rest.count - 1, (const char *)rest.bytes + 1);
    node->script = engine_draft_compile(draft, (struct draft_place){element, "expression"}, value,
                                        ENGINE_DIALECT_AUTO);
    node->result_variable = engine_draft_keep(draft, name);
    return true;
}

static void read_expression(struct draft *draft, struct engine_node *node,
                            struct xml_element *element)
{
    struct span text = engine_xml_attribute(element, XML_CAMUNDA, "expression");
    if (text.count == 0) {
        return;
    }
    node->script_format = span_text("juel");
    if (read_set_variable(draft, node, element, text)) {
        return;
    }
    if (calls_bean(text)) {
        engine_extension_header(draft, node, element, span_text("expression"), text);
        node->script_format = SPAN_EMPTY;
        return;
    }
    node->script =
        engine_draft_attribute(draft, element, XML_CAMUNDA, "expression", ENGINE_DIALECT_AUTO);
}

static const struct engine_expression *
read_assignment(struct draft *draft, struct xml_element *element, const char *name)
{
    struct span text = engine_xml_attribute(element, XML_CAMUNDA, name);
    if (calls_bean(text)) {
        engine_draft_problem(draft, ENGINE_WARNING, "bean-call", element,
                             "%s calls a Java bean (%.*s), which does not exist here: left empty",
                             name, SPAN_ARG(text));
        return NULL;
    }
    return engine_draft_compile(draft, (struct draft_place){element, name}, text,
                                ENGINE_DIALECT_AUTO);
}

static void read_assignments(struct draft *draft, struct engine_node *node,
                             struct xml_element *element)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
        {"assignee", offsetof(struct engine_assignment, assignee)},
        {"candidateGroups", offsetof(struct engine_assignment, candidate_groups)},
        {"candidateUsers", offsetof(struct engine_assignment, candidate_users)},
        {"dueDate", offsetof(struct engine_assignment, due_date)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (engine_xml_has_attribute(element, XML_CAMUNDA, rows[i].name)) {
            const struct engine_expression **field =
                (void *)((uint8_t *)&node->assignment + rows[i].offset);
            *field = read_assignment(draft, element, rows[i].name);
        }
    }
}

/* ---- inputOutput ---- */

static struct xml_element *structured_child(const struct xml_element *holder)
{
    static const char *const names[] = {"script", "list", "map"};
    struct xml_element *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++) {
        found = engine_xml_child(holder, NULL, XML_CAMUNDA, names[i]);
    }
    return found;
}

/* Text with an expression in it, or a structure: not a plain literal. */
static bool is_plain(const struct xml_element *item)
{
    return item->first == NULL && !engine_draft_is_marked(item->text);
}

/* Room for the FEEL text of a list or map: quoting at most doubles, and each item has a few signs
 * around it. */
static size_t literal_room(const struct xml_element *holder, const char *item_name)
{
    enum { SIGNS = 8 };
    size_t room = SIGNS;
    struct xml_element *item = NULL;
    while ((item = engine_xml_child(holder, item, XML_CAMUNDA, item_name)) != NULL) {
        room += item->text.count * 2 + SIGNS;
        room += engine_xml_attribute(item, XML_NONE, "key").count * 2 + SIGNS;
    }
    return room;
}

static void append(struct span *text, size_t room, struct span more)
{
    ASSERT(more.count <= room - text->count);
    if (more.count > 0) {
        memcpy((uint8_t *)(uintptr_t)text->bytes + text->count, more.bytes, more.count);
        text->count += more.count;
    }
}

/* ["a", "b"] or {"k": "a"} in FEEL, of plain items; an empty span when memory is refused. */
static struct span literal_text(struct draft *draft, const struct xml_element *holder,
                                const char *item_name, bool is_map)
{
    size_t room = literal_room(holder, item_name);
    struct span text = span_of(arena_alloc(draft->scratch, room), 0);
    if (text.bytes == NULL) {
        return SPAN_EMPTY;
    }
    append(&text, room, span_text(is_map ? "{" : "["));
    struct xml_element *item = NULL;
    bool is_first = true;
    while ((item = engine_xml_child(holder, item, XML_CAMUNDA, item_name)) != NULL) {
        append(&text, room, span_text(is_first ? "" : ", "));
        if (is_map) {
            struct span key = engine_xml_attribute(item, XML_NONE, "key");
            append(&text, room, engine_draft_quote(draft, key));
            append(&text, room, span_text(": "));
        }
        append(&text, room, engine_draft_quote(draft, span_trim(item->text)));
        is_first = false;
    }
    append(&text, room, span_text(is_map ? "}" : "]"));
    return text;
}

static bool all_plain(const struct xml_element *holder, const char *item_name)
{
    struct xml_element *item = NULL;
    while ((item = engine_xml_child(holder, item, XML_CAMUNDA, item_name)) != NULL) {
        if (!is_plain(item)) {
            return false;
        }
    }
    return true;
}

static void refuse_parameter(struct draft *draft, struct xml_element *node_element,
                             struct span name, const char *what)
{
    engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", node_element,
                         "parameter \"%.*s\": %s is not executed", SPAN_ARG(name), what);
}

static void read_script_parameter(struct draft *draft, struct xml_element *node_element,
                                  struct engine_mappings *mappings, struct span name,
                                  struct xml_element *script)
{
    struct span format = engine_xml_attribute(script, XML_NONE, "scriptFormat");
    enum engine_dialect dialect;
    if (!engine_activity_script_dialect(format, script->text, &dialect)) {
        char what[64];
        struct span shown = engine_report_excerpt(format, 32);
        (void)snprintf(what, sizeof what, "a script in \"%.*s\"", SPAN_ARG(shown));
        refuse_parameter(draft, node_element, name, what);
        return;
    }
    const struct engine_expression *value =
        engine_draft_compile(draft, (struct draft_place){script, NULL}, script->text, dialect);
    engine_draft_map(draft, mappings, value, name, script->line);
}

/* A map with expressions in it becomes one mapping an entry: name.key. */
static void read_map_entries(struct draft *draft, struct xml_element *node_element,
                             struct engine_mappings *mappings, struct span name,
                             const struct xml_element *map)
{
    struct xml_element *entry = NULL;
    while ((entry = engine_xml_child(map, entry, XML_CAMUNDA, "entry")) != NULL) {
        struct span key = engine_xml_attribute(entry, XML_NONE, "key");
        bool is_path = key.count > 0 && memchr(key.bytes, '.', key.count) != NULL;
        if (entry->first != NULL || key.count == 0 || is_path) {
            refuse_parameter(draft, node_element, name, "such a map entry");
            continue;
        }
        struct span target =
            arena_format(draft->scratch, "%.*s.%.*s", SPAN_ARG(name), SPAN_ARG(key));
        const struct engine_expression *value =
            engine_draft_value(draft, (struct draft_place){entry, NULL}, entry->text);
        engine_draft_map(draft, mappings, value, target, entry->line);
    }
}

static void read_parameter(struct draft *draft, struct xml_element *node_element,
                           struct engine_mappings *mappings, struct xml_element *parameter)
{
    struct span name = engine_xml_attribute(parameter, XML_NONE, "name");
    struct draft_place place = {parameter, NULL};
    struct xml_element *structure = structured_child(parameter);
    if (name.count == 0) {
        engine_draft_problem(draft, ENGINE_ERROR, "mapping", node_element,
                             "the parameter of line %u has no name", parameter->line);
    } else if (structure == NULL) {
        const struct engine_expression *value = engine_draft_value(draft, place, parameter->text);
        engine_draft_map(draft, mappings, value, name, parameter->line);
    } else if (span_is(structure->name, "script")) {
        read_script_parameter(draft, node_element, mappings, name, structure);
    } else {
        bool is_map = span_is(structure->name, "map");
        const char *item_name = is_map ? "entry" : "value";
        if (all_plain(structure, item_name)) {
            struct span text = literal_text(draft, structure, item_name, is_map);
            const struct engine_expression *value =
                engine_draft_compile(draft, place, text, ENGINE_DIALECT_FEEL);
            engine_draft_map(draft, mappings, value, name, parameter->line);
        } else if (is_map) {
            read_map_entries(draft, node_element, mappings, name, structure);
        } else {
            refuse_parameter(draft, node_element, name, "a list with expressions in it");
        }
    }
}

static void read_parameters(struct draft *draft, struct engine_node *node,
                            struct xml_element *node_element, const struct xml_element *list)
{
    struct xml_element *item = NULL;
    while ((item = engine_xml_child(list, item, XML_CAMUNDA, "inputParameter")) != NULL) {
        read_parameter(draft, node_element, &node->inputs, item);
    }
    while ((item = engine_xml_child(list, item, XML_CAMUNDA, "outputParameter")) != NULL) {
        read_parameter(draft, node_element, &node->outputs, item);
    }
}

static void read_input_output(struct draft *draft, struct engine_node *node,
                              struct xml_element *element)
{
    struct xml_element *list = engine_extension(element, NULL, XML_CAMUNDA, "inputOutput");
    if (list != NULL) {
        read_parameters(draft, node, element, list);
    }
    struct xml_element *connector = engine_extension(element, NULL, XML_CAMUNDA, "connector");
    if (connector != NULL) {
        engine_extension_header(draft, node, connector, span_text("connectorId"),
                                engine_xml_child_text(connector, XML_CAMUNDA, "connectorId"));
        list = engine_xml_child(connector, NULL, XML_CAMUNDA, "inputOutput");
        if (list != NULL) {
            read_parameters(draft, node, element, list);
        }
    }
}

/* ---- fields and properties: static configuration ---- */

static void read_field(struct draft *draft, struct engine_node *node, struct xml_element *field)
{
    struct span name = engine_xml_attribute(field, XML_NONE, "name");
    struct span text = engine_xml_attribute(field, XML_NONE, "stringValue");
    struct xml_element *string = engine_xml_child(field, NULL, XML_CAMUNDA, "string");
    struct xml_element *expression = engine_xml_child(field, NULL, XML_CAMUNDA, "expression");
    struct span source = engine_xml_attribute(field, XML_NONE, "expression");
    if (expression != NULL) {
        source = expression->text;
    }
    if (name.count > 0 && source.count > 0) {
        const struct engine_expression *value =
            engine_draft_value(draft, (struct draft_place){field, "expression"}, source);
        engine_draft_map(draft, &node->headers, value, name, field->line);
    } else {
        engine_extension_header(draft, node, field, name,
                                string != NULL ? span_trim(string->text) : text);
    }
}

static void read_configuration(struct draft *draft, struct engine_node *node,
                               struct xml_element *element)
{
    for (size_t i = 0; i < sizeof config_attributes / sizeof config_attributes[0]; i++) {
        struct span value = engine_xml_attribute(element, XML_CAMUNDA, config_attributes[i]);
        if (value.count > 0) {
            engine_extension_header(draft, node, element, span_text(config_attributes[i]), value);
        }
    }
    struct xml_element *field = NULL;
    while ((field = engine_extension(element, field, XML_CAMUNDA, "field")) != NULL) {
        read_field(draft, node, field);
    }
    struct xml_element *properties = engine_extension(element, NULL, XML_CAMUNDA, "properties");
    struct xml_element *property = NULL;
    while (properties != NULL &&
           (property = engine_xml_child(properties, property, XML_CAMUNDA, "property")) != NULL) {
        engine_extension_header(draft, node, property,
                                engine_xml_attribute(property, XML_NONE, "name"),
                                engine_xml_attribute(property, XML_NONE, "value"));
    }
}

/* "R3/PT10M": three attempts; the delays between them are ours (engine.md 8). */
static void read_retries(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *list = engine_xml_child(element, NULL, XML_BPMN, "extensionElements");
    struct xml_element *retry =
        list == NULL ? NULL : engine_xml_child(list, NULL, XML_CAMUNDA, "failedJobRetryTimeCycle");
    struct engine_cycle cycle;
    const char *reason;
    if (retry == NULL || engine_cycle_parse(retry->text, &cycle, &reason) != RESULT_OK ||
        cycle.count == UINT64_MAX) {
        return;
    }
    retry->used = true;
    struct span attempts = arena_format(draft->scratch, "%llu", (unsigned long long)cycle.count);
    node->retries = engine_draft_compile(draft, (struct draft_place){retry, NULL}, attempts,
                                         ENGINE_DIALECT_CONDITION);
}

/* ---- call activity ---- */

static void read_variable(struct draft *draft, struct xml_element *item,
                          struct engine_mappings *mappings)
{
    struct span target = engine_xml_attribute(item, XML_NONE, "target");
    struct span source = engine_xml_attribute(item, XML_NONE, "source");
    const char *attribute = "source";
    enum engine_dialect dialect = ENGINE_DIALECT_FEEL;
    if (source.count == 0) {
        source = engine_xml_attribute(item, XML_NONE, "sourceExpression");
        attribute = "sourceExpression";
        dialect = ENGINE_DIALECT_AUTO;
    }
    if (source.count == 0) {
        source = engine_xml_attribute(item, XML_NONE, "businessKey");
        attribute = "businessKey";
        target = span_text("businessKey");
    }
    if (target.count == 0 || source.count == 0) {
        engine_draft_problem(draft, ENGINE_ERROR, "mapping", item,
                             "line %u needs a source and a target", item->line);
        return;
    }
    const struct engine_expression *value =
        engine_draft_compile(draft, (struct draft_place){item, attribute}, source, dialect);
    engine_draft_map(draft, mappings, value, target, item->line);
}

/* Returns whether anything was declared, which in Camunda means that nothing else passes. */
static bool read_variables(struct draft *draft, struct xml_element *element, const char *name,
                           struct engine_mappings *mappings, bool *all)
{
    bool declared = false;
    struct xml_element *item = NULL;
    while ((item = engine_extension(element, item, XML_CAMUNDA, name)) != NULL) {
        if (!declared) {
            *all = false;
            declared = true;
        }
        if (span_is(engine_xml_attribute(item, XML_NONE, "variables"), "all")) {
            *all = true;
        } else {
            read_variable(draft, item, mappings);
        }
    }
    return declared;
}

static void read_call(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    bool in = read_variables(draft, element, "in", &node->inputs, &node->propagate_in);
    bool out = read_variables(draft, element, "out", &node->outputs, &node->propagate_out);
    if (in && !out) {
        node->propagate_out = false;
    }
    if (out && !in) {
        node->propagate_in = false;
    }
}

/* An external task that sends what a throw or end event throws: said on the event's definition. */
static void read_sender(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *message =
        engine_xml_child(element, NULL, XML_BPMN, "messageEventDefinition");
    bool throws = node->kind == ENGINE_END_EVENT || node->kind == ENGINE_INTERMEDIATE_THROW_EVENT;
    if (message != NULL && throws) {
        read_type(draft, node, message);
    }
}

void engine_camunda_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    read_type(draft, node, element);
    read_sender(draft, node, element);
    read_expression(draft, node, element);
    read_assignments(draft, node, element);
    engine_extension_attributes(draft, node, element, XML_CAMUNDA, texts,
                                sizeof texts / sizeof texts[0]);
    read_input_output(draft, node, element);
    read_configuration(draft, node, element);
    read_retries(draft, node, element);
    if (node->kind == ENGINE_CALL_ACTIVITY) {
        read_call(draft, node, element);
    }
    for (size_t i = 0; i < sizeof fulfilled_attributes / sizeof fulfilled_attributes[0]; i++) {
        (void)engine_xml_attribute(element, XML_CAMUNDA, fulfilled_attributes[i]);
    }
}

void engine_camunda_read_loop(struct draft *draft, struct engine_node *node,
                              struct xml_element *loop)
{
    /* Text without a marker names a variable, as FEEL does. */
    struct span collection = engine_xml_attribute(loop, XML_CAMUNDA, "collection");
    if (collection.count > 0) {
        enum engine_dialect dialect =
            engine_draft_is_marked(collection) ? ENGINE_DIALECT_AUTO : ENGINE_DIALECT_FEEL;
        node->loop.collection =
            engine_draft_attribute(draft, loop, XML_CAMUNDA, "collection", dialect);
    }
    struct span variable = engine_xml_attribute(loop, XML_CAMUNDA, "elementVariable");
    if (variable.count > 0) {
        node->loop.element_variable = engine_draft_keep(draft, variable);
    }
}
