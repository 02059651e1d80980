/*
 * throwing.h: what a throw or end event does. Of several results (BPMN 2.0.2 tables 10.88, 10.89:
 * multiple) it does all, those that go on elsewhere first: messages and signals, then escalations,
 * each in document order; then the compensation, for which it waits; last what ends the scope.
 */
#ifndef ENGINE_THROWING_H
#define ENGINE_THROWING_H

#include "engine/decision.h"

/* Sends, escalates and compensates. True: that is done, and the token still there; else it waits
 * for the handlers (engine_compensation_back), was taken away, or failed. */
bool engine_throwing_begin(struct engine_decision *decision, const struct engine_visit *visit);
/* The code of an error or escalation that is thrown now, in the decision's arena. False: its
 * expression failed or gave no text, which was decided on. */
bool engine_throwing_code(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct engine_event_definition *definition, struct span *code);

#endif
