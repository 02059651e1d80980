/*
 * cron.c: the next firing: first on the local clock, as if it never jumped, then through the
 * stretches of time in which the zone's offset stays the same.
 */
#include "engine/time/cron.h"

#include "engine/time/calendar.h"
#include "proto/base/assert.h"

enum {
    DAY_S = 86400,
    CYCLE_YEARS =
        400, /* the calendar repeats, weekdays included: what never comes in it never comes */
};

/* ---- days ---- */

/* The day of the month that L and W mean; 0: this month has none. */
static uint8_t special_day(const struct engine_cron *cron, int64_t first_of_month,
                           uint8_t days_in_month)
{
    int day = cron->last_day ? days_in_month - cron->last_day_back
                             : __builtin_ctz(cron->days); /* W: exactly one bit */
    if (day < 1 || day > days_in_month) {
        return 0;
    }
    if (cron->nearest_weekday) {
        unsigned weekday = engine_weekday_of_days(first_of_month + day - 1);
        if (weekday == 6) {
            day += day > 1 ? -1 : 2;
        } else if (weekday == 0) {
            day += day < days_in_month ? 1 : -2;
        }
    }
    return (uint8_t)day;
}

static bool matches_day(const struct engine_cron *cron, struct date date, int64_t days)
{
    uint8_t days_in_month = date_days_in_month(date.year, date.month);
    bool is_special = cron->last_day || cron->nearest_weekday;
    bool by_month = is_special ? special_day(cron, days - date.day + 1, days_in_month) == date.day
                               : (cron->days >> date.day & 1) != 0;
    if (!by_month || (cron->weekdays >> engine_weekday_of_days(days) & 1) == 0) {
        return false;
    }
    bool is_last = date.day + 7 > days_in_month;
    bool is_nth = (date.day - 1) / 7 + 1 == cron->nth_weekday;
    return (!cron->last_weekday || is_last) && (cron->nth_weekday == 0 || is_nth);
}

static int64_t first_of_next_month(struct date date)
{
    date.year += date.month == 12;
    date.month = date.month == 12 ? 1 : (uint8_t)(date.month + 1);
    date.day = 1;
    return date_to_days(date);
}

/* The first matching day at or behind `from`; INT64_MAX: none. */
static int64_t find_day(const struct engine_cron *cron, int64_t from)
{
    struct date date = date_of_days(from);
    int32_t last_year = date.year + CYCLE_YEARS < 9999 ? date.year + CYCLE_YEARS : 9999;
    for (int64_t days = from; date.year <= last_year; date = date_of_days(days)) {
        if ((cron->months >> date.month & 1) == 0) {
            days = first_of_next_month(date);
        } else if (matches_day(cron, date, days)) {
            return days;
        } else {
            days++;
        }
    }
    return INT64_MAX;
}

/* ---- times of day ---- */

/* The lowest set bit at or above `from`; 64: none. */
static unsigned next_bit(uint64_t bits, unsigned from)
{
    uint64_t left = from >= 64 ? 0 : bits >> from << from;
    return left == 0 ? 64 : (unsigned)__builtin_ctzll(left);
}

/* The first second of a day at or behind `from_s` that matches; DAY_S: none. */
static int32_t find_time(const struct engine_cron *cron, int32_t from_s)
{
    unsigned hour = (unsigned)from_s / 3600;
    unsigned minute = (unsigned)from_s / 60 % 60;
    unsigned second = next_bit(cron->seconds, (unsigned)from_s % 60);
    if (second == 64) {
        second = next_bit(cron->seconds, 0);
        minute++;
    }
    unsigned found = next_bit(cron->minutes, minute);
    if (found != minute) {
        second = next_bit(cron->seconds, 0);
    }
    minute = found;
    if (minute == 64) {
        minute = next_bit(cron->minutes, 0);
        hour++;
    }
    found = next_bit(cron->hours, hour);
    if (found != hour) {
        minute = next_bit(cron->minutes, 0);
        second = next_bit(cron->seconds, 0);
    }
    return found == 64 ? DAY_S : (int32_t)(found * 3600 + minute * 60 + second);
}

/* The first match of the local clock at or behind `from_s` (its seconds, counted as if it were
 * UTC); INT64_MAX: none. */
static int64_t find_local(const struct engine_cron *cron, int64_t from_s)
{
    int64_t from_day = from_s / DAY_S - (from_s % DAY_S < 0);
    int64_t day = find_day(cron, from_day);
    int32_t time_s =
        day == from_day ? find_time(cron, (int32_t)(from_s - from_day * DAY_S)) : DAY_S;
    if (day == from_day && time_s == DAY_S) {
        day = find_day(cron, from_day + 1);
    }
    if (day == INT64_MAX) {
        return INT64_MAX;
    }
    return day * DAY_S + (time_s < DAY_S ? time_s : find_time(cron, 0));
}

/* ---- stretches of one offset ---- */

/* How much of the local clock's run from `from_s` on it showed before, when it was set back. */
static int64_t repeated_until(const struct engine_zone *zone, int64_t from_s)
{
    int64_t look_s = from_s - DAY_S;
    int64_t until_s = INT64_MIN;
    struct engine_zone_change change;
    while (engine_zone_next_change(zone, look_s, &change) && change.at_s <= from_s) {
        int64_t before_s = change.at_s + engine_zone_offset(zone, change.at_s - 1);
        until_s = before_s > until_s ? before_s : until_s;
        look_s = change.at_s;
    }
    return until_s;
}

/* Where the search on the local clock begins when the instant is `from_s`. */
static int64_t local_begin(const struct engine_cron *cron, const struct engine_zone *zone,
                           int64_t from_s)
{
    int64_t local_s = from_s + engine_zone_offset(zone, from_s);
    int64_t repeated_s = cron->is_interval ? INT64_MIN : repeated_until(zone, from_s);
    return repeated_s > local_s ? repeated_s : local_s;
}

bool engine_cron_next(const struct engine_cron *cron, const struct engine_zone *zone,
                      int64_t after_ms, int64_t *next_ms)
{
    ASSERT(cron->seconds != 0 && cron->minutes != 0 && cron->hours != 0);
    int64_t last_s = CALENDAR_MOST_MS / 1000;
    int64_t from_s = after_ms < CALENDAR_LEAST_MS
                         ? CALENDAR_LEAST_MS / 1000
                         : after_ms / 1000 + (after_ms >= 0 || after_ms % 1000 == 0);
    while (from_s <= last_s) {
        int64_t local_s = find_local(cron, local_begin(cron, zone, from_s));
        if (local_s == INT64_MAX) {
            return false;
        }
        struct engine_zone_change change = {.at_s = INT64_MAX};
        (void)engine_zone_next_change(zone, from_s, &change);
        int32_t offset_s = engine_zone_offset(zone, from_s);
        int64_t found_s = local_s - offset_s;
        bool is_skipped = change.at_s != INT64_MAX && found_s >= change.at_s &&
                          local_s < change.at_s + change.offset_s;
        if (is_skipped) {
            found_s = change.at_s;
        }
        if (found_s < change.at_s || is_skipped) {
            *next_ms = found_s * 1000;
            return found_s <= last_s;
        }
        /*
         * Nothing fires before the change; far ahead, nor for some days before the match. A clock
         * set back is looked at anew: it shows times again that lie before `from_s`.
         */
        int64_t near_s = local_s - 3 * DAY_S;
        bool is_set_back = change.offset_s < offset_s;
        from_s = near_s > change.at_s && !is_set_back ? near_s : change.at_s;
    }
    return false;
}
