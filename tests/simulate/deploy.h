/*
 * deploy.h: the operator's files: the model and its modules before life begins, and another version
 * of it later on.
 */
#ifndef TESTS_SIMULATE_DEPLOY_H
#define TESTS_SIMULATE_DEPLOY_H

#include "tests/simulate/sim.h"

void sim_deploy_init(struct sim *sim);
/* Project, modules and version 1: until they are there. */
void sim_deploy_first(struct sim *sim);
/* True: version 2 is deployed. False: there is none, or it is asked for, again when a process has
 * died over it. */
bool sim_deploy_next(struct sim *sim);

#endif
