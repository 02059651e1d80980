/*
 * step_pages_test.c: what a page of step blobs holds. Over a port that keeps the questions.
 */
#include "actors/drain/step_pages.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

struct fixture {
    struct storage_blob blob; /* first: the port's self */
    struct proto_sink asker;
    struct actor_step_pages pages;
    struct arena arena;
    uint64_t tickets[256];
    char names[256][128];
    uint32_t asked;
    struct proto_message *answer;
};

static struct fixture fixture;

static enum result get(struct storage_blob *self, struct span name, struct proto_address reply_to)
{
    (void)self;
    snprintf(fixture.names[fixture.asked], sizeof fixture.names[0], "%.*s", SPAN_ARG(name));
    fixture.tickets[fixture.asked++] = reply_to.ticket;
    return RESULT_OK;
}

static enum result keep_answer(struct proto_sink *self, struct proto_message **message)
{
    (void)self;
    fixture.answer = *message;
    *message = NULL;
    return RESULT_OK;
}

static const struct storage_blob_ops ops = {.get = get};

static void open_fixture(void)
{
    fixture = (struct fixture){.blob.ops = &ops, .asker.send = keep_answer};
    fixture.pages.blob = &fixture.blob;
    arena_init(&fixture.arena, 65536, 64u << 20);
}

static void close_fixture(void)
{
    actor_step_pages_release(&fixture.pages);
    message_free(fixture.answer);
    arena_release(&fixture.arena);
}

TestSuite(step_pages, .init = open_fixture, .fini = close_fixture);

static struct span value_of(const char *json)
{
    struct span value;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 20, &fixture.arena, &value, &error), RESULT_OK);
    return value;
}

static void fetch(unsigned steps)
{
    struct wire_writer query;
    wire_writer_init(&query, &fixture.arena, 1024);
    wire_write_array(&query, 3);
    wire_write_text(&query, "w");
    wire_write_value(&query, value_of("{\"a\":1}"));
    wire_write_array(&query, steps);
    for (unsigned i = 0; i < steps; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%u", i + 1);
        wire_write_text(&query, id);
    }
    struct span text = wire_writer_span(&query);
    struct proto_message *message = message_new(PROTO_FETCH, text.count);
    message->as.fetch = (struct proto_fetch){.kind = PROTO_FETCH_STEPS,
                                             .execution_id = {.count = 1, .text = "e"},
                                             .query = message_keep(message, text)};
    message->reply_to = (struct proto_address){.sink = &fixture.asker, .ticket = 7};
    actor_step_pages_fetch(&fixture.pages, message);
}

static void answer(uint32_t question, enum result result, struct span bytes)
{
    struct proto_message *done = message_new(PROTO_PORT_DONE, bytes.count);
    done->as.port_done.result = result;
    done->as.port_done.bytes = message_keep(done, bytes);
    done->reply_to.ticket = fixture.tickets[question];
    cr_assert(actor_step_pages_take(&fixture.pages, done));
}

static const char *answered(void)
{
    struct span json;
    cr_assert_not_null(fixture.answer);
    cr_assert_eq(
        json_from_wire(fixture.answer->as.fetched.bytes, JSON_COMPACT, &fixture.arena, &json),
        RESULT_OK);
    return (const char *)arena_format(&fixture.arena, "%.*s%c", SPAN_ARG(json), 0).bytes;
}

Test(step_pages, hold_the_blobs_in_the_order_asked_for_whatever_came_first)
{
    fetch(4);
    cr_assert_eq(fixture.asked, 4);
    cr_expect_str_eq(fixture.names[0], "w/e/s1.msgpack");

    answer(3, RESULT_OK, value_of("{\"formatVersion\":1,\"n\":4}"));
    answer(1, RESULT_NOT_FOUND, SPAN_EMPTY);
    answer(2, RESULT_OK, value_of("{\"formatVersion\":99}"));
    cr_assert_null(fixture.answer, "one is missing");
    answer(0, RESULT_OK, value_of("{\"formatVersion\":1,\"n\":1}"));

    cr_expect_str_eq(answered(), "[{\"a\":1},[{\"formatVersion\":1,\"n\":1},null,false,"
                                 "{\"formatVersion\":1,\"n\":4}]]");
    cr_expect_eq(fixture.answer->reply_to.ticket, 7);
}

Test(step_pages, of_no_steps_are_answered_at_once)
{
    fetch(0);
    cr_expect_str_eq(answered(), "[{\"a\":1},[]]");
}

Test(step_pages, ask_for_a_few_at_a_time)
{
    fetch(40);
    cr_assert_eq(fixture.asked, 16);
    answer(0, RESULT_NOT_FOUND, SPAN_EMPTY);
    cr_expect_eq(fixture.asked, 17);
}

Test(step_pages, end_where_they_get_too_large)
{
    struct wire_writer large;
    wire_writer_init(&large, &fixture.arena, 5u << 20);
    wire_write_map(&large, 2);
    wire_pair_int(&large, "formatVersion", 1);
    wire_write_text(&large, "x");
    uint8_t *zeros = calloc(1, 5u << 20);
    wire_write_binary(&large, span_of(zeros, 5u << 20));
    free(zeros);
    fetch(40);
    for (uint32_t i = 0; i < 16; i++) {
        answer(i, RESULT_OK, i == 0 ? wire_writer_span(&large) : value_of("{\"formatVersion\":1}"));
    }
    cr_assert_not_null(fixture.answer, "no more are asked for");
    cr_expect_eq(wire_count(wire_at(fixture.answer->as.fetched.bytes, 1)), 16);
}

Test(step_pages, leave_answers_to_others_alone)
{
    fetch(1);
    struct proto_message *done = message_new(PROTO_PORT_DONE, 0);
    done->reply_to.ticket = (uint64_t)(uintptr_t)&fixture;
    cr_expect_not(actor_step_pages_take(&fixture.pages, done));
    message_free(done);
}
