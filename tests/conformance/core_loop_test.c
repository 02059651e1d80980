/*
 * Activities with loop markers: multi-instance and standard loops (traps.md 7, 12; field reports
 * F19, F28, F74, F143).
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "tests/conformance/world.h"

#define MULTI(marker, inner)                                                                       \
    "<multiInstanceLoopCharacteristics " marker ">" inner "</multiInstanceLoopCharacteristics>"
#define TIMES(n)        "<loopCardinality>=" n "</loopCardinality>"
#define UNTIL(text)     "<completionCondition>=" text "</completionCondition>"
#define SEQUENTIAL      "isSequential='true'"
#define OVER(list, var) "camunda:collection='" list "' camunda:elementVariable='" var "'"
#define COLLECT(list, var, out, element)                                                           \
    MULTI("", "<extensionElements><zeebe:loopCharacteristics inputCollection='=" list              \
              "' inputElement='" var "' outputCollection='" out "' outputElement='=" element       \
              "'/></extensionElements>")
#define LOOP(attributes, condition)                                                                \
    "<standardLoopCharacteristics " attributes "><loopCondition>=" condition                       \
    "</loopCondition></standardLoopCharacteristics>"
#define A_TASK(loop) "<task id='a'>" loop "</task>"
#define A_USER(loop) "<userTask id='a'>" loop "</userTask>"
#define A_SERVICE(loop)                                                                            \
    "<serviceTask id='a' camunda:type='external' camunda:topic='svc'>" loop "</serviceTask>"
#define A_SUB(loop, body) "<subProcess id='a'>" loop body "</subProcess>"
#define AROUND(activity)  WORLD_BPMN(START("s") activity END("e") FLOW("s", "a") FLOW("a", "e"))

static const struct {
    const char *claim;
    const char *bpmn;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"a body is one step and each instance one", AROUND(A_TASK(MULTI("", TIMES("3")))),
     "s a a a a e", 40, ""},
    {"so it is one after the other", AROUND(A_TASK(MULTI(SEQUENTIAL, TIMES("3")))), "s a a a a e",
     40, ""},
    {"no instance: it is passed (traps 12)", AROUND(A_TASK(MULTI("", TIMES("0")))), "s a e", 40,
     ""},
    {"less than none is an error (traps 12)", AROUND(A_TASK(MULTI("", TIMES("-1")))), "s a", 24,
     "ExpressionFailed"},
    {"what is no list is an error", AROUND(A_TASK(MULTI(OVER("n", "i"), ""))), "s a", 24,
     "ExpressionFailed"},
    {"an empty list is passed", AROUND(A_TASK(MULTI(OVER("none", "i"), ""))), "s a e", 40, ""},
    {"more instances than tokens are refused", AROUND(A_TASK(MULTI("", TIMES("1000000")))), "s a",
     24, "StepLimitExceeded"},
    {"a completion condition ends the others",
     AROUND(A_TASK(MULTI("", TIMES("5") UNTIL("numberOfCompletedInstances = 2")))), "s a a a e", 40,
     ""},
    {"and stops a sequence",
     AROUND(A_TASK(MULTI(SEQUENTIAL, TIMES("5") UNTIL("nrOfCompletedInstances = 2")))), "s a a a e",
     40, ""},
    {"sub-processes have instances",
     AROUND(A_SUB(MULTI(SEQUENTIAL, TIMES("2")), START("i") TASK("t") FLOW("i", "t"))),
     "s a a i t a i t e", 40, ""},
    {"bodies nest",
     AROUND(A_SUB(MULTI(SEQUENTIAL, TIMES("2")),
                  "<task id='t'>" MULTI(SEQUENTIAL, TIMES("loopCounter")) "</task>")),
     "s a a t t a t t t e", 40, ""},
    {"terminate in one instance ends that one only (F13)",
     AROUND(A_SUB(MULTI(SEQUENTIAL, TIMES("2")),
                  START("i") "<endEvent id='x'><terminateEventDefinition/></endEvent>" USER("u")
                      FLOW("i", "u") FLOW("i", "x"))),
     "s a a i u x a i u x e", 40, ""},
    {"a standard loop tests after each pass (traps 12)",
     AROUND(A_TASK(LOOP("", "loopCounter &lt; 3"))), "s a a a e", 40, ""},
    {"its first pass needs no test", AROUND(A_TASK(LOOP("", "false"))), "s a e", 40, ""},
    {"it tests before where it says so: no pass, one step",
     AROUND(A_SUB(LOOP("testBefore='true'", "false"), TASK("t"))), "s a e", 40, ""},
    {"it stops at loopMaximum", AROUND(A_TASK(LOOP("loopMaximum='4'", "true"))), "s a a a a e", 40,
     ""},
    {"loopMaximum 0 is no pass", AROUND(A_SUB(LOOP("loopMaximum='0'", "true"), TASK("t"))), "s a e",
     40, ""},
    {"an endless loop without a wait is stopped (F32)", AROUND(A_TASK(LOOP("", "true"))), NULL, 24,
     "StepLimitExceeded"},
    {"an error in an instance is caught around the body (traps 7)",
     WORLD_FILE("<error id='E' errorCode='ONE'/>" WORLD_PROCESS(
         "p", START("s") A_SUB(MULTI("", TIMES("3")),
                               "<endEvent id='x'><errorEventDefinition "
                               "errorRef='E'/></endEvent>") "<boundaryEvent id='b' "
                                                            "attachedToRef='a'><"
                                                            "errorEventDefinition errorRef='E'/>"
                                                            "</boundaryEvent>" FLOW("s", "a"))),
     NULL, 40, ""},
};

Test(loop, runs_each_drawing_as_its_claim_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, rows[i].bpmn, NULL);
        world_start(&world, NULL, "{\"n\":1,\"none\":[]}");
        if (rows[i].trace != NULL) {
            cr_expect_str_eq(world_trace(&world), rows[i].trace, "%s: %s", rows[i].claim,
                             world_trace(&world));
        }
        cr_expect_eq(world_state(&world), rows[i].state, "%s: state %u", rows[i].claim,
                     world_state(&world));
        cr_expect_str_eq(world_error(&world), rows[i].error, "%s: %s", rows[i].claim,
                         world_error_message(&world));
        world_close(&world);
    }
}

Test(loop, instances_have_variables_of_their_own_and_their_results_are_collected_in_order)
{
    struct world world;
    world_open(&world, AROUND(A_SERVICE(COLLECT("list", "x", "out", "r"))), NULL);
    world_start(&world, NULL, "{\"list\":[10,20,30],\"r\":\"outer\"}");
    cr_expect_str_eq(world_open_calls(&world), "a a a");
    for (uint32_t i = 0; i < 3; i++) { /* the last one answers first */
        struct span config = wire_find_text(world.calls[2 - i].call.body, "config");
        cr_expect_eq(wire_int_or(wire_find_text(config, "x"), 0), 30 - 10 * (int64_t)i);
        cr_expect_eq(wire_int_or(wire_find_text(config, "loopCounter"), 0), 3 - (int64_t)i);
        char body[64];
        (void)snprintf(body, sizeof body, "{\"execution\":{\"r\":%u,\"seen\":%u}}", 3 - i, 3 - i);
        cr_expect_eq(world_answer_call(&world, 2 - i, 200, body), RESULT_OK);
        world_crash(&world);
    }
    cr_expect_str_eq(world_value(&world, "execution.out"), "[1,2,3]");
    cr_expect_str_eq(world_value(&world, "execution.r"), "\"outer\"");
    cr_expect_str_eq(world_value(&world, "execution.seen"), "1");
    cr_expect_str_eq(world_value(&world, "execution.x"), "");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(loop, the_list_is_frozen_at_the_beginning)
{
    struct world world; /* F19 */
    world_open(&world, AROUND(A_SERVICE(MULTI(SEQUENTIAL " " OVER("list", "x"), ""))), NULL);
    world_start(&world, NULL, "{\"list\":[1,2,3]}");
    world_answer(&world, "a", 200, "{\"execution\":{\"list\":[1]}}");
    world_answer(&world, "a", 200, "{\"execution\":{\"list\":\"none\"}}");
    cr_expect_str_eq(world_call_value(&world, "a", "config.x"), "3");
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_trace(&world), "s a a a a e");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"list\":\"none\"}"); /* F28: no more */
    world_close(&world);
}

Test(loop, a_condition_that_comes_true_drops_the_calls_of_the_others)
{
    struct world world;
    world_open(&world, AROUND(A_SERVICE(MULTI("", TIMES("4") UNTIL("enough")))), NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_open_calls(&world), "a a a a");
    world_answer(&world, "a", 200, "{}");
    world_crash(&world);
    world_answer(&world, "a", 200, "{\"execution\":{\"enough\":true}}");
    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(loop, callbacks_of_one_millisecond_all_count)
{
    struct world world; /* F74 */
    world_open(&world, AROUND(A_USER(MULTI("", TIMES("20")))), NULL);
    world_start(&world, NULL, NULL);
    for (unsigned i = 0; i < 20; i++) {
        cr_expect_eq(world_state(&world), 3);
        cr_expect(world_callback(&world, "a", "{}"));
    }
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(loop, of_instances_that_wait_a_callback_reaches_the_one_whose_step_it_names)
{
    struct world world;
    char first[UUID_TEXT_BYTES + 1], second[UUID_TEXT_BYTES + 1];
    world_open(&world, AROUND(A_USER(MULTI("", TIMES("2")))), NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_trace(&world), "s a a a");
    uuid_format(engine_step_id(world.execution, 3), first);
    uuid_format(engine_step_id(world.execution, 4), second);

    cr_expect(world_callback(&world, second, "{}"));
    cr_expect(!world_callback(&world, second, "{}"), "it waits no more");
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);

    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_expect(world_callback(&world, first, "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(loop, a_boundary_timer_ends_all_instances_at_once)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") A_SUB(
                   MULTI("", TIMES("3")),
                   USER("u")) "<boundaryEvent id='b' attachedToRef='a'><timerEventDefinition>"
                              "<timeDuration>PT1M</timeDuration></timerEventDefinition>"
                              "</boundaryEvent>" TASK("late") FLOW("s", "a") FLOW("b", "late")),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "u:human u:human u:human");
    world_callback(&world, "u", "{}");
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s a a a u a u u b late");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(loop, a_failed_instance_is_retried_and_the_body_goes_on)
{
    struct world world; /* F20 */
    world_open(&world, AROUND(A_SERVICE(MULTI("", TIMES("2")))), NULL);
    world_start(&world, NULL, NULL);
    world_answer(&world, "a", 400, NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect(world_verb(&world, ENGINE_IN_RETRY, "a"));
    cr_expect_str_eq(world_open_calls(&world), "a a");
    world_answer(&world, "a", 200, "{}");
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_trace(&world), "s a a a e");
    world_close(&world);
}

Test(loop, called_processes_and_sub_processes_collect_what_their_instances_made)
{
    struct world world;
    world_open(
        &world,
        WORLD_FILE(WORLD_PROCESS("p", START("s") "<callActivity id='a' calledElement='q'>" COLLECT(
                                          "list", "x", "out", "y") "</callActivity>" FLOW("s", "a"))
                       WORLD_PROCESS("q", "<scriptTask id='t'><extensionElements>"
                                          "<zeebe:script expression='=x * 2' "
                                          "resultVariable='y'/></extensionElements>"
                                          "</scriptTask>")),
        NULL);
    world_start(&world, NULL, "{\"list\":[1,2,3]}");
    cr_expect_str_eq(world_value(&world, "execution.out"), "[2,4,6]");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* F143. Not through the world, whose checks encode all of it after each move. */
struct many {
    uint32_t slices;
    uint32_t tokens_most;
    size_t memory_most;
    uint32_t steps;
    uint8_t end;
};

static struct many run_many(const char *bpmn)
{
    struct world world;
    struct many many = {0};
    struct arena arena;
    struct engine_output output;
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = WORLD_CLOCK_START_MS};
    world_open(&world, bpmn, NULL);
    struct engine_start start = {.process = &world.definition->processes[0],
                                 .project = span_text("default")};
    cr_assert_eq(execution_id_parse(span_text("many"), &start.id), RESULT_OK);
    struct engine_execution *execution = engine_new(&world.catalog, &start, input.now_ms);
    bool more = true;
    for (; more; many.slices++) {
        arena_init(&arena, 1 << 16, 256 << 20);
        engine_output_init(&output, &arena);
        enum result result =
            many.slices == 0 ? engine_accept(execution, &input, &output) : RESULT_OK;
        cr_assert_eq(result, RESULT_OK);
        cr_assert_eq(
            engine_advance(execution, input.now_ms, LIMIT_TOKEN_MOVES, NULL, NULL, &output, &more),
            RESULT_OK);
        size_t memory = execution->memory.taken_bytes;
        many.memory_most = memory > many.memory_most ? memory : many.memory_most;
        uint32_t tokens = execution->token_count;
        many.tokens_most = tokens > many.tokens_most ? tokens : many.tokens_most;
        arena_release(&arena);
    }
    many.steps = execution->sequence;
    many.end = execution->end;
    engine_free(execution);
    world_close(&world);
    return many;
}

#define LIST_OF_MANY                                                                               \
    "<scriptTask id='list'><extensionElements><zeebe:script expression='=for i in 1..50000 "       \
    "return i' resultVariable='items'/></extensionElements></scriptTask>"
#define OVER_MANY(kind)                                                                            \
    WORLD_BPMN(LIST_OF_MANY "<" kind " id='a'>" COLLECT(                                           \
        "items", "x", "out", "x * 2") "</" kind ">" END("e") FLOW("list", "a") FLOW("a", "e"))

Test(loop, fifty_thousand_instances_are_spread_over_slices_in_bounded_memory)
{
    struct many many = run_many(OVER_MANY("task"));
    cr_expect_eq(many.steps, 50003);
    cr_expect_eq(many.end, ENGINE_END_COMPLETED);
    cr_expect_geq(many.slices, 50000 / LIMIT_TOKEN_MOVES);
    cr_expect_lt(many.tokens_most, 8);
    cr_expect_lt(many.memory_most, 32u << 20, "%zu", many.memory_most);
}

Test(loop, fifty_thousand_instances_can_wait_at_once)
{
    struct many many = run_many(OVER_MANY("userTask"));
    cr_expect_eq(many.steps, 50002);
    cr_expect_eq(many.tokens_most, 50001);
    cr_expect_lt(many.memory_most, 128u << 20, "%zu", many.memory_most);
}
