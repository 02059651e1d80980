/*
 * dmn_test.c: decision tables by hit policy, literal expressions, requirements, knowledge models,
 * and what is refused. Expected values: DMN 1.5 §8.2.8 (hit policies), §7.3 (requirements), §10.4
 * (types).
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/dmn/dmn.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define MODEL(body)                                                                                \
    "<?xml version='1.0'?><definitions xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/' "      \
    "id='model' name='A model'>" body "</definitions>"
#define TEXT(text)          "<text>" text "</text>"
#define INPUT(text)         "<input><inputExpression>" TEXT(text) "</inputExpression></input>"
#define TEST(text)          "<inputEntry>" TEXT(text) "</inputEntry>"
#define OUT(text)           "<outputEntry>" TEXT(text) "</outputEntry>"
#define RULE(cells)         "<rule>" cells "</rule>"
#define DECISION(id, logic) "<decision id='" id "' name='" id "'>" logic "</decision>"
#define LITERAL(text)       "<literalExpression>" TEXT(text) "</literalExpression>"
#define NEEDS(id)                                                                                  \
    "<informationRequirement><requiredDecision href='#" id "'/></informationRequirement>"
#define KNOWS(id) "<knowledgeRequirement><requiredKnowledge href='#" id "'/></knowledgeRequirement>"

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

TestSuite(dmn, .init = set_up, .fini = tear_down);

static struct span find(const struct engine_names *names, struct span name)
{
    return wire_find(((const struct data_names *)(const void *)names)->map, name);
}

/* The value of decision "d" as JSON, or "fails: " and the reason. */
static struct span outcome(const struct engine_dmn *dmn, const char *data)
{
    struct data_names names = {.names = {.find = find}};
    struct engine_dmn_outcome evaluation;
    struct json_error json_error;
    struct span json;
    cr_assert_eq(json_to_wire(span_text(data), LIMIT_DEPTH, &arena, &names.map, &json_error),
                 RESULT_OK);
    enum result result =
        engine_dmn_evaluate(dmn, span_text("d"), &names.names, &arena, &evaluation);
    if (result != RESULT_OK) {
        cr_assert_not_null(evaluation.error.message);
        return arena_format(&arena, "fails: %s", evaluation.error.message);
    }
    cr_assert_eq(json_from_wire(evaluation.value, JSON_COMPACT, &arena, &json), RESULT_OK);
    return json;
}

static const struct engine_dmn *read_model(const char *text)
{
    const struct engine_dmn *dmn;
    enum result result = engine_dmn_read(span_text(text), &arena, &report, &dmn);
    struct span problems = engine_report_text(&report, ENGINE_INFO, &arena);
    cr_assert_eq(result, RESULT_OK, "%.*s", SPAN_ARG(problems));
    return dmn;
}

struct row {
    const char *data;
    const char *expected;
};

static void check_rows(const struct engine_dmn *dmn, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct span found = outcome(dmn, rows[i].data);
        cr_expect(span_is(found, rows[i].expected), "%s\n gives %.*s\n not   %s", rows[i].data,
                  SPAN_ARG(found), rows[i].expected);
    }
}

#define CHECK_ROWS(dmn, rows) check_rows((dmn), (rows), sizeof(rows) / sizeof *(rows))

Test(dmn, a_unique_table_takes_the_rule_that_matches)
{
    static const char text[] = MODEL(DECISION(
        "d", "<decisionTable>" INPUT("season")
                 INPUT("guests") "<output "
                                 "name='dish'/>" RULE(TEST("\"Fall\"") TEST("&lt;= 8")
                                                          OUT("\"Spareribs\""))
                                     RULE(TEST("\"Winter\"") TEST("-") OUT("\"Roastbeef\""))
                                         RULE(TEST("not(\"Fall\", \"Winter\")") TEST("[1..4]")
                                                  OUT("\"Salad for \" + string(guests)"))
                                             RULE(TEST("\"Fall\"") TEST("&gt; 7")
                                                      OUT("\"Stew\"")) "</decisionTable>"));
    static const struct row rows[] = {
        {"{\"season\": \"Fall\", \"guests\": 4}", "\"Spareribs\""},
        {"{\"season\": \"Winter\", \"guests\": 400}", "\"Roastbeef\""},
        {"{\"season\": \"Summer\", \"guests\": 3}", "\"Salad for 3\""},
        {"{\"season\": \"Summer\", \"guests\": 30}", "null"},
        {"{\"season\": \"Fall\", \"guests\": 8}",
         "fails: rules 1 and 4 of \"d\" both match, where the hit policy is UNIQUE"},
        {"{}", "null"},
    };
    CHECK_ROWS(read_model(text), rows);
}

#define POLICY(attributes, outputs)                                                                \
    MODEL(DECISION("d", "<decisionTable " attributes ">" INPUT("x")                                \
                            outputs RULE(TEST("&gt; 1") OUT("1")) RULE(TEST("&gt; 2") OUT("3"))    \
                                RULE(TEST("&gt; 3") OUT("2"))                                      \
                                    RULE(TEST("&gt; 4") OUT("2")) "</decisionTable>"))

Test(dmn, every_hit_policy_has_its_way)
{
    static const struct {
        const char *text;
        const char *data;
        const char *expected;
    } cases[] = {
        {POLICY("hitPolicy='FIRST'", "<output/>"), "{\"x\": 9}", "1"},
        {POLICY("hitPolicy='RULE ORDER'", "<output/>"), "{\"x\": 9}", "[1,3,2,2]"},
        {POLICY("hitPolicy='COLLECT'", "<output/>"), "{\"x\": 3}", "[1,3]"},
        {POLICY("hitPolicy='COLLECT'", "<output/>"), "{\"x\": 2}", "[1]"},
        {POLICY("hitPolicy='COLLECT' aggregation='SUM'", "<output/>"), "{\"x\": 9}", "8"},
        {POLICY("hitPolicy='COLLECT' aggregation='MIN'", "<output/>"), "{\"x\": 9}", "1"},
        {POLICY("hitPolicy='COLLECT' aggregation='MAX'", "<output/>"), "{\"x\": 9}", "3"},
        {POLICY("hitPolicy='COLLECT' aggregation='COUNT'", "<output/>"), "{\"x\": 9}", "4"},
        {POLICY("hitPolicy='COLLECT' aggregation='COUNT'", "<output/>"), "{\"x\": 0}", "0"},
        {POLICY("hitPolicy='COLLECT' aggregation='SUM'", "<output/>"), "{\"x\": 0}", "null"},
        {POLICY("hitPolicy='PRIORITY'", "<output><outputValues><text>2, 3, 1</text></outputValues>"
                                        "</output>"),
         "{\"x\": 9}", "2"},
        {POLICY("hitPolicy='PRIORITY'", "<output><outputValues><text>2, 3, 1</text></outputValues>"
                                        "</output>"),
         "{\"x\": 3}", "3"},
        {POLICY("hitPolicy='OUTPUT ORDER'",
                "<output><outputValues><text>2, 3, 1</text></outputValues></output>"),
         "{\"x\": 9}", "[2,2,3,1]"},
        {POLICY("hitPolicy='ANY'", "<output/>"), "{\"x\": 2}", "1"},
        {POLICY("hitPolicy='ANY'", "<output/>"), "{\"x\": 3}",
         "fails: rules 1 and 2 of \"d\" both match, with different outputs"},
        {POLICY("hitPolicy='FIRST'",
                "<output><defaultOutputEntry><text>99</text></defaultOutputEntry></output>"),
         "{\"x\": 0}", "99"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct span found = outcome(read_model(cases[i].text), cases[i].data);
        cr_expect(span_is(found, cases[i].expected), "case %zu: %.*s, not %s", i, SPAN_ARG(found),
                  cases[i].expected);
    }
}

Test(dmn, several_outputs_are_a_context)
{
    static const char text[] = MODEL(DECISION(
        "d",
        "<decisionTable hitPolicy='OUTPUT ORDER'>" INPUT(
            "x") "<output name='rate'><outputValues><text>\"high\", \"low\"</text></outputValues>"
                 "</output><output name='fee'><outputValues><text>5, "
                 "7</text></outputValues></output>" RULE(TEST("-") OUT("\"low\"") OUT("5"))
                     RULE(TEST("-") OUT("\"high\"") OUT("7"))
                         RULE(TEST("-") OUT("\"high\"") OUT("5")) "</decisionTable>"));
    static const struct row rows[] = {
        {"{\"x\": 1}", "[{\"rate\":\"high\",\"fee\":5},{\"rate\":\"high\",\"fee\":7},"
                       "{\"rate\":\"low\",\"fee\":5}]"},
    };
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, required_decisions_come_first_and_only_where_they_are_required)
{
    static const char text[] =
        MODEL(DECISION("d", NEEDS("base") NEEDS("rate") LITERAL("base * rate + plain"))
                  DECISION("rate", NEEDS("base") LITERAL("if base &gt; 10 then 2 else 1"))
                      DECISION("base", LITERAL("amount + 1"))
                          DECISION("other", LITERAL("1 + nonsense.deep")));
    static const struct row rows[] = {
        {"{\"amount\": 10, \"plain\": 100}", "122"},
        {"{\"amount\": 1, \"plain\": 0, \"rate\": 77}", "2"},
        {"{\"amount\": \"x\", \"plain\": 0}", "null"},
    };
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, a_decision_does_not_see_what_it_does_not_require)
{
    static const char text[] = MODEL(DECISION("d", NEEDS("a") LITERAL("hidden = null")) DECISION(
        "a", NEEDS("hidden") LITERAL("1")) DECISION("hidden", LITERAL("5")));
    static const struct row rows[] = {{"{}", "true"}};
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, names_with_signs_are_those_of_the_model)
{
    static const char text[] = MODEL("<inputData id='i' name='order-size'/>" DECISION(
        "d", NEEDS("p-q") LITERAL("order-size - p-q")) DECISION("p-q", LITERAL("2")));
    static const struct row rows[] = {{"{\"order-size\": 10}", "8"}};
    CHECK_ROWS(read_model(text), rows);
}

#define KNOWLEDGE(id, parameters, logic)                                                           \
    "<businessKnowledgeModel id='" id "' name='" id "'><encapsulatedLogic>" parameters logic       \
    "</encapsulatedLogic></businessKnowledgeModel>"

Test(dmn, knowledge_models_are_functions)
{
    static const char text[] = MODEL(
        DECISION("d", KNOWS("fee") KNOWS("twice") LITERAL("twice(fee(kind: k, size: 3))"))
            KNOWLEDGE("twice", "<formalParameter name='x'/>", LITERAL("2 * x")) KNOWLEDGE(
                "fee", "<formalParameter name='kind'/><formalParameter name='size'/>",
                "<decisionTable>" INPUT("kind") "<output/>" RULE(TEST("\"a\"") OUT("size * 10"))
                    RULE(TEST("\"b\"") OUT("5")) "</decisionTable>"));
    static const struct row rows[] = {
        {"{\"k\": \"a\"}", "60"},
        {"{\"k\": \"b\"}", "10"},
        {"{\"k\": \"c\"}", "null"},
    };
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, texts_become_what_their_type_says)
{
    static const char text[] =
        MODEL("<decision id='d' name='d'><variable name='d' typeRef='date'/><decisionTable><input>"
              "<inputExpression typeRef='date'><text>due</text></inputExpression></input><output "
              "typeRef='string'/>" RULE(TEST("&lt; date(\"2024-03-01\")") OUT("\"2024-02-01\""))
                  RULE(TEST("-") OUT("[\"2025-01-01\"]")) "</decisionTable></decision>");
    static const struct row rows[] = {
        {"{\"due\": \"2024-03-01\"}", "\"2025-01-01\""},
        {"{\"due\": \"2024-02-29\"}",
         "fails: rules 1 and 2 of \"d\" both match, where the hit policy is UNIQUE"},
    };
    CHECK_ROWS(read_model(text), rows);
}

#define TYPED(type, text)                                                                          \
    "<decision id='d' name='d'><variable name='d' typeRef='" type "'/>" LITERAL(text) "</"         \
                                                                                      "decision>"
#define PERSON                                                                                     \
    "<itemDefinition name='tAge'><typeRef>number</typeRef>"                                        \
    "<allowedValues><text>[0..150]</text></allowedValues></itemDefinition>"                        \
    "<itemDefinition name='tPerson'>"                                                              \
    "<itemComponent name='name'><typeRef>string</typeRef></itemComponent>"                         \
    "<itemComponent name='age'><typeRef>tAge</typeRef></itemComponent>"                            \
    "<itemComponent name='born'><typeRef>date</typeRef></itemComponent>"                           \
    "<itemComponent name='friends' isCollection='true'><typeRef>tPerson</typeRef></itemComponent>" \
    "</itemDefinition>"                                                                            \
    "<itemDefinition name='tPeople' isCollection='true'><typeRef>tPerson</typeRef>"                \
    "</itemDefinition>"

/* DMN 1.5 §10.3.2.9.4, by the type of the decision. */
Test(dmn, a_value_becomes_one_of_its_declared_type_or_null)
{
    static const struct {
        const char *model;
        const char *expected;
    } rows[] = {
        {MODEL(TYPED("string", "1 + 1")), "null"},
        {MODEL(TYPED("string", "\"x\"")), "\"x\""},
        {MODEL(TYPED("string", "[\"x\"]")), "\"x\""},
        {MODEL(TYPED("string", "[[\"x\"]]")), "null"},
        {MODEL(TYPED("string", "[\"x\", \"y\"]")), "null"},
        {MODEL(TYPED("number", "\"1\"")), "null"},
        {MODEL(TYPED("number", "null")), "null"},
        {MODEL(TYPED("Any", "[1]")), "[1]"},
        {MODEL(TYPED("feel:number", "[1]")), "1"},
        {MODEL(TYPED("date and time", "date(\"2024-02-29\")")), "\"2024-02-29T00:00:00Z\""},
        {MODEL(TYPED("date", "date and time(\"2024-02-29T10:00:00\")")), "null"},
        {MODEL(TYPED("date", "\"2024-02-29\"")), "\"2024-02-29\""},
        {MODEL(TYPED("duration", "\"P1Y\"")), "\"P1Y\""},
        {MODEL(TYPED("duration", "duration(\"PT1H\")")), "\"PT1H\""},
        {MODEL(TYPED("yearMonthDuration", "\"PT1H\"")), "null"},
        {MODEL(PERSON TYPED("tAge", "30")), "30"},
        {MODEL(PERSON TYPED("tAge", "151")), "null"},
        {MODEL(PERSON TYPED("tPerson", "{name: \"A\"}")), "null"},
        {MODEL(PERSON TYPED("tPerson", "{name: [\"A\"], age: 3, born: \"2020-01-01\", "
                                       "friends: null, more: 1}.name")),
         "null"},
        {MODEL(PERSON TYPED("tPerson", "{name: [\"A\"], age: 3, born: null, friends: "
                                       "{name: \"B\", age: 4, born: null, friends: []}, more: 1}")),
         "{\"name\":\"A\",\"age\":3,\"born\":null,\"friends\":[{\"name\":\"B\",\"age\":4,"
         "\"born\":null,\"friends\":[]}],\"more\":1}"},
        {MODEL(PERSON TYPED("tPerson", "{name: \"A\", age: 200, born: null, friends: null}")),
         "null"},
        {MODEL(PERSON TYPED("tPeople", "{name: \"A\", age: 2, born: null, friends: null}")),
         "[{\"name\":\"A\",\"age\":2,\"born\":null,\"friends\":null}]"},
        {MODEL(
             "<itemDefinition name='tFew' isCollection='true'><typeRef>number</typeRef>"
             "<allowedValues><text>&gt; 0</text></allowedValues>"
             "<typeConstraint><text>count(?) &lt; 3</text></typeConstraint></itemDefinition>" TYPED(
                 "tFew", "[[1, 2], [1, 2, 3], [0]][item[1] = 1][1]")),
         "[1,2]"},
        {MODEL(
             "<itemDefinition name='tFew' isCollection='true'><typeRef>number</typeRef>"
             "<typeConstraint><text>count(?) &lt; 3</text></typeConstraint></itemDefinition>" TYPED(
                 "tFew", "[1, 2, 3]")),
         "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span found = outcome(read_model(rows[i].model), "{}");
        cr_expect(span_is(found, rows[i].expected), "row %zu gives %.*s, not %s", i,
                  SPAN_ARG(found), rows[i].expected);
    }
}

Test(dmn, what_is_not_of_the_declared_type_is_named)
{
    static const struct {
        const char *model;
        const char *says;
    } rows[] = {
        {MODEL(TYPED("number", "\"x\"")), "string is not of the declared type"},
        {MODEL(PERSON TYPED("tPerson", "{name: \"A\", age: \"x\", born: null, friends: []}")),
         "context is not of the declared type: \"age\" is of another type"},
        {MODEL(PERSON TYPED("tPerson", "{name: \"A\", age: 1, friends: []}")),
         "context is not of the declared type: \"born\" is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct data_names names = {.names = {.find = find}};
        struct engine_dmn_outcome found;
        cr_assert_eq(engine_dmn_evaluate(read_model(rows[i].model), span_text("d"), &names.names,
                                         &arena, &found),
                     RESULT_OK);
        cr_expect_str_eq(found.error.message, rows[i].says);
    }
}

Test(dmn, expressions_may_name_the_types_of_the_model)
{
    static const char text[] = MODEL(
        "<itemDefinition name='tGrade'><typeRef>string</typeRef>"
        "<allowedValues><text>\"A\", \"B\"</text></allowedValues></itemDefinition>"
        "<itemDefinition name='tGrades' isCollection='true'><typeRef>tGrade</typeRef>"
        "</itemDefinition>"
        "<itemDefinition name='tPerson'>"
        "<itemComponent name='name'><typeRef>string</typeRef></itemComponent>"
        "<itemComponent name='born'><typeRef>date</typeRef></itemComponent></itemDefinition>"
        "<itemDefinition name='tNode'>"
        "<itemComponent name='value'><typeRef>number</typeRef></itemComponent>"
        "<itemComponent name='next'><typeRef>tNode</typeRef></itemComponent></itemDefinition>"
        "<decision id='d' name='d'><literalExpression><text>"
        "[x instance of tGrade, x instance of tGrades, x instance of tPerson, x instance of tNode,"
        " x instance of list&lt;tGrade&gt;, x instance of context&lt;name: tGrade&gt;,"
        " x instance of tElsewhere, (function(g: tGrade) g)(x)]"
        "</text></literalExpression></decision>");
    const struct engine_dmn *dmn = read_model(text);
    static const struct row rows[] = {
        {"{\"x\": \"A\"}", "[true,false,false,false,false,false,true,\"A\"]"},
        {"{\"x\": \"C\"}", "[false,false,false,false,false,false,true,null]"},
        {"{\"x\": [\"A\", \"B\"]}", "[false,true,false,false,true,false,true,null]"},
        {"{\"x\": [\"A\", 1]}", "[false,false,false,false,false,false,true,null]"},
        {"{\"x\": []}", "[false,true,false,false,true,false,true,null]"},
        {"{\"x\": {\"name\": \"B\", \"born\": null}}",
         "[false,false,true,false,false,true,true,null]"},
        {"{\"x\": {\"name\": \"Ada\", \"born\": \"1815-12-10\"}}", /* a text is no date */
         "[false,false,false,false,false,false,true,null]"},
        {"{\"x\": {\"value\": 1, \"next\": {\"value\": 2, \"next\": null}}}",
         "[false,false,false,true,false,false,true,null]"},
        {"{\"x\": {\"value\": 1, \"next\": {\"value\": 2}}}",
         "[false,false,false,false,false,false,true,null]"},
        {"{\"x\": null}", "[false,false,false,false,false,false,false,null]"},
    };
    CHECK_ROWS(dmn, rows);
}

Test(dmn, input_data_and_the_parts_of_knowledge_models_have_declared_types)
{
    static const char text[] = MODEL(
        "<inputData id='i' name='due'><variable name='due' typeRef='date'/></inputData>"
        "<inputData id='n' name='n'><variable name='n' typeRef='number'/></inputData>"
        "<businessKnowledgeModel id='k' name='twice'><variable name='twice' typeRef='number'/>"
        "<encapsulatedLogic><formalParameter name='x' typeRef='number'/>" LITERAL(
            "if x = null then \"none\" else 2 * x") "</encapsulatedLogic></businessKnowledgeModel>"
                                                    "<decision id='d' name='d'>" KNOWS(
                                                        "k") "<informationRequirement><"
                                                             "requiredInput "
                                                             "href='#i'/></informationRequirement>"
                                                             "<informationRequirement><"
                                                             "requiredInput "
                                                             "href='#n'/></"
                                                             "informationRequirement>" LITERAL(
                                                                 "[due instance of date, n, "
                                                                 "twice(3), twice([4]), "
                                                                 "twice(\"x\")]") "</decision>");
    static const struct row rows[] = {
        {"{\"due\": \"2024-02-29\", \"n\": [5]}", "[true,5,6,8,null]"},
        {"{\"due\": \"no day\", \"n\": \"5\"}", "[false,null,6,8,null]"},
    };
    CHECK_ROWS(read_model(text), rows);
}

#define TYPE_RISK                                                                                  \
    "<itemDefinition name='tRisk'><typeRef>string</typeRef>"                                       \
    "<allowedValues><text>\"high\", \"low\", \"none\"</text></allowedValues></itemDefinition>"
#define OUTPUT_RISK                                                                                \
    "<output typeRef='tRisk'>"                                                                     \
    "<defaultOutputEntry><text>\"unheard of\"</text></defaultOutputEntry></output>"
#define RISKS                                                                                      \
    RULE(TEST("&gt; 0") OUT("\"none\""))                                                           \
    RULE(TEST("&gt; 1") OUT("\"low\"")) RULE(TEST("&gt; 2") OUT("\"high\""))
#define TABLE_RISK                                                                                 \
    "<decisionTable hitPolicy='OUTPUT ORDER'>" INPUT("x") OUTPUT_RISK RISKS "</decisionTable>"

Test(dmn, values_that_a_type_allows_are_its_order)
{
    static const char text[] = MODEL(TYPE_RISK DECISION("d", TABLE_RISK));
    static const struct row rows[] = {
        {"{\"x\": 3}", "[\"high\",\"low\",\"none\"]"},
        {"{\"x\": 2}", "[\"low\",\"none\"]"},
        {"{\"x\": 0}", "null"}, /* the default is of the type, too */
    };
    CHECK_ROWS(read_model(text), rows);
}

#define TYPE_ORDER                                                                                 \
    "<itemDefinition name='tOrder'>"                                                               \
    "<itemComponent name='unit-price'><typeRef>number</typeRef>"                                   \
    "<allowedValues><text>&gt;= 0</text></allowedValues></itemComponent>"                          \
    "<itemComponent name='Date and Place'><typeRef>string</typeRef></itemComponent>"               \
    "<itemComponent name='share of null'><typeRef>number</typeRef></itemComponent>"                \
    "</itemDefinition>"                                                                            \
    "<inputData id='i' name='order'><variable name='order' typeRef='tOrder'/></inputData>"
#define RELATION_RATES                                                                             \
    "<variable name='rates'/>"                                                                     \
    "<relation><column name='vat/100'/><row>" LITERAL("7") "</row></relation>"
#define NEEDS_DATA "<informationRequirement><requiredInput href='#i'/></informationRequirement>"
#define PATHS      "[order.unit-price - 1, order.Date and Place, order.share of null, rates[1].vat/100]"

Test(dmn, members_may_have_signs_and_keywords_in_their_names)
{
    static const char text[] = MODEL(TYPE_ORDER DECISION("rates", RELATION_RATES)
                                         DECISION("d", NEEDS_DATA NEEDS("rates") LITERAL(PATHS)));
    static const struct row rows[] = {
        {"{\"order\": {\"unit-price\": 5, \"Date and Place\": \"here\", \"share of null\": 2}}",
         "[4,\"here\",2,7]"},
    };
    CHECK_ROWS(read_model(text), rows);
}

#define CALLS_ITSELF(id, name, requires, body)                                                     \
    "<businessKnowledgeModel id='" id "' name='" name                                              \
    "'>" requires "<encapsulatedLogic><formalParameter name='n' typeRef='number'/>" LITERAL(       \
        body) "</encapsulatedLogic></businessKnowledgeModel>"
#define FACTORIAL "if n &lt;= 1 then 1 else n * factorial(n - 1)"
#define SUM       "if n &lt;= 1 then 1 else n + g(n: n - 1)"

Test(dmn, a_knowledge_model_calls_itself)
{
    static const char text[] = MODEL(
        DECISION("d", KNOWS("f") KNOWS("g") KNOWS("a") LITERAL("[factorial(x), g(x), abs(x)]"))
            CALLS_ITSELF("f", "factorial", KNOWS("f"), FACTORIAL) CALLS_ITSELF("g", "g", "", SUM)
                CALLS_ITSELF("a", "abs", "", "abs(n) + 1"));
    static const struct row rows[] = {{"{\"x\": 5}", "[120,15,6]"}};
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, expressions_may_be_juel)
{
    static const char text[] =
        MODEL(DECISION("d", "<literalExpression expressionLanguage='juel'>" TEXT(
                                "${a &gt; 1 ? 'x' : 'y'}") "</literalExpression>"));
    static const struct row rows[] = {
        {"{\"a\": 2}", "\"x\""},
        {"{}", "fails: in \"d\": unknown name \"a\""},
    };
    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, a_hostile_model_ends)
{
    static const char text[] = MODEL(DECISION("d", KNOWS("f") LITERAL("f(1)")) KNOWLEDGE(
        "f", "<formalParameter name='x'/>",
        LITERAL("count(for a in 1..100000 return for b in 1..100000 return 1)")));
    static const struct row rows[] = {{"{}", "fails: in \"d\": too many steps"}};
    CHECK_ROWS(read_model(text), rows);
}

/* Knowledge models that call each other in a chain: as deep as calls may go, not as the stack is.
 */
Test(dmn, a_long_chain_of_calls_is_refused_not_run_into_the_ground)
{
    enum { LINKS = 900, TEXT_BYTES = 1 << 20 };
    char *text = arena_alloc(&arena, TEXT_BYTES);
    size_t count = (size_t)snprintf(text, TEXT_BYTES, "%s",
                                    "<definitions xmlns='https://www.omg.org/spec/DMN/20191111/"
                                    "MODEL/'>" DECISION("d", KNOWS("f0") LITERAL("f0(1)")));
    for (int i = 0; i < LINKS; i++) {
        count +=
            (size_t)snprintf(text + count, TEXT_BYTES - count,
                             "<businessKnowledgeModel id='f%d' name='f%d'><encapsulatedLogic>"
                             "<formalParameter name='x'/>" LITERAL("%s%d%s") "</encapsulatedLogic>",
                             i, i, i + 1 < LINKS ? "f" : "", i + 1, i + 1 < LINKS ? "(x)" : "");
        count += i + 1 < LINKS ? (size_t)snprintf(text + count, TEXT_BYTES - count,
                                                  "<knowledgeRequirement><requiredKnowledge "
                                                  "href='#f%d'/></knowledgeRequirement>",
                                                  i + 1)
                               : 0;
        count += (size_t)snprintf(text + count, TEXT_BYTES - count, "</businessKnowledgeModel>");
    }
    (void)snprintf(text + count, TEXT_BYTES - count, "</definitions>");
    static const struct row rows[] = {{"{}", "fails: in \"d\": calls nested too deep"}};

    CHECK_ROWS(read_model(text), rows);
}

Test(dmn, tells_which_rules_a_decision_rests_on)
{
    const struct engine_dmn *dmn = read_model(
        MODEL(DECISION("base", "<decisionTable id='bt'>" INPUT(
                                   "x") "<output/>"
                                        "<rule id='low'>" TEST("&lt; 5")
                                            OUT("1") "</rule>"
                                                     "<rule id='high'>" TEST("&gt;= 5")
                                                         OUT("2") "</rule></decisionTable>")
                  DECISION("d", NEEDS("base") "<decisionTable hitPolicy='COLLECT'>" INPUT(
                                    "base") "<output name='out'/>" RULE(TEST("-") OUT("\"any\""))
                                    RULE(TEST("2") OUT("\"two\"")) "</decisionTable>")));
    struct data_names names = {.names = {.find = find}};
    struct engine_dmn_outcome outcome;
    struct json_error json_error;
    struct span json;
    cr_assert_eq(json_to_wire(span_text("{\"x\": 7}"), 8, &arena, &names.map, &json_error),
                 RESULT_OK);

    cr_assert_eq(engine_dmn_evaluate(dmn, span_text("d"), &names.names, &arena, &outcome),
                 RESULT_OK);

    cr_assert_eq(outcome.hit_count, 3);
    cr_assert(span_is(outcome.hits[0].decision, "base") && span_is(outcome.hits[0].rule, "high"));
    cr_assert_eq(outcome.hits[0].number, 2);
    cr_assert(span_is(outcome.hits[2].decision, "d") && outcome.hits[2].rule.count == 0);
    cr_assert_eq(outcome.own_hits, 2);
    struct span rows = engine_dmn_rows(dmn, span_text("d"), &outcome, &arena);
    cr_assert_eq(json_from_wire(rows, JSON_COMPACT, &arena, &json), RESULT_OK);
    cr_assert(span_is(json, "[{\"out\":\"any\"},{\"out\":\"two\"}]"), "%.*s", SPAN_ARG(json));
}

#define RATE                                                                                       \
    "<decisionTable>" INPUT("x") "<output name='rate'/>" RULE(TEST("-") OUT("3")) "</"             \
                                                                                  "decisionTable>"

Test(dmn, a_required_decision_without_a_variable_is_known_by_its_id_and_outputs_too)
{
    static const struct row unsaid[] = {{"{}", "[3,3,3]"}};
    static const struct row said[] = {{"{}", "[3,null,null]"}};
    CHECK_ROWS(read_model(MODEL("<decision id='base' name='The base'>" RATE "</decision>" DECISION(
                   "d", NEEDS("base") LITERAL("[The base, base, rate]")))),
               unsaid);
    CHECK_ROWS(read_model(MODEL(
                   "<decision id='base' name='The base'><variable name='given'/>" RATE
                   "</decision>" DECISION("d", NEEDS("base") LITERAL("[given, base, rate]")))),
               said);
}

Test(dmn, a_cell_that_fails_is_named)
{
    static const struct row output[] = {
        {"{}", "fails: rule 1, output 1 of \"d\": unknown name \"nobody\""}};
    static const struct row input[] = {{"{}", "fails: input 1 of \"d\": unknown name \"nobody\""}};
    CHECK_ROWS(read_model(MODEL(DECISION(
                   "d", "<decisionTable>" INPUT("x") "<output/>" RULE(
                            TEST("-") "<outputEntry expressionLanguage='juel'>"
                                      "<text>${nobody}</text></outputEntry>") "</decisionTable>"))),
               output);
    CHECK_ROWS(read_model(MODEL(
                   DECISION("d", "<decisionTable><input><inputExpression expressionLanguage='juel'>"
                                 "<text>${nobody}</text></inputExpression></input><output/>" RULE(
                                     TEST("-") OUT("1")) "</decisionTable>"))),
               input);
}

Test(dmn, says_what_it_holds)
{
    const struct engine_dmn *dmn = read_model(MODEL(
        KNOWLEDGE("f", "", LITERAL("1")) DECISION("a", LITERAL("1")) DECISION("b", LITERAL("2"))));

    cr_expect(span_is(engine_dmn_id(dmn), "model"));
    cr_expect(span_is(engine_dmn_name(dmn), "A model"));
    cr_assert_eq(engine_dmn_decision_count(dmn), 2);
    cr_expect(span_is(engine_dmn_decision_id(dmn, 1), "b"));
    cr_expect(span_is(engine_dmn_decision_name(dmn, 0), "a"));
    cr_expect(engine_dmn_has_decision(dmn, span_text("a")));
    cr_expect_not(engine_dmn_has_decision(dmn, span_text("f")));
    cr_expect(span_starts_with(outcome(dmn, "{}"), "fails: there is no such decision"));
}

Test(dmn, is_told_from_other_files_by_its_root)
{
    cr_expect(engine_dmn_is_model(span_text(MODEL(""))));
    cr_expect_not(engine_dmn_is_model(span_text("<definitions xmlns='http://www.omg.org/spec/BPMN/"
                                                "20100524/MODEL'/>")));
    cr_expect(engine_dmn_is_model(
        span_text("<?xml version='1.0'?><!-- <no> --><!DOCTYPE d>\n<dmn:definitions id='a>b' "
                  "xmlns:dmn = \"http://www.omg.org/spec/DMN/20180521/MODEL/\"/>")));
    /* A process that only mentions the namespace. */
    cr_expect_not(engine_dmn_is_model(
        span_text("<b:definitions xmlns:dmn='https://www.omg.org/spec/DMN/20191111/MODEL/' "
                  "xmlns:b='http://www.omg.org/spec/BPMN/20100524/MODEL'/>")));
    static const char *const broken[] = {"",    "<",       "<!--",      "<definitions",
                                         "<d>", "<d a='x", "<d xmlns=", "<d xmlns='"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        cr_expect_not(engine_dmn_is_model(span_text(broken[i])), "%s", broken[i]);
    }
}

Test(dmn, a_decision_without_logic_is_null_and_says_so)
{
    const struct engine_dmn *dmn =
        read_model(MODEL(DECISION("d", NEEDS("open") NEEDS("empty") LITERAL("[open, empty, 1]"))
                             DECISION("open", "") DECISION("empty", "<literalExpression/>")));
    struct span problems = engine_report_text(&report, ENGINE_WARNING, &arena);
    struct engine_dmn_outcome open;
    struct data_names names = {.names = {.find = find}};

    cr_assert_eq(engine_dmn_evaluate(dmn, span_text("open"), &names.names, &arena, &open),
                 RESULT_OK);

    cr_expect(span_is(outcome(dmn, "{}"), "[null,null,1]"));
    cr_expect_str_eq(open.error.message, "\"open\" has no logic yet");
    cr_expect_eq(report.errors, 0u);
    cr_expect_not_null(memmem(problems.bytes, problems.count, "[no-logic]", 10));
}

Test(dmn, refuses_by_name)
{
    static const struct {
        const char *text;
        const char *rule;
    } cases[] = {
        {"<a/>", "[not-dmn]"},
        {MODEL(""), "[no-decision]"},
        {MODEL(DECISION("d", LITERAL("1 +"))), "[malformed-expression]"},
        {MODEL("<itemDefinition name='a'><typeRef>b</typeRef></itemDefinition>"
               "<itemDefinition name='b'><typeRef>a</typeRef></itemDefinition>" DECISION(
                   "d", LITERAL("1"))),
         "[circular-type]"},
        {MODEL(DECISION("d", NEEDS("x") LITERAL("1"))), "[dangling-reference]"},
        {MODEL(DECISION("d", NEEDS("e") LITERAL("1")) DECISION("e", NEEDS("d") LITERAL("1"))),
         "[circular-requirement]"},
        {MODEL(DECISION("d", LITERAL("1")) DECISION("d", LITERAL("1"))), "[duplicate-id]"},
        {MODEL(DECISION("d", "<decisionTable hitPolicy='LAST'/>")), "[unknown-hit-policy]"},
        {MODEL(DECISION("d", "<decisionTable/>")), "[malformed-table]"},
        {MODEL(DECISION("d", "<decisionTable><input/><output/></decisionTable>")), "[no-logic]"},
        {MODEL(DECISION(
             "d", "<decisionTable>" INPUT("x") "<output/>" RULE(OUT("1")) "</decisionTable>")),
         "[malformed-table]"},
        {MODEL(DECISION("d", "<decisionTable>" INPUT("x") "<output/>" RULE(
                                 TEST("&lt;") OUT("1")) "</decisionTable>")),
         "[malformed-expression]"},
        {MODEL(DECISION("d", "<decisionTable>" INPUT("x") "<output/><output/></decisionTable>")),
         "[no-name]"},
        {MODEL(DECISION("d", LITERAL("1")) "<businessKnowledgeModel id='f' name='f'>"
                                           "<encapsulatedLogic kind='Java'/>"
                                           "</businessKnowledgeModel>"),
         "[unsupported-element]"},
        {MODEL(DECISION("d", LITERAL("1")) "<businessKnowledgeModel id='f' name='f'/>"),
         "[no-logic]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct engine_dmn *dmn;
        struct engine_report problems;
        engine_report_init(&problems, span_text("test.dmn"));

        enum result result = engine_dmn_read(span_text(cases[i].text), &arena, &problems, &dmn);

        struct span text = engine_report_text(&problems, ENGINE_ERROR, &arena);
        cr_expect_eq(result, RESULT_INVALID, "case %zu", i);
        cr_expect_null(dmn);
        cr_expect(memmem(text.bytes, text.count, cases[i].rule, strlen(cases[i].rule)) != NULL,
                  "case %zu: %.*s", i, SPAN_ARG(text));
        engine_report_release(&problems);
    }
}
