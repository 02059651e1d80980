/*
 * window.h: a piece of one file in memory that moves forward, so that many small batches cost one
 * read. One owner; it reads below `limit` only, which its owner sets to what can no longer change.
 */
#ifndef STORAGE_EMBEDDED_LOG_WINDOW_H
#define STORAGE_EMBEDDED_LOG_WINDOW_H

#include "storage/file.h"

#define STORAGE_WINDOW_BYTES (256u << 10)

struct storage_window {
    struct storage_files *files; /* borrowed */
    int handle;                  /* borrowed */
    uint64_t limit;              /* file offset; nothing at or behind it is read */
    /* private to window.c */
    uint8_t *bytes;
    size_t capacity;
    uint64_t offset; /* file offset of bytes[0] */
    size_t count;    /* bytes that are valid */
};

/* Takes no memory yet. Pair: storage_window_release. */
void storage_window_init(struct storage_window *window, struct storage_files *files);
void storage_window_release(struct storage_window *window);
/* Turns to another file; keeps the memory. */
void storage_window_point(struct storage_window *window, int handle, uint64_t limit);
/*
 * The bytes [offset, offset + count) of the file; out->count is short only at its end or at the
 * limit. They live until the next call.
 * Errors: RESULT_IO, RESULT_LIMIT (no memory).
 */
MUST_USE enum result storage_window_get(struct storage_window *window, uint64_t offset,
                                        size_t count, struct span *out);
/* What is in memory from `offset` on, without reading. */
struct span storage_window_rest(const struct storage_window *window, uint64_t offset);

#endif
