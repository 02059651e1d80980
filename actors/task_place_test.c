/*
 * task_place_test.c: places in the list of human tasks, and their texts.
 */
#include "actors/task_place.h"

#include <criterion/criterion.h>

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

static const struct actor_task_place in_order[] = {
    {.at_ms = 9, .id = TEXT("z"), .position = 4}, {.at_ms = 5, .id = TEXT("a"), .position = 0},
    {.at_ms = 5, .id = TEXT("a"), .position = 3}, {.at_ms = 5, .id = TEXT("ab"), .position = 0},
    {.at_ms = 5, .id = TEXT("b"), .position = 1}, {.at_ms = 0, .id = TEXT("a.b.7"), .position = 0},
};
enum { COUNT = sizeof in_order / sizeof in_order[0] };

Test(task_place, newer_executions_come_first_and_their_tasks_in_order)
{
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            cr_expect_eq(actor_task_place_is_before(&in_order[i], &in_order[j]), i < j, "%zu %zu",
                         i, j);
        }
    }
}

Test(task_place, comes_back_from_its_text)
{
    struct arena arena;
    arena_init(&arena, 1024, 1 << 20);
    for (size_t i = 0; i < COUNT; i++) {
        struct actor_task_place place;
        struct span text = actor_task_place_text(&in_order[i], &arena);
        cr_assert_eq(actor_task_place_parse(text, &place), RESULT_OK, "%.*s", SPAN_ARG(text));
        cr_expect_eq(place.at_ms, in_order[i].at_ms);
        cr_expect_eq(place.position, in_order[i].position);
        cr_expect(span_equal(place.id, in_order[i].id));
    }
    arena_release(&arena);
}

Test(task_place, other_texts_are_refused)
{
    static const char *const texts[] = {"",
                                        "1",
                                        "1.",
                                        "1.2",
                                        "1.2.",
                                        "-1.2.a",
                                        "a.b",
                                        "1.x.a",
                                        "1..a",
                                        ".1.a",
                                        " 1.2.a",
                                        "99999999999999999999.0.a",
                                        "1.4294967296.a"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct actor_task_place place;
        cr_expect_eq(actor_task_place_parse(span_text(texts[i]), &place), RESULT_INVALID, "%s",
                     texts[i]);
    }
}
