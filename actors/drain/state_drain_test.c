/*
 * state_drain_test.c: what the state table holds after the journal was folded into it, and how far
 * the journal may be forgotten. Over a log and a state table in arrays.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/drain/state_drain.h"
#include "actors/fixture_log.h"
#include "actors/fixture_state.h"
#include "actors/shard/shard.h"

struct fixture {
    struct fixture_log log;
    struct fixture_state table;
    struct storage_state *state;
    struct fixture_sink shard;
    struct proto_sink *shards[1];
    struct actor_state_drain *drain;
    struct actor_time now;
    struct arena arena;
};

static void open_drain(struct fixture *fixture, uint64_t position)
{
    struct actor_state_drain_options options = {.state = fixture->state,
                                                .log = &fixture->log.journal,
                                                .shards = fixture->shards,
                                                .shard_count = 1,
                                                .position = position,
                                                .requests_max = 3};
    cr_assert_eq(actor_state_drain_new(&options, &fixture->drain), RESULT_OK);
}

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.now = {.unix_ms = 1000000, .monotonic_ms = 1000}};
    fixture_log_init(&fixture->log);
    fixture_sink_init(&fixture->shard);
    fixture->shards[0] = &fixture->shard.sink;
    arena_init(&fixture->arena, 4096, 1 << 20);
    fixture_state_init(&fixture->table);
    fixture->state = &fixture->table.state;
    open_drain(fixture, 0);
}

static void end(struct fixture *fixture)
{
    actor_state_drain_free(fixture->drain);
    fixture_state_release(&fixture->table);
    fixture_sink_clear(&fixture->shard);
    fixture_log_release(&fixture->log);
    arena_release(&fixture->arena);
}

static void write_record(struct fixture *fixture, struct proto_record record)
{
    fixture_log_write(&fixture->log, &record, 1);
}

static void snapshot(struct fixture *fixture, const char *id, uint64_t flags, const char *body)
{
    write_record(fixture, (struct proto_record){.kind = PROTO_RECORD_SNAPSHOT,
                                                .workspace_id = span_text("w"),
                                                .execution_id = span_text(id),
                                                .number = flags,
                                                .body = span_text(body)});
}

static void events(struct fixture *fixture, const char *id)
{
    static const uint8_t run[] = {0x01};
    write_record(fixture, (struct proto_record){.kind = PROTO_RECORD_EVENTS,
                                                .execution_id = span_text(id),
                                                .body = span_of(run, sizeof run)});
}

static uint64_t pump_and_flush(struct fixture *fixture)
{
    uint64_t position = UINT64_MAX;
    cr_assert_eq(actor_state_drain_pump(fixture->drain, fixture->now, false), RESULT_OK);
    cr_assert_eq(actor_state_drain_flush(fixture->drain, 0, fixture->now, &position), RESULT_OK);
    return position;
}

static const char *kept(struct fixture *fixture, const char *id)
{
    static char text[64];
    struct span value;
    if (actor_state_drain_get(fixture->drain, span_text(id), &fixture->arena, &value) !=
        RESULT_OK) {
        return "none";
    }
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(value));
    return text;
}

Test(state_drain, keeps_the_newest_snapshot_of_what_is_live)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", PROTO_SNAPSHOT_WAITING | PROTO_SNAPSHOT_FIRST, "a1");
    snapshot(&fixture, "b", PROTO_SNAPSHOT_WAITING | PROTO_SNAPSHOT_FIRST, "b1");
    snapshot(&fixture, "c", PROTO_SNAPSHOT_ENDED | PROTO_SNAPSHOT_FIRST, "c1");
    cr_assert_eq(actor_state_drain_pump(fixture.drain, fixture.now, false), RESULT_OK);
    cr_assert_str_eq(kept(&fixture, "a"), "a1", "asked before the flush");
    pump_and_flush(&fixture);
    snapshot(&fixture, "a", PROTO_SNAPSHOT_INTERIM, "a2");
    snapshot(&fixture, "b", PROTO_SNAPSHOT_ENDED, "b2");

    uint64_t position = pump_and_flush(&fixture);

    cr_assert_eq(position, 5);
    cr_assert_str_eq(kept(&fixture, "a"), "a2");
    cr_assert_str_eq(kept(&fixture, "b"), "none");
    cr_assert_str_eq(kept(&fixture, "c"), "none");
    cr_assert_eq(fixture.state->ops->count(fixture.state, STORAGE_EXECUTIONS), 1);
    end(&fixture);
}

Test(state_drain, keeps_the_journal_from_the_first_event_that_no_snapshot_covers)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", PROTO_SNAPSHOT_WAITING | PROTO_SNAPSHOT_FIRST, "a1");
    events(&fixture, "b");
    events(&fixture, "c");
    events(&fixture, "b");

    cr_assert_eq(pump_and_flush(&fixture), 1);
    snapshot(&fixture, "b", PROTO_SNAPSHOT_WAITING, "b1");
    cr_assert_eq(pump_and_flush(&fixture), 2, "c is still open");
    snapshot(&fixture, "c", PROTO_SNAPSHOT_INTERIM, "c1");

    cr_assert_eq(pump_and_flush(&fixture), 6);
    uint64_t stored;
    cr_assert_eq(actor_position_read(fixture.state, ACTOR_POSITION_STATE, &stored), RESULT_OK);
    cr_assert_eq(stored, 6);
    end(&fixture);
}

Test(state_drain, asks_for_a_snapshot_when_a_segment_stays_open_long)
{
    struct fixture fixture;
    begin(&fixture);
    events(&fixture, "slow");
    pump_and_flush(&fixture);
    cr_assert_eq(fixture.shard.count, 0);

    fixture.now.monotonic_ms += 31000;
    pump_and_flush(&fixture);
    pump_and_flush(&fixture);

    cr_assert_eq(fixture.shard.count, 1, "once, not at every flush");
    cr_assert_eq(fixture.shard.messages[0]->type, PROTO_INTERIM);
    cr_assert_str_eq(fixture.shard.messages[0]->as.execution_id.text, "slow");
    end(&fixture);
}

Test(state_drain, forgets_an_execution_that_an_operator_deleted)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", PROTO_SNAPSHOT_WAITING | PROTO_SNAPSHOT_FIRST, "a1");
    events(&fixture, "a");
    write_record(&fixture, (struct proto_record){.kind = PROTO_RECORD_FORGET,
                                                 .execution_id = span_text("a"),
                                                 .workspace_id = span_text("w")});

    cr_assert_eq(pump_and_flush(&fixture), 3);
    cr_assert_str_eq(kept(&fixture, "a"), "none");
    end(&fixture);
}

/* ["e", "reply"], or ["e", nil] while it is in flight */
static void request(struct fixture *fixture, const char *id, bool replied, int64_t at_ms)
{
    static const uint8_t done[] = {0x92, 0xa1, 'e', 0xa5, 'r', 'e', 'p', 'l', 'y'};
    static const uint8_t flying[] = {0x92, 0xa1, 'e', 0xc0};
    write_record(fixture, (struct proto_record){.kind = PROTO_RECORD_REQUEST,
                                                .workspace_id = span_text("w"),
                                                .name = span_text(id),
                                                .number = 0xfedcba9876543210u,
                                                .at_ms = at_ms,
                                                .body = replied ? span_of(done, sizeof done)
                                                                : span_of(flying, sizeof flying)});
}

struct rows {
    struct fixture *fixture;
    struct proto_record last;
    uint32_t count;
};

static bool read_row(void *owner, struct span key, struct span value)
{
    struct rows *rows = owner;
    struct proto_record record;
    key = arena_copy(&rows->fixture->arena, key);
    value = arena_copy(&rows->fixture->arena, value);
    cr_assert_eq(actor_request_row_read(key, value, &rows->fixture->arena, &record), RESULT_OK);
    rows->last = record;
    rows->count++;
    return true;
}

static struct rows rows_of(struct fixture *fixture)
{
    struct rows rows = {.fixture = fixture};
    cr_assert_eq(
        fixture->state->ops->scan(fixture->state, STORAGE_REQUESTS, SPAN_EMPTY, read_row, &rows),
        RESULT_OK);
    return rows;
}

Test(state_drain, remembers_requests_as_they_were_recorded_short_ids_and_long)
{
    struct fixture fixture;
    char long_id[500];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    begin(&fixture);
    const char *const ids[] = {"short", long_id};
    for (int i = 0; i < 2; i++) {
        request(&fixture, ids[i], false, 1000000);
        request(&fixture, ids[i], true, 1000000);
        pump_and_flush(&fixture);

        struct rows rows = rows_of(&fixture);
        cr_assert_eq(rows.count, (uint32_t)i + 1);
        if (i == 1 && span_is(rows.last.name, "short")) {
            continue; /* the other row came last: order is the key's */
        }
        cr_assert(span_is(rows.last.name, ids[i]));
        cr_assert(span_is(rows.last.workspace_id, "w"));
        cr_assert_eq(rows.last.number, 0xfedcba9876543210u);
        struct actor_remembered_body body;
        cr_assert_eq(actor_remembered_body_read(rows.last.body, &body), RESULT_OK);
        cr_assert(span_is(body.execution_id, "e"));
        cr_assert_eq(body.reply.count, 6);
    }
    end(&fixture);
}

Test(state_drain, keeps_remembered_requests_for_ten_minutes_and_the_newest_of_them)
{
    struct fixture fixture;
    begin(&fixture);
    const char *const ids[] = {"1", "2", "3", "4", "5"};
    for (int i = 0; i < 5; i++) {
        request(&fixture, ids[i], true, 1000000 + i);
    }
    pump_and_flush(&fixture);
    cr_assert_eq(rows_of(&fixture).count, 3, "as many as the shards keep");

    fixture.now.unix_ms = 1000000 + 3 + 10 * 60 * 1000;
    pump_and_flush(&fixture);

    struct rows rows = rows_of(&fixture);
    cr_assert_eq(rows.count, 1);
    cr_assert(span_is(rows.last.name, "5"));
    end(&fixture);
}

Test(state_drain, keeps_what_it_folded_when_the_table_is_full)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", PROTO_SNAPSHOT_WAITING, "a1");
    fixture.table.full = true;
    uint64_t position;
    cr_assert_eq(actor_state_drain_pump(fixture.drain, fixture.now, false), RESULT_OK);
    cr_assert_eq(actor_state_drain_flush(fixture.drain, 0, fixture.now, &position), RESULT_FULL);
    cr_assert_str_eq(kept(&fixture, "a"), "a1");

    fixture.table.full = false;

    cr_assert_eq(pump_and_flush(&fixture), 1);
    cr_assert_str_eq(kept(&fixture, "a"), "a1");
    end(&fixture);
}
