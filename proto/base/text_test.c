#include "proto/base/text.h"

#include <criterion/criterion.h>

Test(text, utf_8_is_valid_up_to_the_first_byte_that_rfc_3629_forbids)
{
    static const struct {
        const char *text;
        size_t valid_count;
    } rows[] = {
        {"", 0},
        {"plain ASCII, longer than one word", 33},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9},
        {"\xed\x9f\xbf\xee\x80\x80", 6},             /* U+D7FF, U+E000: around the surrogates */
        {"\xf4\x8f\xbf\xbf", 4},                     /* U+10FFFF */
        {"\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80", 9}, /* the least of each length */
        {"ab\x80", 2},                               /* continuation first */
        {"ab\xc0\xaf", 2},                           /* overlong '/' */
        {"ab\xc1\xbf", 2},
        {"ab\xe0\x9f\xbf", 2},
        {"ab\xf0\x8f\xbf\xbf", 2},
        {"ab\xed\xa0\x80", 2},     /* U+D800 */
        {"ab\xed\xbf\xbf", 2},     /* U+DFFF */
        {"ab\xf4\x90\x80\x80", 2}, /* U+110000 */
        {"ab\xf5\x80\x80\x80", 2},
        {"ab\xff", 2},
        {"ab\xc3", 2}, /* cut short */
        {"ab\xe2\x82", 2},
        {"ab\xf0\x9f\x98", 2},
        {"ab\xe2\x28\xa1", 2},
        {"ab\xf0\x9f\x28\x80", 2},
        {"01234567\xc3\xa9"
         "01234567\xff",
         18},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(text_utf8_valid_count(span_text(rows[i].text)), rows[i].valid_count, "row %zu",
                     i);
    }
    cr_expect_eq(text_utf8_valid_count(SPAN_EMPTY), 0u);
    cr_expect_eq(text_utf8_valid_count(span_of("a\0b", 3)), 3u, "U+0000 is a character");
}

Test(text, times_are_written_in_utc_with_milliseconds)
{
    static const struct {
        int64_t unix_ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {1234567890123, "2009-02-13T23:31:30.123Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {4107542399999, "2100-02-28T23:59:59.999Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
        {-62167219200000, "0000-01-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {INT64_MIN, "0000-01-01T00:00:00.000Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_TIME_BYTES + 1];
        text_format_time(rows[i].unix_ms, text);
        cr_expect_str_eq(text, rows[i].text, "row %zu", i);
    }
}

Test(text, a_written_time_reads_back_as_itself)
{
    int64_t step_ms = 86399999LL * 337;
    for (int64_t unix_ms = -62167219200000; unix_ms <= 253402300799999; unix_ms += step_ms) {
        char text[TEXT_TIME_BYTES + 1];
        int64_t read_ms;
        text_format_time(unix_ms, text);
        cr_assert_eq(text_parse_time(span_text(text), &read_ms), RESULT_OK, "%s", text);
        cr_assert_eq(read_ms, unix_ms, "%s", text);
    }
}

Test(text, rfc_3339_times_are_read_with_offset_and_fraction)
{
    static const struct {
        const char *text;
        int64_t unix_ms;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00Z", 0},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T23:30:00-00:30", 0},
        {"1985-04-12T23:20:50.52Z", 482196050520},
        {"1970-01-01T00:00:00.123456789Z", 123},
        {"1990-12-31T23:59:60Z", 662688000000},
        {"2000-02-29T00:00:00Z", 951782400000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t unix_ms = -1;
        cr_expect_eq(text_parse_time(span_text(rows[i].text), &unix_ms), RESULT_OK, "%s",
                     rows[i].text);
        cr_expect_eq(unix_ms, rows[i].unix_ms, "%s", rows[i].text);
    }
}

Test(text, what_is_no_rfc_3339_time_is_refused)
{
    static const char *const rows[] = {
        "",
        "2026",
        "2026-11-30",
        "2026-11-30T10:27:33",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00Z ",
        " 2026-01-01T00:00:00Z",
        "+2026-01-01T00:00:00Z",
        "2026-1-01T00:00:00Z",
        "2026-01-01X00:00:00Z",
        "2026-01-01T00:00:0",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t unix_ms;
        cr_expect_eq(text_parse_time(span_text(rows[i]), &unix_ms), RESULT_INVALID, "\"%s\"",
                     rows[i]);
    }
    int64_t unix_ms;
    cr_expect_eq(text_parse_time(span_of("1970-01-01\0"
                                         "00:00:00Z",
                                         20),
                                 &unix_ms),
                 RESULT_INVALID);
}

Test(text, distance_counts_the_edits_between_two_short_texts)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},
        {"abc", "abc", 0},
        {"", "abc", 3},
        {"kitten", "sitting", 3},
        {"durabilty", "durability", 1},
        {"port", "prot", 1},
        {"ab", "ba", 1},
        {"form", "from", 1},
        {"ca", "abc", 3},
        {"abc", "xyz", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span a = span_text(rows[i].a), b = span_text(rows[i].b);
        cr_expect_eq(text_distance(a, b), rows[i].distance, "row %zu", i);
        cr_expect_eq(text_distance(b, a), rows[i].distance, "row %zu", i);
    }
    static const char long_text[65] = {0};
    cr_expect_eq(text_distance(span_of(long_text, 65), span_text("a")), SIZE_MAX);
    cr_expect_eq(text_distance(span_of(long_text, 64), SPAN_EMPTY), 64u);
}

Test(text, percent_escapes_are_decoded_or_refused)
{
    static const struct {
        const char *text, *decoded; /* NULL: refused */
    } rows[] = {
        {"", ""},         {"abc", "abc"},   {"a%40b", "a@b"},       {"%2f%2F", "//"},
        {"%C3%A9", "é"},  {"%", NULL},      {"%4", NULL},           {"%4g", NULL},
        {"%g4", NULL},    {"a%00b", NULL},  {"1234567", "1234567"}, {"12345678", NULL},
        {"%25%25", "%%"}, {"%2540", "%40"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[8];
        bool fine = text_percent_decode(span_text(rows[i].text), out, sizeof out);
        cr_expect_eq(fine, rows[i].decoded != NULL, "%s", rows[i].text);
        if (fine && rows[i].decoded != NULL) {
            cr_expect_str_eq(out, rows[i].decoded);
        }
    }
}
