/*
 * blocks_racy.c: rows whose outcome depends on the order of events: surplus tokens, interruptions,
 * variables with two writers, tangles.
 */
#include <stdio.h>

#include "tests/simulate/blocks.h"
#include "tests/simulate/blocks_event.h"

/* Two tokens on one node, neither waits for the other; the whole scope waits for both. */
void block_uncontrolled_merge(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t split = block_node(block->builder);
    uint32_t merge = block_node(block->builder);
    struct block_exit ways[2] = {{.node = split}, {.node = split}};
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, split);
    block_inside(block, &ways[0], 0);
    block_flow(block->builder, &ways[0], merge);
    block_flow(block->builder, &ways[1], merge);
    block_put_call(block, merge, "serviceTask");
    block_put(block->builder, "</subProcess>");
}

/* Surplus on one flow of a join: it is no substitute for the missing one (traps.md 2). */
void block_surplus(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block);
    uint32_t split = block_node(builder), merge = block_node(builder), other = block_node(builder);
    uint32_t join = block_node(builder), after = block_node(builder);
    block_put(builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, split);
    struct block_exit ways[4] = {
        {.node = split}, {.node = split}, {.node = merge}, {.node = split}};
    block_flow(builder, &ways[0], merge);
    block_flow(builder, &ways[1], merge);
    block_put(builder, "<task id='n%u'/>", merge);
    block_flow(builder, &ways[2], join);
    block_flow(builder, &ways[3], other);
    block_put_call(block, other, "serviceTask");
    block_flow(builder, &ways[3], join);
    block_put(builder, "<parallelGateway id='n%u'/>", join);
    block_flow(builder, &ways[3], after);
    block_put(builder, "<task id='n%u'/></subProcess>", after);
}

/* An error, or a terminate end, comes while the neighbour is somewhere. */
void block_interrupted(struct block *block)
{
    struct block_builder *builder = block->builder;
    bool error = sim_chance(&block->random, 60);
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(builder), split = block_node(builder), end = block_node(builder);
    struct block_exit killer = {.node = split}, victim = {.node = split};
    block_put(builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, split);
    block_inside(block, &killer, 0);
    block_flow(builder, &killer, end);
    block_put(builder,
              error ? "<endEvent id='n%u'><errorEventDefinition/></endEvent>"
                    : "<endEvent id='n%u'><terminateEventDefinition/></endEvent>",
              end);
    block_inside(block, &victim, 1);
    block_put(builder, "</subProcess>");
    block_put(builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><errorEventDefinition/></boundaryEvent>",
              boundary, host);
    block_handle_and_merge(block, boundary);
}

/* Two writers of one variable, and a choice by it. */
void block_shared_variable(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t fork = block_enter(block), join = 0;
    block_put(builder, "<parallelGateway id='n%u'/>", fork);
    struct block_exit ways[2] = {{.node = fork}, {.node = fork}};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node = block_node(builder);
        block_flow(builder, &ways[i], node);
        block_put_call(block, node, "serviceTask")->reply =
            block_json(builder, "{\"execution\":{\"r%u\":%u}}", fork, i);
    }
    join = block_node(builder);
    block_flow(builder, &ways[0], join);
    block_flow(builder, &ways[1], join);
    block_put(builder, "<parallelGateway id='n%u'/>", join);
    *block->at = (struct block_exit){.node = join};
    uint32_t gate = block_enter(block), fallback = ++builder->flow_count;
    block_put(builder, "<exclusiveGateway id='n%u' default='f%u'/>", gate, fallback);
    struct block_exit by_condition = {.node = gate}, by_default = {.node = gate, .flow = fallback};
    (void)snprintf(by_condition.condition, sizeof by_condition.condition, "=r%u = 1", fork);
    block_inside(block, &by_condition, 0);
    uint32_t merge = block_node(builder);
    block_flow(builder, &by_condition, merge);
    block_flow(builder, &by_default, merge);
    block_put(builder, "<exclusiveGateway id='n%u'/>", merge);
    *block->at = (struct block_exit){.node = merge};
}

void block_failing_task(struct block *block)
{
    struct sim_task *task = block_put_call(block, block_enter(block), "serviceTask");
    if (sim_chance(&block->random, 50)) {
        task->status = 404;
        task->reply = SPAN_EMPTY;
    } else {
        task->reply = block_json(block->builder, "{\"error\":{\"code\":\"c\",\"message\":\"m\","
                                                 "\"bpmnError\":\"NOBODY\"}}");
    }
}

/* Nodes in a row, and flows from each to some behind it: joins may wait for ever, tokens pile up.
 */
void block_tangle(struct block *block)
{
    struct block_builder *builder = block->builder;
    enum { NODES = 6 };
    uint32_t nodes[NODES], host = block_enter(block);
    bool reached[NODES] = {true};
    block_put(builder, "<subProcess id='n%u'>", host);
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = block_node(builder);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t kind = i == 0 || i == NODES - 1 ? 3 : sim_below(&block->random, 4);
        if (kind == 0) {
            block_put_call(block, nodes[i], "serviceTask");
        } else {
            block_put(builder, kind < 3 ? "<parallelGateway id='n%u'/>" : "<task id='n%u'/>",
                      nodes[i]);
        }
        for (uint32_t to = i + 1; to < NODES; to++) {
            bool last_chance = to == i + 1 && !reached[to];
            if (last_chance || sim_chance(&block->random, 25)) {
                struct block_exit flow = {.node = nodes[i]};
                block_flow(builder, &flow, nodes[to]);
                reached[to] = true;
            }
        }
    }
    block_put(builder, "</subProcess>");
}
