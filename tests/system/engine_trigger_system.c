/*
 * engine_trigger_system.c: what starts processes without a start, over the real actors and stores:
 * timers (once, also across restarts and deploys of the same bytes), webhooks, several triggers of
 * one process. F53, F55, F56.
 */
#include "tests/system/engine_host.h"

#define FILE_OF(parts)                                                                             \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'>"                            \
    "<message id='n' name='ordered'/><signal id='g' name='alarm'/>" parts "</definitions>"
#define FLOW(id, from, to) "<sequenceFlow id='" id "' sourceRef='" from "' targetRef='" to "'/>"
#define TIMER(kind, text)                                                                          \
    "<timerEventDefinition><" kind ">" text "</" kind "></timerEventDefinition>"

/* Its date has passed: due as soon as it is deployed. */
static const char once[] =
    FILE_OF("<process id='once' isExecutable='true'><startEvent id='s'>" TIMER(
        "timeDate",
        "2020-01-01T00:00:00Z") "</startEvent><userTask id='u'/><endEvent id='e'/>" FLOW("f1", "s",
                                                                                         "u")
                FLOW("f2", "u", "e") "</process>");

/* A start by hand, a message, a signal and a timer in one event, each behind its own start. */
static const char several[] = FILE_OF(
    "<process id='several' isExecutable='true'><startEvent id='hand'/><startEvent id='any'>"
    "<messageEventDefinition messageRef='n'/><signalEventDefinition signalRef='g'/>" TIMER(
        "timeDuration",
        "PT0S") "</startEvent><userTask id='by-hand'/><userTask id='by-event'/>" FLOW("f1", "hand",
                                                                                      "by-hand")
        FLOW("f2", "any", "by-event") "</process>");

static const char graph[] =
    "{\"id\":\"hooked\",\"nodes\":["
    "{\"id\":\"w\",\"type\":\"trigger_webhook\",\"config\":{\"path\":\"orders/new\"}},"
    "{\"id\":\"m\",\"type\":\"trigger_manual\"},"
    "{\"id\":\"ask\",\"type\":\"human_task\"},{\"id\":\"tell\",\"type\":\"human_task\"}],"
    "\"edges\":[{\"id\":\"1\",\"source\":\"w\",\"target\":\"ask\"},"
    "{\"id\":\"2\",\"source\":\"m\",\"target\":\"tell\"}],"
    "\"triggers\":[{\"id\":\"again\",\"type\":\"webhook\",\"path\":\"orders/again\"}]}";

static struct span definition_of(struct engine_host *host, const char *process)
{
    struct span reply = host_call(host, "{\"op\":\"definitions\",\"process\":\"%s\"}", process);
    return wire_at(wire_find_text(reply, "definitions"), 0);
}

static struct span trigger_of(struct engine_host *host, const char *process, uint32_t place)
{
    return wire_at(wire_find_text(definition_of(host, process), "triggers"), place);
}

/* Firing is part of no reply: asked until it is so. */
static void await_fired(struct engine_host *host, const char *process, uint32_t place,
                        int64_t times)
{
    int64_t fired = -1;
    for (int i = 0; i < 200000 && fired != times; i++) {
        arena_clear(&host->arena);
        fired = host_int(trigger_of(host, process, place), "fired");
    }
    CHECK_INT(fired, times);
}

/* A `list` answers by what the journal held when it was asked. */
static struct span executions(struct engine_host *host, const char *process)
{
    struct span reply = host_call(host, "{\"op\":\"list\",\"process\":\"%s\"}", process);
    return wire_find_text(reply, "executions");
}

static struct span get(struct engine_host *host, struct span id)
{
    return host_call(host, "{\"op\":\"get\",\"executionId\":\"%.*s\",\"include\":[\"payloads\"]}",
                     SPAN_ARG(id));
}

static void expect_waits_at(struct span reply, const char *task)
{
    struct span waiting = wire_find_text(reply, "waiting");
    CHECK_INT(wire_count(waiting), 1);
    CHECK_TEXT(host_text(wire_at(waiting, 0), "taskId"), task);
}

static void timers(const char *directory)
{
    struct engine_host host;
    host_open(&host, directory, host_defaults());

    CHECK_CASE("a timer whose date has passed fires once, when it is deployed");
    host_deploy(&host, "once.bpmn", once);
    await_fired(&host, "once", 0, 1);
    struct span all = executions(&host, "once");
    CHECK_INT(wire_count(all), 1);
    struct span id = arena_copy(&host.arena, host_text(wire_at(all, 0), "executionId"));
    struct span trigger = wire_find_text(wire_find_text(get(&host, id), "request"), "trigger");
    CHECK_TEXT(host_text(trigger, "id"), "s");
    CHECK_TEXT(host_text(trigger, "kind"), "timer");
    CHECK_TEXT(host_text(trigger, "dueAt"), "2020-01-01T00:00:00.000Z");
    expect_waits_at(get(&host, id), "u");

    CHECK_CASE("deploying the same bytes changes nothing");
    host_deploy(&host, "once.bpmn", once);
    CHECK_INT(host_int(definition_of(&host, "once"), "version"), 1);
    CHECK_INT(host_int(trigger_of(&host, "once", 0), "fired"), 1);
    CHECK(host_text(trigger_of(&host, "once", 0), "nextDueAt").count == 0);
    host_close(&host);

    CHECK_CASE("a restart knows what has fired");
    host_open(&host, directory, host_defaults());
    CHECK_INT(host_int(trigger_of(&host, "once", 0), "fired"), 1);
    CHECK_INT(wire_count(executions(&host, "once")), 1);

    CHECK_CASE("a zone that nobody knows is refused at deploy");
    struct span reply = host_call(
        &host,
        "{\"op\":\"deploy\",\"name\":\"z.json\",\"content\":\"{\\\"id\\\":\\\"z\\\",\\\"nodes\\\":"
        "[{\\\"id\\\":\\\"c\\\",\\\"type\\\":\\\"trigger_cron\\\",\\\"config\\\":{\\\"cron\\\":"
        "\\\"0 9 * * *\\\",\\\"time_zone\\\":\\\"Europe/Atlantis\\\"}}],\\\"edges\\\":[]}\"}");
    CHECK_TEXT(host_error(reply), "DefinitionInvalid");
    struct span problem = wire_at(
        wire_find_text(wire_find_text(wire_find_text(reply, "error"), "details"), "problems"), 0);
    CHECK_HAS(host_text(problem, "message"), "Europe/Atlantis");
    host_close(&host);
}

static int64_t count_waiting(struct engine_host *host, const char *process, const char *task)
{
    int64_t count = 0;
    struct span all = executions(host, process);
    for (uint32_t i = 0; i < wire_count(all); i++) {
        struct span reply = get(host, host_text(wire_at(all, i), "executionId"));
        struct span waiting = wire_at(wire_find_text(reply, "waiting"), 0);
        count += span_is(host_text(waiting, "taskId"), task);
    }
    return count;
}

static void await_waiting(struct engine_host *host, const char *process, const char *task,
                          int64_t expected)
{
    int64_t found = -1;
    for (int i = 0; i < 20000 && found != expected; i++) {
        arena_clear(&host->arena);
        found = count_waiting(host, process, task);
    }
    CHECK_INT(found, expected);
}

static void start_events(const char *directory)
{
    struct engine_host host;
    host_open(&host, directory, host_defaults());

    CHECK_CASE("each event of a start event begins an execution of its own, there");
    host_deploy(&host, "several.bpmn", several);
    await_fired(&host, "several", 2, 1);
    await_waiting(&host, "several", "by-event", 1);
    CHECK_OK(host_call(&host, "{\"op\":\"message\",\"name\":\"ordered\"}"));
    await_waiting(&host, "several", "by-event", 2);
    CHECK_OK(host_call(&host, "{\"op\":\"signal\",\"name\":\"alarm\"}"));
    await_waiting(&host, "several", "by-event", 3);

    CHECK_CASE("a start by hand begins at the none start event");
    expect_waits_at(host_call(&host, "{\"op\":\"start\",\"process\":\"several\"}"), "by-hand");
    CHECK_INT(count_waiting(&host, "several", "by-event"), 3);

    CHECK_CASE("definitions tells all of them");
    CHECK_TEXT(host_text(trigger_of(&host, "several", 0), "kind"), "message");
    CHECK_TEXT(host_text(trigger_of(&host, "several", 0), "name"), "ordered");
    CHECK_TEXT(host_text(trigger_of(&host, "several", 1), "kind"), "signal");
    CHECK_TEXT(host_text(trigger_of(&host, "several", 2), "id"), "any#3");
    host_close(&host);
}

static void webhooks(const char *directory, uint32_t shard_count)
{
    struct engine_host host;
    struct actor_runtime_options options = host_defaults();
    options.shard_count = shard_count;
    host_open(&host, directory, options);
    host_deploy(&host, "hooked.json", graph);

    CHECK_CASE("a webhook begins at its node, with the body as request");
    struct span reply =
        host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\",\"request\":{\"n\":7},"
                         "\"context\":{\"webhook\":{}}}");
    CHECK_OK(reply);
    expect_waits_at(reply, "ask");
    struct span id = arena_copy(&host.arena, host_text(reply, "executionId"));
    CHECK_INT(host_int(wire_find_text(get(&host, id), "request"), "n"), 7);

    CHECK_CASE("one beside the nodes begins as by hand");
    expect_waits_at(host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/again\"}"), "tell");

    CHECK_CASE("a repeat of a requestId is the same execution; at another path it is another");
    struct span first = arena_copy(
        &host.arena, host_text(host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\","
                                                "\"requestId\":\"k\",\"request\":{\"n\":8}}"),
                               "executionId"));
    struct span second =
        host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\",\"requestId\":\"k\","
                         "\"request\":{\"n\":8}}");
    CHECK(first.count == 36 && span_equal(first, host_text(second, "executionId")));
    second = host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/again\",\"requestId\":\"k\","
                              "\"request\":{\"n\":8}}");
    CHECK_OK(second);
    CHECK(!span_equal(first, host_text(second, "executionId")));
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\","
                                           "\"requestId\":\"k\",\"request\":{\"n\":9}}")),
               "InvalidRequest");

    CHECK_CASE("accepted is told as soon as it is durable");
    CHECK_OK(host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\",\"wait\":\"accepted\"}"));

    CHECK_CASE("an unknown path is told to be one, and no path is refused");
    reply = host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/old\"}");
    CHECK_TEXT(host_error(reply), "DefinitionNotFound");
    CHECK_HAS(host_text(wire_find_text(reply, "error"), "message"), "orders/old");
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"hook\"}")), "InvalidRequest");

    CHECK_CASE("a path belongs to one process");
    reply = host_call(
        &host,
        "{\"op\":\"deploy\",\"name\":\"thief.json\",\"content\":\"{\\\"id\\\":\\\"thief\\\","
        "\\\"nodes\\\":[{\\\"id\\\":\\\"w\\\",\\\"type\\\":\\\"trigger_webhook\\\",\\\"config\\\":"
        "{\\\"path\\\":\\\"orders/new\\\"}}],\\\"edges\\\":[]}\"}");
    CHECK_TEXT(host_error(reply), "DefinitionInvalid");
    host_close(&host);

    CHECK_CASE("webhooks are there after a restart, and the repeat still is one");
    host_open(&host, directory, options);
    second = host_call(&host, "{\"op\":\"hook\",\"path\":\"orders/new\",\"requestId\":\"k\","
                              "\"request\":{\"n\":8}}");
    CHECK_OK(second);
    host_close(&host);
}

int main(void)
{
    char directory[128];
    host_directory(directory);
    timers(directory);
    host_remove_directory(directory);
    host_directory(directory);
    start_events(directory);
    host_remove_directory(directory);
    host_directory(directory);
    webhooks(directory, 1);
    host_remove_directory(directory);
    host_directory(directory);
    webhooks(directory, 3);
    host_remove_directory(directory);
    return check_report();
}
