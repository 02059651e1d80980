/*
 * mapped.h: keeps a library's memory map of a file from counting as memory of ours. Pages of a
 * shared file map that were looked at once stay in the process's resident size until they are
 * unmapped, though the page cache holds them anyway.
 */
#ifndef STORAGE_POSIX_MAPPED_H
#define STORAGE_POSIX_MAPPED_H

#include <stddef.h>

struct storage_mapped {
    void *address; /* NULL: not found, then nothing is ever given back */
    size_t bytes;
};

/* Where this process has the file mapped: its largest map. Reads /proc/self/maps. */
struct storage_mapped storage_posix_mapped(int handle);
/* Gives the pages of the map's first `bytes` back to the page cache; the next look maps them again.
 */
void storage_posix_unmap_pages(struct storage_mapped mapped, size_t bytes);

#endif
