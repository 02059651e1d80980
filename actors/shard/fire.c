/*
 * fire.c: a timer begins an execution. That it has fired stands in the journal with what it began:
 * both in one commit, so it neither fires twice nor is lost, wherever the process dies.
 */
#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

/* The firing itself goes back as its answer: there is no memory that could be missing. */
static void answer(struct actor_shard *shard, struct proto_message *message, enum result result,
                   uint64_t after)
{
    message->type = PROTO_FIRED;
    message->as.fire.result = result;
    shard_effect(shard, message, after);
}

static void record(struct actor_shard *shard, const struct proto_fire *fire)
{
    struct wire_writer writer;
    arena_clear(&shard->scratch);
    wire_writer_init(&writer, &shard->scratch, fire->trigger.count + 256);
    wire_write_array(&writer, 4);
    wire_write_string(&writer, fire->trigger);
    wire_write_uint(&writer, fire->fired);
    wire_write_int(&writer, fire->fired_ms);
    wire_write_string(&writer, execution_id_span(&fire->execution_id));
    record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_TRIGGER,
                                                       .project_id = fire->project,
                                                       .name = fire->process,
                                                       .number = fire->version,
                                                       .at_ms = fire->due_ms,
                                                       .body = wire_writer_span(&writer)});
}

/* request: {"trigger":{"id","kind":"timer","dueAt"}} */
static struct span request_of(struct actor_shard *shard, const struct proto_fire *fire)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->turn, fire->trigger.count + 96);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "trigger");
    wire_write_map(&writer, 3);
    wire_pair_string(&writer, "id", fire->trigger);
    wire_pair_text(&writer, "kind", "timer");
    wire_pair_time(&writer, "dueAt", fire->due_ms);
    return wire_writer_span(&writer);
}

static struct actor_work *begin(struct actor_shard *shard, const struct proto_fire *fire)
{
    const struct engine_catalog *catalog = &shard->catalog.engine;
    struct engine_start start = {
        .id = fire->execution_id,
        .workspace = fire->workspace,
        .project = fire->project,
        .request = request_of(shard, fire),
        .process = catalog->process(catalog, fire->project, fire->process, fire->version),
        .start_node = fire->node,
    };
    return shard_begin_by(shard, &start);
}

void shard_fire(struct actor_shard *shard, struct proto_message *message)
{
    const struct proto_fire *fire = &message->as.fire;
    if (shard->stalled || shard->closing) {
        answer(shard, message, RESULT_AGAIN, 0);
        return;
    }
    if (shard_slot_find(shard, execution_id_span(&fire->execution_id)) != NULL) {
        /* Somebody has started an execution of this id by hand: it has been served. */
        record(shard, fire);
        answer(shard, message, RESULT_OK, shard->commit_number);
        return;
    }
    struct actor_news *news = arena_zero(&shard->turn, sizeof *news);
    struct actor_work *work = news == NULL ? NULL : begin(shard, fire);
    if (work == NULL) {
        log_line(LOG_WARN, "SHARD-FIRE-RETRY", "shard=%u executionId=%s", shard->options.index,
                 fire->execution_id.text);
        answer(shard, message, RESULT_AGAIN, 0);
        return;
    }
    news->fired = message;
    *work->news_end = news;
    work->news_end = &news->next;
}

void shard_finish_fire(struct actor_shard *shard, const struct actor_work *work,
                       struct proto_message *message)
{
    if (!work->broken) {
        record(shard, &message->as.fire);
    }
    answer(shard, message, work->broken ? RESULT_AGAIN : RESULT_OK, shard->commit_number);
}
