/*
 * graph_config.c: what `config` of a node says, by a table of members. Of a task, what the table
 * does not name goes to its module; elsewhere it is listed as ignored.
 */
#include "engine/read/activity.h"
#include "engine/read/draft.h"
#include "engine/read/event.h"
#include "engine/read/graph_node.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* Who may have a member. */
enum {
    TASK = 1 << 0,
    USER = 1 << 1,
    SCRIPT = 1 << 2,
    MESSAGE = 1 << 3, /* send and receive tasks */
    SCOPE = 1 << 4,
    CALL = 1 << 5,
    EVENT = 1 << 6,
    START = 1 << 7,
    BOUNDARY = 1 << 8,
    AD_HOC = 1 << 9,
    COMPLEX = 1 << 10,
    EVENT_GATEWAY = 1 << 11,
    RECEIVE = 1 << 12,
    GATEWAY = 1 << 13,
    ACTIVITY = TASK | SCOPE | CALL,
    ANY = ACTIVITY | EVENT | GATEWAY,
};

static unsigned groups_of(enum engine_kind kind)
{
    unsigned groups = 0;
    groups |= engine_activity_is_task(kind) ? TASK : 0;
    groups |= engine_activity_is_scope(kind) ? SCOPE : 0;
    groups |= engine_event_is(kind) ? EVENT : 0;
    groups |= kind >= ENGINE_EXCLUSIVE_GATEWAY && kind <= ENGINE_EVENT_GATEWAY ? GATEWAY : 0;
    groups |= kind == ENGINE_USER_TASK ? USER : 0;
    groups |= kind == ENGINE_SCRIPT_TASK ? SCRIPT : 0;
    groups |= kind == ENGINE_SEND_TASK || kind == ENGINE_RECEIVE_TASK ? MESSAGE : 0;
    groups |= kind == ENGINE_RECEIVE_TASK ? RECEIVE : 0;
    groups |= kind == ENGINE_CALL_ACTIVITY ? CALL : 0;
    groups |= kind == ENGINE_START_EVENT ? START : 0;
    groups |= kind == ENGINE_BOUNDARY_EVENT ? BOUNDARY : 0;
    groups |= kind == ENGINE_AD_HOC_SUB_PROCESS ? AD_HOC : 0;
    groups |= kind == ENGINE_COMPLEX_GATEWAY ? COMPLEX : 0;
    groups |= kind == ENGINE_EVENT_GATEWAY ? EVENT_GATEWAY : 0;
    return groups;
}

/* How a member's value becomes an attribute or the text of a child element. */
enum form { TEXT, EXPRESSION, FLAG, COUNT };

static bool form_value(struct graph_node *node, const char *member, struct span value,
                       enum form form, struct span *out)
{
    switch (form) {
    case TEXT:
        *out = engine_graph_text(node->graph, node->config, node->id, member);
        return out->count > 0;
    case EXPRESSION:
        return engine_graph_spell(node, value, out);
    case FLAG:
        if (!wire_is(value, WIRE_BOOL)) {
            engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                                 "config.%s is true or false", member);
            return false;
        }
        *out = span_text(wire_head(value).as.boolean ? "true" : "false");
        return true;
    case COUNT:
        if (!wire_is(value, WIRE_INT)) {
            engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                                 "config.%s is a whole number", member);
            return false;
        }
        *out = arena_format(node->graph->arena, "%lld", (long long)wire_head(value).as.integer);
        return true;
    }
    return false;
}

/* ---- members that are attributes of the element ---- */

static const struct {
    const char *member;
    unsigned groups;
    enum xml_namespace space;
    const char *attribute;
    enum form form;
} attributes[] = {
    {"task_type", TASK | GATEWAY | EVENT, XML_STRIDER, "type", TEXT},
    {"retries", TASK, XML_STRIDER, "retries", EXPRESSION},
    {"result_variable", TASK, XML_STRIDER, "resultVariable", TEXT},
    {"decision", TASK, XML_STRIDER, "decision", EXPRESSION},
    {"decision_version", TASK, XML_STRIDER, "decisionVersion", EXPRESSION},
    {"decision_result", TASK, XML_STRIDER, "decisionResult", TEXT},
    {"correlation_key", MESSAGE, XML_STRIDER, "correlationKey", EXPRESSION},
    {"assignee", USER, XML_STRIDER, "assignee", EXPRESSION},
    {"candidate_groups", USER, XML_STRIDER, "candidateGroups", EXPRESSION},
    {"candidate_users", USER, XML_STRIDER, "candidateUsers", EXPRESSION},
    {"due_date", USER, XML_STRIDER, "dueDate", EXPRESSION},
    {"form_key", USER | START, XML_STRIDER, "formKey", TEXT},
    {"script_format", SCRIPT, XML_NONE, "scriptFormat", TEXT},
    {"for_compensation", ACTIVITY, XML_NONE, "isForCompensation", FLAG},
    {"start_quantity", ACTIVITY, XML_NONE, "startQuantity", COUNT},
    {"completion_quantity", ACTIVITY, XML_NONE, "completionQuantity", COUNT},
    {"triggered_by_event", SCOPE, XML_NONE, "triggeredByEvent", FLAG},
    {"instantiate", RECEIVE | EVENT_GATEWAY, XML_NONE, "instantiate", FLAG},
    {"attached_to", BOUNDARY, XML_NONE, "attachedToRef", TEXT},
    {"handler", BOUNDARY, XML_STRIDER, "handler", TEXT},
    {"cancel_remaining", AD_HOC, XML_NONE, "cancelRemainingInstances", FLAG},
    {"parallel_multiple", EVENT, XML_NONE, "parallelMultiple", FLAG},
    {"process", CALL, XML_NONE, "calledElement", EXPRESSION},
};

static bool compose_attribute(struct graph_node *node, unsigned groups, struct span key,
                              struct span value)
{
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        struct span text;
        if ((attributes[i].groups & groups) == 0 || !span_is(key, attributes[i].member)) {
            continue;
        }
        if (form_value(node, attributes[i].member, value, attributes[i].form, &text)) {
            engine_compose_set(node->graph->arena, node->element, attributes[i].space,
                               attributes[i].attribute, text);
        }
        return true;
    }
    return false;
}

/* ---- members with a composer of their own ---- */

static void set(struct graph_node *node, const char *attribute, const char *value)
{
    engine_compose_set(node->graph->arena, node->element, XML_NONE, attribute, span_text(value));
}

static void add_text_child(struct graph_node *node, struct xml_element *parent, const char *name,
                           struct span text)
{
    engine_compose_text(engine_compose(node->graph->arena, parent, XML_BPMN, name, node->place),
                        text);
}

static void add_pair(struct graph_node *node, const char *list, const char *name_attribute,
                     struct span name, const char *value_attribute, struct span value)
{
    struct xml_element *pair = engine_compose_extension(node->graph->arena, node->element, list);
    engine_compose_set(node->graph->arena, pair, XML_NONE, name_attribute, name);
    engine_compose_set(node->graph->arena, pair, XML_NONE, value_attribute, value);
}

static void add_header(struct graph_node *node, struct span name, struct span text)
{
    add_pair(node, "header", "key", name, "value", text);
}

static void add_input(struct graph_node *node, struct span name, struct span text)
{
    add_pair(node, "input", "target", name, "source", text);
}

static void add_output(struct graph_node *node, struct span name, struct span text)
{
    add_pair(node, "output", "target", name, "source", text);
}

/* {"name": value, …}, or a list of {"target", "source"} where the order counts or a name comes
 * twice. */
static void compose_pairs(struct graph_node *node, const char *member, struct span value,
                          graph_pair_fn add)
{
    struct wire_map_walk walk = wire_map_begin(value);
    struct span key;
    struct span item;
    while (wire_map_next(&walk, &key, &item)) {
        engine_graph_spell_pair(node, key, item, add);
    }
    walk = wire_array_begin(value);
    while (wire_array_next(&walk, &item)) {
        struct span text;
        struct span target = engine_graph_text(node->graph, item, node->id, "target");
        if (engine_graph_spell(node, wire_find_text(item, "source"), &text)) {
            add(node, target, text);
        }
    }
    if (!wire_is(value, WIRE_MAP) && !wire_is(value, WIRE_ARRAY)) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                             "config.%s is an object of names and values", member);
    }
}

static void compose_inputs(struct graph_node *node, struct span value)
{
    compose_pairs(node, "inputs", value, add_input);
}

static void compose_outputs(struct graph_node *node, struct span value)
{
    compose_pairs(node, "outputs", value, add_output);
}

static void compose_script(struct graph_node *node, struct span value)
{
    bool has_format = wire_find_text(node->config, "script_format").count > 0;
    struct span text = wire_is(value, WIRE_STRING) ? wire_head(value).as.text : SPAN_EMPTY;
    add_text_child(node, node->element, "script", text);
    if (!has_format && !engine_draft_is_marked(text)) {
        set(node, "scriptFormat", "feel");
    }
}

static void compose_message(struct graph_node *node, struct span value)
{
    (void)value;
    struct span name = engine_graph_text(node->graph, node->config, node->id, "message");
    engine_compose_set(node->graph->arena, node->element, XML_NONE, "messageRef",
                       engine_graph_compose_message(node->graph, node->place, name, SPAN_EMPTY));
}

static void compose_condition(struct graph_node *node, struct span value)
{
    struct span text;
    const char *child =
        node->kind == ENGINE_COMPLEX_GATEWAY ? "activationCondition" : "completionCondition";
    if (engine_graph_spell(node, value, &text)) {
        add_text_child(node, node->element, child, text);
    }
}

static void compose_ordering(struct graph_node *node, struct span value)
{
    bool is_sequential = span_is(wire_string_or(value, ""), "sequential");
    set(node, "ordering", is_sequential ? "Sequential" : "Parallel");
}

static void compose_gateway_type(struct graph_node *node, struct span value)
{
    bool is_parallel = span_is(wire_string_or(value, ""), "parallel");
    set(node, "eventGatewayType", is_parallel ? "Parallel" : "Exclusive");
}

static void compose_interrupting(struct graph_node *node, struct span value)
{
    struct span text;
    if (form_value(node, "interrupting", value, FLAG, &text)) {
        const char *attribute =
            node->kind == ENGINE_BOUNDARY_EVENT ? "cancelActivity" : "isInterrupting";
        engine_compose_set(node->graph->arena, node->element, XML_NONE, attribute, text);
    }
}

/* Zeebe's words for it, which bpmn.c reads. */
static void compose_propagation(struct graph_node *node, const char *member, const char *attribute,
                                struct span value)
{
    struct span text;
    if (!form_value(node, member, value, FLAG, &text)) {
        return;
    }
    struct arena *arena = node->graph->arena;
    struct xml_element *list = engine_xml_child(node->element, NULL, XML_BPMN, "extensionElements");
    struct xml_element *called =
        list == NULL ? NULL : engine_xml_child(list, NULL, XML_ZEEBE, "calledElement");
    if (called == NULL) {
        called = engine_compose_extension(arena, node->element, "calledElement");
    }
    if (called != NULL) {
        called->space = XML_ZEEBE;
    }
    engine_compose_set(arena, called, XML_NONE, attribute, text);
}

/* For a module, where the name is taken by a member of the node's own, or the node is no task. */
static void compose_settings(struct graph_node *node, struct span value)
{
    compose_pairs(node, "settings", value, add_header);
}

static void compose_propagate_in(struct graph_node *node, struct span value)
{
    compose_propagation(node, "propagate_in", "propagateAllParentVariables", value);
}

static void compose_propagate_out(struct graph_node *node, struct span value)
{
    compose_propagation(node, "propagate_out", "propagateAllChildVariables", value);
}

/* ---- loops ---- */

/* config.loop, or config itself of a for_each. */
struct loop_member {
    const char *member;
    const char *attribute; /* of the loop marker, in `space`; NULL: a child element */
    enum xml_namespace space;
    const char *child;
    enum form form;
};

static const struct loop_member loop_members[] = {
    {"collection", "collection", XML_STRIDER, NULL, EXPRESSION},
    {"item", "elementVariable", XML_STRIDER, NULL, TEXT},
    {"output", "outputCollection", XML_STRIDER, NULL, TEXT},
    {"output_item", "outputElement", XML_STRIDER, NULL, EXPRESSION},
    {"cardinality", NULL, XML_BPMN, "loopCardinality", EXPRESSION},
    {"until", NULL, XML_BPMN, "completionCondition", EXPRESSION},
};

static const struct loop_member standard_members[] = {
    {"maximum", "loopMaximum", XML_NONE, NULL, EXPRESSION},
    {"while", NULL, XML_BPMN, "loopCondition", EXPRESSION},
    {"test_before", "testBefore", XML_NONE, NULL, FLAG},
};

static void compose_loop_members(struct graph_node *node, struct xml_element *loop, struct span map,
                                 const struct loop_member *rows, size_t count)
{
    struct graph_node holder = *node; /* whose members `form_value` reads */
    holder.config = map;
    for (size_t i = 0; i < count; i++) {
        struct span value = wire_find_text(map, rows[i].member);
        struct span text;
        if (value.count == 0 || !form_value(&holder, rows[i].member, value, rows[i].form, &text)) {
            continue;
        }
        if (rows[i].attribute == NULL) {
            add_text_child(node, loop, rows[i].child, text);
        } else {
            engine_compose_set(node->graph->arena, loop, rows[i].space, rows[i].attribute, text);
        }
    }
}

static void compose_instances(struct graph_node *node, struct span map, bool is_sequential)
{
    struct xml_element *loop = engine_compose(node->graph->arena, node->element, XML_BPMN,
                                              "multiInstanceLoopCharacteristics", node->place);
    engine_compose_set(node->graph->arena, loop, XML_NONE, "isSequential",
                       span_text(is_sequential ? "true" : "false"));
    compose_loop_members(node, loop, map, loop_members,
                         sizeof loop_members / sizeof loop_members[0]);
}

static void compose_loop(struct graph_node *node, struct span value)
{
    struct span type = engine_graph_text(node->graph, value, node->id, "type");
    if (span_is(type, "standard")) {
        struct xml_element *loop = engine_compose(node->graph->arena, node->element, XML_BPMN,
                                                  "standardLoopCharacteristics", node->place);
        compose_loop_members(node, loop, value, standard_members,
                             sizeof standard_members / sizeof standard_members[0]);
    } else if (span_is(type, "parallel") || span_is(type, "sequential")) {
        compose_instances(node, value, span_is(type, "sequential"));
    } else {
        engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                             "config.loop.type is parallel, sequential or standard");
    }
}

/* S3's For Each is a loop: one item after the other, unless it says `"parallel": true`. */
void engine_graph_compose_for_each(struct graph_node *node)
{
    bool is_parallel = wire_bool_or(wire_find_text(node->config, "parallel"), false);
    bool has_items = wire_find_text(node->config, "collection").count > 0 ||
                     wire_find_text(node->config, "cardinality").count > 0;
    if (!has_items) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                             "for_each has no config.collection");
    }
    compose_instances(node, node->config, !is_parallel);
}

/* ---- the whole ---- */

static const struct {
    const char *member;
    unsigned groups;
    void (*compose)(struct graph_node *node, struct span value);
} composers[] = {
    {"inputs", ACTIVITY | GATEWAY | EVENT, compose_inputs},
    {"outputs", ACTIVITY | GATEWAY | EVENT, compose_outputs},
    {"loop", ACTIVITY, compose_loop},
    {"event", EVENT, engine_graph_compose_events},
    {"events", EVENT, engine_graph_compose_events},
    {"script", SCRIPT, compose_script},
    {"message", MESSAGE, compose_message},
    {"condition", AD_HOC | COMPLEX, compose_condition},
    {"ordering", AD_HOC, compose_ordering},
    {"gateway_type", EVENT_GATEWAY, compose_gateway_type},
    {"interrupting", START | BOUNDARY, compose_interrupting},
    {"propagate_in", CALL, compose_propagate_in},
    {"propagate_out", CALL, compose_propagate_out},
    {"settings", ANY, compose_settings},
};

static bool compose_member(struct graph_node *node, unsigned groups, struct span key,
                           struct span value)
{
    for (size_t i = 0; i < sizeof composers / sizeof composers[0]; i++) {
        if ((composers[i].groups & groups) != 0 && span_is(key, composers[i].member)) {
            composers[i].compose(node, value);
            return true;
        }
    }
    return compose_attribute(node, groups, key, value);
}

bool engine_graph_knows(enum engine_kind kind, struct span key)
{
    unsigned groups = groups_of(kind);
    for (size_t i = 0; i < sizeof composers / sizeof composers[0]; i++) {
        if ((composers[i].groups & groups) != 0 && span_is(key, composers[i].member)) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if ((attributes[i].groups & groups) != 0 && span_is(key, attributes[i].member)) {
            return true;
        }
    }
    return false;
}

void engine_graph_compose_headers(struct graph_node *node)
{
    struct wire_map_walk walk = wire_map_begin(node->config);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        engine_graph_spell_pair(node, key, value, add_header);
    }
}

void engine_graph_compose_config(struct graph_node *node)
{
    unsigned groups = groups_of(node->kind);
    struct wire_map_walk walk = wire_map_begin(node->config);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        bool is_taken = compose_member(node, groups, key, value) || engine_graph_takes(node, key);
        if (is_taken) {
            continue;
        }
        if ((groups & TASK) != 0) {
            engine_graph_spell_pair(node, key, value, add_header);
        } else if ((groups & GATEWAY) != 0 && span_is(key, "script")) {
            engine_graph_problem(node->graph, ENGINE_WARNING, "gateway-logic", node->map, node->id,
                                 "bears a script, which no gateway executes: move it to a task");
        } else {
            engine_graph_problem(node->graph, ENGINE_INFO, "ignored-member", node->map, node->id,
                                 "config.%.*s has no effect here", SPAN_ARG(key));
        }
    }
}
