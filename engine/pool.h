/*
 * pool.h: slots for the parts of an execution (tokens, scopes, timers, joins), found by id and
 * linked into chains.
 *
 * Slots live in one array in the execution's arena and are named by index, so the whole can be
 * moved by copying. Every slot type begins with struct engine_slot. A slot's place in the array
 * means nothing: order lives in the chains, which is why a replayed execution with other slots
 * still encodes to the same bytes.
 */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"

#define ENGINE_SLOT_NONE UINT32_MAX

struct engine_link {
    uint32_t previous;
    uint32_t next;
};

/* The chains that a slot can be in at once; what they mean is its type's business. */
enum { ENGINE_LINK_FIRST, ENGINE_LINK_SECOND, ENGINE_LINK_COUNT };

struct engine_slot {
    uint32_t id; /* 0: not found by id */
    struct engine_link links[ENGINE_LINK_COUNT];
};

struct engine_chain {
    uint32_t first;
    uint32_t last;
    uint32_t count;
};

#define ENGINE_CHAIN_EMPTY ((struct engine_chain){ENGINE_SLOT_NONE, ENGINE_SLOT_NONE, 0})

struct engine_pool {
    uint8_t *slots;
    uint32_t *buckets; /* 2 * capacity of them: slot + 1 by id, linear probing; NULL when the type
                          has no ids */
    uint32_t slot_bytes;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t used;     /* slots at or above it were never taken */
    uint32_t free;     /* chain of given-back slots by their first link's next */
};

void engine_pool_init(struct engine_pool *pool, uint32_t slot_bytes);
/* A zeroed slot, unlinked; ENGINE_SLOT_NONE when the arena is full. `id` must be new; 0: none. */
uint32_t engine_pool_take(struct engine_pool *pool, struct arena *arena, uint32_t id);
void engine_pool_give(struct engine_pool *pool, uint32_t slot);
/* Moves the array into another arena; what the slots refer to is the caller's to move. False: the
 * arena is full. */
bool engine_pool_move(struct engine_pool *pool, struct arena *arena);

static inline void *engine_pool_at(const struct engine_pool *pool, uint32_t slot)
{
    return slot == ENGINE_SLOT_NONE ? NULL : pool->slots + (size_t)slot * pool->slot_bytes;
}

/* Private to pool.c: a search that goes on behind the id's own bucket. */
uint32_t engine_pool_search(const struct engine_pool *pool, uint32_t id);

/* Knuth 6.4: a multiplication by the golden ratio puts ids that follow each other far apart. */
static inline uint32_t engine_pool_home(const struct engine_pool *pool, uint32_t id)
{
    uint32_t spread = id * UINT32_C(0x9e3779b1);
    return (uint32_t)((uint64_t)spread * (2 * pool->capacity) >> 32);
}

/* ENGINE_SLOT_NONE when absent. Almost always the id's own bucket has it. */
static inline uint32_t engine_pool_find(const struct engine_pool *pool, uint32_t id)
{
    if (pool->capacity == 0 || id == 0) {
        return ENGINE_SLOT_NONE;
    }
    uint32_t found = pool->buckets[engine_pool_home(pool, id)];
    if (found != 0 && ((const struct engine_slot *)engine_pool_at(pool, found - 1))->id == id) {
        return found - 1;
    }
    return found == 0 ? ENGINE_SLOT_NONE : engine_pool_search(pool, id);
}

void engine_chain_append(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                         uint32_t slot);
void engine_chain_prepend(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                          uint32_t slot);
void engine_chain_remove(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                         uint32_t slot);

static inline uint32_t engine_chain_next(const struct engine_pool *pool, unsigned link,
                                         uint32_t slot)
{
    return ((const struct engine_slot *)engine_pool_at(pool, slot))->links[link].next;
}

/* for (ENGINE_EACH(type, name, pool, chain, link)) …: the chain must not change meanwhile. */
#define ENGINE_EACH(type, name, pool, chain, link)                                                 \
    type *name = engine_pool_at((pool), (chain)->first);                                           \
    name != NULL;                                                                                  \
    name = engine_pool_at((pool), name->slot.links[link].next)

#endif
