/*
 * boxed_test.c: boxed expressions (DMN 1.4 §7.3), each against the FEEL that it stands for
 * (§10.2.1), decision services as functions (§10.4), and what is refused of both.
 */
#include <criterion/criterion.h>

#include "engine/dmn/dmn.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define MODEL(body)                                                                                \
    "<?xml version='1.0'?><definitions xmlns='https://www.omg.org/spec/DMN/20211108/MODEL/' "      \
    "id='model' name='A model'>" body "</definitions>"
#define L(text) "<literalExpression><text>" text "</text></literalExpression>"
#define D(id, logic)                                                                               \
    "<decision id='" id "' name='" id "'><variable name='" id "'/>" logic "</decision>"
#define ENTRY(name, e) "<contextEntry><variable name='" name "'/>" e "</contextEntry>"
#define RESULT(e)      "<contextEntry>" e "</contextEntry>"
#define BIND(name, e)  "<binding><parameter name='" name "'/>" e "</binding>"
#define P(name)        "<formalParameter name='" name "'/>"
#define KNOWS(id)      "<knowledgeRequirement><requiredKnowledge href='#" id "'/></knowledgeRequirement>"
#define NEEDS(id)                                                                                  \
    "<informationRequirement><requiredDecision href='#" id "'/></informationRequirement>"
#define BKM(id, logic)                                                                             \
    "<businessKnowledgeModel id='" id "' name='" id "'><encapsulatedLogic>" logic                  \
    "</encapsulatedLogic></businessKnowledgeModel>"

struct data_names {
    struct engine_names names;
    struct span map;
};

static struct arena arena;
static struct engine_report report;

static void set_up(void)
{
    arena_init(&arena, 4096, 32u << 20);
    engine_report_init(&report, span_text("test.dmn"));
}

static void tear_down(void)
{
    engine_report_release(&report);
    arena_release(&arena);
}

TestSuite(boxed, .init = set_up, .fini = tear_down);

static struct span find(const struct engine_names *names, struct span name)
{
    return wire_find(((const struct data_names *)(const void *)names)->map, name);
}

/* What decision "d" of a model comes to, as JSON, or why it does not. */
static struct span value_of(struct span model)
{
    static const char data[] = "{\"n\": 7, \"items\": [{\"price\": 5}, {\"price\": 20}], "
                               "\"tags\": [\"a\", \"b\"], \"none\": null}";
    struct data_names names = {.names = {.find = find}};
    struct engine_dmn_outcome evaluation;
    struct json_error json_error;
    struct span json;
    const struct engine_dmn *dmn;
    if (engine_dmn_read(model, &arena, &report, &dmn) != RESULT_OK) {
        return engine_report_text(&report, ENGINE_INFO, &arena);
    }
    cr_assert_eq(json_to_wire(span_text(data), LIMIT_DEPTH, &arena, &names.map, &json_error),
                 RESULT_OK);
    if (engine_dmn_evaluate(dmn, span_text("d"), &names.names, &arena, &evaluation) != RESULT_OK) {
        return arena_format(&arena, "fails: %s", evaluation.error.message);
    }
    cr_assert_eq(json_from_wire(evaluation.value, JSON_COMPACT, &arena, &json), RESULT_OK);
    return json;
}

struct row {
    const char *model;
    const char *expected;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct span found = value_of(span_text(rows[i].model));
        cr_expect(span_is(found, rows[i].expected), "row %zu gives %.*s\n not %s", i,
                  SPAN_ARG(found), rows[i].expected);
    }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof *(rows))

Test(boxed, a_context_is_its_entries_or_its_result)
{
    static const struct row rows[] = {
        {MODEL(D("d", "<context/>")), "{}"},
        {MODEL(D("d", "<context>" ENTRY("a", L("n")) ENTRY("b", L("a + 1")) "</context>")),
         "{\"a\":7,\"b\":8}"},
        {MODEL(D("d", "<context>" ENTRY("a", L("n")) RESULT(L("a * 2")) "</context>")), "14"},
        {MODEL(D("d", "<context>" RESULT(L("n")) "</context>")), "7"},
        {MODEL(D("d",
                 "<context>" ENTRY("net-price", L("n")) RESULT(L("net-price + 1")) "</context>")),
         "8"},
        {MODEL(D("d", "<context>" ENTRY("a", "<context>" ENTRY("b", L("n")) "</context>")
                          RESULT(L("a.b")) "</context>")),
         "7"},
        {MODEL(D("d", "<context>" ENTRY("a", "<literalExpression/>") "</context>")),
         "{\"a\":null}"},
        {MODEL(D("d", "<context><contextEntry><variable name='a' typeRef='string'/>" L(
                          "n") "</contextEntry></context>")),
         "{\"a\":null}"},
        {MODEL(D("d", "<context><contextEntry><variable name='a' typeRef='date'/>" L(
                          "\"2024-02-29\"") "</contextEntry>" RESULT(L("a.month")) "</context>")),
         "2"},
    };
    CHECK_ROWS(rows);
}

Test(boxed, an_invocation_calls_a_knowledge_model_by_its_parameters)
{
    static const struct row rows[] = {
        {MODEL(D("d", KNOWS("f") "<invocation>" L("f") BIND("b", L("1"))
                          BIND("a", L("n")) "</invocation>") BKM("f", P("a") P("b") L("a - b"))),
         "6"},
        {MODEL(D("d", KNOWS("f") "<invocation>" L("f") "</invocation>") BKM("f", L("42"))), "42"},
        {MODEL(D("d", KNOWS("f") "<invocation>" L("f") BIND("c", L("1")) "</invocation>")
                   BKM("f", P("a") L("a"))),
         "null"},
        {MODEL(D("d", KNOWS("f") "<invocation>" L("f")
                          BIND("a", "<list>" L("n") L("3") "</list>") "</invocation>")
                   BKM("f", P("a") "<context>" ENTRY("sum", L("sum(a)")) "</context>")),
         "{\"sum\":10}"},
        {MODEL(D("d", KNOWS("f") "<invocation>" L("f") BIND("a", L("n")) "</invocation>")
                   BKM("f", P("a") "<decisionTable><input><inputExpression><text>a</text>"
                                   "</inputExpression></input><output/><rule><inputEntry><text>"
                                   "&gt; 5</text></inputEntry><outputEntry><text>\"many\"</text>"
                                   "</outputEntry></rule></decisionTable>")),
         "\"many\""},
    };
    CHECK_ROWS(rows);
}

Test(boxed, lists_and_relations_are_lists)
{
    static const struct row rows[] = {
        {MODEL(D("d", "<list/>")), "[]"},
        {MODEL(D("d", "<list>" L("1") "<list>" L("n") "</list><literalExpression/></list>")),
         "[1,[7],null]"},
        {MODEL(D("d", "<relation><column name='name'/><column name='age'/>"
                      "<row>" L("\"Ada\"") L("36") "</row><row>" L(
                          "\"Bob\"") "<literalExpression/></row></relation>")),
         "[{\"name\":\"Ada\",\"age\":36},{\"name\":\"Bob\",\"age\":null}]"},
        {MODEL(D("d", "<relation><column name='a'/></relation>")), "[]"},
    };
    CHECK_ROWS(rows);
}

Test(boxed, a_function_sees_what_stands_around_it)
{
    static const struct row rows[] = {
        {MODEL(D("d", "<context>" ENTRY("k", L("10")) ENTRY(
                          "f", "<functionDefinition>" P("x") L("x * k") "</functionDefinition>")
                          RESULT(L("f(n)")) "</context>")),
         "70"},
        {MODEL(D("d", "<context>" ENTRY("f", "<functionDefinition kind='FEEL'>"
                                             "<formalParameter name='x' typeRef='date'/>" L(
                                                 "x.year") "</functionDefinition>")
                          RESULT("<invocation>" L("f")
                                     BIND("x", L("\"2024-02-29\"")) "</invocation>") "</context>")),
         "2024"},
        {MODEL(D("d", KNOWS("f") "<invocation><literalExpression typeRef='number'><text>f</text>"
                                 "</literalExpression><binding><parameter name='x'/></binding>"
                                 "</invocation>") BKM("f", P("x") L("[x, 1]"))),
         "[null,1]"},
        {MODEL(D("d", "<invocation>" L("date") BIND("year", L("2024")) BIND("month", L("2"))
                          BIND("day", L("29")) "</invocation>")),
         "\"2024-02-29\""},
        {MODEL(D("d", "<context>" ENTRY(
                          "sum of",
                          "<functionDefinition>" P("k") L(
                              "if k &lt;= 0 then 0 else k + sum of(k - 1)") "</functionDefinition>")
                          RESULT(L("sum of(n)")) "</context>")),
         "28"},
        {MODEL(
             D("d",
               "<context>" ENTRY(
                   "count",
                   "<functionDefinition>" P("x") "<conditional><if>" L("x &lt;= 0") "</if><then>" L(
                       "0") "</then><else>" L("1") "</else></conditional></functionDefinition>")
                   RESULT(L("count(n)")) "</context>")),
         "1"},
    };
    CHECK_ROWS(rows);
}

Test(boxed, conditionals_filters_and_iterators)
{
    static const struct row rows[] = {
        {MODEL(D("d", "<conditional><if>" L("n &gt; 5") "</if><then>" L(
                          "\"more\"") "</then><else>" L("\"less\"") "</else></conditional>")),
         "\"more\""},
        {MODEL(D("d", "<conditional><if>" L("none") "</if><then>" L("1") "</then><else>" L(
                          "2") "</else></conditional>")),
         "2"},
        {MODEL(D("d",
                 "<filter><in>" L("items") "</in><match>" L("price &gt; 10") "</match></filter>")),
         "[{\"price\":20}]"},
        {MODEL(
             D("d", "<filter><in>" L("tags") "</in><match>" L("item = \"b\"") "</match></filter>")),
         "[\"b\"]"},
        {MODEL(D("d", "<for iteratorVariable='i'><in>" L("items") "</in><return>" L(
                          "i.price + n") "</return></for>")),
         "[12,27]"},
        {MODEL(D("d", "<for iteratorVariable='a-b'><in>" L("[1..3]") "</in><return>" L(
                          "a-b * 2 + count(partial)") "</return></for>")),
         "[2,5,8]"},
        {MODEL(D("d", "<some iteratorVariable='i'><in>" L("items") "</in><satisfies>" L(
                          "i.price = 20") "</satisfies></some>")),
         "true"},
        {MODEL(D("d", "<every iteratorVariable='i'><in>" L("items") "</in><satisfies>" L(
                          "i.price = 20") "</satisfies></every>")),
         "false"},
        {MODEL(D("d", "<for iteratorVariable='i'><in><list>" L("1")
                          L("2") "</list></in><return>"
                                 "<context>" ENTRY("is", L("i")) "</context></return></for>")),
         "[{\"is\":1},{\"is\":2}]"},
    };
    CHECK_ROWS(rows);
}

#define SERVICE(id, body) "<decisionService id='" id "' name='" id "'>" body "</decisionService>"
#define OUTPUT(id)        "<outputDecision href='#" id "'/>"
#define INNER(id)         "<encapsulatedDecision href='#" id "'/>"
#define GIVEN(id)         "<inputDecision href='#" id "'/>"
#define DATA(id)          "<inputData href='#" id "'/>"

Test(boxed, a_decision_service_is_a_function_of_its_inputs)
{
    static const struct row rows[] = {
        /* Input data first, then input decisions, which are not evaluated. */
        {MODEL("<inputData id='n' name='n'/>" D("d", KNOWS("s") L("s(100, 3)"))
                   D("total", NEEDS("rate") L("n * rate")) D("rate", L("1 / none"))
                       SERVICE("s", OUTPUT("total") GIVEN("rate") DATA("n"))),
         "300"},
        {MODEL("<inputData id='n' name='n'/>" D(
             "d", KNOWS("s") "<invocation>" L("s") BIND("rate", L("3"))
                      BIND("n", L("n")) "</invocation>") D("total", NEEDS("rate") L("n * rate"))
                   D("rate", L("2")) SERVICE("s", OUTPUT("total") GIVEN("rate") DATA("n"))),
         "21"},
        {MODEL(D("d", KNOWS("s") L("s()")) D("a", NEEDS("inner") L("inner + 1")) D("b", L("\"b\""))
                   D("inner", L("n")) SERVICE("s", OUTPUT("a") OUTPUT("b") INNER("inner"))),
         "{\"a\":8,\"b\":\"b\"}"},
        /* A service within a service, and a decision of the same model beside it. */
        {MODEL("<inputData id='n' name='n'/>" D("d",
                                                KNOWS("outer") NEEDS("plain") L("outer(1) + plain"))
                   D("plain", L("n")) D("e", KNOWS("s") L("s(n + 1)")) D("f", L("n * 10"))
                       SERVICE("outer", OUTPUT("e") DATA("n")) SERVICE("s", OUTPUT("f") DATA("n"))),
         "27"},
        {MODEL(D("d", KNOWS("s") L("s(1)")) D("a", L("1")) SERVICE("s", OUTPUT("a"))), "null"},
        {MODEL("<inputData id='x' name='x'/>" D("d", KNOWS("s") L("for i in 1..3 return s(i)"))
                   D("a", KNOWS("f") L("f(x)")) BKM("f", P("y") L("y * y"))
                       SERVICE("s", OUTPUT("a") DATA("x"))),
         "[1,4,9]"},
        {MODEL("<inputData id='x' name='x'><variable name='x' typeRef='date'/></inputData>" D(
             "d", KNOWS("s") L("s(\"2024-02-29\")"))
                   D("a", "<informationRequirement><requiredInput href='#x'/>"
                          "</informationRequirement>" L("x.month"))
                       SERVICE("s", OUTPUT("a") DATA("x"))),
         "2"},
    };
    CHECK_ROWS(rows);
}

/* "lists" gives lists of numbers, "one" a number, "untyped" anything. */
#define FUNCTIONS                                                                                  \
    "<itemDefinition name='numbers' "                                                              \
    "isCollection='true'><typeRef>number</typeRef></itemDefinition>"                               \
    "<itemDefinition name='lists'><functionItem outputTypeRef='numbers'/></itemDefinition>"        \
    "<itemDefinition name='one'><functionItem outputTypeRef='number'/></itemDefinition>"           \
    "<itemDefinition name='untyped'><functionItem/></itemDefinition>"
#define TYPED_SERVICE(type)                                                                        \
    "<decisionService id='s' name='s'><variable name='s' typeRef='" type                           \
    "'/>" OUTPUT("a") "</decisionService>"
#define TYPED_BKM(type)                                                                            \
    "<businessKnowledgeModel id='s' name='s'><variable name='s' typeRef='" type "'/>"              \
    "<encapsulatedLogic>" L("n") "</encapsulatedLogic></businessKnowledgeModel>"
#define ASK D("d", KNOWS("s") L("s()"))

Test(boxed, what_a_function_gives_is_of_the_type_that_its_own_names)
{
    static const struct row rows[] = {
        {MODEL(FUNCTIONS ASK D("a", L("n")) TYPED_SERVICE("lists")), "[7]"},
        {MODEL(FUNCTIONS ASK D("a", L("[n]")) TYPED_SERVICE("one")), "7"},
        {MODEL(FUNCTIONS ASK D("a", L("[n]")) TYPED_SERVICE("number")), "7"},
        {MODEL(FUNCTIONS ASK D("a", L("\"text\"")) TYPED_SERVICE("one")), "null"},
        {MODEL(FUNCTIONS ASK D("a", L("[n]")) TYPED_SERVICE("untyped")), "[7]"},
        {MODEL(FUNCTIONS ASK TYPED_BKM("lists")), "[7]"},
        {MODEL(FUNCTIONS ASK TYPED_BKM("numbers")), "[7]"},
        {MODEL(FUNCTIONS ASK TYPED_BKM("one")), "7"},
        {MODEL(FUNCTIONS ASK TYPED_BKM("untyped")), "7"},
    };
    CHECK_ROWS(rows);
}

#define TYPED(type, text)                                                                          \
    "<literalExpression typeRef='" type "'><text>" text "</text></literalExpression>"

Test(boxed, a_literal_expression_is_of_its_own_type)
{
    static const struct row rows[] = {
        {MODEL(D("d", TYPED("number", "n + 1"))), "8"},
        {MODEL(D("d", TYPED("number", "\"8\""))), "null"},
        {MODEL(D("d", TYPED("string", "[\"a\"]"))), "\"a\""},
        {MODEL(D("d", TYPED("Any", "[n]"))), "[7]"},
        {MODEL(FUNCTIONS D("d", TYPED("numbers", "n"))), "[7]"},
        {MODEL(D("d", "<context>" ENTRY("a", TYPED("string", "n"))
                          ENTRY("b", TYPED("number", "n")) "</context>")),
         "{\"a\":null,\"b\":7}"},
        {MODEL(D("d", KNOWS("f") L("f([n])")) BKM("f", P("x") TYPED("number", "x"))), "7"},
    };
    CHECK_ROWS(rows);
}

Test(boxed, what_cannot_be_read_is_refused_by_name)
{
    static const struct row cases[] = {
        {MODEL(D("d", "<context><contextEntry><variable/>" L("1") "</contextEntry></context>")),
         "[no-name]"},
        {MODEL(D("d", "<context>" RESULT(L("1")) ENTRY("a", L("1")) "</context>")), "[no-name]"},
        {MODEL(D("d", "<context><contextEntry><variable name='a'/></contextEntry></context>")),
         "a \"contextEntry\" of \"d\" holds no expression [no-logic]"},
        {MODEL(D("d", "<context>" ENTRY("a", L("1 +")) "</context>")), "[malformed-expression]"},
        {MODEL(D("d", "<invocation>" L("f") "<binding>" L("1") "</binding></invocation>")),
         "[no-name]"},
        {MODEL(D("d", "<invocation/>")), "[no-logic]"},
        {MODEL(D("d", "<list><literalExpression><importedValues/></literalExpression></list>")),
         "\"d\" imports values"},
        {MODEL(D("d", "<relation><column name='a'/><row>" L("1") L("2") "</row></relation>")),
         "a row of \"d\" has 2 cells for 1 columns"},
        {MODEL(D("d", "<conditional><if>" L("true") "</if><then>" L("1") "</then></conditional>")),
         "a boxed \"conditional\" of \"d\" has no \"else\""},
        {MODEL(D("d", "<for><in>" L("1") "</in><return>" L("1") "</return></for>")), "[no-name]"},
        {MODEL(D("d", "<literalExpression expressionLanguage='groovy'><text>1</text>"
                      "</literalExpression>")),
         "expressions in \"groovy\" are not evaluated"},
        {MODEL(D("d", "<functionDefinition kind='Java'>" L("1") "</functionDefinition>")),
         "functions of kind \"Java\""},
        {MODEL(D("d", L("1")) SERVICE("s", "")), "\"s\" has no output decision"},
        {MODEL(D("d", L("1")) SERVICE("s", OUTPUT("x"))), "[dangling-reference]"},
        {MODEL(D("d", L("1")) SERVICE("s", OUTPUT("d") DATA("x"))), "[dangling-reference]"},
        {MODEL(D("d", KNOWS("s") L("s()")) SERVICE("s", OUTPUT("d"))), "[circular-requirement]"},
        {MODEL("<import name='rates' namespace='urn:rates' "
               "importType='https://www.omg.org/spec/DMN/20191111/MODEL/'/>" D("d", L("1"))),
         "the model imports \"rates\" of \"urn:rates\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct engine_dmn *dmn;
        struct engine_report problems;
        engine_report_init(&problems, span_text("test.dmn"));

        enum result result = engine_dmn_read(span_text(cases[i].model), &arena, &problems, &dmn);

        struct span text = engine_report_text(&problems, ENGINE_ERROR, &arena);
        cr_expect_eq(result, RESULT_INVALID, "case %zu", i);
        cr_expect(memmem(text.bytes, text.count, cases[i].expected, strlen(cases[i].expected)) !=
                      NULL,
                  "case %zu: %.*s", i, SPAN_ARG(text));
        engine_report_release(&problems);
    }
}

Test(boxed, more_names_than_can_be_looked_through_are_refused)
{
    static const char entry[] = ENTRY("a", L("1"));
    static const char head[] = "<definitions xmlns='https://www.omg.org/spec/DMN/20211108/MODEL/'>"
                               "<decision id='d' name='d'><context>";
    static const char tail[] = "</context></decision></definitions>";
    enum { ENTRIES = 5000 };
    char *text = arena_alloc(&arena, sizeof head + ENTRIES * sizeof entry + sizeof tail);
    cr_assert_not_null(text);
    char *end = stpcpy(text, head);
    for (int i = 0; i < ENTRIES; i++) {
        end = stpcpy(end, entry);
    }
    stpcpy(end, tail);

    struct span problems = value_of(span_text(text));

    cr_expect_eq(report.errors, 1, "%.*s", SPAN_ARG(problems));
    cr_expect(memmem(problems.bytes, problems.count, "more than 4096 names", 20) != NULL, "%.*s",
              SPAN_ARG(problems));
}

/* In either order of bytes, with its mark or without. */
static struct span utf16(const char *text, bool low_first, bool marked)
{
    size_t count = strlen(text) + marked;
    uint8_t *bytes = arena_alloc(&arena, 2 * count);
    cr_assert_not_null(bytes);
    for (size_t i = 0; i < count; i++) {
        unsigned unit = marked && i == 0 ? 0xfeffu : (uint8_t)text[i - marked];
        bytes[2 * i + !low_first] = (uint8_t)(unit & 0xff);
        bytes[2 * i + low_first] = (uint8_t)(unit >> 8);
    }
    return span_of(bytes, 2 * count);
}

Test(boxed, a_model_in_utf_16_is_one)
{
    static const char text[] =
        "<?xml version='1.0' encoding='UTF-16'?><!-- a model --><definitions "
        "xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/'>" D("d", L("n")) "</definitions>";
    for (unsigned i = 0; i < 4; i++) {
        bool marked = (i & 2) != 0;
        struct span model = utf16(text, (i & 1) != 0, marked);
        cr_expect(engine_dmn_is_model(model), "form %u", i);
        if (marked) {
            struct span value = value_of(model);
            cr_expect(span_is(value, "7"), "form %u: %.*s", i, SPAN_ARG(value));
        }
    }
    cr_expect_not(engine_dmn_is_model(utf16("<a xmlns='urn:x'/>", true, true)));
    cr_expect_not(engine_dmn_is_model(span_of("\xff\xfe<", 3)));
}
