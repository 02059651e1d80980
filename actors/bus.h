/*
 * bus.h: the actor of the audit bus: the journal's reader that sends audit messages as JSON
 * (interfaces.md 5), in the journal's order, so in order per execution. Made only where there is a
 * bus.
 *
 * The journal is the queue: as many messages as the bus's window are in memory, the others are read
 * when it has room. The position moves behind what the bus has settled, so a message may be sent
 * again, with the same id, and none is lost. What the bus refuses goes to the aside bus first.
 */
#ifndef ACTORS_BUS_H
#define ACTORS_BUS_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "audit/bus.h"
#include "proto/message.h"
#include "storage/journal.h"

/* The owner's ticket of the two buses, by which their messages are told apart. */
enum actor_bus_ticket { ACTOR_BUS_MAIN, ACTOR_BUS_ASIDE };

struct actor_bus;

struct actor_bus_options {
    struct audit_bus *bus;
    struct audit_bus *aside; /* for what `bus` refuses */
    uint32_t window;         /* of `bus` */
    struct storage_journal *log;
    struct proto_sink *journal; /* told how far was read */
    struct proto_sink
        *storage;      /* told what is settled: keeps the position, and tells the journal */
    uint64_t position; /* where to begin */
    bool paced;        /* the drain steps back while the machine is busy (actors/pace.h) */
};

struct actor_bus_counters {
    actor_counter messages;  /* taken from the journal */
    actor_counter set_aside; /* refused, and settled by the aside bus */
    actor_counter unsettled; /* gauge */
    actor_counter since_ms;  /* gauge: monotonic, when the oldest unsettled was sent; 0: none */
};

MUST_USE enum result actor_bus_new(const struct actor_bus_options *options, struct actor_bus **out);
void actor_bus_free(struct actor_bus *bus);
/*
 * An actor_turn_fn: PROTO_JOURNAL_ADVANCED; PROTO_BUS_SETTLED and PROTO_BUS_REFUSED of both buses;
 * PROTO_DRAIN, answered when all is settled, or at once while the bus is away.
 */
uint64_t actor_bus_turn(void *bus, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_bus_counters *actor_bus_counters(const struct actor_bus *bus);

#endif
