/*
 * Module calls: what is sent, what each answer means, retries (interfaces.md 3, engine.md 8).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "tests/conformance/world.h"

static const char one_service[] =
    WORLD_BPMN(START("s") SERVICE("a") END("e") FLOW("s", "a") FLOW("a", "e"));

#define SVC(fields) "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/svc\"," fields "}]"

static void open_and_start(struct world *world, const char *bpmn, const char *modules,
                           const char *execution)
{
    world_open(world, bpmn, modules);
    world_start(world, "{\"orderId\":7}", execution);
}

Test(module, is_sent_the_whole_context_of_the_step)
{
    struct world world;
    open_and_start(&world, one_service, NULL, "{\"x\":1}");

    cr_expect_str_eq(world_call_value(&world, "a", "phase"), "\"execute\"");
    cr_expect_str_eq(world_call_value(&world, "a", "executionId"),
                     "\"01930000-0000-7000-8000-000000000001\"");
    cr_expect_str_eq(world_call_value(&world, "a", "sequence"), "2");
    cr_expect_str_eq(world_call_value(&world, "a", "attempt"), "1");
    cr_expect_str_eq(world_call_value(&world, "a", "taskType"), "\"svc\"");
    cr_expect_str_eq(world_call_value(&world, "a", "request.orderId"), "7");
    cr_expect_str_eq(world_call_value(&world, "a", "execution.x"), "1");
    cr_expect_str_eq(world_call_value(&world, "a", "context"), "{}");
    cr_expect_str_eq(world_call_value(&world, "a", "channel"), "null");
    cr_expect_eq(world.calls[0].call.idempotency_key.count, 36);
    cr_expect_eq(world.calls[0].call.traceparent.count, 55);
    world_close(&world);
}

Test(module, reply_is_merged_key_by_key_into_each_payload)
{
    struct world world;
    open_and_start(&world, one_service, NULL, "{\"keep\":1,\"change\":1,\"drop\":1}");

    world_answer(
        &world, "a", 200,
        "{\"output\":\"yes\",\"outputs\":{\"total\":12},\"response\":{\"text\":\"hi\"},\"context\":"
        "{\"c\":1},"
        "\"module\":{\"m\":2},\"execution\":{\"change\":2,\"add\":3,\"$unset\":[\"drop\"]},"
        "\"conversation\":[{\"role\":\"user\",\"content\":\"hello\"}],\"logs\":[{\"level\":"
        "\"WARN\",\"message\":\"careful\"}]}");

    cr_expect_str_eq(world_value(&world, "execution"), "{\"keep\":1,\"change\":2,\"add\":3}");
    cr_expect_str_eq(world_value(&world, "nodes.a.total"), "12");
    cr_expect_str_eq(world_value(&world, "response.text"), "\"hi\"");
    cr_expect_str_eq(world_value(&world, "context.c"), "1");
    cr_expect_str_eq(world_value(&world, "module.m"), "2");
    cr_expect_str_eq(world_value(&world, "output"), "\"yes\"");
    cr_expect_str_eq(world_value(&world, "conversationHistories.default"),
                     "[{\"role\":\"user\",\"content\":\"hello\"}]");
    cr_expect(world_logged(&world, "careful"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(module, numbers_of_64_bits_keep_their_digits)
{
    struct world world;
    open_and_start(&world, one_service, NULL, NULL);

    world_answer(
        &world, "a", 200,
        "{\"execution\":{\"a\":23843037174560269,\"b\":9007199254740993,\"c\":-9223372036854775808,"
        "\"d\":18446744073709551615,\"e\":0.10}}");

    cr_expect_str_eq(world_value(&world, "execution"),
                     "{\"a\":23843037174560269,\"b\":9007199254740993,\"c\":-9223372036854775808,"
                     "\"d\":18446744073709551615,\"e\":0.10}");
    world_close(&world);
}

Test(module, that_says_nothing_succeeded)
{
    static const struct {
        uint32_t status;
        const char *body;
    } rows[] = {{204, NULL}, {200, NULL}, {200, "{}"}, {201, "{}"}, {200, "null"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open_and_start(&world, one_service, NULL, NULL);
        world_answer(&world, "a", rows[i].status, rows[i].body);
        cr_expect_eq(world_state(&world), 40, "%u %s", rows[i].status, rows[i].body);
        world_close(&world);
    }
}

/* What ends the run at once, with which code, and words that its message must hold. */
Test(module, permanent_failures_are_not_retried)
{
    static const struct {
        enum proto_call_outcome outcome;
        uint32_t status;
        const char *body;
        const char *reason;
        const char *code;
        const char *words;
    } rows[] = {
        {PROTO_CALL_ANSWERED, 404, NULL, NULL, "ModuleFailed", "HTTP 404"},
        {PROTO_CALL_ANSWERED, 400, NULL, NULL, "ModuleFailed", "HTTP 400"},
        {PROTO_CALL_ANSWERED, 501, NULL, NULL, "ModuleFailed", "HTTP 501"},
        {PROTO_CALL_ANSWERED, 301, NULL, NULL, "ModuleFailed", "HTTP 301"},
        {PROTO_CALL_ANSWERED, 200, "[1]", NULL, "ModuleFailed", "not a map"},
        {PROTO_CALL_ANSWERED, 200, "{\"error\":\"boom\"}", NULL, "ModuleFailed",
         "\"error\" must be an object"},
        {PROTO_CALL_ANSWERED, 200, "{\"outputs\":[1]}", NULL, "ModuleFailed",
         "\"outputs\" must be an object"},
        {PROTO_CALL_ANSWERED, 200, "{\"response\":5}", NULL, "ModuleFailed",
         "\"response\" must be an object"},
        {PROTO_CALL_ANSWERED, 200, "{\"logs\":\"no\"}", NULL, "ModuleFailed",
         "\"logs\" must be a list"},
        {PROTO_CALL_ANSWERED, 200, "{\"logs\":[5]}", NULL, "ModuleFailed",
         "\"logs\" must be a list of objects"},
        {PROTO_CALL_ANSWERED, 200, "{\"execution\":{\"$unset\":\"key\"}}", NULL, "ModuleFailed",
         "\"execution.$unset\" must be a list of keys"},
        {PROTO_CALL_ANSWERED, 200, "{\"context\":{\"$unset\":[5]}}", NULL, "ModuleFailed",
         "\"context.$unset\" must be a list of keys"},
        {PROTO_CALL_ANSWERED, 200, "{\"error\":{\"message\":\"m\",\"bpmnError\":5}}", NULL,
         "ModuleFailed", "\"error.bpmnError\" must be a string"},
        {PROTO_CALL_ANSWERED, 200, "{\"error\":{}}", NULL, "ModuleFailed",
         "it failed, and said neither code nor message"},
        {PROTO_CALL_ANSWERED, 200, "{\"wait\":\"perhaps\"}", NULL, "ModuleFailed",
         "\"wait\" must be true, false or an object"},
        {PROTO_CALL_ANSWERED, 200, "{\"error\":{\"code\":\"DECLINED\",\"message\":\"no money\"}}",
         NULL, "ModuleFailed", "DECLINED: no money"},
        {PROTO_CALL_ANSWERED, 503,
         "{\"error\":{\"message\":\"gone for good\",\"transient\":false}}", NULL, "ModuleFailed",
         "gone for good"},
        {PROTO_CALL_ANSWERED, 200, "{\"error\":{\"message\":\"x\",\"bpmnError\":\"OOPS\"}}", NULL,
         "OOPS", "x"},
        {PROTO_CALL_BAD_REPLY, 0, NULL, "invalid UTF-8 at byte 7", "ModuleFailed",
         "invalid UTF-8 at byte 7"},
        {PROTO_CALL_REFUSED, 0, NULL, "bad url", "ModuleFailed", "bad url"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open_and_start(&world, one_service, NULL, NULL);
        if (rows[i].outcome == PROTO_CALL_ANSWERED) {
            world_answer(&world, "a", rows[i].status, rows[i].body);
        } else {
            world_outcome(&world, "a", rows[i].outcome, rows[i].reason);
        }
        cr_expect_eq(world_state(&world), 24, "row %zu", i);
        cr_expect_str_eq(world_lifecycle(&world), "Failed");
        cr_expect_str_eq(world_error(&world), rows[i].code, "row %zu: %s", i, world_error(&world));
        cr_expect(strstr(world_error_message(&world), rows[i].words) != NULL, "row %zu: %s", i,
                  world_error_message(&world));
        cr_expect_str_eq(world_open_calls(&world), "");
        world_close(&world);
    }
}

Test(module, transient_failures_are_retried_after_one_then_two_seconds_with_the_same_key)
{
    static const uint32_t statuses[] = {408, 425, 429, 500, 502, 503, 504};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world world;
        open_and_start(&world, one_service, NULL, NULL);

        world_answer(&world, "a", statuses[i], NULL);
        cr_expect_str_eq(world_waiting(&world), "a:retry");
        cr_expect_str_eq(world_lifecycle(&world), "Suspended");
        cr_expect_str_eq(world_error(&world), "TRANSIENT_FAILURE");
        cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 1000);
        world_pass(&world, 999);
        cr_expect_str_eq(world_open_calls(&world), "");
        world_pass(&world, 1);
        cr_expect_str_eq(world_call_value(&world, "a", "attempt"), "2");
        world_answer(&world, "a", statuses[i], NULL);
        cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 2000);
        world_pass(&world, 2000);
        world_answer(&world, "a", 200, "{}");

        cr_expect_eq(world_state(&world), 40);
        cr_expect_str_eq(world_error(&world), "");
        cr_expect_str_eq(world_trace(&world), "s a e", "a retry is no new step");
        cr_expect(
            span_equal(world.calls[0].call.idempotency_key, world.calls[2].call.idempotency_key));
        cr_expect_eq(world.call_count, 3);
        world_close(&world);
    }
}

Test(module, that_stays_away_ends_in_max_retries_exceeded)
{
    struct world world;
    open_and_start(&world, one_service, NULL, NULL);

    for (unsigned i = 0; i < 3; i++) {
        world_outcome(&world, "a", PROTO_CALL_UNREACHABLE, "connection refused");
        world_pass(&world, 5000);
    }

    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_error(&world), "MaxRetriesExceeded");
    cr_expect(strstr(world_error_message(&world), "connection refused") != NULL);
    cr_expect_eq(world.call_count, 3);
    cr_expect_str_eq(world.audit_events, "started waiting resumed waiting resumed failed ", "%s",
                     world.audit_events);
    world_close(&world);
}

Test(module, retry_after_is_honoured_when_longer_and_capped_at_an_hour)
{
    static const struct {
        int64_t retry_after_ms;
        int64_t wait_ms;
    } rows[] = {{-1, 1000}, {300, 1000}, {3000, 3000}, {99999999000, 3600000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open_and_start(&world, one_service, NULL, NULL);
        struct proto_call_done done = {.outcome = PROTO_CALL_ANSWERED,
                                       .status = 503,
                                       .retry_after_ms = rows[i].retry_after_ms};
        struct arena arena;
        struct engine_output output;
        arena_init(&arena, 4096, 1 << 20);
        engine_output_init(&output, &arena);
        struct engine_input input = {.kind = ENGINE_IN_CALL_DONE,
                                     .now_ms = world.now_ms,
                                     .token = world.calls[0].call.token,
                                     .attempt = world.calls[0].call.attempt,
                                     .call = &done};
        bool more;
        cr_assert_eq(engine_accept(world.execution, &input, &output), RESULT_OK);
        cr_assert_eq(engine_advance(world.execution, world.now_ms, 100, NULL, NULL, &output, &more),
                     RESULT_OK);
        cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + rows[i].wait_ms, "row %zu",
                     i);
        arena_release(&arena);
        world_close(&world);
    }
}

Test(module, attempts_follow_the_module_and_the_file)
{
    static const struct {
        const char *bpmn;
        const char *modules;
        unsigned attempts;
    } rows[] = {
        {one_service, SVC("\"maxAttempts\":1"), 1},
        {one_service, SVC("\"maxAttempts\":5"), 5},
        {WORLD_BPMN(START("s") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition "
                               "type='svc' retries='2'/>"
                               "</extensionElements></serviceTask>" FLOW("s", "a")),
         SVC("\"maxAttempts\":5"), 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open_and_start(&world, rows[i].bpmn, rows[i].modules, NULL);
        for (unsigned attempt = 0; attempt < rows[i].attempts; attempt++) {
            world_answer(&world, "a", 503, NULL);
            world_pass(&world, 3600000);
        }
        cr_expect_str_eq(world_error(&world), "MaxRetriesExceeded", "row %zu", i);
        cr_expect_eq(world.call_count, rows[i].attempts);
        world_close(&world);
    }
}

/* Field report F146: counters are wide enough. */
Test(module, may_fail_seventy_thousand_times, .timeout = 120)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"maxAttempts\":1000000"), NULL);
    struct engine_token *token = engine_token_find(world.execution, world.calls[0].call.token);
    struct engine_token *twin = engine_token_find(world.shadow, world.calls[0].call.token);
    token->attempts = twin->attempts = 70000; /* as if it had */

    world_answer(&world, "a", 503, NULL);
    cr_expect_str_eq(world_waiting(&world), "a:retry");
    cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 3600000, "back-off is capped");
    world_pass(&world, 3600000);

    cr_expect_str_eq(world_call_value(&world, "a", "attempt"), "70001");
    world_close(&world);
}

Test(module, operator_retry_calls_again_under_a_new_key_and_goes_on)
{
    struct world world;
    open_and_start(&world, one_service, NULL, NULL);
    world_answer(&world, "a", 404, NULL);

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "a"));
    cr_expect_str_eq(world_error(&world), "");
    cr_expect_eq(world_state(&world), 5);
    struct span key = world.calls[1].call.idempotency_key;
    cr_expect(key.count == 39 && memcmp(key.bytes + 36, "/r1", 3) == 0, "%.*s", SPAN_ARG(key));
    world_answer(&world, "a", 200, "{}");

    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_trace(&world), "s a e");
    world_close(&world);
}

Test(module, operator_retry_gives_all_attempts_again)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"maxAttempts\":2"), NULL);
    for (unsigned i = 0; i < 2; i++) {
        world_answer(&world, "a", 503, NULL);
        world_pass(&world, 1000);
    }
    cr_assert_str_eq(world_error(&world), "MaxRetriesExceeded");

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    world_answer(&world, "a", 503, NULL);

    cr_expect_str_eq(world_waiting(&world), "a:retry");
    cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 1000);
    world_close(&world);
}

Test(module, failure_of_one_branch_drops_the_calls_of_others_and_retry_makes_them_again)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") SERVICE("a") SERVICE("b") AND("j") END("e") FLOW("s", "a")
                                  FLOW("s", "b") FLOW("a", "j") FLOW("b", "j") FLOW("j", "e")),
                   NULL, NULL);
    world_answer(&world, "a", 404, NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_eq(world_answer_call(&world, 1, 200, "{}"), RESULT_NOT_FOUND,
                 "b's reply comes too late");

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_str_eq(world_open_calls(&world), "b a");
    world_answer(&world, "b", 200, "{}");
    world_answer(&world, "a", 200, "{}");

    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(module, call_in_flight_is_made_again_after_a_crash_with_the_same_key)
{
    struct world world;
    open_and_start(&world, one_service, NULL, NULL);

    world_crash(&world);

    cr_assert_eq(world.call_count, 2);
    cr_expect(span_equal(world.calls[0].call.idempotency_key, world.calls[1].call.idempotency_key));
    cr_expect_eq(world.calls[0].call.attempt, world.calls[1].call.attempt);
    cr_expect(span_equal(world.calls[0].call.body, world.calls[1].call.body));
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_eq(world_answer_call(&world, 0, 200, "{}"), RESULT_NOT_FOUND);
    world_close(&world);
}

Test(module, second_answer_to_a_call_made_twice_is_not_taken_for_the_next_tasks)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") SERVICE("a") SERVICE("b") FLOW("s", "a") FLOW("a", "b")),
                   NULL, NULL);
    world_crash(&world);
    world_answer(&world, "a", 200, "{}");

    cr_expect_eq(world_answer_call(&world, 0, 200, "{\"execution\":{\"wrong\":1}}"), RESULT_OK);

    cr_expect_str_eq(world_open_calls(&world), "b");
    cr_expect_str_eq(world_value(&world, "execution"), "");
    cr_expect(world_logged(&world, "late reply"));
    world_close(&world);
}

Test(module, of_test_mode_is_not_called_and_its_test_outputs_are_taken)
{
    static const struct {
        const char *modules;
        const char *result;
    } rows[] = {
        {SVC("\"testOutputs\":{\"total\":1}"), "{\"total\":1}"},
        {NULL, "{\"result\":\"[TEST] Simulated output\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, one_service, rows[i].modules);
        struct engine_start start = {.id = {.count = 1, .text = "t"},
                                     .workspace = span_text("default"),
                                     .project = span_text("default"),
                                     .is_test = true,
                                     .process = &world.definition->processes[0]};
        world_start_as(&world, &start);
        cr_expect_eq(world.call_count, 0);
        cr_expect_str_eq(world_value(&world, "nodes.a"), rows[i].result);
        cr_expect_eq(world_state(&world), 40);
        world_close(&world);
    }
}

Test(module, without_side_effects_is_called_in_test_mode_too)
{
    struct world world;
    world_open(&world, one_service, SVC("\"sideEffects\":false"));
    struct engine_start start = {.id = {.count = 1, .text = "t"},
                                 .workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .is_test = true,
                                 .process = &world.definition->processes[0]};
    world_start_as(&world, &start);
    cr_expect_str_eq(world_open_calls(&world), "a");
    cr_expect_str_eq(world_call_value(&world, "a", "isTest"), "true");
    world_close(&world);
}

Test(module, contract_violation_is_logged_or_strictly_refused)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"outputs\":[\"a\",\"b\"]"), NULL);
    world_answer(&world, "a", 200, "{\"outputs\":{\"a\":1,\"c\":2}}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect(world_logged(&world, "declared outputs [a, b], got [a, c]"));
    world_close(&world);

    open_and_start(&world, one_service, SVC("\"outputs\":[\"a\",\"b\"],\"strictOutputs\":true"),
                   NULL);
    world_answer(&world, "a", 200, "{\"outputs\":{\"a\":1,\"c\":2}}");
    cr_expect_str_eq(world_error(&world), "ModuleFailed");
    cr_expect(strstr(world_error_message(&world), "declared outputs [a, b], got [a, c]") != NULL);
    cr_expect_str_eq(world_value(&world, "nodes"), "", "a refused reply is not merged");
    world_close(&world);

    open_and_start(&world, one_service, SVC("\"outputs\":[\"a\",\"b\"],\"strictOutputs\":true"),
                   NULL);
    world_answer(&world, "a", 200, "{\"outputs\":{\"b\":1,\"a\":2}}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- what goes in and out ---- */

#define MAPPED(inputs_and_outputs)                                                                 \
    WORLD_BPMN(START("s") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition "          \
                          "type='svc'/><zeebe:ioMapping>" inputs_and_outputs                       \
                          "</zeebe:ioMapping></extensionElements></serviceTask>" END("e")          \
                              FLOW("s", "a") FLOW("a", "e"))

Test(mapping, inputs_become_the_config_and_never_process_variables)
{
    struct world world;
    open_and_start(&world,
                   MAPPED("<zeebe:input source='=x + 1' target='y'/><zeebe:input source='=y * 2' "
                          "target='order.total'/>"
                          "<zeebe:input source='plain' target='order.text'/>"),
                   NULL, "{\"x\":1}");

    cr_expect_str_eq(world_call_value(&world, "a", "config"),
                     "{\"y\":2,\"order\":{\"total\":4,\"text\":\"plain\"}}");
    world_answer(&world, "a", 200, "{\"execution\":{\"z\":1}}");

    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":1,\"z\":1}");
    world_close(&world);
}

Test(mapping, with_output_mappings_only_what_they_name_reaches_the_process)
{
    struct world world;
    open_and_start(
        &world,
        MAPPED("<zeebe:input source='=1' target='n'/><zeebe:output source='=result' target='kept'/>"
               "<zeebe:output source='=total + n' target='order.total'/>"),
        NULL, "{\"order\":{\"id\":5}}");

    world_answer(&world, "a", 200,
                 "{\"execution\":{\"result\":\"r\",\"other\":1},\"outputs\":{\"total\":10}}");

    cr_expect_str_eq(world_value(&world, "execution"),
                     "{\"order\":{\"id\":5,\"total\":11},\"kept\":\"r\"}");
    cr_expect_str_eq(world_value(&world, "nodes.a"), "{\"total\":10}");
    world_close(&world);
}

Test(mapping, failed_input_is_an_incident_that_a_retry_after_a_fix_resolves)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(START("s") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition "
                              "type='svc'/><camunda:inputOutput>"
                              "<camunda:inputParameter "
                              "name='y'>${x}</camunda:inputParameter></camunda:inputOutput>"
                              "</extensionElements></serviceTask>" FLOW("s", "a")),
        NULL, NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_error(&world), "ExpressionFailed");
    cr_expect(strstr(world_error_message(&world), "input \"y\"") != NULL, "%s",
              world_error_message(&world));
    cr_expect_eq(world.call_count, 0);

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "a"));

    cr_expect_str_eq(world_error(&world), "ExpressionFailed",
                     "the old incident is closed and a new one raised (F34)");
    world_close(&world);
}

Test(mapping, failed_output_does_not_call_the_module_again_on_retry)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(START("s") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition "
                              "type='svc'/><camunda:inputOutput>"
                              "<camunda:outputParameter "
                              "name='y'>${missing}</camunda:outputParameter></camunda:inputOutput>"
                              "</extensionElements></serviceTask>" FLOW("s", "a")),
        NULL, NULL);
    world_answer(&world, "a", 200, "{\"logs\":[{\"message\":\"once\"}],\"conversation\":[1]}");
    cr_expect_str_eq(world_error(&world), "ExpressionFailed");

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));

    cr_expect_str_eq(world_error(&world), "ExpressionFailed");
    cr_expect_eq(world.call_count, 1);
    cr_expect_str_eq(world_value(&world, "conversationHistories"), "",
                     "what cannot be mapped is not merged by half");
    world_close(&world);
}

Test(names, mean_inner_scopes_first_then_roots_then_payloads)
{
    struct world world;
    open_and_start(
        &world,
        MAPPED(
            "<zeebe:input source='=orderId' target='fromRequest'/><zeebe:input "
            "source='=execution.x' target='root'/>"
            "<zeebe:input source='=x' target='x'/><zeebe:input source='=env.site' target='env1'/>"
            "<zeebe:input source='=request.orderId' target='request1'/>"),
        NULL, "{\"x\":1,\"request\":\"shadowed by the root\"}");

    cr_expect_str_eq(world_call_value(&world, "a", "config"),
                     "{\"fromRequest\":7,\"root\":1,\"x\":1,\"env1\":\"north\",\"request1\":7}");
    world_close(&world);
}

/* ---- built-ins and scripts ---- */

#define BUILTIN(type, inputs)                                                                      \
    WORLD_BPMN(                                                                                    \
        START("s") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition type='" type      \
                   "'/><zeebe:ioMapping>" inputs                                                   \
                   "</zeebe:ioMapping></extensionElements></serviceTask>" END("e") FLOW("s", "a")  \
                       FLOW("a", "e"))

Test(builtin, modules_run_without_a_server)
{
    struct world world;
    open_and_start(&world, BUILTIN("set", "<zeebe:input source='=x + 1' target='x'/>"), NULL,
                   "{\"x\":1}");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":2}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);

    open_and_start(&world, BUILTIN("echo", "<zeebe:input source='=x' target='said'/>"), NULL,
                   "{\"x\":1}");
    cr_expect_str_eq(world_value(&world, "nodes.a.said"), "1");
    world_close(&world);

    open_and_start(&world, BUILTIN("log", "<zeebe:input source='hello there' target='message'/>"),
                   NULL, NULL);
    cr_expect(world_logged(&world, "hello there"));
    world_close(&world);

    open_and_start(&world, BUILTIN("fail", "<zeebe:input source='broken' target='message'/>"), NULL,
                   NULL);
    cr_expect_str_eq(world_error(&world), "ModuleFailed");
    cr_expect(strstr(world_error_message(&world), "broken") != NULL);
    world_close(&world);

    open_and_start(&world, BUILTIN("wait", ""), NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "a:callback");
    cr_expect(world_callback(&world, NULL, "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(builtin, http_calls_the_url_of_its_config_and_takes_any_answer_as_result)
{
    struct world world;
    open_and_start(&world,
                   BUILTIN("http", "<zeebe:input source='http://127.0.0.1:9/x' "
                                   "target='url'/><zeebe:input source='={q: 1}' target='body'/>"),
                   NULL, NULL);
    cr_assert_eq(world.call_count, 1);
    cr_expect(span_is(world.calls[0].call.url, "http://127.0.0.1:9/x"));
    cr_expect_str_eq(world_call_value(&world, "http", "q"), "1");
    world_answer(&world, "http", 200, "{\"error\":\"not ours\",\"n\":[1,2]}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_value(&world, "nodes.a"),
                     "{\"status\":200,\"body\":{\"error\":\"not ours\",\"n\":[1,2]}}");
    world_close(&world);

    open_and_start(&world, BUILTIN("http", ""), NULL, NULL);
    cr_expect_str_eq(world_error(&world), "ModuleFailed", "without a url there is nothing to call");
    world_close(&world);
}

Test(script, in_feel_and_juel_is_evaluated_here)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") "<scriptTask id='a'><extensionElements><zeebe:script "
                                         "expression='=x * 3' resultVariable='y'/>"
                                         "</extensionElements></scriptTask>"
                                         "<serviceTask id='b' camunda:expression='${y + 1}' "
                                         "camunda:resultVariable='z'/>" FLOW("s", "a")
                                             FLOW("a", "b")),
                   NULL, "{\"x\":2}");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":2,\"y\":6,\"z\":7}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(script, in_another_language_needs_a_module)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(
            START("s") "<scriptTask id='a' "
                       "scriptFormat='groovy'><script>1+1</script></scriptTask>" FLOW("s", "a")),
        NULL, NULL);
    cr_expect_eq(world_state(&world), 56);
    cr_expect_str_eq(world_error(&world), "ModuleNotFound");
    world_close(&world);
}

Test(module, conversations_keep_their_newest_entries)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") SERVICE("a")
                              FLOW("s", "a") "<sequenceFlow id='l' sourceRef='a' targetRef='a'/>"),
               NULL);
    world_start(&world, NULL, NULL);
    char *body = malloc(16 * LIMIT_HISTORY);
    for (uint32_t lap = 0; lap < 3; lap++) {
        int used = snprintf(body, 32, "{\"conversation\":[");
        for (uint32_t i = 0; i < LIMIT_HISTORY / 2 + 1; i++) {
            used += snprintf(body + used, 8, "%s%u", i == 0 ? "" : ",", lap);
        }
        (void)snprintf(body + used, 4, "]}");
        world_answer(&world, "a", 200, body);
    }
    free(body);
    struct span kept = wire_find_text(world.execution->conversations, "default");
    cr_expect_eq(wire_count(kept), LIMIT_HISTORY);
    cr_expect_eq(wire_int_or(wire_at(kept, 0), -1), 1, "the oldest are gone");
    cr_expect_eq(wire_int_or(wire_at(kept, LIMIT_HISTORY - 1), -1), 2);
    world_close(&world);
}
