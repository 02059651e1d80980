/*
 * call.h: calls to modules (interfaces.md 3). Only the effect is built here; that a call is out
 * stands in the state.
 */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "engine/decision.h"

/*
 * The node's task type, by its expression where it has one, now: in the decision's arena. False:
 * the expression failed or gave no text; *reason says why.
 */
bool engine_call_type(const struct engine_decision *decision, const struct engine_visit *visit,
                      struct span *type, const char **reason);
/* Who serves the node's task type on the execution's channel; NULL: nobody. */
const struct engine_module *engine_call_module(const struct engine_decision *decision,
                                               const struct engine_visit *visit);
/* The module is called; the token parks. `config`: resolved inputs and headers, a MAP or empty. */
void engine_call_out(struct engine_decision *decision, const struct engine_visit *visit,
                     const struct engine_module *module, enum engine_phase phase,
                     struct span config);
/* The effect again of a call that the state says is out. */
void engine_call_again(struct engine_decision *decision, const struct engine_visit *visit);
/* What taking a token away undoes: its call in flight; a module that asks for it is told. */
void engine_call_cancel(struct engine_decision *decision, const struct engine_visit *visit);
/* Only the call in flight, if there is one; the token keeps it, for an operator's retry. */
void engine_call_drop(struct engine_decision *decision, const struct engine_token *token);
/* Tells the module that works for the token, if it asks for that (phase "cancel"); reason:
 * "cancelled", "suspended", "aborted". */
void engine_call_tell(struct engine_decision *decision, const struct engine_visit *visit,
                      const char *reason);
/* Headers and local variables as one MAP. False: a header failed, which was decided on. */
bool engine_call_config(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span local, struct span *config);
/* The engine's own http module: the URL to call, or empty. */
struct span engine_call_url(const struct engine_module *module, struct span config);

#endif
