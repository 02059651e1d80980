/* regex_test.c: matches, replace, split. Expected values: XPath and XQuery Functions 3.1 §5.6, XML
 * Schema Part 2 appendix F. */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(regex, reads_the_grammar_of_xml_schema)
{
    static const struct row rows[] = {
        {"matches(\"abc\", \"b\")", NULL, "true"},
        {"matches(\"abc\", \"^b\")", NULL, "false"},
        {"matches(\"abc\", \"^a.c$\")", NULL, "true"},
        {"matches(\"ac\", \"^ab?c$\")", NULL, "true"},
        {"matches(\"aaa\", \"^a{2}$\")", NULL, "false"},
        {"matches(\"aaa\", \"^a{2,}$\")", NULL, "true"},
        {"matches(\"aaaa\", \"^a{1,3}$\")", NULL, "false"},
        {"matches(\"abab\", \"^(ab)+$\")", NULL, "true"},
        {"matches(\"cat\", \"^(?:cat|dog)$\")", NULL, "true"},
        {"matches(\"catdog\", \"^cat|dog$\")", NULL, "true"},
        {"matches(\"\", \"\")", NULL, "true"},
        {"matches(\"x\", \"[^a-w]\")", NULL, "true"},
        {"matches(\"e\", \"[a-z-[aeiou]]\")", NULL, "false"},
        {"matches(\"f\", \"[a-z-[aeiou]]\")", NULL, "true"},
        {"matches(\"-\", \"[a\\-z]\")", NULL, "true"},
        {"matches(\"-\", \"[-az]\")", NULL, "true"},
        {"matches(\"-\", \"[az-]\")", NULL, "true"},
        {"matches(\"5\", \"^\\d$\")", NULL, "true"},
        {"matches(\"\\u0665\", \"^\\d$\")", NULL, "true"}, /* ARABIC-INDIC DIGIT FIVE */
        {"matches(\"a b\", \"\\s\")", NULL, "true"},
        {"matches(\"a_\", \"^\\i\\c$\")", NULL, "true"},
        {"matches(\"!\", \"\\w\")", NULL, "false"},
        {"matches(\"\\u00e9\", \"\\p{Ll}\")", NULL, "true"},
        {"matches(\"\\u00e9\", \"\\P{L}\")", NULL, "false"},
        {"matches(\"\\u03b1\", \"^\\p{IsGreek}$\")", NULL, "true"},
        {"matches(\"a.b\", \"a\\.b\")", NULL, "true"},
        {"matches(\"a\\nb\", \"a.b\")", NULL, "false"},
        {"matches(\"\\U01F600\", \"^.$\")", NULL, "true"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(regex, knows_its_flags)
{
    static const struct row rows[] = {
        {"matches(\"a\\nb\", \"a.b\", \"s\")", NULL, "true"},
        {"matches(\"a\\nb\", \"^b$\", \"m\")", NULL, "true"},
        {"matches(\"a\\nb\", \"^b$\")", NULL, "false"},
        {"matches(\"a\\n\", \"^$\", \"m\")", NULL,
         "false"}, /* a newline at the end begins no line */
        {"matches(\"AbC\", \"aBc\", \"i\")", NULL, "true"},
        {"matches(\"Q\", \"[^q]\", \"i\")", NULL, "false"},
        {"matches(\"\\u00c9\", \"\\u00e9\", \"i\")", NULL, "true"},
        {"matches(\"q\", \"[^\\u212a]\", \"i\")", NULL, "true"},
        {"matches(\"K\", \"[^\\u212a]\", \"i\")", NULL, "false"}, /* KELVIN SIGN, a K */
        {"matches(\"\\u212a\", \"^k$\", \"i\")", NULL, "true"},
        {"matches(\"\\u017f\", \"^[R-T]$\", \"i\")", NULL, "true"}, /* LONG S */
        {"matches(\"o\", \"[A-Z-[OI]]\", \"i\")", NULL, "false"},
        {"matches(\"\\u2d00\", \"\\u10a0\", \"i\")", NULL, "true"}, /* GEORGIAN AN */
        {"matches(\"m\", \"\\p{Lu}\", \"i\")", NULL, "false"}, /* categories stay as they are */
        {"matches(\"m\", \"[\\p{Lu}x]\", \"i\")", NULL, "false"},
        {"matches(\"\\u00b5\", \"\\p{IsGreek}\", \"i\")", NULL, "false"},
        {"matches(\"a b\", \"a\\ sb\", \"x\")", NULL, "true"},
        {"matches(\"ab\", \"a b\", \"x\")", NULL, "true"},
        {"matches(\"a b\", \"a[ ]b\", \"x\")", NULL, "true"},
        {"matches(\"a.b\", \"a.b\", \"q\")", NULL, "true"},
        {"matches(\"axb\", \"a.b\", \"q\")", NULL, "false"},
        {"matches(\"ab\", \"a b\", \"xsmi\")", NULL, "true"},
        {"matches(\"a\", \"a\", \"g\")", NULL, "null @0 this is no pattern: unknown flag"},
        {"matches(\"a\", \"a\", 1)", NULL, "null @0 the flags are no string"},
        {"matches(\"a\", \"a\", null)", NULL, "true"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(regex, refuses_what_is_malformed)
{
    static const struct row rows[] = {
        {"matches(\"a\", \"(\")", NULL, "null @0 this is no pattern: a group without an end"},
        {"matches(\"a\", \")\")", NULL, "null @0 this is no pattern: \")\" without \"(\""},
        {"matches(\"a\", \"*\")", NULL,
         "null @0 this is no pattern: a sign that must be escaped here"},
        {"matches(\"a\", \"a**\")", NULL,
         "null @0 this is no pattern: a sign that must be escaped here"},
        {"matches(\"a\", \"a]\")", NULL,
         "null @0 this is no pattern: a sign that must be escaped here"},
        {"matches(\"a\", \"[]\")", NULL, "null @0 this is no pattern: empty class"},
        {"matches(\"a\", \"[a\")", NULL, "null @0 this is no pattern: malformed class"},
        {"matches(\"a\", \"[z-a]\")", NULL, "null @0 this is no pattern: malformed range"},
        {"matches(\"a\", \"a{2,1}\")", NULL, "null @0 this is no pattern: malformed count"},
        {"matches(\"a\", \"a{99999}\")", NULL, "null @0 this is no pattern: too large a count"},
        {"matches(\"a\", \"((a{64}){64}){64}\")", NULL,
         "null @0 this is no pattern: pattern too large"},
        {"matches(\"a\", \"\\y\")", NULL, "null @0 this is no pattern: unknown escape"},
        {"matches(\"a\", \"\\p{Xx}\")", NULL, "null @0 this is no pattern: unknown property"},
        {"matches(\"a\", \"(?=a)\")", NULL, "null @0 this is no pattern: malformed group"},
        {"matches(\"a\", \"\\1(a)\")", NULL,
         "null @0 this is no pattern: there is no such group yet"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(regex, refers_back_to_groups)
{
    static const struct row rows[] = {
        {"matches(\"abab\", \"^(ab)\\1$\")", NULL, "true"},
        {"matches(\"abba\", \"^(a)(b)\\2\\1$\")", NULL, "true"},
        {"matches(\"abAB\", \"^(ab)\\1$\", \"i\")", NULL, "true"},
        {"matches(\"aa\", \"^(a*)\\1$\")", NULL, "true"},
        {"matches(\"b\", \"^(a)?b\\1$\")", NULL, "true"}, /* a group that did not match is empty */
        {"matches(\"xyyx\", \"(y|z)\\1\")", NULL, "true"},
        {"matches(\"aaa\", \"^(a*)*\\1b$\")", NULL, "false"},
        {"replace(\"hello\", \"(l)\\1\", \"[$1]\")", NULL, "\"he[l]o\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(regex, replaces_from_left_to_right)
{
    static const struct row rows[] = {
        {"replace(\"abracadabra\", \"bra\", \"*\")", NULL, "\"a*cada*\""},
        {"replace(\"abracadabra\", \"a.*a\", \"*\")", NULL, "\"*\""},
        {"replace(\"abracadabra\", \"a.*?a\", \"*\")", NULL, "\"*c*bra\""},
        {"replace(\"AAAA\", \"A+?\", \"b\")", NULL, "\"bbbb\""},
        {"replace(\"darted\", \"^(.*?)d(.*)$\", \"$1c$2\")", NULL, "\"carted\""},
        {"replace(\"abcd\", \"(ab)|(a)\", \"[1=$1][2=$2]\")", NULL, "\"[1=ab][2=]cd\""},
        {"replace(\"abc\", \"(b)\", \"$12\")", NULL, "\"ab2c\""},
        {"replace(\"abc\", \"b\", \"$1\")", NULL, "\"ac\""},
        {"replace(\"abc\", \"b\", \"\\$\\\\\\\\\")", NULL, "\"a$\\\\c\""},
        {"replace(\"abc\", \"b\", \"$\")", NULL, "null @0 malformed replacement"},
        {"replace(\"abc\", \"b\", \"\\x\")", NULL, "null @0 malformed replacement"},
        {"replace(\"abc\", \"b\", \"$0$0\")", NULL, "\"abbc\""},
        {"replace(\"abc\", \"x*\", \"-\")", NULL, "null @0 the pattern matches the empty string"},
        {"replace(\"a.b\", \".\", \"$\", \"q\")", NULL, "\"a$b\""},
        {"replace(\"\", \"a\", \"b\")", NULL, "\"\""},
        {"split(\"a, b,c\", \",\\s*\")", NULL, "[\"a\",\"b\",\"c\"]"},
        {"split(\";a;;\", \";\")", NULL, "[\"\",\"a\",\"\",\"\"]"},
        {"split(\"\", \";\")", NULL, "[\"\"]"},
        {"split(\"abc\", \"\")", NULL, "null @0 the pattern matches the empty string"},
        {"extract(\"references are 1234, 1256, 1378\", \"12[0-9]*\")", NULL, "[\"1234\",\"1256\"]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

/* Each would take a backtracking matcher longer than the universe lasts. */
Test(regex, of_a_hostile_pattern_ends)
{
    static const struct row rows[] = {
        {"matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"^(a+)+$\")", NULL, "false"},
        {"matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"^(a|a)*$\")", NULL, "false"},
        {"matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", \"^(a?){40}a{40}$\")", NULL,
         "true"},
        {"matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"^(a+)+\\1$\")", NULL,
         "exceeds @0 too many steps"},
        {"matches(\"a\", \"((((((a*)*)*)*)*)*)*\")", NULL, "true"},
        {"matches(\"b\", \"^(()*)*$\")", NULL, "false"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}
