/* blob_test.c: the blob tiers keep their contract: in memory, and in LMDB. */
#include <criterion/criterion.h>

#include "storage/embedded/embedded.h"
#include "storage/memory/memory.h"
#include "tests/contract/blob_contract.h"
#include "tests/contract/file_limit.h"
#include "tests/contract/support.h"

#define MAP_BYTES (1u << 20) /* small: it must grow by itself */

struct memory_subject {
    struct contract_blob subject; /* first */
    struct storage_blob *blob;
};

static struct storage_blob *memory_open(struct contract_blob *self)
{
    struct memory_subject *memory = (struct memory_subject *)self;
    if (memory->blob == NULL) {
        cr_assert_eq(storage_memory_blob_new(&memory->blob), RESULT_OK);
    }
    return memory->blob;
}

static void memory_end(struct contract_blob *self, struct storage_blob *blob, bool orderly)
{
    (void)self;
    if (!orderly) {
        storage_memory_blob_cut(blob);
    }
}

static void memory_set_full(struct contract_blob *self, struct storage_blob *blob, bool full)
{
    (void)self;
    storage_memory_blob_set_full(blob, full);
}

static void in_memory(void (*rule)(struct contract_blob *))
{
    struct memory_subject memory = {
        .subject = {.open = memory_open, .end = memory_end, .set_full = memory_set_full},
    };
    rule(&memory.subject);
    memory.blob->ops->close(memory.blob);
}

struct lmdb_subject {
    struct contract_blob subject; /* first */
    struct contract_directory directory;
};

static struct storage_blob *lmdb_open(struct contract_blob *self)
{
    struct lmdb_subject *lmdb = (struct lmdb_subject *)self;
    struct storage_blob *blob = NULL;
    enum result result =
        storage_lmdb_blob_open(contract_path(&lmdb->directory, "blobs"), MAP_BYTES, &blob);
    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    return blob;
}

static void lmdb_end(struct contract_blob *self, struct storage_blob *blob, bool orderly)
{
    (void)self;
    (void)orderly; /* closing drops what was not flushed, as a kill does */
    blob->ops->close(blob);
}

static void lmdb_set_full(struct contract_blob *self, struct storage_blob *blob, bool full)
{
    struct lmdb_subject *lmdb = (struct lmdb_subject *)self;
    (void)blob;
    const char *file = contract_path(&lmdb->directory, "blobs/data.mdb");
    contract_file_limit(full ? contract_file_bytes(file) : UINT64_MAX);
}

static void in_lmdb(void (*rule)(struct contract_blob *))
{
    struct lmdb_subject lmdb = {
        .subject = {.open = lmdb_open, .end = lmdb_end, .set_full = lmdb_set_full},
        .directory = contract_directory_new(),
    };
    rule(&lmdb.subject);
    contract_directory_remove(&lmdb.directory);
}

#define X(rule)                                                                                    \
    Test(blob_in_memory, rule)                                                                     \
    {                                                                                              \
        in_memory(contract_blob_##rule);                                                           \
    }                                                                                              \
    Test(blob_in_lmdb, rule)                                                                       \
    {                                                                                              \
        in_lmdb(contract_blob_##rule);                                                             \
    }
CONTRACT_BLOB_RULES(X)
