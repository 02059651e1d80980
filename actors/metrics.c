/*
 * metrics.c: counters as Prometheus text and as the reply to `stats`. Every series is there from
 * the start. Any thread.
 */
#include <stdarg.h>
#include <stdio.h>

#include "actors/assembly.h"
#include "proto/wire/writer.h"

struct page {
    struct arena *arena;
    char *text;
    size_t bytes;
    size_t capacity;
};

enum { PAGE_BYTES = 64 << 10 };

static void add(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes =
        vsnprintf(page->text + page->bytes, page->capacity - page->bytes, format, arguments);
    va_end(arguments);
    size_t room = page->capacity - page->bytes;
    page->bytes += bytes < 0 ? 0 : (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* Since a monotonic time; 0: since none. It goes on while nothing else happens. */
static uint64_t age_ms(uint64_t since_ms)
{
    uint64_t now_ms = actor_clock_monotonic_ms();
    return since_ms == 0 || since_ms > now_ms ? 0 : now_ms - since_ms;
}

static void series(struct page *page, const char *name, const char *type, const char *help)
{
    add(page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct page *page, const char *name, const char *type, const char *help,
                uint64_t value)
{
    series(page, name, type, help);
    add(page, "%s %llu\n", name, (unsigned long long)value);
}

/* ---- per shard ---- */

static const struct shard_series {
    const char *name;
    const char *type;
    const char *help;
    size_t offset;    /* of the counter */
    const char *stat; /* its name in `stats`, where it is summed up */
} shard_table[] = {
#define SERIES(counter, name, type, stat, help)                                                    \
    {                                                                                              \
        name, type, help, offsetof(struct actor_shard_counters, counter), stat                     \
    }
    SERIES(requests, "strider_requests_total", "counter", "requests",
           "Requests that a shard handled."),
    SERIES(refused, "strider_requests_refused_total", "counter", "refused",
           "Requests answered with an error."),
    SERIES(overloaded, "strider_requests_overloaded_total", "counter", "overloaded",
           "Requests answered Overloaded."),
    SERIES(repeated, "strider_requests_repeated_total", "counter", "repeated",
           "Repeats of a requestId."),
    SERIES(timeouts, "strider_requests_timed_out_total", "counter", "timeouts",
           "Requests answered Timeout."),
    SERIES(pending, "strider_requests_pending", "gauge", "pending",
           "Requests that wait for a segment's end."),
    SERIES(started, "strider_executions_started_total", "counter", "started",
           "Executions started."),
    SERIES(completed, "strider_executions_completed_total", "counter", "completed",
           "Executions that ended well."),
    SERIES(failed, "strider_executions_failed_total", "counter", "failed",
           "Executions that failed."),
    SERIES(aborted, "strider_executions_aborted_total", "counter", "aborted",
           "Executions aborted by an operator."),
    SERIES(live, "strider_executions_live", "gauge", "live",
           "Executions in memory with a segment under way."),
    SERIES(waiting, "strider_executions_waiting", "gauge", "waiting",
           "Executions parked until something comes."),
    SERIES(letters, "strider_messages_waiting", "gauge", "messagesWaiting",
           "Messages that nobody has taken yet."),
    SERIES(damaged, "strider_executions_damaged", "gauge", "damaged",
           "Executions set aside: see the log."),
    SERIES(steps, "strider_steps_total", "counter", "steps", "Steps done."),
    SERIES(calls, "strider_module_calls_total", "counter", "calls",
           "Module calls made, retries included."),
    SERIES(commits, "strider_commits_total", "counter", "commits", "Commits sent to the journal."),
    SERIES(record_bytes, "strider_record_bytes_total", "counter", "recordBytes",
           "Bytes of records in commits."),
    SERIES(hot_hits, "strider_hot_hits_total", "counter", "hotHits",
           "Resumes served by the hot tier."),
    SERIES(hot_misses, "strider_hot_misses_total", "counter", "hotMisses",
           "Resumes that had to be fetched."),
    SERIES(hot_strange, "strider_hot_strange_total", "counter", "hotStrange",
           "Sessions from a hot tier elsewhere that were not the newest: misses."),
    SERIES(unsaved, "strider_heavy_sessions_not_stored_total", "counter", "heavyNotStored",
           "Heavy sessions answered before their blob was stored: only the journal has them yet."),
    SERIES(stalled, "strider_shard_stalled", "gauge", "stalled",
           "1 while the journal takes nothing."),
#undef SERIES
};

enum { SHARD_SERIES_COUNT = sizeof shard_table / sizeof shard_table[0] };

static uint64_t shard_value(const struct actor_runtime *runtime, uint32_t shard,
                            const struct shard_series *row)
{
    const char *counters = (const char *)actor_shard_counters(runtime->shards[shard]);
    return actor_count_read((const actor_counter *)(counters + row->offset));
}

static void shard_pages(struct page *page, const struct actor_runtime *runtime)
{
    for (size_t i = 0; i < SHARD_SERIES_COUNT; i++) {
        series(page, shard_table[i].name, shard_table[i].type, shard_table[i].help);
        for (uint32_t shard = 0; shard < runtime->options.shard_count; shard++) {
            add(page, "%s{shard=\"%u\"} %llu\n", shard_table[i].name, shard,
                (unsigned long long)shard_value(runtime, shard, &shard_table[i]));
        }
    }
    series(page, "strider_shard_turns_total", "counter", "Turns of a shard: batches of messages.");
    for (uint32_t shard = 0; shard < runtime->options.shard_count; shard++) {
        add(page, "strider_shard_turns_total{shard=\"%u\"} %llu\n", shard,
            (unsigned long long)actor_loop_turns(&runtime->shard_loops[shard]));
    }
    series(page, "strider_mailbox_messages", "gauge", "Messages unread in a shard's mailbox.");
    for (uint32_t shard = 0; shard < runtime->options.shard_count; shard++) {
        add(page, "strider_mailbox_messages{shard=\"%u\"} %u\n", shard,
            actor_mailbox_count(&runtime->shard_loops[shard].mailbox));
    }
}

/* ---- the others ---- */

static void journal_page(struct page *page, const struct actor_runtime *runtime)
{
    static const char *const drains[PROTO_DRAIN_COUNT] = {"state", "blob", "audit", "bus"};
    const struct actor_journal_counters *journal = actor_journal_counters(runtime->journal);
    uint64_t end = actor_count_read(&journal->end);
    one(page, "strider_journal_commits_total", "counter", "Commits written.",
        actor_count_read(&journal->commits));
    one(page, "strider_journal_syncs_total", "counter",
        "Syncs, each for all commits that had come.", actor_count_read(&journal->syncs));
    one(page, "strider_journal_sync_microseconds_total", "counter", "Time spent in syncs.",
        actor_count_read(&journal->sync_us));
    one(page, "strider_journal_bytes_total", "counter", "Bytes of records written.",
        actor_count_read(&journal->bytes));
    one(page, "strider_journal_kept_bytes", "gauge", "Bytes between the journal's begin and end.",
        end - actor_count_read(&journal->begin));
    one(page, "strider_journal_full", "gauge", "1 while no starts are taken.",
        actor_count_read(&journal->full));
    one(page, "strider_journal_failed", "gauge", "1 after an I/O error, until a restart.",
        actor_count_read(&journal->failed));
    series(page, "strider_drain_lag_bytes", "gauge",
           "Journal bytes that a drain has not made durable elsewhere.");
    for (int i = 0; i < PROTO_DRAIN_COUNT; i++) {
        uint64_t drained = actor_count_read(&journal->drained[i]);
        add(page, "strider_drain_lag_bytes{drain=\"%s\"} %llu\n", drains[i],
            (unsigned long long)(end > drained ? end - drained : 0));
    }
}

static void storage_page(struct page *page, const struct actor_runtime *runtime)
{
    const struct actor_blob_drain_counters *blob = actor_storage_blob_counters(runtime->storage);
    const struct actor_state_drain_counters *state = actor_storage_state_counters(runtime->storage);
    const struct actor_storage_counters *storage = actor_storage_counters(runtime->storage);
    one(page, "strider_blobs_queued_total", "counter", "Blobs taken from the journal.",
        actor_count_read(&blob->queued));
    one(page, "strider_blobs_deduplicated_total", "counter", "Blobs superseded within their batch.",
        actor_count_read(&blob->deduplicated));
    one(page, "strider_blobs_uploaded_total", "counter", "Blobs stored.",
        actor_count_read(&blob->uploaded));
    one(page, "strider_blobs_ahead_total", "counter",
        "Blobs stored ahead of the others because a reply waited for them.",
        actor_count_read(&actor_storage_saves_counters(runtime->storage)->stored));
    one(page, "strider_blobs_from_journal_total", "counter",
        "Blobs read from the journal because the blob tier did not have them yet.",
        actor_count_read(&storage->from_journal));
    one(page, "strider_blobs_retried_total", "counter", "Batches tried again.",
        actor_count_read(&blob->retried));
    one(page, "strider_blobs_oldest_age_milliseconds", "gauge", "Age of the batch under way.",
        age_ms(actor_count_read(&blob->oldest_since_ms)));
    one(page, "strider_blobs_failing", "gauge", "1 while the blob tier fails.",
        actor_count_read(&storage->blob_failing));
    one(page, "strider_state_records_total", "counter", "Records folded into the state table.",
        actor_count_read(&state->records));
    one(page, "strider_state_flushes_total", "counter", "Flushes of the state table.",
        actor_count_read(&state->flushes));
    one(page, "strider_state_failing", "gauge", "1 while the state table cannot be written.",
        actor_count_read(&storage->failing));
    one(page, "strider_snapshots_asked_total", "counter", "Snapshots asked of long segments.",
        actor_count_read(&state->interims_asked));
    one(page, "strider_journal_corrupt_batches_total", "counter",
        "Batches that failed their check.", actor_count_read(&state->corrupt));
    one(page, "strider_fetches_total", "counter", "Executions fetched from the stores.",
        actor_count_read(&storage->fetches));
}

/* All zero where the hot tier is in the shards. */
static void hot_page(struct page *page, const struct actor_runtime *runtime)
{
    static const struct actor_hot_counters none;
    const struct actor_hot_counters *hot =
        runtime->hot == NULL ? &none : actor_hot_counters(runtime->hot);
    one(page, "strider_hot_writes_total", "counter", "Sessions told to a hot tier elsewhere.",
        actor_count_read(&hot->writes));
    one(page, "strider_hot_reads_total", "counter", "Sessions asked of a hot tier elsewhere.",
        actor_count_read(&hot->reads));
    one(page, "strider_hot_failures_total", "counter", "Commands that the hot tier did not do.",
        actor_count_read(&hot->failures));
    one(page, "strider_hot_failing", "gauge", "1 while the hot tier fails.",
        actor_count_read(&hot->failing));
}

static void other_pages(struct page *page, const struct actor_runtime *runtime)
{
    const struct actor_audit_counters *audit = actor_audit_counters(runtime->audit);
    const struct actor_registry_counters *registry = actor_registry_counters(runtime->registry);
    one(page, "strider_audit_messages_total", "counter", "Audit messages written to the index.",
        actor_count_read(&audit->messages));
    one(page, "strider_audit_applies_total", "counter", "Transactions of the index.",
        actor_count_read(&audit->applies));
    one(page, "strider_audit_failing", "gauge", "1 while the index cannot be written.",
        actor_count_read(&audit->failing));
    static const struct actor_retention_counters nothing;
    const struct actor_retention_counters *retention =
        runtime->retention == NULL ? &nothing : actor_retention_counters(runtime->retention);
    one(page, "strider_retention_deleted_total", "counter",
        "Executions deleted because they ended long ago.", actor_count_read(&retention->deleted));
    one(page, "strider_deploys_total", "counter", "Deploys that were taken.",
        actor_count_read(&registry->deploys));
    one(page, "strider_deploys_refused_total", "counter", "Deploys that were refused.",
        actor_count_read(&registry->refused));
    const struct actor_schedule_counters *schedule =
        actor_registry_schedule_counters(runtime->registry);
    one(page, "strider_timer_triggers", "gauge", "Timers of deployed processes that will fire.",
        actor_count_read(&schedule->triggers));
    one(page, "strider_timer_firings_total", "counter", "Executions begun by timers.",
        actor_count_read(&schedule->firings));
    one(page, "strider_timer_firings_late_total", "counter",
        "Firings more than 5 s behind their due time.", actor_count_read(&schedule->late));
    one(page, "strider_timer_firings_caught_up_total", "counter",
        "Firings that stand for several missed ones.", actor_count_read(&schedule->caught_up));
    one(page, "strider_router_refused_total", "counter",
        "Requests refused before they reached a shard.",
        actor_count_read(&runtime->router.refused));
    one(page, "strider_router_overloaded_total", "counter", "Requests that found a mailbox full.",
        actor_count_read(&runtime->router.overloaded));
    one(page, "strider_recovery_microseconds", "gauge", "Time that the last recovery took.",
        runtime->recovery.elapsed_us);
    one(page, "strider_recovery_executions", "gauge", "Executions found by the last recovery.",
        runtime->recovery.executions);
}

static void bus_page(struct page *page, const struct actor_runtime *runtime)
{
    if (runtime->bus == NULL) {
        return;
    }
    const struct actor_bus_counters *drain = actor_bus_counters(runtime->bus);
    const struct audit_bus_counters *bus = runtime->bus_port->ops->counters(runtime->bus_port);
    struct actor_clock clock = {0};
    uint64_t now_ms = actor_clock_now(&clock).monotonic_ms;
    uint64_t since_ms = actor_count_read(&drain->since_ms);
    one(page, "strider_bus_messages_total", "counter", "Audit messages taken from the journal.",
        actor_count_read(&drain->messages));
    one(page, "strider_bus_sent_total", "counter", "Messages sent, repeats included.",
        actor_count_read(&bus->sent));
    one(page, "strider_bus_repeated_total", "counter",
        "Messages sent again: given back, or a connection was lost.",
        actor_count_read(&bus->repeated));
    one(page, "strider_bus_settled_total", "counter", "Messages that the broker is done with.",
        actor_count_read(&bus->settled));
    one(page, "strider_bus_refused_total", "counter", "Messages that the broker refused.",
        actor_count_read(&bus->refused));
    one(page, "strider_bus_set_aside_total", "counter", "Refused messages that were set aside.",
        actor_count_read(&drain->set_aside));
    one(page, "strider_bus_unsettled", "gauge", "Messages under way.",
        actor_count_read(&drain->unsettled));
    one(page, "strider_bus_oldest_age_milliseconds", "gauge",
        "How long the oldest message under way has been that.",
        since_ms == 0 || since_ms > now_ms ? 0 : now_ms - since_ms);
    one(page, "strider_bus_connected", "gauge", "1 while the broker can be reached.",
        actor_count_read(&bus->connected));
}

void actor_runtime_metrics(struct actor_runtime *runtime, struct arena *arena, struct span *text)
{
    size_t capacity = PAGE_BYTES + runtime->options.shard_count * SHARD_SERIES_COUNT * 96u;
    struct page page = {.arena = arena, .text = arena_alloc(arena, capacity), .capacity = capacity};
    *text = SPAN_EMPTY;
    if (page.text == NULL || runtime->journal == NULL) {
        return; /* before start there is nothing to tell */
    }
    shard_pages(&page, runtime);
    journal_page(&page, runtime);
    storage_page(&page, runtime);
    hot_page(&page, runtime);
    other_pages(&page, runtime);
    bus_page(&page, runtime);
    *text = span_of(page.text, page.bytes);
}

uint32_t actor_stats(void *owner, struct wire_writer *writer)
{
    const struct actor_runtime *runtime = owner;
    for (size_t i = 0; i < SHARD_SERIES_COUNT; i++) {
        uint64_t sum = 0;
        for (uint32_t shard = 0; shard < runtime->options.shard_count; shard++) {
            sum += shard_value(runtime, shard, &shard_table[i]);
        }
        wire_write_text(writer, shard_table[i].stat);
        wire_write_uint(writer, sum);
    }
    const struct actor_journal_counters *journal = actor_journal_counters(runtime->journal);
    wire_write_text(writer, "syncs");
    wire_write_uint(writer, actor_count_read(&journal->syncs));
    wire_write_text(writer, "journalBytes");
    wire_write_uint(writer, actor_count_read(&journal->end) - actor_count_read(&journal->begin));
    wire_pair_int(writer, "shards", runtime->options.shard_count);
    return SHARD_SERIES_COUNT + 3;
}
