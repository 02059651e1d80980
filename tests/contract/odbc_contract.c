/* odbc_contract.c: see odbc_contract.h. */
#include "tests/contract/odbc_contract.h"

#include <criterion/criterion.h>
#include <sql.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "storage/odbc/odbc.h"

#define CONNECT_TRIES 2000
#define START_TRIES   20

/* What the drivers keep for the life of the process is not our leak. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:psqlodbcw.so\nleak:libmaodbc.so\n";
}

struct odbc_subject {
    struct contract_index subject; /* first */
    const struct contract_odbc *server;
    char base[32];
};

static void connection_of(const struct contract_odbc *server, uint16_t port, const char *base,
                          const char *password, char out[400])
{
    snprintf(out, 400, "Driver=%s;Server=127.0.0.1;Port=%u;Database=%s;UID=strider;PWD=%s;%s",
             server->driver, (unsigned)port, base, password, server->more);
}

/* Runs SQL past the adapter; false when it fails. */
static bool run_sql(const struct contract_odbc *server, uint16_t port, const char *base,
                    const char *sql)
{
    char connection[400];
    SQLHENV environment = NULL;
    SQLHDBC handle = NULL;
    SQLHSTMT statement = NULL;
    SQLSMALLINT count = 0;
    connection_of(server, port, base, "secret", connection);
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment);
    SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, environment, &handle);
    SQLRETURN connected = SQL_ERROR; /* (a server listens before it lets anybody in) */
    for (int i = 0; i < CONNECT_TRIES && !SQL_SUCCEEDED(connected); i++) {
        connected = SQLDriverConnect(handle, NULL, (SQLCHAR *)connection, SQL_NTS, NULL, 0, &count,
                                     SQL_DRIVER_NOPROMPT);
    }
    cr_assert(SQL_SUCCEEDED(connected));
    SQLAllocHandle(SQL_HANDLE_STMT, handle, &statement);
    SQLRETURN code = SQLExecDirect(statement, (SQLCHAR *)(uintptr_t)sql, SQL_NTS);
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    SQLDisconnect(handle);
    SQLFreeHandle(SQL_HANDLE_DBC, handle);
    SQLFreeHandle(SQL_HANDLE_ENV, environment);
    return SQL_SUCCEEDED(code) || code == SQL_NO_DATA;
}

static struct storage_index *open_base(const struct contract_odbc *server, uint16_t port,
                                       const char *base)
{
    char connection[400];
    char reason[STORAGE_ODBC_REASON_BYTES] = "";
    struct storage_index *index = NULL;
    connection_of(server, port, base, "secret", connection);
    const struct storage_odbc_options options = {.connection = connection, .timeout_s = 20};
    enum result result = storage_odbc_index_open(&options, &index, reason);
    cr_assert_eq(result, RESULT_OK, "%s: %s", result_text(result), reason);
    return index;
}

static struct storage_index *odbc_open(struct contract_index *self)
{
    struct odbc_subject *odbc = (struct odbc_subject *)self;
    return open_base(odbc->server, odbc->server->port, odbc->base);
}

static struct odbc_subject subject_new(const struct contract_odbc *server)
{
    char sql[64];
    struct odbc_subject odbc = {.subject = {.open = odbc_open}, .server = server};
    snprintf(odbc.base, sizeof odbc.base, "test_%d", (int)getpid());
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", odbc.base);
    cr_assert(run_sql(server, server->port, server->first_base, sql));
    return odbc;
}

void contract_odbc_index(const struct contract_odbc *server,
                         void (*rule)(struct contract_index *subject))
{
    struct odbc_subject odbc = subject_new(server);
    rule(&odbc.subject);
}

static enum result apply_json(struct storage_index *index, const char *text, uint64_t position)
{
    struct arena arena;
    struct json_error error;
    struct span message;
    arena_init(&arena, 4096, 16u << 20);
    cr_assert_eq(json_to_wire(span_text(text), 16, &arena, &message, &error), RESULT_OK, "%s",
                 error.reason);
    enum result result = index->ops->apply(index, &message, 1, position);
    arena_release(&arena);
    return result;
}

static void expect_text(struct storage_index *index, const char *field, struct span expected)
{
    struct arena arena;
    struct span row;
    arena_init(&arena, 4096, 16u << 20);
    cr_assert_eq(index->ops->row(index, span_text("e"), &arena, &row), RESULT_OK);
    struct span value = wire_string_or(wire_find_text(row, field), "?");
    cr_assert(span_equal(value, expected), "%s: %zu bytes, not %zu: %.60s", field, value.count,
              expected.count, (const char *)value.bytes);
    arena_release(&arena);
}

void contract_odbc_keeps_what_the_database_would_refuse(const struct contract_odbc *server)
{
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);

    enum result result = apply_json(index,
                                    "{\"executionId\":\"e\",\"revision\":1,\"errorMessage\":"
                                    "\"a\\u0000b\",\"status\":7,\"run\":\"no number\","
                                    "\"isTest\":3,\"taskId\":[1],\"logs\":[{\"index\":0,"
                                    "\"message\":\"\\u0000\",\"data\":\"\\u0000\"}]}",
                                    5);

    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    expect_text(index, "errorMessage",
                span_text("a\xef\xbf\xbd"
                          "b"));
    expect_text(index, "status", span_text("7"));
    index->ops->close(index);
}

void contract_odbc_keeps_long_and_many_byte_texts(const struct contract_odbc *server)
{
    static const char piece[] = "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80'\\\"%_;--";
    static const size_t pieces[] = {1, 50, 60, 70, 250, 1000, 20000};
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t count = pieces[i] * (sizeof piece - 1);
        char *text = malloc(count + 1);
        char *json = malloc(count * 2 + 200);
        int used = snprintf(json, 200,
                            "{\"executionId\":\"e\",\"revision\":%zu,\"errorMessage\":\"", i + 1);
        for (size_t at = 0; at < pieces[i]; at++) {
            memcpy(text + at * (sizeof piece - 1), piece, sizeof piece - 1);
        }
        for (size_t at = 0; at < count; at++) {
            if (text[at] == '"' || text[at] == '\\') {
                json[used++] = '\\';
            }
            json[used++] = text[at];
        }
        memcpy(json + used, "\"}", 3);

        cr_assert_eq(apply_json(index, json, i), RESULT_OK);

        expect_text(index, "errorMessage", span_of(text, count));
        free(json);
        free(text);
    }
    index->ops->close(index);
}

void contract_odbc_has_the_tables_and_columns_that_others_rely_on(
    const struct contract_odbc *server)
{
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);
    cr_assert_eq(apply_json(index, "{\"executionId\":\"e\",\"revision\":1}", 7), RESULT_OK);
    index->ops->close(index);

    cr_assert(run_sql(
        server, server->port, odbc.base,
        "SELECT MessageId,ExecutionId,Run,Revision,WorkspaceId,ProjectId,Process,Version,Channel,"
        "ChannelSessionId,Event,State,Status,Lifecycle,Sequence,TaskId,StartedAt,UpdatedAt,EndedAt,"
        "PayloadSizeBytes,ErrorCode,ErrorMessage,IsTest,LastPersistedLogIndex "
        "FROM ExecutionAudits"));
    cr_assert(run_sql(server, server->port, odbc.base,
                      "SELECT ExecutionId,LogIndex,At,Level,Message,TaskId,Data "
                      "FROM ExecutionLogs"));
    cr_assert_not(run_sql(server, server->port, odbc.base, "SELECT Nothing FROM ExecutionLogs"));
}

void contract_odbc_goes_on_making_tables_that_were_half_made(const struct contract_odbc *server)
{
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);
    index->ops->close(index);
    cr_assert(run_sql(server, server->port, odbc.base, "DROP TABLE ExecutionLogs"));
    cr_assert(run_sql(server, server->port, odbc.base, "DELETE FROM IndexPosition"));
    if (server->transactional) {
        cr_assert(run_sql(server, server->port, odbc.base, "DROP TABLE ExecutionAudits"));
        cr_assert(run_sql(server, server->port, odbc.base, "DROP TABLE IndexPosition"));
    }

    index = odbc_open(&odbc.subject);

    cr_assert_eq(apply_json(index,
                            "{\"executionId\":\"e\",\"revision\":1,\"status\":\"one\","
                            "\"logs\":[{\"index\":0,\"message\":\"x\"}]}",
                            5),
                 RESULT_OK);
    expect_text(index, "status", span_text("one"));
    index->ops->close(index);
}

/* As the first tables were made. */
void contract_odbc_takes_tables_whose_state_was_a_text(const struct contract_odbc *server)
{
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);
    index->ops->close(index);
    cr_assert(run_sql(server, server->port, odbc.base,
                      server->transactional
                          ? "ALTER TABLE ExecutionAudits ALTER COLUMN State TYPE TEXT"
                          : "ALTER TABLE ExecutionAudits MODIFY State VARCHAR(255)"));

    index = odbc_open(&odbc.subject);
    cr_assert_eq(apply_json(index, "{\"executionId\":\"e\",\"revision\":1,\"state\":3}", 5),
                 RESULT_OK);
    cr_assert_eq(apply_json(index, "{\"executionId\":\"e\",\"revision\":2,\"state\":40}", 6),
                 RESULT_OK);
    struct arena arena;
    struct span row;
    arena_init(&arena, 4096, 1u << 20);
    cr_assert_eq(index->ops->row(index, span_text("e"), &arena, &row), RESULT_OK);
    cr_assert_eq(wire_int_or(wire_find_text(row, "state"), -1), 40);
    arena_release(&arena);
    index->ops->close(index);
}

void contract_odbc_refuses_tables_of_a_later_version(const struct contract_odbc *server)
{
    struct odbc_subject odbc = subject_new(server);
    struct storage_index *index = odbc_open(&odbc.subject);
    index->ops->close(index);
    cr_assert(
        run_sql(server, server->port, odbc.base, "UPDATE IndexPosition SET Position=2 WHERE Id=0"));
    char connection[400];
    char reason[STORAGE_ODBC_REASON_BYTES] = "";
    connection_of(server, server->port, odbc.base, "secret", connection);
    const struct storage_odbc_options options = {.connection = connection, .timeout_s = 20};

    cr_assert_eq(storage_odbc_index_open(&options, &index, reason), RESULT_UNSUPPORTED);

    cr_assert_not_null(strstr(reason, "later version"), "%s", reason);
}

static bool told_secret;

static void watch_line(enum log_level level, const char *id, struct span fields)
{
    (void)level;
    (void)id;
    told_secret = told_secret || memmem(fields.bytes, fields.count, "hunter2", 7) != NULL;
}

void contract_odbc_denies_wrong_credentials_and_tells_no_secret(const struct contract_odbc *server)
{
    char connection[400];
    char reason[STORAGE_ODBC_REASON_BYTES] = "";
    struct storage_index *index = NULL;
    log_set_writer(watch_line, LOG_DEBUG);
    connection_of(server, server->port, server->first_base, "hunter2", connection);
    const struct storage_odbc_options options = {.connection = connection, .timeout_s = 20};

    enum result result = storage_odbc_index_open(&options, &index, reason);

    cr_assert_eq(result, RESULT_DENIED, "%s: %s", result_text(result), reason);
    cr_assert_not_null(strstr(reason, "SQLSTATE"), "%s", reason);
    cr_assert_null(strstr(reason, "hunter2"));
    cr_assert_not(told_secret);
}

void contract_odbc_names_a_missing_driver(const struct contract_odbc *server)
{
    (void)server;
    char reason[STORAGE_ODBC_REASON_BYTES] = "";
    struct storage_index *index = NULL;
    const struct storage_odbc_options options = {.connection = "Driver=None Such;PWD=hunter2",
                                                 .timeout_s = 20};

    cr_assert_eq(storage_odbc_index_open(&options, &index, reason), RESULT_INVALID);

    cr_assert_not_null(strstr(reason, "driver"), "%s", reason);
    cr_assert_null(strstr(reason, "hunter2"));
}

void contract_odbc_goes_on_when_the_server_has_been_away(const struct contract_odbc *server)
{
    struct server own = {0};
    uint64_t position = 0;
    cr_assert(server->start(&own));
    cr_assert(run_sql(server, own.port, server->first_base, "CREATE DATABASE audit"));
    struct storage_index *index = open_base(server, own.port, "audit");
    cr_assert_eq(apply_json(index, "{\"executionId\":\"e\",\"revision\":1,\"status\":\"one\"}", 5),
                 RESULT_OK);

    /* (PostgreSQL's other processes outlive the one that is killed, by a moment.) */
    server_kill(&own);
    enum result result = RESULT_OK;
    for (int i = 0; i < CONNECT_TRIES && result == RESULT_OK; i++) {
        result = index->ops->position(index, &position);
    }
    cr_assert_eq(result, RESULT_IO, "%s", result_text(result));
    cr_assert_eq(apply_json(index, "{\"executionId\":\"e\",\"revision\":2}", 6), RESULT_IO);
    bool started = server->start(&own);
    for (int i = 0; i < START_TRIES && !started; i++) {
        started = server->start(&own);
    }
    cr_assert(started);
    for (int i = 0; i < CONNECT_TRIES && result != RESULT_OK; i++) {
        result = index->ops->position(index, &position);
    }

    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    cr_assert_eq(position, 5);
    cr_assert_eq(
        apply_json(index, "{\"executionId\":\"e\",\"revision\":3,\"status\":\"three\"}", 6),
        RESULT_OK);
    expect_text(index, "status", span_text("three"));
    index->ops->close(index);
    server_remove(&own);
}
