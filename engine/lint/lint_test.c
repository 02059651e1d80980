/*
 * The linter's rules, each by the smallest drawing that breaks it and one that does not: engine.md
 * 5, field reports F8, F32, F49 to F59, F131.
 */
#include "engine/lint/lint.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"

static void expect_silence(const char *file, const char *rule)
{
    struct sample sample = sample_accept(file);
    cr_expect_null(sample_problem(&sample, rule, ""), "%s", sample_text(&sample));
    sample_free(&sample);
}

#define FLOW(id, from, to) "<sequenceFlow id='" id "' sourceRef='" from "' targetRef='" to "'/>"
#define WHEN(id, from, to)                                                                         \
    "<sequenceFlow id='" id "' sourceRef='" from "' targetRef='" to                                \
    "'><conditionExpression>=a</conditionExpression></sequenceFlow>"
#define XOR(id)  "<exclusiveGateway id='" id "'/>"
#define AND(id)  "<parallelGateway id='" id "'/>"
#define TASK(id) "<userTask id='" id "'/>"
#define START    "<startEvent id='s'/>"
#define END      "<endEvent id='e'/>"

/* ---- gateways ---- */

Test(lint, a_choice_whose_every_flow_has_a_condition_needs_a_default)
{
    sample_warn(SAMPLE(START XOR("g") TASK("a") TASK("b") FLOW("f", "s", "g") WHEN("x", "g", "a")
                           WHEN("y", "g", "b")),
                "no-default", "g", "no default flow");
    expect_silence(SAMPLE(START "<exclusiveGateway id='g' default='y'/>" TASK("a") TASK("b")
                              FLOW("f", "s", "g") WHEN("x", "g", "a") FLOW("y", "g", "b")),
                   "no-default");
    expect_silence(SAMPLE(START XOR("g") TASK("a") TASK("b") FLOW("f", "s", "g") WHEN("x", "g", "a")
                              FLOW("y", "g", "b")),
                   "no-default");
}

Test(lint, a_choice_without_conditions_is_none)
{
    sample_warn(SAMPLE(START XOR("g") TASK("a") TASK("b") FLOW("f", "s", "g") FLOW("x", "g", "a")
                           FLOW("y", "g", "b")),
                "no-condition", "g", "first one is always taken");
    expect_silence(SAMPLE(START XOR("g") TASK("a") FLOW("f", "s", "g") FLOW("x", "g", "a")),
                   "no-condition");
}

Test(lint, logic_in_a_gateway_is_named)
{
    sample_warn(
        SAMPLE(
            START
            "<exclusiveGateway id='g'><extensionElements><zeebe:ioMapping><zeebe:input source='=1' "
            "target='a'/></zeebe:ioMapping></extensionElements></exclusiveGateway>" FLOW("f", "s",
                                                                                         "g")),
        "gateway-logic", "g", "move them to a task");
    expect_silence(SAMPLE(START XOR("g") FLOW("f", "s", "g")), "gateway-logic");
}

/* start -> g1 -> (g2 -> (g3 -> (g4 -> a | b) | c) | d) and all arms meet again behind. */
#define NESTED_3                                                                                   \
    START XOR("g1") XOR("g2") XOR("g3") XOR("j1") XOR("j2") XOR("j3") TASK("b") TASK("c")          \
        TASK("d") END FLOW("f1", "s", "g1") WHEN("f2", "g1", "g2") FLOW("f3", "g1", "d")           \
            WHEN("f4", "g2", "g3") FLOW("f5", "g2", "c") FLOW("f7", "g3", "b")                     \
                FLOW("f8", "b", "j3") FLOW("f9", "j3", "j2") FLOW("f10", "c", "j2")                \
                    FLOW("f11", "j2", "j1") FLOW("f12", "d", "j1") FLOW("f13", "j1", "e")

Test(lint, gateways_nested_more_than_three_deep_are_named)
{
    sample_warn(SAMPLE(NESTED_3 XOR("g4") TASK("h") TASK("i") WHEN("f6", "g3", "g4")
                           WHEN("n1", "g4", "h") FLOW("n2", "g4", "i") FLOW("n3", "h", "j3")
                               FLOW("n4", "i", "j3")),
                "nested-gateways", "g4", "3 deep");
    expect_silence(SAMPLE(NESTED_3 TASK("h") WHEN("f6", "g3", "h") FLOW("n3", "h", "j3")),
                   "nested-gateways");
}

Test(lint, gateways_one_behind_the_other_are_not_nested)
{
    expect_silence(
        SAMPLE(START XOR("g1") XOR("g2") XOR("g3") XOR("g4") XOR("g5") TASK("a") TASK("b") TASK("c")
                   TASK("d") END FLOW("f", "s", "g1") WHEN("a1", "g1", "a") FLOW("a2", "a", "g2")
                       FLOW("a3", "g1", "g2") WHEN("b1", "g2", "b") FLOW("b2", "b", "g3")
                           FLOW("b3", "g2", "g3") WHEN("c1", "g3", "c") FLOW("c2", "c", "g4")
                               FLOW("c3", "g3", "g4") WHEN("d1", "g4", "d") FLOW("d2", "d", "g5")
                                   FLOW("d3", "g4", "g5") FLOW("z", "g5", "e")),
        "nested-gateways");
}

Test(lint, checks_that_end_the_matter_are_not_nested)
{
    expect_silence(SAMPLE(START XOR("g1") XOR("g2") XOR("g3") XOR("g4") XOR("g5") END TASK("t")
                              FLOW("f", "s", "g1") WHEN("a", "g1", "e") FLOW("b", "g1", "g2") WHEN(
                                  "c", "g2", "e") FLOW("d", "g2", "g3") WHEN("h", "g3", "e")
                                  FLOW("i", "g3", "g4") WHEN("j", "g4", "e") FLOW("k", "g4", "g5")
                                      WHEN("l", "g5", "e") FLOW("m", "g5", "t")),
                   "nested-gateways");
}

/* ---- paths ---- */

Test(lint, a_join_that_waits_for_both_arms_of_a_choice_is_named)
{
    static const char f8[] =
        SAMPLE(START AND("split") XOR("x") AND("join") TASK("a") END FLOW("f1", "s", "split")
                   FLOW("f2", "split", "a") FLOW("f3", "split", "x") FLOW("f4", "a", "join")
                       WHEN("f5", "x", "join") FLOW("f6", "x", "join") FLOW("f7", "join", "e"));
    sample_warn(f8, "deadlock", "join", "exclusiveGateway \"x\"");
    static const char longer[] =
        SAMPLE(START XOR("x") AND("join") TASK("a") TASK("b") END FLOW("f1", "s", "x")
                   WHEN("f2", "x", "a") FLOW("f3", "x", "b") FLOW("f4", "a", "join")
                       FLOW("f5", "b", "join") FLOW("f7", "join", "e"));
    sample_warn(longer, "deadlock", "join", "\"f4\" and \"f5\"");
}

Test(lint, a_join_of_parallel_arms_with_choices_that_meet_again_is_sound)
{
    expect_silence(SAMPLE(START AND("split") XOR("x") XOR("m") AND("join") TASK("a") TASK("b")
                              TASK("c") END FLOW("f1", "s", "split") FLOW("f2", "split", "a") FLOW(
                                  "f3", "split", "x") FLOW("f4", "a", "join") WHEN("f5", "x", "b")
                                  FLOW("f6", "x", "c") FLOW("f8", "b", "m") FLOW("f9", "c", "m")
                                      FLOW("f10", "m", "join") FLOW("f7", "join", "e")),
                   "deadlock");
}

Test(lint, a_choice_in_a_loop_may_serve_the_join_in_two_rounds)
{
    expect_silence(SAMPLE(START XOR("m") AND("split") XOR("x") AND("join") TASK("back")
                              END FLOW("f1", "s", "m") FLOW("f2", "m", "split")
                                  FLOW("f3", "split", "back") FLOW("f4", "split", "x")
                                      WHEN("f5", "x", "join") FLOW("f6", "x", "join")
                                          FLOW("f7", "back", "m") FLOW("f8", "join", "e")),
                   "deadlock");
}

Test(lint, nodes_that_no_start_leads_to_are_named)
{
    sample_warn(SAMPLE(START TASK("a") TASK("b") TASK("c") FLOW("f", "s", "a") FLOW("g", "b", "c")),
                "unreachable", "b", "nothing leads here");
    sample_warn(SAMPLE(START TASK("a") TASK("b") TASK("c") FLOW("f", "s", "a") FLOW("g", "b", "c")),
                "unreachable", "c", "no way from a start");
    expect_silence(
        SAMPLE(START "<subProcess id='p1'><startEvent id='i'/>" TASK("j") FLOW(
            "k", "i", "j") "</subProcess>"
                           "<boundaryEvent id='b' "
                           "attachedToRef='p1'><errorEventDefinition/></boundaryEvent>" TASK("h")
                               FLOW("f", "s", "p1") FLOW("g", "b", "h")),
        "unreachable");
}

Test(lint, a_loop_in_which_nothing_happens_is_refused)
{
    sample_refuse(
        SAMPLE(START XOR("a") XOR("b") FLOW("f", "s", "a") FLOW("g", "a", "b") FLOW("h", "b", "a")),
        "endless-loop", "a", "for ever");
    sample_refuse(SAMPLE(START XOR("a") FLOW("f", "s", "a") FLOW("g", "a", "a")), "endless-loop",
                  "a", "for ever");
    expect_silence(SAMPLE(START XOR("a") TASK("b") FLOW("f", "s", "a") FLOW("g", "a", "b")
                              FLOW("h", "b", "a")),
                   "endless-loop");
    expect_silence(SAMPLE(START XOR("a") XOR("b") END FLOW("f", "s", "a") FLOW("g", "a", "b")
                              WHEN("h", "b", "a") FLOW("i", "b", "e")),
                   "endless-loop");
}

/* ---- timers ---- */

#define TIMER(kind, text)                                                                          \
    SAMPLE_BETWEEN("<intermediateCatchEvent id='x'><timerEventDefinition><" kind ">" text          \
                   "</" kind "></timerEventDefinition></intermediateCatchEvent>")

Test(lint, a_cron_text_that_never_fires_is_told)
{
#define STARTS(text)                                                                               \
    SAMPLE("<startEvent id='s'><timerEventDefinition><timeCycle>" text                             \
           "</timeCycle></timerEventDefinition></startEvent>" END FLOW("f", "s", "e"))
    sample_warn(STARTS("0 0 30 2 *"), "timer", "s", "never fires");
    sample_warn(STARTS("0 9 31 4,6,9,11 ?"), "timer", "s", "never fires");
    expect_silence(STARTS("0 0 29 2 *"), "timer");
    expect_silence(STARTS("0 9 * * MON-FRI"), "timer");
#undef STARTS
}

Test(lint, literal_timer_values_must_be_what_they_claim)
{
    static const char *const good[] = {TIMER("timeDuration", "PT5M"),
                                       TIMER("timeDuration", "P52W"),
                                       TIMER("timeDuration", "=wait"),
                                       TIMER("timeDuration", "${wait}"),
                                       TIMER("timeDate", "2026-11-30T10:00:00Z"),
                                       TIMER("timeDate", "9999-12-31"),
                                       TIMER("timeCycle", "R3/PT10S"),
                                       TIMER("timeCycle", "=\"R3/PT10S\""),
                                       TIMER("timeDuration", "= \"PT5M\""),
                                       TIMER("timeDate", "=\"2026-11-30T10:00:00Z\""),
                                       TIMER("timeDuration", "=@\"PT5M\""),
                                       TIMER("timeDate", "=@\"2026-11-30\""),
                                       TIMER("timeDuration", "PT99999999999999S")};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        expect_silence(good[i], "timer");
    }
    sample_refuse(TIMER("timeDuration", "PT2W"), "timer", "x", "no duration");
    sample_refuse(TIMER("timeDuration", "=\"PT2W\""), "timer", "x", "\"PT2W\" is no duration");
    sample_refuse(TIMER("timeDuration", "=5"), "timer", "x", "no duration");
    sample_refuse(TIMER("timeDuration", "P1Y2W"), "timer", "x", "weeks cannot be mixed");
    sample_refuse(TIMER("timeDuration", "5 minutes"), "timer", "x", "begins with P");
    sample_refuse(TIMER("timeDate", "2026-02-30"), "timer", "x", "no date");
    sample_refuse(TIMER("timeCycle", "PT10S"), "timer", "x", "as in R/PT10M");
    sample_refuse(TIMER("timeCycle", "0 0 * * *"), "timer", "x", "cron text is for start events");
    sample_refuse(TIMER("timeDuration", ""), "timer", "x", "no time");
    sample_refuse(
        SAMPLE_BETWEEN(
            "<intermediateCatchEvent id='x'><timerEventDefinition/></intermediateCatchEvent>"),
        "timer", "x", "no time");
    sample_warn(TIMER("timeDuration", "-PT5M"), "timer", "x", "fires at once");
}

Test(lint, a_cron_text_may_start_a_process)
{
    static const char file[] =
        SAMPLE("<startEvent id='s'><timerEventDefinition><timeCycle>0/5 0/1 * 1/1 * "
               "?</timeCycle></timerEventDefinition></startEvent>" END FLOW("f", "s", "e"));
    expect_silence(file, "timer");
    expect_silence(file, "by-hand");
}

Test(lint, a_condition_starts_no_process_by_itself)
{
    sample_warn(
        SAMPLE("<startEvent id='s'><conditionalEventDefinition><condition>=x &gt; 1"
               "</condition></conditionalEventDefinition></startEvent>" END FLOW("f", "s", "e")),
        "by-hand", "s", "a conditional start event is started by hand only");
}

Test(lint, a_start_event_that_waits_for_all_of_its_triggers_is_refused)
{
    sample_refuse(SAMPLE("<startEvent id='s' parallelMultiple='true'><timerEventDefinition>"
                         "<timeCycle>R/PT1H</timeCycle></timerEventDefinition>"
                         "<timerEventDefinition><timeCycle>R/PT2H</timeCycle>"
                         "</timerEventDefinition></startEvent>" END FLOW("f", "s", "e")),
                  "unsupported-element", "s", "waits for all of its triggers");
}

Test(lint, a_cron_text_that_is_none_is_refused_with_the_place)
{
    sample_refuse(
        SAMPLE("<startEvent id='s'><timerEventDefinition><timeCycle>0 25 * * *"
               "</timeCycle></timerEventDefinition></startEvent>" END FLOW("f", "s", "e")),
        "timer", "s", "no cron text: hours are 0 to 23, at character 3");
    sample_refuse(
        SAMPLE("<startEvent id='s'><timerEventDefinition><timeCycle>@never"
               "</timeCycle></timerEventDefinition></startEvent>" END FLOW("f", "s", "e")),
        "timer", "s", "no such macro");
}

Test(lint, a_block_that_waits_for_two_results_of_one_block_waits_for_ever)
{
#define CHOICE(type, results)                                                                      \
    "{\"id\":\"p\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"                            \
    "{\"id\":\"a\",\"type\":\"Block\"},{\"id\":\"j\",\"type\":\"" type "\"}],\"faces\":["          \
    "{\"from\":\"s\",\"to\":\"a\"}," results "]}"
    static const char both[] = CHOICE("Block", "{\"from\":\"a\",\"to\":\"j\",\"result\":\"x\"},"
                                               "{\"from\":\"a\",\"to\":\"j\",\"result\":\"y\"}");
    static const char any[] = CHOICE("OrBlock", "{\"from\":\"a\",\"to\":\"j\",\"result\":\"x\"},"
                                                "{\"from\":\"a\",\"to\":\"j\",\"result\":\"y\"}");
    static const char same[] = CHOICE("Block", "{\"from\":\"a\",\"to\":\"j\",\"result\":\"x\"},"
                                               "{\"from\":\"a\",\"to\":\"j\",\"result\":\"x\"}");
    static const struct {
        const char *text;
        bool is_deadlock;
    } rows[] = {{both, true}, {any, false}, {same, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sample sample = sample_read(rows[i].text);
        const struct engine_problem *problem = sample_problem(&sample, "deadlock", "j");
        cr_expect_eq(problem != NULL, rows[i].is_deadlock, "%s\n%s", rows[i].text,
                     sample_text(&sample));
        sample_free(&sample);
    }
}

/* ---- what is executed ---- */

Test(lint, what_is_not_executed_yet_is_refused_by_name)
{
    static const struct {
        const char *part;
        const char *words;
    } rows[] = {
        {"<intermediateCatchEvent id='x'><terminateEventDefinition/></intermediateCatchEvent>",
         "BPMN has no such thing as a terminate catch event"},
        {"<intermediateCatchEvent id='x'/>", "BPMN has no such thing as a none catch event"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        arena_init(&arena, 4096, 1 << 20);
        struct span file = arena_format(&arena, SAMPLE_BETWEEN("%s"), rows[i].part);
        sample_refuse((const char *)file.bytes, "unsupported-element", "x", rows[i].words);
        arena_release(&arena);
    }
}

Test(lint, a_link_leads_to_one_catch_event_of_its_scope)
{
    static const char throws[] = SAMPLE(
        START FLOW("f", "s", "x") "<intermediateThrowEvent id='x'><linkEventDefinition name='L'/>"
                                  "</intermediateThrowEvent>");
    static const char catches[] =
        SAMPLE(START "<intermediateCatchEvent id='c'><linkEventDefinition name='L'/>"
                     "</intermediateCatchEvent><intermediateCatchEvent id='x'>"
                     "<linkEventDefinition name='L'/></intermediateCatchEvent>");

    sample_refuse(throws, "link", "x", "throws the link \"L\", which no catch event");
    sample_refuse(catches, "link", "x", "as \"c\" does");
}

Test(lint, what_follows_an_event_gateway_is_something_to_wait_for)
{
    sample_refuse(SAMPLE(START "<eventBasedGateway id='x'/>" TASK("t") FLOW("f", "s", "x")
                             FLOW("g", "x", "t")),
                  "event-gateway", "x", "leads to \"t\" (user task), which waits for no event");
}

Test(lint, cancel_events_are_of_transactions)
{
#define CANCELS "<endEvent id='x'><cancelEventDefinition/></endEvent>"
    sample_refuse(SAMPLE(START "<subProcess id='p1'>" CANCELS "</subProcess>"), "cancel", "x",
                  "there is none around it");
    sample_refuse(SAMPLE(START TASK("t") "<boundaryEvent id='x' attachedToRef='t'>"
                                         "<cancelEventDefinition/></boundaryEvent>"),
                  "cancel", "x", "what it is attached to is none");
    struct sample sample = sample_read_bytes(
        span_text(SAMPLE(START "<transaction id='tx'><subProcess id='p1'>" CANCELS
                               "</subProcess></transaction>" FLOW("f", "s", "tx"))),
        false);
    cr_expect_eq(sample.result, RESULT_OK);
    cr_expect_eq(sample_problem(&sample, "cancel", "x")->severity, ENGINE_WARNING);
    sample_free(&sample);
#undef CANCELS
}

static void expect_warning(const char *file, const char *rule, const char *element)
{
    struct sample sample = sample_read_bytes(span_text(file), false);
    cr_expect_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    const struct engine_problem *problem = sample_problem(&sample, rule, element);
    cr_assert_not_null(problem, "%s", sample_text(&sample));
    cr_expect_eq(problem->severity, ENGINE_WARNING);
    sample_free(&sample);
}

Test(lint, what_compensates_nothing_is_warned_of)
{
#define UNDOES "<compensateEventDefinition/></boundaryEvent>"
    expect_warning(SAMPLE(START TASK("t") "<boundaryEvent id='x' attachedToRef='t'>" UNDOES FLOW(
                       "f", "s", "t")),
                   "compensation", "x");
    expect_warning(
        SAMPLE(START TASK("t") "<boundaryEvent id='x' attachedToRef='t'>" UNDOES
                               "<userTask id='h' isForCompensation='true'/><association id='a' "
                               "sourceRef='x' targetRef='h'/>" TASK("z") FLOW("f", "s", "t")
                                   FLOW("g", "x", "z")),
        "compensation", "x");
    expect_warning(SAMPLE(START "<userTask id='x' isForCompensation='true'/>" FLOW("f", "s", "x")),
                   "compensation", "x");
    expect_warning(
        SAMPLE(START TASK("t") "<intermediateThrowEvent id='x'><compensateEventDefinition "
                               "activityRef='t'/></intermediateThrowEvent>" FLOW("f", "s", "t")
                                   FLOW("g", "t", "x")),
        "compensation", "x");
#undef UNDOES
}

Test(lint, a_sub_process_that_cannot_begin_is_warned_of)
{
    expect_warning(SAMPLE(START "<subProcess id='x'><subProcess id='h' triggeredByEvent='true'>"
                                "<startEvent id='hs'><signalEventDefinition/></startEvent>"
                                "</subProcess></subProcess>" FLOW("f", "s", "x")),
                   "no-start-event", "x");
}

Test(lint, the_way_on_from_a_handler_or_an_instantiating_task_is_reached)
{
    static const char file[] = SAMPLE(START TASK(
        "t") "<boundaryEvent id='b' attachedToRef='t'><compensateEventDefinition/>"
             "</boundaryEvent><userTask id='h' isForCompensation='true'/>"
             "<association id='a' sourceRef='b' targetRef='h'/>"
             "<boundaryEvent id='e' attachedToRef='h'><errorEventDefinition/>"
             "</boundaryEvent>" TASK("rescue") "<receiveTask id='r' instantiate='true'/>" TASK(
                 "next") FLOW("f", "s", "t") FLOW("g", "e", "rescue") FLOW("i", "r", "next"));
    struct sample sample = sample_read_bytes(span_text(file), false);
    cr_expect_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    cr_expect_null(sample_problem(&sample, "unreachable", "rescue"));
    cr_expect_null(sample_problem(&sample, "unreachable", "e"));
    cr_expect_null(sample_problem(&sample, "unreachable", "next"));
    sample_free(&sample);
}

Test(lint, a_loop_that_nothing_counts_or_ends_is_warned_of)
{
    expect_warning(
        SAMPLE(START "<userTask id='x'><multiInstanceLoopCharacteristics/></userTask>" FLOW(
            "f", "s", "x")),
        "loop", "x");
    expect_warning(SAMPLE(START "<userTask id='x'><standardLoopCharacteristics/></userTask>" FLOW(
                       "f", "s", "x")),
                   "loop", "x");
}

Test(lint, a_boundary_event_is_judged_by_whether_it_interrupts)
{
    sample_refuse(
        SAMPLE(START TASK("t") "<boundaryEvent id='x' attachedToRef='t' "
                               "cancelActivity='false'><cancelEventDefinition/></boundaryEvent>"),
        "unsupported-element", "x",
        "BPMN has no such thing as a non-interrupting cancel boundary event");
    sample_refuse(SAMPLE(START "<subProcess id='p1'><startEvent "
                               "id='x'><messageEventDefinition/></startEvent></subProcess>"),
                  "unsupported-element", "x",
                  "no such thing as a message start event of a sub-process");
}

Test(lint, a_lenient_reader_warns_of_what_it_cannot_execute)
{
    struct sample sample = sample_read_bytes(
        span_text(SAMPLE(START "<intermediateCatchEvent id='x'/>" FLOW("f", "s", "x"))), true);
    cr_expect_eq(sample.result, RESULT_OK);
    cr_expect_eq(sample_problem(&sample, "unsupported-element", "x")->severity, ENGINE_WARNING);
    sample_free(&sample);
}

/* A ladder is as tangled as a graph gets for its size: every vertex has two ways in and two on. */
Test(lint, a_tangled_graph_is_judged_in_bounded_time)
{
    enum { RUNGS = 4000, RUNG_BYTES = 400 };
    struct arena arena;
    arena_init(&arena, 1 << 20, 64 << 20);
    size_t room = RUNGS * RUNG_BYTES;
    char *text = arena_alloc(&arena, room);
    size_t at = (size_t)snprintf(text, room, "%s",
                                 "<definitions " SAMPLE_NAMESPACES
                                 "><process id='p'>" START FLOW("fs", "s", "a0"));
    for (int i = 0; i < RUNGS; i++) {
        at += (size_t)snprintf(text + at, room - at,
                               XOR("a%d") XOR("b%d") FLOW("x%d", "a%d", "b%d"), i, i, i, i, i);
        if (i > 0) {
            at += (size_t)snprintf(text + at, room - at,
                                   FLOW("y%d", "a%d", "a%d") FLOW("z%d", "b%d", "b%d"), i, i - 1, i,
                                   i, i, i - 1);
        }
    }
    at += (size_t)snprintf(text + at, room - at, "</process></definitions>");
    cr_assert_lt(at, room);

    struct sample sample = sample_read_bytes(span_of(text, at), false);

    cr_expect_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    sample_free(&sample);
    arena_release(&arena);
}

Test(lint, an_event_sub_process_with_two_start_events_is_refused)
{
    static const char two[] =
        SAMPLE_BETWEEN("<subProcess id='h' triggeredByEvent='true'><startEvent id='h1'>"
                       "<signalEventDefinition/></startEvent><startEvent id='h2'>"
                       "<signalEventDefinition/></startEvent></subProcess>");
    sample_refuse(two, "event-sub-process", "h", "2 start events");
}
