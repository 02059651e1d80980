/*
 * front_system.c: the NNG front with real peers: both spellings, 10,000 malformed frames, tokens,
 * places to listen, and what the client tells.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/wire/json.h"
#include "tests/system/front_world.h"
#include "transport/client.h"
#include "transport/guard/closing.h"

static void both_spellings_are_answered_alike(void)
{
    struct transport_front *front = front_world_open("tcp://127.0.0.1:0", 64, NULL, 0);
    char url[64];
    front_world_tcp_url(front, url);
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
    char *large = malloc(2u << 20);
    REQUIRE(large != NULL);
    memset(large, ' ', 2u << 20);
    large[0] = '{';
    reply = peer_call(&peer, span_of(large, (1u << 20) + 1));
    CHECK_HAS(reply, "\"PayloadTooLarge\"");
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.oversized, 1);
    peer_close(&peer);
    /* (By hand: NNG itself may never come back from closing a connection with half a message out.)
     */
    int raw = peer_open_raw(transport_front_port(front, 0));
    const uint8_t head[8] = {0, 0, 0, 0, 0, 0x30, 0, 0}; /* 3 MiB are to come */
    char byte;
    CHECK_INT(send(raw, head, sizeof head, MSG_NOSIGNAL), sizeof head);
    CHECK(recv(raw, &byte, 1, 0) == 0 || errno == ECONNRESET);
    close(raw);
    free(large);
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
    struct transport_front *front = front_world_open(front_world_ipc_url("malformed"), 64, NULL, 0);
    struct peer peer;
    peer_open(&peer, front_world_ipc_url("malformed"));
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
    struct transport_front *front = front_world_open("inproc://tokens", 64, tokens, 2);
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

/* NNG greets and lets go on threads of its own. */
static void await_connections(struct transport_front *front, uint32_t count)
{
    struct transport_front_stats stats = {0};
    struct timespec step = {.tv_nsec = 1000000};
    for (int look = 0; look < FRONT_TIMEOUT_MS; look++) {
        transport_front_stats(front, &stats);
        if (stats.connections == count) {
            break;
        }
        nanosleep(&step, NULL);
    }
    CHECK_INT(stats.connections, count);
}

static void connections_are_bounded(void)
{
    CHECK_CASE("one connection too many is closed before it is greeted; when another has gone there "
               "is room again");
    const char *const urls[] = {"tcp://127.0.0.1:0"};
    struct transport_front_options options = {.urls = urls,
                                              .url_count = 1,
                                              .router = &router.sink,
                                              .request_bytes_max = 1000,
                                              .pending_max = 4,
                                              .connections_max = 2};
    struct transport_front *front = NULL;
    char error[256];
    REQUIRE(transport_front_open(&options, &front, error) == RESULT_OK);
    uint16_t port = transport_front_port(front, 0);
    int first = peer_open_raw(port);
    int second = peer_open_raw(port);
    await_connections(front, 2);
    int third = peer_open_raw(port);
    char byte;
    CHECK(recv(third, &byte, 1, 0) == 0 || errno == ECONNRESET);
    await_connections(front, 2);
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.crowded, 1);
    close(third);
    close(first);
    await_connections(front, 1);
    char url[64];
    front_world_tcp_url(front, url);
    struct peer peer;
    peer_open(&peer, url);
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ok\":true");
    peer_close(&peer);
    close(second);
    transport_front_close(front);
}

static void places_to_listen_are_checked(void)
{
    static const struct {
        const char *url;
        enum result result;
        const char *says;
    } rows[] = {
        {"127.0.0.1:7070", RESULT_INVALID, "ipc:///PATH or tcp://HOST:PORT"},
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
    struct transport_front *first = front_world_open("tcp://127.0.0.1:0", 4, NULL, 0);
    char url[64];
    front_world_tcp_url(first, url);
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
        struct transport_front *front = front_world_open(front_world_ipc_url("mode"), 4, NULL, 0);
        struct stat status;
        CHECK_INT(stat(front_world_ipc_url("mode") + strlen("ipc://"), &status), 0);
        CHECK_INT(status.st_mode & 0777, 0600);
        transport_front_close(front);
    }

    CHECK_CASE("websockets work too");
    char ws_url[64];
    snprintf(ws_url, sizeof ws_url, "ws://127.0.0.1:%d/strider", 20000 + (int)getpid() % 10000);
    struct transport_front *front = front_world_open(ws_url, 4, NULL, 0);
    struct peer peer;
    peer_open(&peer, ws_url);
    CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\"}"), "\"ok\":true");
    peer_close(&peer);
    transport_front_close(front);
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
    REQUIRE(transport_client_open(front_world_ipc_url("nobody"), &client, error) == RESULT_OK);
    struct span reply;
    CHECK_INT(transport_client_call(client, packed_request(&arena, "ping", 1), 50, &arena, &reply),
              RESULT_TIMEOUT);
    transport_client_close(client);

    struct transport_front *front = front_world_open("inproc://client", 64, NULL, 0);
    REQUIRE(transport_client_open("inproc://client", &client, error) == RESULT_OK);
    CHECK_INT(transport_client_call(client, packed_request(&arena, "ping", 77), FRONT_TIMEOUT_MS,
                                    &arena, &reply),
              RESULT_OK);
    CHECK_INT(wire_int_or(wire_find_text(reply, "n"), -1), 77);
    CHECK_INT(transport_client_call(client, span_text("{\"op\":\"ping\"}"), FRONT_TIMEOUT_MS,
                                    &arena, &reply),
              RESULT_INVALID);
    transport_client_close(client);
    arena_release(&arena);
    transport_front_close(front);
}

int main(void)
{
    router_start();

    both_spellings_are_answered_alike();
    ten_thousand_malformed_frames();
    tokens_guard_it();
    connections_are_bounded();
    places_to_listen_are_checked();
    the_client_tells_what_went_wrong();

    transport_sockets_end();
    router_end();
    return check_report();
}
