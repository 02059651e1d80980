/*
 * power_cut_test.c: the journal under power cuts at every instant. One run does appends, syncs,
 * trims and restarts drawn from a seed; the same run is then repeated with the power going at each
 * single operation of the disk, and what the journal promised is checked after the restart.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "storage/journal.h"
#include "tests/simulate/power_cut_files.h"

#define STEPS         120
#define BATCH_MAX     900
#define SEGMENT_BYTES 4096
#define POSITIONS_MAX 512

/* What the journal said, to hold it to. Batch n holds n and bytes that follow from n. */
struct promise {
    uint64_t positions[POSITIONS_MAX]; /* behind batch n */
    uint64_t appended;                 /* batches */
    uint64_t acknowledged;             /* batches, by a sync that said RESULT_OK */
    uint64_t trimmed;                  /* batches before this one may be gone */
};

struct run {
    struct power_cut_files *disk;
    struct storage_journal *journal;
    struct promise promise;
    uint64_t random;
    const char *broken; /* the promise that was not kept, or NULL */
};

static uint64_t draw(struct run *run, uint64_t below)
{
    run->random ^= run->random >> 12;
    run->random ^= run->random << 25;
    run->random ^= run->random >> 27;
    return (run->random * 2685821657736338717ull >> 33) % below;
}

static size_t batch_bytes(uint64_t number, uint8_t out[BATCH_MAX])
{
    uint64_t state = number * 0x9e3779b97f4a7c15ull + 1;
    size_t count = 8 + (size_t)(state >> 40) % (BATCH_MAX - 8);
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        out[i] = (uint8_t)(state >> 56);
    }
    memcpy(out, &number, sizeof number);
    return count;
}

static enum result open_journal(struct run *run)
{
    struct storage_journal_options options = {.segment_bytes = SEGMENT_BYTES};
    struct storage_journal_report report;
    enum result result =
        storage_log_open(power_cut_files_layer(run->disk), &options, &run->journal, &report);
    if (result == RESULT_OK && report.corrupt_batches > 0) {
        run->broken = "the journal calls acknowledged batches corrupt";
    }
    return result;
}

static void close_journal(struct run *run)
{
    storage_log_close(run->journal);
    run->journal = NULL;
}

/* Reads everything; sets promise.appended to what is there. RESULT_IO: the power is off. */
static enum result check(struct run *run)
{
    struct promise *promise = &run->promise;
    struct storage_journal_reader *reader = NULL;
    const struct storage_journal_ops *ops = run->journal->ops;
    enum result result = ops->reader_open(run->journal, ops->begin(run->journal), &reader);
    if (result != RESULT_OK) {
        run->broken = "no reader at the beginning";
        return result;
    }
    uint64_t expected = UINT64_MAX;
    struct span batch;
    uint64_t position = ops->begin(run->journal);
    result = ops->reader_next(reader, &batch, &position);
    for (; result == RESULT_OK; result = ops->reader_next(reader, &batch, &position)) {
        uint64_t number = 0;
        uint8_t bytes[BATCH_MAX];
        memcpy(&number, batch.bytes, sizeof number);
        size_t count = batch_bytes(number, bytes);
        if (!span_equal(batch, span_of(bytes, count))) {
            run->broken = "a batch with other bytes";
        } else if (expected == UINT64_MAX ? number > promise->trimmed : number != expected) {
            run->broken = "a batch is missing or out of order";
        } else if (number >= promise->appended) {
            run->broken = "a batch that was never appended here";
        } else if (position != promise->positions[number]) {
            run->broken = "a batch at another position";
        }
        expected = number + 1;
        if (run->broken != NULL) {
            break;
        }
    }
    ops->reader_close(reader);
    if (run->broken != NULL || result == RESULT_IO) {
        return result;
    }
    uint64_t found = expected == UINT64_MAX ? promise->trimmed : expected;
    if (result != RESULT_NOT_FOUND) {
        run->broken = "a batch is called corrupt";
    } else if (found < promise->acknowledged) {
        run->broken = "an acknowledged batch is lost";
    } else if (position != ops->end(run->journal)) {
        run->broken = "the last batch does not end where the journal ends";
    }
    promise->appended = found;
    return RESULT_OK;
}

static enum result append_one(struct run *run)
{
    struct promise *promise = &run->promise;
    uint8_t bytes[BATCH_MAX];
    size_t count = batch_bytes(promise->appended, bytes);
    uint64_t *position = &promise->positions[promise->appended];
    enum result result = run->journal->ops->append(run->journal, span_of(bytes, count), position);
    promise->appended += result == RESULT_OK ? 1 : 0;
    return result;
}

static enum result sync_all(struct run *run)
{
    enum result result = run->journal->ops->sync(run->journal, true);
    if (result == RESULT_OK) {
        run->promise.acknowledged = run->promise.appended;
    }
    return result;
}

static enum result trim_some(struct run *run)
{
    struct promise *promise = &run->promise;
    if (promise->acknowledged == 0) {
        return RESULT_OK;
    }
    uint64_t until = draw(run, promise->acknowledged) + 1;
    promise->trimmed = until > promise->trimmed ? until : promise->trimmed;
    return run->journal->ops->trim(run->journal, promise->positions[until - 1]);
}

static enum result restart(struct run *run)
{
    close_journal(run);
    enum result result = open_journal(run);
    return result == RESULT_OK ? check(run) : result;
}

/* The seeded run, until its end or until the disk fails. */
static void work(struct run *run)
{
    enum result result = open_journal(run);
    for (int i = 0; i < STEPS && result == RESULT_OK && run->broken == NULL; i++) {
        uint64_t dice = draw(run, 20);
        if (dice < 11) {
            result = append_one(run);
        } else if (dice < 17) {
            result = sync_all(run);
        } else if (dice < 19) {
            result = trim_some(run);
        } else {
            result = restart(run);
        }
    }
    if (result == RESULT_OK) {
        result = sync_all(run);
    }
}

struct fault {
    uint64_t stop_at;
    enum power_cut_loss loss;
    uint64_t skip_sync;
    uint64_t skip_directory_sync;
};

static const struct fault no_fault = {UINT64_MAX, POWER_CUT_LOSES_ALL, UINT64_MAX, UINT64_MAX};

struct outcome {
    const char *broken;
    uint64_t operations;
    uint64_t syncs;
    uint64_t directory_syncs;
};

/* One run with one fault; then the restart, the check, some more work and the check again. */
static struct outcome run_with(uint64_t seed, struct fault fault)
{
    struct run run = {.disk = power_cut_files_new(seed + fault.stop_at), .random = seed * 2 + 1};
    power_cut_files_stop_at(run.disk, fault.stop_at);
    power_cut_files_skip_sync(run.disk, fault.skip_sync);
    power_cut_files_skip_directory_sync(run.disk, fault.skip_directory_sync);
    work(&run);
    close_journal(&run);
    struct outcome outcome = {
        .operations = power_cut_files_operations(run.disk),
        .syncs = power_cut_files_syncs(run.disk),
        .directory_syncs = power_cut_files_directory_syncs(run.disk),
    };
    power_cut_files_skip_sync(run.disk, UINT64_MAX);
    power_cut_files_skip_directory_sync(run.disk, UINT64_MAX);
    for (int round = 0; round < 2 && run.broken == NULL; round++) {
        power_cut_files_cut(run.disk, fault.loss);
        if (open_journal(&run) != RESULT_OK) {
            run.broken = "the journal does not open";
            break;
        }
        if (run.broken == NULL && check(&run) != RESULT_OK && run.broken == NULL) {
            run.broken = "the journal cannot be read";
        }
        for (int i = 0; i < 5 && run.broken == NULL; i++) {
            if (append_one(&run) != RESULT_OK || sync_all(&run) != RESULT_OK) {
                run.broken = "the journal does not go on";
            }
        }
        close_journal(&run);
    }
    outcome.broken = run.broken;
    power_cut_files_free(run.disk);
    return outcome;
}

static void cut_everywhere(uint64_t seed, enum power_cut_loss loss)
{
    struct outcome whole = run_with(seed, no_fault);
    cr_assert_null(whole.broken, "seed %lu without a cut: %s", seed, whole.broken);
    cr_assert_gt(whole.operations, 40, "seed %lu does too little", seed);
    for (uint64_t at = 0; at < whole.operations; at++) {
        struct fault fault = no_fault;
        fault.stop_at = at;
        fault.loss = loss;
        struct outcome outcome = run_with(seed, fault);
        cr_assert_null(outcome.broken, "seed %lu, power cut at operation %lu of %lu: %s", seed, at,
                       whole.operations, outcome.broken);
    }
}

Test(power_cut, loses_nothing_acknowledged_at_any_instant)
{
    for (uint64_t seed = 1; seed <= 16; seed++) {
        cut_everywhere(seed, POWER_CUT_LOSES_ALL);
    }
}

Test(power_cut, loses_nothing_acknowledged_when_some_unsynced_sectors_survive)
{
    for (uint64_t seed = 1; seed <= 32; seed++) {
        cut_everywhere(seed, POWER_CUT_LOSES_SOME);
    }
}

/* Without durability files are not synced; the next process may have another setting. */
Test(power_cut, takes_nothing_that_an_opened_journal_has_whatever_the_process_before_it_synced)
{
    struct run run = {.disk = power_cut_files_new(1), .random = 1};
    cr_assert_eq(open_journal(&run), RESULT_OK);
    for (int i = 0; i < 40; i++) {
        cr_assert_eq(append_one(&run), RESULT_OK);
        cr_assert_eq(run.journal->ops->sync(run.journal, false), RESULT_OK);
    }
    close_journal(&run); /* as a kill: what was written stays */
    cr_assert_eq(open_journal(&run), RESULT_OK);
    cr_assert_eq(check(&run), RESULT_OK);
    cr_assert_eq(run.promise.appended, 40);
    run.promise.acknowledged = 40; /* it was read, and from now on it is acted on */
    close_journal(&run);

    power_cut_files_cut(run.disk, POWER_CUT_LOSES_ALL);

    cr_assert_eq(open_journal(&run), RESULT_OK);
    cr_expect_eq(check(&run), RESULT_OK);
    cr_expect_null(run.broken, "%s", run.broken);
    close_journal(&run);
    power_cut_files_free(run.disk);
}

/* How many cuts of one seeded run show a broken promise when one sync of it is left out. */
static uint64_t violations(uint64_t seed, struct fault fault, uint64_t operations)
{
    uint64_t count = 0;
    for (fault.stop_at = 0; fault.stop_at < operations; fault.stop_at++) {
        count += run_with(seed, fault).broken != NULL ? 1 : 0;
    }
    return count;
}

Test(power_cut, shows_the_loss_when_one_file_sync_is_taken_out)
{
    uint64_t seed = 3;
    struct outcome whole = run_with(seed, no_fault);
    cr_assert_gt(whole.syncs, 5);
    uint64_t shown = 0;
    for (uint64_t skipped = 0; skipped < whole.syncs; skipped++) {
        struct fault fault = no_fault;
        fault.skip_sync = skipped;
        shown += violations(seed, fault, whole.operations) > 0 ? 1 : 0;
    }
    /* One that the next makes up for before anything was promised is missed by nobody. */
    cr_assert_geq(shown, whole.syncs / 2, "%lu of %lu left-out syncs were noticed", shown,
                  whole.syncs);
}

Test(power_cut, shows_the_loss_when_one_directory_sync_is_taken_out)
{
    uint64_t seed = 3;
    struct outcome whole = run_with(seed, no_fault);
    cr_assert_gt(whole.directory_syncs, 2);
    uint64_t shown = 0;
    for (uint64_t skipped = 0; skipped < whole.directory_syncs; skipped++) {
        struct fault fault = no_fault;
        fault.skip_directory_sync = skipped;
        shown += violations(seed, fault, whole.operations) > 0 ? 1 : 0;
    }
    cr_assert_geq(shown, 1, "%lu of %lu left-out directory syncs were noticed", shown,
                  whole.directory_syncs);
}
