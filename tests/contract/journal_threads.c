/*
 * journal_threads.c: one writer that appends, syncs and trims, and readers on other threads that
 * follow it, two of them held by the trim, one that may be overtaken. A plain program: it also runs
 * under ThreadSanitizer.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "storage/journal.h"

#define BATCHES       20000u
#define SEGMENT_BYTES (64u << 10)
#define FOLLOWERS     2u
#define WORDS_MAX     100u

struct follower {
    struct storage_journal *journal;
    _Atomic uint64_t reached; /* position that the writer may trim to */
    pthread_t thread;
};

static _Atomic bool done;

static size_t words_of(uint32_t number)
{
    return 2 + number * 7919u % WORDS_MAX;
}

static void check(struct span batch, uint32_t number)
{
    ASSERT(batch.count == words_of(number) * sizeof number);
    for (size_t at = 0; at < batch.count; at += sizeof number) {
        ASSERT(memcmp(batch.bytes + at, &number, sizeof number) == 0);
    }
}

/* Reads every batch once and in order. */
static void *follow(void *owner)
{
    struct follower *follower = owner;
    const struct storage_journal_ops *ops = follower->journal->ops;
    struct storage_journal_reader *reader = NULL;
    ASSERT(ops->reader_open(follower->journal, 0, &reader) == RESULT_OK);
    for (uint32_t number = 0; number < BATCHES;) {
        struct span batch;
        uint64_t position = 0;
        enum result result = ops->reader_next(reader, &batch, &position);
        if (result == RESULT_NOT_FOUND) {
            sched_yield();
            continue;
        }
        ASSERT(result == RESULT_OK);
        check(batch, number);
        number++;
        atomic_store(&follower->reached, position);
    }
    ops->reader_close(reader);
    return NULL;
}

/* Opens at whatever is the beginning and reads a while; may be overtaken by a trim, never misled.
 */
static void *visit(void *owner)
{
    struct storage_journal *journal = owner;
    const struct storage_journal_ops *ops = journal->ops;
    while (!atomic_load(&done)) {
        struct storage_journal_reader *reader = NULL;
        enum result result = ops->reader_open(journal, ops->begin(journal), &reader);
        ASSERT(result == RESULT_OK || result == RESULT_NOT_FOUND);
        for (int i = 0; result == RESULT_OK && i < 500; i++) {
            struct span batch;
            uint64_t position = 0;
            uint32_t number = 0;
            result = ops->reader_next(reader, &batch, &position);
            ASSERT(result == RESULT_OK || result == RESULT_NOT_FOUND || result == RESULT_CLOSED);
            if (result == RESULT_OK) {
                memcpy(&number, batch.bytes, sizeof number);
                check(batch, number);
            }
        }
        ops->reader_close(reader);
    }
    return NULL;
}

static void write_all(struct storage_journal *journal, struct follower *followers)
{
    uint32_t words[WORDS_MAX + 2];
    for (uint32_t number = 0; number < BATCHES; number++) {
        size_t count = words_of(number);
        for (size_t i = 0; i < count; i++) {
            words[i] = number;
        }
        uint64_t position = 0;
        ASSERT(journal->ops->append(journal, span_of(words, count * sizeof number), &position) ==
               RESULT_OK);
        if (number % 16 == 15 || number + 1 == BATCHES) {
            ASSERT(journal->ops->sync(journal, number % 512 == 511) == RESULT_OK);
        }
        if (number % 100 == 0) {
            uint64_t reached = UINT64_MAX;
            for (size_t i = 0; i < FOLLOWERS; i++) {
                uint64_t one = atomic_load(&followers[i].reached);
                reached = one < reached ? one : reached;
            }
            ASSERT(journal->ops->trim(journal, reached) == RESULT_OK);
        }
    }
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int main(void)
{
    char directory[] = "/tmp/strider-threads-XXXXXX";
    ASSERT(mkdtemp(directory) != NULL);
    struct storage_files *files = NULL;
    struct storage_journal *journal = NULL;
    struct storage_journal_report report;
    struct storage_journal_options options = {.segment_bytes = SEGMENT_BYTES,
                                              .prepare_ahead = true};
    ASSERT(storage_posix_new(directory, &files) == RESULT_OK);
    ASSERT(storage_log_open(files, &options, &journal, &report) == RESULT_OK);

    struct follower followers[FOLLOWERS] = {0};
    pthread_t visitor;
    for (size_t i = 0; i < FOLLOWERS; i++) {
        followers[i].journal = journal;
        ASSERT(pthread_create(&followers[i].thread, NULL, follow, &followers[i]) == 0);
    }
    ASSERT(pthread_create(&visitor, NULL, visit, journal) == 0);
    write_all(journal, followers);
    for (size_t i = 0; i < FOLLOWERS; i++) {
        pthread_join(followers[i].thread, NULL);
    }
    atomic_store(&done, true);
    pthread_join(visitor, NULL);

    storage_log_close(journal);
    storage_posix_free(files);
    ASSERT(nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    puts("journal-threads: passed");
    return 0;
}
