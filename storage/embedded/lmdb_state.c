/* lmdb_state.c: the state table in LMDB: one named table each, the position among them. */
#include <stdlib.h>

#include "proto/base/assert.h"
#include "storage/embedded/embedded.h"
#include "storage/embedded/lmdb_store.h"
#include "storage/embedded/stores_copy.h"

#define STATE_MAGIC  0x54415453u
#define CHANGES_HELD 64u

struct lmdb_state {
    struct storage_state state; /* first: the port points here */
    uint32_t magic;
    struct storage_lmdb *store;
    struct storage_lmdb_change *changes; /* scratch of apply */
    size_t room;
};

static const char *const table_names[] = {
    [STORAGE_EXECUTIONS] = "executions",   [STORAGE_REQUESTS] = "requests",
    [STORAGE_DEFINITIONS] = "definitions", [STORAGE_POSITIONS] = "positions",
    [STORAGE_MESSAGES] = "messages",       [STORAGE_TRIGGERS] = "triggers",
    [STORAGE_TABLE_COUNT] = NULL,
};

static const struct storage_state_ops state_ops;

enum result storage_lmdb_state_open(const char *directory, uint64_t map_bytes,
                                    struct storage_state **out)
{
    struct lmdb_state *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->state.ops = &state_ops;
    self->magic = STATE_MAGIC;
    enum result result = storage_lmdb_open(directory, map_bytes, table_names, &self->store);
    if (result != RESULT_OK) {
        free(self);
        return result;
    }
    *out = &self->state;
    return RESULT_OK;
}

static struct lmdb_state *state_cast(struct storage_state *state)
{
    struct lmdb_state *self = (struct lmdb_state *)state;
    ASSERT(self->magic == STATE_MAGIC);
    return self;
}

static enum result state_apply(struct storage_state *state, const struct storage_change *changes,
                               size_t count)
{
    struct lmdb_state *self = state_cast(state);
    if (count > self->room) {
        size_t room = count < CHANGES_HELD ? CHANGES_HELD : count;
        struct storage_lmdb_change *grown = realloc(self->changes, room * sizeof *grown);
        if (grown == NULL) {
            return RESULT_LIMIT;
        }
        self->changes = grown;
        self->room = room;
    }
    for (size_t i = 0; i < count; i++) {
        if (changes[i].key.count == 0 || changes[i].key.count > STORAGE_KEY_BYTES_MAX) {
            return RESULT_INVALID;
        }
        self->changes[i] = (struct storage_lmdb_change){
            .action = changes[i].remove ? STORAGE_LMDB_DELETE : STORAGE_LMDB_PUT,
            .table = changes[i].table,
            .key = changes[i].key,
            .value = changes[i].remove ? SPAN_EMPTY : changes[i].value,
        };
    }
    return storage_lmdb_apply(self->store, self->changes, count);
}

static enum result state_flush(struct storage_state *state)
{
    return storage_lmdb_flush(state_cast(state)->store);
}

static enum result state_get(struct storage_state *state, enum storage_table table, struct span key,
                             struct arena *arena, struct span *value)
{
    struct span found;
    if (key.count == 0 || key.count > STORAGE_KEY_BYTES_MAX) {
        return RESULT_NOT_FOUND;
    }
    enum result result = storage_lmdb_get(state_cast(state)->store, table, key, &found);
    if (result != RESULT_OK) {
        return result;
    }
    *value = arena_copy(arena, found);
    return arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

struct state_scan {
    struct span after;
    bool (*each)(void *owner, struct span key, struct span value);
    void *owner;
};

static bool pass_on(void *owner, struct span key, struct span value)
{
    struct state_scan *scan = owner;
    return span_equal(key, scan->after) || scan->each(scan->owner, key, value);
}

static enum result state_scan(struct storage_state *state, enum storage_table table,
                              struct span after,
                              bool (*each)(void *owner, struct span key, struct span value),
                              void *owner)
{
    struct state_scan scan = {after, each, owner};
    return storage_lmdb_scan(state_cast(state)->store, table, after, pass_on, &scan);
}

static uint64_t state_count(struct storage_state *state, enum storage_table table)
{
    return storage_lmdb_count(state_cast(state)->store, table);
}

static void state_close(struct storage_state *state)
{
    struct lmdb_state *self = state_cast(state);
    storage_lmdb_close(self->store);
    free(self->changes);
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

enum result storage_lmdb_state_copy(struct storage_state *state, const char *directory)
{
    return storage_lmdb_copy(state_cast(state)->store, directory);
}
