/*
 * cron.h: cron texts and when they fire next, by the rules of Cronos (engine.md 10). Pure, any
 * thread.
 *
 * Five fields (minute, hour, day of month, month, day of week) or six (second first), or a macro
 * (@every_second, @every_minute, @hourly, @daily, @midnight, @weekly, @monthly, @yearly,
 * @annually). A field is * or ?, or a list of values and ranges, each with a step: 5, 1-5, 22-3
 * (over midnight), 10/5, 1-15/3. Months and weekdays have names (JAN, MON), Sunday is 0 and 7. Day
 * of month also takes L, L-3, LW, L-3W, 15W; day of week 5L (the last Friday) and 1#2 (the second
 * Monday). Both day fields must match. A text may begin with its zone: "CRON_TZ=Europe/London 0 9 *
 * * *".
 */
#ifndef ENGINE_TIME_CRON_H
#define ENGINE_TIME_CRON_H

#include "engine/time/zone.h"

struct engine_cron {
    uint64_t seconds; /* bit n: fires at n */
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;         /* bits 1 to 31; all of them where last_day */
    uint32_t months;       /* bits 1 to 12 */
    uint32_t weekdays;     /* bits 0 (Sunday) to 6 */
    bool last_day;         /* L: counted from the end of the month, */
    uint8_t last_day_back; /* by so many days */
    bool nearest_weekday;  /* W: moved to the nearest Monday to Friday of the same month */
    bool last_weekday;     /* 5L */
    uint8_t nth_weekday;   /* 1#2; 0: none */
    bool is_interval; /* *, range or step in seconds, minutes or hours: it repeats within a day */
    struct span zone; /* name in the text, borrowed from it; empty: none given */
};

struct engine_cron_error {
    uint32_t offset;    /* byte in the text */
    const char *reason; /* static text: "minutes are 0 to 59" */
};

/* RESULT_INVALID with *error filled. */
MUST_USE enum result engine_cron_parse(struct span text, struct engine_cron *out,
                                       struct engine_cron_error *error);

/*
 * The first instant behind after_ms at which it fires; false: never again (30 February), or not
 * before the year 10000. Where the zone's clock jumps forward over a firing, it fires at the end of
 * the jump; where the clock is set back, an interval fires in both passes and a fixed time in the
 * first one only.
 */
bool engine_cron_next(const struct engine_cron *cron, const struct engine_zone *zone,
                      int64_t after_ms, int64_t *next_ms);

#endif
