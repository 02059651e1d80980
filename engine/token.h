/*
 * token.h: which token state an event leads to. The table is the definition;
 * engine_token_transition is the one writer of a token's state and of the queue that it stands in.
 */
#ifndef ENGINE_TOKEN_H
#define ENGINE_TOKEN_H

#include "engine/execution.h"

/*
 * Moves the token as the table says (`wait`: enum engine_wait, for WAITED; else 0); false: the
 * event must not happen in the token's state (corrupt events). A token that is gone afterwards was
 * taken out of its queue, its scope's chain and the pool.
 */
bool engine_token_transition(struct engine_execution *execution, struct engine_token *token,
                             enum engine_event_type event, uint8_t wait);
/* Is the event legal now? */
bool engine_token_may(const struct engine_token *token, enum engine_event_type event);
/* A new token in state ARRIVED; `front`: it moves before all others. NULL: arena full. */
struct engine_token *engine_token_make(struct engine_execution *execution, uint32_t id,
                                       struct engine_scope *scope, bool front);
/* Puts a decoded token into its state and queue; its scope's chain is the caller's to link. */
void engine_token_restore(struct engine_execution *execution, struct engine_token *token,
                          uint8_t state);
const char *engine_token_state_name(uint8_t state);
/* ENGINE_TOKEN_GONE for an unknown name. */
uint8_t engine_token_state_parse(struct span name);

#endif
