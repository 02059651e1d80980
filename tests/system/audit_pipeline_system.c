/*
 * audit_pipeline_system.c: engine → RabbitMQ → consumers → PostgreSQL and MariaDB, while all of
 * them are killed: in the end each database holds what the engine's own index holds, each row and
 * log entry once, and the blob folder holds each execution and its steps. Two pipelines run side by
 * side, one a database, with two consumers each.
 *
 *   audit-pipeline-system [EXECUTIONS [DATABASE-DOWN-MS]]     (500 of ten tasks, 2000)
 */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "storage/embedded/embedded.h"
#include "storage/odbc/odbc.h"
#include "tests/servers/databases.h"
#include "tests/servers/rabbitmq.h"
#include "tests/system/program.h"
#include "transport/client.h"

enum {
    EXECUTIONS_DEFAULT = 500,
    DOWN_MS_DEFAULT = 2000,
    CALL_MS = 5000,
    PATIENCE_MS = 300000,
    LOOK_MS = 50,
    TASKS = 10,
    ROUNDS = 5,
};

static struct server broker;

struct pipeline {
    const char *name; /* of its queue too */
    struct server *database;
    bool (*start_database)(struct server *);
    char connection[512];
    char directory[128];
    char listen[160];
    pid_t engine;
    pid_t consumers[2];
    struct transport_client *client;
    uint32_t started;
    uint32_t engine_kills, consumer_kills;
    struct storage_index *index; /* what the consumers have written */
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- processes ---- */

static pid_t spawn(const char *directory, const char *log, const char *database,
                   const char *const *arguments)
{
    char path[256];
    char url[96];
    snprintf(path, sizeof path, "%s/%s", directory, log);
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%u", (unsigned)broker.port);
    setenv("STRIDER_BUS_URL", url, 1);
    setenv("STRIDER_CONSUMER_DATABASE", database, 1);
    return program_spawn(path, arguments);
}

static void start_engine(struct pipeline *pipeline)
{
    char data[160];
    char error[256];
    char queue[64];
    char folder[192];
    snprintf(data, sizeof data, "%s/data", pipeline->directory);
    snprintf(queue, sizeof queue, "bus.queue=%s", pipeline->name);
    snprintf(folder, sizeof folder, "blob.directory=%s/blobs", pipeline->directory);
    /* (Files are synced one by one: the end waits until all of them are there.) */
    const char *const arguments[] = {"strider",  "serve",
                                     "--data",   data,
                                     "--listen", pipeline->listen,
                                     "--admin",  "off",
                                     "--set",    "bus.kind=amqp",
                                     "--set",    queue,
                                     "--set",    "blob.kind=folder",
                                     "--set",    folder,
                                     "--set",    "shutdownTimeout=10min",
                                     NULL};
    if (pipeline->client != NULL) {
        transport_client_close(pipeline->client);
    }
    pipeline->engine = spawn(pipeline->directory, "engine.log", "", arguments);
    REQUIRE(transport_client_open(pipeline->listen, &pipeline->client, error) == RESULT_OK);
}

static void start_consumer(struct pipeline *pipeline, size_t which)
{
    const char *const arguments[] = {"strider",  "consumer", "--queue", pipeline->name,
                                     "--window", "100",      NULL};
    pipeline->consumers[which] =
        spawn(pipeline->directory, "consumer.log", pipeline->connection, arguments);
}

static void open_pipeline(struct pipeline *pipeline)
{
    snprintf(pipeline->directory, sizeof pipeline->directory, "/tmp/strider-pipeline-XXXXXX");
    REQUIRE(mkdtemp(pipeline->directory) != NULL);
    snprintf(pipeline->listen, sizeof pipeline->listen, "ipc://%s/nng", pipeline->directory);
    start_engine(pipeline);
    start_consumer(pipeline, 0);
    start_consumer(pipeline, 1);
}

/* ---- requests ---- */

/* {"ok":true,…}, or an answer that says that it was there already. Asked until it is answered: an
 * engine may be killed at any moment. */
static void call_until_answered(struct pipeline *pipeline, struct span json)
{
    static struct arena arena;
    uint64_t until_ms = now_ms() + PATIENCE_MS;
    struct span request;
    struct json_error where;
    if (arena.block_bytes == 0) {
        arena_init(&arena, 65536, 16u << 20);
    }
    for (bool answered = false; !answered;) {
        struct span reply = SPAN_EMPTY;
        arena_clear(&arena);
        REQUIRE(json_to_wire(json, 64, &arena, &request, &where) == RESULT_OK);
        REQUIRE(now_ms() < until_ms);
        enum result result =
            transport_client_call(pipeline->client, request, CALL_MS, &arena, &reply);
        struct span code =
            wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
        answered = result == RESULT_OK && (wire_bool_or(wire_find_text(reply, "ok"), false) ||
                                           span_is(code, "AlreadyExists"));
        if (result == RESULT_OK && !answered) {
            fprintf(stderr, "  %s: %.*s\n", pipeline->name, SPAN_ARG(code));
            poll(NULL, 0, LOOK_MS);
        }
    }
}

/* Ten log tasks in sequence. */
static void deploy(struct pipeline *pipeline)
{
    static char json[16384];
    static const char head[] =
        "{\"op\":\"deploy\",\"name\":\"ten.bpmn\",\"content\":\"<definitions "
        "xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' xmlns:s='urn:strider:bpmn:1' "
        "targetNamespace='t'><process id='ten' isExecutable='true'><startEvent id='t0'/>";
    size_t used = (size_t)snprintf(json, sizeof json, "%s", head);
    for (int i = 1; i <= TASKS; i++) {
        used += (size_t)snprintf(
            json + used, sizeof json - used,
            "<serviceTask id='t%d' s:type='log'><extensionElements><s:input source='=&quot;entry "
            "%d&quot;' target='message'/></extensionElements></serviceTask><sequenceFlow id='f%d' "
            "sourceRef='t%d' targetRef='t%d'/>",
            i, i, i, i - 1, i);
    }
    used += (size_t)snprintf(json + used, sizeof json - used,
                             "<endEvent id='end'/><sequenceFlow id='f' sourceRef='t%d' "
                             "targetRef='end'/></process></definitions>\"}",
                             TASKS);
    REQUIRE(used < sizeof json);
    call_until_answered(pipeline, span_of(json, used));
}

static void start_executions(struct pipeline *pipeline, uint32_t until)
{
    for (; pipeline->started < until; pipeline->started++) {
        char json[128];
        int count = snprintf(json, sizeof json,
                             "{\"op\":\"start\",\"process\":\"ten\",\"executionId\":\"e-%u\"}",
                             pipeline->started);
        call_until_answered(pipeline, span_of(json, (size_t)count));
    }
}

/* ---- what is in the databases ---- */

static bool has_index(struct pipeline *pipeline)
{
    char why[STORAGE_ODBC_REASON_BYTES];
    struct storage_odbc_options options = {.connection = pipeline->connection, .timeout_s = 10};
    return pipeline->index != NULL ||
           storage_odbc_index_open(&options, &pipeline->index, why) == RESULT_OK;
}

/* Row and logs of an execution as one JSON text; empty unless there is an entry of each task, in
 * order. */
static struct span describe(struct storage_index *index, const char *id, struct arena *arena)
{
    struct span row = SPAN_EMPTY;
    struct span logs = SPAN_EMPTY;
    struct span row_text = SPAN_EMPTY;
    struct span logs_text = SPAN_EMPTY;
    if (index->ops->row(index, span_text(id), arena, &row) != RESULT_OK ||
        index->ops->logs(index, span_text(id), 0, 1000, arena, &logs) != RESULT_OK ||
        json_from_wire(row, JSON_COMPACT, arena, &row_text) != RESULT_OK ||
        json_from_wire(logs, JSON_COMPACT, arena, &logs_text) != RESULT_OK) {
        return SPAN_EMPTY;
    }
    uint32_t in_place = 0;
    for (uint32_t i = 0; i < wire_count(logs); i++) {
        in_place += wire_int_or(wire_find_text(wire_at(logs, i), "index"), -1) == i + 1;
    }
    if (in_place != TASKS || wire_count(logs) != TASKS) {
        return SPAN_EMPTY;
    }
    return arena_format(arena, "%.*s %.*s", SPAN_ARG(row_text), SPAN_ARG(logs_text));
}

/* Are all executions there, as ended? */
static bool is_complete(struct pipeline *pipeline, uint32_t *known)
{
    struct arena arena;
    arena_init(&arena, 65536, 16u << 20);
    while (*known < pipeline->started && has_index(pipeline)) {
        char id[32];
        struct span row;
        snprintf(id, sizeof id, "e-%u", *known);
        arena_clear(&arena);
        if (pipeline->index->ops->row(pipeline->index, span_text(id), &arena, &row) != RESULT_OK ||
            !span_is(wire_string_or(wire_find_text(row, "status"), ""), "Completed")) {
            break;
        }
        (*known)++;
    }
    arena_release(&arena);
    return *known == pipeline->started;
}

static void await_complete(struct pipeline *pipeline)
{
    uint64_t until_ms = now_ms() + PATIENCE_MS;
    uint32_t known = 0;
    while (!is_complete(pipeline, &known) && now_ms() < until_ms) {
        poll(NULL, 0, LOOK_MS);
    }
    CHECK_INT(known, pipeline->started);
}

/* Is there the execution's last snapshot, and a blob of each of its tasks' steps? */
static bool has_blobs(const struct pipeline *pipeline, const char *id)
{
    char path[224];
    uint32_t steps = 0;
    bool snapshot = false;
    snprintf(path, sizeof path, "%s/blobs/default/%s", pipeline->directory, id);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        bool is_snapshot = strcmp(entry->d_name, "execution.msgpack") == 0;
        snapshot = snapshot || is_snapshot;
        steps += !is_snapshot && strstr(entry->d_name, ".msgpack") != NULL;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return snapshot && steps >= TASKS;
}

/* The engine has ended, so its own index is whole: it says what the database must hold. */
static void compare(struct pipeline *pipeline)
{
    char path[192];
    uint32_t same = 0;
    uint32_t stored = 0;
    struct storage_index *own = NULL;
    struct arena arena;
    arena_init(&arena, 65536, 64u << 20);
    snprintf(path, sizeof path, "%s/data/audit.db", pipeline->directory);
    REQUIRE(storage_sqlite_index_open(path, &own) == RESULT_OK);
    for (uint32_t i = 0; i < pipeline->started; i++) {
        char id[32];
        snprintf(id, sizeof id, "e-%u", i);
        arena_clear(&arena);
        struct span expected = describe(own, id, &arena);
        struct span found = describe(pipeline->index, id, &arena);
        same += expected.count > 0 && span_equal(found, expected);
        stored += has_blobs(pipeline, id);
        if (!span_equal(found, expected) && same + 3 > i) {
            fprintf(stderr, "  %s: %.*s\n  expected %.*s\n", id, SPAN_ARG(found),
                    SPAN_ARG(expected));
        }
    }
    CHECK_INT(same, pipeline->started);
    CHECK_INT(stored, pipeline->started);
    fprintf(stderr,
            "  %s: of %u executions %u rows with %u logs each are the engine's own, %u have all "
            "their blobs; consumers killed %u times, engine %u times, database once\n",
            pipeline->name, pipeline->started, same, (unsigned)TASKS, stored,
            pipeline->consumer_kills, pipeline->engine_kills);
    own->ops->close(own);
    arena_release(&arena);
}

/* ---- trouble ---- */

static void restart_broker(void)
{
    server_kill(&broker);
    REQUIRE(server_rabbitmq_start(&broker));
}

static void kill_engine(struct pipeline *pipeline)
{
    CHECK(WIFSIGNALED(program_end(&pipeline->engine, SIGKILL)));
    pipeline->engine_kills++;
    start_engine(pipeline);
}

static void kill_consumer(struct pipeline *pipeline, uint32_t round)
{
    CHECK(WIFSIGNALED(program_end(&pipeline->consumers[round % 2], SIGKILL)));
    pipeline->consumer_kills++;
    start_consumer(pipeline, round % 2);
}

/* Round by round something else is killed, in the midst of the others' work. */
static void run_rounds(struct pipeline *pipelines, size_t count, uint32_t executions, int down_ms)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            struct pipeline *pipeline = &pipelines[i];
            start_executions(pipeline, executions * (2 * round + 1) / (2 * ROUNDS));
            kill_consumer(pipeline, round);
            if (round > 0 && round < 4) {
                kill_engine(pipeline);
            }
            if (round == 2) {
                server_kill(pipeline->database);
            }
            start_executions(pipeline, executions * (2 * round + 2) / (2 * ROUNDS));
        }
        if (round == 2) {
            poll(NULL, 0, down_ms);
            for (size_t i = 0; i < count; i++) {
                REQUIRE(pipelines[i].start_database(pipelines[i].database));
            }
        }
        if (round == 1 || round == 3) {
            restart_broker();
        }
    }
}

static void close_pipeline(struct pipeline *pipeline)
{
    await_complete(pipeline);
    for (size_t i = 0; i < 2; i++) {
        int status = program_end(&pipeline->consumers[i], SIGTERM);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    int status = program_end(&pipeline->engine, SIGTERM);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    compare(pipeline);
    transport_client_close(pipeline->client);
    if (pipeline->index != NULL) {
        pipeline->index->ops->close(pipeline->index);
    }
    server_remove(pipeline->database);
    struct server place = {0}; /* (a directory without a server) */
    snprintf(place.directory, sizeof place.directory, "%s", pipeline->directory);
    server_remove(&place);
}

static bool may_run(void)
{
    const struct {
        bool (*installed)(void);
        const char *name;
    } needs[] = {{server_rabbitmq_installed, "rabbitmq"},
                 {server_postgresql_installed, "postgresql"},
                 {server_mariadb_installed, "mariadb"}};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (!needs[i].installed()) {
            printf("ok 1 - audit pipeline # SKIP %s is not installed\n", needs[i].name);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    uint32_t executions = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : EXECUTIONS_DEFAULT;
    int down_ms = argc > 2 ? (int)strtol(argv[2], NULL, 10) : DOWN_MS_DEFAULT;
    struct server postgresql = {0};
    struct server mariadb = {0};
    struct pipeline pipelines[] = {
        {.name = "audit-pg", .database = &postgresql, .start_database = server_postgresql_start},
        {.name = "audit-my", .database = &mariadb, .start_database = server_mariadb_start}};
    if (!may_run()) {
        return 0;
    }
    CHECK_CASE("broker, database, engine and consumers are killed: each row and log is there once");
    REQUIRE(server_rabbitmq_start(&broker));
    REQUIRE(server_postgresql_start(&postgresql) && server_mariadb_start(&mariadb));
    snprintf(pipelines[0].connection, sizeof pipelines[0].connection,
             "Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=%u;Database=postgres;UID=strider;"
             "PWD=secret",
             (unsigned)postgresql.port);
    snprintf(pipelines[1].connection, sizeof pipelines[1].connection,
             "Driver=MariaDB Unicode;Server=127.0.0.1;Port=%u;Database=pipeline;UID=strider;"
             "PWD=secret",
             (unsigned)mariadb.port);
    for (size_t i = 0; i < 2; i++) {
        open_pipeline(&pipelines[i]);
        deploy(&pipelines[i]);
    }
    run_rounds(pipelines, 2, executions / 2, down_ms);
    for (size_t i = 0; i < 2; i++) {
        close_pipeline(&pipelines[i]);
    }
    server_rabbitmq_remove(&broker);
    return check_report();
}
