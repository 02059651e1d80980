/*
 * recovery.c: the tail of the journal is read once and kept by execution; then each live execution
 * is given to its shard with its newest snapshot, from the table or the tail, and the events after
 * it.
 */
#include "actors/recovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "actors/drain/state_drain.h"
#include "actors/recovery_positions.h"
#include "actors/table.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

/* What the tail says of one execution. */
struct trace {
    struct actor_link link;
    struct trace *next; /* all of them, in no order */
    struct span id;
    struct span
        snapshot; /* own memory: of the tail, or of the table's row when the tail has none */
    struct actor_recovered_events *events; /* own memory, each run too */
    size_t events_count;
    bool row_is_old; /* the table's row says less than the tail */
    bool ended;
    bool forgotten;
    uint64_t ended_position;
};

/* The newest record of a remembered request. */
struct request_trace {
    struct actor_link link;
    struct request_trace *next;
    struct proto_record record; /* spans in own memory */
};

/* A message of the tail or of the table. */
struct message_trace {
    struct actor_link link;
    struct message_trace *next;
    bool taken;
    struct proto_record record; /* spans in own memory */
};

struct recovering {
    const struct actor_recovery_options *options;
    struct actor_recovery *recovery;
    struct actor_table traces;
    struct trace *trace_list;
    struct actor_table requests;
    struct request_trace *request_list;
    struct actor_table messages;
    struct message_trace *message_list;
    uint32_t message_count;
    struct arena scratch;
    enum result result; /* of a scan's callback */
};

static struct actor_shard *shard_of(const struct recovering *recovering, struct span id)
{
    return recovering->options->shards[actor_shard_of(id, recovering->options->shard_count)];
}

static bool copy(struct span from, struct span *to)
{
    uint8_t *bytes = malloc(from.count + 1);
    if (bytes == NULL) {
        return false;
    }
    if (from.count > 0) {
        memcpy(bytes, from.bytes, from.count);
    }
    *to = span_of(bytes, from.count);
    return true;
}

static void drop(struct span *span)
{
    free((void *)span->bytes);
    *span = SPAN_EMPTY;
}

/* ---- definitions ---- */

static enum result add_to(struct actor_catalog *catalog, const struct proto_definition *definition,
                          int64_t at_ms)
{
    struct engine_report report;
    enum result result;
    if (span_is(definition->name, ACTOR_PROJECT_FILE)) {
        struct proto_project project;
        result = actor_project_read(definition->project, definition->content, &project);
        if (result != RESULT_OK) {
            return result;
        }
        result = actor_catalog_set_project(catalog, &project, &report);
    } else {
        result = actor_catalog_add(catalog, definition, at_ms, &report);
    }
    engine_report_release(&report);
    return result;
}

static enum result add_definition(struct recovering *recovering,
                                  const struct proto_definition *definition, int64_t at_ms)
{
    const struct actor_recovery_options *options = recovering->options;
    for (uint32_t i = 0; i <= options->shard_count; i++) {
        struct actor_catalog *catalog = i < options->shard_count
                                            ? actor_shard_catalog(options->shards[i])
                                            : actor_registry_catalog(options->registry);
        enum result result = add_to(catalog, definition, at_ms);
        if (result == RESULT_LIMIT) {
            return result;
        }
        if (result != RESULT_OK && result != RESULT_EXISTS && i == 0) {
            log_line(LOG_ERROR, "DEFINITION-NOT-RECOVERED",
                     "project=\"%.*s\" name=\"%.*s\" version=%u reason=\"%s\"",
                     SPAN_ARG(definition->project), SPAN_ARG(definition->name), definition->version,
                     result_text(result));
        }
    }
    return RESULT_OK;
}

static bool definition_row(void *owner, struct span key, struct span value)
{
    struct recovering *recovering = owner;
    struct proto_definition definition;
    int64_t at_ms;
    if (actor_definition_row_read(key, value, &definition, &at_ms) != RESULT_OK) {
        recovering->recovery->corrupt++;
        log_line(LOG_CRITICAL, "DEFINITION-ROW-CORRUPT", "key_bytes=%zu", key.count);
        return true;
    }
    recovering->result = add_definition(recovering, &definition, at_ms);
    return recovering->result == RESULT_OK;
}

static enum result definition_record(struct recovering *recovering,
                                     const struct proto_record *record)
{
    return add_definition(recovering,
                          &(struct proto_definition){.project = record->project_id,
                                                     .name = record->name,
                                                     .content = record->body,
                                                     .version = (uint32_t)record->number},
                          record->at_ms);
}

/* ---- firings of triggers ---- */

static bool trigger_row(void *owner, struct span key, struct span value)
{
    struct recovering *recovering = owner;
    struct proto_record record;
    if (actor_trigger_row_read(key, value, &record) != RESULT_OK) {
        recovering->recovery->corrupt++;
        log_line(LOG_CRITICAL, "TRIGGER-ROW-CORRUPT", "key_bytes=%zu", key.count);
        return true;
    }
    recovering->result = actor_registry_recover_firing(recovering->options->registry, &record);
    return recovering->result == RESULT_OK;
}

/* ---- the tail, by execution ---- */

static struct trace *find_trace(const struct recovering *recovering, struct span id)
{
    for (struct actor_link *link = actor_table_find(&recovering->traces, base_hash(id, 0));
         link != NULL; link = actor_table_again(link)) {
        struct trace *trace = ACTOR_OWNER(trace, link, link);
        if (span_equal(trace->id, id)) {
            return trace;
        }
    }
    return NULL;
}

static struct trace *trace_of(struct recovering *recovering, struct span id)
{
    struct trace *trace = find_trace(recovering, id);
    if (trace != NULL) {
        return trace;
    }
    trace = calloc(1, sizeof *trace);
    if (trace == NULL || !copy(id, &trace->id)) {
        free(trace);
        return NULL;
    }
    actor_table_add(&recovering->traces, &trace->link, base_hash(id, 0));
    trace->next = recovering->trace_list;
    recovering->trace_list = trace;
    return trace;
}

static void drop_events(struct trace *trace)
{
    for (size_t i = 0; i < trace->events_count; i++) {
        struct span run = trace->events[i].run;
        drop(&run);
    }
    free(trace->events);
    trace->events = NULL;
    trace->events_count = 0;
}

static enum result events_record(struct recovering *recovering, const struct proto_record *record)
{
    struct trace *trace = trace_of(recovering, record->execution_id);
    struct actor_recovered_events *events =
        trace == NULL ? NULL : realloc(trace->events, (trace->events_count + 1) * sizeof *events);
    if (events == NULL) {
        return RESULT_LIMIT;
    }
    trace->events = events;
    struct span run;
    if (!copy(record->body, &run)) {
        return RESULT_LIMIT;
    }
    trace->events[trace->events_count++] =
        (struct actor_recovered_events){.first = record->number, .run = run};
    trace->ended = trace->forgotten = false;
    return RESULT_OK;
}

static enum result snapshot_record(struct recovering *recovering, const struct proto_record *record,
                                   uint64_t position)
{
    struct trace *trace = trace_of(recovering, record->execution_id);
    if (trace == NULL) {
        return RESULT_LIMIT;
    }
    drop_events(trace);
    drop(&trace->snapshot);
    trace->row_is_old = true;
    trace->forgotten = false;
    trace->ended = (record->number & PROTO_SNAPSHOT_ENDED) != 0;
    trace->ended_position = position;
    return copy(record->body, &trace->snapshot) ? RESULT_OK : RESULT_LIMIT;
}

static enum result forget_record(struct recovering *recovering, const struct proto_record *record)
{
    struct trace *trace = trace_of(recovering, record->execution_id);
    if (trace == NULL) {
        return RESULT_LIMIT;
    }
    drop_events(trace);
    drop(&trace->snapshot);
    trace->row_is_old = trace->forgotten = true;
    return RESULT_OK;
}

/* ---- remembered requests ---- */

static struct request_trace *find_request(const struct recovering *recovering,
                                          const struct proto_record *record)
{
    uint64_t hash = base_hash(record->name, base_hash(record->workspace_id, 0));
    for (struct actor_link *link = actor_table_find(&recovering->requests, hash); link != NULL;
         link = actor_table_again(link)) {
        struct request_trace *trace = ACTOR_OWNER(request_trace, link, link);
        if (span_equal(trace->record.workspace_id, record->workspace_id) &&
            span_equal(trace->record.name, record->name)) {
            return trace;
        }
    }
    return NULL;
}

static enum result request_record(struct recovering *recovering, const struct proto_record *record)
{
    struct request_trace *trace = find_request(recovering, record);
    if (trace != NULL) {
        drop(&trace->record.body);
    } else {
        trace = calloc(1, sizeof *trace);
        if (trace == NULL || !copy(record->workspace_id, &trace->record.workspace_id) ||
            !copy(record->name, &trace->record.name)) {
            if (trace != NULL) {
                drop(&trace->record.workspace_id);
            }
            free(trace);
            return RESULT_LIMIT;
        }
        actor_table_add(&recovering->requests, &trace->link,
                        base_hash(record->name, base_hash(record->workspace_id, 0)));
        trace->next = recovering->request_list;
        recovering->request_list = trace;
    }
    trace->record.kind = PROTO_RECORD_REQUEST;
    trace->record.number = record->number;
    trace->record.at_ms = record->at_ms;
    return copy(record->body, &trace->record.body) ? RESULT_OK : RESULT_LIMIT;
}

static enum result recover_request(struct recovering *recovering, const struct proto_record *record)
{
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < recovering->options->shard_count && result == RESULT_OK; i++) {
        result = actor_shard_recover_request(recovering->options->shards[i], record,
                                             recovering->options->now);
    }
    return result;
}

static bool request_row(void *owner, struct span key, struct span value)
{
    struct recovering *recovering = owner;
    struct proto_record record;
    arena_clear(&recovering->scratch);
    if (actor_request_row_read(key, value, &recovering->scratch, &record) != RESULT_OK) {
        log_line(LOG_ERROR, "REQUEST-ROW-CORRUPT", "key_bytes=%zu", key.count);
        return true;
    }
    if (find_request(recovering, &record) == NULL) { /* else the tail knows better */
        recovering->result = recover_request(recovering, &record);
    }
    return recovering->result == RESULT_OK;
}

/* ---- messages ---- */

static struct message_trace *find_message(const struct recovering *recovering, struct span id)
{
    for (struct actor_link *link = actor_table_find(&recovering->messages, base_hash(id, 0));
         link != NULL; link = actor_table_again(link)) {
        struct message_trace *trace = ACTOR_OWNER(message_trace, link, link);
        if (span_equal(trace->record.name, id)) {
            return trace;
        }
    }
    return NULL;
}

static void drop_message(struct message_trace *trace)
{
    drop(&trace->record.name);
    drop(&trace->record.workspace_id);
    drop(&trace->record.project_id);
    drop(&trace->record.body);
    free(trace);
}

static struct message_trace *message_trace(struct recovering *recovering,
                                           const struct proto_record *record)
{
    struct message_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        return NULL;
    }
    trace->taken = record->kind == PROTO_RECORD_MESSAGE_TAKEN;
    trace->record.kind = record->kind;
    trace->record.at_ms = record->at_ms;
    if (!copy(record->name, &trace->record.name) ||
        !copy(record->workspace_id, &trace->record.workspace_id) ||
        !copy(record->project_id, &trace->record.project_id) ||
        !copy(record->body, &trace->record.body)) {
        drop_message(trace);
        return NULL;
    }
    actor_table_add(&recovering->messages, &trace->link, base_hash(trace->record.name, 0));
    trace->next = recovering->message_list;
    recovering->message_list = trace;
    recovering->message_count++;
    return trace;
}

/* Once taken, for ever: an id names one message. */
static enum result message_record(struct recovering *recovering, const struct proto_record *record)
{
    struct message_trace *trace = find_message(recovering, record->name);
    if (trace != NULL) {
        trace->taken = trace->taken || record->kind == PROTO_RECORD_MESSAGE_TAKEN;
        return RESULT_OK;
    }
    return message_trace(recovering, record) == NULL ? RESULT_LIMIT : RESULT_OK;
}

static bool message_row(void *owner, struct span key, struct span value)
{
    struct recovering *recovering = owner;
    struct proto_record record;
    if (actor_message_row_read(key, value, &record) != RESULT_OK) {
        recovering->recovery->corrupt++;
        log_line(LOG_CRITICAL, "MESSAGE-ROW-CORRUPT", "key_bytes=%zu", key.count);
        return true;
    }
    if (find_message(recovering, key) == NULL && message_trace(recovering, &record) == NULL) {
        recovering->result = RESULT_LIMIT;
    }
    return recovering->result == RESULT_OK;
}

static int64_t published_ms(const struct message_trace *trace)
{
    return wire_int_or(wire_at(trace->record.body, 3), 0);
}

static int by_time(const void *a, const void *b)
{
    const struct message_trace *const *first = a;
    const struct message_trace *const *second = b;
    int64_t first_ms = published_ms(*first);
    int64_t second_ms = published_ms(*second);
    return first_ms != second_ms ? (first_ms < second_ms ? -1 : 1)
                                 : span_compare((*first)->record.name, (*second)->record.name);
}

static enum result recover_messages(struct recovering *recovering)
{
    struct storage_state *state = recovering->options->state;
    enum result result =
        state->ops->scan(state, STORAGE_MESSAGES, SPAN_EMPTY, message_row, recovering);
    result = result == RESULT_OK ? recovering->result : result;
    struct message_trace **sorted =
        calloc((size_t)recovering->message_count + 1, sizeof(struct message_trace *));
    if (sorted == NULL) {
        return RESULT_LIMIT;
    }
    uint32_t count = 0;
    for (struct message_trace *trace = recovering->message_list; trace != NULL;
         trace = trace->next) {
        if (!trace->taken) {
            sorted[count++] = trace;
        }
    }
    qsort(sorted, count, sizeof(struct message_trace *), by_time);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < recovering->options->shard_count && result == RESULT_OK; k++) {
            result =
                actor_shard_recover_message(recovering->options->shards[k], &sorted[i]->record);
        }
    }
    free(sorted);
    return result;
}

/* ---- reading the tail ---- */

static enum result read_record(struct recovering *recovering, const struct proto_record *record,
                               uint64_t position)
{
    switch (record->kind) {
    case PROTO_RECORD_EVENTS:
        return events_record(recovering, record);
    case PROTO_RECORD_SNAPSHOT:
        return snapshot_record(recovering, record, position);
    case PROTO_RECORD_FORGET:
        return forget_record(recovering, record);
    case PROTO_RECORD_REQUEST:
        return request_record(recovering, record);
    case PROTO_RECORD_DEFINITION:
        return definition_record(recovering, record);
    case PROTO_RECORD_MESSAGE:
    case PROTO_RECORD_MESSAGE_TAKEN:
        return message_record(recovering, record);
    case PROTO_RECORD_TRIGGER:
        return actor_registry_recover_firing(recovering->options->registry, record);
    case PROTO_RECORD_NONE:
    case PROTO_RECORD_STEP:
    case PROTO_RECORD_AUDIT:
        return RESULT_OK;
    }
    ASSERT_UNREACHABLE();
}

static void corrupt_batch(struct recovering *recovering, uint64_t position)
{
    recovering->recovery->corrupt++;
    log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=recovery position=%llu",
             (unsigned long long)position);
}

static enum result read_batch(struct recovering *recovering, struct span batch, uint64_t position)
{
    struct proto_record record;
    enum result result;
    while ((result = record_read(&batch, &record)) == RESULT_OK) {
        enum result taken = read_record(recovering, &record, position);
        if (taken != RESULT_OK) {
            return taken;
        }
    }
    if (result == RESULT_CORRUPT) {
        corrupt_batch(recovering, position);
    }
    return RESULT_OK;
}

static enum result read_tail(struct recovering *recovering, uint64_t position)
{
    struct storage_journal *log = recovering->options->log;
    struct storage_journal_reader *reader;
    enum result result = log->ops->reader_open(log, position, &reader);
    if (result != RESULT_OK) {
        return result;
    }
    do {
        struct span batch;
        result = log->ops->reader_next(reader, &batch, &position);
        if (result == RESULT_CORRUPT) {
            corrupt_batch(recovering, position);
            result = RESULT_OK;
        } else if (result == RESULT_OK) {
            result = read_batch(recovering, batch, position);
        }
    } while (result == RESULT_OK);
    log->ops->reader_close(reader);
    return result == RESULT_NOT_FOUND ? RESULT_OK : result;
}

/* ---- giving them to the shards ---- */

static bool execution_row(void *owner, struct span key, struct span value)
{
    struct recovering *recovering = owner;
    struct trace *trace = find_trace(recovering, key);
    if (trace == NULL) {
        recovering->result =
            actor_shard_recover(shard_of(recovering, key),
                                &(struct actor_recovered){.execution_id = key, .snapshot = value},
                                recovering->options->now, recovering->recovery);
    } else if (!trace->row_is_old && !copy(value, &trace->snapshot)) {
        recovering->result = RESULT_LIMIT;
    }
    return recovering->result == RESULT_OK;
}

static enum result recover_trace(struct recovering *recovering, const struct trace *trace,
                                 uint64_t indexed)
{
    struct actor_shard *shard = shard_of(recovering, trace->id);
    if (trace->forgotten) {
        return RESULT_OK;
    }
    if (!trace->ended) {
        return actor_shard_recover(shard,
                                   &(struct actor_recovered){.execution_id = trace->id,
                                                             .snapshot = trace->snapshot,
                                                             .events = trace->events,
                                                             .events_count = trace->events_count},
                                   recovering->options->now, recovering->recovery);
    }
    return trace->ended_position > indexed
               ? actor_shard_recover_ended(shard, trace->id, trace->ended_position)
               : RESULT_OK;
}

static enum result recover_all(struct recovering *recovering, uint64_t indexed)
{
    struct storage_state *state = recovering->options->state;
    enum result result =
        state->ops->scan(state, STORAGE_EXECUTIONS, SPAN_EMPTY, execution_row, recovering);
    if (result == RESULT_OK) {
        result = recovering->result;
    }
    for (struct trace *trace = recovering->trace_list; trace != NULL && result == RESULT_OK;
         trace = trace->next) {
        result = recover_trace(recovering, trace, indexed);
    }
    if (result == RESULT_OK) {
        result = state->ops->scan(state, STORAGE_REQUESTS, SPAN_EMPTY, request_row, recovering);
    }
    if (result == RESULT_OK) {
        result = recovering->result;
    }
    for (struct request_trace *trace = recovering->request_list;
         trace != NULL && result == RESULT_OK; trace = trace->next) {
        result = recover_request(recovering, &trace->record);
    }
    return result;
}

/* ---- all of it ---- */

static void release(struct recovering *recovering)
{
    while (recovering->trace_list != NULL) {
        struct trace *trace = recovering->trace_list;
        recovering->trace_list = trace->next;
        drop_events(trace);
        drop(&trace->snapshot);
        drop(&trace->id);
        free(trace);
    }
    while (recovering->request_list != NULL) {
        struct request_trace *trace = recovering->request_list;
        recovering->request_list = trace->next;
        drop(&trace->record.workspace_id);
        drop(&trace->record.name);
        drop(&trace->record.body);
        free(trace);
    }
    while (recovering->message_list != NULL) {
        struct message_trace *trace = recovering->message_list;
        recovering->message_list = trace->next;
        drop_message(trace);
    }
    actor_table_release(&recovering->messages);
    actor_table_release(&recovering->traces);
    actor_table_release(&recovering->requests);
    arena_release(&recovering->scratch);
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

enum result actor_recover(const struct actor_recovery_options *options,
                          struct actor_recovery *recovery, struct actor_positions *positions,
                          char error[256])
{
    uint64_t begin_us = now_us();
    *recovery = (struct actor_recovery){0};
    struct recovering recovering = {.options = options, .recovery = recovery};
    actor_table_init(&recovering.traces);
    actor_table_init(&recovering.requests);
    actor_table_init(&recovering.messages);
    arena_init(&recovering.scratch, 4096, LIMIT_FRAME_BYTES * 4ul);
    const char *what = "the drains' positions";
    enum result result = actor_recover_positions(options, positions);
    if (result == RESULT_OK) {
        what = "the definitions";
        result = options->state->ops->scan(options->state, STORAGE_DEFINITIONS, SPAN_EMPTY,
                                           definition_row, &recovering);
        result = result == RESULT_OK ? recovering.result : result;
    }
    if (result == RESULT_OK) {
        what = "the triggers";
        result = options->state->ops->scan(options->state, STORAGE_TRIGGERS, SPAN_EMPTY,
                                           trigger_row, &recovering);
        result = result == RESULT_OK ? recovering.result : result;
    }
    if (result == RESULT_OK) {
        what = "the journal";
        result = read_tail(&recovering, positions->at[PROTO_DRAIN_STATE]);
    }
    if (result == RESULT_OK) {
        what = "the executions";
        result = recover_all(&recovering, positions->at[PROTO_DRAIN_AUDIT]);
    }
    for (uint32_t i = 0; i < options->shard_count && result == RESULT_OK; i++) {
        actor_shard_recover_sessions(options->shards[i], options->shards);
    }
    if (result == RESULT_OK) {
        what = "the messages";
        result = recover_messages(&recovering);
    }
    if (result != RESULT_OK) {
        snprintf(error, 256, "%s could not be read: %s", what, result_text(result));
    }
    release(&recovering);
    recovery->elapsed_us = now_us() - begin_us;
    return result;
}
