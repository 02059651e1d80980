/* memory_blob.c: blobs in memory; see memory.h. */
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"
#include "storage/answer.h"
#include "storage/memory/memory.h"
#include "storage/memory/rows.h"

#define BLOB_MAGIC      0x424c4d4du
#define NAME_BYTES_MAX  480u
#define BATCH_ITEMS_MAX 200u
#define LIST_BLOCK      4096u
#define LIST_BYTES_MAX  (64u << 20)

struct memory_blob {
    struct storage_blob blob; /* first: the port points here */
    uint32_t magic;
    bool full;
    struct storage_rows rows;
};

static const struct storage_blob_ops blob_ops;

enum result storage_memory_blob_new(struct storage_blob **out)
{
    struct memory_blob *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->blob.ops = &blob_ops;
    self->magic = BLOB_MAGIC;
    *out = &self->blob;
    return RESULT_OK;
}

static struct memory_blob *blob_cast(struct storage_blob *blob)
{
    struct memory_blob *self = (struct memory_blob *)blob;
    ASSERT(self->magic == BLOB_MAGIC);
    return self;
}

void storage_memory_blob_cut(struct storage_blob *blob)
{
    storage_rows_cut(&blob_cast(blob)->rows);
}

void storage_memory_blob_set_full(struct storage_blob *blob, bool full)
{
    blob_cast(blob)->full = full;
}

static enum result blob_put(struct storage_blob *blob, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    struct memory_blob *self = blob_cast(blob);
    uint8_t results[BATCH_ITEMS_MAX];
    ASSERT(count <= BATCH_ITEMS_MAX);
    enum result worst = RESULT_OK;
    for (size_t i = 0; i < count; i++) {
        bool valid = items[i].name.count > 0 && items[i].name.count <= NAME_BYTES_MAX;
        enum result result = !valid ? RESULT_INVALID : self->full ? RESULT_FULL : RESULT_OK;
        if (result == RESULT_OK) {
            result = storage_rows_put(&self->rows, items[i].name, items[i].bytes);
        }
        results[i] = (uint8_t)result;
        worst = result != RESULT_OK ? result : worst;
    }
    return storage_answer(reply_to, (struct storage_answer){
                                        .result = worst,
                                        .results = span_of(results, count),
                                    });
}

static enum result blob_get(struct storage_blob *blob, struct span name,
                            struct proto_address reply_to)
{
    struct storage_answer answer = {0};
    answer.result = storage_rows_get(&blob_cast(blob)->rows, name, &answer.bytes);
    return storage_answer(reply_to, answer);
}

static bool has_prefix(struct span name, struct span prefix)
{
    return name.count >= prefix.count && span_equal(span_of(name.bytes, prefix.count), prefix);
}

static enum result blob_list(struct storage_blob *blob, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    const struct storage_rows *rows = &blob_cast(blob)->rows;
    struct arena arena;
    struct wire_writer writer;
    arena_init(&arena, LIST_BLOCK, LIST_BYTES_MAX);
    wire_writer_init(&writer, &arena, LIST_BLOCK / 2);
    size_t mark = wire_open_array(&writer);
    size_t first = storage_rows_lower(rows, prefix);
    uint32_t count = 0;
    while (count < limit && first + count < rows->now.count &&
           has_prefix(storage_rows_key(rows, first + count), prefix)) {
        wire_write_string(&writer, storage_rows_key(rows, first + count));
        count++;
    }
    wire_close_array(&writer, mark, count);
    struct storage_answer answer = {.result = RESULT_LIMIT};
    if (!arena.overflowed) {
        answer = (struct storage_answer){.result = RESULT_OK, .bytes = wire_writer_span(&writer)};
    }
    enum result result = storage_answer(reply_to, answer);
    arena_release(&arena);
    return result;
}

static enum result blob_remove(struct storage_blob *blob, struct span prefix,
                               struct proto_address reply_to)
{
    struct storage_rows *rows = &blob_cast(blob)->rows;
    struct storage_answer answer = {.result = RESULT_INVALID};
    if (prefix.count > 0 && prefix.bytes[prefix.count - 1] == '/') {
        size_t first = storage_rows_lower(rows, prefix);
        while (first < rows->now.count && has_prefix(storage_rows_key(rows, first), prefix)) {
            storage_rows_remove(rows, storage_rows_key(rows, first));
        }
        answer.result = RESULT_OK;
    }
    return storage_answer(reply_to, answer);
}

static enum result blob_flush(struct storage_blob *blob, struct proto_address reply_to)
{
    struct storage_answer answer = {.result = storage_rows_flush(&blob_cast(blob)->rows)};
    return storage_answer(reply_to, answer);
}

static void blob_close(struct storage_blob *blob)
{
    struct memory_blob *self = blob_cast(blob);
    storage_rows_release(&self->rows);
    self->magic = 0;
    free(self);
}

static const struct storage_blob_ops blob_ops = {
    .put = blob_put,
    .get = blob_get,
    .list = blob_list,
    .remove = blob_remove,
    .flush = blob_flush,
    .close = blob_close,
};
