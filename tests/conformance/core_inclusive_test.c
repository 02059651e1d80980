/*
 * Inclusive gateways and link events: traps.md 1 and 5, field reports F1 and F2. An inclusive join
 * is judged by where all other tokens of its scope are, whenever one of them moved or went away.
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define OR(id)               "<inclusiveGateway id='" id "'/>"
#define OR_DEFAULT(id, flow) "<inclusiveGateway id='" id "' default='" flow "'/>"
#define THROW_LINK(id, name)                                                                       \
    "<intermediateThrowEvent id='" id "'><linkEventDefinition name='" name                         \
    "'/></intermediateThrowEvent>"
#define CATCH_LINK(id, name)                                                                       \
    "<intermediateCatchEvent id='" id "'><linkEventDefinition name='" name                         \
    "'/></intermediateCatchEvent>"
#define NAMED_FLOW(id, from, to)                                                                   \
    "<sequenceFlow id='" id "' sourceRef='" from "' targetRef='" to "'/>"

/* Processes without modules or waits. */
static const struct {
    const char *claim;
    const char *bpmn;
    const char *execution;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"every true flow is taken and the default is not",
     WORLD_BPMN(START("s") OR_DEFAULT("o", "o-c") TASK("a") TASK("b") TASK("c") FLOW("s", "o")
                    FLOW_IF("o", "a", "=n &gt; 0") FLOW_IF("o", "b", "=n &gt; 1") FLOW("o", "c")),
     "{\"n\":2}", "s o a b", 40, ""},
    {"the default is taken when no flow is true",
     WORLD_BPMN(START("s") OR_DEFAULT("o", "o-c") TASK("a") TASK("c") FLOW("s", "o")
                    FLOW_IF("o", "a", "=n &gt; 0") FLOW("o", "c")),
     "{\"n\":0}", "s o c", 40, ""},
    {"a flow without a condition is always taken, and the default is not beside it",
     WORLD_BPMN(START("s") OR_DEFAULT("o", "o-c") TASK("a") TASK("b") TASK("c") FLOW("s", "o")
                    FLOW_IF("o", "a", "=n &gt; 0") FLOW("o", "b") FLOW("o", "c")),
     "{\"n\":0}", "s o b", 40, ""},
    {"no true flow and no default: NoPathTaken",
     WORLD_BPMN(START("s") OR("o") TASK("a") FLOW("s", "o") FLOW_IF("o", "a", "=n &gt; 0")),
     "{\"n\":0}", "s o", 24, "NoPathTaken"},
    {"two of three branches live: the join waits for both and what follows runs once (F2)",
     WORLD_BPMN(START("s") OR("o") TASK("a") TASK("b") TASK("b2") TASK("c") OR("j") TASK("z") FLOW(
         "s", "o") FLOW_IF("o", "a", "=true") FLOW_IF("o", "b", "=true") FLOW_IF("o", "c", "=false")
                    FLOW("a", "j") FLOW("b", "b2") FLOW("b2", "j") FLOW("c", "j") FLOW("j", "z")),
     NULL, "s o a b b2 j z", 40, ""},
    {"two tokens on one flow fire the join twice and the run ends (F1)",
     WORLD_BPMN(START("s") AND("f") XOR("m") TASK("b") OR("j") TASK("z") NAMED_FLOW("1", "f", "m")
                    NAMED_FLOW("2", "f", "m") FLOW("s", "f") FLOW("f", "b") FLOW("m", "j")
                        FLOW("b", "j") FLOW("j", "z")),
     NULL, "s f m m b j j z z", 40, ""},
    {"a token that turns away at an exclusive gateway lets the join fire",
     WORLD_BPMN(START("s") AND("f") TASK("a") TASK(
         "b") "<exclusiveGateway id='x' default='x-j'/>" TASK("away") OR("j") TASK("z")
                    FLOW("s", "f") FLOW("f", "a") FLOW("f", "b") FLOW("a", "j") FLOW("b", "x")
                        FLOW_IF("x", "away", "=true") FLOW("x", "j") FLOW("j", "z")),
     NULL, "s f a b x j away z", 40, ""},
    {"a token whose way back leads through the join does not block it",
     WORLD_BPMN(START("s") AND("f") OR("j")
                    TASK("z") "<exclusiveGateway id='x' default='x-e'/>" TASK("back") END("e")
                        TASK("a") FLOW("s", "f") FLOW("f", "a") FLOW("a", "j") FLOW("f", "e2")
                            END("e2") FLOW("j", "z") FLOW("z", "x") FLOW_IF("x", "back", "=false")
                                FLOW("x", "e") FLOW("back", "j")),
     NULL, "s f a e2 j z x e", 40, ""},
    {"a link leads on at its catch event",
     WORLD_BPMN(START("s") TASK("a") THROW_LINK("t", "L") CATCH_LINK("c", "L") TASK("b")
                    FLOW("s", "a") FLOW("a", "t") FLOW("c", "b")),
     NULL, "s a t c b", 40, ""},
    {"several throw events lead to one catch event",
     WORLD_BPMN(START("s") THROW_LINK("t1", "L") THROW_LINK("t2", "L") CATCH_LINK("c", "L")
                    TASK("b") FLOW("s", "t1") FLOW("s", "t2") FLOW("c", "b")),
     NULL, "s t1 t2 c c b b", 40, ""},
    {"a link is a way that an inclusive join waits for",
     WORLD_BPMN(START("s") AND("f") TASK("a") TASK("b") THROW_LINK("t", "L") CATCH_LINK("c", "L")
                    OR("j") TASK("z") FLOW("s", "f") FLOW("f", "a") FLOW("f", "b") FLOW("a", "j")
                        FLOW("b", "t") FLOW("c", "j") FLOW("j", "z")),
     NULL, "s f a b t c j z", 40, ""},
    {"a link leads on inside a sub-process",
     WORLD_BPMN(START("s") "<subProcess id='p1'>" START("is") THROW_LINK("t", "L")
                    CATCH_LINK("c", "L") FLOW("is", "t") "</subProcess>" CATCH_LINK("outer", "L")
                        TASK("b") FLOW("s", "p1") FLOW("p1", "b")),
     NULL, "s p1 is t c b", 40, ""},
    {"two inclusive joins that wait for each other deadlock",
     WORLD_BPMN(START("s") AND("f") OR("j1")
                    OR("j2") "<exclusiveGateway id='x' default='x-e'/>" END("e") FLOW("s", "f")
                        FLOW("f", "j1") FLOW("f", "j2") FLOW("j1", "j2") FLOW("j2", "x")
                            FLOW_IF("x", "j1", "=true") FLOW("x", "e")),
     NULL, "s f", 24, "Deadlock"},
};

Test(inclusive, runs_each_drawing_as_its_claim_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, rows[i].bpmn, NULL);

        world_start(&world, NULL, rows[i].execution);

        cr_expect_str_eq(world_trace(&world), rows[i].trace, "%s: %s", rows[i].claim,
                         world_trace(&world));
        cr_expect_eq(world_state(&world), rows[i].state, "%s: state %u", rows[i].claim,
                     world_state(&world));
        cr_expect_str_eq(world_error(&world), rows[i].error, "%s: %s", rows[i].claim,
                         world_error_message(&world));
        world_close(&world);
    }
}

#define BOUNDARY_TIMER(id, host, cancel)                                                           \
    "<boundaryEvent id='" id "' attachedToRef='" host "' cancelActivity='" cancel                  \
    "'><timerEventDefinition><timeDuration>PT1M</timeDuration></timerEventDefinition>"             \
    "</boundaryEvent>"

Test(inclusive, a_branch_that_a_boundary_event_takes_away_lets_the_join_fire)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") AND("f") TASK("a") USER("u") BOUNDARY_TIMER("b", "u", "true")
                              END("gone") OR("j") TASK("z") FLOW("s", "f") FLOW("f", "a")
                                  FLOW("f", "u") FLOW("a", "j") FLOW("u", "j") FLOW("b", "gone")
                                      FLOW("j", "z")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_trace(&world), "s f a u", "the join must wait for u");
    world_crash(&world);
    world_pass(&world, 60000);

    cr_expect_str_eq(world_trace(&world), "s f a u j b z gone");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* Our rule where the standard says nothing: what an active host's boundary event leads to can still
 * come. */
Test(inclusive, the_boundary_event_of_an_active_host_is_a_way_that_a_join_waits_for)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") AND("f") TASK("a") USER("u") BOUNDARY_TIMER("b", "u", "true")
                              END("e") OR("j") TASK("z") FLOW("s", "f") FLOW("f", "a")
                                  FLOW("f", "u") FLOW("a", "j") FLOW("u", "e") FLOW("b", "j")
                                      FLOW("j", "z")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_trace(&world), "s f a u");
    world_callback(&world, "u", NULL);

    cr_expect_str_eq(world_trace(&world), "s f a u j e z", "%s", world_trace(&world));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(inclusive, a_join_in_a_sub_process_does_not_look_outside)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") USER("u") "<subProcess id='p1'>" START("is") AND("f") TASK("a")
                              TASK("b") OR("j") FLOW("is", "f") FLOW("f", "a") FLOW("f", "b")
                                  FLOW("a", "j") FLOW("b", "j") "</subProcess>" FLOW("s", "u")
                                      FLOW("s", "p1") FLOW("u", "p1")),
               NULL);

    world_start(&world, NULL, NULL);

    cr_expect_str_eq(world_trace(&world), "s u p1 is f a b j");
    world_close(&world);
}
