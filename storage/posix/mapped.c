/* mapped.c: see mapped.h. */
#include "storage/posix/mapped.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LINE_BYTES 512

struct storage_mapped storage_posix_mapped(int handle)
{
    struct storage_mapped found = {0};
    struct stat status;
    FILE *maps = fstat(handle, &status) == 0 ? fopen("/proc/self/maps", "re") : NULL;
    if (maps == NULL) {
        return found;
    }
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t from;
        uintptr_t to;
        unsigned device_major;
        unsigned device_minor;
        uint64_t inode;
        int fields = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %" SCNu64, &from, &to,
                            &device_major, &device_minor, &inode);
        if (fields == 5 && inode == status.st_ino && device_major == major(status.st_dev) &&
            device_minor == minor(status.st_dev) && to - from > found.bytes) {
            found = (struct storage_mapped){(void *)from, to - from};
        }
    }
    fclose(maps);
    return found;
}

void storage_posix_unmap_pages(struct storage_mapped mapped, size_t bytes)
{
    if (mapped.address != NULL) {
        /* A refusal costs memory, nothing else. */
        (void)madvise(mapped.address, bytes < mapped.bytes ? bytes : mapped.bytes, MADV_DONTNEED);
    }
}
