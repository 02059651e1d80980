/*
 * engine_answers_system.c: what the engine says when it cannot tell all that it was asked for: an
 * error, never a list that looks whole.
 */
#include "tests/system/engine_host.h"

enum { TASKS = 80, NAME_BYTES = 100000, EXECUTIONS = 9 };

/* A process that waits for TASKS people at once, whose tasks have long names. */
static char *crowd(void)
{
    size_t room = (size_t)TASKS * (NAME_BYTES + 512);
    char *text = malloc(room);
    REQUIRE(text != NULL);
    size_t count = (size_t)snprintf(
        text, room,
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"crowd\" "
        "isExecutable=\"true\"><startEvent id=\"s\"/><parallelGateway id=\"fork\"/>"
        "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"fork\"/>");
    for (int i = 0; i < TASKS; i++) {
        count += (size_t)snprintf(text + count, room - count,
                                  "<userTask id=\"t%d\" name=\"%0*d\"/>"
                                  "<sequenceFlow id=\"f%d\" sourceRef=\"fork\" targetRef=\"t%d\"/>",
                                  i, NAME_BYTES, i, i, i);
    }
    count += (size_t)snprintf(text + count, room - count, "</process></definitions>");
    REQUIRE(count < room);
    return text;
}

static void tasks_are_listed_whole_or_refused(void)
{
    CHECK_CASE("tasks that are too large for one answer are refused, fewer of them are listed");
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, host_defaults());
    char *process = crowd();
    host_deploy(&host, "crowd.bpmn", process);
    free(process);
    for (int i = 0; i < EXECUTIONS; i++) {
        CHECK_OK(
            host_call(&host, "{\"op\":\"start\",\"process\":\"crowd\",\"wait\":\"accepted\"}"));
    }

    struct span refused = host_call(&host, "{\"op\":\"tasks\",\"limit\":1000}");
    CHECK_TEXT(host_error(refused), "PayloadTooLarge");
    struct span few = host_call(&host, "{\"op\":\"tasks\",\"limit\":3}");
    CHECK_OK(few);
    CHECK_INT(wire_count(wire_find_text(few, "tasks")), 3);
    host_close(&host);
    host_remove_directory(directory);
}

static enum result no_logs(struct storage_index *self, struct span execution_id,
                           uint64_t first_index, uint32_t limit, struct arena *arena,
                           struct span *out)
{
    (void)self, (void)execution_id, (void)first_index, (void)limit, (void)arena, (void)out;
    return RESULT_IO;
}

static void logs_that_cannot_be_read_are_an_error(void)
{
    CHECK_CASE("logs that cannot be read are no empty list");
    char directory[128];
    char path[192];
    struct engine_host host;
    struct actor_runtime_options options = host_defaults();
    host_directory(directory);
    snprintf(path, sizeof path, "%s/index.db", directory);
    REQUIRE(storage_sqlite_index_open(path, &options.index) == RESULT_OK);
    const struct storage_index_ops *whole = options.index->ops;
    struct storage_index_ops without_logs = *whole;
    without_logs.logs = no_logs;
    options.index->ops = &without_logs;
    host_open(&host, directory, options);
    host_deploy(&host, "p.bpmn",
                "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process "
                "id=\"p\" isExecutable=\"true\"><startEvent id=\"s\"/><endEvent id=\"e\"/>"
                "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"e\"/></process></definitions>");
    CHECK_OK(host_call(&host, "{\"op\":\"start\",\"process\":\"p\",\"executionId\":\"one\"}"));

    CHECK_TEXT(host_error(host_call(
                   &host, "{\"op\":\"get\",\"executionId\":\"one\",\"include\":[\"logs\"]}")),
               "StorageFailed");
    CHECK_OK(host_call(&host, "{\"op\":\"get\",\"executionId\":\"one\"}"));
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    tasks_are_listed_whole_or_refused();
    logs_that_cannot_be_read_are_an_error();
    return check_report();
}
