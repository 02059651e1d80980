/*
 * log_damage_test.c: the embedded log over hurt files: cut short at every byte, with every bit
 * flipped, with stale frames of an earlier life, on a full or failing disk. Nothing unsound is ever
 * given out as sound, nothing sound before the damage is lost, and damage to acknowledged data is
 * reported.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "storage/journal.h"
#include "tests/contract/full_files.h"
#include "tests/contract/support.h"
#include "tests/simulate/power_cut_files.h"

#define FILE_BYTES  4096u
#define FIRST_FILE  "0000000000000000.log"
#define BATCH_BYTES 50u
#define FRAME_BYTES 96u /* of such a batch: 32 + 50, rounded up to a multiple of 32 */

struct state {
    struct power_cut_files *disk;
    struct storage_files *files;
    struct storage_journal *journal;
    struct storage_journal_report report;
};

static struct state state_new(void)
{
    struct state state = {.disk = power_cut_files_new(1)};
    state.files = power_cut_files_layer(state.disk);
    return state;
}

static void open_log(struct state *state)
{
    struct storage_journal_options options = {.segment_bytes = FILE_BYTES};
    cr_assert_eq(storage_log_open(state->files, &options, &state->journal, &state->report),
                 RESULT_OK);
}

static void state_free(struct state *state)
{
    storage_log_close(state->journal);
    power_cut_files_free(state->disk);
}

static struct span batch_of(uint8_t number, uint8_t out[BATCH_BYTES])
{
    contract_fill(out, BATCH_BYTES, number);
    out[0] = number;
    return span_of(out, BATCH_BYTES);
}

static void append(struct state *state, uint8_t number)
{
    uint8_t bytes[BATCH_BYTES];
    uint64_t position = 0;
    const struct storage_journal_ops *ops = state->journal->ops;
    cr_assert_eq(ops->append(state->journal, batch_of(number, bytes), &position), RESULT_OK);
}

static void append_synced(struct state *state, uint8_t number)
{
    append(state, number);
    cr_assert_eq(state->journal->ops->sync(state->journal, true), RESULT_OK);
}

struct found {
    uint8_t numbers[2048];
    size_t count;
    size_t corrupt;
};

/* Everything that the log gives out; each batch must be one that was appended. */
static struct found read_all(struct state *state)
{
    struct found found = {0};
    const struct storage_journal_ops *ops = state->journal->ops;
    struct storage_journal_reader *reader = NULL;
    cr_assert_eq(ops->reader_open(state->journal, ops->begin(state->journal), &reader), RESULT_OK);
    for (;;) {
        struct span batch;
        uint64_t position = 0;
        enum result result = ops->reader_next(reader, &batch, &position);
        if (result == RESULT_NOT_FOUND) {
            break;
        }
        if (result == RESULT_CORRUPT) {
            found.corrupt++;
            continue;
        }
        cr_assert_eq(result, RESULT_OK);
        uint8_t bytes[BATCH_BYTES];
        cr_assert(span_equal(batch, batch_of(batch.bytes[0], bytes)), "unsound bytes given out");
        found.numbers[found.count++] = batch.bytes[0];
    }
    ops->reader_close(reader);
    return found;
}

static void expect_numbers(const struct found *found, const char *numbers, size_t at)
{
    cr_assert_eq(found->count, strlen(numbers), "%zu batches with damage at %zu", found->count, at);
    for (size_t i = 0; i < found->count; i++) {
        cr_assert_eq(found->numbers[i], numbers[i] - '0', "batch %zu with damage at %zu", i, at);
    }
}

/* A log of batches 0..count-1, each synced alone, stopped as by a kill: no mark of an orderly end.
 */
static struct state log_of(uint8_t count)
{
    struct state state = state_new();
    open_log(&state);
    for (uint8_t i = 0; i < count; i++) {
        append_synced(&state, i);
    }
    power_cut_files_cut(state.disk, POWER_CUT_LOSES_ALL);
    storage_log_close(state.journal);
    state.journal = NULL;
    return state;
}

Test(log_damage, a_file_cut_short_at_any_byte_gives_its_whole_batches)
{
    for (size_t at = 0; at < 4 * FRAME_BYTES; at++) {
        struct state state = log_of(4);
        power_cut_files_resize(state.disk, FIRST_FILE, at);

        open_log(&state);

        /* The padding behind a batch is not part of it. */
        size_t whole = at / FRAME_BYTES + (at % FRAME_BYTES >= 32 + BATCH_BYTES ? 1 : 0);
        struct found found = read_all(&state);
        cr_assert_eq(found.count, whole, "%zu batches of a file cut at %zu", found.count, at);
        cr_assert_eq(found.corrupt, 0);
        cr_assert_eq(state.report.end, whole * FRAME_BYTES);
        if (at % FRAME_BYTES >= 32 && at % FRAME_BYTES < 32 + BATCH_BYTES) {
            cr_assert_gt(state.report.torn_bytes, 0, "cut at %zu", at);
        }
        append_synced(&state, 9);
        found = read_all(&state);
        cr_assert_eq(found.count, whole + 1);
        cr_assert_eq(found.numbers[whole], 9);
        state_free(&state);
    }
}

static bool is_padding(size_t at)
{
    return at % FRAME_BYTES >= 32 + BATCH_BYTES;
}

Test(log_damage, a_flipped_bit_in_the_last_batch_is_a_torn_tail)
{
    for (size_t bit = 3 * FRAME_BYTES * 8; bit < 4 * FRAME_BYTES * 8; bit++) {
        struct state state = log_of(4);
        size_t count = 0;
        power_cut_files_bytes(state.disk, FIRST_FILE, &count)[bit / 8] ^= (uint8_t)(1u << bit % 8);

        open_log(&state);

        struct found found = read_all(&state);
        expect_numbers(&found, is_padding(bit / 8) ? "0123" : "012", bit / 8);
        cr_assert_eq(found.corrupt, 0);
        cr_assert_eq(state.report.corrupt_batches, 0);
        state_free(&state);
    }
}

Test(log_damage, a_flipped_bit_in_an_acknowledged_batch_is_reported_and_stepped_over)
{
    for (size_t bit = 1 * FRAME_BYTES * 8; bit < 2 * FRAME_BYTES * 8; bit++) {
        struct state state = log_of(4);
        size_t count = 0;
        power_cut_files_bytes(state.disk, FIRST_FILE, &count)[bit / 8] ^= (uint8_t)(1u << bit % 8);

        open_log(&state);

        struct found found = read_all(&state);
        bool harmless = is_padding(bit / 8);
        expect_numbers(&found, harmless ? "0123" : "023", bit / 8);
        cr_assert_eq(found.corrupt, harmless ? 0 : 1);
        cr_assert_eq(state.report.corrupt_batches, harmless ? 0 : 1, "bit %zu", bit);
        append_synced(&state, 9);
        found = read_all(&state);
        expect_numbers(&found, harmless ? "01239" : "0239", bit / 8);
        state_free(&state);
    }
}

Test(log_damage, several_hurt_places_are_all_stepped_over)
{
    struct state state = log_of(8);
    size_t count = 0;
    uint8_t *bytes = power_cut_files_bytes(state.disk, FIRST_FILE, &count);
    bytes[0 * FRAME_BYTES + 40] ^= 1;                /* the first */
    memset(bytes + 2 * FRAME_BYTES + 10, 0xff, 100); /* two in a row */
    memset(bytes + 5 * FRAME_BYTES, 0, FRAME_BYTES); /* one wiped out */

    open_log(&state);

    struct found found = read_all(&state);
    expect_numbers(&found, "1467", 0);
    cr_assert_eq(found.corrupt, 3);
    cr_assert_eq(state.report.corrupt_batches, 3);
    state_free(&state);
}

Test(log_damage, damage_in_an_older_file_is_found_by_its_reader)
{
    struct state state = log_of(60); /* more than one file of 4,096 bytes */
    size_t count = 0;
    uint8_t *bytes = power_cut_files_bytes(state.disk, FIRST_FILE, &count);
    cr_assert_eq(count, FILE_BYTES);
    bytes[7 * FRAME_BYTES + 40] ^= 4;
    /* ... and in the file's last batch, behind which no other stands in the same file */
    size_t in_first = FILE_BYTES / FRAME_BYTES;
    bytes[(in_first - 1) * FRAME_BYTES + 3] ^= 4;

    open_log(&state);

    struct found found = read_all(&state);
    cr_assert_eq(found.corrupt, 2);
    cr_assert_eq(found.count, 58);
    cr_assert_eq(found.numbers[57], 59);
    state_free(&state);
}

Test(log_damage, a_batch_torn_before_a_whole_unacknowledged_one_takes_it_along)
{
    struct state state = state_new();
    open_log(&state);
    append_synced(&state, 0);
    append(&state, 1);
    append(&state, 2);
    cr_assert_eq(state.journal->ops->sync(state.journal, false), RESULT_OK);
    size_t count = 0;
    uint8_t *bytes = power_cut_files_bytes(state.disk, FIRST_FILE, &count);
    bytes[FRAME_BYTES + 40] ^= 1;
    uint8_t copy[FILE_BYTES];
    memcpy(copy, bytes, FILE_BYTES);
    power_cut_files_cut(state.disk, POWER_CUT_LOSES_ALL);
    storage_log_close(state.journal);
    memcpy(power_cut_files_bytes(state.disk, FIRST_FILE, &count), copy, FILE_BYTES);

    open_log(&state);
    struct found before = read_all(&state);
    /* A frame of the same length as the torn one: what survived behind it would fit on exactly. */
    append_synced(&state, 3);
    power_cut_files_cut(state.disk, POWER_CUT_LOSES_ALL);
    storage_log_close(state.journal);
    open_log(&state);

    expect_numbers(&before, "0", 0);
    struct found found = read_all(&state);
    expect_numbers(&found, "03", 0);
    cr_assert_eq(found.corrupt, 0);
    cr_assert_eq(state.report.corrupt_batches, 0);
    state_free(&state);
}

Test(log_damage, stale_batches_of_a_used_file_never_come_back)
{
    struct state state = state_new();
    open_log(&state);
    for (int round = 0; round < 40; round++) {
        uint64_t end = state.journal->ops->end(state.journal);
        cr_assert_eq(state.journal->ops->trim(state.journal, end), RESULT_OK);
        for (uint8_t i = 0; i < 60; i++) {
            append_synced(&state, i);
        }
        end = state.journal->ops->end(state.journal);
        power_cut_files_cut(state.disk, POWER_CUT_LOSES_ALL);
        storage_log_close(state.journal);

        open_log(&state);

        cr_assert_eq(state.journal->ops->end(state.journal), end);
        cr_assert_eq(state.report.corrupt_batches, 0);
        cr_assert_eq(read_all(&state).corrupt, 0);
    }
    state_free(&state);
}

Test(log_damage, files_of_others_are_left_alone)
{
    struct state state = state_new();
    int handle = -1;
    cr_assert_eq(state.files->open(state.files, "notes.txt", 10, &handle), RESULT_OK);
    cr_assert_eq(state.files->open(state.files, "0000000000000000.log.bak", 10, &handle),
                 RESULT_OK);
    cr_assert_eq(state.files->open(state.files, "0.log", 10, &handle), RESULT_OK);

    open_log(&state);
    append_synced(&state, 1);

    struct found found = read_all(&state);
    expect_numbers(&found, "1", 0);
    size_t count = 0;
    cr_assert_not_null(power_cut_files_bytes(state.disk, "notes.txt", &count));
    cr_assert_not_null(power_cut_files_bytes(state.disk, "0000000000000000.log.bak", &count));
    cr_assert_not_null(power_cut_files_bytes(state.disk, "0.log", &count));
    state_free(&state);
}

Test(log_damage, a_disk_that_fills_up_under_a_write_drops_the_unsynced_tail_only)
{
    struct state state = state_new();
    struct contract_full_files full;
    contract_full_files_init(&full, state.files);
    state.files = &full.files;
    open_log(&state);
    append_synced(&state, 0);
    append(&state, 1);
    append(&state, 2);

    full.full_for_writes = true;
    cr_assert_eq(state.journal->ops->sync(state.journal, true), RESULT_FULL);
    full.full_for_writes = false;
    append_synced(&state, 3);

    struct found found = read_all(&state);
    expect_numbers(&found, "03", 0);
    power_cut_files_cut(state.disk, POWER_CUT_LOSES_ALL);
    storage_log_close(state.journal);
    open_log(&state);
    found = read_all(&state);
    expect_numbers(&found, "03", 0);
    cr_assert_eq(found.corrupt, 0);
    state_free(&state);
}

Test(log_damage, a_disk_that_fills_up_behind_a_synced_file_stops_the_log)
{
    struct state state = state_new();
    struct contract_full_files full;
    contract_full_files_init(&full, state.files);
    state.files = &full.files;
    open_log(&state);
    append_synced(&state, 0);
    for (uint8_t i = 1; i < 60; i++) { /* into a second file: the first is synced on the way */
        append(&state, i);
    }
    cr_assert_gt(state.journal->ops->end(state.journal), FRAME_BYTES);

    full.full_for_writes = true;
    cr_assert_eq(state.journal->ops->sync(state.journal, true), RESULT_IO,
                 "it can neither drop nor keep all of them");
    full.full_for_writes = false;

    cr_assert_eq(state.journal->ops->sync(state.journal, true), RESULT_IO);
    state_free(&state);
}

Test(log_damage, a_failed_sync_stops_the_log_for_good)
{
    struct state state = state_new();
    struct contract_full_files failing;
    contract_full_files_init(&failing, state.files);
    state.files = &failing.files;
    open_log(&state);
    append_synced(&state, 0);
    append(&state, 1);

    failing.refuse_sync = true;
    cr_assert_eq(state.journal->ops->sync(state.journal, true), RESULT_IO);
    failing.refuse_sync = false;

    uint8_t bytes[BATCH_BYTES];
    uint64_t position = 0;
    const struct storage_journal_ops *ops = state.journal->ops;
    cr_assert_eq(ops->append(state.journal, batch_of(2, bytes), &position), RESULT_IO);
    cr_assert_eq(ops->sync(state.journal, true), RESULT_IO);
    cr_assert_eq(ops->trim(state.journal, 0), RESULT_IO);
    struct found found = read_all(&state);
    expect_numbers(&found, "0", 0);
    state_free(&state);
}
