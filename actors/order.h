/*
 * order.h: things in order of a time, the newest first, then of an id. A place in it can be found
 * again although what stood there is gone, which is what a cursor needs.
 *
 * A treap: weights are a hash of a counter, so the depth is logarithmic whatever order things come
 * in. The ranks are embedded in what is ordered, so nothing is allocated. Thread: the owner's.
 */
#ifndef ACTORS_ORDER_H
#define ACTORS_ORDER_H

#include "proto/base/span.h"

struct actor_rank {
    int64_t at_ms;
    struct span id; /* borrowed; lives as long as the rank is in the order */
    /* private to order.c */
    struct actor_rank *up;
    struct actor_rank *child[2];
    uint64_t weight;
};

/* Zeroed: empty. */
struct actor_order {
    struct actor_rank *root;
    uint64_t made;
};

/* Is the first place before the second: newer, or of the same time with a smaller id? */
bool actor_order_is_before(int64_t at_ms, struct span id, int64_t other_ms, struct span other_id);
/* at_ms and id are set; no other rank of the order has both the same. */
void actor_order_put(struct actor_order *order, struct actor_rank *rank);
void actor_order_take(struct actor_order *order, struct actor_rank *rank);
/* NULL: there is none. */
struct actor_rank *actor_order_first(const struct actor_order *order);
struct actor_rank *actor_order_after(const struct actor_rank *rank);
/* The first that is not before that place. */
struct actor_rank *actor_order_from(const struct actor_order *order, int64_t at_ms, struct span id);

#endif
