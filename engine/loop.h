/*
 * loop.h: activities with a loop marker: multi-instance, parallel or sequential, and standard
 * loops.
 *
 * The token that enters the activity hosts a body, a scope with a token on the same node for each
 * instance. An instance's own variables are its element and `loopCounter`, from 1; around it
 * expressions see numberOfInstances, numberOfActiveInstances and numberOfCompletedInstances (also
 * as Camunda's nrOf…). Boundary events are around the body. The collection is what it was at the
 * beginning. A parallel body makes each instance as the one before it enters, so that any number of
 * them is spread over as many turns. The first pass of a standard loop is the activity's own step.
 */
#ifndef ENGINE_LOOP_H
#define ENGINE_LOOP_H

#include "engine/decision.h"

/* An instance is about to enter: a parallel body makes the next one. */
void engine_loop_arrive(struct engine_decision *decision, const struct engine_visit *visit);
/* An instance's work is done: what becomes of its body. */
void engine_loop_leave(struct engine_decision *decision, const struct engine_visit *visit);

#endif
