/*
 * engine_tiers_blob_system.c: the blob tier on a real Azurite that is there, away, slow, emptied,
 * or will not let us in (seed 000: "Failure modes", "Error handling"; F85, F92, F94). The journal
 * has what the tier has not.
 */
#include "tests/system/tiers_blob.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char once[] = BPMN
    "<process id=\"once\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"a\"/>"
    "<endEvent id=\"e\"/>" FLOW("f1", "s", "a") FLOW("f2", "a", "e") "</process></definitions>";

enum { HEAVY_BYTES = 64 << 10 };

static struct server azurite;
static char large[100001];

static struct actor_runtime_options two_shards(void)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    options.heavy_session_bytes = HEAVY_BYTES;
    return options;
}

/* Quick to give up: the tests are about what comes after that. */
static struct cli_tiers_options tiers_at(uint16_t port)
{
    static char connection[400];
    server_azurite_connection(port, connection);
    return (struct cli_tiers_options){.blob_kind = CLI_BLOB_AZURE,
                                      .blob_connection = connection,
                                      .blob_container = "executions",
                                      .blob_parallel = 20,
                                      .blob_timeout_ms = 2000,
                                      .blob_tries = 2};
}

struct world {
    char directory[128];
    struct cli_tiers_options tiers;
    struct tiers_host host;
    struct tiers_blob blob;
};

static void open_engine(struct world *world)
{
    tiers_open(&world->host, world->directory, two_shards(), world->tiers);
    host_deploy(&world->host.engine, "once.bpmn", once);
}

static void begin_at(struct world *world, uint16_t port)
{
    host_directory(world->directory);
    tiers_log_clear();
    world->tiers = tiers_at(azurite.port);
    tiers_blob_open(&world->blob, &world->tiers);
    world->tiers = tiers_at(port);
    open_engine(world);
}

static void end(struct world *world)
{
    tiers_close(&world->host);
    tiers_blob_close(&world->blob);
    host_remove_directory(world->directory);
}

static int64_t start(struct world *world, const char *id, const char *text)
{
    struct span reply = host_call(&world->host.engine,
                                  "{\"op\":\"start\",\"process\":\"once\",\"executionId\":\"%s\","
                                  "\"channelSessionId\":\"c-%s\",\"request\":{\"text\":\"%s\"}}",
                                  id, id, text);
    if (!CHECK_OK(reply)) {
        host_print(&world->host.engine, id, reply);
    }
    return host_int(reply, "state");
}

static int64_t call_back(struct world *world, const char *id)
{
    struct span reply = host_call(
        &world->host.engine, "{\"op\":\"callback\",\"executionId\":\"%s\",\"payload\":{}}", id);
    if (!CHECK_OK(reply)) {
        host_print(&world->host.engine, id, reply);
    }
    return host_int(reply, "state");
}

static struct span look(struct world *world, const char *id)
{
    return host_call(&world->host.engine, "{\"op\":\"get\",\"executionId\":\"%s\"}", id);
}

/* All that the journal has is in the tier. */
static bool all_is_stored(struct world *world)
{
    return tiers_metric(&world->host, "strider_drain_lag_bytes{drain=\"blob\"}") == 0;
}

static void heavy_blob_is_there_when_the_reply_leaves(void)
{
    CHECK_CASE(
        "a heavy session's blob is in Azure when its reply leaves; a light one's follows, with "
        "the steps; an ended execution is read from there");
    struct world world;
    begin_at(&world, azurite.port);
    CHECK_INT(start(&world, "heavy-1", large), 3);
    CHECK(tiers_blob_get(&world.blob, "default/heavy-1/execution.msgpack").count > HEAVY_BYTES);
    CHECK_INT(start(&world, "light-1", "x"), 3);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/light-1/execution.msgpack").count > 0);
    CHECK_INT(call_back(&world, "heavy-1"), 40);
    CHECK_INT(call_back(&world, "light-1"), 40);
    CHECK_INT(host_int(look(&world, "heavy-1"), "state"), 40);
    CHECK_INT(host_int(look(&world, "light-1"), "state"), 40);
    TIERS_UNTIL(tiers_blob_count(&world.blob, "default/light-1/") == 4); /* 3 steps, and the end */
    CHECK_INT(tiers_ready(&world.host).count, 0);
    CHECK_OK(host_call(&world.host.engine, "{\"op\":\"delete\",\"executionId\":\"light-1\"}"));
    TIERS_UNTIL(tiers_blob_count(&world.blob, "default/light-1/") == 0);
    end(&world);
}

static void azure_goes_and_comes_back(void)
{
    CHECK_CASE("Azure is killed: light and heavy executions start, wait and end; CRITICAL lines, "
               "degraded; it comes back: all blobs are there (F92)");
    struct world world;
    begin_at(&world, azurite.port);
    CHECK_INT(start(&world, "before-1", large), 3);
    server_kill(&azurite);
    CHECK_INT(start(&world, "light-2", "x"), 3);
    CHECK_INT(start(&world, "heavy-2", large), 3);
    CHECK_INT(tiers_logged("CRITICAL HEAVY-SESSION-NOT-STORED"), 1);
    CHECK_INT(tiers_shard_metric(&world.host, "strider_heavy_sessions_not_stored_total"), 1);
    CHECK_HAS(tiers_ready(&world.host), "degraded: the blob tier fails");
    CHECK_INT(tiers_metric(&world.host, "strider_blobs_failing"), 1);
    CHECK_INT(call_back(&world, "before-1"), 40);
    CHECK_INT(call_back(&world, "heavy-2"), 40);
    CHECK_INT(call_back(&world, "light-2"), 40);
    CHECK_INT(host_int(look(&world, "light-2"), "state"), 40); /* the journal has it */
    CHECK_INT(tiers_logged("CRITICAL BLOBS-FAIL"), 1);
    REQUIRE(server_azurite_start(&azurite));
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    TIERS_UNTIL(host_int(look(&world, "light-2"), "state") == 40);
    CHECK_INT(host_int(look(&world, "heavy-2"), "state"), 40);
    CHECK_INT(host_int(look(&world, "before-1"), "state"), 40);
    end(&world);
}

static void idle_engine_notices_that_azure_is_away(void)
{
    CHECK_CASE("Azure is away when the engine starts, and nothing is stored: degraded; a crash in "
               "between loses nothing");
    struct world world;
    server_kill(&azurite);
    begin_at(&world, azurite.port);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_INT(start(&world, "early-1", large), 3);
    CHECK_INT(start(&world, "early-2", "x"), 3);
    tiers_crash(&world.host);
    open_engine(&world);
    CHECK_INT(call_back(&world, "early-1"), 40);
    REQUIRE(server_azurite_start(&azurite));
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/early-1/execution.msgpack").count > 0);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/early-2/execution.msgpack").count > 0);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    CHECK_INT(call_back(&world, "early-2"), 40);
    end(&world);
}

static void slow_azure_delays_heavy_sessions_alone(void)
{
    CHECK_CASE(
        "Azure is slow: light sessions do not wait for it, a heavy one does; a black hole ends "
        "that with a CRITICAL line");
    struct world world;
    struct proxy *proxy = proxy_start(azurite.port);
    REQUIRE(proxy != NULL);
    begin_at(&world, proxy_port(proxy));
    CHECK_INT(start(&world, "warm-1", "x"), 3);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/warm-1/execution.msgpack").count > 0);
    proxy_delay(proxy, 500);
    uint64_t begin_ms = tiers_now_ms();
    CHECK_INT(start(&world, "slow-1", "x"), 3);
    CHECK_INT(call_back(&world, "slow-1"), 40);
    CHECK(tiers_now_ms() - begin_ms < 450);
    begin_ms = tiers_now_ms();
    CHECK_INT(start(&world, "slow-2", large), 3);
    CHECK(tiers_now_ms() - begin_ms >= 450);
    CHECK(tiers_blob_get(&world.blob, "default/slow-2/execution.msgpack").count > HEAVY_BYTES);
    proxy_delay(proxy, 0);
    proxy_throttle(proxy, 60000);
    CHECK_INT(start(&world, "narrow-1", large), 3);
    CHECK(tiers_blob_get(&world.blob, "default/narrow-1/execution.msgpack").count > HEAVY_BYTES);
    proxy_throttle(proxy, 0);
    CHECK_INT(tiers_logged("CRITICAL"), 0);
    proxy_swallow(proxy, true);
    CHECK_INT(start(&world, "hole-1", large), 3);
    CHECK_INT(tiers_logged("CRITICAL HEAVY-SESSION-NOT-STORED"), 1);
    CHECK_INT(call_back(&world, "hole-1"), 40);
    proxy_swallow(proxy, false);
    proxy_cut_once(proxy);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    TIERS_UNTIL(host_int(look(&world, "hole-1"), "state") == 40);
    end(&world);
    proxy_stop(proxy);
}

/* How many blobs were stored until now. */
static long long uploaded(struct world *world)
{
    return tiers_metric(&world->host, "strider_blobs_uploaded_total");
}

/* `count` executions that have ended, each of which leaves four blobs. */
static void end_many(struct world *world, int count)
{
    for (int i = 0; i < count; i++) {
        char id[24];
        snprintf(id, sizeof id, "many-%d", i);
        CHECK_INT(start(world, id, "x"), 3);
        CHECK_INT(call_back(world, id), 40);
    }
}

static uint32_t count_steps(struct world *world, const char *id)
{
    struct span reply =
        host_call(&world->host.engine, "{\"op\":\"steps\",\"executionId\":\"%s\"}", id);
    uint32_t count = 0;
    struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "steps"));
    for (struct span step; wire_array_next(&walk, &step);) {
        count += wire_is(wire_find_text(step, "snapshot"), WIRE_MAP);
    }
    return count;
}

static void nobody_waits_behind_the_uploads(void)
{
    enum { MANY = 600, BLOBS = MANY * 4 };
    CHECK_CASE("thousands of uploads are queued at a slow Azure: what ended is read at once, from "
               "the journal or past the queue; a heavy session's blob goes ahead");
    struct world world;
    struct proxy *proxy = proxy_start(azurite.port);
    REQUIRE(proxy != NULL);
    begin_at(&world, proxy_port(proxy));
    CHECK_INT(start(&world, "old-1", "x"), 3);
    CHECK_INT(call_back(&world, "old-1"), 40);
    TIERS_UNTIL(all_is_stored(&world));
    proxy_delay(proxy, 500);
    end_many(&world, MANY);
    CHECK_INT(host_int(look(&world, "many-599"), "state"), 40);
    CHECK_INT(host_int(look(&world, "many-0"), "state"), 40);
    CHECK(tiers_metric(&world.host, "strider_blobs_from_journal_total") >= 1);
    CHECK_INT(count_steps(&world, "many-599"), 3);
    long long before = uploaded(&world);
    CHECK_INT(host_int(look(&world, "old-1"), "state"), 40); /* Azure alone has it */
    CHECK(uploaded(&world) - before < BLOBS / 4);
    before = uploaded(&world);
    CHECK_INT(start(&world, "ahead-1", large), 3);
    CHECK(uploaded(&world) - before < BLOBS / 4);
    CHECK(tiers_blob_get(&world.blob, "default/ahead-1/execution.msgpack").count > HEAVY_BYTES);
    CHECK_INT(tiers_metric(&world.host, "strider_blobs_ahead_total"), 1);
    CHECK_INT(tiers_logged("CRITICAL"), 0);
    CHECK(!all_is_stored(&world));
    proxy_swallow(proxy, true);
    CHECK_INT(host_int(look(&world, "many-598"), "state"), 40);
    CHECK_INT(call_back(&world, "ahead-1"), 40);
    CHECK_INT(host_int(look(&world, "ahead-1"), "state"), 40);
    proxy_swallow(proxy, false);
    proxy_delay(proxy, 0);
    proxy_cut_once(proxy);
    TIERS_UNTIL(all_is_stored(&world));
    CHECK_INT(host_int(look(&world, "ahead-1"), "state"), 40);
    CHECK_INT(host_int(look(&world, "many-599"), "state"), 40);
    end(&world);
    proxy_stop(proxy);
}

/* The reply of a heavy session waits for Redis, which is stopped, when its blob is in Azure. */
static void crash_between_upload_and_reply(void)
{
    CHECK_CASE("the engine dies between the upload of a heavy session and its reply: the callback "
               "that the reply would have invited is served, also by channel session");
    struct world world;
    struct server redis = {0};
    char url[64];
    if (!server_redis_installed()) {
        printf("  skipped: redis is not installed\n");
        return;
    }
    REQUIRE(server_redis_start(&redis, NULL));
    snprintf(url, sizeof url, "redis://127.0.0.1:%u/0", (unsigned)redis.port);
    begin_at(&world, azurite.port);
    tiers_close(&world.host);
    world.tiers.hot_kind = CLI_HOT_REDIS;
    world.tiers.hot_url = url;
    world.tiers.hot_key_prefix = "";
    world.tiers.hot_ttl_ms = 600000;
    world.tiers.hot_timeout_ms = 60000; /* nobody gives up before the crash */
    tiers_log_clear();
    open_engine(&world);
    TIERS_UNTIL(tiers_logged("STORAGE-REDIS-UP") > 0);
    server_pause(&redis);
    REQUIRE(host_send(&world.host.engine,
                      "{\"op\":\"start\",\"process\":\"once\",\"executionId\":\"between-1\","
                      "\"channelSessionId\":\"c-between-1\",\"request\":{\"text\":\"%s\"}}",
                      large) != 0);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/between-1/execution.msgpack").count >
                HEAVY_BYTES);
    CHECK(actor_waiter_next(&world.host.engine.replies, 0) == NULL);
    tiers_crash(&world.host);
    server_resume(&redis);
    open_engine(&world);
    CHECK_INT(host_int(host_call(&world.host.engine, "{\"op\":\"callback\",\"channelSessionId\":"
                                                     "\"c-between-1\",\"payload\":{}}"),
                       "state"),
              40);
    end(&world);
    server_remove(&redis);
}

static void wrong_key_is_said_and_survived(void)
{
    CHECK_CASE("Azure refuses our key: degraded, nothing is lost, the key is in no line");
    struct world world;
    static char connection[400];
    begin_at(&world, azurite.port);
    tiers_close(&world.host);
    snprintf(connection, sizeof connection,
             "AccountName=devstoreaccount1;AccountKey=c2VjcmV0LWtleS1vZi1ub2JvZHk=;"
             "BlobEndpoint=http://127.0.0.1:%u/devstoreaccount1",
             (unsigned)azurite.port);
    world.tiers.blob_connection = connection;
    open_engine(&world);
    CHECK_INT(start(&world, "denied-1", large), 3);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_INT(tiers_logged("c2VjcmV0"), 0);
    tiers_crash(&world.host);
    world.tiers = tiers_at(azurite.port);
    open_engine(&world);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/denied-1/execution.msgpack").count > 0);
    CHECK_INT(call_back(&world, "denied-1"), 40);
    end(&world);
}

static void emptied_and_spoilt_blobs(void)
{
    CHECK_CASE("blobs deleted by hand are written again with the next save (F94); spoilt ones cost "
               "their execution alone (F85)");
    struct world world;
    begin_at(&world, azurite.port);
    CHECK_INT(start(&world, "wiped-1", large), 3);
    CHECK_INT(tiers_blob_remove(&world.blob, "default/wiped-1/"), RESULT_OK);
    CHECK_INT(call_back(&world, "wiped-1"), 40);
    TIERS_UNTIL(tiers_blob_get(&world.blob, "default/wiped-1/execution.msgpack").count > 0);
    static const char *const ids[] = {"spoilt-1", "spoilt-2", "spoilt-3"};
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(start(&world, ids[i], "x"), 3);
        CHECK_INT(call_back(&world, ids[i]), 40);
        CHECK_INT(host_int(look(&world, ids[i]), "state"), 40);
    }
    TIERS_UNTIL(all_is_stored(&world));
    struct span sound = tiers_blob_get(&world.blob, "default/spoilt-1/execution.msgpack");
    uint8_t *half = malloc(sound.count);
    REQUIRE(half != NULL);
    memcpy(half, sound.bytes, sound.count);
    size_t count = sound.count / 2;
    CHECK_INT(
        tiers_blob_put(&world.blob, "default/spoilt-1/execution.msgpack", span_of(half, count)),
        RESULT_OK);
    CHECK_INT(tiers_blob_put(&world.blob, "default/spoilt-2/execution.msgpack", span_of("", 0)),
              RESULT_OK);
    CHECK_INT(tiers_blob_put(&world.blob, "default/spoilt-3/execution.msgpack",
                             span_text("{\"legacy\":true}")),
              RESULT_OK);
    for (size_t i = 0; i < 3; i++) {
        struct span reply = look(&world, ids[i]);
        CHECK(!wire_bool_or(wire_find_text(reply, "ok"), true));
        CHECK_OK(host_call(&world.host.engine, "{\"op\":\"ping\"}"));
    }
    CHECK_INT(host_int(look(&world, "wiped-1"), "state"), 40);
    free(half);
    end(&world);
}

int main(void)
{
    if (!server_azurite_installed()) {
        printf("skipped: azurite is not installed\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    memset(large, 'x', sizeof large - 1);
    REQUIRE(server_azurite_start(&azurite));
    heavy_blob_is_there_when_the_reply_leaves();
    azure_goes_and_comes_back();
    idle_engine_notices_that_azure_is_away();
    slow_azure_delays_heavy_sessions_alone();
    nobody_waits_behind_the_uploads();
    crash_between_upload_and_reply();
    wrong_key_is_said_and_survived();
    emptied_and_spoilt_blobs();
    server_remove(&azurite);
    return check_report();
}
