/*
 * blocks.c: the constructs that models are made of, a row each. A new element of the engine gets a
 * row here, and the simulator knows it: checks and exploration go by what the engine does, not by
 * what was drawn.
 *
 * A confluent row keeps the rules of model.h: it writes variables that are named after its own
 * nodes, and decides by what it was given (x0..x3) or has counted itself.
 */
#include "tests/simulate/blocks.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "tests/simulate/blocks_event.h"

#define TASK_TYPE(type)                                                                            \
    "<extensionElements><zeebe:taskDefinition type='" type "'/></extensionElements>"

/* ---- pieces ---- */

/* What a module says when all is well. Every key is the node's own. */
static struct span good_reply(struct block *block, uint32_t node)
{
    uint32_t value = sim_below(&block->random, 100);
    switch (sim_below(&block->random, 6)) {
    case 0:
        return block_json(block->builder, "{\"outputs\":{\"r\":%u},\"output\":\"o%u\"}", value,
                          node);
    case 1:
        return block_json(block->builder,
                          "{\"context\":{\"k%u\":%u},\"response\":{\"o%u\":[%u,null]}}", node,
                          value, node, value);
    case 2:
        return block_json(block->builder,
                          "{\"module\":{\"m%u\":true},\"logs\":[{\"message\":\"one\"},"
                          "{\"level\":\"WARN\",\"message\":\"two\"}],\"execution\":{\"v%u\":%u}}",
                          node, node, value);
    case 3:
        return block_json(block->builder, "{}");
    default:
        return block_json(block->builder, "{\"execution\":{\"v%u\":%u.5}}", node, value);
    }
}

struct sim_task *block_put_call(struct block *block, uint32_t node, const char *element)
{
    block_put(block->builder, "<%s id='n%u'>" TASK_TYPE("work") "</%s>", element, node, element);
    struct sim_task *task = block_task(block->builder, node);
    task->status = 200;
    task->reply = good_reply(block, node);
    return task;
}

struct sim_task *block_put_user(struct block *block, uint32_t node, bool answered)
{
    block_put(block->builder, "<userTask id='n%u'/>", node);
    struct sim_task *task = block_task(block->builder, node);
    task->waits = answered;
    task->callback = block_json(block->builder, "{\"said\":%u}", node);
    return task;
}

static void put_timer_on(struct block *block, uint32_t node, uint32_t host, bool interrupts,
                         const char *kind, const char *value)
{
    block_put(block->builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u' cancelActivity='%s'>"
              "<timerEventDefinition><%s>%s</%s></timerEventDefinition></boundaryEvent>",
              node, host, interrupts ? "true" : "false", kind, value, kind);
}

/* Catches that error, or any. */
static void put_error_on(struct block *block, uint32_t node, uint32_t host, uint32_t error)
{
    if (sim_chance(&block->random, 50)) {
        block_put(block->builder,
                  "<boundaryEvent id='n%u' attachedToRef='n%u'><errorEventDefinition/>"
                  "</boundaryEvent>",
                  node, host);
        return;
    }
    block_put(block->builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><errorEventDefinition errorRef='e%u'/>"
              "</boundaryEvent>",
              node, host, error);
}

/* What the boundary event leads to; then both ways meet. */
void block_handle_and_merge(struct block *block, uint32_t boundary)
{
    struct block_exit handled = {.node = boundary};
    if (sim_chance(&block->random, 50)) {
        block_inside(block, &handled, boundary);
    }
    uint32_t merge = block_node(block->builder);
    block_flow(block->builder, block->at, merge);
    block_flow(block->builder, &handled, merge);
    block_put(block->builder, "<exclusiveGateway id='n%u'/>", merge);
}

/* ---- single nodes ---- */

static void service_task(struct block *block)
{
    block_put_call(block, block_enter(block), "serviceTask");
}
static void send_task(struct block *block)
{
    block_put_call(block, block_enter(block), "sendTask");
}
static void rule_task(struct block *block)
{
    block_put_call(block, block_enter(block), "businessRuleTask");
}

static void plain_task(struct block *block)
{
    block_put(block->builder, "<task id='n%u'/>", block_enter(block));
}

static void manual_task(struct block *block)
{
    block_put(block->builder, "<manualTask id='n%u'/>", block_enter(block));
}

static void user_task(struct block *block)
{
    block_put_user(block, block_enter(block), true);
}

static void throw_event(struct block *block)
{
    block_put(block->builder, "<intermediateThrowEvent id='n%u'/>", block_enter(block));
}

static void script_task(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<scriptTask id='n%u'><extensionElements><zeebe:script expression='=x0 * %u' "
              "resultVariable='s%u'/></extensionElements></scriptTask>",
              node, sim_below(&block->random, 9), node);
}

static void timer_catch(struct block *block)
{
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><timerEventDefinition><timeDuration>PT%uS"
              "</timeDuration></timerEventDefinition></intermediateCatchEvent>",
              block_enter(block), sim_between(&block->random, 1, 40));
}

static void mapped_task(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<serviceTask id='n%u'><extensionElements><zeebe:taskDefinition type='work'/>"
              "<zeebe:ioMapping><zeebe:input source='=x1' target='given'/>"
              "<zeebe:output source='=given' target='o%u'/></zeebe:ioMapping></extensionElements>"
              "</serviceTask>",
              node, node);
    struct sim_task *task = block_task(block->builder, node);
    task->status = 200;
    task->reply = good_reply(block, node);
}

/* A module that says 202: the answer comes by callback. */
static void ask_task(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder, "<serviceTask id='n%u'>" TASK_TYPE("ask") "</serviceTask>", node);
    struct sim_task *task = block_task(block->builder, node);
    task->status = 202;
    task->waits = true;
    task->callback = block_json(block->builder, "{\"late\":%u}", node);
}

/* ... and whose callback entry is called with it. */
static void told_task(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder, "<serviceTask id='n%u'>" TASK_TYPE("told") "</serviceTask>", node);
    struct sim_task *task = block_task(block->builder, node);
    task->status = 200;
    task->reply = block_json(block->builder, "{\"wait\":true,\"execution\":{\"a%u\":1}}", node);
    task->told = good_reply(block, node);
    task->waits = true;
    task->callback = block_json(block->builder, "{\"late\":%u}", node);
}

/* ---- gateways ---- */

/* By what it was started with: true or false for the whole life. */
static void put_condition(struct block *block, struct block_exit *branch)
{
    (void)snprintf(branch->condition, sizeof branch->condition, "=x%u &gt; %u",
                   sim_below(&block->random, 4), sim_below(&block->random, 9));
}

static void choice(struct block *block)
{
    uint32_t gate = block_enter(block);
    uint32_t count = sim_between(&block->random, 2, BLOCK_BRANCHES_MAX);
    uint32_t fallback = ++block->builder->flow_count;
    bool implicit = sim_chance(&block->random, 30);
    block_put(block->builder, "<exclusiveGateway id='n%u' default='f%u'/>", gate, fallback);
    struct block_exit branches[BLOCK_BRANCHES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        branches[i] = (struct block_exit){.node = gate, .flow = i == 0 ? fallback : 0};
        if (i > 0) {
            put_condition(block, &branches[i]);
        }
        if (i == 0 || sim_chance(&block->random, 70)) {
            block_inside(block, &branches[i], i);
        }
    }
    uint32_t merge = block_node(block->builder);
    for (uint32_t i = 0; i < count; i++) {
        block_flow(block->builder, &branches[i], merge);
    }
    *block->at = (struct block_exit){.node = merge};
    block_put(block->builder, implicit ? "<task id='n%u'/>" : "<exclusiveGateway id='n%u'/>",
              merge);
}

static void fork_and_join(struct block *block, const char *fork_element)
{
    uint32_t fork = block_enter(block);
    uint32_t count = sim_between(&block->random, 2, BLOCK_BRANCHES_MAX);
    block_put(block->builder, "<%s id='n%u'/>", fork_element, fork);
    struct block_exit branches[BLOCK_BRANCHES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        branches[i] = (struct block_exit){.node = fork};
        if (i == 0 || sim_chance(&block->random, 80)) {
            block_inside(block, &branches[i], i);
        }
    }
    uint32_t join = block_node(block->builder);
    for (uint32_t i = 0; i < count; i++) {
        block_flow(block->builder, &branches[i], join);
    }
    *block->at = (struct block_exit){.node = join};
    block_put(block->builder, "<parallelGateway id='n%u'/>", join);
}

static void parallel(struct block *block)
{
    fork_and_join(block, "parallelGateway");
}
static void implicit_split(struct block *block)
{
    fork_and_join(block, "task");
}

/* Back to the merge until the counter says enough. */
static void loop(struct block *block)
{
    uint32_t merge = block_enter(block);
    block_put(block->builder, "<exclusiveGateway id='n%u'/>", merge);
    block_inside(block, block->at, 0);
    uint32_t counter = block_enter(block);
    block_put(block->builder,
              "<scriptTask id='n%u'><extensionElements><zeebe:script expression="
              "'=if c%u = null then 1 else c%u + 1' resultVariable='c%u'/></extensionElements>"
              "</scriptTask>",
              counter, counter, counter, counter);
    uint32_t gate = block_enter(block);
    uint32_t out = ++block->builder->flow_count;
    block_put(block->builder, "<exclusiveGateway id='n%u' default='f%u'/>", gate, out);
    struct block_exit back = {.node = gate};
    (void)snprintf(back.condition, sizeof back.condition, "=c%u &lt; %u", counter,
                   sim_between(&block->random, 2, 3));
    block_flow(block->builder, &back, merge);
    *block->at = (struct block_exit){.node = gate, .flow = out};
    plain_task(block); /* a way out that leads somewhere, whatever follows */
}

/* As many ways as conditions are true; the join waits for just those. */
static void inclusive(struct block *block)
{
    uint32_t fork = block_enter(block);
    uint32_t count = sim_between(&block->random, 2, BLOCK_BRANCHES_MAX);
    uint32_t fallback = ++block->builder->flow_count;
    block_put(block->builder, "<inclusiveGateway id='n%u' default='f%u'/>", fork, fallback);
    struct block_exit branches[BLOCK_BRANCHES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        branches[i] = (struct block_exit){.node = fork, .flow = i == 0 ? fallback : 0};
        if (i > 0) {
            put_condition(block, &branches[i]);
        }
        block_inside(block, &branches[i], i);
    }
    uint32_t join = block_node(block->builder);
    for (uint32_t i = 0; i < count; i++) {
        block_flow(block->builder, &branches[i], join);
    }
    *block->at = (struct block_exit){.node = join};
    block_put(block->builder, "<inclusiveGateway id='n%u'/>", join);
}

static void link(struct block *block)
{
    uint32_t from = block_enter(block);
    uint32_t to = block_node(block->builder);
    block_put(block->builder,
              "<intermediateThrowEvent id='n%u'><linkEventDefinition name='l%u'/>"
              "</intermediateThrowEvent><intermediateCatchEvent id='n%u'>"
              "<linkEventDefinition name='l%u'/></intermediateCatchEvent>",
              from, from, to, from);
    *block->at = (struct block_exit){.node = to};
}

/* ---- activities with a loop marker ---- */

static void put_marked_call(struct block *block, const char *marker)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<serviceTask id='n%u'><extensionElements><zeebe:taskDefinition type='work'/>"
              "</extensionElements>%s</serviceTask>",
              node, marker);
    struct sim_task *task = block_task(block->builder, node);
    task->status = 200;
    task->reply = good_reply(block, node);
}

static void instances_of_task(struct block *block)
{
    char marker[160];
    (void)snprintf(marker, sizeof marker,
                   "<multiInstanceLoopCharacteristics isSequential='%s'><loopCardinality>=%u"
                   "</loopCardinality></multiInstanceLoopCharacteristics>",
                   sim_chance(&block->random, 40) ? "true" : "false", sim_below(&block->random, 4));
    put_marked_call(block, marker);
}

/* Each instance throws when it completes; a boundary event around all of them hears it. A scope
 * waits for what that begins. */
static void throwing_instances(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block), start = block_node(builder), work = block_node(builder);
    uint32_t boundary = block_node(builder), task = block_node(builder);
    struct block_exit begins = {.node = start}, told = {.node = boundary};
    block_put(builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, start);
    block_flow(builder, &begins, work);
    block_put(builder,
              "<serviceTask id='n%u'><extensionElements><zeebe:taskDefinition type='work'/>"
              "</extensionElements><multiInstanceLoopCharacteristics isSequential='%s' "
              "behavior='Complex'><loopCardinality>=%u</loopCardinality>"
              "<complexBehaviorDefinition><condition>loopCounter &lt; 3</condition><event>"
              "<escalationEventDefinition/></event></complexBehaviorDefinition>"
              "</multiInstanceLoopCharacteristics></serviceTask>",
              work, sim_chance(&block->random, 40) ? "true" : "false",
              sim_between(&block->random, 1, 3));
    struct sim_task *answers = block_task(builder, work);
    answers->status = 200;
    answers->reply = good_reply(block, work);
    block_put(builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u' cancelActivity='false'>"
              "<escalationEventDefinition/></boundaryEvent>",
              boundary, work);
    block_flow(builder, &told, task);
    block_put(builder, "<task id='n%u'/></subProcess>", task);
}

static void standard_loop(struct block *block)
{
    char marker[120];
    (void)snprintf(marker, sizeof marker, "<standardLoopCharacteristics loopMaximum='%u'/>",
                   sim_between(&block->random, 1, 3));
    put_marked_call(block, marker);
}

/* One for each element of a collection; what they make is collected in order. */
static void collected(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<userTask id='n%u'><multiInstanceLoopCharacteristics><extensionElements>"
              "<zeebe:loopCharacteristics inputCollection='=[x0, x1]' inputElement='item' "
              "outputCollection='os%u' outputElement='=item + 1'/></extensionElements>"
              "</multiInstanceLoopCharacteristics></userTask>",
              node, node);
    struct sim_task *task = block_task(block->builder, node);
    task->waits = true;
    task->callback = block_json(block->builder, "{\"said\":%u}", node);
}

static void put_instances_of_scope(struct block *block, bool sequential)
{
    uint32_t host = block_enter(block);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put(block->builder,
              "<subProcess id='n%u'><multiInstanceLoopCharacteristics isSequential='%s'>"
              "<loopCardinality>=2</loopCardinality></multiInstanceLoopCharacteristics>"
              "<startEvent id='n%u'/>",
              host, sequential ? "true" : "false", inner.node);
    block_inside(block, &inner, 0);
    block_put(block->builder, "</subProcess>");
}

static void one_after_the_other(struct block *block)
{
    put_instances_of_scope(block, true);
}

/* ---- scopes ---- */

static void sub_process(struct block *block)
{
    uint32_t host = block_enter(block);
    struct block_exit inner = {0};
    bool bare = sim_chance(&block->random, 20); /* no start event, no end event */
    block_put(block->builder, "<subProcess id='n%u'>", host);
    inner.node = block_node(block->builder);
    block_put(block->builder, bare ? "<task id='n%u'/>" : "<startEvent id='n%u'/>", inner.node);
    block_inside(block, &inner, 0);
    if (!bare) {
        uint32_t end = block_node(block->builder);
        block_flow(block->builder, &inner, end);
        block_put(block->builder, "<endEvent id='n%u'/>", end);
    }
    block_put(block->builder, "</subProcess>");
}

static void call_activity(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t before;
    uint32_t process = block_process_begin(block->builder, &before);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put(block->builder, "<startEvent id='n%u'/>", inner.node);
    block_inside(block, &inner, 0);
    block_process_end(block->builder, before);
    /* Its variables stay inside: what comes back would also be what others wrote meanwhile. */
    block_put(block->builder,
              "<callActivity id='n%u'><extensionElements><zeebe:calledElement processId='p%u' "
              "propagateAllChildVariables='false'/></extensionElements></callActivity>",
              host, process);
}

/* One way ends at once in a dead end, while the other goes on: the scope waits for both. */
static void dead_end(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t split = block_node(block->builder);
    block_put(block->builder, "<subProcess id='n%u'><task id='n%u'/>", host, split);
    for (uint32_t i = 0; i < 2; i++) {
        struct block_exit branch = {.node = split};
        block_inside(block, &branch, i);
    }
    block_put(block->builder, "</subProcess>");
}

/* What waits in the same scope is taken away. */
static void terminate(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t split = block_node(block->builder);
    uint32_t waiting = block_node(block->builder);
    uint32_t end = block_node(block->builder);
    struct block_exit to_waiting = {.node = split}, to_end = {.node = split};
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, split);
    block_flow(block->builder, &to_waiting, waiting);
    block_put_user(block, waiting, !block->builder->model->confluent);
    block_inside(block, &to_end, 0);
    block_flow(block->builder, &to_end, end);
    block_put(block->builder,
              "<endEvent id='n%u'><terminateEventDefinition/></endEvent></subProcess>", end);
}

/* ---- errors ---- */

static void error_of_task(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    struct sim_task *task = block_put_call(block, host, "serviceTask");
    task->reply =
        block_json(block->builder,
                   "{\"error\":{\"code\":\"c\",\"message\":\"m\",\"bpmnError\":\"E%u\"}}", host);
    block_put_root(block->builder, "<error id='e%u' errorCode='E%u'/>", host, host);
    put_error_on(block, boundary, host, host);
    block_handle_and_merge(block, boundary);
}

static void error_end(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    uint32_t end = block_node(block->builder);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, inner.node);
    block_inside(block, &inner, 0);
    block_flow(block->builder, &inner, end);
    block_put(block->builder,
              "<endEvent id='n%u'><errorEventDefinition errorRef='e%u'/></endEvent></subProcess>",
              end, host);
    block_put_root(block->builder, "<error id='e%u' errorCode='E%u'/>", host, host);
    put_error_on(block, boundary, host, host);
    block_handle_and_merge(block, boundary);
}

/* ---- event sub-processes, escalations ---- */

static void put_handler(struct block *block, bool interrupts, const char *event)
{
    uint32_t handler = block_node(block->builder);
    struct block_exit at = {.node = block_node(block->builder)};
    block_put(block->builder,
              "<subProcess id='n%u' triggeredByEvent='true'><startEvent id='n%u' "
              "isInterrupting='%s'>%s</startEvent>",
              handler, at.node, interrupts ? "true" : "false", event);
    block_inside(block, &at, handler);
    block_put(block->builder, "</subProcess>");
}

/* An error is handled where it happens; the scope then ends as usual. */
static void error_handler(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t end = block_node(block->builder);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, inner.node);
    block_inside(block, &inner, 0);
    block_flow(block->builder, &inner, end);
    block_put(block->builder, "<endEvent id='n%u'><errorEventDefinition/></endEvent>", end);
    put_handler(block, true, "<errorEventDefinition/>");
    block_put(block->builder, "</subProcess>");
}

static void escalation(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    uint32_t end = block_node(block->builder);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put_root(block->builder, "<escalation id='u%u' escalationCode='U%u'/>", host, host);
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, inner.node);
    block_inside(block, &inner, 0);
    block_flow(block->builder, &inner, end);
    block_put(block->builder,
              "<endEvent id='n%u'><escalationEventDefinition escalationRef='u%u'/></endEvent>"
              "</subProcess><boundaryEvent id='n%u' attachedToRef='n%u'>"
              "<escalationEventDefinition escalationRef='u%u'/></boundaryEvent>",
              end, host, boundary, host, host);
    block_handle_and_merge(block, boundary);
}

/* ---- timers on activities ---- */

/* Nobody answers: the timer decides. */
static void timer_wins(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    char value[16];
    (void)snprintf(value, sizeof value, "PT%uS", sim_between(&block->random, 1, 30));
    block_put_user(block, host, false);
    put_timer_on(block, boundary, host, true, "timeDuration", value);
    block_handle_and_merge(block, boundary);
}

/* Somebody answers long before. */
static void timer_loses(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    if (sim_chance(&block->random, 50)) {
        block_put_user(block, host, true);
    } else {
        block_put_call(block, host, "serviceTask");
    }
    put_timer_on(block, boundary, host, sim_chance(&block->random, 70), "timeDuration", "P300D");
    block_handle_and_merge(block, boundary);
}

/* A reminder, then the end of patience. */
static void reminder(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t early = block_node(block->builder);
    uint32_t late = block_node(block->builder);
    uint32_t task = block_node(block->builder);
    struct block_exit reminded = {.node = early};
    block_put_user(block, host, false);
    put_timer_on(block, early, host, false, "timeDuration", "PT4S");
    put_timer_on(block, late, host, true, "timeDuration", "PT20S");
    block_flow(block->builder, &reminded, task);
    block_put(block->builder, "<task id='n%u'/>", task);
    block_handle_and_merge(block, late);
}

/* ---- racy ones ---- */

static void race_with_timer(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    block_put_user(block, host, true);
    put_timer_on(block, boundary, host, true, "timeDuration", "PT3S");
    block_handle_and_merge(block, boundary);
}

static void cycle(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    uint32_t task = block_node(block->builder);
    struct block_exit reminded = {.node = boundary};
    block_put_user(block, host, true);
    put_timer_on(block, boundary, host, false, "timeCycle", "R2/PT2S");
    block_flow(block->builder, &reminded, task);
    block_put(block->builder, "<task id='n%u'/>", task);
}

/* A timer of the scope races with what goes on in it. */
static void timer_handler(struct block *block)
{
    uint32_t host = block_enter(block);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, inner.node);
    block_inside(block, &inner, 0);
    put_handler(block, sim_chance(&block->random, 50),
                "<timerEventDefinition><timeDuration>PT3S</timeDuration></timerEventDefinition>");
    block_put(block->builder, "</subProcess>");
}

static void all_at_once(struct block *block)
{
    put_instances_of_scope(block, false);
}

/* clang-format off */
const struct block_row block_rows[] = {
    /* name            weight depth use    */
    {"serviceTask",        10, 9, ANY,  service_task},
    {"sendTask",            3, 9, ANY,  send_task},
    {"businessRuleTask",    3, 9, ANY,  rule_task},
    {"task",                2, 9, ANY,  plain_task},
    {"manualTask",          2, 9, ANY,  manual_task},
    {"userTask",            8, 9, ANY,  user_task},
    {"throwEvent",          2, 9, ANY,  throw_event},
    {"scriptTask",          4, 9, ANY,  script_task},
    {"timerCatch",          5, 9, ANY,  timer_catch},
    {"mappedTask",          3, 9, ANY,  mapped_task},
    {"askTask",             4, 9, ANY,  ask_task},
    {"toldTask",            4, 9, ANY,  told_task},
    {"choice",              6, 2, ANY,  choice},
    {"parallel",            9, 2, ANY,  parallel},
    {"implicitSplit",       5, 2, ANY,  implicit_split},
    {"loop",                5, 2, ANY,  loop},
    {"inclusive",           5, 2, ANY,  inclusive},
    {"link",                2, 9, ANY,  link},
    {"instancesOfTask",     4, 9, ANY,  instances_of_task},
    {"throwingInstances",   3, 2, ANY,  throwing_instances},
    {"standardLoop",        3, 9, ANY,  standard_loop},
    {"collected",           3, 9, ANY,  collected},
    {"oneAfterTheOther",    3, 2, ANY,  one_after_the_other},
    {"subProcess",          6, 2, ANY,  sub_process},
    {"callActivity",        5, 2, ANY,  call_activity},
    {"deadEnd",             3, 2, ANY,  dead_end},
    {"terminate",           3, 2, ANY,  terminate},
    {"errorOfTask",         4, 2, ANY,  error_of_task},
    {"errorEnd",            4, 2, ANY,  error_end},
    {"errorHandler",        3, 2, ANY,  error_handler},
    {"escalation",          3, 2, ANY,  escalation},
    {"timerWins",           4, 2, ANY,  timer_wins},
    {"timerLoses",          4, 2, ANY,  timer_loses},
    {"reminder",            3, 2, ANY,  reminder},
    {"messageCatch",        7, 9, ANY,  block_message_catch},
    {"receiveTask",         5, 9, ANY,  block_receive_task},
    {"anyMessage",          3, 9, ANY,  block_any_message},
    {"ownMessage",          5, 9, ANY,  block_own_message},
    {"peerMessage",         3, 1, TAME, block_peer_message},
    {"messageStart",        6, 0, TAME, block_message_start},
    {"timerStart",          4, 0, TAME, block_timer_start},
    {"signalCatch",         5, 9, ANY,  block_signal_catch},
    {"signalThrow",         4, 9, ANY,  block_signal_throw},
    {"eventGateway",        6, 9, ANY,  block_event_gateway},
    {"messageBoundary",     4, 2, ANY,  block_message_boundary},
    {"messageHandler",      3, 2, ANY,  block_message_handler},
    {"condition",           4, 9, ANY,  block_condition},
    {"conditionBoundary",   3, 2, ANY,  block_condition_boundary},
    {"escalationBeside",    3, 2, ANY,  block_escalation_beside},
    {"escalationHandler",   3, 2, ANY,  block_escalation_handler},
    {"compensation",        6, 2, ANY,  block_compensation},
    {"compensationOfOne",   4, 2, ANY,  block_compensation_of_one},
    {"transaction",         6, 2, ANY,  block_transaction},
    {"adHoc",               6, 2, ANY,  block_ad_hoc},
    {"errorThroughCall",    3, 2, ANY,  block_error_through_call},
    {"inclusiveLoop",       4, 0, ANY,  block_inclusive_loop},
    {"complex",             4, 2, ANY,  block_complex},
    {"incident",            3, 2, TAME, block_incident},
    {"raceWithTimer",      12, 1, RACY, race_with_timer},
    {"cycle",               6, 1, RACY, cycle},
    {"timerHandler",        8, 1, RACY, timer_handler},
    {"uncontrolledMerge",  12, 1, RACY, block_uncontrolled_merge},
    {"surplus",             8, 1, RACY, block_surplus},
    {"interrupted",        12, 1, RACY, block_interrupted},
    {"sharedVariable",     12, 1, RACY, block_shared_variable},
    {"failingTask",         6, 1, RACY, block_failing_task},
    {"allAtOnce",           8, 1, RACY, all_at_once},
    {"tangle",             16, 1, RACY, block_tangle},
    {"complexRace",         8, 1, RACY, block_complex_race},
    {"eventGatewayRace",   10, 1, RACY, block_event_gateway_race},
    {"messageRace",        10, 1, RACY, block_message_race},
    {"signalRace",          8, 1, RACY, block_signal_race},
    {"ownHandler",          6, 1, RACY, block_own_handler},
    {"enough",              6, 1, RACY, block_enough},
    {"adHocEnough",         6, 1, RACY, block_ad_hoc_enough},
};
/* clang-format on */
const uint32_t block_row_count = sizeof block_rows / sizeof block_rows[0];
_Static_assert(sizeof block_rows / sizeof block_rows[0] <= SIM_BLOCKS_MAX, "counted in the report");
