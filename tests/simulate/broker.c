/*
 * broker.c: see broker.h. A connection keeps its order: whichever happening lets something arrive,
 * it is the oldest that has not.
 */
#include "tests/simulate/broker.h"

#include "actors/bus.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/message.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/simulate/machine.h"

enum {
    EXECUTIONS_MAX = 32,
    REVISIONS_MAX = 512,
    WINDOW_MAX = 64,
    WINDOW_NARROW = 3, /* so that it is full now and then */
    LATENCY_MS = 60,
};

/* What has come of one execution, by revision from 1. */
struct heard {
    struct span execution_id;
    uint32_t count;
    uint64_t hashes[REVISIONS_MAX]; /* of id and body */
    bool taken[REVISIONS_MAX];      /* at last, by one of the buses; else it was refused */
};

struct parcel {
    struct span id, body;
};

/* One of the two connections of a process. */
struct side {
    struct audit_bus bus; /* first: the port points here */
    struct audit_bus_counters counters;
    struct sim_broker *broker;
    struct proto_address owner;
    struct parcel parcels[WINDOW_MAX]; /* ring, by number */
    uint64_t sent, arrived, settled;
};

struct sim_broker {
    struct sim *sim;
    struct side sides[2]; /* main, aside */
    uint32_t window;
    bool away;
    struct heard heard[EXECUTIONS_MAX];
    uint32_t heard_count;
};

static struct heard *find(const struct sim_broker *broker, struct span execution_id)
{
    for (uint32_t i = 0; i < broker->heard_count; i++) {
        if (span_equal(broker->heard[i].execution_id, execution_id)) {
            return (struct heard *)&broker->heard[i];
        }
    }
    return NULL;
}

static bool is_aside(const struct side *side)
{
    return side == &side->broker->sides[1];
}

/* ---- the checks ---- */

static struct heard *find_or_add(struct sim_broker *broker, struct span execution_id)
{
    struct heard *heard = find(broker, execution_id);
    if (heard == NULL) {
        ASSERT(broker->heard_count < EXECUTIONS_MAX);
        heard = &broker->heard[broker->heard_count++];
        heard->execution_id = arena_copy(&broker->sim->arena, execution_id);
    }
    return heard;
}

/* What comes for the first time. */
static void take_new(struct sim_broker *broker, struct heard *heard, uint64_t revision,
                     uint64_t hash)
{
    if (revision != heard->count + 1ul) {
        sim_fail(broker->sim, "the bus brings revision %llu of \"%.*s\" after %u",
                 (unsigned long long)revision, SPAN_ARG(heard->execution_id), heard->count);
        return;
    }
    ASSERT(heard->count < REVISIONS_MAX);
    heard->hashes[heard->count++] = hash;
}

static void take(struct side *side, const struct parcel *parcel, bool refused)
{
    struct sim_broker *broker = side->broker;
    struct json_error error;
    struct span message;
    enum result result =
        json_to_wire(parcel->body, LIMIT_WIRE_DEPTH, &broker->sim->arena, &message, &error);
    if (result != RESULT_OK ||
        !span_equal(wire_string_or(wire_find_text(message, "messageId"), ""), parcel->id)) {
        sim_fail(broker->sim, "the bus brings what is no audit message: %.*s",
                 SPAN_ARG(parcel->body));
        return;
    }
    struct span id = wire_string_or(wire_find_text(message, "executionId"), "");
    struct heard *heard = find_or_add(broker, id);
    uint64_t revision = (uint64_t)wire_int_or(wire_find_text(message, "revision"), 0);
    uint64_t hash = base_hash(parcel->body, base_hash(parcel->id, 0));
    if (revision == 0 || revision > heard->count) {
        take_new(broker, heard, revision, hash);
    } else if (heard->hashes[revision - 1] != hash) {
        sim_fail(broker->sim, "the bus brings revision %llu of \"%.*s\" again, as another one",
                 (unsigned long long)revision, SPAN_ARG(id));
    }
    if (!sim_failed(broker->sim)) {
        heard->taken[revision - 1] = heard->taken[revision - 1] || !refused;
    }
}

void sim_broker_judge(struct sim_broker *broker)
{
    for (uint32_t i = 0; i < broker->heard_count; i++) {
        const struct heard *heard = &broker->heard[i];
        for (uint32_t k = 0; k < heard->count; k++) {
            if (!heard->taken[k]) {
                sim_fail(broker->sim,
                         "revision %u of \"%.*s\" was refused, and is not on the aside bus", k + 1,
                         SPAN_ARG(heard->execution_id));
            }
        }
    }
}

uint32_t sim_broker_count(const struct sim_broker *broker, struct span execution_id)
{
    const struct heard *heard = find(broker, execution_id);
    return heard == NULL ? 0 : heard->count;
}

/* ---- the connection ---- */

static void tell_settled(struct side *side)
{
    struct proto_message *settled = message_new(PROTO_BUS_SETTLED, 0);
    ASSERT(settled != NULL);
    settled->as.position = side->settled;
    message_answer(side->owner, settled);
}

static void confirm(struct sim *sim, struct proto_message *message, uint64_t aside)
{
    (void)message;
    struct side *side = &sim->machine->broker->sides[aside];
    if (side->broker->away || side->settled == side->arrived) {
        return;
    }
    side->settled = side->arrived;
    tell_settled(side);
}

static void refuse(struct side *side, const struct parcel *parcel)
{
    static const char reason[] = "the broker does not like it";
    struct proto_message *refused =
        message_new(PROTO_BUS_REFUSED, parcel->id.count + parcel->body.count + sizeof reason);
    ASSERT(refused != NULL);
    refused->as.bus =
        (struct proto_bus_message){.number = side->arrived,
                                   .id = message_keep(refused, parcel->id),
                                   .body = message_keep(refused, parcel->body),
                                   .reason = message_keep(refused, span_text(reason))};
    message_answer(side->owner, refused);
}

/* false: nothing is on its way. */
static bool arrive_one(struct side *side, bool process_lives)
{
    struct sim_broker *broker = side->broker;
    if (side->arrived == side->sent) {
        return false;
    }
    const struct parcel *parcel = &side->parcels[side->arrived % WINDOW_MAX];
    bool refused = process_lives && !is_aside(side) && sim_fault(broker->sim, SIM_BUS_REFUSES, 1);
    take(side, parcel, refused);
    if (refused) {
        refuse(side, parcel);
    }
    side->arrived++;
    return true;
}

static void arrive(struct sim *sim, struct proto_message *message, uint64_t aside)
{
    (void)message;
    struct side *side = &sim->machine->broker->sides[aside];
    if (!side->broker->away && arrive_one(side, true)) {
        sim_later(sim, sim_below(&sim->schedule, LATENCY_MS), true, confirm, NULL, aside);
    }
}

static enum result send_message(struct audit_bus *self, const struct audit_bus_message *message)
{
    struct side *side = (struct side *)self;
    struct sim *sim = side->broker->sim;
    if (side->sent - side->settled >= side->broker->window) {
        return RESULT_AGAIN;
    }
    if (!sim_machine_effect(sim)) {
        return RESULT_OK;
    }
    side->parcels[side->sent++ % WINDOW_MAX] = (struct parcel){
        .id = arena_copy(&sim->arena, message->id), .body = arena_copy(&sim->arena, message->body)};
    sim_later(sim, sim_below(&sim->schedule, LATENCY_MS), true, arrive, NULL, is_aside(side));
    return RESULT_OK;
}

static const struct audit_bus_counters *counters(const struct audit_bus *self)
{
    return &((const struct side *)self)->counters;
}

static void close_side(struct audit_bus *self)
{
    (void)self; /* sim_broker_close does it */
}

static const struct audit_bus_ops bus_ops = {
    .send = send_message, .counters = counters, .close = close_side};

/* ---- life ---- */

struct sim_broker *sim_broker_new(struct sim *sim)
{
    struct sim_broker *broker = arena_zero(&sim->arena, sizeof *broker);
    ASSERT(broker != NULL);
    broker->sim = sim;
    return broker;
}

uint32_t sim_broker_open(struct sim_broker *broker, struct proto_address main,
                         struct proto_address aside)
{
    bool narrow = sim_chance(&broker->sim->schedule, 50);
    broker->window = narrow ? sim_between(&broker->sim->schedule, 1, WINDOW_NARROW) : WINDOW_MAX;
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &broker->sides[i];
        side->bus.ops = &bus_ops;
        side->broker = broker;
        side->owner = i == ACTOR_BUS_ASIDE ? aside : main;
        side->sent = side->arrived = side->settled = 0;
    }
    return broker->window;
}

struct audit_bus *sim_broker_bus(struct sim_broker *broker, bool aside)
{
    return &broker->sides[aside].bus;
}

void sim_broker_close(struct sim_broker *broker)
{
    for (uint32_t i = 0; i < 2 && !broker->away; i++) {
        struct side *side = &broker->sides[i];
        uint32_t more = sim_below(&broker->sim->schedule, WINDOW_NARROW);
        while (more-- > 0 && arrive_one(side, false)) {
        }
        side->sent = side->arrived;
    }
}

/* Back again, what was not confirmed is sent once more; and who had no room hears that there is. */
void sim_broker_set_away(struct sim_broker *broker, bool away)
{
    struct sim *sim = broker->sim;
    broker->away = away;
    for (uint32_t i = 0; i < 2 && !away && sim->machine->running; i++) {
        struct side *side = &broker->sides[i];
        side->arrived = side->settled;
        for (uint64_t k = side->settled; k < side->sent; k++) {
            sim_later(sim, sim_below(&sim->schedule, LATENCY_MS), true, arrive, NULL, i);
        }
    }
}
