/*
 * same.h: for this folder's tests: do two definitions mean the same, and look the same? Lists of a
 * node are compared in order where order counts (outgoing flows, mappings, events).
 */
#ifndef ENGINE_WRITE_SAME_H
#define ENGINE_WRITE_SAME_H

#include <stdio.h>

#include "engine/expression/spelling.h"
#include "engine/model.h"

struct same {
    const struct engine_process *a;
    const struct engine_process *b;
    struct arena arena;
    char difference[512]; /* the first one; "" */
};

#define SAME_FAIL(same, id, what)                                                                  \
    do {                                                                                           \
        if ((same)->difference[0] == '\0') {                                                       \
            (void)snprintf((same)->difference, sizeof(same)->difference, "%.*s: %s", SPAN_ARG(id), \
                           (what));                                                                \
        }                                                                                          \
    } while (0)

#define SAME_VALUE(same, x, y, field)                                                              \
    do {                                                                                           \
        if ((x)->field != (y)->field) {                                                            \
            SAME_FAIL(same, (x)->id, #field);                                                      \
        }                                                                                          \
    } while (0)

#define SAME_TEXT(same, x, y, field)                                                               \
    do {                                                                                           \
        if (!span_equal((x)->field, (y)->field)) {                                                 \
            SAME_FAIL(same, (x)->id, #field);                                                      \
        }                                                                                          \
    } while (0)

/* Spelled with their markers; "=" alone makes no difference where the place is one for FEEL. */
static inline bool same_expression(struct same *same, const struct engine_expression *a,
                                   const struct engine_expression *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    struct span x = engine_expression_spell(a, &same->arena);
    struct span y = engine_expression_spell(b, &same->arena);
    return span_equal(x, y);
}

#define SAME_EXPRESSION(same, x, y, field)                                                         \
    do {                                                                                           \
        if (!same_expression((same), (x)->field, (y)->field)) {                                    \
            SAME_FAIL(same, (x)->id, #field);                                                      \
        }                                                                                          \
    } while (0)

static inline struct span same_node_id(const struct engine_process *process, uint32_t node)
{
    return node == ENGINE_NONE ? SPAN_EMPTY : process->nodes[node].id;
}

static inline struct span same_flow_id(const struct engine_process *process, uint32_t flow)
{
    return flow == ENGINE_NONE ? SPAN_EMPTY : process->flows[flow].id;
}

static inline void same_mappings(struct same *same, struct span id, struct engine_mappings x,
                                 struct engine_mappings y, const char *what)
{
    bool is_same = x.count == y.count;
    for (uint32_t i = 0; is_same && i < x.count; i++) {
        is_same = span_equal(x.at[i].target, y.at[i].target) &&
                  same_expression(same, x.at[i].source, y.at[i].source);
    }
    if (!is_same) {
        SAME_FAIL(same, id, what);
    }
}

static inline bool same_event(struct same *same, const struct engine_event_definition *a,
                              const struct engine_event_definition *b)
{
    return a->kind == b->kind && a->timer == b->timer && span_equal(a->name, b->name) &&
           span_equal(a->code, b->code) && span_equal(a->code_variable, b->code_variable) &&
           span_equal(a->message_variable, b->message_variable) &&
           same_expression(same, a->timer_value, b->timer_value) &&
           same_expression(same, a->name_value, b->name_value) &&
           same_expression(same, a->code_value, b->code_value) &&
           same_expression(same, a->correlation_key, b->correlation_key) &&
           same_expression(same, a->condition, b->condition) &&
           span_equal(same_node_id(same->a, a->activity), same_node_id(same->b, b->activity));
}

static inline void same_loop(struct same *same, const struct engine_node *x,
                             const struct engine_node *y)
{
    SAME_VALUE(same, x, y, loop.kind);
    SAME_VALUE(same, x, y, loop.test_before);
    SAME_EXPRESSION(same, x, y, loop.maximum);
    SAME_EXPRESSION(same, x, y, loop.condition);
    SAME_EXPRESSION(same, x, y, loop.cardinality);
    SAME_EXPRESSION(same, x, y, loop.collection);
    SAME_EXPRESSION(same, x, y, loop.output_element);
    SAME_TEXT(same, x, y, loop.element_variable);
    SAME_TEXT(same, x, y, loop.output_collection);
    SAME_VALUE(same, x, y, loop.throw_count);
    for (uint32_t i = 0; i < x->loop.throw_count && i < y->loop.throw_count; i++) {
        const struct engine_loop_throw *a = &x->loop.throws[i];
        const struct engine_loop_throw *b = &y->loop.throws[i];
        bool is_same = same_event(same, &a->event, &b->event);
        /* What is always thrown may be written with a condition that is always true. */
        is_same &= a->condition == NULL || same_expression(same, a->condition, b->condition);
        if (!is_same) {
            SAME_FAIL(same, x->id, "what instances throw");
        }
    }
}

static inline void same_activity(struct same *same, const struct engine_node *x,
                                 const struct engine_node *y)
{
    SAME_TEXT(same, x, y, task_type);
    SAME_VALUE(same, x, y, task_type_explicit);
    SAME_EXPRESSION(same, x, y, task_type_value);
    SAME_EXPRESSION(same, x, y, active);
    SAME_TEXT(same, x, y, gathered);
    SAME_EXPRESSION(same, x, y, gathered_value);
    SAME_VALUE(same, x, y, triggered_by_event);
    SAME_VALUE(same, x, y, for_compensation);
    SAME_VALUE(same, x, y, start_quantity);
    SAME_VALUE(same, x, y, completion_quantity);
    SAME_VALUE(same, x, y, ordered);
    SAME_VALUE(same, x, y, lets_finish);
    SAME_EXPRESSION(same, x, y, assignment.assignee);
    SAME_EXPRESSION(same, x, y, assignment.candidate_groups);
    SAME_EXPRESSION(same, x, y, assignment.candidate_users);
    SAME_EXPRESSION(same, x, y, assignment.due_date);
    SAME_TEXT(same, x, y, assignment.form_key);
    SAME_EXPRESSION(same, x, y, script);
    SAME_TEXT(same, x, y, script_format);
    SAME_TEXT(same, x, y, result_variable);
    SAME_EXPRESSION(same, x, y, rule.decision);
    SAME_EXPRESSION(same, x, y, rule.version);
    SAME_VALUE(same, x, y, rule.shape);
    SAME_EXPRESSION(same, x, y, called);
    SAME_VALUE(same, x, y, called_version);
    SAME_VALUE(same, x, y, called_here);
    SAME_EXPRESSION(same, x, y, called_tag);
    SAME_VALUE(same, x, y, propagate_all);
    SAME_VALUE(same, x, y, propagate_in);
    SAME_VALUE(same, x, y, propagate_out);
    SAME_EXPRESSION(same, x, y, retries);
    SAME_TEXT(same, x, y, message_name);
    SAME_EXPRESSION(same, x, y, correlation_key);
    same_loop(same, x, y);
    same_mappings(same, x->id, x->inputs, y->inputs, "inputs");
    same_mappings(same, x->id, x->outputs, y->outputs, "outputs");
    same_mappings(same, x->id, x->headers, y->headers, "headers");
}

static inline void same_shape(struct same *same, const struct engine_node *x,
                              const struct engine_node *y)
{
    if ((x->shape == NULL) != (y->shape == NULL)) {
        SAME_FAIL(same, x->id, "shape");
    } else if (x->shape != NULL) {
        SAME_VALUE(same, x, y, shape->x);
        SAME_VALUE(same, x, y, shape->y);
        SAME_VALUE(same, x, y, shape->width);
        SAME_VALUE(same, x, y, shape->height);
        SAME_VALUE(same, x, y, shape->has_label);
        SAME_VALUE(same, x, y, shape->label_x);
        SAME_VALUE(same, x, y, shape->label_height);
    }
}

static inline void same_node(struct same *same, const struct engine_node *x,
                             const struct engine_node *y)
{
    SAME_VALUE(same, x, y, kind);
    SAME_TEXT(same, x, y, name);
    SAME_VALUE(same, x, y, event_count);
    SAME_VALUE(same, x, y, parallel_multiple);
    SAME_VALUE(same, x, y, interrupting);
    SAME_VALUE(same, x, y, instantiate);
    SAME_VALUE(same, x, y, exclusive_type);
    SAME_VALUE(same, x, y, join);
    SAME_VALUE(same, x, y, incoming.count);
    SAME_VALUE(same, x, y, outgoing.count);
    SAME_VALUE(same, x, y, boundaries.count);
    SAME_VALUE(same, x, y, children.count);
    SAME_VALUE(same, x, y, starts.count);
    SAME_EXPRESSION(same, x, y, condition);
    bool is_same =
        span_equal(same_node_id(same->a, x->scope), same_node_id(same->b, y->scope)) &&
        span_equal(same_node_id(same->a, x->attached_to), same_node_id(same->b, y->attached_to)) &&
        span_equal(same_node_id(same->a, x->compensation),
                   same_node_id(same->b, y->compensation)) &&
        span_equal(same_flow_id(same->a, x->default_flow), same_flow_id(same->b, y->default_flow));
    for (uint32_t i = 0; i < x->outgoing.count && i < y->outgoing.count; i++) {
        is_same &= span_equal(same_flow_id(same->a, x->outgoing.at[i]),
                              same_flow_id(same->b, y->outgoing.at[i]));
    }
    if (!is_same) {
        SAME_FAIL(same, x->id, "scope, host, default flow or order of outgoing flows");
    }
    for (uint32_t i = 0; i < x->event_count && i < y->event_count; i++) {
        if (!same_event(same, &x->events[i], &y->events[i])) {
            SAME_FAIL(same, x->id, "events");
        }
    }
    same_activity(same, x, y);
    same_shape(same, x, y);
}

static inline const struct engine_flow *same_find_flow(const struct engine_process *process,
                                                       struct span id)
{
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (span_equal(process->flows[i].id, id)) {
            return &process->flows[i];
        }
    }
    return NULL;
}

static inline void same_flow(struct same *same, const struct engine_flow *x,
                             const struct engine_flow *y)
{
    SAME_TEXT(same, x, y, name);
    SAME_TEXT(same, x, y, result);
    SAME_VALUE(same, x, y, is_default);
    SAME_VALUE(same, x, y, is_back);
    SAME_EXPRESSION(same, x, y, condition);
    bool is_same = span_equal(same_node_id(same->a, x->source), same_node_id(same->b, y->source)) &&
                   span_equal(same_node_id(same->a, x->target), same_node_id(same->b, y->target)) &&
                   (x->edge == NULL) == (y->edge == NULL);
    bool has_points = x->edge != NULL && is_same;
    is_same &= !has_points || x->edge->point_count == y->edge->point_count;
    for (uint32_t i = 0; has_points && is_same && i < x->edge->point_count; i++) {
        is_same = x->edge->points[i].x == y->edge->points[i].x &&
                  x->edge->points[i].y == y->edge->points[i].y;
    }
    if (!is_same) {
        SAME_FAIL(same, x->id, "ends or way");
    }
}

/* "" or the first difference, which lives as long as `same`. */
static inline const char *same_process(struct same *same, const struct engine_process *a,
                                       const struct engine_process *b)
{
    *same = (struct same){.a = a, .b = b};
    arena_init(&same->arena, 4096, 64 << 20);
    SAME_TEXT(same, a, b, id);
    SAME_TEXT(same, a, b, name);
    SAME_TEXT(same, a, b, version_tag);
    SAME_VALUE(same, a, b, node_count);
    SAME_VALUE(same, a, b, flow_count);
    SAME_VALUE(same, a, b, starts.count);
    SAME_VALUE(same, a, b, trigger_count);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct engine_node *other = engine_process_node(b, a->nodes[i].id);
        if (other == NULL) {
            SAME_FAIL(same, a->nodes[i].id, "is not there");
        } else {
            same_node(same, &a->nodes[i], other);
        }
    }
    for (uint32_t i = 0; i < a->flow_count; i++) {
        const struct engine_flow *other = same_find_flow(b, a->flows[i].id);
        if (other == NULL) {
            SAME_FAIL(same, a->flows[i].id, "is not there");
        } else {
            same_flow(same, &a->flows[i], other);
        }
    }
    arena_release(&same->arena);
    return same->difference;
}

#endif
