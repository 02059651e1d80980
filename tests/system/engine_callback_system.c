/*
 * engine_callback_system.c: executions that wait, over the real actors and stores: callbacks, human
 * tasks, channel sessions, timers, time-outs, operator verbs, repeats in flight.
 */
#include "tests/system/engine_host.h"

#define BPMN                                                                                       \
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" "                          \
    "xmlns:strider=\"urn:strider:bpmn:1\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char approval[] = BPMN
    "<process id=\"approval\" isExecutable=\"true\"><startEvent id=\"s\"/>"
    "<userTask id=\"approve\" name=\"Approve it\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "approve")
        FLOW("f2", "approve", "e") "</process></definitions>";

static const char pair[] =
    BPMN "<process id=\"pair\" isExecutable=\"true\"><startEvent id=\"s\"/><parallelGateway "
         "id=\"fork\"/>"
         "<userTask id=\"left\"/><userTask id=\"right\"/><parallelGateway id=\"join\"/><endEvent "
         "id=\"e\"/>" FLOW("f1", "s", "fork") FLOW("f2", "fork", "left") FLOW("f3", "fork", "right")
             FLOW("f4", "left", "join") FLOW("f5", "right", "join")
                 FLOW("f6", "join", "e") "</process></definitions>";

static const char nap[] =
    BPMN "<process id=\"nap\" isExecutable=\"true\"><startEvent id=\"s\"/><intermediateCatchEvent "
         "id=\"sleep\">"
         "<timerEventDefinition><timeDuration>PT0.2S</timeDuration></timerEventDefinition></"
         "intermediateCatchEvent>"
         "<userTask id=\"after\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "sleep")
             FLOW("f2", "sleep", "after") FLOW("f3", "after", "e") "</process></definitions>";

static const char votes[] =
    BPMN "<process id=\"votes\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"vote\">"
         "<multiInstanceLoopCharacteristics strider:elementVariable=\"voter\" "
         "strider:collection=\"=[&quot;ann&quot;, &quot;ben&quot;, &quot;cid&quot;]\"/>"
         "</userTask>" FLOW("f1", "s", "vote") "</process></definitions>";

static struct span start(struct engine_host *host, const char *process, const char *more)
{
    struct span reply = host_call(host, "{\"op\":\"start\",\"process\":\"%s\"%s}", process, more);
    if (!CHECK_OK(reply)) {
        host_print(host, "start", reply);
    }
    return host_text(reply, "executionId");
}

static struct span callback(struct engine_host *host, struct span id, const char *more)
{
    return host_call(host, "{\"op\":\"callback\",\"executionId\":\"%.*s\"%s}", SPAN_ARG(id), more);
}

static struct span verb(struct engine_host *host, const char *op, struct span id)
{
    return host_call(host, "{\"op\":\"%s\",\"executionId\":\"%.*s\"}", op, SPAN_ARG(id));
}

static void waits_and_resumes(struct engine_host *host)
{
    CHECK_CASE("a human task waits, its callback ends the execution");
    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"approval\",\"request\":{\"total\":5}}");
    struct span id = host_text(reply, "executionId");
    CHECK_INT(host_int(reply, "state"), 3);
    CHECK_TEXT(host_text(reply, "lifecycle"), "WaitingForHuman");
    struct span waiting = wire_at(wire_find_text(reply, "waiting"), 0);
    CHECK_TEXT(host_text(waiting, "taskId"), "approve");
    CHECK_TEXT(host_text(waiting, "kind"), "human");

    struct span done = callback(host, id, ",\"payload\":{\"ok\":true}");
    CHECK_OK(done);
    CHECK_INT(host_int(done, "state"), 40);
    CHECK_TEXT(host_error(callback(host, id, "")), "AlreadyFinished");
}

static void tells_which_task(struct engine_host *host)
{
    CHECK_CASE("two tokens wait: a callback must say which; each is taken once");
    struct span id = start(host, "pair", "");

    CHECK_TEXT(host_error(callback(host, id, "")), "AmbiguousCallback");
    struct span left = callback(host, id, ",\"taskId\":\"left\"");
    CHECK_INT(host_int(left, "state"), 3);
    CHECK_TEXT(host_error(callback(host, id, ",\"taskId\":\"left\"")), "NotWaiting");
    struct span right = callback(host, id, ",\"taskId\":\"right\"");
    CHECK_INT(host_int(right, "state"), 40);
}

static void callbacks_race(struct engine_host *host)
{
    CHECK_CASE("of callbacks that race for one wait one wins, the others hear so");
    enum { RACERS = 20 };
    struct span id = start(host, "approval", "");
    for (int i = 0; i < RACERS; i++) {
        REQUIRE(host_send(host, "{\"op\":\"callback\",\"executionId\":\"%.*s\"}", SPAN_ARG(id)) !=
                0);
    }
    int won = 0;
    int late = 0;
    for (int i = 0; i < RACERS; i++) {
        uint64_t ticket;
        struct span reply = host_next_reply(host, &ticket);
        won += host_int(reply, "state") == 40 ? 1 : 0;
        late += span_is(host_error(reply), "AlreadyFinished") ? 1 : 0;
    }
    CHECK_INT(won, 1);
    CHECK_INT(late, RACERS - 1);
}

static void finds_by_session(struct engine_host *host)
{
    CHECK_CASE("a channel session means the execution that began to wait last");
    struct span older = start(host, "approval", ",\"channelSessionId\":\"chat 7\"");
    struct span newer = start(host, "approval", ",\"channelSessionId\":\"chat 7\"");
    static const char by_session[] = "{\"op\":\"callback\",\"channelSessionId\":\"chat 7\"%s}";

    struct span first = host_call(host, by_session, ",\"requestId\":\"cb-1\"");
    CHECK_OK(first);
    CHECK(span_equal(host_text(first, "executionId"), newer));
    CHECK_CASE("a repeat by session gets the first reply, though the session means another by now");
    CHECK(span_equal(host_call(host, by_session, ",\"requestId\":\"cb-1\""), first));
    CHECK_CASE("when it has ended the older one is meant, then nobody");
    CHECK(span_equal(host_text(host_call(host, by_session, ""), "executionId"), older));
    CHECK_TEXT(host_error(host_call(host, by_session, "")), "SessionNotFound");
}

static void a_refusal_binds_nobody(struct engine_host *host)
{
    CHECK_CASE("a callback by session that was refused is looked up anew when it is tried again");
    static const char by_session[] =
        "{\"op\":\"callback\",\"channelSessionId\":\"chat 8\",\"requestId\":\"cb-8\"}";
    struct span first = start(host, "pair", ",\"channelSessionId\":\"chat 8\"");
    CHECK_TEXT(host_error(host_call(host, by_session)), "AmbiguousCallback");
    struct span second = start(host, "approval", ",\"channelSessionId\":\"chat 8\"");

    struct span taken = host_call(host, by_session);

    CHECK_OK(taken);
    CHECK(span_equal(host_text(taken, "executionId"), second));
    CHECK(span_equal(host_call(host, by_session), taken));
    CHECK_OK(verb(host, "abort", first));
}

static void lists_tasks(struct engine_host *host)
{
    CHECK_CASE("tasks lists what waits for people, over all shards, up to the limit");
    struct span ids[5];
    for (int i = 0; i < 5; i++) {
        ids[i] = start(host, "approval", "");
    }
    struct span tasks = host_call(host, "{\"op\":\"tasks\",\"process\":\"approval\"}");
    CHECK_INT(wire_count(wire_find_text(tasks, "tasks")), 5);
    struct span task = wire_at(wire_find_text(tasks, "tasks"), 0);
    CHECK_TEXT(host_text(task, "taskId"), "approve");
    CHECK_TEXT(host_text(task, "taskName"), "Approve it");
    CHECK_INT(
        wire_count(wire_find_text(
            host_call(host, "{\"op\":\"tasks\",\"process\":\"approval\",\"limit\":2}"), "tasks")),
        2);
    CHECK_INT(wire_count(wire_find_text(
                  host_call(host, "{\"op\":\"tasks\",\"executionId\":\"%.*s\"}", SPAN_ARG(ids[1])),
                  "tasks")),
              1);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(callback(host, ids[i], ""));
    }
    CHECK_INT(wire_count(wire_find_text(
                  host_call(host, "{\"op\":\"tasks\",\"process\":\"approval\"}"), "tasks")),
              0);
}

/* Turns all pages: how many tasks of each execution were in them. False: not the newest first. */
static bool turn_pages(struct engine_host *host, const char *filter, int limit,
                       const struct span *ids, int count, int *seen)
{
    char place[256] = "";
    char since[64] = "9999";
    bool in_order = true;
    memset(seen, 0, (size_t)count * sizeof *seen);
    do {
        struct span reply =
            host_call(host, "{\"op\":\"tasks\",\"limit\":%d%s%s}", limit, filter, place);
        struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "tasks"));
        struct span task;
        CHECK(wire_count(wire_find_text(reply, "tasks")) <= (uint32_t)limit);
        while (wire_array_next(&walk, &task)) {
            char at[64];
            snprintf(at, sizeof at, "%.*s", SPAN_ARG(host_text(task, "since")));
            in_order = in_order && strcmp(at, since) <= 0;
            memcpy(since, at, sizeof since);
            for (int i = 0; i < count; i++) {
                seen[i] += span_equal(host_text(task, "executionId"), ids[i]);
            }
        }
        struct span cursor = wire_string_or(wire_find_text(reply, "cursor"), "");
        place[0] = '\0';
        if (cursor.count > 0) {
            snprintf(place, sizeof place, ",\"cursor\":\"%.*s\"", SPAN_ARG(cursor));
        }
    } while (place[0] != '\0');
    return in_order;
}

static void pages_of_tasks(struct engine_host *host)
{
    enum { COUNT = 7 };
    CHECK_CASE("a list of tasks goes on at its cursor: each task once, the newest first");
    struct span ids[COUNT];
    int seen[COUNT];
    for (int i = 0; i < COUNT; i++) {
        ids[i] = start(host, i == 3 ? "pair" : "approval", "");
    }
    for (int limit = 1; limit <= COUNT + 2; limit++) {
        CHECK(turn_pages(host, "", limit, ids, COUNT, seen));
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT(seen[i], i == 3 ? 2 : 1);
        }
    }
    CHECK(turn_pages(host, ",\"process\":\"approval\"", 2, ids, COUNT, seen));
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(seen[i], i == 3 ? 0 : 1);
    }
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"tasks\",\"cursor\":\"7\"}")),
               "InvalidRequest");
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(verb(host, "abort", ids[i]));
    }
}

/* What is next in the list, and where that goes on. */
static struct span next_task(struct engine_host *host, char place[256])
{
    struct span reply =
        host_call(host, "{\"op\":\"tasks\",\"process\":\"votes\",\"limit\":1%s}", place);
    struct span cursor = wire_string_or(wire_find_text(reply, "cursor"), "");
    place[0] = '\0';
    if (cursor.count > 0) {
        (void)snprintf(place, 256, ",\"cursor\":\"%.*s\"", SPAN_ARG(cursor));
    }
    return wire_at(wire_find_text(reply, "tasks"), 0);
}

static void pages_over_done_tasks(struct engine_host *host)
{
    CHECK_CASE("a task that is done between two pages takes no other one out of the list");
    struct span id = start(host, "votes", "");
    char place[256] = "", more[128];
    struct span first = next_task(host, place);
    CHECK(span_is(host_text(wire_find_text(first, "data"), "voter"), "ann"));
    (void)snprintf(more, sizeof more, ",\"stepId\":\"%.*s\"", SPAN_ARG(host_text(first, "stepId")));
    CHECK_OK(callback(host, id, more));
    struct span second = next_task(host, place);
    CHECK(span_is(host_text(wire_find_text(second, "data"), "voter"), "ben"));
    struct span third = next_task(host, place);
    CHECK(span_is(host_text(wire_find_text(third, "data"), "voter"), "cid"));
    CHECK(place[0] == '\0');
    CHECK_OK(verb(host, "abort", id));
}

static void reaches_one_instance(struct engine_host *host)
{
    CHECK_CASE("of several instances of a task a callback reaches the one whose step it names");
    struct span id = start(host, "votes", "");
    const char *list = "{\"op\":\"tasks\",\"executionId\":\"%.*s\"}";
    struct span tasks = wire_find_text(host_call(host, list, SPAN_ARG(id)), "tasks");
    CHECK_INT(wire_count(tasks), 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct span task = wire_at(tasks, i);
        struct span step = host_text(task, "stepId");
        if (span_is(host_text(wire_find_text(task, "data"), "voter"), "ben")) {
            char more[128];
            (void)snprintf(more, sizeof more, ",\"stepId\":\"%.*s\"", SPAN_ARG(step));
            CHECK_OK(callback(host, id, more));
            CHECK_TEXT(host_error(callback(host, id, more)), "NotWaiting");
        }
    }
    tasks = wire_find_text(host_call(host, list, SPAN_ARG(id)), "tasks");
    CHECK_INT(wire_count(tasks), 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct span data = wire_find_text(wire_at(tasks, i), "data");
        CHECK(!span_is(host_text(data, "voter"), "ben"));
    }
    CHECK_OK(verb(host, "abort", id));
}

static void timers_fire(struct engine_host *host)
{
    CHECK_CASE("a timer wakes a parked execution");
    struct span reply = host_call(host, "{\"op\":\"start\",\"process\":\"nap\"}");
    struct span id = host_text(reply, "executionId");
    CHECK_TEXT(host_text(wire_at(wire_find_text(reply, "waiting"), 0), "kind"), "timer");
    struct span tasks = SPAN_EMPTY;
    for (int i = 0; i < 200 && wire_count(tasks) == 0; i++) {
        /* Each look is a round trip through the shard; the timer is due 200 ms after the start. */
        tasks = wire_find_text(host_call(host, "{\"op\":\"tasks\",\"process\":\"nap\"}"), "tasks");
        usleep(10000);
    }
    CHECK_INT(wire_count(tasks), 1);
    CHECK_INT(host_int(callback(host, id, ""), "state"), 40);
}

static void operators_act(struct engine_host *host)
{
    CHECK_CASE("suspend, resume, abort, restart");
    struct span id = start(host, "approval", "");

    CHECK_TEXT(host_text(verb(host, "suspend", id), "lifecycle"), "Suspended");
    CHECK_TEXT(host_text(verb(host, "resume", id), "lifecycle"), "WaitingForHuman");
    CHECK_TEXT(host_error(verb(host, "resume", id)), "InvalidTransition");
    struct span aborted = verb(host, "abort", id);
    CHECK_INT(host_int(aborted, "state"), 8);
    CHECK_TEXT(host_error(callback(host, id, "")), "AlreadyFinished");
    struct span again = verb(host, "restart", id);
    CHECK_INT(host_int(again, "state"), 3);
    CHECK_INT(host_int(callback(host, id, ""), "state"), 40);
    CHECK_INT(host_int(verb(host, "get", id), "run"), 2);
}

static bool has_rows = true; /* there is an audit */

static int count_rows(struct span rows, const char *id)
{
    int count = 0;
    struct wire_map_walk walk = wire_array_begin(rows);
    struct span row;
    while (wire_array_next(&walk, &row)) {
        count += span_is(wire_string_or(wire_find_text(row, "executionId"), ""), id);
    }
    return count;
}

static void operators_delete(struct engine_host *host)
{
    CHECK_CASE("a deleted execution is nowhere, waiting or ended; its id is free again");
    struct span waiting =
        start(host, "approval", ",\"executionId\":\"gone-1\",\"channelSessionId\":\"s-gone\"");
    CHECK_OK(verb(host, "delete", waiting));
    CHECK_TEXT(host_error(verb(host, "get", waiting)), "SessionNotFound");
    CHECK_TEXT(host_error(callback(host, waiting, "")), "SessionNotFound");
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"callback\",\"channelSessionId\":\"s-gone\"}")),
               "SessionNotFound");
    CHECK_TEXT(host_error(verb(host, "delete", waiting)), "SessionNotFound");

    struct span ended = start(host, "approval", ",\"executionId\":\"gone-1\"");
    CHECK_INT(host_int(callback(host, ended, ""), "state"), 40);
    CHECK_OK(verb(host, "delete", ended));
    CHECK_TEXT(host_error(verb(host, "get", ended)), "SessionNotFound");
    struct span rows =
        wire_find_text(host_call(host, "{\"op\":\"list\",\"limit\":1000}"), "executions");
    CHECK_INT(wire_count(rows) > 0, has_rows);
    CHECK_INT(count_rows(rows, "gone-1"), 0);
}

static void starts_while_deleting(struct engine_host *host)
{
    CHECK_CASE("a start that overtakes the commit of its id's deletion is refused or runs, alone");
    enum { REQUESTS = 3 };
    uint64_t tickets[REQUESTS], ticket;
    struct span replies[REQUESTS];
    start(host, "approval", ",\"executionId\":\"gone-2\"");
    tickets[0] = host_send(host, "{\"op\":\"delete\",\"executionId\":\"gone-2\"}");
    for (int i = 1; i < REQUESTS; i++) {
        tickets[i] = host_send(
            host, "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"gone-2\"}");
    }
    for (int i = 0; i < REQUESTS; i++) {
        struct span reply = host_next_reply(host, &ticket);
        for (int k = 0; k < REQUESTS; k++) {
            if (tickets[k] == ticket) {
                replies[k] = reply;
            }
        }
    }

    CHECK_OK(replies[0]);
    int running = 0;
    for (int i = 1; i < REQUESTS; i++) {
        struct span error = wire_find_text(replies[i], "error");
        struct span code = wire_string_or(wire_find_text(error, "code"), "");
        running += code.count == 0;
        CHECK(code.count == 0 || span_equal(code, span_text("Overloaded")) ||
              span_equal(code, span_text("AlreadyExists")));
    }
    CHECK(running <= 1);
    if (running == 0) {
        start(host, "approval", ",\"executionId\":\"gone-2\"");
    }
    CHECK_INT(host_int(callback(host, span_text("gone-2"), ""), "state"), 40);
}

static void times_out(struct engine_host *host)
{
    CHECK_CASE("accepted is answered when it is durable, though the segment may go on");
    struct span reply =
        host_call(host, "{\"op\":\"start\",\"process\":\"nap\",\"wait\":\"accepted\"}");
    CHECK_OK(reply);
    CHECK_INT((int)host_text(reply, "executionId").count, 36);
    CHECK_OK(verb(host, "abort", host_text(reply, "executionId")));
}

static void run(struct actor_runtime_options options)
{
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, options);
    host_deploy(&host, "approval.bpmn", approval);
    host_deploy(&host, "pair.bpmn", pair);
    host_deploy(&host, "nap.bpmn", nap);
    host_deploy(&host, "votes.bpmn", votes);
    waits_and_resumes(&host);
    tells_which_task(&host);
    callbacks_race(&host);
    finds_by_session(&host);
    a_refusal_binds_nobody(&host);
    pages_of_tasks(&host);
    pages_over_done_tasks(&host);
    lists_tasks(&host);
    reaches_one_instance(&host);
    timers_fire(&host);
    operators_act(&host);
    operators_delete(&host);
    starts_while_deleting(&host);
    times_out(&host);

    CHECK_CASE("what waits is there after an orderly restart, sessions and tasks too");
    struct span id =
        start(&host, "approval", ",\"channelSessionId\":\"kept\",\"executionId\":\"kept-1\"");
    (void)id;
    CHECK_INT(actor_runtime_drain(host.runtime, 20000), RESULT_OK);
    host_close(&host);
    host_open(&host, directory, options);
    CHECK_INT(host.recovery.executions, 1);
    CHECK_INT(host.recovery.corrupt, 0);
    CHECK_INT(wire_count(wire_find_text(host_call(&host, "{\"op\":\"tasks\"}"), "tasks")), 1);
    struct span done = host_call(&host, "{\"op\":\"callback\",\"channelSessionId\":\"kept\"}");
    CHECK_INT(host_int(done, "state"), 40);
    CHECK_TEXT(host_text(done, "executionId"), "kept-1");
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    fprintf(stderr, "one shard, durable\n");
    run(host_defaults());
    fprintf(stderr, "three shards, a hot tier with room for nothing, audit and step blobs on\n");
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 3;
    options.hot_bytes_max = 3;
    run(options);
    fprintf(stderr, "two shards, every session heavy, no audit\n");
    options = host_defaults();
    options.shard_count = 2;
    options.heavy_session_bytes = 1;
    options.audit = has_rows = false;
    run(options);
    return check_report();
}
