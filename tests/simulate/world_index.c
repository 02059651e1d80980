/*
 * world_index.c: rows in an array, and a second array with what was there at the last flush.
 */
#include "tests/simulate/world_index.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/wire/reader.h"

enum { ROWS_MAX = 2048 };

struct row {
    uint8_t *bytes;
    size_t count;
};

struct rows {
    struct row at[ROWS_MAX];
    uint32_t count;
    uint64_t position;
};

struct world_index {
    struct storage_index port;
    struct rows now;
    struct rows flushed;
};

static struct span row_span(const struct row *row)
{
    return span_of(row->bytes, row->count);
}

static void row_set(struct row *row, struct span value)
{
    free(row->bytes);
    row->bytes = malloc(value.count + 1);
    ASSERT(row->bytes != NULL);
    memcpy(row->bytes, value.bytes, value.count);
    row->count = value.count;
}

static void rows_clear(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        free(rows->at[i].bytes);
    }
    *rows = (struct rows){0};
}

static void rows_copy(struct rows *to, const struct rows *from)
{
    rows_clear(to);
    to->count = from->count;
    to->position = from->position;
    for (uint32_t i = 0; i < from->count; i++) {
        row_set(&to->at[i], row_span(&from->at[i]));
    }
}

static struct row *find(const struct rows *rows, struct span execution_id)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct span id = wire_string_or(wire_find_text(row_span(&rows->at[i]), "executionId"), "");
        if (span_equal(id, execution_id)) {
            return (struct row *)&rows->at[i];
        }
    }
    return NULL;
}

static int64_t revision_of(struct span message)
{
    return wire_int_or(wire_find_text(message, "revision"), 0);
}

static enum result apply(struct storage_index *self, const struct span *messages, size_t count,
                         uint64_t position)
{
    struct rows *rows = &((struct world_index *)self)->now;
    for (size_t i = 0; i < count; i++) {
        struct row *row =
            find(rows, wire_string_or(wire_find_text(messages[i], "executionId"), ""));
        if (row == NULL) {
            ASSERT(rows->count < ROWS_MAX);
            row_set(&rows->at[rows->count++], messages[i]);
        } else if (revision_of(messages[i]) > revision_of(row_span(row))) {
            row_set(row, messages[i]);
        }
    }
    rows->position = position;
    return RESULT_OK;
}

static enum result position(struct storage_index *self, uint64_t *out)
{
    *out = ((struct world_index *)self)->now.position;
    return RESULT_OK;
}

static enum result row(struct storage_index *self, struct span execution_id, struct arena *arena,
                       struct span *out)
{
    const struct row *found = find(&((struct world_index *)self)->now, execution_id);
    if (found == NULL) {
        return RESULT_NOT_FOUND;
    }
    *out = arena_copy(arena, row_span(found));
    return RESULT_OK;
}

static enum result list(struct storage_index *self, struct span query, struct arena *arena,
                        struct span *out)
{
    static const uint8_t nothing[] = {0x80};
    (void)self;
    (void)query;
    *out = arena_copy(arena, span_of(nothing, sizeof nothing));
    return RESULT_OK;
}

static enum result logs(struct storage_index *self, struct span execution_id, uint64_t first_index,
                        uint32_t limit, struct arena *arena, struct span *out)
{
    static const uint8_t nothing[] = {0x90};
    (void)self;
    (void)execution_id;
    (void)first_index;
    (void)limit;
    *out = arena_copy(arena, span_of(nothing, sizeof nothing));
    return RESULT_OK;
}

static enum result flush(struct storage_index *self)
{
    struct world_index *index = (struct world_index *)self;
    rows_copy(&index->flushed, &index->now);
    return RESULT_OK;
}

static enum result remove_row(struct storage_index *self, struct span execution_id)
{
    struct rows *rows = &((struct world_index *)self)->now;
    struct row *found = find(rows, execution_id);
    if (found == NULL) {
        return RESULT_NOT_FOUND;
    }
    free(found->bytes);
    *found = rows->at[--rows->count];
    return RESULT_OK;
}

static void close_index(struct storage_index *self)
{
    (void)self;
}

struct world_index *world_index_new(void)
{
    static const struct storage_index_ops ops = {.apply = apply,
                                                 .position = position,
                                                 .row = row,
                                                 .list = list,
                                                 .logs = logs,
                                                 .flush = flush,
                                                 .remove = remove_row,
                                                 .close = close_index};
    struct world_index *index = calloc(1, sizeof *index);
    ASSERT(index != NULL);
    index->port.ops = &ops;
    return index;
}

void world_index_free(struct world_index *index)
{
    rows_clear(&index->now);
    rows_clear(&index->flushed);
    free(index);
}

struct storage_index *world_index_port(struct world_index *index)
{
    return &index->port;
}

void world_index_cut(struct world_index *index)
{
    rows_copy(&index->now, &index->flushed);
}

void world_index_each(const struct world_index *index,
                      void (*each)(void *owner, struct span message), void *owner)
{
    for (uint32_t i = 0; i < index->now.count; i++) {
        each(owner, row_span(&index->now.at[i]));
    }
}

struct span world_index_row(const struct world_index *index, const char *execution_id)
{
    const struct row *found = find(&index->now, span_text(execution_id));
    return found == NULL ? SPAN_EMPTY : row_span(found);
}
