/*
 * element.c: the table of elements, from kinds.def, and the row of those that are read but not executed yet.
 */
#include "engine/element/element.h"

#include "engine/failure.h"
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

const char *engine_element_refuses(const struct engine_node *node)
{
    /* What any activity may carry, before what is its own. */
    if (node->loop.kind != ENGINE_LOOP_NONE) {
        return "loop and multi-instance markers are not executed yet";
    }
    if (node->for_compensation) {
        return "compensation handlers are not executed yet";
    }
    return engine_element_of(node->kind)->refuses(node);
}

const char *engine_refuses_nothing(const struct engine_node *node)
{
    (void)node;
    return NULL;
}

void engine_never(struct engine_decision *decision, const struct engine_visit *visit)
{
    (void)decision;
    (void)visit;
    ASSERT_UNREACHABLE();
}

static const char *refuses_whole(const struct engine_node *node)
{
    (void)node;
    return "this element is not executed yet";
}

/* Deploy refuses it; a definition read leniently and started all the same becomes an incident, not an abort. */
static void arrive_unsupported(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_fail(decision, visit, ENGINE_TOKEN_ARRIVED, span_text("DefinitionInvalid"),
                ENGINE_TEXT(decision, "\"%.*s\" is a %s, which is not executed yet", SPAN_ARG(visit->node->id),
                            engine_kind_trace_name(visit->node->kind)));
}

const struct engine_element_ops engine_element_unsupported = {
    .name = "unsupported",
    .refuses = refuses_whole,
    .arrive = arrive_unsupported,
    .work = engine_never,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_never,
    .cancel = engine_cancel_nothing,
};
