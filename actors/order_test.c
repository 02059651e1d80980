/*
 * order_test.c: the order holds against a sorted list, through a thousand comings and goings.
 */
#include "actors/order.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 400 };

struct thing {
    struct actor_rank rank;
    char id[8];
    bool in;
};

static struct thing things[COUNT];

static int compare(const void *left, const void *right)
{
    const struct actor_rank *a = &(*(struct thing *const *)left)->rank;
    const struct actor_rank *b = &(*(struct thing *const *)right)->rank;
    return actor_order_is_before(a->at_ms, a->id, b->at_ms, b->id) ? -1 : 1;
}

static void make(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(things[i].id, sizeof things[i].id, "%u", i * 7919 % COUNT);
        things[i].rank.at_ms = i * 104729 % 50; /* many of the same time */
        things[i].rank.id = span_text(things[i].id);
    }
}

/* What is in, sorted. */
static size_t sorted(struct thing *out[COUNT])
{
    size_t count = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        if (things[i].in) {
            out[count++] = &things[i];
        }
    }
    qsort(out, count, sizeof out[0], compare);
    return count;
}

static void check(const struct actor_order *order)
{
    struct thing *expected[COUNT];
    size_t count = sorted(expected);
    struct actor_rank *rank = actor_order_first(order);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq((void *)rank, (void *)&expected[i]->rank, "at %zu of %zu", i, count);
        rank = actor_order_after(rank);
    }
    cr_assert_null(rank);
}

/* The place of a thing finds it, or what comes behind it. */
static void check_places(const struct actor_order *order)
{
    struct thing *expected[COUNT];
    size_t count = sorted(expected);
    for (unsigned i = 0; i < COUNT; i++) {
        struct actor_rank *behind = NULL;
        for (size_t j = count; j-- > 0;) {
            const struct actor_rank *rank = &expected[j]->rank;
            if (!actor_order_is_before(rank->at_ms, rank->id, things[i].rank.at_ms,
                                       things[i].rank.id)) {
                behind = &expected[j]->rank;
            }
        }
        cr_assert_eq((void *)actor_order_from(order, things[i].rank.at_ms, things[i].rank.id),
                     (void *)behind);
    }
}

Test(order, is_newest_first_then_by_id_whatever_comes_and_goes)
{
    struct actor_order order = {0};
    uint32_t dice = 1;
    make();
    cr_assert_null(actor_order_first(&order));
    for (unsigned round = 0; round < 2000; round++) {
        dice = dice * 1664525u + 1013904223u;
        struct thing *thing = &things[(dice >> 8) % COUNT];
        if (thing->in) {
            actor_order_take(&order, &thing->rank);
        } else {
            actor_order_put(&order, &thing->rank);
        }
        thing->in = !thing->in;
        if (round % 97 == 0) {
            check(&order);
        }
    }
    check(&order);
    check_places(&order);
    for (unsigned i = 0; i < COUNT; i++) {
        if (things[i].in) {
            actor_order_take(&order, &things[i].rank);
            things[i].in = false;
        }
    }
    cr_assert_null(actor_order_first(&order));
}

Test(order, is_not_deep_when_things_come_in_order)
{
    enum { MANY = 20000 };
    struct actor_order order = {0};
    struct actor_rank *ranks = calloc(MANY, sizeof *ranks);
    unsigned deepest = 0;
    for (unsigned i = 0; i < MANY; i++) {
        ranks[i].at_ms = i;
        actor_order_put(&order, &ranks[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        unsigned depth = 0;
        for (const struct actor_rank *at = &ranks[i]; at != NULL; at = at->up) {
            depth++;
        }
        deepest = depth > deepest ? depth : deepest;
    }
    cr_expect_lt(deepest, 64, "%u", deepest);
    free(ranks);
}
