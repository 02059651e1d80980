/* parse_text_test.c: text with expressions in it, and how a text without a declared dialect is
 * read. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

#define VARIABLES                                                                                  \
    "{\"x\": 5, \"name\": \"Jo\", \"nil\": null, \"m\": {\"a\": [1, \"b\"]}, \"price\": 1.10,"     \
    " \"t\": true, \"nodes\": {\"node_1\": {\"field_name\": \"F\"}}, \"price2\": 0,"               \
    " \"__resume\": {\"decision\": \"ok\"}}"

Test(juel_text, joins_text_and_values)
{
    static const struct row rows[] = {
        {"Hello ${name}!", VARIABLES, "\"Hello Jo!\""},
        {"${name}", VARIABLES, "\"Jo\""},
        {"${x}", VARIABLES, "5"},
        {" ${x}\n", VARIABLES, "5"}, /* white space around one expression is XML's */
        {"${x}${x}", VARIABLES, "\"55\""},
        {"a${nil}b", VARIABLES, "\"ab\""},
        {"a${price}b", VARIABLES, "\"a1.10b\""},
        {"a${m}b", VARIABLES, "\"a{\\\"a\\\":[1,\\\"b\\\"]}b\""},
        {"a#{t}b", VARIABLES, "\"atrueb\""},
        {"{\"v\":{\"n\":${x}}}", VARIABLES, "\"{\\\"v\\\":{\\\"n\\\":5}}\""},
        {"Hi ${x == 5 ? 'Mr.' : 'Mrs.'} ${name}", VARIABLES, "\"Hi Mr. Jo\""},
        {"${'}'}.", VARIABLES, "\"}.\""},
        {"costs \\${x}", VARIABLES, "\"costs ${x}\""},
        {"\\${x} ${x}", VARIABLES, "\"${x} 5\""},
        {"$x {x} $ #", VARIABLES,
         "invalid @3 expected an operator or the end but found \"{\""}, /* no marker in it */
        {"a ${x} $", VARIABLES, "\"a 5 $\""},
        {"a ${x", VARIABLES, "invalid @5 expected \"}\" but found the end"},
        {"a ${missing} b", VARIABLES, "fails @4 unknown name \"missing\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(template, keeps_the_type_of_a_single_expression)
{
    static const struct row rows[] = {
        {"{{ nodes.node_1.field_name }}", VARIABLES, "\"F\""},
        {"{{ __resume.decision }}", VARIABLES, "\"ok\""},
        {"{{x}}", VARIABLES, "5"},
        {"{{ x + 1 }}", VARIABLES, "6"},
        {"{{ m }}", VARIABLES, "{\"a\":[1,\"b\"]}"},
        {"{{ price }}", VARIABLES, "1.10"},
        {"a {{ x }} b {{ name }}", VARIABLES, "\"a 5 b Jo\""},
        {"{{ {a: {b: x}} }}", VARIABLES, "{\"a\":{\"b\":5}}"},
        {"{{ \"}}\" }}", VARIABLES, "\"}}\""},
        {"a {{ missing }} b", VARIABLES, "\"a  b\""},
        {"{{ missing }}", VARIABLES, "null @3 unknown name \"missing\""},
        {"no expression", VARIABLES, "\"no expression\""},
        {"", VARIABLES, "\"\""},
        {"${x}", VARIABLES, "\"${x}\""},
        {"{{ x }", VARIABLES, "invalid @5 expected \"}}\" but found \"}\""},
        {"{{ x } }", VARIABLES, "invalid @5 expected \"}}\" but found \"}\""},
        {"{{ x", VARIABLES, "invalid @4 expected \"}}\" but found the end"},
        {"{{ }}", VARIABLES, "invalid @3 expected an expression but found \"}\""},
        {"a {{ x ) }}", VARIABLES, "invalid @7 expected \"}}\" but found \")\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_TEMPLATE);
}

Test(dialect, of_a_mapping_follows_its_marker)
{
    static const struct row rows[] = {
        {"=x + 1", VARIABLES, "6"},
        {"  = x + 1", VARIABLES, "6"},
        {"${x + 1}", VARIABLES, "6"},
        {"#{x}", VARIABLES, "5"},
        {"{{ x }}", VARIABLES, "5"},
        {"x + 1", VARIABLES, "\"x + 1\""},
        {" text ", VARIABLES, "\" text \""},
        {"", VARIABLES, "\"\""},
        {"PT1S", VARIABLES, "\"PT1S\""},
        {"0/5 0/1 * 1/1 * ?", VARIABLES, "\"0/5 0/1 * 1/1 * ?\""},
        {"{\"a\": {\"b\": ${x}}}", VARIABLES, "\"{\\\"a\\\": {\\\"b\\\": 5}}\""},
        {"={\"name\": name, \"id\": \"1\"}", VARIABLES, "{\"name\":\"Jo\",\"id\":\"1\"}"},
        {"=name: \"x\"", VARIABLES, "invalid @5 expected an operator or the end but found \":\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_AUTO);
}

Test(dialect, of_a_condition_is_feel_without_a_marker)
{
    static const struct row rows[] = {
        {"x > 3", VARIABLES, "true"},
        {"=price2 = 0", VARIABLES, "true"},
        {"= price2 >= 0", VARIABLES, "true"},
        {"\n  x >= 1 and x < 10\n", VARIABLES, "true"},
        {"${x > 3}", VARIABLES, "true"},
        {"\n ${x > 3} \n", VARIABLES, "true"},
        {"#{!t}", VARIABLES, "false"},
        {"true", VARIABLES, "true"},
        {"t=true", VARIABLES, "true"},
        {"name = \"Jo\"", VARIABLES, "true"},
        {"{a: 1}.a = 1", VARIABLES, "true"},
        {"x >", VARIABLES, "invalid @3 expected an expression but found the end"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_CONDITION);
}
