/*
 * arena.h: bump allocation for everything on a hot path. One owner, one thread at a time.
 *
 * A full arena (limit reached, or malloc refused) returns NULL and latches `overflowed`; its owner
 * checks that latch before it commits what it built, so callees need not check each allocation when
 * their caller does. Nothing allocated here may be stored in something that outlives it: copy at
 * the boundary. Under AddressSanitizer free room is poisoned: running over an allocation and use
 * after arena_clear are reported.
 */
#ifndef PROTO_BASE_ARENA_H
#define PROTO_BASE_ARENA_H

#include "proto/base/result.h"
#include "proto/base/span.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#define ARENA_UNPOISON(address, bytes) ASAN_UNPOISON_MEMORY_REGION((address), (bytes))
#define ARENA_POISON(address, bytes)   ASAN_POISON_MEMORY_REGION((address), (bytes))
#else
#define ARENA_UNPOISON(address, bytes) ((void)(address), (void)(bytes))
#define ARENA_POISON(address, bytes)   ((void)(address), (void)(bytes))
#endif

#define ARENA_ALIGNMENT 16u

struct arena_block;

struct arena {
    struct arena_block *first;   /* kept by arena_clear unless it is larger than block_bytes */
    struct arena_block *current; /* block being filled */
    uint8_t *next;               /* next free byte, always aligned */
    uint8_t *end;                /* of the current block, always aligned */
    size_t taken_bytes;          /* memory held from malloc */
    size_t limit_bytes;          /* never hold more than this */
    size_t block_bytes;          /* size of an ordinary block */
    bool overflowed;             /* latched by a refused allocation; reset by arena_clear */
};

/* Prepares an arena that takes nothing yet. block_bytes >= 256. Pair: arena_release. */
void arena_init(struct arena *arena, size_t block_bytes, size_t limit_bytes);
/* Frees all memory; the arena may be used again as after init. */
void arena_release(struct arena *arena);
/* Forgets all allocations, keeps the first block, resets `overflowed`. */
void arena_clear(struct arena *arena);

/* Private to arena.c: an allocation that the current block has no room for. */
void *arena_alloc_block(struct arena *arena, size_t bytes);

/*
 * 16-byte aligned, uninitialised; NULL when the arena is full. bytes may be 0 (returns a valid
 * unique-enough pointer).
 */
static inline void *arena_alloc(struct arena *arena, size_t bytes)
{
    size_t room = (size_t)(arena->end - arena->next);
    if (__builtin_expect(bytes - 1 >= room, 0)) { /* too large, or 0 */
        return arena_alloc_block(arena, bytes);
    }
    uint8_t *start = arena->next;
    arena->next = start + ((bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1));
    ARENA_UNPOISON(start, bytes);
    return start;
}

/* The same, zeroed. */
static inline void *arena_zero(struct arena *arena, size_t bytes)
{
    void *start = arena_alloc(arena, bytes);
    return start == NULL ? NULL : memset(start, 0, bytes);
}

/*
 * Grows the newest allocation in place when it is the last one, else copies. Returns NULL when full
 * (old stays valid).
 */
void *arena_grow(struct arena *arena, void *old, size_t old_bytes, size_t new_bytes);
/* What one allocation could still take from malloc, about; 0 when the limit is reached. */
size_t arena_spare_bytes(const struct arena *arena);
/*
 * A copy that lives in the arena; an empty span when full (check `overflowed`). A NUL byte follows
 * the copy.
 */
struct span arena_copy(struct arena *arena, struct span span);
/* The parts, one behind the other; an empty span when full, or when all of them are empty. */
struct span arena_join(struct arena *arena, const struct span *parts, size_t count);
/* printf into the arena; NUL-terminated, count excludes the NUL. */
struct span arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
