/*
 * commit.c: the records of a turn, the effects behind them, and what happens when they are durable.
 *
 * Commits are numbered; the journal confirms them in order. An effect names the commit that it must
 * follow; in a shard that is not durable effects follow the sending of the commit instead, but
 * executions still stay live until it is confirmed, so that nobody looks for them in a table that
 * has not heard of them.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

/* ---- effects leave ---- */

static void send_or_drop(struct proto_sink *sink, struct proto_message *message)
{
    enum result result = sink == NULL ? RESULT_CLOSED : sink->send(sink, &message);
    ASSERT(result != RESULT_AGAIN ||
           message->type == PROTO_EVENT); /* only observers may lose what they get */
    message_free(message);
}

void shard_bind_here(struct actor_shard *shard, struct proto_message *message)
{
    const struct proto_session *session = &message->as.session;
    struct span id = execution_id_span(&session->execution_id);
    if (message->type == PROTO_SESSION_DROP) {
        actor_directory_drop(&shard->directory, session->channel_session_id, id);
    } else if (actor_directory_bind(&shard->directory, session->channel_session_id, id,
                                    session->waiting_since_ms) != RESULT_OK) {
        log_line(LOG_CRITICAL, "SHARD-SESSION-LOST", "shard=%u executionId=%s reason=\"no memory\"",
                 shard->options.index, session->execution_id.text);
    }
    message_free(message);
}

static void bind_session(struct actor_shard *shard, struct proto_message *message)
{
    uint32_t keeper =
        actor_shard_of(message->as.session.channel_session_id, shard->options.shard_count);
    if (keeper == shard->options.index) {
        shard_bind_here(shard, message);
    } else {
        send_or_drop(shard->options.shards[keeper], message);
    }
}

static void leave(struct actor_shard *shard, struct actor_queue *effects)
{
    struct proto_message *effect;
    while ((effect = actor_queue_pop(effects)) != NULL) {
        if (effect->type == PROTO_REPLY) {
            message_answer(effect->reply_to, effect);
        } else if (effect->type == PROTO_CALL || effect->type == PROTO_CALL_CANCEL) {
            send_or_drop(shard->options.io, effect);
        } else if (effect->type == PROTO_SESSION_BIND || effect->type == PROTO_SESSION_DROP) {
            bind_session(shard, effect);
        } else if (effect->type == PROTO_LISTEN) {
            send_or_drop(shard->options.shards[effect->reply_to.ticket], effect);
        } else if (effect->type == PROTO_PUBLISH) {
            send_or_drop(shard_keeper(shard, effect->as.publish.name), effect);
        } else if (effect->type == PROTO_DELIVERED || effect->type == PROTO_FIRED) {
            send_or_drop(effect->reply_to.sink, effect);
        } else if (effect->type == PROTO_AWAIT) {
            send_or_drop(shard->options.storage, effect);
        } else if (effect->type == PROTO_KEEP) {
            send_or_drop(shard->options.hot, effect);
        } else {
            ASSERT(effect->type == PROTO_EVENT);
            send_or_drop(shard->options.observer, effect);
        }
    }
}

void shard_effect(struct actor_shard *shard, struct proto_message *effect, uint64_t after)
{
    struct actor_queue now = {0};
    if (after == shard->commit_number) {
        actor_queue_push(&shard->effects, effect);
    } else if (after <= shard->committed || shard->options.durability == ACTOR_NOT_DURABLE) {
        actor_queue_push(&now, effect);
        leave(shard, &now);
    } else {
        ASSERT(shard->groups_newest != NULL && shard->groups_newest->number >= after);
        actor_queue_push(&shard->groups_newest->effects, effect);
    }
}

/* ---- gates ---- */

/* Holds `behind` until `left` answers came; NULL: no memory, and it leaves with the commit. */
static struct actor_gate *gate_new(struct actor_shard *shard, const struct actor_work *work,
                                   struct actor_queue *behind, uint32_t left)
{
    struct actor_gate *gate = malloc(sizeof *gate);
    if (gate != NULL) {
        *gate = (struct actor_gate){.left = left, .replies = *behind};
        if (execution_id_parse(shard_slot_id(work->slot), &gate->execution_id) != RESULT_OK) {
            ASSERT_UNREACHABLE();
        }
        shard_hold(shard, &gate->held, GATE_MAGIC);
        *behind = (struct actor_queue){0};
    }
    return gate;
}

void shard_gate_answered(struct actor_shard *shard, uint64_t ticket, enum result result)
{
    struct actor_gate *gate = ACTOR_OWNER(actor_gate, held, shard_of_ticket(ticket, GATE_MAGIC));
    ASSERT(gate->left > 0);
    if (result != RESULT_OK && gate->heavy) {
        /* engine.md 11: the journal has it, so the callback could be served; yet it should not be
         * the only one that has. */
        actor_count(&shard->counters.unsaved, 1);
        log_line(LOG_CRITICAL, "HEAVY-SESSION-NOT-STORED", "shard=%u executionId=%s reason=\"%s\"",
                 shard->options.index, gate->execution_id.text, result_text(result));
    }
    if (--gate->left > 0) {
        return;
    }
    leave(shard, &gate->replies);
    shard_gate_free(shard, gate);
}

void shard_gate_free(struct actor_shard *shard, struct actor_gate *gate)
{
    actor_queue_clear(&gate->replies);
    shard_let_go(shard, &gate->held);
    free(gate);
}

static struct proto_address gate_address(struct actor_shard *shard, struct actor_gate *gate)
{
    return gate == NULL ? (struct proto_address){0} : shard_ticket(shard, &gate->held);
}

struct proto_message *shard_session_message(enum proto_message_type type,
                                            const struct engine_view *view)
{
    struct proto_message *message = message_new(type, view->channel_session_id.count);
    if (message == NULL) {
        return NULL;
    }
    message->as.session.channel_session_id = message_keep(message, view->channel_session_id);
    message->as.session.waiting_since_ms = (uint64_t)view->waiting_since_ms;
    if (execution_id_parse(view->id, &message->as.session.execution_id) != RESULT_OK) {
        ASSERT_UNREACHABLE();
    }
    return message;
}

/* What a segment's end makes others do before its replies leave. */
struct saving {
    bool heavy;                 /* its blob is to be stored */
    struct proto_message *keep; /* for the hot actor, or NULL */
};

/* A heavy session: first the blob, then what is behind it. */
static void await_blob(struct actor_shard *shard, struct actor_work *work, struct span workspace,
                       struct actor_queue *behind, struct actor_gate *gate)
{
    struct proto_message *await = message_new(PROTO_AWAIT, workspace.count);
    gate = await != NULL && behind->oldest != NULL ? gate_new(shard, work, behind, 1) : gate;
    if (await == NULL || gate == NULL) {
        message_free(await);
        return;
    }
    gate->heavy = true;
    await->as.await.execution_id = gate->execution_id;
    await->as.await.workspace = message_keep(await, workspace);
    await->reply_to = gate_address(shard, gate);
    actor_queue_push(&shard->awaits, await);
}

/*
 * The reply goes out only when the callback that it invites could be served (design 6): the binding
 * is made first, and a light session is in the hot tier; of a heavy one the blob is stored first,
 * then the hot tier's reverse index is told, then it is answered.
 */
static void queue_replies(struct actor_shard *shard, struct actor_work *work,
                          const struct engine_view *view, const struct saving *saving)
{
    bool bound = view->waiting && work->over && view->channel_session_id.count > 0;
    bool remote = bound && actor_shard_of(view->channel_session_id, shard->options.shard_count) !=
                               shard->options.index;
    struct proto_message *bind = bound ? shard_session_message(PROTO_SESSION_BIND, view) : NULL;
    remote = remote && bind != NULL;
    uint32_t answers = (remote ? 1u : 0u) + (saving->heavy || saving->keep != NULL ? 1u : 0u);
    struct actor_gate *gate = answers > 0 && work->replies.oldest != NULL
                                  ? gate_new(shard, work, &work->replies, answers)
                                  : NULL;
    struct actor_queue behind = {0}; /* the blob */
    if (bind != NULL) {
        bind->reply_to = remote ? gate_address(shard, gate) : (struct proto_address){0};
        actor_queue_push(&shard->effects, bind);
    }
    if (saving->keep != NULL) {
        saving->keep->reply_to = gate_address(shard, gate);
        actor_queue_push(saving->heavy ? &behind : &shard->effects, saving->keep);
    }
    if (saving->heavy) {
        await_blob(shard, work, view->workspace, &behind, gate);
    }
    actor_queue_append(&shard->effects, &behind);
    actor_queue_append(&shard->effects, &work->replies);
}

/* ---- records ---- */

static void drop_session(struct actor_shard *shard, const struct engine_view *view)
{
    struct proto_message *drop = view->channel_session_id.count == 0
                                     ? NULL
                                     : shard_session_message(PROTO_SESSION_DROP, view);
    if (drop != NULL) {
        actor_queue_push(&shard->effects, drop);
    }
}

static void record_events(struct actor_shard *shard, struct actor_work *work)
{
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->scratch, 1024);
    engine_events_encode(work->output->events, work->output->event_count, &writer);
    work->broken = work->broken || shard->scratch.overflowed;
    record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_EVENTS,
                                                       .execution_id = shard_slot_id(work->slot),
                                                       .number = work->output->first_event_sequence,
                                                       .body = wire_writer_span(&writer)});
}

static struct span snapshot_of(struct actor_shard *shard, struct actor_work *work)
{
    if (work->snapshot.count > 0 && work->snapshot_events == work->output->event_count) {
        return work->snapshot;
    }
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->scratch, 1024);
    engine_encode(work->execution, &writer);
    return wire_writer_span(&writer);
}

/* One encoding serves the journal, the blob, the state table and the hot tier. */
static void record_snapshot(struct actor_shard *shard, struct actor_work *work,
                            const struct engine_view *view, struct saving *saving)
{
    struct span bytes = snapshot_of(shard, work);
    if (bytes.count == 0) {
        work->broken = true;
        return;
    }
    bool waiting = work->over && !view->ended;
    uint64_t flags = view->ended ? PROTO_SNAPSHOT_ENDED
                     : waiting   ? PROTO_SNAPSHOT_WAITING
                                 : PROTO_SNAPSHOT_INTERIM;
    flags |= work->stored ? 0 : PROTO_SNAPSHOT_FIRST;
    record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_SNAPSHOT,
                                                       .execution_id = view->id,
                                                       .workspace_id = view->workspace,
                                                       .number = flags,
                                                       .body = bytes});
    work->stored = true;
    work->untabled = view->ended;
    saving->heavy = waiting && bytes.count >= shard->options.heavy_session_bytes;
    if (waiting) {
        saving->keep = shard_hot_park(shard, work->slot, view, bytes);
    } else if (view->ended) {
        shard_hot_end(shard, work->slot, view);
    } else {
        shard_hot_drop(shard, work->slot);
    }
}

/* Requests whose segment goes on: should we crash now, their repeats must find them. */
static void record_requests_in_flight(struct actor_shard *shard, struct actor_work *work)
{
    for (struct actor_waiter *waiter = work->waiters; waiter != NULL; waiter = waiter->next) {
        if (waiter->remembered != NULL && !waiter->remembered->recorded) {
            shard_record_request(shard, waiter->remembered, shard_slot_id(work->slot));
        }
    }
}

static void set_aside(struct actor_shard *shard, struct actor_work *work)
{
    actor_queue_append(&shard->effects, &work->replies);
    struct actor_refusal refusal = {.error = PROTO_ERROR_PayloadTooLarge,
                                    .message = span_text("the execution outgrew its memory limit"),
                                    .execution_id = shard_slot_id(work->slot)};
    shard_refuse_all(shard, work, &refusal);
    if (work->recorded) { /* else it is as if it had never been */
        shard_slot_set_damaged(shard, work->slot,
                               "memory limit: kept as it was last recorded, until the next start");
    }
}

static void set_alarm(struct actor_shard *shard, struct actor_work *work, bool gone)
{
    int64_t due_ms = gone ? INT64_MAX : engine_next_due_ms(work->execution);
    if (work->idle_timer && due_ms < shard->now.unix_ms + SHARD_IDLE_TIMER_MS) {
        due_ms = shard->now.unix_ms + SHARD_IDLE_TIMER_MS;
    }
    work->idle_timer = false;
    shard_slot_set_alarm(shard, work->slot, due_ms);
}

static void finish(struct actor_shard *shard, struct actor_work *work)
{
    struct saving saving = {0};
    struct engine_view view;
    engine_look(work->execution, &view);
    if (work->broken) {
        set_aside(shard, work);
    } else if (work->forgotten) {
        work->recorded = true;
        shard_hot_end(shard, work->slot, &view);
        record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_FORGET,
                                                           .execution_id = view.id,
                                                           .workspace_id = view.workspace});
        work->commit = shard->commit_number;
        drop_session(shard, &view);
    } else if (work->segment_ended || work->interim || work->output->event_count > 0) {
        /*
         * Whole is what parks (memory and the state table go on from it, also when an input only
         * left a log line behind) and one that had ended, which is in no table.
         */
        bool whole = work->segment_ended || work->interim || work->over || work->untabled;
        if (whole) {
            record_snapshot(shard, work, &view, &saving);
        } else {
            record_events(shard, work);
        }
        record_requests_in_flight(shard, work);
        work->recorded = true;
        work->commit = shard->commit_number;
        if (view.ended) {
            drop_session(shard, &view);
        }
    }
    if (!work->broken) {
        shard_slot_set_human(shard, work->slot,
                             view.human && work->over && !view.ended && !work->forgotten,
                             view.human_since_ms);
        set_alarm(shard, work, view.ended || work->forgotten);
        if (work->output->event_count > 0 || work->forgotten) {
            shard_listen(shard, work->slot, work->execution, work->forgotten);
        }
    }
    shard_finish_news(shard, work);
    queue_replies(shard, work, &view, &saving);
    work->touched = work->segment_ended = work->interim = false;
    work->output = NULL;
    shard_unsettle(shard, work);
}

/* ---- the turn ---- */

void shard_begin(struct actor_shard *shard)
{
    arena_clear(&shard->turn);
    arena_clear(&shard->records);
    wire_writer_init(&shard->batch, &shard->records, 16 << 10);
    shard->touched_oldest = shard->touched_newest = NULL;
}

/* Answers of a commit that did not become durable: nobody may act on what they say, refusals
 * included, which may tell of its state. */
static void refuse_replies(struct actor_shard *shard, struct actor_queue *effects)
{
    struct actor_queue kept = {0};
    struct proto_message *effect;
    struct actor_refusal refusal = {.error = PROTO_ERROR_StorageFailed,
                                    .message = span_text(SHARD_KEPT_TEXT)};
    while ((effect = actor_queue_pop(effects)) != NULL) {
        if (effect->type != PROTO_REPLY) {
            actor_queue_push(&kept, effect);
            continue;
        }
        arena_clear(&shard->scratch);
        struct proto_message *reply = actor_reply_new(
            effect->as.reply.spelling, false, actor_reply_refusal(&shard->scratch, &refusal));
        if (reply != NULL) {
            message_answer(effect->reply_to, reply);
        }
        message_free(effect);
    }
    *effects = kept;
}

static bool send_commit(struct actor_shard *shard, struct actor_group *group)
{
    struct span records = wire_writer_span(&shard->batch);
    struct proto_message *commit =
        records.count == 0 || group == NULL ? NULL : message_new(PROTO_COMMIT, records.count);
    if (commit == NULL) {
        return false;
    }
    commit->as.commit = (struct proto_commit){.records = message_keep(commit, records)};
    commit->reply_to = (struct proto_address){.sink = shard->self, .ticket = shard->commit_number};
    actor_count(&shard->counters.commits, 1);
    actor_count(&shard->counters.record_bytes, (int64_t)records.count);
    send_or_drop(shard->options.journal, commit);
    return true;
}

/* No memory for the commit itself: what was touched is set aside as it was last recorded. */
static void give_up_turn(struct actor_shard *shard)
{
    log_line(LOG_CRITICAL, "SHARD-TURN-LOST", "shard=%u reason=\"no memory\"",
             shard->options.index);
    for (struct actor_work *work = shard->unsettled_oldest; work != NULL;
         work = work->unsettled_newer) {
        if (work->commit == shard->commit_number) {
            work->broken = true;
            work->commit = 0;
            set_aside(shard, work);
        }
    }
    refuse_replies(shard, &shard->effects);
    actor_queue_clear(&shard->effects);
    actor_queue_clear(&shard->awaits);
}

static void commit_turn(struct actor_shard *shard)
{
    struct actor_group *group = malloc(sizeof *group);
    if (!send_commit(shard, group)) {
        free(group);
        give_up_turn(shard);
        return;
    }
    *group = (struct actor_group){.number = shard->commit_number++};
    group->awaits = shard->awaits;
    shard->awaits = (struct actor_queue){0};
    if (shard->groups_oldest == NULL) {
        shard->groups_oldest = group;
    } else {
        shard->groups_newest->newer = group;
    }
    shard->groups_newest = group;
    if (shard->options.durability == ACTOR_NOT_DURABLE) {
        leave(shard, &shard->effects);
    } else {
        actor_queue_append(&group->effects, &shard->effects);
    }
}

void shard_end(struct actor_shard *shard)
{
    for (struct actor_work *work = shard->touched_oldest; work != NULL; work = work->touched_next) {
        finish(shard, work);
    }
    shard->touched_oldest = shard->touched_newest = NULL;
    if (shard->batch.count > 0 || shard->records.overflowed) {
        commit_turn(shard);
    } else if (shard->groups_newest != NULL && shard->options.durability == ACTOR_DURABLE) {
        actor_queue_append(&shard->groups_newest->effects, &shard->effects);
    } else {
        leave(shard, &shard->effects);
    }
    if (shard->stalled && shard->groups_newest != NULL) {
        refuse_replies(shard, &shard->groups_newest->effects); /* nobody is left to wait for that */
    }
    shard_settle(shard);
}

/* ---- durable ---- */

static void stall(struct actor_shard *shard, bool stalled)
{
    if (shard->stalled == stalled) {
        return;
    }
    shard->stalled = stalled;
    actor_count_set(&shard->counters.stalled, stalled ? 1 : 0);
    log_line(stalled ? LOG_CRITICAL : LOG_INFO, stalled ? "SHARD-STALLED" : "SHARD-GOES-ON",
             "shard=%u", shard->options.index);
}

void shard_committed(struct actor_shard *shard, const struct proto_message *message)
{
    const struct proto_committed *committed = &message->as.committed;
    if (committed->result != RESULT_OK) {
        /* The journal keeps the batch and tries again; a second answer will come for it. */
        stall(shard, true);
        shard->stalled_until = message->reply_to.ticket;
        for (struct actor_group *group = shard->groups_oldest; group != NULL;
             group = group->newer) {
            refuse_replies(shard, &group->effects);
        }
        return;
    }
    struct actor_group *group = shard->groups_oldest;
    ASSERT(group != NULL);
    ASSERT(message->reply_to.ticket == group->number);
    ASSERT(group->number > shard->committed);
    stall(shard, group->number < shard->stalled_until);
    shard->committed = group->number;
    shard->committed_position = committed->position;
    shard->groups_oldest = group->newer;
    if (group->newer == NULL) {
        shard->groups_newest = NULL;
    }
    for (struct proto_message *await = group->awaits.oldest; await != NULL; await = await->next) {
        await->as.await.position = committed->position;
    }
    leave(shard, &group->awaits);
    leave(shard, &group->effects);
    free(group);
    shard_slots_forget_ended(shard, committed->indexed);
}

/* ---- coming to rest ---- */

static void leave_unsettled(struct actor_shard *shard, struct actor_work *work)
{
    ASSERT(work->unsettled);
    *(work->unsettled_older == NULL ? &shard->unsettled_oldest
                                    : &work->unsettled_older->unsettled_newer) =
        work->unsettled_newer;
    *(work->unsettled_newer == NULL ? &shard->unsettled_newest
                                    : &work->unsettled_newer->unsettled_older) =
        work->unsettled_older;
    work->unsettled = false;
}

void shard_unsettle(struct actor_shard *shard, struct actor_work *work)
{
    if (work->unsettled) {
        leave_unsettled(shard, work);
    }
    work->unsettled = true;
    work->unsettled_newer = NULL;
    work->unsettled_older = shard->unsettled_newest;
    *(shard->unsettled_newest == NULL ? &shard->unsettled_oldest
                                      : &shard->unsettled_newest->unsettled_newer) = work;
    shard->unsettled_newest = work;
}

static void settle(struct actor_shard *shard, struct actor_work *work)
{
    struct actor_slot *slot = work->slot;
    struct engine_view view;
    engine_look(work->execution, &view);
    bool fetched_only = work->from_ended && work->commit == 0;
    uint64_t position = fetched_only ? slot->ended_position : shard->committed_position;
    bool gone = work->forgotten || !work->recorded || (view.ended && fetched_only && position == 0);
    bool ended = view.ended;
    shard_work_free(shard, work);
    if (gone) {
        shard_slot_free(shard, slot);
    } else if (ended && !slot->damaged) {
        shard_slot_end(shard, slot, position);
    } else if (!slot->damaged) {
        actor_count(&shard->counters.waiting, 1);
    }
}

void shard_settle(struct actor_shard *shard)
{
    struct actor_work *next;
    for (struct actor_work *work = shard->unsettled_oldest;
         work != NULL && work->commit <= shard->committed; work = next) {
        next = work->unsettled_newer;
        if (work->touched) {
            continue; /* an input of this turn: finish() puts it behind its commit */
        }
        leave_unsettled(shard, work);
        bool rests = (work->over || work->broken || work->forgotten) && !work->sliced &&
                     work->waiters == NULL;
        if (rests) {
            settle(shard, work);
        }
    }
}
