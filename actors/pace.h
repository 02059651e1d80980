/*
 * pace.h: lets a drain step back while others want the processor. The journal absorbs a burst; the
 * drains catch up after it, or when they have fallen so far behind that the journal's size begins
 * to matter.
 *
 * A drain works in slices of some milliseconds. When the kernel took the processor away from it
 * during a slice, the machine is busy, and the drain rests nine times as long as the slice took.
 * Questions to the drain's actor do not wait for that.
 */
#ifndef ACTORS_PACE_H
#define ACTORS_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: never rests (the simulator, where no clock may be read). */
struct actor_pace {
    bool enabled;
    uint64_t behind_bytes_max; /* so far behind, it does not rest */
    /* private to pace.c */
    uint64_t begin_us;
    uint64_t begin_switches;
    uint64_t rest_until_ms; /* monotonic */
};

void actor_pace_begin(struct actor_pace *pace);
/* After a slice; `behind_bytes` of the journal are still to be read. */
void actor_pace_end(struct actor_pace *pace, uint64_t behind_bytes, uint64_t now_ms);
/* Until when to rest: in the past when there is no need. */
static inline uint64_t actor_pace_until_ms(const struct actor_pace *pace)
{
    return pace->rest_until_ms;
}

#endif
