/*
 * layout.c: BPMNShape and BPMNEdge, with the Bounds and waypoints of the OMG's DD namespaces, which
 * are matched by local name.
 */
#include "engine/read/layout.h"

#include <stdlib.h>

#include "proto/base/assert.h"

/* A decimal number as XML Schema's xsd:double writes it, but no infinity and nothing hexadecimal.
 */
static bool read_number(struct span text, double *out)
{
    char digits[64];
    if (text.count == 0 || text.count >= sizeof digits) {
        return false;
    }
    for (size_t i = 0; i < text.count; i++) {
        if (memchr("0123456789+-.eE", text.bytes[i], 15) == NULL) {
            return false;
        }
        digits[i] = (char)text.bytes[i];
    }
    digits[text.count] = '\0';
    char *end;
    *out = strtod(digits, &end);
    return *end == '\0' && *out >= -1e9 && *out <= 1e9;
}

static bool read_attribute(struct xml_element *element, const char *name, double *out)
{
    return read_number(engine_xml_attribute(element, XML_NONE, name), out);
}

static struct xml_element *child_named(const struct xml_element *element, const char *name)
{
    struct xml_element *child = element->first;
    while (child != NULL && !span_is(child->name, name)) {
        child = child->next;
    }
    return child;
}

struct bounds {
    double x;
    double y;
    double width;
    double height;
};

static bool read_bounds(const struct xml_element *holder, struct bounds *out)
{
    struct xml_element *element = child_named(holder, "Bounds");
    *out = (struct bounds){0};
    if (element == NULL || !read_attribute(element, "x", &out->x) ||
        !read_attribute(element, "y", &out->y)) {
        return false;
    }
    bool is_sized = read_attribute(element, "width", &out->width) &&
                    read_attribute(element, "height", &out->height) && out->width >= 0 &&
                    out->height >= 0;
    if (!is_sized) {
        out->width = 0;
        out->height = 0;
    }
    return true;
}

static bool read_label(const struct xml_element *holder, struct bounds *out)
{
    struct xml_element *label = child_named(holder, "BPMNLabel");
    *out = (struct bounds){0};
    return label != NULL && read_bounds(label, out);
}

static void read_shape(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    struct bounds bounds;
    struct bounds label;
    struct engine_shape *shape =
        read_bounds(element, &bounds) ? arena_alloc(draft->arena, sizeof *shape) : NULL;
    if (shape == NULL) {
        return;
    }
    bool has_label = read_label(element, &label);
    *shape = (struct engine_shape){
        .x = bounds.x,
        .y = bounds.y,
        .width = bounds.width,
        .height = bounds.height,
        .is_expanded = engine_xml_bool(element, XML_NONE, "isExpanded", false),
        .has_label = has_label,
        .label_x = label.x,
        .label_y = label.y,
        .label_width = label.width,
        .label_height = label.height,
    };
    node->shape = shape;
}

static uint32_t read_points(const struct xml_element *element, struct engine_point *points)
{
    uint32_t count = 0;
    for (struct xml_element *child = element->first; child != NULL; child = child->next) {
        struct engine_point point;
        if (span_is(child->name, "waypoint") && read_attribute(child, "x", &point.x) &&
            read_attribute(child, "y", &point.y)) {
            if (points != NULL) {
                points[count] = point;
            }
            count++;
        }
    }
    return count;
}

static void read_edge(struct draft *draft, struct engine_flow *flow, struct xml_element *element)
{
    struct bounds label;
    bool has_label = read_label(element, &label);
    uint32_t count = read_points(element, NULL);
    struct engine_edge *edge = arena_alloc(draft->arena, sizeof *edge);
    struct engine_point *points = arena_alloc(draft->arena, count * sizeof *points);
    if ((count < 2 && !has_label) || edge == NULL || points == NULL) {
        return;
    }
    *edge = (struct engine_edge){
        .points = points,
        .point_count = read_points(element, points),
        .has_label = has_label,
        .label_x = label.x,
        .label_y = label.y,
        .label_width = label.width,
        .label_height = label.height,
    };
    ASSERT(edge->point_count == count);
    flow->edge = edge;
}

/* Of what the element shows; NULL when that is no node or flow. */
static const struct id *shown(struct draft *draft, struct xml_element *element)
{
    struct span reference = engine_xml_attribute(element, XML_NONE, "bpmnElement");
    return reference.count == 0 ? NULL : engine_ids_find(&draft->ids, reference);
}

void engine_layout_read(struct draft *draft)
{
    struct xml_element *diagram = NULL;
    while ((diagram = engine_xml_child(draft->root, diagram, XML_DIAGRAM, "BPMNDiagram")) != NULL) {
        for (struct xml_element *element = diagram; element != NULL;
             element = engine_xml_walk(diagram, element)) {
            bool is_shape = engine_xml_is(element, XML_DIAGRAM, "BPMNShape");
            bool is_edge = engine_xml_is(element, XML_DIAGRAM, "BPMNEdge");
            const struct id *id = is_shape || is_edge ? shown(draft, element) : NULL;
            if (id == NULL) {
                continue;
            }
            if (is_shape && id->kind == ID_NODE) {
                read_shape(draft, &draft->processes[id->process].nodes[id->index], element);
            } else if (is_edge && id->kind == ID_FLOW) {
                read_edge(draft, &draft->processes[id->process].flows[id->index], element);
            }
        }
    }
}
