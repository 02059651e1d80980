/*
 * logs.c: the writer behind log_line. A line is built on the caller's stack and leaves by one
 * write(2), so lines of several threads never mix and no lock is needed. The format is set once,
 * before any thread starts.
 */
#include "tools/strider/logs.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "proto/base/text.h"

static const char *const level_names[] = {
    [LOG_DEBUG] = "DEBUG", [LOG_INFO] = "INFO",         [LOG_WARN] = "WARN",
    [LOG_ERROR] = "ERROR", [LOG_CRITICAL] = "CRITICAL",
};

static enum logs_format chosen = LOGS_JSON;

/* A line being built; what does not fit is left out, room for the closing bytes is kept. */
struct line {
    char *bytes;
    size_t count;
};

#define LINE_TAIL_BYTES 4u /* closing quote, brace, newline */

static void put(struct line *line, char byte)
{
    if (line->count < LOGS_LINE_BYTES - LINE_TAIL_BYTES) {
        line->bytes[line->count++] = byte;
    }
}

static void put_text(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        put(line, *text);
    }
}

/* All of the bytes or none: half of an escape or of a character would spoil the line. */
static void put_whole(struct line *line, const void *bytes, size_t count)
{
    if (line->count + count <= LOGS_LINE_BYTES - LINE_TAIL_BYTES) {
        memcpy(line->bytes + line->count, bytes, count);
        line->count += count;
    }
}

static void put_json(struct line *line, struct span text)
{
    const uint8_t *end = text.bytes + text.count;
    put(line, '"');
    for (const uint8_t *next = text.bytes; next < end;) {
        char escape[8];
        size_t count = text_utf8_sequence(next, end);
        if (count == 0) {
            put(line, '?'); /* a character that a cut line holds half of */
            count = 1;
        } else if (*next == '"' || *next == '\\') {
            put_whole(line, (char[]){'\\', (char)*next}, 2);
        } else if (*next < 0x20) {
            put_whole(line, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", *next));
        } else {
            put_whole(line, next, count);
        }
        next += count;
    }
    line->bytes[line->count++] = '"';
}

/* The next "name=value" of the fields; a value in double quotes may hold white space. */
static bool next_field(struct span *fields, struct span *name, struct span *value)
{
    const uint8_t *next = fields->bytes;
    const uint8_t *end = next + fields->count;
    while (next < end && *next == ' ') {
        next++;
    }
    const uint8_t *begin = next;
    while (next < end && *next != '=' && *next != ' ') {
        next++;
    }
    *name = span_of(begin, (size_t)(next - begin));
    *value = SPAN_EMPTY;
    if (next < end && *next == '=') {
        bool quoted = ++next < end && *next == '"';
        next += quoted;
        begin = next;
        while (next < end && *next != (quoted ? '"' : ' ')) {
            next++;
        }
        *value = span_of(begin, (size_t)(next - begin));
        next += quoted && next < end;
    }
    *fields = span_of(next, (size_t)(end - next));
    return name->count > 0;
}

/* Is it a number that JSON takes as it stands? Leading zeroes mean an id, and so does great length.
 */
static bool is_number(struct span text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            return false;
        }
        digits++;
    }
    return digits > 0 && digits <= 15 && (digits == 1 || text.bytes[0] != '0');
}

static void build_json(struct line *line, enum log_level level, const char *id, struct span fields,
                       const char *at)
{
    put_text(line, "{\"at\":\"");
    put_text(line, at);
    put_text(line, "\",\"level\":\"");
    put_text(line, level_names[level]);
    put_text(line, "\",\"id\":\"");
    put_text(line, id);
    put(line, '"');
    struct span name;
    struct span value;
    while (next_field(&fields, &name, &value)) {
        if (line->count + 2 * (name.count + value.count) + 8 > LOGS_LINE_BYTES) {
            break; /* a whole object is worth more than its last field */
        }
        put(line, ',');
        put_json(line, name);
        put(line, ':');
        if (is_number(value)) {
            for (size_t i = 0; i < value.count; i++) {
                put(line, (char)value.bytes[i]);
            }
        } else {
            put_json(line, value);
        }
    }
    line->bytes[line->count++] = '}';
}

static void build_text(struct line *line, enum log_level level, const char *id, struct span fields,
                       const char *at)
{
    put_text(line, at + sizeof("2026-11-30T") - 1); /* the day is known to who watches a terminal */
    line->count -= 1;                               /* and so is the zone */
    put(line, ' ');
    put_text(line, level_names[level]);
    put_text(line, "     " + (strlen(level_names[level]) < 5 ? strlen(level_names[level]) - 1 : 4));
    put_text(line, id);
    put(line, ' ');
    for (size_t i = 0; i < fields.count; i++) {
        put(line, fields.bytes[i] < 0x20 ? ' ' : (char)fields.bytes[i]);
    }
}

size_t logs_format_line(char out[LOGS_LINE_BYTES], enum logs_format format, enum log_level level,
                        const char *id, struct span fields, int64_t unix_ms)
{
    ASSERT(format != LOGS_AUTO);
    struct line line = {.bytes = out};
    char at[TEXT_TIME_BYTES + 1];
    text_format_time(unix_ms, at);
    if (format == LOGS_JSON) {
        build_json(&line, level, id, fields, at);
    } else {
        build_text(&line, level, id, fields, at);
    }
    line.bytes[line.count++] = '\n';
    ASSERT(line.count <= LOGS_LINE_BYTES);
    return line.count;
}

static void write_line(enum log_level level, const char *id, struct span fields)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char bytes[LOGS_LINE_BYTES];
    size_t count = logs_format_line(bytes, chosen, level, id, fields,
                                    (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    /* A log that cannot be written has no better place to say so. */
    ssize_t written = write(STDERR_FILENO, bytes, count);
    (void)written;
}

void logs_open(enum log_level least, enum logs_format format)
{
    chosen = format;
    if (format == LOGS_AUTO) {
        chosen = isatty(STDERR_FILENO) ? LOGS_TEXT : LOGS_JSON;
    }
    log_set_writer(write_line, least);
}
