/* lmdb_store.c: see lmdb_store.h. */
#include "storage/embedded/lmdb_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "storage/posix/directory.h"
#include "storage/posix/mapped.h"

#define STORE_MAGIC       0x424d4c53u
#define TABLES_MAX        8u
#define MAP_BYTES_DEFAULT (1ull << 30)
/* What may wait for a flush; more is committed by the next apply. It bounds the pages that LMDB
 * holds in memory. */
#define REDO_BYTES_MAX   (8u << 20)
#define REDO_CHANGES_MAX 4096u
#define REDO_BYTES_KEPT  (1u << 20) /* of the buffer, from one flush to the next */
/* A file larger than this gives its pages back to the page cache after so many rows. */
#define MAPPED_BYTES_MAX (8u << 20)
#define LOOKS_MAX        256u
#define CRC_BYTES        sizeof(uint32_t)
#define ROW_BYTES_MAX    (1ull << 30)

struct storage_lmdb {
    uint32_t magic;
    MDB_env *env;
    MDB_txn *txn; /* open while anything was read or changed since the last flush */
    MDB_dbi tables[TABLES_MAX];
    MDB_cursor *cursors[TABLES_MAX]; /* of txn; sorted changes then descend the tree once a page */
    size_t table_count;
    struct storage_mapped mapped;
    size_t looks; /* rows looked at since pages were given back */
    bool failed;  /* a dropped transaction could not be done again */
    /* changes of txn: struct redo_head, key, value, each without padding */
    uint8_t *redo;
    size_t redo_count;
    size_t redo_room;
    size_t redo_changes;
};

struct redo_head {
    uint32_t action;
    uint32_t table;
    uint64_t key_count;
    uint64_t value_count;
};

static enum result open_tables(struct storage_lmdb *store, const char *const *names);
static enum result begin(struct storage_lmdb *store);
static void forget_cursors(struct storage_lmdb *store);
static enum result redo_reserve(struct storage_lmdb *store,
                                const struct storage_lmdb_change *changes, size_t count);
static void redo_add(struct storage_lmdb *store, const struct storage_lmdb_change *change);
static void redo_clear(struct storage_lmdb *store);
static int run(struct storage_lmdb *store, const struct storage_lmdb_change *changes, size_t count);
static int run_one(struct storage_lmdb *store, const struct storage_lmdb_change *change);
static int rebuild(struct storage_lmdb *store, bool grow);
static void drop_transaction(struct storage_lmdb *store);
static int redo_all(struct storage_lmdb *store);
static bool read_row(const struct storage_lmdb *store, MDB_val row, struct span *value);
static void note_looks(struct storage_lmdb *store, size_t rows);
static void unmap_pages(const struct storage_lmdb *store);
static int widen_cut_file(struct storage_lmdb *store);
static void find_map(struct storage_lmdb *store);
static int grow_map(struct storage_lmdb *store);
static enum result result_of(struct storage_lmdb *store, int code);

enum result storage_lmdb_open(const char *directory, uint64_t map_bytes,
                              const char *const *table_names, struct storage_lmdb **out)
{
    enum result result = storage_posix_make_directory(directory);
    if (result != RESULT_OK) {
        return result;
    }
    struct storage_lmdb *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return RESULT_LIMIT;
    }
    store->magic = STORE_MAGIC;
    int code = mdb_env_create(&store->env);
    if (code == 0) {
        code = mdb_env_set_maxdbs(store->env, TABLES_MAX);
    }
    if (code == 0) {
        code = mdb_env_set_mapsize(store->env, map_bytes > 0 ? map_bytes : MAP_BYTES_DEFAULT);
    }
    if (code == 0) {
        code = mdb_env_open(store->env, directory, MDB_NORDAHEAD | MDB_NOLOCK | MDB_NOTLS, 0600);
    }
    if (code == 0) {
        code = widen_cut_file(store);
    }
    if (code == 0) { /* a kill in a commit may have left its end in the page cache only */
        code = mdb_env_sync(store->env, 1);
    }
    result = code == 0 ? open_tables(store, table_names) : result_of(store, code);
    if (result != RESULT_OK) {
        storage_lmdb_close(store);
        return result;
    }
    find_map(store);
    *out = store;
    return RESULT_OK;
}

void storage_lmdb_close(struct storage_lmdb *store)
{
    if (store == NULL) {
        return;
    }
    ASSERT(store->magic == STORE_MAGIC);
    drop_transaction(store);
    if (store->env != NULL) {
        mdb_env_close(store->env);
    }
    free(store->redo);
    store->magic = 0;
    free(store);
}

enum result storage_lmdb_apply(struct storage_lmdb *store,
                               const struct storage_lmdb_change *changes, size_t count)
{
    enum result result = RESULT_OK;
    if (store->redo_count > REDO_BYTES_MAX || store->redo_changes > REDO_CHANGES_MAX) {
        result = storage_lmdb_flush(store);
    }
    if (result == RESULT_OK) {
        result = begin(store);
    }
    if (result == RESULT_OK) {
        result = redo_reserve(store, changes, count);
    }
    if (result != RESULT_OK) {
        return result;
    }
    int code = run(store, changes, count);
    while (code == MDB_MAP_FULL) {
        code = rebuild(store, true);
        if (code == 0) {
            code = run(store, changes, count);
        }
    }
    if (code == MDB_TXN_FULL) {
        code = rebuild(store, false);
        result = code == 0 ? storage_lmdb_flush(store) : RESULT_IO;
        if (result != RESULT_OK) {
            return result;
        }
        result = begin(store);
        code = result == RESULT_OK ? run(store, changes, count) : MDB_PANIC;
    }
    if (code != 0) {
        result = result_of(store, code);
        (void)rebuild(store, false);
        return result;
    }
    for (size_t i = 0; i < count; i++) {
        redo_add(store, &changes[i]);
    }
    note_looks(store, count);
    return RESULT_OK;
}

enum result storage_lmdb_flush(struct storage_lmdb *store)
{
    if (store->failed) {
        return RESULT_IO;
    }
    if (store->redo_count == 0) {
        return RESULT_OK;
    }
    int code = 0;
    do {
        forget_cursors(store);
        MDB_txn *txn = store->txn;
        store->txn = NULL;
        code = mdb_txn_commit(txn);
        if (code == 0) {
            redo_clear(store);
            note_looks(store, LOOKS_MAX);
            return RESULT_OK;
        }
    } while (rebuild(store, code == MDB_MAP_FULL) == 0 && code == MDB_MAP_FULL);
    return result_of(store, code);
}

enum result storage_lmdb_get(struct storage_lmdb *store, unsigned table, struct span key,
                             struct span *value)
{
    ASSERT(table < store->table_count);
    enum result result = begin(store);
    if (result != RESULT_OK) {
        return result;
    }
    note_looks(store, 1);
    MDB_val name = {key.count, (void *)(uintptr_t)key.bytes};
    MDB_val row;
    int code = mdb_get(store->txn, store->tables[table], &name, &row);
    if (code != 0) {
        return result_of(store, code);
    }
    return read_row(store, row, value) ? RESULT_OK : RESULT_CORRUPT;
}

/* A damaged page may say any size of a row; behind the end of the file a look at it would kill the
 * process with SIGBUS. (What was changed since the last flush is in memory of LMDB's own.) */
static bool is_in_file(const struct storage_lmdb *store, MDB_val bytes)
{
    MDB_envinfo environment;
    MDB_stat stat;
    const uint8_t *map = store->mapped.address;
    const uint8_t *begin = bytes.mv_data;
    if (map == NULL || begin < map || begin >= map + store->mapped.bytes) {
        return bytes.mv_size <= ROW_BYTES_MAX;
    }
    if (mdb_env_info(store->env, &environment) != 0 || mdb_env_stat(store->env, &stat) != 0) {
        return false;
    }
    size_t used = (environment.me_last_pgno + 1) * stat.ms_psize;
    size_t offset = (size_t)(begin - map);
    return offset <= used && bytes.mv_size <= used - offset;
}

/* false: the row fails its check. */
static bool read_row(const struct storage_lmdb *store, MDB_val row, struct span *value)
{
    uint32_t crc = 0;
    *value = SPAN_EMPTY;
    if (row.mv_size < CRC_BYTES || !is_in_file(store, row)) {
        return false;
    }
    memcpy(&crc, row.mv_data, CRC_BYTES);
    *value = span_of((uint8_t *)row.mv_data + CRC_BYTES, row.mv_size - CRC_BYTES);
    return base_crc32c(0, *value) == crc;
}

enum result storage_lmdb_scan(struct storage_lmdb *store, unsigned table, struct span from,
                              bool (*each)(void *owner, struct span key, struct span value),
                              void *owner)
{
    ASSERT(table < store->table_count);
    enum result result = begin(store);
    MDB_cursor *cursor = NULL;
    if (result == RESULT_OK) {
        result = result_of(store, mdb_cursor_open(store->txn, store->tables[table], &cursor));
    }
    if (result != RESULT_OK) {
        return result;
    }
    enum result found = RESULT_OK;
    MDB_val key = {from.count, (void *)(uintptr_t)from.bytes};
    MDB_val row;
    int code = mdb_cursor_get(cursor, &key, &row, from.count > 0 ? MDB_SET_RANGE : MDB_FIRST);
    bool more = true;
    while (code == 0 && more) {
        struct span value;
        if (key.mv_size <= STORAGE_KEY_BYTES_MAX && is_in_file(store, key) &&
            read_row(store, row, &value)) {
            more = each(owner, span_of(key.mv_data, key.mv_size), value);
        } else {
            found = RESULT_CORRUPT;
        }
        note_looks(store, 1);
        if (more) {
            code = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    return code == 0 || code == MDB_NOTFOUND ? found : result_of(store, code);
}

uint64_t storage_lmdb_count(struct storage_lmdb *store, unsigned table)
{
    ASSERT(table < store->table_count);
    MDB_stat stat;
    bool known =
        begin(store) == RESULT_OK && mdb_stat(store->txn, store->tables[table], &stat) == 0;
    return known ? stat.ms_entries : 0;
}

static enum result open_tables(struct storage_lmdb *store, const char *const *names)
{
    int code = mdb_txn_begin(store->env, NULL, 0, &store->txn);
    for (; code == 0 && names[store->table_count] != NULL; store->table_count++) {
        ASSERT(store->table_count < TABLES_MAX);
        code = mdb_dbi_open(store->txn, names[store->table_count], MDB_CREATE,
                            &store->tables[store->table_count]);
    }
    if (code != 0) {
        return result_of(store, code);
    }
    MDB_txn *txn = store->txn;
    store->txn = NULL;
    return result_of(store, mdb_txn_commit(txn));
}

static enum result begin(struct storage_lmdb *store)
{
    if (store->failed) {
        return RESULT_IO;
    }
    if (store->txn != NULL) {
        return RESULT_OK;
    }
    ASSERT(store->redo_count == 0);
    return result_of(store, mdb_txn_begin(store->env, NULL, 0, &store->txn));
}

static void forget_cursors(struct storage_lmdb *store)
{
    for (size_t i = 0; i < store->table_count; i++) {
        if (store->cursors[i] != NULL) {
            mdb_cursor_close(store->cursors[i]);
            store->cursors[i] = NULL;
        }
    }
}

static enum result redo_reserve(struct storage_lmdb *store,
                                const struct storage_lmdb_change *changes, size_t count)
{
    size_t wanted = store->redo_count;
    for (size_t i = 0; i < count; i++) {
        ASSERT(changes[i].key.count > 0 && changes[i].key.count <= STORAGE_KEY_BYTES_MAX);
        ASSERT(changes[i].table < store->table_count);
        wanted += sizeof(struct redo_head) + changes[i].key.count + changes[i].value.count;
    }
    if (wanted <= store->redo_room) {
        return RESULT_OK;
    }
    size_t room = store->redo_room == 0 ? 64u << 10 : store->redo_room;
    while (room < wanted) {
        room *= 2;
    }
    uint8_t *redo = realloc(store->redo, room);
    if (redo == NULL) {
        return RESULT_LIMIT;
    }
    store->redo = redo;
    store->redo_room = room;
    return RESULT_OK;
}

static uint8_t *put_bytes(uint8_t *next, const void *bytes, size_t count)
{
    if (count > 0) {
        memcpy(next, bytes, count);
    }
    return next + count;
}

static void redo_clear(struct storage_lmdb *store)
{
    store->redo_count = 0;
    store->redo_changes = 0;
    if (store->redo_room > REDO_BYTES_KEPT) {
        free(store->redo);
        store->redo = NULL;
        store->redo_room = 0;
    }
}

static void redo_add(struct storage_lmdb *store, const struct storage_lmdb_change *change)
{
    struct redo_head head = {
        .action = change->action,
        .table = change->table,
        .key_count = change->key.count,
        .value_count = change->value.count,
    };
    uint8_t *next = store->redo + store->redo_count;
    next = put_bytes(next, &head, sizeof head);
    next = put_bytes(next, change->key.bytes, change->key.count);
    next = put_bytes(next, change->value.bytes, change->value.count);
    store->redo_count = (size_t)(next - store->redo);
    store->redo_changes++;
    ASSERT(store->redo_count <= store->redo_room);
}

static int run(struct storage_lmdb *store, const struct storage_lmdb_change *changes, size_t count)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = run_one(store, &changes[i]);
    }
    return code;
}

static int put(MDB_cursor *cursor, MDB_val *key, struct span value)
{
    MDB_val row = {CRC_BYTES + value.count, NULL};
    int code = mdb_cursor_put(cursor, key, &row, MDB_RESERVE);
    if (code == 0) {
        uint32_t crc = base_crc32c(0, value);
        put_bytes(put_bytes(row.mv_data, &crc, CRC_BYTES), value.bytes, value.count);
    }
    return code;
}

static int delete_one(MDB_cursor *cursor, MDB_val *key)
{
    MDB_val row;
    int code = mdb_cursor_get(cursor, key, &row, MDB_SET);
    if (code == 0) {
        code = mdb_cursor_del(cursor, 0);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static int delete_prefix(MDB_cursor *cursor, struct span prefix)
{
    MDB_val row;
    MDB_val key = {prefix.count, (void *)(uintptr_t)prefix.bytes};
    int code = mdb_cursor_get(cursor, &key, &row, MDB_SET_RANGE);
    while (code == 0 && key.mv_size >= prefix.count &&
           memcmp(key.mv_data, prefix.bytes, prefix.count) == 0) {
        code = mdb_cursor_del(cursor, 0);
        if (code == 0) {
            key = (MDB_val){prefix.count, (void *)(uintptr_t)prefix.bytes};
            code = mdb_cursor_get(cursor, &key, &row, MDB_SET_RANGE);
        }
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static int run_one(struct storage_lmdb *store, const struct storage_lmdb_change *change)
{
    MDB_cursor **cursor = &store->cursors[change->table];
    int code =
        *cursor != NULL ? 0 : mdb_cursor_open(store->txn, store->tables[change->table], cursor);
    if (code != 0) {
        return code;
    }
    MDB_val key = {change->key.count, (void *)(uintptr_t)change->key.bytes};
    switch (change->action) {
    case STORAGE_LMDB_PUT:
        return put(*cursor, &key, change->value);
    case STORAGE_LMDB_DELETE:
        return delete_one(*cursor, &key);
    case STORAGE_LMDB_DELETE_PREFIX:
        return delete_prefix(*cursor, change->key);
    }
    ASSERT_UNREACHABLE();
}

/* Drops the transaction and does the kept changes again in a new one, in a larger map if asked for.
 */
static int rebuild(struct storage_lmdb *store, bool grow)
{
    int code = 0;
    do {
        drop_transaction(store);
        code = grow ? grow_map(store) : 0;
        if (code == 0) {
            code = mdb_txn_begin(store->env, NULL, 0, &store->txn);
        }
        if (code == 0) {
            code = redo_all(store);
        }
        grow = true;
    } while (code == MDB_MAP_FULL);
    store->failed = store->failed || code != 0;
    return code;
}

static void drop_transaction(struct storage_lmdb *store)
{
    forget_cursors(store);
    if (store->txn != NULL) {
        mdb_txn_abort(store->txn);
        store->txn = NULL;
    }
}

static int redo_all(struct storage_lmdb *store)
{
    int code = 0;
    const uint8_t *next = store->redo;
    const uint8_t *end = next + store->redo_count;
    while (code == 0 && next < end) {
        struct redo_head head;
        memcpy(&head, next, sizeof head);
        const uint8_t *key = next + sizeof head;
        const uint8_t *value = key + head.key_count;
        struct storage_lmdb_change change = {
            .action = (enum storage_lmdb_action)head.action,
            .table = head.table,
            .key = span_of(key, head.key_count),
            .value = span_of(value, head.value_count),
        };
        code = run_one(store, &change);
        next = value + head.value_count;
    }
    return code;
}

/*
 * A page of the file that was looked at counts as memory of ours until it is unmapped. Pointers
 * into the map stay good: what is needed again costs a minor fault.
 */
static void note_looks(struct storage_lmdb *store, size_t rows)
{
    store->looks += rows;
    if (store->looks >= LOOKS_MAX) {
        store->looks = 0;
        unmap_pages(store);
    }
}

enum result storage_lmdb_copy(struct storage_lmdb *store, const char *directory)
{
    char path[PATH_MAX];
    int code = mdb_env_copy(store->env, directory);
    if (code != 0) {
        return result_of(store, code);
    }
    int bytes = snprintf(path, sizeof path, "%s/data.mdb", directory);
    int handle = bytes > 0 && (size_t)bytes < sizeof path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    enum result result =
        handle >= 0 && fsync(handle) == 0 ? RESULT_OK : storage_posix_result(errno);
    if (handle >= 0) {
        close(handle);
    }
    return result;
}

static void unmap_pages(const struct storage_lmdb *store)
{
    MDB_envinfo environment;
    MDB_stat stat;
    if (mdb_env_info(store->env, &environment) != 0 || mdb_env_stat(store->env, &stat) != 0) {
        return;
    }
    size_t used = (environment.me_last_pgno + 1) * stat.ms_psize;
    if (used > MAPPED_BYTES_MAX) {
        storage_posix_unmap_pages(store->mapped, used);
    }
}

static void find_map(struct storage_lmdb *store)
{
    int handle = -1;
    if (mdb_env_get_fd(store->env, &handle) == 0) {
        store->mapped = storage_posix_mapped(handle);
    }
}

/*
 * Pages behind the end of a file that somebody has cut off would kill the process with SIGBUS, for
 * LMDB reads them through its map. As a hole they are zeros, and those it reports as damage.
 */
static int widen_cut_file(struct storage_lmdb *store)
{
    MDB_envinfo environment;
    MDB_stat statistics;
    struct stat status;
    int handle = -1;
    int code = mdb_env_info(store->env, &environment);
    code = code == 0 ? mdb_env_stat(store->env, &statistics) : code;
    code = code == 0 ? mdb_env_get_fd(store->env, &handle) : code;
    if (code != 0) {
        return code;
    }
    off_t bytes = (off_t)((environment.me_last_pgno + 1) * statistics.ms_psize);
    if (fstat(handle, &status) != 0 || (status.st_size < bytes && ftruncate(handle, bytes) != 0)) {
        return errno;
    }
    return 0;
}

/* Address space only: the file grows as pages are written. */
static int grow_map(struct storage_lmdb *store)
{
    ASSERT(store->txn == NULL);
    MDB_envinfo environment;
    int code = mdb_env_info(store->env, &environment);
    if (code == 0) {
        code = mdb_env_set_mapsize(store->env, environment.me_mapsize * 2);
        find_map(store);
    }
    return code;
}

/* LMDB says EIO when a write came out short, which is how a full disk begins to show: ask for space
 * to know. */
static bool disk_is_full(struct storage_lmdb *store)
{
    int handle = -1;
    struct stat status;
    if (mdb_env_get_fd(store->env, &handle) != 0 || fstat(handle, &status) != 0) {
        return false;
    }
    return fallocate(handle, 0, status.st_size, 1 << 20) != 0 &&
           storage_posix_result(errno) == RESULT_FULL;
}

static enum result result_of(struct storage_lmdb *store, int code)
{
    switch (code) {
    case MDB_NOTFOUND:
        return RESULT_NOT_FOUND;
    case MDB_MAP_FULL:
        return RESULT_FULL;
    case MDB_BAD_VALSIZE:
        return RESULT_INVALID;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
        return RESULT_CORRUPT;
    case EIO:
        return disk_is_full(store) ? RESULT_FULL : RESULT_IO;
    default:
        return code > 0 ? storage_posix_result(code) : code == 0 ? RESULT_OK : RESULT_IO;
    }
}
