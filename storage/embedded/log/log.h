/*
 * log.h: the embedded journal's own state, shared by its writer (log.c) and its readers (reader.c).
 *
 * The writer's thread owns all but `end`, `begin` and `segments`: `end` is released after the bytes
 * before it are in the file, and acquired by readers before they read them.
 */
#ifndef STORAGE_EMBEDDED_LOG_LOG_H
#define STORAGE_EMBEDDED_LOG_LOG_H

#include <stdatomic.h>

#include "storage/embedded/log/segments.h"
#include "storage/journal.h"

#define STORAGE_LOG_MAGIC        0x474f4c53u
#define STORAGE_LOG_BUFFER_BYTES (1u << 20)

struct storage_log {
    struct storage_journal journal; /* first: the port points here */
    uint32_t magic;
    struct storage_files *files; /* borrowed */
    struct storage_segments segments;
    _Atomic uint64_t end;   /* behind the last synced batch */
    _Atomic uint64_t begin; /* of the oldest segment */
    /* writer's */
    uint64_t synced;  /* where the last sync call left the end; a roll may move the end on alone */
    uint64_t durable; /* behind the last batch that is durable: what frames may claim */
    uint64_t tail;    /* behind the last appended batch */
    uint64_t
        written; /* behind the last byte given to the kernel; the buffer holds [written, tail) */
    uint8_t *buffer;
    uint32_t epoch;
    bool durable_wanted;  /* what the last sync asked for */
    bool older_dirty;     /* a file before the newest is not durable yet */
    bool directory_dirty; /* a new file's name is not durable yet */
    bool failed;          /* the disk failed: the tail is of unknown state */
};

struct storage_log *storage_log_cast(struct storage_journal *journal);

enum result storage_log_reader_open(struct storage_journal *self, uint64_t position,
                                    struct storage_journal_reader **out);
enum result storage_log_reader_next(struct storage_journal_reader *reader, struct span *batch,
                                    uint64_t *position);
void storage_log_reader_close(struct storage_journal_reader *reader);

#endif
