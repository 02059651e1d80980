/*
 * lint.c: rules that need no more than a node and its flows.
 */
#include "engine/lint/lint.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/read/support.h"
#include "proto/base/assert.h"

void engine_lint_problem(struct engine_report *report, enum engine_severity severity,
                         const char *rule, const struct engine_node *node, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0);
    engine_report_add(report, severity, rule, node->id, node->line, 0, "%s \"%.*s\": %s",
                      engine_kind_xml_name(node->kind), SPAN_ARG(node->id), message);
}

static void check_support(const struct engine_process *process, const struct engine_node *node,
                          struct lint_options options, struct engine_report *report)
{
    enum engine_severity refusal = options.lenient ? ENGINE_WARNING : ENGINE_ERROR;
    struct support_verdict verdict;
    engine_support_judge(process, node, &verdict);
    switch (verdict.support) {
    case SUPPORT_FULL:
        break;
    case SUPPORT_BY_HAND:
        engine_lint_problem(report, ENGINE_WARNING, "by-hand", node,
                            "%s is started by hand only: before an execution there is no data to "
                            "watch",
                            verdict.what);
        break;
    case SUPPORT_LATER:
        engine_lint_problem(report, refusal, "unsupported-element", node, "%s is not executed yet",
                            verdict.what);
        break;
    case SUPPORT_NONE:
        engine_lint_problem(report, refusal, "unsupported-element", node,
                            "BPMN has no such thing as %s", verdict.what);
        break;
    }
}

static bool is_gateway(enum engine_kind kind)
{
    return kind >= ENGINE_EXCLUSIVE_GATEWAY && kind <= ENGINE_EVENT_GATEWAY;
}

static uint32_t count_conditions(const struct engine_process *process,
                                 const struct engine_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        count += process->flows[node->outgoing.at[i]].condition != NULL;
    }
    return count;
}

/* S3, "missing default paths on exclusive/inclusive gateways (creates dead-end workflows)". */
static void check_default(const struct engine_process *process, const struct engine_node *node,
                          struct engine_report *report)
{
    if (node->kind != ENGINE_EXCLUSIVE_GATEWAY && node->kind != ENGINE_INCLUSIVE_GATEWAY &&
        node->kind != ENGINE_COMPLEX_GATEWAY) {
        return;
    }
    uint32_t conditions = count_conditions(process, node);
    bool has_default = node->default_flow != ENGINE_NONE;
    if (conditions > 0 && conditions == node->outgoing.count && !has_default) {
        engine_lint_problem(report, ENGINE_WARNING, "no-default", node,
                            "has no default flow: when no condition is true, the execution fails");
    }
    bool is_choice = node->kind == ENGINE_EXCLUSIVE_GATEWAY && node->outgoing.count > 1;
    if (is_choice && conditions == 0 && !has_default) {
        engine_lint_problem(report, ENGINE_WARNING, "no-condition", node,
                            "has %u flows and no condition: the first one is always taken",
                            node->outgoing.count);
    }
}

/* S3: "gateways ROUTE, they don't COMPUTE". */
static void check_logic(const struct engine_node *node, struct engine_report *report)
{
    bool has_logic = node->inputs.count > 0 || node->outputs.count > 0 || node->script != NULL ||
                     node->task_type_explicit;
    if (is_gateway(node->kind) && has_logic) {
        engine_lint_problem(report, ENGINE_WARNING, "gateway-logic", node,
                            "bears a script, a task type or data mappings, which no gateway "
                            "executes: move them to a task");
    }
}

static bool catches_link(const struct engine_node *node)
{
    return node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT && node->event_count > 0 &&
           node->events[0].kind == ENGINE_ON_LINK;
}

/* BPMN 2.0.2 §10.5.5: a link has one target, in the same scope. */
static void check_link(const struct engine_process *process, const struct engine_node *node,
                       struct lint_options options, struct engine_report *report)
{
    enum engine_severity refusal = options.lenient ? ENGINE_WARNING : ENGINE_ERROR;
    bool throws = node->kind == ENGINE_INTERMEDIATE_THROW_EVENT && node->event_count > 0 &&
                  node->events[0].kind == ENGINE_ON_LINK;
    if (throws && node->link_target == ENGINE_NONE) {
        engine_lint_problem(report, refusal, "link", node,
                            "throws the link \"%.*s\", which no catch event of its scope catches",
                            SPAN_ARG(node->events[0].name));
    }
    for (uint32_t i = 0; catches_link(node) && i < node->index; i++) {
        const struct engine_node *other = &process->nodes[i];
        if (catches_link(other) && other->scope == node->scope &&
            span_equal(other->events[0].name, node->events[0].name)) {
            engine_lint_problem(report, refusal, "link", node,
                                "catches the link \"%.*s\" as \"%.*s\" does: a link has one target",
                                SPAN_ARG(node->events[0].name), SPAN_ARG(other->id));
            return;
        }
    }
}

static bool waits_for_event(const struct engine_node *node)
{
    return node->kind == ENGINE_RECEIVE_TASK ||
           (node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT && !catches_link(node));
}

/* BPMN 2.0.2 §10.6.6: what follows an event gateway is something to wait for. */
static void check_event_gateway(const struct engine_process *process,
                                const struct engine_node *node, struct lint_options options,
                                struct engine_report *report)
{
    enum engine_severity refusal = options.lenient ? ENGINE_WARNING : ENGINE_ERROR;
    if (node->kind != ENGINE_EVENT_GATEWAY) {
        return;
    }
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_node *target =
            &process->nodes[process->flows[node->outgoing.at[i]].target];
        if (!waits_for_event(target)) {
            engine_lint_problem(report, refusal, "event-gateway", node,
                                "leads to \"%.*s\" (%s), which waits for no event",
                                SPAN_ARG(target->id), engine_kind_trace_name(target->kind));
        }
    }
}

/* BPMN 2.0.2 §10.3.5: an event sub-process has one start event. */
static void check_event_sub_process(const struct engine_process *process,
                                    const struct engine_node *node, struct lint_options options,
                                    struct engine_report *report)
{
    uint32_t starts = 0;
    for (uint32_t i = 0; i < node->children.count; i++) {
        starts += process->nodes[node->children.at[i]].kind == ENGINE_START_EVENT;
    }
    if (node->triggered_by_event && starts > 1) {
        engine_lint_problem(report, options.lenient ? ENGINE_WARNING : ENGINE_ERROR,
                            "event-sub-process", node,
                            "has %u start events: an event sub-process has one, which may have "
                            "several triggers",
                            starts);
    } else if (node->triggered_by_event && starts == 0) {
        engine_lint_problem(report, ENGINE_WARNING, "event-sub-process", node,
                            "has no start event: nothing starts it");
    }
}

static bool is_transaction(const struct engine_process *process, uint32_t node)
{
    return node != ENGINE_NONE && process->nodes[node].kind == ENGINE_TRANSACTION;
}

static bool has_cancel_boundary(const struct engine_process *process,
                                const struct engine_node *transaction)
{
    for (uint32_t i = 0; i < transaction->boundaries.count; i++) {
        if (engine_node_bears(&process->nodes[transaction->boundaries.at[i]], ENGINE_ON_CANCEL)) {
            return true;
        }
    }
    return false;
}

/* BPMN 2.0.2 §10.3.5: cancel events are of transactions. */
static void check_cancel(const struct engine_process *process, const struct engine_node *node,
                         struct lint_options options, struct engine_report *report)
{
    enum engine_severity refusal = options.lenient ? ENGINE_WARNING : ENGINE_ERROR;
    uint32_t around = node->scope;
    if (!engine_node_bears(node, ENGINE_ON_CANCEL) ||
        (node->kind != ENGINE_BOUNDARY_EVENT && node->kind != ENGINE_END_EVENT)) {
        return;
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        if (!is_transaction(process, node->attached_to)) {
            engine_lint_problem(report, refusal, "cancel", node,
                                "a cancel boundary event is of a transaction, and what it is "
                                "attached to is none");
        }
        return;
    }
    while (around != ENGINE_NONE && !is_transaction(process, around)) {
        around = process->nodes[around].scope;
    }
    if (around == ENGINE_NONE) {
        engine_lint_problem(report, refusal, "cancel", node,
                            "cancels a transaction, and there is none around it");
    } else if (!has_cancel_boundary(process, &process->nodes[around])) {
        engine_lint_problem(report, ENGINE_WARNING, "cancel", node,
                            "cancels \"%.*s\", which has no cancel boundary event: the execution "
                            "fails",
                            SPAN_ARG(process->nodes[around].id));
    }
}

/* The activity that a compensation event names: is there nothing of it to undo? Inside a
 * sub-process there may be. */
static bool undoes_nothing(const struct engine_process *process,
                           const struct engine_event_definition *event)
{
    if (event->kind != ENGINE_ON_COMPENSATION || event->activity == ENGINE_NONE) {
        return false;
    }
    const struct engine_node *activity = &process->nodes[event->activity];
    return activity->compensation == ENGINE_NONE && activity->children.count == 0;
}

/* BPMN 2.0.2 §10.7: a handler is told by an association and lies outside the normal flow. */
static void check_compensation(const struct engine_process *process, const struct engine_node *node,
                               struct engine_report *report)
{
    if (node->for_compensation && node->incoming.count + node->outgoing.count > 0) {
        engine_lint_problem(report, ENGINE_WARNING, "compensation", node,
                            "undoes an activity and is connected by sequence flows: it is done by "
                            "them, too");
    }
    if (!engine_node_bears(node, ENGINE_ON_COMPENSATION)) {
        return;
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        if (process->nodes[node->attached_to].compensation == ENGINE_NONE) {
            engine_lint_problem(report, ENGINE_WARNING, "compensation", node,
                                "has no handler, an activity for compensation that an association "
                                "leads to: nothing is undone");
        }
        if (node->outgoing.count > 0) {
            engine_lint_problem(report, ENGINE_WARNING, "compensation", node,
                                "no sequence flow of it is ever taken: an association leads to its "
                                "handler");
        }
        return;
    }
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (undoes_nothing(process, &node->events[i])) {
            engine_lint_problem(report, ENGINE_WARNING, "compensation", node,
                                "compensates \"%.*s\", which has no handler: nothing is undone",
                                SPAN_ARG(process->nodes[node->events[i].activity].id));
        }
    }
}

static void check_loop(const struct engine_node *node, struct engine_report *report)
{
    const struct engine_loop *loop = &node->loop;
    if (loop->kind == ENGINE_LOOP_STANDARD && loop->condition == NULL && loop->maximum == NULL) {
        engine_lint_problem(report, ENGINE_WARNING, "loop", node,
                            "loops and has neither a condition nor a maximum: it never ends");
    }
    if ((loop->kind == ENGINE_LOOP_PARALLEL || loop->kind == ENGINE_LOOP_SEQUENTIAL) &&
        loop->collection == NULL && loop->cardinality == NULL) {
        engine_lint_problem(report, ENGINE_WARNING, "loop", node,
                            "says neither how many instances it has nor a collection: the "
                            "execution fails when it comes here");
    }
}

/* An event sub-process does not begin by itself, nor does what has only incoming flows. */
static void check_inside(const struct engine_node *node, struct engine_report *report)
{
    if (node->children.count > 0 && node->starts.count == 0 && !node->triggered_by_event) {
        engine_lint_problem(report, ENGINE_WARNING, "no-start-event", node,
                            "has nothing to start with: the execution fails when it comes here");
    }
}

static void check_starts(const struct engine_process *process, struct engine_report *report)
{
    bool has_start = process->is_global_task;
    for (uint32_t i = 0; i < process->children.count; i++) {
        has_start |= process->nodes[process->children.at[i]].kind == ENGINE_START_EVENT;
    }
    if (has_start) {
        return;
    }
    if (process->starts.count > 0) {
        engine_report_add(report, ENGINE_WARNING, "no-start-event", process->id, process->line, 0,
                          "process \"%.*s\": has no start event: all %u nodes without an incoming "
                          "flow start at once",
                          SPAN_ARG(process->id), process->starts.count);
    } else {
        engine_report_add(report, ENGINE_WARNING, "no-start-event", process->id, process->line, 0,
                          "process \"%.*s\": has nothing to start with", SPAN_ARG(process->id));
    }
}

enum result engine_lint(const struct engine_process *process, struct lint_options options,
                        struct engine_report *report)
{
    check_starts(process, report);
    for (uint32_t i = 0; i < process->node_count; i++) {
        const struct engine_node *node = &process->nodes[i];
        check_support(process, node, options, report);
        check_logic(node, report);
        check_link(process, node, options, report);
        check_event_gateway(process, node, options, report);
        check_event_sub_process(process, node, options, report);
        check_cancel(process, node, options, report);
        check_compensation(process, node, report);
        check_loop(node, report);
        check_inside(node, report);
        if (options.is_sound) {
            check_default(process, node, report);
        }
    }
    engine_lint_timers(process, options, report);
    return options.is_sound ? engine_lint_paths(process, report) : RESULT_OK;
}
