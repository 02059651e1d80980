/* window.c: see window.h. */
#include "storage/embedded/log/window.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

static enum result fill(struct storage_window *window, uint64_t offset, size_t count);
static enum result grow(struct storage_window *window, size_t count);

void storage_window_init(struct storage_window *window, struct storage_files *files)
{
    *window = (struct storage_window){.files = files, .handle = -1};
}

void storage_window_release(struct storage_window *window)
{
    free(window->bytes);
    storage_window_init(window, window->files);
}

void storage_window_point(struct storage_window *window, int handle, uint64_t limit)
{
    window->handle = handle;
    window->limit = limit;
    window->offset = 0;
    window->count = 0;
}

enum result storage_window_get(struct storage_window *window, uint64_t offset, size_t count,
                               struct span *out)
{
    ASSERT(window->handle >= 0);
    uint64_t left = offset < window->limit ? window->limit - offset : 0;
    if (count > left) {
        count = (size_t)left;
    }
    if (offset < window->offset || offset + count > window->offset + window->count) {
        enum result result = fill(window, offset, count);
        if (result != RESULT_OK) {
            return result;
        }
    }
    struct span rest = storage_window_rest(window, offset);
    *out = span_of(rest.bytes, rest.count < count ? rest.count : count);
    return RESULT_OK;
}

struct span storage_window_rest(const struct storage_window *window, uint64_t offset)
{
    if (offset < window->offset || offset >= window->offset + window->count) {
        return SPAN_EMPTY;
    }
    size_t skip = (size_t)(offset - window->offset);
    return span_of(window->bytes + skip, window->count - skip);
}

/* Moves the window to `offset`, keeps what it already has of it, and reads on. */
static enum result fill(struct storage_window *window, uint64_t offset, size_t count)
{
    enum result result = grow(window, count);
    if (result != RESULT_OK) {
        return result;
    }
    struct span kept = storage_window_rest(window, offset);
    if (kept.count > 0) {
        memmove(window->bytes, kept.bytes, kept.count);
    }
    window->offset = offset;
    window->count = kept.count;
    uint64_t start = offset + kept.count;
    size_t wanted = window->capacity - kept.count;
    if (start >= window->limit) {
        return RESULT_OK;
    }
    if (wanted > window->limit - start) {
        wanted = (size_t)(window->limit - start);
    }
    size_t got = 0;
    result = window->files->read(window->files, window->handle, start, window->bytes + kept.count,
                                 wanted, &got);
    window->count += result == RESULT_OK ? got : 0;
    return result;
}

static enum result grow(struct storage_window *window, size_t count)
{
    size_t capacity = window->capacity > 0 ? window->capacity : STORAGE_WINDOW_BYTES;
    while (capacity < count) {
        capacity *= 2;
    }
    if (capacity == window->capacity) {
        return RESULT_OK;
    }
    uint8_t *bytes = realloc(window->bytes, capacity);
    if (bytes == NULL) {
        return RESULT_LIMIT;
    }
    window->bytes = bytes;
    window->capacity = capacity;
    return RESULT_OK;
}
