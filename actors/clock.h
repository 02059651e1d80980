/*
 * clock.h: what time it is, for actors: the only place that reads a clock. And the alarms of an
 * actor: a heap of due times.
 *
 * Unix time here never goes back and never stands still: it runs at the rate of the boot clock
 * (which counts suspension) from where it began. A wall clock that was set forward is followed at
 * once; one that was set back is approached slowly (1 s in 10), so timers neither stop for the
 * length of the step nor fire twice. Each actor has its own clock: no sharing, no lock.
 */
#ifndef ACTORS_CLOCK_H
#define ACTORS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"

#define ACTOR_NEVER UINT64_MAX /* monotonic: no turn is wanted */
#define ACTOR_WAIT_MAX_MS                                                                          \
    5000u /* whoever waits for a Unix time looks again this often: the wall clock may be set */
#define ACTOR_CLOCK_STEP_MS 1000 /* smaller differences to the wall clock are left alone */

struct actor_time {
    int64_t unix_ms;
    uint64_t monotonic_ms; /* boot clock: counts suspension */
};

struct actor_clock {
    /* private to clock.c */
    int64_t offset_ms;  /* unix = monotonic + offset */
    uint64_t slewed_ms; /* monotonic time of the last approach to a wall clock set back */
    bool started;
};

struct actor_time actor_clock_now(struct actor_clock *clock);
/* Of all clocks the same; any thread. */
uint64_t actor_clock_monotonic_ms(void);
/* The same from given readings: pure, for the test and the simulator. */
struct actor_time actor_clock_reckon(struct actor_clock *clock, int64_t wall_ms,
                                     uint64_t monotonic_ms);

/* ---- alarms ---- */

/* Embedded in what wants to be woken; zeroed: not set. */
struct actor_alarm {
    int64_t due_ms;
    uint32_t place; /* private to clock.c: index in the heap + 1; 0: not set */
};

struct actor_alarms {
    /* private to clock.c */
    struct actor_alarm **heap;
    uint32_t count;
    uint32_t capacity;
};

void actor_alarms_release(struct actor_alarms *alarms);
/* Sets, moves or (INT64_MAX) clears. RESULT_LIMIT: no memory; the alarm is then not set. */
MUST_USE enum result actor_alarms_set(struct actor_alarms *alarms, struct actor_alarm *alarm,
                                      int64_t due_ms);
void actor_alarms_clear(struct actor_alarms *alarms, struct actor_alarm *alarm);
/* INT64_MAX: none. */
int64_t actor_alarms_next_ms(const struct actor_alarms *alarms);
/* Takes the earliest that is due; NULL when none is. */
struct actor_alarm *actor_alarms_take(struct actor_alarms *alarms, int64_t now_ms);

#endif
