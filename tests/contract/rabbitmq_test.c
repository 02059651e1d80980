/* rabbitmq_test.c: the audit bus over AMQP 1.0 at RabbitMQ keeps its contract. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actors/waiter.h"
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
    const char *ca_file;
};

static struct audit_amqp_options options_of(struct contract_bus *port)
{
    struct rabbitmq_fixture *made = (struct rabbitmq_fixture *)port;
    return (struct audit_amqp_options){
        .url = made->url, .queue = made->queue, .ca_file = made->ca_file};
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

/* ---- whom it speaks to ---- */

static char lines[4096]; /* what was logged */
static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_line(enum log_level level, const char *id, struct span fields)
{
    (void)level;
    pthread_mutex_lock(&lines_lock);
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%s %.*s\n", id, SPAN_ARG(fields));
    pthread_mutex_unlock(&lines_lock);
}

static bool was_logged(const char *id)
{
    pthread_mutex_lock(&lines_lock);
    bool there = strstr(lines, id) != NULL;
    pthread_mutex_unlock(&lines_lock);
    return there;
}

/* It does not get through, and says so without the password. */
static void expect_down(struct rabbitmq_fixture *made, const char *reason)
{
    struct actor_waiter waiter;
    actor_waiter_init(&waiter);
    log_set_writer(keep_line, LOG_DEBUG);
    struct audit_bus *bus = open_bus(&made->port, 4, &waiter.sink);
    struct audit_bus_message message = {.id = span_text("1"), .body = span_text("{}")};
    cr_assert_eq(bus->ops->send(bus, &message), RESULT_OK);

    for (int i = 0; i < 2000 && !was_logged("BUS-DOWN"); i++) {
        poll(NULL, 0, 10);
    }

    cr_expect(was_logged("BUS-DOWN"), "%s", lines);
    cr_expect(was_logged(reason), "%s", lines);
    cr_expect_not(was_logged("sesame"), "%s", lines);
    cr_expect_not(was_logged("BUS-UP"), "%s", lines);
    cr_expect_eq(bus->ops->counters(bus)->settled, 0);
    bus->ops->close(bus);
    actor_waiter_release(&waiter);
}

Test(bus_at_rabbitmq, says_that_a_login_is_refused_without_the_password)
{
    CONTRACT_NEEDS(RABBITMQ);
    struct rabbitmq_fixture made = fixture("guest:sesame@");
    expect_down(&made, "unauthorized");
}

static struct rabbitmq_fixture tls_fixture(const char *host, const char *ca_file)
{
    struct rabbitmq_fixture made = fixture("");
    snprintf(made.url, sizeof made.url, "amqps://guest:guest@%s:%u", host,
             (unsigned)server_published(RABBITMQ_TLS));
    made.ca_file = ca_file;
    return made;
}

Test(bus_at_rabbitmq, speaks_tls_to_a_peer_whose_authority_is_trusted)
{
    CONTRACT_NEEDS(RABBITMQ_TLS);
    struct rabbitmq_fixture made = tls_fixture("localhost", server_rabbitmq_certificate());
    contract_bus_brings_ids_and_bodies_in_the_order_of_sending(&made.port);
}

Test(bus_at_rabbitmq, does_not_speak_to_a_peer_whose_authority_is_not_trusted)
{
    CONTRACT_NEEDS(RABBITMQ_TLS);
    struct rabbitmq_fixture made = tls_fixture("localhost", NULL);
    expect_down(&made, "certificate");
}

Test(bus_at_rabbitmq, does_not_speak_to_a_peer_of_another_name)
{
    CONTRACT_NEEDS(RABBITMQ_TLS);
    struct rabbitmq_fixture made = tls_fixture("127.0.0.1", server_rabbitmq_certificate());
    expect_down(&made, "certificate");
}

Test(bus_at_rabbitmq, takes_anonymous_clients)
{
    CONTRACT_NEEDS(RABBITMQ);
    struct rabbitmq_fixture made = fixture("");
    contract_bus_counts_what_is_settled(&made.port);
}
