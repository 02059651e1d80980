/* feel_loop_test.c: for, some and every. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(feel_for, makes_a_list)
{
    static const struct row rows[] = {
        {"for x in [1, 2, 3] return x * 2", NULL, "[2,4,6]"},
        {"for x in list return x", "{\"list\": [1.10, \"a\"]}", "[1.10,\"a\"]"},
        {"for x in 1..3 return x", NULL, "[1,2,3]"},
        {"for x in 3..1 return x", NULL, "[3,2,1]"},
        {"for x in [1..3] return x", NULL, "[1,2,3]"},
        {"for x in (1..3) return x", NULL, "[2]"},
        {"for x in (1..1) return x", NULL, "[]"},
        {"for x in n - 1..n return x", "{\"n\": 5}", "[4,5]"},
        {"for x in [1, 2], y in [10, 20] return x + y", NULL, "[11,21,12,22]"},
        {"for x in [1, 2], y in [x, x * 2] return y", NULL, "[1,2,2,4]"},
        {"for x in 1..4 return if x = 1 then 1 else partial[-1] * x", NULL, "[1,2,6,24]"},
        {"for x in [] return x", NULL, "[]"},
        {"for x in 5 return x", NULL, "[5]"},
        {"for x in [1, 2] return for y in [x] return y", NULL, "[[1],[2]]"},
        {"for o in orders return o.n", "{\"orders\": [{\"n\": 1}, {\"n\": 2}]}", "[1,2]"},
        {"for x in null return x", NULL, "null @9 cannot iterate over null"},
        {"for x in \"a\"..\"b\" return x", NULL,
         "null @9 cannot iterate over a range whose ends are neither integers nor dates"},
        {"for x in [3..1] return x", NULL, "null @9 cannot iterate over this range"},
        {"for x in 9223372036854775806..9223372036854775807 return x - 9223372036854775806", NULL,
         "[0,1]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(feel_quantifier, follows_three_valued_logic)
{
    static const struct row rows[] = {
        {"some x in [1, 2] satisfies x > 1", NULL, "true"},
        {"some x in [1, 2] satisfies x > 2", NULL, "false"},
        {"some x in [] satisfies true", NULL, "false"},
        {"some x in [1, null] satisfies x > 1", NULL, "null @32 cannot compare number with null"},
        {"some x in [null, 2] satisfies x > 1", NULL, "true"},
        {"every x in [1, 2] satisfies x > 0", NULL, "true"},
        {"every x in [1, 2] satisfies x > 1", NULL, "false"},
        {"every x in [] satisfies false", NULL, "true"},
        {"every x in [null, 0] satisfies x > 1", NULL, "false"},
        {"some x in 1..3, y in 1..3 satisfies x + y = 6", NULL, "true"},
        {"every x in 1..3, y in 1..3 satisfies x + y < 6", NULL, "false"},
        {"some risk in levels satisfies risk = \"red\"", "{\"levels\": [\"green\", \"red\"]}",
         "true"},
        {"every risk in levels satisfies risk = \"red\"", "{\"levels\": [\"green\", \"red\"]}",
         "false"},
        {"some x in null satisfies true", NULL, "null @10 cannot iterate over null"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}
