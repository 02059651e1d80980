/*
 * handler.c: see handler.h.
 */
#include "engine/handler.h"

#include "engine/listen.h"
#include "engine/scope.h"

const struct engine_node *engine_handler_start(const struct engine_process *process,
                                               uint32_t handler)
{
    struct engine_indexes starts = process->nodes[handler].starts;
    const struct engine_node *start = starts.count == 0 ? NULL : &process->nodes[starts.at[0]];
    return start != NULL && start->kind == ENGINE_START_EVENT && start->event_count > 0 ? start
                                                                                        : NULL;
}

struct engine_indexes engine_handlers_of(const struct engine_scope *scope)
{
    if (!engine_scope_is_inner(scope)) {
        return scope->process->handlers;
    }
    return scope->kind == ENGINE_SCOPE_SUB_PROCESS ? scope->process->nodes[scope->node].handlers
                                                   : (struct engine_indexes){0};
}

/* What is thrown finds its handler itself. */
static bool needs_guard(const struct engine_node *start)
{
    return engine_node_bears(start, ENGINE_ON_MESSAGE) ||
           engine_node_bears(start, ENGINE_ON_TIMER) ||
           engine_node_bears(start, ENGINE_ON_SIGNAL) ||
           engine_node_bears(start, ENGINE_ON_CONDITION);
}

void engine_handler_guard(struct engine_decision *decision, const struct engine_process *process,
                          struct engine_indexes handlers, uint32_t scope)
{
    for (uint32_t i = 0; i < handlers.count; i++) {
        const struct engine_node *start = engine_handler_start(process, handlers.at[i]);
        if (start != NULL && needs_guard(start)) {
            struct engine_event *event = engine_emit(decision, ENGINE_EVENT_TOKEN_CREATED);
            event->token = engine_decision_token_id(decision);
            event->scope = scope;
            event->node = handlers.at[i];
            event->flow = ENGINE_NONE;
            event->flags = 1;
        }
    }
}

void engine_handler_listen(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *start =
        engine_handler_start(visit->scope->process, visit->node->index);
    struct engine_scene scene;
    bool met;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (!engine_listen_arm(decision, visit, start, &scene, &met)) {
        return;
    }
    engine_emit_token(decision, ENGINE_EVENT_LISTENED, visit->token);
    if (met) {
        const struct engine_news news = {.node = start->index};
        engine_listen_happen(decision, visit->token, &news);
    }
}

uint32_t engine_handler_begin(struct engine_decision *decision, const struct engine_scope *scope,
                              const struct engine_node *start, const struct engine_token *from,
                              struct span output)
{
    if (start->interrupting) {
        engine_scope_cancel_others(decision, scope, NULL);
    }
    uint32_t token =
        engine_scope_add_token(decision, scope, start->scope, ENGINE_NONE, from, output);
    if (start->interrupting) {
        struct engine_event *event = engine_emit(decision, ENGINE_EVENT_SCOPE_INTERRUPTED);
        event->scope = scope->slot.id;
        event->token = token;
    }
    return token;
}
