/*
 * scheme.c: a process as a block scheme, which can say less than the others: blocks that call
 * modules, joins, results, and nothing that has a scope, waits for an event or computes.
 */
#include "engine/lint/graph.h"
#include "engine/read/activity.h"
#include "engine/write/writing.h"
#include "proto/base/assert.h"

struct scheme_writing {
    struct writing *writing;
    struct wire_writer out;
    bool *is_dropped; /* nodes: dead ends of blocks with results (plain.c makes them) */
    struct lint_graph graph;
    struct lint_dominance dominance;
    bool can_fork; /* more than one token at a time */
};

/* ---- what a block can be ---- */

static bool is_loop(const struct scheme_writing *scheme, const struct engine_flow *flow)
{
    return engine_graph_dominates(&scheme->dominance, flow->target, flow->source);
}

/* A block is entered by each of its faces (OrBlock), or its faces join (Block, AndBlock). */
static const char *block_type(const struct engine_node *node)
{
    bool is_handled = node->kind == ENGINE_SERVICE_TASK;
    if (node->join != ENGINE_JOIN_NONE) {
        return node->join == ENGINE_JOIN_ANY ? "OrBlock" : is_handled ? "Block" : "AndBlock";
    }
    if (node->kind == ENGINE_PARALLEL_GATEWAY) {
        return "AndBlock";
    }
    return node->incoming.count > 1 ? "OrBlock" : "Block";
}

static void check_parallel(struct scheme_writing *scheme, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->incoming.count && node->incoming.count > 1; i++) {
        if (is_loop(scheme, &scheme->writing->process->flows[node->incoming.at[i]])) {
            engine_write_refuse(scheme->writing, node,
                                "it waits for a flow of its own loop; a block never does");
        }
    }
}

static void check_task(struct scheme_writing *scheme, const struct engine_node *node)
{
    struct writing *writing = scheme->writing;
    bool is_plain = node->kind == ENGINE_SERVICE_TASK || node->kind == ENGINE_TASK;
    if (!is_plain) {
        engine_write_refuse(writing, node, "a block calls a handler and can do nothing else");
    }
    if (node->kind == ENGINE_TASK && node->task_type_explicit) {
        engine_write_refuse(writing, node, "a task with a task type: a service task can say that");
    }
    if (node->inputs.count + node->outputs.count > 0 || node->script != NULL ||
        node->rule.decision != NULL || node->result_variable.count > 0) {
        engine_write_refuse(writing, node, "a block maps no data and computes nothing");
    }
    if (node->loop.kind != ENGINE_LOOP_NONE || node->for_compensation || node->retries != NULL ||
        node->boundaries.count > 0 || node->start_quantity + node->completion_quantity > 0) {
        engine_write_refuse(writing, node,
                            "a block has no loop marker, boundary event, compensation, quantity "
                            "or retries");
    }
}

/* FinishBlock ends the process; a none end event only its token, which is the same where there is
 * no other. */
static void check_end(struct scheme_writing *scheme, const struct engine_node *node)
{
    bool is_terminate = node->event_count == 1 && node->events[0].kind == ENGINE_ON_TERMINATE;
    if (node->event_count > 0 && !is_terminate) {
        engine_write_refuse(scheme->writing, node, "a FinishBlock throws nothing");
    } else if (!is_terminate && scheme->can_fork) {
        engine_write_refuse(scheme->writing, node,
                            "it ends one branch, and a FinishBlock would end the process");
    }
    if (node->incoming.count > 1 && node->join == ENGINE_JOIN_NONE) {
        engine_write_refuse(scheme->writing, node,
                            "it is entered by each of its flows, and a FinishBlock waits for all");
    }
}

static void check_node(struct scheme_writing *scheme, const struct engine_node *node)
{
    struct writing *writing = scheme->writing;
    if (engine_activity_is_task(node->kind)) {
        check_task(scheme, node);
    } else if (node->kind == ENGINE_PARALLEL_GATEWAY) {
        check_parallel(scheme, node);
    } else if (node->kind == ENGINE_END_EVENT) {
        check_end(scheme, node);
    } else if (node->kind == ENGINE_START_EVENT) {
        if (node->event_count > 0) {
            engine_write_refuse(writing, node, "a StartBlock waits for nothing");
        }
    } else if (node->kind != ENGINE_EXCLUSIVE_GATEWAY) {
        engine_write_refuse(writing, node, "a block scheme has no such thing");
    } else if (node->outgoing.count > 1) {
        engine_write_refuse(writing, node,
                            "a choice: in a block scheme the result of a block makes it");
    }
    if (node->scope != ENGINE_NONE) {
        engine_write_refuse(writing, node, "a block scheme has no scopes");
    }
}

/* ---- results ---- */

/* `output = "x"` or `string(output) = "x"`, as plain.c writes it: the text; false: another
 * condition. */
static bool result_of(struct writing *writing, const struct engine_flow *flow, struct span *out)
{
    static const char *const begins[] = {"string(output) = \"", "output = \""};
    if (flow->condition == NULL) {
        *out = flow->result;
        return true;
    }
    struct span text = engine_write_spell_condition(writing, flow->condition);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        size_t mark = strlen(begins[i]);
        if (!span_starts_with(text, begins[i]) || text.count < mark + 2 ||
            text.bytes[text.count - 1] != '"') {
            continue;
        }
        *out = span_of(text.bytes + mark, text.count - mark - 1);
        return memchr(out->bytes, '"', out->count) == NULL &&
               memchr(out->bytes, '\\', out->count) == NULL;
    }
    return false;
}

/* A default flow to an end of its own: what a block does anyway when no face has its result. */
static bool is_dead_end(const struct engine_process *process, const struct engine_flow *flow)
{
    const struct engine_node *target = &process->nodes[flow->target];
    return flow->is_default && target->kind == ENGINE_END_EVENT && target->event_count == 0 &&
           target->incoming.count == 1;
}

static void check_flows(struct scheme_writing *scheme, const struct engine_node *node)
{
    const struct engine_process *process = scheme->writing->process;
    uint32_t results = 0;
    bool has_dead_end = false;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_flow *flow = &process->flows[node->outgoing.at[i]];
        struct span result;
        if (is_dead_end(process, flow)) {
            scheme->is_dropped[flow->target] = true;
            has_dead_end = true;
        } else if (flow->is_default) {
            engine_write_refuse_flow(scheme->writing, flow,
                                     "a block scheme has no face for all other results");
        } else if (!result_of(scheme->writing, flow, &result)) {
            engine_write_refuse_flow(scheme->writing, flow,
                                     "its condition is no result of the block before it (output = "
                                     "\"…\")");
        }
        results += flow->condition != NULL;
    }
    if (results > 0 && results == node->outgoing.count && !has_dead_end) {
        engine_write_refuse(scheme->writing, node,
                            "it fails when no condition is true, and a block would end there");
    }
}

static bool forks(const struct engine_process *process, const struct engine_node *node)
{
    uint32_t ways = 0;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        ways += !is_dead_end(process, &process->flows[node->outgoing.at[i]]);
    }
    return ways > 1 && node->kind != ENGINE_EXCLUSIVE_GATEWAY;
}

static bool check_process(struct scheme_writing *scheme)
{
    const struct engine_process *process = scheme->writing->process;
    struct arena *arena = scheme->writing->arena;
    scheme->is_dropped = arena_zero(arena, process->node_count * sizeof *scheme->is_dropped);
    if (scheme->is_dropped == NULL ||
        engine_graph_build(process, LINT_FORWARD, arena, &scheme->graph) != RESULT_OK ||
        engine_graph_dominance(&scheme->graph, scheme->graph.entry, arena, &scheme->dominance) !=
            RESULT_OK) {
        return false;
    }
    scheme->can_fork = process->starts.count > 1;
    for (uint32_t i = 0; i < process->node_count; i++) {
        check_flows(scheme, &process->nodes[i]);
        scheme->can_fork |= forks(process, &process->nodes[i]);
    }
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (!scheme->is_dropped[i]) {
            check_node(scheme, &process->nodes[i]);
        }
    }
    if (process->trigger_count > 0) {
        engine_write_refuse(scheme->writing, NULL, "a block scheme has no triggers");
    }
    return true;
}

/* ---- writing ---- */

static uint32_t write_settings(struct scheme_writing *scheme, const struct engine_node *node)
{
    if (node->headers.count == 0) {
        return 0;
    }
    wire_write_text(&scheme->out, "config");
    wire_write_map(&scheme->out, node->headers.count);
    for (uint32_t i = 0; i < node->headers.count; i++) {
        wire_write_string(&scheme->out, node->headers.at[i].target);
        engine_write_config_value(&scheme->out,
                                  engine_write_spell(scheme->writing, node->headers.at[i].source));
    }
    return 1;
}

static void write_block(struct scheme_writing *scheme, const struct engine_node *node)
{
    struct wire_writer *out = &scheme->out;
    size_t mark = wire_open_map(out);
    uint32_t pairs = 1;
    bool is_typeless = engine_activity_is_task(node->kind) && node->task_type.count == 0;
    wire_pair_string(out, "id", node->id);
    if (!is_typeless) {
        wire_pair_text(out, "type",
                       node->kind == ENGINE_START_EVENT ? "StartBlock"
                       : node->kind == ENGINE_END_EVENT ? "FinishBlock"
                                                        : block_type(node));
        pairs++;
    }
    if (node->kind == ENGINE_SERVICE_TASK) {
        wire_pair_string(out, "handler", node->task_type);
        pairs++;
    }
    if (node->name.count > 0) {
        wire_pair_string(out, "name", node->name);
        pairs++;
    }
    pairs += engine_write_shape(out, node);
    pairs += write_settings(scheme, node);
    wire_close_map(out, mark, pairs);
}

static void write_face(struct scheme_writing *scheme, const struct engine_flow *flow)
{
    struct wire_writer *out = &scheme->out;
    const struct engine_process *process = scheme->writing->process;
    struct span result = SPAN_EMPTY;
    (void)result_of(scheme->writing, flow, &result);
    size_t mark = wire_open_map(out);
    uint32_t pairs = 2;
    if (flow->id.count > 0) { /* BPMN does not want one; readers make one */
        wire_pair_string(out, "id", flow->id);
        pairs++;
    }
    wire_pair_string(out, "from", process->nodes[flow->source].id);
    wire_pair_string(out, "to", process->nodes[flow->target].id);
    if (result.count > 0) {
        wire_pair_string(out, "result", result);
        pairs++;
    }
    if (flow->name.count > 0) {
        wire_pair_string(out, "label", flow->name);
        pairs++;
    }
    pairs += engine_write_edge(out, flow);
    wire_close_map(out, mark, pairs);
}

static void write_lists(struct scheme_writing *scheme)
{
    const struct engine_process *process = scheme->writing->process;
    struct wire_writer *out = &scheme->out;
    uint32_t count = 0;
    wire_write_text(out, "blocks");
    size_t mark = wire_open_array(out);
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (!scheme->is_dropped[i]) {
            write_block(scheme, &process->nodes[i]);
            count++;
        }
    }
    wire_close_array(out, mark, count);
    count = 0;
    wire_write_text(out, "faces");
    mark = wire_open_array(out);
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (!scheme->is_dropped[process->flows[i].target]) {
            write_face(scheme, &process->flows[i]);
            count++;
        }
    }
    wire_close_array(out, mark, count);
}

enum result engine_write_scheme(struct writing *writing, struct span *out)
{
    struct scheme_writing scheme = {.writing = writing};
    const struct engine_process *process = writing->process;
    if (!check_process(&scheme)) {
        return RESULT_LIMIT;
    }
    wire_writer_init(&scheme.out, writing->arena, 16 << 10);
    size_t mark = wire_open_map(&scheme.out);
    uint32_t pairs = 4; /* id, blocks, faces, next_id */
    wire_pair_string(&scheme.out, "id", process->id);
    if (process->name.count > 0) {
        wire_pair_string(&scheme.out, "name", process->name);
        pairs++;
    }
    if (process->version_tag.count > 0) {
        engine_write_version(&scheme.out, process);
        pairs++;
    }
    write_lists(&scheme);
    wire_pair_int(&scheme.out, "next_id", (int64_t)writing->numbering.next);
    wire_close_map(&scheme.out, mark, pairs);
    return engine_write_json(writing, wire_writer_span(&scheme.out), out);
}
