/* index_query.c: see index_query.h. */
#include "storage/index_query.h"

#include <string.h>

#include "proto/wire/reader.h"

#define LIMIT_DEFAULT    100
#define LIMIT_MAX        1000
#define CURSOR_SEPARATOR '/'

static enum result read_cursor(struct span text, struct storage_index_query *out);

/* Absent and nil are the same; anything else must be of the right type. */
static bool text_field(struct span query, const char *field, struct span *out)
{
    struct span value = wire_find_text(query, field);
    *out = wire_string_or(value, "");
    return value.count == 0 || wire_is(value, WIRE_NIL) || wire_is(value, WIRE_STRING);
}

/* As the tables write it. */
static bool read_time(struct span text, char out[TEXT_TIME_BYTES + 1])
{
    int64_t unix_ms = 0;
    if (text.count > 0 && text_parse_time(text, &unix_ms) != RESULT_OK) {
        return false;
    }
    if (text.count > 0) {
        text_format_time(unix_ms, out);
    }
    return true;
}

enum result storage_index_query_read(struct span query, struct storage_index_query *out)
{
    static const char *const fields[STORAGE_INDEX_FILTER_COUNT] = {
#define X(field, column) field,
        STORAGE_INDEX_FILTERS(X)
#undef X
    };
    *out = (struct storage_index_query){0};
    struct span since;
    struct span ended_before;
    struct span cursor;
    bool sound = true;
    for (size_t i = 0; i < STORAGE_INDEX_FILTER_COUNT; i++) {
        sound = text_field(query, fields[i], &out->equal[i]) && sound;
    }
    sound = text_field(query, "since", &since) && sound;
    sound = text_field(query, "endedBefore", &ended_before) && sound;
    sound = text_field(query, "cursor", &cursor) && sound;
    int64_t wanted = LIMIT_DEFAULT;
    struct span limit = wire_find_text(query, "limit");
    if (limit.count > 0 && !wire_is(limit, WIRE_NIL)) {
        wanted = wire_int_or(limit, 0);
    }
    if (!sound || wanted < 1 || wanted > LIMIT_MAX) {
        return RESULT_INVALID;
    }
    out->limit = (uint32_t)wanted;
    if (!read_time(since, out->since) || !read_time(ended_before, out->ended_before)) {
        return RESULT_INVALID;
    }
    return cursor.count > 0 ? read_cursor(cursor, out) : RESULT_OK;
}

/* "startedAt/executionId" of the last row of the page before. */
static enum result read_cursor(struct span text, struct storage_index_query *out)
{
    const uint8_t *separator = memchr(text.bytes, CURSOR_SEPARATOR, text.count);
    if (separator == NULL) {
        return RESULT_INVALID;
    }
    size_t start_count = (size_t)(separator - text.bytes);
    out->before_start = span_of(text.bytes, start_count);
    out->before_id = span_of(separator + 1, text.count - start_count - 1);
    int64_t unix_ms;
    bool sound = out->before_id.count > 0 &&
                 (start_count == 0 || text_parse_time(out->before_start, &unix_ms) == RESULT_OK);
    return sound ? RESULT_OK : RESULT_INVALID;
}

struct span storage_index_cursor(struct arena *arena, struct span start, struct span id)
{
    return arena_format(arena, "%.*s%c%.*s", SPAN_ARG(start), CURSOR_SEPARATOR, SPAN_ARG(id));
}
