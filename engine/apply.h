/*
 * apply.h: the only writer of an execution's state. Each event's effect is mechanical: every choice
 * was made by whoever decided it and stands in the event.
 */
#ifndef ENGINE_APPLY_H
#define ENGINE_APPLY_H

#include "engine/execution.h"

/*
 * RESULT_CORRUPT: the event cannot happen in this state (only bytes from outside can bring that
 * about). RESULT_NOT_FOUND: the catalog lacks the process version that it opens. RESULT_LIMIT: the
 * execution's arena is full.
 */
MUST_USE enum result engine_apply(struct engine_execution *execution,
                                  const struct engine_event *event);

/* Levels of the engine's own log lines; modules bring theirs as text. */
enum engine_level { ENGINE_LEVEL_INFO, ENGINE_LEVEL_WARN, ENGINE_LEVEL_ERROR, ENGINE_LEVEL_COUNT };

#endif
