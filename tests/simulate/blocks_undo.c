/*
 * blocks_undo.c: rows of blocks.c about compensation, transactions, ad-hoc work, errors out of
 * called processes, inclusive gateways in loops, and what an operator must repair.
 *
 * A compensation event stands in a sub-process of its own, so that what is compensated does not
 * depend on how far other branches are.
 */
#include "tests/simulate/blocks.h"
#include "tests/simulate/blocks_event.h"

#include <stdio.h>

/* A call, and what undoes it. */
static void put_undoable(struct block *block, uint32_t node)
{
    struct block_builder *builder = block->builder;
    uint32_t boundary = block_node(builder), handler = block_node(builder);
    block_put_call(block, node, "serviceTask");
    block_put(builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><compensateEventDefinition/>"
              "</boundaryEvent><serviceTask id='n%u' isForCompensation='true'><extensionElements>"
              "<zeebe:taskDefinition type='work'/></extensionElements></serviceTask>"
              "<association id='a%u' sourceRef='n%u' targetRef='n%u'/>",
              boundary, node, handler, handler, boundary, handler);
    struct sim_task *task = block_task(builder, handler);
    task->status = 200;
    task->reply = block_json(builder, "{\"execution\":{\"undone%u\":true}}", node);
}

/* Two that can be undone, in a sub-process or not, with something between them. */
static uint32_t put_two(struct block *block, struct block_exit *at, bool apart)
{
    struct block_builder *builder = block->builder;
    struct block_exit inner = *at;
    uint32_t around = 0;
    if (apart) {
        around = block_node(builder);
        block_flow(builder, at, around);
        inner = (struct block_exit){.node = block_node(builder)};
        block_put(builder, "<subProcess id='n%u'><startEvent id='n%u'/>", around, inner.node);
    }
    uint32_t first = block_node(builder);
    block_flow(builder, &inner, first);
    put_undoable(block, first);
    block_inside(block, &inner, 0);
    uint32_t second = block_node(builder);
    block_flow(builder, &inner, second);
    put_undoable(block, second);
    if (apart) {
        block_put(builder, "</subProcess>");
    } else {
        *at = inner;
    }
    return first;
}

static void put_compensation(struct block *block, bool of_one)
{
    struct block_builder *builder = block->builder;
    bool ends = sim_chance(&block->random, 40), apart = !of_one && sim_chance(&block->random, 50);
    uint32_t host = block_enter(block);
    struct block_exit at = {.node = block_node(builder)};
    block_put(builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, at.node);
    uint32_t first = put_two(block, &at, apart);
    uint32_t thrower = block_node(builder);
    char definition[80];
    block_flow(builder, &at, thrower);
    (void)snprintf(definition, sizeof definition,
                   of_one ? "<compensateEventDefinition activityRef='n%u'/>"
                          : "<compensateEventDefinition/>",
                   first);
    block_put(builder,
              ends ? "<endEvent id='n%u'>%s</endEvent></subProcess>"
                   : "<intermediateThrowEvent id='n%u'>%s</intermediateThrowEvent></subProcess>",
              thrower, definition);
}

void block_compensation(struct block *block)
{
    put_compensation(block, false);
}

void block_compensation_of_one(struct block *block)
{
    put_compensation(block, true);
}

/* It succeeds, or is cancelled: then what was done is undone, and the boundary event goes on. */
void block_transaction(struct block *block)
{
    struct block_builder *builder = block->builder;
    bool cancelled = sim_chance(&block->random, 70);
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(builder), end = block_node(builder);
    struct block_exit at = {.node = block_node(builder)};
    block_put(builder, "<transaction id='n%u'><startEvent id='n%u'/>", host, at.node);
    (void)put_two(block, &at, sim_chance(&block->random, 30));
    block_flow(builder, &at, end);
    block_put(builder,
              cancelled ? "<endEvent id='n%u'><cancelEventDefinition/></endEvent></transaction>"
                        : "<endEvent id='n%u'/></transaction>",
              end);
    block_put(
        builder,
        "<boundaryEvent id='n%u' attachedToRef='n%u'><cancelEventDefinition/></boundaryEvent>",
        boundary, host);
    block_handle_and_merge(block, boundary);
}

/* ---- ad-hoc ---- */

static void put_ad_hoc(struct block *block, const char *condition)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block);
    uint32_t first = block_node(builder), second = block_node(builder);
    /* Whatever completes first, the list is the same in the end. */
    block_put(builder,
              "<adHocSubProcess id='n%u' ordering='%s'><extensionElements><zeebe:adHoc "
              "outputCollection='oc%u' outputElement='=1'/></extensionElements>",
              host, sim_chance(&block->random, 40) ? "Sequential" : "Parallel", host);
    block_put_call(block, first, "serviceTask");
    block_put_user(block, second, true);
    if (condition != NULL) {
        char text[64];
        (void)snprintf(text, sizeof text, condition, second);
        block_put(builder, "<completionCondition>%s</completionCondition>", text);
    }
    block_put(builder, "</adHocSubProcess>");
}

void block_ad_hoc(struct block *block)
{
    put_ad_hoc(block, NULL);
}

/* ... until something has been said. */
void block_ad_hoc_enough(struct block *block)
{
    put_ad_hoc(block, "=__resume.said = %u");
}

/* One of three instances is enough. */
void block_enough(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<userTask id='n%u'><multiInstanceLoopCharacteristics><loopCardinality>=3"
              "</loopCardinality><completionCondition>=numberOfCompletedInstances &gt;= 1"
              "</completionCondition></multiInstanceLoopCharacteristics></userTask>",
              node);
    struct sim_task *task = block_task(block->builder, node);
    task->waits = true;
    task->callback = block_json(block->builder, "{\"said\":%u}", node);
}

/* ---- errors, loops, incidents ---- */

void block_error_through_call(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(builder), before;
    block_put_root(builder, "<error id='e%u' errorCode='E%u'/>", host, host);
    uint32_t process = block_process_begin(builder, &before);
    struct block_exit inner = {.node = block_node(builder)};
    block_put(builder, "<startEvent id='n%u'/>", inner.node);
    block_inside(block, &inner, 0);
    uint32_t end = block_node(builder);
    block_flow(builder, &inner, end);
    block_put(builder, "<endEvent id='n%u'><errorEventDefinition errorRef='e%u'/></endEvent>", end,
              host);
    block_process_end(builder, before);
    block_put(builder,
              "<callActivity id='n%u'><extensionElements><zeebe:calledElement processId='p%u' "
              "propagateAllChildVariables='false'/></extensionElements></callActivity>"
              "<boundaryEvent id='n%u' attachedToRef='n%u'><errorEventDefinition errorRef='e%u'/>"
              "</boundaryEvent>",
              host, process, boundary, host, host);
    block_handle_and_merge(block, boundary);
}

/* Inclusive gateways as the loop's merge and inside it: a token that must pass the merge to come
 * back does not keep it from firing (traps.md 1). At top level only: in another loop, beside other
 * branches, those could come back to the merge, and by the same rule it waits for them for ever. */
void block_inclusive_loop(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t merge = block_enter(block);
    block_put(builder, "<inclusiveGateway id='n%u'/>", merge);
    uint32_t fork = block_enter(block), fallback = ++builder->flow_count;
    block_put(builder, "<inclusiveGateway id='n%u' default='f%u'/>", fork, fallback);
    struct block_exit ways[2] = {{.node = fork, .flow = fallback}, {.node = fork}};
    (void)snprintf(ways[1].condition, sizeof ways[1].condition, "=x%u &gt; 2",
                   sim_below(&block->random, 4));
    block_inside(block, &ways[0], 0);
    block_inside(block, &ways[1], 1);
    uint32_t join = block_node(builder), counter = block_node(builder);
    block_flow(builder, &ways[0], join);
    block_flow(builder, &ways[1], join);
    block_put(builder, "<inclusiveGateway id='n%u'/>", join);
    *block->at = (struct block_exit){.node = join};
    block_flow(builder, block->at, counter);
    block_put(builder,
              "<scriptTask id='n%u'><extensionElements><zeebe:script expression="
              "'=if c%u = null then 1 else c%u + 1' resultVariable='c%u'/></extensionElements>"
              "</scriptTask>",
              counter, counter, counter, counter);
    uint32_t gate = block_enter(block), out = ++builder->flow_count, after = block_node(builder);
    block_put(builder, "<exclusiveGateway id='n%u' default='f%u'/>", gate, out);
    struct block_exit back = {.node = gate};
    (void)snprintf(back.condition, sizeof back.condition, "=c%u &lt; 2", counter);
    block_flow(builder, &back, merge);
    *block->at = (struct block_exit){.node = gate, .flow = out};
    block_flow(builder, block->at, after);
    block_put(builder, "<task id='n%u'/>", after);
}

/* ---- complex gateways ---- */

/* In a scope of its own: what is expected there decides when it resets. */
static void put_complex(struct block *block, const char *condition)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block), fork = block_node(builder);
    struct block_exit ways[BLOCK_BRANCHES_MAX];
    block_put(builder, "<subProcess id='n%u'><parallelGateway id='n%u'/>", host, fork);
    for (uint32_t i = 0; i < BLOCK_BRANCHES_MAX; i++) {
        ways[i] = (struct block_exit){.node = fork};
        if (i == 0) {
            block_inside(block, &ways[i], i);
        } else {
            uint32_t node = block_node(builder);
            block_flow(builder, &ways[i], node);
            block_put_call(block, node, "serviceTask");
        }
    }
    uint32_t join = block_node(builder), after = block_node(builder);
    for (uint32_t i = 0; i < BLOCK_BRANCHES_MAX; i++) {
        block_flow(builder, &ways[i], join);
    }
    block_put(builder, "<complexGateway id='n%u'>%s</complexGateway>", join, condition);
    struct block_exit at = {.node = join};
    block_flow(builder, &at, after);
    block_put(builder, "<task id='n%u'/></subProcess>", after);
}

/* Without a condition it waits for all that can come. */
void block_complex(struct block *block)
{
    put_complex(block, "");
}

/* Two of three are enough; the third comes too late. */
void block_complex_race(struct block *block)
{
    put_complex(block, "<activationCondition>=activationCount &gt;= 2</activationCondition>");
}

/* The module fails until somebody has repaired it; then the operator tries the step again. */
void block_incident(struct block *block)
{
    uint32_t node = block_enter(block);
    struct sim_task *task = block_put_call(block, node, "serviceTask");
    task->broken =
        block_json(block->builder, "{\"error\":{\"code\":\"c\",\"message\":\"broken\"}}");
}
