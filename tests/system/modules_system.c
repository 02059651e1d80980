/*
 * modules_system.c: the module adapter against a scripted HTTP server on loopback: what each kind
 * of answer becomes, that every call ends exactly once, limits, deadlines, cancellation, headers.
 */
#include <ev.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/system/check.h"
#include "tests/system/http_server.h"
#include "transport/modules.h"

#define PATIENCE_S      20.
#define ANSWERS_MAX     4096u
#define REPLY_BYTES_MAX (16u << 20)

/* Where answers go: kept by the ticket, and counted. */
static struct {
    struct proto_sink sink;
    struct ev_loop *loop;
    struct proto_message *answers[ANSWERS_MAX]; /* by ticket */
    size_t came;
    size_t wanted;
    size_t doubled;
    uint64_t order[ANSWERS_MAX];
} inbox;

static struct ev_loop *loop;
static struct transport_modules *modules;
static struct test_http *server;
static struct arena arena;

struct call_spec {
    const char *url;
    const char *module;  /* NULL: "m" */
    const char *headers; /* JSON */
    const char *body;    /* JSON; NULL: {} */
    const char *key;
    enum proto_spelling spelling;
    uint32_t timeout_ms; /* 0: 10 s */
    uint32_t concurrent_max;
    size_t reply_bytes_max;
};

static enum result take_answer(struct proto_sink *self, struct proto_message **message)
{
    (void)self;
    uint64_t ticket = (*message)->reply_to.ticket;
    REQUIRE(ticket < ANSWERS_MAX && (*message)->type == PROTO_CALL_DONE);
    if (inbox.answers[ticket] != NULL) {
        inbox.doubled++;
        message_free(*message);
    } else {
        inbox.answers[ticket] = *message;
        inbox.order[inbox.came++] = ticket;
    }
    *message = NULL;
    if (inbox.came >= inbox.wanted) {
        ev_break(loop, EVBREAK_ALL);
    }
    return RESULT_OK;
}

static void clear_inbox(void)
{
    for (size_t index = 0; index < ANSWERS_MAX; index++) {
        message_free(inbox.answers[index]);
        inbox.answers[index] = NULL;
    }
    inbox.came = 0;
    inbox.wanted = SIZE_MAX;
    CHECK_INT(inbox.doubled, 0);
}

static void give_up(struct ev_loop *of, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(of, EVBREAK_ALL);
}

/* Turns the loop until `count` answers in all are there. */
static void await(size_t count)
{
    inbox.wanted = count;
    if (inbox.came < count) {
        ev_timer patience;
        ev_timer_init(&patience, give_up, PATIENCE_S, 0.);
        ev_timer_start(loop, &patience);
        ev_run(loop, 0);
        ev_timer_stop(loop, &patience);
    }
    CHECK_INT(inbox.came, count);
}

static void no_op(struct ev_loop *of, ev_timer *timer, int events)
{
    give_up(of, timer, events);
}

/* Turns the loop until the server has `count` requests of `path`. */
static void await_requests_of(struct test_http *of, const char *path, size_t count)
{
    for (int round = 0; round < 2000 && test_http_count(of, path) < count; round++) {
        ev_timer tick;
        ev_timer_init(&tick, no_op, 0.01, 0.);
        ev_timer_start(loop, &tick);
        ev_run(loop, EVRUN_ONCE);
        ev_timer_stop(loop, &tick);
    }
    CHECK_INT(test_http_count(of, path), count);
}

static void await_requests(const char *path, size_t count)
{
    await_requests_of(server, path, count);
}

static struct span json(const char *text)
{
    struct span value = SPAN_EMPTY;
    struct json_error error;
    if (text != NULL) {
        REQUIRE(json_to_wire(span_text(text), 64, &arena, &value, &error) == RESULT_OK);
    }
    return value;
}

static enum result call(uint64_t ticket, struct call_spec spec)
{
    struct span headers = json(spec.headers);
    struct span body = json(spec.body == NULL ? "{}" : spec.body);
    struct span module = span_text(spec.module == NULL ? "m" : spec.module);
    struct span project = span_text("p");
    struct span key = span_text(spec.key);
    struct span trace = span_text("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    struct proto_message *message =
        message_new(PROTO_CALL, headers.count + body.count + module.count + project.count +
                                    key.count + trace.count + strlen(spec.url));
    REQUIRE(message != NULL);
    struct proto_call *asked = &message->as.call;
    char id[32];
    snprintf(id, sizeof id, "execution-%llu", (unsigned long long)ticket);
    REQUIRE(execution_id_parse(span_text(id), &asked->execution_id) == RESULT_OK);
    asked->token = (uint32_t)ticket;
    asked->attempt = 1;
    asked->project = message_keep(message, project);
    asked->module = message_keep(message, module);
    asked->url = message_keep(message, span_text(spec.url));
    asked->headers = message_keep(message, headers);
    asked->idempotency_key = message_keep(message, key);
    asked->traceparent = message_keep(message, trace);
    asked->body = message_keep(message, body);
    asked->spelling = spec.spelling;
    asked->timeout_ms = spec.timeout_ms == 0 ? 10000 : spec.timeout_ms;
    asked->concurrent_max = spec.concurrent_max == 0 ? 64 : spec.concurrent_max;
    asked->reply_bytes_max = spec.reply_bytes_max == 0 ? REPLY_BYTES_MAX : spec.reply_bytes_max;
    message->reply_to = (struct proto_address){&inbox.sink, ticket};
    struct proto_sink *sink = transport_modules_sink(modules);
    enum result result = sink->send(sink, &message);
    CHECK((result == RESULT_OK) == (message == NULL));
    message_free(message);
    return result;
}

static void cancel(uint64_t ticket)
{
    struct proto_message *message = message_new(PROTO_CALL_CANCEL, 0);
    REQUIRE(message != NULL);
    char id[32];
    snprintf(id, sizeof id, "execution-%llu", (unsigned long long)ticket);
    REQUIRE(execution_id_parse(span_text(id), &message->as.call_cancel.execution_id) == RESULT_OK);
    message->as.call_cancel.token = (uint32_t)ticket;
    message->as.call_cancel.attempt = 1;
    struct proto_sink *sink = transport_modules_sink(modules);
    CHECK(sink->send(sink, &message) == RESULT_OK);
}

static const struct proto_call_done *answer(uint64_t ticket)
{
    REQUIRE(inbox.answers[ticket] != NULL);
    return &inbox.answers[ticket]->as.call_done;
}

/* One call to one scripted reply, to its end. */
static const struct proto_call_done *one(struct test_http_reply reply, struct call_spec spec)
{
    static struct test_http_reply kept[64]; /* scripts must outlive the server */
    static size_t used;
    static char paths[64][16];
    REQUIRE(used < 64);
    kept[used] = reply;
    snprintf(paths[used], sizeof paths[used], "/one/%zu", used);
    test_http_script(server, paths[used], &kept[used], 1);
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(server, paths[used++], url);
    spec.url = url;
    clear_inbox();
    CHECK(call(1, spec) == RESULT_OK);
    await(1);
    return answer(1);
}

static void open_modules(uint32_t queue_max)
{
    struct transport_modules_options options = {.loop = loop, .queue_max = queue_max};
    REQUIRE(transport_modules_open(&options, &modules) == RESULT_OK);
}

static void answers_become_values(void)
{
    CHECK_CASE("a JSON answer becomes a checked value, with status and ids");
    const struct proto_call_done *done =
        one((struct test_http_reply){.body = "{\"response\":{\"n\":1}}"},
            (struct call_spec){.spelling = PROTO_JSON, .key = "step-1"});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(done->status, 200);
    CHECK_INT(wire_int_or(wire_find_text(wire_find_text(done->body, "response"), "n"), -1), 1);
    CHECK_INT(done->token, 1);
    CHECK_INT(done->attempt, 1);
    CHECK_TEXT(execution_id_span(&done->execution_id), "execution-1");
    CHECK_INT(done->retry_after_ms, -1);

    CHECK_CASE("a MessagePack answer is taken by content type and by its first byte");
    static const uint8_t packed[] = {0x81, 0xa1, 'a', 0x07};
    done = one((struct test_http_reply){.body = packed,
                                        .body_bytes = 4,
                                        .content_type = "application/x-msgpack"},
               (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(wire_int_or(wire_find_text(done->body, "a"), -1), 7);
    done = one((struct test_http_reply){.body = packed,
                                        .body_bytes = 4,
                                        .content_type = "application/octet-stream"},
               (struct call_spec){0});
    CHECK_INT(wire_int_or(wire_find_text(done->body, "a"), -1), 7);

    CHECK_CASE("204 and 202 need no body");
    done = one((struct test_http_reply){.status = 204}, (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(done->status, 204);
    CHECK_INT(done->body.count, 0);
    done = one((struct test_http_reply){.status = 202}, (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(done->status, 202);

    CHECK_CASE("an answer other than 2xx keeps its status; its body is read if it can be");
    done = one((struct test_http_reply){.status = 404,
                                        .body = "<html>no</html>",
                                        .content_type = "text/html"},
               (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(done->status, 404);
    CHECK_INT(done->body.count, 0);
    done = one((struct test_http_reply){.status = 422, .body = "{\"error\":{\"code\":\"X\"}}"},
               (struct call_spec){0});
    CHECK_TEXT(wire_string_or(wire_find_text(wire_find_text(done->body, "error"), "code"), ""),
               "X");

    CHECK_CASE("a redirect is an answer, not followed");
    size_t before = test_http_count(server, NULL);
    done = one((struct test_http_reply){.status = 302, .headers = "Location: /elsewhere\r\n"},
               (struct call_spec){0});
    CHECK_INT(done->status, 302);
    CHECK_INT(test_http_count(server, NULL), before + 1);

    CHECK_CASE("Retry-After: seconds, capped, a date, nonsense");
    done = one((struct test_http_reply){.status = 503, .headers = "Retry-After: 7\r\n"},
               (struct call_spec){0});
    CHECK_INT(done->retry_after_ms, 7000);
    done = one(
        (struct test_http_reply){.status = 429, .headers = "Retry-After: 99999999999999999999\r\n"},
        (struct call_spec){0});
    CHECK_INT(done->retry_after_ms, 3600000);
    done =
        one((struct test_http_reply){.status = 503,
                                     .headers = "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"},
            (struct call_spec){0});
    CHECK_INT(done->retry_after_ms, 0);
    done = one((struct test_http_reply){.status = 503, .headers = "Retry-After: soon\r\n"},
               (struct call_spec){0});
    CHECK_INT(done->retry_after_ms, -1);
}

static void bad_replies_say_what_is_wrong(void)
{
    static const struct {
        struct test_http_reply reply;
        const char *reason;
    } rows[] = {
        {{.body = "<html>hello</html>"}, "reply is not JSON: "},
        {{.body = "<html>hello</html>"}, "at line 1 column 1, near \"<html>hello</html>\""},
        {{.body = "{\"a\":\xff}"}, "reply is not JSON: "},
        {{.body = "{\"a\":\"\xff\"}"}, "invalid UTF-8 at byte 6"},
        {{.body = "{\"a\":1"}, "reply is not JSON: "},
        {{.body = ""}, "reply is empty"},
        {{.body = "\x81\xa1", .content_type = "application/msgpack"}, "reply is not MessagePack: "},
        {{.body = "{", .repeat_bytes = 100000}, "reply is not JSON: "},
        {{.body = "[", .repeat_bytes = 100000}, "nested too deeply"},
        {{.body = "\x1f\x8b\x08", .headers = "Content-Encoding: gzip\r\n"},
         "reply has Content-Encoding \"gzip\", and the call did not ask for any"},
        {{.body = "<html>", .headers = "Content-Encoding: identity\r\n"}, "reply is not JSON: "},
        {{.manner = TEST_HTTP_RAW, .body = "SSH-2.0-OpenSSH_9.2\r\n\r\n"}, "reply is not HTTP"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        CHECK_CASE(rows[index].reason);
        const struct proto_call_done *done =
            one(rows[index].reply, (struct call_spec){.spelling = PROTO_JSON});
        CHECK_INT(done->outcome, PROTO_CALL_BAD_REPLY);
        CHECK_HAS(done->reason, rows[index].reason);
        CHECK_INT(done->body.count, 0);
    }

    CHECK_CASE("a reply over the limit is given up, whether it says its length or not");
    const struct proto_call_done *done = one(
        (struct test_http_reply){.body = "x", .repeat_bytes = 100u << 20}, (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_BAD_REPLY);
    CHECK_TEXT(done->reason, "reply larger than 16777216 bytes");
    done = one((struct test_http_reply){.manner = TEST_HTTP_ENDLESS},
               (struct call_spec){.reply_bytes_max = 1u << 20});
    CHECK_INT(done->outcome, PROTO_CALL_BAD_REPLY);
    CHECK_TEXT(done->reason, "reply larger than 1048576 bytes");
    done = one((struct test_http_reply){.status = 503, .body = "x", .repeat_bytes = 100u << 20},
               (struct call_spec){0});
    CHECK_INT(done->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(done->status, 503);

    CHECK_CASE("a reply of just the limit is taken");
    done = one((struct test_http_reply){.body = " ", .repeat_bytes = 1000},
               (struct call_spec){.reply_bytes_max = 1000});
    CHECK_INT(done->outcome, PROTO_CALL_BAD_REPLY);
    CHECK_HAS(done->reason, "reply is not JSON");
}

static void broken_connections_are_transient(void)
{
    static const enum test_http_manner manners[] = {TEST_HTTP_SHORT, TEST_HTTP_CLOSE,
                                                    TEST_HTTP_RESET};
    static const char *const names[] = {"a body shorter than its Content-Length",
                                        "a connection closed without an answer",
                                        "a connection reset"};
    for (size_t index = 0; index < 3; index++) {
        CHECK_CASE(names[index]);
        const struct proto_call_done *done =
            one((struct test_http_reply){.manner = manners[index], .body = "{\"a\":1}"},
                (struct call_spec){0});
        CHECK_INT(done->outcome, PROTO_CALL_UNREACHABLE);
        CHECK(done->reason.count > 0);
        CHECK_INT(done->status, 0);
    }

    CHECK_CASE("a header that is too long");
    static char whole[200000] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
    memset(whole + strlen(whole), 'a', sizeof whole - strlen(whole) - 5);
    memcpy(whole + sizeof whole - 5, "\r\n\r\n", 5);
    const struct proto_call_done *long_head = one(
        (struct test_http_reply){.manner = TEST_HTTP_RAW, .body = whole}, (struct call_spec){0});
    CHECK_INT(long_head->outcome, PROTO_CALL_UNREACHABLE);
    CHECK_HAS(long_head->reason, "a header that is too long");

    CHECK_CASE("nothing listens");
    clear_inbox();
    struct test_http *gone = test_http_start();
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(gone, "/", url);
    test_http_stop(gone);
    CHECK(call(1, (struct call_spec){.url = url}) == RESULT_OK);
    await(1);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_UNREACHABLE);
    CHECK_HAS(answer(1)->reason, "refused");

    CHECK_CASE("a name that does not resolve");
    clear_inbox();
    CHECK(call(1, (struct call_spec){.url = "http://no-such-host.invalid/x"}) == RESULT_OK);
    CHECK(call(2, (struct call_spec){.url = "http://no-such-host-either.invalid/x"}) == RESULT_OK);
    await(2);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_UNREACHABLE);
    CHECK_INT(answer(2)->outcome, PROTO_CALL_UNREACHABLE);
}

static void kept_connections_that_died_are_no_failure(void)
{
    CHECK_CASE("a call goes on afresh when more kept connections have died than curl tries");
    enum { KEPT = 8, TRIED = 6 };
    static struct test_http_reply replies[KEPT + TRIED + 1];
    for (size_t index = 0; index < KEPT; index++) {
        replies[index] = (struct test_http_reply){.body = "{}", .gated = true};
    }
    for (size_t index = KEPT; index < KEPT + TRIED; index++) {
        replies[index] = (struct test_http_reply){.manner = TEST_HTTP_CLOSE};
    }
    replies[KEPT + TRIED] = (struct test_http_reply){.body = "{\"a\":1}"};
    struct test_http *busy = test_http_start();
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(busy, "/", url);
    test_http_script(busy, "/", replies, KEPT + TRIED + 1);
    clear_inbox();
    for (uint64_t ticket = 0; ticket < KEPT; ticket++) {
        CHECK(call(ticket, (struct call_spec){.url = url}) == RESULT_OK);
    }
    await_requests_of(busy, "/", KEPT);
    test_http_release(busy, KEPT);
    await(KEPT);

    CHECK(call(KEPT, (struct call_spec){.url = url}) == RESULT_OK);
    await(KEPT + 1);

    CHECK_INT(answer(KEPT)->outcome, PROTO_CALL_ANSWERED);
    CHECK_INT(test_http_count(busy, "/"), KEPT + TRIED + 1);
    CHECK_INT(test_http_connections(busy, NULL), KEPT + 1);

    CHECK_CASE("a fresh connection that dies is one");
    static const struct test_http_reply closing[] = {{.manner = TEST_HTTP_CLOSE}};
    test_http_script(busy, "/closing", closing, 1);
    char closing_url[TEST_HTTP_URL_BYTES];
    test_http_url(busy, "/closing", closing_url);
    clear_inbox();
    CHECK(call(1, (struct call_spec){.url = closing_url}) == RESULT_OK);
    await(1);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_UNREACHABLE);
    test_http_stop(busy);
}

static void deadlines_end_every_call(void)
{
    static const enum test_http_manner manners[] = {TEST_HTTP_SILENT, TEST_HTTP_TRICKLE};
    for (size_t index = 0; index < 2; index++) {
        CHECK_CASE(index == 0 ? "a server that never answers" : "a server that trickles");
        const struct proto_call_done *done =
            one((struct test_http_reply){.manner = manners[index], .body = "{"},
                (struct call_spec){.timeout_ms = 120});
        CHECK_INT(done->outcome, PROTO_CALL_TIMED_OUT);
        CHECK_TEXT(done->reason, "no whole reply within 120 ms");
        CHECK(done->elapsed_ms > 0); /* how long exactly is the machine's business */
    }

    CHECK_CASE("waiting in the module's queue does not eat the deadline");
    static const struct test_http_reply slow[] = {{.manner = TEST_HTTP_SILENT}, {.body = "{}"}};
    test_http_script(server, "/queue", slow, 2);
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(server, "/queue", url);
    clear_inbox();
    struct call_spec spec = {
        .url = url, .module = "queued", .timeout_ms = 150, .concurrent_max = 1};
    CHECK(call(1, spec) == RESULT_OK);
    CHECK(call(2, spec) == RESULT_OK);
    await(2);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_TIMED_OUT);
    CHECK_INT(answer(2)->outcome, PROTO_CALL_ANSWERED);
}

static void impossible_calls_are_refused(void)
{
    static const struct {
        const char *url;
        const char *headers;
        const char *reason;
    } rows[] = {
        {"ftp://127.0.0.1/x", NULL, "not an http:// or https:// URL"},
        {"file:///etc/passwd", NULL, "not an http:// or https:// URL"},
        {"localhost:80/x", NULL, "not an http:// or https:// URL"},
        {"", NULL, "not an http:// or https:// URL"},
        {"http://[::1", NULL, "URL"},
        {"http://a b/", NULL, "URL"},
        {"http://127.0.0.1:1/", "{\"X-Bad\\r\\nEvil\":\"1\"}", "header name"},
        {"http://127.0.0.1:1/", "{\"X-Bad\":\"1\\r\\nEvil: 2\"}", "header X-Bad"},
        {"http://127.0.0.1:1/", "{\"X-Bad\":\"1\\u0000\"}", "header X-Bad"},
        {"http://127.0.0.1:1/", "{\"X-Bad\":7}", "header X-Bad"},
        {"http://127.0.0.1:1/", "{\"Content-Length\":\"3\"}", "Content-Length cannot be set"},
        {"http://127.0.0.1:1/", "{\"transfer-encoding\":\"chunked\"}",
         "transfer-encoding cannot be set"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        CHECK_CASE(rows[index].headers == NULL ? rows[index].url : rows[index].headers);
        clear_inbox();
        CHECK(call(1, (struct call_spec){.url = rows[index].url, .headers = rows[index].headers}) ==
              RESULT_OK);
        await(1);
        CHECK_INT(answer(1)->outcome, PROTO_CALL_REFUSED);
        CHECK_HAS(answer(1)->reason, rows[index].reason);
    }
    CHECK_CASE("an idempotency key cannot break out of its line");
    clear_inbox();
    CHECK(call(1, (struct call_spec){.url = "http://127.0.0.1:1/", .key = "a\r\nEvil: 1"}) ==
          RESULT_OK);
    await(1);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_REFUSED);
}

static void requests_carry_what_they_should(void)
{
    CHECK_CASE("method, headers and body of a JSON call");
    size_t index = test_http_count(server, NULL);
    one((struct test_http_reply){.body = "{}"},
        (struct call_spec){.spelling = PROTO_JSON,
                           .body = "{\"phase\":\"execute\",\"n\":0.10}",
                           .key = "step-9",
                           .headers = "{\"X-Tenant\":\"blue\",\"X-Empty\":\"\"}"});
    struct test_http_request request;
    REQUIRE(test_http_request(server, index, &request));
    CHECK_TEXT(request.method, "POST");
    CHECK_TEXT(request.body, "{\"phase\":\"execute\",\"n\":0.10}");
    CHECK_TEXT(test_http_header(&request, "Content-Type"), "application/json");
    CHECK_TEXT(test_http_header(&request, "Idempotency-Key"), "step-9");
    CHECK_TEXT(test_http_header(&request, "traceparent"),
               "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    CHECK_TEXT(test_http_header(&request, "X-Tenant"), "blue");
    CHECK_HAS(request.headers, "X-Empty:");
    CHECK_INT(test_http_header(&request, "Expect").count, 0);
    CHECK_INT(test_http_header(&request, "Accept-Encoding").count, 0);

    CHECK_CASE("a large body is sent without Expect");
    index = test_http_count(server, NULL);
    char *large = malloc((2u << 20) + 32);
    REQUIRE(large != NULL);
    size_t count = (size_t)snprintf(large, 16, "{\"text\":\"");
    memset(large + count, 'x', 2u << 20);
    memcpy(large + count + (2u << 20), "\"}", sizeof "\"}");
    one((struct test_http_reply){.body = "{}"},
        (struct call_spec){.spelling = PROTO_JSON, .body = large});
    REQUIRE(test_http_request(server, index, &request));
    CHECK_TEXT(request.body, large);
    CHECK_INT(test_http_header(&request, "Expect").count, 0);
    free(large);

    CHECK_CASE(
        "a MessagePack call sends the value as it is, and a module's own content type is kept");
    index = test_http_count(server, NULL);
    one((struct test_http_reply){.body = "{}"},
        (struct call_spec){.spelling = PROTO_MSGPACK, .body = "{\"a\":7}"});
    REQUIRE(test_http_request(server, index, &request));
    CHECK_TEXT(test_http_header(&request, "Content-Type"), "application/msgpack");
    CHECK_INT(wire_int_or(wire_find_text(request.body, "a"), -1), 7);
    index = test_http_count(server, NULL);
    one((struct test_http_reply){.body = "{}"},
        (struct call_spec){.spelling = PROTO_JSON,
                           .headers = "{\"content-type\":\"application/cloudevents+json\"}"});
    REQUIRE(test_http_request(server, index, &request));
    CHECK_TEXT(test_http_header(&request, "Content-Type"), "application/cloudevents+json");

    CHECK_CASE("connections are kept alive");
    size_t before = test_http_connections(server, NULL);
    for (int round = 0; round < 20; round++) {
        one((struct test_http_reply){.body = "{}"}, (struct call_spec){0});
    }
    CHECK(test_http_connections(server, NULL) <= before + 1);
}

static void modules_share_no_more_than_their_limit(void)
{
    CHECK_CASE("at most concurrent_max calls of a module at once, in order; another module is not "
               "held up");
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    static const struct test_http_reply plain[] = {{.body = "{}"}};
    test_http_script(server, "/gated", gated, 1);
    test_http_script(server, "/free", plain, 1);
    char gated_url[TEST_HTTP_URL_BYTES];
    char free_url[TEST_HTTP_URL_BYTES];
    test_http_url(server, "/gated", gated_url);
    test_http_url(server, "/free", free_url);
    clear_inbox();
    for (uint64_t ticket = 0; ticket < 20; ticket++) {
        CHECK(call(ticket,
                   (struct call_spec){.url = gated_url, .module = "narrow", .concurrent_max = 3}) ==
              RESULT_OK);
    }
    CHECK(call(100, (struct call_spec){.url = free_url, .module = "wide"}) == RESULT_OK);
    await(1);
    CHECK_INT(answer(100)->outcome, PROTO_CALL_ANSWERED);
    await_requests("/gated", 3);
    struct transport_modules_stats stats;
    transport_modules_stats(modules, &stats);
    CHECK_INT(stats.active, 3);
    CHECK_INT(stats.queued, 17);
    for (size_t came = 1; came <= 20; came++) {
        test_http_release(server, 1);
        await(came + 1);
    }
    CHECK_INT(test_http_overlap(server, "/gated"), 3);
    transport_modules_stats(modules, &stats);
    CHECK_INT(stats.active, 0);
    CHECK_INT(stats.queued, 0);

    CHECK_CASE("a thousand calls at once all end");
    clear_inbox();
    for (uint64_t ticket = 0; ticket < 1000; ticket++) {
        CHECK(call(ticket, (struct call_spec){.url = free_url,
                                              .module = ticket % 2 == 0 ? "even" : "odd"}) ==
              RESULT_OK);
    }
    await(1000);
    size_t answered = 0;
    for (uint64_t ticket = 0; ticket < 1000; ticket++) {
        answered += answer(ticket)->outcome == PROTO_CALL_ANSWERED;
    }
    CHECK_INT(answered, 1000);
}

static void calls_can_be_cancelled(void)
{
    CHECK_CASE("a cancelled call, waiting or under way, is answered CANCELLED once, and its "
               "connection closes");
    static const struct test_http_reply silent[] = {{.manner = TEST_HTTP_SILENT}};
    test_http_script(server, "/silent", silent, 1);
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(server, "/silent", url);
    clear_inbox();
    struct call_spec spec = {.url = url, .module = "cancelled", .concurrent_max = 1};
    CHECK(call(1, spec) == RESULT_OK);
    CHECK(call(2, spec) == RESULT_OK);
    CHECK(call(3, spec) == RESULT_OK);
    await_requests("/silent", 1);
    cancel(2);
    CHECK_INT(inbox.came, 1);
    CHECK_INT(answer(2)->outcome, PROTO_CALL_CANCELLED);
    cancel(1);
    CHECK_INT(answer(1)->outcome, PROTO_CALL_CANCELLED);
    await_requests("/silent", 2);
    cancel(3);
    cancel(3);
    cancel(77);
    CHECK_INT(inbox.came, 3);
    CHECK_INT(answer(3)->outcome, PROTO_CALL_CANCELLED);
}

static void the_queue_is_bounded(void)
{
    CHECK_CASE("a full queue answers AGAIN and keeps nothing; closing cancels what is left");
    transport_modules_close(modules);
    open_modules(10);
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(server, "/silent", url);
    clear_inbox();
    for (uint64_t ticket = 0; ticket < 10; ticket++) {
        CHECK(call(ticket, (struct call_spec){.url = url, .concurrent_max = 4}) == RESULT_OK);
    }
    CHECK(call(10, (struct call_spec){.url = url}) == RESULT_AGAIN);
    transport_modules_close(modules);
    CHECK_INT(inbox.came, 10);
    for (uint64_t ticket = 0; ticket < 10; ticket++) {
        CHECK_INT(answer(ticket)->outcome, PROTO_CALL_CANCELLED);
    }
    open_modules(4096);
}

static void running_out_of_descriptors_ends_calls(void)
{
    CHECK_CASE("with no descriptor left every call still ends, and the next one works");
    static const struct test_http_reply gated[] = {{.body = "{}", .gated = true}};
    test_http_script(server, "/few", gated, 1);
    char url[TEST_HTTP_URL_BYTES];
    test_http_url(server, "/few", url);
    int spare = dup(0);
    REQUIRE(spare >= 0);
    struct rlimit old;
    getrlimit(RLIMIT_NOFILE, &old);
    struct rlimit few = {.rlim_cur = (rlim_t)spare + 24, .rlim_max = old.rlim_max};
    close(spare);
    setrlimit(RLIMIT_NOFILE, &few);
    clear_inbox();
    for (uint64_t ticket = 0; ticket < 200; ticket++) {
        CHECK(call(ticket,
                   (struct call_spec){
                       .url = url, .module = "few", .concurrent_max = 200, .timeout_ms = 500}) ==
              RESULT_OK);
    }
    await(200);
    size_t unreachable = 0;
    for (uint64_t ticket = 0; ticket < 200; ticket++) {
        unreachable += answer(ticket)->outcome == PROTO_CALL_UNREACHABLE;
        CHECK(answer(ticket)->outcome == PROTO_CALL_UNREACHABLE ||
              answer(ticket)->outcome == PROTO_CALL_TIMED_OUT);
    }
    CHECK(unreachable > 0);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_INT(one((struct test_http_reply){.body = "{}"}, (struct call_spec){0})->outcome,
              PROTO_CALL_ANSWERED);
}

int main(void)
{
    loop = ev_loop_new(EVFLAG_AUTO);
    REQUIRE(loop != NULL);
    inbox.sink.send = take_answer;
    inbox.wanted = SIZE_MAX;
    arena_init(&arena, 65536, 64u << 20);
    server = test_http_start();
    open_modules(4096);

    answers_become_values();
    bad_replies_say_what_is_wrong();
    broken_connections_are_transient();
    kept_connections_that_died_are_no_failure();
    deadlines_end_every_call();
    impossible_calls_are_refused();
    requests_carry_what_they_should();
    modules_share_no_more_than_their_limit();
    calls_can_be_cancelled();
    the_queue_is_bounded();
    running_out_of_descriptors_ends_calls();

    transport_modules_close(modules);
    test_http_stop(server);
    clear_inbox();
    arena_release(&arena);
    ev_loop_destroy(loop);
    return check_report();
}
