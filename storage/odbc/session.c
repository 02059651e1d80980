/* session.c: see session.h. */
#include "storage/odbc/session.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/log.h"

#define SHORT_TEXT_BYTES 4000u
#define TEXT_CHUNK       1024u
#define TEXT_BYTES_MAX   (64u << 20)

struct diagnosis {
    char state[6];
    SQLINTEGER native;
    bool refused; /* the sentence says that it is the login */
};

static enum result result_of(const struct diagnosis *diagnosis);

static bool succeeded(SQLRETURN code)
{
    return code == SQL_SUCCESS || code == SQL_SUCCESS_WITH_INFO;
}

static struct diagnosis diagnose(SQLSMALLINT type, SQLHANDLE handle)
{
    struct diagnosis diagnosis = {.state = "HY000"};
    SQLCHAR text[512] = "";
    SQLCHAR state[6] = "HY000";
    SQLSMALLINT count = 0;
    if (succeeded(
            SQLGetDiagRec(type, handle, 1, state, &diagnosis.native, text, sizeof text, &count))) {
        memcpy(diagnosis.state, state, sizeof diagnosis.state);
    }
    /* (PostgreSQL's driver has one code for all that keeps it from connecting.) */
    diagnosis.refused = strstr((const char *)text, "authentication failed") != NULL ||
                        strstr((const char *)text, "pg_hba.conf") != NULL;
    return diagnosis;
}

/* (The driver's sentence may quote values, so a line has only the codes.) */
static enum result failure(struct storage_odbc_session *session, SQLSMALLINT type, SQLHANDLE handle)
{
    struct diagnosis diagnosis = diagnose(type, handle);
    enum result result = result_of(&diagnosis);
    SQLUINTEGER dead = SQL_CD_FALSE;
    bool known =
        succeeded(SQLGetConnectAttr(session->connection, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL));
    /* (MySQL's client library has codes of its own, such as 2013 "lost connection".) */
    bool of_client = session->flavour == STORAGE_ODBC_MYSQL && diagnosis.native >= 2000 &&
                     diagnosis.native < 2100;
    if (memcmp(diagnosis.state, "08", 2) == 0 || of_client || (known && dead == SQL_CD_TRUE)) {
        session->connected = false;
        result = RESULT_IO;
    }
    if (result != RESULT_NOT_FOUND && result != RESULT_EXISTS) { /* (of tables: an answer) */
        log_line(LOG_WARN, "STORAGE-ODBC-FAILED", "sqlstate=%s native=%ld connected=%d",
                 diagnosis.state, (long)diagnosis.native, session->connected);
    }
    return result;
}

/*
 * PostgreSQL's driver puts a savepoint around each statement of a transaction unless it is told not
 * to. That is work for nothing: an error here ends the transaction anyway.
 */
static const char *options_more(const char *connection)
{
    bool postgresql =
        strcasestr(connection, "postgresql") != NULL || strcasestr(connection, "psqlodbc") != NULL;
    bool said = strcasestr(connection, "protocol=") != NULL;
    size_t count = strlen(connection);
    bool ends = count > 0 && connection[count - 1] == ';';
    return !postgresql || said ? "" : ends ? "Protocol=7.4-1" : ";Protocol=7.4-1";
}

enum result storage_odbc_connect(struct storage_odbc_session *session, const char *connection,
                                 uint32_t timeout_s, char reason[STORAGE_ODBC_REASON_BYTES])
{
    SQLCHAR text[2048];
    SQLCHAR name[128] = "";
    SQLSMALLINT count = 0;
    *session = (struct storage_odbc_session){.timeout_s = timeout_s};
    int bytes = snprintf((char *)text, sizeof text, "%s%s", connection, options_more(connection));
    if (bytes < 0 || (size_t)bytes >= sizeof text) {
        explicit_bzero(text, sizeof text);
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "the connection string is too long");
        return RESULT_INVALID;
    }
    if (!succeeded(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &session->environment)) ||
        !succeeded(SQLSetEnvAttr(session->environment, SQL_ATTR_ODBC_VERSION,
                                 (SQLPOINTER)SQL_OV_ODBC3, 0)) ||
        !succeeded(SQLAllocHandle(SQL_HANDLE_DBC, session->environment, &session->connection))) {
        storage_odbc_disconnect(session);
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "no memory for ODBC");
        return RESULT_LIMIT;
    }
    SQLSetConnectAttr(session->connection, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)(SQLULEN)timeout_s,
                      0);
    SQLRETURN code = SQLDriverConnect(session->connection, NULL, text, SQL_NTS, NULL, 0, &count,
                                      SQL_DRIVER_NOPROMPT);
    explicit_bzero(text, sizeof text);
    enum result result = RESULT_OK;
    if (!succeeded(code)) {
        struct diagnosis diagnosis = diagnose(SQL_HANDLE_DBC, session->connection);
        result = diagnosis.refused ? RESULT_DENIED : result_of(&diagnosis);
        snprintf(reason, STORAGE_ODBC_REASON_BYTES, "SQLSTATE %s, native code %ld%s",
                 diagnosis.state, (long)diagnosis.native,
                 strcmp(diagnosis.state, "IM002") == 0 || strcmp(diagnosis.state, "01000") == 0
                     ? ": no such driver or data source (odbcinst -q -d lists the drivers)"
                     : "");
    } else {
        session->connected = true;
        SQLGetInfo(session->connection, SQL_DBMS_NAME, name, sizeof name, &count);
        result = storage_odbc_flavour_of((const char *)name, &session->flavour);
        if (result != RESULT_OK) {
            snprintf(reason, STORAGE_ODBC_REASON_BYTES,
                     "the database is %.64s; PostgreSQL, MariaDB, MySQL and SQL Server are known",
                     (const char *)name);
        } else if (!succeeded(SQLSetConnectAttr(session->connection, SQL_ATTR_AUTOCOMMIT,
                                                (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0))) {
            snprintf(reason, STORAGE_ODBC_REASON_BYTES, "the driver has no transactions");
            result = RESULT_UNSUPPORTED;
        }
    }
    if (result != RESULT_OK) {
        storage_odbc_disconnect(session);
    }
    return result;
}

void storage_odbc_disconnect(struct storage_odbc_session *session)
{
    if (session->connection != NULL) {
        if (session->connected) {
            storage_odbc_rollback(session);
        }
        SQLDisconnect(session->connection);
        SQLFreeHandle(SQL_HANDLE_DBC, session->connection);
    }
    if (session->environment != NULL) {
        SQLFreeHandle(SQL_HANDLE_ENV, session->environment);
    }
    session->connection = NULL;
    session->environment = NULL;
    session->connected = false;
}

enum result storage_odbc_commit(struct storage_odbc_session *session)
{
    return succeeded(SQLEndTran(SQL_HANDLE_DBC, session->connection, SQL_COMMIT))
               ? RESULT_OK
               : failure(session, SQL_HANDLE_DBC, session->connection);
}

void storage_odbc_rollback(struct storage_odbc_session *session)
{
    (void)SQLEndTran(SQL_HANDLE_DBC, session->connection, SQL_ROLLBACK);
}

enum result storage_odbc_prepare(struct storage_odbc_session *session, const char *text,
                                 struct storage_odbc_statement *out)
{
    *out = (struct storage_odbc_statement){.session = session};
    if (text == NULL) {
        return RESULT_LIMIT;
    }
    if (!succeeded(SQLAllocHandle(SQL_HANDLE_STMT, session->connection, &out->handle))) {
        out->handle = NULL;
        return failure(session, SQL_HANDLE_DBC, session->connection);
    }
    SQLSetStmtAttr(out->handle, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)(SQLULEN)session->timeout_s, 0);
    if (!succeeded(SQLPrepare(out->handle, (SQLCHAR *)(uintptr_t)text, SQL_NTS))) {
        enum result result = failure(session, SQL_HANDLE_STMT, out->handle);
        storage_odbc_release(out);
        return result;
    }
    return RESULT_OK;
}

void storage_odbc_release(struct storage_odbc_statement *statement)
{
    if (statement->handle != NULL) {
        SQLFreeHandle(SQL_HANDLE_STMT, statement->handle);
        statement->handle = NULL;
    }
}

static void bind(struct storage_odbc_statement *statement, SQLSMALLINT c_type, SQLSMALLINT sql_type,
                 const void *value, SQLULEN size, SQLLEN count)
{
    uint16_t at = statement->bound++;
    ASSERT(at < STORAGE_ODBC_PARAMETERS_MAX);
    statement->counts[at] = count;
    SQLBindParameter(statement->handle, (SQLUSMALLINT)(at + 1), SQL_PARAM_INPUT, c_type, sql_type,
                     size, 0, (SQLPOINTER)(uintptr_t)value, 0, &statement->counts[at]);
}

void storage_odbc_bind_text(struct storage_odbc_statement *statement, struct span text)
{
    SQLSMALLINT type = text.count > SHORT_TEXT_BYTES ? SQL_LONGVARCHAR : SQL_VARCHAR;
    bind(statement, SQL_C_CHAR, type, text.count > 0 ? (const void *)text.bytes : "",
         text.count > 0 ? text.count : 1, (SQLLEN)text.count);
}

void storage_odbc_bind_integer(struct storage_odbc_statement *statement, int64_t integer)
{
    int64_t *place = &statement->integers[statement->bound];
    *place = integer;
    bind(statement, SQL_C_SBIGINT, SQL_BIGINT, place, 20, sizeof *place);
}

void storage_odbc_bind_null(struct storage_odbc_statement *statement, bool text)
{
    bind(statement, text ? SQL_C_CHAR : SQL_C_SBIGINT, text ? SQL_VARCHAR : SQL_BIGINT, "",
         text ? 1 : 20, SQL_NULL_DATA);
}

enum result storage_odbc_run(struct storage_odbc_statement *statement)
{
    SQLRETURN code = SQLExecute(statement->handle);
    statement->bound = 0;
    /* SQL_NO_DATA: an update that met no row. */
    return succeeded(code) || code == SQL_NO_DATA
               ? RESULT_OK
               : failure(statement->session, SQL_HANDLE_STMT, statement->handle);
}

enum result storage_odbc_fetch(struct storage_odbc_statement *statement)
{
    SQLRETURN code = SQLFetch(statement->handle);
    if (code == SQL_NO_DATA) {
        return RESULT_NOT_FOUND;
    }
    return succeeded(code) ? RESULT_OK
                           : failure(statement->session, SQL_HANDLE_STMT, statement->handle);
}

enum result storage_odbc_get_integer(struct storage_odbc_statement *statement, uint16_t column,
                                     int64_t *out, bool *is_null)
{
    SQLLEN count = 0;
    *out = 0;
    SQLRETURN code = SQLGetData(statement->handle, (SQLUSMALLINT)(column + 1), SQL_C_SBIGINT, out,
                                sizeof *out, &count);
    *is_null = count == SQL_NULL_DATA;
    return succeeded(code) ? RESULT_OK
                           : failure(statement->session, SQL_HANDLE_STMT, statement->handle);
}

/* In chunks: a driver may not know the length beforehand. */
enum result storage_odbc_get_text(struct storage_odbc_statement *statement, uint16_t column,
                                  struct arena *arena, struct span *out, bool *is_null)
{
    size_t capacity = TEXT_CHUNK;
    size_t used = 0;
    char *text = arena_alloc(arena, capacity);
    *out = SPAN_EMPTY;
    *is_null = false;
    while (text != NULL) {
        SQLLEN left = 0;
        SQLRETURN code = SQLGetData(statement->handle, (SQLUSMALLINT)(column + 1), SQL_C_CHAR,
                                    text + used, (SQLLEN)(capacity - used), &left);
        if (code == SQL_NO_DATA) {
            break;
        }
        if (!succeeded(code)) {
            return failure(statement->session, SQL_HANDLE_STMT, statement->handle);
        }
        if (left == SQL_NULL_DATA) {
            *is_null = true;
            return RESULT_OK;
        }
        if (left != SQL_NO_TOTAL && (size_t)left < capacity - used) {
            used += (size_t)left;
            break;
        }
        used = capacity - 1; /* full, with a NUL byte behind */
        if (capacity >= TEXT_BYTES_MAX) {
            return RESULT_LIMIT;
        }
        text = arena_grow(arena, text, capacity, capacity * 4);
        capacity *= 4;
    }
    *out = span_of(text, text == NULL ? 0 : used);
    return text == NULL ? RESULT_LIMIT : RESULT_OK;
}

/* The one table from SQLSTATE and the databases' own codes to ours. */
static enum result result_of(const struct diagnosis *diagnosis)
{
    static const struct {
        const char *state; /* or its class */
        SQLINTEGER native; /* 0: any */
        enum result result;
    } rows[] = {
        {"HY000", 1021, RESULT_FULL},  /* MySQL: disk full */
        {"HY000", 1114, RESULT_FULL},  /* MySQL: table is full */
        {"HY000", 1205, RESULT_AGAIN}, /* MySQL: lock wait timed out */
        {"42000", 1044, RESULT_DENIED},
        {"42000", 1142, RESULT_DENIED},
        {"53100", 0, RESULT_FULL}, /* PostgreSQL: disk full */
        {"53", 0, RESULT_IO},
        {"40", 0, RESULT_AGAIN},    /* deadlock, serialisation */
        {"55P03", 0, RESULT_AGAIN}, /* PostgreSQL: lock not available */
        {"28", 0, RESULT_DENIED},
        {"42501", 0, RESULT_DENIED},    /* PostgreSQL: privilege */
        {"HY000", 1045, RESULT_DENIED}, /* MySQL: access denied */
        {"42S02", 0, RESULT_NOT_FOUND}, /* no such table */
        {"42P01", 0, RESULT_NOT_FOUND},
        {"42S01", 0, RESULT_EXISTS},
        {"42P07", 0, RESULT_EXISTS},
        {"42000", 1061, RESULT_EXISTS}, /* MySQL: such an index */
        {"42S11", 0, RESULT_EXISTS},    /* SQL Server: such an index */
        {"23", 0, RESULT_EXISTS},       /* such a key */
        {"IM", 0, RESULT_INVALID},      /* the driver manager's */
        {"01000", 0, RESULT_INVALID},   /* (its word for a driver that cannot be loaded) */
        {"22", 0, RESULT_INVALID},      /* a value that does not fit */
        {"HYT", 0, RESULT_TIMEOUT},
        {"57014", 0, RESULT_TIMEOUT}, /* PostgreSQL: statement cancelled */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strncmp(diagnosis->state, rows[i].state, strlen(rows[i].state)) == 0 &&
            (rows[i].native == 0 || rows[i].native == diagnosis->native)) {
            return rows[i].result;
        }
    }
    return RESULT_IO;
}
