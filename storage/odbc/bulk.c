/* bulk.c: see bulk.h. */
#include "storage/odbc/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

#define AUDITS_AT_ONCE 64u
#define LOGS_AT_ONCE   256u
#define SIZE_STEP      4u         /* each size is so many times the next */
#define ARRAY_BYTES    (4u << 20) /* a column of so many ends the statement */
#define ARRAY_KEPT     (1u << 20) /* what a column keeps for the next statement */
#define ARRAY_FIRST    4096u
#define LOG_COLUMNS    (STORAGE_LOG_COLUMN_COUNT + 1u)

_Static_assert(AUDITS_AT_ONCE *STORAGE_AUDIT_COLUMN_COUNT <= STORAGE_ODBC_PARAMETERS_MAX &&
                   LOGS_AT_ONCE * LOG_COLUMNS <= STORAGE_ODBC_PARAMETERS_MAX,
               "a statement holds its parameters");
_Static_assert(LOG_COLUMNS <= STORAGE_AUDIT_COLUMN_COUNT, "both tables' columns have an array");

static const struct {
    size_t columns;
    size_t rows_at_once;
    const char *(*text)(enum storage_odbc_flavour, size_t, struct arena *);
} tables[] = {
    [STORAGE_ODBC_AUDITS] = {STORAGE_AUDIT_COLUMN_COUNT, AUDITS_AT_ONCE, storage_odbc_upsert},
    [STORAGE_ODBC_LOGS] = {LOG_COLUMNS, LOGS_AT_ONCE, storage_odbc_insert_logs},
};

/* SQL Server's INSERT minds an entry that is given twice. */
static size_t rows_at_once(enum storage_odbc_flavour flavour, size_t most)
{
    return flavour == STORAGE_ODBC_SQL_SERVER ? 1 : most;
}

enum result storage_odbc_bulk_prepare(struct storage_odbc_session *session,
                                      enum storage_odbc_table table, struct arena *arena,
                                      struct storage_odbc_bulk *out)
{
    enum result result = RESULT_OK;
    size_t rows = rows_at_once(session->flavour, tables[table].rows_at_once);
    *out = (struct storage_odbc_bulk){.by_arrays = storage_odbc_takes_arrays(session->flavour),
                                      .columns = tables[table].columns};
    size_t sizes = out->by_arrays ? 1 : STORAGE_ODBC_BULK_SIZES;
    for (size_t i = 0; i < sizes && result == RESULT_OK; i++) {
        struct storage_odbc_bulk_size *size = &out->sizes[i];
        size->rows = i + 1 < sizes ? rows : 1;
        result = storage_odbc_prepare(
            session, tables[table].text(session->flavour, size->rows, arena), &size->statement);
        rows = rows > SIZE_STEP ? rows / SIZE_STEP : 1;
    }
    return result;
}

void storage_odbc_bulk_release(struct storage_odbc_bulk *bulk)
{
    for (size_t i = 0; i < STORAGE_ODBC_BULK_SIZES; i++) {
        storage_odbc_release(&bulk->sizes[i].statement);
    }
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT; i++) {
        free(bulk->arrays[i].text);
        bulk->arrays[i] = (struct storage_odbc_array){0};
    }
}

void storage_odbc_bulk_begin(struct storage_odbc_bulk *bulk, size_t rows)
{
    bulk->left = rows;
    bulk->filled = 0;
    bulk->column = 0;
    bulk->under_way = NULL;
    bulk->overflowed = false;
    for (size_t i = 0; i < STORAGE_ODBC_BULK_SIZES; i++) {
        bulk->sizes[i].statement.bound = 0;
    }
    for (size_t i = 0; i < bulk->columns; i++) {
        bulk->arrays[i].bytes = 0;
    }
}

/* ---- arrays ---- */

/* Room for `bytes` more; NULL: no memory. */
static char *array_room(struct storage_odbc_bulk *bulk, struct storage_odbc_array *array,
                        size_t bytes)
{
    size_t capacity = array->capacity == 0 ? ARRAY_FIRST : array->capacity;
    while (capacity - array->bytes < bytes) {
        capacity *= 2;
    }
    if (capacity != array->capacity) {
        char *text = realloc(array->text, capacity);
        if (text == NULL) {
            bulk->overflowed = true;
            return NULL;
        }
        array->text = text;
        array->capacity = capacity;
    }
    return array->text + array->bytes;
}

/* The next column's array, behind the comma; NULL: no memory. */
static struct storage_odbc_array *array_next(struct storage_odbc_bulk *bulk)
{
    ASSERT(bulk->column < bulk->columns);
    struct storage_odbc_array *array = &bulk->arrays[bulk->column++];
    char *out = array_room(bulk, array, 1);
    if (out == NULL) {
        return NULL;
    }
    *out = array->bytes == 0 ? '{' : ',';
    array->bytes++;
    return array;
}

static void array_plain(struct storage_odbc_bulk *bulk, const char *text)
{
    struct storage_odbc_array *array = array_next(bulk);
    size_t bytes = strlen(text);
    char *out = array == NULL ? NULL : array_room(bulk, array, bytes);
    if (out != NULL) {
        memcpy(out, text, bytes);
        array->bytes += bytes;
    }
}

/* In quotes; within them only those and the backslash mean anything. */
static void array_text(struct storage_odbc_bulk *bulk, struct span text)
{
    struct storage_odbc_array *array = array_next(bulk);
    char *begin = array == NULL ? NULL : array_room(bulk, array, text.count * 2 + 2);
    char *out = begin;
    if (begin == NULL) {
        return;
    }
    *out++ = '"';
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] == '"' || text.bytes[i] == '\\') {
            *out++ = '\\';
        }
        *out++ = (char)text.bytes[i];
    }
    *out++ = '"';
    array->bytes += (size_t)(out - begin);
}

static enum result arrays_run(struct storage_odbc_bulk *bulk)
{
    struct storage_odbc_statement *statement = &bulk->sizes[0].statement;
    for (size_t i = 0; i < bulk->columns; i++) {
        struct storage_odbc_array *array = &bulk->arrays[i];
        char *out = array_room(bulk, array, 1);
        if (out != NULL) {
            *out = '}';
            array->bytes++;
            storage_odbc_bind_text(statement, span_of(array->text, array->bytes));
        }
    }
    enum result result = bulk->overflowed ? RESULT_LIMIT : storage_odbc_run(statement);
    for (size_t i = 0; i < bulk->columns; i++) {
        struct storage_odbc_array *array = &bulk->arrays[i];
        array->bytes = 0;
        if (array->capacity > ARRAY_KEPT) {
            free(array->text);
            *array = (struct storage_odbc_array){0};
        }
    }
    statement->bound = 0;
    return result;
}

static enum result arrays_row_done(struct storage_odbc_bulk *bulk)
{
    size_t most = 0;
    for (size_t i = 0; i < bulk->columns; i++) {
        most = bulk->arrays[i].bytes > most ? bulk->arrays[i].bytes : most;
    }
    bool full = most >= ARRAY_BYTES || bulk->overflowed;
    return bulk->left == 0 || full ? arrays_run(bulk) : RESULT_OK;
}

/* ---- VALUES lists ---- */

/* Where the row's parameters go. */
static struct storage_odbc_statement *list_row(struct storage_odbc_bulk *bulk)
{
    if (bulk->under_way == NULL) {
        bulk->under_way = bulk->sizes;
        while (bulk->under_way->rows > bulk->left) {
            bulk->under_way++;
        }
    }
    bulk->column++;
    return &bulk->under_way->statement;
}

static enum result list_row_done(struct storage_odbc_bulk *bulk)
{
    bulk->filled++;
    if (bulk->filled < bulk->under_way->rows) {
        return RESULT_OK;
    }
    struct storage_odbc_statement *statement = &bulk->under_way->statement;
    bulk->filled = 0;
    bulk->under_way = NULL;
    return storage_odbc_run(statement);
}

/* ---- both ---- */

void storage_odbc_bulk_text(struct storage_odbc_bulk *bulk, struct span text)
{
    if (bulk->by_arrays) {
        array_text(bulk, text);
    } else {
        storage_odbc_bind_text(list_row(bulk), text);
    }
}

void storage_odbc_bulk_integer(struct storage_odbc_bulk *bulk, int64_t integer)
{
    if (bulk->by_arrays) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)integer);
        array_plain(bulk, text);
    } else {
        storage_odbc_bind_integer(list_row(bulk), integer);
    }
}

void storage_odbc_bulk_null(struct storage_odbc_bulk *bulk, bool text)
{
    if (bulk->by_arrays) {
        array_plain(bulk, "NULL");
    } else {
        storage_odbc_bind_null(list_row(bulk), text);
    }
}

enum result storage_odbc_bulk_row_done(struct storage_odbc_bulk *bulk)
{
    ASSERT(bulk->left > 0);
    ASSERT(bulk->column == bulk->columns || bulk->overflowed);
    bulk->left--;
    bulk->column = 0;
    return bulk->by_arrays ? arrays_row_done(bulk) : list_row_done(bulk);
}
