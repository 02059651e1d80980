/*
 * index.h: the index in memory, for the simulator: a whole implementation of its port that fails
 * the run when an audit message is missing, comes twice, or contradicts what was said before.
 */
#ifndef TESTS_SIMULATE_INDEX_H
#define TESTS_SIMULATE_INDEX_H

#include "storage/index.h"
#include "tests/simulate/sim.h"

struct storage_index *sim_index_new(struct sim *sim);
/* Everything since the last flush is gone, the position with it. */
void sim_index_cut(struct storage_index *index);
/* While failing, apply says RESULT_AGAIN. */
void sim_index_set_failing(struct storage_index *index, bool failing);

/* What it knows of an execution; zeros when nothing. */
struct sim_index_row {
    uint32_t revision;
    uint64_t log_index;  /* of the newest log */
    bool removed;        /* it was deleted, and only these numbers are known */
    struct span message; /* the newest one; lives until the next apply */
};
struct sim_index_row sim_index_look(struct storage_index *index, struct span execution_id);

#endif
