/*
 * log_copy.c: see log_copy.h. The copy ends between two batches: bytes behind the sampled end may
 * be half written, and half a batch before a whole one would look like damage.
 */
#include "storage/embedded/log/log_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/embedded/log/log.h"

#define COPY_BYTES (1u << 20)
#define NAME_BYTES 24

struct copy {
    struct storage_log *log;
    struct storage_files *target;
    uint8_t *bytes;
    uint64_t end;
};

static enum result copy_range(const struct copy *copy, int from, int to, uint64_t count)
{
    enum result result = RESULT_OK;
    for (uint64_t at = 0; at < count && result == RESULT_OK;) {
        size_t wanted = count - at < COPY_BYTES ? (size_t)(count - at) : COPY_BYTES;
        size_t got = 0;
        result = copy->log->files->read(copy->log->files, from, at, copy->bytes, wanted, &got);
        if (result == RESULT_OK && got != wanted) {
            return RESULT_IO; /* shorter than what was synced in it */
        }
        if (result == RESULT_OK) {
            result = copy->target->write(copy->target, to, at, span_of(copy->bytes, got));
        }
        at += got;
    }
    return result;
}

/* The file that has `position`; *next is where the one behind it begins. */
static enum result copy_segment(const struct copy *copy, uint64_t position, uint64_t *next)
{
    struct storage_segment *segment;
    char name[NAME_BYTES];
    int to = -1;
    enum result result = storage_segments_hold(&copy->log->segments, position, &segment);
    if (result != RESULT_OK) {
        return result == RESULT_NOT_FOUND ? RESULT_CLOSED : result;
    }
    uint64_t segment_end = atomic_load_explicit(&segment->end, memory_order_acquire);
    *next = segment_end < copy->end ? segment_end : copy->end;
    snprintf(name, sizeof name, "%016" PRIx64 ".log", segment->base);
    result = copy->target->open(copy->target, name, 0, &to);
    if (result == RESULT_OK) {
        result = copy_range(copy, segment->handle, to, *next - segment->base);
    }
    if (result == RESULT_OK) {
        result = copy->target->sync(copy->target, to, true);
    }
    if (to >= 0) {
        copy->target->close(copy->target, to);
    }
    storage_segments_drop(&copy->log->segments, segment);
    return result;
}

enum result storage_log_copy(struct storage_journal *journal, const char *directory, uint64_t *end)
{
    struct copy copy = {.log = storage_log_cast(journal), .bytes = malloc(COPY_BYTES)};
    enum result result =
        copy.bytes == NULL ? RESULT_LIMIT : storage_posix_new(directory, &copy.target);
    copy.end = journal->ops->end(journal);
    uint64_t position = journal->ops->begin(journal);
    bool first = true; /* an empty log has a file, too */
    while (result == RESULT_OK && (first || position < copy.end)) {
        result = copy_segment(&copy, position, &position);
        first = false;
    }
    if (result == RESULT_OK) {
        result = copy.target->sync_directory(copy.target);
    }
    storage_posix_free(copy.target);
    free(copy.bytes);
    *end = copy.end;
    return result;
}
