/*
 * arena.c: blocks from malloc, chained backwards from the one being filled.
 *
 * Invariant: `next` and `end` are multiples of ARENA_ALIGNMENT, so an allocation that fits fits
 * rounded up too.
 */
#include "proto/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/assert.h"

struct arena_block {
    struct arena_block *previous; /* NULL for the first */
    size_t bytes;                 /* header included */
    alignas(ARENA_ALIGNMENT) uint8_t start[];
};

_Static_assert(sizeof(struct arena_block) % ARENA_ALIGNMENT == 0, "blocks start aligned");
_Static_assert(alignof(max_align_t) >= ARENA_ALIGNMENT, "malloc gives aligned blocks");

static size_t round_up(size_t bytes)
{
    return (bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

static void *refuse(struct arena *arena)
{
    arena->overflowed = true;
    return NULL;
}

static void fill(struct arena *arena, struct arena_block *block)
{
    arena->current = block;
    arena->next = block->start;
    arena->end = (uint8_t *)block + block->bytes;
    ARENA_POISON(block->start, block->bytes - sizeof *block);
}

static void free_block(struct arena *arena, struct arena_block *block)
{
    ASSERT(arena->taken_bytes >= block->bytes);
    arena->taken_bytes -= block->bytes;
    ARENA_UNPOISON(block, block->bytes);
    free(block);
}

/*
 * Size of a new block that holds `bytes`: ordinary if the limit lets it, else just enough; 0 when
 * neither.
 */
static size_t choose_block_bytes(const struct arena *arena, size_t bytes)
{
    size_t spare = arena->limit_bytes - arena->taken_bytes;
    if (bytes > spare || spare - bytes < sizeof(struct arena_block) + ARENA_ALIGNMENT) {
        return 0;
    }
    size_t needed = sizeof(struct arena_block) + round_up(bytes);
    return needed < arena->block_bytes && arena->block_bytes <= spare ? arena->block_bytes : needed;
}

void arena_init(struct arena *arena, size_t block_bytes, size_t limit_bytes)
{
    ASSERT(block_bytes >= 256);
    *arena = (struct arena){.block_bytes = round_up(block_bytes), .limit_bytes = limit_bytes};
}

void arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->current; block != NULL;) {
        struct arena_block *previous = block->previous;
        free_block(arena, block);
        block = previous;
    }
    ASSERT(arena->taken_bytes == 0);
    arena_init(arena, arena->block_bytes, arena->limit_bytes);
}

void arena_clear(struct arena *arena)
{
    arena->overflowed = false;
    if (arena->first == NULL) {
        return;
    }
    while (arena->current != arena->first) {
        struct arena_block *previous = arena->current->previous;
        free_block(arena, arena->current);
        arena->current = previous;
    }
    if (arena->first->bytes > arena->block_bytes) {
        arena_release(arena);
    } else {
        fill(arena, arena->first);
    }
}

void *arena_alloc_block(struct arena *arena, size_t bytes)
{
    if (bytes == 0) {
        return arena_alloc(arena, 1);
    }
    size_t block_bytes = choose_block_bytes(arena, bytes);
    struct arena_block *block = block_bytes == 0 ? NULL : malloc(block_bytes);
    if (block == NULL) {
        return refuse(arena);
    }
    *block = (struct arena_block){.previous = arena->current, .bytes = block_bytes};
    if (arena->first == NULL) {
        arena->first = block;
    }
    arena->taken_bytes += block_bytes;
    fill(arena, block);
    return arena_alloc(arena, bytes);
}

/*
 * The current block holds nothing but `old`: let realloc move it, so that a growing buffer leaves
 * no waste behind.
 */
static void *grow_block(struct arena *arena, size_t old_bytes, size_t new_bytes)
{
    struct arena_block *block = arena->current;
    size_t spare = arena->limit_bytes - arena->taken_bytes;
    if (new_bytes > SIZE_MAX / 2 || sizeof *block + round_up(new_bytes) - block->bytes > spare) {
        return refuse(arena);
    }
    bool is_first = block == arena->first;
    size_t block_bytes = sizeof *block + round_up(new_bytes);
    ARENA_UNPOISON(block, block->bytes);
    struct arena_block *moved = realloc(block, block_bytes);
    if (moved == NULL) {
        ARENA_POISON(block->start + round_up(old_bytes),
                     block->bytes - sizeof *block - round_up(old_bytes));
        return refuse(arena);
    }
    arena->taken_bytes += block_bytes - moved->bytes;
    moved->bytes = block_bytes;
    if (is_first) {
        arena->first = moved;
    }
    fill(arena, moved);
    return arena_alloc(arena, new_bytes);
}

void *arena_grow(struct arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    ASSERT(new_bytes >= old_bytes);
    if (old == NULL || old_bytes == 0) {
        return arena_alloc(arena, new_bytes);
    }
    uint8_t *start = old;
    if (start + round_up(old_bytes) == arena->next) {
        if (new_bytes <= (size_t)(arena->end - start)) {
            arena->next = start + round_up(new_bytes);
            ARENA_UNPOISON(start, new_bytes);
            return start;
        }
        if (start == arena->current->start) {
            return grow_block(arena, old_bytes, new_bytes);
        }
    }
    void *copy = arena_alloc(arena, new_bytes);
    return copy == NULL ? NULL : memcpy(copy, old, old_bytes);
}

size_t arena_spare_bytes(const struct arena *arena)
{
    size_t spare = arena->limit_bytes - arena->taken_bytes;
    size_t overhead = sizeof(struct arena_block) + ARENA_ALIGNMENT;
    return spare > overhead ? spare - overhead : 0;
}

struct span arena_copy(struct arena *arena, struct span span)
{
    uint8_t *copy = span.count == SIZE_MAX ? refuse(arena) : arena_alloc(arena, span.count + 1);
    if (copy == NULL) {
        return SPAN_EMPTY;
    }
    if (span.count > 0) {
        memcpy(copy, span.bytes, span.count);
    }
    copy[span.count] = 0;
    return span_of(copy, span.count);
}

struct span arena_join(struct arena *arena, const struct span *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += parts[i].count;
    }
    uint8_t *start = bytes == 0 ? NULL : arena_alloc(arena, bytes);
    if (start == NULL) {
        return SPAN_EMPTY;
    }
    uint8_t *next = start;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].count > 0) {
            memcpy(next, parts[i].bytes, parts[i].count);
            next += parts[i].count;
        }
    }
    return span_of(start, bytes);
}

struct span arena_format(struct arena *arena, const char *format, ...)
{
    char brief[256];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(brief, sizeof brief, format, arguments);
    va_end(arguments);
    ASSERT(count >= 0);
    if ((size_t)count < sizeof brief) {
        return arena_copy(arena, span_of(brief, (size_t)count));
    }
    char *text = arena_alloc(arena, (size_t)count + 1);
    if (text == NULL) {
        return SPAN_EMPTY;
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)count + 1, format, arguments);
    va_end(arguments);
    return span_of(text, (size_t)count);
}
