/* expression_test.c: what holds for every expression: limits, bounded time and memory, borrowed
 * results, payload numbers. */
#include "engine/expression/expression.h"

#include <criterion/criterion.h>

#include "engine/expression/rows.h"
#include "proto/wire/writer.h"

struct fixture {
    struct arena arena;
    struct row_names names;
    const struct engine_expression *expression;
    struct engine_expression_error error;
    struct engine_evaluation evaluation;
};

static void begin(struct fixture *fixture, const char *context)
{
    struct json_error error;
    *fixture = (struct fixture){.names = {.names = {row_find}}};
    arena_init(&fixture->arena, 4096, ROWS_ARENA_BYTES);
    cr_assert_eq(
        json_to_wire(span_text(context), LIMIT_DEPTH, &fixture->arena, &fixture->names.map, &error),
        RESULT_OK);
}

static enum result compile(struct fixture *fixture, struct span source)
{
    return engine_expression_compile(source, ENGINE_DIALECT_FEEL, &fixture->arena,
                                     &fixture->expression, &fixture->error);
}

static enum result run(struct fixture *fixture, const char *source)
{
    cr_assert_eq(compile(fixture, span_text(source)), RESULT_OK, "%s: %s", source,
                 fixture->error.message);
    return engine_expression_evaluate(fixture->expression, &fixture->names.names, &fixture->arena,
                                      &fixture->evaluation);
}

/* `head`, `middle` count times, `tail`; the caller frees. */
static struct span repeat(const char *head, const char *middle, size_t count, const char *tail)
{
    size_t bytes = strlen(head) + strlen(middle) * count + strlen(tail);
    char *text = malloc(bytes + 1);
    char *at = text + strlen(head);
    cr_assert_not_null(text);
    memcpy(text, head, strlen(head));
    for (size_t i = 0; i < count; i++, at += strlen(middle)) {
        memcpy(at, middle, strlen(middle));
    }
    memcpy(at, tail, strlen(tail));
    text[bytes] = '\0';
    return span_of(text, bytes);
}

Test(expression, knows_its_source_and_whether_it_is_a_literal)
{
    static const struct {
        const char *source;
        enum engine_dialect dialect;
        bool literal;
    } rows[] = {
        {"abc", ENGINE_DIALECT_AUTO, true},      {"=1", ENGINE_DIALECT_AUTO, true},
        {"=\"abc\"", ENGINE_DIALECT_AUTO, true}, {"=-5", ENGINE_DIALECT_AUTO, true},
        {"=abc", ENGINE_DIALECT_AUTO, false},    {"=1 + 1", ENGINE_DIALECT_AUTO, false},
        {"${x}", ENGINE_DIALECT_AUTO, false},    {"a {{x}}", ENGINE_DIALECT_AUTO, false},
        {"x", ENGINE_DIALECT_CONDITION, false},  {"", ENGINE_DIALECT_AUTO, true},
    };
    struct fixture fixture;
    begin(&fixture, "{}");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        cr_assert_eq(engine_expression_compile(span_text(rows[i].source), rows[i].dialect,
                                               &fixture.arena, &expression, &error),
                     RESULT_OK);
        cr_expect_eq(engine_expression_is_literal(expression), rows[i].literal, "%s",
                     rows[i].source);
        cr_expect(span_is(engine_expression_source(expression), rows[i].source));
    }

    arena_release(&fixture.arena);
}

Test(expression, outlives_the_text_that_it_was_compiled_from)
{
    struct fixture fixture;
    begin(&fixture, "{\"name\": 5}");
    char source[] = "name + 1";

    cr_assert_eq(compile(&fixture, span_text(source)), RESULT_OK);
    memset(source, 'x', sizeof source - 1);
    enum result result = engine_expression_evaluate(fixture.expression, &fixture.names.names,
                                                    &fixture.arena, &fixture.evaluation);

    cr_assert_eq(result, RESULT_OK);
    cr_expect_eq(wire_int_or(fixture.evaluation.value, 0), 6);
    arena_release(&fixture.arena);
}

Test(expression, hands_a_payload_on_without_copying_it)
{
    struct fixture fixture;
    begin(&fixture, "{\"order\": {\"lines\": [{\"price\": 1.100}]}}");

    cr_assert_eq(run(&fixture, "order.lines"), RESULT_OK);

    const uint8_t *start = fixture.names.map.bytes;
    cr_expect(fixture.evaluation.value.bytes > start &&
              fixture.evaluation.value.bytes < start + fixture.names.map.count);
    arena_release(&fixture.arena);
}

Test(expression, reads_every_kind_of_payload_number)
{
    struct fixture fixture;
    begin(&fixture, "{}");
    struct wire_writer writer;
    wire_writer_init(&writer, &fixture.arena, 64);
    wire_write_map(&writer, 7);
    wire_write_text(&writer, "f");
    wire_write_float(&writer, 0.1);
    wire_write_text(&writer, "u");
    wire_write_uint(&writer, UINT64_MAX);
    wire_write_text(&writer, "d");
    wire_write_decimal(&writer, span_text("0.20"));
    wire_write_text(&writer, "bad");
    wire_write_decimal(&writer, span_text("1.2.3"));
    wire_write_text(&writer, "far");
    wire_write_decimal(&writer, span_text("1e99999"));
    wire_write_text(&writer, "nan");
    wire_write_float(&writer, (double)__builtin_nanf(""));
    wire_write_text(&writer, "bin");
    wire_write_binary(&writer, span_text("x"));
    struct span map = wire_writer_span(&writer);
    static const struct row rows[] = {
        {"f + d", NULL, "0.3"},
        {"f = 0.1", NULL, "true"},
        {"u + 1", NULL, "18446744073709551616"},
        {"u - 1", NULL, "18446744073709551614"},
        {"bad = null", NULL, "true"},
        {"far = null", NULL, "true"},
        {"nan = null", NULL, "true"},
        {"bin = null", NULL, "true"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct span outcome =
            row_outcome(span_text(rows[i].source), ENGINE_DIALECT_FEEL, map, &fixture.arena);
        cr_expect(span_is(outcome, rows[i].expected), "%s gives %.*s", rows[i].source,
                  SPAN_ARG(outcome));
    }

    arena_release(&fixture.arena);
}

Test(expression, refuses_what_is_too_long_too_deep_or_no_text)
{
    static const struct {
        const char *head, *middle, *tail;
        size_t count;
        enum result result;
    } rows[] = {
        {"1", " ", "", LIMIT_EXPRESSION_BYTES - 1, RESULT_OK},
        {"1", " ", "", LIMIT_EXPRESSION_BYTES, RESULT_LIMIT},
        {"1", "+1", "", 30000, RESULT_OK}, /* long is not deep */
        {"1", " and true", "", 7000, RESULT_OK},
        {"", "(", "1", LIMIT_EXPRESSION_DEPTH, RESULT_LIMIT},
        {"", "[", "1", 60000, RESULT_LIMIT},
        {"", "{a:", "1", 20000, RESULT_LIMIT},
        {"", "-", "x", 60000, RESULT_LIMIT},
        {"", "not(", "x", 10000, RESULT_LIMIT},
        {"", "if a then ", "x", 6000, RESULT_LIMIT},
        {"", "for a in ", "x", 7000, RESULT_LIMIT},
        {"x", ".y", "", 30000, RESULT_LIMIT},
        {"x", "[1]", "", 20000, RESULT_LIMIT},
        {"[1..", "[1..", "1", 15000, RESULT_LIMIT},
        {"for ", "a in b,", "c in d return e", 40, RESULT_LIMIT},
        {"", "a ", "a", 20000, RESULT_LIMIT},
        {"\x80", "", "", 0, RESULT_INVALID},
        {"\"", "\xed\xa0\x80", "\"", 1, RESULT_INVALID},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fixture;
        begin(&fixture, "{}");
        struct span source = repeat(rows[i].head, rows[i].middle, rows[i].count, rows[i].tail);
        enum result result = compile(&fixture, source);
        cr_expect_eq(result, rows[i].result, "row %zu: %s: %s", i, result_text(result),
                     result == RESULT_OK ? "" : fixture.error.message);
        free((void *)(uintptr_t)source.bytes);
        arena_release(&fixture.arena);
    }
}

Test(expression, juel_is_as_bounded)
{
    static const char *const middles[] = {"(", "!", "-", "a ? ", "empty ", "a[", "a.b(", "a."};

    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++) {
        struct fixture fixture;
        begin(&fixture, "{}");
        struct span source = repeat("${", middles[i], 8000, "a");
        cr_expect_eq(engine_expression_compile(source, ENGINE_DIALECT_JUEL, &fixture.arena,
                                               &fixture.expression, &fixture.error),
                     RESULT_LIMIT, "%s", middles[i]);
        free((void *)(uintptr_t)source.bytes);
        arena_release(&fixture.arena);
    }
}

Test(expression, ends_hostile_work_with_an_error)
{
    static const char *const sources[] = {
        "count(for a in 1..9999999999 return a)",
        "for a in 1..1000, b in 1..1000, c in 1..1000 return 1",
        "every a in 1..99999, b in 1..99999 satisfies true",
        "for a in 1..60 return if a = 1 then \"x\" else partial[-1] + string(partial)",
        "for a in 1..100000 return [partial[-1]]",
        "for a in 1..100000 return {a: partial[-1]}",
        "string((for a in 1..5000 return [partial[-1]])[-1])",
        "(for a in 1..5000 return [partial[-1]])[-1] = (for a in 1..5000 return [partial[-1]])[-1]",
        "flatten((for a in 1..5000 return [partial[-1]])[-1])",
        "(for a in 1..64 return [partial[-1], partial[-1]])[-1] = 1 or string((for a in 1..64 "
        "return [partial[-1], partial[-1]])[-1]) = \"\"",
        "count(distinct values(for a in 1..5000 return a))",
        "for a in 1..40 return if a = 1 then \"x\" else partial[-1] + partial[-1]",
        "for a in 1..100000 return big[-1]",
        "context put((for a in 1..5000 return {a: if a = 1 then {} else partial[-1]})[-1], (for a "
        "in 1..5000 return \"a\"), 1)",
    };
    struct span big = repeat("{\"big\": [", "\"abcdefgh\",", 100000, "1]}");

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct fixture fixture;
        begin(&fixture, (const char *)big.bytes);
        enum result result = run(&fixture, sources[i]);
        cr_expect_eq(result, RESULT_LIMIT, "%s: %s", sources[i], result_text(result));
        cr_expect(fixture.evaluation.value.count == 0);
        cr_expect_not_null(fixture.evaluation.error.message);
        arena_release(&fixture.arena);
    }
    free((void *)(uintptr_t)big.bytes);
}

Test(expression, results_keep_the_depth_of_payloads)
{
    struct fixture fixture;
    struct span deep = repeat("{\"x\": ", "[", LIMIT_DEPTH - 1, "");
    struct span closed = repeat((const char *)deep.bytes, "]", LIMIT_DEPTH - 1, "}");
    begin(&fixture, (const char *)closed.bytes);

    cr_expect_eq(run(&fixture, "x"), RESULT_OK);
    cr_expect_eq(run(&fixture, "[x]"), RESULT_OK);
    cr_expect_eq(run(&fixture, "[[x]]"), RESULT_LIMIT);

    free((void *)(uintptr_t)deep.bytes);
    free((void *)(uintptr_t)closed.bytes);
    arena_release(&fixture.arena);
}

Test(expression, says_limit_when_the_arena_is_full)
{
    struct fixture fixture;
    struct arena small;
    begin(&fixture, "{\"s\": \"0123456789\"}");
    arena_init(&small, 256, 1024);
    cr_assert_eq(compile(&fixture, span_text("for a in 1..1000 return s + s")), RESULT_OK);

    enum result result = engine_expression_evaluate(fixture.expression, &fixture.names.names,
                                                    &small, &fixture.evaluation);
    const struct engine_expression *expression;
    arena_clear(&small);
    enum result compiled =
        engine_expression_compile(span_text("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]"),
                                  ENGINE_DIALECT_FEEL, &small, &expression, &fixture.error);

    cr_expect_eq(result, RESULT_LIMIT);
    cr_expect_eq(compiled, RESULT_LIMIT);
    arena_release(&small);
    arena_release(&fixture.arena);
}

Test(expression, remembers_more_names_than_it_has_slots_for)
{
    struct fixture fixture;
    char source[4096] = "";
    char context[4096] = "{";
    size_t source_count = 0;
    size_t context_count = 1;
    for (unsigned i = 0; i < 100; i++) {
        source_count += (size_t)snprintf(source + source_count, sizeof source - source_count,
                                         "%sn%u", i == 0 ? "" : " + ", i);
        context_count += (size_t)snprintf(context + context_count, sizeof context - context_count,
                                          "%s\"n%u\": %u", i == 0 ? "" : ", ", i, i);
    }
    snprintf(context + context_count, sizeof context - context_count, "}");
    begin(&fixture, context);

    cr_assert_eq(run(&fixture, source), RESULT_OK);

    cr_expect_eq(wire_int_or(fixture.evaluation.value, -1), 99 * 100 / 2);
    arena_release(&fixture.arena);
}
