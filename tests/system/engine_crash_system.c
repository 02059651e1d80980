/*
 * engine_crash_system.c: the engine runs in a child process that is killed with SIGKILL; a new one
 * goes on with what is on the disk. Everything acknowledged is there; a module step whose answer
 * was committed does not run again. Without durability the end of what happened may be missing.
 */
#include "tests/system/child.h"
#include "tests/system/engine_host.h"
#include "tests/system/http_server.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char approval[] =
    BPMN "<process id=\"approval\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask "
         "id=\"approve\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "approve")
             FLOW("f2", "approve", "e") "</process></definitions>";

/* Two calls: the first is answered and committed before the kill, the second is not. */
static const char two_calls[] =
    BPMN "<process id=\"two\" isExecutable=\"true\"><startEvent id=\"s\"/><serviceTask "
         "id=\"first\"/><sendTask id=\"second\"/>"
         "<endEvent id=\"e\"/>" FLOW("f1", "s", "first") FLOW("f2", "first", "second")
             FLOW("f3", "second", "e") "</process></definitions>";

/* ---- a thousand that wait ---- */

enum { WAITING = 1000 };

static struct actor_runtime_options options_of(uint32_t shard_count)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = shard_count;
    return options;
}

static void start_thousand(const char *directory, int to)
{
    struct engine_host *host = malloc(sizeof *host);
    host_open(host, directory, options_of(2));
    host_deploy(host, "approval.bpmn", approval);
    for (int i = 0; i < WAITING; i++) {
        REQUIRE(host_send(host,
                          "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"e-%d\","
                          "\"channelSessionId\":\"c-%d\"}",
                          i, i) != 0);
        if (i % 200 == 199) {
            for (int k = 0; k < 200; k++) {
                uint64_t ticket;
                REQUIRE(host_int(host_next_reply(host, &ticket), "state") == 3);
                acknowledge(to);
            }
        }
    }
}

static void thousand_wait_across_a_kill(void)
{
    CHECK_CASE("1,000 wait, kill -9, restart with another number of shards: all get their callback "
               "and complete");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    struct child child = begin(start_thousand, directory);
    await(&child, WAITING);
    kill_now(&child);

    host_open(&host, directory, options_of(3));
    CHECK_INT(host.recovery.executions, WAITING);
    CHECK_INT(host.recovery.corrupt, 0);
    fprintf(stderr, "  recovery took %llu us\n", (unsigned long long)host.recovery.elapsed_us);
    for (int i = 0; i < WAITING; i++) {
        const char *by = i % 2 == 0 ? "\"executionId\":\"e-%d\"" : "\"channelSessionId\":\"c-%d\"";
        char whom[64];
        snprintf(whom, sizeof whom, by, i);
        REQUIRE(host_send(&host, "{\"op\":\"callback\",%s}", whom) != 0);
    }
    int completed = 0;
    for (int i = 0; i < WAITING; i++) {
        uint64_t ticket;
        struct span reply = host_next_reply(&host, &ticket);
        bool ended = host_int(reply, "state") == 40;
        if (!ended && i == completed) {
            host_print(&host, "the first that failed", reply);
        }
        completed += ended ? 1 : 0;
    }
    CHECK_INT(completed, WAITING);
    host_close(&host);

    CHECK_CASE("and a second restart finds none of them waiting, all of them ended");
    host_open(&host, directory, options_of(1));
    CHECK_INT(host.recovery.executions, 0);
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"e-7\"}")),
               "AlreadyFinished");
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"get\",\"executionId\":\"e-8\"}"), "state"), 40);
    host_close(&host);
    host_remove_directory(directory);
}

/* ---- killed at any moment ---- */

/* Starts and calls back without pause; tells of each acknowledgement only after it came. */
static void churn(const char *directory, int to)
{
    struct engine_host *host = malloc(sizeof *host);
    host_open(host, directory, options_of(1));
    host_deploy(host, "approval.bpmn", approval);
    for (int i = 0;; i++) {
        REQUIRE(
            host_int(host_call(
                         host,
                         "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"e-%d\"}", i),
                     "state") == 3);
        acknowledge(to);
        if (i % 2 == 1) {
            struct span done = host_call(
                host, "{\"op\":\"callback\",\"executionId\":\"e-%d\",\"requestId\":\"r-%d\"}", i,
                i);
            REQUIRE(host_int(done, "state") == 40);
            acknowledge(to);
        }
        if (i % 50 == 49) {
            arena_clear(&host->arena);
        }
    }
}

static void killed_at_any_moment(int acknowledged)
{
    CHECK_CASE("killed at any moment: every acknowledged start and callback is there");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    struct child child = begin(churn, directory);
    await(&child, acknowledged);
    kill_now(&child);

    host_open(&host, directory, options_of(1));
    CHECK_INT(host.recovery.corrupt, 0);
    int starts = 0;
    int seen = 0;
    for (int i = 0; seen < acknowledged; i++) {
        int64_t expected = i % 2 == 0 ? 3 : 40;
        bool callback_acknowledged = i % 2 == 1 && seen + 2 <= acknowledged;
        struct span got = host_call(&host, "{\"op\":\"get\",\"executionId\":\"e-%d\"}", i);
        int64_t state = host_int(got, "state");
        CHECK(state == expected || (!callback_acknowledged && state == 3) ||
              (i % 2 == 1 && state == 40));
        if (callback_acknowledged) {
            struct span again = host_call(
                &host, "{\"op\":\"callback\",\"executionId\":\"e-%d\",\"requestId\":\"r-%d\"}", i,
                i);
            CHECK_INT(host_int(again, "state"), 40);
        }
        seen += i % 2 == 0 ? 1 : 2;
        starts++;
    }
    CHECK(starts > 0);
    CHECK_TEXT(host_error(host_call(
                   &host, "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"e-0\"}")),
               "AlreadyExists");
    host_close(&host);
    host_remove_directory(directory);
}

/* ---- without durability ---- */

static struct actor_runtime_options careless(void)
{
    struct actor_runtime_options options = options_of(1);
    options.durability = ACTOR_NOT_DURABLE;
    return options;
}

/* One after the other, each called back before the next one starts. */
static void churn_carelessly(const char *directory, int to)
{
    struct engine_host *host = malloc(sizeof *host);
    host_open(host, directory, careless());
    host_deploy(host, "approval.bpmn", approval);
    for (int i = 0;; i++) {
        REQUIRE(host_int(host_call(host,
                                   "{\"op\":\"start\",\"process\":\"approval\","
                                   "\"executionId\":\"e-%d\",\"requestId\":\"s-%d\"}",
                                   i, i),
                         "state") == 3);
        if (i % 2 == 1) {
            REQUIRE(host_int(host_call(host, "{\"op\":\"callback\",\"executionId\":\"e-%d\"}", i),
                             "state") == 40);
        }
        acknowledge(to);
        if (i % 50 == 49) {
            arena_clear(&host->arena);
        }
    }
}

/* 0: it is not there; else its state, which is one that a commit left. */
static int64_t look_at(struct engine_host *host, int i)
{
    struct span got = host_call(host, "{\"op\":\"get\",\"executionId\":\"e-%d\"}", i);
    if (span_is(host_error(got), "SessionNotFound")) {
        return 0;
    }
    int64_t state = host_int(got, "state");
    CHECK(state == 3 || state == 40);
    return state;
}

/* It goes on from wherever it stands: a repeat of the start means the one that is there, or begins
 * the one that is lost; then it is called back. */
static void goes_on(struct engine_host *host, int i, int64_t state)
{
    struct span reply =
        host_call(host,
                  "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"e-%d\","
                  "\"requestId\":\"s-%d\"}",
                  i, i);
    CHECK_INT(host_int(reply, "state"), 3); /* also of one that has ended: it is the first reply */
    if (state != 40) {
        CHECK_INT(
            host_int(host_call(host, "{\"op\":\"callback\",\"executionId\":\"e-%d\"}", i), "state"),
            40);
    }
    CHECK_INT(look_at(host, i), 40);
}

static void killed_without_durability(int acknowledged)
{
    CHECK_CASE("killed without durability: what is lost is the end of what happened; the rest is "
               "whole and goes on");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    struct child child = begin(churn_carelessly, directory);
    await(&child, acknowledged);
    kill_now(&child);

    host_open(&host, directory, careless());
    CHECK_INT(host.recovery.corrupt, 0);
    int there = 0;
    while (look_at(&host, there) != 0) {
        /* With a later one there, each before it has come as far as it ever did. */
        there++;
    }
    for (int i = 0; i + 1 < there; i++) {
        CHECK_INT(look_at(&host, i), i % 2 == 0 ? 3 : 40);
    }
    int beyond = (there > acknowledged ? there : acknowledged) + 20;
    for (int i = there; i < beyond; i++) {
        CHECK_INT(look_at(&host, i), 0);
    }
    fprintf(stderr, "  of %d acknowledged %d are there\n", acknowledged, there);
    int first = there > 20 ? there - 20 : 0;
    for (int i = first; i < there + 3; i++) {
        goes_on(&host, i, look_at(&host, i));
    }
    host_close(&host);

    host_open(&host, directory, options_of(2));
    CHECK_INT(host.recovery.corrupt, 0);
    for (int i = 0; i < there + 3; i++) {
        CHECK_INT(look_at(&host, i), i < first && i % 2 == 0 ? 3 : 40);
    }
    host_close(&host);
    host_remove_directory(directory);
}

/* Replies do not wait for the journal then, so at the end many commits are on their way to it. */
static void stopped_without_durability(void)
{
    enum { STARTS = 400 };
    CHECK_CASE(
        "stopped without durability, and without time to drain: all that was acknowledged is "
        "there");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, careless());
    host_deploy(&host, "approval.bpmn", approval);
    for (int i = 0; i < STARTS; i++) {
        REQUIRE(host_send(&host,
                          "{\"op\":\"start\",\"process\":\"approval\","
                          "\"executionId\":\"e-%d\"}",
                          i) != 0);
    }
    for (int i = 0; i < STARTS; i++) {
        uint64_t ticket;
        CHECK_INT(host_int(host_next_reply(&host, &ticket), "state"), 3);
    }
    host_close(&host);

    host_open(&host, directory, careless());
    CHECK_INT(host.recovery.executions, STARTS);
    for (int i = 0; i < STARTS; i++) {
        CHECK_INT(look_at(&host, i), 3);
    }
    host_close(&host);
    host_remove_directory(directory);
}

/* ---- modules ---- */

static struct test_http *modules;
static char modules_json[1024];

static void start_two(const char *directory, int to)
{
    struct engine_host *host = malloc(sizeof *host);
    ssize_t got = read(told_from, modules_json, sizeof modules_json - 1);
    REQUIRE(got > 0);
    modules_json[got] = '\0';
    host_open(host, directory, options_of(1));
    host_modules(host, modules_json);
    host_deploy(host, "two.bpmn", two_calls);
    REQUIRE(host_send(host, "{\"op\":\"start\",\"process\":\"two\",\"executionId\":\"m-1\","
                            "\"requestId\":\"start-m\"}") != 0);
    acknowledge(to);
}

static void committed_calls_do_not_run_again(void)
{
    CHECK_CASE("a call whose answer was committed does not run again; one in flight does, with the "
               "same key");
    char directory[128];
    char first[TEST_HTTP_URL_BYTES], second[TEST_HTTP_URL_BYTES];
    struct engine_host host;
    static const struct test_http_reply at_once[] = {{.body = "{\"execution\":{\"first\":1}}"}};
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    host_directory(directory);
    struct child child =
        begin(start_two, directory); /* before the server: forks are made of one thread */
    modules = test_http_start();
    test_http_script(modules, "/first", at_once, 1);
    test_http_script(modules, "/second", gated, 1);
    test_http_url(modules, "/first", first);
    test_http_url(modules, "/second", second);
    snprintf(modules_json, sizeof modules_json,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\"},{\"taskTypes\":["
             "\"sendTask\"],\"url\":\"%s\"}]}",
             first, second);
    REQUIRE(write(child.told, modules_json, strlen(modules_json)) > 0);
    await(&child, 1);
    /* The second call is made only after the commit that holds the first one's answer. */
    REQUIRE(test_http_wait(modules, "/second", 1, HOST_TIMEOUT_MS));
    kill_now(&child);

    host_open(&host, directory, options_of(1));
    host_modules(&host, modules_json);
    CHECK_INT(host.recovery.executions, 1);
    CHECK_INT(host.recovery.calls, 1);
    REQUIRE(test_http_wait(modules, "/second", 2, HOST_TIMEOUT_MS));
    test_http_release(modules, 2);
    CHECK_CASE("and the start's requestId still means it: a repeat attaches and hears the end");
    struct span reply = host_call(
        &host,
        "{\"op\":\"start\",\"process\":\"two\",\"executionId\":\"m-1\",\"requestId\":\"start-m\"}");
    if (!CHECK_OK(reply)) {
        host_print(&host, "start", reply);
    }
    CHECK_INT(host_int(reply, "state"), 40);
    CHECK_INT(test_http_count(modules, "/first"), 1);
    CHECK_INT(test_http_count(modules, "/second"), 2);
    struct test_http_request before, after;
    REQUIRE(test_http_request(modules, 1, &before) && test_http_request(modules, 2, &after));
    CHECK(span_equal(test_http_header(&before, "Idempotency-Key"),
                     test_http_header(&after, "Idempotency-Key")));
    host_close(&host);
    test_http_stop(modules);
    host_remove_directory(directory);
}

int main(void)
{
    thousand_wait_across_a_kill();
    static const int moments[] = {1, 2, 3, 10, 57, 300};
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        killed_at_any_moment(moments[i]);
    }
    static const int careless_moments[] = {1, 5, 60, 400};
    for (size_t i = 0; i < sizeof careless_moments / sizeof careless_moments[0]; i++) {
        killed_without_durability(careless_moments[i]);
    }
    stopped_without_durability();
    committed_calls_do_not_run_again();
    return check_report();
}
