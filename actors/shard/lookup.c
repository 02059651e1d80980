/*
 * lookup.c: where an execution is: the owner's memory, the hot tier, the state table, and last the
 * blob, found through the index. What must be fetched suspends the request: the lookup keeps it and
 * hands it back with what was found.
 *
 * The stores answer by what the journal held when they were asked (proto/message.h), so a slow
 * drain never shows a state that is older than what this shard has seen. A hot tier elsewhere may
 * show anything (hot.c): what is not the newest is a miss, as a tier that fails is.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

/* ---- asking ---- */

static enum shard_located ask(struct actor_shard *shard, struct proto_sink *store,
                              enum proto_fetch_kind kind, const struct execution_id *id,
                              struct span query, struct proto_message **request,
                              struct actor_lookup *lookup)
{
    struct proto_message *fetch = message_new(PROTO_FETCH, query.count);
    if (lookup == NULL && fetch != NULL) {
        lookup = calloc(1, sizeof *lookup);
        if (lookup != NULL) {
            shard_hold(shard, &lookup->held, LOOKUP_MAGIC);
            lookup->id = *id;
        }
    }
    if (lookup == NULL || fetch == NULL) {
        message_free(fetch);
        return SHARD_FAILED;
    }
    fetch->as.fetch = (struct proto_fetch){
        .kind = kind, .execution_id = *id, .query = message_keep(fetch, query)};
    fetch->reply_to = shard_ticket(shard, &lookup->held);
    lookup->request = *request;
    *request = NULL;
    lookup->pending = true;
    enum result result = store->send(store, &fetch);
    if (result != RESULT_OK) { /* the store's loop has been stopped, and so will ours be */
        message_free(fetch);
        *request = lookup->request;
        lookup->request = NULL;
        lookup->pending = false;
        return SHARD_FAILED;
    }
    return SHARD_PENDING;
}

/* Is this what the newest answer is about? Older ones say nothing any more: the execution may have
 * moved on since. */
static bool answers(const struct actor_lookup *lookup, enum proto_fetch_kind kind)
{
    return lookup != NULL && lookup->answered && lookup->kind == kind;
}

/* ---- coming back to life ---- */

static enum shard_located revive(struct actor_shard *shard, struct actor_slot *slot,
                                 struct span bytes, bool parked, struct actor_work **work)
{
    struct engine_execution *execution = NULL;
    enum result result = engine_decode(&shard->catalog.engine, bytes, &execution);
    if (result == RESULT_NOT_FOUND || result == RESULT_LIMIT) {
        log_line(LOG_ERROR, "EXECUTION-NOT-REVIVED", "shard=%u executionId=%.*s reason=\"%s\"",
                 shard->options.index, SPAN_ARG(shard_slot_id(slot)),
                 result == RESULT_LIMIT ? "no memory" : "its process version is not deployed");
        return SHARD_FAILED;
    }
    if (result != RESULT_OK) {
        shard_slot_set_damaged(shard, slot, "stored bytes fail their check");
        return SHARD_DAMAGED;
    }
    *work = shard_work_new(shard, slot, execution);
    if (*work == NULL) {
        return SHARD_FAILED;
    }
    (*work)->stored = (*work)->recorded = (*work)->over = true;
    (*work)->from_ended = (*work)->untabled = !parked;
    if (parked) {
        actor_count(&shard->counters.waiting, -1);
    }
    shard_unsettle(shard, *work);
    return SHARD_LIVE;
}

/* The state table has it, or nobody has. */
static enum shard_located revive_parked(struct actor_shard *shard, struct actor_slot *slot,
                                        const struct actor_lookup *lookup, struct actor_work **work)
{
    if (lookup->result == RESULT_NOT_FOUND) {
        shard_slot_set_damaged(shard, slot, "its snapshot is in no store");
        return SHARD_DAMAGED;
    }
    if (lookup->result != RESULT_OK) {
        return SHARD_FAILED;
    }
    enum shard_located located = revive(shard, slot, lookup->bytes, true, work);
    if (located == SHARD_LIVE) {
        struct engine_view view;
        engine_look((*work)->execution, &view);
        shard_hot_warm(shard, slot, &view, lookup->bytes);
    }
    return located;
}

/* A hot tier elsewhere has answered. false: a miss. */
static bool revive_hot(struct actor_shard *shard, struct actor_slot *slot,
                       const struct actor_lookup *lookup, enum shard_located *located,
                       struct actor_work **work)
{
    bool found = lookup->result == RESULT_OK;
    bool newest = found && shard_hot_is_newest(slot, lookup->bytes);
    if (found && !newest) {
        actor_count(&shard->counters.hot_strange, 1);
        log_line(LOG_WARN, "HOT-STRANGE-BYTES", "shard=%u executionId=%.*s bytes=%zu",
                 shard->options.index, SPAN_ARG(shard_slot_id(slot)), lookup->bytes.count);
    }
    actor_count(newest ? &shard->counters.hot_hits : &shard->counters.hot_misses, 1);
    *located = newest ? revive(shard, slot, lookup->bytes, true, work) : SHARD_PENDING;
    return newest;
}

static enum shard_located locate_parked(struct actor_shard *shard, struct actor_slot *slot,
                                        struct proto_message **request, struct actor_lookup *lookup,
                                        struct actor_work **work)
{
    enum shard_located located;
    struct execution_id id;
    if (execution_id_parse(shard_slot_id(slot), &id) != RESULT_OK) {
        ASSERT_UNREACHABLE();
    }
    if (answers(lookup, PROTO_FETCH_STATE)) {
        return revive_parked(shard, slot, lookup, work);
    }
    if (answers(lookup, PROTO_FETCH_HOT)) {
        if (revive_hot(shard, slot, lookup, &located, work)) {
            return located;
        }
    } else if (slot->hot_hash != 0) {
        return ask(shard, shard->options.hot, PROTO_FETCH_HOT, &id, SPAN_EMPTY, request, lookup);
    } else {
        struct span bytes = shard_hot_peek(shard, slot);
        actor_count(bytes.count > 0 ? &shard->counters.hot_hits : &shard->counters.hot_misses, 1);
        if (bytes.count > 0) {
            return revive(shard, slot, bytes, true, work);
        }
    }
    return ask(shard, shard->options.storage, PROTO_FETCH_STATE, &id, SPAN_EMPTY, request, lookup);
}

/* ---- the ended ones ---- */

static struct span workspace_of(const struct proto_message *request,
                                const struct actor_lookup *lookup)
{
    if (lookup != NULL && lookup->row != NULL) {
        struct span workspace =
            wire_string_or(wire_find_text(lookup->row->as.fetched.bytes, "workspaceId"), "");
        if (workspace.count > 0) {
            return workspace;
        }
    }
    return request == NULL
               ? span_text("default")
               : wire_string_or(wire_find_text(request->as.request.body, "workspaceId"), "default");
}

/* The index says that it waits, and this engine's own stores do not know it: another data directory
 * had it. It is taken over as its blob has it, from its first record on. */
static enum shard_located take_over(struct actor_shard *shard, const struct actor_lookup *lookup,
                                    struct actor_work *work)
{
    struct engine_view view;
    engine_look(work->execution, &view);
    work->stored = work->recorded = false;
    int64_t indexed =
        lookup->row == NULL
            ? 0
            : wire_int_or(wire_find_text(lookup->row->as.fetched.bytes, "revision"), 0);
    if (view.revision >= indexed) {
        log_line(LOG_WARN, "EXECUTION-TAKEN-OVER", "shard=%u executionId=%.*s revision=%u",
                 shard->options.index, SPAN_ARG(view.id), view.revision);
        return SHARD_LIVE;
    }
    log_line(LOG_CRITICAL, "EXECUTION-BLOB-IS-OLD",
             "shard=%u executionId=%.*s revision=%u indexed=%lld", shard->options.index,
             SPAN_ARG(view.id), view.revision, (long long)indexed);
    return SHARD_FAILED;
}

static enum shard_located revive_ended(struct actor_shard *shard, const struct execution_id *id,
                                       enum shard_wish wish, const struct actor_lookup *lookup,
                                       struct actor_work **work)
{
    if (lookup->result != RESULT_OK) {
        /* Without the index only a start knows for sure in which workspace to look. */
        bool sure = lookup->row == NULL && (!lookup->index_failed || wish == SHARD_WISH_CHECK);
        return lookup->result == RESULT_NOT_FOUND && sure ? SHARD_ABSENT : SHARD_FAILED;
    }
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(id));
    bool fresh = slot == NULL;
    if (fresh) {
        slot = shard_slot_new(shard, execution_id_span(id));
    }
    if (slot == NULL) {
        return SHARD_FAILED;
    }
    enum shard_located located = revive(shard, slot, lookup->bytes, false, work);
    if (located != SHARD_LIVE && fresh && !slot->damaged) {
        shard_slot_free(shard, slot);
    }
    struct engine_view view;
    if (located == SHARD_LIVE) {
        engine_look((*work)->execution, &view);
    }
    if (located != SHARD_LIVE || (wish != SHARD_WISH_LIVE && view.ended)) {
        return located;
    }
    /* (A work that is not touched leaves with this turn.) */
    located = view.ended ? SHARD_ENDED : take_over(shard, lookup, *work);
    *work = located == SHARD_LIVE ? *work : NULL;
    return located;
}

/* Does the row say so? (engine.md 2) */
static bool row_has_ended(const struct actor_lookup *lookup)
{
    struct span lifecycle =
        wire_string_or(wire_find_text(lookup->row->as.fetched.bytes, "lifecycle"), "Completed");
    return span_is(lifecycle, "Completed") || span_is(lifecycle, "Failed");
}

/* Not in memory, not parked: only the index and the blobs can know. An index that fails is done
 * without: the blob of the request's own workspace tells as much. */
static enum shard_located locate_ended(struct actor_shard *shard, const struct execution_id *id,
                                       enum shard_wish wish, bool known,
                                       struct proto_message **request, struct actor_lookup *lookup,
                                       struct actor_work **work)
{
    if (answers(lookup, PROTO_FETCH_BLOB)) {
        return revive_ended(shard, id, wish, lookup, work);
    }
    bool row_is_here = answers(lookup, PROTO_FETCH_ROW);
    bool exists_is_here = answers(lookup, PROTO_FETCH_EXISTS);
    bool failed = (row_is_here || exists_is_here) && lookup->result != RESULT_OK;
    if (failed && lookup->result == RESULT_NOT_FOUND) {
        return SHARD_ABSENT;
    }
    if (!shard->options.audit || failed) {
        if (failed) {
            lookup->index_failed = true;
        }
        return ask(shard, shard->options.storage, PROTO_FETCH_BLOB, id,
                   workspace_of(*request, lookup), request, lookup);
    }
    /* A quick look is enough as long as this shard remembers all that the index may not know yet.
     */
    bool quick = wish == SHARD_WISH_CHECK && !known && shard->ended_forgotten == 0;
    if (quick && !row_is_here && !exists_is_here) {
        return ask(shard, shard->options.audit_sink, PROTO_FETCH_EXISTS, id, SPAN_EMPTY, request,
                   lookup);
    }
    if (!row_is_here) {
        return ask(shard, shard->options.audit_sink, PROTO_FETCH_ROW, id, SPAN_EMPTY, request,
                   lookup);
    }
    if (wish == SHARD_WISH_LIVE && row_has_ended(lookup)) {
        return SHARD_ENDED;
    }
    struct span workspace = workspace_of(*request, lookup);
    return ask(shard, shard->options.storage, PROTO_FETCH_BLOB, id, workspace, request, lookup);
}

enum shard_located shard_locate(struct actor_shard *shard, const struct execution_id *id,
                                enum shard_wish wish, struct proto_message **request,
                                struct actor_lookup *lookup, struct actor_work **work)
{
    *work = NULL;
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(id));
    if (lookup != NULL && lookup->deleted && (slot == NULL || slot->ended)) {
        return SHARD_ABSENT; /* else a verb would bring it back from a blob of before */
    }
    if (slot == NULL) {
        return locate_ended(shard, id, wish, false, request, lookup, work);
    }
    if (slot->damaged) {
        return SHARD_DAMAGED;
    }
    if (slot->work != NULL) {
        *work = slot->work;
        return slot->work->forgotten ? SHARD_ABSENT : SHARD_LIVE;
    }
    if (!slot->ended) {
        return locate_parked(shard, slot, request, lookup, work);
    }
    return wish == SHARD_WISH_LIVE ? SHARD_ENDED
                                   : locate_ended(shard, id, wish, true, request, lookup, work);
}

bool shard_fetch_logs(struct actor_shard *shard, const struct execution_id *id,
                      struct proto_message **request, struct actor_lookup *lookup)
{
    if (!shard->options.audit || (lookup != NULL && lookup->logs != NULL)) {
        return false;
    }
    return ask(shard, shard->options.audit_sink, PROTO_FETCH_LOGS, id, SPAN_EMPTY, request,
               lookup) == SHARD_PENDING;
}

enum shard_located shard_fetch_steps(struct actor_shard *shard, const struct execution_id *id,
                                     struct span query, struct proto_message **request,
                                     struct actor_lookup *lookup)
{
    return ask(shard, shard->options.storage, PROTO_FETCH_STEPS, id, query, request, lookup);
}

bool shard_fetch_bound(struct actor_shard *shard, struct span channel_session_id,
                       struct proto_message **request, struct actor_lookup *lookup)
{
    static const struct execution_id nobody;
    return shard_hot_is_elsewhere(shard) && !answers(lookup, PROTO_FETCH_BOUND) &&
           ask(shard, shard->options.hot, PROTO_FETCH_BOUND, &nobody, channel_session_id, request,
               lookup) == SHARD_PENDING;
}

bool shard_found_bound(const struct actor_lookup *lookup, struct execution_id *id)
{
    return answers(lookup, PROTO_FETCH_BOUND) && lookup->result == RESULT_OK &&
           execution_id_parse(lookup->bytes, id) == RESULT_OK;
}

/* ---- answers ---- */

void shard_lookup_free(struct actor_shard *shard, struct actor_lookup *lookup)
{
    message_free(lookup->request);
    message_free(lookup->row);
    message_free(lookup->logs);
    shard_let_go(shard, &lookup->held);
    free(lookup);
}

/* A due timer of a parked execution. */
static void wake(struct actor_shard *shard, struct actor_slot *slot, const struct execution_id *id,
                 struct actor_lookup *lookup)
{
    struct proto_message *nobody = NULL;
    struct actor_work *work;
    enum shard_located located = shard_locate(shard, id, SHARD_WISH_LIVE, &nobody, lookup, &work);
    slot->waking = located == SHARD_PENDING;
    if (located == SHARD_FAILED) {
        shard_slot_set_alarm(shard, slot, shard->now.unix_ms + SHARD_IDLE_TIMER_MS);
    }
    if (located != SHARD_LIVE) {
        return;
    }
    struct engine_input input = {.kind = ENGINE_IN_TIMER, .now_ms = shard->now.unix_ms};
    uint32_t events_before = work->touched ? work->output->event_count : 0;
    enum result result = shard_accept(shard, work, &input);
    work->idle_timer =
        result != RESULT_OK || (work->output != NULL && work->output->event_count == events_before);
}

void shard_alarms_ring(struct actor_shard *shard)
{
    struct actor_alarm *alarm;
    while ((alarm = actor_alarms_take(&shard->alarms, shard->now.unix_ms)) != NULL) {
        struct actor_slot *slot = ACTOR_OWNER(actor_slot, alarm, alarm);
        struct execution_id id;
        if (execution_id_parse(shard_slot_id(slot), &id) != RESULT_OK) {
            ASSERT_UNREACHABLE();
        }
        if (shard->closing && (slot->work == NULL || slot->work->over)) {
            /* What waits goes on doing so; a segment's own timers help it to its end. */
            shard_slot_set_alarm(shard, slot, shard->now.unix_ms + SHARD_IDLE_TIMER_MS);
        } else if (!slot->waking) {
            wake(shard, slot, &id, NULL);
        }
    }
}

void shard_fetched(struct actor_shard *shard, struct proto_message *message)
{
    if (shard_ticket_magic(message->reply_to.ticket) == TASKS_MAGIC) {
        shard_tasks_fetched(shard, message);
        return;
    }
    struct actor_lookup *lookup =
        ACTOR_OWNER(actor_lookup, held, shard_of_ticket(message->reply_to.ticket, LOOKUP_MAGIC));
    const struct proto_fetched *fetched = &message->as.fetched;
    ASSERT(lookup->pending);
    lookup->pending = false;
    lookup->answered = true;
    lookup->kind = fetched->kind;
    lookup->result = fetched->result;
    lookup->bytes = fetched->bytes;
    if (fetched->kind == PROTO_FETCH_ROW && fetched->result == RESULT_OK) {
        message_free(lookup->row);
        lookup->row = message;
    } else if (fetched->kind == PROTO_FETCH_LOGS) {
        lookup->logs = message;
    }
    bool kept = lookup->row == message || lookup->logs == message;
    struct proto_message *request = lookup->request;
    lookup->request = NULL;
    if (request != NULL && request->type == PROTO_DELIVER) {
        shard_deliver(shard, request, lookup);
    } else if (request != NULL) {
        shard_request(shard, request, lookup);
    } else {
        struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&lookup->id));
        if (slot != NULL) {
            wake(shard, slot, &lookup->id, lookup);
        }
    }
    if (!kept) {
        message_free(message);
    }
    lookup->bytes = SPAN_EMPTY;
    if (!lookup->pending) {
        shard_lookup_free(shard, lookup);
    }
}
