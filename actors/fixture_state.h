/*
 * fixture_state.h: a state table in an array, for the unit tests of this folder.
 */
#ifndef ACTORS_FIXTURE_STATE_H
#define ACTORS_FIXTURE_STATE_H

#include "storage/state.h"

enum { FIXTURE_ROWS_MAX = 64 };

struct fixture_row {
    enum storage_table table;
    struct span key;
    struct span value;
};

struct fixture_state {
    struct storage_state state;
    struct arena arena;
    struct fixture_row rows[FIXTURE_ROWS_MAX];
    size_t count;
    bool full;
};

static inline size_t fixture_find(const struct fixture_state *state, enum storage_table table,
                                  struct span key)
{
    size_t i = 0;
    while (i < state->count &&
           (state->rows[i].table != table || !span_equal(state->rows[i].key, key))) {
        i++;
    }
    return i;
}

static inline enum result fixture_apply(struct storage_state *self,
                                        const struct storage_change *changes, size_t count)
{
    struct fixture_state *state = (struct fixture_state *)self;
    if (state->full) {
        return RESULT_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = fixture_find(state, changes[i].table, changes[i].key);
        if (place < state->count) {
            state->rows[place] = state->rows[--state->count];
        }
        if (!changes[i].remove) {
            state->rows[state->count++] =
                (struct fixture_row){.table = changes[i].table,
                                     .key = arena_copy(&state->arena, changes[i].key),
                                     .value = arena_copy(&state->arena, changes[i].value)};
        }
    }
    return RESULT_OK;
}

static inline enum result fixture_flush(struct storage_state *self)
{
    (void)self;
    return RESULT_OK;
}

static inline enum result fixture_get(struct storage_state *self, enum storage_table table,
                                      struct span key, struct arena *arena, struct span *value)
{
    struct fixture_state *state = (struct fixture_state *)self;
    size_t place = fixture_find(state, table, key);
    if (place == state->count) {
        return RESULT_NOT_FOUND;
    }
    *value = arena_copy(arena, state->rows[place].value);
    return RESULT_OK;
}

/* In the order of arrival: nothing here depends on the key's. */
static inline enum result
fixture_scan(struct storage_state *self, enum storage_table table, struct span after,
             bool (*each)(void *owner, struct span key, struct span value), void *owner)
{
    struct fixture_state *state = (struct fixture_state *)self;
    (void)after;
    for (size_t i = 0; i < state->count; i++) {
        if (state->rows[i].table == table &&
            !each(owner, state->rows[i].key, state->rows[i].value)) {
            break;
        }
    }
    return RESULT_OK;
}

static inline uint64_t fixture_count(struct storage_state *self, enum storage_table table)
{
    const struct fixture_state *state = (const struct fixture_state *)self;
    uint64_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        count += state->rows[i].table == table ? 1 : 0;
    }
    return count;
}

static inline void fixture_state_init(struct fixture_state *state)
{
    static const struct storage_state_ops ops = {.apply = fixture_apply,
                                                 .flush = fixture_flush,
                                                 .get = fixture_get,
                                                 .scan = fixture_scan,
                                                 .count = fixture_count};
    *state = (struct fixture_state){.state.ops = &ops};
    arena_init(&state->arena, 4096, 1 << 20);
}

static inline void fixture_state_release(struct fixture_state *state)
{
    arena_release(&state->arena);
}

#endif
