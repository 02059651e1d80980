/* reply_test.c: module answers to values, Retry-After to milliseconds. */
#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "transport/modules/reply.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, 4096, 1u << 20);
}
static void close_arena(void)
{
    arena_release(&arena);
}

TestSuite(reply, .init = open_arena, .fini = close_arena);

Test(reply, content_type_decides_and_else_the_first_byte)
{
    static const struct {
        const char *body;
        const char *content_type;
        bool readable;
    } rows[] = {
        {"{\"a\":1}", "application/json; charset=utf-8", true},
        {"{\"a\":1}", "application/vnd.x+json", true},
        {"{\"a\":1}", "text/plain", true},
        {"{\"a\":1}", NULL, true},
        {"\x81\xa1"
         "a\x01",
         NULL, true},
        {"\x81\xa1"
         "a\x01",
         "application/x-msgpack", true},
        {"\x81\xa1"
         "a\x01",
         "application/json", false},
        {"{\"a\":1}", "application/msgpack", false},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct span value;
        char reason[REPLY_REASON_BYTES];
        bool readable = reply_read(span_text(rows[index].body), rows[index].content_type, &arena,
                                   &value, reason);
        cr_assert_eq(readable, rows[index].readable, "row %zu", index);
        if (readable) {
            cr_assert_eq(wire_int_or(wire_find_text(value, "a"), -1), 1);
        }
    }
}

Test(reply, reason_says_what_and_where)
{
    static const struct {
        const char *body;
        const char *reason;
    } rows[] = {
        {"{\"a\":\"x\xff\"}", "reply is not JSON: invalid UTF-8 at byte 7"},
        {"<html>", "at line 1 column 1, near \"<html>\""},
        {"{\n \"a\": nope}", "at line 2 column"},
        {"{\n \"a\":", "at line 2 column 6, behind \" 'a':\""},
        {"[1,\n", "at line 2 column 1"},
        {"{\"a\":\"\x01\"}", "reply is not JSON: "},
        {"", "reply is empty: a module with nothing to say answers 204"},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct span value;
        char reason[REPLY_REASON_BYTES] = "";
        cr_assert_not(
            reply_read(span_text(rows[index].body), "application/json", &arena, &value, reason));
        cr_assert_not_null(strstr(reason, rows[index].reason), "row %zu: %s", index, reason);
        cr_assert_eq(value.count, 0);
    }
}

Test(reply, sample_is_printable_ascii_of_one_line)
{
    struct span value;
    char reason[REPLY_REASON_BYTES];
    cr_assert_not(reply_read(span_text("nope \"\t\xc3\xa4\nsecond line"), "application/json",
                             &arena, &value, reason));
    const char *near = strstr(reason, "near \"");
    cr_assert_not_null(near, "%s", reason);
    for (const char *at = near; *at != '\0'; at++) {
        cr_assert(*at >= 0x20 && *at < 0x7f, "%s", reason);
    }
    cr_assert_null(strstr(reason, "second line"));
}

Test(reply, retry_after_is_seconds_or_a_date_capped_to_an_hour)
{
    static const struct {
        const char *header;
        int64_t ms;
    } rows[] = {
        {"0", 0},
        {"7", 7000},
        {" 120 ", 120000},
        {"3600", 3600000},
        {"3601", 3600000},
        {"99999999999999999999999", 3600000},
        {"Wed, 21 Oct 2015 07:28:10 GMT", 10000},
        {"Wed, 21 Oct 2015 07:27:00 GMT", 0},
        {"Thu, 22 Oct 2015 07:28:00 GMT", 3600000},
        {"", -1},
        {"soon", -1},
        {"-5", -1},
        {"1.5", -1},
        {NULL, -1},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        cr_assert_eq(reply_retry_after_ms(rows[index].header, 1445412480), rows[index].ms,
                     "%s gives %lld", rows[index].header,
                     (long long)reply_retry_after_ms(rows[index].header, 1445412480));
    }
}
