/* bus_drain_test.c: what goes to the bus, how far the position is, and what becomes of refused
 * messages. Over a log in an array and buses in memory. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/bus.h"
#include "actors/fixture_log.h"
#include "audit/memory/memory.h"

enum { WINDOW = 4 };

struct fixture {
    struct fixture_log log;
    struct fixture_sink inbox; /* of the actor */
    struct fixture_sink journal, storage, asker, reader;
    struct audit_memory_queue *queue, *refused;
    struct audit_bus *bus, *aside;
    struct audit_source *source;
    struct actor_bus *actor;
    uint64_t now_ms;
    uint64_t rests_ms; /* from its last turn to the next that it wants; ACTOR_NEVER: none */
};

static void begin(struct fixture *fixture, uint64_t position)
{
    *fixture = (struct fixture){.now_ms = 1000};
    fixture_log_init(&fixture->log);
    struct fixture_sink *sinks[] = {&fixture->inbox, &fixture->journal, &fixture->storage,
                                    &fixture->asker, &fixture->reader};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        fixture_sink_init(sinks[i]);
    }
    cr_assert_eq(audit_memory_queue_new(&fixture->queue), RESULT_OK);
    cr_assert_eq(audit_memory_queue_new(&fixture->refused), RESULT_OK);
    struct audit_bus_options options = {.window = WINDOW, .owner.sink = &fixture->inbox.sink};
    cr_assert_eq(audit_memory_bus_open(fixture->queue, &options, &fixture->bus), RESULT_OK);
    options.owner.ticket = ACTOR_BUS_ASIDE;
    cr_assert_eq(audit_memory_bus_open(fixture->refused, &options, &fixture->aside), RESULT_OK);
    struct audit_source_options reading = {.window = 64, .owner.sink = &fixture->reader.sink};
    cr_assert_eq(audit_memory_source_open(fixture->queue, &reading, &fixture->source), RESULT_OK);
    struct actor_bus_options made = {.bus = fixture->bus,
                                     .aside = fixture->aside,
                                     .window = WINDOW,
                                     .log = &fixture->log.journal,
                                     .journal = &fixture->journal.sink,
                                     .storage = &fixture->storage.sink,
                                     .position = position};
    cr_assert_eq(actor_bus_new(&made, &fixture->actor), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_bus_free(fixture->actor);
    fixture->source->ops->close(fixture->source);
    fixture->bus->ops->close(fixture->bus);
    fixture->aside->ops->close(fixture->aside);
    audit_memory_queue_free(fixture->queue);
    audit_memory_queue_free(fixture->refused);
    fixture_sink_clear(&fixture->inbox);
    fixture_sink_clear(&fixture->journal);
    fixture_sink_clear(&fixture->storage);
    fixture_sink_clear(&fixture->asker);
    fixture_sink_clear(&fixture->reader);
    fixture_log_release(&fixture->log);
}

static void run_turns(struct fixture *fixture, struct proto_message *first, int turns)
{
    for (int i = 0; i < turns; i++) {
        struct proto_message *batch = first;
        struct proto_message **last = &batch;
        first = NULL;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        for (uint32_t m = 0; m < fixture->inbox.count; m++) {
            *last = fixture->inbox.messages[m];
            last = &(*last)->next;
        }
        fixture->inbox.count = 0;
        struct actor_time now = {.unix_ms = 0, .monotonic_ms = fixture->now_ms};
        uint64_t due_ms = actor_bus_turn(fixture->actor, batch, now);
        fixture->rests_ms = due_ms == ACTOR_NEVER      ? ACTOR_NEVER
                            : due_ms > fixture->now_ms ? due_ms - fixture->now_ms
                                                       : 0;
        fixture->now_ms += 50;
    }
}

/* Turns until the actor has nothing to do, at most some seconds of its time. */
static void run(struct fixture *fixture, struct proto_message *first)
{
    run_turns(fixture, first, 200);
}

static void write_audit(struct fixture *fixture, const char *id)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &fixture->log.arena, 64);
    wire_write_map(&writer, 1);
    wire_pair_text(&writer, "messageId", id);
    struct proto_record records[] = {
        {.kind = PROTO_RECORD_SNAPSHOT, .execution_id = span_text("x"), .body = span_text("s")},
        {.kind = PROTO_RECORD_AUDIT,
         .execution_id = span_text("x"),
         .body = wire_writer_span(&writer)}};
    fixture_log_write(&fixture->log, records, 2);
}

static void write_numbers(struct fixture *fixture, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "x:%u", i);
        write_audit(fixture, id);
    }
}

static uint64_t told(const struct fixture_sink *sink)
{
    const struct proto_message *last = sink->count == 0 ? NULL : sink->messages[sink->count - 1];
    return last == NULL ? 0 : last->as.drained.durable;
}

Test(bus_drain, sends_audit_messages_as_json_in_the_order_of_the_journal)
{
    struct fixture fixture;
    begin(&fixture, 0);
    write_numbers(&fixture, 10);

    run(&fixture, NULL);

    cr_assert_eq(fixture.reader.count, 10);
    for (unsigned i = 0; i < 10; i++) {
        char body[32];
        snprintf(body, sizeof body, "{\"messageId\":\"x:%u\"}", i);
        cr_expect(span_is(fixture.reader.messages[i]->as.bus.body, body));
        cr_expect(span_equal(fixture.reader.messages[i]->as.bus.id,
                             span_of(body + 14, strlen(body) - 16)));
    }
    cr_expect_eq(told(&fixture.storage), 10);
    cr_expect_eq(actor_bus_counters(fixture.actor)->messages, 10);
    cr_expect_eq(actor_bus_counters(fixture.actor)->unsettled, 0);
    end(&fixture);
}

Test(bus_drain, reads_no_further_than_its_window_while_the_bus_is_away)
{
    struct fixture fixture;
    begin(&fixture, 0);
    audit_memory_queue_set_away(fixture.queue, true);
    write_numbers(&fixture, 10);

    run(&fixture, NULL);
    cr_expect_eq(actor_bus_counters(fixture.actor)->messages, WINDOW);
    cr_expect_eq(fixture.storage.count, 0, "nothing is settled");
    cr_expect_eq(actor_bus_counters(fixture.actor)->since_ms, 1000);

    audit_memory_queue_set_away(fixture.queue, false);
    run(&fixture, NULL);
    cr_expect_eq(fixture.reader.count, 10);
    cr_expect_eq(told(&fixture.storage), 10);
    end(&fixture);
}

Test(bus_drain, begins_at_its_position)
{
    struct fixture fixture;
    begin(&fixture, 0);
    write_numbers(&fixture, 3);
    run(&fixture, NULL);
    actor_bus_free(fixture.actor);
    struct actor_bus_options again = {.bus = fixture.bus,
                                      .aside = fixture.aside,
                                      .window = WINDOW,
                                      .log = &fixture.log.journal,
                                      .journal = &fixture.journal.sink,
                                      .storage = &fixture.storage.sink,
                                      .position = 2};
    fixture_sink_clear(&fixture.reader);
    fixture_sink_clear(&fixture.inbox);
    fixture.bus->ops->close(fixture.bus);
    struct audit_bus_options options = {.window = WINDOW, .owner.sink = &fixture.inbox.sink};
    cr_assert_eq(audit_memory_bus_open(fixture.queue, &options, &fixture.bus), RESULT_OK);
    again.bus = fixture.bus;
    cr_assert_eq(actor_bus_new(&again, &fixture.actor), RESULT_OK);

    run(&fixture, NULL);

    cr_assert_eq(fixture.reader.count, 1);
    cr_expect(span_is(fixture.reader.messages[0]->as.bus.id, "x:2"));
    end(&fixture);
}

Test(bus_drain, is_behind_a_refused_message_only_when_that_is_set_aside)
{
    struct fixture fixture;
    begin(&fixture, 0);
    audit_memory_queue_refuse(fixture.queue, "x:1");
    audit_memory_queue_set_away(fixture.refused, true);
    write_numbers(&fixture, 4);

    run(&fixture, NULL);
    cr_expect_eq(fixture.reader.count, 3, "the others go on");
    cr_expect_eq(fixture.storage.count, 0);
    cr_expect_eq(actor_bus_counters(fixture.actor)->set_aside, 0);

    audit_memory_queue_set_away(fixture.refused, false);
    run(&fixture, NULL);
    cr_expect_eq(told(&fixture.storage), 4);
    cr_expect_eq(actor_bus_counters(fixture.actor)->set_aside, 1);
    cr_expect_eq(audit_memory_queue_count(fixture.refused), 1);
    end(&fixture);
}

static struct proto_message *drain_of(struct fixture *fixture)
{
    struct proto_message *drain = message_new(PROTO_DRAIN, 0);
    drain->reply_to.sink = &fixture->asker.sink;
    return drain;
}

Test(bus_drain, rests_while_a_refused_message_cannot_be_set_aside)
{
    struct fixture fixture;
    begin(&fixture, 0);
    audit_memory_queue_refuse(fixture.queue, "x:1");
    audit_memory_queue_set_away(fixture.refused, true);
    write_numbers(&fixture, 1);
    run_turns(&fixture, NULL, 1);
    write_audit(&fixture, "x:1"); /* refused while what came before is to be reported */

    run(&fixture, NULL);

    cr_expect_eq(actor_bus_counters(fixture.actor)->set_aside, 0);
    cr_expect_gt(fixture.rests_ms, 0, "it turns for nothing");
    audit_memory_queue_set_away(fixture.refused, false);
    run(&fixture, NULL);
    cr_expect_eq(actor_bus_counters(fixture.actor)->set_aside, 1);
    cr_expect_eq(told(&fixture.storage), 2);
    end(&fixture);
}

Test(bus_drain, ends_when_all_is_settled)
{
    struct fixture fixture;
    begin(&fixture, 0);
    write_numbers(&fixture, 10);

    run(&fixture, drain_of(&fixture));

    cr_expect_eq(fixture.asker.count, 1);
    cr_expect_eq(told(&fixture.storage), 10);
    end(&fixture);
}

Test(bus_drain, does_not_wait_at_its_end_for_a_bus_that_is_away)
{
    struct fixture fixture;
    begin(&fixture, 0);
    audit_memory_queue_set_away(fixture.queue, true);
    write_numbers(&fixture, 10);

    run(&fixture, drain_of(&fixture));

    cr_expect_eq(fixture.asker.count, 1);
    cr_expect_eq(fixture.storage.count, 0);
    end(&fixture);
}
