/* memory_state.c: the state table in memory; see memory.h. */
#include <stdlib.h>

#include "proto/base/assert.h"
#include "storage/memory/memory.h"
#include "storage/memory/rows.h"

#define STATE_MAGIC   0x54534d4du
#define KEY_BYTES_MAX 480u

struct memory_state {
    struct storage_state state; /* first: the port points here */
    uint32_t magic;
    bool full;
    struct storage_rows tables[STORAGE_TABLE_COUNT];
};

static const struct storage_state_ops state_ops;

enum result storage_memory_state_new(struct storage_state **out)
{
    struct memory_state *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->state.ops = &state_ops;
    self->magic = STATE_MAGIC;
    *out = &self->state;
    return RESULT_OK;
}

static struct memory_state *state_cast(struct storage_state *state)
{
    struct memory_state *self = (struct memory_state *)state;
    ASSERT(self->magic == STATE_MAGIC);
    return self;
}

void storage_memory_state_cut(struct storage_state *state)
{
    struct memory_state *self = state_cast(state);
    for (size_t i = 0; i < STORAGE_TABLE_COUNT; i++) {
        storage_rows_cut(&self->tables[i]);
    }
}

void storage_memory_state_set_full(struct storage_state *state, bool full)
{
    state_cast(state)->full = full;
}

static enum result state_apply(struct storage_state *state, const struct storage_change *changes,
                               size_t count)
{
    struct memory_state *self = state_cast(state);
    if (self->full) {
        return RESULT_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (changes[i].key.count == 0 || changes[i].key.count > KEY_BYTES_MAX) {
            return RESULT_INVALID;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct storage_rows *rows = &self->tables[changes[i].table];
        if (changes[i].remove) {
            storage_rows_remove(rows, changes[i].key);
        } else if (storage_rows_put(rows, changes[i].key, changes[i].value) != RESULT_OK) {
            ASSERT_UNREACHABLE(); /* a simulator out of memory has nothing to prove */
        }
    }
    return RESULT_OK;
}

static enum result state_flush(struct storage_state *state)
{
    struct memory_state *self = state_cast(state);
    enum result result = RESULT_OK;
    for (size_t i = 0; i < STORAGE_TABLE_COUNT && result == RESULT_OK; i++) {
        result = storage_rows_flush(&self->tables[i]);
    }
    return result;
}

static enum result state_get(struct storage_state *state, enum storage_table table, struct span key,
                             struct arena *arena, struct span *value)
{
    struct span found;
    enum result result = storage_rows_get(&state_cast(state)->tables[table], key, &found);
    if (result != RESULT_OK) {
        return result;
    }
    *value = arena_copy(arena, found);
    return arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

static enum result state_scan(struct storage_state *state, enum storage_table table,
                              struct span after,
                              bool (*each)(void *owner, struct span key, struct span value),
                              void *owner)
{
    const struct storage_rows *rows = &state_cast(state)->tables[table];
    for (size_t i = storage_rows_lower(rows, after); i < rows->now.count; i++) {
        struct span key = storage_rows_key(rows, i);
        if (!span_equal(key, after) && !each(owner, key, storage_rows_value(rows, i))) {
            break;
        }
    }
    return RESULT_OK;
}

static uint64_t state_count(struct storage_state *state, enum storage_table table)
{
    return state_cast(state)->tables[table].now.count;
}

static void state_close(struct storage_state *state)
{
    struct memory_state *self = state_cast(state);
    for (size_t i = 0; i < STORAGE_TABLE_COUNT; i++) {
        storage_rows_release(&self->tables[i]);
    }
    self->magic = 0;
    free(self);
}

static const struct storage_state_ops state_ops = {
    .apply = state_apply,
    .flush = state_flush,
    .get = state_get,
    .scan = state_scan,
    .count = state_count,
    .close = state_close,
};
