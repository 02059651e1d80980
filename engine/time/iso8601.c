/*
 * iso8601.c: recursive descent over a span that shrinks from the left.
 */
#include "engine/time/iso8601.h"

#include "engine/time/calendar.h"
#include "proto/base/assert.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, HOUR_MS = 60 * MINUTE_MS };

/* Larger counts are kept as this: it is beyond the calendar in any unit, and sums of a few do not
 * overflow. */
static const int64_t amount_most = INT64_MAX / 16;

static enum result refuse(const char **reason, const char *why)
{
    *reason = why;
    return RESULT_INVALID;
}

static void skip(struct span *text, size_t count)
{
    ASSERT(count <= text->count);
    *text = span_of(text->bytes + count, text->count - count);
}

static bool take(struct span *text, char wanted)
{
    if (text->count == 0 || text->bytes[0] != (uint8_t)wanted) {
        return false;
    }
    skip(text, 1);
    return true;
}

static bool starts_with_digit(struct span text)
{
    return text.count > 0 && text.bytes[0] >= '0' && text.bytes[0] <= '9';
}

static int64_t saturated(int64_t value)
{
    return value > amount_most ? amount_most : value;
}

static int64_t saturated_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? amount_most : saturated(product);
}

/* A run of digits as a saturating number. */
static bool take_number(struct span *text, int64_t *out)
{
    if (!starts_with_digit(*text)) {
        return false;
    }
    int64_t number = 0;
    while (starts_with_digit(*text)) {
        number = saturated(saturated_product(number, 10) + (text->bytes[0] - '0'));
        skip(text, 1);
    }
    *out = number;
    return true;
}

/* Exactly `width` digits. */
static bool take_digits(struct span *text, size_t width, int64_t *out)
{
    struct span digits = span_of(text->bytes, width);
    if (text->count < width || !take_number(&digits, out) || digits.count != 0) {
        return false;
    }
    skip(text, width);
    return true;
}

/* The digits behind a decimal sign as a share of `unit_ms`, rounded up so that nothing fires early.
 */
static bool take_fraction(struct span *text, int64_t unit_ms, int64_t *ms)
{
    enum { DIGITS_MOST = 9 };
    if (!starts_with_digit(*text)) {
        return false;
    }
    int64_t numerator = 0, denominator = 1;
    bool rest = false;
    for (unsigned i = 0; starts_with_digit(*text); i++, skip(text, 1)) {
        int digit = text->bytes[0] - '0';
        if (i < DIGITS_MOST) {
            numerator = numerator * 10 + digit;
            denominator *= 10;
        } else {
            rest = rest || digit != 0;
        }
    }
    /* At most 7 × 86,400,000 × 10^9, which fits. */
    int64_t scaled = numerator * unit_ms;
    *ms = scaled / denominator + (scaled % denominator != 0 || rest);
    return true;
}

/* ---- durations ---- */

struct part {
    char letter;
    bool after_t;
    int64_t unit; /* months or milliseconds */
    bool is_months;
};

/* In the order in which they must stand. */
static const struct part parts[] = {
    {.letter = 'Y', .unit = 12, .is_months = true},
    {.letter = 'M', .unit = 1, .is_months = true},
    {.letter = 'W', .unit = 7 * (int64_t)CALENDAR_DAY_MS},
    {.letter = 'D', .unit = CALENDAR_DAY_MS},
    {.letter = 'H', .after_t = true, .unit = HOUR_MS},
    {.letter = 'M', .after_t = true, .unit = MINUTE_MS},
    {.letter = 'S', .after_t = true, .unit = SECOND_MS},
};
enum { PART_COUNT = sizeof parts / sizeof parts[0] };

static size_t find_part(char letter, bool after_t)
{
    size_t at = 0;
    while (at < PART_COUNT && (parts[at].letter != letter || parts[at].after_t != after_t)) {
        at++;
    }
    return at;
}

/* One "<number><letter>". *next is the first part that may still come. */
static enum result take_part(struct span *text, bool after_t, size_t *next,
                             struct engine_duration *sum, const char **reason)
{
    int64_t number;
    if (!take_number(text, &number)) {
        return refuse(reason, "a number was expected in the duration");
    }
    struct span fraction = SPAN_EMPTY;
    if (take(text, '.') || take(text, ',')) {
        fraction = *text;
        while (starts_with_digit(*text)) {
            skip(text, 1);
        }
    }
    if (text->count == 0) {
        return refuse(reason, "the duration ends in a number without a unit");
    }
    size_t at = find_part((char)text->bytes[0], after_t);
    if (at == PART_COUNT) {
        bool other_side = find_part((char)text->bytes[0], !after_t) != PART_COUNT;
        return refuse(reason, !other_side ? "the duration has an unknown unit"
                              : after_t   ? "years, months, weeks and days stand before the T"
                                          : "hours, minutes and seconds stand behind a T");
    }
    if (at < *next) {
        return refuse(reason, "the parts of the duration are out of order");
    }
    skip(text, 1);
    *next = at + 1;
    int64_t *total = parts[at].is_months ? &sum->months : &sum->ms;
    *total = saturated(*total + saturated_product(number, parts[at].unit));
    if (fraction.bytes == NULL) {
        return RESULT_OK;
    }
    int64_t extra;
    if (parts[at].is_months || !take_fraction(&fraction, parts[at].unit, &extra)) {
        return refuse(reason, "that part of the duration can have no fraction");
    }
    *next = PART_COUNT; /* only the smallest part may have a fraction: nothing may follow */
    sum->ms = saturated(sum->ms + extra);
    return RESULT_OK;
}

/* Stops at the end or at a '/'. */
static enum result take_duration(struct span *text, struct engine_duration *out,
                                 const char **reason)
{
    bool negative = take(text, '-');
    if (!negative) {
        (void)take(text, '+');
    }
    if (!take(text, 'P')) {
        return refuse(reason, "a duration begins with P, as in PT5M or P1D");
    }
    struct engine_duration sum = {0};
    struct span whole = *text;
    bool after_t = false;
    size_t next = 0;
    while (text->count > 0 && text->bytes[0] != '/') {
        if (!after_t && take(text, 'T')) {
            after_t = true;
            whole = *text;
            continue;
        }
        enum result result = take_part(text, after_t, &next, &sum, reason);
        if (result != RESULT_OK) {
            return result;
        }
    }
    if (whole.count == text->count) {
        return refuse(reason, after_t ? "nothing stands behind the T of the duration"
                                      : "the duration is empty");
    }
    out->months = negative ? -sum.months : sum.months;
    out->ms = negative ? -sum.ms : sum.ms;
    return RESULT_OK;
}

/* ISO 8601-1 §5.5.2.4: weeks are a form of their own. */
static bool mixes_weeks(struct span text)
{
    const uint8_t *week = text.count == 0 ? NULL : memchr(text.bytes, 'W', text.count);
    if (week == NULL) {
        return false;
    }
    size_t units = 0;
    for (size_t i = 0; i < text.count; i++) {
        units += text.bytes[i] >= 'A' && text.bytes[i] <= 'Z' && text.bytes[i] != 'P';
    }
    return units > 1;
}

enum result engine_duration_parse(struct span text, struct engine_duration *out,
                                  const char **reason)
{
    text = span_trim(text);
    struct span rest = text;
    enum result result = take_duration(&rest, out, reason);
    if (result != RESULT_OK) {
        return result;
    }
    if (rest.count != 0) {
        return refuse(reason, "something stands behind the duration");
    }
    return mixes_weeks(text) ? refuse(reason, "weeks cannot be mixed with other parts") : RESULT_OK;
}

int64_t engine_duration_after(int64_t unix_ms, struct engine_duration duration)
{
    return engine_calendar_add(unix_ms, duration.months, duration.ms);
}

/* ---- instants ---- */

static bool take_date(struct span *text, int64_t *unix_ms)
{
    int64_t year, month, day;
    if (!take_digits(text, 4, &year) || !take(text, '-') || !take_digits(text, 2, &month) ||
        !take(text, '-') || !take_digits(text, 2, &day)) {
        return false;
    }
    struct date date = {(int32_t)year, (uint8_t)month, (uint8_t)day};
    if (year == 0 || !date_is_valid(date)) {
        return false;
    }
    *unix_ms = date_to_days(date) * CALENDAR_DAY_MS;
    return true;
}

/* "24:00" is the end of the day; second 60 (a leap second) is the first second after it. */
static bool take_clock(struct span *text, int64_t *ms)
{
    int64_t hour, minute, second = 0, fraction_ms = 0;
    if (!take_digits(text, 2, &hour) || !take(text, ':') || !take_digits(text, 2, &minute)) {
        return false;
    }
    if (take(text, ':')) {
        if (!take_digits(text, 2, &second)) {
            return false;
        }
        if ((take(text, '.') || take(text, ',')) && !take_fraction(text, SECOND_MS, &fraction_ms)) {
            return false;
        }
    }
    *ms = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + fraction_ms;
    return minute < 60 && second <= 60 && (hour < 24 || *ms == CALENDAR_DAY_MS);
}

static bool take_offset(struct span *text, int64_t *ms, const char **reason)
{
    *ms = 0;
    bool zoned = take(text, 'Z');
    if (!zoned && text->count > 0 && (text->bytes[0] == '+' || text->bytes[0] == '-')) {
        int64_t sign = text->bytes[0] == '-' ? -1 : 1;
        int64_t hour, minute = 0;
        skip(text, 1);
        if (!take_digits(text, 2, &hour) ||
            ((take(text, ':') || starts_with_digit(*text)) && !take_digits(text, 2, &minute)) ||
            hour > 23 || minute > 59) {
            *reason = "the offset from UTC is malformed";
            return false;
        }
        *ms = sign * (hour * HOUR_MS + minute * MINUTE_MS);
        zoned = true;
    }
    const uint8_t *close = text->count == 0 ? NULL : memchr(text->bytes, ']', text->count);
    if (text->count > 0 && text->bytes[0] == '[' && close != NULL) {
        if (!zoned) {
            *reason = "a zone name needs an offset before it";
            return false;
        }
        skip(text, (size_t)(close - text->bytes) + 1);
    }
    return true;
}

/* Stops at the end or at a '/'. */
static enum result take_instant(struct span *text, int64_t *unix_ms, const char **reason)
{
    int64_t day_ms, clock_ms = 0, offset_ms = 0;
    if (!take_date(text, &day_ms)) {
        return refuse(reason, "a date is written as 2026-11-30, with a month and day that exist");
    }
    if (take(text, 'T')) {
        if (!take_clock(text, &clock_ms)) {
            return refuse(reason, "a time of day is written as 10:30 or 10:30:00");
        }
        if (!take_offset(text, &offset_ms, reason)) {
            return RESULT_INVALID;
        }
    }
    *unix_ms = engine_calendar_add(day_ms, 0, clock_ms - offset_ms);
    return RESULT_OK;
}

enum result engine_instant_parse(struct span text, int64_t *unix_ms, const char **reason)
{
    text = span_trim(text);
    enum result result = take_instant(&text, unix_ms, reason);
    if (result == RESULT_OK && text.count != 0) {
        return refuse(reason, "something stands behind the date");
    }
    return result;
}

/* ---- repeating intervals ---- */

static bool is_duration_next(struct span text)
{
    return text.count > 0 && (text.bytes[0] == 'P' || text.bytes[0] == '-' || text.bytes[0] == '+');
}

/* "Rn/": n absent or -1 means without end. */
static enum result take_repeat(struct span *text, struct engine_cycle *out, const char **reason)
{
    if (!take(text, 'R')) {
        return refuse(reason, "a cycle begins with R and a slash, as in R/PT10M or R3/PT10M");
    }
    int64_t count;
    if (span_starts_with(*text, "-1/")) {
        skip(text, 2);
    } else if (take_number(text, &count)) {
        out->count = (uint64_t)count;
    }
    if (!take(text, '/')) {
        return refuse(reason, "a slash was expected behind the R of the cycle");
    }
    return RESULT_OK;
}

static enum result take_interval(struct span *text, struct engine_cycle *out, const char **reason)
{
    enum result result;
    if (!is_duration_next(*text)) {
        result = take_instant(text, &out->start_ms, reason);
        if (result != RESULT_OK) {
            return result;
        }
        if (!take(text, '/')) {
            return refuse(reason, "a cycle needs an interval, as in R/PT10M");
        }
        out->has_start = true;
    }
    if (is_duration_next(*text)) {
        struct span duration = *text;
        result = take_duration(text, &out->every, reason);
        duration.count -= text->count;
        if (result == RESULT_OK && mixes_weeks(duration)) {
            return refuse(reason, "weeks cannot be mixed with other parts");
        }
        if (result != RESULT_OK || out->has_start || !take(text, '/')) {
            return result;
        }
        out->has_end = true;
        return take_instant(text, &out->end_ms, reason);
    }
    int64_t end_ms;
    result = take_instant(text, &end_ms, reason);
    out->every.ms = result == RESULT_OK ? end_ms - out->start_ms : 0;
    return result;
}

enum result engine_cycle_parse(struct span text, struct engine_cycle *out, const char **reason)
{
    text = span_trim(text);
    *out = (struct engine_cycle){.count = UINT64_MAX};
    enum result result = take_repeat(&text, out, reason);
    if (result == RESULT_OK) {
        result = take_interval(&text, out, reason);
    }
    if (result != RESULT_OK) {
        return result;
    }
    if (text.count != 0) {
        return refuse(reason, "something stands behind the cycle");
    }
    if (out->every.months < 0 || out->every.ms < 0 ||
        (out->every.months == 0 && out->every.ms == 0)) {
        return refuse(reason, "the interval of a cycle must be longer than nothing");
    }
    return RESULT_OK;
}

static int64_t grid_point(const struct engine_cycle *cycle, int64_t anchor_ms, int64_t index)
{
    return engine_calendar_add(anchor_ms, saturated_product(cycle->every.months, index),
                               saturated_product(cycle->every.ms, index));
}

/* Index of the first grid point behind after_ms, or of the last one that the calendar holds. */
static int64_t index_after(const struct engine_cycle *cycle, int64_t anchor_ms, int64_t after_ms)
{
    if (after_ms < anchor_ms) {
        return 0;
    }
    /* No month is longer than 31 days, so this guess is never too far; months correct it by a step
     * or a few percent. */
    int64_t longest_ms = saturated(
        saturated_product(cycle->every.months, 31 * (int64_t)CALENDAR_DAY_MS) + cycle->every.ms);
    int64_t index = (after_ms - anchor_ms) / longest_ms;
    int64_t point;
    while ((point = grid_point(cycle, anchor_ms, index)) <= after_ms && point < CALENDAR_MOST_MS) {
        index++;
    }
    return index;
}

bool engine_cycle_due(const struct engine_cycle *cycle, int64_t activated_ms, uint64_t fired,
                      int64_t after_ms, int64_t *due_ms)
{
    if (fired >= cycle->count) {
        return false;
    }
    int64_t anchor_ms =
        cycle->has_start ? cycle->start_ms : engine_duration_after(activated_ms, cycle->every);
    /* The grid counts from the anchor, not from the last firing: Jan 31, Feb 28, Mar 31 (not Mar
     * 28). */
    int64_t base_ms = cycle->has_start ? cycle->start_ms : activated_ms;
    int64_t index = fired == 0 ? 0 : index_after(cycle, base_ms, after_ms);
    index += index == 0 && !cycle->has_start;
    *due_ms = fired == 0 ? anchor_ms : grid_point(cycle, base_ms, index);
    return !cycle->has_end || *due_ms <= cycle->end_ms;
}
