/*
 * request_test.c: which requests the rules let pass.
 */
#include <criterion/criterion.h>

#include "actors/request.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"

static struct actor_request read(struct arena *arena, const char *json)
{
    struct span body;
    struct json_error error;
    struct actor_request request;
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, arena, &body, &error), RESULT_OK, "%s",
                 json);
    actor_request_read(body, &request);
    return request;
}

Test(request, gives_each_field_and_its_fallback)
{
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    struct actor_request request = read(
        &arena,
        "{\"process\":\"order\",\"version\":3,\"channel\":null,\"other\":1,\"request\":{\"a\":1}}");

    cr_assert(span_is(actor_request_text(&request, ACTOR_FIELD_PROCESS, ""), "order"));
    cr_assert_eq(actor_request_count(&request, ACTOR_FIELD_VERSION, 0), 3);
    cr_assert(span_is(actor_request_text(&request, ACTOR_FIELD_WORKSPACE, "default"), "default"));
    cr_assert_eq(request.at[ACTOR_FIELD_CHANNEL].count, 0, "nil is as good as absent");
    cr_assert_gt(request.at[ACTOR_FIELD_REQUEST].count, 0);
    arena_release(&arena);
}

Test(request, names_the_field_that_breaks_its_rule)
{
    static const struct {
        const char *json;
        const char *field; /* NULL: passes */
    } rows[] = {
        {"{}", NULL},
        {"{\"workspaceId\":\"a.b:c@d+e-f_g\"}", NULL},
        {"{\"workspaceId\":\"\"}", "workspaceId"},
        {"{\"workspaceId\":\".hidden\"}", "workspaceId"},
        {"{\"executionId\":\"a/b\"}", "executionId"},
        {"{\"executionId\":7}", "executionId"},
        {"{\"requestId\":\"\"}", "requestId"},
        {"{\"requestId\":\"any text at all / ok\"}", NULL},
        {"{\"channelSessionId\":\"chat \\u00e9\"}", NULL},
        {"{\"channelSessionId\":\"a\\tb\"}", "channelSessionId"},
        {"{\"process\":{}}", "process"},
        {"{\"version\":-1}", "version"},
        {"{\"version\":1.5}", "version"},
        {"{\"version\":4294967296}", "version"},
        {"{\"request\":\"text\"}", "request"},
        {"{\"request\":null}", NULL},
        {"{\"isTest\":1}", "isTest"},
        {"{\"wait\":\"accepted\"}", NULL},
        {"{\"wait\":\"for ever\"}", "wait"},
        {"{\"timeoutMs\":0}", NULL},
        {"{\"error\":\"code\"}", "error"},
        {"{\"error\":{}}", "error"},
        {"{\"error\":{\"cod\":\"X\"}}", "error"},
        {"{\"error\":{\"code\":500,\"message\":\"m\"}}", "error"},
        {"{\"error\":{\"code\":\"X\",\"transient\":\"no\"}}", "error"},
        {"{\"error\":{\"message\":\"m\",\"code\":null,\"more\":1}}", NULL},
        {"{\"error\":{\"bpmnError\":\"E\",\"transient\":false}}", NULL},
        {"{\"payload\":[1,2]}", NULL},
        {"{\"include\":\"map\"}", NULL},
        {"{\"include\":[\"payloads\",\"map\",\"logs\",\"definition\",\"diagram\"]}", NULL},
        {"{\"include\":[]}", NULL},
        {"{\"include\":[\"payload\"]}", "include"},
        {"{\"include\":[\"\"]}", "include"},
        {"{\"include\":{\"map\":true}}", "include"},
        {"{\"status\":\"Waiting\"}", NULL},
        {"{\"status\":\"\"}", NULL},
        {"{\"status\":\"waiting\"}", "status"},
        {"{\"status\":3}", "status"},
        {"{\"lifecycle\":\"WaitingForHuman\"}", NULL},
        {"{\"lifecycle\":\"Waiting\"}", "lifecycle"},
    };
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *wanted = NULL;
        struct actor_request request = read(&arena, rows[i].json);
        enum actor_field field = actor_request_check(&request, &wanted);
        if (rows[i].field == NULL) {
            cr_assert_eq(field, ACTOR_FIELD_COUNT, "%s", rows[i].json);
        } else {
            cr_assert_neq(field, ACTOR_FIELD_COUNT, "%s", rows[i].json);
            cr_assert_str_eq(actor_field_name(field), rows[i].field, "%s", rows[i].json);
            cr_assert_not_null(wanted);
        }
    }
    arena_release(&arena);
}

static uint64_t hash_of(struct arena *arena, const char *json)
{
    struct span body;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, arena, &body, &error), RESULT_OK);
    return actor_request_hash(body);
}

Test(request, hash_is_of_what_is_asked_not_of_who_asks_and_how_long_it_waits)
{
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    uint64_t first =
        hash_of(&arena, "{\"op\":\"start\",\"request\":{\"token\":1},\"token\":\"old\"}");

    cr_assert_eq(first, hash_of(&arena, "{\"op\":\"start\",\"request\":{\"token\":1}}"));
    cr_assert_eq(first, hash_of(&arena, "{\"token\":\"new\",\"op\":\"start\",\"timeoutMs\":5,"
                                        "\"request\":{\"token\":1}}"));
    cr_assert_neq(first, hash_of(&arena, "{\"op\":\"start\",\"request\":{\"token\":2}}"));
    cr_assert_neq(first, hash_of(&arena, "{\"op\":\"start\"}"));
    arena_release(&arena);
}
