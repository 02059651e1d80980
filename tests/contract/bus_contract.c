/* bus_contract.c: see bus_contract.h. */
#include "tests/contract/bus_contract.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "actors/waiter.h"

#define LONG_MS 20000u
#define SHORT_MS                                                                                   \
    100u /* for what must not come: a broken bus may be late, a sound one never fails */
#define LARGE   (300u << 10)
#define WINDOW  64u
#define MANY    20u
#define HEAVY   (3u << 19) /* so many bytes, and so many of them: more than may be unsettled */
#define HEAVIES 14u

struct both {
    struct actor_waiter sent;
    struct actor_waiter received;
    struct audit_bus *bus;
    struct audit_source *source;
};

static void open_both(struct both *both, struct contract_bus *queue, uint32_t source_window)
{
    actor_waiter_init(&both->sent);
    actor_waiter_init(&both->received);
    both->bus = queue->open_bus(queue, WINDOW, &both->sent.sink);
    both->source =
        source_window == 0 ? NULL : queue->open_source(queue, source_window, &both->received.sink);
}

static void close_both(struct both *both)
{
    both->bus->ops->close(both->bus);
    if (both->source != NULL) {
        both->source->ops->close(both->source);
    }
    actor_waiter_release(&both->sent);
    actor_waiter_release(&both->received);
}

static enum result send_text(struct audit_bus *bus, const char *id, struct span body)
{
    struct audit_bus_message message = {.id = span_text(id), .body = body};
    return bus->ops->send(bus, &message);
}

static void send_numbers(struct audit_bus *bus, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char text[32];
        snprintf(text, sizeof text, "{\"n\":%u}", i);
        cr_assert_eq(send_text(bus, text, span_text(text)), RESULT_OK);
    }
}

/* Of a message that must come; its number. */
static uint64_t expect_body(struct actor_waiter *received, struct span id, struct span body)
{
    struct proto_message *message = actor_waiter_next(received, LONG_MS);
    cr_assert_not_null(message);
    cr_assert_eq(message->type, PROTO_BUS_RECEIVED);
    uint64_t number = message->as.bus.number;
    cr_expect(span_equal(message->as.bus.id, id), "id %.*s", SPAN_ARG(message->as.bus.id));
    cr_expect(span_equal(message->as.bus.body, body), "body of %zu bytes, expected %zu",
              message->as.bus.body.count, body.count);
    cr_expect_not(message->as.bus.cut);
    message_free(message);
    return number;
}

static uint64_t expect_number(struct actor_waiter *received, unsigned expected)
{
    char text[32];
    snprintf(text, sizeof text, "{\"n\":%u}", expected);
    return expect_body(received, span_text(text), span_text(text));
}

static void expect_settled_from(struct actor_waiter *sent, uint64_t settled, uint64_t expected)
{
    while (settled < expected) {
        struct proto_message *message = actor_waiter_next(sent, LONG_MS);
        cr_assert_not_null(message);
        cr_assert_eq(message->type, PROTO_BUS_SETTLED);
        cr_expect_gt(message->as.position, settled, "it only grows");
        settled = message->as.position;
        message_free(message);
    }
    cr_expect_eq(settled, expected);
}

static void expect_settled(struct actor_waiter *sent, uint64_t expected)
{
    expect_settled_from(sent, 0, expected);
}

static void expect_nothing(struct actor_waiter *waiter)
{
    struct proto_message *message = actor_waiter_next(waiter, SHORT_MS);
    cr_expect_null(message);
    message_free(message);
}

void contract_bus_brings_ids_and_bodies_in_the_order_of_sending(struct contract_bus *queue)
{
    struct both both;
    static char large[LARGE];
    memset(large, 'x', sizeof large);
    struct span texts[] = {span_text("{\"name\":\"Zo\xc3\xab \xf0\x9f\x98\x80\"}"),
                           span_text("not even JSON"), span_of(large, sizeof large),
                           span_text("{}")};
    open_both(&both, queue, WINDOW);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(send_text(both.bus, i == 3 ? "" : "7d1:1", texts[i]), RESULT_OK);
    }

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t number = expect_body(&both.received, span_text(i == 3 ? "" : "7d1:1"), texts[i]);
        both.source->ops->settle(both.source, number, AUDIT_ACCEPTED);
    }
    close_both(&both);
}

void contract_bus_counts_what_is_settled(struct contract_bus *queue)
{
    struct both both;
    open_both(&both, queue, 0);
    send_numbers(both.bus, 0, MANY);

    expect_settled(&both.sent, MANY);

    const struct audit_bus_counters *counters = both.bus->ops->counters(both.bus);
    cr_expect_eq(counters->settled, MANY);
    cr_expect_geq(counters->sent, MANY);
    cr_expect_eq(counters->refused, 0);
    cr_expect_eq(counters->connected, 1);
    close_both(&both);
}

void contract_bus_takes_no_more_than_its_window(struct contract_bus *queue)
{
    struct both both;
    queue->go_away(queue);
    open_both(&both, queue, 0);
    send_numbers(both.bus, 0, WINDOW);

    cr_expect_eq(send_text(both.bus, "more", span_text("{}")), RESULT_AGAIN);

    expect_nothing(&both.sent);
    cr_expect_eq(both.bus->ops->counters(both.bus)->connected, 0);
    close_both(&both);
}

void contract_bus_brings_no_more_than_the_window_of_a_source(struct contract_bus *queue)
{
    struct both both;
    uint64_t first[3];
    open_both(&both, queue, 3);
    send_numbers(both.bus, 0, MANY);
    expect_settled(&both.sent, MANY);

    for (unsigned i = 0; i < 3; i++) {
        first[i] = expect_number(&both.received, i);
    }
    expect_nothing(&both.received);
    for (unsigned i = 0; i < 3; i++) {
        both.source->ops->settle(both.source, first[i], AUDIT_ACCEPTED);
    }

    for (unsigned i = 3; i < MANY; i++) {
        both.source->ops->settle(both.source, expect_number(&both.received, i), AUDIT_ACCEPTED);
    }
    expect_nothing(&both.received);
    close_both(&both);
}

/* Until nothing more comes, or all have come; settles none. */
static unsigned count_heavy(struct actor_waiter *received, uint64_t numbers[HEAVIES])
{
    unsigned count = 0;
    struct proto_message *message = NULL;
    while (count < HEAVIES &&
           (message = actor_waiter_next(
                received, count * HEAVY >= AUDIT_UNSETTLED_BYTES ? SHORT_MS : LONG_MS)) != NULL) {
        cr_assert_eq(message->as.bus.body.count, HEAVY);
        numbers[count++] = message->as.bus.number;
        message_free(message);
    }
    return count;
}

void contract_bus_brings_no_more_bytes_than_may_be_unsettled(struct contract_bus *queue)
{
    struct both both;
    uint64_t numbers[HEAVIES];
    static char heavy[HEAVY];
    memset(heavy, 'x', sizeof heavy);
    open_both(&both, queue, WINDOW);
    for (unsigned i = 0; i < HEAVIES; i++) {
        cr_assert_eq(send_text(both.bus, "h", span_of(heavy, sizeof heavy)), RESULT_OK);
        expect_settled_from(&both.sent, i, i + 1);
    }

    unsigned first = count_heavy(&both.received, numbers);
    cr_expect_geq(first * HEAVY, AUDIT_UNSETTLED_BYTES, "as many as may");
    cr_expect_lt((first - 1) * HEAVY, AUDIT_UNSETTLED_BYTES, "and no more");
    for (unsigned i = 0; i < first; i++) {
        both.source->ops->settle(both.source, numbers[i], AUDIT_ACCEPTED);
    }

    for (unsigned i = first; i < HEAVIES; i++) {
        uint64_t number = expect_body(&both.received, span_text("h"), span_of(heavy, sizeof heavy));
        both.source->ops->settle(both.source, number, AUDIT_ACCEPTED);
    }
    expect_nothing(&both.received);
    close_both(&both);
}

void contract_bus_brings_again_what_was_not_accepted(struct contract_bus *queue)
{
    struct both both;
    struct actor_waiter later;
    open_both(&both, queue, WINDOW);
    send_numbers(both.bus, 0, 2);

    both.source->ops->settle(both.source, expect_number(&both.received, 0), AUDIT_ACCEPTED);
    both.source->ops->settle(both.source, expect_number(&both.received, 1), AUDIT_RELEASED);
    (void)expect_number(&both.received, 1);
    both.source->ops->close(both.source);

    actor_waiter_init(&later);
    both.source = queue->open_source(queue, WINDOW, &later.sink);
    both.source->ops->settle(both.source, expect_number(&later, 1), AUDIT_ACCEPTED);
    expect_nothing(&later);
    close_both(&both);
    actor_waiter_release(&later);
}

void contract_bus_shares_a_queue_among_sources(struct contract_bus *queue)
{
    struct both both;
    struct actor_waiter other;
    open_both(&both, queue, 1);
    actor_waiter_init(&other);
    struct audit_source *second = queue->open_source(queue, 1, &other.sink);
    send_numbers(both.bus, 0, 2);

    struct proto_message *here = actor_waiter_next(&both.received, LONG_MS);
    struct proto_message *there = actor_waiter_next(&other, LONG_MS);

    cr_assert_not_null(here);
    cr_assert_not_null(there);
    cr_expect_not(span_equal(here->as.bus.id, there->as.bus.id));
    both.source->ops->settle(both.source, here->as.bus.number, AUDIT_ACCEPTED);
    second->ops->settle(second, there->as.bus.number, AUDIT_ACCEPTED);
    expect_nothing(&both.received);
    message_free(here);
    message_free(there);
    second->ops->close(second);
    close_both(&both);
    actor_waiter_release(&other);
}

void contract_bus_keeps_messages_until_somebody_receives(struct contract_bus *queue)
{
    struct both both;
    struct actor_waiter later;
    open_both(&both, queue, 0);
    send_numbers(both.bus, 0, MANY);
    expect_settled(&both.sent, MANY);
    close_both(&both);

    actor_waiter_init(&later);
    struct audit_source *source = queue->open_source(queue, WINDOW, &later.sink);
    for (unsigned i = 0; i < MANY; i++) {
        source->ops->settle(source, expect_number(&later, i), AUDIT_ACCEPTED);
    }
    source->ops->close(source);
    actor_waiter_release(&later);
}
