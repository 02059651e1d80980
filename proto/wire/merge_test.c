#include <stdio.h>

#include <criterion/criterion.h>

#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 4096, 256u << 20);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(merge, .init = set_up, .fini = tear_down);

static struct span wire(const char *json)
{
    struct span value;
    struct json_error error;
    if (*json == '\0') {
        return SPAN_EMPTY;
    }
    cr_assert_eq(json_to_wire(span_text(json), 64, &arena, &value, &error), RESULT_OK, "%s", json);
    return value;
}

Test(merge, pairs_of_the_second_map_win_and_unset_deletes)
{
    static const struct {
        const char *base, *over, *expected;
    } rows[] = {
        {"{}", "{}", "{}"},
        {"{\"a\":1}", "{}", "{\"a\":1}"},
        {"{}", "{\"a\":1}", "{\"a\":1}"},
        {"{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}", "{\"a\":1,\"b\":3,\"c\":4}"},
        {"{\"a\":{\"x\":1}}", "{\"a\":{\"y\":2}}", "{\"a\":{\"y\":2}}"}, /* top level only */
        {"{\"a\":1}", "{\"a\":null}", "{\"a\":null}"}, /* null is a value, not a deletion */
        {"{\"a\":1,\"b\":2}", "{\"$unset\":[\"a\"]}", "{\"b\":2}"},
        {"{\"a\":1}", "{\"$unset\":[\"a\",\"zzz\",7]}", "{}"},
        {"{\"a\":1}", "{\"$unset\":[\"a\"],\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1}", "{\"a\":2,\"$unset\":[\"a\"]}", "{\"a\":2}"},
        {"{\"a\":1}", "{\"$unset\":\"a\"}", "{\"a\":1}"},
        {"{\"a\":1,\"a\":2}", "{}", "{\"a\":1,\"a\":2}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":3}", "{\"a\":3}"},
        {"{}", "{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"", "{\"a\":1}", "{\"a\":1}"},
        {"[1]", "{\"a\":1}", "{\"a\":1}"},
        {"{\"a\":1}", "[2]", "{\"a\":1}"},
        {"{\"a\":1}", "", "{\"a\":1}"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span merged = wire_merge(&arena, wire(rows[i].base), wire(rows[i].over));
        cr_expect(span_equal(merged, wire(rows[i].expected)), "row %zu", i);
    }
}

/* {"key0":value, …} from first to last - 1. */
static struct span numbered(uint32_t first, uint32_t last, int64_t value)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &arena, 0);
    wire_write_map(&writer, last - first);
    for (uint32_t i = first; i < last; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%u", i);
        wire_pair_int(&writer, key, value);
    }
    return arena_copy(&arena, wire_writer_span(&writer));
}

Test(merge, few_and_many_keys_give_the_same_result)
{
    for (uint32_t count = 1; count < 40; count++) {
        struct span merged =
            wire_merge(&arena, numbered(0, count, 1), numbered(count / 2, 2 * count, 2));
        struct wire_map_walk walk = wire_map_begin(merged);
        struct span key, value;
        uint32_t i = 0;
        for (; wire_map_next(&walk, &key, &value); i++) {
            char expected[16];
            snprintf(expected, sizeof expected, "key%u", i);
            cr_assert(span_is(key, expected), "%u keys, pair %u", count, i);
            cr_assert_eq(wire_int_or(value, 0), i < count / 2 ? 1 : 2, "%u keys, pair %u", count,
                         i);
        }
        cr_assert_eq(i, 2 * count);
    }
}

Test(merge, a_hundred_thousand_keys_do_not_take_quadratic_time, .timeout = 20)
{
    struct span merged = wire_merge(&arena, numbered(0, 100000, 1), numbered(0, 100001, 2));

    cr_expect_eq(wire_count(merged), 100001u);
}

Test(merge, a_full_arena_gives_an_empty_span)
{
    struct span base = wire("{\"a\":1}"), over = wire("{\"b\":1}");
    struct arena small;
    arena_init(&small, 256, 16);

    cr_expect_eq(wire_merge(&small, base, over).count, 0u);
    cr_expect(small.overflowed);
    arena_release(&small);
}
