/*
 * front.c: the NNG front: one cooked REP socket, a pool of contexts that grows with load.
 *
 * A slot is one context with its aio; its life is receive, route, wait for the answer, send,
 * receive again. NNG runs its callback on its own threads, one at a time per slot; the answer comes
 * on whatever thread sends PROTO_REPLY to our sink, and goes by way of the outbox when many wait.
 * Cooked REP, because raw mode drops replies to a slow reader in silence.
 *
 * Who owns a slot when: from the receive callback until router->send returns or is answered it is
 * the callback's; then whoever turns its `ticket` to 0 owns it. That compare-and-swap is the one
 * hand-over here. Its pairs: the callback writes the slot, then stores the ticket (release); the
 * answering thread swaps it (acquire), then reads the slot. A message would not do: the answer
 * itself is the message, and it may come twice or late; the generation in the ticket tells.
 */
#include "transport/front.h"

#include <inttypes.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/supplemental/util/platform.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/log.h"
#include "transport/front/intake.h"
#include "transport/front/listening.h"
#include "transport/front/outbox.h"
#include "transport/front/threads.h"
#include "transport/guard/closing.h"

#define FRONT_MAGIC 0x46524f4eu
#define SLOT_MAGIC  0x534c4f54u

#define SLOTS_FIRST     64u   /* contexts from the start */
#define SLOTS_GROW      32u   /* more of them at a time... */
#define SLOTS_FREE_MIN  32u   /* ...when fewer than this are receiving */
#define SLOTS_SPARE     32u   /* beyond pending_max: they answer Overloaded */
#define SEND_TIMEOUT_MS 30000 /* a peer that reads nothing for so long is dropped */
#define KEPT_MESSAGE_BYTES                                                                         \
    4096u /* a request no larger waits with its slot and becomes the reply's memory */
#define DIRECT_MAX        4u /* with no more requests pending an answer is sent where it is made */
#define CLOSE_GRACE_MS    20 /* until the pipes have stopped reading */
#define CLOSE_WAIT_MS     5000 /* for NNG to let go of its pipes */
#define ARENA_BLOCK_BYTES 4096u
#define TICKET_NONE       0u /* generations begin at 1, so no ticket is 0 */

enum slot_stage { SLOT_RECEIVING, SLOT_ROUTED, SLOT_SENDING };

struct slot {
    uint32_t magic;
    uint32_t index;
    struct transport_front *front;
    nng_ctx ctx;
    nng_aio *aio;
    enum slot_stage stage; /* what the aio was last started for */
    uint32_t generation;   /* of the request in it, from 1 */
    bool pending;          /* counted in the intake */
    enum proto_spelling spelling;
    nng_pipe pipe;
    nng_msg *kept;           /* the request's memory, for the reply; NULL when it was large */
    _Atomic uint64_t ticket; /* of the request that waits for its answer; TICKET_NONE else */
};

struct transport_front {
    uint32_t magic;
    struct proto_sink answers; /* PROTO_REPLY comes here */
    struct front_intake intake;
    struct front_outbox outbox;
    nng_socket socket;
    struct front_listening listening;

    /*
     * `slot_count` is stored with release after slots[n] is filled and loaded with acquire;
     * `growing` lets one thread at a time append; whoever finds it taken leaves the growing to its
     * holder, who looks at `receiving` again after letting go (both in one order, seq_cst). No
     * message could do this: a callback must grow the pool before it hands its own context away,
     * and NNG gives us no loop of our own.
     */
    struct slot **slots;
    uint32_t slots_max;
    _Atomic uint32_t slot_count;
    atomic_flag growing;
    _Atomic uint32_t receiving;
};

static void front_free(struct transport_front *front);
static int open_socket(struct transport_front *front);
static void say_counts(struct transport_front *front);
static void grow_when_short(struct transport_front *front);
static bool add_slots(struct transport_front *front, uint32_t wanted);
static struct slot *slot_new(struct transport_front *front, uint32_t index);
static void slot_free(struct slot *slot);
static void slot_receive(struct slot *slot);
static void on_aio(void *arg);
static void on_received(struct slot *slot);
static void on_sent(struct slot *slot);
static void take_request(struct slot *slot, nng_msg *frame);
static enum result on_answer(struct proto_sink *self, struct proto_message **message);
static void deliver(void *owner, struct proto_message *answer);
static void send_bytes(struct slot *slot, struct span bytes);

enum result transport_front_open(const struct transport_front_options *options,
                                 struct transport_front **out, char error[256])
{
    ASSERT(options->router != NULL);
    ASSERT(options->request_bytes_max > 0 && options->request_bytes_max <= LIMIT_FRAME_BYTES);
    ASSERT(options->pending_max > 0);
    *out = NULL;
    enum result result = front_listening_check(options, error);
    if (result != RESULT_OK) {
        return result;
    }

    result = RESULT_LIMIT;
    snprintf(error, 256, "no memory for the front");
    struct transport_front *front = calloc(1, sizeof *front);
    if (front == NULL) {
        return result;
    }
    front->magic = FRONT_MAGIC;
    front->answers.send = on_answer;
    front_intake_init(&front->intake, options);
    front->slots_max = options->pending_max + SLOTS_SPARE;
    atomic_flag_clear(&front->growing);
    front->slots = calloc(front->slots_max, sizeof(struct slot *));
    if (front->slots == NULL || open_socket(front) != 0) {
        goto free_front;
    }
    if (front_outbox_init(&front->outbox, deliver, front) != RESULT_OK) {
        goto close_front;
    }
    if (nng_socket_set_size(front->socket, NNG_OPT_RECVMAXSZ, 2 * options->request_bytes_max) !=
            0 ||
        !add_slots(front, SLOTS_FIRST)) {
        goto close_front;
    }
    result =
        front_listening_start(&front->listening, front->socket, &front->intake, options, error);
    if (result != RESULT_OK) {
        goto close_front;
    }
    error[0] = '\0';
    *out = front;
    return RESULT_OK;

close_front:
    transport_front_close(front);
    return result;
free_front:
    front_free(front);
    return result;
}

/* The first socket of the process: NNG starts its threads. */
static int open_socket(struct transport_front *front)
{
    front_threads_few(true);
    int code = nng_rep0_open(&front->socket);
    front_threads_few(false);
    return code;
}

uint16_t transport_front_port(const struct transport_front *front, size_t url_index)
{
    ASSERT(front->magic == FRONT_MAGIC);
    return front_listening_port(&front->listening, url_index);
}

void transport_front_stats(struct transport_front *front, struct transport_front_stats *out)
{
    ASSERT(front->magic == FRONT_MAGIC);
    struct front_intake *intake = &front->intake;
    *out = (struct transport_front_stats){
        .requests = atomic_load_explicit(&intake->requests, memory_order_relaxed),
        .replies = atomic_load_explicit(&intake->replies, memory_order_relaxed),
        .unsent = atomic_load_explicit(&intake->unsent, memory_order_relaxed),
        .invalid = atomic_load_explicit(&intake->invalid, memory_order_relaxed),
        .unauthorized = atomic_load_explicit(&intake->unauthorized, memory_order_relaxed),
        .overloaded = atomic_load_explicit(&intake->overloaded, memory_order_relaxed),
        .oversized = atomic_load_explicit(&intake->oversized, memory_order_relaxed),
        .unread = atomic_load_explicit(&intake->unread, memory_order_relaxed),
        .late = atomic_load_explicit(&intake->late, memory_order_relaxed),
        .crowded = atomic_load_explicit(&intake->crowded, memory_order_relaxed),
        .connections = atomic_load_explicit(&intake->connections, memory_order_relaxed),
        .pending = atomic_load_explicit(&intake->pending, memory_order_relaxed),
        .contexts = atomic_load_explicit(&front->slot_count, memory_order_relaxed),
    };
}

void transport_front_quiesce(struct transport_front *front)
{
    ASSERT(front->magic == FRONT_MAGIC);
    atomic_store(&front->intake.quiescing, true);
}

void transport_front_close(struct transport_front *front)
{
    if (front == NULL) {
        return;
    }
    ASSERT(front->magic == FRONT_MAGIC);
    atomic_store(&front->intake.quiescing, true);
    say_counts(front);
    front_listening_stop(&front->listening);
    /*
     * The contexts first: with none receiving, a pipe reads one more request and then no further. A
     * pipe that NNG 1.5.2 closes between the two halves of a message is never reaped, and nng_close
     * would wait for it for ever. A callback that still runs may have grown the pool: go on until
     * every slot that exists is stopped.
     */
    for (uint32_t index = 0; index < atomic_load_explicit(&front->slot_count, memory_order_acquire);
         index++) {
        nng_aio_stop(front->slots[index]->aio);
    }
    front_outbox_stop(&front->outbox);
    nng_msleep(CLOSE_GRACE_MS);
    if (!transport_socket_close(front->socket, CLOSE_WAIT_MS)) {
        log_line(LOG_ERROR, "FRONT-CLOSE", "error=\"a connection was not let go of\" waited_ms=%d",
                 CLOSE_WAIT_MS);
        return; /* NNG may still look at what is here: leave it */
    }
    for (uint32_t index = 0; index < atomic_load_explicit(&front->slot_count, memory_order_acquire);
         index++) {
        slot_free(front->slots[index]);
    }
    front_outbox_release(&front->outbox);
    front_free(front);
}

static void front_free(struct transport_front *front)
{
    front_listening_release(&front->listening);
    free(front->slots);
    front->magic = 0;
    free(front);
}

static void say_counts(struct transport_front *front)
{
    struct transport_front_stats stats;
    transport_front_stats(front, &stats);
    log_line(LOG_INFO, "FRONT-CLOSED",
             "requests=%" PRIu64 " replies=%" PRIu64 " unsent=%" PRIu64 " late=%" PRIu64
             " pending=%" PRIu32 " contexts=%" PRIu32,
             stats.requests, stats.replies, stats.unsent, stats.late, stats.pending,
             stats.contexts);
}

/* A pipe whose request finds no context receiving would wait until some other request is answered:
 * this leaves none short. */
static void grow_when_short(struct transport_front *front)
{
    while (atomic_load(&front->receiving) < SLOTS_FREE_MIN &&
           atomic_load_explicit(&front->slot_count, memory_order_relaxed) < front->slots_max) {
        if (atomic_flag_test_and_set(&front->growing)) {
            return; /* its holder looks again */
        }
        bool added = add_slots(front, SLOTS_GROW);
        atomic_flag_clear(&front->growing);
        if (!added) {
            return; /* no memory, or closing */
        }
    }
}

/* Adds up to `wanted` contexts and lets them receive; true when at least one was added. One thread
 * at a time. */
static bool add_slots(struct transport_front *front, uint32_t wanted)
{
    uint32_t before = atomic_load_explicit(&front->slot_count, memory_order_relaxed);
    uint32_t count = before;
    for (; wanted > 0 && count < front->slots_max; wanted--) {
        struct slot *slot = slot_new(front, count);
        if (slot == NULL) {
            break;
        }
        front->slots[count++] = slot;
        atomic_store_explicit(&front->slot_count, count, memory_order_release);
        slot_receive(slot);
    }
    return count > before;
}

static struct slot *slot_new(struct transport_front *front, uint32_t index)
{
    struct slot *slot = calloc(1, sizeof *slot);
    if (slot == NULL) {
        return NULL;
    }
    slot->magic = SLOT_MAGIC;
    slot->index = index;
    slot->front = front;
    if (nng_ctx_open(&slot->ctx, front->socket) != 0) {
        free(slot);
        return NULL;
    }
    if (nng_aio_alloc(&slot->aio, on_aio, slot) != 0) {
        nng_ctx_close(slot->ctx);
        free(slot);
        return NULL;
    }
    return slot;
}

static void slot_free(struct slot *slot)
{
    nng_msg *message = nng_aio_get_msg(slot->aio);
    if (message != NULL) {
        nng_msg_free(message);
    }
    if (slot->kept != NULL) {
        nng_msg_free(slot->kept);
    }
    nng_aio_free(slot->aio);
    slot->magic = 0;
    free(slot);
}

static void slot_receive(struct slot *slot)
{
    atomic_fetch_add_explicit(&slot->front->receiving, 1, memory_order_relaxed);
    slot->stage = SLOT_RECEIVING;
    nng_aio_set_timeout(slot->aio, NNG_DURATION_INFINITE);
    nng_ctx_recv(slot->ctx, slot->aio);
}

/* On an NNG thread. After route() or send_bytes() the slot may already be another request's: touch
 * nothing of it. */
static void on_aio(void *arg)
{
    struct slot *slot = BASE_CAST(slot, arg, SLOT_MAGIC);
    switch (slot->stage) {
    case SLOT_RECEIVING:
        on_received(slot);
        break;
    case SLOT_SENDING:
        on_sent(slot);
        break;
    case SLOT_ROUTED:
        ASSERT_UNREACHABLE();
    }
}

static void on_received(struct slot *slot)
{
    struct transport_front *front = slot->front;
    atomic_fetch_sub(&front->receiving, 1);
    if (nng_aio_result(slot->aio) != 0) {
        return; /* closed: a context has no other reason to stop receiving */
    }
    nng_msg *frame = nng_aio_get_msg(slot->aio);
    nng_aio_set_msg(slot->aio, NULL);
    grow_when_short(front);
    take_request(slot, frame);
}

static void on_sent(struct slot *slot)
{
    struct transport_front *front = slot->front;
    int code = nng_aio_result(slot->aio);
    if (slot->pending) {
        slot->pending = false;
        front_intake_end(&front->intake);
    }
    atomic_fetch_add_explicit(code == 0 ? &front->intake.replies : &front->intake.unsent, 1,
                              memory_order_relaxed);
    if (code != 0) {
        nng_msg *message = nng_aio_get_msg(slot->aio);
        nng_aio_set_msg(slot->aio, NULL);
        nng_msg_free(message);
        if (code == NNG_ETIMEDOUT) {
            atomic_fetch_add_explicit(&front->intake.unread, 1, memory_order_relaxed);
            log_line(LOG_WARN, "FRONT-PEER-UNREAD", "pipe=%d waited_ms=%d", nng_pipe_id(slot->pipe),
                     SEND_TIMEOUT_MS);
            nng_pipe_close(slot->pipe);
        }
        if (code == NNG_ECLOSED || code == NNG_ECANCELED) {
            return;
        }
    }
    slot_receive(slot);
}

/* The slot is ready for its answer before the router sees the request. A small frame is kept: its
 * memory becomes the reply. */
static void take_request(struct slot *slot, nng_msg *frame)
{
    struct transport_front *front = slot->front;
    struct span bytes = span_of(nng_msg_body(frame), nng_msg_len(frame));
    nng_msg *large = bytes.count > KEPT_MESSAGE_BYTES ? frame : NULL;
    slot->stage = SLOT_ROUTED;
    slot->pipe = nng_msg_get_pipe(frame);
    slot->kept = large == NULL ? frame : NULL;
    slot->spelling = transport_spelling_of(bytes);
    slot->pending = true;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    uint64_t ticket = (uint64_t)slot->generation << 32 | slot->index;
    atomic_store_explicit(&slot->ticket, ticket, memory_order_release);

    char why[TRANSPORT_WHY_BYTES];
    enum proto_error error = front_intake_take(
        &front->intake, bytes, (struct proto_address){&front->answers, ticket}, why);
    if (large != NULL) {
        nng_msg_free(large);
    }
    if (error == PROTO_ERROR_NONE) {
        return;
    }
    atomic_store_explicit(&slot->ticket, TICKET_NONE, memory_order_relaxed);
    slot->pending = false;
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, FRONT_REFUSAL_BYTES);
    send_bytes(slot, front_intake_refusal(&arena, error, why, slot->spelling));
    arena_release(&arena);
}

/* Any thread. Takes every message; one whose ticket is no longer waiting is counted and dropped. */
static enum result on_answer(struct proto_sink *self, struct proto_message **message)
{
    struct transport_front *front =
        (struct transport_front *)(void *)((char *)self -
                                           offsetof(struct transport_front, answers));
    ASSERT(front->magic == FRONT_MAGIC);
    struct proto_message *answer = *message;
    ASSERT(answer->magic == PROTO_MESSAGE_MAGIC && answer->type == PROTO_REPLY);
    *message = NULL;
    if (atomic_load_explicit(&front->intake.pending, memory_order_relaxed) <= DIRECT_MAX) {
        deliver(front, answer);
    } else {
        front_outbox_push(&front->outbox, answer);
    }
    return RESULT_OK;
}

/* Any thread. Takes the answer. */
static void deliver(void *owner, struct proto_message *answer)
{
    struct transport_front *front = BASE_CAST(transport_front, owner, FRONT_MAGIC);
    uint64_t ticket = answer->reply_to.ticket;
    uint32_t index = (uint32_t)ticket;
    ASSERT(ticket != TICKET_NONE &&
           index < atomic_load_explicit(&front->slot_count, memory_order_acquire));
    struct slot *slot = front->slots[index];
    if (atomic_compare_exchange_strong_explicit(&slot->ticket, &ticket, TICKET_NONE,
                                                memory_order_acq_rel, memory_order_relaxed)) {
        struct arena arena;
        arena_init(&arena, ARENA_BLOCK_BYTES, front_intake_reply_bytes(answer->as.reply.body));
        send_bytes(slot, front_intake_reply(&arena, answer->as.reply.body, slot->spelling));
        arena_release(&arena);
    } else {
        atomic_fetch_add_explicit(&front->intake.late, 1, memory_order_relaxed);
    }
    message_free(answer);
}

/* The slot is NNG's from here on. */
static void send_bytes(struct slot *slot, struct span bytes)
{
    nng_msg *reply = slot->kept;
    slot->kept = NULL;
    if (reply != NULL) {
        nng_msg_clear(reply);
    } else if (nng_msg_alloc(&reply, 0) != 0) {
        reply = NULL;
    }
    if (reply == NULL || nng_msg_append(reply, bytes.bytes, bytes.count) != 0) {
        /* No memory for the answer: the peer's own time-out tells it. The slot must live on. */
        log_line(LOG_ERROR, "FRONT-REPLY-DROPPED", "reply_bytes=%zu", bytes.count);
        nng_msg_free(reply);
        slot->stage = SLOT_SENDING;
        on_sent(slot);
        return;
    }
    slot->stage = SLOT_SENDING;
    nng_aio_set_msg(slot->aio, reply);
    nng_aio_set_timeout(slot->aio, SEND_TIMEOUT_MS);
    nng_ctx_send(slot->ctx, slot->aio);
}
