/*
 * state.h: what the world sees of an execution's state, derived (engine.md 2): flags, status,
 * lifecycle; and which operator verb is legal when.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "engine/execution.h"

uint8_t engine_state_of(const struct engine_execution *execution);
enum engine_lifecycle engine_lifecycle_of(const struct engine_execution *execution);
/* No token can move and no call is in flight, but the run is not over. */
bool engine_state_is_waiting(const struct engine_execution *execution);
/* Code and message of what went wrong; empty when nothing did. */
struct span engine_state_error(const struct engine_execution *execution);

/* Is the verb (SUSPEND … RETRY) legal now? */
bool engine_state_allows(const struct engine_execution *execution, enum engine_input_kind verb);
const char *engine_verb_name(enum engine_input_kind verb);

#endif
