/* juel_method_test.c: methods of strings, lists, maps, numbers and the execution. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

#define VARIABLES                                                                                  \
    "{\"s\": \"Hello World\", \"e\": \"\", \"list\": [1, \"a\", null], \"none\": [],"              \
    " \"m\": {\"k\": 1, \"n\": null}, \"d\": 2.75, \"nil\": null, \"key\": \"s\", \"t\": true,"    \
    " \"emoji\": \"a😀b\", \"execution\": {\"x\": 3}}"

Test(juel_method, of_strings)
{
    static const struct row rows[] = {
        {"${s.contains('World')}", VARIABLES, "true"},
        {"${s.contains('x')}", VARIABLES, "false"},
        {"${s.startsWith('Hell')}", VARIABLES, "true"},
        {"${s.endsWith('Hell')}", VARIABLES, "false"},
        {"${s.length()}", VARIABLES, "11"},
        {"${s.size()}", VARIABLES, "11"},
        {"${s.isEmpty()}", VARIABLES, "false"},
        {"${e.isEmpty()}", VARIABLES, "true"},
        {"${'  '.isBlank()}", VARIABLES, "true"},
        {"${s.toLowerCase()}", VARIABLES, "\"hello world\""},
        {"${s.toUpperCase()}", VARIABLES, "\"HELLO WORLD\""},
        {"${s.equals('Hello World')}", VARIABLES, "true"},
        {"${s.equals('hello world')}", VARIABLES, "false"},
        {"${s.equals(1)}", VARIABLES, "false"},
        {"${s.equalsIgnoreCase('hello world')}", VARIABLES, "true"},
        {"${'  x '.trim()}", VARIABLES, "\"x\""},
        {"${s.substring(6)}", VARIABLES, "\"World\""},
        {"${s.substring(0, 5)}", VARIABLES, "\"Hello\""},
        {"${s.substring(11)}", VARIABLES, "\"\""},
        {"${s.substring(12)}", VARIABLES, "fails @4 index out of range"},
        {"${s.substring(5, 2)}", VARIABLES, "fails @4 index out of range"},
        {"${s.substring(-1)}", VARIABLES, "fails @4 index out of range"},
        {"${s.indexOf('o')}", VARIABLES, "4"},
        {"${s.lastIndexOf('o')}", VARIABLES, "7"},
        {"${s.indexOf('x')}", VARIABLES, "-1"},
        {"${s.charAt(1)}", VARIABLES, "\"e\""},
        {"${s.charAt(11)}", VARIABLES, "fails @4 index out of range"},
        {"${s.concat('!')}", VARIABLES, "\"Hello World!\""},
        {"${s.replace('o', '00')}", VARIABLES, "\"Hell00 W00rld\""},
        {"${s.replace('', 'x')}", VARIABLES, "\"Hello World\""},
        {"${'a'.compareTo('b')}", VARIABLES, "-1"},
        {"${s.toLowerCase().contains('hello')}", VARIABLES, "true"},
        {"${s.nope()}", VARIABLES, "fails @4 string has no method \"nope\" with 0 arguments"},
        {"${s.contains()}", VARIABLES,
         "fails @4 string has no method \"contains\" with 0 arguments"},
        {"${nil.length()}", VARIABLES, "fails @6 null has no method \"length\" with 0 arguments"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(deviation_java_string, indexes_count_code_points)
{
    static const struct row rows[] = {
        {"${emoji.length()}", VARIABLES, "3"}, /* Java says 4 */
        {"${emoji.indexOf('b')}", VARIABLES, "2"},
        {"${emoji.substring(1, 2)}", VARIABLES, "\"😀\""},
        {"${emoji.charAt(1)}", VARIABLES, "\"😀\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_method, of_containers_and_numbers)
{
    static const struct row rows[] = {
        {"${list.size()}", VARIABLES, "3"},
        {"${none.isEmpty()}", VARIABLES, "true"},
        {"${list.contains('a')}", VARIABLES, "true"},
        {"${list.contains(2)}", VARIABLES, "false"},
        {"${list.get(0)}", VARIABLES, "1"},
        {"${list.get(3)}", VARIABLES, "fails @7 index out of range"},
        {"${list.indexOf('a')}", VARIABLES, "1"},
        {"${m.size()}", VARIABLES, "2"},
        {"${m.isEmpty()}", VARIABLES, "false"},
        {"${m.containsKey('k')}", VARIABLES, "true"},
        {"${m.containsKey('n')}", VARIABLES, "true"},
        {"${m.containsKey('x')}", VARIABLES, "false"},
        {"${m.get('k')}", VARIABLES, "1"},
        {"${m.get('x')}", VARIABLES, "null"},
        {"${m.getOrDefault('x', 5)}", VARIABLES, "5"},
        {"${m.keySet()}", VARIABLES, "[\"k\",\"n\"]"},
        {"${m.values()}", VARIABLES, "[1,null]"},
        {"${m.keySet().contains('k')}", VARIABLES, "true"},
        {"${d.intValue()}", VARIABLES, "2"},
        {"${d.toString()}", VARIABLES, "\"2.75\""},
        {"${t.toString()}", VARIABLES, "\"true\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

#define RESULTS                                                                                    \
    "{\"one\": [{\"percent\": 5}], \"wide\": [{\"a\": 1, \"b\": 2}], \"no\": [],"                  \
    " \"many\": [{\"percent\": 5}, {}, {\"percent\": null}, {\"percent\": 7}], \"plain\": [3]}"

Test(juel_method, of_decision_results)
{
    static const struct row rows[] = {
        {"${one.getSingleEntry()}", RESULTS, "5"},
        {"${one.getSingleResult()}", RESULTS, "{\"percent\":5}"},
        {"${one.getSingleResult().percent}", RESULTS, "5"},
        {"${one.getSingleResult().getSingleEntry()}", RESULTS, "5"},
        {"${no.getSingleEntry()}", RESULTS, "null"},
        {"${no.getSingleResult()}", RESULTS, "null"},
        {"${no.getFirstResult()}", RESULTS, "null"},
        {"${no.collectEntries('percent')}", RESULTS, "[]"},
        {"${many.collectEntries('percent')}", RESULTS, "[5,null,7]"},
        {"${many.collectEntries('x')}", RESULTS, "[]"},
        {"${many.getFirstResult().getEntry('percent')}", RESULTS, "5"},
        {"${many.getResultList().size()}", RESULTS, "4"},
        {"${many.get(1).getFirstEntry()}", RESULTS, "null"},
        {"${wide.getSingleResult().getFirstEntry()}", RESULTS, "1"},
        {"${wide.getFirstResult().getEntryMap().b}", RESULTS, "2"},
        {"${wide.getSingleResult().getEntry('x')}", RESULTS, "null"},
        {"${many.getSingleResult()}", RESULTS,
         "fails @7 getSingleResult: there are several results where one is wanted"},
        {"${many.getSingleEntry()}", RESULTS,
         "fails @7 getSingleEntry: there are several results where one is wanted"},
        {"${wide.getSingleEntry()}", RESULTS,
         "fails @7 getSingleEntry: there are several outputs where one is wanted"},
        {"${plain.getSingleEntry()}", RESULTS, "fails @8 getSingleEntry: number has no outputs"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_method, of_moments)
{
    static const struct row rows[] = {
        {"${now()}", NULL, "\"2024-02-29T12:34:56.789Z\""},
        {"${dateTime().plusDays(3).toDate()}", NULL, "\"2024-03-03T12:34:56.789Z\""},
        {"${now().minusWeeks(1).plusHours(2)}", NULL, "\"2024-02-22T14:34:56.789Z\""},
        {"${now().plusYears(1).minusMonths(1)}", NULL, "\"2025-01-28T12:34:56.789Z\""},
        {"${now().plusDays('x')}", NULL, "fails @8 plusDays wants a whole number"},
        {"${now().plusDays()}", NULL,
         "fails @8 date and time has no method \"plusDays\" with 0 arguments"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel, joins_texts)
{
    static const struct row rows[] = {
        {"${s += '!'}", VARIABLES, "\"Hello World!\""},
        {"${1 += 2}", VARIABLES, "\"12\""},
        {"${1 + 2 += 3 * 4 += nil}", VARIABLES, "\"312\""},
        {"${'a' += 'b' == 'ab'}", VARIABLES, "true"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

Test(juel_method, of_the_execution)
{
    static const struct row rows[] = {
        {"${execution.getVariable('s')}", VARIABLES, "\"Hello World\""},
        {"${execution.getVariable(key)}", VARIABLES, "\"Hello World\""},
        {"${execution.getVariable('m').k}", VARIABLES, "1"},
        {"${execution.getVariable('x')}", VARIABLES, "null"},
        {"${execution.hasVariable('s')}", VARIABLES, "true"},
        {"${execution.hasVariable('nil')}", VARIABLES, "true"},
        {"${execution.hasVariable('x')}", VARIABLES, "false"},
        {"${task.getVariable('s')}", VARIABLES, "\"Hello World\""},
        {"${execution.hasVariable('x') && x > 1}", VARIABLES, "false"},
        {"${bean.method(execution)}", VARIABLES, "fails @2 unknown name \"bean\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

#define CONTEXT                                                                                    \
    "{\"x\": \"Abc\", \"l\": [1, 2, 3], \"m\": {\"k\": \"v\", \"n\": 5}, \"n\": 7, "               \
    "\"s\": \"a,b,,\", \"e\": \"\", \"nul\": null, \"vars\": \"V\"}"

Test(juel_method, has_patterns_and_more_of_lists)
{
    static const struct row rows[] = {
        {"${x.matches('[A-Z].*')}", CONTEXT, "true"},
        {"${x.matches('b')}", CONTEXT, "false"},
        {"${x.matches('b|Abc')}", CONTEXT, "true"},
        {"${x.matches('[')}", CONTEXT, "fails @4 this is no pattern: malformed class"},
        {"${s.split(',')}", CONTEXT, "[\"a\",\"b\"]"},
        {"${x.split(',')}", CONTEXT, "[\"Abc\"]"},
        {"${x.split('b')[1]}", CONTEXT, "\"c\""},
        {"${e.split(',')}", CONTEXT, "[\"\"]"},
        {"${s.split('')}", CONTEXT, "fails @4 the pattern matches the empty string"},
        {"${x.replaceAll('[bc]', '<$0>')}", CONTEXT, "\"A<b><c>\""},
        {"${x.replaceAll('(b)(c)', '$2$1')}", CONTEXT, "\"Acb\""},
        {"${l.containsAll(l.subList(0, 2))}", CONTEXT, "true"},
        {"${l.subList(0, 2).containsAll(l)}", CONTEXT, "false"},
        {"${l.containsAll(1)}", CONTEXT, "fails @4 containsAll takes a list"},
        {"${l.subList(1, 3)}", CONTEXT, "[2,3]"},
        {"${l.subList(1, 1)}", CONTEXT, "[]"},
        {"${l.subList(2, 1)}", CONTEXT, "fails @4 index out of range"},
        {"${l.subList(1, 9)}", CONTEXT, "fails @4 index out of range"},
        {"${m.containsValue('v')}", CONTEXT, "true"},
        {"${m.containsValue(6)}", CONTEXT, "false"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}

/* Flowable's, by its documentation of expressions ("Expression functions"). */
Test(juel_method, has_functions_of_variables)
{
    static const struct row rows[] = {
        {"${variables:get(n)}", CONTEXT, "7"},
        {"${variables:get(zzz)}", CONTEXT, "null"},
        {"${vars:equals(n, 7)}", CONTEXT, "true"},
        {"${vars:notEquals(n, 7)}", CONTEXT, "false"},
        {"${vars:ne(zzz, 7)}", CONTEXT, "true"},
        {"${var:getOrDefault(zzz, 5)}", CONTEXT, "5"},
        {"${var:getOrDefault(n, 5)}", CONTEXT, "7"},
        {"${var:exists(zzz)}", CONTEXT, "false"},
        {"${var:exists(nul)}", CONTEXT, "false"},
        {"${var:exists('n')}", CONTEXT, "true"},
        {"${variables:contains(l, 2, 3)}", CONTEXT, "true"},
        {"${variables:contains(l, 2, 9)}", CONTEXT, "false"},
        {"${variables:containsAny(l, 9, 3)}", CONTEXT, "true"},
        {"${variables:containsAny(l, 9, 8)}", CONTEXT, "false"},
        {"${variables:contains(x, 'b')}", CONTEXT, "true"},
        {"${variables:contains(zzz, 'b')}", CONTEXT, "false"},
        {"${variables:isEmpty(l)}", CONTEXT, "false"},
        {"${variables:isEmpty(zzz)}", CONTEXT, "true"},
        {"${variables:isNotEmpty(e)}", CONTEXT, "false"},
        {"${variables:notEmpty(x)}", CONTEXT, "true"},
        {"${vars:lowerThan(n, 9)}", CONTEXT, "true"},
        {"${vars:lte(n, 7)}", CONTEXT, "true"},
        {"${vars:greaterThan(n, 7)}", CONTEXT, "false"},
        {"${vars:gte(n, 7) and vars:eq(x, 'Abc')}", CONTEXT, "true"},
        {"${vars:lt(zzz, 7)}", CONTEXT, "false"},
        {"${vars:base64(x)}", CONTEXT, "\"QWJj\""},
        {"Is ${vars:get(x)}", CONTEXT, "\"Is Abc\""},
        {"${n > 5 ? vars : n}", CONTEXT, "\"V\""},
        {"${n > 5 ? vars:get(n) : x}", CONTEXT, "7"},
        {"${n > 5 ? n : vars}", CONTEXT, "7"},
        {"${vars:get()}", CONTEXT, "invalid @11 expected the name of a variable but found \")\""},
        {"${vars:equals(n)}", CONTEXT, "invalid @7 equals takes a variable and 1 argument"},
        {"${vars:get(n, 1)}", CONTEXT, "invalid @7 get takes a variable and 0 arguments"},
        {"${vars:contains(l)}", CONTEXT,
         "invalid @7 contains takes a variable and at least 1 argument"},
        {"${vars:nope(n)}", CONTEXT, "invalid @6 expected \"}\" but found \":\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_JUEL);
}
