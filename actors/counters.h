/*
 * counters.h: numbers that one actor counts and any thread may read for metrics. Relaxed atomics:
 * each number stands for itself, no reader concludes anything about other memory from it, so no
 * happens-before is needed; a message a sample would cost more than it tells.
 */
#ifndef ACTORS_COUNTERS_H
#define ACTORS_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t
    actor_counter; /* an atomic qualifier cannot be put on a struct member by macro more readably */

/* Only the owner writes: a load and a store are cheaper than a locked add. */
static inline void actor_count(actor_counter *counter, int64_t by)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + (uint64_t)by, memory_order_relaxed);
}

static inline void actor_count_set(actor_counter *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

/* Several threads write. */
static inline void actor_count_shared(actor_counter *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline uint64_t actor_count_read(const actor_counter *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
