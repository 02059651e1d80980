/*
 * odbc.h: the index and audit tables in PostgreSQL, MariaDB or MySQL, and by their dialect in SQL
 * Server, over ODBC. The tables are made when they are missing. Calls block, as the port allows;
 * one thread.
 *
 * A lost connection costs the call that meets it (RESULT_IO); the next call connects again. What
 * was applied is as durable as the database's commits: flush has nothing to do. NUL bytes, which
 * databases refuse, are kept as U+FFFD. RESULT_DENIED may also come from calls.
 */
#ifndef STORAGE_ODBC_ODBC_H
#define STORAGE_ODBC_ODBC_H

#include <stdbool.h>

#include "storage/index.h"

#define STORAGE_ODBC_REASON_BYTES 200u

struct storage_odbc_options {
    const char *connection; /* "Driver=PostgreSQL Unicode;Server=…;Database=…;UID=…;PWD=…" */
    uint32_t timeout_s;     /* of connecting, and of each statement where the driver can */
    bool may_be_away; /* opens also while there is no server, or it refuses us; then each call tries
                         to connect, with growing pauses, in which calls fail at once */
};

/*
 * Copies the options and connects. RESULT_DENIED, RESULT_INVALID (no such driver),
 * RESULT_UNSUPPORTED (another database, or tables of a later version), RESULT_IO: `reason` says
 * more, without any secret.
 */
MUST_USE enum result storage_odbc_index_open(const struct storage_odbc_options *options,
                                             struct storage_index **out,
                                             char reason[STORAGE_ODBC_REASON_BYTES]);

#endif
