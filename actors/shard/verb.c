/*
 * verb.c: what a request asks of an execution. The router has checked ids and the types of all fields (actors/router.c).
 */
#include "actors/request.h"
#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/wire/reader.h"

/* One request on its way through this file. */
struct asking {
    struct proto_message *message; /* NULL once it was taken */
    enum proto_operation operation;
    struct execution_id id;
    struct actor_request fields;
    struct actor_remembered *remembered;
    struct actor_lookup *lookup; /* what a fetch has found, or NULL */
};

static struct span field(const struct asking *asking, enum actor_field field) { return asking->fields.at[field]; }

static struct span text_field(const struct asking *asking, enum actor_field field, const char *fallback)
{
    return actor_request_text(&asking->fields, field, fallback);
}

static uint64_t timeout_of(const struct actor_request *fields)
{
    return (uint64_t)actor_request_count(fields, ACTOR_FIELD_TIMEOUT, 0);
}

static bool wants_accepted(const struct asking *asking)
{
    return span_is(text_field(asking, ACTOR_FIELD_WAIT, ""), "accepted");
}

/* ---- endings ---- */

static void done(struct asking *asking)
{
    message_free(asking->message);
    asking->message = NULL;
}

static void refuse(struct actor_shard *shard, struct asking *asking, const struct actor_refusal *refusal,
                   struct actor_work *work)
{
    shard_refuse(shard, asking->message, asking->remembered, refusal, work);
    done(asking);
}

static void refuse_text(struct actor_shard *shard, struct asking *asking, enum proto_error error, const char *message)
{
    refuse(shard, asking,
           &(struct actor_refusal){.error = error,
                                   .message = span_text(message),
                                   .execution_id = execution_id_span(&asking->id)},
           NULL);
}

static void refuse_located(struct actor_shard *shard, struct asking *asking, enum shard_located located)
{
    switch (located) {
    case SHARD_ABSENT:
        refuse_text(shard, asking, PROTO_ERROR_SessionNotFound, "there is no such execution");
        return;
    case SHARD_ENDED:
        refuse_text(shard, asking, PROTO_ERROR_AlreadyFinished, "the execution has ended");
        return;
    case SHARD_DAMAGED:
        refuse_text(shard, asking, PROTO_ERROR_Internal, "the execution was set aside: its stored bytes are damaged");
        return;
    case SHARD_FAILED:
        refuse_text(shard, asking, PROTO_ERROR_StorageFailed, "the execution could not be fetched");
        return;
    case SHARD_LIVE:
    case SHARD_PENDING:
        break;
    }
    ASSERT_UNREACHABLE();
}

static void refuse_accept(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    const struct engine_output *output = work->output;
    ASSERT(output != NULL);
    bool said = output->error != PROTO_ERROR_NONE;
    refuse(shard, asking,
           &(struct actor_refusal){.error = said ? output->error : PROTO_ERROR_InvalidTransition,
                                   .message = said ? output->error_message : span_text("nothing to do"),
                                   .details = output->error_details,
                                   .execution_id = execution_id_span(&asking->id)},
           work);
}

static void conclude(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    struct span body = shard_state_body(shard, work->execution);
    shard_conclude(shard, asking->message, asking->remembered, true, body, work);
    done(asking);
}

/* The repeats that came while the first was looked up wait like any other. */
static void wait_attached(struct actor_shard *shard, struct actor_work *work, struct actor_remembered *remembered)
{
    struct proto_message *repeat;
    if (remembered == NULL || remembered->replied) {
        return; /* answered: so are they */
    }
    while ((repeat = actor_queue_pop(&remembered->attached)) != NULL) {
        struct actor_request fields;
        actor_request_read(repeat->as.request.body, &fields);
        if (shard_wait(shard, work, repeat, NULL, timeout_of(&fields)) == NULL) {
            shard_refuse(shard, repeat, NULL,
                         &(struct actor_refusal){.error = PROTO_ERROR_Overloaded,
                                                 .message = span_text("too many requests wait")},
                         NULL);
        }
        message_free(repeat);
    }
}

/* Waits for the segment's end from before the input, so that whatever ends it answers. NULL: refused. */
static struct actor_waiter *begin_wait(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    struct actor_waiter *waiter =
        shard_wait(shard, work, asking->message, asking->remembered, timeout_of(&asking->fields));
    if (waiter == NULL) {
        actor_count(&shard->counters.overloaded, 1);
        refuse_text(shard, asking, PROTO_ERROR_Overloaded, "too many requests wait");
    }
    return waiter;
}

/*
 * One input for a request: its caller waits for the segment's end, or (at_once) is told the state right after it. RESULT_OK:
 * concluded. RESULT_LIMIT: the work is broken, and who waits is answered when it is set aside. RESULT_AGAIN: refused for want
 * of room. Else the engine refused, nobody waits, and the request is still here.
 */
static enum result submit(struct actor_shard *shard, struct asking *asking, struct actor_work *work,
                          const struct engine_input *input, bool at_once)
{
    struct actor_waiter *waiter = at_once ? NULL : begin_wait(shard, asking, work);
    if (!at_once && waiter == NULL) {
        return RESULT_AGAIN;
    }
    enum result result = shard_accept(shard, work, input);
    if (result == RESULT_OK) {
        wait_attached(shard, work, asking->remembered);
        if (at_once) {
            conclude(shard, asking, work);
        }
        done(asking);
    } else if (result == RESULT_LIMIT) {
        if (at_once) {
            refuse_text(shard, asking, PROTO_ERROR_PayloadTooLarge, "the execution outgrew its memory limit");
        }
        done(asking);
    } else if (!at_once) {
        shard_wait_end(shard, waiter);
    }
    return result;
}

/* ---- start ---- */

static bool id_may_be_taken(const struct asking *asking)
{
    return field(asking, ACTOR_FIELD_EXECUTION_ID).count > 0 || field(asking, ACTOR_FIELD_REQUEST_ID).count > 0;
}

/* RESULT_NOT_FOUND: no such process; RESULT_LIMIT: no memory, or the start is too large. */
static enum result make_execution(struct actor_shard *shard, const struct asking *asking,
                                  struct engine_execution **execution)
{
    struct span project = text_field(asking, ACTOR_FIELD_PROJECT, "default");
    int64_t version = actor_request_count(&asking->fields, ACTOR_FIELD_VERSION, 0);
    const struct engine_library *library = &shard->library.engine;
    const struct engine_process *process =
        version < 0 || version > UINT32_MAX
            ? NULL
            : library->process(library, project, text_field(asking, ACTOR_FIELD_PROCESS, ""), (uint32_t)version);
    if (process == NULL) {
        return RESULT_NOT_FOUND;
    }
    struct engine_start start = {
        .id = asking->id,
        .workspace = text_field(asking, ACTOR_FIELD_WORKSPACE, "default"),
        .project = project,
        .channel = text_field(asking, ACTOR_FIELD_CHANNEL, ""),
        .channel_session_id = text_field(asking, ACTOR_FIELD_SESSION, ""),
        .request = field(asking, ACTOR_FIELD_REQUEST),
        .context = field(asking, ACTOR_FIELD_CONTEXT),
        .execution = field(asking, ACTOR_FIELD_EXECUTION),
        .traceparent = text_field(asking, ACTOR_FIELD_TRACEPARENT, ""),
        .is_test = wire_bool_or(field(asking, ACTOR_FIELD_IS_TEST), false),
        .process = process,
    };
    *execution = engine_new(library, &start, shard->now.unix_ms);
    return *execution == NULL ? RESULT_LIMIT : RESULT_OK;
}

static struct actor_work *make_work(struct actor_shard *shard, struct asking *asking)
{
    struct engine_execution *execution = NULL;
    enum result result = make_execution(shard, asking, &execution);
    if (result == RESULT_NOT_FOUND) {
        struct span process = text_field(asking, ACTOR_FIELD_PROCESS, "");
        struct span message = arena_format(&shard->turn, "process \"%.*s\" is not deployed in project \"%.*s\"",
                                           SPAN_ARG(process), SPAN_ARG(text_field(asking, ACTOR_FIELD_PROJECT, "default")));
        refuse(shard, asking, &(struct actor_refusal){.error = PROTO_ERROR_DefinitionNotFound, .message = message}, NULL);
        return NULL;
    }
    struct actor_slot *slot =
        result == RESULT_OK ? shard_slot_new(shard, execution_id_span(&asking->id)) : NULL;
    struct actor_work *work = slot == NULL ? NULL : shard_work_new(shard, slot, execution);
    if (work != NULL) {
        return work;
    }
    if (slot != NULL) {
        shard_slot_free(shard, slot); /* shard_work_new has freed the execution */
    } else if (execution != NULL) {
        engine_free(execution);
    }
    refuse_text(shard, asking, PROTO_ERROR_PayloadTooLarge, "there is no memory for this execution");
    return NULL;
}

static void refuse_taken(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->turn, 512);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = engine_reply_pairs(work->execution, &writer);
    wire_close_map(&writer, mark, pairs);
    refuse(shard, asking,
           &(struct actor_refusal){.error = PROTO_ERROR_AlreadyExists,
                                   .message = span_text("an execution of this id exists"),
                                   .details = wire_writer_span(&writer),
                                   .execution_id = execution_id_span(&asking->id)},
           work);
}

static void start(struct actor_shard *shard, struct asking *asking)
{
    if (shard->stalled) {
        refuse_text(shard, asking, PROTO_ERROR_StorageFailed, "the journal cannot be written");
        return;
    }
    if (id_may_be_taken(asking)) {
        struct actor_work *taken;
        enum shard_located located =
            shard_locate(shard, &asking->id, SHARD_WISH_CHECK, &asking->message, asking->lookup, &taken);
        if (located == SHARD_PENDING) {
            return;
        }
        if (located == SHARD_LIVE) {
            refuse_taken(shard, asking, taken);
            return;
        }
        if (located != SHARD_ABSENT) {
            refuse_located(shard, asking, located);
            return;
        }
    }
    struct actor_work *work = make_work(shard, asking);
    if (work == NULL) {
        return;
    }
    work->over = true; /* should it be refused, it goes when the turn settles */
    shard_unsettle(shard, work);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = shard->now.unix_ms};
    enum result result = submit(shard, asking, work, &input, wants_accepted(asking));
    if (result == RESULT_OK) {
        actor_count(&shard->counters.started, 1);
    } else if (asking->message != NULL) {
        refuse_accept(shard, asking, work);
    }
}

/* ---- callback ---- */

static struct engine_input callback_input(struct actor_shard *shard, const struct asking *asking)
{
    return (struct engine_input){.kind = ENGINE_IN_CALLBACK,
                                 .now_ms = shard->now.unix_ms,
                                 .task_id = text_field(asking, ACTOR_FIELD_TASK_ID, ""),
                                 .payload = field(asking, ACTOR_FIELD_PAYLOAD),
                                 .output = field(asking, ACTOR_FIELD_OUTPUT),
                                 .error = field(asking, ACTOR_FIELD_ERROR)};
}

/* engine.md 9: one that comes before its wait is kept by the engine, in the execution. */
static void callback(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_LIVE, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING) {
        return;
    }
    if (located != SHARD_LIVE) {
        refuse_located(shard, asking, located);
        return;
    }
    struct engine_input input = callback_input(shard, asking);
    enum result result = submit(shard, asking, work, &input, wants_accepted(asking));
    if (result != RESULT_OK && asking->message != NULL) {
        refuse_accept(shard, asking, work);
    }
}

/* ---- operator verbs ---- */

static const enum engine_input_kind verb_inputs[PROTO_OP_COUNT] = {
    [PROTO_OP_SUSPEND] = ENGINE_IN_SUSPEND, [PROTO_OP_RESUME] = ENGINE_IN_RESUME, [PROTO_OP_ABORT] = ENGINE_IN_ABORT,
    [PROTO_OP_RESTART] = ENGINE_IN_RESTART, [PROTO_OP_RETRY] = ENGINE_IN_RETRY,
};

/* Suspend and abort are answered with the state they made; the others with that at their segment's end. */
static bool answers_at_once(const struct asking *asking)
{
    return asking->operation == PROTO_OP_SUSPEND || asking->operation == PROTO_OP_ABORT || wants_accepted(asking);
}

static void operate(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_ANY, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING) {
        return;
    }
    if (located != SHARD_LIVE) {
        refuse_located(shard, asking, located);
        return;
    }
    struct engine_input input = {.kind = verb_inputs[asking->operation],
                                 .now_ms = shard->now.unix_ms,
                                 .task_id = text_field(asking, ACTOR_FIELD_TASK_ID, ""),
                                 .reason = text_field(asking, ACTOR_FIELD_REASON, "")};
    enum result result = submit(shard, asking, work, &input, answers_at_once(asking));
    if (result != RESULT_OK && asking->message != NULL) {
        refuse_accept(shard, asking, work);
    }
}

static void forget(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_ANY, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING) {
        return;
    }
    if (located != SHARD_LIVE) {
        refuse_located(shard, asking, located);
        return;
    }
    if (shard_touch(shard, work) == NULL) {
        refuse_text(shard, asking, PROTO_ERROR_Overloaded, "no memory");
        return;
    }
    shard_cancel_calls(shard, work);
    struct actor_refusal deleted = {.error = PROTO_ERROR_Aborted,
                                    .message = span_text("the execution was deleted"),
                                    .execution_id = execution_id_span(&asking->id)};
    shard_refuse_all(shard, work, &deleted);
    work->forgotten = true;
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &shard->scratch, 256);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_string(&writer, "executionId", execution_id_span(&asking->id));
    wire_pair_bool(&writer, "deleted", true);
    struct span body = actor_reply_close(&writer, mark, pairs + 2);
    shard_conclude(shard, asking->message, asking->remembered, true, body, work);
    done(asking);
}

/* ---- get ---- */

static bool includes(const struct asking *asking, const char *what)
{
    struct span include = field(asking, ACTOR_FIELD_INCLUDE);
    if (wire_is(include, WIRE_STRING)) {
        return span_is(wire_head(include).as.text, what);
    }
    struct wire_map_walk walk = wire_array_begin(include);
    struct span value;
    while (wire_array_next(&walk, &value)) {
        if (span_is(wire_string_or(value, ""), what)) {
            return true;
        }
    }
    return false;
}

static uint32_t copy_pairs(struct span from, const char *const *names, struct wire_writer *writer)
{
    uint32_t pairs = 0;
    for (; *names != NULL; names++) {
        struct span value = wire_find_text(from, *names);
        if (value.count > 0) {
            wire_pair_value(writer, *names, value);
            pairs++;
        }
    }
    return pairs;
}

static uint32_t definition_pairs(struct actor_shard *shard, const struct engine_view *view, struct wire_writer *writer)
{
    const struct actor_source *source =
        actor_library_source(&shard->library, view->project, view->process, view->version);
    if (source == NULL) {
        return 0;
    }
    wire_write_text(writer, "definition");
    wire_write_map(writer, 3);
    wire_pair_string(writer, "name", source->name);
    wire_pair_int(writer, "version", source->version);
    wire_pair_string(writer, "content", source->content);
    return 1;
}

/* "payloads" and "map" are read from the same bytes that are stored. */
static uint32_t included_pairs(struct actor_shard *shard, const struct asking *asking, struct actor_work *work,
                               const struct engine_view *view, struct wire_writer *writer)
{
    static const char *const payloads[] = {"request", "context", "module", "execution", "conversationHistories",
                                           "nodes",   "__resume", NULL};
    static const char *const map[] = {"executionMap", NULL};
    uint32_t pairs = 0;
    if (includes(asking, "payloads") || includes(asking, "map")) {
        struct wire_writer stored;
        wire_writer_init(&stored, &shard->turn, 1024);
        engine_encode(work->execution, &stored);
        struct span bytes = wire_writer_span(&stored);
        pairs += includes(asking, "payloads") ? copy_pairs(bytes, payloads, writer) : 0;
        pairs += includes(asking, "map") ? copy_pairs(bytes, map, writer) : 0;
    }
    if (includes(asking, "logs") && asking->lookup != NULL && asking->lookup->logs != NULL) {
        const struct proto_fetched *logs = &asking->lookup->logs->as.fetched;
        static const uint8_t none[] = {0x90};
        wire_pair_value(writer, "logs", logs->result == RESULT_OK ? logs->bytes : span_of(none, sizeof none));
        pairs++;
    }
    if (includes(asking, "definition")) {
        pairs += definition_pairs(shard, view, writer);
    }
    return pairs;
}

static void get(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    if (includes(asking, "logs") && shard_fetch_logs(shard, &asking->id, &asking->message, asking->lookup)) {
        return;
    }
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_ANY, &asking->message, asking->lookup, &work);
    if (located == SHARD_PENDING) {
        return;
    }
    if (located != SHARD_LIVE) {
        refuse_located(shard, asking, located);
        return;
    }
    struct engine_view view;
    engine_look(work->execution, &view);
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &shard->scratch, 1024);
    size_t mark = actor_reply_open(&writer, &pairs);
    pairs += engine_reply_pairs(work->execution, &writer);
    wire_pair_string(&writer, "workspaceId", view.workspace);
    wire_pair_string(&writer, "projectId", view.project);
    wire_pair_string(&writer, "process", view.process);
    wire_pair_int(&writer, "version", view.version);
    wire_pair_int(&writer, "run", view.run);
    wire_pair_time(&writer, "startedAt", view.started_ms);
    wire_pair_time(&writer, "updatedAt", view.updated_ms);
    pairs += 7;
    pairs += included_pairs(shard, asking, work, &view, &writer);
    struct span body = actor_reply_close(&writer, mark, pairs);
    shard_reply(shard, asking->message, true, body, work->touched ? shard->commit_number : work->commit);
    done(asking);
}

/* ---- by channel session ---- */

/* This shard keeps the session: whom does it mean? Remembered for repeats, which may come when the execution has moved on. */
static bool resolve(struct actor_shard *shard, struct asking *asking)
{
    struct span session = text_field(asking, ACTOR_FIELD_SESSION, "");
    struct span request_id = text_field(asking, ACTOR_FIELD_REQUEST_ID, "");
    struct span workspace = text_field(asking, ACTOR_FIELD_WORKSPACE, "default");
    struct actor_remembered *route =
        request_id.count == 0 ? NULL : actor_remembered_find(&shard->routes, workspace, request_id);
    if (route != NULL) {
        return execution_id_parse(route->reply, &asking->id) == RESULT_OK;
    }
    if (actor_directory_resolve(&shard->directory, session, &asking->id) != RESULT_OK) {
        return false;
    }
    route = request_id.count == 0
                ? NULL
                : actor_remembered_add(&shard->routes, workspace, request_id, 0, shard->now.unix_ms);
    if (route != NULL && actor_remembered_reply(&shard->routes, route, execution_id_span(&asking->id),
                                              shard->now.monotonic_ms + LIMIT_REQUEST_KEPT_MS) != RESULT_OK) {
        actor_remembered_drop(&shard->routes, route);
    }
    return true;
}

/* true: the request is this shard's own. */
static bool route_by_session(struct actor_shard *shard, struct asking *asking)
{
    if (!resolve(shard, asking)) {
        actor_reply_refuse_text(asking->message, &shard->turn, PROTO_ERROR_SessionNotFound,
                                "no execution waits on this channelSessionId");
        done(asking);
        return false;
    }
    asking->message->as.request.execution_id = asking->id;
    uint32_t owner = actor_shard_of(execution_id_span(&asking->id), shard->options.shard_count);
    if (owner == shard->options.index) {
        return true;
    }
    struct proto_sink *sink = shard->options.shards[owner];
    if (sink->send(sink, &asking->message) != RESULT_OK) {
        actor_reply_refuse_text(asking->message, &shard->turn, PROTO_ERROR_Overloaded, "the engine is busy");
        done(asking);
    }
    return false;
}

/* ---- requestId ---- */

static bool changes_something(enum proto_operation operation)
{
    return operation != PROTO_OP_GET && operation != PROTO_OP_TASKS;
}

static void answer_repeat(struct actor_shard *shard, struct asking *asking, struct actor_remembered *first)
{
    actor_count(&shard->counters.repeated, 1);
    if (first->body_hash != base_hash(asking->message->as.request.body, 0)) {
        actor_reply_refuse(asking->message, &shard->turn,
                           &(struct actor_refusal){.error = PROTO_ERROR_InvalidRequest,
                                                   .message = span_text("requestId was used with another body")});
        done(asking);
        return;
    }
    if (first->replied) {
        shard_reply(shard, asking->message, true, first->reply, first->commit);
        done(asking);
        return;
    }
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&asking->id));
    struct actor_waiter *waiter = slot == NULL || slot->work == NULL ? NULL : slot->work->waiters;
    while (waiter != NULL && waiter->remembered != first) {
        waiter = waiter->next;
    }
    if (waiter != NULL) {
        if (begin_wait(shard, asking, slot->work) != NULL) {
            done(asking);
        }
        return;
    }
    actor_queue_push(&first->attached, asking->message);
    asking->message = NULL;
}

/* true: go on. false: it was a repeat, or it cannot be remembered. */
static bool remember_request(struct actor_shard *shard, struct asking *asking)
{
    struct span request_id = text_field(asking, ACTOR_FIELD_REQUEST_ID, "");
    if (request_id.count == 0 || !changes_something(asking->operation)) {
        return true;
    }
    struct span workspace = text_field(asking, ACTOR_FIELD_WORKSPACE, "default");
    struct actor_remembered *first = actor_remembered_find(&shard->requests, workspace, request_id);
    if (first != NULL && asking->lookup == NULL) {
        answer_repeat(shard, asking, first);
        return false;
    }
    asking->remembered = first != NULL ? first
                                       : actor_remembered_add(&shard->requests, workspace, request_id,
                                                            base_hash(asking->message->as.request.body, 0), shard->now.unix_ms);
    if (asking->remembered == NULL) {
        refuse_text(shard, asking, PROTO_ERROR_Overloaded, "no memory to remember the request by its requestId");
        return false;
    }
    return true;
}

static void (*const verbs[PROTO_OP_COUNT])(struct actor_shard *shard, struct asking *asking) = {
    [PROTO_OP_START] = start,     [PROTO_OP_CALLBACK] = callback, [PROTO_OP_GET] = get,
    [PROTO_OP_SUSPEND] = operate, [PROTO_OP_RESUME] = operate,    [PROTO_OP_ABORT] = operate,
    [PROTO_OP_RESTART] = operate, [PROTO_OP_RETRY] = operate,     [PROTO_OP_DELETE] = forget,
};

void shard_request(struct actor_shard *shard, struct proto_message *message, struct actor_lookup *lookup)
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
    if (asking.id.count == 0) {
        ASSERT(asking.operation == PROTO_OP_CALLBACK);
        if (!route_by_session(shard, &asking)) {
            return;
        }
    }
    if (!remember_request(shard, &asking)) {
        return;
    }
    ASSERT(verbs[asking.operation] != NULL); /* the router sends no others */
    verbs[asking.operation](shard, &asking);
    ASSERT(asking.message == NULL);
}
