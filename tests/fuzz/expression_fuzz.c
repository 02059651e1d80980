/*
 * expression_fuzz.c: any bytes as an expression of every dialect. What is refused has a place and a
 * reason; what compiles evaluates within its bounds, twice to the same bytes, and what it gives is
 * valid MessagePack of the depth that payloads keep.
 */
#include "engine/expression/expression.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/names.h"

enum { ARENA_BYTES_MAX = 16 << 20 };

static void check_value(struct span value, struct arena *arena)
{
    size_t offset;
    const char *reason;
    struct span json;
    MUST(wire_validate(value, LIMIT_DEPTH, &offset, &reason) == RESULT_OK);
    enum result result = json_from_wire(value, JSON_COMPACT, arena, &json);
    MUST(result == RESULT_OK || (result == RESULT_LIMIT && arena->overflowed));
}

static void check_evaluation(const struct engine_expression *expression, struct row_names *names)
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
    struct row_names names;
    struct arena arena;
    arena_init(&arena, 64u << 10, ARENA_BYTES_MAX);
    fuzz_names_init(&names, &arena);
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
