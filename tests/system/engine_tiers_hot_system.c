/*
 * engine_tiers_hot_system.c: the hot tier on a real Redis that is there, away, slow, full, or will
 * not let us in (seed 000: "Failure modes", "Error handling"; F89, F91, F136, F137). Whatever it
 * does: nothing is lost, and who comes back is served.
 */
#include "tests/system/tiers_host.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"

static const char twice[] =
    BPMN "<process id=\"twice\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"a\"/>"
         "<userTask id=\"b\"/><endEvent id=\"e\"/>" FLOW("f1", "s", "a") FLOW("f2", "a", "b")
             FLOW("f3", "b", "e") "</process></definitions>";

enum { TTL_MS = 600000, TIMEOUT_MS = 400 };

static struct server redis_server;

static struct actor_runtime_options two_shards(void)
{
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    options.heavy_session_bytes = 64 << 10;
    return options;
}

static struct cli_tiers_options tiers_at(uint16_t port)
{
    static char url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%u/0", (unsigned)port);
    return (struct cli_tiers_options){.hot_kind = CLI_HOT_REDIS,
                                      .hot_url = url,
                                      .hot_key_prefix = "",
                                      .hot_ttl_ms = TTL_MS,
                                      .hot_timeout_ms = TIMEOUT_MS};
}

struct world {
    char directory[128];
    struct tiers_host host;
    struct tiers_redis redis;
};

static void begin_at(struct world *world, uint16_t port)
{
    host_directory(world->directory);
    tiers_log_clear();
    tiers_redis_open(&world->redis, redis_server.port);
    TIERS_REDIS(&world->redis, "FLUSHALL");
    tiers_open(&world->host, world->directory, two_shards(), tiers_at(port));
    host_deploy(&world->host.engine, "twice.bpmn", twice);
}

static void begin(struct world *world)
{
    begin_at(world, redis_server.port);
    TIERS_UNTIL(tiers_ready(&world->host).count == 0 && tiers_logged("STORAGE-REDIS-UP") > 0);
}

static void end(struct world *world)
{
    tiers_close(&world->host);
    tiers_redis_close(&world->redis);
    host_remove_directory(world->directory);
}

static void start(struct world *world, const char *id)
{
    struct span reply = host_call(&world->host.engine,
                                  "{\"op\":\"start\",\"process\":\"twice\",\"executionId\":\"%s\","
                                  "\"channelSessionId\":\"c-%s\",\"request\":{\"n\":1}}",
                                  id, id);
    CHECK_INT(host_int(reply, "state"), 3);
}

/* A callback by execution; the state it comes to. */
static int64_t call_back(struct world *world, const char *id)
{
    struct span reply = host_call(
        &world->host.engine, "{\"op\":\"callback\",\"executionId\":\"%s\",\"payload\":{}}", id);
    if (!CHECK_OK(reply)) {
        host_print(&world->host.engine, id, reply);
    }
    return host_int(reply, "state");
}

static int64_t call_session(struct world *world, const char *session)
{
    struct span reply =
        host_call(&world->host.engine,
                  "{\"op\":\"callback\",\"channelSessionId\":\"%s\",\"payload\":{}}", session);
    if (!CHECK_OK(reply)) {
        host_print(&world->host.engine, session, reply);
    }
    return host_int(reply, "state");
}

static void light_session_lives_in_redis(void)
{
    CHECK_CASE("a light session is in Redis when its reply leaves, with both time-outs; a resume "
               "renews them; its end removes both");
    struct world world;
    begin(&world);
    start(&world, "light-1");
    CHECK(tiers_redis_get(&world.redis, "session:light-1").count > 100);
    CHECK_TEXT(tiers_redis_get(&world.redis, "channel_session:c-light-1"), "light-1");
    CHECK(tiers_redis_ttl_ms(&world.redis, "session:light-1") > TTL_MS - 60000);
    CHECK(tiers_redis_ttl_ms(&world.redis, "channel_session:c-light-1") > TTL_MS - 60000);
    TIERS_REDIS(&world.redis, "PEXPIRE session:light-1 30000");
    CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"light-1\"}"));
    CHECK(tiers_redis_ttl_ms(&world.redis, "session:light-1") > TTL_MS - 60000);
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_hits_total"), 1);
    CHECK_INT(call_session(&world, "c-light-1"), 3);
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_hits_total"), 2);
    CHECK_INT(call_back(&world, "light-1"), 40);
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:light-1").count == 0);
    TIERS_UNTIL(tiers_redis_get(&world.redis, "channel_session:c-light-1").count == 0);
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_misses_total"), 0);
    end(&world);
}

static void end_leaves_the_binding_of_another(void)
{
    CHECK_CASE("a session that another execution has taken over meanwhile keeps its index entry");
    struct world world;
    begin(&world);
    start(&world, "old-1");
    TIERS_REDIS(&world.redis, "SET channel_session:c-old-1 somebody-else");
    CHECK_INT(call_back(&world, "old-1"), 3);
    TIERS_REDIS(&world.redis, "SET channel_session:c-old-1 somebody-else");
    CHECK_INT(call_back(&world, "old-1"), 40);
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:old-1").count == 0);
    CHECK_TEXT(tiers_redis_get(&world.redis, "channel_session:c-old-1"), "somebody-else");
    end(&world);
}

static void refused_by_session(struct world *world, const char *session)
{
    struct span reply =
        host_call(&world->host.engine,
                  "{\"op\":\"callback\",\"channelSessionId\":\"%s\",\"payload\":{}}", session);
    CHECK_TEXT(host_error(reply), "SessionNotFound");
}

static void stale_index_entries_are_nobody(void)
{
    CHECK_CASE("an index entry of an execution that has ended, that has another session or that "
               "never was: nobody waits there, at both shards; the first goes");
    struct world world;
    char id[24];
    char session[48];
    begin(&world);
    for (int i = 0; i < 4; i++) {
        snprintf(id, sizeof id, "ended-%d", i);
        start(&world, id);
        CHECK_INT(call_back(&world, id), 3);
        CHECK_INT(call_back(&world, id), 40);
        snprintf(id, sizeof id, "other-%d", i);
        start(&world, id);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(session, sizeof session, "channel_session:c-ended-%d", i);
        TIERS_UNTIL(tiers_redis_get(&world.redis, session).count == 0);
        TIERS_REDIS(&world.redis, "SET channel_session:c-ended-%d ended-%d", i, i);
        TIERS_REDIS(&world.redis, "SET channel_session:c-older-%d other-%d", i, i);
        TIERS_REDIS(&world.redis, "SET channel_session:c-never-%d never-%d", i, i);
        static const char *const whose[] = {"ended", "older", "never"};
        for (size_t j = 0; j < 3; j++) {
            snprintf(session, sizeof session, "c-%s-%d", whose[j], i);
            refused_by_session(&world, session);
        }
        snprintf(session, sizeof session, "channel_session:c-ended-%d", i);
        TIERS_UNTIL(tiers_redis_get(&world.redis, session).count == 0);
        snprintf(id, sizeof id, "other-%d", i);
        CHECK_INT(call_back(&world, id), 3); /* it was not touched */
    }
    end(&world);
}

static void heavy_session_is_never_in_redis(void)
{
    CHECK_CASE(
        "a heavy session is never in Redis, its reverse index is; one that grew heavy leaves");
    struct world world;
    begin(&world);
    static char large[100001];
    memset(large, 'x', sizeof large - 1);
    struct span reply =
        host_call(&world.host.engine,
                  "{\"op\":\"start\",\"process\":\"twice\",\"executionId\":\"heavy-1\","
                  "\"channelSessionId\":\"c-heavy-1\",\"request\":{\"text\":\"%s\"}}",
                  large);
    CHECK_INT(host_int(reply, "state"), 3);
    CHECK_INT(tiers_redis_get(&world.redis, "session:heavy-1").count, 0);
    CHECK_TEXT(tiers_redis_get(&world.redis, "channel_session:c-heavy-1"), "heavy-1");
    start(&world, "grows-1");
    CHECK(tiers_redis_get(&world.redis, "session:grows-1").count > 0);
    reply = host_call(
        &world.host.engine,
        "{\"op\":\"callback\",\"executionId\":\"grows-1\",\"payload\":{\"text\":\"%s\"}}", large);
    CHECK_INT(host_int(reply, "state"), 3);
    CHECK_INT(tiers_redis_get(&world.redis, "session:grows-1").count, 0);
    CHECK_INT(call_session(&world, "c-heavy-1"), 3);
    CHECK_INT(call_back(&world, "heavy-1"), 40);
    CHECK_INT(call_back(&world, "grows-1"), 40);
    end(&world);
}

static void expired_session_resumes_cold_and_is_warmed(void)
{
    CHECK_CASE(
        "a session that Redis let go of is resumed the cold way (F89), and is in Redis again");
    struct world world;
    begin(&world);
    start(&world, "cold-1");
    TIERS_REDIS(&world.redis, "FLUSHALL");
    CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"cold-1\"}"));
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_misses_total"), 1);
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:cold-1").count > 0);
    CHECK_TEXT(tiers_redis_get(&world.redis, "channel_session:c-cold-1"), "cold-1");
    CHECK_INT(call_back(&world, "cold-1"), 3);
    CHECK_INT(call_back(&world, "cold-1"), 40);
    end(&world);
}

static void strange_bytes_are_a_miss(void)
{
    CHECK_CASE(
        "legacy, torn, foreign and outdated bytes in Redis are misses with a warning, never a "
        "crash");
    struct world world;
    begin(&world);
    start(&world, "strange-1");
    struct span first = tiers_redis_get(&world.redis, "session:strange-1");
    uint8_t *kept = malloc(first.count);
    size_t count = first.count;
    REQUIRE(kept != NULL);
    memcpy(kept, first.bytes, count);
    static const char bson[] = "\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00";
    const struct span strange[] = {span_of(bson, sizeof bson), span_of(kept, count / 2),
                                   span_of("", 1), span_text("null")};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        TIERS_REDIS(&world.redis, "SET session:strange-1 %b", strange[i].bytes, strange[i].count);
        CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"strange-1\"}"));
        CHECK_INT(tiers_logged("WARN HOT-STRANGE-BYTES"), i + 1);
        TIERS_UNTIL(tiers_redis_get(&world.redis, "session:strange-1").count == count);
    }
    TIERS_REDIS(&world.redis, "DEL session:strange-1");
    TIERS_REDIS(&world.redis, "LPUSH session:strange-1 list");
    CHECK_INT(call_back(&world, "strange-1"), 3);
    TIERS_REDIS(&world.redis, "SET session:strange-1 %b", kept, count);
    CHECK_INT(call_back(&world, "strange-1"), 40); /* not the first task again */
    free(kept);
    end(&world);
}

static void redis_goes_and_comes_back(void)
{
    CHECK_CASE("Redis is killed: starts and resumes go on, readiness names the tier, one CRITICAL "
               "line; it comes back: all is well again (F136)");
    struct world world;
    begin(&world);
    start(&world, "gone-1");
    tiers_redis_close(&world.redis);
    server_kill(&redis_server);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_HAS(tiers_ready(&world.host), "degraded: the hot tier fails");
    CHECK_INT(call_back(&world, "gone-1"), 3);
    start(&world, "gone-2");
    for (int i = 0; i < 20; i++) {
        CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"gone-2\"}"));
    }
    CHECK_INT(tiers_logged("CRITICAL HOT-FAILS"), 1);
    CHECK_INT(tiers_logged("STORAGE-REDIS-DOWN"), 1);
    CHECK(tiers_metric(&world.host, "strider_hot_failures_total") > 20);
    CHECK_INT(tiers_metric(&world.host, "strider_hot_failing"), 1);
    REQUIRE(server_redis_start(&redis_server, NULL));
    tiers_redis_open(&world.redis, redis_server.port);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    CHECK_INT(tiers_logged("INFO HOT-WORKS-AGAIN"), 1);
    CHECK_INT(call_back(&world, "gone-1"), 40);
    CHECK_INT(call_session(&world, "c-gone-2"), 3);
    CHECK(tiers_redis_get(&world.redis, "session:gone-2").count > 0);
    CHECK_INT(call_back(&world, "gone-2"), 40);
    end(&world);
}

static void redis_is_absent_at_the_start(void)
{
    CHECK_CASE("Redis is absent when the engine starts: it serves, and uses Redis once that comes");
    struct world world;
    tiers_log_clear();
    host_directory(world.directory);
    server_kill(&redis_server);
    tiers_open(&world.host, world.directory, two_shards(), tiers_at(redis_server.port));
    host_deploy(&world.host.engine, "twice.bpmn", twice);
    start(&world, "early-1");
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    CHECK_INT(call_back(&world, "early-1"), 3);
    REQUIRE(server_redis_start(&redis_server, NULL));
    tiers_redis_open(&world.redis, redis_server.port);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"early-1\"}"));
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:early-1").count > 0);
    CHECK_INT(call_back(&world, "early-1"), 40);
    end(&world);
}

static void slow_redis_costs_its_timeout_and_no_more(void)
{
    CHECK_CASE("Redis answers slower than its time-out: each request costs that at most, and is "
               "served; a cut connection is mended (F137)");
    struct world world;
    struct proxy *proxy = proxy_start(redis_server.port);
    REQUIRE(proxy != NULL);
    begin_at(&world, proxy_port(proxy));
    TIERS_UNTIL(tiers_logged("STORAGE-REDIS-UP") > 0);
    start(&world, "slow-1");
    proxy_delay(proxy, 2000);
    uint64_t begin_ms = tiers_now_ms();
    start(&world, "slow-2");
    CHECK_INT(call_back(&world, "slow-1"), 3);
    CHECK_INT(call_back(&world, "slow-2"), 3);
    CHECK(tiers_now_ms() - begin_ms < 20 * TIMEOUT_MS);
    TIERS_UNTIL(tiers_logged("CRITICAL HOT-FAILS") == 1);
    proxy_delay(proxy, 0);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    CHECK_INT(call_back(&world, "slow-1"), 40);
    proxy_cut_once(proxy);
    CHECK_INT(call_back(&world, "slow-2"), 40);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    proxy_swallow(proxy, true);
    start(&world, "slow-3");
    CHECK_INT(call_back(&world, "slow-3"), 3);
    CHECK_INT(call_back(&world, "slow-3"), 40);
    end(&world);
    proxy_stop(proxy);
}

static void full_redis_loses_nothing(void)
{
    CHECK_CASE(
        "Redis is at maxmemory and evicts nothing: counted, degraded, nothing is lost; when it "
        "has room it is used again (F91)");
    struct world world;
    begin(&world);
    start(&world, "full-1");
    TIERS_REDIS(&world.redis, "CONFIG SET maxmemory-policy noeviction");
    TIERS_REDIS(&world.redis, "CONFIG SET maxmemory 1");
    start(&world, "full-2");
    CHECK_INT(tiers_redis_get(&world.redis, "session:full-2").count, 0);
    CHECK(tiers_logged("CRITICAL HOT-FAILS reason=\"") == 1);
    CHECK_INT(call_back(&world, "full-2"), 3);
    CHECK_INT(call_back(&world, "full-1"), 3);
    CHECK_INT(call_back(&world, "full-1"), 40);
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:full-1").count == 0); /* DEL is allowed */
    CHECK_INT(tiers_logged("STORAGE-REDIS-EVICTS"), 0);
    TIERS_REDIS(&world.redis, "CONFIG SET maxmemory-policy allkeys-lru");
    TIERS_REDIS(&world.redis, "CONFIG SET maxmemory 100mb");
    TIERS_REDIS(&world.redis, "CLIENT KILL TYPE normal SKIPME yes");
    TIERS_UNTIL(tiers_logged("WARN STORAGE-REDIS-EVICTS") == 1);
    TIERS_REDIS(&world.redis, "CONFIG SET maxmemory 0");
    CHECK_OK(host_call(&world.host.engine, "{\"op\":\"get\",\"executionId\":\"full-2\"}"));
    TIERS_UNTIL(tiers_redis_get(&world.redis, "session:full-2").count > 0);
    CHECK_INT(call_back(&world, "full-2"), 40);
    TIERS_UNTIL(tiers_ready(&world.host).count == 0);
    end(&world);
}

static void wrong_password_is_said_and_survived(void)
{
    CHECK_CASE("Redis wants another password: said once without it, degraded, all is served");
    struct world world;
    static char url[80];
    struct cli_tiers_options tiers = tiers_at(redis_server.port);
    snprintf(url, sizeof url, "redis://:hunter2secret@127.0.0.1:%u/0", (unsigned)redis_server.port);
    tiers.hot_url = url;
    host_directory(world.directory);
    tiers_log_clear();
    tiers_redis_open(&world.redis, redis_server.port);
    TIERS_REDIS(&world.redis, "CONFIG SET requirepass right");
    tiers_open(&world.host, world.directory, two_shards(), tiers);
    host_deploy(&world.host.engine, "twice.bpmn", twice);
    start(&world, "denied-1");
    CHECK_INT(call_back(&world, "denied-1"), 3);
    TIERS_UNTIL(tiers_ready(&world.host).count > 0);
    TIERS_UNTIL(tiers_logged("ERROR STORAGE-REDIS-DENIED") == 1);
    CHECK_INT(tiers_logged("hunter2secret"), 0);
    CHECK_INT(call_back(&world, "denied-1"), 40);
    TIERS_REDIS(&world.redis, "AUTH right");
    TIERS_REDIS(&world.redis, "CONFIG SET requirepass %s", "");
    end(&world);
}

static void hot_sessions_outlive_the_engine(void)
{
    CHECK_CASE("after a restart with another number of shards the sessions in Redis are hits");
    struct world world;
    begin(&world);
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "keep-%d", i);
        start(&world, id);
    }
    tiers_crash(&world.host);
    struct actor_runtime_options options = two_shards();
    options.shard_count = 3;
    tiers_open(&world.host, world.directory, options, tiers_at(redis_server.port));
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "c-keep-%d", i);
        CHECK_INT(call_session(&world, id), 3);
    }
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_hits_total"), 20);
    CHECK_INT(tiers_shard_metric(&world.host, "strider_hot_misses_total"), 0);
    end(&world);
}

int main(void)
{
    if (!server_redis_installed()) {
        printf("skipped: redis-server is not installed\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    REQUIRE(server_redis_start(&redis_server, NULL));
    light_session_lives_in_redis();
    end_leaves_the_binding_of_another();
    stale_index_entries_are_nobody();
    heavy_session_is_never_in_redis();
    expired_session_resumes_cold_and_is_warmed();
    strange_bytes_are_a_miss();
    redis_goes_and_comes_back();
    redis_is_absent_at_the_start();
    slow_redis_costs_its_timeout_and_no_more();
    full_redis_loses_nothing();
    wrong_password_is_said_and_survived();
    hot_sessions_outlive_the_engine();
    server_remove(&redis_server);
    return check_report();
}
