/*
 * client.c: one REQ socket; each call takes a context of its own, so any number of threads may call
 * at once.
 */
#include "transport/client.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "transport/guard/listen.h"

#define CLIENT_MAGIC 0x434c4e54u
#define REPLY_BYTES_MAX                                                                            \
    (256u << 20) /* lists and payloads of one execution; the engine's own bound is lower */
#define RECONNECT_MS     20
#define RECONNECT_MS_MAX 500

struct transport_client {
    uint32_t magic;
    nng_socket socket;
};

static enum result exchange(nng_ctx ctx, nng_aio *aio, struct span request, nng_msg **reply);
static enum result keep_reply(nng_msg *reply, struct arena *arena, struct span *out);

enum result transport_client_open(const char *url, struct transport_client **out, char error[256])
{
    *out = NULL;
    struct transport_client *client = calloc(1, sizeof *client);
    if (client == NULL || nng_req0_open(&client->socket) != 0) {
        snprintf(error, 256, "no memory for the client");
        free(client);
        return RESULT_LIMIT;
    }
    client->magic = CLIENT_MAGIC;
    int code = 0;
    /* A repeat is the caller's to decide: NNG would do it by itself. */
    if ((code = nng_socket_set_ms(client->socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE)) !=
            0 ||
        (code = nng_socket_set_size(client->socket, NNG_OPT_RECVMAXSZ, REPLY_BYTES_MAX)) != 0 ||
        (code = nng_socket_set_ms(client->socket, NNG_OPT_RECONNMINT, RECONNECT_MS)) != 0 ||
        (code = nng_socket_set_ms(client->socket, NNG_OPT_RECONNMAXT, RECONNECT_MS_MAX)) != 0 ||
        (code = nng_dial(client->socket, url, NULL, NNG_FLAG_NONBLOCK)) != 0) {
        snprintf(error, 256, "cannot connect to %s: %s", url, nng_strerror(code));
        transport_client_close(client);
        return transport_result_of_nng(code);
    }
    error[0] = '\0';
    *out = client;
    return RESULT_OK;
}

enum result transport_client_call(struct transport_client *client, struct span request,
                                  uint32_t timeout_ms, struct arena *arena, struct span *reply)
{
    ASSERT(client->magic == CLIENT_MAGIC);
    *reply = SPAN_EMPTY;
    nng_ctx ctx;
    int code = nng_ctx_open(&ctx, client->socket);
    if (code != 0) {
        return transport_result_of_nng(code);
    }
    nng_aio *aio = NULL;
    enum result result = RESULT_LIMIT;
    if (nng_aio_alloc(&aio, NULL, NULL) == 0) {
        nng_msg *message = NULL;
        nng_aio_set_timeout(aio, timeout_ms > INT32_MAX ? INT32_MAX : (nng_duration)timeout_ms);
        result = exchange(ctx, aio, request, &message);
        if (result == RESULT_OK) {
            result = keep_reply(message, arena, reply);
            nng_msg_free(message);
        }
        nng_aio_free(aio);
    }
    nng_ctx_close(ctx);
    return result;
}

/* Sending waits for a connection; receiving waits for the reply; each for the whole time that was
 * given. */
static enum result exchange(nng_ctx ctx, nng_aio *aio, struct span request, nng_msg **reply)
{
    nng_msg *message = NULL;
    if (nng_msg_alloc(&message, 0) != 0) {
        return RESULT_LIMIT;
    }
    if (nng_msg_append(message, request.bytes, request.count) != 0) {
        nng_msg_free(message);
        return RESULT_LIMIT;
    }
    nng_aio_set_msg(aio, message);
    nng_ctx_send(ctx, aio);
    nng_aio_wait(aio);
    int code = nng_aio_result(aio);
    if (code != 0) {
        nng_msg_free(message);
        return transport_result_of_nng(code);
    }
    nng_aio_set_msg(aio, NULL);
    nng_ctx_recv(ctx, aio);
    nng_aio_wait(aio);
    code = nng_aio_result(aio);
    *reply = code == 0 ? nng_aio_get_msg(aio) : NULL;
    return transport_result_of_nng(code);
}

static enum result keep_reply(nng_msg *reply, struct arena *arena, struct span *out)
{
    struct span bytes = span_of(nng_msg_body(reply), nng_msg_len(reply));
    size_t offset = 0;
    const char *reason = NULL;
    if (wire_validate(bytes, LIMIT_DEPTH, &offset, &reason) != RESULT_OK ||
        !wire_is(bytes, WIRE_MAP)) {
        return RESULT_INVALID;
    }
    *out = arena_copy(arena, bytes);
    return arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}

void transport_client_close(struct transport_client *client)
{
    if (client == NULL) {
        return;
    }
    ASSERT(client->magic == CLIENT_MAGIC);
    nng_close(client->socket);
    client->magic = 0;
    free(client);
}
