/*
 * journal.c: append all, sync once, answer all. The journal's thread.
 */
#include "actors/journal.h"

#include <stdlib.h>
#include <time.h>

#include "actors/queue.h"
#include "proto/base/assert.h"
#include "proto/log.h"

enum { JOURNAL_MAGIC = 0x4a4f5552, JOURNAL_RETRY_MS = 500 };

struct actor_journal {
    uint32_t magic;
    struct actor_journal_options options;
    struct actor_queue appended; /* commits in the log's tail, not synced */
    struct actor_queue backlog;  /* commits that the log did not take, oldest first */
    enum result trouble;         /* why */
    uint64_t retry_ms;
    bool told[PROTO_DRAIN_COUNT]; /* the drain knows that there is more than it has read */
    uint64_t read[PROTO_DRAIN_COUNT];
    uint64_t durable[PROTO_DRAIN_COUNT];
    uint32_t holds;             /* who copies it, and so wants nothing trimmed */
    struct proto_address drain; /* answered behind the turn's sync */
    struct actor_journal_counters counters;
};

enum result actor_journal_new(const struct actor_journal_options *options,
                              struct actor_journal **out)
{
    struct actor_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) {
        return RESULT_LIMIT;
    }
    journal->magic = JOURNAL_MAGIC;
    journal->options = *options;
    for (int drain = 0; drain < PROTO_DRAIN_COUNT; drain++) {
        journal->durable[drain] = journal->read[drain] = options->drained[drain];
        actor_count_set(&journal->counters.drained[drain], options->drained[drain]);
    }
    *out = journal;
    return RESULT_OK;
}

void actor_journal_free(struct actor_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    actor_queue_clear(&journal->appended);
    actor_queue_clear(&journal->backlog);
    journal->magic = 0;
    free(journal);
}

const struct actor_journal_counters *actor_journal_counters(const struct actor_journal *journal)
{
    return &journal->counters;
}

/* ---- commits ---- */

static void answer(struct actor_journal *journal, struct proto_address to, enum result result,
                   uint64_t position)
{
    struct proto_message *committed = message_new(PROTO_COMMITTED, 0);
    if (committed == NULL) {
        log_line(LOG_CRITICAL, "JOURNAL-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    committed->as.committed = (struct proto_committed){
        .result = result, .position = position, .indexed = journal->durable[PROTO_DRAIN_AUDIT]};
    message_answer(to, committed);
}

static void in_trouble(struct actor_journal *journal, enum result why, struct actor_time now)
{
    journal->retry_ms = now.monotonic_ms + JOURNAL_RETRY_MS;
    if (journal->trouble == why) {
        return;
    }
    journal->trouble = why;
    if (why == RESULT_IO) {
        actor_count_set(&journal->counters.failed, 1);
    }
    log_line(LOG_CRITICAL, "JOURNAL-STALLED", "reason=\"%s\"", result_text(why));
}

/* Takes the commit. */
static void set_back(struct actor_journal *journal, struct proto_message *commit)
{
    answer(journal, commit->reply_to, journal->trouble, 0);
    actor_queue_push(&journal->backlog, commit);
}

/* RESULT_OK: it is in the tail, and ours no more. */
static enum result append(struct actor_journal *journal, struct proto_message *commit)
{
    struct span records = commit->as.commit.records;
    enum result result = journal->options.log->ops->append(journal->options.log, records,
                                                           &commit->as.commit.position);
    if (result != RESULT_OK) {
        return result;
    }
    actor_count(&journal->counters.commits, 1);
    actor_count(&journal->counters.bytes, (int64_t)records.count);
    actor_queue_push(&journal->appended, commit);
    return RESULT_OK;
}

static void commit(struct actor_journal *journal, struct proto_message *message,
                   struct actor_time now)
{
    ASSERT(message->as.commit.records.count > 0);
    if (journal->trouble == RESULT_OK) {
        enum result result = append(journal, message);
        if (result == RESULT_OK) {
            return;
        }
        in_trouble(journal, result, now);
    }
    set_back(journal, message);
}

static void try_backlog(struct actor_journal *journal, struct actor_time now)
{
    while (journal->backlog.oldest != NULL) {
        struct proto_message *oldest = journal->backlog.oldest;
        struct proto_message *next = oldest->next;
        enum result result = append(journal, oldest);
        if (result != RESULT_OK) {
            in_trouble(journal, result, now);
            return;
        }
        journal->backlog.oldest = next;
    }
    journal->trouble = RESULT_OK;
    log_line(LOG_INFO, "JOURNAL-GOES-ON", "end=%llu",
             (unsigned long long)journal->options.log->ops->end(journal->options.log));
}

/* What was appended and not synced goes before what waits already. */
static void put_back(struct actor_journal *journal)
{
    struct actor_queue later = journal->backlog;
    journal->backlog = (struct actor_queue){0};
    struct proto_message *message;
    while ((message = actor_queue_pop(&journal->appended)) != NULL) {
        set_back(journal, message);
    }
    actor_queue_append(&journal->backlog, &later);
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void sync(struct actor_journal *journal, struct actor_time now)
{
    if (journal->appended.oldest == NULL) {
        return;
    }
    uint64_t begin_us = now_us();
    enum result result = journal->options.log->ops->sync(
        journal->options.log, journal->options.durability == ACTOR_DURABLE);
    actor_count(&journal->counters.syncs, 1);
    actor_count(&journal->counters.sync_us, (int64_t)(now_us() - begin_us));
    if (result != RESULT_OK) {
        /* FULL: the log has dropped them and goes on from its end. Else nobody knows what it holds.
         */
        in_trouble(journal, result == RESULT_FULL ? RESULT_FULL : RESULT_IO, now);
        put_back(journal);
        return;
    }
    struct proto_message *message;
    while ((message = actor_queue_pop(&journal->appended)) != NULL) {
        answer(journal, message->reply_to, RESULT_OK, message->as.commit.position);
        message_free(message);
    }
}

/* ---- drains ---- */

static void tell_drains(struct actor_journal *journal)
{
    uint64_t end = journal->options.log->ops->end(journal->options.log);
    for (int drain = 0; drain < PROTO_DRAIN_COUNT; drain++) {
        struct proto_sink *sink = journal->options.drains[drain];
        if (journal->told[drain] || end <= journal->read[drain] || sink == NULL) {
            continue;
        }
        struct proto_message *advanced = message_new(PROTO_JOURNAL_ADVANCED, 0);
        if (advanced == NULL) {
            return; /* the next turn tells it */
        }
        advanced->as.position = end;
        advanced->reply_to.ticket = (uint64_t)drain;
        journal->told[drain] = sink->send(sink, &advanced) == RESULT_OK;
        message_free(advanced);
    }
}

static void trim(struct actor_journal *journal)
{
    if (journal->holds > 0) {
        return;
    }
    uint64_t least = journal->durable[0];
    for (int drain = 1; drain < PROTO_DRAIN_COUNT; drain++) {
        least = journal->durable[drain] < least ? journal->durable[drain] : least;
    }
    enum result result = journal->options.log->ops->trim(journal->options.log, least);
    if (result != RESULT_OK) {
        log_line(LOG_WARN, "JOURNAL-NOT-TRIMMED", "reason=\"%s\"", result_text(result));
    }
}

static void drained(struct actor_journal *journal, const struct proto_drained *drained)
{
    ASSERT(drained->drain < PROTO_DRAIN_COUNT);
    ASSERT(drained->durable <= drained->read);
    journal->told[drained->drain] = false;
    journal->read[drained->drain] = drained->read;
    if (drained->durable > journal->durable[drained->drain]) {
        journal->durable[drained->drain] = drained->durable;
        actor_count_set(&journal->counters.drained[drained->drain], drained->durable);
        trim(journal);
    }
}

static void answer_drain(struct actor_journal *journal)
{
    struct proto_message *done = journal->drain.sink == NULL ? NULL : message_new(PROTO_DONE, 0);
    if (done != NULL) {
        message_answer(journal->drain, done);
    }
    journal->drain.sink = NULL;
}

static void hold(struct actor_journal *journal, const struct proto_message *message)
{
    ASSERT(message->as.hold || journal->holds > 0);
    journal->holds += message->as.hold ? 1 : -1u;
    if (!message->as.hold) {
        trim(journal);
    }
    struct proto_message *done = message_new(PROTO_DONE, 0);
    if (done != NULL) {
        message_answer(message->reply_to, done);
    }
}

static void weigh(struct actor_journal *journal)
{
    uint64_t begin = journal->options.log->ops->begin(journal->options.log);
    uint64_t end = journal->options.log->ops->end(journal->options.log);
    bool full = journal->trouble != RESULT_OK || end - begin > journal->options.bytes_max;
    actor_count_set(&journal->counters.begin, begin);
    actor_count_set(&journal->counters.end, end);
    if (full != (actor_count_read(&journal->counters.full) == 1)) {
        actor_count_set(&journal->counters.full, full ? 1 : 0);
        log_line(full ? LOG_ERROR : LOG_INFO, full ? "JOURNAL-FULL" : "JOURNAL-HAS-ROOM",
                 "bytes=%llu", (unsigned long long)(end - begin));
    }
}

/* ---- the turn ---- */

uint64_t actor_journal_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_journal *journal = BASE_CAST(actor_journal, argument, JOURNAL_MAGIC);
    bool retries = journal->trouble != RESULT_OK && journal->trouble != RESULT_IO;
    if (retries && now.monotonic_ms >= journal->retry_ms) {
        try_backlog(journal, now);
    }
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        if (message->type == PROTO_COMMIT) {
            commit(journal, message, now);
            continue;
        }
        if (message->type == PROTO_HOLD) {
            hold(journal, message);
        } else if (message->type == PROTO_DRAIN) {
            journal->drain = message->reply_to;
        } else {
            ASSERT(message->type == PROTO_DRAINED);
            drained(journal, &message->as.drained);
        }
        message_free(message);
    }
    sync(journal, now);
    tell_drains(journal);
    weigh(journal);
    answer_drain(journal);
    return journal->trouble == RESULT_OK || journal->trouble == RESULT_IO ? ACTOR_NEVER
                                                                          : journal->retry_ms;
}
