#include "proto/wire/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/wire/reader.h"

static struct arena arena;
static struct wire_writer writer;

static void set_up(void)
{
    arena_init(&arena, 4096, 64u << 20);
    wire_writer_init(&writer, &arena, 0);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(writer, .init = set_up, .fini = tear_down);

/* What was written since the last call, as hexadecimal digits. */
static const char *written(void)
{
    struct span bytes = wire_writer_span(&writer);
    char *text = arena_zero(&arena, 2 * bytes.count + 1);
    for (size_t i = 0; i < bytes.count; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes.bytes[i]);
    }
    wire_writer_init(&writer, &arena, 0);
    return text;
}

Test(writer, integers_take_their_shortest_form)
{
    static const struct {
        int64_t value;
        const char *hex;
    } rows[] = {
        {0, "00"},
        {127, "7f"},
        {128, "cc80"},
        {255, "ccff"},
        {256, "cd0100"},
        {65535, "cdffff"},
        {65536, "ce00010000"},
        {4294967295, "ceffffffff"},
        {4294967296, "cf0000000100000000"},
        {INT64_MAX, "cf7fffffffffffffff"},
        {-1, "ff"},
        {-32, "e0"},
        {-33, "d0df"},
        {-128, "d080"},
        {-129, "d1ff7f"},
        {-32768, "d18000"},
        {-32769, "d2ffff7fff"},
        {INT32_MIN, "d280000000"},
        {(int64_t)INT32_MIN - 1, "d3ffffffff7fffffff"},
        {INT64_MIN, "d38000000000000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wire_write_int(&writer, rows[i].value);
        cr_expect_str_eq(written(), rows[i].hex, "row %zu", i);
    }
    wire_write_uint(&writer, UINT64_MAX);
    cr_expect_str_eq(written(), "cfffffffffffffffff");
}

Test(writer, nil_booleans_and_floats_are_those_of_the_specification)
{
    wire_write_nil(&writer);
    wire_write_bool(&writer, false);
    wire_write_bool(&writer, true);
    wire_write_float(&writer, 1.5);
    wire_write_float(&writer, -0.0);

    cr_expect_str_eq(written(), "c0c2c3cb3ff8000000000000cb8000000000000000");
}

Test(writer, the_sample_of_the_msgpack_home_page_is_18_bytes)
{
    wire_write_map(&writer, 2);
    wire_pair_bool(&writer, "compact", true);
    wire_pair_int(&writer, "schema", 0);

    cr_expect_str_eq(written(), "82a7636f6d70616374c3a6736368656d6100");
}

/* A string, binary or decimal of `count` bytes has this head and is followed by its bytes. */
static void expect_head(size_t count, const char *hex)
{
    struct span bytes = wire_writer_span(&writer);
    size_t head_bytes = strlen(hex) / 2;
    cr_assert_eq(bytes.count, head_bytes + count, "%zu bytes", count);
    struct span all = bytes;
    all.count = head_bytes;
    char text[32] = {0};
    for (size_t i = 0; i < head_bytes; i++) {
        snprintf(text + 2 * i, 3, "%02x", all.bytes[i]);
    }
    cr_expect_str_eq(text, hex, "%zu bytes", count);
    cr_expect(count == 0 || bytes.bytes[head_bytes] == 'x');
    wire_writer_init(&writer, &arena, 0);
}

Test(writer, strings_binaries_and_decimals_have_the_shortest_head)
{
    static const struct {
        size_t count;
        const char *string, *binary, *decimal;
    } rows[] = {
        {0, "a0", "c400", "c70001"},
        {1, "a1", "c401", "d401"},
        {2, "a2", "c402", "d501"},
        {3, "a3", "c403", "c70301"},
        {16, "b0", "c410", "d801"},
        {31, "bf", "c41f", "c71f01"},
        {32, "d920", "c420", "c72001"},
        {255, "d9ff", "c4ff", "c7ff01"},
        {256, "da0100", "c50100", "c8010001"},
        {65535, "daffff", "c5ffff", "c8ffff01"},
        {65536, "db00010000", "c600010000", "c90001000001"},
    };
    char *text = malloc(65536);
    memset(text, 'x', 65536);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span span = span_of(text, rows[i].count);
        wire_write_string(&writer, span);
        expect_head(rows[i].count, rows[i].string);
        size_t mark = wire_open_string(&writer);
        wire_write_raw(&writer, span);
        wire_close_string(&writer, mark);
        expect_head(rows[i].count, rows[i].string);
        wire_write_binary(&writer, span);
        expect_head(rows[i].count, rows[i].binary);
        wire_write_decimal(&writer, span);
        expect_head(rows[i].count, rows[i].decimal);
    }
    free(text);
}

Test(writer, a_container_closed_with_its_count_equals_one_that_was_announced)
{
    static const uint32_t rows[] = {0, 1, 15, 16, 17, 65535, 65536};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int map = 0; map < 2; map++) {
            struct wire_writer announced, closed;
            wire_writer_init(&announced, &arena, 0);
            wire_writer_init(&closed, &arena, 0);
            (map ? wire_write_map : wire_write_array)(&announced, rows[i]);
            size_t mark = (map ? wire_open_map : wire_open_array)(&closed);
            for (uint32_t k = 0; k < rows[i]; k++) {
                wire_write_int(&announced, k);
                wire_write_int(&closed, k);
                if (map) {
                    wire_write_text(&announced, "v");
                    wire_write_text(&closed, "v");
                }
            }
            (map ? wire_close_map : wire_close_array)(&closed, mark, rows[i]);
            cr_expect(span_equal(wire_writer_span(&announced), wire_writer_span(&closed)), "%u %s",
                      rows[i], map ? "pairs" : "elements");
        }
    }
}

Test(writer, open_containers_nest)
{
    size_t outer = wire_open_map(&writer);
    wire_write_text(&writer, "list");
    size_t inner = wire_open_array(&writer);
    for (int i = 0; i < 20; i++) {
        wire_write_int(&writer, i);
    }
    wire_close_array(&writer, inner, 20);
    wire_pair_text(&writer, "after", "x");
    wire_close_map(&writer, outer, 2);

    cr_expect_str_eq(written(), "82a46c697374dc0014000102030405060708090a0b0c0d0e0f10111213"
                                "a561667465"
                                "72a178");
}

Test(writer, values_are_copied_and_an_empty_one_is_nil)
{
    wire_write_value(&writer, span_of("\x93\x01\x02\x03", 4));
    wire_write_value(&writer, SPAN_EMPTY);
    wire_pair_value(&writer, "a", span_of("\xc3", 1));
    wire_pair_string(&writer, "b", SPAN_EMPTY);
    wire_write_text(&writer, NULL);

    cr_expect_str_eq(written(), "93010203c0a161c3a162a0a0");
}

Test(writer, a_time_is_its_rfc_3339_text)
{
    wire_pair_time(&writer, "at", 1234567890123);

    struct span bytes = wire_writer_span(&writer);
    cr_expect_eq(bytes.count, 3u + 1 + 24);
    cr_expect(span_is(span_of(bytes.bytes + 4, 24), "2009-02-13T23:31:30.123Z"));
}

Test(writer, grows_as_needed_while_others_allocate_from_the_arena)
{
    for (int i = 0; i < 2000; i++) {
        wire_write_int(&writer, i);
        if (i % 100 == 0) {
            memset(arena_alloc(&arena, 32), 0xee, 32);
        }
    }
    struct wire_cursor cursor = wire_cursor(wire_writer_span(&writer));
    for (int i = 0; i < 2000; i++) {
        struct wire_value value;
        cr_assert_eq(wire_read(&cursor, &value), RESULT_OK);
        cr_assert_eq(value.as.integer, i);
    }
    cr_expect_eq(cursor.next, cursor.end);
}

Test(writer, an_overflowed_arena_gives_an_empty_span_and_no_write_past_the_end)
{
    struct arena small;
    arena_init(&small, 256, 512);
    struct wire_writer full;
    wire_writer_init(&full, &small, 64);
    for (int i = 0; i < 100; i++) {
        size_t map = wire_open_map(&full);
        wire_write_text(&full, "0123456789012345678901234567890123456789");
        size_t list = wire_open_array(&full);
        size_t text = wire_open_string(&full);
        wire_write_raw(&full, span_text("0123456789012345678901234567890123456789"));
        wire_close_string(&full, text);
        wire_close_array(&full, list, 70000);
        wire_close_map(&full, map, 20);
    }
    cr_expect(small.overflowed);
    cr_expect_eq(wire_writer_span(&full).count, 0u);
    arena_release(&small);
}

Test(writer, a_result_just_below_the_arena_s_limit_is_not_refused)
{
    struct arena small;
    arena_init(&small, 256, 10000);
    struct wire_writer full;
    wire_writer_init(&full, &small, 64);
    for (int i = 0; i < 9700; i++) {
        wire_write_nil(&full);
    }
    cr_expect_not(small.overflowed);
    cr_expect_eq(wire_writer_span(&full).count, 9700u);
    arena_release(&small);
}

Test(writer, near_the_limit_grows_in_few_steps)
{
    struct arena small;
    struct wire_writer filling;
    unsigned growths = 0;
    arena_init(&small, 4096, 1u << 20);
    wire_writer_init(&filling, &small, 64);
    size_t capacity = filling.capacity;

    while (!small.overflowed) {
        wire_write_text(&filling, "0979-01-03");
        growths += filling.capacity != capacity;
        capacity = filling.capacity;
    }

    cr_expect_gt(capacity, 1u << 19, "most of the arena is used: %zu", capacity);
    cr_expect_lt(growths, 64, "%u", growths);
    arena_release(&small);
}
