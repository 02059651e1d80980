/* bus.c: see bus.h. */
#include "actors/bus.h"

#include <stdlib.h>

#include "actors/pace.h"
#include "actors/queue.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/record.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum {
    BUS_MAGIC = 0x41425553,
    PUMP_DELAY_MS = 20, /* what the journal announces is gathered for that long */
    RETRY_MS = 1000,
    LOOK_MS = 100, /* between two looks at whether the bus went away, at the end */
    REPORT_EVERY_MS = 100,
    SLICE_BATCHES = 256, /* of the journal */
    BEHIND_BYTES_MAX = 1 << 30,
};

/* With message `sent` - 1 settled, all before `position` is. */
struct mark {
    uint64_t sent;
    uint64_t position;
};

struct actor_bus {
    uint32_t magic;
    struct actor_bus_options options;
    struct storage_journal_reader *reader;
    struct arena arena; /* one message as JSON */
    struct span rest;   /* records of the batch that is being sent */
    uint64_t rest_position;
    uint64_t read;     /* all before it is sent */
    uint64_t position; /* all before it is settled, or refused */
    uint64_t reported;
    uint64_t sent;
    uint64_t settled;
    struct mark *marks; /* ring: one a batch with messages that are not settled */
    uint64_t mark_begin, mark_end;
    uint64_t *sent_ms;          /* ring: of each unsettled message */
    struct actor_queue refused; /* not taken by the aside bus yet */
    uint64_t aside_sent, aside_settled;
    uint64_t pump_ms, report_ms, aside_ms;
    struct actor_pace pace;
    struct proto_address drain;
    struct actor_bus_counters counters;
};

enum result actor_bus_new(const struct actor_bus_options *options, struct actor_bus **out)
{
    ASSERT(options->window > 0);
    struct actor_bus *bus = calloc(1, sizeof *bus);
    if (bus == NULL) {
        return RESULT_LIMIT;
    }
    bus->magic = BUS_MAGIC;
    bus->options = *options;
    bus->read = bus->position = bus->reported = bus->rest_position = options->position;
    bus->report_ms = bus->aside_ms = ACTOR_NEVER;
    bus->pace =
        (struct actor_pace){.enabled = options->paced, .behind_bytes_max = BEHIND_BYTES_MAX};
    arena_init(&bus->arena, 16 << 10, (size_t)LIMIT_EXECUTION_BYTES * 2);
    bus->marks = calloc(options->window, sizeof *bus->marks);
    bus->sent_ms = calloc(options->window, sizeof *bus->sent_ms);
    enum result result = bus->marks == NULL || bus->sent_ms == NULL ? RESULT_LIMIT : RESULT_OK;
    if (result == RESULT_OK) {
        result = options->log->ops->reader_open(options->log, options->position, &bus->reader);
    }
    if (result != RESULT_OK) {
        actor_bus_free(bus);
        return result;
    }
    *out = bus;
    return RESULT_OK;
}

void actor_bus_free(struct actor_bus *bus)
{
    if (bus == NULL) {
        return;
    }
    if (bus->reader != NULL) {
        bus->options.log->ops->reader_close(bus->reader);
    }
    actor_queue_clear(&bus->refused);
    arena_release(&bus->arena);
    free(bus->marks);
    free(bus->sent_ms);
    bus->magic = 0;
    free(bus);
}

const struct actor_bus_counters *actor_bus_counters(const struct actor_bus *bus)
{
    return &bus->counters;
}

/* ---- sending ---- */

static enum result send_record(struct actor_bus *bus, const struct proto_record *record,
                               struct actor_time now)
{
    struct audit_bus_message message = {
        .id = wire_string_or(wire_find_text(record->body, "messageId"), "")};
    arena_clear(&bus->arena);
    enum result result = json_from_wire(record->body, JSON_COMPACT, &bus->arena, &message.body);
    if (result == RESULT_INVALID) {
        /* It was written by the engine, so this does not happen; if it does, the others go on. */
        log_line(LOG_CRITICAL, "BUS-MESSAGE-UNSPEAKABLE", "executionId=%.*s",
                 SPAN_ARG(record->execution_id));
        return RESULT_OK;
    }
    if (result == RESULT_OK && bus->sent - bus->settled == bus->options.window) {
        return RESULT_AGAIN;
    }
    if (result == RESULT_OK) {
        result = bus->options.bus->ops->send(bus->options.bus, &message);
    }
    if (result != RESULT_OK) {
        return result;
    }
    bus->sent_ms[bus->sent % bus->options.window] = now.monotonic_ms;
    bus->sent++;
    actor_count(&bus->counters.messages, 1);
    return RESULT_OK;
}

/* All messages of the batch are sent: it is behind us when the last of them is settled. */
static void batch_sent(struct actor_bus *bus)
{
    bus->read = bus->rest_position;
    if (bus->sent == bus->settled) {
        bus->position = bus->read;
        return;
    }
    struct mark *last = &bus->marks[(bus->mark_end - 1) % bus->options.window];
    if (bus->mark_end == bus->mark_begin || last->sent != bus->sent) {
        last = &bus->marks[bus->mark_end++ % bus->options.window];
        ASSERT(bus->mark_end - bus->mark_begin <= bus->options.window);
    }
    *last = (struct mark){.sent = bus->sent, .position = bus->read};
}

/* RESULT_AGAIN: the bus is full; it will say when there is room. */
static enum result send_rest(struct actor_bus *bus, struct actor_time now)
{
    while (bus->rest.count > 0) {
        struct span after = bus->rest;
        struct proto_record record;
        enum result result =
            record_read_only(&after, PROTO_RECORD_BIT(PROTO_RECORD_AUDIT), &record);
        if (result == RESULT_OK) {
            result = send_record(bus, &record, now);
            if (result != RESULT_OK) {
                return result;
            }
        } else if (result != RESULT_NOT_FOUND) {
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=bus position=%llu",
                     (unsigned long long)bus->read);
            after = SPAN_EMPTY;
        }
        bus->rest = after;
    }
    if (bus->rest_position > bus->read) {
        batch_sent(bus);
    }
    return RESULT_OK;
}

/* RESULT_OK: there may be more; RESULT_NOT_FOUND: all is read; RESULT_AGAIN: the bus is full. */
static enum result pump(struct actor_bus *bus, struct actor_time now)
{
    const struct storage_journal_ops *ops = bus->options.log->ops;
    enum result result = RESULT_OK;
    for (int i = 0; i < SLICE_BATCHES && result == RESULT_OK; i++) {
        result = send_rest(bus, now);
        if (result != RESULT_OK) {
            return result;
        }
        result = ops->reader_next(bus->reader, &bus->rest, &bus->rest_position);
        if (result != RESULT_OK) {
            bus->rest = SPAN_EMPTY;
        }
        if (result == RESULT_CORRUPT) {
            log_line(LOG_CRITICAL, "JOURNAL-BATCH-CORRUPT", "drain=bus position=%llu",
                     (unsigned long long)bus->read);
            result = RESULT_OK;
        } else if (result != RESULT_OK) {
            bus->rest_position = bus->read;
        }
    }
    return result;
}

/* ---- telling ---- */

static void tell(struct proto_sink *to, uint64_t durable, uint64_t read)
{
    struct proto_message *drained = message_new(PROTO_DRAINED, 0);
    if (drained == NULL) {
        return; /* the next one says more */
    }
    drained->as.drained =
        (struct proto_drained){.drain = PROTO_DRAIN_BUS, .durable = durable, .read = read};
    if (to->send(to, &drained) != RESULT_OK) {
        message_free(drained); /* it has stopped, and so shall we */
    }
}

/* What was refused is behind us only when the aside bus has it. */
static bool aside_is_done(const struct actor_bus *bus)
{
    return bus->refused.oldest == NULL && bus->aside_sent == bus->aside_settled;
}

static void report(struct actor_bus *bus, struct actor_time now)
{
    actor_count_set(&bus->counters.unsettled, bus->sent - bus->settled);
    actor_count_set(&bus->counters.since_ms,
                    bus->sent == bus->settled ? 0
                                              : bus->sent_ms[bus->settled % bus->options.window]);
    if (bus->position == bus->reported || !aside_is_done(bus)) {
        bus->report_ms = ACTOR_NEVER; /* what settles the rest brings a turn */
        return;
    }
    if (bus->report_ms == ACTOR_NEVER) {
        bus->report_ms = now.monotonic_ms + REPORT_EVERY_MS;
    }
    if (bus->report_ms <= now.monotonic_ms || bus->drain.sink != NULL) {
        bus->report_ms = ACTOR_NEVER;
        bus->reported = bus->position;
        tell(bus->options.storage, bus->position, bus->read);
    }
}

static void pump_and_plan(struct actor_bus *bus, struct actor_time now)
{
    bool announced = bus->pump_ms != ACTOR_NEVER;
    uint64_t before = bus->read;
    actor_pace_begin(&bus->pace);
    enum result result = pump(bus, now);
    uint64_t end = bus->options.log->ops->end(bus->options.log);
    actor_pace_end(&bus->pace, end - bus->read, now.monotonic_ms);
    uint64_t rested_ms = actor_pace_until_ms(&bus->pace);
    if (result == RESULT_OK) {
        bus->pump_ms = rested_ms > now.monotonic_ms ? rested_ms : now.monotonic_ms;
    } else if (result == RESULT_AGAIN) {
        bus->pump_ms = ACTOR_NEVER; /* until something is settled */
    } else if (result != RESULT_NOT_FOUND) {
        log_line(LOG_ERROR, "BUS-DRAIN-STALLED", "reason=\"%s\"", result_text(result));
        bus->pump_ms = now.monotonic_ms + RETRY_MS;
    } else if (bus->read != before) {
        bus->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
    } else {
        bus->pump_ms = ACTOR_NEVER;
        if (announced) {
            tell(bus->options.journal, 0, bus->read);
        }
    }
}

/* ---- settling ---- */

static void settled(struct actor_bus *bus, uint64_t count)
{
    ASSERT(count >= bus->settled && count <= bus->sent);
    bus->settled = count;
    while (bus->mark_begin < bus->mark_end) {
        const struct mark *mark = &bus->marks[bus->mark_begin % bus->options.window];
        if (mark->sent > count) {
            break;
        }
        bus->position = mark->position;
        bus->mark_begin++;
    }
}

static void send_aside(struct actor_bus *bus, struct actor_time now)
{
    bus->aside_ms = ACTOR_NEVER;
    while (bus->refused.oldest != NULL) {
        const struct proto_bus_message *refused = &bus->refused.oldest->as.bus;
        struct audit_bus_message message = {
            .id = refused->id, .body = refused->body, .reason = refused->reason};
        if (bus->options.aside->ops->send(bus->options.aside, &message) != RESULT_OK) {
            bus->aside_ms = now.monotonic_ms + RETRY_MS;
            return;
        }
        bus->aside_sent++;
        message_free(actor_queue_pop(&bus->refused));
    }
}

/* Takes the message. The aside bus has nowhere to refuse to: what it refuses is lost, and said to
 * be. */
static void refused(struct actor_bus *bus, struct proto_message *message)
{
    bool of_aside = message->reply_to.ticket == ACTOR_BUS_ASIDE;
    log_line(of_aside ? LOG_CRITICAL : LOG_ERROR,
             of_aside ? "BUS-MESSAGE-LOST" : "BUS-MESSAGE-SET-ASIDE",
             "messageId=\"%.*s\" bytes=%zu reason=\"%.*s\"", SPAN_ARG(message->as.bus.id),
             message->as.bus.body.count, SPAN_ARG(message->as.bus.reason));
    if (of_aside) {
        message_free(message);
    } else {
        actor_queue_push(&bus->refused, message);
    }
}

/* ---- the turn ---- */

/* Takes the message. */
static void receive(struct actor_bus *bus, struct proto_message *message, struct actor_time now)
{
    bool of_aside = message->reply_to.ticket == ACTOR_BUS_ASIDE;
    if (message->type == PROTO_BUS_REFUSED) {
        refused(bus, message);
        return;
    }
    if (message->type == PROTO_JOURNAL_ADVANCED) {
        if (bus->pump_ms == ACTOR_NEVER) {
            bus->pump_ms = now.monotonic_ms + PUMP_DELAY_MS;
        }
    } else if (message->type == PROTO_BUS_SETTLED && of_aside) {
        actor_count(&bus->counters.set_aside, (int64_t)(message->as.position - bus->aside_settled));
        bus->aside_settled = message->as.position;
    } else if (message->type == PROTO_BUS_SETTLED) {
        settled(bus, message->as.position);
        bus->pump_ms = now.monotonic_ms;
    } else {
        ASSERT(message->type == PROTO_DRAIN);
        bus->drain = message->reply_to;
        bus->pump_ms = now.monotonic_ms;
    }
    message_free(message);
}

/* For an orderly end. A bus that is away is not waited for: the journal holds what it lacks. */
static bool may_end(const struct actor_bus *bus)
{
    const struct audit_bus_counters *counters = bus->options.bus->ops->counters(bus->options.bus);
    bool away = atomic_load_explicit(&counters->connected, memory_order_relaxed) == 0;
    bool all = bus->read == bus->options.log->ops->end(bus->options.log) &&
               bus->settled == bus->sent && aside_is_done(bus);
    return all || away;
}

static void answer_drain(struct actor_bus *bus)
{
    struct proto_message *done = message_new(PROTO_DONE, 0);
    if (done != NULL) {
        message_answer(bus->drain, done);
    }
    bus->drain.sink = NULL;
}

static uint64_t earlier(uint64_t a_ms, uint64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

uint64_t actor_bus_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_bus *bus = BASE_CAST(actor_bus, argument, BUS_MAGIC);
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        receive(bus, message, now);
    }
    if (bus->refused.oldest != NULL &&
        (bus->aside_ms == ACTOR_NEVER || bus->aside_ms <= now.monotonic_ms)) {
        send_aside(bus, now);
    }
    if (bus->pump_ms <= now.monotonic_ms) {
        pump_and_plan(bus, now);
    }
    report(bus, now);
    uint64_t due_ms = earlier(earlier(bus->pump_ms, bus->report_ms), bus->aside_ms);
    if (bus->drain.sink != NULL && may_end(bus)) {
        answer_drain(bus);
    } else if (bus->drain.sink != NULL) {
        due_ms = earlier(due_ms, now.monotonic_ms + LOOK_MS);
    }
    return due_ms;
}
