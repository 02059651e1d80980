/* memory_queue.c: see memory.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/memory/memory.h"
#include "proto/base/assert.h"
#include "proto/message.h"

#define SOURCES_MAX 8u

/* One message; the reason is of interest to brokers' tools alone. */
struct item {
    struct item *next;
    struct memory_source *holder; /* NULL: waits for one */
    uint64_t number;
    size_t id_count;
    size_t body_count;
    uint8_t bytes[];
};

struct memory_bus {
    struct audit_bus bus; /* first: the port points here */
    struct audit_memory_queue *queue;
    struct audit_bus_options options;
    struct audit_bus_counters counters;
    uint64_t sent;
    uint64_t settled;
    struct item *outbox; /* sent while the queue was away, oldest first */
};

struct memory_source {
    struct audit_source source; /* first: the port points here */
    struct audit_memory_queue *queue;
    struct audit_source_options options;
    struct audit_source_counters counters;
    uint32_t held;
    size_t held_bytes;
};

struct audit_memory_queue {
    struct item *items; /* oldest first */
    struct memory_source *sources[SOURCES_MAX];
    struct memory_bus *bus;
    uint64_t handed;
    uint32_t count;
    bool away;
    const char *refused;
};

static void hand_out(struct audit_memory_queue *queue);

enum result audit_memory_queue_new(struct audit_memory_queue **out)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? RESULT_LIMIT : RESULT_OK;
}

static void free_items(struct item *item)
{
    while (item != NULL) {
        struct item *next = item->next;
        free(item);
        item = next;
    }
}

void audit_memory_queue_free(struct audit_memory_queue *queue)
{
    ASSERT(queue->bus == NULL);
    free_items(queue->items);
    free(queue);
}

uint32_t audit_memory_queue_count(const struct audit_memory_queue *queue)
{
    return queue->count;
}

void audit_memory_queue_refuse(struct audit_memory_queue *queue, const char *id)
{
    queue->refused = id;
}

/* ---- sending ---- */

static void append(struct item **list, struct item *item)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = item;
}

static void tell(struct memory_bus *bus, enum proto_message_type type, const struct item *item)
{
    struct span reason = span_text("refused by the test");
    size_t room = item == NULL ? 0 : item->id_count + item->body_count + reason.count;
    struct proto_message *message = message_new(type, room);
    ASSERT(message != NULL);
    if (item == NULL) {
        message->as.position = bus->settled;
    } else {
        message->as.bus = (struct proto_bus_message){
            .number = bus->settled,
            .id = message_keep(message, span_of(item->bytes, item->id_count)),
            .body = message_keep(message, span_of(item->bytes + item->id_count, item->body_count)),
            .reason = message_keep(message, reason)};
    }
    message_answer(bus->options.owner, message);
}

/* What stands in the outbox reaches the queue, as long as that is there. */
static void deliver(struct memory_bus *bus)
{
    struct audit_memory_queue *queue = bus->queue;
    uint64_t before = bus->settled;
    while (!queue->away && bus->outbox != NULL) {
        struct item *item = bus->outbox;
        bus->outbox = item->next;
        item->next = NULL;
        atomic_fetch_add(&bus->counters.sent, 1);
        if (queue->refused != NULL &&
            span_is(span_of(item->bytes, item->id_count), queue->refused)) {
            tell(bus, PROTO_BUS_REFUSED, item);
            atomic_fetch_add(&bus->counters.refused, 1);
            free(item);
        } else {
            append(&queue->items, item);
            queue->count++;
        }
        bus->settled++;
        atomic_fetch_add(&bus->counters.settled, 1);
    }
    if (bus->settled != before) {
        tell(bus, PROTO_BUS_SETTLED, NULL);
    }
    hand_out(queue);
}

static enum result bus_send(struct audit_bus *port, const struct audit_bus_message *message)
{
    struct memory_bus *bus = (struct memory_bus *)port;
    if (bus->sent - bus->settled == bus->options.window) {
        return RESULT_AGAIN;
    }
    struct item *item = malloc(sizeof *item + message->id.count + message->body.count);
    if (item == NULL) {
        return RESULT_LIMIT;
    }
    *item = (struct item){.id_count = message->id.count, .body_count = message->body.count};
    if (message->id.count > 0) {
        memcpy(item->bytes, message->id.bytes, message->id.count);
    }
    if (message->body.count > 0) {
        memcpy(item->bytes + message->id.count, message->body.bytes, message->body.count);
    }
    bus->sent++;
    append(&bus->outbox, item);
    deliver(bus);
    return RESULT_OK;
}

static const struct audit_bus_counters *bus_counters(const struct audit_bus *port)
{
    return &((const struct memory_bus *)port)->counters;
}

static void bus_close(struct audit_bus *port)
{
    struct memory_bus *bus = (struct memory_bus *)port;
    bus->queue->bus = NULL;
    free_items(bus->outbox);
    free(bus);
}

static const struct audit_bus_ops bus_ops = {
    .send = bus_send,
    .counters = bus_counters,
    .close = bus_close,
};

enum result audit_memory_bus_open(struct audit_memory_queue *queue,
                                  const struct audit_bus_options *options, struct audit_bus **out)
{
    ASSERT(queue->bus == NULL);
    struct memory_bus *bus = calloc(1, sizeof *bus);
    if (bus == NULL) {
        return RESULT_LIMIT;
    }
    bus->bus.ops = &bus_ops;
    bus->queue = queue;
    bus->options = *options;
    bus->counters.connected = queue->away ? 0 : 1;
    queue->bus = bus;
    *out = &bus->bus;
    return RESULT_OK;
}

void audit_memory_queue_set_away(struct audit_memory_queue *queue, bool away)
{
    queue->away = away;
    if (queue->bus != NULL) {
        queue->bus->counters.connected = away ? 0 : 1;
        deliver(queue->bus);
    }
    hand_out(queue);
}

/* ---- receiving ---- */

static void hand_to(struct memory_source *source, struct item *item)
{
    struct proto_message *received =
        message_new(PROTO_BUS_RECEIVED, item->id_count + item->body_count);
    ASSERT(received != NULL);
    item->holder = source;
    item->number = source->queue->handed++;
    source->held++;
    source->held_bytes += item->id_count + item->body_count;
    atomic_fetch_add(&source->counters.received, 1);
    received->as.bus = (struct proto_bus_message){
        .number = item->number,
        .id = message_keep(received, span_of(item->bytes, item->id_count)),
        .body = message_keep(received, span_of(item->bytes + item->id_count, item->body_count))};
    message_answer(source->options.owner, received);
}

static struct memory_source *idle_source(struct audit_memory_queue *queue)
{
    struct memory_source *idlest = NULL;
    for (size_t i = 0; i < SOURCES_MAX; i++) {
        struct memory_source *source = queue->sources[i];
        if (source != NULL && source->held < source->options.window &&
            source->held_bytes < AUDIT_UNSETTLED_BYTES &&
            (idlest == NULL || source->held < idlest->held)) {
            idlest = source;
        }
    }
    return idlest;
}

static void hand_out(struct audit_memory_queue *queue)
{
    struct memory_source *source = NULL;
    for (struct item *item = queue->items; item != NULL && !queue->away; item = item->next) {
        if (item->holder == NULL && (source = idle_source(queue)) == NULL) {
            return;
        }
        if (item->holder == NULL) {
            hand_to(source, item);
        }
    }
}

static void source_settle(struct audit_source *port, uint64_t number, enum audit_outcome outcome)
{
    struct memory_source *source = (struct memory_source *)port;
    struct audit_memory_queue *queue = source->queue;
    struct item **at = &queue->items;
    while (*at != NULL && ((*at)->holder != source || (*at)->number != number)) {
        at = &(*at)->next;
    }
    ASSERT(*at != NULL);
    struct item *item = *at;
    source->held--;
    source->held_bytes -= item->id_count + item->body_count;
    item->holder = NULL;
    if (outcome == AUDIT_ACCEPTED) {
        *at = item->next;
        queue->count--;
        free(item);
    }
    hand_out(queue);
}

static const struct audit_source_counters *source_counters(const struct audit_source *port)
{
    return &((const struct memory_source *)port)->counters;
}

static void source_close(struct audit_source *port)
{
    struct memory_source *source = (struct memory_source *)port;
    struct audit_memory_queue *queue = source->queue;
    for (struct item *item = queue->items; item != NULL; item = item->next) {
        item->holder = item->holder == source ? NULL : item->holder;
    }
    for (size_t i = 0; i < SOURCES_MAX; i++) {
        queue->sources[i] = queue->sources[i] == source ? NULL : queue->sources[i];
    }
    free(source);
    hand_out(queue);
}

static const struct audit_source_ops source_ops = {
    .settle = source_settle,
    .counters = source_counters,
    .close = source_close,
};

enum result audit_memory_source_open(struct audit_memory_queue *queue,
                                     const struct audit_source_options *options,
                                     struct audit_source **out)
{
    size_t at = 0;
    while (at < SOURCES_MAX && queue->sources[at] != NULL) {
        at++;
    }
    struct memory_source *source = at < SOURCES_MAX ? calloc(1, sizeof *source) : NULL;
    if (source == NULL) {
        return RESULT_LIMIT;
    }
    source->source.ops = &source_ops;
    source->queue = queue;
    source->options = *options;
    source->counters.connected = 1;
    queue->sources[at] = source;
    *out = &source->source;
    hand_out(queue);
    return RESULT_OK;
}
