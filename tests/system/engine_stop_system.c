/*
 * engine_stop_system.c: an orderly end while timers ring: behind it nothing is taken, the journal
 * stands still, and index and stores have all that it has.
 */
#include "tests/system/engine_host.h"

enum { LOOPS = 20, DRAIN_MS = 30000 };

/* Never ends: each round of it is a commit with an audit message, asked for by nobody. */
static const char ticking[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"ticking\" isExecutable=\"true\"><startEvent id=\"s\"/><task id=\"again\"/>"
    "<intermediateCatchEvent id=\"tick\"><timerEventDefinition><timeDuration>PT0.002S"
    "</timeDuration></timerEventDefinition></intermediateCatchEvent>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"again\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"again\" targetRef=\"tick\"/>"
    "<sequenceFlow id=\"f3\" sourceRef=\"tick\" targetRef=\"again\"/></process></definitions>";

static const char approval[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"approval\" isExecutable=\"true\"><startEvent id=\"s\"/>"
    "<userTask id=\"approve\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"approve\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"approve\" targetRef=\"e\"/></process></definitions>";

/* How far the index is behind the journal, in bytes of it. */
static uint64_t index_lag(struct engine_host *host)
{
    uint64_t position = 0;
    CHECK_INT(host->index->ops->position(host->index, &position), RESULT_OK);
    return host->journal->ops->end(host->journal) - position;
}

static void refuses_what_changes_something(struct engine_host *host)
{
    static const char *const changes[] = {"callback", "abort", "delete", "suspend"};
    CHECK_CASE("what would change something is refused, as it would not get into the index");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        CHECK_TEXT(
            host_error(host_call(host, "{\"op\":\"%s\",\"executionId\":\"w-1\"}", changes[i])),
            "ShuttingDown");
    }
    CHECK_TEXT(host_error(host_call(host, "{\"op\":\"message\",\"name\":\"paid\"}")),
               "ShuttingDown");
}

static void run(struct actor_runtime_options options)
{
    char directory[128];
    struct engine_host host;
    host_directory(directory);
    host_open(&host, directory, options);
    host_deploy(&host, "ticking.bpmn", ticking);
    host_deploy(&host, "approval.bpmn", approval);
    CHECK_OK(
        host_call(&host, "{\"op\":\"start\",\"process\":\"approval\",\"executionId\":\"w-1\"}"));
    for (int i = 0; i < LOOPS; i++) {
        CHECK_OK(
            host_call(&host, "{\"op\":\"start\",\"process\":\"ticking\",\"wait\":\"accepted\"}"));
    }

    CHECK_CASE("when it has stopped the index is where the journal ends, though timers rang on");
    CHECK_INT(actor_runtime_drain(host.runtime, DRAIN_MS), RESULT_OK);
    uint64_t end = host.journal->ops->end(host.journal);
    CHECK_INT(index_lag(&host), 0);
    refuses_what_changes_something(&host);
    actor_runtime_stop(host.runtime);
    CHECK_INT(host.journal->ops->end(host.journal), end);
    CHECK_INT(index_lag(&host), 0);
    host_close(&host);

    CHECK_CASE("the next start has nothing to make up for");
    host_open(&host, directory, options);
    CHECK_INT(host.recovery.corrupt, 0);
    CHECK_INT(host.recovery.executions, LOOPS + 1);
    struct span done = host_call(&host, "{\"op\":\"callback\",\"executionId\":\"w-1\"}");
    CHECK_INT(host_int(done, "state"), 40);
    host_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    fprintf(stderr, "one shard, durable\n");
    run(host_defaults());
    fprintf(stderr, "three shards, durability off\n");
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 3;
    options.durability = ACTOR_NOT_DURABLE;
    run(options);
    return check_report();
}
