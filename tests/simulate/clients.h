/*
 * clients.h: whoever starts executions and answers what they wait for. A client repeats a request,
 * with the same requestId, until it hears what became of it; what it was told once must stay true.
 */
#ifndef TESTS_SIMULATE_CLIENTS_H
#define TESTS_SIMULATE_CLIENTS_H

#include "proto/message.h"
#include "tests/simulate/sim.h"

#define SIM_EXECUTIONS_MAX 24u

void sim_clients_init(struct sim *sim);
/* The process is deployed: off they go. */
void sim_clients_start(struct sim *sim);
/* Something has changed in that execution: its client will look, soon. */
void sim_clients_notice(struct sim *sim, uint32_t execution);
/* Everybody has seen the end of what they started. */
bool sim_clients_are_done(struct sim *sim);
uint32_t sim_clients_count(const struct sim *sim);
/* How far it had come elsewhere, when it was imported; else empty. */
struct span sim_clients_foreign(const struct sim *sim, struct span execution_id);
struct span sim_clients_id(const struct sim *sim, uint32_t execution);
/* An execution that a message has begun: it is numbered behind the others. */
void sim_clients_adopt(struct sim *sim, struct execution_id id);
bool sim_clients_are_adopted(const struct sim *sim, uint32_t execution);
/* Has an operator seen to what was broken for this execution? */
bool sim_clients_have_repaired(const struct sim *sim, struct span execution_id);
/* Each callback was decided once: were as many taken as were acknowledged? */
void sim_clients_judge(struct sim *sim);
/* A person's account of who still waits for what, for the failure. */
struct span sim_clients_story(struct sim *sim);

#endif
