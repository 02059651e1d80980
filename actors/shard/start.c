/*
 * start.c: a new execution: begun here, or imported from where it ran before.
 */
#include "actors/shard/asking.h"
#include "proto/base/assert.h"

static bool id_may_be_taken(const struct asking *asking)
{
    return asking_field(asking, ACTOR_FIELD_EXECUTION_ID).count > 0 ||
           asking_field(asking, ACTOR_FIELD_REQUEST_ID).count > 0;
}

/* RESULT_NOT_FOUND: no such process; RESULT_LIMIT: no memory, or the start is too large. */
static enum result make_execution(struct actor_shard *shard, const struct asking *asking,
                                  struct engine_execution **execution)
{
    struct span project = asking_text(asking, ACTOR_FIELD_PROJECT, "default");
    int64_t version = actor_request_count(&asking->fields, ACTOR_FIELD_VERSION, 0);
    const struct engine_catalog *catalog = &shard->catalog.engine;
    const struct engine_process *process =
        version < 0 || version > UINT32_MAX
            ? NULL
            : catalog->process(catalog, project, asking_text(asking, ACTOR_FIELD_PROCESS, ""),
                               (uint32_t)version);
    if (process == NULL) {
        return RESULT_NOT_FOUND;
    }
    struct engine_start start = {
        .id = asking->id,
        .workspace = asking_text(asking, ACTOR_FIELD_WORKSPACE, "default"),
        .project = project,
        .channel = asking_text(asking, ACTOR_FIELD_CHANNEL, ""),
        .channel_session_id = asking_text(asking, ACTOR_FIELD_SESSION, ""),
        .request = asking_field(asking, ACTOR_FIELD_REQUEST),
        .context = asking_field(asking, ACTOR_FIELD_CONTEXT),
        .execution = asking_field(asking, ACTOR_FIELD_EXECUTION),
        .traceparent = asking_text(asking, ACTOR_FIELD_TRACEPARENT, ""),
        .is_test = wire_bool_or(asking_field(asking, ACTOR_FIELD_IS_TEST), false),
        .process = process,
        .start_node = asking->message->as.request.start_node,
    };
    *execution = engine_new(catalog, &start, shard->now.unix_ms);
    return *execution == NULL ? RESULT_LIMIT : RESULT_OK;
}

/* The version alone, or the process. */
static struct span not_deployed(struct actor_shard *shard, const struct asking *asking)
{
    struct span process = asking_text(asking, ACTOR_FIELD_PROCESS, "");
    struct span project = asking_text(asking, ACTOR_FIELD_PROJECT, "default");
    int64_t version = actor_request_count(&asking->fields, ACTOR_FIELD_VERSION, 0);
    const struct engine_catalog *catalog = &shard->catalog.engine;
    if (version > 0 && catalog->process(catalog, project, process, 0) != NULL) {
        return arena_format(&shard->turn,
                            "process \"%.*s\" has no version %lld in project \"%.*s\"",
                            SPAN_ARG(process), (long long)version, SPAN_ARG(project));
    }
    return arena_format(&shard->turn, "process \"%.*s\" is not deployed in project \"%.*s\"",
                        SPAN_ARG(process), SPAN_ARG(project));
}

static struct actor_work *make_work(struct actor_shard *shard, struct asking *asking)
{
    struct engine_execution *execution = NULL;
    enum result result = make_execution(shard, asking, &execution);
    if (result == RESULT_NOT_FOUND) {
        asking_refuse(shard, asking,
                      &(struct actor_refusal){.error = PROTO_ERROR_DefinitionNotFound,
                                              .message = not_deployed(shard, asking)},
                      NULL);
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
    asking_refuse_text(shard, asking, PROTO_ERROR_PayloadTooLarge,
                       "there is no memory for this execution");
    return NULL;
}

static void refuse_taken(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->turn, 512);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = engine_reply_pairs(work->execution, &writer);
    wire_close_map(&writer, mark, pairs);
    asking_refuse(shard, asking,
                  &(struct actor_refusal){.error = PROTO_ERROR_AlreadyExists,
                                          .message = span_text("an execution of this id exists"),
                                          .details = wire_writer_span(&writer),
                                          .execution_id = execution_id_span(&asking->id)},
                  work);
}

/* Deleted by a request whose commit is still under way: its slot is taken until then. */
static bool is_leaving(struct actor_shard *shard, const struct asking *asking)
{
    const struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&asking->id));
    return slot != NULL && slot->work != NULL && slot->work->forgotten;
}

struct actor_work *shard_begin_by(struct actor_shard *shard, const struct engine_start *start)
{
    struct span id = execution_id_span(&start->id);
    bool has_start =
        start->process != NULL && (start->start_node.count == 0 ||
                                   engine_process_node(start->process, start->start_node) != NULL);
    if (!has_start || shard_slot_find(shard, id) != NULL) {
        return NULL;
    }
    struct engine_execution *execution =
        engine_new(&shard->catalog.engine, start, shard->now.unix_ms);
    struct actor_slot *slot = execution == NULL ? NULL : shard_slot_new(shard, id);
    if (slot == NULL) {
        if (execution != NULL) {
            engine_free(execution);
        }
        return NULL;
    }
    struct actor_work *work = shard_work_new(shard, slot, execution);
    if (work == NULL) {
        shard_slot_free(shard, slot);
        return NULL;
    }
    work->over = true; /* should it be refused, it goes when the turn settles */
    shard_unsettle(shard, work);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = shard->now.unix_ms};
    if (shard_accept(shard, work, &input) != RESULT_OK) {
        return NULL;
    }
    actor_count(&shard->counters.started, 1);
    return work;
}

void asking_start(struct actor_shard *shard, struct asking *asking)
{
    if (is_leaving(shard, asking)) {
        asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded,
                           "an execution of this id is just being deleted: try again");
        return;
    }
    if (id_may_be_taken(asking)) {
        struct actor_work *taken;
        enum shard_located located = shard_locate(shard, &asking->id, SHARD_WISH_CHECK,
                                                  &asking->message, asking->lookup, &taken);
        if (located == SHARD_PENDING) {
            return;
        }
        if (located == SHARD_LIVE) {
            refuse_taken(shard, asking, taken);
            return;
        }
        if (located != SHARD_ABSENT) {
            asking_refuse_located(shard, asking, located);
            return;
        }
    }
    struct actor_work *work = make_work(shard, asking);
    if (work == NULL) {
        return;
    }
    work->over = true; /* should it be refused, it goes when the turn settles */
    shard_unsettle(shard, work);
    bool imports = asking->operation == PROTO_OP_IMPORT;
    struct engine_input input = {.kind = imports ? ENGINE_IN_IMPORT : ENGINE_IN_START,
                                 .now_ms = shard->now.unix_ms,
                                 .foreign = asking->message->as.request.body};
    enum result result = asking_submit(shard, asking, work, &input, asking_wants_accepted(asking));
    if (result == RESULT_OK) {
        actor_count(&shard->counters.started, 1);
    } else if (asking->message != NULL) {
        asking_refuse_accept(shard, asking, work);
    }
}
