/*
 * router_test.c: where a request goes, and what is refused before it goes anywhere.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/fixture_log.h"
#include "actors/router.h"
#include "actors/shard/shard.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum { SHARDS = 4 };

struct fixture {
    struct actor_router router;
    struct actor_journal_counters journal;
    struct fixture_sink shards[SHARDS];
    struct proto_sink *sinks[SHARDS];
    struct fixture_sink registry, audit, client;
    struct arena arena;
    uint64_t letters;
};

static uint32_t no_stats(void *owner, struct wire_writer *writer)
{
    (void)owner;
    wire_pair_int(writer, "shards", SHARDS);
    return 1;
}

static uint64_t count_letters(void *owner)
{
    return ((struct fixture *)owner)->letters;
}

static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    actor_router_init(&fixture->router);
    for (int i = 0; i < SHARDS; i++) {
        fixture_sink_init(&fixture->shards[i]);
        fixture->sinks[i] = &fixture->shards[i].sink;
    }
    fixture_sink_init(&fixture->registry);
    fixture_sink_init(&fixture->audit);
    fixture_sink_init(&fixture->client);
    fixture->router.shards = fixture->sinks;
    fixture->router.shard_count = SHARDS;
    fixture->router.registry = &fixture->registry.sink;
    fixture->router.audit = &fixture->audit.sink;
    fixture->router.journal = &fixture->journal;
    fixture->router.stats = no_stats;
    fixture->router.letters = count_letters;
    fixture->router.owner = fixture;
    fixture->router.open = true;
    arena_init(&fixture->arena, 4096, 1 << 20);
}

static void clear(struct fixture *fixture)
{
    for (int i = 0; i < SHARDS; i++) {
        fixture_sink_clear(&fixture->shards[i]);
    }
    fixture_sink_clear(&fixture->registry);
    fixture_sink_clear(&fixture->audit);
    fixture_sink_clear(&fixture->client);
}

static void end(struct fixture *fixture)
{
    clear(fixture);
    arena_release(&fixture->arena);
}

static enum result ask(struct fixture *fixture, const char *json)
{
    struct span body;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, &fixture->arena, &body, &error),
                 RESULT_OK);
    struct proto_message *message = message_new(PROTO_REQUEST, body.count);
    message->as.request.operation =
        proto_operation_parse(wire_string_or(wire_find_text(body, "op"), ""));
    message->as.request.body = message_keep(message, body);
    message->reply_to.sink = &fixture->client.sink;
    enum result result = fixture->router.sink.send(&fixture->router.sink, &message);
    message_free(message);
    return result;
}

/* The one shard that got the one request. */
static int shard_asked(const struct fixture *fixture)
{
    int asked = -1;
    for (int i = 0; i < SHARDS; i++) {
        if (fixture->shards[i].count > 0) {
            cr_assert_eq(asked, -1);
            cr_assert_eq(fixture->shards[i].count, 1);
            asked = i;
        }
    }
    cr_assert_neq(asked, -1, "no shard was asked");
    return asked;
}

static struct execution_id id_of_start(struct fixture *fixture, const char *json)
{
    cr_assert_eq(ask(fixture, json), RESULT_OK);
    int shard = shard_asked(fixture);
    struct execution_id id = fixture->shards[shard].messages[0]->as.request.execution_id;
    cr_assert_eq(actor_shard_of(execution_id_span(&id), SHARDS), (uint32_t)shard);
    clear(fixture);
    return id;
}

/* Code and message. */
static const char *complaint(struct fixture *fixture, const char *json)
{
    static char text[512];
    cr_assert_eq(ask(fixture, json), RESULT_OK);
    cr_assert_eq(fixture->client.count, 1, "%s", json);
    struct span error = wire_find_text(fixture->client.messages[0]->as.reply.body, "error");
    snprintf(text, sizeof text, "%.*s: %.*s",
             SPAN_ARG(wire_string_or(wire_find_text(error, "code"), "none")),
             SPAN_ARG(wire_string_or(wire_find_text(error, "message"), "")));
    clear(fixture);
    return text;
}

static const char *refusal(struct fixture *fixture, const char *json)
{
    static char code[64];
    const char *text = complaint(fixture, json);
    snprintf(code, sizeof code, "%.*s", (int)strcspn(text, ":"), text);
    return code;
}

Test(router, gives_a_start_the_id_it_brings_or_one_that_repeats_or_a_new_one)
{
    struct fixture fixture;
    begin(&fixture);

    struct execution_id given =
        id_of_start(&fixture, "{\"op\":\"start\",\"process\":\"p\",\"executionId\":\"mine\"}");
    struct execution_id once =
        id_of_start(&fixture, "{\"op\":\"start\",\"process\":\"p\",\"requestId\":\"r\"}");
    struct execution_id again =
        id_of_start(&fixture, "{\"op\":\"start\",\"process\":\"p\",\"requestId\":\"r\"}");
    struct execution_id elsewhere = id_of_start(
        &fixture, "{\"op\":\"start\",\"process\":\"p\",\"requestId\":\"r\",\"workspaceId\":\"w\"}");
    struct execution_id fresh = id_of_start(&fixture, "{\"op\":\"start\",\"process\":\"p\"}");
    struct execution_id fresher = id_of_start(&fixture, "{\"op\":\"start\",\"process\":\"p\"}");

    cr_assert_str_eq(given.text, "mine");
    cr_assert_str_eq(once.text, again.text);
    cr_assert_eq(once.text[14], '5', "a version 5 UUID");
    cr_assert_str_neq(once.text, elsewhere.text);
    cr_assert_eq(fresh.text[14], '7', "a version 7 UUID");
    cr_assert_str_neq(fresh.text, fresher.text);
    end(&fixture);
}

Test(router, sends_a_session_callback_to_the_shard_that_keeps_the_session)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"callback\",\"channelSessionId\":\"chat 1\"}"), RESULT_OK);

    int shard = shard_asked(&fixture);

    cr_assert_eq((uint32_t)shard, actor_shard_of(span_text("chat 1"), SHARDS));
    cr_assert_eq(fixture.shards[shard].messages[0]->as.request.execution_id.count, 0);
    end(&fixture);
}

Test(router, refuses_by_name_what_it_cannot_pass_on)
{
    struct fixture fixture;
    begin(&fixture);

    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"start\"}"), "InvalidRequest");
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"get\"}"), "InvalidRequest");
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"get\",\"executionId\":\"a/b\"}"),
                     "InvalidRequest");
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"signal\"}"), "InvalidRequest");
    fixture.router.closing = true;
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"start\",\"process\":\"p\"}"), "ShuttingDown");
    fixture.router.closing = false;
    actor_count_set(&fixture.journal.full, 1);
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"start\",\"process\":\"p\"}"), "StorageFailed");
    fixture.router.open = false;
    cr_assert_eq(ask(&fixture, "{\"op\":\"ping\"}"), RESULT_CLOSED);
    end(&fixture);
}

Test(router, refuses_a_misspelt_field_by_its_name_and_the_one_that_is_meant)
{
    struct fixture fixture;
    begin(&fixture);

    cr_expect_str_eq(
        complaint(&fixture, "{\"op\":\"callback\",\"executionId\":\"e\",\"task_id\":\"a\"}"),
        "InvalidRequest: callback has no field \"task_id\"; did you mean \"taskId\"?");
    cr_expect_str_eq(complaint(&fixture, "{\"op\":\"list\",\"colour\":1}"),
                     "InvalidRequest: list has no filter \"colour\"");
    cr_expect_str_eq(
        complaint(&fixture, "{\"op\":\"migrate\",\"executionId\":\"e\",\"version\":2}"),
        "InvalidRequest: migrate has no field \"version\"; did you mean \"toVersion\"?");
    cr_expect_str_eq(
        complaint(&fixture, "{\"op\":\"suspend\",\"executionId\":\"e\",\"payload\":\"r\"}"),
        "InvalidRequest: suspend has no field \"payload\"");
    cr_expect_eq(ask(&fixture, "{\"op\":\"callback\",\"executionId\":\"e\",\"colour\":1}"),
                 RESULT_OK);
    cr_expect_eq(fixture.client.count, 0, "what may come from a newer client is passed over");

    end(&fixture);
}

Test(router, lets_questions_pass_but_nothing_that_changes_something_when_it_is_sealed)
{
    static const char *const changes[] = {"callback", "abort",   "restart",
                                          "delete",   "migrate", "retry"};
    static const char *const named[] = {"deploy", "message", "signal"};
    struct fixture fixture;
    begin(&fixture);
    fixture.router.sealed = true;
    char text[128];

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        snprintf(text, sizeof text, "{\"op\":\"%s\",\"executionId\":\"e\"}", changes[i]);
        cr_assert_str_eq(refusal(&fixture, text), "ShuttingDown", "%s", changes[i]);
    }
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        snprintf(text, sizeof text, "{\"op\":\"%s\",\"name\":\"n\"}", named[i]);
        cr_assert_str_eq(refusal(&fixture, text), "ShuttingDown", "%s", named[i]);
    }
    cr_assert_eq(ask(&fixture, "{\"op\":\"get\",\"executionId\":\"e\"}"), RESULT_OK);
    end(&fixture);
}

Test(router, lets_nothing_that_changes_something_pass_while_the_journal_is_full)
{
    static const char *const changes[] = {"callback", "suspend", "resume", "abort",
                                          "restart",  "delete",  "retry"};
    struct fixture fixture;
    begin(&fixture);
    actor_count_set(&fixture.journal.full, 1);
    char text[128];

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        snprintf(text, sizeof text, "{\"op\":\"%s\",\"executionId\":\"e\"}", changes[i]);
        cr_assert_str_eq(refusal(&fixture, text), "StorageFailed", "%s", changes[i]);
    }
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"start\",\"process\":\"p\"}"), "StorageFailed");
    cr_assert_str_eq(refusal(&fixture, "{\"op\":\"deploy\",\"name\":\"n\"}"), "StorageFailed");
    cr_assert_eq(ask(&fixture, "{\"op\":\"get\",\"executionId\":\"e\"}"), RESULT_OK);
    shard_asked(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"definitions\"}"), RESULT_OK);
    cr_assert_eq(fixture.registry.count, 1);
    end(&fixture);
}

Test(router, takes_no_message_more_when_too_many_wait_but_signals)
{
    struct fixture fixture;
    begin(&fixture);
    fixture.letters = LIMIT_MESSAGES;

    cr_expect_str_eq(refusal(&fixture, "{\"op\":\"message\",\"name\":\"paid\"}"), "Overloaded");
    cr_assert_eq(ask(&fixture, "{\"op\":\"signal\",\"name\":\"stop\"}"), RESULT_OK);
    (void)shard_asked(&fixture);
    clear(&fixture);
    fixture.letters = LIMIT_MESSAGES - 1;
    cr_assert_eq(ask(&fixture, "{\"op\":\"message\",\"name\":\"paid\"}"), RESULT_OK);
    (void)shard_asked(&fixture);
    clear(&fixture);
    end(&fixture);
}

Test(router, answers_ping_and_stats_itself)
{
    struct fixture fixture;
    begin(&fixture);

    cr_assert_eq(ask(&fixture, "{\"op\":\"ping\"}"), RESULT_OK);
    cr_assert_eq(ask(&fixture, "{\"op\":\"stats\"}"), RESULT_OK);

    cr_assert_eq(fixture.client.count, 2);
    cr_assert(fixture.client.messages[0]->as.reply.ok);
    struct span stats = fixture.client.messages[1]->as.reply.body;
    cr_assert_eq(wire_int_or(wire_find_text(stats, "shards"), 0), SHARDS);
    end(&fixture);
}

/* The shards' answers to a gathered request, in the order given. */
static void answer_tasks(struct fixture *fixture, int shard, const char *json, bool ok)
{
    struct span body;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, &fixture->arena, &body, &error),
                 RESULT_OK);
    struct proto_message *reply = message_new(PROTO_REPLY, body.count);
    reply->as.reply = (struct proto_reply){.ok = ok, .body = message_keep(reply, body)};
    message_answer(fixture->shards[shard].messages[0]->reply_to, reply);
}

/* Executions of the tasks in the reply, in order; "cursor <text>" behind them. */
static const char *gathered(struct fixture *fixture)
{
    static char text[256];
    struct span body = fixture->client.messages[0]->as.reply.body;
    struct wire_map_walk walk = wire_array_begin(wire_find_text(body, "tasks"));
    struct span task;
    int used = 0;
    cr_assert_eq(fixture->client.count, 1);
    text[0] = '\0';
    while (wire_array_next(&walk, &task)) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%.*s ",
                         SPAN_ARG(wire_string_or(wire_find_text(task, "executionId"), "")));
    }
    struct span cursor = wire_string_or(wire_find_text(body, "cursor"), "none");
    snprintf(text + used, sizeof text - (size_t)used, "cursor %.*s", SPAN_ARG(cursor));
    return text;
}

#define TASK_OF(id) "{\"executionId\":\"" id "\"}"

Test(router, refuses_to_list_nothing_or_more_than_it_may_at_once)
{
    static const struct {
        const char *operation;
        uint32_t most;
    } rows[] = {
        {"\"list\"", 1000},
        {"\"tasks\"", 1000},
        {"\"tasks\",\"executionId\":\"e\"", 1000},
        {"\"steps\",\"executionId\":\"e\"", 200},
    };
    struct fixture fixture;
    begin(&fixture);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t refused[] = {0, rows[i].most + 1, UINT32_MAX};
        const uint32_t taken[] = {1, rows[i].most};
        char json[200];
        char wanted[100];
        snprintf(wanted, sizeof wanted, "InvalidRequest: limit must be a whole number from 1 to %u",
                 rows[i].most);
        for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
            snprintf(json, sizeof json, "{\"op\":%s,\"limit\":%u}", rows[i].operation, refused[k]);
            cr_expect_str_eq(complaint(&fixture, json), wanted, "%s", json);
        }
        for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++) {
            snprintf(json, sizeof json, "{\"op\":%s,\"limit\":%u}", rows[i].operation, taken[k]);
            cr_expect_eq(ask(&fixture, json), RESULT_OK);
            cr_expect_eq(fixture.client.count, 0, "%s", json);
            for (int shard = 0; shard < SHARDS; shard++) {
                if (fixture.shards[shard].count > 0) { /* a gathering lives until all answered */
                    answer_tasks(&fixture, shard, "{\"tasks\":[],\"places\":[]}", true);
                }
            }
            clear(&fixture);
        }
    }
    end(&fixture);
}

Test(router, gathers_the_newest_tasks_first_whichever_shard_has_them)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\",\"limit\":9}"), RESULT_OK);

    answer_tasks(&fixture, 2,
                 "{\"tasks\":[" TASK_OF("a") "," TASK_OF("d") "],\"places\":[[9,0],[3,0]]}", true);
    answer_tasks(&fixture, 0, "{\"tasks\":[],\"places\":[]}", true);
    answer_tasks(&fixture, 3,
                 "{\"tasks\":[" TASK_OF("b") "," TASK_OF("b") "],\"places\":[[5,0],[5,1]]}", true);
    cr_assert_eq(fixture.client.count, 0, "one is still missing");
    answer_tasks(&fixture, 1, "{\"tasks\":[" TASK_OF("c") "],\"places\":[[5,0]]}", true);

    cr_expect_str_eq(gathered(&fixture), "a b b c d cursor none");
    end(&fixture);
}

Test(router, a_gathered_list_goes_on_at_the_first_task_that_found_no_room)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\",\"limit\":2}"), RESULT_OK);

    answer_tasks(&fixture, 0,
                 "{\"tasks\":[" TASK_OF("a") "," TASK_OF("c") "],\"places\":[[9,0],[3,4]],"
                                                              "\"until\":\"2.0.x\"}",
                 true);
    answer_tasks(&fixture, 1, "{\"tasks\":[" TASK_OF("b") "],\"places\":[[5,0]]}", true);
    answer_tasks(&fixture, 2, "{\"tasks\":[],\"places\":[]}", true);
    answer_tasks(&fixture, 3, "{\"tasks\":[],\"places\":[]}", true);

    cr_expect_str_eq(gathered(&fixture), "a b cursor 3.4.c");
    end(&fixture);
}

Test(router, a_gathered_list_ends_where_a_shard_stopped_to_look)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\",\"limit\":9}"), RESULT_OK);

    answer_tasks(&fixture, 0, "{\"tasks\":[],\"places\":[],\"until\":\"4.0.x\"}", true);
    answer_tasks(&fixture, 1,
                 "{\"tasks\":[" TASK_OF("b") "," TASK_OF("c") "],\"places\":[[5,0],[1,0]]}", true);
    answer_tasks(&fixture, 2, "{\"tasks\":[],\"places\":[],\"until\":\"2.0.x\"}", true);
    answer_tasks(&fixture, 3, "{\"tasks\":[],\"places\":[]}", true);

    cr_expect_str_eq(gathered(&fixture), "b cursor 4.0.x");
    end(&fixture);
}

Test(router, a_cursor_that_no_reply_gave_is_refused)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\",\"cursor\":\"yesterday\"}"), RESULT_OK);
    struct span error = wire_find_text(fixture.client.messages[0]->as.reply.body, "error");
    cr_expect(span_is(wire_string_or(wire_find_text(error, "code"), ""), "InvalidRequest"));
    end(&fixture);
}

Test(router, refuses_a_gathered_list_that_is_too_large_for_one_answer)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\"}"), RESULT_OK);
    struct arena arena;
    struct wire_writer writer;
    uint8_t *large = calloc(1, LIMIT_FRAME_BYTES);
    arena_init(&arena, 4096, LIMIT_FRAME_BYTES * 2ul);
    wire_writer_init(&writer, &arena, LIMIT_FRAME_BYTES + 64);
    wire_write_map(&writer, 2);
    wire_write_text(&writer, "tasks");
    wire_write_array(&writer, 1);
    wire_write_string(&writer, span_of(large, LIMIT_FRAME_BYTES));
    wire_write_text(&writer, "places");
    wire_write_array(&writer, 1);
    wire_write_array(&writer, 2);
    wire_write_int(&writer, 1);
    wire_write_int(&writer, 0);
    struct span body = wire_writer_span(&writer);

    for (int i = 0; i < SHARDS; i++) {
        struct proto_message *reply = message_new(PROTO_REPLY, body.count);
        reply->as.reply = (struct proto_reply){.ok = true, .body = message_keep(reply, body)};
        message_answer(fixture.shards[i].messages[0]->reply_to, reply);
    }

    struct span error = wire_find_text(fixture.client.messages[0]->as.reply.body, "error");
    cr_assert(span_is(wire_string_or(wire_find_text(error, "code"), ""), "PayloadTooLarge"));
    free(large);
    arena_release(&arena);
    end(&fixture);
}

Test(router, refuses_a_gathered_request_that_a_shard_refuses)
{
    struct fixture fixture;
    begin(&fixture);
    cr_assert_eq(ask(&fixture, "{\"op\":\"tasks\"}"), RESULT_OK);
    for (int i = 0; i < SHARDS; i++) {
        answer_tasks(&fixture, i,
                     i == 2 ? "{\"ok\":false,\"error\":{\"code\":\"Overloaded\"}}"
                            : "{\"tasks\":[]}",
                     i != 2);
    }

    cr_assert_eq(fixture.client.count, 1);
    cr_assert_not(fixture.client.messages[0]->as.reply.ok);
    end(&fixture);
}
