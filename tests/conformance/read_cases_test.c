/*
 * Every drawing from outside (../shared/cases) through the reader: none is misread, and each is
 * deployed or refused for what is in it. Where that folder is absent the tests say so and are
 * skipped.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/read/read.h"
#include "proto/base/limits.h"

static const char folder[] = "../shared/cases";

/*
 * What a deploy refuses each file for, in the order of the report: the element of each
 * "unsupported-element", or the rule of any other error. An element that is executed from now on
 * changes its rows here.
 */
static const struct {
    const char *file;
    const char *refused;
} cases[] = {
    {"miwg/A.1.0.bpmn", ""},
    {"miwg/A.2.0.bpmn", ""},
    {"miwg/A.2.1.bpmn", ""},
    {"miwg/A.3.0.bpmn", ""},
    {"miwg/A.4.0.bpmn", ""},
    {"miwg/A.4.1.bpmn", ""},
    {"miwg/B.1.0.bpmn", "timer "},
    {"miwg/B.2.0.bpmn", "timer "},
    {"miwg/C.1.0.bpmn", "timer "},
    {"miwg/C.1.1.bpmn", "malformed-expression "},
    {"miwg/C.2.0.bpmn", ""},
    {"miwg/C.3.0.bpmn", "malformed-expression "},
    {"miwg/C.4.0.bpmn", ""},
    {"miwg/C.5.0.bpmn", ""},
    {"miwg/C.6.0.bpmn", "timer "},
    {"miwg/C.7.0.bpmn", ""},
    {"miwg/C.8.0.bpmn", ""},
    {"miwg/C.8.1.bpmn", ""},
    {"miwg/C.9.0.bpmn", ""},
    {"miwg/C.9.1.bpmn", ""},
    {"miwg/C.9.2.bpmn", ""},
    {"practice/TwitterDemoProcess.bpmn", ""},
    {"practice/asynchronousServiceInvocation.bpmn", ""},
    {"practice/camunda-testing-job-announcement.bpmn", ""},
    {"practice/exampleProcess.bpmn", ""},
    {"practice/instantiating_process.bpmn", ""},
    {"practice/invoiceApproval.bpmn", ""},
    {"practice/loan-granting.bpmn", "serviceTask "},
    {"practice/loanApproval.bpmn", ""},
    {"practice/mainProcess.bpmn", ""},
    {"practice/message_start_process.bpmn", ""},
    {"practice/order-handling.bpmn", ""},
    {"practice/retry-example.bpmn", ""},
    {"practice/subProcess.bpmn", ""},
    {"lib-bpmn-engine/exclusive-gateway-multiple-tasks-no-default.bpmn", ""},
    {"lib-bpmn-engine/exclusive-gateway-multiple-tasks.bpmn", ""},
    {"lib-bpmn-engine/exclusive-gateway-with-condition-and-default.bpmn", ""},
    {"lib-bpmn-engine/exclusive-gateway-with-condition.bpmn", ""},
    {"lib-bpmn-engine/fork-controlled-exclusive-join.bpmn", ""},
    {"lib-bpmn-engine/fork-controlled-parallel-join.bpmn", ""},
    {"lib-bpmn-engine/fork-uncontrolled-join.bpmn", ""},
    {"lib-bpmn-engine/forked-flow.bpmn", ""},
    {"lib-bpmn-engine/inclusive-gateway-multiple-tasks.bpmn", ""},
    {"lib-bpmn-engine/inclusive-gateway-with-condition-and-default.bpmn", ""},
    {"lib-bpmn-engine/inclusive-gateway-with-condition.bpmn", ""},
    {"lib-bpmn-engine/message-EventBasedGateway.bpmn", ""},
    {"lib-bpmn-engine/message-intermediate-catch-event-and-parallel-tasks.bpmn", ""},
    {"lib-bpmn-engine/message-intermediate-catch-event.bpmn", ""},
    {"lib-bpmn-engine/message-intermediate-invalid-timer-event.bpmn", "timer "},
    {"lib-bpmn-engine/message-intermediate-timer-event-expression.bpmn", ""},
    {"lib-bpmn-engine/message-intermediate-timer-event-invalid-expression.bpmn", ""},
    {"lib-bpmn-engine/message-intermediate-timer-event.bpmn", ""},
    {"lib-bpmn-engine/message-multiple-intermediate-catch-events-exclusive.bpmn", ""},
    {"lib-bpmn-engine/message-multiple-intermediate-catch-events-merged.bpmn", ""},
    {"lib-bpmn-engine/message-multiple-intermediate-catch-events-parallel.bpmn", ""},
    {"lib-bpmn-engine/message-multiple-intermediate-catch-events.bpmn", ""},
    {"lib-bpmn-engine/parallel-gateway-flow.bpmn", ""},
    {"lib-bpmn-engine/service-task-input-output.bpmn", ""},
    {"lib-bpmn-engine/service-task-invalid-input.bpmn", "malformed-expression "},
    {"lib-bpmn-engine/service-task-invalid-output.bpmn", "malformed-expression "},
    {"lib-bpmn-engine/simple-count-loop-with-message.bpmn", ""},
    {"lib-bpmn-engine/simple-count-loop.bpmn", ""},
    {"lib-bpmn-engine/simple-intermediate-message-catch-event-broken.bpmn", ""},
    {"lib-bpmn-engine/simple-intermediate-message-catch-event.bpmn", ""},
    {"lib-bpmn-engine/simple-link-event-broken.bpmn", "link "},
    {"lib-bpmn-engine/simple-link-event-output-variables.bpmn", ""},
    {"lib-bpmn-engine/simple-link-events.bpmn", ""},
    {"lib-bpmn-engine/simple-task-with-type.bpmn", ""},
    {"lib-bpmn-engine/simple-user-task.bpmn", ""},
    {"lib-bpmn-engine/simple_task-no_output_mapping.bpmn", ""},
    {"lib-bpmn-engine/simple_task-with_output_mapping.bpmn", ""},
    {"lib-bpmn-engine/simple_task.bpmn", ""},
    {"lib-bpmn-engine/simple_task_modified_taskId.bpmn", ""},
    {"lib-bpmn-engine/simple_task_v2.bpmn", ""},
    {"lib-bpmn-engine/subprocess-fork-controlled-exclusive-join.bpmn", ""},
    {"lib-bpmn-engine/subprocess-fork-controlled-parallel-join.bpmn", ""},
    {"lib-bpmn-engine/subprocess-message-multiple-intermediate-catch-events-exclusive.bpmn", ""},
    {"lib-bpmn-engine/subprocess-simple-link-events.bpmn", ""},
    {"lib-bpmn-engine/subprocess-with-gateways.bpmn", ""},
    {"lib-bpmn-engine/subprocess.bpmn", ""},
    {"lib-bpmn-engine/user-tasks-with-assignments.bpmn", ""},
    {"lib-bpmn-engine/user-tasks-with-parallel-gateways.bpmn", ""},
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* The file's bytes, to be freed; the test is skipped when the folder of cases is not there. */
static struct span load(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/README.md", folder);
    FILE *readme = fopen(path, "rb");
    if (readme == NULL) {
        cr_skip_test("no %s: %s is not read", folder, name);
    }
    (void)fclose(readme);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    uint8_t *bytes = malloc(LIMIT_DEFINITION_BYTES);
    cr_assert_not_null(bytes);
    size_t count = fread(bytes, 1, LIMIT_DEFINITION_BYTES, file);
    (void)fclose(file);
    return span_of(bytes, count);
}

static const char *text_of(const struct engine_report *report, enum engine_severity least)
{
    static struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    struct span text = engine_report_text(report, least, &arena);
    return (const char *)arena_copy(&arena, text).bytes;
}

Test(cases, every_file_is_read_without_a_false_error)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        struct span content = load(cases[i].file);
        struct engine_report report;
        struct engine_definition *definition = NULL;
        engine_report_init(&report, span_text(cases[i].file));
        enum result result =
            engine_read_lenient(span_text(cases[i].file), content, &report, &definition);
        cr_expect_eq(result, RESULT_OK, "%s", text_of(&report, ENGINE_ERROR));
        cr_expect(definition == NULL || definition->process_count > 0, "%s", cases[i].file);
        engine_definition_free(definition);
        engine_report_release(&report);
        free((void *)(uintptr_t)content.bytes);
    }
}

/* Appends a word unless it is there. */
static void note(char *words, size_t room, struct span word)
{
    char padded[64];
    (void)snprintf(padded, sizeof padded, "%.*s ", SPAN_ARG(word));
    if (strstr(words, padded) == NULL) {
        (void)strncat(words, padded, room - strlen(words) - 1);
    }
}

static void list_refused(const struct engine_report *report, char *words, size_t room)
{
    words[0] = '\0';
    for (uint32_t i = 0; i < report->count; i++) {
        const struct engine_problem *problem = &report->problems[i];
        /* What the expression language has is not the reader's matter. */
        if (problem->severity != ENGINE_ERROR ||
            strcmp(problem->rule, "unsupported-expression") == 0) {
            continue;
        }
        if (strcmp(problem->rule, "unsupported-element") == 0) {
            const uint8_t *end = memchr(problem->message.bytes, ' ', problem->message.count);
            cr_assert_not_null(end);
            note(words, room,
                 span_of(problem->message.bytes, (size_t)(end - problem->message.bytes)));
        } else {
            note(words, room, span_text(problem->rule));
        }
    }
}

Test(cases, each_file_is_deployed_or_refused_for_what_is_in_it)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        struct span content = load(cases[i].file);
        struct engine_report report;
        struct engine_definition *definition = NULL;
        char refused[512];
        engine_report_init(&report, span_text(cases[i].file));
        enum result result = engine_read(span_text(cases[i].file), content, &report, &definition);
        list_refused(&report, refused, sizeof refused);
        cr_expect_str_eq(refused, cases[i].refused, "%s is refused for \"%s\": %s", cases[i].file,
                         refused, text_of(&report, ENGINE_ERROR));
        cr_expect_eq(result == RESULT_OK, report.errors == 0, "%s", cases[i].file);
        engine_definition_free(definition);
        engine_report_release(&report);
        free((void *)(uintptr_t)content.bytes);
    }
}

Test(cases, a_message_start_process_is_begun_at_its_message_event)
{
    struct span content = load("practice/message_start_process.bpmn");
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, span_text("f"));
    cr_assert_eq(engine_read(span_text("f"), content, &report, &definition), RESULT_OK);
    const struct engine_process *process = engine_definition_find(definition, SPAN_EMPTY);
    cr_assert_eq(process->starts.count, 1);
    cr_expect(span_is(process->nodes[process->starts.at[0]].id, "StartEvent_1"));
    cr_expect(
        span_is(process->nodes[process->starts.at[0]].events[0].name, "instantiationMessage"));
    engine_definition_free(definition);
    engine_report_release(&report);
    free((void *)(uintptr_t)content.bytes);
}
