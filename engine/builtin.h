/*
 * builtin.h: the modules that the engine runs itself: log, set, echo, wait, fail (interfaces.md 3).
 * http is a real call.
 */
#ifndef ENGINE_BUILTIN_H
#define ENGINE_BUILTIN_H

#include "engine/decision.h"

bool engine_builtin_is_internal(enum engine_builtin builtin);
/* Its reply, as a module would give it. `config`: MAP or empty. */
struct span engine_builtin_run(struct engine_decision *decision, enum engine_builtin builtin,
                               struct span config);

#endif
