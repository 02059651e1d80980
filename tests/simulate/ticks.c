/*
 * ticks.c: see ticks.h. A firing that a death has taken back is made again, for the same instant
 * or, where that has passed, for the same one as the one that stands for it.
 */
#include "tests/simulate/ticks.h"

#include "engine/execution.h"
#include "engine/time/iso8601.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "tests/simulate/model.h"

enum { TICKS_MAX = 16 };

struct tick {
    int64_t due_ms;
    int64_t fired_ms;
    uint32_t execution;
    uint32_t recorded_in; /* number of the commit that says that it has fired; 0: none yet */
    bool committed;       /* and that holds what it began */
};

struct sim_ticks {
    struct tick ticks[TICKS_MAX]; /* in the order of their instants */
    uint32_t count;
    int64_t base_ms; /* that the grid counts from: an interval before the first of all */
    uint32_t commit; /* number of the one that is looked at, from 1 */
};

void sim_ticks_init(struct sim *sim)
{
    sim->ticks = arena_zero(&sim->arena, sizeof *sim->ticks);
    ASSERT(sim->ticks != NULL);
    sim->ticks->commit = 1;
}

/* ---- beginning ---- */

/* The instant that comes next, by what has been served. */
static int64_t next_due_ms(const struct sim *sim)
{
    const struct sim_ticks *ticks = sim->ticks;
    int64_t every_ms = sim->model->timed.every_ms;
    const struct tick *last = ticks->count == 0 ? NULL : &ticks->ticks[ticks->count - 1];
    if (last == NULL) {
        return ticks->base_ms + every_ms;
    }
    int64_t served_ms = last->fired_ms > last->due_ms ? last->fired_ms : last->due_ms;
    return ticks->base_ms + ((served_ms - ticks->base_ms) / every_ms + 1) * every_ms;
}

static bool due_of(const struct engine_execution *execution, int64_t *due_ms)
{
    const char *reason;
    struct span trigger = wire_find_text(execution->first_request, "trigger");
    struct span due = wire_string_or(wire_find_text(trigger, "dueAt"), "");
    return due.count > 0 && engine_instant_parse(due, due_ms, &reason) == RESULT_OK;
}

bool sim_ticks_begun(struct sim *sim, uint32_t number, const struct engine_execution *execution)
{
    struct sim_ticks *ticks = sim->ticks;
    int64_t due_ms;
    if (sim->model->timed.count == 0 ||
        !span_equal(execution->process->id, sim->model->timed.process) ||
        !due_of(execution, &due_ms)) {
        return false;
    }
    if (ticks->base_ms == 0) {
        ticks->base_ms = due_ms - sim->model->timed.every_ms;
    }
    for (uint32_t i = 0; i < ticks->count; i++) {
        if (ticks->ticks[i].due_ms == due_ms) {
            sim_fail(sim, "%s: the timer fires a second time for the same instant",
                     execution->id.text);
        }
    }
    if (ticks->count == sim->model->timed.count || ticks->count == TICKS_MAX) {
        sim_fail(sim, "%s: the timer fires more than %u times", execution->id.text,
                 sim->model->timed.count);
    } else if (due_ms != next_due_ms(sim)) {
        sim_fail(sim, "%s: the timer fires for %lld, the next instant is %lld", execution->id.text,
                 (long long)due_ms, (long long)next_due_ms(sim));
    } else if (due_ms > sim->now.unix_ms) {
        sim_fail(sim, "%s: the timer fires %lld ms early", execution->id.text,
                 (long long)(due_ms - sim->now.unix_ms));
    } else {
        ticks->ticks[ticks->count++] =
            (struct tick){.due_ms = due_ms, .fired_ms = sim->now.unix_ms, .execution = number};
    }
    return true;
}

/* ---- commits ---- */

void sim_ticks_commit(struct sim *sim, const struct proto_record *record)
{
    struct sim_ticks *ticks = sim->ticks;
    for (uint32_t i = 0; i < ticks->count; i++) {
        struct tick *tick = &ticks->ticks[i];
        if (tick->due_ms == record->at_ms && tick->recorded_in == 0) {
            tick->recorded_in = ticks->commit;
            tick->fired_ms = wire_int_or(wire_at(record->body, 2), 0);
            if (wire_int_or(wire_at(record->body, 1), 0) != (int64_t)i + 1) {
                sim_fail(sim, "the timer is said to have fired %lld times, not %u",
                         (long long)wire_int_or(wire_at(record->body, 1), 0), i + 1);
            }
            return;
        }
    }
    sim_fail(sim, "the timer is said to have fired, and has begun nothing");
}

void sim_ticks_commit_of(struct sim *sim, uint32_t execution)
{
    for (uint32_t i = 0; i < sim->ticks->count; i++) {
        struct tick *tick = &sim->ticks->ticks[i];
        if (tick->execution != execution || tick->committed) {
            continue;
        }
        tick->committed = true;
        if (tick->recorded_in != sim->ticks->commit) {
            sim_fail(sim, "execution %u begins, and the commit does not say that its timer fired",
                     execution);
        }
    }
}

void sim_ticks_committed(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->ticks->count; i++) {
        const struct tick *tick = &sim->ticks->ticks[i];
        if (!tick->committed && tick->recorded_in == sim->ticks->commit) {
            sim_fail(sim, "a commit says that the timer fired, and does not hold what it began");
        }
    }
    sim->ticks->commit++;
}

void sim_ticks_undo(struct sim *sim, uint32_t execution)
{
    struct sim_ticks *ticks = sim->ticks;
    for (uint32_t i = 0; i < ticks->count; i++) {
        if (ticks->ticks[i].execution == execution) {
            if (i + 1 < ticks->count) {
                sim_fail(sim, "execution %u of a timer is lost, a later one is not", execution);
            }
            ticks->count = i;
        }
    }
}

bool sim_ticks_are_quiet(const struct sim *sim)
{
    return sim->ticks->count == sim->model->timed.count;
}
