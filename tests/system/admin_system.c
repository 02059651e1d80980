/*
 * admin_system.c: the HTTP side with real HTTP peers (libcurl and bare sockets): pages, every route
 * as an operation, statuses, tokens, browsers kept out, limits, time-outs, server-sent events,
 * closing under fire.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <nng/nng.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/message.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/system/check.h"
#include "transport/admin.h"
#include "transport/guard/closing.h"
#include "transport/guard/refusal.h"

#define REQUEST_BYTES_MAX 100000u

/*
 * NNG 1.5.2 loses a reference to a handler when a request arrives just as its server stops
 * (http_server.c takes the reference before it sees that the connection is closed). The handler is
 * made in start_server, once per listener.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:start_server\n";
}

/* Answers each request with itself: {"v":1,"ok":true,"asked":{…}}, with an error code that
 * `request.fail` names, or never. */
static struct {
    struct proto_sink sink;
    pthread_mutex_t mutex;
    pthread_cond_t came;
    size_t taken;
    enum result refuse;
    bool silent;
    struct proto_message *held[64];
    size_t held_count;
} router;

static bool is_ready = true;

static void answer_request(const struct proto_message *request)
{
    struct arena arena;
    arena_init(&arena, 4096, 8u << 20);
    struct span fail = wire_string_or(wire_find_text(request->as.request.body, "fail"), "");
    struct span body = SPAN_EMPTY;
    if (fail.count > 0) {
        for (enum proto_error error = PROTO_ERROR_NONE + 1; error < PROTO_ERROR_COUNT; error++) {
            if (span_is(fail, proto_error_name(error))) {
                body = transport_refusal(&arena, error, "as asked");
            }
        }
    } else {
        struct wire_writer writer;
        wire_writer_init(&writer, &arena, 128);
        wire_write_map(&writer, 3);
        wire_pair_int(&writer, "v", 1);
        wire_pair_bool(&writer, "ok", true);
        wire_pair_value(&writer, "asked", request->as.request.body);
        body = wire_writer_span(&writer);
    }
    struct proto_message *reply = message_new(PROTO_REPLY, body.count);
    REQUIRE(reply != NULL);
    reply->as.reply.body = message_keep(reply, body);
    arena_release(&arena);
    message_answer(request->reply_to, reply);
}

static enum result take_request(struct proto_sink *self, struct proto_message **message)
{
    (void)self;
    pthread_mutex_lock(&router.mutex);
    router.taken++;
    enum result refuse = router.refuse;
    bool silent = router.silent;
    if (refuse == RESULT_OK && silent) {
        REQUIRE(router.held_count < 64);
        router.held[router.held_count++] = *message;
    }
    pthread_cond_broadcast(&router.came);
    pthread_mutex_unlock(&router.mutex);
    if (refuse != RESULT_OK) {
        return refuse;
    }
    if (!silent) {
        answer_request(*message);
        message_free(*message);
    }
    *message = NULL;
    return RESULT_OK;
}

static bool ready(void *owner, struct arena *arena, struct span *why_not)
{
    (void)owner;
    *why_not = is_ready ? SPAN_EMPTY : arena_format(arena, "the journal is being read");
    return is_ready;
}

static void metrics(void *owner, struct arena *arena, struct span *text)
{
    (void)owner;
    *text = arena_format(arena, "# TYPE strider_test counter\nstrider_test 1\n");
}

static struct transport_admin_page page; /* none but where it is set */

static struct transport_admin *open_admin(const char *const *tokens, size_t count,
                                          uint32_t timeout_ms)
{
    struct transport_admin_options options = {
        .url = "http://127.0.0.1:0",
        .router = &router.sink,
        .view = {.ready = ready, .metrics = metrics},
        .page = page,
        .tokens = tokens,
        .token_count = count,
        .request_bytes_max = REQUEST_BYTES_MAX,
        .timeout_ms = timeout_ms,
    };
    struct transport_admin *admin = NULL;
    char error[256];
    enum result result = transport_admin_open(&options, &admin, error);
    if (result != RESULT_OK) {
        fprintf(stderr, "%s\n", error);
    }
    REQUIRE(result == RESULT_OK);
    REQUIRE(transport_admin_port(admin) != 0);
    return admin;
}

/* One response. */
struct response {
    long status;
    size_t body_count;
    size_t head_count;
    char head[4096];
    char body[200000];
};
static struct response last;

static size_t take_body(char *bytes, size_t one, size_t count, void *unused)
{
    (void)unused;
    size_t room = sizeof last.body - last.body_count;
    size_t take = one * count < room ? one * count : room;
    memcpy(last.body + last.body_count, bytes, take);
    last.body_count += take;
    return one * count;
}

static size_t take_head(char *bytes, size_t one, size_t count, void *unused)
{
    (void)unused;
    if (last.head_count + count < sizeof last.head) {
        memcpy(last.head + last.head_count, bytes, one * count);
        last.head_count += one * count;
    }
    return one * count;
}

static CURL *easy;

/* `headers`: up to three lines, NULL at the end. The body is a text; NULL: none. */
static long http(struct transport_admin *admin, const char *method, const char *path,
                 const char *body, const char *const headers[3])
{
    char url[512];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", transport_admin_port(admin), path);
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    for (size_t index = 0; headers != NULL && index < 3 && headers[index] != NULL; index++) {
        list = curl_slist_append(list, headers[index]);
    }
    memset(&last, 0, sizeof last);
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    if (body != NULL) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    }
    CURLcode code = curl_easy_perform(easy);
    CHECK_INT(code, CURLE_OK);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &last.status);
    curl_slist_free_all(list);
    return last.status;
}

static struct span body_text(void)
{
    return span_of(last.body, last.body_count);
}
static struct span head_text(void)
{
    return span_of(last.head, last.head_count);
}

static void pages(void)
{
    CHECK_CASE("healthz, readyz, metrics; HEAD; no such path; no such method");
    struct transport_admin *admin = open_admin(NULL, 0, 5000);
    CHECK_INT(http(admin, "GET", "/healthz", NULL, NULL), 200);
    CHECK_HAS(body_text(), "\"ok\":true");
    CHECK_INT(http(admin, "GET", "/readyz", NULL, NULL), 200);
    is_ready = false;
    CHECK_INT(http(admin, "GET", "/readyz", NULL, NULL), 503);
    CHECK_HAS(body_text(), "the journal is being read");
    CHECK_HAS(head_text(), "Retry-After: 1");
    is_ready = true;
    CHECK_INT(http(admin, "GET", "/metrics", NULL, NULL), 200);
    CHECK_HAS(body_text(), "strider_test 1\n");
    CHECK_HAS(head_text(), "text/plain; version=0.0.4");
    CHECK_HAS(head_text(), "X-Content-Type-Options: nosniff");
    CHECK_INT(http(admin, "HEAD", "/healthz", NULL, NULL), 200);
    CHECK_INT(last.body_count, 0);
    static const char *const nowhere[] = {
        "/",          "/v1",        "/v1/",       "/v1/executions/a/b/c", "/v1/executions/a/fly",
        "/healthz/x", "//v1/stats", "/v1/statsx", "/../etc/passwd",       "/%2e%2e/x"};
    for (size_t index = 0; index < sizeof nowhere / sizeof nowhere[0]; index++) {
        CHECK_INT(http(admin, "GET", nowhere[index], NULL, NULL), 404);
        CHECK_HAS(body_text(), "\"code\":\"InvalidRequest\"");
    }
    CHECK_INT(http(admin, "PUT", "/v1/stats", NULL, NULL), 405);
    CHECK_INT(http(admin, "DELETE", "/v1/executions", NULL, NULL), 405);
    transport_admin_close(admin);
}

static void a_page_of_its_own(void)
{
    CHECK_CASE("the page at / has its own policy and is open; nothing beside it is");
    static const char *const tokens[] = {"sesame"};
    page = (struct transport_admin_page){.html = span_text("<!doctype html><title>x</title>"),
                                         .policy = "default-src 'none'; script-src 'sha256-x'"};
    struct transport_admin *admin = open_admin(tokens, 1, 5000);
    CHECK_INT(http(admin, "GET", "/", NULL, NULL), 200);
    CHECK_HAS(body_text(), "<title>x</title>");
    CHECK_HAS(head_text(), "Content-Type: text/html; charset=utf-8");
    CHECK_HAS(head_text(),
              "Content-Security-Policy: default-src 'none'; script-src 'sha256-x'\r\n");
    CHECK_HAS(head_text(), "X-Content-Type-Options: nosniff");
    CHECK_HAS(head_text(), "X-Frame-Options: DENY");
    CHECK_INT(http(admin, "HEAD", "/?x=1", NULL, NULL), 200);
    CHECK_INT(last.body_count, 0);
    CHECK_INT(http(admin, "POST", "/", "{}", NULL), 401);
    CHECK_INT(http(admin, "GET", "//", NULL, NULL), 401);
    CHECK_INT(http(admin, "GET", "/v1/ping", NULL, NULL), 401);
    CHECK_HAS(head_text(), "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'");
    transport_admin_close(admin);
    page = (struct transport_admin_page){.html = SPAN_EMPTY};
}

static void routes_become_operations(void)
{
    struct transport_admin *admin = open_admin(NULL, 0, 5000);
    static const struct {
        const char *method;
        const char *path;
        const char *body;
        const char *asked; /* in the order in which they are merged: the body's own fields first */
    } rows[] = {
        {"POST", "/v1/executions", "{\"process\":\"p\",\"request\":{\"a\":0.10}}",
         "{\"process\":\"p\",\"request\":{\"a\":0.10},\"v\":1,\"op\":\"start\"}"},
        {"GET", "/v1/executions?status=Waiting&limit=20&cursor=a%20b+c", NULL,
         "{\"status\":\"Waiting\",\"limit\":20,\"cursor\":\"a b c\",\"v\":1,\"op\":\"list\"}"},
        {"GET", "/v1/executions/e-1?include=payloads,map", NULL,
         "{\"include\":[\"payloads\",\"map\"],\"v\":1,\"op\":\"get\",\"executionId\":\"e-1\"}"},
        {"GET", "/v1/executions/a%2Fb", NULL, "{\"v\":1,\"op\":\"get\",\"executionId\":\"a/b\"}"},
        {"DELETE", "/v1/executions/e-1", NULL,
         "{\"v\":1,\"op\":\"delete\",\"executionId\":\"e-1\"}"},
        {"POST", "/v1/executions/e-1/callback",
         "{\"taskId\":\"t\",\"payload\":{},\"executionId\":\"e-1\",\"op\":\"callback\"}",
         "{\"taskId\":\"t\",\"payload\":{},\"executionId\":\"e-1\",\"op\":\"callback\",\"v\":1}"},
        {"POST", "/v1/executions/e-1/suspend", NULL,
         "{\"v\":1,\"op\":\"suspend\",\"executionId\":\"e-1\"}"},
        {"POST", "/v1/executions/e-1/resume", "{}",
         "{\"v\":1,\"op\":\"resume\",\"executionId\":\"e-1\"}"},
        {"POST", "/v1/executions/e-1/abort", NULL,
         "{\"v\":1,\"op\":\"abort\",\"executionId\":\"e-1\"}"},
        {"POST", "/v1/executions/e-1/restart", NULL,
         "{\"v\":1,\"op\":\"restart\",\"executionId\":\"e-1\"}"},
        {"POST", "/v1/executions/e-1/retry", NULL,
         "{\"v\":1,\"op\":\"retry\",\"executionId\":\"e-1\"}"},
        {"GET", "/v1/tasks?assignee=kim", NULL, "{\"assignee\":\"kim\",\"v\":1,\"op\":\"tasks\"}"},
        {"POST", "/api/workflows/e-1/resume?taskId=review", "{\"decision\":\"approve\"}",
         "{\"payload\":{\"decision\":\"approve\"},\"taskId\":\"review\",\"v\":1,\"op\":"
         "\"callback\",\"executionId\":\"e-1\"}"},
        {"POST", "/api/workflows/e-1/resume", NULL,
         "{\"payload\":{},\"v\":1,\"op\":\"callback\",\"executionId\":\"e-1\"}"},
        {"GET", "/v1/definitions", NULL, "{\"v\":1,\"op\":\"definitions\"}"},
        {"POST", "/v1/definitions", "{\"name\":\"a.bpmn\",\"content\":\"<x/>\"}",
         "{\"name\":\"a.bpmn\",\"content\":\"<x/>\",\"v\":1,\"op\":\"deploy\"}"},
        {"POST", "/v1/definitions?name=b.bpmn", "<?xml version=\"1.0\"?><definitions/>",
         "{\"content\":\"<?xml "
         "version=\\\"1.0\\\"?><definitions/>\",\"name\":\"b.bpmn\",\"v\":1,\"op\":\"deploy\"}"},
        {"GET", "/v1/stats", NULL, "{\"v\":1,\"op\":\"stats\"}"},
        {"POST", "/v1/ops", "{\"v\":1,\"op\":\"ping\",\"x\":[1]}",
         "{\"v\":1,\"op\":\"ping\",\"x\":[1]}"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        CHECK_CASE(rows[index].path);
        CHECK_INT(http(admin, rows[index].method, rows[index].path, rows[index].body, NULL), 200);
        CHECK_HAS(body_text(), rows[index].asked);
        CHECK_HAS(head_text(), "Content-Type: application/json");
    }

    CHECK_CASE("a MessagePack body is answered in MessagePack");
    CHECK_INT(http(admin, "POST", "/v1/ops", "\x81\xa2op\xa4ping", NULL), 200);
    CHECK_INT(wire_int_or(wire_find_text(body_text(), "v"), -1), 1);
    CHECK_HAS(head_text(), "application/msgpack");

    CHECK_CASE("what is no request is 400, with where it stops being one");
    static const struct {
        const char *path;
        const char *body;
        const char *says;
    } bad[] = {
        {"/v1/ops", "{\"op\":\"fly\"}", "unknown `op`"},
        {"/v1/ops", NULL, "empty request"},
        {"/v1/executions", "{\"a\":", "at byte 5"},
        {"/v1/executions", "[1]", "InvalidRequest"},
        {"/v1/executions/%ff%fe/abort", NULL, "not UTF-8"},
    };
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        CHECK_INT(http(admin, "POST", bad[index].path, bad[index].body, NULL), 400);
        if (last.body[0] == '{') {
            CHECK_HAS(body_text(), bad[index].says);
        }
    }
    transport_admin_close(admin);
}

static void errors_have_a_status(void)
{
    CHECK_CASE("each error code has its HTTP status");
    struct transport_admin *admin = open_admin(NULL, 0, 5000);
    static const struct {
        const char *code;
        long status;
    } rows[] = {
        {"InvalidRequest", 400},    {"Unauthorized", 401},      {"DefinitionNotFound", 404},
        {"DefinitionInvalid", 422}, {"SessionNotFound", 404},   {"AlreadyExists", 409},
        {"NotWaiting", 409},        {"AmbiguousCallback", 409}, {"InvalidTransition", 409},
        {"Timeout", 504},           {"Overloaded", 503},        {"PayloadTooLarge", 413},
        {"StorageFailed", 500},     {"ShuttingDown", 503},      {"Internal", 500},
        {"ModuleFailed", 422},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        char body[64];
        snprintf(body, sizeof body, "{\"fail\":\"%s\"}", rows[index].code);
        CHECK_INT(http(admin, "POST", "/v1/executions", body, NULL), rows[index].status);
        CHECK_HAS(body_text(), rows[index].code);
        if (rows[index].status == 503) {
            CHECK_HAS(head_text(), "Retry-After: 1");
        }
    }

    CHECK_CASE("what the router refuses is 503");
    router.refuse = RESULT_AGAIN;
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, NULL), 503);
    CHECK_HAS(body_text(), "Overloaded");
    router.refuse = RESULT_CLOSED;
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, NULL), 503);
    CHECK_HAS(body_text(), "ShuttingDown");
    router.refuse = RESULT_OK;

    CHECK_CASE("a body over the limit is 413, chunks are refused, a wrong Content-Length is 400");
    char *large = malloc(REQUEST_BYTES_MAX + 2);
    REQUIRE(large != NULL);
    memset(large, ' ', REQUEST_BYTES_MAX + 1);
    large[REQUEST_BYTES_MAX + 1] = '\0';
    CHECK_INT(http(admin, "POST", "/v1/executions", large, NULL), 413);
    memcpy(large, "{}", 2);
    large[REQUEST_BYTES_MAX] = '\0';
    CHECK_INT(http(admin, "POST", "/v1/executions", large, NULL), 200);
    free(large);
    static const char *const chunked[3] = {"Transfer-Encoding: chunked", NULL};
    CHECK_INT(http(admin, "POST", "/v1/executions", "{}", chunked), 400);
    transport_admin_close(admin);
}

static void who_may_ask(void)
{
    CHECK_CASE("with tokens: Bearer or 401; healthz and readyz stay open");
    static const char *const tokens[] = {"open-sesame"};
    struct transport_admin *admin = open_admin(tokens, 1, 5000);
    static const char *const right[3] = {"Authorization: Bearer open-sesame", NULL};
    static const char *const wrong[3] = {"Authorization: Bearer open-sesamf", NULL};
    static const char *const basic[3] = {"Authorization: Basic b3Blbi1zZXNhbWU=", NULL};
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, NULL), 401);
    CHECK_HAS(head_text(), "WWW-Authenticate: Bearer");
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, wrong), 401);
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, basic), 401);
    CHECK_INT(http(admin, "GET", "/metrics", NULL, NULL), 401);
    CHECK_INT(http(admin, "GET", "/v1/events", NULL, NULL), 401);
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, right), 200);
    CHECK_INT(http(admin, "GET", "/healthz", NULL, NULL), 200);
    CHECK_INT(http(admin, "GET", "/readyz", NULL, NULL), 200);
    transport_admin_close(admin);

    CHECK_CASE("without tokens: only by a local name, and not from a web page elsewhere");
    admin = open_admin(NULL, 0, 5000);
    static const char *const rebound[3] = {"Host: evil.example", NULL};
    static const char *const foreign[3] = {"Origin: http://evil.example", NULL};
    static const char *const null_origin[3] = {"Origin: null", NULL};
    static const char *const local[3] = {"Host: localhost:7780", "Origin: http://localhost:7780",
                                         NULL};
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, rebound), 401);
    CHECK_INT(http(admin, "POST", "/v1/executions", "{}", foreign), 401);
    CHECK_INT(http(admin, "POST", "/v1/executions", "{}", null_origin), 401);
    CHECK_INT(http(admin, "POST", "/v1/executions", "{}", local), 200);
    transport_admin_close(admin);

    CHECK_CASE("beyond this machine without tokens is refused at start; an address in use is said");
    struct transport_admin_options options = {.url = "http://0.0.0.0:0",
                                              .router = &router.sink,
                                              .view = {.ready = ready, .metrics = metrics},
                                              .request_bytes_max = 1000,
                                              .timeout_ms = 1000};
    char error[256];
    CHECK_INT(transport_admin_open(&options, &admin, error), RESULT_DENIED);
    CHECK_HAS(span_text(error), "auth.tokens");
    options.url = "127.0.0.1:7780";
    CHECK_INT(transport_admin_open(&options, &admin, error), RESULT_INVALID);
    CHECK_HAS(span_text(error), "http://HOST:PORT");
    int taken = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t count = sizeof address;
    REQUIRE(bind(taken, (struct sockaddr *)&address, count) == 0 && listen(taken, 1) == 0);
    REQUIRE(getsockname(taken, (struct sockaddr *)&address, &count) == 0);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    options.url = url;
    CHECK_INT(transport_admin_open(&options, &admin, error), RESULT_EXISTS);
    CHECK_HAS(span_text(error), url);
    close(taken);
}

static int connect_to(struct transport_admin *admin)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(transport_admin_port(admin)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void say(int fd, const char *text)
{
    REQUIRE(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Reads until `text` has come, or the peer has closed; true when it has. */
static bool hear(int fd, const char *text, char *room, size_t room_bytes)
{
    size_t count = strlen(room);
    while (strstr(room, text) == NULL) {
        ssize_t more =
            count + 1 < room_bytes ? recv(fd, room + count, room_bytes - count - 1, 0) : -1;
        if (more <= 0) {
            return false;
        }
        count += (size_t)more;
        room[count] = '\0';
    }
    return true;
}

enum { HELD_COUNT = 8 };

/* So many requests that the router has and does not answer, each on a connection of its own. */
static void hold_requests(struct transport_admin *admin, int fds[HELD_COUNT])
{
    router.silent = true;
    for (int index = 0; index < HELD_COUNT; index++) {
        fds[index] = connect_to(admin);
        say(fds[index], "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    pthread_mutex_lock(&router.mutex);
    while (router.held_count < HELD_COUNT) {
        pthread_cond_wait(&router.came, &router.mutex);
    }
    pthread_mutex_unlock(&router.mutex);
}

static void let_go(int fds[HELD_COUNT])
{
    for (int index = 0; index < HELD_COUNT; index++) {
        message_free(router.held[index]);
        close(fds[index]);
    }
    router.held_count = 0;
    router.silent = false;
}

static void time_outs_and_rough_peers(void)
{
    CHECK_CASE(
        "no answer in time is 504; the late answer is dropped, and the next request gets its own");
    struct transport_admin *admin = open_admin(NULL, 0, 50);
    router.silent = true;
    CHECK_INT(http(admin, "GET", "/v1/stats", NULL, NULL), 504);
    CHECK_HAS(body_text(), "\"code\":\"Timeout\"");
    router.silent = false;
    answer_request(router.held[0]);
    message_free(router.held[0]);
    router.held_count = 0;
    CHECK_INT(http(admin, "GET", "/v1/ping", NULL, NULL), 200);
    CHECK_HAS(body_text(), "\"op\":\"ping\"");
    struct transport_admin_stats stats;
    transport_admin_stats(admin, &stats);
    CHECK_INT(stats.timeouts, 1);
    transport_admin_close(admin);

    CHECK_CASE(
        "two requests on one connection; a body in pieces; a peer that leaves in the middle");
    admin = open_admin(NULL, 0, 5000);
    static char room[8192];
    int fd = connect_to(admin);
    say(fd, "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n");
    room[0] = '\0';
    CHECK(hear(fd, "\"op\":\"ping\"}}", room, sizeof room));
    say(fd, "POST /v1/ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{\"op\":");
    say(fd, "\"stats\"");
    say(fd, "}");
    room[0] = '\0';
    CHECK(hear(fd, "\"op\":\"stats\"}}", room, sizeof room));
    say(fd, "POST /v1/ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"op\":");
    close(fd);
    fd = connect_to(admin);
    say(fd, "POST /v1/ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12x\r\n\r\n");
    room[0] = '\0';
    CHECK(hear(fd, "400", room, sizeof room));
    close(fd);
    fd = connect_to(admin);
    say(fd, "\r\n\r\n\x01\x02garbage\r\n\r\n");
    close(fd);
    CHECK_INT(http(admin, "GET", "/v1/ping", NULL, NULL), 200);

    int fds[HELD_COUNT];
    CHECK_CASE("when the engine stops, what waits and what comes is answered ShuttingDown");
    hold_requests(admin, fds);
    transport_admin_quiesce(admin);
    for (int index = 0; index < HELD_COUNT; index++) {
        room[0] = '\0';
        CHECK(hear(fds[index], "\"code\":\"ShuttingDown\"", room, sizeof room));
        CHECK_HAS(span_text(room), "HTTP/1.1 503");
    }
    answer_request(router.held[0]); /* too late: nobody is there any more */
    CHECK_INT(http(admin, "GET", "/v1/ping", NULL, NULL), 503);
    CHECK_HAS(body_text(), "ShuttingDown");
    CHECK_INT(http(admin, "GET", "/healthz", NULL, NULL), 200);
    transport_admin_close(admin);
    let_go(fds);

    CHECK_CASE("close drops what is unanswered");
    admin = open_admin(NULL, 0, 5000);
    hold_requests(admin, fds);
    transport_admin_close(admin);
    let_go(fds);
}

static void send_event(struct transport_admin *admin, const char *json_text)
{
    struct arena arena;
    arena_init(&arena, 4096, 8u << 20);
    struct span value = SPAN_EMPTY;
    struct json_error error;
    REQUIRE(json_to_wire(span_text(json_text), 64, &arena, &value, &error) == RESULT_OK);
    struct proto_message *message = message_new(PROTO_EVENT, value.count);
    REQUIRE(message != NULL);
    message->as.event.body = message_keep(message, value);
    arena_release(&arena);
    struct proto_sink *sink = transport_admin_events(admin);
    CHECK_INT(sink->send(sink, &message), RESULT_OK);
}

static void events_are_streamed(void)
{
    CHECK_CASE("two listeners hear every event, in order; one that leaves is forgotten");
    struct transport_admin *admin = open_admin(NULL, 0, 5000);
    send_event(admin, "{\"event\":\"nobody hears this\"}");
    static char room[2][65536];
    int fds[2];
    for (int index = 0; index < 2; index++) {
        fds[index] = connect_to(admin);
        say(fds[index],
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        room[index][0] = '\0';
        CHECK(hear(fds[index], ": connected\n\n", room[index], sizeof room[index]));
        CHECK(strstr(room[index], "Content-Type: text/event-stream") != NULL);
    }
    char event[128];
    for (int n = 0; n < 100; n++) {
        snprintf(event, sizeof event, "{\"event\":\"changed\",\"executionId\":\"e\",\"n\":%d}", n);
        send_event(admin, event);
    }
    for (int index = 0; index < 2; index++) {
        CHECK(hear(fds[index], "\"n\":99}\n\n", room[index], sizeof room[index]));
        const char *at = room[index];
        for (int n = 0; n < 100; n++) {
            snprintf(
                event, sizeof event,
                "event: changed\ndata: {\"event\":\"changed\",\"executionId\":\"e\",\"n\":%d}\n\n",
                n);
            at = strstr(at, event);
            CHECK(at != NULL);
            at = at == NULL ? room[index] : at;
        }
    }
    struct transport_admin_stats stats;
    transport_admin_stats(admin, &stats);
    CHECK_INT(stats.listeners, 2);
    CHECK_INT(stats.events_lost, 0);
    close(fds[0]);
    for (int tries = 0; stats.listeners == 2 && tries < 20000; tries++) {
        send_event(admin, "{\"event\":\"changed\"}");
        CHECK(hear(fds[1], "data", room[1], sizeof room[1]));
        room[1][0] = '\0';
        transport_admin_stats(admin, &stats);
    }
    CHECK_INT(stats.listeners, 1);

    CHECK_CASE("a listener that does not read loses events, which are counted; the sender is never "
               "held up");
    char *large = malloc(300000);
    REQUIRE(large != NULL);
    size_t count = (size_t)snprintf(large, 300000, "{\"event\":\"large\",\"text\":\"");
    memset(large + count, 'x', 200000);
    memcpy(large + count + 200000, "\"}", sizeof "\"}");
    for (int n = 0; n < 400; n++) {
        send_event(admin, large);
    }
    free(large);
    transport_admin_stats(admin, &stats);
    CHECK(stats.events_lost > 0);

    CHECK_CASE("close ends the streams");
    transport_admin_close(admin);
    char rest[4096];
    ssize_t more = 0;
    while ((more = recv(fds[1], rest, sizeof rest, 0)) > 0) {
    }
    CHECK(more <= 0);
    close(fds[1]);
}

static _Atomic bool bombarding;

static void *bombard(void *arg)
{
    struct transport_admin *admin = arg;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(transport_admin_port(admin)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char *const requests[] = {
        "GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{\"op\":\"stats\"}",
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{\"op\":",
    };
    for (unsigned round = 0; atomic_load(&bombarding); round++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct timeval patience = {.tv_usec = 50000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            const char *request = requests[round % 4];
            char answer[512];
            if (send(fd, request, strlen(request), MSG_NOSIGNAL) > 0 && round % 4 != 3) {
                (void)!recv(fd, answer, sizeof answer, 0);
            }
        }
        close(fd);
    }
    return NULL;
}

static void closing_under_fire(void)
{
    CHECK_CASE("the listener opens and closes while four peers keep asking, listening and leaving");
    for (int round = 0; round < 10; round++) {
        struct transport_admin *admin = open_admin(NULL, 0, 5000);
        pthread_mutex_lock(&router.mutex);
        size_t until = router.taken + 100;
        pthread_mutex_unlock(&router.mutex);
        atomic_store(&bombarding, true);
        /* The port is read by each thread once, at its start: the listener itself may then be
         * closed under them. */
        pthread_t threads[4];
        for (int index = 0; index < 4; index++) {
            REQUIRE(pthread_create(&threads[index], NULL, bombard, admin) == 0);
        }
        pthread_mutex_lock(&router.mutex);
        while (router.taken < until) {
            pthread_cond_wait(&router.came, &router.mutex);
        }
        pthread_mutex_unlock(&router.mutex);
        send_event(admin, "{\"event\":\"changed\"}");
        transport_admin_close(admin);
        atomic_store(&bombarding, false);
        for (int index = 0; index < 4; index++) {
            pthread_join(threads[index], NULL);
        }
    }
    CHECK(router.taken > 1000);
}

int main(void)
{
    router.sink.send = take_request;
    pthread_mutex_init(&router.mutex, NULL);
    pthread_cond_init(&router.came, NULL);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    easy = curl_easy_init();
    REQUIRE(easy != NULL);

    pages();
    a_page_of_its_own();
    routes_become_operations();
    errors_have_a_status();
    who_may_ask();
    time_outs_and_rough_peers();
    events_are_streamed();
    closing_under_fire();

    curl_easy_cleanup(easy);
    transport_sockets_end();
    pthread_cond_destroy(&router.came);
    pthread_mutex_destroy(&router.mutex);
    return check_report();
}
