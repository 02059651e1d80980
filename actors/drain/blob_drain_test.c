/*
 * blob_drain_test.c: what is stored, in which order, and what happens when the store fails. Over a
 * log in an array and a blob port that writes down what it is asked.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/drain/blob_drain.h"
#include "actors/fixture_log.h"

struct fixture {
    struct storage_blob blob; /* first: the port's self */
    struct fixture_log log;
    struct actor_blob_drain *drain;
    struct actor_time now;
    char asked[4096]; /* "put a/x=1 a/y=2; remove a/; flush;" */
    size_t put_count;
};

static void note(struct fixture *fixture, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct fixture *fixture, const char *format, ...)
{
    size_t used = strlen(fixture->asked);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fixture->asked + used, sizeof fixture->asked - used, format, arguments);
    va_end(arguments);
}

static enum result put(struct storage_blob *self, const struct storage_blob_item *items,
                       size_t count, struct proto_address reply_to)
{
    struct fixture *fixture = (struct fixture *)self;
    (void)reply_to;
    fixture->put_count = count;
    note(fixture, "put");
    for (size_t i = 0; i < count; i++) {
        note(fixture, " %.*s=%.*s", SPAN_ARG(items[i].name), SPAN_ARG(items[i].bytes));
    }
    note(fixture, ";");
    return RESULT_OK;
}

static enum result remove_all(struct storage_blob *self, struct span prefix,
                              struct proto_address reply_to)
{
    (void)reply_to;
    note((struct fixture *)self, "remove %.*s;", SPAN_ARG(prefix));
    return RESULT_OK;
}

static enum result flush(struct storage_blob *self, struct proto_address reply_to)
{
    (void)reply_to;
    note((struct fixture *)self, "flush;");
    return RESULT_OK;
}

static const struct storage_blob_ops ops = {.put = put, .remove = remove_all, .flush = flush};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.blob.ops = &ops, .now = {.monotonic_ms = 1000}};
    fixture_log_init(&fixture->log);
    struct actor_blob_drain_options options = {.blob = &fixture->blob,
                                               .log = &fixture->log.journal};
    cr_assert_eq(actor_blob_drain_new(&options, &fixture->drain), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_blob_drain_free(fixture->drain);
    fixture_log_release(&fixture->log);
}

static void done(struct fixture *fixture, enum result result)
{
    actor_blob_drain_done(fixture->drain, &(struct proto_port_done){.result = result},
                          fixture->now);
}

static struct proto_record step(const char *name, const char *body)
{
    return (struct proto_record){.kind = PROTO_RECORD_STEP,
                                 .workspace_id = span_text("w"),
                                 .execution_id = span_text("a"),
                                 .name = span_text(name),
                                 .body = span_text(body)};
}

static struct proto_record snapshot(uint64_t flags, const char *body)
{
    return (struct proto_record){.kind = PROTO_RECORD_SNAPSHOT,
                                 .workspace_id = span_text("w"),
                                 .execution_id = span_text("a"),
                                 .number = flags,
                                 .body = span_text(body)};
}

Test(blob_drain, stores_the_newest_bytes_of_each_name_in_a_batch)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record first[] = {step("1", "one"), snapshot(PROTO_SNAPSHOT_WAITING, "old")};
    struct proto_record second[] = {step("2", "two"), snapshot(PROTO_SNAPSHOT_ENDED, "new")};
    fixture_log_write(&fixture.log, first, 2);
    fixture_log_write(&fixture.log, second, 2);

    actor_blob_drain_pump(fixture.drain, fixture.now);

    cr_assert_str_eq(fixture.asked,
                     "put w/a/1.msgpack=one w/a/execution.msgpack=new w/a/2.msgpack=two;");
    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 0, "not before it is answered");
    done(&fixture, RESULT_OK);
    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 2);
    cr_assert_eq(actor_blob_drain_durable(fixture.drain), 0, "not before it is flushed");
    end(&fixture);
}

Test(blob_drain, stores_no_blob_of_a_snapshot_in_mid_segment)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record interim = snapshot(PROTO_SNAPSHOT_INTERIM, "interim");
    fixture_log_write(&fixture.log, &interim, 1);

    actor_blob_drain_pump(fixture.drain, fixture.now);

    cr_assert_str_eq(fixture.asked, "");
    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 1);
    end(&fixture);
}

Test(blob_drain, removes_what_was_forgotten_after_what_came_before_and_before_what_comes_after)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record records[] = {step("1", "one"),
                                     {.kind = PROTO_RECORD_FORGET,
                                      .workspace_id = span_text("w"),
                                      .execution_id = span_text("a")},
                                     step("2", "two")};
    fixture_log_write(&fixture.log, records, 3);

    for (int i = 0; i < 3; i++) {
        actor_blob_drain_pump(fixture.drain, fixture.now);
        done(&fixture, RESULT_OK);
    }

    cr_assert_str_eq(fixture.asked, "put w/a/1.msgpack=one;remove w/a/;put w/a/2.msgpack=two;");
    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 1);
    end(&fixture);
}

Test(blob_drain, tries_a_failed_batch_again_later_and_passes_nothing_by)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record first = step("1", "one");
    fixture_log_write(&fixture.log, &first, 1);
    actor_blob_drain_pump(fixture.drain, fixture.now);
    done(&fixture, RESULT_IO);
    struct proto_record second = step("1", "newer");
    fixture_log_write(&fixture.log, &second, 1);

    uint64_t retry_ms = actor_blob_drain_pump(fixture.drain, fixture.now);

    cr_assert_gt(retry_ms, fixture.now.monotonic_ms);
    cr_assert_leq(retry_ms, fixture.now.monotonic_ms + 200);
    cr_assert_str_eq(fixture.asked, "put w/a/1.msgpack=one;", "not before its time");
    fixture.now.monotonic_ms = retry_ms;
    actor_blob_drain_pump(fixture.drain, fixture.now);
    done(&fixture, RESULT_OK);
    actor_blob_drain_pump(fixture.drain, fixture.now);
    cr_assert_str_eq(fixture.asked,
                     "put w/a/1.msgpack=one;put w/a/1.msgpack=one;put w/a/1.msgpack=newer;");
    cr_assert_eq(actor_count_read(&actor_blob_drain_counters(fixture.drain)->retried), 1);
    done(&fixture, RESULT_OK);
    end(&fixture);
}

Test(blob_drain, repeats_only_the_items_that_failed)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record records[] = {step("1", "one"), step("2", "two"), step("3", "three")};
    fixture_log_write(&fixture.log, records, 3);
    actor_blob_drain_pump(fixture.drain, fixture.now);
    static const uint8_t results[] = {RESULT_OK, RESULT_IO, RESULT_OK};

    actor_blob_drain_done(
        fixture.drain,
        &(struct proto_port_done){.result = RESULT_IO, .results = span_of(results, sizeof results)},
        fixture.now);
    fixture.asked[0] = '\0';
    fixture.now.monotonic_ms += 60000;
    actor_blob_drain_pump(fixture.drain, fixture.now);

    cr_assert_str_eq(fixture.asked, "put w/a/2.msgpack=two;");
    done(&fixture, RESULT_OK);
    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 1);
    end(&fixture);
}

Test(blob_drain, puts_at_most_two_hundred_at_once)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record records[450];
    static char names[450][16];
    for (int i = 0; i < 450; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        records[i] = step(names[i], "x");
    }
    fixture_log_write(&fixture.log, records, 450);

    static const size_t expected[] = {200, 200, 50};
    for (int i = 0; i < 3; i++) {
        actor_blob_drain_pump(fixture.drain, fixture.now);
        cr_assert_eq(fixture.put_count, expected[i]);
        cr_assert_eq(actor_blob_drain_stored(fixture.drain), 0,
                     "half a batch of the journal is not a position");
        done(&fixture, RESULT_OK);
    }

    cr_assert_eq(actor_blob_drain_stored(fixture.drain), 1);
    end(&fixture);
}

Test(blob_drain, is_durable_up_to_what_was_stored_when_the_flush_began)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record record = step("1", "one");
    fixture_log_write(&fixture.log, &record, 1);
    actor_blob_drain_pump(fixture.drain, fixture.now);
    done(&fixture, RESULT_OK);

    actor_blob_drain_want_flush(fixture.drain);
    actor_blob_drain_pump(fixture.drain, fixture.now);
    cr_assert(actor_blob_drain_busy(fixture.drain));
    done(&fixture, RESULT_OK);

    cr_assert_eq(actor_blob_drain_durable(fixture.drain), 1);
    cr_assert_str_eq(fixture.asked, "put w/a/1.msgpack=one;flush;");
    end(&fixture);
}

static struct proto_record snapshot_of(const char *bytes, size_t count)
{
    struct proto_record record = snapshot(PROTO_SNAPSHOT_WAITING, "");
    record.body = span_of(bytes, count);
    return record;
}

/* Seed 000: repeated overwrites of execution.msgpack collapse. 100 of 300,000 bytes are more than a
 * batch may hold, and still one upload. */
Test(blob_drain, uploads_a_hundred_overwrites_behind_a_slow_store_twice)
{
    enum { OVERWRITES = 100, BYTES = 300000 };
    struct fixture fixture;
    char *body = malloc(BYTES);
    begin(&fixture);
    memset(body, 'x', BYTES);
    unsigned puts = 0;
    for (unsigned i = 0; i < OVERWRITES; i++) {
        snprintf(body, 8, "%03u", i);
        struct proto_record record = snapshot_of(body, BYTES - i % 7);
        fixture_log_write(&fixture.log, &record, 1);
        fixture.asked[0] = '\0';
        actor_blob_drain_pump(fixture.drain,
                              fixture.now); /* the first put is under way meanwhile */
        puts += fixture.asked[0] != '\0';
        fixture.now.monotonic_ms += 10;
    }
    cr_assert_eq(puts, 1);

    done(&fixture, RESULT_OK);
    fixture.asked[0] = '\0';
    actor_blob_drain_pump(fixture.drain, fixture.now);
    cr_expect_eq(strncmp(fixture.asked, "put w/a/execution.msgpack=099", 29), 0, "the newest wins");
    done(&fixture, RESULT_OK);
    fixture.asked[0] = '\0';
    actor_blob_drain_pump(fixture.drain, fixture.now);

    cr_expect_str_empty(fixture.asked, "nothing is left");
    const struct actor_blob_drain_counters *counters = actor_blob_drain_counters(fixture.drain);
    cr_expect_eq(actor_count_read(&counters->uploaded), 2);
    cr_expect_eq(actor_count_read(&counters->deduplicated), OVERWRITES - 2);
    cr_expect_eq(actor_count_read(&counters->oldest_since_ms), 0);
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), OVERWRITES);
    free(body);
    end(&fixture);
}

Test(blob_drain, tells_since_when_its_oldest_blob_is_on_its_way)
{
    struct fixture fixture;
    begin(&fixture);
    struct proto_record record = step("1", "one");
    fixture_log_write(&fixture.log, &record, 1);
    const struct actor_blob_drain_counters *counters = actor_blob_drain_counters(fixture.drain);
    cr_expect_eq(actor_count_read(&counters->oldest_since_ms), 0);

    actor_blob_drain_pump(fixture.drain, fixture.now);
    fixture.now.monotonic_ms += 5000;
    done(&fixture, RESULT_IO);

    cr_expect_eq(actor_count_read(&counters->oldest_since_ms), 1000, "it is still the same one");
    end(&fixture);
}
