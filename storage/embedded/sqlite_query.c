/* sqlite_query.c: what the index can be asked: one row, a page of rows, the logs of one execution.
 */
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "storage/embedded/sqlite_index.h"

#define LIST_LIMIT_DEFAULT 100
#define LIST_LIMIT_MAX     1000
#define ROW_BYTES_GUESS    1024u
#define CURSOR_SEPARATOR   '/'

struct column {
    const char *field;
    enum storage_column_kind kind;
};

static const struct column audit_fields[STORAGE_AUDIT_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) {field, STORAGE_COLUMN_##kind},
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

static const struct column log_fields[STORAGE_LOG_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) {field, STORAGE_COLUMN_##kind},
    STORAGE_LOG_COLUMNS(X)
#undef X
};

/* Filters of a list that are equal or not. */
static const struct {
    const char *field;
    const char *condition;
} filters[] = {
    {"status", " AND Status=?"},       {"lifecycle", " AND Lifecycle=?"},
    {"process", " AND Process=?"},     {"workspaceId", " AND WorkspaceId=?"},
    {"projectId", " AND ProjectId=?"},
};
#define FILTER_COUNT (sizeof filters / sizeof filters[0])

struct list_query {
    struct span equal[FILTER_COUNT]; /* empty: any */
    char since[TEXT_TIME_BYTES + 1]; /* "": any */
    struct span before_start;        /* cursor; empty id: from the newest */
    struct span before_id;
    int64_t limit;
};

static enum result read_query(struct span query, struct list_query *out);
static enum result read_cursor(struct span text, struct list_query *out);
static int prepare_list(struct storage_sqlite *self, const struct list_query *query,
                        sqlite3_stmt **out);
static void write_cursor(struct wire_writer *writer, struct arena *arena, struct span start,
                         struct span id);
static void write_map(struct wire_writer *writer, sqlite3_stmt *statement,
                      const struct column *fields, int count, struct arena *arena);
static void write_column(struct wire_writer *writer, sqlite3_stmt *statement, int at,
                         enum storage_column_kind kind, struct arena *arena);
static struct span column_text(sqlite3_stmt *statement, int at);

enum result storage_sqlite_row(struct storage_index *index, struct span execution_id,
                               struct arena *arena, struct span *out)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    storage_sqlite_bind_text(self->select_row, 1, execution_id);
    int code = sqlite3_step(self->select_row);
    enum result result = code == SQLITE_DONE ? RESULT_NOT_FOUND : storage_sqlite_result(self, code);
    if (result == RESULT_OK) {
        struct wire_writer writer;
        wire_writer_init(&writer, arena, ROW_BYTES_GUESS);
        write_map(&writer, self->select_row, audit_fields, STORAGE_AUDIT_COLUMN_COUNT, arena);
        *out = wire_writer_span(&writer);
        result = arena->overflowed ? RESULT_LIMIT : RESULT_OK;
    }
    sqlite3_reset(self->select_row);
    return result;
}

enum result storage_sqlite_list(struct storage_index *index, struct span query, struct arena *arena,
                                struct span *out)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    struct list_query wanted;
    enum result result = read_query(query, &wanted);
    if (result != RESULT_OK) {
        return result;
    }
    sqlite3_stmt *statement = NULL;
    int code = prepare_list(self, &wanted, &statement);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, ROW_BYTES_GUESS * 4);
    wire_write_map(&writer, 2);
    wire_write_text(&writer, "executions");
    size_t mark = wire_open_array(&writer);
    uint32_t count = 0;
    struct span last_start = {0};
    struct span last_id = {0};
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    /* One more row than asked for is selected: it only says that there is a next page. */
    while (code == SQLITE_ROW && count < wanted.limit && !arena->overflowed) {
        write_map(&writer, statement, audit_fields, STORAGE_AUDIT_COLUMN_COUNT, arena);
        if (++count == wanted.limit) {
            last_start = arena_copy(arena, column_text(statement, STORAGE_AUDIT_STARTED_AT));
            last_id = arena_copy(arena, column_text(statement, STORAGE_AUDIT_EXECUTION_ID));
        }
        code = sqlite3_step(statement);
    }
    wire_close_array(&writer, mark, count);
    wire_write_text(&writer, "cursor");
    if (code == SQLITE_ROW) {
        write_cursor(&writer, arena, last_start, last_id);
    } else {
        wire_write_nil(&writer);
    }
    sqlite3_finalize(statement);
    *out = wire_writer_span(&writer);
    return arena->overflowed ? RESULT_LIMIT : storage_sqlite_result(self, code);
}

enum result storage_sqlite_logs(struct storage_index *index, struct span execution_id,
                                uint64_t first_index, uint32_t limit, struct arena *arena,
                                struct span *out)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    storage_sqlite_bind_text(self->select_logs, 1, execution_id);
    sqlite3_bind_int64(self->select_logs, 2,
                       first_index > INT64_MAX ? INT64_MAX : (sqlite3_int64)first_index);
    sqlite3_bind_int64(self->select_logs, 3, limit);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, ROW_BYTES_GUESS * 4);
    size_t mark = wire_open_array(&writer);
    uint32_t count = 0;
    int code = sqlite3_step(self->select_logs);
    while (code == SQLITE_ROW && !arena->overflowed) {
        write_map(&writer, self->select_logs, log_fields, STORAGE_LOG_COLUMN_COUNT, arena);
        count++;
        code = sqlite3_step(self->select_logs);
    }
    wire_close_array(&writer, mark, count);
    sqlite3_reset(self->select_logs);
    *out = wire_writer_span(&writer);
    return arena->overflowed ? RESULT_LIMIT : storage_sqlite_result(self, code);
}

/* Absent and nil are the same; anything else must be of the right type. */
static bool text_field(struct span query, const char *field, struct span *out)
{
    struct span value = wire_find_text(query, field);
    *out = wire_string_or(value, "");
    return value.count == 0 || wire_is(value, WIRE_NIL) || wire_is(value, WIRE_STRING);
}

static enum result read_query(struct span query, struct list_query *out)
{
    *out = (struct list_query){.limit = LIST_LIMIT_DEFAULT};
    struct span since;
    struct span cursor;
    bool sound = true;
    for (size_t i = 0; i < FILTER_COUNT; i++) {
        sound = text_field(query, filters[i].field, &out->equal[i]) && sound;
    }
    sound = text_field(query, "since", &since) && sound;
    sound = text_field(query, "cursor", &cursor) && sound;
    struct span limit = wire_find_text(query, "limit");
    if (limit.count > 0 && !wire_is(limit, WIRE_NIL)) {
        out->limit = wire_int_or(limit, 0);
    }
    if (!sound || out->limit < 1 || out->limit > LIST_LIMIT_MAX) {
        return RESULT_INVALID;
    }
    if (since.count > 0) {
        int64_t unix_ms = 0;
        if (text_parse_time(since, &unix_ms) != RESULT_OK) {
            return RESULT_INVALID;
        }
        text_format_time(unix_ms, out->since);
    }
    return cursor.count > 0 ? read_cursor(cursor, out) : RESULT_OK;
}

/* "startedAt/executionId" of the last row of the page before. */
static enum result read_cursor(struct span text, struct list_query *out)
{
    const uint8_t *separator = memchr(text.bytes, CURSOR_SEPARATOR, text.count);
    if (separator == NULL) {
        return RESULT_INVALID;
    }
    size_t start_count = (size_t)(separator - text.bytes);
    out->before_start = span_of(text.bytes, start_count);
    out->before_id = span_of(separator + 1, text.count - start_count - 1);
    return out->before_id.count > 0 ? RESULT_OK : RESULT_INVALID;
}

static void write_cursor(struct wire_writer *writer, struct arena *arena, struct span start,
                         struct span id)
{
    wire_write_string(
        writer, arena_format(arena, "%.*s%c%.*s", SPAN_ARG(start), CURSOR_SEPARATOR, SPAN_ARG(id)));
}

static int prepare_list(struct storage_sqlite *self, const struct list_query *query,
                        sqlite3_stmt **out)
{
    sqlite3_str *text = sqlite3_str_new(self->database);
    sqlite3_str_appendf(text, "SELECT %s FROM ExecutionAudits WHERE 1",
                        storage_sqlite_audit_columns);
    for (size_t i = 0; i < FILTER_COUNT; i++) {
        sqlite3_str_appendall(text, query->equal[i].count > 0 ? filters[i].condition : "");
    }
    sqlite3_str_appendall(text, query->since[0] != '\0' ? " AND StartedAt>=?" : "");
    sqlite3_str_appendall(text,
                          query->before_id.count > 0 ? " AND (StartedAt,ExecutionId)<(?,?)" : "");
    sqlite3_str_appendall(text, " ORDER BY StartedAt DESC,ExecutionId DESC LIMIT ?");
    char *sql = sqlite3_str_finish(text);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(self->database, sql, -1, out, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) {
        return code;
    }
    int place = 1;
    for (size_t i = 0; i < FILTER_COUNT; i++) {
        if (query->equal[i].count > 0) {
            storage_sqlite_bind_text(*out, place++, query->equal[i]);
        }
    }
    if (query->since[0] != '\0') {
        storage_sqlite_bind_text(*out, place++, span_text(query->since));
    }
    if (query->before_id.count > 0) {
        storage_sqlite_bind_text(*out, place++, query->before_start);
        storage_sqlite_bind_text(*out, place++, query->before_id);
    }
    return sqlite3_bind_int64(*out, place, query->limit + 1);
}

static void write_map(struct wire_writer *writer, sqlite3_stmt *statement,
                      const struct column *fields, int count, struct arena *arena)
{
    wire_write_map(writer, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        wire_write_text(writer, fields[i].field);
        write_column(writer, statement, i, fields[i].kind, arena);
    }
}

static void write_column(struct wire_writer *writer, sqlite3_stmt *statement, int at,
                         enum storage_column_kind kind, struct arena *arena)
{
    int type = sqlite3_column_type(statement, at);
    struct span value = {0};
    struct json_error error;
    if (type == SQLITE_NULL) {
        wire_write_nil(writer);
    } else if (type == SQLITE_FLOAT) {
        wire_write_float(writer, sqlite3_column_double(statement, at));
    } else if (type == SQLITE_INTEGER && kind == STORAGE_COLUMN_BOOLEAN) {
        wire_write_bool(writer, sqlite3_column_int(statement, at) != 0);
    } else if (type == SQLITE_INTEGER) {
        wire_write_int(writer, sqlite3_column_int64(statement, at));
    } else if (kind == STORAGE_COLUMN_JSON && json_to_wire(column_text(statement, at), LIMIT_DEPTH,
                                                           arena, &value, &error) == RESULT_OK) {
        wire_write_value(writer, value);
    } else {
        wire_write_string(writer, column_text(statement, at));
    }
}

static struct span column_text(sqlite3_stmt *statement, int at)
{
    const unsigned char *text = sqlite3_column_text(statement, at);
    return span_of(text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, at));
}
