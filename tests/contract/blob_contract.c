/* blob_contract.c: see blob_contract.h. */
#include "tests/contract/blob_contract.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/reader.h"
#include "tests/contract/support.h"

#define LARGE_BYTES (5u << 20)
#define BATCH_MAX   200u
#define MANY_ROUNDS 60u

/* A tier under test and whoever asks it. */
struct desk {
    struct contract_blob *subject;
    struct storage_blob *blob;
    struct contract_asker asker;
};

static struct desk desk_open(struct contract_blob *subject)
{
    struct desk desk = {.subject = subject, .blob = subject->open(subject)};
    contract_asker_init(&desk.asker);
    return desk;
}

/* The asker's sink is asked for by address: it must be where it is used. */
static void desk_close(struct desk *desk)
{
    contract_asker_release(&desk->asker);
    desk->subject->end(desk->subject, desk->blob, true);
}

static enum result put_items(struct desk *desk, const struct storage_blob_item *items, size_t count)
{
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->put(desk->blob, items, count, me), RESULT_OK);
    return contract_answer(&desk->asker)->result;
}

static enum result put(struct desk *desk, struct span name, struct span bytes)
{
    struct storage_blob_item item = {.name = name, .bytes = bytes};
    return put_items(desk, &item, 1);
}

static void put_text(struct desk *desk, const char *name, const char *bytes)
{
    cr_assert_eq(put(desk, span_text(name), span_text(bytes)), RESULT_OK);
}

static enum result get(struct desk *desk, struct span name, struct span *bytes)
{
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->get(desk->blob, name, me), RESULT_OK);
    *bytes = contract_answer(&desk->asker)->bytes;
    return contract_answer(&desk->asker)->result;
}

static void expect(struct desk *desk, struct span name, struct span expected)
{
    struct span bytes;
    enum result result = get(desk, name, &bytes);
    cr_assert_eq(result, RESULT_OK, "%.*s: %s", SPAN_ARG(name), result_text(result));
    cr_assert(span_equal(bytes, expected), "bytes of %.*s", SPAN_ARG(name));
}

static void expect_text(struct desk *desk, const char *name, const char *expected)
{
    expect(desk, span_text(name), span_text(expected));
}

static void expect_none(struct desk *desk, const char *name)
{
    struct span bytes;
    cr_assert_eq(get(desk, span_text(name), &bytes), RESULT_NOT_FOUND, "%s", name);
    cr_assert_eq(bytes.count, 0);
}

static void flush(struct desk *desk)
{
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->flush(desk->blob, me), RESULT_OK);
    cr_assert_eq(contract_answer(&desk->asker)->result, RESULT_OK);
}

static enum result remove_prefix(struct desk *desk, const char *prefix)
{
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->remove(desk->blob, span_text(prefix), me), RESULT_OK);
    return contract_answer(&desk->asker)->result;
}

static void expect_list(struct desk *desk, const char *prefix, uint32_t limit, const char *expected)
{
    char text[400] = "";
    struct span name;
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->list(desk->blob, span_text(prefix), limit, me), RESULT_OK);
    cr_assert_eq(contract_answer(&desk->asker)->result, RESULT_OK);
    struct span array = contract_answer(&desk->asker)->bytes;
    cr_assert(wire_is(array, WIRE_ARRAY));
    struct wire_map_walk walk = wire_array_begin(array);
    while (wire_array_next(&walk, &name)) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%.*s ", SPAN_ARG(wire_string_or(name, "?")));
    }
    cr_assert_str_eq(text, expected);
}

void contract_blob_finds_what_was_put(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);

    put_text(&desk, "w/e/1.msgpack", "one");
    put_text(&desk, "w/e/2.msgpack", "two");

    expect_text(&desk, "w/e/1.msgpack", "one");
    expect_text(&desk, "w/e/2.msgpack", "two");
    desk_close(&desk);
}

void contract_blob_says_not_found(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    put_text(&desk, "w/e/1.msgpack", "one");

    expect_none(&desk, "w/e/1.msgpac");
    expect_none(&desk, "w/e/1.msgpack2");
    expect_none(&desk, "w/e/");
    expect_none(&desk, "");
    desk_close(&desk);
}

void contract_blob_answers_each_request_once_and_each_item(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const names[] = {"w/e/3", "w/e/1", "w/e/2"};
    struct storage_blob_item items[3];
    for (size_t i = 0; i < 3; i++) {
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text(names[i])};
    }

    cr_assert_eq(put_items(&desk, items, 3), RESULT_OK);

    struct span results = contract_answer(&desk.asker)->results;
    cr_assert_eq(results.count, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(results.bytes[i], RESULT_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        expect_text(&desk, names[i], names[i]);
    }
    cr_assert_eq(put_items(&desk, NULL, 0), RESULT_OK);
    desk_close(&desk);
}

void contract_blob_lets_the_newest_bytes_of_a_name_win(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);

    put_text(&desk, "w/e/execution.msgpack", "first");
    put_text(&desk, "w/e/execution.msgpack", "second, which is longer");
    put_text(&desk, "w/e/execution.msgpack", "3");

    expect_text(&desk, "w/e/execution.msgpack", "3");
    expect_list(&desk, "w/e/", 10, "w/e/execution.msgpack ");
    desk_close(&desk);
}

void contract_blob_keeps_large_and_empty_blobs(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    uint8_t *bytes = malloc(LARGE_BYTES);
    contract_fill(bytes, LARGE_BYTES, 1);
    static const size_t sizes[] = {0, 1, 1990, 2000, 2010, 4096, 70000, LARGE_BYTES};
    char name[480];
    memset(name, 'n', sizeof name);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        name[479] = (char)('a' + i);
        cr_assert_eq(put(&desk, span_of(name, sizeof name), span_of(bytes, sizes[i])), RESULT_OK);
    }
    flush(&desk);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        name[479] = (char)('a' + i);
        expect(&desk, span_of(name, sizeof name), span_of(bytes, sizes[i]));
    }
    free(bytes);
    desk_close(&desk);
}

void contract_blob_refuses_bad_names_one_by_one(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    char name[481];
    memset(name, 'n', sizeof name);
    struct storage_blob_item items[] = {
        {.name = span_text("w/e/1"), .bytes = span_text("one")},
        {.name = span_of(name, sizeof name), .bytes = span_text("too long")},
        {.bytes = span_text("no name")},
        {.name = span_text("w/e/2"), .bytes = span_text("two")},
    };

    cr_assert_eq(put_items(&desk, items, 4), RESULT_INVALID);

    struct span results = contract_answer(&desk.asker)->results;
    cr_assert_eq(results.count, 4);
    cr_assert_eq(results.bytes[0], RESULT_OK);
    cr_assert_eq(results.bytes[1], RESULT_INVALID);
    cr_assert_eq(results.bytes[2], RESULT_INVALID);
    cr_assert_eq(results.bytes[3], RESULT_OK);
    expect_text(&desk, "w/e/1", "one");
    expect_text(&desk, "w/e/2", "two");
    desk_close(&desk);
}

void contract_blob_lists_names_in_order_with_a_limit(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const names[] = {"w/b/2", "w/a/1", "w/b/1", "x/a/1",
                                        "w/b",   "w/b/3", "v/b/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        put_text(&desk, names[i], "bytes");
    }

    expect_list(&desk, "w/b/", 10, "w/b/1 w/b/2 w/b/3 ");
    expect_list(&desk, "w/b/", 2, "w/b/1 w/b/2 ");
    expect_list(&desk, "w/b/", 0, "");
    expect_list(&desk, "w/", 10, "w/a/1 w/b w/b/1 w/b/2 w/b/3 ");
    expect_list(&desk, "y", 10, "");
    expect_list(&desk, "", 3, "v/b/1 w/a/1 w/b ");
    desk_close(&desk);
}

void contract_blob_removes_all_below_a_prefix_and_nothing_else(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const names[] = {"w/b/1", "w/b/2", "w/bb/1", "w/b", "w/a/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        put_text(&desk, names[i], "bytes");
    }
    flush(&desk);

    cr_assert_eq(remove_prefix(&desk, "w/b/"), RESULT_OK);
    cr_assert_eq(remove_prefix(&desk, "w/none/"), RESULT_OK);
    cr_assert_eq(remove_prefix(&desk, "w/a"), RESULT_INVALID, "only whole folders");
    cr_assert_eq(remove_prefix(&desk, ""), RESULT_INVALID);

    expect_list(&desk, "", 10, "w/a/1 w/b w/bb/1 ");
    expect_none(&desk, "w/b/1");
    put_text(&desk, "w/b/1", "again");
    expect_text(&desk, "w/b/1", "again");
    desk_close(&desk);
}

void contract_blob_keeps_what_was_flushed(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    put_text(&desk, "w/e/1", "one");
    put_text(&desk, "w/f/1", "one");
    flush(&desk);
    cr_assert_eq(remove_prefix(&desk, "w/f/"), RESULT_OK);
    flush(&desk);
    put_text(&desk, "w/e/2", "two");

    contract_asker_release(&desk.asker);
    subject->end(subject, desk.blob, false);
    desk.blob = subject->open(subject);

    struct span bytes;
    expect_text(&desk, "w/e/1", "one");
    expect_none(&desk, "w/f/1");
    /* What was not flushed is there whole or not at all. */
    cr_assert(get(&desk, span_text("w/e/2"), &bytes) == RESULT_NOT_FOUND || span_is(bytes, "two"));
    desk_close(&desk);
}

static size_t name_of(char out[64], uint32_t round, uint32_t number)
{
    uint64_t random = (uint64_t)round * BATCH_MAX + number;
    return (size_t)snprintf(out, 64, "w/%08x-%08x/%08x.msgpack", round,
                            (unsigned)contract_draw(&random, 1u << 30), number);
}

void contract_blob_holds_many_names(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    static char names[BATCH_MAX][64];
    static uint8_t bytes[400];
    struct storage_blob_item items[BATCH_MAX];
    for (uint32_t round = 0; round < MANY_ROUNDS; round++) {
        for (uint32_t i = 0; i < BATCH_MAX; i++) {
            size_t count = name_of(names[i], round, i);
            items[i] =
                (struct storage_blob_item){.name = span_of(names[i], count),
                                           .bytes = span_of(bytes, (round + i) % sizeof bytes)};
        }
        cr_assert_eq(put_items(&desk, items, BATCH_MAX), RESULT_OK);
    }
    flush(&desk);

    for (uint32_t round = 0; round < MANY_ROUNDS; round++) {
        for (uint32_t i = 0; i < BATCH_MAX; i += 7) {
            size_t count = name_of(names[0], round, i);
            expect(&desk, span_of(names[0], count), span_of(bytes, (round + i) % sizeof bytes));
        }
    }
    desk_close(&desk);
}

void contract_blob_says_full_and_keeps_what_there_is(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    uint8_t *bytes = malloc(1 << 20);
    contract_fill(bytes, 1 << 20, 4);
    put_text(&desk, "w/e/1", "one");
    flush(&desk);
    subject->set_full(subject, desk.blob, true);

    enum result result = RESULT_OK;
    char name[32];
    for (int i = 0; i < 200 && result == RESULT_OK; i++) {
        snprintf(name, sizeof name, "w/f/%d", i);
        result = put(&desk, span_text(name), span_of(bytes, 1 << 20));
    }

    cr_assert_eq(result, RESULT_FULL, "%s", result_text(result));
    cr_assert_eq(contract_answer(&desk.asker)->results.bytes[0], RESULT_FULL);
    expect_none(&desk, name);
    expect_text(&desk, "w/e/1", "one");
    subject->set_full(subject, desk.blob, false);
    cr_assert_eq(put(&desk, span_text(name), span_of(bytes, 1 << 20)), RESULT_OK);
    flush(&desk);
    expect(&desk, span_text(name), span_of(bytes, 1 << 20));
    free(bytes);
    desk_close(&desk);
}

static void rewrite(struct desk *desk, const char *bytes)
{
    struct storage_blob_item item = {
        .name = span_text("w/e/execution.msgpack"), .bytes = span_text(bytes), .rewritten = true};
    cr_assert_eq(put_items(desk, &item, 1), RESULT_OK, "%s", bytes);
    expect_text(desk, "w/e/execution.msgpack", bytes);
}

/* Of a name that is rewritten an adapter may go by the version that it knows: so others come in
 * between that it does not know. */
void contract_blob_rewrites_a_name_whatever_became_of_it(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    put_text(&desk, "w/e/execution.msgpack", "there before");
    rewrite(&desk, "one");
    rewrite(&desk, "two");
    put_text(&desk, "w/e/execution.msgpack", "by another hand");
    rewrite(&desk, "three");
    cr_assert_eq(remove_prefix(&desk, "w/e/"), RESULT_OK);
    rewrite(&desk, "four");
    rewrite(&desk, "four");
    desk_close(&desk);
}

void contract_blob_tells_the_outcome_to_a_caller_that_wants_no_answer(struct contract_blob *subject)
{
    struct desk desk = desk_open(subject);
    struct proto_address nobody = {0};
    const struct storage_blob_ops *ops = desk.blob->ops;
    struct storage_blob_item item = {.name = span_text("w/e/1"), .bytes = span_text("one")};
    struct storage_blob_item bad = {.bytes = span_text("one")};

    cr_assert_eq(ops->put(desk.blob, &item, 1, nobody), RESULT_OK);
    cr_assert_eq(ops->put(desk.blob, &bad, 1, nobody), RESULT_INVALID);
    cr_assert_eq(ops->get(desk.blob, span_text("w/e/1"), nobody), RESULT_OK);
    cr_assert_eq(ops->get(desk.blob, span_text("w/e/2"), nobody), RESULT_NOT_FOUND);
    cr_assert_eq(ops->flush(desk.blob, nobody), RESULT_OK);
    cr_assert_eq(ops->remove(desk.blob, span_text("w/e/"), nobody), RESULT_OK);

    expect_none(&desk, "w/e/1");
    desk_close(&desk);
}
