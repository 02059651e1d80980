/* journal_contract.c: see journal_contract.h. */
#include "tests/contract/journal_contract.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/support.h"

#define BATCHES_MAX 600
#define BATCH_MAX   (3u << 20)

/* A journal under test with what was put into it. */
struct book {
    struct contract_journal *subject;
    struct storage_journal *journal;
    struct storage_journal_report report;
    size_t sizes[BATCHES_MAX];
    uint64_t ends[BATCHES_MAX]; /* position behind each batch */
    size_t count;
    uint8_t *scratch;
};

static struct book book_open(struct contract_journal *subject)
{
    struct book book = {.subject = subject, .scratch = malloc(BATCH_MAX)};
    cr_assert_not_null(book.scratch);
    book.journal = subject->open(subject, &book.report);
    return book;
}

static void book_reopen(struct book *book)
{
    book->subject->close(book->journal);
    book->journal = book->subject->open(book->subject, &book->report);
}

static void book_close(struct book *book)
{
    book->subject->close(book->journal);
    free(book->scratch);
}

static struct span batch_of(struct book *book, size_t number)
{
    contract_fill(book->scratch, book->sizes[number], number);
    return span_of(book->scratch, book->sizes[number]);
}

static enum result try_append(struct book *book, size_t bytes)
{
    cr_assert(book->count < BATCHES_MAX && bytes <= BATCH_MAX);
    book->sizes[book->count] = bytes;
    uint64_t *end = &book->ends[book->count];
    enum result result =
        book->journal->ops->append(book->journal, batch_of(book, book->count), end);
    book->count += result == RESULT_OK ? 1 : 0;
    return result;
}

static void append(struct book *book, size_t bytes)
{
    cr_assert_eq(try_append(book, bytes), RESULT_OK);
    size_t last = book->count - 1;
    cr_assert(last == 0 || book->ends[last] > book->ends[last - 1], "positions only grow");
}

static void sync(struct book *book)
{
    cr_assert_eq(book->journal->ops->sync(book->journal, true), RESULT_OK);
}

static struct storage_journal_reader *reader_at(struct book *book, uint64_t position)
{
    struct storage_journal_reader *reader = NULL;
    cr_assert_eq(book->journal->ops->reader_open(book->journal, position, &reader), RESULT_OK);
    return reader;
}

static void expect_batch(struct book *book, struct storage_journal_reader *reader, size_t number)
{
    struct span batch;
    uint64_t position = 0;
    enum result result = book->journal->ops->reader_next(reader, &batch, &position);
    cr_assert_eq(result, RESULT_OK, "batch %zu: %s", number, result_text(result));
    cr_assert_eq(position, book->ends[number], "position behind batch %zu", number);
    cr_assert(span_equal(batch, batch_of(book, number)), "bytes of batch %zu", number);
}

static void expect_end(struct book *book, struct storage_journal_reader *reader)
{
    struct span batch;
    uint64_t position = 0;
    cr_assert_eq(book->journal->ops->reader_next(reader, &batch, &position), RESULT_NOT_FOUND);
}

static void expect_from(struct book *book, uint64_t position, size_t first)
{
    struct storage_journal_reader *reader = reader_at(book, position);
    for (size_t i = first; i < book->count; i++) {
        expect_batch(book, reader, i);
    }
    expect_end(book, reader);
    book->journal->ops->reader_close(reader);
}

/* Number of the first batch at or behind a position. */
static size_t batch_at(const struct book *book, uint64_t position)
{
    size_t number = 0;
    while (number < book->count && book->ends[number] <= position) {
        number++;
    }
    return number;
}

void contract_journal_is_empty_at_first(struct contract_journal *subject)
{
    struct book book = book_open(subject);

    cr_assert_eq(book.journal->ops->begin(book.journal), 0);
    cr_assert_eq(book.journal->ops->end(book.journal), 0);
    cr_assert_eq(book.report.end, 0);
    cr_assert_eq(book.report.torn_bytes, 0);
    expect_from(&book, 0, 0);
    sync(&book);
    cr_assert_eq(book.journal->ops->end(book.journal), 0);
    book_close(&book);
}

void contract_journal_gives_batches_back_in_order(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    static const size_t sizes[] = {1, 0,     31,     32, 33,    100,   4064, 4096, 5000, 9000,
                                   1, 15000, 300000, 7,  16352, 16353, 0,    0,    2048, 3000000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        append(&book, sizes[i]);
        if (i % 3 == 0) {
            sync(&book);
        }
    }
    sync(&book);

    cr_assert_eq(book.journal->ops->end(book.journal), book.ends[book.count - 1]);
    struct storage_journal_reader *reader = reader_at(&book, 0);
    for (size_t i = 0; i < book.count; i++) {
        expect_batch(&book, reader, i);
    }
    expect_end(&book, reader);
    append(&book, 77);
    sync(&book);
    expect_batch(&book, reader, book.count - 1);
    expect_end(&book, reader);
    book.journal->ops->reader_close(reader);
    book_close(&book);
}

void contract_journal_shows_nothing_before_its_sync(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    append(&book, 100);
    sync(&book);
    struct storage_journal_reader *reader = reader_at(&book, 0);
    expect_batch(&book, reader, 0);

    append(&book, 200);
    append(&book, 2000);

    expect_end(&book, reader);
    cr_assert_eq(book.journal->ops->end(book.journal), book.ends[0]);
    sync(&book);
    expect_batch(&book, reader, 1);
    expect_batch(&book, reader, 2);
    book.journal->ops->reader_close(reader);
    book_close(&book);
}

void contract_journal_shows_what_was_synced_without_durability(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    for (int i = 0; i < 40; i++) {
        append(&book, 1000);
        cr_assert_eq(book.journal->ops->sync(book.journal, false), RESULT_OK);
        cr_assert_eq(book.journal->ops->end(book.journal), book.ends[book.count - 1]);
    }
    expect_from(&book, 0, 0);

    sync(&book);
    book_reopen(&book);

    expect_from(&book, 0, 0);
    book_close(&book);
}

void contract_journal_reads_from_the_position_of_any_batch(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    for (size_t i = 0; i < 60; i++) {
        append(&book, i * 37);
    }
    sync(&book);

    for (size_t i = 0; i < book.count; i++) {
        expect_from(&book, book.ends[i], i + 1);
    }
    book_close(&book);
}

void contract_journal_refuses_positions_outside(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    struct storage_journal_reader *reader = NULL;
    for (int i = 0; i < 80; i++) {
        append(&book, 1000);
    }
    sync(&book);
    uint64_t end = book.journal->ops->end(book.journal);

    cr_assert_eq(book.journal->ops->trim(book.journal, end), RESULT_OK);

    cr_assert_gt(book.journal->ops->begin(book.journal), 0);
    cr_assert_eq(book.journal->ops->reader_open(book.journal, 0, &reader), RESULT_NOT_FOUND);
    cr_assert_eq(book.journal->ops->reader_open(book.journal, end + 32, &reader), RESULT_INVALID);
    book_close(&book);
}

void contract_journal_takes_a_batch_larger_than_a_file(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    append(&book, CONTRACT_JOURNAL_FILE_BYTES * 5);
    append(&book, 10);
    sync(&book);
    append(&book, 2500000);
    append(&book, CONTRACT_JOURNAL_FILE_BYTES);
    append(&book, 20);
    sync(&book);

    expect_from(&book, 0, 0);
    book_reopen(&book);
    expect_from(&book, 0, 0);
    append(&book, 30);
    sync(&book);
    expect_from(&book, book.ends[1], 2);
    book_close(&book);
}

void contract_journal_refuses_a_batch_over_the_limit(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    uint64_t position = 0;

    /* Nobody looks at the bytes of a batch that long. */
    struct span batch = span_of(book.scratch, ((size_t)1 << 30) + 1);

    cr_assert_eq(book.journal->ops->append(book.journal, batch, &position), RESULT_LIMIT);
    append(&book, 5);
    sync(&book);
    expect_from(&book, 0, 0);
    book_close(&book);
}

void contract_journal_keeps_what_was_synced_over_restarts(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    uint64_t random = 5;
    while (book.count + 20 < BATCHES_MAX) {
        for (uint64_t i = contract_draw(&random, 20); i > 0; i--) {
            append(&book, (size_t)contract_draw(&random, 3000));
        }
        sync(&book);

        book_reopen(&book);

        uint64_t end = book.count == 0 ? 0 : book.ends[book.count - 1];
        cr_assert_eq(book.journal->ops->end(book.journal), end);
        cr_assert_eq(book.report.end, end);
        cr_assert_eq(book.report.torn_bytes, 0);
        cr_assert_eq(book.report.corrupt_batches, 0);
        expect_from(&book, 0, 0);
    }
    book_close(&book);
}

void contract_journal_trims_without_losing_what_follows(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    uint64_t random = 9;
    size_t needed = 0;
    for (int round = 0; round < 60; round++) {
        for (uint64_t i = contract_draw(&random, 8); i > 0; i--) {
            append(&book, (size_t)contract_draw(&random, 9000));
        }
        sync(&book);
        needed += (size_t)contract_draw(&random, book.count - needed + 1);
        uint64_t position = needed == 0 ? 0 : book.ends[needed - 1];

        cr_assert_eq(book.journal->ops->trim(book.journal, position), RESULT_OK);

        uint64_t begin = book.journal->ops->begin(book.journal);
        cr_assert_leq(begin, position);
        expect_from(&book, begin, batch_at(&book, begin));
        if (round % 7 == 0) {
            book_reopen(&book);
            cr_assert_eq(book.journal->ops->begin(book.journal), begin);
        }
    }
    cr_assert_gt(book.journal->ops->begin(book.journal), book.ends[book.count / 2]);
    book_close(&book);
}

void contract_journal_trims_nothing_that_a_reader_holds(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    for (int i = 0; i < 12; i++) {
        append(&book, 1000);
    }
    sync(&book);
    struct storage_journal_reader *reader = reader_at(&book, 0);
    expect_batch(&book, reader, 0);
    for (int i = 0; i < 80; i++) {
        append(&book, 1000);
    }
    sync(&book);

    cr_assert_eq(book.journal->ops->trim(book.journal, book.ends[book.count - 1]), RESULT_OK);
    for (int i = 0; i < 80; i++) {
        append(&book, 1000);
    }
    sync(&book);

    for (size_t i = 1; i < 12; i++) {
        expect_batch(&book, reader, i);
    }
    book.journal->ops->reader_close(reader);
    book_close(&book);
}

void contract_journal_closes_a_reader_whose_place_was_trimmed(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    struct span batch;
    uint64_t position = 0;
    for (int i = 0; i < 100; i++) {
        append(&book, 1000);
    }
    sync(&book);
    struct storage_journal_reader *reader = reader_at(&book, 0);
    cr_assert_eq(book.journal->ops->trim(book.journal, book.ends[book.count - 1]), RESULT_OK);

    enum result result = RESULT_OK;
    size_t count = 0;
    while (result == RESULT_OK && count < book.count) {
        result = book.journal->ops->reader_next(reader, &batch, &position);
        count++;
    }

    cr_assert_eq(result, RESULT_CLOSED, "%s", result_text(result));
    book.journal->ops->reader_close(reader);
    book_close(&book);
}

void contract_journal_says_full_and_goes_on_when_there_is_space(struct contract_journal *subject)
{
    struct book book = book_open(subject);
    append(&book, 1000);
    sync(&book);
    subject->set_full(subject, true);

    enum result result = RESULT_OK;
    while (result == RESULT_OK) {
        result = try_append(&book, 1000);
        enum result synced = book.journal->ops->sync(book.journal, true);
        cr_assert_eq(synced, RESULT_OK, "what was appended has its space");
    }

    cr_assert_eq(result, RESULT_FULL, "%s", result_text(result));
    expect_from(&book, 0, 0);
    cr_assert_eq(try_append(&book, 100000), RESULT_FULL);
    subject->set_full(subject, false);
    append(&book, 1000);
    append(&book, 100000);
    sync(&book);
    expect_from(&book, 0, 0);
    book_reopen(&book);
    expect_from(&book, 0, 0);
    book_close(&book);
}
