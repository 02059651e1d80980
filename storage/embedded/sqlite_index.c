/*
 * sqlite_index.c: the index and audit tables in SQLite.
 *
 * WAL with synchronous=NORMAL: a commit is a write without a sync, and a power cut takes back the
 * newest ones whole, their position with them; the journal then feeds them again. Before its rows
 * are touched, the messages of one apply are folded: of each execution only the newest is written.
 */
#include "storage/embedded/sqlite_index.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "storage/audit_message.h"
#include "storage/embedded/embedded.h"
#include "storage/posix/directory.h"

#define SCHEMA_VERSION  1
#define BUSY_TIMEOUT_MS 5000
#define APPLY_BLOCK     (64u << 10)
#define APPLY_BYTES_MAX (256u << 20)

#define KIND_TEXT    "TEXT"
#define KIND_INTEGER "INTEGER"
#define KIND_BOOLEAN "INTEGER"

static const char schema[] = "CREATE TABLE IF NOT EXISTS ExecutionAudits("
#define X(symbol, field, column, kind) column " " KIND_##kind ","
    STORAGE_AUDIT_COLUMNS(X)
#undef X
        "PRIMARY KEY(ExecutionId)) WITHOUT ROWID;"
        "CREATE INDEX IF NOT EXISTS ExecutionAuditsByStart ON ExecutionAudits(StartedAt);"
        "CREATE TABLE IF NOT EXISTS ExecutionLogs(ExecutionId TEXT NOT NULL, LogIndex INTEGER NOT "
        "NULL,"
        "At TEXT, Level TEXT, Message TEXT, TaskId TEXT, Data TEXT,"
        "PRIMARY KEY(ExecutionId, LogIndex)) WITHOUT ROWID;"
        "CREATE TABLE IF NOT EXISTS IndexPosition(Id INTEGER PRIMARY KEY, Position INTEGER NOT "
        "NULL);"
        "PRAGMA user_version=1;";

static const char settings[] = "PRAGMA journal_mode=WAL;"
                               "PRAGMA synchronous=NORMAL;"
                               "PRAGMA wal_autocheckpoint=4000;"
                               "PRAGMA cache_size=-8000;"
                               "PRAGMA temp_store=MEMORY;";

#define X(symbol, field, column, kind) "," column
static const char columns_with_comma[] = STORAGE_AUDIT_COLUMNS(X);
#undef X
const char *const storage_sqlite_audit_columns = columns_with_comma + 1;

static const char *const columns[STORAGE_AUDIT_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) column,
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

static const struct storage_index_ops index_ops;

static enum result open_database(struct storage_sqlite *self, const char *file);
static enum result check_version(struct storage_sqlite *self);
static enum result prepare_all(struct storage_sqlite *self);
static enum result apply_all(struct storage_sqlite *self, const struct span *messages,
                             size_t count);
static int write_row(struct storage_sqlite *self, const struct storage_audit_message *message);
static int restart_row(struct storage_sqlite *self, const struct storage_audit_message *message,
                       struct span started);
static int write_logs(struct storage_sqlite *self, const struct storage_audit_message *message);
static int run(sqlite3_stmt *statement);
static sqlite3_file *wal_of(const struct storage_sqlite *self);
static bool refused_for_space(const struct storage_sqlite *self);
static int bind_value(sqlite3_stmt *statement, int place, struct span value);

enum result storage_sqlite_index_open(const char *file, struct storage_index **out)
{
    struct storage_sqlite *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->index.ops = &index_ops;
    self->magic = STORAGE_SQLITE_MAGIC;
    arena_init(&self->arena, APPLY_BLOCK, APPLY_BYTES_MAX);
    enum result result = open_database(self, file);
    if (result != RESULT_OK) {
        index_ops.close(&self->index);
        return result;
    }
    *out = &self->index;
    return RESULT_OK;
}

struct storage_sqlite *storage_sqlite_cast(struct storage_index *index)
{
    struct storage_sqlite *self = (struct storage_sqlite *)index;
    ASSERT(self->magic == STORAGE_SQLITE_MAGIC);
    return self;
}

static void index_close(struct storage_index *index)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    sqlite3_stmt *statements[] = {
        self->begin,      self->commit,      self->rollback,     self->upsert,
        self->insert_log, self->set_start,   self->set_position, self->get_position,
        self->remove_row, self->remove_logs, self->select_row,   self->select_logs,
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sqlite3_finalize(statements[i]);
    }
    sqlite3_close(self->database);
    arena_release(&self->arena);
    self->magic = 0;
    free(self);
}

static enum result open_database(struct storage_sqlite *self, const char *file)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(file, &self->database, flags, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_busy_timeout(self->database, BUSY_TIMEOUT_MS);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(self->database, settings, NULL, NULL, NULL);
    }
    enum result result = storage_sqlite_result(self, code);
    if (result == RESULT_OK) {
        result = check_version(self);
    }
    return result == RESULT_OK ? prepare_all(self) : result;
}

/* A new file gets the schema; one of a later version is not touched. */
static enum result check_version(struct storage_sqlite *self)
{
    sqlite3_stmt *statement = NULL;
    int version = 0;
    int code = sqlite3_prepare_v2(self->database, "PRAGMA user_version", -1, &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        version = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    if (code == SQLITE_OK && version == 0) {
        code = sqlite3_exec(self->database, schema, NULL, NULL, NULL);
    }
    return version > SCHEMA_VERSION ? RESULT_UNSUPPORTED : storage_sqlite_result(self, code);
}

static int prepare(struct storage_sqlite *self, const char *text, sqlite3_stmt **out)
{
    return sqlite3_prepare_v3(self->database, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
}

/* StartedAt and ExecutionId are left out of the update: setting them would rewrite index entries
 * that stay as they are. */
static char *upsert_text(struct storage_sqlite *self)
{
    sqlite3_str *text = sqlite3_str_new(self->database);
    sqlite3_str_appendf(text, "INSERT INTO ExecutionAudits(%s) VALUES(",
                        storage_sqlite_audit_columns);
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT; i++) {
        sqlite3_str_appendall(text, i == 0 ? "?" : ",?");
    }
    sqlite3_str_appendall(text, ") ON CONFLICT(ExecutionId) DO UPDATE SET ");
    const char *comma = "";
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT; i++) {
        if (i != STORAGE_AUDIT_EXECUTION_ID && i != STORAGE_AUDIT_STARTED_AT) {
            const char *column = columns[i];
            sqlite3_str_appendf(text, "%s%s=excluded.%s", comma, column, column);
            comma = ",";
        }
    }
    sqlite3_str_appendall(text, " WHERE excluded.Revision>Revision");
    return sqlite3_str_finish(text);
}

static enum result prepare_all(struct storage_sqlite *self)
{
    char *upsert = upsert_text(self);
    char *select_row = sqlite3_mprintf("SELECT %s FROM ExecutionAudits WHERE ExecutionId=?",
                                       storage_sqlite_audit_columns);
    const struct {
        const char *text;
        sqlite3_stmt **statement;
    } rows[] = {
        {"BEGIN IMMEDIATE", &self->begin},
        {"COMMIT", &self->commit},
        {"ROLLBACK", &self->rollback},
        {upsert, &self->upsert},
        {"UPDATE ExecutionAudits SET StartedAt=?2"
         " WHERE ExecutionId=?1 AND Revision=?3 AND StartedAt<>?2",
         &self->set_start},
        {"INSERT OR IGNORE INTO ExecutionLogs(ExecutionId,LogIndex,At,Level,Message,TaskId,Data)"
         " VALUES(?,?,?,?,?,?,?)",
         &self->insert_log},
        {"INSERT OR REPLACE INTO IndexPosition(Id,Position) VALUES(1,?)", &self->set_position},
        {"SELECT Position FROM IndexPosition WHERE Id=1", &self->get_position},
        {"DELETE FROM ExecutionAudits WHERE ExecutionId=?", &self->remove_row},
        {"DELETE FROM ExecutionLogs WHERE ExecutionId=?", &self->remove_logs},
        {select_row, &self->select_row},
        {"SELECT LogIndex,At,Level,Message,TaskId,Data FROM ExecutionLogs"
         " WHERE ExecutionId=? AND LogIndex>=? ORDER BY LogIndex LIMIT ?",
         &self->select_logs},
    };
    int code = upsert == NULL || select_row == NULL ? SQLITE_NOMEM : SQLITE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && code == SQLITE_OK; i++) {
        code = prepare(self, rows[i].text, rows[i].statement);
    }
    sqlite3_free(upsert);
    sqlite3_free(select_row);
    return storage_sqlite_result(self, code);
}

static enum result index_apply(struct storage_index *index, const struct span *messages,
                               size_t count, uint64_t position)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    int code = run(self->begin);
    if (code != SQLITE_DONE) {
        return storage_sqlite_result(self, code);
    }
    enum result result = apply_all(self, messages, count);
    if (result == RESULT_OK && position != STORAGE_NO_POSITION) {
        sqlite3_bind_int64(self->set_position, 1, (sqlite3_int64)position);
        result = storage_sqlite_result(self, run(self->set_position));
    }
    if (result == RESULT_OK) {
        result = storage_sqlite_result(self, run(self->commit));
    }
    if (result != RESULT_OK) {
        (void)run(self->rollback);
    }
    arena_clear(&self->arena);
    return result;
}

static enum result apply_all(struct storage_sqlite *self, const struct span *messages, size_t count)
{
    struct storage_audit_message *sound = NULL;
    bool *newest = NULL;
    size_t sound_count = 0;
    enum result result =
        storage_audit_messages_read(messages, count, &self->arena, &sound, &newest, &sound_count);
    if (result != RESULT_OK) {
        return result;
    }
    int code = SQLITE_DONE;
    for (size_t i = 0; i < sound_count && code == SQLITE_DONE; i++) {
        code = write_logs(self, &sound[i]);
    }
    for (size_t i = 0; i < sound_count && code == SQLITE_DONE; i++) {
        code = newest[i] ? write_row(self, &sound[i]) : SQLITE_DONE;
    }
    return self->arena.overflowed ? RESULT_LIMIT : storage_sqlite_result(self, code);
}

static int write_row(struct storage_sqlite *self, const struct storage_audit_message *message)
{
    struct span started = wire_string_or(message->fields[STORAGE_AUDIT_STARTED_AT], "");
    for (int i = 0; i < STORAGE_AUDIT_COLUMN_COUNT; i++) {
        int code = i == STORAGE_AUDIT_STARTED_AT
                       ? storage_sqlite_bind_text(self->upsert, i + 1, started)
                       : bind_value(self->upsert, i + 1, message->fields[i]);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    int code = run(self->upsert);
    /* A row is seen first with run 1; only a restart may begin anew. */
    if (code == SQLITE_DONE && wire_int_or(message->fields[STORAGE_AUDIT_RUN], 1) > 1) {
        code = restart_row(self, message, started);
    }
    return code;
}

static int restart_row(struct storage_sqlite *self, const struct storage_audit_message *message,
                       struct span started)
{
    storage_sqlite_bind_text(self->set_start, 1, message->execution_id);
    storage_sqlite_bind_text(self->set_start, 2, started);
    sqlite3_bind_int64(self->set_start, 3, message->revision);
    return run(self->set_start);
}

static int write_logs(struct storage_sqlite *self, const struct storage_audit_message *message)
{
    static const char *const fields[STORAGE_LOG_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) field,
        STORAGE_LOG_COLUMNS(X)
#undef X
    };
    struct span log;
    struct wire_map_walk walk = wire_array_begin(message->logs);
    int code = SQLITE_DONE;
    while (code == SQLITE_DONE && wire_array_next(&walk, &log)) {
        if (!wire_is(wire_find_text(log, "index"), WIRE_INT)) {
            continue;
        }
        int bound = storage_sqlite_bind_text(self->insert_log, 1, message->execution_id);
        for (int i = 0; i < STORAGE_LOG_COLUMN_COUNT && bound == SQLITE_OK; i++) {
            struct span value = wire_find_text(log, fields[i]);
            if (i == STORAGE_LOG_DATA && value.count > 0 && !wire_is(value, WIRE_NIL)) {
                struct span text = {0};
                enum result spelled = json_from_wire(value, JSON_COMPACT, &self->arena, &text);
                bound = spelled == RESULT_OK
                            ? storage_sqlite_bind_text(self->insert_log, i + 2, text)
                            : SQLITE_NOMEM;
            } else {
                bound = bind_value(self->insert_log, i + 2, value);
            }
        }
        code = bound == SQLITE_OK ? run(self->insert_log) : bound;
    }
    return code;
}

static enum result index_position(struct storage_index *index, uint64_t *position)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    int code = sqlite3_step(self->get_position);
    *position = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(self->get_position, 0) : 0;
    sqlite3_reset(self->get_position);
    return storage_sqlite_result(self, code);
}

/* Syncs the WAL, in which every commit since the last checkpoint stands; a checkpoint syncs for
 * itself. */
static enum result index_flush(struct storage_index *index)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    sqlite3_file *wal = wal_of(self);
    int flags = SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY;
    return wal == NULL ? RESULT_OK : storage_sqlite_result(self, wal->pMethods->xSync(wal, flags));
}

static enum result index_remove(struct storage_index *index, struct span execution_id)
{
    struct storage_sqlite *self = storage_sqlite_cast(index);
    int code = run(self->begin);
    if (code != SQLITE_DONE) {
        return storage_sqlite_result(self, code);
    }
    sqlite3_stmt *statements[] = {self->remove_row, self->remove_logs};
    for (size_t i = 0; i < 2 && code == SQLITE_DONE; i++) {
        storage_sqlite_bind_text(statements[i], 1, execution_id);
        code = run(statements[i]);
    }
    if (code == SQLITE_DONE) {
        code = run(self->commit);
    }
    enum result result = storage_sqlite_result(self, code);
    if (result != RESULT_OK) {
        (void)run(self->rollback);
    }
    return result;
}

/* For statements that return no rows: SQLITE_DONE or an error. */
static int run(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code;
}

static int bind_value(sqlite3_stmt *statement, int place, struct span value)
{
    struct wire_value head = wire_head(value);
    switch (head.type) {
    case WIRE_STRING:
    case WIRE_DECIMAL:
        return storage_sqlite_bind_text(statement, place, head.as.text);
    case WIRE_INT:
        return sqlite3_bind_int64(statement, place, head.as.integer);
    case WIRE_BOOL:
        return sqlite3_bind_int(statement, place, head.as.boolean ? 1 : 0);
    case WIRE_FLOAT:
        return sqlite3_bind_double(statement, place, head.as.real);
    case WIRE_NIL:
    case WIRE_UINT:
    case WIRE_BINARY:
    case WIRE_ARRAY:
    case WIRE_MAP:
    case WIRE_EXT:
        return sqlite3_bind_null(statement, place);
    }
    ASSERT_UNREACHABLE();
}

int storage_sqlite_bind_text(sqlite3_stmt *statement, int place, struct span text)
{
    const char *bytes = text.count > 0 ? (const char *)text.bytes : "";
    return sqlite3_bind_text64(statement, place, bytes, text.count, SQLITE_STATIC, SQLITE_UTF8);
}

static sqlite3_file *wal_of(const struct storage_sqlite *self)
{
    sqlite3_file *wal = NULL;
    int code = sqlite3_file_control(self->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    return code == SQLITE_OK && wal != NULL && wal->pMethods != NULL ? wal : NULL;
}

/* SQLite knows a full disk, but calls a met quota or file size limit an I/O error. */
static bool refused_for_space(const struct storage_sqlite *self)
{
    int of_main = 0;
    int of_wal = 0;
    sqlite3_file *wal = wal_of(self);
    sqlite3_file_control(self->database, "main", SQLITE_FCNTL_LAST_ERRNO, &of_main);
    if (wal != NULL) {
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &of_wal);
    }
    return storage_posix_result(of_main) == RESULT_FULL ||
           storage_posix_result(of_wal) == RESULT_FULL;
}

enum result storage_sqlite_result(const struct storage_sqlite *self, int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return RESULT_OK;
    case SQLITE_FULL:
        return RESULT_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return RESULT_AGAIN;
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
        return RESULT_LIMIT;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return RESULT_CORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return RESULT_DENIED;
    case SQLITE_IOERR:
        return refused_for_space(self) ? RESULT_FULL : RESULT_IO;
    default:
        return RESULT_IO;
    }
}

static const struct storage_index_ops index_ops = {
    .apply = index_apply,
    .position = index_position,
    .row = storage_sqlite_row,
    .list = storage_sqlite_list,
    .logs = storage_sqlite_logs,
    .flush = index_flush,
    .remove = index_remove,
    .close = index_close,
};
