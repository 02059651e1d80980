/*
 * embedded.h: the stores that live in the data directory, with no server: LMDB for state and blobs,
 * SQLite for the index, memory for the hot tier. Layout: DIR/journal/ (the log), DIR/state/ and
 * DIR/blobs/ (LMDB), DIR/audit.db (SQLite), DIR/lock.
 */
#ifndef STORAGE_EMBEDDED_EMBEDDED_H
#define STORAGE_EMBEDDED_EMBEDDED_H

#include "storage/backup.h"
#include "storage/blob.h"
#include "storage/hot.h"
#include "storage/index.h"
#include "storage/journal.h"
#include "storage/state.h"

/* Takes DIR's lock so that no second engine opens it: RESULT_EXISTS when another process has it.
 * Creates DIR (0700). */
MUST_USE enum result storage_directory_lock(const char *directory, int *lock);
void storage_directory_unlock(int lock);

/* map_bytes: address space reserved for the file (sparse). The directory is created. */
MUST_USE enum result storage_lmdb_state_open(const char *directory, uint64_t map_bytes,
                                             struct storage_state **out);
MUST_USE enum result storage_lmdb_blob_open(const char *directory, uint64_t map_bytes,
                                            struct storage_blob **out);
MUST_USE enum result storage_sqlite_index_open(const char *file, struct storage_index **out);

/* What is copied; all borrowed. NULL: that store is elsewhere. */
struct storage_backup_parts {
    struct storage_state *state;
    struct storage_blob *blob;
    const char *index_file;
    struct storage_journal *journal;
};
MUST_USE enum result storage_embedded_backup_new(const struct storage_backup_parts *parts,
                                                 struct storage_backup **out);
void storage_embedded_backup_free(struct storage_backup *backup);

/*
 * The hot tier in the owner's memory: at most bytes_max of sessions (least recently used leave
 * first, but never a pinned one) and each for ttl_ms since its last touch (0: for ever). Not
 * thread-safe: its owner's thread only.
 */
MUST_USE enum result storage_memory_hot_new(size_t bytes_max, uint64_t ttl_ms,
                                            struct storage_hot **out);
/* Pinned: not yet folded into the state table, so memory holds the only quick copy. */
void storage_memory_hot_pin(struct storage_hot *hot, struct span execution_id, bool pinned);
/* The bytes in place (until the next call on this tier), empty on a miss. */
struct span storage_memory_hot_peek(struct storage_hot *hot, struct span execution_id,
                                    uint64_t now_ms);

#endif
