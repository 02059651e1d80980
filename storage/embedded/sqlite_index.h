/*
 * sqlite_index.h: what the SQLite index's writer (sqlite_index.c) and its queries (sqlite_query.c)
 * share. One thread.
 */
#ifndef STORAGE_EMBEDDED_SQLITE_INDEX_H
#define STORAGE_EMBEDDED_SQLITE_INDEX_H

#include <sqlite3.h>

#include "storage/audit_columns.h"
#include "storage/index.h"

#define STORAGE_SQLITE_MAGIC 0x4c515353u

struct storage_sqlite {
    struct storage_index index; /* first: the port points here */
    uint32_t magic;
    sqlite3 *database;
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *rollback;
    sqlite3_stmt *upsert;
    sqlite3_stmt *set_start;
    sqlite3_stmt *insert_log;
    sqlite3_stmt *set_position;
    sqlite3_stmt *get_position;
    sqlite3_stmt *remove_row;
    sqlite3_stmt *remove_logs;
    sqlite3_stmt *select_row;
    sqlite3_stmt *select_logs;
    struct arena arena; /* of one apply */
};

struct storage_sqlite *storage_sqlite_cast(struct storage_index *index);
/* The one table from SQLite's codes to ours. */
enum result storage_sqlite_result(const struct storage_sqlite *self, int code);
/* Text that lives until the statement is reset. */
int storage_sqlite_bind_text(sqlite3_stmt *statement, int place, struct span text);

/* "Column, Column, …" of ExecutionAudits, in the order of the enum. */
extern const char *const storage_sqlite_audit_columns;

enum result storage_sqlite_row(struct storage_index *index, struct span execution_id,
                               struct arena *arena, struct span *out);
enum result storage_sqlite_list(struct storage_index *index, struct span query, struct arena *arena,
                                struct span *out);
enum result storage_sqlite_logs(struct storage_index *index, struct span execution_id,
                                uint64_t first_index, uint32_t limit, struct arena *arena,
                                struct span *out);

#endif
