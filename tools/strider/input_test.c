#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "tools/strider/input.h"

Test(input, durations_and_sizes_read_as_meant)
{
    static const struct {
        const char *text;
        uint64_t ms; /* UINT64_MAX: refused */
        uint64_t bytes;
    } rows[] = {
        {"0", 0, 0},
        {"30", 30000, 30},
        {"250ms", 250, UINT64_MAX},
        {"1.5h", 5400000, UINT64_MAX},
        {"10min", 600000, UINT64_MAX},
        {"10 MIN", 600000, UINT64_MAX},
        {"2d", 172800000, UINT64_MAX},
        {"16mb", UINT64_MAX, 16777216},
        {"1.5KB", UINT64_MAX, 1536},
        {"1gb", UINT64_MAX, 1073741824},
        {"", UINT64_MAX, UINT64_MAX},
        {"s", UINT64_MAX, UINT64_MAX},
        {"-1s", UINT64_MAX, UINT64_MAX},
        {"1.", UINT64_MAX, UINT64_MAX},
        {"1.2345s", UINT64_MAX, UINT64_MAX},
        {"1 parsec", UINT64_MAX, UINT64_MAX},
        {"18446744073709551616", UINT64_MAX, UINT64_MAX},
        {"18446744073709551615w", UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t value = 0;
        enum result result = cli_parse_duration(span_text(rows[i].text), &value);
        cr_expect_eq(result == RESULT_OK ? value : UINT64_MAX, rows[i].ms, "%s as a duration",
                     rows[i].text);
        result = cli_parse_bytes(span_text(rows[i].text), &value);
        cr_expect_eq(result == RESULT_OK ? value : UINT64_MAX, rows[i].bytes, "%s as a size",
                     rows[i].text);
    }
}

Test(input, a_pair_is_json_where_it_is_json_and_text_else)
{
    struct arena arena;
    struct span name;
    struct span value;
    arena_init(&arena, 4096, 1 << 20);

    cr_assert_eq(cli_read_pair("x", "--var", "n=42", &arena, &name, &value), 0);
    cr_expect(span_is(name, "n"));
    cr_expect_eq(wire_int_or(value, 0), 42);
    cr_assert_eq(cli_read_pair("x", "--var", "who=Anna = Bert", &arena, &name, &value), 0);
    cr_expect(span_is(wire_string_or(value, ""), "Anna = Bert"));
    cr_assert_eq(cli_read_pair("x", "--var", "empty=", &arena, &name, &value), 0);
    cr_expect(wire_is(value, WIRE_STRING));
    cr_expect_eq(cli_read_pair("x", "--var", "=7", &arena, &name, &value), 2);
    cr_expect_eq(cli_read_pair("x", "--var", "n", &arena, &name, &value), 2);

    arena_release(&arena);
}
