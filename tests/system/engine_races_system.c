/*
 * engine_races_system.c: callbacks and messages that race with what they are for, over real NNG
 * against a running engine: each is decided once, whatever comes first. Field reports F17, F65,
 * F67, F68, F70, F73, F74, F79 and F80, many rounds each. Nothing sleeps: what must come first is
 * waited for.
 */
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <time.h>

#include "tests/system/engine_host.h"
#include "tests/system/http_server.h"
#include "transport/front.h"
#include "transport/guard/closing.h"

enum {
    VOLLEY_MAX = 20,
    ROUNDS = 500,
    ROUNDS_FEWER = 150,
    LOOKS_MAX = 200000,
    TIMEOUT_MS = 60000,
    CLOSE_WAIT_MS = 5000
};

#define FILE_OF(body)                                                                              \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "                            \
    "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'>" body "</definitions>"
#define PROCESS(id, body) "<process id='" id "' isExecutable='true'>" body "</process>"
#define FLOW(from, to)                                                                             \
    "<sequenceFlow id='" from "-" to "' sourceRef='" from "' targetRef='" to "'/>"
#define SERVICE(id, type)                                                                          \
    "<serviceTask id='" id "'><extensionElements><zeebe:taskDefinition type='" type                \
    "'/></extensionElements></serviceTask>"
#define SAYS(id, text)                                                                             \
    "<scriptTask id='" id "'><extensionElements><zeebe:script expression='=\"" text                \
    "\"' resultVariable='by'/></extensionElements></scriptTask>"
#define MESSAGE(name)                                                                              \
    "<message id='" name "' name='" name "'><extensionElements><zeebe:subscription "               \
    "correlationKey='=key'/></extensionElements></message>"
#define CATCH(id, message)                                                                         \
    "<intermediateCatchEvent id='" id "'><messageEventDefinition messageRef='" message             \
    "'/></intermediateCatchEvent>"
#define TIMER_ON(id, host, duration)                                                               \
    "<boundaryEvent id='" id "' attachedToRef='" host                                              \
    "'><timerEventDefinition><timeDuration>" duration                                              \
    "</timeDuration></timerEventDefinition></boundaryEvent>"

static const struct {
    const char *name;
    const char *content;
} files[] = {
    {"ask.bpmn",
     FILE_OF(PROCESS("ask", "<startEvent id='s'/>" SERVICE("t", "ask") "<endEvent id='e'/>" FLOW(
                                "s", "t") FLOW("t", "e")))},
    {"two.bpmn", FILE_OF(PROCESS("two", "<startEvent id='s'/>" SERVICE("first", "step") SERVICE(
                                            "t", "wait") "<endEvent id='e'/>" FLOW("s", "first")
                                            FLOW("first", "t") FLOW("t", "e")))},
    {"user.bpmn",
     FILE_OF(PROCESS("user", "<startEvent id='s'/><userTask id='t'/><endEvent id='e'/>" FLOW(
                                 "s", "t") FLOW("t", "e")))},
    {"many.bpmn",
     FILE_OF(PROCESS("many",
                     "<startEvent id='s'/><userTask id='t'><multiInstanceLoopCharacteristics>"
                     "<loopCardinality>=20</loopCardinality></multiInstanceLoopCharacteristics>"
                     "</userTask><endEvent id='e'/>" FLOW("s", "t") FLOW("t", "e")))},
    {"timed.bpmn",
     FILE_OF(PROCESS("timed", "<startEvent id='s'/><userTask id='t'/>" TIMER_ON("b", "t", "PT0.01S")
                                  SAYS("answered", "answered")
                                      SAYS("late", "late") "<endEvent id='e'/>" FLOW("s", "t")
                                          FLOW("t", "answered") FLOW("b", "late")
                                              FLOW("answered", "e") FLOW("late", "e")))},
    {"again.bpmn",
     FILE_OF(PROCESS("again",
                     "<startEvent id='s'/><exclusiveGateway id='m'/><userTask id='t'/>" TIMER_ON(
                         "b", "t", "PT0.02S") "<endEvent id='e'/>" FLOW("s", "m") FLOW("m", "t")
                         FLOW("b", "m") FLOW("t", "e")))},
    {"arms.bpmn",
     FILE_OF(MESSAGE("left") MESSAGE("right") PROCESS(
         "arms", "<startEvent id='s'/><eventBasedGateway id='g'/>" CATCH("l", "left")
                     CATCH("r", "right") SAYS("bl", "left") SAYS("br", "right") FLOW("s", "g")
                         FLOW("g", "l") FLOW("g", "r") FLOW("l", "bl") FLOW("r", "br")))},
    {"beside.bpmn",
     FILE_OF("<signal id='g' name='go'/>" PROCESS(
         "beside",
         "<startEvent id='s'/>" SERVICE("last", "step") FLOW(
             "s",
             "last") "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs' "
                     "isInterrupting='false'><signalEventDefinition signalRef='g'/></startEvent>"
                     "<userTask id='t'/>" FLOW("hs", "t") "</subProcess>"))},
};

struct bench {
    struct engine_host host;
    struct transport_front *front;
    struct test_http *modules;
    nng_socket socket;
    nng_ctx contexts[VOLLEY_MAX];
    nng_aio *aios[VOLLEY_MAX];
    size_t step_calls, ask_calls;
    int rounds;
};

/* ---- over NNG ---- */

static void send_on(struct bench *bench, int context, const char *text)
{
    nng_msg *message = NULL;
    REQUIRE(nng_msg_alloc(&message, 0) == 0);
    REQUIRE(nng_msg_append(message, text, strlen(text)) == 0);
    nng_aio_set_msg(bench->aios[context], message);
    nng_ctx_send(bench->contexts[context], bench->aios[context]);
}

/* After send_on: the reply, in the host's arena. */
static struct span receive_on(struct bench *bench, int context)
{
    nng_aio *aio = bench->aios[context];
    struct span value;
    struct json_error error;
    nng_aio_wait(aio);
    REQUIRE(nng_aio_result(aio) == 0);
    nng_ctx_recv(bench->contexts[context], aio);
    nng_aio_wait(aio);
    REQUIRE(nng_aio_result(aio) == 0);
    nng_msg *message = nng_aio_get_msg(aio);
    struct span text = span_of(nng_msg_body(message), nng_msg_len(message));
    REQUIRE(json_to_wire(text, LIMIT_DEPTH, &bench->host.arena, &value, &error) == RESULT_OK);
    nng_msg_free(message);
    return value;
}

/* The same request on so many contexts at once. */
static void volley(struct bench *bench, int count, const char *text, struct span *replies)
{
    for (int i = 0; i < count; i++) {
        send_on(bench, i, text);
    }
    for (int i = 0; i < count; i++) {
        replies[i] = receive_on(bench, i);
    }
}

static const char *text_of(struct bench *bench, const char *op, const char *what, const char *more)
{
    struct span text =
        arena_format(&bench->host.arena, "{\"op\":\"%s\",%s%s}%c", op, what, more, 0);
    REQUIRE(text.count > 0);
    return (const char *)text.bytes;
}

static struct span ask(struct bench *bench, const char *op, const char *what, const char *more)
{
    send_on(bench, 0, text_of(bench, op, what, more));
    return receive_on(bench, 0);
}

/* A fresh id as a field. */
static const char *new_id(struct bench *bench)
{
    struct span text =
        arena_format(&bench->host.arena, "\"executionId\":\"race-%d\"%c", bench->rounds++, 0);
    return (const char *)text.bytes;
}

static bool is_ok(struct span reply)
{
    return wire_bool_or(wire_find_text(reply, "ok"), false);
}

static struct span await_end(struct bench *bench, const char *id)
{
    struct span reply = ask(bench, "get", id, "");
    for (int i = 0; i < LOOKS_MAX && is_ok(reply) && (host_int(reply, "state") & 8) == 0; i++) {
        reply = ask(bench, "get", id, "");
    }
    return reply;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- the races ---- */

static void before_the_wait(struct bench *bench)
{
    CHECK_CASE("F65: a callback that comes before its module's own answer is kept, and taken");
    int ended = 0;
    for (int i = 0; i < ROUNDS; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        send_on(bench, 1, text_of(bench, "start", id, ",\"process\":\"ask\""));
        REQUIRE(test_http_wait(bench->modules, "/ask", ++bench->ask_calls, TIMEOUT_MS));
        struct span told = ask(bench, "callback", id, ",\"taskId\":\"t\",\"wait\":\"accepted\"");
        REQUIRE(CHECK_OK(told));
        test_http_release(bench->modules, 1);
        ended += host_int(receive_on(bench, 1), "state") == 40;
    }
    CHECK_INT(ended, ROUNDS);
}

static void during_an_earlier_step(struct bench *bench)
{
    CHECK_CASE(
        "F67: a callback that comes while an earlier step is with its module waits for its own");
    int ended = 0;
    for (int i = 0; i < ROUNDS; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        send_on(bench, 1, text_of(bench, "start", id, ",\"process\":\"two\""));
        REQUIRE(test_http_wait(bench->modules, "/step", ++bench->step_calls, TIMEOUT_MS));
        struct span told = ask(bench, "callback", id, ",\"taskId\":\"t\",\"wait\":\"accepted\"");
        REQUIRE(CHECK_OK(told));
        test_http_release(bench->modules, 1);
        ended += host_int(receive_on(bench, 1), "state") == 40;
    }
    CHECK_INT(ended, ROUNDS);
}

static void all_at_once(struct bench *bench)
{
    CHECK_CASE("F73: of callbacks that come at once one is taken, all others hear so");
    struct span replies[VOLLEY_MAX];
    int taken = 0, refused = 0;
    for (int i = 0; i < ROUNDS; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        CHECK_OK(ask(bench, "start", id, ",\"process\":\"user\""));
        volley(bench, VOLLEY_MAX, text_of(bench, "callback", id, ",\"taskId\":\"t\""), replies);
        for (int k = 0; k < VOLLEY_MAX; k++) {
            taken += is_ok(replies[k]);
            refused += span_is(host_error(replies[k]), "AlreadyFinished");
        }
    }
    CHECK_INT(taken, ROUNDS);
    CHECK_INT(refused, ROUNDS * (VOLLEY_MAX - 1));
}

static void again_and_again(struct bench *bench)
{
    CHECK_CASE("F70: one callback, delivered many times, is taken once and answered alike");
    struct span replies[VOLLEY_MAX];
    int alike = 0;
    for (int i = 0; i < ROUNDS_FEWER; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        CHECK_OK(ask(bench, "start", id, ",\"process\":\"many\""));
        struct span more = arena_format(&bench->host.arena,
                                        ",\"taskId\":\"t\",\"requestId\":\"again-%d\"%c", i, 0);
        volley(bench, 4, text_of(bench, "callback", id, (const char *)more.bytes), replies);
        for (int k = 1; k < 4; k++) {
            alike += span_equal(replies[0], replies[k]);
        }
    }
    CHECK_INT(alike, ROUNDS_FEWER * 3);
}

static void many_branches(struct bench *bench)
{
    CHECK_CASE("F74: twenty branches that are answered at once all count");
    struct span replies[VOLLEY_MAX];
    int taken = 0, ended = 0;
    for (int i = 0; i < ROUNDS_FEWER; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        CHECK_OK(ask(bench, "start", id, ",\"process\":\"many\""));
        volley(bench, VOLLEY_MAX, text_of(bench, "callback", id, ",\"taskId\":\"t\""), replies);
        for (int k = 0; k < VOLLEY_MAX; k++) {
            taken += is_ok(replies[k]);
        }
        ended += host_int(ask(bench, "get", id, ""), "state") == 40;
    }
    CHECK_INT(taken, ROUNDS_FEWER * VOLLEY_MAX);
    CHECK_INT(ended, ROUNDS_FEWER);
}

static void across_a_timer(struct bench *bench)
{
    CHECK_CASE(
        "F79: a callback that crosses the timer on its task is taken or refused, never both");
    int answered = 0, late = 0, neither = 0;
    for (int i = 0; i < ROUNDS; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        uint64_t due_us = now_us() + 9000 + (uint64_t)(i % 20) * 150;
        CHECK_OK(ask(bench, "start", id, ",\"process\":\"timed\""));
        while (now_us() < due_us) {
            (void)ask(bench, "get", id, "");
        }
        bool taken = is_ok(ask(bench, "callback", id, ",\"taskId\":\"t\""));
        struct span end = await_end(bench, id);
        const char *by = taken ? "answered" : "late";
        answered += taken;
        late += !taken;
        neither += !span_is(host_text(end, "output"), by) || host_int(end, "state") != 40;
    }
    fprintf(stderr, "  %d were answered in time, %d were not\n", answered, late);
    CHECK_INT(neither, 0);
}

static void to_nobody(struct bench *bench)
{
    CHECK_CASE("F79: to a finished execution, to one that waits for something else, and to none");
    const char *id = new_id(bench);
    CHECK_OK(ask(bench, "start", id, ",\"process\":\"many\""));
    CHECK_TEXT(host_error(ask(bench, "callback", id, ",\"taskId\":\"s\"")), "NotWaiting");
    CHECK_OK(ask(bench, "abort", id, ""));
    CHECK_TEXT(host_error(ask(bench, "callback", id, ",\"taskId\":\"t\"")), "AlreadyFinished");
    CHECK_TEXT(host_error(ask(bench, "callback", "\"executionId\":\"race-none\"", "")),
               "SessionNotFound");
}

static void the_live_wait(struct bench *bench)
{
    CHECK_CASE("F68: waits that timed out swallow nothing: the live one is answered");
    int ended = 0;
    for (int i = 0; i < 20; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        struct span reply = ask(bench, "start", id, ",\"process\":\"again\"");
        for (int k = 0; k < LOOKS_MAX && host_int(reply, "sequence") < 12; k++) {
            reply = ask(bench, "get", id, "");
        }
        CHECK(host_int(reply, "sequence") >= 12);
        /* Between two waits there is none: then it is kept for the next one. */
        ended += host_int(ask(bench, "callback", id, ",\"taskId\":\"t\""), "state") == 40;
    }
    CHECK_INT(ended, 20);
}

static void behind_the_last_step(struct bench *bench)
{
    CHECK_CASE(
        "F80: a callback right behind the last step's reply is taken before the end, or refused");
    int ended = 0, unsure = 0;
    for (int i = 0; i < ROUNDS_FEWER; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        send_on(bench, 1, text_of(bench, "start", id, ",\"process\":\"beside\""));
        REQUIRE(test_http_wait(bench->modules, "/step", ++bench->step_calls, TIMEOUT_MS));
        send_on(bench, 2, "{\"op\":\"signal\",\"name\":\"go\"}");
        test_http_release(bench->modules, 1);
        struct span told = ask(bench, "callback", id, ",\"taskId\":\"t\"");
        (void)receive_on(bench, 2);
        (void)receive_on(bench, 1);
        bool taken = is_ok(told);
        bool refused =
            span_is(host_error(told), "NotWaiting") || span_is(host_error(told), "AlreadyFinished");
        unsure += !taken && !refused;
        if ((host_int(ask(bench, "get", id, ""), "state") & 8) == 0) {
            (void)ask(bench, "callback", id, ",\"taskId\":\"t\""); /* the handler had just begun */
        }
        ended += host_int(await_end(bench, id), "state") == 40;
    }
    CHECK_INT(unsure, 0);
    CHECK_INT(ended, ROUNDS_FEWER);
}

static void both_arms(struct bench *bench)
{
    CHECK_CASE("F17: of two events that come together one is taken, and the other arm is gone");
    int ended = 0, left = 0, right = 0;
    for (int i = 0; i < ROUNDS; i++, arena_clear(&bench->host.arena)) {
        const char *id = new_id(bench);
        struct span more = arena_format(
            &bench->host.arena, ",\"process\":\"arms\",\"execution\":{\"key\":\"%d\"}%c", i, 0);
        struct span key =
            arena_format(&bench->host.arena, ",\"correlationKey\":\"%d\",\"ttlMs\":1%c", i, 0);
        CHECK_OK(ask(bench, "start", id, (const char *)more.bytes));
        send_on(bench, 1, text_of(bench, "message", "\"name\":\"left\"", (const char *)key.bytes));
        send_on(bench, 2, text_of(bench, "message", "\"name\":\"right\"", (const char *)key.bytes));
        (void)receive_on(bench, 1);
        (void)receive_on(bench, 2);
        struct span end = await_end(bench, id);
        ended += host_int(end, "state") == 40 && wire_count(wire_find_text(end, "waiting")) == 0;
        left += span_is(host_text(end, "output"), "left");
        right += span_is(host_text(end, "output"), "right");
    }
    fprintf(stderr, "  %d went left, %d went right\n", left, right);
    CHECK_INT(ended, ROUNDS);
    CHECK_INT(left + right, ROUNDS);
}

/* ---- all of it ---- */

static void open_bench(struct bench *bench, struct actor_runtime_options options,
                       char directory[128])
{
    static const struct test_http_reply step[] = {{.body = "{}", .gated = true}};
    static const struct test_http_reply asked[] = {{.status = 202, .gated = true}};
    static const struct test_http_reply waits[] = {{.status = 202}};
    char modules[640], error[256], url[64];
    *bench = (struct bench){0};
    host_directory(directory);
    host_open(&bench->host, directory, options);
    bench->modules = test_http_start();
    test_http_script(bench->modules, "/step", step, 1);
    test_http_script(bench->modules, "/ask", asked, 1);
    test_http_script(bench->modules, "/wait", waits, 1);
    uint16_t port = test_http_port(bench->modules);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"step\"],\"url\":\"http://127.0.0.1:%u/step\"},"
             "{\"taskTypes\":[\"ask\"],\"url\":\"http://127.0.0.1:%u/ask\"},"
             "{\"taskTypes\":[\"wait\"],\"url\":\"http://127.0.0.1:%u/wait\"}]}",
             port, port, port);
    host_modules(&bench->host, modules);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        host_deploy(&bench->host, files[i].name, files[i].content);
    }
    static const char *const urls[] = {"tcp://127.0.0.1:0"};
    struct transport_front_options front = {.urls = urls,
                                            .url_count = 1,
                                            .router = actor_runtime_router(bench->host.runtime),
                                            .request_bytes_max = 1u << 20,
                                            .pending_max = 64};
    REQUIRE(transport_front_open(&front, &bench->front, error) == RESULT_OK);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", transport_front_port(bench->front, 0));
    REQUIRE(nng_req0_open(&bench->socket) == 0);
    REQUIRE(nng_dial(bench->socket, url, NULL, 0) == 0);
    for (int i = 0; i < VOLLEY_MAX; i++) {
        REQUIRE(nng_ctx_open(&bench->contexts[i], bench->socket) == 0);
        REQUIRE(nng_ctx_set_ms(bench->contexts[i], NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE) ==
                0);
        REQUIRE(nng_aio_alloc(&bench->aios[i], NULL, NULL) == 0);
        nng_aio_set_timeout(bench->aios[i], TIMEOUT_MS);
    }
}

static void close_bench(struct bench *bench, const char *directory)
{
    for (int i = 0; i < VOLLEY_MAX; i++) {
        (void)nng_ctx_close(bench->contexts[i]);
        nng_aio_free(bench->aios[i]);
    }
    (void)transport_socket_close(bench->socket, CLOSE_WAIT_MS);
    transport_front_quiesce(bench->front);
    transport_front_close(bench->front);
    host_close(&bench->host);
    test_http_stop(bench->modules);
    host_remove_directory(directory);
}

int main(void)
{
    static struct bench bench;
    char directory[128];
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 2;
    open_bench(&bench, options, directory);
    before_the_wait(&bench);
    during_an_earlier_step(&bench);
    all_at_once(&bench);
    again_and_again(&bench);
    many_branches(&bench);
    across_a_timer(&bench);
    to_nobody(&bench);
    the_live_wait(&bench);
    behind_the_last_step(&bench);
    both_arms(&bench);
    close_bench(&bench, directory);
    return check_report();
}
