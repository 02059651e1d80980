/*
 * look.c: `get`: the state of one execution, wherever it is, with what else is asked for.
 */
#include "actors/shard/asking.h"
#include "engine/write/write.h"

static bool includes(const struct asking *asking, const char *what)
{
    struct span include = asking_field(asking, ACTOR_FIELD_INCLUDE);
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

/* A payload that nobody has written to is an empty object. */
static uint32_t payload_pairs(struct span from, struct wire_writer *writer)
{
    static const char *const payloads[] = {"request", "context", "module", "execution"};
    static const uint8_t empty[] = {0x80};
    uint32_t count = sizeof payloads / sizeof payloads[0];
    for (uint32_t i = 0; i < count; i++) {
        struct span value = wire_find_text(from, payloads[i]);
        wire_pair_value(writer, payloads[i],
                        value.count > 0 && !wire_is(value, WIRE_NIL) ? value : span_of(empty, 1));
    }
    return count;
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

/* Whose it is and since when: what a row of `list` tells, too. */
static uint32_t identity_pairs(const struct engine_view *view, struct wire_writer *writer)
{
    uint32_t pairs = 5;
    wire_pair_string(writer, "workspaceId", view->workspace);
    wire_pair_string(writer, "projectId", view->project);
    if (view->channel.count > 0) {
        wire_pair_string(writer, "channel", view->channel);
        pairs++;
    }
    if (view->channel_session_id.count > 0) {
        wire_pair_string(writer, "channelSessionId", view->channel_session_id);
        pairs++;
    }
    wire_write_text(writer, "isTest");
    wire_write_bool(writer, view->is_test);
    wire_pair_time(writer, "startedAt", view->started_ms);
    wire_pair_time(writer, "updatedAt", view->updated_ms);
    if (view->ended) {
        wire_pair_time(writer, "endedAt", view->ended_ms);
        pairs++;
    }
    return pairs;
}

/* What `definition` and `diagram` are of: the execution's process, or another that was asked for by
 * `process` and `version` (one that it calls); its newest version where none is said. */
static const struct actor_source *source_of(struct actor_shard *shard, const struct asking *asking,
                                            const struct engine_view *view, struct span *process)
{
    uint32_t version = (uint32_t)actor_request_count(&asking->fields, ACTOR_FIELD_VERSION, 0);
    *process = asking_text(asking, ACTOR_FIELD_PROCESS, "");
    if (process->count == 0) {
        *process = view->process;
        version = view->version;
    }
    return actor_catalog_source(&shard->catalog, view->project, *process, version);
}

static uint32_t definition_pairs(const struct actor_source *source, struct wire_writer *writer)
{
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

/* Seed 004's block states, where the process is a block scheme. */
static uint32_t block_pairs(const struct engine_execution *execution, struct wire_writer *writer)
{
    size_t before = writer->count;
    wire_write_text(writer, "blocks");
    if (engine_blocks(execution, writer)) {
        return 1;
    }
    writer->count = before;
    return 0;
}

/* A BPMN file with a drawing, whatever the definition's notation. */
static uint32_t diagram_pairs(struct actor_shard *shard, const struct actor_source *source,
                              struct span process, struct wire_writer *writer)
{
    struct span diagram;
    if (source == NULL || engine_write_diagram(source->definition, process, source->content,
                                               &shard->turn, &diagram) != RESULT_OK) {
        return 0;
    }
    wire_pair_string(writer, "diagram", diagram);
    return 1;
}

/* "payloads" and "map" are read from the same bytes that are stored. */
static uint32_t included_pairs(struct actor_shard *shard, const struct asking *asking,
                               struct actor_work *work, const struct engine_view *view,
                               struct wire_writer *writer)
{
    static const char *const others[] = {"conversationHistories", "nodes", "__resume", NULL};
    static const char *const map[] = {"executionMap", NULL};
    uint32_t pairs = 0;
    if (includes(asking, "payloads") || includes(asking, "map")) {
        struct wire_writer stored;
        wire_writer_init(&stored, &shard->turn, 1024);
        engine_encode(work->execution, &stored);
        struct span bytes = wire_writer_span(&stored);
        if (includes(asking, "payloads")) {
            pairs += payload_pairs(bytes, writer) + copy_pairs(bytes, others, writer);
        }
        pairs += includes(asking, "map") ? copy_pairs(bytes, map, writer) : 0;
    }
    if (includes(asking, "logs") && asking->lookup != NULL && asking->lookup->logs != NULL) {
        const struct proto_fetched *logs = &asking->lookup->logs->as.fetched;
        static const uint8_t none[] = {0x90};
        wire_pair_value(writer, "logs",
                        logs->result == RESULT_OK ? logs->bytes : span_of(none, sizeof none));
        pairs++;
    }
    struct span process;
    const struct actor_source *source = source_of(shard, asking, view, &process);
    if (includes(asking, "definition")) {
        pairs += definition_pairs(source, writer);
    }
    if (includes(asking, "diagram")) {
        pairs += diagram_pairs(shard, source, process, writer);
    }
    return pairs;
}

/* They were asked for and did not come: an empty list would say that there are none. */
static bool logs_failed(const struct actor_shard *shard, const struct asking *asking)
{
    if (!shard->options.audit || !includes(asking, "logs")) {
        return false;
    }
    if (asking->lookup == NULL || asking->lookup->logs == NULL) {
        return true;
    }
    enum result result = asking->lookup->logs->as.fetched.result;
    return result != RESULT_OK && result != RESULT_NOT_FOUND;
}

void asking_get(struct actor_shard *shard, struct asking *asking)
{
    if (includes(asking, "logs") &&
        shard_fetch_logs(shard, &asking->id, &asking->message, asking->lookup)) {
        return;
    }
    struct actor_work *work = asking_find(shard, asking);
    if (work == NULL) {
        return;
    }
    if (logs_failed(shard, asking)) {
        asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed, "the logs cannot be read");
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
    pairs += identity_pairs(&view, &writer);
    pairs += block_pairs(work->execution, &writer);
    pairs += included_pairs(shard, asking, work, &view, &writer);
    struct span body = actor_reply_close(&writer, mark, pairs);
    shard_reply(shard, asking->message, true, body,
                work->touched ? shard->commit_number : work->commit);
    asking_done(asking);
}
