/* bus_test.c: the audit bus in memory keeps its contract, and can refuse. */
#include <criterion/criterion.h>

#include "actors/waiter.h"
#include "audit/memory/memory.h"
#include "tests/contract/bus_contract.h"

struct memory_fixture {
    struct contract_bus port; /* first: the rules point here */
    struct audit_memory_queue *queue;
};

static struct audit_bus *open_bus(struct contract_bus *port, uint32_t window,
                                  struct proto_sink *owner)
{
    struct audit_bus *bus = NULL;
    struct audit_bus_options options = {.window = window, .owner.sink = owner};
    cr_assert_eq(audit_memory_bus_open(((struct memory_fixture *)port)->queue, &options, &bus),
                 RESULT_OK);
    return bus;
}

static struct audit_source *open_source(struct contract_bus *port, uint32_t window,
                                        struct proto_sink *owner)
{
    struct audit_source *source = NULL;
    struct audit_source_options options = {.window = window, .owner.sink = owner};
    cr_assert_eq(
        audit_memory_source_open(((struct memory_fixture *)port)->queue, &options, &source),
        RESULT_OK);
    return source;
}

static void go_away(struct contract_bus *port)
{
    audit_memory_queue_set_away(((struct memory_fixture *)port)->queue, true);
}

static struct memory_fixture fixture(void)
{
    struct memory_fixture made = {
        .port = {.open_bus = open_bus, .open_source = open_source, .go_away = go_away}};
    cr_assert_eq(audit_memory_queue_new(&made.queue), RESULT_OK);
    return made;
}

#define X(rule)                                                                                    \
    Test(bus_in_memory, rule)                                                                      \
    {                                                                                              \
        struct memory_fixture made = fixture();                                                    \
        contract_bus_##rule(&made.port);                                                           \
        audit_memory_queue_free(made.queue);                                                       \
    }
CONTRACT_BUS_RULES(X)
#undef X

Test(bus_in_memory, what_is_refused_is_said_before_it_counts_as_settled)
{
    struct memory_fixture made = fixture();
    struct actor_waiter waiter;
    actor_waiter_init(&waiter);
    struct audit_bus *bus = open_bus(&made.port, 4, &waiter.sink);
    audit_memory_queue_refuse(made.queue, "b");

    struct audit_bus_message message = {.id = span_text("b"), .body = span_text("{}")};
    cr_assert_eq(bus->ops->send(bus, &message), RESULT_OK);

    struct proto_message *refused = actor_waiter_next(&waiter, 0);
    struct proto_message *settled = actor_waiter_next(&waiter, 0);
    cr_assert(refused != NULL && refused->type == PROTO_BUS_REFUSED);
    cr_assert(settled != NULL && settled->type == PROTO_BUS_SETTLED);
    cr_expect_eq(refused->as.bus.number, 0);
    cr_expect(span_is(refused->as.bus.body, "{}"));
    cr_expect_eq(settled->as.position, 1);
    message_free(refused);
    message_free(settled);
    bus->ops->close(bus);
    actor_waiter_release(&waiter);
    audit_memory_queue_free(made.queue);
}
