/*
 * shard.c: the turn: what came, in order; then one commit.
 */
#include "actors/shard/shard.h"

#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"
#include "storage/embedded/embedded.h"

enum {
    TURN_BLOCK_BYTES = 64 << 10,
    RECORDS_BLOCK_BYTES = 256 << 10,
};
/* Two executions of the largest size and their records. */
#define TURN_BYTES_MAX ((size_t)LIMIT_EXECUTION_BYTES * 4)

uint32_t actor_shard_of(struct span key, uint32_t shard_count)
{
    ASSERT(shard_count > 0);
    return (uint32_t)(base_hash(key, 0) % shard_count);
}

enum result actor_shard_new(const struct actor_shard_options *options, struct actor_shard **out)
{
    ASSERT(options->index < options->shard_count);
    struct actor_shard *shard = calloc(1, sizeof *shard);
    if (shard == NULL) {
        return RESULT_LIMIT;
    }
    shard->magic = SHARD_MAGIC;
    shard->options = *options;
    shard->self = options->shards[options->index];
    shard->commit_number = 1;
    actor_table_init(&shard->slots);
    actor_directory_init(&shard->directory);
    actor_correlation_init(&shard->correlation);
    actor_remembered_init(&shard->requests, LIMIT_REQUESTS_REMEMBERED);
    actor_remembered_init(&shard->routes, LIMIT_REQUESTS_REMEMBERED);
    arena_init(&shard->turn, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    arena_init(&shard->records, RECORDS_BLOCK_BYTES, TURN_BYTES_MAX);
    arena_init(&shard->scratch, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    enum result result = actor_catalog_init(&shard->catalog, options->read_zone);
    shard->catalog.engine.max_steps = options->max_steps;
    if (result == RESULT_OK) {
        result = storage_memory_hot_new(options->hot_bytes_max, options->hot_ttl_ms, &shard->hot);
    }
    if (result != RESULT_OK) {
        actor_shard_free(shard);
        return result;
    }
    shard_begin(shard);
    *out = shard;
    return RESULT_OK;
}

static void free_work(struct actor_shard *shard, struct actor_work *work)
{
    while (work->waiters != NULL) {
        work->waiters->remembered = NULL;
        shard_wait_end(shard, work->waiters);
    }
    actor_queue_clear(&work->replies);
    work->sliced = work->touched = work->unsettled = false;
    shard_work_free(shard, work);
}

static void free_slots(struct actor_shard *shard)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&shard->slots); link != NULL; link = next) {
        next = link->next;
        struct actor_slot *slot = ACTOR_OWNER(actor_slot, link, link);
        if (slot->work != NULL) {
            free_work(shard, slot->work);
        }
        free(slot);
    }
    actor_table_release(&shard->slots);
}

void actor_shard_free(struct actor_shard *shard)
{
    if (shard == NULL) {
        return;
    }
    free_slots(shard);
    while (shard->groups_oldest != NULL) {
        struct actor_group *group = shard->groups_oldest;
        shard->groups_oldest = group->newer;
        actor_queue_clear(&group->effects);
        actor_queue_clear(&group->awaits);
        free(group);
    }
    actor_queue_clear(&shard->effects);
    actor_queue_clear(&shard->awaits);
    shard_held_free(shard);
    actor_remembered_release(&shard->requests);
    actor_remembered_release(&shard->routes);
    actor_directory_release(&shard->directory);
    actor_correlation_release(&shard->correlation);
    actor_alarms_release(&shard->alarms);
    actor_alarms_release(&shard->deadlines);
    if (shard->hot != NULL) {
        shard->hot->ops->close(shard->hot);
    }
    actor_catalog_release(&shard->catalog);
    arena_release(&shard->turn);
    arena_release(&shard->records);
    arena_release(&shard->scratch);
    shard->magic = 0;
    free(shard);
}

struct actor_catalog *actor_shard_catalog(struct actor_shard *shard)
{
    return &shard->catalog;
}

const struct actor_shard_counters *actor_shard_counters(const struct actor_shard *shard)
{
    return &shard->counters;
}

/* ---- messages that are no requests ---- */

static void call_done(struct actor_shard *shard, const struct proto_call_done *done)
{
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&done->execution_id));
    shard_tell_answer(shard, done);
    if (slot == NULL || slot->work == NULL || slot->work->forgotten) {
        return; /* it ended, or was deleted, while the module worked */
    }
    struct engine_input input = {.kind = ENGINE_IN_CALL_DONE,
                                 .now_ms = shard->now.unix_ms,
                                 .token = done->token,
                                 .attempt = done->attempt,
                                 .call = done};
    enum result result = shard_accept(shard, slot->work, &input);
    if (result == RESULT_INVALID) {
        log_line(LOG_WARN, "SHARD-ANSWER-REFUSED", "shard=%u executionId=%s token=%u",
                 shard->options.index, done->execution_id.text, done->token);
    }
}

static void answer_done(struct proto_address to, enum result result, struct span text)
{
    struct proto_message *done = message_new(PROTO_DONE, text.count);
    if (done != NULL) {
        done->as.done = (struct proto_done){.result = result, .text = message_keep(done, text)};
        message_answer(to, done);
    }
}

static void add_definition(struct actor_shard *shard, const struct proto_message *message)
{
    struct engine_report report;
    enum result result =
        actor_catalog_add(&shard->catalog, &message->as.definition, shard->now.unix_ms, &report);
    struct span text =
        result == RESULT_OK ? SPAN_EMPTY : engine_report_text(&report, ENGINE_ERROR, &shard->turn);
    answer_done(message->reply_to, result == RESULT_EXISTS ? RESULT_OK : result, text);
    engine_report_release(&report);
}

static void set_project(struct actor_shard *shard, const struct proto_message *message)
{
    struct engine_report report;
    enum result result = actor_catalog_set_project(&shard->catalog, &message->as.project, &report);
    struct span text =
        result == RESULT_OK ? SPAN_EMPTY : engine_report_text(&report, ENGINE_ERROR, &shard->turn);
    answer_done(message->reply_to, result, text);
    engine_report_release(&report);
}

/* For another shard, whose reply waits for it. */
static void session(struct actor_shard *shard, const struct proto_message *message)
{
    const struct proto_session *session = &message->as.session;
    struct span id = execution_id_span(&session->execution_id);
    if (message->type == PROTO_SESSION_DROP) {
        actor_directory_drop(&shard->directory, session->channel_session_id, id);
        return;
    }
    enum result result = actor_directory_bind(&shard->directory, session->channel_session_id, id,
                                              session->waiting_since_ms);
    answer_done(message->reply_to, result, SPAN_EMPTY);
}

static void interim(struct actor_shard *shard, const struct execution_id *id)
{
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(id));
    if (slot != NULL && slot->work != NULL && !slot->damaged &&
        shard_touch(shard, slot->work) != NULL) {
        slot->work->interim = true;
    }
}

/* Takes the message. */
static void receive(struct actor_shard *shard, struct proto_message *message)
{
    switch (message->type) {
    case PROTO_REQUEST:
        shard_request(shard, message, NULL);
        return;
    case PROTO_FETCHED:
        shard_fetched(shard, message);
        return;
    case PROTO_CALL_DONE:
        call_done(shard, &message->as.call_done);
        break;
    case PROTO_COMMITTED:
        shard_committed(shard, message);
        break;
    case PROTO_DONE:
        shard_gate_answered(shard, message->reply_to.ticket, message->as.done.result);
        break;
    case PROTO_DEFINITION:
        add_definition(shard, message);
        break;
    case PROTO_PROJECT:
        set_project(shard, message);
        break;
    case PROTO_SESSION_BIND:
    case PROTO_SESSION_DROP:
        session(shard, message);
        break;
    case PROTO_ROUTE_DROP:
        shard_drop_route(shard, message);
        return;
    case PROTO_LISTEN:
        shard_listened(shard, &message->as.listen);
        break;
    case PROTO_PUBLISH:
        shard_published(shard, &message->as.publish);
        break;
    case PROTO_DELIVER:
        shard_deliver(shard, message, NULL);
        return;
    case PROTO_DELIVERED:
        shard_delivered(shard, &message->as.publish);
        break;
    case PROTO_FIRE:
        shard_fire(shard, message);
        return;
    case PROTO_INTERIM:
        interim(shard, &message->as.execution_id);
        break;
    case PROTO_DRAIN:
        shard->drain = message->reply_to;
        shard->closing = true;
        break;
    case PROTO_NONE:
    case PROTO_REPLY:
    case PROTO_CALL:
    case PROTO_CALL_CANCEL:
    case PROTO_COMMIT:
    case PROTO_JOURNAL_ADVANCED:
    case PROTO_DRAINED:
    case PROTO_FETCH:
    case PROTO_AWAIT:
    case PROTO_FIRED:
    case PROTO_KEEP:
    case PROTO_HOLD:
    case PROTO_BACKUP:
    case PROTO_PORT_DONE:
    case PROTO_BUS_SETTLED:
    case PROTO_BUS_REFUSED:
    case PROTO_BUS_RECEIVED:
    case PROTO_EVENT:
    case PROTO_MESSAGE_TYPE_COUNT:
        ASSERT_UNREACHABLE();
    }
    message_free(message);
}

/* ---- the turn ---- */

static void answer_drain(struct actor_shard *shard)
{
    bool rests = actor_count_read(&shard->counters.live) == 0 && shard->groups_oldest == NULL;
    if (shard->drain.sink != NULL && rests) {
        answer_done(shard->drain, RESULT_OK, SPAN_EMPTY);
        shard->drain.sink = NULL;
    }
}

static uint64_t next_turn_ms(const struct actor_shard *shard)
{
    if (shard->slices_oldest != NULL && !shard->stalled) {
        return shard->now.monotonic_ms;
    }
    uint64_t due_ms = ACTOR_NEVER;
    int64_t alarm_ms = shard->stalled ? INT64_MAX : actor_alarms_next_ms(&shard->alarms);
    int64_t letter_ms = shard->stalled || shard->closing
                            ? INT64_MAX
                            : actor_correlation_due_ms(&shard->correlation);
    alarm_ms = letter_ms < alarm_ms ? letter_ms : alarm_ms;
    if (alarm_ms != INT64_MAX) {
        int64_t left_ms = alarm_ms - shard->now.unix_ms;
        left_ms = left_ms < 0 ? 0 : left_ms > ACTOR_WAIT_MAX_MS ? ACTOR_WAIT_MAX_MS : left_ms;
        due_ms = shard->now.monotonic_ms + (uint64_t)left_ms;
    }
    int64_t deadline_ms = actor_alarms_next_ms(&shard->deadlines);
    if (deadline_ms != INT64_MAX && (uint64_t)deadline_ms < due_ms) {
        due_ms = (uint64_t)deadline_ms;
    }
    uint64_t expiry_ms = actor_remembered_next_ms(&shard->requests);
    return expiry_ms < due_ms ? expiry_ms : due_ms;
}

uint64_t actor_shard_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_shard *shard = BASE_CAST(actor_shard, argument, SHARD_MAGIC);
    shard->now = now;
    shard_begin(shard);
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        receive(shard, message);
        if (shard->batch.count >= SHARD_COMMIT_BYTES) {
            shard_end(shard);
            shard_begin(shard);
        }
    }
    if (!shard->stalled) { /* else each would add to what the journal cannot take */
        shard_alarms_ring(shard);
        if (!shard->closing) {
            shard_letters_ring(shard);
        }
        shard_run_slices(shard);
    }
    shard_time_out(shard);
    actor_remembered_expire(&shard->requests, now.monotonic_ms);
    actor_remembered_expire(&shard->routes, now.monotonic_ms);
    shard_end(shard);
    answer_drain(shard);
    return next_turn_ms(shard);
}
