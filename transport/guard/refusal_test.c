/* refusal_test.c: error replies. */
#include <criterion/criterion.h>

#include "transport/guard/frame.h"
#include "transport/guard/refusal.h"

Test(refusal, has_the_shape_of_every_error_reply_and_is_read_back)
{
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    struct span reply = transport_refusal(&arena, PROTO_ERROR_NotWaiting, "nothing waits");
    cr_assert(span_is(transport_value_spell(reply, PROTO_JSON, &arena),
                      "{\"v\":1,\"ok\":false,\"error\":{\"code\":\"NotWaiting\",\"message\":"
                      "\"nothing waits\"}}"));
    for (enum proto_error error = PROTO_ERROR_NONE + 1; error < PROTO_ERROR_COUNT; error++) {
        cr_assert_eq(transport_error_of_reply(transport_refusal(&arena, error, "x")), error);
    }
    arena_release(&arena);
}

Test(refusal, ok_reply_and_one_without_a_known_code_name_no_error)
{
    static const char ok[] = "\x81\xa2ok\xc3";
    static const char unknown[] = "\x82\xa2ok\xc2\xa5"
                                  "error\x81\xa4"
                                  "code\xa1X";
    cr_assert_eq(transport_error_of_reply(span_of(ok, sizeof ok - 1)), PROTO_ERROR_NONE);
    cr_assert_eq(transport_error_of_reply(span_of(unknown, sizeof unknown - 1)), PROTO_ERROR_NONE);
}
