/*
 * engine_message_system.c: messages and signals over the real actors and stores: before and after
 * the wait, each taken once, across a kill, and as starts. F65 to F71.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/system/engine_host.h"

#define FILE_OF(parts)                                                                             \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "                            \
    "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'>"                                           \
    "<message id='m' name='paid'><extensionElements><zeebe:subscription "                          \
    "correlationKey='=order'/></extensionElements></message><message id='n' name='ordered'/>"      \
    "<message id='any' name='anything'/><signal id='g' name='stop'/>" parts "</definitions>"
#define FLOW(id, from, to) "<sequenceFlow id='" id "' sourceRef='" from "' targetRef='" to "'/>"
#define CATCH(process, event)                                                                      \
    "<process id='" process "' isExecutable='true'><startEvent id='s'/>"                           \
    "<intermediateCatchEvent id='c'>" event                                                        \
    "</intermediateCatchEvent><endEvent id='e'/>" FLOW("f1", "s", "c")                             \
        FLOW("f2", "c", "e") "</process>"

static const struct {
    const char *name;
    const char *content;
} files[] = {
    {"pay.bpmn", FILE_OF(CATCH("pay", "<messageEventDefinition messageRef='m'/>"))},
    {"take.bpmn", FILE_OF(CATCH("take", "<messageEventDefinition messageRef='any'/>"))},
    {"halt.bpmn", FILE_OF(CATCH("halt", "<signalEventDefinition signalRef='g'/>"))},
    {"send.bpmn",
     FILE_OF("<process id='send' isExecutable='true'><startEvent id='s'/><intermediateThrowEvent "
             "id='t'><messageEventDefinition messageRef='m'/></intermediateThrowEvent><endEvent "
             "id='e'/>" FLOW("f1", "s", "t") FLOW("f2", "t", "e") "</process>")},
    {"order.bpmn",
     FILE_OF("<process id='order' isExecutable='true'><startEvent id='s'><messageEventDefinition "
             "messageRef='n'/></startEvent><userTask id='u'/><endEvent id='e'/>" FLOW(
                 "f1", "s", "u") FLOW("f2", "u", "e") "</process>")},
};

static void deploy(struct engine_host *host)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        host_deploy(host, files[i].name, files[i].content);
    }
}

static int64_t state_of(struct engine_host *host, const char *id)
{
    return host_int(host_call(host, "{\"op\":\"get\",\"executionId\":\"%s\"}", id), "state");
}

/* Delivery is not part of any reply: asked until it is so. */
static void await_state(struct engine_host *host, const char *id, int64_t state)
{
    int64_t found = -1;
    for (int i = 0; i < 20000 && found != state; i++) {
        found = state_of(host, id);
        arena_clear(&host->arena);
    }
    CHECK_INT(found, state);
}

static void start(struct engine_host *host, const char *process, const char *id, const char *order)
{
    CHECK_OK(host_call(host,
                       "{\"op\":\"start\",\"process\":\"%s\",\"executionId\":\"%s\",\"execution\":"
                       "{\"order\":\"%s\"}}",
                       process, id, order));
}

static void publish(struct engine_host *host, const char *name, const char *key, const char *more)
{
    CHECK_OK(host_call(
        host,
        "{\"op\":\"message\",\"name\":\"%s\",\"correlationKey\":\"%s\",\"payload\":{\"by\":1}%s}",
        name, key, more));
}

static void correlates(struct engine_host *host)
{
    CHECK_CASE("a message is taken by the wait that is there, by key");
    start(host, "pay", "p-1", "o-1");
    start(host, "pay", "p-2", "o-2");
    publish(host, "paid", "o-2", "");
    await_state(host, "p-2", 40);
    CHECK_INT(state_of(host, "p-1"), 3);

    CHECK_CASE("one that comes before its wait is kept, and taken once");
    publish(host, "paid", "o-3", "");
    start(host, "pay", "p-3", "o-3");
    await_state(host, "p-3", 40);
    start(host, "pay", "p-3b", "o-3");
    CHECK_INT(state_of(host, "p-3b"), 3);

    CHECK_CASE("of two that wait, each takes one");
    start(host, "pay", "p-4", "o-4");
    start(host, "pay", "p-5", "o-4");
    publish(host, "paid", "o-4", "");
    publish(host, "paid", "o-4", "");
    await_state(host, "p-4", 40);
    await_state(host, "p-5", 40);

    CHECK_CASE("a wait without a key takes any");
    start(host, "take", "t-1", "");
    publish(host, "anything", "whatever", "");
    await_state(host, "t-1", 40);

    CHECK_CASE("what an execution publishes takes the same way");
    start(host, "pay", "p-6", "o-6");
    start(host, "send", "s-6", "o-6");
    await_state(host, "p-6", 40);
}

static void expires(struct engine_host *host)
{
    CHECK_CASE("a message whose time to live is over is not taken");
    publish(host, "paid", "o-7", ",\"ttlMs\":0");
    start(host, "pay", "p-7", "o-7");
    start(host, "pay", "p-8", "o-8");
    publish(host, "paid", "o-8", ",\"ttlMs\":0"); /* who is there takes it */
    await_state(host, "p-8", 40);
    CHECK_INT(state_of(host, "p-7"), 3);
}

static void repeats(struct engine_host *host)
{
    CHECK_CASE("a repeated requestId publishes once");
    struct span first =
        arena_copy(&host->arena,
                   host_text(host_call(host, "{\"op\":\"message\",\"name\":\"paid\","
                                             "\"correlationKey\":\"o-9\",\"requestId\":\"m-9\"}"),
                             "messageId"));
    struct span second =
        host_text(host_call(host, "{\"op\":\"message\",\"name\":\"paid\",\"correlationKey\":"
                                  "\"o-9\",\"requestId\":\"m-9\"}"),
                  "messageId");
    CHECK(first.count == 36 && span_equal(first, second));
    start(host, "pay", "p-9", "o-9");
    await_state(host, "p-9", 40);
    start(host, "pay", "p-9b", "o-9");
    CHECK_INT(state_of(host, "p-9b"), 3);
}

static void signals(struct engine_host *host)
{
    CHECK_CASE("a signal reaches all that wait for it, and is not kept");
    start(host, "halt", "h-1", "");
    start(host, "halt", "h-2", "");
    CHECK_OK(host_call(host, "{\"op\":\"signal\",\"name\":\"stop\"}"));
    await_state(host, "h-1", 40);
    await_state(host, "h-2", 40);
    start(host, "halt", "h-3", "");
    CHECK_INT(state_of(host, "h-3"), 3);
}

static int64_t tasks_of(struct engine_host *host)
{
    return wire_count(
        wire_find_text(host_call(host, "{\"op\":\"tasks\",\"process\":\"order\"}"), "tasks"));
}

static void starts(struct engine_host *host)
{
    CHECK_CASE("a message that nobody waits for starts the process that it is the start of, once");
    publish(host, "ordered", "", ",\"requestId\":\"start-1\"");
    publish(host, "ordered", "", ",\"requestId\":\"start-1\"");
    for (int i = 0; i < 20000 && tasks_of(host) == 0; i++) {
        arena_clear(&host->arena);
    }
    CHECK_INT(tasks_of(host), 1);
}

/* Looked at again when all that could come has long been there. */
static void nothing_came_twice(struct engine_host *host)
{
    static const char *const waiting[] = {"p-1", "p-3b", "p-7", "p-9b", "h-3"};
    CHECK_CASE("and who got nothing still waits");
    for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; i++) {
        CHECK_INT(state_of(host, waiting[i]), 3);
    }
    CHECK_INT(tasks_of(host), 1);
}

static void run(uint32_t shard_count, size_t hot_bytes_max)
{
    char directory[128];
    struct engine_host host;
    struct actor_runtime_options options = host_defaults();
    options.shard_count = shard_count;
    options.hot_bytes_max = hot_bytes_max;
    host_directory(directory);
    host_open(&host, directory, options);
    deploy(&host);
    correlates(&host);
    expires(&host);
    repeats(&host);
    signals(&host);
    starts(&host);
    nothing_came_twice(&host);
    publish(&host, "paid", "o-kept", "");
    CHECK_INT(actor_runtime_drain(host.runtime, 20000), RESULT_OK);
    host_close(&host);
    host_open(&host, directory, options);
    CHECK_CASE("after a restart those that wait still listen, and nothing is taken again");
    nothing_came_twice(&host);
    publish(&host, "paid", "o-3", "");
    await_state(&host, "p-3b", 40);
    publish(&host, "paid", "o-1", "");
    await_state(&host, "p-1", 40);
    CHECK_CASE("and what nobody had taken is taken now, from the state table");
    start(&host, "pay", "p-kept", "o-kept");
    await_state(&host, "p-kept", 40);
    host_close(&host);
    host_remove_directory(directory);
}

/* ---- a kill ---- */

enum { KEPT = 200 };

static struct actor_runtime_options killed_options(void)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    return options;
}

static void publish_many(const char *directory, int acknowledged)
{
    struct engine_host *host = malloc(sizeof *host);
    host_open(host, directory, killed_options());
    deploy(host);
    for (int i = 0; i < KEPT; i++) {
        char key[16];
        char id[16];
        snprintf(key, sizeof key, "k-%d", i);
        snprintf(id, sizeof id, "q-%d", i);
        publish(host, "paid", key, "");
        if (i % 2 == 0) { /* some are taken, perhaps, before the kill */
            start(host, "pay", id, key);
        }
    }
    REQUIRE(write(acknowledged, "!", 1) == 1);
}

static void kept_across_a_kill(void)
{
    CHECK_CASE("what was published is taken once, whenever the engine was killed");
    char directory[128];
    char byte;
    int ends[2];
    int status;
    struct engine_host host;
    host_directory(directory);
    REQUIRE(pipe(ends) == 0);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        publish_many(directory, ends[1]);
        for (;;) {
            pause();
        }
    }
    close(ends[1]);
    REQUIRE(read(ends[0], &byte, 1) == 1);
    REQUIRE(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    close(ends[0]);

    host_open(&host, directory, killed_options());
    CHECK_INT(host.recovery.corrupt, 0);
    for (int i = 0; i < KEPT; i++) {
        char key[16];
        char id[16];
        snprintf(key, sizeof key, "k-%d", i);
        snprintf(id, sizeof id, "q-%d", i);
        if (i % 2 == 1) {
            start(&host, "pay", id, key);
        }
        await_state(&host, id, 40);
        snprintf(id, sizeof id, "r-%d", i);
        start(&host, "pay", id, key);
        arena_clear(&host.arena);
    }
    for (int i = 0; i < KEPT; i++) {
        char id[16];
        snprintf(id, sizeof id, "r-%d", i);
        CHECK_INT(state_of(&host, id), 3);
        arena_clear(&host.arena);
    }
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    kept_across_a_kill(); /* first: forks are made of one thread */
    run(1, 0);
    run(3, 0);
    run(2, 1); /* nobody's state is in the hot tier: each must be fetched */
    return check_report();
}
