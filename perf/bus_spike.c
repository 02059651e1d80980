/*
 * bus_spike.c: the audit pipeline beside its bare ceilings, in alternating rounds of one run: our
 * bus drain beside a loop of Proton that only sends, and the consumer, for each database that is
 * installed, beside its own source with no database, beside its index with no broker, and beside
 * the database's own client that only inserts the same rows, many a statement. With RabbitMQ,
 * PostgreSQL and MariaDB of its own; docs/performance.md.
 *
 *   bus_spike [MESSAGES [ROUNDS]]        (20000, 3)
 */
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/message.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actors/bus.h"
#include "actors/consumer.h"
#include "actors/loop.h"
#include "actors/waiter.h"
#include "audit/amqp/amqp.h"
#include "audit/file/file.h"
#include "perf/spike.h"
#include "proto/record.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"
#include "storage/file.h"
#include "storage/odbc/odbc.h"
#include "tests/servers/databases.h"
#include "tests/servers/rabbitmq.h"

enum {
    WINDOW = 1024,
    LOGS = 10, /* of an execution: of one of ten steps */
    BATCH = 8,
    PATIENCE_MS = 600000,
    ROUNDS_MAX = 64,
    STATEMENT_ROWS = 500,
    APPLY_MESSAGES = 1000,
    SOURCE_WINDOW = 4096
};

static void psql(const char *option, const char *argument);
static void mariadb_client(const char *option, const char *argument);

/* How long the rounds of one side took. A machine with other work slows some of them down: the
 * median counts. */
struct times {
    double seconds[ROUNDS_MAX];
    uint32_t count;
};

/* A database, and how long each side took with it. */
struct target {
    const char *name;
    const char *driver;
    const char *schema;
    bool (*installed)(void);
    bool (*start)(struct server *server);
    void (*client)(const char *option, const char *argument);
    struct server server;
    char connection[256];
    struct times source, consumer, index, inserts;
};

static struct target targets[] = {
    {.name = "PostgreSQL",
     .driver = "PostgreSQL Unicode",
     .schema = "postgres",
     .installed = server_postgresql_installed,
     .start = server_postgresql_start,
     .client = psql},
    {.name = "MariaDB",
     .driver = "MariaDB Unicode",
     .schema = "pipeline",
     .installed = server_mariadb_installed,
     .start = server_mariadb_start,
     .client = mariadb_client},
};
enum { TARGETS = 2 };
_Static_assert(sizeof targets / sizeof targets[0] == TARGETS, "all of them");

static struct server broker;
static char directory[64];
static char url[96];
static uint32_t messages;

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bus_spike: %s\n", what);
        for (size_t i = 0; i < TARGETS; i++) {
            server_remove(&targets[i].server);
        }
        server_rabbitmq_remove(&broker);
        _exit(1);
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of this process: the servers' is not in it. */
/* ---- messages ---- */

/* Two of each execution: started, and completed with its logs. */
static struct span message_json(struct arena *arena, uint32_t number)
{
    uint32_t execution = number / 2;
    bool ended = number % 2 == 1;
    struct span text = arena_format(
        arena,
        "{\"messageId\":\"01a22d01-ea59-7e02-900b-%012u:%u\",\"executionId\":\"01a22d01-ea59-7e02-"
        "900b-%012u\",\"workspaceId\":\"default\",\"projectId\":\"default\",\"process\":\"order\","
        "\"version\":1,\"isTest\":false,\"run\":1,\"revision\":%u,\"event\":\"%s\",\"state\":%u,"
        "\"status\":\"%s\",\"lifecycle\":\"%s\",\"sequence\":%u,\"startedAt\":\"2026-11-30T10:00:"
        "00.000Z\",\"updatedAt\":\"2026-11-30T10:00:00.000Z\",\"lastPersistedLogIndex\":%u",
        execution, number % 2 + 1, execution, number % 2 + 1, ended ? "completed" : "started",
        ended ? 40u : 1u, ended ? "Completed" : "Running", ended ? "Completed" : "Active",
        ended ? 5u : 0u, ended ? LOGS : 0u);
    for (uint32_t i = 0; ended && i < LOGS; i++) {
        text = arena_format(arena,
                            "%.*s%s{\"index\":%u,\"at\":\"2026-11-30T10:00:00.000Z\",\"level\":"
                            "\"INFO\",\"message\":\"order is looked at\",\"taskId\":\"t%u\"}",
                            SPAN_ARG(text), i == 0 ? ",\"logs\":[" : ",", i + 1, i);
    }
    return arena_format(arena, "%.*s%s}", SPAN_ARG(text), ended ? "]" : "");
}

static struct arena bodies_arena;
static struct span *bodies; /* made once: the bare sender only sends */

static void make_bodies(void)
{
    struct arena arena;
    arena_init(&arena, 1u << 20, 16u << 20);
    arena_init(&bodies_arena, 1u << 20, (size_t)messages * 4096 + (1u << 20));
    bodies = calloc(messages, sizeof *bodies);
    must(bodies != NULL, "no memory");
    for (uint32_t number = 0; number < messages; number++) {
        arena_clear(&arena);
        bodies[number] = arena_copy(&bodies_arena, message_json(&arena, number));
        must(bodies[number].count > 0, "no memory");
    }
    arena_release(&arena);
}

/* ---- the bare sender ---- */

struct bare {
    pn_message_t *message;
    pn_rwbytes_t buffer;
    uint32_t sent;
    uint32_t settled;
    double begin_s;
};

static void bare_send(struct bare *bare, pn_link_t *link)
{
    while (bare->sent < messages && bare->sent - bare->settled < WINDOW &&
           pn_link_credit(link) > 0) {
        struct span body = bodies[bare->sent];
        pn_message_clear(bare->message);
        pn_message_set_durable(bare->message, true);
        pn_message_set_content_type(bare->message, AUDIT_CONTENT_TYPE);
        pn_message_set_inferred(bare->message, true);
        pn_data_put_binary(pn_message_body(bare->message),
                           pn_bytes(body.count, (const char *)body.bytes));
        ssize_t count = pn_message_encode2(bare->message, &bare->buffer);
        pn_delivery(link, pn_dtag((const char *)&bare->sent, sizeof bare->sent));
        pn_link_send(link, bare->buffer.start, (size_t)count);
        pn_link_advance(link);
        bare->sent++;
    }
}

static bool bare_handle(struct bare *bare, pn_event_t *event)
{
    pn_connection_t *peer = pn_event_connection(event);
    pn_event_type_t type = pn_event_type(event);
    if (type == PN_CONNECTION_INIT) {
        pn_connection_open(peer);
        pn_session_t *session = pn_session(peer);
        pn_session_open(session);
        pn_link_t *link = pn_sender(session, "bare");
        pn_terminus_set_address(pn_link_target(link), "/queue/bare");
        pn_terminus_set_durability(pn_link_target(link), PN_DELIVERIES);
        pn_link_open(link);
    } else if (type == PN_LINK_FLOW) {
        bare->begin_s = bare->begin_s == 0 ? now_s() : bare->begin_s;
        bare_send(bare, pn_event_link(event));
    } else if (type == PN_DELIVERY) {
        pn_delivery_t *delivery = pn_event_delivery(event);
        pn_link_t *link = pn_delivery_link(delivery);
        must(pn_delivery_remote_state(delivery) == PN_ACCEPTED, "a bare message was not accepted");
        pn_delivery_settle(delivery);
        bare->settled++;
        bare_send(bare, link);
        if (bare->settled == messages) {
            pn_connection_close(peer);
        }
    }
    must(type != PN_TRANSPORT_ERROR, "the bare connection failed");
    return type != PN_TRANSPORT_CLOSED;
}

/* Seconds. */
static double run_bare(void)
{
    struct bare bare = {.message = pn_message()};
    char address[PN_MAX_ADDR];
    pn_proactor_t *proactor = pn_proactor();
    pn_connection_t *peer = pn_connection();
    pn_transport_t *transport = pn_transport();
    pn_connection_set_user(peer, "guest");
    pn_connection_set_password(peer, "guest");
    pn_sasl_set_allow_insecure_mechs(pn_sasl(transport), true);
    snprintf(address, sizeof address, "127.0.0.1:%u", (unsigned)broker.port);
    pn_proactor_connect2(proactor, peer, transport, address);
    for (bool more = true; more;) {
        pn_event_batch_t *batch = pn_proactor_wait(proactor);
        pn_event_t *event;
        while ((event = pn_event_batch_next(batch)) != NULL) {
            more = bare_handle(&bare, event) && more;
        }
        pn_proactor_done(proactor, batch);
    }
    double seconds = now_s() - bare.begin_s;
    pn_proactor_free(proactor);
    pn_message_free(bare.message);
    free(bare.buffer.start);
    return seconds;
}

/* ---- the drain ---- */

static struct span message_value(struct arena *arena, uint32_t number)
{
    struct span map = SPAN_EMPTY;
    struct json_error error;
    must(json_to_wire(bodies[number], 64, arena, &map, &error) == RESULT_OK,
         "a message is no JSON");
    return map;
}

static void write_journal(struct storage_journal *journal)
{
    struct arena arena;
    uint64_t position;
    arena_init(&arena, 1u << 20, 16u << 20);
    for (uint32_t number = 0; number < messages;) {
        struct wire_writer batch;
        arena_clear(&arena);
        wire_writer_init(&batch, &arena, 16384);
        for (int i = 0; i < BATCH && number < messages; i++, number++) {
            struct proto_record record = {.kind = PROTO_RECORD_AUDIT,
                                          .execution_id = span_text("x"),
                                          .number = number,
                                          .body = message_value(&arena, number)};
            record_write(&batch, &record);
        }
        must(journal->ops->append(journal, wire_writer_span(&batch), &position) == RESULT_OK,
             "the journal takes nothing");
    }
    must(journal->ops->sync(journal, false) == RESULT_OK, "the journal takes nothing");
    arena_release(&arena);
}

static void await_connected(const audit_counter *connected)
{
    for (int i = 0; i < 3000 && atomic_load(connected) == 0; i++) {
        struct timespec moment = {.tv_nsec = 10000000};
        nanosleep(&moment, NULL);
    }
    must(atomic_load(connected) == 1, "no connection to the broker");
}

static double run_drain(struct storage_journal *journal)
{
    struct actor_loop loop;
    struct actor_waiter told;
    struct actor_waiter untold;
    struct audit_bus *bus = NULL;
    struct audit_bus *aside = NULL;
    struct actor_bus *actor = NULL;
    char reason[AUDIT_REASON_BYTES];
    char path[128];
    struct audit_amqp_options amqp = {.url = url, .queue = "drained"};
    snprintf(path, sizeof path, "%s/aside", directory);
    actor_waiter_init(&told);
    actor_waiter_init(&untold);
    must(actor_loop_init(&loop, "bus", 64) == RESULT_OK, "no loop");
    struct audit_bus_options options = {.window = WINDOW, .owner.sink = &loop.sink};
    must(audit_amqp_bus_open(&amqp, &options, &bus, reason) == RESULT_OK, reason);
    options.owner.ticket = ACTOR_BUS_ASIDE;
    must(audit_file_bus_open(path, &options, &aside, reason) == RESULT_OK, reason);
    struct actor_bus_options made = {.bus = bus,
                                     .aside = aside,
                                     .window = WINDOW,
                                     .log = journal,
                                     .journal = &untold.sink,
                                     .storage = &told.sink};
    must(actor_bus_new(&made, &actor) == RESULT_OK, "no bus actor");
    await_connected(&bus->ops->counters(bus)->connected);
    double begin_s = now_s();
    actor_loop_settle(&loop, actor_bus_turn, actor);
    must(actor_loop_start(&loop) == RESULT_OK, "no thread");
    for (uint64_t settled = 0; settled < journal->ops->end(journal);) {
        struct proto_message *drained = actor_waiter_next(&told, PATIENCE_MS);
        must(drained != NULL, "the drain hangs");
        settled = drained->as.drained.durable;
        message_free(drained);
    }
    double seconds = now_s() - begin_s;
    actor_loop_stop(&loop);
    bus->ops->close(bus);
    aside->ops->close(aside);
    actor_bus_free(actor);
    actor_loop_release(&loop);
    actor_waiter_release(&told);
    actor_waiter_release(&untold);
    return seconds;
}

/* ---- the source alone ---- */

/* Accepts each message at once: what the broker delivers when there is no database. */
struct taker {
    struct proto_sink sink;  /* first */
    pthread_mutex_t opening; /* `source` is set behind it: messages may come before that */
    struct audit_source *source;
    atomic_uint taken; /* relaxed: nothing else is read by it */
};

static enum result take(struct proto_sink *sink, struct proto_message **message)
{
    struct taker *taker = (struct taker *)sink;
    pthread_mutex_lock(&taker->opening);
    struct audit_source *source = taker->source;
    pthread_mutex_unlock(&taker->opening);
    source->ops->settle(source, (*message)->as.bus.number, AUDIT_ACCEPTED);
    message_free(*message);
    *message = NULL;
    atomic_fetch_add_explicit(&taker->taken, 1, memory_order_relaxed);
    return RESULT_OK;
}

static double run_source(void)
{
    char reason[AUDIT_REASON_BYTES];
    struct taker taker = {.sink.send = take, .opening = PTHREAD_MUTEX_INITIALIZER};
    struct audit_amqp_options amqp = {.url = url, .queue = "bare"};
    struct audit_source_options options = {.window = SOURCE_WINDOW, .owner.sink = &taker.sink};
    double begin_s = now_s();
    pthread_mutex_lock(&taker.opening);
    must(audit_amqp_source_open(&amqp, &options, &taker.source, reason) == RESULT_OK, reason);
    pthread_mutex_unlock(&taker.opening);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&taker.taken) < messages; i++) {
        struct timespec moment = {.tv_nsec = 1000000};
        nanosleep(&moment, NULL);
    }
    double seconds = now_s() - begin_s;
    must(atomic_load(&taker.taken) == messages, "the source hangs");
    taker.source->ops->close(taker.source);
    return seconds;
}

/* ---- the consumer ---- */

static enum result open_index(void *owner, struct storage_index **out)
{
    char why[STORAGE_ODBC_REASON_BYTES];
    struct storage_odbc_options options = {.connection = owner, .timeout_s = 60};
    return storage_odbc_index_open(&options, out, why);
}

static double run_consumer(struct target *target)
{
    struct actor_loop loop;
    struct audit_source *source = NULL;
    struct audit_bus *aside = NULL;
    struct actor_consumer *consumer = NULL;
    struct storage_index *index = NULL;
    char reason[AUDIT_REASON_BYTES];
    char path[128];
    snprintf(path, sizeof path, "%s/aside", directory);
    must(open_index(target->connection, &index) == RESULT_OK, "the tables cannot be made");
    index->ops->close(index);
    must(actor_loop_init(&loop, "consumer", 64) == RESULT_OK, "no loop");
    struct audit_amqp_options amqp = {.url = url, .queue = "drained"};
    struct audit_bus_options aside_options = {
        .window = 1, .owner = {.sink = &loop.sink, .ticket = ACTOR_BUS_ASIDE}};
    struct audit_source_options options = {.window = SOURCE_WINDOW, .owner.sink = &loop.sink};
    must(audit_file_bus_open(path, &aside_options, &aside, reason) == RESULT_OK, reason);
    double begin_s = now_s();
    double begin_cpu_s = spike_cpu_s();
    must(audit_amqp_source_open(&amqp, &options, &source, reason) == RESULT_OK, reason);
    struct actor_consumer_options made = {
        .source = source, .aside = aside, .open = open_index, .owner = target->connection};
    must(actor_consumer_new(&made, &consumer) == RESULT_OK, "no consumer");
    actor_loop_settle(&loop, actor_consumer_turn, consumer);
    must(actor_loop_start(&loop) == RESULT_OK, "no thread");
    const struct actor_consumer_counters *counters = actor_consumer_counters(consumer);
    for (int i = 0; i < PATIENCE_MS && actor_count_read(&counters->written) < messages; i++) {
        struct timespec moment = {.tv_nsec = 1000000};
        nanosleep(&moment, NULL);
    }
    double seconds = now_s() - begin_s;
    must(actor_count_read(&counters->written) >= messages, "the consumer hangs");
    fprintf(stderr, "(%llu transactions, %.2f s of processor)\n",
            (unsigned long long)actor_count_read(&counters->applies), spike_cpu_s() - begin_cpu_s);
    actor_loop_stop(&loop);
    source->ops->close(source);
    aside->ops->close(aside);
    actor_consumer_free(consumer);
    actor_loop_release(&loop);
    return seconds;
}

/* ---- the index alone ---- */

/* What the consumer does with a database, with no broker beside it. */
static double run_index(struct target *target)
{
    static struct span values[APPLY_MESSAGES];
    struct storage_index *index = NULL;
    struct arena arena;
    double seconds = 0;
    arena_init(&arena, 1u << 20, 64u << 20);
    must(open_index(target->connection, &index) == RESULT_OK, "the tables cannot be used");
    for (uint32_t number = 0; number < messages;) {
        size_t count = 0;
        arena_clear(&arena);
        while (count < APPLY_MESSAGES && number < messages) {
            values[count++] = message_value(&arena, number++);
        }
        double begin_s = now_s();
        must(index->ops->apply(index, values, count, STORAGE_NO_POSITION) == RESULT_OK,
             "the database does not take it");
        seconds += now_s() - begin_s;
    }
    index->ops->close(index);
    arena_release(&arena);
    return seconds;
}

/* ---- the databases' own clients ---- */

static void psql(const char *option, const char *argument)
{
    char program[256];
    char port[8];
    struct server *server = &targets[0].server;
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    const char *const arguments[] = {
        program,   "-q", "-X",       "-h", "127.0.0.1",       "-p",   port,     "-U",
        "strider", "-d", "postgres", "-v", "ON_ERROR_STOP=1", option, argument, NULL};
    must(server_find("psql", "/usr/lib/postgresql/*/bin/psql", program) &&
             server_run(server, arguments),
         "psql failed");
}

static void mariadb_client(const char *option, const char *argument)
{
    char program[256];
    char port[16];
    char statement[256];
    struct server *server = &targets[1].server;
    bool is_file = strcmp(option, "-f") == 0;
    snprintf(port, sizeof port, "--port=%u", (unsigned)server->port);
    snprintf(statement, sizeof statement, "%s%s", is_file ? "source " : "", argument);
    const char *const arguments[] = {program,
                                     "--no-defaults",
                                     "--host=127.0.0.1",
                                     port,
                                     "--user=strider",
                                     "--password=secret",
                                     "--batch",
                                     "-e",
                                     statement,
                                     "pipeline",
                                     NULL};
    must(server_find("mariadb", NULL, program) && server_run(server, arguments), "mariadb failed");
}

static void empty(const struct target *target)
{
    target->client("-c", "TRUNCATE TABLE ExecutionAudits");
    target->client("-c", "TRUNCATE TABLE ExecutionLogs");
}

static double run_client(const struct target *target, const char *path)
{
    double begin_s = now_s();
    target->client("-f", path);
    return now_s() - begin_s;
}

static void write_rows(FILE *file, const char *table, const char *values, bool logs)
{
    uint32_t rows = logs ? messages / 2 * LOGS : messages / 2;
    for (uint32_t row = 0; row < rows; row++) {
        fprintf(file, row % STATEMENT_ROWS == 0 ? "%sINSERT INTO %s VALUES" : ",",
                row == 0 ? "" : ";\n", table);
        fprintf(file, "('01a22d01-ea59-7e02-900b-%012u'", logs ? row / LOGS : row);
        if (logs) {
            fprintf(file, ",%u", row % LOGS + 1);
        }
        fprintf(file, "%s)", values);
    }
    fprintf(file, ";\n");
}

/* The same rows as those of the consumer, as statements of many. */
static void write_sql(const char *path)
{
    FILE *file = fopen(path, "w");
    must(file != NULL, "the statements cannot be written");
    write_rows(file,
               "ExecutionAudits(ExecutionId,MessageId,Run,Revision,WorkspaceId,ProjectId,Process,"
               "Version,Event,State,Status,Lifecycle,Sequence,StartedAt,UpdatedAt,IsTest,"
               "LastPersistedLogIndex)",
               ",'01a22d01-ea59-7e02-900b-000000000000:2',1,2,'default','default','order',1,"
               "'completed','40','Completed','Completed',5,'2026-11-30T10:00:00.000Z',"
               "'2026-11-30T10:00:00.000Z',0,4",
               false);
    write_rows(file, "ExecutionLogs(ExecutionId,LogIndex,At,Level,Message,TaskId)",
               ",'2026-11-30T10:00:00.000Z','INFO','order is looked at','t1'", true);
    must(fclose(file) == 0, "the statements cannot be written");
}

/* ---- all of it ---- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(struct times *times)
{
    qsort(times->seconds, times->count, sizeof times->seconds[0], by_size);
    double upper = times->seconds[times->count / 2];
    return times->count % 2 == 1 ? upper : (upper + times->seconds[times->count / 2 - 1]) / 2;
}

static void print_pair(const char *what, struct times *ours, struct times *bare, double count)
{
    double ours_s = median(ours);
    double bare_s = median(bare);
    printf("{\"what\":\"%s\",\"throughput\":%.0f,\"ceiling\":%.0f,\"ratio\":%.2f}\n", what,
           count / ours_s, count / bare_s, bare_s / ours_s);
}

static struct storage_journal *journal;
static struct storage_files *files;

static void start_servers(void)
{
    must(server_rabbitmq_installed() && server_rabbitmq_start(&broker),
         "RabbitMQ is needed (tools/install-dependencies --servers)");
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%u", (unsigned)broker.port);
    setenv("PGPASSWORD", "secret", 1);
    for (size_t i = 0; i < TARGETS; i++) {
        struct target *target = &targets[i];
        if (target->installed()) {
            must(target->start(&target->server), "a database did not start");
            snprintf(target->connection, sizeof target->connection,
                     "Driver=%s;Server=127.0.0.1;Port=%u;Database=%s;UID=strider;PWD=secret",
                     target->driver, (unsigned)target->server.port, target->schema);
        }
    }
}

static void open_files(void)
{
    char path[160];
    struct storage_journal_options options = {0};
    struct storage_journal_report report;
    snprintf(directory, sizeof directory, "/tmp/strider-bus-spike-XXXXXX");
    must(mkdtemp(directory) != NULL, "no directory");
    snprintf(path, sizeof path, "%s/journal", directory);
    must(storage_posix_new(path, &files) == RESULT_OK &&
             storage_log_open(files, &options, &journal, &report) == RESULT_OK,
         "no journal");
    write_journal(journal);
}

static void close_all(void)
{
    free(bodies);
    arena_release(&bodies_arena);
    storage_log_close(journal);
    storage_posix_free(files);
    for (size_t i = 0; i < TARGETS; i++) {
        server_remove(&targets[i].server);
    }
    server_rabbitmq_remove(&broker);
    struct server place = {0}; /* (a directory without a server) */
    snprintf(place.directory, sizeof place.directory, "%s", directory);
    server_remove(&place);
}

/* The queues are filled by the senders, and emptied by the receivers. */
static void run_target(struct target *target, struct times *bare, struct times *drain)
{
    char path[160];
    double bare_now_s = run_bare();
    double drain_now_s = run_drain(journal);
    double source_s = run_source();
    double consumer_s = run_consumer(target);
    snprintf(path, sizeof path, "%s/rows.sql", target->server.directory);
    write_sql(path);
    empty(target);
    double index_s = run_index(target);
    empty(target);
    double client_s = run_client(target, path);
    empty(target);
    fprintf(stderr,
            "%s: bare %.2f s, drain %.2f s, source alone %.2f s, consumer %.2f s, index alone "
            "%.2f s, client %.2f s\n",
            target->name, bare_now_s, drain_now_s, source_s, consumer_s, index_s, client_s);
    bare->seconds[bare->count++] = bare_now_s;
    drain->seconds[drain->count++] = drain_now_s;
    target->source.seconds[target->source.count++] = source_s;
    target->consumer.seconds[target->consumer.count++] = consumer_s;
    target->index.seconds[target->index.count++] = index_s;
    target->inserts.seconds[target->inserts.count++] = client_s;
}

static void print_target(struct target *target)
{
    char what[128];
    double rows = (double)messages / 2 * (LOGS + 1);
    snprintf(what, sizeof what, "consumer to %s, messages/s, beside its source with no database",
             target->name);
    print_pair(what, &target->consumer, &target->source, messages);
    snprintf(what, sizeof what, "index on %s, rows/s, beside its client that only inserts",
             target->name);
    print_pair(what, &target->index, &target->inserts, rows);
    snprintf(what, sizeof what, "consumer to %s, rows/s, beside its client that only inserts",
             target->name);
    print_pair(what, &target->consumer, &target->inserts, rows);
}

int main(int argc, char **argv)
{
    static struct times bare;
    static struct times drain;
    messages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
    must(messages >= 2 && rounds >= 1 && rounds <= ROUNDS_MAX / TARGETS,
         "usage: bus_spike [MESSAGES [ROUNDS]], 1 to 32 rounds");
    start_servers();
    make_bodies();
    open_files();
    for (uint32_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < TARGETS; i++) {
            if (targets[i].connection[0] != '\0') {
                run_target(&targets[i], &bare, &drain);
            }
        }
    }
    must(bare.count > 0, "PostgreSQL or MariaDB is needed (tools/install-dependencies --servers)");
    print_pair("bus drain, messages/s, beside Proton that only sends", &drain, &bare, messages);
    for (size_t i = 0; i < TARGETS; i++) {
        if (targets[i].connection[0] != '\0') {
            print_target(&targets[i]);
        }
    }
    close_all();
    return 0;
}
