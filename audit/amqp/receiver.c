/*
 * receiver.c: the receiving side: deliveries that are not settled stand in slots; credit is granted
 * for the free ones. The owner says what becomes of each; the client's thread tells the broker.
 * While the owner has as many bytes as it may, nothing more is read: that fills the session, and
 * the peer waits.
 */
#include <proton/delivery.h>
#include <proton/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/amqp/client.h"
#include "audit/amqp/encoding.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/message.h"

#define RECEIVER_MAGIC 0x414d5152u
#define CUT_BYTES      (64u << 10) /* what is kept of a body that is too large */
#define BUFFER_FIRST   (64u << 10)

struct slot {
    pn_delivery_t *delivery; /* NULL: free */
    uint32_t next_free;
};

struct verdict {
    uint64_t number;
    enum audit_outcome outcome;
};

struct receiver {
    struct audit_source source; /* first: the port points here */
    uint32_t magic;
    uint32_t window;
    struct proto_address owner;
    struct amqp_client client;
    struct audit_source_counters counters;
    /* under the client's lock: written by who settles, taken by the client's thread */
    struct verdict *verdicts; /* of this era: at most one a slot */
    uint32_t verdict_count;
    bool woken;    /* and not at work yet */
    uint32_t held; /* with the owner, those of lost connections too: no credit for them */
    uint64_t held_kib;
    uint32_t era; /* of the connection: numbers of an older one mean nothing */
    /* the client's thread alone */
    struct verdict *taken;
    struct slot *slots;
    uint32_t first_free; /* window: none */
    pn_message_t *message;
    uint8_t *buffer; /* the delivery that is coming in */
    size_t buffer_count;
    size_t buffer_size;
    bool cut;
};

/*
 * A message's number: the connection's era, how many KiB it is charged with, and its slot. (The
 * owner may have it longer than its connection and its slot last.)
 */
enum { SLOT_BITS = 16, KIB_BITS = 17, ERA_MAX = 1 << 30 };
_Static_assert(AUDIT_WINDOW_MAX <= 1u << SLOT_BITS, "a slot fits");
_Static_assert(AUDIT_MESSAGE_BYTES_MAX / 1024 * 2 <= 1u << KIB_BITS, "a size fits");

static uint64_t number_of(uint32_t era, uint64_t kib, uint32_t slot)
{
    ASSERT(kib < 1u << KIB_BITS && slot < 1u << SLOT_BITS);
    return ((uint64_t)era << KIB_BITS | kib) << SLOT_BITS | slot;
}

static uint32_t slot_of(uint64_t number)
{
    return (uint32_t)(number & ((1u << SLOT_BITS) - 1));
}

static uint64_t kib_of(uint64_t number)
{
    return number >> SLOT_BITS & ((1u << KIB_BITS) - 1);
}

static uint64_t era_of(uint64_t number)
{
    return number >> (SLOT_BITS + KIB_BITS);
}

static struct receiver *receiver_cast(struct audit_source *source)
{
    struct receiver *receiver = (struct receiver *)source;
    ASSERT(receiver->magic == RECEIVER_MAGIC);
    return receiver;
}

/* ---- any thread ---- */

static void source_settle(struct audit_source *source, uint64_t number, enum audit_outcome outcome)
{
    struct receiver *receiver = receiver_cast(source);
    pthread_mutex_lock(&receiver->client.lock);
    ASSERT(receiver->held > 0 && receiver->held_kib >= kib_of(number));
    receiver->held--;
    receiver->held_kib -= kib_of(number);
    if (era_of(number) == receiver->era) {
        ASSERT(receiver->verdict_count < receiver->window);
        receiver->verdicts[receiver->verdict_count++] =
            (struct verdict){.number = number, .outcome = outcome};
    }
    if (!receiver->woken) {
        receiver->woken = true;
        amqp_client_wake_locked(&receiver->client);
    }
    pthread_mutex_unlock(&receiver->client.lock);
}

static const struct audit_source_counters *source_counters(const struct audit_source *source)
{
    return &((const struct receiver *)source)->counters;
}

static void release(void *owner)
{
    struct receiver *receiver = owner;
    pn_message_free(receiver->message);
    free(receiver->verdicts);
    free(receiver->taken);
    free(receiver->slots);
    free(receiver->buffer);
    receiver->magic = 0;
    free(receiver);
}

static void source_close(struct audit_source *source)
{
    amqp_client_stop(&receiver_cast(source)->client);
}

/* ---- the client's thread ---- */

static void free_all(struct receiver *receiver)
{
    for (uint32_t i = 0; i < receiver->window; i++) {
        receiver->slots[i] = (struct slot){.next_free = i + 1};
    }
    receiver->first_free = 0;
}

static void settle_slot(struct receiver *receiver, uint32_t at, uint64_t state)
{
    struct slot *slot = &receiver->slots[at];
    pn_delivery_update(slot->delivery, state);
    pn_delivery_settle(slot->delivery);
    *slot = (struct slot){.next_free = receiver->first_free};
    receiver->first_free = at;
}

/* Returns how many messages are with the owner. */
static uint32_t tell_verdicts(struct receiver *receiver)
{
    pthread_mutex_lock(&receiver->client.lock);
    uint32_t held = receiver->held;
    receiver->woken = false;
    uint32_t count = receiver->verdict_count;
    struct verdict *taken = receiver->verdicts;
    receiver->verdicts = receiver->taken;
    receiver->taken = taken;
    receiver->verdict_count = 0;
    pthread_mutex_unlock(&receiver->client.lock);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = slot_of(taken[i].number);
        ASSERT(at < receiver->window && receiver->slots[at].delivery != NULL);
        settle_slot(receiver, at, taken[i].outcome == AUDIT_ACCEPTED ? PN_ACCEPTED : PN_RELEASED);
    }
    return held;
}

/* Reads what is there of the current delivery; of one that is too large only the beginning. */
static bool read_part(struct receiver *receiver, pn_link_t *link)
{
    for (;;) {
        if (receiver->buffer_count == receiver->buffer_size) {
            size_t size = receiver->buffer_size == 0 ? BUFFER_FIRST : receiver->buffer_size * 2;
            uint8_t *larger = realloc(receiver->buffer, size);
            if (larger == NULL) {
                return false;
            }
            receiver->buffer = larger;
            receiver->buffer_size = size;
        }
        ssize_t got = pn_link_recv(link, (char *)receiver->buffer + receiver->buffer_count,
                                   receiver->buffer_size - receiver->buffer_count);
        if (got <= 0) {
            return true;
        }
        receiver->buffer_count += (size_t)got;
        if (receiver->buffer_count > AUDIT_MESSAGE_BYTES_MAX) {
            receiver->cut = true;
        }
        if (receiver->cut) {
            receiver->buffer_count = CUT_BYTES;
        }
    }
}

/* Takes a slot for the delivery and hands its message to the owner. */
static bool hand_over(struct receiver *receiver, pn_delivery_t *delivery)
{
    struct span bytes = span_of(receiver->buffer, receiver->buffer_count);
    struct span id = SPAN_EMPTY;
    struct span body = bytes;
    if (!receiver->cut && !amqp_decode(receiver->message, bytes, &id, &body)) {
        body = bytes; /* for whoever looks at what was set aside */
    }
    struct proto_message *received = message_new(PROTO_BUS_RECEIVED, id.count + body.count);
    uint64_t kib = (id.count + body.count) / 1024 + 1;
    uint32_t at = receiver->first_free;
    if (received == NULL || at == receiver->window) {
        message_free(received);
        return false;
    }
    receiver->first_free = receiver->slots[at].next_free;
    receiver->slots[at] = (struct slot){.delivery = delivery};
    pthread_mutex_lock(&receiver->client.lock);
    receiver->held++;
    receiver->held_kib += kib;
    pthread_mutex_unlock(&receiver->client.lock);
    received->as.bus = (struct proto_bus_message){.number = number_of(receiver->era, kib, at),
                                                  .id = message_keep(received, id),
                                                  .body = message_keep(received, body),
                                                  .cut = receiver->cut};
    amqp_count(&receiver->counters.received);
    message_answer(receiver->owner, received);
    return true;
}

/* Takes the current delivery, if all of it has come. */
static bool take_current(struct receiver *receiver, pn_link_t *link)
{
    pn_delivery_t *delivery = pn_link_current(link);
    if (delivery == NULL || !pn_delivery_readable(delivery)) {
        return false;
    }
    bool aborted = pn_delivery_aborted(delivery);
    bool read = aborted || read_part(receiver, link);
    if (read && pn_delivery_partial(delivery)) {
        return false;
    }
    pn_link_advance(link);
    if (aborted) {
        pn_delivery_settle(delivery);
    } else if (!read || !hand_over(receiver, delivery)) {
        log_line(LOG_ERROR, "BUS-MESSAGE-GIVEN-BACK", "reason=\"no memory\"");
        pn_delivery_update(delivery, PN_RELEASED);
        pn_delivery_settle(delivery);
    }
    receiver->buffer_count = 0;
    receiver->cut = false;
    if (receiver->buffer_size > CUT_BYTES * 4) { /* a large one is a rare one */
        free(receiver->buffer);
        receiver->buffer = NULL;
        receiver->buffer_size = 0;
    }
    return true;
}

static bool has_room(struct receiver *receiver)
{
    pthread_mutex_lock(&receiver->client.lock);
    bool room = receiver->held_kib < AUDIT_UNSETTLED_BYTES / 1024;
    pthread_mutex_unlock(&receiver->client.lock);
    return room;
}

static void take_all(struct receiver *receiver, pn_link_t *link)
{
    while (has_room(receiver) && take_current(receiver, link)) {
    }
}

static void on_delivery(void *owner, pn_delivery_t *delivery)
{
    take_all(owner, pn_delivery_link(delivery));
}

static void work(void *owner, pn_link_t *link)
{
    struct receiver *receiver = owner;
    int more = (int)(receiver->window - tell_verdicts(receiver)) - pn_link_credit(link);
    /* In portions: RabbitMQ asks the queue for each grant. */
    if (more > 0 && more >= (int)receiver->window / 4) {
        pn_link_flow(link, more);
    }
    take_all(receiver, link);
}

static pn_link_t *open_link(void *owner, pn_session_t *session, const char *address)
{
    (void)owner;
    pn_link_t *link = pn_receiver(session, "strider-audit-receiver");
    pn_terminus_set_address(pn_link_source(link), address);
    pn_terminus_set_durability(pn_link_source(link), PN_DELIVERIES);
    pn_link_set_snd_settle_mode(link, PN_SND_UNSETTLED);
    pn_link_set_rcv_settle_mode(link, PN_RCV_FIRST);
    pn_link_open(link);
    return link;
}

static void leave(void *owner, pn_link_t *link)
{
    (void)link;
    struct receiver *receiver = owner;
    (void)tell_verdicts(receiver);
    for (uint32_t at = 0; at < receiver->window; at++) {
        if (receiver->slots[at].delivery != NULL) {
            settle_slot(receiver, at, PN_RELEASED);
        }
    }
}

static void lost(void *owner)
{
    struct receiver *receiver = owner;
    pthread_mutex_lock(&receiver->client.lock);
    receiver->era = receiver->era < ERA_MAX ? receiver->era + 1 : 1;
    receiver->verdict_count = 0;
    pthread_mutex_unlock(&receiver->client.lock);
    receiver->buffer_count = 0;
    receiver->cut = false;
    free_all(receiver);
}

static void report(void *owner)
{
    (void)owner;
}

static const struct amqp_role role = {
    .name = "bus-receive",
    .open = open_link,
    .work = work,
    .delivery = on_delivery,
    .leave = leave,
    .lost = lost,
    .report = report,
    .release = release,
};

static const struct audit_source_ops source_ops = {
    .settle = source_settle,
    .counters = source_counters,
    .close = source_close,
};

/* NULL, or half of it: no memory. */
static struct receiver *receiver_new(const struct audit_source_options *options, bool *made)
{
    struct receiver *receiver = calloc(1, sizeof *receiver);
    *made = false;
    if (receiver != NULL) {
        receiver->source.ops = &source_ops;
        receiver->magic = RECEIVER_MAGIC;
        receiver->window = options->window;
        receiver->owner = options->owner;
        receiver->verdicts = calloc(options->window, sizeof *receiver->verdicts);
        receiver->taken = calloc(options->window, sizeof *receiver->taken);
        receiver->slots = calloc(options->window, sizeof *receiver->slots);
        receiver->message = pn_message();
        *made = receiver->verdicts != NULL && receiver->taken != NULL && receiver->slots != NULL &&
                receiver->message != NULL;
    }
    if (*made) {
        free_all(receiver);
    }
    return receiver;
}

enum result audit_amqp_source_open(const struct audit_amqp_options *amqp,
                                   const struct audit_source_options *options,
                                   struct audit_source **out, char reason[AUDIT_REASON_BYTES])
{
    bool made = false;
    struct receiver *receiver = receiver_new(options, &made);
    struct amqp_opening opening = {.role = &role,
                                   .owner = receiver,
                                   .made = made,
                                   .window = options->window,
                                   .client = made ? &receiver->client : NULL,
                                   .connected = made ? &receiver->counters.connected : NULL};
    enum result result = amqp_client_start(&opening, amqp, reason);
    *out = result == RESULT_OK ? &receiver->source : *out;
    return result;
}
