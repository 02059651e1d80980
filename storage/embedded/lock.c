/*
 * lock.c: the lock of a data directory. The kernel holds it for the open file, so it goes with the
 * process however that ends, and a second open of the same process is refused as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "storage/embedded/embedded.h"
#include "storage/posix/directory.h"

enum result storage_directory_lock(const char *directory, int *lock)
{
    char path[PATH_MAX];
    enum result result = storage_posix_make_directory(directory);
    if (result != RESULT_OK) {
        return result;
    }
    int length = snprintf(path, sizeof path, "%s/lock", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        return RESULT_LIMIT;
    }
    int handle = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (handle < 0) {
        return storage_posix_result(errno);
    }
    if (flock(handle, LOCK_EX | LOCK_NB) != 0) {
        result = errno == EWOULDBLOCK ? RESULT_EXISTS : storage_posix_result(errno);
        close(handle);
        return result;
    }
    *lock = handle;
    return RESULT_OK;
}

void storage_directory_unlock(int lock)
{
    if (lock >= 0) {
        close(lock);
    }
}
