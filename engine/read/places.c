/*
 * places.c: one walk through the value, one through the text.
 */
#include "engine/read/places.h"

#include "proto/base/assert.h"
#include "proto/wire/reader.h"

static uint32_t count_braces(struct span text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text.count; i++) {
        count += text.bytes[i] == '{';
    }
    return count;
}

static void walk_value(struct places *places, struct span value, uint32_t room)
{
    struct wire_cursor cursor = wire_cursor(value);
    struct wire_value head;
    const uint8_t *begin = cursor.next;
    while (cursor.next < cursor.end && wire_read(&cursor, &head) == RESULT_OK) {
        if (head.type == WIRE_MAP && places->count < room) {
            places->maps[places->count++] = begin;
        }
        begin = cursor.next;
    }
}

/* The text is valid JSON: a quote begins a string, a backslash in it takes a character with it. */
static void walk_text(struct places *places, struct span text)
{
    uint32_t found = 0;
    struct compose_place place = {1, 1};
    bool in_string = false;
    for (size_t i = 0; i < text.count && found < places->count; i++) {
        uint8_t at = text.bytes[i];
        if (in_string && at == '\\') {
            i++;
            place.column++;
        } else if (at == '"') {
            in_string = !in_string;
        } else if (at == '{' && !in_string) {
            places->at[found++] = place;
        }
        place.line += at == '\n';
        place.column = at == '\n' ? 1 : place.column + 1;
    }
    ASSERT(found == places->count);
}

enum result engine_places_init(struct places *places, struct span text, struct span value,
                               struct arena *arena)
{
    uint32_t room = count_braces(text);
    *places = (struct places){
        .maps = arena_alloc(arena, room * sizeof *places->maps),
        .at = arena_alloc(arena, room * sizeof *places->at),
    };
    if (places->maps == NULL || places->at == NULL) {
        return RESULT_LIMIT;
    }
    walk_value(places, value, room);
    walk_text(places, text);
    return RESULT_OK;
}

struct compose_place engine_places_find(const struct places *places, struct span map)
{
    uint32_t low = 0;
    uint32_t high = places->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places->maps[middle] < map.bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = map.count > 0 && low < places->count && places->maps[low] == map.bytes;
    return found ? places->at[low] : (struct compose_place){0, 0};
}
