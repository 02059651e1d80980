/*
 * foreign.h: executions that have run elsewhere: how far they came, as an import tells it
 * (docs/protocol.md).
 */
#ifndef TESTS_SIMULATE_FOREIGN_H
#define TESTS_SIMULATE_FOREIGN_H

#include "engine/model.h"
#include "tests/simulate/sim.h"

/* {"execution", "active", "passed"} in the run's arena: the process played with tokens for some
 * moves. Empty: it does not begin in a way that is known here. */
struct span sim_foreign_make(struct sim *sim, const struct engine_process *process,
                             struct sim_random random);

#endif
