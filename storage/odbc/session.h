/*
 * session.h: one connection to a database over ODBC and its prepared statements. ODBC is
 * synchronous in all drivers: every call may block; one thread.
 */
#ifndef STORAGE_ODBC_SESSION_H
#define STORAGE_ODBC_SESSION_H

#include <sql.h>
#include <sqlext.h>

#include "proto/base/arena.h"
#include "storage/odbc/dialect.h"
#include "storage/odbc/odbc.h"

#define STORAGE_ODBC_PARAMETERS_MAX 2048u

struct storage_odbc_session {
    /* private to session.c, but `flavour` */
    enum storage_odbc_flavour flavour;
    SQLHENV environment;
    SQLHDBC connection;
    bool connected;
    uint32_t timeout_s;
};

/* A statement and where its parameters stand while it runs. */
struct storage_odbc_statement {
    struct storage_odbc_session *session;
    SQLHSTMT handle; /* NULL: not prepared */
    uint16_t bound;
    SQLLEN counts[STORAGE_ODBC_PARAMETERS_MAX];
    int64_t integers[STORAGE_ODBC_PARAMETERS_MAX];
};

/*
 * Connects in manual-commit mode. RESULT_DENIED wrong credentials; RESULT_UNSUPPORTED a database
 * that is not known; RESULT_INVALID no such driver; RESULT_IO. `reason` holds SQLSTATE and native
 * code, and nothing of the connection string.
 */
MUST_USE enum result storage_odbc_connect(struct storage_odbc_session *session,
                                          const char *connection, uint32_t timeout_s,
                                          char reason[STORAGE_ODBC_REASON_BYTES]);
/* Rolls back and disconnects; idempotent. Statements must have been released before. */
void storage_odbc_disconnect(struct storage_odbc_session *session);
/* RESULT_OK, or why not; after an error that cost the connection `connected` is false. */
MUST_USE enum result storage_odbc_commit(struct storage_odbc_session *session);
void storage_odbc_rollback(struct storage_odbc_session *session);

/* RESULT_LIMIT for a NULL text (an arena that was full). */
MUST_USE enum result storage_odbc_prepare(struct storage_odbc_session *session, const char *text,
                                          struct storage_odbc_statement *out);
/* Idempotent. */
void storage_odbc_release(struct storage_odbc_statement *statement);

/* The next parameters in their order; a text must live until the statement has run. */
void storage_odbc_bind_text(struct storage_odbc_statement *statement, struct span text);
void storage_odbc_bind_integer(struct storage_odbc_statement *statement, int64_t integer);
void storage_odbc_bind_null(struct storage_odbc_statement *statement, bool text);
/* Runs it and forgets its parameters. */
MUST_USE enum result storage_odbc_run(struct storage_odbc_statement *statement);
/* RESULT_NOT_FOUND behind the last row. */
MUST_USE enum result storage_odbc_fetch(struct storage_odbc_statement *statement);
/* Columns from 0, each once, in their order. *is_null: then the value is 0 or empty. */
MUST_USE enum result storage_odbc_get_integer(struct storage_odbc_statement *statement,
                                              uint16_t column, int64_t *out, bool *is_null);
MUST_USE enum result storage_odbc_get_text(struct storage_odbc_statement *statement,
                                           uint16_t column, struct arena *arena, struct span *out,
                                           bool *is_null);

#endif
