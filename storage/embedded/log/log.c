/*
 * log.c: the writer of the embedded journal.
 *
 * Batches are framed into a buffer, which goes to the file in one write at sync time or when it is
 * full. A full file is synced before the next one is begun; so every file but the newest is whole,
 * and a start has only the newest to check.
 */
#include "storage/embedded/log/log.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "storage/embedded/log/frame.h"
#include "storage/embedded/log/recover.h"

#define SEGMENT_BYTES_DEFAULT (64u << 20)
#define SEGMENT_BYTES_MIN     4096u

static const struct storage_journal_ops log_ops;

static enum result take_up(struct storage_log *log, struct storage_journal_report *report);
static enum result place(struct storage_log *log, uint64_t bytes);
static enum result roll(struct storage_log *log, uint64_t bytes);
static void put_buffered(struct storage_log *log, struct span batch, uint64_t bytes);
static enum result put_directly(struct storage_log *log, struct span batch, uint64_t bytes);
static enum result flush(struct storage_log *log);
static enum result file_write(struct storage_log *log, uint64_t position, struct span bytes);
static enum result make_durable(struct storage_log *log);
static enum result fail(struct storage_log *log);
static void advance(struct storage_log *log);
static enum result abandon_tail(struct storage_log *log);
static void mark_end(struct storage_log *log);

enum result storage_log_open(struct storage_files *files,
                             const struct storage_journal_options *options,
                             struct storage_journal **out, struct storage_journal_report *report)
{
    uint64_t file_bytes =
        options->segment_bytes > 0 ? options->segment_bytes : SEGMENT_BYTES_DEFAULT;
    file_bytes = file_bytes < SEGMENT_BYTES_MIN ? SEGMENT_BYTES_MIN : file_bytes;
    struct storage_log *log = calloc(1, sizeof *log);
    uint8_t *buffer = malloc(STORAGE_LOG_BUFFER_BYTES);
    if (log == NULL || buffer == NULL) {
        free(buffer);
        free(log);
        return RESULT_LIMIT;
    }
    log->journal.ops = &log_ops;
    log->magic = STORAGE_LOG_MAGIC;
    log->files = files;
    log->buffer = buffer;
    log->durable_wanted = true;
    enum result result =
        storage_segments_init(&log->segments, files, file_bytes, options->prepare_ahead);
    if (result == RESULT_OK) {
        result = take_up(log, report);
    }
    if (result != RESULT_OK) {
        log->failed = true;
        storage_log_close(&log->journal);
        return result;
    }
    *out = &log->journal;
    return RESULT_OK;
}

void storage_log_close(struct storage_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    struct storage_log *log = storage_log_cast(journal);
    if (!log->failed) {
        mark_end(log);
    }
    storage_segments_release(&log->segments);
    log->magic = 0;
    free(log->buffer);
    free(log);
}

struct storage_log *storage_log_cast(struct storage_journal *journal)
{
    struct storage_log *log = (struct storage_log *)journal;
    ASSERT(log->magic == STORAGE_LOG_MAGIC);
    return log;
}

static enum result take_up(struct storage_log *log, struct storage_journal_report *report)
{
    struct storage_recovered recovered = {0};
    enum result result = RESULT_OK;
    if (storage_segments_newest(&log->segments) == NULL) {
        result = storage_segments_add(&log->segments, 0, 0);
        log->directory_dirty = true;
    } else {
        struct storage_segment *newest = storage_segments_newest(&log->segments);
        result = storage_log_recover(log->files, newest, &recovered);
        /* After a kill it may be in the page cache only, and from now on it is acted on; so may
         * the files before it, if that process was not durable. */
        if (result == RESULT_OK) {
            result = log->files->sync(log->files, newest->handle, true);
        }
        if (result == RESULT_OK) {
            result = storage_segments_sync_older(&log->segments);
        }
        if (result == RESULT_OK) {
            result = log->files->sync_directory(log->files);
        }
    }
    if (result != RESULT_OK) {
        return result;
    }
    log->epoch = recovered.epoch + 1;
    log->tail = recovered.end;
    log->written = recovered.end;
    log->synced = recovered.end;
    log->durable = recovered.end;
    atomic_init(&log->end, recovered.end);
    atomic_init(&log->begin, storage_segments_begin(&log->segments));
    *report = (struct storage_journal_report){
        .end = recovered.end,
        .torn_bytes = recovered.torn_bytes,
        .corrupt_batches = recovered.corrupt_batches,
    };
    return RESULT_OK;
}

static enum result log_append(struct storage_journal *self, struct span batch, uint64_t *position)
{
    struct storage_log *log = storage_log_cast(self);
    if (log->failed) {
        return RESULT_IO;
    }
    if (batch.count > STORAGE_BATCH_BYTES_MAX) {
        return RESULT_LIMIT;
    }
    uint64_t bytes = storage_frame_bytes(batch.count);
    enum result result = place(log, bytes);
    if (result == RESULT_OK && bytes > STORAGE_LOG_BUFFER_BYTES - (log->tail - log->written)) {
        result = flush(log);
    }
    if (result != RESULT_OK) {
        return result;
    }
    if (bytes > STORAGE_LOG_BUFFER_BYTES) {
        result = put_directly(log, batch, bytes);
        if (result != RESULT_OK) {
            return result;
        }
    } else {
        put_buffered(log, batch, bytes);
    }
    *position = log->tail;
    return RESULT_OK;
}

/*
 * Sees to it that the newest file has room for `bytes` at the tail. The next one is asked for when
 * this one is half full: by then what the drains have read is trimmed, and is most often the spare.
 */
static enum result place(struct storage_log *log, uint64_t bytes)
{
    struct storage_segment *segment = storage_segments_newest(&log->segments);
    if (!segment->prewritten || log->tail - segment->base > segment->capacity / 2) {
        storage_spares_want(&log->segments.spares);
    }
    bool fits = log->tail + bytes <= segment->base + segment->capacity;
    bool empty = log->tail == segment->base;
    if (empty) {
        return fits ? RESULT_OK : storage_segments_widen(&log->segments, bytes);
    }
    /* A log's very first file is not written through, so it is slow to sync: left as soon as a
     * better one is ready. */
    bool better = !segment->prewritten && storage_spares_ready(&log->segments.spares);
    return fits && !better ? RESULT_OK : roll(log, bytes);
}

static enum result roll(struct storage_log *log, uint64_t bytes)
{
    enum result result = flush(log);
    if (result == RESULT_OK && log->durable_wanted) {
        result = make_durable(log);
    }
    if (result != RESULT_OK) {
        return result;
    }
    advance(log);
    result = storage_segments_add(&log->segments, log->tail, bytes);
    if (result != RESULT_OK) {
        return result;
    }
    log->directory_dirty = true;
    log->older_dirty = log->older_dirty || !log->durable_wanted;
    /* The name first, then the bytes: a file that is re-used must not change under its old name. */
    if (log->durable_wanted) {
        result = log->files->sync_directory(log->files);
        if (result != RESULT_OK) {
            return fail(log);
        }
        log->directory_dirty = false;
    }
    return RESULT_OK;
}

static struct storage_frame frame_at_tail(const struct storage_log *log, struct span batch)
{
    return (struct storage_frame){
        .kind = STORAGE_FRAME_BATCH,
        .position = log->tail,
        .claim = log->durable,
        .epoch = log->epoch,
        .body = batch,
    };
}

static void put_buffered(struct storage_log *log, struct span batch, uint64_t bytes)
{
    struct storage_frame frame = frame_at_tail(log, batch);
    uint8_t *next = log->buffer + (log->tail - log->written);
    storage_frame_write_head(&frame, next);
    if (batch.count > 0) {
        memcpy(next + STORAGE_FRAME_HEAD_BYTES, batch.bytes, batch.count);
    }
    size_t used = STORAGE_FRAME_HEAD_BYTES + batch.count;
    memset(next + used, 0, bytes - used);
    log->tail += bytes;
}

/* A batch that the buffer cannot hold goes to the file from where it lies. */
static enum result put_directly(struct storage_log *log, struct span batch, uint64_t bytes)
{
    ASSERT(log->written == log->tail);
    static const uint8_t zeros[STORAGE_FRAME_ALIGN];
    struct storage_frame frame = frame_at_tail(log, batch);
    uint8_t head[STORAGE_FRAME_HEAD_BYTES];
    storage_frame_write_head(&frame, head);
    size_t used = STORAGE_FRAME_HEAD_BYTES + batch.count;
    enum result result = file_write(log, log->tail, span_of(head, sizeof head));
    if (result == RESULT_OK) {
        result = file_write(log, log->tail + sizeof head, batch);
    }
    if (result == RESULT_OK) {
        result = file_write(log, log->tail + used, span_of(zeros, bytes - used));
    }
    if (result != RESULT_OK) {
        log->epoch++; /* whatever of it is in the file is older than what will follow */
        return result;
    }
    log->tail += bytes;
    log->written = log->tail;
    return RESULT_OK;
}

static enum result log_sync(struct storage_journal *self, bool durable)
{
    struct storage_log *log = storage_log_cast(self);
    if (log->failed) {
        return RESULT_IO;
    }
    log->durable_wanted = durable;
    enum result result = flush(log);
    if (result == RESULT_FULL) {
        return abandon_tail(log);
    }
    if (result == RESULT_OK && durable) {
        result = make_durable(log);
    }
    if (result == RESULT_OK) {
        advance(log);
        log->synced = log->tail;
    }
    return result;
}

static enum result flush(struct storage_log *log)
{
    struct span bytes = span_of(log->buffer, (size_t)(log->tail - log->written));
    enum result result = file_write(log, log->written, bytes);
    if (result == RESULT_OK) {
        log->written = log->tail;
    }
    return result;
}

static enum result file_write(struct storage_log *log, uint64_t position, struct span bytes)
{
    if (bytes.count == 0) {
        return RESULT_OK;
    }
    struct storage_segment *segment = storage_segments_newest(&log->segments);
    ASSERT(position >= segment->base);
    ASSERT(position + bytes.count <= segment->base + segment->capacity);
    enum result result =
        log->files->write(log->files, segment->handle, position - segment->base, bytes);
    return result == RESULT_OK || result == RESULT_FULL ? result : fail(log);
}

static enum result make_durable(struct storage_log *log)
{
    ASSERT(log->written == log->tail);
    struct storage_segment *segment = storage_segments_newest(&log->segments);
    if (log->durable < log->tail &&
        log->files->sync(log->files, segment->handle, false) != RESULT_OK) {
        return fail(log);
    }
    if (log->older_dirty && storage_segments_sync_older(&log->segments) != RESULT_OK) {
        return fail(log);
    }
    if (log->directory_dirty && log->files->sync_directory(log->files) != RESULT_OK) {
        return fail(log);
    }
    log->older_dirty = false;
    log->directory_dirty = false;
    log->durable = log->tail;
    return RESULT_OK;
}

static enum result fail(struct storage_log *log)
{
    log->failed = true;
    return RESULT_IO;
}

static void advance(struct storage_log *log)
{
    ASSERT(log->written == log->tail);
    atomic_store_explicit(&log->end, log->tail, memory_order_release);
}

/* A disk without the space that it had reserved. What a roll has synced cannot be taken back. */
static enum result abandon_tail(struct storage_log *log)
{
    if (atomic_load_explicit(&log->end, memory_order_relaxed) != log->synced) {
        return fail(log);
    }
    log->tail = log->synced;
    log->written = log->tail;
    log->epoch++;
    ASSERT(log->tail >= storage_segments_newest(&log->segments)->base);
    return RESULT_FULL;
}

/* So that the next start need not search the rest of the file; not synced, as it is no promise. */
static void mark_end(struct storage_log *log)
{
    struct storage_segment *segment = storage_segments_newest(&log->segments);
    uint8_t head[STORAGE_FRAME_HEAD_BYTES];
    if (log->written + sizeof head > segment->base + segment->capacity) {
        return;
    }
    struct storage_frame frame = {
        .kind = STORAGE_FRAME_END,
        .position = log->written,
        .claim = log->durable,
        .epoch = log->epoch,
    };
    storage_frame_write_head(&frame, head);
    (void)file_write(log, log->written, span_of(head, sizeof head));
}

static uint64_t log_end(struct storage_journal *self)
{
    return atomic_load_explicit(&storage_log_cast(self)->end, memory_order_acquire);
}

static uint64_t log_begin(struct storage_journal *self)
{
    return atomic_load_explicit(&storage_log_cast(self)->begin, memory_order_acquire);
}

static enum result log_trim(struct storage_journal *self, uint64_t position)
{
    struct storage_log *log = storage_log_cast(self);
    if (log->failed) {
        return RESULT_IO;
    }
    enum result result = storage_segments_trim(&log->segments, position);
    atomic_store_explicit(&log->begin, storage_segments_begin(&log->segments),
                          memory_order_release);
    return result;
}

static const struct storage_journal_ops log_ops = {
    .append = log_append,
    .sync = log_sync,
    .end = log_end,
    .begin = log_begin,
    .trim = log_trim,
    .reader_open = storage_log_reader_open,
    .reader_next = storage_log_reader_next,
    .reader_close = storage_log_reader_close,
};
