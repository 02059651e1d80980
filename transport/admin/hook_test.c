/* hook_test.c: what a webhook's request says to the engine. */
#include "transport/admin/hook.h"

#include <criterion/criterion.h>

#include "proto/wire/json.h"
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

TestSuite(hook, .init = open_arena, .fini = close_arena);

static struct route resolve(const char *uri, struct span body,
                            const char *headers[HOOK_HEADER_COUNT])
{
    struct route route;
    struct route_request request = {"POST", uri, body, headers};
    route_resolve(&request, &arena, &route);
    return route;
}

static void expect_body(const struct route *route, const char *json)
{
    cr_assert_eq(route->target, ROUTE_OPERATION, "%s", route->why);
    cr_assert_eq(route->operation, PROTO_OP_HOOK);
    struct span text = transport_value_spell(route->body, PROTO_JSON, &arena);
    cr_expect(span_is(text, json), "%.*s", SPAN_ARG(text));
}

Test(hook, body_is_the_request_and_the_rest_is_context)
{
    const char *headers[HOOK_HEADER_COUNT] = {
        [HOOK_HEADER_CONTENT_TYPE] = "application/json",
        [HOOK_HEADER_GITHUB_EVENT] = "push",
        [HOOK_HEADER_IDEMPOTENCY_KEY] = "k-1",
        [HOOK_HEADER_PREFER] = "respond-async",
    };
    struct route route = resolve("/hooks/shop%20a/new?from=web&x", span_text("{\"n\":7}"), headers);

    expect_body(&route,
                "{\"v\":1,\"op\":\"hook\",\"path\":\"shop a/new\",\"request\":{\"n\":7},"
                "\"context\":{\"webhook\":{\"path\":\"shop a/new\",\"query\":{\"from\":\"web\","
                "\"x\":\"\"},\"headers\":{\"content-type\":\"application/json\","
                "\"x-github-event\":\"push\"}}},\"requestId\":\"k-1\",\"wait\":\"accepted\"}");
}

Test(hook, an_empty_body_is_an_empty_request)
{
    struct route route = resolve("/hooks/a", SPAN_EMPTY, NULL);
    expect_body(&route, "{\"v\":1,\"op\":\"hook\",\"path\":\"a\",\"request\":{},\"context\":"
                        "{\"webhook\":{\"path\":\"a\",\"query\":{},\"headers\":{}}}}");
}

Test(hook, is_spelled_back_as_it_came)
{
    struct route route = resolve("/hooks/a", span_of("\x81\xa1n\x07", 4), NULL);
    cr_expect_eq(route.target, ROUTE_OPERATION);
    cr_expect_eq(route.spelling, PROTO_MSGPACK);
}

Test(hook, what_is_no_object_or_no_utf8_is_refused)
{
    const char *bad[HOOK_HEADER_COUNT] = {[HOOK_HEADER_USER_AGENT] = "\xff"};
    struct route routes[] = {
        resolve("/hooks/a", span_text("[1]"), NULL), resolve("/hooks/a", span_text("a=1"), NULL),
        resolve("/hooks/%ff", SPAN_EMPTY, NULL), resolve("/hooks/a?b=%c3", SPAN_EMPTY, NULL),
        resolve("/hooks/a", SPAN_EMPTY, bad)};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        cr_expect_eq(routes[i].target, ROUTE_REFUSED, "row %zu", i);
        cr_expect_eq(routes[i].error, PROTO_ERROR_InvalidRequest, "row %zu", i);
    }
}
