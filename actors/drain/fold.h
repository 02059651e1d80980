/*
 * fold.h: changes of the state table that were read from the journal and not applied yet: the
 * newest of each key.
 */
#ifndef ACTORS_DRAIN_FOLD_H
#define ACTORS_DRAIN_FOLD_H

#include "actors/table.h"
#include "proto/base/arena.h"
#include "storage/state.h"

struct actor_fold {
    /* private to fold.c */
    struct actor_table table;
    struct arena arena; /* keys, values, entries */
    struct actor_link *oldest;
    uint32_t count;
};

void actor_fold_init(struct actor_fold *fold, size_t bytes_max);
void actor_fold_release(struct actor_fold *fold);
/* Copies key and value. RESULT_LIMIT: full, apply first. */
MUST_USE enum result actor_fold_put(struct actor_fold *fold, enum storage_table table,
                                    struct span key, struct span value);
MUST_USE enum result actor_fold_remove(struct actor_fold *fold, enum storage_table table,
                                       struct span key);
/* Takes back a change of a key that the table does not hold either. */
void actor_fold_cancel(struct actor_fold *fold, enum storage_table table, struct span key);
/* NULL: no change of it. Lives until the fold is cleared. */
const struct storage_change *actor_fold_find(const struct actor_fold *fold,
                                             enum storage_table table, struct span key);
/* All changes in one apply; on RESULT_OK the fold is empty, else unchanged. */
MUST_USE enum result actor_fold_apply(struct actor_fold *fold, struct storage_state *state);
size_t actor_fold_bytes(const struct actor_fold *fold);

#endif
