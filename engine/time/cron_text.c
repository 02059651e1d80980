/*
 * cron_text.c: from a cron text to its bits. Fields are rows of a table; what a field may hold
 * besides numbers is in its row.
 */
#include <strings.h>

#include "engine/time/cron.h"
#include "proto/base/assert.h"

enum { FIELD_COUNT = 6, TEXT_BYTES_MAX = 1024 };

enum field_index { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY };

struct field {
    uint8_t first;
    uint8_t last;
    bool is_time;      /* a star, range or step in it makes an interval */
    const char *names; /* three letters each, from `first` on */
    const char *range_reason;
    const char *step_reason;
};

static const struct field fields[FIELD_COUNT] = {
    [SECOND] = {0, 59, true, "", "seconds are 0 to 59", "a step of seconds is 1 to 59"},
    [MINUTE] = {0, 59, true, "", "minutes are 0 to 59", "a step of minutes is 1 to 59"},
    [HOUR] = {0, 23, true, "", "hours are 0 to 23", "a step of hours is 1 to 23"},
    [DAY] = {1, 31, false, "", "days of month are 1 to 31", "a step of days is 1 to 31"},
    [MONTH] = {1, 12, false, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC",
               "months are 1 to 12 or JAN to DEC", "a step of months is 1 to 12"},
    [WEEKDAY] = {0, 7, false, "SUNMONTUEWEDTHUFRISAT", "days of week are 0 to 7 or SUN to SAT",
                 "a step of days of week is 1 to 7"},
};

/* ---- the text ---- */

struct reading {
    struct span text;
    size_t at;
    const char *reason; /* of the first failure; NULL: none */
    size_t failed_at;
    struct engine_cron *cron;
};

static void fail(struct reading *reading, size_t at, const char *reason)
{
    if (reading->reason == NULL) {
        reading->reason = reason;
        reading->failed_at = at;
    }
}

static char peek(const struct reading *reading)
{
    return reading->at < reading->text.count ? (char)reading->text.bytes[reading->at] : '\0';
}

static bool accept(struct reading *reading, char wanted)
{
    char at = peek(reading);
    bool is_letter = wanted >= 'A' && wanted <= 'Z';
    bool found = at != '\0' && (at == wanted || (is_letter && at == wanted + ('a' - 'A')));
    reading->at += found;
    return found;
}

static bool is_blank(char at)
{
    return at == ' ' || at == '\t' || at == '\n' || at == '\r';
}

static bool skip_blanks(struct reading *reading)
{
    size_t begin = reading->at;
    while (reading->at < reading->text.count && is_blank(peek(reading))) {
        reading->at++;
    }
    return reading->at > begin;
}

static bool is_digit(char at)
{
    return at >= '0' && at <= '9';
}

static uint8_t read_number(struct reading *reading, unsigned least, unsigned most,
                           const char *reason)
{
    size_t begin = reading->at;
    unsigned number = 0;
    while (is_digit(peek(reading))) {
        number = number > most ? number : number * 10 + (unsigned)(peek(reading) - '0');
        reading->at++;
    }
    if (reading->at == begin || number < least || number > most) {
        fail(reading, begin, reason);
        return (uint8_t)least;
    }
    return (uint8_t)number;
}

static uint8_t read_name(struct reading *reading, const struct field *field)
{
    const char *name = (const char *)reading->text.bytes + reading->at;
    size_t room = reading->text.count - reading->at;
    for (size_t i = 0; room >= 3 && field->names[i * 3] != '\0'; i++) {
        if (strncasecmp(name, field->names + i * 3, 3) == 0) {
            reading->at += 3;
            return (uint8_t)(field->first + i);
        }
    }
    fail(reading, reading->at, field->range_reason);
    return field->first;
}

static uint8_t read_value(struct reading *reading, const struct field *field)
{
    return is_digit(peek(reading))
               ? read_number(reading, field->first, field->last, field->range_reason)
               : read_name(reading, field);
}

/* ---- values, ranges, steps, lists ---- */

static uint64_t bit(unsigned at)
{
    return (uint64_t)1 << at;
}

/* low, low + step, … up to high; a range that ends before it begins goes on at the field's first
 * value, in the same steps (22-3/2: 22, 0, 2). */
static uint64_t range_bits(const struct field *field, unsigned low, unsigned high, unsigned step)
{
    bool is_weekday = field == &fields[WEEKDAY];
    unsigned cycle = is_weekday ? 7 : field->last - field->first + 1u;
    if (is_weekday && low == 7 && high < 7) {
        low = 0;
    }
    unsigned width = high >= low ? high - low : high + cycle - low;
    uint64_t bits = 0;
    for (unsigned i = 0; i <= width; i += step) {
        unsigned value = low + i;
        bool wraps = high < low && value >= field->first + cycle;
        bits |= bit(wraps ? value - cycle : value);
    }
    return bits;
}

static uint64_t read_step(struct reading *reading, const struct field *field, unsigned low,
                          unsigned high)
{
    uint8_t step = read_number(reading, 1, field->last, field->step_reason);
    return range_bits(field, low, high, step);
}

/* What may follow a value: "-5", "-5/2", "/2", or nothing. */
static uint64_t read_range(struct reading *reading, const struct field *field, uint8_t low)
{
    unsigned high = low;
    bool is_range = accept(reading, '-');
    if (is_range) {
        high = read_value(reading, field);
    }
    bool has_step = accept(reading, '/');
    if (!is_range && !has_step) {
        return bit(low);
    }
    reading->cron->is_interval |= field->is_time;
    if (has_step) {
        return read_step(reading, field, low, is_range ? high : field->last);
    }
    return range_bits(field, low, high, 1);
}

static uint64_t read_list(struct reading *reading, const struct field *field, uint8_t first)
{
    uint64_t bits = read_range(reading, field, first);
    while (reading->reason == NULL && accept(reading, ',')) {
        bits |= read_range(reading, field, read_value(reading, field));
    }
    return bits;
}

static bool read_star(struct reading *reading, const struct field *field, uint64_t *bits)
{
    if (!accept(reading, '*') && !accept(reading, '?')) {
        return false;
    }
    reading->cron->is_interval |= field->is_time;
    *bits = accept(reading, '/') ? read_step(reading, field, field->first, field->last)
                                 : range_bits(field, field->first, field->last, 1);
    return true;
}

/* ---- L, W and # ---- */

static uint64_t read_last_day(struct reading *reading)
{
    const struct field *field = &fields[DAY];
    reading->cron->last_day = true;
    if (accept(reading, '-')) {
        reading->cron->last_day_back =
            read_number(reading, 0, 30, "days before the last day are 0 to 30");
    }
    reading->cron->nearest_weekday = accept(reading, 'W');
    return range_bits(field, field->first, field->last, 1);
}

static uint64_t read_day(struct reading *reading)
{
    if (accept(reading, 'L')) {
        return read_last_day(reading);
    }
    uint8_t day = read_value(reading, &fields[DAY]);
    if (accept(reading, 'W')) {
        reading->cron->nearest_weekday = true;
        return bit(day);
    }
    return read_list(reading, &fields[DAY], day);
}

static uint64_t read_weekday(struct reading *reading)
{
    uint8_t weekday = read_value(reading, &fields[WEEKDAY]);
    if (accept(reading, 'L')) {
        reading->cron->last_weekday = true;
        return bit(weekday);
    }
    if (accept(reading, '#')) {
        reading->cron->nth_weekday =
            read_number(reading, 1, 5, "a month has a first to a fifth day of week: #1 to #5");
        return bit(weekday);
    }
    return read_list(reading, &fields[WEEKDAY], weekday);
}

static uint64_t read_field(struct reading *reading, enum field_index index)
{
    const struct field *field = &fields[index];
    uint64_t bits = 0;
    if (read_star(reading, field, &bits)) {
        return bits;
    }
    return index == DAY       ? read_day(reading)
           : index == WEEKDAY ? read_weekday(reading)
                              : read_list(reading, field, read_value(reading, field));
}

/* ---- the whole ---- */

static unsigned count_fields(const struct reading *reading)
{
    unsigned count = 0;
    bool in_field = false;
    for (size_t i = reading->at; i < reading->text.count; i++) {
        bool blank = is_blank((char)reading->text.bytes[i]);
        count += !blank && !in_field;
        in_field = !blank;
    }
    return count;
}

static void store(struct engine_cron *cron, const uint64_t bits[FIELD_COUNT])
{
    cron->seconds = bits[SECOND];
    cron->minutes = bits[MINUTE];
    cron->hours = (uint32_t)bits[HOUR];
    cron->days = (uint32_t)bits[DAY];
    cron->months = (uint32_t)bits[MONTH];
    cron->weekdays = (uint32_t)((bits[WEEKDAY] | bits[WEEKDAY] >> 7) & 0x7f);
}

static void read_fields(struct reading *reading)
{
    uint64_t bits[FIELD_COUNT] = {[SECOND] = 1};
    unsigned count = count_fields(reading);
    if (count < 5) {
        fail(reading, reading->text.count, "there are five fields, or six with seconds first");
        return;
    }
    for (unsigned i = count == 5 ? MINUTE : SECOND; i < FIELD_COUNT; i++) {
        bits[i] = read_field(reading, (enum field_index)i);
        if (reading->reason != NULL) {
            return;
        }
        bool ended = skip_blanks(reading) || reading->at == reading->text.count;
        if (!ended) {
            fail(reading, reading->at, "unexpected character");
        }
    }
    if (reading->at < reading->text.count) {
        fail(reading, reading->at, "there are five fields, or six with seconds first: no year");
    }
    store(reading->cron, bits);
}

static const struct {
    const char *name;
    const char *text;
} macros[] = {
    {"@every_second", "* * * * * *"}, {"@every_minute", "* * * * *"}, {"@hourly", "0 * * * *"},
    {"@daily", "0 0 * * *"},          {"@midnight", "0 0 * * *"},     {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"},        {"@yearly", "0 0 1 1 *"},       {"@annually", "0 0 1 1 *"},
};

static void read_macro(struct reading *reading)
{
    struct span name =
        span_trim(span_of(reading->text.bytes + reading->at, reading->text.count - reading->at));
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
        if (name.count == strlen(macros[i].name) &&
            strncasecmp((const char *)name.bytes, macros[i].name, name.count) == 0) {
            struct reading inner = {.text = span_text(macros[i].text), .cron = reading->cron};
            read_fields(&inner);
            ASSERT(inner.reason == NULL);
            return;
        }
    }
    fail(reading, reading->at, "no such macro (@hourly, @daily, @weekly, @monthly, @yearly, …)");
}

/* "CRON_TZ=Europe/London " or "TZ=Europe/London ". */
static void read_zone(struct reading *reading)
{
    struct span rest =
        span_of(reading->text.bytes + reading->at, reading->text.count - reading->at);
    size_t mark = span_starts_with(rest, "CRON_TZ=") ? 8 : span_starts_with(rest, "TZ=") ? 3 : 0;
    if (mark == 0) {
        return;
    }
    reading->at += mark;
    size_t begin = reading->at;
    while (reading->at < reading->text.count && !is_blank(peek(reading))) {
        reading->at++;
    }
    reading->cron->zone = span_of(reading->text.bytes + begin, reading->at - begin);
    if (!engine_zone_name_is_valid(reading->cron->zone)) {
        fail(reading, begin, "this is no name of a time zone");
    }
    skip_blanks(reading);
}

enum result engine_cron_parse(struct span text, struct engine_cron *out,
                              struct engine_cron_error *error)
{
    *out = (struct engine_cron){0};
    struct reading reading = {.text = text, .cron = out};
    if (text.count > TEXT_BYTES_MAX) {
        fail(&reading, TEXT_BYTES_MAX, "a cron text has at most 1024 bytes");
    } else {
        skip_blanks(&reading);
        read_zone(&reading);
        if (reading.reason == NULL && peek(&reading) == '@') {
            read_macro(&reading);
        } else if (reading.reason == NULL) {
            read_fields(&reading);
        }
    }
    *error = (struct engine_cron_error){(uint32_t)reading.failed_at, reading.reason};
    return reading.reason == NULL ? RESULT_OK : RESULT_INVALID;
}
