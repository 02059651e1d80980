/*
 * task.h: the work of every task: to its module, to a built-in, or to what its kind does when
 * nobody serves it.
 */
#ifndef ENGINE_TASK_H
#define ENGINE_TASK_H

#include "engine/decision.h"

/* What a kind of task does when no module serves its task type; `local`: the node's variables. */
typedef void (*engine_unserved_fn)(struct engine_decision *decision,
                                   const struct engine_visit *visit, struct span local);

/*
 * `in_test`: in test mode, instead of calling a module that has side effects; NULL: the step takes
 * its testOutputs.
 */
void engine_task_work(struct engine_decision *decision, const struct engine_visit *visit,
                      engine_unserved_fn unserved, engine_unserved_fn in_test);

/* engine.md 3: Exception flag, a warning, and the run goes on. */
void engine_unserved_miss(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local);
/* task, manualTask: nothing to do. */
void engine_unserved_pass(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local);

#endif
