/*
 * extension.c: what the vendors' readers share, and the list of what none of them took.
 */
#include "engine/read/extension.h"

#include "proto/base/assert.h"

struct xml_element *engine_extension(struct xml_element *element, struct xml_element *after,
                                     enum xml_namespace space, const char *name)
{
    struct xml_element *list = engine_xml_child(element, NULL, XML_BPMN, "extensionElements");
    if (list == NULL) {
        return NULL;
    }
    struct xml_element *found = engine_xml_child(list, after, space, name);
    if (found != NULL) {
        found->used = true;
    }
    return found;
}

void engine_extension_attributes(struct draft *draft, struct engine_node *node,
                                 struct xml_element *element, enum xml_namespace space,
                                 const struct extension_attribute *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct span text = engine_xml_attribute(element, space, rows[i].name);
        void *field = (uint8_t *)node + rows[i].offset;
        if (text.count == 0) {
            continue;
        }
        if (rows[i].kind == EXTENSION_TEXT) {
            *(struct span *)field = engine_draft_keep(draft, text);
        } else {
            enum engine_dialect dialect =
                rows[i].kind == EXTENSION_NUMBER ? ENGINE_DIALECT_CONDITION : ENGINE_DIALECT_AUTO;
            *(const struct engine_expression **)field = engine_draft_compile(
                draft, (struct draft_place){element, rows[i].name}, text, dialect);
        }
    }
}

void engine_extension_mappings(struct draft *draft, struct xml_element *list,
                               enum xml_namespace space, const char *name,
                               struct engine_mappings *mappings)
{
    struct xml_element *item = NULL;
    while ((item = engine_xml_child(list, item, space, name)) != NULL) {
        item->used = true;
        struct span target = engine_xml_attribute(item, XML_NONE, "target");
        struct span source = engine_xml_attribute(item, XML_NONE, "source");
        if (target.count == 0) {
            engine_draft_problem(draft, ENGINE_ERROR, "mapping", item, "line %u has no target",
                                 item->line);
            continue;
        }
        const struct engine_expression *value =
            engine_draft_value(draft, (struct draft_place){item, "source"}, source);
        engine_draft_map(draft, mappings, value, target, item->line);
    }
}

void engine_extension_type(struct draft *draft, struct engine_node *node,
                           struct xml_element *element, enum xml_namespace space,
                           const char *attribute)
{
    struct span type = engine_xml_attribute(element, space, attribute);
    if (type.count == 0) {
        return;
    }
    node->task_type = engine_draft_keep(draft, type);
    node->task_type_explicit = true;
    node->task_type_value =
        engine_draft_is_marked(type)
            ? engine_draft_attribute(draft, element, space, attribute, ENGINE_DIALECT_AUTO)
            : NULL;
}

void engine_extension_header(struct draft *draft, struct engine_node *node,
                             struct xml_element *element, struct span key, struct span value)
{
    if (key.count == 0) {
        return;
    }
    const struct engine_expression *literal =
        engine_draft_literal(draft, (struct draft_place){element, NULL}, value);
    engine_draft_map(draft, &node->headers, literal, key, element->line);
}

/* ---- what is left over ---- */

/* Of all kinds; beyond them there is room for those that would be missed. */
enum { KINDS_MAX = 64, MISSED_MAX = 64 };

struct leftover {
    struct span uri;
    struct span name;
    struct xml_element *holder; /* of the first one: the BPMN element that it stands at */
    uint32_t line;
    uint32_t column;
    uint32_t count;
};

struct leftovers {
    struct leftover at[KINDS_MAX + MISSED_MAX];
    uint32_t count;
    uint32_t not_listed;
};

static const struct extension_missed missed[] = {
    {"executionListener", "code that runs as an element begins or ends, or a flow is taken"},
    {"executionListeners", "Zeebe's list of them: jobs before and after an element's own work"},
    {"taskListener", "code that runs as a human task is made, assigned, completed, …"},
    {"taskListeners", "Zeebe's list of them: jobs at each turn of a human task"},
    {"eventListener", "code that hears a process's events (Activiti, Flowable)"},
    {"variableListener", "code that runs as a variable changes"},
    {"errorEventDefinition", "an external task's failure taken as a BPMN error by an expression"},
    {"mapException", "a Java exception taken as a BPMN error"},
    {"skipExpression", "leaves a task out"},
    {"triggerable", "a service task that waits for a signal of its own"},
    {"variableMappingClass", "Java code that maps the variables of a call"},
    {"variableMappingDelegateExpression", "a Java bean that maps the variables of a call"},
};

const struct extension_missed *engine_extension_missed(size_t index)
{
    return index < sizeof missed / sizeof missed[0] ? &missed[index] : NULL;
}

static bool is_missed(struct span name)
{
    for (size_t i = 0; i < sizeof missed / sizeof missed[0]; i++) {
        if (span_is(name, missed[i].name)) {
            return true;
        }
    }
    return false;
}

static void note(struct leftovers *leftovers, struct leftover found)
{
    for (uint32_t i = 0; i < leftovers->count; i++) {
        struct leftover *seen = &leftovers->at[i];
        if (span_equal(seen->name, found.name) && span_equal(seen->uri, found.uri)) {
            seen->count++;
            return;
        }
    }
    uint32_t room = is_missed(found.name) ? KINDS_MAX + MISSED_MAX : KINDS_MAX;
    if (leftovers->count >= room) {
        leftovers->not_listed++;
        return;
    }
    found.count = 1;
    leftovers->at[leftovers->count++] = found;
}

/* What would be missed names an element that has it. */
static void report_missed(struct draft *draft, const struct leftover *kind, const char *what)
{
    engine_draft_problem(draft, ENGINE_WARNING, "ignored-extension", kind->holder,
                         "%s \"%.*s\" of %.*s in line %u has no effect here (%u in all)", what,
                         SPAN_ARG(kind->name), SPAN_ARG(kind->uri), kind->line, kind->count);
}

static void report(struct draft *draft, const struct leftovers *leftovers, const char *what)
{
    for (uint32_t i = 0; i < leftovers->count; i++) {
        const struct leftover *kind = &leftovers->at[i];
        if (is_missed(kind->name)) {
            report_missed(draft, kind, what);
            continue;
        }
        engine_report_add(draft->report, ENGINE_INFO, "ignored-extension", SPAN_EMPTY, kind->line,
                          kind->column, "%s \"%.*s\" of %.*s has no effect here (%u in all)", what,
                          SPAN_ARG(kind->name), SPAN_ARG(kind->uri), kind->count);
    }
    if (leftovers->not_listed > 0) {
        engine_report_add(draft->report, ENGINE_INFO, "ignored-extension", SPAN_EMPTY, 0, 0,
                          "and %u more of other kinds", leftovers->not_listed);
    }
}

static struct span vendor_of(enum xml_namespace space)
{
    static const char *const vendors[] = {[XML_ZEEBE] = "Zeebe",
                                          [XML_CAMUNDA] = "Camunda, Activiti or Flowable",
                                          [XML_STRIDER] = "Strider"};
    ASSERT(space == XML_ZEEBE || space == XML_CAMUNDA || space == XML_STRIDER);
    return span_text(vendors[space]);
}

static void note_attributes(struct leftovers *leftovers, struct xml_element *element)
{
    for (const struct xml_attribute *at = element->attributes; at != NULL; at = at->next) {
        bool is_vendor =
            at->space == XML_ZEEBE || at->space == XML_CAMUNDA || at->space == XML_STRIDER;
        if (is_vendor && !at->used) {
            note(leftovers, (struct leftover){.uri = vendor_of(at->space),
                                              .name = at->name,
                                              .holder = element,
                                              .line = element->line,
                                              .column = element->column});
        }
    }
}

static void note_elements(struct leftovers *leftovers, const struct xml_element *list)
{
    for (const struct xml_element *child = list->first; child != NULL; child = child->next) {
        if (!child->used) {
            note(leftovers, (struct leftover){.uri = child->uri,
                                              .name = child->name,
                                              .holder = list->parent,
                                              .line = child->line,
                                              .column = child->column});
        }
    }
}

void engine_extension_list_unused(struct draft *draft)
{
    struct leftovers elements = {0};
    struct leftovers attributes = {0};
    struct xml_element *element = draft->root;
    while (element != NULL) {
        note_attributes(&attributes, element);
        if (engine_xml_is(element, XML_BPMN, "extensionElements")) {
            note_elements(&elements, element);
            element = engine_xml_walk_over(draft->root, element);
        } else {
            element = engine_xml_walk(draft->root, element);
        }
    }
    report(draft, &elements, "extension element");
    report(draft, &attributes, "attribute");
}
