/*
 * graph.c: adjacency in compressed rows, and dominators by Cooper, Harvey and Kennedy ("A simple,
 * fast dominance algorithm").
 */
#include "engine/lint/graph.h"

#include "proto/base/assert.h"

enum { STEPS_MAX = 20 * 1000 * 1000, LINK_STEPS_MAX = 1000 * 1000 };

/* ---- building: every edge is announced twice, first to be counted, then to be placed ---- */

struct builder {
    uint32_t *first; /* while counting: out-degree of v at first[v + 1]; while placing: next free
                        place of v at first[v] */
    uint32_t *next;  /* NULL while counting */
    uint32_t link_steps;
};

static void edge(struct builder *builder, uint32_t from, uint32_t to)
{
    if (builder->next == NULL) {
        builder->first[from + 1]++;
    } else {
        builder->next[builder->first[from]++] = to;
    }
}

/* From counts to first places. */
static void sum_up(struct builder *builder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        builder->first[i + 1] += builder->first[i];
    }
}

/* Placing moved each first[v] to the begin of v + 1. */
static void move_back(struct builder *builder, uint32_t count)
{
    for (uint32_t i = count; i > 0; i--) {
        builder->first[i] = builder->first[i - 1];
    }
    builder->first[0] = 0;
}

static bool is_link(const struct engine_node *node, enum engine_kind kind)
{
    return node->kind == kind && node->event_count > 0 && node->events[0].kind == ENGINE_ON_LINK;
}

/* Link events of one name join two ends of a path in the same scope (BPMN 2.0.2 §10.5.5). */
static bool add_link_edges(const struct engine_process *process, const struct engine_node *from,
                           struct builder *builder)
{
    bool has_target = false;
    struct engine_indexes siblings =
        from->scope == ENGINE_NONE ? process->children : process->nodes[from->scope].children;
    for (uint32_t i = 0; i < siblings.count; i++) {
        const struct engine_node *to = &process->nodes[siblings.at[i]];
        if (is_link(to, ENGINE_INTERMEDIATE_CATCH_EVENT) &&
            span_equal(to->events[0].name, from->events[0].name)) {
            edge(builder, from->index, to->index);
            has_target = true;
        }
    }
    return has_target;
}

/* Start events, triggered ones too, are entered anyway; these are the starts of a scope without
 * any. */
static void add_start_edges(const struct engine_process *process, struct engine_indexes starts,
                            const struct lint_graph *graph, struct builder *builder)
{
    for (uint32_t i = 0; i < starts.count; i++) {
        if (process->nodes[starts.at[i]].kind != ENGINE_START_EVENT) {
            edge(builder, graph->entry, starts.at[i]);
        }
    }
}

static void add_node_edges(const struct engine_process *process, const struct engine_node *node,
                           const struct lint_graph *graph, enum lint_direction direction,
                           struct builder *builder)
{
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        edge(builder, node->index, engine_graph_flow(process, node->outgoing.at[i]));
    }
    for (uint32_t i = 0; direction == LINT_FORWARD && i < node->boundaries.count; i++) {
        edge(builder, node->index, node->boundaries.at[i]);
    }
    /* What a message begins, or undoes an activity, no flow leads to. */
    if (node->kind == ENGINE_START_EVENT || node->for_compensation || node->instantiate) {
        edge(builder, graph->entry, node->index);
    }
    add_start_edges(process, node->starts, graph, builder);
    bool goes_on = node->outgoing.count > 0;
    if (is_link(node, ENGINE_INTERMEDIATE_THROW_EVENT)) {
        goes_on |= add_link_edges(process, node, builder);
    }
    if (!goes_on) {
        edge(builder, node->index, graph->exit);
    }
}

static void add_edges(const struct engine_process *process, const struct lint_graph *graph,
                      enum lint_direction direction, struct builder *builder)
{
    builder->link_steps = 0;
    for (uint32_t i = 0; i < process->node_count; i++) {
        add_node_edges(process, &process->nodes[i], graph, direction, builder);
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        const struct engine_flow *flow = &process->flows[i];
        if (flow->source != ENGINE_NONE && flow->target != ENGINE_NONE) {
            edge(builder, engine_graph_flow(process, i), flow->target);
        }
    }
    add_start_edges(process, process->starts, graph, builder);
}

static enum result build_rows(const struct engine_process *process, enum lint_direction direction,
                              struct arena *arena, struct lint_graph *out)
{
    uint32_t count = process->node_count + process->flow_count + 2;
    *out = (struct lint_graph){.count = count, .entry = count - 2, .exit = count - 1};
    struct builder builder = {.first = arena_zero(arena, (count + 1) * sizeof *builder.first)};
    if (builder.first == NULL) {
        return RESULT_LIMIT;
    }
    add_edges(process, out, direction, &builder);
    sum_up(&builder, count);
    builder.next = arena_alloc(arena, builder.first[count] * sizeof *builder.next);
    if (builder.next == NULL) {
        return RESULT_LIMIT;
    }
    add_edges(process, out, direction, &builder);
    move_back(&builder, count);
    out->first = builder.first;
    out->next = builder.next;
    return RESULT_OK;
}

/* The same graph with every edge turned round. */
static enum result turn(const struct lint_graph *graph, struct arena *arena, struct lint_graph *out)
{
    uint32_t count = graph->count;
    struct builder builder = {.first = arena_zero(arena, (count + 1) * sizeof *builder.first)};
    uint32_t *next = arena_alloc(arena, graph->first[count] * sizeof *next);
    if (builder.first == NULL || next == NULL) {
        return RESULT_LIMIT;
    }
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t from = 0; from < count; from++) {
            for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++) {
                edge(&builder, graph->next[i], from);
            }
        }
        if (round == 0) {
            sum_up(&builder, count);
            builder.next = next;
        }
    }
    move_back(&builder, count);
    *out = *graph;
    out->first = builder.first;
    out->next = builder.next;
    return RESULT_OK;
}

enum result engine_graph_build(const struct engine_process *process, enum lint_direction direction,
                               struct arena *arena, struct lint_graph *out)
{
    struct lint_graph graph;
    enum result result = build_rows(process, direction, arena, &graph);
    if (result != RESULT_OK || direction == LINT_FORWARD) {
        *out = graph;
        return result;
    }
    return turn(&graph, arena, out);
}

/* ---- depth-first order ---- */

struct order {
    uint32_t *post;   /* vertices reached, each behind those it leads to (but for loops) */
    uint32_t *number; /* place in post; ENGINE_NONE: not reached */
    uint32_t count;
};

static uint32_t *new_array(struct arena *arena, uint32_t count, uint8_t filler)
{
    uint32_t *array = arena_alloc(arena, count * sizeof *array);
    if (array != NULL) {
        memset(array, filler, count * sizeof *array);
    }
    return array;
}

/* Iterative; cursor[v] is the next edge of v to follow, ENGINE_NONE before v was met. */
static bool depth_first(const struct lint_graph *graph, uint32_t root, struct arena *arena,
                        struct order *out)
{
    uint32_t *stack = new_array(arena, graph->count, 0);
    uint32_t *cursor = new_array(arena, graph->count, 0xff);
    out->post = new_array(arena, graph->count, 0);
    out->number = new_array(arena, graph->count, 0xff);
    out->count = 0;
    if (stack == NULL || cursor == NULL || out->post == NULL || out->number == NULL) {
        return false;
    }
    uint32_t depth = 0;
    stack[depth++] = root;
    cursor[root] = graph->first[root];
    while (depth > 0) {
        uint32_t at = stack[depth - 1];
        if (cursor[at] == graph->first[at + 1]) {
            out->number[at] = out->count;
            out->post[out->count++] = at;
            depth--;
            continue;
        }
        uint32_t to = graph->next[cursor[at]++];
        if (cursor[to] == ENGINE_NONE) {
            ASSERT(depth < graph->count);
            cursor[to] = graph->first[to];
            stack[depth++] = to;
        }
    }
    return true;
}

/* ---- dominators ---- */

/* The nearest common ancestor of two vertices in the tree so far. */
static uint32_t intersect(const uint32_t *parent, const struct order *order, uint32_t a, uint32_t b,
                          uint32_t *steps)
{
    while (a != b && *steps < STEPS_MAX) {
        (*steps)++;
        if (order->number[a] < order->number[b]) {
            a = parent[a];
        } else {
            b = parent[b];
        }
    }
    return a;
}

/* One round over all vertices; was anything changed? */
static bool refine(const struct lint_graph *backward, const struct order *order, uint32_t *parent,
                   uint32_t *steps)
{
    bool changed = false;
    ASSERT(order->count > 0);
    for (uint32_t i = order->count - 1; i > 0; i--) {
        uint32_t at = order->post[i - 1];
        uint32_t common = ENGINE_NONE;
        for (uint32_t j = backward->first[at]; j < backward->first[at + 1]; j++) {
            uint32_t from = backward->next[j];
            (*steps)++;
            if (parent[from] != ENGINE_NONE) {
                common =
                    common == ENGINE_NONE ? from : intersect(parent, order, from, common, steps);
            }
        }
        changed |= parent[at] != common;
        parent[at] = common;
    }
    return changed;
}

/* Children get numbers within their parent's; in reverse postorder a parent always comes first. */
static bool number_tree(const struct order *order, uint32_t count, const uint32_t *parent,
                        struct arena *arena, struct lint_dominance *out)
{
    uint32_t *size = new_array(arena, count, 0);  /* descendants */
    uint32_t *taken = new_array(arena, count, 0); /* numbers that children have got */
    uint32_t *depth = new_array(arena, count, 0);
    uint32_t *enter = new_array(arena, count, 0);
    uint32_t *leave = new_array(arena, count, 0);
    if (size == NULL || taken == NULL || depth == NULL || enter == NULL || leave == NULL) {
        return false;
    }
    for (uint32_t i = 0; i + 1 < order->count; i++) {
        uint32_t at = order->post[i];
        size[parent[at]] += size[at] + 1;
    }
    uint32_t root = order->post[order->count - 1];
    leave[root] = size[root];
    for (uint32_t i = order->count - 1; i > 0; i--) {
        uint32_t at = order->post[i - 1];
        uint32_t above = parent[at];
        enter[at] = enter[above] + 1 + taken[above];
        taken[above] += size[at] + 1;
        leave[at] = enter[at] + size[at];
        depth[at] = depth[above] + 1;
    }
    *out =
        (struct lint_dominance){.parent = parent, .depth = depth, .enter = enter, .leave = leave};
    return true;
}

enum result engine_graph_dominance(const struct lint_graph *graph, uint32_t root,
                                   struct arena *arena, struct lint_dominance *out)
{
    struct order order;
    struct lint_graph backward;
    uint32_t *parent = new_array(arena, graph->count, 0xff);
    if (parent == NULL || !depth_first(graph, root, arena, &order) ||
        turn(graph, arena, &backward) != RESULT_OK) {
        return RESULT_LIMIT;
    }
    parent[root] = root;
    uint32_t steps = 0;
    while (refine(&backward, &order, parent, &steps) && steps < STEPS_MAX) {
    }
    if (steps >= STEPS_MAX) {
        return RESULT_LIMIT;
    }
    return number_tree(&order, graph->count, parent, arena, out) ? RESULT_OK : RESULT_LIMIT;
}
