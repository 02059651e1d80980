/*
 * zone.c: TZif blocks, the POSIX TZ string behind them, and looking up offsets.
 */
#include "engine/time/zone.h"

#include "engine/time/calendar.h"
#include "proto/base/assert.h"

enum {
    HEADER_BYTES = 44,
    TYPE_BYTES = 6,
    LEAP_BYTES_EXTRA = 4, /* a leap second record: a time and a 4-byte count */
    CHANGES_MAX = 10000,  /* real zones have less than 300 */
    NAME_BYTES_MAX = 64,
    DAY_S = 86400,
    OFFSET_MOST_S = 26 * 3600, /* RFC 8536 §3.2 recommends less */
};

const struct engine_zone engine_zone_utc = {.change_count = 0};

/* ---- the file ---- */

struct tzif {
    struct span left; /* not read yet */
    uint8_t version;
    unsigned time_bytes; /* 4 in the first block, 8 in the second */
    uint32_t ut_count;
    uint32_t standard_count;
    uint32_t leap_count;
    uint32_t change_count;
    uint32_t type_count;
    uint32_t name_bytes;
};

static int64_t load(const uint8_t *bytes, unsigned width)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < width; i++) {
        number = number << 8 | bytes[i];
    }
    return width == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
}

static const uint8_t *take(struct tzif *file, size_t bytes)
{
    if (file->left.count < bytes) {
        return NULL;
    }
    const uint8_t *start = file->left.bytes;
    file->left = span_of(start + bytes, file->left.count - bytes);
    return start;
}

static bool read_header(struct tzif *file)
{
    const uint8_t *header = take(file, HEADER_BYTES);
    if (header == NULL || memcmp(header, "TZif", 4) != 0) {
        return false;
    }
    file->version = header[4];
    file->ut_count = (uint32_t)load(header + 20, 4);
    file->standard_count = (uint32_t)load(header + 24, 4);
    file->leap_count = (uint32_t)load(header + 28, 4);
    file->change_count = (uint32_t)load(header + 32, 4);
    file->type_count = (uint32_t)load(header + 36, 4);
    file->name_bytes = (uint32_t)load(header + 40, 4);
    return file->type_count >= 1 && file->type_count <= 256 && file->change_count <= CHANGES_MAX &&
           file->leap_count <= CHANGES_MAX && file->name_bytes <= CHANGES_MAX &&
           file->ut_count <= file->type_count && file->standard_count <= file->type_count;
}

static size_t block_bytes(const struct tzif *file)
{
    return (size_t)file->change_count * (file->time_bytes + 1) +
           (size_t)file->type_count * TYPE_BYTES + file->name_bytes +
           (size_t)file->leap_count * (file->time_bytes + LEAP_BYTES_EXTRA) + file->standard_count +
           file->ut_count;
}

static bool read_types(const struct tzif *file, const uint8_t *types, int32_t offsets[256])
{
    for (uint32_t i = 0; i < file->type_count; i++) {
        offsets[i] = (int32_t)load(types + (size_t)i * TYPE_BYTES, 4);
        if (offsets[i] < -OFFSET_MOST_S || offsets[i] > OFFSET_MOST_S) {
            return false;
        }
    }
    return true;
}

/* What lies between the header and the footer; only changes of the offset are kept. */
static enum result read_block(struct tzif *file, struct arena *arena, struct engine_zone *out)
{
    int32_t offsets[256];
    const uint8_t *times = take(file, block_bytes(file));
    if (times == NULL) {
        return RESULT_INVALID;
    }
    const uint8_t *indexes = times + (size_t)file->change_count * file->time_bytes;
    if (!read_types(file, indexes + file->change_count, offsets)) {
        return RESULT_INVALID;
    }
    struct engine_zone_change *changes = arena_alloc(arena, file->change_count * sizeof *changes);
    if (changes == NULL) {
        return RESULT_LIMIT;
    }
    out->first_offset_s = offsets[0];
    int32_t offset_s = offsets[0];
    int64_t before_s = INT64_MIN;
    for (uint32_t i = 0; i < file->change_count; i++) {
        int64_t at_s = load(times + (size_t)i * file->time_bytes, file->time_bytes);
        if (indexes[i] >= file->type_count || (i > 0 && at_s <= before_s)) {
            return RESULT_INVALID;
        }
        before_s = at_s;
        if (offsets[indexes[i]] != offset_s) {
            offset_s = offsets[indexes[i]];
            changes[out->change_count++] = (struct engine_zone_change){at_s, offset_s};
        }
    }
    out->changes = changes;
    return RESULT_OK;
}

/* ---- the footer: a POSIX TZ string (IEEE 1003.1 §8.3, with the extensions of RFC 8536 §3.3.1)
 * ----
 */

struct footer {
    const char *next;
    const char *end;
    bool failed;
};

static char peek(const struct footer *footer)
{
    return footer->next < footer->end ? *footer->next : '\0';
}

static bool accept(struct footer *footer, char wanted)
{
    bool found = footer->next < footer->end && *footer->next == wanted;
    footer->next += found;
    return found;
}

static int32_t read_number(struct footer *footer, int32_t least, int32_t most)
{
    int32_t number = 0;
    unsigned digits = 0;
    while (peek(footer) >= '0' && peek(footer) <= '9' && digits < 4) {
        number = number * 10 + (*footer->next++ - '0');
        digits++;
    }
    footer->failed |= digits == 0 || number < least || number > most;
    return number;
}

static void skip_name(struct footer *footer)
{
    bool is_quoted = accept(footer, '<');
    const char *begin = footer->next;
    while (footer->next < footer->end) {
        char at = *footer->next;
        bool is_letter = (at >= 'a' && at <= 'z') || (at >= 'A' && at <= 'Z');
        bool is_other = (at >= '0' && at <= '9') || at == '+' || at == '-';
        if (!is_letter && !(is_quoted && is_other)) {
            break;
        }
        footer->next++;
    }
    footer->failed |= footer->next - begin < 3 || (is_quoted && !accept(footer, '>'));
}

/* [+-]hh[:mm[:ss]] */
static int32_t read_time(struct footer *footer, int32_t hours_most)
{
    bool is_negative = accept(footer, '-');
    if (!is_negative) {
        (void)accept(footer, '+');
    }
    int32_t time_s = read_number(footer, 0, hours_most) * 3600;
    if (accept(footer, ':')) {
        time_s += read_number(footer, 0, 59) * 60;
    }
    if (accept(footer, ':')) {
        time_s += read_number(footer, 0, 59);
    }
    return is_negative ? -time_s : time_s;
}

static struct engine_zone_day read_day(struct footer *footer)
{
    struct engine_zone_day day = {.kind = ENGINE_ZONE_ORDINAL, .time_s = 2 * 3600};
    footer->failed |= !accept(footer, ',');
    if (accept(footer, 'M')) {
        day.kind = ENGINE_ZONE_WEEKDAY;
        day.month = (uint8_t)read_number(footer, 1, 12);
        footer->failed |= !accept(footer, '.');
        day.week = (uint8_t)read_number(footer, 1, 5);
        footer->failed |= !accept(footer, '.');
        day.weekday = (uint8_t)read_number(footer, 0, 6);
    } else if (accept(footer, 'J')) {
        day.kind = ENGINE_ZONE_JULIAN;
        day.day = (uint16_t)read_number(footer, 1, 365);
    } else {
        day.day = (uint16_t)read_number(footer, 0, 365);
    }
    if (accept(footer, '/')) {
        day.time_s = read_time(footer, 167);
    }
    return day;
}

static bool read_footer(struct span text, struct engine_zone *out)
{
    struct footer footer = {(const char *)text.bytes, (const char *)text.bytes + text.count, false};
    skip_name(&footer);
    out->standard_s = -read_time(&footer, 24); /* POSIX counts west of Greenwich */
    if (peek(&footer) != '\0') {
        out->has_rule = true;
        skip_name(&footer);
        out->summer_s = peek(&footer) == ',' ? out->standard_s + 3600 : -read_time(&footer, 24);
        out->summer_begin = read_day(&footer);
        out->summer_end = read_day(&footer);
    }
    return !footer.failed && footer.next == footer.end;
}

static enum result take_footer(struct tzif *file, struct engine_zone *out, const char **reason)
{
    const uint8_t *newline = take(file, 1);
    const uint8_t *end =
        file->left.count == 0 ? NULL : memchr(file->left.bytes, '\n', file->left.count);
    *reason = "its rule for the future is broken";
    if (newline == NULL || *newline != '\n' || end == NULL) {
        return RESULT_INVALID;
    }
    struct span text = span_of(file->left.bytes, (size_t)(end - file->left.bytes));
    if (text.count == 0) {
        return RESULT_OK; /* RFC 8536 §3.3: nothing is known; the last offset stays */
    }
    if (!read_footer(text, out)) {
        return RESULT_INVALID;
    }
    if (!out->has_rule && out->change_count == 0) {
        out->first_offset_s = out->standard_s;
    }
    return RESULT_OK;
}

enum result engine_zone_parse(struct span content, struct arena *arena, struct engine_zone *out,
                              const char **reason)
{
    struct tzif file = {.left = content, .time_bytes = 4};
    *out = (struct engine_zone){0};
    *reason = "it is no TZif file";
    if (!read_header(&file)) {
        return RESULT_INVALID;
    }
    bool has_second = file.version >= '2';
    if (has_second) {
        /* RFC 8536 §3: the first block is for readers that know no 64-bit times. */
        size_t first = block_bytes(&file);
        file.time_bytes = 8;
        *reason = "the file is cut short";
        if (take(&file, first) == NULL || !read_header(&file)) {
            return RESULT_INVALID;
        }
    }
    if (file.leap_count > 0) {
        *reason = "it counts leap seconds";
        return RESULT_INVALID;
    }
    *reason = "its table of changes is broken";
    enum result result = read_block(&file, arena, out);
    return result == RESULT_OK && has_second ? take_footer(&file, out, reason) : result;
}

/* ---- the rule ---- */

static int64_t day_in_year(const struct engine_zone_day *day, int32_t year)
{
    int64_t first = date_to_days((struct date){year, 1, 1});
    bool is_leap = date_days_in_month(year, 2) == 29;
    if (day->kind == ENGINE_ZONE_ORDINAL) {
        return first + day->day;
    }
    if (day->kind == ENGINE_ZONE_JULIAN) {
        return first + day->day - 1 + (is_leap && day->day >= 60);
    }
    int64_t month = date_to_days((struct date){year, day->month, 1});
    unsigned weekday = engine_weekday_of_days(month);
    int64_t at = month + (day->weekday + 7u - weekday) % 7 + (day->week - 1) * 7;
    return at >= month + date_days_in_month(year, day->month) ? at - 7 : at;
}

/* Begin and end of summer time in the year of an instant and its neighbours, in order of time. */
enum { RULE_YEARS = 4, RULE_CHANGES = RULE_YEARS * 2 };

static void list_rule_changes(const struct engine_zone *zone, int64_t unix_s,
                              struct engine_zone_change changes[RULE_CHANGES])
{
    int64_t day = unix_s / DAY_S - (unix_s % DAY_S < 0);
    int32_t year = date_of_days(day).year;
    for (int32_t i = 0; i < RULE_YEARS; i++) {
        int64_t begin = day_in_year(&zone->summer_begin, year - 1 + i) * DAY_S +
                        zone->summer_begin.time_s - zone->standard_s;
        int64_t end = day_in_year(&zone->summer_end, year - 1 + i) * DAY_S +
                      zone->summer_end.time_s - zone->summer_s;
        changes[2 * i] = (struct engine_zone_change){begin, zone->summer_s};
        changes[2 * i + 1] = (struct engine_zone_change){end, zone->standard_s};
    }
    /* Of two at the same instant (all-year summer time), that of the new year comes last and wins.
     */
    for (unsigned i = 1; i < RULE_CHANGES; i++) {
        for (unsigned j = i; j > 0 && changes[j - 1].at_s > changes[j].at_s; j--) {
            struct engine_zone_change swap = changes[j];
            changes[j] = changes[j - 1];
            changes[j - 1] = swap;
        }
    }
}

/* ---- looking up ---- */

static bool is_behind_table(const struct engine_zone *zone, int64_t unix_s)
{
    return zone->change_count == 0 || unix_s >= zone->changes[zone->change_count - 1].at_s;
}

/* How many changes of the table lie at or before an instant. */
static uint32_t count_changes(const struct engine_zone *zone, int64_t unix_s)
{
    uint32_t low = 0;
    uint32_t high = zone->change_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at_s <= unix_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int64_t within_calendar(int64_t unix_s)
{
    int64_t least_s = CALENDAR_LEAST_MS / 1000;
    int64_t most_s = CALENDAR_MOST_MS / 1000;
    return unix_s < least_s ? least_s : unix_s > most_s ? most_s : unix_s;
}

int32_t engine_zone_offset(const struct engine_zone *zone, int64_t unix_s)
{
    if (!zone->has_rule || !is_behind_table(zone, unix_s)) {
        uint32_t passed = count_changes(zone, unix_s);
        return passed == 0 ? zone->first_offset_s : zone->changes[passed - 1].offset_s;
    }
    struct engine_zone_change changes[RULE_CHANGES];
    list_rule_changes(zone, within_calendar(unix_s), changes);
    int32_t offset_s = changes[0].offset_s;
    for (unsigned i = 0; i < RULE_CHANGES && changes[i].at_s <= unix_s; i++) {
        offset_s = changes[i].offset_s;
    }
    return offset_s;
}

bool engine_zone_next_change(const struct engine_zone *zone, int64_t unix_s,
                             struct engine_zone_change *out)
{
    uint32_t passed = count_changes(zone, unix_s);
    if (passed < zone->change_count) {
        *out = zone->changes[passed];
        return true;
    }
    if (!zone->has_rule) {
        return false;
    }
    struct engine_zone_change changes[RULE_CHANGES];
    int32_t offset_s = engine_zone_offset(zone, unix_s);
    list_rule_changes(zone, within_calendar(unix_s), changes);
    /* The last of the list is years away, and what follows at its instant is not in it. */
    for (unsigned i = 0; i + 1 < RULE_CHANGES; i++) {
        bool is_undone = changes[i + 1].at_s == changes[i].at_s;
        if (changes[i].at_s > unix_s && changes[i].offset_s != offset_s && !is_undone) {
            *out = changes[i];
            return true;
        }
    }
    return false;
}

bool engine_zone_name_is_valid(struct span name)
{
    bool after_slash = true;
    for (size_t i = 0; i < name.count; i++) {
        uint8_t at = name.bytes[i];
        bool is_letter = (at >= 'a' && at <= 'z') || (at >= 'A' && at <= 'Z');
        bool is_word = is_letter || (at >= '0' && at <= '9') || at == '_' || at == '+' || at == '-';
        if (!is_word && (at != '/' || after_slash)) {
            return false;
        }
        after_slash = at == '/';
    }
    return name.count > 0 && name.count <= NAME_BYTES_MAX && !after_slash;
}
