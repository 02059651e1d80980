/* dialect.h: how the databases that ODBC reaches differ: their SQL. Pure functions. */
#ifndef STORAGE_ODBC_DIALECT_H
#define STORAGE_ODBC_DIALECT_H

#include "proto/base/arena.h"
#include "storage/audit_columns.h"
#include "storage/index_query.h"

enum storage_odbc_flavour { STORAGE_ODBC_POSTGRESQL, STORAGE_ODBC_MYSQL, STORAGE_ODBC_SQL_SERVER };

enum storage_odbc_table { STORAGE_ODBC_AUDITS, STORAGE_ODBC_LOGS };

/* By the name that the driver gives its server; RESULT_UNSUPPORTED for any other. */
MUST_USE enum result storage_odbc_flavour_of(const char *dbms_name, enum storage_odbc_flavour *out);

/* "Column, Column, …" of ExecutionAudits, in the order of enum storage_audit_column. */
extern const char *const storage_odbc_audit_columns;

/*
 * The texts live in the arena; NULL when it is full. `at` counts the statements that make the
 * tables, from 0; NULL behind the last.
 */
const char *storage_odbc_schema(enum storage_odbc_flavour flavour, size_t at, struct arena *arena);
/* Whether the next two take any number of rows, a column as one parameter: an array's text. */
bool storage_odbc_takes_arrays(enum storage_odbc_flavour flavour);
/*
 * Of `rows` different executions. Parameters of each: all columns in their order. Writes if the
 * revision is newer than the stored one.
 */
const char *storage_odbc_upsert(enum storage_odbc_flavour flavour, size_t rows,
                                struct arena *arena);
/*
 * Of `rows` entries. Parameters of each: ExecutionId, and enum storage_log_column in their order.
 * Nothing where it is there; only SQL Server minds one that is given twice.
 */
const char *storage_odbc_insert_logs(enum storage_odbc_flavour flavour, size_t rows,
                                     struct arena *arena);
/* Parameters: the filters that are given, since, and the cursor as start, start, id. */
const char *storage_odbc_list(enum storage_odbc_flavour flavour,
                              const struct storage_index_query *query, struct arena *arena);
/* Parameters: ExecutionId, LogIndex. */
const char *storage_odbc_logs(enum storage_odbc_flavour flavour, uint32_t limit,
                              struct arena *arena);

#endif
