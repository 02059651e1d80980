/* verdict.c: see verdict.h. */
#include "tests/torture/verdict.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "transport/client.h"

enum { CALL_MS = 30000, LOOK_MS = 20, STATE_COMPLETED = 40, PRINTED_MAX = 20 };
/* That ask how executions ended: an emulator that still has uploads to do answers slowly. */
enum { LANES = 16 };

static void violation(unsigned *count, const char *id, const char *what)
{
    if (++*count <= PRINTED_MAX) {
        fprintf(stderr, "violation: %s %s\n", id, what);
    }
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* ---- how each came to its end ---- */

/* Its state; -1: it is unknown; -2: nobody says. */
static int64_t state_of(struct transport_client *client, const char *id, struct arena *arena)
{
    struct wire_writer writer;
    struct span reply;
    arena_clear(arena);
    wire_writer_init(&writer, arena, 256);
    wire_write_map(&writer, 3);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "get");
    wire_pair_text(&writer, "executionId", id);
    if (transport_client_call(client, wire_writer_span(&writer), CALL_MS, arena, &reply) !=
        RESULT_OK) {
        return -2;
    }
    struct span code = wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
    return span_is(code, "SessionNotFound") ? -1 : wire_int_or(wire_find_text(reply, "state"), -2);
}

/* One of those that ask; it takes every LANES-th execution. */
struct lane {
    const struct torture_clients *clients;
    const char *url;
    uint64_t until_ms;
    size_t first;
    unsigned violations;
    pthread_t thread;
};

static int64_t await_end(struct transport_client *client, const char *id, uint64_t until_ms,
                         struct arena *arena)
{
    int64_t state = state_of(client, id, arena);
    while (state != STATE_COMPLETED && state != -1 && now_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000l}, NULL);
        state = state_of(client, id, arena);
    }
    return state;
}

static void *ask_lane(void *argument)
{
    struct lane *lane = argument;
    struct transport_client *client;
    struct arena arena;
    char error[256];
    if (transport_client_open(lane->url, &client, error) != RESULT_OK) {
        violation(&lane->violations, lane->url, error);
        return NULL;
    }
    arena_init(&arena, 64 << 10, 64 << 20);
    for (size_t i = lane->first; i < torture_clients_count(lane->clients); i += LANES) {
        const struct torture_entry *entry = torture_clients_entry(lane->clients, i);
        char id[40];
        char what[80];
        torture_clients_id(i, id);
        if (!entry->started || (torture_kinds[entry->kind].needs && !entry->supplied)) {
            continue;
        }
        int64_t state = await_end(client, id, lane->until_ms, &arena);
        if (state == -2 && now_ms() >= lane->until_ms) {
            violation(&lane->violations, id, "and those behind it: nobody says how they ended");
            break; /* each would cost its own time-out */
        }
        if (state != STATE_COMPLETED) {
            snprintf(what, sizeof what, "(%s) has state %lld", torture_kinds[entry->kind].process,
                     (long long)state);
            violation(&lane->violations, id, what);
        }
    }
    transport_client_close(client);
    arena_release(&arena);
    return NULL;
}

unsigned torture_verdict_ends(const struct torture_clients *clients,
                              const struct torture_engine *engine, uint64_t timeout_ms)
{
    struct lane lanes[LANES];
    unsigned violations = 0;
    uint64_t until_ms = now_ms() + timeout_ms;
    for (size_t i = 0; i < LANES; i++) {
        lanes[i] =
            (struct lane){.clients = clients, .url = engine->url, .until_ms = until_ms, .first = i};
        if (pthread_create(&lanes[i].thread, NULL, ask_lane, &lanes[i]) != 0) {
            (void)ask_lane(&lanes[i]); /* here, then */
            lanes[i].thread = pthread_self();
        }
    }
    for (size_t i = 0; i < LANES; i++) {
        if (!pthread_equal(lanes[i].thread, pthread_self())) {
            pthread_join(lanes[i].thread, NULL);
        }
        violations += lanes[i].violations;
    }
    return violations;
}

/* ---- what is in the tables ---- */

static int64_t number(sqlite3_stmt *statement, const char *id, int column)
{
    sqlite3_reset(statement);
    sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
    return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, column) : -1;
}

static void judge_rows(const struct torture_clients *clients, sqlite3_stmt *row, sqlite3_stmt *logs,
                       unsigned *violations)
{
    for (size_t i = 0; i < torture_clients_count(clients); i++) {
        const struct torture_entry *entry = torture_clients_entry(clients, i);
        char id[40];
        char what[120];
        torture_clients_id(i, id);
        if (!entry->started || (torture_kinds[entry->kind].needs && !entry->supplied)) {
            continue;
        }
        if (number(row, id, 0) != STATE_COMPLETED) {
            violation(violations, id, "has no row that says Completed");
        }
        int64_t ran = number(logs, id, 0);
        int64_t span = sqlite3_column_int64(logs, 1);
        int64_t all = sqlite3_column_int64(logs, 2);
        if (ran != torture_kinds[entry->kind].calls || span != all) {
            snprintf(what, sizeof what, "has %lld of %u logs of its modules, %lld logs over %lld",
                     (long long)ran, torture_kinds[entry->kind].calls, (long long)all,
                     (long long)span);
            violation(violations, id, what);
        }
    }
}

unsigned torture_verdict_audit(const struct torture_clients *clients,
                               const struct torture_engine *engine)
{
    static const char rows[] = "SELECT State FROM ExecutionAudits WHERE ExecutionId=?";
    static const char logs[] =
        "SELECT sum(Message='ran'), max(LogIndex)-min(LogIndex)+1, count(*) FROM ExecutionLogs "
        "WHERE ExecutionId=?";
    char file[192];
    unsigned violations = 0;
    sqlite3 *database = NULL;
    sqlite3_stmt *row = NULL;
    sqlite3_stmt *log = NULL;
    snprintf(file, sizeof file, "%s/data/audit.db", engine->directory);
    if (sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(database, rows, -1, &row, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(database, logs, -1, &log, NULL) != SQLITE_OK) {
        violation(&violations, "audit.db", sqlite3_errmsg(database));
    } else {
        judge_rows(clients, row, log, &violations);
    }
    sqlite3_finalize(row);
    sqlite3_finalize(log);
    sqlite3_close(database);
    return violations;
}

/* ---- what the front says of itself ---- */

/* A gateway that asks again and again would not notice one request that is never answered; the
 * front counts what it holds. */
unsigned torture_verdict_front(const struct torture_engine *engine)
{
    char path[200];
    char line[8192];
    unsigned violations = 0;
    bool found = false;
    unsigned long pending = 0;
    snprintf(path, sizeof path, "%s/log", engine->directory);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        fseek(file, (long)engine->log_seen, SEEK_SET);
    }
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *text = strstr(line, "FRONT-CLOSED") != NULL ? strstr(line, "pending") : NULL;
        if (text != NULL) {
            found = true;
            pending = strtoul(text + strcspn(text, "0123456789"), NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (!found) {
        violation(&violations, "the front", "did not say how it closed");
    } else if (pending != 0) {
        snprintf(line, sizeof line, "closed with %lu requests unanswered", pending);
        violation(&violations, "the front", line);
    }
    return violations;
}

/* ---- what modules were told ---- */

struct called {
    char what[120]; /* "execution task key" */
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct called *)a)->what, ((const struct called *)b)->what);
}

static void read_call(const struct test_http_request *request, struct arena *arena,
                      struct called *out)
{
    struct span body = SPAN_EMPTY;
    struct json_error error;
    arena_clear(arena);
    if (json_to_wire(request->body, LIMIT_DEPTH, arena, &body, &error) != RESULT_OK) {
        body = SPAN_EMPTY;
    }
    snprintf(out->what, sizeof out->what, "%.*s %.*s %.*s",
             SPAN_ARG(wire_string_or(wire_find_text(body, "executionId"), "?")),
             SPAN_ARG(wire_string_or(wire_find_text(body, "taskId"), "?")),
             SPAN_ARG(test_http_header(request, "Idempotency-Key")));
}

/* Length of "execution task". */
static size_t task_bytes(const struct called *called)
{
    return (size_t)(strrchr(called->what, ' ') - called->what);
}

unsigned torture_verdict_calls(struct test_http *modules)
{
    size_t count = test_http_count(modules, NULL);
    struct called *calls = calloc(count + 1, sizeof *calls);
    struct test_http_request request;
    struct arena arena;
    unsigned violations = 0;
    arena_init(&arena, 64 << 10, 16 << 20);
    for (size_t i = 0; calls != NULL && i < count && test_http_request(modules, i, &request); i++) {
        read_call(&request, &arena, &calls[i]);
    }
    if (calls != NULL && count > 0) {
        qsort(calls, count, sizeof *calls, compare);
    }
    for (size_t i = 1; calls != NULL && i < count; i++) {
        size_t bytes = task_bytes(&calls[i]);
        if (bytes == task_bytes(&calls[i - 1]) &&
            memcmp(calls[i].what, calls[i - 1].what, bytes) == 0 &&
            strcmp(calls[i].what, calls[i - 1].what) != 0) {
            violation(&violations, calls[i].what, "was called with another Idempotency-Key before");
        }
    }
    arena_release(&arena);
    free(calls);
    return violations;
}
