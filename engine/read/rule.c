/*
 * rule.c: which decision of a decision model a task stands for, as each vendor says it.
 *
 *   Zeebe      <zeebe:calledDecision decisionId resultVariable bindingType/>
 *   Camunda 7  camunda:decisionRef, decisionRefBinding, decisionRefVersion, mapDecisionResult
 *   Flowable   serviceTask flowable:type="dmn" with the field decisionTableReferenceKey
 *   strider    strider:decision, decisionVersion, decisionResult
 *
 * The names stay in the module's config too: where the decision is not deployed, a module takes it.
 */
#include "engine/read/extension.h"

static void read_shape(struct draft *draft, struct engine_node *node, struct xml_element *element,
                       struct span name, enum engine_rule_shape unsaid)
{
    node->rule.shape = unsaid;
    for (unsigned i = 0; i < ENGINE_RULE_SHAPE_COUNT; i++) {
        if (span_is(name, engine_rule_shape_name((enum engine_rule_shape)i))) {
            node->rule.shape = (enum engine_rule_shape)i;
            return;
        }
    }
    if (name.count > 0) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "a decision's result as \"%.*s\" is not known", SPAN_ARG(name));
    }
}

/* "latest" and nothing are the newest; what is deployed together has no number of its own here. */
static void read_binding(struct draft *draft, const struct engine_node *node,
                         struct xml_element *element, struct span binding)
{
    if (span_is(binding, "deployment")) {
        engine_draft_problem(draft, ENGINE_WARNING, "decision-binding", element,
                             "the newest version of the decision is taken: a deployment is one "
                             "file, and this one holds no decision");
    } else if (span_is(binding, "version") && node->rule.version == NULL) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "decision-binding", element,
                             "the decision is bound to a version, and none is named");
    } else if (binding.count > 0 && !span_is(binding, "latest") && !span_is(binding, "version")) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "a decision bound by \"%.*s\" is not looked up", SPAN_ARG(binding));
    }
}

static void read_zeebe(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *called = engine_extension(element, NULL, XML_ZEEBE, "calledDecision");
    if (called == NULL) {
        return;
    }
    struct span id = engine_xml_attribute(called, XML_NONE, "decisionId");
    engine_extension_header(draft, node, called, span_text("decisionId"), id);
    node->rule.decision =
        engine_draft_attribute(draft, called, XML_NONE, "decisionId", ENGINE_DIALECT_AUTO);
    node->rule.shape = ENGINE_RULE_VALUE;
    node->result_variable =
        engine_draft_keep(draft, engine_xml_attribute(called, XML_NONE, "resultVariable"));
    read_binding(draft, node, element, engine_xml_attribute(called, XML_NONE, "bindingType"));
}

static void read_camunda(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct span shape = engine_xml_attribute(element, XML_CAMUNDA, "mapDecisionResult");
    struct span binding = engine_xml_attribute(element, XML_CAMUNDA, "decisionRefBinding");
    if (!engine_xml_has_attribute(element, XML_CAMUNDA, "decisionRef")) {
        return;
    }
    node->rule.decision =
        engine_draft_attribute(draft, element, XML_CAMUNDA, "decisionRef", ENGINE_DIALECT_AUTO);
    if (span_is(binding, "version")) { /* beside another one the number says nothing */
        node->rule.version = engine_draft_attribute(draft, element, XML_CAMUNDA,
                                                    "decisionRefVersion", ENGINE_DIALECT_CONDITION);
    }
    read_shape(draft, node, element, shape, ENGINE_RULE_RESULT_LIST);
    read_binding(draft, node, element, binding);
}

/* Its outputs become variables of their own names. */
static void read_flowable(struct engine_node *node, struct xml_element *element)
{
    if (!span_is(engine_xml_attribute(element, XML_CAMUNDA, "type"), "dmn")) {
        return;
    }
    for (uint32_t i = 0; i < node->headers.count; i++) {
        if (span_is(node->headers.at[i].target, "decisionTableReferenceKey")) {
            node->rule.decision = node->headers.at[i].source;
            node->rule.shape = ENGINE_RULE_VARIABLES;
        }
    }
}

static void read_strider(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    if (!engine_xml_has_attribute(element, XML_STRIDER, "decision")) {
        return;
    }
    node->rule.decision =
        engine_draft_attribute(draft, element, XML_STRIDER, "decision", ENGINE_DIALECT_AUTO);
    node->rule.version = engine_draft_attribute(draft, element, XML_STRIDER, "decisionVersion",
                                                ENGINE_DIALECT_CONDITION);
    read_shape(draft, node, element, engine_xml_attribute(element, XML_STRIDER, "decisionResult"),
               ENGINE_RULE_VALUE);
}

void engine_rule_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    read_zeebe(draft, node, element);
    read_camunda(draft, node, element);
    read_flowable(node, element);
    read_strider(draft, node, element);
}
