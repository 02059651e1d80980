/*
 * layers.c: see layers.h. The usual four steps: edges that close circles are set aside, layers by
 * the longest way, order within a layer by the neighbours' mean, heights likewise.
 */
#include "engine/write/layers.h"

#include <string.h>

#include "proto/base/assert.h"

enum {
    GAP_X = 60,
    GAP_Y = 40,
    SWEEPS = 6,
    CELLS_MAX = 4000, /* beyond it nobody could look at it, and placing costs its square */
    BEND_HEIGHT = 10,
};

/* Edges by the node at one end: edge indexes in runs. */
struct runs {
    uint32_t *begin; /* node_count + 1 */
    uint32_t *edges;
};

static bool make_runs(const struct layers *layers, struct arena *arena, struct runs *out)
{
    uint32_t nodes = layers->node_count;
    out->begin = arena_alloc(arena, (nodes + 2) * sizeof *out->begin);
    out->edges = arena_alloc(arena, (layers->edge_count + 1) * sizeof *out->edges);
    if (out->begin == NULL || out->edges == NULL) {
        return false;
    }
    memset(out->begin, 0, (nodes + 2) * sizeof *out->begin);
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        out->begin[layers->edges[i].source + 2]++;
    }
    for (uint32_t i = 1; i < nodes + 2; i++) {
        out->begin[i] += out->begin[i - 1];
    }
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        out->edges[out->begin[layers->edges[i].source + 1]++] = i;
    }
    return true;
}

/* ---- circles ---- */

/* Depth first, with a stack of our own: an edge to a node that is still open closes a circle. */
static bool find_circles(struct layers *layers, const struct runs *runs, struct arena *arena)
{
    uint32_t nodes = layers->node_count;
    uint8_t *state = arena_alloc(arena, nodes + 1);
    uint32_t *stack = arena_alloc(arena, (nodes + 1) * sizeof *stack);
    uint32_t *at = arena_alloc(arena, (nodes + 1) * sizeof *at);
    if (state == NULL || stack == NULL || at == NULL) {
        return false;
    }
    memset(state, 0, nodes);
    for (uint32_t root = 0; root < nodes; root++) {
        uint32_t depth = 0;
        if (state[root] == 0) {
            stack[depth++] = root;
            state[root] = 1;
            at[root] = runs->begin[root];
        }
        while (depth > 0) {
            uint32_t node = stack[depth - 1];
            if (at[node] == runs->begin[node + 1]) {
                state[node] = 2;
                depth--;
                continue;
            }
            struct layers_edge *edge = &layers->edges[runs->edges[at[node]++]];
            if (state[edge->target] == 1) {
                edge->is_back = true;
            } else if (state[edge->target] == 0) {
                state[edge->target] = 1;
                at[edge->target] = runs->begin[edge->target];
                stack[depth++] = edge->target;
            }
        }
    }
    return true;
}

/* ---- layers ---- */

static bool find_layers(struct layers *layers, const struct runs *runs, struct arena *arena)
{
    uint32_t nodes = layers->node_count;
    uint32_t *missing = arena_alloc(arena, (nodes + 1) * sizeof *missing);
    uint32_t *ready = arena_alloc(arena, (nodes + 1) * sizeof *ready);
    uint32_t head = 0, tail = 0;
    if (missing == NULL || ready == NULL) {
        return false;
    }
    memset(missing, 0, nodes * sizeof *missing);
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        missing[layers->edges[i].target] += !layers->edges[i].is_back;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        layers->cells[i].layer = 0;
        if (missing[i] == 0) {
            ready[tail++] = i;
        }
    }
    while (head < tail) {
        uint32_t node = ready[head++];
        for (uint32_t i = runs->begin[node]; i < runs->begin[node + 1]; i++) {
            const struct layers_edge *edge = &layers->edges[runs->edges[i]];
            if (edge->is_back) {
                continue;
            }
            struct layers_cell *target = &layers->cells[edge->target];
            uint32_t behind = layers->cells[node].layer + 1;
            target->layer = target->layer > behind ? target->layer : behind;
            if (--missing[edge->target] == 0) {
                ready[tail++] = edge->target;
            }
        }
    }
    ASSERT(tail == nodes); /* no circle is left */
    return true;
}

/* A cell in each layer that an edge passes. */
static bool add_bends(struct layers *layers, struct arena *arena)
{
    uint64_t cells = layers->node_count;
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        const struct layers_edge *edge = &layers->edges[i];
        uint32_t from = layers->cells[edge->source].layer;
        uint32_t to = layers->cells[edge->target].layer;
        cells += edge->is_back ? 0 : to - from - 1;
    }
    struct layers_cell *all =
        cells > CELLS_MAX ? NULL : arena_alloc(arena, (size_t)(cells + 1) * sizeof *all);
    if (all == NULL) {
        return false;
    }
    memcpy(all, layers->cells, layers->node_count * sizeof *all);
    layers->cells = all;
    layers->cell_count = layers->node_count;
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        struct layers_edge *edge = &layers->edges[i];
        edge->first_bend = layers->cell_count;
        edge->bend_count = 0;
        uint32_t layer = all[edge->source].layer + 1;
        for (; !edge->is_back && layer < all[edge->target].layer; layer++) {
            all[layers->cell_count++] = (struct layers_cell){.layer = layer, .height = BEND_HEIGHT};
            edge->bend_count++;
        }
    }
    return true;
}

/* ---- order and heights ---- */

struct order {
    uint32_t *cells; /* by layer, each layer from top to bottom */
    uint32_t *begin; /* layer_count + 1 */
    uint32_t layer_count;
    double *sums; /* by cell: of the neighbours' places */
    uint32_t *counts;
};

static bool make_order(const struct layers *layers, struct arena *arena, struct order *out)
{
    uint32_t count = layers->cell_count;
    out->layer_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t layer = layers->cells[i].layer + 1;
        out->layer_count = layer > out->layer_count ? layer : out->layer_count;
    }
    out->cells = arena_alloc(arena, (count + 1) * sizeof *out->cells);
    out->begin = arena_alloc(arena, (out->layer_count + 2) * sizeof *out->begin);
    out->sums = arena_alloc(arena, (count + 1) * sizeof *out->sums);
    out->counts = arena_alloc(arena, (count + 1) * sizeof *out->counts);
    if (out->cells == NULL || out->begin == NULL || out->sums == NULL || out->counts == NULL) {
        return false;
    }
    memset(out->begin, 0, (out->layer_count + 2) * sizeof *out->begin);
    for (uint32_t i = 0; i < count; i++) {
        out->begin[layers->cells[i].layer + 2]++;
    }
    for (uint32_t i = 1; i < out->layer_count + 2; i++) {
        out->begin[i] += out->begin[i - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        out->cells[out->begin[layers->cells[i].layer + 1]++] = i;
    }
    return true;
}

static double middle(const struct layers_cell *cell)
{
    return cell->y + cell->height / 2;
}

static void pull(struct order *order, const struct layers *layers, uint32_t left, uint32_t right,
                 bool forward)
{
    uint32_t to = forward ? right : left;
    order->sums[to] += middle(&layers->cells[forward ? left : right]);
    order->counts[to]++;
}

/* Each cell wishes to be where its neighbours on one side are, on the whole. */
static void find_wishes(struct order *order, struct layers *layers, bool forward)
{
    for (uint32_t i = 0; i < layers->cell_count; i++) {
        order->sums[i] = 0;
        order->counts[i] = 0;
    }
    for (uint32_t i = 0; i < layers->edge_count; i++) {
        const struct layers_edge *edge = &layers->edges[i];
        uint32_t left = edge->source;
        for (uint32_t j = 0; !edge->is_back && j < edge->bend_count; j++) {
            pull(order, layers, left, edge->first_bend + j, forward);
            left = edge->first_bend + j;
        }
        if (!edge->is_back) {
            pull(order, layers, left, edge->target, forward);
        }
    }
    for (uint32_t i = 0; i < layers->cell_count; i++) {
        layers->cells[i].wish =
            order->counts[i] > 0 ? order->sums[i] / order->counts[i] : middle(&layers->cells[i]);
    }
}

/* Insertion keeps those that wish the same in their order. */
static void sort_layer(const struct layers *layers, uint32_t *cells, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moved = cells[i];
        uint32_t j = i;
        while (j > 0 && layers->cells[cells[j - 1]].wish > layers->cells[moved].wish) {
            cells[j] = cells[j - 1];
            j--;
        }
        cells[j] = moved;
    }
}

/* From top to bottom without overlap, then all together to where they wish to be on the whole. */
static void stack_layer(const struct layers *layers, const uint32_t *cells, uint32_t count)
{
    double y = 0, off = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct layers_cell *cell = &layers->cells[cells[i]];
        double wished = cell->wish - cell->height / 2;
        cell->y = i == 0 || wished > y ? wished : y;
        y = cell->y + cell->height + GAP_Y;
        off += wished - cell->y;
    }
    for (uint32_t i = 0; i < count; i++) {
        layers->cells[cells[i]].y += off / count;
    }
}

static void sweep(struct order *order, struct layers *layers, bool forward)
{
    for (uint32_t step = 0; step < order->layer_count; step++) {
        uint32_t layer = forward ? step : order->layer_count - 1 - step;
        uint32_t *cells = order->cells + order->begin[layer];
        uint32_t count = order->begin[layer + 1] - order->begin[layer];
        for (uint32_t i = 0; i < count; i++) {
            struct layers_cell *cell = &layers->cells[cells[i]];
            cell->wish = order->counts[cells[i]] > 0 ? cell->wish : middle(cell);
        }
        sort_layer(layers, cells, count);
        stack_layer(layers, cells, count);
        if (step + 1 < order->layer_count) {
            find_wishes(order, layers, forward);
        }
    }
}

/* ---- the whole ---- */

static void place_columns(const struct order *order, struct layers *layers)
{
    double x = 0, top = 0, bottom = 0;
    for (uint32_t layer = 0; layer < order->layer_count; layer++) {
        double width = 0;
        for (uint32_t i = order->begin[layer]; i < order->begin[layer + 1]; i++) {
            const struct layers_cell *cell = &layers->cells[order->cells[i]];
            width = cell->width > width ? cell->width : width;
            top = cell->y < top ? cell->y : top;
        }
        for (uint32_t i = order->begin[layer]; i < order->begin[layer + 1]; i++) {
            struct layers_cell *cell = &layers->cells[order->cells[i]];
            cell->x = x + (width - cell->width) / 2;
            cell->turn = x - (double)GAP_X / 2;
        }
        x += width + GAP_X;
    }
    for (uint32_t i = 0; i < layers->cell_count; i++) {
        struct layers_cell *cell = &layers->cells[i];
        cell->y = (double)(int64_t)(cell->y - top + 0.5);
        bottom = cell->y + cell->height > bottom ? cell->y + cell->height : bottom;
    }
    layers->width = x > GAP_X ? x - GAP_X : x;
    layers->height = bottom;
}

bool engine_layers_place(struct layers *layers, struct arena *arena)
{
    struct runs runs;
    struct order order;
    if (!make_runs(layers, arena, &runs) || !find_circles(layers, &runs, arena) ||
        !find_layers(layers, &runs, arena) || !add_bends(layers, arena) ||
        !make_order(layers, arena, &order)) {
        return false;
    }
    find_wishes(&order, layers, true);
    for (unsigned i = 0; i < SWEEPS; i++) {
        sweep(&order, layers, i % 2 == 0);
    }
    sweep(&order, layers, true);
    place_columns(&order, layers);
    return true;
}
