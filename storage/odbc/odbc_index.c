/* odbc_index.c: see odbc.h. Each call is one transaction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "storage/audit_message.h"
#include "storage/odbc/bulk.h"
#include "storage/odbc/odbc.h"

#define ODBC_MAGIC      0x4342444fu
#define SCHEMA_VERSION  1
#define ID_VERSION      0
#define ID_POSITION     1
#define ARENA_BLOCK     (64u << 10)
#define ARENA_BYTES_MAX (256u << 20)
#define ROW_BYTES_GUESS 1024u
#define RETRY_MS_FIRST  250u
#define RETRY_MS_MAX    5000u

struct odbc_index {
    struct storage_index index; /* first: the port points here */
    uint32_t magic;
    char *connection;
    uint32_t timeout_s;
    struct storage_odbc_session session;
    struct storage_odbc_bulk audits;
    struct storage_odbc_bulk logs;
    struct storage_odbc_statement set_position;
    bool may_be_away;
    bool told_down;     /* since the connection was last up */
    uint64_t retry_ms;  /* monotonic; calls fail at once before it */
    uint32_t failures;  /* of connecting, in a row */
    struct arena arena; /* of one call */
};

static const struct storage_index_ops index_ops;

static enum result connect_now(struct odbc_index *self, char *reason);
static void connect_failed(struct odbc_index *self, const char *reason);
static void disconnect(struct odbc_index *self);
static enum result make_tables(struct odbc_index *self, char *reason);
static enum result read_number(struct odbc_index *self, int64_t id, int64_t *out);
static enum result apply_all(struct odbc_index *self, const struct span *messages, size_t count,
                             uint64_t position);

enum result storage_odbc_index_open(const struct storage_odbc_options *options,
                                    struct storage_index **out,
                                    char reason[STORAGE_ODBC_REASON_BYTES])
{
    struct odbc_index *self = calloc(1, sizeof *self);
    char *connection = strdup(options->connection);
    if (self == NULL || connection == NULL) {
        free(connection);
        free(self);
        return RESULT_LIMIT;
    }
    self->index.ops = &index_ops;
    self->magic = ODBC_MAGIC;
    self->connection = connection;
    self->timeout_s = options->timeout_s;
    self->may_be_away = options->may_be_away;
    arena_init(&self->arena, ARENA_BLOCK, ARENA_BYTES_MAX);
    enum result result = connect_now(self, reason);
    bool away = result == RESULT_IO || result == RESULT_DENIED || result == RESULT_TIMEOUT;
    if (result != RESULT_OK && !(away && self->may_be_away)) {
        index_ops.close(&self->index);
        return result;
    }
    if (result != RESULT_OK) {
        connect_failed(self, reason);
    }
    *out = &self->index;
    return RESULT_OK;
}

static struct odbc_index *index_cast(struct storage_index *index)
{
    struct odbc_index *self = (struct odbc_index *)index;
    ASSERT(self->magic == ODBC_MAGIC);
    return self;
}

static void index_close(struct storage_index *index)
{
    struct odbc_index *self = index_cast(index);
    disconnect(self);
    arena_release(&self->arena);
    explicit_bzero(self->connection, strlen(self->connection));
    free(self->connection);
    self->magic = 0;
    free(self);
}

static void disconnect(struct odbc_index *self)
{
    storage_odbc_bulk_release(&self->audits);
    storage_odbc_bulk_release(&self->logs);
    storage_odbc_release(&self->set_position);
    storage_odbc_disconnect(&self->session);
}

static enum result prepare_all(struct odbc_index *self)
{
    enum result result =
        storage_odbc_bulk_prepare(&self->session, STORAGE_ODBC_AUDITS, &self->arena, &self->audits);
    if (result == RESULT_OK) {
        result =
            storage_odbc_bulk_prepare(&self->session, STORAGE_ODBC_LOGS, &self->arena, &self->logs);
    }
    if (result == RESULT_OK) {
        result = storage_odbc_prepare(
            &self->session, "UPDATE IndexPosition SET Position=? WHERE Id=?", &self->set_position);
    }
    return result;
}

static enum result connect_now(struct odbc_index *self, char *reason)
{
    int64_t version = 0;
    reason[0] = '\0';
    enum result result =
        storage_odbc_connect(&self->session, self->connection, self->timeout_s, reason);
    if (result != RESULT_OK) {
        return result;
    }
    result = read_number(self, ID_VERSION, &version);
    if (result == RESULT_NOT_FOUND) {
        result = make_tables(self, reason);
        version = SCHEMA_VERSION;
    }
    if (result == RESULT_OK && version > SCHEMA_VERSION) {
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "the tables are of a later version (%lld)",
                 (long long)version);
        result = RESULT_UNSUPPORTED;
    }
    if (result == RESULT_OK) {
        result = prepare_all(self);
    }
    if (result == RESULT_OK) {
        result = storage_odbc_commit(&self->session);
    }
    if (result != RESULT_OK && reason[0] == '\0') {
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "the tables cannot be used: %s",
                 result_text(result));
    }
    if (result != RESULT_OK) {
        disconnect(self);
    }
    arena_clear(&self->arena);
    return result;
}

/* One statement without parameters that returns nothing. */
static enum result run_text(struct odbc_index *self, const char *text)
{
    struct storage_odbc_statement statement;
    enum result result = storage_odbc_prepare(&self->session, text, &statement);
    if (result == RESULT_OK) {
        result = storage_odbc_run(&statement);
    }
    storage_odbc_release(&statement);
    return result;
}

/*
 * What is there already was made by another engine at the same moment, or before a crash halfway,
 * as only PostgreSQL makes tables in a transaction. (There an error ends that, and the whole.)
 */
static enum result make_tables(struct odbc_index *self, char *reason)
{
    int64_t version = 0;
    storage_odbc_rollback(&self->session);
    enum result result = RESULT_OK;
    bool whole = self->session.flavour == STORAGE_ODBC_POSTGRESQL;
    for (size_t i = 0; result == RESULT_OK; i++) {
        const char *text = storage_odbc_schema(self->session.flavour, i, &self->arena);
        if (text == NULL) {
            break;
        }
        result = run_text(self, text);
        result = result == RESULT_EXISTS && !whole ? RESULT_OK : result;
    }
    if (result == RESULT_OK) {
        result = self->arena.overflowed ? RESULT_LIMIT : storage_odbc_commit(&self->session);
    }
    if (result == RESULT_EXISTS) {
        storage_odbc_rollback(&self->session);
        result = RESULT_OK;
    }
    if (result == RESULT_OK) {
        result = read_number(self, ID_VERSION, &version);
    }
    if (result != RESULT_OK) {
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "the tables cannot be made: %s",
                 result_text(result));
    }
    return result;
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* One line until it is up again; then a pause that doubles. */
static void connect_failed(struct odbc_index *self, const char *reason)
{
    if (!self->told_down) {
        log_line(LOG_WARN, "STORAGE-ODBC-DOWN", "reason=\"%s\"", reason);
    }
    self->told_down = true;
    if (self->may_be_away) {
        uint64_t pause_ms = (uint64_t)RETRY_MS_FIRST << (self->failures < 10 ? self->failures : 10);
        self->retry_ms = monotonic_ms() + (pause_ms < RETRY_MS_MAX ? pause_ms : RETRY_MS_MAX);
        self->failures++;
    }
}

/* A call's beginning: connected, or connected again. */
static enum result begin(struct odbc_index *self)
{
    if (self->session.connected) {
        return RESULT_OK;
    }
    if (self->retry_ms != 0 && monotonic_ms() < self->retry_ms) {
        return RESULT_IO;
    }
    char reason[STORAGE_ODBC_REASON_BYTES];
    disconnect(self);
    enum result result = connect_now(self, reason);
    if (result != RESULT_OK) {
        connect_failed(self, reason);
        /* (What does not exist here is no answer to whoever asked for a row.) */
        return result == RESULT_NOT_FOUND ? RESULT_IO : result;
    }
    log_line(LOG_INFO, "STORAGE-ODBC-UP", "again=1");
    self->told_down = false;
    self->failures = 0;
    self->retry_ms = 0;
    return RESULT_OK;
}

/* A call's end: all or nothing. */
static enum result end(struct odbc_index *self, enum result result)
{
    bool sound = result == RESULT_OK || result == RESULT_NOT_FOUND;
    if (sound) {
        enum result committed = storage_odbc_commit(&self->session);
        result = committed == RESULT_OK ? result : committed;
    } else if (self->session.connected) {
        storage_odbc_rollback(&self->session);
    }
    arena_clear(&self->arena);
    return result;
}

/* ---- writing ---- */

/* Without NUL bytes, which no database keeps in a text. */
static struct span clean_text(struct arena *arena, struct span text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    if (text.count == 0 || memchr(text.bytes, 0, text.count) == NULL) {
        return text;
    }
    uint8_t *out = arena_alloc(arena, text.count * 3);
    size_t count = 0;
    for (size_t i = 0; out != NULL && i < text.count; i++) {
        if (text.bytes[i] == 0) {
            memcpy(out + count, replacement, 3);
            count += 3;
        } else {
            out[count++] = text.bytes[i];
        }
    }
    return span_of(out, count);
}

/* A value as its column's kind, NULL for one of another. */
static enum result add_value(struct storage_odbc_bulk *bulk, enum storage_column_kind kind,
                             struct span value, struct arena *arena)
{
    struct wire_value head = wire_head(value);
    struct span text = SPAN_EMPTY;
    enum result result = RESULT_OK;
    bool is_text = kind == STORAGE_COLUMN_TEXT || kind == STORAGE_COLUMN_JSON;
    bool scalar = head.type == WIRE_INT || head.type == WIRE_DECIMAL || head.type == WIRE_FLOAT;
    if (value.count == 0 || head.type == WIRE_NIL) {
        storage_odbc_bulk_null(bulk, is_text);
    } else if (kind == STORAGE_COLUMN_TEXT && head.type == WIRE_STRING) {
        storage_odbc_bulk_text(bulk, clean_text(arena, head.as.text));
    } else if (kind == STORAGE_COLUMN_JSON || (kind == STORAGE_COLUMN_TEXT && scalar)) {
        result = json_from_wire(value, JSON_COMPACT, arena, &text);
        storage_odbc_bulk_text(bulk, text);
    } else if (kind == STORAGE_COLUMN_INTEGER && head.type == WIRE_INT) {
        storage_odbc_bulk_integer(bulk, head.as.integer);
    } else if (kind == STORAGE_COLUMN_BOOLEAN && head.type == WIRE_BOOL) {
        storage_odbc_bulk_integer(bulk, head.as.boolean ? 1 : 0);
    } else {
        storage_odbc_bulk_null(bulk, is_text);
    }
    return result;
}

static enum result write_row(struct odbc_index *self, const struct storage_audit_message *message)
{
    enum result result = RESULT_OK;
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT && result == RESULT_OK; i++) {
        if (i == STORAGE_AUDIT_STARTED_AT) {
            storage_odbc_bulk_text(
                &self->audits, clean_text(&self->arena, wire_string_or(message->fields[i], "")));
            continue;
        }
        result = add_value(&self->audits, storage_audit_columns[i].kind, message->fields[i],
                           &self->arena);
    }
    return result == RESULT_OK ? storage_odbc_bulk_row_done(&self->audits) : result;
}

static bool is_log(struct span log)
{
    return wire_is(wire_find_text(log, "index"), WIRE_INT);
}

static size_t count_logs(const struct storage_audit_message *messages, size_t count)
{
    size_t logs = 0;
    for (size_t i = 0; i < count; i++) {
        struct span log;
        struct wire_map_walk walk = wire_array_begin(messages[i].logs);
        while (wire_array_next(&walk, &log)) {
            logs += is_log(log);
        }
    }
    return logs;
}

static enum result write_logs(struct odbc_index *self, const struct storage_audit_message *message)
{
    struct span log;
    struct wire_map_walk walk = wire_array_begin(message->logs);
    enum result result = RESULT_OK;
    while (result == RESULT_OK && wire_array_next(&walk, &log)) {
        if (!is_log(log)) {
            continue;
        }
        storage_odbc_bulk_text(&self->logs, clean_text(&self->arena, message->execution_id));
        for (size_t i = 0; i < STORAGE_LOG_COLUMN_COUNT && result == RESULT_OK; i++) {
            result = add_value(&self->logs, storage_log_columns[i].kind,
                               wire_find_text(log, storage_log_columns[i].field), &self->arena);
        }
        if (result == RESULT_OK) {
            result = storage_odbc_bulk_row_done(&self->logs);
        }
    }
    return result;
}

static size_t count_true(const bool *flags, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += flags[i];
    }
    return found;
}

static enum result index_apply(struct storage_index *index, const struct span *messages,
                               size_t count, uint64_t position)
{
    struct odbc_index *self = index_cast(index);
    enum result result = begin(self);
    if (result != RESULT_OK) {
        return result;
    }
    return end(self, apply_all(self, messages, count, position));
}

static enum result apply_all(struct odbc_index *self, const struct span *messages, size_t count,
                             uint64_t position)
{
    struct storage_audit_message *sound = NULL;
    bool *newest = NULL;
    size_t sound_count = 0;
    enum result result =
        storage_audit_messages_read(messages, count, &self->arena, &sound, &newest, &sound_count);
    if (result == RESULT_OK) {
        storage_odbc_bulk_begin(&self->logs, count_logs(sound, sound_count));
        storage_odbc_bulk_begin(&self->audits, count_true(newest, sound_count));
    }
    for (size_t i = 0; i < sound_count && result == RESULT_OK; i++) {
        result = write_logs(self, &sound[i]);
    }
    for (size_t i = 0; i < sound_count && result == RESULT_OK; i++) {
        result = newest[i] ? write_row(self, &sound[i]) : RESULT_OK;
    }
    if (result == RESULT_OK && position != STORAGE_NO_POSITION) {
        self->set_position.bound = 0;
        storage_odbc_bind_integer(&self->set_position, (int64_t)position);
        storage_odbc_bind_integer(&self->set_position, ID_POSITION);
        result = storage_odbc_run(&self->set_position);
    }
    return self->arena.overflowed ? RESULT_LIMIT : result;
}

static enum result index_remove(struct storage_index *index, struct span execution_id)
{
    static const char *const texts[] = {"DELETE FROM ExecutionAudits WHERE ExecutionId=?",
                                        "DELETE FROM ExecutionLogs WHERE ExecutionId=?"};
    struct odbc_index *self = index_cast(index);
    enum result result = begin(self);
    if (result != RESULT_OK) {
        return result;
    }
    for (size_t i = 0; i < 2 && result == RESULT_OK; i++) {
        struct storage_odbc_statement statement;
        result = storage_odbc_prepare(&self->session, texts[i], &statement);
        if (result == RESULT_OK) {
            storage_odbc_bind_text(&statement, clean_text(&self->arena, execution_id));
            result = storage_odbc_run(&statement);
        }
        storage_odbc_release(&statement);
    }
    return end(self, result);
}

static enum result index_flush(struct storage_index *index)
{
    (void)index_cast(index);
    return RESULT_OK;
}

/* ---- reading ---- */

static enum result read_number(struct odbc_index *self, int64_t id, int64_t *out)
{
    struct storage_odbc_statement statement;
    bool is_null = false;
    enum result result = storage_odbc_prepare(
        &self->session, "SELECT Position FROM IndexPosition WHERE Id=?", &statement);
    if (result == RESULT_OK) {
        storage_odbc_bind_integer(&statement, id);
        result = storage_odbc_run(&statement);
    }
    if (result == RESULT_OK) {
        result = storage_odbc_fetch(&statement);
    }
    if (result == RESULT_OK) {
        result = storage_odbc_get_integer(&statement, 0, out, &is_null);
    }
    storage_odbc_release(&statement);
    return result;
}

static enum result index_position(struct storage_index *index, uint64_t *position)
{
    struct odbc_index *self = index_cast(index);
    int64_t number = 0;
    enum result result = begin(self);
    if (result == RESULT_OK) {
        result = end(self, read_number(self, ID_POSITION, &number));
    }
    *position = (uint64_t)number;
    return result == RESULT_NOT_FOUND ? RESULT_CORRUPT : result;
}

/* A row's columns into the writer; *keep, unless NULL, gets the texts of two of them. */
struct kept {
    struct span start;
    struct span id;
};

static enum result write_map(struct odbc_index *self, struct wire_writer *writer,
                             struct storage_odbc_statement *statement,
                             const struct storage_column *fields, uint16_t count, struct kept *kept)
{
    enum result result = RESULT_OK;
    wire_write_map(writer, count);
    for (uint16_t i = 0; i < count && result == RESULT_OK; i++) {
        struct span text = SPAN_EMPTY;
        struct span value = SPAN_EMPTY;
        struct json_error error;
        int64_t number = 0;
        bool is_null = false;
        bool numeric =
            fields[i].kind == STORAGE_COLUMN_INTEGER || fields[i].kind == STORAGE_COLUMN_BOOLEAN;
        result = numeric ? storage_odbc_get_integer(statement, i, &number, &is_null)
                         : storage_odbc_get_text(statement, i, &self->arena, &text, &is_null);
        wire_write_text(writer, fields[i].field);
        if (is_null || result != RESULT_OK) {
            wire_write_nil(writer);
        } else if (fields[i].kind == STORAGE_COLUMN_BOOLEAN) {
            wire_write_bool(writer, number != 0);
        } else if (numeric) {
            wire_write_int(writer, number);
        } else if (fields[i].kind == STORAGE_COLUMN_JSON &&
                   json_to_wire(text, LIMIT_DEPTH, &self->arena, &value, &error) == RESULT_OK) {
            wire_write_value(writer, value);
        } else {
            wire_write_string(writer, text);
        }
        if (kept != NULL && i == STORAGE_AUDIT_STARTED_AT) {
            kept->start = text;
        } else if (kept != NULL && i == STORAGE_AUDIT_EXECUTION_ID) {
            kept->id = text;
        }
    }
    return result;
}

static enum result index_row(struct storage_index *index, struct span execution_id,
                             struct arena *arena, struct span *out)
{
    struct odbc_index *self = index_cast(index);
    struct storage_odbc_statement statement;
    struct wire_writer writer;
    enum result result = begin(self);
    if (result != RESULT_OK) {
        return result;
    }
    const char *text = (const char *)arena_format(
                           &self->arena, "SELECT %s FROM ExecutionAudits WHERE ExecutionId=?",
                           storage_odbc_audit_columns)
                           .bytes;
    result = storage_odbc_prepare(&self->session, text, &statement);
    if (result == RESULT_OK) {
        storage_odbc_bind_text(&statement, clean_text(&self->arena, execution_id));
        result = storage_odbc_run(&statement);
    }
    if (result == RESULT_OK) {
        result = storage_odbc_fetch(&statement);
    }
    if (result == RESULT_OK) {
        wire_writer_init(&writer, arena, ROW_BYTES_GUESS);
        result = write_map(self, &writer, &statement, storage_audit_columns,
                           STORAGE_AUDIT_COLUMN_COUNT, NULL);
        *out = wire_writer_span(&writer);
        result = arena->overflowed || self->arena.overflowed ? RESULT_LIMIT : result;
    }
    storage_odbc_release(&statement);
    return end(self, result);
}

static void bind_query(struct odbc_index *self, struct storage_odbc_statement *statement,
                       const struct storage_index_query *query)
{
    for (size_t i = 0; i < STORAGE_INDEX_FILTER_COUNT; i++) {
        if (query->equal[i].count > 0) {
            storage_odbc_bind_text(statement, clean_text(&self->arena, query->equal[i]));
        }
    }
    if (query->since[0] != '\0') {
        storage_odbc_bind_text(statement, span_text(query->since));
    }
    if (query->ended_before[0] != '\0') {
        storage_odbc_bind_text(statement, span_text(query->ended_before));
    }
    if (query->before_id.count > 0) {
        struct span start = clean_text(&self->arena, query->before_start);
        storage_odbc_bind_text(statement, start);
        storage_odbc_bind_text(statement, start);
        storage_odbc_bind_text(statement, clean_text(&self->arena, query->before_id));
    }
}

/* One more row than asked for is selected: it only says that there is a next page. */
static enum result write_page(struct odbc_index *self, struct storage_odbc_statement *statement,
                              uint32_t limit, struct arena *arena, struct span *out)
{
    struct wire_writer writer;
    struct kept last = {0};
    uint32_t count = 0;
    wire_writer_init(&writer, arena, ROW_BYTES_GUESS * 4);
    wire_write_map(&writer, 2);
    wire_write_text(&writer, "executions");
    size_t mark = wire_open_array(&writer);
    enum result result = storage_odbc_fetch(statement);
    while (result == RESULT_OK && count < limit && !self->arena.overflowed) {
        result = write_map(self, &writer, statement, storage_audit_columns,
                           STORAGE_AUDIT_COLUMN_COUNT, &last);
        count++;
        if (result == RESULT_OK) {
            result = storage_odbc_fetch(statement);
        }
    }
    wire_close_array(&writer, mark, count);
    wire_write_text(&writer, "cursor");
    if (result == RESULT_OK) {
        wire_write_string(&writer, storage_index_cursor(&self->arena, last.start, last.id));
    } else {
        wire_write_nil(&writer);
    }
    *out = wire_writer_span(&writer);
    if (arena->overflowed || self->arena.overflowed) {
        return RESULT_LIMIT;
    }
    return result == RESULT_NOT_FOUND ? RESULT_OK : result;
}

static enum result index_list(struct storage_index *index, struct span query, struct arena *arena,
                              struct span *out)
{
    struct odbc_index *self = index_cast(index);
    struct storage_index_query wanted;
    struct storage_odbc_statement statement;
    enum result result = storage_index_query_read(query, &wanted);
    if (result == RESULT_OK) {
        result = begin(self);
    }
    if (result != RESULT_OK) {
        return result;
    }
    const char *text = storage_odbc_list(self->session.flavour, &wanted, &self->arena);
    result = storage_odbc_prepare(&self->session, text, &statement);
    if (result == RESULT_OK) {
        bind_query(self, &statement, &wanted);
        result = storage_odbc_run(&statement);
    }
    if (result == RESULT_OK) {
        result = write_page(self, &statement, wanted.limit, arena, out);
    }
    storage_odbc_release(&statement);
    return end(self, result);
}

static enum result index_logs(struct storage_index *index, struct span execution_id,
                              uint64_t first_index, uint32_t limit, struct arena *arena,
                              struct span *out)
{
    struct odbc_index *self = index_cast(index);
    struct storage_odbc_statement statement;
    struct wire_writer writer;
    uint32_t count = 0;
    enum result result = begin(self);
    if (result != RESULT_OK) {
        return result;
    }
    const char *text = storage_odbc_logs(self->session.flavour, limit, &self->arena);
    result = storage_odbc_prepare(&self->session, text, &statement);
    if (result == RESULT_OK) {
        storage_odbc_bind_text(&statement, clean_text(&self->arena, execution_id));
        storage_odbc_bind_integer(&statement,
                                  first_index > INT64_MAX ? INT64_MAX : (int64_t)first_index);
        result = storage_odbc_run(&statement);
    }
    wire_writer_init(&writer, arena, ROW_BYTES_GUESS * 4);
    size_t mark = wire_open_array(&writer);
    while (result == RESULT_OK && (result = storage_odbc_fetch(&statement)) == RESULT_OK) {
        result = write_map(self, &writer, &statement, storage_log_columns, STORAGE_LOG_COLUMN_COUNT,
                           NULL);
        count++;
    }
    result = result == RESULT_NOT_FOUND ? RESULT_OK : result;
    wire_close_array(&writer, mark, count);
    *out = wire_writer_span(&writer);
    if (result == RESULT_OK && (arena->overflowed || self->arena.overflowed)) {
        result = RESULT_LIMIT;
    }
    storage_odbc_release(&statement);
    return end(self, result);
}

static const struct storage_index_ops index_ops = {
    .apply = index_apply,
    .position = index_position,
    .row = index_row,
    .list = index_list,
    .logs = index_logs,
    .flush = index_flush,
    .remove = index_remove,
    .close = index_close,
};
