/*
 * router.h: where requests enter. It has no thread: it runs on the transports' threads, over what
 * never changes and a few atomics. It checks ids and field types, gives a start its execution id,
 * and picks the owner.
 */
#ifndef ACTORS_ROUTER_H
#define ACTORS_ROUTER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "actors/counters.h"
#include "actors/journal.h"
#include "proto/message.h"

struct wire_writer;

struct actor_router {
    struct proto_sink sink; /* PROTO_REQUEST in; RESULT_AGAIN: overloaded */
    struct proto_sink *const *shards;
    uint32_t shard_count;
    struct proto_sink *registry;
    struct proto_sink *audit;
    struct proto_sink *backup;                    /* NULL: there is nothing that could be copied */
    const struct actor_journal_counters *journal; /* full: no starts */
    /* What `stats` tells: pairs into an open map, returns how many. Any thread. */
    uint32_t (*stats)(void *owner, struct wire_writer *writer);
    /* How many messages wait to be taken, over all shards. Any thread. */
    uint64_t (*letters)(void *owner);
    void *owner;
    _Atomic bool open;    /* false: RESULT_CLOSED */
    _Atomic bool closing; /* starts are answered ShuttingDown */
    _Atomic bool sealed;  /* and so is all that changes anything */
    actor_counter refused;
    actor_counter overloaded;
};

void actor_router_init(struct actor_router *router);
/* Open, not closing, and the journal has room: may executions begin? Any thread. */
bool actor_router_takes_starts(const struct actor_router *router);

#endif
