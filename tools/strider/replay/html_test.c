#include <criterion/criterion.h>
#include <string.h>

#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tools/strider/replay/replay.h"

static struct arena arena;

static struct span value_of(const char *json)
{
    struct span value;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 50, &arena, &value, &error), RESULT_OK);
    return value;
}

/* Text of the page as a string. */
static const char *page_of(const char *entry)
{
    struct replay_step step = {.sequence = 1, .entry = value_of(entry)};
    step.snapshot = wire_find_text(step.entry, "snapshot");
    struct replay replay = {.outline = value_of("{\"executionId\":\"e\",\"steps\":[]}"),
                            .steps = &step,
                            .count = 1,
                            .diagram = span_text("<definitions/>")};
    struct span page = replay_html(&replay, &arena);
    cr_assert_gt(page.count, 0);
    return (const char *)arena_format(&arena, "%.*s%c", SPAN_ARG(page), 0).bytes;
}

static unsigned occurrences(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    return count;
}

static void open_arena(void)
{
    arena_init(&arena, 65536, 64 << 20);
}

static void close_arena(void)
{
    arena_release(&arena);
}

TestSuite(replay_html, .init = open_arena, .fini = close_arena);

Test(replay_html, no_text_of_a_payload_ends_the_element_that_holds_it)
{
    const char *plain = page_of("{\"sequence\":1,\"snapshot\":{\"request\":{\"a\":\"x\"}}}");
    const char *hostile =
        page_of("{\"sequence\":1,\"taskId\":\"a\\\"'><img src=x>\",\"snapshot\":{\"request\":"
                "{\"</script>\":\"</script><script>alert(1)</script><!--\"}}}");

    cr_expect_eq(occurrences(hostile, "</script>"), occurrences(plain, "</script>"));
    cr_expect_eq(occurrences(hostile, "<script"), occurrences(plain, "<script"));
    cr_expect_eq(occurrences(hostile, "<img"), occurrences(plain, "<img"));
    cr_expect_not_null(strstr(hostile, "\\u003c/script>\\u003cscript>alert(1)"));
}

Test(replay_html, forbids_itself_to_load_anything)
{
    const char *page = page_of("{\"sequence\":1}");

    cr_expect_not_null(strstr(page, "content=\"default-src 'none'; script-src 'unsafe-inline'; "
                                    "style-src 'unsafe-inline'; img-src data:\""));
    cr_expect_eq(occurrences(page, "<link"), 0);
    cr_expect_eq(occurrences(page, "<script src"), 0);
    cr_expect_eq(occurrences(page, "@import"), 0);
    cr_expect_not_null(strstr(page, "bpmn.io/license"), "its licence notice stays");
}
