/*
 * modules.h: the servers that the process calls, and the network to them. They keep their side of
 * the contract (interfaces.md 3): the same Idempotency-Key is the same work, done once and answered
 * alike. What they say depends on the node alone, so it can be foretold.
 */
#ifndef TESTS_SIMULATE_MODULES_H
#define TESTS_SIMULATE_MODULES_H

#include "proto/message.h"
#include "tests/simulate/sim.h"

void sim_modules_init(struct sim *sim);
/* PROTO_CALL and PROTO_CALL_CANCEL. */
struct proto_sink *sim_modules_sink(struct sim *sim);
/* How often work of this node was done in the run that the execution is in, repeats under the same
 * key left out. */
struct engine_execution;
uint32_t sim_modules_done(const struct sim *sim, const struct engine_execution *execution,
                          struct span node_id);

#endif
