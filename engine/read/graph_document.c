/*
 * graph_document.c: what JSON graphs and block schemes share: reading members, the elements around
 * all nodes, the drawing, and what is added to the linked process.
 */
#include <stdarg.h>
#include <stdio.h>

#include "engine/read/activity.h"
#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* ---- reporting and reading members ---- */

void engine_graph_problem(struct graph *graph, enum engine_severity severity, const char *rule,
                          struct span map, struct span id, const char *format, ...)
{
    char message[512];
    struct compose_place place = engine_places_find(&graph->places, map);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0);
    const char *quote = id.count > 0 ? "\"" : "";
    engine_report_add(graph->report, severity, rule, id, place.line, place.column, "%s%.*s%s%s%s",
                      quote, SPAN_ARG(id), quote, id.count > 0 ? ": " : "", message);
}

struct span engine_graph_text(struct graph *graph, struct span map, struct span id,
                              const char *member)
{
    struct span value = wire_find_text(map, member);
    struct wire_value head = wire_head(value);
    if (value.count == 0 || head.type == WIRE_NIL) {
        return SPAN_EMPTY;
    }
    if (head.type == WIRE_STRING) {
        return head.as.text;
    }
    if (head.type == WIRE_INT) {
        return arena_format(graph->arena, "%lld", (long long)head.as.integer);
    }
    if (head.type == WIRE_DECIMAL) {
        return head.as.text;
    }
    engine_graph_problem(graph, ENGINE_ERROR, "malformed", map, id, "%s is no text", member);
    return SPAN_EMPTY;
}

void engine_graph_list_ignored(struct graph *graph, struct span map, struct span id,
                               const char *const *known)
{
    struct wire_map_walk walk = wire_map_begin(map);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        size_t i = 0;
        while (known[i] != NULL && !span_is(key, known[i])) {
            i++;
        }
        if (known[i] == NULL) {
            engine_graph_problem(graph, ENGINE_INFO, "ignored-member", map, id,
                                 "%.*s has no effect here", SPAN_ARG(key));
        }
    }
}

/* ---- the document ---- */

/* Every id of the file, and how many nodes there are. */
static uint32_t meet_ids(struct graph *graph, struct span value)
{
    uint32_t count = 0;
    struct wire_cursor cursor = wire_cursor(value);
    struct wire_value head;
    while (cursor.next < cursor.end) {
        const uint8_t *begin = cursor.next;
        if (wire_read(&cursor, &head) != RESULT_OK) {
            break;
        }
        if (head.type == WIRE_MAP) {
            struct span map = span_of(begin, (size_t)(cursor.end - begin));
            engine_numbering_meet(&graph->numbering, wire_string_or(wire_find_text(map, "id"), ""));
            int64_t number = wire_int_or(wire_find_text(map, "id"), 0);
            graph->numbering.next =
                number > 0 && (uint64_t)number >= graph->numbering.next && number < 1LL << 53
                    ? (uint64_t)number + 1
                    : graph->numbering.next;
            count++;
        }
    }
    return count;
}

enum result engine_graph_prepare(struct graph *graph, struct span text, struct span value)
{
    graph->value = value;
    graph->numbering.next = 1;
    enum result result = engine_places_init(&graph->places, text, value, graph->arena);
    uint32_t map_count = meet_ids(graph, value);
    uint32_t trigger_count = wire_count(wire_find_text(value, "triggers"));
    graph->triggers = arena_alloc(graph->arena, trigger_count * sizeof *graph->triggers);
    if (result == RESULT_OK) {
        result = engine_ids_init(&graph->nodes, map_count, graph->arena);
    }
    return graph->triggers == NULL ? RESULT_LIMIT : result;
}

void engine_graph_compose_root(struct graph *graph, const char *const *known)
{
    struct span value = graph->value;
    struct compose_place place = engine_places_find(&graph->places, value);
    graph->root = engine_compose(graph->arena, NULL, XML_BPMN, "definitions", place);
    graph->process = engine_compose(graph->arena, graph->root, XML_BPMN, "process", place);
    struct xml_element *diagram =
        engine_compose(graph->arena, graph->root, XML_DIAGRAM, "BPMNDiagram", place);
    graph->plane = engine_compose(graph->arena, diagram, XML_DIAGRAM, "BPMNPlane", place);
    struct span id = engine_graph_text(graph, value, SPAN_EMPTY, "id");
    graph->version_tag = engine_graph_text(graph, value, id, "version");
    engine_compose_set(graph->arena, graph->process, XML_NONE, "id", id);
    engine_compose_set(graph->arena, graph->process, XML_NONE, "name",
                       engine_graph_text(graph, value, id, "name"));
    engine_graph_list_ignored(graph, value, id, known);
}

struct xml_element *engine_graph_compose_element(struct graph_node *node, struct xml_element *scope)
{
    struct graph *graph = node->graph;
    struct xml_element *element = engine_compose(graph->arena, scope, XML_BPMN,
                                                 engine_kind_xml_name(node->kind), node->place);
    engine_compose_set(graph->arena, element, XML_NONE, "id", node->id);
    engine_compose_set(graph->arena, element, XML_NONE, "name",
                       engine_graph_text(graph, node->map, node->id, "name"));
    if (element != NULL && node->id.count > 0) {
        (void)engine_ids_put(&graph->nodes, node->id, element);
    }
    if (node->config.count > 0 && !wire_is(node->config, WIRE_MAP)) {
        engine_graph_problem(graph, ENGINE_ERROR, "malformed", node->map, node->id,
                             "config is no object");
    }
    return element;
}

/* ---- the drawing ---- */

static void set_number(struct graph *graph, struct xml_element *element, const char *attribute,
                       struct span map, const char *member)
{
    struct wire_value head = wire_head(wire_find_text(map, member));
    struct span digits = SPAN_EMPTY;
    if (head.type == WIRE_INT) {
        digits = arena_format(graph->arena, "%lld", (long long)head.as.integer);
    } else if (head.type == WIRE_DECIMAL) {
        digits = head.as.text;
    }
    engine_compose_set(graph->arena, element, XML_NONE, attribute, digits);
}

static struct xml_element *add_bounds(struct graph *graph, struct xml_element *holder,
                                      struct span position, struct span size)
{
    struct xml_element *bounds =
        engine_compose(graph->arena, holder, XML_UNKNOWN, "Bounds", (struct compose_place){0, 0});
    set_number(graph, bounds, "x", position, "x");
    set_number(graph, bounds, "y", position, "y");
    set_number(graph, bounds, "width", size, "width");
    set_number(graph, bounds, "height", size, "height");
    return bounds;
}

static struct xml_element *add_drawn(struct graph *graph, const char *name, struct span id,
                                     struct span map)
{
    struct compose_place nowhere = {0, 0};
    struct xml_element *drawn =
        engine_compose(graph->arena, graph->plane, XML_DIAGRAM, name, nowhere);
    struct span label = wire_find_text(map, "label_bounds");
    engine_compose_set(graph->arena, drawn, XML_NONE, "bpmnElement", id);
    if (label.count > 0) {
        add_bounds(graph, engine_compose(graph->arena, drawn, XML_DIAGRAM, "BPMNLabel", nowhere),
                   label, label);
    }
    return drawn;
}

void engine_graph_draw_node(struct graph_node *node)
{
    struct graph *graph = node->graph;
    struct span position = wire_find_text(node->map, "position");
    if (!wire_is(position, WIRE_MAP)) {
        return;
    }
    struct xml_element *shape = add_drawn(graph, "BPMNShape", node->id, node->map);
    add_bounds(graph, shape, position, wire_find_text(node->map, "size"));
    if (engine_activity_is_scope(node->kind)) {
        bool is_expanded = wire_bool_or(wire_find_text(node->map, "expanded"), true);
        engine_compose_set(graph->arena, shape, XML_NONE, "isExpanded",
                           span_text(is_expanded ? "true" : "false"));
    }
}

void engine_graph_draw_edge(struct graph *graph, struct span map, struct span id)
{
    struct span points = wire_find_text(map, "waypoints");
    struct wire_map_walk walk = wire_array_begin(points);
    struct span point;
    if (!wire_is(points, WIRE_ARRAY) && wire_find_text(map, "label_bounds").count == 0) {
        return;
    }
    struct xml_element *edge = add_drawn(graph, "BPMNEdge", id, map);
    while (wire_array_next(&walk, &point)) {
        struct xml_element *waypoint = engine_compose(graph->arena, edge, XML_UNKNOWN, "waypoint",
                                                      (struct compose_place){0, 0});
        set_number(graph, waypoint, "x", point, "x");
        set_number(graph, waypoint, "y", point, "y");
    }
}

/* ---- on the linked process ---- */

void engine_graph_finish(struct draft *draft, const struct graph *graph)
{
    struct draft_process *process = &draft->processes[0];
    struct engine_process *model = process->model;
    model->version_tag = engine_draft_keep(draft, graph->version_tag);
    model->id_next = graph->numbering.next;
    for (const struct graph_typeless *at = graph->typeless; at != NULL; at = at->next) {
        const struct engine_node *node = engine_process_node(model, at->id);
        if (node != NULL) {
            process->nodes[node->index].task_type = SPAN_EMPTY;
            process->nodes[node->index].task_type_explicit = false;
        }
    }
    struct engine_trigger *triggers =
        arena_alloc(draft->arena, graph->trigger_count * sizeof *triggers);
    for (uint32_t i = 0; triggers != NULL && i < graph->trigger_count; i++) {
        triggers[i] = (struct engine_trigger){
            .kind = graph->triggers[i].kind,
            .id = engine_draft_keep(draft, graph->triggers[i].id),
            .text = engine_draft_keep(draft, graph->triggers[i].text),
        };
        model->trigger_count++;
    }
    model->triggers = triggers;
}
