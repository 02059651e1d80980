/*
 * client.c: see client.h. Each call takes a context of its own on the link of the moment, so any
 * number of threads may call at once; the mutex guards which link that is, and when it is given up.
 */
#include "transport/client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "transport/client/exchange.h"

#define CLIENT_MAGIC 0x434c4e54u
/* Where Debian and many others keep whom the system trusts. */
#define SYSTEM_AUTHORITIES "/etc/ssl/certs/ca-certificates.crt"
/* A link that takes nothing for so long is given up. It doubles each time, so that a way that is
 * slow to connect is not cut off again and again. */
#define PATIENCE_MS     2000u
#define PATIENCE_MS_MAX 32000u
/* How often a link over TLS that has not taken a request yet is asked whether it is denied. */
#define DENIED_LOOK_MS 50u
#define SILENCES_MAX   3u /* replies in a row that did not come in time, and it is given up too */

struct transport_client {
    uint32_t magic;
    char *url;
    struct transport_tls tls;
    pthread_mutex_t mutex; /* guards what follows */
    struct client_link *link;
    uint32_t patience_ms;
    uint32_t silences;
    uint32_t reopened;
};

/* How far a try came. */
enum stage { STAGE_REFUSED, STAGE_UNTAKEN, STAGE_UNANSWERED, STAGE_ANSWERED };

static enum result check_files(const char *url, const struct transport_tls *files, char error[256]);
static struct client_link *take_link(struct transport_client *client, uint64_t *patience_end_ms);
static void give_up(struct transport_client *client, const struct client_link *link);
static enum result try_once(struct transport_client *client, struct span request, uint64_t until_ms,
                            enum stage *stage, nng_msg **reply);
static enum result exchange(struct client_exchange *exchange, struct span request,
                            uint64_t send_until_ms, uint64_t until_ms, enum stage *stage,
                            nng_msg **reply);
static void learn(struct transport_client *client, struct client_link *link, enum stage stage,
                  enum result result);
static enum result keep_reply(nng_msg *reply, struct arena *arena, struct span *out);

enum result transport_client_open(const char *url, struct transport_client **out, char error[256])
{
    return transport_client_open_tls(url, NULL, out, error);
}

enum result transport_client_open_tls(const char *url, const struct transport_tls *tls,
                                      struct transport_client **out, char error[256])
{
    *out = NULL;
    struct transport_tls files = tls == NULL ? (struct transport_tls){NULL, NULL} : *tls;
    if (files.authorities_file == NULL) {
        files.authorities_file = SYSTEM_AUTHORITIES;
    }
    enum result result = check_files(url, &files, error);
    if (result != RESULT_OK) {
        return result;
    }
    struct transport_client *client = calloc(1, sizeof *client);
    result = RESULT_LIMIT;
    snprintf(error, 256, "no memory for the client");
    if (client == NULL || (client->url = strdup(url)) == NULL ||
        (result = client_link_open(url, &files, &client->link, error)) != RESULT_OK) {
        if (client != NULL) {
            free(client->url);
        }
        free(client);
        return result;
    }
    client->magic = CLIENT_MAGIC;
    client->tls = files;
    client->patience_ms = PATIENCE_MS;
    pthread_mutex_init(&client->mutex, NULL);
    *out = client;
    return RESULT_OK;
}

static enum result check_files(const char *url, const struct transport_tls *files, char error[256])
{
    if (!transport_url_is_tls(url)) {
        return RESULT_OK;
    }
    enum result result = transport_tls_check_authorities(files->authorities_file, error);
    if (result == RESULT_OK && files->certificate_file != NULL) {
        result = transport_tls_check_certificate(files->certificate_file, error);
    }
    return result;
}

enum result transport_client_call(struct transport_client *client, struct span request,
                                  uint32_t timeout_ms, struct arena *arena, struct span *reply)
{
    ASSERT(client->magic == CLIENT_MAGIC);
    *reply = SPAN_EMPTY;
    uint64_t until_ms = client_now_ms() + timeout_ms;
    enum stage stage;
    enum result result;
    nng_msg *message = NULL;
    do {
        /* What no connection has taken was not sent: the next link may. */
        result = try_once(client, request, until_ms, &stage, &message);
    } while (stage == STAGE_UNTAKEN && client_now_ms() < until_ms);
    if (result == RESULT_OK) {
        result = keep_reply(message, arena, reply);
        nng_msg_free(message);
    }
    return result;
}

static enum result try_once(struct transport_client *client, struct span request, uint64_t until_ms,
                            enum stage *stage, nng_msg **reply)
{
    uint64_t patience_end_ms;
    struct client_exchange *own = NULL;
    struct client_link *link = take_link(client, &patience_end_ms);
    *stage = STAGE_REFUSED;
    enum result result = client_exchange_open(link, &own);
    if (result == RESULT_OK) {
        uint64_t send_until_ms = patience_end_ms < until_ms ? patience_end_ms : until_ms;
        if (link->is_tls && client_now_ms() + DENIED_LOOK_MS < send_until_ms) {
            send_until_ms = client_now_ms() + DENIED_LOOK_MS;
        }
        result = exchange(own, request, send_until_ms, until_ms, stage, reply);
        if (*stage == STAGE_UNTAKEN && client_link_is_denied(link)) {
            *stage = STAGE_REFUSED;
            result = RESULT_DENIED;
        }
        learn(client, link, *stage, result);
        if (!client_exchange_close(own)) {
            *stage = STAGE_UNANSWERED; /* it may have been sent: no repeat */
            give_up(client, link);
        }
    }
    client_link_leave(link);
    return result;
}

static uint64_t left_ms(uint64_t until_ms)
{
    uint64_t now_ms = client_now_ms();
    return now_ms < until_ms ? until_ms - now_ms : 1;
}

static enum result exchange(struct client_exchange *exchange, struct span request,
                            uint64_t send_until_ms, uint64_t until_ms, enum stage *stage,
                            nng_msg **reply)
{
    enum result result = client_exchange_send(exchange, request, left_ms(send_until_ms));
    if (result != RESULT_OK) {
        *stage = result == RESULT_TIMEOUT ? STAGE_UNTAKEN : STAGE_REFUSED;
        return result;
    }
    *stage = STAGE_UNANSWERED;
    result = client_exchange_receive(exchange, left_ms(until_ms), reply);
    if (result == RESULT_OK) {
        *stage = STAGE_ANSWERED;
    }
    return result;
}

/* ---- which link ---- */

/* Held for the caller. Until when it may take a request before it is given up. */
static struct client_link *take_link(struct transport_client *client, uint64_t *patience_end_ms)
{
    pthread_mutex_lock(&client->mutex);
    struct client_link *link = client->link;
    client_link_hold(link);
    *patience_end_ms = atomic_load(&link->progressed_ms) + client->patience_ms;
    pthread_mutex_unlock(&client->mutex);
    return link;
}

/* The others leave it when they have done; what comes from now on uses another. If there is none to
 * be had, the old one has to do. */
static void give_up(struct transport_client *client, const struct client_link *link)
{
    char error[256];
    struct client_link *fresh = NULL;
    struct client_link *old = NULL;
    pthread_mutex_lock(&client->mutex);
    if (client->link == link &&
        client_link_open(client->url, &client->tls, &fresh, error) == RESULT_OK) {
        old = client->link;
        client->link = fresh;
        client->silences = 0;
        client->reopened++;
    }
    pthread_mutex_unlock(&client->mutex);
    if (old != NULL) {
        client_link_leave(old);
    }
}

static void learn(struct transport_client *client, struct client_link *link, enum stage stage,
                  enum result result)
{
    bool useless = false;
    pthread_mutex_lock(&client->mutex);
    if (stage == STAGE_ANSWERED) {
        client->silences = 0;
        client->patience_ms = PATIENCE_MS;
    }
    if (stage >= STAGE_UNANSWERED) {
        atomic_store(&link->progressed_ms, client_now_ms());
    }
    if (stage == STAGE_UNTAKEN && client->link == link &&
        client_now_ms() >= atomic_load(&link->progressed_ms) + client->patience_ms) {
        useless = true;
        atomic_store(&link->progressed_ms, client_now_ms()); /* should there be no other */
        client->patience_ms =
            client->patience_ms < PATIENCE_MS_MAX ? 2 * client->patience_ms : PATIENCE_MS_MAX;
    }
    if (stage == STAGE_UNANSWERED && result == RESULT_TIMEOUT && client->link == link) {
        useless = ++client->silences >= SILENCES_MAX;
    }
    pthread_mutex_unlock(&client->mutex);
    if (useless) {
        give_up(client, link);
    }
}

uint32_t transport_client_reopened(struct transport_client *client)
{
    ASSERT(client->magic == CLIENT_MAGIC);
    pthread_mutex_lock(&client->mutex);
    uint32_t reopened = client->reopened;
    pthread_mutex_unlock(&client->mutex);
    return reopened;
}

/* ---- replies ---- */

static enum result keep_reply(nng_msg *reply, struct arena *arena, struct span *out)
{
    struct span bytes = span_of(nng_msg_body(reply), nng_msg_len(reply));
    size_t offset = 0;
    const char *reason = NULL;
    if (wire_validate(bytes, LIMIT_DEPTH, &offset, &reason) != RESULT_OK ||
        !wire_is(bytes, WIRE_MAP)) {
        return RESULT_INVALID;
    }
    *out = arena_copy(arena, bytes);
    return arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

void transport_client_close(struct transport_client *client)
{
    if (client == NULL) {
        return;
    }
    ASSERT(client->magic == CLIENT_MAGIC);
    client_link_leave(client->link);
    pthread_mutex_destroy(&client->mutex);
    client->magic = 0;
    free(client->url);
    free(client);
}
