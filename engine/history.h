/*
 * history.h: a bounded run of finished MessagePack objects: executionMap and logs (engine.md 6).
 * Entries are encoded once, when they happen; an execution is then encoded by copying the run.
 */
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include "proto/base/arena.h"
#include "proto/base/span.h"

struct engine_history {
    uint8_t *bytes;
    size_t start; /* of the oldest entry */
    size_t end;
    size_t capacity;
    uint32_t count;
};

/* Room for an entry of `bytes`: write it there, then engine_history_add. NULL when the arena is
 * full. */
uint8_t *engine_history_room(struct engine_history *history, struct arena *arena, size_t bytes);
void engine_history_add(struct engine_history *history, size_t bytes);
/* Forgets the oldest entry; returns its size. */
size_t engine_history_drop(struct engine_history *history);
/* Empties it and keeps its memory. */
void engine_history_clear(struct engine_history *history);
/* A run of `count` objects as read back from bytes. False: arena full. */
bool engine_history_load(struct engine_history *history, struct arena *arena, struct span run,
                         uint32_t count);

static inline struct span engine_history_run(const struct engine_history *history)
{
    return span_of(history->bytes + history->start, history->end - history->start);
}

#endif
