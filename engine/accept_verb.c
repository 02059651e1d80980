/*
 * accept_verb.c: what an operator may ask for; which verb is legal when is state.c's table.
 */
#include "engine/accept.h"

#include "engine/apply.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/scope.h"
#include "engine/state.h"

enum result engine_accept_check_verb(struct engine_accept *accept)
{
    const struct engine_execution *execution = accept->execution;
    if (engine_state_allows(execution, accept->input->kind)) {
        return RESULT_OK;
    }
    return engine_accept_refuse(
        accept, PROTO_ERROR_InvalidTransition,
        ENGINE_SAY(accept, "cannot %s an execution that is %s%s",
                   engine_verb_name(accept->input->kind),
                   engine_lifecycle_name(engine_lifecycle_of(execution)),
                   execution->end == ENGINE_END_ABORTED ? " (aborted)" : ""));
}

static void tell_modules(struct engine_decision *decision, const char *reason)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                     ENGINE_LINK_QUEUE)) {
        struct engine_visit visit = engine_visit_of(decision, token);
        engine_call_tell(decision, &visit, reason);
    }
}

enum result engine_accept_suspend(struct engine_accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_SUSPENDED);
    tell_modules(&decision, "suspended");
    return engine_commit(accept->execution, &decision);
}

enum result engine_accept_resume(struct engine_accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_RESUMED);
    enum result result = engine_commit(accept->execution, &decision);
    return result == RESULT_OK ? engine_accept_timer(accept) : result;
}

enum result engine_accept_abort(struct engine_accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    struct engine_event *event = engine_emit(&decision, ENGINE_EVENT_ENDED);
    event->flags = ENGINE_END_ABORTED;
    event->text = span_text(proto_error_name(PROTO_ERROR_Aborted));
    struct span reason = accept->input->reason.count > 0 ? accept->input->reason
                                                         : span_text("aborted by an operator");
    event->value = engine_decision_string(&decision, reason);
    engine_emit_log(&decision, ENGINE_LEVEL_INFO, NULL, arena_copy(decision.arena, reason));
    engine_scope_drop_calls(&decision);
    tell_modules(&decision, "aborted");
    return engine_commit(accept->execution, &decision);
}

static const struct engine_token *failed_token(const struct engine_execution *execution)
{
    for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                     ENGINE_LINK_QUEUE)) {
        if (token->state == ENGINE_TOKEN_FAILED) {
            return token;
        }
    }
    return NULL;
}

enum result engine_accept_check_retry(struct engine_accept *accept)
{
    enum result result = engine_accept_check_verb(accept);
    if (result != RESULT_OK) {
        return result;
    }
    /* A failure ends the run at once, so there is one failed token, or none when the execution as a
     * whole failed. */
    const struct engine_token *token = failed_token(accept->execution);
    struct span task_id = accept->input->task_id;
    if (task_id.count > 0 &&
        (token == NULL || !span_equal(engine_token_node(accept->execution, token)->id, task_id))) {
        return engine_accept_refuse(
            accept, PROTO_ERROR_InvalidTransition,
            ENGINE_SAY(accept, "\"%.*s\" is not the step that failed", SPAN_ARG(task_id)));
    }
    if (token == NULL && accept->execution->token_count == 0 &&
        accept->execution->joins.used == 0) {
        return engine_accept_refuse(accept, PROTO_ERROR_InvalidTransition,
                                    span_text("no step has failed: restart it"));
    }
    accept->token = token == NULL ? 0 : token->slot.id;
    return RESULT_OK;
}

enum result engine_accept_retry(struct engine_accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_RETRIED)->token = accept->token;
    enum result result = engine_commit(accept->execution, &decision);
    /* The calls of other branches were dropped when it failed: again, under their Idempotency-Keys.
     */
    return result == RESULT_OK ? engine_recover(accept->execution, accept->output) : result;
}
