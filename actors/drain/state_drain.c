/*
 * state_drain.c: record by record into the fold; the fold into the table, once a second or when it
 * is large.
 */
#include "actors/drain/state_drain.h"

#include <stdlib.h>

#include "actors/shard/shard.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum {
    FOLD_BYTES_FLUSH = 32 << 20,
    SLICE_BYTES = 1 << 20,
    HOLDS_BACK_BYTES = 64 << 20, /* an open segment this far behind is asked for a snapshot */
    HOLDS_BACK_MS = 30000,       /* ... or this long after its first event */
    REQUEST_ID_IN_KEY_MAX = 256, /* longer ones stand in the row, and their hash in the key */
};
#define FOLD_BYTES_MAX ((size_t)2 << 30)

/* Steps and audit messages say nothing about what an execution is now. */
#define RECORD_KINDS                                                                               \
    (PROTO_RECORD_BIT(PROTO_RECORD_EVENTS) | PROTO_RECORD_BIT(PROTO_RECORD_SNAPSHOT) |             \
     PROTO_RECORD_BIT(PROTO_RECORD_REQUEST) | PROTO_RECORD_BIT(PROTO_RECORD_DEFINITION) |          \
     PROTO_RECORD_BIT(PROTO_RECORD_FORGET) | PROTO_RECORD_BIT(PROTO_RECORD_MESSAGE) |              \
     PROTO_RECORD_BIT(PROTO_RECORD_MESSAGE_TAKEN) | PROTO_RECORD_BIT(PROTO_RECORD_TRIGGER))

/* An execution with events after its last snapshot, or without one. */
struct open_segment {
    struct actor_link link;
    struct open_segment *older, *newer; /* by position */
    uint64_t position;                  /* before its first event */
    uint64_t asked_ms;                  /* monotonic: opened, then last asked */
    uint8_t id_bytes;
    char id[];
};

struct remembered_key {
    struct remembered_key *newer;
    int64_t at_ms;
    uint32_t bytes;
    uint8_t key[];
};

struct actor_state_drain {
    struct actor_state_drain_options options;
    struct storage_journal_reader *reader;
    struct actor_fold fold;
    struct arena scratch;
    uint64_t read;
    uint64_t flushed; /* `read` at the last flush */
    struct actor_table open;
    struct open_segment *open_oldest, *open_newest;
    struct remembered_key *keys_oldest, *keys_newest;
    uint32_t keys_count;
    uint64_t now_ms; /* monotonic, of the pump */
    struct actor_state_drain_counters counters;
};

/* ---- rows ---- */

static void write_be(uint8_t *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    }
}

static uint64_t read_be(const uint8_t *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value = value << 8 | in[i];
    }
    return value;
}

enum result actor_position_read(struct storage_state *state, const char *drain, uint64_t *position)
{
    struct arena arena;
    arena_init(&arena, 256, 1024);
    struct span value;
    *position = 0;
    enum result result =
        state->ops->get(state, STORAGE_POSITIONS, span_text(drain), &arena, &value);
    if (result == RESULT_OK && value.count == 8) {
        *position = read_be(value.bytes, 8);
    } else if (result == RESULT_OK) {
        result = RESULT_CORRUPT;
    }
    arena_release(&arena);
    return result == RESULT_NOT_FOUND ? RESULT_OK : result;
}

static enum result put_position(struct actor_state_drain *drain, const char *name,
                                uint64_t position)
{
    uint8_t bytes[8];
    write_be(bytes, position, 8);
    return actor_fold_put(&drain->fold, STORAGE_POSITIONS, span_text(name),
                          span_of(bytes, sizeof bytes));
}

static struct span join_key(struct arena *arena, struct span first, struct span second)
{
    const struct span parts[] = {first, span_of("", 1), second};
    return arena_join(arena, parts, sizeof parts / sizeof parts[0]);
}

static bool split_key(struct span key, struct span *first, struct span *rest)
{
    const uint8_t *nul = key.count == 0 ? NULL : memchr(key.bytes, 0, key.count);
    if (nul == NULL) {
        return false;
    }
    *first = span_of(key.bytes, (size_t)(nul - key.bytes));
    *rest = span_of(nul + 1, key.count - first->count - 1);
    return true;
}

enum result actor_request_row_read(struct span key, struct span value, struct arena *arena,
                                   struct proto_record *out)
{
    *out = (struct proto_record){.kind = PROTO_RECORD_REQUEST};
    struct span hash = wire_at(value, 0);
    uint32_t count = wire_count(value);
    if ((count != 4 && count != 5) || !split_key(key, &out->workspace_id, &out->name)) {
        return RESULT_CORRUPT;
    }
    if (count == 5) {
        out->name = wire_string_or(wire_at(value, 4), "");
    }
    out->number = wire_is(hash, WIRE_UINT) ? wire_head(hash).as.unsigned_integer
                                           : (uint64_t)wire_int_or(hash, 0);
    out->at_ms = wire_int_or(wire_at(value, 1), 0);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, value.count + 8);
    wire_write_array(&writer, 2);
    wire_write_value(&writer, wire_at(value, 2));
    wire_write_value(&writer, wire_at(value, 3));
    out->body = wire_writer_span(&writer);
    return out->body.count == 0 ? RESULT_LIMIT : RESULT_OK;
}

enum result actor_definition_row_read(struct span key, struct span value,
                                      struct proto_definition *out, int64_t *at_ms)
{
    struct span rest;
    struct span version;
    *out = (struct proto_definition){0};
    if (!split_key(key, &out->project, &rest) || !split_key(rest, &out->name, &version) ||
        version.count != 4 || wire_count(value) != 2 || !wire_is(wire_at(value, 1), WIRE_BINARY)) {
        return RESULT_CORRUPT;
    }
    out->version = (uint32_t)read_be(version.bytes, 4);
    out->content = wire_head(wire_at(value, 1)).as.text;
    *at_ms = wire_int_or(wire_at(value, 0), 0);
    return out->version == 0 ? RESULT_CORRUPT : RESULT_OK;
}

/* ---- open segments ---- */

static struct open_segment *find_open(const struct actor_state_drain *drain, struct span id)
{
    for (struct actor_link *link = actor_table_find(&drain->open, base_hash(id, 0)); link != NULL;
         link = actor_table_again(link)) {
        struct open_segment *segment = ACTOR_OWNER(open_segment, link, link);
        if (span_equal(span_of(segment->id, segment->id_bytes), id)) {
            return segment;
        }
    }
    return NULL;
}

static enum result open_segment(struct actor_state_drain *drain, struct span id, uint64_t position)
{
    if (find_open(drain, id) != NULL) {
        return RESULT_OK;
    }
    if (id.count > LIMIT_ID_BYTES) {
        return RESULT_OK; /* no id of ours: corrupt, and recovery says so */
    }
    struct open_segment *segment = malloc(sizeof *segment + id.count);
    if (segment == NULL) {
        return RESULT_LIMIT;
    }
    *segment = (struct open_segment){.older = drain->open_newest,
                                     .position = position,
                                     .asked_ms = drain->now_ms,
                                     .id_bytes = (uint8_t)id.count};
    memcpy(segment->id, id.bytes, id.count);
    actor_table_add(&drain->open, &segment->link, base_hash(id, 0));
    *(drain->open_newest == NULL ? &drain->open_oldest : &drain->open_newest->newer) = segment;
    drain->open_newest = segment;
    return RESULT_OK;
}

static void close_segment(struct actor_state_drain *drain, struct span id)
{
    struct open_segment *segment = find_open(drain, id);
    if (segment == NULL) {
        return;
    }
    actor_table_remove(&drain->open, &segment->link);
    *(segment->older == NULL ? &drain->open_oldest : &segment->older->newer) = segment->newer;
    *(segment->newer == NULL ? &drain->open_newest : &segment->newer->older) = segment->older;
    free(segment);
}

static void ask_for_snapshots(struct actor_state_drain *drain)
{
    for (struct open_segment *segment = drain->open_oldest; segment != NULL;
         segment = segment->newer) {
        bool long_open = drain->now_ms - segment->asked_ms >= HOLDS_BACK_MS;
        bool far_behind = drain->read - segment->position >= HOLDS_BACK_BYTES &&
                          drain->now_ms - segment->asked_ms >= HOLDS_BACK_MS / 30;
        if (!long_open && !far_behind) {
            continue;
        }
        struct span id = span_of(segment->id, segment->id_bytes);
        struct proto_message *ask = message_new(PROTO_INTERIM, 0);
        if (ask == NULL || execution_id_parse(id, &ask->as.execution_id) != RESULT_OK) {
            message_free(ask);
            return;
        }
        segment->asked_ms = drain->now_ms;
        actor_count(&drain->counters.interims_asked, 1);
        struct proto_sink *shard =
            drain->options.shards[actor_shard_of(id, drain->options.shard_count)];
        if (shard->send(shard, &ask) != RESULT_OK) {
            message_free(ask);
        }
    }
}

/* ---- remembered requests: as many as the shards keep, as long as they keep them ---- */

static enum result drop_oldest_key(struct actor_state_drain *drain)
{
    struct remembered_key *oldest = drain->keys_oldest;
    enum result result =
        actor_fold_remove(&drain->fold, STORAGE_REQUESTS, span_of(oldest->key, oldest->bytes));
    if (result == RESULT_OK) {
        drain->keys_oldest = oldest->newer;
        drain->keys_count--;
        free(oldest);
    }
    return result;
}

static enum result note_key(struct actor_state_drain *drain, struct span key, int64_t at_ms)
{
    struct remembered_key *noted = malloc(sizeof *noted + key.count);
    if (noted == NULL) {
        return RESULT_LIMIT;
    }
    *noted = (struct remembered_key){.at_ms = at_ms, .bytes = (uint32_t)key.count};
    memcpy(noted->key, key.bytes, key.count);
    *(drain->keys_oldest == NULL ? &drain->keys_oldest : &drain->keys_newest->newer) = noted;
    drain->keys_newest = noted;
    drain->keys_count++;
    return drain->keys_count > drain->options.requests_max ? drop_oldest_key(drain) : RESULT_OK;
}

static enum result expire_keys(struct actor_state_drain *drain, int64_t now_ms)
{
    enum result result = RESULT_OK;
    while (result == RESULT_OK && drain->keys_oldest != NULL &&
           now_ms - drain->keys_oldest->at_ms >= (int64_t)LIMIT_REQUEST_KEPT_MS) {
        result = drop_oldest_key(drain);
    }
    return result;
}

static bool note_row(void *owner, struct span key, struct span value)
{
    return note_key(owner, key, wire_int_or(wire_at(value, 1), 0)) == RESULT_OK;
}

/* ---- folding ---- */

static enum result fold_snapshot(struct actor_state_drain *drain, const struct proto_record *record)
{
    struct span id = record->execution_id;
    close_segment(drain, id);
    if ((record->number & PROTO_SNAPSHOT_ENDED) == 0) {
        return actor_fold_put(&drain->fold, STORAGE_EXECUTIONS, id, record->body);
    }
    if ((record->number & PROTO_SNAPSHOT_FIRST) != 0) {
        actor_fold_cancel(&drain->fold, STORAGE_EXECUTIONS, id);
        return RESULT_OK;
    }
    return actor_fold_remove(&drain->fold, STORAGE_EXECUTIONS, id);
}

static enum result fold_request(struct actor_state_drain *drain, const struct proto_record *record)
{
    struct actor_remembered_body body;
    if (actor_remembered_body_read(record->body, &body) != RESULT_OK ||
        record->workspace_id.count > LIMIT_ID_BYTES ||
        record->name.count > LIMIT_REQUEST_ID_BYTES) {
        return RESULT_OK; /* nobody can be answered by it */
    }
    arena_clear(&drain->scratch);
    bool long_id = record->name.count > REQUEST_ID_IN_KEY_MAX;
    uint8_t hash[16];
    base_hash_128(record->name, 0, hash);
    struct span key = join_key(&drain->scratch, record->workspace_id,
                               long_id ? span_of(hash, sizeof hash) : record->name);
    struct wire_writer writer;
    wire_writer_init(&writer, &drain->scratch, record->body.count + record->name.count + 64);
    wire_write_array(&writer, long_id ? 5 : 4);
    wire_write_uint(&writer, record->number);
    wire_write_int(&writer, record->at_ms);
    wire_write_string(&writer, body.execution_id);
    wire_write_value(&writer, body.reply);
    if (long_id) {
        wire_write_string(&writer, record->name);
    }
    struct span value = wire_writer_span(&writer);
    if (key.count == 0 || value.count == 0) {
        return RESULT_LIMIT;
    }
    enum result result = actor_fold_put(&drain->fold, STORAGE_REQUESTS, key, value);
    return result == RESULT_OK && body.reply.count > 0 ? note_key(drain, key, record->at_ms)
                                                       : result;
}

static enum result fold_definition(struct actor_state_drain *drain,
                                   const struct proto_record *record)
{
    arena_clear(&drain->scratch);
    uint8_t version[4];
    write_be(version, record->number, sizeof version);
    struct span key = join_key(&drain->scratch, record->project_id, record->name);
    key = join_key(&drain->scratch, key, span_of(version, sizeof version));
    struct wire_writer writer;
    wire_writer_init(&writer, &drain->scratch, record->body.count + 32);
    wire_write_array(&writer, 2);
    wire_write_int(&writer, record->at_ms);
    wire_write_binary(&writer, record->body);
    struct span value = wire_writer_span(&writer);
    return key.count == 0 || value.count == 0
               ? RESULT_LIMIT
               : actor_fold_put(&drain->fold, STORAGE_DEFINITIONS, key, value);
}

enum result actor_message_row_read(struct span key, struct span value, struct proto_record *out)
{
    *out = (struct proto_record){.kind = PROTO_RECORD_MESSAGE,
                                 .name = key,
                                 .workspace_id = wire_string_or(wire_at(value, 0), ""),
                                 .project_id = wire_string_or(wire_at(value, 1), ""),
                                 .at_ms = wire_int_or(wire_at(value, 2), 0),
                                 .body = wire_at(value, 3)};
    return wire_count(value) == 4 && wire_count(out->body) == 4 ? RESULT_OK : RESULT_CORRUPT;
}

static enum result fold_message(struct actor_state_drain *drain, const struct proto_record *record)
{
    if (record->name.count == 0 || record->name.count > LIMIT_MESSAGE_ID_BYTES) {
        return RESULT_OK; /* no id of ours: corrupt, and recovery says so */
    }
    if (record->kind == PROTO_RECORD_MESSAGE_TAKEN) {
        return actor_fold_remove(&drain->fold, STORAGE_MESSAGES, record->name);
    }
    arena_clear(&drain->scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, &drain->scratch, record->body.count + 320);
    wire_write_array(&writer, 4);
    wire_write_string(&writer, record->workspace_id);
    wire_write_string(&writer, record->project_id);
    wire_write_int(&writer, record->at_ms);
    wire_write_value(&writer, record->body);
    struct span value = wire_writer_span(&writer);
    return value.count == 0 ? RESULT_LIMIT
                            : actor_fold_put(&drain->fold, STORAGE_MESSAGES, record->name, value);
}

enum result actor_trigger_row_read(struct span key, struct span value, struct proto_record *out)
{
    *out = (struct proto_record){.kind = PROTO_RECORD_TRIGGER,
                                 .name = wire_string_or(wire_at(value, 0), ""),
                                 .number = (uint64_t)wire_int_or(wire_at(value, 1), 0),
                                 .at_ms = wire_int_or(wire_at(value, 2), 0),
                                 .body = wire_at(value, 3)};
    struct span hash;
    return split_key(key, &out->project_id, &hash) && wire_count(value) == 4 &&
                   wire_count(out->body) == 4
               ? RESULT_OK
               : RESULT_CORRUPT;
}

/* One row a trigger, whatever its version: its newest firing. */
static enum result fold_trigger(struct actor_state_drain *drain, const struct proto_record *record)
{
    uint8_t hash[16];
    struct span trigger = wire_string_or(wire_at(record->body, 0), "");
    if (!id_is_valid(record->project_id)) {
        return RESULT_OK; /* corrupt, and recovery says so */
    }
    arena_clear(&drain->scratch);
    base_hash_128(join_key(&drain->scratch, record->name, trigger), 0, hash);
    struct span key = join_key(&drain->scratch, record->project_id, span_of(hash, sizeof hash));
    struct wire_writer writer;
    wire_writer_init(&writer, &drain->scratch, record->name.count + record->body.count + 32);
    wire_write_array(&writer, 4);
    wire_write_string(&writer, record->name);
    wire_write_uint(&writer, record->number);
    wire_write_int(&writer, record->at_ms);
    wire_write_value(&writer, record->body);
    struct span value = wire_writer_span(&writer);
    return key.count == 0 || value.count == 0
               ? RESULT_LIMIT
               : actor_fold_put(&drain->fold, STORAGE_TRIGGERS, key, value);
}

static enum result fold_record(struct actor_state_drain *drain, const struct proto_record *record,
                               uint64_t batch_begin)
{
    switch (record->kind) {
    case PROTO_RECORD_EVENTS:
        return open_segment(drain, record->execution_id, batch_begin);
    case PROTO_RECORD_SNAPSHOT:
        return fold_snapshot(drain, record);
    case PROTO_RECORD_REQUEST:
        return fold_request(drain, record);
    case PROTO_RECORD_DEFINITION:
        return fold_definition(drain, record);
    case PROTO_RECORD_MESSAGE:
    case PROTO_RECORD_MESSAGE_TAKEN:
        return fold_message(drain, record);
    case PROTO_RECORD_TRIGGER:
        return fold_trigger(drain, record);
    case PROTO_RECORD_FORGET:
        close_segment(drain, record->execution_id);
        return actor_fold_remove(&drain->fold, STORAGE_EXECUTIONS, record->execution_id);
    case PROTO_RECORD_NONE:
    case PROTO_RECORD_STEP:
    case PROTO_RECORD_AUDIT:
        break;
    }
    ASSERT_UNREACHABLE();
}

static enum result fold_batch(struct actor_state_drain *drain, struct span batch)
{
    struct proto_record record;
    enum result result;
    while ((result = record_read_only(&batch, RECORD_KINDS, &record)) == RESULT_OK) {
        actor_count(&drain->counters.records, 1);
        enum result folded = fold_record(drain, &record, drain->read);
        if (folded != RESULT_OK) {
            return folded;
        }
    }
    if (result == RESULT_CORRUPT) {
        actor_count(&drain->counters.corrupt, 1);
        log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=state position=%llu",
                 (unsigned long long)drain->read);
    }
    return RESULT_OK;
}

static enum result open_reader(struct actor_state_drain *drain)
{
    struct storage_journal *log = drain->options.log;
    if (drain->reader != NULL) {
        log->ops->reader_close(drain->reader);
        drain->reader = NULL;
    }
    return log->ops->reader_open(log, drain->read, &drain->reader);
}

enum result actor_state_drain_pump(struct actor_state_drain *drain, struct actor_time now,
                                   bool slice)
{
    drain->now_ms = now.monotonic_ms;
    const struct storage_journal_ops *ops = drain->options.log->ops;
    uint64_t slice_end = slice ? drain->read + SLICE_BYTES : UINT64_MAX;
    while (drain->read < slice_end) {
        struct span batch;
        uint64_t position = drain->read;
        enum result result = ops->reader_next(drain->reader, &batch, &position);
        if (result == RESULT_NOT_FOUND) {
            return RESULT_OK;
        }
        if (result == RESULT_CORRUPT) {
            actor_count(&drain->counters.corrupt, 1);
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=state position=%llu",
                     (unsigned long long)drain->read);
            drain->read = position;
            continue;
        }
        if (result != RESULT_OK) {
            return result;
        }
        enum result folded = fold_batch(drain, batch);
        if (folded != RESULT_OK) {
            /* No memory: what is folded stays true, and the batch is read again when a flush has
             * made room. */
            enum result reopened = open_reader(drain);
            return reopened == RESULT_OK ? folded : reopened;
        }
        drain->read = position;
    }
    return RESULT_AGAIN;
}

uint64_t actor_state_drain_read(const struct actor_state_drain *drain)
{
    return drain->read;
}

bool actor_state_drain_dirty(const struct actor_state_drain *drain)
{
    return drain->read != drain->flushed || drain->fold.count > 0;
}

bool actor_state_drain_heavy(const struct actor_state_drain *drain)
{
    return actor_fold_bytes(&drain->fold) >= FOLD_BYTES_FLUSH;
}

enum result actor_state_drain_flush(struct actor_state_drain *drain, uint64_t blob_position,
                                    struct actor_time now, uint64_t *position)
{
    uint64_t safe = drain->open_oldest == NULL ? drain->read : drain->open_oldest->position;
    ASSERT(safe <= drain->read);
    enum result result = expire_keys(drain, now.unix_ms);
    if (result == RESULT_OK) {
        result = put_position(drain, ACTOR_POSITION_STATE, safe);
    }
    if (result == RESULT_OK) {
        result = put_position(drain, ACTOR_POSITION_BLOB, blob_position);
    }
    if (result == RESULT_OK) {
        result = actor_fold_apply(&drain->fold, drain->options.state);
    }
    if (result == RESULT_OK) {
        result = drain->options.state->ops->flush(drain->options.state);
    }
    if (result != RESULT_OK) {
        actor_count(&drain->counters.failures, 1);
        return result;
    }
    actor_count(&drain->counters.flushes, 1);
    drain->flushed = drain->read;
    *position = safe;
    ask_for_snapshots(drain);
    return RESULT_OK;
}

enum result actor_state_drain_keep_bus(struct actor_state_drain *drain, uint64_t position)
{
    return put_position(drain, ACTOR_POSITION_BUS, position);
}

enum result actor_state_drain_get(struct actor_state_drain *drain, struct span execution_id,
                                  struct arena *arena, struct span *out)
{
    const struct storage_change *change =
        actor_fold_find(&drain->fold, STORAGE_EXECUTIONS, execution_id);
    if (change == NULL) {
        return drain->options.state->ops->get(drain->options.state, STORAGE_EXECUTIONS,
                                              execution_id, arena, out);
    }
    *out = change->value; /* until the next flush */
    return change->remove ? RESULT_NOT_FOUND : RESULT_OK;
}

const struct actor_state_drain_counters *
actor_state_drain_counters(const struct actor_state_drain *drain)
{
    return &drain->counters;
}

enum result actor_state_drain_new(const struct actor_state_drain_options *options,
                                  struct actor_state_drain **out)
{
    struct actor_state_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL) {
        return RESULT_LIMIT;
    }
    drain->options = *options;
    drain->read = drain->flushed = options->position;
    actor_fold_init(&drain->fold, FOLD_BYTES_MAX);
    arena_init(&drain->scratch, 4096, LIMIT_FRAME_BYTES * 4ul);
    actor_table_init(&drain->open);
    enum result result = open_reader(drain);
    if (result == RESULT_OK) {
        result = options->state->ops->scan(options->state, STORAGE_REQUESTS, SPAN_EMPTY, note_row,
                                           drain);
    }
    if (result != RESULT_OK) {
        actor_state_drain_free(drain);
        return result;
    }
    *out = drain;
    return RESULT_OK;
}

void actor_state_drain_free(struct actor_state_drain *drain)
{
    if (drain == NULL) {
        return;
    }
    if (drain->reader != NULL) {
        drain->options.log->ops->reader_close(drain->reader);
    }
    while (drain->open_oldest != NULL) {
        struct open_segment *segment = drain->open_oldest;
        close_segment(drain, span_of(segment->id, segment->id_bytes));
    }
    actor_table_release(&drain->open);
    while (drain->keys_oldest != NULL) {
        struct remembered_key *key = drain->keys_oldest;
        drain->keys_oldest = key->newer;
        free(key);
    }
    actor_fold_release(&drain->fold);
    arena_release(&drain->scratch);
    free(drain);
}
