/* frame_test.c: frames to requests, values to bytes. */
#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "transport/guard/frame.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, 4096, 1u << 20);
}
static void close_arena(void)
{
    arena_release(&arena);
}

TestSuite(frame, .init = open_arena, .fini = close_arena);

Test(frame, spelling_is_told_by_the_first_byte_after_space)
{
    cr_assert_eq(transport_spelling_of(span_text("{}")), PROTO_JSON);
    cr_assert_eq(transport_spelling_of(span_text(" \t\r\n{")), PROTO_JSON);
    cr_assert_eq(transport_spelling_of(span_text("")), PROTO_MSGPACK);
    cr_assert_eq(transport_spelling_of(span_text("   ")), PROTO_MSGPACK);
    cr_assert_eq(transport_spelling_of(span_text("[1]")), PROTO_MSGPACK);
    cr_assert_eq(transport_spelling_of(span_text("\x81")), PROTO_MSGPACK);
}

Test(frame, request_is_read_from_both_spellings)
{
    static const struct {
        const char *bytes;
        size_t count;
    } rows[] = {
        {"{\"op\":\"get\",\"token\":\"t\"}", 24},
        {"{\"v\":1,\"op\":\"get\",\"token\":\"t\"}", 30},
        {"\x82\xa2op\xa3get\xa5token\xa1t", 16},
        {"\x83\xa1v\x01\xa2op\xa3get\xa5token\xa1t", 19},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct transport_frame frame;
        char why[TRANSPORT_WHY_BYTES] = "";
        enum proto_error error = transport_frame_read(span_of(rows[index].bytes, rows[index].count),
                                                      &arena, &frame, why);
        cr_assert_eq(error, PROTO_ERROR_NONE, "%zu: %s", index, why);
        cr_assert_eq(frame.operation, PROTO_OP_GET);
        cr_assert(span_is(frame.token, "t"));
        cr_assert(wire_is(frame.body, WIRE_MAP));
    }
}

Test(frame, msgpack_body_is_borrowed_not_copied)
{
    static const char bytes[] = "\x81\xa2op\xa4ping";
    struct transport_frame frame;
    char why[TRANSPORT_WHY_BYTES];
    cr_assert_eq(transport_frame_read(span_of(bytes, 9), &arena, &frame, why), PROTO_ERROR_NONE);
    cr_assert_eq((const void *)frame.body.bytes, (const void *)bytes);
}

Test(frame, last_of_doubled_keys_counts)
{
    struct transport_frame frame;
    char why[TRANSPORT_WHY_BYTES];
    struct span text = span_text("{\"op\":\"get\",\"v\":7,\"op\":\"ping\",\"v\":1}");
    cr_assert_eq(transport_frame_read(text, &arena, &frame, why), PROTO_ERROR_NONE);
    cr_assert_eq(frame.operation, PROTO_OP_PING);
}

Test(frame, what_is_no_request_is_refused_with_the_place)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"", "empty request at byte 0"},
        {"{", "not JSON: "},
        {"{\"op\":\"ping\"} x", "at byte 14"},
        {"{}", "`op` is missing at byte 0"},
        {"{\"op\":null}", "`op` must be text at byte"},
        {"{\"op\":\"Ping\"}", "unknown `op` \"Ping\" at byte"},
        {"{\"op\":\"ping\",\"v\":2}", "`v` must be 1 at byte"},
        {"{\"op\":\"ping\",\"v\":1.0}", "`v` must be 1 at byte"},
        {"\xc1", "not MessagePack: "},
        {"[1]", "neither a JSON object, which begins with {, nor MessagePack: "},
        {"<definitions/>", "neither a JSON object, which begins with {, nor MessagePack: "},
        {"\x81\xa2op", "not MessagePack: "},
        {"\x93\x01\x02\x03", "the request is not a map at byte 0"},
        {"\x07", "the request is not a map at byte 0"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct transport_frame frame;
        char why[TRANSPORT_WHY_BYTES] = "";
        cr_assert_eq(transport_frame_read(span_text(rows[index].text), &arena, &frame, why),
                     PROTO_ERROR_InvalidRequest, "%s", rows[index].text);
        cr_assert_not_null(strstr(why, rows[index].why), "%s: %s", rows[index].text, why);
    }
}

Test(frame, unknown_operation_is_shown_cut_between_characters)
{
    struct transport_frame frame;
    char why[TRANSPORT_WHY_BYTES];
    struct span text =
        span_text("{\"op\":\"123456789 123456789 123456789 123456789\u00e4\u00e4\u00e4\"}");
    cr_assert_eq(transport_frame_read(text, &arena, &frame, why), PROTO_ERROR_InvalidRequest);
    cr_assert_not_null(strstr(why, "\"123456789 123456789 123456789 123456789\""), "%s", why);
}

Test(frame, arena_that_is_too_small_is_payload_too_large)
{
    struct arena small;
    arena_init(&small, 256, 600);
    char text[4096] = "{\"op\":\"";
    memset(text + 7, 'x', 4000);
    memcpy(text + 4007, "\"}", 3);
    struct transport_frame frame;
    char why[TRANSPORT_WHY_BYTES];
    cr_assert_eq(transport_frame_read(span_text(text), &small, &frame, why),
                 PROTO_ERROR_PayloadTooLarge);
    arena_release(&small);
}

Test(frame, value_is_spelt_as_asked)
{
    struct span value = span_of("\x81\xa1"
                                "a\x01",
                                4);
    cr_assert_eq((const void *)transport_value_spell(value, PROTO_MSGPACK, &arena).bytes,
                 (const void *)value.bytes);
    cr_assert(span_is(transport_value_spell(value, PROTO_JSON, &arena), "{\"a\":1}"));
}

Test(frame, peeks_at_the_last_token_of_the_outermost_object_only)
{
    static const struct {
        const char *json;
        const char *token;
    } rows[] = {
        {"{\"op\":\"ping\",\"token\":\"a b\"}", "a b"},
        {" {\"token\" : \"x\", \"request\":{\"token\":\"y\"}}", "x"},
        {"{\"request\":{\"token\":\"y\"}}", ""},
        {"{\"list\":[\"token\",\"y\"],\"op\":\"token\",\"v\":\"z\"}", ""},
        {"{\"token\":\"first\",\"token\":\"last\"}", "last"},
        {"{\"token\":{\"token\":\"y\"},\"a\":\"b\"}", ""},
        {"{\"a\":\"\\\"token\\\":\",\"b\":\"\\\\\",\"token\":\"z\"}", "z"},
        {"{\"token\":\"not whole", ""},
        {"{\"token", ""},
        {"}}{\"token\":\"z\"", "z"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span token = transport_frame_peek_token(span_text(rows[i].json));
        cr_expect(span_is(token, rows[i].token), "%s: %.*s", rows[i].json, SPAN_ARG(token));
    }
}
