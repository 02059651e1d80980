#include <criterion/criterion.h>

#include "engine/pool.h"

struct thing {
    struct engine_slot slot;
    uint32_t value;
};

static struct arena arena;
static struct engine_pool pool;

static void setup(void)
{
    arena_init(&arena, 4096, 1u << 24);
    engine_pool_init(&pool, sizeof(struct thing));
}

static void teardown(void)
{
    arena_release(&arena);
}

TestSuite(pool, .init = setup, .fini = teardown);

Test(pool, finds_what_lives_and_nothing_else_while_slots_come_and_go)
{
    /* Ids in a window that slides and is full of holes: buckets are lapped, shifted back and
     * reused. */
    enum { IDS = 5000, WINDOW = 60 };
    for (uint32_t id = 1; id <= IDS; id++) {
        uint32_t slot = engine_pool_take(&pool, &arena, id);
        cr_assert_neq(slot, ENGINE_SLOT_NONE);
        ((struct thing *)engine_pool_at(&pool, slot))->value = id * 7;
        if (id > WINDOW && (id - WINDOW) % 3 != 0) {
            engine_pool_give(&pool, engine_pool_find(&pool, id - WINDOW));
        }
        if (id > 10 * WINDOW && id % 3 == 0) {
            engine_pool_give(&pool, engine_pool_find(&pool, id - 9 * WINDOW));
        }
    }
    uint32_t found = 0;
    for (uint32_t id = 1; id <= IDS + 10; id++) {
        uint32_t slot = engine_pool_find(&pool, id);
        if (slot != ENGINE_SLOT_NONE) {
            const struct thing *thing = engine_pool_at(&pool, slot);
            cr_assert_eq(thing->slot.id, id);
            cr_assert_eq(thing->value, id * 7);
            found++;
        }
    }
    cr_expect_gt(found, WINDOW / 2);
    cr_expect_lt(pool.capacity, 1024, "given slots are taken again");
}

Test(pool, keeps_slots_ids_and_chains_when_moved_to_another_arena)
{
    struct engine_chain chain = ENGINE_CHAIN_EMPTY;
    struct arena other;
    arena_init(&other, 4096, 1u << 24);
    for (uint32_t id = 1; id <= 20; id++) {
        engine_chain_append(&pool, &chain, ENGINE_LINK_SECOND, engine_pool_take(&pool, &arena, id));
    }
    engine_chain_remove(&pool, &chain, ENGINE_LINK_SECOND, engine_pool_find(&pool, 7));
    engine_pool_give(&pool, engine_pool_find(&pool, 7));

    cr_assert(engine_pool_move(&pool, &other));
    arena_clear(&arena);

    uint32_t expected = 1, count = 0;
    for (ENGINE_EACH(const struct thing, thing, &pool, &chain, ENGINE_LINK_SECOND)) {
        expected += expected == 7;
        cr_expect_eq(thing->slot.id, expected++);
        count++;
    }
    cr_expect_eq(count, 19);
    cr_expect_eq(engine_pool_find(&pool, 7), ENGINE_SLOT_NONE);
    arena_release(&other);
}

Test(pool, chains_take_at_both_ends_and_give_anywhere)
{
    struct engine_chain chain = ENGINE_CHAIN_EMPTY;
    uint32_t slots[4];
    for (uint32_t i = 0; i < 4; i++) {
        slots[i] = engine_pool_take(&pool, &arena, i + 1);
    }
    engine_chain_append(&pool, &chain, 0, slots[1]);
    engine_chain_prepend(&pool, &chain, 0, slots[0]);
    engine_chain_append(&pool, &chain, 0, slots[2]);
    engine_chain_append(&pool, &chain, 0, slots[3]);

    engine_chain_remove(&pool, &chain, 0, slots[2]);
    engine_chain_remove(&pool, &chain, 0, slots[0]);
    engine_chain_remove(&pool, &chain, 0, slots[3]);

    cr_expect_eq(chain.first, slots[1]);
    cr_expect_eq(chain.last, slots[1]);
    cr_expect_eq(chain.count, 1);
    engine_chain_remove(&pool, &chain, 0, slots[1]);
    cr_expect_eq(chain.first, ENGINE_SLOT_NONE);
}

Test(pool, says_so_when_the_arena_is_full)
{
    struct arena small;
    uint32_t taken = 0;
    arena_init(&small, 256, 4096);

    while (taken < 1000 && engine_pool_take(&pool, &small, taken + 1) != ENGINE_SLOT_NONE) {
        taken++;
    }

    cr_expect_gt(taken, 3);
    cr_expect_lt(taken, 1000);
    cr_expect_neq(engine_pool_find(&pool, taken), ENGINE_SLOT_NONE, "what was there stays");
    cr_expect(small.overflowed);
    arena_release(&small);
}
