/*
 * clock_test.c: the clock against steps of the wall clock; the alarms against a plain sort.
 */
#include <criterion/criterion.h>

#include "actors/clock.h"

Test(clock, follows_a_wall_clock_that_was_set_forward)
{
    struct actor_clock clock = {0};
    actor_clock_reckon(&clock, 1000000, 500);

    struct actor_time now = actor_clock_reckon(&clock, 4600000, 600);

    cr_assert_eq(now.unix_ms, 4600000);
}

Test(clock, goes_on_when_the_wall_clock_is_set_back_an_hour)
{
    struct actor_clock clock = {0};
    int64_t last_ms = actor_clock_reckon(&clock, 10000000, 0).unix_ms;

    for (uint64_t elapsed_ms = 1; elapsed_ms <= 60000; elapsed_ms += 7) {
        struct actor_time now =
            actor_clock_reckon(&clock, 10000000 - 3600000 + (int64_t)elapsed_ms, elapsed_ms);
        cr_assert_geq(now.unix_ms, last_ms);
        last_ms = now.unix_ms;
    }

    cr_assert_geq(last_ms, 10000000 + 60000 * 8 / 10,
                  "time passes at nine tenths of its rate at least");
    cr_assert_leq(last_ms, 10000000 + 60000 * 95 / 100, "and comes nearer to the wall clock");
}

Test(clock, meets_the_wall_clock_again_after_a_step_back)
{
    struct actor_clock clock = {0};
    actor_clock_reckon(&clock, 100000, 0);
    struct actor_time now = {0};

    for (uint64_t elapsed_ms = 100; elapsed_ms <= 200000; elapsed_ms += 100) {
        now = actor_clock_reckon(&clock, 100000 - 10000 + (int64_t)elapsed_ms, elapsed_ms);
    }

    cr_assert_leq(now.unix_ms - (100000 - 10000 + 200000), ACTOR_CLOCK_STEP_MS);
}

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

Test(alarms, are_taken_in_the_order_of_their_due_times)
{
    enum { COUNT = 500 };
    static struct actor_alarm alarm[COUNT];
    struct actor_alarms alarms = {0};
    uint32_t state = 7;
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(actor_alarms_set(&alarms, &alarm[i], next_random(&state) % 1000), RESULT_OK);
    }
    for (int i = 0; i < COUNT; i += 3) {
        cr_assert_eq(actor_alarms_set(&alarms, &alarm[i], next_random(&state) % 1000), RESULT_OK);
    }
    for (int i = 0; i < COUNT; i += 5) {
        actor_alarms_clear(&alarms, &alarm[i]);
    }

    int taken = 0;
    int64_t last_ms = 0;
    for (struct actor_alarm *next; (next = actor_alarms_take(&alarms, 1000)) != NULL; taken++) {
        cr_assert_geq(next->due_ms, last_ms);
        cr_assert_eq(next->place, 0);
        last_ms = next->due_ms;
    }

    cr_assert_eq(taken, COUNT - COUNT / 5);
    actor_alarms_release(&alarms);
}

Test(alarms, stay_until_they_are_due)
{
    struct actor_alarm alarm = {0};
    struct actor_alarms alarms = {0};
    cr_assert_eq(actor_alarms_next_ms(&alarms), INT64_MAX);
    cr_assert_eq(actor_alarms_set(&alarms, &alarm, 50), RESULT_OK);

    cr_assert_null(actor_alarms_take(&alarms, 49));
    cr_assert_eq(actor_alarms_take(&alarms, 50), &alarm);
    cr_assert_null(actor_alarms_take(&alarms, INT64_MAX));
    actor_alarms_release(&alarms);
}
