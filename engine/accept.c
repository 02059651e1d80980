/*
 * accept.c: one input: checked against the state, then decided and applied. A refused input changes
 * nothing, not even the clock.
 */
#include "engine/advance.h"
#include "engine/apply.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/encode.h"
#include "engine/failure.h"
#include "engine/reply.h"
#include "engine/scope.h"
#include "engine/state.h"
#include "engine/timer.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* Where an input goes; found by its check, used by its act. */
struct accept {
    struct engine_execution *execution;
    const struct engine_input *input;
    struct engine_output *output;
    uint32_t token; /* id, or 0 */
};

/* Checks only read. RESULT_OK: act; anything else is the answer. */
typedef enum result (*check_fn)(struct accept *accept);
typedef enum result (*act_fn)(struct accept *accept);

static enum result refuse(struct accept *accept, enum proto_error error, struct span message)
{
    accept->output->error = error;
    accept->output->error_message = message;
    return RESULT_INVALID;
}

#define SAY(accept, ...) arena_format((accept)->output->arena, __VA_ARGS__)

/* ---- start, restart ---- */

static enum result check_start(struct accept *accept)
{
    if (accept->execution->run > 0) {
        return refuse(accept, PROTO_ERROR_AlreadyExists,
                      span_text("the execution has started already"));
    }
    return RESULT_OK;
}

/* engine.md 3: several starts: a token on each; none: the run fails. */
static enum result begin_run(struct accept *accept)
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
    struct engine_indexes starts = execution->process->starts;
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    if (starts.count == 0) {
        engine_fail_execution(&decision, span_text("StartTaskNotFound"),
                              ENGINE_TEXT(&decision, "process \"%.*s\" has nothing to start with",
                                          SPAN_ARG(execution->process->id)));
    }
    for (uint32_t i = 0; i < starts.count; i++) {
        engine_scope_add_token(&decision, root, starts.at[i], ENGINE_NONE, NULL, SPAN_EMPTY);
    }
    return engine_commit(execution, &decision);
}

/* Each run is told to the audit as it begins; `run` says which. */
static enum result act_start(struct accept *accept)
{
    enum result result = begin_run(accept);
    return result == RESULT_OK ? engine_tell_audit(accept->execution, "started", 0, accept->output)
                               : result;
}

/* The creating event comes before all others, the clock's too. */
static enum result create(struct accept *accept)
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

static enum result check_call_done(struct accept *accept)
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

static enum result act_call_done(struct accept *accept)
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

/* ---- callbacks ---- */

static enum result refuse_ambiguous(struct accept *accept)
{
    struct wire_writer writer;
    wire_writer_init(&writer, accept->output->arena, 256);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "waiting");
    engine_reply_waiting(accept->execution, &writer);
    accept->output->error_details = wire_writer_span(&writer);
    return refuse(accept, PROTO_ERROR_AmbiguousCallback,
                  span_text("more than one task waits: name one by taskId"));
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
        if (node != NULL && engine_element_reaches(node->kind, ENGINE_TOKEN_ANSWERED)) {
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
        if (may_wait_soon(token) && span_equal(engine_token_node(execution, token)->id, task_id)) {
            return true;
        }
    }
    return can_wait_at(execution, task_id) && !was_entered(execution, task_id);
}

static enum result check_callback(struct accept *accept)
{
    const struct engine_execution *execution = accept->execution;
    struct span task_id = accept->input->task_id;
    if (execution->end != ENGINE_END_NONE) {
        return refuse(accept, PROTO_ERROR_AlreadyFinished, span_text("the execution has ended"));
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
        return refuse(accept, PROTO_ERROR_NotWaiting,
                      task_id.count == 0
                          ? span_text("no task waits for a callback")
                          : SAY(accept, "\"%.*s\" does not wait for a callback, or no longer",
                                SPAN_ARG(task_id)));
    }
    if (execution->inbox_count >= ENGINE_INBOX_MAX) {
        return refuse(accept, PROTO_ERROR_Overloaded,
                      span_text("too many callbacks came before their waits"));
    }
    return RESULT_OK;
}

static enum result act_callback(struct accept *accept)
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

/* ---- time ---- */

static enum result check_timer(struct accept *accept)
{
    (void)accept;
    return RESULT_OK;
}

/* What is due first: a wait of a token, or a boundary timer on it. */
struct due {
    const struct engine_token *token;
    const struct engine_timer *timer; /* NULL: the token's own wait */
    int64_t at_ms;
};

static void consider(struct due *due, const struct engine_token *token,
                     const struct engine_timer *timer, int64_t at_ms)
{
    bool sooner = at_ms < due->at_ms || (at_ms == due->at_ms && due->token != NULL &&
                                         token->slot.id < due->token->slot.id);
    if (at_ms != ENGINE_NO_DUE && sooner) {
        *due = (struct due){token, timer, at_ms};
    }
}

static struct due find_due(const struct engine_execution *execution)
{
    struct due due = {.at_ms = ENGINE_NO_DUE};
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (token->state == ENGINE_TOKEN_WAITING) {
            consider(&due, token, NULL, token->due_ms);
        }
        for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            consider(&due, token, timer, timer->due_ms);
        }
    }
    return due;
}

static void decide_due(struct engine_decision *decision, const struct due *due)
{
    if (due->timer != NULL) {
        engine_timer_fire(decision, due->token, due->timer);
        return;
    }
    switch ((enum engine_wait)due->token->wait) {
    case ENGINE_WAIT_TIMER:
        engine_emit_token(decision, ENGINE_EVENT_COMPLETED, due->token);
        break;
    case ENGINE_WAIT_RETRY:
        engine_emit_token(decision, ENGINE_EVENT_WOKEN, due->token);
        break;
    case ENGINE_WAIT_NONE:
    case ENGINE_WAIT_CALLBACK:
    case ENGINE_WAIT_HUMAN:
    case ENGINE_WAIT_MESSAGE:
    case ENGINE_WAIT_SIGNAL:
    case ENGINE_WAIT_EVENT:
    case ENGINE_WAIT_COUNT:
        engine_emit_token(decision, ENGINE_EVENT_TIMED_OUT, due->token)->text =
            span_text("no callback came within callbackTimeoutMs");
        break;
    }
}

/* In order of due time, then token; each firing leaves its timer gone or due later than now, so
 * this ends. */
static enum result act_timer(struct accept *accept)
{
    struct engine_execution *execution = accept->execution;
    while (!engine_execution_frozen(execution)) {
        engine_execution_refresh_due(execution);
        if (execution->due_ms > execution->now_ms) {
            break;
        }
        struct engine_decision decision;
        struct due due = find_due(execution);
        ASSERT(due.token != NULL && due.at_ms <= execution->now_ms);
        engine_decision_begin(&decision, execution, accept->output);
        decide_due(&decision, &due);
        enum result result = engine_commit(execution, &decision);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return RESULT_OK;
}

/* ---- operator verbs ---- */

static enum result check_verb(struct accept *accept)
{
    const struct engine_execution *execution = accept->execution;
    if (engine_state_allows(execution, accept->input->kind)) {
        return RESULT_OK;
    }
    return refuse(accept, PROTO_ERROR_InvalidTransition,
                  SAY(accept, "cannot %s an execution that is %s%s",
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

static enum result act_suspend(struct accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_SUSPENDED);
    tell_modules(&decision, "suspended");
    return engine_commit(accept->execution, &decision);
}

static enum result act_resume(struct accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_RESUMED);
    enum result result = engine_commit(accept->execution, &decision);
    return result == RESULT_OK ? act_timer(accept) : result;
}

static enum result act_abort(struct accept *accept)
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

static enum result check_retry(struct accept *accept)
{
    enum result result = check_verb(accept);
    if (result != RESULT_OK) {
        return result;
    }
    /* A failure ends the run at once, so there is one failed token, or none when the execution as a
     * whole failed. */
    const struct engine_token *token = failed_token(accept->execution);
    struct span task_id = accept->input->task_id;
    if (task_id.count > 0 &&
        (token == NULL || !span_equal(engine_token_node(accept->execution, token)->id, task_id))) {
        return refuse(accept, PROTO_ERROR_InvalidTransition,
                      SAY(accept, "\"%.*s\" is not the step that failed", SPAN_ARG(task_id)));
    }
    if (token == NULL && accept->execution->token_count == 0 &&
        accept->execution->joins.used == 0) {
        return refuse(accept, PROTO_ERROR_InvalidTransition,
                      span_text("no step has failed: restart it"));
    }
    accept->token = token == NULL ? 0 : token->slot.id;
    return RESULT_OK;
}

static enum result act_retry(struct accept *accept)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, accept->execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_RETRIED)->token = accept->token;
    enum result result = engine_commit(accept->execution, &decision);
    /* The calls of other branches were dropped when it failed: again, under their Idempotency-Keys.
     */
    return result == RESULT_OK ? engine_recover(accept->execution, accept->output) : result;
}

/* ---- the table ---- */

static const struct {
    check_fn check;
    act_fn act;
} inputs[] = {
    [ENGINE_IN_START] = {check_start, act_start},
    [ENGINE_IN_CALL_DONE] = {check_call_done, act_call_done},
    [ENGINE_IN_CALLBACK] = {check_callback, act_callback},
    [ENGINE_IN_TIMER] = {check_timer, act_timer},
    [ENGINE_IN_SUSPEND] = {check_verb, act_suspend},
    [ENGINE_IN_RESUME] = {check_verb, act_resume},
    [ENGINE_IN_ABORT] = {check_verb, act_abort},
    [ENGINE_IN_RESTART] = {check_verb, act_start},
    [ENGINE_IN_RETRY] = {check_retry, act_retry},
};

enum result engine_accept(struct engine_execution *execution, const struct engine_input *input,
                          struct engine_output *output)
{
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    ASSERT(input->kind < sizeof inputs / sizeof inputs[0]);
    struct accept accept = {.execution = execution, .input = input, .output = output};
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
