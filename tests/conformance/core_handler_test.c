/*
 * Event sub-processes and escalations (traps.md 8, 9; field reports F10, F29).
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define SUB(id, body) "<subProcess id='" id "'>" body "</subProcess>"
#define ON(id, start, body)                                                                        \
    "<subProcess id='" id "' triggeredByEvent='true'>" start body "</subProcess>"
#define STARTED(id, interrupting, event)                                                           \
    "<startEvent id='" id "' isInterrupting='" interrupting "'>" event "</startEvent>"
#define ERROR(ref)      "<errorEventDefinition errorRef='" ref "'/>"
#define ANY_ERROR       "<errorEventDefinition/>"
#define ESCALATION(ref) "<escalationEventDefinition escalationRef='" ref "'/>"
#define ANY_ESCALATION  "<escalationEventDefinition/>"
#define AFTER(duration)                                                                            \
    "<timerEventDefinition><timeDuration>" duration "</timeDuration></timerEventDefinition>"
#define EVERY(cycle)        "<timerEventDefinition><timeCycle>" cycle "</timeCycle></timerEventDefinition>"
#define END_WITH(id, event) "<endEvent id='" id "'>" event "</endEvent>"
#define THROW_WITH(id, event)                                                                      \
    "<intermediateThrowEvent id='" id "'>" event "</intermediateThrowEvent>"
#define BOUNDARY(id, host, cancel, event)                                                          \
    "<boundaryEvent id='" id "' attachedToRef='" host "' cancelActivity='" cancel "'>" event       \
    "</boundaryEvent>"
#define ROOTS                                                                                      \
    "<error id='E1' errorCode='ONE'/><error id='E2' errorCode='TWO'/>"                             \
    "<escalation id='S1' escalationCode='UP'/><escalation id='S2' escalationCode='OVER'/>"
#define FILE_OF(body)         WORLD_FILE(ROOTS WORLD_PROCESS("p", body))
#define CALLING(body, called) WORLD_FILE(ROOTS WORLD_PROCESS("p", body) WORLD_PROCESS("q", called))
#define CALL(id, process)     "<callActivity id='" id "' calledElement='" process "'/>"

static const struct {
    const char *claim;
    const char *bpmn;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"an error event sub-process takes the process over",
     FILE_OF(START("s") AND("f") USER("u") END_WITH("x", ERROR("E1"))
                 ON("h", STARTED("hs", "true", ERROR("E1")), TASK("t") FLOW("hs", "t"))
                     FLOW("s", "f") FLOW("f", "u") FLOW("f", "x")),
     "s f u x h hs t", 40, ""},
    {"after it its sub-process ends as usual (traps 8)",
     FILE_OF(START("s") SUB("sub", END_WITH("x", ERROR("E1"))
                                       ON("h", STARTED("hs", "true", ERROR("E1")), "")) TASK("out")
                 FLOW("s", "sub") FLOW("sub", "out")),
     "s sub x h hs out", 40, ""},
    {"the event sub-process of a scope comes before its boundary (traps 8)",
     FILE_OF(START("s") SUB("sub", END_WITH("x", ERROR("E1"))
                                       ON("h", STARTED("hs", "true", ANY_ERROR), ""))
                 BOUNDARY("b", "sub", "true", ERROR("E1")) FLOW("s", "sub")),
     "s sub x h hs", 40, ""},
    {"the boundary of the activity itself comes before the scope's event sub-process",
     FILE_OF(START("s") SUB("sub", END_WITH("x", ERROR("E1")))
                 BOUNDARY("b", "sub", "true", ANY_ERROR)
                     ON("h", STARTED("hs", "true", ERROR("E1")), "") FLOW("s", "sub")),
     "s sub x b", 40, ""},
    {"of two event sub-processes the specific code wins (traps 8)",
     FILE_OF(START("s") END_WITH("x", ERROR("E1")) ON("any", STARTED("as", "true", ANY_ERROR), "")
                 ON("one", STARTED("os", "true", ERROR("E1")), "") FLOW("s", "x")),
     "s x one os", 40, ""},
    {"what a handler throws begins at the scope outside (traps 8)",
     FILE_OF(START("s") SUB("sub", END_WITH("x", ERROR("E1"))
                                       ON("h", STARTED("hs", "true", ANY_ERROR),
                                          END_WITH("again", ERROR("E2")) FLOW("hs", "again")))
                 BOUNDARY("b", "sub", "true", ERROR("E2")) FLOW("s", "sub")),
     "s sub x h hs again b", 40, ""},
    {"a handler's error that nobody catches is an incident",
     FILE_OF(START("s") END_WITH("x", ERROR("E1"))
                 ON("h", STARTED("hs", "true", ANY_ERROR),
                    END_WITH("again", ERROR("E2")) FLOW("hs", "again")) FLOW("s", "x")),
     "s x h hs again", 24, "TWO"},
    {"an error is no matter of other codes",
     FILE_OF(START("s") END_WITH("x", ERROR("E1")) ON("h", STARTED("hs", "true", ERROR("E2")), "")
                 FLOW("s", "x")),
     "s x", 24, "ONE"},
    {"an error event sub-process interrupts, whatever it says",
     FILE_OF(START("s") AND("f") USER("u") END_WITH("x", ERROR("E1"))
                 ON("h", STARTED("hs", "false", ERROR("E1")), "") FLOW("s", "f") FLOW("f", "u")
                     FLOW("f", "x")),
     "s f u x h hs", 40, ""},
    {"errors reach the event sub-process of the caller and end what it called (F29)",
     CALLING(START("s") CALL("c", "q") ON("h", STARTED("hs", "true", ERROR("E1")), "")
                 FLOW("s", "c"),
             START("qs") USER("u") END_WITH("x", ERROR("E1")) FLOW("qs", "u") FLOW("qs", "x")),
     "s c qs u x h hs", 40, ""},
    {"an escalation that nobody catches means nothing (traps 9)",
     FILE_OF(START("s") THROW_WITH("t", ESCALATION("S1")) END_WITH("e", ESCALATION("S2"))
                 FLOW("s", "t") FLOW("t", "e")),
     "s t e", 40, ""},
    {"a non-interrupting boundary takes an escalation and the thrower goes on (traps 9)",
     FILE_OF(START("s") SUB("sub", START("i") THROW_WITH("t", ESCALATION("S1")) TASK("a")
                                       FLOW("i", "t") FLOW("t", "a"))
                 BOUNDARY("b", "sub", "false", ESCALATION("S1")) TASK("up") TASK("out")
                     FLOW("s", "sub") FLOW("b", "up") FLOW("sub", "out")),
     "s sub i t b a up out", 40, ""},
    {"an interrupting boundary ends the thrower",
     FILE_OF(START("s") SUB("sub", START("i") THROW_WITH("t", ESCALATION("S1")) TASK("a")
                                       FLOW("i", "t") FLOW("t", "a"))
                 BOUNDARY("b", "sub", "true", ESCALATION("S1")) TASK("up") TASK("out")
                     FLOW("s", "sub") FLOW("b", "up") FLOW("sub", "out")),
     "s sub i t b up", 40, ""},
    {"an escalation end event may leave its scope to go on",
     FILE_OF(START("s") SUB("sub", END_WITH("x", ESCALATION("S1"))) BOUNDARY(
         "b", "sub", "false", ANY_ESCALATION) TASK("out") FLOW("s", "sub") FLOW("sub", "out")),
     "s sub x b out", 40, ""},
    {"an escalation event sub-process runs beside its scope",
     FILE_OF(START("s") THROW_WITH("t", ESCALATION("S1")) TASK("a")
                 ON("h", STARTED("hs", "false", ESCALATION("S1")), TASK("up") FLOW("hs", "up"))
                     FLOW("s", "t") FLOW("t", "a")),
     "s t h a hs up", 40, ""},
    {"or takes it over",
     FILE_OF(START("s") THROW_WITH("t", ESCALATION("S1")) TASK("a")
                 ON("h", STARTED("hs", "true", ANY_ESCALATION), "") FLOW("s", "t") FLOW("t", "a")),
     "s t h hs", 40, ""},
    {"an escalation passes through call activities",
     CALLING(START("s") CALL("c", "q") BOUNDARY("b", "c", "true", ESCALATION("S1")) FLOW("s", "c"),
             END_WITH("x", ESCALATION("S1"))),
     "s c x b", 40, ""},
};

Test(handler, runs_each_drawing_as_its_claim_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world, rows[i].bpmn, NULL);
        world_start(&world, NULL, NULL);
        cr_expect_str_eq(world_trace(&world), rows[i].trace, "%s: %s", rows[i].claim,
                         world_trace(&world));
        cr_expect_eq(world_state(&world), rows[i].state, "%s: state %u", rows[i].claim,
                     world_state(&world));
        cr_expect_str_eq(world_error(&world), rows[i].error, "%s: %s", rows[i].claim,
                         world_error_message(&world));
        world_close(&world);
    }
}

Test(handler, a_timer_interrupts_all_branches_of_its_scope)
{
    struct world world; /* F10 */
    world_open(&world,
               FILE_OF(START("s") AND("f") USER("u") SERVICE("a")
                           ON("h", STARTED("hs", "true", AFTER("PT1M")), TASK("t") FLOW("hs", "t"))
                               FLOW("s", "f") FLOW("f", "u") FLOW("f", "a")),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "u:human");
    world_crash(&world);
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s f u a h hs t");
    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_not(world_callback(&world, "u", "{}"));
    world_close(&world);
}

Test(handler, whatever_its_branches_are_at_none_outlives_the_interruption, .timeout = 120)
{
    enum { LIVES = 1000, BRANCHES = 4 }; /* F10 */
    static const char drawing[] = FILE_OF(
        START("s") AND("f") USER("u") SERVICE("a") SERVICE("b") USER("v") AND("j")
            ON("h", STARTED("hs", "true", AFTER("PT1M")), TASK("t") FLOW("hs", "t")) FLOW("s", "f")
                FLOW("f", "u") FLOW("f", "a") FLOW("f", "b") FLOW("f", "v") FLOW("u", "j")
                    FLOW("a", "j") FLOW("b", "j") FLOW("v", "j") FLOW("j", "t2") TASK("t2"));
    for (unsigned life = 0; life < LIVES; life++) {
        struct world world;
        world_open(&world, drawing, NULL);
        world_start(&world, NULL, NULL);
        /* Three of the four branches at most are at the join when it happens. */
        unsigned answered = life % (1u << BRANCHES);
        answered = answered == (1u << BRANCHES) - 1 ? 0 : answered;
        for (unsigned i = 0; i < BRANCHES; i++) {
            static const char *const ids[] = {"u", "a", "b", "v"};
            unsigned branch = (i + life / 16) % BRANCHES;
            if ((answered & 1u << branch) == 0) {
                continue;
            }
            if (branch == 1 || branch == 2) {
                world_answer(&world, ids[branch], 200, NULL);
            } else {
                cr_assert(world_callback(&world, ids[branch], "{}"));
            }
        }
        if (life % 3 == 0) {
            world_crash(&world);
        }
        world_pass(&world, 60000);
        cr_assert_eq(world_state(&world), 40, "life %u", life);
        cr_assert_str_eq(world_open_calls(&world), "");
        cr_assert_str_eq(world_waiting(&world), "");
        world_close(&world);
    }
}

Test(handler, a_cycle_begins_one_beside_the_other_until_the_scope_ends)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s")
                           SUB("sub", USER("u") ON("h", STARTED("hs", "false", EVERY("R/PT1M")),
                                                   USER("t") FLOW("hs", "t"))) TASK("out")
                               FLOW("s", "sub") FLOW("sub", "out")),
               NULL);
    world_start(&world, NULL, NULL);
    world_pass(&world, 120000);
    cr_expect_str_eq(world_waiting(&world), "u:human t:human t:human");
    world_callback(&world, "u", "{}");
    cr_expect_str_eq(world_trace(&world), "s sub u h hs t h hs t"); /* traps.md 10 */
    world_callback(&world, "t", "{}");
    world_callback(&world, "t", "{}");
    cr_expect_str_eq(world_trace(&world), "s sub u h hs t h hs t out");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    world_close(&world);
}

Test(handler, its_timer_ends_with_its_scope)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s")
                           SUB("sub", TASK("a") ON("h", STARTED("hs", "true", AFTER("PT1M")), ""))
                               USER("u") FLOW("s", "sub") FLOW("sub", "u")),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s sub a u");
    world_close(&world);
}

Test(handler, a_timer_that_cannot_be_read_is_an_incident_that_can_be_retried)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER("u") ON("h", STARTED("hs", "true", AFTER("=later")), "")
                           FLOW("s", "u")),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_error(&world), "ExpressionFailed");
    cr_expect(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_str_eq(world_error(&world), "ExpressionFailed"); /* F34 */
    cr_expect(world_verb(&world, ENGINE_IN_RESTART, NULL));
    cr_expect_eq(world_state(&world), 24);
    world_close(&world);
}

Test(handler, an_interrupted_caller_takes_its_called_process_along)
{
    struct world world; /* F29 */
    world_open(&world,
               CALLING(START("s") CALL("c", "q") ON("h", STARTED("hs", "true", AFTER("PT1M")), "")
                           FLOW("s", "c"),
                       START("qs") USER("u") BOUNDARY("late", "u", "false", EVERY("R/PT2M"))
                           FLOW("qs", "u")),
               NULL);
    world_start(&world, NULL, NULL);
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s c qs u h hs");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_not(world_callback(&world, "u", "{}"));
    world_close(&world);
}

Test(handler, the_variables_that_a_catching_event_names_are_set)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") SUB("sub", END_WITH("x", ERROR("E1")))
                           BOUNDARY("b", "sub", "true",
                                    "<errorEventDefinition camunda:errorCodeVariable='code' "
                                    "camunda:errorMessageVariable='text'/>") USER("u")
                               FLOW("s", "sub") FLOW("b", "u")),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_value(&world, "execution.code"), "\"ONE\"");
    cr_expect_str_eq(world_value(&world, "execution.text"), "\"error end event \\\"x\\\"\"");
    world_close(&world);
}
