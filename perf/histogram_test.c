#include <criterion/criterion.h>

#include "perf/histogram.h"

Test(histogram, gives_percentiles_within_two_percent)
{
    static struct histogram histogram;
    histogram_clear(&histogram);

    for (uint64_t i = 1; i <= 100000; i++) {
        histogram_add(&histogram, i);
    }

    const double shares[] = {0.01, 0.5, 0.99, 0.999};
    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double expected = shares[i] * 100000;
        double got = (double)histogram_at(&histogram, shares[i]);
        cr_assert(got > expected * 0.98 && got < expected * 1.02, "share %f: %f", shares[i], got);
    }
}

Test(histogram, is_zero_when_empty_and_keeps_the_largest_value_in_range)
{
    static struct histogram histogram;
    histogram_clear(&histogram);
    cr_assert_eq(histogram_at(&histogram, 0.5), 0);

    histogram_add(&histogram, UINT64_MAX);

    cr_assert_gt(histogram_at(&histogram, 0.5), 1u << 30);
}
