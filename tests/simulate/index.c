/*
 * index.c: see index.h. The port's promise makes the checks simple: messages and the position go
 * into the table together, so even after a crash the next message must carry the next revision and
 * the next logs.
 */
#include "tests/simulate/index.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "tests/simulate/machine.h"

#define INDEX_MAGIC 0x58444953u
enum { EXECUTIONS_MAX = 32, MESSAGE_BYTES_MAX = 64 << 10 };

struct row {
    char id[LIMIT_ID_BYTES];
    size_t id_bytes;
    uint32_t revision;
    uint64_t log_index;
    size_t message_bytes;
    uint8_t *message;
    bool removed; /* the numbers stay: what a dead process said again is older than they are */
};

struct table {
    struct row rows[EXECUTIONS_MAX];
    uint32_t count;
    uint64_t position;
    bool repeats; /* it may hold more than the position says: a delete stores what came before it */
};

struct sim_index {
    struct storage_index index; /* first: the port points here */
    uint32_t magic;
    struct sim *sim;
    bool failing;
    struct table now;
    struct table durable;
};

static struct sim_index *index_of(struct storage_index *self)
{
    struct sim_index *index = (struct sim_index *)self;
    ASSERT(index->magic == INDEX_MAGIC);
    return index;
}

static struct row *find(struct table *table, struct span id)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (span_equal(span_of(table->rows[i].id, table->rows[i].id_bytes), id)) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static struct row *find_or_add(struct table *table, struct span id)
{
    struct row *row = find(table, id);
    if (row == NULL) {
        ASSERT(table->count < EXECUTIONS_MAX && id.count <= LIMIT_ID_BYTES);
        row = &table->rows[table->count++];
        memcpy(row->id, id.bytes, id.count);
        row->id_bytes = id.count;
    }
    return row;
}

static void keep(struct row *row, struct span message)
{
    ASSERT(message.count <= MESSAGE_BYTES_MAX);
    row->message = realloc(row->message, message.count);
    ASSERT(row->message != NULL);
    memcpy(row->message, message.bytes, message.count);
    row->message_bytes = message.count;
}

static void copy_table(struct table *to, const struct table *from)
{
    for (uint32_t i = 0; i < to->count; i++) {
        free(to->rows[i].message);
    }
    *to = *from;
    for (uint32_t i = 0; i < to->count; i++) {
        to->rows[i].message = NULL;
        keep(&to->rows[i], span_of(from->rows[i].message, from->rows[i].message_bytes));
    }
}

/* ---- the checks ---- */

static void check_logs(struct sim_index *index, struct row *row, struct span logs)
{
    struct wire_map_walk walk = wire_array_begin(logs);
    struct span log;
    while (wire_array_next(&walk, &log)) {
        int64_t number = wire_int_or(wire_find_text(log, "index"), -1);
        if (number != (int64_t)row->log_index + 1) {
            sim_fail(index->sim, "the index gets log %lld of \"%.*s\" after log %llu",
                     (long long)number, (int)row->id_bytes, row->id,
                     (unsigned long long)row->log_index);
        }
        row->log_index++;
    }
}

static void take(struct sim_index *index, struct span message)
{
    struct span id = wire_string_or(wire_find_text(message, "executionId"), "");
    int64_t revision = wire_int_or(wire_find_text(message, "revision"), -1);
    struct row *row = find_or_add(&index->now, id);
    if (index->now.repeats && revision > 0 && revision <= (int64_t)row->revision) {
        return; /* the port's promise: an older revision is not written again */
    }
    if (row->removed) {
        sim_fail(index->sim, "the index gets revision %lld of \"%.*s\", which was deleted",
                 (long long)revision, SPAN_ARG(id));
    }
    if (revision != (int64_t)row->revision + 1) {
        sim_fail(index->sim, "the index gets revision %lld of \"%.*s\" after %u",
                 (long long)revision, SPAN_ARG(id), row->revision);
    }
    row->revision++;
    check_logs(index, row, wire_find_text(message, "logs"));
    int64_t persisted = wire_int_or(wire_find_text(message, "lastPersistedLogIndex"), -1);
    if (persisted != (int64_t)row->log_index) {
        sim_fail(index->sim, "revision %lld of \"%.*s\" says %lld logs, %llu came",
                 (long long)revision, SPAN_ARG(id), (long long)persisted,
                 (unsigned long long)row->log_index);
    }
    keep(row, message);
}

/* ---- the port ---- */

static enum result apply(struct storage_index *self, const struct span *messages, size_t count,
                         uint64_t position)
{
    struct sim_index *index = index_of(self);
    if (index->failing) {
        return RESULT_AGAIN;
    }
    if (!sim_machine_effect(index->sim)) {
        return RESULT_OK;
    }
    for (size_t i = 0; i < count; i++) {
        take(index, messages[i]);
    }
    /* What stands before a delete in one batch is stored before the batch is behind it. */
    index->now.repeats = index->now.repeats || (count > 0 && position == index->now.position);
    index->now.position = position;
    return RESULT_OK;
}

static enum result position(struct storage_index *self, uint64_t *out)
{
    *out = index_of(self)->now.position;
    return RESULT_OK;
}

static enum result get_row(struct storage_index *self, struct span execution_id,
                           struct arena *arena, struct span *out)
{
    struct row *row = find(&index_of(self)->now, execution_id);
    if (row == NULL || row->revision == 0 || row->removed) {
        return RESULT_NOT_FOUND;
    }
    *out = arena_copy(arena, span_of(row->message, row->message_bytes));
    return out->count == 0 ? RESULT_LIMIT : RESULT_OK;
}

static enum result list(struct storage_index *self, struct span query, struct arena *arena,
                        struct span *out)
{
    (void)self;
    (void)query;
    (void)arena;
    (void)out;
    ASSERT_UNREACHABLE(); /* no client of the simulator asks for it */
}

static enum result logs(struct storage_index *self, struct span execution_id, uint64_t first_index,
                        uint32_t limit, struct arena *arena, struct span *out)
{
    (void)first_index;
    (void)limit;
    return list(self, execution_id, arena, out);
}

static enum result flush(struct storage_index *self)
{
    struct sim_index *index = index_of(self);
    if (sim_machine_effect(index->sim)) {
        copy_table(&index->durable, &index->now);
    }
    return RESULT_OK;
}

static enum result remove_row(struct storage_index *self, struct span execution_id)
{
    struct sim_index *index = index_of(self);
    if (index->failing) {
        return RESULT_AGAIN;
    }
    if (!sim_machine_effect(index->sim)) {
        return RESULT_OK;
    }
    struct row *row = find(&index->now, execution_id);
    index->now.repeats = true;
    if (row == NULL || row->removed) {
        return RESULT_NOT_FOUND;
    }
    row->removed = true;
    return RESULT_OK;
}

static void close_index(struct storage_index *self)
{
    struct sim_index *index = index_of(self);
    static const struct table nothing;
    copy_table(&index->now, &nothing);
    copy_table(&index->durable, &nothing);
    free(index);
}

static const struct storage_index_ops index_ops = {
    .apply = apply,
    .position = position,
    .row = get_row,
    .list = list,
    .logs = logs,
    .flush = flush,
    .remove = remove_row,
    .close = close_index,
};

struct storage_index *sim_index_new(struct sim *sim)
{
    struct sim_index *index = calloc(1, sizeof *index);
    ASSERT(index != NULL);
    index->index.ops = &index_ops;
    index->magic = INDEX_MAGIC;
    index->sim = sim;
    return &index->index;
}

void sim_index_cut(struct storage_index *self)
{
    struct sim_index *index = index_of(self);
    copy_table(&index->now, &index->durable);
}

void sim_index_set_failing(struct storage_index *self, bool failing)
{
    index_of(self)->failing = failing;
}

struct sim_index_row sim_index_look(struct storage_index *self, struct span execution_id)
{
    struct row *row = find(&index_of(self)->now, execution_id);
    return row == NULL
               ? (struct sim_index_row){0}
               : (struct sim_index_row){.revision = row->revision,
                                        .log_index = row->log_index,
                                        .removed = row->removed,
                                        .message = span_of(row->message, row->message_bytes)};
}
