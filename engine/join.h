/*
 * join.h: joins count tokens per (scope, flow), never per gateway (traps.md 2).
 */
#ifndef ENGINE_JOIN_H
#define ENGINE_JOIN_H

#include "engine/decision.h"

/* A token stands before an AND join: it joins, and the join fires when every incoming flow holds a
 * token. */
void engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit);
/* A token stands before an inclusive join: it joins; when the join fires is not for it to say. */
void engine_join_arrive_inclusive(struct engine_decision *decision,
                                  const struct engine_visit *visit);
/* A token stands before a block: it enters, or joins as at an AND join, where only faces that lead
 * forward count (model.h, engine_join_rule). */
void engine_join_arrive_block(struct engine_decision *decision, const struct engine_visit *visit);
/* A token stands before an activity: it enters, or waits for others until there are as many as its
 * start quantity (BPMN 2.0.2 §10.3, table 10.3). */
void engine_join_arrive_activity(struct engine_decision *decision,
                                 const struct engine_visit *visit);
/* Does the activity wait for several tokens, by whatever flow they come? */
bool engine_join_gathers(const struct engine_node *node);
/* Does the node bring several tokens together? */
bool engine_join_is(const struct engine_process *process, const struct engine_node *node);
/* Can a token wait on that flow, for others of its join? */
bool engine_join_holds(const struct engine_process *process, uint32_t flow);
/* Fires the first join whose flows all hold a token: after a migration one may have fewer flows
 * than before. Inclusive joins are looked at below. False: there is none. */
bool engine_join_fire_complete(struct engine_decision *decision);
/* May a token still come that an inclusive join has to wait for? */
bool engine_join_expects(const struct engine_execution *execution, const struct engine_scope *scope,
                         const struct engine_node *join);
/* Fires the first inclusive or complex join that waits no more. False: there is none. To be asked
 * whenever a token moved, came or went. */
bool engine_join_look(struct engine_decision *decision);
/* Names of the joins in which tokens wait, for Deadlock: `"join-1", "join-2"`. */
struct span engine_join_names(struct engine_decision *decision);

#endif
