/*
 * backup.h: the port that copies a running engine's own stores into a directory which an engine can
 * be started on.
 *
 * The parts are copied one after the other: state table, blobs, index, journal last. Each part is
 * consistent in itself and knows the journal position that it reaches; the journal, copied last and
 * not trimmed meanwhile (its owner sees to that), has everything from the oldest of these on. So a
 * start on the copy finds all that was durable when the journal was copied.
 */
#ifndef STORAGE_BACKUP_H
#define STORAGE_BACKUP_H

#include <stdint.h>

#include "proto/base/result.h"

struct storage_backup;

struct storage_backup_ops {
    /* Makes the directory (0700), which must not be there: RESULT_EXISTS; RESULT_INVALID not an
     * absolute path, or its parent is missing; RESULT_DENIED, RESULT_FULL, RESULT_IO. */
    enum result (*begin)(struct storage_backup *self, const char *directory);
    /* State table and blobs. Thread: their owner's. Blocks for as long as it takes. */
    enum result (*copy_tables)(struct storage_backup *self, const char *directory);
    /* Index and journal, and makes all of it durable. Any thread. *position: the journal's end. */
    enum result (*copy_journal)(struct storage_backup *self, const char *directory,
                                uint64_t *position);
};

struct storage_backup {
    const struct storage_backup_ops *ops;
};

#endif
