/*
 * Block schemes (engine.md 5): joins, results, back faces, and the states of blocks as seed 004 has
 * them. Whole lives stand in tests/scenarios/block_scheme.
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define BLOCK(id, type) "{\"id\":\"" id "\",\"type\":\"" type "\"}"
#define HANDLED(id)     "{\"id\":\"" id "\",\"type\":\"Block\",\"handler\":\"svc\"}"
#define FACE(from, to)  "{\"id\":\"" from "-" to "\",\"from\":\"" from "\",\"to\":\"" to "\"}"
#define FACE_IF(from, to, result)                                                                  \
    "{\"id\":\"" from "-" to "\",\"from\":\"" from "\",\"to\":\"" to "\",\"result\":" result "}"
#define SCHEME(blocks, faces) "{\"id\":\"p\",\"blocks\":[" blocks "],\"faces\":[" faces "]}"

static const char fork_and_finish[] =
    SCHEME(BLOCK("s", "StartBlock") "," HANDLED("a") "," HANDLED("b") "," HANDLED("c") "," BLOCK(
               "j", "AndBlock") "," BLOCK("f", "FinishBlock"),
           FACE("s", "a") "," FACE("s", "b") "," FACE("s", "c") "," FACE("a", "j") "," FACE(
               "b", "j") "," FACE("j", "f"));

static void begin(struct world *world, const char *text, const char *modules)
{
    world_open(world, text, modules);
    world_start(world, NULL, NULL);
}

Test(scheme, shows_what_each_block_came_to)
{
    struct world world;
    begin(&world, fork_and_finish, NULL);
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Pending\","
                                           "\"b\":\"Pending\",\"c\":\"Pending\"}");
    world_answer(&world, "a", 200, NULL);
    world_crash(&world);
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Completed\","
                                           "\"b\":\"Pending\",\"c\":\"Pending\"}");
    world_answer(&world, "b", 200, NULL);

    cr_expect_eq(world_state(&world), 40);
    cr_expect_str_eq(world_blocks(&world),
                     "{\"s\":\"Completed\",\"a\":\"Completed\",\"b\":\"Completed\","
                     "\"c\":\"Aborted\",\"j\":\"Completed\",\"f\":\"Completed\"}",
                     "what is pending when the process finishes is aborted");
    cr_expect_str_eq(world_open_calls(&world), "");
    world_close(&world);
}

Test(scheme, a_failed_block_is_suspended_until_its_retry)
{
    struct world world;
    begin(&world, fork_and_finish, NULL);
    world_answer(&world, "a", 404, NULL);
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Suspended\","
                                           "\"b\":\"Pending\",\"c\":\"Pending\"}");
    cr_assert(world_verb(&world, ENGINE_IN_RETRY, "a"));
    world_answer(&world, "a", 200, NULL);
    cr_expect_str_eq(world_value(&world, "blocks.a"), "\"Completed\"");
    world_close(&world);
}

Test(scheme, an_operator_suspends_and_aborts_the_blocks_that_are_pending)
{
    struct world world;
    begin(&world, fork_and_finish, NULL);
    world_answer(&world, "a", 200, NULL);
    cr_assert(world_verb(&world, ENGINE_IN_SUSPEND, NULL));
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Completed\","
                                           "\"b\":\"Suspended\",\"c\":\"Suspended\"}");
    cr_assert(world_verb(&world, ENGINE_IN_RESUME, NULL));
    cr_assert(world_verb(&world, ENGINE_IN_ABORT, NULL));
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Completed\","
                                           "\"b\":\"Aborted\",\"c\":\"Aborted\"}");
    cr_assert(world_verb(&world, ENGINE_IN_RESTART, NULL));
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"a\":\"Pending\","
                                           "\"b\":\"Pending\",\"c\":\"Pending\"}");
    world_close(&world);
}

Test(scheme, no_other_notation_has_block_states)
{
    struct world world;
    begin(&world, WORLD_BPMN(START("s") USER("a") FLOW("s", "a")), NULL);
    cr_expect_str_eq(world_blocks(&world), "");
    cr_expect_str_eq(world_value(&world, "blocks"), "");
    world_close(&world);
}

/* Seed 004: "Suspend" and "Abort" reach the block's handler; so does the end of the process. */
Test(scheme, modules_that_want_it_are_told_when_their_blocks_stop)
{
    static const char modules[] = "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/svc\","
                                  "\"cancel\":true}]";
    struct world world;
    begin(&world, fork_and_finish, modules);
    world_answer(&world, "b", 200, "{\"wait\":{\"kind\":\"human\"}}");
    world_answer(&world, "c", 200, "{\"wait\":true}");
    uint32_t before = world.call_count;
    cr_assert(world_verb(&world, ENGINE_IN_SUSPEND, NULL));
    cr_expect_eq(world.call_count, before + 3, "the call in flight and both waits");
    cr_expect_str_eq(world_call_value(&world, "b", "reason"), "\"suspended\"");
    cr_assert(world_verb(&world, ENGINE_IN_RESUME, NULL));
    world_answer(&world, "a", 200, NULL);
    cr_assert(world_callback(&world, "b", NULL));
    cr_expect_str_eq(world_call_value(&world, "c", "phase"), "\"cancel\"");
    cr_expect_str_eq(world_call_value(&world, "c", "reason"), "\"cancelled\"");
    world_close(&world);

    begin(&world, fork_and_finish, modules);
    cr_assert(world_verb(&world, ENGINE_IN_ABORT, NULL));
    cr_expect_str_eq(world_call_value(&world, "a", "reason"), "\"aborted\"");
    world_close(&world);
}

Test(scheme, a_result_that_is_no_text_selects_by_its_json)
{
    static const char text[] = SCHEME(BLOCK("s", "StartBlock") "," HANDLED("a") "," HANDLED(
                                          "t") "," HANDLED("n") "," HANDLED("x"),
                                      FACE("s", "a") "," FACE_IF("a", "t", "true") "," FACE_IF(
                                          "a", "n", "7") "," FACE_IF("a", "x", "\"x\""));
    static const struct {
        const char *reply;
        const char *open;
    } rows[] = {{"{\"output\":true}", "t"},
                {"{\"output\":7}", "n"},
                {"{\"output\":\"7\"}", "n"},
                {"{\"output\":\"x\"}", "x"},
                {"{\"output\":false}", ""},
                {"{\"output\":null}", ""},
                {"{}", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        begin(&world, text, NULL);
        world_answer(&world, "a", 200, rows[i].reply);
        cr_expect_str_eq(world_open_calls(&world), rows[i].open, "%s", rows[i].reply);
        cr_expect_eq(world_state(&world), rows[i].open[0] == '\0' ? 40 : 5, "%s", rows[i].reply);
        world_close(&world);
    }
}

/* Two branches of different speed go round: what is ahead waits in the join, face by face. */
Test(scheme, joins_count_by_face_and_surplus_waits_for_its_round)
{
    static const char text[] =
        SCHEME(BLOCK("s", "StartBlock") "," HANDLED("l") "," HANDLED("r") "," HANDLED("j"),
               FACE("s", "l") "," FACE("s", "r") "," FACE_IF("l", "l", "\"more\"") "," FACE(
                   "l", "j") "," FACE_IF("r", "r", "\"more\"") "," FACE("r", "j"));
    struct world world;
    begin(&world, text, NULL);
    world_answer(&world, "l", 200, "{\"output\":\"more\"}");
    world_answer(&world, "l", 200, "{\"output\":\"more\"}");
    world_answer(&world, "l", 200, "{}");
    cr_expect_str_eq(world_value(&world, "joins"), "[[\"l-j\",3,4,\"more\"]]");
    world_crash(&world);
    world_answer(&world, "r", 200, "{\"output\":\"more\"}");
    cr_expect_str_eq(world_open_calls(&world), "r j");
    world_answer(&world, "r", 200, "{\"output\":\"more\"}");
    world_answer(&world, "r", 200, "{}");
    cr_expect_str_eq(world_open_calls(&world), "j j j");
    for (unsigned i = 0; i < 3; i++) {
        world_answer(&world, "j", 200, NULL);
    }
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(scheme, a_missing_handler_goes_on_without_a_result)
{
    static const char text[] =
        SCHEME(BLOCK("s", "StartBlock") ",{\"id\":\"a\",\"type\":\"Block\",\"handler\":\"nobody\"}"
                                        "," HANDLED("b") "," HANDLED("c"),
               FACE("s", "a") "," FACE("a", "b") "," FACE_IF("a", "c", "\"x\""));
    struct world world;
    begin(&world, text, NULL);
    world_answer(&world, "b", 200, NULL);
    cr_expect_eq(world_state(&world), 56);
    cr_expect_str_eq(world_trace(&world), "s a b");
    world_close(&world);
}

Test(scheme, a_block_without_a_type_stops_the_process)
{
    struct world world;
    begin(&world, SCHEME(BLOCK("s", "StartBlock") ",{\"id\":\"x\"}", FACE("s", "x")), NULL);
    cr_expect_eq(world_state(&world), 24);
    cr_expect_str_eq(world_error(&world), "TasksHasNoType");
    cr_expect_str_eq(world_blocks(&world), "{\"s\":\"Completed\",\"x\":\"Suspended\"}");
    world_close(&world);
}
