/*
 * bpmn_drawing.c: BPMN DI of a process. Nodes without a size get the one that modelers give their
 * kind; a flow without a way goes straight from side to side.
 */
#include "engine/read/activity.h"
#include "engine/read/event.h"
#include "engine/write/bpmn_node.h"

struct box {
    double x;
    double y;
    double width;
    double height;
};

static struct box box_of(const struct engine_node *node)
{
    struct box box = {node->shape->x, node->shape->y, node->shape->width, node->shape->height};
    if (box.width > 0) {
        return box;
    }
    bool is_event = engine_event_is(node->kind);
    bool is_activity = engine_activity_is(node->kind);
    bool is_scope = engine_activity_is_scope(node->kind) && node->shape->is_expanded;
    box.width = is_event ? 36 : is_scope ? 350 : is_activity ? 100 : 50;
    box.height = is_event ? 36 : is_scope ? 200 : is_activity ? 80 : 50;
    return box;
}

static void number(struct markup *markup, const char *name, double value)
{
    char digits[32];
    engine_write_digits(value, digits);
    engine_markup_word(markup, name, digits);
}

static void write_bounds(struct markup *markup, struct box box)
{
    engine_markup_open(markup, "dc:Bounds");
    number(markup, "x", box.x);
    number(markup, "y", box.y);
    number(markup, "width", box.width);
    number(markup, "height", box.height);
    engine_markup_close(markup, "dc:Bounds");
}

static void write_label(struct markup *markup, struct box box)
{
    engine_markup_open(markup, "bpmndi:BPMNLabel");
    write_bounds(markup, box);
    engine_markup_close(markup, "bpmndi:BPMNLabel");
}

static void write_id(struct bpmn_writing *bpmn, const char *prefix, struct span shown)
{
    engine_markup_attribute(
        &bpmn->markup, "id",
        engine_numbering_make(&bpmn->writing->numbering, prefix, bpmn->writing->arena));
    engine_markup_attribute(&bpmn->markup, "bpmnElement", shown);
}

static void write_shape(struct bpmn_writing *bpmn, const struct engine_node *node)
{
    const struct engine_shape *shape = node->shape;
    engine_markup_open(&bpmn->markup, "bpmndi:BPMNShape");
    write_id(bpmn, "shape", node->id);
    if (engine_activity_is_scope(node->kind)) {
        engine_markup_word(&bpmn->markup, "isExpanded", shape->is_expanded ? "true" : "false");
    }
    write_bounds(&bpmn->markup, box_of(node));
    if (shape->has_label) {
        write_label(&bpmn->markup, (struct box){shape->label_x, shape->label_y, shape->label_width,
                                                shape->label_height});
    }
    engine_markup_close(&bpmn->markup, "bpmndi:BPMNShape");
}

static void write_point(struct markup *markup, double x, double y)
{
    engine_markup_open(markup, "di:waypoint");
    number(markup, "x", x);
    number(markup, "y", y);
    engine_markup_close(markup, "di:waypoint");
}

/* From the right side of its source to the left side of its target. */
static void write_straight(struct markup *markup, const struct engine_process *process,
                           const struct engine_flow *flow)
{
    struct box source = box_of(&process->nodes[flow->source]);
    struct box target = box_of(&process->nodes[flow->target]);
    write_point(markup, source.x + source.width, source.y + source.height / 2);
    write_point(markup, target.x, target.y + target.height / 2);
}

static void write_edge(struct bpmn_writing *bpmn, const struct engine_process *process,
                       const struct engine_flow *flow)
{
    const struct engine_edge *edge = flow->edge;
    struct markup *markup = &bpmn->markup;
    engine_markup_open(markup, "bpmndi:BPMNEdge");
    write_id(bpmn, "edge", flow->id);
    if (edge == NULL || edge->point_count == 0) {
        write_straight(markup, process, flow);
    }
    for (uint32_t i = 0; edge != NULL && i < edge->point_count; i++) {
        write_point(markup, edge->points[i].x, edge->points[i].y);
    }
    if (edge != NULL && edge->has_label) {
        write_label(markup, (struct box){edge->label_x, edge->label_y, edge->label_width,
                                         edge->label_height});
    }
    engine_markup_close(markup, "bpmndi:BPMNEdge");
}

static bool is_drawn(const struct engine_process *process)
{
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (process->nodes[i].shape != NULL) {
            return true;
        }
    }
    return false;
}

void engine_bpmn_write_drawing(struct bpmn_writing *bpmn, const struct engine_process *process)
{
    struct markup *markup = &bpmn->markup;
    if (process->is_global_task || !is_drawn(process)) {
        return;
    }
    engine_markup_open(markup, "bpmndi:BPMNDiagram");
    engine_markup_attribute(
        markup, "id",
        engine_numbering_make(&bpmn->writing->numbering, "diagram", bpmn->writing->arena));
    engine_markup_open(markup, "bpmndi:BPMNPlane");
    write_id(bpmn, "plane", process->id);
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (process->nodes[i].shape != NULL) {
            write_shape(bpmn, &process->nodes[i]);
        }
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        const struct engine_flow *flow = &process->flows[i];
        bool has_ends = process->nodes[flow->source].shape != NULL &&
                        process->nodes[flow->target].shape != NULL;
        if (has_ends || (flow->edge != NULL && flow->edge->point_count > 0)) {
            write_edge(bpmn, process, flow);
        }
    }
    engine_markup_close(markup, "bpmndi:BPMNPlane");
    engine_markup_close(markup, "bpmndi:BPMNDiagram");
}
