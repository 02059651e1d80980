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
#include "tests/simulate/clients_state.h"
#include "tests/simulate/foreign.h"
#include "tests/simulate/letters.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/model.h"
#include "tests/simulate/tap.h"
#include "tests/simulate/ticks.h"

enum {
    LOOK_MS = 1500,
    RETRY_LEAST_MS = 4000,
    RETRY_MOST_MS = 15000,
    NEWS_AGAIN_MS = 31000, /* a client looks again whether what it has sent has come */
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

static void session_name(const struct sim_client *client, char out[LIMIT_ID_BYTES + 16])
{
    (void)snprintf(out, LIMIT_ID_BYTES + 16, "session-%s", client->id.text);
}

static bool is_news(enum proto_operation operation)
{
    return operation == PROTO_OP_MESSAGE || operation == PROTO_OP_SIGNAL;
}

/* The other one, or itself when it is alone. */
static const struct execution_id *peer_of(const struct sim *sim, uint32_t client)
{
    return &sim->clients->clients[(client + 1) % sim->clients->root_count].id;
}

static struct span news_body(struct sim *sim, const struct sim_request *request,
                             const char *request_id, struct wire_writer *writer, size_t mark)
{
    const struct sim_task *task = sim_model_task(sim->model, request->node_id);
    uint32_t pairs = 2;
    wire_pair_text(writer, "requestId", request_id);
    wire_pair_string(writer, "name", task->name);
    if (task->callback.count > 0) {
        wire_pair_value(writer, "payload", task->callback);
        pairs++;
    }
    if (task->keyed) {
        wire_pair_string(writer, "correlationKey",
                         execution_id_span(&sim->clients->clients[request->client].id));
        pairs++;
    }
    if (request->operation == PROTO_OP_MESSAGE) {
        wire_pair_int(writer, "ttlMs", request->ttl_ms);
        pairs++;
    }
    wire_close_map(writer, mark, pairs);
    return wire_writer_span(writer);
}

static uint32_t foreign_pairs(const struct sim_client *client, struct wire_writer *writer)
{
    if (client->foreign.count == 0) {
        return 0;
    }
    wire_pair_value(writer, "active", wire_find_text(client->foreign, "active"));
    wire_pair_value(writer, "passed", wire_find_text(client->foreign, "passed"));
    /* Its nodes and edges are of the first; a repeat may come when there is another. */
    wire_pair_int(writer, "version", 1);
    return 3;
}

static struct span body_of(struct sim *sim, const struct sim_request *request, uint32_t number)
{
    struct sim_client *client = &sim->clients->clients[request->client];
    struct wire_writer writer;
    size_t mark;
    char name[LIMIT_ID_BYTES + 16], request_id[32];
    (void)snprintf(request_id, sizeof request_id, "request-%u", number);
    session_name(client, name);
    begin_body(sim, &writer, &mark);
    if (is_news(request->operation)) {
        return news_body(sim, request, request_id, &writer, mark);
    }
    uint32_t pairs = common_pairs(sim, &writer, request_id) + 1;
    if (request->by_session) {
        wire_pair_text(&writer, "channelSessionId", name);
    } else {
        wire_pair_string(&writer, "executionId", execution_id_span(&client->id));
    }
    if (request->operation == PROTO_OP_START || request->operation == PROTO_OP_IMPORT) {
        wire_pair_text(&writer, "process", "p0");
        wire_pair_value(&writer, "execution",
                        client->foreign.count == 0 ? sim->model->variables
                                                   : wire_find_text(client->foreign, "execution"));
        wire_write_text(&writer, "request");
        wire_write_map(&writer, 2);
        wire_pair_string(&writer, "self", execution_id_span(&client->id));
        wire_pair_string(&writer, "peer", execution_id_span(peer_of(sim, request->client)));
        pairs += 3;
        if (client->by_session) {
            wire_pair_text(&writer, "channelSessionId", name);
            pairs++;
        }
        pairs += foreign_pairs(client, &writer);
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
    const struct sim_request *request = &sim->clients->requests[number];
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
    const struct sim_request *request = &sim->clients->requests[number];
    struct proto_message *message = message_new(PROTO_REQUEST, request->body.count);
    ASSERT(message != NULL);
    message->as.request.operation = request->operation;
    message->as.request.body = message_keep(message, request->body);
    if (is_news(request->operation)) {
        message->as.request.execution_id = request->news_id;
    } else if (!request->by_session) {
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
    struct sim_request *request = &sim->clients->requests[number];
    if (!sim_fault(sim, SIM_LOST_REQUEST, 4)) {
        uint64_t now_ms = sim->now.monotonic_ms;
        uint64_t delay_ms =
            request->aimed_ms > now_ms ? request->aimed_ms - now_ms : sim_below(&sim->schedule, 60);
        sim_later(sim, delay_ms, false, deliver, message_of(sim, number), number);
    }
    if (sim_fault(sim, SIM_DOUBLED_REQUEST, 4)) {
        sim_later(sim, sim_below(&sim->schedule, 600), false, deliver, message_of(sim, number),
                  number);
        request->copies++;
    }
    request->copies++;
    if (request->pending) {
        sim_later(sim, sim_between(&sim->schedule, RETRY_LEAST_MS, RETRY_MOST_MS), false, retry,
                  NULL, number);
    }
}

/* As the router names it (actors/router.c). */
static void name_news(struct sim_request *request, uint32_t number)
{
    char request_id[32];
    (void)snprintf(request_id, sizeof request_id, "request-%u", number);
    request->news_id.count = UUID_TEXT_BYTES;
    uuid_format(uuid_v5(span_text("default"), span_text(request_id)), request->news_id.text);
}

struct sim_request *sim_client_ask(struct sim *sim, uint32_t client,
                                   const struct sim_asking *asking)
{
    struct sim_clients *clients = sim->clients;
    ASSERT(clients->request_count < SIM_REQUESTS_MAX);
    uint32_t number = clients->request_count++;
    struct sim_request *request = &clients->requests[number];
    *request = (struct sim_request){.client = client,
                                    .operation = asking->operation,
                                    .node_id = arena_copy(&sim->arena, asking->node_id),
                                    .aimed_ms = asking->aimed_ms,
                                    .ttl_ms = asking->ttl_ms,
                                    .boot = sim->machine->boot,
                                    .pending = true,
                                    .after_start = clients->clients[client].started,
                                    .after_delete = clients->clients[client].deleted};
    request->by_session = asking->operation == PROTO_OP_CALLBACK &&
                          clients->clients[client].by_session && sim_chance(&sim->schedule, 50);
    if (is_news(asking->operation)) {
        name_news(request, number);
    }
    request->body = body_of(sim, request, number);
    sim_trace(sim, "client %u: request-%u %s %.*s", client, number,
              proto_operation_name(request->operation), SPAN_ARG(request->node_id));
    send(sim, number);
    return request;
}

uint32_t sim_client_pending(const struct sim *sim, uint32_t client, enum proto_operation operation,
                            struct span node_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->clients->request_count; i++) {
        const struct sim_request *request = &sim->clients->requests[i];
        count += request->pending && request->client == client && request->operation == operation &&
                 span_equal(request->node_id, node_id);
    }
    return count;
}

/* ---- noticing ---- */

void sim_clients_notice(struct sim *sim, uint32_t execution)
{
    ASSERT(execution < sim->clients->count);
    struct sim_client *client = &sim->clients->clients[execution];
    if (!client->looks && !client->finished) {
        client->looks = true;
        sim_later(sim, sim_below(&sim->schedule, LOOK_MS), false, sim_client_look, NULL, execution);
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
    {PROTO_OP_ABORT, "InvalidTransition"},   {PROTO_OP_RETRY, "InvalidTransition"},
    {PROTO_OP_RESTART, "InvalidTransition"}, {PROTO_OP_MIGRATE, "InvalidTransition"},
    {PROTO_OP_MIGRATE, "AlreadyFinished"},
};

/* Of an execution that an operator deletes, or has deleted. */
static bool is_legal_of_deleted(const struct sim *sim, const struct sim_request *request,
                                struct span code)
{
    bool deleted = sim->clients->clients[request->client].deleted ||
                   sim_client_pending(sim, request->client, PROTO_OP_DELETE, SPAN_EMPTY) > 0;
    return deleted && request->operation != PROTO_OP_DELETE &&
           (span_is(code, "SessionNotFound") || span_is(code, "Aborted"));
}

static bool is_legal_refusal(struct sim *sim, const struct sim_request *request, struct span code)
{
    if (is_legal_of_deleted(sim, request, code)) {
        return true;
    }
    if (span_is(code, "SessionNotFound")) {
        return request->by_session ||
               (request->operation != PROTO_OP_START && request->operation != PROTO_OP_IMPORT &&
                !request->after_start);
    }
    if (request->operation == PROTO_OP_MIGRATE && span_is(code, "InvalidRequest")) {
        const struct engine_execution *execution = sim_tap_shadow(sim, request->client);
        return execution != NULL && execution->process->version == 2; /* it runs it already */
    }
    for (size_t i = 0; i < sizeof legal_refusals / sizeof legal_refusals[0]; i++) {
        if (request->operation == legal_refusals[i].operation &&
            span_is(code, legal_refusals[i].code)) {
            return true;
        }
    }
    return false;
}

/* An operator's verb is under way that may begin it anew. */
static bool is_operated(const struct sim *sim, uint32_t client)
{
    return sim_client_pending(sim, client, PROTO_OP_RESTART, SPAN_EMPTY) > 0 ||
           sim_client_pending(sim, client, PROTO_OP_RETRY, SPAN_EMPTY) > 0 ||
           sim_client_pending(sim, client, PROTO_OP_ABORT, SPAN_EMPTY) > 0;
}

/* The step that waits at that node now, or 0. */
static uint32_t step_at(const struct engine_execution *execution, struct span node_id)
{
    const struct engine_token *token = NULL;
    while (execution != NULL && (token = engine_token_next(execution, token)) != NULL) {
        if (token->state == ENGINE_TOKEN_WAITING &&
            span_equal(engine_token_node(execution, token)->id, node_id)) {
            return sim_step_of(execution, token);
        }
    }
    return 0;
}

/* Whom a reply names as waiting, its keepers know of (actors/README.md). */
static void note_told(struct sim *sim, uint32_t number, struct span body)
{
    struct sim_client *client = &sim->clients->clients[number];
    struct wire_map_walk walk = wire_array_begin(wire_find_text(body, "waiting"));
    struct span waiting;
    client->told_count = 0;
    while (wire_array_next(&walk, &waiting) && client->told_count < SIM_TOLD_MAX) {
        struct span node_id = wire_string_or(wire_find_text(waiting, "taskId"), "");
        client->told[client->told_count++] =
            (struct sim_told){.node_id = arena_copy(&sim->arena, node_id),
                              .step = step_at(sim_tap_shadow(sim, number), node_id),
                              .boot = sim->machine->boot};
    }
}

static void look_again(struct sim *sim, struct proto_message *message, uint64_t number)
{
    (void)message;
    (void)number;
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        sim_clients_notice(sim, i); /* what one has sent may have been for the other */
    }
}

/* A get that was overtaken says an older state; the end, once told, is the end. */
static void check_seen(struct sim *sim, const struct sim_request *request, struct span body)
{
    uint32_t client = request->client;
    const struct engine_execution *execution = sim_tap_shadow(sim, client);
    int64_t sequence = wire_int_or(wire_find_text(body, "sequence"), -1);
    int64_t state = wire_int_or(wire_find_text(body, "state"), 0);
    struct engine_view view;
    if (request->after_delete) {
        sim_fail(sim, "execution %u was told to be deleted, and is seen", client);
        return;
    }
    if ((state & ENGINE_STATE_STOPPED) == 0 ||
        sim_tap_is_deleted(sim, execution_id_span(&sim->clients->clients[client].id))) {
        return;
    }
    if (execution == NULL) {
        sim_fail(sim, "execution %u is told to have ended, and was never seen", client);
        return;
    }
    engine_look(execution, &view);
    struct sim_client *its = &sim->clients->clients[client];
    bool same = view.ended && sequence == view.sequence && state == view.state;
    bool goes_on = sim_client_is_broken(sim, execution) || !same || is_operated(sim, client);
    if ((its->operated || sim_client_is_broken(sim, execution)) && goes_on) {
        sim_clients_notice(sim, client); /* it will ask again */
        return;
    }
    if (!view.ended || sequence != view.sequence || state != view.state) {
        sim_fail(sim, "get says that it ended with step %lld, state %lld; it is at %u, %u",
                 (long long)sequence, (long long)state, view.sequence, view.state);
    }
    sim->clients->clients[client].finished = true;
}

static void hear_refusal(struct sim *sim, struct sim_request *request, uint32_t number,
                         struct span error)
{
    struct span code = wire_string_or(wire_find_text(error, "code"), "");
    sim_trace(sim, "client %u: request-%u is refused: %.*s", request->client, number,
              SPAN_ARG(code));
    if (is_no_answer(code)) {
        return;
    }
    if (!is_legal_refusal(sim, request, code)) {
        sim_fail(sim, "request-%u (%s %.*s) is refused: %.*s: %.*s", number,
                 proto_operation_name(request->operation), SPAN_ARG(request->node_id),
                 SPAN_ARG(code), SPAN_ARG(wire_string_or(wire_find_text(error, "message"), "")));
    }
    request->pending = false;
    request->refused = true;
    struct sim_client *client = &sim->clients->clients[request->client];
    client->finished =
        client->finished || (request->operation == PROTO_OP_GET && request->after_delete);
    sim_clients_notice(sim, request->client);
}

static void hear(struct sim *sim, struct proto_message *reply, uint64_t number)
{
    struct sim_request *request = &sim->clients->requests[number];
    struct span body = reply->as.reply.body;
    if (!request->pending) {
        message_free(reply);
        return;
    }
    if (!reply->as.reply.ok) {
        hear_refusal(sim, request, (uint32_t)number, wire_find_text(body, "error"));
    } else {
        struct sim_client *client = &sim->clients->clients[request->client];
        sim_trace(sim, "client %u: request-%u is done", request->client, (uint32_t)number);
        request->pending = false;
        request->done = true;
        request->answered_ms = sim->now.monotonic_ms;
        client->started = client->started || request->operation == PROTO_OP_START ||
                          request->operation == PROTO_OP_IMPORT;
        if (is_news(request->operation)) {
            uint64_t again_ms = request->ttl_ms < NEWS_AGAIN_MS ? request->ttl_ms : NEWS_AGAIN_MS;
            request->step = request->boot == sim->machine->boot ? request->step : 0;
            sim_later(sim, request->operation == PROTO_OP_SIGNAL ? NEWS_AGAIN_MS : again_ms, false,
                      look_again, NULL, request->client);
        } else {
            note_told(sim, request->client, body);
        }
        if (request->operation == PROTO_OP_GET) {
            check_seen(sim, request, body);
        }
        client->deleted = client->deleted || request->operation == PROTO_OP_DELETE;
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
    clients->count = clients->root_count = sim_chance(&random, 30) ? 2 : 1;
    for (uint32_t i = 0; i < clients->count; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "x%u-%llu", i, (unsigned long long)sim->options.seed);
        enum result result = execution_id_parse(span_text(id), &clients->clients[i].id);
        ASSERT(result == RESULT_OK);
        clients->clients[i].by_session = sim_chance(&random, 30);
        clients->clients[i].operations_left = sim_chance(&random, 20) ? 2 : 0;
        sim_tap_track(sim, clients->clients[i].id);
        if (sim->model->confluent && !sim->report->is_scheme && !sim->model->needs_peer &&
            sim_chance(&random, 30)) {
            clients->clients[i].foreign =
                sim_foreign_make(sim, sim_tap_catalog(sim)->definitions[0]->processes, random);
        }
    }
    sim->clients = clients;
}

void sim_clients_start(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->clients->root_count; i++) {
        bool imports = sim->clients->clients[i].foreign.count > 0;
        (void)sim_client_ask(
            sim, i, &(struct sim_asking){.operation = imports ? PROTO_OP_IMPORT : PROTO_OP_START});
        sim_client_begin(sim, i);
    }
}

void sim_clients_adopt(struct sim *sim, struct execution_id id)
{
    ASSERT(sim->clients->count < SIM_EXECUTIONS_MAX);
    sim->clients->clients[sim->clients->count++] = (struct sim_client){.id = id, .adopted = true};
}

bool sim_clients_are_adopted(const struct sim *sim, uint32_t execution)
{
    return sim->clients->clients[execution].adopted;
}

bool sim_clients_have_repaired(const struct sim *sim, struct span execution_id)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        if (span_equal(execution_id_span(&sim->clients->clients[i].id), execution_id)) {
            return sim->clients->clients[i].repaired;
        }
    }
    return false;
}

bool sim_clients_are_done(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        const struct sim_client *client = &sim->clients->clients[i];
        if (client->adopted ? !sim_tap_has_settled(sim, i) : !client->finished) {
            return false;
        }
    }
    return sim_letters_are_quiet(sim) && sim_ticks_are_quiet(sim);
}

void sim_clients_judge(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        uint32_t done = 0, open = 0, taken = sim_tap_callbacks(sim, i);
        if (sim->clients->clients[i].deleted) {
            continue;
        }
        for (uint32_t k = 0; k < sim->clients->request_count; k++) {
            const struct sim_request *request = &sim->clients->requests[k];
            bool its = request->client == i && request->operation == PROTO_OP_CALLBACK;
            done += its && request->done;
            open += its && (request->pending || (request->refused && request->copies > 1));
        }
        if (taken < done || taken > done + open) {
            sim_fail(sim, "execution %u has taken %u callbacks; %u were acknowledged, %u are open",
                     i, taken, done, open);
        }
    }
}

uint32_t sim_clients_count(const struct sim *sim)
{
    return sim->clients->count;
}

struct span sim_clients_foreign(const struct sim *sim, struct span execution_id)
{
    for (uint32_t i = 0; i < sim->clients->count; i++) {
        if (span_equal(sim_clients_id(sim, i), execution_id)) {
            return sim->clients->clients[i].foreign;
        }
    }
    return SPAN_EMPTY;
}

struct span sim_clients_id(const struct sim *sim, uint32_t execution)
{
    return execution_id_span(&sim->clients->clients[execution].id);
}

struct span sim_clients_story(struct sim *sim)
{
    struct span story = SPAN_EMPTY;
    for (uint32_t i = 0; i < sim->clients->request_count; i++) {
        const struct sim_request *request = &sim->clients->requests[i];
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
