/*
 * block.h: the states of a block scheme's blocks (engine.md 5), as seed 004 names them. Kept is
 * what a block last came to; what goes on in it now is seen from its tokens.
 */
#ifndef ENGINE_BLOCK_H
#define ENGINE_BLOCK_H

#include "engine/execution.h"

enum engine_block_state {
    ENGINE_BLOCK_IDLE, /* was never activated */
    ENGINE_BLOCK_PENDING,
    ENGINE_BLOCK_COMPLETED,
    ENGINE_BLOCK_SUSPENDED,
    ENGINE_BLOCK_ABORTED,
    ENGINE_BLOCK_STATE_COUNT
};

const char *engine_block_state_name(enum engine_block_state state);
/* IDLE for an unknown name. */
enum engine_block_state engine_block_state_parse(struct span name);

/* Has the token entered its block, and not completed it? */
bool engine_block_is_active(const struct engine_token *token);

#endif
