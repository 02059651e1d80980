/*
 * scheme.c: blocks and faces become elements of a BPMN document, as a graph's nodes and edges do;
 * then, on the linked process, what BPMN has no words for: joins, results and back faces.
 */
#include "engine/read/scheme.h"

#include "engine/lint/graph.h"
#include "engine/read/bpmn.h"
#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum {
    SCRATCH_BLOCK_BYTES = 64 << 10,
    SCRATCH_BYTES_MAX = 256 << 20,
};

static const struct block_type {
    const char *name;
    enum engine_kind kind; /* TASK: a service task where there is a handler */
    enum engine_join_rule join;
} types[] = {
    {"Block", ENGINE_TASK, ENGINE_JOIN_ALL},
    {"AndBlock", ENGINE_TASK, ENGINE_JOIN_ALL},
    {"OrBlock", ENGINE_TASK, ENGINE_JOIN_ANY},
    {"StartBlock", ENGINE_START_EVENT, ENGINE_JOIN_NONE},
    {"FinishBlock", ENGINE_END_EVENT, ENGINE_JOIN_ALL},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* What the finishing pass needs of each block and face, in the order of the file. */
struct scheme {
    struct graph graph;
    struct scheme_block {
        struct span id;
        enum engine_join_rule join;
    } * blocks;
    uint32_t block_count;
    struct span *results; /* of the faces */
    uint32_t face_count;
};

/* ---- blocks ---- */

static void note_typeless(struct graph_node *node)
{
    struct graph *graph = node->graph;
    struct graph_typeless *typeless = arena_alloc(graph->arena, sizeof *typeless);
    if (typeless != NULL) {
        *typeless = (struct graph_typeless){graph->typeless, node->id};
        graph->typeless = typeless;
    }
    engine_graph_problem(graph, ENGINE_WARNING, "no-type", node->map, node->id,
                         "has no type: an execution that comes here stops (TasksHasNoType)");
}

static struct block_type type_of(struct graph_node *node)
{
    struct span name = engine_graph_text(node->graph, node->map, node->id, "type");
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (span_is(name, types[i].name)) {
            return types[i];
        }
    }
    if (name.count == 0) {
        note_typeless(node);
    } else {
        engine_graph_problem(node->graph, ENGINE_ERROR, "unsupported-element", node->map, node->id,
                             "\"%.*s\" is no type of block (StartBlock, Block, OrBlock, AndBlock, "
                             "FinishBlock)",
                             SPAN_ARG(name));
    }
    return types[0];
}

static void compose_block(struct scheme *scheme, struct span map)
{
    static const char *const known[] = {"id",       "type", "handler",      "name", "config",
                                        "position", "size", "label_bounds", NULL};
    struct graph *graph = &scheme->graph;
    struct graph_node node = {.graph = graph,
                              .map = map,
                              .config = wire_find_text(map, "config"),
                              .place = engine_places_find(&graph->places, map)};
    node.id = engine_graph_text(graph, map, SPAN_EMPTY, "id");
    struct block_type type = type_of(&node);
    struct span handler = engine_graph_text(graph, map, node.id, "handler");
    bool is_task = type.kind == ENGINE_TASK;
    bool has_type = wire_find_text(map, "type").count > 0;
    node.kind = is_task && has_type && handler.count > 0 ? ENGINE_SERVICE_TASK : type.kind;
    node.element = engine_graph_compose_element(&node, graph->process);
    if (is_task) {
        engine_compose_set(graph->arena, node.element, XML_STRIDER, "type", handler);
    } else if (handler.count > 0) {
        engine_graph_problem(graph, ENGINE_WARNING, "ignored-member", map, node.id,
                             "a StartBlock or FinishBlock calls no handler");
    }
    if (type.kind == ENGINE_END_EVENT) {
        engine_compose(graph->arena, node.element, XML_BPMN, "terminateEventDefinition",
                       node.place);
    }
    engine_graph_compose_headers(&node);
    engine_graph_draw_node(&node);
    engine_graph_list_ignored(graph, map, node.id, known);
    scheme->blocks[scheme->block_count++] = (struct scheme_block){node.id, type.join};
}

/* ---- faces ---- */

/* The text that a block's output is compared with: a result that is no text stands for its JSON. */
static struct span result_of(struct scheme *scheme, struct span map, struct span id)
{
    struct graph *graph = &scheme->graph;
    struct span value = wire_find_text(map, "result");
    struct span text = SPAN_EMPTY;
    if (value.count == 0 || wire_is(value, WIRE_NIL)) {
        return SPAN_EMPTY;
    }
    if (wire_is(value, WIRE_STRING)) {
        return wire_head(value).as.text;
    }
    if (wire_is(value, WIRE_MAP) || wire_is(value, WIRE_ARRAY)) {
        engine_graph_problem(graph, ENGINE_ERROR, "malformed", map, id,
                             "its result is a text, a number or a truth value");
        return SPAN_EMPTY;
    }
    enum result written = json_from_wire(value, JSON_COMPACT, graph->arena, &text);
    return written == RESULT_OK ? text : SPAN_EMPTY;
}

static void compose_face(struct scheme *scheme, struct span map)
{
    static const char *const known[] = {"id",    "from",      "to",           "result",
                                        "label", "waypoints", "label_bounds", NULL};
    struct graph *graph = &scheme->graph;
    struct span id = engine_graph_text(graph, map, SPAN_EMPTY, "id");
    if (id.count == 0) {
        id = engine_numbering_make(&graph->numbering, "face", graph->arena);
    }
    struct xml_element *flow =
        engine_compose(graph->arena, graph->process, XML_BPMN, "sequenceFlow",
                       engine_places_find(&graph->places, map));
    engine_compose_set(graph->arena, flow, XML_NONE, "id", id);
    engine_compose_set(graph->arena, flow, XML_NONE, "name",
                       engine_graph_text(graph, map, id, "label"));
    engine_compose_set(graph->arena, flow, XML_NONE, "sourceRef",
                       engine_graph_text(graph, map, id, "from"));
    engine_compose_set(graph->arena, flow, XML_NONE, "targetRef",
                       engine_graph_text(graph, map, id, "to"));
    engine_graph_draw_edge(graph, map, id);
    engine_graph_list_ignored(graph, map, id, known);
    scheme->results[scheme->face_count++] = result_of(scheme, map, id);
}

/* ---- on the linked process ---- */

/* engine.md 5: "a face from u to v is a back face if v dominates u". */
static void mark_back_faces(struct draft *draft, struct draft_process *process)
{
    struct lint_graph graph;
    struct lint_dominance dominance;
    enum result result = engine_graph_build(process->model, LINT_FORWARD, draft->scratch, &graph);
    if (result == RESULT_OK) {
        result = engine_graph_dominance(&graph, graph.entry, draft->scratch, &dominance);
    }
    if (result != RESULT_OK) {
        engine_report_add(draft->report, ENGINE_ERROR, "too-tangled", process->model->id,
                          process->model->line, 0,
                          "the scheme is too tangled to tell its back faces");
        return;
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        struct engine_flow *flow = &process->flows[i];
        flow->is_back = flow->source != ENGINE_NONE && flow->target != ENGINE_NONE &&
                        engine_graph_dominates(&dominance, flow->target, flow->source);
    }
}

static void finish(struct draft *draft, void *context)
{
    const struct scheme *scheme = context;
    struct draft_process *process = &draft->processes[0];
    engine_graph_finish(draft, &scheme->graph);
    process->model->notation = ENGINE_NOTATION_SCHEME;
    ASSERT(process->node_count == scheme->block_count && process->flow_count == scheme->face_count);
    for (uint32_t i = 0; i < process->node_count; i++) {
        process->nodes[i].join = scheme->blocks[i].join;
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        process->flows[i].result = engine_draft_keep(draft, scheme->results[i]);
    }
    mark_back_faces(draft, process);
}

/* ---- the file ---- */

static void compose_list(struct scheme *scheme, struct span file, const char *member,
                         void (*compose)(struct scheme *, struct span))
{
    struct span list = wire_find_text(file, member);
    struct wire_map_walk walk = wire_array_begin(list);
    struct span item;
    if (list.count > 0 && !wire_is(list, WIRE_ARRAY)) {
        engine_graph_problem(&scheme->graph, ENGINE_ERROR, "malformed", file, SPAN_EMPTY,
                             "%s is no list", member);
    }
    while (wire_array_next(&walk, &item)) {
        if (wire_is(item, WIRE_MAP)) {
            compose(scheme, item);
        } else {
            engine_graph_problem(&scheme->graph, ENGINE_ERROR, "malformed", file, SPAN_EMPTY,
                                 "%s holds something that is no object", member);
        }
    }
}

static enum result compose_file(struct scheme *scheme, struct span text, struct span value)
{
    static const char *const known[] = {"id",    "name",    "version", "blocks",
                                        "faces", "next_id", NULL};
    struct graph *graph = &scheme->graph;
    enum result result = engine_graph_prepare(graph, text, value);
    uint32_t blocks = wire_count(wire_find_text(value, "blocks"));
    uint32_t faces = wire_count(wire_find_text(value, "faces"));
    scheme->blocks = arena_alloc(graph->arena, blocks * sizeof *scheme->blocks);
    scheme->results = arena_alloc(graph->arena, faces * sizeof *scheme->results);
    if (result != RESULT_OK || scheme->blocks == NULL || scheme->results == NULL) {
        return RESULT_LIMIT;
    }
    engine_graph_compose_root(graph, known);
    compose_list(scheme, value, "blocks", compose_block);
    compose_list(scheme, value, "faces", compose_face);
    return graph->arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

enum result engine_scheme_read(struct span text, struct span value, bool lenient,
                               struct engine_report *report, struct engine_definition *definition)
{
    struct arena scratch;
    arena_init(&scratch, SCRATCH_BLOCK_BYTES, SCRATCH_BYTES_MAX);
    struct scheme scheme = {.graph = {.arena = &scratch, .report = report}};
    enum result result = compose_file(&scheme, text, value);
    if (result == RESULT_OK) {
        const struct bpmn_tree tree = {
            .root = scheme.graph.root, .scratch = &scratch, .finish = finish, .context = &scheme};
        result = engine_bpmn_compile(&tree, lenient, report, definition);
    } else {
        engine_report_add(report, ENGINE_ERROR, "limit", SPAN_EMPTY, 0, 0,
                          "the file takes too much memory");
    }
    arena_release(&scratch);
    return result;
}
