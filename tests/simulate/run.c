/*
 * run.c: one life: a process is drawn, deployed and executed among faults, then left in peace; and
 * what must hold at the end.
 */
#include <stdarg.h>
#include <stdio.h>

#include "engine/execution.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/clients.h"
#include "tests/simulate/deploy.h"
#include "tests/simulate/explore.h"
#include "tests/simulate/index.h"
#include "tests/simulate/letters.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/modules.h"
#include "tests/simulate/tap.h"
#include "tests/simulate/ticks.h"

enum {
    STEPS_MAX = 60000, /* of the machine: a life has some thousand */
    FAULTS_LEAST = 4,
    FAULTS_MOST = 24,
    FAULTY_MS = 8 * 60 * 1000, /* after that there is peace, */
    PEACE_MS = 60 * 60 * 1000, /* and after that everything is over */
    SETTLE_MS = 60000,         /* drains are done by then, those that had failed too */
};
#define ARENA_BLOCK_BYTES (256ul << 10)
#define ARENA_BYTES_MAX   (256ul << 20)
#define BEGIN_MS          INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

/* ---- for all parts ---- */

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim_failed(sim)) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(sim->report->failure, sizeof sim->report->failure, format, arguments);
    va_end(arguments);
    sim_trace(sim, "FAILED: %s", sim->report->failure);
}

bool sim_fault_allowed(const struct sim *sim, enum sim_fault fault)
{
    return sim->started && !sim->calm && (sim->options.without & (1u << fault)) == 0;
}

void sim_note_fault(struct sim *sim, enum sim_fault fault)
{
    sim->report->faults++;
    sim->report->fault_counts[fault]++;
}

bool sim_fault(struct sim *sim, enum sim_fault fault, uint32_t percent)
{
    if (!sim_fault_allowed(sim, fault) || sim->faults_left == 0 ||
        !sim_chance(&sim->schedule, percent)) {
        return false;
    }
    sim->faults_left--;
    sim_note_fault(sim, fault);
    sim_trace(sim, "fault: %s", sim_fault_name(fault));
    return true;
}

void sim_trace(const struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (!sim->options.trace) {
        return;
    }
    printf("%9.3f ", (double)sim->now.monotonic_ms / 1000.);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

const char *sim_fault_name(enum sim_fault fault)
{
    static const char *const names[] = {
#define SIM_FAULT(symbol, name) name,
#include "tests/simulate/faults.def"
#undef SIM_FAULT
    };
    ASSERT(fault < SIM_FAULT_COUNT);
    return names[fault];
}

const char *sim_bug_name(enum sim_bug bug)
{
    static const char *const names[SIM_BUG_COUNT] = {
        [SIM_NO_BUG] = "none",
        [SIM_JOIN_COUNTS_TOKENS] = "join-counts-tokens",
        [SIM_LOST_TIMER] = "lost-timer",
        [SIM_REPLY_BEFORE_COMMIT] = "reply-before-commit",
        [SIM_MESSAGE_TWICE] = "message-twice",
        [SIM_MESSAGE_LOST] = "message-lost",
        [SIM_HANDLER_TWICE] = "handler-twice",
        [SIM_LOG_INDEX_TWICE] = "log-index-twice",
        [SIM_DELETED_STAYS] = "deleted-stays",
        [SIM_TICK_TWICE] = "tick-twice",
        [SIM_TICK_LOST] = "tick-lost",
        [SIM_BUS_FORGETS] = "bus-forgets",
        [SIM_MIGRATION_BY_PLACE] = "migration-by-place",
        [SIM_IMPORT_HALF] = "import-half",
    };
    ASSERT(bug < SIM_BUG_COUNT);
    return names[bug];
}

/* ---- living ---- */

static void live(struct sim *sim)
{
    uint64_t peace_ms = sim->now.monotonic_ms + FAULTY_MS;
    sim->started = true;
    sim->machine->effects_left = 1 + sim_below(&sim->schedule, 120);
    sim->machine->death = sim_chance(&sim->schedule, 50) ? SIM_CRASH : SIM_POWER_CUT;
    if (!sim_fault_allowed(sim, sim->machine->death) || sim->machine->deaths_left == 0) {
        sim->machine->effects_left = UINT64_MAX;
    }
    sim_clients_start(sim);
    for (uint32_t i = 0; !sim_clients_are_done(sim) && !sim_failed(sim); i++) {
        if (sim->now.monotonic_ms >= peace_ms && !sim->calm) {
            sim_trace(sim, "peace");
            sim->calm = true;
            sim_machine_spare(sim);
        }
        bool idle = !sim_machine_step(sim);
        if (idle || i == STEPS_MAX || sim->now.monotonic_ms >= peace_ms + PEACE_MS) {
            sim_fail(sim, "%s, and not all is done:%.*s",
                     idle ? "nothing happens any more" : "it takes too long",
                     SPAN_ARG(sim_clients_story(sim)));
        }
    }
}

/* The drains get their time, of a process that lives; nobody asks anything any more. */
static void settle(struct sim *sim)
{
    uint64_t settled_ms = 0;
    sim->calm = true;
    sim_machine_spare(sim);
    for (uint32_t i = 0; i < STEPS_MAX && !sim_failed(sim); i++) {
        if (!sim->machine->running) {
            settled_ms = 0;
        } else if (settled_ms == 0) {
            settled_ms = sim->now.monotonic_ms + SETTLE_MS;
        } else if (sim->now.monotonic_ms >= settled_ms) {
            return;
        }
        (void)sim_machine_step(sim);
    }
}

/* ---- judging ---- */

static void check_index(struct sim *sim, const struct engine_execution *execution)
{
    struct span id = execution_id_span(&execution->id);
    if (!sim->machine->audited) {
        return;
    }
    struct sim_index_row row = sim_index_look(sim->machine->stores.index, id);
    const struct sim_broker *broker = sim->machine->broker;
    if (broker != NULL && sim_broker_count(broker, id) != execution->revision) {
        sim_fail(sim, "the bus has brought %u messages of \"%.*s\", not %u",
                 sim_broker_count(broker, id), SPAN_ARG(id), execution->revision);
    }
    if (row.revision != execution->revision || row.log_index != execution->log_last) {
        sim_fail(sim, "the index has revision %u, log %llu of \"%.*s\"; it ended with %u and %llu",
                 row.revision, (unsigned long long)row.log_index, SPAN_ARG(id), execution->revision,
                 (unsigned long long)execution->log_last);
    }
}

struct blob_answer {
    struct proto_sink sink;
    struct proto_message *message;
};

static enum result take_blob(struct proto_sink *self, struct proto_message **message)
{
    ((struct blob_answer *)self)->message = *message;
    *message = NULL;
    return RESULT_OK;
}

/* The last bytes of an execution are in the blob store, and its row is out of the table. */
static void check_stores(struct sim *sim, const struct engine_execution *execution)
{
    struct sim_stores *stores = &sim->machine->stores;
    struct blob_answer answer = {.sink.send = take_blob};
    struct span id = execution_id_span(&execution->id), value;
    struct span name = arena_format(&sim->arena, "default/%.*s/execution.msgpack", SPAN_ARG(id));
    struct wire_writer writer;
    wire_writer_init(&writer, &sim->arena, 1024);
    engine_encode(execution, &writer);
    enum result result = stores->blob.blobs->ops->get(stores->blob.blobs, name,
                                                      (struct proto_address){.sink = &answer.sink});
    ASSERT(result == RESULT_OK && answer.message != NULL);
    if (!span_equal(answer.message->as.port_done.bytes, wire_writer_span(&writer))) {
        sim_fail(sim, "the blob of \"%.*s\" is not its last state (%s, %zu bytes)", SPAN_ARG(id),
                 result_text(answer.message->as.port_done.result),
                 answer.message->as.port_done.bytes.count);
    }
    message_free(answer.message);
    if (stores->state.table->ops->get(stores->state.table, STORAGE_EXECUTIONS, id, &sim->arena,
                                      &value) != RESULT_NOT_FOUND) {
        sim_fail(sim, "\"%.*s\" has ended, and the state table still has it", SPAN_ARG(id));
    }
}

/* Nothing is left of it, anywhere. */
static void check_deleted(struct sim *sim, struct span id)
{
    struct sim_stores *stores = &sim->machine->stores;
    struct blob_answer answer = {.sink.send = take_blob};
    struct span value, prefix = arena_format(&sim->arena, "default/%.*s/", SPAN_ARG(id));
    struct sim_index_row row = sim_index_look(stores->index, id);
    enum result result = stores->blob.blobs->ops->list(
        stores->blob.blobs, prefix, 1, (struct proto_address){.sink = &answer.sink});
    ASSERT(result == RESULT_OK && answer.message != NULL);
    if (wire_count(answer.message->as.port_done.bytes) > 0) {
        sim_fail(sim, "\"%.*s\" was deleted, and has blobs", SPAN_ARG(id));
    }
    message_free(answer.message);
    if (stores->state.table->ops->get(stores->state.table, STORAGE_EXECUTIONS, id, &sim->arena,
                                      &value) != RESULT_NOT_FOUND) {
        sim_fail(sim, "\"%.*s\" was deleted, and the state table still has it", SPAN_ARG(id));
    }
    if (row.revision > 0 && !row.removed) {
        sim_fail(sim, "\"%.*s\" was deleted, and the index still has it", SPAN_ARG(id));
    }
}

static uint32_t entries(const struct engine_execution *execution, struct span node_id)
{
    uint32_t count = 0;
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    struct span entry;
    while (cursor.next < cursor.end && wire_take(&cursor, &entry) == RESULT_OK) {
        count += span_equal(wire_string_or(wire_find_text(entry, "taskId"), ""), node_id);
    }
    return count;
}

/* Work is done once, however often it was asked for: as often as the twin's (NULL: at most once an
 * entry). */
static void check_work(struct sim *sim, const struct engine_execution *execution,
                       const uint32_t *expected)
{
    for (uint32_t i = 0; i < sim->model->task_count; i++) {
        struct span node_id = sim->model->tasks[i].id;
        uint32_t done = sim_modules_done(sim, execution, node_id);
        uint32_t most = expected != NULL ? expected[i] : entries(execution, node_id);
        if (done > most || (expected != NULL && done < most)) {
            sim_fail(sim, "the work of %.*s was done %u times, not %u", SPAN_ARG(node_id), done,
                     most);
        }
    }
}

static struct span legible(struct sim *sim, struct span value)
{
    struct span text;
    return json_from_wire(value, JSON_COMPACT, &sim->arena, &text) == RESULT_OK ? text : SPAN_EMPTY;
}

static void check_twin(struct sim *sim, const struct engine_execution *execution)
{
    uint32_t *work = arena_zero(&sim->arena, (sim->model->task_count + 1) * sizeof *work);
    ASSERT(work != NULL);
    struct span expected = sim_twin(sim, sim_tap_catalog(sim), execution, work);
    struct span found = sim_end_of(execution, &sim->arena);
    if (!sim_failed(sim) && !span_equal(expected, found)) {
        sim_fail(sim, "it does not end as its twin:\ntwin %.*s\nit   %.*s",
                 SPAN_ARG(legible(sim, expected)), SPAN_ARG(legible(sim, found)));
    }
    check_work(sim, execution, work);
}

static void check_allowed(struct sim *sim, const struct sim_ends *ends,
                          const struct engine_execution *execution)
{
    struct span found = sim_end_of(execution, &sim->arena);
    for (uint32_t i = 0; i < ends->count; i++) {
        if (span_equal(ends->ends[i], found)) {
            return;
        }
    }
    sim_fail(sim, "it ends as none of %u ends that are possible; the first:\n     %.*s\nit   %.*s",
             ends->count, ends->count == 0 ? 0 : (int)legible(sim, ends->ends[0]).count,
             ends->count == 0 ? "" : (const char *)legible(sim, ends->ends[0]).bytes,
             SPAN_ARG(legible(sim, found)));
}

static void judge(struct sim *sim)
{
    sim_letters_judge(sim);
    sim_clients_judge(sim);
    if (sim->machine->broker != NULL) {
        sim_broker_judge(sim->machine->broker);
    }
    struct sim_ends *ends = arena_zero(&sim->arena, sizeof *ends);
    ASSERT(ends != NULL);
    if (!sim->model->confluent) {
        sim_explore(sim, sim_tap_catalog(sim), ends);
        sim->report->unexplored = ends->cut;
        sim->report->ends_allowed = ends->cut ? 0 : ends->count;
    }
    for (uint32_t i = 0; i < sim_clients_count(sim) && !sim_failed(sim); i++) {
        const struct engine_execution *execution = sim_tap_shadow(sim, i);
        struct span id = sim_clients_id(sim, i);
        if (sim_tap_is_deleted(sim, id)) {
            check_deleted(sim, id);
            continue;
        }
        if (execution == NULL) {
            ASSERT(
                sim_clients_are_adopted(sim, i)); /* it never was: its beginning did not survive */
            continue;
        }
        check_index(sim, execution);
        check_stores(sim, execution);
        if (sim->model->confluent && execution->end != ENGINE_END_ABORTED) {
            check_twin(sim, execution);
            continue;
        }
        check_work(sim, execution, NULL);
        if (!ends->cut && !sim->model->confluent) {
            check_allowed(sim, ends, execution);
        }
    }
}

/* ---- all of it ---- */

static void show_log(enum log_level level, const char *id, struct span fields)
{
    (void)level;
    printf("          log: %s %.*s\n", id, SPAN_ARG(fields));
}

void sim_run(const struct sim_options *options, struct sim_report *report)
{
    struct sim_random random = sim_random_of(options->seed, 4 + options->salt * 1000ul);
    struct sim sim = {.options = *options, .report = report, .schedule = random};
    *report = (struct sim_report){0};
    sim.now = (struct actor_time){.unix_ms = BEGIN_MS, .monotonic_ms = 1000};
    sim.faults_left = sim_between(&sim.schedule, FAULTS_LEAST, FAULTS_MOST);
    arena_init(&sim.arena, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    sim.model = arena_zero(&sim.arena, sizeof *sim.model);
    ASSERT(sim.model != NULL);
    sim_model_make(&sim, sim.model);
    if (options->trace) {
        printf("%.*s\n", SPAN_ARG(sim.model->file));
        log_set_writer(show_log, LOG_INFO);
    }
    sim_letters_init(&sim);
    sim_deploy_init(&sim);
    sim_ticks_init(&sim);
    sim_tap_init(&sim);
    sim_modules_init(&sim);
    sim_clients_init(&sim);
    sim_machine_init(&sim);
    if (!sim_failed(&sim)) {
        sim_machine_boot(&sim);
        sim_deploy_first(&sim);
    }
    if (!sim_failed(&sim)) {
        live(&sim);
    }
    if (!sim_failed(&sim)) {
        settle(&sim);
    }
    if (!sim_failed(&sim)) {
        judge(&sim);
    }
    sim_machine_release(&sim);
    sim_tap_release(&sim);
    arena_release(&sim.arena);
}
