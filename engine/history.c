/*
 * history.c: see history.h. Invariant: [start, end) holds exactly `count` whole objects.
 */
#include "engine/history.h"

#include "proto/base/assert.h"
#include "proto/wire/reader.h"

enum { HISTORY_BYTES_LEAST = 256 };

uint8_t *engine_history_room(struct engine_history *history, struct arena *arena, size_t bytes)
{
    if (history->capacity - history->end >= bytes) {
        return history->bytes + history->end;
    }
    size_t held = history->end - history->start;
    /* The dropped entries' room is used again when it is half of all, so moving costs O(1) a byte.
     */
    if (history->start < history->capacity / 2 || history->capacity - held < bytes) {
        size_t capacity =
            2 * (held + bytes) > HISTORY_BYTES_LEAST ? 2 * (held + bytes) : HISTORY_BYTES_LEAST;
        uint8_t *larger = arena_alloc(arena, capacity);
        if (larger == NULL) {
            return NULL;
        }
        if (held > 0) {
            memcpy(larger, history->bytes + history->start, held);
        }
        history->bytes = larger;
        history->capacity = capacity;
    } else {
        memmove(history->bytes, history->bytes + history->start, held);
    }
    history->start = 0;
    history->end = held;
    return history->bytes + held;
}

void engine_history_add(struct engine_history *history, size_t bytes)
{
    ASSERT(history->capacity - history->end >= bytes);
    history->end += bytes;
    history->count++;
}

size_t engine_history_drop(struct engine_history *history)
{
    ASSERT(history->count > 0);
    struct wire_cursor cursor = wire_cursor(engine_history_run(history));
    enum result skipped = wire_skip(&cursor);
    ASSERT(skipped == RESULT_OK);
    size_t start = (size_t)(cursor.next - history->bytes);
    size_t bytes = start - history->start;
    history->start = start;
    history->count--;
    return bytes;
}

void engine_history_clear(struct engine_history *history)
{
    history->start = 0;
    history->end = 0;
    history->count = 0;
}

bool engine_history_load(struct engine_history *history, struct arena *arena, struct span run,
                         uint32_t count)
{
    engine_history_clear(history);
    if (run.count == 0) {
        return true;
    }
    uint8_t *room = engine_history_room(history, arena, run.count);
    if (room == NULL) {
        return false;
    }
    memcpy(room, run.bytes, run.count);
    history->end = run.count;
    history->count = count;
    return true;
}
