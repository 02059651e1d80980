/* rabbitmq_test.c: the audit bus over AMQP 1.0 at RabbitMQ keeps its contract. */
#include <stdio.h>
#include <unistd.h>

#include "audit/amqp/amqp.h"
#include "proto/log.h"
#include "tests/contract/bus_contract.h"
#include "tests/contract/servers_main.h"
#include "tests/servers/rabbitmq.h"

#define RABBITMQ "rabbitmq"

int main(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return contract_servers_main(argc, argv, RABBITMQ, server_rabbitmq_installed,
                                 server_rabbitmq_start);
}

struct rabbitmq_fixture {
    struct contract_bus port; /* first: the rules point here */
    char url[64];
    char queue[64];
};

static struct audit_amqp_options options_of(struct contract_bus *port)
{
    struct rabbitmq_fixture *made = (struct rabbitmq_fixture *)port;
    return (struct audit_amqp_options){.url = made->url, .queue = made->queue};
}

static struct audit_bus *open_bus(struct contract_bus *port, uint32_t window,
                                  struct proto_sink *owner)
{
    char reason[AUDIT_REASON_BYTES];
    struct audit_bus *bus = NULL;
    struct audit_amqp_options amqp = options_of(port);
    struct audit_bus_options options = {.window = window, .owner.sink = owner};
    cr_assert_eq(audit_amqp_bus_open(&amqp, &options, &bus, reason), RESULT_OK, "%s", reason);
    return bus;
}

static struct audit_source *open_source(struct contract_bus *port, uint32_t window,
                                        struct proto_sink *owner)
{
    char reason[AUDIT_REASON_BYTES];
    struct audit_source *source = NULL;
    struct audit_amqp_options amqp = options_of(port);
    struct audit_source_options options = {.window = window, .owner.sink = owner};
    cr_assert_eq(audit_amqp_source_open(&amqp, &options, &source, reason), RESULT_OK, "%s", reason);
    return source;
}

static void go_away(struct contract_bus *port)
{
    struct rabbitmq_fixture *made = (struct rabbitmq_fixture *)port;
    snprintf(made->url, sizeof made->url, "amqp://127.0.0.1:%u", (unsigned)server_free_port());
}

/* Each test is a process of its own, and so is its queue. */
static struct rabbitmq_fixture fixture(const char *login)
{
    struct rabbitmq_fixture made = {
        .port = {.open_bus = open_bus, .open_source = open_source, .go_away = go_away}};
    snprintf(made.url, sizeof made.url, "amqp://%s127.0.0.1:%u", login,
             (unsigned)server_published(RABBITMQ));
    snprintf(made.queue, sizeof made.queue, "contract-%d", (int)getpid());
    return made;
}

#define X(rule)                                                                                    \
    Test(bus_at_rabbitmq, rule)                                                                    \
    {                                                                                              \
        CONTRACT_NEEDS(RABBITMQ);                                                                  \
        struct rabbitmq_fixture made = fixture("guest:guest@");                                    \
        contract_bus_##rule(&made.port);                                                           \
    }
CONTRACT_BUS_RULES(X)
#undef X

Test(bus_at_rabbitmq, takes_anonymous_clients)
{
    CONTRACT_NEEDS(RABBITMQ);
    struct rabbitmq_fixture made = fixture("");
    contract_bus_counts_what_is_settled(&made.port);
}
