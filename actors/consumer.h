/*
 * consumer.h: the actor of `strider consumer`: audit messages from the bus into the audit tables
 * (interfaces.md 6). Any number of consumers may share a queue and a database.
 *
 * What has come is written in one transaction, and accepted behind its commit: nothing is lost, and
 * what comes twice or late changes nothing, as a row takes only newer revisions and each log index
 * once. While the database is away, messages stay at the broker but for the source's window. A
 * message that cannot be taken goes to the aside bus with the reason, without the others.
 */
#ifndef ACTORS_CONSUMER_H
#define ACTORS_CONSUMER_H

#include "actors/bus.h"
#include "actors/clock.h"
#include "actors/counters.h"
#include "audit/bus.h"
#include "proto/message.h"
#include "storage/index.h"

struct actor_consumer;

struct actor_consumer_options {
    struct audit_source *source; /* its owner: this actor */
    struct audit_bus *aside;     /* its owner too, with ticket ACTOR_BUS_ASIDE */
    /* Called until it succeeds once; may block, as the index may. */
    enum result (*open)(void *owner, struct storage_index **out);
    void *owner;
    uint64_t random; /* any number: consumers that wait for a database do not come back as one */
};

struct actor_consumer_counters {
    actor_counter received, written, set_aside;
    actor_counter applies;
    actor_counter failing; /* gauge: 1 while the database is away */
};

MUST_USE enum result actor_consumer_new(const struct actor_consumer_options *options,
                                        struct actor_consumer **out);
/* Closes the index. What was not accepted comes again when the source is closed. */
void actor_consumer_free(struct actor_consumer *consumer);
/* An actor_turn_fn: PROTO_BUS_RECEIVED; PROTO_BUS_SETTLED and PROTO_BUS_REFUSED of the aside bus.
 */
uint64_t actor_consumer_turn(void *consumer, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_consumer_counters *
actor_consumer_counters(const struct actor_consumer *consumer);

#endif
