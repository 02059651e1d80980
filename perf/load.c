/*
 * load.c: see load.h. A lane is touched by one NNG callback at a time; the shared counters are
 * atomics because lanes run on several NNG threads at once and a message to a collector would cost
 * more than the request measured.
 */
#include "perf/load.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/util/platform.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "transport/guard/closing.h"

#define LANE_ARENA_BYTES (1u << 20)
#define LANE_TIMEOUT_MS  30000
#define CLOSE_WAIT_MS    5000

struct run;

struct lane {
    struct load_lane view;
    struct run *run;
    nng_ctx context;
    nng_aio *aio;
    bool receiving;
    struct histogram latency;
    uint64_t units;
    uint64_t errors;
};

struct run {
    const struct load_script *script;
    nng_socket socket;
    struct lane *lanes;
    uint32_t count;
    uint64_t units_max;
    atomic_bool stop; /* release by the main thread, acquire by lanes: no data depends on it */
    atomic_uint_least64_t started; /* units handed out, for units_max */
    atomic_uint_least32_t
        active;     /* lanes not yet finished; acquire by main pairs with the lanes' release */
    nng_mtx *mutex; /* first_error only */
    char first_error[600];
};

uint64_t load_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void note_error(struct run *run, const char *text, size_t count)
{
    nng_mtx_lock(run->mutex);
    if (run->first_error[0] == '\0') {
        size_t kept = count < sizeof run->first_error - 1 ? count : sizeof run->first_error - 1;
        memcpy(run->first_error, text, kept);
        run->first_error[kept] = '\0';
    }
    nng_mtx_unlock(run->mutex);
}

/* A reply that was judged bad, as JSON where it can be. */
static void note_reply(struct run *run, struct lane *lane, struct span reply)
{
    struct span text = reply;
    size_t offset;
    const char *reason;
    if (wire_validate(reply, LIMIT_DEPTH, &offset, &reason) != RESULT_OK ||
        json_from_wire(reply, JSON_COMPACT, &lane->view.arena, &text) != RESULT_OK) {
        text = reply;
    }
    note_error(run, (const char *)text.bytes, text.count);
}

static void lane_finish(struct lane *lane)
{
    atomic_fetch_sub_explicit(&lane->run->active, 1, memory_order_release);
}

static bool unit_begin(struct lane *lane)
{
    struct run *run = lane->run;
    if (atomic_load_explicit(&run->stop, memory_order_acquire)) {
        return false;
    }
    if (run->units_max > 0 &&
        atomic_fetch_add_explicit(&run->started, 1, memory_order_relaxed) >= run->units_max) {
        return false;
    }
    lane->view.step = 0;
    lane->view.unit_at = load_now_us();
    return true;
}

static void lane_send(struct lane *lane)
{
    arena_clear(&lane->view.arena);
    struct span request = lane->run->script->next(lane->run->script->owner, &lane->view);
    nng_msg *message = NULL;
    if (nng_msg_alloc(&message, request.count) != 0) {
        note_error(lane->run, "out of memory", 13);
        lane->errors++;
        lane_finish(lane);
        return;
    }
    memcpy(nng_msg_body(message), request.bytes, request.count);
    lane->view.turn++;
    lane->receiving = false;
    nng_aio_set_msg(lane->aio, message);
    nng_ctx_send(lane->context, lane->aio);
}

static void lane_take_reply(struct lane *lane)
{
    nng_msg *message = nng_aio_get_msg(lane->aio);
    struct span reply = span_of(nng_msg_body(message), nng_msg_len(message));
    enum load_verdict verdict =
        lane->run->script->judge(lane->run->script->owner, &lane->view, reply);
    if (verdict == LOAD_FAIL) {
        note_reply(lane->run, lane, reply);
        lane->errors++;
    }
    if (verdict == LOAD_DONE) {
        histogram_add(&lane->latency, load_now_us() - lane->view.unit_at);
        lane->units++;
    }
    nng_msg_free(message);
    if (verdict == LOAD_MORE || unit_begin(lane)) {
        lane_send(lane);
        return;
    }
    lane_finish(lane);
}

static void lane_turn(void *owner)
{
    struct lane *lane = owner;
    int failure = nng_aio_result(lane->aio);
    if (failure != 0) {
        if (!lane->receiving) {
            nng_msg_free(nng_aio_get_msg(lane->aio));
        }
        if (failure != NNG_ECLOSED && failure != NNG_ECANCELED) {
            const char *text = nng_strerror(failure);
            note_error(lane->run, text, strlen(text));
            lane->errors++;
        }
        lane_finish(lane);
        return;
    }
    if (!lane->receiving) {
        lane->receiving = true;
        nng_ctx_recv(lane->context, lane->aio);
        return;
    }
    lane_take_reply(lane);
}

static enum result lanes_open(struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct lane *lane = &run->lanes[i];
        lane->run = run;
        lane->view.index = i;
        arena_init(&lane->view.arena, 4096, LANE_ARENA_BYTES);
        histogram_clear(&lane->latency);
        if (nng_ctx_open(&lane->context, run->socket) != 0 ||
            nng_aio_alloc(&lane->aio, lane_turn, lane) != 0) {
            return RESULT_LIMIT;
        }
        nng_aio_set_timeout(lane->aio, LANE_TIMEOUT_MS);
        nng_ctx_set_ms(lane->context, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    }
    return RESULT_OK;
}

static void lanes_start(struct run *run)
{
    atomic_store_explicit(&run->active, run->count, memory_order_relaxed);
    for (uint32_t i = 0; i < run->count; i++) {
        if (unit_begin(&run->lanes[i])) {
            lane_send(&run->lanes[i]);
        } else {
            lane_finish(&run->lanes[i]);
        }
    }
}

static void lanes_close(struct run *run, struct load_result *out)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct lane *lane = &run->lanes[i];
        if (lane->aio != NULL) {
            nng_aio_stop(lane->aio);
            nng_aio_free(lane->aio);
            nng_ctx_close(lane->context);
        }
        arena_release(&lane->view.arena);
        out->units += lane->units;
        out->errors += lane->errors;
        histogram_merge(&out->latency, &lane->latency);
    }
    free(run->lanes);
}

enum result load_run(const char *url, uint32_t lanes, double seconds, uint64_t units_max,
                     const struct load_script *script, struct load_result *out)
{
    ASSERT(lanes > 0);
    memset(out, 0, sizeof *out);
    struct run run = {.script = script, .count = lanes, .units_max = units_max};
    run.lanes = calloc(lanes, sizeof *run.lanes);
    if (run.lanes == NULL || nng_mtx_alloc(&run.mutex) != 0) {
        free(run.lanes);
        return RESULT_LIMIT;
    }
    enum result result = RESULT_IO;
    if (nng_req0_open(&run.socket) != 0) {
        goto free_lanes;
    }
    if (nng_dial(run.socket, url, NULL, 0) != 0) {
        goto close_socket;
    }
    result = lanes_open(&run);
    uint64_t begin = load_now_us();
    if (result == RESULT_OK) {
        lanes_start(&run);
        uint64_t limit = begin + (uint64_t)(seconds * 1e6);
        while (load_now_us() < limit &&
               atomic_load_explicit(&run.active, memory_order_acquire) > 0) {
            nng_msleep(2);
        }
        atomic_store_explicit(&run.stop, true, memory_order_release);
        while (atomic_load_explicit(&run.active, memory_order_acquire) > 0) {
            nng_msleep(1);
        }
    }
    out->seconds = (double)(load_now_us() - begin) / 1e6;
close_socket:
    lanes_close(&run, out);
    run.lanes = NULL;
    (void)transport_socket_close(run.socket, CLOSE_WAIT_MS);
    out->throughput = out->seconds > 0 ? (double)out->units / out->seconds : 0;
    memcpy(out->first_error, run.first_error, sizeof out->first_error);
free_lanes:
    free(run.lanes);
    nng_mtx_free(run.mutex);
    return result;
}

/* ---- the bare echo ---- */

struct echo {
    nng_ctx context;
    nng_aio *aio;
    bool sending;
};

static void echo_turn(void *owner)
{
    struct echo *echo = owner;
    if (nng_aio_result(echo->aio) != 0) {
        if (echo->sending) {
            nng_msg_free(nng_aio_get_msg(echo->aio));
        }
        return; /* closing */
    }
    echo->sending = !echo->sending;
    if (echo->sending) {
        nng_aio_set_msg(echo->aio, nng_aio_get_msg(echo->aio));
        nng_ctx_send(echo->context, echo->aio);
    } else {
        nng_ctx_recv(echo->context, echo->aio);
    }
}

int load_echo_serve(const char *url, uint32_t contexts)
{
    nng_socket socket;
    struct echo *echoes = calloc(contexts, sizeof *echoes);
    int status = 1;
    if (echoes == NULL || nng_rep0_open(&socket) != 0) {
        free(echoes);
        return status;
    }
    uint32_t opened = 0;
    for (; opened < contexts; opened++) {
        struct echo *echo = &echoes[opened];
        if (nng_ctx_open(&echo->context, socket) != 0 ||
            nng_aio_alloc(&echo->aio, echo_turn, echo) != 0) {
            goto close;
        }
        nng_ctx_recv(echo->context, echo->aio);
    }
    if (nng_listen(socket, url, NULL, 0) != 0) {
        goto close;
    }
    status = 0;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
close:
    for (uint32_t i = 0; i < opened; i++) {
        nng_aio_stop(echoes[i].aio);
        nng_aio_free(echoes[i].aio);
    }
    (void)transport_socket_close(socket, CLOSE_WAIT_MS);
    free(echoes);
    return status;
}
