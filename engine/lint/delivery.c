/*
 * delivery.c: what waits for a message or signal, or publishes one. The token core does both, but
 * somebody must carry them from one execution to the other: a scenario does, an engine that serves
 * does not yet, and there the one would wait for ever and the other would be lost.
 */
#include "engine/lint/lint.h"

static bool is_delivered(enum engine_event_kind kind)
{
    return kind == ENGINE_ON_MESSAGE || kind == ENGINE_ON_SIGNAL;
}

static enum engine_event_kind event_of(const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (is_delivered(node->events[i].kind)) {
            return node->events[i].kind;
        }
    }
    return ENGINE_ON_NONE;
}

/* A start event of a process is begun by hand; one of an event sub-process waits as long as its
 * scope lives. */
static enum engine_event_kind awaited_by(const struct engine_node *node)
{
    if (node->kind == ENGINE_RECEIVE_TASK) {
        return node->message_name.count > 0 ? ENGINE_ON_MESSAGE : ENGINE_ON_NONE;
    }
    bool waits = node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT ||
                 node->kind == ENGINE_BOUNDARY_EVENT ||
                 (node->kind == ENGINE_START_EVENT && node->scope != ENGINE_NONE);
    return waits ? event_of(node) : ENGINE_ON_NONE;
}

/* A message alone, of a node with a task type, is sent by its module. */
static enum engine_event_kind published_by(const struct engine_node *node)
{
    if (node->kind == ENGINE_SEND_TASK) {
        bool publishes = node->message_name.count > 0 && !node->task_type_explicit;
        return publishes ? ENGINE_ON_MESSAGE : ENGINE_ON_NONE;
    }
    bool throws = node->kind == ENGINE_INTERMEDIATE_THROW_EVENT || node->kind == ENGINE_END_EVENT;
    enum engine_event_kind kind = throws ? event_of(node) : ENGINE_ON_NONE;
    bool by_module =
        kind == ENGINE_ON_MESSAGE && node->event_count == 1 && node->task_type_explicit;
    return by_module ? ENGINE_ON_NONE : kind;
}

static void check(const struct engine_node *node, struct engine_report *report)
{
    enum engine_event_kind awaited = awaited_by(node);
    enum engine_event_kind kind = awaited != ENGINE_ON_NONE ? awaited : published_by(node);
    if (kind != ENGINE_ON_NONE) {
        const char *name = engine_event_kind_name(kind);
        engine_lint_problem(report, ENGINE_ERROR, "undelivered", node,
                            "%s a %s: %ss are not delivered by this engine yet",
                            awaited != ENGINE_ON_NONE ? "waits for" : "publishes", name, name);
    }
}

void engine_lint_delivery(const struct engine_process *process, struct engine_report *report)
{
    for (uint32_t i = 0; i < process->node_count; i++) {
        check(&process->nodes[i], report);
    }
}
