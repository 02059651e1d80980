#include "engine/expression/spelling.h"

#include <criterion/criterion.h>

Test(spelling, reads_the_same_without_its_dialect)
{
    static const struct {
        const char *source;
        enum engine_dialect dialect;
        const char *spelled;
    } rows[] = {
        {"a + 1", ENGINE_DIALECT_FEEL, "=a + 1"},
        {" = a + 1 ", ENGINE_DIALECT_AUTO, "=a + 1"},
        {"a > 1", ENGINE_DIALECT_CONDITION, "=a > 1"},
        {"5", ENGINE_DIALECT_CONDITION, "=5"},
        {"5", ENGINE_DIALECT_AUTO, "5"},
        {"some text", ENGINE_DIALECT_AUTO, "some text"},
        {"=a", ENGINE_DIALECT_AUTO, "=a"},
        {"a.b", ENGINE_DIALECT_JUEL, "${a.b}"},
        {"${a} and #{b}", ENGINE_DIALECT_JUEL, "${a} and #{b}"},
        {"${a}", ENGINE_DIALECT_CONDITION, "${a}"},
        {"Dear {{ name }}", ENGINE_DIALECT_AUTO, "Dear {{ name }}"},
        {"Dear {{ name }}", ENGINE_DIALECT_TEMPLATE, "Dear {{ name }}"},
    };
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        cr_assert_eq(engine_expression_compile(span_text(rows[i].source), rows[i].dialect, &arena,
                                               &expression, &error),
                     RESULT_OK, "%s: %s", rows[i].source, error.message);

        struct span spelled = engine_expression_spell(expression, &arena);

        cr_expect(span_is(spelled, rows[i].spelled), "%s: %.*s", rows[i].source, SPAN_ARG(spelled));
        const struct engine_expression *again;
        cr_assert_eq(
            engine_expression_compile(spelled, ENGINE_DIALECT_AUTO, &arena, &again, &error),
            RESULT_OK);
        cr_expect(span_equal(engine_expression_spell(again, &arena), spelled));
    }
    arena_release(&arena);
}
