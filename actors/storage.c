/*
 * storage.c: when what is read, and who is answered. The storage thread; the embedded stores block
 * it, as they may.
 */
#include "actors/storage.h"

#include <stdlib.h>

#include "actors/drain/step_pages.h"
#include "actors/pace.h"
#include "actors/queue.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum {
    STORAGE_MAGIC = 0x53544f52,
    TICKET_DRAIN = 0, /* the blob drain's own requests of the port */
    TICKET_PROBE = 1,
    PROBE_EVERY_MS = 5000,
    BLOB_WAIT_MAX_MS = 30000, /* for the drain to pass what somebody waits for */
    PUMP_DELAY_MS =
        20, /* what the journal announces is gathered for that long: large batches, few wake-ups */
    FLUSH_EVERY_MS = 1000,
    RETRY_MS = 1000,
    STATE_BEHIND_BYTES_MAX = 64 << 20, /* what a recovery reads */
    BLOB_BEHIND_BYTES_MAX = 1 << 30,
};

struct actor_storage {
    uint32_t magic;
    struct actor_storage_options options;
    struct actor_state_drain *state;
    struct actor_blob_drain *blob;
    struct arena arena;
    struct actor_queue
        waiting; /* PROTO_AWAIT, and PROTO_FETCH of blobs: until `stored` has passed as.…position */
    struct actor_queue reading;    /* PROTO_FETCH of blobs that the port is asked for, in order */
    struct actor_step_pages pages; /* step blobs that replay asks for */
    uint64_t pump_ms;              /* ACTOR_NEVER: nothing announced */
    uint64_t flush_ms;
    uint64_t blob_ms;                            /* when the blob drain wants to go on by itself */
    uint64_t state_durable, blob_durable;        /* as the state table says */
    uint64_t bus_settled, bus_durable, bus_read; /* the bus drain's: told, and in the table */
    struct actor_pace state_pace, blob_pace;
    uint64_t probe_ms; /* ACTOR_NEVER: not asked, or under way */
    uint64_t now_ms;
    struct proto_address drain; /* who waits for everything to be durable */
    struct actor_storage_counters counters;
};

enum result actor_storage_new(const struct actor_storage_options *options,
                              struct actor_storage **out)
{
    struct actor_storage *storage = calloc(1, sizeof *storage);
    if (storage == NULL) {
        return RESULT_LIMIT;
    }
    storage->magic = STORAGE_MAGIC;
    storage->options = *options;
    storage->pages = (struct actor_step_pages){.blob = options->blob, .self = options->self};
    storage->pump_ms = 0; /* look once at the start */
    storage->flush_ms = ACTOR_NEVER;
    storage->blob_ms = ACTOR_NEVER;
    storage->probe_ms = options->blob_elsewhere ? 0 : ACTOR_NEVER;
    storage->state_pace =
        (struct actor_pace){.enabled = options->paced, .behind_bytes_max = STATE_BEHIND_BYTES_MAX};
    storage->blob_pace =
        (struct actor_pace){.enabled = options->paced, .behind_bytes_max = BLOB_BEHIND_BYTES_MAX};
    storage->state_durable = options->state_position;
    storage->blob_durable = options->blob_position;
    storage->bus_settled = storage->bus_durable = storage->bus_read = options->bus_position;
    arena_init(&storage->arena, 64 << 10, (size_t)LIMIT_EXECUTION_BYTES * 2);
    enum result result = actor_state_drain_new(
        &(struct actor_state_drain_options){.state = options->state,
                                            .log = options->log,
                                            .shards = options->shards,
                                            .shard_count = options->shard_count,
                                            .position = options->state_position,
                                            .requests_max =
                                                options->shard_count * LIMIT_REQUESTS_REMEMBERED},
        &storage->state);
    if (result == RESULT_OK) {
        result = actor_blob_drain_new(
            &(struct actor_blob_drain_options){
                .blob = options->blob,
                .log = options->log,
                .position = options->blob_position,
                .reply_to = {.sink = options->self, .ticket = TICKET_DRAIN}},
            &storage->blob);
    }
    if (result != RESULT_OK) {
        actor_storage_free(storage);
        return result;
    }
    *out = storage;
    return RESULT_OK;
}

void actor_storage_free(struct actor_storage *storage)
{
    if (storage == NULL) {
        return;
    }
    actor_state_drain_free(storage->state);
    actor_blob_drain_free(storage->blob);
    actor_queue_clear(&storage->waiting);
    actor_queue_clear(&storage->reading);
    actor_step_pages_release(&storage->pages);
    arena_release(&storage->arena);
    storage->magic = 0;
    free(storage);
}

const struct actor_storage_counters *actor_storage_counters(const struct actor_storage *storage)
{
    return &storage->counters;
}

const struct actor_blob_drain_counters *
actor_storage_blob_counters(const struct actor_storage *storage)
{
    return actor_blob_drain_counters(storage->blob);
}

const struct actor_state_drain_counters *
actor_storage_state_counters(const struct actor_storage *storage)
{
    return actor_state_drain_counters(storage->state);
}

/* ---- answers ---- */

static void answer_fetch(struct actor_storage *storage, const struct proto_message *fetch,
                         enum result result, struct span bytes)
{
    struct proto_message *fetched = message_new(PROTO_FETCHED, bytes.count);
    if (fetched == NULL) {
        fetched = message_new(PROTO_FETCHED, 0);
        bytes = SPAN_EMPTY;
        result = RESULT_LIMIT;
    }
    if (fetched == NULL) {
        log_line(LOG_CRITICAL, "STORAGE-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    fetched->as.fetched = (struct proto_fetched){.kind = fetch->as.fetch.kind,
                                                 .execution_id = fetch->as.fetch.execution_id,
                                                 .result = result,
                                                 .bytes = message_keep(fetched, bytes)};
    if (result != RESULT_OK) {
        actor_count(&storage->counters.misses, 1);
    }
    message_answer(fetch->reply_to, fetched);
}

static void answer_done(struct proto_address to, enum result result)
{
    struct proto_message *done = message_new(PROTO_DONE, 0);
    if (done != NULL) {
        done->as.done.result = result;
        message_answer(to, done);
    }
}

static void fetch_state(struct actor_storage *storage, const struct proto_message *fetch,
                        struct actor_time now)
{
    struct span bytes = SPAN_EMPTY;
    arena_clear(&storage->arena);
    enum result result = actor_state_drain_pump(storage->state, now, false);
    if (result == RESULT_OK) {
        result =
            actor_state_drain_get(storage->state, execution_id_span(&fetch->as.fetch.execution_id),
                                  &storage->arena, &bytes);
    }
    answer_fetch(storage, fetch, result, result == RESULT_OK ? bytes : SPAN_EMPTY);
}

/* ---- blobs: wait until the drain has passed, then read ---- */

static uint64_t wanted_position(const struct proto_message *waiting)
{
    return waiting->type == PROTO_AWAIT ? waiting->as.await.position : waiting->as.fetch.position;
}

static uint64_t waits_since_ms(const struct proto_message *waiting)
{
    return waiting->type == PROTO_AWAIT ? waiting->as.await.since_ms : waiting->as.fetch.since_ms;
}

/* One line a change (engine.md 11: a failure is CRITICAL). */
static void blob_heard(struct actor_storage *storage, enum result result)
{
    bool fails = result != RESULT_OK && result != RESULT_NOT_FOUND && result != RESULT_CLOSED;
    if (fails == (actor_count_read(&storage->counters.blob_failing) == 1)) {
        return;
    }
    actor_count_set(&storage->counters.blob_failing, fails ? 1 : 0);
    log_line(fails ? LOG_CRITICAL : LOG_INFO, fails ? "BLOBS-FAIL" : "BLOBS-WORK-AGAIN",
             "reason=\"%s\"", result_text(result));
}

/* Takes the fetch. */
static void read_blob(struct actor_storage *storage, struct proto_message *fetch)
{
    arena_clear(&storage->arena);
    struct span name =
        actor_blob_name(&storage->arena, fetch->as.fetch.query,
                        execution_id_span(&fetch->as.fetch.execution_id), span_text("execution"));
    struct storage_blob *blob = storage->options.blob;
    struct proto_address to = {.sink = storage->options.self, .ticket = (uint64_t)(uintptr_t)fetch};
    enum result result = name.count == 0 ? RESULT_LIMIT : blob->ops->get(blob, name, to);
    if (result == RESULT_OK) {
        actor_queue_push(&storage->reading, fetch);
        return;
    }
    answer_fetch(storage, fetch, result, SPAN_EMPTY);
    message_free(fetch);
}

static void blob_read(struct actor_storage *storage, const struct proto_message *done)
{
    struct actor_queue others = {0};
    struct proto_message *fetch;
    while ((fetch = actor_queue_pop(&storage->reading)) != NULL) {
        if ((uint64_t)(uintptr_t)fetch != done->reply_to.ticket) {
            actor_queue_push(&others, fetch);
            continue;
        }
        blob_heard(storage, done->as.port_done.result);
        answer_fetch(storage, fetch, done->as.port_done.result, done->as.port_done.bytes);
        message_free(fetch);
    }
    storage->reading = others;
}

/* Nobody may wait for a tier that does not do its work. Takes the message. */
static void refuse_waiting(struct actor_storage *storage, struct proto_message *waiting,
                           enum result result)
{
    if (waiting->type == PROTO_AWAIT) {
        answer_done(waiting->reply_to, result);
    } else {
        answer_fetch(storage, waiting, result, SPAN_EMPTY);
    }
    message_free(waiting);
}

static void serve_waiting(struct actor_storage *storage)
{
    uint64_t stored = actor_blob_drain_stored(storage->blob);
    enum result trouble = actor_blob_drain_trouble(storage->blob);
    struct actor_queue later = {0};
    struct proto_message *waiting;
    while ((waiting = actor_queue_pop(&storage->waiting)) != NULL) {
        bool passed = wanted_position(waiting) <= stored;
        bool overdue = storage->now_ms >= waits_since_ms(waiting) + BLOB_WAIT_MAX_MS;
        if (!passed && (trouble != RESULT_OK || overdue)) {
            refuse_waiting(storage, waiting, overdue ? RESULT_TIMEOUT : trouble);
        } else if (!passed) {
            actor_queue_push(&later, waiting);
        } else if (waiting->type == PROTO_AWAIT) {
            answer_done(waiting->reply_to, RESULT_OK);
            message_free(waiting);
        } else if (waiting->as.fetch.kind == PROTO_FETCH_STEPS) {
            actor_step_pages_fetch(&storage->pages, waiting);
        } else {
            read_blob(storage, waiting);
        }
    }
    storage->waiting = later;
}

/* ---- flushing ---- */

static void report(struct actor_storage *storage, enum proto_drain drain, uint64_t durable,
                   uint64_t read)
{
    struct proto_message *drained = message_new(PROTO_DRAINED, 0);
    if (drained == NULL) {
        return; /* the next one says more */
    }
    drained->as.drained = (struct proto_drained){.drain = drain, .durable = durable, .read = read};
    if (storage->options.journal->send(storage->options.journal, &drained) != RESULT_OK) {
        message_free(drained); /* it has stopped, and so shall we */
    }
}

static void report_both(struct actor_storage *storage)
{
    report(storage, PROTO_DRAIN_STATE, storage->state_durable,
           actor_state_drain_read(storage->state));
    report(storage, PROTO_DRAIN_BLOB, storage->blob_durable,
           actor_blob_drain_stored(storage->blob));
}

static enum result flush_table(struct actor_storage *storage, uint64_t blob_durable,
                               struct actor_time now)
{
    enum result result = RESULT_OK;
    if (storage->bus_settled != storage->bus_durable) {
        result = actor_state_drain_keep_bus(storage->state, storage->bus_settled);
    }
    return result == RESULT_OK
               ? actor_state_drain_flush(storage->state, blob_durable, now, &storage->state_durable)
               : result;
}

static void flush(struct actor_storage *storage, struct actor_time now)
{
    uint64_t blob_durable = actor_blob_drain_durable(storage->blob);
    enum result result = flush_table(storage, blob_durable, now);
    bool failing = result != RESULT_OK;
    if (failing != (actor_count_read(&storage->counters.failing) == 1)) {
        actor_count_set(&storage->counters.failing, failing ? 1 : 0);
        log_line(failing ? LOG_ERROR : LOG_INFO,
                 failing ? "STATE-NOT-WRITTEN" : "STATE-WRITTEN-AGAIN", "reason=\"%s\"",
                 result_text(result));
    }
    if (failing) {
        storage->flush_ms = now.monotonic_ms + RETRY_MS;
        return;
    }
    storage->blob_durable = blob_durable;
    storage->flush_ms = ACTOR_NEVER;
    report_both(storage);
    if (storage->bus_settled != storage->bus_durable) {
        storage->bus_durable = storage->bus_settled;
        report(storage, PROTO_DRAIN_BUS, storage->bus_durable, storage->bus_read);
    }
}

static bool all_durable(const struct actor_storage *storage)
{
    uint64_t end = storage->options.log->ops->end(storage->options.log);
    return actor_state_drain_read(storage->state) == end &&
           !actor_state_drain_dirty(storage->state) && storage->blob_durable == end &&
           storage->bus_durable == storage->bus_settled;
}

/* For an orderly end: once, when all has been read and stored. */
static bool all_is_read(const struct actor_storage *storage)
{
    uint64_t end = storage->options.log->ops->end(storage->options.log);
    return actor_state_drain_read(storage->state) == end &&
           actor_blob_drain_stored(storage->blob) == end;
}

static bool flush_is_due(const struct actor_storage *storage, struct actor_time now)
{
    bool failing = actor_count_read(&storage->counters.failing) == 1;
    bool hurry = actor_state_drain_heavy(storage->state) ||
                 (storage->drain.sink != NULL && all_is_read(storage));
    return storage->flush_ms <= now.monotonic_ms || (hurry && !failing);
}

static bool anything_to_flush(const struct actor_storage *storage)
{
    uint64_t blob_durable = actor_blob_drain_durable(storage->blob);
    return actor_state_drain_dirty(storage->state) ||
           blob_durable < actor_blob_drain_stored(storage->blob) ||
           blob_durable > storage->blob_durable || storage->bus_settled != storage->bus_durable;
}

/* ---- the turn ---- */

static uint64_t earlier(uint64_t a_ms, uint64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

static uint64_t later(uint64_t a_ms, uint64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* Here, because the tables have this thread for their only one. Drains and fetches wait as long. */
static void copy_tables(struct actor_storage *storage, const struct proto_message *message)
{
    struct storage_backup *backup = storage->options.backup;
    answer_done(message->reply_to,
                backup->ops->copy_tables(backup, (const char *)message->as.directory.bytes));
}

/* Takes the message. */
static void receive(struct actor_storage *storage, struct proto_message *message,
                    struct actor_time now)
{
    if (message->type == PROTO_JOURNAL_ADVANCED) {
        if (storage->pump_ms == ACTOR_NEVER) {
            storage->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
        }
    } else if (message->type == PROTO_FETCH && message->as.fetch.kind == PROTO_FETCH_STATE) {
        actor_count(&storage->counters.fetches, 1);
        fetch_state(storage, message, now);
    } else if (message->type == PROTO_FETCH) {
        ASSERT(message->as.fetch.kind == PROTO_FETCH_BLOB ||
               message->as.fetch.kind == PROTO_FETCH_STEPS);
        actor_count(&storage->counters.fetches, 1);
        message->as.fetch.position = storage->options.log->ops->end(storage->options.log);
        message->as.fetch.since_ms = now.monotonic_ms;
        actor_queue_push(&storage->waiting, message);
        return;
    } else if (message->type == PROTO_AWAIT) {
        message->as.await.since_ms = now.monotonic_ms;
        actor_queue_push(&storage->waiting, message);
        return;
    } else if (message->type == PROTO_PORT_DONE && message->reply_to.ticket == TICKET_DRAIN) {
        actor_blob_drain_done(storage->blob, &message->as.port_done, now);
        blob_heard(storage, message->as.port_done.result);
        storage->blob_ms = later(now.monotonic_ms, actor_pace_until_ms(&storage->blob_pace));
    } else if (message->type == PROTO_PORT_DONE && message->reply_to.ticket == TICKET_PROBE) {
        storage->probe_ms = now.monotonic_ms + PROBE_EVERY_MS;
        if (actor_blob_drain_trouble(storage->blob) == RESULT_OK) {
            blob_heard(storage, message->as.port_done.result);
        }
    } else if (message->type == PROTO_PORT_DONE &&
               actor_step_pages_take(&storage->pages, message)) {
        return;
    } else if (message->type == PROTO_PORT_DONE) {
        blob_read(storage, message);
    } else if (message->type == PROTO_DRAINED) {
        ASSERT(message->as.drained.drain == PROTO_DRAIN_BUS);
        storage->bus_settled = message->as.drained.durable;
        storage->bus_read = message->as.drained.read;
    } else if (message->type == PROTO_BACKUP) {
        copy_tables(storage, message);
    } else {
        ASSERT(message->type == PROTO_DRAIN);
        storage->drain = message->reply_to;
    }
    message_free(message);
}

static uint64_t behind(const struct actor_storage *storage, uint64_t read)
{
    return storage->options.log->ops->end(storage->options.log) - read;
}

/*
 * Reads what there is, in slices unless somebody waits for it. As long as there is something, it
 * looks again soon; then the journal is told to tell.
 */
static void pump_state(struct actor_storage *storage, struct actor_time now, bool pressed)
{
    uint64_t before = actor_state_drain_read(storage->state);
    actor_pace_begin(&storage->state_pace);
    enum result result = actor_state_drain_pump(storage->state, now, !pressed);
    uint64_t read = actor_state_drain_read(storage->state);
    actor_pace_end(&storage->state_pace, behind(storage, read), now.monotonic_ms);
    if (result == RESULT_AGAIN) {
        storage->pump_ms = later(now.monotonic_ms, actor_pace_until_ms(&storage->state_pace));
    } else if (result != RESULT_OK) {
        log_line(LOG_ERROR, "STATE-NOT-READ", "reason=\"%s\"", result_text(result));
        storage->pump_ms = now.monotonic_ms + RETRY_MS;
    } else if (read != before) {
        storage->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
    } else if (storage->pump_ms != ACTOR_NEVER) {
        storage->pump_ms = ACTOR_NEVER;
        report_both(storage);
    }
}

static void pump_blobs(struct actor_storage *storage, struct actor_time now)
{
    actor_pace_begin(&storage->blob_pace);
    storage->blob_ms = actor_blob_drain_pump(storage->blob, now);
    actor_pace_end(&storage->blob_pace, behind(storage, actor_blob_drain_stored(storage->blob)),
                   now.monotonic_ms);
}

/* So that a tier that nobody needs just now is known to be away, or back. */
static void probe(struct actor_storage *storage, struct actor_time now)
{
    struct storage_blob *blob = storage->options.blob;
    enum result result = blob->ops->get(
        blob, span_text("strider/probe/probe.msgpack"),
        (struct proto_address){.sink = storage->options.self, .ticket = TICKET_PROBE});
    storage->probe_ms =
        result == RESULT_OK ? ACTOR_NEVER : now.monotonic_ms + PROBE_EVERY_MS; /* it is just busy */
}

/* The oldest of those that wait for the blobs is told off by then. */
static uint64_t patience_ms(const struct actor_storage *storage)
{
    const struct proto_message *oldest = storage->waiting.oldest;
    return oldest == NULL ? ACTOR_NEVER : waits_since_ms(oldest) + BLOB_WAIT_MAX_MS;
}

/* The blobs first: the table then says how far they are. */
static void flush_both(struct actor_storage *storage, struct actor_time now)
{
    if (actor_blob_drain_durable(storage->blob) < actor_blob_drain_stored(storage->blob)) {
        actor_blob_drain_want_flush(storage->blob);
        storage->blob_ms = now.monotonic_ms;
    }
    if (actor_state_drain_dirty(storage->state) ||
        actor_blob_drain_durable(storage->blob) > storage->blob_durable ||
        storage->bus_settled != storage->bus_durable) {
        flush(storage, now);
    } else {
        storage->flush_ms = ACTOR_NEVER;
    }
}

uint64_t actor_storage_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_storage *storage = BASE_CAST(actor_storage, argument, STORAGE_MAGIC);
    storage->now_ms = now.monotonic_ms;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        receive(storage, message, now);
    }
    bool pressed = storage->waiting.oldest != NULL || storage->drain.sink != NULL;
    bool due = storage->pump_ms <= now.monotonic_ms;
    if (pressed || due) {
        pump_state(storage, now, pressed);
    }
    if (due && storage->blob_ms == ACTOR_NEVER) {
        storage->blob_ms = later(now.monotonic_ms, actor_pace_until_ms(&storage->blob_pace));
    }
    if (flush_is_due(storage, now)) {
        flush_both(storage, now);
    }
    if (pressed || storage->blob_ms <= now.monotonic_ms) {
        pump_blobs(storage, now);
    }
    serve_waiting(storage);
    if (storage->probe_ms <= now.monotonic_ms) {
        probe(storage, now);
    }
    if (storage->flush_ms == ACTOR_NEVER && anything_to_flush(storage)) {
        storage->flush_ms = now.monotonic_ms + FLUSH_EVERY_MS;
    }
    if (storage->drain.sink != NULL && all_durable(storage)) {
        answer_done(storage->drain, RESULT_OK);
        storage->drain.sink = NULL;
    }
    uint64_t due_ms = earlier(earlier(storage->pump_ms, storage->flush_ms), storage->blob_ms);
    return earlier(due_ms, earlier(storage->probe_ms, patience_ms(storage)));
}
