/* consumer.c: see consumer.h. */
#include "actors/consumer.h"

#include <stdio.h>
#include <stdlib.h>

#include "actors/queue.h"
#include "audit/message.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum {
    CONSUMER_MAGIC = 0x434f4e53,
    APPLY_MESSAGES = 1000,
    APPLY_BYTES = 8 << 20,
    BACK_OFF_FIRST_MS = 100,
    BACK_OFF_MAX_MS = 10000,
    ASIDE_RETRY_MS = 1000,
};

/* One message of the transaction under way. */
struct entry {
    struct proto_message *message; /* NULL: done with */
    size_t at;                     /* in the order of arrival */
    struct span execution_id;
    struct span value;
};

struct actor_consumer {
    uint32_t magic;
    struct actor_consumer_options options;
    struct storage_index *index; /* NULL: not opened yet */
    struct actor_queue pending;  /* received, not written */
    size_t pending_count;
    struct entry entries[APPLY_MESSAGES];
    struct span values[APPLY_MESSAGES];
    struct arena arena;         /* of the transaction under way */
    struct actor_queue refused; /* the aside bus has not taken them yet */
    struct actor_queue aside;   /* it has, and has not settled them: in its order */
    uint64_t aside_settled;
    uint32_t failures;
    uint64_t apply_ms; /* when to try again; ACTOR_NEVER: nothing failed */
    uint64_t aside_ms;
    struct actor_consumer_counters counters;
};

enum result actor_consumer_new(const struct actor_consumer_options *options,
                               struct actor_consumer **out)
{
    struct actor_consumer *consumer = calloc(1, sizeof *consumer);
    if (consumer == NULL) {
        return RESULT_LIMIT;
    }
    consumer->magic = CONSUMER_MAGIC;
    consumer->options = *options;
    consumer->apply_ms = consumer->aside_ms = ACTOR_NEVER;
    arena_init(&consumer->arena, 256 << 10, (size_t)AUDIT_MESSAGE_BYTES_MAX * 8);
    *out = consumer;
    return RESULT_OK;
}

void actor_consumer_free(struct actor_consumer *consumer)
{
    if (consumer == NULL) {
        return;
    }
    if (consumer->index != NULL) {
        consumer->index->ops->close(consumer->index);
    }
    actor_queue_clear(&consumer->pending);
    actor_queue_clear(&consumer->refused);
    actor_queue_clear(&consumer->aside);
    arena_release(&consumer->arena);
    consumer->magic = 0;
    free(consumer);
}

const struct actor_consumer_counters *actor_consumer_counters(const struct actor_consumer *consumer)
{
    return &consumer->counters;
}

/* Takes the message. */
static void accept(struct actor_consumer *consumer, struct proto_message *message)
{
    consumer->options.source->ops->settle(consumer->options.source, message->as.bus.number,
                                          AUDIT_ACCEPTED);
    message_free(message);
}

/* ---- aside ---- */

/* Takes the message; one with the reason beside it waits for the aside bus in its place. */
static void set_aside(struct actor_consumer *consumer, struct proto_message *message,
                      const char *reason)
{
    struct span why = span_text(reason);
    struct proto_message *copy = message_new(
        PROTO_BUS_RECEIVED, message->as.bus.id.count + message->as.bus.body.count + why.count);
    log_line(LOG_ERROR, "CONSUMER-MESSAGE-SET-ASIDE", "bytes=%zu reason=\"%s\"",
             message->as.bus.body.count, reason);
    if (copy == NULL) {
        consumer->options.source->ops->settle(consumer->options.source, message->as.bus.number,
                                              AUDIT_RELEASED); /* it comes again */
        message_free(message);
        return;
    }
    copy->as.bus = (struct proto_bus_message){.number = message->as.bus.number,
                                              .id = message_keep(copy, message->as.bus.id),
                                              .body = message_keep(copy, message->as.bus.body),
                                              .reason = message_keep(copy, why)};
    message_free(message);
    actor_queue_push(&consumer->refused, copy);
}

static void send_aside(struct actor_consumer *consumer, struct actor_time now)
{
    consumer->aside_ms = ACTOR_NEVER;
    while (consumer->refused.oldest != NULL) {
        const struct proto_bus_message *refused = &consumer->refused.oldest->as.bus;
        struct audit_bus_message message = {
            .id = refused->id, .body = refused->body, .reason = refused->reason};
        struct audit_bus *aside = consumer->options.aside;
        if (aside->ops->send(aside, &message) != RESULT_OK) {
            consumer->aside_ms = now.monotonic_ms + ASIDE_RETRY_MS;
            return;
        }
        actor_queue_push(&consumer->aside, actor_queue_pop(&consumer->refused));
    }
}

/* The aside bus has them for good: the queue need not keep them. */
static void aside_settled(struct actor_consumer *consumer, uint64_t count)
{
    for (; consumer->aside_settled < count; consumer->aside_settled++) {
        struct proto_message *message = actor_queue_pop(&consumer->aside);
        ASSERT(message != NULL);
        if (message->as.bus.cut) { /* refused there too: stays unaccepted until we end */
            message_free(message);
            continue;
        }
        actor_count(&consumer->counters.set_aside, 1);
        accept(consumer, message);
    }
}

/* The aside bus will not have it either. It is kept here, unaccepted, and comes to the next
 * consumer. */
static void aside_refused(struct actor_consumer *consumer, const struct proto_bus_message *refused)
{
    struct proto_message *message = consumer->aside.oldest;
    for (uint64_t at = consumer->aside_settled; at < refused->number && message != NULL; at++) {
        message = message->next;
    }
    ASSERT(message != NULL);
    message->as.bus.cut = true;
    log_line(LOG_CRITICAL, "CONSUMER-MESSAGE-STUCK", "bytes=%zu reason=\"%.*s\"",
             refused->body.count, SPAN_ARG(refused->reason));
}

/* ---- writing ---- */

/* A failure that waiting may mend, as against one of the message's own. */
static bool is_of_database(enum result result)
{
    return result != RESULT_INVALID && result != RESULT_LIMIT && result != RESULT_EXISTS &&
           result != RESULT_UNSUPPORTED;
}

static uint32_t back_off_ms(struct actor_consumer *consumer)
{
    uint32_t failures = consumer->failures++;
    uint32_t most = failures < 7 ? (uint32_t)BACK_OFF_FIRST_MS << failures : BACK_OFF_MAX_MS;
    most = most < BACK_OFF_MAX_MS ? most : BACK_OFF_MAX_MS;
    consumer->options.random =
        consumer->options.random * 6364136223846793005u + 1442695040888963407u;
    return most / 2 + (uint32_t)((consumer->options.random >> 33) % (most / 2 + 1));
}

static void down(struct actor_consumer *consumer, enum result result, struct actor_time now)
{
    if (actor_count_read(&consumer->counters.failing) == 0 && result != RESULT_AGAIN) {
        actor_count_set(&consumer->counters.failing, 1);
        log_line(LOG_ERROR, "CONSUMER-DATABASE-AWAY", "reason=\"%s\"", result_text(result));
    }
    consumer->apply_ms = now.monotonic_ms + back_off_ms(consumer);
}

static void up(struct actor_consumer *consumer)
{
    if (actor_count_read(&consumer->counters.failing) == 1) {
        actor_count_set(&consumer->counters.failing, 0);
        log_line(LOG_INFO, "CONSUMER-DATABASE-BACK", "pending=%zu", consumer->pending_count);
    }
    consumer->failures = 0;
    consumer->apply_ms = ACTOR_NEVER;
}

/* The next messages as values; those that are none are set aside. Returns how many. */
static size_t read_entries(struct actor_consumer *consumer)
{
    size_t count = 0;
    size_t bytes = 0;
    while (consumer->pending.oldest != NULL && count < APPLY_MESSAGES && bytes < APPLY_BYTES) {
        struct proto_message *message = actor_queue_pop(&consumer->pending);
        consumer->pending_count--;
        char reason[AUDIT_REASON_BYTES] = "larger than a message may be";
        struct entry *entry = &consumer->entries[count];
        enum result result =
            message->as.bus.cut
                ? RESULT_INVALID
                : audit_message_read(message->as.bus.body, &consumer->arena, &entry->value, reason);
        if (result == RESULT_LIMIT && count > 0) {
            /* Too much for one transaction: it begins the next. */
            consumer->arena.overflowed = false;
            message->next = consumer->pending.oldest;
            consumer->pending.newest =
                consumer->pending.oldest == NULL ? message : consumer->pending.newest;
            consumer->pending.oldest = message;
            consumer->pending_count++;
            break;
        }
        if (result != RESULT_OK) {
            consumer->arena.overflowed = false;
            set_aside(consumer, message,
                      result == RESULT_LIMIT ? "it takes more memory than there is" : reason);
            continue;
        }
        bytes += message->as.bus.body.count;
        entry->message = message;
        entry->at = count;
        entry->execution_id = wire_string_or(wire_find_text(entry->value, "executionId"), "");
        count++;
    }
    return count;
}

static int by_execution(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    int order = span_compare(left->execution_id, right->execution_id);
    return order != 0 ? order : left->at < right->at ? -1 : 1;
}

static enum result write_values(struct actor_consumer *consumer, size_t count)
{
    const struct storage_index_ops *ops = consumer->index->ops;
    enum result result = ops->apply(consumer->index, consumer->values, count, STORAGE_NO_POSITION);
    if (result == RESULT_OK) {
        result = ops->flush(consumer->index);
    }
    actor_count(&consumer->counters.applies, result == RESULT_OK ? 1 : 0);
    return result;
}

/* Something in the transaction does not fit: each message by itself shows which. */
static enum result write_one_by_one(struct actor_consumer *consumer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = &consumer->entries[i];
        consumer->values[0] = entry->value;
        enum result result = write_values(consumer, 1);
        if (result != RESULT_OK && is_of_database(result)) {
            return result;
        }
        if (result == RESULT_OK) {
            actor_count(&consumer->counters.written, 1);
            accept(consumer, entry->message);
        } else {
            char reason[AUDIT_REASON_BYTES];
            snprintf(reason, sizeof reason, "the database does not take it: %s",
                     result_text(result));
            set_aside(consumer, entry->message, reason);
        }
        entry->message = NULL;
    }
    return RESULT_OK;
}

/* Back to the head of what is pending, in the order that they have. */
static void put_back(struct actor_consumer *consumer, size_t count)
{
    struct actor_queue queue = {0};
    for (size_t i = 0; i < count; i++) {
        if (consumer->entries[i].message != NULL) {
            actor_queue_push(&queue, consumer->entries[i].message);
            consumer->pending_count++;
        }
    }
    actor_queue_append(&queue, &consumer->pending);
    consumer->pending = queue;
}

/* In the order of arrival: AMQP then tells the broker of whole ranges, not of each. */
static void accept_all(struct actor_consumer *consumer, size_t count)
{
    struct proto_message *arrived[APPLY_MESSAGES];
    for (size_t i = 0; i < count; i++) {
        arrived[consumer->entries[i].at] = consumer->entries[i].message;
        consumer->entries[i].message = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        accept(consumer, arrived[i]);
    }
}

static enum result write_entries(struct actor_consumer *consumer, size_t count)
{
    /* In one order of rows for all consumers, so that they do not wait for each other in a ring. */
    qsort(consumer->entries, count, sizeof consumer->entries[0], by_execution);
    for (size_t i = 0; i < count; i++) {
        consumer->values[i] = consumer->entries[i].value;
    }
    enum result result = write_values(consumer, count);
    if (result != RESULT_OK && !is_of_database(result)) {
        return write_one_by_one(consumer, count);
    }
    if (result == RESULT_OK) {
        actor_count(&consumer->counters.written, (int64_t)count);
        accept_all(consumer, count);
    }
    return result;
}

static void write_pending(struct actor_consumer *consumer, struct actor_time now)
{
    enum result result = RESULT_OK;
    if (consumer->index == NULL) {
        result = consumer->options.open(consumer->options.owner, &consumer->index);
    }
    size_t count = result == RESULT_OK ? read_entries(consumer) : 0;
    if (count > 0) {
        result = write_entries(consumer, count);
    }
    if (result == RESULT_OK) {
        up(consumer);
    } else {
        put_back(consumer, count);
        down(consumer, result, now);
    }
    arena_clear(&consumer->arena);
}

/* ---- the turn ---- */

/* Takes the message. */
static void receive(struct actor_consumer *consumer, struct proto_message *message)
{
    if (message->type == PROTO_BUS_RECEIVED) {
        actor_queue_push(&consumer->pending, message);
        consumer->pending_count++;
        actor_count(&consumer->counters.received, 1);
        return;
    }
    ASSERT(message->reply_to.ticket == ACTOR_BUS_ASIDE);
    if (message->type == PROTO_BUS_SETTLED) {
        aside_settled(consumer, message->as.position);
    } else {
        ASSERT(message->type == PROTO_BUS_REFUSED);
        aside_refused(consumer, &message->as.bus);
    }
    message_free(message);
}

uint64_t actor_consumer_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_consumer *consumer = BASE_CAST(actor_consumer, argument, CONSUMER_MAGIC);
    size_t arrived = 0;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        receive(consumer, message);
        arrived++;
    }
    /* A full turn has more behind it: larger transactions are cheaper ones. */
    bool gather = arrived == LIMIT_ACTOR_BATCH && consumer->pending_count < APPLY_MESSAGES;
    bool waits = consumer->apply_ms != ACTOR_NEVER && consumer->apply_ms > now.monotonic_ms;
    if (consumer->pending_count > 0 && !gather && !waits) {
        write_pending(consumer, now);
    }
    if (consumer->refused.oldest != NULL &&
        (consumer->aside_ms == ACTOR_NEVER || consumer->aside_ms <= now.monotonic_ms)) {
        send_aside(consumer, now);
    }
    uint64_t due_ms = consumer->apply_ms;
    if (consumer->pending_count > 0 && due_ms == ACTOR_NEVER) {
        due_ms = now.monotonic_ms;
    }
    return due_ms < consumer->aside_ms ? due_ms : consumer->aside_ms;
}
