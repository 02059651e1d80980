/* number_test.c: decimal arithmetic, rounding and spelling. */
#include "engine/expression/number.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const char *spell(const char *text)
{
    static char out[EXPRESSION_NUMBER_TEXT_BYTES + 1];
    struct expression_value number;
    if (!expression_number_parse(span_text(text), &number)) {
        return "none";
    }
    out[expression_number_format(number, out)] = '\0';
    return out;
}

Test(number, is_spelt_plainly_and_rounded_once)
{
    static const struct {
        const char *text;
        const char *spelling;
    } rows[] = {
        {"0", "0"},
        {"-0", "0"},
        {"-0.00", "0"},
        {"+5", "5"},
        {"00012", "12"},
        {"1.", "1"},
        {".25", "0.25"},
        {"1.2500", "1.25"},
        {"100e-2", "1"},
        {"1e2", "100"},
        {"1.5e-7", "0.00000015"},
        {"-12.34", "-12.34"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775808"},
        {"1234567890123456789012345678901234", "1234567890123456789012345678901234"},
        {"12345678901234567890123456789012344", "12345678901234567890123456789012340"},
        {"12345678901234567890123456789012345", "12345678901234567890123456789012340"},
        {"12345678901234567890123456789012355", "12345678901234567890123456789012360"},
        {"123456789012345678901234567890123450000000000000001",
         "1.234567890123456789012345678901235e50"},
        {"0.12345678901234567890123456789012344999999", "0.1234567890123456789012345678901234"},
        {"0.12345678901234567890123456789012345000001", "0.1234567890123456789012345678901235"},
        {"1e39", "1000000000000000000000000000000000000000"},
        {"1e40", "1e40"},
        {"-1.5e100", "-1.5e100"},
        {"1e-40", "0.0000000000000000000000000000000000000001"},
        {"1e-41", "1e-41"},
        {"9.999999999999999999999999999999999e6144", "9.999999999999999999999999999999999e6144"},
        {"1e6145", "none"},
        {"1e-7000", "0"},
        {"0e99999999999999999999", "0"},
        {"", "none"},
        {".", "none"},
        {"-", "none"},
        {"1e", "none"},
        {"1e+", "none"},
        {"1 ", "none"},
        {"1.2.3", "none"},
        {"nan", "none"},
        {"Infinity", "none"},
        {"0x10", "none"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_str_eq(spell(rows[i].text), rows[i].spelling, "%s gives %s", rows[i].text,
                         spell(rows[i].text));
    }
}

Test(number, of_a_double_is_the_shortest_that_reads_back)
{
    static const struct {
        double real;
        const char *spelling;
    } rows[] = {
        {0.1, "0.1"},
        {0.30000000000000004, "0.30000000000000004"},
        {1e22, "10000000000000000000000"},
        {-2.5, "-2.5"},
        {5.0, "5"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expression_value number;
        char out[EXPRESSION_NUMBER_TEXT_BYTES + 1];
        cr_assert(expression_number_of_real(rows[i].real, &number));
        out[expression_number_format(number, out)] = '\0';
        cr_expect_str_eq(out, rows[i].spelling);
    }
    struct expression_value number;
    cr_expect_not(expression_number_of_real((double)__builtin_inff(), &number));
    cr_expect_not(expression_number_of_real((double)__builtin_nanf(""), &number));
}

Test(number, rounds_in_seven_ways)
{
    static const char *const inputs[] = {"2.5", "-2.5", "3.5", "2.51", "-2.49"};
    static const struct {
        enum expression_rounding rounding;
        const char *spellings[5];
    } rows[] = {
        {ROUND_HALF_EVEN, {"2", "-2", "4", "3", "-2"}},
        {ROUND_HALF_UP, {"3", "-3", "4", "3", "-2"}},
        {ROUND_HALF_DOWN, {"2", "-2", "3", "3", "-2"}},
        {ROUND_UP, {"3", "-3", "4", "3", "-3"}},
        {ROUND_DOWN, {"2", "-2", "3", "2", "-2"}},
        {ROUND_FLOOR, {"2", "-3", "3", "2", "-3"}},
        {ROUND_CEILING, {"3", "-2", "4", "3", "-2"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t j = 0; j < 5; j++) {
            struct expression_value number;
            char out[EXPRESSION_NUMBER_TEXT_BYTES + 1];
            cr_assert(expression_number_parse(span_text(inputs[j]), &number));
            cr_assert(expression_number_round(number, 0, rows[i].rounding, &number));
            out[expression_number_format(number, out)] = '\0';
            cr_expect_str_eq(out, rows[i].spellings[j], "rounding %zu of %s gives %s", i, inputs[j],
                             out);
        }
    }
}

Test(number, converts_to_integers_only_when_it_is_one)
{
    static const struct {
        const char *text;
        bool is_signed, is_unsigned;
    } rows[] = {
        {"5", true, true},
        {"-5", true, false},
        {"5.0", true, true},
        {"5e3", true, true},
        {"5.5", false, false},
        {"9223372036854775807", true, true},
        {"9223372036854775808", false, true},
        {"-9223372036854775808", true, false},
        {"-9223372036854775809", false, false},
        {"18446744073709551615", false, true},
        {"18446744073709551616", false, false},
        {"1e30", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expression_value number;
        int64_t integer;
        uint64_t natural;
        cr_assert(expression_number_parse(span_text(rows[i].text), &number));
        cr_expect_eq(expression_number_to_integer(number, &integer), rows[i].is_signed, "%s",
                     rows[i].text);
        cr_expect_eq(expression_number_to_unsigned(number, &natural), rows[i].is_unsigned, "%s",
                     rows[i].text);
    }
}

/* Digits of every count, with the point at every place that is written plainly and beyond, both
 * signs: read back they are the same number. */
Test(number, is_spelled_so_that_it_reads_back)
{
    static const char digits[] = "9876543210123456789909876543210123"; /* 34 of them */
    for (int count = 1; count <= 34; count++) {
        for (int exponent = -90; exponent <= 60; exponent++) {
            for (int negative = 0; negative <= 1; negative++) {
                char text[64];
                char out[EXPRESSION_NUMBER_TEXT_BYTES + 1];
                struct expression_value number, again;
                snprintf(text, sizeof text, "%s%.*se%d", negative ? "-" : "", count, digits,
                         exponent);
                cr_assert(expression_number_parse(span_text(text), &number), "%s", text);

                size_t bytes = expression_number_format(number, out);
                out[bytes] = '\0';

                cr_assert(expression_number_parse(span_of(out, bytes), &again), "%s", out);
                cr_assert_eq(expression_number_compare(number, again), 0, "%s as %s", text, out);
            }
        }
    }
}
