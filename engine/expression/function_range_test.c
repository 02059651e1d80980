/* function_range_test.c: points and ranges. Expected values: the examples of DMN 1.5 table 78. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(range_relation, as_the_standard_says)
{
    static const struct row rows[] = {
        {"before(1, 10)", NULL, "true"},
        {"before(10, 1)", NULL, "false"},
        {"before(1, [1..10])", NULL, "false"},
        {"before(1, (1..10])", NULL, "true"},
        {"before(1, [5..10])", NULL, "true"},
        {"before([1..10], 10)", NULL, "false"},
        {"before([1..10), 10)", NULL, "true"},
        {"before([1..10], 15)", NULL, "true"},
        {"before([1..10], [15..20])", NULL, "true"},
        {"before([1..10), [10..20])", NULL, "true"},
        {"before([1..10], [10..20])", NULL, "false"},
        {"before((< 5), 5)", NULL, "true"},
        {"after(10, 5)", NULL, "true"},
        {"after(12, [2..5])", NULL, "true"},
        {"after([11..20], 10)", NULL, "true"},
        {"after((11..20], 11)", NULL, "true"},
        {"after([11..20], [1..11))", NULL, "true"},
        {"meets([1..5], [5..10])", NULL, "true"},
        {"meets([1..5), [5..10])", NULL, "false"},
        {"met by([5..10], [1..5])", NULL, "true"},
        {"overlaps([1..5], [3..8])", NULL, "true"},
        {"overlaps([1..5], [6..8])", NULL, "false"},
        {"overlaps([1..5], (5..8])", NULL, "false"},
        {"overlaps before([1..5], [3..8])", NULL, "true"},
        {"overlaps before([1..5], [5..8])", NULL, "true"},
        {"overlaps before([1..5), [5..8])", NULL, "false"},
        {"overlaps after([3..8], [1..5])", NULL, "true"},
        {"finishes(10, [1..10])", NULL, "true"},
        {"finishes(10, [1..10))", NULL, "false"},
        {"finishes([5..10], [1..10])", NULL, "true"},
        {"finished by([1..10], 10)", NULL, "true"},
        {"finished by([1..10], [5..10])", NULL, "true"},
        {"includes([1..10], 5)", NULL, "true"},
        {"includes([1..10), 10)", NULL, "false"},
        {"includes([1..10], (1..10))", NULL, "true"},
        {"includes((1..10), [1..5])", NULL, "false"},
        {"includes((> 3), 4)", NULL, "true"},
        {"during(5, [1..10])", NULL, "true"},
        {"during([4..6], [1..10])", NULL, "true"},
        {"starts(1, [1..10])", NULL, "true"},
        {"starts([1..5], [1..10])", NULL, "true"},
        {"starts((1..5], [1..10])", NULL, "false"},
        {"started by([1..10], 1)", NULL, "true"},
        {"started by([1..10], [1..5])", NULL, "true"},
        {"coincides(5, 5)", NULL, "true"},
        {"coincides([1..5], [1..5])", NULL, "true"},
        {"coincides([1..5), [1..5])", NULL, "false"},
        {"before(point1: 1, point2: 2)", NULL, "true"},
        {"before(range: [1..2], point: 3)", NULL, "true"},
        {"before(point: 3, range: [1..2])", NULL, "false"},
        {"after([3], [1..2])", NULL, "true"}, /* a list of one is its item */
        {"includes(range: [1..2], point: 1)", NULL, "true"},
        {"during(@\"2024-02-29\", [@\"2024-01-01\"..@\"2024-12-31\"])", NULL, "true"},
        {"before(1, \"a\")", NULL, "null @0 cannot relate number to string"},
        {"before(null, 1)", NULL, "null @0 cannot relate null to number"},
        {"meets(1, [1..2])", NULL, "null @0 cannot relate number to range"},
        {"coincides(1, [1..1])", NULL, "null @0 cannot relate number to range"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(range_function, reads_a_range_of_literals)
{
    static const struct row rows[] = {
        {"range(\"[1..5)\")", NULL,
         "{\"start\":1,\"end\":5,\"start included\":true,\"end included\":false}"},
        {"range(\"[date(\\\"2024-01-01\\\")..@\\\"2024-02-29\\\"]\").end", NULL, "\"2024-02-29\""},
        {"range(from: \"(1..2)\") = (1..2)", NULL, "true"},
        {"(= 2) = [2..2]", NULL, "true"},
        {"(!= 2)", NULL, "null @1 \"!=\" by itself is no range"},
        {"[2 in (= 2), 2 in (!= 2), [1] in = [1], 2 in [(= 2)]]", NULL, "[true,false,true,true]"},
        {"range(\"[2..)\") = (>= 2)", NULL, "true"},
        {"range(\"]..2[\") = (< 2)", NULL, "true"},
        {"5 in range(\"(..@\\\"P1D\\\"]\")", NULL,
         "null @2 cannot tell whether this number is in it"},
        {"range(\"(..)\")", NULL, "null @0 this string is no range"},
        {"range(\"[..2]\")", NULL, "null @0 this string is no range"},
        {"range(\"[2..]\")", NULL, "null @0 this string is no range"},
        {"range(\"(true..)\")", NULL, "null @0 this string is no range"},
        {"range(\"[5..1]\")", NULL, "null @0 this string is no range"},
        {"range(\"[1..x]\")", NULL, "null @0 this string is no range"},
        {"range(\"[1..2] + 1\")", NULL, "null @0 this string is no range"},
        {"range(\"1\")", NULL, "null @0 this string is no range"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}
