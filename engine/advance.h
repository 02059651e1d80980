/*
 * advance.h: from decisions to state: what accepting and advancing share.
 */
#ifndef ENGINE_ADVANCE_H
#define ENGINE_ADVANCE_H

#include "engine/decision.h"

/* Applies the events of the decision. RESULT_LIMIT: an arena is full, the execution must be thrown
 * away. */
MUST_USE enum result engine_commit(struct engine_execution *execution,
                                   struct engine_decision *decision);
/* The clock moves on, never back. */
MUST_USE enum result engine_tick(struct engine_execution *execution, int64_t now_ms,
                                 struct engine_output *output);
/* An audit message with all logs so far. */
MUST_USE enum result engine_tell_audit(struct engine_execution *execution, const char *event,
                                       size_t snapshot_bytes, struct engine_output *output);

#endif
