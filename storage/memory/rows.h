/*
 * rows.h: an ordered table in memory that remembers what it was at the last flush: the stores of
 * the simulator, which cuts the power. Small tables only: every flush copies. One thread.
 */
#ifndef STORAGE_MEMORY_ROWS_H
#define STORAGE_MEMORY_ROWS_H

#include "proto/base/result.h"
#include "proto/base/span.h"

struct storage_row; /* private to rows.c */

struct storage_row_list {
    struct storage_row **rows; /* by key; shared with the other list, counted */
    size_t count;
    size_t room;
};

struct storage_rows {
    struct storage_row_list now;
    struct storage_row_list flushed;
};

/* Zeroed is empty. Pair: storage_rows_release. */
void storage_rows_release(struct storage_rows *rows);

/* Copies both. RESULT_LIMIT: no memory, nothing changed. */
MUST_USE enum result storage_rows_put(struct storage_rows *rows, struct span key,
                                      struct span value);
void storage_rows_remove(struct storage_rows *rows, struct span key);
/* *value lives until the row changes. RESULT_NOT_FOUND. */
MUST_USE enum result storage_rows_get(const struct storage_rows *rows, struct span key,
                                      struct span *value);
/* Number of the first row with a key >= `key`; rows.now.count when there is none. */
size_t storage_rows_lower(const struct storage_rows *rows, struct span key);
struct span storage_rows_key(const struct storage_rows *rows, size_t number);
struct span storage_rows_value(const struct storage_rows *rows, size_t number);

/* What is now is what a power cut leaves. RESULT_LIMIT. */
MUST_USE enum result storage_rows_flush(struct storage_rows *rows);
/* Back to the last flush. */
void storage_rows_cut(struct storage_rows *rows);

#endif
