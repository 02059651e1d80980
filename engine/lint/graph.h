/*
 * graph.h: paths through a process: who can reach whom, and who is on every way to whom
 * (dominance).
 *
 * Vertices are the nodes, then the flows (so that an arm of a gateway is a vertex of its own), then
 * ENTRY and EXIT. All memory is in the arena given. Work is bounded: on a graph too tangled for the
 * budget, dominance gives up.
 */
#ifndef ENGINE_LINT_GRAPH_H
#define ENGINE_LINT_GRAPH_H

#include "engine/model.h"

struct lint_graph {
    uint32_t count;
    uint32_t entry;
    uint32_t exit;
    const uint32_t *first; /* successors of v: next[first[v]] to next[first[v + 1] - 1] */
    const uint32_t *next;
};

/* Immediate dominators as a tree; `enter` and `leave` number it, so that ancestry is a comparison.
 */
struct lint_dominance {
    const uint32_t *parent; /* ENGINE_NONE: not reachable from the root; the root is its own */
    const uint32_t *depth;
    const uint32_t *enter;
    const uint32_t *leave;
};

enum lint_direction { LINT_FORWARD, LINT_BACKWARD };

/*
 * FORWARD: from ENTRY to the starts of each scope, along flows, from a link throw to its catch,
 * from a host to its boundary events. BACKWARD: the flows turned round, from EXIT to whatever has
 * no way on; boundary events are left out, so that "on every way to the end" means the regular
 * ways.
 */
MUST_USE enum result engine_graph_build(const struct engine_process *process,
                                        enum lint_direction direction, struct arena *arena,
                                        struct lint_graph *out);

/* From `root`. RESULT_LIMIT: no memory, or too tangled. */
MUST_USE enum result engine_graph_dominance(const struct lint_graph *graph, uint32_t root,
                                            struct arena *arena, struct lint_dominance *out);

static inline uint32_t engine_graph_flow(const struct engine_process *process, uint32_t flow)
{
    return process->node_count + flow;
}

/* Does every way from the root to b lead through a? (Also when a == b.) False for what cannot be
 * reached. */
static inline bool engine_graph_dominates(const struct lint_dominance *tree, uint32_t a, uint32_t b)
{
    return tree->parent[a] != ENGINE_NONE && tree->parent[b] != ENGINE_NONE &&
           tree->enter[a] <= tree->enter[b] && tree->leave[b] <= tree->leave[a];
}

#endif
