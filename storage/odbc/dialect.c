/*
 * dialect.c: see dialect.h.
 *
 * Names are not quoted, so that a person need not quote them either. Texts that are keys or are
 * sorted compare by their bytes, as times and ids do everywhere in the program.
 */
#include "storage/odbc/dialect.h"

#include <string.h>

#include "storage/audit_columns.h"

struct words {
    const char *dbms; /* what SQL_DBMS_NAME begins with */
    const char *key;  /* types: an id; a time in RFC 3339 */
    const char *time;
    const char *kinds[4];   /* of enum storage_column_kind */
    const char *table_tail; /* behind CREATE TABLE (…) */
};

static const struct words words_of[] = {
    [STORAGE_ODBC_POSTGRESQL] = {"PostgreSQL",
                                 "VARCHAR(128) COLLATE \"C\"",
                                 "VARCHAR(40) COLLATE \"C\"",
                                 {"TEXT", "BIGINT", "SMALLINT", "TEXT"},
                                 ""},
    [STORAGE_ODBC_MYSQL] = {"MySQL",
                            "VARCHAR(128)",
                            "VARCHAR(40)",
                            {"MEDIUMTEXT", "BIGINT", "SMALLINT", "MEDIUMTEXT"},
                            " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"},
    [STORAGE_ODBC_SQL_SERVER] = {"Microsoft SQL Server",
                                 "VARCHAR(128) COLLATE Latin1_General_100_BIN2",
                                 "VARCHAR(40) COLLATE Latin1_General_100_BIN2",
                                 {"NVARCHAR(MAX)", "BIGINT", "SMALLINT", "NVARCHAR(MAX)"},
                                 ""},
};

static const char *const columns[STORAGE_AUDIT_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) column,
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

static const enum storage_column_kind audit_kinds[] = {
#define X(symbol, field, column, kind) STORAGE_COLUMN_##kind,
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

static const enum storage_column_kind log_kinds[] = {STORAGE_COLUMN_TEXT, /* ExecutionId */
#define X(symbol, field, column, kind) STORAGE_COLUMN_##kind,
                                                     STORAGE_LOG_COLUMNS(X)
#undef X
};

#define X(symbol, field, column, kind) "," column
static const char columns_with_comma[] = STORAGE_AUDIT_COLUMNS(X);
static const char log_columns[] = "ExecutionId" STORAGE_LOG_COLUMNS(X);
#undef X
const char *const storage_odbc_audit_columns = columns_with_comma + 1;

static const char *text_of(struct span span)
{
    return (const char *)span.bytes;
}

enum result storage_odbc_flavour_of(const char *dbms_name, enum storage_odbc_flavour *out)
{
    struct span name = span_text(dbms_name);
    bool mysql = span_is(name, "MySQL") || span_is(name, "MariaDB");
    if (mysql) {
        *out = STORAGE_ODBC_MYSQL;
        return RESULT_OK;
    }
    static const enum storage_odbc_flavour others[] = {STORAGE_ODBC_POSTGRESQL,
                                                       STORAGE_ODBC_SQL_SERVER};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (span_starts_with(name, words_of[others[i]].dbms)) {
            *out = others[i];
            return RESULT_OK;
        }
    }
    return RESULT_UNSUPPORTED;
}

static const char *audit_table(const struct words *words, struct arena *arena)
{
    struct span text = arena_format(arena, "CREATE TABLE ExecutionAudits(");
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT && text.count > 0; i++) {
        const char *type = i == STORAGE_AUDIT_EXECUTION_ID ? words->key
                           : i == STORAGE_AUDIT_STARTED_AT ? words->time
                                                           : words->kinds[audit_kinds[i]];
        bool always = i == STORAGE_AUDIT_EXECUTION_ID || i == STORAGE_AUDIT_STARTED_AT ||
                      i == STORAGE_AUDIT_REVISION;
        text = arena_format(arena, "%.*s%s %s%s,", SPAN_ARG(text), columns[i], type,
                            always ? " NOT NULL" : "");
    }
    return text_of(
        arena_format(arena, "%.*sPRIMARY KEY(ExecutionId))%s", SPAN_ARG(text), words->table_tail));
}

const char *storage_odbc_schema(enum storage_odbc_flavour flavour, size_t at, struct arena *arena)
{
    const struct words *words = &words_of[flavour];
    switch (at) {
    case 0:
        return audit_table(words, arena);
    case 1:
        return "CREATE INDEX ExecutionAuditsByStart ON ExecutionAudits(StartedAt)";
    case 2:
        return text_of(arena_format(
            arena,
            "CREATE TABLE ExecutionLogs(ExecutionId %s NOT NULL,LogIndex BIGINT NOT NULL,At %s,"
            "Level %s,Message %s,TaskId %s,Data %s,PRIMARY KEY(ExecutionId,LogIndex))%s",
            words->key, words->kinds[STORAGE_COLUMN_TEXT], words->kinds[STORAGE_COLUMN_TEXT],
            words->kinds[STORAGE_COLUMN_TEXT], words->kinds[STORAGE_COLUMN_TEXT],
            words->kinds[STORAGE_COLUMN_JSON], words->table_tail));
    case 3:
        return text_of(arena_format(arena,
                                    "CREATE TABLE IndexPosition(Id INTEGER NOT NULL PRIMARY KEY,"
                                    "Position BIGINT NOT NULL)%s",
                                    words->table_tail));
    case 4: /* 0: the version of these tables; 1: the journal's position */
        return "INSERT INTO IndexPosition(Id,Position) VALUES(0,1),(1,0)";
    default:
        return NULL;
    }
}

/* "(?,?,…),(?,?,…)…" */
static const char *marks(size_t rows, size_t count, struct arena *arena)
{
    size_t row_bytes = count * 2 + 2;
    char *text = arena_alloc(arena, rows * row_bytes);
    for (size_t i = 0; text != NULL && i < rows; i++) {
        char *row = text + i * row_bytes;
        row[0] = '(';
        for (size_t at = 0; at < count; at++) {
            row[1 + at * 2] = '?';
            row[2 + at * 2] = at + 1 < count ? ',' : ')';
        }
        row[row_bytes - 1] = i + 1 < rows ? ',' : '\0';
    }
    return text == NULL ? "" : text;
}

bool storage_odbc_takes_arrays(enum storage_odbc_flavour flavour)
{
    return flavour == STORAGE_ODBC_POSTGRESQL;
}

/* "SELECT * FROM unnest(CAST(? AS …[]),…)": rows in the order of the arrays. */
static const char *from_arrays(const enum storage_column_kind *kinds, size_t count,
                               struct arena *arena)
{
    struct span text = arena_format(arena, "SELECT * FROM unnest(");
    for (size_t i = 0; i < count && text.count > 0; i++) {
        text = arena_format(arena, "%.*sCAST(? AS %s[])%s", SPAN_ARG(text),
                            words_of[STORAGE_ODBC_POSTGRESQL].kinds[kinds[i]],
                            i + 1 < count ? "," : ")");
    }
    return text.count == 0 ? "" : text_of(text);
}

/* "…,Column=value" for a row that is newer. */
static struct span set_column(enum storage_odbc_flavour flavour, struct span text,
                              const char *column, struct arena *arena)
{
    switch (flavour) {
    case STORAGE_ODBC_POSTGRESQL:
        return arena_format(arena, "%.*s,%s=excluded.%s", SPAN_ARG(text), column, column);
    case STORAGE_ODBC_MYSQL:
        return arena_format(arena, "%.*s,%s=IF(VALUES(Revision)>Revision,VALUES(%s),%s)",
                            SPAN_ARG(text), column, column, column);
    case STORAGE_ODBC_SQL_SERVER:
        return arena_format(arena, "%.*s,%s=s.%s", SPAN_ARG(text), column, column);
    }
    return SPAN_EMPTY;
}

/* All that an update sets but the key, StartedAt and Revision. */
static struct span set_columns(enum storage_odbc_flavour flavour, struct arena *arena)
{
    struct span text = SPAN_EMPTY;
    for (size_t i = 0; i < STORAGE_AUDIT_COLUMN_COUNT; i++) {
        if (i != STORAGE_AUDIT_EXECUTION_ID && i != STORAGE_AUDIT_STARTED_AT &&
            i != STORAGE_AUDIT_REVISION) {
            text = set_column(flavour, text, columns[i], arena);
        }
    }
    return text;
}

/* A row is seen first with run 1; only a restart may begin anew. MySQL sets from left to right, so
 * what the others look at comes last. */
const char *storage_odbc_upsert(enum storage_odbc_flavour flavour, size_t rows, struct arena *arena)
{
    const char *names = storage_odbc_audit_columns;
    const char *values = storage_odbc_takes_arrays(flavour)
                             ? from_arrays(audit_kinds, STORAGE_AUDIT_COLUMN_COUNT, arena)
                             : marks(rows, STORAGE_AUDIT_COLUMN_COUNT, arena);
    struct span set = set_columns(flavour, arena);
    switch (flavour) {
    case STORAGE_ODBC_POSTGRESQL:
        return text_of(arena_format(
            arena,
            "INSERT INTO ExecutionAudits(%s) %s ON CONFLICT(ExecutionId) DO UPDATE SET "
            "StartedAt=CASE WHEN excluded.Run>1 THEN excluded.StartedAt "
            "ELSE ExecutionAudits.StartedAt END%.*s,Revision=excluded.Revision "
            "WHERE excluded.Revision>ExecutionAudits.Revision",
            names, values, SPAN_ARG(set)));
    case STORAGE_ODBC_MYSQL:
        return text_of(arena_format(
            arena,
            "INSERT INTO ExecutionAudits(%s) VALUES %s ON DUPLICATE KEY UPDATE "
            "StartedAt=IF(VALUES(Revision)>Revision AND VALUES(Run)>1,VALUES(StartedAt),StartedAt)"
            "%.*s,Revision=GREATEST(Revision,VALUES(Revision))",
            names, values, SPAN_ARG(set)));
    case STORAGE_ODBC_SQL_SERVER:
        return text_of(arena_format(
            arena,
            "MERGE ExecutionAudits WITH (HOLDLOCK) AS t USING (VALUES %s) AS s(%s) "
            "ON t.ExecutionId=s.ExecutionId WHEN MATCHED AND s.Revision>t.Revision THEN UPDATE SET "
            "StartedAt=CASE WHEN s.Run>1 THEN s.StartedAt ELSE t.StartedAt END%.*s,"
            "Revision=s.Revision WHEN NOT MATCHED THEN INSERT(%s) VALUES(%s);",
            values, names, SPAN_ARG(set), names, names));
    }
    return NULL;
}

const char *storage_odbc_insert_logs(enum storage_odbc_flavour flavour, size_t rows,
                                     struct arena *arena)
{
    const char *values = storage_odbc_takes_arrays(flavour)
                             ? from_arrays(log_kinds, STORAGE_LOG_COLUMN_COUNT + 1, arena)
                             : marks(rows, STORAGE_LOG_COLUMN_COUNT + 1, arena);
    switch (flavour) {
    case STORAGE_ODBC_POSTGRESQL:
        return text_of(arena_format(
            arena, "INSERT INTO ExecutionLogs(%s) %s ON CONFLICT DO NOTHING", log_columns, values));
    case STORAGE_ODBC_MYSQL:
        /* (INSERT IGNORE would ignore other errors too.) */
        return text_of(arena_format(arena,
                                    "INSERT INTO ExecutionLogs(%s) VALUES %s "
                                    "ON DUPLICATE KEY UPDATE ExecutionLogs.LogIndex="
                                    "ExecutionLogs.LogIndex",
                                    log_columns, values));
    case STORAGE_ODBC_SQL_SERVER:
        return text_of(arena_format(
            arena,
            "INSERT INTO ExecutionLogs(%s) SELECT * FROM (VALUES %s) AS s(%s) WHERE NOT EXISTS("
            "SELECT 1 FROM ExecutionLogs t WITH (HOLDLOCK) WHERE t.ExecutionId=s.ExecutionId "
            "AND t.LogIndex=s.LogIndex)",
            log_columns, values, log_columns));
    }
    return NULL;
}

/* The first `count` rows. */
static struct span limit_rows(enum storage_odbc_flavour flavour, uint32_t count,
                              struct arena *arena)
{
    return flavour == STORAGE_ODBC_SQL_SERVER
               ? arena_format(arena, " OFFSET 0 ROWS FETCH NEXT %u ROWS ONLY", (unsigned)count)
               : arena_format(arena, " LIMIT %u", (unsigned)count);
}

const char *storage_odbc_list(enum storage_odbc_flavour flavour,
                              const struct storage_index_query *query, struct arena *arena)
{
    static const char *const conditions[STORAGE_INDEX_FILTER_COUNT] = {
#define X(field, column) " AND " #column "=?",
        STORAGE_INDEX_FILTERS(X)
#undef X
    };
    struct span text =
        arena_format(arena, "SELECT %s FROM ExecutionAudits WHERE 1=1", storage_odbc_audit_columns);
    for (size_t i = 0; i < STORAGE_INDEX_FILTER_COUNT; i++) {
        text = arena_format(arena, "%.*s%s", SPAN_ARG(text),
                            query->equal[i].count > 0 ? conditions[i] : "");
    }
    /* One row more than asked for: it only says that there is a next page. */
    struct span limit = limit_rows(flavour, query->limit + 1, arena);
    return text_of(arena_format(
        arena, "%.*s%s%s%s ORDER BY StartedAt DESC,ExecutionId DESC%.*s", SPAN_ARG(text),
        query->since[0] != '\0' ? " AND StartedAt>=?" : "",
        query->ended_before[0] != '\0' ? " AND EndedAt<?" : "",
        query->before_id.count > 0 ? " AND (StartedAt<? OR (StartedAt=? AND ExecutionId<?))" : "",
        SPAN_ARG(limit)));
}

const char *storage_odbc_logs(enum storage_odbc_flavour flavour, uint32_t limit,
                              struct arena *arena)
{
    struct span rows = limit_rows(flavour, limit, arena);
    return text_of(arena_format(arena,
                                "SELECT LogIndex,At,Level,Message,TaskId,Data FROM ExecutionLogs "
                                "WHERE ExecutionId=? AND LogIndex>=? ORDER BY LogIndex%.*s",
                                SPAN_ARG(rows)));
}
