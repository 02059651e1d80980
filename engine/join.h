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
/* Fires the first inclusive join that nothing keeps waiting any more. False: there is none. To be
 * asked whenever a token moved, came or went. */
bool engine_join_fire_inclusive(struct engine_decision *decision);
/* Names of the joins in which tokens wait, for Deadlock: `"join-1", "join-2"`. */
struct span engine_join_names(struct engine_decision *decision);

#endif
