/* stores_copy.h: each embedded store copies itself (backup.c). The targets must not be there. */
#ifndef STORAGE_EMBEDDED_STORES_COPY_H
#define STORAGE_EMBEDDED_STORES_COPY_H

#include "storage/blob.h"
#include "storage/state.h"

/* What was flushed last, into an empty directory, synced. Thread: the store's. RESULT_FULL,
 * RESULT_IO. */
MUST_USE enum result storage_lmdb_state_copy(struct storage_state *state, const char *directory);
MUST_USE enum result storage_lmdb_blob_copy(struct storage_blob *blob, const char *directory);
/* The database of that file, which may be in use, by a connection of its own. */
MUST_USE enum result storage_sqlite_copy(const char *file, const char *target);

#endif
