/*
 * Scopes: embedded sub-processes, call activities, and the errors that go through them (traps.md 8,
 * 10; field reports A).
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define SUB(id, body) "<subProcess id='" id "'>" body "</subProcess>"
#define ERROR_END(id, ref)                                                                         \
    "<endEvent id='" id "'><errorEventDefinition errorRef='" ref "'/></endEvent>"
#define ON_ERROR(id, host, ref)                                                                    \
    "<boundaryEvent id='" id "' attachedToRef='" host "'><errorEventDefinition errorRef='" ref     \
    "'/></boundaryEvent>"
#define ON_ANY_ERROR(id, host)                                                                     \
    "<boundaryEvent id='" id "' attachedToRef='" host "'><errorEventDefinition/></boundaryEvent>"
#define ERRORS                "<error id='E1' errorCode='ONE'/><error id='E2' errorCode='TWO'/>"
#define TERMINATE(id)         "<endEvent id='" id "'><terminateEventDefinition/></endEvent>"
#define CALL(id, process)     "<callActivity id='" id "' calledElement='" process "'/>"
#define FILE_OF(body)         WORLD_FILE(ERRORS WORLD_PROCESS("p", body))
#define CALLING(body, called) WORLD_FILE(ERRORS WORLD_PROCESS("p", body) WORLD_PROCESS("q", called))

static const struct {
    const char *claim;
    const char *bpmn;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"the parent goes on when the sub-process has no token left",
     FILE_OF(START("s") SUB("sub", START("i") TASK("a") TASK("b") FLOW("i", "a") FLOW("i", "b"))
                 END("e") FLOW("s", "sub") FLOW("sub", "e")),
     "s sub i a b e", 40, ""},
    {"sub-processes nest",
     FILE_OF(START("s") SUB("o", START("i") SUB("n", START("j") TASK("a") FLOW("j", "a")) TASK("b")
                                     FLOW("i", "n") FLOW("n", "b")) END("e") FLOW("s", "o")
                 FLOW("o", "e")),
     "s o i n j a b e", 40, ""},
    {"an empty sub-process passes",
     FILE_OF(START("s") SUB("sub", "") END("e") FLOW("s", "sub") FLOW("sub", "e")), "s sub e", 40,
     ""},
    {"a sub-process without start events starts every node without incoming flow",
     FILE_OF(START("s") SUB("sub", TASK("a") TASK("b")) END("e") FLOW("s", "sub") FLOW("sub", "e")),
     "s sub a b e", 40, ""},
    {"terminate inside a sub-process ends that scope only (F13)",
     FILE_OF(START("s") SUB("sub", START("i") USER("u") TERMINATE("t") FLOW("i", "u") FLOW(
                                       "i", "t")) TASK("out") FLOW("s", "sub") FLOW("sub", "out")),
     "s sub i u t out", 40, ""},
    {"an error end is caught on its sub-process",
     FILE_OF(START("s") SUB("sub", START("i") USER("u") ERROR_END("x", "E1") FLOW("i", "u")
                                       FLOW("i", "x")) ON_ERROR("b", "sub", "E1") TASK("out")
                 TASK("caught") FLOW("s", "sub") FLOW("sub", "out") FLOW("b", "caught")),
     "s sub i u x b caught", 40, ""},
    {"a specific code beats a catch-all drawn first (F22)",
     FILE_OF(START("s") SUB("sub", ERROR_END("x", "E1")) ON_ANY_ERROR("any", "sub")
                 ON_ERROR("one", "sub", "E1") FLOW("s", "sub")),
     "s sub x one", 40, ""},
    {"a specific code beats a catch-all drawn last (F22)",
     FILE_OF(START("s") SUB("sub", ERROR_END("x", "E1")) ON_ERROR("one", "sub", "E1")
                 ON_ANY_ERROR("any", "sub") FLOW("s", "sub")),
     "s sub x one", 40, ""},
    {"a catch-all catches what no other does",
     FILE_OF(START("s") SUB("sub", ERROR_END("x", "E2")) ON_ERROR("one", "sub", "E1")
                 ON_ANY_ERROR("any", "sub") FLOW("s", "sub")),
     "s sub x any", 40, ""},
    {"an inner handler of another code is passed over",
     FILE_OF(START("s") SUB("o", SUB("n", ERROR_END("x", "E2")) ON_ERROR("in", "n", "E1"))
                 ON_ERROR("out", "o", "E2") FLOW("s", "o")),
     "s o n x out", 40, ""},
    {"an uncaught error of a sub-process fails the run",
     FILE_OF(START("s") SUB("sub", ERROR_END("x", "E2")) ON_ERROR("one", "sub", "E1")
                 FLOW("s", "sub")),
     "s sub x", 24, "TWO"},
    {"an uncaught error end without a code is an incident all the same",
     FILE_OF(START("s") "<endEvent id='e'><errorEventDefinition/></endEvent>" FLOW("s", "e")),
     "s e", 24, "BpmnError"},
    {"NoPathTaken is an error event of that name",
     WORLD_FILE("<error id='N' errorCode='NoPathTaken'/>" WORLD_PROCESS(
         "p", START("s") SUB("sub", START("i") XOR("x") TASK("a") FLOW("i", "x")
                                        FLOW_IF("x", "a", "=false")) ON_ERROR("b", "sub", "N")
                  TASK("caught") FLOW("s", "sub") FLOW("b", "caught"))),
     "s sub i x b caught", 40, ""},
    {"a called process runs in the same execution",
     CALLING(START("s") CALL("c", "q") END("e") FLOW("s", "c") FLOW("c", "e"),
             START("qs") TASK("qa") FLOW("qs", "qa")),
     "s c qs qa e", 40, ""},
    {"terminate in a called process ends only that (traps 10)",
     CALLING(START("s") CALL("c", "q") END("e") FLOW("s", "c") FLOW("c", "e"),
             START("qs") USER("u") TERMINATE("t") FLOW("qs", "u") FLOW("qs", "t")),
     "s c qs u t e", 40, ""},
    {"an error goes through call activities",
     CALLING(START("s") CALL("c", "q") ON_ERROR("b", "c", "E1") TASK("caught") FLOW("s", "c")
                 FLOW("b", "caught"),
             START("qs") ERROR_END("x", "E1") FLOW("qs", "x")),
     "s c qs x b caught", 40, ""},
    {"an error caught inside a called process goes no further (F23)",
     CALLING(START("s") CALL("c", "q") ON_ERROR("b", "c", "E1") TASK("out") TASK("caught")
                 FLOW("s", "c") FLOW("c", "out") FLOW("b", "caught"),
             START("qs") SUB("sub", ERROR_END("x", "E1")) ON_ERROR("qb", "sub", "E1")
                 FLOW("qs", "sub")),
     "s c qs sub x qb out", 40, ""},
    {"a process that does not exist cannot be called",
     FILE_OF(START("s") CALL("c", "nowhere") FLOW("s", "c")), "s c", 24, "DefinitionNotFound"},
    {"a process that calls itself for ever is stopped",
     FILE_OF(START("s") CALL("c", "p") FLOW("s", "c")), NULL, 24, "StepLimitExceeded"},
    {"joins count per scope: two instances of a sub-process do not mix",
     FILE_OF(START("s") SUB(
         "sub", START("i") AND("f") TASK("a") TASK("b") AND("j") FLOW("i", "f") FLOW("f", "a")
                    FLOW("f", "b") FLOW("a", "j") FLOW(
                        "b",
                        "j")) "<sequenceFlow id='1' sourceRef='s' targetRef='sub'/><sequenceFlow "
                              "id='2' sourceRef='s' targetRef='sub'/>"),
     "s sub sub i i f f a b a b j j", 40, ""},
};

Test(scope, runs_each_drawing_as_its_claim_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, rows[i].bpmn, NULL);

        world_start(&world, NULL, NULL);

        if (rows[i].trace != NULL) {
            cr_expect_str_eq(world_trace(&world), rows[i].trace, "%s: %s", rows[i].claim,
                             world_trace(&world));
        }
        cr_expect_eq(world_state(&world), rows[i].state, "%s: state %u", rows[i].claim,
                     world_state(&world));
        cr_expect_str_eq(world_error(&world), rows[i].error, "%s: %s", rows[i].claim,
                         world_error_message(&world));
        cr_expect(rows[i].state == 24 || world.execution->scope_order.count == 1,
                  "%s: scopes are left", rows[i].claim);
        world_close(&world);
    }
}

Test(scope, error_that_a_module_throws_goes_to_the_tasks_own_boundary_first)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") SUB("sub", SERVICE("a") ON_ERROR("near", "a", "E1") TASK("fixed")
                                                 FLOW("near", "fixed")) ON_ANY_ERROR("far", "sub")
                           FLOW("s", "sub")),
               NULL);
    world_start(&world, NULL, NULL);

    world_answer(
        &world, "a", 200,
        "{\"error\":{\"code\":\"x\",\"message\":\"card declined\",\"bpmnError\":\"ONE\"}}");

    cr_expect_str_eq(world_trace(&world), "s sub a near fixed");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_error(&world), "");
    world_close(&world);
}

Test(scope, technical_failure_is_no_bpmn_error_and_is_not_caught)
{
    struct world world;
    world_open(&world, FILE_OF(START("s") SERVICE("a") ON_ANY_ERROR("b", "a") FLOW("s", "a")),
               NULL);
    world_start(&world, NULL, NULL);
    world_answer(&world, "a", 404, NULL);
    cr_expect_str_eq(world_trace(&world), "s a");
    cr_expect_str_eq(world_error(&world), "ModuleFailed");
    world_close(&world);
}

Test(scope, interrupted_host_takes_its_nested_scopes_calls_and_timers_with_it)
{
    struct world world;
    world_open(
        &world,
        CALLING(START("s")
                    SUB("sub", START("i") CALL("c", "q") USER("u") FLOW("i", "c")
                                   FLOW("i", "u")) "<boundaryEvent id='b' "
                                                   "attachedToRef='sub'><timerEventDefinition><"
                                                   "timeDuration>PT5S</timeDuration>"
                                                   "</timerEventDefinition></boundaryEvent>" USER(
                                                       "after") FLOW("s", "sub") FLOW("b", "after"),
                START("qs") SERVICE(
                    "qa") "<intermediateCatchEvent id='qt'><timerEventDefinition><timeDuration>PT9S"
                          "</timeDuration></timerEventDefinition></intermediateCatchEvent>" FLOW(
                              "qs", "qa") FLOW("qs", "qt")),
        NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_open_calls(&world), "qa");
    cr_expect_str_eq(world_waiting(&world), "u:human qt:timer");

    world_pass(&world, 5000);

    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_str_eq(world_waiting(&world), "after:human");
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    cr_expect_eq(world.execution->scope_order.count, 1);
    cr_expect_not(world_callback(&world, "u", "{}"),
                  "a late callback to the child is refused (F29)");
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);
    world_close(&world);
}

Test(scope, cancelled_work_is_told_to_the_module_that_asks_for_it)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") SERVICE(
            "a") "<boundaryEvent id='b' attachedToRef='a'><timerEventDefinition><timeDuration>PT5S"
                 "</timeDuration></timerEventDefinition></boundaryEvent>" FLOW("s", "a")),
        "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/svc\",\"cancel\":true}]");
    world_start(&world, NULL, NULL);
    world_answer(&world, "a", 202, NULL);

    world_pass(&world, 5000);

    cr_expect_str_eq(world_call_value(&world, "a", "phase"), "\"cancel\"");
    cr_expect_str_eq(world_call_value(&world, "a", "reason"), "\"cancelled\"");
    cr_expect_eq(world_answer_call(&world, 1, 200, "{}"), RESULT_NOT_FOUND,
                 "its answer is of no interest");
    world_close(&world);
}

/* ---- data ---- */

Test(sub_process, inputs_are_local_to_it_and_its_outputs_reach_the_parent)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") SUB(
            "sub", "<extensionElements><zeebe:ioMapping><zeebe:input source='=x' target='inner'/>"
                   "<zeebe:output source='=inner' "
                   "target='result'/></zeebe:ioMapping></extensionElements>" SERVICE("a"))
                    FLOW("s", "sub")),
        NULL);
    world_start(&world, NULL, "{\"x\":1}");

    world_answer(&world, "a", 200, "{\"execution\":{\"inner\":2,\"y\":3}}");

    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":1,\"y\":3,\"result\":2}",
                     "a local variable is changed where it is, a new one belongs to the process");
    world_close(&world);
}

Test(call_activity, has_variables_of_its_own)
{
    struct world world;
    world_open(
        &world,
        CALLING(
            START(
                "s") "<callActivity id='c' calledElement='q'><extensionElements><camunda:in "
                     "source='x' target='y'/>"
                     "<camunda:out source='z' target='w'/></extensionElements></callActivity>" FLOW(
                         "s", "c"),
            SERVICE("qa")),
        NULL);
    world_start(&world, NULL, "{\"x\":1,\"other\":2}");
    cr_expect_str_eq(world_call_value(&world, "qa", "execution"), "{\"y\":1}");
    cr_expect_str_eq(world_call_value(&world, "qa", "process"), "\"q\"");

    world_answer(&world, "qa", 200,
                 "{\"execution\":{\"z\":5,\"private\":1},\"outputs\":{\"n\":1}}");

    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":1,\"other\":2,\"w\":5}");
    cr_expect_str_eq(world_value(&world, "nodes"), "", "outputs of a called process are its own");
    world_close(&world);
}

Test(call_activity, without_mappings_shares_all_variables_both_ways)
{
    struct world world;
    world_open(&world, CALLING(START("s") CALL("c", "q") FLOW("s", "c"), SERVICE("qa")), NULL);
    world_start(&world, NULL, "{\"x\":1}");
    cr_expect_str_eq(world_call_value(&world, "qa", "execution"), "{\"x\":1}");
    world_crash(&world);
    world_answer(&world, "qa", 200, "{\"execution\":{\"z\":5}}");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"x\":1,\"z\":5}");
    world_close(&world);
}

Test(call_activity, failed_output_is_an_incident_on_it_and_a_retry_does_not_call_again)
{
    struct world world;
    world_open(
        &world,
        CALLING(START("s") "<callActivity id='c' calledElement='q'><extensionElements><camunda:out "
                           "sourceExpression='${gone}' "
                           "target='w'/></extensionElements></callActivity>" FLOW("s", "c"),
                TASK("qa")),
        NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_error(&world), "ExpressionFailed");

    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "c"));

    cr_expect_str_eq(world_error(&world), "ExpressionFailed");
    cr_expect_str_eq(world_trace(&world), "s c qa");
    world_close(&world);
}
