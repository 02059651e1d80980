/*
 * file.h: the file layer under the journal: just the calls that durability depends on, so that
 * tests can put a layer underneath which loses every write that was not followed by its sync
 * (tests/simulate/power_cut_files.h). The POSIX layer is in storage/posix.
 *
 * Thread: any; but one handle is written and synced by one thread at a time.
 */
#ifndef STORAGE_FILE_H
#define STORAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/base/span.h"

struct storage_files {
    /*
     * Opens or creates `name` below the layer's directory for reading and writing. *handle >= 0.
     * With reserve_bytes > 0 the file is made at least that long and its space is taken from the
     * disk now (new bytes read as zeros), so that a write below it cannot meet a full disk.
     * Errors: RESULT_FULL (an empty file may be left behind), RESULT_IO.
     */
    enum result (*open)(struct storage_files *self, const char *name, uint64_t reserve_bytes,
                        int *handle);
    /* Writes all bytes at the offset. RESULT_FULL on ENOSPC, RESULT_IO else. */
    enum result (*write)(struct storage_files *self, int handle, uint64_t offset,
                         struct span bytes);
    /* Reads up to `count` bytes; *got is short only at the end of the file. */
    enum result (*read)(struct storage_files *self, int handle, uint64_t offset, void *bytes,
                        size_t count, size_t *got);
    /* fdatasync, or fsync of the file when `whole`. */
    enum result (*sync)(struct storage_files *self, int handle, bool whole);
    /* Makes creations, renames and removals in the directory durable. */
    enum result (*sync_directory)(struct storage_files *self);
    enum result (*rename)(struct storage_files *self, const char *from, const char *to);
    /* Open handles of a removed file stay usable. RESULT_NOT_FOUND. */
    enum result (*remove)(struct storage_files *self, const char *name);
    /* Calls `each` for every name in the directory, in any order. */
    enum result (*list)(struct storage_files *self, void (*each)(void *owner, const char *name),
                        void *owner);
    void (*close)(struct storage_files *self, int handle);
};

/* The POSIX layer over one directory, created with mode 0700 when missing. Pair:
 * storage_posix_free. */
MUST_USE enum result storage_posix_new(const char *directory, struct storage_files **out);
/* NULL is fine. Handles still open stay open. */
void storage_posix_free(struct storage_files *files);

#endif
