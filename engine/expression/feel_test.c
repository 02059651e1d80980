/* feel_test.c: literals, names, paths, filters, contexts, logic and their errors. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

#define ORDER                                                                                      \
    "{\"amount\": 150, \"price\": 1.10, \"customer\": {\"tier\": \"gold\", \"age\": 41},"          \
    " \"items\": [{\"n\": \"a\", \"q\": 1}, {\"n\": \"b\", \"q\": 5}, {\"n\": \"c\"}],"            \
    " \"list\": [10, 20, 30], \"nothing\": null, \"a\": 7, \"b\": 2, \"a-b\": 99,"                 \
    " \"Full Name\": \"Jane\", \"big\": 9007199254740993, \"huge\": 18446744073709551615}"

Test(feel_literal, values_are_what_they_say)
{
    static const struct row rows[] = {
        {"1", NULL, "1"},
        {"-1", NULL, "-1"},
        {"007", NULL, "7"},
        {"1.50", NULL, "1.5"},
        {".5", NULL, "0.5"},
        {"1e3", NULL, "1000"},
        {"1.5E-2", NULL, "0.015"},
        {"1e+2", NULL, "100"},
        {"9223372036854775807", NULL, "9223372036854775807"},
        {"-9223372036854775808", NULL, "-9223372036854775808"},
        {"18446744073709551615", NULL, "18446744073709551615"},
        {"1e40", NULL, "1e40"},
        {"1e-45", NULL, "1e-45"},
        {"true", NULL, "true"},
        {"false", NULL, "false"},
        {"null", NULL, "null"},
        {"\"text\"", NULL, "\"text\""},
        {"\"\"", NULL, "\"\""},
        {"[]", NULL, "[]"},
        {"[1, \"a\", [true]]", NULL, "[1,\"a\",[true]]"},
        {"{}", NULL, "{}"},
        {"{a: 1, \"b c\": 2}", NULL, "{\"a\":1,\"b c\":2}"},
        {"{first name: \"x\"}", NULL, "{\"first name\":\"x\"}"},
        {"{a-b: 1}", NULL, "{\"a-b\":1}"},
        {"{a: 1, b: a + 1, c: b * 2}", NULL, "{\"a\":1,\"b\":2,\"c\":4}"},
        {"1 // the rest", NULL, "1"},
        {"/* one */ 1 /* two */ + 1", NULL, "2"},
        {"=1 + 1", NULL, "2"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_literal, escapes_are_decoded_once)
{
    static const struct row rows[] = {
        {"string length(\"\\\"\")", NULL, "1"},
        {"string length(\"\\\\\")", NULL, "1"},
        {"\"A\\\\B\"", NULL, "\"A\\\\B\""},
        {"\"say \\\"hi\\\"\"", NULL, "\"say \\\"hi\\\"\""},
        {"string length(\"\\n\\r\\t\")", NULL, "3"},
        {"string length(\"\\u0009\")", NULL, "1"},
        {"\"\\u00e9\"", NULL, "\"é\""},
        {"\"\\u00E9\" = \"é\"", NULL, "true"},
        {"\"\\uD83D\\uDE00\" = \"\\U01F600\"", NULL, "true"},
        {"string length(\"\\uD83D\\uDE00\")", NULL, "1"},
        {"\"it\\'s\"", NULL, "\"it's\""},
        {"string length(\"\\s\")", NULL, "2"}, /* no escape of FEEL: both characters stay */
        {"\"\\uD83D\"", NULL, "invalid @1 lone surrogate in a string"},
        {"\"ab\\uDE00\"", NULL, "invalid @3 lone surrogate in a string"},
        {"\"\\u12\"", NULL, "invalid @1 \\u needs 4 hexadecimal digits"},
        {"\"\\U12345\"", NULL, "invalid @1 \\U needs 6 hexadecimal digits"},
        {"\"\\UFFFFFF\"", NULL, "invalid @1 no such code point"},
        {"1 + \"open", NULL, "invalid @4 string without an end"},
        {"1 /* open", NULL, "invalid @2 comment without an end"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_name, is_found_or_null_with_a_warning)
{
    static const struct row rows[] = {
        {"amount", ORDER, "150"},
        {"customer.tier", ORDER, "\"gold\""},
        {"customer . tier", ORDER, "\"gold\""},
        {"price", ORDER, "1.10"}, /* handed on as it was written */
        {"price + 0", ORDER, "1.1"},
        {"big", ORDER, "9007199254740993"},
        {"huge", ORDER, "18446744073709551615"},
        {"nothing", ORDER, "null"},
        {"Full Name", ORDER, "\"Jane\""},
        {"Full   Name", ORDER, "\"Jane\""},
        {"a-b", ORDER, "5"}, /* a subtraction: no name a-b is declared */
        {"a - b", ORDER, "5"},
        {"x", ORDER, "null @0 unknown name \"x\""},
        {"1 + x", ORDER, "null @4 unknown name \"x\""},
        {"x = null", ORDER, "true"},
        {"x = 3", ORDER, "false"},
        {"x > 3", ORDER, "null @0 unknown name \"x\""},
        {"x != null and x = 3", ORDER, "false"},
        {"customer.name", ORDER, "null @8 the context has no \"name\""},
        {"amount.name", ORDER, "null @6 number has no \"name\""},
        {"nothing.name", ORDER, "null @7 null has no \"name\""},
        {"is defined(amount)", ORDER, "true"},
        {"is defined(nothing)", ORDER, "true"},
        {"is defined(x)", ORDER, "false"},
        {"is defined(customer.tier)", ORDER, "true"},
        {"is defined(customer.name)", ORDER, "false"},
        {"is defined(x.y.z)", ORDER, "false"},
        {"if is defined(x) then x else \"none\"", ORDER, "\"none\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_path, reaches_into_contexts_and_lists)
{
    static const struct row rows[] = {
        {"{a: {b: {c: 1}}}.a.b.c", NULL, "1"},
        {"items.n", ORDER, "[\"a\",\"b\",\"c\"]"},
        {"items.q", ORDER, "[1,5,null]"},
        {"[[{a: 1}]].a", NULL, "[[1]]"},
        {"list[1]", ORDER, "10"},
        {"list[-1]", ORDER, "30"},
        {"list[a - 6]", ORDER, "10"},
        {"list[0]", ORDER, "null @4 index out of range of 3 items"},
        {"list[4]", ORDER, "null @4 index out of range of 3 items"},
        {"list[-4]", ORDER, "null @4 index out of range of 3 items"},
        {"list[1.0]", ORDER, "10"},
        {"[][1]", NULL, "null @2 index out of range of 0 items"},
        {"amount[1]", ORDER, "150"},
        {"nothing[1]", ORDER, "null @7 null has no items"},
        {"items[1].n", ORDER, "\"a\""},
        {"items[q > 1].n", ORDER, "[\"b\"]"},
        {"items[item.q > 1]", ORDER, "[{\"n\":\"b\",\"q\":5}]"},
        {"items[n = \"c\"][1]", ORDER, "{\"n\":\"c\"}"},
        {"list[item >= 20]", ORDER, "[20,30]"},
        {"list[item > b]", ORDER, "[10,20,30]"},
        {"list[item > 99]", ORDER, "[]"},
        {"list[true]", ORDER, "[10,20,30]"},
        {"[][item > 1]", NULL, "[]"},
        {"[1, 2, 3][item > 1][1]", NULL, "2"},
        {"[{item: 5}][item = 5]", NULL, "[{\"item\":5}]"},
        {"[{x: 1}, {y: 2}][y > 1]", NULL, "[{\"y\":2}]"},
        {"[[1, 2], [3]][count(item) = 2]", NULL, "[[1,2]]"},
        {"[1.10, 2.20][item > 2]", NULL, "[2.2]"},
        {"[1..5].start", NULL, "1"},
        {"(1..5].start included", NULL, "false"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_logic, has_three_values)
{
    static const struct row rows[] = {
        {"true and true", NULL, "true"},
        {"true and false", NULL, "false"},
        {"true and null", NULL, "null"},
        {"false and null", NULL, "false"},
        {"null and false", NULL, "false"},
        {"null and null", NULL, "null"},
        {"true and 1", NULL, "null"},
        {"true or null", NULL, "true"},
        {"null or true", NULL, "true"},
        {"false or null", NULL, "null"},
        {"false or false", NULL, "false"},
        {"\"x\" or true", NULL, "true"},
        {"true or false and false", NULL, "true"},
        {"(true or false) and false", NULL, "false"},
        {"not(true)", NULL, "false"},
        {"not(false)", NULL, "true"},
        {"not(null)", NULL, "null @0 argument 1 of not is null"},
        {"if true then 1 else 2", NULL, "1"},
        {"if null then 1 else 2", NULL, "2"},
        {"if 1 < 2 then \"y\" else \"n\"", NULL, "\"y\""},
        {"if false then 1 else if true then 2 else 3", NULL, "2"},
        {"1 + if true then 2 else 3", NULL, "3"},
        {"1 instance of number", NULL, "true"},
        {"\"1\" instance of number", NULL, "false"},
        {"null instance of Any", NULL, "false"},
        {"[1] instance of list", NULL, "true"},
        {"{} instance of context", NULL, "true"},
        {"amount > 100 and customer.tier = \"gold\"", ORDER, "true"},
        {"amount > 100 and customer.tier = \"silver\"", ORDER, "false"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_syntax, errors_name_their_place)
{
    static const struct row rows[] = {
        {"", NULL, "invalid @0 expected an expression but found the end"},
        {"=", NULL, "invalid @1 expected an expression but found the end"},
        {"1 +", NULL, "invalid @3 expected an expression but found the end"},
        {"1 + * 2", NULL, "invalid @4 expected an expression but found \"*\""},
        {"(1 + 2", NULL, "invalid @6 expected \")\" but found the end"},
        {"(1 then", NULL, "invalid @3 expected \")\" but found \"then\""},
        {"1 2", NULL, "invalid @2 expected an operator or the end but found \"2\""},
        {"[1, 2", NULL, "invalid @5 expected \"]\" but found the end"},
        {"{a 1}", NULL, "invalid @4 expected \":\" but found \"}\""},
        {"{a: 1", NULL, "invalid @5 expected \"}\" but found the end"},
        {"{a: 1, a: 2}", NULL, "invalid @0 a key stands here twice"},
        {"{: 1}", NULL, "invalid @1 expected a key but found \":\""},
        {"if true then 1", NULL, "invalid @14 expected \"else\" but found the end"},
        {"if true else 1", NULL, "invalid @8 expected \"then\" but found \"else\""},
        {"a.", NULL, "invalid @2 expected a name after \".\" but found the end"},
        {"a.1", NULL, "invalid @1 expected an operator or the end but found \".1\""},
        {"a[1", NULL, "invalid @3 expected \"]\" but found the end"},
        {"1 between 2", NULL, "invalid @11 expected \"and\" but found the end"},
        {"for x [1] return x", NULL, "invalid @6 expected \"in\" but found \"[\""},
        {"for x in [1] x", NULL, "invalid @13 expected \"return\" but found \"x\""},
        {"some x in [1] return x", NULL, "invalid @14 expected \"satisfies\" but found \"return\""},
        {"a == b", NULL, "invalid @2 FEEL compares with \"=\", not \"==\""},
        {"a && b", NULL, "invalid @2 FEEL has \"and\", not \"&&\""},
        {"a || b", NULL, "invalid @2 FEEL has \"or\", not \"||\""},
        {"!a", NULL, "invalid @0 FEEL has \"not(…)\", not \"!\""},
        {"'a'", NULL, "invalid @0 FEEL strings stand in double quotes"},
        {"a # b", NULL, "invalid @2 unexpected character"},
        {"é + ", NULL, "invalid @5 expected an expression but found the end"},
        {"null()", NULL, "invalid @4 expected an operator or the end but found \"(\""},
        {"nope(1)", NULL, "invalid @0 unknown function \"nope\""},
        {"1 + cuont([1])", NULL, "invalid @4 unknown function \"cuont\": did you mean \"count\"?"},
        {"count()", NULL, "invalid @0 count has 0 arguments: it takes (list)"},
        {"abs(1, 2)", NULL, "invalid @0 abs has 2 arguments: it takes (number)"},
        {"abs(m: 1)", NULL, "invalid @4 abs has no parameter \"m\""},
        {"modulo(dividend: 1)", NULL,
         "invalid @0 modulo lacks an argument: it takes (dividend,divisor)"},
        {"modulo(dividend: 1, dividend: 2)", NULL, "invalid @20 \"dividend\" is given twice"},
        {"@\"2020-13-01\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@5", NULL, "invalid @1 expected a string after \"@\" but found \"5\""},
        {"function x", NULL, "invalid @9 expected \"(\" but found \"x\""},
        {"function(x, 1) x", NULL, "invalid @12 expected the name of a parameter but found \"1\""},
        {"function(x) external {}", NULL,
         "unsupported @12 external functions are not called from here"},
        {"1 instance of nubmer", NULL,
         "invalid @14 unknown type \"nubmer\": did you mean \"number\"?"},
        {"1 instance of list<number", NULL, "invalid @25 expected \">\" but found the end"},
        {"1e9999", NULL, "invalid @0 number out of range"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}
