/*
 * engine_migrate_system.c: executions that move to another version, and executions from another
 * engine, in the real runtime: kept across a kill -9, found again by a cold resume, told to the
 * audit.
 */
#include "tests/system/child.h"
#include "tests/system/engine_host.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"
#define PROCESS(body)                                                                              \
    BPMN "<process id=\"p\" isExecutable=\"true\">" body "</process></definitions>"

static const char first[] =
    PROCESS("<startEvent id=\"s\"/><userTask id=\"a\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "a")
                FLOW("f2", "a", "e"));
static const char second[] = PROCESS(
    "<startEvent id=\"s\"/><userTask id=\"b\"/><userTask id=\"c\"/><endEvent id=\"e\"/>" FLOW(
        "f1", "s", "b") FLOW("f2", "b", "c") FLOW("f3", "c", "e"));
/* Fails at once where v is not 1; the second version has a default. */
static const char choice[] = BPMN
    "<process id=\"q\" isExecutable=\"true\"><startEvent id=\"s\"/><exclusiveGateway id=\"x\"%s/>"
    "<userTask id=\"a\"/><sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"x\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"x\" targetRef=\"a\">"
    "<conditionExpression>=v = 1</conditionExpression></sequenceFlow></process></definitions>";
static const char scheme[] =
    "{\"id\":\"leave\",\"blocks\":[{\"id\":\"s\",\"type\":\"StartBlock\"},"
    "{\"id\":\"a\",\"type\":\"Block\",\"handler\":\"wait\"},"
    "{\"id\":\"b\",\"type\":\"Block\",\"handler\":\"wait\"},"
    "{\"id\":\"j\",\"type\":\"AndBlock\",\"handler\":\"wait\"},"
    "{\"id\":\"f\",\"type\":\"FinishBlock\"}],\"faces\":["
    "{\"id\":\"1\",\"from\":\"s\",\"to\":\"a\"},{\"id\":\"2\",\"from\":\"s\",\"to\":\"b\"},"
    "{\"id\":\"3\",\"from\":\"a\",\"to\":\"j\",\"result\":\"yes\"},"
    "{\"id\":\"4\",\"from\":\"b\",\"to\":\"j\"},"
    "{\"id\":\"5\",\"from\":\"j\",\"to\":\"f\",\"result\":\"ok\"}]}";

#define IMPORT                                                                                     \
    "\"process\":\"leave\",\"executionId\":\"i-1\",\"channelSessionId\":\"c-1\","                  \
    "\"execution\":{\"who\":\"ann\"},\"active\":[\"b\"],"                                          \
    "\"passed\":[\"1\",\"2\",{\"edge\":\"3\",\"result\":\"yes\"}]"

static void choose(char text[2048], bool has_default)
{
    (void)snprintf(text, 2048, choice, has_default ? " default=\"f2\"" : "");
}

/* ---- what is refused ---- */

static void refuses(void)
{
    CHECK_CASE("refused migrations and imports say why and change nothing");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, host_defaults());
    host_deploy(&host, "p.bpmn", first);
    host_deploy(&host, "leave.json", scheme);
    CHECK_INT(
        host_int(host_call(&host, "{\"op\":\"start\",\"process\":\"p\",\"executionId\":\"m\"}"),
                 "state"),
        3);
    host_deploy(&host, "p.bpmn", second);

    struct span reply = host_call(&host, "{\"op\":\"migrate\",\"executionId\":\"m\"}");
    CHECK_TEXT(host_error(reply), "InvalidRequest");
    struct span why = wire_string_or(wire_find_text(wire_find_text(reply, "error"), "message"), "");
    CHECK(strstr((const char *)arena_copy(&host.arena, why).bytes, "\"a\"") != NULL);
    CHECK_TEXT(
        host_error(host_call(&host, "{\"op\":\"migrate\",\"executionId\":\"m\",\"toVersion\":9}")),
        "DefinitionNotFound");
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"migrate\",\"executionId\":\"nobody\"}")),
               "SessionNotFound");
    CHECK_TEXT(
        host_error(host_call(&host, "{\"op\":\"migrate\",\"executionId\":\"m\",\"mapping\":[1]}")),
        "InvalidRequest");
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"get\",\"executionId\":\"m\"}"), "version"), 1);

    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"import\",\"active\":[\"b\"]}")),
               "InvalidRequest");
    CHECK_TEXT(
        host_error(host_call(&host, "{\"op\":\"import\",\"process\":\"none\",\"active\":[\"b\"]}")),
        "DefinitionNotFound");
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"import\",\"process\":\"leave\","
                                           "\"executionId\":\"i\",\"active\":[\"j\"]}")),
               "InvalidRequest");
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"get\",\"executionId\":\"i\"}")),
               "SessionNotFound");
    CHECK_OK(host_call(&host, "{\"op\":\"import\"," IMPORT "}"));
    CHECK_TEXT(host_error(host_call(&host, "{\"op\":\"import\"," IMPORT "}")), "AlreadyExists");
    host_close(&host);
    host_remove_directory(directory);
}

/* ---- across a kill ---- */

static void move_and_import(const char *directory, int to)
{
    struct engine_host *host = malloc(sizeof *host);
    char text[2048];
    host_open(host, directory, host_defaults());
    host_deploy(host, "p.bpmn", first);
    host_deploy(host, "leave.json", scheme);
    choose(text, false);
    host_deploy(host, "q.bpmn", text);
    REQUIRE(
        host_int(host_call(host, "{\"op\":\"start\",\"process\":\"p\",\"executionId\":\"m-1\"}"),
                 "state") == 3);
    REQUIRE(
        host_int(host_call(host, "{\"op\":\"start\",\"process\":\"q\",\"executionId\":\"m-2\"}"),
                 "state") == 24);
    host_deploy(host, "p.bpmn", second);
    choose(text, true);
    host_deploy(host, "q.bpmn", text);
    struct span moved = host_call(host, "{\"op\":\"migrate\",\"executionId\":\"m-1\","
                                        "\"toVersion\":2,\"mapping\":{\"a\":\"b\"},"
                                        "\"requestId\":\"r-1\"}");
    REQUIRE(host_int(moved, "version") == 2 && host_int(moved, "state") == 3);
    acknowledge(to);
    moved = host_call(host, "{\"op\":\"migrate\",\"executionId\":\"m-2\"}");
    REQUIRE(host_int(moved, "version") == 2 && host_int(moved, "state") == 24);
    acknowledge(to);
    REQUIRE(host_int(host_call(host, "{\"op\":\"import\"," IMPORT "}"), "state") == 3);
    acknowledge(to);
}

static void check_steps(struct engine_host *host, const char *id, const char *steps)
{
    struct span got =
        host_call(host, "{\"op\":\"get\",\"executionId\":\"%s\",\"include\":[\"map\"]}", id);
    struct wire_map_walk walk = wire_array_begin(wire_find_text(got, "executionMap"));
    struct span step;
    char text[256] = "";
    while (wire_array_next(&walk, &step)) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ",
                       SPAN_ARG(host_text(step, "taskId")));
    }
    CHECK_TEXT(span_text(text), steps);
}

static void kept_across_a_kill(void)
{
    CHECK_CASE("migrated, imported, kill -9: each goes on where it was, by its version");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    struct child child = begin(move_and_import, directory);
    await(&child, 3);
    kill_now(&child);

    host_open(&host, directory, host_defaults());
    CHECK_INT(host.recovery.corrupt, 0);
    struct span got = host_call(&host, "{\"op\":\"get\",\"executionId\":\"m-1\"}");
    CHECK_INT(host_int(got, "version"), 2);
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"migrate\",\"executionId\":\"m-1\","
                                        "\"toVersion\":2,\"mapping\":{\"a\":\"b\"},"
                                        "\"requestId\":\"r-1\"}"),
                       "version"),
              2);
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"m-1\","
                                        "\"taskId\":\"b\"}"),
                       "state"),
              3);
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"m-1\"}"), "state"),
              40);
    check_steps(&host, "m-1", "s a c e ");

    CHECK_CASE("a failed one is retried in the version that mends it");
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"retry\",\"executionId\":\"m-2\"}"), "state"), 3);
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"m-2\"}"), "state"),
              40);
    check_steps(&host, "m-2", "s x a ");

    CHECK_CASE("an imported one waits with its joins, its data and its session");
    got = host_call(&host, "{\"op\":\"get\",\"executionId\":\"i-1\",\"include\":[\"payloads\"]}");
    CHECK_TEXT(host_text(wire_find_text(got, "execution"), "who"), "ann");
    struct span blocks = wire_find_text(got, "blocks");
    CHECK_TEXT(host_text(blocks, "a"), "Completed");
    CHECK_TEXT(host_text(blocks, "b"), "Pending");
    CHECK_INT(
        host_int(host_call(&host, "{\"op\":\"callback\",\"channelSessionId\":\"c-1\"}"), "state"),
        3);
    CHECK_INT(host_int(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"i-1\","
                                        "\"taskId\":\"j\",\"output\":\"ok\"}"),
                       "state"),
              40);
    check_steps(&host, "i-1", "b j f ");
    got = host_call(&host, "{\"op\":\"get\",\"executionId\":\"i-1\",\"include\":[\"logs\"]}");
    CHECK(wire_count(wire_find_text(got, "logs")) > 0);
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    refuses();
    kept_across_a_kill();
    return check_report();
}
