/*
 * pending.c: an open hash table of (hash of the name, position of the batch that has its newest
 * version). Invariants: places whose position lies before `stored` count for nothing; where a name
 * could not be entered, `blind` is behind its batch, and until the drain has passed that nothing is
 * known. Two names of one hash share a place: the batch then does not have the one that is asked
 * for, and the answer is UNKNOWN.
 */
#include "actors/drain/pending.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/record.h"

enum { PLACES_FIRST = 1024 };

#define RECORD_KINDS                                                                               \
    (PROTO_RECORD_BIT(PROTO_RECORD_STEP) | PROTO_RECORD_BIT(PROTO_RECORD_SNAPSHOT) |               \
     PROTO_RECORD_BIT(PROTO_RECORD_FORGET))

struct place {
    uint64_t hash; /* 0: empty */
    uint64_t batch;
};

struct actor_pending {
    struct actor_pending_options options;
    uint64_t stored;
    uint64_t read;
    uint64_t blind;
    struct place *places; /* NULL: none yet */
    uint32_t place_count; /* a power of two */
    uint32_t used;
};

enum result actor_pending_new(const struct actor_pending_options *options,
                              struct actor_pending **out)
{
    ASSERT((options->names_max & (options->names_max - 1)) == 0);
    struct actor_pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) {
        return RESULT_LIMIT;
    }
    pending->options = *options;
    pending->stored = pending->read = options->position;
    *out = pending;
    return RESULT_OK;
}

void actor_pending_free(struct actor_pending *pending)
{
    if (pending != NULL) {
        free(pending->places);
        free(pending);
    }
}

/* A table that a long queue has made large is not kept: to wipe it would cost more than to grow. */
static void empty(struct actor_pending *pending)
{
    if (pending->place_count > PLACES_FIRST) {
        free(pending->places);
        pending->places = NULL;
        pending->place_count = 0;
    } else if (pending->used > 0) {
        memset(pending->places, 0, pending->place_count * sizeof *pending->places);
    }
    pending->used = 0;
}

void actor_pending_passed(struct actor_pending *pending, uint64_t stored)
{
    ASSERT(stored >= pending->stored);
    pending->stored = stored;
    if (pending->read <= stored) { /* nothing lies between: all places are out of date */
        pending->read = stored;
        empty(pending);
    }
}

uint64_t actor_pending_known(const struct actor_pending *pending)
{
    return pending->blind > pending->stored ? pending->stored : pending->read;
}

/* ---- names ---- */

static uint64_t hash_of_execution(const struct actor_blob_id *id)
{
    return base_hash(id->execution_id, base_hash(id->workspace, 0)) | 1;
}

static uint64_t hash_of(const struct actor_blob_id *id)
{
    return base_hash(id->name, hash_of_execution(id)) | 1;
}

/* false: the record makes or takes away no blob. FORGET: the name is empty. */
static bool blob_of(const struct proto_record *record, struct actor_blob_id *id)
{
    *id = (struct actor_blob_id){.workspace = record->workspace_id,
                                 .execution_id = record->execution_id};
    if (record->kind == PROTO_RECORD_STEP) {
        id->name = record->name;
    } else if (record->kind == PROTO_RECORD_SNAPSHOT) {
        id->name = span_text("execution");
        return (record->number & PROTO_SNAPSHOT_INTERIM) == 0;
    }
    return true;
}

/* ---- the table ---- */

/* The place of this hash, or the empty one where it belongs. */
static struct place *place_of(struct place *places, uint32_t count, uint64_t hash)
{
    uint32_t index = (uint32_t)(hash >> 1) & (count - 1);
    while (places[index].hash != 0 && places[index].hash != hash) {
        index = (index + 1) & (count - 1);
    }
    return &places[index];
}

static uint32_t live_count(const struct actor_pending *pending)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < pending->place_count; i++) {
        live += pending->places[i].hash != 0 && pending->places[i].batch >= pending->stored;
    }
    return live;
}

/* Leaves out what is out of date; twice as large where that is not enough. false: no room. */
static bool make_room(struct actor_pending *pending)
{
    uint32_t live = live_count(pending);
    uint32_t count = pending->place_count == 0 ? PLACES_FIRST : pending->place_count;
    count = live > count / 4 ? count * 2 : count;
    struct place *places =
        count > pending->options.names_max ? NULL : calloc(count, sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < pending->place_count; i++) {
        const struct place *old = &pending->places[i];
        if (old->hash != 0 && old->batch >= pending->stored) {
            *place_of(places, count, old->hash) = *old;
        }
    }
    free(pending->places);
    pending->places = places;
    pending->place_count = count;
    pending->used = live;
    return true;
}

/* false: no room. */
static bool enter(struct actor_pending *pending, uint64_t hash, uint64_t batch)
{
    if (pending->used >= pending->place_count / 2 && !make_room(pending)) {
        return false;
    }
    struct place *place = place_of(pending->places, pending->place_count, hash);
    pending->used += place->hash == 0;
    *place = (struct place){.hash = hash, .batch = batch};
    return true;
}

/* false: none that the drain has not passed. */
static bool look(const struct actor_pending *pending, uint64_t hash, uint64_t *batch)
{
    if (pending->used == 0) {
        return false;
    }
    const struct place *place = place_of(pending->places, pending->place_count, hash);
    *batch = place->batch;
    return place->hash != 0 && place->batch >= pending->stored;
}

/* ---- reading ahead ---- */

static void enter_batch(struct actor_pending *pending, uint64_t batch, struct span bytes,
                        uint64_t behind)
{
    struct proto_record record;
    struct actor_blob_id id;
    while (record_read_only(&bytes, RECORD_KINDS, &record) == RESULT_OK) {
        if (!blob_of(&record, &id)) {
            continue;
        }
        bool forget = record.kind == PROTO_RECORD_FORGET;
        if (!enter(pending, forget ? hash_of_execution(&id) : hash_of(&id), batch)) {
            pending->blind = behind;
            return;
        }
    }
}

/* The reader lives for one call: it holds the file that it reads in, which may have to go. */
bool actor_pending_read(struct actor_pending *pending, uint64_t bytes_max)
{
    const struct storage_journal_ops *ops = pending->options.log->ops;
    struct storage_journal_reader *reader;
    uint64_t until = pending->read + bytes_max;
    if (pending->read >= ops->end(pending->options.log) ||
        ops->reader_open(pending->options.log, pending->read, &reader) != RESULT_OK) {
        return false;
    }
    enum result result = RESULT_OK;
    while (pending->read < until && (result == RESULT_OK || result == RESULT_CORRUPT)) {
        struct span bytes;
        uint64_t behind;
        result = ops->reader_next(reader, &bytes, &behind);
        if (result == RESULT_OK) {
            enter_batch(pending, pending->read, bytes, behind);
        }
        if (result == RESULT_OK || result == RESULT_CORRUPT) {
            pending->read = behind;
        }
    }
    ops->reader_close(reader);
    return pending->read >= until && pending->read < ops->end(pending->options.log);
}

/* ---- answers ---- */

/* What the newest of the batch's records about this blob says. */
static enum actor_pending_found find_in(struct span batch, const struct actor_blob_id *wanted,
                                        struct span *bytes)
{
    enum actor_pending_found found = ACTOR_PENDING_UNKNOWN;
    struct proto_record record;
    struct actor_blob_id id;
    while (record_read_only(&batch, RECORD_KINDS, &record) == RESULT_OK) {
        if (!blob_of(&record, &id) || !span_equal(id.execution_id, wanted->execution_id) ||
            !span_equal(id.workspace, wanted->workspace)) {
            continue;
        }
        if (record.kind == PROTO_RECORD_FORGET) {
            found = ACTOR_PENDING_GONE;
        } else if (span_equal(id.name, wanted->name)) {
            found = ACTOR_PENDING_BYTES;
            *bytes = record.body;
        }
    }
    return found;
}

enum actor_pending_found actor_pending_find(struct actor_pending *pending,
                                            const struct actor_blob_id *id, struct arena *arena,
                                            struct span *bytes, uint64_t *version)
{
    const struct storage_journal_ops *ops = pending->options.log->ops;
    struct storage_journal_reader *reader;
    uint64_t written = 0;
    uint64_t forgotten = 0;
    *bytes = SPAN_EMPTY;
    *version = 0;
    if (pending->blind > pending->stored) {
        return ACTOR_PENDING_UNKNOWN;
    }
    bool is_written = look(pending, hash_of(id), &written);
    bool is_forgotten = look(pending, hash_of_execution(id), &forgotten);
    if (!is_written && !is_forgotten) {
        return ACTOR_PENDING_NOTHING;
    }
    uint64_t batch = !is_written                           ? forgotten
                     : is_forgotten && forgotten > written ? forgotten
                                                           : written;
    if (ops->reader_open(pending->options.log, batch, &reader) != RESULT_OK) {
        return ACTOR_PENDING_UNKNOWN;
    }
    struct span records;
    enum actor_pending_found found = ACTOR_PENDING_UNKNOWN;
    if (ops->reader_next(reader, &records, version) == RESULT_OK) {
        found = find_in(records, id, bytes);
    }
    if (found == ACTOR_PENDING_BYTES) {
        *bytes = arena_copy(arena, *bytes);
        found = arena->overflowed ? ACTOR_PENDING_UNKNOWN : found;
        arena->overflowed = false;
    }
    ops->reader_close(reader);
    return found;
}

bool actor_pending_forgotten(const struct actor_pending *pending, const struct actor_blob_id *id)
{
    uint64_t forgotten;
    return look(pending, hash_of_execution(id), &forgotten);
}
