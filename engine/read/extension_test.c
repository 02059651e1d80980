/*
 * The vendors' extensions: what each writes for the same thing.
 */
#include "engine/read/extension.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"

Test(extension, the_task_type_is_the_explicit_one_else_the_name_of_the_element)
{
    static const struct {
        const char *file;
        const char *type;
        bool is_explicit;
    } rows[] = {
        {SAMPLE_BETWEEN("<serviceTask id='x'/>"), "serviceTask", false},
        {SAMPLE_BETWEEN("<userTask id='x'/>"), "userTask", false},
        {SAMPLE_BETWEEN("<serviceTask id='x'><extensionElements><zeebe:taskDefinition type='pay' "
                        "retries='5'/></extensionElements></serviceTask>"),
         "pay", true},
        {SAMPLE_BETWEEN("<serviceTask id='x' camunda:type='external' camunda:topic='pay'/>"), "pay",
         true},
        {SAMPLE_BETWEEN("<serviceTask id='x' camunda:type='mail'/>"), "mail", true},
        {SAMPLE_BETWEEN("<serviceTask id='x' camunda:type='external'/>"), "serviceTask", false},
        {SAMPLE_BETWEEN("<serviceTask id='x' strider:type='pay'/>"), "pay", true},
        {SAMPLE_BETWEEN("<serviceTask id='x' camunda:class='org.acme.Pay'/>"), "serviceTask",
         false},
        {SAMPLE_BETWEEN("<serviceTask id='x' xmlns:a='http://activiti.org/bpmn' a:type='mail'/>"),
         "mail", true},
        {SAMPLE_BETWEEN("<serviceTask id='x' xmlns:f='http://flowable.org/bpmn' "
                        "f:type='external-worker' f:topic='pay'/>"),
         "pay", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sample sample = sample_accept(rows[i].file);
        SAMPLE_EXPECT_TEXT(sample_node(&sample, "x")->task_type, rows[i].type);
        cr_expect_eq(sample_node(&sample, "x")->task_type_explicit, rows[i].is_explicit, "row %zu",
                     i);
        sample_free(&sample);
    }
}

Test(extension, a_task_type_may_be_an_expression)
{
    static const char *const types[] = {"=t", "${t}", "=t"};
    static const char *const files[] = {
        SAMPLE_BETWEEN("<serviceTask id='x'><extensionElements><zeebe:taskDefinition type='=t'/>"
                       "</extensionElements></serviceTask>"),
        SAMPLE_BETWEEN("<serviceTask id='x' camunda:type='external' camunda:topic='${t}'/>"),
        SAMPLE_BETWEEN("<serviceTask id='x' strider:type='=t'/>"),
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct sample sample = sample_accept(files[i]);
        SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "x")->task_type_value), types[i]);
        cr_expect(sample_node(&sample, "x")->task_type_explicit, "file %zu", i);
        sample_free(&sample);
    }
}

Test(extension, what_would_change_what_happens_is_a_warning)
{
    static const char text[] = SAMPLE_BETWEEN(
        "<userTask id='x' camunda:followUpDate='d'><extensionElements><camunda:taskListener "
        "event='create' class='L'/><camunda:executionListener event='end' class='L'/>"
        "</extensionElements></userTask>");
    struct sample sample = sample_accept(text);
    uint32_t warnings = 0;
    for (uint32_t i = 0; i < sample.report.count; i++) {
        const struct engine_problem *problem = &sample.report.problems[i];
        cr_expect_str_eq(problem->rule, "ignored-extension");
        warnings += problem->severity == ENGINE_WARNING;
        cr_expect_eq(problem->severity == ENGINE_WARNING, sample_says(problem, "Listener"));
        cr_expect_eq(problem->severity == ENGINE_WARNING, sample_says(problem, "userTask \"x\""));
    }
    cr_expect_eq(sample.report.count, 3, "%s", sample_text(&sample));
    cr_expect_eq(warnings, 2);
    sample_free(&sample);
}

Test(extension, every_kind_of_listener_is_told_with_an_element_that_has_it)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<userTask id='x'><extensionElements><zeebe:userTask/><zeebe:executionListeners>"
        "<zeebe:executionListener eventType='start' type='audit'/></zeebe:executionListeners>"
        "<zeebe:taskListeners><zeebe:taskListener eventType='creating' type='l'/>"
        "</zeebe:taskListeners></extensionElements></userTask><serviceTask id='y'>"
        "<extensionElements><zeebe:executionListeners/></extensionElements></serviceTask>"));
    cr_assert_eq(sample.report.count, 3, "%s", sample_text(&sample));
    cr_expect_str_eq(sample.report.problems[2].rule, "unreachable");
    for (uint32_t i = 0; i < 2; i++) {
        const struct engine_problem *problem = &sample.report.problems[i];
        cr_expect_str_eq(problem->rule, "ignored-extension");
        cr_expect_eq(problem->severity, ENGINE_WARNING);
        cr_expect(span_is(problem->element, "x"));
        cr_expect(sample_says(problem, i == 0 ? "\"executionListeners\"" : "\"taskListeners\""));
        cr_expect(sample_says(problem, i == 0 ? "(2 in all)" : "(1 in all)"));
    }
    sample_free(&sample);
}

Test(extension, a_listener_is_told_behind_however_many_kinds_of_no_matter)
{
    static const char end[] = "<camunda:taskListener event='create' class='L'/></extensionElements>"
                              "</userTask>";
    char elements[4096] = "<userTask id='x'><extensionElements>";
    size_t at = strlen(elements);
    for (int i = 0; i < 70; i++) {
        at += (size_t)snprintf(elements + at, sizeof elements - at, "<camunda:kind%d/>", i);
    }
    char text[8192];
    (void)snprintf(elements + at, sizeof elements - at, "%s", end);
    (void)snprintf(text, sizeof text, SAMPLE_BETWEEN("%s"), elements);
    struct sample sample = sample_accept(text);
    const struct engine_problem *problem = sample_problem(&sample, "ignored-extension", "x");
    cr_expect_eq(problem->severity, ENGINE_WARNING);
    cr_expect(sample_says(problem, "\"taskListener\""));
    cr_expect(
        sample_says(&sample.report.problems[sample.report.count - 1], "and 6 more of other kinds"),
        "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(extension, zeebe_mappings_headers_and_retries)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<serviceTask id='x'><extensionElements><zeebe:taskDefinition type='pay' retries='5'/>"
        "<zeebe:ioMapping><zeebe:input source='=order.total' target='amount'/><zeebe:input "
        "source='EUR' target='to.currency'/><zeebe:output source='=receipt' "
        "target='paid'/></zeebe:ioMapping>"
        "<zeebe:taskHeaders><zeebe:header key='url' value='=not an expression'/><zeebe:header "
        "key='empty' value=''/></zeebe:taskHeaders></extensionElements></serviceTask>"));
    const struct engine_node *node = sample_node(&sample, "x");
    cr_expect_eq(node->inputs.count, 2);
    SAMPLE_EXPECT_MAPPING(node->inputs, "amount", "=order.total");
    SAMPLE_EXPECT_MAPPING(node->inputs, "to.currency", "EUR");
    SAMPLE_EXPECT_MAPPING(node->outputs, "paid", "=receipt");
    SAMPLE_EXPECT_MAPPING(node->headers, "url", "\"=not an expression\"");
    SAMPLE_EXPECT_MAPPING(node->headers, "empty", "\"\"");
    SAMPLE_EXPECT_TEXT(sample_source(node->retries), "5");
    sample_free(&sample);
}

Test(extension, zeebe_human_tasks_scripts_calls_and_decisions)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<userTask id='x'><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition "
        "assignee='=owner' candidateGroups='a,b' candidateUsers='u'/>"
        "<zeebe:taskSchedule dueDate='=due'/><zeebe:formDefinition "
        "formId='form-1'/></extensionElements></userTask>"
        "<scriptTask id='s'><extensionElements><zeebe:script expression='=1 + 2' "
        "resultVariable='three'/></extensionElements></scriptTask>"
        "<callActivity id='c'><extensionElements><zeebe:calledElement processId='sub' "
        "propagateAllChildVariables='false'/></extensionElements></callActivity>"
        "<businessRuleTask id='d'><extensionElements><zeebe:calledDecision decisionId='dish' "
        "resultVariable='menu'/></extensionElements></businessRuleTask>"));
    const struct engine_assignment *assignment = &sample_node(&sample, "x")->assignment;
    SAMPLE_EXPECT_TEXT(sample_source(assignment->assignee), "=owner");
    SAMPLE_EXPECT_TEXT(sample_source(assignment->candidate_groups), "a,b");
    SAMPLE_EXPECT_TEXT(sample_source(assignment->candidate_users), "u");
    SAMPLE_EXPECT_TEXT(sample_source(assignment->due_date), "=due");
    SAMPLE_EXPECT_TEXT(assignment->form_key, "form-1");
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "s")->script), "=1 + 2");
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "s")->result_variable, "three");
    const struct engine_node *call = sample_node(&sample, "c");
    SAMPLE_EXPECT_TEXT(sample_source(call->called), "sub");
    cr_expect(call->propagate_in && !call->propagate_out && !call->propagate_all);
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "d")->headers, "decisionId", "dish");
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "d")->result_variable, "menu");
    cr_expect_null(sample_problem(&sample, "ignored-extension", ""), "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(extension, camunda_java_code_goes_to_a_module_with_its_name)
{
    struct sample sample = sample_accept(SAMPLE(
        "<serviceTask id='a' camunda:class='org.acme.Pay'><extensionElements><camunda:field "
        "name='to'><camunda:string>${x}</camunda:string></camunda:field>"
        "<camunda:field "
        "name='body'><camunda:expression>${text}</camunda:expression></"
        "camunda:field><camunda:field name='n' stringValue='v'/></extensionElements></serviceTask>"
        "<serviceTask id='b' camunda:delegateExpression='#{adapter}'/>"
        "<serviceTask id='c' camunda:expression='${bean.pay(order)}'/>"
        "<serviceTask id='d' camunda:expression='${order.total * 2}' "
        "camunda:resultVariable='twice'/>"
        "<serviceTask id='e' camunda:expression=\"${execution.getVariable('a.b(')}\"/>"
        "<userTask id='f' camunda:assignee='${finder.find(order)}' camunda:candidateGroups='sales, "
        "${group}'/>"));
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "a")->headers, "class", "org.acme.Pay");
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "a")->headers, "to", "\"${x}\"");
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "a")->headers, "body", "${text}");
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "a")->headers, "n", "v");
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "b")->headers, "delegateExpression",
                          "\"#{adapter}\"");
    SAMPLE_EXPECT_MAPPING(sample_node(&sample, "c")->headers, "expression",
                          "\"${bean.pay(order)}\"");
    cr_expect_null(sample_node(&sample, "c")->script);
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "d")->script), "${order.total * 2}");
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "d")->result_variable, "twice");
    cr_expect_not_null(sample_node(&sample, "e")->script);
    cr_expect_null(sample_node(&sample, "f")->assignment.assignee);
    cr_expect_not_null(sample_node(&sample, "f")->assignment.candidate_groups);
    cr_expect(sample_says(sample_problem(&sample, "bean-call", "f"), "finder"), "%s",
              sample_text(&sample));
    sample_free(&sample);
}

Test(extension, camunda_inputs_and_outputs_of_every_shape)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<serviceTask id='x' camunda:type='external' "
        "camunda:topic='t'><extensionElements><camunda:inputOutput>"
        "<camunda:inputParameter name='text'>Hello ${name}</camunda:inputParameter>"
        "<camunda:inputParameter name='nothing'/>"
        "<camunda:inputParameter "
        "name='list'><camunda:list><camunda:value>a</camunda:value><camunda:value>say "
        "\"b\"</camunda:value></camunda:list></camunda:inputParameter>"
        "<camunda:inputParameter name='map'><camunda:map><camunda:entry "
        "key='k'>v</camunda:entry></camunda:map></camunda:inputParameter>"
        "<camunda:inputParameter name='mixed'><camunda:map><camunda:entry "
        "key='k'>${v}</camunda:entry><camunda:entry "
        "key='l'>w</camunda:entry></camunda:map></camunda:inputParameter>"
        "<camunda:inputParameter name='script'><camunda:script scriptFormat='feel'>1 + "
        "1</camunda:script></camunda:inputParameter>"
        "<camunda:outputParameter name='result'>${answer}</camunda:outputParameter>"
        "</camunda:inputOutput><camunda:failedJobRetryTimeCycle>R7/PT1M</"
        "camunda:failedJobRetryTimeCycle>"
        "<camunda:properties><camunda:property name='profile' "
        "value='CRM'/></camunda:properties></extensionElements></serviceTask>"));
    const struct engine_node *node = sample_node(&sample, "x");
    SAMPLE_EXPECT_MAPPING(node->inputs, "text", "Hello ${name}");
    SAMPLE_EXPECT_MAPPING(node->inputs, "nothing", "null");
    SAMPLE_EXPECT_MAPPING(node->inputs, "list", "[\"a\", \"say \\\"b\\\"\"]");
    SAMPLE_EXPECT_MAPPING(node->inputs, "map", "{\"k\": \"v\"}");
    SAMPLE_EXPECT_MAPPING(node->inputs, "mixed.k", "${v}");
    SAMPLE_EXPECT_MAPPING(node->inputs, "mixed.l", "w");
    SAMPLE_EXPECT_MAPPING(node->inputs, "script", "1 + 1");
    SAMPLE_EXPECT_MAPPING(node->outputs, "result", "${answer}");
    SAMPLE_EXPECT_MAPPING(node->headers, "profile", "CRM");
    SAMPLE_EXPECT_TEXT(sample_source(node->retries), "7");
    sample_free(&sample);
    sample_refuse(
        SAMPLE_BETWEEN(
            "<task id='x'><extensionElements><camunda:inputOutput><camunda:inputParameter "
            "name='i'><camunda:script "
            "scriptFormat='javascript'>x</camunda:script></camunda:inputParameter></"
            "camunda:inputOutput></extensionElements></task>"),
        "unsupported-element", "x", "javascript");
    sample_refuse(
        SAMPLE_BETWEEN(
            "<task id='x'><extensionElements><camunda:inputOutput><camunda:inputParameter "
            "name='i'><camunda:list><camunda:value>${a}</camunda:value></camunda:list></"
            "camunda:inputParameter></camunda:inputOutput></extensionElements></task>"),
        "unsupported-element", "x", "list with expressions");
}

Test(extension, camunda_calls_pass_only_what_they_declare)
{
    struct sample sample = sample_accept(
        SAMPLE("<callActivity id='a' calledElement='s'><extensionElements><camunda:in "
               "source='order' target='o'/><camunda:in sourceExpression='${n + 1}' "
               "target='n'/><camunda:in businessKey='${key}'/>"
               "<camunda:out source='r' target='result'/></extensionElements></callActivity>"
               "<callActivity id='b' calledElement='s'><extensionElements><camunda:in "
               "variables='all'/></extensionElements></callActivity>"));
    const struct engine_node *a = sample_node(&sample, "a");
    SAMPLE_EXPECT_MAPPING(a->inputs, "o", "order");
    SAMPLE_EXPECT_MAPPING(a->inputs, "n", "${n + 1}");
    SAMPLE_EXPECT_MAPPING(a->inputs, "businessKey", "${key}");
    SAMPLE_EXPECT_MAPPING(a->outputs, "result", "r");
    cr_expect(!a->propagate_in && !a->propagate_out && !a->propagate_all);
    const struct engine_node *b = sample_node(&sample, "b");
    cr_expect(b->propagate_in && !b->propagate_out);
    sample_free(&sample);
}

Test(extension, our_own)
{
    struct sample sample = sample_accept(SAMPLE_BETWEEN(
        "<userTask id='x' strider:type='review' strider:retries='4' strider:assignee='=owner' "
        "strider:candidateGroups='a' strider:candidateUsers='b' strider:dueDate='=d' "
        "strider:formKey='f'"
        " strider:resultVariable='r' strider:correlationKey='=k'>"
        "<extensionElements><strider:input source='=a' target='b'/><strider:output source='=c' "
        "target='d'/><strider:header key='url' value='=base'/></extensionElements></userTask>"));
    const struct engine_node *node = sample_node(&sample, "x");
    SAMPLE_EXPECT_TEXT(node->task_type, "review");
    SAMPLE_EXPECT_TEXT(sample_source(node->retries), "4");
    SAMPLE_EXPECT_TEXT(sample_source(node->assignment.assignee), "=owner");
    SAMPLE_EXPECT_TEXT(sample_source(node->assignment.due_date), "=d");
    SAMPLE_EXPECT_TEXT(node->assignment.form_key, "f");
    SAMPLE_EXPECT_TEXT(node->result_variable, "r");
    SAMPLE_EXPECT_TEXT(sample_source(node->correlation_key), "=k");
    SAMPLE_EXPECT_MAPPING(node->inputs, "b", "=a");
    SAMPLE_EXPECT_MAPPING(node->outputs, "d", "=c");
    SAMPLE_EXPECT_MAPPING(node->headers, "url", "=base");
    cr_expect_eq(sample.report.count, 0, "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(extension, what_nobody_reads_is_listed_once_a_kind)
{
    struct sample sample = sample_accept(SAMPLE(
        "<startEvent id='s' "
        "camunda:initiator='me'><extensionElements><camunda:formData/></extensionElements></"
        "startEvent>"
        "<task id='t' "
        "camunda:priority='1'><extensionElements><camunda:formData/></extensionElements></task>"));
    uint32_t listed = 0;
    for (uint32_t i = 0; i < sample.report.count; i++) {
        listed += strcmp(sample.report.problems[i].rule, "ignored-extension") == 0;
    }
    cr_expect_eq(listed, 3, "%s", sample_text(&sample));
    cr_expect(sample_says(sample_problem(&sample, "ignored-extension", ""), "2 in all"), "%s",
              sample_text(&sample));
    sample_free(&sample);
}

/* As in the vendor's engine; but nobody should believe that it counts. */
Test(extension, a_version_beside_a_binding_to_the_newest_is_told_as_ignored)
{
    static const char *const files[] = {
        SAMPLE("<businessRuleTask id='t' camunda:decisionRef='d' camunda:decisionRefVersion='2'/>"),
        SAMPLE("<businessRuleTask id='t' camunda:decisionRef='d' "
               "camunda:decisionRefBinding='latest' camunda:decisionRefVersion='2'/>"),
        SAMPLE("<callActivity id='t' calledElement='c' camunda:calledElementVersion='2'/>"),
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct sample sample = sample_accept(files[i]);
        const struct engine_node *node = sample_node(&sample, "t");
        cr_expect_null(node->rule.version, "file %zu", i);
        cr_expect_eq(node->called_version, 0, "file %zu", i);
        cr_expect(sample_says(sample_problem(&sample, "ignored-extension", ""),
                              i == 2 ? "\"calledElementVersion\"" : "\"decisionRefVersion\""));
        sample_free(&sample);
    }
}

#define DECIDE(attributes)                                                                         \
    SAMPLE("<businessRuleTask id='t' camunda:decisionRef='d' " attributes "/>")

Test(extension, a_decision_is_bound_to_what_can_be_looked_up)
{
    sample_refuse(DECIDE("camunda:decisionRefBinding='version'"), "decision-binding", "t",
                  "none is named");
    sample_refuse(DECIDE("camunda:decisionRefBinding='versionTag'"), "unsupported-element", "t",
                  "bound by \"versionTag\"");
    struct sample sample = sample_accept(
        DECIDE("camunda:decisionRefBinding='version' camunda:decisionRefVersion='2'"));
    cr_expect_not_null(sample_node(&sample, "t")->rule.version);
    sample_free(&sample);
    sample = sample_accept(DECIDE("camunda:decisionRefBinding='deployment'"));
    const struct engine_problem *problem = sample_problem(&sample, "decision-binding", "t");
    cr_expect_eq(problem->severity, ENGINE_WARNING);
    cr_expect(sample_says(problem, "newest version of the decision"));
    sample_free(&sample);
}
