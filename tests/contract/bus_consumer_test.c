/* bus_consumer_test.c: when messages are accepted, and what becomes of those that nobody can take.
 * Over queues in memory and an index that writes down what it is asked. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/consumer.h"
#include "actors/fixture_log.h"
#include "audit/memory/memory.h"
#include "proto/wire/reader.h"

enum { WINDOW = 32 };

struct fixture {
    struct storage_index index; /* first: the port's self */
    struct fixture_sink inbox, elsewhere, shown;
    struct audit_memory_queue *queue, *refused;
    struct audit_bus *engine, *aside;
    struct audit_source *source;
    struct actor_consumer *consumer;
    uint64_t now_ms;
    enum result opens, applies;
    const char *hated;  /* an execution that does not fit */
    char written[1024]; /* "a1 b1;" a transaction each */
    uint32_t flushes;
    bool closed;
};

static enum result apply(struct storage_index *self, const struct span *messages, size_t count,
                         uint64_t position)
{
    struct fixture *fixture = (struct fixture *)self;
    char text[512] = "";
    cr_assert_eq(position, STORAGE_NO_POSITION);
    for (size_t i = 0; i < count; i++) {
        struct span id = wire_string_or(wire_find_text(messages[i], "executionId"), "");
        if (fixture->hated != NULL && span_is(id, fixture->hated)) {
            return RESULT_INVALID;
        }
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.*s%d", i == 0 ? "" : " ", SPAN_ARG(id),
                 (int)wire_int_or(wire_find_text(messages[i], "revision"), -1));
    }
    if (fixture->applies == RESULT_OK) {
        size_t used = strlen(fixture->written);
        snprintf(fixture->written + used, sizeof fixture->written - used, "%s;", text);
    }
    return fixture->applies;
}

static enum result flush(struct storage_index *self)
{
    ((struct fixture *)self)->flushes++;
    return RESULT_OK;
}

static void close_index(struct storage_index *self)
{
    ((struct fixture *)self)->closed = true;
}

static const struct storage_index_ops ops = {.apply = apply, .flush = flush, .close = close_index};

static enum result open_index(void *owner, struct storage_index **out)
{
    struct fixture *fixture = owner;
    *out = fixture->opens == RESULT_OK ? &fixture->index : NULL;
    return fixture->opens;
}

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.index.ops = &ops, .now_ms = 1000};
    fixture_sink_init(&fixture->inbox);
    fixture_sink_init(&fixture->elsewhere);
    fixture_sink_init(&fixture->shown);
    cr_assert_eq(audit_memory_queue_new(&fixture->queue), RESULT_OK);
    cr_assert_eq(audit_memory_queue_new(&fixture->refused), RESULT_OK);
    struct audit_bus_options engine = {.window = 64, .owner.sink = &fixture->elsewhere.sink};
    struct audit_bus_options aside = {
        .window = WINDOW, .owner = {.sink = &fixture->inbox.sink, .ticket = ACTOR_BUS_ASIDE}};
    struct audit_source_options source = {.window = WINDOW, .owner.sink = &fixture->inbox.sink};
    cr_assert_eq(audit_memory_bus_open(fixture->queue, &engine, &fixture->engine), RESULT_OK);
    cr_assert_eq(audit_memory_bus_open(fixture->refused, &aside, &fixture->aside), RESULT_OK);
    cr_assert_eq(audit_memory_source_open(fixture->queue, &source, &fixture->source), RESULT_OK);
    struct actor_consumer_options options = {
        .source = fixture->source, .aside = fixture->aside, .open = open_index, .owner = fixture};
    cr_assert_eq(actor_consumer_new(&options, &fixture->consumer), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_consumer_free(fixture->consumer);
    fixture->source->ops->close(fixture->source);
    fixture->engine->ops->close(fixture->engine);
    fixture->aside->ops->close(fixture->aside);
    fixture_sink_clear(&fixture->inbox);
    fixture_sink_clear(&fixture->elsewhere);
    fixture_sink_clear(&fixture->shown);
    audit_memory_queue_free(fixture->queue);
    audit_memory_queue_free(fixture->refused);
}

static void send_text(struct fixture *fixture, const char *json)
{
    struct audit_bus_message message = {.id = span_text("id"), .body = span_text(json)};
    cr_assert_eq(fixture->engine->ops->send(fixture->engine, &message), RESULT_OK);
}

static void send(struct fixture *fixture, const char *execution, int revision)
{
    char json[128];
    snprintf(json, sizeof json, "{\"executionId\":\"%s\",\"revision\":%d}", execution, revision);
    send_text(fixture, json);
}

static void run(struct fixture *fixture)
{
    for (int i = 0; i < 100; i++) {
        struct proto_message *batch = NULL;
        struct proto_message **last = &batch;
        for (uint32_t m = 0; m < fixture->inbox.count; m++) {
            *last = fixture->inbox.messages[m];
            last = &(*last)->next;
        }
        fixture->inbox.count = 0;
        struct actor_time now = {.unix_ms = 0, .monotonic_ms = fixture->now_ms};
        actor_consumer_turn(fixture->consumer, batch, now);
        fixture->now_ms += 200;
    }
}

Test(consumer, writes_what_has_come_in_one_transaction_and_accepts_it_behind_that)
{
    struct fixture fixture;
    begin(&fixture);
    send(&fixture, "b", 1);
    send(&fixture, "a", 1);
    send(&fixture, "b", 2);

    run(&fixture);

    cr_expect_str_eq(fixture.written, "a1 b1 b2;", "in one order of executions, each in its own");
    cr_expect_eq(fixture.flushes, 1);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 0);
    cr_expect_eq(actor_consumer_counters(fixture.consumer)->written, 3);
    end(&fixture);
    cr_expect(fixture.closed);
}

Test(consumer, waits_for_a_database_that_is_away_and_loses_nothing)
{
    struct fixture fixture;
    begin(&fixture);
    fixture.opens = RESULT_IO;
    send(&fixture, "a", 1);
    run(&fixture);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 1);
    cr_expect_eq(actor_consumer_counters(fixture.consumer)->failing, 1);

    fixture.opens = RESULT_OK;
    fixture.applies = RESULT_IO;
    send(&fixture, "b", 1);
    run(&fixture);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 2);

    fixture.applies = RESULT_OK;
    run(&fixture);
    cr_expect_str_eq(fixture.written, "a1 b1;");
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 0);
    cr_expect_eq(actor_consumer_counters(fixture.consumer)->failing, 0);
    end(&fixture);
}

Test(consumer, what_it_did_not_write_goes_to_another)
{
    struct fixture fixture;
    begin(&fixture);
    fixture.applies = RESULT_IO;
    send(&fixture, "a", 1);
    run(&fixture);

    fixture.source->ops->close(fixture.source);
    struct audit_source_options source = {.window = 8, .owner.sink = &fixture.shown.sink};
    cr_assert_eq(audit_memory_source_open(fixture.queue, &source, &fixture.source), RESULT_OK);

    cr_expect_eq(fixture.shown.count, 1);
    end(&fixture);
}

/* What stands in the queue of refused messages, as "reason: body". */
static void expect_refused(struct fixture *fixture, uint32_t count)
{
    cr_expect_eq(audit_memory_queue_count(fixture->refused), count);
    cr_expect_eq(actor_consumer_counters(fixture->consumer)->set_aside, count);
}

Test(consumer, sets_a_message_aside_that_is_none_without_the_others)
{
    struct fixture fixture;
    begin(&fixture);
    send(&fixture, "a", 1);
    send_text(&fixture, "{\"executionId\":");
    send_text(&fixture, "{\"executionId\":\"x\",\"revision\":\"one\"}");
    send(&fixture, "b", 1);

    run(&fixture);

    cr_expect_str_eq(fixture.written, "a1 b1;");
    expect_refused(&fixture, 2);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 0);
    end(&fixture);
}

Test(consumer, sets_a_message_aside_that_the_database_does_not_take)
{
    struct fixture fixture;
    begin(&fixture);
    fixture.hated = "x";
    send(&fixture, "a", 1);
    send(&fixture, "x", 1);
    send(&fixture, "z", 1);

    run(&fixture);

    cr_expect_str_eq(fixture.written, "a1;z1;");
    expect_refused(&fixture, 1);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 0);
    end(&fixture);
}

Test(consumer, accepts_a_refused_message_only_when_it_is_set_aside)
{
    struct fixture fixture;
    begin(&fixture);
    audit_memory_queue_set_away(fixture.refused, true);
    send_text(&fixture, "no JSON");
    run(&fixture);
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 1);

    audit_memory_queue_set_away(fixture.refused, false);
    run(&fixture);

    cr_expect_eq(audit_memory_queue_count(fixture.queue), 0);
    expect_refused(&fixture, 1);
    end(&fixture);
}

Test(consumer, never_accepts_what_cannot_even_be_set_aside)
{
    struct fixture fixture;
    begin(&fixture);
    audit_memory_queue_refuse(fixture.refused, "id");
    send_text(&fixture, "no JSON");
    send(&fixture, "a", 1);

    run(&fixture);

    cr_expect_str_eq(fixture.written, "a1;");
    cr_expect_eq(audit_memory_queue_count(fixture.queue), 1);
    cr_expect_eq(actor_consumer_counters(fixture.consumer)->set_aside, 0);
    end(&fixture);
}
