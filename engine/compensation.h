/*
 * compensation.h: compensation of completed activities (traps.md 14).
 *
 * An activity with a compensation handler leaves a record in its scope when it completes. A
 * sub-process that completes leaves those inside it to the scope around it, with the variables that
 * go, unless it has a handler of its own: an activity outside, or an event sub-process, which then
 * decides what of its inside is compensated. A called process leaves nothing (as in Camunda 7). A
 * compensation event takes the records that it is about and runs their handlers in a scope of its
 * own, the newest first, one after the other; it goes on when all are done. So each handler runs
 * once (field report F31).
 */
#ifndef ENGINE_COMPENSATION_H
#define ENGINE_COMPENSATION_H

#include "engine/decision.h"

/* The visit's activity is complete and leaves: is it one that can be compensated? */
void engine_compensation_record(struct engine_decision *decision, const struct engine_visit *visit);
/* The scope inside the visit's token is gone. What can be compensated in it stays so, unless the
 * activity as a whole can be; an event sub-process that compensates it is recorded. */
void engine_compensation_close(struct engine_decision *decision, const struct engine_visit *visit);
/* A compensation event's work, about that activity or ENGINE_NONE: all. Its handlers begin; false:
 * there are none. */
bool engine_compensation_begin(struct engine_decision *decision, const struct engine_visit *visit,
                               uint32_t activity);
/* A handler has ended: the next one. False: there is none, or the scope is no compensation. */
bool engine_compensation_next(struct engine_decision *decision, const struct engine_scope *scope,
                              const struct engine_token *from);
/* All handlers of a compensation event have ended. */
void engine_compensation_back(struct engine_decision *decision, const struct engine_visit *visit);

/* A cancel end event's work: all else in its transaction is taken away and what has completed is
 * compensated; then the transaction is left by its cancel boundary event. */
void engine_cancel_begin(struct engine_decision *decision, const struct engine_visit *visit);
/* All is compensated. */
void engine_cancel_back(struct engine_decision *decision, const struct engine_visit *visit);

#endif
