/* rows.c: see rows.h. Rows never change: a put makes a new one, so the two lists can share them. */
#include "storage/memory/rows.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

struct storage_row {
    unsigned holders;
    size_t key_count;
    size_t value_count;
    uint8_t bytes[];
};

static struct storage_row *new_row(struct span key, struct span value);
static void drop_row(struct storage_row *row);
static enum result reserve(struct storage_row_list *list, size_t count);
static void clear(struct storage_row_list *list);
static void share(struct storage_row_list *to, const struct storage_row_list *from);
static bool is_at(const struct storage_rows *rows, size_t number, struct span key);

void storage_rows_release(struct storage_rows *rows)
{
    clear(&rows->now);
    clear(&rows->flushed);
    free(rows->now.rows);
    free(rows->flushed.rows);
    *rows = (struct storage_rows){0};
}

enum result storage_rows_put(struct storage_rows *rows, struct span key, struct span value)
{
    struct storage_row_list *list = &rows->now;
    struct storage_row *row = new_row(key, value);
    if (row == NULL || reserve(list, list->count + 1) != RESULT_OK) {
        free(row);
        return RESULT_LIMIT;
    }
    size_t at = storage_rows_lower(rows, key);
    if (is_at(rows, at, key)) {
        drop_row(list->rows[at]);
    } else {
        memmove(&list->rows[at + 1], &list->rows[at], (list->count - at) * sizeof row);
        list->count++;
    }
    list->rows[at] = row;
    return RESULT_OK;
}

void storage_rows_remove(struct storage_rows *rows, struct span key)
{
    struct storage_row_list *list = &rows->now;
    size_t at = storage_rows_lower(rows, key);
    if (is_at(rows, at, key)) {
        drop_row(list->rows[at]);
        list->count--;
        memmove(&list->rows[at], &list->rows[at + 1],
                (list->count - at) * sizeof(struct storage_row *));
    }
}

enum result storage_rows_get(const struct storage_rows *rows, struct span key, struct span *value)
{
    size_t at = storage_rows_lower(rows, key);
    if (!is_at(rows, at, key)) {
        return RESULT_NOT_FOUND;
    }
    *value = storage_rows_value(rows, at);
    return RESULT_OK;
}

size_t storage_rows_lower(const struct storage_rows *rows, struct span key)
{
    size_t low = 0;
    size_t high = rows->now.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (span_compare(storage_rows_key(rows, middle), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct span storage_rows_key(const struct storage_rows *rows, size_t number)
{
    ASSERT(number < rows->now.count);
    const struct storage_row *row = rows->now.rows[number];
    return span_of(row->bytes, row->key_count);
}

struct span storage_rows_value(const struct storage_rows *rows, size_t number)
{
    ASSERT(number < rows->now.count);
    const struct storage_row *row = rows->now.rows[number];
    return span_of(row->bytes + row->key_count, row->value_count);
}

enum result storage_rows_flush(struct storage_rows *rows)
{
    if (reserve(&rows->flushed, rows->now.count) != RESULT_OK) {
        return RESULT_LIMIT;
    }
    share(&rows->flushed, &rows->now);
    return RESULT_OK;
}

void storage_rows_cut(struct storage_rows *rows)
{
    /* The list's room never shrinks, and what was flushed was in it once. */
    ASSERT(rows->now.room >= rows->flushed.count);
    share(&rows->now, &rows->flushed);
}

static bool is_at(const struct storage_rows *rows, size_t number, struct span key)
{
    return number < rows->now.count && span_equal(storage_rows_key(rows, number), key);
}

static struct storage_row *new_row(struct span key, struct span value)
{
    struct storage_row *row = malloc(sizeof *row + key.count + value.count);
    if (row == NULL) {
        return NULL;
    }
    *row = (struct storage_row){.holders = 1, .key_count = key.count, .value_count = value.count};
    memcpy(row->bytes, key.bytes, key.count);
    if (value.count > 0) {
        memcpy(row->bytes + key.count, value.bytes, value.count);
    }
    return row;
}

static void drop_row(struct storage_row *row)
{
    ASSERT(row->holders > 0);
    if (--row->holders == 0) {
        free(row);
    }
}

static enum result reserve(struct storage_row_list *list, size_t count)
{
    if (count <= list->room) {
        return RESULT_OK;
    }
    size_t room = list->room == 0 ? 16 : list->room;
    while (room < count) {
        room *= 2;
    }
    struct storage_row **rows = realloc(list->rows, room * sizeof *rows);
    if (rows == NULL) {
        return RESULT_LIMIT;
    }
    list->rows = rows;
    list->room = room;
    return RESULT_OK;
}

static void clear(struct storage_row_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        drop_row(list->rows[i]);
    }
    list->count = 0;
}

static void share(struct storage_row_list *to, const struct storage_row_list *from)
{
    ASSERT(to->room >= from->count);
    for (size_t i = 0; i < from->count; i++) {
        from->rows[i]->holders++;
    }
    clear(to);
    for (size_t i = 0; i < from->count; i++) {
        to->rows[i] = from->rows[i];
    }
    to->count = from->count;
}
