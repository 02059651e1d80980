/* closure_test.c: function literals and values, types, and names with signs. Expected values:
 * DMN 1.5 §10.3.2.13, §10.3.1.2 rules 26 to 30 and 54 to 57. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(closure, is_called_with_its_arguments)
{
    static const struct row rows[] = {
        {"(function(a, b) a + b)(1, 2)", NULL, "3"},
        {"(function(a, b) a - b)(b: 1, a: 5)", NULL, "4"},
        {"(function() 7)()", NULL, "7"},
        {"{double: function(x) 2 * x, r: double(21)}.r", NULL, "42"},
        {"{double: function(x) 2 * x, r: double(x: 21)}.r", NULL, "42"},
        {"{m: {f: function(x) x + 1}, r: m.f(1)}.r", NULL, "2"},
        {"[function(x) x, function(x) -x][2](5)", NULL, "-5"},
        {"{add: function(a) function(b) a + b, r: add(1)(2)}.r", NULL, "3"},
        {"for f in (for i in [1, 2, 3] return function(x) x * i) return f(10)", NULL, "[10,20,30]"},
        {"{y: 1, f: function(x) x + y, r: for y in [100] return f(1)}.r", NULL, "[2]"},
        {"(function(a) a)(1, 2)", NULL, "null @15 2 arguments for a function of 1"},
        {"(function(a) a)(b: 1)", NULL, "null @15 the function has other parameters"},
        {"{f: 5, r: f(1)}.r", NULL, "null @10 number is no function"},
        {"{count: 5, r: count([1, 2])}.r", NULL, "2"}, /* no function hides a built-in one */
        {"(function(a: number) a)(\"x\")", NULL, "null @23 \"a\" cannot be string"},
        {"(function(a: number) a)([5])", NULL, "5"},
        {"(function(a: number) a)(null)", NULL, "null"},
        {"{fib: function(n) if n < 2 then n else fib(n - 1) + fib(n - 2), r: fib(15)}.r", NULL,
         "610"},
        {"{f: 5, r: {f: function(x) f + x, y: f(1)}.y}.r", NULL, "6"}, /* the one around it */
        {"{abs: function(n) abs(n) + 1, r: abs(-1)}.r", NULL, "2"},
        {"{f: function(n) f(n), r: f(1)}.r", NULL, "exceeds @16 calls nested too deep"},
        {"(function(f) f(f))(function(f) f(f))", NULL, "exceeds @31 calls nested too deep"},
        {"sort([3, 1, 2], function(x, y) x < y)", NULL, "[1,2,3]"},
        {"sort([3, 1, 2])", NULL, "[1,2,3]"},
        {"sort([{n: \"b\", k: 1}, {n: \"a\", k: 1}, {n: \"c\", k: 0}], function(x, y) x.k < y.k).n",
         NULL, "[\"c\",\"b\",\"a\"]"},
        {"sort([], function(x, y) x < y)", NULL, "[]"},
        {"sort([1, \"a\"])", NULL, "null @0 cannot order all items of the list"},
        {"list replace([1, 2, 3], 2, 9)", NULL, "[1,9,3]"},
        {"list replace([1, 2, 3], function(item, new) item > 1, 9)", NULL, "[1,9,9]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(closure, may_be_a_built_in_function)
{
    static const struct row rows[] = {
        {"{f: floor, r: for g in [f] return g(1.5)}.r", NULL, "[1]"},
        {"{each: function(l, f) for x in l return f(x), r: each([1.5, 2.5], floor)}.r", NULL,
         "[1,2]"},
        {"{f: substring, r: f(\"abc\", 2)}.r", NULL, "\"bc\""},
        {"{f: substring, r: f(start position: 2, string: \"abc\")}.r", NULL, "\"bc\""},
        {"{f: date, r: f(year: 2024, month: 2, day: 29)}.r", NULL, "\"2024-02-29\""},
        {"{f: abs, r: f(x: 1)}.r", NULL, "null @12 the function has other parameters"},
        {"{f: substring, r: f(string: \"abc\")}.r", NULL,
         "null @18 the function has other parameters"},
        {"mode = null", NULL, "true"}, /* a name that nobody knows */
        {"[date, time, \"x\"][item != null]", NULL, "[\"x\"]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(type, says_whether_a_value_is_of_it)
{
    static const struct row rows[] = {
        {"1 instance of number", NULL, "true"},
        {"null instance of Any", NULL, "false"},
        {"null instance of Null", NULL, "true"},
        {"@\"2024-02-29\" instance of date", NULL, "true"},
        {"@\"2024-02-29T00:00:00\" instance of date", NULL, "false"},
        {"@\"2024-02-29T00:00:00\" instance of date and time", NULL, "true"},
        {"@\"P1D\" instance of days and time duration", NULL, "true"},
        {"@\"P1Y\" instance of years and months duration", NULL, "true"},
        {"[1, 2] instance of list<number>", NULL, "true"},
        {"[1, \"a\"] instance of list<number>", NULL, "false"},
        {"[[1], []] instance of list<list<number>>", NULL, "true"},
        {"[1..2] instance of range<number>", NULL, "true"},
        {"[\"a\"..\"b\"] instance of range<number>", NULL, "false"},
        {"{a: 1, b: \"x\"} instance of context<a: number>", NULL, "true"},
        {"{a: \"x\"} instance of context<a: number>", NULL, "false"},
        {"{b: 1} instance of context<a: number>", NULL, "false"},
        {"{a: null} instance of context<a: number>", NULL, "true"},
        {"(function(x) x) instance of function<number>->Any", NULL, "true"},
        {"(function(x, y) x) instance of function<number>->Any", NULL, "false"},
        {"(function(x: string) x) instance of function<number>->Any", NULL, "false"},
        {"(function() \"x\") instance of function<>->string", NULL, "true"},
        {"(function() \"x\") instance of function<>->number", NULL, "false"},
        {"(function(x: number) x) instance of function<number>->number", NULL, "true"},
        {"(function(x: number) x) instance of function<number>->string", NULL, "false"},
        {"(function(x) x) instance of function<number>->number", NULL, "false"},
        {"substring instance of function<string, number>->string", NULL, "true"},
        {"substring instance of function<string>->string", NULL, "false"},
        {"date instance of function<number, number, number>->date", NULL, "true"},
        {"items instance of list<number>", "{\"items\": [1, 2.5]}", "true"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(name, with_signs_is_read_whole_where_it_is_bound)
{
    static const struct row rows[] = {
        {"{a-b: 5, c: a-b}.c", NULL, "5"},
        {"for x-y in [1, 2] return x-y * 2", NULL, "[2,4]"},
        {"(function(a+b) a+b)(3)", NULL, "3"},
        {"{a: 5, b: 3, c: a-b}.c", NULL, "2"},
        {"{x and y: 1, z: x and y}.z", NULL, "1"},
        {"{customer's age: 7, z: customer's age + 1}.z", NULL, "8"},
        {"(function(a-b, c) a-b - c)(c: 2, a-b: 5)", NULL, "3"},
        {"abs(n: 1 - 3)", NULL, "2"},
        {"abs(1 - 3)", NULL, "2"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

static struct span find_in_map(const struct engine_names *names, struct span name)
{
    return row_find(names, name);
}

Test(name, with_signs_is_read_whole_where_it_is_declared)
{
    static const struct span declared[] = {{(const uint8_t *)"due-date", 8},
                                           {(const uint8_t *)"Time and Place", 14}};
    static const struct {
        const char *source;
        const char *expected;
    } rows[] = {{"due-date", "7"},
                {"due-date - due", "6"},
                {"Time and Place = \"here\"", "true"},
                {"due-dates", "null"}};
    const struct engine_declarations declarations = {.names = declared, .count = 2};
    struct json_error json_error;
    struct row_names names = {.names = {.find = find_in_map}};
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    cr_assert_eq(
        json_to_wire(span_text("{\"due-date\": 7, \"due\": 1, \"Time and Place\": \"here\"}"),
                     LIMIT_DEPTH, &arena, &names.map, &json_error),
        RESULT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        struct engine_evaluation evaluation;
        struct span json;
        cr_assert_eq(engine_expression_compile_declared(span_text(rows[i].source),
                                                        ENGINE_DIALECT_FEEL, &declarations, &arena,
                                                        &expression, &error),
                     RESULT_OK, "%s", rows[i].source);

        enum result result =
            engine_expression_evaluate(expression, &names.names, &arena, &evaluation);

        cr_assert_eq(result, RESULT_OK);
        cr_assert_eq(json_from_wire(evaluation.value, JSON_COMPACT, &arena, &json), RESULT_OK);
        cr_expect(span_is(json, rows[i].expected), "%s: %.*s", rows[i].source, SPAN_ARG(json));
    }
    arena_release(&arena);
}
