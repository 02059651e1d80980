/*
 * advance.c: the loop of engine.md 3. Each turn takes the first runnable token, decides one thing
 * about it on the state as it is, and applies the events; the token's element says what is decided
 * (engine/element). A turn is one cell of [token state]: arrive, work, answer, back, leave.
 */
#include "engine/advance.h"

#include "engine/apply.h"
#include "engine/audit.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/encode.h"
#include "engine/failure.h"
#include "engine/join.h"
#include "engine/listen.h"
#include "engine/loop.h"
#include "engine/state.h"
#include "engine/wait.h"
#include "proto/base/assert.h"

static bool overflowed(const struct engine_execution *execution, const struct engine_output *output)
{
    return output->arena->overflowed || execution->memory.overflowed;
}

enum result engine_commit(struct engine_execution *execution, struct engine_decision *decision)
{
    struct engine_output *output = decision->output;
    if (overflowed(execution, output)) {
        return RESULT_LIMIT;
    }
    for (uint32_t i = decision->event_mark; i < output->event_count; i++) {
        enum result result = engine_apply(execution, &output->events[i]);
        if (result == RESULT_LIMIT) {
            return result;
        }
        ASSERT(result == RESULT_OK); /* a decision that contradicts the state is our own mistake */
    }
    decision->event_mark = output->event_count;
    return RESULT_OK;
}

enum result engine_tick(struct engine_execution *execution, int64_t now_ms,
                        struct engine_output *output)
{
    struct engine_decision decision;
    if (now_ms <= execution->now_ms) {
        return RESULT_OK;
    }
    engine_decision_begin(&decision, execution, output);
    engine_emit(&decision, ENGINE_EVENT_CLOCK)->at_ms = now_ms;
    return engine_commit(execution, &decision);
}

/* ---- one turn ---- */

static void decide(struct engine_decision *decision, const struct engine_token *token)
{
    struct engine_visit visit = engine_visit_of(decision, token);
    switch ((enum engine_token_state)token->state) {
    case ENGINE_TOKEN_ARRIVED:
        if (visit.scope->kind == ENGINE_SCOPE_BODY) {
            engine_loop_arrive(decision, &visit);
        }
        visit.ops->arrive(decision, &visit);
        break;
    case ENGINE_TOKEN_ENTERED:
        visit.ops->work(decision, &visit);
        break;
    case ENGINE_TOKEN_ANSWERED:
        visit.ops->answer(decision, &visit);
        break;
    case ENGINE_TOKEN_RETURNING:
        visit.ops->back(decision, &visit);
        break;
    case ENGINE_TOKEN_LEAVING:
        if (visit.scope->kind == ENGINE_SCOPE_BODY) {
            engine_loop_leave(decision, &visit);
        } else {
            visit.ops->leave(decision, &visit);
        }
        break;
    case ENGINE_TOKEN_GONE:
    case ENGINE_TOKEN_CALLING:
    case ENGINE_TOKEN_WAITING:
    case ENGINE_TOKEN_INSIDE:
    case ENGINE_TOKEN_FAILED:
    case ENGINE_TOKEN_LISTENING:
    case ENGINE_TOKEN_STATE_COUNT:
        ASSERT_UNREACHABLE(); /* not runnable */
    }
}

/* Whom the blob of a finished step goes to. */
struct step_sink {
    engine_step_fn after_step;
    void *owner;
};

static void show_step(struct engine_execution *execution, struct engine_decision *decision,
                      const struct step_sink *sink)
{
    struct engine_effect step = {.kind = ENGINE_EFFECT_STEP_DONE};
    execution->step_id = engine_step_id(execution, decision->step.sequence);
    execution->step_id_sequence = decision->step.sequence;
    step.as.step = decision->step;
    step.as.step.step_id = execution->step_id;
    if (sink->after_step != NULL) {
        sink->after_step(sink->owner, execution, &step);
        return;
    }
    struct engine_effect *effect = engine_emit_effect(decision, ENGINE_EFFECT_STEP_DONE);
    if (effect != NULL) {
        effect->as.step = step.as.step;
    }
}

static enum result turn(struct engine_execution *execution, const struct step_sink *sink,
                        struct engine_output *output, bool *moved)
{
    struct engine_decision decision;
    const struct engine_token *token = engine_token_at(execution, execution->ready.first);
    engine_decision_begin(&decision, execution, output);
    *moved = true;
    if (token != NULL) {
        decide(&decision, token);
        ASSERT(output->arena->overflowed ||
               output->event_count > decision.event_mark); /* no turn without an outcome */
    } else {
        *moved = engine_wait_take_kept(&decision);
    }
    enum result result = engine_commit(execution, &decision);
    if (result == RESULT_OK && decision.step_due) {
        show_step(execution, &decision, sink);
    }
    engine_execution_tidy(execution);
    return result;
}

/*
 * What no token's turn decides, because it hangs on where all of them are: asked before the next
 * token moves, so that the answer does not hang on how a long run is sliced.
 */
static enum result look_around(struct engine_execution *execution, struct engine_output *output)
{
    enum result result = RESULT_OK;
    bool found = true;
    while (result == RESULT_OK && found && !engine_execution_frozen(execution)) {
        struct engine_decision decision;
        engine_decision_begin(&decision, execution, output);
        found = engine_listen_told(&decision) || engine_join_look(&decision) ||
                engine_listen_look(&decision);
        result = found ? engine_commit(execution, &decision) : RESULT_OK;
    }
    return result;
}

/* ---- audit ---- */

static struct span unshipped(const struct engine_execution *execution)
{
    struct span run = engine_history_run(&execution->logs);
    ASSERT(execution->log_unshipped_bytes <= run.count);
    return span_of(run.bytes + run.count - execution->log_unshipped_bytes,
                   execution->log_unshipped_bytes);
}

enum result engine_tell_audit(struct engine_execution *execution, const char *event,
                              size_t snapshot_bytes, struct engine_output *output)
{
    struct engine_decision decision;
    struct wire_writer writer;
    struct engine_audit_content content = {
        .event = event,
        .log_count = (uint32_t)(execution->log_last - execution->log_shipped),
        .snapshot_bytes = snapshot_bytes,
    };
    content.logs = arena_copy(output->arena, unshipped(execution));
    engine_decision_begin(&decision, execution, output);
    engine_emit(&decision, ENGINE_EVENT_AUDITED)->count = execution->revision + 1;
    enum result result = engine_commit(execution, &decision);
    struct engine_effect *effect =
        result == RESULT_OK ? engine_emit_effect(&decision, ENGINE_EFFECT_AUDIT) : NULL;
    if (effect == NULL) {
        return RESULT_LIMIT;
    }
    wire_writer_init(&writer, output->arena, 640 + content.logs.count);
    engine_audit_write(execution, &content, &writer);
    effect->as.audit.revision = execution->revision;
    effect->as.audit.message = wire_writer_span(&writer);
    return output->arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

/* ---- the end of a segment ---- */

static const char *end_event(const struct engine_execution *execution)
{
    switch ((enum engine_end)execution->end) {
    case ENGINE_END_COMPLETED:
        return "completed";
    case ENGINE_END_FAILED:
        return "failed";
    case ENGINE_END_ABORTED:
        return "aborted";
    case ENGINE_END_NONE:
        break;
    }
    return execution->suspended ? "suspended" : "waiting";
}

/*
 * engine.md 3: tokens wait in joins and nothing in the execution can still act. At the end of a
 * segment every token that is left waits outside, hosts a scope, or stands in a join; so it is
 * enough that nobody waits and no boundary timer runs, and nobody listens for a message or
 * signal. (A condition cannot turn by itself.)
 */
static bool is_deadlocked(struct engine_execution *execution)
{
    uint32_t waits = 0;
    for (unsigned kind = 0; kind < ENGINE_WAIT_COUNT; kind++) {
        waits += execution->wait_counts[kind];
    }
    engine_execution_refresh_due(execution);
    return waits == 0 && execution->subscription_count == 0 && execution->due_ms == ENGINE_NO_DUE;
}

static enum result fail_deadlock(struct engine_execution *execution, struct engine_output *output)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, execution, output);
    struct span names = engine_join_names(&decision);
    engine_fail_execution(&decision, span_text("Deadlock"),
                          ENGINE_TEXT(&decision,
                                      "tokens wait in %.*s and nothing can bring the missing ones",
                                      SPAN_ARG(names)));
    return engine_commit(execution, &decision);
}

/* The message needs the size of the snapshot and the snapshot the message's revision: so it is
 * encoded in between. */
static enum result end_segment(struct engine_execution *execution, struct engine_output *output)
{
    struct engine_decision decision;
    struct wire_writer snapshot, message;
    struct engine_audit_content content = {
        .event = end_event(execution),
        .log_count = (uint32_t)(execution->log_last - execution->log_shipped)};
    content.logs = arena_copy(output->arena, unshipped(execution));
    engine_decision_begin(&decision, execution, output);
    engine_emit(&decision, ENGINE_EVENT_SEGMENT_ENDED);
    engine_emit(&decision, ENGINE_EVENT_AUDITED)->count = execution->revision + 1;
    enum result result = engine_commit(execution, &decision);
    if (result != RESULT_OK) {
        return result;
    }
    wire_writer_init(&snapshot, output->arena, 1024);
    engine_encode(execution, &snapshot);
    content.snapshot_bytes = snapshot.count;
    wire_writer_init(&message, output->arena, 640 + content.logs.count);
    engine_audit_write(execution, &content, &message);
    struct engine_effect *audit = engine_emit_effect(&decision, ENGINE_EFFECT_AUDIT);
    if (audit == NULL) {
        return RESULT_LIMIT;
    }
    audit->as.audit.revision = execution->revision;
    audit->as.audit.message = wire_writer_span(&message);
    struct engine_effect *end = engine_emit_effect(&decision, ENGINE_EFFECT_SEGMENT_END);
    if (end == NULL) {
        return RESULT_LIMIT;
    }
    end->as.segment.snapshot = wire_writer_span(&snapshot);
    return overflowed(execution, output) ? RESULT_LIMIT : RESULT_OK;
}

/* No token can move any more. */
static enum result settle(struct engine_execution *execution, struct engine_output *output)
{
    if (!execution->segment_open) {
        return RESULT_OK;
    }
    if (execution->end == ENGINE_END_NONE && execution->call_count > 0) {
        return execution->resumed_untold ? engine_tell_audit(execution, "resumed", 0, output)
                                         : RESULT_OK;
    }
    if (!engine_execution_frozen(execution) && is_deadlocked(execution)) {
        enum result result = fail_deadlock(execution, output);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return end_segment(execution, output);
}

/* A token before a node is about to make a step: that is what a caller's budget counts. */
static bool steps_next(const struct engine_execution *execution)
{
    const struct engine_token *token = engine_token_at(execution, execution->ready.first);
    return token != NULL && token->state == ENGINE_TOKEN_ARRIVED;
}

enum result engine_advance(struct engine_execution *execution, int64_t now_ms, uint32_t moves,
                           engine_step_fn after_step, void *owner, struct engine_output *output,
                           bool *more)
{
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    struct step_sink sink = {.after_step = after_step, .owner = owner};
    enum result result = engine_tick(execution, now_ms, output);
    bool moved = true;
    *more = false;
    result = result == RESULT_OK ? look_around(execution, output) : result;
    while (result == RESULT_OK && moved && !engine_execution_frozen(execution)) {
        if (steps_next(execution)) {
            if (moves == 0) {
                *more = true;
                break;
            }
            moves--;
        }
        result = turn(execution, &sink, output, &moved);
        result = result == RESULT_OK ? look_around(execution, output) : result;
    }
    if (result == RESULT_OK && !*more) {
        result = settle(execution, output);
    }
    engine_execution_refresh_due(execution);
    return result;
}

enum result engine_recover(struct engine_execution *execution, struct engine_output *output)
{
    struct engine_decision decision;
    engine_decision_begin(&decision, execution, output);
    if (execution->end == ENGINE_END_NONE && execution->call_count > 0) {
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                         ENGINE_LINK_QUEUE)) {
            if (token->state == ENGINE_TOKEN_CALLING) {
                struct engine_visit visit = engine_visit_of(&decision, token);
                engine_call_again(&decision, &visit);
            }
        }
    }
    return engine_commit(execution, &decision);
}
