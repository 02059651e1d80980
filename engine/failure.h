/*
 * failure.h: what goes wrong in the modelled process: BPMN errors, which look for a handler, and
 * incidents, which end the run and keep its tokens (engine.md 2, 8); escalations, which are no
 * failure but find their way like errors.
 */
#ifndef ENGINE_FAILURE_H
#define ENGINE_FAILURE_H

#include "engine/decision.h"

/* The run fails at this token; `resume` is the state that an operator's retry puts it into. */
void engine_fail(struct engine_decision *decision, const struct engine_visit *visit,
                 enum engine_token_state resume, struct span code, struct span message);
/* The run fails, no token in particular. */
void engine_fail_execution(struct engine_decision *decision, struct span code, struct span message);
/*
 * A BPMN error is thrown where the token is: to the nearest boundary event or event sub-process
 * that catches the code, from inside out, through sub-processes and call activities; at one level a
 * specific code beats a catch-all. Uncaught: engine_fail.
 */
void engine_throw(struct engine_decision *decision, const struct engine_visit *visit,
                  enum engine_token_state resume, struct span code, struct span message);

/* An escalation, the same way (traps.md 9); uncaught it means nothing. False: what caught it took
 * its token away. */
bool engine_escalate(struct engine_decision *decision, const struct engine_visit *visit,
                     struct span code);

/* An expression of the node failed: `what` says which, "condition of flow \"x\"". */
void engine_fail_expression(struct engine_decision *decision, const struct engine_visit *visit,
                            enum engine_token_state resume, struct span what, const char *reason);
/*
 * An element or event that is read but not executed yet. Deploy refuses it by name; a definition
 * that was read leniently and started all the same becomes an incident, not an abort.
 */
void engine_fail_unsupported(struct engine_decision *decision, const struct engine_visit *visit);

#endif
