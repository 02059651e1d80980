/*
 * bus.h: the port of the audit bus (interfaces.md 5): a queue of messages on a broker, its sending
 * side (audit_bus) and its receiving side (audit_source).
 *
 * Both deliver at least once: what was not settled before a connection was lost comes again, and
 * then maybe behind messages that were sent after it. Receivers go by message-id, or as the audit
 * tables do by revision and log index. Being away is normal: a side opens while its broker is down,
 * says so in one log line, and comes back by itself.
 *
 * Completions are messages to `owner`, from any thread, never refused for want of room: there are
 * at most `window` of them unanswered.
 */
#ifndef AUDIT_BUS_H
#define AUDIT_BUS_H

#include <stdatomic.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/sink.h"

#define AUDIT_WINDOW_MAX        65536u
#define AUDIT_MESSAGE_BYTES_MAX (64u << 20) /* of a body; larger ones are cut, and said to be */
#define AUDIT_UNSETTLED_BYTES   (16u << 20) /* bodies under way: with them nothing more is taken */
#define AUDIT_REASON_BYTES      200u
#define AUDIT_CONTENT_TYPE      "application/json"

/*
 * Numbers that one thread counts and any may read. Relaxed atomics: each stands for itself, so no
 * happens-before is needed.
 */
typedef _Atomic uint64_t audit_counter;

/* ---- sending ---- */

struct audit_bus;

struct audit_bus_counters {
    audit_counter sent;      /* transfers, repeats included */
    audit_counter settled;   /* messages done with, refused ones included */
    audit_counter refused;   /* messages that the bus will never take */
    audit_counter repeated;  /* messages sent again: given back, or a connection was lost */
    audit_counter connected; /* gauge: 1 while messages can leave */
};

struct audit_bus_message {
    struct span id; /* message-id: the same at every repeat */
    struct span body;
    struct span reason; /* why it was set aside; empty for an ordinary message */
};

struct audit_bus_ops {
    /*
     * Takes a copy; it leaves when there is a connection and the broker's credit. Messages are
     * counted from 0 in the order of their sending: PROTO_BUS_SETTLED says how many, from the
     * first, need not be remembered any more; a PROTO_BUS_REFUSED before it says which of them the
     * broker will never take (too large, or rejected), with its body.
     * Thread: one, the owner's. RESULT_AGAIN: window or bytes are used up, or (a file) the disk
     * is: try again after the next SETTLED, or later. RESULT_LIMIT: no memory.
     */
    enum result (*send)(struct audit_bus *self, const struct audit_bus_message *message);
    /* Any thread. */
    const struct audit_bus_counters *(*counters)(const struct audit_bus *self);
    /* Waits for its thread; no message to the owner comes after it. What is not settled is
     * forgotten. */
    void (*close)(struct audit_bus *self);
};

struct audit_bus {
    const struct audit_bus_ops *ops;
};

struct audit_bus_options {
    uint32_t window; /* messages under way at most, 1..AUDIT_WINDOW_MAX */
    struct proto_address owner;
};

/* ---- receiving ---- */

struct audit_source;

struct audit_source_counters {
    audit_counter received;
    audit_counter connected; /* gauge */
};

enum audit_outcome {
    AUDIT_ACCEPTED, /* done with: it will not come again */
    AUDIT_RELEASED, /* not done with: it comes again, here or elsewhere */
};

struct audit_source_ops {
    /*
     * Each PROTO_BUS_RECEIVED is settled once by its number, in any order; of a message whose
     * connection is lost by now that does nothing, and it comes again. At most `window` messages
     * are unsettled, and none comes while those have AUDIT_UNSETTLED_BYTES or more: the others wait
     * at the broker. Any thread.
     */
    void (*settle)(struct audit_source *self, uint64_t number, enum audit_outcome outcome);
    const struct audit_source_counters *(*counters)(const struct audit_source *self);
    /* Tells the broker all that was settled, gives back the rest, waits for its thread; no message
     * to the owner comes after it. */
    void (*close)(struct audit_source *self);
};

struct audit_source {
    const struct audit_source_ops *ops;
};

struct audit_source_options {
    uint32_t window;
    struct proto_address owner;
};

#endif
