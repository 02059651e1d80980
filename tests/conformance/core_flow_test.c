/*
 * Tokens on flows: sequence, splits, joins, gateways, ends. Each process is the smallest drawing
 * that can show its claim false.
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

/* Processes without modules or waits: the trace and how the run ends say it all. */
static const struct {
    const char *claim;
    const char *bpmn;
    const char *execution;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"a task of no kind passes silently",
     WORLD_BPMN(START("s") TASK("a") END("e") FLOW("s", "a") FLOW("a", "e")), NULL, "s a e", 40,
     ""},
    {"a node without outgoing flow consumes its token",
     WORLD_BPMN(START("s") TASK("a") FLOW("s", "a")), NULL, "s a", 40, ""},
    {"several outgoing flows are a parallel split",
     WORLD_BPMN(START("s") TASK("a") TASK("b") TASK("c") FLOW("s", "a") FLOW("a", "b")
                    FLOW("a", "c")),
     NULL, "s a b c", 40, ""},
    {"several incoming flows do not synchronise (traps 3)",
     WORLD_BPMN(START("s") TASK("a") TASK("b") TASK("c") FLOW("s", "a") FLOW("s", "b")
                    FLOW("a", "c") FLOW("b", "c")),
     NULL, "s a b c c", 40, ""},
    {"an exclusive merge passes every token",
     WORLD_BPMN(START("s") AND("f") XOR("x") TASK("c") FLOW(
         "s", "f") "<sequenceFlow id='1' sourceRef='f' targetRef='x'/>"
                   "<sequenceFlow id='2' sourceRef='f' targetRef='x'/>" FLOW("x", "c")),
     NULL, "s f x x c c", 40, ""},
    {"a parallel join waits for every flow and is one step",
     WORLD_BPMN(START("s") AND("f") TASK("a") TASK("b") AND("j") END("e") FLOW("s", "f")
                    FLOW("f", "a") FLOW("f", "b") FLOW("a", "j") FLOW("b", "j") FLOW("j", "e")),
     NULL, "s f a b j e", 40, ""},
    {"the first true condition wins",
     WORLD_BPMN(START("s") XOR("x") TASK("a") TASK("b") FLOW("s", "x")
                    FLOW_IF("x", "a", "=n &gt; 1") FLOW_IF("x", "b", "=n &gt; 0")),
     "{\"n\":2}", "s x a", 40, ""},
    {"conditions are tried in document order",
     WORLD_BPMN(START("s") XOR("x") TASK("a") TASK("b") FLOW("s", "x")
                    FLOW_IF("x", "a", "=n &gt; 5") FLOW_IF("x", "b", "=n &gt; 0")),
     "{\"n\":2}", "s x b", 40, ""},
    {"the default fires when no condition did, and its own condition is ignored (F26)",
     WORLD_BPMN(START("s") "<exclusiveGateway id='x' default='x-b'/>" TASK("a") TASK("b") FLOW(
         "s", "x") FLOW_IF("x", "b", "=1/0 &gt; nonsense") FLOW_IF("x", "a", "=n &gt; 5")),
     "{\"n\":2}", "s x b", 40, ""},
    {"no condition true and no default: NoPathTaken (F25)",
     WORLD_BPMN(START("s") XOR("x") TASK("a") TASK("b") FLOW("s", "x")
                    FLOW_IF("x", "a", "=n &lt; 1") FLOW_IF("x", "b", "=n &gt; 9")),
     "{\"n\":5}", "s x", 24, "NoPathTaken"},
    {"a condition on null does not fire (F37)",
     WORLD_BPMN(START("s") "<exclusiveGateway id='x' default='x-b'/>" TASK("a") TASK("b")
                    FLOW("s", "x") FLOW_IF("x", "a", "=missing &gt; 5") FLOW("x", "b")),
     NULL, "s x b", 40, ""},
    {"conditions on flows out of a parallel gateway are ignored",
     WORLD_BPMN(START("s") AND("f") TASK("a") TASK("b") FLOW("s", "f") FLOW_IF("f", "a", "=false")
                    FLOW_IF("f", "b", "=false")),
     NULL, "s f a b", 40, ""},
    {"out of an activity every true condition and every unconditional flow fires (traps 4)",
     WORLD_BPMN(START("s") TASK("t") TASK("a") TASK("b") TASK("c") FLOW("s", "t")
                    FLOW_IF("t", "a", "=true") FLOW_IF("t", "b", "=false") FLOW("t", "c")),
     NULL, "s t a c", 40, ""},
    {"the default of an activity fires when no conditional one is true, beside an unconditional "
     "one (traps 4)",
     WORLD_BPMN(START("s") "<task id='t' default='t-d'/>" TASK("a") TASK("c") TASK("d")
                    FLOW("s", "t") FLOW_IF("t", "a", "=false") FLOW("t", "c") FLOW("t", "d")),
     NULL, "s t c d", 40, ""},
    {"the default of an activity does not fire when a conditional one is true (traps 4)",
     WORLD_BPMN(START("s") "<task id='t' default='t-d'/>" TASK("a") TASK("c") TASK("d")
                    FLOW("s", "t") FLOW("t", "d") FLOW_IF("t", "a", "=true") FLOW("t", "c")),
     NULL, "s t a c", 40, ""},
    {"no flow of an activity may fire: NoPathTaken (traps 4)",
     WORLD_BPMN(START("s") TASK("t") TASK("a") FLOW("s", "t") FLOW_IF("t", "a", "=false")), NULL,
     "s t", 24, "NoPathTaken"},
    {"every node without incoming flow gets a token when there is no start event",
     WORLD_BPMN(TASK("a") TASK("b") TASK("c") FLOW("b", "c")), NULL, "a b c", 40, ""},
    {"several none starts all fire, in one execution",
     WORLD_BPMN(START("s1") START("s2") TASK("a") TASK("b") FLOW("s1", "a") FLOW("s2", "b")), NULL,
     "s1 s2 a b", 40, ""},
    {"two tokens on one flow of a join are not two flows (F4): deadlock",
     WORLD_BPMN(START("s") AND("f") XOR("m") AND("j") TASK("never") TASK("z") FLOW(
         "s", "f") "<sequenceFlow id='1' sourceRef='f' targetRef='m'/><sequenceFlow id='2' "
                   "sourceRef='f' targetRef='m'/>" FLOW("m", "j") FLOW("never", "j")
                       FLOW("j", "z") "<sequenceFlow id='3' sourceRef='z' targetRef='never'/>"),
     NULL, "s f m m", 24, "Deadlock"},
    {"a join fed by both arms of an exclusive split deadlocks (F8)",
     WORLD_BPMN(START("s") AND("f") TASK("a") "<exclusiveGateway id='x' default='x-j2'/>" TASK("j2")
                    AND("j") END("e") FLOW("s", "f") FLOW("f", "a") FLOW("f", "x") FLOW("a", "j")
                        FLOW_IF("x", "j", "=true") FLOW("x", "j2") FLOW("j2", "j") FLOW("j", "e")),
     NULL, "s f a x", 24, "Deadlock"},
    {"a terminate end ends the process at once, tokens in joins included (F11)",
     WORLD_BPMN(START("s") AND("f") TASK("a") TASK("b") TASK("c") AND(
         "j") "<endEvent id='t'><terminateEventDefinition/></endEvent>" FLOW("s", "f")
                    FLOW("f", "a") FLOW("f", "b") FLOW("a", "j") FLOW("c", "j") FLOW("b", "t")
                        FLOW("j", "c")),
     NULL, "s f a b t", 40, ""},
    {"an intermediate none throw event passes",
     WORLD_BPMN(START("s") "<intermediateThrowEvent id='i'/>" END("e") FLOW("s", "i")
                    FLOW("i", "e")),
     NULL, "s i e", 40, ""},
    {"a loop without a wait is stopped by the step limit (F32)",
     WORLD_BPMN(START("s") XOR("m") TASK("a") FLOW("s", "m") FLOW("m", "a") FLOW("a", "m")), NULL,
     NULL, 24, "StepLimitExceeded"},
    {"a service task without a module is passed with the Exception flag: 56",
     WORLD_BPMN(START("s") "<serviceTask id='a'/>" END("e") FLOW("s", "a") FLOW("a", "e")), NULL,
     "s a e", 56, "ModuleNotFound"},
    {"an uncaught error end fails with its code",
     WORLD_FILE("<error id='E' errorCode='OUT'/>" WORLD_PROCESS(
         "p", START("s") "<endEvent id='e'><errorEventDefinition errorRef='E'/></endEvent>" FLOW(
                  "s", "e"))),
     NULL, "s e", 24, "OUT"},
};

Test(flow, runs_each_drawing_as_its_claim_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, rows[i].bpmn, NULL);

        world_start(&world, NULL, rows[i].execution);

        if (rows[i].trace != NULL) {
            cr_expect_str_eq(world_trace(&world), rows[i].trace, "%s: %s", rows[i].claim,
                             world_trace(&world));
        }
        cr_expect_eq(world_state(&world), rows[i].state, "%s: state %u", rows[i].claim,
                     world_state(&world));
        cr_expect_str_eq(world_error(&world), rows[i].error, "%s: %s", rows[i].claim,
                         world_error_message(&world));
        cr_expect_str_eq(world_waiting(&world), "");
        world_close(&world);
    }
}

Test(flow, tells_one_audit_message_at_the_start_and_one_at_the_end)
{
    struct world world;
    world_open(&world, rows[0].bpmn, NULL);

    world_start(&world, NULL, NULL);

    cr_expect_str_eq(world.audit_events, "started completed ");
    cr_expect_eq(world.steps_shown, 3);
    cr_expect_eq(world.segment_ends, 1);
    world_close(&world);
}

Test(flow, an_and_join_in_a_loop_waits_for_both_again_on_the_second_lap)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") XOR("m") AND("f") SERVICE("a") SERVICE("b")
                              AND("j") "<exclusiveGateway id='x' default='x-e'/>" END("e")
                                  FLOW("s", "m") FLOW("m", "f") FLOW("f", "a") FLOW("f", "b")
                                      FLOW("a", "j") FLOW("b", "j") FLOW("j", "x")
                                          FLOW_IF("x", "m", "=again") FLOW("x", "e")),
               NULL);

    world_start(&world, NULL, "{\"again\":true}");
    world_answer(&world, "a", 200, "{}");
    world_answer(&world, "b", 200, "{}");
    world_answer(&world, "b", 200, "{\"execution\":{\"again\":false}}");
    cr_expect_str_eq(world_trace(&world), "s m f a b j x m f a b", "the join must wait for a");
    world_answer(&world, "a", 200, "{}");

    cr_expect_str_eq(world_trace(&world), "s m f a b j x m f a b j x e");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(flow, parallel_branches_call_their_modules_at_once)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") SERVICE("a") SERVICE("b") AND("j") END("e") FLOW("s", "a")
                              FLOW("s", "b") FLOW("a", "j") FLOW("b", "j") FLOW("j", "e")),
               NULL);

    world_start(&world, NULL, NULL);

    cr_expect_str_eq(world_open_calls(&world), "a b");
    cr_expect_eq(world_state(&world), 5);
    world_answer(&world, "b", 200, "{}");
    cr_expect_eq(world_state(&world), 5 | 64, "%u", world_state(&world));
    world_answer(&world, "a", 200, "{}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}
