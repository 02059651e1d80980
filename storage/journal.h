/*
 * journal.h: the port of the durable log. Positions are byte positions that only grow, over all of
 * the log's life.
 *
 * One writer thread appends and syncs; any number of readers on other threads read what is durable.
 * Batches are opaque here (proto/record.h); each is stored with its length, its position and a
 * CRC32C, so that a torn or flipped batch is noticed.
 */
#ifndef STORAGE_JOURNAL_H
#define STORAGE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/base/span.h"
#include "storage/file.h"

struct storage_journal;
struct storage_journal_reader;

struct storage_journal_ops {
    /*
     * Appends one batch to the log's tail; not durable before sync. *position: the place behind it.
     * Thread: the writer's. May block on the disk. Errors: RESULT_FULL (nothing was appended),
     * RESULT_IO.
     */
    enum result (*append)(struct storage_journal *self, struct span batch, uint64_t *position);
    /*
     * Makes all that was appended durable (with `durable` false: only visible to readers, kept by
     * the kernel). It may happen to a batch earlier, as files fill up. Thread: the writer's.
     * RESULT_FULL: what was appended since the last sync is dropped, the log goes on from its end.
     * After RESULT_IO the tail is of unknown state: the owner stops taking commits, and every later
     * call says RESULT_IO.
     */
    enum result (*sync)(struct storage_journal *self, bool durable);
    /* Position behind the last synced batch. Any thread. */
    uint64_t (*end)(struct storage_journal *self);
    /* Oldest position still kept. Any thread. */
    uint64_t (*begin)(struct storage_journal *self);
    /* What lies before `position` may go (whole files at a time). Thread: the writer's. */
    enum result (*trim)(struct storage_journal *self, uint64_t position);
    /* A reader from `position` (of a batch; RESULT_NOT_FOUND before begin, RESULT_INVALID behind
     * end). Any thread; the reader then belongs to that thread. */
    enum result (*reader_open)(struct storage_journal *self, uint64_t position,
                               struct storage_journal_reader **out);
    /*
     * The next synced batch: *batch lives until the next call; *position is the place behind it.
     * RESULT_NOT_FOUND at the end (try again after more was synced). RESULT_CORRUPT: this batch
     * fails its check; the next call goes on behind it where a later sound batch can be found,
     * which is what *position then says. RESULT_CLOSED: the place was trimmed away meanwhile.
     * RESULT_IO, RESULT_LIMIT (no memory).
     */
    enum result (*reader_next)(struct storage_journal_reader *reader, struct span *batch,
                               uint64_t *position);
    void (*reader_close)(struct storage_journal_reader *reader);
};

struct storage_journal {
    const struct storage_journal_ops *ops;
};

struct storage_journal_options {
    uint64_t segment_bytes; /* file size; 0: 64 MiB */
    bool prepare_ahead;     /* prewrite the next file in a thread of its own (faster syncs) */
};

/* What opening found. */
struct storage_journal_report {
    uint64_t end;        /* position behind the last sound batch */
    uint64_t torn_bytes; /* dropped from the tail: a batch that was never acknowledged */
    /* Unsound places of the newest file before its sound end: acknowledged data is hurt, tell
     * someone. The older files are not read at the start (it must be quick); there the readers find
     * what is unsound. */
    uint32_t corrupt_batches;
};

/* The embedded log over a file layer (borrowed: must outlive it). RESULT_CORRUPT only when no file
 * can be made sense of. */
MUST_USE enum result storage_log_open(struct storage_files *files,
                                      const struct storage_journal_options *options,
                                      struct storage_journal **out,
                                      struct storage_journal_report *report);
/* Stops helpers and frees; does not sync: batches that were appended but not synced may be gone.
 * Readers are closed before. NULL is fine. */
void storage_log_close(struct storage_journal *journal);

#endif
