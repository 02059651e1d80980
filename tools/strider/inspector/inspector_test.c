#include "tools/strider/inspector/inspector.h"

#include <criterion/criterion.h>
#include <string.h>

static struct inspector inspector;
static const char *page;

static unsigned occurrences(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    return count;
}

static void make(void)
{
    cr_assert_eq(inspector_init(&inspector), RESULT_OK);
    page =
        (const char *)arena_format(&inspector.arena, "%.*s%c", SPAN_ARG(inspector.html), 0).bytes;
}

static void release(void)
{
    inspector_release(&inspector);
}

TestSuite(inspector, .init = make, .fini = release);

Test(inspector, runs_its_own_scripts_only)
{
    cr_expect_eq(occurrences(page, "<script>"), occurrences(inspector.policy, "'sha256-"));
    cr_expect_gt(occurrences(page, "<script>"), 0);
    cr_expect_eq(occurrences(page, "<script"), occurrences(page, "</script>"));
    cr_expect_eq(occurrences(page, "<script "), 0);
    cr_expect_null(strstr(inspector.policy, "script-src 'unsafe-inline'"));
    cr_expect_null(strstr(inspector.policy, "unsafe-eval"));
}

Test(inspector, loads_nothing_and_talks_to_its_own_origin)
{
    cr_expect_eq(strncmp(inspector.policy, "default-src 'none';", 19), 0);
    cr_expect_not_null(strstr(inspector.policy, "connect-src 'self'"));
    cr_expect_null(strstr(inspector.policy, "http"));
    cr_expect_eq(occurrences(page, "@import"), 0);
    cr_expect_eq(occurrences(page, "<link"),
                 occurrences(page, "<link rel=\"icon\" href=\"data:,\">"));
    cr_expect_not_null(strstr(page, "bpmn.io/license"), "its licence notice stays");
}

Test(inspector, fills_each_mark_of_its_frame)
{
    static const char *const marks[] = {"<!--head-->", "<!--board-->", "<!--tail-->"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        cr_expect_null(strstr(page, marks[i]), "%s", marks[i]);
    }
    cr_expect_not_null(strstr(page, "id=\"steps\""), "the board of a replay");
}
