/*
 * complex.h: when a complex gateway fires (BPMN 2.0.2 §13.4.5). It waits for its start: the
 * activation condition becomes true, and one token is taken from each flow that holds one. Then it
 * waits for its reset: nothing more is expected on the flows that it took none from, by the rule of
 * inclusive joins; what has come on them is taken, and it waits for its start again.
 *
 * Without an activation condition it is an inclusive join.
 */
#ifndef ENGINE_COMPLEX_H
#define ENGINE_COMPLEX_H

#include "engine/decision.h"

/* Fires the gateway, in which tokens wait or whose reset is due. False: it goes on waiting. */
bool engine_complex_fire(struct engine_decision *decision, const struct engine_scope *scope,
                         const struct engine_node *join);
/* The last token of the scope goes: nothing can come any more, so a gateway of it that waits for
 * its reset resets. False: there is none. */
bool engine_complex_reset_last(struct engine_decision *decision, const struct engine_scope *scope);
/* Was the token made by a reset? */
bool engine_complex_resets(const struct engine_token *token);

#endif
