/*
 * scope.c: see scope.h.
 */
#include "engine/scope.h"

#include "engine/ad_hoc.h"
#include "engine/apply.h"
#include "engine/call.h"
#include "engine/compensation.h"
#include "engine/complex.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/handler.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

uint32_t engine_scope_add_token(struct engine_decision *decision, const struct engine_scope *scope,
                                uint32_t node, uint32_t flow, const struct engine_token *from,
                                struct span output)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_TOKEN_CREATED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope->slot.id;
    event->node = node;
    event->flow = flow;
    event->other = from == NULL ? 0 : from->slot.id;
    event->value = output;
    return event->token;
}

/* ---- opening ---- */

/* Start nodes of a scope that does not exist yet. */
static void add_start_token(struct engine_decision *decision, const struct engine_token *host,
                            uint32_t scope, uint32_t node)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_TOKEN_CREATED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope;
    event->node = node;
    event->flow = ENGINE_NONE;
    event->other = host->slot.id;
}

void engine_scope_open(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_process *process, struct span variables)
{
    engine_scope_open_at(decision, visit, process,
                         process != NULL ? process->starts : visit->node->starts, variables);
}

void engine_scope_open_at(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct engine_process *process, struct engine_indexes starts,
                          struct span variables)
{
    if (starts.count == 0) {
        engine_fail(
            decision, visit, ENGINE_TOKEN_ENTERED, span_text("StartTaskNotFound"),
            ENGINE_TEXT(decision, "\"%.*s\" has nothing to start with", SPAN_ARG(visit->node->id)));
        return;
    }
    if (starts.count > LIMIT_TOKENS - decision->execution->token_count) {
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("StepLimitExceeded"),
                    ENGINE_TEXT(decision, "more than %u tokens", LIMIT_TOKENS));
        return;
    }
    engine_decision_step(decision, visit->token, false);
    struct engine_event *event =
        engine_emit_token(decision, ENGINE_EVENT_SCOPE_OPENED, visit->token);
    uint32_t scope = engine_decision_scope_id(decision);
    event->scope = scope;
    event->flags = process != NULL ? ENGINE_SCOPE_CALLED : ENGINE_SCOPE_SUB_PROCESS;
    event->text = process != NULL ? process->id : SPAN_EMPTY;
    bool in_turn = process == NULL && engine_ad_hoc_is_sequence(visit->node);
    event->count = process != NULL ? process->version : in_turn;
    event->value = variables;
    engine_handler_guard(decision, process != NULL ? process : visit->scope->process,
                         process != NULL ? process->handlers : visit->node->handlers, scope);
    for (uint32_t i = 0; i < (in_turn ? 1 : starts.count); i++) {
        add_start_token(decision, visit->token, scope, starts.at[i]);
    }
}

/* ---- ending ---- */

static void announce_spent(struct engine_decision *decision, const struct engine_scope *scope)
{
    if (scope->host == 0) {
        if (decision->execution->inbox_count > 0) {
            engine_emit_log(decision, ENGINE_LEVEL_WARN, NULL,
                            ENGINE_TEXT(decision, "%u early callbacks never met a task that waits",
                                        decision->execution->inbox_count));
        }
        engine_emit(decision, ENGINE_EVENT_ENDED)->flags = ENGINE_END_COMPLETED;
        return;
    }
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_SCOPE_SPENT);
    event->scope = scope->slot.id;
    event->token = scope->host;
}

void engine_scope_spend(struct engine_decision *decision, const struct engine_scope *scope)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                     ENGINE_LINK_IN_SCOPE)) {
        if (token->guard) {
            engine_scope_cancel_inside(decision, token);
            engine_emit_token(decision, ENGINE_EVENT_CANCELLED, token);
        }
    }
    announce_spent(decision, scope);
}

/* Some scopes do one thing after the other: the handlers of a compensation, the start nodes of an
 * ad-hoc sub-process in sequence, the reset of a complex gateway. False: that was the last one. */
static bool begin_next(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_scope *scope = visit->scope;
    return engine_compensation_next(decision, scope, visit->token) ||
           engine_ad_hoc_next(decision, scope, visit->token) ||
           engine_complex_reset_last(decision, scope);
}

void engine_scope_consume(struct engine_decision *decision, const struct engine_visit *visit)
{
    ASSERT(visit->scope->live > 0);
    engine_decision_step(decision, visit->token, false);
    bool is_last = visit->scope->live == 1;
    bool goes_on = is_last && begin_next(decision, visit);
    engine_emit_token(decision, ENGINE_EVENT_CONSUMED, visit->token);
    if (is_last && !goes_on) {
        engine_scope_spend(decision, visit->scope);
    }
}

/* traps.md 10: terminate ends its own scope only; inside a sub-process the parent goes on. */
void engine_scope_terminate(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_decision_step(decision, visit->token, false);
    engine_scope_cancel_others(decision, visit->scope, visit->token);
    engine_emit(decision, ENGINE_EVENT_SCOPE_CLEARED)->scope = visit->scope->slot.id;
    announce_spent(decision, visit->scope);
}

/* ---- interrupting ---- */

static void cancel_one(struct engine_decision *decision, const struct engine_token *token)
{
    struct engine_visit visit = engine_visit_of(decision, token);
    visit.ops->cancel(decision, &visit);
}

/* The next scope of a walk through everything below `top`; parents before children, no recursion.
 * NULL: that was all. */
static const struct engine_scope *scope_below(const struct engine_execution *execution,
                                              const struct engine_scope *scope,
                                              const struct engine_scope *top)
{
    if (scope->children.count > 0) {
        return engine_pool_at(&execution->scopes, scope->children.first);
    }
    while (scope != top) {
        uint32_t next = scope->slot.links[ENGINE_LINK_SIBLINGS].next;
        if (next != ENGINE_SLOT_NONE) {
            return engine_pool_at(&execution->scopes, next);
        }
        scope = engine_scope_find(execution, scope->parent);
    }
    return NULL;
}

void engine_scope_cancel_inside(struct engine_decision *decision, const struct engine_token *host)
{
    const struct engine_execution *execution = decision->execution;
    cancel_one(decision, host);
    const struct engine_scope *top = engine_scope_find(execution, host->child);
    for (const struct engine_scope *scope = top; scope != NULL;
         scope = scope_below(execution, scope, top)) {
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                         ENGINE_LINK_IN_SCOPE)) {
            cancel_one(decision, token);
        }
    }
}

void engine_scope_cancel_others(struct engine_decision *decision, const struct engine_scope *scope,
                                const struct engine_token *kept)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                     ENGINE_LINK_IN_SCOPE)) {
        if (token != kept) {
            engine_scope_cancel_inside(decision, token);
        }
    }
}

void engine_scope_drop_calls(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    if (execution->call_count == 0) {
        return;
    }
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                     ENGINE_LINK_QUEUE)) {
        engine_call_drop(decision, token);
    }
}

uint32_t engine_scope_interrupt(struct engine_decision *decision, const struct engine_token *host,
                                const struct engine_token *from, uint32_t node, struct span output)
{
    const struct engine_scope *scope = engine_scope_find(decision->execution, host->scope);
    ASSERT(scope != NULL && node < scope->process->node_count);
    engine_scope_cancel_inside(decision, host);
    /* The new token first, so that the scope is never without one. */
    uint32_t token = engine_scope_add_token(decision, scope, node, ENGINE_NONE, from, output);
    engine_emit_token(decision, ENGINE_EVENT_CANCELLED, host);
    return token;
}
