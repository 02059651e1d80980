/*
 * broker.h: the audit bus of a run: the sending side in the process, the connection, and a broker
 * that outlives every process and holds each message against what it has: those of an execution
 * come in the order of their revisions, none is missing, and one that comes again is the same one.
 *
 * The broker goes away and comes back; what it had taken and not confirmed is sent again. What it
 * refuses must come on the aside bus.
 */
#ifndef TESTS_SIMULATE_BROKER_H
#define TESTS_SIMULATE_BROKER_H

#include "audit/bus.h"
#include "tests/simulate/sim.h"

struct sim_broker;

/* All memory is the run's arena's. */
struct sim_broker *sim_broker_new(struct sim *sim);
/* A process connects; its window is drawn. The two sides live until it closes them. */
uint32_t sim_broker_open(struct sim_broker *broker, struct proto_address main,
                         struct proto_address aside);
struct audit_bus *sim_broker_bus(struct sim_broker *broker, bool aside);
/* The process has ended: of what is on its way some arrives. */
void sim_broker_close(struct sim_broker *broker);
void sim_broker_set_away(struct sim_broker *broker, bool away);

/* How many messages of that execution have come, from the first without a gap. */
uint32_t sim_broker_count(const struct sim_broker *broker, struct span execution_id);
/* What was refused has come on the aside bus. */
void sim_broker_judge(struct sim_broker *broker);

#endif
