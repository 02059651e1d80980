/* directory.c: see directory.h. */
#include "storage/posix/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum result make_one(const char *path);
static enum result sync_parent(const char *path);

enum result storage_posix_make_directory(const char *path)
{
    char prefix[PATH_MAX];
    size_t count = strlen(path);
    if (count == 0 || count >= sizeof prefix) {
        return count == 0 ? RESULT_INVALID : RESULT_LIMIT;
    }
    memcpy(prefix, path, count + 1);
    for (size_t i = 1; i <= count; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        prefix[i] = '\0';
        enum result result = make_one(prefix);
        if (result != RESULT_OK) {
            return result;
        }
        prefix[i] = path[i];
    }
    return RESULT_OK;
}

static enum result make_one(const char *path)
{
    if (mkdir(path, 0700) == 0) {
        return sync_parent(path);
    }
    if (errno != EEXIST) {
        return storage_posix_result(errno);
    }
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? RESULT_OK : RESULT_INVALID;
}

static enum result sync_parent(const char *path)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t count = slash == NULL ? 0 : (size_t)(slash - path);
    if (count == 0) {
        parent[count++] = slash == NULL ? '.' : '/';
    } else {
        memcpy(parent, path, count);
    }
    parent[count] = '\0';
    int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return storage_posix_result(errno);
    }
    int error = fsync(directory) == 0 ? 0 : errno;
    close(directory);
    return storage_posix_result(error);
}

enum result storage_posix_result(int error)
{
    switch (error) {
    case 0:
        return RESULT_OK;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return RESULT_FULL;
    case ENOENT:
        return RESULT_NOT_FOUND;
    case ENOTDIR:
        return RESULT_INVALID;
    case EACCES:
    case EPERM:
    case EROFS:
        return RESULT_DENIED;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENAMETOOLONG:
        return RESULT_LIMIT;
    default:
        return RESULT_IO;
    }
}
