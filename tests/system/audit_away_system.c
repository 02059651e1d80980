/*
 * audit_away_system.c: the broker is away while executions go on: the engine keeps on answering,
 * the messages wait in its journal and not in its memory, and when the broker is back all of them
 * come, each execution's in their order.
 *
 *   audit-away-system [MESSAGES]     (6,000; docs/performance.md has the figures of 200,000)
 *
 * The engine's memory is compared with its own: as many messages were written before, with the
 * broker there. Then the same with durability off, over an orderly stop while the broker is away.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "actors/waiter.h"
#include "audit/amqp/amqp.h"
#include "proto/message.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/servers/rabbitmq.h"
#include "tests/system/program.h"
#include "transport/client.h"

enum {
    MESSAGES_DEFAULT = 6000,
    CALLERS = 8,
    CALL_MS = 60000,
    PATIENCE_MS = 600000,
    LOOK_MS = 10,
    WINDOW = 1024,
    GROWTH_KIB_MAX = 20 << 10,
    MESSAGE_BYTES_MIN = 200, /* of one in the journal; it is more */
};

struct memory {
    long rss_kib, anonymous_kib;
};

struct world {
    struct server broker;
    const char *queue;
    const char *durability;
    char directory[128];
    char listen[160];
    char url[96];
    pid_t engine;
    struct transport_client *client;
    atomic_uint next; /* execution to start; relaxed: nothing else is read by it */
    uint32_t until;
    /* what has come: by execution, the newest revision */
    struct actor_waiter received;
    struct audit_source *source;
    uint8_t *revisions;
    uint32_t executions;
    uint32_t whole;
    uint32_t disordered;
};

static struct world world;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the engine ---- */

static void start_engine(void)
{
    char log[160];
    char data[160];
    char error[256];
    char queue[64];
    char durability[64];
    snprintf(log, sizeof log, "%s/engine.log", world.directory);
    snprintf(data, sizeof data, "%s/data", world.directory);
    snprintf(queue, sizeof queue, "bus.queue=%s", world.queue);
    snprintf(durability, sizeof durability, "engine.durability=%s", world.durability);
    const char *const arguments[] = {"strider",    "serve",   "--data", data,       "--listen",
                                     world.listen, "--admin", "off",    "--set",    "bus.kind=amqp",
                                     "--set",      queue,     "--set",  durability, NULL};
    setenv("STRIDER_BUS_URL", world.url, 1);
#if defined(__SANITIZE_ADDRESS__)
    /* What was freed must not count. */
    setenv("ASAN_OPTIONS", "quarantine_size_mb=0:thread_local_quarantine_size_kb=0", 1);
#endif
    world.engine = program_spawn(log, arguments);
    REQUIRE(transport_client_open(world.listen, &world.client, error) == RESULT_OK);
}

static struct memory memory_now(void)
{
    char path[64];
    char line[256];
    struct memory memory = {0};
    snprintf(path, sizeof path, "/proc/%d/status", (int)world.engine);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "VmRSS: %ld", &memory.rss_kib);
        (void)sscanf(line, "RssAnon: %ld", &memory.anonymous_kib);
    }
    fclose(file);
    REQUIRE(memory.rss_kib > 0);
    return memory;
}

static void keep_larger(struct memory *peak)
{
    struct memory now = memory_now();
    peak->rss_kib = now.rss_kib > peak->rss_kib ? now.rss_kib : peak->rss_kib;
    peak->anonymous_kib =
        now.anonymous_kib > peak->anonymous_kib ? now.anonymous_kib : peak->anonymous_kib;
}

/* ---- executions ---- */

static bool call(const char *json, struct arena *arena, struct span *reply)
{
    struct span request;
    struct json_error where;
    *reply = SPAN_EMPTY;
    arena_clear(arena);
    REQUIRE(json_to_wire(span_text(json), 64, arena, &request, &where) == RESULT_OK);
    enum result result = transport_client_call(world.client, request, CALL_MS, arena, reply);
    return result == RESULT_OK && wire_bool_or(wire_find_text(*reply, "ok"), false);
}

/* What the journal keeps because somebody has not got it yet. */
static int64_t journal_bytes(void)
{
    struct arena arena;
    struct span reply;
    arena_init(&arena, 65536, 16u << 20);
    REQUIRE(call("{\"op\":\"stats\"}", &arena, &reply));
    int64_t bytes = wire_int_or(wire_find_text(reply, "journalBytes"), -1);
    arena_release(&arena);
    REQUIRE(bytes >= 0);
    return bytes;
}

static void *start_some(void *argument)
{
    (void)argument;
    struct arena arena;
    struct span reply;
    char json[128];
    uint32_t number;
    arena_init(&arena, 65536, 16u << 20);
    while ((number = atomic_fetch_add_explicit(&world.next, 1, memory_order_relaxed)) <
           world.until) {
        snprintf(json, sizeof json,
                 "{\"op\":\"start\",\"process\":\"one\",\"executionId\":\"e-%u\"}",
                 (unsigned)number);
        CHECK(call(json, &arena, &reply));
    }
    arena_release(&arena);
    return NULL;
}

/* Two messages each, the second with a log entry. Looks at the engine's memory meanwhile. */
static struct memory run_executions(uint32_t until)
{
    pthread_t callers[CALLERS];
    struct memory peak = {0};
    uint32_t from = world.until;
    atomic_store(&world.next, from);
    world.until = until;
    for (int i = 0; i < CALLERS; i++) {
        REQUIRE(pthread_create(&callers[i], NULL, start_some, NULL) == 0);
    }
    while (atomic_load_explicit(&world.next, memory_order_relaxed) < until) {
        keep_larger(&peak);
        poll(NULL, 0, LOOK_MS);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
    }
    keep_larger(&peak);
    return peak;
}

static void deploy(void)
{
    struct arena arena;
    struct span reply;
    arena_init(&arena, 65536, 16u << 20);
    REQUIRE(call("{\"op\":\"deploy\",\"name\":\"one.bpmn\",\"content\":\"<definitions "
                 "xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' xmlns:s='urn:strider:bpmn:1' "
                 "targetNamespace='t'><process id='one' isExecutable='true'><startEvent id='a'/>"
                 "<serviceTask id='b' s:type='log'><extensionElements><s:input "
                 "source='=&quot;entry&quot;' target='message'/></extensionElements></serviceTask>"
                 "<endEvent id='c'/><sequenceFlow id='f' sourceRef='a' targetRef='b'/>"
                 "<sequenceFlow id='g' sourceRef='b' targetRef='c'/></process></definitions>\"}",
                 &arena, &reply));
    arena_release(&arena);
}

/* ---- what comes ---- */

static void open_source(void)
{
    char reason[AUDIT_REASON_BYTES] = "";
    struct audit_amqp_options amqp = {.url = world.url, .queue = world.queue};
    struct audit_source_options options = {.window = WINDOW, .owner.sink = &world.received.sink};
    REQUIRE(audit_amqp_source_open(&amqp, &options, &world.source, reason) == RESULT_OK);
}

/* A message may come twice; what comes for the first time comes in its execution's order. */
static void note(struct span body, struct arena *arena)
{
    struct span map;
    struct json_error where;
    unsigned execution = 0;
    arena_clear(arena);
    REQUIRE(json_to_wire(body, 64, arena, &map, &where) == RESULT_OK);
    struct span id = wire_string_or(wire_find_text(map, "executionId"), "");
    char text[32];
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(id));
    REQUIRE(sscanf(text, "e-%u", &execution) == 1 && execution < world.executions);
    int64_t revision = wire_int_or(wire_find_text(map, "revision"), 0);
    uint8_t *newest = &world.revisions[execution];
    if (revision <= *newest) {
        return;
    }
    world.disordered += revision != *newest + 1;
    *newest = (uint8_t)revision;
    world.whole += revision == 2;
}

/* Until all messages of so many executions have come. */
static void receive(uint32_t executions)
{
    struct arena arena;
    uint64_t until_ms = now_ms() + PATIENCE_MS;
    arena_init(&arena, 65536, 16u << 20);
    while (world.whole < executions && now_ms() < until_ms) {
        struct proto_message *message = actor_waiter_next(&world.received, 1000);
        if (message == NULL) {
            continue;
        }
        note(message->as.bus.body, &arena);
        world.source->ops->settle(world.source, message->as.bus.number, AUDIT_ACCEPTED);
        message_free(message);
    }
    arena_release(&arena);
    CHECK_INT(world.whole, executions);
    CHECK_INT(world.disordered, 0);
}

/* ---- all of it ---- */

/* An engine with nothing in it, and a queue of its own. */
static void open_world(const char *queue, const char *durability, uint32_t executions)
{
    world.queue = queue;
    world.durability = durability;
    world.executions = executions;
    world.until = world.whole = world.disordered = 0;
    world.revisions = calloc(executions, sizeof *world.revisions);
    REQUIRE(world.revisions != NULL);
    snprintf(world.directory, sizeof world.directory, "/tmp/strider-away-XXXXXX");
    REQUIRE(mkdtemp(world.directory) != NULL);
    snprintf(world.listen, sizeof world.listen, "ipc://%s/nng", world.directory);
    snprintf(world.url, sizeof world.url, "amqp://guest:guest@127.0.0.1:%u",
             (unsigned)world.broker.port);
    actor_waiter_init(&world.received);
    start_engine();
    deploy();
}

static void stop_engine(void)
{
    int status = program_end(&world.engine, SIGTERM);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    transport_client_close(world.client);
}

static void close_world(void)
{
    stop_engine();
    world.source->ops->close(world.source);
    actor_waiter_release(&world.received);
    free(world.revisions);
    struct server place = {0}; /* (a directory without a server) */
    snprintf(place.directory, sizeof place.directory, "%s", world.directory);
    server_remove(&place);
}

static void print(const char *when, struct memory memory)
{
    fprintf(stderr, "  %s: %ld KiB resident, %ld KiB of it anonymous\n", when, memory.rss_kib,
            memory.anonymous_kib);
}

/* As many messages before as while the broker is away, two of each execution. */
static void keeps_them_on_disk(uint32_t messages)
{
    uint32_t half = messages / 2;
    CHECK_CASE("with the broker there, all messages come: so much memory it takes when warm");
    open_world("away", "sync", messages);
    print("before", memory_now());
    struct memory warm = run_executions(half);
    open_source();
    receive(half);
    keep_larger(&warm);
    print("warm", warm);
    int64_t spool = journal_bytes();

    CHECK_CASE("with the broker away the messages are on disk, not in memory");
    world.source->ops->close(world.source);
    server_kill(&world.broker);
    struct memory away = run_executions(messages);
    int64_t spooled = journal_bytes();
    print("away", away);
    fprintf(stderr, "  the journal keeps %lld bytes, and kept %lld before\n", (long long)spooled,
            (long long)spool);
    CHECK(spooled >= (int64_t)messages * MESSAGE_BYTES_MIN);
    CHECK(away.rss_kib - warm.rss_kib <= GROWTH_KIB_MAX);

    CHECK_CASE("when it is back all come, in the order of each execution");
    REQUIRE(server_rabbitmq_start(&world.broker));
    open_source();
    receive(messages);
    struct memory after = memory_now();
    print("after", after);
    CHECK(after.rss_kib - warm.rss_kib <= GROWTH_KIB_MAX);
    close_world();
}

static void keeps_them_without_durability(void)
{
    enum { SOME = 500 };
    CHECK_CASE("with durability off, too, all messages come while the broker is there");
    open_world("not-durable", "off", SOME * 3);
    (void)run_executions(SOME);
    open_source();
    receive(SOME);

    CHECK_CASE("and those of an engine that stopped in order while the broker was away");
    world.source->ops->close(world.source);
    server_kill(&world.broker);
    (void)run_executions(SOME * 2);
    stop_engine();
    start_engine();
    (void)run_executions(SOME * 3);
    REQUIRE(server_rabbitmq_start(&world.broker));
    open_source();
    receive(SOME * 3);
    close_world();
}

int main(int argc, char **argv)
{
    uint32_t messages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : MESSAGES_DEFAULT;
    REQUIRE(messages >= 2);
    if (!server_rabbitmq_installed()) {
        printf("ok 1 - audit away # SKIP rabbitmq is not installed\n");
        return 0;
    }
    REQUIRE(server_rabbitmq_start(&world.broker));
    keeps_them_on_disk(messages);
    keeps_them_without_durability();
    server_rabbitmq_remove(&world.broker);
    return check_report();
}
