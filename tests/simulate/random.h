/*
 * random.h: the simulator's randomness: SplitMix64 (Steele, Lea, Flood 2014), the same on every
 * machine. Each part draws from a stream of its own, so that taking a part away (shrinking) leaves
 * what the others draw as it was.
 */
#ifndef TESTS_SIMULATE_RANDOM_H
#define TESTS_SIMULATE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

static inline uint64_t sim_random_next(struct sim_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The stream `name` below `parent`. */
static inline struct sim_random sim_random_of(uint64_t parent, uint64_t name)
{
    struct sim_random random = {parent ^ (name * 0xd6e8feb86659fd93u)};
    random.state = sim_random_next(&random);
    return random;
}

static inline uint32_t sim_below(struct sim_random *random, uint32_t limit)
{
    return (uint32_t)(sim_random_next(random) % limit);
}

static inline uint32_t sim_between(struct sim_random *random, uint32_t least, uint32_t most)
{
    return least + sim_below(random, most - least + 1);
}

static inline bool sim_chance(struct sim_random *random, uint32_t percent)
{
    return sim_below(random, 100) < percent;
}

#endif
