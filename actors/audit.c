/*
 * audit.c: up to 1,000 audit messages in one transaction of the index, with the journal position
 * that they reach.
 */
#include "actors/audit.h"

#include <stdlib.h>

#include "actors/pace.h"
#include "actors/reply.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/record.h"
#include "proto/wire/reader.h"

enum {
    AUDIT_MAGIC = 0x41554449,
    APPLY_MESSAGES = 1000,
    APPLY_BYTES = 8 << 20,
    PUMP_DELAY_MS = 50,
    FLUSH_EVERY_MS = 1000,
    RETRY_MS = 1000,
    LOGS_MAX = 1000,
    PROBE_EVERY_MS = 5000,
    BEHIND_BYTES_MAX = 1 << 30,
};

#define RECORD_KINDS (PROTO_RECORD_BIT(PROTO_RECORD_AUDIT) | PROTO_RECORD_BIT(PROTO_RECORD_FORGET))

struct actor_audit {
    uint32_t magic;
    struct actor_audit_options options;
    struct storage_journal_reader *reader;
    struct arena batch; /* messages that wait for their apply */
    struct arena arena; /* answers */
    struct span messages[APPLY_MESSAGES];
    size_t message_count;
    size_t message_bytes;
    uint64_t read;    /* behind the newest batch whose messages are all applied or waiting */
    uint64_t applied; /* in the index */
    uint64_t durable; /* ... and flushed */
    struct span rest; /* records of a batch that did not fit one apply */
    uint64_t rest_position;
    uint64_t pump_ms, flush_ms, probe_ms;
    struct actor_pace pace;
    uint32_t applies; /* since the slice began */
    struct proto_address drain;
    struct actor_audit_counters counters;
};

enum result actor_audit_new(const struct actor_audit_options *options, struct actor_audit **out)
{
    struct actor_audit *audit = calloc(1, sizeof *audit);
    if (audit == NULL) {
        return RESULT_LIMIT;
    }
    audit->magic = AUDIT_MAGIC;
    audit->options = *options;
    audit->read = audit->applied = audit->durable = options->position;
    audit->flush_ms = ACTOR_NEVER;
    audit->probe_ms = options->elsewhere ? 0 : ACTOR_NEVER;
    audit->pace =
        (struct actor_pace){.enabled = options->paced, .behind_bytes_max = BEHIND_BYTES_MAX};
    arena_init(&audit->batch, 256 << 10, (size_t)LIMIT_EXECUTION_BYTES * 2);
    arena_init(&audit->arena, 64 << 10, (size_t)LIMIT_EXECUTION_BYTES);
    enum result result =
        options->log->ops->reader_open(options->log, options->position, &audit->reader);
    if (result != RESULT_OK) {
        actor_audit_free(audit);
        return result;
    }
    *out = audit;
    return RESULT_OK;
}

void actor_audit_free(struct actor_audit *audit)
{
    if (audit == NULL) {
        return;
    }
    if (audit->reader != NULL) {
        audit->options.log->ops->reader_close(audit->reader);
    }
    arena_release(&audit->batch);
    arena_release(&audit->arena);
    audit->magic = 0;
    free(audit);
}

const struct actor_audit_counters *actor_audit_counters(const struct actor_audit *audit)
{
    return &audit->counters;
}

/* ---- the drain ---- */

/* One line a change. */
static void heard(struct actor_audit *audit, enum result result)
{
    bool failing = result != RESULT_OK;
    if (failing != (actor_count_read(&audit->counters.failing) == 1)) {
        actor_count_set(&audit->counters.failing, failing ? 1 : 0);
        log_line(failing ? LOG_ERROR : LOG_INFO,
                 failing ? "INDEX-NOT-WRITTEN" : "INDEX-WRITTEN-AGAIN", "reason=\"%s\"",
                 result_text(result));
    }
}

/* So that an index that nobody needs just now is known to be away, or back. */
static void probe(struct actor_audit *audit, struct actor_time now)
{
    uint64_t position;
    if (audit->message_count == 0) { /* else what waits to be applied tells more */
        heard(audit, audit->options.index->ops->position(audit->options.index, &position));
    }
    audit->probe_ms = now.monotonic_ms + PROBE_EVERY_MS;
}

/* To pump, AGAIN means "more at once"; a database that another program holds gets a pause. */
static enum result of_index(enum result result)
{
    return result == RESULT_AGAIN ? RESULT_IO : result;
}

static enum result apply(struct actor_audit *audit)
{
    if (audit->message_count == 0 && audit->read == audit->applied) {
        return RESULT_OK;
    }
    struct storage_index *index = audit->options.index;
    enum result result =
        index->ops->apply(index, audit->messages, audit->message_count, audit->read);
    heard(audit, result);
    if (result != RESULT_OK) {
        return of_index(result);
    }
    audit->applies++;
    actor_count(&audit->counters.applies, 1);
    actor_count(&audit->counters.messages, (int64_t)audit->message_count);
    audit->applied = audit->read;
    audit->message_count = 0;
    audit->message_bytes = 0;
    arena_clear(&audit->batch);
    return RESULT_OK;
}

/* An operator's delete comes after all that was said about the execution. */
static enum result forget(struct actor_audit *audit, struct span execution_id)
{
    enum result result = apply(audit);
    if (result == RESULT_OK) {
        result = audit->options.index->ops->remove(audit->options.index, execution_id);
    }
    return result == RESULT_NOT_FOUND ? RESULT_OK : of_index(result);
}

static enum result take(struct actor_audit *audit, const struct proto_record *record)
{
    if (record->kind == PROTO_RECORD_FORGET) {
        return forget(audit, record->execution_id);
    }
    ASSERT(record->kind == PROTO_RECORD_AUDIT);
    if (audit->message_count == APPLY_MESSAGES || audit->message_bytes >= APPLY_BYTES) {
        enum result result = apply(audit);
        if (result != RESULT_OK) {
            return result;
        }
    }
    struct span copy = arena_copy(&audit->batch, record->body);
    if (copy.count != record->body.count) {
        audit->batch.overflowed = false;
        return RESULT_LIMIT;
    }
    audit->messages[audit->message_count++] = copy;
    audit->message_bytes += copy.count;
    return RESULT_OK;
}

static enum result take_rest(struct actor_audit *audit)
{
    while (audit->rest.count > 0) {
        struct span after = audit->rest;
        struct proto_record record;
        enum result result = record_read_only(&after, RECORD_KINDS, &record);
        if (result == RESULT_OK) {
            result = take(audit, &record);
            if (result != RESULT_OK) {
                return result;
            }
        } else if (result != RESULT_NOT_FOUND) {
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=audit position=%llu",
                     (unsigned long long)audit->read);
            after = SPAN_EMPTY;
        }
        audit->rest = after;
    }
    audit->read = audit->rest_position > audit->read ? audit->rest_position : audit->read;
    return RESULT_OK;
}

/* What is readable goes into the index: all of it, or (a slice) until one apply was made:
 * RESULT_AGAIN, there may be more. */
static enum result pump(struct actor_audit *audit, bool slice)
{
    const struct storage_journal_ops *ops = audit->options.log->ops;
    enum result result;
    audit->applies = 0;
    while ((result = take_rest(audit)) == RESULT_OK) {
        if (slice && audit->applies > 0) {
            return RESULT_AGAIN;
        }
        result = ops->reader_next(audit->reader, &audit->rest, &audit->rest_position);
        if (result == RESULT_CORRUPT) {
            audit->rest = SPAN_EMPTY;
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=audit position=%llu",
                     (unsigned long long)audit->read);
            continue;
        }
        if (result != RESULT_OK) {
            audit->rest = SPAN_EMPTY;
            audit->rest_position = audit->read;
            break;
        }
    }
    return result == RESULT_NOT_FOUND ? apply(audit) : result;
}

static void report(struct actor_audit *audit)
{
    struct proto_message *drained = message_new(PROTO_DRAINED, 0);
    if (drained == NULL) {
        return;
    }
    drained->as.drained = (struct proto_drained){
        .drain = PROTO_DRAIN_AUDIT, .durable = audit->durable, .read = audit->applied};
    if (audit->options.journal->send(audit->options.journal, &drained) != RESULT_OK) {
        message_free(drained);
    }
}

static uint64_t behind_bytes(const struct actor_audit *audit)
{
    return audit->options.log->ops->end(audit->options.log) - audit->read;
}

static void pump_and_plan(struct actor_audit *audit, struct actor_time now)
{
    uint64_t before = audit->applied;
    bool announced = audit->pump_ms != ACTOR_NEVER;
    actor_pace_begin(&audit->pace);
    enum result result = pump(audit, audit->drain.sink == NULL);
    actor_pace_end(&audit->pace, behind_bytes(audit), now.monotonic_ms);
    uint64_t rested_ms = actor_pace_until_ms(&audit->pace);
    if (result == RESULT_AGAIN) {
        audit->pump_ms = rested_ms > now.monotonic_ms ? rested_ms : now.monotonic_ms;
    } else if (result != RESULT_OK) {
        audit->pump_ms = now.monotonic_ms + RETRY_MS;
    } else if (audit->applied != before) {
        audit->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
    } else {
        audit->pump_ms = ACTOR_NEVER;
        if (announced) {
            report(audit);
        }
    }
    if (audit->applied != audit->durable && audit->flush_ms == ACTOR_NEVER) {
        audit->flush_ms = now.monotonic_ms + FLUSH_EVERY_MS;
    }
}

static void flush(struct actor_audit *audit, struct actor_time now)
{
    enum result result = audit->options.index->ops->flush(audit->options.index);
    if (result != RESULT_OK) {
        log_line(LOG_ERROR, "INDEX-NOT-FLUSHED", "reason=\"%s\"", result_text(result));
        audit->flush_ms = now.monotonic_ms + RETRY_MS;
        return;
    }
    audit->flush_ms = ACTOR_NEVER;
    audit->durable = audit->applied;
    report(audit);
}

/* ---- queries ---- */

static void answer_fetch(const struct proto_message *fetch, enum result result, struct span bytes)
{
    bytes = result == RESULT_OK ? bytes : SPAN_EMPTY;
    struct proto_message *fetched = message_new(PROTO_FETCHED, bytes.count);
    if (fetched == NULL) {
        log_line(LOG_CRITICAL, "AUDIT-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    fetched->as.fetched = (struct proto_fetched){.kind = fetch->as.fetch.kind,
                                                 .execution_id = fetch->as.fetch.execution_id,
                                                 .result = result,
                                                 .bytes = message_keep(fetched, bytes)};
    message_answer(fetch->reply_to, fetched);
}

static void fetch(struct actor_audit *audit, const struct proto_message *message)
{
    struct storage_index *index = audit->options.index;
    struct span id = execution_id_span(&message->as.fetch.execution_id);
    struct span bytes = SPAN_EMPTY;
    enum result result = RESULT_OK;
    if (message->as.fetch.kind != PROTO_FETCH_EXISTS) {
        result = pump(audit, false);
    }
    if (result == RESULT_OK && message->as.fetch.kind == PROTO_FETCH_LOGS) {
        result = index->ops->logs(index, id, 0, LOGS_MAX, &audit->arena, &bytes);
    } else if (result == RESULT_OK) {
        result = index->ops->row(index, id, &audit->arena, &bytes);
    }
    answer_fetch(message, result,
                 message->as.fetch.kind == PROTO_FETCH_EXISTS ? SPAN_EMPTY : bytes);
}

static void list(struct actor_audit *audit, const struct proto_message *request)
{
    struct storage_index *index = audit->options.index;
    struct span rows = SPAN_EMPTY;
    enum result result = pump(audit, false);
    if (result == RESULT_OK) {
        result = index->ops->list(index, request->as.request.body, &audit->arena, &rows);
    }
    if (result != RESULT_OK) {
        bool invalid = result == RESULT_INVALID;
        actor_reply_refuse_text(request, &audit->arena,
                                invalid ? PROTO_ERROR_InvalidRequest : PROTO_ERROR_StorageFailed,
                                invalid ? "a filter is malformed: since and endedBefore are "
                                          "RFC 3339, cursor comes from a reply"
                                        : "the index could not be read");
        return;
    }
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &audit->arena, rows.count + 64);
    size_t mark = actor_reply_open(&writer, &pairs);
    struct wire_map_walk walk = wire_map_begin(rows);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        wire_write_string(&writer, key);
        wire_write_value(&writer, value);
        pairs++;
    }
    struct proto_message *reply = actor_reply_new(request->as.request.spelling, true,
                                                  actor_reply_close(&writer, mark, pairs));
    if (reply != NULL) {
        message_answer(request->reply_to, reply);
    }
}

/* ---- the turn ---- */

static void receive(struct actor_audit *audit, struct proto_message *message, struct actor_time now)
{
    arena_clear(&audit->arena);
    if (message->type == PROTO_JOURNAL_ADVANCED) {
        if (audit->pump_ms == ACTOR_NEVER) {
            audit->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
        }
    } else if (message->type == PROTO_FETCH) {
        actor_count(&audit->counters.queries, 1);
        fetch(audit, message);
    } else if (message->type == PROTO_REQUEST) {
        ASSERT(message->as.request.operation == PROTO_OP_LIST);
        actor_count(&audit->counters.queries, 1);
        list(audit, message);
    } else {
        ASSERT(message->type == PROTO_DRAIN);
        audit->drain = message->reply_to;
    }
    message_free(message);
}

uint64_t actor_audit_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_audit *audit = BASE_CAST(actor_audit, argument, AUDIT_MAGIC);
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        receive(audit, message, now);
    }
    bool draining = audit->drain.sink != NULL && audit->pump_ms != now.monotonic_ms + RETRY_MS;
    if (audit->pump_ms <= now.monotonic_ms || draining) {
        pump_and_plan(audit, now);
    }
    if (audit->applied != audit->durable && (audit->flush_ms <= now.monotonic_ms || draining)) {
        flush(audit, now);
    }
    if (audit->probe_ms <= now.monotonic_ms) {
        probe(audit, now);
    }
    if (audit->drain.sink != NULL &&
        audit->durable == audit->options.log->ops->end(audit->options.log)) {
        struct proto_message *done = message_new(PROTO_DONE, 0);
        if (done != NULL) {
            message_answer(audit->drain, done);
        }
        audit->drain.sink = NULL;
    }
    uint64_t due_ms = audit->pump_ms < audit->flush_ms ? audit->pump_ms : audit->flush_ms;
    return due_ms < audit->probe_ms ? due_ms : audit->probe_ms;
}
