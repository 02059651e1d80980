#include "proto/wire/reader.h"

#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/base/limits.h"

#define BYTES(literal) span_of((literal), sizeof(literal) - 1)

static enum result validate(struct span bytes, size_t *offset, const char **reason)
{
    return wire_validate(bytes, 4, offset, reason);
}

static bool is_valid(struct span bytes)
{
    size_t offset;
    const char *reason;
    return validate(bytes, &offset, &reason) == RESULT_OK;
}

Test(reader, integers_of_all_forms_are_read)
{
    static const struct {
        const char *bytes;
        size_t count;
        int64_t expected;
    } rows[] = {
        {"\x00", 1, 0},
        {"\x7f", 1, 127},
        {"\xff", 1, -1},
        {"\xe0", 1, -32},
        {"\xcc\xff", 2, 255},
        {"\xcd\x01\x00", 3, 256},
        {"\xce\xff\xff\xff\xff", 5, 4294967295},
        {"\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 9, INT64_MAX},
        {"\xd0\x80", 2, -128},
        {"\xd0\x01", 2, 1},
        {"\xd1\x80\x00", 3, -32768},
        {"\xd2\x80\x00\x00\x00", 5, INT32_MIN},
        {"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, INT64_MIN},
        {"\xcf\x00\x00\x00\x00\x00\x00\x00\x01", 9, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value = span_of(rows[i].bytes, rows[i].count);
        cr_expect(is_valid(value), "row %zu", i);
        cr_expect_eq(wire_head(value).type, WIRE_INT, "row %zu", i);
        cr_expect_eq(wire_int_or(value, 4711), rows[i].expected, "row %zu", i);
        cr_expect_not(is_valid(span_of(rows[i].bytes, rows[i].count - 1)), "row %zu cut", i);
    }
}

Test(reader, an_integer_above_63_bits_is_unsigned)
{
    struct wire_value value = wire_head(BYTES("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"));

    cr_expect_eq(value.type, WIRE_UINT);
    cr_expect_eq(value.as.unsigned_integer, (uint64_t)INT64_MAX + 1);
    cr_expect_eq(wire_int_or(BYTES("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"), -7), -7);
}

Test(reader, floats_of_both_widths_are_read)
{
    cr_expect_eq(wire_head(BYTES("\xca\x3f\xc0\x00\x00")).as.real, 1.5);
    cr_expect_eq(wire_head(BYTES("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00")).as.real, 1.5);
    cr_expect(isnan(wire_head(BYTES("\xca\x7f\xc0\x00\x00")).as.real));
    cr_expect_eq(wire_head(BYTES("\xca\x3f\xc0\x00\x00")).type, WIRE_FLOAT);
}

Test(reader, texts_of_all_forms_borrow_their_bytes)
{
    static const struct {
        const char *bytes;
        size_t count;
        enum wire_type type;
        const char *text;
    } rows[] = {
        {"\xa0", 1, WIRE_STRING, ""},
        {"\xa3"
         "abc",
         4, WIRE_STRING, "abc"},
        {"\xd9\x01x", 3, WIRE_STRING, "x"},
        {"\xda\x00\x01x", 4, WIRE_STRING, "x"},
        {"\xdb\x00\x00\x00\x01x", 6, WIRE_STRING, "x"},
        {"\xc4\x01x", 3, WIRE_BINARY, "x"},
        {"\xc5\x00\x01x", 4, WIRE_BINARY, "x"},
        {"\xc6\x00\x00\x00\x01x", 6, WIRE_BINARY, "x"},
        {"\xd4\x01"
         "7",
         3, WIRE_DECIMAL, "7"},
        {"\xd5\x02xy", 4, WIRE_EXT, "xy"},
        {"\xd6\xffwxyz", 6, WIRE_EXT, "wxyz"},
        {"\xd7\x05stuvwxyz", 10, WIRE_EXT, "stuvwxyz"},
        {"\xd8\x05stuvwxyzstuvwxyz", 18, WIRE_EXT, "stuvwxyzstuvwxyz"},
        {"\xc7\x03\x01"
         "1.5",
         6, WIRE_DECIMAL, "1.5"},
        {"\xc8\x00\x03\x01"
         "1e9",
         7, WIRE_DECIMAL, "1e9"},
        {"\xc9\x00\x00\x00\x00\x07", 6, WIRE_EXT, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value = span_of(rows[i].bytes, rows[i].count);
        cr_expect(is_valid(value), "row %zu", i);
        struct wire_value head = wire_head(value);
        cr_expect_eq(head.type, rows[i].type, "row %zu", i);
        cr_expect(span_is(head.as.text, rows[i].text), "row %zu", i);
        for (size_t count = 0; count < rows[i].count; count++) {
            cr_expect_not(is_valid(span_of(rows[i].bytes, count)), "row %zu cut to %zu", i, count);
        }
    }
}

Test(reader, containers_of_all_forms_announce_their_count)
{
    static const struct {
        const char *bytes;
        size_t count;
        enum wire_type type;
        uint32_t children;
    } rows[] = {
        {"\x90", 1, WIRE_ARRAY, 0},
        {"\x92\x01\x02", 3, WIRE_ARRAY, 2},
        {"\xdc\x00\x01\xc0", 4, WIRE_ARRAY, 1},
        {"\xdd\x00\x00\x00\x01\xc0", 6, WIRE_ARRAY, 1},
        {"\x80", 1, WIRE_MAP, 0},
        {"\x81\xa1k\xc0", 4, WIRE_MAP, 1},
        {"\xde\x00\x01\xa1k\xc0", 6, WIRE_MAP, 1},
        {"\xdf\x00\x00\x00\x01\xa1k\xc0", 8, WIRE_MAP, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value = span_of(rows[i].bytes, rows[i].count);
        cr_expect(is_valid(value), "row %zu", i);
        cr_expect(wire_is(value, rows[i].type), "row %zu", i);
        cr_expect_eq(wire_count(value), rows[i].children, "row %zu", i);
    }
}

Test(reader, validation_names_the_fault_and_its_place)
{
    static const struct {
        const char *bytes;
        size_t count, offset;
        enum result result;
        const char *reason;
    } rows[] = {
        {"", 0, 0, RESULT_INVALID, "empty"},
        {"\xc1", 1, 0, RESULT_INVALID, "byte 0xc1 is no MessagePack"},
        {"\x92\x01\xc1", 3, 2, RESULT_INVALID, "byte 0xc1 is no MessagePack"},
        {"\x01\x02", 2, 1, RESULT_INVALID, "bytes after the value"},
        {"\x92\x01", 2, 0, RESULT_INVALID, "truncated"},
        {"\x81\xa1k", 3, 3, RESULT_INVALID, "truncated"},
        {"\x91\xa5xy", 4, 1, RESULT_INVALID, "truncated"},
        {"\xdd\xff\xff\xff\xff", 5, 0, RESULT_INVALID, "truncated"},
        {"\xdf\xff\xff\xff\xff", 5, 0, RESULT_INVALID, "truncated"},
        {"\xdb\xff\xff\xff\xff", 5, 0, RESULT_INVALID, "truncated"},
        {"\xc9\xff\xff\xff\xff\x01", 6, 0, RESULT_INVALID, "truncated"},
        {"\x81\x01\x02", 3, 1, RESULT_INVALID, "map key is no string"},
        {"\x81\x90\x02", 3, 1, RESULT_INVALID, "map key is no string"},
        {"\x82\xa1k\x01\xc0\x02", 6, 4, RESULT_INVALID, "map key is no string"},
        {"\xa3"
         "a\xff"
         "b",
         4, 2, RESULT_INVALID, "invalid UTF-8"},
        {"\x81\xa1\xff\x01", 4, 2, RESULT_INVALID, "invalid UTF-8"},
        {"\xc7\x03\x01"
         "1.x",
         6, 3, RESULT_INVALID, "decimal is no number"},
        {"\x91\x91\x91\x91\x91\x01", 6, 4, RESULT_LIMIT, "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t offset = 99;
        const char *reason = NULL;
        enum result result = validate(span_of(rows[i].bytes, rows[i].count), &offset, &reason);
        cr_expect_eq(result, rows[i].result, "row %zu", i);
        cr_expect_str_eq(reason, rows[i].reason, "row %zu", i);
        cr_expect_eq(offset, rows[i].offset, "row %zu: at %zu", i, offset);
    }
}

Test(reader, nesting_up_to_the_limit_is_valid_and_one_more_is_not)
{
    uint8_t bytes[LIMIT_WIRE_DEPTH + 1];
    memset(bytes, 0x91, sizeof bytes);
    bytes[LIMIT_WIRE_DEPTH] = 0x90;
    size_t offset;
    const char *reason;
    struct span deep = span_of(bytes, sizeof bytes), fitting = span_of(bytes + 1, sizeof bytes - 1);

    cr_expect_eq(wire_validate(fitting, LIMIT_WIRE_DEPTH, &offset, &reason), RESULT_OK);
    cr_expect_eq(wire_validate(deep, LIMIT_WIRE_DEPTH, &offset, &reason), RESULT_LIMIT);
    cr_expect_eq(offset, (size_t)LIMIT_WIRE_DEPTH);
    cr_expect_eq(wire_validate(BYTES("\x90"), 0, &offset, &reason), RESULT_LIMIT);
    cr_expect_eq(wire_validate(BYTES("\x01"), 0, &offset, &reason), RESULT_OK);
}

Test(reader, a_depth_bomb_is_skipped_without_recursion)
{
    size_t count = 8u << 20;
    uint8_t *bytes = malloc(count);
    memset(bytes, 0x91, count);
    bytes[count - 1] = 0xc0;
    struct wire_cursor cursor = wire_cursor(span_of(bytes, count));

    cr_expect_eq(wire_skip(&cursor), RESULT_OK);
    cr_expect_eq(cursor.next, cursor.end);
    cursor = wire_cursor(span_of(bytes, count - 1));
    cr_expect_eq(wire_skip(&cursor), RESULT_INVALID);
    cr_expect_eq(cursor.next, bytes, "a failed skip stays where it was");
    free(bytes);
}

Test(reader, digits_are_valid_when_they_are_a_json_number)
{
    static const struct {
        const char *digits;
        bool valid;
    } rows[] = {
        {"0", true},     {"-0", true},     {"10", true},     {"1.50", true},   {"-0.0e-0", true},
        {"1e400", true}, {"1E+9", true},   {"", false},      {"-", false},     {"01", false},
        {"-01", false},  {"1.", false},    {".5", false},    {"1e", false},    {"1e+", false},
        {"+1", false},   {"1 ", false},    {" 1", false},    {"NaN", false},   {"Infinity", false},
        {"0x1", false},  {"1.5.2", false}, {"1e5.2", false}, {"1_000", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(wire_decimal_is_valid(span_text(rows[i].digits)), rows[i].valid, "\"%s\"",
                     rows[i].digits);
    }
}

/* {"a":1,"b":[10,[20],"x"],"a":2,"":null} */
static const char sample[] = "\x84\xa1"
                             "a\x01\xa1"
                             "b\x93\x0a\x91\x14\xa1x\xa1"
                             "a\x02\xa0\xc0";

Test(reader, find_gives_the_last_of_equal_keys_or_an_empty_span)
{
    struct span map = BYTES(sample);

    cr_expect(is_valid(map));
    cr_expect_eq(wire_int_or(wire_find_text(map, "a"), 0), 2);
    cr_expect_eq(wire_count(wire_find_text(map, "b")), 3u);
    cr_expect_eq(wire_find_text(map, "").count, 1u);
    cr_expect_eq(wire_find_text(map, "c").count, 0u);
    cr_expect_eq(wire_find_text(wire_find_text(map, "b"), "a").count, 0u, "an array has no keys");
    cr_expect_eq(wire_find_text(SPAN_EMPTY, "a").count, 0u);
}

Test(reader, at_counts_whole_elements)
{
    struct span list = wire_find_text(BYTES(sample), "b");

    cr_expect_eq(wire_int_or(wire_at(list, 0), 0), 10);
    cr_expect_eq(wire_count(wire_at(list, 1)), 1u);
    cr_expect(span_is(wire_string_or(wire_at(list, 2), ""), "x"));
    cr_expect_eq(wire_at(list, 3).count, 0u);
    cr_expect_eq(wire_at(list, UINT32_MAX).count, 0u);
    cr_expect_eq(wire_at(BYTES(sample), 0).count, 0u, "a map has no elements");
    cr_expect_eq(wire_at(SPAN_EMPTY, 0).count, 0u);
}

Test(reader, typed_access_falls_back_on_absent_nil_and_other_types)
{
    struct span nil = BYTES("\xc0"), text = BYTES("\xa1x"), yes = BYTES("\xc3"),
                one = BYTES("\x01");

    cr_expect(span_is(wire_string_or(text, "y"), "x"));
    cr_expect(span_is(wire_string_or(nil, "y"), "y"));
    cr_expect(span_is(wire_string_or(one, "y"), "y"));
    cr_expect(span_is(wire_string_or(SPAN_EMPTY, "y"), "y"));
    cr_expect_eq(wire_string_or(SPAN_EMPTY, NULL).count, 0u);
    cr_expect_eq(wire_int_or(text, 5), 5);
    cr_expect_eq(wire_int_or(SPAN_EMPTY, 5), 5);
    cr_expect(wire_bool_or(yes, false));
    cr_expect(wire_bool_or(one, true));
    cr_expect_not(wire_bool_or(SPAN_EMPTY, false));
    cr_expect_eq(wire_head(SPAN_EMPTY).type, WIRE_NIL);
    cr_expect_not(wire_is(SPAN_EMPTY, WIRE_NIL));
    cr_expect(wire_is(nil, WIRE_NIL));
}

Test(reader, walks_visit_every_pair_and_element_in_order)
{
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(BYTES(sample));
    static const char *const keys[] = {"a", "b", "a", ""};
    for (size_t i = 0; i < 4; i++) {
        cr_assert(wire_map_next(&walk, &key, &value));
        cr_expect(span_is(key, keys[i]), "pair %zu", i);
    }
    cr_expect_not(wire_map_next(&walk, &key, &value));
    walk = wire_array_begin(BYTES("\x93\x01\x02\x03"));
    for (int i = 1; i <= 3; i++) {
        cr_assert(wire_array_next(&walk, &value));
        cr_expect_eq(wire_int_or(value, 0), i);
    }
    cr_expect_not(wire_array_next(&walk, &value));
}

Test(reader, a_walk_over_another_type_or_broken_bytes_ends)
{
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(BYTES("\x91\x01"));
    cr_expect_not(wire_map_next(&walk, &key, &value));
    walk = wire_map_begin(BYTES("\x82\xa1k\x01\xa1"));
    cr_expect(wire_map_next(&walk, &key, &value));
    cr_expect_not(wire_map_next(&walk, &key, &value));
    cr_expect_not(wire_map_next(&walk, &key, &value));
    walk = wire_map_begin(BYTES("\x81\x01\x02"));
    cr_expect_not(wire_map_next(&walk, &key, &value));
    walk = wire_array_begin(BYTES("\x92\x01"));
    cr_expect(wire_array_next(&walk, &value));
    cr_expect_not(wire_array_next(&walk, &value));
}

Test(reader, take_cuts_a_run_into_its_values)
{
    struct wire_cursor cursor = wire_cursor(BYTES("\x01\x92\x02\x03\xa1x"));
    struct span value;
    static const size_t counts[] = {1, 3, 2};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(wire_take(&cursor, &value), RESULT_OK);
        cr_expect_eq(value.count, counts[i]);
    }
    cr_expect_eq(wire_take(&cursor, &value), RESULT_INVALID);
    cr_expect_eq(value.count, 0u);
    struct wire_value head;
    cr_expect_eq(wire_read(&cursor, &head), RESULT_INVALID);
}

/* {"a": 1, "bb": "…40…", "a": [2], "ccc": 70000, "d": {"a": 9}, "bb" (head of two bytes): nil} */
static const uint8_t mixed[] = "\x86\xa1\x61\x01\xa2\x62\x62\xd9\x28"
                               "0123456789012345678901234567890123456789"
                               "\xa1\x61\x91\x02\xa3\x63\x63\x63\xce\x00\x01\x11\x70\xa1\x64\x81"
                               "\xa1\x61\x09\xd9\x02\x62\x62\xc0";

Test(reader, finds_several_keys_in_one_walk_the_last_of_doubles)
{
    struct span map = span_of(mixed, sizeof mixed - 1);
    struct span keys[] = {span_text("d"),  span_text("a"),   span_text("none"),
                          span_text("bb"), span_text("ccc"), span_text("")};
    struct span values[6];

    wire_find_all(map, keys, values, 6);

    for (size_t i = 0; i < 6; i++) {
        cr_expect(span_equal(values[i], wire_find(map, keys[i])), "key %zu", i);
    }
    cr_expect_eq(wire_count(values[0]), 1);
    cr_expect_eq(wire_int_or(wire_at(values[1], 0), 0), 2);
    cr_expect_eq(values[2].count, 0);
    cr_expect(wire_is(values[3], WIRE_NIL));
    cr_expect_eq(wire_int_or(values[4], 0), 70000);
    cr_expect_eq(values[5].count, 0);
}

Test(reader, a_map_that_breaks_off_gives_what_stands_before)
{
    for (size_t count = 0; count < sizeof mixed - 1; count++) {
        struct span keys[] = {span_text("a"), span_text("ccc")};
        struct span values[2];

        wire_find_all(span_of(mixed, count), keys, values, 2);

        bool has_first = count >= 4;
        cr_expect_eq(values[0].count > 0, has_first, "%zu bytes", count);
        cr_expect_leq(values[1].count, count);
    }
}

#define FORM(literal)                                                                              \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }

/* A member of every form, between others that a walk hops over, so that the last is far behind. */
static const struct form {
    const char *name;
    struct span value;
} forms[] = {
    {"nil", FORM("\xc0")},
    {"false", FORM("\xc2")},
    {"true", FORM("\xc3")},
    {"positive fixint", FORM("\x7f")},
    {"negative fixint", FORM("\xff")},
    {"uint 8", FORM("\xcc\xa1")},
    {"uint 16", FORM("\xcd\xa1\xa1")},
    {"uint 32", FORM("\xce\xa1\xa1\xa1\xa1")},
    {"uint 64", FORM("\xcf\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1")},
    {"int 8", FORM("\xd0\xa1")},
    {"int 16", FORM("\xd1\xa1\xa1")},
    {"int 32", FORM("\xd2\xa1\xa1\xa1\xa1")},
    {"int 64", FORM("\xd3\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1")},
    {"float 32", FORM("\xca\xa1\xa1\xa1\xa1")},
    {"float 64", FORM("\xcb\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1")},
    {"fixstr", FORM("\xa3\xa1\xa1\xa1")},
    {"empty fixstr", FORM("\xa0")},
    {"str 8", FORM("\xd9\x03\xa1\xa1\xa1")},
    {"empty str 8", FORM("\xd9\x00")},
    {"str 16", FORM("\xda\x00\x03\xa1\xa1\xa1")},
    {"str 32", FORM("\xdb\x00\x00\x00\x03\xa1\xa1\xa1")},
    {"bin 8", FORM("\xc4\x03\xa1\xa1\xa1")},
    {"bin 16", FORM("\xc5\x00\x03\xa1\xa1\xa1")},
    {"bin 32", FORM("\xc6\x00\x00\x00\x03\xa1\xa1\xa1")},
    {"fixext 1", FORM("\xd4\x01\xa1")},
    {"fixext 2", FORM("\xd5\x01\xa1\xa1")},
    {"fixext 4", FORM("\xd6\x01\xa1\xa1\xa1\xa1")},
    {"fixext 8", FORM("\xd7\x01\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1")},
    {"fixext 16", FORM("\xd8\x01\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1\xa1")},
    {"ext 8", FORM("\xc7\x02\x01\xa1\xa1")},
    {"ext 16", FORM("\xc8\x00\x02\x01\xa1\xa1")},
    {"ext 32", FORM("\xc9\x00\x00\x00\x02\x01\xa1\xa1")},
    {"fixarray", FORM("\x92\xa1\xa1\x01")},
    {"array 16", FORM("\xdc\x00\x02\xa1\xa1\x01")},
    {"array 32", FORM("\xdd\x00\x00\x00\x02\xa1\xa1\x01")},
    {"fixmap", FORM("\x81\xa1\xa1\x91\x01")},
    {"map 16", FORM("\xde\x00\x01\xa1\xa1\x01")},
    {"map 32", FORM("\xdf\x00\x00\x00\x01\xa1\xa1\x01")},
};

#define FORMS (sizeof forms / sizeof *forms)

/* A map of all forms by name; returns its bytes, and where each value begins. */
static size_t write_forms(uint8_t *out, size_t *starts)
{
    size_t at = 0;
    out[at++] = 0xde;
    out[at++] = 0;
    out[at++] = FORMS;
    for (size_t i = 0; i < FORMS; i++) {
        size_t count = strlen(forms[i].name);
        out[at++] = (uint8_t)(0xa0 + count);
        memcpy(out + at, forms[i].name, count);
        at += count;
        starts[i] = at;
        memcpy(out + at, forms[i].value.bytes, forms[i].value.count);
        at += forms[i].value.count;
    }
    return at;
}

Test(reader, finds_what_stands_behind_values_of_every_form)
{
    uint8_t bytes[1024];
    size_t starts[FORMS];
    size_t count = write_forms(bytes, starts);
    for (size_t i = 0; i < FORMS; i++) {
        struct span found = wire_find_text(span_of(bytes, count), forms[i].name);

        cr_expect_eq(found.bytes, bytes + starts[i], "%s", forms[i].name);
        cr_expect_eq(found.count, forms[i].value.count, "%s", forms[i].name);
    }
    cr_expect_eq(wire_find_text(span_of(bytes, count), "").count, 0u);
    cr_expect_eq(wire_find_text(span_of(bytes, count), "map 33").count, 0u);
}

Test(reader, finds_nothing_in_a_value_that_breaks_off)
{
    uint8_t bytes[1024];
    size_t starts[FORMS];
    size_t whole = write_forms(bytes, starts);
    for (size_t count = 0; count < whole; count++) {
        uint8_t *copy = memcpy(malloc(count + 1), bytes, count); /* nobody may read behind it */
        for (size_t i = 0; i < FORMS; i++) {
            struct span found = wire_find_text(span_of(copy, count), forms[i].name);

            bool is_whole = count >= starts[i] + forms[i].value.count;
            cr_expect_eq(found.count, is_whole ? forms[i].value.count : 0u, "%s in %zu bytes",
                         forms[i].name, count);
        }
        free(copy);
    }
}

Test(reader, knows_integers_and_texts_from_all_else)
{
    for (size_t i = 0; i < FORMS; i++) {
        for (size_t count = 0; count <= forms[i].value.count; count++) {
            struct span value = span_of(forms[i].value.bytes, count);
            struct wire_value head = wire_head(value);
            int64_t integer;
            struct span text;

            cr_expect_eq(wire_is_integer(value, &integer), head.type == WIRE_INT, "%s of %zu bytes",
                         forms[i].name, count);
            cr_expect(head.type != WIRE_INT || integer == head.as.integer, "%s", forms[i].name);
            cr_expect_eq(wire_is_text(value, &text), head.type == WIRE_STRING, "%s of %zu bytes",
                         forms[i].name, count);
            cr_expect(head.type != WIRE_STRING || span_equal(text, head.as.text));
        }
    }
}
