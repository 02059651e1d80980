/*
 * calendar_test.c: instants stay within their years.
 */
#include "engine/time/calendar.h"

#include <criterion/criterion.h>

Test(calendar, saturates_instead_of_wrapping)
{
    cr_expect_eq(engine_calendar_add(0, INT64_MAX, 0), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(0, INT64_MIN, 0), CALENDAR_LEAST_MS);
    cr_expect_eq(engine_calendar_add(0, 0, INT64_MAX), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(0, 0, INT64_MIN), CALENDAR_LEAST_MS);
    cr_expect_eq(engine_calendar_add(INT64_MAX, 1, 1), CALENDAR_MOST_MS);
    cr_expect_eq(engine_calendar_add(INT64_MIN, -1, -1), CALENDAR_LEAST_MS);
}
