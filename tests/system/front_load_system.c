/*
 * front_load_system.c: the NNG front under load: overload, thousands of requests waiting at once,
 * answers from many threads, twice and late, a peer that does not read, closing under fire.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "tests/system/front_world.h"
#include "transport/client.h"
#include "transport/guard/closing.h"

/* Two threads that both find too few contexts is what a round hits now and then. */
#define THOUSANDS_ROUNDS 4

static void thousands_wait_at_once(void)
{
    CHECK_CASE("4,000 requests wait at once; answers from four threads, in any order, reach their "
               "own request");
    struct transport_front *front = front_world_open(front_world_ipc_url("many"), 5000, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, front_world_ipc_url("many"), 4000);
    router_await(4000);
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    CHECK_INT(stats.pending, 4000);
    router_hold(false);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) {
        REQUIRE(pthread_create(&threads[index], NULL, router_answer_held, NULL) == 0);
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
    struct transport_front *front = front_world_open("inproc://overload", 8, NULL, 0);
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
    router_answer_held(NULL);
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
    struct transport_front *front = front_world_open("inproc://twice", 4, NULL, 0);
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
    front = front_world_open("inproc://left", 4, NULL, 0);
    router_hold(true);
    struct many many;
    many_send(&many, "inproc://left", 4);
    router_await(4);
    many_close(&many);
    router_hold(false);
    router_answer_held(NULL);
    peer_open(&peer, "inproc://left");
    for (int n = 0; n < 50; n++) {
        CHECK_HAS(peer_call_text(&peer, "{\"op\":\"ping\",\"n\":3}"), "\"n\":3}");
    }
    transport_front_stats(front, &stats);
    CHECK_INT(stats.late, 0);
    peer_close(&peer);
    transport_front_close(front);
}

static bool read_exactly(int fd, uint8_t *bytes, size_t count)
{
    return recv(fd, bytes, count, MSG_WAITALL) == (ssize_t)count;
}

static void a_slow_reader_loses_nothing_and_holds_up_nobody(void)
{
    CHECK_CASE("a peer that sends 300 requests and reads nothing yet: others are served; then it "
               "gets all 300 answers");
    struct transport_front *front = front_world_open("tcp://127.0.0.1:0", 1000, NULL, 0);
    char url[64];
    front_world_tcp_url(front, url);
    router.filler = 100000;
    int fd = peer_open_raw(transport_front_port(front, 0));
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
    snprintf(fire_url, sizeof fire_url, "%s", front_world_ipc_url("fire"));
    atomic_store(&bombarding, true);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) {
        REQUIRE(pthread_create(&threads[index], NULL, bombard, fire_url) == 0);
    }
    for (int round = 0; round < 10; round++) {
        size_t before = router_taken();
        struct transport_front *front = front_world_open(fire_url, 64, NULL, 0);
        router_await_number(&router.taken, before + 50);
        transport_front_close(front);
    }
    atomic_store(&bombarding, false);
    for (int index = 0; index < 4; index++) {
        pthread_join(threads[index], NULL);
    }

    CHECK_CASE("requests that nobody has answered are dropped by close");
    struct transport_front *front = front_world_open("inproc://dropped", 64, NULL, 0);
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

int main(void)
{
    router_start();

    for (int round = 0; round < THOUSANDS_ROUNDS; round++) {
        thousands_wait_at_once();
    }
    too_many_are_answered_overloaded();
    second_and_late_answers_go_nowhere();
    a_slow_reader_loses_nothing_and_holds_up_nobody();
    closing_under_fire();

    transport_sockets_end();
    router_end();
    return check_report();
}
