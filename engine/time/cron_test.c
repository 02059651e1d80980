/*
 * Cron texts and their firings. Expected instants are worked out by hand from the calendar and from
 * the dates at which the zones' clocks change.
 */
#include "engine/time/cron.h"

#include <criterion/criterion.h>

#include "engine/time/zone_sample.h"
#include "proto/base/text.h"

static struct engine_cron parse(const char *text)
{
    struct engine_cron cron;
    struct engine_cron_error error;
    enum result result = engine_cron_parse(span_text(text), &cron, &error);
    cr_assert_eq(result, RESULT_OK, "%s: %s at %u", text, error.reason, error.offset);
    return cron;
}

struct row {
    const char *cron;
    const char *after;
    const char *next; /* NULL: never */
};

static void check(const struct engine_zone *zone, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct engine_cron cron = parse(rows[i].cron);
        int64_t next_ms = 0;

        bool found = engine_cron_next(&cron, zone, zone_instant(rows[i].after), &next_ms);

        char text[TEXT_TIME_BYTES + 1];
        text_format_time(next_ms, text);
        cr_expect_eq(found, rows[i].next != NULL, "\"%s\" after %s: %s", rows[i].cron,
                     rows[i].after, found ? text : "never");
        if (found && rows[i].next != NULL) {
            cr_expect_eq(next_ms, zone_instant(rows[i].next), "\"%s\" after %s: %s, not %s",
                         rows[i].cron, rows[i].after, text, rows[i].next);
        }
    }
}
#define CHECK(zone, rows) check((zone), (rows), sizeof(rows) / sizeof *(rows))

Test(cron, fires_at_every_value_of_its_fields)
{
    static const struct row rows[] = {
        {"* * * * *", "2016-12-09T17:35:00Z", "2016-12-09T17:36:00Z"},
        {"* * * * *", "2016-12-09T17:35:00.001Z", "2016-12-09T17:36:00Z"},
        {"* * * * * *", "2017-07-20T11:59:59.500Z", "2017-07-20T12:00:00Z"},
        {"* * * * * *", "1969-12-31T23:59:58.500Z", "1969-12-31T23:59:59Z"},
        {"12 * * * *", "2016-12-09T15:12:00Z", "2016-12-09T16:12:00Z"},
        {"5-8,19,20,35-41 * * * *", "2016-12-09T15:20:00Z", "2016-12-09T15:35:00Z"},
        {"5-8,19,20,35-41 * * * *", "2016-12-09T15:41:00Z", "2016-12-09T16:05:00Z"},
        {"51-4 * * * *", "2016-12-09T17:59:00Z", "2016-12-09T18:00:00Z"},
        {"51-4 * * * *", "2016-12-09T18:04:00Z", "2016-12-09T18:51:00Z"},
        {"56-4/4 * * * *", "2016-12-09T17:56:00Z", "2016-12-09T18:00:00Z"},
        {"56-4/4 * * * *", "2016-12-09T18:04:00Z", "2016-12-09T18:56:00Z"},
        {"0 57,20/20,30/20,32-34/2,58 * * * *", "2017-04-17T17:34:00Z", "2017-04-17T17:40:00Z"},
        {"10/5 * * * *", "2016-12-09T15:55:00Z", "2016-12-09T16:10:00Z"},
        {"* 23-3/2 * * *", "2016-12-09T23:59:00Z", "2016-12-10T01:00:00Z"},
        {"15 10 * * ?", "2016-12-09T15:00:00Z", "2016-12-10T10:15:00Z"},
        {"30 15 10 * * ?", "2016-12-09T10:15:29Z", "2016-12-09T10:15:30Z"},
        {"0 0 1 jan,JUL *", "2016-12-09T00:00:00Z", "2017-01-01T00:00:00Z"},
        {"0 0 1 11-2 *", "2017-02-01T00:00:00Z", "2017-11-01T00:00:00Z"},
        {"0 0 1 11-2 *", "2016-12-01T00:00:00Z", "2017-01-01T00:00:00Z"},
        {" \t0\t0 * * MON ", "2016-12-09T00:00:00Z", "2016-12-12T00:00:00Z"},
        {"0 0 * * 7", "2016-12-09T00:00:00Z", "2016-12-11T00:00:00Z"},
        {"0 0 * * 0", "2016-12-09T00:00:00Z", "2016-12-11T00:00:00Z"},
        {"0 0 * * FRI-MON", "2016-12-12T00:00:00Z", "2016-12-16T00:00:00Z"},
        {"0 0 * * 7-2", "2016-12-13T00:00:00Z", "2016-12-18T00:00:00Z"},
        {"0 0 * * FRI/2", "2016-12-09T00:00:00Z", "2016-12-11T00:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

Test(cron, wants_day_of_month_and_day_of_week)
{
    static const struct row rows[] = {
        {"0 0 13 * FRI", "2016-12-09T00:00:00Z", "2017-01-13T00:00:00Z"},
        {"0 0 13 * FRI", "2017-01-13T00:00:00Z", "2017-10-13T00:00:00Z"},
        {"0 0 31 * *", "2016-12-31T00:00:00Z", "2017-01-31T00:00:00Z"},
        {"0 0 31 * *", "2017-01-31T00:00:00Z", "2017-03-31T00:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

Test(cron, counts_days_from_the_end_of_the_month)
{
    static const struct row rows[] = {
        {"0 0 L * *", "2016-02-01T00:00:00Z", "2016-02-29T00:00:00Z"},
        {"0 0 L * *", "2016-02-29T00:00:00Z", "2016-03-31T00:00:00Z"},
        {"0 0 l-2 * *", "2017-02-01T00:00:00Z", "2017-02-26T00:00:00Z"},
        {"0 0 L-28 * *", "2017-01-31T00:00:00Z", "2017-03-03T00:00:00Z"}, /* none in February */
        {"0 0 LW * *", "2017-04-01T00:00:00Z", "2017-04-28T00:00:00Z"},   /* the 30th is a Sunday */
        {"0 0 LW * *", "2017-12-01T00:00:00Z", "2017-12-29T00:00:00Z"},   /* the 31st is a Sunday */
        {"0 0 L-1W * *", "2017-04-01T00:00:00Z", "2017-04-28T00:00:00Z"}, /* the 29th: a Saturday */
        {"0 0 L-2W * *", "2018-09-01T00:00:00Z", "2018-09-28T00:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

Test(cron, moves_to_the_nearest_weekday_within_the_month)
{
    static const struct row rows[] = {
        {"0 0 1W * *", "2017-06-30T00:00:00Z", "2017-07-03T00:00:00Z"},  /* the 1st is a Saturday */
        {"0 0 1W * *", "2017-09-30T00:00:00Z", "2017-10-02T00:00:00Z"},  /* a Sunday */
        {"0 0 15w * *", "2017-07-01T00:00:00Z", "2017-07-14T00:00:00Z"}, /* a Saturday */
        {"0 0 16W * *", "2017-07-01T00:00:00Z", "2017-07-17T00:00:00Z"}, /* a Sunday */
        {"0 0 31W 12 *", "2017-01-01T00:00:00Z", "2017-12-29T00:00:00Z"}, /* a Sunday */
        {"0 0 31W * *", "2017-03-31T00:00:00Z", "2017-05-31T00:00:00Z"},  /* April has no 31st */
        {"0 0 1W * MON", "2017-01-03T00:00:00Z", "2017-04-03T00:00:00Z"}, /* the 1st: a Saturday */
        {"0 0 1W * SUN", "1970-01-01T00:00:00Z", NULL},
    };
    CHECK(&engine_zone_utc, rows);
}

Test(cron, finds_the_nth_and_the_last_weekday)
{
    static const struct row rows[] = {
        {"0 0 * * MON#2", "2017-01-01T00:00:00Z", "2017-01-09T00:00:00Z"},
        {"0 0 * * 1#5", "2017-01-31T00:00:00Z", "2017-05-29T00:00:00Z"},
        {"0 0 * * 5L", "2017-01-01T00:00:00Z", "2017-01-27T00:00:00Z"},
        {"0 0 * * FRIL", "2017-01-27T00:00:00Z", "2017-02-24T00:00:00Z"},
        {"0 0 * * 7L", "2017-01-01T00:00:00Z", "2017-01-29T00:00:00Z"},
        {"0 0 8 * MON#1", "1970-01-01T00:00:00Z", NULL},
        {"0 0 L * SUN#1", "1970-01-01T00:00:00Z", NULL},
    };
    CHECK(&engine_zone_utc, rows);
}

Test(cron, knows_macros_in_either_case)
{
    static const struct row rows[] = {
        {"@every_second", "2016-12-09T17:35:00Z", "2016-12-09T17:35:01Z"},
        {" @EVERY_MINUTE ", "2016-12-09T17:35:00Z", "2016-12-09T17:36:00Z"},
        {"@hourly", "2016-12-09T17:35:00Z", "2016-12-09T18:00:00Z"},
        {"@daily", "2016-12-09T17:35:00Z", "2016-12-10T00:00:00Z"},
        {"@Midnight", "2016-12-09T17:35:00Z", "2016-12-10T00:00:00Z"},
        {"@weekly", "2016-12-09T17:35:00Z", "2016-12-11T00:00:00Z"},
        {"@monthly", "2016-12-09T17:35:00Z", "2017-01-01T00:00:00Z"},
        {"@yearly", "2017-01-01T00:00:00Z", "2018-01-01T00:00:00Z"},
        {"@annually", "2017-01-01T00:00:00Z", "2018-01-01T00:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Field report F62; and a search that ends. */
Test(cron, finds_february_29_and_gives_up_on_february_30)
{
    static const struct row rows[] = {
        {"0 0 0 29 2 *", "2021-12-07T00:00:00Z", "2024-02-29T00:00:00Z"},
        {"0 0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
        {"0 0 29 2 SUN", "2021-12-07T00:00:00Z", "2032-02-29T00:00:00Z"},
        {"0 0 29 2 MON#5", "2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z"},
        {"0 0 30 2 *", "1970-01-01T00:00:00Z", NULL},
        {"0 0 31 4,6,9,11 *", "1970-01-01T00:00:00Z", NULL},
        {"0 0 L-30 2 *", "1970-01-01T00:00:00Z", NULL},
        {"59 59 23 31 12 *", "9999-12-31T23:59:59Z", NULL},
        {"0 0 1 1 *", "9999-06-01T00:00:00Z", NULL},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Clocks go from 01:00 GMT to 02:00 BST on 2025-03-30 and back at 02:00 BST on 2025-10-26. */
Test(cron, keeps_time_in_london)
{
    static const struct row rows[] = {
        {"30 2 * * *", "2025-03-29T02:30:00Z", "2025-03-30T02:30:00+01:00"},
        {"30 1 * * *", "2025-03-29T01:30:00Z", "2025-03-30T02:00:00+01:00"}, /* skipped */
        {"30 1 * * *", "2025-03-30T02:00:00+01:00", "2025-03-31T01:30:00+01:00"},
        {"0 1 * * *", "2025-03-29T01:00:00Z", "2025-03-30T02:00:00+01:00"},
        {"0,20,40 1 * * *", "2025-03-29T01:40:00Z", "2025-03-30T02:00:00+01:00"}, /* once for all */
        {"0,20,40 1 * * *", "2025-03-30T02:00:00+01:00", "2025-03-31T01:00:00+01:00"},
        {"*/15 * * * *", "2025-03-30T00:45:00Z", "2025-03-30T02:00:00+01:00"},
        {"*/15 * * * *", "2025-03-30T02:00:00+01:00", "2025-03-30T02:15:00+01:00"},
        {"30 1 * * *", "2025-10-25T01:30:00+01:00", "2025-10-26T01:30:00+01:00"}, /* repeated */
        {"30 1 * * *", "2025-10-26T01:30:00+01:00", "2025-10-27T01:30:00Z"},
        {"30 1 * * *", "2025-10-26T01:10:00Z", "2025-10-27T01:30:00Z"}, /* in the second pass */
        {"30 2 * * *", "2025-10-26T01:10:00Z", "2025-10-26T02:30:00Z"},
        {"*/15 * * * *", "2025-10-26T01:45:00+01:00", "2025-10-26T01:00:00Z"},
        {"*/15 * * * *", "2025-10-26T01:45:00Z", "2025-10-26T02:00:00Z"},
        {"*/15 1 26 10 *", "2025-10-26T01:50:00+01:00", "2025-10-26T01:00:00Z"},
        {"0 12 * * *", "2025-03-29T12:00:00Z", "2025-03-30T12:00:00+01:00"},
        {"0 12 1 7 *", "2025-01-01T00:00:00Z", "2025-07-01T12:00:00+01:00"},
        {"0 12 29 2 *", "2025-07-01T00:00:00Z", "2028-02-29T12:00:00Z"},
    };
    struct engine_zone zone = zone_sample(ZONE_LONDON);
    CHECK(&zone, rows);
}

/* From 02:00 EST to 03:00 EDT on 2016-03-13, and back at 02:00 EDT on 2016-11-06. */
Test(cron, keeps_time_in_new_york)
{
    static const struct row rows[] = {
        {"30 2 * * *", "2016-03-12T02:30:00-05:00", "2016-03-13T03:00:00-04:00"},
        {"0 30 * * 3 SUN#2", "2016-03-13T01:59:00-05:00", "2016-03-13T03:00:00-04:00"},
        {"0 0,30 0-23/2 * * *", "2016-03-13T00:30:00-05:00", "2016-03-13T03:00:00-04:00"},
        {"0 */30 2 13 03 *", "2016-03-13T01:59:00-05:00", "2016-03-13T03:00:00-04:00"},
        {"0 0,59 * * * *", "2016-03-13T01:59:00-05:00", "2016-03-13T03:00:00-04:00"},
        {"*/30 * * * *", "2016-03-13T03:00:00-04:00", "2016-03-13T03:30:00-04:00"},
        {"0 */2 * * *", "2016-11-06T00:30:00-04:00", "2016-11-06T02:00:00-05:00"},
        {"*/30 * * * *", "2016-11-06T01:30:00-04:00", "2016-11-06T01:00:00-05:00"},
        {"*/30 * * * *", "2016-11-06T01:30:00-05:00", "2016-11-06T02:00:00-05:00"},
        {"30 1-9 * * *", "2016-11-06T01:30:00-04:00", "2016-11-06T01:30:00-05:00"},
        {"*/30 0 1 * * *", "2016-11-06T01:00:30-04:00", "2016-11-06T01:00:00-05:00"},
        {"*/30 0 1 * * *", "2016-11-06T01:00:30-05:00", "2016-11-07T01:00:00-05:00"},
        {"0 0,30 1 * * *", "2016-11-06T01:30:00-04:00", "2016-11-07T01:00:00-05:00"},
        {"0 0 1 * 11 SUN#1", "2015-11-01T01:00:00-05:00", "2016-11-06T01:00:00-04:00"},
        {"59 59 01 * * *", "2016-11-06T01:59:59.999-05:00", "2016-11-07T01:59:59-05:00"},
        {"0 2 * * *", "2016-11-06T01:45:00-04:00", "2016-11-06T02:00:00-05:00"},
    };
    struct engine_zone zone = zone_sample(ZONE_NEW_YORK);
    CHECK(&zone, rows);
}

/* Half an hour: from 02:00 +10:30 to 02:30 +11 on 2017-10-01, back at 02:00 +11 on 2017-04-02. */
Test(cron, keeps_time_on_lord_howe)
{
    static const struct row rows[] = {
        {"15 2 * * *", "2017-09-30T02:15:00+10:30", "2017-10-01T02:30:00+11:00"},
        {"30 2 * * *", "2017-09-30T02:30:00+10:30", "2017-10-01T02:30:00+11:00"},
        {"30 2 * * *", "2017-10-01T02:30:00+11:00", "2017-10-02T02:30:00+11:00"},
        {"*/15 * * * *", "2017-10-01T01:45:00+10:30", "2017-10-01T02:30:00+11:00"},
        {"*/30 */2 * * *", "2017-10-01T01:59:00+10:30", "2017-10-01T02:30:00+11:00"},
        {"45 1 * * *", "2017-04-01T01:45:00+11:00", "2017-04-02T01:45:00+11:00"},
        {"45 1 * * *", "2017-04-02T01:45:00+11:00", "2017-04-03T01:45:00+10:30"},
        {"15 1 * * *", "2017-04-02T01:15:00+11:00", "2017-04-03T01:15:00+10:30"},
        {"*/15 * * * *", "2017-04-02T01:45:00+11:00", "2017-04-02T01:30:00+10:30"},
        {"0 30 * * * *", "2017-04-02T01:59:00+11:00", "2017-04-02T01:30:00+10:30"},
        {"*/30 30 1 * * *", "2017-04-02T01:30:31+10:30", "2017-04-03T01:30:00+10:30"},
        {"0 0 2-3 * * *", "2017-04-02T00:30:00+11:00", "2017-04-02T02:00:00+10:30"},
    };
    struct engine_zone zone = zone_sample(ZONE_LORD_HOWE);
    CHECK(&zone, rows);
}

/* Field report F61, as a property: fixed times fire once a day, quarters every 15 minutes. */
Test(cron, fires_as_often_as_it_should_over_both_changes)
{
    static const char *const zones[] = {ZONE_LONDON, ZONE_NEW_YORK, ZONE_LORD_HOWE};
    static const char *const fixed[] = {"30 2 * * *", "30 1 * * *", "45 1 * * *", "0 2 * * *"};
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        struct engine_zone zone = zone_sample(zones[i]);
        int64_t begin_ms = zone_instant("2017-01-01T00:00:00Z");
        for (size_t j = 0; j < sizeof fixed / sizeof fixed[0]; j++) {
            struct engine_cron cron = parse(fixed[j]);
            unsigned count = 0;
            int64_t at_ms = begin_ms;
            while (engine_cron_next(&cron, &zone, at_ms, &at_ms) &&
                   at_ms < zone_instant("2018-01-01T00:00:00Z")) {
                count++;
            }
            cr_expect_eq(count, 365, "%s in %s: %u", fixed[j], zones[i], count);
        }
        struct engine_cron quarter = parse("*/15 * * * *");
        int64_t next_ms;
        for (int64_t at_ms = begin_ms; at_ms < begin_ms + 366 * (int64_t)86400000;
             at_ms = next_ms) {
            cr_assert(engine_cron_next(&quarter, &zone, at_ms, &next_ms));
            cr_assert_eq(next_ms - at_ms, 15 * 60 * 1000, "%s", zones[i]);
        }
    }
}

Test(cron, tells_its_zone)
{
    struct engine_cron cron = parse("CRON_TZ=Europe/London 0 9 * * *");
    cr_expect(span_is(cron.zone, "Europe/London"));
    cr_expect_eq(cron.hours, 1u << 9);

    cron = parse(" TZ=UTC @daily");
    cr_expect(span_is(cron.zone, "UTC"));

    cron = parse("0 9 * * *");
    cr_expect_eq(cron.zone.count, 0);
}

Test(cron, says_what_is_wrong_and_where)
{
    static const struct {
        const char *text;
        uint32_t offset;
        const char *words;
    } rows[] = {
        {"", 0, "five fields"},
        {"* * *", 5, "five fields"},
        {"* * * * * * *", 12, "no year"},
        {"60 * * * *", 0, "minutes are 0 to 59"},
        {"*/60 * * * *", 2, "1 to 59"},
        {"*/0 * * * *", 2, "1 to 59"},
        {"*/ * * * *", 2, "1 to 59"},
        {"5- * * * *", 2, "minutes"},
        {"1,,2 * * * *", 2, "minutes"},
        {",1 * * * *", 0, "minutes"},
        {"1k * * * *", 1, "unexpected character"},
        {"*#1 * * * *", 1, "unexpected character"},
        {"-1 * * * *", 0, "minutes"},
        {"1/2147483648 * * * *", 2, "1 to 59"},
        {"99999999999999999999 * * * *", 0, "minutes"},
        {"-1 * * * * *", 0, "seconds"},
        {"* 25 * * *", 2, "hours are 0 to 23"},
        {"* 1/24 * * *", 4, "1 to 23"},
        {"* * 0 * *", 4, "days of month are 1 to 31"},
        {"* * MON * *", 4, "days of month"},
        {"* * 1-2W * *", 7, "unexpected character"},
        {"* * 1,2W * *", 7, "unexpected character"},
        {"* * L-31 * *", 6, "0 to 30"},
        {"* * L,15 * *", 5, "unexpected character"},
        {"* * * 13 *", 6, "months are 1 to 12 or JAN to DEC"},
        {"* * * JANUARY *", 9, "unexpected character"},
        {"* * * 1/13 *", 8, "1 to 12"},
        {"* * * * 8", 8, "days of week"},
        {"* * * * SUT", 8, "days of week"},
        {"* * * * SU", 8, "days of week"},
        {"* * * * L", 8, "days of week"},
        {"* * * * 1/8", 10, "1 to 7"},
        {"* * * * SUN#6", 12, "fifth"},
        {"* * * * 0#0", 10, "fifth"},
        {"@hour", 0, "macro"},
        {"  @@daily", 2, "macro"},
        {"@yearly !", 0, "macro"},
        {"CRON_TZ=../etc 0 0 * * *", 8, "time zone"},
        {"CRON_TZ= 0 0 * * *", 8, "time zone"},
        {"CRON_TZ=UTC", 11, "five fields"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_cron cron;
        struct engine_cron_error error;

        enum result result = engine_cron_parse(span_text(rows[i].text), &cron, &error);

        cr_expect_eq(result, RESULT_INVALID, "\"%s\" is accepted", rows[i].text);
        cr_assert_not_null(error.reason, "\"%s\"", rows[i].text);
        cr_expect_eq(error.offset, rows[i].offset, "\"%s\" at %u: %s", rows[i].text, error.offset,
                     error.reason);
        cr_expect_not_null(strstr(error.reason, rows[i].words), "\"%s\": %s", rows[i].text,
                           error.reason);
    }
}
