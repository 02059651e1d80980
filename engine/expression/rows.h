/*
 * rows.h: tables of expressions for the tests of this folder. A row says what comes of a source
 * text in a context:
 *
 *     42                        its value, as JSON
 *     null @2 unknown name "x"  null, with the warning at byte 2
 *     invalid @2 message        refused by compile (also: unsupported, limit)
 *     fails @2 message          refused by evaluate (also: exceeds, for RESULT_LIMIT)
 */
#ifndef ENGINE_EXPRESSION_ROWS_H
#define ENGINE_EXPRESSION_ROWS_H

#include <stdio.h>

#include "engine/expression/expression.h"
#include "engine/time/zone.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define ROWS_ARENA_BYTES (64u << 20)

struct row {
    const char *source;
    const char *context; /* JSON map of the names; NULL: none */
    const char *expected;
};

struct row_names {
    struct engine_names names;
    struct span map;
};

static struct span row_find(const struct engine_names *names, struct span name)
{
    return wire_find(((const struct row_names *)(const void *)names)->map, name);
}

/* "Test/Summer": UTC+1, and +2 from March's to October's last Sunday, as in Paris. No other zone.
 */
static const struct engine_zone *row_zone(const struct engine_names *names, struct span name,
                                          struct arena *arena)
{
    static const struct engine_zone summer = {
        .first_offset_s = 3600,
        .has_rule = true,
        .standard_s = 3600,
        .summer_s = 7200,
        .summer_begin = {.kind = ENGINE_ZONE_WEEKDAY, .month = 3, .week = 5, .time_s = 7200},
        .summer_end = {.kind = ENGINE_ZONE_WEEKDAY, .month = 10, .week = 5, .time_s = 10800},
    };
    (void)names;
    (void)arena;
    return span_is(name, "Test/Summer") ? &summer : NULL;
}

/* 2024-02-29T12:34:56.789Z */
static bool row_clock(const struct engine_names *names, int64_t *unix_ms)
{
    (void)names;
    *unix_ms = 1709210096789;
    return true;
}

/* What comes of it, in the notation above; lives in the arena. */
static inline struct span row_outcome(struct span source, enum engine_dialect dialect,
                                      struct span context, struct arena *arena)
{
    struct row_names names = {.names = {.find = row_find, .zone = row_zone, .clock = row_clock},
                              .map = context};
    const struct engine_expression *expression;
    struct engine_expression_error error;
    struct engine_evaluation evaluation;
    struct span json;
    enum result result = engine_expression_compile(source, dialect, arena, &expression, &error);
    if (result != RESULT_OK) {
        ASSERT(expression == NULL && error.message != NULL);
        const char *kind = result == RESULT_LIMIT         ? "limit"
                           : result == RESULT_UNSUPPORTED ? "unsupported"
                                                          : "invalid";
        return arena_format(arena, "%s @%u %s", kind, error.offset, error.message);
    }
    result = engine_expression_evaluate(expression, &names.names, arena, &evaluation);
    if (result != RESULT_OK) {
        ASSERT(evaluation.value.count == 0 && evaluation.error.message != NULL);
        ASSERT(result == RESULT_INVALID || result == RESULT_LIMIT);
        return arena_format(arena, "%s @%u %s", result == RESULT_LIMIT ? "exceeds" : "fails",
                            evaluation.error.offset, evaluation.error.message);
    }
    result = json_from_wire(evaluation.value, JSON_COMPACT, arena, &json);
    ASSERT(result == RESULT_OK);
    if (evaluation.error.message == NULL) {
        return json;
    }
    ASSERT(span_is(json, "null")); /* a value comes without a warning */
    return arena_format(arena, "null @%u %s", evaluation.error.offset, evaluation.error.message);
}

/* Empty when every row comes out as expected, else what did not. One at a time. */
static inline const char *rows_report(const struct row *rows, size_t count,
                                      enum engine_dialect dialect)
{
    static char report[8192];
    size_t reported = 0;
    struct arena arena;
    ASSERT(count > 0);
    report[0] = '\0';
    arena_init(&arena, 64u << 10, ROWS_ARENA_BYTES);
    for (size_t i = 0; i < count && reported < sizeof report; i++) {
        struct json_error json_error;
        struct span context;
        arena_clear(&arena);
        enum result result =
            json_to_wire(span_text(rows[i].context == NULL ? "{}" : rows[i].context), LIMIT_DEPTH,
                         &arena, &context, &json_error);
        ASSERT(result == RESULT_OK);
        struct span outcome = row_outcome(span_text(rows[i].source), dialect, context, &arena);
        ASSERT(!arena.overflowed);
        if (!span_is(outcome, rows[i].expected)) {
            reported += (size_t)snprintf(report + reported, sizeof report - reported,
                                         "\nrow %zu: %s\n  gives    %.*s\n  expected %s", i,
                                         rows[i].source, SPAN_ARG(outcome), rows[i].expected);
        }
    }
    arena_release(&arena);
    return report;
}

/* In a Criterion test. */
#define ROWS_CHECK(rows, dialect)                                                                  \
    do {                                                                                           \
        const char *report = rows_report(rows, sizeof(rows) / sizeof *(rows), dialect);            \
        cr_assert(report[0] == '\0', "%s", report);                                                \
    } while (0)

#endif
