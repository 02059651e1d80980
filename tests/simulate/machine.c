/*
 * machine.c: see machine.h. boot() wires what actors/runtime.c wires, without threads.
 */
#include "tests/simulate/machine.h"

#include <stdlib.h>

#include "actors/audit.h"
#include "actors/bus.h"
#include "actors/journal.h"
#include "actors/registry.h"
#include "actors/shard/shard.h"
#include "actors/storage.h"
#include "proto/base/assert.h"
#include "proto/record.h"
#include "proto/wire/reader.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/modules.h"
#include "tests/simulate/power_cut_files.h"
#include "tests/simulate/tap.h"

enum {
    BATCH_MAX = 6,
    LOST_WAKING_PERCENT = 20,
    TAMPER_PERCENT = 15,
    STALL_PERCENT = 1,
    FULL_PERCENT = 1,
    EFFECTS_BEFORE_DEATH_MAX = 160,
    BOOT_RETRY_MS = 1000,
    BUS_PERCENT = 60,
    RECKLESS_PERCENT = 8, /* seeds without durability, and seeds without an audit */
};

static const char *const actor_names[SIM_ACTOR_COUNT] = {
    [SIM_SHARD] = "shard 0",     [SIM_SHARD + 1] = "shard 1", [SIM_JOURNAL] = "journal",
    [SIM_STORAGE] = "storage",   [SIM_AUDIT] = "audit",       [SIM_BUS] = "bus",
    [SIM_REGISTRY] = "registry",
};

/* ---- death ---- */

void sim_machine_die(struct sim *sim)
{
    sim->machine->alive = false;
    sim->machine->effects_left = UINT64_MAX;
}

void sim_machine_spare(struct sim *sim)
{
    if (!sim->machine->running) {
        return;
    }
    if (power_cut_files_has_stopped(sim->machine->stores.disk)) {
        sim->machine->effects_left = 0;
        return;
    }
    sim->machine->effects_left = UINT64_MAX;
    power_cut_files_stop_at(sim->machine->stores.disk, UINT64_MAX);
}

bool sim_machine_effect(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    if (machine->alive && machine->effects_left != UINT64_MAX && machine->effects_left-- == 0) {
        sim_machine_die(sim);
    }
    return machine->alive;
}

static void plan_death(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    machine->effects_left = UINT64_MAX;
    if (!sim->started || sim->calm || machine->deaths_left == 0) {
        return;
    }
    machine->death = sim_chance(&sim->schedule, 50) ? SIM_CRASH : SIM_POWER_CUT;
    if (sim_fault_allowed(sim, machine->death)) {
        machine->effects_left = sim_below(&sim->schedule, EFFECTS_BEFORE_DEATH_MAX);
    }
}

/* ---- mail ---- */

/* The second log of an audit message gets the index of the first: both are small. */
static void give_index_twice(struct span records)
{
    struct proto_record record;
    while (record_read(&records, &record) == RESULT_OK) {
        struct span logs =
            record.kind == PROTO_RECORD_AUDIT ? wire_find_text(record.body, "logs") : SPAN_EMPTY;
        struct span index = wire_find_text(wire_at(logs, 1), "index");
        if (index.count == 1) {
            --*(uint8_t *)index.bytes;
        }
    }
}

/* Bugs of what actors say to each other. True: the message is gone. */
static bool is_tampered_with(struct sim *sim, struct proto_message **message)
{
    struct proto_publish *published = &(*message)->as.publish;
    enum sim_bug bug = sim->options.bug;
    if (bug == SIM_LOG_INDEX_TWICE && (*message)->type == PROTO_COMMIT) {
        give_index_twice((*message)->as.commit.records);
    }
    if (bug == SIM_MESSAGE_TWICE && (*message)->type == PROTO_DELIVERED &&
        published->result == RESULT_OK && sim_chance(&sim->schedule, TAMPER_PERCENT)) {
        published->result = RESULT_AGAIN; /* the keeper gives it to somebody else, too */
    }
    if (bug == SIM_BUS_FORGETS && (*message)->type == PROTO_DRAINED &&
        (*message)->as.drained.drain == PROTO_DRAIN_BUS && (*message)->as.drained.durable > 0) {
        (*message)->as.drained.durable = (*message)->as.drained.read;
    }
    if (bug == SIM_TICK_LOST && (*message)->type == PROTO_FIRE &&
        sim_chance(&sim->schedule, TAMPER_PERCENT)) {
        struct proto_message *fired = *message;
        *message = NULL;
        fired->type = PROTO_FIRED;
        fired->as.fire.result = RESULT_OK;
        message_answer(fired->reply_to, fired);
        return true;
    }
    if (bug != SIM_MESSAGE_LOST || (*message)->type != PROTO_DELIVER || published->is_signal ||
        !sim_chance(&sim->schedule, TAMPER_PERCENT)) {
        return false;
    }
    struct proto_message *lost = *message;
    *message = NULL;
    lost->type = PROTO_DELIVERED; /* the keeper believes that it has arrived */
    lost->as.publish.result = RESULT_OK;
    message_answer(lost->reply_to, lost);
    return true;
}

static enum result take_mail(struct proto_sink *self, struct proto_message **message)
{
    struct sim_actor *actor = (struct sim_actor *)((char *)self - offsetof(struct sim_actor, sink));
    struct sim *sim = actor->sim;
    bool request = (*message)->type == PROTO_REQUEST;
    if (is_tampered_with(sim, message)) {
        return RESULT_OK;
    }
    if (request && sim_fault(sim, SIM_MAILBOX_FULL, 2)) {
        return RESULT_AGAIN;
    }
    if (!sim->machine->alive) {
        message_free(*message);
        *message = NULL;
        return RESULT_OK;
    }
    if ((*message)->type == PROTO_COMMIT) {
        sim_tap_committed(sim, (*message)->as.commit.records);
    }
    actor_queue_push(&actor->mail, *message);
    actor->mail_count++;
    *message = NULL;
    return RESULT_OK;
}

static struct proto_message *take_batch(struct sim_actor *actor, uint32_t count)
{
    struct actor_queue batch = {0};
    for (uint32_t i = 0; i < count; i++) {
        actor_queue_push(&batch, actor_queue_pop(&actor->mail));
        actor->mail_count--;
    }
    return batch.oldest;
}

/* ---- making the process ---- */

static void settle(struct sim_actor *actor, actor_turn_fn turn, void *self)
{
    ASSERT(self != NULL);
    actor->turn = turn;
    actor->self = self;
    actor->due_ms = 0;
    actor->awake_ms = 0;
}

static void must(struct sim *sim, enum result result, const char *what)
{
    if (result != RESULT_OK) {
        sim_fail(sim, "%s: %s", what, result_text(result));
    }
}

static void make_shards(struct sim *sim, struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->shard_count; i++) {
        machine->shard_options.index = i;
        must(sim, actor_shard_new(&machine->shard_options, &machine->shards[i]), "a shard");
        settle(&machine->actors[SIM_SHARD + i], actor_shard_turn, machine->shards[i]);
    }
}

static struct actor_registry *make_registry(struct sim *sim, struct sim_machine *machine)
{
    struct actor_registry *registry = NULL;
    struct actor_registry_options options = {.self = &machine->actors[SIM_REGISTRY].sink,
                                             .journal = &machine->actors[SIM_JOURNAL].sink,
                                             .shards = machine->shard_sinks,
                                             .shard_count = machine->shard_count};
    must(sim, actor_registry_new(&options, &registry), "the registry");
    settle(&machine->actors[SIM_REGISTRY], actor_registry_turn, registry);
    return registry;
}

static void recover(struct sim *sim, struct sim_machine *machine, struct actor_registry *registry,
                    struct actor_positions *positions)
{
    struct actor_recovery recovery;
    char error[256] = "";
    struct actor_recovery_options options = {.log = &machine->stores.journal.port,
                                             .state = &machine->stores.state.port,
                                             .index = machine->stores.index,
                                             .shards = machine->shards,
                                             .shard_count = machine->shard_count,
                                             .registry = registry,
                                             .bus = machine->broker != NULL,
                                             .now = sim->now};
    sim_tap_recovery_begins(sim);
    enum result result = actor_recover(&options, &recovery, positions, error);
    if (result != RESULT_OK || recovery.corrupt > 0) {
        sim_fail(sim, "recovery: %s, %llu set aside", error, (unsigned long long)recovery.corrupt);
    }
    sim_tap_recovery_ends(sim);
    sim_trace(sim, "recovered %llu executions, %llu runs of events, %llu calls",
              (unsigned long long)recovery.executions, (unsigned long long)recovery.events,
              (unsigned long long)recovery.calls);
}

static void make_journal(struct sim *sim, struct sim_machine *machine, const uint64_t *at)
{
    struct actor_journal *journal = NULL;
    struct actor_journal_options options = {.log = &machine->stores.journal.port,
                                            .durability = machine->shard_options.durability,
                                            .bytes_max = UINT64_MAX};
    options.drains[PROTO_DRAIN_STATE] = &machine->actors[SIM_STORAGE].sink;
    options.drains[PROTO_DRAIN_AUDIT] = &machine->actors[SIM_AUDIT].sink;
    options.drains[PROTO_DRAIN_BUS] =
        machine->broker == NULL ? NULL : &machine->actors[SIM_BUS].sink;
    memcpy(options.drained, at, sizeof options.drained);
    must(sim, actor_journal_new(&options, &journal), "the journal");
    settle(&machine->actors[SIM_JOURNAL], actor_journal_turn, journal);
}

static void make_drains(struct sim *sim, struct sim_machine *machine, const uint64_t *at)
{
    struct actor_storage *storage = NULL;
    struct actor_audit *audit = NULL;
    struct actor_storage_options storage_options = {.state = &machine->stores.state.port,
                                                    .blob = &machine->stores.blob.port,
                                                    .log = &machine->stores.journal.port,
                                                    .self = &machine->actors[SIM_STORAGE].sink,
                                                    .journal = &machine->actors[SIM_JOURNAL].sink,
                                                    .shards = machine->shard_sinks,
                                                    .shard_count = machine->shard_count,
                                                    .state_position = at[PROTO_DRAIN_STATE],
                                                    .blob_position = at[PROTO_DRAIN_BLOB],
                                                    .bus_position = at[PROTO_DRAIN_BUS]};
    must(sim, actor_storage_new(&storage_options, &storage), "the storage actor");
    settle(&machine->actors[SIM_STORAGE], actor_storage_turn, storage);
    struct actor_audit_options audit_options = {.index = machine->stores.index,
                                                .log = &machine->stores.journal.port,
                                                .journal = &machine->actors[SIM_JOURNAL].sink,
                                                .position = at[PROTO_DRAIN_AUDIT]};
    must(sim, actor_audit_new(&audit_options, &audit), "the audit actor");
    settle(&machine->actors[SIM_AUDIT], actor_audit_turn, audit);
}

static void make_bus(struct sim *sim, struct sim_machine *machine, const uint64_t *at)
{
    struct actor_bus *bus = NULL;
    if (machine->broker == NULL) {
        return;
    }
    struct proto_address main = {.sink = &machine->actors[SIM_BUS].sink, .ticket = ACTOR_BUS_MAIN};
    struct proto_address aside = {.sink = main.sink, .ticket = ACTOR_BUS_ASIDE};
    uint32_t window = sim_broker_open(machine->broker, main, aside);
    struct actor_bus_options options = {.bus = sim_broker_bus(machine->broker, false),
                                        .aside = sim_broker_bus(machine->broker, true),
                                        .window = window,
                                        .log = &machine->stores.journal.port,
                                        .journal = &machine->actors[SIM_JOURNAL].sink,
                                        .storage = &machine->actors[SIM_STORAGE].sink,
                                        .position = at[PROTO_DRAIN_BUS]};
    must(sim, actor_bus_new(&options, &bus), "the bus actor");
    settle(&machine->actors[SIM_BUS], actor_bus_turn, bus);
}

static void reboot(struct sim *sim, struct proto_message *message, uint64_t value)
{
    (void)message;
    (void)value;
    if (sim_fault(sim, SIM_RESHARD, 25)) {
        sim->machine->shard_count = SIM_SHARDS_MAX + 1 - sim->machine->shard_count;
        sim->machine->shard_options.shard_count = sim->machine->shard_count;
    }
    sim_machine_boot(sim);
}

void sim_machine_boot(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    struct actor_positions positions;
    enum result result = sim_stores_open(sim, &machine->stores);
    if (result == RESULT_FULL) {
        sim_trace(sim, "a process starts, and finds no space");
        sim_later(sim, BOOT_RETRY_MS, false, reboot, NULL, 0);
        return;
    }
    if (result != RESULT_OK) {
        sim_fail(sim, "the journal does not open: %s", result_text(result));
        return;
    }
    machine->boot++;
    machine->alive = true;
    machine->running = true;
    machine->effects_left = UINT64_MAX; /* recovery itself changes nothing, it only flushes */
    sim_trace(sim, "process %u starts, %u shards%s%s", machine->boot, machine->shard_count,
              machine->durable ? "" : ", not durable", machine->audited ? "" : ", no audit");
    make_shards(sim, machine);
    struct actor_registry *registry = make_registry(sim, machine);
    recover(sim, machine, registry, &positions);
    make_journal(sim, machine, positions.at);
    make_drains(sim, machine, positions.at);
    make_bus(sim, machine, positions.at);
    plan_death(sim);
}

static void tear_down(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    machine->running = machine->alive = false;
    for (uint32_t i = 0; i < SIM_ACTOR_COUNT; i++) {
        actor_queue_clear(&machine->actors[i].mail);
        machine->actors[i].mail_count = 0;
    }
    for (uint32_t i = 0; i < machine->shard_count; i++) {
        actor_shard_free(machine->shards[i]);
        machine->actors[SIM_SHARD + i].self = NULL;
        machine->shards[i] = NULL;
    }
    actor_registry_free(machine->actors[SIM_REGISTRY].self);
    actor_journal_free(machine->actors[SIM_JOURNAL].self);
    actor_storage_free(machine->actors[SIM_STORAGE].self);
    actor_audit_free(machine->actors[SIM_AUDIT].self);
    actor_bus_free(machine->actors[SIM_BUS].self);
    if (machine->broker != NULL && !sim_failed(sim)) {
        sim_broker_close(machine->broker);
    }
    for (uint32_t i = SIM_JOURNAL; i < SIM_ACTOR_COUNT; i++) {
        machine->actors[i].self = NULL;
    }
    for (uint32_t i = 0; i < machine->happening_count; i++) {
        struct sim_happening *happening = &machine->happenings[i];
        if (happening->boot != 0) {
            message_free(happening->message);
            machine->happenings[i--] = machine->happenings[--machine->happening_count];
        }
    }
    sim_stores_close(&machine->stores);
    sim_tap_listen(NULL);
}

static void bury(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    sim_trace(sim, machine->death == SIM_CRASH ? "CRASH" : "POWER CUT");
    sim_note_fault(sim, machine->death);
    machine->deaths_left--;
    sim->report->crashes++;
    tear_down(sim);
    if (machine->death == SIM_POWER_CUT) {
        sim_stores_cut_power(sim, &machine->stores);
    }
    sim_later(sim, sim_below(&sim->schedule, 4) == 0 ? 20000 : sim_below(&sim->schedule, 500),
              false, reboot, NULL, 0);
}

void sim_machine_stop(struct sim *sim)
{
    tear_down(sim);
}

/* ---- the calendar ---- */

void sim_later(struct sim *sim, uint64_t delay_ms, bool with_the_process, sim_happening_fn happen,
               struct proto_message *message, uint64_t value)
{
    struct sim_machine *machine = sim->machine;
    if (machine->happening_count == machine->happening_capacity) {
        machine->happening_capacity = 2 * machine->happening_capacity + 32;
        machine->happenings =
            realloc(machine->happenings, machine->happening_capacity * sizeof *machine->happenings);
        ASSERT(machine->happenings != NULL);
    }
    machine->happenings[machine->happening_count++] =
        (struct sim_happening){.due_ms = sim->now.monotonic_ms + delay_ms,
                               .boot = with_the_process ? machine->boot : 0,
                               .happen = happen,
                               .message = message,
                               .value = value};
}

static uint64_t actor_due_ms(const struct sim_actor *actor)
{
    if (actor->self == NULL) {
        return ACTOR_NEVER;
    }
    uint64_t due_ms = actor->mail_count > 0 ? 0 : actor->due_ms;
    return due_ms == ACTOR_NEVER || due_ms > actor->awake_ms ? due_ms : actor->awake_ms;
}

/* Fills `ready` with what can happen at `now_ms`, and says when the first of all can. */
static uint32_t find_ready(const struct sim_machine *machine, uint64_t now_ms, uint32_t *ready,
                           uint32_t most, uint64_t *first_ms)
{
    uint32_t count = 0;
    *first_ms = ACTOR_NEVER;
    for (uint32_t i = 0; i < SIM_ACTOR_COUNT + machine->happening_count; i++) {
        uint64_t due_ms = i < SIM_ACTOR_COUNT ? actor_due_ms(&machine->actors[i])
                                              : machine->happenings[i - SIM_ACTOR_COUNT].due_ms;
        *first_ms = due_ms < *first_ms ? due_ms : *first_ms;
        if (due_ms <= now_ms && count < most) {
            ready[count++] = i;
        }
    }
    return count;
}

static void pass_time(struct sim *sim, uint64_t until_ms)
{
    ASSERT(until_ms > sim->now.monotonic_ms);
    sim->now.unix_ms += (int64_t)(until_ms - sim->now.monotonic_ms);
    sim->now.monotonic_ms = until_ms;
}

/* ---- faults of the machine ---- */

static void end_full(struct sim *sim, struct proto_message *message, uint64_t fault)
{
    (void)message;
    sim_trace(sim, "%s ends", sim_fault_name((enum sim_fault)fault));
    sim_stores_set_full(&sim->machine->stores, (enum sim_fault)fault, false);
}

static void come_back(struct sim *sim, struct proto_message *message, uint64_t value)
{
    (void)message;
    (void)value;
    sim_trace(sim, "bus-away ends");
    sim_broker_set_away(sim->machine->broker, false);
}

static void trouble(struct sim *sim)
{

    static const enum sim_fault fulls[] = {SIM_DISK_FULL, SIM_STATE_FULL, SIM_BLOB_FULL,
                                           SIM_INDEX_FAILS, SIM_BUS_AWAY};
    struct sim_broker *broker = sim->machine->broker;
    enum sim_fault full = fulls[sim_below(&sim->schedule, broker == NULL ? 4 : 5)];
    if (full == SIM_BUS_AWAY) {
        if (sim_fault(sim, full, FULL_PERCENT)) {
            sim_broker_set_away(broker, true);
            sim_later(sim, sim_between(&sim->schedule, 100, 30000), false, come_back, NULL, 0);
        }
    } else if (sim_fault(sim, full, FULL_PERCENT)) {
        sim_stores_set_full(&sim->machine->stores, full, true);
        sim_later(sim, sim_between(&sim->schedule, 100, 5000), false, end_full, NULL, full);
    }
    if (sim_fault(sim, SIM_STALL, STALL_PERCENT)) {
        struct sim_actor *actor = &sim->machine->actors[sim_below(&sim->schedule, SIM_ACTOR_COUNT)];
        actor->awake_ms = sim->now.monotonic_ms + sim_between(&sim->schedule, 10, 4000);
    }
}

/* ---- one step ---- */

static void take_turn(struct sim *sim, struct sim_actor *actor)
{
    uint32_t most = actor->mail_count < BATCH_MAX ? actor->mail_count : BATCH_MAX;
    uint32_t count = most == 0 ? 0 : sim_between(&sim->schedule, 1, most);
    if (sim->options.trace) {
        sim_trace(sim, "  %s takes %u of %u", actor_names[actor->name], count, actor->mail_count);
    }
    sim_tap_listen(sim);
    actor->due_ms = actor->turn(actor->self, take_batch(actor, count), sim->now);
    sim_tap_listen(NULL);
    if (sim->options.bug == SIM_LOST_TIMER && actor->name < SIM_JOURNAL &&
        actor->due_ms != ACTOR_NEVER && sim_chance(&sim->schedule, LOST_WAKING_PERCENT)) {
        actor->due_ms = ACTOR_NEVER;
    }
    (void)sim_machine_effect(sim);
    if (!sim->machine->alive) {
        bury(sim);
    }
}

static void let_happen(struct sim *sim, uint32_t index)
{
    struct sim_machine *machine = sim->machine;
    struct sim_happening happening = machine->happenings[index];
    machine->happenings[index] = machine->happenings[--machine->happening_count];
    happening.happen(sim, happening.message, happening.value);
}

bool sim_machine_step(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    uint32_t ready[64];
    uint64_t first_ms;
    uint32_t count = find_ready(machine, sim->now.monotonic_ms, ready, 64, &first_ms);
    if (count == 0) {
        if (first_ms == ACTOR_NEVER) {
            return false;
        }
        pass_time(sim, first_ms);
        return true;
    }
    trouble(sim);
    uint32_t chosen = ready[sim_below(&sim->schedule, count)];
    if (chosen < SIM_ACTOR_COUNT) {
        take_turn(sim, &machine->actors[chosen]);
    } else {
        let_happen(sim, chosen - SIM_ACTOR_COUNT);
    }
    return true;
}

/* ---- life ---- */

struct proto_sink *sim_machine_owner(struct sim *sim, struct span execution_id)
{
    return sim->machine->shard_sinks[actor_shard_of(execution_id, sim->machine->shard_count)];
}

void sim_machine_init(struct sim *sim)
{
    struct sim_random random = sim_random_of(sim->options.seed, 2);
    struct sim_machine *machine = arena_zero(&sim->arena, sizeof *machine);
    ASSERT(machine != NULL);
    sim->machine = machine;
    machine->shard_count = sim_between(&random, 1, SIM_SHARDS_MAX);
    machine->deaths_left = sim_between(&random, 1, 4);
    machine->durable = !sim_chance(&random, RECKLESS_PERCENT);
    machine->audited = !sim_chance(&random, RECKLESS_PERCENT);
    machine->broker =
        machine->audited && sim_chance(&random, BUS_PERCENT) ? sim_broker_new(sim) : NULL;
    for (uint32_t i = 0; i < SIM_ACTOR_COUNT; i++) {
        machine->actors[i] = (struct sim_actor){.sink.send = take_mail,
                                                .sim = sim,
                                                .name = (enum sim_actor_name)i,
                                                .due_ms = ACTOR_NEVER};
    }
    for (uint32_t i = 0; i < SIM_SHARDS_MAX; i++) {
        machine->shard_sinks[i] = &machine->actors[SIM_SHARD + i].sink;
    }
    bool careless = !machine->durable || sim->options.bug == SIM_REPLY_BEFORE_COMMIT;
    machine->deaths_left = machine->durable ? machine->deaths_left : 0;
    machine->shard_options = (struct actor_shard_options){
        .shard_count = machine->shard_count,
        .durability = careless ? ACTOR_NOT_DURABLE : ACTOR_DURABLE,
        .step_blobs = (enum actor_step_blobs)sim_below(&random, 3),
        .audit = machine->audited,
        .heavy_session_bytes = sim_chance(&random, 25) ? 600 : 1 << 20,
        .hot_bytes_max = sim_chance(&random, 25) ? 1 : 1 << 20,
        .hot_ttl_ms = 10 * 60 * 1000,
        .requests_pending_max = 1000,
        .reply_bytes_max = 1 << 20,
        .shards = machine->shard_sinks,
        .journal = &machine->actors[SIM_JOURNAL].sink,
        .io = sim_modules_sink(sim),
        .storage = &machine->actors[SIM_STORAGE].sink,
        .audit_sink = &machine->actors[SIM_AUDIT].sink,
    };
    sim_stores_init(sim, &machine->stores);
}

void sim_machine_release(struct sim *sim)
{
    struct sim_machine *machine = sim->machine;
    if (machine->running) {
        tear_down(sim);
    }
    for (uint32_t i = 0; i < machine->happening_count; i++) {
        message_free(machine->happenings[i].message);
    }
    free(machine->happenings);
    sim_stores_release(&machine->stores);
}
