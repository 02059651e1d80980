/*
 * schedule_test.c: which executions timers begin, on a clock that the test holds. The shard is the
 * test: it answers firings as it likes.
 */
#include "actors/schedule.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/fixture_log.h"
#include "engine/time/zone_sample.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define BPMN(starts)                                                                               \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'><process id='p' "            \
    "isExecutable='true'>" starts "<task id='t'/></process></definitions>"
#define TIMER(id, time)                                                                            \
    "<startEvent id='" id "'><timerEventDefinition>" time "</timerEventDefinition></startEvent>"   \
    "<sequenceFlow id='f" id "' sourceRef='" id "' targetRef='t'/>"
#define CYCLE(text) "<timeCycle>" text "</timeCycle>"

static struct actor_catalog catalog;
static struct actor_schedule *schedule;
static struct fixture_sink shard;
static struct proto_sink *shards[1];
static struct actor_time now;
static size_t answered; /* of the shard's messages */

static enum result read_zone(struct span name, struct arena *arena, struct engine_zone *out)
{
    (void)arena;
    *out = zone_sample(ZONE_LONDON);
    return span_is(name, "Europe/London") ? RESULT_OK : RESULT_NOT_FOUND;
}

static void open_schedule(void)
{
    struct actor_schedule_options options = {
        .shards = shards, .shard_count = 1, .catalog = &catalog};
    cr_assert_eq(actor_schedule_new(&options, &schedule), RESULT_OK);
}

static void begin(void)
{
    cr_assert_eq(actor_catalog_init(&catalog, read_zone), RESULT_OK);
    fixture_sink_init(&shard);
    shards[0] = &shard.sink;
    answered = 0;
    open_schedule();
}

static void end(void)
{
    actor_schedule_free(schedule);
    fixture_sink_clear(&shard);
    actor_catalog_release(&catalog);
}

TestSuite(schedule_actor, .init = begin, .fini = end);

static void set_time(const char *text)
{
    now = (struct actor_time){.unix_ms = zone_instant(text), .monotonic_ms = 1000};
}

static void add_version(uint32_t version, const char *content)
{
    struct engine_report report;
    struct proto_definition file = {.project = span_text("default"),
                                    .name = span_text("p.bpmn"),
                                    .content = span_text(content),
                                    .version = version};
    cr_assert_eq(actor_catalog_add(&catalog, &file, now.unix_ms, &report), RESULT_OK);
    engine_report_release(&report);
}

static void deploy(uint32_t version, const char *content)
{
    add_version(version, content);
    actor_schedule_put(schedule, catalog.sources);
}

/* What was fired since the last look. */
static size_t look(const char *at)
{
    size_t before = shard.count;
    set_time(at);
    (void)actor_schedule_turn(schedule, now);
    return shard.count - before;
}

static const struct proto_fire *fired(size_t index)
{
    cr_assert_lt(index, shard.count);
    cr_assert_eq(shard.messages[index]->type, PROTO_FIRE);
    return &shard.messages[index]->as.fire;
}

static void answer(enum result result)
{
    struct proto_fire fire = *fired(answered++);
    fire.result = result;
    actor_schedule_fired(schedule, &fire, now);
}

static bool same_id(size_t a, size_t b)
{
    return span_equal(execution_id_span(&fired(a)->execution_id),
                      execution_id_span(&fired(b)->execution_id));
}

static void expect_due(size_t index, const char *at)
{
    cr_expect_eq(fired(index)->due_ms, zone_instant(at), "firing %zu is not due at %s", index, at);
}

Test(schedule_actor, a_cron_of_each_second_fires_each_second_one_execution_each)
{
    set_time("2026-01-01T10:00:00.200Z");
    deploy(1, BPMN(TIMER("s", CYCLE("* * * * * *"))));

    cr_expect_eq(look("2026-01-01T10:00:00.900Z"), 0);
    for (int second = 1; second <= 5; second++) {
        char at[32];
        snprintf(at, sizeof at, "2026-01-01T10:00:0%dZ", second);
        cr_expect_eq(look(at), 1);
        expect_due(answered, at);
        cr_expect(second == 1 || !same_id(answered, answered - 1));
        cr_expect_eq(look(at), 0, "one at a time, and once");
        answer(RESULT_OK);
        cr_expect_eq(look(at), 0);
    }
    cr_expect(span_is(fired(0)->node, "s"));
    cr_expect(span_is(fired(0)->workspace, "default"));
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->firings), 5);
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->late), 0);
}

Test(schedule_actor, a_firing_that_could_not_be_made_is_made_again_under_the_same_id)
{
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT1H"))));
    cr_expect_eq(look("2026-01-01T11:00:00Z"), 1);

    answer(RESULT_AGAIN);

    cr_expect_eq(look("2026-01-01T11:00:00.500Z"), 0);
    cr_expect_eq(look("2026-01-01T11:00:01Z"), 1);
    cr_expect(same_id(0, 1));
    answer(RESULT_OK);
    cr_expect_eq(look("2026-01-01T11:59:59Z"), 0);
    cr_expect_eq(look("2026-01-01T12:00:00Z"), 1);
    cr_expect_not(same_id(1, 2));
}

/* Field report F64: while the clock jumps ahead by a day, one firing. */
Test(schedule_actor, a_clock_set_forward_a_day_makes_one_firing)
{
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("*/10 * * * * *"))));

    cr_expect_eq(look("2026-01-02T10:00:05Z"), 1);
    expect_due(0, "2026-01-01T10:00:10Z");
    answer(RESULT_OK);

    cr_expect_eq(look("2026-01-02T10:00:09Z"), 0);
    cr_expect_eq(look("2026-01-02T10:00:10Z"), 1);
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->caught_up), 1);
}

/* Field report F64: the wall clock is set back 1,000 s; the engine's own clock approaches it, at
 * nine tenths of its rate at least. */
Test(schedule_actor, a_clock_set_back_stops_no_timer_and_makes_no_burst)
{
    struct actor_clock clock = {0};
    int64_t wall_ms = zone_instant("2026-01-01T10:00:00Z");
    now = actor_clock_reckon(&clock, wall_ms, 0);
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT5S"))));

    for (uint64_t elapsed_ms = 100; elapsed_ms <= 60000; elapsed_ms += 100) {
        size_t before = shard.count;
        now = actor_clock_reckon(&clock, wall_ms - 1000000 + (int64_t)elapsed_ms, elapsed_ms);
        (void)actor_schedule_turn(schedule, now);
        cr_assert_leq(shard.count, before + 1);
        if (shard.count > before) {
            answer(RESULT_OK);
        }
    }

    cr_expect_geq(shard.count, 10);
    cr_expect_leq(shard.count, 12);
}

static void restart(const struct proto_record *known)
{
    actor_schedule_free(schedule);
    open_schedule();
    if (known != NULL) {
        cr_assert_eq(actor_schedule_recover(schedule, known), RESULT_OK);
    }
    actor_schedule_put(schedule, catalog.sources);
}

/* As fire.c writes it. */
static struct proto_record record_of(const struct proto_fire *fire, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 256);
    wire_write_array(&writer, 4);
    wire_write_string(&writer, fire->trigger);
    wire_write_uint(&writer, fire->fired);
    wire_write_int(&writer, fire->fired_ms);
    wire_write_string(&writer, execution_id_span(&fire->execution_id));
    return (struct proto_record){.kind = PROTO_RECORD_TRIGGER,
                                 .project_id = fire->project,
                                 .name = fire->process,
                                 .number = fire->version,
                                 .at_ms = fire->due_ms,
                                 .body = wire_writer_span(&writer)};
}

/* Field report F55. */
Test(schedule_actor, after_downtime_fires_once_and_not_what_was_recorded)
{
    struct arena arena;
    arena_init(&arena, 1024, 1 << 20);
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT1M"))));
    cr_expect_eq(look("2026-01-01T10:01:00Z"), 1);
    struct proto_record record = record_of(fired(0), &arena);
    struct proto_record old = record;

    restart(&record);
    cr_assert_eq(actor_schedule_recover(schedule, &old), RESULT_OK);
    cr_expect_eq(look("2026-01-01T10:01:30Z"), 0, "the first is served");
    cr_expect_eq(look("2026-01-01T10:11:30Z"), 1, "ten were missed");
    answered = 1;
    answer(RESULT_OK);
    cr_expect_eq(look("2026-01-01T10:11:59Z"), 0);
    cr_expect_eq(look("2026-01-01T10:12:00Z"), 1);
    arena_release(&arena);
}

Test(schedule_actor, killed_between_firing_and_record_fires_the_same_execution_again)
{
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT1M"))));
    cr_expect_eq(look("2026-01-01T10:01:00Z"), 1);

    restart(NULL);

    cr_expect_eq(look("2026-01-01T10:05:00Z"), 1);
    cr_expect(same_id(0, 1));
    expect_due(1, "2026-01-01T10:01:00Z");
}

Test(schedule_actor, a_new_version_takes_the_timers_of_the_old_one_away)
{
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT1M")) TIMER("d", "<timeDuration>PT2M</timeDuration>")));
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->triggers), 2);
    set_time("2026-01-01T10:00:30Z");

    deploy(2, BPMN(TIMER("d", "<timeDuration>PT2M</timeDuration>")));

    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->triggers), 1);
    cr_expect_eq(look("2026-01-01T10:02:29Z"), 0);
    cr_expect_eq(look("2026-01-01T10:02:30Z"), 1);
    cr_expect_eq(fired(0)->version, 2);
    answer(RESULT_OK);
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->triggers), 0);
    cr_expect_eq(look("2026-06-01"), 0);
}

Test(schedule_actor, an_answer_for_a_version_that_was_replaced_serves_its_date)
{
    static const char date[] = BPMN(TIMER("s", "<timeDate>2026-01-01T10:01:00Z</timeDate>"));
    static const char date_again[] =
        BPMN(TIMER("s", "<timeDate>2026-01-01T10:01:00Z</timeDate>") "<task id='more'/>");
    set_time("2026-01-01T10:00:00Z");
    deploy(1, date);
    cr_expect_eq(look("2026-01-01T10:01:00Z"), 1);
    deploy(2, date_again);

    answer(RESULT_OK);

    cr_expect_eq(look("2026-01-01T10:05:00Z"), 0);
}

/* Field reports F53 and F58. */
Test(schedule_actor, starts_that_have_passed_fire_at_once_and_far_ones_stay_away)
{
    set_time("2026-01-01T10:03:00Z");
    deploy(1, BPMN(TIMER("past", CYCLE("R3/2022-04-27T17:20:00Z/PT10M"))
                       TIMER("far", "<timeDuration>P300Y</timeDuration>")));

    cr_expect_eq(look("2026-01-01T10:03:00Z"), 1);
    cr_expect(span_is(fired(0)->trigger, "past"));
    answer(RESULT_OK);
    cr_expect_eq(look("2026-01-01T10:09:59Z"), 0);
    cr_expect_eq(look("2026-01-01T10:10:00Z"), 1);
    answer(RESULT_OK);
    cr_expect_eq(look("2026-01-01T10:20:00Z"), 1);
    answer(RESULT_OK);
    cr_expect_eq(look("2300-01-01"), 0);
    cr_expect_eq(actor_count_read(&actor_schedule_counters(schedule)->late), 0);
}

Test(schedule_actor, looks_at_the_clock_every_five_seconds_while_a_timer_waits)
{
    set_time("2026-01-01T10:00:00Z");
    cr_expect_eq(actor_schedule_turn(schedule, now), ACTOR_NEVER);
    deploy(1, BPMN(TIMER("s", CYCLE("R/PT1H"))));

    cr_expect_eq(actor_schedule_turn(schedule, now), now.monotonic_ms + 5000);
    set_time("2026-01-01T10:59:59.300Z");
    cr_expect_eq(actor_schedule_turn(schedule, now), now.monotonic_ms + 700);
}

static void expect_check(const char *content, const char *expected)
{
    struct engine_report report;
    struct engine_definition *definition;
    struct arena arena;
    arena_init(&arena, 1024, 1 << 20);
    engine_report_init(&report, span_text("p.bpmn"));
    cr_assert_eq(engine_read(span_text("p.bpmn"), span_text(content), &report, &definition),
                 RESULT_OK);
    actor_schedule_check(&catalog, span_text("default"), definition, now.unix_ms, &report);
    struct span text = engine_report_text(&report, ENGINE_ERROR, &arena);
    if (expected == NULL) {
        cr_expect_eq(report.errors, 0, "%.*s", SPAN_ARG(text));
    } else {
        cr_expect(text.count > 0 &&
                      memmem(text.bytes, text.count, expected, strlen(expected)) != NULL,
                  "%.*s: no %s", SPAN_ARG(text), expected);
    }
    engine_report_release(&report);
    engine_definition_free(definition);
    arena_release(&arena);
}

Test(schedule_actor, a_zone_that_nobody_knows_is_an_error_of_the_deploy)
{
    set_time("2026-01-01T10:00:00Z");
    expect_check(BPMN(TIMER("s", CYCLE("CRON_TZ=Europe/London 0 9 * * *"))), NULL);
    expect_check(BPMN(TIMER("s", CYCLE("CRON_TZ=Europe/Atlantis 0 9 * * *"))),
                 "no time zone \"Europe/Atlantis\"");
}

Test(schedule_actor, an_expression_of_a_start_event_is_evaluated_at_the_deploy)
{
    set_time("2026-01-01T10:00:00Z");
    expect_check(BPMN(TIMER("s", "<timeDate>=amount</timeDate>")), "gives no time");
    deploy(1, BPMN(TIMER("s", "<timeDuration>=\"PT\" + \"30S\"</timeDuration>")));

    cr_expect_eq(look("2026-01-01T10:00:29Z"), 0);
    cr_expect_eq(look("2026-01-01T10:00:30Z"), 1);
}

Test(schedule_actor, tells_when_each_timer_is_due_and_when_it_fired)
{
    struct arena arena;
    struct wire_writer writer;
    arena_init(&arena, 1024, 1 << 20);
    set_time("2026-01-01T10:00:00Z");
    deploy(1, BPMN(TIMER("s", CYCLE("CRON_TZ=Europe/London 0 9 * * *"))));
    cr_expect_eq(look("2026-01-02T09:00:00Z"), 1);
    answer(RESULT_OK);
    wire_writer_init(&writer, &arena, 256);

    actor_schedule_write(schedule, &catalog.sources->definition->processes[0], &writer);

    struct span trigger = wire_at(wire_writer_span(&writer), 0);
    const struct {
        const char *field;
        const char *value;
    } rows[] = {{"id", "s"},
                {"kind", "timer"},
                {"taskId", "s"},
                {"schedule", "CRON_TZ=Europe/London 0 9 * * *"},
                {"nextDueAt", "2026-01-03T09:00:00.000Z"},
                {"lastDueAt", "2026-01-02T09:00:00.000Z"},
                {"lastFiredAt", "2026-01-02T09:00:00.000Z"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span value = wire_string_or(wire_find_text(trigger, rows[i].field), "");
        cr_expect(span_is(value, rows[i].value), "%s: %.*s", rows[i].field, SPAN_ARG(value));
    }
    cr_expect_eq(wire_int_or(wire_find_text(trigger, "fired"), 0), 1);
    arena_release(&arena);
}
