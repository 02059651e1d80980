#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "tools/strider/project.h"

static struct cli_projects projects;

static void setup(void)
{
    cli_projects_init(&projects);
}

static void teardown(void)
{
    cli_projects_release(&projects);
}

TestSuite(project, .init = setup, .fini = teardown);

Test(project, describes_itself_in_three_keys)
{
    struct actor_project project = {0};

    cr_assert_eq(cli_project_describe(
                     &projects, "p",
                     span_text("{\"projectId\":\"shop\",\"workspaceId\":\"w\",\"env\":{\"a\":1}}"),
                     &project),
                 RESULT_OK);

    cr_expect(span_is(project.project, "shop"));
    cr_expect(span_is(project.workspace, "w"));
    cr_expect_eq(wire_int_or(wire_find_text(project.environment, "a"), 0), 1);
}

Test(project, refuses_what_it_does_not_understand)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"{\n \"projectId\": }", "p:2:15: unexpected character"},
        {"[]", "p: not an object"},
        {"{\"projectId\":\"../up\"}",
         "p: projectId is no id (1 to 128 of A-Za-z0-9._:@+-, no dot at an end)"},
        {"{\"projectId\":7}",
         "p: projectId is no id (1 to 128 of A-Za-z0-9._:@+-, no dot at an end)"},
        {"{\"env\":[]}", "p: env is no object"},
        {"{\"projectID\":\"a\"}", "p: unknown key \"projectID\"; did you mean \"projectId\"?"},
        {"{\"colour\":\"a\"}",
         "p: unknown key \"colour\" (projectId, workspaceId and env are known)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct actor_project project = {0};
        cr_expect_eq(cli_project_describe(&projects, "p", span_text(rows[i].text), &project),
                     RESULT_INVALID);
        cr_expect_str_eq(projects.problem, rows[i].says, "%s\nsays %s", rows[i].text,
                         projects.problem);
    }
}

Test(project, a_folder_that_is_not_there_is_named)
{
    cr_expect_eq(cli_projects_add(&projects, "/no/such/folder"), RESULT_INVALID);
    cr_expect_str_eq(projects.problem, "/no/such/folder: No such file or directory");
}
