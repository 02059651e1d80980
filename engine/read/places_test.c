#include "engine/read/places.h"

#include <criterion/criterion.h>

#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

struct text {
    struct arena arena;
    struct span value;
    struct places places;
};

static struct text read_text(const char *json)
{
    struct text text;
    struct json_error error;
    arena_init(&text.arena, 4096, 1 << 20);
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, &text.arena, &text.value, &error),
                 RESULT_OK);
    cr_assert_eq(engine_places_init(&text.places, span_text(json), text.value, &text.arena),
                 RESULT_OK);
    return text;
}

static void expect_place(const struct text *text, struct span map, uint32_t line, uint32_t column)
{
    struct compose_place place = engine_places_find(&text->places, map);
    cr_expect(place.line == line && place.column == column, "%u:%u, not %u:%u", place.line,
              place.column, line, column);
}

Test(places, finds_where_each_object_begins)
{
    struct text text = read_text(" {\"a\": [{}, 7,\n  {\"b\": {\"c\": 1}}],\n\"d\":\n\n{}}");
    struct span list = wire_find_text(text.value, "a");

    expect_place(&text, text.value, 1, 2);
    expect_place(&text, wire_at(list, 0), 1, 9);
    expect_place(&text, wire_at(list, 2), 2, 3);
    expect_place(&text, wire_find_text(wire_at(list, 2), "b"), 2, 9);
    expect_place(&text, wire_find_text(text.value, "d"), 5, 1);
    arena_release(&text.arena);
}

Test(places, is_not_misled_by_braces_and_quotes_in_texts)
{
    struct text text = read_text("{\"a{\": \"{\\\"{\\\\\",\n\"b\": {}}");

    expect_place(&text, wire_find_text(text.value, "b"), 2, 6);
    arena_release(&text.arena);
}

Test(places, knows_nothing_of_what_is_no_object_of_the_value)
{
    struct text text = read_text("{\"a\": [1]}");

    expect_place(&text, wire_find_text(text.value, "a"), 0, 0);
    expect_place(&text, SPAN_EMPTY, 0, 0);
    arena_release(&text.arena);
}
