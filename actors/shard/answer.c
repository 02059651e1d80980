/*
 * answer.c: who waits for a segment's end, and what they are told. A reply is built when the
 * segment ends and leaves behind the commit that holds what it says.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

/* ---- waiting ---- */

static struct actor_waiter *waiter_new(struct actor_work *work)
{
    struct actor_waiter *waiter = malloc(sizeof *waiter);
    if (waiter == NULL) {
        return NULL;
    }
    *waiter = (struct actor_waiter){.work = work};
    struct actor_waiter **end = &work->waiters;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = waiter;
    return waiter;
}

struct actor_waiter *shard_wait(struct actor_shard *shard, struct actor_work *work,
                                const struct proto_message *request,
                                struct actor_remembered *remembered, uint64_t timeout_ms)
{
    bool room = actor_count_read(&shard->counters.pending) < shard->options.requests_pending_max;
    struct actor_waiter *waiter = room ? waiter_new(work) : NULL;
    if (waiter == NULL) {
        return NULL;
    }
    waiter->to = request->reply_to;
    waiter->spelling = request->as.request.spelling;
    waiter->remembered = remembered;
    if (timeout_ms > 0) {
        uint64_t due_ms = request->as.request.received_ms + timeout_ms;
        if (actor_alarms_set(&shard->deadlines, &waiter->deadline, (int64_t)due_ms) != RESULT_OK) {
            log_line(LOG_ERROR, "SHARD-DEADLINE-LOST", "shard=%u reason=\"no memory\"",
                     shard->options.index);
        }
    }
    actor_count(&shard->counters.pending, 1);
    return waiter;
}

enum result shard_wait_remembered(struct actor_shard *shard, struct actor_work *work,
                                  struct actor_remembered *remembered)
{
    struct actor_waiter *waiter = waiter_new(work);
    if (waiter == NULL) {
        return RESULT_LIMIT;
    }
    waiter->remembered = remembered;
    actor_count(&shard->counters.pending, 1);
    return RESULT_OK;
}

static void waiter_free(struct actor_shard *shard, struct actor_waiter *waiter)
{
    actor_alarms_clear(&shard->deadlines, &waiter->deadline);
    actor_count(&shard->counters.pending, -1);
    free(waiter);
}

void shard_wait_end(struct actor_shard *shard, struct actor_waiter *waiter)
{
    struct actor_waiter **place = &waiter->work->waiters;
    while (*place != waiter) {
        ASSERT(*place != NULL);
        place = &(*place)->next;
    }
    *place = waiter->next;
    waiter_free(shard, waiter);
}

static struct actor_waiter *next_waiter(struct actor_work *work)
{
    struct actor_waiter *waiter = work->waiters;
    if (waiter != NULL) {
        work->waiters = waiter->next;
    }
    return waiter;
}

/* ---- remembering ---- */

void shard_record_request(struct actor_shard *shard, struct actor_remembered *remembered,
                          struct span execution_id)
{
    struct arena *arena = &shard->turn;
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 64 + execution_id.count + remembered->reply.count);
    wire_write_array(&writer, 2);
    wire_write_string(&writer, execution_id);
    wire_write_value(&writer, remembered->reply);
    record_write(&shard->batch,
                 &(struct proto_record){.kind = PROTO_RECORD_REQUEST,
                                        .workspace_id = actor_remembered_workspace(remembered),
                                        .name = actor_remembered_request_id(remembered),
                                        .number = remembered->body_hash,
                                        .at_ms = remembered->at_ms,
                                        .body = wire_writer_span(&writer)});
    remembered->recorded = true;
    remembered->commit = shard->commit_number;
}

enum result actor_remembered_body_read(struct span body, struct actor_remembered_body *out)
{
    *out = (struct actor_remembered_body){.execution_id = wire_string_or(wire_at(body, 0), ""),
                                          .reply = wire_at(body, 1)};
    if (wire_count(body) != 2 || out->execution_id.count == 0) {
        return RESULT_CORRUPT;
    }
    if (wire_is(out->reply, WIRE_NIL)) {
        out->reply = SPAN_EMPTY;
    }
    return RESULT_OK;
}

static void remember(struct actor_shard *shard, struct actor_remembered *remembered,
                     struct span execution_id, struct span body)
{
    uint64_t expires_ms = shard->now.monotonic_ms + LIMIT_REQUEST_KEPT_MS;
    if (actor_remembered_reply(&shard->requests, remembered, body, expires_ms) == RESULT_OK) {
        shard_record_request(shard, remembered, execution_id);
    }
}

/* Repeats that came while the first was looked for. */
static void answer_attached(struct actor_shard *shard, struct actor_remembered *remembered, bool ok,
                            struct span body, uint64_t after)
{
    struct proto_message *repeat;
    while ((repeat = actor_queue_pop(&remembered->attached)) != NULL) {
        shard_reply(shard, repeat, ok, body, after);
        message_free(repeat);
    }
}

/* ---- replies ---- */

struct span shard_state_body(struct actor_shard *shard, const struct engine_execution *execution)
{
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &shard->scratch, 512);
    size_t mark = actor_reply_open(&writer, &pairs);
    pairs += engine_reply_pairs(execution, &writer);
    return actor_reply_close(&writer, mark, pairs);
}

static void reply_to(struct actor_shard *shard, struct proto_address to,
                     enum proto_spelling spelling, bool ok, struct span body, uint64_t after)
{
    if (to.sink == NULL) {
        return;
    }
    struct proto_message *reply = actor_reply_new(spelling, ok, body);
    if (reply != NULL) {
        reply->reply_to = to;
        shard_effect(shard, reply, after);
    }
}

void shard_reply(struct actor_shard *shard, const struct proto_message *request, bool ok,
                 struct span body, uint64_t after)
{
    reply_to(shard, request->reply_to, request->as.request.spelling, ok, body, after);
}

void shard_answer_all(struct actor_shard *shard, struct actor_work *work)
{
    if (work->waiters == NULL) {
        return;
    }
    struct span body = shard_state_body(shard, work->execution);
    if (body.count == 0) {
        work->broken = true;
        return;
    }
    struct actor_waiter *waiter;
    while ((waiter = next_waiter(work)) != NULL) {
        struct proto_message *reply =
            waiter->to.sink == NULL ? NULL : actor_reply_new(waiter->spelling, true, body);
        if (reply != NULL) {
            reply->reply_to = waiter->to;
            actor_queue_push(&work->replies, reply);
        }
        if (waiter->remembered != NULL) {
            answer_attached(shard, waiter->remembered, true, body, shard->commit_number);
            remember(shard, waiter->remembered, shard_slot_id(work->slot), body);
        }
        waiter_free(shard, waiter);
    }
}

void shard_refuse_all(struct actor_shard *shard, struct actor_work *work,
                      const struct actor_refusal *refusal)
{
    if (work->waiters == NULL) {
        return;
    }
    struct span body = actor_reply_refusal(&shard->turn, refusal);
    struct actor_waiter *waiter;
    while ((waiter = next_waiter(work)) != NULL) {
        reply_to(shard, waiter->to, waiter->spelling, false, body, 0);
        if (waiter->remembered != NULL) {
            answer_attached(shard, waiter->remembered, false, body, 0);
            actor_remembered_drop(&shard->requests, waiter->remembered);
        }
        waiter_free(shard, waiter);
    }
}

void shard_conclude(struct actor_shard *shard, const struct proto_message *request,
                    struct actor_remembered *remembered, bool ok, struct span body,
                    struct actor_work *work)
{
    uint64_t after = !ok || work == NULL ? 0 : shard->commit_number;
    shard_reply(shard, request, ok, body, after);
    if (remembered == NULL) {
        return;
    }
    answer_attached(shard, remembered, ok, body, after);
    if (ok && work != NULL) {
        remember(shard, remembered, shard_slot_id(work->slot), body);
    } else {
        actor_remembered_drop(&shard->requests, remembered);
    }
}

void shard_conclude_here(struct actor_shard *shard, const struct proto_message *request,
                         struct actor_remembered *remembered, struct span id, struct span body)
{
    shard_reply(shard, request, true, body, shard->commit_number);
    if (remembered != NULL) {
        answer_attached(shard, remembered, true, body, shard->commit_number);
        remember(shard, remembered, id, body);
    }
}

void shard_refuse(struct actor_shard *shard, const struct proto_message *request,
                  struct actor_remembered *remembered, const struct actor_refusal *refusal,
                  struct actor_work *work)
{
    /* What a refusal tells may be a state that is not durable yet. */
    uint64_t after = work == NULL ? 0 : work->touched ? shard->commit_number : work->commit;
    struct span body = actor_reply_refusal(&shard->turn, refusal);
    actor_count(&shard->counters.refused, 1);
    shard_reply(shard, request, false, body, after);
    if (remembered != NULL) {
        answer_attached(shard, remembered, false, body, after);
        actor_remembered_drop(&shard->requests, remembered);
    }
}

void shard_time_out(struct actor_shard *shard)
{
    struct actor_alarm *alarm;
    while ((alarm = actor_alarms_take(&shard->deadlines, (int64_t)shard->now.monotonic_ms)) !=
           NULL) {
        struct actor_waiter *waiter = ACTOR_OWNER(actor_waiter, deadline, alarm);
        struct actor_work *work = waiter->work;
        struct actor_refusal refusal = {.error = PROTO_ERROR_Timeout,
                                        .message =
                                            span_text("the segment goes on; ask again with get"),
                                        .execution_id = shard_slot_id(work->slot)};
        struct span body = actor_reply_refusal(&shard->turn, &refusal);
        reply_to(shard, waiter->to, waiter->spelling, false, body,
                 work->touched ? shard->commit_number : work->commit);
        actor_count(&shard->counters.timeouts, 1);
        waiter->to.sink = NULL;
        if (waiter->remembered == NULL) {
            shard_wait_end(shard, waiter);
        }
    }
}
