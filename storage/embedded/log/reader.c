/* reader.c: reads what is synced, while the writer goes on. One reader belongs to one thread. */
#include <stdlib.h>

#include "proto/base/assert.h"
#include "storage/embedded/log/frame.h"
#include "storage/embedded/log/log.h"

#define READER_MAGIC 0x44524c53u

struct storage_journal_reader {
    uint32_t magic;
    struct storage_log *log;         /* borrowed */
    uint64_t position;               /* of the next batch */
    struct storage_segment *segment; /* held; NULL when there was none to hold */
    struct storage_window window;
};

static enum result turn_to(struct storage_journal_reader *reader, uint64_t end);
static void let_go(struct storage_journal_reader *reader);
static uint64_t limit_of(const struct storage_journal_reader *reader, uint64_t end);
static enum result step_over(struct storage_journal_reader *reader, uint64_t limit);

enum result storage_log_reader_open(struct storage_journal *self, uint64_t position,
                                    struct storage_journal_reader **out)
{
    struct storage_log *log = storage_log_cast(self);
    if (position > self->ops->end(self) || position % STORAGE_FRAME_ALIGN != 0) {
        return RESULT_INVALID;
    }
    struct storage_journal_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return RESULT_LIMIT;
    }
    *reader = (struct storage_journal_reader){
        .magic = READER_MAGIC,
        .log = log,
        .position = position,
    };
    storage_window_init(&reader->window, log->files);
    /* Held from now on, so that a trim meanwhile cannot take the file away. */
    enum result result = turn_to(reader, self->ops->end(self));
    if (result != RESULT_OK) {
        storage_log_reader_close(reader);
        return result;
    }
    *out = reader;
    return RESULT_OK;
}

void storage_log_reader_close(struct storage_journal_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    ASSERT(reader->magic == READER_MAGIC);
    let_go(reader);
    storage_window_release(&reader->window);
    reader->magic = 0;
    free(reader);
}

enum result storage_log_reader_next(struct storage_journal_reader *reader, struct span *batch,
                                    uint64_t *position)
{
    ASSERT(reader->magic == READER_MAGIC);
    struct storage_log *log = reader->log;
    uint64_t end = atomic_load_explicit(&log->end, memory_order_acquire);
    ASSERT(reader->position <= end);
    *batch = SPAN_EMPTY;
    *position = reader->position;
    if (reader->position == end) {
        return RESULT_NOT_FOUND;
    }
    enum result result = turn_to(reader, end);
    if (result != RESULT_OK) {
        return result == RESULT_NOT_FOUND ? RESULT_CLOSED : result;
    }
    uint64_t base = reader->segment->base;
    uint64_t limit = limit_of(reader, end);
    struct storage_frame frame;
    result = storage_frame_read(&reader->window, base, reader->position, &frame);
    if (result == RESULT_NOT_FOUND || result == RESULT_CORRUPT ||
        (result == RESULT_OK && frame.kind == STORAGE_FRAME_END)) {
        result = step_over(reader, limit);
        *position = reader->position;
        return result == RESULT_OK ? RESULT_CORRUPT : result;
    }
    if (result != RESULT_OK) {
        return result;
    }
    *batch = frame.body;
    reader->position += storage_frame_bytes(frame.body.count);
    *position = reader->position;
    return RESULT_OK;
}

/* Holds the file that has the position, with the window reaching to what is synced in it. */
static enum result turn_to(struct storage_journal_reader *reader, uint64_t end)
{
    struct storage_segments *segments = &reader->log->segments;
    if (reader->segment == NULL || reader->position >= limit_of(reader, end)) {
        let_go(reader);
        enum result result = storage_segments_hold(segments, reader->position, &reader->segment);
        if (result != RESULT_OK) {
            reader->segment = NULL;
            return result;
        }
        storage_window_point(&reader->window, reader->segment->handle, 0);
    }
    reader->window.limit = limit_of(reader, end) - reader->segment->base;
    return RESULT_OK;
}

static void let_go(struct storage_journal_reader *reader)
{
    if (reader->segment != NULL) {
        storage_segments_drop(&reader->log->segments, reader->segment);
        reader->segment = NULL;
    }
}

static uint64_t limit_of(const struct storage_journal_reader *reader, uint64_t end)
{
    uint64_t segment_end = atomic_load_explicit(&reader->segment->end, memory_order_acquire);
    return segment_end < end ? segment_end : end;
}

/* Moves behind unsound bytes: to the next sound frame, else to where this file or the log ends. */
static enum result step_over(struct storage_journal_reader *reader, uint64_t limit)
{
    struct storage_frame frame;
    enum result result = storage_frame_find(&reader->window, reader->segment->base,
                                            reader->position + STORAGE_FRAME_ALIGN, &frame);
    if (result == RESULT_OK && frame.kind == STORAGE_FRAME_BATCH) {
        reader->position = frame.position;
        return RESULT_OK;
    }
    if (result == RESULT_OK || result == RESULT_NOT_FOUND) {
        reader->position = limit;
        return RESULT_OK;
    }
    return result;
}
