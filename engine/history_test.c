#include <criterion/criterion.h>

#include "engine/history.h"
#include "proto/wire/reader.h"

static void add(struct engine_history *history, struct arena *arena, uint8_t number)
{
    uint8_t *room = engine_history_room(history, arena, 3);
    cr_assert_not_null(room);
    room[0] = 0x92; /* [number, nil] */
    room[1] = number;
    room[2] = 0xc0;
    engine_history_add(history, 3);
}

Test(history, keeps_the_newest_in_order_in_bounded_memory)
{
    struct arena arena;
    struct engine_history history = {0};
    arena_init(&arena, 4096, 1u << 16);
    for (unsigned i = 0; i < 50000; i++) {
        add(&history, &arena, (uint8_t)(i & 0x7f));
        if (history.count > 10) {
            cr_assert_eq(engine_history_drop(&history), 3);
        }
    }

    struct wire_cursor cursor = wire_cursor(engine_history_run(&history));
    for (unsigned i = 50000 - 10; i < 50000; i++) {
        struct span entry;
        cr_assert_eq(wire_take(&cursor, &entry), RESULT_OK);
        cr_expect_eq(entry.bytes[1], i & 0x7f);
    }
    cr_expect_eq(cursor.next, cursor.end);
    cr_expect(!arena.overflowed);
    arena_release(&arena);
}

Test(history, loads_a_run_and_goes_on)
{
    struct arena arena;
    struct engine_history history = {0}, loaded = {0};
    arena_init(&arena, 4096, 1u << 20);
    add(&history, &arena, 1);
    add(&history, &arena, 2);

    cr_assert(engine_history_load(&loaded, &arena, engine_history_run(&history), 2));
    add(&loaded, &arena, 3);
    (void)engine_history_drop(&loaded);

    cr_expect_eq(loaded.count, 2);
    cr_expect_eq(engine_history_run(&loaded).bytes[1], 2);
    cr_expect_eq(engine_history_run(&loaded).count, 6);
    arena_release(&arena);
}
