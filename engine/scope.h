/*
 * scope.h: scopes open, are spent, close and are cleared; interrupting what runs in them.
 */
#ifndef ENGINE_SCOPE_H
#define ENGINE_SCOPE_H

#include "engine/decision.h"

/* A scope inside the token, with a token on each of its start nodes; `process` is the called one,
 * or NULL: a sub-process. */
void engine_scope_open(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_process *process, struct span variables);
/* The same, beginning at those nodes. */
void engine_scope_open_at(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct engine_process *process, struct engine_indexes starts,
                          struct span variables);
/* Nothing lives in the scope any more, once the events so far are applied: its host goes on, or the
 * run is over. */
void engine_scope_spend(struct engine_decision *decision, const struct engine_scope *scope);
/* The visit's token is used up; if it was the last one, its scope is spent, or the run is over. */
void engine_scope_consume(struct engine_decision *decision, const struct engine_visit *visit);
/* Everything else in the scope goes too (terminate end event). */
void engine_scope_terminate(struct engine_decision *decision, const struct engine_visit *visit);
/*
 * Takes `host` with all inside it away and puts a new token on the boundary event `node`, in its
 * place. The new token's path goes on from `from`'s; `output` is what it sees as `output`.
 * Its id is returned.
 */
uint32_t engine_scope_interrupt(struct engine_decision *decision, const struct engine_token *host,
                                const struct engine_token *from, uint32_t node, struct span output);
/* A new token in the scope; `from`: whose path and output it goes on with, or NULL. Its id is
 * returned. */
uint32_t engine_scope_add_token(struct engine_decision *decision, const struct engine_scope *scope,
                                uint32_t node, uint32_t flow, const struct engine_token *from,
                                struct span output);
/* Effects that undo what the host and every token inside it has going on outside. */
void engine_scope_cancel_inside(struct engine_decision *decision, const struct engine_token *host);
/* The same for every token of the scope but one; `kept` may be NULL. */
void engine_scope_cancel_others(struct engine_decision *decision, const struct engine_scope *scope,
                                const struct engine_token *kept);
/* Drops the calls in flight of all tokens, which stay: the run has failed. */
void engine_scope_drop_calls(struct engine_decision *decision);

#endif
