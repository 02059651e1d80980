/*
 * redis_test.c: the hot tier on a real redis-server keeps its contract, and does what it says when
 * the server is away, slow, full, old, or does not let it in.
 */
#include <ev.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/log.h"
#include "storage/redis/redis.h"
#include "tests/contract/hot_contract.h"
#include "tests/contract/servers_main.h"
#include "tests/contract/support.h"
#include "tests/contract/waiting.h"
#include "tests/servers/redis.h"

#define REDIS "redis-server"
/* One millisecond of the contract's time is ten seconds of the server's, so that a slow machine
 * does not look like time that passed. */
#define SERVER_MS_PER_MS 10000u
#define TTL_MS           (CONTRACT_HOT_TTL_MS * SERVER_MS_PER_MS)

int main(int argc, char *argv[]);

static bool start_shared(struct server *server)
{
    return server_redis_start(server, NULL);
}

int main(int argc, char *argv[])
{
    return contract_servers_main(argc, argv, REDIS, server_redis_installed, start_shared);
}

/* ---- a tier, and a second way to its server ---- */

struct desk {
    struct ev_loop *loop;
    struct storage_hot *hot;
    redisContext *server;
    char prefix[32];
    struct contract_asker asker;
};

struct wish {
    const char *login; /* "user:password@", or NULL */
    const char *path;  /* "/3", or NULL */
    uint64_t ttl_ms;
    uint32_t timeout_ms;
    uint32_t in_flight_max;
};

static struct desk desk_open(uint16_t port, struct wish wish)
{
    struct desk desk = {.loop = ev_loop_new(EVFLAG_AUTO)};
    char url[128];
    char reason[STORAGE_REDIS_REASON_BYTES] = "";
    signal(SIGPIPE, SIG_IGN);
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%u%s", wish.login == NULL ? "" : wish.login,
             (unsigned)port, wish.path == NULL ? "" : wish.path);
    snprintf(desk.prefix, sizeof desk.prefix, "test-%d:", (int)getpid());
    struct storage_redis_options options = {
        .url = url,
        .key_prefix = desk.prefix,
        .ttl_ms = wish.ttl_ms == 0 ? TTL_MS : wish.ttl_ms,
        .timeout_ms = wish.timeout_ms == 0 ? 20000 : wish.timeout_ms,
        .in_flight_max = wish.in_flight_max == 0 ? 1000 : wish.in_flight_max,
        .in_flight_bytes_max = 1u << 20,
        .retry_ms_first = 1,
        .retry_ms_max = 20,
    };
    enum result result = storage_redis_hot_open(desk.loop, &options, &desk.hot, reason);
    cr_assert_eq(result, RESULT_OK, "%s", reason);
    desk.hot = contract_hot_waiting(desk.hot, desk.loop);
    desk.server = redisConnect("127.0.0.1", port);
    contract_asker_init(&desk.asker);
    return desk;
}

static void desk_close(struct desk *desk)
{
    contract_asker_release(&desk->asker);
    desk->hot->ops->close(desk->hot);
    redisFree(desk->server);
    ev_loop_destroy(desk->loop);
}

/* A number that the server answers. */
static long long ask_server(struct desk *desk, const char *command, const char *key)
{
    redisReply *reply = redisCommand(desk->server, "%s %s%s", command, desk->prefix, key);
    cr_assert_not_null(reply, "%s", desk->server->errstr);
    cr_assert_eq(reply->type, REDIS_REPLY_INTEGER, "%s", reply->str);
    long long number = reply->integer;
    freeReplyObject(reply);
    return number;
}

static void tell_server(struct desk *desk, const char *format, const char *argument)
{
    redisReply *reply = redisCommand(desk->server, format, argument);
    cr_assert(reply != NULL && reply->type != REDIS_REPLY_ERROR, "%s: %s", format,
              reply == NULL ? desk->server->errstr : reply->str);
    freeReplyObject(reply);
}

static enum result put(struct desk *desk, const char *id, const char *bytes)
{
    struct proto_address me = contract_ask(&desk->asker);
    enum result result = desk->hot->ops->put(desk->hot, span_text(id), span_text(bytes), 0, me);
    return result != RESULT_OK ? result : contract_answer(&desk->asker)->result;
}

static enum result get(struct desk *desk, const char *id)
{
    struct proto_address me = contract_ask(&desk->asker);
    enum result result = desk->hot->ops->get(desk->hot, span_text(id), 0, me);
    return result != RESULT_OK ? result : contract_answer(&desk->asker)->result;
}

static void expect_bytes(struct desk *desk, const char *id, const char *bytes)
{
    enum result result = get(desk, id);
    cr_assert_eq(result, RESULT_OK, "%s: %s", id, result_text(result));
    cr_assert(span_is(contract_answer(&desk->asker)->bytes, bytes));
}

/* Asks until the answer is `wanted`; a machine that never gets there is stopped by ctest. */
static void get_until(struct desk *desk, const char *id, enum result wanted)
{
    while (get(desk, id) != wanted) {
        ev_run(desk->loop, EVRUN_ONCE);
    }
}

/* ---- the contract, whose times are the caller's: before each call the key is aged by what passed
 * since its last one ---- */

struct aged {
    struct storage_hot hot; /* first */
    struct desk *desk;
};

static void age(struct storage_hot *hot, const char *kind, struct span id, uint64_t now_ms)
{
    static const char script[] =
        "local last = tonumber(redis.call('HGET', KEYS[2], KEYS[1]) or ARGV[1]) "
        "redis.call('HSET', KEYS[2], KEYS[1], ARGV[1]) "
        "local left = redis.call('PTTL', KEYS[1]) "
        "if left > 0 then "
        "redis.call('PEXPIRE', KEYS[1], left - (ARGV[1] - last) * ARGV[2]) end return 1";
    struct desk *desk = ((struct aged *)hot)->desk;
    redisReply *reply = redisCommand(desk->server, "EVAL %s 2 %s%s%b %saged %llu %u", script,
                                     desk->prefix, kind, id.bytes, id.count, desk->prefix,
                                     (unsigned long long)now_ms, SERVER_MS_PER_MS);
    cr_assert(reply != NULL && reply->type == REDIS_REPLY_INTEGER, "%s",
              reply == NULL ? desk->server->errstr : reply->str);
    freeReplyObject(reply);
}

static enum result aged_put(struct storage_hot *hot, struct span id, struct span bytes,
                            uint64_t now_ms, struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    age(hot, "session:", id, now_ms);
    return inner->ops->put(inner, id, bytes, now_ms, reply_to);
}

static enum result aged_get(struct storage_hot *hot, struct span id, uint64_t now_ms,
                            struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    age(hot, "session:", id, now_ms);
    return inner->ops->get(inner, id, now_ms, reply_to);
}

static enum result aged_remove(struct storage_hot *hot, struct span id,
                               struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    return inner->ops->remove(inner, id, reply_to);
}

static enum result aged_bind(struct storage_hot *hot, struct span session, struct span id,
                             uint64_t now_ms, struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    age(hot, "channel_session:", session, now_ms);
    return inner->ops->bind(inner, session, id, now_ms, reply_to);
}

static enum result aged_resolve(struct storage_hot *hot, struct span session, uint64_t now_ms,
                                struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    age(hot, "channel_session:", session, now_ms);
    return inner->ops->resolve(inner, session, now_ms, reply_to);
}

static enum result aged_unbind(struct storage_hot *hot, struct span session, struct span id,
                               struct proto_address reply_to)
{
    struct storage_hot *inner = ((struct aged *)hot)->desk->hot;
    return inner->ops->unbind(inner, session, id, reply_to);
}

static const struct storage_hot_ops aged_ops = {
    .put = aged_put,
    .get = aged_get,
    .remove = aged_remove,
    .bind = aged_bind,
    .resolve = aged_resolve,
    .unbind = aged_unbind,
};

static void in_redis(void (*rule)(struct storage_hot *))
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){0});
    struct aged aged = {.hot = {.ops = &aged_ops}, .desk = &desk};
    rule(&aged.hot);
    desk_close(&desk);
}

#define X(rule)                                                                                    \
    Test(hot_in_redis, rule)                                                                       \
    {                                                                                              \
        in_redis(contract_hot_##rule);                                                             \
    }
CONTRACT_HOT_RULES(X)
#undef X

/* ---- what Redis adds ---- */

Test(hot_in_redis, keys_are_those_of_the_interface_and_live_for_the_ttl)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){.ttl_ms = 600000});
    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_OK);
    struct proto_address me = contract_ask(&desk.asker);
    cr_assert_eq(desk.hot->ops->bind(desk.hot, span_text("s 1"), span_text("e-1"), 0, me),
                 RESULT_OK);

    long long session = ask_server(&desk, "PTTL", "session:e-1");
    redisReply *bound = redisCommand(desk.server, "GET %s%s", desk.prefix, "channel_session:s 1");

    cr_assert(session > 300000 && session <= 600000, "%lld", session);
    cr_assert_str_eq(bound->str, "e-1");
    freeReplyObject(bound);
    desk_close(&desk);
}

Test(hot_in_redis, reads_renew_the_ttl_with_and_without_getex)
{
    CONTRACT_NEEDS(REDIS);
    static const char *const without[] = {"--rename-command", "GETEX", "", NULL};
    for (int old = 0; old < 2; old++) {
        struct server server = {0};
        cr_assert(server_redis_start(&server, old ? without : NULL));
        struct desk desk = desk_open(server.port, (struct wish){.ttl_ms = 600000});
        cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_OK);
        for (int round = 0; round < 2; round++) {
            redisReply *reply =
                redisCommand(desk.server, "PEXPIRE %ssession:e-1 100000", desk.prefix);
            freeReplyObject(reply);

            expect_bytes(&desk, "e-1", "bytes");

            cr_assert_eq(get(&desk, "none"), RESULT_NOT_FOUND);
            cr_assert_gt(ask_server(&desk, "PTTL", "session:e-1"), 300000);
        }
        desk_close(&desk);
        server_remove(&server);
    }
}

Test(hot_in_redis, a_value_of_another_type_is_a_miss)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){0});
    char key[64];
    snprintf(key, sizeof key, "%ssession:e-1", desk.prefix);
    tell_server(&desk, "RPUSH %s legacy", key);

    cr_assert_eq(get(&desk, "e-1"), RESULT_NOT_FOUND);
    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_OK);

    expect_bytes(&desk, "e-1", "bytes");
    desk_close(&desk);
}

Test(hot_in_redis, the_database_number_counts)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){.path = "/3"});
    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_OK);
    cr_assert_eq(ask_server(&desk, "EXISTS", "session:e-1"), 0);
    tell_server(&desk, "SELECT %s", "3");
    cr_assert_eq(ask_server(&desk, "EXISTS", "session:e-1"), 1);
    desk_close(&desk);
}

Test(hot_in_redis, nothing_is_written_when_the_database_does_not_exist)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){.path = "/999"});

    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_DENIED);

    cr_assert_eq(ask_server(&desk, "EXISTS", "session:e-1"), 0);
    desk_close(&desk);
}

/* ---- pipelining ---- */

struct counter {
    struct proto_sink sink; /* first */
    unsigned answers;
    unsigned by_result[RESULT_UNSUPPORTED + 1];
    bool in_order;
};

static enum result count_answer(struct proto_sink *sink, struct proto_message **message)
{
    struct counter *counter = (struct counter *)sink;
    counter->in_order = counter->in_order && (*message)->reply_to.ticket == counter->answers;
    counter->by_result[(*message)->as.port_done.result]++;
    counter->answers++;
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

/* A tier without the wrapper that waits. */
static struct storage_hot *bare_tier(struct desk *desk, uint16_t port, uint32_t timeout_ms,
                                     uint32_t in_flight_max)
{
    struct storage_hot *hot = NULL;
    char url[64];
    char reason[STORAGE_REDIS_REASON_BYTES] = "";
    snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)port);
    struct storage_redis_options options = {STORAGE_REDIS_OPTIONS_DEFAULT, .url = url,
                                            .key_prefix = desk->prefix};
    options.timeout_ms = timeout_ms;
    options.in_flight_max = in_flight_max;
    cr_assert_eq(storage_redis_hot_open(desk->loop, &options, &hot, reason), RESULT_OK);
    return hot;
}

Test(hot_in_redis, takes_many_requests_at_once_within_its_bound_and_answers_in_order)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){0});
    struct storage_hot *hot = bare_tier(&desk, server_published(REDIS), 20000, 500);
    struct counter counter = {.sink = {.send = count_answer}, .in_order = true};
    struct proto_address me = {&counter.sink, 0};

    for (unsigned round = 0; round < 2; round++) { /* before it is connected, and after */
        counter.answers = 0;
        for (me.ticket = 0; me.ticket < 500; me.ticket++) {
            char id[16];
            snprintf(id, sizeof id, "%u", (unsigned)me.ticket / 2);
            enum result result = me.ticket % 2 == 0
                                     ? hot->ops->put(hot, span_text(id), span_text(id), 0, me)
                                     : hot->ops->get(hot, span_text(id), 0, me);
            cr_assert_eq(result, RESULT_OK);
        }
        cr_assert_eq(hot->ops->get(hot, span_text("one too many"), 0, me), RESULT_AGAIN);
        while (counter.answers < 500) {
            ev_run(desk.loop, EVRUN_ONCE);
        }
        cr_assert(counter.in_order);
    }

    cr_assert_eq(counter.by_result[RESULT_OK], 1000);
    hot->ops->close(hot);
    desk_close(&desk);
}

Test(hot_in_redis, what_waits_to_be_written_is_bounded_in_bytes_too)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){0});
    struct storage_hot *hot = bare_tier(&desk, server_published(REDIS), 20000, 500);
    struct counter counter = {.sink = {.send = count_answer}, .in_order = true};
    static uint8_t bytes[60u << 20];
    struct proto_address me = {&counter.sink, 0};

    cr_assert_eq(hot->ops->put(hot, span_text("a"), span_of(bytes, sizeof bytes), 0, me),
                 RESULT_OK);
    cr_assert_eq(hot->ops->put(hot, span_text("b"), span_of(bytes, sizeof bytes), 0, me),
                 RESULT_AGAIN);
    while (counter.answers < 1) {
        ev_run(desk.loop, EVRUN_ONCE);
    }
    cr_assert_eq(hot->ops->put(hot, span_text("b"), span_of(bytes, sizeof bytes), 0, me),
                 RESULT_OK);
    hot->ops->close(hot);

    cr_assert_eq(counter.by_result[RESULT_OK], 1);
    cr_assert_eq(counter.by_result[RESULT_CLOSED], 1);
    desk_close(&desk);
}

Test(hot_in_redis, closing_answers_what_is_in_flight)
{
    CONTRACT_NEEDS(REDIS);
    struct desk desk = desk_open(server_published(REDIS), (struct wish){0});
    struct counter counter = {.sink = {.send = count_answer}, .in_order = true};
    for (unsigned connected = 0; connected < 2; connected++) {
        struct storage_hot *hot = bare_tier(&desk, server_published(REDIS), 20000, 500);
        struct proto_address me = {&counter.sink, 0};
        counter.answers = 0;
        if (connected == 1) { /* one alone: a server that is slow must not fill the bound */
            cr_assert_eq(hot->ops->get(hot, span_text("x"), 0, me), RESULT_OK);
        }
        while (connected == 1 && counter.answers == 0) {
            ev_run(desk.loop, EVRUN_ONCE);
        }
        unsigned before = counter.by_result[RESULT_CLOSED];
        for (unsigned i = 0; i < 10; i++) {
            cr_assert_eq(hot->ops->get(hot, span_text("x"), 0, me), RESULT_OK);
        }

        hot->ops->close(hot);

        cr_assert_geq(counter.by_result[RESULT_CLOSED] - before, 10);
    }
    desk_close(&desk);
}

/* ---- what goes wrong ---- */

static unsigned lines_up;
static unsigned lines_down;
static unsigned lines_denied;
static bool told_secret;

static void count_line(enum log_level level, const char *id, struct span fields)
{
    (void)level;
    lines_up += strcmp(id, "STORAGE-REDIS-UP") == 0;
    lines_down += strcmp(id, "STORAGE-REDIS-DOWN") == 0;
    lines_denied += strcmp(id, "STORAGE-REDIS-DENIED") == 0;
    told_secret = told_secret || memmem(fields.bytes, fields.count, "hunter2", 7) != NULL;
}

Test(hot_in_redis, comes_back_when_the_server_does_and_says_so_once)
{
    CONTRACT_NEEDS(REDIS);
    struct server server = {0};
    log_set_writer(count_line, LOG_DEBUG);
    cr_assert(server_redis_start(&server, NULL));
    struct desk desk = desk_open(server.port, (struct wish){0});
    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_OK);
    cr_assert_eq(lines_up, 1);

    server_kill(&server);
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(get(&desk, "e-1"), RESULT_IO, "an answer at once, not a hang");
        ev_run(desk.loop, EVRUN_ONCE);
    }
    cr_assert_eq(lines_down, 1);
    cr_assert(server_redis_start(&server, NULL));
    get_until(&desk, "e-1", RESULT_NOT_FOUND);

    cr_assert_eq(put(&desk, "e-1", "again"), RESULT_OK);
    expect_bytes(&desk, "e-1", "again");
    cr_assert_eq(lines_up, 2);
    cr_assert_eq(lines_down, 1);
    desk_close(&desk);
    server_remove(&server);
}

Test(hot_in_redis, opens_while_the_server_is_away)
{
    CONTRACT_NEEDS(REDIS);
    struct server server = {0};
    cr_assert(server_prepare(&server, NULL));
    struct desk desk = desk_open(server.port, (struct wish){0});

    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_IO);
    cr_assert(server_redis_start(&server, NULL));
    get_until(&desk, "e-1", RESULT_NOT_FOUND);

    desk_close(&desk);
    server_remove(&server);
}

Test(hot_in_redis, a_server_that_hangs_is_a_time_out_and_then_used_again)
{
    CONTRACT_NEEDS(REDIS);
    struct server server = {0};
    cr_assert(server_redis_start(&server, NULL));
    struct desk desk = desk_open(server.port, (struct wish){.timeout_ms = 300});
    while (put(&desk, "e-1", "bytes") != RESULT_OK) {
        ev_run(desk.loop, EVRUN_ONCE);
    }

    server_pause(&server);
    cr_assert_eq(get(&desk, "e-1"), RESULT_TIMEOUT);
    server_resume(&server);
    get_until(&desk, "e-1", RESULT_OK);

    cr_assert(span_is(contract_answer(&desk.asker)->bytes, "bytes"));
    desk_close(&desk);
    server_remove(&server);
}

Test(hot_in_redis, wrong_credentials_are_denied_and_not_told)
{
    CONTRACT_NEEDS(REDIS);
    static const char *const guarded[] = {"--requirepass", "right", "--user", "ann", "on",
                                          ">s@cret",       "~*",    "+@all",  NULL};
    static const struct {
        const char *login;
        enum result result;
    } rows[] = {
        {NULL, RESULT_DENIED},           {":hunter2@", RESULT_DENIED},
        {"ann:hunter2@", RESULT_DENIED}, {"hunter2:right@", RESULT_DENIED},
        {":right@", RESULT_OK},          {"ann:s%40cret@", RESULT_OK},
    };
    struct server server = {0};
    log_set_writer(count_line, LOG_DEBUG);
    cr_assert(server_redis_start(&server, guarded));
    unsigned denied = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk = desk_open(server.port, (struct wish){.login = rows[i].login});
        denied += rows[i].result == RESULT_DENIED;

        enum result result = put(&desk, "e-1", "bytes");

        cr_assert_eq(result, rows[i].result, "row %zu: %s", i, result_text(result));
        cr_assert_eq(lines_denied, denied, "said once each");
        desk_close(&desk);
    }
    cr_assert_not(told_secret);
    server_remove(&server);
}

Test(hot_in_redis, a_user_who_may_not_write_is_denied)
{
    CONTRACT_NEEDS(REDIS);
    static const char *const guarded[] = {"--user", "ann",  "on",     ">s", "~*",
                                          "-@all",  "+get", "+getex", NULL};
    struct server server = {0};
    cr_assert(server_redis_start(&server, guarded));
    struct desk desk = desk_open(server.port, (struct wish){.login = "ann:s@"});

    cr_assert_eq(put(&desk, "e-1", "bytes"), RESULT_DENIED);
    cr_assert_eq(get(&desk, "e-1"), RESULT_NOT_FOUND);

    desk_close(&desk);
    server_remove(&server);
}

Test(hot_in_redis, a_server_out_of_memory_is_full)
{
    CONTRACT_NEEDS(REDIS);
    static const char *const small[] = {"--maxmemory", "3mb", "--maxmemory-policy", "noeviction",
                                        NULL};
    struct server server = {0};
    cr_assert(server_redis_start(&server, small));
    struct desk desk = desk_open(server.port, (struct wish){0});
    static char bytes[200001];
    memset(bytes, 'b', sizeof bytes - 1);

    enum result result = RESULT_OK;
    char id[16];
    for (int i = 0; i < 50 && result == RESULT_OK; i++) {
        snprintf(id, sizeof id, "e-%d", i);
        result = put(&desk, id, bytes);
    }

    cr_assert_eq(result, RESULT_FULL, "%s", result_text(result));
    expect_bytes(&desk, "e-0", bytes);
    desk_close(&desk);
    server_remove(&server);
}

Test(hot_in_redis, a_bad_url_is_refused_with_a_reason)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    struct storage_hot *hot = NULL;
    char reason[STORAGE_REDIS_REASON_BYTES] = "";
    struct storage_redis_options options = {STORAGE_REDIS_OPTIONS_DEFAULT, .url = "rediss://h"};

    cr_assert_eq(storage_redis_hot_open(loop, &options, &hot, reason), RESULT_UNSUPPORTED);

    cr_assert_not_null(strstr(reason, "rediss://"));
    ev_loop_destroy(loop);
}
