/*
 * segments.h: the files of the log, oldest first. Each is named after the position of its first
 * byte ("00000000000a4000.log"), and ends where the next one begins; so a position finds its place
 * with no other table.
 *
 * The writer's thread changes the list; readers on other threads take hold of a segment while they
 * read it. The mutex orders the one against the other; what a reader holds is neither closed nor
 * used again.
 */
#ifndef STORAGE_EMBEDDED_LOG_SEGMENTS_H
#define STORAGE_EMBEDDED_LOG_SEGMENTS_H

#include <stdatomic.h>

#include "storage/embedded/log/spares.h"

struct storage_segment {
    uint64_t base;     /* position of the first byte */
    uint64_t capacity; /* bytes that the file has room for */
    /* Where it ends; UINT64_MAX while it is the newest. Set before any byte of the next one is
     * synced, so that who has seen the log's end behind it sees this too. */
    _Atomic uint64_t end;
    int handle;      /* the newest's and those held by readers; else -1 */
    bool prewritten; /* all blocks are written: quick to sync, worth keeping */
    /* private to segments.c */
    unsigned readers;
    bool trimmed; /* freed by its last reader */
};

struct storage_segments {
    struct storage_files *files; /* borrowed */
    uint64_t file_bytes;
    struct storage_spares spares;
    /* private to segments.c */
    pthread_mutex_t mutex;
    struct storage_segment **list;
    size_t count;
    size_t room;
};

/*
 * Takes up the files that are there. RESULT_IO, RESULT_FULL, RESULT_LIMIT. Pair:
 * storage_segments_release, also after a failure.
 */
MUST_USE enum result storage_segments_init(struct storage_segments *segments,
                                           struct storage_files *files, uint64_t file_bytes,
                                           bool prepare_ahead);
void storage_segments_release(struct storage_segments *segments);

/* The newest; NULL when there is none. Writer's thread. */
struct storage_segment *storage_segments_newest(struct storage_segments *segments);
/* Position of the oldest byte kept. Any thread; there is at least one segment. */
uint64_t storage_segments_begin(struct storage_segments *segments);

/* A new newest one from `base` on, with room for `bytes` at least. RESULT_FULL, RESULT_IO: nothing
 * changed. */
MUST_USE enum result storage_segments_add(struct storage_segments *segments, uint64_t base,
                                          uint64_t bytes);
/* Makes room for `bytes` in the newest, in which nothing stands yet. RESULT_FULL, RESULT_IO. */
MUST_USE enum result storage_segments_widen(struct storage_segments *segments, uint64_t bytes);
/* Syncs every file but the newest: for a log that rolled without syncing. Writer's thread.
 * RESULT_IO. */
MUST_USE enum result storage_segments_sync_older(struct storage_segments *segments);
/* Lets go of those that end at or before `position`, never of the newest. */
MUST_USE enum result storage_segments_trim(struct storage_segments *segments, uint64_t position);

/*
 * Takes hold of the segment with that position. RESULT_NOT_FOUND when it was trimmed; RESULT_IO,
 * RESULT_LIMIT. Any thread. Pair: storage_segments_drop.
 */
MUST_USE enum result storage_segments_hold(struct storage_segments *segments, uint64_t position,
                                           struct storage_segment **out);
void storage_segments_drop(struct storage_segments *segments, struct storage_segment *segment);

#endif
