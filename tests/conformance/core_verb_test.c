/*
 * Operator verbs and lifecycle (engine.md 2, 9).
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

static const char user_and_timer[] = WORLD_BPMN(START("s") USER(
    "a") "<intermediateCatchEvent id='t'><timerEventDefinition><timeDuration>PT10S</timeDuration>"
         "</timerEventDefinition></intermediateCatchEvent>" END("e") FLOW("s", "a") FLOW("a", "t")
                                                    FLOW("t", "e"));
static const char one_service[] =
    WORLD_BPMN(START("s") SERVICE("a") TASK("b") FLOW("s", "a") FLOW("a", "b"));

static void open_and_start(struct world *world, const char *bpmn)
{
    world_open(world, bpmn, NULL);
    world_start(world, "{\"n\":1}", "{\"x\":1}");
}

/* Brings an execution of user_and_timer or one_service into each lifecycle. */
static void enter(struct world *world, const char *state)
{
    bool service = strcmp(state, "calling") == 0 || strcmp(state, "failed") == 0;
    open_and_start(world, service ? one_service : user_and_timer);
    if (strcmp(state, "timer") == 0 || strcmp(state, "completed") == 0) {
        cr_assert(world_callback(world, "a", "{}"));
    }
    if (strcmp(state, "completed") == 0) {
        world_pass(world, 10000);
    }
    if (strcmp(state, "suspended") == 0) {
        cr_assert(world_verb(world, ENGINE_IN_SUSPEND, NULL));
    }
    if (strcmp(state, "failed") == 0) {
        world_answer(world, "a", 404, NULL);
    }
    if (strcmp(state, "aborted") == 0) {
        cr_assert(world_verb(world, ENGINE_IN_ABORT, NULL));
    }
}

Test(verb, every_transition_is_legal_or_answered_invalid_transition)
{
    static const struct {
        const char *state;
        const char *lifecycle;
        bool suspend, resume, abort, restart, retry;
    } rows[] = {
        {"calling", "Running", true, false, true, false, false},
        {"human", "WaitingForHuman", true, false, true, false, false},
        {"timer", "Suspended", true, false, true, false, false},
        {"suspended", "Suspended", false, true, true, false, false},
        {"completed", "Completed", false, false, false, true, false},
        {"failed", "Failed", false, false, false, true, true},
        {"aborted", "Failed", false, false, false, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct {
            enum engine_input_kind verb;
            bool legal;
        } verbs[] = {{ENGINE_IN_SUSPEND, rows[i].suspend},
                     {ENGINE_IN_RESUME, rows[i].resume},
                     {ENGINE_IN_ABORT, rows[i].abort},
                     {ENGINE_IN_RESTART, rows[i].restart},
                     {ENGINE_IN_RETRY, rows[i].retry}};
        for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
            struct world world;
            enter(&world, rows[i].state);
            cr_expect_str_eq(world_lifecycle(&world), rows[i].lifecycle, "%s", rows[i].state);
            bool done = world_verb(&world, verbs[v].verb, NULL);
            cr_expect_eq(done, verbs[v].legal, "%s, verb %zu", rows[i].state, v);
            cr_expect(done || world.error == PROTO_ERROR_InvalidTransition);
            world_close(&world);
        }
    }
}

Test(suspend, keeps_late_replies_callbacks_and_due_timers_for_the_resume)
{
    struct world world;
    open_and_start(&world,
                   WORLD_BPMN(START("s") SERVICE("a") USER(
                       "u") "<intermediateCatchEvent "
                            "id='t'><timerEventDefinition><timeDuration>PT10S</timeDuration>"
                            "</timerEventDefinition></intermediateCatchEvent>" TASK("a2") TASK("u2")
                                  TASK("t2") FLOW("s", "a") FLOW("s", "u") FLOW("s", "t")
                                      FLOW("a", "a2") FLOW("u", "u2") FLOW("t", "t2")));
    cr_assert(world_verb(&world, ENGINE_IN_SUSPEND, NULL));
    cr_expect_str_eq(world_lifecycle(&world), "Suspended");
    cr_expect_str_eq(world_open_calls(&world), "a", "the call goes on");

    world_answer(&world, "a", 200, "{\"execution\":{\"got\":1}}");
    cr_assert(world_callback(&world, "u", "{\"said\":1}"));
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s a u t", "nothing moves");
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    world_crash(&world);
    cr_assert(world_verb(&world, ENGINE_IN_RESUME, NULL));

    cr_expect_str_eq(world_trace(&world), "s a u t a2 u2 t2");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_value(&world, "execution.got"), "1");
    world_close(&world);
}

Test(suspend, beats_a_human_task_and_is_told_to_the_audit)
{
    struct world world;
    open_and_start(&world, user_and_timer);
    cr_assert(world_verb(&world, ENGINE_IN_SUSPEND, NULL));
    cr_expect_str_eq(world_lifecycle(&world), "Suspended");
    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_assert(world_verb(&world, ENGINE_IN_RESUME, NULL));
    cr_expect_str_eq(world_lifecycle(&world), "WaitingForHuman");
    cr_expect_str_eq(world.audit_events, "started waiting suspended waiting ");
    world_close(&world);
}

Test(abort, ends_stopped_without_exception_and_drops_calls)
{
    struct world world;
    open_and_start(&world, one_service);
    cr_assert(world_verb(&world, ENGINE_IN_ABORT, NULL));
    cr_expect_eq(world_state(&world), 8);
    cr_expect_str_eq(world_lifecycle(&world), "Failed");
    cr_expect_str_eq(world_error(&world), "Aborted");
    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_str_eq(world.audit_events, "started aborted ");
    cr_expect_not(world_callback(&world, NULL, "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_AlreadyFinished);
    world_close(&world);
}

Test(restart, begins_anew_with_the_same_input_and_a_new_run_number)
{
    struct world world;
    open_and_start(&world, one_service);
    struct span first_key = world.calls[0].call.idempotency_key;
    world_answer(&world, "a", 200,
                 "{\"execution\":{\"x\":2,\"y\":1},\"context\":{\"c\":1},\"request\":{\"n\":9},"
                 "\"logs\":[{\"message\":\"l1\"}]}");
    cr_expect_str_eq(world_value(&world, "firstExecution"), "{\"x\":1}");
    world_crash(&world);

    cr_assert(world_verb(&world, ENGINE_IN_RESTART, NULL));

    struct engine_view view;
    engine_look(world.execution, &view);
    cr_expect_eq(view.run, 2);
    cr_expect_str_eq(world_trace(&world), "s a");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":1}");
    cr_expect_str_eq(world_value(&world, "request"), "{\"n\":1}");
    cr_expect_str_eq(world_value(&world, "context"), "");
    cr_expect(!span_equal(first_key, world.calls[1].call.idempotency_key));
    cr_expect_eq(world_answer_call(&world, 0, 200, "{}"), RESULT_OK,
                 "a reply of the first run changes nothing");
    cr_expect_str_eq(world_open_calls(&world), "a");
    world_answer(&world, "a", 200, "{\"logs\":[{\"message\":\"l2\"}]}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect(world_logged(&world, "l1"), "logs go on across runs");
    cr_expect(world_logged(&world, "l2"));
    engine_look(world.execution, &view);
    cr_expect_str_eq(world.audit_events, "started completed started completed ");
    cr_expect_eq(view.revision, 4, "revisions go on across runs");
    world_close(&world);
}

Test(retry, goes_on_from_the_failed_gateway_after_the_data_was_mended)
{
    struct world world;
    open_and_start(
        &world, WORLD_BPMN(START("s") XOR("x") TASK("a") FLOW("s", "x") FLOW_IF("x", "a", "=ok")));
    cr_assert_str_eq(world_error(&world), "NoPathTaken");
    cr_expect_not(world_verb(&world, ENGINE_IN_RETRY, "s"), "another step did not fail");
    cr_expect_eq(world.error, PROTO_ERROR_InvalidTransition);

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "x"));

    cr_expect_str_eq(world_error(&world), "NoPathTaken");
    cr_expect_str_eq(world_trace(&world), "s x");
    world_close(&world);
}

Test(retry, of_a_step_limit_lets_the_loop_go_on_for_another_segment)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") XOR("m") TASK("a") FLOW("s", "m") FLOW("m", "a")
                                          FLOW("a", "m")));
    cr_expect_eq(world.execution->sequence, LIMIT_STEPS);
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_eq(world.execution->sequence, 2 * LIMIT_STEPS);
    cr_expect_str_eq(world_error(&world), "StepLimitExceeded");
    world_close(&world);
}

Test(retry, of_a_step_limit_goes_by_the_limit_that_holds_then)
{
    struct world world;
    world_open(
        &world,
        WORLD_BPMN(START("s") XOR("m") TASK("a") FLOW("s", "m") FLOW("m", "a") FLOW("a", "m")),
        NULL);
    world.catalog.max_steps = 7;
    world_start(&world, "{}", "{}");
    cr_expect_eq(world.execution->sequence, 7);
    cr_expect_str_eq(world_error(&world), "StepLimitExceeded");
    world.catalog.max_steps = 500;
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_eq(world.execution->sequence, 507);
    world_close(&world);
}

Test(retry, of_a_deadlock_closes_the_old_incident_and_raises_a_new_one)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") XOR("x") TASK("a") AND("j") FLOW("s", "x") FLOW_IF(
                               "x", "j", "=true") FLOW_IF("x", "a", "=false") FLOW("a", "j")));
    cr_assert_str_eq(world_error(&world), "Deadlock");
    cr_expect(strstr(world_error_message(&world), "\"j\"") != NULL);
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_str_eq(world_error(&world), "Deadlock");
    world_close(&world);
}

Test(start, without_a_start_node_fails_and_cannot_be_retried)
{
    struct world world;
    world_open(&world, WORLD_BPMN(TASK("a") TASK("b") FLOW("a", "b") FLOW("b", "a")), NULL);
    world_start(&world, NULL, NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_error(&world), "StartTaskNotFound");
    cr_expect_not(world_verb(&world, ENGINE_IN_RETRY, NULL));
    world_close(&world);
}

Test(clock, never_goes_back)
{
    struct world world;
    open_and_start(&world, user_and_timer);
    cr_assert(world_callback(&world, "a", "{}"));
    int64_t due_ms = engine_next_due_ms(world.execution);
    world.now_ms -= 1000000;
    world_sleep(&world, 0);
    cr_expect_eq(engine_next_due_ms(world.execution), due_ms);
    cr_expect_str_eq(world_waiting(&world), "t:timer");
    world_close(&world);
}
