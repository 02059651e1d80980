/*
 * intake.c: admission of requests.
 */
#include "transport/front/intake.h"

#include <stdio.h>
#include <time.h>

#include "proto/base/assert.h"
#include "transport/guard/refusal.h"
#include "transport/guard/token.h"

#define ARENA_BLOCK_BYTES 4096u
#define ARENA_EXTRA_BYTES (1u << 20)
#define UNKNOWN_BYTES_MAX (64u << 10) /* JSON of a peer whose token has not been seen */

static enum proto_error check(const struct front_intake *intake, struct span bytes,
                              struct arena *arena, struct transport_frame *frame,
                              char why[TRANSPORT_WHY_BYTES]);
static enum proto_error route(struct front_intake *intake, const struct transport_frame *frame,
                              struct proto_address reply_to, char why[TRANSPORT_WHY_BYTES]);
static void count_refusal(struct front_intake *intake, enum proto_error error);
static uint64_t monotonic_ms(void);
static void add_one(_Atomic uint64_t *counter);

void front_intake_init(struct front_intake *intake, const struct transport_front_options *options)
{
    *intake = (struct front_intake){
        .router = options->router,
        .tokens = options->tokens,
        .token_count = options->token_count,
        .request_bytes_max = options->request_bytes_max,
        .pending_max = options->pending_max,
    };
}

enum proto_error front_intake_take(struct front_intake *intake, struct span bytes,
                                   struct proto_address reply_to, char why[TRANSPORT_WHY_BYTES])
{
    /* Decimals and small containers can be larger in MessagePack than in JSON, and an arena's
     * growth leaves old copies. */
    struct arena arena; /* takes no memory until a JSON request asks for some */
    arena_init(&arena, ARENA_BLOCK_BYTES, 8 * bytes.count + ARENA_EXTRA_BYTES);
    struct transport_frame frame;
    enum proto_error error = check(intake, bytes, &arena, &frame, why);
    if (error == PROTO_ERROR_NONE) {
        error = route(intake, &frame, reply_to, why);
    }
    add_one(&intake->requests);
    count_refusal(intake, error);
    arena_release(&arena);
    return error;
}

/* Everything that can be said about a request without knowing executions. */
static enum proto_error check(const struct front_intake *intake, struct span bytes,
                              struct arena *arena, struct transport_frame *frame,
                              char why[TRANSPORT_WHY_BYTES])
{
    *frame = (struct transport_frame){.spelling = transport_spelling_of(bytes)};
    if (bytes.count > intake->request_bytes_max) {
        snprintf(why, TRANSPORT_WHY_BYTES, "request larger than %zu bytes",
                 intake->request_bytes_max);
        return PROTO_ERROR_PayloadTooLarge;
    }
    /* A large JSON text takes memory to read: it must show first, spelled plainly, who asks for it.
     */
    if (intake->token_count > 0 && frame->spelling == PROTO_JSON &&
        bytes.count > UNKNOWN_BYTES_MAX &&
        !transport_token_accepted(intake->tokens, intake->token_count,
                                  transport_frame_peek_token(bytes))) {
        snprintf(why, TRANSPORT_WHY_BYTES, "no `token` that is known");
        return PROTO_ERROR_Unauthorized;
    }
    enum proto_error error = transport_frame_read(bytes, arena, frame, why);
    if (error != PROTO_ERROR_NONE) {
        return error;
    }
    if (!transport_token_accepted(intake->tokens, intake->token_count, frame->token)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "%s",
                 frame->token.count == 0 ? "a `token` is needed" : "unknown `token`");
        return PROTO_ERROR_Unauthorized;
    }
    if (atomic_load_explicit(&intake->quiescing, memory_order_relaxed)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "the engine is shutting down");
        return PROTO_ERROR_ShuttingDown;
    }
    return PROTO_ERROR_NONE;
}

static enum proto_error route(struct front_intake *intake, const struct transport_frame *frame,
                              struct proto_address reply_to, char why[TRANSPORT_WHY_BYTES])
{
    struct proto_message *message = NULL;
    enum result result = RESULT_AGAIN;
    if (atomic_fetch_add_explicit(&intake->pending, 1, memory_order_relaxed) <
            intake->pending_max &&
        (message = message_new(PROTO_REQUEST, frame->body.count)) != NULL) {
        message->as.request.operation = frame->operation;
        message->as.request.spelling = frame->spelling;
        message->as.request.body = message_keep(message, frame->body);
        message->as.request.received_ms = monotonic_ms();
        message->reply_to = reply_to;
        result = intake->router->send(intake->router, &message);
    }
    if (result == RESULT_OK) {
        return PROTO_ERROR_NONE;
    }
    front_intake_end(intake);
    message_free(message);
    if (result == RESULT_CLOSED) {
        snprintf(why, TRANSPORT_WHY_BYTES, "the engine is shutting down");
        return PROTO_ERROR_ShuttingDown;
    }
    snprintf(why, TRANSPORT_WHY_BYTES, "too many requests in flight");
    return PROTO_ERROR_Overloaded;
}

static void count_refusal(struct front_intake *intake, enum proto_error error)
{
    if (error == PROTO_ERROR_InvalidRequest) {
        add_one(&intake->invalid);
    } else if (error == PROTO_ERROR_Unauthorized) {
        add_one(&intake->unauthorized);
    } else if (error == PROTO_ERROR_PayloadTooLarge) {
        add_one(&intake->oversized);
    } else if (error == PROTO_ERROR_Overloaded) {
        add_one(&intake->overloaded);
    }
}

void front_intake_end(struct front_intake *intake)
{
    uint32_t before = atomic_fetch_sub_explicit(&intake->pending, 1, memory_order_relaxed);
    ASSERT(before > 0);
}

struct span front_intake_refusal(struct arena *arena, enum proto_error error, const char *why,
                                 enum proto_spelling spelling)
{
    return transport_value_spell(transport_refusal(arena, error, why), spelling, arena);
}

struct span front_intake_reply(struct arena *arena, struct span value, enum proto_spelling spelling)
{
    struct span bytes = transport_value_spell(value, spelling, arena);
    if (bytes.count > 0) {
        return bytes;
    }
    arena_clear(arena);
    return front_intake_refusal(arena, PROTO_ERROR_Internal, "no memory to spell the reply",
                                spelling);
}

size_t front_intake_reply_bytes(struct span value)
{
    return 8 * value.count + ARENA_EXTRA_BYTES;
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
