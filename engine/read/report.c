/*
 * report.c: what is wrong in a file, collected.
 */
#include <stdarg.h>
#include <stdio.h>

#include "engine/read/read.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"

enum {
    BLOCK_BYTES = 4096,
    MEMORY_BYTES_MAX = 8 << 20,
    MESSAGE_BYTES_MAX = 1024,
    FIRST_CAPACITY = 16,
};

void engine_report_init(struct engine_report *report, struct span file)
{
    *report = (struct engine_report){0};
    arena_init(&report->arena, BLOCK_BYTES, MEMORY_BYTES_MAX);
    report->file = arena_copy(&report->arena, file);
}

void engine_report_release(struct engine_report *report)
{
    arena_release(&report->arena);
    *report = (struct engine_report){0};
}

static bool make_room(struct engine_report *report)
{
    if (report->count < report->capacity) {
        return true;
    }
    uint32_t capacity = report->capacity == 0 ? FIRST_CAPACITY : report->capacity * 2;
    capacity = capacity > LIMIT_PROBLEMS ? LIMIT_PROBLEMS : capacity;
    if (capacity == report->capacity) {
        return false;
    }
    struct engine_problem *grown =
        arena_grow(&report->arena, report->problems, report->capacity * sizeof *grown,
                   capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    report->problems = grown;
    report->capacity = capacity;
    return true;
}

/* A place for one more; when all are taken, an error pushes out the last lesser problem: a refusal
 * always has its reason. */
static struct engine_problem *new_problem(struct engine_report *report,
                                          enum engine_severity severity)
{
    if (make_room(report)) {
        return &report->problems[report->count++];
    }
    report->cut = true;
    for (uint32_t i = report->count; severity == ENGINE_ERROR && i > 0; i--) {
        if (report->problems[i - 1].severity < severity) {
            memmove(&report->problems[i - 1], &report->problems[i],
                    (report->count - i) * sizeof report->problems[0]);
            return &report->problems[report->count - 1];
        }
    }
    return NULL;
}

struct span engine_report_excerpt(struct span text, size_t bytes_max)
{
    if (text.count <= bytes_max) {
        return text;
    }
    size_t count = bytes_max;
    while (count > 0 && (text.bytes[count] & 0xc0u) == 0x80u) {
        count--;
    }
    return span_of(text.bytes, count);
}

/* One line of valid UTF-8, whatever the names in it hold and wherever they were cut. */
static void tidy(char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    }
    size_t at = 0;
    while ((at += text_utf8_valid_count(span_of(text + at, count - at))) < count) {
        text[at++] = '?';
    }
}

void engine_report_add(struct engine_report *report, enum engine_severity severity,
                       const char *rule, struct span element, uint32_t line, uint32_t column,
                       const char *format, ...)
{
    char text[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0 && rule != NULL);
    report->errors += severity == ENGINE_ERROR;
    struct engine_problem *problem = new_problem(report, severity);
    if (problem == NULL) {
        return;
    }
    struct span message = span_of(text, (size_t)length);
    if (message.count >= sizeof text) {
        message.count = sizeof text - 1;
        message = engine_report_excerpt(message, sizeof text - 4);
    }
    tidy(text, message.count);
    *problem = (struct engine_problem){
        .severity = severity,
        .rule = rule,
        .element = arena_copy(&report->arena, element),
        .line = line,
        .column = column,
        .message = arena_copy(&report->arena, message),
    };
}

static const char *severity_name(enum engine_severity severity)
{
    static const char *const names[] = {
        [ENGINE_INFO] = "info", [ENGINE_WARNING] = "warning", [ENGINE_ERROR] = "error"};
    return names[severity];
}

enum { FILE_BYTES_SHOWN = 256 };

void engine_problem_place(const struct engine_report *report, const struct engine_problem *problem,
                          char place[ENGINE_PLACE_MAX])
{
    struct span file = engine_report_excerpt(report->file, FILE_BYTES_SHOWN);
    int length = snprintf(place, ENGINE_PLACE_MAX, "%.*s", SPAN_ARG(file));
    if (problem->line > 0) {
        length += snprintf(place + length, ENGINE_PLACE_MAX - (size_t)length, ":%u", problem->line);
    }
    if (problem->line > 0 && problem->column > 0) {
        length +=
            snprintf(place + length, ENGINE_PLACE_MAX - (size_t)length, ":%u", problem->column);
    }
    ASSERT(length >= 0 && length < ENGINE_PLACE_MAX);
}

/* Longer than any message with its place and rule. */
enum { LINE_BYTES_MAX = MESSAGE_BYTES_MAX + 512 };

static size_t format_line(const struct engine_report *report, const struct engine_problem *problem,
                          char *out)
{
    char place[ENGINE_PLACE_MAX];
    engine_problem_place(report, problem, place);
    int length =
        snprintf(out, LINE_BYTES_MAX, "strider: %s: %s: %.*s [%s]\n", place,
                 severity_name(problem->severity), SPAN_ARG(problem->message), problem->rule);
    ASSERT(length > 0 && length < LINE_BYTES_MAX);
    return (size_t)length;
}

struct span engine_report_text(const struct engine_report *report, enum engine_severity least,
                               struct arena *arena)
{
    uint8_t *text = arena_alloc(arena, 0);
    size_t total = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        if (report->problems[i].severity < least) {
            continue;
        }
        char line[LINE_BYTES_MAX];
        size_t count = format_line(report, &report->problems[i], line);
        uint8_t *grown = arena_grow(arena, text, total, total + count);
        if (grown == NULL) {
            return SPAN_EMPTY;
        }
        memcpy(grown + total, line, count);
        text = grown;
        total += count;
    }
    return span_of(text, total);
}
