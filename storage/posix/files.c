/*
 * files.c: the file layer over one directory of a POSIX file system. Holds only the directory's
 * descriptor, so any thread may use it at once.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "storage/file.h"
#include "storage/posix/directory.h"

#define POSIX_FILES_MAGIC 0x46584f50u

struct posix_files {
    struct storage_files files;
    uint32_t magic;
    int directory;
};

static const struct storage_files posix_ops;

enum result storage_posix_new(const char *directory, struct storage_files **out)
{
    ASSERT(directory != NULL);
    enum result result = storage_posix_make_directory(directory);
    if (result != RESULT_OK) {
        return result;
    }
    struct posix_files *files = calloc(1, sizeof *files);
    if (files == NULL) {
        return RESULT_LIMIT;
    }
    files->files = posix_ops;
    files->magic = POSIX_FILES_MAGIC;
    files->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->directory < 0) {
        free(files);
        return RESULT_IO;
    }
    *out = &files->files;
    return RESULT_OK;
}

static struct posix_files *posix_cast(struct storage_files *self)
{
    struct posix_files *files = (struct posix_files *)self;
    ASSERT(files->magic == POSIX_FILES_MAGIC);
    return files;
}

void storage_posix_free(struct storage_files *self)
{
    if (self == NULL) {
        return;
    }
    struct posix_files *files = posix_cast(self);
    close(files->directory);
    files->magic = 0;
    free(files);
}

/* Space that a file system cannot reserve is found missing by the write instead. */
static enum result reserve(int handle, uint64_t bytes)
{
    while (fallocate(handle, 0, 0, (off_t)bytes) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) {
            return RESULT_OK;
        }
        if (errno != EINTR) {
            return storage_posix_result(errno);
        }
    }
    return RESULT_OK;
}

static enum result files_open(struct storage_files *self, const char *name, uint64_t reserve_bytes,
                              int *handle)
{
    int opened = openat(posix_cast(self)->directory, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0) {
        return storage_posix_result(errno);
    }
    enum result result = reserve_bytes > 0 ? reserve(opened, reserve_bytes) : RESULT_OK;
    if (result != RESULT_OK) {
        close(opened);
        return result;
    }
    *handle = opened;
    return RESULT_OK;
}

static enum result files_write(struct storage_files *self, int handle, uint64_t offset,
                               struct span bytes)
{
    (void)self;
    while (bytes.count > 0) {
        ssize_t done = pwrite(handle, bytes.bytes, bytes.count, (off_t)offset);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done == 0 ? RESULT_IO : storage_posix_result(errno);
        }
        offset += (uint64_t)done;
        bytes.bytes += done;
        bytes.count -= (size_t)done;
    }
    return RESULT_OK;
}

static enum result files_read(struct storage_files *self, int handle, uint64_t offset, void *bytes,
                              size_t count, size_t *got)
{
    (void)self;
    *got = 0;
    while (*got < count) {
        ssize_t done = pread(handle, (uint8_t *)bytes + *got, count - *got, (off_t)(offset + *got));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return storage_posix_result(errno);
        }
        if (done == 0) {
            break;
        }
        *got += (size_t)done;
    }
    return RESULT_OK;
}

/* A failed sync is never repeated: the kernel may have dropped the dirty pages, so a second one
 * would lie. */
static enum result files_sync(struct storage_files *self, int handle, bool whole)
{
    (void)self;
    return storage_posix_result((whole ? fsync(handle) : fdatasync(handle)) == 0 ? 0 : errno);
}

static enum result files_sync_directory(struct storage_files *self)
{
    return storage_posix_result(fsync(posix_cast(self)->directory) == 0 ? 0 : errno);
}

static enum result files_rename(struct storage_files *self, const char *from, const char *to)
{
    int directory = posix_cast(self)->directory;
    return storage_posix_result(renameat(directory, from, directory, to) == 0 ? 0 : errno);
}

static enum result files_remove(struct storage_files *self, const char *name)
{
    return storage_posix_result(unlinkat(posix_cast(self)->directory, name, 0) == 0 ? 0 : errno);
}

static enum result files_list(struct storage_files *self,
                              void (*each)(void *owner, const char *name), void *owner)
{
    int copy = openat(posix_cast(self)->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (directory == NULL) {
        int error = errno;
        if (copy >= 0) {
            close(copy);
        }
        return storage_posix_result(error);
    }
    errno = 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            each(owner, entry->d_name);
        }
        errno = 0;
    }
    enum result result = storage_posix_result(errno);
    closedir(directory);
    return result;
}

static void files_close(struct storage_files *self, int handle)
{
    (void)self;
    close(handle);
}

static const struct storage_files posix_ops = {
    .open = files_open,
    .write = files_write,
    .read = files_read,
    .sync = files_sync,
    .sync_directory = files_sync_directory,
    .rename = files_rename,
    .remove = files_remove,
    .list = files_list,
    .close = files_close,
};
