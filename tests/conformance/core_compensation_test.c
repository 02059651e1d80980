/*
 * Compensation, transactions and ad-hoc sub-processes (traps.md 14; field report F31).
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define SUB(id, body) "<subProcess id='" id "'>" body "</subProcess>"
/* An activity `id` that the task `undo` compensates. */
#define UNDONE_BY(id, undo)                                                                        \
    "<boundaryEvent id='on-" id "' attachedToRef='" id "'><compensateEventDefinition/>"            \
    "</boundaryEvent><task id='" undo "' isForCompensation='true'/>"                               \
    "<association id='as-" id "' sourceRef='on-" id "' targetRef='" undo "'/>"
#define COMPENSATE(id)                                                                             \
    "<intermediateThrowEvent id='" id "'><compensateEventDefinition/></intermediateThrowEvent>"
#define COMPENSATE_ONE(id, activity)                                                               \
    "<intermediateThrowEvent id='" id "'><compensateEventDefinition activityRef='" activity        \
    "'/></intermediateThrowEvent>"
#define COMPENSATE_END(id)    "<endEvent id='" id "'><compensateEventDefinition/></endEvent>"
#define CANCEL_END(id)        "<endEvent id='" id "'><cancelEventDefinition/></endEvent>"
#define TRANSACTION(id, body) "<transaction id='" id "'>" body "</transaction>"
#define ON_CANCEL(id, host)                                                                        \
    "<boundaryEvent id='" id "' attachedToRef='" host "'><cancelEventDefinition/></boundaryEvent>"
#define AD_HOC(id, attributes, body)                                                               \
    "<adHocSubProcess id='" id "' " attributes ">" body "</adHocSubProcess>"
#define AFTER_AB(throw_event)                                                                      \
    START("s")                                                                                     \
    TASK("a")                                                                                      \
    UNDONE_BY("a", "ua")                                                                           \
    TASK("b")                                                                                      \
    UNDONE_BY("b", "ub") throw_event END("e") FLOW("s", "a") FLOW("a", "b") FLOW("b", "t")         \
        FLOW("t", "e")

static const struct {
    const char *claim;
    const char *bpmn;
    const char *trace;
    uint8_t state;
    const char *error;
} rows[] = {
    {"handlers run in reverse order of completion, then the thrower goes on (traps 14)",
     WORLD_BPMN(AFTER_AB(COMPENSATE("t"))), "s a b t ub ua e", 40, ""},
    {"an event may be about one activity", WORLD_BPMN(AFTER_AB(COMPENSATE_ONE("t", "a"))),
     "s a b t ua e", 40, ""},
    {"each handler runs once",
     WORLD_BPMN(START("s") TASK("a") UNDONE_BY("a", "ua") COMPENSATE("t") COMPENSATE("t2")
                    FLOW("s", "a") FLOW("a", "t") FLOW("t", "t2")),
     "s a t ua t2", 40, ""},
    {"an end event compensates before it ends",
     WORLD_BPMN(START("s") TASK("a") UNDONE_BY("a", "ua") COMPENSATE_END("e") FLOW("s", "a")
                    FLOW("a", "e")),
     "s a e ua", 40, ""},
    {"what has not completed is not compensated",
     WORLD_BPMN(START("s") AND("f") USER("a") UNDONE_BY("a", "ua") COMPENSATE(
         "t") "<endEvent id='x'><terminateEventDefinition/></endEvent>" FLOW("s", "f")
                    FLOW("f", "a") FLOW("f", "t") FLOW("t", "x")),
     "s f a t x", 40, ""},
    {"an event outside reaches handlers inside a completed sub-process (F31)",
     WORLD_BPMN(START("s") SUB("sub", START("i") TASK("a") UNDONE_BY("a", "ua") TASK("b")
                                          UNDONE_BY("b", "ub") FLOW("i", "a") FLOW("a", "b"))
                    COMPENSATE("t") FLOW("s", "sub") FLOW("sub", "t")),
     "s sub i a b t ub ua", 40, ""},
    {"also by the sub-process's name",
     WORLD_BPMN(START("s") SUB("sub", TASK("a") UNDONE_BY("a", "ua")) TASK("c") UNDONE_BY("c", "uc")
                    COMPENSATE_ONE("t", "sub") FLOW("s", "sub") FLOW("sub", "c") FLOW("c", "t")),
     "s sub a c t ua", 40, ""},
    {"a sub-process with a handler of its own is compensated by that",
     WORLD_BPMN(START("s") SUB("sub", TASK("a") UNDONE_BY("a", "ua")) UNDONE_BY("sub", "us")
                    COMPENSATE("t") FLOW("s", "sub") FLOW("sub", "t")),
     "s sub a t us", 40, ""},
    {"an interrupted sub-process leaves nothing to compensate",
     WORLD_FILE("<error id='E' errorCode='X'/>" WORLD_PROCESS(
         "p",
         START("s") SUB(
             "sub",
             START("i") TASK("a") UNDONE_BY(
                 "a",
                 "ua") "<endEvent id='x'><errorEventDefinition errorRef='E'/></endEvent>" FLOW("i",
                                                                                               "a")
                 FLOW("a", "x")) "<boundaryEvent id='b' attachedToRef='sub'><errorEventDefinition/>"
                                 "</boundaryEvent>" COMPENSATE("t") FLOW("s", "sub")
                                     FLOW("b", "t"))),
     "s sub i a x b t", 40, ""},
    {"an error handler may compensate its scope",
     WORLD_FILE("<error id='E' errorCode='X'/>" WORLD_PROCESS(
         "p", START("s") TASK("a") UNDONE_BY(
                  "a", "ua") "<endEvent id='x'><errorEventDefinition errorRef='E'/></endEvent>"
                             "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs'>"
                             "<errorEventDefinition/></startEvent>" COMPENSATE_END("t")
                                 FLOW("hs", "t") "</subProcess>" FLOW("s", "a") FLOW("a", "x"))),
     "s a x h hs t ua", 40, ""},
    {"an event sub-process compensates its scope and decides what of its inside",
     WORLD_BPMN(START("s") SUB(
         "sub",
         START("i") TASK("a") UNDONE_BY("a", "ua") TASK("b") UNDONE_BY("b", "ub") FLOW("i", "a")
             FLOW("a", "b") "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs'>"
                            "<compensateEventDefinition/></startEvent>" COMPENSATE_ONE("one", "a")
                                TASK("more") FLOW("hs", "one") FLOW("one", "more") "</subProcess>")
                    TASK("c") UNDONE_BY("c", "uc") COMPENSATE("t") FLOW("s", "sub") FLOW("sub", "c")
                        FLOW("c", "t")),
     "s sub i a b c t uc h hs one ua more", 40, ""},
    {"without asking for it nothing of its inside is",
     WORLD_BPMN(START("s") SUB(
         "sub", TASK("a") UNDONE_BY(
                    "a", "ua") "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs'>"
                               "<compensateEventDefinition/></startEvent></subProcess>")
                    COMPENSATE("t") FLOW("s", "sub") FLOW("sub", "t")),
     "s sub a t h hs", 40, ""},
    {"such sub-processes nest",
     WORLD_BPMN(START("s") SUB(
         "o",
         SUB("n",
             TASK("a") UNDONE_BY(
                 "a",
                 "ua") "<subProcess id='g' triggeredByEvent='true'><startEvent id='gs'>"
                       "<compensateEventDefinition/></startEvent>" COMPENSATE_END("ge") FLOW(
                           "gs",
                           "ge") "</subProcess>") "<subProcess id='h' "
                                                  "triggeredByEvent='true'><startEvent id='hs'>"
                                                  "<compensateEventDefinition/></"
                                                  "startEvent>" COMPENSATE_END("he")
                                                      FLOW("hs", "he") "</subProcess>")
                    COMPENSATE("t") FLOW("s", "o") FLOW("o", "t")),
     "s o n a t h hs he g gs ge ua", 40, ""},
    {"an activity with instances is compensated once",
     WORLD_BPMN(START("s") "<task id='a'><multiInstanceLoopCharacteristics>"
                           "<loopCardinality>2</loopCardinality>"
                           "</multiInstanceLoopCharacteristics></task>" UNDONE_BY("a", "ua")
                               COMPENSATE("t") FLOW("s", "a") FLOW("a", "t")),
     "s a a a t ua", 40, ""},
    {"the activities inside instances are compensated each",
     WORLD_BPMN(START("s") "<subProcess id='sub'><multiInstanceLoopCharacteristics "
                           "isSequential='true'><loopCardinality>2</loopCardinality>"
                           "</multiInstanceLoopCharacteristics>" TASK("a")
                               UNDONE_BY("a", "ua") "</subProcess>" COMPENSATE("t") FLOW("s", "sub")
                                   FLOW("sub", "t")),
     "s sub sub a sub a t ua ua", 40, ""},
    {"a cancelled transaction is compensated and left by its cancel boundary",
     WORLD_BPMN(START("s") TRANSACTION(
         "tx", START("i") AND("f") USER("u") TASK("a") UNDONE_BY("a", "ua") CANCEL_END("x")
                   FLOW("i", "f") FLOW("f", "u") FLOW("f", "a") FLOW("a", "x")) ON_CANCEL("b", "tx")
                    TASK("no") TASK("out") FLOW("s", "tx") FLOW("b", "no") FLOW("tx", "out")),
     "s tx i f u a x ua b no", 40, ""},
    {"one that a sub-process cancels from inside undoes what was done in it and beside it",
     WORLD_BPMN(START("s") TRANSACTION(
         "tx", START("i") AND("f")
                   SUB("in", TASK("a") UNDONE_BY("a", "ua") CANCEL_END("x") FLOW("a", "x"))
                       SUB("by", TASK("c") UNDONE_BY("c", "uc") USER("u") FLOW("c", "u"))
                           FLOW("i", "f") FLOW("f", "by") FLOW("f", "in")) ON_CANCEL("b", "tx")
                    TASK("no") FLOW("s", "tx") FLOW("b", "no")),
     "s tx i f by in c a u x ua uc b no", 40, ""},
    {"with nothing to compensate it is left at once",
     WORLD_BPMN(START("s") TRANSACTION("tx", CANCEL_END("x")) ON_CANCEL("b", "tx") FLOW("s", "tx")),
     "s tx x b", 40, ""},
    {"a transaction that succeeds goes on as a sub-process",
     WORLD_BPMN(START("s") TRANSACTION("tx", TASK("a")) ON_CANCEL("b", "tx") TASK("out")
                    FLOW("s", "tx") FLOW("tx", "out")),
     "s tx a out", 40, ""},
    {"without a cancel boundary there is no way out",
     WORLD_BPMN(START("s") TRANSACTION("tx", CANCEL_END("x")) FLOW("s", "tx")), "s tx x", 24,
     "TransactionCancelled"},
    {"terminate in a transaction ends it without compensation",
     WORLD_BPMN(START("s") TRANSACTION(
         "tx",
         START("i") TASK("a") UNDONE_BY(
             "a", "ua") "<endEvent id='x'><terminateEventDefinition/></endEvent>" FLOW("i", "a")
             FLOW("a", "x")) TASK("out") FLOW("s", "tx") FLOW("tx", "out")),
     "s tx i a x out", 40, ""},
    {"an ad-hoc sub-process begins all that has no incoming flow",
     WORLD_BPMN(START("s") AD_HOC("h", "", TASK("a") TASK("b") TASK("c") FLOW("b", "c")) TASK("out")
                    FLOW("s", "h") FLOW("h", "out")),
     "s h a b c out", 40, ""},
    {"in sequence one begins when the one before has ended",
     WORLD_BPMN(START("s") AD_HOC("h", "ordering='Sequential'",
                                  TASK("a") TASK("b") TASK("c") FLOW("a", "c")) TASK("out")
                    FLOW("s", "h") FLOW("h", "out")),
     "s h a c b out", 40, ""},
    {"or lets finish what is under way, and begins nothing more",
     WORLD_BPMN(START("s") AD_HOC(
         "h", "cancelRemainingInstances='false'",
         "<subProcess id='u'>" START("i") TASK("c") FLOW("i", "c") "</subProcess>" TASK("a")
             TASK("b") FLOW("a", "b") "<completionCondition>=nothing = null</completionCondition>")
                    TASK("out") FLOW("s", "h") FLOW("h", "out")),
     "s h u a i c out", 40, ""},
    {"it ends when its condition is true",
     WORLD_BPMN(START("s") AD_HOC(
         "h", "",
         "<userTask id='u'/>" TASK("a") TASK("b")
             FLOW("a", "b") "<completionCondition>=nothing = null</completionCondition>")
                    TASK("out") FLOW("s", "h") FLOW("h", "out")),
     "s h u a out", 40, ""},
};

Test(compensation, runs_each_drawing_as_its_claim_says)
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

Test(compensation, waits_for_handlers_which_know_the_variables_of_their_time)
{
    struct world world;
    world_open(
        &world,
        WORLD_BPMN(START(
            "s") "<subProcess id='sub'><extensionElements><zeebe:ioMapping>"
                 "<zeebe:input source='=order' target='mine'/></zeebe:ioMapping>"
                 "</extensionElements>" TASK(
                     "a") "<boundaryEvent id='on' attachedToRef='a'><compensateEventDefinition/>"
                          "</boundaryEvent><serviceTask id='undo' isForCompensation='true' "
                          "camunda:type='external' camunda:topic='svc'/>"
                          "<association id='as' sourceRef='on' "
                          "targetRef='undo'/></subProcess>" USER("u") COMPENSATE("t") TASK("out")
                              FLOW("s", "sub") FLOW("sub", "u") FLOW("u", "t") FLOW("t", "out")),
        NULL);
    world_start(&world, NULL, "{\"order\":7}");
    world_crash(&world);
    world_callback(&world, "u", "{}");
    cr_expect_str_eq(world_trace(&world), "s sub a u t undo");
    cr_expect_str_eq(world_call_value(&world, "undo", "config.mine"), "7");
    world_crash(&world);
    world_answer(&world, "undo", 200, "{\"execution\":{\"mine\":8}}");
    cr_expect_str_eq(world_trace(&world), "s sub a u t undo out");
    cr_expect_str_eq(world_value(&world, "execution"), "{\"order\":7}");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}
