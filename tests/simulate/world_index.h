/*
 * world_index.h: the index port in memory, for the simulator: the newest audit message of each
 * execution, and the loss of what was not flushed. Lists and logs are answered empty: nothing in
 * the simulation asks for them.
 */
#ifndef TESTS_SIMULATE_WORLD_INDEX_H
#define TESTS_SIMULATE_WORLD_INDEX_H

#include "storage/index.h"

struct world_index;

struct world_index *world_index_new(void);
void world_index_free(struct world_index *index);
struct storage_index *world_index_port(struct world_index *index);
/* Everything since the last flush is gone. */
void world_index_cut(struct world_index *index);
/* The newest audit message of each execution. */
void world_index_each(const struct world_index *index,
                      void (*each)(void *owner, struct span message), void *owner);
/* Borrowed until the next call; empty when there is none. */
struct span world_index_row(const struct world_index *index, const char *execution_id);

#endif
