/*
 * activity.c: one reader an element family, in a table by kind.
 */
#include "engine/read/activity.h"

#include "engine/read/event.h"
#include "engine/read/extension.h"
#include "engine/read/loop.h"
#include "proto/base/limits.h"

bool engine_activity_is_task(enum engine_kind kind)
{
    return kind >= ENGINE_TASK && kind <= ENGINE_BUSINESS_RULE_TASK;
}

bool engine_activity_is_scope(enum engine_kind kind)
{
    return kind == ENGINE_SUB_PROCESS || kind == ENGINE_TRANSACTION ||
           kind == ENGINE_AD_HOC_SUB_PROCESS;
}

bool engine_activity_is(enum engine_kind kind)
{
    return engine_activity_is_task(kind) || engine_activity_is_scope(kind) ||
           kind == ENGINE_CALL_ACTIVITY;
}

static bool contains_ignoring_case(struct span text, const char *word)
{
    size_t count = strlen(word);
    for (size_t i = 0; i + count <= text.count; i++) {
        if (strncasecmp((const char *)text.bytes + i, word, count) == 0) {
            return true;
        }
    }
    return false;
}

bool engine_activity_script_dialect(struct span format, struct span text,
                                    enum engine_dialect *dialect)
{
    bool is_marked = engine_draft_is_marked(text);
    if (contains_ignoring_case(format, "feel")) {
        *dialect = is_marked ? ENGINE_DIALECT_AUTO : ENGINE_DIALECT_FEEL;
        return true;
    }
    if (contains_ignoring_case(format, "juel")) {
        *dialect = ENGINE_DIALECT_JUEL;
        return true;
    }
    *dialect = ENGINE_DIALECT_AUTO;
    return format.count == 0 && is_marked;
}

/* ---- tasks ---- */

/* BPMN 2.0.2 §10.3.4.1: a human performer, or several potential owners, by an expression. */
static const struct engine_expression *read_role(struct draft *draft, struct xml_element *element,
                                                 const char *role)
{
    struct xml_element *child = engine_xml_child(element, NULL, XML_BPMN, role);
    if (child != NULL) {
        child = engine_xml_child(child, NULL, XML_BPMN, "resourceAssignmentExpression");
    }
    return child == NULL
               ? NULL
               : engine_draft_child(draft, child, "formalExpression", ENGINE_DIALECT_AUTO);
}

static void read_user_task(struct draft *draft, struct engine_node *node,
                           struct xml_element *element)
{
    node->assignment.assignee = read_role(draft, element, "humanPerformer");
    node->assignment.candidate_groups = read_role(draft, element, "potentialOwner");
}

static void read_message_task(struct draft *draft, struct engine_node *node,
                              struct xml_element *element)
{
    struct span reference = engine_xml_attribute(element, XML_NONE, "messageRef");
    struct engine_event_definition message = {.activity = ENGINE_NONE};
    if (reference.count > 0) {
        engine_event_read_message(draft, element, reference, &message);
    }
    node->message_name = message.name;
    node->correlation_key = message.correlation_key;
    node->instantiate = engine_xml_bool(element, XML_NONE, "instantiate", false);
}

static void read_script_task(struct draft *draft, struct engine_node *node,
                             struct xml_element *element)
{
    bool is_global = span_is(element->name, "globalScriptTask");
    node->script_format = engine_draft_keep(
        draft,
        engine_xml_attribute(element, XML_NONE, is_global ? "scriptLanguage" : "scriptFormat"));
    struct xml_element *script = engine_xml_child(element, NULL, XML_BPMN, "script");
    enum engine_dialect dialect;
    if (script == NULL || script->text.count == 0) {
        return;
    }
    if (engine_activity_script_dialect(node->script_format, script->text, &dialect)) {
        node->script =
            engine_draft_compile(draft, (struct draft_place){script, NULL}, script->text, dialect);
        return;
    }
    /* Another language: a module may run it, so it gets the text. */
    engine_extension_header(draft, node, script, span_text("script"), span_trim(script->text));
    engine_extension_header(draft, node, script, span_text("scriptFormat"), node->script_format);
}

/* ---- sub-processes and calls ---- */

static void read_sub_process(struct draft *draft, struct engine_node *node,
                             struct xml_element *element)
{
    (void)draft;
    node->triggered_by_event = engine_xml_bool(element, XML_NONE, "triggeredByEvent", false);
}

static void read_ad_hoc(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    node->ordered = span_is(engine_xml_attribute(element, XML_NONE, "ordering"), "Sequential");
    node->lets_finish = !engine_xml_bool(element, XML_NONE, "cancelRemainingInstances", true);
    node->condition =
        engine_draft_child(draft, element, "completionCondition", ENGINE_DIALECT_CONDITION);
}

/* 0: it is no number, or too large. */
static uint32_t version_number(struct span text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.count; i++) {
        bool is_digit = text.bytes[i] >= '0' && text.bytes[i] <= '9';
        number = is_digit ? number * 10 + (uint64_t)(text.bytes[i] - '0') : UINT32_MAX;
        if (number >= UINT32_MAX) {
            return 0;
        }
    }
    return (uint32_t)number;
}

/* Camunda 7's calledElementBinding. */
static void read_binding(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct span binding = engine_xml_attribute(element, XML_CAMUNDA, "calledElementBinding");
    if (!span_is(binding, "version")) { /* nor is the number asked for: it is told as ignored */
        engine_activity_bind(draft, node, element,
                             (struct draft_place){element, "calledElementVersionTag"}, binding,
                             XML_CAMUNDA);
        return;
    }
    struct span version = engine_xml_attribute(element, XML_CAMUNDA, "calledElementVersion");
    if ((node->called_version = version_number(version)) == 0) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "the called version \"%.*s\" is no number", SPAN_ARG(version));
    }
}

void engine_activity_bind(struct draft *draft, struct engine_node *node,
                          struct xml_element *element, struct draft_place tag, struct span binding,
                          enum xml_namespace space)
{
    node->called_here = span_is(binding, "deployment");
    if (binding.count == 0 || span_is(binding, "latest") || node->called_here) {
        return;
    }
    if (!span_is(binding, "versionTag")) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "binding", element,
                             "nobody knows the binding \"%.*s\"", SPAN_ARG(binding));
        return;
    }
    node->called_tag =
        engine_draft_attribute(draft, tag.element, space, tag.attribute, ENGINE_DIALECT_AUTO);
    if (node->called_tag == NULL) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "binding", element,
                             "is bound to a version tag, but does not say which");
    }
}

static void read_call(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct span called = engine_xml_attribute(element, XML_NONE, "calledElement");
    const struct id *id = engine_ids_find(&draft->ids, called);
    /* A QName that names a process of this file is that process. */
    struct span process = id != NULL && id->kind == ID_PROCESS ? id->text : called;
    node->called = engine_draft_compile(draft, (struct draft_place){element, "calledElement"},
                                        process, ENGINE_DIALECT_AUTO);
    node->propagate_in = true;
    node->propagate_out = true;
    read_binding(draft, node, element);
}

/* ---- the whole ---- */

typedef void (*activity_fn)(struct draft *draft, struct engine_node *node,
                            struct xml_element *element);

static const activity_fn readers[ENGINE_KIND_COUNT] = {
    [ENGINE_SEND_TASK] = read_message_task,    [ENGINE_RECEIVE_TASK] = read_message_task,
    [ENGINE_USER_TASK] = read_user_task,       [ENGINE_SCRIPT_TASK] = read_script_task,
    [ENGINE_SUB_PROCESS] = read_sub_process,   [ENGINE_TRANSACTION] = read_sub_process,
    [ENGINE_AD_HOC_SUB_PROCESS] = read_ad_hoc, [ENGINE_CALL_ACTIVITY] = read_call,
};

/* BPMN 2.0.2 §10.3: an activity that wants or gives several tokens at once. 0: one. */
static uint32_t read_quantity(struct draft *draft, struct xml_element *element, const char *name)
{
    struct span text = engine_xml_attribute(element, XML_NONE, name);
    uint64_t quantity = 0;
    for (size_t i = 0; i < text.count; i++) {
        bool is_digit = text.bytes[i] >= '0' && text.bytes[i] <= '9';
        quantity =
            is_digit && quantity <= LIMIT_TOKENS ? quantity * 10 + text.bytes[i] - '0' : UINT64_MAX;
    }
    if (text.count > 0 && (quantity == 0 || quantity > LIMIT_TOKENS)) {
        engine_draft_problem(draft, ENGINE_ERROR, "quantity", element,
                             "%s must be a whole number from 1 to %u", name, LIMIT_TOKENS);
        return 0;
    }
    return quantity > 1 ? (uint32_t)quantity : 0;
}

void engine_activity_read(struct draft *draft, struct engine_node *node,
                          struct xml_element *element)
{
    if (engine_activity_is_task(node->kind)) {
        node->task_type = span_text(engine_kind_xml_name(node->kind));
    }
    node->for_compensation = engine_xml_bool(element, XML_NONE, "isForCompensation", false);
    node->start_quantity = read_quantity(draft, element, "startQuantity");
    node->completion_quantity = read_quantity(draft, element, "completionQuantity");
    if (readers[node->kind] != NULL) {
        readers[node->kind](draft, node, element);
    }
    engine_loop_read(draft, node, element);
}

static void check_call(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct span case_id = engine_xml_attribute(element, XML_CAMUNDA, "caseRef");
    if (node->called == NULL && case_id.count > 0) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "calls the case \"%.*s\" (CMMN), which is no process",
                             SPAN_ARG(case_id));
        return;
    }
    if (node->called == NULL) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "no-called-element", element,
                             "does not say which process it calls");
        return;
    }
    bool is_literal = engine_expression_is_literal(node->called);
    struct span called = is_literal ? engine_expression_literal(node->called)
                                    : engine_expression_source(node->called);
    const struct id *id = is_literal ? engine_ids_find(&draft->ids, called) : NULL;
    if (id != NULL && id->kind != ID_PROCESS) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "calls %.*s \"%.*s\" (line %u), which is no process",
                             SPAN_ARG(id->element->name), SPAN_ARG(id->text), id->element->line);
    }
    if (node->called_here && id == NULL) {
        engine_draft_problem(draft, ENGINE_WARNING, "binding", element,
                             "the newest version is called: a deployment is one file, and this one "
                             "does not hold \"%.*s\"",
                             SPAN_ARG(called));
        node->called_here = false;
    }
    node->propagate_all = node->propagate_in && node->propagate_out;
}

void engine_activity_finish(struct draft *draft, struct engine_node *node,
                            struct xml_element *element)
{
    if (node->kind == ENGINE_CALL_ACTIVITY) {
        check_call(draft, node, element);
    }
}
