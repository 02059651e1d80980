/*
 * world_checks.h: what holds after every call into the core (world.h), for world*.c alone. What
 * does not hold aborts the test.
 */
#ifndef TESTS_CONFORMANCE_WORLD_CHECKS_H
#define TESTS_CONFORMANCE_WORLD_CHECKS_H

#include "tests/conformance/world.h"

#define WORLD_TURN_BYTES (256u << 20)

/* The events so far make the same execution; so do its bytes; tokens are conserved. */
void world_check(struct world *world, const struct engine_output *output);
/* The execution made from its own bytes; NULL: it has not started. */
struct engine_execution *world_twin(struct world *world);
/* The same events and effects, byte for byte. */
void world_expect_same_outcome(const struct engine_output *live, const struct engine_output *twin);
void world_expect_same(const char *what, struct span left, struct span right);
/* Its bytes, in the arena. */
struct span world_encoded(const struct engine_execution *execution, struct arena *arena);

#endif
