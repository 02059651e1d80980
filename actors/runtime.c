/*
 * runtime.c: makes the actors, wires them by their sinks, and runs them. No decisions but defaults.
 */
#include "actors/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "actors/assembly.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"

enum { MAILBOX_DEFAULT = 8192, SHARDS_MAX = 64 };

static const struct actor_runtime_options defaults = {
    .heavy_session_bytes = 1 << 20,
    .hot_bytes_max = (size_t)512 << 20,
    .hot_ttl_ms = 10 * 60 * 1000,
    .mailbox_max = MAILBOX_DEFAULT,
    .requests_pending_max = 65536,
    .reply_bytes_max = LIMIT_REPLY_BYTES,
    .journal_bytes_max = (uint64_t)8 << 30,
};

static struct actor_runtime_options with_defaults(const struct actor_runtime_options *given)
{
    struct actor_runtime_options options = *given;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (options.shard_count == 0) {
        options.shard_count = processors > 3 ? (uint32_t)processors / 2 : 1;
    }
    options.shard_count = options.shard_count > SHARDS_MAX ? SHARDS_MAX : options.shard_count;
    options.heavy_session_bytes =
        given->heavy_session_bytes != 0 ? given->heavy_session_bytes : defaults.heavy_session_bytes;
    options.hot_bytes_max =
        given->hot_bytes_max != 0 ? given->hot_bytes_max : defaults.hot_bytes_max;
    options.hot_ttl_ms = given->hot_ttl_ms != 0 ? given->hot_ttl_ms : defaults.hot_ttl_ms;
    options.mailbox_max = given->mailbox_max != 0 ? given->mailbox_max : defaults.mailbox_max;
    options.requests_pending_max = given->requests_pending_max != 0 ? given->requests_pending_max
                                                                    : defaults.requests_pending_max;
    options.reply_bytes_max =
        given->reply_bytes_max != 0 ? given->reply_bytes_max : defaults.reply_bytes_max;
    options.journal_bytes_max =
        given->journal_bytes_max != 0 ? given->journal_bytes_max : defaults.journal_bytes_max;
    return options;
}

/* ---- making ---- */

static enum result make_shard(struct actor_runtime *runtime, uint32_t index)
{
    const struct actor_runtime_options *options = &runtime->options;
    return actor_shard_new(
        &(struct actor_shard_options){
            .index = index,
            .shard_count = options->shard_count,
            .durability = options->durability,
            .step_blobs = options->step_blobs,
            .audit = options->audit,
            .max_steps = options->max_steps,
            .heavy_session_bytes = options->heavy_session_bytes,
            .hot_bytes_max = options->hot_bytes_max / options->shard_count,
            .hot_ttl_ms = options->hot_ttl_ms,
            .requests_pending_max = options->requests_pending_max,
            .reply_bytes_max = options->reply_bytes_max,
            .shards = runtime->shard_sinks,
            .journal = &runtime->journal_loop.sink,
            .io = &runtime->io_loop.sink,
            .storage = &runtime->storage_loop.sink,
            .read_zone = options->read_zone,
            .hot = options->hot_elsewhere ? &runtime->hot_loop.sink : NULL,
            .audit_sink = &runtime->audit_loop.sink,
            .observer = options->observer,
            .observing = options->observing},
        &runtime->shards[index]);
}

static bool keeps_for_a_time(const struct actor_runtime *runtime)
{
    return runtime->options.keep_completed_ms > 0 || runtime->options.keep_failed_ms > 0;
}

static enum result make_loops(struct actor_runtime *runtime)
{
    uint32_t requests_max = runtime->options.mailbox_max;
    enum result result = actor_loop_init(&runtime->journal_loop, "journal", requests_max);
    result = result == RESULT_OK ? actor_loop_init(&runtime->io_loop, "io", requests_max) : result;
    result = result == RESULT_OK ? actor_loop_init(&runtime->storage_loop, "storage", requests_max)
                                 : result;
    result =
        result == RESULT_OK ? actor_loop_init(&runtime->audit_loop, "audit", requests_max) : result;
    result = result == RESULT_OK
                 ? actor_loop_init(&runtime->registry_loop, "registry", requests_max)
                 : result;
    if (result == RESULT_OK && runtime->options.bus_window > 0) {
        result = actor_loop_init(&runtime->bus_loop, "bus", requests_max);
    }
    if (result == RESULT_OK && runtime->options.hot_elsewhere) {
        result = actor_loop_init(&runtime->hot_loop, "hot", requests_max);
    }
    if (result == RESULT_OK && runtime->options.backup != NULL) {
        result = actor_loop_init(&runtime->backup_loop, "backup", requests_max);
    }
    if (result == RESULT_OK && keeps_for_a_time(runtime)) {
        result = actor_loop_init(&runtime->retention_loop, "retention", requests_max);
    }
    for (uint32_t i = 0; i < runtime->options.shard_count && result == RESULT_OK; i++) {
        snprintf(runtime->shard_names[i], sizeof runtime->shard_names[i], "shard-%u",
                 i % SHARDS_MAX);
        result = actor_loop_init(&runtime->shard_loops[i], runtime->shard_names[i], requests_max);
        runtime->shard_sinks[i] = &runtime->shard_loops[i].sink;
    }
    return result;
}

static enum result make_actors(struct actor_runtime *runtime)
{
    enum result result = actor_io_new(&runtime->io);
    if (result == RESULT_OK) {
        result = actor_registry_new(
            &(struct actor_registry_options){.self = &runtime->registry_loop.sink,
                                             .journal = &runtime->journal_loop.sink,
                                             .shards = runtime->shard_sinks,
                                             .shard_count = runtime->options.shard_count,
                                             .router = &runtime->router,
                                             .read_zone = runtime->options.read_zone},
            &runtime->registry);
    }
    if (result == RESULT_OK && runtime->options.hot_elsewhere) {
        result = actor_hot_new(&runtime->hot_loop.sink, &runtime->hot);
    }
    if (result == RESULT_OK && runtime->options.backup != NULL) {
        result =
            actor_backup_new(&(struct actor_backup_options){.port = runtime->options.backup,
                                                            .self = &runtime->backup_loop.sink,
                                                            .journal = &runtime->journal_loop.sink,
                                                            .storage = &runtime->storage_loop.sink},
                             &runtime->backup);
    }
    if (result == RESULT_OK && keeps_for_a_time(runtime)) {
        result = actor_retention_new(
            &(struct actor_retention_options){.self = &runtime->retention_loop.sink,
                                              .router = &runtime->router.sink,
                                              .completed_ms = runtime->options.keep_completed_ms,
                                              .failed_ms = runtime->options.keep_failed_ms},
            &runtime->retention);
    }
    for (uint32_t i = 0; i < runtime->options.shard_count && result == RESULT_OK; i++) {
        result = make_shard(runtime, i);
    }
    return result;
}

enum result actor_runtime_new(const struct actor_runtime_options *options,
                              struct actor_runtime **out)
{
    ASSERT(options->journal != NULL && options->state != NULL);
    ASSERT((options->blob != NULL) != options->blob_elsewhere && options->index != NULL);
    struct actor_runtime_options complete = with_defaults(options);
    struct actor_runtime *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL) {
        return RESULT_LIMIT;
    }
    runtime->options = complete;
    actor_router_init(&runtime->router);
    actor_waiter_init(&runtime->drain_waiter);
    actor_waiter_init(&runtime->load_waiter);
    pthread_mutex_init(&runtime->load_mutex, NULL);
    runtime->shard_loops = calloc(complete.shard_count, sizeof *runtime->shard_loops);
    runtime->shard_sinks = calloc(complete.shard_count, sizeof *runtime->shard_sinks);
    runtime->shard_names = calloc(complete.shard_count, sizeof *runtime->shard_names);
    runtime->shards = calloc(complete.shard_count, sizeof *runtime->shards);
    bool memory = runtime->shard_loops != NULL && runtime->shard_sinks != NULL &&
                  runtime->shard_names != NULL && runtime->shards != NULL;
    enum result result = memory ? make_loops(runtime) : RESULT_LIMIT;
    if (result == RESULT_OK) {
        result = make_actors(runtime);
    }
    if (result != RESULT_OK) {
        actor_runtime_free(runtime);
        return result;
    }
    *out = runtime;
    return RESULT_OK;
}

struct ev_loop *actor_runtime_loop(struct actor_runtime *runtime, enum actor_loop_name which)
{
    ASSERT(!runtime->started);
    ASSERT(which != ACTOR_LOOP_HOT || runtime->hot != NULL);
    return which == ACTOR_LOOP_IO        ? runtime->io_loop.ev
           : which == ACTOR_LOOP_STORAGE ? runtime->storage_loop.ev
                                         : runtime->hot_loop.ev;
}

void actor_runtime_set_hot(struct actor_runtime *runtime, struct storage_hot *hot)
{
    ASSERT(!runtime->started && runtime->hot != NULL);
    actor_hot_set_tier(runtime->hot, hot);
}

void actor_runtime_set_blob(struct actor_runtime *runtime, struct storage_blob *blob)
{
    ASSERT(!runtime->started && runtime->options.blob_elsewhere);
    runtime->options.blob = blob;
}

void actor_runtime_set_modules(struct actor_runtime *runtime, struct proto_sink *modules)
{
    ASSERT(!runtime->started);
    actor_io_set_modules(runtime->io, modules);
}

struct proto_address actor_runtime_bus_owner(struct actor_runtime *runtime, bool aside)
{
    ASSERT(!runtime->started && runtime->options.bus_window > 0);
    return (struct proto_address){.sink = &runtime->bus_loop.sink,
                                  .ticket = aside ? ACTOR_BUS_ASIDE : ACTOR_BUS_MAIN};
}

void actor_runtime_set_bus(struct actor_runtime *runtime, struct audit_bus *bus,
                           struct audit_bus *aside)
{
    ASSERT(!runtime->started && runtime->options.bus_window > 0);
    runtime->bus_port = bus;
    runtime->aside_port = aside;
}

/* ---- starting ---- */

static enum result make_bus(struct actor_runtime *runtime, uint64_t position)
{
    if (runtime->options.bus_window == 0) {
        return RESULT_OK;
    }
    ASSERT(runtime->bus_port != NULL && runtime->aside_port != NULL);
    return actor_bus_new(&(struct actor_bus_options){.bus = runtime->bus_port,
                                                     .aside = runtime->aside_port,
                                                     .window = runtime->options.bus_window,
                                                     .log = runtime->options.journal,
                                                     .journal = &runtime->journal_loop.sink,
                                                     .storage = &runtime->storage_loop.sink,
                                                     .position = position,
                                                     .paced = true},
                         &runtime->bus);
}

static enum result make_drains(struct actor_runtime *runtime,
                               const struct actor_positions *positions)
{
    const struct actor_runtime_options *options = &runtime->options;
    const uint64_t *at = positions->at;
    struct actor_journal_options journal = {.log = options->journal,
                                            .durability = options->durability,
                                            .bytes_max = options->journal_bytes_max};
    journal.drains[PROTO_DRAIN_STATE] = &runtime->storage_loop.sink;
    /* The blob drain lives with the state drain: what one is told the other knows. */
    journal.drains[PROTO_DRAIN_BLOB] = NULL;
    journal.drains[PROTO_DRAIN_AUDIT] = &runtime->audit_loop.sink;
    journal.drains[PROTO_DRAIN_BUS] = options->bus_window > 0 ? &runtime->bus_loop.sink : NULL;
    memcpy(journal.drained, at, sizeof journal.drained);
    enum result result = actor_journal_new(&journal, &runtime->journal);
    if (result == RESULT_OK) {
        result = actor_storage_new(
            &(struct actor_storage_options){.state = options->state,
                                            .blob = options->blob,
                                            .backup = options->backup,
                                            .log = options->journal,
                                            .self = &runtime->storage_loop.sink,
                                            .journal = &runtime->journal_loop.sink,
                                            .shards = runtime->shard_sinks,
                                            .shard_count = options->shard_count,
                                            .state_position = at[PROTO_DRAIN_STATE],
                                            .blob_position = at[PROTO_DRAIN_BLOB],
                                            .bus_position = at[PROTO_DRAIN_BUS],
                                            .blob_elsewhere = options->blob_elsewhere,
                                            .paced = true},
            &runtime->storage);
    }
    if (result == RESULT_OK) {
        result =
            actor_audit_new(&(struct actor_audit_options){.index = options->index,
                                                          .log = options->journal,
                                                          .journal = &runtime->journal_loop.sink,
                                                          .position = at[PROTO_DRAIN_AUDIT],
                                                          .elsewhere = options->index_elsewhere,
                                                          .paced = true},
                            &runtime->audit);
    }
    return result == RESULT_OK ? make_bus(runtime, at[PROTO_DRAIN_BUS]) : result;
}

static enum result start_threads(struct actor_runtime *runtime)
{
    actor_loop_settle(&runtime->journal_loop, actor_journal_turn, runtime->journal);
    actor_loop_settle(&runtime->storage_loop, actor_storage_turn, runtime->storage);
    actor_loop_settle(&runtime->audit_loop, actor_audit_turn, runtime->audit);
    actor_loop_settle(&runtime->io_loop, actor_io_turn, runtime->io);
    actor_loop_settle(&runtime->registry_loop, actor_registry_turn, runtime->registry);
    enum result result = actor_loop_start(&runtime->journal_loop);
    result = result == RESULT_OK ? actor_loop_start(&runtime->storage_loop) : result;
    result = result == RESULT_OK ? actor_loop_start(&runtime->audit_loop) : result;
    result = result == RESULT_OK ? actor_loop_start(&runtime->io_loop) : result;
    result = result == RESULT_OK ? actor_loop_start(&runtime->registry_loop) : result;
    if (result == RESULT_OK && runtime->bus != NULL) {
        actor_loop_settle(&runtime->bus_loop, actor_bus_turn, runtime->bus);
        result = actor_loop_start(&runtime->bus_loop);
    }
    if (result == RESULT_OK && runtime->hot != NULL) {
        actor_loop_settle(&runtime->hot_loop, actor_hot_turn, runtime->hot);
        result = actor_loop_start(&runtime->hot_loop);
    }
    if (result == RESULT_OK && runtime->backup != NULL) {
        actor_loop_settle(&runtime->backup_loop, actor_backup_turn, runtime->backup);
        result = actor_loop_start(&runtime->backup_loop);
    }
    for (uint32_t i = 0; i < runtime->options.shard_count && result == RESULT_OK; i++) {
        actor_loop_settle(&runtime->shard_loops[i], actor_shard_turn, runtime->shards[i]);
        result = actor_loop_start(&runtime->shard_loops[i]);
    }
    return result;
}

static uint64_t count_letters(void *owner)
{
    const struct actor_runtime *runtime = owner;
    uint64_t count = 0;
    for (uint32_t i = 0; i < runtime->options.shard_count; i++) {
        count += actor_count_read(&actor_shard_counters(runtime->shards[i])->letters);
    }
    return count;
}

static void open_router(struct actor_runtime *runtime)
{
    struct actor_router *router = &runtime->router;
    router->shards = runtime->shard_sinks;
    router->shard_count = runtime->options.shard_count;
    router->registry = &runtime->registry_loop.sink;
    router->audit = &runtime->audit_loop.sink;
    router->backup = runtime->backup == NULL ? NULL : &runtime->backup_loop.sink;
    router->journal = actor_journal_counters(runtime->journal);
    router->stats = actor_stats;
    router->letters = count_letters;
    router->owner = runtime;
    atomic_store_explicit(&router->open, true, memory_order_release);
}

enum result actor_runtime_start(struct actor_runtime *runtime, struct actor_recovery *recovery,
                                char error[256])
{
    ASSERT(!runtime->started);
    struct actor_clock clock = {0};
    struct actor_positions positions;
    enum result result = actor_recover(
        &(struct actor_recovery_options){.log = runtime->options.journal,
                                         .state = runtime->options.state,
                                         .index = runtime->options.index,
                                         .index_elsewhere = runtime->options.index_elsewhere,
                                         .shards = runtime->shards,
                                         .shard_count = runtime->options.shard_count,
                                         .registry = runtime->registry,
                                         .bus = runtime->options.bus_window > 0,
                                         .now = actor_clock_now(&clock)},
        recovery, &positions, error);
    if (result != RESULT_OK) {
        return result;
    }
    runtime->recovery = *recovery;
    result = make_drains(runtime, &positions);
    if (result == RESULT_OK) {
        runtime->started = true;
        result = start_threads(runtime);
    }
    if (result != RESULT_OK) {
        snprintf(error, 256, "the actors could not be started: %s", result_text(result));
        actor_runtime_stop(runtime);
        return result;
    }
    open_router(runtime);
    if (runtime->retention != NULL) { /* a client of the router */
        actor_loop_settle(&runtime->retention_loop, actor_retention_turn, runtime->retention);
        result = actor_loop_start(&runtime->retention_loop);
        if (result != RESULT_OK) {
            snprintf(error, 256, "the actors could not be started: %s", result_text(result));
            actor_runtime_stop(runtime);
            return result;
        }
    }
    log_line(LOG_INFO, "ENGINE-READY",
             "shards=%u executions=%llu events=%llu calls=%llu corrupt=%llu elapsed_us=%llu",
             runtime->options.shard_count, (unsigned long long)recovery->executions,
             (unsigned long long)recovery->events, (unsigned long long)recovery->calls,
             (unsigned long long)recovery->corrupt, (unsigned long long)recovery->elapsed_us);
    return RESULT_OK;
}

struct proto_sink *actor_runtime_router(struct actor_runtime *runtime)
{
    return &runtime->router.sink;
}

/* ---- looking ---- */

/* Why no request can be served as it should be; NULL: all can. */
static const char *trouble_of(struct actor_runtime *runtime)
{
    if (!atomic_load_explicit(&runtime->router.open, memory_order_acquire)) {
        return "not started";
    }
    if (atomic_load_explicit(&runtime->router.closing, memory_order_relaxed)) {
        return "draining";
    }
    if (actor_count_read(&actor_journal_counters(runtime->journal)->failed) != 0) {
        return "the journal failed: restart the engine when the disk is well";
    }
    if (actor_count_read(&actor_journal_counters(runtime->journal)->full) != 0) {
        return "the journal is full or stalled";
    }
    return NULL;
}

/* Stores that the engine can do without for a while, each by name. */
static void name_failing(struct actor_runtime *runtime, struct arena *arena, struct span *why_not)
{
    const struct actor_storage_counters *storage = actor_storage_counters(runtime->storage);
    const struct {
        bool fails;
        const char *name;
    } stores[] = {
        {actor_count_read(&storage->failing) != 0, "the state table cannot be written"},
        {actor_count_read(&storage->blob_failing) != 0, "the blob tier fails"},
        {runtime->hot != NULL && actor_count_read(&actor_hot_counters(runtime->hot)->failing) != 0,
         "the hot tier fails"},
        {actor_count_read(&actor_audit_counters(runtime->audit)->failing) != 0,
         "the index cannot be written"},
    };
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        if (stores[i].fails) {
            *why_not = arena_format(arena, "%.*s%s%s", SPAN_ARG(*why_not),
                                    why_not->count == 0 ? "degraded: " : "; ", stores[i].name);
        }
    }
}

bool actor_runtime_ready(struct actor_runtime *runtime, struct arena *arena, struct span *why_not)
{
    const char *why = trouble_of(runtime);
    *why_not = why == NULL ? SPAN_EMPTY : arena_copy(arena, span_text(why));
    if (why == NULL) {
        name_failing(runtime, arena, why_not);
    }
    return why_not->count == 0;
}

/* ---- the end ---- */

static uint64_t monotonic_ms(void)
{
    struct actor_clock clock = {0};
    return actor_clock_now(&clock).monotonic_ms;
}

/* Whom a drain asks, step by step: an answer that comes late is none of the next step's. */
enum { ASKED_SHARDS, ASKED_AGAIN, ASKED_JOURNAL, ASKED_BUS, ASKED_STORES };

/* Asks and counts those that were asked. */
static uint32_t ask_to_drain(struct actor_runtime *runtime, struct proto_sink *sink, uint64_t step)
{
    struct proto_message *message = message_new(PROTO_DRAIN, 0);
    if (message == NULL) {
        return 0;
    }
    message->reply_to = (struct proto_address){.sink = &runtime->drain_waiter.sink, .ticket = step};
    bool sent = sink->send(sink, &message) == RESULT_OK;
    message_free(message);
    return sent ? 1 : 0;
}

static bool await_drained(struct actor_runtime *runtime, uint32_t asked, uint64_t step,
                          uint64_t until_ms)
{
    while (asked > 0) {
        uint64_t now_ms = monotonic_ms();
        struct proto_message *done =
            now_ms >= until_ms
                ? NULL
                : actor_waiter_next(&runtime->drain_waiter, (uint32_t)(until_ms - now_ms));
        if (done == NULL) {
            return false;
        }
        asked -= done->reply_to.ticket == step;
        message_free(done);
    }
    return true;
}

static bool rest_shards(struct actor_runtime *runtime, uint64_t step, uint64_t until_ms)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < runtime->options.shard_count; i++) {
        asked += ask_to_drain(runtime, runtime->shard_sinks[i], step);
    }
    return await_drained(runtime, asked, step, until_ms);
}

/* Those that write to the journal. Idempotent. */
static void stop_writers(struct actor_runtime *runtime)
{
    if (runtime->retention != NULL) {
        actor_loop_stop(&runtime->retention_loop);
    }
    for (uint32_t i = 0; i < runtime->options.shard_count; i++) {
        actor_loop_stop(&runtime->shard_loops[i]);
    }
    actor_loop_stop(&runtime->registry_loop);
}

/*
 * Callbacks are taken until the shards rest for the first time, then nothing that changes anything;
 * what came just before is answered by the second rest. Timers ring until the shards' threads end.
 */
static bool come_to_rest(struct actor_runtime *runtime, uint64_t begin_ms, uint32_t timeout_ms)
{
    atomic_store_explicit(&runtime->router.closing, true, memory_order_relaxed);
    bool rested = rest_shards(runtime, ASKED_SHARDS, begin_ms + timeout_ms / 12u * 7u);
    atomic_store_explicit(&runtime->router.sealed, true, memory_order_relaxed);
    uint64_t until_ms = begin_ms + timeout_ms / 3u * 2u;
    rested = rested && rest_shards(runtime, ASKED_AGAIN, until_ms);
    stop_writers(runtime);
    uint32_t asked = ask_to_drain(runtime, &runtime->journal_loop.sink, ASKED_JOURNAL);
    return await_drained(runtime, asked, ASKED_JOURNAL, begin_ms + timeout_ms) && rested;
}

enum result actor_runtime_drain(struct actor_runtime *runtime, uint32_t timeout_ms)
{
    ASSERT(runtime->started);
    uint64_t begin_ms = monotonic_ms();
    /* Segments get two thirds of the time; what still runs is left to the journal, and the drains
     * get the rest. */
    bool rested = come_to_rest(runtime, begin_ms, timeout_ms);
    /* The bus first: the state table keeps its position. */
    uint32_t asked =
        runtime->bus == NULL ? 0 : ask_to_drain(runtime, &runtime->bus_loop.sink, ASKED_BUS);
    bool drained = await_drained(runtime, asked, ASKED_BUS, begin_ms + timeout_ms / 6u * 5u);
    asked = ask_to_drain(runtime, &runtime->storage_loop.sink, ASKED_STORES) +
            ask_to_drain(runtime, &runtime->audit_loop.sink, ASKED_STORES);
    drained = await_drained(runtime, asked, ASKED_STORES, begin_ms + timeout_ms) && drained;
    return rested && drained ? RESULT_OK : RESULT_TIMEOUT;
}

void actor_runtime_stop(struct actor_runtime *runtime)
{
    if (!runtime->started) {
        return;
    }
    atomic_store_explicit(&runtime->router.open, false, memory_order_release);
    if (runtime->backup != NULL) {
        actor_loop_stop(&runtime->backup_loop);
    }
    stop_writers(runtime);
    actor_loop_stop(&runtime->io_loop);
    if (runtime->bus != NULL) {
        actor_loop_stop(&runtime->bus_loop);
    }
    actor_loop_stop(&runtime->journal_loop);
    actor_loop_finish(&runtime->journal_loop); /* replies may have left before their commits */
    actor_loop_stop(&runtime->storage_loop);
    actor_loop_stop(&runtime->audit_loop);
    if (runtime->hot != NULL) {
        actor_loop_stop(&runtime->hot_loop);
    }
    runtime->started = false;
}

void actor_runtime_free(struct actor_runtime *runtime)
{
    if (runtime == NULL) {
        return;
    }
    actor_runtime_stop(runtime);
    for (uint32_t i = 0; runtime->shard_loops != NULL && i < runtime->options.shard_count; i++) {
        actor_loop_release(&runtime->shard_loops[i]);
    }
    actor_loop_release(&runtime->registry_loop);
    actor_loop_release(&runtime->io_loop);
    actor_loop_release(&runtime->journal_loop);
    actor_loop_release(&runtime->storage_loop);
    actor_loop_release(&runtime->audit_loop);
    actor_loop_release(&runtime->bus_loop);
    actor_loop_release(&runtime->hot_loop);
    actor_loop_release(&runtime->backup_loop);
    actor_loop_release(&runtime->retention_loop);
    for (uint32_t i = 0; runtime->shards != NULL && i < runtime->options.shard_count; i++) {
        actor_shard_free(runtime->shards[i]);
    }
    actor_registry_free(runtime->registry);
    actor_io_free(runtime->io);
    actor_journal_free(runtime->journal);
    actor_storage_free(runtime->storage);
    actor_audit_free(runtime->audit);
    actor_bus_free(runtime->bus);
    actor_hot_free(runtime->hot);
    actor_backup_free(runtime->backup);
    actor_retention_free(runtime->retention);
    actor_waiter_release(&runtime->drain_waiter);
    actor_waiter_release(&runtime->load_waiter);
    pthread_mutex_destroy(&runtime->load_mutex);
    free(runtime->shard_loops);
    free(runtime->shard_sinks);
    free(runtime->shard_names);
    free(runtime->shards);
    free(runtime);
}
