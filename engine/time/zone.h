/*
 * zone.h: a time zone as a table of its offset's changes and a rule for what comes behind them,
 * from the bytes of a TZif file (RFC 8536). Pure: whoever knows where such files are hands the
 * bytes in. A parsed zone is immutable, any thread.
 */
#ifndef ENGINE_TIME_ZONE_H
#define ENGINE_TIME_ZONE_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

/* From at_s on (Unix seconds), local time is UTC + offset_s. */
struct engine_zone_change {
    int64_t at_s;
    int32_t offset_s;
};

/* A day of any year, as POSIX TZ strings name it, and a time of that day's local clock. */
struct engine_zone_day {
    enum {
        ENGINE_ZONE_JULIAN,  /* Jn: 1..365, February 29 is never counted */
        ENGINE_ZONE_ORDINAL, /* n: 0..365, leap days counted */
        ENGINE_ZONE_WEEKDAY, /* Mm.w.d: the w-th weekday d (0: Sunday) of a month, 5: the last */
    } kind;
    uint16_t day;
    uint8_t month;
    uint8_t week;
    uint8_t weekday;
    int32_t time_s; /* -167 to 167 hours */
};

struct engine_zone {
    const struct engine_zone_change *changes; /* ascending; each one really changes the offset */
    uint32_t change_count;
    int32_t first_offset_s; /* before the first change */
    bool has_rule;          /* behind the last change the clock goes on changing, twice a year */
    int32_t standard_s;
    int32_t summer_s;
    struct engine_zone_day summer_begin; /* by the standard clock */
    struct engine_zone_day summer_end;   /* by the summer clock */
};

extern const struct engine_zone engine_zone_utc;

/*
 * Parses a TZif file of version 1 to 4; the table lives in the arena. RESULT_INVALID: it is none,
 * or a broken one, or one with leap seconds (*reason is a static phrase); RESULT_LIMIT: the arena
 * is full.
 */
MUST_USE enum result engine_zone_parse(struct span file, struct arena *arena,
                                       struct engine_zone *out, const char **reason);

/* Seconds east of UTC at an instant. */
int32_t engine_zone_offset(const struct engine_zone *zone, int64_t unix_s);

/* The first change of the offset behind unix_s; false: there is none any more. */
bool engine_zone_next_change(const struct engine_zone *zone, int64_t unix_s,
                             struct engine_zone_change *out);

/* May this be the name of a zone ("Europe/London"), and so part of a path: letters, digits and
 * _ + - in parts between slashes, no part empty? */
bool engine_zone_name_is_valid(struct span name);

#endif
