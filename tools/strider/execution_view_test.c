#include <criterion/criterion.h>
#include <stdlib.h>

#include "proto/wire/json.h"
#include "tools/strider/execution_view.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 4096, 1 << 20);
}

static void teardown(void)
{
    arena_release(&arena);
}

TestSuite(execution_view, .init = setup, .fini = teardown);

static struct span value_of(const char *json)
{
    struct span value = SPAN_EMPTY;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), 16, &arena, &value, &error), RESULT_OK, "%s", json);
    return value;
}

Test(execution_view, stands_by_its_state_and_its_waits)
{
    static const struct {
        const char *execution;
        enum execution_standing standing;
    } rows[] = {
        {"{\"state\":1}", EXECUTION_MOVES},
        {"{\"state\":5,\"waiting\":[{\"kind\":\"human\"}]}", EXECUTION_MOVES},
        {"{\"state\":3,\"waiting\":[{\"kind\":\"timer\"}]}", EXECUTION_WAITS_FOR_TIME},
        {"{\"state\":3,\"waiting\":[{\"kind\":\"human\"},{\"kind\":\"retry\"}]}",
         EXECUTION_WAITS_FOR_TIME},
        {"{\"state\":3,\"waiting\":[{\"kind\":\"human\"}]}", EXECUTION_WAITS_FOR_OTHERS},
        {"{\"state\":3,\"waiting\":[{\"kind\":\"callback\"},{\"kind\":\"message\"}]}",
         EXECUTION_WAITS_FOR_OTHERS},
        {"{\"state\":3}", EXECUTION_WAITS_FOR_OTHERS},
        {"{\"state\":40}", EXECUTION_ENDED},
        {"{\"state\":56}", EXECUTION_ENDED},
        {"{\"state\":24,\"waiting\":[{\"kind\":\"timer\"}]}", EXECUTION_ENDED},
        {"{\"state\":8}", EXECUTION_ENDED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_eq(execution_standing(value_of(rows[i].execution)), rows[i].standing, "%s",
                     rows[i].execution);
    }
}

static const char *result_of(const char *execution, bool as_text)
{
    struct span json;
    struct span result = execution_result(value_of(execution), as_text, &arena);
    cr_assert_eq(json_from_wire(result, JSON_COMPACT, &arena, &json), RESULT_OK);
    return (const char *)arena_format(&arena, "%.*s", SPAN_ARG(json)).bytes;
}

Test(execution_view, result_has_the_trace_in_step_order)
{
    const char *execution = "{\"v\":1,\"executionMap\":[{\"sequence\":1,\"taskId\":\"a\"},{"
                            "\"sequence\":2,\"taskId\":\"b\"}],"
                            "\"state\":40,\"executionId\":\"x\"}";

    cr_expect_str_eq(result_of(execution, false),
                     "{\"executionId\":\"x\",\"state\":40,\"trace\":[\"a\",\"b\"]}");
    cr_expect_str_eq(result_of(execution, true),
                     "{\"executionId\":\"x\",\"state\":40,\"trace\":\"a > b\"}");
}

Test(execution_view, prints_each_step_once)
{
    char *text = NULL;
    size_t count = 0;
    FILE *out = open_memstream(&text, &count);
    struct span one =
        value_of("{\"executionMap\":[{\"sequence\":1,\"taskId\":\"a\",\"at\":\"T1\"}]}");
    struct span two = value_of("{\"executionMap\":[{\"sequence\":1,\"taskId\":\"a\",\"at\":\"T1\"},"
                               "{\"sequence\":2,\"taskId\":\"b\\u001b\",\"at\":\"T2\"}]}");

    int64_t shown = execution_print_steps(one, 0, out, &arena);
    shown = execution_print_steps(one, shown, out, &arena);
    shown = execution_print_steps(two, shown, out, &arena);
    fclose(out);

    cr_expect_eq(shown, 2);
    cr_expect_str_eq(text, "T1  step   1  a\nT2  step   2  b \n");
    free(text);
}
