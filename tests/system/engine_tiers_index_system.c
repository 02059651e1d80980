/*
 * engine_tiers_index_system.c: the index in a real PostgreSQL that is there, away, or will not let
 * us in, and the blobs in a folder (seed 000: "Bus consumer is down", cold resume by the database
 * and the blob). An engine whose data directory was lost takes over what waits.
 */
#include "tests/system/tiers_host.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char twice[] =
    BPMN "<process id=\"twice\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"a\"/>"
         "<userTask id=\"b\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "a") FLOW("f2", "a", "b")
             FLOW("f3", "b", "e") "</process></definitions>";

static const char nap[] = BPMN
    "<process id=\"nap\" isExecutable=\"true\"><startEvent id=\"s\"/>"
    "<intermediateCatchEvent "
    "id=\"t\"><timerEventDefinition><timeDuration>=request.nap</timeDuration>"
    "</timerEventDefinition></intermediateCatchEvent>"
    "<endEvent id=\"e\"/>" FLOW("f1", "s", "t") FLOW("f2", "t", "e") "</process></definitions>";

/* The driver's own. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:psqlodbcw.so\n";
}

static struct server database;

static struct actor_runtime_options two_shards(void)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    return options;
}

struct world {
    char directory[128];
    char folder[192];
    char connection[300];
    struct cli_tiers_options tiers;
    struct tiers_host host;
};

static void say_connection(struct world *world, const char *password)
{
    snprintf(world->connection, sizeof world->connection,
             "Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=%u;Database=postgres;UID=strider;"
             "PWD=%s;",
             (unsigned)database.port, password);
    world->tiers =
        (struct cli_tiers_options){.index_kind = CLI_INDEX_ODBC,
                                   .index_connection = world->connection,
                                   .index_timeout_ms = 30000, /* a dead server refuses at once */
                                   .blob_kind = CLI_BLOB_FOLDER,
                                   .blob_directory = world->folder};
}

static void open_engine(struct world *world)
{
    tiers_open(&world->host, world->directory, two_shards(), world->tiers);
    host_deploy(&world->host.engine, "twice.bpmn", twice);
    host_deploy(&world->host.engine, "nap.bpmn", nap);
}

static void begin(struct world *world)
{
    *world = (struct world){0};
    host_directory(world->directory);
    snprintf(world->folder, sizeof world->folder, "%s-blobs", world->directory);
    say_connection(world, "secret");
    tiers_log_clear();
}

static void end(struct world *world)
{
    tiers_close(&world->host);
    host_remove_directory(world->directory);
    host_remove_directory(world->folder);
}

static int64_t start(struct world *world, const char *id)
{
    struct span reply = host_call(&world->host.engine,
                                  "{\"op\":\"start\",\"process\":\"twice\",\"executionId\":\"%s\","
                                  "\"channelSessionId\":\"c-%s\",\"requestId\":\"r-%s\"}",
                                  id, id, id);
    if (!CHECK_OK(reply)) {
        host_print(&world->host.engine, id, reply);
    }
    return host_int(reply, "state");
}

static struct span call_back(struct world *world, const char *id)
{
    return host_call(&world->host.engine,
                     "{\"op\":\"callback\",\"executionId\":\"%s\",\"payload\":{}}", id);
}

static bool is_listed(struct world *world, const char *id)
{
    struct span reply = host_call(&world->host.engine, "{\"op\":\"list\",\"limit\":1000}");
    struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "executions"));
    struct span row;
    while (wire_array_next(&walk, &row)) {
        if (span_is(host_text(row, "executionId"), id)) {
            return true;
        }
    }
    return false;
}

static void database_goes_and_comes_back(void)
{
    CHECK_CASE(
        "the database is killed: starts with ids, callbacks and ends go on, readiness names the "
        "index, list is StorageFailed; it comes back: all rows are there");
    struct world world;
    begin(&world);
    open_engine(&world);
    CHECK_INT(start(&world, "there-1"), 3);
    CHECK(is_listed(&world, "there-1"));
    server_kill(&database);
    CHECK_INT(host_int(call_back(&world, "there-1"), "state"), 3);
    CHECK_INT(start(&world, "gone-1"), 3);
    CHECK_INT(host_int(call_back(&world, "gone-1"), "state"), 3);
    CHECK_INT(host_int(call_back(&world, "gone-1"), "state"), 40);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_HAS(tiers_ready(&world.host), "degraded: the index cannot be written");
    CHECK_TEXT(host_error(host_call(&world.host.engine, "{\"op\":\"list\"}")), "StorageFailed");
    /* A taken id is refused all the same: the blob tells. */
    struct span again = host_call(&world.host.engine, "{\"op\":\"start\",\"process\":\"twice\","
                                                      "\"executionId\":\"gone-1\"}");
    CHECK(!wire_bool_or(wire_find_text(again, "ok"), true));
    REQUIRE(server_postgresql_start(&database));
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    TIERS_UNTIL(is_listed(&world, "gone-1"));
    CHECK_INT(tiers_logged("secret"), 0);
    end(&world);
}

static void database_is_absent_at_the_start(void)
{
    CHECK_CASE(
        "the database is absent when the engine starts, or refuses its password: it serves, and "
        "nothing is missing when that is mended");
    struct world world;
    begin(&world);
    server_kill(&database);
    open_engine(&world);
    CHECK_INT(start(&world, "early-1"), 3);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    tiers_crash(&world.host);
    open_engine(&world);
    CHECK_INT(host_int(call_back(&world, "early-1"), "state"), 3);
    REQUIRE(server_postgresql_start(&database));
    TIERS_UNTIL(is_listed(&world, "early-1"));
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    tiers_close(&world.host);
    tiers_log_clear();
    say_connection(&world, "hunter2wrong");
    open_engine(&world);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_INT(start(&world, "denied-1"), 3);
    CHECK_INT(tiers_logged("hunter2wrong"), 0);
    tiers_close(&world.host);
    say_connection(&world, "secret");
    open_engine(&world);
    TIERS_UNTIL(is_listed(&world, "denied-1"));
    end(&world);
}

static void lost_data_directory_is_taken_over(void)
{
    CHECK_CASE(
        "the data directory is lost: what waits is found by its row and its blob, and goes on; "
        "what ended has ended");
    struct world world;
    begin(&world);
    open_engine(&world);
    static const char *const ids[] = {"lost-1", "lost-2", "lost-3"};
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(start(&world, ids[i]), 3);
    }
    CHECK_INT(host_int(call_back(&world, "lost-1"), "state"), 3);
    CHECK_INT(host_int(call_back(&world, "lost-2"), "state"), 3);
    CHECK_INT(host_int(call_back(&world, "lost-2"), "state"), 40);
    CHECK_INT(host_int(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"lost-2\"}"),
                       "state"),
              40); /* all blobs are stored */
    CHECK_INT(actor_runtime_drain(world.host.cli.runtime, 30000), RESULT_OK);
    tiers_close(&world.host);
    host_remove_directory(world.directory);

    host_directory(world.directory);
    open_engine(&world);
    CHECK_INT(host_int(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"lost-1\"}"),
                       "state"),
              3);
    CHECK_INT(host_int(call_back(&world, "lost-1"), "state"), 40);
    CHECK_TEXT(host_error(call_back(&world, "lost-2")), "AlreadyFinished");
    CHECK_TEXT(host_error(call_back(&world, "never-1")), "SessionNotFound");
    CHECK_INT(host_int(call_back(&world, "lost-3"), "state"), 3);
    CHECK_INT(tiers_logged("WARN EXECUTION-TAKEN-OVER"),
              3); /* twice the first, which was only looked at */
    tiers_crash(&world.host);
    open_engine(&world); /* it is this engine's own now */
    CHECK_INT(host_int(call_back(&world, "lost-3"), "state"), 40);
    end(&world);
}

static int64_t state_of(struct world *world, const char *op, const char *id)
{
    return host_int(
        host_call(&world->host.engine, "{\"op\":\"%s\",\"executionId\":\"%s\"}", op, id), "state");
}

/* Starts a nap and loses the data directory; false: it was too short for that. */
static bool lose_sleeper(struct world *world, const char *id, int seconds)
{
    CHECK_INT(host_int(host_call(&world->host.engine,
                                 "{\"op\":\"start\",\"process\":\"nap\",\"executionId\":\"%s\","
                                 "\"request\":{\"nap\":\"PT%dS\"}}",
                                 id, seconds),
                       "state"),
              3);
    CHECK_INT(actor_runtime_drain(world->host.cli.runtime, 30000), RESULT_OK);
    tiers_close(&world->host);
    host_remove_directory(world->directory);
    host_directory(world->directory);
    open_engine(world);
    return state_of(world, "get", id) == 3;
}

/* It may be another engine's that lives, so nothing but a call makes it this one's. */
static void lost_timers_fire_when_an_operator_says_so(void)
{
    CHECK_CASE("what waited for its time alone is taken over by suspend, and fires after resume");
    struct world world;
    char id[32] = "";
    bool lost = false;
    begin(&world);
    open_engine(&world);
    for (int seconds = 2; seconds <= 64 && !lost; seconds *= 2) {
        (void)snprintf(id, sizeof id, "nap-%d", seconds);
        lost = lose_sleeper(&world, id, seconds);
    }
    CHECK(lost);
    size_t looked = tiers_logged("WARN EXECUTION-TAKEN-OVER");
    CHECK_INT(state_of(&world, "suspend", id), 3);
    CHECK_INT(tiers_logged("WARN EXECUTION-TAKEN-OVER"), (long long)looked + 1);
    tiers_crash(&world.host);
    open_engine(&world); /* it is this engine's own now */
    CHECK(state_of(&world, "resume", id) > 0);
    TIERS_UNTIL(state_of(&world, "get", id) == 40);
    end(&world);
}

int main(void)
{
    if (!server_postgresql_installed() || !server_odbc_driver_installed("PostgreSQL Unicode")) {
        printf("skipped: postgresql or its ODBC driver is not installed\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    REQUIRE(server_postgresql_start(&database));
    database_goes_and_comes_back();
    database_is_absent_at_the_start();
    lost_data_directory_is_taken_over();
    lost_timers_fire_when_an_operator_says_so();
    server_remove(&database);
    return check_report();
}
