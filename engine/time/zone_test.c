/*
 * Zones from made-up TZif files. Expected instants are those of the zone database's rules, worked
 * out by hand.
 */
#include <criterion/criterion.h>

#include "engine/time/zone_sample.h"

static int64_t seconds(const char *text)
{
    return zone_instant(text) / 1000;
}

static enum result parse(struct span bytes)
{
    struct arena arena;
    struct engine_zone zone;
    const char *reason = NULL;
    arena_init(&arena, 256, 1 << 20);
    enum result result = engine_zone_parse(bytes, &arena, &zone, &reason);
    cr_assert(result == RESULT_OK || reason != NULL);
    arena_release(&arena);
    return result;
}

Test(zone, changes_twice_a_year_by_the_rule_of_its_footer)
{
    static const struct {
        const char *zone;
        const char *before; /* the search begins here */
        const char *at;
        int32_t offset_s;
    } rows[] = {
        /* London: last Sundays of March and October, at 01:00 UTC. */
        {ZONE_LONDON, "2025-01-01T00:00:00Z", "2025-03-30T01:00:00Z", 3600},
        {ZONE_LONDON, "2025-03-30T01:00:00Z", "2025-10-26T01:00:00Z", 0},
        /* New York: second Sunday of March, first of November, at 02:00 of the clock on the wall.
         */
        {ZONE_NEW_YORK, "2016-01-01T00:00:00Z", "2016-03-13T07:00:00Z", -4 * 3600},
        {ZONE_NEW_YORK, "2016-03-13T07:00:00Z", "2016-11-06T06:00:00Z", -5 * 3600},
        /* Lord Howe: first Sundays of October and April; half an hour. */
        {ZONE_LORD_HOWE, "2017-01-01T00:00:00Z", "2017-04-01T15:00:00Z", 37800},
        {ZONE_LORD_HOWE, "2017-04-01T15:00:00Z", "2017-09-30T15:30:00Z", 39600},
        /* Dublin calls winter its summer: the offset is what counts. */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", "2025-01-01T00:00:00Z", "2025-03-30T01:00:00Z", 3600},
        /* Days by number: J60 is always March 1st, 59 is February 29th of a leap year. */
        {"AAA0BBB,J60/0,300/0", "2024-01-01T00:00:00Z", "2024-03-01T00:00:00Z", 3600},
        {"AAA0BBB,59/0,300/0", "2024-01-01T00:00:00Z", "2024-02-29T00:00:00Z", 3600},
        /* Times beyond the day (RFC 8536 §3.3.1): the Thursday before the last Sunday. */
        {"<-02>2<-01>,M3.5.0/-49,M10.5.0/-1", "2024-01-01T00:00:00Z", "2024-03-29T01:00:00Z",
         -3600},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_zone zone = zone_sample(rows[i].zone);
        struct engine_zone_change change = {0};

        bool found = engine_zone_next_change(&zone, seconds(rows[i].before), &change);

        cr_expect(found);
        cr_expect_eq(change.at_s, seconds(rows[i].at), "%s %s", rows[i].zone, rows[i].before);
        cr_expect_eq(change.offset_s, rows[i].offset_s, "%s %s", rows[i].zone, rows[i].before);
        cr_expect_eq(engine_zone_offset(&zone, change.at_s), rows[i].offset_s);
        cr_expect_neq(engine_zone_offset(&zone, change.at_s - 1), rows[i].offset_s);
    }
}

Test(zone, never_changes_where_summer_time_is_all_year)
{
    struct engine_zone zone = zone_sample("EST5EDT,0/0,J365/25");
    struct engine_zone_change change;

    cr_expect_eq(engine_zone_offset(&zone, seconds("2024-07-01T00:00:00Z")), -4 * 3600);
    cr_expect_eq(engine_zone_offset(&zone, seconds("2025-01-01T04:00:00Z")), -4 * 3600);
    cr_expect_not(engine_zone_next_change(&zone, seconds("2024-07-01T00:00:00Z"), &change));
}

Test(zone, takes_the_table_before_the_rule)
{
    const struct engine_zone_change changes[] = {{-1000, 3600}, {0, 3600}, {5000, 1800}};
    struct zone_bytes file = zone_file(60, changes, 3, "AAA-0:30");
    struct arena arena;
    struct engine_zone zone;
    const char *reason;
    arena_init(&arena, 256, 4096);

    enum result result = engine_zone_parse(span_of(file.bytes, file.count), &arena, &zone, &reason);

    cr_assert_eq(result, RESULT_OK, "%s", reason);
    cr_expect_eq(engine_zone_offset(&zone, -1001), 60);
    cr_expect_eq(engine_zone_offset(&zone, -1000), 3600);
    cr_expect_eq(engine_zone_offset(&zone, 4999), 3600);
    cr_expect_eq(engine_zone_offset(&zone, 1LL << 40), 1800);
    struct engine_zone_change change;
    cr_expect(engine_zone_next_change(&zone, -1000, &change));
    cr_expect_eq(change.at_s, 5000, "a change to the same offset is none");
    cr_expect_not(engine_zone_next_change(&zone, 5000, &change));
    arena_release(&arena);
}

Test(zone, reads_a_file_of_version_1)
{
    const struct engine_zone_change changes[] = {{1000, 7200}};
    struct zone_bytes file = {.count = 0};
    zone_put_block(&file, '\0', 4, 3600, changes, 1);
    struct arena arena;
    struct engine_zone zone;
    const char *reason;
    arena_init(&arena, 256, 4096);

    enum result result = engine_zone_parse(span_of(file.bytes, file.count), &arena, &zone, &reason);

    cr_assert_eq(result, RESULT_OK, "%s", reason);
    cr_expect_eq(engine_zone_offset(&zone, 999), 3600);
    cr_expect_eq(engine_zone_offset(&zone, 1000), 7200);
    arena_release(&arena);
}

Test(zone, refuses_a_file_cut_anywhere)
{
    const struct engine_zone_change changes[] = {{-1000, 3600}, {5000, 1800}};
    struct zone_bytes file = zone_file(0, changes, 2, ZONE_LONDON);
    cr_assert_eq(parse(span_of(file.bytes, file.count)), RESULT_OK);

    for (size_t count = 0; count < file.count; count++) {
        uint8_t *exact = malloc(count + (count == 0));
        memcpy(exact, file.bytes, count);
        cr_expect_eq(parse(span_of(exact, count)), RESULT_INVALID, "%zu bytes", count);
        free(exact);
    }
}

Test(zone, refuses_a_broken_footer)
{
    static const char *const footers[] = {"A0",
                                          "AAA",
                                          "AAA0BBB",
                                          "AAA0BBB,M3.5.0",
                                          "AAA0BBB,M13.1.0,M1.1.0",
                                          "AAA0BBB,M3.6.0,M1.1.0",
                                          "<AAA0",
                                          "AAA0 ",
                                          "AAA0BBB,J0,J5",
                                          "AAA0BBB,366,5",
                                          "AAA25",
                                          "AAA0BBB,M3.5.0/168,M10.5.0"};
    for (size_t i = 0; i < sizeof footers / sizeof footers[0]; i++) {
        struct zone_bytes file = zone_file(0, NULL, 0, footers[i]);
        cr_expect_eq(parse(span_of(file.bytes, file.count)), RESULT_INVALID, "%s", footers[i]);
    }
}

Test(zone, knows_names_that_are_safe_in_a_path)
{
    cr_expect(engine_zone_name_is_valid(span_text("Europe/London")));
    cr_expect(engine_zone_name_is_valid(span_text("America/Argentina/Buenos_Aires")));
    cr_expect(engine_zone_name_is_valid(span_text("Etc/GMT+5")));
    static const char *const bad[] = {"",   "/etc/passwd", "../x", "a//b",
                                      "a/", "a b",         "a.b",  "a\\b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not(engine_zone_name_is_valid(span_text(bad[i])), "%s", bad[i]);
    }
}
