/*
 * compensation.c: see compensation.h.
 */
#include "engine/compensation.h"

#include "engine/failure.h"
#include "engine/handler.h"
#include "engine/scope.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

void engine_compensation_record(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->node->compensation == ENGINE_NONE) {
        return;
    }
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_RECORDED, visit->token);
    event->other = visit->node->compensation;
    event->value = arena_copy(decision->arena, visit->token->own);
}

/* The event sub-process that compensates the scope around it; ENGINE_NONE: there is none. */
static uint32_t compensating_handler(const struct engine_process *process,
                                     const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->handlers.count; i++) {
        const struct engine_node *start = engine_handler_start(process, node->handlers.at[i]);
        if (start != NULL && engine_node_bears(start, ENGINE_ON_COMPENSATION)) {
            return node->handlers.at[i];
        }
    }
    return ENGINE_NONE;
}

void engine_compensation_close(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_scope *inner = engine_scope_find(decision->execution, visit->token->child);
    uint32_t handler = compensating_handler(visit->scope->process, visit->node);
    bool is_kept = visit->node->compensation == ENGINE_NONE;
    /* What happens in such an event sub-process is not compensated in turn. */
    bool compensates = visit->scope->kind == ENGINE_SCOPE_COMPENSATION;
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_SCOPE_CLOSED);
    event->scope = visit->token->child;
    event->flags = is_kept && !compensates;
    if (is_kept && !compensates && handler != ENGINE_NONE && inner->kind != ENGINE_SCOPE_BODY) {
        event = engine_emit_token(decision, ENGINE_EVENT_RECORDED, visit->token);
        event->other = handler;
        event->count = inner->records.count;
        event->value = wire_merge(decision->arena, visit->token->own, inner->variables);
    }
}

static void run_newest(struct engine_decision *decision, uint32_t scope, uint32_t handler,
                       const struct engine_token *from)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_COMPENSATED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope;
    event->node = handler;
    event->other = from->slot.id;
}

bool engine_compensation_next(struct engine_decision *decision, const struct engine_scope *scope,
                              const struct engine_token *from)
{
    const struct engine_record *newest =
        scope->kind == ENGINE_SCOPE_COMPENSATION
            ? engine_pool_at(&decision->execution->records, scope->records.last)
            : NULL;
    if (newest != NULL) {
        run_newest(decision, scope->slot.id, newest->handler, from);
    }
    return newest != NULL;
}

/* ---- what an event is about ---- */

/* An event sub-process acts for the scope that it is in; one that compensates a scope that is gone
 * has that one's records itself. */
static const struct engine_scope *scope_of(const struct engine_execution *execution,
                                           const struct engine_scope *scope)
{
    const struct engine_scope *parent = engine_scope_find(execution, scope->parent);
    while (scope->kind == ENGINE_SCOPE_SUB_PROCESS && parent->kind != ENGINE_SCOPE_COMPENSATION &&
           scope->process->nodes[scope->node].triggered_by_event) {
        scope = parent;
        parent = engine_scope_find(execution, scope->parent);
    }
    return scope;
}

static const struct engine_record *newest_about(const struct engine_execution *execution,
                                                const struct engine_scope *scope, uint32_t activity)
{
    const struct engine_record *record = engine_pool_at(&execution->records, scope->records.last);
    while (record != NULL && !engine_record_is_about(scope, record, activity)) {
        for (uint32_t skip = record->inner + 1; skip > 0 && record != NULL; skip--) {
            record =
                engine_pool_at(&execution->records, record->slot.links[ENGINE_LINK_FIRST].previous);
        }
    }
    return record;
}

/* The handlers of the scope's records run inside the visit's token, that of `newest` first. */
static void open(struct engine_decision *decision, const struct engine_visit *visit,
                 const struct engine_scope *scope, uint32_t activity,
                 const struct engine_record *newest)
{
    engine_decision_step(decision, visit->token, false);
    struct engine_event *event =
        engine_emit_token(decision, ENGINE_EVENT_SCOPE_OPENED, visit->token);
    uint32_t inside = engine_decision_scope_id(decision);
    event->scope = inside;
    event->flags = ENGINE_SCOPE_COMPENSATION;
    event->other = scope->slot.id;
    event->node = activity;
    run_newest(decision, inside, newest->handler, visit->token);
}

bool engine_compensation_begin(struct engine_decision *decision, const struct engine_visit *visit,
                               uint32_t activity)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *scope = scope_of(execution, visit->scope);
    const struct engine_record *newest = newest_about(execution, scope, activity);
    /* An activity that it names may lie further out. */
    while (newest == NULL && activity != ENGINE_NONE && engine_scope_is_inner(scope)) {
        scope = engine_scope_find(execution, scope->parent);
        newest = newest_about(execution, scope, activity);
    }
    if (newest == NULL) {
        return false;
    }
    open(decision, visit, scope, activity, newest);
    return true;
}

/* ---- transactions ---- */

static const struct engine_node *cancel_boundary(const struct engine_process *process,
                                                 const struct engine_node *transaction)
{
    for (uint32_t i = 0; i < transaction->boundaries.count; i++) {
        const struct engine_node *boundary = &process->nodes[transaction->boundaries.at[i]];
        if (engine_node_bears(boundary, ENGINE_ON_CANCEL)) {
            return boundary;
        }
    }
    return NULL;
}

/* BPMN 2.0.2 §10.3.5: a cancel end event is for the transaction around it, however many
 * sub-processes lie in between; NULL: there is none. */
static const struct engine_scope *transaction_around(const struct engine_execution *execution,
                                                     const struct engine_scope *scope)
{
    while (scope->kind == ENGINE_SCOPE_SUB_PROCESS || scope->kind == ENGINE_SCOPE_BODY) {
        if (scope->kind == ENGINE_SCOPE_SUB_PROCESS &&
            scope->process->nodes[scope->node].kind == ENGINE_TRANSACTION) {
            return scope;
        }
        scope = engine_scope_find(execution, scope->parent);
    }
    return NULL;
}

/* An instance of a transaction with a loop marker takes the whole body along. */
static void leave_by_cancel(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *scope = transaction_around(execution, visit->scope);
    ASSERT(scope != NULL); /* engine_cancel_begin has found it */
    const struct engine_token *host = engine_token_find(execution, scope->host);
    const struct engine_scope *around = engine_scope_find(execution, host->scope);
    const struct engine_node *transaction = &around->process->nodes[host->node];
    const struct engine_node *boundary = cancel_boundary(around->process, transaction);
    if (around->kind == ENGINE_SCOPE_BODY) {
        host = engine_token_find(execution, around->host);
    }
    if (boundary == NULL) {
        engine_fail(decision, visit, (enum engine_token_state)visit->token->state,
                    span_text("TransactionCancelled"),
                    ENGINE_TEXT(decision, "\"%.*s\" is cancelled and has no cancel boundary event",
                                SPAN_ARG(transaction->id)));
        return;
    }
    engine_decision_step(decision, visit->token, false);
    engine_scope_interrupt(decision, host, visit->token, boundary->index, SPAN_EMPTY);
}

/* What will be the newest record of the transaction, once it has those of the scopes in it. */
static const struct engine_record *newest_within(const struct engine_execution *execution,
                                                 const struct engine_scope *transaction)
{
    uint32_t newest = transaction->records.last;
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (scope->records.count > 0 && engine_scope_lends(execution, scope, transaction)) {
            newest = scope->records.last;
        }
    }
    return engine_pool_at(&execution->records, newest);
}

/* All of the transaction goes, but for the token and the scopes that it is in; what has completed
 * in scopes that have not is the transaction's to undo. From outside in, so that those are there.
 */
static void take_others_away(struct engine_decision *decision, const struct engine_visit *visit,
                             const struct engine_scope *transaction)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *scope = transaction;
    for (;;) {
        const struct engine_token *kept = visit->token;
        const struct engine_scope *inner = visit->scope;
        while (inner != scope) {
            kept = engine_token_find(execution, inner->host);
            inner = engine_scope_find(execution, inner->parent);
        }
        engine_scope_cancel_others(decision, scope, kept);
        struct engine_event *event = engine_emit(decision, ENGINE_EVENT_SCOPE_INTERRUPTED);
        event->scope = scope->slot.id;
        event->token = kept->slot.id;
        event->flags = scope == transaction;
        if (scope == visit->scope) {
            return;
        }
        scope = engine_scope_find(execution, kept->child);
    }
}

void engine_cancel_begin(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *transaction = transaction_around(execution, visit->scope);
    if (transaction == NULL) {
        engine_fail(decision, visit, (enum engine_token_state)visit->token->state,
                    span_text("DefinitionInvalid"),
                    ENGINE_TEXT(decision, "cancel end event \"%.*s\" is in no transaction",
                                SPAN_ARG(visit->node->id)));
        return;
    }
    const struct engine_record *newest = newest_within(execution, transaction);
    take_others_away(decision, visit, transaction);
    if (newest != NULL) {
        open(decision, visit, transaction, ENGINE_NONE, newest);
    } else {
        leave_by_cancel(decision, visit);
    }
}

void engine_compensation_back(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->token->child != 0) { /* a retry comes here again */
        engine_emit(decision, ENGINE_EVENT_SCOPE_CLOSED)->scope = visit->token->child;
    }
}

void engine_cancel_back(struct engine_decision *decision, const struct engine_visit *visit)
{
    leave_by_cancel(decision, visit);
}
