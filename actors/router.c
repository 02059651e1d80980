/*
 * router.c: pure checks, then one send. Any thread.
 */
#include "actors/router.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "actors/gather.h"
#include "actors/reply.h"
#include "actors/request.h"
#include "actors/shard/shard.h"
#include "actors/stray.h"
#include "actors/task_place.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

#define REFUSAL_BYTES 256u
#define SHOWN_BYTES   100u /* of a name that somebody wrote */

/* ---- refusals ---- */

/* Takes the request. */
static enum result refuse(struct actor_router *router, struct proto_message **request,
                          enum proto_error error, struct span message)
{
    struct arena arena;
    arena_init(&arena, 1024, 64 << 10);
    actor_count_shared(&router->refused);
    actor_reply_refuse(*request, &arena,
                       &(struct actor_refusal){.error = error, .message = message});
    arena_release(&arena);
    message_free(*request);
    *request = NULL;
    return RESULT_OK;
}

static enum result refuse_text(struct actor_router *router, struct proto_message **request,
                               enum proto_error error, const char *message)
{
    return refuse(router, request, error, span_text(message));
}

/* More than an operation lists at once is not answered with less than was asked for. */
static int complain_about_limit(const struct actor_request *fields, enum proto_operation operation,
                                char text[REFUSAL_BYTES])
{
    struct actor_page page = actor_request_page(operation);
    int64_t limit = actor_request_count(fields, ACTOR_FIELD_LIMIT, page.usual);
    return page.most == 0 || (limit >= 1 && limit <= page.most)
               ? 0
               : snprintf(text, REFUSAL_BYTES, "limit must be a whole number from 1 to %u",
                          page.most);
}

static int complain_about_stray(struct span body, enum proto_operation operation,
                                char text[REFUSAL_BYTES])
{
    struct actor_stray stray;
    if (!actor_request_stray(body, operation, &stray)) {
        return 0;
    }
    const char *name = proto_operation_name(operation);
    struct span shown = stray.name.count < SHOWN_BYTES ? stray.name : SPAN_EMPTY;
    int bytes = snprintf(text, REFUSAL_BYTES, "%s has no %s \"%.*s\"", name,
                         stray.is_filter ? "filter" : "field", SPAN_ARG(shown));
    if (stray.meant != NULL) {
        bytes += snprintf(text + bytes, REFUSAL_BYTES - (size_t)bytes, "; did you mean \"%s\"?",
                          stray.meant);
    }
    return bytes;
}

/* RESULT_INVALID: it has been refused. */
static enum result check_fields(struct actor_router *router, struct proto_message **request,
                                struct actor_request *fields)
{
    const char *wanted;
    char text[REFUSAL_BYTES];
    struct span body = (*request)->as.request.body;
    enum proto_operation operation = (*request)->as.request.operation;
    actor_request_read(body, fields);
    enum actor_field broken = actor_request_check(fields, &wanted);
    int bytes = broken == ACTOR_FIELD_COUNT ? complain_about_limit(fields, operation, text)
                                            : snprintf(text, sizeof text, "%s must be %s",
                                                       actor_field_name(broken), wanted);
    bytes = bytes == 0 ? complain_about_stray(body, operation, text) : bytes;
    if (bytes == 0) {
        return RESULT_OK;
    }
    (void)refuse(router, request, PROTO_ERROR_InvalidRequest, span_of(text, (size_t)bytes));
    return RESULT_INVALID;
}

/* ---- ids ---- */

/* Ten random bytes; the kernel is asked for a pool at a time, each thread has its own. */
static void random_bytes(uint8_t out[10])
{
    static _Thread_local uint8_t pool[256];
    static _Thread_local size_t used = sizeof pool;
    if (used + 10 > sizeof pool) {
        ssize_t got = getrandom(pool, sizeof pool, 0);
        ASSERT(got ==
               (ssize_t)sizeof pool); /* up to 256 bytes it is never cut short (getrandom(2)) */
        used = 0;
    }
    memcpy(out, pool + used, 10);
    memset(pool + used, 0, 10);
    used += 10;
}

static uint64_t clock_ms(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct span text_of(const struct actor_request *fields, enum actor_field field)
{
    return actor_request_text(fields, field, "");
}

static void id_of_start(const struct actor_request *fields, struct execution_id *id)
{
    struct span given = text_of(fields, ACTOR_FIELD_EXECUTION_ID);
    struct span request_id = text_of(fields, ACTOR_FIELD_REQUEST_ID);
    if (given.count > 0) {
        enum result result = execution_id_parse(given, id);
        ASSERT(result == RESULT_OK); /* check_fields has seen it */
        return;
    }
    struct uuid uuid;
    if (request_id.count > 0) {
        /* engine.md 9: a repeat reaches the same shard. */
        uuid = uuid_v5(actor_request_text(fields, ACTOR_FIELD_WORKSPACE, "default"), request_id);
    } else {
        uint8_t random[10];
        random_bytes(random);
        uuid = uuid_v7(clock_ms(CLOCK_REALTIME), random);
    }
    *id = (struct execution_id){.count = UUID_TEXT_BYTES};
    uuid_format(uuid, id->text);
}

/* ---- routes ---- */

static enum result hand_on(struct actor_router *router, struct proto_sink *sink,
                           struct proto_message **request)
{
    enum result result = sink->send(sink, request);
    if (result == RESULT_AGAIN) {
        actor_count_shared(&router->overloaded);
    }
    return result;
}

static enum result to_owner(struct actor_router *router, struct proto_message **request)
{
    struct span id = execution_id_span(&(*request)->as.request.execution_id);
    return hand_on(router, router->shards[actor_shard_of(id, router->shard_count)], request);
}

static enum result route_start(struct actor_router *router, struct proto_message **request,
                               const struct actor_request *fields)
{
    if (atomic_load_explicit(&router->closing, memory_order_relaxed)) {
        return refuse_text(router, request, PROTO_ERROR_ShuttingDown,
                           "the engine takes no more starts");
    }
    if (text_of(fields, ACTOR_FIELD_PROCESS).count == 0) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "process must be the id of a process");
    }
    id_of_start(fields, &(*request)->as.request.execution_id);
    return to_owner(router, request);
}

/* To the shard that its path picks: there it becomes a start. */
static enum result route_hook(struct actor_router *router, struct proto_message **request,
                              const struct actor_request *fields)
{
    struct span path = text_of(fields, ACTOR_FIELD_PATH);
    if (atomic_load_explicit(&router->closing, memory_order_relaxed)) {
        return refuse_text(router, request, PROTO_ERROR_ShuttingDown,
                           "the engine takes no more starts");
    }
    if (path.count == 0) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "path must be the path of a webhook, below /hooks/");
    }
    struct actor_request unnamed = *fields; /* a requestId names it there: by workspace and path */
    unnamed.at[ACTOR_FIELD_EXECUTION_ID] = unnamed.at[ACTOR_FIELD_REQUEST_ID] = SPAN_EMPTY;
    id_of_start(&unnamed, &(*request)->as.request.execution_id);
    return hand_on(router, router->shards[actor_shard_of(path, router->shard_count)], request);
}

/* A message is a durable thing of its own: to the shard that its id picks. */
static enum result route_publish(struct actor_router *router, struct proto_message **request,
                                 const struct actor_request *fields)
{
    if (actor_count_read(&router->journal->full) != 0) {
        return refuse_text(router, request, PROTO_ERROR_StorageFailed,
                           "the journal takes no more messages: it is full or stalled");
    }
    if ((*request)->as.request.operation == PROTO_OP_MESSAGE &&
        router->letters(router->owner) >= LIMIT_MESSAGES) {
        actor_count_shared(&router->overloaded);
        return refuse_text(router, request, PROTO_ERROR_Overloaded,
                           "too many messages wait to be taken");
    }
    if (text_of(fields, ACTOR_FIELD_NAME).count == 0) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "name must be the name of a message or signal");
    }
    struct actor_request named = *fields;
    named.at[ACTOR_FIELD_EXECUTION_ID] = SPAN_EMPTY;
    id_of_start(&named, &(*request)->as.request.execution_id);
    return to_owner(router, request);
}

/* By executionId; a callback also by channelSessionId: to the shard that keeps that session. */
static enum result route_by_id(struct actor_router *router, struct proto_message **request,
                               const struct actor_request *fields)
{
    struct proto_request *asked = &(*request)->as.request;
    struct span id = text_of(fields, ACTOR_FIELD_EXECUTION_ID);
    struct span session = text_of(fields, ACTOR_FIELD_SESSION);
    if (id.count > 0) {
        enum result result = execution_id_parse(id, &asked->execution_id);
        ASSERT(result == RESULT_OK);
        return to_owner(router, request);
    }
    if (asked->operation != PROTO_OP_CALLBACK) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest, "executionId is missing");
    }
    if (session.count == 0) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "executionId or channelSessionId is missing");
    }
    asked->execution_id = (struct execution_id){0};
    return hand_on(router, router->shards[actor_shard_of(session, router->shard_count)], request);
}

static enum result route_tasks(struct actor_router *router, struct proto_message **request,
                               const struct actor_request *fields)
{
    (*request)->as.request.execution_id = (struct execution_id){0};
    if (text_of(fields, ACTOR_FIELD_EXECUTION_ID).count > 0) {
        return route_by_id(router, request, fields);
    }
    struct span cursor = text_of(fields, ACTOR_FIELD_CURSOR);
    struct actor_task_place place;
    if (cursor.count > 0 && actor_task_place_parse(cursor, &place) != RESULT_OK) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "cursor comes from the reply before");
    }
    enum result result = actor_gather(request, router->shards, router->shard_count,
                                      actor_request_limit(fields, PROTO_OP_TASKS));
    return result == RESULT_LIMIT ? RESULT_AGAIN : result;
}

static enum result route_to_registry(struct actor_router *router, struct proto_message **request,
                                     const struct actor_request *fields)
{
    (void)fields;
    return hand_on(router, router->registry, request);
}

static enum result route_to_audit(struct actor_router *router, struct proto_message **request,
                                  const struct actor_request *fields)
{
    (void)fields;
    return hand_on(router, router->audit, request);
}

static enum result route_to_backup(struct actor_router *router, struct proto_message **request,
                                   const struct actor_request *fields)
{
    if (router->backup == NULL) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "this engine has no stores of its own to copy");
    }
    if (text_of(fields, ACTOR_FIELD_DIRECTORY).count == 0) {
        return refuse_text(router, request, PROTO_ERROR_InvalidRequest,
                           "directory must be the path of a new directory");
    }
    return hand_on(router, router->backup, request);
}

/* Answered here and now. */
static enum result answer_here(struct actor_router *router, struct proto_message **request,
                               const struct actor_request *fields)
{
    (void)fields;
    struct arena arena;
    struct wire_writer writer;
    uint32_t pairs;
    arena_init(&arena, 4096, 64 << 10);
    wire_writer_init(&writer, &arena, 512);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_text(&writer, "engine", "strider");
    wire_pair_text(&writer, "version", STRIDER_VERSION);
    wire_pair_time(&writer, "now", (int64_t)clock_ms(CLOCK_REALTIME));
    pairs += 3;
    if ((*request)->as.request.operation == PROTO_OP_STATS) {
        pairs += router->stats(router->owner, &writer);
    }
    struct span body = actor_reply_close(&writer, mark, pairs);
    struct proto_message *reply = actor_reply_new((*request)->as.request.spelling, true, body);
    if (reply != NULL) {
        message_answer((*request)->reply_to, reply);
    }
    arena_release(&arena);
    message_free(*request);
    *request = NULL;
    return RESULT_OK;
}

static enum result (*const routes[PROTO_OP_COUNT])(struct actor_router *router,
                                                   struct proto_message **request,
                                                   const struct actor_request *fields) = {
    [PROTO_OP_START] = route_start,        [PROTO_OP_CALLBACK] = route_by_id,
    [PROTO_OP_GET] = route_by_id,          [PROTO_OP_STEPS] = route_by_id,
    [PROTO_OP_LIST] = route_to_audit,      [PROTO_OP_TASKS] = route_tasks,
    [PROTO_OP_DEPLOY] = route_to_registry, [PROTO_OP_DEFINITIONS] = route_to_registry,
    [PROTO_OP_MESSAGE] = route_publish,    [PROTO_OP_SIGNAL] = route_publish,
    [PROTO_OP_SUSPEND] = route_by_id,      [PROTO_OP_RESUME] = route_by_id,
    [PROTO_OP_ABORT] = route_by_id,        [PROTO_OP_RESTART] = route_by_id,
    [PROTO_OP_DELETE] = route_by_id,       [PROTO_OP_MIGRATE] = route_by_id,
    [PROTO_OP_IMPORT] = route_start,       [PROTO_OP_RETRY] = route_by_id,
    [PROTO_OP_PING] = answer_here,         [PROTO_OP_STATS] = answer_here,
    [PROTO_OP_HOOK] = route_hook,          [PROTO_OP_BACKUP] = route_to_backup,
};

static enum result send_request(struct proto_sink *self, struct proto_message **message)
{
    struct actor_router *router =
        (struct actor_router *)((char *)self - offsetof(struct actor_router, sink));
    ASSERT((*message)->type == PROTO_REQUEST);
    if (!atomic_load_explicit(
            &router->open, memory_order_acquire)) { /* pairs with the release at the end of start */
        return RESULT_CLOSED;
    }
    enum proto_operation operation = (*message)->as.request.operation;
    ASSERT(operation > PROTO_OP_NONE && operation < PROTO_OP_COUNT);
    (*message)->as.request.received_ms =
        clock_ms(CLOCK_BOOTTIME); /* the clock that shards have deadlines on */
    struct actor_request fields;
    if (check_fields(router, message, &fields) != RESULT_OK) {
        return RESULT_OK; /* answered */
    }
    bool changes = actor_operation_changes(operation);
    if (changes && atomic_load_explicit(&router->sealed, memory_order_relaxed)) {
        return refuse_text(router, message, PROTO_ERROR_ShuttingDown,
                           "the engine is stopping: nothing was done");
    }
    if (changes && actor_count_read(&router->journal->full) != 0) {
        return refuse_text(router, message, PROTO_ERROR_StorageFailed,
                           "the journal is full or stalled: nothing was done");
    }
    return routes[operation](router, message, &fields);
}

bool actor_router_takes_starts(const struct actor_router *router)
{
    /* acquire: as in send_request; what is behind `journal` is there once it is open */
    return atomic_load_explicit(&router->open, memory_order_acquire) &&
           !atomic_load_explicit(&router->closing, memory_order_relaxed) &&
           actor_count_read(&router->journal->full) == 0;
}

void actor_router_init(struct actor_router *router)
{
    *router = (struct actor_router){.sink.send = send_request};
}
