/*
 * histogram.c: see histogram.h.
 */
#include "perf/histogram.h"

#include <string.h>

static uint32_t bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_STEPS) {
        return (uint32_t)value;
    }
    uint32_t doubling = 63u - (uint32_t)__builtin_clzll(value) - 6u;
    uint32_t bucket =
        (doubling + 1) * HISTOGRAM_STEPS + (uint32_t)((value >> doubling) - HISTOGRAM_STEPS);
    uint32_t last = HISTOGRAM_STEPS * HISTOGRAM_DOUBLINGS - 1;
    return bucket < last ? bucket : last;
}

static uint64_t value_of(uint32_t bucket)
{
    uint32_t row = bucket / HISTOGRAM_STEPS;
    uint64_t step = bucket % HISTOGRAM_STEPS;
    return row == 0 ? step : (HISTOGRAM_STEPS + step) << (row - 1);
}

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->counts[bucket_of(value)]++;
    histogram->total++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (uint32_t i = 0; i < HISTOGRAM_STEPS * HISTOGRAM_DOUBLINGS; i++) {
        into->counts[i] += from->counts[i];
    }
    into->total += from->total;
}

uint64_t histogram_at(const struct histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)((double)histogram->total * share);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_STEPS * HISTOGRAM_DOUBLINGS; i++) {
        seen += histogram->counts[i];
        if (seen > wanted) {
            return value_of(i);
        }
    }
    return 0;
}
