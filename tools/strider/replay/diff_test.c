#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/wire/json.h"
#include "tools/strider/replay/replay.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, 4096, 8 << 20);
}

static void close_arena(void)
{
    arena_release(&arena);
}

TestSuite(replay_diff, .init = open_arena, .fini = close_arena);

static struct span value_of(const char *json)
{
    struct span value;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 50, &arena, &value, &error), RESULT_OK);
    return value;
}

static struct replay_changes changes;

/* "+path ~path -path" */
static const char *told(const char *before, const char *after)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    replay_diff(value_of(before), value_of(after), &arena, &changes);
    for (uint32_t i = 0; i < changes.count && i < 20; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c%.*s", i > 0 ? " " : "",
                                 "+~-"[changes.at[i].kind], SPAN_ARG(changes.at[i].path));
    }
    return text;
}

Test(replay_diff, names_what_was_added_changed_and_removed_by_path)
{
    static const struct {
        const char *before;
        const char *after;
        const char *told;
    } rows[] = {
        {"{}", "{}", ""},
        {"{\"state\":1}", "{\"state\":2}", ""}, /* no payload */
        {"{\"execution\":{\"a\":1}}", "{\"execution\":{\"a\":2}}", "~execution.a"},
        {"{}", "{\"execution\":{\"a\":2}}", "+execution"},
        {"{\"execution\":{\"a\":1,\"b\":2}}", "{\"execution\":{\"b\":2,\"c\":3}}",
         "-execution.a +execution.c"},
        {"{\"nodes\":{\"x\":{\"y\":[1,2,3]}}}", "{\"nodes\":{\"x\":{\"y\":[1,5]}}}",
         "~nodes.x.y[1] -nodes.x.y[2]"},
        {"{\"request\":{\"a b\":1}}", "{\"request\":{\"a b\":null}}", "~request[\"a b\"]"},
        {"{\"output\":1}", "{\"output\":{\"a\":1}}", "~output"},
        {"{\"output\":1,\"response\":{}}", "{\"response\":{}}", "-output"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = told(rows[i].before, rows[i].after);
        cr_expect_str_eq(text, rows[i].told, "%s to %s: %s", rows[i].before, rows[i].after, text);
    }
}

Test(replay_diff, stops_at_as_many_as_anybody_reads)
{
    char after[4096];
    size_t used = (size_t)snprintf(after, sizeof after, "{\"execution\":{\"list\":[1");
    for (unsigned i = 0; i < 1000; i++) {
        used += (size_t)snprintf(after + used, sizeof after - used, ",1");
    }
    snprintf(after + used, sizeof after - used, "]}}");
    told("{\"execution\":{\"list\":[]}}", after);
    cr_expect_eq(changes.count, REPLAY_CHANGES_MAX);
    cr_expect(changes.cut);
}
