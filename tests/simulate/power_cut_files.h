/*
 * power_cut_files.h: a disk in memory that behaves at a power cut as the worst legal one does. Of
 * each file it knows what was synced and which writes were not; of the directory, which creations,
 * renames and removals were. A file layer (storage/file.h), so whatever runs on that runs on this.
 *
 *   struct power_cut_files *disk = power_cut_files_new(seed);
 *   power_cut_files_stop_at(disk, n);        operation n and all later ones do nothing but
 * RESULT_IO … run the program under test on power_cut_files_layer(disk) until it fails …
 *   power_cut_files_cut(disk, POWER_CUT_LOSES_ALL);   what was not synced is gone; power is back
 *   … start it again on the same layer and check what it promised …
 *
 * An operation is one call that changes something: open (with a reservation or of a new name),
 * write, sync (of what is not durable yet), sync_directory, rename, remove. One thread.
 */
#ifndef TESTS_SIMULATE_POWER_CUT_FILES_H
#define TESTS_SIMULATE_POWER_CUT_FILES_H

#include "storage/file.h"

enum power_cut_loss {
    POWER_CUT_LOSES_ALL, /* every unsynced write, creation, rename and removal */
    /*
     * Of the unsynced writes a random set of sectors survives (so writes may be torn and out of
     * order); of the directory's changes the first few, as a journaling file system keeps them.
     */
    POWER_CUT_LOSES_SOME,
};

struct power_cut_files;

/* Aborts without memory, as all of this file does: it is for tests. Pair: power_cut_files_free. */
struct power_cut_files *power_cut_files_new(uint64_t seed);
void power_cut_files_free(struct power_cut_files *disk);
/* The layer; lives as long as the disk. */
struct storage_files *power_cut_files_layer(struct power_cut_files *disk);

/* Operations, file syncs and directory syncs so far. */
uint64_t power_cut_files_operations(const struct power_cut_files *disk);
uint64_t power_cut_files_syncs(const struct power_cut_files *disk);
uint64_t power_cut_files_directory_syncs(const struct power_cut_files *disk);

/* The power goes when operation number `operation` (from 0) is about to happen; UINT64_MAX: never.
 */
void power_cut_files_stop_at(struct power_cut_files *disk, uint64_t operation);
/* The power is gone: nothing works until it was cut. */
bool power_cut_files_has_stopped(const struct power_cut_files *disk);
/* The n-th file sync (from 0) says that it is done and does nothing; UINT64_MAX: none. */
void power_cut_files_skip_sync(struct power_cut_files *disk, uint64_t number);
void power_cut_files_skip_directory_sync(struct power_cut_files *disk, uint64_t number);
/* While full: writes beyond a file's reserved size and new reservations are RESULT_FULL. */
void power_cut_files_set_full(struct power_cut_files *disk, bool full);

/* Cuts the power (all handles are void) and switches it on again, with no stop ahead. */
void power_cut_files_cut(struct power_cut_files *disk, enum power_cut_loss loss);

/* The bytes of a file as a reader sees them, for a test to look at or to hurt; NULL when there is
 * none. */
uint8_t *power_cut_files_bytes(struct power_cut_files *disk, const char *name, size_t *count);
/* Cuts a file short or fills it up with zeros, durably; for a test to hurt it. */
void power_cut_files_resize(struct power_cut_files *disk, const char *name, size_t count);

#endif
