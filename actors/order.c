/*
 * order.c: see order.h.
 */
#include "actors/order.h"

#include "proto/base/assert.h"
#include "proto/base/hash.h"

enum { LEFT, RIGHT };

static int compare_ids(struct span left, struct span right)
{
    size_t shorter = left.count < right.count ? left.count : right.count;
    int order = shorter == 0 ? 0 : memcmp(left.bytes, right.bytes, shorter);
    return order != 0 ? order : (left.count > right.count) - (left.count < right.count);
}

bool actor_order_is_before(int64_t at_ms, struct span id, int64_t other_ms, struct span other_id)
{
    return at_ms != other_ms ? at_ms > other_ms : compare_ids(id, other_id) < 0;
}

static int side_of(const struct actor_rank *rank)
{
    return rank->up->child[RIGHT] == rank ? RIGHT : LEFT;
}

/* `to` (or nothing) stands where `from` stood. */
static void replace(struct actor_order *order, struct actor_rank *from, struct actor_rank *to)
{
    if (from->up == NULL) {
        order->root = to;
    } else {
        from->up->child[side_of(from)] = to;
    }
    if (to != NULL) {
        to->up = from->up;
    }
}

/* The rank changes places with its parent; the order stays. */
static void rise(struct actor_order *order, struct actor_rank *rank)
{
    struct actor_rank *parent = rank->up;
    int side = side_of(rank);
    struct actor_rank *between = rank->child[!side];
    replace(order, parent, rank);
    rank->child[!side] = parent;
    parent->up = rank;
    parent->child[side] = between;
    if (between != NULL) {
        between->up = parent;
    }
}

void actor_order_put(struct actor_order *order, struct actor_rank *rank)
{
    struct actor_rank *parent = NULL;
    struct actor_rank **at = &order->root;
    uint64_t number = ++order->made;
    while (*at != NULL) {
        parent = *at;
        bool is_before = actor_order_is_before(rank->at_ms, rank->id, parent->at_ms, parent->id);
        at = &parent->child[is_before ? LEFT : RIGHT];
    }
    rank->up = parent;
    rank->child[LEFT] = rank->child[RIGHT] = NULL;
    rank->weight = base_hash(span_of((const uint8_t *)&number, sizeof number), 0);
    *at = rank;
    while (rank->up != NULL && rank->up->weight < rank->weight) {
        rise(order, rank);
    }
}

void actor_order_take(struct actor_order *order, struct actor_rank *rank)
{
    ASSERT(rank->up != NULL || order->root == rank);
    while (rank->child[LEFT] != NULL && rank->child[RIGHT] != NULL) {
        bool left = rank->child[LEFT]->weight > rank->child[RIGHT]->weight;
        rise(order, rank->child[left ? LEFT : RIGHT]);
    }
    replace(order, rank, rank->child[LEFT] != NULL ? rank->child[LEFT] : rank->child[RIGHT]);
    rank->up = rank->child[LEFT] = rank->child[RIGHT] = NULL;
}

static struct actor_rank *leftmost(struct actor_rank *rank)
{
    while (rank != NULL && rank->child[LEFT] != NULL) {
        rank = rank->child[LEFT];
    }
    return rank;
}

struct actor_rank *actor_order_first(const struct actor_order *order)
{
    return leftmost(order->root);
}

struct actor_rank *actor_order_after(const struct actor_rank *rank)
{
    if (rank->child[RIGHT] != NULL) {
        return leftmost(rank->child[RIGHT]);
    }
    while (rank->up != NULL && side_of(rank) == RIGHT) {
        rank = rank->up;
    }
    return rank->up;
}

struct actor_rank *actor_order_from(const struct actor_order *order, int64_t at_ms, struct span id)
{
    struct actor_rank *found = NULL;
    struct actor_rank *rank = order->root;
    while (rank != NULL) {
        if (actor_order_is_before(rank->at_ms, rank->id, at_ms, id)) {
            rank = rank->child[RIGHT];
        } else {
            found = rank;
            rank = rank->child[LEFT];
        }
    }
    return found;
}
