/* front_world.c: see front_world.h. */
#include "tests/system/front_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nng/protocol/reqrep0/req.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "transport/guard/closing.h"

struct router router;

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
        REQUIRE(router.held_count < FRONT_HELD_MAX);
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

void router_start(void)
{
    router.sink.send = take_request;
    pthread_mutex_init(&router.mutex, NULL);
    pthread_cond_init(&router.came, NULL);
}

void router_end(void)
{
    pthread_cond_destroy(&router.came);
    pthread_mutex_destroy(&router.mutex);
}

void router_hold(bool holding)
{
    pthread_mutex_lock(&router.mutex);
    router.holding = holding;
    pthread_mutex_unlock(&router.mutex);
}

void router_await_number(const size_t *number, size_t count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FRONT_TIMEOUT_MS / 1000;
    pthread_mutex_lock(&router.mutex);
    int code = 0;
    while (*number < count && code == 0) {
        code = pthread_cond_timedwait(&router.came, &router.mutex, &until);
    }
    CHECK(*number >= count);
    pthread_mutex_unlock(&router.mutex);
}

void router_await(size_t count)
{
    router_await_number(&router.held_count, count);
}

size_t router_taken(void)
{
    pthread_mutex_lock(&router.mutex);
    size_t taken = router.taken;
    pthread_mutex_unlock(&router.mutex);
    return taken;
}

struct proto_message *router_pop(void)
{
    pthread_mutex_lock(&router.mutex);
    struct proto_message *request =
        router.held_count == 0 ? NULL : router.held[--router.held_count];
    pthread_mutex_unlock(&router.mutex);
    return request;
}

struct transport_front *front_world_open(const char *url, uint32_t pending_max,
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

void front_world_tcp_url(struct transport_front *front, char url[64])
{
    REQUIRE(transport_front_port(front, 0) != 0);
    snprintf(url, 64, "tcp://127.0.0.1:%u", transport_front_port(front, 0));
}

const char *front_world_ipc_url(const char *name)
{
    static char url[96];
    snprintf(url, sizeof url, "ipc:///tmp/strider-%s-%d.ipc", name, (int)getpid());
    return url;
}

void peer_open(struct peer *peer, const char *url)
{
    peer->reply = NULL;
    REQUIRE(nng_req0_open(&peer->socket) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_RECVTIMEO, FRONT_TIMEOUT_MS) == 0);
    REQUIRE(nng_socket_set_ms(peer->socket, NNG_OPT_SENDTIMEO, FRONT_TIMEOUT_MS) == 0);
    REQUIRE(nng_dial(peer->socket, url, NULL, 0) == 0);
}

int peer_open_raw(uint16_t port)
{
    int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int small = 4096;
    setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct timeval patience = {.tv_sec = FRONT_TIMEOUT_MS / 1000};
    setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(connect(handle, (struct sockaddr *)&address, sizeof address) == 0);
    static const uint8_t hello[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    uint8_t theirs[8];
    REQUIRE(send(handle, hello, 8, 0) == 8 && recv(handle, theirs, 8, MSG_WAITALL) == 8);
    return handle;
}

static void forget_reply(struct peer *peer)
{
    if (peer->reply != NULL) {
        nng_msg_free(peer->reply);
        peer->reply = NULL;
    }
}

struct span peer_call(struct peer *peer, struct span frame)
{
    nng_msg *message = NULL;
    REQUIRE(nng_msg_alloc(&message, 0) == 0);
    REQUIRE(nng_msg_append(message, frame.bytes, frame.count) == 0);
    REQUIRE(nng_sendmsg(peer->socket, message, 0) == 0);
    forget_reply(peer);
    /* (Each further call would wait as long again.) */
    REQUIRE(nng_recvmsg(peer->socket, &peer->reply, 0) == 0);
    return span_of(nng_msg_body(peer->reply), nng_msg_len(peer->reply));
}

struct span peer_call_text(struct peer *peer, const char *text)
{
    return peer_call(peer, span_text(text));
}

void peer_close(struct peer *peer)
{
    forget_reply(peer);
    (void)transport_socket_close(peer->socket, FRONT_CLOSE_MS);
}

struct span packed_request(struct arena *arena, const char *operation, int64_t n)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 64);
    wire_write_map(&writer, 3);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", operation);
    wire_pair_int(&writer, "n", n);
    return wire_writer_span(&writer);
}

struct span code_of(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
}

void many_send(struct many *many, const char *url, size_t count)
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
        nng_aio_set_timeout(many->aios[index], FRONT_TIMEOUT_MS);
        nng_aio_set_msg(many->aios[index], message);
        nng_ctx_send(many->contexts[index], many->aios[index]);
        nng_aio_wait(many->aios[index]);
        REQUIRE(nng_aio_result(many->aios[index]) == 0);
        nng_ctx_recv(many->contexts[index], many->aios[index]);
    }
    arena_release(&arena);
}

bool many_take(struct many *many, size_t index, char code[32])
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

void many_close(struct many *many)
{
    for (size_t index = 0; index < many->count; index++) {
        nng_aio_free(many->aios[index]);
        nng_ctx_close(many->contexts[index]);
    }
    (void)transport_socket_close(many->socket, FRONT_CLOSE_MS);
    free(many->contexts);
    free(many->aios);
}

void *router_answer_held(void *unused)
{
    (void)unused;
    for (struct proto_message *request; (request = router_pop()) != NULL;) {
        answer_request(request);
    }
    return NULL;
}
