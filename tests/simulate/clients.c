/*
 * clients.c: see clients.h. What a client wants to do it learns by looking at the execution as the
 * simulator knows it (tap.h), durable or not: a callback may come before its wait is stored. What
 * it holds the engine to is only what it was told.
 */
#include "tests/simulate/clients.h"

#include <stdio.h>

#include "engine/execution.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/model.h"
#include "tests/simulate/tap.h"

enum {
    REQUESTS_MAX = 512,
    LOOK_MS = 1500,
    RETRY_LEAST_MS = 4000,
    RETRY_MOST_MS = 15000,
    LATE_CALLBACKS_MAX = 2,
};

struct request {
    uint32_t client;
    enum proto_operation operation;
    struct span node_id; /* CALLBACK */
    struct span body;
    bool by_session;
    bool pending;
    bool after_start; /* it was first sent when the start had been acknowledged */
};

struct client {
    struct execution_id id;
    bool started;  /* it was told so */
    bool finished; /* it has seen the end */
    bool looks;    /* a look is on the calendar */
    bool by_session;
    uint32_t late_callbacks;
};

struct sim_clients {
    struct proto_sink sink;
    struct sim *sim;
    struct client clients[SIM_EXECUTIONS_MAX];
    uint32_t count;
    struct request requests[REQUESTS_MAX];
    uint32_t request_count;
};

static void send(struct sim *sim, uint32_t number);

/* ---- bodies ---- */

static void begin_body(struct sim *sim, struct wire_writer *writer, size_t *mark)
{
    wire_writer_init(writer, &sim->arena, 256);
    *mark = wire_open_map(writer);
}

static uint32_t common_pairs(struct sim *sim, struct wire_writer *writer, const char *request_id)
{
    uint32_t pairs = 1;
    wire_pair_text(writer, "requestId", request_id);
    if (sim_chance(&sim->schedule, 30)) {
        wire_pair_text(writer, "wait", "accepted");
        pairs++;
    }
    if (sim_fault(sim, SIM_TIMEOUT, 5)) {
        wire_pair_int(writer, "timeoutMs", sim_between(&sim->schedule, 10, 3000));
        pairs++;
    }
    return pairs;
}

static void session_name(const struct client *client, char out[LIMIT_ID_BYTES + 16])
{
    (void)snprintf(out, LIMIT_ID_BYTES + 16, "session-%s", client->id.text);
}

static struct span body_of(struct sim *sim, const struct request *request, uint32_t number)
{
    struct client *client = &sim->clients->clients[request->client];
    struct wire_writer writer;
    size_t mark;
    char name[LIMIT_ID_BYTES + 16], request_id[32];
    (void)snprintf(request_id, sizeof request_id, "request-%u", number);
    session_name(client, name);
    begin_body(sim, &writer, &mark);
    uint32_t pairs = common_pairs(sim, &writer, request_id) + 1;
    if (request->by_session) {
        wire_pair_text(&writer, "channelSessionId", name);
    } else {
        wire_pair_string(&writer, "executionId", execution_id_span(&client->id));
    }
    if (request->operation == PROTO_OP_START) {
        wire_pair_text(&writer, "process", "p0");
        wire_pair_value(&writer, "execution", sim->model->variables);
        pairs += 2;
        if (client->by_session) {
            wire_pair_text(&writer, "channelSessionId", name);
            pairs++;
        }
    } else if (request->operation == PROTO_OP_CALLBACK) {
        const struct sim_task *task = sim_model_task(sim->model, request->node_id);
        wire_pair_string(&writer, "taskId", request->node_id);
        wire_pair_value(&writer, "payload", task->callback);
        pairs += 2;
    }
    wire_close_map(&writer, mark, pairs);
    return wire_writer_span(&writer);
}

/* ---- out ---- */

static void deliver(struct sim *sim, struct proto_message *message, uint64_t number)
{
    const struct request *request = &sim->clients->requests[number];
    char name[LIMIT_ID_BYTES + 16];
    if (!sim->machine->running) {
        message_free(message); /* connection refused */
        return;
    }
    session_name(&sim->clients->clients[request->client], name);
    message->as.request.received_ms = sim->now.monotonic_ms;
    struct proto_sink *shard = sim_machine_owner(
        sim, request->by_session ? span_text(name)
                                 : execution_id_span(&message->as.request.execution_id));
    if (shard->send(shard, &message) != RESULT_OK) {
        message_free(message); /* Overloaded */
    }
}

static struct proto_message *message_of(struct sim *sim, uint32_t number)
{
    const struct request *request = &sim->clients->requests[number];
    struct proto_message *message = message_new(PROTO_REQUEST, request->body.count);
    ASSERT(message != NULL);
    message->as.request.operation = request->operation;
    message->as.request.body = message_keep(message, request->body);
    if (!request->by_session) {
        message->as.request.execution_id = sim->clients->clients[request->client].id;
    }
    message->reply_to = (struct proto_address){.sink = &sim->clients->sink, .ticket = number};
    return message;
}

static void retry(struct sim *sim, struct proto_message *message, uint64_t number)
{
    (void)message;
    if (sim->clients->requests[number].pending) {
        send(sim, (uint32_t)number);
    }
}

static void send(struct sim *sim, uint32_t number)
{
    struct request *request = &sim->clients->requests[number];
    if (!sim_fault(sim, SIM_LOST_REQUEST, 4)) {
        sim_later(sim, sim_below(&sim->schedule, 60), false, deliver, message_of(sim, number),
                  number);
    }
    if (sim_fault(sim, SIM_DOUBLED_REQUEST, 4)) {
        sim_later(sim, sim_below(&sim->schedule, 600), false, deliver, message_of(sim, number),
                  number);
    }
    if (request->pending) {
        sim_later(sim, sim_between(&sim->schedule, RETRY_LEAST_MS, RETRY_MOST_MS), false, retry,
                  NULL, number);
    }
}

static void ask(struct sim *sim, uint32_t client, enum proto_operation operation,
                struct span node_id)
{
    struct sim_clients *clients = sim->clients;
    ASSERT(clients->request_count < REQUESTS_MAX);
    uint32_t number = clients->request_count++;
    struct request *request = &clients->requests[number];
    *request = (struct request){.client = client,
                                .operation = operation,
                                .node_id = arena_copy(&sim->arena, node_id),
                                .pending = true,
                                .after_start = clients->clients[client].started};
    request->by_session = operation == PROTO_OP_CALLBACK && clients->clients[client].by_session &&
                          sim_chance(&sim->schedule, 50);
    request->body = body_of(sim, request, number);
    sim_trace(sim, "client %u: request-%u %s %.*s", client, number, proto_operation_name(operation),
              SPAN_ARG(node_id));
    send(sim, number);
}

/* ---- looking ---- */

static uint32_t pending_count(const struct sim *sim, uint32_t client,
                              enum proto_operation operation, struct span node_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->clients->request_count; i++) {
        const struct request *request = &sim->clients->requests[i];
        count += request->pending && request->client == client && request->operation == operation &&
                 span_equal(request->node_id, node_id);
    }
    return count;
}

static bool is_asked(const struct engine_token *token)
{
    return token->state == ENGINE_TOKEN_WAITING &&
           (token->wait == ENGINE_WAIT_CALLBACK || token->wait == ENGINE_WAIT_HUMAN);
}

static uint32_t waiting_at(const struct engine_execution *execution, struct span node_id)
{
    const struct engine_token *token = NULL;
    uint32_t count = 0;
    while ((token = engine_token_next(execution, token)) != NULL) {
        count += is_asked(token) && span_equal(engine_token_node(execution, token)->id, node_id);
    }
    return count;
}

static void answer_waits(struct sim *sim, uint32_t client, const struct engine_execution *execution)
{
    for (uint32_t i = 0; i < sim->model->task_count; i++) {
        const struct sim_task *task = &sim->model->tasks[i];
        if (!task->waits) {
            continue;
        }
        uint32_t waiting = waiting_at(execution, task->id);
        uint32_t pending = pending_count(sim, client, PROTO_OP_CALLBACK, task->id);
        for (; pending < waiting; pending++) {
            ask(sim, client, PROTO_OP_CALLBACK, task->id);
        }
        if (waiting > 0 && sim_fault(sim, SIM_SECOND_CALLBACK, 5)) {
            ask(sim, client, PROTO_OP_CALLBACK, task->id);
        }
    }
}

static void operate(struct sim *sim, uint32_t client, const struct engine_execution *execution)
{
    bool asked = pending_count(sim, client, PROTO_OP_SUSPEND, SPAN_EMPTY) > 0 ||
                 pending_count(sim, client, PROTO_OP_RESUME, SPAN_EMPTY) > 0;
    if (asked) {
        return;
    }
    if (execution->suspended) {
        ask(sim, client, PROTO_OP_RESUME, SPAN_EMPTY);
    } else if (sim->model->confluent && sim_fault(sim, SIM_SUSPEND, 3)) {
        ask(sim, client, PROTO_OP_SUSPEND, SPAN_EMPTY);
    }
}

static struct span any_waiting_task(struct sim *sim)
{
    const struct sim_model *model = sim->model;
    for (uint32_t tries = 0; tries < 4 && model->task_count > 0; tries++) {
        const struct sim_task *task = &model->tasks[sim_below(&sim->schedule, model->task_count)];
        if (task->waits) {
            return task->id;
        }
    }
    return SPAN_EMPTY;
}

static void see_the_end(struct sim *sim, uint32_t number)
{
    struct client *client = &sim->clients->clients[number];
    struct span node_id = any_waiting_task(sim);
    if (node_id.count > 0 && client->late_callbacks < LATE_CALLBACKS_MAX &&
        sim_fault(sim, SIM_LATE_CALLBACK, 20)) {
        client->late_callbacks++;
        ask(sim, number, PROTO_OP_CALLBACK, node_id);
    }
    if (client->started && pending_count(sim, number, PROTO_OP_GET, SPAN_EMPTY) == 0) {
        ask(sim, number, PROTO_OP_GET, SPAN_EMPTY);
    }
}

static void look(struct sim *sim, struct proto_message *message, uint64_t number)
{
    (void)message;
    struct client *client = &sim->clients->clients[number];
    const struct engine_execution *execution = sim_tap_shadow(sim, (uint32_t)number);
    client->looks = false;
    if (execution == NULL || client->finished) {
        return;
    }
    if (execution->end != ENGINE_END_NONE) {
        see_the_end(sim, (uint32_t)number);
        return;
    }
    operate(sim, (uint32_t)number, execution);
    answer_waits(sim, (uint32_t)number, execution);
}

void sim_clients_notice(struct sim *sim, uint32_t execution)
{
    ASSERT(execution < sim->clients->count);
    struct client *client = &sim->clients->clients[execution];
    if (!client->looks && !client->finished) {
        client->looks = true;
        sim_later(sim, sim_below(&sim->schedule, LOOK_MS), false, look, NULL, execution);
    }
}

/* ---- what they are told ---- */

/* Not an answer yet: the request goes on, or was not taken. */
static bool is_no_answer(struct span code)
{
    return span_is(code, "Timeout") || span_is(code, "Overloaded") ||
           span_is(code, "StorageFailed");
}

/* What the engine may say for good; anything else breaks a promise. */
static const struct {
    enum proto_operation operation;
    const char *code;
} legal_refusals[] = {
    {PROTO_OP_CALLBACK, "NotWaiting"},       {PROTO_OP_CALLBACK, "AlreadyFinished"},
    {PROTO_OP_SUSPEND, "InvalidTransition"}, {PROTO_OP_SUSPEND, "AlreadyFinished"},
    {PROTO_OP_RESUME, "InvalidTransition"},  {PROTO_OP_RESUME, "AlreadyFinished"},
};

static bool is_legal_refusal(const struct request *request, struct span code)
{
    if (span_is(code, "SessionNotFound")) {
        return request->by_session ||
               (request->operation != PROTO_OP_START && !request->after_start);
    }
    for (size_t i = 0; i < sizeof legal_refusals / sizeof legal_refusals[0]; i++) {
        if (request->operation == legal_refusals[i].operation &&
            span_is(code, legal_refusals[i].code)) {
            return true;
        }
    }
    return false;
}

/* A get that was overtaken says an older state; the end, once told, is the end. */
static void check_seen(struct sim *sim, uint32_t client, struct span body)
{
    const struct engine_execution *execution = sim_tap_shadow(sim, client);
    int64_t sequence = wire_int_or(wire_find_text(body, "sequence"), -1);
    int64_t state = wire_int_or(wire_find_text(body, "state"), 0);
    struct engine_view view;
    if ((state & ENGINE_STATE_STOPPED) == 0) {
        return;
    }
    if (execution == NULL) {
        sim_fail(sim, "execution %u is told to have ended, and was never seen", client);
        return;
    }
    engine_look(execution, &view);
    if (!view.ended || sequence != view.sequence || state != view.state) {
        sim_fail(sim, "get says that it ended with step %lld, state %lld; it is at %u, %u",
                 (long long)sequence, (long long)state, view.sequence, view.state);
    }
    sim->clients->clients[client].finished = true;
}

static void hear_refusal(struct sim *sim, struct request *request, uint32_t number,
                         struct span error)
{
    struct span code = wire_string_or(wire_find_text(error, "code"), "");
    sim_trace(sim, "client %u: request-%u is refused: %.*s", request->client, number,
              SPAN_ARG(code));
    if (is_no_answer(code)) {
        return;
    }
    if (!is_legal_refusal(request, code)) {
        sim_fail(sim, "request-%u (%s %.*s) is refused: %.*s: %.*s", number,
                 proto_operation_name(request->operation), SPAN_ARG(request->node_id),
                 SPAN_ARG(code), SPAN_ARG(wire_string_or(wire_find_text(error, "message"), "")));
    }
    request->pending = false;
    sim_clients_notice(sim, request->client);
}

static void hear(struct sim *sim, struct proto_message *reply, uint64_t number)
{
    struct request *request = &sim->clients->requests[number];
    struct span body = reply->as.reply.body;
    if (!request->pending) {
        message_free(reply);
        return;
    }
    if (!reply->as.reply.ok) {
        hear_refusal(sim, request, (uint32_t)number, wire_find_text(body, "error"));
    } else {
        struct client *client = &sim->clients->clients[request->client];
        sim_trace(sim, "client %u: request-%u is done", request->client, (uint32_t)number);
        request->pending = false;
        client->started = client->started || request->operation == PROTO_OP_START;
        if (request->operation == PROTO_OP_GET) {
            check_seen(sim, request->client, body);
        }
        sim_clients_notice(sim, request->client);
    }
    message_free(reply);
}

static enum result take_reply(struct proto_sink *self, struct proto_message **message)
{
    struct sim *sim = ((struct sim_clients *)self)->sim;
    struct proto_message *reply = *message;
    *message = NULL;
    ASSERT(reply->type == PROTO_REPLY);
    if (!sim_machine_effect(sim)) {
        message_free(reply);
        return RESULT_OK;
    }
    sim_tap_reply_leaves(sim, &reply->as.reply);
    if (sim_fault(sim, SIM_LOST_ANSWER, 4)) {
        message_free(reply);
        return RESULT_OK;
    }
    uint64_t number = reply->reply_to.ticket;
    sim_later(sim, sim_below(&sim->schedule, 50), false, hear, reply, number);
    return RESULT_OK;
}

/* ---- life ---- */

void sim_clients_init(struct sim *sim)
{
    struct sim_random random = sim_random_of(sim->options.seed, 3);
    struct sim_clients *clients = arena_zero(&sim->arena, sizeof *clients);
    ASSERT(clients != NULL);
    clients->sink.send = take_reply;
    clients->sim = sim;
    clients->count = sim_chance(&random, 30) ? SIM_EXECUTIONS_MAX : 1;
    for (uint32_t i = 0; i < clients->count; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "x%u-%llu", i, (unsigned long long)sim->options.seed);
        enum result result = execution_id_parse(span_text(id), &clients->clients[i].id);
        ASSERT(result == RESULT_OK);
        clients->clients[i].by_session = sim_chance(&random, 30);
        sim_tap_track(sim, clients->clients[i].id);
    }
    sim->clients = clients;
}

void sim_clients_start(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        ask(sim, i, PROTO_OP_START, SPAN_EMPTY);
        struct span node_id = any_waiting_task(sim);
        if (node_id.count > 0 && sim_fault(sim, SIM_EARLY_CALLBACK, 25)) {
            ask(sim, i, PROTO_OP_CALLBACK, node_id);
        }
    }
}

bool sim_clients_are_done(const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        if (!sim->clients->clients[i].finished) {
            return false;
        }
    }
    return true;
}

uint32_t sim_clients_count(const struct sim *sim)
{
    return sim->clients->count;
}

struct span sim_clients_story(struct sim *sim)
{
    struct span story = SPAN_EMPTY;
    for (uint32_t i = 0; i < sim->clients->request_count; i++) {
        const struct request *request = &sim->clients->requests[i];
        if (request->pending) {
            story =
                arena_format(&sim->arena, "%.*s request-%u %s %.*s is open;", SPAN_ARG(story), i,
                             proto_operation_name(request->operation), SPAN_ARG(request->node_id));
        }
    }
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        const struct engine_execution *execution = sim_tap_shadow(sim, i);
        const struct engine_token *token = NULL;
        while (execution != NULL && (token = engine_token_next(execution, token)) != NULL) {
            story = arena_format(&sim->arena, "%.*s x%u: token %u in %.*s, state %u, wait %u;",
                                 SPAN_ARG(story), i, token->slot.id,
                                 SPAN_ARG(engine_token_node(execution, token)->id), token->state,
                                 token->wait);
        }
    }
    return story;
}
