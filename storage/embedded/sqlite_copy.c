/* sqlite_copy.c: a copy of the index by SQLite's own means, by connections of its own. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "storage/embedded/stores_copy.h"
#include "storage/posix/directory.h"

#define BUSY_TIMEOUT_MS 5000

static enum result result_of(int code)
{
    int primary = code & 0xff;
    return code == SQLITE_OK                                       ? RESULT_OK
           : primary == SQLITE_FULL                                ? RESULT_FULL
           : primary == SQLITE_NOMEM                               ? RESULT_LIMIT
           : primary == SQLITE_BUSY                                ? RESULT_AGAIN
           : primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ? RESULT_CORRUPT
                                                                   : RESULT_IO;
}

/* In one step, and so of one moment: readers of a WAL see what was committed when they began. */
static int copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (backup == NULL) {
        return sqlite3_errcode(to);
    }
    int code = sqlite3_backup_step(backup, -1);
    int finished = sqlite3_backup_finish(backup);
    return code == SQLITE_DONE ? finished : code == SQLITE_OK ? SQLITE_ERROR : code;
}

static enum result sync_file(const char *path)
{
    int handle = open(path, O_RDWR | O_CLOEXEC);
    enum result result =
        handle >= 0 && fsync(handle) == 0 ? RESULT_OK : storage_posix_result(errno);
    if (handle >= 0) {
        close(handle);
    }
    return result;
}

enum result storage_sqlite_copy(const char *file, const char *target)
{
    sqlite3 *from = NULL;
    sqlite3 *to = NULL;
    int code = sqlite3_open_v2(file, &from, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_busy_timeout(from, BUSY_TIMEOUT_MS);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_open_v2(
            target, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    }
    if (code == SQLITE_OK) {
        code = copy_pages(from, to);
    }
    int closed = sqlite3_close(to);
    code = code == SQLITE_OK ? closed : code;
    sqlite3_close(from);
    return code == SQLITE_OK ? sync_file(target) : result_of(code);
}
