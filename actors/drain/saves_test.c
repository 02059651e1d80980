/*
 * saves_test.c: which blobs go ahead of the drain, what the drain makes of that, and in which order
 * a store that takes its time gets them. Over a log in an array and a port that writes down what it
 * is asked.
 */
#include "actors/drain/saves.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/drain/blob_drain.h"
#include "actors/fixture_log.h"

enum { ASKED_MAX = 64 };

struct fixture {
    struct storage_blob blob; /* first: the port's self */
    struct proto_sink answers;
    struct fixture_log log;
    struct fixture_sink replies;
    struct actor_pending *pending;
    struct actor_saves *saves;
    struct actor_blob_drain *drain;
    struct actor_time now;
    char asked[4096];
    uint64_t tickets[ASKED_MAX]; /* of puts that are awaited */
    uint32_t put_count;
    enum result put_result;
};

static void note(struct fixture *fixture, const char *what, struct span name, struct span bytes)
{
    size_t used = strlen(fixture->asked);
    snprintf(fixture->asked + used, sizeof fixture->asked - used, "%s %.*s=%.*s;", what,
             SPAN_ARG(name), SPAN_ARG(bytes));
}

static enum result put(struct storage_blob *self, const struct storage_blob_item *items,
                       size_t count, struct proto_address reply_to)
{
    struct fixture *fixture = (struct fixture *)self;
    if (items[0].awaited && fixture->put_result == RESULT_OK) {
        fixture->tickets[fixture->put_count++] = reply_to.ticket;
    }
    for (size_t i = 0; i < count; i++) {
        note(fixture, items[i].awaited ? "save" : "put", items[i].name, items[i].bytes);
    }
    return items[0].awaited ? fixture->put_result : RESULT_OK;
}

static enum result remove_all(struct storage_blob *self, struct span prefix,
                              struct proto_address reply_to)
{
    (void)reply_to;
    note((struct fixture *)self, "remove", prefix, span_text(""));
    return RESULT_OK;
}

static const struct storage_blob_ops ops = {.put = put, .remove = remove_all};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.blob.ops = &ops, .now = {.monotonic_ms = 1000}};
    fixture_log_init(&fixture->log);
    fixture_sink_init(&fixture->replies);
    struct actor_pending_options options = {.log = &fixture->log.journal, .names_max = 4096};
    cr_assert_eq(actor_pending_new(&options, &fixture->pending), RESULT_OK);
    cr_assert_eq(
        actor_saves_new(&fixture->blob, &fixture->answers, fixture->pending, &fixture->saves),
        RESULT_OK);
    struct actor_blob_drain_options drain = {
        .blob = &fixture->blob, .log = &fixture->log.journal, .saves = fixture->saves};
    cr_assert_eq(actor_blob_drain_new(&drain, &fixture->drain), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    fixture_sink_clear(&fixture->replies);
    actor_blob_drain_free(fixture->drain);
    actor_saves_free(fixture->saves);
    actor_pending_free(fixture->pending);
    fixture_log_release(&fixture->log);
}

static void snapshot(struct fixture *fixture, const char *id, const char *body)
{
    struct proto_record record = {.kind = PROTO_RECORD_SNAPSHOT,
                                  .workspace_id = span_text("w"),
                                  .execution_id = span_text(id),
                                  .number = PROTO_SNAPSHOT_WAITING,
                                  .body = span_text(body)};
    fixture_log_write(&fixture->log, &record, 1);
    (void)actor_pending_read(fixture->pending, 100);
}

static void forget(struct fixture *fixture, const char *id)
{
    struct proto_record record = {
        .kind = PROTO_RECORD_FORGET, .workspace_id = span_text("w"), .execution_id = span_text(id)};
    fixture_log_write(&fixture->log, &record, 1);
    (void)actor_pending_read(fixture->pending, 100);
}

/* Somebody waits for what was written last. */
static bool await(struct fixture *fixture, const char *id)
{
    struct proto_message *message = message_new(PROTO_AWAIT, 8);
    cr_assert_eq(execution_id_parse(span_text(id), &message->as.await.execution_id), RESULT_OK);
    message->as.await.workspace = message_keep(message, span_text("w"));
    message->as.await.position = fixture->log.synced;
    message->as.await.since_ms = fixture->now.monotonic_ms;
    message->reply_to = (struct proto_address){.sink = &fixture->replies.sink};
    bool taken = actor_saves_take(fixture->saves, message);
    if (!taken) {
        message_free(message);
    }
    return taken;
}

static void saved(struct fixture *fixture, uint32_t which, enum result result)
{
    struct proto_message *done = message_new(PROTO_PORT_DONE, 0);
    done->as.port_done.result = result;
    done->reply_to.ticket = fixture->tickets[which];
    cr_assert(actor_saves_has(fixture->saves, done));
    actor_saves_done(fixture->saves, done);
    cr_assert_not(actor_saves_has(fixture->saves, done));
    message_free(done);
}

static void pump(struct fixture *fixture)
{
    actor_blob_drain_pump(fixture->drain, fixture->now);
}

static void drained(struct fixture *fixture, enum result result)
{
    actor_blob_drain_done(fixture->drain, &(struct proto_port_done){.result = result},
                          fixture->now);
    actor_pending_passed(fixture->pending, actor_blob_drain_stored(fixture->drain));
    actor_saves_passed(fixture->saves, actor_blob_drain_stored(fixture->drain));
}

Test(saves, go_ahead_of_the_drain_which_leaves_out_what_was_stored_and_all_older_versions)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "b", "first");
    pump(&fixture); /* and the store takes its time over that */
    snapshot(&fixture, "a", "old");
    snapshot(&fixture, "c", "between");
    snapshot(&fixture, "a", "new");

    cr_assert(await(&fixture, "a"));
    saved(&fixture, 0, RESULT_OK);

    cr_assert_eq(fixture.replies.count, 1);
    cr_expect_eq(fixture.replies.messages[0]->as.done.result, RESULT_OK);
    drained(&fixture, RESULT_OK);
    pump(&fixture);
    drained(&fixture, RESULT_OK);
    cr_expect_str_eq(fixture.asked, "put w/b/execution.msgpack=first;"
                                    "save w/a/execution.msgpack=new;"
                                    "put w/c/execution.msgpack=between;");
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), 4);
    end(&fixture);
}

Test(saves, are_followed_by_newer_versions)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "awaited");
    cr_assert(await(&fixture, "a"));
    saved(&fixture, 0, RESULT_OK);
    snapshot(&fixture, "a", "newer");

    pump(&fixture);

    cr_expect_str_eq(fixture.asked, "save w/a/execution.msgpack=awaited;"
                                    "put w/a/execution.msgpack=newer;");
    drained(&fixture, RESULT_OK);
    end(&fixture);
}

Test(saves, hold_the_drain_before_older_bytes_until_they_have_ended)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "old");
    snapshot(&fixture, "a", "new");
    cr_assert(await(&fixture, "a"));

    pump(&fixture);

    cr_expect_str_eq(fixture.asked, "save w/a/execution.msgpack=new;");
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), 0);
    saved(&fixture, 0, RESULT_OK);
    pump(&fixture);
    cr_expect_str_eq(fixture.asked, "save w/a/execution.msgpack=new;", "nothing is left to put");
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), 2);
    end(&fixture);
}

Test(saves, that_fail_are_answered_and_left_to_the_drain)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "bytes");
    cr_assert(await(&fixture, "a"));

    saved(&fixture, 0, RESULT_IO);

    cr_assert_eq(fixture.replies.count, 1);
    cr_expect_eq(fixture.replies.messages[0]->as.done.result, RESULT_IO);
    pump(&fixture);
    cr_expect_str_eq(fixture.asked,
                     "save w/a/execution.msgpack=bytes;put w/a/execution.msgpack=bytes;");
    drained(&fixture, RESULT_OK);
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), 1);
    end(&fixture);
}

Test(saves, win_over_a_batch_of_the_drain_that_failed_and_is_tried_again)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "old");
    pump(&fixture);
    drained(&fixture, RESULT_IO);
    snapshot(&fixture, "a", "new");
    cr_assert(await(&fixture, "a"));
    saved(&fixture, 0, RESULT_OK);

    fixture.now.monotonic_ms += 60000;
    pump(&fixture);
    pump(&fixture);

    cr_expect_str_eq(fixture.asked,
                     "put w/a/execution.msgpack=old;save w/a/execution.msgpack=new;");
    cr_expect_eq(actor_blob_drain_stored(fixture.drain), 2);
    end(&fixture);
}

Test(saves, do_not_overtake_a_deletion_and_are_not_overtaken_by_one)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "first life");
    cr_assert(await(&fixture, "a"));
    forget(&fixture, "a");
    pump(&fixture);
    cr_expect_str_eq(fixture.asked, "save w/a/execution.msgpack=first life;", "the removal waits");
    saved(&fixture, 0, RESULT_OK);
    snapshot(&fixture, "a", "second life");
    cr_expect_not(await(&fixture, "a"), "the deletion would take it away");

    pump(&fixture);
    drained(&fixture, RESULT_OK);

    cr_expect(await(&fixture, "a"), "now it may go");
    cr_expect_str_eq(fixture.asked, "save w/a/execution.msgpack=first life;remove w/a/=;"
                                    "save w/a/execution.msgpack=second life;");
    end(&fixture);
}

Test(saves, are_given_up_by_those_that_wait_and_go_on)
{
    struct fixture fixture;
    begin(&fixture);
    snapshot(&fixture, "a", "bytes");
    cr_assert(await(&fixture, "a"));
    cr_expect_eq(actor_saves_since_ms(fixture.saves), 1000);

    actor_saves_give_up(fixture.saves, 999);
    cr_expect_eq(fixture.replies.count, 0);
    actor_saves_give_up(fixture.saves, 1000);

    cr_assert_eq(fixture.replies.count, 1);
    cr_expect_eq(fixture.replies.messages[0]->as.done.result, RESULT_TIMEOUT);
    cr_expect_eq(actor_saves_since_ms(fixture.saves), UINT64_MAX);
    saved(&fixture, 0, RESULT_OK);
    cr_expect_eq(fixture.replies.count, 1, "one answer each");
    cr_expect_eq(actor_saves_look(fixture.saves, span_text("w/a/execution.msgpack"), 1),
                 ACTOR_SAVED_STORED);
    end(&fixture);
}

Test(saves, are_so_many_at_once_and_none_when_the_port_takes_none)
{
    struct fixture fixture;
    char id[16];
    begin(&fixture);
    uint32_t taken = 0;
    for (int i = 0; i < 30; i++) {
        snprintf(id, sizeof id, "e%d", i);
        snapshot(&fixture, id, "x");
        taken += await(&fixture, id);
    }

    cr_expect_eq(taken, 20);
    saved(&fixture, 3, RESULT_OK);
    cr_expect(await(&fixture, "e25"));
    saved(&fixture, 4, RESULT_OK);
    fixture.put_result = RESULT_AGAIN;
    cr_expect_not(await(&fixture, "e26"));
    cr_expect_eq(actor_saves_look(fixture.saves, span_text("w/e26/execution.msgpack"), 27),
                 ACTOR_SAVED_NOT);
    end(&fixture);
}
