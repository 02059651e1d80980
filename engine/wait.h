/*
 * wait.h: waiting for something outside, and the callback that ends it (engine.md 9).
 */
#ifndef ENGINE_WAIT_H
#define ENGINE_WAIT_H

#include "engine/decision.h"

/* The token waits. `detail`: MAP for whoever lists it, or empty; due_ms: time-out or ENGINE_NO_DUE.
 */
void engine_wait_open(struct engine_decision *decision, const struct engine_visit *visit,
                      enum engine_wait wait, struct span detail, int64_t due_ms);
/* A human task; its assignment is evaluated now. `local`: the node's variables. */
void engine_wait_human(struct engine_decision *decision, const struct engine_visit *visit,
                       struct span local);
/* "callback" … "event". */
const char *engine_wait_name(uint8_t wait);
/* ENGINE_WAIT_NONE for an unknown name. */
uint8_t engine_wait_parse(struct span name);
/* Is it in that task? `task_id`: a node's id, or a step's. */
bool engine_wait_is_named(const struct engine_execution *execution,
                          const struct engine_token *token, struct span task_id);
/* The next token behind `after` (NULL: the first) that a callback to this task would reach; empty:
 * to any task. */
const struct engine_token *engine_wait_next(const struct engine_execution *execution,
                                            struct span task_id, const struct engine_token *after);
/* Hands the first kept callback whose wait has opened to its token. False: there is none. */
bool engine_wait_take_kept(struct engine_decision *decision);
/* [payload, output, error] as one value; empty ones become nil. */
struct span engine_wait_content(struct engine_decision *decision, struct span payload,
                                struct span output, struct span error);

#endif
