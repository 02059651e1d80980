/* log_test.c: the embedded log keeps the journal's contract, on a real directory and on a disk in
 * memory. */
#include <criterion/criterion.h>

#include "tests/contract/full_files.h"
#include "tests/contract/journal_contract.h"
#include "tests/contract/support.h"
#include "tests/simulate/power_cut_files.h"

struct log_subject {
    struct contract_journal subject; /* first */
    struct contract_full_files files;
    bool prepare_ahead;
};

static struct storage_journal *log_open(struct contract_journal *self,
                                        struct storage_journal_report *report)
{
    struct log_subject *log = (struct log_subject *)self;
    struct storage_journal_options options = {
        .segment_bytes = CONTRACT_JOURNAL_FILE_BYTES,
        .prepare_ahead = log->prepare_ahead,
    };
    struct storage_journal *journal = NULL;
    enum result result = storage_log_open(&log->files.files, &options, &journal, report);
    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    return journal;
}

static void log_set_full(struct contract_journal *self, bool full)
{
    ((struct log_subject *)self)->files.full_for_reservations = full;
}

static struct log_subject subject_over(struct storage_files *files, bool prepare_ahead)
{
    struct log_subject log = {
        .subject = {.open = log_open, .close = storage_log_close, .set_full = log_set_full},
        .prepare_ahead = prepare_ahead,
    };
    contract_full_files_init(&log.files, files);
    return log;
}

static void on_disk(void (*rule)(struct contract_journal *), bool prepare_ahead)
{
    struct contract_directory directory = contract_directory_new();
    struct storage_files *files = NULL;
    cr_assert_eq(storage_posix_new(contract_path(&directory, "journal"), &files), RESULT_OK);
    struct log_subject log = subject_over(files, prepare_ahead);
    rule(&log.subject);
    storage_posix_free(files);
    contract_directory_remove(&directory);
}

static void in_memory(void (*rule)(struct contract_journal *))
{
    struct power_cut_files *disk = power_cut_files_new(1);
    struct log_subject log = subject_over(power_cut_files_layer(disk), false);
    rule(&log.subject);
    power_cut_files_free(disk);
}

#define X(rule)                                                                                    \
    Test(log_on_disk, rule)                                                                        \
    {                                                                                              \
        on_disk(contract_journal_##rule, false);                                                   \
    }                                                                                              \
    Test(log_on_disk_prepared_ahead, rule)                                                         \
    {                                                                                              \
        on_disk(contract_journal_##rule, true);                                                    \
    }                                                                                              \
    Test(log_in_memory, rule)                                                                      \
    {                                                                                              \
        in_memory(contract_journal_##rule);                                                        \
    }
CONTRACT_JOURNAL_RULES(X)
