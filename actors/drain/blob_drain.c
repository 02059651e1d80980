/*
 * blob_drain.c: one state at a time: filling a batch, or one request of the port under way.
 */
#include "actors/drain/blob_drain.h"

#include <stdlib.h>

#include "actors/drain/saves.h"
#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/record.h"

enum {
    BATCH_BYTES = 16 << 20, /* a batch is closed beyond it */
    NAME_SLOTS = 512,       /* open addressing over the batch's names */
    BACKOFF_FIRST_MS = 100,
    BACKOFF_MAX_MS = 30000,
};

/* What becomes a blob, or takes some away. */
#define RECORD_KINDS                                                                               \
    (PROTO_RECORD_BIT(PROTO_RECORD_STEP) | PROTO_RECORD_BIT(PROTO_RECORD_SNAPSHOT) |               \
     PROTO_RECORD_BIT(PROTO_RECORD_FORGET))

enum under_way { NOTHING, PUTTING, REMOVING, FLUSHING };

struct actor_blob_drain {
    struct actor_blob_drain_options options;
    struct storage_journal_reader *reader;
    enum under_way under_way;
    struct span rest; /* records of the newest read batch that are not taken yet */
    uint64_t read;    /* behind that batch */
    uint64_t taken;   /* behind the newest batch that was taken whole */
    uint64_t stored, flushing, durable;
    bool flush_wanted;
    struct arena arena; /* the batch's names and bytes, and the prefix to remove */
    struct storage_blob_item items[ACTOR_BLOB_BATCH];
    size_t room[ACTOR_BLOB_BATCH];       /* that their bytes have */
    uint64_t versions[ACTOR_BLOB_BATCH]; /* positions behind the batches that they come from */
    uint32_t item_count;
    size_t item_bytes;          /* taken for them */
    uint16_t slots[NAME_SLOTS]; /* item index + 1 */
    struct span remove;         /* prefix: to be removed when the items before it are stored */
    uint32_t attempt;
    enum result trouble; /* valid when attempt > 0 */
    uint64_t retry_ms;
    uint64_t since_ms; /* when the batch was begun */
    struct actor_blob_drain_counters counters;
};

_Static_assert(NAME_SLOTS > 2 * ACTOR_BLOB_BATCH, "the probe must find an empty slot soon");

struct span actor_blob_name(struct arena *arena, struct span workspace, struct span execution_id,
                            struct span name)
{
    const struct span parts[] = {workspace,      span_text("/"), execution_id,
                                 span_text("/"), name,           span_text(".msgpack")};
    return arena_join(arena, parts, sizeof parts / sizeof parts[0]);
}

enum result actor_blob_drain_new(const struct actor_blob_drain_options *options,
                                 struct actor_blob_drain **out)
{
    struct actor_blob_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL) {
        return RESULT_LIMIT;
    }
    drain->options = *options;
    drain->read = drain->taken = drain->stored = drain->durable = options->position;
    arena_init(&drain->arena, 256 << 10, (size_t)LIMIT_EXECUTION_BYTES * 4);
    enum result result =
        options->log->ops->reader_open(options->log, options->position, &drain->reader);
    if (result != RESULT_OK) {
        actor_blob_drain_free(drain);
        return result;
    }
    *out = drain;
    return RESULT_OK;
}

void actor_blob_drain_free(struct actor_blob_drain *drain)
{
    if (drain == NULL) {
        return;
    }
    if (drain->reader != NULL) {
        drain->options.log->ops->reader_close(drain->reader);
    }
    arena_release(&drain->arena);
    free(drain);
}

uint64_t actor_blob_drain_stored(const struct actor_blob_drain *drain)
{
    return drain->stored;
}
uint64_t actor_blob_drain_durable(const struct actor_blob_drain *drain)
{
    return drain->durable;
}
void actor_blob_drain_want_flush(struct actor_blob_drain *drain)
{
    drain->flush_wanted = true;
}
enum result actor_blob_drain_trouble(const struct actor_blob_drain *drain)
{
    return drain->attempt == 0 ? RESULT_OK : drain->trouble;
}
bool actor_blob_drain_busy(const struct actor_blob_drain *drain)
{
    return drain->under_way != NOTHING;
}

const struct actor_blob_drain_counters *
actor_blob_drain_counters(const struct actor_blob_drain *drain)
{
    return &drain->counters;
}

/* ---- filling ---- */

static void begin_batch(struct actor_blob_drain *drain, struct actor_time now)
{
    arena_clear(&drain->arena);
    memset(drain->slots, 0, sizeof drain->slots);
    drain->item_count = 0;
    drain->item_bytes = 0;
    drain->remove = SPAN_EMPTY;
    drain->attempt = 0;
    drain->since_ms = now.monotonic_ms;
}

static bool batch_is_full(const struct actor_blob_drain *drain)
{
    return drain->item_count == ACTOR_BLOB_BATCH || drain->item_bytes >= BATCH_BYTES;
}

/* The item's bytes: in their old place where they fit, so that a name that is written a hundred
 * times takes the room of a few. false: no memory. */
static bool set_bytes(struct actor_blob_drain *drain, uint32_t index, struct span body)
{
    struct storage_blob_item *item = &drain->items[index];
    if (body.count > drain->room[index] || item->bytes.bytes == NULL) {
        size_t room = body.count + body.count / 4 + 1;
        uint8_t *bytes = arena_alloc(&drain->arena, room);
        if (bytes == NULL) {
            return false;
        }
        drain->item_bytes += room;
        drain->room[index] = room;
        item->bytes.bytes = bytes;
    }
    if (body.count > 0) {
        memcpy((uint8_t *)(uintptr_t)item->bytes.bytes, body.bytes, body.count);
    }
    item->bytes.count = body.count;
    drain->versions[index] = drain->read;
    return true;
}

/* false: no memory. */
static bool add_item(struct actor_blob_drain *drain, const struct proto_record *record,
                     struct span name)
{
    struct span full =
        actor_blob_name(&drain->arena, record->workspace_id, record->execution_id, name);
    if (full.count == 0) {
        return false;
    }
    /* Whoever chose names that fall together would make one batch slower, no more: a checksum does.
     */
    uint32_t slot = base_crc32c(0, full) % NAME_SLOTS;
    while (drain->slots[slot] != 0 &&
           !span_equal(drain->items[drain->slots[slot] - 1].name, full)) {
        slot = (slot + 1) % NAME_SLOTS;
    }
    if (drain->slots[slot] != 0) {
        if (!set_bytes(drain, drain->slots[slot] - 1u, record->body)) {
            return false;
        }
        actor_count(&drain->counters.deduplicated, 1);
        return true;
    }
    drain->items[drain->item_count] = (struct storage_blob_item){
        .name = full, .rewritten = record->kind == PROTO_RECORD_SNAPSHOT};
    drain->room[drain->item_count] = 0;
    if (!set_bytes(drain, drain->item_count, record->body)) {
        return false;
    }
    drain->slots[slot] = (uint16_t)++drain->item_count;
    actor_count(&drain->counters.queued, 1);
    return true;
}

static bool add_record(struct actor_blob_drain *drain, const struct proto_record *record)
{
    if (record->kind == PROTO_RECORD_STEP) {
        return add_item(drain, record, record->name);
    }
    if (record->kind == PROTO_RECORD_SNAPSHOT && (record->number & PROTO_SNAPSHOT_INTERIM) == 0) {
        return add_item(drain, record, span_text("execution"));
    }
    if (record->kind == PROTO_RECORD_FORGET) {
        drain->remove = arena_format(&drain->arena, "%.*s/%.*s/", SPAN_ARG(record->workspace_id),
                                     SPAN_ARG(record->execution_id));
        return drain->remove.count > 0;
    }
    return true;
}

/* Takes records of `rest` until the batch is full. false: no memory, the record stays. */
static bool take_rest(struct actor_blob_drain *drain)
{
    while (drain->rest.count > 0 && !batch_is_full(drain) && drain->remove.count == 0) {
        struct span after = drain->rest;
        struct proto_record record;
        enum result result = record_read_only(&after, RECORD_KINDS, &record);
        if (result == RESULT_CORRUPT) {
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=blob position=%llu",
                     (unsigned long long)drain->taken);
            after = SPAN_EMPTY;
        } else if (result == RESULT_OK && !add_record(drain, &record)) {
            drain->arena.overflowed = false;
            return false;
        }
        drain->rest = after;
    }
    if (drain->rest.count == 0) {
        drain->taken = drain->read;
    }
    return true;
}

static enum result fill(struct actor_blob_drain *drain)
{
    const struct storage_journal_ops *ops = drain->options.log->ops;
    while (take_rest(drain)) {
        if (drain->rest.count > 0 || batch_is_full(drain) || drain->remove.count > 0) {
            return RESULT_OK;
        }
        enum result result = ops->reader_next(drain->reader, &drain->rest, &drain->read);
        if (result == RESULT_CORRUPT) {
            drain->rest = SPAN_EMPTY;
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=blob position=%llu",
                     (unsigned long long)drain->taken);
        } else if (result != RESULT_OK) {
            drain->rest = SPAN_EMPTY;
            return result == RESULT_NOT_FOUND ? RESULT_OK : result;
        }
    }
    return drain->item_count > 0 || drain->remove.count > 0 ? RESULT_OK : RESULT_LIMIT;
}

/* ---- the port ---- */

static uint64_t backoff_ms(const struct actor_blob_drain *drain)
{
    uint32_t doublings = drain->attempt < 9 ? drain->attempt : 9;
    uint64_t wait_ms = (uint64_t)BACKOFF_FIRST_MS << doublings;
    wait_ms = wait_ms > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : wait_ms;
    /* Jitter of a quarter, from what differs between engines and attempts. */
    uint64_t seed = drain->stored + drain->attempt * 0x9e3779b97f4a7c15u + drain->since_ms;
    return wait_ms - wait_ms / 4 + base_hash(span_of(&seed, sizeof seed), 0) % (wait_ms / 2);
}

static void failed(struct actor_blob_drain *drain, enum result why, struct actor_time now)
{
    uint64_t wait_ms = backoff_ms(drain);
    drain->attempt++;
    drain->trouble = why;
    drain->retry_ms = now.monotonic_ms + wait_ms;
    actor_count(&drain->counters.retried, 1);
    log_line(LOG_WARN, "BLOB-RETRY", "attempt=%u wait_ms=%llu blobs=%u reason=\"%s\"",
             drain->attempt, (unsigned long long)wait_ms, drain->item_count, result_text(why));
}

static void begin(struct actor_blob_drain *drain, enum under_way what, struct actor_time now)
{
    struct storage_blob *blob = drain->options.blob;
    enum result result = RESULT_OK;
    drain->under_way = what;
    if (what == PUTTING) {
        result = blob->ops->put(blob, drain->items, drain->item_count, drain->options.reply_to);
    } else if (what == REMOVING) {
        result = blob->ops->remove(blob, drain->remove, drain->options.reply_to);
    } else {
        ASSERT(what == FLUSHING);
        drain->flushing = drain->stored;
        result = blob->ops->flush(blob, drain->options.reply_to);
    }
    if (result != RESULT_OK) { /* not taken: no answer will come */
        drain->under_way = NOTHING;
        failed(drain, result, now);
    }
}

/* Leaves out what went ahead. false: one is on its way there, and neither older bytes nor a removal
 * may overtake it. */
static bool leave_saved(struct actor_blob_drain *drain)
{
    uint32_t kept = 0;
    bool free_to_go = true;
    for (uint32_t i = 0; i < drain->item_count && drain->options.saves != NULL; i++) {
        enum actor_saved saved =
            actor_saves_look(drain->options.saves, drain->items[i].name, drain->versions[i]);
        if (saved == ACTOR_SAVED_STORED) {
            actor_count(&drain->counters.deduplicated, 1);
            continue;
        }
        free_to_go = free_to_go && saved == ACTOR_SAVED_NOT;
        drain->items[kept] = drain->items[i];
        drain->versions[kept++] = drain->versions[i];
    }
    drain->item_count = drain->options.saves == NULL ? drain->item_count : kept;
    return free_to_go && (drain->options.saves == NULL || drain->remove.count == 0 ||
                          !actor_saves_under(drain->options.saves, drain->remove));
}

/* All of the batch is stored. */
static void end_batch(struct actor_blob_drain *drain)
{
    drain->attempt = 0;
    actor_count_set(&drain->counters.oldest_since_ms, 0);
    drain->stored = drain->taken;
}

uint64_t actor_blob_drain_pump(struct actor_blob_drain *drain, struct actor_time now)
{
    if (drain->under_way != NOTHING) {
        return ACTOR_NEVER;
    }
    bool holds = drain->item_count > 0 || drain->remove.count > 0;
    if (drain->attempt > 0 && now.monotonic_ms < drain->retry_ms) {
        return drain->retry_ms;
    }
    if (!holds && drain->flush_wanted && drain->durable < drain->stored) {
        begin(drain, FLUSHING, now);
        return drain->attempt > 0 ? drain->retry_ms : ACTOR_NEVER;
    }
    if (!holds) {
        begin_batch(drain, now);
        enum result result = fill(drain);
        if (result != RESULT_OK) {
            failed(drain, result, now);
            return drain->retry_ms;
        }
    }
    if (drain->item_count > 0 || drain->remove.count > 0) {
        actor_count_set(&drain->counters.oldest_since_ms, drain->since_ms);
    }
    bool had_items = drain->item_count > 0;
    if (!leave_saved(drain)) {
        return ACTOR_NEVER; /* until that has ended */
    }
    if (drain->item_count > 0) {
        begin(drain, PUTTING, now);
    } else if (drain->remove.count > 0) {
        begin(drain, REMOVING, now);
    } else {
        end_batch(drain); /* nothing in it was a blob, or all went ahead */
        bool go_on = had_items || (drain->flush_wanted && drain->durable < drain->stored);
        return go_on ? now.monotonic_ms : ACTOR_NEVER;
    }
    return drain->attempt > 0 ? drain->retry_ms : ACTOR_NEVER;
}

/* Keeps what was not stored, in order. */
static void keep_failed(struct actor_blob_drain *drain, const struct proto_port_done *done)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < drain->item_count; i++) {
        bool stored = i < done->results.count ? done->results.bytes[i] == RESULT_OK
                                              : done->result == RESULT_OK;
        if (!stored) {
            drain->items[kept] = drain->items[i];
            drain->versions[kept++] = drain->versions[i];
        } else {
            actor_count(&drain->counters.uploaded, 1);
        }
    }
    drain->item_count = kept;
}

void actor_blob_drain_done(struct actor_blob_drain *drain, const struct proto_port_done *done,
                           struct actor_time now)
{
    enum under_way was = drain->under_way;
    ASSERT(was != NOTHING);
    drain->under_way = NOTHING;
    if (was == PUTTING) {
        keep_failed(drain, done);
    }
    if (done->result != RESULT_OK || (was == PUTTING && drain->item_count > 0)) {
        failed(drain, done->result != RESULT_OK ? done->result : RESULT_IO, now);
        return;
    }
    drain->attempt = 0;
    if (was == FLUSHING) {
        drain->durable = drain->flushing;
        drain->flush_wanted = false;
        return;
    }
    if (was == REMOVING) {
        actor_count(&drain->counters.removed, 1);
        drain->remove = SPAN_EMPTY;
    }
    if (drain->remove.count == 0) {
        end_batch(drain);
    }
}
