#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 65536, 256u << 20);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(json_read, .init = set_up, .fini = tear_down);

static const char *hex(struct span bytes)
{
    char *text = arena_zero(&arena, 2 * bytes.count + 1);
    for (size_t i = 0; i < bytes.count; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes.bytes[i]);
    }
    return text;
}

/* The MessagePack of a JSON text as hexadecimal digits, or the reason why there is none. */
static const char *read_json(struct span text)
{
    struct span value;
    struct json_error error;
    if (json_to_wire(text, LIMIT_DEPTH, &arena, &value, &error) != RESULT_OK) {
        return error.reason;
    }
    size_t offset;
    const char *reason;
    cr_assert_eq(wire_validate(value, LIMIT_DEPTH, &offset, &reason), RESULT_OK, "%s", reason);
    return hex(value);
}

struct row {
    const char *json;
    const char *expected;
};

static void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(read_json(span_text(rows[i].json)), rows[i].expected, "%s", rows[i].json);
    }
}

#define EXPECT_ROWS(rows) expect_rows((rows), sizeof(rows) / sizeof((rows)[0]))

Test(json_read, words_containers_and_white_space)
{
    static const struct row rows[] = {
        {"null", "c0"},
        {"true", "c3"},
        {"false", "c2"},
        {"{}", "80"},
        {"[]", "90"},
        {" \t\r\n[ ] ", "90"},
        {"[ 1 , [ ] , { \"a\" : null } ]", "93019081a161c0"},
        {"{\"a\":{\"b\":[true,false]}}", "81a16181a16292c3c2"},
        {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", "dc00100102030405060708090a0b0c0d0e0f10"},
    };
    EXPECT_ROWS(rows);
}

Test(json_read, integers_of_64_bits_stay_integers)
{
    static const struct row rows[] = {
        {"0", "00"},
        {"-1", "ff"},
        {"127", "7f"},
        {"-129", "d1ff7f"},
        {"9007199254740993", "cf0020000000000001"},
        {"9223372036854775807", "cf7fffffffffffffff"},
        {"9223372036854775808", "cf8000000000000000"},
        {"18446744073709551615", "cfffffffffffffffff"},
        {"-9223372036854775808", "d38000000000000000"},
    };
    EXPECT_ROWS(rows);
}

Test(json_read, every_other_number_keeps_its_digits_as_a_decimal)
{
    static const char *const rows[] = {
        "18446744073709551616",
        "-9223372036854775809",
        "99999999999999999999",
        "1.0",
        "1.50",
        "-0",
        "-0.0",
        "0.1",
        "1e400",
        "1E+2",
        "1e-7",
        "123456789012345678901234567890.5",
        "0e0",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value;
        struct json_error error;
        cr_assert_eq(json_to_wire(span_text(rows[i]), 1, &arena, &value, &error), RESULT_OK);
        cr_expect_eq(wire_head(value).type, WIRE_DECIMAL, "%s", rows[i]);
        cr_expect(span_is(wire_head(value).as.text, rows[i]), "%s", rows[i]);
    }
}

Test(json_read, what_is_no_json_number_is_refused)
{
    static const struct row rows[] = {
        {"01", "number with a leading zero"},
        {"-01", "number with a leading zero"},
        {"00", "number with a leading zero"},
        {"-", "unexpected end"},
        {"-a", "digit expected"},
        {"1.", "unexpected end"},
        {"1.e5", "digit expected"},
        {"1e", "unexpected end"},
        {"[1e+]", "digit expected"},
        {"+1", "unexpected character"},
        {".5", "unexpected character"},
        {"0x10", "text after the value"},
        {"1_000", "text after the value"},
        {"NaN", "unexpected character"},
        {"Infinity", "unexpected character"},
        {"-Infinity", "digit expected"},
    };
    EXPECT_ROWS(rows);
}

Test(json_read, strings_are_unescaped_and_short_ones_keep_short_heads)
{
    static const struct row rows[] = {
        {"\"\"", "a0"},
        {"\"abc\"", "a3616263"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a8225c2f080c0a0d09"},
        {"\"\\u0041\\u00e9\\u20AC\"", "a641c3a9e282ac"},
        {"\"\\ud83d\\ude00\"", "a4f09f9880"},
        {"\"\\uD800\\uDC00\\udbff\\udfff\"", "a8f0908080f48fbfbf"},
        {"\"a\\u0000b\"", "a3610062"},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "a9c3a9e282acf09f9880"},
        {"\"\x7f\"", "a17f"},
        {"{\"k\\u0065y\":\"\"}", "81a36b6579a0"},
    };
    EXPECT_ROWS(rows);
}

Test(json_read, bad_strings_are_refused_by_name)
{
    static const struct row rows[] = {
        {"\"", "unexpected end"},
        {"\"abc", "unexpected end"},
        {"\"abc\\", "unexpected end"},
        {"\"\\x\"", "unknown escape"},
        {"\"\\u12\"", "\\u wants four hexadecimal digits"},
        {"\"\\u12g4\"", "\\u wants four hexadecimal digits"},
        {"\"\\ud800\"", "lone surrogate"},
        {"\"\\ud800x\"", "lone surrogate"},
        {"\"\\ud800\\n\"", "lone surrogate"},
        {"\"\\ud800\\ud800\"", "lone surrogate"},
        {"\"\\udc00\"", "lone surrogate"},
        {"\"\\ud800\\u00g0\"", "\\u wants four hexadecimal digits"},
        {"\"a\nb\"", "control character in a string"},
        {"\"0123456789\t\"", "control character in a string"},
        {"\"\xff\"", "invalid UTF-8"},
        {"\"\xc0\xaf\"", "invalid UTF-8"},
        {"\"\xed\xa0\x80\"", "invalid UTF-8"},
        {"\"\xc3\"", "invalid UTF-8"},
        {"\"\\n\xff\"", "invalid UTF-8"},
        {"'a'", "unexpected character"},
    };
    EXPECT_ROWS(rows);
    cr_expect_str_eq(read_json(span_of("\"a\0b\"", 5)), "control character in a string");
}

/* Escapes make a string's length unknown until its end: all head sizes, at their borders. */
Test(json_read, escaped_strings_of_every_length_equal_plain_ones)
{
    static const size_t rows[] = {1, 2, 31, 32, 33, 255, 256, 257, 65535, 65536, 65537};
    char *plain = malloc(70000), *escaped = malloc(70000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count = rows[i];
        plain[0] = '"';
        memset(plain + 1, 'x', count);
        plain[count + 1] = '"';
        memcpy(escaped, "\"\\u0078", 7);
        memset(escaped + 7, 'x', count - 1);
        escaped[count + 6] = '"';
        struct span a, b;
        struct json_error error;
        cr_assert_eq(json_to_wire(span_of(plain, count + 2), 1, &arena, &a, &error), RESULT_OK);
        cr_assert_eq(json_to_wire(span_of(escaped, count + 7), 1, &arena, &b, &error), RESULT_OK);
        cr_expect(span_equal(a, b), "%zu bytes", count);
    }
    free(plain);
    free(escaped);
}

/* Text is scanned eight bytes at a time: a special byte must be seen at each place of a word. */
Test(json_read, a_special_byte_is_seen_at_every_place)
{
    static const struct {
        char byte;
        const char *reason;
    } rows[] = {
        {'\n', "control character in a string"},
        {'\x1f', "control character in a string"},
        {'\xff', "invalid UTF-8"},
        {'"', "text after the value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t place = 1; place < 24; place++) {
            char text[26];
            memset(text, '#', sizeof text);
            text[0] = text[25] = '"';
            text[place] = rows[i].byte;
            cr_expect_str_eq(read_json(span_of(text, sizeof text)), rows[i].reason, "place %zu",
                             place);
        }
    }
}

Test(json_read, faults_are_located_by_offset_line_and_column)
{
    static const struct {
        const char *json;
        size_t offset;
        uint32_t line, column;
        const char *reason;
    } rows[] = {
        {"", 0, 1, 1, "unexpected end"},
        {"  ", 2, 1, 3, "unexpected end"},
        {"{\n  \"a\": tru\n}", 12, 2, 11, "unexpected character"},
        {"{\n \"a\": 1,\n}", 11, 3, 1, "key in quotes expected"},
        {"[1 2]", 3, 1, 4, "',' or ']' expected"},
        {"{\"a\":1 \"b\"", 7, 1, 8, "',' or '}' expected"},
        {"{\"a\" 1}", 5, 1, 6, "':' expected"},
        {"{a:1}", 1, 1, 2, "key in quotes expected"},
        {"[1,]", 3, 1, 4, "unexpected character"},
        {"[1,2", 4, 1, 5, "unexpected end"},
        {"{\"a\"", 4, 1, 5, "unexpected end"},
        {"{\"a\":", 5, 1, 6, "unexpected end"},
        {"{} {}", 3, 1, 4, "text after the value"},
        {"1\n\n2", 3, 3, 1, "text after the value"},
        {"[\"\\ud800\"]", 2, 1, 3, "lone surrogate"},
        {"[}", 1, 1, 2, "unexpected character"},
        {"{]", 1, 1, 2, "key in quotes expected"},
        {"[1}", 2, 1, 3, "',' or ']' expected"},
        {"// comment", 0, 1, 1, "unexpected character"},
        {"nul", 3, 1, 4, "unexpected end"},
        {"nullx", 4, 1, 5, "text after the value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value;
        struct json_error error = {0};
        enum result result = json_to_wire(span_text(rows[i].json), 8, &arena, &value, &error);
        cr_expect_eq(result, RESULT_INVALID, "row %zu", i);
        cr_expect_eq(value.count, 0u, "row %zu", i);
        cr_expect_str_eq(error.reason, rows[i].reason, "row %zu", i);
        cr_expect_eq(error.offset, rows[i].offset, "row %zu: at %zu", i, error.offset);
        cr_expect_eq(error.line, rows[i].line, "row %zu: line %u", i, error.line);
        cr_expect_eq(error.column, rows[i].column, "row %zu: column %u", i, error.column);
    }
    cr_expect_str_eq(read_json(SPAN_EMPTY), "unexpected end");
}

Test(json_read, duplicate_keys_stay_and_the_last_one_wins)
{
    struct span value;
    struct json_error error;

    cr_assert_eq(json_to_wire(span_text("{\"a\":1,\"a\":2}"), 1, &arena, &value, &error),
                 RESULT_OK);

    cr_expect_eq(wire_count(value), 2u);
    cr_expect_eq(wire_int_or(wire_find_text(value, "a"), 0), 2);
}

Test(json_read, a_utf_8_byte_order_mark_is_skipped_once)
{
    cr_expect_str_eq(read_json(span_text("\xef\xbb\xbf{}")), "80");
    cr_expect_str_eq(read_json(span_text("\xef\xbb\xbf\xef\xbb\xbf{}")), "unexpected character");
    cr_expect_str_eq(read_json(span_text(" \xef\xbb\xbf{}")), "unexpected character");
}

Test(json_read, other_encodings_are_named)
{
    static const struct {
        const char *bytes;
        size_t count;
    } rows[] = {
        {"\xff\xfe{\0}\0", 6}, {"\xfe\xff\0{\0}", 6},      {"{\0}\0", 4},
        {"\0{\0}", 4},         {"\xff\xfe\0\0{\0\0\0", 8}, {"\0\0\xfe\xff\0\0\0{", 8},
        {"{\0\0\0}\0\0\0", 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(read_json(span_of(rows[i].bytes, rows[i].count)),
                         "UTF-16 or UTF-32, where JSON must be UTF-8", "row %zu", i);
    }
}

Test(json_read, nesting_up_to_the_limit_is_read_and_one_more_is_not)
{
    char text[2 * LIMIT_DEPTH + 2];
    memset(text, '[', LIMIT_DEPTH + 1);
    memset(text + LIMIT_DEPTH + 1, ']', LIMIT_DEPTH + 1);
    struct span value;
    struct json_error error;

    struct span fitting = span_of(text + 1, 2 * LIMIT_DEPTH);
    cr_expect_eq(json_to_wire(fitting, LIMIT_DEPTH, &arena, &value, &error), RESULT_OK);
    struct span deep = span_of(text, sizeof text);
    cr_expect_eq(json_to_wire(deep, LIMIT_DEPTH, &arena, &value, &error), RESULT_LIMIT);
    cr_expect_str_eq(error.reason, "nested too deeply");
    cr_expect_eq(error.offset, (size_t)LIMIT_DEPTH);
}

Test(json_read, a_depth_bomb_costs_no_stack)
{
    size_t count = 4u << 20;
    char *bomb = malloc(count);
    static const char *const pieces[] = {"[", "{\"a\":", "[{\"\":"};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t piece_bytes = strlen(pieces[i]);
        for (size_t at = 0; at + piece_bytes <= count; at += piece_bytes) {
            memcpy(bomb + at, pieces[i], piece_bytes);
        }
        struct span value;
        struct json_error error;
        enum result result =
            json_to_wire(span_of(bomb, count - count % piece_bytes), 128, &arena, &value, &error);
        cr_expect_eq(result, RESULT_LIMIT, "row %zu", i);
    }
    free(bomb);
}

static const char every_kind[] =
    "\xef\xbb\xbf {\"n\\u0061me\\n\":\"J\xc3\xbcrgen \\ud83d\\ude00\","
    "\"list\":[1,-2,3.5e-1,true,false,null,[],{}],\"big\":18446744073709551616}";

Test(json_read, a_text_cut_at_any_byte_is_refused)
{
    struct span value;
    struct json_error error;
    size_t whole = sizeof every_kind - 1;
    cr_assert_eq(json_to_wire(span_of(every_kind, whole), 8, &arena, &value, &error), RESULT_OK);
    for (size_t count = 0; count < whole; count++) {
        /* On the heap and exactly as long, so that the sanitizer sees a read past the end. */
        char *cut = malloc(count + (count == 0));
        memcpy(cut, every_kind, count);
        cr_expect_eq(json_to_wire(span_of(cut, count), 8, &arena, &value, &error), RESULT_INVALID,
                     "cut to %zu", count);
        cr_expect_leq(error.offset, count);
        free(cut);
    }
}

Test(json_read, a_full_arena_is_a_limit_not_a_crash)
{
    for (size_t limit = 0; limit < 600; limit += 7) {
        struct arena small;
        arena_init(&small, 256, limit);
        struct span value;
        struct json_error error;
        enum result result =
            json_to_wire(span_text("[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,"
                                   "1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,\"\\n\"]"),
                         8, &small, &value, &error);
        cr_expect(result == RESULT_OK || result == RESULT_LIMIT);
        cr_expect_eq(result == RESULT_LIMIT, value.count == 0, "limit %zu", limit);
        if (result == RESULT_LIMIT) {
            cr_expect_str_eq(error.reason, "too large");
        }
        arena_release(&small);
    }
}
