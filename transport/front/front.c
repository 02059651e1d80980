/*
 * front.c: the NNG front: one cooked REP socket, a pool of contexts that grows with load.
 *
 * A slot is one context with its aio; its life is receive, route, wait for the answer, send,
 * receive again. NNG runs its callback on its own threads, one at a time per slot; the answer comes
 * on whatever thread sends PROTO_REPLY to our sink. Cooked REP, because raw mode drops replies to a
 * slow reader in silence.
 *
 * Who owns a slot when: from the receive callback until router->send returns or is answered it is
 * the callback's; then whoever turns its `ticket` to 0 owns it. That compare-and-swap is the one
 * hand-over here. Its pairs: the callback writes the slot, then stores the ticket (release); the
 * answering thread swaps it (acquire), then reads the slot. A message would not do: the answer
 * itself is the message, and it may come twice or late; the generation in the ticket tells.
 */
#include "transport/front.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "transport/guard/frame.h"
#include "transport/guard/listen.h"
#include "transport/guard/refusal.h"
#include "transport/guard/token.h"

#define FRONT_MAGIC 0x46524f4eu
#define SLOT_MAGIC  0x534c4f54u

#define SLOTS_FIRST     64u   /* contexts from the start */
#define SLOTS_GROW      32u   /* more of them at a time... */
#define SLOTS_FREE_MIN  32u   /* ...when fewer than this are receiving */
#define SLOTS_SPARE     32u   /* beyond pending_max: they answer Overloaded */
#define SEND_TIMEOUT_MS 30000 /* a peer that reads nothing for so long is dropped */
#define KEPT_MESSAGE_BYTES                                                                         \
    4096u /* a request no larger waits with its slot and becomes the reply's memory */
#define ARENA_BLOCK_BYTES 4096u
#define ARENA_EXTRA_BYTES (1u << 20)
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
    bool counted;          /* in front->pending */
    enum proto_spelling spelling;
    nng_pipe pipe;
    nng_msg *kept;           /* the request's memory, for the reply; NULL when it was large */
    _Atomic uint64_t ticket; /* of the request that waits for its answer; TICKET_NONE else */
};

struct transport_front {
    uint32_t magic;
    struct proto_sink answers; /* PROTO_REPLY comes here */
    struct proto_sink *router;
    const char *const *tokens;
    size_t token_count;
    size_t request_bytes_max;
    uint32_t pending_max;
    nng_socket socket;
    nng_listener *listeners;
    size_t listener_count;

    /*
     * Counters are relaxed: each is read for itself only. `slot_count` is stored with release after
     * slots[n] is filled and loaded with acquire; `growing` lets one thread at a time append. No
     * message could do this: a callback must grow the pool before it hands its own context away,
     * and NNG gives us no loop of our own.
     */
    struct slot **slots;
    uint32_t slots_max;
    _Atomic uint32_t slot_count;
    atomic_flag growing;
    _Atomic uint32_t receiving;
    _Atomic uint32_t pending;
    _Atomic bool quiescing;
    _Atomic uint64_t requests;
    _Atomic uint64_t invalid;
    _Atomic uint64_t unauthorized;
    _Atomic uint64_t overloaded;
    _Atomic uint64_t oversized;
    _Atomic uint64_t unread;
    _Atomic uint64_t late;
};

static enum result check_urls(const struct transport_front_options *options, char error[256]);
static enum result listen_on_all(struct transport_front *front,
                                 const struct transport_front_options *options, char error[256]);
static int listen_on(struct transport_front *front, const char *url, const char *cert_key_file);
static bool grow(struct transport_front *front, uint32_t wanted);
static struct slot *slot_new(struct transport_front *front, uint32_t index);
static void slot_free(struct slot *slot);
static void slot_receive(struct slot *slot);
static void slot_stop(struct slot *slot);
static void on_aio(void *arg);
static void on_received(struct slot *slot);
static void on_sent(struct slot *slot);
static void take_request(struct slot *slot, nng_msg *frame);
static enum proto_error admit(struct slot *slot, struct span bytes, struct arena *arena,
                              struct transport_frame *frame, char why[TRANSPORT_WHY_BYTES]);
static enum proto_error route(struct slot *slot, const struct transport_frame *frame,
                              char why[TRANSPORT_WHY_BYTES]);
static void count_refusal(struct transport_front *front, enum proto_error code);
static void refuse(struct slot *slot, enum proto_error code, const char *why);
static enum result on_answer(struct proto_sink *self, struct proto_message **message);
static void send_reply(struct slot *slot, struct span value);
static void send_bytes(struct slot *slot, struct span bytes);
static size_t arena_limit(const struct transport_front *front);
static uint64_t monotonic_ms(void);
static void add_one(_Atomic uint64_t *counter);

enum result transport_front_open(const struct transport_front_options *options,
                                 struct transport_front **out, char error[256])
{
    ASSERT(options->router != NULL);
    ASSERT(options->request_bytes_max > 0 && options->request_bytes_max <= LIMIT_FRAME_BYTES);
    ASSERT(options->pending_max > 0);
    *out = NULL;
    enum result result = check_urls(options, error);
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
    front->router = options->router;
    front->tokens = options->tokens;
    front->token_count = options->token_count;
    front->request_bytes_max = options->request_bytes_max;
    front->pending_max = options->pending_max;
    front->slots_max = options->pending_max + SLOTS_SPARE;
    atomic_flag_clear(&front->growing);
    front->slots = calloc(front->slots_max, sizeof(struct slot *));
    front->listeners = calloc(options->url_count, sizeof *front->listeners);
    if (front->slots == NULL || front->listeners == NULL || nng_rep0_open(&front->socket) != 0) {
        goto free_front;
    }
    if (nng_socket_set_size(front->socket, NNG_OPT_RECVMAXSZ, 2 * options->request_bytes_max) !=
            0 ||
        !grow(front, SLOTS_FIRST)) {
        goto close_front;
    }
    result = listen_on_all(front, options, error);
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
    free(front->listeners);
    free(front->slots);
    free(front);
    return result;
}

static enum result check_urls(const struct transport_front_options *options, char error[256])
{
    for (size_t index = 0; index < options->url_count; index++) {
        const char *url = options->urls[index];
        if (options->token_count == 0 && !transport_url_is_local(url)) {
            snprintf(
                error, 256,
                "%s reaches beyond this machine: set auth.tokens, or listen on 127.0.0.1 or ipc://",
                url);
            return RESULT_DENIED;
        }
        if (strncmp(url, "tls+", 4) == 0 && options->tls_cert_key_file == NULL) {
            snprintf(error, 256, "%s needs a certificate: set front.tlsCertKeyFile", url);
            return RESULT_INVALID;
        }
    }
    return RESULT_OK;
}

static enum result listen_on_all(struct transport_front *front,
                                 const struct transport_front_options *options, char error[256])
{
    for (size_t index = 0; index < options->url_count; index++) {
        int code = listen_on(front, options->urls[index], options->tls_cert_key_file);
        if (code != 0) {
            snprintf(error, 256, "cannot listen on %s: %s", options->urls[index],
                     nng_strerror(code));
            return transport_result_of_nng(code);
        }
        log_line(LOG_INFO, "FRONT-LISTEN", "url=%s", options->urls[index]);
    }
    return RESULT_OK;
}

static int listen_on(struct transport_front *front, const char *url, const char *cert_key_file)
{
    nng_listener listener;
    int code = nng_listener_create(&listener, front->socket, url);
    if (code != 0) {
        return code;
    }
    if (strncmp(url, "ipc:", 4) == 0 || strncmp(url, "unix:", 5) == 0) {
        code = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, 0600);
    } else if (strncmp(url, "tls+", 4) == 0) {
        code = nng_listener_set_string(listener, NNG_OPT_TLS_CERT_KEY_FILE, cert_key_file);
    } else if (strncmp(url, "tcp", 3) == 0) {
        code = nng_listener_set_bool(listener, NNG_OPT_TCP_KEEPALIVE, true);
    }
    if (code == 0) {
        code = nng_listener_start(listener, 0);
    }
    if (code != 0) {
        nng_listener_close(listener);
        return code;
    }
    front->listeners[front->listener_count++] = listener;
    return 0;
}

uint16_t transport_front_port(const struct transport_front *front, size_t url_index)
{
    ASSERT(front->magic == FRONT_MAGIC);
    int port = 0;
    if (url_index >= front->listener_count ||
        nng_listener_get_int(front->listeners[url_index], NNG_OPT_TCP_BOUND_PORT, &port) != 0) {
        return 0;
    }
    return (uint16_t)port;
}

void transport_front_stats(struct transport_front *front, struct transport_front_stats *out)
{
    ASSERT(front->magic == FRONT_MAGIC);
    *out = (struct transport_front_stats){
        .requests = atomic_load_explicit(&front->requests, memory_order_relaxed),
        .invalid = atomic_load_explicit(&front->invalid, memory_order_relaxed),
        .unauthorized = atomic_load_explicit(&front->unauthorized, memory_order_relaxed),
        .overloaded = atomic_load_explicit(&front->overloaded, memory_order_relaxed),
        .oversized = atomic_load_explicit(&front->oversized, memory_order_relaxed),
        .unread = atomic_load_explicit(&front->unread, memory_order_relaxed),
        .late = atomic_load_explicit(&front->late, memory_order_relaxed),
        .pending = atomic_load_explicit(&front->pending, memory_order_relaxed),
        .contexts = atomic_load_explicit(&front->slot_count, memory_order_relaxed),
    };
}

void transport_front_quiesce(struct transport_front *front)
{
    ASSERT(front->magic == FRONT_MAGIC);
    atomic_store(&front->quiescing, true);
}

void transport_front_close(struct transport_front *front)
{
    if (front == NULL) {
        return;
    }
    ASSERT(front->magic == FRONT_MAGIC);
    atomic_store(&front->quiescing, true);
    for (size_t index = 0; index < front->listener_count; index++) {
        nng_listener_close(front->listeners[index]);
    }
    /* A callback of a slot that still runs may have grown the pool: go on until every slot that
     * exists is stopped. */
    for (uint32_t index = 0; index < atomic_load_explicit(&front->slot_count, memory_order_acquire);
         index++) {
        slot_stop(front->slots[index]);
    }
    nng_close(front->socket);
    for (uint32_t index = 0; index < atomic_load_explicit(&front->slot_count, memory_order_acquire);
         index++) {
        slot_free(front->slots[index]);
    }
    free(front->listeners);
    free(front->slots);
    front->magic = 0;
    free(front);
}

/* Adds up to `wanted` contexts and lets them receive; true when at least one context exists. */
static bool grow(struct transport_front *front, uint32_t wanted)
{
    if (atomic_flag_test_and_set_explicit(&front->growing, memory_order_acquire)) {
        return true;
    }
    uint32_t count = atomic_load_explicit(&front->slot_count, memory_order_relaxed);
    for (; wanted > 0 && count < front->slots_max; wanted--) {
        struct slot *slot = slot_new(front, count);
        if (slot == NULL) {
            break;
        }
        front->slots[count++] = slot;
        atomic_store_explicit(&front->slot_count, count, memory_order_release);
        slot_receive(slot);
    }
    atomic_flag_clear_explicit(&front->growing, memory_order_release);
    return count > 0;
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

/* After this no callback of the slot runs or will run. */
static void slot_stop(struct slot *slot)
{
    nng_aio_stop(slot->aio);
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
    uint32_t receiving = atomic_fetch_sub_explicit(&front->receiving, 1, memory_order_relaxed) - 1;
    if (nng_aio_result(slot->aio) != 0) {
        return; /* closed: a context has no other reason to stop receiving */
    }
    nng_msg *frame = nng_aio_get_msg(slot->aio);
    nng_aio_set_msg(slot->aio, NULL);
    if (receiving < SLOTS_FREE_MIN &&
        atomic_load_explicit(&front->slot_count, memory_order_relaxed) < front->slots_max) {
        (void)grow(front, SLOTS_GROW);
    }
    add_one(&front->requests);
    take_request(slot, frame);
}

static void on_sent(struct slot *slot)
{
    struct transport_front *front = slot->front;
    int code = nng_aio_result(slot->aio);
    if (slot->counted) {
        slot->counted = false;
        atomic_fetch_sub_explicit(&front->pending, 1, memory_order_relaxed);
    }
    if (code != 0) {
        nng_msg *message = nng_aio_get_msg(slot->aio);
        nng_aio_set_msg(slot->aio, NULL);
        nng_msg_free(message);
        if (code == NNG_ETIMEDOUT) {
            add_one(&front->unread);
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

static void take_request(struct slot *slot, nng_msg *frame)
{
    struct transport_front *front = slot->front;
    struct span bytes = span_of(nng_msg_body(frame), nng_msg_len(frame));
    slot->stage = SLOT_ROUTED;
    slot->pipe = nng_msg_get_pipe(frame);
    slot->kept = frame;

    struct arena arena; /* takes no memory until a JSON request asks for some */
    struct transport_frame request;
    char why[TRANSPORT_WHY_BYTES];
    arena_init(&arena, ARENA_BLOCK_BYTES, arena_limit(front));
    enum proto_error code = admit(slot, bytes, &arena, &request, why);
    slot->spelling = request.spelling;
    if (code == PROTO_ERROR_NONE) {
        code = route(slot, &request, why);
    }
    arena_release(&arena);
    if (code != PROTO_ERROR_NONE) {
        count_refusal(front, code);
        refuse(slot, code, why);
    }
}

/* Everything that can be said about a request without knowing executions. */
static enum proto_error admit(struct slot *slot, struct span bytes, struct arena *arena,
                              struct transport_frame *frame, char why[TRANSPORT_WHY_BYTES])
{
    struct transport_front *front = slot->front;
    *frame = (struct transport_frame){.spelling = transport_spelling_of(bytes)};
    if (bytes.count > front->request_bytes_max) {
        snprintf(why, TRANSPORT_WHY_BYTES, "request larger than %zu bytes",
                 front->request_bytes_max);
        return PROTO_ERROR_PayloadTooLarge;
    }
    enum proto_error code = transport_frame_read(bytes, arena, frame, why);
    if (code != PROTO_ERROR_NONE) {
        return code;
    }
    if (!transport_token_accepted(front->tokens, front->token_count, frame->token)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "%s",
                 frame->token.count == 0 ? "a `token` is needed" : "unknown `token`");
        return PROTO_ERROR_Unauthorized;
    }
    if (atomic_load_explicit(&front->quiescing, memory_order_relaxed)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "the engine is shutting down");
        return PROTO_ERROR_ShuttingDown;
    }
    return PROTO_ERROR_NONE;
}

/* On PROTO_ERROR_NONE the slot is no longer ours; otherwise it is, and nobody else has its ticket.
 */
static enum proto_error route(struct slot *slot, const struct transport_frame *frame,
                              char why[TRANSPORT_WHY_BYTES])
{
    struct transport_front *front = slot->front;
    snprintf(why, TRANSPORT_WHY_BYTES, "too many requests in flight");
    if (atomic_fetch_add_explicit(&front->pending, 1, memory_order_relaxed) >= front->pending_max) {
        atomic_fetch_sub_explicit(&front->pending, 1, memory_order_relaxed);
        return PROTO_ERROR_Overloaded;
    }
    slot->counted = true;
    struct proto_message *message = message_new(PROTO_REQUEST, frame->body.count);
    if (message == NULL) {
        return PROTO_ERROR_Overloaded;
    }
    message->as.request.operation = frame->operation;
    message->as.request.spelling = frame->spelling;
    message->as.request.body = message_keep(message, frame->body);
    message->as.request.received_ms = monotonic_ms();
    if (nng_msg_capacity(slot->kept) > KEPT_MESSAGE_BYTES) {
        nng_msg_free(slot->kept);
        slot->kept = NULL;
    }
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    uint64_t ticket = (uint64_t)slot->generation << 32 | slot->index;
    message->reply_to = (struct proto_address){&front->answers, ticket};
    atomic_store_explicit(&slot->ticket, ticket, memory_order_release);

    enum result result = front->router->send(front->router, &message);
    if (result == RESULT_OK) {
        return PROTO_ERROR_NONE;
    }
    atomic_store_explicit(&slot->ticket, TICKET_NONE, memory_order_relaxed);
    message_free(message);
    if (result == RESULT_CLOSED) {
        snprintf(why, TRANSPORT_WHY_BYTES, "the engine is shutting down");
        return PROTO_ERROR_ShuttingDown;
    }
    return PROTO_ERROR_Overloaded;
}

static void count_refusal(struct transport_front *front, enum proto_error code)
{
    if (code == PROTO_ERROR_InvalidRequest) {
        add_one(&front->invalid);
    } else if (code == PROTO_ERROR_Unauthorized) {
        add_one(&front->unauthorized);
    } else if (code == PROTO_ERROR_PayloadTooLarge) {
        add_one(&front->oversized);
    } else if (code == PROTO_ERROR_Overloaded) {
        add_one(&front->overloaded);
    }
}

static void refuse(struct slot *slot, enum proto_error code, const char *why)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    send_bytes(slot,
               transport_value_spell(transport_refusal(&arena, code, why), slot->spelling, &arena));
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

    uint64_t ticket = answer->reply_to.ticket;
    uint32_t index = (uint32_t)ticket;
    ASSERT(ticket != TICKET_NONE &&
           index < atomic_load_explicit(&front->slot_count, memory_order_acquire));
    struct slot *slot = front->slots[index];
    if (atomic_compare_exchange_strong_explicit(&slot->ticket, &ticket, TICKET_NONE,
                                                memory_order_acq_rel, memory_order_relaxed)) {
        send_reply(slot, answer->as.reply.body);
    } else {
        add_one(&front->late);
    }
    message_free(answer);
    return RESULT_OK;
}

static void send_reply(struct slot *slot, struct span value)
{
    if (slot->spelling == PROTO_MSGPACK) {
        send_bytes(slot, value);
        return;
    }
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, 8 * value.count + ARENA_EXTRA_BYTES);
    struct span text = transport_value_spell(value, slot->spelling, &arena);
    if (text.count > 0) {
        send_bytes(slot, text);
    } else {
        refuse(slot, PROTO_ERROR_Internal, "no memory to spell the reply");
    }
    arena_release(&arena);
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

/* Decimals and small containers can be larger in MessagePack than in JSON, and an arena's growth
 * leaves old copies. */
static size_t arena_limit(const struct transport_front *front)
{
    return 8 * front->request_bytes_max + ARENA_EXTRA_BYTES;
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static void add_one(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}
