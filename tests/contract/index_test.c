/* index_test.c: the index in SQLite keeps its contract. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>

#include "storage/embedded/embedded.h"
#include "tests/contract/file_limit.h"
#include "tests/contract/index_contract.h"
#include "tests/contract/support.h"

struct sqlite_subject {
    struct contract_index subject; /* first */
    struct contract_directory directory;
};

static struct storage_index *sqlite_open(struct contract_index *self)
{
    struct sqlite_subject *sqlite = (struct sqlite_subject *)self;
    struct storage_index *index = NULL;
    enum result result =
        storage_sqlite_index_open(contract_path(&sqlite->directory, "audit.db"), &index);
    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    return index;
}

static void sqlite_set_full(struct contract_index *self, bool full)
{
    struct sqlite_subject *sqlite = (struct sqlite_subject *)self;
    const char *wal = contract_path(&sqlite->directory, "audit.db-wal");
    contract_file_limit(full ? contract_file_bytes(wal) + (1 << 20) : UINT64_MAX);
}

static struct sqlite_subject subject_new(void)
{
    return (struct sqlite_subject){
        .subject = {.open = sqlite_open, .set_full = sqlite_set_full},
        .directory = contract_directory_new(),
    };
}

static void in_sqlite(void (*rule)(struct contract_index *))
{
    struct sqlite_subject sqlite = subject_new();
    rule(&sqlite.subject);
    contract_directory_remove(&sqlite.directory);
}

#define X(rule)                                                                                    \
    Test(index_in_sqlite, rule)                                                                    \
    {                                                                                              \
        in_sqlite(contract_index_##rule);                                                          \
    }
CONTRACT_INDEX_RULES(X)
#undef X

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    cr_assert_eq(sqlite3_open(path, &database), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(database));
    sqlite3_close(database);
}

Test(index_in_sqlite, a_file_of_a_later_version_is_refused_and_left_alone)
{
    struct sqlite_subject sqlite = subject_new();
    struct storage_index *index = NULL;
    const char *path = contract_path(&sqlite.directory, "audit.db");
    run_sql(path, "PRAGMA user_version=2");

    cr_assert_eq(storage_sqlite_index_open(path, &index), RESULT_UNSUPPORTED);

    contract_directory_remove(&sqlite.directory);
}

Test(index_in_sqlite, a_file_that_is_no_database_is_corrupt)
{
    struct sqlite_subject sqlite = subject_new();
    struct storage_index *index = NULL;
    const char *path = contract_path(&sqlite.directory, "audit.db");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 5000; i++) {
        fputs("not a database ", file);
    }
    fclose(file);

    cr_assert_eq(storage_sqlite_index_open(path, &index), RESULT_CORRUPT);

    contract_directory_remove(&sqlite.directory);
}

Test(index_in_sqlite, has_the_tables_and_columns_that_others_rely_on)
{
    struct sqlite_subject sqlite = subject_new();
    struct storage_index *index = sqlite_open(&sqlite.subject);
    index->ops->close(index);

    run_sql(
        contract_path(&sqlite.directory, "audit.db"),
        "SELECT MessageId,ExecutionId,Run,Revision,WorkspaceId,ProjectId,Process,Version,Channel,"
        "ChannelSessionId,Event,State,Status,Lifecycle,Sequence,TaskId,StartedAt,UpdatedAt,EndedAt,"
        "PayloadSizeBytes,ErrorCode,ErrorMessage,IsTest,LastPersistedLogIndex FROM ExecutionAudits;"
        "SELECT ExecutionId,LogIndex,At,Level,Message,TaskId,Data FROM ExecutionLogs");

    contract_directory_remove(&sqlite.directory);
}

Test(index_in_sqlite, another_program_may_read_meanwhile)
{
    struct sqlite_subject sqlite = subject_new();
    struct storage_index *index = sqlite_open(&sqlite.subject);
    struct span none = SPAN_EMPTY;
    cr_assert_eq(index->ops->apply(index, &none, 0, 5), RESULT_OK);

    run_sql(contract_path(&sqlite.directory, "audit.db"),
            "SELECT count(*) FROM ExecutionAudits; SELECT Position FROM IndexPosition");

    cr_assert_eq(index->ops->apply(index, &none, 0, 6), RESULT_OK);
    index->ops->close(index);
    contract_directory_remove(&sqlite.directory);
}
