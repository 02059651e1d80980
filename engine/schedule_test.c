/*
 * When start timers are due. Expected instants are worked out by hand from the calendar and from
 * the dates at which the zones' clocks change.
 */
#include "engine/schedule.h"

#include <criterion/criterion.h>

#include "engine/read/read.h"
#include "engine/time/zone_sample.h"
#include "proto/base/text.h"

struct row {
    enum engine_timer_kind kind;
    const char *text;
    const char *deployed;
    uint64_t fired;
    const char *last_due; /* NULL: never */
    const char *last_fired;
    const char *due; /* NULL: never again */
};

static int64_t instant_or(const char *text, int64_t fallback)
{
    return text == NULL ? fallback : zone_instant(text);
}

static void check(const struct engine_zone *zone, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        struct engine_schedule schedule;
        const char *reason;
        cr_assert_eq(engine_schedule_read(row->kind, span_text(row->text), &schedule, &reason),
                     RESULT_OK, "%s", row->text);
        struct engine_schedule_past past = {
            .deployed_ms = zone_instant(row->deployed),
            .fired = row->fired,
            .last_due_ms = instant_or(row->last_due, INT64_MIN),
            .last_fired_ms = instant_or(row->last_fired, INT64_MIN),
        };
        int64_t due_ms = 0;

        bool found = engine_schedule_due(&schedule, zone, &past, &due_ms);

        char text[TEXT_TIME_BYTES + 1];
        text_format_time(due_ms, text);
        cr_expect_eq(found, row->due != NULL, "row %zu, \"%s\": %s", i, row->text,
                     found ? text : "never");
        if (found && row->due != NULL) {
            cr_expect_eq(due_ms, zone_instant(row->due), "row %zu, \"%s\": %s, not %s", i,
                         row->text, text, row->due);
        }
    }
}
#define CHECK(zone, rows) check((zone), (rows), sizeof(rows) / sizeof *(rows))

#define DATE     ENGINE_TIMER_DATE
#define DURATION ENGINE_TIMER_DURATION
#define CYCLE    ENGINE_TIMER_CYCLE

Test(schedule, a_date_or_duration_is_served_once)
{
    static const struct row rows[] = {
        {DATE, "2030-06-01T08:00:00Z", "2026-01-01", 0, NULL, NULL, "2030-06-01T08:00:00Z"},
        {DATE, "2030-06-01T08:00:00Z", "2026-01-01", 1, "2030-06-01T08:00:00Z",
         "2030-06-01T08:00:00.005Z", NULL},
        /* passed when it is deployed: at once */
        {DATE, "2020-06-01", "2026-01-01", 0, NULL, NULL, "2020-06-01"},
        /* ... unless an older version has served it */
        {DATE, "2020-06-01", "2026-01-01", 0, "2020-06-01", "2025-01-01", NULL},
        {DATE, "2020-06-02", "2026-01-01", 0, "2020-06-01", "2025-01-01", "2020-06-02"},
        {DURATION, "PT1M", "2026-01-31T10:00:00Z", 0, NULL, NULL, "2026-01-31T10:01:00Z"},
        {DURATION, "P1M", "2026-01-31T10:00:00Z", 0, NULL, NULL, "2026-02-28T10:00:00Z"},
        {DURATION, "PT1M", "2026-01-31T10:00:00Z", 1, "2026-01-31T10:01:00Z",
         "2026-01-31T10:01:00Z", NULL},
        /* a new version begins anew */
        {DURATION, "PT1M", "2026-02-01T10:00:00Z", 0, "2026-01-31T10:01:00Z",
         "2026-01-31T10:01:00Z", "2026-02-01T10:01:00Z"},
        {DURATION, "-PT1H", "2026-02-01T10:00:00Z", 0, NULL, NULL, "2026-02-01T10:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Field report F58. */
Test(schedule, a_very_long_timer_is_never_early)
{
    static const struct row rows[] = {
        {DURATION, "P68Y", "2026-01-01", 0, NULL, NULL, "2094-01-01"},
        {DURATION, "P69Y", "2026-01-01", 0, NULL, NULL, "2095-01-01"},
        {DURATION, "P300Y", "2026-01-01", 0, NULL, NULL, "2326-01-01"},
        {DURATION, "PT99999999999999S", "2026-01-01", 0, NULL, NULL, "9999-12-31T23:59:59.999Z"},
        {DATE, "9999-12-31", "2026-01-01", 0, NULL, NULL, "9999-12-31"},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Field report F53. */
Test(schedule, a_cycle_whose_start_has_passed_fires_at_once_then_on_its_grid_three_in_all)
{
    static const char *const text = "R3/2022-04-27T17:20:00Z/PT10M";
    const struct row rows[] = {
        {CYCLE, text, "2026-01-01T09:03:00Z", 0, NULL, NULL, "2022-04-27T17:20:00Z"},
        {CYCLE, text, "2026-01-01T09:03:00Z", 1, "2022-04-27T17:20:00Z", "2026-01-01T09:03:00Z",
         "2026-01-01T09:10:00Z"},
        {CYCLE, text, "2026-01-01T09:03:00Z", 2, "2026-01-01T09:10:00Z", "2026-01-01T09:10:00Z",
         "2026-01-01T09:20:00Z"},
        {CYCLE, text, "2026-01-01T09:03:00Z", 3, "2026-01-01T09:20:00Z", "2026-01-01T09:20:00Z",
         NULL},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Field report F55. */
Test(schedule, what_was_missed_is_one_firing_and_the_next_lies_in_the_future)
{
    static const struct row rows[] = {
        /* served at 10:01, down until 10:11:30 */
        {CYCLE, "R/PT1M", "2026-01-01T10:00:00Z", 1, "2026-01-01T10:01:00Z", "2026-01-01T10:01:00Z",
         "2026-01-01T10:02:00Z"},
        {CYCLE, "R/PT1M", "2026-01-01T10:00:00Z", 2, "2026-01-01T10:02:00Z", "2026-01-01T10:11:30Z",
         "2026-01-01T10:12:00Z"},
        {CYCLE, "* * * * *", "2026-01-01T10:00:00Z", 1, "2026-01-01T10:01:00Z",
         "2026-01-01T10:01:00Z", "2026-01-01T10:02:00Z"},
        {CYCLE, "* * * * *", "2026-01-01T10:00:00Z", 2, "2026-01-01T10:02:00Z",
         "2026-01-01T10:11:30Z", "2026-01-01T10:12:00Z"},
        /* a new version waits for what comes after its deploy */
        {CYCLE, "0 * * * *", "2026-01-01T10:30:00Z", 0, "2026-01-01T08:00:00Z",
         "2026-01-01T08:00:00Z", "2026-01-01T11:00:00Z"},
        /* the clock was set back while nobody looked: what was served is not served again */
        {CYCLE, "0 * * * *", "2026-01-01T10:30:00Z", 3, "2026-01-01T13:00:00Z",
         "2026-01-01T13:00:00Z", "2026-01-01T14:00:00Z"},
    };
    CHECK(&engine_zone_utc, rows);
}

/* Field report F61. Clocks go forward on 2025-03-30 at 01:00Z, back on 2025-10-26 at 01:00Z. */
Test(schedule, keeps_time_in_london)
{
    const struct engine_zone zone = zone_sample(ZONE_LONDON);
    static const struct row rows[] = {
        {CYCLE, "30 1 * * *", "2025-03-29T12:00:00Z", 0, NULL, NULL, "2025-03-30T01:00:00Z"},
        {CYCLE, "30 1 * * *", "2025-03-29T12:00:00Z", 1, "2025-03-30T01:00:00Z",
         "2025-03-30T01:00:00Z", "2025-03-31T00:30:00Z"},
        {CYCLE, "30 1 * * *", "2025-10-25T12:00:00Z", 0, NULL, NULL, "2025-10-26T00:30:00Z"},
        {CYCLE, "30 1 * * *", "2025-10-25T12:00:00Z", 1, "2025-10-26T00:30:00Z",
         "2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"},
    };
    CHECK(&zone, rows);
}

/* Forward on 2025-03-09 at 07:00Z, back on 2025-11-02 at 06:00Z. */
Test(schedule, keeps_time_in_new_york)
{
    const struct engine_zone zone = zone_sample(ZONE_NEW_YORK);
    static const struct row rows[] = {
        {CYCLE, "30 2 * * *", "2025-03-08T12:00:00Z", 0, NULL, NULL, "2025-03-09T07:00:00Z"},
        {CYCLE, "30 2 * * *", "2025-03-08T12:00:00Z", 1, "2025-03-09T07:00:00Z",
         "2025-03-09T07:00:00Z", "2025-03-10T06:30:00Z"},
        {CYCLE, "30 1 * * *", "2025-11-01T12:00:00Z", 0, NULL, NULL, "2025-11-02T05:30:00Z"},
        {CYCLE, "30 1 * * *", "2025-11-01T12:00:00Z", 1, "2025-11-02T05:30:00Z",
         "2025-11-02T05:30:00Z", "2025-11-03T06:30:00Z"},
        {CYCLE, "*/15 * * * *", "2025-03-09T06:45:00Z", 0, NULL, NULL, "2025-03-09T07:00:00Z"},
        {CYCLE, "*/15 * * * *", "2025-11-02T05:00:00Z", 4, "2025-11-02T05:45:00Z",
         "2025-11-02T05:45:00Z", "2025-11-02T06:00:00Z"},
    };
    CHECK(&zone, rows);
}

/* Half an hour: forward on 2025-10-05 at 02:00 (15:30Z the day before), back on 2025-04-06 at 02:00
 * (15:00Z the day before). */
Test(schedule, keeps_time_on_lord_howe)
{
    const struct engine_zone zone = zone_sample(ZONE_LORD_HOWE);
    static const struct row rows[] = {
        {CYCLE, "15 2 * * *", "2025-10-04T10:00:00Z", 0, NULL, NULL, "2025-10-04T15:30:00Z"},
        {CYCLE, "15 2 * * *", "2025-10-04T10:00:00Z", 1, "2025-10-04T15:30:00Z",
         "2025-10-04T15:30:00Z", "2025-10-05T15:15:00Z"},
        {CYCLE, "45 1 * * *", "2025-04-05T10:00:00Z", 0, NULL, NULL, "2025-04-05T14:45:00Z"},
        {CYCLE, "45 1 * * *", "2025-04-05T10:00:00Z", 1, "2025-04-05T14:45:00Z",
         "2025-04-05T14:45:00Z", "2025-04-06T15:15:00Z"},
    };
    CHECK(&zone, rows);
}

Test(schedule, what_is_no_time_is_refused_with_a_reason)
{
    static const struct {
        enum engine_timer_kind kind;
        const char *text;
    } rows[] = {
        {DATE, "tomorrow"}, {DURATION, "PT2W"},    {DURATION, "P1Y2W"},
        {CYCLE, "PT10S"},   {CYCLE, "61 * * * *"}, {ENGINE_TIMER_NONE, "PT1M"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct engine_schedule schedule;
        const char *reason = NULL;
        cr_expect_eq(
            engine_schedule_read(rows[i].kind, span_text(rows[i].text), &schedule, &reason),
            RESULT_INVALID, "%s", rows[i].text);
        cr_expect_not_null(reason, "%s", rows[i].text);
    }
}

/* ---- triggers of a process ---- */

static struct engine_definition *definition;
static struct arena arena;

static void begin(void)
{
    arena_init(&arena, 1024, 1 << 20);
}

static void end(void)
{
    if (definition != NULL) {
        engine_definition_free(definition);
    }
    arena_release(&arena);
}

TestSuite(triggers, .init = begin, .fini = end);

static void read_file(const char *name, const char *content)
{
    struct engine_report report;
    engine_report_init(&report, span_text(name));
    enum result result = engine_read(span_text(name), span_text(content), &report, &definition);
    struct span text = engine_report_text(&report, ENGINE_ERROR, &arena);
    cr_assert_eq(result, RESULT_OK, "%.*s", SPAN_ARG(text));
    engine_report_release(&report);
}

static void note(void *owner, const struct engine_start_trigger *trigger)
{
    static const char *const kinds[] = {"timer", "message", "signal", "webhook"};
    struct span *all = owner;
    struct span id = engine_trigger_id(&definition->processes[0], trigger, &arena);
    *all = arena_format(&arena, "%.*s%s %.*s%s%.*s;", SPAN_ARG(*all), kinds[trigger->kind],
                        SPAN_ARG(id), trigger->text.count > 0 ? "=" : "", SPAN_ARG(trigger->text));
}

static void expect_triggers(const char *expected)
{
    struct span all = SPAN_EMPTY;
    engine_triggers_each(&definition->processes[0], note, &all);
    cr_expect(span_is(all, expected), "%.*s, not %s", SPAN_ARG(all), expected);
}

Test(triggers, of_bpmn_are_the_start_events_of_the_process_each_of_their_events)
{
    read_file("starts.bpmn",
              "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'>"
              "<message id='m' name='ordered'/><signal id='g' name='alarm'/>"
              "<process id='p' isExecutable='true'>"
              "<startEvent id='hand'/><startEvent id='all'>"
              "<messageEventDefinition messageRef='m'/>"
              "<timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition>"
              "<signalEventDefinition signalRef='g'/></startEvent>"
              "<subProcess id='sub'><startEvent id='inner'/></subProcess>"
              "<sequenceFlow id='f1' sourceRef='hand' targetRef='sub'/>"
              "<sequenceFlow id='f2' sourceRef='all' targetRef='sub'/></process></definitions>");

    expect_triggers("message all=ordered;timer all#2;signal all#3=alarm;");
}

Test(triggers, of_a_json_graph_are_its_nodes_and_those_beside_them)
{
    read_file("g.json",
              "{\"id\":\"p\",\"nodes\":["
              "{\"id\":\"c\",\"type\":\"trigger_cron\",\"config\":{\"cron\":\"0 9 * * *\"}},"
              "{\"id\":\"w\",\"type\":\"trigger_webhook\",\"config\":{\"path\":\"/orders/new\"}},"
              "{\"id\":\"e\",\"type\":\"end\"}],"
              "\"edges\":[{\"id\":\"1\",\"source\":\"c\",\"target\":\"e\"},"
              "{\"id\":\"2\",\"source\":\"w\",\"target\":\"e\"}],"
              "\"triggers\":[{\"type\":\"manual\"},{\"id\":\"night\",\"type\":\"cron\",\"cron\":"
              "\"0 2 * * *\",\"time_zone\":\"Europe/London\"},"
              "{\"type\":\"webhook\",\"path\":\"again\"}]}");

    expect_triggers("timer c;webhook w=orders/new;"
                    "timer triggers/night=CRON_TZ=Europe/London 0 2 * * *;"
                    "webhook triggers/3=again;");
    struct engine_start_trigger found;
    cr_expect(engine_trigger_of_path(&definition->processes[0], span_text("orders/new"), &found));
    cr_expect(span_is(found.node->id, "w"));
    cr_expect(engine_trigger_of_path(&definition->processes[0], span_text("again"), &found));
    cr_expect_null(found.node);
    cr_expect_not(engine_trigger_of_path(&definition->processes[0], span_text("orders"), &found));
}
