/*
 * tap_return.c: what comes back after a death, and from a parking place (tap.h).
 */
#include "proto/base/assert.h"
#include "tests/simulate/letters.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/tap_state.h"
#include "tests/simulate/ticks.h"

void sim_tap_recovery_begins(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->tap->count; i++) {
        sim->tap->tracked[i].recovered = 0;
    }
    sim->tap->recovering = true;
    sim_tap_listen(sim);
}

static void come_back_after_death(struct sim_tap *tap, struct sim_tracked *tracked,
                                  const struct engine_execution *execution)
{
    /* Snapshot, then run by run: what counts is where it ends, which the last call shows. */
    tracked->recovered = execution->event_sequence;
    const struct sim_committed *committed = sim_tap_committed_at(tracked, tracked->recovered);
    if (committed != NULL) {
        sim_tap_expect_same(tap, tracked, "what came back",
                            span_of(committed->bytes, committed->count),
                            sim_tap_encoded(execution, &tap->scratch));
    }
}

/* From bytes: in a recovery, or because a parked execution is wanted. */
void sim_tap_came_back(struct sim *sim, const struct engine_execution *execution)
{
    struct sim_tap *tap = sim->tap;
    struct sim_tracked *tracked = sim_tap_find_of(tap, execution);
    if (tracked == NULL || sim_failed(sim)) {
        return;
    }
    arena_clear(&tap->scratch);
    if (tap->recovering) {
        come_back_after_death(tap, tracked, execution);
    } else if (tracked->shadow == NULL) {
        sim_fail(sim, "%s: revived, and it was never there", tracked->id.text);
    } else {
        sim_tap_expect_same(tap, tracked, "what was revived",
                            sim_tap_encoded(tracked->shadow, &tap->scratch),
                            sim_tap_encoded(execution, &tap->scratch));
    }
}

/* Recovery does not revive what has ended; the log says how far that one got. */
static uint64_t read_disk(struct sim_tap *tap, const struct sim_tracked *tracked, bool *deleted)
{
    struct storage_journal *log = tap->sim->machine->stores.journal.log;
    struct storage_journal_reader *reader;
    struct span batch;
    uint64_t position, end = 0;
    *deleted = tracked->deletion.durable;
    if (log->ops->reader_open(log, log->ops->begin(log), &reader) != RESULT_OK) {
        sim_fail(tap->sim, "the log cannot be read from its beginning");
        return 0;
    }
    while (log->ops->reader_next(reader, &batch, &position) == RESULT_OK) {
        struct proto_record record;
        while (record_read(&batch, &record) == RESULT_OK) {
            uint64_t last = sim_tap_end_of_record(&record);
            if (!span_equal(record.execution_id, execution_id_span(&tracked->id))) {
                continue;
            }
            end = last > end ? last : end;
            *deleted = *deleted || record.kind == PROTO_RECORD_FORGET;
        }
    }
    log->ops->reader_close(reader);
    return end > tracked->durable ? end : tracked->durable;
}

static void go_back_to(struct sim_tap *tap, struct sim_tracked *tracked, uint64_t event_sequence)
{
    sim_letters_go_back(tap->sim, (uint32_t)(tracked - tap->tracked), event_sequence);
    sim_tap_forget_after(tracked, event_sequence);
    sim_tap_drop_shadow(tracked);
    tracked->appended = tracked->durable = event_sequence;
    const struct sim_committed *committed = tracked->newest;
    if (committed == NULL) {
        sim_ticks_undo(tap->sim, (uint32_t)(tracked - tap->tracked));
        return;
    }
    enum result result = engine_decode(
        &tap->catalog.engine, span_of(committed->bytes, committed->count), &tracked->shadow);
    ASSERT(result == RESULT_OK);
    tracked->books = committed->books;
    sim_tap_forget_before(tracked, event_sequence);
}

/* Deleted it stays, whoever has heard of it; true: so it is. */
static bool judge_deleted(struct sim_tap *tap, struct sim_tracked *tracked, bool deleted)
{
    if (deleted && tracked->recovered != 0) {
        sim_fail(tap->sim, "%s: comes back with event %llu, though it was deleted",
                 tracked->id.text, (unsigned long long)tracked->recovered);
    }
    tracked->deletion.committed = tracked->deletion.appended = tracked->deletion.durable = deleted;
    return deleted;
}

static void judge_return(struct sim_tap *tap, struct sim_tracked *tracked)
{
    uint64_t came_back = tracked->recovered;
    bool deleted = false;
    uint64_t on_disk = came_back == 0 || tracked->deletion.committed
                           ? read_disk(tap, tracked, &deleted)
                           : came_back;
    if (judge_deleted(tap, tracked, deleted)) {
        sim_clients_notice(tap->sim, (uint32_t)(tracked - tap->tracked));
        return;
    }
    if (came_back == 0) {
        came_back = on_disk;
        const struct sim_committed *last = sim_tap_committed_at(tracked, came_back);
        if (came_back != 0 && (last == NULL || !last->ended)) {
            sim_fail(tap->sim, "%s: lost, with durable events up to %llu", tracked->id.text,
                     (unsigned long long)came_back);
            return;
        }
    }
    if (came_back < tracked->durable) {
        sim_fail(tap->sim, "%s: came back with event %llu, durable was %llu", tracked->id.text,
                 (unsigned long long)came_back, (unsigned long long)tracked->durable);
        return;
    }
    if (came_back != 0 && sim_tap_committed_at(tracked, came_back) == NULL) {
        sim_fail(tap->sim, "%s: came back with event %llu, at which no commit ended",
                 tracked->id.text, (unsigned long long)came_back);
        return;
    }
    go_back_to(tap, tracked, came_back);
    sim_clients_notice(tap->sim, (uint32_t)(tracked - tap->tracked));
}

void sim_tap_recovery_ends(struct sim *sim)
{
    sim_tap_listen(NULL);
    sim->tap->recovering = false;
    for (uint32_t i = 0; i < sim->tap->count && !sim_failed(sim); i++) {
        judge_return(sim->tap, &sim->tap->tracked[i]);
    }
    sim_letters_come_back(sim);
}
