/* blob_test.c: the blob tiers keep their contract: in memory, and in LMDB. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

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

/* ---- a damaged file ---- */

enum { PAGE = 4096, BLOBS = 60, LARGE_BYTES = 9000 };

static struct span damage_name(char name[32], size_t i)
{
    snprintf(name, 32, "w/e%zu/execution.msgpack", i);
    return span_text(name);
}

/* What was stored as the i-th; some have pages of their own. */
static struct span damage_bytes(uint8_t bytes[LARGE_BYTES], size_t i)
{
    size_t count = i % 10 == 0 ? LARGE_BYTES : 100 + i;
    contract_fill(bytes, count, i);
    return span_of(bytes, count);
}

static void store_some(const char *directory)
{
    struct storage_blob *blob = NULL;
    struct contract_asker asker;
    contract_asker_init(&asker);
    cr_assert_eq(storage_lmdb_blob_open(directory, MAP_BYTES, &blob), RESULT_OK);
    for (size_t i = 0; i < BLOBS; i++) {
        char name[32];
        static uint8_t bytes[LARGE_BYTES];
        struct storage_blob_item item = {.name = damage_name(name, i),
                                         .bytes = damage_bytes(bytes, i)};
        cr_assert_eq(blob->ops->put(blob, &item, 1, contract_ask(&asker)), RESULT_OK);
        cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
    }
    cr_assert_eq(blob->ops->flush(blob, contract_ask(&asker)), RESULT_OK);
    contract_asker_release(&asker);
    blob->ops->close(blob);
}

/* Reads all: whatever is told to be found is what was stored. Returns how many were not found, or
 * were said to be damaged. */
static size_t read_all(const char *directory)
{
    struct storage_blob *blob = NULL;
    struct contract_asker asker;
    size_t lost = 0;
    enum result result = storage_lmdb_blob_open(directory, MAP_BYTES, &blob);
    if (result != RESULT_OK) {
        cr_assert_eq(result, RESULT_CORRUPT, "%s", result_text(result));
        return BLOBS;
    }
    contract_asker_init(&asker);
    for (size_t i = 0; i < BLOBS; i++) {
        char name[32];
        static uint8_t bytes[LARGE_BYTES];
        cr_assert_eq(blob->ops->get(blob, damage_name(name, i), contract_ask(&asker)), RESULT_OK);
        const struct proto_port_done *done = contract_answer(&asker);
        lost += done->result != RESULT_OK;
        cr_assert(done->result != RESULT_OK || span_equal(done->bytes, damage_bytes(bytes, i)),
                  "%s has other bytes", name);
    }
    contract_asker_release(&asker);
    blob->ops->close(blob);
    return lost;
}

static void overwrite(const char *path, long offset, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path, "r+");
    cr_assert(file != NULL && fseek(file, offset, SEEK_SET) == 0);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    cr_assert_eq(fclose(file), 0);
}

/* LMDB has no checksums of its own. Each page in its turn is zeros, as one that was never written,
 * or says other sizes of its rows: nothing crashes, nothing wrong is read. (Not so with noise: LMDB
 * follows offsets that point out of a page.) */
Test(blob_in_lmdb, damaged_pages_cost_what_they_hold_and_nothing_else)
{
    struct contract_directory directory = contract_directory_new();
    char path[192];
    char file[192];
    static uint8_t whole[1 << 20];
    static uint8_t changed[PAGE];
    snprintf(path, sizeof path, "%s", contract_path(&directory, "blobs"));
    snprintf(file, sizeof file, "%s", contract_path(&directory, "blobs/data.mdb"));
    store_some(path);
    cr_assert_eq(read_all(path), 0);
    FILE *sound = fopen(file, "r");
    cr_assert_not_null(sound);
    size_t count = fread(whole, 1, sizeof whole, sound);
    fclose(sound);
    cr_assert(count > 20 * PAGE && count < sizeof whole);
    size_t lost = 0;
    for (size_t page = 0; page < count / PAGE; page++) {
        for (int how = 0; how < 3; how++) {
            memset(changed, 0, sizeof changed);
            if (how > 0) {
                memcpy(changed, whole + page * PAGE, PAGE);
                uint16_t lower = 0;
                memcpy(&lower, changed + 12, sizeof lower);
                for (size_t at = 16; at + 2 <= lower && lower < PAGE; at += 2) {
                    uint16_t row = 0;
                    memcpy(&row, changed + at, sizeof row);
                    if (row < PAGE - 4) {
                        memset(changed + row, how == 1 ? 0xff : 0x7f, 4);
                    }
                }
            }
            overwrite(file, (long)(page * PAGE), changed, PAGE);
            lost += read_all(path);
            overwrite(file, 0, whole, count);
        }
    }

    cr_expect_gt(lost, 0, "it was seen");
    cr_assert_eq(read_all(path), 0);
    contract_directory_remove(&directory);
}
