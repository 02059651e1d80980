/*
 * Whatever the notation, there is a drawing: as the file has it, or laid out.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "engine/read/sample.h"
#include "engine/write/write.h"

struct drawn {
    struct sample from;
    struct arena arena;
    struct span text;
    struct sample sample; /* the text read again */
    const struct engine_process *process;
};

static struct drawn draw(const char *text)
{
    struct drawn drawn = {.from = sample_read_bytes(span_text(text), true)};
    cr_assert_eq(drawn.from.result, RESULT_OK, "%s", sample_text(&drawn.from));
    arena_init(&drawn.arena, 65536, 64u << 20);
    cr_assert_eq(engine_write_diagram(drawn.from.definition, SPAN_EMPTY, span_text(text),
                                      &drawn.arena, &drawn.text),
                 RESULT_OK);
    drawn.sample = sample_read_bytes(drawn.text, true);
    cr_assert_eq(drawn.sample.result, RESULT_OK, "%s", sample_text(&drawn.sample));
    drawn.process = &drawn.sample.definition->processes[0];
    return drawn;
}

static void release(struct drawn *drawn)
{
    sample_free(&drawn->sample);
    sample_free(&drawn->from);
    arena_release(&drawn->arena);
}

static const struct engine_shape *shape(const struct drawn *drawn, const char *id)
{
    const struct engine_node *node = engine_process_node(drawn->process, span_text(id));
    cr_assert_not_null(node, "%s", id);
    cr_assert_not_null(node->shape, "%s is not drawn", id);
    return node->shape;
}

static bool overlap(const struct engine_shape *a, const struct engine_shape *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

/* Nodes of one scope stand beside each other, all flows are led. */
static void check_drawing(const struct drawn *drawn)
{
    for (uint32_t i = 0; i < drawn->process->node_count; i++) {
        const struct engine_node *one = &drawn->process->nodes[i];
        cr_assert_not_null(one->shape, "%.*s", SPAN_ARG(one->id));
        cr_assert(isfinite(one->shape->x) && isfinite(one->shape->y));
        for (uint32_t j = 0; j < i; j++) {
            const struct engine_node *other = &drawn->process->nodes[j];
            bool apart = one->attached_to != ENGINE_NONE || other->attached_to != ENGINE_NONE ||
                         one->scope != other->scope || !overlap(one->shape, other->shape);
            cr_expect(apart, "%.*s and %.*s overlap", SPAN_ARG(one->id), SPAN_ARG(other->id));
        }
    }
    for (uint32_t i = 0; i < drawn->process->flow_count; i++) {
        cr_assert_not_null(drawn->process->flows[i].edge);
        cr_expect_geq(drawn->process->flows[i].edge->point_count, 2);
    }
}

#define BPMN(body)                                                                                 \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "                            \
    "xmlns:bpmndi='http://www.omg.org/spec/BPMN/20100524/DI' "                                     \
    "xmlns:dc='http://www.omg.org/spec/DD/20100524/DC'>"                                           \
    "<process id='p' isExecutable='true'>" body "</process>"
#define FLOW(from, to)                                                                             \
    "<sequenceFlow id='" from "-" to "' sourceRef='" from "' targetRef='" to "'/>"

Test(diagram, of_a_file_without_one_goes_from_left_to_right)
{
    struct drawn drawn = draw(
        BPMN("<startEvent id='s'/><exclusiveGateway id='x' default='x-a'/><task id='a'/><task "
             "id='b'/><task id='c'/><exclusiveGateway id='j'/><endEvent id='e'/>" FLOW("s", "x")
                 FLOW("x", "a") FLOW("x", "b") FLOW("b", "c") FLOW("c", "j") FLOW("a", "j")
                     FLOW("j", "e") FLOW("c", "x") FLOW("a", "a")) "</definitions>");
    check_drawing(&drawn);
    cr_expect_lt(shape(&drawn, "s")->x, shape(&drawn, "x")->x);
    cr_expect_lt(shape(&drawn, "x")->x, shape(&drawn, "a")->x);
    cr_expect_lt(shape(&drawn, "b")->x, shape(&drawn, "c")->x);
    cr_expect_lt(shape(&drawn, "c")->x, shape(&drawn, "j")->x);
    cr_expect_lt(shape(&drawn, "j")->x, shape(&drawn, "e")->x);
    release(&drawn);
}

Test(diagram, holds_what_is_inside_a_sub_process_and_on_its_edge)
{
    struct drawn drawn = draw(BPMN(
        "<startEvent id='s'/><subProcess id='d'><startEvent id='ds'/><subProcess id='dd'><task "
        "id='in'/></subProcess><endEvent id='de'/>" FLOW("ds", "dd") FLOW(
            "dd", "de") "</subProcess><boundaryEvent id='b' attachedToRef='d'>"
                        "<timerEventDefinition><timeDuration>PT1M</timeDuration>"
                        "</timerEventDefinition></boundaryEvent><task id='late'/>" FLOW("s", "d")
                            FLOW("b", "late")) "</definitions>");
    check_drawing(&drawn);
    const struct engine_shape *outer = shape(&drawn, "d");
    const struct engine_shape *middle = shape(&drawn, "dd");
    const struct engine_shape *inner = shape(&drawn, "in");
    const struct engine_shape *edge = shape(&drawn, "b");
    cr_expect(outer->is_expanded && middle->is_expanded);
    cr_expect(middle->x > outer->x && middle->y > outer->y &&
              middle->x + middle->width < outer->x + outer->width &&
              middle->y + middle->height < outer->y + outer->height);
    cr_expect(inner->x > middle->x && inner->x + inner->width < middle->x + middle->width);
    cr_expect_float_eq(edge->y + edge->height / 2, outer->y + outer->height, 1);
    release(&drawn);
}

Test(diagram, of_a_bpmn_file_that_has_one_is_the_file)
{
    static const char text[] =
        BPMN("<task id='a'/>") "<bpmndi:BPMNDiagram id='D'><bpmndi:BPMNPlane id='P' "
                               "bpmnElement='p'><bpmndi:BPMNShape id='S' bpmnElement='a'>"
                               "<dc:Bounds x='1' y='2' width='100' height='80'/></bpmndi:BPMNShape>"
                               "</bpmndi:BPMNPlane></bpmndi:BPMNDiagram></definitions>";
    struct drawn drawn = draw(text);
    cr_expect(span_is(drawn.text, text));
    release(&drawn);
}

Test(diagram, of_a_json_graph_keeps_its_positions)
{
    struct drawn drawn =
        draw("{\"id\":\"p\",\"name\":\"P\",\"nodes\":[{\"id\":\"s\",\"type\":\"trigger_manual\","
             "\"position\":{\"x\":10,\"y\":500}},{\"id\":\"a\",\"type\":\"action\",\"position\":"
             "{\"x\":300,\"y\":40},\"config\":{\"task_type\":\"log\"}}],\"edges\":[{\"id\":\"f\","
             "\"source\":\"s\",\"target\":\"a\"}]}");
    cr_expect_float_eq(shape(&drawn, "s")->y, 500, 1e-9);
    cr_expect_float_eq(shape(&drawn, "a")->x, 300, 1e-9);
    release(&drawn);
}

Test(diagram, of_a_block_scheme_is_laid_out)
{
    struct drawn drawn =
        draw("{\"id\":\"p\",\"version\":1,\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"
             "{\"id\":\"a\",\"type\":\"Block\",\"handler\":\"log\"},{\"id\":\"b\",\"type\":"
             "\"Block\",\"handler\":\"log\"},{\"id\":\"e\",\"type\":\"FinishBlock\"}],\"faces\":["
             "{\"id\":\"1\",\"from\":\"s\",\"to\":\"a\"},{\"id\":\"2\",\"from\":\"s\",\"to\":"
             "\"b\"},{\"id\":\"3\",\"from\":\"a\",\"to\":\"e\",\"result\":\"x\"},{\"id\":\"4\","
             "\"from\":\"b\",\"to\":\"e\"}]}");
    check_drawing(&drawn);
    cr_expect_lt(shape(&drawn, "s")->x, shape(&drawn, "a")->x);
    release(&drawn);
}
