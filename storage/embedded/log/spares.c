/* spares.c: see spares.h. */
#include "storage/embedded/log/spares.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/assert.h"
#include "proto/log.h"

#define UNFINISHED_NAME "unfinished"
#define CHUNK_BYTES     (1u << 20)
/* The disk is shared with the writer's syncs: never leave it more than this to write at once. */
#define BURST_BYTES (4u << 20)

static void *helper_main(void *owner);
static enum result prepare_file(struct storage_spares *spares);
static enum result write_zeros(struct storage_spares *spares, int handle);

static void spare_name(char out[STORAGE_SPARE_NAME_BYTES], uint32_t number)
{
    snprintf(out, STORAGE_SPARE_NAME_BYTES, "spare-%08x", number);
}

void storage_spares_init(struct storage_spares *spares, struct storage_files *files,
                         uint64_t file_bytes, bool prepare_ahead)
{
    *spares = (struct storage_spares){.files = files, .file_bytes = file_bytes};
    pthread_mutex_init(&spares->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&spares->wanted, &attributes);
    pthread_condattr_destroy(&attributes);
    if (prepare_ahead) {
        /* Signals are for the program's own threads. */
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        spares->helper_runs = pthread_create(&spares->helper, NULL, helper_main, spares) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

void storage_spares_release(struct storage_spares *spares)
{
    if (spares->helper_runs) {
        pthread_mutex_lock(&spares->mutex);
        spares->stopping = true;
        pthread_cond_signal(&spares->wanted);
        pthread_mutex_unlock(&spares->mutex);
        pthread_join(spares->helper, NULL);
        spares->helper_runs = false;
    }
    pthread_cond_destroy(&spares->wanted);
    pthread_mutex_destroy(&spares->mutex);
}

bool storage_spares_adopt(struct storage_spares *spares, const char *name)
{
    if (strcmp(name, UNFINISHED_NAME) == 0) {
        (void)spares->files->remove(spares->files, name);
        return true;
    }
    unsigned number = 0;
    char canonical[STORAGE_SPARE_NAME_BYTES];
    if (sscanf(name, "spare-%8x", &number) != 1) {
        return false;
    }
    spare_name(canonical, number);
    if (strcmp(name, canonical) != 0) {
        return false;
    }
    pthread_mutex_lock(&spares->mutex);
    bool kept = spares->count < STORAGE_SPARES_MAX;
    if (kept) {
        spares->numbers[spares->count++] = number;
    }
    if (number >= spares->next_number) {
        spares->next_number = number + 1;
    }
    pthread_mutex_unlock(&spares->mutex);
    if (!kept) {
        (void)spares->files->remove(spares->files, name);
    }
    return true;
}

void storage_spares_want(struct storage_spares *spares)
{
    if (!spares->helper_runs) {
        return;
    }
    pthread_mutex_lock(&spares->mutex);
    if (spares->count == 0 && !spares->preparing) {
        spares->prepare = true;
        pthread_cond_signal(&spares->wanted);
    }
    pthread_mutex_unlock(&spares->mutex);
}

bool storage_spares_ready(struct storage_spares *spares)
{
    pthread_mutex_lock(&spares->mutex);
    bool ready = spares->count > 0;
    pthread_mutex_unlock(&spares->mutex);
    return ready;
}

enum result storage_spares_take(struct storage_spares *spares, const char *name)
{
    char spare[STORAGE_SPARE_NAME_BYTES];
    pthread_mutex_lock(&spares->mutex);
    bool found = spares->count > 0;
    if (found) {
        spare_name(spare, spares->numbers[--spares->count]);
    }
    pthread_mutex_unlock(&spares->mutex);
    return found ? spares->files->rename(spares->files, spare, name) : RESULT_NOT_FOUND;
}

enum result storage_spares_give(struct storage_spares *spares, const char *name)
{
    pthread_mutex_lock(&spares->mutex);
    uint32_t number = spares->next_number++;
    bool room = spares->count < STORAGE_SPARES_MAX;
    pthread_mutex_unlock(&spares->mutex);
    if (!room) {
        return spares->files->remove(spares->files, name);
    }
    char spare[STORAGE_SPARE_NAME_BYTES];
    spare_name(spare, number);
    enum result result = spares->files->rename(spares->files, name, spare);
    if (result != RESULT_OK) {
        return result;
    }
    pthread_mutex_lock(&spares->mutex);
    bool kept = spares->count < STORAGE_SPARES_MAX;
    if (kept) {
        spares->numbers[spares->count++] = number;
    }
    pthread_mutex_unlock(&spares->mutex);
    return kept ? RESULT_OK : spares->files->remove(spares->files, spare);
}

/* Says so once, until it works again. */
static void tell(struct storage_spares *spares, enum result result)
{
    bool failing = result != RESULT_OK;
    if (failing && !spares->failing) {
        log_line(LOG_WARN, "STORAGE-PREPARE-FAILED", "result=\"%s\"", result_text(result));
    } else if (!failing && spares->failing) {
        log_line(LOG_INFO, "STORAGE-PREPARES-AGAIN", "bytes=%llu",
                 (unsigned long long)spares->file_bytes);
    }
    spares->failing = failing;
}

/* Until the rest is over or the helper is to stop. The mutex is held. */
static void rest(struct storage_spares *spares)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STORAGE_SPARES_REST_MS / 1000;
    while (!spares->stopping &&
           pthread_cond_timedwait(&spares->wanted, &spares->mutex, &until) == 0) {
    }
}

static void *helper_main(void *owner)
{
    struct storage_spares *spares = owner;
    pthread_setname_np(pthread_self(), "journal-ahead");
    pthread_mutex_lock(&spares->mutex);
    while (!spares->stopping) {
        if (!spares->prepare) {
            pthread_cond_wait(&spares->wanted, &spares->mutex);
            continue;
        }
        spares->prepare = false;
        spares->preparing = true;
        pthread_mutex_unlock(&spares->mutex);
        enum result result = prepare_file(spares);
        pthread_mutex_lock(&spares->mutex);
        spares->preparing = false;
        /* Without it the writer creates its next file itself: slower, not wrong. */
        if (!spares->stopping) {
            tell(spares, result);
        }
        if (result != RESULT_OK) {
            rest(spares);
        }
    }
    pthread_mutex_unlock(&spares->mutex);
    return NULL;
}

static enum result prepare_file(struct storage_spares *spares)
{
    struct storage_files *files = spares->files;
    int handle = -1;
    enum result result = files->open(files, UNFINISHED_NAME, spares->file_bytes, &handle);
    if (result == RESULT_OK) {
        result = write_zeros(spares, handle);
        files->close(files, handle);
    }
    /* What lies half-done on a disk that may be full goes at once. */
    return result == RESULT_OK ? storage_spares_give(spares, UNFINISHED_NAME)
                               : (files->remove(files, UNFINISHED_NAME), result);
}

static enum result write_zeros(struct storage_spares *spares, int handle)
{
    struct storage_files *files = spares->files;
    void *zeros = calloc(1, CHUNK_BYTES);
    if (zeros == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = RESULT_OK;
    for (uint64_t offset = 0; offset < spares->file_bytes && result == RESULT_OK;) {
        uint64_t left = spares->file_bytes - offset;
        size_t count = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        result = files->write(files, handle, offset, span_of(zeros, count));
        offset += count;
        if (result == RESULT_OK && offset % BURST_BYTES == 0) {
            result = files->sync(files, handle, false);
        }
        pthread_mutex_lock(&spares->mutex);
        if (spares->stopping && result == RESULT_OK) {
            result = RESULT_CLOSED;
        }
        pthread_mutex_unlock(&spares->mutex);
    }
    free(zeros);
    return result == RESULT_OK ? files->sync(files, handle, true) : result;
}
