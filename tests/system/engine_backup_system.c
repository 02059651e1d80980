/*
 * engine_backup_system.c: a backup of an engine under load is an engine: started on the copy, it
 * has everything that was acknowledged before the backup was asked for. And retention: what ended
 * long ago goes, what waits stays (F76, F88).
 */
#include "tests/system/tiers_host.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char once[] = BPMN
    "<process id=\"once\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"a\"/>"
    "<endEvent id=\"e\"/>" FLOW("f1", "s", "a") FLOW("f2", "a", "e") "</process></definitions>";

static const char fails[] = BPMN
    "<process id=\"fails\" isExecutable=\"true\"><startEvent id=\"s\"/><exclusiveGateway "
    "id=\"g\"/><endEvent id=\"e\"/>" FLOW(
        "f1", "s",
        "g") "<sequenceFlow id=\"f2\" sourceRef=\"g\" targetRef=\"e\"><conditionExpression>=false"
             "</conditionExpression></sequenceFlow></process></definitions>";

enum { EACH = 300 };

static struct actor_runtime_options two_shards(void)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    return options;
}

static void open_engine(struct tiers_host *host, const char *directory,
                        struct actor_runtime_options options)
{
    tiers_open(host, directory, options, (struct cli_tiers_options){0});
    host_deploy(&host->engine, "once.bpmn", once);
    host_deploy(&host->engine, "fails.bpmn", fails);
}

static void start_some(struct tiers_host *host, const char *prefix, int count)
{
    uint64_t ticket;
    for (int i = 0; i < count; i++) {
        REQUIRE(host_send(&host->engine,
                          "{\"op\":\"start\",\"process\":\"once\",\"executionId\":\"%s-%d\","
                          "\"channelSessionId\":\"c-%s-%d\"}",
                          prefix, i, prefix, i) != 0);
    }
    for (int i = 0; i < count; i++) {
        CHECK_INT(host_int(host_next_reply(&host->engine, &ticket), "state"), 3);
    }
}

static void end_some(struct tiers_host *host, const char *prefix, int from, int count)
{
    uint64_t ticket;
    for (int i = from; i < from + count; i++) {
        REQUIRE(host_send(&host->engine,
                          "{\"op\":\"callback\",\"channelSessionId\":\"c-%s-%d\",\"payload\":{}}",
                          prefix, i) != 0);
    }
    for (int i = 0; i < count; i++) {
        CHECK_INT(host_int(host_next_reply(&host->engine, &ticket), "state"), 40);
    }
}

static void backup_under_load_is_an_engine(void)
{
    CHECK_CASE("a backup taken while the engine works: a start on it "
               "has every acknowledged start and end before it, with logs, blobs and sessions");
    char directory[128];
    char copy[192];
    char answer[400];
    struct tiers_host host;
    host_directory(directory);
    snprintf(copy, sizeof copy, "%s-copy", directory);
    tiers_log_clear();
    open_engine(&host, directory, two_shards());
    start_some(&host, "before", EACH);
    end_some(&host, "before", 0, EACH / 2);
    /* The backup goes on while more comes; its answer is somewhere among theirs. */
    uint64_t backup = host_send(&host.engine, "{\"op\":\"backup\",\"directory\":\"%s\"}", copy);
    REQUIRE(backup != 0);
    for (int i = 0; i < EACH; i++) {
        REQUIRE(host_send(&host.engine,
                          "{\"op\":\"start\",\"process\":\"once\",\"executionId\":\"during-%d\"}",
                          i) != 0);
    }
    for (int i = 0; i < EACH + 1; i++) {
        uint64_t ticket;
        struct span reply = host_next_reply(&host.engine, &ticket);
        if (!CHECK_OK(reply)) {
            host_print(&host.engine, "reply", reply);
        }
        if (ticket == backup) {
            snprintf(answer, sizeof answer, "%.*s", SPAN_ARG(host_text(reply, "directory")));
            CHECK(host_int(reply, "position") > 0);
        }
    }
    CHECK(strcmp(answer, copy) == 0);
    struct span again = host_call(&host.engine, "{\"op\":\"backup\",\"directory\":\"%s\"}", copy);
    CHECK_TEXT(host_error(again), "InvalidRequest");
    CHECK_TEXT(
        host_error(host_call(&host.engine, "{\"op\":\"backup\",\"directory\":\"relative/path\"}")),
        "InvalidRequest");
    end_some(&host, "before", EACH / 2, EACH / 4);
    tiers_close(&host);

    open_engine(&host, copy, two_shards());
    CHECK_INT(host.engine.recovery.corrupt, 0);
    CHECK(host.engine.recovery.executions >= EACH / 2);
    end_some(&host, "before", EACH / 2, EACH / 2); /* those that ended behind it wait here */
    for (int i = 0; i < EACH / 2; i += 7) {
        CHECK_INT(
            host_int(host_call(&host.engine, "{\"op\":\"get\",\"executionId\":\"before-%d\"}", i),
                     "state"),
            40);
    }
    CHECK_INT(tiers_logged("CRITICAL"), 0);
    tiers_close(&host);
    host_remove_directory(directory);
    host_remove_directory(copy);
}

static bool is_gone(struct tiers_host *host, const char *id)
{
    struct span reply = host_call(&host->engine, "{\"op\":\"get\",\"executionId\":\"%s\"}", id);
    return span_is(host_error(reply), "SessionNotFound");
}

static uint32_t blobs_of(struct tiers_host *host, const char *prefix)
{
    struct actor_waiter waiter;
    actor_waiter_init(&waiter);
    const struct storage_blob_ops *ops = host->cli.blob->ops;
    REQUIRE(ops->list(host->cli.blob, span_text(prefix), 100,
                      (struct proto_address){.sink = &waiter.sink}) == RESULT_OK);
    struct proto_message *done = actor_waiter_next(&waiter, HOST_TIMEOUT_MS);
    uint32_t count = wire_head(done->as.port_done.bytes).as.count;
    message_free(done);
    actor_waiter_release(&waiter);
    return count;
}

static void retention_takes_the_ended_alone(void)
{
    CHECK_CASE(
        "retention of 1 s for completed and none for failed ones: the completed one goes with "
        "row and blobs, the failed and the waiting one stay and work; restarted ones stay");
    char directory[128];
    struct tiers_host host;
    host_directory(directory);
    tiers_log_clear();
    struct actor_runtime_options options = two_shards();
    options.keep_completed_ms = 1000;
    open_engine(&host, directory, options);
    start_some(&host, "r", 3);
    end_some(&host, "r", 0, 1);
    CHECK_INT(host_int(host_call(&host.engine, "{\"op\":\"start\",\"process\":\"fails\","
                                               "\"executionId\":\"failed\"}"),
                       "state"),
              24);
    end_some(&host, "r", 1, 1);
    CHECK_OK(host_call(&host.engine, "{\"op\":\"restart\",\"executionId\":\"r-1\"}"));
    TIERS_UNTIL(is_gone(&host, "r-0"));
    TIERS_UNTIL(tiers_metric(&host, "strider_retention_deleted_total") == 1);
    CHECK(!is_gone(&host, "r-1"));
    CHECK(!is_gone(&host, "failed"));
    CHECK(!is_gone(&host, "r-2"));
    CHECK_INT(
        host_int(host_call(&host.engine, "{\"op\":\"callback\",\"channelSessionId\":\"c-r-2\","
                                         "\"payload\":{}}"),
                 "state"),
        40);
    TIERS_UNTIL(is_gone(&host, "r-2"));
    tiers_close(&host);
    open_engine(&host, directory, two_shards()); /* for good */
    CHECK(is_gone(&host, "r-0"));
    CHECK(!is_gone(&host, "failed"));
    tiers_close(&host);
    tiers_open(&host, directory, two_shards(), (struct cli_tiers_options){0});
    actor_runtime_stop(host.cli.runtime);
    CHECK_INT(blobs_of(&host, "default/r-0/"), 0);
    CHECK(blobs_of(&host, "default/failed/") > 0);
    tiers_close(&host);
    host_remove_directory(directory);
}

int main(void)
{
    backup_under_load_is_an_engine();
    retention_takes_the_ended_alone();
    return check_report();
}
