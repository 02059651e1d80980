/*
 * graph.c: nodes and edges of a JSON graph become elements of a BPMN document, which bpmn.c then
 * compiles: dangling edges, duplicate ids and all else that a file can get wrong is found there, by
 * the same rules.
 */
#include "engine/read/graph.h"

#include <stdio.h>

#include "engine/read/activity.h"
#include "engine/read/bpmn.h"
#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"

enum { SCRATCH_BLOCK_BYTES = 64 << 10, SCRATCH_BYTES_MAX = 256 << 20 };

/* ---- types ---- */

struct node_type {
    const char *name;
    enum engine_kind kind;
    void (*compose)(struct graph_node *node); /* beyond the config's own members; or NULL */
    const char *const *members;               /* of config that `compose` reads; or NULL */
};

static const char *const cron_members[] = {"cron", "time_zone", NULL};
static const char *const webhook_members[] = {"path", NULL};
static const char *const delay_members[] = {"duration", "until", NULL};
static const char *const for_each_members[] = {"collection",  "item",        "parallel", "output",
                                               "output_item", "cardinality", "until",    NULL};

static const struct node_type types[] = {
    {"trigger_manual", ENGINE_START_EVENT, NULL, NULL},
    {"trigger_cron", ENGINE_START_EVENT, engine_graph_compose_cron, cron_members},
    {"trigger_webhook", ENGINE_START_EVENT, engine_graph_compose_webhook, webhook_members},
    {"end", ENGINE_END_EVENT, NULL, NULL},
    {"action", ENGINE_SERVICE_TASK, NULL, NULL},
    {"human_task", ENGINE_USER_TASK, NULL, NULL},
    {"decision", ENGINE_EXCLUSIVE_GATEWAY, NULL, NULL},
    {"split_wait", ENGINE_PARALLEL_GATEWAY, NULL, NULL},
    {"match", ENGINE_INCLUSIVE_GATEWAY, NULL, NULL},
    {"delay", ENGINE_INTERMEDIATE_CATCH_EVENT, engine_graph_compose_delay, delay_members},
    {"for_each", ENGINE_SUB_PROCESS, engine_graph_compose_for_each, for_each_members},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

void engine_graph_snake_case(const char *xml_name, char out[GRAPH_TYPE_BYTES_MAX])
{
    size_t count = 0;
    for (const char *at = xml_name; *at != '\0'; at++) {
        ASSERT(count + 2 < GRAPH_TYPE_BYTES_MAX);
        bool is_upper = *at >= 'A' && *at <= 'Z';
        if (is_upper) {
            out[count++] = '_';
        }
        out[count++] = is_upper ? (char)(*at - 'A' + 'a') : *at;
    }
    out[count] = '\0';
}

static bool find_type(struct span name, struct node_type *out)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (span_is(name, types[i].name)) {
            *out = types[i];
            return true;
        }
    }
    for (unsigned kind = 0; kind < ENGINE_KIND_COUNT; kind++) {
        char snake[GRAPH_TYPE_BYTES_MAX];
        engine_graph_snake_case(engine_kind_xml_name((enum engine_kind)kind), snake);
        if (span_is(name, snake)) {
            *out = (struct node_type){.kind = (enum engine_kind)kind};
            return true;
        }
    }
    return false;
}

/* The nearest type to what somebody wrote; empty when none is near. */
static struct span nearest_type(struct span written, char snake[GRAPH_TYPE_BYTES_MAX])
{
    struct span nearest = SPAN_EMPTY;
    size_t least = written.count / 3 + 1;
    for (unsigned i = 0; i < TYPE_COUNT + ENGINE_KIND_COUNT; i++) {
        char name[GRAPH_TYPE_BYTES_MAX];
        if (i < TYPE_COUNT) {
            (void)snprintf(name, sizeof name, "%s", types[i].name);
        } else {
            engine_graph_snake_case(engine_kind_xml_name((enum engine_kind)(i - TYPE_COUNT)), name);
        }
        size_t distance = text_distance(written, span_text(name));
        if (distance < least) {
            least = distance;
            memcpy(snake, name, sizeof name);
            nearest = span_text(snake);
        }
    }
    return nearest;
}

/* A node without a type is a task that nobody does (TasksHasNoType); one of an unknown type is
 * taken for a task, so that the rest of the file can be looked at. */
static struct node_type type_of(struct graph_node *node)
{
    struct node_type type = {.kind = ENGINE_TASK};
    struct span name = engine_graph_text(node->graph, node->map, node->id, "type");
    char snake[GRAPH_TYPE_BYTES_MAX];
    if (name.count == 0) {
        struct graph_typeless *typeless = arena_alloc(node->graph->arena, sizeof *typeless);
        if (typeless != NULL) {
            *typeless = (struct graph_typeless){node->graph->typeless, node->id};
            node->graph->typeless = typeless;
        }
        engine_graph_problem(node->graph, ENGINE_WARNING, "no-type", node->map, node->id,
                             "has no type: an execution that comes here stops (TasksHasNoType)");
    } else if (!find_type(name, &type)) {
        struct span near = nearest_type(name, snake);
        engine_graph_problem(node->graph, ENGINE_ERROR, "unsupported-element", node->map, node->id,
                             "\"%.*s\" is no type of node%s%.*s%s", SPAN_ARG(name),
                             near.count > 0 ? "; did you mean \"" : "", SPAN_ARG(near),
                             near.count > 0 ? "\"?" : "");
    }
    return type;
}

bool engine_graph_takes(const struct graph_node *node, struct span key)
{
    struct node_type type;
    struct span name = wire_string_or(wire_find_text(node->map, "type"), "");
    bool is_body =
        engine_activity_is_scope(node->kind) && (span_is(key, "nodes") || span_is(key, "edges"));
    if (is_body || !find_type(name, &type) || type.members == NULL) {
        return is_body;
    }
    size_t i = 0;
    while (type.members[i] != NULL && !span_is(key, type.members[i])) {
        i++;
    }
    return type.members[i] != NULL;
}

/* ---- nodes and edges ---- */

static const char *const node_members[] = {"id",       "type",         "name",   "position", "size",
                                           "expanded", "label_bounds", "config", NULL};
static const char *const edge_members[] = {
    "id", "source", "target", "condition", "default", "label", "waypoints", "label_bounds", NULL};

static void compose_node(struct graph *graph, struct xml_element *scope, struct span map)
{
    struct graph_node node = {.graph = graph,
                              .map = map,
                              .config = wire_find_text(map, "config"),
                              .place = engine_places_find(&graph->places, map)};
    node.id = engine_graph_text(graph, map, SPAN_EMPTY, "id");
    struct node_type type = type_of(&node);
    node.kind = type.kind;
    node.element = engine_graph_compose_element(&node, scope);
    if (node.element == NULL) {
        return;
    }
    engine_graph_compose_config(&node);
    if (type.compose != NULL) {
        type.compose(&node);
    }
    if (engine_activity_is_scope(node.kind)) {
        engine_graph_compose_scope(graph, node.element, node.config);
    }
    engine_graph_draw_node(&node);
    engine_graph_list_ignored(graph, map, node.id, node_members);
}

static void compose_condition(struct graph *graph, struct xml_element *flow,
                              const struct xml_element *source, struct span map, struct span id)
{
    struct span condition = wire_find_text(map, "condition");
    struct graph_node holder = {.graph = graph, .map = map, .id = id};
    struct span text;
    if (condition.count == 0 || wire_is(condition, WIRE_NIL)) {
        return;
    }
    if (source != NULL && span_is(source->name, "parallelGateway")) {
        /* S3: "NO conditions — ever." */
        engine_graph_problem(graph, ENGINE_ERROR, "parallel-condition", map, id,
                             "bears a condition, but \"%.*s\" takes all its edges",
                             SPAN_ARG(wire_string_or(wire_find_text(map, "source"), "")));
    } else if (!wire_is(condition, WIRE_STRING) && !wire_is(condition, WIRE_BOOL)) {
        engine_graph_problem(graph, ENGINE_ERROR, "malformed", map, id,
                             "its condition is no text (FEEL: \"total > 100\")");
    } else if (engine_graph_spell(&holder, condition, &text)) {
        engine_compose_text(engine_compose(graph->arena, flow, XML_BPMN, "conditionExpression",
                                           engine_places_find(&graph->places, map)),
                            text);
    }
}

static void set_default(struct graph *graph, struct xml_element *source, struct span map,
                        struct span id)
{
    if (source == NULL) {
        return; /* dangling: reported when the edge is linked */
    }
    struct span other = engine_xml_attribute(source, XML_NONE, "default");
    if (other.count > 0) {
        engine_graph_problem(graph, ENGINE_ERROR, "two-defaults", map, id,
                             "is a default edge, but \"%.*s\" is one of the same node",
                             SPAN_ARG(other));
        return;
    }
    engine_compose_set(graph->arena, source, XML_NONE, "default", id);
}

static void compose_edge(struct graph *graph, struct xml_element *scope, struct span map)
{
    struct span id = engine_graph_text(graph, map, SPAN_EMPTY, "id");
    if (id.count == 0) {
        id = engine_numbering_make(&graph->numbering, "edge", graph->arena);
    }
    struct xml_element *flow = engine_compose(graph->arena, scope, XML_BPMN, "sequenceFlow",
                                              engine_places_find(&graph->places, map));
    struct span source = engine_graph_text(graph, map, id, "source");
    const struct id *found = engine_ids_find(&graph->nodes, source);
    engine_compose_set(graph->arena, flow, XML_NONE, "id", id);
    engine_compose_set(graph->arena, flow, XML_NONE, "name",
                       engine_graph_text(graph, map, id, "label"));
    engine_compose_set(graph->arena, flow, XML_NONE, "sourceRef", source);
    engine_compose_set(graph->arena, flow, XML_NONE, "targetRef",
                       engine_graph_text(graph, map, id, "target"));
    compose_condition(graph, flow, found == NULL ? NULL : found->element, map, id);
    if (wire_bool_or(wire_find_text(map, "default"), false)) {
        set_default(graph, found == NULL ? NULL : found->element, map, id);
    }
    engine_graph_draw_edge(graph, map, id);
    engine_graph_list_ignored(graph, map, id, edge_members);
}

static void compose_list(struct graph *graph, struct xml_element *scope, struct span map,
                         const char *member,
                         void (*compose)(struct graph *, struct xml_element *, struct span))
{
    struct span list = wire_find_text(map, member);
    struct wire_map_walk walk = wire_array_begin(list);
    struct span item;
    if (list.count > 0 && !wire_is(list, WIRE_ARRAY)) {
        engine_graph_problem(graph, ENGINE_ERROR, "malformed", map, SPAN_EMPTY, "%s is no list",
                             member);
    }
    while (wire_array_next(&walk, &item)) {
        if (wire_is(item, WIRE_MAP)) {
            compose(graph, scope, item);
        } else {
            engine_graph_problem(graph, ENGINE_ERROR, "malformed", map, SPAN_EMPTY,
                                 "%s holds something that is no object", member);
        }
    }
}

void engine_graph_compose_scope(struct graph *graph, struct xml_element *scope, struct span map)
{
    compose_list(graph, scope, map, "nodes", compose_node);
    compose_list(graph, scope, map, "edges", compose_edge);
}

/* ---- triggers beside the nodes ---- */

static void attach_trigger(struct graph *graph, struct span map, struct span id, struct span node)
{
    const struct id *found = engine_ids_find(&graph->nodes, node);
    if (found == NULL || !span_is(found->element->name, "startEvent")) {
        engine_graph_problem(graph, ENGINE_ERROR, "dangling-reference", map, id,
                             "triggers \"%.*s\", which is no trigger node of this graph",
                             SPAN_ARG(node));
        return;
    }
    struct graph_node holder = {.graph = graph,
                                .map = map,
                                .config = map,
                                .id = id,
                                .element = found->element,
                                .place = engine_places_find(&graph->places, map)};
    struct span type = engine_graph_text(graph, map, id, "type");
    if (span_is(type, "cron")) {
        engine_graph_compose_cron(&holder);
    } else if (span_is(type, "webhook")) {
        engine_graph_compose_webhook(&holder);
    }
}

static void compose_trigger(struct graph *graph, struct xml_element *scope, struct span map)
{
    (void)scope;
    static const char *const known[] = {"id", "type", "cron", "time_zone", "path", "node", NULL};
    struct span id = engine_graph_text(graph, map, SPAN_EMPTY, "id");
    struct span type = engine_graph_text(graph, map, id, "type");
    struct span node = engine_graph_text(graph, map, id, "node");
    struct engine_trigger trigger = {.kind = ENGINE_TRIGGER_MANUAL, .id = id};
    engine_graph_list_ignored(graph, map, id, known);
    if (!span_is(type, "manual") && !span_is(type, "cron") && !span_is(type, "webhook")) {
        engine_graph_problem(graph, ENGINE_ERROR, "trigger", map, id,
                             "a trigger is manual, cron or webhook, not \"%.*s\"", SPAN_ARG(type));
        return;
    }
    if (node.count > 0) {
        attach_trigger(graph, map, id, node);
        return;
    }
    if (span_is(type, "cron")) {
        trigger.kind = ENGINE_TRIGGER_CRON;
        trigger.text = engine_graph_cron_text(graph, map, id);
    } else if (span_is(type, "webhook")) {
        trigger.kind = ENGINE_TRIGGER_WEBHOOK;
        trigger.text = engine_graph_webhook_path(graph, map, id);
    }
    graph->triggers[graph->trigger_count++] = trigger;
}

/* ---- the file ---- */

static void finish(struct draft *draft, void *context)
{
    engine_graph_finish(draft, context);
    draft->processes[0].model->notation = ENGINE_NOTATION_GRAPH;
}

static void compose_file(struct graph *graph)
{
    static const char *const known[] = {"id",    "name",     "version", "nodes",
                                        "edges", "triggers", "next_id", NULL};
    engine_graph_compose_root(graph, known);
    engine_graph_compose_scope(graph, graph->process, graph->value);
    compose_list(graph, NULL, graph->value, "triggers", compose_trigger);
}

enum result engine_graph_read(struct span text, struct span value, bool lenient,
                              struct engine_report *report, struct engine_definition *definition)
{
    struct arena scratch;
    arena_init(&scratch, SCRATCH_BLOCK_BYTES, SCRATCH_BYTES_MAX);
    struct graph graph = {.arena = &scratch, .report = report};
    enum result result = engine_graph_prepare(&graph, text, value);
    if (result == RESULT_OK) {
        compose_file(&graph);
        result = scratch.overflowed ? RESULT_LIMIT : RESULT_OK;
    }
    if (result == RESULT_OK) {
        const struct bpmn_tree tree = {
            .root = graph.root, .scratch = &scratch, .finish = finish, .context = &graph};
        result = engine_bpmn_compile(&tree, lenient, report, definition);
    } else {
        engine_report_add(report, ENGINE_ERROR, "limit", SPAN_EMPTY, 0, 0,
                          "the file takes too much memory");
    }
    arena_release(&scratch);
    return result;
}
