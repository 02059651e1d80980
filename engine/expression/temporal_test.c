/*
 * temporal_test.c: dates, times and durations. Expected values: DMN 1.5 §10.3.2.3, tables 51 to 53
 * and §10.3.4.9; ISO 8601 and XML Schema Part 2 for texts; the calendar.
 */
#include <criterion/criterion.h>

#include "engine/expression/rows.h"

Test(temporal_text, is_read_and_written_as_iso_8601)
{
    static const struct row rows[] = {
        {"@\"2024-02-29\"", NULL, "\"2024-02-29\""},
        {"@\"-0044-03-15\"", NULL, "\"-0044-03-15\""},
        {"@\"12024-01-01\"", NULL, "\"12024-01-01\""},
        {"@\"10:30:00\"", NULL, "\"10:30:00\""},
        {"@\"10:30:00.5000\"", NULL, "\"10:30:00.5\""},
        {"@\"10:30:00.1234567899\"", NULL, "\"10:30:00.123456789\""},
        {"@\"10:30:00Z\"", NULL, "\"10:30:00Z\""},
        {"time(\"10:30:00z\")", NULL, "\"10:30:00Z\""},
        {"@\"10:30:00-00:00\"", NULL, "\"10:30:00Z\""},
        {"@\"10:30:00+05:30\"", NULL, "\"10:30:00+05:30\""},
        {"@\"24:00:00\"", NULL, "\"00:00:00\""},
        {"@\"2024-02-29T24:00:00\"", NULL, "\"2024-03-01T00:00:00\""},
        {"@\"2024-02-29T10:30:00-08:00\"", NULL, "\"2024-02-29T10:30:00-08:00\""},
        {"@\"2024-02-29T10:30:00@Test/Summer\"", NULL, "\"2024-02-29T10:30:00@Test/Summer\""},
        {"@\"2024-02-29T10:30:00@Test/Other\"", NULL, "null @0 unknown time zone \"Test/Other\""},
        {"@\"P1Y14M\"", NULL, "\"P2Y2M\""},
        {"@\"-P14M\"", NULL, "\"-P1Y2M\""},
        {"@\"P0Y\"", NULL, "\"P0M\""},
        {"@\"P1DT25H61M61.5S\"", NULL, "\"P2DT2H2M1.5S\""},
        {"@\"-PT0.25S\"", NULL, "\"-PT0.25S\""},
        {"@\"PT0S\"", NULL, "\"PT0S\""},
        {"@\"2023-02-29\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"P1Y1D\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"P1M1Y\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"PT\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"P\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"P1.5D\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"PT1.5H\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"10:60:00\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"10:30\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"10:30:00+18:01\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"P99999999999999999999D\"", NULL, "invalid @0 this is no date, time or duration"},
        {"@\"1000000000-01-01\"", NULL, "invalid @0 this is no date, time or duration"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_text, leaves_an_expression_wherever_it_stands)
{
    static const struct row rows[] = {
        {"string(@\"2024-02-29\")", NULL, "\"2024-02-29\""},
        {"string([@\"P1D\", @\"10:00:00\"])", NULL, "\"[P1D, 10:00:00]\""},
        {"{due: @\"2024-02-29\", left: [@\"P1D\"]}", NULL,
         "{\"due\":\"2024-02-29\",\"left\":[\"P1D\"]}"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_arithmetic, of_durations)
{
    static const struct row rows[] = {
        {"@\"P1Y\" + @\"P2M\"", NULL, "\"P1Y2M\""},
        {"@\"P1M\" - @\"P1Y\"", NULL, "\"-P11M\""},
        {"@\"PT1H\" + @\"PT1.5S\"", NULL, "\"PT1H1.5S\""},
        {"@\"PT1S\" - @\"PT1.25S\"", NULL, "\"-PT0.25S\""},
        {"@\"P1D\" * 1.5", NULL, "\"P1DT12H\""},
        {"0.5 * @\"P1Y1M\"", NULL, "\"P6M\""},
        {"@\"P1D\" / 3", NULL, "\"PT8H\""},
        {"@\"P1D\" / @\"PT8H\"", NULL, "3"},
        {"@\"P1Y\" / @\"P5M\"", NULL, "2.4"},
        {"-@\"PT0.5S\"", NULL, "\"-PT0.5S\""},
        {"abs(@\"-P1Y\")", NULL, "\"P1Y\""},
        {"@\"P1D\" / 0", NULL, "null @7 cannot compute days and time duration / number"},
        {"@\"P1D\" * 1e30", NULL, "null @7 cannot compute days and time duration * number"},
        {"@\"P1D\" + @\"P1Y\"", NULL,
         "null @7 cannot compute days and time duration + years and months duration"},
        {"@\"P1D\" = @\"PT24H\"", NULL, "true"},
        {"@\"P1D\" < @\"PT25H\"", NULL, "true"},
        {"@\"P1Y\" > @\"P11M\"", NULL, "true"},
        {"@\"P1Y\" = @\"P365D\"", NULL,
         "null @7 cannot compare years and months duration with days and time duration"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_arithmetic, of_dates_and_times)
{
    static const struct row rows[] = {
        {"@\"2024-01-31\" + @\"P1M\"", NULL, "\"2024-02-29\""},
        {"@\"2024-02-29\" + @\"P1Y\"", NULL, "\"2025-02-28\""},
        {"@\"P1D\" + @\"2024-02-28\"", NULL, "\"2024-02-29\""},
        {"@\"2024-03-01\" - @\"PT1S\"", NULL, "\"2024-02-29\""},
        {"@\"2024-03-01\" - @\"2024-02-01\"", NULL, "\"P29D\""},
        {"@\"2024-03-01T00:00:00Z\" - @\"2024-03-01\"", NULL, "\"PT0S\""},
        {"@\"2024-03-01T12:00:00+02:00\" - @\"2024-03-01T12:00:00Z\"", NULL, "\"-PT2H\""},
        {"@\"2024-03-01T12:00:00\" - @\"2024-03-01T12:00:00Z\"", NULL,
         "null @23 cannot compute date and time - date and time"},
        {"@\"23:30:00\" + @\"PT1H\"", NULL, "\"00:30:00\""},
        {"@\"00:30:00\" - @\"P1DT1H\"", NULL, "\"23:30:00\""},
        {"@\"10:00:00\" - @\"09:15:00\"", NULL, "\"PT45M\""},
        {"@\"10:00:00\" + @\"P1Y\"", NULL,
         "null @12 cannot compute time + years and months duration"},
        {"@\"2024-02-29\" + 1", NULL, "null @14 cannot compute date + number"},
        {"@\"999999999-12-31\" + @\"P1D\"", NULL,
         "null @19 cannot compute date + days and time duration"},
        {"@\"999999999-12-31\" + @\"P1M\"", NULL,
         "null @19 cannot compute date + years and months duration"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

/* The clock goes forward on 2024-03-31 at 02:00 and back on 2024-10-27 at 03:00. */
Test(temporal_arithmetic, follows_the_clock_of_a_zone)
{
    static const struct row rows[] = {
        {"@\"2024-03-31T01:30:00@Test/Summer\" + @\"PT1H\"", NULL,
         "\"2024-03-31T03:30:00@Test/Summer\""},
        {"@\"2024-03-30T12:00:00@Test/Summer\" + @\"P1D\"", NULL,
         "\"2024-03-31T13:00:00@Test/Summer\""},
        {"@\"2024-10-27T04:00:00@Test/Summer\" - @\"2024-10-27T00:00:00@Test/Summer\"", NULL,
         "\"PT5H\""},
        {"@\"2024-03-31T02:30:00@Test/Summer\".time offset", NULL, "\"PT1H\""},
        {"@\"2024-10-27T02:30:00@Test/Summer\".time offset", NULL, "\"PT2H\""},
        {"@\"2024-07-01T00:00:00@Test/Summer\".time offset", NULL, "\"PT2H\""},
        {"@\"2024-07-01T12:00:00@Test/Summer\" = @\"2024-07-01T10:00:00Z\"", NULL, "true"},
        {"@\"2024-07-01T12:00:00@Test/Summer\" > @\"2024-07-01T11:00:00Z\"", NULL, "false"},
        {"is(@\"2024-07-01T12:00:00@Test/Summer\", @\"2024-07-01T10:00:00Z\")", NULL, "false"},
        {"date and time(@\"2024-07-01T10:00:00Z\", \"Test/Summer\")", NULL,
         "\"2024-07-01T12:00:00@Test/Summer\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_order, compares_values_of_one_kind)
{
    static const struct row rows[] = {
        {"@\"2024-02-29\" < @\"2024-03-01\"", NULL, "true"},
        {"@\"2024-02-29\" in [@\"2024-02-01\"..@\"2024-03-01\")", NULL, "true"},
        {"@\"10:00:00\" between @\"09:00:00\" and @\"11:00:00\"", NULL, "true"},
        {"@\"10:00:00+02:00\" = @\"08:00:00Z\"", NULL, "true"},
        {"@\"10:00:00.1\" = @\"10:00:00.2\"", NULL, "true"},
        {"@\"10:00:00.1\" < @\"10:00:00.2\"", NULL, "true"},
        {"is(@\"10:00:00.1\", @\"10:00:00.2\")", NULL, "false"},
        {"@\"10:00:00\" = @\"10:00:00Z\"", NULL, "false"},
        {"@\"10:00:00\" < @\"10:00:00Z\"", NULL, "null @12 cannot compare time with time"},
        {"@\"2024-02-29\" = @\"2024-02-29T00:00:00\"", NULL,
         "null @14 cannot compare date with date and time"},
        {"max([@\"P1D\", @\"PT25H\", @\"PT1H\"])", NULL, "\"P1DT1H\""},
        {"min(@\"2024-02-29\", @\"2023-01-01\")", NULL, "\"2023-01-01\""},
        {"list contains([@\"2024-02-29\"], @\"2024-02-29\")", NULL, "true"},
        {"distinct values([@\"P1D\", @\"PT24H\"])", NULL, "[\"P1D\"]"},
        {"for d in @\"2024-02-28\"..@\"2024-03-01\" return d.day", NULL, "[28,29,1]"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_property, by_kind)
{
    static const struct row rows[] = {
        {"@\"2024-02-29\".year", NULL, "2024"},
        {"@\"2024-02-29\".month", NULL, "2"},
        {"@\"2024-02-29\".day", NULL, "29"},
        {"@\"2024-02-29\".weekday", NULL, "4"}, /* a Thursday */
        {"@\"2024-03-03\".weekday", NULL, "7"},
        {"@\"2024-02-29T10:20:30.5\".second", NULL, "30.5"},
        {"@\"10:20:30\".hour + @\"10:20:30\".minute", NULL, "30"},
        {"@\"10:20:30\".time offset", NULL, "null"},
        {"@\"10:20:30+01:00\".timezone", NULL, "null"},
        {"@\"P1Y2M\".years", NULL, "1"},
        {"@\"-P1Y2M\".months", NULL, "-2"},
        {"@\"-P1DT2H3M4S\".hours", NULL, "-2"},
        {"@\"P1DT2H3M4.5S\".seconds", NULL, "4.5"},
        {"[@\"2024-02-29\", @\"2023-01-01\"].year", NULL, "[2024,2023]"},
        {"@\"2024-02-29\".hour", NULL, "null @13 date has no \"hour\""},
        {"@\"P1D\".years", NULL, "null @6 days and time duration has no \"years\""},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

Test(temporal_function, makes_and_takes_apart)
{
    static const struct row rows[] = {
        {"date(2024, 2, 29)", NULL, "\"2024-02-29\""},
        {"date(year: 2024, month: 2, day: 29)", NULL, "\"2024-02-29\""},
        {"date(2023, 2, 29)", NULL, "null @0 there is no such date"},
        {"date(@\"2024-02-29T10:00:00Z\")", NULL, "\"2024-02-29\""},
        {"date(\"2024-02-29T10:00:00Z\")", NULL, "null @0 this string is no date"},
        {"date(5)", NULL, "null @0 cannot make a date of number"},
        {"date(text)", "{\"text\": \"2024-02-29\"}", "\"2024-02-29\""},
        {"time(10, 20, 30.25)", NULL, "\"10:20:30.25\""},
        {"time(10, 20, 30, @\"PT5H30M\")", NULL, "\"10:20:30+05:30\""},
        {"time(10, 20, 30, null)", NULL, "\"10:20:30\""},
        {"time(@\"2024-02-29\")", NULL, "\"00:00:00Z\""},
        {"date and time(\"2024-02-29\")", NULL, "\"2024-02-29T00:00:00\""},
        {"date and time(@\"2024-02-29\", @\"10:00:00Z\")", NULL, "\"2024-02-29T10:00:00Z\""},
        {"duration(\"P1D\") = @\"P1D\"", NULL, "true"},
        {"years and months duration(@\"2023-12-31\", @\"2024-02-29\")", NULL, "\"P1M\""},
        {"years and months duration(@\"2024-02-29\", @\"2023-12-31\")", NULL, "\"-P1M\""},
        {"now()", NULL, "\"2024-02-29T12:34:56.789Z\""},
        {"today()", NULL, "\"2024-02-29\""},
        {"today().weekday", NULL, "4"},
        {"day of year(@\"2024-12-31\")", NULL, "366"},
        {"day of week(@\"2024-02-29\")", NULL, "\"Thursday\""},
        {"month of year(@\"2024-02-29\")", NULL, "\"February\""},
        {"week of year(@\"2024-12-30\")", NULL, "1"},
        {"week of year(@\"2021-01-03\")", NULL, "53"},
        {"last day of month(@\"2024-02-10\")", NULL, "\"2024-02-29\""},
        {"day of year(\"2024-02-10\")", NULL, "null @0 argument 1 of day of year is string"},
    };
    ROWS_CHECK(rows, ENGINE_DIALECT_FEEL);
}

/* Nobody says what time it is, or what a zone is. */
static struct span find_nothing(const struct engine_names *names, struct span name)
{
    (void)names;
    (void)name;
    return SPAN_EMPTY;
}

Test(temporal_function, is_null_where_nobody_knows_clock_or_zone)
{
    static const char *const sources[] = {"now()", "today()", "@\"10:00:00@Test/Summer\""};
    struct engine_names names = {.find = find_nothing};
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        struct engine_evaluation evaluation;
        cr_assert_eq(engine_expression_compile(span_text(sources[i]), ENGINE_DIALECT_FEEL, &arena,
                                               &expression, &error),
                     RESULT_OK);

        enum result result = engine_expression_evaluate(expression, &names, &arena, &evaluation);

        cr_expect_eq(result, RESULT_OK, "%s", sources[i]);
        cr_expect_eq(wire_head(evaluation.value).type, WIRE_NIL, "%s", sources[i]);
        cr_expect_not_null(evaluation.error.message, "%s", sources[i]);
    }
    arena_release(&arena);
}
