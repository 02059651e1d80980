#include <criterion/criterion.h>

#include "proto/wire/json.h"
#include "tools/strider/print.h"

Test(print, a_cell_shows_a_value_to_a_person)
{
    static const struct {
        const char *value;
        const char *cell;
    } rows[] = {
        {"null", ""},
        {"[]", ""},
        {"{}", ""},
        {"7", "7"},
        {"\"a b\"", "a b"},
        {"\"a\\u001b[2J\\nb\\u007f\"", "a [2J b "},
        {"[\"sales\",\"legal\"]", "sales, legal"},
        {"[1,2]", "[1,2]"},
        {"{\"a\":\"\\u001b\"}", "{\"a\":\"\\u001b\"}"},
        {"[{\"taskId\":\"a\",\"kind\":\"human\"},{\"taskId\":\"b\",\"kind\":\"retry\"}]",
         "a (human), b (retry)"},
    };
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct span value;
        struct json_error error;
        cr_assert_eq(json_to_wire(span_text(rows[i].value), 8, &arena, &value, &error), RESULT_OK);
        struct span cell = cli_cell(value, &arena);
        cr_expect(span_is(cell, rows[i].cell), "%s shows as %.*s", rows[i].value, SPAN_ARG(cell));
    }
    arena_release(&arena);
}
