/*
 * ticks.h: the process that a timer starts, in books of the simulator's own. Each instant that is
 * due begins one execution, and that it has fired stands in the commit that holds the execution: no
 * death takes one without the other, so none fires twice and none is lost.
 *
 * The model's timer repeats a number of times; what passes while the process is dead, or late, is
 * one firing, and the next instant is the first one of the grid behind it.
 */
#ifndef TESTS_SIMULATE_TICKS_H
#define TESTS_SIMULATE_TICKS_H

#include "proto/record.h"
#include "tests/simulate/sim.h"

struct sim_ticks;
struct engine_execution;

void sim_ticks_init(struct sim *sim);

/* ---- what the tap hears (tap.c) ---- */

/* An execution came to be; true: a timer has begun it. */
bool sim_ticks_begun(struct sim *sim, uint32_t number, const struct engine_execution *execution);
/* A commit: its TRIGGER records, then the executions that it holds, then its end. */
void sim_ticks_commit(struct sim *sim, const struct proto_record *record);
void sim_ticks_commit_of(struct sim *sim, uint32_t execution);
void sim_ticks_committed(struct sim *sim);
/* A death has taken the execution as if it had never been. */
void sim_ticks_undo(struct sim *sim, uint32_t execution);

/* All that the timer repeats has been. */
bool sim_ticks_are_quiet(const struct sim *sim);

#endif
