/*
 * Timer events: catch and boundary, interrupting and not; dates, durations, cycles (traps.md 7,
 * field reports C).
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define TIMER(kind, text)                                                                          \
    "<timerEventDefinition><" kind ">" text "</" kind "></timerEventDefinition>"
#define CATCH(id, kind, text)                                                                      \
    "<intermediateCatchEvent id='" id "'>" TIMER(kind, text) "</intermediateCatchEvent>"
#define BOUNDARY(id, host, cancel, kind, text)                                                     \
    "<boundaryEvent id='" id "' attachedToRef='" host "' cancelActivity='" cancel                  \
    "'>" TIMER(kind, text) "</boundaryEvent>"
#define LATE "T" /* task after the boundary */

static void open_and_start(struct world *world, const char *bpmn)
{
    world_open(world, bpmn, NULL);
    world_start(world, NULL, "{\"wait\":\"PT7S\"}");
}

/* Waits of a catch event, in ms from the start (2026-01-01T00:00:00Z). */
Test(catch_timer, is_due_when_its_text_says)
{
    static const struct {
        const char *kind;
        const char *text;
        int64_t wait_ms;
    } rows[] = {
        {"timeDuration", "PT5S", 5000},
        {"timeDuration", "PT1M", 60000},
        {"timeDuration", "P1M", 31LL * 86400000},
        {"timeDuration", "P4W", 28LL * 86400000},
        {"timeDuration", "=wait", 7000},
        {"timeDate", "2026-01-01T00:00:10Z", 10000},
        {"timeDate", "2026-01-01T02:00:10+02:00", 10000},
        {"timeCycle", "R3/PT10S", 10000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        struct arena arena;
        arena_init(&arena, 4096, 1 << 20);
        struct span bpmn = arena_format(
            &arena,
            WORLD_BPMN(START("s") "<intermediateCatchEvent "
                                  "id='t'><timerEventDefinition><%s>%s</%s></timerEventDefinition>"
                                  "</intermediateCatchEvent>" END("e") FLOW("s", "t")
                                      FLOW("t", "e")),
            rows[i].kind, rows[i].text, rows[i].kind);
        open_and_start(&world, (const char *)bpmn.bytes);
        cr_expect_str_eq(world_waiting(&world), "t:timer", "%s", rows[i].text);
        cr_expect_str_eq(world_lifecycle(&world), "Suspended");
        cr_expect_eq(engine_next_due_ms(world.execution) - world.now_ms, rows[i].wait_ms, "%s",
                     rows[i].text);
        world_pass(&world, rows[i].wait_ms - 1);
        cr_expect_eq(world_state(&world), 3);
        world_crash(&world);
        world_pass(&world, 1);
        cr_expect_eq(world_state(&world), 40, "%s", rows[i].text);
        world_close(&world);
        arena_release(&arena);
    }
}

Test(catch_timer, of_the_past_or_negative_fires_at_once)
{
    static const char *const texts[] = {CATCH("t", "timeDate", "2020-01-01T00:00:00Z"),
                                        CATCH("t", "timeDuration", "-PT5S"),
                                        CATCH("t", "timeDuration", "PT0S")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct world world;
        struct arena arena;
        arena_init(&arena, 4096, 1 << 20);
        struct span bpmn = arena_format(
            &arena, WORLD_BPMN(START("s") "%s" END("e") FLOW("s", "t") FLOW("t", "e")), texts[i]);
        open_and_start(&world, (const char *)bpmn.bytes);
        world_pass(&world, 0);
        cr_expect_eq(world_state(&world), 40, "%s", texts[i]);
        cr_expect(i != 1 || world_logged(&world, "negative"));
        world_close(&world);
        arena_release(&arena);
    }
}

Test(catch_timer, of_very_long_ago_or_far_is_never_early)
{
    static const char *const texts[] = {"P68Y", "P69Y", "P300Y", "PT99999999999999S"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct world world;
        struct arena arena;
        arena_init(&arena, 4096, 1 << 20);
        struct span bpmn = arena_format(
            &arena,
            WORLD_BPMN(START("s") "<intermediateCatchEvent id='t'><timerEventDefinition>"
                                  "<timeDuration>%s</timeDuration></timerEventDefinition></"
                                  "intermediateCatchEvent>" FLOW("s", "t")),
            texts[i]);
        open_and_start(&world, (const char *)bpmn.bytes);
        cr_expect_gt(engine_next_due_ms(world.execution) - world.now_ms, 67LL * 365 * 86400000,
                     "%s", texts[i]);
        world_crash(&world);
        world_close(&world);
        arena_release(&arena);
    }
}

Test(catch_timer, with_an_expression_that_is_no_time_is_an_incident_that_names_it)
{
    static const char *const rows[][2] = {
        {"{\"wait\":\"soon\"}", "\"soon\": a duration begins with P"},
        {"{}", "it is null, and no time"},
        {"{\"wait\":5}", "it is no text, and no time"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        world_open(&world,
                   WORLD_BPMN(START("s") CATCH("t", "timeDuration", "=wait") FLOW("s", "t")), NULL);
        world_start(&world, NULL, rows[i][0]);
        cr_expect_str_eq(world_error(&world), "ExpressionFailed");
        cr_expect(strstr(world_error_message(&world), rows[i][1]) != NULL, "%s",
                  world_error_message(&world));
        world_close(&world);
    }
}

static const char interrupting[] =
    WORLD_BPMN(START("s") USER("a") BOUNDARY("b", "a", "true", "timeDuration", "PT10S") TASK("done")
                   TASK("late") FLOW("s", "a") FLOW("a", "done") FLOW("b", "late"));

Test(boundary_timer, interrupts_its_host_when_due)
{
    struct world world;
    open_and_start(&world, interrupting);
    cr_expect_str_eq(world_waiting(&world), "a:human");

    world_pass(&world, 10000);

    cr_expect_str_eq(world_trace(&world), "s a b late");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_not(world_callback(&world, "a", "{}"));
    cr_expect_eq(world.error, PROTO_ERROR_AlreadyFinished);
    world_close(&world);
}

Test(boundary_timer, is_gone_when_its_host_completed)
{
    struct world world;
    open_and_start(&world, interrupting);
    world_pass(&world, 9999);

    cr_assert(world_callback(&world, "a", "{}"));

    cr_expect_str_eq(world_trace(&world), "s a done");
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    world_close(&world);
}

Test(boundary_timer, cancels_the_call_of_its_host_and_a_late_reply_is_ignored_and_logged)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") SERVICE("a")
                                          BOUNDARY("b", "a", "true", "timeDuration", "PT10S")
                                              USER("u") FLOW("s", "a") FLOW("b", "u")));
    world_pass(&world, 10000);
    cr_expect_str_eq(world_open_calls(&world), "");

    cr_expect_eq(world_answer_call(&world, 0, 200, "{\"execution\":{\"x\":1}}"), RESULT_OK);

    cr_expect_str_eq(world_waiting(&world), "u:human");
    cr_expect(world_logged(&world, "late reply"));
    cr_expect_str_eq(world_value(&world, "execution.x"), "");
    world_close(&world);
}

Test(boundary_timer, that_does_not_interrupt_fires_once_for_a_duration)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") USER("a") BOUNDARY(
                               "b", "a", "false", "timeDuration", "PT1S") TASK("remind") END("e")
                                          FLOW("s", "a") FLOW("a", "e") FLOW("b", "remind")));
    world_pass(&world, 5000);
    cr_expect_str_eq(world_trace(&world), "s a b remind");
    cr_expect_str_eq(world_waiting(&world), "a:human");
    cr_assert(world_callback(&world, NULL, "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(boundary_timer, that_does_not_interrupt_fires_as_often_as_its_cycle_says)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") USER("a") BOUNDARY(
                               "b", "a", "false", "timeCycle", "R3/PT1S") TASK("remind") END("e")
                                          FLOW("s", "a") FLOW("a", "e") FLOW("b", "remind")));
    world_pass(&world, 2500);
    cr_expect_str_eq(world_trace(&world), "s a b remind b remind");
    world_crash(&world);
    world_pass(&world, 60000);
    cr_expect_str_eq(world_trace(&world), "s a b remind b remind b remind");
    cr_assert(world_callback(&world, NULL, "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(boundary_timer, with_a_cycle_that_slept_through_ticks_catches_up_once)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") USER("a") BOUNDARY("b", "a", "false", "timeCycle",
                                                                    "R/PT1M") FLOW("s", "a")));

    world_sleep(&world, 10 * 60000 + 5000);

    cr_expect_str_eq(world_trace(&world), "s a b");
    cr_expect_eq(engine_next_due_ms(world.execution), world.now_ms + 55000);
    world_close(&world);
}

Test(boundary_timer, and_completion_in_the_same_instant_are_decided_once)
{
    struct world world;
    open_and_start(&world, interrupting);
    world.now_ms += 10000;
    cr_assert(world_callback(&world, "a", "{}"));
    world_sleep(&world, 0);
    cr_expect_str_eq(world_trace(&world), "s a done");
    world_close(&world);

    open_and_start(&world, interrupting);
    world_sleep(&world, 10000);
    cr_expect_not(world_callback(&world, "a", "{}"));
    cr_expect_str_eq(world_trace(&world), "s a b late");
    world_close(&world);
}

Test(timer, of_another_branch_is_gone_after_a_terminate_end)
{
    struct world world;
    open_and_start(
        &world, WORLD_BPMN(START("s") CATCH("t", "timeDuration", "PT2S") SERVICE("x") USER(
                    "a") "<endEvent id='end'><terminateEventDefinition/></endEvent>" FLOW("s", "t")
                               FLOW("t", "x") FLOW("s", "a") FLOW("a", "end")));
    world_pass(&world, 1000);
    cr_assert(world_callback(&world, "a", "{}"));
    cr_expect_eq(world_state(&world), 40);
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX);
    world_pass(&world, 5000);
    cr_expect_eq(world.call_count, 0);
    world_close(&world);
}

Test(timers, that_are_due_together_fire_in_order_of_due_time_then_token)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") CATCH("t1", "timeDuration", "PT3S") CATCH(
                               "t2", "timeDuration", "PT1S") CATCH("t3", "timeDuration", "PT1S")
                                          TASK("a1") TASK("a2") TASK("a3") FLOW("s", "t1")
                                              FLOW("s", "t2") FLOW("s", "t3") FLOW("t1", "a1")
                                                  FLOW("t2", "a2") FLOW("t3", "a3")));
    world_sleep(&world, 5000);
    cr_expect_str_eq(world_trace(&world), "s t1 t2 t3 a2 a3 a1");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* Field report F68: a wait that timed out must not swallow later events. */
Test(timer, loop_of_waits_lets_the_live_one_have_the_callback)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") XOR("m") USER("a") BOUNDARY(
                               "b", "a", "true", "timeDuration", "PT1S") END("e") FLOW("s", "m")
                                          FLOW("m", "a") FLOW("a", "e") FLOW("b", "m")));
    world_pass(&world, 3500);
    cr_expect_str_eq(world_trace(&world), "s m a b m a b m a b m a");
    cr_assert(world_callback(&world, "a", "{}"));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* A loop that waits is no runaway: the step limit counts one segment. */
Test(timer, loop_may_run_for_ever)
{
    struct world world;
    open_and_start(&world, WORLD_BPMN(START("s") XOR("m") CATCH("t", "timeDuration", "PT1S")
                                          FLOW("s", "m") FLOW("m", "t") FLOW("t", "m")));
    world_pass(&world, 600000);
    cr_expect_str_eq(world_waiting(&world), "t:timer");
    struct engine_view view;
    engine_look(world.execution, &view);
    cr_expect_eq(view.sequence, 1 + 2 * 601);
    cr_expect_eq(world.execution->steps.count, LIMIT_HISTORY, "history is bounded");
    world_close(&world);
}
