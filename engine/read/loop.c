/*
 * loop.c: see loop.h.
 */
#include "engine/read/loop.h"

#include "engine/read/event.h"
#include "engine/read/extension.h"

/* ---- what instances throw when they complete ---- */

/* `condition` NULL: always. */
static void add_throw(struct draft *draft, struct engine_node *node, struct xml_element *loop,
                      struct xml_element *definition, const struct engine_expression *condition)
{
    uint32_t count = node->loop.throw_count;
    struct engine_loop_throw *throws = arena_alloc(draft->arena, (count + 1) * sizeof *throws);
    if (throws == NULL) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        throws[i] = node->loop.throws[i];
    }
    throws[count].condition = condition;
    engine_event_read_one(draft, node, loop, definition, &throws[count].event);
    enum engine_event_kind kind = throws[count].event.kind;
    if (kind != ENGINE_ON_MESSAGE && kind != ENGINE_ON_SIGNAL && kind != ENGINE_ON_ESCALATION &&
        kind != ENGINE_ON_ERROR) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", loop,
                             "a %s event thrown when an instance completes is not executed",
                             engine_event_kind_name(kind));
        return;
    }
    node->loop.throws = throws;
    node->loop.throw_count++;
}

/* behavior None and One: an attribute names an event definition at the root of the file. */
static void read_referred(struct draft *draft, struct engine_node *node, struct xml_element *loop,
                          const char *attribute, const char *condition)
{
    struct span reference = engine_xml_attribute(loop, XML_NONE, attribute);
    struct xml_element *definition =
        reference.count == 0 ? NULL : engine_event_find(draft, loop, reference);
    if (definition != NULL) {
        add_throw(draft, node, loop, definition,
                  engine_draft_compile(draft, (struct draft_place){loop, NULL},
                                       span_text(condition), ENGINE_DIALECT_FEEL));
    }
}

/* behavior Complex: events, each with its condition. */
static void read_complex(struct draft *draft, struct engine_node *node, struct xml_element *loop)
{
    struct xml_element *rule = NULL;
    while ((rule = engine_xml_child(loop, rule, XML_BPMN, "complexBehaviorDefinition")) != NULL) {
        const struct engine_expression *condition =
            engine_draft_child(draft, rule, "condition", ENGINE_DIALECT_CONDITION);
        struct xml_element *event = engine_xml_child(rule, NULL, XML_BPMN, "event");
        for (struct xml_element *child = event == NULL ? NULL : event->first; child != NULL;
             child = child->next) {
            struct xml_element *definition = engine_event_of(draft, loop, child);
            if (definition != NULL) {
                add_throw(draft, node, loop, definition, condition);
            }
        }
    }
}

/* BPMN 2.0.2 table 10.29; All, the default, throws nothing. */
static void read_behavior(struct draft *draft, struct engine_node *node, struct xml_element *loop)
{
    struct span behavior = engine_xml_attribute(loop, XML_NONE, "behavior");
    if (span_is(behavior, "None")) {
        read_referred(draft, node, loop, "noneBehaviorEventRef", "");
    } else if (span_is(behavior, "One")) {
        read_referred(draft, node, loop, "oneBehaviorEventRef", "numberOfCompletedInstances = 1");
    } else if (span_is(behavior, "Complex")) {
        read_complex(draft, node, loop);
    }
}

/* ---- markers ---- */

static void read_standard_loop(struct draft *draft, struct engine_node *node,
                               struct xml_element *loop)
{
    node->loop.kind = ENGINE_LOOP_STANDARD;
    node->loop.test_before = engine_xml_bool(loop, XML_NONE, "testBefore", false);
    node->loop.maximum =
        engine_draft_attribute(draft, loop, XML_NONE, "loopMaximum", ENGINE_DIALECT_CONDITION);
    node->loop.condition =
        engine_draft_child(draft, loop, "loopCondition", ENGINE_DIALECT_CONDITION);
}

static void read_multi_instance(struct draft *draft, struct engine_node *node,
                                struct xml_element *loop)
{
    bool is_sequential = engine_xml_bool(loop, XML_NONE, "isSequential", false);
    node->loop.kind = is_sequential ? ENGINE_LOOP_SEQUENTIAL : ENGINE_LOOP_PARALLEL;
    node->loop.cardinality =
        engine_draft_child(draft, loop, "loopCardinality", ENGINE_DIALECT_CONDITION);
    node->loop.condition =
        engine_draft_child(draft, loop, "completionCondition", ENGINE_DIALECT_CONDITION);
    struct xml_element *item = engine_xml_child(loop, NULL, XML_BPMN, "inputDataItem");
    if (item != NULL) {
        struct span name = engine_xml_attribute(item, XML_NONE, "name");
        node->loop.element_variable =
            engine_draft_keep(draft, name.count > 0 ? name : engine_xml_id(item));
    }
    /* What it refers to is a data object or input: its name is the variable's. */
    node->loop.collection =
        engine_draft_child(draft, loop, "loopDataInputRef", ENGINE_DIALECT_CONDITION);
    engine_zeebe_read_loop(draft, node, loop);
    engine_camunda_read_loop(draft, node, loop);
    engine_strider_read_loop(draft, node, loop);
    read_behavior(draft, node, loop);
}

void engine_loop_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct xml_element *loop =
        engine_xml_child(element, NULL, XML_BPMN, "standardLoopCharacteristics");
    if (loop != NULL) {
        read_standard_loop(draft, node, loop);
    }
    loop = engine_xml_child(element, NULL, XML_BPMN, "multiInstanceLoopCharacteristics");
    if (loop != NULL) {
        read_multi_instance(draft, node, loop);
    }
}
