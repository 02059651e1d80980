/*
 * bulk.h: rows into one of the two audit tables, many a statement, by statements that are prepared
 * once. PostgreSQL gets a statement's rows as one array a column, so that it neither reads nor
 * plans a text that grows with them; the others get VALUES lists of a few lengths.
 */
#ifndef STORAGE_ODBC_BULK_H
#define STORAGE_ODBC_BULK_H

#include "storage/odbc/session.h"

#define STORAGE_ODBC_BULK_SIZES 5u

/* Statements for many rows, for some and for one: each time the largest that can be filled. */
struct storage_odbc_bulk_size {
    struct storage_odbc_statement statement;
    size_t rows;
};

/* '{"a","b",NULL' */
struct storage_odbc_array {
    char *text;
    size_t bytes;
    size_t capacity;
};

struct storage_odbc_bulk {
    /* private to bulk.c */
    struct storage_odbc_bulk_size sizes[STORAGE_ODBC_BULK_SIZES]; /* the largest first, then to 1 */
    size_t left;                              /* rows to come, this one included */
    size_t filled;                            /* of the statement under way */
    struct storage_odbc_bulk_size *under_way; /* VALUES lists */
    bool by_arrays;
    bool overflowed; /* no memory for an array */
    size_t columns;
    size_t column; /* the next of the row */
    struct storage_odbc_array arrays[STORAGE_AUDIT_COLUMN_COUNT];
};

/* The arena is for the statements' texts. On an error, release it too. */
MUST_USE enum result storage_odbc_bulk_prepare(struct storage_odbc_session *session,
                                               enum storage_odbc_table table, struct arena *arena,
                                               struct storage_odbc_bulk *out);
/* Idempotent; of a zeroed one too. */
void storage_odbc_bulk_release(struct storage_odbc_bulk *bulk);

/* Before `rows` rows; forgets what an error has left of others. */
void storage_odbc_bulk_begin(struct storage_odbc_bulk *bulk, size_t rows);
/* The row's columns in their order; a text must live until its statement has run. */
void storage_odbc_bulk_text(struct storage_odbc_bulk *bulk, struct span text);
void storage_odbc_bulk_integer(struct storage_odbc_bulk *bulk, int64_t integer);
void storage_odbc_bulk_null(struct storage_odbc_bulk *bulk, bool text);
/* The row has all its columns. Runs a statement that is full, and the last one. */
MUST_USE enum result storage_odbc_bulk_row_done(struct storage_odbc_bulk *bulk);

#endif
