/*
 * histogram.h: latencies in microseconds, log-linear (64 steps a doubling: an error below 1.6 %).
 * One owner.
 */
#ifndef PERF_HISTOGRAM_H
#define PERF_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS     64u
#define HISTOGRAM_DOUBLINGS 40u

struct histogram {
    uint64_t counts[HISTOGRAM_STEPS * HISTOGRAM_DOUBLINGS];
    uint64_t total;
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The value that `share` (0..1) of all are not above; 0 when empty. */
uint64_t histogram_at(const struct histogram *histogram, double share);

#endif
