/*
 * Durations, instants and cycles against the rules of iso8601.h and field reports F43, F49, F50,
 * F52, F53, F55, F58, F59.
 */
#include "engine/time/iso8601.h"

#include <criterion/criterion.h>

#include "engine/time/calendar.h"

static int64_t instant(const char *text)
{
    int64_t unix_ms = 0;
    const char *reason = "";
    cr_assert_eq(engine_instant_parse(span_text(text), &unix_ms, &reason), RESULT_OK, "%s: %s",
                 text, reason);
    return unix_ms;
}

static struct engine_duration duration(const char *text)
{
    struct engine_duration out = {0};
    const char *reason = "";
    cr_assert_eq(engine_duration_parse(span_text(text), &out, &reason), RESULT_OK, "%s: %s", text,
                 reason);
    return out;
}

static struct engine_cycle cycle(const char *text)
{
    struct engine_cycle out;
    const char *reason = "";
    cr_assert_eq(engine_cycle_parse(span_text(text), &out, &reason), RESULT_OK, "%s: %s", text,
                 reason);
    return out;
}

Test(duration, keeps_months_apart_from_milliseconds)
{
    static const struct {
        const char *text;
        int64_t months;
        int64_t ms;
    } rows[] = {
        {"PT1M", 0, 60000},
        {"P1M", 1, 0},
        {"P4W", 0, 28 * (int64_t)CALENDAR_DAY_MS},
        {"P52W", 0, 364 * (int64_t)CALENDAR_DAY_MS},
        {"P1Y2M3DT4H5M6S", 14, 3 * (int64_t)CALENDAR_DAY_MS + 4 * 3600000 + 5 * 60000 + 6000},
        {"PT0.5S", 0, 500},
        {"PT0,25H", 0, 900000},
        {"PT0.0001S", 0, 1},
        {"P1.5D", 0, 129600000},
        {"-PT5M", 0, -300000},
        {"+P1D", 0, CALENDAR_DAY_MS},
        {"PT0S", 0, 0},
        {" PT1S\n", 0, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_duration out = duration(rows[i].text);
        cr_expect_eq(out.months, rows[i].months, "%s", rows[i].text);
        cr_expect_eq(out.ms, rows[i].ms, "%s: %lld", rows[i].text, (long long)out.ms);
    }
}

Test(duration, refuses_what_the_standard_does_not_write)
{
    static const char *const rows[] = {
        "",       "P",     "PT",    "P1D T", "PT2W",  "P1Y2W", "P2WT1H",   "1H",    "P1H",
        "PT1D",   "PT1",   "P1DT",  "PT5X",  "PTM",   "P1.5Y", "PT1.5M3S", "PT.5S", "pt1s",
        "PT1S ]", "P1D1Y", "PT1.S", "PT-1S", "PT1H/", "--P1D", "PTT1S"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_duration out;
        const char *reason = NULL;
        cr_expect_eq(engine_duration_parse(span_text(rows[i]), &out, &reason), RESULT_INVALID, "%s",
                     rows[i]);
        cr_expect_not_null(reason, "%s", rows[i]);
    }
}

Test(duration, moves_by_the_calendar_and_clamps_to_the_end_of_the_month)
{
    static const struct {
        const char *from;
        const char *by;
        const char *to;
    } rows[] = {
        {"2018-03-01", "-P3M", "2017-12-01"},
        {"2024-03-31", "-P1M", "2024-02-29"},
        {"2024-02-29", "P1Y", "2025-02-28"},
        {"2026-01-31T10:30:00Z", "P1M", "2026-02-28T10:30:00Z"},
        {"2021-01-02", "-PT1H", "2021-01-01T23:00:00Z"},
        {"1969-12-31T12:00", "P1M", "1970-01-31T12:00"},
        {"2026-11-30", "P1M1DT1S", "2026-12-31T00:00:01"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t moved = engine_duration_after(instant(rows[i].from), duration(rows[i].by));
        cr_expect_eq(moved, instant(rows[i].to), "%s %s", rows[i].from, rows[i].by);
    }
}

Test(duration, is_never_early_however_long)
{
    static const char *const rows[] = {"P9999Y", "PT99999999999999S",
                                       "PT99999999999999999999999999S", "P99999999999999999999M",
                                       "P9223372036854775807D"};
    int64_t now = instant("2026-11-30");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(engine_duration_after(now, duration(rows[i])), CALENDAR_MOST_MS, "%s",
                     rows[i]);
    }
    cr_expect_eq(engine_duration_after(now, duration("P68Y")), instant("2094-11-30"));
    cr_expect_eq(engine_duration_after(now, duration("P300Y")), instant("2326-11-30"));
    cr_expect_eq(engine_duration_after(now, duration("-P9999Y")), CALENDAR_LEAST_MS);
}

Test(instant, reads_offsets_fractions_and_local_times_as_utc)
{
    static const struct {
        const char *text;
        int64_t unix_ms;
    } rows[] = {
        {"1970-01-01", 0},
        {"1970-01-01T00:00:01Z", 1000},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1970-01-01T01:00:00+0100", 0},
        {"1969-12-31T19:00:00-05", 0},
        {"1970-01-01T00:00", 0},
        {"1970-01-01T00:00:00.0001Z", 1},
        {"1969-12-31T24:00:00Z", 0},
        {"2019-10-01T12:00:00+02:00[Europe/Berlin]", 1569924000000},
        {"9999-12-31T23:59:59.999Z", CALENDAR_MOST_MS},
        {"9999-12-31T23:59:59.999-23:00", CALENDAR_MOST_MS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(instant(rows[i].text), rows[i].unix_ms, "%s", rows[i].text);
    }
}

Test(instant, refuses_dates_that_do_not_exist)
{
    static const char *const rows[] = {"",
                                       "2026-02-29",
                                       "2026-13-01",
                                       "2026-00-10",
                                       "2026-1-1",
                                       "0000-01-01",
                                       "2026-01-01T25:00",
                                       "2026-01-01T10",
                                       "2026-01-01T10:60",
                                       "2026-01-01T24:00:01",
                                       "2026-01-01T10:00:00[Europe/Berlin]",
                                       "2026-01-01T10:00:00+1",
                                       "2026-01-01T10:00:00.Z",
                                       "2026-01-01 10:00",
                                       "tomorrow",
                                       "2026-01-01Z"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t unix_ms;
        const char *reason = NULL;
        cr_expect_eq(engine_instant_parse(span_text(rows[i]), &unix_ms, &reason), RESULT_INVALID,
                     "%s", rows[i]);
        cr_expect_not_null(reason, "%s", rows[i]);
    }
}

Test(cycle, refuses_a_duration_alone_and_intervals_of_nothing)
{
    static const char *const rows[] = {"PT10S",     "R3",           "R3/",
                                       "R/PT0S",    "R/-PT1S",      "3/PT1S",
                                       "R3PT1S",    "R/2026-01-01", "R/2026-01-02/2026-01-01",
                                       "R/P1Y2W",   "R/PT1S/x",     "RX/PT1S",
                                       "0 0 * * *", "R-2/PT1S"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_cycle out;
        const char *reason = NULL;
        cr_expect_eq(engine_cycle_parse(span_text(rows[i]), &out, &reason), RESULT_INVALID, "%s",
                     rows[i]);
        cr_expect_not_null(reason, "%s", rows[i]);
    }
}

Test(cycle, reads_every_form)
{
    cr_expect_eq(cycle("R/PT1M").count, UINT64_MAX);
    cr_expect_eq(cycle("R-1/PT1M").count, UINT64_MAX);
    cr_expect_eq(cycle("R3/PT10S").count, 3);
    cr_expect_eq(cycle("R3/PT10S").every.ms, 10000);
    cr_expect_eq(cycle("R3/2022-04-27T17:20:00Z/PT10M").start_ms, instant("2022-04-27T17:20:00Z"));
    cr_expect_eq(cycle("R/PT10M/2022-04-27").end_ms, instant("2022-04-27"));
    cr_expect_eq(cycle("R2/2022-04-27/2022-04-28").every.ms, CALENDAR_DAY_MS);
}

Test(cycle, fires_as_often_as_it_says)
{
    struct engine_cycle three = cycle("R3/PT10S");
    int64_t now = instant("2026-11-30");
    int64_t due = now;
    for (uint64_t fired = 0; fired < 3; fired++) {
        cr_assert(engine_cycle_due(&three, now, fired, due, &due));
        cr_expect_eq(due, now + 10000 * (int64_t)(fired + 1));
    }
    cr_expect_not(engine_cycle_due(&three, now, 3, due, &due));
}

Test(cycle, whose_start_has_passed_fires_at_once_and_then_on_its_grid)
{
    struct engine_cycle late = cycle("R3/2022-04-27T17:20:00Z/PT10M");
    int64_t now = instant("2026-11-30T12:03:00Z");
    int64_t due;
    cr_assert(engine_cycle_due(&late, now, 0, now, &due));
    cr_expect_leq(due, now);
    cr_assert(engine_cycle_due(&late, now, 1, now, &due));
    cr_expect_eq(due, instant("2026-11-30T12:10:00Z"));
}

Test(cycle, catches_up_with_one_shot_after_downtime)
{
    struct engine_cycle minutes = cycle("R/PT1M");
    int64_t start = instant("2026-11-30T12:00:00Z");
    int64_t back = start + 10 * 60000 + 500;
    int64_t due;
    cr_assert(engine_cycle_due(&minutes, start, 1, back, &due));
    cr_expect_eq(due, start + 11 * 60000);
}

Test(cycle, of_months_keeps_to_the_end_of_the_month)
{
    struct engine_cycle monthly = cycle("R/2026-01-31/P1M");
    int64_t due;
    cr_assert(engine_cycle_due(&monthly, 0, 1, instant("2026-02-28"), &due));
    cr_expect_eq(due, instant("2026-03-31"));
    cr_assert(engine_cycle_due(&monthly, 0, 1, instant("9000-02-28"), &due));
    cr_expect_eq(due, instant("9000-03-31"));
}

Test(cycle, ends_at_its_end)
{
    struct engine_cycle ending = cycle("R/PT1H/2026-11-30T02:30:00Z");
    int64_t due;
    cr_expect(
        engine_cycle_due(&ending, instant("2026-11-30"), 1, instant("2026-11-30T01:00:00Z"), &due));
    cr_expect_not(
        engine_cycle_due(&ending, instant("2026-11-30"), 2, instant("2026-11-30T02:00:00Z"), &due));
}
