/*
 * explore.h: how a model may end, found out by running the core alone: no actors, no faults.
 *
 * A confluent model has one end: its twin lives it, answering everything at once. For any other
 * one, every order in which answers, callbacks, messages, signals and timers may come is tried, up
 * to a bound. Time is taken as free: a timer that is armed may fire before or after anything else,
 * and what an execution publishes itself may reach it at any time.
 */
#ifndef TESTS_SIMULATE_EXPLORE_H
#define TESTS_SIMULATE_EXPLORE_H

#include "tests/simulate/model.h"

struct engine_execution;

#define SIM_ENDS_MAX 64u

struct sim_ends {
    struct span ends[SIM_ENDS_MAX]; /* in the run's arena */
    uint32_t count;
    uint32_t states;
    bool cut; /* there are more than the bound */
};

/*
 * What must agree at the end, as one value: how it ended and by which error, which nodes were
 * entered how often, and all variables. What order or time decides is not in it.
 */
struct span sim_end_of(const struct engine_execution *execution, struct arena *arena);

/*
 * The one end of a confluent model that began as `original` did. Empty, and the run has failed: it
 * does not end. work[n]: how often the module of task n works on the way; zeroed by the caller.
 */
struct span sim_twin(struct sim *sim, const struct sim_catalog *catalog,
                     const struct engine_execution *original, uint32_t *work);
void sim_explore(struct sim *sim, const struct sim_catalog *catalog, struct sim_ends *ends);

#endif
