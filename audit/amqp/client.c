/* client.c: see client.h. One thread handles all events of its proactor, one after the other. */
#include "audit/amqp/client.h"

#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/ssl.h>
#include <proton/transport.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "proto/log.h"

enum {
    BACK_OFF_FIRST_MS = 100,
    BACK_OFF_MAX_MS = 10000,
    IDLE_MS = 30000, /* a peer that is silent for so long is gone */
    LEAVE_MS = 3000,
    FRAME_BYTES = 4096, /* at most, towards us: the unit of the session's window */
    STEADY_MS = 10000,  /* a link that was up for so long begins with short pauses again */
};

#define RABBITMQ         "RabbitMQ"
#define RABBITMQ_DECLARE "/queue/" /* an address that declares what is missing */

static void *run(void *argument);
static void handle(struct amqp_client *client, pn_event_t *event);

/* ---- starting and stopping ---- */

static enum result refuse(char reason[AUDIT_REASON_BYTES], enum result result, const char *why)
{
    snprintf(reason, AUDIT_REASON_BYTES, "%s", why);
    return result;
}

static enum result make_tls(struct amqp_client *client, const char *ca_file, char *reason)
{
    if (!client->place.tls) {
        return RESULT_OK;
    }
    client->tls = pn_ssl_present() ? pn_ssl_domain(PN_SSL_MODE_CLIENT) : NULL;
    if (client->tls == NULL) {
        return refuse(reason, RESULT_UNSUPPORTED, "this build of Proton has no TLS");
    }
    if (ca_file != NULL && (access(ca_file, R_OK) != 0 ||
                            pn_ssl_domain_set_trusted_ca_db(client->tls, ca_file) != 0)) {
        return refuse(reason, RESULT_INVALID, "the file of certificates cannot be used");
    }
    return pn_ssl_domain_set_peer_authentication(client->tls, PN_SSL_VERIFY_PEER_NAME, NULL) == 0
               ? RESULT_OK
               : refuse(reason, RESULT_UNSUPPORTED, "the peer's name cannot be verified");
}

static bool is_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || (unsigned char)*text == 0x7f) {
            return false;
        }
    }
    return true;
}

static enum result read_options(struct amqp_client *client,
                                const struct audit_amqp_options *options, char *reason)
{
    const char *why = "";
    enum result result = audit_amqp_url_read(options->url, &client->place, &why);
    if (result != RESULT_OK) {
        return refuse(reason, result, why);
    }
    size_t count = strlen(options->queue);
    if (count == 0 || count + sizeof RABBITMQ_DECLARE > sizeof client->queue ||
        !is_text(options->queue)) {
        return refuse(reason, RESULT_INVALID,
                      "a queue's name is 1 to 500 bytes without blanks and control characters");
    }
    memcpy(client->queue, options->queue, count + 1);
    return make_tls(client, options->ca_file, reason);
}

static void release(struct amqp_client *client)
{
    if (client->proactor != NULL) {
        pn_proactor_free(client->proactor);
    }
    if (client->tls != NULL) {
        pn_ssl_domain_free(client->tls);
    }
    pthread_mutex_destroy(&client->lock);
    explicit_bzero(&client->place, sizeof client->place);
}

static enum result start(struct amqp_client *client, const struct audit_amqp_options *options,
                         char reason[AUDIT_REASON_BYTES])
{
    pthread_mutex_init(&client->lock, NULL);
    enum result result = read_options(client, options, reason);
    client->proactor = result == RESULT_OK ? pn_proactor() : NULL;
    if (getrandom(&client->random, sizeof client->random, 0) != sizeof client->random ||
        client->random == 0) {
        client->random = 1;
    }
    /* Signals belong to main's thread. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (result == RESULT_OK &&
        (client->proactor == NULL || pthread_create(&client->thread, NULL, run, client) != 0)) {
        result = refuse(reason, RESULT_LIMIT, "no thread could be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != RESULT_OK) {
        release(client);
    }
    return result;
}

enum result amqp_client_start(const struct amqp_opening *opening,
                              const struct audit_amqp_options *options,
                              char reason[AUDIT_REASON_BYTES])
{
    ASSERT(opening->window > 0 && opening->window <= AUDIT_WINDOW_MAX);
    if (!opening->made) {
        if (opening->owner != NULL) {
            opening->role->release(opening->owner);
        }
        return refuse(reason, RESULT_LIMIT, "no memory");
    }
    struct amqp_client *client = opening->client;
    *client = (struct amqp_client){
        .role = opening->role, .owner = opening->owner, .connected = opening->connected};
    enum result result = start(client, options, reason);
    if (result == RESULT_OK) {
        pthread_setname_np(client->thread, client->role->name);
    } else {
        opening->role->release(opening->owner);
    }
    return result;
}

void amqp_client_stop(struct amqp_client *client)
{
    pthread_mutex_lock(&client->lock);
    client->stopping = true;
    amqp_client_wake_locked(client);
    pthread_mutex_unlock(&client->lock);
    pn_proactor_interrupt(client->proactor);
    pthread_join(client->thread, NULL);
    release(client);
    client->role->release(client->owner);
}

void amqp_client_wake_locked(struct amqp_client *client)
{
    if (client->connection != NULL) {
        pn_connection_wake(client->connection);
    }
}

void amqp_client_wake(struct amqp_client *client)
{
    pthread_mutex_lock(&client->lock);
    amqp_client_wake_locked(client);
    pthread_mutex_unlock(&client->lock);
}

void amqp_client_work_in(struct amqp_client *client, uint32_t delay_ms)
{
    pn_proactor_set_timeout(client->proactor, delay_ms);
}

/* xorshift64: so that a broker's clients do not all come back at the same moment. */
static uint64_t next_random(struct amqp_client *client)
{
    client->random ^= client->random << 13;
    client->random ^= client->random >> 7;
    client->random ^= client->random << 17;
    return client->random;
}

uint32_t amqp_client_back_off_ms(struct amqp_client *client, uint32_t failures)
{
    uint32_t most = failures < 7 ? (uint32_t)BACK_OFF_FIRST_MS << failures : BACK_OFF_MAX_MS;
    most = most < BACK_OFF_MAX_MS ? most : BACK_OFF_MAX_MS;
    return most / 2 + (uint32_t)(next_random(client) % (most / 2 + 1));
}

/* ---- the thread ---- */

static void connect_now(struct amqp_client *client)
{
    char address[PN_MAX_ADDR];
    const struct audit_amqp_place *place = &client->place;
    bool numeric6 = strchr(place->host, ':') != NULL;
    pn_connection_t *connection = pn_connection();
    pn_transport_t *transport = pn_transport();
    pn_connection_set_container(connection, "strider");
    pn_connection_set_hostname(connection, place->host);
    pn_transport_set_idle_timeout(transport, IDLE_MS);
    pn_transport_set_max_frame(transport, FRAME_BYTES);
    if (place->tls) {
        pn_ssl_t *ssl = pn_ssl(transport);
        pn_ssl_init(ssl, client->tls, NULL);
        pn_ssl_set_peer_hostname(ssl, place->host);
    }
    pn_sasl_t *sasl = pn_sasl(transport);
    if (place->user[0] != '\0') {
        pn_connection_set_user(connection, place->user);
        pn_connection_set_password(connection, place->password);
        /* (Who writes amqp:// with a password means it.) */
        pn_sasl_set_allow_insecure_mechs(sasl, true);
        pn_sasl_allowed_mechs(sasl, "PLAIN");
    } else {
        pn_sasl_allowed_mechs(sasl, "ANONYMOUS");
    }
    snprintf(address, sizeof address, "%s%s%s:%u", numeric6 ? "[" : "", place->host,
             numeric6 ? "]" : "", (unsigned)place->port);
    pthread_mutex_lock(&client->lock);
    client->connection = connection;
    pthread_mutex_unlock(&client->lock);
    pn_proactor_connect2(client->proactor, connection, transport, address);
}

static bool is_stopping(struct amqp_client *client)
{
    pthread_mutex_lock(&client->lock);
    bool stopping = client->stopping;
    pthread_mutex_unlock(&client->lock);
    return stopping;
}

static void *run(void *argument)
{
    struct amqp_client *client = argument;
    connect_now(client);
    while (!client->ended) {
        pn_event_batch_t *batch = pn_proactor_wait(client->proactor);
        pn_event_t *event;
        while ((event = pn_event_batch_next(batch)) != NULL) {
            handle(client, event);
        }
        client->role->report(client->owner);
        pn_proactor_done(client->proactor, batch);
    }
    return NULL;
}

/* ---- trouble ---- */

/* A peer's words into a log line: printable ASCII without quotes. */
static void remember_why(struct amqp_client *client, pn_condition_t *condition)
{
    if (condition == NULL || !pn_condition_is_set(condition) || client->why[0] != '\0') {
        return;
    }
    const char *name = pn_condition_get_name(condition);
    const char *more = pn_condition_get_description(condition);
    snprintf(client->why, sizeof client->why, "%s: %s", name == NULL ? "" : name,
             more == NULL ? "" : more);
    for (char *at = client->why; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') {
            *at = *at == '\n' ? ' ' : '\'';
        }
    }
}

uint64_t amqp_client_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void lost(struct amqp_client *client)
{
    pthread_mutex_lock(&client->lock);
    client->connection = NULL;
    pthread_mutex_unlock(&client->lock);
    client->link = NULL;
    atomic_store_explicit(client->connected, 0, memory_order_relaxed);
    client->role->lost(client->owner);
    if (is_stopping(client)) {
        client->ended = true;
        return;
    }
    if (client->up_ms != 0 && amqp_client_now_ms() - client->up_ms >= STEADY_MS) {
        client->failures = 0;
    }
    client->up_ms = 0;
    uint32_t wait_ms = amqp_client_back_off_ms(client, client->failures);
    client->failures++;
    if (!client->told_down) {
        client->told_down = true;
        log_line(LOG_WARN, "BUS-DOWN", "side=%s host=%s queue=%s reason=\"%s\"", client->role->name,
                 client->place.host, client->queue,
                 client->why[0] == '\0' ? "the connection ended" : client->why);
    }
    client->why[0] = '\0';
    amqp_client_work_in(client, wait_ms);
}

static void leave(struct amqp_client *client)
{
    if (client->leaving) {
        return;
    }
    client->leaving = true;
    amqp_client_work_in(client, LEAVE_MS);
    if (client->link != NULL) {
        /* The link first, then behind its echo the connection: else a broker may miss what was
         * settled last. */
        client->role->leave(client->owner, client->link);
        pn_link_close(client->link);
    } else {
        pn_connection_close(client->connection);
    }
}

/* ---- events ---- */

static bool product_is(pn_connection_t *connection, const char *product)
{
    pn_data_t *properties = pn_connection_remote_properties(connection);
    bool is = false;
    if (properties == NULL) {
        return false;
    }
    pn_data_rewind(properties);
    if (pn_data_next(properties) && pn_data_enter(properties)) {
        while (pn_data_next(properties)) {
            pn_bytes_t key = pn_data_type(properties) == PN_SYMBOL ? pn_data_get_symbol(properties)
                                                                   : (pn_bytes_t){0};
            bool named = span_is(span_of(key.start, key.size), "product");
            if (!pn_data_next(properties)) {
                break;
            }
            if (named && pn_data_type(properties) == PN_STRING) {
                pn_bytes_t value = pn_data_get_string(properties);
                is = span_is(span_of(value.start, value.size), product);
            }
        }
    }
    return is;
}

/* At RabbitMQ a plain name is sent into the void when there is no such queue. */
static void open_link(struct amqp_client *client, pn_connection_t *connection)
{
    char address[AMQP_ADDRESS_BYTES];
    bool declare = strchr(client->queue, '/') == NULL && product_is(connection, RABBITMQ);
    snprintf(address, sizeof address, "%s%.*s", declare ? RABBITMQ_DECLARE : "",
             (int)(sizeof address - sizeof RABBITMQ_DECLARE), client->queue);
    pn_session_t *session = pn_session(connection);
    /* What a receiver does not read yet fills the session, and so keeps the peer from sending. */
    pn_session_set_incoming_capacity(session, AUDIT_UNSETTLED_BYTES);
    pn_session_open(session);
    client->role->open(client->owner, session, address);
}

static void link_is_up(struct amqp_client *client, pn_link_t *link)
{
    client->link = link;
    client->up_ms = amqp_client_now_ms();
    atomic_store_explicit(client->connected, 1, memory_order_relaxed);
    log_line(LOG_INFO, "BUS-UP", "side=%s host=%s queue=%s", client->role->name, client->place.host,
             client->queue);
    client->told_down = false;
    client->role->work(client->owner, link);
}

static void work(struct amqp_client *client)
{
    if (client->link != NULL && !client->leaving) {
        client->role->work(client->owner, client->link);
    }
}

/* The peer ended something: the connection is made anew, unless it is us who leave. */
static void ended_by_peer(struct amqp_client *client, pn_connection_t *connection,
                          pn_condition_t *condition)
{
    remember_why(client, condition);
    client->link = NULL;
    pn_connection_close(connection);
}

static void timer(struct amqp_client *client)
{
    if (client->leaving || (client->connection == NULL && is_stopping(client))) {
        client->ended = true; /* enough waited */
    } else if (client->connection == NULL) {
        connect_now(client);
    } else {
        pn_connection_wake(client->connection);
    }
}

static void interrupted(struct amqp_client *client)
{
    if (client->connection == NULL) {
        client->ended = true;
    }
}

static void handle(struct amqp_client *client, pn_event_t *event)
{
    pn_connection_t *connection = pn_event_connection(event);
    pn_link_t *link = pn_event_link(event);
    pn_event_type_t type = pn_event_type(event);
    if (type == PN_CONNECTION_INIT) {
        pn_connection_open(connection);
    } else if (type == PN_CONNECTION_REMOTE_OPEN) {
        open_link(client, connection);
    } else if (type == PN_LINK_REMOTE_OPEN) {
        /* (A link that the peer refuses is opened and closed by it.) */
        bool refused = pn_terminus_get_type(pn_link_is_sender(link)
                                                ? pn_link_remote_target(link)
                                                : pn_link_remote_source(link)) == PN_UNSPECIFIED;
        if (!refused) {
            link_is_up(client, link);
        }
    } else if (type == PN_LINK_FLOW) {
        work(client);
    } else if (type == PN_CONNECTION_WAKE) {
        work(client);
        if (is_stopping(client)) {
            leave(client);
        }
    } else if (type == PN_DELIVERY) {
        client->role->delivery(client->owner, pn_event_delivery(event));
    } else if (type == PN_LINK_REMOTE_CLOSE || type == PN_LINK_REMOTE_DETACH) {
        ended_by_peer(client, connection, pn_link_remote_condition(link));
    } else if (type == PN_SESSION_REMOTE_CLOSE) {
        ended_by_peer(client, connection, pn_session_remote_condition(pn_event_session(event)));
    } else if (type == PN_CONNECTION_REMOTE_CLOSE) {
        ended_by_peer(client, connection, pn_connection_remote_condition(connection));
    } else if (type == PN_TRANSPORT_ERROR) {
        remember_why(client, pn_transport_condition(pn_event_transport(event)));
    } else if (type == PN_TRANSPORT_CLOSED) {
        lost(client);
    } else if (type == PN_PROACTOR_TIMEOUT) {
        timer(client);
    } else if (type == PN_PROACTOR_INTERRUPT) {
        interrupted(client);
    }
}
