/*
 * engine_values_system.c: what values come to on their way through the engine: variable,
 * expression, body of a module call, its answer, journal and stores, audit, JSON (field reports
 * F38, F47, F118, F119).
 */
#include "proto/base/text.h"
#include "tests/system/engine_host.h"
#include "tests/system/http_server.h"

/* The module sees `request` and, by input mappings, what expressions made of it. */
static const char carry[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" "
    "xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\">"
    "<process id=\"carry\" isExecutable=\"true\"><startEvent id=\"s\"/>"
    "<serviceTask id=\"work\"><extensionElements><zeebe:ioMapping>"
    "<zeebe:input source=\"=for n in request.numbers return n\" target=\"listed\"/>"
    "<zeebe:input source=\"=request.numbers[1] - 1\" target=\"less\"/>"
    "<zeebe:input source=\"=string(request.numbers[2])\" target=\"text\"/>"
    "<zeebe:input source=\"${request.numbers[2]}\" target=\"juel\"/>"
    "<zeebe:output source=\"=output.numbers\" target=\"numbers\"/>"
    "</zeebe:ioMapping></extensionElements></serviceTask><userTask id=\"person\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"work\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"work\" targetRef=\"person\"/></process></definitions>";

static const char call[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"call\" isExecutable=\"true\"><startEvent id=\"s\"/><serviceTask id=\"work\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"work\"/></process></definitions>";

static const char wait[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"wait\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"person\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"person\"/></process></definitions>";

/* More digits than a double has, the ends of 64 bits, and decimals as they are written. */
#define NUMBERS                                                                                    \
    "[23843037174560269,18446744073709551615,-9223372036854775808,9007199254740993,"               \
    "321588685835436831,0.10,1.50,123456789012345678901234567890.125,1e3]"

static void use_module(struct engine_host *host, struct test_http *server, const char *path)
{
    char url[TEST_HTTP_URL_BYTES];
    char modules[512];
    test_http_url(server, path, url);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\",\"maxAttempts\":1}]}",
             url);
    host_modules(host, modules);
}

/* What is read or written as JSON here lives until the program ends. */
static struct arena kept;

static struct span as_json(struct span value)
{
    struct span json = SPAN_EMPTY;
    REQUIRE(json_from_wire(value, JSON_COMPACT, &kept, &json) == RESULT_OK);
    CHECK_INT(text_utf8_valid_count(json), json.count);
    return json;
}

static struct span get(struct engine_host *host, const char *id)
{
    return host_call(
        host, "{\"op\":\"get\",\"executionId\":\"%s\",\"include\":[\"payloads\",\"logs\"]}", id);
}

/* The audit row and the logs as another program reads them, as soon as the row has that status. */
static struct span audited(const char *directory, const char *id, const char *status,
                           struct span *logs)
{
    char path[192];
    struct storage_index *index;
    struct span row = SPAN_EMPTY;
    snprintf(path, sizeof path, "%s/audit.db", directory);
    REQUIRE(storage_sqlite_index_open(path, &index) == RESULT_OK);
    for (int i = 0; i < 3000 && !span_is(host_text(row, "status"), status); i++) {
        usleep(i == 0 ? 0 : 10000);
        enum result result = index->ops->row(index, span_text(id), &kept, &row);
        CHECK(result == RESULT_OK || result == RESULT_NOT_FOUND || result == RESULT_AGAIN);
    }
    CHECK_TEXT(host_text(row, "status"), status);
    CHECK(index->ops->logs(index, span_text(id), 0, 10, &kept, logs) == RESULT_OK);
    index->ops->close(index);
    return row;
}

static void reopen(struct engine_host *host, const char *directory)
{
    host_close(host);
    host_open(host, directory, host_defaults());
}

static void numbers_keep_their_digits(const char *directory, struct test_http *server)
{
    CHECK_CASE("numbers keep their digits: variable, expression, call, answer");
    static const struct test_http_reply replies[] = {
        {.body = "{\"output\":{\"numbers\":" NUMBERS "},\"response\":{\"numbers\":" NUMBERS "},"
                 "\"logs\":[{\"level\":\"info\",\"message\":\"seen\",\"data\":" NUMBERS "}]}"}};
    struct engine_host host;
    struct test_http_request request;
    host_open(&host, directory, host_defaults());
    host_deploy(&host, "carry.bpmn", carry);
    test_http_script(server, "/carry", replies, 1);
    use_module(&host, server, "/carry");

    CHECK_OK(host_call(&host, "{\"op\":\"start\",\"process\":\"carry\",\"executionId\":\"digits\","
                              "\"request\":{\"numbers\":" NUMBERS "}}"));

    REQUIRE(test_http_request(server, test_http_count(server, NULL) - 1, &request));
    CHECK_HAS(request.body, "\"request\":{\"numbers\":" NUMBERS "}");
    CHECK_HAS(request.body, "\"listed\":" NUMBERS);
    CHECK_HAS(request.body, "\"less\":23843037174560268");
    CHECK_HAS(request.body, "\"text\":\"18446744073709551615\"");
    CHECK_HAS(request.body, "\"juel\":-9223372036854775808");

    CHECK_CASE("numbers keep their digits: journal and store, as a restart shows");
    reopen(&host, directory);
    struct span json = as_json(get(&host, "digits"));
    CHECK_HAS(json, "\"request\":{\"numbers\":" NUMBERS "}");
    CHECK_HAS(json, "\"execution\":{\"numbers\":" NUMBERS);
    CHECK_HAS(json, "\"response\":{\"numbers\":" NUMBERS "}");
    CHECK_OK(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"digits\"}"));

    CHECK_CASE("numbers keep their digits: audit");
    struct span logs = SPAN_EMPTY;
    (void)as_json(audited(directory, "digits", "Completed", &logs));
    CHECK_HAS(as_json(logs), "\"data\":" NUMBERS);
    host_close(&host);
}

static void texts_survive_or_fail_alone(const char *directory, struct test_http *server)
{
    static const struct test_http_reply lone[] = {
        {.body = "{\"response\":{\"a\":\"\\uDC59\\uD835\"}}"}};
    static const struct test_http_reply nul[] = {
        {.body = "{\"response\":{\"a\":\"x\\u0000y\"},"
                 "\"logs\":[{\"level\":\"info\",\"message\":\"p\\u0000q\"}]}"}};
    struct engine_host host;
    struct span logs = SPAN_EMPTY;
    host_open(&host, directory, host_defaults());
    host_deploy(&host, "call.bpmn", call);
    host_deploy(&host, "wait.bpmn", wait);
    CHECK_OK(host_call(&host, "{\"op\":\"start\",\"process\":\"wait\",\"executionId\":\"other\"}"));

    CHECK_CASE("a lone surrogate in an answer fails that step and nothing else");
    test_http_script(server, "/lone", lone, 1);
    use_module(&host, server, "/lone");
    struct span failed =
        host_call(&host, "{\"op\":\"start\",\"process\":\"call\",\"executionId\":\"lone\"}");
    CHECK_INT(host_int(failed, "state"), 24);
    CHECK_HAS(as_json(failed), "lone surrogate at line 1 column 19");
    CHECK_OK(host_call(&host, "{\"op\":\"callback\",\"executionId\":\"other\"}"));

    CHECK_CASE("a NUL in a text survives, after a restart too");
    test_http_script(server, "/nul", nul, 1);
    use_module(&host, server, "/nul");
    struct span survived =
        host_call(&host, "{\"op\":\"start\",\"process\":\"call\",\"executionId\":\"nul\"}");
    CHECK_INT(host_int(survived, "state"), 40);
    CHECK_HAS(as_json(survived), "\"a\":\"x\\u0000y\"");
    reopen(&host, directory);
    CHECK_HAS(as_json(get(&host, "nul")), "\"a\":\"x\\u0000y\"");
    CHECK_INT(host_int(get(&host, "other"), "state"), 40);

    CHECK_CASE("the audit of both is valid UTF-8 and tells of them");
    (void)as_json(audited(directory, "nul", "Completed", &logs));
    CHECK_HAS(as_json(logs), "p\\u0000q");
    CHECK_HAS(as_json(audited(directory, "lone", "Error", &logs)), "lone surrogate");
    host_close(&host);
}

static void answers_that_are_no_json_are_explained(const char *directory, struct test_http *server)
{
    static char nested[20001];
    memset(nested, '[', 10000);
    memset(nested + 10000, ']', 10000);
    static const struct {
        const char *what;
        const char *body;
        size_t bytes;
        const char *reason; /* NULL: it is taken */
    } rows[] = {
        {"broken UTF-8", "{\"response\":{\"a\":\"\xc3\x28\"}}", 0, "invalid UTF-8 at byte 18"},
        {"Latin-1", "{\"response\":{\"a\":\"caf\xe9\"}}", 0, "invalid UTF-8 at byte 21"},
        {"UTF-16", "{\0}\0", 4, "must be UTF-8"},
        {"a BOM before JSON", "\xef\xbb\xbf{\"response\":{}}", 0, NULL},
        {"HTML", "<html>502</html>", 0, "at line 1 column 1, near \\\"<html>502</html>\\\""},
        {"half of it", "{\"response\":{\"a\":", 0,
         "at line 1 column 18, behind \\\"{'response':{'a':\\\""},
        {"a key twice", "{\"response\":{},\"response\":{}}", 0, NULL},
        {"10,000 arrays", nested, 20000, "nested too deeply at line 1 column"},
    };
    static struct test_http_reply replies[sizeof rows / sizeof *rows];
    struct engine_host host;
    host_open(&host, directory, host_defaults());
    host_deploy(&host, "call.bpmn", call);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        replies[i] = (struct test_http_reply){.body = rows[i].body, .body_bytes = rows[i].bytes};
        CHECK_CASE(rows[i].what);
        test_http_script(server, "/odd", &replies[i], 1);
        use_module(&host, server, "/odd");

        struct span answer = host_call(&host, "{\"op\":\"start\",\"process\":\"call\"}");

        CHECK_INT(host_int(answer, "state"), rows[i].reason == NULL ? 40 : 24);
        if (rows[i].reason != NULL) {
            CHECK_HAS(as_json(answer), rows[i].reason);
        }
    }
    host_close(&host);
}

int main(void)
{
    char directory[128];
    arena_init(&kept, 64 << 10, 16 << 20);
    struct test_http *server = test_http_start();
    host_directory(directory);
    numbers_keep_their_digits(directory, server);
    texts_survive_or_fail_alone(directory, server);
    answers_that_are_no_json_are_explained(directory, server);
    test_http_stop(server);
    host_remove_directory(directory);
    arena_release(&kept);
    return check_report();
}
