/*
 * block.c: see block.h.
 */
#include "engine/block.h"

#include "engine/encode.h"
#include "engine/pack.h"
#include "proto/base/assert.h"

static const char *const state_names[ENGINE_BLOCK_STATE_COUNT] = {
    [ENGINE_BLOCK_IDLE] = "Idle",           [ENGINE_BLOCK_PENDING] = "Pending",
    [ENGINE_BLOCK_COMPLETED] = "Completed", [ENGINE_BLOCK_SUSPENDED] = "Suspended",
    [ENGINE_BLOCK_ABORTED] = "Aborted",
};

const char *engine_block_state_name(enum engine_block_state state)
{
    ASSERT(state < ENGINE_BLOCK_STATE_COUNT);
    return state_names[state];
}

enum engine_block_state engine_block_state_parse(struct span name)
{
    for (unsigned state = ENGINE_BLOCK_PENDING; state < ENGINE_BLOCK_STATE_COUNT; state++) {
        if (span_is(name, state_names[state])) {
            return (enum engine_block_state)state;
        }
    }
    return ENGINE_BLOCK_IDLE;
}

bool engine_block_is_active(const struct engine_token *token)
{
    switch ((enum engine_token_state)token->state) {
    case ENGINE_TOKEN_ENTERED:
    case ENGINE_TOKEN_ANSWERED:
    case ENGINE_TOKEN_RETURNING:
    case ENGINE_TOKEN_CALLING:
    case ENGINE_TOKEN_WAITING:
    case ENGINE_TOKEN_INSIDE:
    case ENGINE_TOKEN_FAILED:
        return true;
    case ENGINE_TOKEN_GONE:
    case ENGINE_TOKEN_ARRIVED:
    case ENGINE_TOKEN_LEAVING:
    case ENGINE_TOKEN_LISTENING:
    case ENGINE_TOKEN_STATE_COUNT:
        break;
    }
    return false;
}

/* ---- as the world sees them ---- */

/* Seed 004: "Pending" while work is done in it, "Suspended" when the process stops over an error,
 * "Aborted" when the process is stopped; an operator's suspend is the first half of that. */
static enum engine_block_state state_by_token(const struct engine_execution *execution,
                                              const struct engine_token *token)
{
    if (execution->end == ENGINE_END_ABORTED) {
        return ENGINE_BLOCK_ABORTED;
    }
    return token->state == ENGINE_TOKEN_FAILED || execution->suspended ? ENGINE_BLOCK_SUSPENDED
                                                                       : ENGINE_BLOCK_PENDING;
}

/* Of several tokens in one block the failed one says more. */
static void note_tokens(const struct engine_execution *execution, const struct engine_scope *scope,
                        uint8_t *states)
{
    bool failed = false;
    do {
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                         ENGINE_LINK_IN_SCOPE)) {
            if (engine_block_is_active(token) && (token->state == ENGINE_TOKEN_FAILED) == failed) {
                states[token->node] = (uint8_t)state_by_token(execution, token);
            }
        }
        failed = !failed;
    } while (failed);
}

bool engine_blocks(const struct engine_execution *execution, struct wire_writer *writer)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    if (root == NULL || root->blocks == NULL) {
        return false;
    }
    const struct engine_process *process = root->process;
    struct span kept = span_of(root->blocks, process->node_count);
    uint8_t *states = arena_alloc(writer->arena, kept.count);
    if (states == NULL) {
        return false;
    }
    memcpy(states, kept.bytes, kept.count);
    note_tokens(execution, root, states);
    size_t mark = wire_open_map(writer);
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->node_count; i++) {
        if (states[i] != ENGINE_BLOCK_IDLE) {
            wire_write_string(writer, process->nodes[i].id);
            wire_write_text(writer, engine_block_state_name(states[i]));
            count++;
        }
    }
    wire_close_map(writer, mark, count);
    return true;
}
