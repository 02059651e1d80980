#include "proto/base/id.h"

#include <criterion/criterion.h>

static struct span repeat(char byte, size_t count)
{
    static char text[1024];
    memset(text, byte, sizeof text);
    return span_of(text, count);
}

Test(id, valid_ids_are_1_to_128_of_the_alphabet_without_dots_at_the_ends)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"a", true},          {"Order_1.2:3@x+y-z", true},
        {"a..b", true},       {"-", true},
        {"", false},          {".", false},
        {"..", false},        {".a", false},
        {"a.", false},        {"a/b", false},
        {"a\\b", false},      {"a b", false},
        {"a%00", false},      {"\xc3\xa9", false},
        {"a\nb", false},      {"a*", false},
        {"../secret", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(id_is_valid(span_text(rows[i].text)), rows[i].valid, "\"%s\"", rows[i].text);
    }
    cr_expect(id_is_valid(repeat('x', 128)));
    cr_expect_not(id_is_valid(repeat('x', 129)));
    cr_expect_not(id_is_valid(span_of("a\0b", 3)));
}

Test(id, channel_sessions_are_1_to_512_bytes_of_utf_8_without_controls)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"tel:+49 170/1234", true},
        {"\xd0\x90\xf0\x9f\x98\x80", true},
        {"", false},
        {"a\tb", false},
        {"a\x7f", false},
        {"a\xc2\x85", false},
        {"a\xc2\xa0", true},
        {"a\xff", false},
        {"\xc2", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(channel_session_id_is_valid(span_text(rows[i].text)), rows[i].valid, "row %zu",
                     i);
    }
    cr_expect(channel_session_id_is_valid(repeat('x', 512)));
    cr_expect_not(channel_session_id_is_valid(repeat('x', 513)));
}

Test(id, parse_keeps_the_text_or_refuses_and_leaves_nothing)
{
    struct execution_id id;

    cr_expect_eq(execution_id_parse(span_text("order-7"), &id), RESULT_OK);
    cr_expect_str_eq(id.text, "order-7");
    cr_expect(span_is(execution_id_span(&id), "order-7"));

    cr_expect_eq(execution_id_parse(span_text("order 7"), &id), RESULT_INVALID);
    cr_expect_eq(id.count, 0);
}

static const char *text_of(struct uuid uuid)
{
    static char text[UUID_TEXT_BYTES + 1];
    uuid_format(uuid, text);
    return text;
}

Test(id, version_5_gives_the_example_of_rfc_9562)
{
    static const uint8_t dns[16] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
                                    0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    struct span parts[] = {span_text("www.exam"), SPAN_EMPTY, span_text("ple.com")};

    struct uuid uuid = uuid_v5_in(dns, parts, 3);

    cr_expect_str_eq(text_of(uuid), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

Test(id, version_7_gives_the_example_of_rfc_9562)
{
    static const uint8_t random_bytes[10] = {0x0c, 0xc3, 0x18, 0xc4, 0xdc,
                                             0x0c, 0x0c, 0x07, 0x39, 0x8f};

    struct uuid uuid = uuid_v7(0x017f22e279b0u, random_bytes);

    cr_expect_str_eq(text_of(uuid), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

Test(id, the_id_of_a_repeated_start_is_the_same_for_ever)
{
    cr_expect_str_eq(text_of(uuid_v5(span_text("default"), span_text("request-1"))),
                     "537388ac-2c69-5e93-9980-106a658db7b6");
}

Test(id, workspace_and_request_do_not_run_into_each_other)
{
    struct uuid a = uuid_v5(span_text("ab"), span_text("c"));
    struct uuid b = uuid_v5(span_text("a"), span_text("bc"));

    cr_expect_neq(memcmp(a.bytes, b.bytes, 16), 0);
}

Test(id, a_step_id_depends_on_execution_run_and_sequence_alone)
{
    struct uuid base = uuid_of_step(span_text("order-1"), 1, 2);
    struct uuid same = uuid_of_step(span_text("order-1"), 1, 2);
    struct uuid others[] = {
        uuid_of_step(span_text("order-2"), 1, 2), uuid_of_step(span_text("order-1"), 2, 2),
        uuid_of_step(span_text("order-1"), 1, 3), uuid_of_step(span_text("order-1"), 2, 1),
        uuid_of_step(SPAN_EMPTY, 1, 2),
    };
    cr_expect_arr_eq(base.bytes, same.bytes, 16);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect_neq(memcmp(base.bytes, others[i].bytes, 16), 0, "row %zu", i);
    }
    cr_expect_eq(base.bytes[6] >> 4, 8);
    cr_expect_eq(base.bytes[8] >> 6, 2);
    cr_expect_str_eq(text_of(base), "4e8f8b10-6f97-87b0-8125-ee4863caeff3");
}
