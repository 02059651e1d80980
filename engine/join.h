/*
 * join.h: joins count tokens per (scope, flow), never per gateway (traps.md 2).
 */
#ifndef ENGINE_JOIN_H
#define ENGINE_JOIN_H

#include "engine/decision.h"

/* A token stands before an AND join: it joins, and the join fires when every incoming flow holds a
 * token. */
void engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit);
/* Names of the joins in which tokens wait, for Deadlock: `"join-1", "join-2"`. */
struct span engine_join_names(struct engine_decision *decision);

#endif
