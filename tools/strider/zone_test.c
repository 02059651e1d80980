/*
 * The system's own zone files: dates of the zone database, worked out by hand.
 */
#include "tools/strider/zone.h"

#include <criterion/criterion.h>

#include "engine/time/cron.h"
#include "proto/base/text.h"

static int64_t instant(const char *text)
{
    int64_t unix_ms;
    cr_assert_eq(text_parse_time(span_text(text), &unix_ms), RESULT_OK, "%s", text);
    return unix_ms;
}

Test(zone_files, fire_cron_texts_when_the_clocks_of_that_place_say_so)
{
    static const struct {
        const char *zone;
        const char *cron;
        const char *after;
        const char *next;
    } rows[] = {
        {"Europe/London", "30 1 * * *", "2025-03-29T12:00:00Z", "2025-03-30T02:00:00+01:00"},
        {"Europe/London", "30 1 * * *", "2060-03-27T12:00:00Z", "2060-03-28T02:00:00+01:00"},
        /* British Standard Time: an hour ahead the winter through, 1968 to 1971. */
        {"Europe/London", "0 12 * * *", "1969-12-24T12:00:00Z", "1969-12-25T12:00:00+01:00"},
        {"America/New_York", "30 2 * * *", "2016-03-12T12:00:00Z", "2016-03-13T03:00:00-04:00"},
        /* Until 2006 summer began on the first Sunday of April. */
        {"America/New_York", "30 2 * * *", "2006-04-01T12:00:00Z", "2006-04-02T03:00:00-04:00"},
        {"Australia/Lord_Howe", "15 2 * * *", "2017-09-30T12:00:00Z", "2017-10-01T02:30:00+11:00"},
        /* Until 1985 the change was a whole hour. */
        {"Australia/Lord_Howe", "15 2 * * *", "1984-10-27T12:00:00Z", "1984-10-28T03:00:00+11:30"},
        /* Amman changed at midnight, and not at all since 2022. */
        {"Asia/Amman", "30 0 L * *", "2017-03-30T21:59:00Z", "2017-03-31T01:00:00+03:00"},
        {"Asia/Amman", "30 0 L * *", "2014-10-30T21:30:00Z", "2014-11-30T00:30:00+02:00"},
        {"Asia/Amman", "30 2 * * *", "2030-03-28T12:00:00Z", "2030-03-29T02:30:00+03:00"},
        {"Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00:00Z", "2011-12-31T00:00:00+14:00"},
        {"UTC", "30 2 * * *", "2025-03-29T12:00:00Z", "2025-03-30T02:30:00Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct engine_zone zone;
        struct engine_cron cron;
        struct engine_cron_error error;
        char problem[512] = "";
        int64_t next_ms = 0;
        arena_init(&arena, 4096, 1 << 20);
        cr_assert_eq(engine_cron_parse(span_text(rows[i].cron), &cron, &error), RESULT_OK);
        cr_assert_eq(cli_zone_load(span_text(rows[i].zone), &arena, &zone, problem), RESULT_OK,
                     "%s", problem);

        cr_expect(engine_cron_next(&cron, &zone, instant(rows[i].after), &next_ms));

        char text[TEXT_TIME_BYTES + 1];
        text_format_time(next_ms, text);
        cr_expect_eq(next_ms, instant(rows[i].next), "%s \"%s\" after %s: %s", rows[i].zone,
                     rows[i].cron, rows[i].after, text);
        arena_release(&arena);
    }
}

Test(zone_files, are_not_looked_for_outside_the_database)
{
    static const char *const names[] = {"", "../../etc/passwd", "/etc/passwd", "Europe/Nowhere",
                                        "Europe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct arena arena;
        struct engine_zone zone;
        char problem[512] = "";
        arena_init(&arena, 4096, 1 << 20);
        cr_expect_neq(cli_zone_load(span_text(names[i]), &arena, &zone, problem), RESULT_OK, "%s",
                      names[i]);
        cr_expect_neq(problem[0], '\0');
        arena_release(&arena);
    }
}
