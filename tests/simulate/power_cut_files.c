/* power_cut_files.c: see power_cut_files.h. */
#include "tests/simulate/power_cut_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

#define DISK_MAGIC    0x4b534944u
#define SECTOR_BYTES  512u
#define NAME_BYTES    64u
#define HANDLES_FIRST 100 /* so that nobody takes one for a real descriptor */

struct bytes {
    uint8_t *bytes;
    size_t count;
    size_t room;
};

/* A write since the last sync; without bytes: the file was made that long. */
struct pending {
    uint64_t offset;
    struct bytes bytes;
    uint64_t length;
};

struct inode {
    struct bytes now;
    struct bytes durable;
    struct pending *pending;
    size_t pending_count;
    size_t pending_room;
    size_t reserved; /* bytes that a full disk cannot refuse */
};

struct entry {
    char name[NAME_BYTES];
    struct inode *inode;
};

struct directory {
    struct entry *entries;
    size_t count;
    size_t room;
};

enum change_kind { CHANGE_CREATE, CHANGE_RENAME, CHANGE_REMOVE };

struct change {
    enum change_kind kind;
    char from[NAME_BYTES];
    char to[NAME_BYTES];
    struct inode *inode;
};

struct power_cut_files {
    struct storage_files files; /* first: the layer points here */
    uint32_t magic;
    uint64_t random;
    uint64_t operations;
    uint64_t stop_at;
    uint64_t syncs;
    uint64_t skip_sync;
    uint64_t directory_syncs;
    uint64_t skip_directory_sync;
    bool full;
    struct directory now;
    struct directory durable;
    struct change *changes; /* of the directory since its last sync */
    size_t change_count;
    size_t change_room;
    struct inode **inodes; /* all that ever were */
    size_t inode_count;
    size_t inode_room;
    struct inode **handles; /* NULL: closed */
    size_t handle_count;
    size_t handle_room;
};

static const struct storage_files layer_ops;

static void *grow(void *list, size_t count, size_t *room, size_t item_bytes);
static void bytes_resize(struct bytes *bytes, size_t count);
static void bytes_write(struct bytes *bytes, uint64_t offset, struct span data);
static void bytes_copy(struct bytes *to, const struct bytes *from);
static struct pending *add_pending(struct inode *inode);
static void forget_pending(struct inode *inode);
static struct entry *find(struct directory *directory, const char *name);
static void directory_apply(struct directory *directory, const struct change *change);
static void directory_copy(struct directory *to, const struct directory *from);
static void add_change(struct power_cut_files *disk, enum change_kind kind, const char *from,
                       const char *to, struct inode *inode);
static void survive(struct power_cut_files *disk, struct inode *inode);

static struct power_cut_files *disk_cast(struct storage_files *files)
{
    struct power_cut_files *disk = (struct power_cut_files *)files;
    ASSERT(disk->magic == DISK_MAGIC);
    return disk;
}

struct power_cut_files *power_cut_files_new(uint64_t seed)
{
    struct power_cut_files *disk = calloc(1, sizeof *disk);
    ASSERT(disk != NULL);
    disk->files = layer_ops;
    disk->magic = DISK_MAGIC;
    disk->random = seed * 2 + 1;
    disk->stop_at = UINT64_MAX;
    disk->skip_sync = UINT64_MAX;
    disk->skip_directory_sync = UINT64_MAX;
    return disk;
}

void power_cut_files_free(struct power_cut_files *disk)
{
    for (size_t i = 0; i < disk->inode_count; i++) {
        struct inode *inode = disk->inodes[i];
        forget_pending(inode);
        free(inode->pending);
        free(inode->now.bytes);
        free(inode->durable.bytes);
        free(inode);
    }
    free(disk->inodes);
    free(disk->handles);
    free(disk->changes);
    free(disk->now.entries);
    free(disk->durable.entries);
    disk->magic = 0;
    free(disk);
}

struct storage_files *power_cut_files_layer(struct power_cut_files *disk)
{
    return &disk->files;
}

uint64_t power_cut_files_operations(const struct power_cut_files *disk)
{
    return disk->operations;
}

uint64_t power_cut_files_syncs(const struct power_cut_files *disk)
{
    return disk->syncs;
}

uint64_t power_cut_files_directory_syncs(const struct power_cut_files *disk)
{
    return disk->directory_syncs;
}

bool power_cut_files_has_stopped(const struct power_cut_files *disk)
{
    return disk->operations >= disk->stop_at;
}

void power_cut_files_stop_at(struct power_cut_files *disk, uint64_t operation)
{
    disk->stop_at = operation;
}

void power_cut_files_skip_sync(struct power_cut_files *disk, uint64_t number)
{
    disk->skip_sync = number;
}

void power_cut_files_skip_directory_sync(struct power_cut_files *disk, uint64_t number)
{
    disk->skip_directory_sync = number;
}

void power_cut_files_set_full(struct power_cut_files *disk, bool full)
{
    disk->full = full;
}

/* xorshift64*: all that is random here comes from the seed. */
static uint64_t draw(struct power_cut_files *disk)
{
    disk->random ^= disk->random >> 12;
    disk->random ^= disk->random << 25;
    disk->random ^= disk->random >> 27;
    return disk->random * 2685821657736338717ull;
}

void power_cut_files_cut(struct power_cut_files *disk, enum power_cut_loss loss)
{
    if (loss == POWER_CUT_LOSES_SOME) {
        size_t kept = (size_t)(draw(disk) % (disk->change_count + 1));
        for (size_t i = 0; i < kept; i++) {
            directory_apply(&disk->durable, &disk->changes[i]);
        }
    }
    disk->change_count = 0;
    directory_copy(&disk->now, &disk->durable);
    for (size_t i = 0; i < disk->inode_count; i++) {
        struct inode *inode = disk->inodes[i];
        if (loss == POWER_CUT_LOSES_SOME) {
            survive(disk, inode);
        }
        forget_pending(inode);
        bytes_copy(&inode->now, &inode->durable);
        inode->reserved = inode->durable.count;
    }
    for (size_t i = 0; i < disk->handle_count; i++) {
        disk->handles[i] = NULL;
    }
    disk->stop_at = UINT64_MAX;
}

uint8_t *power_cut_files_bytes(struct power_cut_files *disk, const char *name, size_t *count)
{
    struct entry *entry = find(&disk->now, name);
    if (entry == NULL) {
        return NULL;
    }
    *count = entry->inode->now.count;
    return entry->inode->now.bytes;
}

void power_cut_files_resize(struct power_cut_files *disk, const char *name, size_t count)
{
    struct entry *entry = find(&disk->now, name);
    ASSERT(entry != NULL);
    bytes_resize(&entry->inode->now, count);
    bytes_copy(&entry->inode->durable, &entry->inode->now);
    forget_pending(entry->inode);
    entry->inode->reserved = count;
}

/* Is the power still on? Counts the operation. */
static bool step(struct power_cut_files *disk)
{
    return disk->operations < disk->stop_at && ++disk->operations > 0;
}

static struct inode *inode_of(struct power_cut_files *disk, int handle)
{
    size_t at = (size_t)(handle - HANDLES_FIRST);
    ASSERT(handle >= HANDLES_FIRST && at < disk->handle_count);
    return disk->handles[at];
}

static struct inode *new_inode(struct power_cut_files *disk)
{
    struct inode *inode = calloc(1, sizeof *inode);
    ASSERT(inode != NULL);
    disk->inodes = grow(disk->inodes, disk->inode_count, &disk->inode_room, sizeof(struct inode *));
    disk->inodes[disk->inode_count++] = inode;
    return inode;
}

static enum result layer_open(struct storage_files *self, const char *name, uint64_t reserve_bytes,
                              int *handle)
{
    struct power_cut_files *disk = disk_cast(self);
    struct entry *entry = find(&disk->now, name);
    bool grows = entry == NULL || entry->inode->now.count < reserve_bytes;
    if (grows && !step(disk)) {
        return RESULT_IO;
    }
    struct inode *inode = entry != NULL ? entry->inode : new_inode(disk);
    if (entry == NULL) {
        add_change(disk, CHANGE_CREATE, "", name, inode);
    }
    if (disk->full && inode->reserved < reserve_bytes) {
        return RESULT_FULL;
    }
    if (inode->now.count < reserve_bytes) {
        add_pending(inode)->length = reserve_bytes;
        bytes_resize(&inode->now, reserve_bytes);
        inode->reserved = reserve_bytes;
    }
    disk->handles =
        grow(disk->handles, disk->handle_count, &disk->handle_room, sizeof(struct inode *));
    disk->handles[disk->handle_count] = inode;
    *handle = HANDLES_FIRST + (int)disk->handle_count++;
    return RESULT_OK;
}

static enum result layer_write(struct storage_files *self, int handle, uint64_t offset,
                               struct span bytes)
{
    struct power_cut_files *disk = disk_cast(self);
    struct inode *inode = inode_of(disk, handle);
    if (inode == NULL || !step(disk)) {
        return RESULT_IO;
    }
    if (disk->full && offset + bytes.count > inode->reserved) {
        return RESULT_FULL;
    }
    struct pending *pending = add_pending(inode);
    pending->offset = offset;
    bytes_write(&pending->bytes, 0, bytes);
    bytes_write(&inode->now, offset, bytes);
    return RESULT_OK;
}

static enum result layer_read(struct storage_files *self, int handle, uint64_t offset, void *bytes,
                              size_t count, size_t *got)
{
    struct power_cut_files *disk = disk_cast(self);
    struct inode *inode = inode_of(disk, handle);
    *got = 0;
    if (inode == NULL || disk->operations >= disk->stop_at) {
        return RESULT_IO;
    }
    if (offset < inode->now.count) {
        size_t left = inode->now.count - (size_t)offset;
        *got = left < count ? left : count;
        memcpy(bytes, inode->now.bytes + offset, *got);
    }
    return RESULT_OK;
}

static enum result layer_sync(struct storage_files *self, int handle, bool whole)
{
    (void)whole; /* what fdatasync keeps is enough for all that is promised here */
    struct power_cut_files *disk = disk_cast(self);
    struct inode *inode = inode_of(disk, handle);
    if (inode == NULL || power_cut_files_has_stopped(disk)) {
        return RESULT_IO;
    }
    if (inode->pending_count == 0) {
        return RESULT_OK; /* nobody would miss it: not an operation */
    }
    (void)step(disk);
    if (disk->syncs++ != disk->skip_sync) {
        bytes_copy(&inode->durable, &inode->now);
        forget_pending(inode);
    }
    return RESULT_OK;
}

static enum result layer_sync_directory(struct storage_files *self)
{
    struct power_cut_files *disk = disk_cast(self);
    if (!step(disk)) {
        return RESULT_IO;
    }
    if (disk->directory_syncs++ != disk->skip_directory_sync) {
        directory_copy(&disk->durable, &disk->now);
        disk->change_count = 0;
    }
    return RESULT_OK;
}

static enum result layer_rename(struct storage_files *self, const char *from, const char *to)
{
    struct power_cut_files *disk = disk_cast(self);
    if (!step(disk)) {
        return RESULT_IO;
    }
    if (find(&disk->now, from) == NULL) {
        return RESULT_NOT_FOUND;
    }
    add_change(disk, CHANGE_RENAME, from, to, NULL);
    return RESULT_OK;
}

static enum result layer_remove(struct storage_files *self, const char *name)
{
    struct power_cut_files *disk = disk_cast(self);
    if (!step(disk)) {
        return RESULT_IO;
    }
    if (find(&disk->now, name) == NULL) {
        return RESULT_NOT_FOUND;
    }
    add_change(disk, CHANGE_REMOVE, name, "", NULL);
    return RESULT_OK;
}

static enum result layer_list(struct storage_files *self,
                              void (*each)(void *owner, const char *name), void *owner)
{
    struct power_cut_files *disk = disk_cast(self);
    if (disk->operations >= disk->stop_at) {
        return RESULT_IO;
    }
    struct directory copy = {0};
    directory_copy(&copy, &disk->now);
    for (size_t i = 0; i < copy.count; i++) {
        each(owner, copy.entries[i].name);
    }
    free(copy.entries);
    return RESULT_OK;
}

static void layer_close(struct storage_files *self, int handle)
{
    struct power_cut_files *disk = disk_cast(self);
    (void)inode_of(disk, handle);
    disk->handles[handle - HANDLES_FIRST] = NULL;
}

static void *grow(void *list, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room) {
        return list;
    }
    *room = *room == 0 ? 16 : *room * 2;
    void *grown = realloc(list, *room * item_bytes);
    ASSERT(grown != NULL);
    return grown;
}

static void bytes_resize(struct bytes *bytes, size_t count)
{
    if (count > bytes->room) {
        bytes->bytes = realloc(bytes->bytes, count);
        ASSERT(bytes->bytes != NULL);
        bytes->room = count;
    }
    if (count > bytes->count) {
        memset(bytes->bytes + bytes->count, 0, count - bytes->count);
    }
    bytes->count = count;
}

static void bytes_write(struct bytes *bytes, uint64_t offset, struct span data)
{
    if (offset + data.count > bytes->count) {
        bytes_resize(bytes, (size_t)offset + data.count);
    }
    if (data.count > 0) {
        memcpy(bytes->bytes + offset, data.bytes, data.count);
    }
}

static void bytes_copy(struct bytes *to, const struct bytes *from)
{
    bytes_resize(to, from->count);
    bytes_write(to, 0, span_of(from->bytes, from->count));
}

static struct pending *add_pending(struct inode *inode)
{
    inode->pending =
        grow(inode->pending, inode->pending_count, &inode->pending_room, sizeof *inode->pending);
    struct pending *pending = &inode->pending[inode->pending_count++];
    *pending = (struct pending){0};
    return pending;
}

static void forget_pending(struct inode *inode)
{
    for (size_t i = 0; i < inode->pending_count; i++) {
        free(inode->pending[i].bytes.bytes);
    }
    inode->pending_count = 0;
}

static struct entry *find(struct directory *directory, const char *name)
{
    for (size_t i = 0; i < directory->count; i++) {
        if (strcmp(directory->entries[i].name, name) == 0) {
            return &directory->entries[i];
        }
    }
    return NULL;
}

static void directory_remove(struct directory *directory, const char *name)
{
    struct entry *entry = find(directory, name);
    if (entry != NULL) {
        *entry = directory->entries[--directory->count];
    }
}

static void directory_add(struct directory *directory, const char *name, struct inode *inode)
{
    directory_remove(directory, name);
    directory->entries =
        grow(directory->entries, directory->count, &directory->room, sizeof(struct entry));
    struct entry *entry = &directory->entries[directory->count++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->inode = inode;
}

static void directory_apply(struct directory *directory, const struct change *change)
{
    struct entry *entry = NULL;
    switch (change->kind) {
    case CHANGE_CREATE:
        directory_add(directory, change->to, change->inode);
        return;
    case CHANGE_RENAME:
        entry = find(directory, change->from);
        ASSERT(entry != NULL);
        struct inode *inode = entry->inode;
        directory_remove(directory, change->from);
        directory_add(directory, change->to, inode);
        return;
    case CHANGE_REMOVE:
        directory_remove(directory, change->from);
        return;
    }
    ASSERT_UNREACHABLE();
}

static void directory_copy(struct directory *to, const struct directory *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        directory_add(to, from->entries[i].name, from->entries[i].inode);
    }
}

static void add_change(struct power_cut_files *disk, enum change_kind kind, const char *from,
                       const char *to, struct inode *inode)
{
    ASSERT(strlen(from) < NAME_BYTES && strlen(to) < NAME_BYTES);
    disk->changes =
        grow(disk->changes, disk->change_count, &disk->change_room, sizeof *disk->changes);
    struct change *change = &disk->changes[disk->change_count++];
    *change = (struct change){.kind = kind, .inode = inode};
    snprintf(change->from, sizeof change->from, "%s", from);
    snprintf(change->to, sizeof change->to, "%s", to);
    directory_apply(&disk->now, change);
}

/* Every sector of every unsynced write tosses a coin; a sector is never torn itself. */
static void survive(struct power_cut_files *disk, struct inode *inode)
{
    for (size_t i = 0; i < inode->pending_count; i++) {
        struct pending *pending = &inode->pending[i];
        if (pending->length > 0) {
            if (draw(disk) % 2 == 0 && pending->length > inode->durable.count) {
                bytes_resize(&inode->durable, pending->length);
            }
            continue;
        }
        uint64_t offset = pending->offset;
        struct span left = span_of(pending->bytes.bytes, pending->bytes.count);
        while (left.count > 0) {
            size_t count = SECTOR_BYTES - (size_t)(offset % SECTOR_BYTES);
            count = count < left.count ? count : left.count;
            if (draw(disk) % 2 == 0) {
                bytes_write(&inode->durable, offset, span_of(left.bytes, count));
            }
            offset += count;
            left = span_of(left.bytes + count, left.count - count);
        }
    }
}

static const struct storage_files layer_ops = {
    .open = layer_open,
    .write = layer_write,
    .read = layer_read,
    .sync = layer_sync,
    .sync_directory = layer_sync_directory,
    .rename = layer_rename,
    .remove = layer_remove,
    .list = layer_list,
    .close = layer_close,
};
