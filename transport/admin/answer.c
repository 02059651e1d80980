/*
 * answer.c: the head that every response has, and the bodies that several places send.
 */
#include "transport/admin/answer.h"

#include <nng/supplemental/http/http.h>

#include "transport/admin/status.h"
#include "transport/guard/frame.h"
#include "transport/guard/refusal.h"

#define ARENA_BLOCK_BYTES 4096u
#define ARENA_EXTRA_BYTES (4u << 20)

void admin_answer(nng_aio *http, struct admin_answer answer)
{
    const struct {
        const char *name;
        const char *value;
    } always[] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy",
         answer.policy != NULL ? answer.policy : "default-src 'none'; frame-ancestors 'none'"},
    };
    nng_http_res *response = NULL;
    int code = nng_http_res_alloc(&response);
    if (code == 0) {
        code = nng_http_res_set_status(response, answer.status);
    }
    for (size_t index = 0; code == 0 && index < sizeof always / sizeof always[0]; index++) {
        code = nng_http_res_set_header(response, always[index].name, always[index].value);
    }
    if (code == 0) {
        code = nng_http_res_set_header(response, "Content-Type", answer.content_type);
    }
    if (code == 0 && answer.close) {
        code = nng_http_res_set_header(response, "Connection", "close");
    }
    if (code == 0 && answer.wait_a_bit) {
        code = nng_http_res_set_header(response, "Retry-After", "1");
    }
    if (code == 0 && answer.status == 401) {
        code = nng_http_res_set_header(response, "WWW-Authenticate", "Bearer");
    }
    if (code == 0) {
        code = nng_http_res_copy_data(response, answer.body.bytes, answer.body.count);
    }
    if (code != 0) {
        nng_http_res_free(response);
        nng_aio_finish(http, code); /* the server closes the connection */
        return;
    }
    nng_aio_set_output(http, 0, response);
    nng_aio_finish(http, 0);
}

void admin_answer_refusal(nng_aio *http, enum proto_error error, const char *why, bool close)
{
    admin_answer_status(http, admin_status_of(error), error, why, close);
}

void admin_answer_status(nng_aio *http, uint16_t status, enum proto_error error, const char *why,
                         bool close)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_EXTRA_BYTES);
    admin_answer(http, (struct admin_answer){
                           .status = status,
                           .content_type = "application/json",
                           .body = transport_value_spell(transport_refusal(&arena, error, why),
                                                         PROTO_JSON, &arena),
                           .close = close,
                           .wait_a_bit = status == 503,
                       });
    arena_release(&arena);
}

void admin_answer_value(nng_aio *http, struct span value, enum proto_spelling spelling, bool close)
{
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, 16 * value.count + ARENA_EXTRA_BYTES);
    enum proto_error error = transport_error_of_reply(value);
    struct span body = transport_value_spell(value, spelling, &arena);
    if (body.count == 0) {
        admin_answer_refusal(http, PROTO_ERROR_Internal, "no memory to spell the reply", close);
    } else {
        uint16_t status = admin_status_of(error);
        admin_answer(http, (struct admin_answer){
                               .status = status,
                               .content_type = spelling == PROTO_JSON ? "application/json"
                                                                      : "application/msgpack",
                               .body = body,
                               .close = close,
                               .wait_a_bit = status == 503,
                           });
    }
    arena_release(&arena);
}
