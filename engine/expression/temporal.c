/* temporal.c: making dates, times and durations, their zones, order and properties. */
#include "engine/expression/temporal.h"

#include "engine/expression/number.h"
#include "engine/time/calendar.h"
#include "engine/time/zone.h"
#include "proto/base/assert.h"

#define YEAR_MAX      999999999
#define OFFSET_MAX_S  (18 * 3600)
#define NANOSECONDS   1000000000
#define DAY           EXPRESSION_DAY_SECONDS
#define MS_PER_SECOND 1000
#define NS_PER_MS     1000000
#define DAYS_OF_WEEK  7

static int64_t floor_divide(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

bool expression_date_make(int64_t year, int64_t month, int64_t day, struct expression_value *out)
{
    if (year < -YEAR_MAX || year > YEAR_MAX || month < 1 || month > 12 || day < 1 || day > 31) {
        return false;
    }
    struct date date = {(int32_t)year, (uint8_t)month, (uint8_t)day};
    if (!date_is_valid(date)) {
        return false;
    }
    *out = (struct expression_value){.type = VALUE_DATE, .as.days = date_to_days(date)};
    return true;
}

bool expression_time_make(int64_t hour, int64_t minute, int64_t second, uint32_t nanoseconds,
                          struct expression_value *out)
{
    ASSERT(nanoseconds < NANOSECONDS);
    if (hour == 24 && minute == 0 && second == 0 && nanoseconds == 0) {
        hour = 0;
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
        return false;
    }
    *out = (struct expression_value){.type = VALUE_TIME,
                                     .count = nanoseconds,
                                     .as.moment.seconds = hour * 3600 + minute * 60 + second};
    return true;
}

bool expression_set_offset(struct expression_value *value, int64_t offset_s)
{
    ASSERT(value->type == VALUE_TIME || value->type == VALUE_DATE_TIME);
    if (offset_s > OFFSET_MAX_S || offset_s < -OFFSET_MAX_S) {
        return false;
    }
    value->zone = ZONE_OFFSET;
    value->as.moment.offset_s = offset_s;
    return true;
}

struct expression_value expression_date_time_make(int64_t days, struct expression_value time)
{
    ASSERT(time.type == VALUE_TIME);
    time.type = VALUE_DATE_TIME;
    time.as.moment.seconds += days * DAY;
    return time;
}

struct expression_value expression_months_make(int64_t months)
{
    return (struct expression_value){.type = VALUE_MONTHS, .as.months = months};
}

struct expression_value expression_duration_make(int64_t seconds, uint32_t nanoseconds)
{
    ASSERT(nanoseconds < NANOSECONDS);
    return (struct expression_value){
        .type = VALUE_DURATION, .count = nanoseconds, .as.moment.seconds = seconds};
}

struct expression_value expression_date_time_of_unix(int64_t unix_ms)
{
    int64_t seconds = floor_divide(unix_ms, MS_PER_SECOND);
    struct expression_value value = {
        .type = VALUE_DATE_TIME,
        .zone = ZONE_OFFSET,
        .count = (uint32_t)(unix_ms - seconds * MS_PER_SECOND) * NS_PER_MS,
        .as.moment.seconds = seconds,
    };
    return value;
}

int64_t expression_days_of(struct expression_value value)
{
    ASSERT(value.type == VALUE_DATE || value.type == VALUE_DATE_TIME);
    return value.type == VALUE_DATE ? value.as.days : floor_divide(value.as.moment.seconds, DAY);
}

struct expression_value expression_time_of(struct expression_value date_time)
{
    if (date_time.type == VALUE_DATE) {
        return (struct expression_value){.type = VALUE_TIME};
    }
    if (date_time.type == VALUE_TIME) {
        return date_time;
    }
    int64_t days = expression_days_of(date_time);
    date_time.type = VALUE_TIME;
    date_time.as.moment.seconds -= days * DAY;
    return date_time;
}

/*
 * Local seconds in a zone to its offset then. Where the clock is set back and the local time comes
 * twice it is the first; where the clock is set forward and it never comes, the offset before the
 * change, so that the instant lies as far behind the change.
 */
static int64_t offset_at_local(const struct engine_zone *rules, int64_t local_s)
{
    int64_t before = engine_zone_offset(rules, local_s - DAY);
    int64_t after = engine_zone_offset(rules, local_s + DAY);
    if (engine_zone_offset(rules, local_s - before) == before) {
        return before;
    }
    return engine_zone_offset(rules, local_s - after) == after ? after : before;
}

/* A time of day in a named zone has the offset of 1970's first day: it must have one. */
int64_t expression_offset_of(struct expression_value value)
{
    ASSERT(value.zone != ZONE_NONE);
    if (value.zone == ZONE_OFFSET) {
        return value.as.moment.offset_s;
    }
    return offset_at_local(value.as.moment.zone->rules, value.as.moment.seconds);
}

bool expression_in_zone(struct expression_value date_time, const struct expression_zone *zone,
                        struct expression_value *out)
{
    if (date_time.type != VALUE_DATE_TIME || date_time.zone == ZONE_NONE) {
        return false;
    }
    int64_t unix_s = date_time.as.moment.seconds - expression_offset_of(date_time);
    *out = date_time;
    out->as.moment.seconds = unix_s;
    if (zone == NULL) {
        return expression_set_offset(out, 0);
    }
    out->as.moment.seconds = unix_s + engine_zone_offset(zone->rules, unix_s);
    out->as.moment.zone = zone;
    out->zone = ZONE_NAMED;
    return true;
}

/* What a value of its type is ordered by, in seconds (months for MONTHS) beside its nanoseconds. */
static int64_t seconds_of(struct expression_value value)
{
    if (value.type == VALUE_DATE) {
        return value.as.days;
    }
    if (value.type == VALUE_MONTHS) {
        return value.as.months;
    }
    bool zoned = value.type != VALUE_DURATION && value.zone != ZONE_NONE;
    return value.as.moment.seconds - (zoned ? expression_offset_of(value) : 0);
}

static bool is_zoned(struct expression_value value)
{
    return (value.type == VALUE_TIME || value.type == VALUE_DATE_TIME) && value.zone != ZONE_NONE;
}

static uint32_t nanoseconds_of(struct expression_value value)
{
    return value.type == VALUE_DATE || value.type == VALUE_MONTHS ? 0 : value.count;
}

bool expression_temporal_order(struct expression_value a, struct expression_value b, int *order)
{
    ASSERT(a.type == b.type && expression_is_temporal(a));
    if (is_zoned(a) != is_zoned(b)) {
        return false;
    }
    int64_t left = seconds_of(a);
    int64_t right = seconds_of(b);
    if (left == right) {
        left = nanoseconds_of(a);
        right = nanoseconds_of(b);
    }
    *order = (left > right) - (left < right);
    return true;
}

bool expression_temporal_equal(struct expression_value a, struct expression_value b)
{
    ASSERT(a.type == b.type && expression_is_temporal(a));
    bool fractions_count = a.type == VALUE_DURATION;
    return is_zoned(a) == is_zoned(b) && seconds_of(a) == seconds_of(b) &&
           (!fractions_count || a.count == b.count);
}

bool expression_temporal_is(struct expression_value a, struct expression_value b)
{
    ASSERT(a.type == b.type && expression_is_temporal(a));
    if (is_zoned(a) != is_zoned(b) || nanoseconds_of(a) != nanoseconds_of(b)) {
        return false;
    }
    if (is_zoned(a)) {
        bool same_zone =
            a.zone == b.zone &&
            (a.zone == ZONE_NAMED ? span_equal(a.as.moment.zone->name, b.as.moment.zone->name)
                                  : a.as.moment.offset_s == b.as.moment.offset_s);
        return same_zone && a.as.moment.seconds == b.as.moment.seconds;
    }
    return seconds_of(a) == seconds_of(b);
}

static bool date_property(struct expression_value value, struct span name,
                          struct expression_value *out)
{
    int64_t days = expression_days_of(value);
    struct date date = date_of_days(days);
    if (span_is(name, "year")) {
        *out = expression_integer(date.year);
    } else if (span_is(name, "month")) {
        *out = expression_integer(date.month);
    } else if (span_is(name, "day")) {
        *out = expression_integer(date.day);
    } else if (span_is(name, "weekday")) { /* Monday is 1, Sunday 7 */
        *out = expression_integer((engine_weekday_of_days(days) + 6) % DAYS_OF_WEEK + 1);
    } else {
        return false;
    }
    return true;
}

/* Seconds with their fraction. */
static struct expression_value fine_seconds(int64_t seconds, uint32_t nanoseconds)
{
    struct expression_value fraction;
    bool fits = expression_number_divide(expression_integer(nanoseconds),
                                         expression_integer(NANOSECONDS), &fraction) &&
                expression_number_add(expression_integer(seconds), fraction, &fraction);
    ASSERT(fits);
    return fraction;
}

static bool time_property(struct expression_value value, struct span name,
                          struct expression_value *out)
{
    int64_t seconds = expression_time_of(value).as.moment.seconds;
    if (span_is(name, "hour")) {
        *out = expression_integer(seconds / 3600);
    } else if (span_is(name, "minute")) {
        *out = expression_integer(seconds / 60 % 60);
    } else if (span_is(name, "second")) {
        *out = fine_seconds(seconds % 60, value.count);
    } else if (span_is(name, "time offset")) {
        *out = value.zone == ZONE_NONE ? expression_null()
                                       : expression_duration_make(expression_offset_of(value), 0);
    } else if (span_is(name, "timezone")) {
        *out = value.zone == ZONE_NAMED ? expression_string(value.as.moment.zone->name)
                                        : expression_null();
    } else {
        return false;
    }
    return true;
}

/* All parts of a negative duration are negative. */
static bool duration_property(struct expression_value value, struct span name,
                              struct expression_value *out)
{
    bool negative = expression_temporal_is_negative(value);
    struct expression_value size = negative ? expression_temporal_negate(value) : value;
    int64_t seconds = size.as.moment.seconds;
    if (span_is(name, "days")) {
        *out = expression_integer(seconds / DAY);
    } else if (span_is(name, "hours")) {
        *out = expression_integer(seconds / 3600 % 24);
    } else if (span_is(name, "minutes")) {
        *out = expression_integer(seconds / 60 % 60);
    } else if (span_is(name, "seconds")) {
        *out = fine_seconds(seconds % 60, size.count);
    } else {
        return false;
    }
    *out = negative ? expression_number_negate(*out) : *out;
    return true;
}

bool expression_temporal_property(struct expression_value value, struct span name,
                                  struct expression_value *out)
{
    ASSERT(expression_is_temporal(value));
    if (value.type == VALUE_DURATION) {
        return duration_property(value, name, out);
    }
    if (value.type == VALUE_MONTHS) {
        bool years = span_is(name, "years");
        *out = expression_integer(years ? value.as.months / 12 : value.as.months % 12);
        return years || span_is(name, "months");
    }
    return (value.type != VALUE_TIME && date_property(value, name, out)) ||
           (value.type != VALUE_DATE && time_property(value, name, out));
}
