/* unary_test.c: the cells of decision tables. Expected values: DMN 1.5 grammar rules 7 to 17,
 * §8.3.3. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(unary_tests, are_passed_by_the_value_called_question_mark)
{
    static const struct row rows[] = {
        {"-", "{\"?\": 1}", "true"},
        {"", "{\"?\": 1}", "true"},
        {"5", "{\"?\": 5}", "true"},
        {"5", "{\"?\": 6}", "false"},
        {"5, 6", "{\"?\": 6}", "true"},
        {"< 5", "{\"?\": 4}", "true"},
        {"<5,>10", "{\"?\": 11}", "true"},
        {"[1..5)", "{\"?\": 5}", "false"},
        {"]1..5]", "{\"?\": 5}", "true"},
        {"\"a\", \"b\"", "{\"?\": \"b\"}", "true"},
        {"not(5)", "{\"?\": 5}", "false"},
        {"not(5, 6)", "{\"?\": 7}", "true"},
        {"not(< 5)", "{\"?\": 5}", "true"},
        {"null", "{\"?\": null}", "true"},
        {"true", "{\"?\": true}", "true"},
        {"true", "{\"?\": false}", "false"},
        {"false", "{\"?\": false}", "true"},
        {"x", "{\"?\": 5, \"x\": 5}", "true"},
        {"list", "{\"?\": 5, \"list\": [4, 5]}", "true"},
        {"? * 2 > 9", "{\"?\": 5}", "true"},
        {"? * 2 > 9", "{\"?\": 4}", "false"},
        {"contains(?, \"b\")", "{\"?\": \"abc\"}", "true"},
        {"starts with(?, \"b\"), ends with(?, \"c\")", "{\"?\": \"abc\"}", "true"},
        {"? = false", "{\"?\": false}", "true"},
        {"flag", "{\"?\": 5, \"flag\": true}", "true"}, /* says yes by itself */
        {"< 5", "{\"?\": \"a\"}", "false"},
        {"< 5", "{\"?\": null}", "false"},
        {"-1", "{\"?\": -1}", "true"},
        {"5 6", "{}", "invalid @2 expected \",\" or the end but found \"6\""},
        {"5,", "{}", "invalid @2 expected an expression but found the end"},
        {"not(5", "{}", "invalid @5 expected \",\" or \")\" but found the end"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_UNARY_TESTS);
}
