#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 65536, 64u << 20);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(json_write, .init = set_up, .fini = tear_down);

#define BYTES(literal) span_of((literal), sizeof(literal) - 1)

static const char *json_in(struct span value, enum json_style style)
{
    struct span text;
    enum result result = json_from_wire(value, style, &arena, &text);
    if (result != RESULT_OK) {
        return result_text(result);
    }
    return (const char *)arena_copy(&arena, text).bytes;
}

static const char *json(struct span value)
{
    return json_in(value, JSON_COMPACT);
}

Test(json_write, every_kind_of_value_has_its_spelling)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *expected;
    } rows[] = {
        {"\xc0", 1, "null"},
        {"\xc2", 1, "false"},
        {"\xc3", 1, "true"},
        {"\x00", 1, "0"},
        {"\xff", 1, "-1"},
        {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, "18446744073709551615"},
        {"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, "-9223372036854775808"},
        {"\xa1x", 2, "\"x\""},
        {"\xa0", 1, "\"\""},
        {"\x80", 1, "{}"},
        {"\x90", 1, "[]"},
        {"\x93\x01\x90\x80", 4, "[1,[],{}]"},
        {"\x82\xa1"
         "a\x01\xa1"
         "b\x91\xc0",
         8, "{\"a\":1,\"b\":[null]}"},
        {"\xc7\x04\x01"
         "1.50",
         7, "1.50"},
        {"\xd4\x05x", 3, "null"},
        {"\xd6\xff\x00\x00\x00\x00", 6, "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(json(span_of(rows[i].bytes, rows[i].count)), rows[i].expected, "row %zu",
                         i);
    }
}

Test(json_write, a_decimal_that_is_no_json_number_is_quoted)
{
    cr_expect_str_eq(json(BYTES("\xc7\x03\x01"
                                "NaN")),
                     "\"NaN\"");
    cr_expect_str_eq(json(BYTES("\xc7\x03\x01"
                                "1\"2")),
                     "\"1\\\"2\"");
    cr_expect_str_eq(json(BYTES("\xc7\x00\x01")), "\"\"");
}

static struct span string_value(struct span text)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &arena, 0);
    wire_write_string(&writer, text);
    return wire_writer_span(&writer);
}

Test(json_write, strings_are_escaped_where_json_wants_it_and_nowhere_else)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"\"\\/\b\f\n\r\t", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"0123456789abcdef\"0123456789", "\"0123456789abcdef\\\"0123456789\""},
        {"\xff"
         "a\xc0\xaf",
         "\"\xef\xbf\xbd"
         "a\xef\xbf\xbd\xef\xbf\xbd\""}, /* never invalid UTF-8 */
        {"cut \xe2\x82", "\"cut \xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(json(string_value(span_text(rows[i].text))), rows[i].expected, "row %zu",
                         i);
    }
    cr_expect_str_eq(json(string_value(span_of("a\0b", 3))), "\"a\\u0000b\"");
}

Test(json_write, every_ascii_string_reads_back_as_itself)
{
    for (size_t count = 0; count <= 128; count++) {
        char text[128];
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = (char)i;
        }
        struct span value = string_value(span_of(text, count)), written, read;
        struct json_error error;
        cr_assert_eq(json_from_wire(value, JSON_COMPACT, &arena, &written), RESULT_OK);
        cr_assert_eq(json_to_wire(written, 0, &arena, &read, &error), RESULT_OK);
        cr_assert(span_equal(read, value), "%zu bytes", count);
    }
}

static struct span float_value(double real)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &arena, 0);
    wire_write_float(&writer, real);
    return wire_writer_span(&writer);
}

Test(json_write, floats_are_the_shortest_digits_that_read_back)
{
    static const struct {
        double real;
        const char *expected;
    } rows[] = {
        {0.1, "0.1"},
        {1.5, "1.5"},
        {0.1 + 0.2, "0.30000000000000004"},
        {3.0, "3"},
        {-0.0, "-0"},
        {1e300, "1e+300"},
        {5e-324, "4.94065645841247e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {1.0 / 3, "0.3333333333333333"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = json(float_value(rows[i].real));
        cr_expect_str_eq(text, rows[i].expected, "row %zu", i);
        cr_expect(!isfinite(rows[i].real) || strtod(text, NULL) == rows[i].real, "row %zu", i);
    }
}

Test(json_write, binary_is_base64_as_in_rfc_4648)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wire_writer writer;
        wire_writer_init(&writer, &arena, 0);
        wire_write_binary(&writer, span_text(rows[i][0]));
        char expected[32];
        snprintf(expected, sizeof expected, "\"%s\"", rows[i][1]);
        cr_expect_str_eq(json(wire_writer_span(&writer)), expected, "row %zu", i);
    }
}

Test(json_write, pretty_style_indents_by_two_and_keeps_empty_ones_closed)
{
    struct span value = BYTES("\x83\xa1"
                              "a\x92\x01\x81\xa1"
                              "b\xc0\xa1"
                              "c\x90\xa1"
                              "d\x80");

    cr_expect_str_eq(json_in(value, JSON_PRETTY), "{\n"
                                                  "  \"a\": [\n"
                                                  "    1,\n"
                                                  "    {\n"
                                                  "      \"b\": null\n"
                                                  "    }\n"
                                                  "  ],\n"
                                                  "  \"c\": [],\n"
                                                  "  \"d\": {}\n"
                                                  "}");
}

Test(json_write, what_is_no_value_is_refused)
{
    cr_expect_str_eq(json(SPAN_EMPTY), "invalid input");
    cr_expect_str_eq(json(BYTES("\xc1")), "invalid input");
    cr_expect_str_eq(json(BYTES("\x92\x01")), "invalid input");
    cr_expect_str_eq(json(BYTES("\x81\x01\x02")), "invalid input");
    cr_expect_str_eq(json(BYTES("\x01\x02")), "invalid input");
    cr_expect_str_eq(json(BYTES("\xdf\xff\xff\xff\xff")), "invalid input");
}

Test(json_write, nesting_over_the_limit_is_refused)
{
    uint8_t bytes[LIMIT_WIRE_DEPTH + 1];
    memset(bytes, 0x91, sizeof bytes);
    bytes[LIMIT_WIRE_DEPTH] = 0x90;

    cr_expect_str_eq(json(span_of(bytes, sizeof bytes)), result_text(RESULT_LIMIT));
    cr_expect_eq(strlen(json(span_of(bytes + 1, sizeof bytes - 1))), 2u * LIMIT_WIRE_DEPTH);
}

Test(json_write, a_full_arena_is_a_limit)
{
    struct arena small;
    arena_init(&small, 256, 400);
    struct span text;
    char long_text[1000];
    memset(long_text, '\x01', sizeof long_text);
    struct span value = string_value(span_of(long_text, sizeof long_text));

    cr_expect_eq(json_from_wire(value, JSON_COMPACT, &small, &text), RESULT_LIMIT);
    cr_expect_eq(text.count, 0u);
    arena_release(&small);
}
