/*
 * calendar.c: days, months and their arithmetic.
 */
#include "engine/time/calendar.h"

#include "proto/base/assert.h"

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static bool is_leap(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

uint8_t engine_date_days_in_month(int32_t year, uint8_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    ASSERT(month >= 1 && month <= 12);
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

bool engine_date_is_valid(struct engine_date date)
{
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= engine_date_days_in_month(date.year, date.month);
}

/* Eras of 400 years that begin on March 1st (Hinnant, "chrono-compatible low-level date
 * algorithms"). */
int64_t engine_date_to_days(struct engine_date date)
{
    int64_t year = (int64_t)date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month = (int64_t)date.month + (date.month > 2 ? -3 : 9);
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

struct engine_date engine_date_of_days(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    return (struct engine_date){
        .year = (int32_t)(year_of_era + era * 400 + (month <= 2)),
        .month = (uint8_t)month,
        .day = (uint8_t)(day_of_year - (153 * shifted + 2) / 5 + 1),
    };
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
    struct engine_date date = engine_date_of_days(day);
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
    uint8_t last = engine_date_days_in_month(date.year, date.month);
    date.day = date.day > last ? last : date.day;
    return engine_date_to_days(date) * CALENDAR_DAY_MS + ms_of_day;
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
