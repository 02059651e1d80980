/* hot_test.c: what shards ask of a hot tier elsewhere is answered, whatever the tier does. */
#include "actors/hot.h"

#include <criterion/criterion.h>

#include "actors/fixture_log.h"
#include "proto/log.h"
#include "storage/embedded/embedded.h"

struct fixture {
    struct fixture_sink self, shard;
    struct storage_hot *tier;
    struct actor_hot *hot;
    uint64_t now_ms;
};

static struct proto_message *take_oldest(struct fixture_sink *sink)
{
    if (sink->count == 0) {
        return NULL;
    }
    struct proto_message *oldest = sink->messages[0];
    memmove(sink->messages, sink->messages + 1, --sink->count * sizeof sink->messages[0]);
    oldest->next = NULL;
    return oldest;
}

static void begin(struct fixture *fixture, struct storage_hot *tier)
{
    *fixture = (struct fixture){.tier = tier, .now_ms = 1000};
    fixture_sink_init(&fixture->self);
    fixture_sink_init(&fixture->shard);
    if (tier == NULL) {
        cr_assert_eq(storage_memory_hot_new(1 << 20, 0, &fixture->tier), RESULT_OK);
    }
    cr_assert_eq(actor_hot_new(&fixture->self.sink, &fixture->hot), RESULT_OK);
    actor_hot_set_tier(fixture->hot, fixture->tier);
}

static void end(struct fixture *fixture)
{
    actor_hot_free(fixture->hot);
    fixture->tier->ops->close(fixture->tier);
    fixture_sink_clear(&fixture->self);
    fixture_sink_clear(&fixture->shard);
}

static void turn(struct fixture *fixture, struct proto_message *message)
{
    const struct actor_time now = {.monotonic_ms = fixture->now_ms};
    (void)actor_hot_turn(fixture->hot, message, now);
    struct proto_message *answer;
    while ((answer = take_oldest(&fixture->self)) != NULL) {
        (void)actor_hot_turn(fixture->hot, answer, now);
    }
}

static struct execution_id id_of(const char *text)
{
    struct execution_id id;
    cr_assert_eq(execution_id_parse(span_text(text), &id), RESULT_OK);
    return id;
}

/* The result that the shard is told. */
static enum result keep(struct fixture *fixture, enum proto_keep_kind kind, const char *id)
{
    struct proto_message *message = message_new(PROTO_KEEP, 64);
    message->as.keep =
        (struct proto_keep){.kind = kind,
                            .execution_id = id_of(id),
                            .channel_session_id = message_keep(message, span_text("session")),
                            .bytes = message_keep(message, span_text("bytes"))};
    message->reply_to = (struct proto_address){.sink = &fixture->shard.sink, .ticket = 7};
    turn(fixture, message);
    struct proto_message *done = take_oldest(&fixture->shard);
    cr_assert_not_null(done);
    cr_expect_eq(done->type, PROTO_DONE);
    cr_expect_eq(done->reply_to.ticket, 7);
    enum result result = done->as.done.result;
    message_free(done);
    return result;
}

static struct proto_message *fetch(struct fixture *fixture, enum proto_fetch_kind kind)
{
    struct proto_message *message = message_new(PROTO_FETCH, 16);
    message->as.fetch = (struct proto_fetch){.kind = kind,
                                             .execution_id = id_of("e-1"),
                                             .query = message_keep(message, span_text("session"))};
    message->reply_to = (struct proto_address){.sink = &fixture->shard.sink, .ticket = 8};
    turn(fixture, message);
    struct proto_message *fetched = take_oldest(&fixture->shard);
    cr_assert_not_null(fetched);
    cr_expect_eq(fetched->type, PROTO_FETCHED);
    cr_expect_eq(fetched->as.fetched.kind, kind);
    return fetched;
}

static void expect(struct fixture *fixture, enum proto_fetch_kind kind, const char *bytes)
{
    struct proto_message *fetched = fetch(fixture, kind);
    cr_expect_eq(fetched->as.fetched.result, bytes == NULL ? RESULT_NOT_FOUND : RESULT_OK);
    cr_expect(span_is(fetched->as.fetched.bytes, bytes == NULL ? "" : bytes));
    message_free(fetched);
}

Test(hot, keeps_a_session_with_its_binding_and_forgets_both)
{
    struct fixture fixture;
    begin(&fixture, NULL);

    cr_expect_eq(keep(&fixture, PROTO_KEEP_SESSION, "e-1"), RESULT_OK);
    expect(&fixture, PROTO_FETCH_HOT, "bytes");
    expect(&fixture, PROTO_FETCH_BOUND, "e-1");

    cr_expect_eq(keep(&fixture, PROTO_KEEP_NOTHING, "e-1"), RESULT_OK);
    expect(&fixture, PROTO_FETCH_HOT, NULL);
    expect(&fixture, PROTO_FETCH_BOUND, NULL);
    end(&fixture);
}

Test(hot, keeps_of_a_heavy_session_the_binding_alone)
{
    struct fixture fixture;
    begin(&fixture, NULL);
    cr_expect_eq(keep(&fixture, PROTO_KEEP_SESSION, "e-1"), RESULT_OK);

    cr_expect_eq(keep(&fixture, PROTO_KEEP_BOUND, "e-1"), RESULT_OK);

    expect(&fixture, PROTO_FETCH_HOT, NULL);
    expect(&fixture, PROTO_FETCH_BOUND, "e-1");
    end(&fixture);
}

Test(hot, leaves_a_binding_that_is_anothers)
{
    struct fixture fixture;
    begin(&fixture, NULL);
    cr_expect_eq(keep(&fixture, PROTO_KEEP_BOUND, "e-2"), RESULT_OK);

    cr_expect_eq(keep(&fixture, PROTO_KEEP_NOTHING, "e-1"), RESULT_OK);

    expect(&fixture, PROTO_FETCH_BOUND, "e-2");
    end(&fixture);
}

/* ---- a tier that takes nothing ---- */

static enum result refuse_put(struct storage_hot *self, struct span id, struct span bytes,
                              uint64_t now_ms, struct proto_address reply_to)
{
    (void)self, (void)id, (void)bytes, (void)now_ms, (void)reply_to;
    return RESULT_AGAIN;
}

static enum result refuse_get(struct storage_hot *self, struct span id, uint64_t now_ms,
                              struct proto_address reply_to)
{
    (void)self, (void)id, (void)now_ms, (void)reply_to;
    return RESULT_IO;
}

static enum result refuse_remove(struct storage_hot *self, struct span id,
                                 struct proto_address reply_to)
{
    (void)self, (void)id, (void)reply_to;
    return RESULT_IO;
}

static enum result refuse_unbind(struct storage_hot *self, struct span session, struct span id,
                                 struct proto_address reply_to)
{
    (void)self, (void)session, (void)id, (void)reply_to;
    return RESULT_IO;
}

static void close_nothing(struct storage_hot *self)
{
    (void)self;
}

static const struct storage_hot_ops refusing = {.put = refuse_put,
                                                .get = refuse_get,
                                                .remove = refuse_remove,
                                                .bind = refuse_put,
                                                .resolve = refuse_get,
                                                .unbind = refuse_unbind,
                                                .close = close_nothing};

static unsigned lines;

static void count_lines(enum log_level level, const char *id, struct span fields)
{
    (void)id, (void)fields;
    lines += level == LOG_CRITICAL ? 1 : 0;
}

Test(hot, answers_for_a_tier_that_takes_nothing_and_says_so_once)
{
    struct fixture fixture;
    struct storage_hot tier = {.ops = &refusing};
    begin(&fixture, &tier);
    log_set_writer(count_lines, LOG_INFO);

    cr_expect_neq(keep(&fixture, PROTO_KEEP_SESSION, "e-1"), RESULT_OK);
    cr_expect_neq(keep(&fixture, PROTO_KEEP_NOTHING, "e-1"), RESULT_OK);
    struct proto_message *fetched = fetch(&fixture, PROTO_FETCH_HOT);
    cr_expect_eq(fetched->as.fetched.result, RESULT_IO);
    message_free(fetched);

    const struct actor_hot_counters *counters = actor_hot_counters(fixture.hot);
    cr_expect_eq(actor_count_read(&counters->failing), 1);
    cr_expect_geq(actor_count_read(&counters->failures), 5);
    cr_expect_eq(lines, 1);
    end(&fixture);
}

Test(hot, asks_a_tier_that_nobody_needs_whether_it_is_there)
{
    struct fixture fixture;
    struct storage_hot tier = {.ops = &refusing};
    begin(&fixture, &tier);

    turn(&fixture, NULL);
    cr_expect_eq(actor_count_read(&actor_hot_counters(fixture.hot)->failing), 1);
    end(&fixture);
}
