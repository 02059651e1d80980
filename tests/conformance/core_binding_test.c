/*
 * core_binding_test.c: which version of a process a call activity calls.
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define CALL(attributes)                                                                           \
    START("s")                                                                                     \
    "<callActivity id='c' calledElement='q' " attributes "/>" END("e") FLOW("s", "c") FLOW("c", "e")
#define CALLED(tag, body) "<process id='q' camunda:versionTag='" tag "'>" body "</process>"

/* Version 1 of both calls; then come a version 2 and a version 3 of what is called. */
static void check(const char *file, const char *trace)
{
    struct world world;
    world_open(&world, file, NULL);
    world_deploy(&world, WORLD_FILE(CALLED("blue", TASK("second"))));
    world_deploy(&world, WORLD_FILE(CALLED("green", TASK("third"))));
    struct engine_start start = {.id = {.count = 1, .text = "t"},
                                 .workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .process = &world.definition->processes[0]};
    world_start_as(&world, &start);
    cr_expect_str_eq(world_trace(&world), trace);
    world_close(&world);
}

Test(binding, the_newest_version_is_called_unless_the_binding_says_otherwise)
{
    check(WORLD_FILE(WORLD_PROCESS("p", CALL("")) CALLED("blue", TASK("first"))), "s c third e");
    check(WORLD_FILE(WORLD_PROCESS("p", CALL("camunda:calledElementBinding='latest'"))
                         CALLED("blue", TASK("first"))),
          "s c third e");
}

Test(binding, a_version_is_called_by_its_number)
{
    check(WORLD_FILE(WORLD_PROCESS("p", CALL("camunda:calledElementBinding='version' "
                                             "camunda:calledElementVersion='2'"))
                         CALLED("blue", TASK("first"))),
          "s c second e");
}

Test(binding, a_deployment_is_the_callers_file)
{
    check(WORLD_FILE(WORLD_PROCESS("p", CALL("camunda:calledElementBinding='deployment'"))
                         CALLED("blue", TASK("first"))),
          "s c first e");
}

Test(binding, a_tag_is_that_of_the_newest_version_that_bears_it)
{
    check(WORLD_FILE(WORLD_PROCESS("p", CALL("camunda:calledElementBinding='versionTag' "
                                             "camunda:calledElementVersionTag='blue'"))
                         CALLED("blue", TASK("first"))),
          "s c second e");
    check(
        WORLD_FILE(WORLD_PROCESS(
            "p", CALL("camunda:calledElementBinding='versionTag' "
                      "camunda:calledElementVersionTag='${empty nothing ? \"green\" : \"blue\"}'"))
                       CALLED("blue", TASK("first"))),
        "s c third e");
}

Test(binding, a_tag_that_no_version_bears_is_an_incident_that_names_it)
{
    struct world world;
    world_open(&world,
               WORLD_FILE(WORLD_PROCESS("p", CALL("camunda:calledElementBinding='versionTag' "
                                                  "camunda:calledElementVersionTag='red'"))
                              CALLED("blue", TASK("first"))),
               NULL);
    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_error(&world), "DefinitionNotFound");
    cr_expect_not_null(strstr(world_error_message(&world), "tagged \"red\""), "%s",
                       world_error_message(&world));
    world_close(&world);
}
