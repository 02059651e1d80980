/*
 * strider.c: our own extensions, namespace urn:strider:bpmn:1. Attributes stand on the BPMN element
 * itself, lists in its <extensionElements>: <strider:input source target/>, <strider:output source
 * target/>, <strider:header key value/>.
 */
#include <stddef.h>

#include "engine/read/extension.h"

static const struct extension_attribute attributes[] = {
    {"retries", EXTENSION_NUMBER, offsetof(struct engine_node, retries)},
    {"resultVariable", EXTENSION_TEXT, offsetof(struct engine_node, result_variable)},
    {"correlationKey", EXTENSION_EXPRESSION, offsetof(struct engine_node, correlation_key)},
    {"assignee", EXTENSION_EXPRESSION, offsetof(struct engine_node, assignment.assignee)},
    {"candidateGroups", EXTENSION_EXPRESSION,
     offsetof(struct engine_node, assignment.candidate_groups)},
    {"candidateUsers", EXTENSION_EXPRESSION,
     offsetof(struct engine_node, assignment.candidate_users)},
    {"dueDate", EXTENSION_EXPRESSION, offsetof(struct engine_node, assignment.due_date)},
    {"formKey", EXTENSION_TEXT, offsetof(struct engine_node, assignment.form_key)},
};

static const struct extension_attribute loop_attributes[] = {
    {"collection", EXTENSION_EXPRESSION, offsetof(struct engine_node, loop.collection)},
    {"elementVariable", EXTENSION_TEXT, offsetof(struct engine_node, loop.element_variable)},
    {"outputCollection", EXTENSION_TEXT, offsetof(struct engine_node, loop.output_collection)},
    {"outputElement", EXTENSION_EXPRESSION, offsetof(struct engine_node, loop.output_element)},
};

void engine_strider_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    engine_extension_attributes(draft, node, element, XML_STRIDER, attributes,
                                sizeof attributes / sizeof attributes[0]);
    engine_extension_type(draft, node, element, XML_STRIDER, "type");
    struct xml_element *list = engine_xml_child(element, NULL, XML_BPMN, "extensionElements");
    if (list == NULL) {
        return;
    }
    engine_extension_mappings(draft, list, XML_STRIDER, "input", &node->inputs);
    engine_extension_mappings(draft, list, XML_STRIDER, "output", &node->outputs);
    struct xml_element *header = NULL;
    while ((header = engine_extension(element, header, XML_STRIDER, "header")) != NULL) {
        struct span key = engine_xml_attribute(header, XML_NONE, "key");
        const struct engine_expression *value =
            engine_draft_value(draft, (struct draft_place){header, "value"},
                               engine_xml_attribute(header, XML_NONE, "value"));
        engine_draft_map(draft, &node->headers, value, key, header->line);
    }
}

void engine_strider_read_loop(struct draft *draft, struct engine_node *node,
                              struct xml_element *loop)
{
    engine_extension_attributes(draft, node, loop, XML_STRIDER, loop_attributes,
                                sizeof loop_attributes / sizeof loop_attributes[0]);
}
