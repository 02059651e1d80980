/* log_copy_test.c: the log is copied while it is written to (a backup of a running engine). */
#include <criterion/criterion.h>

#include "storage/embedded/log/log_copy.h"
#include "storage/file.h"
#include "tests/contract/support.h"

enum { BATCHES = 100, BATCH_BYTES = 500 };

struct opened {
    struct storage_files *files;
    struct storage_journal *journal;
    struct storage_journal_report report;
};

static struct opened open_log(const char *directory)
{
    struct opened log = {0};
    const struct storage_journal_options options = {.segment_bytes = 4096};
    cr_assert_eq(storage_posix_new(directory, &log.files), RESULT_OK);
    cr_assert_eq(storage_log_open(log.files, &options, &log.journal, &log.report), RESULT_OK);
    return log;
}

static void close_log(struct opened *log)
{
    storage_log_close(log->journal);
    storage_posix_free(log->files);
}

static void append(struct opened *log, unsigned from, unsigned count)
{
    uint8_t bytes[BATCH_BYTES];
    uint64_t position;
    for (unsigned i = from; i < from + count; i++) {
        contract_fill(bytes, sizeof bytes, i);
        cr_assert_eq(
            log->journal->ops->append(log->journal, span_of(bytes, sizeof bytes), &position),
            RESULT_OK);
    }
}

static void sync_log(struct opened *log)
{
    cr_assert_eq(log->journal->ops->sync(log->journal, true), RESULT_OK);
}

/* How many of the batches, from number `from` on, it has; all must be right. */
static unsigned read_all(struct opened *log, unsigned from)
{
    struct storage_journal_reader *reader;
    const struct storage_journal_ops *ops = log->journal->ops;
    struct span batch;
    uint64_t position;
    uint8_t bytes[BATCH_BYTES];
    unsigned count = 0;
    cr_assert_eq(ops->reader_open(log->journal, ops->begin(log->journal), &reader), RESULT_OK);
    while (ops->reader_next(reader, &batch, &position) == RESULT_OK) {
        contract_fill(bytes, sizeof bytes, from + count);
        cr_assert(span_equal(batch, span_of(bytes, sizeof bytes)), "batch %u", from + count);
        count++;
    }
    ops->reader_close(reader);
    return count;
}

static void copy_of(struct opened *log, const char *directory)
{
    uint64_t end;
    cr_assert_eq(storage_log_copy(log->journal, directory, &end), RESULT_OK);
    cr_assert_eq(end, log->journal->ops->end(log->journal));
}

Test(log_copy, many_files_are_copied_up_to_the_last_synced_batch)
{
    struct contract_directory directory = contract_directory_new();
    struct opened log = open_log(contract_path(&directory, "journal"));
    append(&log, 0, BATCHES);
    sync_log(&log);
    append(&log, BATCHES, 3); /* in the tail, and nobody's yet */

    copy_of(&log, contract_path(&directory, "copy"));

    struct opened copy = open_log(contract_path(&directory, "copy"));
    cr_expect_eq(copy.report.corrupt_batches, 0);
    cr_expect_eq(copy.report.torn_bytes, 0);
    cr_expect_eq(read_all(&copy, 0), BATCHES);
    append(&copy, BATCHES, 1); /* it goes on where the copy ends */
    sync_log(&copy);
    cr_expect_eq(read_all(&copy, 0), BATCHES + 1);
    close_log(&copy);
    close_log(&log);
    contract_directory_remove(&directory);
}

Test(log_copy, a_trimmed_log_is_copied_from_its_beginning)
{
    struct contract_directory directory = contract_directory_new();
    struct opened log = open_log(contract_path(&directory, "journal"));
    append(&log, 0, BATCHES);
    sync_log(&log);
    const struct storage_journal_ops *ops = log.journal->ops;
    cr_assert_eq(ops->trim(log.journal, ops->end(log.journal) / 2), RESULT_OK);
    unsigned kept = 0;
    struct storage_journal_reader *reader;
    struct span batch;
    uint64_t position;
    cr_assert_eq(ops->reader_open(log.journal, ops->begin(log.journal), &reader), RESULT_OK);
    while (ops->reader_next(reader, &batch, &position) == RESULT_OK) {
        kept++;
    }
    ops->reader_close(reader);
    cr_assert_lt(kept, BATCHES);

    copy_of(&log, contract_path(&directory, "copy"));

    struct opened copy = open_log(contract_path(&directory, "copy"));
    cr_expect_eq(copy.journal->ops->begin(copy.journal), ops->begin(log.journal));
    cr_expect_eq(read_all(&copy, BATCHES - kept), kept);
    close_log(&copy);
    close_log(&log);
    contract_directory_remove(&directory);
}

Test(log_copy, an_empty_log_is_copied_as_one)
{
    struct contract_directory directory = contract_directory_new();
    struct opened log = open_log(contract_path(&directory, "journal"));

    copy_of(&log, contract_path(&directory, "copy"));

    struct opened copy = open_log(contract_path(&directory, "copy"));
    cr_expect_eq(read_all(&copy, 0), 0);
    append(&copy, 0, 5);
    sync_log(&copy);
    cr_expect_eq(read_all(&copy, 0), 5);
    close_log(&copy);
    close_log(&log);
    contract_directory_remove(&directory);
}
