/*
 * juel_test.c: operators, coercions and null handling of EL. Expected values are those of
 * JUEL 2.2.7 as Camunda 7 embeds it (de.odysseus.el: NumberOperations, BooleanOperations,
 * TypeConverterImpl), by the clause of JSR 245 that it implements, but for arithmetic, which is
 * decimal here.
 */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

#define VARIABLES                                                                                  \
    "{\"a\": 7, \"b\": 2, \"s\": \"text\", \"n\": \"12\", \"t\": true, \"f\": false, \"e\": \"\"," \
    " \"nil\": null, \"list\": [10, 20, 30], \"none\": [], \"m\": {\"k\": 1, \"x y\": 2},"         \
    " \"o\": {\"p\": {\"q\": \"deep\"}, \"items\": [{\"id\": 5}]}, \"d\": 0.1, \"approved\": "     \
    "true,"                                                                                        \
    " \"execution\": {\"x\": 3, \"getVariable\": 0}, \"days\": 9, \"remaining\": 4}"

Test(juel_operator, arithmetic) /* EL §1.7 */
{
    static const struct row rows[] = {
        {"${1 + 2 * 3}", VARIABLES, "7"},
        {"${(1 + 2) * 3}", VARIABLES, "9"},
        {"${a - b - 1}", VARIABLES, "4"},
        {"${-a}", VARIABLES, "-7"},
        {"${- -a}", VARIABLES, "7"},
        {"${a / b}", VARIABLES, "3.5"},
        {"${a div b}", VARIABLES, "3.5"},
        {"${6 / 3}", VARIABLES, "2"},
        {"${a % b}", VARIABLES, "1"},
        {"${a mod b}", VARIABLES, "1"},
        {"${-7 % 2}", VARIABLES, "-1"},
        {"${5.5 % 2}", VARIABLES, "1.5"},
        {"${d + 0.2}", VARIABLES, "0.3"},
        {"${1.5e2}", VARIABLES, "150"},
        {"${1.}", VARIABLES, "1"},
        {"${.5}", VARIABLES, "0.5"},
        {"${9223372036854775807 + 1}", VARIABLES, "9223372036854775808"},
        {"${n + 1}", VARIABLES, "13"},
        {"${n + n}", VARIABLES, "24"}, /* text is read as numbers: + never joins */
        {"${'1.5' * 2}", VARIABLES, "3"},
        {"${nil + 1}", VARIABLES, "1"},
        {"${nil + nil}", VARIABLES, "0"},
        {"${e + 1}", VARIABLES, "1"},
        {"${-nil}", VARIABLES, "0"},
        {"${days-remaining}", VARIABLES, "5"},
        {"${s + 1}", VARIABLES, "fails @4 this string is no number"},
        {"${t + 1}", VARIABLES, "fails @4 boolean is no number"},
        {"${list + 1}", VARIABLES, "fails @7 list is no number"},
        {"${-s}", VARIABLES, "fails @2 this string is no number"},
        {"${1 / 0}", VARIABLES, "fails @4 division by zero"},
        {"${1 % 0}", VARIABLES, "fails @4 division by zero"},
        {"${1 / nil}", VARIABLES, "fails @4 division by zero"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_operator, comparison) /* EL §1.8.1, §1.8.2 */
{
    static const struct row rows[] = {
        {"${a > b}", VARIABLES, "true"},
        {"${a gt b}", VARIABLES, "true"},
        {"${a < b}", VARIABLES, "false"},
        {"${a lt b}", VARIABLES, "false"},
        {"${a >= 7}", VARIABLES, "true"},
        {"${a ge 8}", VARIABLES, "false"},
        {"${a <= 7}", VARIABLES, "true"},
        {"${a le 6}", VARIABLES, "false"},
        {"${a == 7}", VARIABLES, "true"},
        {"${a eq 7.0}", VARIABLES, "true"},
        {"${a != 7}", VARIABLES, "false"},
        {"${a ne 8}", VARIABLES, "true"},
        {"${n > 3}", VARIABLES, "true"},
        {"${'12' > '3'}", VARIABLES, "false"}, /* two texts compare as texts */
        {"${n == 12}", VARIABLES, "true"},
        {"${12 == n}", VARIABLES, "true"},
        {"${s == 'text'}", VARIABLES, "true"},
        {"${s == \"text\"}", VARIABLES, "true"},
        {"${'a' < 'b'}", VARIABLES, "true"},
        {"${s == nil}", VARIABLES, "false"},
        {"${nil == null}", VARIABLES, "true"},
        {"${nil != null}", VARIABLES, "false"},
        {"${s != null}", VARIABLES, "true"},
        {"${nil < 1}", VARIABLES, "false"},
        {"${nil > 1}", VARIABLES, "false"},
        {"${nil <= nil}", VARIABLES, "true"},
        {"${nil < nil}", VARIABLES, "false"},
        {"${1 >= nil}", VARIABLES, "false"},
        {"${t == true}", VARIABLES, "true"},
        {"${t == 'true'}", VARIABLES, "true"},
        {"${t == 'TRUE'}", VARIABLES, "true"},
        {"${f == 'no'}", VARIABLES, "true"},
        {"${f < t}", VARIABLES, "true"},
        {"${list == list}", VARIABLES, "true"},
        {"${list == none}", VARIABLES, "false"},
        {"${m == m}", VARIABLES, "true"},
        {"${1 < 2 == true}", VARIABLES, "true"},
        {"${e == 0}", VARIABLES, "true"},
        {"${s == 1}", VARIABLES, "fails @4 this string is no number"},
        {"${t == 1}", VARIABLES, "fails @4 boolean is no number"},
        {"${t < 1}", VARIABLES, "fails @4 boolean is no number"},
        {"${list < m}", VARIABLES, "fails @7 cannot compare list with context"},
        {"${list == t}", VARIABLES, "fails @7 list is no boolean"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_operator, logic_and_choice) /* EL §1.9, §1.10, §1.11, §1.18.5 */
{
    static const struct row rows[] = {
        {"${t && f}", VARIABLES, "false"},
        {"${t and t}", VARIABLES, "true"},
        {"${f || t}", VARIABLES, "true"},
        {"${f or f}", VARIABLES, "false"},
        {"${!t}", VARIABLES, "false"},
        {"${not f}", VARIABLES, "true"},
        {"${!!t}", VARIABLES, "true"},
        {"${t || f && f}", VARIABLES, "true"},
        {"${'true' && t}", VARIABLES, "true"},
        {"${'yes' || f}", VARIABLES, "false"},
        {"${nil || f}", VARIABLES, "false"},
        {"${!nil}", VARIABLES, "true"},
        {"${!e}", VARIABLES, "true"},
        {"${f && missing}", VARIABLES, "false"}, /* not looked at */
        {"${t || missing}", VARIABLES, "true"},
        {"${t && missing}", VARIABLES, "fails @7 unknown name \"missing\""},
        {"${1 && t}", VARIABLES, "fails @2 number is no boolean"},
        {"${!a}", VARIABLES, "fails @2 number is no boolean"},
        {"${t ? 'yes' : 'no'}", VARIABLES, "\"yes\""},
        {"${f ? 'yes' : 'no'}", VARIABLES, "\"no\""},
        {"${a > b ? a : b}", VARIABLES, "7"},
        {"${f ? 1 : f ? 2 : 3}", VARIABLES, "3"},
        {"${t ? f ? 1 : 2 : 3}", VARIABLES, "2"},
        {"${nil ? 1 : 2}", VARIABLES, "2"},
        {"${t ? a : missing}", VARIABLES, "7"},
        {"${a ? 1 : 2}", VARIABLES, "fails @4 number is no boolean"},
        {"${empty nil}", VARIABLES, "true"},
        {"${empty e}", VARIABLES, "true"},
        {"${empty s}", VARIABLES, "false"},
        {"${empty none}", VARIABLES, "true"},
        {"${empty list}", VARIABLES, "false"},
        {"${empty m}", VARIABLES, "false"},
        {"${empty 0}", VARIABLES, "false"},
        {"${empty missing}", VARIABLES, "true"},
        {"${empty missing.child}", VARIABLES, "true"},
        {"${not empty s and a > 1}", VARIABLES, "true"},
        {"${!empty missing && missing > 1}", VARIABLES, "false"},
        {"${!approved}", VARIABLES, "false"},
        {"#{approved}", VARIABLES, "true"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_property, reaches_maps_and_lists) /* EL §1.6, MapELResolver, ListELResolver */
{
    static const struct row rows[] = {
        {"${o.p.q}", VARIABLES, "\"deep\""},
        {"${o['p'].q}", VARIABLES, "\"deep\""},
        {"${o[\"p\"]['q']}", VARIABLES, "\"deep\""},
        {"${m['x y']}", VARIABLES, "2"},
        {"${m.missing}", VARIABLES, "null"},
        {"${m.missing.more}", VARIABLES, "null"},
        {"${nil.more}", VARIABLES, "null"},
        {"${list[0]}", VARIABLES, "10"},
        {"${list[a - 5]}", VARIABLES, "30"},
        {"${list['1']}", VARIABLES, "20"},
        {"${list[3]}", VARIABLES, "null"},
        {"${list[-1]}", VARIABLES, "null"},
        {"${o.items[0].id}", VARIABLES, "5"},
        {"${m[nil]}", VARIABLES, "null"},
        {"${execution.x}", VARIABLES, "3"},
        {"${'it\\'s'}", VARIABLES, "\"it's\""},
        {"${\"a\\\\b\"}", VARIABLES, "\"a\\\\b\""},
        {"${'}'}", VARIABLES, "\"}\""},
        {"${missing}", VARIABLES, "fails @2 unknown name \"missing\""},
        {"${missing.child}", VARIABLES, "fails @2 unknown name \"missing\""},
        {"${s.child}", VARIABLES, "fails @3 string has no property \"child\""},
        {"${a.child}", VARIABLES, "fails @3 number has no property \"child\""},
        {"${list.child}", VARIABLES, "fails @6 this string is no number"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_syntax, errors_name_their_place)
{
    static const struct row rows[] = {
        {"${}", NULL, "invalid @2 expected an expression but found \"}\""},
        {"${a", NULL, "invalid @3 expected \"}\" but found the end"},
        {"${a b}", NULL, "invalid @4 expected \"}\" but found \"b\""},
        {"${a +}", NULL, "invalid @5 expected an expression but found \"}\""},
        {"${a = b}", NULL, "invalid @4 compare with \"==\" here, not \"=\""},
        {"${a ? b}", NULL, "invalid @7 expected \":\" but found \"}\""},
        {"${(a}", NULL, "invalid @4 expected \")\" but found \"}\""},
        {"${a[1}", NULL, "invalid @5 expected \"]\" but found \"}\""},
        {"${a.}", NULL, "invalid @4 expected a name after \".\" but found \"}\""},
        {"${'a}", NULL, "invalid @2 string without an end"},
        {"${'a\\n'}", NULL,
         "invalid @4 invalid escape sequence: only \\\\, \\\" and \\' are known"},
        {"${a & b}", NULL, "invalid @4 unexpected character"},
        {"${s.trim(}", NULL, "invalid @9 expected an expression but found \"}\""},
        {"${s.concat('a'}", NULL, "invalid @14 expected \",\" or \")\" but found \"}\""},
        {"${f(1)}", NULL, "invalid @2 unknown function \"f\""},
        {"${JSON(a)}", NULL, "unsupported @2 the function \"JSON\" is not supported yet"},
        {"${now(1)}", NULL, "invalid @6 expected \")\" but found \"1\""},
        {"${execution.setVariable('x', 1)}", NULL,
         "unsupported @12 setVariable in an expression is not supported yet"},
        {"a +", NULL, "invalid @3 expected an expression but found the end"},
        {"a b", NULL, "invalid @2 expected an operator or the end but found \"b\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(deviation_el_1_7, arithmetic_is_decimal_where_el_has_doubles)
{
    static const struct row rows[] = {
        {"${0.1 + 0.2 == 0.3}", NULL, "true"},
        {"${1 / 3 * 3}", NULL, "0.9999999999999999999999999999999999"},
        {"${9007199254740993 / 1}", NULL, "9007199254740993"},
        {"${1 / 0}", NULL, "fails @4 division by zero"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_bare, text_without_markers_is_one_expression)
{
    static const struct row rows[] = {
        {"a > b", VARIABLES, "true"},
        {"  'x'  ", VARIABLES, "\"x\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}
