/*
 * sender.c: the sending side: a ring of copies of what is not settled. The owner's thread fills it
 * at its end, the client's thread sends, repeats and empties it at its begin.
 */
#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/amqp/client.h"
#include "audit/amqp/encoding.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/message.h"

#define SENDER_MAGIC 0x414d5153u
/* Proton keeps what the socket does not take yet: no more of it than that. */
#define OUTGOING_BYTES (1u << 20)

enum slot_state { SLOT_WAITS, SLOT_SENT, SLOT_DONE };

struct slot {
    uint8_t *bytes; /* id, reason, body */
    size_t id_count;
    size_t reason_count;
    size_t body_count;
    enum slot_state state;
    uint32_t attempts;
    uint64_t due_ms; /* not sent before */
    uint64_t number;
    pn_delivery_t *delivery;
};

struct sender {
    struct audit_bus bus; /* first: the port points here */
    uint32_t magic;
    uint32_t window;
    struct proto_address owner;
    struct amqp_client client;
    struct slot *slots; /* message n is at n % window */
    struct audit_bus_counters counters;
    /* under the client's lock: the owner's thread writes `end`, the client's the others */
    uint64_t begin; /* settled, in order */
    uint64_t end;
    size_t bytes; /* of begin..end */
    bool woken;   /* and not at work yet */
    /* the client's thread alone */
    uint64_t fresh;    /* next that was never sent */
    uint32_t returned; /* before `fresh`, waiting to be sent again */
    uint64_t reported;
    pn_message_t *message;
    pn_rwbytes_t buffer;
};

static struct sender *sender_cast(struct audit_bus *bus)
{
    struct sender *sender = (struct sender *)bus;
    ASSERT(sender->magic == SENDER_MAGIC);
    return sender;
}

static struct slot *slot_of(struct sender *sender, uint64_t number)
{
    return &sender->slots[number % sender->window];
}

static struct audit_bus_message message_of(const struct slot *slot)
{
    return (struct audit_bus_message){
        .id = span_of(slot->bytes, slot->id_count),
        .reason = span_of(slot->bytes + slot->id_count, slot->reason_count),
        .body = span_of(slot->bytes + slot->id_count + slot->reason_count, slot->body_count)};
}

/* ---- the owner's thread ---- */

static void put(uint8_t **to, struct span span)
{
    if (span.count > 0) {
        memcpy(*to, span.bytes, span.count);
        *to += span.count;
    }
}

static enum result bus_send(struct audit_bus *bus, const struct audit_bus_message *message)
{
    struct sender *sender = sender_cast(bus);
    size_t bytes = message->id.count + message->reason.count + message->body.count;
    uint8_t *copy = malloc(bytes + 1);
    if (copy == NULL) {
        return RESULT_LIMIT;
    }
    uint8_t *next = copy;
    put(&next, message->id);
    put(&next, message->reason);
    put(&next, message->body);
    pthread_mutex_lock(&sender->client.lock);
    bool full = sender->end - sender->begin == sender->window ||
                (sender->bytes > 0 && sender->bytes + bytes > AUDIT_UNSETTLED_BYTES);
    if (!full) {
        *slot_of(sender, sender->end) = (struct slot){.bytes = copy,
                                                      .id_count = message->id.count,
                                                      .reason_count = message->reason.count,
                                                      .body_count = message->body.count,
                                                      .number = sender->end};
        sender->end++;
        sender->bytes += bytes;
        if (!sender->woken) {
            sender->woken = true;
            amqp_client_wake_locked(&sender->client);
        }
    }
    pthread_mutex_unlock(&sender->client.lock);
    if (full) {
        free(copy);
        return RESULT_AGAIN;
    }
    return RESULT_OK;
}

static const struct audit_bus_counters *bus_counters(const struct audit_bus *bus)
{
    return &((const struct sender *)bus)->counters;
}

static void release(void *owner)
{
    struct sender *sender = owner;
    for (uint64_t number = sender->begin; number < sender->end; number++) {
        free(slot_of(sender, number)->bytes);
    }
    pn_message_free(sender->message);
    free(sender->buffer.start);
    free(sender->slots);
    sender->magic = 0;
    free(sender);
}

static void bus_close(struct audit_bus *bus)
{
    amqp_client_stop(&sender_cast(bus)->client);
}

/* ---- the client's thread ---- */

/* The broker will never take it. Its owner is told before it counts as settled. */
static bool refuse(struct sender *sender, struct slot *slot, const char *why)
{
    struct audit_bus_message audit = message_of(slot);
    struct span reason = span_text(why);
    struct proto_message *refused =
        message_new(PROTO_BUS_REFUSED, audit.id.count + audit.body.count + reason.count);
    if (refused == NULL) {
        return false;
    }
    refused->as.bus = (struct proto_bus_message){.number = slot->number,
                                                 .id = message_keep(refused, audit.id),
                                                 .body = message_keep(refused, audit.body),
                                                 .reason = message_keep(refused, reason)};
    message_answer(sender->owner, refused);
    slot->state = SLOT_DONE;
    amqp_count(&sender->counters.refused);
    return true;
}

/* It goes out again, after a while. */
static void give_back(struct sender *sender, struct slot *slot)
{
    uint32_t wait_ms = amqp_client_back_off_ms(&sender->client, slot->attempts);
    slot->state = SLOT_WAITS;
    slot->attempts++;
    slot->due_ms = amqp_client_now_ms() + wait_ms;
    slot->delivery = NULL;
    sender->returned++;
    amqp_client_work_in(&sender->client, wait_ms);
}

static void transmit(struct sender *sender, pn_link_t *link, struct slot *slot)
{
    struct audit_bus_message audit = message_of(slot);
    size_t bytes = 0;
    uint64_t most = pn_link_remote_max_message_size(link);
    if (!amqp_encode(sender->message, &audit, &sender->buffer, &bytes)) {
        give_back(sender, slot); /* no memory */
        return;
    }
    if (most > 0 && bytes > most) {
        char why[80];
        snprintf(why, sizeof why, "%zu bytes, and the broker takes %llu", bytes,
                 (unsigned long long)most);
        if (!refuse(sender, slot, why)) {
            give_back(sender, slot);
        }
        return;
    }
    pn_delivery_t *delivery =
        pn_delivery(link, pn_dtag((const char *)&slot->number, sizeof slot->number));
    pn_delivery_set_context(delivery, slot);
    slot->delivery = delivery;
    slot->state = SLOT_SENT;
    pn_link_send(link, sender->buffer.start, bytes);
    pn_link_advance(link);
    amqp_count(&sender->counters.sent);
    if (slot->attempts > 0) {
        amqp_count(&sender->counters.repeated);
    }
}

static bool may_send(pn_link_t *link)
{
    return pn_link_credit(link) > 0 &&
           pn_session_outgoing_bytes(pn_link_session(link)) < OUTGOING_BYTES;
}

/* What came back and is due. */
static void repeat(struct sender *sender, pn_link_t *link)
{
    uint64_t now = amqp_client_now_ms();
    uint64_t next_ms = UINT64_MAX;
    uint32_t left = sender->returned;
    for (uint64_t number = sender->reported; left > 0 && number < sender->fresh; number++) {
        struct slot *slot = slot_of(sender, number);
        if (slot->state != SLOT_WAITS) {
            continue;
        }
        left--;
        if (slot->due_ms > now) {
            next_ms = slot->due_ms < next_ms ? slot->due_ms : next_ms;
        } else if (may_send(link)) {
            sender->returned--;
            transmit(sender, link, slot);
        }
    }
    if (next_ms != UINT64_MAX) {
        amqp_client_work_in(&sender->client, (uint32_t)(next_ms - now));
    }
}

static void work(void *owner, pn_link_t *link)
{
    struct sender *sender = owner;
    pthread_mutex_lock(&sender->client.lock);
    sender->woken = false;
    uint64_t end = sender->end;
    pthread_mutex_unlock(&sender->client.lock);
    if (sender->returned > 0) {
        repeat(sender, link);
    }
    while (sender->fresh < end && may_send(link)) {
        sender->fresh++;
        transmit(sender, link, slot_of(sender, sender->fresh - 1));
    }
}

static void rejected(struct sender *sender, struct slot *slot, pn_delivery_t *delivery)
{
    char why[AUDIT_REASON_BYTES];
    pn_condition_t *condition = pn_disposition_condition(pn_delivery_remote(delivery));
    const char *name = pn_condition_get_name(condition);
    const char *more = pn_condition_get_description(condition);
    snprintf(why, sizeof why, "rejected by the broker%s%s%s%s", name == NULL ? "" : ": ",
             name == NULL ? "" : name, more == NULL ? "" : ": ", more == NULL ? "" : more);
    if (!refuse(sender, slot, why)) {
        give_back(sender, slot);
    }
}

static void on_delivery(void *owner, pn_delivery_t *delivery)
{
    struct sender *sender = owner;
    struct slot *slot = pn_delivery_get_context(delivery);
    uint64_t state = pn_delivery_remote_state(delivery);
    bool ended = state == PN_ACCEPTED || state == PN_REJECTED || state == PN_RELEASED ||
                 state == PN_MODIFIED || pn_delivery_settled(delivery);
    if (!pn_delivery_updated(delivery) || !ended) {
        return;
    }
    ASSERT(slot->state == SLOT_SENT && slot->delivery == delivery);
    if (state == PN_ACCEPTED) {
        slot->state = SLOT_DONE;
    } else if (state == PN_REJECTED) {
        rejected(sender, slot, delivery);
    } else {
        give_back(sender, slot);
    }
    pn_delivery_settle(delivery);
}

static pn_link_t *open_link(void *owner, pn_session_t *session, const char *address)
{
    (void)owner;
    pn_link_t *link = pn_sender(session, "strider-audit-sender");
    pn_terminus_set_address(pn_link_target(link), address);
    pn_terminus_set_durability(pn_link_target(link), PN_DELIVERIES);
    pn_link_set_snd_settle_mode(link, PN_SND_UNSETTLED);
    pn_link_open(link);
    return link;
}

static void leave(void *owner, pn_link_t *link)
{
    (void)owner;
    (void)link;
}

/* All that was sent and not settled goes out again, in order, as soon as there is a link. */
static void lost(void *owner)
{
    struct sender *sender = owner;
    for (uint64_t number = sender->reported; number < sender->fresh; number++) {
        struct slot *slot = slot_of(sender, number);
        if (slot->state == SLOT_SENT) {
            slot->state = SLOT_WAITS;
            slot->attempts++;
            slot->due_ms = 0;
            slot->delivery = NULL;
            sender->returned++;
        } else if (slot->state == SLOT_WAITS) {
            slot->due_ms = 0;
        }
    }
}

static void report(void *owner)
{
    struct sender *sender = owner;
    uint64_t done = sender->reported;
    size_t bytes = 0;
    for (; done < sender->fresh && slot_of(sender, done)->state == SLOT_DONE; done++) {
        struct slot *slot = slot_of(sender, done);
        bytes += slot->id_count + slot->reason_count + slot->body_count;
        free(slot->bytes);
        amqp_count(&sender->counters.settled);
    }
    if (done == sender->reported) {
        return;
    }
    sender->reported = done;
    pthread_mutex_lock(&sender->client.lock);
    sender->begin = done;
    sender->bytes -= bytes;
    pthread_mutex_unlock(&sender->client.lock);
    struct proto_message *settled = message_new(PROTO_BUS_SETTLED, 0);
    if (settled == NULL) {
        log_line(LOG_ERROR, "BUS-ANSWER-LATE", "reason=\"no memory\"");
        return; /* the next one says more */
    }
    settled->as.position = done;
    message_answer(sender->owner, settled);
}

static const struct amqp_role role = {
    .name = "bus-send",
    .open = open_link,
    .work = work,
    .delivery = on_delivery,
    .leave = leave,
    .lost = lost,
    .report = report,
    .release = release,
};

static const struct audit_bus_ops bus_ops = {
    .send = bus_send,
    .counters = bus_counters,
    .close = bus_close,
};

/* NULL, or half of it: no memory. */
static struct sender *sender_new(const struct audit_bus_options *options, bool *made)
{
    struct sender *sender = calloc(1, sizeof *sender);
    if (sender != NULL) {
        sender->bus.ops = &bus_ops;
        sender->magic = SENDER_MAGIC;
        sender->window = options->window;
        sender->owner = options->owner;
        sender->slots = calloc(options->window, sizeof *sender->slots);
        sender->message = pn_message();
    }
    *made = sender != NULL && sender->slots != NULL && sender->message != NULL;
    return sender;
}

enum result audit_amqp_bus_open(const struct audit_amqp_options *amqp,
                                const struct audit_bus_options *options, struct audit_bus **out,
                                char reason[AUDIT_REASON_BYTES])
{
    bool made = false;
    struct sender *sender = sender_new(options, &made);
    struct amqp_opening opening = {.role = &role,
                                   .owner = sender,
                                   .made = made,
                                   .window = options->window,
                                   .client = made ? &sender->client : NULL,
                                   .connected = made ? &sender->counters.connected : NULL};
    enum result result = amqp_client_start(&opening, amqp, reason);
    *out = result == RESULT_OK ? &sender->bus : *out;
    return result;
}
