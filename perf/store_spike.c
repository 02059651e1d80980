/*
 * store_spike.c: which store for what. Runs our own access pattern on SQLite, LMDB, RocksDB and on
 * the adapters that Strider ships, beside the bare ceiling of the disk measured in the same run:
 *
 *   group    commits of 64 records of 1.2 KB, durable, the oldest forgotten 1,000 records later
 *   single   commits of 1 such record, durable
 *   blobs    puts of 400 B under time-ordered names in batches of 200, one durable flush in 50
 * batches state    rows of 1 KB put, put again and deleted, changes in batches of 200, flushed as
 * the blobs index    audit messages folded into the index by 1,000 (only SQLite: it must answer
 * queries)
 *
 *   ninja -C build/release store_spike && build/release/perf/store_spike [DIR] [SECONDS] [PATTERN]
 *
 * Each store runs for SECONDS (1) a pattern, in nine slices by turns; figures are medians of the
 * slices.
 *
 * The figures and the choice stand in docs/decisions/0001-store.md.
 */
#include <fcntl.h>
#include <ftw.h>
#include <lmdb.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_ROCKSDB
#include <rocksdb/c.h>
#endif

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/writer.h"
#include "storage/embedded/embedded.h"
#include "storage/journal.h"

#define RECORD_BYTES  1200u
#define GROUP         64u
#define KEPT          1000u /* records of the journal that are not forgotten yet */
#define BLOB_BYTES    400u
#define STATE_BYTES   1000u
#define STATE_LIVE    10000u
#define BATCH         200u
#define FLUSH_EVERY   50u
#define INDEX_BATCH   1000u
#define NAME_BYTES    96u
#define CEILING_BYTES (64u << 20)
#define ROUNDS        9
#define STORES_MAX    8u

/* One change of a table. */
struct change {
    struct span key;
    struct span value; /* no bytes: remove */
};

struct store {
    const char *name;
    void (*open)(const char *directory);
    /* Applies a batch; durable when `sync`. */
    void (*apply)(const struct change *changes, size_t count, bool sync);
    void (*close)(void);
};

static uint8_t noise[64u << 10];
static char root[256];
static double seconds_each = 1.0;

static double wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static const char *fresh_directory(void)
{
    static char path[300];
    static unsigned number;
    snprintf(path, sizeof path, "%s/%u", root, number++);
    ASSERT(mkdir(path, 0700) == 0);
    return path;
}

/* ---- raw ceiling ---- */

static int raw_file;
static uint64_t raw_offset;

static void raw_open(const char *directory)
{
    char path[400];
    snprintf(path, sizeof path, "%s/raw", directory);
    raw_file = open(path, O_RDWR | O_CREAT, 0600);
    ASSERT(raw_file >= 0);
    for (uint64_t at = 0; at < CEILING_BYTES; at += sizeof noise) {
        ASSERT(pwrite(raw_file, noise, sizeof noise, (off_t)at) == sizeof noise);
    }
    ASSERT(fsync(raw_file) == 0);
    raw_offset = 0;
}

/* As many bytes as the batch has, in one write to a prewritten file. */
static void raw_apply(const struct change *changes, size_t count, bool sync)
{
    static uint8_t buffer[1 << 20];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(buffer + used, changes[i].key.bytes, changes[i].key.count);
        used += changes[i].key.count;
        memcpy(buffer + used, changes[i].value.bytes, changes[i].value.count);
        used += changes[i].value.count;
    }
    if (raw_offset + used > CEILING_BYTES) {
        raw_offset = 0;
    }
    ASSERT(pwrite(raw_file, buffer, used, (off_t)raw_offset) == (ssize_t)used);
    raw_offset += used;
    ASSERT(!sync || fdatasync(raw_file) == 0);
}

static void raw_close(void)
{
    close(raw_file);
}

/* ---- SQLite ---- */

static sqlite3 *sqlite;
static sqlite3_stmt *sqlite_put;
static sqlite3_stmt *sqlite_delete;

static void sqlite_run(const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(sqlite, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        abort();
    }
}

static void sqlite_open(const char *directory)
{
    char path[400];
    snprintf(path, sizeof path, "%s/db", directory);
    ASSERT(sqlite3_open(path, &sqlite) == SQLITE_OK);
    sqlite_run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
    sqlite3_prepare_v2(sqlite, "INSERT OR REPLACE INTO t VALUES(?,?)", -1, &sqlite_put, NULL);
    sqlite3_prepare_v2(sqlite, "DELETE FROM t WHERE k=?", -1, &sqlite_delete, NULL);
}

static void sqlite_apply(const struct change *changes, size_t count, bool sync)
{
    static bool synchronous = true;
    if (sync != synchronous) {
        sqlite_run(sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
        synchronous = sync;
    }
    sqlite_run("BEGIN");
    for (size_t i = 0; i < count; i++) {
        bool remove = changes[i].value.count == 0;
        sqlite3_stmt *statement = remove ? sqlite_delete : sqlite_put;
        sqlite3_bind_blob(statement, 1, changes[i].key.bytes, (int)changes[i].key.count,
                          SQLITE_STATIC);
        if (!remove) {
            sqlite3_bind_blob(statement, 2, changes[i].value.bytes, (int)changes[i].value.count,
                              SQLITE_STATIC);
        }
        ASSERT(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite_run("COMMIT");
}

static void sqlite_close(void)
{
    sqlite3_finalize(sqlite_put);
    sqlite3_finalize(sqlite_delete);
    sqlite3_close(sqlite);
}

/* ---- LMDB, a synced transaction a batch (it has no safe way to sync later: lmdb_store.h) ---- */

static MDB_env *lmdb;
static MDB_dbi lmdb_table;

static void lmdb_open(const char *directory)
{
    MDB_txn *txn;
    ASSERT(mdb_env_create(&lmdb) == 0);
    ASSERT(mdb_env_set_mapsize(lmdb, 8ull << 30) == 0);
    ASSERT(mdb_env_open(lmdb, directory, MDB_NORDAHEAD | MDB_NOLOCK, 0600) == 0);
    ASSERT(mdb_txn_begin(lmdb, NULL, 0, &txn) == 0);
    ASSERT(mdb_dbi_open(txn, NULL, 0, &lmdb_table) == 0);
    ASSERT(mdb_txn_commit(txn) == 0);
}

static void lmdb_apply(const struct change *changes, size_t count, bool sync)
{
    (void)sync;
    MDB_txn *txn;
    ASSERT(mdb_txn_begin(lmdb, NULL, 0, &txn) == 0);
    for (size_t i = 0; i < count; i++) {
        MDB_val key = {changes[i].key.count, (void *)(uintptr_t)changes[i].key.bytes};
        MDB_val value = {changes[i].value.count, (void *)(uintptr_t)changes[i].value.bytes};
        int code = value.mv_size > 0 ? mdb_put(txn, lmdb_table, &key, &value, 0)
                                     : mdb_del(txn, lmdb_table, &key, NULL);
        ASSERT(code == 0 || code == MDB_NOTFOUND);
    }
    ASSERT(mdb_txn_commit(txn) == 0);
}

static void lmdb_close(void)
{
    mdb_env_close(lmdb);
}

/* ---- RocksDB ---- */

#ifdef HAVE_ROCKSDB
static rocksdb_t *rocks;
static rocksdb_options_t *rocks_options;
static rocksdb_writeoptions_t *rocks_write;

static void rocks_open(const char *directory)
{
    char *error = NULL;
    rocks_options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(rocks_options, 1);
    rocksdb_options_increase_parallelism(rocks_options, 2);
    rocks_write = rocksdb_writeoptions_create();
    rocks = rocksdb_open(rocks_options, directory, &error);
    ASSERT(error == NULL);
}

static void rocks_apply(const struct change *changes, size_t count, bool sync)
{
    char *error = NULL;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    for (size_t i = 0; i < count; i++) {
        const char *key = (const char *)changes[i].key.bytes;
        if (changes[i].value.count > 0) {
            rocksdb_writebatch_put(batch, key, changes[i].key.count,
                                   (const char *)changes[i].value.bytes, changes[i].value.count);
        } else {
            rocksdb_writebatch_delete(batch, key, changes[i].key.count);
        }
    }
    rocksdb_writeoptions_set_sync(rocks_write, sync);
    rocksdb_write(rocks, rocks_write, batch, &error);
    ASSERT(error == NULL);
    rocksdb_writebatch_destroy(batch);
}

static void rocks_close(void)
{
    rocksdb_close(rocks);
    rocksdb_writeoptions_destroy(rocks_write);
    rocksdb_options_destroy(rocks_options);
}
#endif

/* ---- Strider's own ---- */

static struct storage_files *own_files;
static struct storage_journal *own_log;
static uint64_t own_ends[64]; /* positions of the last batches, to forget behind them */
static size_t own_count;

static void own_log_open(const char *directory)
{
    struct storage_journal_options options = {.prepare_ahead = true};
    struct storage_journal_report report;
    ASSERT(storage_posix_new(directory, &own_files) == RESULT_OK);
    ASSERT(storage_log_open(own_files, &options, &own_log, &report) == RESULT_OK);
    own_count = 0;
}

/* A batch of records is one frame; what is removed goes with its file. */
static void own_log_apply(const struct change *changes, size_t count, bool sync)
{
    static uint8_t buffer[1 << 20];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].value.count > 0) {
            memcpy(buffer + used, changes[i].value.bytes, changes[i].value.count);
            used += changes[i].value.count;
        }
    }
    uint64_t *end = &own_ends[own_count++ % 64];
    uint64_t forgotten = *end;
    ASSERT(own_log->ops->append(own_log, span_of(buffer, used), end) == RESULT_OK);
    ASSERT(own_log->ops->sync(own_log, sync) == RESULT_OK);
    ASSERT(own_log->ops->trim(own_log, forgotten) == RESULT_OK);
}

static void own_log_close(void)
{
    storage_log_close(own_log);
    storage_posix_free(own_files);
}

static struct storage_blob *own_blob;

static void own_blob_open(const char *directory)
{
    ASSERT(storage_lmdb_blob_open(directory, 0, &own_blob) == RESULT_OK);
}

static void own_blob_apply(const struct change *changes, size_t count, bool sync)
{
    struct proto_address nobody = {0};
    struct storage_blob_item items[BATCH];
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct storage_blob_item){.name = changes[i].key, .bytes = changes[i].value};
    }
    ASSERT(own_blob->ops->put(own_blob, items, count, nobody) == RESULT_OK);
    ASSERT(!sync || own_blob->ops->flush(own_blob, nobody) == RESULT_OK);
}

static void own_blob_close(void)
{
    own_blob->ops->close(own_blob);
}

static struct storage_state *own_state;

static void own_state_open(const char *directory)
{
    ASSERT(storage_lmdb_state_open(directory, 0, &own_state) == RESULT_OK);
}

static void own_state_apply(const struct change *changes, size_t count, bool sync)
{
    struct storage_change table[BATCH];
    for (size_t i = 0; i < count; i++) {
        table[i] = (struct storage_change){STORAGE_EXECUTIONS, changes[i].key, changes[i].value,
                                           changes[i].value.count == 0};
    }
    ASSERT(own_state->ops->apply(own_state, table, count) == RESULT_OK);
    ASSERT(!sync || own_state->ops->flush(own_state) == RESULT_OK);
}

static void own_state_close(void)
{
    own_state->ops->close(own_state);
}

static const struct store raw_store = {"bare file", raw_open, raw_apply, raw_close};
static const struct store sqlite_store = {"SQLite", sqlite_open, sqlite_apply, sqlite_close};
static const struct store lmdb_store = {"LMDB", lmdb_open, lmdb_apply, lmdb_close};
#ifdef HAVE_ROCKSDB
static const struct store rocks_store = {"RocksDB", rocks_open, rocks_apply, rocks_close};
#endif
static const struct store log_store = {"own log", own_log_open, own_log_apply, own_log_close};
static const struct store blob_store = {"own LMDB", own_blob_open, own_blob_apply, own_blob_close};
static const struct store state_store = {"own LMDB", own_state_open, own_state_apply,
                                         own_state_close};

/* ---- patterns: fill the next batch; return its number of changes ---- */

struct batch {
    struct change changes[BATCH];
    char names[BATCH][NAME_BYTES];
    size_t puts; /* what is counted */
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static struct span sequence_key(char *name, uint64_t number)
{
    return span_of(name, (size_t)snprintf(name, NAME_BYTES, "%016lx", (unsigned long)number));
}

static size_t journal_batch(struct batch *batch, uint64_t turn, size_t records)
{
    size_t count = 0;
    for (size_t i = 0; i < records; i++) {
        uint64_t number = turn * records + i;
        size_t skip = (size_t)(number * 97 % (sizeof noise - RECORD_BYTES));
        batch->changes[count] = (struct change){sequence_key(batch->names[count], number),
                                                span_of(noise + skip, RECORD_BYTES)};
        count++;
        if (number >= KEPT) {
            batch->changes[count] =
                (struct change){sequence_key(batch->names[count], number - KEPT), SPAN_EMPTY};
            count++;
        }
    }
    batch->puts = records;
    return count;
}

static size_t group_batch(struct batch *batch, uint64_t turn)
{
    return journal_batch(batch, turn, GROUP);
}

static size_t single_batch(struct batch *batch, uint64_t turn)
{
    return journal_batch(batch, turn, 1);
}

/* "default/{uuid v7}/{uuid}.msgpack": three steps an execution. */
static size_t blob_batch(struct batch *batch, uint64_t turn)
{
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t number = turn * BATCH + i;
        uint64_t execution = number / 3;
        uint64_t random = execution;
        uint64_t random_step = number + 1;
        char *name = batch->names[i];
        int count = snprintf(name, NAME_BYTES, "default/%08x-%04x-7%03x-%012lx/%012lx%08lx.msgpack",
                             (unsigned)(execution >> 10), (unsigned)(execution & 1023) * 64, 0,
                             (unsigned long)draw(&random), (unsigned long)draw(&random_step),
                             (unsigned long)(number & 0xffffffff));
        size_t skip = (size_t)(number * 97 % (sizeof noise - BLOB_BYTES));
        batch->changes[i] =
            (struct change){span_of(name, (size_t)count), span_of(noise + skip, BLOB_BYTES)};
    }
    batch->puts = BATCH;
    return BATCH;
}

/* Execution n is put, put again STATE_LIVE / 2 executions later, and deleted after as many more. */
static size_t state_batch(struct batch *batch, uint64_t turn)
{
    size_t count = 0;
    for (uint64_t number = turn * (BATCH / 3); count + 3 <= BATCH; number++) {
        for (unsigned part = 0; part < 3; part++) {
            uint64_t age = part * (uint64_t)STATE_LIVE / 2;
            if (number < age) {
                continue;
            }
            uint64_t execution = number - age;
            uint64_t random = execution;
            char *name = batch->names[count];
            int bytes = snprintf(name, NAME_BYTES, "%08x-%04x-7000-%012lx%08x",
                                 (unsigned)(execution >> 10), (unsigned)(execution & 1023) * 64,
                                 (unsigned long)draw(&random), (unsigned)execution);
            size_t skip = (size_t)(number * 97 % (sizeof noise - STATE_BYTES));
            batch->changes[count++] = (struct change){
                span_of(name, (size_t)bytes),
                part == 2 ? SPAN_EMPTY : span_of(noise + skip, STATE_BYTES),
            };
        }
        if (count + 3 > BATCH || number == turn * (BATCH / 3) + BATCH / 3 - 1) {
            break;
        }
    }
    batch->puts = count;
    return count;
}

/* One store in one comparison. */
struct runner {
    const struct store *store;
    uint64_t turn;
    double puts;
    double cpu;             /* seconds */
    double rates[ROUNDS];   /* puts a second */
    double commits[ROUNDS]; /* batches a second */
    double ratios[ROUNDS];  /* to the bare file in the same round */
};

struct pattern {
    const char *name;
    size_t (*next)(struct batch *batch, uint64_t turn);
    uint64_t sync_every;
};

static void run_slice(struct runner *runner, const struct pattern *pattern, int round)
{
    static struct batch batch;
    uint64_t first = runner->turn;
    double puts = 0;
    double cpu = cpu_now();
    double start = wall_now();
    double now = start;
    for (; now - start < seconds_each / ROUNDS; now = wall_now()) {
        size_t count = pattern->next(&batch, runner->turn);
        bool sync = runner->turn % pattern->sync_every == pattern->sync_every - 1;
        runner->store->apply(batch.changes, count, sync);
        runner->turn++;
        puts += (double)batch.puts;
    }
    if (round < 0) {
        return; /* warming up: the own log's next file is prepared meanwhile */
    }
    runner->puts += puts;
    runner->cpu += cpu_now() - cpu;
    runner->rates[round] = puts / (now - start);
    runner->commits[round] = (double)(runner->turn - first) / (now - start);
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof values[0], compare_doubles);
    return values[ROUNDS / 2];
}

/* Stores take turns in short slices, so that a disk that others use too hurts all of them alike. */
static void compare(const struct pattern *pattern, const struct store *const *stores, size_t count)
{
    static struct runner runners[STORES_MAX];
    ASSERT(count <= STORES_MAX);
    for (size_t i = 0; i < count; i++) {
        runners[i] = (struct runner){.store = stores[i]};
        stores[i]->open(fresh_directory());
    }
    for (int round = -1; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            run_slice(&runners[i], pattern, round);
            if (round >= 0) {
                runners[i].ratios[round] = runners[i].rates[round] / runners[0].rates[round];
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct runner *runner = &runners[i];
        runner->store->close();
        printf("| %-7s | %-9s | %9.0f | %8.0f | %6.2f | %5.2f |\n", pattern->name,
               runner->store->name, median(runner->rates), median(runner->commits),
               runner->cpu * 1e6 / runner->puts, median(runner->ratios));
    }
    fflush(stdout);
}

/* ---- index ---- */

static struct span audit_message(struct arena *arena, uint64_t execution, bool ended)
{
    char id[40];
    uint64_t random = execution;
    struct wire_writer writer;
    snprintf(id, sizeof id, "%08x-%04x-7000-%012lx", (unsigned)(execution >> 10),
             (unsigned)(execution & 1023) * 64, (unsigned long)draw(&random));
    int64_t started_ms = 1790000000000 + (int64_t)execution / 20;
    wire_writer_init(&writer, arena, 1024);
    wire_write_map(&writer, 25);
    wire_pair_text(&writer, "messageId", "0192a1b2-c3d4-7000-8000-0123456789ab");
    wire_pair_text(&writer, "executionId", id);
    wire_pair_int(&writer, "run", 1);
    wire_pair_int(&writer, "revision", ended ? 2 : 1);
    wire_pair_text(&writer, "workspaceId", "default");
    wire_pair_text(&writer, "projectId", "default");
    wire_pair_text(&writer, "process", "order");
    wire_pair_int(&writer, "version", 1);
    wire_pair_text(&writer, "channel", "web");
    wire_pair_value(&writer, "channelSessionId", SPAN_EMPTY);
    wire_pair_text(&writer, "event", ended ? "completed" : "started");
    wire_pair_text(&writer, "state", ended ? "Stopped" : "Running");
    wire_pair_text(&writer, "status", ended ? "Completed" : "Running");
    wire_pair_text(&writer, "lifecycle", ended ? "Completed" : "Running");
    wire_pair_int(&writer, "sequence", ended ? 3 : 0);
    wire_pair_text(&writer, "taskId", ended ? "end" : "start");
    wire_pair_time(&writer, "startedAt", started_ms);
    wire_pair_time(&writer, "updatedAt", started_ms + 3);
    if (ended) {
        wire_pair_time(&writer, "endedAt", started_ms + 3);
    } else {
        wire_pair_value(&writer, "endedAt", SPAN_EMPTY);
    }
    wire_pair_int(&writer, "payloadSizeBytes", 412);
    wire_pair_value(&writer, "errorCode", SPAN_EMPTY);
    wire_pair_value(&writer, "errorMessage", SPAN_EMPTY);
    wire_pair_bool(&writer, "isTest", false);
    wire_write_text(&writer, "logs");
    wire_write_array(&writer, 0);
    wire_pair_int(&writer, "lastPersistedLogIndex", -1);
    return wire_writer_span(&writer);
}

/* apart: a start and its end come in different batches, so every row is written twice. */
static void measure_index(bool apart)
{
    char path[400];
    snprintf(path, sizeof path, "%s/audit.db", fresh_directory());
    struct storage_index *index = NULL;
    ASSERT(storage_sqlite_index_open(path, &index) == RESULT_OK);
    struct arena arena;
    struct span messages[INDEX_BATCH];
    arena_init(&arena, 1 << 20, 64 << 20);
    double spent = 0;
    double cpu = 0;
    double ended = 0;
    for (uint64_t turn = 0; spent < seconds_each; turn++) {
        for (uint64_t i = 0; i < INDEX_BATCH; i++) {
            uint64_t execution =
                apart ? turn / 2 * INDEX_BATCH + i : turn * INDEX_BATCH / 2 + i / 2;
            messages[i] = audit_message(&arena, execution, apart ? turn % 2 == 1 : i % 2 == 1);
        }
        double cpu_start = cpu_now();
        double start = wall_now();
        ASSERT(index->ops->apply(index, messages, INDEX_BATCH, turn) == RESULT_OK);
        spent += wall_now() - start;
        cpu += cpu_now() - cpu_start;
        ended += INDEX_BATCH / 2.0;
        arena_clear(&arena);
    }
    printf("| index   | %-9s | %9.0f | %8.0f | %6.2f |       |\n", apart ? "apart" : "together",
           ended / spent, 2 * ended / INDEX_BATCH / spent, cpu * 1e6 / ended);
    arena_release(&arena);
    index->ops->close(index);
}

static bool is_wanted(const char *only, const char *pattern)
{
    return only == NULL || strcmp(only, pattern) == 0;
}

int main(int argc, char **argv)
{
    snprintf(root, sizeof root, "%s/strider-store-spike-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    ASSERT(mkdtemp(root) != NULL);
    seconds_each = argc > 2 ? strtod(argv[2], NULL) : seconds_each;
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)draw(&random);
    }
    const struct store *journals[] = {
        &raw_store,   &log_store, &sqlite_store, &lmdb_store,
#ifdef HAVE_ROCKSDB
        &rocks_store,
#endif
    };
    const struct store *blobs[] = {
        &raw_store,   &blob_store, &sqlite_store,
#ifdef HAVE_ROCKSDB
        &rocks_store,
#endif
        &lmdb_store,
    };
    const struct store *states[] = {
        &raw_store,   &state_store, &sqlite_store,
#ifdef HAVE_ROCKSDB
        &rocks_store,
#endif
        &lmdb_store,
    };
    static const struct pattern group = {"group", group_batch, 1};
    static const struct pattern single = {"single", single_batch, 1};
    static const struct pattern blob = {"blobs", blob_batch, FLUSH_EVERY};
    static const struct pattern state = {"state", state_batch, FLUSH_EVERY};
    printf("| pattern | store     |     per s |  batch/s | CPU us | ratio |\n");
    printf("|---|---|---:|---:|---:|---:|\n");
    const char *only = argc > 3 ? argv[3] : NULL;
    if (is_wanted(only, "group")) {
        compare(&group, journals, sizeof journals / sizeof journals[0]);
    }
    if (is_wanted(only, "single")) {
        compare(&single, journals, sizeof journals / sizeof journals[0]);
    }
    if (is_wanted(only, "blobs")) {
        compare(&blob, blobs, sizeof blobs / sizeof blobs[0]);
    }
    if (is_wanted(only, "state")) {
        compare(&state, states, sizeof states / sizeof states[0]);
    }
    if (is_wanted(only, "index")) {
        measure_index(false);
        measure_index(true);
    }
    ASSERT(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    return 0;
}
