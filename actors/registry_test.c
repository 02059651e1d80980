/*
 * registry_test.c: deploys when the journal takes nothing, and when too many come.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/fixture_log.h"
#include "actors/registry.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

static const char bpmn[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"p\" "
    "isExecutable=\"true\"><startEvent id=\"s\"/><endEvent id=\"e\"/><sequenceFlow id=\"f\" "
    "sourceRef=\"s\" targetRef=\"e\"/></process></definitions>";

struct fixture {
    struct actor_registry *registry;
    struct fixture_sink self, journal, shard, client;
    struct proto_sink *shards[1];
    struct arena arena;
};

static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture_sink_init(&fixture->self);
    fixture_sink_init(&fixture->journal);
    fixture_sink_init(&fixture->shard);
    fixture_sink_init(&fixture->client);
    fixture->shards[0] = &fixture->shard.sink;
    struct actor_registry_options options = {.self = &fixture->self.sink,
                                             .journal = &fixture->journal.sink,
                                             .shards = fixture->shards,
                                             .shard_count = 1};
    cr_assert_eq(actor_registry_new(&options, &fixture->registry), RESULT_OK);
    arena_init(&fixture->arena, 4096, 64 << 20);
}

static void end(struct fixture *fixture)
{
    actor_registry_free(fixture->registry);
    fixture_sink_clear(&fixture->journal);
    fixture_sink_clear(&fixture->shard);
    fixture_sink_clear(&fixture->client);
    arena_release(&fixture->arena);
}

static void turn(struct fixture *fixture, struct proto_message *message)
{
    struct actor_time now = {.monotonic_ms = 1, .unix_ms = 1};
    actor_registry_turn(fixture->registry, message, now);
}

static void ask(struct fixture *fixture, enum proto_operation operation, const char *name,
                struct span content)
{
    struct wire_writer writer;
    arena_clear(&fixture->arena);
    wire_writer_init(&writer, &fixture->arena, 1024 + content.count);
    wire_write_map(&writer, 2);
    wire_pair_text(&writer, "name", name);
    wire_pair_string(&writer, "content", content);
    struct span body = wire_writer_span(&writer);
    struct proto_message *message = message_new(PROTO_REQUEST, body.count);
    message->as.request =
        (struct proto_request){.operation = operation, .body = message_keep(message, body)};
    message->reply_to.sink = &fixture->client.sink;
    turn(fixture, message);
}

static void deploy(struct fixture *fixture, const char *name)
{
    ask(fixture, PROTO_OP_DEPLOY, name, span_text(bpmn));
}

static void committed(struct fixture *fixture, enum result result)
{
    struct proto_message *message = message_new(PROTO_COMMITTED, 0);
    message->as.committed.result = result;
    turn(fixture, message);
}

static struct span reply(const struct fixture *fixture, size_t index)
{
    cr_assert_lt(index, fixture->client.count);
    return fixture->client.messages[index]->as.reply.body;
}

static struct span error(const struct fixture *fixture, size_t index)
{
    return wire_string_or(wire_find_text(wire_find_text(reply(fixture, index), "error"), "code"),
                          "");
}

static size_t definitions(struct fixture *fixture)
{
    size_t index = fixture->client.count;
    ask(fixture, PROTO_OP_DEFINITIONS, "", SPAN_EMPTY);
    return wire_count(wire_find_text(reply(fixture, index), "definitions"));
}

Test(registry, stalled_journal_keeps_no_deploy_waiting_and_the_first_is_made_when_it_goes_on)
{
    struct fixture fixture;
    begin(&fixture);
    deploy(&fixture, "first.bpmn");
    deploy(&fixture, "second.bpmn");
    cr_assert_eq(fixture.journal.count, 1);
    cr_assert_eq(fixture.client.count, 0);

    committed(&fixture, RESULT_FULL);
    deploy(&fixture, "third.bpmn");

    cr_assert_eq(fixture.client.count, 3, "those that wait and those that come");
    for (size_t i = 0; i < 3; i++) {
        cr_assert(span_is(error(&fixture, i), "StorageFailed"), "%d", (int)i);
    }
    cr_assert_eq(definitions(&fixture), 0, "answered all the same");

    committed(&fixture, RESULT_OK);
    cr_assert_eq(fixture.shard.count, 1);
    turn(&fixture, message_new(PROTO_DONE, 0));
    cr_assert_eq(fixture.client.count, 4, "its caller was told already");
    cr_assert_eq(definitions(&fixture), 1, "what the journal has kept is deployed");
    deploy(&fixture, "third.bpmn");
    cr_assert_eq(fixture.journal.count, 2, "deploys are taken again");
    end(&fixture);
}

Test(registry, bounds_how_many_wait)
{
    struct fixture fixture;
    begin(&fixture);
    deploy(&fixture, "first.bpmn");
    char name[32];
    for (int i = 0; i < 300 && fixture.client.count == 0; i++) {
        snprintf(name, sizeof name, "%d.bpmn", i);
        deploy(&fixture, name);
    }

    cr_assert(span_is(error(&fixture, 0), "Overloaded"));
    end(&fixture);
}

Test(registry, bounds_how_much_the_waiting_hold)
{
    struct fixture fixture;
    begin(&fixture);
    uint8_t *large = calloc(1, LIMIT_DEFINITION_BYTES);
    deploy(&fixture, "first.bpmn");
    for (int i = 0; i < 4; i++) {
        ask(&fixture, PROTO_OP_DEPLOY, "large.bpmn", span_of(large, LIMIT_DEFINITION_BYTES));
    }

    cr_assert_eq(fixture.client.count, 1);
    cr_assert(span_is(error(&fixture, 0), "Overloaded"));
    deploy(&fixture, "small.bpmn");
    cr_assert_eq(fixture.client.count, 1, "a small one has room still");
    free(large);
    end(&fixture);
}
