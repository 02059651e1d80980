/* temporal_text.c: ISO 8601 as DMN reads it (XML Schema's lexical forms, and "@Zone/Name"), and
 * back to text. */
#include "engine/expression/temporal.h"
#include "engine/time/calendar.h"
#include "engine/time/zone.h"
#include "proto/base/assert.h"

#define NANOSECOND_DIGITS 9
#define NUMBER_MAX        INT64_C(10000000000000) /* of one part of a duration */

/* A place in a text. */
struct reader {
    struct span text;
    size_t at;
};

static uint8_t peek(const struct reader *reader)
{
    return reader->at < reader->text.count ? reader->text.bytes[reader->at] : 0;
}

static bool at_digit(const struct reader *reader)
{
    uint8_t byte = peek(reader);
    return byte >= '0' && byte <= '9';
}

static bool at_end(const struct reader *reader)
{
    return reader->at == reader->text.count;
}

static bool accept(struct reader *reader, char byte)
{
    bool accepted = peek(reader) == (uint8_t)byte && !at_end(reader);
    reader->at += accepted;
    return accepted;
}

/* Digits while there are some; false without any, or when they make too large a number. */
static bool read_number(struct reader *reader, int64_t *out)
{
    size_t start = reader->at;
    for (*out = 0; at_digit(reader) && *out <= NUMBER_MAX; reader->at++) {
        *out = *out * 10 + (peek(reader) - '0');
    }
    return reader->at > start && *out <= NUMBER_MAX;
}

static bool read_two(struct reader *reader, int64_t *out)
{
    size_t start = reader->at;
    return read_number(reader, out) && reader->at == start + 2;
}

/* Behind the point: any digits, those beyond the ninth cut off. */
static bool read_fraction(struct reader *reader, uint32_t *nanoseconds, bool may_be_empty)
{
    size_t start = reader->at;
    *nanoseconds = 0;
    for (int place = 0; place < NANOSECOND_DIGITS || at_digit(reader); place++) {
        if (place < NANOSECOND_DIGITS) {
            *nanoseconds =
                *nanoseconds * 10 + (at_digit(reader) ? (uint32_t)peek(reader) - '0' : 0u);
        }
        reader->at += at_digit(reader);
    }
    return reader->at > start || may_be_empty;
}

/* Years have four digits, or more without leading zeros. */
static bool read_date(struct reader *reader, struct expression_value *out)
{
    int64_t year, month, day;
    bool negative = accept(reader, '-');
    size_t start = reader->at;
    uint8_t first = peek(reader);
    if (!read_number(reader, &year)) {
        return false;
    }
    size_t digits = reader->at - start;
    return digits >= 4 && (digits == 4 || first != '0') && accept(reader, '-') &&
           read_two(reader, &month) && accept(reader, '-') && read_two(reader, &day) &&
           expression_date_make(negative ? -year : year, month, day, out);
}

/* "Z" (or "z", as DMN 1.5 table 74 has it in an example), "+02:00", "-05:30:15", "@Europe/Paris",
 * or nothing. */
static bool read_zone(struct reader *reader, struct expression_value *time, struct span *zone)
{
    *zone = SPAN_EMPTY;
    if (at_end(reader)) {
        return true;
    }
    if (accept(reader, 'Z') || accept(reader, 'z')) {
        return expression_set_offset(time, 0);
    }
    if (accept(reader, '@')) {
        *zone = span_of(reader->text.bytes + reader->at, reader->text.count - reader->at);
        reader->at = reader->text.count;
        return zone->count <= EXPRESSION_ZONE_NAME_BYTES && engine_zone_name_is_valid(*zone);
    }
    int64_t hours, minutes, seconds = 0;
    bool west = peek(reader) == '-';
    if ((!accept(reader, '-') && !accept(reader, '+')) || !read_two(reader, &hours) ||
        !accept(reader, ':') || !read_two(reader, &minutes) ||
        (accept(reader, ':') && !read_two(reader, &seconds)) || minutes > 59 || seconds > 59) {
        return false;
    }
    int64_t offset_s = hours * 3600 + minutes * 60 + seconds;
    return expression_set_offset(time, west ? -offset_s : offset_s);
}

/* *next_day: it was 24:00:00. */
static bool read_time(struct reader *reader, struct expression_value *out, struct span *zone,
                      bool *next_day)
{
    int64_t hour, minute, second;
    uint32_t nanoseconds = 0;
    if (!read_two(reader, &hour) || !accept(reader, ':') || !read_two(reader, &minute) ||
        !accept(reader, ':') || !read_two(reader, &second) ||
        (accept(reader, '.') && !read_fraction(reader, &nanoseconds, false))) {
        return false;
    }
    *next_day = hour == 24;
    return expression_time_make(hour, minute, second, nanoseconds, out) &&
           read_zone(reader, out, zone) && at_end(reader);
}

bool expression_date_parse(struct span text, struct expression_value *out)
{
    struct reader reader = {.text = text};
    return read_date(&reader, out) && at_end(&reader);
}

bool expression_time_parse(struct span text, struct expression_value *out, struct span *zone)
{
    struct reader reader = {.text = text};
    bool next_day;
    return read_time(&reader, out, zone, &next_day);
}

bool expression_date_time_parse(struct span text, struct expression_value *out, struct span *zone)
{
    struct reader reader = {.text = text};
    struct expression_value date;
    struct expression_value time;
    bool next_day = false;
    *zone = SPAN_EMPTY;
    if (!read_date(&reader, &date)) {
        return false;
    }
    if (at_end(&reader)) {
        *out = expression_date_time_make(date.as.days, expression_time_of(date));
        return true;
    }
    if (!accept(&reader, 'T') || !read_time(&reader, &time, zone, &next_day)) {
        return false;
    }
    *out = expression_date_time_make(date.as.days + next_day, time);
    return true;
}

/* Numbers with their units, in the order of `units`; *seen has a bit for each unit that came. */
static bool read_parts(struct reader *reader, const char *units, int64_t *parts, unsigned *seen,
                       uint32_t *nanoseconds)
{
    *seen = 0;
    for (unsigned next = 0; at_digit(reader); next++) {
        int64_t number;
        if (!read_number(reader, &number)) {
            return false;
        }
        if (accept(reader, '.') &&
            (!read_fraction(reader, nanoseconds, true) || peek(reader) != 'S')) {
            return false;
        }
        while (units[next] != '\0' && !accept(reader, units[next])) {
            next++;
        }
        if (units[next] == '\0') {
            return false;
        }
        parts[next] = number;
        *seen |= 1u << next;
    }
    return true;
}

/* Years and months, or days and smaller: never both. */
bool expression_duration_parse(struct span text, struct expression_value *out)
{
    enum { YEARS_OR_MONTHS = 3, DAYS = 4 };
    struct reader reader = {.text = text};
    int64_t date[3] = {0};
    int64_t time[3] = {0};
    uint32_t nanoseconds = 0;
    unsigned date_seen;
    unsigned time_seen = 0;
    bool negative = accept(&reader, '-');
    if (!accept(&reader, 'P') || !read_parts(&reader, "YMD", date, &date_seen, &nanoseconds) ||
        (accept(&reader, 'T') &&
         (!read_parts(&reader, "HMS", time, &time_seen, &nanoseconds) || time_seen == 0))) {
        return false;
    }
    bool in_months = (date_seen & YEARS_OR_MONTHS) != 0;
    bool in_seconds = (date_seen & DAYS) != 0 || time_seen != 0;
    if (!at_end(&reader) || in_months == in_seconds) {
        return false;
    }
    int64_t seconds = date[2] * EXPRESSION_DAY_SECONDS + time[0] * 3600 + time[1] * 60 + time[2];
    *out = in_months ? expression_months_make(date[0] * 12 + date[1])
                     : expression_duration_make(seconds, nanoseconds);
    *out = negative ? expression_temporal_negate(*out) : *out;
    return true;
}

bool expression_temporal_parse(struct span text, struct expression_value *out, struct span *zone)
{
    *zone = SPAN_EMPTY;
    if (text.count > 1 &&
        (text.bytes[0] == 'P' || (text.bytes[0] == '-' && text.bytes[1] == 'P'))) {
        return expression_duration_parse(text, out);
    }
    if (text.count > 2 && text.bytes[2] == ':') {
        return expression_time_parse(text, out, zone);
    }
    return expression_date_parse(text, out) || expression_date_time_parse(text, out, zone);
}

/* Text under construction, in a room that is known to suffice. */
struct writer {
    char *text;
    size_t count;
};

static void put_text(struct writer *writer, struct span text)
{
    ASSERT(text.count <= EXPRESSION_TEMPORAL_TEXT_BYTES - writer->count);
    if (text.count > 0) {
        memcpy(writer->text + writer->count, text.bytes, text.count);
    }
    writer->count += text.count;
}

static void put(struct writer *writer, char sign)
{
    ASSERT(writer->count < EXPRESSION_TEMPORAL_TEXT_BYTES);
    writer->text[writer->count++] = sign;
}

/* At least `width` digits, zeros before them. */
static void put_number(struct writer *writer, int64_t number, int width)
{
    enum { DIGITS_MAX = 20 };
    char digits[DIGITS_MAX];
    int at = DIGITS_MAX;
    ASSERT(number >= 0 && width < DIGITS_MAX);
    for (; number > 0 || at > DIGITS_MAX - width; number /= 10) {
        digits[--at] = (char)('0' + number % 10);
    }
    put_text(writer, span_of(digits + at, (size_t)(DIGITS_MAX - at)));
}

static void put_date(struct writer *writer, int64_t days)
{
    struct date date = date_of_days(days);
    if (date.year < 0) {
        put(writer, '-');
    }
    put_number(writer, date.year < 0 ? -date.year : date.year, 4);
    put(writer, '-');
    put_number(writer, date.month, 2);
    put(writer, '-');
    put_number(writer, date.day, 2);
}

static void put_fraction(struct writer *writer, uint32_t nanoseconds)
{
    if (nanoseconds != 0) {
        put(writer, '.');
        put_number(writer, nanoseconds, NANOSECOND_DIGITS);
        while (writer->text[writer->count - 1] == '0') {
            writer->count--;
        }
    }
}

static void put_clock(struct writer *writer, int64_t seconds, bool with_seconds)
{
    put_number(writer, seconds / 3600, 2);
    put(writer, ':');
    put_number(writer, seconds / 60 % 60, 2);
    if (with_seconds) {
        put(writer, ':');
        put_number(writer, seconds % 60, 2);
    }
}

static void put_zone(struct writer *writer, struct expression_value value)
{
    if (value.zone == ZONE_NAMED) {
        put(writer, '@');
        put_text(writer, value.as.moment.zone->name);
    } else if (value.zone == ZONE_OFFSET && value.as.moment.offset_s == 0) {
        put(writer, 'Z');
    } else if (value.zone == ZONE_OFFSET) {
        int64_t offset_s = value.as.moment.offset_s;
        int64_t size_s = offset_s < 0 ? -offset_s : offset_s;
        put(writer, offset_s < 0 ? '-' : '+');
        put_clock(writer, size_s, size_s % 60 != 0);
    }
}

static void put_time(struct writer *writer, struct expression_value time)
{
    put_clock(writer, time.as.moment.seconds, true);
    put_fraction(writer, time.count);
    put_zone(writer, time);
}

/* "12Y", or nothing for 0. */
static void put_part(struct writer *writer, int64_t number, char unit)
{
    if (number != 0) {
        put_number(writer, number, 1);
        put(writer, unit);
    }
}

static void put_months(struct writer *writer, int64_t months)
{
    int64_t size = months < 0 ? -months : months;
    put_text(writer, span_text(months < 0 ? "-P" : "P"));
    put_part(writer, size / 12, 'Y');
    put_part(writer, size % 12, 'M');
    if (size == 0) {
        put_text(writer, span_text("0M"));
    }
}

static void put_duration(struct writer *writer, struct expression_value duration)
{
    bool negative = expression_temporal_is_negative(duration);
    duration = negative ? expression_temporal_negate(duration) : duration;
    int64_t days = duration.as.moment.seconds / EXPRESSION_DAY_SECONDS;
    int64_t rest = duration.as.moment.seconds % EXPRESSION_DAY_SECONDS;
    put_text(writer, span_text(negative ? "-P" : "P"));
    put_part(writer, days, 'D');
    if (rest == 0 && duration.count == 0) {
        put_text(writer, span_text(days == 0 ? "T0S" : ""));
        return;
    }
    put(writer, 'T');
    put_part(writer, rest / 3600, 'H');
    put_part(writer, rest / 60 % 60, 'M');
    if (rest % 60 != 0 || duration.count != 0) {
        put_number(writer, rest % 60, 1);
        put_fraction(writer, duration.count);
        put(writer, 'S');
    }
}

size_t expression_temporal_format(struct expression_value value,
                                  char out[EXPRESSION_TEMPORAL_TEXT_BYTES])
{
    struct writer writer = {.text = out};
    ASSERT(expression_is_temporal(value));
    if (value.type == VALUE_DATE) {
        put_date(&writer, value.as.days);
    } else if (value.type == VALUE_TIME) {
        put_time(&writer, value);
    } else if (value.type == VALUE_DATE_TIME) {
        put_date(&writer, expression_days_of(value));
        put(&writer, 'T');
        put_time(&writer, expression_time_of(value));
    } else if (value.type == VALUE_MONTHS) {
        put_months(&writer, value.as.months);
    } else {
        put_duration(&writer, value);
    }
    return writer.count;
}
