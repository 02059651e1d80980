/*
 * graph.c: a process as a JSON graph.
 */
#include "engine/read/activity.h"
#include "engine/write/graph_node.h"
#include "proto/base/assert.h"

static void write_scope(struct writing *writing, struct wire_writer *out,
                        struct engine_indexes children);

/* Returns whether there was anything to write. */
static bool write_config(struct writing *writing, struct wire_writer *out,
                         const struct engine_node *node)
{
    size_t before = out->count;
    wire_write_text(out, "config");
    size_t mark = wire_open_map(out);
    uint32_t pairs = engine_graph_write_config(writing, out, node);
    if (engine_activity_is_scope(node->kind)) {
        write_scope(writing, out, node->children);
        pairs += 2;
    }
    if (pairs == 0) {
        out->count = before;
        return false;
    }
    wire_close_map(out, mark, pairs);
    return true;
}

static void write_node(struct writing *writing, struct wire_writer *out,
                       const struct engine_node *node)
{
    size_t mark = wire_open_map(out);
    struct span type = engine_graph_type(writing, node);
    uint32_t pairs = 1;
    wire_pair_string(out, "id", node->id);
    if (type.count > 0) {
        wire_pair_string(out, "type", type);
        pairs++;
    }
    if (node->name.count > 0) {
        wire_pair_string(out, "name", node->name);
        pairs++;
    }
    pairs += engine_write_shape(out, node);
    if (node->shape != NULL && engine_activity_is_scope(node->kind) && !node->shape->is_expanded) {
        wire_pair_bool(out, "expanded", false);
        pairs++;
    }
    pairs += write_config(writing, out, node);
    wire_close_map(out, mark, pairs);
}

static void write_flow(struct writing *writing, struct wire_writer *out,
                       const struct engine_flow *flow)
{
    size_t mark = wire_open_map(out);
    uint32_t pairs = 2;
    if (flow->id.count > 0) { /* BPMN does not want one; readers make one */
        wire_pair_string(out, "id", flow->id);
        pairs++;
    }
    wire_pair_string(out, "source", writing->process->nodes[flow->source].id);
    wire_pair_string(out, "target", writing->process->nodes[flow->target].id);
    if (flow->condition != NULL) {
        wire_pair_string(out, "condition", engine_write_spell_condition(writing, flow->condition));
        pairs++;
    }
    if (flow->is_default) {
        wire_pair_bool(out, "default", true);
        pairs++;
    }
    if (flow->name.count > 0) {
        wire_pair_string(out, "label", flow->name);
        pairs++;
    }
    pairs += engine_write_edge(out, flow);
    wire_close_map(out, mark, pairs);
}

/* Recursion is bounded by the nesting that readers allow. */
static void write_scope(struct writing *writing, struct wire_writer *out,
                        struct engine_indexes children)
{
    const struct engine_process *process = writing->process;
    uint32_t flow_count = 0;
    wire_write_text(out, "nodes");
    wire_write_array(out, children.count);
    for (uint32_t i = 0; i < children.count; i++) {
        write_node(writing, out, &process->nodes[children.at[i]]);
        flow_count += process->nodes[children.at[i]].outgoing.count;
    }
    wire_write_text(out, "edges");
    wire_write_array(out, flow_count);
    for (uint32_t i = 0; i < children.count; i++) {
        const struct engine_node *node = &process->nodes[children.at[i]];
        for (uint32_t j = 0; j < node->outgoing.count; j++) {
            write_flow(writing, out, &process->flows[node->outgoing.at[j]]);
        }
    }
}

static void write_trigger(struct wire_writer *out, const struct engine_trigger *trigger)
{
    static const struct {
        const char *type;
        const char *member;
    } rows[] = {[ENGINE_TRIGGER_MANUAL] = {"manual", NULL},
                [ENGINE_TRIGGER_CRON] = {"cron", "cron"},
                [ENGINE_TRIGGER_WEBHOOK] = {"webhook", "path"}};
    bool has_id = trigger->id.count > 0;
    bool has_text = rows[trigger->kind].member != NULL;
    wire_write_map(out, 1u + has_id + has_text);
    if (has_id) {
        wire_pair_string(out, "id", trigger->id);
    }
    wire_pair_text(out, "type", rows[trigger->kind].type);
    if (has_text) {
        wire_pair_string(out, rows[trigger->kind].member, trigger->text);
    }
}

static uint32_t write_triggers(struct wire_writer *out, const struct engine_process *process)
{
    if (process->trigger_count == 0) {
        return 0;
    }
    wire_write_text(out, "triggers");
    wire_write_array(out, process->trigger_count);
    for (uint32_t i = 0; i < process->trigger_count; i++) {
        write_trigger(out, &process->triggers[i]);
    }
    return 1;
}

enum result engine_write_graph(struct writing *writing, struct span *out)
{
    const struct engine_process *process = engine_write_plain(writing);
    if (process == NULL) {
        return RESULT_LIMIT;
    }
    writing->process = process;
    struct wire_writer writer;
    wire_writer_init(&writer, writing->arena, 16 << 10);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = 4; /* id, nodes, edges, next_id */
    wire_pair_string(&writer, "id", process->id);
    if (process->name.count > 0) {
        wire_pair_string(&writer, "name", process->name);
        pairs++;
    }
    if (process->version_tag.count > 0) {
        engine_write_version(&writer, process);
        pairs++;
    }
    write_scope(writing, &writer, process->children);
    pairs += write_triggers(&writer, process);
    wire_pair_int(&writer, "next_id", (int64_t)writing->numbering.next);
    wire_close_map(&writer, mark, pairs);
    return engine_write_json(writing, wire_writer_span(&writer), out);
}
