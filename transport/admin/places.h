/*
 * places.h: the requests under way: from a head that may come in, over its body, to the router's
 * answer or the time-out. Any thread, unless said otherwise.
 */
#ifndef TRANSPORT_ADMIN_PLACES_H
#define TRANSPORT_ADMIN_PLACES_H

#include <nng/nng.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/sink.h"

struct admin_places;

struct admin_places_stats {
    uint64_t timeouts;
    uint32_t pending;
};

/* NULL without memory. */
struct admin_places *admin_places_new(struct proto_sink *router, uint32_t timeout_ms);
/* Takes `http`, a request for an operation with a body of so many bytes to come, and answers it.
 * `secret`: what the sender of this webhook must know; NULL: nothing is asked. It outlives the
 * table. */
void admin_places_begin(struct admin_places *table, nng_aio *http, size_t body_bytes,
                        const char *secret);
/* What waits for an answer gets ShuttingDown, and so does what comes from here on. */
void admin_places_quiesce(struct admin_places *table);
/* No more requests are taken: before the server that they come from stops. */
void admin_places_shut(struct admin_places *table);
/* Behind the server's stop. Nobody may answer any more. */
void admin_places_free(struct admin_places *table);
void admin_places_stats(struct admin_places *table, struct admin_places_stats *out);

#endif
