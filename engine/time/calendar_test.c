/*
 * The calendar against itself, day by day, and against dates that are known to be odd.
 */
#include "engine/time/calendar.h"

#include <criterion/criterion.h>

Test(calendar, every_day_of_ten_thousand_years_follows_the_one_before)
{
    struct engine_date before = engine_date_of_days(CALENDAR_LEAST_MS / CALENDAR_DAY_MS);
    cr_assert(before.year == 1 && before.month == 1 && before.day == 1);
    for (int64_t day = CALENDAR_LEAST_MS / CALENDAR_DAY_MS + 1;
         day <= CALENDAR_MOST_MS / CALENDAR_DAY_MS; day++) {
        struct engine_date date = engine_date_of_days(day);
        bool is_next_day =
            date.day == before.day + 1 && date.month == before.month && date.year == before.year;
        bool is_next_month =
            date.day == 1 && before.day == engine_date_days_in_month(before.year, before.month) &&
            ((date.month == before.month + 1 && date.year == before.year) ||
             (date.month == 1 && before.month == 12 && date.year == before.year + 1));
        cr_assert(is_next_day || is_next_month, "%d-%d-%d", date.year, date.month, date.day);
        cr_assert_eq(engine_date_to_days(date), day);
        before = date;
    }
    cr_expect(before.year == 9999 && before.month == 12 && before.day == 31);
}

Test(calendar, knows_leap_years)
{
    static const struct {
        struct engine_date date;
        bool is_valid;
    } rows[] = {{{2024, 2, 29}, true},  {{2100, 2, 29}, false}, {{2000, 2, 29}, true},
                {{2026, 4, 31}, false}, {{2026, 13, 1}, false}, {{2026, 0, 1}, false},
                {{2026, 1, 0}, false},  {{2026, 12, 31}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(engine_date_is_valid(rows[i].date), rows[i].is_valid, "row %zu", i);
    }
}

Test(calendar, saturates_instead_of_wrapping)
{
    cr_expect_eq(engine_calendar_add(0, INT64_MAX, 0), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(0, INT64_MIN, 0), CALENDAR_LEAST_MS);
    cr_expect_eq(engine_calendar_add(0, 0, INT64_MAX), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(0, 0, INT64_MIN), CALENDAR_LEAST_MS);
    cr_expect_eq(engine_calendar_add(INT64_MAX, 1, 1), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(INT64_MIN, -1, -1), CALENDAR_LEAST_MS);
}
