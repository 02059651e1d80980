/*
 * tiers_blob.h: the blob tier from outside: one request at a time by an adapter of the test's own.
 */
#ifndef TESTS_SYSTEM_TIERS_BLOB_H
#define TESTS_SYSTEM_TIERS_BLOB_H

#include <ev.h>

#include "tests/system/tiers_host.h"

struct tiers_blob {
    struct proto_sink sink; /* first */
    struct ev_loop *loop;
    struct storage_blob *port;
    struct proto_message *answer;
};

static inline enum result tiers_blob_send(struct proto_sink *self, struct proto_message **message)
{
    struct tiers_blob *blob = (struct tiers_blob *)self;
    message_free(blob->answer);
    blob->answer = *message;
    *message = NULL;
    ev_break(blob->loop, EVBREAK_ALL);
    return RESULT_OK;
}

static inline void tiers_blob_open(struct tiers_blob *blob, const struct cli_tiers_options *tiers)
{
    char error[512] = "";
    *blob = (struct tiers_blob){.sink.send = tiers_blob_send, .loop = ev_loop_new(EVFLAG_AUTO)};
    REQUIRE(blob->loop != NULL);
    REQUIRE(cli_tiers_open_blob(tiers, blob->loop, &blob->port, error) == RESULT_OK);
}

static inline void tiers_blob_close(struct tiers_blob *blob)
{
    blob->port->ops->close(blob->port);
    ev_loop_destroy(blob->loop);
    message_free(blob->answer);
}

static inline struct proto_address tiers_blob_here(struct tiers_blob *blob)
{
    return (struct proto_address){.sink = &blob->sink};
}

static inline enum result tiers_blob_wait(struct tiers_blob *blob, enum result sent)
{
    if (sent != RESULT_OK) {
        return sent;
    }
    ev_run(blob->loop, 0);
    REQUIRE(blob->answer != NULL);
    return blob->answer->as.port_done.result;
}

/* The blob's bytes, until the next request; empty when it is not there. */
static inline struct span tiers_blob_get(struct tiers_blob *blob, const char *name)
{
    enum result result = tiers_blob_wait(
        blob, blob->port->ops->get(blob->port, span_text(name), tiers_blob_here(blob)));
    return result == RESULT_OK ? blob->answer->as.port_done.bytes : SPAN_EMPTY;
}

static inline uint32_t tiers_blob_count(struct tiers_blob *blob, const char *prefix)
{
    enum result result = tiers_blob_wait(
        blob, blob->port->ops->list(blob->port, span_text(prefix), 1000, tiers_blob_here(blob)));
    return result == RESULT_OK ? wire_head(blob->answer->as.port_done.bytes).as.count : 0;
}

static inline enum result tiers_blob_put(struct tiers_blob *blob, const char *name,
                                         struct span bytes)
{
    const struct storage_blob_item item = {.name = span_text(name), .bytes = bytes};
    return tiers_blob_wait(blob, blob->port->ops->put(blob->port, &item, 1, tiers_blob_here(blob)));
}

static inline enum result tiers_blob_remove(struct tiers_blob *blob, const char *prefix)
{
    return tiers_blob_wait(
        blob, blob->port->ops->remove(blob->port, span_text(prefix), tiers_blob_here(blob)));
}

#endif
