/*
 * lmdb_blob.c: blobs in one LMDB table. A batch is put in the order of its names, so that names
 * that lie together (one execution's) cost one way down the tree.
 */
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"
#include "storage/answer.h"
#include "storage/embedded/embedded.h"
#include "storage/embedded/lmdb_store.h"
#include "storage/embedded/stores_copy.h"

#define BLOB_MAGIC      0x424f4c42u
#define BATCH_ITEMS_MAX 200u
#define LIST_BLOCK      (64u << 10)
#define LIST_BYTES_MAX  (64u << 20)

struct lmdb_blob {
    struct storage_blob blob; /* first: the port points here */
    uint32_t magic;
    struct storage_lmdb *store;
};

static const char *const table_names[] = {"blobs", NULL};

static const struct storage_blob_ops blob_ops;

enum result storage_lmdb_blob_open(const char *directory, uint64_t map_bytes,
                                   struct storage_blob **out)
{
    struct lmdb_blob *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->blob.ops = &blob_ops;
    self->magic = BLOB_MAGIC;
    enum result result = storage_lmdb_open(directory, map_bytes, table_names, &self->store);
    if (result != RESULT_OK) {
        free(self);
        return result;
    }
    *out = &self->blob;
    return RESULT_OK;
}

static struct lmdb_blob *blob_cast(struct storage_blob *blob)
{
    struct lmdb_blob *self = (struct lmdb_blob *)blob;
    ASSERT(self->magic == BLOB_MAGIC);
    return self;
}

static int compare_names(const void *a, const void *b)
{
    const struct storage_lmdb_change *left = a;
    const struct storage_lmdb_change *right = b;
    return span_compare(left->key, right->key);
}

static bool name_is_valid(struct span name)
{
    return name.count > 0 && name.count <= STORAGE_KEY_BYTES_MAX;
}

static enum result blob_put(struct storage_blob *blob, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    struct lmdb_blob *self = blob_cast(blob);
    ASSERT(count <= BATCH_ITEMS_MAX);
    struct storage_lmdb_change changes[BATCH_ITEMS_MAX];
    uint8_t results[BATCH_ITEMS_MAX];
    enum result result = RESULT_OK;
    size_t valid = 0;
    for (size_t i = 0; i < count; i++) {
        results[i] = name_is_valid(items[i].name) ? RESULT_OK : RESULT_INVALID;
        if (results[i] != RESULT_OK) {
            result = RESULT_INVALID;
            continue;
        }
        changes[valid++] = (struct storage_lmdb_change){
            .action = STORAGE_LMDB_PUT,
            .key = items[i].name,
            .value = items[i].bytes,
        };
    }
    qsort(changes, valid, sizeof changes[0], compare_names);
    enum result stored = storage_lmdb_apply(self->store, changes, valid);
    for (size_t i = 0; i < count && stored != RESULT_OK; i++) {
        results[i] = results[i] == RESULT_OK ? (uint8_t)stored : results[i];
    }
    return storage_answer(reply_to, (struct storage_answer){
                                        .result = stored != RESULT_OK ? stored : result,
                                        .results = span_of(results, count),
                                    });
}

static enum result blob_get(struct storage_blob *blob, struct span name,
                            struct proto_address reply_to)
{
    struct storage_answer answer = {.result = RESULT_NOT_FOUND};
    if (name_is_valid(name)) {
        answer.result = storage_lmdb_get(blob_cast(blob)->store, 0, name, &answer.bytes);
    }
    if (answer.result != RESULT_OK) {
        answer.bytes = SPAN_EMPTY;
    }
    return storage_answer(reply_to, answer);
}

struct blob_list {
    struct span prefix;
    uint32_t limit;
    uint32_t count;
    struct wire_writer *writer;
};

static bool list_one(void *owner, struct span name, struct span bytes)
{
    (void)bytes;
    struct blob_list *list = owner;
    bool ours = name.count >= list->prefix.count &&
                span_equal(span_of(name.bytes, list->prefix.count), list->prefix);
    if (!ours || list->count == list->limit) {
        return false;
    }
    wire_write_string(list->writer, name);
    list->count++;
    return true;
}

static enum result blob_list(struct storage_blob *blob, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    struct arena arena;
    struct wire_writer writer;
    arena_init(&arena, LIST_BLOCK, LIST_BYTES_MAX);
    wire_writer_init(&writer, &arena, LIST_BLOCK / 4);
    struct blob_list list = {prefix, limit, 0, &writer};
    size_t mark = wire_open_array(&writer);
    struct storage_answer answer = {
        .result = storage_lmdb_scan(blob_cast(blob)->store, 0, prefix, list_one, &list),
    };
    wire_close_array(&writer, mark, list.count);
    answer.bytes = wire_writer_span(&writer);
    if (arena.overflowed) {
        answer = (struct storage_answer){.result = RESULT_LIMIT};
    }
    enum result result = storage_answer(reply_to, answer);
    arena_release(&arena);
    return result;
}

static enum result blob_remove(struct storage_blob *blob, struct span prefix,
                               struct proto_address reply_to)
{
    struct storage_lmdb_change change = {.action = STORAGE_LMDB_DELETE_PREFIX, .key = prefix};
    struct storage_answer answer = {.result = RESULT_INVALID};
    if (name_is_valid(prefix) && prefix.bytes[prefix.count - 1] == '/') {
        answer.result = storage_lmdb_apply(blob_cast(blob)->store, &change, 1);
    }
    return storage_answer(reply_to, answer);
}

static enum result blob_flush(struct storage_blob *blob, struct proto_address reply_to)
{
    return storage_answer(
        reply_to, (struct storage_answer){.result = storage_lmdb_flush(blob_cast(blob)->store)});
}

static void blob_close(struct storage_blob *blob)
{
    struct lmdb_blob *self = blob_cast(blob);
    storage_lmdb_close(self->store);
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

enum result storage_lmdb_blob_copy(struct storage_blob *blob, const char *directory)
{
    return storage_lmdb_copy(blob_cast(blob)->store, directory);
}
