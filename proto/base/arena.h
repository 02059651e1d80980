/*
 * arena.h: bump allocation for everything on a hot path. One owner, one thread at a time.
 *
 * A full arena (limit reached, or malloc refused) returns NULL and latches `overflowed`; its owner checks that latch
 * before it commits what it built, so callees need not check each allocation when their caller does.
 * Nothing allocated here may be stored in something that outlives it: copy at the boundary.
 */
#ifndef PROTO_BASE_ARENA_H
#define PROTO_BASE_ARENA_H

#include "proto/base/result.h"
#include "proto/base/span.h"

struct arena_block;

struct arena {
    struct arena_block *first;   /* kept by arena_clear */
    struct arena_block *current; /* block being filled */
    uint8_t *next;               /* next free byte, 16-aligned on allocation */
    uint8_t *end;
    size_t taken_bytes; /* memory held from malloc */
    size_t limit_bytes; /* never hold more than this */
    size_t block_bytes; /* size of an ordinary block */
    bool overflowed;    /* latched by a refused allocation; reset by arena_clear */
};

/* Prepares an arena that takes nothing yet. block_bytes >= 256. Pair: arena_release. */
void arena_init(struct arena *arena, size_t block_bytes, size_t limit_bytes);
/* Frees all memory; the arena may be used again as after init. */
void arena_release(struct arena *arena);
/* Forgets all allocations, keeps the first block, resets `overflowed`. */
void arena_clear(struct arena *arena);

/* 16-byte aligned, uninitialised; NULL when the arena is full. bytes may be 0 (returns a valid unique-enough pointer). */
void *arena_alloc(struct arena *arena, size_t bytes);
/* The same, zeroed. */
void *arena_zero(struct arena *arena, size_t bytes);
/* Grows the newest allocation in place when it is the last one, else copies. Returns NULL when full (old stays valid). */
void *arena_grow(struct arena *arena, void *old, size_t old_bytes, size_t new_bytes);
/* A copy that lives in the arena; an empty span when full (check `overflowed`). A NUL byte follows the copy. */
struct span arena_copy(struct arena *arena, struct span span);
/* printf into the arena; NUL-terminated, count excludes the NUL. */
struct span arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
