/*
 * wishes.c: what clients want when they look at their execution: to answer what waits, to send what
 * is listened for, to operate. See clients_state.h.
 */
#include "engine/execution.h"
#include "engine/listen.h"
#include "tests/simulate/clients_state.h"
#include "tests/simulate/deploy.h"
#include "tests/simulate/letters.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/tap.h"

enum {
    LATE_CALLBACKS_MAX = 2,
    CROSSING_MOST_MS = 40000, /* a timer that is further away is not aimed at */
    SHORT_TTL_MOST_MS = 4000,
    LONG_TTL_MS = 3 * 60 * 60 * 1000,
    SIGNAL_MOST_MS = 30000, /* whoever was told to wait has it by then */
};

static void ask(struct sim *sim, uint32_t client, enum proto_operation operation,
                struct span node_id)
{
    (void)sim_client_ask(sim, client,
                         &(struct sim_asking){.operation = operation, .node_id = node_id});
}

/* ---- answering ---- */

static bool is_asked(const struct engine_token *token)
{
    return token->state == ENGINE_TOKEN_WAITING &&
           (token->wait == ENGINE_WAIT_CALLBACK || token->wait == ENGINE_WAIT_HUMAN);
}

/* *due_ms: of the earliest timer on one of them, or ENGINE_NO_DUE. */
static uint32_t waiting_at(const struct engine_execution *execution, struct span node_id,
                           int64_t *due_ms)
{
    const struct engine_token *token = NULL;
    uint32_t count = 0;
    *due_ms = ENGINE_NO_DUE;
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (!is_asked(token) || !span_equal(engine_token_node(execution, token)->id, node_id)) {
            continue;
        }
        count++;
        for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            *due_ms = timer->due_ms < *due_ms ? timer->due_ms : *due_ms;
        }
    }
    return count;
}

/* At the very moment of the timer, or when it likes. */
static uint64_t aim(struct sim *sim, int64_t due_ms)
{
    int64_t left_ms = due_ms == ENGINE_NO_DUE ? 0 : due_ms - sim->now.unix_ms;
    bool aims = left_ms > 0 && left_ms < CROSSING_MOST_MS && sim_fault(sim, SIM_CROSSING, 40);
    return aims ? sim->now.monotonic_ms + (uint64_t)left_ms : 0;
}

static void answer_waits(struct sim *sim, uint32_t client, const struct engine_execution *execution)
{
    for (uint32_t i = 0; i < sim->model->task_count; i++) {
        const struct sim_task *task = &sim->model->tasks[i];
        int64_t due_ms;
        if (!task->waits) {
            continue;
        }
        uint32_t waiting = waiting_at(execution, task->id, &due_ms);
        uint32_t pending = sim_client_pending(sim, client, PROTO_OP_CALLBACK, task->id);
        struct sim_asking asking = {.operation = PROTO_OP_CALLBACK, .node_id = task->id};
        for (; pending < waiting; pending++) {
            asking.aimed_ms = aim(sim, due_ms);
            (void)sim_client_ask(sim, client, &asking);
        }
        if (waiting > 0 && sim_fault(sim, SIM_SECOND_CALLBACK, 8)) {
            (void)sim_client_ask(sim, client, &asking);
        }
    }
}

/* ---- messages ---- */

/* The step of the token that listens for the task's event; *count: how many do. */
static uint32_t listener_of(const struct engine_execution *execution, const struct sim_task *task,
                            uint32_t *count)
{
    const struct engine_token *token = NULL;
    uint32_t found = 0;
    while ((token = engine_token_next(execution, token)) != NULL) {
        const struct engine_process *process = engine_scope_find(execution, token->scope)->process;
        for (ENGINE_EACH(const struct engine_subscription, one, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (span_equal(process->nodes[one->node].id, task->id) &&
                engine_listen_is_open(execution, token, one)) {
                found = sim_step_of(execution, token);
                ++*count;
            }
        }
    }
    return found;
}

/* In this execution, or in all that such a message could reach. */
static uint32_t listeners(struct sim *sim, uint32_t client, const struct sim_task *task)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim_clients_count(sim); i++) {
        const struct engine_execution *execution = sim_tap_shadow(sim, i);
        bool may = execution != NULL && execution->end == ENGINE_END_NONE;
        if (may && (i == client || !task->keyed)) {
            (void)listener_of(execution, task, &count);
        }
    }
    return count;
}

/* Messages of the outside that will find a listener, or are with their keeper. */
static uint32_t messages_under_way(struct sim *sim, uint32_t client, const struct sim_task *task)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->clients->request_count; i++) {
        const struct sim_request *request = &sim->clients->requests[i];
        struct span id = execution_id_span(&request->news_id);
        bool its = request->operation == PROTO_OP_MESSAGE &&
                   span_equal(request->node_id, task->id) &&
                   (request->client == client || !task->keyed);
        if (its && request->done && !sim_letters_know(sim, id)) {
            sim_fail(sim, "request-%u was told that its message is published; there is none", i);
        }
        count += its && (sim_letters_know(sim, id) ? sim_letters_wait(sim, id) : request->pending);
    }
    return count;
}

static void send_message(struct sim *sim, uint32_t client, const struct sim_task *task)
{
    struct sim_asking asking = {
        .operation = PROTO_OP_MESSAGE, .node_id = task->id, .ttl_ms = LONG_TTL_MS};
    if (sim_fault(sim, SIM_SHORT_LIVED, 10)) {
        asking.ttl_ms = sim_below(&sim->schedule, SHORT_TTL_MOST_MS);
    }
    (void)sim_client_ask(sim, client, &asking);
}

/* ---- signals ---- */

static uint32_t told_step(const struct sim *sim, const struct sim_client *client,
                          struct span node_id)
{
    for (uint32_t i = 0; i < client->told_count; i++) {
        const struct sim_told *told = &client->told[i];
        if (told->boot == sim->machine->boot && span_equal(told->node_id, node_id)) {
            return told->step;
        }
    }
    return 0;
}

/* The newest of its signals to this event. */
static const struct sim_request *last_signal(const struct sim *sim, uint32_t client,
                                             const struct sim_task *task)
{
    for (uint32_t i = sim->clients->request_count; i > 0; i--) {
        const struct sim_request *request = &sim->clients->requests[i - 1];
        if (request->client == client && request->operation == PROTO_OP_SIGNAL &&
            span_equal(request->node_id, task->id)) {
            return request;
        }
    }
    return NULL;
}

/* A signal is for those who listen: it is sent again to who began to too late, and to who has lost
 * it in a death; anybody else has it by now. */
static void send_signal(struct sim *sim, uint32_t client, const struct sim_task *task,
                        uint32_t step)
{
    const struct sim_request *last = last_signal(sim, client, task);
    uint64_t now_ms = sim->now.monotonic_ms;
    if (last != NULL && (last->pending || now_ms < last->answered_ms + SIGNAL_MOST_MS)) {
        return;
    }
    /* (What has failed meanwhile did not listen until it was repaired.) */
    bool listened = !sim->clients->clients[client].operated;
    if (last != NULL && step != 0 && last->step == step && last->boot == sim->machine->boot &&
        listened) {
        sim_fail(sim, "step %u in %.*s was told to wait, and a signal has not reached it", step,
                 SPAN_ARG(task->id));
    }
    sim_client_ask(sim, client,
                   &(struct sim_asking){.operation = PROTO_OP_SIGNAL, .node_id = task->id})
        ->step = told_step(sim, &sim->clients->clients[client], task->id);
}

static void say(struct sim *sim, uint32_t client, const struct engine_execution *execution)
{
    for (uint32_t i = 0; i < sim->model->task_count; i++) {
        const struct sim_task *task = &sim->model->tasks[i];
        uint32_t count = 0;
        uint32_t step = task->says == SIM_SAYS_NOTHING ? 0 : listener_of(execution, task, &count);
        if (count > 0 && task->says == SIM_SAYS_SIGNAL) {
            send_signal(sim, client, task, step);
        } else if (count > 0) {
            uint32_t wanted = listeners(sim, client, task);
            for (uint32_t k = messages_under_way(sim, client, task); k < wanted; k++) {
                send_message(sim, client, task);
            }
        }
    }
}

/* ---- operating ---- */

static bool may_operate(const struct sim *sim, const struct sim_client *client)
{
    return sim->model->confluent && !sim->model->needs_peer && client->operations_left > 0;
}

/* True: it has been, or is being, or shall be deleted. */
static bool deletes(struct sim *sim, uint32_t number)
{
    struct sim_client *client = &sim->clients->clients[number];
    if (client->deleted || sim_client_pending(sim, number, PROTO_OP_DELETE, SPAN_EMPTY) > 0) {
        return true;
    }
    bool may = client->started && !sim->model->needs_peer;
    if (may && sim_fault(sim, SIM_DELETE, 2)) {
        ask(sim, number, PROTO_OP_DELETE, SPAN_EMPTY);
        return true;
    }
    return false;
}

/* To the second version, once that is there. */
static void migrate(struct sim *sim, uint32_t number, const struct engine_execution *execution)
{
    struct sim_client *client = &sim->clients->clients[number];
    client->migrates = client->migrates || (sim->model->next.count > 0 && client->started &&
                                            sim_fault(sim, SIM_MIGRATE, 8));
    if (client->migrates && execution->process->version == 1 && sim_deploy_next(sim) &&
        sim_client_pending(sim, number, PROTO_OP_MIGRATE, SPAN_EMPTY) == 0) {
        ask(sim, number, PROTO_OP_MIGRATE, SPAN_EMPTY);
    }
}

static void operate(struct sim *sim, uint32_t number, const struct engine_execution *execution)
{
    struct sim_client *client = &sim->clients->clients[number];
    bool asked = sim_client_pending(sim, number, PROTO_OP_SUSPEND, SPAN_EMPTY) > 0 ||
                 sim_client_pending(sim, number, PROTO_OP_RESUME, SPAN_EMPTY) > 0 ||
                 sim_client_pending(sim, number, PROTO_OP_ABORT, SPAN_EMPTY) > 0;
    if (asked) {
        return;
    }
    if (execution->suspended) {
        ask(sim, number, PROTO_OP_RESUME, SPAN_EMPTY);
    } else if (sim->model->confluent && sim_fault(sim, SIM_SUSPEND, 3)) {
        ask(sim, number, PROTO_OP_SUSPEND, SPAN_EMPTY);
    } else if (may_operate(sim, client) && sim_fault(sim, SIM_ABORT, 12)) {
        client->operations_left--;
        client->operated = true;
        ask(sim, number, PROTO_OP_ABORT, SPAN_EMPTY);
    }
}

bool sim_client_is_broken(const struct sim *sim, const struct engine_execution *execution)
{
    const struct sim_task *task = execution->end == ENGINE_END_FAILED
                                      ? sim_model_task(sim->model, execution->error_task)
                                      : NULL;
    return task != NULL && task->broken.count > 0;
}

/* What has failed is repaired; what was aborted, or has ended, may begin anew. True: it goes on. */
static bool revive(struct sim *sim, uint32_t number, const struct engine_execution *execution)
{
    struct sim_client *client = &sim->clients->clients[number];
    enum proto_operation verb = PROTO_OP_NONE;
    if (sim_client_is_broken(sim, execution)) {
        client->repaired = true;
        verb = PROTO_OP_RETRY;
    } else if (execution->end == ENGINE_END_ABORTED && !client->given_up) {
        client->given_up = sim_chance(&sim->schedule, 30);
        verb = client->given_up ? PROTO_OP_NONE : PROTO_OP_RESTART;
    } else if (execution->end == ENGINE_END_COMPLETED && may_operate(sim, client) &&
               sim_fault(sim, SIM_RESTART, 40)) {
        client->operations_left--;
        verb = PROTO_OP_RESTART;
    }
    if (verb == PROTO_OP_NONE) {
        return false;
    }
    client->operated = true;
    if (sim_client_pending(sim, number, verb, SPAN_EMPTY) == 0) {
        ask(sim, number, verb, SPAN_EMPTY);
    }
    return true;
}

/* ---- looking ---- */

static struct span any_task(struct sim *sim, bool (*fits)(const struct sim_task *task))
{
    const struct sim_model *model = sim->model;
    for (uint32_t tries = 0; tries < 4 && model->task_count > 0; tries++) {
        const struct sim_task *task = &model->tasks[sim_below(&sim->schedule, model->task_count)];
        if (fits(task)) {
            return task->id;
        }
    }
    return SPAN_EMPTY;
}

static bool waits(const struct sim_task *task)
{
    return task->waits;
}

static bool hears(const struct sim_task *task)
{
    return task->says == SIM_SAYS_MESSAGE;
}

static void see_the_end(struct sim *sim, uint32_t number, const struct engine_execution *execution)
{
    struct sim_client *client = &sim->clients->clients[number];
    struct span node_id = any_task(sim, waits);
    if (node_id.count > 0 && client->late_callbacks < LATE_CALLBACKS_MAX &&
        sim_fault(sim, SIM_LATE_CALLBACK, 20)) {
        client->late_callbacks++;
        ask(sim, number, PROTO_OP_CALLBACK, node_id);
    }
    if (revive(sim, number, execution)) {
        return;
    }
    if (client->started && sim_client_pending(sim, number, PROTO_OP_GET, SPAN_EMPTY) == 0) {
        ask(sim, number, PROTO_OP_GET, SPAN_EMPTY);
    }
}

void sim_client_look(struct sim *sim, struct proto_message *message, uint64_t number)
{
    (void)message;
    struct sim_client *client = &sim->clients->clients[number];
    const struct engine_execution *execution = sim_tap_shadow(sim, (uint32_t)number);
    client->looks = false;
    if (client->deleted && !client->finished &&
        sim_client_pending(sim, (uint32_t)number, PROTO_OP_GET, SPAN_EMPTY) == 0) {
        ask(sim, (uint32_t)number, PROTO_OP_GET, SPAN_EMPTY); /* it must not be found */
    }
    if (execution == NULL || client->finished || client->adopted ||
        deletes(sim, (uint32_t)number)) {
        return;
    }
    if (execution->end != ENGINE_END_NONE) {
        see_the_end(sim, (uint32_t)number, execution);
        return;
    }
    operate(sim, (uint32_t)number, execution);
    migrate(sim, (uint32_t)number, execution);
    answer_waits(sim, (uint32_t)number, execution);
    say(sim, (uint32_t)number, execution);
}

void sim_client_begin(struct sim *sim, uint32_t number)
{
    struct span node_id = any_task(sim, waits);
    if (node_id.count > 0 && sim_fault(sim, SIM_EARLY_CALLBACK, 25)) {
        ask(sim, number, PROTO_OP_CALLBACK, node_id);
    }
    node_id = any_task(sim, hears);
    if (node_id.count > 0 && sim_fault(sim, SIM_EARLY_MESSAGE, 50)) {
        send_message(sim, number, sim_model_task(sim->model, node_id));
    }
}
