/*
 * blocks_event.c: rows of blocks.c about messages, signals, conditions and escalations.
 *
 * Each message has a name of its own node's and, but for one row, the key `request.self`, so that
 * it is for one execution. What waits for a message of the outside gets one whenever it waits.
 */
#include "tests/simulate/blocks_event.h"

#include "tests/simulate/blocks.h"

#define KEYED(key)                                                                                 \
    "<extensionElements><zeebe:subscription correlationKey='=" key "'/></extensionElements>"

/* ---- pieces ---- */

/* A message that goes by the node's number. */
static void put_message_root(struct block *block, uint32_t node, const char *key)
{
    block_put_root(block->builder, "<message id='M%u' name='m%u'>%s</message>", node, node, key);
}

/* The outside sends this event what it listens for. */
static struct sim_task *says(struct block *block, uint32_t node, enum sim_says what)
{
    struct sim_task *task = block_task(block->builder, node);
    task->says = what;
    task->keyed = what == SIM_SAYS_MESSAGE;
    task->name = block_name(block->builder, what == SIM_SAYS_MESSAGE ? "m%u" : "g%u", node);
    task->callback = block_json(block->builder, "{\"heard%u\":%u}", node, node);
    return task;
}

static void put_message_catch(struct block *block, uint32_t node)
{
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><messageEventDefinition messageRef='M%u'/>"
              "</intermediateCatchEvent>",
              node, node);
    put_message_root(block, node, KEYED("request.self"));
}

static void put_timer_catch(struct block *block, uint32_t node, const char *duration)
{
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><timerEventDefinition><timeDuration>%s"
              "</timeDuration></timerEventDefinition></intermediateCatchEvent>",
              node, duration);
}

static void put_signal_root(struct block *block, uint32_t node)
{
    block_put_root(block->builder, "<signal id='G%u' name='g%u'/>", node, node);
}

static void put_signal_catch(struct block *block, uint32_t node)
{
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><signalEventDefinition signalRef='G%u'/>"
              "</intermediateCatchEvent>",
              node, node);
    put_signal_root(block, node);
}

/* Two ways from a fork to a join; the row puts what is on them. */
struct fork {
    struct block_exit ways[2];
};

static struct fork begin_fork(struct block *block)
{
    uint32_t fork = block_enter(block);
    block_put(block->builder, "<parallelGateway id='n%u'/>", fork);
    return (struct fork){.ways = {{.node = fork}, {.node = fork}}};
}

static uint32_t on_way(struct block *block, struct block_exit *way)
{
    uint32_t node = block_node(block->builder);
    block_flow(block->builder, way, node);
    return node;
}

static void end_fork(struct block *block, struct fork *fork)
{
    uint32_t join = block_node(block->builder);
    block_flow(block->builder, &fork->ways[0], join);
    block_flow(block->builder, &fork->ways[1], join);
    block_put(block->builder, "<parallelGateway id='n%u'/>", join);
    *block->at = (struct block_exit){.node = join};
}

/* ---- messages ---- */

void block_message_catch(struct block *block)
{
    uint32_t node = block_enter(block);
    put_message_catch(block, node);
    (void)says(block, node, SIM_SAYS_MESSAGE);
}

void block_receive_task(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder, "<receiveTask id='n%u' messageRef='M%u'/>", node, node);
    put_message_root(block, node, KEYED("request.self"));
    (void)says(block, node, SIM_SAYS_MESSAGE);
}

/* Without a key: whoever waits takes it, this execution or the other one. */
void block_any_message(struct block *block)
{
    uint32_t node = block_enter(block);
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><messageEventDefinition messageRef='M%u'/>"
              "</intermediateCatchEvent>",
              node, node);
    put_message_root(block, node, "");
    says(block, node, SIM_SAYS_MESSAGE)->keyed = false;
}

/* What it publishes itself it takes, whichever comes first. */
void block_own_message(struct block *block)
{
    struct fork fork = begin_fork(block);
    uint32_t thrower = on_way(block, &fork.ways[0]);
    uint32_t catcher = on_way(block, &fork.ways[1]);
    block_put(block->builder,
              sim_chance(&block->random, 50)
                  ? "<intermediateThrowEvent id='n%u'><messageEventDefinition messageRef='M%u'/>"
                    "</intermediateThrowEvent>"
                  : "<sendTask id='n%u' messageRef='M%u'/>",
              thrower, catcher);
    put_message_catch(block, catcher);
    end_fork(block, &fork);
}

/* Each of two executions publishes for the other one. The thrower's key is the catcher's `self`. */
void block_peer_message(struct block *block)
{
    uint32_t thrower = block_enter(block);
    uint32_t catcher = block_enter(block);
    block_put(block->builder,
              "<intermediateThrowEvent id='n%u'><messageEventDefinition messageRef='M%u'/>"
              "</intermediateThrowEvent>",
              thrower, thrower);
    block_put_root(block->builder,
                   "<message id='M%u' name='m%u'>" KEYED("request.peer") "</message>", thrower,
                   catcher);
    put_message_catch(block, catcher);
    block->builder->model->needs_peer = true;
}

/* Another execution begins with it, and lives a life of its own. */
void block_message_start(struct block *block)
{
    struct sim_model *model = block->builder->model;
    uint32_t thrower = block_enter(block);
    uint32_t before;
    if (model->begun_count == SIM_BEGUN_MAX) {
        block_put(block->builder, "<task id='n%u'/>", thrower);
        return;
    }
    block_put(block->builder,
              "<intermediateThrowEvent id='n%u'><messageEventDefinition messageRef='M%u'/>"
              "</intermediateThrowEvent>",
              thrower, thrower);
    put_message_root(block, thrower, "");
    uint32_t process = block_process_begin(block->builder, &before);
    struct block_exit at = {.node = block_node(block->builder)};
    block_put(block->builder,
              "<startEvent id='n%u'><messageEventDefinition messageRef='M%u'/></startEvent>",
              at.node, thrower);
    uint32_t end = block_node(block->builder);
    block_put_call(block, end, sim_chance(&block->random, 50) ? "serviceTask" : "sendTask");
    block_flow(block->builder, &at, end);
    block_process_end(block->builder, before);
    model->begun[model->begun_count++] =
        (struct sim_begun){.name = block_name(block->builder, "m%u", thrower),
                           .process = block_name(block->builder, "p%u", process)};
}

/* Beside the process stands another one, which a timer starts a few times: one in a model. */
void block_timer_start(struct block *block)
{
    struct sim_model *model = block->builder->model;
    uint32_t before;
    block_put(block->builder, "<task id='n%u'/>", block_enter(block));
    if (model->timed.count > 0) {
        return;
    }
    uint32_t seconds = sim_between(&block->random, 3, 60);
    model->timed.every_ms = seconds * 1000;
    model->timed.count = sim_between(&block->random, 1, 4);
    uint32_t process = block_process_begin(block->builder, &before);
    model->timed.process = block_name(block->builder, "p%u", process);
    struct block_exit at = {.node = block_node(block->builder)};
    block_put(block->builder,
              "<startEvent id='n%u'><timerEventDefinition><timeCycle>R%u/PT%uS</timeCycle>"
              "</timerEventDefinition></startEvent>",
              at.node, model->timed.count, seconds);
    uint32_t end = block_node(block->builder);
    block_put_call(block, end, "serviceTask");
    block_flow(block->builder, &at, end);
    block_process_end(block->builder, before);
}

/* Nobody answers the host: the message decides. */
void block_message_boundary(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    block_put_user(block, host, false);
    block_put(block->builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><messageEventDefinition "
              "messageRef='M%u'/></boundaryEvent>",
              boundary, host, boundary);
    put_message_root(block, boundary, KEYED("request.self"));
    (void)says(block, boundary, SIM_SAYS_MESSAGE);
    block_handle_and_merge(block, boundary);
}

/* A message, or a signal, interrupts what nobody answers. */
void block_message_handler(struct block *block)
{
    struct block_builder *builder = block->builder;
    bool message = sim_chance(&block->random, 60);
    uint32_t host = block_enter(block);
    uint32_t start = block_node(builder), handler = block_node(builder),
             heard = block_node(builder);
    block_put(builder, "<subProcess id='n%u'>", host);
    block_put_user(block, start, false);
    block_put(builder,
              message ? "<subProcess id='n%u' triggeredByEvent='true'><startEvent id='n%u'>"
                        "<messageEventDefinition messageRef='M%u'/></startEvent>"
                      : "<subProcess id='n%u' triggeredByEvent='true'><startEvent id='n%u'>"
                        "<signalEventDefinition signalRef='G%u'/></startEvent>",
              handler, heard, heard);
    struct block_exit at = {.node = heard};
    block_inside(block, &at, handler);
    block_put(builder, "</subProcess></subProcess>");
    if (message) {
        put_message_root(block, heard, KEYED("request.self"));
    } else {
        put_signal_root(block, heard);
    }
    (void)says(block, heard, message ? SIM_SAYS_MESSAGE : SIM_SAYS_SIGNAL);
}

/* ---- signals ---- */

void block_signal_catch(struct block *block)
{
    uint32_t node = block_enter(block);
    put_signal_catch(block, node);
    (void)says(block, node, SIM_SAYS_SIGNAL);
}

/* It may come too early for the catch; then the outside gives one too. */
void block_signal_throw(struct block *block)
{
    struct fork fork = begin_fork(block);
    uint32_t thrower = on_way(block, &fork.ways[0]);
    uint32_t catcher = on_way(block, &fork.ways[1]);
    block_put(block->builder,
              "<intermediateThrowEvent id='n%u'><signalEventDefinition signalRef='G%u'/>"
              "</intermediateThrowEvent>",
              thrower, catcher);
    put_signal_catch(block, catcher);
    says(block, catcher, SIM_SAYS_SIGNAL)->callback = SPAN_EMPTY;
    end_fork(block, &fork);
}

/* ---- event gateways ---- */

static void merge_ways(struct block *block, struct block_exit *ways, uint32_t count)
{
    uint32_t merge = block_node(block->builder);
    for (uint32_t i = 0; i < count; i++) {
        block_flow(block->builder, &ways[i], merge);
    }
    block_put(block->builder, "<exclusiveGateway id='n%u'/>", merge);
    *block->at = (struct block_exit){.node = merge};
}

/* One event can come: a message, a signal or a time; the others cannot. */
void block_event_gateway(struct block *block)
{
    uint32_t winner = sim_below(&block->random, 3);
    uint32_t gate = block_enter(block);
    block_put(block->builder, "<eventBasedGateway id='n%u'/>", gate);
    struct block_exit ways[3] = {{.node = gate}, {.node = gate}, {.node = gate}};
    uint32_t message = on_way(block, &ways[0]);
    uint32_t timer = on_way(block, &ways[1]);
    uint32_t signal = on_way(block, &ways[2]);
    put_message_catch(block, message);
    put_timer_catch(block, timer, winner == 1 ? "PT7S" : "P300D");
    put_signal_catch(block, signal);
    if (winner != 1) {
        (void)says(block, winner == 0 ? message : signal,
                   winner == 0 ? SIM_SAYS_MESSAGE : SIM_SAYS_SIGNAL);
    }
    merge_ways(block, ways, 3);
}

void block_event_gateway_race(struct block *block)
{
    uint32_t gate = block_enter(block);
    block_put(block->builder, "<eventBasedGateway id='n%u'/>", gate);
    struct block_exit ways[3] = {{.node = gate}, {.node = gate}, {.node = gate}};
    uint32_t message = on_way(block, &ways[0]);
    uint32_t timer = on_way(block, &ways[1]);
    uint32_t receiver = on_way(block, &ways[2]);
    put_message_catch(block, message);
    put_timer_catch(block, timer, "PT2S");
    block_put(block->builder, "<receiveTask id='n%u' messageRef='M%u'/>", receiver, receiver);
    put_message_root(block, receiver, KEYED("request.self"));
    (void)says(block, message, SIM_SAYS_MESSAGE);
    (void)says(block, receiver, SIM_SAYS_MESSAGE);
    merge_ways(block, ways, 3);
}

/* ---- conditions ---- */

/* A node that makes x<node> 1. */
static void put_setter(struct block *block, uint32_t node, uint32_t variable)
{
    block_put_call(block, node, "serviceTask")->reply =
        block_json(block->builder, "{\"execution\":{\"q%u\":1}}", variable);
}

void block_condition(struct block *block)
{
    struct fork fork = begin_fork(block);
    uint32_t setter = on_way(block, &fork.ways[0]);
    uint32_t catcher = on_way(block, &fork.ways[1]);
    put_setter(block, setter, catcher);
    block_put(block->builder,
              "<intermediateCatchEvent id='n%u'><conditionalEventDefinition><condition>=q%u = 1"
              "</condition></conditionalEventDefinition></intermediateCatchEvent>",
              catcher, catcher);
    end_fork(block, &fork);
}

void block_condition_boundary(struct block *block)
{
    struct block_builder *builder = block->builder;
    struct fork fork = begin_fork(block);
    uint32_t setter = on_way(block, &fork.ways[0]);
    uint32_t host = on_way(block, &fork.ways[1]);
    uint32_t boundary = block_node(builder), merge;
    put_setter(block, setter, host);
    block_put_user(block, host, false);
    block_put(builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><conditionalEventDefinition>"
              "<condition>=q%u = 1</condition></conditionalEventDefinition></boundaryEvent>",
              boundary, host, host);
    struct block_exit met = {.node = boundary};
    merge = block_node(builder);
    block_flow(builder, &met, merge);
    block_flow(builder, &fork.ways[1], merge);
    block_put(builder, "<exclusiveGateway id='n%u'/>", merge);
    end_fork(block, &fork);
}

/* ---- escalations ---- */

static uint32_t put_escalating(struct block *block, uint32_t host)
{
    uint32_t thrower = block_node(block->builder);
    struct block_exit inner = {.node = block_node(block->builder)};
    block_put_root(block->builder, "<escalation id='u%u' escalationCode='U%u'/>", host, host);
    block_put(block->builder, "<subProcess id='n%u'><startEvent id='n%u'/>", host, inner.node);
    block_flow(block->builder, &inner, thrower);
    block_put(block->builder,
              "<intermediateThrowEvent id='n%u'><escalationEventDefinition escalationRef='u%u'/>"
              "</intermediateThrowEvent>",
              thrower, host);
    block_inside(block, &inner, 0);
    return thrower;
}

/* The thrower goes on, and what the boundary event leads to runs beside it. */
void block_escalation_beside(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    uint32_t task = block_node(block->builder);
    struct block_exit told = {.node = boundary};
    (void)put_escalating(block, host);
    block_put(block->builder,
              "</subProcess><boundaryEvent id='n%u' attachedToRef='n%u' cancelActivity='false'>"
              "<escalationEventDefinition escalationRef='u%u'/></boundaryEvent>",
              boundary, host, host);
    block_flow(block->builder, &told, task);
    block_put(block->builder, "<task id='n%u'/>", task);
}

void block_escalation_handler(struct block *block)
{
    uint32_t host = block_enter(block);
    (void)put_escalating(block, host);
    uint32_t handler = block_node(block->builder);
    struct block_exit at = {.node = block_node(block->builder)};
    block_put(block->builder,
              "<subProcess id='n%u' triggeredByEvent='true'><startEvent id='n%u' "
              "isInterrupting='false'><escalationEventDefinition escalationRef='u%u'/>"
              "</startEvent>",
              handler, at.node, host);
    block_inside(block, &at, handler);
    block_put(block->builder, "</subProcess></subProcess>");
}

/* ---- racy ones ---- */

/* An answer, a message and a time are after the same task. */
void block_message_race(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    block_put_user(block, host, true);
    block_put(block->builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><messageEventDefinition "
              "messageRef='M%u'/></boundaryEvent>",
              boundary, host, boundary);
    put_message_root(block, boundary, KEYED("request.self"));
    (void)says(block, boundary, SIM_SAYS_MESSAGE);
    block_handle_and_merge(block, boundary);
}

void block_signal_race(struct block *block)
{
    uint32_t host = block_enter(block);
    uint32_t boundary = block_node(block->builder);
    block_put_user(block, host, true);
    block_put(block->builder,
              "<boundaryEvent id='n%u' attachedToRef='n%u'><signalEventDefinition "
              "signalRef='G%u'/></boundaryEvent>",
              boundary, host, boundary);
    put_signal_root(block, boundary);
    (void)says(block, boundary, SIM_SAYS_SIGNAL);
    block_handle_and_merge(block, boundary);
}

/* A message that it publishes itself begins something beside it, unless it is over by then (F80).
 */
void block_own_handler(struct block *block)
{
    struct block_builder *builder = block->builder;
    uint32_t host = block_enter(block);
    uint32_t thrower = block_node(builder), user = block_node(builder);
    uint32_t handler = block_node(builder), heard = block_node(builder), task = block_node(builder);
    struct block_exit at = {.node = thrower}, told = {.node = heard};
    block_put(builder,
              "<subProcess id='n%u'><intermediateThrowEvent id='n%u'><messageEventDefinition "
              "messageRef='M%u'/></intermediateThrowEvent>",
              host, thrower, heard);
    block_flow(builder, &at, user);
    block_put_user(block, user, true);
    block_put(builder,
              "<subProcess id='n%u' triggeredByEvent='true'><startEvent id='n%u' "
              "isInterrupting='false'><messageEventDefinition messageRef='M%u'/></startEvent>",
              handler, heard, heard);
    block_flow(builder, &told, task);
    block_put_call(block, task, "serviceTask");
    block_put(builder, "</subProcess></subProcess>");
    put_message_root(block, heard, KEYED("request.self"));
}
