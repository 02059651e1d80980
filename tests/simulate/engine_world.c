/*
 * engine_world.c: nodes with inboxes in place of threads with mailboxes. The actors are the real
 * ones: their turn functions need no more than messages and the time.
 */
#include "tests/simulate/engine_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/audit.h"
#include "actors/journal.h"
#include "actors/queue.h"
#include "actors/recovery.h"
#include "actors/registry.h"
#include "actors/router.h"
#include "actors/storage.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "storage/memory/memory.h"
#include "tests/simulate/world_index.h"

enum {
    SHARDS_MAX = 4,
    REPLIES_MAX = 4096,
    CALLS_MAX = 4096,
    SEGMENT_BYTES = 32 << 10,
    STEPS_MAX = 200000
};

/* An actor's place: what came for it, and when it wants a turn by itself. */
struct node {
    struct proto_sink sink;
    struct engine_world *world;
    struct actor_queue inbox;
    uint32_t inbox_count;
    uint64_t (*turn)(void *actor, struct proto_message *batch, struct actor_time now);
    void *actor;
    uint64_t due_ms;
};

struct call_made {
    char execution_id[LIMIT_ID_BYTES + 1];
    char task_id[32];
};

struct engine_world {
    struct engine_world_options options;
    struct power_cut_files *disk;
    struct storage_journal *log;
    struct storage_state *state;
    struct storage_blob *blob;
    struct world_index *index;
    bool power;
    uint64_t stop_at; /* operation of the disk at which it goes */
    uint64_t random;
    struct actor_time now;
    struct node shard_nodes[SHARDS_MAX];
    struct node journal_node, storage_node, audit_node, registry_node, modules_node;
    struct proto_sink *shard_sinks[SHARDS_MAX];
    struct actor_shard *shards[SHARDS_MAX];
    struct actor_journal *journal;
    struct actor_storage *storage;
    struct actor_audit *audit;
    struct actor_registry *registry;
    struct actor_router router;
    struct actor_queue calls; /* under way at the modules */
    bool held;                /* ... which do not answer */
    struct proto_sink client;
    struct arena arena; /* replies */
    struct span replies[REPLIES_MAX];
    uint64_t tickets;
    struct call_made made[CALLS_MAX];
    uint32_t made_count;
    bool repeated_work;
    uint64_t corrupt;
    bool running;
};

static const char approval[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"approval\" "
    "isExecutable=\"true\">"
    "<startEvent id=\"s\"/><userTask id=\"approve\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"approve\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"approve\" targetRef=\"e\"/></process></definitions>";

static const char two_calls[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"two\" "
    "isExecutable=\"true\">"
    "<startEvent id=\"s\"/><serviceTask id=\"call-1\"/><serviceTask id=\"call-2\"/><endEvent "
    "id=\"e\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"call-1\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"call-1\" targetRef=\"call-2\"/>"
    "<sequenceFlow id=\"f3\" sourceRef=\"call-2\" targetRef=\"e\"/></process></definitions>";

static uint64_t draw(struct engine_world *world, uint64_t below)
{
    world->random ^= world->random >> 12;
    world->random ^= world->random << 25;
    world->random ^= world->random >> 27;
    return (world->random * 2685821657736338717ull >> 33) % below;
}

/* ---- nodes ---- */

static enum result send_to_node(struct proto_sink *self, struct proto_message **message)
{
    struct node *node = ACTOR_OWNER(node, sink, self);
    actor_queue_push(&node->inbox, *message);
    node->inbox_count++;
    *message = NULL;
    return RESULT_OK;
}

static void node_init(struct engine_world *world, struct node *node)
{
    *node = (struct node){.sink.send = send_to_node, .world = world};
}

static void node_settle(struct node *node,
                        uint64_t (*turn)(void *, struct proto_message *, struct actor_time),
                        void *actor)
{
    node->turn = turn;
    node->actor = actor;
}

static void node_run(struct engine_world *world, struct node *node)
{
    uint32_t count = node->inbox_count == 0 ? 0 : 1 + (uint32_t)draw(world, node->inbox_count);
    struct actor_queue batch = {0};
    for (uint32_t i = 0; i < count; i++) {
        actor_queue_push(&batch, actor_queue_pop(&node->inbox));
    }
    node->inbox_count -= count;
    node->due_ms = node->turn(node->actor, batch.oldest, world->now);
}

static uint32_t list_nodes(struct engine_world *world, struct node **nodes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->options.shard_count; i++) {
        nodes[count++] = &world->shard_nodes[i];
    }
    nodes[count++] = &world->journal_node;
    nodes[count++] = &world->storage_node;
    nodes[count++] = &world->audit_node;
    nodes[count++] = &world->registry_node;
    nodes[count++] = &world->modules_node;
    return count;
}

/* ---- modules: each call is answered, some time ---- */

static uint32_t task_number(const char *task_id)
{
    return task_id[0] == '\0' ? 0 : (uint32_t)(task_id[strlen(task_id) - 1] - '0');
}

static void note_call(struct engine_world *world, const struct proto_call *call)
{
    ASSERT(world->made_count < CALLS_MAX);
    struct call_made *made = &world->made[world->made_count++];
    struct span task = wire_string_or(wire_find_text(call->body, "taskId"), "");
    snprintf(made->execution_id, sizeof made->execution_id, "%s", call->execution_id.text);
    snprintf(made->task_id, sizeof made->task_id, "%.*s", SPAN_ARG(task));
    for (uint32_t i = 0; i + 1 < world->made_count; i++) {
        bool later_was_made = strcmp(world->made[i].execution_id, made->execution_id) == 0 &&
                              task_number(world->made[i].task_id) > task_number(made->task_id);
        world->repeated_work = world->repeated_work || later_was_made;
    }
}

static void answer_call(struct engine_world *world)
{
    struct proto_message *call = actor_queue_pop(&world->calls);
    static const uint8_t nothing[] = {0x80};
    struct proto_message *done = message_new(PROTO_CALL_DONE, sizeof nothing);
    ASSERT(done != NULL);
    done->as.call_done =
        (struct proto_call_done){.execution_id = call->as.call.execution_id,
                                 .token = call->as.call.token,
                                 .attempt = call->as.call.attempt,
                                 .outcome = PROTO_CALL_ANSWERED,
                                 .status = 200,
                                 .retry_after_ms = -1,
                                 .body = message_keep(done, span_of(nothing, sizeof nothing))};
    message_answer(call->reply_to, done);
    message_free(call);
}

static uint64_t modules_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct engine_world *world = argument;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        if (message->type == PROTO_CALL) {
            note_call(world, &message->as.call);
            actor_queue_push(&world->calls, message);
        } else {
            message_free(message);
        }
    }
    if (world->calls.oldest != NULL && !world->held && draw(world, 2) == 0) {
        answer_call(world);
    }
    return world->calls.oldest == NULL || world->held ? ACTOR_NEVER : now.monotonic_ms;
}

/* ---- the client ---- */

static enum result take_reply(struct proto_sink *self, struct proto_message **message)
{
    struct engine_world *world = ACTOR_OWNER(engine_world, client, self);
    uint64_t ticket = (*message)->reply_to.ticket;
    if ((*message)->type == PROTO_REPLY) {
        ASSERT(ticket < REPLIES_MAX && world->replies[ticket].count == 0);
        world->replies[ticket] = arena_copy(&world->arena, (*message)->as.reply.body);
    } else {
        ASSERT((*message)->type == PROTO_DONE && (*message)->as.done.result == RESULT_OK);
        world->replies[ticket] = arena_copy(&world->arena, span_text("done"));
    }
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

uint64_t engine_world_ask(struct engine_world *world, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct span body;
    struct json_error error;
    enum result result = json_to_wire(span_text(text), LIMIT_DEPTH, &world->arena, &body, &error);
    ASSERT(result == RESULT_OK);
    struct proto_message *request = message_new(PROTO_REQUEST, body.count);
    ASSERT(request != NULL);
    ASSERT(world->tickets + 1 < REPLIES_MAX);
    uint64_t ticket = ++world->tickets;
    request->as.request = (struct proto_request){
        .operation = proto_operation_parse(wire_string_or(wire_find_text(body, "op"), "")),
        .body = message_keep(request, body)};
    request->reply_to = (struct proto_address){.sink = &world->client, .ticket = ticket};
    result = world->router.sink.send(&world->router.sink, &request);
    ASSERT(result == RESULT_OK);
    return ticket;
}

struct span engine_world_reply(const struct engine_world *world, uint64_t ticket)
{
    ASSERT(ticket < REPLIES_MAX);
    return world->replies[ticket];
}

struct span engine_world_await(struct engine_world *world, uint64_t ticket)
{
    for (uint32_t i = 0; engine_world_reply(world, ticket).count == 0; i++) {
        ASSERT(i < STEPS_MAX); /* else something goes round in circles */
        if (!engine_world_step(world)) {
            break;
        }
    }
    return engine_world_reply(world, ticket);
}

/* ---- time ---- */

static uint64_t next_due(struct engine_world *world)
{
    struct node *nodes[SHARDS_MAX + 5];
    uint32_t count = list_nodes(world, nodes);
    uint64_t next_ms = ACTOR_NEVER;
    for (uint32_t i = 0; i < count; i++) {
        next_ms = nodes[i]->due_ms < next_ms ? nodes[i]->due_ms : next_ms;
    }
    return next_ms;
}

static void set_time(struct engine_world *world, uint64_t monotonic_ms)
{
    world->now.unix_ms += (int64_t)(monotonic_ms - world->now.monotonic_ms);
    world->now.monotonic_ms = monotonic_ms;
}

static bool is_off(const struct engine_world *world)
{
    return power_cut_files_operations(world->disk) >= world->stop_at;
}

void engine_world_stop_at(struct engine_world *world, uint64_t operation)
{
    world->stop_at = operation;
    power_cut_files_stop_at(world->disk, operation);
}

bool engine_world_step(struct engine_world *world)
{
    struct node *nodes[SHARDS_MAX + 5];
    struct node *ready[SHARDS_MAX + 5];
    uint32_t count = list_nodes(world, nodes);
    uint32_t ready_count = 0;
    if (!world->power) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i]->inbox_count > 0 || nodes[i]->due_ms <= world->now.monotonic_ms) {
            ready[ready_count++] = nodes[i];
        }
    }
    if (ready_count == 0) {
        uint64_t next_ms = next_due(world);
        if (next_ms == ACTOR_NEVER) {
            return false;
        }
        set_time(world, next_ms);
        return true;
    }
    node_run(world, ready[draw(world, ready_count)]);
    world->power = !is_off(world);
    return world->power;
}

bool engine_world_has_power(const struct engine_world *world)
{
    return world->power;
}

void engine_world_idle(struct engine_world *world, uint64_t ms)
{
    uint64_t until_ms = world->now.monotonic_ms + ms;
    while (world->now.monotonic_ms < until_ms && engine_world_step(world)) {
    }
}

void engine_world_pass(struct engine_world *world, uint64_t ms)
{
    ASSERT(!world->running);
    set_time(world, world->now.monotonic_ms + ms);
}

/* ---- life ---- */

struct engine_world *engine_world_new(const struct engine_world_options *options)
{
    ASSERT(options->shard_count > 0 && options->shard_count <= SHARDS_MAX);
    struct engine_world *world = calloc(1, sizeof *world);
    ASSERT(world != NULL);
    world->options = *options;
    world->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
    world->now = (struct actor_time){.unix_ms = 1764498453123, .monotonic_ms = 1000};
    world->stop_at = UINT64_MAX;
    world->client.send = take_reply;
    world->disk = power_cut_files_new(options->seed);
    world->index = world_index_new();
    arena_init(&world->arena, 64 << 10, 256 << 20);
    enum result result = storage_memory_state_new(&world->state);
    ASSERT(result == RESULT_OK);
    result = storage_memory_blob_new(&world->blob);
    ASSERT(result == RESULT_OK);
    return world;
}

struct power_cut_files *engine_world_disk(struct engine_world *world)
{
    return world->disk;
}

static void make_shards(struct engine_world *world)
{
    for (uint32_t i = 0; i < world->options.shard_count; i++) {
        enum result result = actor_shard_new(
            &(struct actor_shard_options){.index = i,
                                          .shard_count = world->options.shard_count,
                                          .audit = true,
                                          .heavy_session_bytes = 1 << 20,
                                          .hot_bytes_max = 4096, /* some resumes must fetch */
                                          .hot_ttl_ms = 600000,
                                          .requests_pending_max = 1000,
                                          .reply_bytes_max = LIMIT_REPLY_BYTES,
                                          .shards = world->shard_sinks,
                                          .journal = &world->journal_node.sink,
                                          .io = &world->modules_node.sink,
                                          .storage = &world->storage_node.sink,
                                          .audit_sink = &world->audit_node.sink},
            &world->shards[i]);
        ASSERT(result == RESULT_OK);
        node_settle(&world->shard_nodes[i], actor_shard_turn, world->shards[i]);
    }
}

static void make_drains(struct engine_world *world, const struct actor_positions *positions)
{
    struct actor_journal_options journal = {.log = world->log, .bytes_max = 1ull << 40};
    journal.drains[PROTO_DRAIN_STATE] = &world->storage_node.sink;
    journal.drains[PROTO_DRAIN_AUDIT] = &world->audit_node.sink;
    memcpy(journal.drained, positions->at, sizeof journal.drained);
    enum result result = actor_journal_new(&journal, &world->journal);
    ASSERT(result == RESULT_OK);
    result = actor_storage_new(
        &(struct actor_storage_options){.state = world->state,
                                        .blob = world->blob,
                                        .log = world->log,
                                        .self = &world->storage_node.sink,
                                        .journal = &world->journal_node.sink,
                                        .shards = world->shard_sinks,
                                        .shard_count = world->options.shard_count,
                                        .state_position = positions->at[PROTO_DRAIN_STATE],
                                        .blob_position = positions->at[PROTO_DRAIN_BLOB]},
        &world->storage);
    ASSERT(result == RESULT_OK);
    result =
        actor_audit_new(&(struct actor_audit_options){.index = world_index_port(world->index),
                                                      .log = world->log,
                                                      .journal = &world->journal_node.sink,
                                                      .position = positions->at[PROTO_DRAIN_AUDIT]},
                        &world->audit);
    ASSERT(result == RESULT_OK);
    node_settle(&world->journal_node, actor_journal_turn, world->journal);
    node_settle(&world->storage_node, actor_storage_turn, world->storage);
    node_settle(&world->audit_node, actor_audit_turn, world->audit);
    node_settle(&world->registry_node, actor_registry_turn, world->registry);
    node_settle(&world->modules_node, modules_turn, world);
}

static uint32_t no_stats(void *owner, struct wire_writer *writer)
{
    (void)owner;
    (void)writer;
    return 0;
}

static uint64_t no_letters(void *owner)
{
    (void)owner;
    return 0;
}

static void open_router(struct engine_world *world)
{
    actor_router_init(&world->router);
    world->router.shards = world->shard_sinks;
    world->router.shard_count = world->options.shard_count;
    world->router.registry = &world->registry_node.sink;
    world->router.audit = &world->audit_node.sink;
    world->router.journal = actor_journal_counters(world->journal);
    world->router.stats = no_stats;
    world->router.letters = no_letters;
    world->router.open = true;
}

/* Sends to the registry and awaits its PROTO_DONE. */
static bool load(struct engine_world *world, struct proto_message *message)
{
    uint64_t ticket = ++world->tickets;
    message->reply_to = (struct proto_address){.sink = &world->client, .ticket = ticket};
    enum result result = world->registry_node.sink.send(&world->registry_node.sink, &message);
    ASSERT(result == RESULT_OK);
    return engine_world_await(world, ticket).count > 0;
}

static bool load_project(struct engine_world *world)
{
    static const char modules[] =
        "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"http://module/\"}]}";
    struct span value;
    struct json_error error;
    enum result result =
        json_to_wire(span_text(modules), LIMIT_DEPTH, &world->arena, &value, &error);
    ASSERT(result == RESULT_OK);
    struct proto_message *message = message_of_project(&(struct proto_project){
        .project = span_text("default"), .workspace = span_text("default"), .modules = value});
    ASSERT(message != NULL);
    return load(world, message);
}

static bool load_file(struct engine_world *world, const char *name, const char *content)
{
    struct proto_message *message = message_of_definition(&(struct proto_definition){
        .project = span_text("default"), .name = span_text(name), .content = span_text(content)});
    ASSERT(message != NULL);
    return load(world, message);
}

bool engine_world_start(struct engine_world *world)
{
    ASSERT(!world->running);
    struct storage_journal_report report;
    struct storage_journal_options options = {.segment_bytes = SEGMENT_BYTES};
    world->power = true;
    if (storage_log_open(power_cut_files_layer(world->disk), &options, &world->log, &report) !=
        RESULT_OK) {
        ASSERT(is_off(world));
        world->power = false;
        return false;
    }
    world->corrupt += report.corrupt_batches;
    world->running = true;
    struct node *nodes[SHARDS_MAX + 5];
    uint32_t count = list_nodes(world, nodes);
    for (uint32_t i = 0; i < count; i++) {
        node_init(world, nodes[i]);
    }
    for (uint32_t i = 0; i < world->options.shard_count; i++) {
        world->shard_sinks[i] = &world->shard_nodes[i].sink;
    }
    make_shards(world);
    enum result result = actor_registry_new(
        &(struct actor_registry_options){.self = &world->registry_node.sink,
                                         .journal = &world->journal_node.sink,
                                         .shards = world->shard_sinks,
                                         .shard_count = world->options.shard_count},
        &world->registry);
    ASSERT(result == RESULT_OK);
    struct actor_recovery recovery;
    struct actor_positions positions;
    char error[256];
    result =
        actor_recover(&(struct actor_recovery_options){.log = world->log,
                                                       .state = world->state,
                                                       .index = world_index_port(world->index),
                                                       .shards = world->shards,
                                                       .shard_count = world->options.shard_count,
                                                       .registry = world->registry,
                                                       .now = world->now},
                      &recovery, &positions, error);
    if (result != RESULT_OK) {
        ASSERT(is_off(world));
        world->power = false;
        return false;
    }
    world->corrupt += recovery.corrupt;
    make_drains(world, &positions);
    open_router(world);
    return load_project(world) && load_file(world, "approval.bpmn", approval) &&
           load_file(world, "two.bpmn", two_calls) &&
           (world->options.file == NULL || load_file(world, "more.bpmn", world->options.file));
}

void engine_world_kill(struct engine_world *world)
{
    if (!world->running) {
        return;
    }
    struct node *nodes[SHARDS_MAX + 5];
    uint32_t count = list_nodes(world, nodes);
    for (uint32_t i = 0; i < count; i++) {
        actor_queue_clear(&nodes[i]->inbox);
    }
    actor_queue_clear(&world->calls);
    for (uint32_t i = 0; i < world->options.shard_count; i++) {
        actor_shard_free(world->shards[i]);
    }
    actor_registry_free(world->registry);
    actor_journal_free(world->journal);
    actor_storage_free(world->storage);
    actor_audit_free(world->audit);
    world->registry = NULL;
    world->journal = NULL;
    world->storage = NULL;
    world->audit = NULL;
    storage_log_close(world->log);
    world->running = false;
}

void engine_world_cut(struct engine_world *world, enum power_cut_loss loss)
{
    engine_world_kill(world);
    storage_memory_state_cut(world->state);
    storage_memory_blob_cut(world->blob);
    world_index_cut(world->index);
    power_cut_files_cut(world->disk, loss);
    world->stop_at = UINT64_MAX;
}

void engine_world_free(struct engine_world *world)
{
    engine_world_kill(world);
    world->state->ops->close(world->state);
    world->blob->ops->close(world->blob);
    world_index_free(world->index);
    power_cut_files_free(world->disk);
    arena_release(&world->arena);
    free(world);
}

/* ---- what happened ---- */

void engine_world_hold_modules(struct engine_world *world, bool held)
{
    world->held = held;
    world->modules_node.due_ms = 0; /* look again */
}

uint64_t engine_world_snapshots_asked(const struct engine_world *world)
{
    return actor_count_read(&actor_storage_state_counters(world->storage)->interims_asked);
}

uint64_t engine_world_journal_bytes(const struct engine_world *world)
{
    return world->log->ops->end(world->log) - world->log->ops->begin(world->log);
}

uint64_t engine_world_corrupt(const struct engine_world *world)
{
    return world->corrupt;
}

uint32_t engine_world_calls(const struct engine_world *world, const char *execution_id,
                            const char *task_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->made_count; i++) {
        count += strcmp(world->made[i].execution_id, execution_id) == 0 &&
                 strcmp(world->made[i].task_id, task_id) == 0;
    }
    return count;
}

bool engine_world_repeated_work(const struct engine_world *world)
{
    return world->repeated_work;
}

struct completed {
    const char *process;
    uint32_t count;
};

static void count_completed(void *owner, struct span message)
{
    struct completed *completed = owner;
    completed->count +=
        span_is(wire_string_or(wire_find_text(message, "process"), ""), completed->process) &&
        span_is(wire_string_or(wire_find_text(message, "lifecycle"), ""), "Completed");
}

uint32_t engine_world_completed(const struct engine_world *world, const char *process)
{
    struct completed completed = {.process = process};
    world_index_each(world->index, count_completed, &completed);
    return completed.count;
}

bool engine_world_indexed_completed(const struct engine_world *world, const char *execution_id)
{
    struct span row = world_index_row(world->index, execution_id);
    return span_is(wire_string_or(wire_find_text(row, "lifecycle"), ""), "Completed");
}
