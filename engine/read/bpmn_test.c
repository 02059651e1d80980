/*
 * From BPMN to nodes, flows and their lists: field reports F26, F121, F125, F128, F130, F131.
 */
#include "engine/read/bpmn.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"

/* ---- prefixes ---- */

static struct span describe_node(struct arena *arena, const struct engine_node *node)
{
    return arena_format(
        arena,
        "%s %.*s %.*s type=%.*s in=%u out=%u scope=%u default=%u starts=%u events=%u inputs=%u\n",
        engine_kind_xml_name(node->kind), SPAN_ARG(node->id), SPAN_ARG(node->name),
        SPAN_ARG(node->task_type), node->incoming.count, node->outgoing.count, node->scope,
        node->default_flow, node->starts.count, node->event_count, node->inputs.count);
}

static struct span describe(struct sample *sample)
{
    struct arena *arena = &sample->arena;
    const struct engine_process *process = sample_process(sample);
    struct span text = arena_format(arena, "%.*s %.*s %d\n", SPAN_ARG(process->id),
                                    SPAN_ARG(process->name), process->executable);
    for (uint32_t i = 0; i < process->node_count; i++) {
        struct span node = describe_node(arena, &process->nodes[i]);
        text = arena_format(arena, "%.*s%.*s", SPAN_ARG(text), SPAN_ARG(node));
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        const struct engine_flow *flow = &process->flows[i];
        text = arena_format(arena, "%.*s%.*s %u %u %d %.*s\n", SPAN_ARG(text), SPAN_ARG(flow->id),
                            flow->source, flow->target, flow->is_default,
                            SPAN_ARG(sample_source(flow->condition)));
    }
    return text;
}

#define DRAWN(P, DECLARATION, DI)                                                                  \
    "<" P "definitions " DECLARATION " xmlns:c='http://camunda.org/schema/1.0/bpmn' "              \
    "xmlns:x='http://www.w3.org/2001/XMLSchema-instance'"                                          \
    " xmlns:" DI "='http://www.omg.org/spec/BPMN/20100524/DI' id='d'><" P                          \
    "process id='p' name='Order'>"                                                                 \
    "<" P "startEvent id='s'/><" P "sequenceFlow id='f1' sourceRef='s' targetRef='g'/>"            \
    "<" P "exclusiveGateway id='g' default='f3'/>"                                                 \
    "<" P "sequenceFlow id='f2' sourceRef='g' targetRef='t'><" P "conditionExpression x:type='" P  \
    "tFormalExpression'>=a &gt; 1</" P "conditionExpression></" P "sequenceFlow>"                  \
    "<" P "sequenceFlow id='f3' sourceRef='g' targetRef='u'/>"                                     \
    "<" P "serviceTask id='t' c:type='external' c:topic='pay'/>"                                   \
    "<" P "subProcess id='u'><" P "startEvent id='us'/><" P                                        \
    "sequenceFlow id='f4' sourceRef='us' targetRef='ut'/><" P "userTask id='ut'/></" P             \
    "subProcess>"                                                                                  \
    "</" P "process><" DI ":BPMNDiagram id='di'><" DI ":BPMNPlane id='pl' bpmnElement='p'/></" DI  \
    ":BPMNDiagram></" P "definitions>"
#define MODEL_URI "http://www.omg.org/spec/BPMN/20100524/MODEL"

Test(bpmn, any_prefix_gives_the_same_model)
{
    static const char *const spellings[] = {
        DRAWN("", "xmlns='" MODEL_URI "'", "bpmndi"),
        DRAWN("bpmn:", "xmlns:bpmn='" MODEL_URI "'", "bpmndi"),
        DRAWN("bpmn2:", "xmlns:bpmn2='" MODEL_URI "'", "di"),
        DRAWN("semantic:", "xmlns:semantic='" MODEL_URI "' xmlns='urn:other'", "di"),
    };
    struct sample first = sample_accept(spellings[0]);
    struct span expected = describe(&first);
    cr_expect_gt(expected.count, 200);
    for (size_t i = 1; i < sizeof spellings / sizeof spellings[0]; i++) {
        struct sample other = sample_accept(spellings[i]);
        struct span actual = describe(&other);
        cr_expect(span_equal(actual, expected), "%.*s", SPAN_ARG(actual));
        sample_free(&other);
    }
    sample_free(&first);
}

/* ---- structure ---- */

Test(bpmn, lists_follow_the_flows_and_not_the_incoming_and_outgoing_elements)
{
    struct sample sample = sample_accept(
        SAMPLE_BETWEEN("<task id='x'><incoming>f2</incoming><outgoing>f1</outgoing></task>"));
    const struct engine_node *node = sample_node(&sample, "x");
    cr_assert_eq(node->incoming.count, 1);
    cr_assert_eq(node->outgoing.count, 1);
    cr_expect_eq(node->incoming.at[0], 0);
    cr_expect_eq(node->outgoing.at[0], 1);
    cr_expect(sample_says(sample_problem(&sample, "mismatched-lists", "x"), "does not lead to"),
              "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(bpmn, nodes_in_sub_processes_know_their_scope_and_scopes_their_starts)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<subProcess id='x'><startEvent id='a'/><sequenceFlow id='f3' sourceRef='a' targetRef='b'/>"
        "<subProcess id='b'><task id='c'/></subProcess><task id='d'/></subProcess>"
        "<boundaryEvent id='late' attachedToRef='x' "
        "cancelActivity='false'><timerEventDefinition><timeDuration>PT1S</timeDuration></"
        "timerEventDefinition></boundaryEvent>"));
    const struct engine_node *outer = sample_node(&sample, "x");
    const struct engine_node *inner = sample_node(&sample, "b");
    cr_expect_eq(outer->scope, ENGINE_NONE);
    cr_expect_eq(inner->scope, outer->index);
    cr_expect_eq(sample_node(&sample, "c")->scope, inner->index);
    cr_expect_eq(sample_node(&sample, "d")->scope, outer->index);
    cr_expect_eq(outer->children.count, 3);
    cr_assert_eq(outer->starts.count, 1);
    cr_expect_eq(outer->starts.at[0], sample_node(&sample, "a")->index);
    cr_assert_eq(inner->starts.count, 1);
    cr_expect_eq(inner->starts.at[0], sample_node(&sample, "c")->index);
    cr_assert_eq(outer->boundaries.count, 1);
    cr_expect_eq(outer->boundaries.at[0], sample_node(&sample, "late")->index);
    cr_expect_eq(sample_node(&sample, "late")->attached_to, outer->index);
    cr_expect_not(sample_node(&sample, "late")->interrupting);
    cr_expect_eq(sample_process(&sample)->children.count, 4);
    sample_free(&sample);
}

static void expect_starts(const char *parts, const char *expected)
{
    struct sample sample = sample_accept(parts);
    const struct engine_process *process = sample_process(&sample);
    struct span text = SPAN_EMPTY;
    for (uint32_t i = 0; i < process->starts.count; i++) {
        text = arena_format(&sample.arena, "%.*s%.*s ", SPAN_ARG(text),
                            SPAN_ARG(process->nodes[process->starts.at[i]].id));
    }
    SAMPLE_EXPECT_TEXT(text, expected);
    sample_free(&sample);
}

Test(bpmn, a_plain_start_takes_none_starts_else_the_first_trigger_else_all_without_incoming_flow)
{
    static const char message[] = "<startEvent id='m'><messageEventDefinition/></startEvent>";
    expect_starts(SAMPLE("<startEvent id='m'><messageEventDefinition/></startEvent><startEvent "
                         "id='a'/><startEvent id='b'/><task id='t'/>"),
                  "a b ");
    expect_starts(
        SAMPLE("<task id='t'/><startEvent id='m'><messageEventDefinition/></startEvent><startEvent "
               "id='n'><signalEventDefinition/></startEvent>"),
        "m ");
    expect_starts(
        SAMPLE("<task id='t'/><task id='u'/><sequenceFlow id='f' sourceRef='t' "
               "targetRef='v'/><task id='v'/>"
               "<boundaryEvent id='b' attachedToRef='t'><errorEventDefinition/></boundaryEvent>"),
        "t u ");
    expect_starts(SAMPLE(""), "");
    (void)message;
}

Test(bpmn, handlers_and_link_catches_are_no_starts)
{
    struct sample sample = sample_read_bytes(
        span_text(SAMPLE("<task id='t'/><task id='h' isForCompensation='true'/><subProcess id='e' "
                         "triggeredByEvent='true'><startEvent "
                         "id='es'><errorEventDefinition/></startEvent></subProcess>"
                         "<intermediateCatchEvent id='l'><linkEventDefinition "
                         "name='L'/></intermediateCatchEvent>")),
        true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    cr_assert_eq(sample_process(&sample)->starts.count, 1);
    cr_expect_eq(sample_process(&sample)->starts.at[0], sample_node(&sample, "t")->index);
    cr_expect_eq(sample_node(&sample, "e")->starts.count, 1);
    sample_free(&sample);
}

Test(bpmn, references_to_nothing_are_errors_that_say_where)
{
    sample_refuse(SAMPLE("<task id='t'/><sequenceFlow id='f' sourceRef='t'/>"),
                  "dangling-reference", "f", "has no targetRef");
    sample_refuse(SAMPLE("<task id='t'/><sequenceFlow id='f' targetRef='t'/>"),
                  "dangling-reference", "f", "has no sourceRef");
    sample_refuse(SAMPLE("<task id='t'/><sequenceFlow id='f' sourceRef='t' targetRef='nope'/>"),
                  "dangling-reference", "f", "leads to \"nope\", which does not exist");
    sample_refuse(
        SAMPLE(
            "<task id='t'/><dataObject id='d'/><sequenceFlow id='f' sourceRef='t' targetRef='d'/>"),
        "dangling-reference", "f", "dataObject \"d\", which is no flow node");
    sample_refuse(SAMPLE("<task id='t'/><sequenceFlow id='f' sourceRef='t' "
                         "targetRef='u'/></process><process id='q'><task id='u'/>"),
                  "dangling-reference", "f", "another process");
    sample_refuse(SAMPLE("<task id='t'><outgoing>gone</outgoing></task>"), "dangling-reference",
                  "t", "\"gone\", which does not exist");
    sample_refuse(SAMPLE("<exclusiveGateway id='g' default='nope'/>"), "dangling-reference", "g",
                  "default flow \"nope\" does not exist");
    sample_refuse(SAMPLE("<exclusiveGateway id='g' default='f'/><task id='t'/><task "
                         "id='u'/><sequenceFlow id='f' sourceRef='t' targetRef='u'/>"),
                  "dangling-reference", "g", "does not leave it");
    sample_refuse(SAMPLE("<boundaryEvent id='b'><errorEventDefinition/></boundaryEvent>"),
                  "dangling-reference", "b", "no attachedToRef");
    sample_refuse(
        SAMPLE("<boundaryEvent id='b' attachedToRef='x'><errorEventDefinition/></boundaryEvent>"),
        "dangling-reference", "b", "does not exist");
    sample_refuse(SAMPLE("<endEvent id='e'/><boundaryEvent id='b' "
                         "attachedToRef='e'><errorEventDefinition/></boundaryEvent>"),
                  "dangling-reference", "b", "no activity");
    sample_refuse(
        SAMPLE("<startEvent id='s'><messageEventDefinition messageRef='m'/></startEvent>"),
        "dangling-reference", "s", "message \"m\"");
    sample_refuse(
        SAMPLE("<startEvent id='s'><eventDefinitionRef>m</eventDefinitionRef></startEvent>"),
        "dangling-reference", "s", "event definition \"m\"");
}

Test(bpmn, flows_where_none_may_be_are_errors)
{
    sample_refuse(
        SAMPLE(
            "<task id='t'/><startEvent id='s'/><sequenceFlow id='f' sourceRef='t' targetRef='s'/>"),
        "illegal-flow", "f", "start event");
    sample_refuse(
        SAMPLE(
            "<task id='t'/><endEvent id='e'/><sequenceFlow id='f' sourceRef='e' targetRef='t'/>"),
        "illegal-flow", "f", "end event");
    sample_refuse(SAMPLE("<task id='t'/><subProcess id='u'><task "
                         "id='v'/></subProcess><sequenceFlow id='f' sourceRef='t' targetRef='v'/>"),
                  "illegal-flow", "f", "border of a sub-process");
    sample_refuse(SAMPLE("<task id='t'/><boundaryEvent id='b' "
                         "attachedToRef='t'><errorEventDefinition/></boundaryEvent><sequenceFlow "
                         "id='f' sourceRef='t' targetRef='b'/>"),
                  "illegal-flow", "f", "boundary event");
}

Test(bpmn, an_id_given_twice_is_refused_and_both_lines_are_named)
{
    sample_refuse(SAMPLE("<task id='t'/>\n<sequenceFlow id='f' sourceRef='t' "
                         "targetRef='t'/>\n<sequenceFlow id='f' sourceRef='t' targetRef='t'/>"),
                  "duplicate-id", "f", "line 4");
    sample_refuse(SAMPLE("<callActivity id='p' calledElement='q'/>"), "duplicate-id", "p",
                  "process of line 2");
    sample_refuse("<definitions " SAMPLE_NAMESPACES
                  " xmlns:di='http://www.omg.org/spec/BPMN/20100524/DI'><process id='p'><task "
                  "id='t'/></process>\n"
                  "<di:BPMNDiagram id='x'><di:BPMNPlane id='y'><di:BPMNShape id='t' "
                  "bpmnElement='t'/></di:BPMNPlane></di:BPMNDiagram></definitions>",
                  "duplicate-id", "t", "task of line 1");
}

Test(bpmn, all_problems_are_reported_and_not_only_the_first)
{
    struct sample sample = sample_read(
        SAMPLE("<task id='t'/><sequenceFlow id='f' sourceRef='a' targetRef='b'/><task id='g' "
               "startQuantity='0'/>"
               "<sequenceFlow id='h' sourceRef='t' targetRef='g'><conditionExpression>=1 "
               "+</conditionExpression></sequenceFlow>"));
    cr_expect_eq(sample.report.errors, 4, "%s", sample_text(&sample));
    cr_expect_not_null(sample_problem(&sample, "malformed-expression", "h"));
    cr_expect_not_null(sample_problem(&sample, "quantity", "g"));
    sample_free(&sample);
}

Test(bpmn, a_file_without_a_process_is_refused_in_words)
{
    sample_refuse("<definitions " SAMPLE_NAMESPACES "/>", "no-process", "", "there is no process");
    sample_refuse("<definitions " SAMPLE_NAMESPACES "><collaboration id='c'/></definitions>",
                  "no-process", "", "only a collaboration");
}

Test(bpmn, a_process_that_is_not_executable_or_has_no_start_is_deployed_with_a_warning)
{
    static const char quiet[] =
        "<definitions " SAMPLE_NAMESPACES
        "><process id='p' isExecutable='false'><task id='t'/></process></definitions>";
    sample_warn(quiet, "not-executable", "p", "isExecutable");
    sample_warn(quiet, "no-start-event", "p", "no start event");
    sample_warn(SAMPLE(""), "no-start-event", "p", "nothing to start with");
}

Test(bpmn, an_empty_id_finds_the_only_executable_process)
{
    struct sample sample =
        sample_accept("<definitions " SAMPLE_NAMESPACES
                      "><process id='a' isExecutable='false'><task id='t'/></process>"
                      "<process id='b' isExecutable='true'><task id='u'/></process></definitions>");
    SAMPLE_EXPECT_TEXT(engine_definition_find(sample.definition, SPAN_EMPTY)->id, "b");
    SAMPLE_EXPECT_TEXT(engine_definition_find(sample.definition, span_text("a"))->id, "a");
    cr_expect_null(engine_definition_find(sample.definition, span_text("c")));
    cr_expect_null(engine_process_node(engine_definition_find(sample.definition, span_text("a")),
                                       span_text("u")));
    sample_free(&sample);
}

Test(bpmn, foreign_elements_are_listed_and_unknown_ones_of_bpmn_refused)
{
    struct sample sample = sample_accept(
        "<definitions " SAMPLE_NAMESPACES " xmlns:acme='urn:acme'><process id='p'><startEvent "
        "id='s'><extensionElements><acme:colour/></extensionElements></startEvent>"
        "<acme:note/></process></definitions>");
    const struct engine_problem *problem = sample_problem(&sample, "ignored-extension", "");
    cr_expect_eq(problem->severity, ENGINE_INFO);
    cr_expect(sample_says(problem, "urn:acme"), "%s", sample_text(&sample));
    cr_expect_eq(sample.report.count, 2, "%s", sample_text(&sample));
    sample_free(&sample);
    sample_refuse(SAMPLE("<magicTask id='m'/>"), "unsupported-element", "m", "no such element");
    sample_refuse(SAMPLE("<task/>"), "no-id", "", "no id");
}

/* ---- conditions ---- */

Test(bpmn, conditions_are_compiled_and_their_errors_have_a_place)
{
    struct sample sample =
        sample_read(SAMPLE("<task id='t'/><task id='u'/><sequenceFlow id='f' sourceRef='t' "
                           "targetRef='u'>\n<conditionExpression>\n a &gt;\n  "
                           ")</conditionExpression></sequenceFlow>"));
    const struct engine_problem *problem = sample_problem(&sample, "malformed-expression", "f");
    cr_assert_not_null(problem, "%s", sample_text(&sample));
    cr_expect_eq(problem->line, 6, "%u", problem->line);
    sample_free(&sample);
    sample_refuse(SAMPLE("<task id='t'/><task id='u'/><sequenceFlow id='f' sourceRef='t' "
                         "targetRef='u'><conditionExpression "
                         "language='groovy'>a</conditionExpression></sequenceFlow>"),
                  "unsupported-expression", "f", "groovy");
}

Test(bpmn, the_condition_of_a_default_or_parallel_flow_is_ignored_with_a_warning)
{
    static const char fork[] =
        SAMPLE("<parallelGateway id='g'/><task id='t'/><sequenceFlow id='f' sourceRef='g' "
               "targetRef='t'><conditionExpression>=((</conditionExpression></sequenceFlow>");
    static const char choice[] = SAMPLE(
        "<exclusiveGateway id='g' default='f'/><task id='t'/><sequenceFlow id='f' sourceRef='g' "
        "targetRef='t'><conditionExpression>=((</conditionExpression></sequenceFlow>");
    sample_warn(fork, "ignored-condition", "f", "parallel gateway");
    sample_warn(choice, "ignored-condition", "f", "default flow");
    struct sample sample = sample_accept(fork);
    cr_expect_null(sample_process(&sample)->flows[0].condition);
    sample_free(&sample);
}

Test(bpmn, a_long_text_is_cut_between_characters)
{
    for (unsigned shift = 0; shift < 4; shift++) {
        struct arena arena;
        arena_init(&arena, 4096, 1 << 20);
        struct span text = arena_format(&arena, "=1 + %.*s", (int)shift, "aaaa");
        for (int i = 0; i < 60; i++) {
            text = arena_format(&arena, "%.*s\xf0\x9f\x98\x80", SPAN_ARG(text));
        }
        struct span file = arena_format(
            &arena,
            SAMPLE("<task id='t'/><task id='u'/><sequenceFlow id='f' sourceRef='t' "
                   "targetRef='u'><conditionExpression>%.*s)</conditionExpression></sequenceFlow>"),
            SPAN_ARG(text));
        struct sample sample = sample_read_bytes(file, false);
        const struct engine_problem *problem = sample_problem(&sample, "malformed-expression", "f");
        cr_expect(sample_says(problem, "\xf0\x9f\x98\x80\u2026`"), "%s", sample_text(&sample));
        sample_free(&sample);
        arena_release(&arena);
    }
}

/* ---- events ---- */

Test(bpmn, event_definitions_are_read_inline_and_by_reference)
{
    struct sample sample = sample_accept(
        "<definitions " SAMPLE_NAMESPACES
        " xmlns:tns='urn:t'><message id='m' name='order'><extensionElements><zeebe:subscription "
        "correlationKey='=key'/></extensionElements></message>"
        "<error id='e' errorCode='E1'/><timerEventDefinition "
        "id='td'><timeDuration>PT5M</timeDuration></timerEventDefinition>"
        "<process id='p'><startEvent id='s'><messageEventDefinition "
        "messageRef='tns:m'/></startEvent>"
        "<intermediateCatchEvent "
        "id='c'><eventDefinitionRef>td</eventDefinitionRef></intermediateCatchEvent>"
        "<task id='t'/><boundaryEvent id='b' attachedToRef='t'><errorEventDefinition errorRef='e' "
        "camunda:errorCodeVariable='code'/></boundaryEvent>"
        "<endEvent id='x'><terminateEventDefinition/></endEvent></process></definitions>");
    const struct engine_node *start = sample_node(&sample, "s");
    cr_assert_eq(start->event_count, 1);
    SAMPLE_EXPECT_TEXT(start->events[0].name, "order");
    SAMPLE_EXPECT_TEXT(sample_source(start->events[0].correlation_key), "=key");
    const struct engine_node *timer = sample_node(&sample, "c");
    cr_assert_eq(timer->event_count, 1);
    cr_expect_eq(timer->events[0].timer, ENGINE_TIMER_DURATION);
    SAMPLE_EXPECT_TEXT(sample_source(timer->events[0].timer_value), "PT5M");
    const struct engine_node *error = sample_node(&sample, "b");
    SAMPLE_EXPECT_TEXT(error->events[0].code, "E1");
    SAMPLE_EXPECT_TEXT(error->events[0].code_variable, "code");
    cr_expect(error->interrupting);
    cr_expect_eq(sample_node(&sample, "x")->events[0].kind, ENGINE_ON_TERMINATE);
    sample_free(&sample);
}

Test(bpmn, an_unknown_error_reference_is_the_code_itself)
{
    static const char file[] = SAMPLE("<startEvent id='s'/><endEvent id='e'><errorEventDefinition "
                                      "errorRef='payment-failed'/></endEvent>");
    sample_warn(file, "no-such-code", "e", "payment-failed");
    struct sample sample = sample_accept(file);
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "e")->events[0].code, "payment-failed");
    sample_free(&sample);
}

Test(bpmn, an_error_boundary_always_interrupts)
{
    static const char file[] =
        SAMPLE("<task id='t'/><boundaryEvent id='b' attachedToRef='t' "
               "cancelActivity='false'><errorEventDefinition/></boundaryEvent>");
    sample_warn(file, "error-interrupts", "b", "always interrupts");
    struct sample sample = sample_accept(file);
    cr_expect(sample_node(&sample, "b")->interrupting);
    sample_free(&sample);
}

/* ---- activities ---- */

Test(bpmn, scripts_in_our_languages_are_compiled_and_others_go_to_a_module)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<scriptTask id='x' scriptFormat='feel'><script>a + 1</script></scriptTask>"));
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "x")->script), "a + 1");
    sample_free(&sample);
    sample =
        sample_accept(SAMPLE_BETWEEN("<scriptTask id='x'><script>${a + 1}</script></scriptTask>"));
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "x")->script), "${a + 1}");
    sample_free(&sample);
    sample = sample_accept(
        SAMPLE_BETWEEN("<scriptTask id='x' scriptFormat='javascript'><script><![CDATA[var a = "
                       "`${b}`;]]></script></scriptTask>"));
    const struct engine_node *node = sample_node(&sample, "x");
    cr_expect_null(node->script);
    SAMPLE_EXPECT_TEXT(node->task_type, "scriptTask");
    SAMPLE_EXPECT_MAPPING(node->headers, "scriptFormat", "javascript");
    SAMPLE_EXPECT_MAPPING(node->headers, "script", "\"var a = `${b}`;\"");
    sample_free(&sample);
}

Test(bpmn, a_call_activity_without_mappings_passes_everything)
{
    struct sample sample =
        sample_accept(SAMPLE_BETWEEN("<callActivity id='x' calledElement='other'/>"));
    const struct engine_node *node = sample_node(&sample, "x");
    SAMPLE_EXPECT_TEXT(sample_source(node->called), "other");
    cr_expect(node->propagate_in && node->propagate_out && node->propagate_all);
    sample_free(&sample);
    sample_refuse(SAMPLE_BETWEEN("<callActivity id='x'/>"), "no-called-element", "x",
                  "which process");
    sample_refuse(SAMPLE_BETWEEN("<callActivity id='x' camunda:caseRef='c'/>"),
                  "unsupported-element", "x", "the case \"c\"");
    sample_refuse("<definitions " SAMPLE_NAMESPACES
                  "><message id='m'/><process id='p'><callActivity id='x' "
                  "calledElement='m'/></process></definitions>",
                  "unsupported-element", "x", "message \"m\"");
}

Test(bpmn, a_global_task_is_a_process_of_one_task_behind_those_of_the_file)
{
    struct sample sample =
        sample_accept("<definitions " SAMPLE_NAMESPACES
                      "><globalScriptTask id='g' name='G' scriptLanguage='feel'><script>1</script>"
                      "</globalScriptTask><globalUserTask id='h'/><process id='p'>"
                      "<startEvent id='s'/></process></definitions>");
    const struct engine_definition *definition = sample.definition;
    cr_assert_eq(definition->process_count, 3);
    SAMPLE_EXPECT_TEXT(engine_definition_find(definition, SPAN_EMPTY)->id, "p");
    const struct engine_process *process = engine_definition_find(definition, span_text("g"));
    cr_expect(process->is_global_task && !process->executable);
    SAMPLE_EXPECT_TEXT(process->name, "G");
    cr_assert_eq(process->node_count, 1);
    cr_expect_eq(process->nodes[0].kind, ENGINE_SCRIPT_TASK);
    SAMPLE_EXPECT_TEXT(process->nodes[0].id, "g");
    SAMPLE_EXPECT_TEXT(process->nodes[0].script_format, "feel");
    cr_expect_eq(process->starts.count, 1);
    process = engine_definition_find(definition, span_text("h"));
    cr_expect_eq(process->nodes[0].kind, ENGINE_USER_TASK);
    cr_expect_eq(sample.report.count, 0, "%s", sample_text(&sample));
    sample_free(&sample);
    sample = sample_accept("<definitions " SAMPLE_NAMESPACES "><globalTask id='g'/></definitions>");
    SAMPLE_EXPECT_TEXT(engine_definition_find(sample.definition, SPAN_EMPTY)->id, "g");
    sample_free(&sample);
}

Test(bpmn, loop_markers_are_read)
{
    struct sample sample = sample_read_bytes(
        span_text(SAMPLE(
            "<task id='a'><standardLoopCharacteristics testBefore='true' "
            "loopMaximum='3'><loopCondition>=more</loopCondition></standardLoopCharacteristics></"
            "task>"
            "<task id='b'><multiInstanceLoopCharacteristics "
            "isSequential='true'><loopCardinality>5</loopCardinality><completionCondition>=done</"
            "completionCondition></multiInstanceLoopCharacteristics></task>"
            "<task id='c'><multiInstanceLoopCharacteristics camunda:collection='items' "
            "camunda:elementVariable='item'/></task>"
            "<task "
            "id='d'><multiInstanceLoopCharacteristics><extensionElements><zeebe:"
            "loopCharacteristics inputCollection='=items' inputElement='i' outputCollection='os' "
            "outputElement='=o'/></extensionElements></multiInstanceLoopCharacteristics></task>")),
        true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    const struct engine_loop *a = &sample_node(&sample, "a")->loop;
    cr_expect(a->kind == ENGINE_LOOP_STANDARD && a->test_before);
    SAMPLE_EXPECT_TEXT(sample_source(a->maximum), "3");
    SAMPLE_EXPECT_TEXT(sample_source(a->condition), "=more");
    const struct engine_loop *b = &sample_node(&sample, "b")->loop;
    cr_expect_eq(b->kind, ENGINE_LOOP_SEQUENTIAL);
    SAMPLE_EXPECT_TEXT(sample_source(b->cardinality), "5");
    const struct engine_loop *c = &sample_node(&sample, "c")->loop;
    cr_expect_eq(c->kind, ENGINE_LOOP_PARALLEL);
    SAMPLE_EXPECT_TEXT(sample_source(c->collection), "items");
    SAMPLE_EXPECT_TEXT(c->element_variable, "item");
    const struct engine_loop *d = &sample_node(&sample, "d")->loop;
    SAMPLE_EXPECT_TEXT(sample_source(d->collection), "=items");
    SAMPLE_EXPECT_TEXT(sample_source(d->output_element), "=o");
    SAMPLE_EXPECT_TEXT(d->output_collection, "os");
    sample_free(&sample);
}
