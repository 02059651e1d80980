/*
 * rule.h: tasks that are a decision of a deployed decision model. Evaluated while deciding; the
 * events hold what came of it, so that a replay needs no model.
 */
#ifndef ENGINE_RULE_H
#define ENGINE_RULE_H

#include "engine/decision.h"

/* Does the task's work in a decision model, or fails at it; `local`: the node's variables. False:
 * the decision is not deployed, nothing was decided. */
bool engine_rule_work(struct engine_decision *decision, const struct engine_visit *visit,
                      struct span local);

#endif
