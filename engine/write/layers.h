/*
 * layers.h: a directed graph in layers from left to right, each node behind those that lead to it:
 * the order in which a drawing puts nodes side by side. Pure arithmetic over indexes and sizes.
 */
#ifndef ENGINE_WRITE_LAYERS_H
#define ENGINE_WRITE_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"

/* A place in a layer: a node, or where a long edge passes. */
struct layers_cell {
    double width, height; /* given for nodes */
    double x, y;          /* out: its left upper corner */
    double turn;          /* out: where ways to it go up or down: in the gap before its layer */
    uint32_t layer;
    bool is_node;
    double wish; /* private: where its neighbours would have it */
};

struct layers_edge {
    uint32_t source, target; /* nodes */
    bool is_back;            /* out: it closes a circle, and is led around */
    uint32_t first_bend;     /* out: cells that it passes, one a layer, in order */
    uint32_t bend_count;
};

struct layers {
    struct layers_cell *cells; /* nodes first; room for node_count, more are added */
    uint32_t node_count;
    uint32_t cell_count;
    uint32_t cell_capacity;
    struct layers_edge *edges;
    uint32_t edge_count;
    double width, height; /* out: of all */
};

/* false: the arena is full, or the graph too large to be drawn. */
bool engine_layers_place(struct layers *layers, struct arena *arena);

#endif
