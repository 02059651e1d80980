/*
 * bpmn_node.c: attributes, extension elements and children of flow nodes, in the order that the
 * BPMN schema wants: extension elements, incoming, outgoing, loop marker, then what its kind has.
 */
#include "engine/write/bpmn_node.h"

#include <stddef.h>

#include "engine/read/activity.h"
#include "engine/read/event.h"
#include "proto/base/assert.h"

#define FORMAL " xsi:type=\"tFormalExpression\""

/* ---- root elements ---- */

const struct root_element *engine_bpmn_root(struct bpmn_writing *bpmn, const char *name,
                                            struct span text, struct span key)
{
    struct root_element **at = &bpmn->roots;
    while (*at != NULL &&
           !((*at)->name == name && span_equal((*at)->text, text) && span_equal((*at)->key, key))) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        struct arena *arena = bpmn->writing->arena;
        *at = arena_alloc(arena, sizeof **at);
        if (*at != NULL) {
            **at = (struct root_element){
                .name = name,
                .text = text,
                .key = key,
                .id = engine_numbering_make(&bpmn->writing->numbering, name, arena)};
        }
    }
    return *at;
}

static const char message_name[] = "message";
static const char error_name[] = "error";
static const char escalation_name[] = "escalation";
static const char signal_name[] = "signal";

/* The root element of an event definition, or NULL where it refers to none. */
static const struct root_element *root_of(struct bpmn_writing *bpmn,
                                          const struct engine_event_definition *event)
{
    struct span key = engine_write_spell(bpmn->writing, event->correlation_key);
    if (event->kind == ENGINE_ON_MESSAGE && (event->name.count > 0 || key.count > 0)) {
        return engine_bpmn_root(bpmn, message_name, event->name, key);
    }
    if (event->kind == ENGINE_ON_SIGNAL && event->name.count > 0) {
        return engine_bpmn_root(bpmn, signal_name, event->name, SPAN_EMPTY);
    }
    if (event->kind == ENGINE_ON_ERROR && event->code.count > 0) {
        return engine_bpmn_root(bpmn, error_name, event->code, SPAN_EMPTY);
    }
    if (event->kind == ENGINE_ON_ESCALATION && event->code.count > 0) {
        return engine_bpmn_root(bpmn, escalation_name, event->code, SPAN_EMPTY);
    }
    return NULL;
}

void engine_bpmn_meet_roots(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->event_count; i++) {
        (void)root_of(bpmn, &node->events[i]);
    }
    for (uint32_t i = 0; i < node->loop.throw_count; i++) {
        (void)root_of(bpmn, &node->loop.throws[i].event);
    }
    if (node->message_name.count > 0) {
        (void)engine_bpmn_root(bpmn, message_name, node->message_name, SPAN_EMPTY);
    }
}

/* ---- attributes ---- */

static void flag(struct bpmn_writing *bpmn, const char *name, bool value, bool fallback)
{
    if (value != fallback) {
        engine_markup_word(&bpmn->markup, name, value ? "true" : "false");
    }
}

static void spelled(struct bpmn_writing *bpmn, const char *name,
                    const struct engine_expression *expression)
{
    engine_markup_attribute(&bpmn->markup, name, engine_write_spell(bpmn->writing, expression));
}

/* Where a number is usual, "3" looks better than "=3" and means the same. */
static void number(struct bpmn_writing *bpmn, const char *name,
                   const struct engine_expression *expression)
{
    engine_markup_attribute(&bpmn->markup, name,
                            engine_write_spell_condition(bpmn->writing, expression));
}

static void quantity(struct bpmn_writing *bpmn, const char *name, uint32_t value)
{
    if (value > 0) {
        engine_markup_attribute(&bpmn->markup, name,
                                arena_format(bpmn->writing->arena, "%u", value));
    }
}

static void write_task_attributes(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    const struct engine_assignment *assignment = &node->assignment;
    if (node->task_type_explicit) {
        engine_markup_attribute(&bpmn->markup, "strider:type", node->task_type);
    }
    number(bpmn, "strider:retries", node->retries);
    engine_markup_attribute(&bpmn->markup, "strider:resultVariable", node->result_variable);
    if (node->rule.decision != NULL) {
        spelled(bpmn, "strider:decision", node->rule.decision);
        number(bpmn, "strider:decisionVersion", node->rule.version);
        engine_markup_word(&bpmn->markup, "strider:decisionResult",
                           engine_rule_shape_name(node->rule.shape));
    }
    spelled(bpmn, "strider:correlationKey", node->correlation_key);
    spelled(bpmn, "strider:assignee", assignment->assignee);
    spelled(bpmn, "strider:candidateGroups", assignment->candidate_groups);
    spelled(bpmn, "strider:candidateUsers", assignment->candidate_users);
    spelled(bpmn, "strider:dueDate", assignment->due_date);
    engine_markup_attribute(&bpmn->markup, "strider:formKey", assignment->form_key);
    if (node->message_name.count > 0) {
        engine_markup_attribute(
            &bpmn->markup, "messageRef",
            engine_bpmn_root(bpmn, message_name, node->message_name, SPAN_EMPTY)->id);
    }
    if (node->kind == ENGINE_SCRIPT_TASK) {
        bool is_global = bpmn->writing->process->is_global_task;
        engine_markup_attribute(&bpmn->markup, is_global ? "scriptLanguage" : "scriptFormat",
                                node->script_format);
    } else if (node->script != NULL) {
        spelled(bpmn, "camunda:expression", node->script);
    }
}

static void write_event_attributes(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    flag(bpmn, "parallelMultiple", node->parallel_multiple, false);
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        const struct engine_node *host = &bpmn->writing->process->nodes[node->attached_to];
        engine_markup_attribute(&bpmn->markup, "attachedToRef", host->id);
        flag(bpmn, "cancelActivity", node->interrupting, true);
    } else if (node->kind == ENGINE_START_EVENT) {
        flag(bpmn, "isInterrupting", node->interrupting, true);
    }
}

static void write_attributes(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    struct markup *markup = &bpmn->markup;
    engine_markup_attribute(markup, "id", node->id);
    engine_markup_attribute(markup, "name", node->name);
    if (node->default_flow != ENGINE_NONE) {
        engine_markup_attribute(markup, "default",
                                bpmn->writing->process->flows[node->default_flow].id);
    }
    flag(bpmn, "isForCompensation", node->for_compensation, false);
    quantity(bpmn, "startQuantity", node->start_quantity);
    quantity(bpmn, "completionQuantity", node->completion_quantity);
    flag(bpmn, "triggeredByEvent", node->triggered_by_event, false);
    flag(bpmn, "instantiate", node->instantiate, false);
    write_task_attributes(bpmn, node);
    if (engine_event_is(node->kind)) {
        write_event_attributes(bpmn, node);
    }
    if (node->kind == ENGINE_EVENT_GATEWAY && !node->exclusive_type) {
        engine_markup_word(markup, "eventGatewayType", "Parallel");
    }
    if (node->kind == ENGINE_AD_HOC_SUB_PROCESS && node->ordered) {
        engine_markup_word(markup, "ordering", "Sequential");
    }
    if (node->kind == ENGINE_AD_HOC_SUB_PROCESS) {
        flag(bpmn, "cancelRemainingInstances", !node->lets_finish, true);
    }
    spelled(bpmn, "calledElement", node->called);
    if (node->called_version > 0) {
        engine_markup_word(markup, "camunda:calledElementBinding", "version");
        quantity(bpmn, "camunda:calledElementVersion", node->called_version);
    } else if (node->called_here) {
        engine_markup_word(markup, "camunda:calledElementBinding", "deployment");
    } else if (node->called_tag != NULL) {
        engine_markup_word(markup, "camunda:calledElementBinding", "versionTag");
        spelled(bpmn, "camunda:calledElementVersionTag", node->called_tag);
    }
}

/* ---- extension elements ---- */

static void write_pairs(struct bpmn_writing *bpmn, const struct engine_mappings *mappings,
                        const char *element, const char *name, const char *value)
{
    for (uint32_t i = 0; i < mappings->count; i++) {
        engine_markup_open(&bpmn->markup, element);
        engine_markup_attribute(&bpmn->markup, name, mappings->at[i].target);
        spelled(bpmn, value, mappings->at[i].source);
        engine_markup_close(&bpmn->markup, element);
    }
}

static void write_extensions(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    struct markup *markup = &bpmn->markup;
    bool says_propagation =
        node->kind == ENGINE_CALL_ACTIVITY && !(node->propagate_in && node->propagate_out);
    bool says_ad_hoc = node->active != NULL || node->gathered.count > 0;
    bool has_pairs = node->inputs.count + node->outputs.count + node->headers.count > 0;
    if (!has_pairs && !says_propagation && !says_ad_hoc) {
        return;
    }
    engine_markup_open(markup, "extensionElements");
    if (says_propagation) {
        engine_markup_open(markup, "zeebe:calledElement");
        flag(bpmn, "propagateAllParentVariables", node->propagate_in, true);
        flag(bpmn, "propagateAllChildVariables", node->propagate_out, true);
        engine_markup_close(markup, "zeebe:calledElement");
    }
    if (says_ad_hoc) {
        engine_markup_open(markup, "zeebe:adHoc");
        spelled(bpmn, "activeElementsCollection", node->active);
        engine_markup_attribute(markup, "outputCollection", node->gathered);
        spelled(bpmn, "outputElement", node->gathered_value);
        engine_markup_close(markup, "zeebe:adHoc");
    }
    write_pairs(bpmn, &node->inputs, "strider:input", "target", "source");
    write_pairs(bpmn, &node->outputs, "strider:output", "target", "source");
    write_pairs(bpmn, &node->headers, "strider:header", "key", "value");
    engine_markup_close(markup, "extensionElements");
}

/* ---- children ---- */

static void write_flow_lists(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    const struct engine_flow *flows = bpmn->writing->process->flows;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        engine_markup_leaf(&bpmn->markup, "incoming", "", flows[node->incoming.at[i]].id);
    }
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        engine_markup_leaf(&bpmn->markup, "outgoing", "", flows[node->outgoing.at[i]].id);
    }
}

static void expression_leaf(struct bpmn_writing *bpmn, const char *name,
                            const struct engine_expression *expression, bool is_condition)
{
    struct span text = is_condition ? engine_write_spell_condition(bpmn->writing, expression)
                                    : engine_write_spell(bpmn->writing, expression);
    engine_markup_leaf(&bpmn->markup, name, FORMAL, text);
}

static void write_standard_loop(struct bpmn_writing *bpmn, const struct engine_loop *loop)
{
    engine_markup_open(&bpmn->markup, "standardLoopCharacteristics");
    flag(bpmn, "testBefore", loop->test_before, false);
    number(bpmn, "loopMaximum", loop->maximum);
    expression_leaf(bpmn, "loopCondition", loop->condition, true);
    engine_markup_close(&bpmn->markup, "standardLoopCharacteristics");
}

static void write_event(struct bpmn_writing *bpmn, const struct engine_event_definition *event);

/* All that instances throw, whatever word the file had for it. */
static void write_throws(struct bpmn_writing *bpmn, const struct engine_loop *loop)
{
    for (uint32_t i = 0; i < loop->throw_count; i++) {
        engine_markup_open(&bpmn->markup, "complexBehaviorDefinition");
        if (loop->throws[i].condition == NULL) {
            engine_markup_leaf(&bpmn->markup, "condition", FORMAL, span_text("true"));
        } else {
            expression_leaf(bpmn, "condition", loop->throws[i].condition, true);
        }
        engine_markup_open(&bpmn->markup, "event");
        write_event(bpmn, &loop->throws[i].event);
        engine_markup_close(&bpmn->markup, "event");
        engine_markup_close(&bpmn->markup, "complexBehaviorDefinition");
    }
}

static void write_instances(struct bpmn_writing *bpmn, const struct engine_loop *loop)
{
    engine_markup_open(&bpmn->markup, "multiInstanceLoopCharacteristics");
    flag(bpmn, "isSequential", loop->kind == ENGINE_LOOP_SEQUENTIAL, false);
    if (loop->throw_count > 0) {
        engine_markup_word(&bpmn->markup, "behavior", "Complex");
    }
    spelled(bpmn, "strider:collection", loop->collection);
    engine_markup_attribute(&bpmn->markup, "strider:elementVariable", loop->element_variable);
    engine_markup_attribute(&bpmn->markup, "strider:outputCollection", loop->output_collection);
    spelled(bpmn, "strider:outputElement", loop->output_element);
    expression_leaf(bpmn, "loopCardinality", loop->cardinality, true);
    write_throws(bpmn, loop);
    expression_leaf(bpmn, "completionCondition", loop->condition, true);
    engine_markup_close(&bpmn->markup, "multiInstanceLoopCharacteristics");
}

static void write_loop(struct bpmn_writing *bpmn, const struct engine_loop *loop)
{
    switch (loop->kind) {
    case ENGINE_LOOP_NONE:
        break;
    case ENGINE_LOOP_STANDARD:
        write_standard_loop(bpmn, loop);
        break;
    case ENGINE_LOOP_PARALLEL:
    case ENGINE_LOOP_SEQUENTIAL:
        write_instances(bpmn, loop);
        break;
    }
}

/* A script whose format names its language stands there bare, as modelers write it. */
static void write_script(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    if (node->kind != ENGINE_SCRIPT_TASK || node->script == NULL) {
        return;
    }
    enum engine_dialect dialect;
    struct span source = engine_expression_source(node->script);
    bool is_told = engine_activity_script_dialect(node->script_format, source, &dialect) &&
                   dialect != ENGINE_DIALECT_AUTO;
    engine_markup_leaf(&bpmn->markup, "script", "",
                       is_told ? source : engine_write_spell(bpmn->writing, node->script));
}

static void write_timer(struct bpmn_writing *bpmn, const struct engine_event_definition *event)
{
    static const char *const names[] = {[ENGINE_TIMER_DATE] = "timeDate",
                                        [ENGINE_TIMER_DURATION] = "timeDuration",
                                        [ENGINE_TIMER_CYCLE] = "timeCycle"};
    if (event->timer == ENGINE_TIMER_NONE) {
        return;
    }
    if (event->timer_value == NULL) {
        engine_markup_open(&bpmn->markup, names[event->timer]);
        engine_markup_close(&bpmn->markup, names[event->timer]);
    } else {
        expression_leaf(bpmn, names[event->timer], event->timer_value, false);
    }
}

static void write_event(struct bpmn_writing *bpmn, const struct engine_event_definition *event)
{
    static const struct {
        const char *element;
        const char *reference;
    } rows[ENGINE_EVENT_KIND_COUNT] = {
        [ENGINE_ON_MESSAGE] = {"messageEventDefinition", "messageRef"},
        [ENGINE_ON_TIMER] = {"timerEventDefinition", NULL},
        [ENGINE_ON_SIGNAL] = {"signalEventDefinition", "signalRef"},
        [ENGINE_ON_ERROR] = {"errorEventDefinition", "errorRef"},
        [ENGINE_ON_ESCALATION] = {"escalationEventDefinition", "escalationRef"},
        [ENGINE_ON_COMPENSATION] = {"compensateEventDefinition", NULL},
        [ENGINE_ON_CONDITION] = {"conditionalEventDefinition", NULL},
        [ENGINE_ON_LINK] = {"linkEventDefinition", NULL},
        [ENGINE_ON_CANCEL] = {"cancelEventDefinition", NULL},
        [ENGINE_ON_TERMINATE] = {"terminateEventDefinition", NULL},
    };
    struct markup *markup = &bpmn->markup;
    const char *element = rows[event->kind].element;
    ASSERT(element != NULL);
    const struct root_element *root = root_of(bpmn, event);
    engine_markup_open(markup, element);
    if (root != NULL) {
        engine_markup_attribute(markup, rows[event->kind].reference, root->id);
    }
    if (event->kind == ENGINE_ON_LINK) {
        engine_markup_attribute(markup, "name", event->name);
    }
    if (event->activity != ENGINE_NONE) {
        engine_markup_attribute(markup, "activityRef",
                                bpmn->writing->process->nodes[event->activity].id);
    }
    if (event->kind == ENGINE_ON_ERROR) {
        engine_markup_attribute(markup, "camunda:errorCodeVariable", event->code_variable);
        engine_markup_attribute(markup, "camunda:errorMessageVariable", event->message_variable);
    }
    if (event->kind == ENGINE_ON_ESCALATION) {
        engine_markup_attribute(markup, "camunda:escalationCodeVariable", event->code_variable);
    }
    write_timer(bpmn, event);
    expression_leaf(bpmn, "condition", event->condition, true);
    engine_markup_close(markup, element);
}

/* ---- the whole ---- */

/* What the model can hold and BPMN cannot say. */
static void check_node(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    if (engine_activity_is_task(node->kind) && node->task_type.count == 0) {
        engine_write_refuse(bpmn->writing, node, "BPMN has no node without a type");
    }
}

static const char *tag_of(const struct bpmn_writing *bpmn, const struct engine_node *node)
{
    return bpmn->writing->process->is_global_task ? engine_kind_global_name(node->kind)
                                                  : engine_kind_xml_name(node->kind);
}

void engine_bpmn_begin_node(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    check_node(bpmn, node);
    engine_markup_open(&bpmn->markup, tag_of(bpmn, node));
    write_attributes(bpmn, node);
    write_extensions(bpmn, node);
    write_flow_lists(bpmn, node);
    write_loop(bpmn, &node->loop);
    for (uint32_t i = 0; i < node->event_count; i++) {
        write_event(bpmn, &node->events[i]);
    }
    write_script(bpmn, node);
}

void engine_bpmn_end_node(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    /* The schema wants an ad-hoc sub-process's condition behind its nodes. */
    expression_leaf(
        bpmn, node->kind == ENGINE_COMPLEX_GATEWAY ? "activationCondition" : "completionCondition",
        node->condition, true);
    engine_markup_close(&bpmn->markup, tag_of(bpmn, node));
}
