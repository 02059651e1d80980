/*
 * slot.c: the table of executions that a shard knows to exist: live, parked, damaged, or just
 * ended.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"

struct actor_slot *shard_slot_find(struct actor_shard *shard, struct span id)
{
    for (struct actor_link *link = actor_table_find(&shard->slots, base_hash(id, 0)); link != NULL;
         link = actor_table_again(link)) {
        struct actor_slot *slot = ACTOR_OWNER(actor_slot, link, link);
        if (span_equal(shard_slot_id(slot), id)) {
            return slot;
        }
    }
    return NULL;
}

struct actor_slot *shard_slot_new(struct actor_shard *shard, struct span id)
{
    ASSERT(id.count > 0 && id.count <= LIMIT_ID_BYTES);
    ASSERT_SLOW(shard_slot_find(shard, id) == NULL);
    struct actor_slot *slot = malloc(sizeof *slot + id.count);
    if (slot == NULL) {
        return NULL;
    }
    *slot = (struct actor_slot){.id_bytes = (uint8_t)id.count};
    memcpy(slot->id, id.bytes, id.count);
    actor_table_add(&shard->slots, &slot->link, base_hash(id, 0));
    return slot;
}

static void leave_ended(struct actor_shard *shard, struct actor_slot *slot)
{
    ASSERT(slot->ended);
    struct actor_slot **place = &shard->ended_oldest;
    struct actor_slot *older = NULL;
    while (*place != slot) {
        older = *place;
        place = &older->ended_newer;
    }
    *place = slot->ended_newer;
    shard->ended_count--;
    if (shard->ended_newest == slot) {
        shard->ended_newest = older;
    }
    slot->ended = false;
    slot->ended_newer = NULL;
}

void shard_slot_free(struct actor_shard *shard, struct actor_slot *slot)
{
    ASSERT(slot->work == NULL);
    shard_slot_set_human(shard, slot, false, 0);
    actor_alarms_clear(&shard->alarms, &slot->alarm);
    if (slot->ended) {
        leave_ended(shard, slot);
    }
    actor_table_remove(&shard->slots, &slot->link);
    free(slot);
}

void shard_slot_set_human(struct actor_shard *shard, struct actor_slot *slot, bool human,
                          int64_t since_ms)
{
    if (slot->human && (!human || slot->rank.at_ms != since_ms)) {
        actor_order_take(&shard->tasks, &slot->rank);
        slot->human = false;
    }
    if (human && !slot->human) {
        slot->rank.at_ms = since_ms;
        slot->rank.id = shard_slot_id(slot);
        actor_order_put(&shard->tasks, &slot->rank);
        slot->human = true;
    }
}

void shard_slot_set_alarm(struct actor_shard *shard, struct actor_slot *slot, int64_t due_ms)
{
    if (slot->alarm.place != 0 ? slot->alarm.due_ms == due_ms : due_ms == INT64_MAX) {
        return;
    }
    if (actor_alarms_set(&shard->alarms, &slot->alarm, due_ms) != RESULT_OK) {
        log_line(LOG_CRITICAL, "SHARD-ALARM-LOST", "shard=%u executionId=%.*s reason=\"no memory\"",
                 shard->options.index, SPAN_ARG(shard_slot_id(slot)));
    }
}

void shard_slot_set_damaged(struct actor_shard *shard, struct actor_slot *slot, const char *why)
{
    if (slot->damaged) {
        return;
    }
    slot->damaged = true;
    shard_slot_set_human(shard, slot, false, 0);
    actor_alarms_clear(&shard->alarms, &slot->alarm);
    actor_count(&shard->counters.damaged, 1);
    log_line(LOG_CRITICAL, "EXECUTION-SET-ASIDE", "shard=%u executionId=%.*s reason=\"%s\"",
             shard->options.index, SPAN_ARG(shard_slot_id(slot)), why);
}

void shard_slot_end(struct actor_shard *shard, struct actor_slot *slot, uint64_t position)
{
    ASSERT(slot->work == NULL && !slot->ended);
    shard_slot_set_human(shard, slot, false, 0);
    actor_alarms_clear(&shard->alarms, &slot->alarm);
    slot->ended = true;
    slot->ended_position = position;
    slot->ended_newer = NULL;
    if (shard->ended_oldest == NULL) {
        shard->ended_oldest = slot;
    } else {
        shard->ended_newest->ended_newer = slot;
    }
    shard->ended_newest = slot;
    shard->ended_count++;
    if (shard->ended_count > SHARD_ENDED_MAX) {
        shard->ended_forgotten = shard->ended_oldest->ended_position;
        shard_slot_free(shard, shard->ended_oldest);
    }
}

void shard_slots_forget_ended(struct actor_shard *shard, uint64_t indexed)
{
    if (shard->ended_forgotten <= indexed) {
        shard->ended_forgotten = 0;
    }
    while (shard->ended_oldest != NULL && shard->ended_oldest->ended_position <= indexed) {
        shard_slot_free(shard, shard->ended_oldest);
    }
}

struct actor_work *shard_work_new(struct actor_shard *shard, struct actor_slot *slot,
                                  struct engine_execution *execution)
{
    ASSERT(slot->work == NULL);
    struct actor_work *work = malloc(sizeof *work);
    if (work == NULL) {
        engine_free(execution);
        return NULL;
    }
    *work = (struct actor_work){.slot = slot, .execution = execution};
    if (slot->ended) {
        work->from_ended = true;
        leave_ended(shard, slot);
    }
    slot->work = work;
    actor_count(&shard->counters.live, 1);
    return work;
}

void shard_work_free(struct actor_shard *shard, struct actor_work *work)
{
    ASSERT(work->waiters == NULL);
    ASSERT(work->replies.oldest == NULL);
    ASSERT(!work->sliced && !work->touched && !work->unsettled);
    engine_free(work->execution);
    work->slot->work = NULL;
    free(work);
    actor_count(&shard->counters.live, -1);
}
