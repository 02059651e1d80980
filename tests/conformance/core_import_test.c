/*
 * Executions that ran in another engine (engine.md 9; seed 004, "Conversion"): joins are rebuilt by
 * virtual execution, and what was imported goes on as a native execution would.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/conformance/world.h"

#define BLOCK(id, type) "{\"id\":\"" id "\",\"type\":\"" type "\"}"
#define HANDLED(id)     "{\"id\":\"" id "\",\"type\":\"Block\",\"handler\":\"svc\"}"
#define FACE(from, to)  "{\"id\":\"" from "-" to "\",\"from\":\"" from "\",\"to\":\"" to "\"}"
#define FACE_IF(from, to, result)                                                                  \
    "{\"id\":\"" from "-" to "\",\"from\":\"" from "\",\"to\":\"" to "\",\"result\":\"" result "\"}"
#define SCHEME(blocks, faces) "{\"id\":\"p\",\"blocks\":[" blocks "],\"faces\":[" faces "]}"

/* s -> l and r, both needed by j; j goes back to l and r by m ("again") or finishes. */
static const char rounds[] =
    SCHEME(BLOCK("s", "StartBlock") "," HANDLED("m") "," HANDLED("l") "," HANDLED("r") "," HANDLED(
               "j") "," BLOCK("f", "FinishBlock"),
           FACE("s", "m") "," FACE("m", "l") "," FACE("m", "r") "," FACE("l", "j") "," FACE(
               "r", "j") "," FACE_IF("j", "m", "again") "," FACE_IF("j", "f", "done"));

static void open(struct world *world, const char *text)
{
    world_open(world, text, NULL);
}

/* Calls, waits, the first token that waits in a join, and blocks. A path's length and the last
 * output are of the engine that ran them. */
static const char *stand(struct world *world)
{
    const char *joins = world_value(world, "joins");
    return (const char *)arena_format(&world->arena, "%s | %s | %.*s | %s", world_open_calls(world),
                                      world_waiting(world), joins[0] == '\0' ? 0 : 9, joins,
                                      world_blocks(world))
        .bytes;
}

Test(import, stands_where_a_native_execution_stands)
{
    struct world native, foreign;
    open(&native, rounds);
    world_start(&native, NULL, "{\"x\":1}");
    world_answer(&native, "m", 200, NULL);
    world_answer(&native, "l", 200, NULL);
    world_answer(&native, "r", 200, NULL);
    world_answer(&native, "j", 200, "{\"output\":\"again\"}");
    world_answer(&native, "m", 200, NULL);
    world_answer(&native, "l", 200, NULL);

    open(&foreign, rounds);
    cr_assert(world_import(
        &foreign, "{\"execution\":{\"x\":1},\"active\":[\"r\"],\"passed\":[\"s-m\",\"m-l\",\"m-r\","
                  "\"l-j\",\"r-j\",{\"edge\":\"j-m\",\"result\":\"again\"},"
                  "\"m-l\",\"m-r\",\"l-j\"]}"));

    cr_expect_str_eq(stand(&native), "r |  | [[\"l-j\",1 | {\"s\":\"Completed\","
                                     "\"m\":\"Completed\",\"l\":\"Completed\",\"r\":\"Pending\","
                                     "\"j\":\"Completed\"}");
    cr_expect_str_eq(stand(&foreign), stand(&native));
    cr_expect_eq(world_state(&foreign), 5);
    cr_expect_str_eq(foreign.audit_events, "imported ");
    world_crash(&foreign);
    for (struct world *world = &native; world != NULL; world = world == &native ? &foreign : NULL) {
        world_answer(world, "r", 200, NULL);
        world_answer(world, "j", 200, "{\"output\":\"done\"}");
        cr_expect_eq(world_state(world), 40);
        cr_expect_str_eq(world_value(world, "execution.x"), "1");
    }
    cr_expect_str_eq(world_blocks(&foreign), world_blocks(&native));
    world_close(&native);
    world_close(&foreign);
}

Test(import, surplus_in_joins_is_counted_by_edge)
{
    static const char text[] =
        SCHEME(BLOCK("s", "StartBlock") "," HANDLED("l") "," HANDLED("r") "," HANDLED("j"),
               FACE("s", "l") "," FACE("s", "r") "," FACE_IF("l", "l", "more") "," FACE(
                   "l", "j") "," FACE_IF("r", "r", "more") "," FACE("r", "j"));
    struct world world;
    open(&world, text);
    cr_assert(world_import(&world, "{\"active\":[\"r\",\"j\"],\"passed\":[\"s-l\",\"s-r\","
                                   "{\"edge\":\"l-l\",\"count\":2},{\"edge\":\"l-j\",\"count\":3},"
                                   "{\"from\":\"r\",\"to\":\"r\",\"result\":\"more\"},\"r-j\"]}"));
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"l-j\",2,0,null]]");
    cr_expect_str_eq(world_open_calls(&world), "r j");
    world_answer(&world, "r", 200, "{\"output\":\"more\"}");
    world_answer(&world, "r", 200, NULL);
    for (unsigned i = 0; i < 3; i++) {
        world_answer(&world, "j", 200, NULL);
    }
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(import, a_block_that_is_waited_for_is_not_begun_again)
{
    struct world world;
    open(&world, rounds);
    cr_assert(world_import(&world, "{\"active\":[{\"node\":\"l\",\"wait\":true},{\"node\":\"r\","
                                   "\"wait\":{\"kind\":\"human\",\"assignee\":\"ann\"}}],"
                                   "\"passed\":[\"s-m\",\"m-l\",\"m-r\"]}"));
    cr_expect_str_eq(world_open_calls(&world), "");
    cr_expect_str_eq(world_waiting(&world), "l:callback r:human");
    cr_expect_str_eq(world_lifecycle(&world), "WaitingForHuman");
    cr_expect_str_eq(world.audit_events, "imported waiting ");
    cr_expect_eq(world.steps_shown, 2, "its steps have blobs");
    world_crash(&world);
    cr_assert(world_callback(&world, "l", "{}"));
    cr_assert(world_callback(&world, "r", "{}"));
    cr_expect_str_eq(world_open_calls(&world), "j");
    world_close(&world);
}

Test(import, brings_its_data)
{
    struct world world;
    open(&world, rounds);
    cr_assert(world_import(&world, "{\"request\":{\"a\":1},\"context\":{\"b\":2},"
                                   "\"execution\":{\"c\":3},\"response\":{\"d\":4},"
                                   "\"module\":{\"e\":5},\"nodes\":{\"q\":{\"f\":6}},"
                                   "\"active\":[\"m\"],\"passed\":[\"s-m\"]}"));
    cr_expect_str_eq(world_call_value(&world, "m", "request.a"), "1");
    cr_expect_str_eq(world_call_value(&world, "m", "context.b"), "2");
    cr_expect_str_eq(world_call_value(&world, "m", "execution.c"), "3");
    cr_expect_str_eq(world_call_value(&world, "m", "module.e"), "5");
    cr_expect_str_eq(world_value(&world, "response.d"), "4");
    cr_expect_str_eq(world_value(&world, "nodes.q.f"), "6");
    cr_assert(world_verb(&world, ENGINE_IN_ABORT, NULL));
    cr_assert(world_verb(&world, ENGINE_IN_RESTART, NULL));
    cr_expect_str_eq(world_trace(&world), "s m", "a restart begins at the start");
    cr_expect_str_eq(world_value(&world, "execution.c"), "3");
    world_close(&world);
}

/* ---- BPMN ---- */

static const char practice[] = WORLD_BPMN(
    START("s") "<parallelGateway id='fork'/>" USER(
        "a") "<boundaryEvent id='late' attachedToRef='a'><timerEventDefinition><timeDuration>PT10S"
             "</timeDuration></timerEventDefinition></boundaryEvent>" XOR("x") TASK("b")
                 TASK("c") "<intermediateCatchEvent "
                           "id='t'><timerEventDefinition><timeDuration>PT5S</timeDuration>"
                           "</timerEventDefinition></intermediateCatchEvent>" AND("j")
                               TASK("z") "<subProcess id='sub'>" USER("inner") "</subProcess>" FLOW(
                                   "s", "fork") FLOW("fork", "a") FLOW("fork", "x")
                                   FLOW_IF("x", "b", "=v = 1") FLOW_IF("x", "c", "=v = 2")
                                       FLOW("b", "t") FLOW("c", "t") FLOW("t", "j") FLOW("a", "j")
                                           FLOW("late", "sub") FLOW("sub", "j") FLOW("j", "z"));

Test(import, timers_and_human_tasks_of_bpmn_begin_now)
{
    struct world world;
    open(&world, practice);
    cr_assert(world_import(&world, "{\"active\":[\"a\",\"t\"],\"passed\":[\"s-fork\",\"fork-a\","
                                   "\"fork-x\",\"x-c\",\"c-t\"]}"));
    cr_expect_str_eq(world_waiting(&world), "a:human t:timer");
    world_pass(&world, 5000);
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"t-j\",1,0,null]]");
    world_pass(&world, 5000);
    cr_expect_str_eq(world_waiting(&world), "inner:human", "its boundary timer is armed");
    world_close(&world);

    open(&world, practice);
    cr_assert(world_import(&world,
                           "{\"active\":[\"sub\"],\"passed\":[\"s-fork\",\"fork-a\",\"fork-x\","
                           "\"x-b\",\"b-t\",\"t-j\",\"late-sub\"]}"),
              "%.*s", SPAN_ARG(world.refusal));
    cr_expect_str_eq(world_waiting(&world), "inner:human", "a sub-process begins anew");
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"t-j\",1,0,null]]");
    world_close(&world);
}

Test(import, inclusive_joins_look_around_as_ever)
{
    static const char text[] =
        WORLD_BPMN(START("s") "<inclusiveGateway id='o'/><inclusiveGateway id='j'/>" USER("a")
                       USER("b") TASK("z") FLOW("s", "o") FLOW_IF("o", "a", "=true")
                           FLOW_IF("o", "b", "=true") FLOW("a", "j") FLOW("b", "j") FLOW("j", "z"));
    struct world world;
    open(&world, text);
    cr_assert(
        world_import(&world, "{\"active\":[\"b\"],\"passed\":[\"s-o\",\"o-a\",\"o-b\",\"a-j\"]}"));
    cr_expect_str_eq(world_trace(&world), "b");
    cr_assert(world_callback(&world, "b", "{}"));
    cr_expect_str_eq(world_trace(&world), "b j z");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(import, what_was_completed_can_be_compensated)
{
    static const char text[] = WORLD_BPMN(START("s") TASK(
        "a") "<boundaryEvent id='cb' attachedToRef='a'><compensateEventDefinition/>"
             "</boundaryEvent><serviceTask id='undo' isForCompensation='true'>"
             "<extensionElements><zeebe:taskDefinition type='svc'/>"
             "</extensionElements></serviceTask>"
             "<association id='as' sourceRef='cb' targetRef='undo'/>" USER(
                 "u") "<endEvent id='c'><compensateEventDefinition/></endEvent>" FLOW("s", "a")
                                              FLOW("a", "u") FLOW("u", "c"));
    struct world world;
    open(&world, text);
    cr_assert(world_import(&world, "{\"active\":[\"u\"],\"passed\":[\"s-a\",\"a-u\"]}"));
    cr_assert(world_callback(&world, "u", "{}"));
    cr_expect_str_eq(world_open_calls(&world), "undo");
    world_close(&world);
}

Test(import, event_sub_processes_listen_from_then_on)
{
    static const char text[] = WORLD_BPMN(
        START("s") USER("u") FLOW("s", "u") "<subProcess id='e' triggeredByEvent='true'>"
                                            "<startEvent id='es'><timerEventDefinition>"
                                            "<timeDuration>PT1H</timeDuration>"
                                            "</timerEventDefinition></startEvent></subProcess>");
    struct world world;
    open(&world, text);
    cr_assert(world_import(&world, "{\"active\":[\"u\"],\"passed\":[\"s-u\"]}"));
    world_pass(&world, 3600 * 1000);
    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_trace(&world), "u e es");
    world_close(&world);
}

/* ---- what cannot have happened ---- */

Test(import, refuses_by_name_what_cannot_have_happened)
{
    static const struct {
        const char *text;
        const char *foreign;
        const char *words;
    } rows[] = {
        {rounds, "{\"active\":[\"nobody\"]}", "no node \"nobody\""},
        {rounds, "{\"active\":[7]}", "an active node is an id"},
        {rounds, "{\"active\":\"m\"}", "active must be a list"},
        {rounds, "{\"passed\":{}}", "passed must be a list"},
        {rounds, "{\"passed\":[\"s-s\"]}", "no edge \"s-s\""},
        {rounds, "{\"passed\":[{\"from\":\"s\",\"to\":\"j\"}]}",
         "no edge leads from \"s\" to \"j\""},
        {rounds, "{\"passed\":[{\"edge\":\"s-m\",\"count\":0}]}", "count of \"s-m\""},
        {rounds, "{\"passed\":[{\"edge\":\"j-m\",\"result\":\"done\"}]}",
         "\"j-m\" is passed with the result \"again\", not \"done\""},
        {rounds, "{\"active\":[\"l\"],\"passed\":[\"s-m\"]}",
         "\"l\" is active or was interrupted 1 times, but the passed edges lead to it 0"},
        {rounds, "{\"passed\":[{\"edge\":\"s-m\",\"cuont\":2}]}",
         "a passed edge has no member \"cuont\""},
        {rounds, "{\"active\":[{\"node\":\"m\",\"coutn\":2}]}",
         "an active node has no member \"coutn\""},
        {rounds, "{\"active\":[{\"node\":\"m\",\"wait\":{\"kind\":\"timer\"}}]}",
         "\"m\": the kind of a wait is \"callback\" or \"human\""},
        {rounds, "{\"active\":[\"m\"]}", "\"m\" is active"},
        {rounds, "{\"active\":[\"l\"],\"passed\":[\"s-m\",\"m-l\"]}",
         "\"m\" was completed 1 times, but its edge \"m-r\" was passed 0 times (is it active?)"},
        {rounds, "{\"active\":[\"l\",\"r\"],\"passed\":[\"s-m\",\"m-l\",\"m-r\",\"l-j\"]}",
         "\"l\" was completed 0 times, but its edge \"l-j\""},
        {rounds,
         "{\"active\":[\"m\"],\"passed\":[\"s-m\",\"m-l\",\"m-r\",\"l-j\",\"r-j\",\"j-m\",\"j-f\"]"
         "}",
         "\"j\" was completed 1 times, but gave 2 results"},
        {rounds, "{\"passed\":[\"s-m\",\"m-l\",\"m-r\",\"l-j\",\"r-j\",\"j-f\"]}",
         "ended at \"f\""},
        {rounds, "{\"active\":[\"s\"],\"passed\":[\"m-l\",\"m-r\",\"l-j\",\"r-j\",\"j-m\"]}",
         "no passed edges lead from the start to"},
        {rounds, "{\"active\":[{\"node\":\"f\",\"wait\":true}],\"passed\":[]}",
         "\"f\": wait must be true or an object, and the node a task"},
        {rounds, "{\"active\":[\"m\"],\"passed\":[\"s-m\"],\"nodes\":[]}",
         "nodes must be an object"},
        {practice, "{\"active\":[\"inner\"]}", "\"inner\" is inside \"sub\""},
        {practice, "{\"active\":[\"late\"]}", "\"late\" cannot be active by itself"},
        {practice, "{\"active\":[\"a\"],\"passed\":[\"s-fork\",\"fork-a\"]}",
         "\"fork-x\" was passed 0 times"},
        {practice,
         "{\"active\":[\"a\",\"b\",\"c\"],\"passed\":[\"s-fork\",\"fork-a\",\"fork-x\",\"x-b\","
         "\"x-c\"]}",
         "\"x\" was completed 1 times, but its edges were passed 2 times"},
        {WORLD_BPMN(START("s") "<complexGateway id='g'/>" FLOW(
             "s", "g") "<sequenceFlow id='again' sourceRef='s' targetRef='g'/>"),
         "{\"passed\":[\"again\"]}", "\"again\" leads to the complex gateway \"g\""},
        {WORLD_BPMN(START("s") TASK("a") FLOW("s", "a")), "{\"passed\":[\"s-a\"]}",
         "nothing is active"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        open(&world, rows[i].text);
        cr_expect(!world_import(&world, rows[i].foreign), "%s", rows[i].foreign);
        cr_expect_eq(world.error, PROTO_ERROR_InvalidRequest);
        cr_expect(world.refusal.count > 0 &&
                      strstr((const char *)world.refusal.bytes, rows[i].words) != NULL,
                  "row %zu: %.*s", i, SPAN_ARG(world.refusal));
        world_close(&world);
    }
}

/* ---- any life, cut anywhere ---- */

/* A native life of `rounds` is driven by a seed and told as a foreign one at every point: both must
 * stand alike, and go on alike. */
static void cut(uint32_t seed, unsigned actions)
{
    struct world native, foreign;
    char passed[8192] = "\"s-m\"";
    static const char *const blocks[] = {"m", "l", "r", "j"};
    open(&native, rounds);
    world_start(&native, NULL, NULL);
    for (unsigned i = 0; i < actions; i++) {
        seed = seed * 1103515245u + 12345u;
        const char *block = blocks[(seed >> 16) % 4];
        const char *open_calls = world_open_calls(&native);
        if (strchr(open_calls, block[0]) == NULL) {
            continue;
        }
        world_answer(&native, block, 200, "{\"output\":\"again\"}");
        const char *edges = block[0] == 'm'   ? ",\"m-l\",\"m-r\""
                            : block[0] == 'l' ? ",\"l-j\""
                            : block[0] == 'r' ? ",\"r-j\""
                                              : ",\"j-m\"";
        size_t used = strlen(passed);
        (void)snprintf(passed + used, sizeof passed - used, "%s", edges);
    }
    char text[16384], active[256] = "";
    for (size_t i = 0; i < 4; i++) {
        const char *at = world_open_calls(&native);
        while ((at = strchr(at, blocks[i][0])) != NULL) {
            (void)snprintf(active + strlen(active), sizeof active - strlen(active), "%s\"%s\"",
                           active[0] == '\0' ? "" : ",", blocks[i]);
            at++;
        }
    }
    (void)snprintf(text, sizeof text, "{\"active\":[%s],\"passed\":[%s]}", active, passed);
    open(&foreign, rounds);
    cr_assert(world_import(&foreign, text), "%s: %.*s", text, SPAN_ARG(foreign.refusal));
    cr_expect_str_eq(world_value(&foreign, "blocks"), world_value(&native, "blocks"));
    cr_expect_str_eq(world_blocks(&foreign), world_blocks(&native), "%s", text);
    cr_expect_eq(strlen(world_open_calls(&foreign)), strlen(world_open_calls(&native)));
    for (unsigned i = 0; i < 8; i++) {
        for (struct world *world = &native; world != NULL;
             world = world == &native ? &foreign : NULL) {
            for (size_t k = 0; k < 4; k++) {
                if (strchr(world_open_calls(world), blocks[k][0]) != NULL) {
                    world_answer(world, blocks[k], 200, "{\"output\":\"done\"}");
                    break;
                }
            }
        }
        cr_expect_eq(world_state(&foreign), world_state(&native), "%s", text);
    }
    cr_expect_eq(world_state(&foreign), 40);
    world_close(&native);
    world_close(&foreign);
}

Test(import, a_native_life_cut_anywhere_can_be_imported)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        for (unsigned actions = 0; actions < 30; actions += 3) {
            cut(seed, actions);
        }
    }
}

Test(import, counts_tokens_by_the_quantities_of_activities)
{
    static const char text[] = WORLD_BPMN(
        START("s") "<serviceTask id='a' completionQuantity='3'/>"
                   "<serviceTask id='b' startQuantity='2'/>" FLOW("s", "a") FLOW("a", "b"));
    struct world world;
    open(&world, text);
    cr_assert(!world_import(&world, "{\"active\":[\"b\"],\"passed\":[\"s-a\",\"a-b\"]}"));
    cr_assert(world_import(&world, "{\"active\":[\"b\"],\"passed\":[\"s-a\",{\"edge\":\"a-b\","
                                   "\"count\":3}]}"));
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"a-b\",1,0,null]]");
    world_close(&world);
}
