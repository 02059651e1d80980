/*
 * journal_test.c: who is answered when, and what happens when the log takes nothing.
 */
#include <criterion/criterion.h>

#include "actors/fixture_log.h"
#include "actors/journal.h"

struct fixture {
    struct fixture_log log;
    struct fixture_sink shard;
    struct fixture_sink drain;
    struct actor_journal *journal;
    uint64_t now_ms;
};

static void begin(struct fixture *fixture, uint64_t bytes_max)
{
    *fixture = (struct fixture){.now_ms = 1000};
    fixture_log_init(&fixture->log);
    fixture_sink_init(&fixture->shard);
    fixture_sink_init(&fixture->drain);
    struct actor_journal_options options = {.log = &fixture->log.journal, .bytes_max = bytes_max};
    options.drains[PROTO_DRAIN_STATE] = &fixture->drain.sink;
    options.drained[PROTO_DRAIN_BUS] = PROTO_DRAIN_OFF;
    cr_assert_eq(actor_journal_new(&options, &fixture->journal), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_journal_free(fixture->journal);
    fixture_sink_clear(&fixture->shard);
    fixture_sink_clear(&fixture->drain);
    fixture_log_release(&fixture->log);
}

static struct proto_message *commit_of(struct fixture *fixture, uint64_t number,
                                       struct proto_message *next)
{
    struct proto_message *message = message_new(PROTO_COMMIT, 8);
    message->as.commit.records = message_keep(message, span_text("records"));
    message->reply_to = (struct proto_address){.sink = &fixture->shard.sink, .ticket = number};
    message->next = next;
    return message;
}

static uint64_t turn(struct fixture *fixture, struct proto_message *batch)
{
    return actor_journal_turn(fixture->journal, batch,
                              (struct actor_time){.unix_ms = 0, .monotonic_ms = fixture->now_ms});
}

static void drained(struct fixture *fixture, enum proto_drain drain, uint64_t durable)
{
    struct proto_message *message = message_new(PROTO_DRAINED, 0);
    message->as.drained =
        (struct proto_drained){.drain = drain, .durable = durable, .read = durable};
    turn(fixture, message);
}

Test(journal_actor, makes_all_commits_of_a_turn_durable_with_one_sync)
{
    struct fixture fixture;
    begin(&fixture, 1000);

    turn(&fixture, commit_of(&fixture, 1, commit_of(&fixture, 2, commit_of(&fixture, 3, NULL))));

    cr_assert_eq(fixture.log.syncs, 1);
    cr_assert_eq(fixture.shard.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(fixture.shard.messages[i]->reply_to.ticket, i + 1);
        cr_assert_eq(fixture.shard.messages[i]->as.committed.result, RESULT_OK);
        cr_assert_eq(fixture.shard.messages[i]->as.committed.position, i + 1);
    }
    turn(&fixture, NULL);
    cr_assert_eq(fixture.log.syncs, 1, "nothing to sync");
    end(&fixture);
}

Test(journal_actor, answers_a_drain_behind_the_commits_before_it)
{
    struct fixture fixture;
    begin(&fixture, 1 << 20);
    struct proto_message *drain = message_new(PROTO_DRAIN, 0);
    drain->reply_to = (struct proto_address){.sink = &fixture.shard.sink, .ticket = 7};

    turn(&fixture, commit_of(&fixture, 1, drain));

    cr_assert_eq(fixture.log.syncs, 1);
    cr_assert_eq(fixture.shard.count, 2);
    cr_assert_eq(fixture.shard.messages[0]->type, PROTO_COMMITTED);
    cr_assert_eq(fixture.shard.messages[1]->type, PROTO_DONE);
    cr_assert_eq(fixture.shard.messages[1]->reply_to.ticket, 7);
    turn(&fixture, NULL);
    cr_assert_eq(fixture.shard.count, 2, "once");
    end(&fixture);
}

Test(journal_actor, keeps_what_a_full_log_does_not_take_and_tries_again_in_order)
{
    struct fixture fixture;
    begin(&fixture, 1000);
    fixture.log.append_result = RESULT_FULL;

    uint64_t retry_ms = turn(&fixture, commit_of(&fixture, 1, commit_of(&fixture, 2, NULL)));

    cr_assert_eq(fixture.shard.count, 2);
    cr_assert_eq(fixture.shard.messages[0]->as.committed.result, RESULT_FULL);
    cr_assert_eq(actor_count_read(&actor_journal_counters(fixture.journal)->full), 1);
    fixture_sink_clear(&fixture.shard);
    fixture.log.append_result = RESULT_OK;
    turn(&fixture, NULL);
    cr_assert_eq(fixture.shard.count, 0, "not before its time");
    fixture.now_ms = retry_ms;
    turn(&fixture, commit_of(&fixture, 3, NULL));
    cr_assert_eq(fixture.shard.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(fixture.shard.messages[i]->reply_to.ticket, i + 1);
        cr_assert_eq(fixture.shard.messages[i]->as.committed.result, RESULT_OK);
    }
    cr_assert_eq(actor_count_read(&actor_journal_counters(fixture.journal)->full), 0);
    end(&fixture);
}

Test(journal_actor, puts_back_what_a_sync_had_no_room_for)
{
    struct fixture fixture;
    begin(&fixture, 1000);
    fixture.log.sync_result = RESULT_FULL;

    uint64_t retry_ms = turn(&fixture, commit_of(&fixture, 1, NULL));

    cr_assert_eq(fixture.shard.messages[0]->as.committed.result, RESULT_FULL);
    fixture_sink_clear(&fixture.shard);
    fixture.log.sync_result = RESULT_OK;
    fixture.now_ms = retry_ms;
    turn(&fixture, NULL);
    cr_assert_eq(fixture.shard.count, 1);
    cr_assert_eq(fixture.shard.messages[0]->as.committed.result, RESULT_OK);
    cr_assert_eq(fixture.log.synced, 1);
    end(&fixture);
}

Test(journal_actor, never_tries_again_after_a_sync_that_failed)
{
    struct fixture fixture;
    begin(&fixture, 1000);
    fixture.log.sync_result = RESULT_IO;

    cr_assert_eq(turn(&fixture, commit_of(&fixture, 1, NULL)), ACTOR_NEVER);
    fixture.log.sync_result = RESULT_OK;
    turn(&fixture, commit_of(&fixture, 2, NULL));

    cr_assert_eq(fixture.shard.count, 2);
    cr_assert_eq(fixture.shard.messages[1]->as.committed.result, RESULT_IO);
    cr_assert_eq(fixture.log.syncs, 1);
    cr_assert_eq(actor_count_read(&actor_journal_counters(fixture.journal)->failed), 1);
    end(&fixture);
}

Test(journal_actor, trims_behind_the_slowest_drain)
{
    struct fixture fixture;
    begin(&fixture, 1000);
    turn(&fixture, commit_of(&fixture, 1, commit_of(&fixture, 2, commit_of(&fixture, 3, NULL))));

    drained(&fixture, PROTO_DRAIN_STATE, 3);
    drained(&fixture, PROTO_DRAIN_BLOB, 2);
    cr_assert_eq(fixture.log.trimmed, 0, "the audit drain has said nothing yet");
    drained(&fixture, PROTO_DRAIN_AUDIT, 1);
    cr_assert_eq(fixture.log.trimmed, 1);
    drained(&fixture, PROTO_DRAIN_AUDIT, 3);

    cr_assert_eq(fixture.log.trimmed, 2);
    end(&fixture);
}

Test(journal_actor, tells_a_drain_once_until_it_has_read)
{
    struct fixture fixture;
    begin(&fixture, 1000);

    turn(&fixture, commit_of(&fixture, 1, NULL));
    turn(&fixture, commit_of(&fixture, 2, NULL));
    cr_assert_eq(fixture.drain.count, 1);
    drained(&fixture, PROTO_DRAIN_STATE, 1);
    cr_assert_eq(fixture.drain.count, 2, "there is more than it has read");
    drained(&fixture, PROTO_DRAIN_STATE, 2);

    cr_assert_eq(fixture.drain.count, 2);
    end(&fixture);
}

Test(journal_actor, refuses_starts_while_it_keeps_too_much)
{
    struct fixture fixture;
    begin(&fixture, 1);

    turn(&fixture, commit_of(&fixture, 1, commit_of(&fixture, 2, NULL)));
    cr_assert_eq(actor_count_read(&actor_journal_counters(fixture.journal)->full), 1);
    drained(&fixture, PROTO_DRAIN_STATE, 2);
    drained(&fixture, PROTO_DRAIN_BLOB, 2);
    drained(&fixture, PROTO_DRAIN_AUDIT, 2);

    cr_assert_eq(actor_count_read(&actor_journal_counters(fixture.journal)->full), 0);
    end(&fixture);
}
