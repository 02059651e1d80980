/*
 * iso8601.h: durations, instants and repeating intervals as BPMN timers write them. Pure functions,
 * any thread.
 *
 * Durations: PnYnMnDTnHnMnS or PnW, a sign before them allowed (ISO 8601-2; a negative one lies in
 * the past). Only the smallest part may have a fraction, and years and months none. Weeks stand
 * alone: "P1Y2W" is refused, as ISO 8601-1 says. A number too large to hold saturates: a timer is
 * never early, at worst it fires at the end of year 9999.
 */
#ifndef ENGINE_TIME_ISO8601_H
#define ENGINE_TIME_ISO8601_H

#include "proto/base/result.h"
#include "proto/base/span.h"

/* Months have no fixed length, so they are kept apart; days are 24 hours (UTC). Both parts have the
 * same sign. */
struct engine_duration {
    int64_t months;
    int64_t ms;
};

/* R[n]/[start/]duration[/end] or R[n]/start/end. */
struct engine_cycle {
    struct engine_duration every; /* positive */
    uint64_t count;               /* how often it fires in all; UINT64_MAX: without end */
    bool has_start;
    bool has_end;
    int64_t start_ms;
    int64_t end_ms;
};

/* On RESULT_INVALID *reason is a static phrase: `weeks cannot be mixed with other parts`. White
 * space around is skipped. */
MUST_USE enum result engine_duration_parse(struct span text, struct engine_duration *out,
                                           const char **reason);
/*
 * A date (its first instant) or a date-time: with seconds or without, any fraction (rounded up to a
 * millisecond), Z, an offset, or nothing, which means UTC. A zone name in brackets behind an offset
 * is skipped ("…+02:00[Europe/Berlin]").
 */
MUST_USE enum result engine_instant_parse(struct span text, int64_t *unix_ms, const char **reason);
MUST_USE enum result engine_cycle_parse(struct span text, struct engine_cycle *out,
                                        const char **reason);

/* The instant that lies `duration` behind unix_ms, by the calendar (engine_calendar_add). */
int64_t engine_duration_after(int64_t unix_ms, struct engine_duration duration);

/*
 * When a cycle fires next. `fired`: how often it has; `after_ms`: now (or the due time just served,
 * if later); both decide nothing before the first firing, which is due at the start, or one
 * interval after `activated_ms`. Later ones lie on the same grid, the first behind after_ms: a
 * cycle that slept through several ticks catches up with one, not with all. false: it is over.
 */
bool engine_cycle_due(const struct engine_cycle *cycle, int64_t activated_ms, uint64_t fired,
                      int64_t after_ms, int64_t *due_ms);

#endif
