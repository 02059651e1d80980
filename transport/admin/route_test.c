/* route_test.c: HTTP requests to operations. The whole table runs in tests/system/admin_system.c;
 * here are the edges. */
#include <criterion/criterion.h>

#include "transport/admin/route.h"
#include "transport/admin/status.h"
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

TestSuite(route, .init = open_arena, .fini = close_arena);

static struct route resolve(const char *method, const char *uri, struct span body)
{
    struct route route;
    struct route_request request = {method, uri, body, NULL};
    route_resolve(&request, &arena, &route);
    return route;
}

static void assert_body(const struct route *route, const char *json)
{
    cr_assert_eq(route->target, ROUTE_OPERATION, "%s", route->why);
    struct span text = transport_value_spell(route->body, PROTO_JSON, &arena);
    cr_assert(span_is(text, json), "%.*s", SPAN_ARG(text));
}

Test(route, path_is_matched_whole)
{
    static const struct {
        const char *method;
        const char *uri;
        enum route_target target;
    } rows[] = {
        {"GET", "/healthz", ROUTE_HEALTH},
        {"HEAD", "/healthz?x=1", ROUTE_HEALTH},
        {"GET", "/healthz/", ROUTE_HEALTH},
        {"GET", "/healthzz", ROUTE_UNKNOWN_PATH},
        {"GET", "", ROUTE_UNKNOWN_PATH},
        {"GET", "/v1/executions//", ROUTE_UNKNOWN_PATH},
        {"GET", "/", ROUTE_INSPECTOR},
        {"GET", "/?x=1", ROUTE_INSPECTOR},
        {"GET", "//", ROUTE_UNKNOWN_PATH},
        {"POST", "/", ROUTE_UNKNOWN_METHOD},
        {"POST", "/healthz", ROUTE_UNKNOWN_METHOD},
        {"GET", "/v1/executions/e/abort", ROUTE_UNKNOWN_METHOD},
        {"POST", "/v1/executions/e/abort", ROUTE_OPERATION},
        {"PATCH", "/v1/executions/e", ROUTE_UNKNOWN_METHOD},
        {"POST", "/hooks/a", ROUTE_OPERATION},
        {"POST", "/hooks/a/b/c/d/e/f/g?x=1", ROUTE_OPERATION},
        {"GET", "/hooks/a", ROUTE_UNKNOWN_METHOD},
        {"POST", "/hooks/", ROUTE_UNKNOWN_PATH},
        {"POST", "/hooks", ROUTE_UNKNOWN_PATH},
        {"POST", "/v1/executions/e/migrate", ROUTE_OPERATION},
        {"POST", "/v1/executions/import", ROUTE_OPERATION},
        {"POST", "/v1/executions/e", ROUTE_UNKNOWN_METHOD},
        {"GET", "/a/b/c/d/e/f/g/h/i", ROUTE_UNKNOWN_PATH},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        cr_assert_eq(route_find(rows[index].method, rows[index].uri), rows[index].target, "%s %s",
                     rows[index].method, rows[index].uri);
    }
}

Test(route, address_and_body_are_one_request)
{
    struct route route =
        resolve("POST", "/v1/executions/e-1/abort?reason=a%26b",
                span_text("{\"op\":\"abort\",\"executionId\":\"e-1\",\"reason\":null,\"keep\":1}"));
    cr_assert_eq(route.operation, PROTO_OP_ABORT);
    struct span text = transport_value_spell(route.body, PROTO_JSON, &arena);
    static const char *const parts[] = {"\"op\":\"abort\"", "\"executionId\":\"e-1\"",
                                        "\"reason\":\"a&b\"", "\"keep\":1"};
    for (size_t index = 0; index < 4; index++) {
        cr_assert_not_null(memmem(text.bytes, text.count, parts[index], strlen(parts[index])),
                           "%.*s", SPAN_ARG(text));
    }
}

Test(route, what_is_said_twice_and_not_the_same_is_refused)
{
    static const struct {
        const char *method, *uri, *body, *why;
    } rows[] = {
        {"POST", "/v1/executions/e-1/abort", "{\"executionId\":\"e-2\"}",
         "address and body say different things of `executionId`"},
        {"POST", "/v1/executions/e-1/abort?executionId=e-2", "",
         "the address says two things of `executionId`"},
        {"POST", "/v1/executions", "{\"op\":\"delete\",\"executionId\":\"e-1\"}",
         "address and body say different things of `op`"},
        {"GET", "/v1/executions?status=Waiting&status=Error", "",
         "the address says two things of `status`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct route route = resolve(rows[i].method, rows[i].uri, span_text(rows[i].body));
        cr_expect_eq(route.target, ROUTE_REFUSED, "%s", rows[i].uri);
        cr_expect_eq(route.error, PROTO_ERROR_InvalidRequest);
        cr_expect_str_eq(route.why, rows[i].why);
    }
}

Test(route, percent_encoding_is_decoded_once_and_only_where_it_is_one)
{
    struct route route = resolve("GET", "/v1/executions/a%2fb%2520c%zz%4", SPAN_EMPTY);
    assert_body(&route, "{\"v\":1,\"op\":\"get\",\"executionId\":\"a/b%20c%zz%4\"}");
}

Test(route, numbers_stay_text_where_they_are_none)
{
    struct route route =
        resolve("GET", "/v1/executions?limit=x1&version=99999999999999999", SPAN_EMPTY);
    assert_body(&route, "{\"limit\":\"x1\",\"version\":\"99999999999999999\",\"v\":1,"
                        "\"op\":\"list\"}");
}

Test(route, text_that_is_no_utf8_is_refused)
{
    struct route route = resolve("GET", "/v1/executions/%c3", SPAN_EMPTY);
    cr_assert_eq(route.target, ROUTE_REFUSED);
    cr_assert_eq(route.error, PROTO_ERROR_InvalidRequest);
}

Test(route, file_with_a_name_is_taken_as_it_is)
{
    struct route route =
        resolve("POST", "/v1/definitions?name=a.bpmn", span_text("{\"not\":\"a request\"}"));
    assert_body(&route, "{\"content\":\"{\\\"not\\\":\\\"a "
                        "request\\\"}\",\"name\":\"a.bpmn\",\"v\":1,\"op\":\"deploy\"}");
    route = resolve("POST", "/v1/definitions?name=b.bpmn", span_of("\xff\xfe<\0", 4));
    cr_assert_eq(route.target, ROUTE_OPERATION);
    cr_assert_eq(route.operation, PROTO_OP_DEPLOY);
}

Test(route, file_without_a_name_is_refused_with_the_remedy)
{
    static const char *const bodies[] = {"", "<definitions/>", " \n<?xml?>"};
    for (size_t index = 0; index < sizeof bodies / sizeof bodies[0]; index++) {
        struct route route = resolve("POST", "/v1/definitions", span_text(bodies[index]));
        cr_assert_eq(route.target, ROUTE_REFUSED, "%s", bodies[index]);
        cr_assert_eq(route.error, PROTO_ERROR_InvalidRequest);
        cr_assert_not_null(strstr(route.why, "?name="), "%s", route.why);
    }
}

Test(route, body_that_is_no_map_is_refused)
{
    static const char *const bodies[] = {"{", "[]", "\"x\"", "\x93\x01\x02\x03", "{}{}"};
    for (size_t index = 0; index < sizeof bodies / sizeof bodies[0]; index++) {
        struct route route = resolve("POST", "/v1/executions", span_text(bodies[index]));
        cr_assert_eq(route.target, ROUTE_REFUSED, "%s", bodies[index]);
        cr_assert_neq(route.why[0], '\0');
    }
}

Test(route, version_of_the_protocol_other_than_1_is_refused)
{
    struct route route = resolve("POST", "/v1/executions", span_text("{\"v\":2}"));
    cr_assert_eq(route.target, ROUTE_REFUSED);
    cr_assert_str_eq(route.why, "`v` must be 1");
    route = resolve("POST", "/v1/executions", span_text("{\"v\":1}"));
    cr_assert_eq(route.target, ROUTE_OPERATION);
}

Test(route, every_error_code_has_a_status)
{
    for (enum proto_error error = PROTO_ERROR_NONE; error < PROTO_ERROR_COUNT; error++) {
        uint16_t status = admin_status_of(error);
        cr_assert(error == PROTO_ERROR_NONE ? status == 200 : status >= 400 && status < 600);
    }
}
