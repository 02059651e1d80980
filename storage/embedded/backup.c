/* backup.c: the embedded stores, copied (storage/backup.h). What is elsewhere is not copied. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "storage/embedded/embedded.h"
#include "storage/embedded/log/log_copy.h"
#include "storage/embedded/stores_copy.h"
#include "storage/posix/directory.h"

#define PATH_BYTES 4096u

struct embedded_backup {
    struct storage_backup backup; /* first: the port points here */
    struct storage_backup_parts parts;
};

static const struct storage_backup_ops backup_ops;

enum result storage_embedded_backup_new(const struct storage_backup_parts *parts,
                                        struct storage_backup **out)
{
    ASSERT(parts->state != NULL && parts->journal != NULL);
    struct embedded_backup *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    *self = (struct embedded_backup){.backup.ops = &backup_ops, .parts = *parts};
    *out = &self->backup;
    return RESULT_OK;
}

void storage_embedded_backup_free(struct storage_backup *backup)
{
    free(backup);
}

/* DIRECTORY/name; RESULT_LIMIT when that is too long. */
static enum result below(char path[PATH_BYTES], const char *directory, const char *name)
{
    int bytes = snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return bytes > 0 && (size_t)bytes < PATH_BYTES ? RESULT_OK : RESULT_LIMIT;
}

static enum result make_directory(const char *path)
{
    if (mkdir(path, 0700) == 0) {
        return RESULT_OK;
    }
    return errno == EEXIST   ? RESULT_EXISTS
           : errno == ENOENT ? RESULT_INVALID
                             : storage_posix_result(errno);
}

static enum result sync_directory(const char *path)
{
    int handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum result result =
        handle >= 0 && fsync(handle) == 0 ? RESULT_OK : storage_posix_result(errno);
    if (handle >= 0) {
        close(handle);
    }
    return result;
}

static enum result backup_begin(struct storage_backup *backup, const char *directory)
{
    (void)backup;
    return directory[0] == '/' ? make_directory(directory) : RESULT_INVALID;
}

/* The state first: it says how far the blobs were, and they may be further. */
static enum result backup_copy_tables(struct storage_backup *backup, const char *directory)
{
    struct embedded_backup *self = (struct embedded_backup *)backup;
    char path[PATH_BYTES];
    enum result result = below(path, directory, "state");
    result = result == RESULT_OK ? make_directory(path) : result;
    if (result == RESULT_OK) {
        result = storage_lmdb_state_copy(self->parts.state, path);
    }
    if (result != RESULT_OK || self->parts.blob == NULL) {
        return result;
    }
    result = below(path, directory, "blobs");
    result = result == RESULT_OK ? make_directory(path) : result;
    return result == RESULT_OK ? storage_lmdb_blob_copy(self->parts.blob, path) : result;
}

static enum result backup_copy_journal(struct storage_backup *backup, const char *directory,
                                       uint64_t *position)
{
    struct embedded_backup *self = (struct embedded_backup *)backup;
    char path[PATH_BYTES];
    enum result result = below(path, directory, "audit.db");
    if (result == RESULT_OK && self->parts.index_file != NULL) {
        result = storage_sqlite_copy(self->parts.index_file, path);
    }
    result = result == RESULT_OK ? below(path, directory, "journal") : result;
    result = result == RESULT_OK ? make_directory(path) : result;
    if (result == RESULT_OK) {
        result = storage_log_copy(self->parts.journal, path, position);
    }
    result = result == RESULT_OK ? sync_directory(path) : result;
    return result == RESULT_OK ? sync_directory(directory) : result;
}

static const struct storage_backup_ops backup_ops = {
    .begin = backup_begin,
    .copy_tables = backup_copy_tables,
    .copy_journal = backup_copy_journal,
};
