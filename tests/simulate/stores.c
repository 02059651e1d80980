/*
 * stores.c: see stores.h.
 */
#include "tests/simulate/stores.h"

#include "proto/base/assert.h"
#include "storage/answer.h"
#include "storage/memory/memory.h"
#include "tests/simulate/index.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/power_cut_files.h"
#include "tests/simulate/tap.h"

enum { SEGMENT_BYTES = 48 << 10, FILE_OPERATIONS_MAX = 4 };

/* ---- journal ---- */

static struct sim_journal_port *journal_of(struct storage_journal *self)
{
    return (struct sim_journal_port *)self;
}

/* A process that is about to die may do so between two operations on files. */
static void aim_at_files(struct sim_journal_port *port, uint64_t operations)
{
    struct sim *sim = port->sim;
    if (sim->machine->effects_left <= operations) {
        struct power_cut_files *disk = sim->machine->stores.disk;
        power_cut_files_stop_at(disk, power_cut_files_operations(disk) +
                                          sim_below(&sim->schedule, FILE_OPERATIONS_MAX));
    }
}

static enum result journal_done(struct sim_journal_port *port, enum result result)
{
    if (result == RESULT_IO) {
        sim_machine_die(port->sim);
    }
    return result;
}

static enum result journal_append(struct storage_journal *self, struct span batch,
                                  uint64_t *position)
{
    struct sim_journal_port *port = journal_of(self);
    *position = 0;
    if (!sim_machine_effect(port->sim)) {
        return RESULT_OK;
    }
    enum result result = journal_done(port, port->log->ops->append(port->log, batch, position));
    if (result == RESULT_OK) {
        sim_tap_appended(port->sim, batch);
    }
    return result;
}

static enum result journal_sync(struct storage_journal *self, bool durable)
{
    struct sim_journal_port *port = journal_of(self);
    if (!sim_machine_effect(port->sim)) {
        return RESULT_OK;
    }
    aim_at_files(port, FILE_OPERATIONS_MAX);
    enum result result = journal_done(port, port->log->ops->sync(port->log, durable));
    sim_tap_synced(port->sim, result == RESULT_OK);
    return result;
}

static uint64_t journal_end(struct storage_journal *self)
{
    return journal_of(self)->log->ops->end(journal_of(self)->log);
}

static uint64_t journal_begin(struct storage_journal *self)
{
    return journal_of(self)->log->ops->begin(journal_of(self)->log);
}

static enum result journal_trim(struct storage_journal *self, uint64_t position)
{
    struct sim_journal_port *port = journal_of(self);
    if (!sim_machine_effect(port->sim)) {
        return RESULT_OK;
    }
    aim_at_files(port, FILE_OPERATIONS_MAX);
    return journal_done(port, port->log->ops->trim(port->log, position));
}

/* Readers are the log's own: reading is no effect. */
static enum result journal_reader_open(struct storage_journal *self, uint64_t position,
                                       struct storage_journal_reader **out)
{
    return journal_of(self)->log->ops->reader_open(journal_of(self)->log, position, out);
}

/* Its reader_next and reader_close are set to the log's when one is opened. */
static struct storage_journal_ops journal_ops = {
    .append = journal_append,
    .sync = journal_sync,
    .end = journal_end,
    .begin = journal_begin,
    .trim = journal_trim,
    .reader_open = journal_reader_open,
};

/* ---- state ---- */

static struct sim_state_port *state_of(struct storage_state *self)
{
    return (struct sim_state_port *)self;
}

/* Bugs: the row of something that was deleted stays, a firing is not noted. */
static bool is_lost(struct sim *sim, const struct storage_change *change)
{
    if (sim->options.bug == SIM_TICK_TWICE && change->table == STORAGE_TRIGGERS) {
        return true;
    }
    return sim->options.bug == SIM_DELETED_STAYS && change->table == STORAGE_EXECUTIONS &&
           change->remove && sim_tap_is_deleted(sim, change->key);
}

static enum result state_apply(struct storage_state *self, const struct storage_change *changes,
                               size_t count)
{
    struct sim_state_port *port = state_of(self);
    if (!sim_machine_effect(port->sim)) {
        return RESULT_OK;
    }
    enum result result = RESULT_OK;
    size_t first = 0;
    for (size_t i = 0; i < count && result == RESULT_OK; i++) {
        if (is_lost(port->sim, &changes[i])) {
            result = i == first ? RESULT_OK
                                : port->table->ops->apply(port->table, &changes[first], i - first);
            first = i + 1;
        }
    }
    return result == RESULT_OK && (first < count || count == 0)
               ? port->table->ops->apply(port->table, &changes[first], count - first)
               : result;
}

static enum result state_flush(struct storage_state *self)
{
    struct sim_state_port *port = state_of(self);
    return sim_machine_effect(port->sim) ? port->table->ops->flush(port->table) : RESULT_OK;
}

static enum result state_get(struct storage_state *self, enum storage_table table, struct span key,
                             struct arena *arena, struct span *value)
{
    struct sim_state_port *port = state_of(self);
    return port->table->ops->get(port->table, table, key, arena, value);
}

static enum result state_scan(struct storage_state *self, enum storage_table table,
                              struct span after,
                              bool (*each)(void *owner, struct span key, struct span value),
                              void *owner)
{
    struct sim_state_port *port = state_of(self);
    return port->table->ops->scan(port->table, table, after, each, owner);
}

static uint64_t state_count(struct storage_state *self, enum storage_table table)
{
    return state_of(self)->table->ops->count(state_of(self)->table, table);
}

static void state_close(struct storage_state *self)
{
    state_of(self)->table->ops->close(state_of(self)->table);
}

static const struct storage_state_ops state_ops = {
    .apply = state_apply,
    .flush = state_flush,
    .get = state_get,
    .scan = state_scan,
    .count = state_count,
    .close = state_close,
};

/* ---- blobs ---- */

static struct sim_blob_port *blob_of(struct storage_blob *self)
{
    return (struct sim_blob_port *)self;
}

static enum result blob_put(struct storage_blob *self, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    struct sim_blob_port *port = blob_of(self);
    return sim_machine_effect(port->sim)
               ? port->blobs->ops->put(port->blobs, items, count, reply_to)
               : storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static enum result blob_get(struct storage_blob *self, struct span name,
                            struct proto_address reply_to)
{
    return blob_of(self)->blobs->ops->get(blob_of(self)->blobs, name, reply_to);
}

static enum result blob_list(struct storage_blob *self, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    return blob_of(self)->blobs->ops->list(blob_of(self)->blobs, prefix, limit, reply_to);
}

static enum result blob_remove(struct storage_blob *self, struct span prefix,
                               struct proto_address reply_to)
{
    struct sim_blob_port *port = blob_of(self);
    return sim_machine_effect(port->sim)
               ? port->blobs->ops->remove(port->blobs, prefix, reply_to)
               : storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static enum result blob_flush(struct storage_blob *self, struct proto_address reply_to)
{
    struct sim_blob_port *port = blob_of(self);
    return sim_machine_effect(port->sim)
               ? port->blobs->ops->flush(port->blobs, reply_to)
               : storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static void blob_close(struct storage_blob *self)
{
    blob_of(self)->blobs->ops->close(blob_of(self)->blobs);
}

static const struct storage_blob_ops blob_ops = {
    .put = blob_put,
    .get = blob_get,
    .list = blob_list,
    .remove = blob_remove,
    .flush = blob_flush,
    .close = blob_close,
};

/* ---- all of them ---- */

void sim_stores_init(struct sim *sim, struct sim_stores *stores)
{
    *stores = (struct sim_stores){
        .disk = power_cut_files_new(sim->options.seed * 31 + sim->options.salt),
        .journal = {.port = {.ops = &journal_ops}, .sim = sim},
        .state = {.port = {.ops = &state_ops}, .sim = sim},
        .blob = {.port = {.ops = &blob_ops}, .sim = sim},
        .index = sim_index_new(sim),
    };
    enum result state = storage_memory_state_new(&stores->state.table);
    enum result blob = storage_memory_blob_new(&stores->blob.blobs);
    ASSERT(state == RESULT_OK && blob == RESULT_OK);
}

void sim_stores_release(struct sim_stores *stores)
{
    sim_stores_close(stores);
    stores->state.port.ops->close(&stores->state.port);
    stores->blob.port.ops->close(&stores->blob.port);
    stores->index->ops->close(stores->index);
    power_cut_files_free(stores->disk);
}

enum result sim_stores_open(struct sim *sim, struct sim_stores *stores)
{
    struct storage_journal_report report;
    struct storage_journal_options options = {.segment_bytes = SEGMENT_BYTES};
    ASSERT(stores->journal.log == NULL);
    enum result result = storage_log_open(power_cut_files_layer(stores->disk), &options,
                                          &stores->journal.log, &report);
    if (result != RESULT_OK) {
        stores->journal.log = NULL;
        return result;
    }
    if (report.corrupt_batches > 0) {
        sim_fail(sim, "the journal has %u corrupt batches", report.corrupt_batches);
    }
    journal_ops.reader_next = stores->journal.log->ops->reader_next;
    journal_ops.reader_close = stores->journal.log->ops->reader_close;
    return RESULT_OK;
}

void sim_stores_close(struct sim_stores *stores)
{
    /* The dead write nothing, not even a mark of their end. */
    power_cut_files_stop_at(stores->disk, 0);
    storage_log_close(stores->journal.log);
    power_cut_files_stop_at(stores->disk, UINT64_MAX);
    stores->journal.log = NULL;
}

void sim_stores_cut_power(struct sim *sim, struct sim_stores *stores)
{
    ASSERT(stores->journal.log == NULL);
    bool all = sim_chance(&sim->schedule, 50);
    power_cut_files_cut(stores->disk, all ? POWER_CUT_LOSES_ALL : POWER_CUT_LOSES_SOME);
    storage_memory_state_cut(stores->state.table);
    storage_memory_blob_cut(stores->blob.blobs);
    sim_index_cut(stores->index);
}

void sim_stores_set_full(struct sim_stores *stores, enum sim_fault fault, bool full)
{
    if (fault == SIM_DISK_FULL) {
        power_cut_files_set_full(stores->disk, full);
    } else if (fault == SIM_STATE_FULL) {
        storage_memory_state_set_full(stores->state.table, full);
    } else if (fault == SIM_BLOB_FULL) {
        storage_memory_blob_set_full(stores->blob.blobs, full);
    } else {
        ASSERT(fault == SIM_INDEX_FAILS);
        sim_index_set_failing(stores->index, full);
    }
}
