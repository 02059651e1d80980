/*
 * Migration to another version of the definition (engine.md 9).
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/conformance/world.h"

#define TIMER(kind, id, after, time)                                                               \
    "<" kind " id='" id "'" after "><timerEventDefinition><timeDuration>" time                     \
    "</timeDuration></timerEventDefinition></" kind ">"

static const char one[] = WORLD_BPMN(START("s") USER("a") END("e") FLOW("s", "a") FLOW("a", "e"));

static void begin(struct world *world, const char *old, const char *new)
{
    world_open(world, old, NULL);
    world_deploy(world, new);
    world_start(world, "{\"n\":1}", "{\"x\":1}");
}

static void expect_refused(struct world *world, const char *mapping, const char *words)
{
    bool done = world_migrate(world, 2, mapping);
    cr_expect(!done, "%s", words);
    cr_expect_eq(world->error, PROTO_ERROR_InvalidRequest);
    cr_expect_not_null(strstr((const char *)world->refusal.bytes, words), "%.*s",
                       SPAN_ARG(world->refusal));
    cr_expect_str_eq(world_value(world, "version"), "1", "nothing was done");
}

Test(migrate, goes_on_by_the_new_version)
{
    struct world world;
    begin(&world, one,
          WORLD_BPMN(START("s") USER("a") TASK("new") END("e") FLOW("s", "a") FLOW("a", "new")
                         FLOW("new", "e")));
    world_pass(&world, 5000);
    cr_assert(world_migrate(&world, 2, NULL));
    cr_expect_str_eq(world_value(&world, "version"), "2");
    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_expect_str_eq(world_lifecycle(&world), "WaitingForHuman");
    cr_expect_str_eq(world.audit_events, "started waiting migrated waiting ");
    cr_expect(world_logged(&world, "migrated from version 1 to version 2"));
    world_crash(&world);
    cr_assert(world_callback(&world, "a", "{}"));

    cr_expect_str_eq(world_trace(&world), "s a new e", "what was before is history");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_value(&world, "execution.x"), "1");
    cr_assert(world_verb(&world, ENGINE_IN_RESTART, NULL));
    cr_expect_str_eq(world_value(&world, "version"), "2", "a restart stays there");
    world_close(&world);
}

Test(migrate, a_mapping_names_the_targets_of_what_has_another_id)
{
    struct world world;
    begin(&world, one, WORLD_BPMN(START("s") USER("b") FLOW("s", "b")));
    expect_refused(&world, NULL, "\"a\", which version 2 has not");
    expect_refused(&world, "{\"a\":\"c\"}", "names \"c\", which version 2 has not");
    expect_refused(&world, "{\"z\":\"b\"}", "names \"z\", which version 1 has not");
    expect_refused(&world, "{\"a\":7}", "is no id");
    cr_assert(world_migrate(&world, 2, "{\"a\":\"b\"}"));
    cr_expect_str_eq(world_waiting(&world), "b:human");
    cr_assert(world_callback(&world, "b", "{}"));
    cr_expect_str_eq(world_trace(&world), "s a");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, refuses_a_target_that_does_other_work)
{
    static const struct {
        const char *new;
        const char *mapping;
        const char *words;
    } rows[] = {
        {WORLD_BPMN(START("s") SERVICE("a") FLOW("s", "a")), NULL, "a user task, whose target"},
        {WORLD_BPMN(START("s") "<subProcess id='sub'>" USER("a") "</subProcess>" FLOW("s", "sub")),
         NULL, "in another sub-process"},
        {WORLD_BPMN(
             START("s") "<userTask id='a'><multiInstanceLoopCharacteristics><loopCardinality>"
                        "2</loopCardinality></multiInstanceLoopCharacteristics></userTask>" FLOW(
                            "s", "a")),
         NULL, "other triggers or markers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        begin(&world, one, rows[i].new);
        expect_refused(&world, rows[i].mapping, rows[i].words);
        cr_expect_str_eq(world_waiting(&world), "a:human");
        world_close(&world);
    }
}

Test(migrate, is_for_another_version_of_the_same_process)
{
    struct world world;
    begin(&world, one, one);
    cr_expect(!world_migrate(&world, 1, NULL));
    cr_expect_eq(world.error, PROTO_ERROR_InvalidRequest);
    cr_assert(world_migrate(&world, 2, NULL));
    cr_assert(world_migrate(&world, 1, NULL), "back again");
    cr_assert(world_callback(&world, "a", "{}"));
    cr_expect(!world_migrate(&world, 2, NULL), "it has completed");
    cr_expect_eq(world.error, PROTO_ERROR_InvalidTransition);
    world_close(&world);

    begin(&world, one, one);
    cr_assert(world_verb(&world, ENGINE_IN_ABORT, NULL));
    cr_expect(!world_migrate(&world, 2, NULL));
    cr_expect_eq(world.error, PROTO_ERROR_InvalidTransition);
    world_close(&world);
}

Test(migrate, calls_in_flight_are_answered_into_the_new_version)
{
    struct world world;
    begin(&world, WORLD_BPMN(START("s") SERVICE("a") FLOW("s", "a")),
          WORLD_BPMN(START("s") SERVICE("b") TASK("c") FLOW("s", "b") FLOW("b", "c")));
    cr_assert(world_migrate(&world, 2, "{\"a\":\"b\"}"));
    cr_expect_str_eq(world_open_calls(&world), "a");
    world_answer(&world, "a", 200, "{\"execution\":{\"got\":1},\"outputs\":{\"k\":2}}");
    cr_expect_str_eq(world_trace(&world), "s a c");
    cr_expect_str_eq(world_value(&world, "nodes.b.k"), "2");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);

    begin(&world, WORLD_BPMN(START("s") SERVICE("a") FLOW("s", "a")),
          WORLD_BPMN(START("s") SERVICE("b") TASK("c") FLOW("s", "b") FLOW("b", "c")));
    cr_assert(world_migrate(&world, 2, "{\"a\":\"b\"}"));
    world_crash(&world);
    cr_expect_str_eq(world_call_value(&world, "b", "version"), "2", "made again as the new task's");
    world_answer(&world, "b", 200, NULL);
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, a_failed_step_is_retried_in_the_version_that_mends_it)
{
    struct world world;
    begin(&world,
          WORLD_BPMN(START("s") XOR("x") TASK("a") FLOW("s", "x") FLOW_IF("x", "a", "=false")),
          WORLD_BPMN(START("s") XOR("x") TASK("a") FLOW("s", "x") FLOW_IF("x", "a", "=true")));
    cr_expect_str_eq(world_error(&world), "NoPathTaken");
    cr_assert(world_migrate(&world, 2, NULL));
    cr_expect_eq(world_state(&world), 24, "it stays failed");
    cr_expect_str_eq(world_error(&world), "NoPathTaken");
    world_crash(&world);
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, NULL));
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_trace(&world), "s x a");
    world_close(&world);
}

Test(migrate, waits_timers_and_subscriptions_keep_their_times_and_keys)
{
    static const char catch[] =
        "<intermediateCatchEvent id='m'><messageEventDefinition messageRef='msg'/>"
        "</intermediateCatchEvent>";
    static const char file[] =
        "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "
        "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'>"
        "<message id='msg' name='paid'><extensionElements><zeebe:subscription "
        "correlationKey='=%s'/></extensionElements></message>"
        "<process id='p' isExecutable='true'>%s%s</process></definitions>";
    char old[4096], new[4096];
    (void)snprintf(old, sizeof old, file, "x", catch,
                   START("s") USER("a") TIMER("boundaryEvent", "late",
                                              " attachedToRef='a' cancelActivity='false'", "PT10S")
                       TIMER("intermediateCatchEvent", "t", "", "PT20S") TASK("warn") FLOW("s", "a")
                           FLOW("s", "t") FLOW("s", "m") FLOW("late", "warn"));
    (void)snprintf(
        new, sizeof new, file, "y", catch,
        TASK("first") START("s") USER("a")
            TIMER("boundaryEvent", "overdue", " attachedToRef='a' cancelActivity='false'", "PT1H")
                TIMER("intermediateCatchEvent", "t", "", "PT2H") TASK("warn") TASK("u")
                    FLOW("s", "a") FLOW("s", "t") FLOW("s", "m") FLOW("overdue", "warn")
                        FLOW("t", "u"));
    struct world world;
    begin(&world, old, new);
    world_pass(&world, 4000);
    expect_refused(&world, NULL, "waits for the event \"late\"");
    expect_refused(&world, "{\"late\":\"t\"}", "\"late\"");
    cr_assert(world_migrate(&world, 2, "{\"late\":\"overdue\"}"));
    cr_expect_str_eq(world_subscriptions(&world), "m:message:paid/1");
    world_crash(&world);
    world_pass(&world, 6000);
    cr_expect_str_eq(world_trace(&world), "s a t m overdue warn", "10 s after its start");
    cr_assert(world_message(&world, "paid", "1", NULL));
    world_pass(&world, 10000);
    cr_expect_str_eq(world_trace(&world), "s a t m overdue warn u");
    cr_expect_str_eq(world_waiting(&world), "a:human");
    world_close(&world);
}

/* ---- joins ---- */

#define BRANCH(id) FLOW("s", id) FLOW(id, "j")

Test(migrate, tokens_in_joins_stay_on_their_flows)
{
    struct world world;
    begin(&world, WORLD_BPMN(START("s") USER("a") USER("b") AND("j") BRANCH("a") BRANCH("b")),
          WORLD_BPMN(START("s") USER("b") USER("c") AND("k") TASK("z") FLOW("s", "b") FLOW("s", "c")
                         FLOW("b", "k") FLOW("c", "k") FLOW("k", "z")));
    cr_assert(world_callback(&world, "a", "{}"));
    expect_refused(&world, NULL, "join \"j\"");
    expect_refused(&world, "{\"j\":\"k\"}", "flow \"a-j\"");
    expect_refused(&world, "{\"j\":\"k\",\"a-j\":\"s-b\"}", "flow \"a-j\"");
    cr_assert(world_migrate(&world, 2, "{\"j\":\"k\",\"a\":\"c\"}"));
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"c-k\",1,0,null]]");
    cr_assert(world_callback(&world, "b", "{}"));
    cr_expect_str_eq(world_trace(&world), "s a b k z");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, a_join_that_waits_for_less_now_fires_at_once)
{
    struct world world;
    begin(&world,
          WORLD_BPMN(START("s") USER("a") USER("b") USER("c") AND("j") BRANCH("a") BRANCH("b")
                         BRANCH("c")),
          WORLD_BPMN(START("s") USER("a") USER("b") USER("c") AND("j") TASK("z") BRANCH("a")
                         BRANCH("b") FLOW("s", "c") FLOW("j", "z")));
    cr_assert(world_callback(&world, "a", "{}"));
    cr_assert(world_callback(&world, "b", "{}"));
    cr_assert(world_migrate(&world, 2, NULL));
    cr_expect_str_eq(world_trace(&world), "s a b c j z");
    cr_expect_str_eq(world_waiting(&world), "c:human");
    world_close(&world);
}

Test(migrate, refuses_a_join_that_is_none_any_more_and_flows_that_become_one)
{
    struct world world;
    begin(&world, WORLD_BPMN(START("s") USER("a") USER("b") AND("j") BRANCH("a") BRANCH("b")),
          WORLD_BPMN(START("s") USER("a") USER("b") AND("j") BRANCH("a") FLOW("s", "b")));
    cr_assert(world_callback(&world, "a", "{}"));
    expect_refused(&world, NULL, "does not join");
    world_close(&world);

    begin(&world,
          WORLD_BPMN(START("s") USER("a") USER("b") USER("c") AND("j") BRANCH("a") BRANCH("b")
                         BRANCH("c")),
          WORLD_BPMN(START("s") USER("a") USER("c") AND("j") BRANCH("a") BRANCH("c")));
    cr_assert(world_callback(&world, "a", "{}"));
    cr_assert(world_callback(&world, "b", "{}"));
    expect_refused(&world, "{\"b\":\"a\"}", "would be one flow");
    world_close(&world);
}

/* ---- scopes ---- */

#define INSIDE(inner)                                                                              \
    START("s")                                                                                     \
    "<subProcess id='sub'>" START("is") inner "</subProcess>" END("e") FLOW("s", "sub")            \
        FLOW("sub", "e")

Test(migrate, goes_into_sub_processes_instances_and_guards)
{
    static const char guard[] =
        "<subProcess id='esp' triggeredByEvent='true'>" TIMER("startEvent", "es", "", "PT1H")
            TASK("h") FLOW("es", "h") "</subProcess>";
    char old[4096], new[4096];
    (void)snprintf(
        old, sizeof old, WORLD_FILE(WORLD_PROCESS("p", "%s%s")), guard,
        INSIDE("<userTask id='u'><multiInstanceLoopCharacteristics><loopCardinality>2"
               "</loopCardinality></multiInstanceLoopCharacteristics></userTask>" FLOW("is", "u")));
    (void)snprintf(new, sizeof new, WORLD_FILE(WORLD_PROCESS("p", "%s%s")),
                   INSIDE(TASK("before") "<userTask id='u'><multiInstanceLoopCharacteristics>"
                                         "<loopCardinality>2</loopCardinality>"
                                         "</multiInstanceLoopCharacteristics></userTask>" TASK(
                                             "after") FLOW("is", "u") FLOW("u", "after")),
                   guard);
    struct world world;
    begin(&world, old, new);
    cr_assert(world_migrate(&world, 2, NULL));
    world_crash(&world);
    cr_expect_str_eq(world_waiting(&world), "u:human u:human");
    world_pass(&world, 3600 * 1000);
    cr_expect_eq(world_state(&world), 40, "the guard interrupts as before: %s",
                 world_trace(&world));
    cr_expect_not_null(strstr(world_trace(&world), "es h"));
    world_close(&world);

    begin(&world, old, one);
    expect_refused(&world, NULL, "the event sub-process \"esp\", which version 2 has not");
    world_close(&world);
}

Test(migrate, what_a_called_process_runs_stays_as_it_is)
{
    static const char callee[] = WORLD_PROCESS("q", USER("u") TASK("old") FLOW("u", "old"));
    static const char newer[] = WORLD_PROCESS("q", USER("u") TASK("new") FLOW("u", "new"));
    char old[4096], new[4096];
    (void)snprintf(
        old, sizeof old, WORLD_FILE("%s%s"),
        WORLD_PROCESS("p", START("s") "<callActivity id='c' calledElement='q'/>" FLOW("s", "c")),
        callee);
    (void)snprintf(new, sizeof new, WORLD_FILE("%s%s"),
                   WORLD_PROCESS("p", START("s") "<callActivity id='d' calledElement='q'/>" TASK(
                                          "z") FLOW("s", "d") FLOW("d", "z")),
                   newer);
    struct world world;
    world_open(&world, old, NULL);
    world_start(&world, NULL, NULL);
    world_deploy(&world, new);
    cr_assert(world_migrate(&world, 2, "{\"c\":\"d\"}"));
    world_crash(&world);
    cr_assert(world_callback(&world, "u", "{}"));
    cr_expect_str_eq(world_trace(&world), "s c u old z");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, keeps_what_compensation_may_undo)
{
    static const char undoable[] =
        "<boundaryEvent id='cb' attachedToRef='%s'><compensateEventDefinition/></boundaryEvent>"
        "<serviceTask id='%s' isForCompensation='true'><extensionElements><zeebe:taskDefinition "
        "type='svc'/></extensionElements></serviceTask>"
        "<association id='as' sourceRef='cb' targetRef='%s'/>"
        "<intermediateThrowEvent id='c'><compensateEventDefinition/></intermediateThrowEvent>";
    char old[4096], new[4096], parts[2][2048];
    (void)snprintf(parts[0], sizeof parts[0], undoable, "a", "undo", "undo");
    (void)snprintf(parts[1], sizeof parts[1], undoable, "b", "revert", "revert");
    (void)snprintf(old, sizeof old, WORLD_FILE(WORLD_PROCESS("p", "%s%s")), parts[0],
                   START("s") TASK("a") USER("u") FLOW("s", "a") FLOW("a", "u") FLOW("u", "c"));
    (void)snprintf(new, sizeof new, WORLD_FILE(WORLD_PROCESS("p", "%s%s")), parts[1],
                   START("s") TASK("b") USER("u") FLOW("s", "b") FLOW("b", "u") FLOW("u", "c"));
    struct world world;
    begin(&world, old, new);
    expect_refused(&world, NULL, "compensation may undo \"a\"");
    expect_refused(&world, "{\"a\":\"b\"}", "compensation may run \"undo\"");
    cr_assert(world_migrate(&world, 2, "{\"a\":\"b\",\"undo\":\"revert\"}"));
    cr_assert(world_callback(&world, "u", "{}"));
    cr_expect_str_eq(world_open_calls(&world), "revert");
    world_close(&world);
}

/* ---- block schemes ---- */

Test(migrate, block_states_and_faces_move_too)
{
    static const char old[] =
        "{\"id\":\"p\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"
        "{\"id\":\"a\",\"type\":\"Block\",\"handler\":\"svc\"},"
        "{\"id\":\"b\",\"type\":\"Block\",\"handler\":\"svc\"},"
        "{\"id\":\"j\",\"type\":\"Block\",\"handler\":\"svc\"}],\"faces\":["
        "{\"id\":\"1\",\"from\":\"s\",\"to\":\"a\"},{\"id\":\"2\",\"from\":\"s\",\"to\":\"b\"},"
        "{\"id\":\"3\",\"from\":\"a\",\"to\":\"j\"},{\"id\":\"4\",\"from\":\"b\",\"to\":\"j\"}]}";
    static const char new[] =
        "{\"id\":\"p\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"
        "{\"id\":\"x\",\"type\":\"Block\",\"handler\":\"svc\"},"
        "{\"id\":\"b\",\"type\":\"Block\",\"handler\":\"svc\"},"
        "{\"id\":\"j\",\"type\":\"AndBlock\",\"handler\":\"svc\"},"
        "{\"id\":\"f\",\"type\":\"FinishBlock\"}],\"faces\":["
        "{\"id\":\"1\",\"from\":\"s\",\"to\":\"x\"},{\"id\":\"2\",\"from\":\"s\",\"to\":\"b\"},"
        "{\"id\":\"9\",\"from\":\"x\",\"to\":\"j\"},{\"id\":\"4\",\"from\":\"b\",\"to\":\"j\"},"
        "{\"id\":\"5\",\"from\":\"j\",\"to\":\"f\",\"result\":\"ok\"}]}";
    struct world world;
    begin(&world, old, new);
    world_answer(&world, "a", 200, NULL);
    expect_refused(&world, NULL, "flow \"3\"");
    cr_assert(world_migrate(&world, 2, "{\"a\":\"x\"}"));
    cr_expect_str_eq(world_blocks(&world),
                     "{\"s\":\"Completed\",\"x\":\"Completed\",\"b\":\"Pending\"}");
    world_crash(&world);
    world_answer(&world, "b", 200, NULL);
    world_answer(&world, "j", 200, "{\"output\":\"ok\"}");
    cr_expect_str_eq(world_value(&world, "blocks.f"), "\"Completed\"");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, early_callbacks_and_an_operators_suspend_go_along)
{
    struct world world;
    begin(&world, WORLD_BPMN(START("s") SERVICE("a") USER("u") FLOW("s", "a") FLOW("a", "u")),
          WORLD_BPMN(START("s") SERVICE("a") USER("v") FLOW("s", "a") FLOW("a", "v")));
    cr_assert(world_callback(&world, "u", "{\"early\":1}"));
    cr_assert(world_verb(&world, ENGINE_IN_SUSPEND, NULL));
    cr_assert(world_migrate(&world, 2, "{\"u\":\"v\"}"));
    cr_expect_str_eq(world_lifecycle(&world), "Suspended");
    world_answer(&world, "a", 200, NULL);
    cr_assert(world_verb(&world, ENGINE_IN_RESUME, NULL));
    cr_expect_str_eq(world_trace(&world), "s a v");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(migrate, tokens_before_an_activity_begin_it_when_it_wants_fewer)
{
    struct world world;
    begin(&world,
          WORLD_BPMN(START("s") USER("a") "<userTask id='b' startQuantity='2'/>" FLOW("s", "a")
                         FLOW("s", "b") FLOW("a", "b")),
          WORLD_BPMN(START("s") USER("a") "<userTask id='b'/>" FLOW("s", "a") FLOW("s", "b")
                         FLOW("a", "b")));
    expect_refused(&world, NULL, "which does not join in version 2");
    world_close(&world);

    begin(&world,
          WORLD_BPMN(START("s") USER("a") USER("c") "<userTask id='b' startQuantity='3'/>" FLOW(
              "s", "a") FLOW("s", "c") FLOW("s", "b") FLOW("a", "b") FLOW("c", "b")),
          WORLD_BPMN(START("s") USER("a") USER("c") "<userTask id='b' startQuantity='2'/>" FLOW(
              "s", "a") FLOW("s", "c") FLOW("s", "b") FLOW("a", "b") FLOW("c", "b")));
    cr_assert(world_callback(&world, "a", "{}"));
    cr_expect_str_eq(world_waiting(&world), "c:human");
    cr_assert(world_migrate(&world, 2, NULL));
    cr_expect_str_eq(world_waiting(&world), "c:human b:human");
    world_close(&world);
}
