/* sqlite_query.c: what the index can be asked: one row, a page of rows, the logs of one execution.
 */

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"
#include "storage/embedded/sqlite_index.h"
#include "storage/index_query.h"

#define ROW_BYTES_GUESS 1024u

static int prepare_list(struct storage_sqlite *self, const struct storage_index_query *query,
                        sqlite3_stmt **out);
static void write_map(struct wire_writer *writer, sqlite3_stmt *statement,
                      const struct storage_column *fields, int count, struct arena *arena);
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
        write_map(&writer, self->select_row, storage_audit_columns, STORAGE_AUDIT_COLUMN_COUNT,
                  arena);
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
    struct storage_index_query wanted;
    enum result result = storage_index_query_read(query, &wanted);
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
        write_map(&writer, statement, storage_audit_columns, STORAGE_AUDIT_COLUMN_COUNT, arena);
        if (++count == wanted.limit) {
            last_start = arena_copy(arena, column_text(statement, STORAGE_AUDIT_STARTED_AT));
            last_id = arena_copy(arena, column_text(statement, STORAGE_AUDIT_EXECUTION_ID));
        }
        code = sqlite3_step(statement);
    }
    wire_close_array(&writer, mark, count);
    wire_write_text(&writer, "cursor");
    if (code == SQLITE_ROW) {
        wire_write_string(&writer, storage_index_cursor(arena, last_start, last_id));
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
        write_map(&writer, self->select_logs, storage_log_columns, STORAGE_LOG_COLUMN_COUNT, arena);
        count++;
        code = sqlite3_step(self->select_logs);
    }
    wire_close_array(&writer, mark, count);
    sqlite3_reset(self->select_logs);
    *out = wire_writer_span(&writer);
    return arena->overflowed ? RESULT_LIMIT : storage_sqlite_result(self, code);
}

static int prepare_list(struct storage_sqlite *self, const struct storage_index_query *query,
                        sqlite3_stmt **out)
{
    static const char *const conditions[STORAGE_INDEX_FILTER_COUNT] = {
#define X(field, column) " AND " #column "=?",
        STORAGE_INDEX_FILTERS(X)
#undef X
    };
    sqlite3_str *text = sqlite3_str_new(self->database);
    sqlite3_str_appendf(text, "SELECT %s FROM ExecutionAudits WHERE 1",
                        storage_sqlite_audit_columns);
    for (size_t i = 0; i < STORAGE_INDEX_FILTER_COUNT; i++) {
        sqlite3_str_appendall(text, query->equal[i].count > 0 ? conditions[i] : "");
    }
    sqlite3_str_appendall(text, query->since[0] != '\0' ? " AND StartedAt>=?" : "");
    sqlite3_str_appendall(text, query->ended_before[0] != '\0' ? " AND EndedAt<?" : "");
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
    for (size_t i = 0; i < STORAGE_INDEX_FILTER_COUNT; i++) {
        if (query->equal[i].count > 0) {
            storage_sqlite_bind_text(*out, place++, query->equal[i]);
        }
    }
    if (query->since[0] != '\0') {
        storage_sqlite_bind_text(*out, place++, span_text(query->since));
    }
    if (query->ended_before[0] != '\0') {
        storage_sqlite_bind_text(*out, place++, span_text(query->ended_before));
    }
    if (query->before_id.count > 0) {
        storage_sqlite_bind_text(*out, place++, query->before_start);
        storage_sqlite_bind_text(*out, place++, query->before_id);
    }
    return sqlite3_bind_int64(*out, place, query->limit + 1);
}

static void write_map(struct wire_writer *writer, sqlite3_stmt *statement,
                      const struct storage_column *fields, int count, struct arena *arena)
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
    } else if (type == SQLITE_INTEGER || kind == STORAGE_COLUMN_INTEGER) {
        /* (A table that was made when State was a TEXT column keeps digits in it.) */
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
