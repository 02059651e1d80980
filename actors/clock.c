/*
 * clock.c: clock and alarm heap (binary, each alarm knows its place, so that moving and clearing is
 * O(log n)).
 */
#include "actors/clock.h"

#include <stdlib.h>
#include <time.h>

#include "proto/base/assert.h"

static int64_t read_ns(clockid_t which)
{
    struct timespec now;
    int failed = clock_gettime(which, &now);
    ASSERT(failed == 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t actor_clock_monotonic_ms(void)
{
    return (uint64_t)(read_ns(CLOCK_BOOTTIME) / 1000000);
}

struct actor_time actor_clock_now(struct actor_clock *clock)
{
    /* The distance of the two clocks is rounded, not each of them: so all threads find the same
     * one, and what began later on another shard never looks earlier. */
    int64_t wall_ns = read_ns(CLOCK_REALTIME);
    int64_t monotonic_ns = read_ns(CLOCK_BOOTTIME);
    int64_t monotonic_ms = monotonic_ns / 1000000;
    int64_t offset_ms = (wall_ns - monotonic_ns) / 1000000;
    return actor_clock_reckon(clock, monotonic_ms + offset_ms, (uint64_t)monotonic_ms);
}

struct actor_time actor_clock_reckon(struct actor_clock *clock, int64_t wall_ms,
                                     uint64_t monotonic_ms)
{
    int64_t wall_offset_ms = wall_ms - (int64_t)monotonic_ms;
    int64_t ahead_ms = clock->offset_ms - wall_offset_ms;
    if (!clock->started || ahead_ms < -ACTOR_CLOCK_STEP_MS) {
        clock->started = true;
        clock->offset_ms = wall_offset_ms;
        clock->slewed_ms = monotonic_ms;
    } else if (ahead_ms > ACTOR_CLOCK_STEP_MS) {
        int64_t approach_ms = (int64_t)(monotonic_ms - clock->slewed_ms) / 10;
        if (approach_ms > 0) {
            clock->offset_ms -= approach_ms < ahead_ms ? approach_ms : ahead_ms;
            clock->slewed_ms = monotonic_ms;
        }
    } else {
        clock->slewed_ms = monotonic_ms;
    }
    return (struct actor_time){.unix_ms = (int64_t)monotonic_ms + clock->offset_ms,
                               .monotonic_ms = monotonic_ms};
}

/* ---- alarms ---- */

static void put(struct actor_alarms *alarms, uint32_t index, struct actor_alarm *alarm)
{
    alarms->heap[index] = alarm;
    alarm->place = index + 1;
}

static void sift_up(struct actor_alarms *alarms, uint32_t index, struct actor_alarm *alarm)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;
        if (alarms->heap[parent]->due_ms <= alarm->due_ms) {
            break;
        }
        put(alarms, index, alarms->heap[parent]);
        index = parent;
    }
    put(alarms, index, alarm);
}

static void sift_down(struct actor_alarms *alarms, uint32_t index, struct actor_alarm *alarm)
{
    for (;;) {
        uint32_t child = index * 2 + 1;
        if (child >= alarms->count) {
            break;
        }
        if (child + 1 < alarms->count &&
            alarms->heap[child + 1]->due_ms < alarms->heap[child]->due_ms) {
            child++;
        }
        if (alarms->heap[child]->due_ms >= alarm->due_ms) {
            break;
        }
        put(alarms, index, alarms->heap[child]);
        index = child;
    }
    put(alarms, index, alarm);
}

static void place(struct actor_alarms *alarms, uint32_t index, struct actor_alarm *alarm)
{
    if (index > 0 && alarms->heap[(index - 1) / 2]->due_ms > alarm->due_ms) {
        sift_up(alarms, index, alarm);
    } else {
        sift_down(alarms, index, alarm);
    }
}

void actor_alarms_release(struct actor_alarms *alarms)
{
    free(alarms->heap);
    *alarms = (struct actor_alarms){0};
}

enum result actor_alarms_set(struct actor_alarms *alarms, struct actor_alarm *alarm, int64_t due_ms)
{
    if (due_ms == INT64_MAX) {
        actor_alarms_clear(alarms, alarm);
        return RESULT_OK;
    }
    if (alarm->place != 0) {
        ASSERT(alarms->heap[alarm->place - 1] == alarm);
        alarm->due_ms = due_ms;
        place(alarms, alarm->place - 1, alarm);
        return RESULT_OK;
    }
    if (alarms->count == alarms->capacity) {
        uint32_t capacity = alarms->capacity == 0 ? 64 : alarms->capacity * 2;
        struct actor_alarm **heap = realloc(alarms->heap, capacity * sizeof *heap);
        if (heap == NULL) {
            return RESULT_LIMIT;
        }
        alarms->heap = heap;
        alarms->capacity = capacity;
    }
    alarm->due_ms = due_ms;
    sift_up(alarms, alarms->count++, alarm);
    return RESULT_OK;
}

void actor_alarms_clear(struct actor_alarms *alarms, struct actor_alarm *alarm)
{
    if (alarm->place == 0) {
        return;
    }
    uint32_t index = alarm->place - 1;
    ASSERT(index < alarms->count && alarms->heap[index] == alarm);
    struct actor_alarm *last = alarms->heap[--alarms->count];
    alarm->place = 0;
    if (last != alarm) {
        place(alarms, index, last);
    }
}

int64_t actor_alarms_next_ms(const struct actor_alarms *alarms)
{
    return alarms->count == 0 ? INT64_MAX : alarms->heap[0]->due_ms;
}

struct actor_alarm *actor_alarms_take(struct actor_alarms *alarms, int64_t now_ms)
{
    if (actor_alarms_next_ms(alarms) > now_ms || alarms->count == 0) {
        return NULL;
    }
    struct actor_alarm *alarm = alarms->heap[0];
    actor_alarms_clear(alarms, alarm);
    return alarm;
}
