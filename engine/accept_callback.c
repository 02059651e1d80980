/*
 * accept_callback.c: a callback from outside: to a wait, into the inbox, or refused with the
 * reason.
 */
#include "engine/accept.h"

#include "engine/element/element.h"
#include "engine/reply.h"
#include "engine/wait.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static enum result refuse_ambiguous(struct engine_accept *accept)
{
    struct wire_writer writer;
    wire_writer_init(&writer, accept->output->arena, 256);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "waiting");
    engine_reply_waiting(accept->execution, &writer);
    accept->output->error_details = wire_writer_span(&writer);
    return engine_accept_refuse(
        accept, PROTO_ERROR_AmbiguousCallback,
        span_text("more than one task waits: name one by taskId or stepId"));
}

/* Is the token on its way to a wait that an early callback may be for? */
static bool may_wait_soon(const struct engine_token *token)
{
    switch ((enum engine_token_state)token->state) {
    case ENGINE_TOKEN_ARRIVED:
    case ENGINE_TOKEN_ENTERED:
        return true;
    case ENGINE_TOKEN_CALLING:
        return token->phase == ENGINE_PHASE_EXECUTE;
    case ENGINE_TOKEN_ANSWERED:
        return token->answer.kind == ENGINE_ANSWER_REPLY &&
               token->answer.phase == ENGINE_PHASE_EXECUTE;
    case ENGINE_TOKEN_WAITING:
        return token->wait == ENGINE_WAIT_RETRY;
    case ENGINE_TOKEN_GONE:
    case ENGINE_TOKEN_RETURNING:
    case ENGINE_TOKEN_LEAVING:
    case ENGINE_TOKEN_INSIDE:
    case ENGINE_TOKEN_FAILED:
    case ENGINE_TOKEN_LISTENING:
    case ENGINE_TOKEN_STATE_COUNT:
        break;
    }
    return false;
}

static bool was_entered(const struct engine_execution *execution, struct span task_id)
{
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    struct span entry;
    while (cursor.next < cursor.end && wire_take(&cursor, &entry) == RESULT_OK) {
        if (span_equal(wire_string_or(wire_find_text(entry, "taskId"), ""), task_id)) {
            return true;
        }
    }
    return false;
}

static bool can_wait_at(const struct engine_execution *execution, struct span task_id)
{
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        const struct engine_node *node = engine_process_node(scope->process, task_id);
        if (node != NULL &&
            engine_element_reaches(engine_element_of(node->kind), ENGINE_TOKEN_ANSWERED)) {
            return true;
        }
    }
    return false;
}

/*
 * Field reports F65, F67, F73: while the segment runs, a callback may come before its wait. It is
 * kept for a task that a token is on its way to, or that no token has reached yet; but not for one
 * whose wait is over: that is a second callback, and it hears so. One that names no task is kept
 * only for a first wait: not when this segment has taken a callback already.
 */
static bool keeps(const struct engine_execution *execution, struct span task_id)
{
    if (execution->call_count == 0 && (execution->ready.count == 0 || execution->suspended)) {
        return false;
    }
    if (task_id.count == 0) {
        return execution->call_count > 0 && execution->callback_segment != execution->segment &&
               execution->inbox_count == 0;
    }
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (may_wait_soon(token) && engine_wait_is_named(execution, token, task_id)) {
            return true;
        }
    }
    return can_wait_at(execution, task_id) && !was_entered(execution, task_id);
}

enum result engine_accept_check_callback(struct engine_accept *accept)
{
    const struct engine_execution *execution = accept->execution;
    struct span task_id = accept->input->task_id;
    if (execution->end != ENGINE_END_NONE) {
        return engine_accept_refuse(accept, PROTO_ERROR_AlreadyFinished,
                                    span_text("the execution has ended"));
    }
    const struct engine_token *first = engine_wait_next(execution, task_id, NULL);
    if (first != NULL) {
        if (task_id.count == 0 && engine_wait_next(execution, task_id, first) != NULL) {
            return refuse_ambiguous(accept);
        }
        accept->token = first->slot.id;
        return RESULT_OK;
    }
    if (!keeps(execution, task_id)) {
        return engine_accept_refuse(
            accept, PROTO_ERROR_NotWaiting,
            task_id.count == 0
                ? span_text("no task waits for a callback")
                : ENGINE_SAY(accept, "\"%.*s\" does not wait for a callback, or no longer",
                             SPAN_ARG(task_id)));
    }
    if (execution->inbox_count >= ENGINE_INBOX_MAX) {
        return engine_accept_refuse(accept, PROTO_ERROR_Overloaded,
                                    span_text("too many callbacks came before their waits"));
    }
    return RESULT_OK;
}

enum result engine_accept_callback(struct engine_accept *accept)
{
    const struct engine_input *input = accept->input;
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    struct engine_event *event = engine_emit(
        &decision, accept->token != 0 ? ENGINE_EVENT_CALLBACK : ENGINE_EVENT_CALLBACK_KEPT);
    event->token = accept->token;
    if (accept->token == 0) {
        event->text = arena_copy(decision.arena, input->task_id);
    }
    event->value = engine_wait_content(&decision, input->payload, input->output, input->error);
    return engine_commit(accept->execution, &decision);
}
