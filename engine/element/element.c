/*
 * element.c: the table of elements, from kinds.def.
 */
#include "engine/element/element.h"

#include "proto/base/assert.h"

static const struct engine_element_ops *const rows[ENGINE_KIND_COUNT] = {
#define ENGINE_KIND(symbol, xml, trace, ops) [ENGINE_##symbol] = &ops,
#include "engine/element/kinds.def"
#undef ENGINE_KIND
};

const struct engine_element_ops *engine_element_of(enum engine_kind kind)
{
    ASSERT(kind < ENGINE_KIND_COUNT);
    return rows[kind];
}

const struct engine_element_ops *engine_element_in(const struct engine_scope *scope,
                                                   const struct engine_node *node)
{
    if (node->join != ENGINE_JOIN_NONE) {
        return engine_element_block(node);
    }
    return node->loop.kind != ENGINE_LOOP_NONE && scope->kind != ENGINE_SCOPE_BODY
               ? &engine_element_loop
               : engine_element_of(node->kind);
}

bool engine_element_reaches(const struct engine_element_ops *ops, uint8_t state)
{
    switch ((enum engine_token_state)state) {
    case ENGINE_TOKEN_ARRIVED:
    case ENGINE_TOKEN_FAILED:
        return true;
    case ENGINE_TOKEN_ENTERED:
    case ENGINE_TOKEN_WAITING:
        return ops->work != engine_never;
    case ENGINE_TOKEN_CALLING:
    case ENGINE_TOKEN_ANSWERED:
        return ops->answer != engine_never;
    case ENGINE_TOKEN_INSIDE:
    case ENGINE_TOKEN_RETURNING:
    case ENGINE_TOKEN_LISTENING:
        return ops->back != engine_never;
    case ENGINE_TOKEN_LEAVING:
        return ops->leave != engine_never;
    case ENGINE_TOKEN_GONE:
    case ENGINE_TOKEN_STATE_COUNT:
        break;
    }
    return false;
}

void engine_never(struct engine_decision *decision, const struct engine_visit *visit)
{
    (void)decision;
    (void)visit;
    ASSERT_UNREACHABLE();
}
