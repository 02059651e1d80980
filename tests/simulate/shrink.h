/*
 * shrink.h: runs that may abort, each in a process of its own; and a failing one made small.
 */
#ifndef TESTS_SIMULATE_SHRINK_H
#define TESTS_SIMULATE_SHRINK_H

#include <sys/types.h>

#include "tests/simulate/sim.h"

/*
 * Runs seeds *next, *next + 1, … in a child, at most `count`, and calls `each` with the report of
 * each, in this process. A child that aborts, or takes too long over one seed, is a report that
 * says so, and the next child goes on behind it. `each` returns false to stop.
 */
typedef bool (*sim_each_fn)(void *owner, const struct sim_options *options,
                            const struct sim_report *report);
void sim_run_apart(const struct sim_options *options, uint64_t count, sim_each_fn each,
                   void *owner);

/* fork; the child does not outlive its parent. */
pid_t sim_fork(void);

/*
 * Fewer blocks and kinds of fault that still fail, on another schedule if need be. False: it does
 * not even fail again as it was, which is worse than any failure.
 */
bool sim_shrink(struct sim_options *options, struct sim_report *report);
/* "--seed 7 --salt 3 --without crash --prune 1a2b3c" for a person to repeat it. */
void sim_print_options(const struct sim_options *options);

#endif
