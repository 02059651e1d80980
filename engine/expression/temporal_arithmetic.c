/* temporal_arithmetic.c: sums, differences, products and quotients with dates, times and durations
 * (DMN 1.5 tables 51 to 53). */
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "engine/time/calendar.h"
#include "engine/time/zone.h"
#include "proto/base/assert.h"

#define DAY             EXPRESSION_DAY_SECONDS
#define NANOSECONDS     1000000000
#define SECONDS_MAX     INT64_C(1000000000000000000) /* two of these still add up within 64 bits */
#define MONTHS_MAX      INT64_C(1000000000000000)
#define YEAR_LEAST_DAYS INT64_C(-365243219162) /* -999999999-01-01 */
#define YEAR_MOST_DAYS  INT64_C(365241780471)  /* 999999999-12-31 */

static bool is_date_like(struct expression_value value)
{
    return value.type == VALUE_DATE || value.type == VALUE_DATE_TIME;
}

static bool days_are_valid(int64_t days)
{
    return days >= YEAR_LEAST_DAYS && days <= YEAR_MOST_DAYS;
}

bool expression_temporal_is_negative(struct expression_value duration)
{
    return duration.type == VALUE_MONTHS ? duration.as.months < 0 : duration.as.moment.seconds < 0;
}

struct expression_value expression_temporal_negate(struct expression_value duration)
{
    ASSERT(duration.type == VALUE_MONTHS || duration.type == VALUE_DURATION);
    if (duration.type == VALUE_MONTHS) {
        return expression_months_make(-duration.as.months);
    }
    int64_t seconds = -duration.as.moment.seconds;
    return duration.count == 0
               ? expression_duration_make(seconds, 0)
               : expression_duration_make(seconds - 1, NANOSECONDS - duration.count);
}

/* Seconds and nanoseconds added; the sums stay small enough by SECONDS_MAX. */
static void add_seconds(struct expression_value *value, struct expression_value duration)
{
    uint32_t nanoseconds = value->count + duration.count;
    bool carries = nanoseconds >= NANOSECONDS;
    value->count = nanoseconds - (carries ? NANOSECONDS : 0u);
    value->as.moment.seconds += duration.as.moment.seconds + carries;
}

static bool duration_is_valid(struct expression_value duration)
{
    return duration.as.moment.seconds >= -SECONDS_MAX && duration.as.moment.seconds <= SECONDS_MAX;
}

/* A day that the month does not have becomes its last one. */
static bool add_months(struct expression_value value, int64_t months, struct expression_value *out)
{
    int64_t days = expression_days_of(value);
    struct date date = date_of_days(days);
    int64_t count = (int64_t)date.year * 12 + date.month - 1 + months;
    int64_t year = count / 12 - (count % 12 < 0);
    uint8_t month = (uint8_t)(count - year * 12 + 1);
    if (year < INT32_MIN || year > INT32_MAX) {
        return false;
    }
    uint8_t last = date_days_in_month((int32_t)year, month);
    struct expression_value moved;
    if (!expression_date_make(year, month, date.day < last ? date.day : last, &moved)) {
        return false;
    }
    *out = value.type == VALUE_DATE
               ? moved
               : expression_date_time_make(moved.as.days, expression_time_of(value));
    return true;
}

/* By the instant: an hour behind a change of the clock is an hour of waiting. */
static bool add_to_date_time(struct expression_value value, struct expression_value duration,
                             struct expression_value *out)
{
    const struct expression_zone *zone = value.zone == ZONE_NAMED ? value.as.moment.zone : NULL;
    if (zone != NULL && !expression_in_zone(value, NULL, &value)) {
        return false;
    }
    add_seconds(&value, duration);
    if (!days_are_valid(expression_days_of(value))) {
        return false;
    }
    *out = value;
    return zone == NULL || expression_in_zone(value, zone, out);
}

static bool add_duration(struct expression_value value, struct expression_value duration,
                         struct expression_value *out)
{
    if (value.type == VALUE_DATE_TIME) {
        return add_to_date_time(value, duration, out);
    }
    if (value.type == VALUE_TIME) { /* round the clock */
        add_seconds(&value, duration);
        value.as.moment.seconds = (value.as.moment.seconds % DAY + DAY) % DAY;
        *out = value;
        return true;
    }
    struct expression_value midnight =
        expression_date_time_make(value.as.days, expression_time_of(value));
    if (!add_to_date_time(midnight, duration, &midnight)) {
        return false;
    }
    value.as.days = expression_days_of(midnight);
    *out = value;
    return true;
}

static bool add_durations(struct expression_value a, struct expression_value b,
                          struct expression_value *out)
{
    *out = a;
    if (a.type == VALUE_MONTHS) {
        out->as.months += b.as.months;
        return out->as.months >= -MONTHS_MAX && out->as.months <= MONTHS_MAX;
    }
    add_seconds(out, b);
    return duration_is_valid(*out);
}

bool expression_temporal_add(struct expression_value a, struct expression_value b,
                             struct expression_value *out)
{
    bool left_is_duration = a.type == VALUE_MONTHS || a.type == VALUE_DURATION;
    if (left_is_duration && a.type == b.type) {
        return add_durations(a, b, out);
    }
    if (left_is_duration) {
        struct expression_value swapped = a;
        a = b;
        b = swapped;
    }
    if (b.type == VALUE_MONTHS) {
        return is_date_like(a) && add_months(a, b.as.months, out);
    }
    return b.type == VALUE_DURATION && (is_date_like(a) || a.type == VALUE_TIME) &&
           add_duration(a, b, out);
}

/* Midnight UTC of a date, so that it can be subtracted from what has a zone. */
static struct expression_value as_moment(struct expression_value value)
{
    if (value.type == VALUE_DATE) {
        value = expression_date_time_make(value.as.days, expression_time_of(value));
        value.zone = ZONE_OFFSET;
        value.as.moment.offset_s = 0;
    }
    return value;
}

static bool difference(struct expression_value a, struct expression_value b,
                       struct expression_value *out)
{
    if ((a.zone == ZONE_NONE) != (b.zone == ZONE_NONE)) {
        return false;
    }
    int64_t left = a.as.moment.seconds - (a.zone == ZONE_NONE ? 0 : expression_offset_of(a));
    int64_t right = b.as.moment.seconds - (b.zone == ZONE_NONE ? 0 : expression_offset_of(b));
    *out = expression_duration_make(left, a.count);
    add_seconds(out, expression_temporal_negate(expression_duration_make(right, b.count)));
    return true;
}

bool expression_temporal_subtract(struct expression_value a, struct expression_value b,
                                  struct expression_value *out)
{
    if (b.type == VALUE_MONTHS || b.type == VALUE_DURATION) {
        return expression_is_temporal(a) && (a.type == b.type || a.type < VALUE_MONTHS) &&
               expression_temporal_add(a, expression_temporal_negate(b), out);
    }
    if (is_date_like(a) && is_date_like(b)) {
        return difference(as_moment(a), as_moment(b), out);
    }
    return a.type == VALUE_TIME && b.type == VALUE_TIME && difference(a, b, out);
}

/* The whole of a duration as one number: months, or nanoseconds. */
static struct expression_value size_of(struct expression_value duration)
{
    if (duration.type == VALUE_MONTHS) {
        return expression_integer(duration.as.months);
    }
    struct expression_value size = expression_integer(duration.as.moment.seconds);
    bool fits = expression_number_multiply(size, expression_integer(NANOSECONDS), &size) &&
                expression_number_add(size, expression_integer(duration.count), &size);
    ASSERT(fits);
    return size;
}

/* Back from that number, what is less than one month or nanosecond cut off. */
static bool of_size(enum expression_type type, struct expression_value size,
                    struct expression_value *out)
{
    struct expression_value seconds;
    struct expression_value rest;
    int64_t whole;
    int64_t nanoseconds;
    if (!expression_number_round(size, 0, ROUND_DOWN, &size)) {
        return false;
    }
    if (type == VALUE_MONTHS) {
        *out = expression_months_make(0);
        return expression_number_to_integer(size, &out->as.months) &&
               out->as.months >= -MONTHS_MAX && out->as.months <= MONTHS_MAX;
    }
    struct expression_value unit = expression_integer(NANOSECONDS);
    if (!expression_number_modulo(size, unit, &rest) ||
        !expression_number_subtract(size, rest, &seconds) ||
        !expression_number_divide(seconds, unit, &seconds) ||
        !expression_number_to_integer(seconds, &whole) ||
        !expression_number_to_integer(rest, &nanoseconds)) {
        return false;
    }
    *out = expression_duration_make(whole, (uint32_t)nanoseconds);
    return duration_is_valid(*out);
}

static bool is_duration(struct expression_value value)
{
    return value.type == VALUE_MONTHS || value.type == VALUE_DURATION;
}

bool expression_temporal_multiply(struct expression_value a, struct expression_value b,
                                  struct expression_value *out)
{
    struct expression_value duration = is_duration(a) ? a : b;
    struct expression_value factor = is_duration(a) ? b : a;
    struct expression_value size;
    return is_duration(duration) && factor.type == VALUE_NUMBER &&
           expression_number_multiply(size_of(duration), factor, &size) &&
           of_size(duration.type, size, out);
}

bool expression_temporal_divide(struct expression_value a, struct expression_value b,
                                struct expression_value *out)
{
    if (!is_duration(a)) {
        return false;
    }
    if (a.type == b.type) {
        return expression_number_divide(size_of(a), size_of(b), out);
    }
    struct expression_value size;
    return b.type == VALUE_NUMBER && expression_number_divide(size_of(a), b, &size) &&
           of_size(a.type, size, out);
}

int64_t expression_months_between(struct expression_value from, struct expression_value to)
{
    struct date first = date_of_days(expression_days_of(from));
    struct date last = date_of_days(expression_days_of(to));
    int64_t months = ((int64_t)last.year - first.year) * 12 + last.month - first.month;
    if (months > 0 && last.day < first.day) {
        return months - 1;
    }
    return months < 0 && last.day > first.day ? months + 1 : months;
}
