/*
 * cron_fuzz.c: the first byte tells how many bytes are a zone file; the rest is a cron text. What
 * is refused has a place and a reason; what is accepted fires in order, at whole seconds, within
 * its bounds, and at a time of the local clock that matches, unless the clock jumped over it.
 */
#include "engine/time/calendar.h"
#include "engine/time/cron.h"
#include "tests/fuzz/fuzz.h"

enum { FIRINGS = 20, ARENA_BYTES_MAX = 1 << 20 };

static bool matches_clock(const struct engine_cron *cron, int64_t local_s)
{
    int64_t day = local_s / 86400 - (local_s % 86400 < 0);
    int64_t second = local_s - day * 86400;
    struct date date = date_of_days(day);
    return (cron->months >> date.month & 1) != 0 && (cron->hours >> second / 3600 & 1) != 0 &&
           (cron->minutes >> second / 60 % 60 & 1) != 0 && (cron->seconds >> second % 60 & 1) != 0;
}

static bool is_after_jump(const struct engine_zone *zone, int64_t at_s)
{
    return engine_zone_offset(zone, at_s) > engine_zone_offset(zone, at_s - 1);
}

static void check_firings(const struct engine_cron *cron, const struct engine_zone *zone)
{
    int64_t at_ms = 1600000000123;
    int64_t next_ms;
    for (unsigned i = 0; i < FIRINGS && engine_cron_next(cron, zone, at_ms, &next_ms); i++) {
        int64_t at_s = next_ms / 1000;
        MUST(next_ms > at_ms && next_ms % 1000 == 0);
        MUST(next_ms <= CALENDAR_MOST_MS);
        MUST(is_after_jump(zone, at_s) ||
             matches_clock(cron, at_s + engine_zone_offset(zone, at_s)));
        at_ms = next_ms;
    }
}

static void check_zone(const struct engine_zone *zone)
{
    struct engine_zone_change change;
    int64_t at_s = -4000000000;
    for (unsigned i = 0; i < 1000 && engine_zone_next_change(zone, at_s, &change); i++) {
        MUST(change.at_s > at_s);
        MUST(engine_zone_offset(zone, change.at_s) == change.offset_s);
        at_s = change.at_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena arena;
    struct engine_zone zone = engine_zone_utc;
    struct engine_cron cron;
    struct engine_cron_error error;
    const char *reason = NULL;
    size_t mark = count == 0 ? 0 : 1;
    size_t zone_count = count == 0 || bytes[0] >= count ? 0 : bytes[0];
    arena_init(&arena, 4096, ARENA_BYTES_MAX);
    if (engine_zone_parse(span_of(bytes + mark, zone_count), &arena, &zone, &reason) != RESULT_OK) {
        MUST(reason != NULL);
        zone = engine_zone_utc;
    }
    check_zone(&zone);
    struct span text = span_of(bytes + mark + zone_count, count - mark - zone_count);
    if (engine_cron_parse(text, &cron, &error) == RESULT_OK) {
        check_firings(&cron, &zone);
        check_firings(&cron, &engine_zone_utc);
    } else {
        MUST(error.reason != NULL && error.offset <= text.count);
    }
    arena_release(&arena);
    return 0;
}
