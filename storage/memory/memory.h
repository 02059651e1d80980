/*
 * memory.h: state table and blobs in memory, for the simulator and for tests: whole implementations
 * of their ports that can also lose what was not flushed, as a power cut would. One thread.
 */
#ifndef STORAGE_MEMORY_MEMORY_H
#define STORAGE_MEMORY_MEMORY_H

#include "storage/blob.h"
#include "storage/state.h"

MUST_USE enum result storage_memory_state_new(struct storage_state **out);
/* Everything since the last flush is gone. */
void storage_memory_state_cut(struct storage_state *state);
/* While full, apply changes nothing and says RESULT_FULL. */
void storage_memory_state_set_full(struct storage_state *state, bool full);

MUST_USE enum result storage_memory_blob_new(struct storage_blob **out);
void storage_memory_blob_cut(struct storage_blob *blob);
/* While full, put stores nothing and says RESULT_FULL. */
void storage_memory_blob_set_full(struct storage_blob *blob, bool full);

#endif
