/*
 * clients.c: see clients.h. Threads share the table of entries: each entry is its thread's own
 * (index mod threads) until the threads are joined, so only the counters are atomic.
 */
#include "tests/torture/clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/random.h"
#include "transport/client.h"

enum {
    THREADS_MAX = 16,
    CALL_MS = 4000,
    OPEN_MAX = 60, /* executions of a thread that still need something */
    HEAVY_BYTES = 12 << 10,
};

struct thread {
    struct torture_clients *clients;
    unsigned number;
    pthread_t id;
    struct sim_random random;
    struct transport_client *client;
    bool stuck; /* its call does not come back: left alone */
    struct arena arena;
    size_t next;           /* index of its next new entry */
    size_t open[OPEN_MAX]; /* indexes of entries that need something */
    unsigned open_count;
};

struct torture_clients {
    unsigned thread_count;
    unsigned pause_ms;
    struct thread threads[THREADS_MAX];
    struct torture_entry *entries;
    _Atomic size_t count; /* the highest index used, and one */
    _Atomic bool finishing, giving_up;
    _Atomic unsigned violations;
    unsigned reopened;
};

void torture_clients_id(size_t index, char out[40])
{
    snprintf(out, 40, "t-%zu", index);
}

static void doze(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000l},
              NULL);
}

/* ---- requests ---- */

static void write_start(struct thread *thread, struct wire_writer *writer, size_t index)
{
    static char heavy[HEAVY_BYTES];
    char id[40];
    const struct torture_entry *entry = &thread->clients->entries[index];
    torture_clients_id(index, id);
    wire_write_map(writer, 7);
    wire_pair_int(writer, "v", 1);
    wire_pair_text(writer, "op", "start");
    wire_pair_text(writer, "process", torture_kinds[entry->kind].process);
    wire_pair_text(writer, "requestId", id);
    wire_pair_text(writer, "executionId", id);
    wire_pair_text(writer, "wait", index % 3 == 0 ? "accepted" : "segment");
    wire_write_text(writer, "execution");
    wire_write_map(writer, 2);
    wire_pair_text(writer, "key", id);
    wire_pair_string(writer, "text", span_of(heavy, index % 7 == 0 ? sizeof heavy : 10));
}

static void write_supply(struct thread *thread, struct wire_writer *writer, size_t index)
{
    char id[40];
    char request_id[48];
    bool message = thread->clients->entries[index].kind == TORTURE_MESSAGE;
    torture_clients_id(index, id);
    snprintf(request_id, sizeof request_id, "s-%s", id);
    wire_write_map(writer, message ? 5 : 6);
    wire_pair_int(writer, "v", 1);
    wire_pair_text(writer, "op", message ? "message" : "callback");
    wire_pair_text(writer, "requestId", request_id);
    if (message) {
        wire_pair_text(writer, "name", "paid");
        wire_pair_text(writer, "correlationKey", id);
    } else {
        wire_pair_text(writer, "executionId", id);
        wire_pair_text(writer, "wait", "accepted");
        wire_write_text(writer, "payload");
        wire_write_map(writer, 0);
    }
}

/* ---- answers ---- */

enum answer { ACKNOWLEDGED, AGAIN, WRONG };

/* What the engine may say while it dies and comes back. */
static enum answer judge(struct span reply, const char *also)
{
    static const char *const passing[] = {"Overloaded", "StorageFailed", "ShuttingDown", "Timeout",
                                          "NotWaiting"};
    if (wire_bool_or(wire_find_text(reply, "ok"), false)) {
        return ACKNOWLEDGED;
    }
    struct span code = wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
    if (also != NULL && span_is(code, also)) {
        return ACKNOWLEDGED;
    }
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        if (span_is(code, passing[i])) {
            return AGAIN;
        }
    }
    return WRONG;
}

static bool call(struct thread *thread, struct span request, struct span *reply)
{
    return transport_client_call(thread->client, request, CALL_MS, &thread->arena, reply) ==
           RESULT_OK;
}

/*
 * One try. A requestId is remembered for ten minutes and across crashes, so a repeat gets the first
 * answer; AlreadyExists and AlreadyFinished can only be told of what an earlier try did.
 */
static enum answer attempt(struct thread *thread, size_t index, bool start)
{
    struct torture_entry *entry = &thread->clients->entries[index];
    struct wire_writer writer;
    struct span reply;
    arena_clear(&thread->arena);
    wire_writer_init(&writer, &thread->arena, 1024);
    if (start) {
        write_start(thread, &writer, index);
    } else {
        write_supply(thread, &writer, index);
    }
    bool repeated = entry->tried;
    entry->tried = true;
    if (!call(thread, wire_writer_span(&writer), &reply)) {
        return AGAIN;
    }
    const char *also = !repeated ? NULL : start ? "AlreadyExists" : "AlreadyFinished";
    enum answer answer = judge(reply, also);
    if (answer == WRONG) {
        struct span error = wire_find_text(reply, "error");
        fprintf(stderr, "violation: %s of t-%zu was answered %.*s: %.*s\n",
                start ? "the start" : "what is needed", index,
                SPAN_ARG(wire_string_or(wire_find_text(error, "code"), "?")),
                SPAN_ARG(wire_string_or(wire_find_text(error, "message"), "")));
        atomic_fetch_add(&thread->clients->violations, 1);
    }
    return answer;
}

/* Until it is acknowledged; false: no more tries. */
static bool insist(struct thread *thread, size_t index, bool start)
{
    while (!atomic_load(&thread->clients->giving_up)) {
        enum answer answer = attempt(thread, index, start);
        if (answer != AGAIN) {
            return answer == ACKNOWLEDGED;
        }
        doze(5 + (unsigned)sim_below(&thread->random, 40));
    }
    return false;
}

/* ---- a thread ---- */

static void begin_one(struct thread *thread)
{
    struct torture_clients *clients = thread->clients;
    size_t index = thread->next;
    struct torture_entry *entry = &clients->entries[index];
    thread->next += clients->thread_count;
    entry->kind = (enum torture_kind)sim_below(&thread->random, TORTURE_KIND_COUNT);
    size_t seen = atomic_load(&clients->count);
    while (seen < index + 1 && !atomic_compare_exchange_weak(&clients->count, &seen, index + 1)) {
    }
    entry->started = insist(thread, index, true);
    entry->tried = false;
    if (entry->started && torture_kinds[entry->kind].needs) {
        thread->open[thread->open_count++] = index;
    }
}

static void supply_one(struct thread *thread)
{
    unsigned which = (unsigned)sim_below(&thread->random, thread->open_count);
    size_t index = thread->open[which];
    thread->clients->entries[index].supplied = insist(thread, index, false);
    thread->open[which] = thread->open[--thread->open_count];
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    struct torture_clients *clients = thread->clients;
    while (!atomic_load(&clients->finishing) && thread->next < TORTURE_ENTRIES_MAX) {
        bool full = thread->open_count == OPEN_MAX;
        if (full || (thread->open_count > 0 && sim_below(&thread->random, 3) == 0)) {
            supply_one(thread);
        } else {
            begin_one(thread);
        }
        doze((unsigned)sim_below(&thread->random, clients->pause_ms));
    }
    while (thread->open_count > 0 && !atomic_load(&clients->giving_up)) {
        supply_one(thread);
    }
    return NULL;
}

struct torture_clients *torture_clients_start(const char *url, unsigned count, unsigned pause_ms,
                                              uint64_t seed)
{
    struct torture_clients *clients = calloc(1, sizeof *clients);
    char error[256] = "";
    if (clients == NULL || count > THREADS_MAX) {
        free(clients);
        return NULL;
    }
    clients->entries = calloc(TORTURE_ENTRIES_MAX + THREADS_MAX, sizeof *clients->entries);
    clients->thread_count = count;
    clients->pause_ms = pause_ms;
    for (unsigned i = 0; clients->entries != NULL && i < count; i++) {
        struct thread *thread = &clients->threads[i];
        *thread = (struct thread){.clients = clients, .number = i, .next = i};
        thread->random = sim_random_of(seed, i + 100);
        arena_init(&thread->arena, 64 << 10, 4 << 20);
        if (transport_client_open(url, &thread->client, error) != RESULT_OK ||
            pthread_create(&thread->id, NULL, run, thread) != 0) {
            fprintf(stderr, "no client: %s\n", error);
            exit(2);
        }
    }
    return clients;
}

static bool join_until(struct thread *thread, time_t seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return pthread_timedjoin_np(thread->id, NULL, &until) == 0;
}

bool torture_clients_finish(struct torture_clients *clients, uint64_t timeout_ms)
{
    enum { LAST_CALL_SECONDS = 20 };
    bool all = true;
    atomic_store(&clients->finishing, true);
    for (unsigned i = 0; i < clients->thread_count; i++) {
        struct thread *thread = &clients->threads[i];
        bool joined = all && join_until(thread, (time_t)(timeout_ms / 1000));
        if (!joined) {
            all = false;
            atomic_store(&clients->giving_up, true);
            thread->stuck = !join_until(thread, LAST_CALL_SECONDS);
        }
        if (!thread->stuck) {
            clients->reopened += transport_client_reopened(thread->client);
            transport_client_close(thread->client);
            arena_release(&thread->arena);
        }
    }
    return all;
}

size_t torture_clients_count(const struct torture_clients *clients)
{
    return atomic_load(&clients->count);
}

size_t torture_clients_started(const struct torture_clients *clients)
{
    size_t started = 0;
    for (size_t i = 0; i < torture_clients_count(clients); i++) {
        started += clients->entries[i].started ? 1 : 0;
    }
    return started;
}

const struct torture_entry *torture_clients_entry(const struct torture_clients *clients,
                                                  size_t index)
{
    return &clients->entries[index];
}

unsigned torture_clients_violations(const struct torture_clients *clients)
{
    return atomic_load(&clients->violations);
}

unsigned torture_clients_reopened(const struct torture_clients *clients)
{
    return clients->reopened;
}
