/*
 * Waiting and callbacks: human tasks, module waits, early, late, doubled and ambiguous callbacks
 * (engine.md 9, field reports D).
 */
#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/conformance/world.h"

static const char one_user[] =
    WORLD_BPMN(START("s") USER("a") END("e") FLOW("s", "a") FLOW("a", "e"));
static const char one_service[] =
    WORLD_BPMN(START("s") SERVICE("a") END("e") FLOW("s", "a") FLOW("a", "e"));
static const char two_users[] = WORLD_BPMN(START("s") USER("a") USER("b") AND("j") END("e") FLOW(
    "s", "a") FLOW("s", "b") FLOW("a", "j") FLOW("b", "j") FLOW("j", "e"));

#define SVC(fields) "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/svc\"," fields "}]"

static void open_and_start(struct world *world, const char *bpmn, const char *modules)
{
    world_open(world, bpmn, modules);
    world_start(world, NULL, NULL);
}

Test(human, user_task_without_a_module_waits_for_a_person)
{
    struct world world;
    open_and_start(&world, one_user, NULL);
    cr_expect_eq(world_state(&world), 3);
    cr_expect_str_eq(world_lifecycle(&world), "WaitingForHuman");
    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_expect_str_eq(world.audit_events, "started waiting ");

    world_pass(&world, 1000);
    cr_assert(world_callback(&world, NULL, "{\"decision\":\"approve\"}"));

    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_value(&world, "__resume.decision"), "\"approve\"");
    cr_expect_str_eq(world_value(&world, "execution"), "",
                     "__resume is never merged into anything else");
    cr_expect_str_eq(world_value(&world, "nodes"), "");
    cr_expect_str_eq(world.audit_events, "started waiting completed ");
    world_close(&world);
}

Test(human, assignment_is_evaluated_at_entry_and_listed)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") "<userTask id='a' name='Approve' camunda:assignee='${boss}' "
                                     "camunda:candidateGroups='x, y' "
                                     "camunda:formKey='f1'/>" FLOW("s", "a")),
               NULL);
    world_start(&world, NULL, "{\"boss\":\"eve\"}");
    struct wire_writer writer;
    wire_writer_init(&writer, &world.arena, 512);

    cr_assert_eq(engine_tasks(world.execution, &writer), 1);

    struct span task = wire_writer_span(&writer);
    cr_expect(span_is(wire_string_or(wire_find_text(task, "taskId"), ""), "a"));
    cr_expect(span_is(wire_string_or(wire_find_text(task, "taskName"), ""), "Approve"));
    cr_expect(span_is(wire_string_or(wire_find_text(task, "assignee"), ""), "eve"));
    cr_expect(span_is(wire_string_or(wire_find_text(task, "formKey"), ""), "f1"));
    cr_expect(
        span_is(wire_string_or(wire_at(wire_find_text(task, "candidateGroups"), 1), ""), "y"));
    cr_expect(
        span_is(wire_string_or(wire_find_text(wire_find_text(task, "data"), "boss"), ""), "eve"));
    world_close(&world);
}

Test(human, output_mappings_see_what_the_person_said)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(START("s") "<userTask id='a'><extensionElements><zeebe:ioMapping><zeebe:output "
                              "source='=approved' "
                              "target='ok'/></zeebe:ioMapping></extensionElements></userTask>" FLOW(
                                  "s", "a")),
        NULL);
    cr_assert(world_callback(&world, NULL, "{\"approved\":true}"));
    cr_expect_str_eq(world_value(&world, "execution"), "{\"ok\":true}");
    world_close(&world);
}

Test(wait, module_may_answer_that_it_will_call_back)
{
    static const struct {
        uint32_t status;
        const char *body;
        const char *waiting;
        const char *lifecycle;
    } rows[] = {
        {202, NULL, "a:callback", "Suspended"},
        {200, "{\"wait\":true}", "a:callback", "Suspended"},
        {200, "{\"wait\":{\"kind\":\"human\",\"assignee\":\"eve\"}}", "a:human", "WaitingForHuman"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open_and_start(&world, one_service, NULL);
        world_answer(&world, "a", rows[i].status, rows[i].body);
        cr_expect_str_eq(world_waiting(&world), rows[i].waiting);
        cr_expect_str_eq(world_lifecycle(&world), rows[i].lifecycle);
        cr_expect_eq(world_state(&world), 3);
        world_crash(&world);
        cr_expect(world_callback(&world, "a", "{\"x\":1}"));
        cr_expect_eq(world_state(&world), 40);
        cr_expect_eq(world.call_count, 1);
        world_close(&world);
    }
}

Test(wait, module_with_a_callback_entry_is_told_and_decides)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"callback\":true"));
    world_answer(&world, "a", 202, NULL);

    cr_assert(world_callback(&world, NULL, "{\"x\":1}"));
    cr_expect_str_eq(world_call_value(&world, "a", "phase"), "\"callback\"");
    cr_expect_str_eq(world_call_value(&world, "a", "callback.x"), "1");
    struct span key = world.calls[1].call.idempotency_key;
    cr_expect(key.count == 41 && memcmp(key.bytes + 36, "/cb/1", 5) == 0, "%.*s", SPAN_ARG(key));
    world_answer(&world, "a", 202, NULL);
    cr_expect_str_eq(world_waiting(&world), "a:callback", "it may wait again");
    cr_assert(world_callback(&world, NULL, "{\"x\":2}"));
    key = world.calls[2].call.idempotency_key;
    cr_expect(key.count == 41 && memcmp(key.bytes + 36, "/cb/2", 5) == 0, "%.*s", SPAN_ARG(key));
    world_answer(&world, "a", 200, "{\"execution\":{\"done\":true}}");

    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_value(&world, "execution.done"), "true");
    cr_expect_str_eq(world_trace(&world), "s a e");
    world_close(&world);
}

Test(wait, failed_callback_call_is_retried_as_a_callback_call)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"callback\":true"));
    world_answer(&world, "a", 202, NULL);
    cr_assert(world_callback(&world, NULL, "{\"x\":1}"));

    world_answer(&world, "a", 503, NULL);
    world_crash(&world);
    world_pass(&world, 1000);

    cr_expect_str_eq(world_call_value(&world, "a", "phase"), "\"callback\"");
    cr_expect_str_eq(world_call_value(&world, "a", "callback.x"), "1");
    cr_expect_str_eq(world_call_value(&world, "a", "attempt"), "2");
    cr_expect(span_equal(world.calls[1].call.idempotency_key, world.calls[2].call.idempotency_key));
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(wait, callback_may_carry_output_or_error)
{
    struct world world;
    open_and_start(&world, one_user, NULL);
    cr_assert(world_callback_with(&world, "a", "{}", "\"left\"", NULL));
    cr_expect_str_eq(world_value(&world, "output"), "\"left\"");
    world_close(&world);

    open_and_start(&world, one_user, NULL);
    cr_assert(
        world_callback_with(&world, "a", NULL, NULL, "{\"code\":\"NO\",\"message\":\"refused\"}"));
    cr_expect_str_eq(world_error(&world), "ModuleFailed");
    cr_expect(strstr(world_error_message(&world), "NO: refused") != NULL);
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "a"));
    cr_expect_str_eq(world_waiting(&world), "a:human", "the task is open again");
    world_close(&world);
}

Test(wait, without_an_answer_in_time_the_call_is_made_again_and_in_the_end_fails)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"callbackTimeoutMs\":5000"));
    for (unsigned i = 0; i < 3; i++) {
        world_answer(&world, "a", 202, NULL);
        cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 5000);
        world_pass(&world, 5000);
        world_pass(&world, 4000);
    }
    cr_expect_str_eq(world_error(&world), "MaxRetriesExceeded");
    cr_expect_eq(world.call_count, 3);
    world_close(&world);
}

Test(callback, that_is_ambiguous_is_refused_with_the_list)
{
    struct world world;
    open_and_start(&world, two_users, NULL);

    cr_expect_not(world_callback(&world, NULL, "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_AmbiguousCallback);
    cr_expect_eq(wire_count(wire_find_text(world.error_details, "waiting")), 2);
    cr_expect(world_callback(&world, "b", "{}"));
    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_expect(world_callback(&world, NULL, "{}"), "one waits: no name needed");

    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(callback, is_refused_for_distinct_reasons)
{
    struct world world;
    open_and_start(&world, two_users, NULL);
    cr_expect_not(world_callback(&world, "nobody", "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);
    cr_expect(world_callback(&world, "a", "{}"));
    cr_expect_not(world_callback(&world, "a", "{}"), "no longer waiting");
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);
    cr_expect(world_callback(&world, "b", "{}"));
    cr_expect_not(world_callback(&world, "b", "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_AlreadyFinished);
    world_close(&world);
}

Test(callback, before_the_modules_own_reply_is_kept_and_applied_once)
{
    for (unsigned named = 0; named < 2; named++) {
        struct world world;
        open_and_start(&world, one_service, NULL);

        cr_assert(world_callback(&world, named ? "a" : NULL, "{\"early\":1}"));
        cr_expect_str_eq(world_open_calls(&world), "a");
        world_crash(&world);
        world_answer(&world, "a", 202, NULL);

        cr_expect_eq(world_state(&world), 40);
        cr_expect_str_eq(world_value(&world, "__resume.early"), "1");
        cr_expect_str_eq(world_value(&world, "inbox"), "");
        world_close(&world);
    }
}

Test(callback, for_a_step_not_reached_yet_is_kept_until_it_waits)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") SERVICE("a") USER("b") END("e") FLOW("s", "a")
                                  FLOW("a", "b") FLOW("b", "e")),
                   NULL);

    cr_assert(world_callback(&world, "b", "{\"early\":1}"));
    cr_expect_eq(world_state(&world), 5);
    world_answer(&world, "a", 200, "{}");

    cr_expect_str_eq(world_trace(&world), "s a b e");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(callback, sent_fifty_times_is_accepted_once)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") USER("a") SERVICE("b") USER("c") FLOW("s", "a")
                                  FLOW("a", "b") FLOW("b", "c")),
                   NULL);
    unsigned accepted = 0;
    for (unsigned i = 0; i < 50; i++) {
        accepted += world_callback(&world, "a", "{}");
        cr_expect(i == 0 || world.error == PROTO_ERROR_NotWaiting);
        cr_expect_not(i > 0 && world_callback(&world, NULL, "{}"),
                      "nor without a name, while b's call is in flight");
    }
    cr_expect_eq(accepted, 1);
    world_answer(&world, "b", 200, "{}");
    cr_expect_str_eq(world_waiting(&world), "c:human",
                     "the step after next waits for a callback of its own");
    world_close(&world);
}

Test(callback, second_one_while_the_first_is_with_its_module_is_refused)
{
    struct world world;
    open_and_start(&world, one_service, SVC("\"callback\":true"));
    world_answer(&world, "a", 202, NULL);
    cr_assert(world_callback(&world, "a", "{}"));
    cr_expect_not(world_callback(&world, "a", "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);
    world_close(&world);
}

Test(callback, during_another_branchs_call_is_applied_at_once)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") SERVICE("a") USER("b") TASK("c") FLOW("s", "a")
                                  FLOW("s", "b") FLOW("b", "c")),
                   NULL);
    cr_expect_eq(world.segment_ends, 0);

    cr_assert(world_callback(&world, "b", "{}"));
    cr_expect_str_eq(world_trace(&world), "s a b c");
    cr_expect_eq(world.segment_ends, 0);
    world_answer(&world, "a", 200, "{}");

    cr_expect_eq(world.segment_ends, 1);
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(callback, that_never_met_its_wait_leaves_a_warning)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(START("s") SERVICE("a") "<exclusiveGateway id='x' default='x-e'/>" USER("b") END(
            "e") FLOW("s", "a") FLOW("a", "x") FLOW_IF("x", "b", "=false") FLOW("x", "e")),
        NULL);
    cr_assert(world_callback(&world, "b", "{}"));
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect(world_logged(&world, "1 early callbacks"));
    world_close(&world);
}

Test(callback, inbox_is_bounded)
{
    struct world world;
    open_and_start(
        &world, WORLD_BPMN(START("s") SERVICE("a") USER("b") FLOW("s", "a") FLOW("a", "b")), NULL);
    for (unsigned i = 0; i < ENGINE_INBOX_MAX; i++) {
        cr_assert(world_callback(&world, "b", "{}"));
    }
    cr_expect_not(world_callback(&world, "b", "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_Overloaded);
    world_close(&world);
}

Test(receive_task, waits_for_a_callback)
{
    struct world world;
    open_and_start(
        &world,
        WORLD_BPMN(START("s") "<receiveTask id='a'/>" END("e") FLOW("s", "a") FLOW("a", "e")),
        NULL);
    cr_expect_str_eq(world_waiting(&world), "a:callback");
    cr_expect(world_callback(&world, "a", "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* The promise of issue 2: a small waiting execution is small. */
Test(size, of_a_waiting_execution_with_an_empty_request_is_at_most_600_bytes)
{
    struct world world;
    world_open(&world, one_user, NULL);
    world_start(&world, "{}", NULL);
    cr_expect_leq(world.last_snapshot.count, 600, "%zu bytes", world.last_snapshot.count);
    world_close(&world);
}
