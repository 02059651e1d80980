/*
 * spelling.c: see spelling.h.
 */
#include "engine/expression/spelling.h"

#include "engine/expression/node.h"

struct span engine_expression_spell(const struct engine_expression *expression, struct arena *arena)
{
    struct span text = span_trim(expression->source);
    bool is_marked = text.count > 0 && text.bytes[0] == '=';
    if (expression->dialect == ENGINE_DIALECT_FEEL) {
        return is_marked ? text : arena_format(arena, "=%.*s", SPAN_ARG(text));
    }
    if (expression->dialect == ENGINE_DIALECT_JUEL) {
        return arena_format(arena, "${%.*s}", SPAN_ARG(text));
    }
    return expression->source;
}
