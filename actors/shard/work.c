/*
 * work.c: an input is accepted, tokens move, effects become messages and records. Nothing leaves
 * from here: commit.c lets go.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"

struct step_owner {
    struct actor_shard *shard;
    struct actor_work *work;
};

struct engine_output *shard_touch(struct actor_shard *shard, struct actor_work *work)
{
    if (work->touched) {
        return work->output;
    }
    work->output = arena_alloc(&shard->turn, sizeof *work->output);
    if (work->output != NULL) {
        engine_output_init(work->output, &shard->turn);
    }
    work->broken = work->broken || work->output == NULL;
    work->effects_seen = 0;
    work->snapshot = SPAN_EMPTY;
    work->news = NULL;
    work->news_end = &work->news;
    work->touched = true;
    work->touched_next = NULL;
    if (shard->touched_oldest == NULL) {
        shard->touched_oldest = work;
    } else {
        shard->touched_newest->touched_next = work;
    }
    shard->touched_newest = work;
    return work->output;
}

/* ---- effects ---- */

static void call_module(struct actor_shard *shard, const struct proto_call *call)
{
    size_t bytes = call->project.count + call->module.count + call->url.count +
                   call->headers.count + call->idempotency_key.count + call->traceparent.count +
                   call->body.count;
    struct proto_message *message = message_new(PROTO_CALL, bytes);
    if (message == NULL) {
        /* The call stays in flight in the execution's state: the next recovery makes it. Its key
         * begins with the stepId (interfaces.md 3). */
        struct span key = call->idempotency_key;
        struct span step =
            span_of(key.bytes, key.count < UUID_TEXT_BYTES ? key.count : UUID_TEXT_BYTES);
        log_line(LOG_CRITICAL, "SHARD-CALL-LOST",
                 "shard=%u executionId=%s stepId=%.*s reason=\"no memory\"", shard->options.index,
                 call->execution_id.text, SPAN_ARG(step));
        return;
    }
    message->as.call = *call;
    message->as.call.project = message_keep(message, call->project);
    message->as.call.module = message_keep(message, call->module);
    message->as.call.url = message_keep(message, call->url);
    message->as.call.headers = message_keep(message, call->headers);
    message->as.call.idempotency_key = message_keep(message, call->idempotency_key);
    message->as.call.traceparent = message_keep(message, call->traceparent);
    message->as.call.body = message_keep(message, call->body);
    message->as.call.reply_bytes_max = shard->options.reply_bytes_max;
    message->reply_to = (struct proto_address){.sink = shard->self};
    actor_count(&shard->counters.calls, 1);
    shard_tell_call(shard, call);
    shard_effect(shard, message, shard->commit_number);
}

static void cancel_call(struct actor_shard *shard, const struct proto_call_cancel *cancel)
{
    struct proto_message *message = message_new(PROTO_CALL_CANCEL, 0);
    if (message != NULL) { /* without memory the call runs on, and its late reply is ignored */
        message->as.call_cancel = *cancel;
        shard_effect(shard, message, shard->commit_number);
    }
}

static void record_audit(struct actor_shard *shard, struct actor_work *work,
                         const struct engine_effect *effect)
{
    if (shard->options.audit) {
        record_write(&shard->batch,
                     &(struct proto_record){.kind = PROTO_RECORD_AUDIT,
                                            .execution_id = shard_slot_id(work->slot),
                                            .number = effect->as.audit.revision,
                                            .body = effect->as.audit.message});
    }
    shard_observe_audit(shard, effect->as.audit.message);
}

static void count_end(struct actor_shard *shard, const struct engine_view *view)
{
    if (!view->ended) {
        return;
    }
    bool completed = view->lifecycle == ENGINE_COMPLETED;
    bool aborted = !completed && (view->state & ENGINE_STATE_EXCEPTION) == 0;
    actor_count(completed ? &shard->counters.completed
                : aborted ? &shard->counters.aborted
                          : &shard->counters.failed,
                1);
}

/* Ends with the segment's end known: work->over. */
static void take_effects(struct actor_shard *shard, struct actor_work *work)
{
    struct engine_output *output = work->output;
    while (work->effects_seen < output->effect_count) {
        const struct engine_effect *effect = &output->effects[work->effects_seen++];
        switch (effect->kind) {
        case ENGINE_EFFECT_CALL:
            call_module(shard, &effect->as.call);
            break;
        case ENGINE_EFFECT_CANCEL_CALL:
            cancel_call(shard, &effect->as.cancel);
            break;
        case ENGINE_EFFECT_STEP_DONE:
            break; /* step_done has seen it */
        case ENGINE_EFFECT_AUDIT:
            record_audit(shard, work, effect);
            break;
        case ENGINE_EFFECT_PUBLISH:
            shard_note_publish(shard, work, effect);
            break;
        case ENGINE_EFFECT_SEGMENT_END: {
            struct engine_view view;
            engine_look(work->execution, &view);
            count_end(shard, &view);
            shard_tell_end(shard, &view);
            work->segment_ended = true;
            work->snapshot = effect->as.segment.snapshot;
            work->snapshot_events =
                output->event_count; /* the end is the last thing that an advance does */
            shard_answer_all(shard, work);
            if (view.human) {
                shard_observe_tasks(shard, work->execution);
            }
            break;
        }
        }
    }
}

/* The engine hands out each step at the moment its blob shows. */
static void step_done(void *owner, struct engine_execution *execution,
                      const struct engine_effect *step)
{
    struct actor_shard *shard = ((struct step_owner *)owner)->shard;
    struct actor_work *work = ((struct step_owner *)owner)->work;
    enum actor_step_blobs mode = shard->options.step_blobs;
    actor_count(&shard->counters.steps, 1);
    work->step_bytes = 0;
    bool kept = mode == ACTOR_STEPS_ALL || (mode == ACTOR_STEPS_WAITS && step->as.step.wait);
    if (!kept && !shard_is_observed(shard)) {
        return;
    }
    struct engine_view view;
    engine_look(execution, &view);
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->scratch, 1024);
    engine_step_encode(execution, &step->as.step, &writer);
    struct span blob = wire_writer_span(&writer);
    if (blob.count == 0) {
        work->broken = true;
        return;
    }
    work->step_bytes = blob.count;
    if (kept) {
        char step_id[UUID_TEXT_BYTES + 1];
        uuid_format(step->as.step.step_id, step_id);
        record_write(&shard->batch,
                     &(struct proto_record){.kind = PROTO_RECORD_STEP,
                                            .workspace_id = view.workspace,
                                            .execution_id = view.id,
                                            .name = span_of(step_id, UUID_TEXT_BYTES),
                                            .body = blob});
    }
    shard_observe_step(shard, blob);
}

/* ---- moving ---- */

void shard_slice_later(struct actor_shard *shard, struct actor_work *work)
{
    if (work->sliced) {
        return;
    }
    work->sliced = true;
    work->slice_next = NULL;
    if (shard->slices_oldest == NULL) {
        shard->slices_oldest = work;
    } else {
        shard->slices_newest->slice_next = work;
    }
    shard->slices_newest = work;
}

/* As many moves as may pass before somebody looks how much has been written. */
static uint32_t moves_at_once(const struct actor_work *work)
{
    size_t moves = SHARD_SLICE_BYTES / (work->step_bytes + 1);
    return moves == 0 ? 1 : moves < SHARD_MOVES_AT_ONCE ? (uint32_t)moves : SHARD_MOVES_AT_ONCE;
}

/*
 * One slice. Each step writes the whole state, so with thousands of tokens a few steps are as much
 * work as all the moves of another execution: the slice ends by what it wrote, too.
 */
static enum result advance(struct actor_shard *shard, struct actor_work *work,
                           struct engine_output *output, bool *more)
{
    size_t before = shard->batch.count;
    struct step_owner owner = {.shard = shard, .work = work};
    enum result result = RESULT_OK;
    *more = true;
    for (uint32_t moves = 0, most; result == RESULT_OK && *more && moves < LIMIT_TOKEN_MOVES &&
                                   shard->batch.count - before < SHARD_SLICE_BYTES;
         moves += most) {
        most = moves_at_once(work);
        result = engine_advance(work->execution, shard->now.unix_ms, most, step_done, &owner,
                                output, more);
    }
    return result;
}

void shard_run(struct actor_shard *shard, struct actor_work *work)
{
    struct engine_output *output = shard_touch(shard, work);
    bool more = false;
    if (output == NULL || work->broken || advance(shard, work, output, &more) != RESULT_OK) {
        work->broken = true;
        return;
    }
    take_effects(shard, work);
    if (more) {
        work->over = false;
        shard_slice_later(shard, work);
        return;
    }
    struct engine_view view;
    engine_look(work->execution, &view);
    work->over = view.ended || view.call_count == 0; /* the end drops the calls of its tokens */
    if (work->over && work->waiters != NULL) {
        shard_answer_all(
            shard, work); /* an input that moved nothing: its caller gets the state as it is */
    }
}

enum result shard_accept(struct actor_shard *shard, struct actor_work *work,
                         const struct engine_input *input)
{
    struct engine_output *output = shard_touch(shard, work);
    if (output == NULL || work->broken) {
        work->broken = true;
        return RESULT_LIMIT;
    }
    output->error = PROTO_ERROR_NONE;
    output->error_message = output->error_details = SPAN_EMPTY;
    enum result result = engine_accept(work->execution, input, output);
    if (result == RESULT_LIMIT) {
        work->broken = true;
    } else if (result == RESULT_OK) {
        shard_run(shard, work);
    }
    return work->broken ? RESULT_LIMIT : result;
}

void shard_run_slices(struct actor_shard *shard)
{
    for (uint32_t i = 0; i < SHARD_SLICES_MAX && shard->slices_oldest != NULL &&
                         shard->batch.count < SHARD_COMMIT_BYTES;
         i++) {
        struct actor_work *work = shard->slices_oldest;
        shard->slices_oldest = work->slice_next;
        work->sliced = false;
        shard_run(shard, work);
    }
}

/* ---- calls in flight ---- */

/* The calls as engine_recover names them, in an output of their own. */
static struct engine_output *calls_in_flight(struct actor_shard *shard, struct actor_work *work)
{
    struct engine_output *output = arena_alloc(&shard->turn, sizeof *output);
    if (output == NULL) {
        return NULL;
    }
    engine_output_init(output, &shard->turn);
    return engine_recover(work->execution, output) == RESULT_OK ? output : NULL;
}

uint32_t shard_call_again(struct actor_shard *shard, struct actor_work *work)
{
    const struct engine_output *output = calls_in_flight(shard, work);
    uint32_t count = 0;
    for (uint32_t i = 0; output != NULL && i < output->effect_count; i++) {
        if (output->effects[i].kind == ENGINE_EFFECT_CALL) {
            call_module(shard, &output->effects[i].as.call);
            count++;
        }
    }
    return count;
}

/* A call of this turn has not left, and its record will not be written: it is not made at all. */
static bool drop_call(struct actor_shard *shard, const struct proto_call *call)
{
    struct actor_queue kept = {0};
    struct proto_message *effect;
    bool dropped = false;
    while ((effect = actor_queue_pop(&shard->effects)) != NULL) {
        const struct proto_call *its = &effect->as.call;
        if (effect->type == PROTO_CALL && its->token == call->token &&
            its->attempt == call->attempt &&
            span_equal(execution_id_span(&its->execution_id),
                       execution_id_span(&call->execution_id))) {
            message_free(effect);
            dropped = true;
        } else {
            actor_queue_push(&kept, effect);
        }
    }
    shard->effects = kept;
    return dropped;
}

void shard_cancel_calls(struct actor_shard *shard, struct actor_work *work)
{
    const struct engine_output *output = calls_in_flight(shard, work);
    for (uint32_t i = 0; output != NULL && i < output->effect_count; i++) {
        const struct proto_call *call = &output->effects[i].as.call;
        if (output->effects[i].kind == ENGINE_EFFECT_CALL && !drop_call(shard, call)) {
            cancel_call(shard, &(struct proto_call_cancel){.execution_id = call->execution_id,
                                                           .token = call->token,
                                                           .attempt = call->attempt});
        }
    }
}
