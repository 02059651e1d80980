/*
 * zeebe.c: the extension elements of Camunda 8 (Zeebe), namespace
 * http://camunda.org/schema/zeebe/1.0.
 */
#include "engine/read/activity.h"
#include "engine/read/extension.h"

static void read_task_definition(struct draft *draft, struct engine_node *node,
                                 struct xml_element *element)
{
    struct xml_element *definition = engine_extension(element, NULL, XML_ZEEBE, "taskDefinition");
    if (definition == NULL) {
        return;
    }
    engine_extension_type(draft, node, definition, XML_NONE, "type");
    node->retries =
        engine_draft_attribute(draft, definition, XML_NONE, "retries", ENGINE_DIALECT_CONDITION);
}

static void read_io_mapping(struct draft *draft, struct engine_node *node,
                            struct xml_element *element)
{
    struct xml_element *mapping = engine_extension(element, NULL, XML_ZEEBE, "ioMapping");
    if (mapping != NULL) {
        engine_extension_mappings(draft, mapping, XML_ZEEBE, "input", &node->inputs);
        engine_extension_mappings(draft, mapping, XML_ZEEBE, "output", &node->outputs);
    }
}

/* <list><item name value/></list> as static pairs: Zeebe hands them to the worker as they stand. */
static void read_pairs(struct draft *draft, struct engine_node *node, struct xml_element *element,
                       const char *list_name, const char *item_name, const char *key_name)
{
    struct xml_element *list = engine_extension(element, NULL, XML_ZEEBE, list_name);
    struct xml_element *item = NULL;
    while (list != NULL && (item = engine_xml_child(list, item, XML_ZEEBE, item_name)) != NULL) {
        engine_extension_header(draft, node, item, engine_xml_attribute(item, XML_NONE, key_name),
                                engine_xml_attribute(item, XML_NONE, "value"));
    }
}

static void read_called_element(struct draft *draft, struct engine_node *node,
                                struct xml_element *element)
{
    struct xml_element *called = engine_extension(element, NULL, XML_ZEEBE, "calledElement");
    if (called == NULL) {
        return;
    }
    const struct engine_expression *process =
        engine_draft_attribute(draft, called, XML_NONE, "processId", ENGINE_DIALECT_AUTO);
    node->called = process == NULL ? node->called : process;
    engine_activity_bind(draft, node, element, (struct draft_place){called, "versionTag"},
                         engine_xml_attribute(called, XML_NONE, "bindingType"), XML_NONE);
    node->propagate_in = engine_xml_bool(called, XML_NONE, "propagateAllParentVariables", true);
    node->propagate_out = engine_xml_bool(called, XML_NONE, "propagateAllChildVariables", true);
}

static void read_ad_hoc(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *ad_hoc = engine_extension(element, NULL, XML_ZEEBE, "adHoc");
    if (ad_hoc == NULL || node->kind != ENGINE_AD_HOC_SUB_PROCESS) {
        return;
    }
    node->active = engine_draft_attribute(draft, ad_hoc, XML_NONE, "activeElementsCollection",
                                          ENGINE_DIALECT_AUTO);
    node->gathered =
        engine_draft_keep(draft, engine_xml_attribute(ad_hoc, XML_NONE, "outputCollection"));
    node->gathered_value =
        engine_draft_attribute(draft, ad_hoc, XML_NONE, "outputElement", ENGINE_DIALECT_AUTO);
}

static void read_script(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *script = engine_extension(element, NULL, XML_ZEEBE, "script");
    if (script == NULL) {
        return;
    }
    node->script =
        engine_draft_attribute(draft, script, XML_NONE, "expression", ENGINE_DIALECT_AUTO);
    node->script_format = span_text("feel");
    node->result_variable =
        engine_draft_keep(draft, engine_xml_attribute(script, XML_NONE, "resultVariable"));
}

static void read_human_task(struct draft *draft, struct engine_node *node,
                            struct xml_element *element)
{
    struct engine_assignment *assignment = &node->assignment;
    struct xml_element *part = engine_extension(element, NULL, XML_ZEEBE, "assignmentDefinition");
    if (part != NULL) {
        assignment->assignee =
            engine_draft_attribute(draft, part, XML_NONE, "assignee", ENGINE_DIALECT_AUTO);
        assignment->candidate_groups =
            engine_draft_attribute(draft, part, XML_NONE, "candidateGroups", ENGINE_DIALECT_AUTO);
        assignment->candidate_users =
            engine_draft_attribute(draft, part, XML_NONE, "candidateUsers", ENGINE_DIALECT_AUTO);
    }
    part = engine_extension(element, NULL, XML_ZEEBE, "taskSchedule");
    if (part != NULL) {
        assignment->due_date =
            engine_draft_attribute(draft, part, XML_NONE, "dueDate", ENGINE_DIALECT_AUTO);
    }
    part = engine_extension(element, NULL, XML_ZEEBE, "formDefinition");
    static const char *const keys[] = {"formKey", "formId", "externalReference"};
    for (size_t i = 0; part != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        struct span key = engine_xml_attribute(part, XML_NONE, keys[i]);
        if (key.count > 0) {
            assignment->form_key = engine_draft_keep(draft, key);
        }
    }
    /* A marker without content: the task is the engine's own human task, as all of ours are. */
    (void)engine_extension(element, NULL, XML_ZEEBE, "userTask");
}

void engine_zeebe_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    read_task_definition(draft, node, element);
    read_io_mapping(draft, node, element);
    read_pairs(draft, node, element, "taskHeaders", "header", "key");
    read_pairs(draft, node, element, "properties", "property", "name");
    read_called_element(draft, node, element);
    read_ad_hoc(draft, node, element);
    read_script(draft, node, element);
    read_human_task(draft, node, element);
}

void engine_zeebe_read_loop(struct draft *draft, struct engine_node *node, struct xml_element *loop)
{
    struct xml_element *zeebe = engine_extension(loop, NULL, XML_ZEEBE, "loopCharacteristics");
    if (zeebe == NULL) {
        return;
    }
    node->loop.collection =
        engine_draft_attribute(draft, zeebe, XML_NONE, "inputCollection", ENGINE_DIALECT_AUTO);
    node->loop.element_variable =
        engine_draft_keep(draft, engine_xml_attribute(zeebe, XML_NONE, "inputElement"));
    node->loop.output_collection =
        engine_draft_keep(draft, engine_xml_attribute(zeebe, XML_NONE, "outputCollection"));
    node->loop.output_element =
        engine_draft_attribute(draft, zeebe, XML_NONE, "outputElement", ENGINE_DIALECT_AUTO);
}
