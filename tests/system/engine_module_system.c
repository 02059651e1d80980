/*
 * engine_module_system.c: executions that call modules over HTTP, over the real actors and stores.
 */
#include "tests/system/engine_host.h"
#include "tests/system/http_server.h"

static const char call[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"call\" isExecutable=\"true\"><startEvent id=\"s\"/><serviceTask "
    "id=\"work\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"work\"/><sequenceFlow id=\"f2\" "
    "sourceRef=\"work\" targetRef=\"e\"/>"
    "</process></definitions>";

static void use_module(struct engine_host *host, struct test_http *server, const char *path)
{
    char url[TEST_HTTP_URL_BYTES];
    char modules[512];
    test_http_url(server, path, url);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\",\"timeoutMs\":5000}]}",
             url);
    host_modules(host, modules);
}

static void answers(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE("a module's answer is merged and the execution ends");
    static const struct test_http_reply replies[] = {
        {.body = "{\"response\":{\"paid\":true},\"execution\":{\"n\":2}}"}};
    test_http_script(server, "/pay", replies, 1);
    use_module(host, server, "/pay");

    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"call\",\"request\":{\"total\":5}}");

    if (!CHECK_OK(reply)) {
        host_print(host, "start", reply);
    }
    CHECK_INT(host_int(reply, "state"), 40);
    CHECK(wire_bool_or(wire_find_text(wire_find_text(reply, "response"), "paid"), false));
    struct test_http_request request;
    REQUIRE(test_http_request(server, test_http_count(server, NULL) - 1, &request));
    CHECK_HAS(request.body, "\"total\":5");
    CHECK_INT((int)test_http_header(&request, "Idempotency-Key").count, 36);
    CHECK_INT((int)test_http_header(&request, "traceparent").count, 55);
}

/* Until the execution is in that state; looks go through the engine, and the retries take a second
 * or two. */
static struct span await_state(struct engine_host *host, struct span id, int64_t state)
{
    struct span got = SPAN_EMPTY;
    for (int i = 0; i < 1500 && host_int(got, "state") != state; i++) {
        usleep(10000);
        got = host_call(host, "{\"op\":\"get\",\"executionId\":\"%.*s\"}", SPAN_ARG(id));
    }
    CHECK_INT(host_int(got, "state"), state);
    return got;
}

static void retries(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE("503 twice, then 200: Waiting (retry) at first, three attempts with one key, then "
               "Completed");
    static const struct test_http_reply replies[] = {
        {.status = 503}, {.status = 503}, {.body = "{}"}};
    test_http_script(server, "/flaky", replies, 3);
    use_module(host, server, "/flaky");
    size_t before = test_http_count(server, NULL);

    struct span reply = host_call(host, "{\"op\":\"start\",\"process\":\"call\"}");

    CHECK_TEXT(host_text(reply, "status"), "Waiting");
    CHECK_TEXT(host_text(wire_at(wire_find_text(reply, "waiting"), 0), "kind"), "retry");
    await_state(host, host_text(reply, "executionId"), 40);
    CHECK_INT(test_http_count(server, "/flaky"), 3);
    struct test_http_request first, last;
    REQUIRE(test_http_request(server, before, &first) &&
            test_http_request(server, before + 2, &last));
    CHECK(span_equal(test_http_header(&first, "Idempotency-Key"),
                     test_http_header(&last, "Idempotency-Key")));
}

static void fails_for_good(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE(
        "404: failed at once; an operator's retry, after the module is mended, goes on from there");
    static const struct test_http_reply missing[] = {{.status = 404}};
    static const struct test_http_reply mended[] = {{.body = "{}"}};
    test_http_script(server, "/gone", missing, 1);
    use_module(host, server, "/gone");

    struct span reply = host_call(host, "{\"op\":\"start\",\"process\":\"call\"}");

    CHECK_INT(host_int(reply, "state"), 24);
    CHECK_TEXT(host_text(reply, "lifecycle"), "Failed");
    CHECK_TEXT(host_error(reply), "ModuleFailed");
    CHECK_INT(test_http_count(server, "/gone"), 1);
    test_http_script(server, "/gone", mended, 1);
    struct span id = host_text(reply, "executionId");
    struct span again =
        host_call(host, "{\"op\":\"retry\",\"executionId\":\"%.*s\"}", SPAN_ARG(id));
    if (!CHECK_OK(again)) {
        host_print(host, "retry", again);
    }
    CHECK_INT(host_int(again, "state"), 40);
}

/* Seed 004: suspension and abort reach the block's handler, here a module that asks for it. */
static void is_told_of_suspension_and_abort(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE("a module with cancel is told of suspend and abort, with a key of its own");
    static const struct test_http_reply replies[] = {{.body = "{\"wait\":true}"}, {.status = 500}};
    char url[TEST_HTTP_URL_BYTES];
    char modules[512];
    test_http_script(server, "/told", replies, 2);
    test_http_url(server, "/told", url);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\",\"cancel\":true}]}",
             url);
    host_modules(host, modules);
    size_t before = test_http_count(server, NULL);

    CHECK_INT(host_int(host_call(host, "{\"op\":\"start\",\"process\":\"call\","
                                       "\"executionId\":\"told\"}"),
                       "state"),
              3);
    CHECK_TEXT(
        host_text(host_call(host, "{\"op\":\"suspend\",\"executionId\":\"told\"}"), "lifecycle"),
        "Suspended");
    CHECK(test_http_wait(server, "/told", 2, 10000));
    CHECK_OK(host_call(host, "{\"op\":\"resume\",\"executionId\":\"told\"}"));
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"abort\",\"executionId\":\"told\"}")),
               "Aborted");
    CHECK(test_http_wait(server, "/told", 3, 10000));
    struct test_http_request suspended, aborted;
    REQUIRE(test_http_request(server, before + 1, &suspended) &&
            test_http_request(server, before + 2, &aborted));
    CHECK_HAS(suspended.body, "\"phase\":\"cancel\"");
    CHECK_HAS(suspended.body, "\"reason\":\"suspended\"");
    CHECK_HAS(aborted.body, "\"reason\":\"aborted\"");
    CHECK_HAS(test_http_header(&aborted, "Idempotency-Key"), "/cancel");
    CHECK_TEXT(host_text(host_call(host, "{\"op\":\"get\",\"executionId\":\"told\"}"), "status"),
               "Stopped");
}

static void nobody_listens(struct engine_host *host)
{
    CHECK_CASE("nothing listens: retried, then MaxRetriesExceeded");
    host_modules(host, "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"http://"
                       "127.0.0.1:9/\",\"maxAttempts\":2}]}");

    struct span reply = host_call(host, "{\"op\":\"start\",\"process\":\"call\"}");

    CHECK_TEXT(host_text(reply, "status"), "Waiting");
    struct span got = await_state(host, host_text(reply, "executionId"), 24);
    CHECK_TEXT(host_error(got), "MaxRetriesExceeded");
}

static void times_out(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE("timeoutMs: the caller hears Timeout, the segment goes on, a repeat attaches to it");
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    test_http_script(server, "/slow", gated, 1);
    use_module(host, server, "/slow");
    static const char start[] =
        "{\"op\":\"start\",\"process\":\"call\",\"requestId\":\"slow-1\",\"timeoutMs\":50}";

    struct span timeout = host_call(host, start);
    CHECK_TEXT(host_error(timeout), "Timeout");
    struct span id = host_text(timeout, "executionId");
    CHECK_INT((int)id.count, 36);
    CHECK(test_http_wait(server, "/slow", 1, HOST_TIMEOUT_MS));
    CHECK_CASE(
        "the same again while it runs attaches: one execution, one call, one reply for both");
    static const char patient[] =
        "{\"op\":\"start\",\"process\":\"call\",\"requestId\":\"slow-2\"}";
    uint64_t one = host_send(host, patient);
    CHECK(test_http_wait(server, "/slow", 2, HOST_TIMEOUT_MS));
    uint64_t two = host_send(host, patient);
    CHECK_OK(host_call(host, "{\"op\":\"get\",\"executionId\":\"%.*s\"}", SPAN_ARG(id)));
    test_http_release(server, 2);
    uint64_t tickets[2];
    struct span first = host_next_reply(host, &tickets[0]);
    struct span second = host_next_reply(host, &tickets[1]);
    CHECK(tickets[0] + tickets[1] == one + two);
    CHECK(span_equal(first, second));
    CHECK_INT(host_int(first, "state"), 40);
    CHECK_INT(test_http_count(server, "/slow"), 2);
    await_state(host, id, 40);
    CHECK_CASE("and the first one's final reply is what its requestId is remembered by");
    CHECK_INT(host_int(host_call(host, start), "state"), 40);
}

static void callback_during_call(struct engine_host *host, struct test_http *server)
{
    CHECK_CASE("deleting an execution whose module works: the late answer is ignored");
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    test_http_script(server, "/late", gated, 1);
    use_module(host, server, "/late");
    uint64_t start =
        host_send(host, "{\"op\":\"start\",\"process\":\"call\",\"executionId\":\"late-1\"}");
    CHECK(test_http_wait(server, "/late", 1, HOST_TIMEOUT_MS));
    uint64_t delete = host_send(host, "{\"op\":\"delete\",\"executionId\":\"late-1\"}");
    uint64_t tickets[2];
    struct span replies[2] = {host_next_reply(host, &tickets[0]),
                              host_next_reply(host, &tickets[1])};
    struct span started = tickets[0] == start ? replies[0] : replies[1];
    struct span deleted = tickets[0] == delete ? replies[0] : replies[1];
    CHECK_TEXT(host_error(started), "Aborted");
    CHECK_OK(deleted);
    test_http_release(server, 1);
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"get\",\"executionId\":\"late-1\"}")),
               "SessionNotFound");
}

static void overloads(void)
{
    CHECK_CASE("more than may wait: Overloaded at once, and those that wait are served");
    enum { COUNT = 40, WAITING = 8 };
    char directory[128];
    struct engine_host host;
    struct actor_runtime_options options = host_defaults();
    options.requests_pending_max = WAITING;
    host_directory(directory);
    host_open(&host, directory, options);
    host_deploy(&host, "call.bpmn", call);
    struct test_http *server = test_http_start();
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    test_http_script(server, "/", gated, 1);
    use_module(&host, server, "/");
    int overloaded = 0;
    int completed = 0;
    for (int i = 0; i < COUNT; i++) {
        overloaded += host_send(&host, "{\"op\":\"start\",\"process\":\"call\"}") == 0 ? 1 : 0;
    }
    for (int i = overloaded; i < COUNT - WAITING; i++) {
        uint64_t ticket;
        overloaded += span_is(host_error(host_next_reply(&host, &ticket)), "Overloaded") ? 1 : 0;
    }
    test_http_release(server, COUNT);
    for (int i = 0; i < WAITING; i++) {
        uint64_t ticket;
        completed += host_int(host_next_reply(&host, &ticket), "state") == 40 ? 1 : 0;
    }
    CHECK_INT(completed, WAITING);
    CHECK_INT(overloaded, COUNT - WAITING);
    host_close(&host);
    test_http_stop(server);
    host_remove_directory(directory);
}

int main(void)
{
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, host_defaults());
    host_deploy(&host, "call.bpmn", call);
    struct test_http *server = test_http_start();
    answers(&host, server);
    retries(&host, server);
    fails_for_good(&host, server);
    is_told_of_suspension_and_abort(&host, server);
    nobody_listens(&host);
    times_out(&host, server);
    callback_during_call(&host, server);
    host_close(&host);
    test_http_stop(server);
    host_remove_directory(directory);
    overloads();
    return check_report();
}
