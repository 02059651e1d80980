/*
 * spares.h: files that lie ready to become the log's next one. A spare has its full size and all
 * its blocks written (by zeros or by trimmed batches), so that syncing a batch in it moves data
 * only and no file-system metadata: two to three times as fast (docs/decisions/0001-store.md).
 *
 * Trimmed files come here instead of being removed. With prepare_ahead a helper thread writes one
 * when none is there. It is a thread because writing 64 MiB blocks for long and nobody waits for
 * it; the mutex orders its "the file is whole and synced" before the writer's "I take it". A try
 * takes the disk's last space for a moment, which the other stores may need more: after one that
 * failed the helper rests.
 */
#ifndef STORAGE_EMBEDDED_LOG_SPARES_H
#define STORAGE_EMBEDDED_LOG_SPARES_H

#include <pthread.h>
#include <stdbool.h>

#include "storage/file.h"

#define STORAGE_SPARES_MAX       2u
#define STORAGE_SPARE_NAME_BYTES 16u
#define STORAGE_SPARES_REST_MS   10000u /* after a try that failed */

struct storage_spares {
    struct storage_files *files; /* borrowed */
    uint64_t file_bytes;
    /* private to spares.c */
    pthread_mutex_t mutex; /* over all below */
    pthread_cond_t wanted;
    pthread_t helper;
    bool helper_runs;
    bool stopping;
    bool prepare;   /* the helper is asked for one */
    bool preparing; /* and is at it */
    bool failing;   /* its last try failed */
    uint32_t numbers[STORAGE_SPARES_MAX];
    unsigned count;
    uint32_t next_number;
};

/* Starts the helper when asked to; without one (or when no thread can be had) only trimmed files
 * are spares. */
void storage_spares_init(struct storage_spares *spares, struct storage_files *files,
                         uint64_t file_bytes, bool prepare_ahead);
/* Stops and joins the helper; the files stay. */
void storage_spares_release(struct storage_spares *spares);

/* At open: is this the name of one of ours? Keeps it, or removes it when unfinished or too many. */
bool storage_spares_adopt(struct storage_spares *spares, const char *name);
/* Asks the helper for a spare if there is none. */
void storage_spares_want(struct storage_spares *spares);
bool storage_spares_ready(struct storage_spares *spares);
/* Makes the newest spare the file `name`. RESULT_NOT_FOUND when there is none; RESULT_IO. */
MUST_USE enum result storage_spares_take(struct storage_spares *spares, const char *name);
/* Makes a trimmed, fully written file a spare, or removes it when there are enough. */
MUST_USE enum result storage_spares_give(struct storage_spares *spares, const char *name);

#endif
