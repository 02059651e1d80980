/*
 * layout.c: a drawing for a process that has none: layers from left to right, scope by scope from
 * the inside out, boundary events on their host's lower edge, circles led around below.
 */
#include "engine/read/activity.h"
#include "engine/read/event.h"
#include "engine/write/layers.h"
#include "engine/write/writing.h"
#include "proto/base/assert.h"

enum {
    EVENT_SIZE = 36,
    GATEWAY_SIZE = 50,
    TASK_WIDTH = 100,
    TASK_HEIGHT = 80,
    PADDING_X = 40,
    PADDING_Y = 45,
    MARGIN = 40,
    AROUND = 30, /* below everything, where a way back runs */
};

struct layout {
    struct arena *arena;
    struct engine_process *process;
    struct engine_node *nodes;
    struct engine_flow *flows;
    struct engine_shape *shapes; /* by node, within its scope until the end */
    uint32_t *cells;             /* by node: its cell, while its scope is placed */
};

struct size {
    double width, height;
};

static bool place_scope(struct layout *layout, uint32_t scope, struct engine_indexes children,
                        struct size *out);

/* ---- nodes ---- */

static bool size_node(struct layout *layout, const struct engine_node *node, struct size *out)
{
    if (engine_activity_is_scope(node->kind) && node->children.count > 0) {
        struct size inner;
        if (!place_scope(layout, node->index, node->children, &inner)) {
            return false;
        }
        *out = (struct size){inner.width + 2 * PADDING_X, inner.height + 2 * PADDING_Y};
        layout->shapes[node->index].is_expanded = true;
        return true;
    }
    bool is_event = engine_event_is(node->kind);
    bool is_activity = engine_activity_is(node->kind);
    *out = is_event      ? (struct size){EVENT_SIZE, EVENT_SIZE}
           : is_activity ? (struct size){TASK_WIDTH, TASK_HEIGHT}
                         : (struct size){GATEWAY_SIZE, GATEWAY_SIZE};
    return true;
}

static void place_boundaries(struct layout *layout, const struct engine_node *host)
{
    const struct engine_shape *shape = &layout->shapes[host->index];
    for (uint32_t i = 0; i < host->boundaries.count; i++) {
        struct engine_shape *event = &layout->shapes[host->boundaries.at[i]];
        event->width = event->height = EVENT_SIZE;
        event->x = shape->x + shape->width - (i + 1) * (EVENT_SIZE + 8);
        event->y = shape->y + shape->height - EVENT_SIZE / 2;
    }
}

/* ---- flows ---- */

/* The node of this scope that stands for it in the layers: a boundary event's host does. */
static uint32_t standing(const struct layout *layout, uint32_t node)
{
    uint32_t host = layout->nodes[node].attached_to;
    return host == ENGINE_NONE ? node : host;
}

struct way {
    struct engine_point *points;
    uint32_t count;
};

static void go(struct way *way, double x, double y)
{
    way->points[way->count++] = (struct engine_point){x, y};
}

/* Across, half way up or down, across. */
static void step_to(struct way *way, double turn, double x, double y)
{
    struct engine_point from = way->points[way->count - 1];
    if (from.y != y) {
        turn = turn < from.x ? from.x : turn;
        go(way, turn, from.y);
        go(way, turn, y);
    }
    go(way, x, y);
}

static void lead_back(struct way *way, const struct engine_shape *from,
                      const struct engine_shape *to, double below)
{
    go(way, from->x + from->width / 2, from->y + from->height);
    go(way, from->x + from->width / 2, below);
    go(way, to->x + to->width / 2 - (from == to ? 15 : 0), below);
    go(way, to->x + to->width / 2 - (from == to ? 15 : 0), to->y + to->height);
}

static void lead_on(struct way *way, const struct layers *layers, const struct layers_edge *edge,
                    const struct engine_shape *from, const struct engine_shape *to, bool boundary)
{
    if (boundary) {
        go(way, from->x + from->width / 2, from->y + from->height);
        go(way, from->x + from->width / 2, from->y + from->height + 20);
    } else {
        go(way, from->x + from->width, from->y + from->height / 2);
    }
    for (uint32_t i = 0; i < edge->bend_count; i++) {
        const struct layers_cell *bend = &layers->cells[edge->first_bend + i];
        step_to(way, bend->turn, bend->x + bend->width / 2, bend->y + bend->height / 2);
    }
    step_to(way, layers->cells[edge->target].turn, to->x, to->y + to->height / 2);
}

static bool lead_flow(struct layout *layout, struct engine_flow *flow, const struct layers *layers,
                      const struct layers_edge *edge, double below)
{
    const struct engine_shape *from = &layout->shapes[flow->source];
    const struct engine_shape *to = &layout->shapes[flow->target];
    struct engine_edge *drawn = arena_alloc(layout->arena, sizeof *drawn);
    struct way way = {0};
    way.points = arena_alloc(layout->arena, (8 + 3 * edge->bend_count) * sizeof *way.points);
    if (drawn == NULL || way.points == NULL) {
        return false;
    }
    if (edge->is_back) {
        lead_back(&way, from, to, below);
    } else {
        lead_on(&way, layers, edge, from, to,
                layout->nodes[flow->source].attached_to != ENGINE_NONE);
    }
    *drawn = (struct engine_edge){.points = way.points, .point_count = way.count};
    flow->edge = drawn;
    return true;
}

/* ---- scopes ---- */

static bool is_inside(const struct layout *layout, const struct engine_flow *flow, uint32_t scope)
{
    return flow->source != ENGINE_NONE && flow->target != ENGINE_NONE &&
           layout->nodes[flow->source].scope == scope && layout->nodes[flow->target].scope == scope;
}

static bool collect(struct layout *layout, uint32_t scope, struct engine_indexes children,
                    struct layers *layers)
{
    uint32_t flows = layout->process->flow_count;
    layers->cells = arena_alloc(layout->arena, (children.count + 1) * sizeof *layers->cells);
    layers->edges = arena_alloc(layout->arena, (flows + 1) * sizeof *layers->edges);
    if (layers->cells == NULL || layers->edges == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < children.count; i++) {
        const struct engine_node *node = &layout->nodes[children.at[i]];
        struct size size;
        if (node->attached_to != ENGINE_NONE) {
            continue;
        }
        if (!size_node(layout, node, &size)) {
            return false;
        }
        /* Boundary events hang over the lower edge. */
        double hanging = node->boundaries.count > 0 ? EVENT_SIZE : 0;
        layers->cells[layers->node_count] = (struct layers_cell){
            .width = size.width, .height = size.height + hanging, .is_node = true};
        layout->shapes[node->index].width = size.width;
        layout->shapes[node->index].height = size.height;
        layout->cells[node->index] = layers->node_count++;
    }
    for (uint32_t i = 0; i < flows; i++) {
        const struct engine_flow *flow = &layout->flows[i];
        if (is_inside(layout, flow, scope)) {
            layers->edges[layers->edge_count++] =
                (struct layers_edge){.source = layout->cells[standing(layout, flow->source)],
                                     .target = layout->cells[standing(layout, flow->target)]};
        }
    }
    return true;
}

static bool place_scope(struct layout *layout, uint32_t scope, struct engine_indexes children,
                        struct size *out)
{
    struct layers layers = {0};
    if (!collect(layout, scope, children, &layers) ||
        !engine_layers_place(&layers, layout->arena)) {
        return false;
    }
    for (uint32_t i = 0; i < children.count; i++) {
        const struct engine_node *node = &layout->nodes[children.at[i]];
        if (node->attached_to == ENGINE_NONE) {
            const struct layers_cell *cell = &layers.cells[layout->cells[node->index]];
            layout->shapes[node->index].x = cell->x;
            layout->shapes[node->index].y = cell->y;
            place_boundaries(layout, node);
        }
    }
    *out = (struct size){layers.width, layers.height};
    uint32_t number = 0;
    for (uint32_t i = 0; i < layout->process->flow_count; i++) {
        struct engine_flow *flow = &layout->flows[i];
        if (is_inside(layout, flow, scope)) {
            const struct layers_edge *edge = &layers.edges[number++];
            out->height += edge->is_back ? AROUND : 0;
            if (!lead_flow(layout, flow, &layers, edge, out->height)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- from within a scope to the page ---- */

static struct engine_point origin_of(const struct layout *layout, uint32_t scope)
{
    struct engine_point origin = {MARGIN, MARGIN};
    for (; scope != ENGINE_NONE; scope = layout->nodes[scope].scope) {
        origin.x += layout->shapes[scope].x + PADDING_X;
        origin.y += layout->shapes[scope].y + PADDING_Y;
    }
    return origin;
}

static void move_to_page(struct layout *layout, struct engine_shape *placed)
{
    for (uint32_t i = 0; i < layout->process->flow_count; i++) {
        struct engine_flow *flow = &layout->flows[i];
        if (flow->edge == NULL) {
            continue;
        }
        struct engine_point origin = origin_of(layout, layout->nodes[flow->source].scope);
        struct engine_point *points = (struct engine_point *)(uintptr_t)flow->edge->points;
        for (uint32_t j = 0; j < flow->edge->point_count; j++) {
            points[j].x += origin.x;
            points[j].y += origin.y;
        }
    }
    for (uint32_t i = 0; i < layout->process->node_count; i++) {
        struct engine_point origin = origin_of(layout, layout->nodes[i].scope);
        placed[i] = layout->shapes[i];
        placed[i].x += origin.x;
        placed[i].y += origin.y;
        layout->nodes[i].shape = &placed[i];
    }
}

/* ---- the whole ---- */

const struct engine_process *engine_write_layout(const struct engine_process *process,
                                                 struct arena *arena)
{
    struct layout layout = {.arena = arena};
    uint32_t nodes = process->node_count;
    struct engine_shape *placed = arena_alloc(arena, (nodes + 1) * sizeof *placed);
    layout.process = arena_alloc(arena, sizeof *layout.process);
    layout.nodes = arena_alloc(arena, (nodes + 1) * sizeof *layout.nodes);
    layout.flows = arena_alloc(arena, (process->flow_count + 1) * sizeof *layout.flows);
    layout.shapes = arena_alloc(arena, (nodes + 1) * sizeof *layout.shapes);
    layout.cells = arena_alloc(arena, (nodes + 1) * sizeof *layout.cells);
    if (placed == NULL || layout.process == NULL || layout.nodes == NULL || layout.flows == NULL ||
        layout.shapes == NULL || layout.cells == NULL) {
        return NULL;
    }
    *layout.process = *process;
    memcpy(layout.nodes, process->nodes, nodes * sizeof *layout.nodes);
    memcpy(layout.flows, process->flows, process->flow_count * sizeof *layout.flows);
    memset(layout.shapes, 0, (nodes + 1) * sizeof *layout.shapes);
    for (uint32_t i = 0; i < process->flow_count; i++) {
        layout.flows[i].edge = NULL;
    }
    struct size size;
    if (!place_scope(&layout, ENGINE_NONE, process->children, &size)) {
        return NULL;
    }
    move_to_page(&layout, placed);
    layout.process->nodes = layout.nodes;
    layout.process->flows = layout.flows;
    return layout.process;
}
