/*
 * deliver.c: this shard as the owner of executions that publish and take. What an execution
 * publishes stands in the journal with the step that published it; what it takes is struck out
 * there with what that did: both in one commit, so neither can be without the other.
 */
#include "actors/shard/asking.h"
#include "proto/base/assert.h"
#include "proto/log.h"

enum { TTL_DEFAULT_MS = 60 * 60 * 1000 };
#define TTL_MAX_MS ((int64_t)366 * 24 * 60 * 60 * 1000)

static uint32_t keeper_of(const struct actor_shard *shard, struct span name)
{
    return actor_shard_of(name, shard->options.shard_count);
}

struct proto_sink *shard_keeper(struct actor_shard *shard, struct span name)
{
    return shard->options.shards[keeper_of(shard, name)];
}

static int64_t expiry(const struct actor_shard *shard, int64_t ttl_ms)
{
    return shard->now.unix_ms + (ttl_ms > TTL_MAX_MS ? TTL_MAX_MS : ttl_ms);
}

/* ---- publishing ---- */

/* Into this turn's commit; to its keeper behind that. */
static void publish(struct actor_shard *shard, const struct proto_publish *published)
{
    struct proto_message *message = shard_publish_message(PROTO_PUBLISH, published);
    if (!published->is_signal) {
        struct wire_writer writer;
        wire_writer_init(&writer, &shard->turn,
                         published->name.count + published->key.count + published->payload.count +
                             64);
        wire_write_array(&writer, 4);
        wire_write_string(&writer, published->name);
        wire_write_string(&writer, published->key);
        wire_write_value(&writer, published->payload);
        wire_write_int(&writer, published->at_ms);
        record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_MESSAGE,
                                                           .workspace_id = published->workspace,
                                                           .project_id = published->project,
                                                           .name = published->id,
                                                           .at_ms = published->expires_ms,
                                                           .body = wire_writer_span(&writer)});
    }
    if (message == NULL) { /* a message is in the journal: the next start delivers it */
        log_line(LOG_CRITICAL, "MESSAGE-SET-ASIDE", "messageId=%.*s reason=\"no memory\"",
                 SPAN_ARG(published->id));
        return;
    }
    shard_effect(shard, message, shard->commit_number);
}

void shard_note_publish(struct actor_shard *shard, struct actor_work *work,
                        const struct engine_effect *effect)
{
    struct actor_news *news = arena_zero(&shard->turn, sizeof *news);
    if (news == NULL) {
        work->broken = true;
        return;
    }
    int64_t ttl_ms = effect->as.publish.ttl_ms > 0 ? effect->as.publish.ttl_ms : TTL_DEFAULT_MS;
    struct engine_view view;
    engine_look(work->execution, &view);
    news->published = (struct proto_publish){.is_signal = effect->as.publish.is_signal,
                                             .id = effect->as.publish.id,
                                             .workspace = view.workspace,
                                             .project = view.project,
                                             .name = effect->as.publish.name,
                                             .key = effect->as.publish.correlation_key,
                                             .payload = effect->as.publish.payload,
                                             .at_ms = shard->now.unix_ms,
                                             .expires_ms = expiry(shard, ttl_ms)};
    *work->news_end = news;
    work->news_end = &news->next;
}

void asking_publish(struct actor_shard *shard, struct asking *asking)
{
    if (shard->stalled) {
        asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed,
                           "the journal cannot be written");
        return;
    }
    struct span id = execution_id_span(&asking->id);
    struct span payload = asking_field(asking, ACTOR_FIELD_PAYLOAD);
    struct proto_publish published = {
        .is_signal = asking->operation == PROTO_OP_SIGNAL,
        .id = id,
        .workspace = asking_text(asking, ACTOR_FIELD_WORKSPACE, "default"),
        .project = asking_text(asking, ACTOR_FIELD_PROJECT, "default"),
        .name = asking_text(asking, ACTOR_FIELD_NAME, ""),
        .key = asking_text(asking, ACTOR_FIELD_CORRELATION_KEY, ""),
        .payload = wire_is(payload, WIRE_NIL) ? SPAN_EMPTY : payload, /* as recovery has it */
        .at_ms = shard->now.unix_ms,
        .expires_ms =
            expiry(shard, actor_request_count(&asking->fields, ACTOR_FIELD_TTL, TTL_DEFAULT_MS))};
    publish(shard, &published);
    struct wire_writer writer;
    uint32_t pairs;
    arena_clear(&shard->scratch);
    wire_writer_init(&writer, &shard->scratch, 256);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_string(&writer, published.is_signal ? "signalId" : "messageId", id);
    struct span body = actor_reply_close(&writer, mark, pairs + 1);
    shard_conclude_here(shard, asking->message, asking->remembered, id, body);
    asking_done(asking);
}

/* ---- taking ---- */

/* To whoever gave it: behind commit `after`. */
static void answer(struct actor_shard *shard, struct proto_address to,
                   const struct proto_publish *delivered, enum result result, uint64_t after)
{
    if (delivered->is_signal) {
        return;
    }
    struct proto_publish told = {
        .id = delivered->id, .execution_id = delivered->execution_id, .result = result};
    struct proto_message *message = shard_publish_message(PROTO_DELIVERED, &told);
    if (message == NULL) { /* it stays handed: the next start gives it again, unless it was taken */
        log_line(LOG_CRITICAL, "MESSAGE-SET-ASIDE", "messageId=%.*s reason=\"no memory\"",
                 SPAN_ARG(delivered->id));
        return;
    }
    message->reply_to = to;
    shard_effect(shard, message, after);
}

static void note_taken(struct actor_shard *shard, struct actor_work *work,
                       const struct proto_message *message)
{
    if (message->as.publish.is_signal) {
        return;
    }
    struct actor_news *news = arena_zero(&shard->turn, sizeof *news);
    struct span id = arena_copy(&shard->turn, message->as.publish.id);
    if (news == NULL || shard->turn.overflowed) {
        work->broken = true;
        answer(shard, message->reply_to, &message->as.publish, RESULT_AGAIN, 0);
        return;
    }
    news->taken = true;
    news->from = message->reply_to;
    news->published.id = id;
    news->published.execution_id = message->as.publish.execution_id;
    *work->news_end = news;
    work->news_end = &news->next;
}

static uint64_t commit_of(const struct actor_shard *shard, const struct actor_work *work)
{
    return work == NULL ? 0 : work->touched ? shard->commit_number : work->commit;
}

static struct engine_input input_of(const struct actor_shard *shard,
                                    const struct proto_publish *published)
{
    return (struct engine_input){.kind =
                                     published->is_signal ? ENGINE_IN_SIGNAL : ENGINE_IN_MESSAGE,
                                 .now_ms = shard->now.unix_ms,
                                 .payload = published->payload,
                                 .name = published->name,
                                 .correlation_key = published->key,
                                 .message_id = published->id};
}

static void take(struct actor_shard *shard, struct actor_work *work,
                 const struct proto_message *message)
{
    struct engine_input input = input_of(shard, &message->as.publish);
    enum result result = shard_accept(shard, work, &input);
    if (result == RESULT_OK) {
        note_taken(shard, work, message);
        return;
    }
    answer(shard, message->reply_to, &message->as.publish, RESULT_NOT_FOUND,
           commit_of(shard, work));
}

static void begin(struct actor_shard *shard, const struct proto_message *message)
{
    const struct proto_publish *published = &message->as.publish;
    const struct engine_catalog *catalog = &shard->catalog.engine;
    struct engine_start start = {
        .id = published->execution_id,
        .workspace = published->workspace,
        .project = published->project,
        .execution = wire_is(published->payload, WIRE_MAP) ? published->payload : SPAN_EMPTY,
        .process = catalog->process(catalog, published->project, published->process, 0),
        .start_node = published->node,
    };
    struct actor_work *work = shard_begin_by(shard, &start);
    if (work == NULL) {
        answer(shard, message->reply_to, published, RESULT_AGAIN, 0);
        return;
    }
    note_taken(shard, work, message);
}

void shard_deliver(struct actor_shard *shard, struct proto_message *message,
                   struct actor_lookup *lookup)
{
    const struct proto_publish *published = &message->as.publish;
    struct actor_work *work;
    if (published->process.count > 0) {
        begin(shard, message);
        message_free(message);
        return;
    }
    struct execution_id id = published->execution_id;
    const struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&id));
    if (slot == NULL || slot->ended) { /* who waits has a slot: nothing need be looked for */
        answer(shard, message->reply_to, published, RESULT_NOT_FOUND, 0);
        message_free(message);
        return;
    }
    switch (shard_locate(shard, &id, SHARD_WISH_LIVE, &message, lookup, &work)) {
    case SHARD_PENDING:
        return;
    case SHARD_LIVE:
        take(shard, work, message);
        break;
    case SHARD_FAILED:
        if (published->is_signal) {
            log_line(LOG_ERROR, "SIGNAL-LOST", "executionId=%s reason=\"it cannot be fetched\"",
                     id.text);
        }
        answer(shard, message->reply_to, published, RESULT_AGAIN, 0);
        break;
    case SHARD_ABSENT:
    case SHARD_ENDED:
    case SHARD_DAMAGED:
        answer(shard, message->reply_to, published, RESULT_NOT_FOUND, 0);
        break;
    }
    message_free(message);
}

/* ---- the turn's end ---- */

static struct proto_message *listen_message(const struct execution_id *id, struct span workspace,
                                            struct span subscriptions)
{
    struct proto_message *message =
        message_new(PROTO_LISTEN, workspace.count + subscriptions.count);
    if (message != NULL) {
        message->as.listen =
            (struct proto_listen){.execution_id = *id,
                                  .workspace = message_keep(message, workspace),
                                  .subscriptions = message_keep(message, subscriptions)};
    }
    return message;
}

/* To every shard: each keeps what is its own. */
void shard_listen(struct actor_shard *shard, struct actor_slot *slot,
                  const struct engine_execution *execution, bool gone)
{
    struct engine_view view;
    struct wire_writer writer;
    struct execution_id id;
    engine_look(execution, &view);
    arena_clear(&shard->scratch);
    wire_writer_init(&writer, &shard->scratch, 512);
    uint32_t count = gone || view.ended ? 0 : engine_subscriptions(execution, &writer);
    if ((count == 0 && !slot->listens) ||
        execution_id_parse(shard_slot_id(slot), &id) != RESULT_OK) {
        return;
    }
    slot->listens = count > 0;
    struct span run = count == 0 ? SPAN_EMPTY : wire_writer_span(&writer);
    for (uint32_t i = 0; i < shard->options.shard_count; i++) {
        struct proto_message *message = listen_message(&id, view.workspace, run);
        if (message == NULL) {
            log_line(LOG_CRITICAL, "SHARD-LISTENER-LOST", "executionId=%s reason=\"no memory\"",
                     id.text);
            return;
        }
        message->reply_to.ticket = i;
        actor_queue_push(&shard->effects, message);
    }
}

void shard_finish_news(struct actor_shard *shard, struct actor_work *work)
{
    for (struct actor_news *news = work->news; news != NULL; news = news->next) {
        if (news->fired != NULL) {
            shard_finish_fire(shard, work, news->fired);
        } else if (!news->taken && !work->broken) {
            publish(shard, &news->published);
        } else if (news->taken && work->broken) {
            answer(shard, news->from, &news->published, RESULT_AGAIN, shard->commit_number);
        } else if (news->taken) {
            record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_MESSAGE_TAKEN,
                                                               .name = news->published.id});
            answer(shard, news->from, &news->published, RESULT_OK, shard->commit_number);
        }
    }
    work->news = NULL;
    work->news_end = &work->news;
}
