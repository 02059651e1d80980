/*
 * graph_event.c: events of a JSON graph, its triggers and its delay.
 *
 * config.event (or a list, config.events): {"type": "timer", "duration"|"date"|"cycle"} |
 * {"type": "message"|"signal"|"link", "name", "correlation_key"?} | {"type": "error"|"escalation",
 * "code"?, "code_variable"?, "message_variable"?} | {"type": "conditional", "condition"} |
 * {"type": "compensation", "activity"?} | {"type": "cancel"|"terminate"}.
 */
#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "engine/time/cron.h"
#include "proto/wire/reader.h"

/* ---- members ---- */

static bool spell_member(struct graph_node *node, struct span map, const char *member,
                         struct span *out)
{
    struct span value = wire_find_text(map, member);
    *out = SPAN_EMPTY;
    return value.count == 0 || engine_graph_spell(node, value, out);
}

static void set_text(struct graph_node *node, struct xml_element *element, enum xml_namespace space,
                     const char *attribute, struct span map, const char *member)
{
    engine_compose_set(node->graph->arena, element, space, attribute,
                       engine_graph_text(node->graph, map, node->id, member));
}

static void add_child(struct graph_node *node, struct xml_element *parent, const char *name,
                      struct span text)
{
    engine_compose_text(engine_compose(node->graph->arena, parent, XML_BPMN, name, node->place),
                        text);
}

/* An element at the root, with an id of its own. */
static struct xml_element *add_root(struct graph *graph, const char *name,
                                    struct compose_place place)
{
    struct xml_element *element = engine_compose(graph->arena, graph->root, XML_BPMN, name, place);
    engine_compose_set(graph->arena, element, XML_NONE, "id",
                       engine_numbering_make(&graph->numbering, name, graph->arena));
    return element;
}

static struct span id_of(struct xml_element *element)
{
    return element == NULL ? SPAN_EMPTY : engine_xml_id(element);
}

struct span engine_graph_compose_message(struct graph *graph, struct compose_place place,
                                         struct span name, struct span correlation_key)
{
    struct xml_element *message = add_root(graph, "message", place);
    engine_compose_set(graph->arena, message, XML_NONE, "name", name);
    engine_compose_set(graph->arena, message, XML_STRIDER, "correlationKey", correlation_key);
    return id_of(message);
}

/* ---- event definitions: one composer a type ---- */

static void compose_timer(struct graph_node *node, struct xml_element *definition, struct span map)
{
    static const struct {
        const char *member;
        const char *element;
    } rows[] = {{"date", "timeDate"}, {"duration", "timeDuration"}, {"cycle", "timeCycle"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value = wire_find_text(map, rows[i].member);
        struct span text = SPAN_EMPTY; /* null: the kind of time is known, but not when */
        bool is_whole = wire_is(value, WIRE_NIL) || spell_member(node, map, rows[i].member, &text);
        if (value.count > 0 && is_whole) {
            add_child(node, definition, rows[i].element, text);
        }
    }
    if (wire_find_text(map, "cron").count > 0) {
        struct span text = engine_graph_cron_text(node->graph, map, node->id);
        add_child(node, definition, "timeCycle", text);
    }
}

static void compose_message(struct graph_node *node, struct xml_element *definition,
                            struct span map)
{
    struct span key;
    struct span name = engine_graph_text(node->graph, map, node->id, "name");
    if (spell_member(node, map, "correlation_key", &key) && (name.count > 0 || key.count > 0)) {
        engine_compose_set(node->graph->arena, definition, XML_NONE, "messageRef",
                           engine_graph_compose_message(node->graph, node->place, name, key));
    }
}

static void compose_signal(struct graph_node *node, struct xml_element *definition, struct span map)
{
    if (wire_find_text(map, "name").count > 0) {
        struct xml_element *signal = add_root(node->graph, "signal", node->place);
        set_text(node, signal, XML_NONE, "name", map, "name");
        engine_compose_set(node->graph->arena, definition, XML_NONE, "signalRef", id_of(signal));
    }
}

static void compose_error(struct graph_node *node, struct xml_element *definition, struct span map)
{
    if (wire_find_text(map, "code").count > 0) {
        struct xml_element *error = add_root(node->graph, "error", node->place);
        set_text(node, error, XML_NONE, "errorCode", map, "code");
        engine_compose_set(node->graph->arena, definition, XML_NONE, "errorRef", id_of(error));
    }
    set_text(node, definition, XML_CAMUNDA, "errorCodeVariable", map, "code_variable");
    set_text(node, definition, XML_CAMUNDA, "errorMessageVariable", map, "message_variable");
}

static void compose_escalation(struct graph_node *node, struct xml_element *definition,
                               struct span map)
{
    if (wire_find_text(map, "code").count > 0) {
        struct xml_element *escalation = add_root(node->graph, "escalation", node->place);
        set_text(node, escalation, XML_NONE, "escalationCode", map, "code");
        engine_compose_set(node->graph->arena, definition, XML_NONE, "escalationRef",
                           id_of(escalation));
    }
    set_text(node, definition, XML_CAMUNDA, "escalationCodeVariable", map, "code_variable");
}

static void compose_condition(struct graph_node *node, struct xml_element *definition,
                              struct span map)
{
    struct span text;
    if (spell_member(node, map, "condition", &text) && text.count > 0) {
        add_child(node, definition, "condition", text);
    }
}

static void compose_link(struct graph_node *node, struct xml_element *definition, struct span map)
{
    set_text(node, definition, XML_NONE, "name", map, "name");
}

static void compose_compensation(struct graph_node *node, struct xml_element *definition,
                                 struct span map)
{
    set_text(node, definition, XML_NONE, "activityRef", map, "activity");
}

static void compose_nothing(struct graph_node *node, struct xml_element *definition,
                            struct span map)
{
    (void)node, (void)definition, (void)map;
}

static const struct {
    const char *type;
    const char *element;
    void (*compose)(struct graph_node *node, struct xml_element *definition, struct span map);
} event_types[] = {
    {"timer", "timerEventDefinition", compose_timer},
    {"message", "messageEventDefinition", compose_message},
    {"signal", "signalEventDefinition", compose_signal},
    {"error", "errorEventDefinition", compose_error},
    {"escalation", "escalationEventDefinition", compose_escalation},
    {"conditional", "conditionalEventDefinition", compose_condition},
    {"compensation", "compensateEventDefinition", compose_compensation},
    {"link", "linkEventDefinition", compose_link},
    {"cancel", "cancelEventDefinition", compose_nothing},
    {"terminate", "terminateEventDefinition", compose_nothing},
};
enum { EVENT_TYPE_COUNT = sizeof event_types / sizeof event_types[0] };

static struct xml_element *add_definition(struct graph_node *node, const char *name)
{
    return engine_compose(node->graph->arena, node->element, XML_BPMN, name, node->place);
}

static void compose_event(struct graph_node *node, struct span map)
{
    struct span type = engine_graph_text(node->graph, map, node->id, "type");
    size_t row = 0;
    while (row < EVENT_TYPE_COUNT && !span_is(type, event_types[row].type)) {
        row++;
    }
    if (row == EVENT_TYPE_COUNT) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "unsupported-element", node->map, node->id,
                             "\"%.*s\" is no type of event (timer, message, signal, error, "
                             "escalation, conditional, compensation, link, cancel, terminate)",
                             SPAN_ARG(type));
        return;
    }
    event_types[row].compose(node, add_definition(node, event_types[row].element), map);
}

void engine_graph_compose_events(struct graph_node *node, struct span value)
{
    struct wire_map_walk walk = wire_array_begin(value);
    struct span item;
    if (wire_is(value, WIRE_MAP)) {
        compose_event(node, value);
        return;
    }
    if (!wire_is(value, WIRE_ARRAY)) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "malformed", node->map, node->id,
                             "config.event is an object, config.events a list of them");
    }
    while (wire_array_next(&walk, &item)) {
        compose_event(node, item);
    }
}

/* ---- triggers and the delay ---- */

struct span engine_graph_cron_text(struct graph *graph, struct span map, struct span id)
{
    struct span cron = span_trim(engine_graph_text(graph, map, id, "cron"));
    struct span zone = span_trim(engine_graph_text(graph, map, id, "time_zone"));
    if (cron.count == 0) {
        engine_graph_problem(graph, ENGINE_ERROR, "timer", map, id, "has no cron text (\"cron\")");
        return SPAN_EMPTY;
    }
    struct span text = zone.count == 0 ? cron
                                       : arena_format(graph->arena, "CRON_TZ=%.*s %.*s",
                                                      SPAN_ARG(zone), SPAN_ARG(cron));
    struct engine_cron parsed;
    struct engine_cron_error error;
    if (engine_cron_parse(text, &parsed, &error) != RESULT_OK) {
        engine_graph_problem(graph, ENGINE_ERROR, "timer", map, id,
                             "\"%.*s\" is no cron text: %s, at character %u", SPAN_ARG(text),
                             error.reason, error.offset + 1);
        return SPAN_EMPTY;
    }
    return text;
}

struct span engine_graph_webhook_path(struct graph *graph, struct span map, struct span id)
{
    struct span path = engine_graph_text(graph, map, id, "path");
    while (path.count > 0 && path.bytes[0] == '/') {
        path = span_of(path.bytes + 1, path.count - 1);
    }
    bool is_legal = path.count > 0 && path.count <= 256;
    for (size_t i = 0; i < path.count; i++) {
        uint8_t at = path.bytes[i];
        is_legal &= at > ' ' && at < 0x7f && at != '?' && at != '#' && at != '%' && at != '\\';
    }
    if (!is_legal) {
        engine_graph_problem(graph, ENGINE_ERROR, "trigger", map, id,
                             "needs a path for its webhook: 1 to 256 characters of a URL's path");
        return SPAN_EMPTY;
    }
    return path;
}

/* Is there an entry in the file's `triggers` that names this node? It brings what config lacks. */
static bool is_triggered_beside(const struct graph_node *node)
{
    struct wire_map_walk walk = wire_array_begin(wire_find_text(node->graph->value, "triggers"));
    struct span trigger;
    bool found = false;
    while (!found && wire_array_next(&walk, &trigger)) {
        found = span_equal(wire_string_or(wire_find_text(trigger, "node"), ""), node->id);
    }
    return found;
}

void engine_graph_compose_cron(struct graph_node *node)
{
    if (wire_find_text(node->config, "cron").count == 0 && is_triggered_beside(node)) {
        return;
    }
    struct span text = engine_graph_cron_text(node->graph, node->config, node->id);
    add_child(node, add_definition(node, "timerEventDefinition"), "timeCycle", text);
}

void engine_graph_compose_webhook(struct graph_node *node)
{
    struct graph *graph = node->graph;
    if (wire_find_text(node->config, "path").count == 0 && is_triggered_beside(node)) {
        return;
    }
    struct span path = engine_graph_webhook_path(graph, node->config, node->id);
    struct span name = arena_format(graph->arena, "webhook:%.*s", SPAN_ARG(path));
    engine_compose_set(graph->arena, add_definition(node, "messageEventDefinition"), XML_NONE,
                       "messageRef",
                       engine_graph_compose_message(graph, node->place, name, SPAN_EMPTY));
}

void engine_graph_compose_delay(struct graph_node *node)
{
    bool has_duration = wire_find_text(node->config, "duration").count > 0;
    const char *member = has_duration ? "duration" : "until";
    struct span text;
    if (spell_member(node, node->config, member, &text) && text.count > 0) {
        add_child(node, add_definition(node, "timerEventDefinition"),
                  has_duration ? "timeDuration" : "timeDate", text);
    } else if (wire_find_text(node->config, member).count == 0) {
        engine_graph_problem(node->graph, ENGINE_ERROR, "timer", node->map, node->id,
                             "has neither config.duration (PT10M) nor config.until (a date)");
    }
}
