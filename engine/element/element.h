/*
 * element.h: one row per BPMN element. All that an element does, it does through its row; what two
 * elements share is a named behaviour below. Rows are declared from kinds.def, so an element
 * without a row does not link.
 */
#ifndef ENGINE_ELEMENT_ELEMENT_H
#define ENGINE_ELEMENT_ELEMENT_H

#include "engine/decision.h"

/* Decides one thing about a token in a node: reads, emits events. */
typedef void (*engine_visit_fn)(struct engine_decision *decision, const struct engine_visit *visit);

struct engine_element_ops {
    const char *name;       /* BPMN element name */
    engine_visit_fn arrive; /* a token stands before the node (ARRIVED) */
    engine_visit_fn work;   /* the node's work, from its beginning (ENTERED) */
    engine_visit_fn answer; /* a module replied or a callback came (ANSWERED) */
    engine_visit_fn back;   /* its child scope is spent (RETURNING) */
    engine_visit_fn leave;  /* which flows the token takes (LEAVING) */
    engine_visit_fn cancel; /* what taking the token away undoes outside: effects only */
};

#define ENGINE_KIND(symbol, xml, trace, ops) extern const struct engine_element_ops ops;
#include "engine/element/kinds.def"
#undef ENGINE_KIND

const struct engine_element_ops *engine_element_of(enum engine_kind kind);
/* Of a node's token in that scope: one with a loop marker has the row below, its instances that of
 * the kind; a block has one of its own. */
const struct engine_element_ops *engine_element_in(const struct engine_scope *scope,
                                                   const struct engine_node *node);
extern const struct engine_element_ops engine_element_loop; /* engine/loop.c */
/* Of a block of a block scheme. */
const struct engine_element_ops *engine_element_block(const struct engine_node *node);

/* Can a token with this row be in that state at all? Stored bytes may say otherwise. */
bool engine_element_reaches(const struct engine_element_ops *ops, uint8_t state);

/* ---- named behaviours (engine/element/behaviour.c and the files that their names begin with) ----
 */

/* A slot that this element can never reach: an invariant of ours is broken. */
void engine_never(struct engine_decision *decision, const struct engine_visit *visit);
/* A step begins at once: most elements. */
void engine_arrive_enter(struct engine_decision *decision, const struct engine_visit *visit);
/* The work is done as soon as it begins. */
void engine_work_pass(struct engine_decision *decision, const struct engine_visit *visit);
/* A scope with a token on each start node opens; its outputs are made when it is done. */
void engine_work_sub_process(struct engine_decision *decision, const struct engine_visit *visit);
void engine_back_sub_process(struct engine_decision *decision, const struct engine_visit *visit);
/* Out by every flow that may fire: BPMN's rule for activities and events (traps.md 3, 4). */
void engine_leave_activity(struct engine_decision *decision, const struct engine_visit *visit);
/* Nothing outside knows of the token. */
void engine_cancel_nothing(struct engine_decision *decision, const struct engine_visit *visit);

#endif
