/*
 * front_system.c: the NNG front with real peers: both spellings, 10,000 malformed frames, tokens,
 * overload, thousands of requests waiting at once, answers from many threads, twice and late, a
 * peer that does not read, closing under fire.
 */
#include <arpa/inet.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/system/check.h"
#include "tests/system/nng_leaks.h"
#include "transport/client.h"
#include "transport/front.h"

#define TIMEOUT_MS 20000
#define HELD_MAX   8192u

/* The router of these tests: answers at once with the request's own `n`, or holds requests until
 * told. */
struct router {
    struct proto_sink sink;
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool holding;
    enum result refuse; /* RESULT_OK: takes requests */
    bool twice;         /* every request is answered two times */
    size_t filler;      /* bytes of padding in each answer */
    struct proto_message *held[HELD_MAX];
    size_t held_count;
    size_t taken; /* requests so far */
};

static struct router router;

static void answer_request(struct proto_message *request)
{
    struct span n = wire_find_text(request->as.request.body, "n");
    struct arena arena;
    arena_init(&arena, 4096, 8u << 20);
    struct wire_writer writer;
    wire_writer_init(&writer, &arena, 128);
    wire_write_map(&writer, router.filler > 0 ? 5 : 4);
    wire_pair_int(&writer, "v", 1);
    wire_pair_bool(&writer, "ok", true);
    wire_pair_text(&writer, "op", proto_operation_name(request->as.request.operation));
    wire_pair_value(&writer, "n", n);
    if (router.filler > 0) {
        char *filler = malloc(router.filler);
        REQUIRE(filler != NULL);
        memset(filler, 'f', router.filler);
        wire_pair_string(&writer, "filler", span_of(filler, router.filler));
        free(filler);
    }
    struct span body = wire_writer_span(&writer);
    for (int times = router.twice ? 2 : 1; times > 0; times--) {
        struct proto_message *reply = message_new(PROTO_REPLY, body.count);
        REQUIRE(reply != NULL);
        reply->as.reply.ok = true;
        reply->as.reply.body = message_keep(reply, body);
        message_answer(request->reply_to, reply);
    }
    arena_release(&arena);
    message_free(request);
}

static enum result take_request(struct proto_sink *self, struct proto_message **message)
{
    (void)self;
    pthread_mutex_lock(&router.mutex);
    enum result refuse = router.refuse;
    bool hold = router.holding && refuse == RESULT_OK;
    struct proto_message *request = *message;
    router.taken++;
    pthread_cond_broadcast(&router.came);
    if (hold) {
        REQUIRE(router.held_count < HELD_MAX);
        router.held[router.held_count++] = request;
    }
    pthread_mutex_unlock(&router.mutex);
    if (refuse != RESULT_OK) {
        return refuse;
    }
    *message = NULL;
    if (!hold) {
        answer_request(request);
    }
    return RESULT_OK;
}

static void router_hold(bool holding)
{
    pthread_mutex_lock(&router.mutex);
    router.holding = holding;
    pthread_mutex_unlock(&router.mutex);
}

/* Waits until `*number` (under the mutex) is `count` or more. */
static void await_number(const size_t *number, size_t count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TIMEOUT_MS / 1000;
    pthread_mutex_lock(&router.mutex);
    int code = 0;
    while (*number < count && code == 0) {
        code = pthread_cond_timedwait(&router.came, &router.mutex, &until);
    }
    CHECK(*number >= count);
    pthread_mutex_unlock(&router.mutex);
}

static void router_await(size_t count)
{
    await_number(&router.held_count, count);
}

static size_t router_taken(void)
{
    pthread_mutex_lock(&router.mutex);
    size_t taken = router.taken;
    pthread_mutex_unlock(&router.mutex);
    return taken;
}

static struct proto_message *router_pop(void)
{
    pthread_mutex_lock(&router.mutex);
    struct proto_message *request =
        router.held_count == 0 ? NULL : router.held[--router.held_count];
    pthread_mutex_unlock(&router.mutex);
    return request;
}

static struct transport_front *open_front(const char *url, uint32_t pending_max,
                                          const char *const *tokens, size_t tokens_n)
{
    const char *const urls[] = {url};
    struct transport_front_options options = {
        .urls = urls,
        .url_count = 1,
        .router = &router.sink,
        .tokens = tokens,
        .token_count = tokens_n,
        .request_bytes_max = 1u << 20,
        .pending_max = pending_max,
    };
    struct transport_front *front = NULL;
    char error[256];
    enum result result = transport_front_open(&options, &front, error);
    if (result != RESULT_OK) {
        fprintf(stderr, "%s\n", error);
    }
    REQUIRE(result == RESULT_OK);
    return front;
}

static void tcp_url(struct transport_front *front, char url[64])
{
    REQUIRE(transport_front_port(front, 0) != 0);
    snprintf(url, 64, "tcp://127.0.0.1:%u", transport_front_port(front, 0));
}

/* Names of this process's own: tests may run side by side. */
static const char *ipc_url(const char *name)
{
    static char url[96];
    snprintf(url, sizeof url, "ipc:///tmp/strider-%s-%d.ipc", name, (int)getpid());
    return url;
}

/* A bare REQ peer that sends any bytes. */
struct peer {
    nng_socket socket;
};

static void peer_open(struct peer *peer, const char *url)
{
    REQUIRE(nng_req0_open(&peer->socket) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_RECVTIMEO, TIMEOUT_MS) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_SENDTIMEO, TIMEOUT_MS) == 0);
    REQUIRE(nng_dial(peer->socket, url, NULL, 0) == 0);
}

/* The reply is freed by the next call or by peer_close. */
static nng_msg *last_reply;

static struct span peer_call(struct peer *peer, struct span frame)
{
    nng_msg *message = NULL;
    REQUIRE(nng_msg_alloc(&message, 0) == 0);
    REQUIRE(nng_msg_append(message, frame.bytes, frame.count) == 0);
    REQUIRE(nng_sendmsg(peer->socket, message, 0) == 0);
    if (last_reply != NULL) {
        nng_msg_free(last_reply);
        last_reply = NULL;
    }
    int code = nng_recvmsg(peer->socket, &last_reply, 0);
    CHECK_INT(code, 0);
    return code == 0 ? span_of(nng_msg_body(last_reply), nng_msg_len(last_reply)) : SPAN_EMPTY;
}

static struct span peer_call_text(struct peer *peer, const char *text)
{
    return peer_call(peer, span_text(text));
}

static void peer_close(struct peer *peer)
{
    if (last_reply != NULL) {
        nng_msg_free(last_reply);
        last_reply = NULL;
    }
    nng_close(peer->socket);
}

static struct span packed_request(struct arena *arena, const char *operation, int64_t n)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 64);
    wire_write_map(&writer, 3);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", operation);
    wire_pair_int(&writer, "n", n);
    return wire_writer_span(&writer);
}

static struct span code_of(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
}

static void both_spellings_are_answered_alike(void)
{
    struct transport_front *front = open_front("tcp://127.0.0.1:0", 64, NULL, 0);
    char url[64];
    tcp_url(front, url);
    struct peer peer;
    peer_open(&peer, url);
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);

    CHECK_CASE("JSON is answered in JSON, MessagePack in MessagePack");
    CHECK_TEXT(peer_call_text(&peer, "{\"v\":1,\"op\":\"ping\",\"n\":5}"),
               "{\"v\":1,\"ok\":true,\"op\":\"ping\",\"n\":5}");
    CHECK_TEXT(peer_call_text(&peer, " \r\n\t{\"op\":\"get\"}"),
               "{\"v\":1,\"ok\":true,\"op\":\"get\",\"n\":null}");
    struct span reply = peer_call(&peer, packed_request(&arena, "stats", 6));
    CHECK_INT(wire_int_or(wire_find_text(reply, "n"), -1), 6);
    CHECK_TEXT(wire_string_or(wire_find_text(reply, "op"), ""), "stats");

    CHECK_CASE("what is no request is answered with where it stops being one");
    static const struct {
        const char *frame;
        const char *says;
    } rows[] = {
        {"{\"op\":\"ping\"", "at byte 12"},
        {"{\"op\":\"p\xffng\"}", "invalid UTF-8 at byte 8"},
        {"{\"op\":\"fly\"}", "unknown `op` \\\"fly\\\""},
        {"{\"op\":7}", "`op` must be text"},
        {"{\"v\":2,\"op\":\"ping\"}", "`v` must be 1"},
        {"{\"v\":\"1\",\"op\":\"ping\"}", "`v` must be 1"},
        {"{}", "`op` is missing"},
        {"{\"op\":\"ping\"}x", "at byte 13"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        reply = peer_call_text(&peer, rows[index].frame);
        CHECK_HAS(reply, "\"ok\":false,\"error\":{\"code\":\"InvalidRequest\"");
        CHECK_HAS(reply, rows[index].says);
    }
    reply = peer_call_text(&peer, "");
    CHECK_TEXT(code_of(reply), "InvalidRequest");
    reply = peer_call_text(&peer, "[1]");
    CHECK_TEXT(code_of(reply), "InvalidRequest");

    CHECK_CASE("a frame over the limit is answered PayloadTooLarge; far over it costs the peer its "
               "connection");
    char *large = malloc(3u << 20);
    REQUIRE(large != NULL);
    memset(large, ' ', 3u << 20);
    large[0] = '{';
    reply = peer_call(&peer, span_of(large, (1u << 20) + 1));
    CHECK_HAS(reply, "\"PayloadTooLarge\"");
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.oversized, 1);
    CHECK_INT(nng_socket_set_ms(peer.socket, NNG_OPT_RECVTIMEO, 300), 0);
    nng_msg *message = NULL;
    REQUIRE(nng_msg_alloc(&message, 0) == 0 && nng_msg_append(message, large, 3u << 20) == 0);
    CHECK_INT(nng_sendmsg(peer.socket, message, 0), 0);
    nng_msg *none = NULL;
    CHECK(nng_recvmsg(peer.socket, &none, 0) != 0);
    free(large);
    peer_close(&peer);
    peer_open(&peer, url);
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ok\":true");

    CHECK_CASE("a quiescing front answers ShuttingDown");
    transport_front_quiesce(front);
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"code\":\"ShuttingDown\"");
    arena_release(&arena);
    peer_close(&peer);
    transport_front_close(front);
}

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static struct span malformed_frame(size_t index, uint8_t *room, size_t room_bytes,
                                   struct arena *arena)
{
    size_t count = 1 + random_number() % 300;
    switch (index % 8) {
    case 0: /* random bytes */
        for (size_t at = 0; at < count; at++) {
            room[at] = (uint8_t)random_number();
        }
        return span_of(room, count);
    case 1: { /* truncated MessagePack */
        struct span whole = packed_request(arena, "ping", (int64_t)random_number());
        return span_of(whole.bytes, 1 + random_number() % (whole.count - 1));
    }
    case 2: /* depth bombs */
        memset(room, 0x91, room_bytes);
        return span_of(room, 65 + random_number() % (room_bytes - 65));
    case 3:
        memset(room, '[', room_bytes);
        memcpy(room, "{\"op\":", 6);
        return span_of(room, 80 + random_number() % (room_bytes - 80));
    case 4: { /* a head that claims billions */
        static const uint8_t heads[][6] = {{0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1},
                                           {0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0},
                                           {0xdb, 0xff, 0xff, 0xff, 0xff, 'x'},
                                           {0xc6, 0x7f, 0xff, 0xff, 0xff, 'x'}};
        return span_of(heads[random_number() % 4], 6);
    }
    case 5: { /* wrong types and unknown operations */
        static const char *const texts[] = {"{\"op\":1}",        "{\"op\":null}",
                                            "{\"op\":[]}",       "{\"op\":{}}",
                                            "{\"op\":\"\"}",     "{\"v\":[],\"op\":\"ping\"}",
                                            "{\"op\":\"pinG\"}", "{\"v\":1.5,\"op\":\"ping\"}"};
        return span_text(texts[random_number() % 8]);
    }
    case 6: { /* truncated JSON */
        static const char text[] =
            "{\"v\":1,\"op\":\"start\",\"request\":{\"a\":[1,2,{\"b\":\"\\u00e4\"}]}}";
        return span_of(text, 1 + random_number() % (sizeof text - 2));
    }
    default: /* a good frame with a bit turned */
        memcpy(room, "\x82\xa2op\xa4ping\xa1n\x01", 12);
        room[random_number() % 9] ^= (uint8_t)(1u << random_number() % 8);
        return span_of(room, 12);
    }
}

static void ten_thousand_malformed_frames(void)
{
    CHECK_CASE("10,000 malformed frames: each is answered InvalidRequest, and a good one in "
               "between works");
    struct transport_front *front = open_front(ipc_url("malformed"), 64, NULL, 0);
    struct peer peer;
    peer_open(&peer, ipc_url("malformed"));
    struct arena arena;
    arena_init(&arena, 65536, 16u << 20);
    static uint8_t room[4096];
    size_t invalid = 0;
    size_t still_good = 0;
    for (size_t index = 0; index < 10000; index++) {
        arena_clear(&arena);
        struct span reply = peer_call(&peer, malformed_frame(index, room, sizeof room, &arena));
        struct span value = reply;
        struct json_error error;
        if (reply.count > 0 && reply.bytes[0] == '{' &&
            json_to_wire(reply, 64, &arena, &value, &error) != RESULT_OK) {
            value = SPAN_EMPTY;
        }
        if (span_is(code_of(value), "InvalidRequest")) {
            invalid++;
        } else if (wire_bool_or(wire_find_text(value, "ok"), false)) {
            still_good++; /* the turned bit left a request: `n` or the key changed */
        }
        if (index % 100 == 0) {
            CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"n\":1}"), "\"ok\":true");
        }
    }
    CHECK_INT(invalid + still_good, 10000);
    CHECK(still_good < 1250);
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.invalid, invalid);
    CHECK_INT(stats.pending, 0);
    arena_release(&arena);
    peer_close(&peer);
    transport_front_close(front);
}

static void tokens_guard_it(void)
{
    CHECK_CASE("without the right token nothing passes");
    static const char *const tokens[] = {"open-sesame", "second"};
    struct transport_front *front = open_front("inproc://tokens", 64, tokens, 2);
    struct peer peer;
    peer_open(&peer, "inproc://tokens");
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"),
              "\"Unauthorized\",\"message\":\"a `token` is needed\"");
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"token\":\"open-sesam\"}"),
              "\"Unauthorized\"");
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"token\":7}"), "\"Unauthorized\"");
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"token\":\"second\"}"), "\"ok\":true");
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.unauthorized, 3);

    CHECK_CASE("a large text of an unknown peer is not even read; a known one's is");
    enum { LARGE = 100000 };
    static char large[LARGE + 64];
    snprintf(large, sizeof large, "{\"op\":\"ping\",\"x\":\"%0*d", LARGE, 0);
    CHECK_HAS(peer_call_text(&peer, large), "\"Unauthorized\""); /* nor found to be no JSON */
    snprintf(large, sizeof large, "{\"op\":\"ping\",\"x\":\"%0*d\",\"token\":\"second\"}", LARGE,
             0);
    CHECK_HAS(peer_call_text(&peer, large), "\"ok\":true");
    peer_close(&peer);
    transport_front_close(front);
}

static void places_to_listen_are_checked(void)
{
    static const struct {
        const char *url;
        enum result result;
        const char *says;
    } rows[] = {
        {"tcp://0.0.0.0:0", RESULT_DENIED, "auth.tokens"},
        {"tcp://*:0", RESULT_DENIED, "auth.tokens"},
        {"ws://[::]:0/x", RESULT_DENIED, "auth.tokens"},
        {"tls+tcp://127.0.0.1:0", RESULT_INVALID, "front.tlsCertificate"},
        {"ipc:///no/such/folder/x.ipc", RESULT_IO, "/no/such/folder"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        CHECK_CASE(rows[index].url);
        struct transport_front_options options = {.urls = &rows[index].url,
                                                  .url_count = 1,
                                                  .router = &router.sink,
                                                  .request_bytes_max = 1000,
                                                  .pending_max = 4};
        struct transport_front *front = NULL;
        char error[256];
        enum result result = transport_front_open(&options, &front, error);
        if (rows[index].result == RESULT_IO) {
            CHECK(result != RESULT_OK);
        } else {
            CHECK_INT(result, rows[index].result);
        }
        CHECK(front == NULL);
        CHECK_HAS(span_text(error), rows[index].says);
    }

    CHECK_CASE("an address in use");
    struct transport_front *first = open_front("tcp://127.0.0.1:0", 4, NULL, 0);
    char url[64];
    tcp_url(first, url);
    const char *const urls[] = {url};
    struct transport_front_options options = {.urls = urls,
                                              .url_count = 1,
                                              .router = &router.sink,
                                              .request_bytes_max = 1000,
                                              .pending_max = 4};
    struct transport_front *second = NULL;
    char error[256];
    CHECK_INT(transport_front_open(&options, &second, error), RESULT_EXISTS);
    CHECK_HAS(span_text(error), url);
    transport_front_close(first);

    CHECK_CASE("the socket file is the owner's only, and a stale one is no obstacle");
    for (int round = 0; round < 2; round++) {
        struct transport_front *front = open_front(ipc_url("mode"), 4, NULL, 0);
        struct stat status;
        CHECK_INT(stat(ipc_url("mode") + strlen("ipc://"), &status), 0);
        CHECK_INT(status.st_mode & 0777, 0600);
        transport_front_close(front);
    }

    CHECK_CASE("websockets work too");
    char ws_url[64];
    snprintf(ws_url, sizeof ws_url, "ws://127.0.0.1:%d/strider", 20000 + (int)getpid() % 10000);
    struct transport_front *front = open_front(ws_url, 4, NULL, 0);
    struct peer peer;
    peer_open(&peer, ws_url);
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ok\":true");
    peer_close(&peer);
    transport_front_close(front);
}

/* Many requests under way from one peer: each has its own context. */
struct many {
    nng_socket socket;
    size_t count;
    nng_ctx *contexts;
    nng_aio **aios;
};

static void many_send(struct many *many, const char *url, size_t count)
{
    REQUIRE(nng_req0_open(&many->socket) == 0);
    REQUIRE(nng_socket_set_ms(many->socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE) == 0);
    REQUIRE(nng_dial(many->socket, url, NULL, 0) == 0);
    many->count = count;
    many->contexts = calloc(count, sizeof *many->contexts);
    many->aios = calloc(count, sizeof *many->aios);
    REQUIRE(many->contexts != NULL && many->aios != NULL);
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    for (size_t index = 0; index < count; index++) {
        arena_clear(&arena);
        struct span frame = packed_request(&arena, "ping", (int64_t)index);
        nng_msg *message = NULL;
        REQUIRE(nng_ctx_open(&many->contexts[index], many->socket) == 0);
        REQUIRE(nng_aio_alloc(&many->aios[index], NULL, NULL) == 0);
        REQUIRE(nng_msg_alloc(&message, 0) == 0 &&
                nng_msg_append(message, frame.bytes, frame.count) == 0);
        nng_aio_set_timeout(many->aios[index], TIMEOUT_MS);
        nng_aio_set_msg(many->aios[index], message);
        nng_ctx_send(many->contexts[index], many->aios[index]);
        nng_aio_wait(many->aios[index]);
        REQUIRE(nng_aio_result(many->aios[index]) == 0);
        nng_ctx_recv(many->contexts[index], many->aios[index]);
    }
    arena_release(&arena);
}

/* Waits for the answer to request `index`; its code ("" when ok), checked to be that request's own.
 */
static bool many_take(struct many *many, size_t index, char code[32])
{
    nng_aio_wait(many->aios[index]);
    if (nng_aio_result(many->aios[index]) != 0) {
        return false;
    }
    nng_msg *message = nng_aio_get_msg(many->aios[index]);
    struct span reply = span_of(nng_msg_body(message), nng_msg_len(message));
    snprintf(code, 32, "%.*s", SPAN_ARG(code_of(reply)));
    bool own = code[0] != '\0' || wire_int_or(wire_find_text(reply, "n"), -1) == (int64_t)index;
    nng_msg_free(message);
    return own;
}

static void many_close(struct many *many)
{
    for (size_t index = 0; index < many->count; index++) {
        nng_aio_free(many->aios[index]);
        nng_ctx_close(many->contexts[index]);
    }
    nng_close(many->socket);
    free(many->contexts);
    free(many->aios);
}

static void *answer_held(void *unused)
{
    (void)unused;
    for (struct proto_message *request; (request = router_pop()) != NULL;) {
        answer_request(request);
    }
    return NULL;
}

static void thousands_wait_at_once(void)
{
    CHECK_CASE("4,000 requests wait at once; answers from four threads, in any order, reach their "
               "own request");
    struct transport_front *front = open_front(ipc_url("many"), 5000, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, ipc_url("many"), 4000);
    router_await(4000);
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.pending, 4000);
    router_hold(false);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) {
        REQUIRE(pthread_create(&threads[index], NULL, answer_held, NULL) == 0);
    }
    size_t own = 0;
    char code[32];
    for (size_t index = 0; index < 4000; index++) {
        own += many_take(&many, index, code) && code[0] == '\0';
    }
    CHECK_INT(own, 4000);
    for (int index = 0; index < 4; index++) {
        pthread_join(threads[index], NULL);
    }
    many_close(&many);
    transport_front_close(front);
}

static void too_many_are_answered_overloaded(void)
{
    CHECK_CASE(
        "what exceeds pending_max, or what the router refuses, is answered Overloaded at once");
    struct transport_front *front = open_front("inproc://overload", 8, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, "inproc://overload", 20);
    router_await(8);
    bool is_held[20] = {false};
    for (size_t index = 0; index < 8; index++) {
        int64_t n = wire_int_or(wire_find_text(router.held[index]->as.request.body, "n"), -1);
        REQUIRE(n >= 0 && n < 20);
        is_held[n] = true;
    }
    char code[32];
    for (size_t index = 0; index < 20; index++) {
        if (!is_held[index]) {
            CHECK(many_take(&many, index, code));
            CHECK_TEXT(span_text(code), "Overloaded");
        }
    }
    router_hold(false);
    answer_held(NULL);
    for (size_t index = 0; index < 20; index++) {
        if (is_held[index]) {
            CHECK(many_take(&many, index, code));
            CHECK_TEXT(span_text(code), "");
        }
    }
    many_close(&many);

    struct peer peer;
    peer_open(&peer, "inproc://overload");
    router.refuse = RESULT_AGAIN;
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"Overloaded\"");
    router.refuse = RESULT_CLOSED;
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ShuttingDown\"");
    router.refuse = RESULT_OK;
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ok\":true");
    peer_close(&peer);
    transport_front_close(front);
}

static void second_and_late_answers_go_nowhere(void)
{
    CHECK_CASE("a second answer is dropped and counted; it never becomes the next request's");
    struct transport_front *front = open_front("inproc://twice", 4, NULL, 0);
    struct peer peer;
    peer_open(&peer, "inproc://twice");
    router.twice = true;
    char frame[64];
    char expected[64];
    for (int n = 0; n < 500; n++) {
        snprintf(frame, sizeof frame, "{\"op\":\"ping\",\"n\":%d}", n);
        snprintf(expected, sizeof expected, "\"n\":%d}", n);
        CHECK_HAS(peer_call_text(&peer, frame), expected);
    }
    router.twice = false;
    peer_close(&peer);
    struct transport_front_stats stats;
    transport_front_close(front);

    CHECK_CASE("an answer to a peer that has left is dropped, and its slot serves others");
    front = open_front("inproc://left", 4, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, "inproc://left", 4);
    router_await(4);
    many_close(&many);
    router_hold(false);
    answer_held(NULL);
    peer_open(&peer, "inproc://left");
    for (int n = 0; n < 50; n++) {
        CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"n\":3}"), "\"n\":3}");
    }
    transport_front_stats(front, &stats);
    CHECK_INT(stats.late, 0);
    peer_close(&peer);
    transport_front_close(front);
}

/* A peer that speaks the SP protocol by hand, so that it can send without ever reading. */
static int raw_peer(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    static const uint8_t hello[8] = {0, 'S', 'P', 0, 0, 48, 0, 0};
    uint8_t theirs[8];
    REQUIRE(send(fd, hello, 8, 0) == 8 && recv(fd, theirs, 8, MSG_WAITALL) == 8);
    return fd;
}

static bool read_exactly(int fd, uint8_t *bytes, size_t count)
{
    return recv(fd, bytes, count, MSG_WAITALL) == (ssize_t)count;
}

static void a_slow_reader_loses_nothing_and_holds_up_nobody(void)
{
    CHECK_CASE("a peer that sends 300 requests and reads nothing yet: others are served; then it "
               "gets all 300 answers");
    struct transport_front *front = open_front("tcp://127.0.0.1:0", 1000, NULL, 0);
    char url[64];
    tcp_url(front, url);
    router.filler = 100000;
    int fd = raw_peer(transport_front_port(front, 0));
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    for (uint32_t n = 0; n < 300; n++) {
        arena_clear(&arena);
        struct span frame = packed_request(&arena, "ping", n);
        uint8_t head[12] = {
            0,         0, 0, 0, 0, 0, 0, (uint8_t)(frame.count + 4), 0x80, 0, (uint8_t)(n >> 8),
            (uint8_t)n};
        REQUIRE(send(fd, head, 12, 0) == 12);
        REQUIRE(send(fd, frame.bytes, frame.count, 0) == (ssize_t)frame.count);
    }
    struct peer peer;
    peer_open(&peer, url);
    for (int n = 0; n < 200; n++) {
        CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"n\":3}"), "\"n\":3,");
    }
    peer_close(&peer);
    bool seen[300] = {false};
    size_t count = 0;
    uint8_t *body = malloc(200000);
    REQUIRE(body != NULL);
    for (int n = 0; n < 300; n++) {
        uint8_t head[8];
        if (!read_exactly(fd, head, 8)) {
            break;
        }
        size_t bytes =
            (size_t)head[4] << 24 | (size_t)head[5] << 16 | (size_t)head[6] << 8 | head[7];
        REQUIRE(bytes < 200000);
        if (!read_exactly(fd, body, bytes)) {
            break;
        }
        int64_t index = wire_int_or(wire_find_text(span_of(body + 4, bytes - 4), "n"), -1);
        bool matches = index >= 0 && index < 300 && body[2] == (uint8_t)(index >> 8) &&
                       body[3] == (uint8_t)index;
        CHECK(matches && !seen[index]);
        if (matches) {
            seen[index] = true;
            count++;
        }
    }
    CHECK_INT(count, 300);
    free(body);
    close(fd);
    router.filler = 0;
    arena_release(&arena);
    transport_front_close(front);
}

static _Atomic bool bombarding;

static void *bombard(void *arg)
{
    struct transport_client *client = NULL;
    char error[256];
    REQUIRE(transport_client_open(arg, &client, error) == RESULT_OK);
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    while (atomic_load(&bombarding)) {
        arena_clear(&arena);
        struct span reply = SPAN_EMPTY;
        enum result result =
            transport_client_call(client, packed_request(&arena, "ping", 9), 100, &arena, &reply);
        CHECK(result == RESULT_OK || result == RESULT_TIMEOUT || result == RESULT_CLOSED);
        if (result == RESULT_OK && span_is(code_of(reply), "")) {
            CHECK_INT(wire_int_or(wire_find_text(reply, "n"), -1), 9);
        }
    }
    arena_release(&arena);
    transport_client_close(client);
    return NULL;
}

static void closing_under_fire(void)
{
    CHECK_CASE("the front opens and closes while four clients keep calling");
    char fire_url[96];
    snprintf(fire_url, sizeof fire_url, "%s", ipc_url("fire"));
    atomic_store(&bombarding, true);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) {
        REQUIRE(pthread_create(&threads[index], NULL, bombard, fire_url) == 0);
    }
    for (int round = 0; round < 10; round++) {
        size_t before = router_taken();
        struct transport_front *front = open_front(fire_url, 64, NULL, 0);
        await_number(&router.taken, before + 50);
        transport_front_close(front);
    }
    atomic_store(&bombarding, false);
    for (int index = 0; index < 4; index++) {
        pthread_join(threads[index], NULL);
    }

    CHECK_CASE("requests that nobody has answered are dropped by close");
    struct transport_front *front = open_front("inproc://dropped", 64, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, "inproc://dropped", 50);
    router_await(50);
    transport_front_close(front);
    router_hold(false);
    for (struct proto_message *request; (request = router_pop()) != NULL;) {
        message_free(request);
    }
    many_close(&many);
}

static void the_client_tells_what_went_wrong(void)
{
    CHECK_CASE("the client: no server within the time, a bad URL, a reply that is no map");
    struct transport_client *client = NULL;
    char error[256];
    CHECK_INT(transport_client_open("nonsense", &client, error), RESULT_INVALID);
    CHECK(client == NULL);
    CHECK_HAS(span_text(error), "nonsense");
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    REQUIRE(transport_client_open(ipc_url("nobody"), &client, error) == RESULT_OK);
    struct span reply;
    CHECK_INT(transport_client_call(client, packed_request(&arena, "ping", 1), 50, &arena, &reply),
              RESULT_TIMEOUT);
    transport_client_close(client);

    struct transport_front *front = open_front("inproc://client", 64, NULL, 0);
    REQUIRE(transport_client_open("inproc://client", &client, error) == RESULT_OK);
    CHECK_INT(transport_client_call(client, packed_request(&arena, "ping", 77), TIMEOUT_MS, &arena,
                                    &reply),
              RESULT_OK);
    CHECK_INT(wire_int_or(wire_find_text(reply, "n"), -1), 77);
    CHECK_INT(
        transport_client_call(client, span_text("{\"op\":\"ping\"}"), TIMEOUT_MS, &arena, &reply),
        RESULT_INVALID);
    transport_client_close(client);
    arena_release(&arena);
    transport_front_close(front);
}

int main(void)
{
    router.sink.send = take_request;
    pthread_mutex_init(&router.mutex, NULL);
    pthread_cond_init(&router.came, NULL);

    both_spellings_are_answered_alike();
    ten_thousand_malformed_frames();
    tokens_guard_it();
    places_to_listen_are_checked();
    thousands_wait_at_once();
    too_many_are_answered_overloaded();
    second_and_late_answers_go_nowhere();
    a_slow_reader_loses_nothing_and_holds_up_nobody();
    closing_under_fire();
    the_client_tells_what_went_wrong();

    nng_fini();
    pthread_cond_destroy(&router.came);
    pthread_mutex_destroy(&router.mutex);
    return check_report();
}
