/*
 * pending_test.c: what the journal is known to have that the blob tier has not, over a log in an
 * array.
 */
#include "actors/drain/pending.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/fixture_log.h"

struct fixture {
    struct fixture_log log;
    struct actor_pending *pending;
    struct arena arena;
    uint64_t version; /* of what was found last */
};

static void begin(struct fixture *fixture, uint32_t names_max)
{
    fixture_log_init(&fixture->log);
    arena_init(&fixture->arena, 4096, 1 << 20);
    struct actor_pending_options options = {.log = &fixture->log.journal, .names_max = names_max};
    cr_assert_eq(actor_pending_new(&options, &fixture->pending), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_pending_free(fixture->pending);
    arena_release(&fixture->arena);
    fixture_log_release(&fixture->log);
}

static struct proto_record step(const char *execution, const char *name, const char *body)
{
    return (struct proto_record){.kind = PROTO_RECORD_STEP,
                                 .workspace_id = span_text("w"),
                                 .execution_id = span_text(execution),
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

static struct proto_record forget(const char *execution)
{
    return (struct proto_record){.kind = PROTO_RECORD_FORGET,
                                 .workspace_id = span_text("w"),
                                 .execution_id = span_text(execution)};
}

static void write_one(struct fixture *fixture, struct proto_record record)
{
    fixture_log_write(&fixture->log, &record, 1);
}

/* "bytes", or what else there is to say. */
static const char *find(struct fixture *fixture, const char *execution, const char *name)
{
    const struct actor_blob_id id = {
        .workspace = span_text("w"), .execution_id = span_text(execution), .name = span_text(name)};
    struct span bytes;
    switch (actor_pending_find(fixture->pending, &id, &fixture->arena, &bytes, &fixture->version)) {
    case ACTOR_PENDING_NOTHING:
        return "(nothing)";
    case ACTOR_PENDING_GONE:
        return "(gone)";
    case ACTOR_PENDING_UNKNOWN:
        return "(unknown)";
    case ACTOR_PENDING_BYTES:
        break;
    }
    return (const char *)bytes.bytes; /* (a copy in an arena ends in a zero) */
}

Test(pending, has_the_newest_version_of_each_blob_until_the_drain_has_passed_it)
{
    struct fixture fixture;
    begin(&fixture, 1024);
    struct proto_record first[] = {step("a", "1", "one"), snapshot(PROTO_SNAPSHOT_WAITING, "old")};
    struct proto_record second[] = {snapshot(PROTO_SNAPSHOT_WAITING, "newer"),
                                    snapshot(PROTO_SNAPSHOT_ENDED, "newest"),
                                    snapshot(PROTO_SNAPSHOT_INTERIM, "never a blob")};
    fixture_log_write(&fixture.log, first, 2);
    fixture_log_write(&fixture.log, second, 3);
    cr_expect_str_eq(find(&fixture, "a", "1"), "(nothing)", "it has not been read yet");

    cr_assert_not(actor_pending_read(fixture.pending, 100));

    cr_expect_eq(actor_pending_known(fixture.pending), 2);
    cr_expect_str_eq(find(&fixture, "a", "1"), "one");
    cr_expect_eq(fixture.version, 1);
    cr_expect_str_eq(find(&fixture, "a", "execution"), "newest");
    cr_expect_eq(fixture.version, 2);
    cr_expect_str_eq(find(&fixture, "b", "execution"), "(nothing)");
    actor_pending_passed(fixture.pending, 1);
    cr_expect_str_eq(find(&fixture, "a", "1"), "(nothing)");
    cr_expect_str_eq(find(&fixture, "a", "execution"), "newest");
    actor_pending_passed(fixture.pending, 2);
    cr_expect_str_eq(find(&fixture, "a", "execution"), "(nothing)");
    end(&fixture);
}

Test(pending, knows_what_was_deleted_and_what_came_after_that)
{
    struct fixture fixture;
    begin(&fixture, 1024);
    const struct actor_blob_id a = {.workspace = span_text("w"), .execution_id = span_text("a")};
    const struct actor_blob_id b = {.workspace = span_text("w"), .execution_id = span_text("b")};
    write_one(&fixture, step("a", "1", "one"));
    write_one(&fixture, step("b", "1", "of b"));
    write_one(&fixture, forget("a"));
    struct proto_record again[] = {forget("a"), step("a", "2", "two")};
    fixture_log_write(&fixture.log, again, 2);

    (void)actor_pending_read(fixture.pending, 3);

    cr_expect_str_eq(find(&fixture, "a", "1"), "(gone)");
    cr_expect_str_eq(find(&fixture, "a", "never there"), "(gone)");
    cr_expect_str_eq(find(&fixture, "b", "1"), "of b");
    (void)actor_pending_read(fixture.pending, 1);
    cr_expect_str_eq(find(&fixture, "a", "1"), "(gone)");
    cr_expect_str_eq(find(&fixture, "a", "2"), "two", "in one batch the later record counts");
    cr_expect(actor_pending_forgotten(fixture.pending, &a));
    cr_expect_not(actor_pending_forgotten(fixture.pending, &b));
    actor_pending_passed(fixture.pending, 4);
    cr_expect_not(actor_pending_forgotten(fixture.pending, &a));
    end(&fixture);
}

Test(pending, reads_in_slices_and_never_what_the_drain_has_passed)
{
    struct fixture fixture;
    begin(&fixture, 1024);
    for (int i = 0; i < 10; i++) {
        write_one(&fixture, step("a", "1", i == 4 ? "the fifth" : "another"));
    }

    actor_pending_passed(fixture.pending, 4);
    cr_expect(actor_pending_read(fixture.pending, 1), "there is more");

    cr_expect_eq(actor_pending_known(fixture.pending), 5);
    cr_expect_str_eq(find(&fixture, "a", "1"), "the fifth");
    cr_expect_not(actor_pending_read(fixture.pending, 5));
    end(&fixture);
}

Test(pending, knows_nothing_while_it_has_no_room_and_all_when_it_has_again)
{
    enum { NAMES = 100, ROOM = 1024 };
    struct fixture fixture;
    static char names[NAMES][16];
    struct proto_record records[NAMES];
    begin(&fixture, ROOM);
    for (int batch = 0; batch < 8; batch++) {
        for (int i = 0; i < NAMES; i++) {
            static char executions[8][16];
            snprintf(executions[batch], sizeof executions[0], "e%d", batch);
            snprintf(names[i], sizeof names[0], "%d", i);
            records[i] = step(executions[batch], names[i], "x");
        }
        fixture_log_write(&fixture.log, records, NAMES);
    }

    (void)actor_pending_read(fixture.pending, 100);

    cr_expect_eq(actor_pending_known(fixture.pending), 0, "half of 1,024 places are used at most");
    cr_expect_str_eq(find(&fixture, "e0", "1"), "(unknown)");
    actor_pending_passed(fixture.pending, 8);
    cr_expect_eq(actor_pending_known(fixture.pending), 8);
    write_one(&fixture, step("e9", "1", "after"));
    (void)actor_pending_read(fixture.pending, 100);
    cr_expect_str_eq(find(&fixture, "e9", "1"), "after");
    cr_expect_str_eq(find(&fixture, "e0", "1"), "(nothing)");
    end(&fixture);
}

Test(pending, takes_no_more_room_than_the_names_that_are_pending_need)
{
    struct fixture fixture;
    static char names[200][16];
    begin(&fixture, 1024);
    for (int i = 0; i < 200; i++) {
        struct proto_record records[20];
        for (int j = 0; j < 20; j++) {
            snprintf(names[j], sizeof names[0], "%d", i * 20 + j);
            records[j] = step("a", names[j], "x");
        }
        fixture_log_write(&fixture.log, records, 20);
        (void)actor_pending_read(fixture.pending, 1);
        actor_pending_passed(fixture.pending, i < 10 ? 0 : (uint64_t)i - 10);

        cr_assert_eq(actor_pending_known(fixture.pending), (uint64_t)i + 1);
    }
    cr_expect_str_eq(find(&fixture, "a", "3999"), "x");
    cr_expect_str_eq(find(&fixture, "a", "3790"), "x");
    cr_expect_str_eq(find(&fixture, "a", "100"), "(nothing)");
    actor_pending_passed(fixture.pending, 200);
    write_one(&fixture, step("a", "3999", "afresh"));
    (void)actor_pending_read(fixture.pending, 1);
    cr_expect_str_eq(find(&fixture, "a", "3999"), "afresh");
    cr_expect_str_eq(find(&fixture, "a", "3790"), "(nothing)");
    end(&fixture);
}
