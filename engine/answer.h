/*
 * answer.h: what a module's reply, a callback or a time-out means for the step (interfaces.md 3,
 * engine.md 8).
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/decision.h"

/* The `answer` of every task. */
void engine_answer_task(struct engine_decision *decision, const struct engine_visit *visit);
/* A reply that the engine made itself: built-in modules, test mode. `local`: the node's variables.
 */
void engine_answer_made(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_module *module, struct span body, struct span local);

#endif
