/* headers_test.c: the header lines of a call. */
#include <criterion/criterion.h>

#include "proto/wire/json.h"
#include "transport/modules/headers.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, 4096, 1u << 20);
}
static void close_arena(void)
{
    arena_release(&arena);
}

TestSuite(headers, .init = open_arena, .fini = close_arena);

static struct proto_call call_with(const char *json)
{
    struct span headers = SPAN_EMPTY;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 8, &arena, &headers, &error), RESULT_OK);
    return (struct proto_call){.headers = headers,
                               .spelling = PROTO_JSON,
                               .idempotency_key = span_text("step"),
                               .traceparent = span_text("00-a-b-01")};
}

static size_t count_lines(const struct curl_slist *list, const char *line)
{
    size_t count = 0;
    for (; list != NULL; list = list->next) {
        count += strcmp(list->data, line) == 0;
    }
    return count;
}

Test(headers, call_has_content_type_ids_and_no_expect)
{
    struct proto_call call = call_with("{\"X-Tenant\":\"blue\",\"X-Empty\":\"\"}");
    struct curl_slist *list = NULL;
    char reason[HEADERS_REASON_BYTES];
    cr_assert_eq(headers_build(&call, &arena, &list, reason), RESULT_OK);
    static const char *const lines[] = {"Expect:",
                                        "Content-Type: application/json",
                                        "Idempotency-Key: step",
                                        "traceparent: 00-a-b-01",
                                        "X-Tenant: blue",
                                        "X-Empty;"};
    for (size_t index = 0; index < sizeof lines / sizeof lines[0]; index++) {
        cr_assert_eq(count_lines(list, lines[index]), 1, "%s", lines[index]);
    }
}

Test(headers, module_may_name_its_media_types_but_not_the_ids)
{
    struct proto_call call =
        call_with("{\"content-type\":\"application/x+json\",\"accept\":\"x/y\","
                  "\"idempotency-key\":\"mine\",\"Traceparent\":\"mine\"}");
    struct curl_slist *list = NULL;
    char reason[HEADERS_REASON_BYTES];
    cr_assert_eq(headers_build(&call, &arena, &list, reason), RESULT_OK);
    cr_assert_eq(count_lines(list, "content-type: application/x+json"), 1);
    cr_assert_eq(count_lines(list, "Content-Type: application/json"), 0);
    cr_assert_eq(count_lines(list, "accept: x/y"), 1);
    cr_assert_eq(count_lines(list, "Idempotency-Key: step"), 1);
    cr_assert_eq(count_lines(list, "idempotency-key: mine"), 0);
    cr_assert_eq(count_lines(list, "Traceparent: mine"), 0);
}

Test(headers, nothing_breaks_out_of_its_line)
{
    static const char *const rows[] = {
        "{\"A\\r\\nB\":\"1\"}",  "{\"A\":\"1\\nB: 2\"}",    "{\"A\":\"1\\u0000\"}",
        "{\"A\":\"\\u007f\"}",   "{\"A B\":\"1\"}",         "{\"\":\"1\"}",
        "{\"A:\":\"1\"}",        "{\"\\u00e4\":\"1\"}",     "{\"A\":1}",
        "{\"A\":null}",          "{\"Host\\u0000\":\"x\"}", "{\"CONNECTION\":\"close\"}",
        "{\"te\":\"trailers\"}", "{\"upgrade\":\"h2c\"}",
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        struct proto_call call = call_with(rows[index]);
        struct curl_slist *list = NULL;
        char reason[HEADERS_REASON_BYTES] = "";
        cr_assert_eq(headers_build(&call, &arena, &list, reason), RESULT_INVALID, "%s",
                     rows[index]);
        cr_assert_null(list);
        cr_assert_neq(reason[0], '\0');
    }
    struct proto_call call = call_with("{}");
    call.idempotency_key = span_text("a\r\nB: 1");
    struct curl_slist *list = NULL;
    char reason[HEADERS_REASON_BYTES];
    cr_assert_eq(headers_build(&call, &arena, &list, reason), RESULT_INVALID);
}
