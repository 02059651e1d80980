/*
 * handler.h: event sub-processes: what starts them, and their beginning.
 *
 * Errors and escalations are looked for when they are thrown (failure.c). For all other triggers a
 * guard, a token of the scope that counts for nothing, stands before the event sub-process for as
 * long as the scope lives; timers and subscriptions hang on it as they do on the host of a boundary
 * event. Where one is due for a guard, its event sub-process begins.
 */
#ifndef ENGINE_HANDLER_H
#define ENGINE_HANDLER_H

#include "engine/decision.h"

/* The start event of an event sub-process; NULL: it has none that could start it. */
const struct engine_node *engine_handler_start(const struct engine_process *process,
                                               uint32_t handler);
/* Event sub-processes of a scope. */
struct engine_indexes engine_handlers_of(const struct engine_scope *scope);
/* Guards for those event sub-processes of a scope about to be that need one. */
void engine_handler_guard(struct engine_decision *decision, const struct engine_process *process,
                          struct engine_indexes handlers, uint32_t scope);
/* A guard's turn: it begins to listen. */
void engine_handler_listen(struct engine_decision *decision, const struct engine_visit *visit);
/*
 * Begins the event sub-process of that start event. Where it interrupts, all else in the scope is
 * taken away. `from`: whose path it goes on with, or NULL.
 */
uint32_t engine_handler_begin(struct engine_decision *decision, const struct engine_scope *scope,
                              const struct engine_node *start, const struct engine_token *from,
                              struct span output);

#endif
