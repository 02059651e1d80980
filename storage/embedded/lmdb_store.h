/*
 * lmdb_store.h: a few ordered tables in one LMDB file, under the state table and the blobs.
 *
 * All changes since the last flush stand in one open write transaction, which flush commits with a
 * sync: what is on disk is always one whole flushed state, also after a power cut (MDB_NOSYNC would
 * write pages that the last durable state still needs). The changes are kept in a redo buffer until
 * then; when the map must grow or the disk is full, the transaction is dropped and done again from
 * there, so that no caller ever sees an applied change vanish.
 *
 * Each value carries a CRC32C. One thread at a time; there is no lock (the data directory has one).
 */
#ifndef STORAGE_EMBEDDED_LMDB_STORE_H
#define STORAGE_EMBEDDED_LMDB_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/base/span.h"

#define STORAGE_KEY_BYTES_MAX 480u

enum storage_lmdb_action { STORAGE_LMDB_PUT, STORAGE_LMDB_DELETE, STORAGE_LMDB_DELETE_PREFIX };

struct storage_lmdb_change {
    enum storage_lmdb_action action;
    unsigned table;
    struct span key; /* 1..480 bytes */
    struct span value;
};

struct storage_lmdb;

/* table_names: NULL-terminated list; their numbers are its indexes. map_bytes 0: 1 GiB. */
MUST_USE enum result storage_lmdb_open(const char *directory, uint64_t map_bytes,
                                       const char *const *table_names, struct storage_lmdb **out);
/* Drops what was not flushed. NULL is fine. */
void storage_lmdb_close(struct storage_lmdb *store);

/* All or nothing, in order. RESULT_FULL, RESULT_IO, RESULT_LIMIT (no memory): nothing changed. */
MUST_USE enum result storage_lmdb_apply(struct storage_lmdb *store,
                                        const struct storage_lmdb_change *changes, size_t count);
/* RESULT_FULL, RESULT_IO: not durable, but still applied; may be tried again. */
MUST_USE enum result storage_lmdb_flush(struct storage_lmdb *store);
/* *value lives until the next apply or flush. RESULT_NOT_FOUND, RESULT_CORRUPT, RESULT_IO. */
MUST_USE enum result storage_lmdb_get(struct storage_lmdb *store, unsigned table, struct span key,
                                      struct span *value);
/*
 * Rows with key >= from in key order, until `each` returns false. An unsound row ends the scan with
 * RESULT_CORRUPT after all rows were visited; it is left out itself.
 */
MUST_USE enum result
storage_lmdb_scan(struct storage_lmdb *store, unsigned table, struct span from,
                  bool (*each)(void *owner, struct span key, struct span value), void *owner);
/*
 * What was flushed last, as DIRECTORY/data.mdb, synced. (On the store's own thread: readers without
 * a lock file are known to nobody, so the writer must stand still meanwhile.) RESULT_FULL,
 * RESULT_IO.
 */
MUST_USE enum result storage_lmdb_copy(struct storage_lmdb *store, const char *directory);
uint64_t storage_lmdb_count(struct storage_lmdb *store, unsigned table);

#endif
