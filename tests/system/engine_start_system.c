/*
 * engine_start_system.c: starts over the real actors and stores: what comes back, what is refused,
 * what is remembered.
 */
#include "tests/system/engine_host.h"

static const char startend[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"startend\" isExecutable=\"true\"><startEvent id=\"s\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"e\"/></process></definitions>";

static void starts_and_ends(struct engine_host *host)
{
    CHECK_CASE("a start runs to its end and is answered with the state");
    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"startend\",\"request\":{\"a\":1}}");

    CHECK_OK(reply);
    CHECK_INT(host_int(reply, "state"), 40);
    CHECK_TEXT(host_text(reply, "status"), "Completed");
    CHECK_TEXT(host_text(reply, "lifecycle"), "Completed");
    CHECK_INT(host_int(reply, "sequence"), 2);
    CHECK_INT((int)host_text(reply, "executionId").count, 36);
}

static void asks_for_an_ended_one(struct engine_host *host)
{
    CHECK_CASE("an ended execution is found through index and blob");
    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"startend\",\"request\":{\"a\":7}}");
    struct span id = host_text(reply, "executionId");

    struct span got = host_call(host,
                                "{\"op\":\"get\",\"executionId\":\"%.*s\",\"include\":["
                                "\"payloads\",\"map\",\"logs\",\"definition\"]}",
                                SPAN_ARG(id));

    CHECK_OK(got);
    CHECK_INT(host_int(got, "state"), 40);
    CHECK_INT(wire_int_or(wire_find_text(wire_find_text(got, "request"), "a"), 0), 7);
    CHECK_INT(wire_count(wire_find_text(got, "executionMap")), 2);
    CHECK_HAS(host_text(wire_find_text(got, "definition"), "content"), "startEvent");
    CHECK(wire_is(wire_find_text(got, "logs"), WIRE_ARRAY));
    struct span callback =
        host_call(host, "{\"op\":\"callback\",\"executionId\":\"%.*s\"}", SPAN_ARG(id));
    CHECK_TEXT(host_error(callback), "AlreadyFinished");
    struct span again = host_call(
        host, "{\"op\":\"start\",\"process\":\"startend\",\"executionId\":\"%.*s\"}", SPAN_ARG(id));
    CHECK_TEXT(host_error(again), "AlreadyExists");
    struct span state =
        wire_find_text(wire_find_text(wire_find_text(again, "error"), "details"), "state");
    CHECK_INT(wire_int_or(state, 0), 40);
}

static void lists(struct engine_host *host)
{
    CHECK_CASE("list shows what was started, definitions what was deployed");
    struct span list = SPAN_EMPTY;
    /* With durability off an answer may come before the journal has what it says, and the index
     * follows the journal: each look is a round trip, and the index is there within a few. */
    for (int i = 0; i < 10000 && wire_count(wire_find_text(list, "executions")) < 2; i++) {
        list = host_call(host, "{\"op\":\"list\",\"process\":\"startend\",\"limit\":2}");
    }

    CHECK_OK(list);
    CHECK_INT(wire_count(wire_find_text(list, "executions")), 2);
    struct span definitions = host_call(host, "{\"op\":\"definitions\"}");
    struct span first = wire_at(wire_find_text(definitions, "definitions"), 0);
    CHECK_TEXT(host_text(first, "process"), "startend");
    CHECK_INT(host_int(first, "version"), 1);
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"list\",\"limit\":5000}")), "InvalidRequest");
}

static void refuses(struct engine_host *host)
{
    CHECK_CASE("bad requests are refused by naming what is wrong");
    static const struct {
        const char *request;
        const char *code;
        const char *part;
    } rows[] = {
        {"{\"op\":\"start\"}", "InvalidRequest", "process"},
        {"{\"op\":\"start\",\"process\":\"nowhere\"}", "DefinitionNotFound", "nowhere"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"version\":9}", "DefinitionNotFound",
         "startend"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"executionId\":\"../x\"}", "InvalidRequest",
         "executionId"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"workspaceId\":\".\"}", "InvalidRequest",
         "workspaceId"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"channelSessionId\":\"\\n\"}",
         "InvalidRequest", "channelSessionId"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"request\":[]}", "InvalidRequest", "request"},
        {"{\"op\":\"start\",\"process\":\"startend\",\"wait\":\"never\"}", "InvalidRequest",
         "wait"},
        {"{\"op\":\"callback\"}", "InvalidRequest", "executionId"},
        {"{\"op\":\"callback\",\"executionId\":\"nobody\"}", "SessionNotFound", "no such"},
        {"{\"op\":\"callback\",\"channelSessionId\":\"nobody\"}", "SessionNotFound",
         "channelSessionId"},
        {"{\"op\":\"get\",\"executionId\":\"nobody\"}", "SessionNotFound", "no such"},
        {"{\"op\":\"retry\",\"executionId\":\"nobody\"}", "SessionNotFound", "no such"},
        {"{\"op\":\"delete\",\"executionId\":\"nobody\"}", "SessionNotFound", "no such"},
        {"{\"op\":\"message\",\"correlationKey\":\"x\"}", "InvalidRequest", "name"},
        {"{\"op\":\"deploy\",\"name\":\"x.bpmn\"}", "InvalidRequest", "content"},
        {"{\"op\":\"deploy\",\"name\":\"x.bpmn\",\"content\":\"<a/>\"}", "DefinitionInvalid",
         "errors"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span reply = host_call(host, "%s", rows[i].request);
        bool said = check_text(host_error(reply), rows[i].code, "error code", __FILE__, __LINE__);
        CHECK_HAS(host_text(wire_find_text(reply, "error"), "message"), rows[i].part);
        if (!said) {
            fprintf(stderr, "       %s\n", rows[i].request);
        }
    }
}

static void remembers(struct engine_host *host)
{
    CHECK_CASE("a requestId is answered once, whoever asks again");
    static const char start[] =
        "{\"op\":\"start\",\"process\":\"startend\",\"requestId\":\"r-1\",\"request\":{\"n\":%d}}";
    struct span first = host_call(host, start, 1);
    struct span second = host_call(host, start, 1);
    struct span other = host_call(host, start, 2);

    CHECK_OK(first);
    CHECK(span_equal(first, second));
    CHECK_TEXT(host_error(other), "InvalidRequest");
    struct span elsewhere = host_call(
        host,
        "{\"op\":\"start\",\"workspaceId\":\"w2\",\"process\":\"startend\",\"requestId\":\"r-1\"}");
    CHECK_OK(elsewhere);
    CHECK(!span_equal(host_text(first, "executionId"), host_text(elsewhere, "executionId")));
}

static void versions(struct engine_host *host)
{
    CHECK_CASE("the same bytes make no new version, others do");
    host_deploy(host, "startend.bpmn", startend);
    struct span before = host_call(host, "{\"op\":\"definitions\",\"process\":\"startend\"}");
    CHECK_INT(wire_count(wire_find_text(before, "definitions")), 1);

    char changed[sizeof startend + 1];
    snprintf(changed, sizeof changed, "%s\n", startend);
    host_deploy(host, "startend.bpmn", changed);

    struct span after = host_call(host, "{\"op\":\"definitions\",\"process\":\"startend\"}");
    CHECK_INT(wire_count(wire_find_text(after, "definitions")), 2);
    CHECK_INT(host_int(wire_at(wire_find_text(after, "definitions"), 0), "version"), 2);
    CHECK_OK(host_call(host, "{\"op\":\"start\",\"process\":\"startend\",\"version\":1}"));
}

static void tells_of_itself(struct engine_host *host)
{
    CHECK_CASE("ping, stats, metrics and readiness");
    CHECK_OK(host_call(host, "{\"op\":\"ping\"}"));
    struct span stats = host_call(host, "{\"op\":\"stats\"}");
    CHECK(host_int(stats, "completed") >= 5);
    CHECK_INT(host_int(stats, "pending"), 0);
    struct span text;
    actor_runtime_metrics(host->runtime, &host->arena, &text);
    CHECK_HAS(text, "strider_executions_completed_total{shard=\"0\"} ");
    CHECK_HAS(text, "strider_drain_lag_bytes{drain=\"blob\"} ");
    struct span why;
    CHECK(actor_runtime_ready(host->runtime, &host->arena, &why));
}

static void many_at_once(struct engine_host *host)
{
    CHECK_CASE("a thousand starts in flight are all answered, each once");
    enum { COUNT = 1000 };
    static bool seen[COUNT];
    memset(seen, 0, sizeof seen);
    uint64_t first = host->ticket + 1;
    for (int i = 0; i < COUNT; i++) {
        REQUIRE(host_send(host, "{\"op\":\"start\",\"process\":\"startend\"}") != 0);
    }
    int completed = 0;
    for (int i = 0; i < COUNT; i++) {
        uint64_t ticket;
        struct span reply = host_next_reply(host, &ticket);
        REQUIRE(ticket >= first && ticket < first + COUNT);
        completed += host_int(reply, "state") == 40 && !seen[ticket - first] ? 1 : 0;
        seen[ticket - first] = true;
    }
    CHECK_INT(completed, COUNT);
}

static int64_t commits(struct engine_host *host)
{
    return host_int(host_call(host, "{\"op\":\"stats\"}"), "commits");
}

static void makes_room(struct engine_host *host)
{
    CHECK_CASE("a run whose steps write much makes room for others every now and then");
    enum { TASKS = 100, PAYLOAD_BYTES = 200 << 10 };
    static char text[TASKS * 80 + PAYLOAD_BYTES];
    size_t count =
        (size_t)snprintf(text, sizeof text,
                         "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
                         "<process id=\"long\" isExecutable=\"true\"><startEvent id=\"t0\"/>");
    for (int i = 1; i <= TASKS; i++) {
        count += (size_t)snprintf(
            text + count, sizeof text - count,
            "<task id=\"t%d\"/><sequenceFlow id=\"f%d\" sourceRef=\"t%d\" targetRef=\"t%d\"/>", i,
            i, i - 1, i);
    }
    snprintf(text + count, sizeof text - count, "</process></definitions>");
    host_deploy(host, "long.bpmn", text);
    memset(text, 'x', PAYLOAD_BYTES);
    text[PAYLOAD_BYTES] = '\0';
    int64_t before = commits(host);

    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"long\",\"request\":{\"a\":\"%s\"}}", text);

    CHECK_INT(host_int(reply, "state"), 40);
    CHECK(commits(host) - before >= 3); /* 20 MB; a commit takes 4 MiB and a slice at its end */
}

static void ends_orderly(struct engine_host *host)
{
    CHECK_CASE("drained: starts are refused, everything is durable where it belongs");
    CHECK_INT(actor_runtime_drain(host->runtime, 20000), RESULT_OK);
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"start\",\"process\":\"startend\"}")),
               "ShuttingDown");
    struct span why;
    CHECK(!actor_runtime_ready(host->runtime, &host->arena, &why));
    CHECK_TEXT(why, "draining");
}

static void run(struct actor_runtime_options options)
{
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, options);
    host_deploy(&host, "startend.bpmn", startend);
    starts_and_ends(&host);
    asks_for_an_ended_one(&host);
    lists(&host);
    refuses(&host);
    remembers(&host);
    versions(&host);
    many_at_once(&host);
    makes_room(&host);
    tells_of_itself(&host);
    ends_orderly(&host);
    host_close(&host);

    host_open(&host, directory, options);
    CHECK_CASE("after a restart the definitions and the remembered replies are there");
    CHECK_INT(host.recovery.executions, 0);
    CHECK_INT(host.recovery.corrupt, 0);
    CHECK_OK(host_call(
        &host,
        "{\"op\":\"start\",\"process\":\"startend\",\"requestId\":\"r-1\",\"request\":{\"n\":1}}"));
    CHECK_TEXT(host_error(host_call(
                   &host, "{\"op\":\"start\",\"process\":\"startend\",\"requestId\":\"r-1\"}")),
               "InvalidRequest");
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    fprintf(stderr, "one shard, durable\n");
    run(host_defaults());
    fprintf(stderr, "three shards, not durable\n");
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 3;
    options.durability = ACTOR_NOT_DURABLE;
    run(options);
    return check_report();
}
