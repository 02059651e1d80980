/*
 * reach.c: see reach.h. One walk against the flows for each incoming flow of such a join.
 */
#include "engine/read/reach.h"

static bool is_link(const struct engine_node *node, enum engine_kind kind)
{
    return node->kind == kind && node->event_count == 1 && node->events[0].kind == ENGINE_ON_LINK;
}

/* BPMN 2.0.2 §10.5.5: the two ends of a link are events of one name in one scope. */
static uint32_t find_catch(const struct engine_process *process, const struct engine_node *throws)
{
    struct engine_indexes siblings =
        throws->scope == ENGINE_NONE ? process->children : process->nodes[throws->scope].children;
    for (uint32_t i = 0; i < siblings.count; i++) {
        const struct engine_node *node = &process->nodes[siblings.at[i]];
        if (is_link(node, ENGINE_INTERMEDIATE_CATCH_EVENT) &&
            span_equal(node->events[0].name, throws->events[0].name)) {
            return node->index;
        }
    }
    return ENGINE_NONE;
}

/* A walk: which nodes it has seen, and those whose predecessors are still to be looked at. */
struct walk {
    const struct engine_process *process;
    uint32_t join;
    uint8_t *seen;
    uint32_t *open;
    uint32_t open_count;
};

static void see(struct walk *walk, uint32_t node)
{
    uint8_t bit = (uint8_t)(1u << (node % 8));
    if (node == ENGINE_NONE || (walk->seen[node / 8] & bit) != 0) {
        return;
    }
    walk->seen[node / 8] |= bit;
    if (node != walk->join) { /* what lies behind the join must pass it */
        walk->open[walk->open_count++] = node;
    }
}

static bool takes_tokens(const struct engine_node *boundary)
{
    return boundary->event_count == 0 || boundary->events[0].kind != ENGINE_ON_COMPENSATION;
}

static void see_predecessors(struct walk *walk, const struct engine_node *node)
{
    const struct engine_process *process = walk->process;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        see(walk, process->flows[node->incoming.at[i]].source);
    }
    if (node->attached_to != ENGINE_NONE && takes_tokens(node)) {
        see(walk, node->attached_to);
    }
    for (uint32_t i = 0; is_link(node, ENGINE_INTERMEDIATE_CATCH_EVENT) && i < process->node_count;
         i++) {
        if (process->nodes[i].link_target == node->index) {
            see(walk, i);
        }
    }
}

/* An activation condition may want several tokens of one flow. */
static bool looks_around(const struct engine_node *node)
{
    bool joins = node->kind == ENGINE_INCLUSIVE_GATEWAY || node->kind == ENGINE_COMPLEX_GATEWAY;
    bool is_conditional = node->kind == ENGINE_COMPLEX_GATEWAY && node->condition != NULL;
    return joins && node->incoming.count >= (is_conditional ? 1u : 2u);
}

static const uint8_t *reach_of(struct arena *arena, struct walk *walk,
                               const struct engine_node *join)
{
    size_t row_bytes = (walk->process->node_count + 7) / 8;
    uint8_t *rows = arena_zero(arena, join->incoming.count * row_bytes);
    for (uint32_t i = 0; rows != NULL && i < join->incoming.count; i++) {
        walk->join = join->index;
        walk->seen = rows + i * row_bytes;
        walk->open_count = 0;
        see(walk, walk->process->flows[join->incoming.at[i]].source);
        while (walk->open_count > 0) {
            see_predecessors(walk, &walk->process->nodes[walk->open[--walk->open_count]]);
        }
    }
    return rows;
}

void engine_reach_build(struct arena *arena, const struct engine_process *process,
                        struct engine_node *nodes)
{
    struct walk walk = {.process = process};
    for (uint32_t i = 0; i < process->node_count; i++) {
        bool throws = is_link(&nodes[i], ENGINE_INTERMEDIATE_THROW_EVENT);
        nodes[i].link_target = throws ? find_catch(process, &nodes[i]) : ENGINE_NONE;
    }
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (!looks_around(&nodes[i])) {
            continue;
        }
        if (walk.open == NULL) {
            walk.open = arena_alloc(arena, process->node_count * sizeof walk.open[0]);
        }
        if (walk.open == NULL) {
            return; /* latched in the arena; the definition is refused */
        }
        nodes[i].reach = reach_of(arena, &walk, &nodes[i]);
    }
}
