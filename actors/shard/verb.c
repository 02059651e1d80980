/*
 * verb.c: what a request asks of an execution, and whether it has been asked before. The router has
 * checked ids and the types of all fields (actors/request.h).
 */
#include "actors/shard/asking.h"
#include "proto/base/assert.h"

/* ---- callback ---- */

/* The step tells one of several instances of a task from the others. */
static struct engine_input callback_input(struct actor_shard *shard, const struct asking *asking)
{
    struct span step_id = asking_text(asking, ACTOR_FIELD_STEP_ID, "");
    struct span task_id = asking_text(asking, ACTOR_FIELD_TASK_ID, "");
    return (struct engine_input){.kind = ENGINE_IN_CALLBACK,
                                 .now_ms = shard->now.unix_ms,
                                 .task_id = step_id.count > 0 ? step_id : task_id,
                                 .payload = asking_field(asking, ACTOR_FIELD_PAYLOAD),
                                 .output = asking_field(asking, ACTOR_FIELD_OUTPUT),
                                 .error = asking_field(asking, ACTOR_FIELD_ERROR)};
}

/* A hot tier elsewhere has named an execution that does not have this session, or has no more: the
 * tier missed a deletion, or was put back from a copy. Nobody waits there; of one that has ended
 * the entry goes. */
static bool refuse_stale(struct actor_shard *shard, struct asking *asking,
                         enum shard_located located, const struct actor_work *work)
{
    struct span session = asking_text(asking, ACTOR_FIELD_SESSION, "");
    struct engine_view view;
    if (!asking->message->as.request.by_tier || located == SHARD_FAILED ||
        located == SHARD_DAMAGED) {
        return false;
    }
    if (located == SHARD_LIVE) {
        engine_look(work->execution, &view);
        if (span_equal(view.channel_session_id, session)) {
            return false;
        }
    } else if (located == SHARD_ENDED) {
        shard_hot_disown(shard, execution_id_span(&asking->id), session);
    }
    asking_refuse_text(shard, asking, PROTO_ERROR_SessionNotFound, SHARD_NO_SESSION_TEXT);
    return true;
}

/* engine.md 9: one that comes before its wait is kept by the engine, in the execution. */
static void callback(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_LIVE, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING || refuse_stale(shard, asking, located, work)) {
        return;
    }
    if (located != SHARD_LIVE) {
        asking_refuse_located(shard, asking, located);
        return;
    }
    struct engine_input input = callback_input(shard, asking);
    enum result result = asking_submit(shard, asking, work, &input, asking_wants_accepted(asking));
    if (result != RESULT_OK && asking->message != NULL) {
        asking_refuse_accept(shard, asking, work);
    }
}

/* ---- operator verbs ---- */

static const enum engine_input_kind verb_inputs[PROTO_OP_COUNT] = {
    [PROTO_OP_SUSPEND] = ENGINE_IN_SUSPEND, [PROTO_OP_RESUME] = ENGINE_IN_RESUME,
    [PROTO_OP_ABORT] = ENGINE_IN_ABORT,     [PROTO_OP_RESTART] = ENGINE_IN_RESTART,
    [PROTO_OP_RETRY] = ENGINE_IN_RETRY,     [PROTO_OP_MIGRATE] = ENGINE_IN_MIGRATE,
};

/* Suspend and abort are answered with the state they made; the others with that at their segment's
 * end. */
static bool answers_at_once(const struct asking *asking)
{
    return asking->operation == PROTO_OP_SUSPEND || asking->operation == PROTO_OP_ABORT ||
           asking_wants_accepted(asking);
}

/* The version that it is to run; false: there is none, which was said. */
static bool find_target(struct actor_shard *shard, struct asking *asking, struct actor_work *work,
                        struct engine_input *input)
{
    struct engine_view view;
    engine_look(work->execution, &view);
    const struct engine_catalog *catalog = &shard->catalog.engine;
    int64_t version = actor_request_count(&asking->fields, ACTOR_FIELD_TO_VERSION, 0);
    input->mapping = asking_field(asking, ACTOR_FIELD_MAPPING);
    input->process = catalog->process(catalog, view.project, view.process, (uint32_t)version);
    if (input->process != NULL) {
        return true;
    }
    asking_refuse(shard, asking,
                  &(struct actor_refusal){
                      .error = PROTO_ERROR_DefinitionNotFound,
                      .message = arena_format(&shard->turn, "process \"%.*s\" has no version %lld",
                                              SPAN_ARG(view.process), (long long)version),
                      .execution_id = execution_id_span(&asking->id)},
                  work);
    return false;
}

static void operate(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work = asking_find(shard, asking);
    if (work == NULL) {
        return;
    }
    struct engine_input input = {.kind = verb_inputs[asking->operation],
                                 .now_ms = shard->now.unix_ms,
                                 .task_id = asking_text(asking, ACTOR_FIELD_TASK_ID, ""),
                                 .reason = asking_text(asking, ACTOR_FIELD_REASON, "")};
    if (asking->operation == PROTO_OP_MIGRATE && !find_target(shard, asking, work, &input)) {
        return;
    }
    enum result result = asking_submit(shard, asking, work, &input, answers_at_once(asking));
    if (result != RESULT_OK && asking->message != NULL) {
        asking_refuse_accept(shard, asking, work);
    }
}

static struct span deleted_body(struct actor_shard *shard, const struct asking *asking)
{
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &shard->scratch, 256);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_string(&writer, "executionId", execution_id_span(&asking->id));
    wire_pair_bool(&writer, "deleted", true);
    return actor_reply_close(&writer, mark, pairs + 2);
}

/* For retention: what has ended is in no table of this shard, so the record is all there is to do;
 * its bytes are not needed, and may be gone. What lives, or lives again, stays. */
static void forget_ended(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_LIVE, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING) {
        return;
    }
    if (located == SHARD_LIVE) {
        asking_refuse_text(shard, asking, PROTO_ERROR_InvalidTransition,
                           "the execution has not ended");
        return;
    }
    if (located != SHARD_ENDED) {
        asking_refuse_located(shard, asking, located);
        return;
    }
    struct span id = execution_id_span(&asking->id);
    shard_lookups_deleted(shard, id);
    record_write(&shard->batch,
                 &(struct proto_record){.kind = PROTO_RECORD_FORGET,
                                        .execution_id = id,
                                        .workspace_id =
                                            asking_text(asking, ACTOR_FIELD_WORKSPACE, "default")});
    shard_conclude_here(shard, asking->message, asking->remembered, id,
                        deleted_body(shard, asking));
    asking_done(asking);
}

static void forget(struct actor_shard *shard, struct asking *asking)
{
    if (wire_bool_or(asking_field(asking, ACTOR_FIELD_IF_ENDED), false)) {
        forget_ended(shard, asking);
        return;
    }
    struct actor_work *work = asking_find(shard, asking);
    if (work == NULL) {
        return;
    }
    if (shard_touch(shard, work) == NULL) {
        asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded, "no memory");
        return;
    }
    shard_cancel_calls(shard, work);
    struct actor_refusal deleted = {.error = PROTO_ERROR_Aborted,
                                    .message = span_text("the execution was deleted"),
                                    .execution_id = execution_id_span(&asking->id)};
    shard_refuse_all(shard, work, &deleted);
    work->forgotten = true;
    shard_lookups_deleted(shard, execution_id_span(&asking->id));
    shard_conclude(shard, asking->message, asking->remembered, true, deleted_body(shard, asking),
                   work);
    asking_done(asking);
}

/* ---- by channel session ---- */

/* This shard keeps the session: whom does it mean? Remembered for repeats, which may come when the
 * execution has moved on. */
static bool resolve(struct actor_shard *shard, struct asking *asking)
{
    struct span session = asking_text(asking, ACTOR_FIELD_SESSION, "");
    struct span request_id = asking_text(asking, ACTOR_FIELD_REQUEST_ID, "");
    struct span workspace = asking_text(asking, ACTOR_FIELD_WORKSPACE, "default");
    struct actor_remembered *route =
        request_id.count == 0 ? NULL : actor_remembered_find(&shard->routes, workspace, request_id);
    if (route != NULL) {
        return execution_id_parse(route->reply, &asking->id) == RESULT_OK;
    }
    bool known = actor_directory_resolve(&shard->directory, session, &asking->id) == RESULT_OK;
    if (!known && !shard_found_bound(asking->lookup, &asking->id)) {
        return false;
    }
    asking->message->as.request.by_tier = !known;
    route = request_id.count == 0 ? NULL
                                  : actor_remembered_add(&shard->routes, workspace, request_id, 0,
                                                         shard->now.unix_ms);
    if (route != NULL &&
        actor_remembered_reply(&shard->routes, route, execution_id_span(&asking->id),
                               shard->now.monotonic_ms + LIMIT_REQUEST_KEPT_MS) != RESULT_OK) {
        actor_remembered_drop(&shard->routes, route);
        route = NULL;
    }
    asking->message->as.request.route_is_new = route != NULL;
    return true;
}

void shard_drop_route(struct actor_shard *shard, struct proto_message *message)
{
    const struct proto_route *gone = &message->as.route;
    struct actor_remembered *route =
        actor_remembered_find(&shard->routes, gone->workspace, gone->request_id);
    if (route != NULL) {
        actor_remembered_drop(&shard->routes, route);
    }
    message_free(message);
}

/* true: the request is this shard's own. */
static bool route_by_session(struct actor_shard *shard, struct asking *asking)
{
    if (!resolve(shard, asking)) {
        if (shard_fetch_bound(shard, asking_text(asking, ACTOR_FIELD_SESSION, ""), &asking->message,
                              asking->lookup)) {
            return false;
        }
        actor_reply_refuse_text(asking->message, &shard->turn, PROTO_ERROR_SessionNotFound,
                                SHARD_NO_SESSION_TEXT);
        asking_done(asking);
        return false;
    }
    asking->lookup = NULL; /* if there was one, it has told whom the session means */
    asking->message->as.request.execution_id = asking->id;
    uint32_t owner = actor_shard_of(execution_id_span(&asking->id), shard->options.shard_count);
    if (owner == shard->options.index) {
        return true;
    }
    struct proto_sink *sink = shard->options.shards[owner];
    if (sink->send(sink, &asking->message) != RESULT_OK) {
        asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded, "the engine is busy");
    }
    return false;
}

/* ---- requestId ---- */

static void answer_repeat(struct actor_shard *shard, struct asking *asking,
                          struct actor_remembered *first)
{
    actor_count(&shard->counters.repeated, 1);
    if (first->body_hash != actor_request_hash(asking->message->as.request.body)) {
        actor_reply_refuse(
            asking->message, &shard->turn,
            &(struct actor_refusal){.error = PROTO_ERROR_InvalidRequest,
                                    .message = span_text("requestId was used with another body")});
        asking_done(asking);
        return;
    }
    if (first->replied && shard->stalled && first->commit > shard->committed) {
        actor_reply_refuse_text(asking->message, &shard->turn, PROTO_ERROR_StorageFailed,
                                SHARD_KEPT_TEXT);
        asking_done(asking);
        return;
    }
    if (first->replied) {
        shard_reply(shard, asking->message, true, first->reply, first->commit);
        asking_done(asking);
        return;
    }
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&asking->id));
    struct actor_waiter *waiter = slot == NULL || slot->work == NULL ? NULL : slot->work->waiters;
    while (waiter != NULL && waiter->remembered != first) {
        waiter = waiter->next;
    }
    if (waiter != NULL) {
        if (asking_wait(shard, asking, slot->work) != NULL) {
            asking_done(asking);
        }
        return;
    }
    actor_queue_push(&first->attached, asking->message);
    asking->message = NULL;
}

/* true: go on. false: it was a repeat, or it cannot be remembered. */
static bool remember_request(struct actor_shard *shard, struct asking *asking)
{
    struct span request_id = asking_text(asking, ACTOR_FIELD_REQUEST_ID, "");
    if (request_id.count == 0) {
        return true;
    }
    struct span workspace = asking_text(asking, ACTOR_FIELD_WORKSPACE, "default");
    struct actor_remembered *first = actor_remembered_find(&shard->requests, workspace, request_id);
    if (first != NULL && asking->lookup == NULL) {
        answer_repeat(shard, asking, first);
        return false;
    }
    asking->remembered =
        first != NULL ? first
                      : actor_remembered_add(&shard->requests, workspace, request_id,
                                             actor_request_hash(asking->message->as.request.body),
                                             shard->now.unix_ms);
    if (asking->remembered == NULL) {
        asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded,
                           "no memory to remember the request by its requestId");
        return false;
    }
    return true;
}

/* true: it has been refused. What cannot be made durable is not begun, so that the answer is true
 * and the journal's backlog does not grow. */
static bool refuse_stalled(struct actor_shard *shard, struct asking *asking)
{
    if (!shard->stalled) {
        return false;
    }
    asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed,
                       "the journal cannot be written: nothing was done");
    return true;
}

static void (*const verbs[PROTO_OP_COUNT])(struct actor_shard *shard, struct asking *asking) = {
    [PROTO_OP_START] = asking_start,     [PROTO_OP_CALLBACK] = callback,
    [PROTO_OP_GET] = asking_get,         [PROTO_OP_SUSPEND] = operate,
    [PROTO_OP_RESUME] = operate,         [PROTO_OP_ABORT] = operate,
    [PROTO_OP_MESSAGE] = asking_publish, [PROTO_OP_SIGNAL] = asking_publish,
    [PROTO_OP_RESTART] = operate,        [PROTO_OP_RETRY] = operate,
    [PROTO_OP_MIGRATE] = operate,        [PROTO_OP_IMPORT] = asking_start,
    [PROTO_OP_DELETE] = forget,          [PROTO_OP_STEPS] = asking_steps,
};

void shard_request(struct actor_shard *shard, struct proto_message *message,
                   struct actor_lookup *lookup)
{
    struct asking asking = {.message = message,
                            .operation = message->as.request.operation,
                            .id = message->as.request.execution_id,
                            .lookup = lookup};
    if (lookup == NULL) {
        actor_count(&shard->counters.requests, 1);
    }
    if (asking.operation == PROTO_OP_TASKS) {
        shard_tasks(shard, message);
        return;
    }
    actor_request_read(message->as.request.body, &asking.fields);
    if (asking.operation == PROTO_OP_HOOK) {
        asking_hook(shard, &asking);
        return;
    }
    if (asking.id.count == 0) {
        ASSERT(asking.operation == PROTO_OP_CALLBACK);
        if (!route_by_session(shard, &asking)) {
            return;
        }
    }
    if (actor_operation_changes(asking.operation) &&
        (!remember_request(shard, &asking) || refuse_stalled(shard, &asking))) {
        return;
    }
    ASSERT(verbs[asking.operation] != NULL); /* the router sends no others */
    verbs[asking.operation](shard, &asking);
    ASSERT(asking.message == NULL);
}
