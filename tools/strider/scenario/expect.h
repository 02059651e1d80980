/*
 * expect.h: holds an execution against an `expect` of a scenario.
 */
#ifndef TOOLS_STRIDER_SCENARIO_EXPECT_H
#define TOOLS_STRIDER_SCENARIO_EXPECT_H

#include "tools/strider/scenario/scenario.h"

/*
 * `where` begins each failure ("step 2", "at the end"). `refusal` is the error of the last input,
 * which `error` may name as well as the execution's own.
 */
void scenario_expect(struct span expect, const struct engine_execution *execution,
                     enum proto_error refusal, const char *where, struct arena *arena,
                     struct scenario_outcome *outcome);

/* Is `part` contained in `whole`: maps by their keys, numbers by value, everything else equal? For
 * tests. */
bool scenario_contains(struct span whole, struct span part);

#endif
