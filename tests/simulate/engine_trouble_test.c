/*
 * engine_trouble_test.c: the engine when its disk is full, its journal is damaged, or a module
 * takes its time.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/wire/reader.h"
#include "tests/simulate/engine_world.h"

static struct span error_of(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
}

static int64_t state_of(struct span reply)
{
    return wire_int_or(wire_find_text(reply, "state"), -1);
}

static struct engine_world *world_of(uint64_t seed)
{
    struct engine_world *world =
        engine_world_new(&(struct engine_world_options){.seed = seed, .shard_count = 2});
    cr_assert(engine_world_start(world));
    return world;
}

static struct span call(struct engine_world *world, const char *op, const char *id)
{
    return engine_world_await(
        world,
        engine_world_ask(world, "{\"op\":\"%s\",\"process\":\"approval\",\"executionId\":\"%s\"}",
                         op, id));
}

Test(engine_trouble, full_disk_refuses_starts_and_loses_nothing_when_there_is_room_again)
{
    struct engine_world *world = world_of(1);
    cr_assert_eq(state_of(call(world, "start", "before")), 3);
    power_cut_files_set_full(engine_world_disk(world), true);
    int taken = 0;
    struct span refused = SPAN_EMPTY;
    char id[32];

    /* The file that is open has room left; then a start is the first that finds none. */
    for (int i = 0; i < 200 && error_of(refused).count == 0; i++, taken++) {
        snprintf(id, sizeof id, "while-full-%d", i);
        refused = call(world, "start", id);
    }

    cr_assert(span_is(error_of(refused), "StorageFailed"), "%.*s", SPAN_ARG(error_of(refused)));
    cr_assert(span_is(error_of(call(world, "start", "later")), "StorageFailed"));
    power_cut_files_set_full(engine_world_disk(world), false);
    engine_world_idle(world, 3000);
    cr_assert_eq(state_of(call(world, "start", "after")), 3);
    cr_assert_eq(state_of(call(world, "get", id)), 3,
                 "what was accepted when the disk was full is there");
    cr_assert_eq(state_of(call(world, "callback", "before")), 40);
    engine_world_cut(world, POWER_CUT_LOSES_ALL);
    cr_assert(engine_world_start(world));
    cr_assert_eq(state_of(call(world, "callback", id)), 40);
    cr_assert_eq(state_of(call(world, "callback", "after")), 40);
    engine_world_free(world);
}

Test(engine_trouble, what_is_deleted_is_not_restarted_from_what_was_read_before)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct engine_world *world = world_of(seed);
        cr_assert_eq(state_of(call(world, "start", "x")), 3);
        cr_assert_eq(state_of(call(world, "callback", "x")), 40);
        engine_world_idle(world, 3000); /* only index and blob know it now */

        uint64_t delete = engine_world_ask(world, "{\"op\":\"delete\",\"executionId\":\"x\"}");
        uint64_t restart = engine_world_ask(world, "{\"op\":\"restart\",\"executionId\":\"x\"}");
        struct span deleted = engine_world_await(world, delete);
        struct span restarted = engine_world_await(world, restart);

        cr_assert(wire_bool_or(wire_find_text(deleted, "deleted"), false), "seed %d", (int)seed);
        cr_assert(state_of(restarted) == 3 || error_of(restarted).count > 0);
        struct span found = call(world, "get", "x");
        cr_assert(span_is(error_of(found), "SessionNotFound"), "seed %d: state %d", (int)seed,
                  (int)state_of(found));
        engine_world_free(world);
    }
}

static struct span message_of(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "message"), "");
}

static bool was_not_begun(struct span reply)
{
    struct span text = message_of(reply);
    struct span end = span_text("nothing was done");
    return text.count > end.count &&
           span_equal(span_of(text.bytes + text.count - end.count, end.count), end);
}

/*
 * Many act at once when the disk is full. Some are taken before anybody knows, and are kept; who is
 * told that nothing was done finds, when there is room again, that nothing was done.
 */
static void full_disk_tells_the_truth(uint64_t seed, int *begun, int *not_begun)
{
    enum { EXECUTIONS = 120 };
    struct engine_world *world = world_of(seed);
    struct span replies[EXECUTIONS];
    uint64_t tickets[EXECUTIONS];
    char id[32];
    for (int i = 0; i < EXECUTIONS; i++) {
        snprintf(id, sizeof id, "e-%d", i);
        cr_assert_eq(state_of(call(world, "start", id)), 3);
    }
    engine_world_idle(world, 3000);
    power_cut_files_set_full(engine_world_disk(world), true);
    for (int i = 0; i < EXECUTIONS; i++) {
        tickets[i] = engine_world_ask(
            world, "{\"op\":\"callback\",\"executionId\":\"e-%d\",\"payload\":{\"text\":\"%0*d\"}}",
            i, 900, 0);
        for (int step = 0; step < 4; step++) {
            (void)engine_world_step(world);
        }
    }
    for (int i = 0; i < EXECUTIONS; i++) {
        replies[i] = engine_world_await(world, tickets[i]);
    }
    power_cut_files_set_full(engine_world_disk(world), false);
    engine_world_idle(world, 3000);

    for (int i = 0; i < EXECUTIONS; i++) {
        snprintf(id, sizeof id, "e-%d", i);
        bool refused = was_not_begun(replies[i]);
        *begun += refused ? 0 : 1;
        *not_begun += refused ? 1 : 0;
        cr_expect_eq(state_of(call(world, "get", id)), refused ? 3 : 40, "%s of seed %d", id,
                     (int)seed);
    }
    engine_world_free(world);
}

Test(engine_trouble, full_disk_does_nothing_that_it_says_it_has_not_done)
{
    int begun = 0;
    int not_begun = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        full_disk_tells_the_truth(seed, &begun, &not_begun);
    }
    cr_assert_gt(begun, 0);
    cr_assert_gt(not_begun, 0);
}

Test(engine_trouble, full_disk_lets_nobody_wait_for_an_answer)
{
    struct engine_world *world = world_of(9);
    power_cut_files_set_full(engine_world_disk(world), true);
    struct span refused = SPAN_EMPTY;
    char id[32];
    for (int i = 0; i < 200 && error_of(refused).count == 0; i++) {
        snprintf(id, sizeof id, "full-%d", i);
        refused = call(world, "start", id);
    }
    cr_assert(span_is(error_of(refused), "StorageFailed"));

    cr_assert(span_is(error_of(call(world, "suspend", id)), "StorageFailed"));
    cr_assert(span_is(error_of(call(world, "get", id)), "StorageFailed"),
              "its state is not durable: nobody is told, and nobody waits");
    engine_world_idle(world, 5000);
    power_cut_files_set_full(engine_world_disk(world), false);
    engine_world_idle(world, 3000);

    cr_assert_eq(state_of(call(world, "get", id)), 3);
    cr_assert_eq(state_of(call(world, "callback", id)), 40);
    engine_world_free(world);
}

Test(engine_trouble, long_call_does_not_keep_the_journal_from_moving_on)
{
    struct engine_world *world = world_of(2);
    engine_world_hold_modules(world, true);
    uint64_t slow =
        engine_world_ask(world, "{\"op\":\"start\",\"process\":\"two\",\"executionId\":\"slow\"}");
    char id[32];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 10; i++) {
            snprintf(id, sizeof id, "e-%d-%d", round, i);
            call(world, "start", id);
            call(world, "callback", id);
        }
        engine_world_idle(world, 2000);
    }

    cr_assert_gt(engine_world_snapshots_asked(world), 0);
    cr_assert_lt(engine_world_journal_bytes(world), 600 * 1024, "%d bytes",
                 (int)engine_world_journal_bytes(world));
    engine_world_cut(world, POWER_CUT_LOSES_ALL);
    engine_world_hold_modules(world, false);
    cr_assert(engine_world_start(world));
    struct span got = call(world, "get", "slow");
    for (int i = 0; i < 200 && state_of(got) != 40; i++) {
        engine_world_idle(world, 10);
        got = call(world, "get", "slow");
    }
    cr_assert_eq(state_of(got), 40);
    cr_assert_eq(engine_world_reply(world, slow).count, 0, "its caller was gone");
    cr_assert_eq(engine_world_calls(world, "slow", "call-1"), 2, "made again after the cut");
    cr_assert_eq(engine_world_corrupt(world), 0);
    engine_world_free(world);
}

/* Flips a bit in a batch of the journal that the state table has not taken yet. */
static void hurt_journal(struct engine_world *world, size_t offset_from_end)
{
    size_t count = 0;
    uint8_t *bytes =
        power_cut_files_bytes(engine_world_disk(world), "0000000000000000.log", &count);
    cr_assert_not_null(bytes, "the journal's first file is named by its position");
    while (count > 0 && bytes[count - 1] == 0) {
        count--;
    }
    cr_assert_gt(count, offset_from_end);
    bytes[count - offset_from_end] ^= 0x10;
}

Test(engine_trouble, damaged_records_are_reported_and_what_follows_is_still_served)
{
    struct engine_world *world = world_of(3);
    cr_assert_eq(state_of(call(world, "start", "first")), 3);
    cr_assert_eq(state_of(call(world, "start", "second")), 3);
    cr_assert_eq(state_of(call(world, "start", "third")), 3);
    engine_world_kill(world);
    hurt_journal(world, 6000);

    cr_assert(engine_world_start(world));

    cr_assert_gt(engine_world_corrupt(world), 0);
    cr_assert_eq(state_of(call(world, "callback", "third")), 40);
    engine_world_free(world);
}

/* Found by the simulator: the end dropped the call, but the execution stayed in memory as if it
 * still waited for the answer, and the restart recorded events behind a snapshot that no table
 * kept. */
Test(engine_trouble, what_was_aborted_in_a_call_and_restarted_survives_a_crash)
{
    struct engine_world *world = world_of(3);
    engine_world_hold_modules(world, true);
    struct span started = engine_world_await(
        world,
        engine_world_ask(world, "{\"op\":\"start\",\"process\":\"two\",\"wait\":\"accepted\","
                                "\"executionId\":\"again\"}"));
    cr_assert(wire_bool_or(wire_find_text(started, "ok"), false));
    cr_assert_eq(state_of(call(world, "abort", "again")), 8);
    engine_world_idle(world, 3000);

    struct span restarted = engine_world_await(
        world, engine_world_ask(
                   world, "{\"op\":\"restart\",\"wait\":\"accepted\",\"executionId\":\"again\"}"));
    cr_assert(wire_bool_or(wire_find_text(restarted, "ok"), false));
    engine_world_idle(world, 3000);
    engine_world_kill(world);

    cr_assert(engine_world_start(world));
    cr_expect_eq(engine_world_corrupt(world), 0);
    cr_expect_eq(state_of(call(world, "get", "again")) & 1, 1, "it runs");
    engine_world_free(world);
}

static void start_and_end(struct engine_world *world, const char *name, int executions)
{
    char id[32];
    for (int i = 0; i < executions; i++) {
        snprintf(id, sizeof id, "%s-%d", name, i);
        cr_assert_eq(state_of(call(world, "start", id)), 3);
        cr_assert_eq(state_of(call(world, "callback", id)), 40);
    }
}

static int ends_indexed(struct engine_world *world, const char *name, int executions)
{
    char id[32];
    int indexed = 0;
    for (int i = 0; i < executions; i++) {
        snprintf(id, sizeof id, "%s-%d", name, i);
        indexed += engine_world_indexed_completed(world, id) ? 1 : 0;
    }
    return indexed;
}

/* Found by the simulator: a kill leaves what the index was given, and a restart took that for
 * durable. The journal let go of it, and a power cut took what the index had not flushed. */
Test(engine_trouble, index_has_all_after_a_kill_a_trim_and_a_power_cut)
{
    enum { EXECUTIONS = 60 };
    struct engine_world *world = world_of(4);
    start_and_end(world, "early", EXECUTIONS);
    engine_world_idle(world, 500);
    cr_assert_eq(ends_indexed(world, "early", EXECUTIONS), EXECUTIONS, "given, not flushed");
    uint64_t kept = engine_world_journal_bytes(world);
    engine_world_kill(world);

    cr_assert(engine_world_start(world));
    engine_world_idle(world, 3000);
    cr_assert_lt(engine_world_journal_bytes(world), kept / 2, "the journal is trimmed");
    start_and_end(world, "late", EXECUTIONS); /* a new file makes that durable */
    engine_world_cut(world, POWER_CUT_LOSES_ALL);
    cr_assert(engine_world_start(world));
    engine_world_idle(world, 3000);

    cr_expect_eq(ends_indexed(world, "early", EXECUTIONS), EXECUTIONS);
    cr_expect_eq(ends_indexed(world, "late", EXECUTIONS), EXECUTIONS);
    engine_world_free(world);
}
