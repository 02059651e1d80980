/*
 * serve_failures_system.c: seed 000's table "Error handling", row by row, through the real binary
 * with a real module: which state an execution comes to, what its row in the index says, and that
 * it is the same after a crash. (The rows of the stores are in engine_tiers_*; README.md has all.)
 */
#include "tests/system/http_server.h"
#include "tests/system/served.h"

#define BPMN(id, body)                                                                             \
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"" id         \
    "\" isExecutable=\"true\">" body "</process></definitions>"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

/* A row of the table: what it is about, and what comes of it (engine.md 2 and 3). */
struct row {
    const char *process;
    const char *file;
    const char *definition;
    int64_t state;
    const char *error;
    const char *lifecycle;
};

static const struct row rows[] = {
    {"missing", "missing.bpmn",
     BPMN("missing", "<startEvent id=\"s\"/><sendTask id=\"a\"/><endEvent id=\"e\"/>" FLOW(
                         "f1", "s", "a") FLOW("f2", "a", "e")),
     56, "ModuleNotFound", "Completed"},
    {"refused", "refused.bpmn",
     BPMN("refused", "<startEvent id=\"s\"/><serviceTask id=\"a\"/><endEvent id=\"e\"/>" FLOW(
                         "f1", "s", "a") FLOW("f2", "a", "e")),
     24, "ModuleFailed", "Failed"},
    {"endless", "endless.bpmn",
     BPMN("endless", "<startEvent id=\"s\"/><exclusiveGateway id=\"g\"/><task id=\"t\"/>" FLOW(
                         "f1", "s", "g") FLOW("f2", "g", "t") FLOW("f3", "t", "g")),
     24, "StepLimitExceeded", "Failed"},
    {"startless", "startless.bpmn",
     BPMN("startless",
          "<task id=\"t\"/><task id=\"u\"/>" FLOW("f1", "t", "u") FLOW("f2", "u", "t")),
     24, "StartTaskNotFound", "Failed"},
    {"nowhere", "nowhere.bpmn",
     BPMN("nowhere", "<startEvent id=\"s\"/><callActivity id=\"c\" calledElement=\"gone\"/>" FLOW(
                         "f1", "s", "c")),
     24, "DefinitionNotFound", "Failed"},
    {"untyped", "untyped.json",
     "{\"id\":\"untyped\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},{\"id\":\"a\"}],"
     "\"faces\":[{\"id\":\"1\",\"from\":\"s\",\"to\":\"a\"}]}",
     24, "TasksHasNoType", "Failed"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static struct span text_of(struct span map, const char *name)
{
    return wire_string_or(wire_find_text(map, name), "");
}

static void check_row(const struct row *row, struct span reply)
{
    CHECK_INT(served_state(reply), row->state);
    CHECK_TEXT(text_of(reply, "lifecycle"), row->lifecycle);
    CHECK_TEXT(served_error(reply), row->error);
}

static void each_row_comes_to_its_state(void)
{
    CHECK_CASE("each failure of seed 000 has its state, its error code and its end");
    for (size_t i = 0; i < ROWS; i++) {
        check_row(&rows[i], served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"%s\","
                                       "\"executionId\":\"x-%s\"}",
                                       rows[i].process, rows[i].process));
    }
}

static void a_missing_module_is_warned_of(void)
{
    CHECK_CASE(
        "a missing module: a warning in the execution's logs, and the run goes on to its end");
    struct span reply = served_ask(
        "{\"v\":1,\"op\":\"get\",\"executionId\":\"x-missing\",\"include\":[\"logs\",\"map\"]}");
    bool warned = false;
    struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "logs"));
    for (struct span log; wire_array_next(&walk, &log);) {
        warned = warned || span_is(text_of(log, "level"), "WARN");
    }
    CHECK(warned);
    struct span map = wire_find_text(reply, "executionMap");
    CHECK_INT(wire_count(map), 3);
    CHECK_TEXT(text_of(wire_at(map, 2), "taskId"), "e");
}

static void an_unknown_process_is_refused(void)
{
    CHECK_CASE("an unknown process, or project: refused by name, and no execution is made");
    struct span reply = served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"nobody\","
                                   "\"executionId\":\"x-nobody\"}");
    CHECK_TEXT(served_error(reply), "DefinitionNotFound");
    CHECK_TEXT(served_error(served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"missing\","
                                       "\"projectId\":\"elsewhere\",\"executionId\":\"x-else\"}")),
               "DefinitionNotFound");
    CHECK_TEXT(served_error(served_get("x-nobody")), "SessionNotFound");
    CHECK_TEXT(served_error(served_get("x-else")), "SessionNotFound");
}

static void all_is_the_same_after_a_crash(void)
{
    CHECK_CASE("killed and started again: the same states, and rows that say so");
    served_stop(SIGKILL);
    served_start("data");
    for (size_t i = 0; i < ROWS; i++) {
        char id[40];
        snprintf(id, sizeof id, "x-%s", rows[i].process);
        check_row(&rows[i], served_get(id));
        CHECK(served_is_listed(id));
    }
    struct span reply = served_ask("{\"v\":1,\"op\":\"list\",\"status\":\"Error\"}");
    CHECK_INT(wire_count(wire_find_text(reply, "executions")), ROWS);
}

int main(void)
{
    static const struct test_http_reply refused[] = {{.status = 404}};
    char url[TEST_HTTP_URL_BYTES];
    char modules[TEST_HTTP_URL_BYTES + 100];
    signal(SIGPIPE, SIG_IGN);
    struct test_http *server = test_http_start();
    REQUIRE(server != NULL);
    test_http_script(server, "/refuses", refused, 1);
    test_http_url(server, "/refuses", url);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\"}]}", url);
    served_begin();
    served_write("modules.json", modules);
    for (size_t i = 0; i < ROWS; i++) {
        served_write(rows[i].file, rows[i].definition);
    }
    served_start("data");

    each_row_comes_to_its_state();
    a_missing_module_is_warned_of();
    an_unknown_process_is_refused();
    all_is_the_same_after_a_crash();

    served_stop(SIGTERM);
    served_end();
    test_http_stop(server);
    return check_report();
}
