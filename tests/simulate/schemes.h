/*
 * schemes.h: a random block scheme (engine.md 5) in place of a BPMN model. Its result-faces are
 * selected by what modules always answer, and each of its joins has the faces of one fork, so it is
 * confluent.
 */
#ifndef TESTS_SIMULATE_SCHEMES_H
#define TESTS_SIMULATE_SCHEMES_H

#include "tests/simulate/blocks.h"

/* The file, process "p0"; what the outside has to know goes into the builder's model. */
struct span sim_scheme_make(struct block_builder *builder, struct sim_random random);

#endif
