/* message_test.c: which audit messages are taken, and why the others are not. */
#include "audit/message.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "audit/bus.h"
#include "proto/wire/reader.h"

static enum result read_text(struct arena *arena, struct span json, struct span *out, char *reason)
{
    arena_init(arena, 65536, 64u << 20);
    reason[0] = '\0';
    return audit_message_read(json, arena, out, reason);
}

Test(audit_message, is_taken_with_fields_that_it_does_not_know)
{
    struct arena arena;
    struct span map;
    char reason[AUDIT_REASON_BYTES];
    const char *json = "{\"executionId\":\"e-1\",\"revision\":3,\"channel\":null,\"new\":[1],"
                       "\"logs\":[{\"index\":0,\"at\":\"2026-11-30T10:00:00.000Z\",\"data\":{}}]}";

    enum result result = read_text(&arena, span_text(json), &map, reason);

    cr_assert_eq(result, RESULT_OK, "%s", reason);
    cr_expect_eq(wire_int_or(wire_find_text(map, "revision"), 0), 3);
    cr_expect_eq(wire_count(wire_find_text(map, "logs")), 1);
    arena_release(&arena);
}

Test(audit_message, is_refused_with_the_reason)
{
    static const struct {
        const char *json;
        const char *reason;
    } rows[] = {
        {"", "no JSON"},
        {"{\"executionId\":\"e\"", "no JSON"},
        {"{\"executionId\":\"\xff\"}", "no JSON"},
        {"[]", "no JSON object"},
        {"{\"revision\":1}", "executionId is missing"},
        {"{\"executionId\":\"e\"}", "revision is missing"},
        {"{\"executionId\":\"e\",\"revision\":\"1\"}", "revision is no whole number"},
        {"{\"executionId\":\"e\",\"revision\":-1}", "revision is no whole number"},
        {"{\"executionId\":\"e\",\"revision\":1.5}", "revision is no whole number"},
        {"{\"executionId\":\"e\",\"revision\":18446744073709551615}", "revision is no whole"},
        {"{\"executionId\":\"../e\",\"revision\":1}", "executionId is no id"},
        {"{\"executionId\":7,\"revision\":1}", "executionId is no text"},
        {"{\"executionId\":\"e\",\"revision\":1,\"process\":[]}", "process is no text"},
        {"{\"executionId\":\"e\",\"revision\":1,\"isTest\":1}", "isTest is neither"},
        {"{\"executionId\":\"e\",\"revision\":1,\"startedAt\":"
         "\"0123456789012345678901234567890123456789x\"}",
         "startedAt is 41 bytes long, and 40 are the most"},
        {"{\"executionId\":\"e\",\"revision\":1,\"logs\":{}}", "logs is no array"},
        {"{\"executionId\":\"e\",\"revision\":1,\"logs\":[{\"index\":0},5]}",
         "logs[1] is no object"},
        {"{\"executionId\":\"e\",\"revision\":1,\"logs\":[{}]}", "logs[0].index is missing"},
        {"{\"executionId\":\"e\",\"revision\":1,\"logs\":[{\"index\":0,\"level\":1}]}",
         "logs[0].level is no text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct span map;
        char reason[AUDIT_REASON_BYTES];
        cr_expect_eq(read_text(&arena, span_text(rows[i].json), &map, reason), RESULT_INVALID, "%s",
                     rows[i].json);
        cr_expect_not_null(strstr(reason, rows[i].reason), "%s: %s", rows[i].json, reason);
        arena_release(&arena);
    }
}

Test(audit_message, is_refused_for_one_text_that_is_too_long)
{
    struct arena arena;
    struct span map;
    char reason[AUDIT_REASON_BYTES];
    static char json[AUDIT_TEXT_BYTES_MAX + 100];
    int head =
        snprintf(json, sizeof json, "{\"executionId\":\"e\",\"revision\":1,\"errorMessage\":\"");
    memset(json + head, 'x', AUDIT_TEXT_BYTES_MAX + 1);
    memcpy(json + head + AUDIT_TEXT_BYTES_MAX + 1, "\"}", 2);

    enum result result =
        read_text(&arena, span_of(json, (size_t)head + AUDIT_TEXT_BYTES_MAX + 3), &map, reason);

    cr_expect_eq(result, RESULT_INVALID);
    cr_expect_not_null(strstr(reason, "errorMessage is"));
    arena_release(&arena);
}
