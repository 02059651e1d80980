/*
 * accept.c: one input: checked against the state, then decided and applied. A refused input changes
 * nothing, not even the clock.
 */
#include "engine/accept.h"

#include "engine/apply.h"
#include "engine/encode.h"
#include "engine/failure.h"
#include "engine/handler.h"
#include "engine/scope.h"
#include "proto/base/assert.h"

enum result engine_accept_refuse(struct engine_accept *accept, enum proto_error error,
                                 struct span message)
{
    accept->output->error = error;
    accept->output->error_message = message;
    return RESULT_INVALID;
}

/* ---- start, restart ---- */

static enum result check_start(struct engine_accept *accept)
{
    if (accept->execution->run > 0) {
        return engine_accept_refuse(accept, PROTO_ERROR_AlreadyExists,
                                    span_text("the execution has started already"));
    }
    return RESULT_OK;
}

/* engine.md 3: several starts: a token on each; none: the run fails. */
static void start_plainly(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct engine_indexes starts = execution->process->starts;
    if (starts.count == 0) {
        engine_fail_execution(decision, span_text("StartTaskNotFound"),
                              ENGINE_TEXT(decision, "process \"%.*s\" has nothing to start with",
                                          SPAN_ARG(execution->process->id)));
    }
    for (uint32_t i = 0; i < starts.count; i++) {
        engine_scope_add_token(decision, root, starts.at[i], ENGINE_NONE, NULL, SPAN_EMPTY);
    }
}

/* The other events behind a parallel instantiating gateway are waited for in the same execution
 * (BPMN 2.0.2 §10.6.6). */
static void start_beside(struct engine_decision *decision, const struct engine_scope *root,
                         const struct engine_node *first)
{
    const struct engine_process *process = root->process;
    for (uint32_t i = 0; i < first->incoming.count; i++) {
        const struct engine_node *gateway =
            &process->nodes[process->flows[first->incoming.at[i]].source];
        if (gateway->kind != ENGINE_EVENT_GATEWAY || gateway->exclusive_type) {
            continue;
        }
        for (uint32_t k = 0; k < gateway->outgoing.count; k++) {
            uint32_t node = process->flows[gateway->outgoing.at[k]].target;
            if (node != first->index) {
                engine_scope_add_token(decision, root, node, ENGINE_NONE, NULL, SPAN_EMPTY);
            }
        }
    }
}

/* What triggered the node has come already: at a start event that goes without saying. */
static void start_at(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    const struct engine_node *node = engine_process_node(execution->process, execution->start_node);
    if (node == NULL || node->scope != ENGINE_NONE) {
        engine_fail_execution(decision, span_text("StartTaskNotFound"),
                              ENGINE_TEXT(decision, "process \"%.*s\" has no start \"%.*s\"",
                                          SPAN_ARG(execution->process->id),
                                          SPAN_ARG(execution->start_node)));
        return;
    }
    uint32_t token =
        engine_scope_add_token(decision, root, node->index, ENGINE_NONE, NULL, SPAN_EMPTY);
    if (node->kind != ENGINE_START_EVENT) {
        engine_emit(decision, ENGINE_EVENT_CAUGHT)->token = token;
        start_beside(decision, root, node);
    }
}

/* Event sub-processes of the process listen from its beginning. */
static void guard(struct engine_decision *decision)
{
    const struct engine_process *process = decision->execution->process;
    engine_handler_guard(decision, process, process->handlers, ENGINE_SCOPE_ROOT);
}

static enum result begin_run(struct engine_accept *accept)
{
    struct engine_execution *execution = accept->execution;
    struct engine_decision decision;
    engine_decision_begin(&decision, execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_STARTED)->count = execution->run + 1;
    enum result result = engine_commit(execution, &decision);
    if (result != RESULT_OK) {
        return result;
    }
    engine_decision_begin(&decision, execution, accept->output);
    guard(&decision);
    if (execution->start_node.count > 0) {
        start_at(&decision);
    } else {
        start_plainly(&decision);
    }
    return engine_commit(execution, &decision);
}

/* Each run is told to the audit as it begins; `run` says which. */
static enum result act_start(struct engine_accept *accept)
{
    enum result result = begin_run(accept);
    return result == RESULT_OK ? engine_tell_audit(accept->execution, "started", 0, accept->output)
                               : result;
}

/* The creating event comes before all others, the clock's too. */
static enum result create(struct engine_accept *accept)
{
    struct engine_execution *execution = accept->execution;
    struct engine_decision decision;
    if (execution->event_sequence > 0) {
        return RESULT_OK;
    }
    engine_decision_begin(&decision, execution, accept->output);
    struct engine_event *event = engine_emit(&decision, ENGINE_EVENT_CREATED);
    event->at_ms = execution->created_ms;
    event->value = engine_encode_start(execution, accept->output->arena);
    return engine_commit(execution, &decision);
}

/* ---- module replies ---- */

static enum result check_call_done(struct engine_accept *accept)
{
    const struct engine_execution *execution = accept->execution;
    const struct engine_input *input = accept->input;
    const struct engine_token *token = engine_token_find(execution, input->token);
    ASSERT(input->call != NULL);
    bool wanted =
        token != NULL && token->state == ENGINE_TOKEN_CALLING && token->call == input->attempt;
    if (execution->end != ENGINE_END_NONE || input->call->outcome == PROTO_CALL_CANCELLED ||
        input->attempt == 0 || (!wanted && input->attempt > execution->call_last)) {
        return RESULT_NOT_FOUND;
    }
    accept->token = wanted ? input->token : 0;
    return RESULT_OK;
}

static enum result act_call_done(struct engine_accept *accept)
{
    struct engine_decision decision;
    const struct proto_call_done *call = accept->input->call;
    engine_decision_begin(&decision, accept->execution, accept->output);
    if (accept->token ==
        0) { /* engine.md 4: interrupted work's late replies are ignored and audited as such */
        engine_emit_log(&decision, ENGINE_LEVEL_INFO, NULL,
                        ENGINE_TEXT(&decision,
                                    "late reply to call %u ignored: nothing waits for it any more",
                                    accept->input->attempt));
        return engine_commit(accept->execution, &decision);
    }
    struct engine_event *event = engine_emit(&decision, ENGINE_EVENT_ANSWERED);
    event->token = accept->token;
    event->flags = call->outcome;
    event->count = call->status;
    event->at_ms = call->retry_after_ms;
    event->value = arena_copy(decision.arena, call->body);
    event->text = arena_copy(decision.arena, call->reason);
    return engine_commit(accept->execution, &decision);
}

/* ---- the table ---- */

static enum result check_nothing(struct engine_accept *accept)
{
    (void)accept;
    return RESULT_OK;
}

static const struct {
    engine_accept_fn check;
    engine_accept_fn act;
} inputs[ENGINE_IN_COUNT] = {
    [ENGINE_IN_START] = {check_start, act_start},
    [ENGINE_IN_CALL_DONE] = {check_call_done, act_call_done},
    [ENGINE_IN_CALLBACK] = {engine_accept_check_callback, engine_accept_callback},
    [ENGINE_IN_TIMER] = {check_nothing, engine_accept_timer},
    [ENGINE_IN_SUSPEND] = {engine_accept_check_verb, engine_accept_suspend},
    [ENGINE_IN_RESUME] = {engine_accept_check_verb, engine_accept_resume},
    [ENGINE_IN_ABORT] = {engine_accept_check_verb, engine_accept_abort},
    [ENGINE_IN_RESTART] = {engine_accept_check_verb, act_start},
    [ENGINE_IN_RETRY] = {engine_accept_check_retry, engine_accept_retry},
    [ENGINE_IN_MESSAGE] = {engine_accept_check_message, engine_accept_message},
    [ENGINE_IN_SIGNAL] = {engine_accept_check_signal, engine_accept_signal},
    [ENGINE_IN_MIGRATE] = {engine_accept_check_migrate, engine_accept_migrate},
    [ENGINE_IN_IMPORT] = {engine_accept_check_import, engine_accept_import},
};

enum result engine_accept(struct engine_execution *execution, const struct engine_input *input,
                          struct engine_output *output)
{
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    ASSERT(input->kind < ENGINE_IN_COUNT);
    struct engine_accept accept = {.execution = execution, .input = input, .output = output};
    output->error = PROTO_ERROR_NONE;
    enum result result = inputs[input->kind].check(&accept);
    result = result != RESULT_OK ? result : create(&accept);
    result = result != RESULT_OK ? result : engine_tick(execution, input->now_ms, output);
    result = result != RESULT_OK ? result : inputs[input->kind].act(&accept);
    if (result == RESULT_OK) {
        engine_execution_tidy(execution);
    }
    engine_execution_refresh_due(execution);
    return result;
}
