/* segments.c: see segments.h. */
#include "storage/embedded/log/segments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

#define NAME_BYTES 24

struct found {
    uint64_t *bases;
    size_t count;
    size_t room;
    bool failed;
    struct storage_spares *spares;
};

static void note_name(void *owner, const char *name);
static int compare_bases(const void *a, const void *b);
static enum result open_one(struct storage_segments *segments, uint64_t base, uint64_t bytes,
                            struct storage_segment **out);
static enum result append_one(struct storage_segments *segments, struct storage_segment *segment);
static void close_one(struct storage_segments *segments, struct storage_segment *segment);
static enum result open_file(struct storage_segments *segments, struct storage_segment *segment,
                             uint64_t reserve_bytes);
static void close_file(struct storage_segments *segments, struct storage_segment *segment);

static void segment_name(char out[NAME_BYTES], uint64_t base)
{
    snprintf(out, NAME_BYTES, "%016" PRIx64 ".log", base);
}

enum result storage_segments_init(struct storage_segments *segments, struct storage_files *files,
                                  uint64_t file_bytes, bool prepare_ahead)
{
    *segments = (struct storage_segments){.files = files, .file_bytes = file_bytes};
    pthread_mutex_init(&segments->mutex, NULL);
    storage_spares_init(&segments->spares, files, file_bytes, prepare_ahead);

    struct found found = {.spares = &segments->spares};
    enum result result = files->list(files, note_name, &found);
    if (result == RESULT_OK && found.failed) {
        result = RESULT_LIMIT;
    }
    if (found.count > 0) {
        qsort(found.bases, found.count, sizeof *found.bases, compare_bases);
    }
    for (size_t i = 0; i < found.count && result == RESULT_OK; i++) {
        /* Only the newest is written to; the others are what they are. */
        bool newest = i + 1 == found.count;
        struct storage_segment *segment = NULL;
        result = open_one(segments, found.bases[i], newest ? file_bytes : 0, &segment);
        if (result == RESULT_OK) {
            segment->prewritten = true;
            result = append_one(segments, segment);
        }
    }
    free(found.bases);
    return result;
}

void storage_segments_release(struct storage_segments *segments)
{
    storage_spares_release(&segments->spares);
    for (size_t i = 0; i < segments->count; i++) {
        ASSERT(segments->list[i]->readers == 0);
        close_one(segments, segments->list[i]);
    }
    free(segments->list);
    pthread_mutex_destroy(&segments->mutex);
}

struct storage_segment *storage_segments_newest(struct storage_segments *segments)
{
    return segments->count == 0 ? NULL : segments->list[segments->count - 1];
}

uint64_t storage_segments_begin(struct storage_segments *segments)
{
    pthread_mutex_lock(&segments->mutex);
    ASSERT(segments->count > 0);
    uint64_t begin = segments->list[0]->base;
    pthread_mutex_unlock(&segments->mutex);
    return begin;
}

enum result storage_segments_add(struct storage_segments *segments, uint64_t base, uint64_t bytes)
{
    ASSERT(segments->count == 0 || storage_segments_newest(segments)->base < base);
    char name[NAME_BYTES];
    segment_name(name, base);
    enum result taken = RESULT_NOT_FOUND;
    if (bytes <= segments->file_bytes) {
        taken = storage_spares_take(&segments->spares, name);
    }
    struct storage_segment *segment = NULL;
    enum result result = open_one(
        segments, base, bytes > segments->file_bytes ? bytes : segments->file_bytes, &segment);
    if (result == RESULT_OK) {
        segment->prewritten = taken == RESULT_OK;
        result = append_one(segments, segment);
    }
    if (result != RESULT_OK) {
        (void)segments->files->remove(segments->files, name);
    }
    return result;
}

enum result storage_segments_widen(struct storage_segments *segments, uint64_t bytes)
{
    struct storage_segment *segment = storage_segments_newest(segments);
    ASSERT(segment != NULL);
    if (segment->capacity >= bytes) {
        return RESULT_OK;
    }
    char name[NAME_BYTES];
    segment_name(name, segment->base);
    int handle = -1;
    enum result result = segments->files->open(segments->files, name, bytes, &handle);
    if (result != RESULT_OK) {
        return result;
    }
    /* The second handle was only for the room: a reader that waits at the log's end holds the
     * first. */
    segments->files->close(segments->files, handle);
    pthread_mutex_lock(&segments->mutex);
    segment->capacity = bytes;
    pthread_mutex_unlock(&segments->mutex);
    return RESULT_OK;
}

enum result storage_segments_sync_older(struct storage_segments *segments)
{
    enum result result = RESULT_OK;
    for (size_t i = 0; i + 1 < segments->count && result == RESULT_OK; i++) {
        struct storage_segment *segment = NULL;
        result = storage_segments_hold(segments, segments->list[i]->base, &segment);
        if (result == RESULT_OK) {
            result = segments->files->sync(segments->files, segment->handle, false);
            storage_segments_drop(segments, segment);
        }
    }
    return result;
}

enum result storage_segments_trim(struct storage_segments *segments, uint64_t position)
{
    enum result result = RESULT_OK;
    while (result == RESULT_OK && segments->count > 1 && segments->list[1]->base <= position) {
        pthread_mutex_lock(&segments->mutex);
        struct storage_segment *oldest = segments->list[0];
        segments->count--;
        memmove(segments->list, segments->list + 1, segments->count * sizeof *segments->list);
        bool held = oldest->readers > 0;
        bool keep = !held && oldest->prewritten && oldest->capacity == segments->file_bytes;
        char name[NAME_BYTES];
        segment_name(name, oldest->base);
        /* From here on the last reader of a held one may free it at any moment. */
        oldest->trimmed = true;
        pthread_mutex_unlock(&segments->mutex);
        if (!held) {
            close_one(segments, oldest);
        }
        result = keep ? storage_spares_give(&segments->spares, name)
                      : segments->files->remove(segments->files, name);
    }
    return result;
}

enum result storage_segments_hold(struct storage_segments *segments, uint64_t position,
                                  struct storage_segment **out)
{
    enum result result = RESULT_NOT_FOUND;
    pthread_mutex_lock(&segments->mutex);
    size_t i = segments->count;
    while (i > 0 && segments->list[i - 1]->base > position) {
        i--;
    }
    if (i > 0) {
        struct storage_segment *segment = segments->list[i - 1];
        result = segment->handle >= 0 ? RESULT_OK : open_file(segments, segment, 0);
        if (result == RESULT_OK) {
            segment->readers++;
            *out = segment;
        }
    }
    pthread_mutex_unlock(&segments->mutex);
    return result;
}

void storage_segments_drop(struct storage_segments *segments, struct storage_segment *segment)
{
    pthread_mutex_lock(&segments->mutex);
    ASSERT(segment->readers > 0);
    segment->readers--;
    bool unused = segment->readers == 0 && segment != storage_segments_newest(segments);
    bool gone = unused && segment->trimmed;
    if (unused && !gone) {
        close_file(segments, segment);
    }
    pthread_mutex_unlock(&segments->mutex);
    if (gone) {
        close_one(segments, segment);
    }
}

static void note_name(void *owner, const char *name)
{
    struct found *found = owner;
    uint64_t base = 0;
    char canonical[NAME_BYTES];
    if (storage_spares_adopt(found->spares, name) || sscanf(name, "%16" SCNx64, &base) != 1) {
        return;
    }
    segment_name(canonical, base);
    if (strcmp(name, canonical) != 0) {
        return; /* not ours: leave it alone */
    }
    if (found->count == found->room) {
        size_t room = found->room == 0 ? 64 : found->room * 2;
        uint64_t *bases = realloc(found->bases, room * sizeof *bases);
        if (bases == NULL) {
            found->failed = true;
            return;
        }
        found->bases = bases;
        found->room = room;
    }
    found->bases[found->count++] = base;
}

static int compare_bases(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return (*left > *right) - (*left < *right);
}

/* bytes: what the file must have room for; 0 leaves it as it is, closed. */
static enum result open_one(struct storage_segments *segments, uint64_t base, uint64_t bytes,
                            struct storage_segment **out)
{
    struct storage_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) {
        return RESULT_LIMIT;
    }
    *segment = (struct storage_segment){
        .base = base,
        .capacity = bytes > 0 ? bytes : segments->file_bytes,
        .end = UINT64_MAX,
        .handle = -1,
    };
    enum result result = bytes > 0 ? open_file(segments, segment, bytes) : RESULT_OK;
    if (result != RESULT_OK) {
        free(segment);
        return result;
    }
    *out = segment;
    return RESULT_OK;
}

static enum result open_file(struct storage_segments *segments, struct storage_segment *segment,
                             uint64_t reserve_bytes)
{
    ASSERT(segment->handle < 0);
    char name[NAME_BYTES];
    segment_name(name, segment->base);
    return segments->files->open(segments->files, name, reserve_bytes, &segment->handle);
}

static void close_file(struct storage_segments *segments, struct storage_segment *segment)
{
    if (segment->handle >= 0) {
        segments->files->close(segments->files, segment->handle);
        segment->handle = -1;
    }
}

static void close_one(struct storage_segments *segments, struct storage_segment *segment)
{
    close_file(segments, segment);
    free(segment);
}

/* Takes the segment in every case; the one that was newest keeps its file open for its readers
 * only. */
static enum result append_one(struct storage_segments *segments, struct storage_segment *segment)
{
    enum result result = RESULT_OK;
    pthread_mutex_lock(&segments->mutex);
    if (segments->count == segments->room) {
        size_t room = segments->room == 0 ? 16 : segments->room * 2;
        struct storage_segment **list = realloc(segments->list, room * sizeof *list);
        if (list == NULL) {
            result = RESULT_LIMIT;
        } else {
            segments->list = list;
            segments->room = room;
        }
    }
    if (result == RESULT_OK) {
        struct storage_segment *before = storage_segments_newest(segments);
        if (before != NULL) {
            atomic_store_explicit(&before->end, segment->base, memory_order_release);
        }
        if (before != NULL && before->readers == 0) {
            close_file(segments, before);
        }
        segments->list[segments->count++] = segment;
    }
    pthread_mutex_unlock(&segments->mutex);
    if (result != RESULT_OK) {
        close_one(segments, segment);
    }
    return result;
}
