/*
 * fold.c: a hash table of changes over one arena. Overwritten values stay in the arena until it is
 * applied; their bytes count.
 */
#include "actors/drain/fold.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"

enum { FOLD_BLOCK_BYTES = 256 << 10 };

struct change {
    struct actor_link link;
    struct change *next;
    bool cancelled;
    struct storage_change change;
};

void actor_fold_init(struct actor_fold *fold, size_t bytes_max)
{
    *fold = (struct actor_fold){0};
    actor_table_init(&fold->table);
    arena_init(&fold->arena, FOLD_BLOCK_BYTES, bytes_max);
}

void actor_fold_release(struct actor_fold *fold)
{
    actor_table_release(&fold->table);
    arena_release(&fold->arena);
}

static struct change *find(const struct actor_fold *fold, enum storage_table table, struct span key)
{
    for (struct actor_link *link = actor_table_find(&fold->table, base_hash(key, table));
         link != NULL; link = actor_table_again(link)) {
        struct change *change = ACTOR_OWNER(change, link, link);
        if (change->change.table == table && span_equal(change->change.key, key)) {
            return change;
        }
    }
    return NULL;
}

static struct change *find_or_add(struct actor_fold *fold, enum storage_table table,
                                  struct span key)
{
    struct change *change = find(fold, table, key);
    if (change != NULL) {
        return change;
    }
    change = arena_alloc(&fold->arena, sizeof *change);
    struct span copy = arena_copy(&fold->arena, key);
    if (change == NULL || copy.count != key.count) {
        return NULL;
    }
    *change = (struct change){.change = {.table = table, .key = copy}};
    actor_table_add(&fold->table, &change->link, base_hash(copy, table));
    change->next = fold->oldest == NULL ? NULL : ACTOR_OWNER(change, link, fold->oldest);
    fold->oldest = &change->link;
    fold->count++;
    return change;
}

enum result actor_fold_put(struct actor_fold *fold, enum storage_table table, struct span key,
                           struct span value)
{
    struct span copy = arena_copy(&fold->arena, value);
    struct change *change = copy.count == value.count ? find_or_add(fold, table, key) : NULL;
    if (change == NULL) {
        fold->arena.overflowed = false;
        return RESULT_LIMIT;
    }
    change->change.value = copy;
    change->change.remove = change->cancelled = false;
    return RESULT_OK;
}

enum result actor_fold_remove(struct actor_fold *fold, enum storage_table table, struct span key)
{
    struct change *change = find_or_add(fold, table, key);
    if (change == NULL) {
        fold->arena.overflowed = false;
        return RESULT_LIMIT;
    }
    change->change.value = SPAN_EMPTY;
    change->change.remove = true;
    change->cancelled = false;
    return RESULT_OK;
}

void actor_fold_cancel(struct actor_fold *fold, enum storage_table table, struct span key)
{
    struct change *change = find(fold, table, key);
    if (change != NULL) {
        change->cancelled = true;
    }
}

const struct storage_change *actor_fold_find(const struct actor_fold *fold,
                                             enum storage_table table, struct span key)
{
    const struct change *change = find(fold, table, key);
    return change == NULL || change->cancelled ? NULL : &change->change;
}

enum result actor_fold_apply(struct actor_fold *fold, struct storage_state *state)
{
    struct storage_change *changes = malloc((fold->count + 1) * sizeof *changes);
    if (changes == NULL) {
        return RESULT_LIMIT;
    }
    size_t count = 0;
    for (struct change *change = fold->oldest == NULL ? NULL
                                                      : ACTOR_OWNER(change, link, fold->oldest);
         change != NULL; change = change->next) {
        if (!change->cancelled) {
            changes[count++] = change->change;
        }
    }
    ASSERT(count <= fold->count);
    enum result result = count == 0 ? RESULT_OK : state->ops->apply(state, changes, count);
    free(changes);
    if (result == RESULT_OK) {
        (void)actor_table_take_all(&fold->table);
        arena_clear(&fold->arena);
        fold->oldest = NULL;
        fold->count = 0;
    }
    return result;
}

size_t actor_fold_bytes(const struct actor_fold *fold)
{
    return fold->arena.taken_bytes;
}
