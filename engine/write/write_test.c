/*
 * What is written reads back as the same definition, in every notation that can say it; what one
 * cannot say is refused by name.
 */
#include "engine/write/write.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"
#include "engine/write/same.h"

struct written {
    enum result result;
    struct engine_report report;
    struct arena arena;
    struct span text;
};

static struct written write_as(const struct sample *sample, enum engine_notation notation)
{
    struct written written = {0};
    arena_init(&written.arena, 4096, 64 << 20);
    engine_report_init(&written.report, span_text("out"));
    written.result = engine_write(sample->definition, SPAN_EMPTY, notation, &written.report,
                                  &written.arena, &written.text);
    cr_assert_eq(written.text.count > 0, written.result == RESULT_OK);
    return written;
}

static void release(struct written *written)
{
    engine_report_release(&written->report);
    arena_release(&written->arena);
}

/* Written as `notation` and read again, it is the same. */
static void check_round_trip(const struct sample *sample, enum engine_notation notation)
{
    struct written written = write_as(sample, notation);
    struct span problems = engine_report_text(&written.report, ENGINE_ERROR, &written.arena);
    cr_assert_eq(written.result, RESULT_OK, "%.*s", SPAN_ARG(problems));
    struct sample again = sample_read_bytes(written.text, true);
    cr_assert_eq(again.result, RESULT_OK, "%s\n%.*s", sample_text(&again), SPAN_ARG(written.text));
    cr_assert_eq(again.definition->process_count, sample->definition->process_count);
    for (uint32_t i = 0; i < again.definition->process_count; i++) {
        struct same same;
        const char *difference =
            same_process(&same, &sample->definition->processes[i], &again.definition->processes[i]);
        cr_expect_str_empty(difference, "%s\n%.*s", difference, SPAN_ARG(written.text));
    }
    sample_free(&again);
    release(&written);
}

static struct sample read_lenient(const char *text)
{
    struct sample sample = sample_read_bytes(span_text(text), true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    return sample;
}

/* It cannot be written, for a reason about that element, in these words. */
static void check_refusal(const char *text, enum engine_notation notation, const char *element,
                          const char *words)
{
    struct sample sample = read_lenient(text);
    struct written written = write_as(&sample, notation);
    bool found = false;
    for (uint32_t i = 0; i < written.report.count; i++) {
        const struct engine_problem *problem = &written.report.problems[i];
        found |= strcmp(problem->rule, "cannot-say") == 0 && span_is(problem->element, element) &&
                 sample_says(problem, words);
    }
    struct span said = engine_report_text(&written.report, ENGINE_INFO, &written.arena);
    cr_expect_eq(written.result, RESULT_INVALID);
    cr_expect(found, "%s: %s, but:\n%.*s", element, words, SPAN_ARG(said));
    release(&written);
    sample_free(&sample);
}

/* Every field of a node that some notation can give. */
static const char everything[] = SAMPLE(
    "<startEvent id='start' camunda:formKey='form'/>"
    "<startEvent id='cron'><timerEventDefinition><timeCycle>CRON_TZ=Europe/Paris 0 9 * * "
    "1</timeCycle></timerEventDefinition></startEvent>"
    "<startEvent id='hook'><messageEventDefinition messageRef='m1'/></startEvent>"
    "<startEvent id='dated'><timerEventDefinition><timeDate/></timerEventDefinition></startEvent>"
    "<task id='plain' name='a &lt; \"b\" &amp; &#10;c'/><manualTask id='manual'/>"
    "<serviceTask id='service' default='f2' strider:type='pay' strider:retries='5' "
    "strider:resultVariable='paid'>"
    "<extensionElements><strider:input source='=a + 1' target='x'/>"
    "<strider:input source='text' target='y'/><strider:input source='=2' target='y'/>"
    "<strider:output source='= r.total' target='order.total'/>"
    "<strider:header key='retries' value='9'/><strider:header key='url' value='http://{{ h }}'/>"
    "<strider:header key='empty' value=''/></extensionElements></serviceTask>"
    "<sendTask id='send' messageRef='m2'/>"
    "<receiveTask id='receive' messageRef='m2' instantiate='true' strider:correlationKey='=k'/>"
    "<userTask id='user' camunda:assignee='${boss}' camunda:candidateGroups='a,b' "
    "camunda:dueDate='2030-01-01' camunda:formKey='f'>"
    "<extensionElements><camunda:properties><camunda:property name='color' "
    "value='${not one}'/></camunda:properties></extensionElements></userTask>"
    "<scriptTask id='feel' scriptFormat='feel'><script>a &lt; b</script></scriptTask>"
    "<scriptTask id='juel' scriptFormat='juel' camunda:resultVariable='r'><script>a.b</script>"
    "</scriptTask>"
    "<scriptTask id='marked'><script>=a</script></scriptTask>"
    "<scriptTask id='other' scriptFormat='groovy'><script>foo()</script></scriptTask>"
    "<businessRuleTask id='rule'><extensionElements><zeebe:calledDecision decisionId='d' "
    "resultVariable='r'/></extensionElements>"
    "<standardLoopCharacteristics testBefore='true' loopMaximum='3'><loopCondition>a &lt; "
    "b</loopCondition></standardLoopCharacteristics></businessRuleTask>"
    "<serviceTask id='each' isForCompensation='true' startQuantity='2' "
    "completionQuantity='3'><multiInstanceLoopCharacteristics "
    "camunda:collection='items' camunda:elementVariable='i'><completionCondition>${done}"
    "</completionCondition></multiInstanceLoopCharacteristics></serviceTask>"
    "<callActivity id='call' calledElement='p'><extensionElements><camunda:in source='a' "
    "target='b'/></extensionElements></callActivity>"
    "<exclusiveGateway id='xor'/><parallelGateway id='and'/><inclusiveGateway id='or'/>"
    "<complexGateway id='complex'><activationCondition>a</activationCondition></complexGateway>"
    "<eventBasedGateway id='events' eventGatewayType='Parallel' instantiate='true'/>"
    "<subProcess id='sub'><startEvent id='in'/><task id='inner'/><sequenceFlow id='f9' "
    "sourceRef='in' targetRef='inner'/><multiInstanceLoopCharacteristics isSequential='true'>"
    "<loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics></subProcess>"
    "<subProcess id='handler' triggeredByEvent='true'><startEvent id='on' isInterrupting='false'>"
    "<escalationEventDefinition escalationRef='x1' camunda:escalationCodeVariable='code'/>"
    "</startEvent></subProcess>"
    "<transaction id='deal'><endEvent id='back'><cancelEventDefinition/></endEvent></transaction>"
    "<adHocSubProcess id='adhoc' ordering='Sequential' cancelRemainingInstances='false'><task "
    "id='t1'/><completionCondition>a = 1"
    "</completionCondition></adHocSubProcess>"
    "<boundaryEvent id='late' attachedToRef='service' cancelActivity='false'>"
    "<timerEventDefinition><timeCycle>R3/PT1M</timeCycle></timerEventDefinition></boundaryEvent>"
    "<boundaryEvent id='failed' attachedToRef='service'><errorEventDefinition errorRef='e1' "
    "camunda:errorCodeVariable='code' camunda:errorMessageVariable='text'/></boundaryEvent>"
    "<boundaryEvent id='undone' attachedToRef='service'><compensateEventDefinition/>"
    "</boundaryEvent><association id='as' sourceRef='undone' targetRef='each'/>"
    "<intermediateCatchEvent id='wait'><timerEventDefinition><timeDuration>=d</timeDuration>"
    "</timerEventDefinition></intermediateCatchEvent>"
    "<intermediateCatchEvent id='several' parallelMultiple='true'><signalEventDefinition "
    "signalRef='s1'/><conditionalEventDefinition><condition>a &gt; 1</condition>"
    "</conditionalEventDefinition><messageEventDefinition messageRef='m3'/>"
    "</intermediateCatchEvent>"
    "<intermediateThrowEvent id='undo'><compensateEventDefinition activityRef='service'/>"
    "</intermediateThrowEvent>"
    "<intermediateThrowEvent id='jump'><linkEventDefinition name='L'/></intermediateThrowEvent>"
    "<intermediateCatchEvent id='land'><linkEventDefinition name='L'/></intermediateCatchEvent>"
    "<endEvent id='end'/><endEvent id='stop'><terminateEventDefinition/></endEvent>"
    "<endEvent id='told' strider:type='mail'><messageEventDefinition/></endEvent>"
    "<sequenceFlow id='f1' name='big' sourceRef='service' targetRef='end'>"
    "<conditionExpression>total &gt; 100</conditionExpression></sequenceFlow>"
    "<sequenceFlow id='f2' sourceRef='service' targetRef='xor'/>"
    "<sequenceFlow id='f3' sourceRef='xor' targetRef='end'><conditionExpression>${a == "
    "1}</conditionExpression></sequenceFlow>"
    "</process>"
    "<message id='m1' name='webhook:orders'/><message id='m2' name='order'/>"
    "<message id='m3' name='=n'><extensionElements><zeebe:subscription correlationKey='=k'/>"
    "</extensionElements></message>"
    "<error id='e1' errorCode='E1'/><signal id='s1' name='S'/>"
    "<escalation id='x1' escalationCode='X1'/><process id='q'>");

Test(write, bpmn_gives_everything_back)
{
    struct sample sample = read_lenient(everything);
    check_round_trip(&sample, ENGINE_NOTATION_BPMN);
    sample_free(&sample);
}

static struct written write_process(const struct sample *sample, const char *id,
                                    enum engine_notation notation)
{
    struct written written = {0};
    arena_init(&written.arena, 4096, 64 << 20);
    engine_report_init(&written.report, span_text("out"));
    written.result = engine_write(sample->definition, span_text(id), notation, &written.report,
                                  &written.arena, &written.text);
    return written;
}

/* What only BPMN can say. */
Test(write, bpmn_gives_back_what_a_graph_cannot_say)
{
    static const char text[] =
        "<definitions " SAMPLE_NAMESPACES "><signal id='s' name='s'/>"
        "<escalation id='e' escalationCode='e'/><error id='r' errorCode='=code'/>"
        "<signalEventDefinition id='says' signalRef='s'/>"
        "<globalScriptTask id='g' scriptLanguage='feel'><script>1</script></globalScriptTask>"
        "<process id='p'><startEvent id='start'/><task id='none'><multiInstanceLoopCharacteristics "
        "behavior='None' noneBehaviorEventRef='says'><loopCardinality>3</loopCardinality>"
        "</multiInstanceLoopCharacteristics></task><task id='one'>"
        "<multiInstanceLoopCharacteristics behavior='One' oneBehaviorEventRef='says'>"
        "<loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics></task>"
        "<task id='complex'><multiInstanceLoopCharacteristics behavior='Complex'><loopCardinality>3"
        "</loopCardinality><complexBehaviorDefinition><condition>loopCounter &gt; 1</condition>"
        "<event><escalationEventDefinition escalationRef='e'/></event></complexBehaviorDefinition>"
        "</multiInstanceLoopCharacteristics></task>"
        "<serviceTask id='typed' strider:type='=t'/>"
        "<adHocSubProcess id='free'><extensionElements><zeebe:adHoc activeElementsCollection='=a' "
        "outputCollection='out' outputElement='=b'/></extensionElements><task id='in'/>"
        "</adHocSubProcess><endEvent id='end'><errorEventDefinition errorRef='r'/></endEvent>"
        "</process></definitions>";
    struct sample sample = read_lenient(text);
    check_round_trip(&sample, ENGINE_NOTATION_BPMN);
    sample_free(&sample);
    check_refusal(text, ENGINE_NOTATION_GRAPH, "none", "instances throw");
    check_refusal(text, ENGINE_NOTATION_GRAPH, "typed", "task type by expression");
    check_refusal(text, ENGINE_NOTATION_GRAPH, "free", "chosen activities");
    check_refusal(text, ENGINE_NOTATION_GRAPH, "end", "code by expression");
}

Test(write, a_graph_gives_everything_back)
{
    struct sample sample = read_lenient(everything);
    struct written written = write_process(&sample, "p", ENGINE_NOTATION_GRAPH);
    struct span problems = engine_report_text(&written.report, ENGINE_ERROR, &written.arena);
    cr_assert_eq(written.result, RESULT_OK, "%.*s", SPAN_ARG(problems));

    struct sample again = sample_read_bytes(written.text, true);

    cr_assert_eq(again.result, RESULT_OK, "%s\n%.*s", sample_text(&again), SPAN_ARG(written.text));
    struct same same;
    const char *difference = same_process(&same, sample_process(&sample), sample_process(&again));
    cr_expect_str_empty(difference, "%s\n%.*s", difference, SPAN_ARG(written.text));
    sample_free(&again);
    release(&written);
    sample_free(&sample);
}

Test(write, every_kind_of_node_is_in_the_test_of_everything)
{
    struct sample sample = read_lenient(everything);
    const struct engine_process *process = sample_process(&sample);
    for (unsigned kind = 0; kind < ENGINE_KIND_COUNT; kind++) {
        bool found = false;
        for (uint32_t i = 0; i < process->node_count; i++) {
            found |= process->nodes[i].kind == kind;
        }
        cr_expect(found, "%s", engine_kind_xml_name((enum engine_kind)kind));
    }
    sample_free(&sample);
}

Test(write, a_graph_comes_back_from_bpmn_and_from_itself)
{
    struct sample sample = read_lenient(
        "{\"id\":\"p\",\"name\":\"P\",\"version\":3,\"nodes\":["
        "{\"id\":\"n1\",\"type\":\"trigger_manual\",\"position\":{\"x\":1,\"y\":2.5},"
        "\"size\":{\"width\":36,\"height\":36},"
        "\"label_bounds\":{\"x\":0.1,\"y\":2,\"width\":3,\"height\":4}},"
        "{\"id\":\"n2\",\"type\":\"action\",\"config\":{\"task_type\":\"http\",\"count\":3,"
        "\"body\":{\"a\":\"{{ b }}\",\"c\":[1]}}},"
        "{\"id\":\"n3\",\"type\":\"for_each\",\"position\":{\"x\":200,\"y\":2},"
        "\"size\":{\"width\":300,\"height\":100.25},\"config\":"
        "{\"collection\":\"{{ items }}\",\"nodes\":[{\"id\":\"n4\",\"type\":\"end\"}],"
        "\"edges\":[]}}],"
        "\"edges\":[{\"id\":\"e1\",\"source\":\"n1\",\"target\":\"n2\",\"label\":\"go\","
        "\"waypoints\":[{\"x\":0.30000000000000004,\"y\":1},{\"x\":5,\"y\":6}]},"
        "{\"id\":\"e2\",\"source\":\"n2\",\"target\":\"n3\"}]}");
    check_round_trip(&sample, ENGINE_NOTATION_GRAPH);
    check_round_trip(&sample, ENGINE_NOTATION_BPMN);
    sample_free(&sample);
}

Test(write, a_graph_tells_the_next_free_number)
{
    struct sample sample =
        read_lenient("{\"id\":\"p\",\"nodes\":[{\"id\":\"n41\",\"type\":\"end\"}],\"edges\":[]}");
    struct written written = write_as(&sample, ENGINE_NOTATION_GRAPH);
    cr_expect_not_null(memmem(written.text.bytes, written.text.count, "\"next_id\": 42", 13));
    release(&written);
    sample_free(&sample);
}

#define SCHEME                                                                                     \
    "{\"id\":\"p\",\"version\":\"v1\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"         \
    "{\"id\":\"a\",\"type\":\"Block\",\"handler\":\"approve\",\"config\":{\"n\":1}},"              \
    "{\"id\":\"b\",\"type\":\"OrBlock\",\"handler\":\"or\"},"                                      \
    "{\"id\":\"c\",\"type\":\"Block\",\"handler\":\"both\"},"                                      \
    "{\"id\":\"f\",\"type\":\"FinishBlock\"}],\"faces\":["                                         \
    "{\"id\":\"1\",\"from\":\"s\",\"to\":\"a\"},"                                                  \
    "{\"id\":\"2\",\"from\":\"a\",\"to\":\"b\",\"result\":\"yes\"},"                               \
    "{\"id\":\"3\",\"from\":\"a\",\"to\":\"c\",\"result\":\"no\"},"                                \
    "{\"id\":\"4\",\"from\":\"b\",\"to\":\"c\"},{\"id\":\"5\",\"from\":\"c\",\"to\":\"f\"},"       \
    "{\"id\":\"6\",\"from\":\"c\",\"to\":\"c\",\"result\":\"again\"}]}"

Test(write, a_scheme_comes_back_from_itself)
{
    struct sample sample = read_lenient(SCHEME);
    check_round_trip(&sample, ENGINE_NOTATION_SCHEME);
    sample_free(&sample);
}

/* Gateways and conditions say the same: the block c waits behind a parallel gateway, its way back
 * goes round that; results are conditions, and where all faces of a block have one, none of them is
 * a dead end. */
Test(write, bpmn_says_joins_and_results_of_a_scheme)
{
    struct sample scheme = read_lenient(SCHEME);
    struct written written = write_as(&scheme, ENGINE_NOTATION_BPMN);
    cr_assert_eq(written.result, RESULT_OK);

    struct sample sample = sample_read_bytes(written.text, true);

    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    const struct engine_process *process = sample_process(&sample);
    const struct engine_node *join = sample_node(&sample, "c_join");
    const struct engine_node *block = sample_node(&sample, "c");
    const struct engine_node *choice = sample_node(&sample, "a");
    cr_expect_eq(join->kind, ENGINE_PARALLEL_GATEWAY);
    cr_expect_eq(join->incoming.count, 2);
    cr_expect_eq(join->outgoing.count, 1);
    cr_expect_eq(block->incoming.count, 2, "from the gateway, and by the back face");
    cr_assert_neq(choice->default_flow, ENGINE_NONE);
    const struct engine_node *end = &process->nodes[process->flows[choice->default_flow].target];
    cr_expect_eq(end->kind, ENGINE_END_EVENT);
    cr_expect_eq(end->event_count, 0);
    SAMPLE_EXPECT_TEXT(sample_source(process->flows[choice->outgoing.at[0]].condition),
                       "string(output) = \"yes\"");
    cr_expect_eq(block->default_flow, ENGINE_NONE, "one of its faces has no result");
    sample_free(&sample);
    release(&written);
    sample_free(&scheme);
}

Test(write, a_scheme_takes_what_it_can_say_of_bpmn)
{
    struct sample sample = read_lenient(
        SAMPLE("<startEvent id='s'/><serviceTask id='a' strider:type='x' default='f4'/>"
               "<parallelGateway id='fork'/><task id='b'/><task id='c'/><parallelGateway id='j'/>"
               "<endEvent id='e'><terminateEventDefinition/></endEvent><endEvent id='dead'/>"
               "<sequenceFlow id='f1' sourceRef='s' targetRef='a'/>"
               "<sequenceFlow id='f2' sourceRef='a' targetRef='fork'><conditionExpression>output = "
               "\"ok\"</conditionExpression></sequenceFlow>"
               "<sequenceFlow id='f4' sourceRef='a' targetRef='dead'/>"
               "<sequenceFlow id='f5' sourceRef='fork' targetRef='b'/>"
               "<sequenceFlow id='f6' sourceRef='fork' targetRef='c'/>"
               "<sequenceFlow id='f7' sourceRef='b' targetRef='j'/>"
               "<sequenceFlow id='f8' sourceRef='c' targetRef='j'/>"
               "<sequenceFlow id='f9' sourceRef='j' targetRef='e'/>"));
    struct written written = write_as(&sample, ENGINE_NOTATION_SCHEME);
    struct span problems = engine_report_text(&written.report, ENGINE_ERROR, &written.arena);
    cr_assert_eq(written.result, RESULT_OK, "%.*s", SPAN_ARG(problems));

    struct sample scheme = sample_read_bytes(written.text, true);

    cr_assert_eq(scheme.result, RESULT_OK, "%s", sample_text(&scheme));
    const struct engine_process *process = sample_process(&scheme);
    cr_expect_eq(process->node_count, 7, "the dead end is no block");
    cr_expect_eq(sample_node(&scheme, "j")->join, ENGINE_JOIN_ALL);
    cr_expect_eq(process->flow_count, 7);
    SAMPLE_EXPECT_TEXT(process->flows[1].result, "ok");
    sample_free(&scheme);
    release(&written);
    sample_free(&sample);
}

Test(write, refuses_by_name_what_the_target_cannot_say)
{
    static const struct {
        const char *text;
        enum engine_notation notation;
        const char *element;
        const char *words;
    } rows[] = {
        {SAMPLE("<startEvent id='s'/><userTask id='u'/>"), ENGINE_NOTATION_SCHEME, "u",
         "can do nothing else"},
        {SAMPLE("<startEvent id='s'/><subProcess id='u'><task id='i'/></subProcess>"),
         ENGINE_NOTATION_SCHEME, "i", "no scopes"},
        {SAMPLE_BETWEEN("<exclusiveGateway id='x'/><task id='t'/><sequenceFlow id='f3' "
                        "sourceRef='x' targetRef='t'/>"),
         ENGINE_NOTATION_SCHEME, "x", "a choice"},
        {SAMPLE_BETWEEN("<serviceTask id='x'/><task id='t'/><sequenceFlow id='f3' sourceRef='x' "
                        "targetRef='t'/>"),
         ENGINE_NOTATION_SCHEME, "end", "one branch"},
        {SAMPLE_BETWEEN("<serviceTask id='x'><extensionElements><strider:input source='=a' "
                        "target='b'/></extensionElements></serviceTask>"),
         ENGINE_NOTATION_SCHEME, "x", "maps no data"},
        {SAMPLE("<startEvent id='s'/><task id='t'/><sequenceFlow id='f' sourceRef='s' "
                "targetRef='t'><conditionExpression>a &gt; 1</conditionExpression>"
                "</sequenceFlow>"),
         ENGINE_NOTATION_SCHEME, "f", "no result"},
        {SAMPLE("<startEvent id='s'/><serviceTask id='t' camunda:expression='${a}'/>"),
         ENGINE_NOTATION_GRAPH, "t", "script task"},
        {"{\"id\":\"p\",\"nodes\":[{\"id\":\"x\"}],\"edges\":[]}", ENGINE_NOTATION_BPMN, "x",
         "without a type"},
        {"{\"id\":\"p\",\"nodes\":[],\"edges\":[],\"triggers\":[{\"type\":\"cron\",\"cron\":"
         "\"@daily\"}]}",
         ENGINE_NOTATION_BPMN, "p", "trigger"},
        {"{\"id\":\"p\",\"nodes\":[{\"id\":\"x\",\"type\":\"end\",\"name\":\"a\\u0001b\"}],"
         "\"edges\":[]}",
         ENGINE_NOTATION_BPMN, "p", "control character"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_refusal(rows[i].text, rows[i].notation, rows[i].element, rows[i].words);
    }
}

Test(write, wants_a_choice_where_a_notation_holds_one_process)
{
    struct sample sample =
        read_lenient(SAMPLE("<startEvent id='s'/></process><process id='q'><startEvent id='t'/>"));
    struct written all = write_as(&sample, ENGINE_NOTATION_GRAPH);
    struct written one = write_process(&sample, "q", ENGINE_NOTATION_GRAPH);
    struct written none = write_process(&sample, "r", ENGINE_NOTATION_GRAPH);

    cr_expect_eq(all.result, RESULT_INVALID);
    cr_expect_eq(one.result, RESULT_OK);
    cr_expect_eq(none.result, RESULT_INVALID);
    release(&all);
    release(&one);
    release(&none);
    sample_free(&sample);
}

Test(write, lists_what_no_definition_holds)
{
    struct engine_report report;
    engine_report_init(&report, span_text("sample.bpmn"));
    enum result result = engine_write_list_lost(
        span_text(SAMPLE("<laneSet><lane id='l'/><lane id='k'/></laneSet><task id='t'>"
                         "<documentation>d</documentation></task>")),
        &report);

    cr_expect_eq(result, RESULT_OK);
    cr_assert_eq(report.count, 2);
    cr_expect(sample_says(&report.problems[0], "lanes (2 in the file)"));
    cr_expect(sample_says(&report.problems[1], "documentations (1"));
    cr_expect_eq(report.problems[0].severity, ENGINE_WARNING);
    engine_report_release(&report);
}
