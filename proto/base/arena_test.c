#include "proto/base/arena.h"

#include <criterion/criterion.h>

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 1024, 8192);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(arena, .init = set_up, .fini = tear_down);

static bool is_aligned(const void *pointer)
{
    return (uintptr_t)pointer % ARENA_ALIGNMENT == 0;
}

Test(arena, takes_no_memory_before_the_first_allocation)
{
    cr_expect_eq(arena.taken_bytes, 0u);
}

Test(arena, every_allocation_is_aligned_and_apart_from_the_others)
{
    uint8_t *last_end = NULL;
    for (size_t bytes = 0; bytes < 100; bytes++) {
        uint8_t *start = arena_alloc(&arena, bytes);
        cr_assert_not_null(start);
        cr_assert(is_aligned(start), "%zu bytes", bytes);
        memset(start, 0xaa, bytes);
        cr_assert_neq(start, last_end == NULL ? NULL : last_end - 1);
        last_end = start + bytes;
    }
}

Test(arena, an_allocation_larger_than_a_block_gets_its_own)
{
    uint8_t *large = arena_alloc(&arena, 5000);

    cr_assert_not_null(large);
    memset(large, 1, 5000);
    cr_expect(is_aligned(large));
}

Test(arena, zero_gives_zeroes_also_where_bytes_were_used_before)
{
    memset(arena_alloc(&arena, 512), 0xff, 512);
    arena_clear(&arena);

    const uint8_t *zeroed = arena_zero(&arena, 512);

    for (size_t i = 0; i < 512; i++) {
        cr_assert_eq(zeroed[i], 0);
    }
}

Test(arena, a_full_arena_returns_null_and_latches_until_it_is_cleared)
{
    cr_assert_null(arena_alloc(&arena, 8192));
    cr_expect(arena.overflowed);
    cr_expect_not_null(arena_alloc(&arena, 16), "what fits is still given");
    cr_expect(arena.overflowed);

    arena_clear(&arena);

    cr_expect_not(arena.overflowed);
}

Test(arena, never_holds_more_than_its_limit)
{
    while (arena_alloc(&arena, 100) != NULL) {
        cr_assert_leq(arena.taken_bytes, 8192u);
    }
    cr_expect(arena.overflowed);
    cr_expect_gt(arena.taken_bytes, 7000u);
}

Test(arena, absurd_sizes_are_refused_and_do_not_wrap_round)
{
    static const size_t rows[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 64,
                                  SIZE_MAX / 2};
    arena_release(&arena);
    arena_init(&arena, 1024, 1u << 30);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_null(arena_alloc(&arena, rows[i]), "row %zu", i);
    }
    cr_expect_eq(arena_copy(&arena, (struct span){(const uint8_t *)"", SIZE_MAX}).count, 0u);
    cr_expect(arena.overflowed);
}

Test(arena, clear_keeps_the_first_block_and_frees_the_others)
{
    void *first = arena_alloc(&arena, 64);
    for (int i = 0; i < 5; i++) {
        cr_assert_not_null(arena_alloc(&arena, 900));
    }

    arena_clear(&arena);

    cr_expect_eq(arena.taken_bytes, 1024u);
    cr_expect_eq(arena_alloc(&arena, 64), first);
}

Test(arena, clear_lets_go_of_an_oversized_first_block)
{
    cr_assert_not_null(arena_alloc(&arena, 6000));

    arena_clear(&arena);

    cr_expect_eq(arena.taken_bytes, 0u);
}

Test(arena, grow_stays_in_place_when_it_is_the_newest_allocation)
{
    uint8_t *start = arena_alloc(&arena, 10);
    memcpy(start, "0123456789", 10);

    cr_expect_eq(arena_grow(&arena, start, 10, 500), start);
    cr_expect_eq(memcmp(start, "0123456789", 10), 0);
}

Test(arena, grow_copies_when_another_allocation_came_behind)
{
    uint8_t *start = arena_alloc(&arena, 10);
    memcpy(start, "0123456789", 10);
    uint8_t *other = arena_alloc(&arena, 10);

    uint8_t *grown = arena_grow(&arena, start, 10, 500);

    cr_assert_neq(grown, start);
    cr_assert_neq(grown, other);
    cr_expect_eq(memcmp(grown, "0123456789", 10), 0);
}

Test(arena, a_buffer_alone_in_its_block_grows_without_leaving_waste)
{
    uint8_t *buffer = arena_alloc(&arena, 1000);
    memset(buffer, 7, 1000);
    for (size_t bytes = 1000; bytes < 7000; bytes += 1000) {
        buffer = arena_grow(&arena, buffer, bytes, bytes + 1000);
        cr_assert_not_null(buffer);
    }
    cr_expect_eq(buffer[0], 7);
    cr_expect_eq(buffer[999], 7);
    cr_expect_leq(arena.taken_bytes, 7100u);
    cr_expect_not_null(arena_alloc(&arena, 100), "the chain of blocks is whole");
}

Test(arena, a_refused_grow_leaves_the_old_bytes_valid)
{
    uint8_t *start = arena_alloc(&arena, 1000);
    memset(start, 7, 1000);

    cr_expect_null(arena_grow(&arena, start, 1000, 9000));

    cr_expect_eq(start[999], 7);
    cr_expect(arena.overflowed);
}

Test(arena, a_copy_is_followed_by_a_nul_and_outlives_its_original)
{
    char original[] = "token";

    struct span copy = arena_copy(&arena, span_text(original));
    original[0] = 'X';

    cr_expect_eq(copy.count, 5u);
    cr_expect_str_eq((const char *)copy.bytes, "token");
    cr_expect_str_eq((const char *)arena_copy(&arena, SPAN_EMPTY).bytes, "");
}

Test(arena, format_writes_short_and_long_texts_whole)
{
    struct span brief = arena_format(&arena, "%s=%d", "shard", 3);
    struct span lengthy = arena_format(&arena, "%0*d|", 999, 7);

    cr_expect(span_is(brief, "shard=3"));
    cr_expect_eq(lengthy.count, 1000u);
    cr_expect_eq(lengthy.bytes[999], '|');
    cr_expect_eq(lengthy.bytes[1000], 0);
}

Test(arena, join_puts_parts_behind_each_other_or_nothing_when_full)
{
    const struct span parts[] = {span_text("a"), SPAN_EMPTY, span_of("", 1), span_text("bc")};
    struct span joined = arena_join(&arena, parts, 4);
    struct span nothing = arena_join(&arena, parts + 1, 1);
    while (arena_alloc(&arena, 16) != NULL) {
    }
    struct span refused = arena_join(&arena, parts, 4);

    cr_expect(span_equal(joined, span_of("a\0bc", 4)));
    cr_expect_eq(nothing.count, 0u);
    cr_expect_eq(refused.count, 0u);
    cr_expect(arena.overflowed);
}

Test(arena, a_released_arena_may_be_used_again)
{
    cr_assert_not_null(arena_alloc(&arena, 2000));
    arena_release(&arena);

    cr_expect_eq(arena.taken_bytes, 0u);
    cr_expect_not_null(arena_alloc(&arena, 2000));
}

#ifdef ARENA_POISONS
Test(arena, under_the_sanitizer_free_room_is_poisoned)
{
    uint8_t *start = arena_alloc(&arena, 20);
    cr_expect_not(__asan_address_is_poisoned(start + 19));
    cr_expect(__asan_address_is_poisoned(start + 20), "the byte behind an allocation");

    arena_grow(&arena, start, 20, 40);
    cr_expect_not(__asan_address_is_poisoned(start + 39));
    cr_expect(__asan_address_is_poisoned(start + 40));

    arena_clear(&arena);
    cr_expect(__asan_address_is_poisoned(start), "what was forgotten");
}
#endif
