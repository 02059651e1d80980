/* folder.c: see folder.h. */
#include "storage/folder/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"
#include "storage/answer.h"
#include "storage/folder/file_name.h"
#include "storage/posix/directory.h"

#define FOLDER_MAGIC    0x444c4f46u
#define BATCH_ITEMS_MAX 200u
#define ROOT_BYTES_MAX  1024u
#define PATH_BYTES_MAX  (ROOT_BYTES_MAX + STORAGE_FOLDER_PATH_MAX + 32)
#define SYNC_EACH_MAX   8u /* larger batches are synced by one syncfs: one wait, not two a blob */
#define BLOB_BYTES_MAX  (1u << 30)
#define LIST_BLOCK      (64u << 10)
#define LIST_BYTES_MAX  (64u << 20)
#define BESIDE          ".tmp" /* (no blob's path: a dot at the beginning is escaped) */

struct folder_blob {
    struct storage_blob blob; /* first: the port points here */
    uint32_t magic;
    uint64_t removed;          /* trees put aside so far */
    char root[ROOT_BYTES_MAX]; /* without a '/' at its end */
};

static const struct storage_blob_ops blob_ops;

static enum result remove_tree(const char *path, bool itself);
static enum result write_beside(const char *path, struct span bytes, bool sync);
static enum result move_into_place(const char *from, const char *path, bool sync);
static enum result make_directory_of(const char *path, bool sync);
static enum result sync_all(const struct folder_blob *self);
static enum result sync_directory_of(const char *path);

enum result storage_folder_blob_open(const char *directory, struct storage_blob **out)
{
    char beside[PATH_BYTES_MAX];
    size_t count = strlen(directory);
    while (count > 1 && directory[count - 1] == '/') {
        count--;
    }
    if (count == 0 || count >= ROOT_BYTES_MAX) {
        return count == 0 ? RESULT_INVALID : RESULT_LIMIT;
    }
    struct folder_blob *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    self->blob.ops = &blob_ops;
    self->magic = FOLDER_MAGIC;
    memcpy(self->root, directory, count);
    snprintf(beside, sizeof beside, "%s/%s", self->root, BESIDE);
    enum result result = storage_posix_make_directory(beside);
    if (result == RESULT_OK) {
        result = remove_tree(beside, false);
    }
    if (result != RESULT_OK) {
        free(self);
        return result;
    }
    *out = &self->blob;
    return RESULT_OK;
}

static struct folder_blob *blob_cast(struct storage_blob *blob)
{
    struct folder_blob *self = (struct folder_blob *)blob;
    ASSERT(self->magic == FOLDER_MAGIC);
    return self;
}

static void blob_close(struct storage_blob *blob)
{
    struct folder_blob *self = blob_cast(blob);
    self->magic = 0;
    free(self);
}

/* The full path of a blob or folder; RESULT_INVALID for a name that cannot be one. */
static enum result full_path(const struct folder_blob *self, struct span name,
                             char out[PATH_BYTES_MAX])
{
    char path[STORAGE_FOLDER_PATH_MAX];
    enum result result = storage_folder_path(name, path);
    if (result == RESULT_OK) {
        snprintf(out, PATH_BYTES_MAX, "%s/%s", self->root, path);
    }
    return result;
}

static bool is_folder(struct span name)
{
    return name.count > 0 && name.bytes[name.count - 1] == '/';
}

/* ---- put ---- */

static void path_beside(const struct folder_blob *self, uint64_t number, char out[PATH_BYTES_MAX])
{
    snprintf(out, PATH_BYTES_MAX, "%s/%s/%llu", self->root, BESIDE, (unsigned long long)number);
}

static void fail_sound(uint8_t *results, size_t count, enum result result)
{
    for (size_t i = 0; i < count && result != RESULT_OK; i++) {
        results[i] = results[i] == RESULT_OK ? (uint8_t)result : results[i];
    }
}

/* All are durable before the first is moved, and all moves before the answer. */
static void put_all(const struct folder_blob *self, const struct storage_blob_item *items,
                    size_t count, uint8_t *results)
{
    char beside[PATH_BYTES_MAX];
    char path[PATH_BYTES_MAX];
    bool each = count <= SYNC_EACH_MAX;
    for (size_t i = 0; i < count; i++) {
        path_beside(self, i, beside);
        results[i] = (uint8_t)(is_folder(items[i].name) ? RESULT_INVALID
                                                        : full_path(self, items[i].name, path));
        if (results[i] == RESULT_OK) {
            results[i] = (uint8_t)write_beside(beside, items[i].bytes, each);
        }
    }
    if (!each) {
        fail_sound(results, count, sync_all(self));
    }
    for (size_t i = 0; i < count; i++) {
        if (results[i] != RESULT_OK) {
            continue;
        }
        path_beside(self, i, beside);
        (void)full_path(self, items[i].name, path);
        results[i] = (uint8_t)move_into_place(beside, path, each);
    }
    if (!each) {
        fail_sound(results, count, sync_all(self));
    }
}

static enum result blob_put(struct storage_blob *blob, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    uint8_t results[BATCH_ITEMS_MAX];
    ASSERT(count <= BATCH_ITEMS_MAX);
    put_all(blob_cast(blob), items, count, results);
    struct storage_answer answer = {.results = span_of(results, count)};
    for (size_t i = 0; i < count; i++) {
        bool graver = answer.result == RESULT_OK || answer.result == RESULT_INVALID;
        if (graver && results[i] != RESULT_OK) {
            answer.result = (enum result)results[i];
        }
    }
    return storage_answer(reply_to, answer);
}

static enum result write_all(int handle, struct span bytes)
{
    while (bytes.count > 0) {
        ssize_t done = write(handle, bytes.bytes, bytes.count);
        if (done < 0 && errno != EINTR) {
            return storage_posix_result(errno);
        }
        size_t count = done < 0 ? 0 : (size_t)done;
        bytes = span_of(bytes.bytes + count, bytes.count - count);
    }
    return RESULT_OK;
}

/* Written (and durable, with `sync`), but not yet in its place. */
static enum result write_beside(const char *path, struct span bytes, bool sync)
{
    int handle = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (handle < 0) {
        return errno == ENOENT ? RESULT_IO : storage_posix_result(errno);
    }
    enum result result = write_all(handle, bytes);
    if (result == RESULT_OK && sync && fsync(handle) != 0) {
        result = storage_posix_result(errno);
    }
    if (close(handle) != 0 && result == RESULT_OK) {
        result = storage_posix_result(errno);
    }
    if (result != RESULT_OK) {
        unlink(path);
    }
    return result;
}

static enum result move_into_place(const char *from, const char *path, bool sync)
{
    enum result result = rename(from, path) == 0 ? RESULT_OK : storage_posix_result(errno);
    if (result == RESULT_NOT_FOUND) { /* the first blob of its folder */
        result = make_directory_of(path, sync);
        if (result == RESULT_OK && rename(from, path) != 0) {
            result = storage_posix_result(errno);
        }
    }
    if (result != RESULT_OK) {
        unlink(from);
        return result == RESULT_NOT_FOUND ? RESULT_IO : result;
    }
    return sync ? sync_directory_of(path) : RESULT_OK;
}

/* The directory of a blob and those above it; durable with `sync`. */
static enum result make_directory_of(const char *path, bool sync)
{
    char directory[PATH_BYTES_MAX];
    int count = (int)(strrchr(path, '/') - path);
    snprintf(directory, sizeof directory, "%.*s", count, path);
    if (sync) {
        return storage_posix_make_directory(directory);
    }
    for (char *slash = strchr(directory + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
            return storage_posix_result(errno);
        }
        *slash = '/';
    }
    bool made = mkdir(directory, 0700) == 0 || errno == EEXIST;
    return made ? RESULT_OK : storage_posix_result(errno);
}

/* Everything that was written to the file system that we are on. (Since Linux 5.8 it reports what
 * could not be.) */
static enum result sync_all(const struct folder_blob *self)
{
    int handle = open(self->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = handle < 0 || syncfs(handle) != 0 ? errno : 0;
    if (handle >= 0) {
        close(handle);
    }
    return error == ENOENT ? RESULT_IO : storage_posix_result(error);
}

static enum result sync_directory_of(const char *path)
{
    char directory[PATH_BYTES_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    int handle = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = handle < 0 || fsync(handle) != 0 ? errno : 0;
    if (handle >= 0) {
        close(handle);
    }
    return error == ENOENT ? RESULT_IO : storage_posix_result(error);
}

/* ---- get ---- */

static enum result read_all(const char *path, uint8_t **bytes, size_t *count)
{
    struct stat status;
    enum result result = RESULT_OK;
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
        return errno == ENOTDIR ? RESULT_NOT_FOUND : storage_posix_result(errno);
    }
    if (fstat(handle, &status) != 0) {
        result = storage_posix_result(errno);
    } else if (!S_ISREG(status.st_mode)) {
        result = RESULT_NOT_FOUND;
    } else if (status.st_size > (off_t)BLOB_BYTES_MAX) {
        result = RESULT_LIMIT;
    } else {
        *bytes = malloc((size_t)status.st_size + 1);
        result = *bytes == NULL ? RESULT_LIMIT : RESULT_OK;
    }
    *count = 0;
    while (result == RESULT_OK && *count < (size_t)status.st_size) {
        ssize_t got = read(handle, *bytes + *count, (size_t)status.st_size - *count);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            result = got == 0 ? RESULT_CORRUPT : storage_posix_result(errno);
            break;
        }
        *count += (size_t)got;
    }
    close(handle);
    return result;
}

static enum result blob_get(struct storage_blob *blob, struct span name,
                            struct proto_address reply_to)
{
    char path[PATH_BYTES_MAX];
    uint8_t *bytes = NULL;
    size_t count = 0;
    struct storage_answer answer = {.result = RESULT_NOT_FOUND};
    if (!is_folder(name) && full_path(blob_cast(blob), name, path) == RESULT_OK) {
        answer.result = read_all(path, &bytes, &count);
    }
    if (answer.result == RESULT_OK) {
        answer.bytes = span_of(bytes, count);
    }
    enum result result = storage_answer(reply_to, answer);
    free(bytes);
    return result;
}

/* ---- list ---- */

struct name_list {
    struct arena arena;
    struct span *names;
    size_t count;
    size_t capacity;
};

static bool keep_name(struct name_list *list, struct span name)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        struct span *names = realloc(list->names, capacity * sizeof *names);
        if (names == NULL) {
            return false;
        }
        list->names = names;
        list->capacity = capacity;
    }
    list->names[list->count] = arena_copy(&list->arena, name);
    list->count++;
    return !list->arena.overflowed;
}

static int compare_names(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

/* All names below a directory that begin with the prefix, in no order. */
static enum result gather(const struct folder_blob *self, char *directory, struct span prefix,
                          struct name_list *list)
{
    char *const roots[] = {directory, NULL};
    size_t root_count = strlen(self->root) + 1;
    uint8_t name[STORAGE_FOLDER_NAME_MAX];
    size_t count = 0;
    enum result result = RESULT_OK;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    if (walk == NULL) {
        return storage_posix_result(errno);
    }
    FTSENT *entry;
    errno = 0;
    while (result == RESULT_OK && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_level == 1 && strcmp(entry->fts_name, BESIDE) == 0) {
            fts_set(walk, entry, FTS_SKIP);
        }
        bool file = entry->fts_info == FTS_F || entry->fts_info == FTS_NSOK;
        if (file && strlen(entry->fts_path) > root_count &&
            storage_folder_name(entry->fts_path + root_count, name, &count) &&
            count >= prefix.count && memcmp(name, prefix.bytes, prefix.count) == 0 &&
            !keep_name(list, span_of(name, count))) {
            result = RESULT_LIMIT;
        }
        bool failed = entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR;
        if (failed && entry->fts_errno != ENOENT) {
            result = storage_posix_result(entry->fts_errno);
        }
        errno = 0;
    }
    fts_close(walk);
    return result;
}

static enum result blob_list(struct storage_blob *blob, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    struct folder_blob *self = blob_cast(blob);
    char directory[PATH_BYTES_MAX];
    struct name_list list = {0};
    struct wire_writer writer;
    static const uint8_t empty = 0;
    const uint8_t *slash = prefix.count == 0 ? NULL : memrchr(prefix.bytes, '/', prefix.count);
    struct span folder =
        span_of(prefix.bytes, slash == NULL ? 0 : (size_t)(slash - prefix.bytes) + 1);
    arena_init(&list.arena, LIST_BLOCK, LIST_BYTES_MAX);
    struct storage_answer answer = {.result = RESULT_OK};
    snprintf(directory, sizeof directory, "%s", self->root);
    bool possible = folder.count == 0 || full_path(self, folder, directory) == RESULT_OK;
    if (possible && access(directory, F_OK) == 0) {
        answer.result =
            gather(self, directory, prefix.count == 0 ? span_of(&empty, 0) : prefix, &list);
    }
    if (list.count > 0) {
        qsort(list.names, list.count, sizeof list.names[0], compare_names);
    }
    uint32_t count = list.count < limit ? (uint32_t)list.count : limit;
    wire_writer_init(&writer, &list.arena, LIST_BLOCK / 4);
    wire_write_array(&writer, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_write_string(&writer, list.names[i]);
    }
    if (list.arena.overflowed && answer.result == RESULT_OK) {
        answer.result = RESULT_LIMIT;
    }
    if (answer.result == RESULT_OK) {
        answer.bytes = wire_writer_span(&writer);
    }
    enum result result = storage_answer(reply_to, answer);
    free(list.names);
    arena_release(&list.arena);
    return result;
}

/* ---- remove ---- */

static enum result remove_tree(const char *path, bool itself)
{
    char root[PATH_BYTES_MAX];
    snprintf(root, sizeof root, "%s", path);
    char *const roots[] = {root, NULL};
    enum result result = RESULT_OK;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    if (walk == NULL) {
        return storage_posix_result(errno);
    }
    for (FTSENT *entry = fts_read(walk); entry != NULL; entry = fts_read(walk)) {
        bool of_root = entry->fts_level == FTS_ROOTLEVEL && !itself;
        int code = 0;
        if (entry->fts_info == FTS_DP && !of_root) {
            code = rmdir(entry->fts_path);
        } else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP) {
            code = unlink(entry->fts_path);
        }
        if (code != 0 && errno != ENOENT && result == RESULT_OK) {
            result = storage_posix_result(errno);
        }
    }
    fts_close(walk);
    return result;
}

/* The folder is put aside in one step; if a crash comes before all in it is gone, the next open
 * goes on. */
static enum result blob_remove(struct storage_blob *blob, struct span prefix,
                               struct proto_address reply_to)
{
    struct folder_blob *self = blob_cast(blob);
    char path[PATH_BYTES_MAX];
    char aside[PATH_BYTES_MAX];
    struct storage_answer answer = {.result = RESULT_INVALID};
    if (is_folder(prefix) && full_path(self, prefix, path) == RESULT_OK) {
        snprintf(aside, sizeof aside, "%s/%s/removed-%llu", self->root, BESIDE,
                 (unsigned long long)self->removed++);
        answer.result = rename(path, aside) == 0 ? RESULT_OK : storage_posix_result(errno);
        if (answer.result == RESULT_OK) {
            answer.result = sync_directory_of(path);
            enum result gone = remove_tree(aside, true);
            answer.result = answer.result == RESULT_OK ? gone : answer.result;
        } else if (answer.result == RESULT_NOT_FOUND) {
            answer.result = RESULT_OK;
        }
    }
    return storage_answer(reply_to, answer);
}

static enum result blob_flush(struct storage_blob *blob, struct proto_address reply_to)
{
    (void)blob_cast(blob);
    return storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static const struct storage_blob_ops blob_ops = {
    .put = blob_put,
    .get = blob_get,
    .list = blob_list,
    .remove = blob_remove,
    .flush = blob_flush,
    .close = blob_close,
};
