/*
 * flow.h: which outgoing flows a token takes, and taking them.
 */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "engine/decision.h"

/* Flows to take, in document order; in the decision's arena. */
struct engine_choice {
    uint32_t *flows;
    uint32_t count;
};

/*
 * Each fills *choice and returns true, or decides on the failure (a condition that cannot be
 * evaluated, NoPathTaken) and returns false.
 */
bool engine_flow_choose_all(struct engine_decision *decision, const struct engine_visit *visit,
                            struct engine_choice *choice);
bool engine_flow_choose_first(struct engine_decision *decision, const struct engine_visit *visit,
                              struct engine_choice *choice);
/* Every true flow; the default only when there is none (inclusive gateway, traps.md 5). */
bool engine_flow_choose_inclusive(struct engine_decision *decision,
                                  const struct engine_visit *visit, struct engine_choice *choice);
/* What a complex gateway's reset makes: the flows whose condition is true, else the default, else
 * none (BPMN 2.0.2 §13.4.5). One without a condition is taken once a round: when it started. */
bool engine_flow_choose_again(struct engine_decision *decision, const struct engine_visit *visit,
                              struct engine_choice *choice);
bool engine_flow_choose_activity(struct engine_decision *decision, const struct engine_visit *visit,
                                 struct engine_choice *choice);
/* The faces that a block's result activates; none is a dead end, no failure. */
bool engine_flow_choose_result(struct engine_decision *decision, const struct engine_visit *visit,
                               struct engine_choice *choice);
/* The token goes on by the first flow, new ones by the others; by none, it is used up. */
void engine_flow_take(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_choice *choice);

/* Over a link, from its throw event to its catch event. */
void engine_flow_link(struct engine_decision *decision, const struct engine_visit *visit);

#endif
