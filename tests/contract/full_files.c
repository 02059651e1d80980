/* full_files.c: see full_files.h. */
#include "tests/contract/full_files.h"

static struct contract_full_files *of(struct storage_files *self)
{
    return (struct contract_full_files *)self;
}

static enum result full_open(struct storage_files *self, const char *name, uint64_t reserve_bytes,
                             int *handle)
{
    if (reserve_bytes > 0 && of(self)->full_for_reservations) {
        return RESULT_FULL;
    }
    return of(self)->below->open(of(self)->below, name, reserve_bytes, handle);
}

static enum result full_write(struct storage_files *self, int handle, uint64_t offset,
                              struct span bytes)
{
    if (of(self)->full_for_writes) {
        /* As the kernel does: what still fits is written. */
        (void)of(self)->below->write(of(self)->below, handle, offset,
                                     span_of(bytes.bytes, bytes.count / 2));
        return RESULT_FULL;
    }
    return of(self)->below->write(of(self)->below, handle, offset, bytes);
}

static enum result full_read(struct storage_files *self, int handle, uint64_t offset, void *bytes,
                             size_t count, size_t *got)
{
    return of(self)->below->read(of(self)->below, handle, offset, bytes, count, got);
}

static enum result full_sync(struct storage_files *self, int handle, bool whole)
{
    return of(self)->refuse_sync ? RESULT_IO
                                 : of(self)->below->sync(of(self)->below, handle, whole);
}

static enum result full_sync_directory(struct storage_files *self)
{
    return of(self)->below->sync_directory(of(self)->below);
}

static enum result full_rename(struct storage_files *self, const char *from, const char *to)
{
    return of(self)->below->rename(of(self)->below, from, to);
}

static enum result full_remove(struct storage_files *self, const char *name)
{
    return of(self)->below->remove(of(self)->below, name);
}

static enum result full_list(struct storage_files *self,
                             void (*each)(void *owner, const char *name), void *owner)
{
    return of(self)->below->list(of(self)->below, each, owner);
}

static void full_close(struct storage_files *self, int handle)
{
    of(self)->below->close(of(self)->below, handle);
}

void contract_full_files_init(struct contract_full_files *self, struct storage_files *below)
{
    *self = (struct contract_full_files){
        .files = {.open = full_open,
                  .write = full_write,
                  .read = full_read,
                  .sync = full_sync,
                  .sync_directory = full_sync_directory,
                  .rename = full_rename,
                  .remove = full_remove,
                  .list = full_list,
                  .close = full_close},
        .below = below,
    };
}
