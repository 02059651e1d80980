/*
 * recover.c: a shard's part of recovery: executions come back as they were last recorded; calls
 * that were in flight are made again, with the same key; timers and sessions are derived anew.
 */
#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

static enum result replay(struct actor_shard *shard, const struct actor_recovered *recovered,
                          struct engine_execution **execution, struct actor_recovery *recovery)
{
    const struct engine_catalog *catalog = &shard->catalog.engine;
    enum result result = RESULT_OK;
    if (recovered->snapshot.count > 0) {
        result = engine_decode(catalog, recovered->snapshot, execution);
    }
    for (size_t i = 0; i < recovered->events_count && result == RESULT_OK; i++) {
        result =
            engine_replay(catalog, recovered->events[i].run, recovered->events[i].first, execution);
        recovery->events++;
    }
    return result;
}

static void park(struct actor_shard *shard, struct actor_slot *slot,
                 struct engine_execution *execution, const struct engine_view *view,
                 struct span bytes)
{
    shard_slot_set_human(shard, slot, view->human, view->human_since_ms);
    shard_slot_set_alarm(shard, slot, engine_next_due_ms(execution));
    shard_hot_recover(shard, slot, bytes);
    engine_free(execution);
    actor_count(&shard->counters.waiting, 1);
}

/* It was in the middle of a segment: that goes on with the first turn. */
static enum result go_on(struct actor_shard *shard, struct actor_slot *slot,
                         struct engine_execution *execution, bool stored,
                         struct actor_recovery *recovery)
{
    struct actor_work *work = shard_work_new(shard, slot, execution);
    if (work == NULL) {
        return RESULT_LIMIT;
    }
    work->recorded = true;
    work->stored = stored;
    recovery->calls += shard_call_again(shard, work);
    shard_slice_later(shard, work);
    return RESULT_OK;
}

static void bind(struct actor_shard *shard, const struct engine_view *view)
{
    struct proto_message *message = view->channel_session_id.count == 0
                                        ? NULL
                                        : shard_session_message(PROTO_SESSION_BIND, view);
    if (message != NULL) {
        actor_queue_push(&shard->effects, message);
    }
}

enum result actor_shard_recover(struct actor_shard *shard, const struct actor_recovered *recovered,
                                struct actor_time now, struct actor_recovery *recovery)
{
    shard->now = now;
    struct actor_slot *slot = shard_slot_new(shard, recovered->execution_id);
    if (slot == NULL) {
        return RESULT_LIMIT;
    }
    struct engine_execution *execution = NULL;
    enum result result = replay(shard, recovered, &execution, recovery);
    if (result != RESULT_OK) {
        if (execution != NULL) {
            engine_free(execution);
        }
        recovery->corrupt++;
        shard_slot_set_damaged(shard, slot,
                               result == RESULT_NOT_FOUND ? "its process version is not known"
                                                          : "stored bytes fail their check");
        return RESULT_OK;
    }
    struct engine_view view;
    engine_look(execution, &view);
    recovery->executions++;
    bind(shard, &view);
    shard_listen(shard, slot, execution, false);
    if (view.waiting && recovered->events_count == 0) {
        park(shard, slot, execution, &view, recovered->snapshot);
        return RESULT_OK;
    }
    return go_on(shard, slot, execution, recovered->snapshot.count > 0, recovery);
}

void actor_shard_recover_sessions(struct actor_shard *shard, struct actor_shard *const *shards)
{
    struct actor_queue others = {0};
    struct proto_message *message;
    while ((message = actor_queue_pop(&shard->effects)) != NULL) {
        if (message->type == PROTO_LISTEN) {
            struct actor_shard *keeper = shards[message->reply_to.ticket];
            shard_listened(keeper, &message->as.listen);
            arena_clear(&keeper->turn);
            message_free(message);
            continue;
        }
        if (message->type != PROTO_SESSION_BIND) {
            actor_queue_push(&others, message);
            continue;
        }
        struct span session = message->as.session.channel_session_id;
        struct actor_shard *keeper = shards[actor_shard_of(session, shard->options.shard_count)];
        shard_bind_here(keeper, message);
    }
    shard->effects = others;
}

enum result actor_shard_recover_message(struct actor_shard *shard,
                                        const struct proto_record *record)
{
    struct span payload = wire_at(record->body, 2);
    const struct proto_publish published = {.id = record->name,
                                            .workspace = record->workspace_id,
                                            .project = record->project_id,
                                            .name = wire_string_or(wire_at(record->body, 0), ""),
                                            .key = wire_string_or(wire_at(record->body, 1), ""),
                                            .payload =
                                                wire_is(payload, WIRE_NIL) ? SPAN_EMPTY : payload,
                                            .at_ms = wire_int_or(wire_at(record->body, 3), 0),
                                            .expires_ms = record->at_ms};
    return actor_shard_of(published.name, shard->options.shard_count) == shard->options.index
               ? shard_keep_message(shard, &published)
               : RESULT_OK;
}

enum result actor_shard_recover_ended(struct actor_shard *shard, struct span execution_id,
                                      uint64_t position)
{
    struct actor_slot *slot = shard_slot_new(shard, execution_id);
    if (slot == NULL) {
        return RESULT_LIMIT;
    }
    shard_slot_end(shard, slot, position);
    return RESULT_OK;
}

enum result actor_shard_recover_request(struct actor_shard *shard,
                                        const struct proto_record *record, struct actor_time now)
{
    struct actor_remembered_body body;
    int64_t age_ms = now.unix_ms - record->at_ms;
    if (actor_remembered_body_read(record->body, &body) != RESULT_OK ||
        age_ms >= (int64_t)LIMIT_REQUEST_KEPT_MS) {
        return RESULT_OK; /* forgotten */
    }
    uint64_t expires_ms =
        now.monotonic_ms + LIMIT_REQUEST_KEPT_MS - (uint64_t)(age_ms < 0 ? 0 : age_ms);
    if (actor_remembered_find(&shard->routes, record->workspace_id, record->name) == NULL) {
        struct actor_remembered *route = actor_remembered_add(&shard->routes, record->workspace_id,
                                                              record->name, 0, record->at_ms);
        if (route == NULL || actor_remembered_reply(&shard->routes, route, body.execution_id,
                                                    expires_ms) != RESULT_OK) {
            return RESULT_LIMIT;
        }
    }
    if (actor_shard_of(body.execution_id, shard->options.shard_count) != shard->options.index) {
        return RESULT_OK;
    }
    struct actor_remembered *remembered = actor_remembered_add(
        &shard->requests, record->workspace_id, record->name, record->number, record->at_ms);
    if (remembered == NULL) {
        return RESULT_LIMIT;
    }
    remembered->recorded = true;
    if (body.reply.count > 0) {
        return actor_remembered_reply(&shard->requests, remembered, body.reply, expires_ms);
    }
    struct actor_slot *slot = shard_slot_find(shard, body.execution_id);
    if (slot != NULL && slot->work != NULL) {
        return shard_wait_remembered(shard, slot->work, remembered);
    }
    actor_remembered_drop(&shard->requests, remembered); /* it came to nothing */
    return RESULT_OK;
}
