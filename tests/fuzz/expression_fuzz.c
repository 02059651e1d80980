/*
 * expression_fuzz.c: any bytes as an expression of every dialect. What is refused has a place and a
 * reason; what compiles evaluates within its bounds, twice to the same bytes, and what it gives is
 * valid MessagePack of the depth that payloads keep.
 */
#include "engine/expression/expression.h"
#include "engine/time/zone.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES_MAX = 16 << 20 };

static const char context[] =
    "{\"a\": 7, \"b\": -2.50, \"x\": null, \"s\": \"text \\ud83d\\ude00\", \"t\": true, \"e\": "
    "\"\","
    " \"list\": [3, 1, 2.0, \"z\", null, [1, [2]]], \"m\": {\"k\": {\"v\": [1, 2]}, \"n\": \"12\"},"
    " \"items\": [{\"n\": 1, \"q\": \"a\"}, {\"n\": 2}, 5], \"big\": 18446744073709551615,"
    " \"far\": 1e6144, \"execution\": {\"x\": 3}, \"Full Name\": \"Jo\", \"?\": 7}";

struct fuzz_names {
    struct engine_names names;
    struct span map;
};

static struct span find(const struct engine_names *names, struct span name)
{
    return wire_find(((const struct fuzz_names *)(const void *)names)->map, name);
}

/* One zone whose clock changes twice a year, under any name of two letters or more. */
static const struct engine_zone *zone(const struct engine_names *names, struct span name,
                                      struct arena *arena)
{
    static const struct engine_zone summer = {
        .first_offset_s = 3600,
        .has_rule = true,
        .standard_s = 3600,
        .summer_s = 7200,
        .summer_begin = {.kind = ENGINE_ZONE_WEEKDAY, .month = 3, .week = 5, .time_s = 7200},
        .summer_end = {.kind = ENGINE_ZONE_WEEKDAY, .month = 10, .week = 5, .time_s = 10800},
    };
    (void)names;
    (void)arena;
    return name.count < 2 ? NULL : &summer;
}

static bool clock_of_fuzz(const struct engine_names *names, int64_t *unix_ms)
{
    (void)names;
    *unix_ms = 1709210096789;
    return true;
}

static void check_value(struct span value, struct arena *arena)
{
    size_t offset;
    const char *reason;
    struct span json;
    MUST(wire_validate(value, LIMIT_DEPTH, &offset, &reason) == RESULT_OK);
    enum result result = json_from_wire(value, JSON_COMPACT, arena, &json);
    MUST(result == RESULT_OK || (result == RESULT_LIMIT && arena->overflowed));
}

static void check_evaluation(const struct engine_expression *expression, struct fuzz_names *names)
{
    struct arena first_arena, second_arena;
    struct engine_evaluation first, second;
    arena_init(&first_arena, 4096, ARENA_BYTES_MAX);
    arena_init(&second_arena, 4096, ARENA_BYTES_MAX);
    enum result result =
        engine_expression_evaluate(expression, &names->names, &first_arena, &first);
    enum result again =
        engine_expression_evaluate(expression, &names->names, &second_arena, &second);
    MUST(result == RESULT_OK || result == RESULT_INVALID || result == RESULT_LIMIT);
    MUST(again == result);
    MUST(first.error.offset <= engine_expression_source(expression).count);
    if (result == RESULT_OK) {
        MUST(span_equal(first.value, second.value));
        check_value(first.value, &first_arena);
    } else {
        MUST(first.value.count == 0);
        MUST(first.error.message != NULL);
    }
    arena_release(&first_arena);
    arena_release(&second_arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const enum engine_dialect dialects[] = {
        ENGINE_DIALECT_FEEL, ENGINE_DIALECT_JUEL,      ENGINE_DIALECT_TEMPLATE,
        ENGINE_DIALECT_AUTO, ENGINE_DIALECT_CONDITION, ENGINE_DIALECT_UNARY_TESTS};
    struct fuzz_names names = {.names = {.find = find, .zone = zone, .clock = clock_of_fuzz}};
    struct json_error json_error;
    struct arena arena;
    arena_init(&arena, 64u << 10, ARENA_BYTES_MAX);
    MUST(json_to_wire(span_text(context), LIMIT_DEPTH, &arena, &names.map, &json_error) ==
         RESULT_OK);
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        enum result result = engine_expression_compile(span_of(bytes, count), dialects[i], &arena,
                                                       &expression, &error);
        if (result == RESULT_OK) {
            check_evaluation(expression, &names);
        } else {
            MUST(result == RESULT_INVALID || result == RESULT_LIMIT ||
                 result == RESULT_UNSUPPORTED);
            MUST(expression == NULL && error.message != NULL && error.offset <= count);
        }
    }
    arena_release(&arena);
    return 0;
}
