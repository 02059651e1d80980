/*
 * plain.c: joins and results of a block scheme in words that other notations have.
 *
 * A block that waits for several faces gets a parallel gateway before it, and its back faces go
 * round that (model.h, engine_join_rule: ALL). A result becomes the condition that the module's
 * output is that text; and where all faces of a block have one, a default flow to an end of its
 * own: the dead end.
 */
#include "engine/read/link.h"
#include "engine/write/writing.h"
#include "proto/base/assert.h"

struct plain {
    struct writing *writing;
    struct engine_process *process;
    struct engine_node *nodes;
    struct engine_flow *flows;
};

static uint32_t count_results(const struct engine_process *process, const struct engine_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->outgoing.count && node->kind != ENGINE_START_EVENT; i++) {
        count += process->flows[node->outgoing.at[i]].result.count > 0;
    }
    return count;
}

static bool ends_dead(const struct engine_process *process, const struct engine_node *node)
{
    uint32_t results = count_results(process, node);
    return results > 0 && results == node->outgoing.count;
}

static struct span derived_id(struct plain *plain, struct span id, const char *suffix)
{
    struct arena *arena = plain->writing->arena;
    struct span made = arena_format(arena, "%.*s_%s", SPAN_ARG(id), suffix);
    bool is_taken = engine_process_node(plain->process, made) != NULL;
    for (uint32_t i = 0; i < plain->process->flow_count; i++) {
        is_taken |= span_equal(plain->flows[i].id, made);
    }
    return is_taken ? engine_numbering_make(&plain->writing->numbering, suffix, arena) : made;
}

static uint32_t add_node(struct plain *plain, enum engine_kind kind, const struct engine_node *near,
                         const char *suffix)
{
    uint32_t index = plain->process->node_count;
    plain->nodes[index] = (struct engine_node){
        .index = index,
        .kind = kind,
        .id = derived_id(plain, near->id, suffix),
        .scope = near->scope,
        .attached_to = ENGINE_NONE,
        .default_flow = ENGINE_NONE,
        .interrupting = true,
    };
    if (near->shape != NULL) {
        struct engine_shape *shape = arena_zero(plain->writing->arena, sizeof *shape);
        if (shape != NULL) {
            shape->x = near->shape->x + (kind == ENGINE_PARALLEL_GATEWAY ? -80 : 140);
            shape->y = near->shape->y + 15;
        }
        plain->nodes[index].shape = shape;
    }
    plain->process->node_count++;
    return index;
}

static uint32_t add_flow(struct plain *plain, uint32_t source, uint32_t target)
{
    uint32_t index = plain->process->flow_count;
    plain->flows[index] = (struct engine_flow){
        .index = index,
        .source = source,
        .target = target,
        .id = engine_numbering_make(&plain->writing->numbering, "flow", plain->writing->arena),
    };
    plain->process->flow_count++;
    return index;
}

static void add_join(struct plain *plain, const struct engine_node *block)
{
    uint32_t join = add_node(plain, ENGINE_PARALLEL_GATEWAY, block, "join");
    for (uint32_t i = 0; i < block->incoming.count; i++) {
        struct engine_flow *flow = &plain->flows[block->incoming.at[i]];
        if (!flow->is_back) {
            flow->target = join;
            flow->edge = NULL;
        }
    }
    add_flow(plain, join, block->index);
}

/* FEEL. An output that is no text is compared by its JSON: string(true) is "true". */
static const struct engine_expression *condition_of(struct plain *plain, struct span result)
{
    struct arena *arena = plain->writing->arena;
    const struct engine_expression *condition = NULL;
    struct engine_expression_error error;
    struct wire_writer text;
    wire_writer_init(&text, arena, result.count + 64);
    wire_write_raw(&text, span_text("string(output) = \""));
    for (size_t i = 0; i < result.count; i++) {
        bool is_escaped = result.bytes[i] == '"' || result.bytes[i] == '\\';
        wire_write_raw(&text, span_text(is_escaped ? "\\" : ""));
        wire_write_raw(&text, span_of(result.bytes + i, 1));
    }
    wire_write_raw(&text, span_text("\""));
    enum result compiled = engine_expression_compile(wire_writer_span(&text), ENGINE_DIALECT_FEEL,
                                                     arena, &condition, &error);
    return compiled == RESULT_OK ? condition : NULL;
}

static void add_conditions(struct plain *plain, const struct engine_node *block)
{
    if (block->kind == ENGINE_START_EVENT) {
        return; /* activates all, whatever their results */
    }
    for (uint32_t i = 0; i < block->outgoing.count; i++) {
        struct engine_flow *flow = &plain->flows[block->outgoing.at[i]];
        if (flow->result.count > 0) {
            flow->condition = condition_of(plain, flow->result);
            if (flow->name.count == 0) {
                flow->name = flow->result;
            }
        }
    }
}

static void add_dead_end(struct plain *plain, const struct engine_node *block)
{
    uint32_t end = add_node(plain, ENGINE_END_EVENT, block, "end");
    uint32_t flow = add_flow(plain, block->index, end);
    plain->flows[flow].is_default = true;
    plain->nodes[block->index].default_flow = flow;
}

/* ---- the whole ---- */

struct extent {
    uint32_t joins;
    uint32_t ends;
    bool has_results;
};

static struct extent measure(const struct engine_process *process)
{
    struct extent extent = {0};
    for (uint32_t i = 0; i < process->node_count; i++) {
        extent.joins += engine_node_joins(process, &process->nodes[i]);
        extent.ends += ends_dead(process, &process->nodes[i]);
        extent.has_results |= count_results(process, &process->nodes[i]) > 0;
    }
    return extent;
}

static bool copy(struct plain *plain, struct extent extent)
{
    const struct engine_process *from = plain->writing->process;
    struct arena *arena = plain->writing->arena;
    uint32_t more = extent.joins + extent.ends;
    plain->process = arena_alloc(arena, sizeof *plain->process);
    plain->nodes = arena_alloc(arena, (from->node_count + more) * sizeof *plain->nodes);
    plain->flows = arena_alloc(arena, (from->flow_count + more) * sizeof *plain->flows);
    if (plain->process == NULL || plain->nodes == NULL || plain->flows == NULL) {
        return false;
    }
    *plain->process = *from;
    memcpy(plain->nodes, from->nodes, from->node_count * sizeof *plain->nodes);
    memcpy(plain->flows, from->flows, from->flow_count * sizeof *plain->flows);
    plain->process->nodes = plain->nodes;
    plain->process->flows = plain->flows;
    plain->process->slots = NULL;
    return true;
}

const struct engine_process *engine_write_plain(struct writing *writing)
{
    const struct engine_process *from = writing->process;
    struct extent extent = measure(from);
    struct plain plain = {.writing = writing};
    if (extent.joins == 0 && !extent.has_results) {
        return from;
    }
    if (!copy(&plain, extent)) {
        return NULL;
    }
    for (uint32_t i = 0; i < from->node_count; i++) {
        if (engine_node_joins(from, &from->nodes[i])) {
            add_join(&plain, &from->nodes[i]);
        }
        add_conditions(&plain, &from->nodes[i]);
        if (ends_dead(from, &from->nodes[i])) {
            add_dead_end(&plain, &from->nodes[i]);
        }
    }
    for (uint32_t i = 0; i < plain.process->node_count; i++) {
        plain.nodes[i].join = ENGINE_JOIN_NONE;
    }
    for (uint32_t i = 0; i < plain.process->flow_count; i++) {
        plain.flows[i].result = SPAN_EMPTY;
        plain.flows[i].is_back = false;
    }
    engine_link_lists(writing->arena, plain.process, plain.nodes);
    return writing->arena->overflowed ? NULL : plain.process;
}
