/* condition_test.c: what is decided at a glance is what the operators say. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

enum { TEXT_BYTES = 2048 };

/* Every form that a payload gives a number or a text, and what is neither. */
static const char *const values[] = {
    "0",
    "1",
    "-1",
    "127",
    "128",
    "-32",
    "-33",
    "-128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "-32769",
    "4294967296",
    "-2147483649",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1.0",
    "0.5",
    "-0.5",
    "100.00",
    "255.0",
    "0.1",
    "0.000000000000000001",
    "0.0000000000000000001",
    "9.223372036854775807",
    "92233720368547758.08",
    "9223372036854775807.5",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "\"b\"",
    "\"ab\"",
    "\"a text of more than 31 bytes, which has a longer head\"",
    "true",
    "null",
    "[1]",
};

#define COUNT (sizeof values / sizeof *values)

static const char *const operators[] = {"=", "!=", "<", "<=", ">", ">="};

/* The value alone: why it is null stands elsewhere in another source. */
static struct span value_of(const char *source, struct span context, struct arena *arena)
{
    struct span outcome = row_outcome(span_text(source), ENGINE_DIALECT_FEEL, context, arena);
    return span_starts_with(outcome, "null") ? span_text("null") : outcome;
}

static void expect_same(const char *source, const char *general, struct span context,
                        struct arena *arena, size_t i, size_t j)
{
    struct span at_a_glance = value_of(source, context, arena);
    struct span in_general = value_of(general, context, arena);
    cr_expect(span_equal(at_a_glance, in_general), "%s: %.*s, not %.*s (%s, %s)", source,
              SPAN_ARG(at_a_glance), SPAN_ARG(in_general), values[i], values[j]);
}

Test(condition, compares_as_the_operators_do)
{
    struct arena arena;
    arena_init(&arena, 64u << 10, ROWS_ARENA_BYTES);
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        const char *a = values[i / COUNT];
        const char *b = values[i % COUNT];
        char json[TEXT_BYTES], general[TEXT_BYTES], source[TEXT_BYTES];
        struct json_error error;
        struct span context;
        arena_clear(&arena);
        snprintf(json, sizeof json, "{\"a\": %s, \"b\": %s, \"at\": {\"a\": %s}}", a, b, a);
        cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, &arena, &context, &error),
                     RESULT_OK);
        for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
            /* What is called, filtered or computed is not looked at in place. */
            snprintf(general, sizeof general, "[at.a, 0][1] %s [b, 0][1]", operators[k]);

            snprintf(source, sizeof source, "at.a %s b", operators[k]);
            expect_same(source, general, context, &arena, i / COUNT, i % COUNT);
            snprintf(source, sizeof source, "a %s %s", operators[k], b);
            expect_same(source, general, context, &arena, i / COUNT, i % COUNT);
            snprintf(source, sizeof source, "%s %s b", a, operators[k]);
            expect_same(source, general, context, &arena, i / COUNT, i % COUNT);
        }
    }
    arena_release(&arena);
}

Test(condition, that_is_not_simple_warns_as_any)
{
    static const struct row rows[] = {
        {"a > 1", NULL, "null @0 unknown name \"a\""},
        {"a.b > 1", "{\"a\": {}}", "null @1 the context has no \"b\""},
        {"a.b > 1", "{\"a\": 5}", "null @1 number has no \"b\""},
        {"1 < a", "{\"a\": \"x\"}", "null @2 cannot compare number with string"},
        {"a > 1 and b", "{\"a\": 2, \"b\": true}", "true"},
        {"a > 1 and b", "{\"a\": 2, \"b\": \"x\"}", "null"},
        {"a > 1 and b", "{\"a\": 0, \"b\": \"x\"}", "false"},
        {"a > 1 or b", "{\"a\": 2, \"b\": \"x\"}", "true"},
        {"a > 1 or b = 2 or c.d = \"e\"", "{\"a\": 0, \"b\": 1, \"c\": {\"d\": \"e\"}}", "true"},
        {"a.b = 1", "{\"a\": [{\"b\": 1}, {\"b\": 2}]}", "null @4 cannot compare list with number"},
        {"if a > 1 then \"x\" else \"y\"", "{\"a\": 2}", "\"x\""},
        {"if a > 1 then \"x\" else \"y\"", NULL, "\"y\""},
        {"some x in a satisfies x > 1.5", "{\"a\": [1, 1.25, 2]}", "true"},
        {"every x in a satisfies x > 1.5", "{\"a\": [1.75, 1.25, 2]}", "false"},
        {"every x in a satisfies x > 1.5", "{\"a\": [1.75, null]}",
         "null @25 cannot compare number with null"},
        {"a[b > 1.5].c", "{\"a\": [{\"b\": 2, \"c\": \"x\"}, {\"b\": 1.5, \"c\": \"y\"}]}",
         "[\"x\"]"},
        {"for b in [1, 2] return b > a", "{\"a\": 1, \"b\": 0}", "[false,true]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

/* A name and a comparison a round, of a million, whether or not they can be told at a glance. */
Test(condition, costs_what_its_parts_cost)
{
    static const struct row rows[] = {
        {"every i in 1..490000 satisfies i >= 0", NULL, "true"},
        {"every i in 1..510000 satisfies i >= 0", NULL, "exceeds @0 too many steps"},
        {"every i in 1..490000 satisfies x >= 0", "{\"x\": 1}", "true"},
        {"every i in 1..510000 satisfies x >= 0", "{\"x\": 1}", "exceeds @0 too many steps"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}
