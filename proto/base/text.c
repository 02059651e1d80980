/*
 * text.c: UTF-8, RFC 3339 and edit distance.
 */
#include "proto/base/text.h"

#include "proto/base/assert.h"
#include "proto/base/date.h"

enum { MS_PER_SECOND = 1000, SECONDS_PER_DAY = 86400, DISTANCE_BYTES_MAX = 64 };

/* 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z. */
static const int64_t time_least_ms = -62167219200000;
static const int64_t time_most_ms = 253402300799999;

size_t text_utf8_valid_count(struct span span)
{
    const uint8_t *next = span.bytes;
    const uint8_t *end = span.count == 0 ? next : next + span.count;
    while (next < end) {
        uint64_t word;
        while ((size_t)(end - next) >= sizeof word) {
            memcpy(&word, next, sizeof word);
            if ((word & 0x8080808080808080u) != 0) {
                break;
            }
            next += sizeof word;
        }
        /* A run of ASCII ended within these bytes: step over the next few one by one. */
        const uint8_t *stop = (size_t)(end - next) > sizeof word ? next + sizeof word : end;
        while (next < stop) {
            size_t bytes = text_utf8_sequence(next, end);
            if (bytes == 0) {
                return (size_t)(next - span.bytes);
            }
            next += bytes;
        }
    }
    return span.count;
}

static char *put_digits(char *next, uint64_t number, unsigned width)
{
    for (unsigned i = width; i > 0; i--) {
        next[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
    return next + width;
}

void text_format_time(int64_t unix_ms, char out[TEXT_TIME_BYTES + 1])
{
    unix_ms = unix_ms < time_least_ms ? time_least_ms : unix_ms;
    unix_ms = unix_ms > time_most_ms ? time_most_ms : unix_ms;
    uint64_t since_year_0 = (uint64_t)(unix_ms - time_least_ms);
    uint64_t ms_of_day = since_year_0 % (SECONDS_PER_DAY * (uint64_t)MS_PER_SECOND);
    int64_t days = (int64_t)(since_year_0 / (SECONDS_PER_DAY * (uint64_t)MS_PER_SECOND)) +
                   time_least_ms / (SECONDS_PER_DAY * (int64_t)MS_PER_SECOND);
    struct date date = date_of_days(days);
    char *next = put_digits(out, (uint64_t)date.year, 4);
    *next++ = '-';
    next = put_digits(next, date.month, 2);
    *next++ = '-';
    next = put_digits(next, date.day, 2);
    *next++ = 'T';
    next = put_digits(next, ms_of_day / 3600000, 2);
    *next++ = ':';
    next = put_digits(next, ms_of_day / 60000 % 60, 2);
    *next++ = ':';
    next = put_digits(next, ms_of_day / MS_PER_SECOND % 60, 2);
    *next++ = '.';
    next = put_digits(next, ms_of_day % MS_PER_SECOND, 3);
    *next++ = 'Z';
    *next = '\0';
    ASSERT(next == out + TEXT_TIME_BYTES);
}

/* Reads exactly `width` digits; false when there are fewer. */
static bool take_digits(struct span *text, unsigned width, unsigned *out)
{
    if (text->count < width) {
        return false;
    }
    unsigned number = 0;
    for (unsigned i = 0; i < width; i++) {
        unsigned digit = text->bytes[i] - (unsigned)'0';
        if (digit > 9) {
            return false;
        }
        number = number * 10 + digit;
    }
    *text = span_of(text->bytes + width, text->count - width);
    *out = number;
    return true;
}

/* Takes one byte that is among `choices`; 0 when it is not. */
static char take_one_of(struct span *text, const char *choices)
{
    if (text->count == 0 || text->bytes[0] == 0 || strchr(choices, text->bytes[0]) == NULL) {
        return 0;
    }
    char taken = (char)text->bytes[0];
    *text = span_of(text->bytes + 1, text->count - 1);
    return taken;
}

static bool take_date(struct span *text, struct date *date)
{
    unsigned year, month, day;
    if (!take_digits(text, 4, &year) || !take_one_of(text, "-") || !take_digits(text, 2, &month) ||
        !take_one_of(text, "-") || !take_digits(text, 2, &day)) {
        return false;
    }
    *date = (struct date){(int32_t)year, (uint8_t)month, (uint8_t)day};
    return date_is_valid(*date);
}

/* "23:59:60" is legal (a leap second) and counts as the first second after it. */
static bool take_clock(struct span *text, int64_t *ms)
{
    unsigned hour, minute, second;
    if (!take_digits(text, 2, &hour) || !take_one_of(text, ":") || !take_digits(text, 2, &minute) ||
        !take_one_of(text, ":") || !take_digits(text, 2, &second) || hour > 23 || minute > 59 ||
        second > 60) {
        return false;
    }
    *ms = ((int64_t)hour * 3600 + minute * 60 + second) * MS_PER_SECOND;
    if (!take_one_of(text, ".")) {
        return true;
    }
    unsigned digit, scale = 100;
    if (!take_digits(text, 1, &digit)) {
        return false;
    }
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (take_digits(text, 1, &digit));
    return true;
}

static bool take_offset(struct span *text, int64_t *ms)
{
    char sign = take_one_of(text, "Zz+-");
    unsigned hour = 0, minute = 0;
    if (sign == '+' || sign == '-') {
        if (!take_digits(text, 2, &hour) || !take_one_of(text, ":") ||
            !take_digits(text, 2, &minute) || hour > 23 || minute > 59) {
            return false;
        }
    }
    *ms = ((int64_t)hour * 60 + minute) * 60 * MS_PER_SECOND * (sign == '-' ? -1 : 1);
    return sign != 0;
}

enum result text_parse_time(struct span text, int64_t *unix_ms)
{
    struct date date;
    int64_t clock_ms, offset_ms;
    if (!take_date(&text, &date) || !take_one_of(&text, "Tt ") || !take_clock(&text, &clock_ms) ||
        !take_offset(&text, &offset_ms) || text.count != 0) {
        return RESULT_INVALID;
    }
    *unix_ms = date_to_days(date) * SECONDS_PER_DAY * (int64_t)MS_PER_SECOND + clock_ms - offset_ms;
    return RESULT_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein, and two neighbours that changed places are one edit. */
size_t text_distance(struct span a, struct span b)
{
    if (a.count > DISTANCE_BYTES_MAX || b.count > DISTANCE_BYTES_MAX) {
        return SIZE_MAX;
    }
    size_t rows[3][DISTANCE_BYTES_MAX + 1];
    for (size_t i = 0; i <= a.count; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.count; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = least(above[j - 1] + (a.bytes[i - 1] != b.bytes[j - 1]),
                           least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.bytes[i - 1] == b.bytes[j - 2] &&
                a.bytes[i - 2] == b.bytes[j - 1]) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a.count % 3][b.count];
}

bool text_read_number(struct span text, uint32_t most, uint32_t *out)
{
    uint32_t number = 0;
    if (text.count == 0 || text.count > 5) {
        return false;
    }
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            return false;
        }
        number = number * 10 + (uint32_t)(text.bytes[i] - '0');
    }
    *out = number;
    return number <= most;
}

int text_hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    uint8_t lower = byte | 0x20u;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool text_percent_decode(struct span text, char *out, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < text.count; i++) {
        int byte = text.bytes[i];
        if (byte == '%') {
            int high = i + 2 < text.count ? text_hex_digit(text.bytes[i + 1]) : -1;
            int low = high >= 0 ? text_hex_digit(text.bytes[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            byte = high * 16 + low;
            i += 2;
        }
        if (byte == 0 || count + 1 >= capacity) {
            return false;
        }
        out[count++] = (char)byte;
    }
    out[count] = '\0';
    return true;
}
