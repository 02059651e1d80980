#include <criterion/criterion.h>

#include "engine/mapping.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 4096, 1u << 20);
}
static void teardown(void)
{
    arena_release(&arena);
}

TestSuite(mapping_set, .init = setup, .fini = teardown);

static struct span value_of(const char *json)
{
    struct span value;
    struct json_error error;
    cr_assert_eq(json_to_wire(span_text(json), LIMIT_DEPTH, &arena, &value, &error), RESULT_OK);
    return value;
}

Test(mapping_set, sets_a_member_and_leaves_all_others)
{
    static const struct {
        const char *base;
        const char *path;
        const char *result;
    } rows[] = {
        {"{}", "a", "{\"a\":1}"},
        {"{\"b\":2}", "a", "{\"b\":2,\"a\":1}"},
        {"{\"a\":{\"x\":0,\"y\":0}}", "a.x", "{\"a\":{\"x\":1,\"y\":0}}"},
        {"{}", "a.b.c", "{\"a\":{\"b\":{\"c\":1}}}"},
        {"{\"a\":7}", "a.b", "{\"a\":{\"b\":1}}"},
        {"{}", "a..b", "{\"a\":{\"\":{\"b\":1}}}"},
        {"{}", "", "{\"\":1}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span set = engine_mapping_set(&arena, value_of(rows[i].base),
                                             span_text(rows[i].path), value_of("1"));
        cr_expect(span_equal(set, value_of(rows[i].result)), "row %zu", i);
    }
}

Test(mapping_set, survives_a_path_of_any_length)
{
    char path[4001];
    for (size_t i = 0; i < sizeof path - 1; i++) {
        path[i] = i % 2 == 0 ? 'a' : '.';
    }
    path[sizeof path - 1] = '\0';
    struct span set = engine_mapping_set(&arena, SPAN_EMPTY, span_text(path), value_of("1"));
    size_t offset;
    const char *reason;
    cr_expect_eq(wire_validate(set, LIMIT_DEPTH + 1, &offset, &reason), RESULT_OK);
}
