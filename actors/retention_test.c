/* retention_test.c: what is looked for, and that only what was listed is asked to be deleted. */
#include "actors/retention.h"

#include <criterion/criterion.h>

#include "actors/fixture_log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

struct fixture {
    struct fixture_sink router, self;
    struct actor_retention *retention;
    struct arena arena;
    uint64_t now_ms;
};

static void begin(struct fixture *fixture, uint64_t completed_ms, uint64_t failed_ms)
{
    *fixture = (struct fixture){.now_ms = 1000};
    fixture_sink_init(&fixture->router);
    fixture_sink_init(&fixture->self);
    arena_init(&fixture->arena, 4096, 1 << 20);
    const struct actor_retention_options options = {.self = &fixture->self.sink,
                                                    .router = &fixture->router.sink,
                                                    .completed_ms = completed_ms,
                                                    .failed_ms = failed_ms};
    cr_assert_eq(actor_retention_new(&options, &fixture->retention), RESULT_OK);
}

static void end(struct fixture *fixture)
{
    actor_retention_free(fixture->retention);
    fixture_sink_clear(&fixture->router);
    fixture_sink_clear(&fixture->self);
    arena_release(&fixture->arena);
}

static uint64_t turn(struct fixture *fixture, struct proto_message *message)
{
    return actor_retention_turn(
        fixture->retention, message,
        (struct actor_time){.unix_ms = 1000000, .monotonic_ms = fixture->now_ms});
}

/* The request that was sent last but `back`. */
static struct span asked(const struct fixture *fixture, uint32_t back)
{
    cr_assert_gt(fixture->router.count, back);
    return fixture->router.messages[fixture->router.count - 1 - back]->as.request.body;
}

static bool asks(struct span request, const char *field, const char *text)
{
    return span_is(wire_string_or(wire_find_text(request, field), ""), text);
}

/* The router's answer to request number `index`. */
static uint64_t answer(struct fixture *fixture, uint32_t index, bool ok, const char *json)
{
    struct span body;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 8, &fixture->arena, &body, &error), RESULT_OK);
    struct proto_message *reply = message_new(PROTO_REPLY, body.count);
    reply->as.reply = (struct proto_reply){.ok = ok, .body = message_keep(reply, body)};
    reply->reply_to.ticket = fixture->router.messages[index]->reply_to.ticket;
    return turn(fixture, reply);
}

Test(retention, lists_each_lifecycle_that_has_an_age_and_then_rests)
{
    struct fixture fixture;
    begin(&fixture, 50000, 90000);

    cr_expect_eq(turn(&fixture, NULL), ACTOR_NEVER);
    cr_expect(asks(asked(&fixture, 0), "lifecycle", "Completed"));
    cr_expect(asks(asked(&fixture, 0), "endedBefore", "1970-01-01T00:15:50.000Z"));
    cr_expect_eq(answer(&fixture, 0, true, "{\"executions\":[]}"), ACTOR_NEVER);
    cr_expect(asks(asked(&fixture, 0), "lifecycle", "Failed"));
    cr_expect(asks(asked(&fixture, 0), "endedBefore", "1970-01-01T00:15:10.000Z"));

    cr_expect_eq(answer(&fixture, 1, true, "{\"executions\":[]}"), fixture.now_ms + 5000);
    cr_expect_eq(fixture.router.count, 2);
    end(&fixture);
}

Test(retention, never_lists_what_is_kept_for_ever)
{
    struct fixture fixture;
    begin(&fixture, 0, 90000);

    (void)turn(&fixture, NULL);

    cr_expect(asks(asked(&fixture, 0), "lifecycle", "Failed"));
    (void)answer(&fixture, 0, true, "{\"executions\":[]}");
    cr_expect_eq(fixture.router.count, 1);
    end(&fixture);
}

Test(retention, asks_the_owner_of_each_to_delete_it_if_it_has_ended)
{
    struct fixture fixture;
    begin(&fixture, 50000, 0);
    (void)turn(&fixture, NULL);

    (void)answer(&fixture, 0, true,
                 "{\"executions\":[{\"executionId\":\"a\",\"workspaceId\":\"w\"},"
                 "{\"executionId\":\"b\",\"workspaceId\":\"w\"}]}");

    cr_assert_eq(fixture.router.count, 3);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect(asks(asked(&fixture, i), "op", "delete"));
        cr_expect(asks(asked(&fixture, i), "executionId", i == 0 ? "b" : "a"));
        cr_expect(asks(asked(&fixture, i), "workspaceId", "w"));
        cr_expect(wire_bool_or(wire_find_text(asked(&fixture, i), "ifEnded"), false));
    }
    cr_expect_eq(answer(&fixture, 1, true, "{}"), ACTOR_NEVER);
    cr_expect_neq(answer(&fixture, 2, false, "{}"), ACTOR_NEVER);
    cr_expect_eq(actor_count_read(&actor_retention_counters(fixture.retention)->deleted), 1);
    end(&fixture);
}

Test(retention, rests_when_the_index_fails)
{
    struct fixture fixture;
    begin(&fixture, 50000, 0);
    (void)turn(&fixture, NULL);

    cr_expect_eq(answer(&fixture, 0, false, "{}"), fixture.now_ms + 5000);

    fixture.now_ms += 5000;
    (void)turn(&fixture, NULL);
    cr_expect_eq(fixture.router.count, 2);
    end(&fixture);
}
