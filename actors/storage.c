/*
 * storage.c: when what is read, and who is answered. The storage thread; the embedded stores block
 * it, as they may.
 */
#include "actors/storage.h"

#include <stdlib.h>

#include "actors/drain/pending.h"
#include "actors/drain/saves.h"
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
    BLOB_WAIT_MAX_MS = 30000, /* of whoever waits for a blob */
    AHEAD_BYTES = 32 << 20, /* of the journal that are read ahead when somebody asks, not before */
    AHEAD_SLICE_BYTES = 16 << 20,
    PENDING_NAMES_MAX = 1 << 22,
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
    struct actor_pending *pending; /* what the journal has for the blob tier */
    struct actor_saves *saves;     /* what goes ahead of the blob drain */
    struct actor_queue waiting;    /* PROTO_AWAIT, PROTO_FETCH of blobs: not answered, not begun */
    bool port_is_full;             /* it took no read in this round: no other is offered */
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
        result =
            actor_pending_new(&(struct actor_pending_options){.log = options->log,
                                                              .position = options->blob_position,
                                                              .names_max = PENDING_NAMES_MAX},
                              &storage->pending);
    }
    if (result == RESULT_OK) {
        result = actor_saves_new(options->blob, options->self, storage->pending, &storage->saves);
    }
    if (result == RESULT_OK) {
        storage->pages.pending = storage->pending;
        result = actor_blob_drain_new(
            &(struct actor_blob_drain_options){
                .blob = options->blob,
                .log = options->log,
                .position = options->blob_position,
                .saves = storage->saves,
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
    actor_saves_free(storage->saves);
    actor_pending_free(storage->pending);
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

const struct actor_saves_counters *actor_storage_saves_counters(const struct actor_storage *storage)
{
    return actor_saves_counters(storage->saves);
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

/* ---- blobs: from the journal while it alone has the newest, else from the tier ---- */

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

/* Takes the fetch. false: the port has no room, and it is still the caller's. */
static bool read_tier(struct actor_storage *storage, struct proto_message *fetch)
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
        return true;
    }
    if (result == RESULT_AGAIN && storage->reading.oldest != NULL) {
        storage->port_is_full = true;
        return false; /* the answer of one of those makes room, and a turn */
    }
    answer_fetch(storage, fetch, result, SPAN_EMPTY);
    message_free(fetch);
    return true;
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

/* Takes the fetch of an execution's blob. false: not now. */
static bool serve_blob(struct actor_storage *storage, struct proto_message *fetch)
{
    const struct actor_blob_id id =
        actor_blob_id_of(fetch->as.fetch.query, &fetch->as.fetch.execution_id);
    struct span bytes;
    uint64_t version;
    arena_clear(&storage->arena);
    enum actor_pending_found found =
        actor_pending_find(storage->pending, &id, &storage->arena, &bytes, &version);
    bool passed = fetch->as.fetch.position <= actor_blob_drain_stored(storage->blob);
    if (found == ACTOR_PENDING_NOTHING || (found == ACTOR_PENDING_UNKNOWN && passed)) {
        return read_tier(storage, fetch);
    }
    if (found == ACTOR_PENDING_UNKNOWN) {
        return false;
    }
    actor_count(&storage->counters.from_journal, 1);
    answer_fetch(storage, fetch, found == ACTOR_PENDING_BYTES ? RESULT_OK : RESULT_NOT_FOUND,
                 bytes);
    message_free(fetch);
    return true;
}

/* A heavy session's blob goes ahead of the drain. While the tier fails that is not even tried: the
 * drain tries. Takes the message; false: not now. */
static bool serve_await(struct actor_storage *storage, struct proto_message *await)
{
    enum result trouble = actor_blob_drain_trouble(storage->blob);
    if (await->as.await.position <= actor_blob_drain_stored(storage->blob)) {
        answer_done(await->reply_to, RESULT_OK);
        message_free(await);
        return true;
    }
    if (trouble != RESULT_OK && actor_count_read(&storage->counters.blob_failing) == 1) {
        refuse_waiting(storage, await, trouble);
        return true;
    }
    return actor_saves_take(storage->saves, await);
}

static bool serve(struct actor_storage *storage, struct proto_message *waiting)
{
    if (waiting->type == PROTO_AWAIT) {
        return serve_await(storage, waiting);
    }
    if (waiting->as.fetch.kind == PROTO_FETCH_STEPS) {
        actor_step_pages_fetch(&storage->pages, waiting);
        return true;
    }
    return !storage->port_is_full && serve_blob(storage, waiting);
}

/*
 * All that was asked is answered by what the journal held then, as far as that has been read ahead.
 * What cannot be served yet is tried again with the next turn, until it has waited too long.
 */
static void serve_waiting(struct actor_storage *storage)
{
    struct actor_queue later = {0};
    struct proto_message *waiting;
    storage->port_is_full = false;
    while ((waiting = actor_queue_pop(&storage->waiting)) != NULL) {
        bool known = wanted_position(waiting) <= actor_pending_known(storage->pending);
        if (known && serve(storage, waiting)) {
            continue;
        }
        if (storage->now_ms >= waits_since_ms(waiting) + BLOB_WAIT_MAX_MS) {
            refuse_waiting(storage, waiting, RESULT_TIMEOUT);
        } else {
            actor_queue_push(&later, waiting);
        }
    }
    storage->waiting = later;
    if (storage->now_ms >= BLOB_WAIT_MAX_MS) {
        actor_saves_give_up(storage->saves, storage->now_ms - BLOB_WAIT_MAX_MS);
    }
}

/* Reads the journal ahead of the blob drain: for those that wait, and lest the next one waits for
 * long. true: somebody waits for more of it. */
static bool read_ahead(struct actor_storage *storage)
{
    uint64_t end = storage->options.log->ops->end(storage->options.log);
    uint64_t stored = actor_blob_drain_stored(storage->blob);
    actor_pending_passed(storage->pending, stored);
    actor_saves_passed(storage->saves, stored);
    bool asked = storage->waiting.oldest != NULL;
    if (!asked && end - stored <= AHEAD_BYTES) {
        return false;
    }
    return actor_pending_read(storage->pending, AHEAD_SLICE_BYTES) && asked;
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
    } else if (message->type == PROTO_PORT_DONE && actor_saves_has(storage->saves, message)) {
        blob_heard(storage, message->as.port_done.result);
        actor_saves_done(storage->saves, message);
        storage->blob_ms = now.monotonic_ms; /* the drain may have waited for it */
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
    uint64_t since_ms = earlier(actor_saves_since_ms(storage->saves),
                                oldest == NULL ? UINT64_MAX : waits_since_ms(oldest));
    return since_ms == UINT64_MAX ? ACTOR_NEVER : since_ms + BLOB_WAIT_MAX_MS;
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
    bool more_ahead = read_ahead(storage);
    serve_waiting(storage);
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
    if (storage->waiting.oldest != NULL) {
        serve_waiting(storage); /* an embedded tier may have stored it by now */
    }
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
    due_ms = earlier(due_ms, more_ahead ? now.monotonic_ms : ACTOR_NEVER);
    return earlier(due_ms, earlier(storage->probe_ms, patience_ms(storage)));
}
