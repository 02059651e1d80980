/*
 * calendar.c: see calendar.h.
 */
#include "engine/time/calendar.h"

#include "proto/base/assert.h"

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* 1970-01-01 was a Thursday. */
unsigned engine_weekday_of_days(int64_t days)
{
    return (unsigned)((days % 7 + 7 + 4) % 7);
}

/* Floor division: days before 1970 have a time of day too. */
static int64_t days_of_ms(int64_t unix_ms)
{
    return unix_ms / CALENDAR_DAY_MS - (unix_ms % CALENDAR_DAY_MS < 0);
}

static int64_t add_months(int64_t unix_ms, int64_t months)
{
    enum { MONTHS_MOST = 9999 * 12 };
    int64_t day = days_of_ms(unix_ms);
    int64_t ms_of_day = unix_ms - day * CALENDAR_DAY_MS;
    struct date date = date_of_days(day);
    int64_t month_count = (int64_t)date.year * 12 + date.month - 1;
    month_count += clamp(months, -MONTHS_MOST, MONTHS_MOST);
    if (month_count < 12) {
        return CALENDAR_LEAST_MS;
    }
    if (month_count >= 10000 * 12) {
        return CALENDAR_MOST_MS;
    }
    date.year = (int32_t)(month_count / 12);
    date.month = (uint8_t)(month_count % 12 + 1);
    uint8_t last = date_days_in_month(date.year, date.month);
    date.day = date.day > last ? last : date.day;
    return date_to_days(date) * CALENDAR_DAY_MS + ms_of_day;
}

int64_t engine_calendar_add(int64_t unix_ms, int64_t months, int64_t ms)
{
    int64_t moved = clamp(unix_ms, CALENDAR_LEAST_MS, CALENDAR_MOST_MS);
    if (months != 0) {
        moved = add_months(moved, months);
    }
    int64_t sum;
    if (__builtin_add_overflow(moved, ms, &sum)) {
        return ms > 0 ? CALENDAR_MOST_MS : CALENDAR_LEAST_MS;
    }
    return clamp(sum, CALENDAR_LEAST_MS, CALENDAR_MOST_MS);
}
