/*
 * pool.c: see pool.h. Ids grow one by one. As buckets side by side they would be one run, which
 * every removal has to walk to its end; so they are spread.
 */
#include "engine/pool.h"

#include "proto/base/assert.h"

enum { POOL_CAPACITY_LEAST = 4 };

static struct engine_slot *slot_at(const struct engine_pool *pool, uint32_t slot)
{
    ASSERT(slot < pool->used);
    return (struct engine_slot *)(void *)(pool->slots + (size_t)slot * pool->slot_bytes);
}

void engine_pool_init(struct engine_pool *pool, uint32_t slot_bytes)
{
    ASSERT(slot_bytes >= sizeof(struct engine_slot));
    *pool = (struct engine_pool){.slot_bytes = slot_bytes, .free = ENGINE_SLOT_NONE};
}

static uint32_t bucket_mask(const struct engine_pool *pool)
{
    return 2 * pool->capacity - 1;
}

static void bucket_insert(struct engine_pool *pool, uint32_t slot)
{
    uint32_t mask = bucket_mask(pool);
    uint32_t bucket = engine_pool_home(pool, slot_at(pool, slot)->id);
    while (pool->buckets[bucket] != 0) {
        bucket = (bucket + 1) & mask;
    }
    pool->buckets[bucket] = slot + 1;
}

/* The bucket that holds the id, or the empty one where the search ends. */
static uint32_t bucket_of(const struct engine_pool *pool, uint32_t id)
{
    uint32_t mask = bucket_mask(pool);
    uint32_t bucket = engine_pool_home(pool, id);
    while (pool->buckets[bucket] != 0 && slot_at(pool, pool->buckets[bucket] - 1)->id != id) {
        bucket = (bucket + 1) & mask;
    }
    return bucket;
}

/* Backward shift (Knuth 6.4 R): no tombstones, so searches stay short however many slots came and
 * went. */
static void bucket_remove(struct engine_pool *pool, uint32_t id)
{
    uint32_t mask = bucket_mask(pool);
    uint32_t hole = bucket_of(pool, id);
    ASSERT(pool->buckets[hole] != 0);
    for (uint32_t next = (hole + 1) & mask; pool->buckets[next] != 0; next = (next + 1) & mask) {
        uint32_t home = engine_pool_home(pool, slot_at(pool, pool->buckets[next] - 1)->id);
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            pool->buckets[hole] = pool->buckets[next];
            hole = next;
        }
    }
    pool->buckets[hole] = 0;
}

/* New arrays of that capacity in the arena, with what the old ones hold. */
static bool pool_place(struct engine_pool *pool, struct arena *arena, uint32_t capacity)
{
    uint8_t *slots = arena_alloc(arena, (size_t)capacity * pool->slot_bytes);
    uint32_t *buckets = arena_zero(arena, 2 * (size_t)capacity * sizeof(uint32_t));
    if (slots == NULL || buckets == NULL) {
        return false;
    }
    if (pool->used > 0) {
        memcpy(slots, pool->slots, (size_t)pool->used * pool->slot_bytes);
    }
    pool->slots = slots;
    pool->buckets = buckets;
    pool->capacity = capacity;
    for (uint32_t i = 0; i < pool->used; i++) {
        if (slot_at(pool, i)->id != 0) {
            bucket_insert(pool, i);
        }
    }
    return true;
}

uint32_t engine_pool_take(struct engine_pool *pool, struct arena *arena, uint32_t id)
{
    uint32_t slot = pool->free;
    if (slot != ENGINE_SLOT_NONE) {
        pool->free = slot_at(pool, slot)->links[0].next;
    } else {
        uint32_t capacity = pool->capacity == 0 ? POOL_CAPACITY_LEAST : 2 * pool->capacity;
        if (pool->used == pool->capacity && !pool_place(pool, arena, capacity)) {
            return ENGINE_SLOT_NONE;
        }
        slot = pool->used++;
    }
    struct engine_slot *taken = slot_at(pool, slot);
    memset(taken, 0, pool->slot_bytes);
    taken->id = id;
    for (unsigned i = 0; i < ENGINE_LINK_COUNT; i++) {
        taken->links[i] = (struct engine_link){ENGINE_SLOT_NONE, ENGINE_SLOT_NONE};
    }
    if (id != 0) {
        bucket_insert(pool, slot);
    }
    return slot;
}

void engine_pool_give(struct engine_pool *pool, uint32_t slot)
{
    struct engine_slot *given = slot_at(pool, slot);
    if (given->id != 0) {
        bucket_remove(pool, given->id);
    }
    given->id = 0;
    given->links[0].next = pool->free;
    pool->free = slot;
}

uint32_t engine_pool_search(const struct engine_pool *pool, uint32_t id)
{
    uint32_t found = pool->buckets[bucket_of(pool, id)];
    return found == 0 ? ENGINE_SLOT_NONE : found - 1;
}

bool engine_pool_move(struct engine_pool *pool, struct arena *arena)
{
    return pool->capacity == 0 || pool_place(pool, arena, pool->capacity);
}

void engine_chain_append(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                         uint32_t slot)
{
    struct engine_slot *added = slot_at(pool, slot);
    added->links[link] = (struct engine_link){chain->last, ENGINE_SLOT_NONE};
    if (chain->last == ENGINE_SLOT_NONE) {
        chain->first = slot;
    } else {
        slot_at(pool, chain->last)->links[link].next = slot;
    }
    chain->last = slot;
    chain->count++;
}

void engine_chain_prepend(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                          uint32_t slot)
{
    struct engine_slot *added = slot_at(pool, slot);
    added->links[link] = (struct engine_link){ENGINE_SLOT_NONE, chain->first};
    if (chain->first == ENGINE_SLOT_NONE) {
        chain->last = slot;
    } else {
        slot_at(pool, chain->first)->links[link].previous = slot;
    }
    chain->first = slot;
    chain->count++;
}

void engine_chain_remove(const struct engine_pool *pool, struct engine_chain *chain, unsigned link,
                         uint32_t slot)
{
    ASSERT(chain->count > 0);
    struct engine_link *gone = &slot_at(pool, slot)->links[link];
    if (gone->previous == ENGINE_SLOT_NONE) {
        chain->first = gone->next;
    } else {
        slot_at(pool, gone->previous)->links[link].next = gone->next;
    }
    if (gone->next == ENGINE_SLOT_NONE) {
        chain->last = gone->previous;
    } else {
        slot_at(pool, gone->next)->links[link].previous = gone->previous;
    }
    chain->count--;
}
