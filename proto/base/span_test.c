#include "proto/base/span.h"

#include <criterion/criterion.h>

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

Test(span, order_is_bytewise_and_a_prefix_comes_first)
{
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        {"", "", 0},    {"", "a", -1},  {"a", "", 1},    {"a", "a", 0},
        {"a", "b", -1}, {"ab", "a", 1}, {"a", "ab", -1}, {"\x7f", "\x80", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span a = span_text(rows[i].a), b = span_text(rows[i].b);
        cr_expect_eq(sign(span_compare(a, b)), rows[i].order, "row %zu", i);
        cr_expect_eq(span_equal(a, b), rows[i].order == 0, "row %zu", i);
    }
}

Test(span, an_empty_span_may_have_no_bytes_at_all)
{
    cr_expect(span_equal(SPAN_EMPTY, span_text("")));
    cr_expect(span_equal(SPAN_EMPTY, span_text(NULL)));
    cr_expect_eq(span_compare(SPAN_EMPTY, span_text("")), 0);
    cr_expect(span_starts_with(SPAN_EMPTY, ""));
    cr_expect_eq(span_trim(SPAN_EMPTY).count, 0u);
}

Test(span, starts_with_compares_the_whole_prefix)
{
    cr_expect(span_starts_with(span_text("strider"), "str"));
    cr_expect(span_starts_with(span_text("strider"), ""));
    cr_expect_not(span_starts_with(span_text("st"), "str"));
    cr_expect_not(span_starts_with(span_text("strider"), "sty"));
}

Test(span, trim_takes_white_space_off_both_ends_and_none_within)
{
    static const char *const rows[][2] = {
        {"  a b\t\r\n", "a b"},   {"a", "a"}, {" \t\n\v\f\r ", ""}, {"", ""},
        {"\xc2\xa0", "\xc2\xa0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect(span_is(span_trim(span_text(rows[i][0])), rows[i][1]), "row %zu", i);
    }
}
